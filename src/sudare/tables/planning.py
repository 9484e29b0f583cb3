"""The planner: from domain, budget and workload to a mechanism with its splits, weights and noise. It looks at no count.

`plan_table` reads the arguments and chooses the kind of plan: a histogram (`histograms`), a map (`map_planning`), a map of people
with attributes (`strategies`), or a cross table (`adaptive`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

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
from sudare.tables.adaptive.planning import plan_adaptive_margins
from sudare.tables.adaptive.suitability import suits_adaptive_margins
from sudare.tables.areas import Areas
from sudare.tables.dense_tree import MOST_DENSE_BITS
from sudare.tables.histograms.planning import HISTOGRAM_WORKLOADS, is_histogram, plan_histogram
from sudare.tables.map_planning import plan_wide_tree
from sudare.tables.plan import Plan
from sudare.tables.reading import Noise, read_noise
from sudare.tables.strategies.axes import PlacesAndAttributes, categories_first, places_and_attributes
from sudare.tables.strategies.planning import AreaWorkload, has_room, plan_margin_tree

__all__ = ["plan_table"]

USUAL_LARGEST_SIDE = 64
BESIDE = 0.02
"""How much sizes and margins that a workload does not name matter beside those that it names."""


Workload = str | Sequence[int] | None


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
) -> Plan:
    """Plan how to publish a table over a domain, and predict how exact it will be. Spends nothing, looks at no count.

    Args:
        table: the domain, or a table or array over it, of which only the domain is looked at.
        budget: what may be spent.
        unit: who is protected; one person in one cell if left out.
        workload: what matters: ``"cells"``, ``"areas"``, ``"margins"``, ``"totals"``, or sides of aligned squares such as
            ``(1, 4, 16)``; left out, all sides from 1 to 64 of a map, and every margin in every area of a map with attributes.
            Of one long ordered axis: ``"ranges"`` (if left out), ``"prefixes"`` or ``"cells"``.
        public_total: whether the total is published exactly.
        noise: which noise to use; the one with the smaller error if left out.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        with_reference: whether a public reference will be used: the plan is then a tree, which can make use of it.

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
    named = workload if isinstance(workload, str) else None
    uses_reference = read_flag(with_reference, "with_reference", function)
    if is_histogram(domain) and not uses_reference and (workload is None or named in HISTOGRAM_WORKLOADS):
        wanted_bins = next((name for name in HISTOGRAM_WORKLOADS if name == named), HISTOGRAM_WORKLOADS[0])
        return plan_histogram(
            domain, budget, protected, wanted_bins, noises, conversion, public_total=bool(public_total)
        )
    layout = map_layout(domain, MOST_DENSE_BITS)
    parts = places_and_attributes(domain)
    if parts is not None and not (parts.places and parts.attributes):
        parts = None
    if parts is None and noise is None and not uses_reference and (workload is None or named == "margins"):
        suits = suits_adaptive_margins(domain, budget, protected, conversion=conversion)
        if suits:
            is_public = bool(public_total)
            return plan_adaptive_margins(domain, budget, protected, conversion, suits.reason, public_total=is_public)
    apart = parts.attributes if parts is not None and layout.depth > MOST_DENSE_BITS else ()
    if apart:
        layout = categories_first(domain)
    dimensions = layout.axes_of(domain).dimensions
    areas = Areas(layout, tuple(0 if axis in apart else number for axis, number in enumerate(dimensions)))
    sides = _read_workload(workload, areas, function)
    if parts is not None and has_room(parts):

        def plan_map(kind: Noise) -> Plan:
            return plan_table(
                parts.of_places,
                budget,
                unit=protected,
                public_total=public_total,
                noise=kind,
                conversion=conversion,
                with_reference=True,  # a tree, also over places in a row
            )

        wanted = _margin_workload(parts, workload)
        return plan_margin_tree(
            parts, budget, protected, wanted, noises, conversion, plan_map, public_total=public_total
        )
    return plan_wide_tree(
        domain,
        areas,
        sides,
        budget,
        protected,
        noises,
        conversion,
        above=tuple(axis_bits(shape[axis]) for axis in apart),
        public_total=public_total,
        only_cells=named == "cells",
    )


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


def _margin_workload(parts: PlacesAndAttributes, workload: Workload) -> AreaWorkload:
    """What matters in a map of people with attributes: by default every margin in every area, up to the whole map."""
    layout = map_layout(parts.of_places, MOST_DENSE_BITS)
    areas = Areas(layout, layout.axes_of(parts.of_places).dimensions)
    sides = areas.sides_up_to(areas.longest) if workload is None else _read_workload(workload, areas, "plan_table")
    if workload is None or workload in ("margins", "totals"):
        sides = [*sides, 1 << axis_bits(areas.longest)]
    every = areas.sides_up_to(areas.longest)
    others = [side for side in (*every, 1 << axis_bits(areas.longest)) if side not in sides]
    wanted = np.full((len(sides) + len(others), 1 << len(parts.attributes)), BESIDE)
    wanted[: len(sides)] = 1
    if workload == "cells":
        wanted[: len(sides), :-1] = BESIDE
    elif workload == "totals":
        wanted[: len(sides), 1:] = BESIDE
    return AreaWorkload((*sides, *others), tuple(map(areas.height, (*sides, *others))), wanted)


def _read_workload(workload: Workload, areas: Areas, function: str) -> list[int]:
    requirement = "left out, 'cells', 'areas', 'margins', 'totals', or sides of areas such as (1, 4, 16)"
    usual = areas.sides_up_to(USUAL_LARGEST_SIDE)
    if workload is None:
        return usual
    if isinstance(workload, str):
        if workload == "cells":
            return usual[:1]
        if workload == "areas":
            return usual[len(usual) // 2 :]
        if workload in ("margins", "totals"):
            largest = areas.sides_up_to(areas.longest)
            return largest[len(largest) // 2 :]
        raise ParameterError("workload", function, requirement, workload)
    if not isinstance(workload, (list, tuple, range)) or not len(workload):
        raise ParameterError("workload", function, requirement, shown(workload))
    longest = areas.longest
    limit = f"sides from 1 to {longest}, the longest axis"
    if not all(isinstance(side, (int, np.integer)) and type(side) is not bool for side in workload):
        raise ParameterError("workload", function, requirement, Described("others"))
    sides = [int(side) for side in workload]
    if not all(1 <= side <= longest for side in sides):
        raise ParameterError("workload", function, limit, Described("others"))
    if any(side & (side - 1) for side in sides):
        raise ParameterError(
            "workload", function, "sides that are powers of two, as the tree's areas are", Described("others")
        )
    return sorted(set(sides))
