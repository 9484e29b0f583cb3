"""From the package's code to machine code for the processor at hand, once; afterwards it is read from disk."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from sudare.kernels.prepared.calling import callable_at
from sudare.kernels.prepared.index import KERNELS, SYMBOLS, all_code, entry_of

__all__ = ["kept_in", "load", "places"]

PREFIX = "sudare."


def load(module: str, name: str, tell: Callable[[], None]) -> Callable[..., Any] | None:
    """A kernel whose code is in the package, ready to be called; None if numba must make it.

    Args:
        module: of the kernel.
        name: of the kernel.
        tell: called if machine code must be made.
    """
    about = entry_of(module, name)
    if about is None:
        return None
    full = f"{module.removeprefix(KERNELS)}.{name}"
    try:
        processor = _processor()
        key = hashlib.sha256(f"{about.sha256} {processor.key}".encode()).hexdigest()[:24]
        machine_code = _read(full, key)
        if machine_code is None:
            code = all_code()[about.start : about.end]
            if hashlib.sha256(code).hexdigest() != about.sha256:
                return None
            tell()
            machine_code = processor.compile(code)
            _write(full, key, machine_code)
        address = processor.add(machine_code, PREFIX + full)
    except (OSError, RuntimeError):
        return None
    return callable_at(address, name, about.arguments, about.result) if address else None


class _Processor:
    """LLVM for the processor at hand, set up as numba does it: no fast arithmetic, so that results do not depend on it."""

    def __init__(self) -> None:
        import ctypes

        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm = llvm
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_default_triple()
        reloc = "static" if target.name.startswith("x86") else "default"
        self._machine = target.create_target_machine(
            cpu=cpu, features=features, opt=3, reloc=reloc, codemodel="jitdefault", jit=True
        )
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        self.key = f"{cpu} {features} {llvm.llvm_version_info} {sys.byteorder}"
        library = ctypes.CDLL(None)
        for symbol in SYMBOLS:
            function = getattr(library, symbol)
            llvm.add_symbol(symbol, ctypes.cast(function, ctypes.c_void_p).value)

    def compile(self, code: bytes) -> bytes:
        """Machine code."""
        module = self._llvm.parse_bitcode(code)
        options = self._llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization, options.slp_vectorization = True, False
        builder = self._llvm.create_pass_builder(self._machine, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(self._machine.emit_object(module))

    def add(self, machine_code: bytes, symbol: str) -> int:
        """Put machine code into memory, and say where a function of it is."""
        self._engine.add_object_file(self._llvm.ObjectFileRef.from_data(machine_code))
        self._engine.finalize_object()
        return int(self._engine.get_function_address(symbol))


@lru_cache(maxsize=1)
def _processor() -> _Processor:
    return _Processor()


def places() -> tuple[Path, ...]:
    """Where machine code may be kept: where numba was told to keep its own, or beside the sources, or in the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return (Path(chosen),)
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(__file__).parent / "__pycache__", Path(home).expanduser() / "sudare"


def kept_in() -> Path | None:
    """The first place that can be written to; None if there is none, and code is compiled by each process."""
    for folder in places():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


def _read(full: str, key: str) -> bytes | None:
    folder = kept_in()
    try:
        kept = (folder / f"{full}-{key}.o").read_bytes() if folder else b""
    except OSError:
        return None
    code, mark = kept[:-32], kept[-32:]
    return code if code and hashlib.sha256(code).digest() == mark else None


def _write(full: str, key: str, code: bytes) -> None:
    """Several processes may do so at once: a file appears whole or not at all."""
    folder = kept_in()
    if folder is None:
        return
    try:
        with NamedTemporaryFile(dir=folder, prefix=f"{full}-", delete=False) as file:
            file.write(code + hashlib.sha256(code).digest())
        Path(file.name).replace(folder / f"{full}-{key}.o")
    except OSError:
        return
