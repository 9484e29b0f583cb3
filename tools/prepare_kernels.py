"""Write the code that numba makes of the kernels into the package: ``python tools/prepare_kernels.py``.

Almost all of the time that numba takes to compile a kernel goes into its front end, which is written in Python. What the
front end makes, LLVM's intermediate code, does not depend on the processor. It is kept in ``kernels/prepared``, so that
a machine's first release only waits for LLVM. See ``src/sudare/kernels/prepared/prepared.md``.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import lzma
import re
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import codegen, types
from numba.core.sigutils import normalize_signature

from sudare.kernels.compiling import OPTIONS, Kernel
from sudare.kernels.prepared.calling import NOT_AN_ARRAY, NUMBERS
from sudare.kernels.prepared.index import CODE, INDEX, SYMBOLS, all_code, fingerprint
from sudare.kernels.warming import all_kernels

IMPORTED = re.compile(r"^\s*from (sudare\.kernels[\w.]*) import", re.MULTILINE)

ALLOCATION = """
define internal noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %with = add i64 %size, %wide
  %whole = add i64 %with, 64
  %block = call ptr @malloc(i64 %whole)
  %none = icmp eq ptr %block, null
  br i1 %none, label %fail, label %fill
fail:
  ret ptr null
fill:
  %after = getelementptr i8, ptr %block, i64 64
  %number = ptrtoint ptr %after to i64
  %up = add i64 %number, %wide
  %last = sub i64 %up, 1
  %down = sub i64 0, %wide
  %place = and i64 %last, %down
  %data = inttoptr i64 %place to ptr
  store i64 1, ptr %block
  %dtor = getelementptr i8, ptr %block, i64 8
  store ptr null, ptr %dtor
  %info = getelementptr i8, ptr %block, i64 16
  store ptr null, ptr %info
  %at = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %at
  %long = getelementptr i8, ptr %block, i64 32
  store i64 %size, ptr %long
  %external = getelementptr i8, ptr %block, i64 40
  store ptr null, ptr %external
  ret ptr %block
}
define internal void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}
declare ptr @malloc(i64)
declare void @free(ptr)
"""
"""What numba's runtime does for an array that a kernel makes for itself: memory with a header, of which the code reads the
count of references and the address."""

FIELDS = (
    ("type", 8, "ptr"),
    ("data", 16, "ptr"),
    ("nd", 24, "i32"),
    ("dims", 32, "ptr"),
    ("steps", 40, "ptr"),
    ("descr", 56, "ptr"),
    ("flags", 64, "i32"),
)
"""Where the parts of an array stand: NumPy's header ``ndarraytypes.h``, ``PyArrayObject_fields``."""

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400


def main() -> None:
    """Write what is missing or was made of other sources, and take away what no kernel has any more."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    codegen.CPUCodeLibrary._optimize_final_module = _optimize_cheaply
    about: dict[str, Any] = {"llvm": 0, "kernels": {}, "sources": {}}
    if INDEX.exists():
        about = json.loads(INDEX.read_text(encoding="utf-8"))
    version, written = llvm.llvm_version_info[0], 0
    entries: dict[str, dict[str, Any]] = {}
    parts: list[bytes] = []
    current = fingerprint(sorted({name for kernel in all_kernels().values() for name in sources_of(kernel)}))
    for full, kernel in all_kernels().items():
        old = about["kernels"].get(full)
        is_same = old is not None and about["llvm"] == version and old["signature"] == kernel.signature
        if is_same and all(about["sources"].get(name) == current[name] for name in sources_of(kernel)):
            entry, code = old, all_code()[old["start"] : old["end"]]
        else:
            try:
                entry, code = prepare(kernel, full)
            except LookupError as left_out:
                sys.stdout.write(f"{left_out}\n")
                continue
            written += 1
        start = sum(map(len, parts))
        entries[full] = {**entry, "start": start, "end": start + len(code), "sha256": hashlib.sha256(code).hexdigest()}
        parts.append(code)
    CODE.write_bytes(lzma.compress(b"".join(parts), preset=9 | lzma.PRESET_EXTREME))
    lines = [f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in entries.items()]
    head = f'{{"llvm": {version},\n"sources": {json.dumps(current, indent=0)},\n"kernels": {{\n'
    INDEX.write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    size = CODE.stat().st_size + INDEX.stat().st_size
    sys.stdout.write(f"{written} of {len(entries)} kernels written anew, {size / 1000:.0f} kB in all\n")


def prepare(kernel: Kernel, full: str) -> tuple[dict[str, Any], bytes]:
    """What the index says of a kernel, and its code with an entry that takes Python's arrays."""
    arguments, result = normalize_signature(kernel.signature)
    kinds = [kind.copy(readonly=True) if i in kernel.read_only else kind for i, kind in enumerate(arguments)]
    made = numba.njit(**OPTIONS, no_cpython_wrapper=True)(kernel._linked())
    made.compile(result(*kinds))
    compiled = made.overloads[tuple(kinds)]
    inner = compiled.fndesc.mangled_name
    text = str(compiled.library._final_module)
    for name in ("NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor"):
        text = re.sub(rf"^declare .*@{name}\(.*$", "", text, flags=re.MULTILINE)
    entry = "sudare." + full
    module = llvm.parse_assembly(text + ALLOCATION + _entry(entry, inner, text, kinds))
    module.verify()
    for function in module.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and not variable.name.startswith("llvm."):
            variable.linkage = "internal"
    _shrink(module)
    unknown = {_described(kind) for kind in kinds if not isinstance(kind, types.Array)} | set(_results(result))
    missing = {one.name for one in module.functions if one.is_declaration and not one.name.startswith("llvm.")} - set(
        SYMBOLS
    )
    missing |= unknown - set(NUMBERS)
    if missing:
        raise LookupError(f"{full} is left to numba, because it needs {', '.join(sorted(missing))}")
    described = {
        "arguments": [_described(kind) for kind in kinds],
        "result": _results(result),
        "signature": kernel.signature,
        "modules": sources_of(kernel),
    }
    return described, module.as_bitcode()


