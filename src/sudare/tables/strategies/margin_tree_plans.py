"""A plan that is carried out by the margin tree, from the strategy that was chosen for it."""

from __future__ import annotations

from collections.abc import Iterable

from sudare.bilingual import Words
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.arguments import TOTAL, Noise
from sudare.tables.planning.plan import Alternative, Plan, PlannedLevel, PredictedError
from sudare.tables.strategies.groupings import Strategy

__all__ = ["margin_tree_plan"]


def margin_tree_plan(
    strategy: Strategy,
    noise: Noise,
    conversion: Conversion,
    *,
    shape: tuple[int, ...],
    budget: Budget,
    unit: Unit,
    total_is_public: bool,
    levels: tuple[PlannedLevel, ...],
    errors: tuple[PredictedError, ...],
    alternatives: Iterable[Alternative],
    reasons: tuple[Words, ...],
) -> Plan:
    """The plan of a strategy.

    Args:
        strategy: which groupings are measured, with which weights.
        noise: of what kind.
        conversion: how (epsilon, delta) is turned into rho.
        shape: places along each axis of the domain.
        budget: what will be spent.
        unit: who is protected.
        total_is_public: whether the total is published exactly.
        levels: what will be measured.
        errors: what to expect.
        alternatives: that were rejected.
        reasons: why it was chosen.
    """
    settings = {
        "bits": strategy.bits,
        "weights": strategy.weights,
        "noise": noise,
        "estimate": "learned",
        "conversion": conversion,
    }
    return Plan(
        "margin-tree",
        settings,
        noise,
        shape,
        budget,
        unit,
        (TOTAL,) if total_is_public else (),
        levels,
        errors,
        tuple(alternatives),
        reasons,
        parts="areas" if strategy.bits else "margins",
    )
