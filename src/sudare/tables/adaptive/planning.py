"""The plan for a cross table of many attributes: margins that are chosen while it is carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.errors import Described, ParameterError
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.adaptive.workload import MAX_ORDER, USUAL_ORDER, read_workload
from sudare.tables.arguments import TOTAL
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.plan_words import MARGINS_ONE_BY_ONE
from sudare.tables.planning.workload import MARGINS, WorkloadPart

__all__ = ["are_margins", "plan_adaptive_margins"]


def plan_adaptive_margins(
    domain: Domain,
    budget: Budget,
    unit: Unit,
    conversion: Conversion,
    reason: Words,
    workload: Sequence[WorkloadPart] = (),
    *,
    public_total: bool,
) -> Plan:
    """Plan to publish a table by margins chosen one after the other. How accurate it will be depends on the data.

    Args:
        domain: the cells.
        budget: what may be spent.
        unit: who is protected.
        conversion: how (epsilon, delta) is turned into rho.
        reason: why this suits the table, from public facts.
        workload: which margins matter; all of up to three attributes by default.
        public_total: whether the total is published exactly.
    """
    margins = _workload_margins(workload, [attribute.name for attribute in domain.attributes])
    read_workload(margins, domain, "plan_table")
    return Plan(
        "adaptive-margins",
        {"conversion": conversion, **({} if margins is None else {"workload_margins": margins})},
        "laplace" if budget.currency == "epsilon" else "gaussian",
        domain.shape,
        budget,
        unit,
        (TOTAL,) if public_total else (),
        (),
        (),
        (),
        (MARGINS_ONE_BY_ONE, reason),
    )


def are_margins(workload: Sequence[WorkloadPart]) -> bool:
    """Whether nothing but margins matters."""
    return all(part.word == MARGINS or part.attributes is not None for part in workload)


def _workload_margins(
    workload: Sequence[WorkloadPart], names: Sequence[str]
) -> int | Mapping[tuple[str, ...], float] | None:
    """The workload as `adaptive_margins` takes it. By order, all margins of one order weigh as much as all of another."""
    orders = {part.order for part in workload}
    if any(order is not None and order > MAX_ORDER for order in orders):
        requirement = Words(
            f"margins of up to {MAX_ORDER} attributes, where margins are chosen one after the other",
            f"周辺表を順に選ぶ方法では、{MAX_ORDER} 属性までの周辺表",
        )
        raise ParameterError("workload", "plan_table", requirement, Described("more"))
    if all(part.word == MARGINS for part in workload) and len(workload) <= 1:
        return workload[0].order if workload else None
    weights: dict[tuple[str, ...], float] = {}
    for part in workload:
        if part.attributes is not None:
            weights[part.attributes] = weights.get(part.attributes, 0.0) + part.weight
            continue
        most = part.order or min(USUAL_ORDER, len(names))
        for order in range(1, most + 1):
            for margin in combinations(names, order):
                weights[margin] = weights.get(margin, 0.0) + part.weight / most / comb(len(names), order)
    return weights
