"""Counts are whole numbers, and hidden ones are not 0: what the certificate and the audit say is checked by trying all tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.disclosure.argus.metadata import dimension_of, read_argus_metadata
from sudare.disclosure.cell_table import Contributions, aggregate
from sudare.disclosure.rules import Dominance, MinimumFrequency, PPercent, primary_cells, strictest
from sudare.disclosure.status import PrimaryCells
from sudare.disclosure.structure import CellTable, Dimension, TableSystem
from sudare.disclosure.suppression.audit import audit
from sudare.disclosure.suppression.certificate import Certificate, Claim, Witness
from sudare.disclosure.suppression.exact import cheapest
from sudare.disclosure.suppression.heuristic import prove
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.secondary import suppress
from sudare.disclosure.suppression.singletons import too_few
from sudare.errors import InputError
from tests.unit.disclosure.small_tables import possible_tables

HALVES = ["ab", "bc", "ac", "a", "b", "c"]


def halves(*, whole: bool) -> SuppressionProblem:
    """Three cells whose sums in pairs are known but for one: they move by half of what it moves."""
    system = TableSystem.of_sums(HALVES, [(0, [3, 4]), (1, [4, 5]), (2, [3, 5])])
    return SuppressionProblem.of_levels(
        system, [7, 8, 9, 4, 3, 5], {0: (1, 1)}, shown=[1, 2], costs=[0, 0, 0, 1, 1, 1], whole_numbers=whole
    )


def test_a_certificate_in_fractions_proves_nothing_about_whole_numbers() -> None:
    below, above = Witness((0, 3, 4, 5), (-2, -1, -1, 1), 2), Witness((0, 3, 4, 5), (2, 1, 1, -1), 2)
    certificate = Certificate((0, 3, 4, 5), (below, above), (Claim((0,), 0, 1),))
    assert not certificate.faults(halves(whole=False))
    assert "not whole" in certificate.faults(halves(whole=True))[0]


def test_the_search_takes_steps_of_two_where_one_is_not_whole() -> None:
    problem = halves(whole=True)
    found = suppress(problem)
    assert {one.denominator for one in found.certificate.witnesses} == {1}
    assert {abs(one.change((0,))) for one in found.certificate.witnesses} == {2}
    values = {int(one[0]) for one in possible_tables(problem, found.hidden, 17)}
    assert min(values) == found.audit.interval(0)[0]
    assert max(values) == found.audit.interval(0)[1]


CODES = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=4, max_size=14)


@settings(max_examples=40, deadline=None)
@given(CODES)
def test_counts_are_uncertain_to_whoever_knows_that_hidden_ones_are_not_empty(codes: list[tuple[str, str]]) -> None:
    sides = [Dimension.flat("row", list("abc")), Dimension.flat("column", list("xyz"))]
    table = aggregate(sides, {"row": [one[0] for one in codes], "column": [one[1] for one in codes]}, Contributions())
    problem = SuppressionProblem.of_table(table, primary_cells(table, [MinimumFrequency(2)]))
    assert problem.whole_numbers
    found = suppress(problem)
    for cell, low, high in zip(found.audit.cells, found.audit.low, found.audit.high, strict=True):
        assert low is not None
        assert low >= table.least[cell] >= 1
        if problem.primary[cell]:
            assert high is None or high >= table.values[cell] + 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=12, max_size=12), st.integers(1, 2**12 - 1))
def test_audited_ends_of_counts_are_those_of_all_tables(leaves: list[int], bits: int) -> None:
    sums = [(0, [4, 5, 6]), (1, [4, 7, 8]), (2, [5, 7, 9]), (3, [6, 8, 9]), (10, [4, 9, 11])]
    system = TableSystem.of_sums([f"c{number}" for number in range(12)], sums)
    values = list(leaves)
    for total, parts in sums:
        values[total] = sum(values[part] for part in parts)
    hidden = np.array([bool(bits >> cell & 1) for cell in range(12)])
    hidden[[0, 1, 2, 3, 10]] = False
    problem = SuppressionProblem.of_levels(system, values, {})
    tables = list(possible_tables(problem, hidden, 9)) if hidden.sum() <= 5 else []
    found = audit(problem, hidden)
    for cell, low, high, tight in zip(found.cells, found.low, found.high, found.tight, strict=True):
        if tables and tight and high is not None and high <= 9:
            assert {low, high} == {min(int(one[cell]) for one in tables), max(int(one[cell]) for one in tables)}


def test_the_least_value_of_a_count_is_what_is_not_empty_below_it() -> None:
    tree = Dimension.of_tree("area", {"g": {"a": {}, "b": {}}, "h": {"c": {}, "d": {}}})
    table = aggregate([tree], {"area": list("aabc")}, Contributions())
    assert table.least.tolist() == [3, 2, 1, 1, 1, 1, 0]
    magnitudes = aggregate([tree], {"area": list("aabc")}, Contributions(np.array([5, 6, 7, 8])))
    assert not magnitudes.is_frequency
    assert not magnitudes.least.any()
    cells = primary_cells(table, [MinimumFrequency(5)])
    assert cells.upper.tolist() == [1, 1, 1, 1, 1, 1, 0]
    assert cells.lower.tolist() == [1, 1, 1, 0, 0, 0, 0]


def test_a_pattern_that_is_safe_in_fractions_only_is_not_the_cheapest() -> None:
    names = ["x+v", "x+y+z", "y+w", "z+w", "x", "v", "y", "z", "w"]
    system = TableSystem.of_sums(names, [(0, [4, 5]), (1, [4, 6, 7]), (2, [6, 8]), (3, [7, 8])])
    problem = SuppressionProblem.of_levels(system, [2, 3, 2, 2, 1, 1, 1, 1, 1], {4: (1, 1)}, costs=[5] * 4 + [1] * 5)
    inner = np.arange(9) >= 4
    assert prove(problem, inner) is None
    found = cheapest(problem)
    assert found.cost > 4
    assert {one.denominator for one in found.certificate.witnesses} == {1}


def test_cells_hidden_by_hand_cost_nothing_and_stay_hidden() -> None:
    area = Dimension.flat("area", list("abcd"))
    table = aggregate([area], {"area": ["a", *"bbbbbbbbb", *"ccccc", *"dddddd"]}, Contributions())
    plain = primary_cells(table, [MinimumFrequency(2)])
    status = plain.status.copy()
    status[2] = 12
    marked = PrimaryCells(status, plain.lower, plain.upper, plain.sliding, plain.judgements)
    for method in ("fast", "exact"):
        found = suppress(SuppressionProblem.of_table(table, marked), method=method)
        assert found.hidden.tolist() == [False, True, True, False, False]
        assert found.cost == 0
        assert found.secondary.tolist() == [False, False, True, False, False]
        assert found.status(marked).tolist() == [1, 5, 11, 1, 1]


def test_unsafe_cells_without_any_level_are_refused() -> None:
    table = aggregate([Dimension.flat("area", ["a", "b"])], {"area": list("abb")}, Contributions())
    nothing = np.zeros(3, dtype=np.int64)
    with pytest.raises(InputError, match="both of its protection levels are 0"):
        SuppressionProblem.of_table(table, PrimaryCells(np.array([1, 5, 1]), nothing, nothing, nothing))


def test_contributors_in_several_parts_count_once_towards_the_threshold() -> None:
    system = TableSystem.of_dimensions([Dimension.flat("area", list("abc"))])
    problem = SuppressionProblem.of_levels(system, [30, 10, 10, 10], {1: (1, 1), 2: (1, 1)})
    owners = np.array([[7, 8], [7, -1], [7, -1], [8, 9]])
    counts = np.array([4, 1, 1, 3])
    assert too_few(problem, problem.primary, counts, 2, owners=owners).tolist() == [False, False, False, True]
    apart = np.array([5, 1, 1, 3])
    assert not too_few(problem, problem.primary, apart, 2, owners=owners).any()


def test_judgements_are_joined_in_any_order() -> None:
    status = np.arange(1, 15)
    nothing = np.zeros(14, dtype=np.int64)
    one = PrimaryCells(status, nothing, nothing, nothing)
    for shift in range(14):
        other = PrimaryCells(np.roll(status, shift), nothing, nothing, nothing)
        assert strictest(one, other).status.tolist() == strictest(other, one).status.tolist()
        assert (strictest(one, other).unsafe == (one.unsafe | other.unsafe)).all()


def test_rules_beyond_what_can_be_computed_are_refused() -> None:
    area = Dimension.flat("area", ["a"])
    table = aggregate([area], {"area": ["a"] * 3}, Contributions(np.array([5, 3, 1])))
    with pytest.raises(InputError, match="too large to be computed"):
        primary_cells(table, [Dominance(1, Fraction(1, 10**30))])
    light = Contributions(np.array([5, 3, 1, 1]), weights=np.array([1, 1, 1, 1]), weight_decimals=1)
    with pytest.raises(InputError, match="weights are so small"):
        primary_cells(aggregate([area], {"area": ["a"] * 4}, light), [PPercent(10)])


def test_codes_that_a_hierarchy_does_not_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / "h.hrc").write_text("north\n@n1\n")
    (tmp_path / "m.rda").write_text('area 1 2 99\n <RECODEABLE>\n <HIERCODELIST> "h.hrc"\n')
    metadata = read_argus_metadata(tmp_path / "m.rda")
    assert dimension_of(metadata, "area", ["n1", "99"]).codes == ("Total", "north", "n1", "99")
    with pytest.raises(InputError, match=r"which its hierarchy 'h\.hrc' does not have"):
        dimension_of(metadata, "area", ["n1", "s1"])


def test_only_so_many_of_the_largest_as_are_known_count() -> None:
    system = TableSystem.of_dimensions([Dimension.flat("area", ["a"])])
    values, counts, largest = np.array([9, 9]), np.array([3, 3]), np.array([[5, 0], [5, 0]])
    table = CellTable(system, values, counts, largest, largest_known=1)
    assert primary_cells(table, [Dominance(1, 50)]).unsafe.all()
    with pytest.raises(InputError, match="MAXSCORE"):
        primary_cells(table, [Dominance(2, 50)])
