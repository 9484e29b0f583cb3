"""Sensitivities follow from the unit, as brute force finds them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from sudare import Unit
from sudare.errors import ParameterError
from sudare.privacy import Sensitivity, sensitivity_of_counts
from tests.reference import naive

SMALL = [
    (cells, per_cell, rows, adjacency)
    for cells, per_cell, adjacency in product((1, 2), (1, 2, 3), ("add-remove", "replace"))
    for rows in (None, *range(1, cells * per_cell + 1))
] + [(3, 2, rows, "add-remove") for rows in range(1, 7)]


@pytest.mark.parametrize(("cells", "per_cell", "rows", "adjacency"), SMALL)
def test_sensitivities_are_those_of_brute_force(cells: int, per_cell: int, rows: Any, adjacency: Any) -> None:
    unit = Unit(cells=cells, rows_per_cell=per_cell, rows=rows, adjacency=adjacency)
    expected = naive.largest_differences(cells, per_cell, rows or cells * per_cell, replace=adjacency == "replace")
    assert sensitivity_of_counts(unit) == Sensitivity(*expected)


def test_default_is_one_person_in_one_cell_added_or_removed() -> None:
    assert sensitivity_of_counts(Unit()) == Sensitivity(l1=1, l2_squared=1, cells=1, largest=1)


def test_rows_in_any_cells_may_all_meet_in_one() -> None:
    assert sensitivity_of_counts(Unit.with_rows(4, who="patient")) == Sensitivity(4, 16, 4, 4)


@pytest.mark.parametrize("name", ["cells", "rows_per_cell"])
@pytest.mark.parametrize("value", [0, -1, 1.0, True, None, "2", 2**31 + 1])
def test_counts_of_a_unit_are_positive_and_whole(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of Unit must be a whole number from 1"):
        Unit(**{name: value})


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, 5])
def test_rows_of_a_unit_fit_into_its_cells(rows: Any) -> None:
    """More rows than cells can hold is a contradiction that would otherwise give too little noise."""
    with pytest.raises(
        ParameterError,
        match=r"The 'rows' parameter of Unit .* A unit with so many rows, in any cells, is Unit.with_rows",
    ):
        Unit(rows=rows)
    with pytest.raises(ParameterError, match=r"The 'rows' parameter of Unit"):
        Unit.with_rows(-1 if rows == 5 else rows)


@pytest.mark.parametrize(
    "values", [(-1, 1, 1, 1), ("a", 1, 1, 1), (0, 0, 0, 0), (1.0, 1, 1, 1), (1, 100, 1, 1), (5, 1, 1, 1)]
)
def test_sensitivities_are_positive_whole_and_possible(values: Any) -> None:
    with pytest.raises(ParameterError, match="of Sensitivity must be"):
        Sensitivity(*values)


@pytest.mark.parametrize("adjacency", ["add_remove", "swap", None, 1, True])
def test_unknown_adjacency_is_refused(adjacency: Any) -> None:
    with pytest.raises(ParameterError, match="must be 'add-remove' or 'replace'"):
        Unit(adjacency=adjacency)


@pytest.mark.parametrize("who", ["", "  ", None, 3])
def test_the_protected_unit_has_a_name(who: Any) -> None:
    with pytest.raises(ParameterError, match="The 'who' parameter of Unit"):
        Unit(who)


def test_a_unit_is_a_value() -> None:
    unit = Unit("household", cells=3)
    assert Unit.from_dict(unit.to_dict()) == unit
    assert len({unit, Unit("household", cells=3)}) == 1
    with pytest.raises(AttributeError):
        unit.cells = 9  # type: ignore[misc]


@pytest.mark.parametrize(("cells", "per_cell", "rows"), [(1, 1, 1), (1, 3, 3), (2, 1, 2), (2, 2, 3)])
def test_signed_differences_by_brute_force(cells: int, per_cell: int, rows: int) -> None:
    """Replacing a unit, whose contribution to each difference may be on either side."""
    places = 2 * cells
    vectors = [
        v
        for v in product(range(-per_cell, per_cell + 1), repeat=places)
        if sum(k != 0 for k in v) <= cells and sum(map(abs, v)) <= rows
    ]
    apart = [[abs(i - j) for i, j in zip(a, b, strict=True)] for a in vectors for b in vectors]
    expected = Sensitivity(
        max(map(sum, apart)),
        max(sum(k * k for k in d) for d in apart),
        max(sum(k > 0 for k in d) for d in apart),
        max(map(max, apart)),
    )
    unit = Unit(cells=cells, rows_per_cell=per_cell, rows=rows, adjacency="replace")
    assert sensitivity_of_counts(unit, signed=True) == expected
    added = Unit(cells=cells, rows_per_cell=per_cell, rows=rows)
    assert sensitivity_of_counts(added, signed=True) == sensitivity_of_counts(added)


def test_only_units_have_sensitivities() -> None:
    with pytest.raises(ParameterError, match="The 'unit' parameter of sensitivity_of_counts must be a Unit"):
        sensitivity_of_counts(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize(("cells", "per_cell", "rows"), [(1, 1, 1), (2, 1, 2), (2, 2, 3)])
def test_merged_areas_by_brute_force(cells: int, per_cell: int, rows: int, adjacency: Any) -> None:
    """Every way to merge cells into areas: a unit's contribution to areas is any sum of its contributions to cells."""
    expected = naive.largest_differences(cells, rows, rows, replace=adjacency == "replace")
    unit = Unit(cells=cells, rows_per_cell=per_cell, rows=rows, adjacency=adjacency)
    assert sensitivity_of_counts(unit, merged=True) == Sensitivity(*expected)
