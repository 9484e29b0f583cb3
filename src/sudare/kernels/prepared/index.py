"""Which kernels have code in the package, of which sources it was made, and whether this machine can use it."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

__all__ = ["CODE", "INDEX", "SYMBOLS", "PreparedKernel", "all_code", "entry_of", "fingerprint"]

INDEX = Path(__file__).with_name("index.json")
CODE = Path(__file__).with_name("code.xz")
"""All code in one file, each kernel's where the index says: together it takes a third of the room."""

KERNELS = "sudare.kernels."

SYMBOLS = (
    *("malloc", "free", "memcpy", "memmove", "memset"),
    *(
        "asinh",
        "erf",
        "erfc",
        "exp",
        "expm1",
        "floor",
        "lgamma",
        "log",
        "log1p",
        "log2",
        "pow",
        "rint",
        "sqrt",
        "tgamma",
    ),
)
"""Functions of the C library that code may call: the same that numba's code calls."""

MACHINES = ("x86_64", "AMD64")
HEADER = 16
"""Bytes before the first field of an object, of an interpreter that was built as most are."""


@dataclass(frozen=True, kw_only=True)
class PreparedKernel:
    """What the index says of a kernel.

    Attributes:
        start: where its code begins among the code of all kernels.
        end: where it ends.
        sha256: of its code.
        arguments: the types that it takes, in the words of `callable_at`.
        result: the types that it gives, likewise.
    """

    start: int
    end: int
    sha256: str
    arguments: tuple[str, ...]
    result: tuple[str, ...]


def fingerprint(modules: list[str]) -> dict[str, str]:
    """The SHA-256 of the sources of modules of kernels."""
    return {name: _hash_of(name) for name in modules}


@cache
def _hash_of(module: str) -> str:
    path = Path(__file__).parent.parent.joinpath(*module.removeprefix(KERNELS).split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _index() -> dict[str, Any]:
    """The index; empty where its code could not be used."""
    is_usual = sys.implementation.name == "cpython" and object.__basicsize__ == HEADER and sys.platform == "linux"
    if not is_usual or platform.machine() not in MACHINES or hasattr(sys, "getobjects"):
        return {}
    try:
        found = json.loads(INDEX.read_text(encoding="utf-8"))
        from llvmlite.binding import llvm_version_info
    except (OSError, ValueError, ImportError):
        return {}
    # What an older LLVM wrote, a newer one reads.
    return dict(found) if llvm_version_info[0] >= found["llvm"] else {}


def entry_of(module: str, name: str) -> PreparedKernel | None:
    """What the index says of a kernel; None if there is no code, or code of other sources than these."""
    index = _index()
    found = (
        index.get("kernels", {}).get(f"{module.removeprefix(KERNELS)}.{name}") if module.startswith(KERNELS) else None
    )
    if found is None or any(index["sources"].get(one) != _hash_of(one) for one in found["modules"]):
        return None
    return PreparedKernel(
        start=found["start"],
        end=found["end"],
        sha256=found["sha256"],
        arguments=tuple(found["arguments"]),
        result=tuple(found["result"]),
    )


@lru_cache(maxsize=1)
def all_code() -> bytes:
    """The code of all kernels.

    Raises:
        OSError: if it cannot be read.
    """
    try:
        import lzma
    except ImportError as error:  # an interpreter that was built without it
        raise OSError(str(error)) from error
    try:
        return lzma.decompress(CODE.read_bytes())
    except (lzma.LZMAError, EOFError) as error:
        raise OSError(str(error)) from error
