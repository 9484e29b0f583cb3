"""The compiled look-up agrees with counting thresholds one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.kernels.sampling import fill_by_inversion
from sudare.noise.exact import Bounds
from sudare.noise.inversion import InversionTable
from tests.reference import naive

WORDS = st.integers(0, 2**64 - 1)
CLUSTERED = st.one_of(
    WORDS,
    st.integers(0, 50),
    st.integers(2**64 - 50, 2**64 - 1),
    st.integers(2**63 - 20, 2**63 + 20),
    st.builds(lambda k, d: min(2**64 - 1, max(0, (k << 58) + d)), st.integers(0, 63), st.integers(-3, 3)),
)


@given(thresholds=st.lists(CLUSTERED, min_size=1, max_size=40), words=st.lists(CLUSTERED, min_size=1, max_size=40))
def test_look_up_counts_thresholds(thresholds: list[int], words: list[int]) -> None:
    ordered = sorted(thresholds)
    table = InversionTable([Bounds(t, t + 2) for t in ordered])
    near = [t + d for t in ordered for d in (-1, 0, 1, 2) if 0 <= t + d < 2**64]
    for word in [*words, *near]:
        out = np.full(1, -99, dtype=np.int64)
        used, filled, undecided = fill_by_inversion(np.array([word], dtype=np.uint64), 0, out, 0, 0, *table.arrays)
        expected = naive.count_thresholds_below(word, ordered)
        if expected is None:
            assert (used, filled, undecided) == (0, 0, True)
        else:
            assert (used, filled, undecided) == (1, 1, False)
            assert out[0] == expected


def test_bounds_too_far_apart_are_refused() -> None:
    with pytest.raises(ArithmeticError):
        InversionTable([Bounds(5, 8)])


def test_kernel_stops_where_either_array_ends() -> None:
    table = InversionTable([Bounds(2**63, 2**63 + 1)])
    words = np.array([1, 2**64 - 1, 1], dtype=np.uint64)
    out = np.full(5, -9, dtype=np.int64)
    assert fill_by_inversion(words, 1, out, 2, 10, *table.arrays) == (3, 4, False)
    assert out.tolist() == [-9, -9, 11, 10, -9]
    assert fill_by_inversion(words, 0, out[:2], 0, 10, *table.arrays) == (2, 2, False)
