"""The plan for a cross table of many attributes: margins that are chosen while it is carried out."""

from __future__ import annotations

from sudare.domain.domain import Domain
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.plan import Plan
from sudare.tables.reading import TOTAL

__all__ = ["plan_adaptive_margins"]


def plan_adaptive_margins(
    domain: Domain, budget: Budget, unit: Unit, conversion: Conversion, reason: str, *, public_total: bool
) -> Plan:
    """Plan to publish a table by margins chosen one after the other. How accurate it will be depends on the data.

    Args:
        domain: the cells.
        budget: what may be spent.
        unit: who is protected.
        conversion: how (epsilon, delta) is turned into rho.
        reason: why this suits the table, from public facts.
        public_total: whether the total is published exactly.
    """
    return Plan(
        "adaptive-margins",
        {"conversion": conversion},
        "laplace" if budget.currency == "epsilon" else "gaussian",
        domain.shape,
        budget,
        unit,
        (TOTAL,) if public_total else (),
        (),
        (),
        (),
        ("many attributes: margins are chosen one after the other, where a model of those before is worst", reason),
    )
