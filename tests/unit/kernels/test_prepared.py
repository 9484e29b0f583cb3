"""Code of kernels in the package: made of these sources, the same as numba's, one for all layouts, and safe to call wrongly."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.kernels import exponentials
from sudare.kernels.compiling import Kernel, called, kernel
from sudare.kernels.prepared import index, loading
from sudare.kernels.tables import judging, priors, sorting
from sudare.kernels.warming import all_kernels

LEFT_TO_NUMBA = {
    "records.distances.largest_and_tail",
    "records.distances.tree_distances",
    "records.keyed_hashing.blake2b_digests",
    "records.keyed_hashing.hmac_digests",
    "records.mondrian.balanced_cut",
    "tables.margins.fit_margins",
}


@called
def twice(number: Any) -> Any:
    """Twice the number."""
    return 2 * number


@kernel("int64(int64[::1], int64[:])", read_only=(0,))
def sum_twice(numbers: Any, out: Any) -> int:
    """A kernel without code in the package."""
    total = 0
    for i in range(numbers.size):
        out[i] = twice(numbers[i])
        total += out[i]
    return total


def test_the_code_is_made_of_these_sources() -> None:
    """Else numba would compile, which takes ten times longer: run ``python tools/prepare_kernels.py``."""
    about = json.loads(index.INDEX.read_text(encoding="utf-8"))
    known = about["kernels"]
    assert set(all_kernels()) - set(known) == LEFT_TO_NUMBA
    assert set(known) <= set(all_kernels())
    assert about["sources"] == index.fingerprint(list(about["sources"]))
    assert {name: entry["signature"] for name, entry in known.items()} == {
        name: one.signature for name, one in all_kernels().items() if name in known
    }
    for entry in known.values():
        assert hashlib.sha256(index.all_code()[entry["start"] : entry["end"]]).hexdigest() == entry["sha256"]


def test_code_of_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert index.entry_of("sudare.kernels.tables.sorting", "count_buckets") is not None
    monkeypatch.setattr(index, "_hash_of", lambda module: "0" * 64)
    assert index.entry_of("sudare.kernels.tables.sorting", "count_buckets") is None


def both_ways(one: Any) -> tuple[Any, Any]:
    """A kernel from the package's code, and made by numba."""
    assert isinstance(one, Kernel)
    prepared = loading.load(one.__module__, one.__name__, lambda: None)
    assert prepared is not None
    return prepared, one._made()


def test_real_numbers_are_the_same_to_the_last_bit() -> None:
    prepared, compiled = both_ways(exponentials.exp_minus_array)
    numbers = np.concatenate([np.random.default_rng(1).exponential(10, 100_000), [0.0, 63.999, 64.0, np.inf, np.nan]])
    ours, numbas = np.empty(numbers.size), np.empty(numbers.size)
    prepared(numbers, ours)
    compiled(numbers, numbas)
    assert ours.tobytes() == numbas.tobytes()


def test_what_is_learned_is_the_same_to_the_last_bit() -> None:
    prepared, compiled = both_ways(priors.learn_weights)
    rng = np.random.default_rng(2)
    likelihood, seen, believed = rng.random((40, 7)), rng.integers(0, 9, 40).astype(float), np.full(7, 1 / 7)
    ours, numbas = np.empty(7), np.empty(7)
    prepared(likelihood, seen, 30, believed, 2.0, ours)
    compiled(likelihood, seen, 30, believed, 2.0, numbas)
    assert ours.tobytes() == numbas.tobytes()
    assert ours.sum() == pytest.approx(1)


