"""The planner: from domain, budget and workload to a mechanism with its splits, weights and noise. It looks at no count.

`plan_table` reads the request (`request`), which decides the kind of plan: a histogram (`histograms`), a map (`map_planning`), a
map of people with attributes, a hierarchy or a cross table of a few attributes (`strategies`), or one of many (`adaptive`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from sudare.domain.domain import Domain
from sudare.domain.layout import axis_bits
from sudare.domain.table import CountTable
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.adaptive.planning import plan_adaptive_margins
from sudare.tables.arguments import Noise
from sudare.tables.histograms.planning import histogram_weights, plan_histogram
from sudare.tables.planning.areas import wanted_sides
from sudare.tables.planning.map_planning import plan_wide_tree
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.predicted_error import read_people
from sudare.tables.planning.request import PlanKind, PlanRequest, read_request
from sudare.tables.planning.workload import Workload
from sudare.tables.strategies.area_workload import area_workload
from sudare.tables.strategies.hierarchy_planning import plan_hierarchy
from sudare.tables.strategies.nominal_planning import plan_cross_table
from sudare.tables.strategies.planning import plan_margin_tree

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
    """Plan how to publish a table over a domain, and predict how accurate it will be. Spends nothing, looks at no count.

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
    asked = read_request(
        table,
        budget,
        unit=unit,
        workload=workload,
        public_total=public_total,
        noise=noise,
        conversion=conversion,
        with_reference=with_reference,
    )
    return _PLANNERS[asked.kind](asked)


def _plan_histogram(asked: PlanRequest) -> Plan:
    bins = histogram_weights(asked.wanted)
    noises, conversion = list(asked.noises), asked.conversion
    return plan_histogram(
        asked.domain, asked.budget, asked.unit, bins, noises, conversion, public_total=asked.public_total
    )


def _plan_adaptive(asked: PlanRequest) -> Plan:
    reason, wanted = asked.suits.reason, asked.wanted
    return plan_adaptive_margins(
        asked.domain, asked.budget, asked.unit, asked.conversion, reason, wanted, public_total=asked.public_total
    )


def _plan_hierarchy(asked: PlanRequest) -> Plan:
    parts = asked.axes.by_hierarchy
    if parts is None or parts.hierarchy is None:
        raise TypeError("a plan for a hierarchy without one")
    return plan_hierarchy(
        parts,
        parts.hierarchy,
        asked.budget,
        asked.unit,
        asked.wanted,
        list(asked.noises),
        asked.conversion,
        public_total=asked.public_total,
    )


def _plan_cross_table(asked: PlanRequest) -> Plan:
    if asked.axes.nominal is None:
        raise TypeError("a plan for a cross table without attributes")
    return plan_cross_table(
        asked.axes.nominal,
        asked.budget,
        asked.unit,
        asked.wanted,
        list(asked.noises),
        asked.conversion,
        public_total=asked.public_total,
    )


def _plan_margin_tree(asked: PlanRequest) -> Plan:
    mixed = asked.axes.mixed
    if mixed is None:
        raise TypeError("a plan for places and attributes without them")

    def plan_map(places: Domain, kind: Noise) -> Plan:
        return plan_table(
            places,
            asked.budget,
            unit=asked.unit,
            public_total=asked.public_total,
            noise=kind,
            conversion=asked.conversion,
            with_reference=True,  # a tree, also over places in a row
        )

    return plan_margin_tree(
        mixed,
        asked.budget,
        asked.unit,
        area_workload(mixed, asked.wanted),
        list(asked.noises),
        asked.conversion,
        plan_map,
        public_total=asked.public_total,
    )


def _plan_wide_tree(asked: PlanRequest) -> Plan:
    axes = asked.axes
    return plan_wide_tree(
        asked.domain,
        axes.areas,
        wanted_sides(axes.areas, asked.wanted),
        asked.budget,
        asked.unit,
        list(asked.noises),
        asked.conversion,
        above=tuple(axis_bits(asked.domain.shape[axis]) for axis in axes.apart),
        public_total=asked.public_total,
        only_cells=[part.word for part in asked.wanted] == ["cells"],
        is_named=bool(asked.wanted),
    )


_PLANNERS: dict[PlanKind, Callable[[PlanRequest], Plan]] = {
    PlanKind.HISTOGRAM: _plan_histogram,
    PlanKind.ADAPTIVE_MARGINS: _plan_adaptive,
    PlanKind.HIERARCHY: _plan_hierarchy,
    PlanKind.CROSS_TABLE: _plan_cross_table,
    PlanKind.MARGIN_TREE: _plan_margin_tree,
    PlanKind.WIDE_TREE: _plan_wide_tree,
}
