"""Insiders: lone contributors, one contributor in several cells of a sum, too few contributors together."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.disclosure.status import PrimaryCells
from sudare.disclosure.structure import CellTable, Dimension, TableSystem
from sudare.disclosure.suppression.problem import Requirement, SuppressionProblem
from sudare.disclosure.suppression.secondary import suppress
from sudare.disclosure.suppression.singletons import joint_cells, lone_contributors, too_few
from sudare.errors import ParameterError
from tests.unit.disclosure.small_tables import FLAT, ends_by_another_solver, filled, is_safe


def row() -> tuple[TableSystem, list[int]]:
    """One contributor in a and c, two in b, none in d."""
    return filled((Dimension.flat("row", list("abcd")),), [1, 2, 1, 0])


def test_two_lone_contributors_undo_each_other() -> None:
    system, values = row()
    levels = {1: (1, 1), 3: (1, 1)}
    alone = SuppressionProblem.of_levels(system, values, levels)
    assert not suppress(alone).secondary.any()
    aware = SuppressionProblem.of_levels(system, values, levels, insiders=((1,), (3,)))
    assert not is_safe(aware, aware.primary)
    for method in ("fast", "exact"):
        found = suppress(aware, method=method)
        assert found.secondary.sum() == 1
        assert is_safe(aware, found.hidden)


@pytest.mark.parametrize(("threshold", "expected"), [(0, 0), (2, 0), (3, 1), (5, 2)])
def test_hidden_cells_of_a_sum_have_enough_contributors(threshold: int, expected: int) -> None:
    system, values = row()
    problem = SuppressionProblem.of_levels(system, values, {1: (1, 1), 3: (1, 1)})
    found = suppress(problem, counts=np.array(values), threshold=threshold)
    assert found.secondary.sum() == expected
    assert not found.certificate.faults(problem)


def test_more_cells_are_hidden_until_every_sum_has_enough() -> None:
    system, counts = filled(FLAT, [1, 1, 9, 1, 1, 9, 9, 9, 9])
    problem = SuppressionProblem.of_levels(system, counts, {5: (1, 1), 6: (1, 1), 9: (1, 1), 10: (1, 1)})
    found = suppress(problem, counts=np.array(counts), threshold=5).hidden
    for total, parts in system.sums():
        inside = [cell for cell in parts if found[cell]]
        assert not inside or found[total] or sum(counts[cell] for cell in inside) >= 5
    with pytest.raises(ParameterError, match="threshold"):
        too_few(problem, problem.primary, np.array(counts), 0)
    with pytest.raises(ParameterError, match="counts"):
        suppress(problem, threshold=3)


def company_table() -> tuple[CellTable, PrimaryCells]:
    """Contributor 1 alone in a/x and a/y; 2 alone in b/x, also in b/y with 3; the others have many."""
    system, values = filled(FLAT, [10, 20, 500, 30, 40, 600, 700, 800, 900])
    _, counts = filled(FLAT, [1, 1, 9, 1, 2, 9, 9, 9, 9])
    largest, owners = np.zeros((system.size, 2), dtype=np.int64), np.full((system.size, 2), -1, dtype=np.int64)
    for cell, numbers, who in (
        (5, [10, 0], [1, -1]),
        (6, [20, 0], [1, -1]),
        (9, [30, 0], [2, -1]),
        (10, [25, 15], [2, 3]),
    ):
        largest[cell], owners[cell] = numbers, who
    status = np.ones(system.size, dtype=np.int64)
    status[[5, 6, 9, 10]] = 3
    levels = np.zeros(system.size, dtype=np.int64)
    levels[[5, 6, 9, 10]] = [1, 2, 3, 4]
    return (
        CellTable(system, np.array(values), np.array(counts), largest, owners=owners),
        PrimaryCells(status, levels, levels, np.zeros(system.size, dtype=np.int64)),
    )


def test_who_is_alone_where() -> None:
    table, _ = company_table()
    found = lone_contributors(table)
    assert found.insiders == ((5, 6), (9,))
    assert found.rest == {(1, 10): 15}
    without = CellTable(table.system, table.values, table.counts, table.largest)
    assert lone_contributors(without).insiders == ((5,), (6,), (9,))


def test_a_total_and_its_only_part_have_the_same_contributor() -> None:
    system = TableSystem.of_sums(["all", "a", "b", "a1", "a2"], [(0, [1, 2]), (1, [3, 4])])
    counts = np.array([3, 1, 2, 1, 0])
    table = CellTable(system, counts.copy(), counts, np.zeros((5, 2), dtype=np.int64))
    assert lone_contributors(table).insiders == ((1, 3),)


def test_one_contributor_in_several_cells_of_a_sum() -> None:
    table, primaries = company_table()
    unions = joint_cells(table, primaries)
    assert unions == (Requirement((5, 6), 3, 3), Requirement((9, 10), 7, 7))
    plain = SuppressionProblem.of_table(table, primaries)
    # Two cells in every line: each is uncertain, but the sum of row a is known to everybody, and it is contributor 1's.
    assert not suppress(plain).secondary.any()
    assert ends_by_another_solver(plain, plain.primary, (5, 6)) == (0, 0)
    joint = SuppressionProblem.of_table(table, primaries, unions=unions)
    for method in ("fast", "exact"):
        found = suppress(joint, method=method)
        assert is_safe(joint, found.hidden)
        below, above = ends_by_another_solver(joint, found.hidden, (5, 6))
        assert min(below, above) >= 3


def test_insiders_of_a_table() -> None:
    table, primaries = company_table()
    lone = lone_contributors(table)
    problem = SuppressionProblem.of_table(table, primaries, insiders=lone.insiders, insider_rest=lone.rest)
    found = suppress(problem)
    assert is_safe(problem, found.hidden)
    assert not is_safe(problem, problem.primary)
    assert problem.against(Requirement((10,), 40, 40), 1) == Requirement((10,), 15, 15)
    assert problem.against(Requirement((9,), 3, 3), 1) is None


def test_part_of_the_levels_against_insiders() -> None:
    table, primaries = company_table()
    problem = SuppressionProblem.of_table(table, primaries, insiders=((9,),), insider_share=30)
    assert problem.against(Requirement((5,), 10, 1), 0) == Requirement((5,), 3, 1)
    with pytest.raises(ParameterError, match="insider_share"):
        SuppressionProblem.of_table(table, primaries, insider_share=0)


def test_sliding_levels_widen_the_interval() -> None:
    table, primaries = company_table()
    wide = PrimaryCells(primaries.status, primaries.lower, primaries.upper, primaries.lower * 5)
    problem = SuppressionProblem.of_table(table, wide)
    found = suppress(problem)
    for cell in (5, 6, 9, 10):
        low, high = found.audit.interval(cell)
        assert low is not None
        assert high is None or high - low >= wide.sliding[cell]