@pytest.mark.parametrize("one", [sum_twice, sorting.count_buckets], ids=["numba", "prepared"])
def test_read_only_arrays_lead_to_no_other_compilation(one: Any) -> None:
    told: list[str] = []
    from sudare.system.preparing import when_preparing

    keys = np.array([3, 1, 3], dtype=np.int64 if one is sum_twice else np.uint64)
    counts = np.zeros(4, dtype=keys.dtype)

    def call(numbers: Any, out: Any) -> None:
        one(numbers, out) if one is sum_twice else one(numbers, 0, out)

    call(keys, counts)
    with when_preparing(told.append):
        for numbers in (keys[:2], keys[1:], keys.copy()):
            numbers.flags.writeable = False
            call(numbers, counts)
    assert told == []
    if one is sum_twice:
        sum_twice(keys, np.zeros(8, dtype=np.int64)[::2])  # this argument may be any view
        made: Any = sum_twice
        assert len(made._run.signatures) == 1


def test_what_does_not_fit_is_refused() -> None:
    keys, counts = np.array([3, 1, 3], dtype=np.uint64), np.zeros(4, dtype=np.uint64)
    fixed = counts.copy()
    fixed.flags.writeable = False
    wrong: list[tuple[Any, ...]] = [
        (keys.astype(np.int64), 0, counts),
        (keys[::2], 0, counts),
        (keys.reshape(1, 3), 0, counts),
        (keys.astype(">u8"), 0, counts),
        (keys, 0, fixed),
        ([3, 1, 3], 0, counts),
        (None, 0, counts),
        (keys, 0.5, counts),
        (keys, 0),
    ]
    for arguments in wrong:
        with pytest.raises(TypeError):
            sorting.count_buckets(*arguments)
    with pytest.raises(OverflowError):
        sorting.count_buckets(keys, 1 << 64, counts)
    assert counts.tolist() == [0, 0, 0, 0]


def test_other_names_of_the_same_type_are_taken(tmp_path: Path) -> None:
    """Numbers of NumPy, subclasses of arrays, and what C calls ``unsigned long long``."""
    counts = np.zeros(4, dtype=np.uint64)
    np.array([3, 1, 3], dtype=np.uint64).tofile(tmp_path / "keys")
    mapped = np.memmap(tmp_path / "keys", dtype=np.uint64, mode="r")
    sorting.count_buckets(mapped, np.int64(0), counts)  # type: ignore[arg-type]
    sorting.count_buckets(np.array([1], dtype=np.ulonglong), 0, counts.view(np.ulonglong))
    assert counts.tolist() == [0, 2, 0, 2]


@pytest.mark.parametrize("size", [9, 10, 37, 200])
def test_values_in_order_are_those_of_a_sorted_array(size: int) -> None:
    rng = np.random.default_rng(size)
    for values in (rng.random(size), rng.integers(-1, 3, size).astype(float), np.zeros(size)):
        for place in range(size):
            assert judging.value_in_order(values.copy(), place) == np.sort(values)[place]


def test_damaged_machine_code_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "kept_in", lambda: tmp_path)
    told: list[str] = []

    def load() -> Any:
        return loading.load("sudare.kernels.tables.sorting", "count_buckets", lambda: told.append("made"))

    assert load() is not None
    [file] = tmp_path.iterdir()
    assert load() is not None
    assert told == ["made"]
    file.write_bytes(file.read_bytes()[:-40])
    assert load() is not None
    assert told == ["made", "made"]
    monkeypatch.setattr(loading, "kept_in", lambda: None)
    assert load() is not None
    assert told == ["made", "made", "made"]


DEMO = """
import sys
from io import StringIO
from pathlib import Path
from rich.console import Console
from sudare.demo import run_demo
from sudare.system.preparing import when_preparing
told = []
with when_preparing(told.append):
    run_demo(Path(sys.argv[1]), "en", 128, Console(file=StringIO()))
print(*told, "numba" if "numba" in sys.modules else "")
"""


@pytest.mark.deep
def test_the_demonstration_compiles_each_kernel_once_and_without_numba(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}

    def names() -> list[str]:
        command = [sys.executable, "-c", DEMO, str(tmp_path / "demo")]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.split()

    first = names()
    assert len(first) == len(set(first)) > 10
    assert "numba" not in first
    assert names() == []