def _optimize_cheaply(self: Any) -> None:
    """What numba does before it optimizes for this processor: it leaves out references that are taken and given back."""
    passes, builder = self._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap")
    passes.run(self._final_module, builder)
    self._final_module.verify()


def _shrink(module: Any) -> None:
    """Leave out what no processor needs; loops are left as they are, for the processor at hand to make the most of."""
    machine = llvm.Target.from_default_triple().create_target_machine(cpu="x86-64", features="", opt=1)
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = options.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    names = llvm.create_new_module_pass_manager()
    names.add_strip_symbols_pass()
    names.run(module, builder)


def _entry(entry: str, inner: str, text: str, kinds: list[Any]) -> str:
    """A function of Python's objects: it looks whether arrays are what they should be, and hands their parts on."""
    line = next(line for line in text.splitlines() if line.startswith("define") and f"@{inner}(" in line)
    inner_kinds = [
        part.split()[0] for part in line[line.index(f"@{inner}(") :].partition("(")[2].rpartition(")")[0].split(", ")
    ]
    given, handed, body = ["ptr %ret", "ptr %known"], ["ptr %ret", "ptr %exc"], ["  %exc = alloca ptr"]
    next_kind = 2
    for i, kind in enumerate(kinds):
        if not isinstance(kind, types.Array):
            given.append(f"{inner_kinds[next_kind]} %a{i}")
            handed.append(f"{inner_kinds[next_kind]} %a{i}")
            next_kind += 1
            continue
        given.append(f"ptr %a{i}")
        wanted = ALIGNED | (C_CONTIGUOUS if kind.layout == "C" else 0) | (WRITEABLE if kind.mutable else 0)
        for name, offset, type_ in FIELDS:
            body.append(f"  %p{i}{name} = getelementptr i8, ptr %a{i}, i64 {offset}")
            body.append(f"  %{name}{i} = load {type_}, ptr %p{i}{name}")
            if name == "type":
                body += [
                    f"  %known{i} = load ptr, ptr %known",
                    f"  %is{i} = icmp eq ptr %type{i}, %known{i}",
                    f"  br i1 %is{i}, label %array{i}, label %bad{i}",
                    f"bad{i}:",
                    f"  ret i32 {NOT_AN_ARRAY + i}",
                    f"array{i}:",
                ]
        body += [
            f"  %pk{i} = getelementptr ptr, ptr %known, i64 {i + 1}",
            f"  %k{i} = load ptr, ptr %pk{i}",
            f"  %x{i} = icmp eq ptr %k{i}, %descr{i}",
            f"  %y{i} = icmp eq i32 %nd{i}, {kind.ndim}",
            f"  %m{i} = and i32 %flags{i}, {wanted}",
            f"  %z{i} = icmp eq i32 %m{i}, {wanted}",
            f"  %xy{i} = and i1 %x{i}, %y{i}",
            f"  %xyz{i} = and i1 %xy{i}, %z{i}",
            f"  br i1 %xyz{i}, label %good{i}, label %bad{i}",
            f"good{i}:",
            f"  %n{i}.0 = add i64 1, 0",
        ]
        for axis in range(kind.ndim):
            for name, parts in (("d", "dims"), ("s", "steps")):
                body += [
                    f"  %p{name}{i}.{axis} = getelementptr i64, ptr %{parts}{i}, i64 {axis}",
                    f"  %{name}{i}.{axis} = load i64, ptr %p{name}{i}.{axis}",
                ]
            body.append(f"  %n{i}.{axis + 1} = mul i64 %n{i}.{axis}, %d{i}.{axis}")
        item = np.dtype(str(kind.dtype)).itemsize
        handed += ["ptr null", "ptr null", f"i64 %n{i}.{kind.ndim}", f"i64 {item}", f"ptr %data{i}"]
        handed += [f"i64 %d{i}.{axis}" for axis in range(kind.ndim)] + [
            f"i64 %s{i}.{axis}" for axis in range(kind.ndim)
        ]
        next_kind += 5 + 2 * kind.ndim
    call = [f"  %status = call i32 @{inner}({', '.join(handed)})", "  ret i32 %status"]
    return "\n".join([f'define i32 @"{entry}"({", ".join(given)}) {{', *body, *call, "}", ""])


def _described(kind: Any) -> str:
    return f"{kind.dtype}{kind.ndim}" if isinstance(kind, types.Array) else str(kind)


def _results(kind: Any) -> list[str]:
    return [] if kind == types.none else [str(one) for one in kind.types] if hasattr(kind, "types") else [str(kind)]


def sources_of(kernel: Kernel) -> list[str]:
    """The module of a kernel and all that it takes helpers and constants from."""
    found: set[str] = set()
    left = [kernel.function.__module__]
    while left:
        name = left.pop()
        if name not in found and name != "sudare.kernels.compiling":
            found.add(name)
            file = importlib.import_module(name).__file__
            left += IMPORTED.findall(Path(str(file)).read_text(encoding="utf-8"))
    return sorted(found)


if __name__ == "__main__":
    main()
