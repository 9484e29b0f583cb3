"""The request for a plan, read and checked, and the kind of plan that follows from it. It looks at no count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import prod
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.layout import map_layout
from sudare.domain.table import CountTable
from sudare.errors import Described, GuaranteeError, ParameterError, SudareError
from sudare.parameters import read_flag, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.adaptive.planning import are_margins
from sudare.tables.adaptive.suitability import MAP_OR_GIVEN, Suitability, suits_adaptive_margins
from sudare.tables.arguments import Noise, read_noise
from sudare.tables.histograms.planning import HISTOGRAM_WORKLOADS, is_histogram
from sudare.tables.planning.areas import AREA_WORDS, Areas, is_area
from sudare.tables.planning.workload import Vocabulary, Workload, WorkloadPart, read_workload
from sudare.tables.strategies.axes import PlacesAndAttributes, categories_first, places_and_attributes
from sudare.tables.strategies.hierarchy_planning import hierarchy_vocabulary
from sudare.tables.strategies.nominal_planning import MAX_NOMINAL_CELLS, NOMINAL_WORDS
from sudare.tables.strategies.planning import has_room
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS

__all__ = ["PlanKind", "PlanRequest", "TableAxes", "read_request"]


class PlanKind(Enum):
    """What sort of plan a table gets."""

    HISTOGRAM = "one ordered axis"
    ADAPTIVE_MARGINS = "a cross table of many attributes"
    HIERARCHY = "leaves of a hierarchy, maybe with attributes"
    CROSS_TABLE = "a cross table of a few attributes"
    MARGIN_TREE = "a map of people with attributes"
    WIDE_TREE = "a map"


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """What a plan is asked for.

    Attributes:
        domain: the cells.
        budget: what may be spent.
        unit: who is protected, the adjacency as the public total wants it.
        noises: that may be used.
        conversion: how (epsilon, delta) is turned into rho.
        public_total: whether the total is public.
        uses_reference: whether there is a public reference.
        axes: what the axes are.
        suits: whether margins are chosen adaptively.
        wanted: parts of the workload.
    """

    domain: Domain
    budget: Budget
    unit: Unit
    noises: tuple[Noise, ...]
    conversion: Conversion
    public_total: bool
    uses_reference: bool
    axes: TableAxes
    suits: Suitability
    wanted: tuple[WorkloadPart, ...]

    @property
    def kind(self) -> PlanKind:
        """Of the plan: by the axes, the workload and the reference."""
        as_histogram = is_histogram(self.domain) and not self.uses_reference
        if as_histogram and all(part.word in HISTOGRAM_WORKLOADS for part in self.wanted):
            return PlanKind.HISTOGRAM
        if self.suits and are_margins(self.wanted):
            return PlanKind.ADAPTIVE_MARGINS
        if self.axes.by_hierarchy is not None and self.axes.by_hierarchy.hierarchy is not None:
            return PlanKind.HIERARCHY
        has_areas = any(is_area(part) for part in self.wanted)
        if self.axes.nominal is not None and not self.uses_reference and not has_areas:
            return PlanKind.CROSS_TABLE
        return PlanKind.MARGIN_TREE if self.axes.has_room else PlanKind.WIDE_TREE


def read_request(
    table: Domain | CountTable | Any,
    budget: Budget,
    *,
    unit: Unit | None = None,
    workload: Workload = None,
    public_total: bool = False,
    noise: Noise | None = None,
    conversion: Conversion = "optimal",
    with_reference: bool = False,
) -> PlanRequest:
    """Read what `plan_table` is given, and refuse what no plan can be made of. Plans nothing.

    Args:
        table: as `plan_table` takes it, like all others.
        budget: what may be spent.
        unit: who is protected.
        workload: what matters.
        public_total: whether the total is public.
        noise: if only one kind may be used.
        conversion: how (epsilon, delta) is turned into rho.
        with_reference: whether there is a public reference.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if no noise of this package gives the budget.
    """
    function = "plan_table"
    domain = _read_domain(table, function)
    read_budget(budget, function)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    if read_flag(public_total, "public_total", function):
        if prod(domain.shape) == 1:
            requirement = Words(
                "False for a table of one cell: its total is all there is to protect",
                "1 セルの表では false（合計そのものが保護の対象のため）",
            )
            raise ParameterError("public_total", function, requirement, Described("a public total"))
        protected = replace(protected, adjacency="replace")
    noises = [read_noise(noise, function)] if noise is not None else _possible_noises(budget)
    uses_reference = read_flag(with_reference, "with_reference", function)
    axes = TableAxes.of(domain)
    suits = Suitability(False, MAP_OR_GIVEN)
    if not axes.is_mixed and noise is None and not uses_reference:
        suits = suits_adaptive_margins(domain, budget, protected, conversion=conversion)
    as_histogram = is_histogram(domain) and not uses_reference
    vocabulary = axes.vocabulary(as_histogram=as_histogram, is_adaptive=bool(suits), uses_reference=uses_reference)
    request = PlanRequest(
        domain=domain,
        budget=budget,
        unit=protected,
        noises=tuple(noises),
        conversion=conversion,
        public_total=bool(public_total),
        uses_reference=uses_reference,
        axes=axes,
        suits=suits,
        wanted=read_workload(workload, vocabulary, function),
    )
    if request.kind is PlanKind.WIDE_TREE:
        _require_areas(request.wanted, function)
    return request


@dataclass(frozen=True)
class TableAxes:
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
    def of(cls, domain: Domain) -> TableAxes:
        """What the axes of a domain are."""
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
            apart = Words(
                "either ranges, prefixes and cells, or margins, or else only areas: 'cells', 'areas', 'totals' and sides",
                "区間・累積・セル、周辺表、領域（'cells'、'areas'、'totals' と辺の長さ）のうち 1 種類だけ",
            )
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
        raise GuaranteeError(
            Words(f"No noise of this package gives {budget}.", f"{budget} を満たすノイズはありません。")
        )
    return kinds


def _read_domain(table: object, function: str) -> Domain:
    if isinstance(table, Domain):
        return table
    if isinstance(table, CountTable):
        return table.domain
    if isinstance(table, np.ndarray) and table.ndim:
        return Domain.of_shape(table.shape)
    raise ParameterError("table", function, "a Domain, a CountTable or an array", shown(table))
