"""Local hashing: the hash family by its marginals and pairs, supports by brute force, exact epsilon for every seed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.collect import LocalHashing
from sudare.collect.device.rules import hash_value
from sudare.errors import ParameterError
from sudare.kernels.collection.hashing import hash_places
from sudare.noise import ResearchEntropy, secure_entropy
from tests.scripted import ScriptedEntropy
from tests.statistical.goodness import chi_square_rejects
from tests.unit.collect.randomizers.test_categories import is_at_most_exp

Hash = Callable[[NDArray[np.uint64], int, int], NDArray[np.int64]]


def our_hash(seeds: NDArray[np.uint64], place: int, size: int) -> NDArray[np.int64]:
    out = np.empty(seeds.size, dtype=np.int64)
    hash_places(seeds, np.full(seeds.size, place), size, out)
    return out


def weak_hash(seeds: NDArray[np.uint64], place: int, size: int) -> NDArray[np.int64]:
    """One multiplication without a last mix: neighbours have related hashes."""
    words = (seeds ^ np.uint64(place + 1)) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((words >> np.uint64(32)) * np.uint64(size) >> np.uint64(32)).astype(np.int64)


@given(seed=st.integers(0, 2**64 - 1), place=st.integers(0, 2**31), size=st.integers(2, 2**16))
def test_the_kernel_hashes_as_devices_do(seed: int, place: int, size: int) -> None:
    assert our_hash(np.array([seed], dtype=np.uint64), place, size)[0] == hash_value(seed, place, size)


def test_mixing_is_a_bijection() -> None:
    """Undone step by step: an xorshift by repeating it, a multiplication by the inverse of its odd factor."""

    def undo_shift(word: int, shift: int) -> int:
        result = word
        for _ in range(64 // shift + 1):
            result = word ^ result >> shift
        return result

    from sudare.collect.device.rules import _mix

    for word in [0, 1, 2**64 - 1, *map(int, secure_entropy().words(200))]:
        back = undo_shift(_mix(word), 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
        back = undo_shift(back, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        assert undo_shift(back, 30) == word


PAIRS = [(0, 1), (1, 2), (0, 2), (2, 3), (7, 1031), (0, 1 << 20), (5, 5 + (1 << 16)), (123456, 654321)]


def pairs_rejected(hash_function: Hash, size: int) -> list[tuple[int, int]]:
    """Pairs of values whose hashes under random seeds are not uniform on all pairs of hashes."""
    rejected = []
    for one, other in PAIRS:
        seeds = secure_entropy().words(200_000)
        both = hash_function(seeds, one, size) * size + hash_function(seeds, other, size)
        counts = np.bincount(both, minlength=size * size).astype(float)
        if chi_square_rejects(counts, np.full(size * size, 1 / size**2)):
            rejected.append((one, other))
    return rejected


@pytest.mark.parametrize("size", [2, 3, 8, 21])
def test_hashes_of_two_values_are_independent(size: int) -> None:
    assert pairs_rejected(our_hash, size) == []
    assert pairs_rejected(weak_hash, size), "a weak hash must be noticed"


def test_seeds_in_a_row_are_as_good() -> None:
    """Seeds are random; that even numbers in a row do shows that the mix does the work."""
    seeds = np.arange(200_000, dtype=np.uint64)
    counts = np.bincount(our_hash(seeds, 3, 16) * 16 + our_hash(seeds, 4, 16), minlength=256).astype(float)
    assert not chi_square_rejects(counts, np.full(256, 1 / 256))


def test_supports_are_those_of_a_naive_twin() -> None:
    question = LocalHashing(range(30), 1.2)
    reports = question.randomize(np.arange(500) % 30, ResearchEntropy(4))
    naive = [sum(hash_value(s, v, question.range) == y for s, y in reports.tolist()) for v in range(30)]
    counts, people = question.count(reports)
    assert (counts.tolist(), people) == (naive, 500)


def test_threads_share_the_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare.collect.randomizers import hashing

    question = LocalHashing(range(30), 1.2)
    reports = question.randomize(np.arange(500) % 30)
    alone = question.count(reports)[0].tolist()
    monkeypatch.setattr(hashing, "REPORTS_PER_THREAD", 33)
    assert question.count(reports, threads=4)[0].tolist() == alone


def test_reports_are_a_seed_and_a_response() -> None:
    question = LocalHashing(("a", "b", "c"), 1)
    words = [int(word) for word in ResearchEntropy(9).words(10)]
    reports = question.randomize(["c", "a"], ScriptedEntropy(words))
    assert reports[:, 0].tolist() == words[:2]
    hashes = np.array([hash_value(words[0], 2, question.range), hash_value(words[1], 0, question.range)])
    assert reports[:, 1].tolist() == question.response.draw(hashes, ScriptedEntropy(words[2:])).tolist()


@pytest.mark.parametrize(
    ("epsilon", "size"), [(0.01, 2), (0.5, 2), (1, 3), (2, 8), (3, 21), (11, 59875), (30, 1 << 16)]
)
def test_range_and_supports(epsilon: float, size: int) -> None:
    question = LocalHashing(range(5), epsilon)
    assert question.range == size
    assert 0 <= question.other_support() - Fraction(1, size) <= Fraction(size, 2**64)
    law = question.response
    assert question.truth_support() == Fraction(law.kept, law.kept + (size - 1) * law.other)


def test_probability_of_support_by_brute_force() -> None:
    """With hashes of 32 bits that are ideal, by summing over all pairs of hash values."""
    question = LocalHashing(range(5), 2)
    law, size = question.response, question.range
    shares = [Fraction(-(-(2**32) * (y + 1) // size) - -(-(2**32) * y // size), 2**32) for y in range(size)]
    assert sum(shares) == 1
    other = sum(
        shares[true] * Fraction(law.kept if told == true else law.other, law.total) * shares[told]
        for true in range(size)
        for told in range(size)
    )
    assert other == question.other_support()


def test_exact_epsilon_of_every_seed() -> None:
    question = LocalHashing(range(6), 1.5)
    ratios, rates = [], []
    for seed in secure_entropy().words(50).tolist():
        matrix = question.transition_given(seed)
        assert (matrix.weights().sum(axis=1) == matrix.total).all()
        ratios.append(matrix.largest_ratio())
        rates.append(matrix.anonymity_rate())
    assert max(ratio for ratio in ratios if ratio is not None) == question.largest_ratio()
    assert min(rates) == question.anonymity_rate()


@given(st.fractions(Fraction(1, 10**6), 30, max_denominator=10**6))
def test_epsilon_is_never_above_the_one_asked_for(epsilon: Fraction) -> None:
    question = LocalHashing(range(1000), epsilon)
    assert is_at_most_exp(question.largest_ratio(), epsilon)
    assert float(question.epsilon()) == pytest.approx(float(epsilon), rel=1e-4)


def test_wrong_arguments() -> None:
    question = LocalHashing(range(9), 1)
    good = question.randomize([3, 4])
    bad = good.copy()
    bad[0, 1] = question.range
    for reports in (bad, good[:, :1], good.astype(np.int64), [[1, 2]], np.uint64(3)):
        with pytest.raises(ParameterError, match="reports"):
            question.estimate(reports)
    for values in ([9], ["a"], [-1], [2.0]):
        with pytest.raises(ParameterError, match="one of the 9 values"):
            question.randomize(values)
    for epsilon in (0, -1, float("nan"), float("inf"), 31, 1e-19, 1e-300):
        with pytest.raises(ParameterError, match="epsilon_at_most"):
            LocalHashing(range(9), epsilon)
    with pytest.raises(ParameterError, match="transition_given"):
        question.transition()
    with pytest.raises(ParameterError, match="seed"):
        question.transition_given(2**64)
    with pytest.raises(ParameterError, match="threads"):
        question.count(good, threads=0)


def test_shapes_are_kept() -> None:
    question = LocalHashing(range(9), 1)
    assert question.randomize(3).shape == (2,)
    assert question.randomize([[1, 2, 3]]).shape == (1, 3, 2)
    assert question.estimate(question.randomize([])).people == 0
