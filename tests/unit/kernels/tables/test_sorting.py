"""Cells are sorted as NumPy sorts them, in however many chunks they come and with however many threads."""

from __future__ import annotations

from threading import get_ident
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.kernels.tables import sorting
from sudare.kernels.tables.sorting import FEW, side_by_side, sort_buckets, sort_cells


@st.composite
def different_keys(draw: Any) -> tuple[np.ndarray, int]:
    """Different keys of so many bits: few or many, spread evenly or crowded in some corners, in any order."""
    bits = draw(st.integers(0, 63))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    size = draw(st.sampled_from([0, 1, 2, FEW, 100, 3000]))
    keys = generator.integers(0, 1 << bits, size=size, dtype=np.uint64)
    if draw(st.booleans()):
        keys >>= np.uint64(draw(st.integers(0, bits)))
    keys = np.unique(keys)
    generator.shuffle(keys)
    return keys, bits


@settings(max_examples=150)
@given(cells=different_keys(), cuts=st.lists(st.integers(0, 3000), max_size=4), threads=st.integers(1, 3))
def test_like_numpy(cells: tuple[np.ndarray, int], cuts: list[int], threads: int) -> None:
    keys, bits = cells
    values = np.arange(keys.size, dtype=np.int64) * 7
    chunks = list(zip(np.split(keys, sorted(cuts)), np.split(values, sorted(cuts)), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "WORTH_A_THREAD", 0)
        found_keys, found_values = sort_cells(chunks, bits, threads)
    order = np.argsort(keys)
    assert np.array_equal(found_keys, keys[order])
    assert np.array_equal(found_values, values[order])


@pytest.mark.parametrize("bits", [1, 8, 9, 16, 17, 24, 63])
def test_one_bucket_of_any_number_of_bits(bits: int) -> None:
    """Everything in one bucket is the longest way: parted 8 bits at a time until 16 are left."""
    keys = np.unique(np.random.default_rng(bits).integers(0, 1 << bits, size=5000, dtype=np.uint64))
    np.random.default_rng(0).shuffle(keys)
    found, values = keys.copy(), keys.astype(np.int64)
    spare = np.empty_like(keys), np.empty(keys.size, dtype=np.int64)
    sort_buckets(found, values, np.array([0, keys.size], dtype=np.uint64), bits, *spare)
    assert np.array_equal(found, np.sort(keys))
    assert np.array_equal(found, values.astype(np.uint64))


def test_what_is_given_is_not_changed() -> None:
    keys, values = np.array([3, 1, 2], dtype=np.uint64), np.array([30, 10, 20])
    for array in (keys, values):
        array.setflags(write=False)
    assert sort_cells([(keys, values)], 2)[1].tolist() == [10, 20, 30]


class TestSideBySide:
    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_results_come_in_order(self, threads: int) -> None:
        assert side_by_side(lambda job: job * job, range(50), threads) == [job * job for job in range(50)]
        assert side_by_side(str, [], threads) == []

    def test_one_thread_is_this_one(self) -> None:
        assert set(side_by_side(lambda _: get_ident(), range(5), 1)) == {get_ident()}

    @pytest.mark.parametrize("threads", [1, 2])
    def test_an_error_reaches_the_one_who_asked(self, threads: int) -> None:
        def fail(job: int) -> int:
            if job == 3:
                raise ValueError("three")
            return job

        with pytest.raises(ValueError, match="three"):
            side_by_side(fail, range(6), threads)
