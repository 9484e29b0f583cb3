"""Bounds of hidden cells: equal to independent linear programs, and to trying every table of small whole numbers."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from sudare.attacks import AttackOutcome, attack_suppressed_cells
from sudare.attacks.tables.solver import SolverFailure
from sudare.errors import InputError, ParameterError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data"))
needs_solver = pytest.mark.skipif(importlib.util.find_spec("ortools") is None, reason="needs the extra 'solver'")


def equations_of(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Cells of a table with totals first on every axis; one row for each sum along an axis."""
    places = np.arange(np.prod(shape)).reshape(shape)
    rows = []
    for axis in range(len(shape)):
        for line in np.moveaxis(places, axis, -1).reshape(-1, shape[axis]):
            row = np.zeros(places.size, dtype=np.int64)
            row[line[0]], row[line[1:]] = 1, -1
            rows.append(row)
    return np.array(rows)


def with_totals(inner: NDArray[np.int64]) -> NDArray[np.int64]:
    for axis in range(inner.ndim):
        inner = np.concatenate([inner.sum(axis=axis, keepdims=True), inner], axis=axis)
    return inner


def naive_bounds(
    values: NDArray[np.int64], hidden: NDArray[np.bool_], equations: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Two linear programs for each hidden cell, over all cells, the published ones fixed."""
    bounds = [(0, None) if is_hidden else (value, value) for value, is_hidden in zip(values, hidden, strict=True)]
    ends = []
    for cell in np.flatnonzero(hidden):
        objective = np.zeros(values.size)
        objective[cell] = 1
        pair = []
        for sign in (1, -1):
            answer = linprog(sign * objective, A_eq=equations, b_eq=np.zeros(len(equations)), bounds=bounds)
            pair.append(sign * np.inf * -1 if answer.status == 3 else sign * answer.fun)
        ends.append(pair)
    return np.array(ends).reshape(-1, 2)


tables = st.tuples(st.integers(2, 3), st.integers(2, 3)).flatmap(
    lambda shape: st.tuples(
        st.lists(st.integers(0, 4), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(
            lambda flat: np.array(flat, dtype=np.int64).reshape(shape)
        ),
        st.lists(st.booleans(), min_size=(shape[0] + 1) * (shape[1] + 1), max_size=(shape[0] + 1) * (shape[1] + 1)),
    )
)


@settings(max_examples=20)
@given(tables)
def test_same_as_an_independent_linear_program(drawn: tuple[NDArray[np.int64], list[bool]]) -> None:
    inner, flags = drawn
    table, hidden = with_totals(inner), np.array(flags)
    equations = equations_of(table.shape)
    found = attack_suppressed_cells(table.ravel(), hidden, csr_array(equations))
    naive = naive_bounds(table.ravel(), hidden, equations)
    assert found.lower == pytest.approx(naive[:, 0], abs=1e-6)
    assert found.upper == pytest.approx(naive[:, 1], abs=1e-6)
    assert (found.lower <= found.values + found.slack).all()
    assert (found.upper >= found.values - found.slack).all()


@needs_solver
@settings(max_examples=10)
@given(st.lists(st.integers(0, 2), min_size=8, max_size=8), st.lists(st.booleans(), min_size=8, max_size=8))
def test_whole_numbers_as_by_trying_every_table(flat: list[int], flags: list[bool]) -> None:
    inner = np.array(flat, dtype=np.int64).reshape(2, 2, 2)
    table = with_totals(inner)
    hidden = np.zeros((3, 3, 3), dtype=np.bool_)
    hidden[1:, 1:, 1:] = np.array(flags).reshape(2, 2, 2)
    found = attack_suppressed_cells(table.ravel(), hidden.ravel(), equations_of((3, 3, 3)), whole_numbers=True)
    places = np.flatnonzero(flags)
    # Sums of two cells are published, so no cell is above 4.
    guesses = np.array(list(product(range(5), repeat=places.size)), dtype=np.int64).reshape(5**places.size, places.size)
    candidates = np.tile(np.array(flat, dtype=np.int64), (len(guesses), 1))
    candidates[:, places] = guesses
    cubes, fits = candidates.reshape(-1, 2, 2, 2), np.ones(len(guesses), dtype=np.bool_)
    for axis in range(3):
        fits &= (cubes.sum(axis=axis + 1) == inner.sum(axis=axis)).all(axis=(1, 2))
    assert found.is_exact
    assert np.array_equal(found.lower, guesses[fits].min(axis=0))
    assert np.array_equal(found.upper, guesses[fits].max(axis=0))


@needs_solver
def test_whole_numbers_can_be_narrower_than_real_ones() -> None:
    # 2 a + 2 b + c = 5 with c at most 2: real numbers leave c in [0, 2], whole ones only 1.
    arguments: dict[str, Any] = {"at_most": [9, 9, 2, 9]}
    equation = [[2, 2, 1, -1]]
    hidden = [True, True, True, False]
    real = attack_suppressed_cells([1, 1, 1, 5], hidden, equation, **arguments)
    whole = attack_suppressed_cells([1, 1, 1, 5], hidden, equation, whole_numbers=True, **arguments)
    assert (real.lower[2], real.upper[2]) == pytest.approx((0, 2))
    assert (whole.lower.tolist(), whole.upper.tolist()) == ([0, 0, 1], [2, 2, 1])
    assert whole.is_revealed.tolist() == [False, False, True]


def test_a_pattern_with_one_cell_in_a_row_is_broken_and_a_rectangle_holds() -> None:
    table = with_totals(np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    alone = np.zeros((4, 4), dtype=np.bool_)
    alone[2, 1] = True
    names = [f"row {row}, column {column}" for row in range(4) for column in range(4)]
    broken = attack_suppressed_cells(table.ravel(), alone.ravel(), equations_of((4, 4)), names=names).report()
    assert broken.outcome is AttackOutcome.BROKEN
    assert broken.verdicts[0].explain("en").startswith("row 2, column 1: The hidden value is 8: nothing else fits.")
    rectangle = np.zeros((4, 4), dtype=np.bool_)
    rectangle[np.ix_([2, 3], [1, 3])] = True
    found = attack_suppressed_cells(table.ravel(), rectangle.ravel(), equations_of((4, 4)))
    assert found.lower.tolist() == pytest.approx([0, 5, 0, 4])
    assert found.upper.tolist() == pytest.approx([25, 30, 25, 29])  # the sums of the other two cells bound each one
    assert found.report().outcome is AttackOutcome.HELD


def test_the_known_trap() -> None:
    """Two hidden cells in every row and column, and one of them is open all the same."""
    path = DATA / "known_answers" / "sdcTable" / "expected.json"
    if not path.is_file():
        pytest.skip("needs known_answers below SUDARE_DATA (or ../shared/data)")
    trap = json.loads(path.read_text(encoding="utf-8"))["trap_4x4"]
    rows, columns = list(trap["values"]), trap["cols"]
    table = with_totals(np.array([trap["values"][row] for row in rows]))
    hidden = np.zeros((5, 5), dtype=np.bool_)
    for row, column in trap["primary"]:
        hidden[1 + rows.index(row), 1 + columns.index(column)] = True
    open_cell = (1 + rows.index("w")) * 5 + 1 + columns.index("b")
    broken = attack_suppressed_cells(table.ravel(), hidden.ravel(), equations_of((5, 5)))
    assert broken.cells[broken.is_revealed].tolist() == [open_cell]
    assert broken.lower[broken.is_revealed] == pytest.approx([47])
    hidden[1 + rows.index("x"), 1 + columns.index("d")] = True
    mended = attack_suppressed_cells(table.ravel(), hidden.ravel(), equations_of((5, 5)))
    place = mended.cells.tolist().index(open_cell)
    assert not mended.is_revealed.any()
    assert [mended.lower[place], mended.upper[place]] == pytest.approx(trap["attack wb after"])


def test_required_widths() -> None:
    arguments: dict[str, Any] = {"hidden": [False, True, True], "equations": [[1, -1, -1]]}
    assert not attack_suppressed_cells([10, 4, 6], required_upper=[0, 6, 4], **arguments).is_broken.any()
    too_much = attack_suppressed_cells([10, 4, 6], required_upper=[0, 7, 4], **arguments)
    assert too_much.is_broken.tolist() == [True, False]
    too_low = attack_suppressed_cells([10, 4, 6], required_lower=[0, 4, 7], **arguments)
    assert too_low.is_broken.tolist() == [False, True]


def test_what_everybody_knows_narrows_the_bounds_and_bounded_noise_is_attacked_so() -> None:
    # Rounded to multiples of 5, nothing is hidden and nothing exact: parts 3, 3, 3 are shown as 5, 5, 5, their total 9 as 10.
    true, shown = np.array([9, 3, 3, 3]), np.array([10, 5, 5, 5])
    found = attack_suppressed_cells(
        true, np.ones(4, dtype=bool), [[1, -1, -1, -1]], at_least=shown - 2, at_most=shown + 2
    )
    assert found.lower == pytest.approx([9, 3, 3, 3])
    assert found.upper == pytest.approx([12, 6, 6, 6])


def test_nothing_bounds_a_cell_whose_total_is_hidden() -> None:
    found = attack_suppressed_cells([10, 4, 6], [True, True, False], [[1, -1, -1]], whole_numbers=False)
    assert found.lower.tolist() == [6, 0]
    assert np.isinf(found.upper).all()
    assert "∞" in found.report().verdicts[0].sentence.english
    unconnected = attack_suppressed_cells([3], [True], np.zeros((0, 1)))
    assert (unconnected.lower[0], unconnected.upper[0]) == (0, np.inf)
    assert attack_suppressed_cells([3], [False], np.zeros((0, 1))).report().verdicts == ()


def test_large_values_keep_their_bounds() -> None:
    big = 10**12
    found = attack_suppressed_cells(
        [2 * big + 3, big + 1, big + 2, 7, big, 1, 6], [False, True, True, False, False, True, True],
        [[1, -1, -1, 0, 0, 0, 0], [0, 0, 0, 1, 0, -1, -1]],
    )  # fmt: skip
    assert found.upper[:2].tolist() == pytest.approx([2 * big + 3] * 2)
    # An independent small part of the table is not blurred by the large one: its bounds follow from its own equation, exactly.
    assert found.upper[2:].tolist() == [7, 7]


def test_what_floating_point_cannot_tell_is_undecided() -> None:
    """Two sums share cells: the linear programs' ends are not those of a single sum, and may be off."""
    found = attack_suppressed_cells([3], [True], np.zeros((0, 1)))
    for lower, width, outcome in (
        (995.0, 10_000.0, AttackOutcome.UNDECIDED),
        (900.0, 10_000.0, AttackOutcome.HELD),
        (1020.0, 10_000.0, AttackOutcome.BROKEN),
        (900.0, 15.0, AttackOutcome.BROKEN),  # too low at the upper end
        (995.0, 5.0 + 1000.0, AttackOutcome.UNDECIDED),
    ):
        off = replace(
            found,
            values=np.array([2000]),
            lower=np.array([lower]),
            upper=np.array([lower + width]),
            required_lower=np.array([1010]),
            required_upper=np.array([0]),
            slack=np.array([10.0]),
        )
        assert off.report().outcome is outcome, (lower, width)
    narrow = replace(found, lower=np.array([3.0]), upper=np.array([3.1]), slack=np.array([10.0]))
    assert narrow.is_revealed.tolist() == [True]
    not_so = replace(found, lower=np.array([0.0]), upper=np.array([15.0]), slack=np.array([10.0]))
    assert not_so.report().outcome is AttackOutcome.UNDECIDED
    assert "floating point" in not_so.report().verdicts[0].sentence.english


@needs_solver
def test_whole_numbers_beside_cells_without_a_bound() -> None:
    """What whole numbers reach is proved there, too; what they do not reach within the search is not."""
    total_hidden = attack_suppressed_cells([10, 4, 6], [True, True, False], [[1, -1, -1]], whole_numbers=True)
    assert total_hidden.is_exact
    assert total_hidden.report().outcome is AttackOutcome.HELD
    equations = np.array([[2, 2, 1, 0, 0, -1], [1, 0, 0, -1, 1, 0]])
    at_most = [np.inf, np.inf, 2, np.inf, np.inf, np.inf]
    values, hidden = [1, 1, 1, 3, 2, 5], [True] * 5 + [False]
    found = attack_suppressed_cells(values, hidden, equations, at_most=at_most, whole_numbers=True)
    assert found.is_unproved is not None
    assert found.names[2] in {verdict.target for verdict in found.report().with_outcome(AttackOutcome.UNDECIDED)}
    assert not found.is_exact


@needs_solver
def test_a_search_without_time_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise SolverFailure("no time")

    monkeypatch.setattr("sudare.attacks.tables.solver.IntegerProgram.ends", fails)
    found = attack_suppressed_cells([10, 2, 3, 5], [False, True, False, True], [[1, -1, -1, -1]], whole_numbers=True)
    assert found.report().outcome is AttackOutcome.UNDECIDED
    assert "not finished" in found.report().verdicts[0].sentence.english


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"values": [10, 4, 7]}, InputError, "does not add up"),
        ({"values": [10.0, 4, 6]}, ParameterError, "whole numbers"),
        ({"values": [1 << 60, 1 << 59, 1 << 59]}, ParameterError, "larger unit"),
        ({"hidden": [1, 0, 0]}, ParameterError, "True or False"),
        ({"equations": [[1, -1]]}, ParameterError, "3 columns"),
        ({"equations": [[0.5, -0.5, -0.5]]}, ParameterError, "whole numbers"),
        ({"at_most": [10, 3, 6]}, InputError, "outside the bounds"),
        ({"at_most": [10, 4.5, 6]}, ParameterError, "infinity"),
        ({"at_least": [0, 0]}, ParameterError, "3 whole numbers"),
        ({"names": ["a"]}, ParameterError, "3 names"),
    ],
)
def test_mistakes_are_told(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    arguments: dict[str, Any] = {"values": [10, 4, 6], "hidden": [False, True, True], "equations": [[1, -1, -1]]}
    with pytest.raises(error, match=message):
        attack_suppressed_cells(**(arguments | changes))
