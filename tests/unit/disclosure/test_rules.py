"""Rules against definitions written out in fractions, by attack, and against other programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from benchmarks.disclosure_known import known_answers
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.attacks.refusals import ToldParameterError
from sudare.disclosure.cell_table import Contributions, aggregate, scaled
from sudare.disclosure.rules import (
    Dominance,
    MinimumFrequency,
    PPercent,
    PriorPosterior,
    Request,
    Rule,
    ZeroCells,
    primary_cells,
    strictest,
)
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.disclosure.structure import CellTable, Dimension, TableSystem
from sudare.errors import InputError, ParameterError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data"))
ONE = Dimension.flat("x", ["a"])
VALUES = st.lists(st.integers(0, 50), min_size=1, max_size=8)


def cell_of(values: list[int], **more: object) -> CellTable:
    contributions = Contributions(np.array(values, dtype=np.int64), **more)  # type: ignore[arg-type]
    return aggregate([ONE], {"x": ["a"] * len(values)}, contributions, largest=6)


@given(VALUES, st.integers(1, 3), st.integers(1, 100))
@settings(max_examples=70, deadline=None)
def test_dominance_and_its_level(values: list[int], n: int, k: int) -> None:
    ranked = sorted(values, reverse=True)
    total, top = sum(values), sum(ranked[:n])
    cells = primary_cells(cell_of(values), [Dominance(n, k)])
    assert cells.unsafe[0] == (100 * top > k * total)
    if cells.unsafe[0]:
        level = int(cells.upper[0])
        assert Fraction(100 * top, total + level) <= k  # at this total the rule would be met
        assert level == 1 or Fraction(100 * top, total + level - 1) > k
        assert cells.lower[0] == min(level, total)


@given(VALUES, st.integers(1, 3), st.integers(1, 100))
@settings(max_examples=70, deadline=None)
def test_p_percent_is_what_every_coalition_of_n_can_do(values: list[int], n: int, p: int) -> None:
    """The rule looks at one coalition and one target only; the attack tries all of them."""
    ranked = sorted(values, reverse=True)
    total = sum(values)

    def broken(upper: int) -> bool:
        for target in range(len(ranked)):
            others = [value for place, value in enumerate(ranked) if place != target]
            estimate = upper - sum(sorted(others, reverse=True)[:n])
            if Fraction(estimate - ranked[target]) < Fraction(p * ranked[target], 100):
                return True
        return False

    cells = primary_cells(cell_of(values), [PPercent(p, n)])
    assert cells.unsafe[0] == broken(total)
    if cells.unsafe[0]:
        level = int(cells.upper[0])
        assert not broken(total + level)
        assert level == 1 or broken(total + level - 1)


@given(VALUES, st.integers(1, 79))
@settings(max_examples=60, deadline=None)
def test_p_q_is_p_percent_with_knowledge_beforehand(values: list[int], p: int) -> None:
    table = cell_of(values)
    known = primary_cells(table, [PriorPosterior(p, 80)])
    ranked = [*sorted(values, reverse=True), 0]
    rest = sum(ranked[2:])
    assert known.unsafe[0] == (Fraction(80 * rest, 100) < Fraction(p * ranked[0], 100))
    same = primary_cells(table, [PPercent(Fraction(100 * p, 80))])
    assert (known.status.tolist(), known.upper.tolist()) == (same.status.tolist(), same.upper.tolist())


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 60)), min_size=1, max_size=5), st.integers(1, 3))
@settings(max_examples=70, deadline=None)
def test_whole_weights_are_copies_of_the_record(records: list[tuple[int, int]], n: int) -> None:
    """With whole weights the weighted table must be judged like the table of the copies."""
    weights = np.array([weight % 5 + 1 for _, weight in records])
    weighted = cell_of([value for value, _ in records], weights=weights)
    copies = cell_of(
        [value for (value, _), weight in zip(records, weights.tolist(), strict=True) for _ in range(weight)]
    )
    for rule in (Dominance(n, 60), PPercent(20, n), PriorPosterior(20, 70, n), MinimumFrequency(6)):
        one, other = primary_cells(weighted, [rule]), primary_cells(copies, [rule])
        assert one.status.tolist() == other.status.tolist()
        assert one.upper.tolist() == other.upper.tolist()


def test_weights_with_decimals_as_tau_argus_counts_them() -> None:
    """Contributions 100 (weight 1.5) and 10 (weight 7): the two largest are 100 * 1.5 + 10 * 0.5 = 155 of 220."""
    table = cell_of([100, 10], weights=scaled(["1.5", "7"], 1), weight_decimals=1)
    assert table.values[0] == 2200
    assert primary_cells(table, [Dominance(2, 70)]).unsafe[0]
    assert not primary_cells(table, [Dominance(2, Fraction(15500, 220))]).unsafe[0]
    assert primary_cells(table, [Dominance(2, 70)]).upper[0] == -(-15500 * 10 // 70) - 2200 + (15500 * 10 % 70 == 0)
    assert primary_cells(table, [MinimumFrequency(9)]).unsafe[0]
    assert not primary_cells(table, [MinimumFrequency(8)]).unsafe[0]


def test_holdings_are_protected_as_one() -> None:
    values = [40, 40, 10, 10]
    assert not primary_cells(cell_of(values), [Dominance(1, 50)]).unsafe[0]
    table = cell_of(values, holdings=["a", "a", "b", "b"])
    assert primary_cells(table, [Dominance(1, 50)]).unsafe[0]
    assert table.counts[0] == 2
    both = strictest(primary_cells(cell_of(values), [MinimumFrequency(5)]), primary_cells(table, [Dominance(1, 50)]))
    assert both.status[0] == CellStatus.UNSAFE_RULE
    assert both.upper[0] == 60


def test_frequency_zero_and_request() -> None:
    assert primary_cells(cell_of([5, 6]), [MinimumFrequency(3, 20)]).upper[0] == 3  # 20 % of 11, rounded up
    assert primary_cells(cell_of([5, 6]), [MinimumFrequency(2)]).status.tolist() == [1, 1]
    zero = primary_cells(cell_of([0, 0]), [ZeroCells(4)])
    assert (zero.status[0], zero.upper[0], zero.lower[0]) == (CellStatus.UNSAFE_ZERO, 4, 0)
    asked = cell_of([8, 2], requests=np.array([True, False]))
    assert primary_cells(asked, [Request(70, 10)]).status[0] == CellStatus.UNSAFE_REQUEST
    assert not primary_cells(asked, [Request(80)]).unsafe[0]
    assert not primary_cells(cell_of([8, 2], requests=np.array([False, True])), [Request(10)]).unsafe[0]
    with pytest.raises(InputError, match="asked for protection"):
        primary_cells(cell_of([8, 2]), [Request()])


def test_the_status_is_that_of_the_first_rule_and_the_level_the_largest() -> None:
    table = cell_of([90, 1])
    rules: list[Rule] = [MinimumFrequency(3, 50), PPercent(10)]
    for order in (rules, rules[::-1]):
        cells = primary_cells(table, order)
        assert cells.status[0] == CellStatus.UNSAFE_RULE
        assert cells.upper[0] == 46


def test_empty_cells_are_never_unsafe_and_missing_codes_may_be_safe() -> None:
    x = Dimension.flat("x", ["a", "b", "00"])
    table = aggregate([x], {"x": ["a", "00"]}, Contributions(np.array([5, 6])))
    assert primary_cells(table, [MinimumFrequency(2), ZeroCells()]).status.tolist() == [1, 5, 14, 5]
    safe = np.array([False, False, False, True])
    assert primary_cells(table, [MinimumFrequency(2)], safe=safe).status.tolist() == [1, 5, 14, 1]


def test_comparisons_are_exact_where_floats_are_not() -> None:
    """Shares that differ in the seventeenth digit, and values beyond 53 bits."""
    large = 2**60
    table = CellTable(
        TableSystem.of_sums(["only"], []),
        np.array([large]), np.array([3]), np.array([[large // 2 + 1, 1]]),
    )  # fmt: skip
    assert primary_cells(table, [Dominance(1, 50)]).unsafe[0]
    same = CellTable(table.system, table.values, table.counts, np.array([[large // 2, 1]]))
    assert not primary_cells(same, [Dominance(1, 50)]).unsafe[0]
    assert not primary_cells(cell_of([1, 2, 7]), [Dominance(1, 70)]).unsafe[0]
    assert not primary_cells(cell_of([1000, 5, 1]), [PPercent(0.1)]).unsafe[0]  # exactly 0.1 % is far enough
    assert primary_cells(cell_of([1000, 5, 1]), [PPercent(0.1000001)]).unsafe[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dominance(0, 50), lambda: Dominance(1, 0), lambda: Dominance(1, 101), lambda: PPercent(0),
        lambda: PPercent(-1), lambda: PriorPosterior(80, 80), lambda: PriorPosterior(0, 80),
        lambda: MinimumFrequency(0), lambda: Request(120), lambda: ZeroCells(0), lambda: strictest(),
        lambda: primary_cells(cell_of([1]), []),
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(make: object) -> None:
    with pytest.raises(ParameterError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "japanese"),
    [
        (lambda: MinimumFrequency(0), "1 から 100 までの整数"), (lambda: PPercent(0), "0 より大きい数"),
        (lambda: PPercent(101), "0 から 100 までの百分率"), (lambda: PriorPosterior(50, 10), "0 より大きく q より小さい数"),
        (lambda: MinimumFrequency(3, -1), "0 以上の百分率"),
    ],
)  # fmt: skip
def test_requirements_are_told_in_japanese(make: Callable[[], object], japanese: str) -> None:
    with pytest.raises(ToldParameterError) as refused:
        make()
    assert refused.value.requirement_japanese == japanese
    assert japanese in refused.value.explain("ja")


def test_tables_that_the_rules_cannot_judge_are_refused() -> None:
    with pytest.raises(InputError, match="largest=7"):
        primary_cells(cell_of([1, 2]), [PPercent(10, n=6)])
    table = cell_of([1, 2])
    negative = CellTable(table.system, -table.values, table.counts, table.largest)
    with pytest.raises(InputError, match="negative"):
        primary_cells(negative, [PPercent(10)])


def test_judgements_with_negative_levels_are_refused() -> None:
    zeros = np.zeros(2, dtype=np.int64)
    with pytest.raises(ParameterError):
        PrimaryCells(zeros + 1, zeros - 1, zeros, zeros)
    cells = PrimaryCells(np.array([10, 4]), zeros, zeros, zeros)
    assert cells.must_publish.tolist() == [True, False]
    assert cells.unsafe.tolist() == [False, True]
    assert [status.is_hidden for status in (CellStatus.SECONDARY_MANUAL, CellStatus.EMPTY)] == [True, False]


def test_known_answers() -> None:
    known, tables = DATA / "known_answers", DATA / "tauargus_tables"
    if not (known.exists() and tables.exists()):
        pytest.skip("needs known_answers and tauargus_tables below SUDARE_DATA (or ../shared/data)")
    answers = list(known_answers(known, tables))
    assert [answer for answer in answers if not answer[1]] == []
    assert len(answers) == 32
