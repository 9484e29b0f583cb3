"""Grids read numbers to points, and bounded laws turn words into places exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.collect.transitions.grids import BoundedLaw, Grid, exp_minus_down, exp_minus_up
from sudare.errors import ParameterError
from sudare.kernels.collection.bounded import UNDECIDED, bounded_response
from sudare.noise.exact import LatticeLaw
from tests.scripted import ScriptedEntropy

WORD = 1 << 64


def laplace(scale: Fraction | int) -> LatticeLaw:
    return LatticeLaw(1 / Fraction(scale), Fraction(0), two_sided=True)


def normal(sigma: Fraction | int) -> LatticeLaw:
    return LatticeLaw(Fraction(0), 1 / (2 * Fraction(sigma) ** 2), two_sided=True)


LAWS = [
    BoundedLaw(laplace(3), 9),
    BoundedLaw(laplace(Fraction(1, 7)), 5),
    BoundedLaw(laplace(10**9), 6),
    BoundedLaw(normal(2), 12),
    BoundedLaw(normal(Fraction(1, 3)), 4),
    BoundedLaw(laplace(1), 1),
]


def exact_cumulative(law: BoundedLaw, place: int) -> list[mpmath.mpf]:
    """Cumulative probabilities of the reports, to 120 digits."""
    weights = [
        mpmath.exp(-mpmath.mpf(law.law.energy(j - place).numerator) / law.law.energy(j - place).denominator)
        for j in range(law.last + 1)
    ]
    total = mpmath.fsum(weights)
    return [mpmath.fsum(weights[: j + 1]) / total for j in range(law.last)] + [mpmath.mpf(1)]


def naive_report(law: BoundedLaw, place: int, words: list[int]) -> int:
    """The first report whose cumulative probability is above the number 0.words."""
    number = mpmath.mpf(0)
    for i, word in enumerate(words):
        number += mpmath.mpf(word) / mpmath.mpf(2) ** (64 * (i + 1))
    return next(j for j, sum_ in enumerate(exact_cumulative(law, place)) if number < sum_)


@pytest.mark.parametrize("law", LAWS)
def test_words_give_the_reports_of_the_naive_twin(law: BoundedLaw) -> None:
    generator = np.random.default_rng(5)
    words = generator.integers(0, WORD, 300, dtype=np.uint64)
    places = generator.integers(0, law.last + 1, 300)
    drawn = law.draw(places, ScriptedEntropy(words.tolist()))
    with mpmath.workdps(120):
        expected = [naive_report(law, int(p), [int(w)]) for p, w in zip(places, words, strict=True)]
    assert drawn.tolist() == expected


@pytest.mark.parametrize("law", LAWS)
def test_words_at_every_threshold_are_settled_exactly(law: BoundedLaw) -> None:
    """Around each cumulative probability, with the words that follow all zeros or all ones."""
    with mpmath.workdps(120):
        for place in {0, law.last // 2, law.last}:
            for sum_ in exact_cumulative(law, place)[:-1]:
                near = int(mpmath.floor(sum_ * WORD))
                for word in range(max(near - 2, 0), min(near + 3, WORD)):
                    for then in (0, WORD - 1):
                        script = ScriptedEntropy([word], then=then)
                        (drawn,) = law.draw(np.array([place]), script).tolist()
                        assert drawn == naive_report(law, place, [word, *[then] * 4])
                        assert law.settle(place, word, lambda then=then: then) == drawn  # type: ignore[misc]


def test_the_kernel_decides_nothing_close_to_a_threshold() -> None:
    """A kernel that decided everything would not need the exact way out; this finds words that it leaves."""
    law = BoundedLaw(laplace(3), 9)
    with mpmath.workdps(60):
        near = int(mpmath.floor(exact_cumulative(law, 4)[6] * WORD))
    out = np.empty(1, dtype=np.int64)
    left = bounded_response(np.array([4]), np.array([near], dtype=np.uint64), law.table(), law.last, out)
    assert (left, out[0]) == (1, UNDECIDED)
    far = np.array([near + (1 << 20)], dtype=np.uint64)
    assert bounded_response(np.array([4]), far, law.table(), law.last, out) == 0


def test_first_and_last_words_lead_to_the_ends() -> None:
    law = BoundedLaw(laplace(2), 7)
    assert law.draw(np.array([3]), ScriptedEntropy([0], then=0)).tolist() == [0]
    assert law.draw(np.array([3]), ScriptedEntropy([WORD - 1], then=WORD - 1)).tolist() == [7]


@pytest.mark.parametrize("law", LAWS)
def test_table_is_at_most_two_below(law: BoundedLaw) -> None:
    table = law.table()
    with mpmath.workdps(60):
        weights = [
            mpmath.exp(-mpmath.mpf(law.law.energy(d).numerator) / law.law.energy(d).denominator)
            for d in range(-law.last, law.last + 1)
        ]
        sums = [mpmath.mpf(0)]
        for weight in weights:
            sums.append(sums[-1] + weight)
        exponent = int(mpmath.nint(mpmath.log(table[-1] / sums[-1], 2)))
        for entry, sum_ in zip(table.tolist(), sums, strict=True):
            assert 0 <= sum_ * mpmath.mpf(2) ** exponent - entry <= 2


def test_drawing_reads_one_word_a_value() -> None:
    source = ScriptedEntropy(list(range(1 << 40, (1 << 40) + 1000)))
    BoundedLaw(laplace(3), 9).draw(np.zeros(1000, dtype=np.int64), source)
    assert source.read == 1000


@given(st.fractions(min_value=0, max_value=3000))
def test_exponentials_are_rounded_to_their_side(exponent: Fraction) -> None:
    low, high = exp_minus_down(exponent), exp_minus_up(exponent)
    with mpmath.workdps(90):
        true = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator <= true <= mpmath.mpf(high.numerator) / high.denominator
    assert high - low <= low * Fraction(1, 10**50)


def test_grid_of_whole_numbers() -> None:
    grid = Grid(-10, 30, 5)
    assert (grid.size, grid.last, int(grid.span), grid.is_whole) == (9, 8, 40, True)
    assert grid.labels() == (-10, -5, 0, 5, 10, 15, 20, 25, 30)
    assert grid.values([0, 8]).dtype == np.int64
    assert grid.places([-10, -6, 3, 30]).tolist() == [0, 1, 3, 8]
    assert grid.places(np.array([[-10], [30]])).tolist() == [[0], [8]]
    assert grid.fraction(-1) == -15


def test_grid_of_decimals_reads_what_was_typed() -> None:
    grid = Grid(0, 1, 0.1)
    assert grid.step == Fraction(1, 10)
    typed = [0.1 * k for k in range(11)]  # 0.1 * 3 is 0.30000000000000004
    assert grid.places(typed, between="refuse").tolist() == list(range(11))
    assert grid.values(np.arange(11)).tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert grid.places(np.array([0.1, 1.0], dtype=np.float32), between="refuse").tolist() == [1, 10]
    assert grid.places(np.array([Fraction(1, 10), Fraction(1)])).tolist() == [1, 10]
    assert grid.places(np.array([Decimal("0.3")])).tolist() == [3]


@given(st.integers(-1000, 1000), st.integers(1, 400), st.fractions(Fraction(1, 1000), 100, max_denominator=1000))
@settings(max_examples=60)
def test_points_are_read_back(low: int, last: int, step: Fraction) -> None:
    grid = Grid(low, low + last * step, step)
    places = np.arange(grid.size)
    assert grid.places(grid.values(places), between="refuse").tolist() == places.tolist()
    assert Grid.from_dict(grid.to_dict()) == grid
    assert all(float(grid.fraction(i)) == pytest.approx(grid.values([i])[0], rel=1e-15) for i in (0, grid.last))


def test_values_outside_are_refused_or_clamped() -> None:
    grid = Grid(0, 10, 1)
    for values in ([11], [-0.5], np.array([255], dtype=np.uint8), [2**63 - 1], [1e300]):
        with pytest.raises(ParameterError, match="numbers from 0 to 10"):
            grid.places(values)
    assert grid.places([11, -5], outside="clamp").tolist() == [10, 0]
    assert grid.places(np.array([2**64 - 1], dtype=np.uint64), outside="clamp").tolist() == [10]
    assert grid.places([1e300, -1e300], outside="clamp").tolist() == [10, 0]


@pytest.mark.parametrize("values", [[float("nan")], [float("inf")], ["3"], [None], [True], [1j]])
def test_what_is_no_number_is_refused_without_being_shown(values: list[object]) -> None:
    with pytest.raises(ParameterError) as caught:
        Grid(0, 10, 1).places(values, outside="clamp")  # type: ignore[arg-type]
    assert "something else" in str(caught.value)


def test_a_refused_value_is_not_told() -> None:
    with pytest.raises(ParameterError) as caught:
        Grid(0, 10, 1).places([3, 777])
    assert "777" not in str(caught.value)


def test_values_between_points() -> None:
    grid = Grid(0, 10, 2)
    assert grid.places([2.9, 3.1]).tolist() == [1, 2]
    assert grid.places([3, 5]).tolist() == [2, 3]
    for values in ([3], [2.5]):
        with pytest.raises(ParameterError, match="in steps of 2"):
            grid.places(values, between="refuse")


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [
        (1, 1, 1),
        (2, 1, 1),
        (0, 10, 0),
        (0, 10, -1),
        (0, 10, 3),
        (0, float("inf"), 1),
        (float("nan"), 1, 1),
        ("zero", 1, 1),
        ("1", "1", 1),
    ],
)
def test_impossible_grids(low: object, high: object, step: object) -> None:
    with pytest.raises(ParameterError):
        Grid(low, high, step)  # type: ignore[arg-type]


def test_grids_that_floats_cannot_hold() -> None:
    with pytest.raises(ParameterError, match="larger"):
        Grid(0, 1, Fraction(1, 1 << 33))
    with pytest.raises(ParameterError, match="larger"):
        Grid(2**52, 2**52 + 1, Fraction(1, 2))


@pytest.mark.parametrize(
    "told", [{}, {"low": "0", "high": "1"}, {"low": "0", "high": "1", "step": "1/0"}, {"low": 0, "high": 1, "step": 1}]
)
def test_damaged_descriptions(told: dict[str, str]) -> None:
    with pytest.raises(ParameterError):
        Grid.from_dict(told)


def test_unknown_options() -> None:
    with pytest.raises(ParameterError, match="'refuse' or 'clamp'"):
        Grid(0, 1, 1).places([0], outside="drop")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'nearest' or 'refuse'"):
        Grid(0, 1, 1).places([0], between="floor")  # type: ignore[arg-type]


def test_texts_that_would_take_for_ever_are_refused() -> None:
    for text in ("1e999999999", "1" * 3000, " 1", "1.5", "0x1"):
        with pytest.raises(ParameterError, match="as texts"):
            Grid.from_dict({"low": "0", "high": text, "step": "1"})


def test_numbers_with_many_digits_are_written_as_floats() -> None:
    step = Fraction(10**400 + 1, 10**400)
    grid = Grid(0, 10 * step, step)
    assert grid.values([0, 3]).tolist() == [0.0, 3.0]
    assert grid.places([0, 3.0]).tolist() == [0, 3]
