"""What a public total means for units with several rows: every pair of small contributions against what is proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sudare import Budget, Unit
from sudare.privacy import Sensitivity, sensitivity_of_counts
from sudare.tables import lasso, lm, negative_l2, simplex
from sudare.tables.recovery.recovering import sensitivity_of_total

Vector = tuple[int, ...]
UNITS = [
    Unit(cells=cells, rows_per_cell=most, rows=rows, adjacency="replace")
    for cells, most in ((1, 1), (1, 3), (2, 1), (2, 2), (3, 1))
    for rows in range(1, cells * most + 1)
] + [Unit.with_rows(2, adjacency="replace"), Unit.with_rows(3, adjacency="replace")]


def contributions(unit: Unit, places: int) -> list[Vector]:
    """All that one unit may have in so many cells."""
    vectors = product(range(unit.rows_per_cell + 1), repeat=places)
    return [v for v in vectors if sum(v) <= unit.rows and sum(k > 0 for k in v) <= unit.cells]


def differences(unit: Unit, places: int, *, with_as_many_rows: bool) -> Iterator[Vector]:
    """What replacing a unit changes."""
    all_of_it = contributions(unit, places)
    for one, other in product(all_of_it, all_of_it):
        if sum(one) == sum(other) or not with_as_many_rows:
            yield tuple(i - j for i, j in zip(one, other, strict=True))


def largest(vectors: Sequence[Vector]) -> Sensitivity:
    sizes = [(sum(map(abs, d)), sum(k * k for k in d), sum(k != 0 for k in d), max(map(abs, d))) for d in vectors]
    return Sensitivity(*(max(size[place] for size in sizes) for place in range(4)))


def merged(vectors: Sequence[Vector], areas: int) -> list[Vector]:
    """The same for areas of neighbouring cells."""
    size = len(vectors[0]) // areas
    return [tuple(sum(v[size * area : size * (area + 1)]) for area in range(areas)) for v in vectors]


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_same_number_of_rows_makes_nothing_smaller_but_the_total(unit: Unit) -> None:
    places = 2 * min(unit.cells, unit.rows)
    same = list(differences(unit, places, with_as_many_rows=True))
    assert largest(same) == sensitivity_of_counts(unit)
    assert {sum(d) for d in same} == {0}
    areas, stated = largest(merged(same, 2)), sensitivity_of_counts(unit, merged=True)
    assert (areas.l1, areas.l2_squared, areas.largest) == (stated.l1, stated.l2_squared, stated.largest)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_other_numbers_of_rows_are_no_neighbours_of_a_public_total(unit: Unit) -> None:
    """By plain replacement the total moves by up to the rows of a unit: an exact one would tell them for certain."""
    any_rows = list(differences(unit, 2 * min(unit.cells, unit.rows), with_as_many_rows=False))
    assert largest([(sum(d),) for d in any_rows]) == sensitivity_of_total(unit)
    added = replace(unit, adjacency="add-remove")
    alone = contributions(added, 2 * min(unit.cells, unit.rows))
    assert largest([(sum(v),) for v in alone]) == sensitivity_of_total(added) == sensitivity_of_total(unit)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("mechanism", [simplex, lm, lasso, negative_l2])
def test_mechanisms_measure_with_what_is_proved(mechanism: object, unit: Unit) -> None:
    """Noise for the total by the rows, noise for the cells by the contribution; a public total is not measured."""
    counts = np.arange(16)
    assert callable(mechanism)
    for protected in (unit, replace(unit, adjacency="add-remove")):
        total, cells = mechanism(counts, Budget(epsilon=1), unit=protected, total_share=0.5).event.measurements
        assert total.scale == 2 * unit.rows
        assert cells.scale == 2 * sensitivity_of_counts(protected).l1
        total, cells = mechanism(
            counts, Budget(rho=1), unit=protected, total_share=0.5, noise="gaussian"
        ).event.measurements
        assert total.sigma_squared == unit.rows**2
        assert cells.sigma_squared == sensitivity_of_counts(protected).l2_squared
        event = mechanism(counts, Budget(epsilon=1), unit=protected, public_total=True).event
        assert event.unit == unit
        assert event.invariants == ("total",)
        assert [measured.scale for measured in event.measurements] == [Fraction(sensitivity_of_counts(unit).l1)]
        (cells,) = mechanism(
            counts, Budget(rho=1), unit=protected, public_total=True, noise="gaussian"
        ).event.measurements
        assert cells.sigma_squared == Fraction(sensitivity_of_counts(unit).l2_squared, 2)


def test_a_public_total_tells_how_many_rows_a_unit_has() -> None:
    """Why a plan takes a public total only with one row a person: here one of 3 rows is replaced by one of 1."""
    unit, budget = Unit.with_rows(3), Budget(epsilon=0.01)
    three, one = np.array([5, 3, 0, 0]), np.array([5, 0, 1, 0])
    totals = {simplex(counts, budget, unit=unit, public_total=True).table.total for counts in (three, one)}
    assert totals == {8, 6}
