"""The audit: intervals by another solver and by trying every table, cells that follow from others, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sudare.disclosure.structure import Dimension, TableSystem
from sudare.disclosure.suppression.audit import audit, undetermined
from sudare.disclosure.suppression.certificate import Witness
from sudare.disclosure.suppression.heuristic import protect
from sudare.disclosure.suppression.linear import exact_witness
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.errors import InputError
from tests.unit.disclosure.small_tables import ends_by_another_solver, filled, possible_tables, problems


@settings(max_examples=25, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_intervals_are_those_of_another_solver(problem: SuppressionProblem, random: object) -> None:
    hidden = np.array([random.random() < 0.5 for _ in range(problem.system.size)])  # type: ignore[attr-defined]
    known = [int(cell) for cell in np.flatnonzero(hidden)[:1]] if random.random() < 0.3 else []  # type: ignore[attr-defined]
    found = audit(problem, hidden, known=known)
    assert found.cells == tuple(np.flatnonzero(hidden))
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        below, above = ends_by_another_solver(problem, hidden, (cell,), known)
        value = int(problem.values[cell])
        assert (float("inf") if low is None else float(value - low)) == pytest.approx(below, abs=1e-6)
        assert (float("inf") if high is None else float(high - value)) == pytest.approx(above, abs=1e-6)


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=4, max_size=4),
    st.lists(st.integers(0, 8), min_size=1, max_size=5, unique=True),
)
def test_intervals_are_those_of_all_tables(leaves: list[int], cells: list[int]) -> None:
    sides = Dimension.flat("row", ["a", "b"]), Dimension.flat("column", ["x", "y"])
    system, values = filled(sides, leaves)
    problem = SuppressionProblem.of_levels(system, values, {})
    hidden = np.zeros(system.size, dtype=bool)
    hidden[cells] = True
    found = audit(problem, hidden)
    assume(all(high is not None and high <= 6 for high in found.high))
    tables = np.array(list(possible_tables(problem, hidden, 6)))
    for cell, low, high in zip(found.cells, found.low, found.high, strict=True):
        assert (low, high) == (tables[:, cell].min(), tables[:, cell].max())


def trap() -> SuppressionProblem:
    rows = Dimension.flat("row", list("wxyz"))
    columns = Dimension.flat("column", list("abcd"))
    leaves = [30, 47, 64, 89, 90, 124, 5, 31, 92, 100, 59, 85, 800, 991, 651, 685]
    system, values = filled((rows, columns), leaves)
    names = ["wa", "wb", "wc", "xa", "xc", "yb", "yd", "zb", "zd"]
    return SuppressionProblem.of_levels(
        system, values, {system.cell(row=name[0], column=name[1]): (1, 1) for name in names}
    )


def test_two_hidden_cells_in_every_line_are_not_enough() -> None:
    problem = trap()
    cell = problem.system.cell(row="w", column="b")
    before = audit(problem, problem.primary)
    assert before.interval(cell) == (Fraction(47), Fraction(47))
    assert cell in before.determined
    assert cell in before.unsafe(problem)
    hidden = problem.primary.copy()
    hidden[problem.system.cell(row="x", column="d")] = True
    after = audit(problem, hidden)
    assert after.interval(cell) == (Fraction(0), Fraction(78))
    assert not after.unsafe(problem)


def test_an_open_end_has_no_bound() -> None:
    system, values = filled((Dimension.flat("row", ["a", "b"]),), [3, 4])
    found = audit(SuppressionProblem.of_levels(system, values, {}), np.array([True, True, False]))
    assert found.low == (Fraction(4), Fraction(0))
    assert found.high == (None, None)


def test_cells_follow_one_after_the_other() -> None:
    system = TableSystem.of_sums(["all", "a", "b", "b1", "b2"], [(0, [1, 2]), (2, [3, 4])])
    problem = SuppressionProblem.of_levels(system, [9, 4, 5, 2, 3], {})
    hidden = np.array([False, False, True, True, False])
    assert not undetermined(problem, hidden).any()
    assert audit(problem, hidden).determined == (2, 3)


def halves(*, whole: bool = False) -> SuppressionProblem:
    """Three cells whose sums in pairs are known but for one: they move by half of what it moves."""
    system = TableSystem.of_sums(["ab", "bc", "ac", "a", "b", "c"], [(0, [3, 4]), (1, [4, 5]), (2, [3, 5])])
    return SuppressionProblem.of_levels(system, [7, 8, 9, 4, 3, 5], {0: (1, 1)}, shown=[1, 2], whole_numbers=whole)


def test_vertices_that_are_not_whole_are_found_in_fractions() -> None:
    problem = halves()
    cells = np.array([0, 3, 4, 5])
    near = exact_witness(problem, cells, np.array([1.0, 0.5 + 1e-9, 0.5, -0.5]), (0,), 1)
    assert near == Witness((0, 3, 4, 5), (2, 1, 1, -1), 2)
    assert protect(problem).hidden == (0, 3, 4, 5)
    found = audit(problem, np.array([True, False, False, True, True, True]))
    assert found.interval(0) == (Fraction(1), Fraction(17))


def test_proposals_that_contradict_the_sums_are_not_taken_over() -> None:
    cells = np.array([0, 3, 4, 5])
    assert exact_witness(halves(), cells, np.array([1.0, 0.0, 0.0, 0.0]), (0,), 1) is None
    assert exact_witness(halves(whole=True), cells, np.array([1.0, 0.5, 0.5, -0.5]), (0,), 1) is None


def test_time_limit_ends_in_a_refusal() -> None:
    problem = trap()
    hidden = problem.primary.copy()
    hidden[problem.system.cell(row="x", column="d")] = True
    with pytest.raises(InputError, match="did not end within the time limit") as caught:
        audit(problem, hidden, seconds=1e-9)
    assert "制限時間" in caught.value.japanese
