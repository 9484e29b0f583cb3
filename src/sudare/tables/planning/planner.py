"""The planner: from domain, budget and workload to a mechanism with its splits, weights and noise. It looks at no count.

`plan_table` reads the arguments and chooses the kind of plan: a histogram (`histograms`), a map (`map_planning`), a map of people
with attributes, a hierarchy or a cross table of a few attributes (`strategies`), or a cross table of many (`adaptive`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import axis_bits, map_layout
from sudare.domain.table import CountTable
from sudare.errors import Described, GuaranteeError, ParameterError, SudareError
from sudare.parameters import read_flag, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.adaptive.planning import are_margins, plan_adaptive_margins
from sudare.tables.adaptive.suitability import MAP_OR_GIVEN, Suitability, suits_adaptive_margins
from sudare.tables.arguments import Noise, read_noise
from sudare.tables.histograms.planning import HISTOGRAM_WORKLOADS, histogram_weights, is_histogram, plan_histogram
from sudare.tables.planning.areas import AREA_WORDS, Areas, is_area, wanted_sides
from sudare.tables.planning.map_planning import plan_wide_tree
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.predicted_error import read_people
from sudare.tables.planning.workload import Vocabulary, Workload, WorkloadPart, read_workload
from sudare.tables.strategies.area_workload import area_workload
from sudare.tables.strategies.axes import PlacesAndAttributes, categories_first, places_and_attributes
from sudare.tables.strategies.hierarchy_planning import hierarchy_vocabulary, plan_hierarchy
from sudare.tables.strategies.nominal_planning import MAX_NOMINAL_CELLS, NOMINAL_WORDS, plan_cross_table
from sudare.tables.strategies.planning import has_room, plan_margin_tree
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS

__all__ = ["Workload", "plan_table"]


def plan_table(
    table: Domain | CountTable | Any,
    budget: Budget,
    *,
    unit: Unit | None = None,
    workload: Workload = None,
    public_total: bool = False,
    noise: Noise | None = None,
    conversion: Conversion = "optimal",
    with_reference: bool = False,
    people: int | None = None,
) -> Plan:
    """Plan how to publish a table over a domain, and predict how exact it will be. Spends nothing, looks at no count.

    Args:
        table: the domain, or a table or array over it, of which only the domain is looked at.
        budget: what may be spent.
        unit: who is protected; one person in one cell if left out.
        workload: what matters: ``"cells"``, ``"areas"``, ``"margins"``, ``"totals"``, or sides of aligned squares such as
            ``(1, 4, 16)``; of tables with attributes ``("margins", 2)`` for those of up to two of them; of one long ordered axis
            ``"ranges"`` (if left out), ``"prefixes"`` or ``"cells"``. Or several of these, also names of attributes and tuples of
            them for single margins, with weights: ``{"cells": 1, ("age", "sex"): 2}``. Left out, all sides from 1 to 64 of a map,
            and every margin in every area of a map with attributes.
        public_total: whether the total is published exactly.
        noise: which noise to use; the one with the smaller error if left out.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        with_reference: whether a public reference will be used: the plan is then a tree, which can make use of it.
        people: about how many people the table will have, **where that is public**: the plan stays the same, and its
            predicted errors have narrower intervals.

    Returns:
        The plan; ``print(plan)`` explains it.

    Raises:
        ParameterError: if an argument is not what it should be.

    Example:
        >>> import sudare
        >>> plan = sudare.plan_table(sudare.Domain.of_shape((512, 512)), sudare.Budget(epsilon=1))
        >>> plan.mechanism, plan.settings["bits"]
        ('wide-tree', (2, 4, 4, 4, 4))
    """
    if people is not None:
        number = read_people(people, "plan_table")
        known = {"unit": unit, "workload": workload, "public_total": public_total, "noise": noise}
        more = {"conversion": conversion, "with_reference": with_reference}
        return cast(Callable[..., Plan], plan_table)(table, budget, **known, **more).for_people(number)
    function = "plan_table"
    domain = _read_domain(table, function)
    shape = domain.shape
    read_budget(budget, function)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    if read_flag(public_total, "public_total", function):
        if prod(shape) == 1:
            requirement = "False for a table of one cell: its total is all there is to protect"
            raise ParameterError("public_total", function, requirement, Described("a public total"))
        protected = replace(protected, adjacency="replace")
    noises = [read_noise(noise, function)] if noise is not None else _possible_noises(budget)
    uses_reference, is_public = read_flag(with_reference, "with_reference", function), bool(public_total)
    axes = _Axes.of(domain)
    as_histogram = is_histogram(domain) and not uses_reference
    suits = Suitability(False, MAP_OR_GIVEN)
    if not axes.is_mixed and noise is None and not uses_reference:
        suits = suits_adaptive_margins(domain, budget, protected, conversion=conversion)
    vocabulary = axes.vocabulary(as_histogram=as_histogram, is_adaptive=bool(suits), uses_reference=uses_reference)
    wanted = read_workload(workload, vocabulary, function)
    if as_histogram and all(part.word in HISTOGRAM_WORKLOADS for part in wanted):
        bins = histogram_weights(wanted)
        return plan_histogram(domain, budget, protected, bins, noises, conversion, public_total=is_public)
    if suits and are_margins(wanted):
        return plan_adaptive_margins(
            domain, budget, protected, conversion, suits.reason, wanted, public_total=is_public
        )
    if axes.by_hierarchy is not None and axes.by_hierarchy.hierarchy is not None:
        parts, area = axes.by_hierarchy, axes.by_hierarchy.hierarchy
        return plan_hierarchy(parts, area, budget, protected, wanted, noises, conversion, public_total=is_public)
    if axes.nominal is not None and not uses_reference and not any(is_area(part) for part in wanted):
        return plan_cross_table(axes.nominal, budget, protected, wanted, noises, conversion, public_total=is_public)
    if axes.mixed is not None and axes.has_room:

        def plan_map(places: Domain, kind: Noise) -> Plan:
            return plan_table(
                places,
                budget,
                unit=protected,
                public_total=public_total,
                noise=kind,
                conversion=conversion,
                with_reference=True,  # a tree, also over places in a row
            )

        of_areas = area_workload(axes.mixed, wanted)
        return plan_margin_tree(
            axes.mixed, budget, protected, of_areas, noises, conversion, plan_map, public_total=is_public
        )
    _require_areas(wanted, function)
    return plan_wide_tree(
        domain,
        axes.areas,
        wanted_sides(axes.areas, wanted),
        budget,
        protected,
        noises,
        conversion,
        above=tuple(axis_bits(domain.shape[axis]) for axis in axes.apart),
        public_total=is_public,
        only_cells=[part.word for part in wanted] == ["cells"],
        is_named=bool(wanted),
    )


@dataclass(frozen=True)
class _Axes:
    """What the axes of a table are, which decides about the kind of its plan.

    Attributes:
        domain: the cells.
        mixed: its places and attributes, where there are both; None otherwise.
        nominal: its attributes, where there are no places and not too many cells; None otherwise.
        by_hierarchy: its leaves and attributes, where the places are a hierarchy; None otherwise.
        areas: of a tree over all of it.
        apart: axes by which a tree parts people before it comes to places.
    """

    domain: Domain
    mixed: PlacesAndAttributes | None
    nominal: PlacesAndAttributes | None
    by_hierarchy: PlacesAndAttributes | None
    areas: Areas
    apart: tuple[int, ...]

    @classmethod
    def of(cls, domain: Domain) -> _Axes:
        parts = places_and_attributes(domain)
        mixed = nominal = None
        by_hierarchy = parts if parts is not None and parts.hierarchy is not None else None
        if parts is not None and parts.attributes and by_hierarchy is None:
            mixed = parts if not parts.are_places_one else None
            nominal = parts if parts.are_places_one and domain.cells <= MAX_NOMINAL_CELLS else None
        layout = map_layout(domain, MAX_DENSE_BITS)
        apart = mixed.attributes if mixed is not None and layout.depth > MAX_DENSE_BITS else ()
        if apart:
            layout = categories_first(domain)
        dimensions = layout.axes_of(domain).dimensions
        areas = Areas(layout, tuple(0 if axis in apart else number for axis, number in enumerate(dimensions)))
        return cls(domain, mixed, nominal, by_hierarchy, areas, apart)

    @property
    def is_mixed(self) -> bool:
        """Whether people have places, and maybe attributes beside them."""
        return self.mixed is not None or self.by_hierarchy is not None

    @property
    def has_room(self) -> bool:
        """Whether a table with places and attributes is small enough for a margin tree."""
        return self.mixed is not None and has_room(self.mixed)

    def vocabulary(self, *, as_histogram: bool, is_adaptive: bool, uses_reference: bool) -> Vocabulary:
        """Of which parts a workload may consist."""
        names: tuple[str, ...] = ()
        if self.by_hierarchy is not None and self.by_hierarchy.hierarchy is not None:
            return hierarchy_vocabulary(self.by_hierarchy, self.by_hierarchy.hierarchy)
        if is_adaptive:
            names = tuple(attribute.name for attribute in self.domain.attributes)
        elif self.nominal is not None and not uses_reference:
            if not self.domain.ordered_axes:
                return Vocabulary(NOMINAL_WORDS, attributes=self.nominal.names)
            names = self.nominal.names
        elif self.mixed is not None and self.has_room:
            names = self.mixed.names
        words = (*HISTOGRAM_WORKLOADS, *AREA_WORDS) if as_histogram else AREA_WORDS
        return Vocabulary(tuple(dict.fromkeys(words)), self.areas.longest, names)


def _require_areas(workload: Sequence[WorkloadPart], function: str) -> None:
    """Refuse parts that a tree of areas does not have, beside those that it has."""
    for part in workload:
        if part.attributes is not None or part.order is not None or part.word in ("ranges", "prefixes"):
            apart = "either ranges, prefixes and cells, or margins, or else only areas: 'cells', 'areas', 'totals' and sides"
            raise ParameterError("workload", function, apart, Described("parts of several kinds"))


def _possible_noises(budget: Budget) -> list[Noise]:
    kinds: list[Noise] = []
    unit_sensitivity = sensitivity_of_counts(Unit())
    try:
        LaplaceMeasurement.for_budget(budget, unit_sensitivity)
        kinds.append("laplace")
    except SudareError:
        pass
    try:
        GaussianMeasurement.for_budget(budget, unit_sensitivity)
        kinds.append("gaussian")
    except SudareError:
        pass
    if not kinds:
        raise GuaranteeError(f"No noise of this package gives {budget}.")
    return kinds


def _read_domain(table: object, function: str) -> Domain:
    if isinstance(table, Domain):
        return table
    if isinstance(table, CountTable):
        return table.domain
    if isinstance(table, np.ndarray) and table.ndim:
        return Domain.of_shape(table.shape)
    raise ParameterError("table", function, "a Domain, a CountTable or an array", shown(table))
