"""What a plan would give for many budgets at once, so that a slider can be moved without asking again.

A plan takes a fraction of a second, a slider asks every few milliseconds. So the errors are planned at a few budgets, spread
evenly in the logarithm, and the browser reads between them: errors are smooth there, nearly straight lines. The budget at which
the slider comes to rest is planned for itself. Everything is computed from the plan and the ledger; no row is looked at.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sudare.bilingual import Words
from sudare.domain import Mesh, MeshList, mesh_level
from sudare.errors import SudareError
from sudare.ledger import Dataset
from sudare.privacy import Budget, best_power
from sudare.releases.kinds.counts import ReleasePlan
from sudare.tables import Plan
from sudare.tables.planning.plan_words import of_mechanism

__all__ = [
    "GRID",
    "BudgetPoint",
    "OtherMethod",
    "PartError",
    "PredictionCurves",
    "affordable_releases",
    "curves_of",
    "point_of",
]

GRID = tuple(Decimal(text) for text in ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"))
"""Epsilon, or rho times ten: the slider's marks, between which the browser reads."""

FALSE_ALARM = 0.05
MAX_RELEASES = 1000
MAX_KEPT = 200
MARGIN_OF = Words("by {names}", "{names}別")
OF_AREA = Words("{length} squares", "{length} 四方")
OF_SIDE = Words("{side} x {side} cells", "{side} x {side} セル")
ONE_CELL = Words("single cells", "セル")


@dataclass(frozen=True, kw_only=True)
class PartError:
    """The typical error of one sort of sums.

    Attributes:
        name: of the sort, for people.
        group: which curve it belongs to: a margin, or everybody.
        label: a shorter name, for axes.
        side: cells along a side; 0 where sums are no areas.
        rmse: root mean square error where people are.
        low: below which it will hardly be.
        high: above which it will hardly be.
    """

    name: Words
    group: Words
    label: Words
    side: int
    rmse: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class OtherMethod:
    """A method that was not chosen.

    Attributes:
        name: for people.
        ratio: its errors over those of the plan, geometric mean over the parts of the workload.
        worst_ratio: the same where it compares worst.
    """

    name: Words
    ratio: float
    worst_ratio: float


@dataclass(frozen=True, kw_only=True)
class BudgetPoint:
    """What a plan would give for one budget.

    Attributes:
        value: of the slider.
        parts: errors by area size and margin.
        power: the chance to find out at best whether one person is in, where a false alarm has the chance 5 %.
        releases: how many such releases the data set still affords; None if unknown.
        method: how it would be published, for people.
        alternatives: other methods.
    """

    value: float
    parts: tuple[PartError, ...]
    power: float
    releases: int | None
    method: Words
    alternatives: tuple[OtherMethod, ...] = ()


PredictionCurves = tuple[BudgetPoint, ...]

_kept: OrderedDict[str, BudgetPoint] = OrderedDict()
_lock = threading.Lock()


def curves_of(plan: ReleasePlan, dataset: Dataset | None, grid: Sequence[Decimal] = GRID) -> PredictionCurves:
    """What a plan would give at each mark of the slider."""
    return tuple(point_of(plan, dataset, value) for value in grid)


def point_of(plan: ReleasePlan, dataset: Dataset | None, value: Decimal) -> BudgetPoint:
    """What a plan would give for one budget, in the currency that it has."""
    budget = budget_at(plan.budget, value)
    key = hashlib.sha256(f"{plan.fingerprint()} {value} {plan.people}".encode()).hexdigest()
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = _planned(plan, budget, value)
        with _lock:
            _kept[key] = known
            while len(_kept) > MAX_KEPT:
                _kept.popitem(last=False)
    return replace(known, releases=None if dataset is None else affordable_releases(dataset, budget))


def budget_at(like: Budget, value: Decimal) -> Budget:
    """A budget in the currency of another one."""
    if like.currency == "rho":
        return Budget(rho=value)
    if like.currency == "epsilon-delta":
        return Budget(epsilon=value, delta=like.delta)
    return Budget(epsilon=value)


def affordable_releases(dataset: Dataset, budget: Budget) -> int:
    """How many releases at this cost the total still allows, by the rule of the ledger."""
    low, high = 0, 1
    while high <= MAX_RELEASES and _allows(dataset, budget, high):
        low, high = high, high * 2
    high = min(high, MAX_RELEASES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _allows(dataset, budget, middle) else (low, middle)
    return low


def _allows(dataset: Dataset, budget: Budget, times: int) -> bool:
    try:
        return dataset.after([(budget, None)] * times) is not None
    except SudareError:
        return False


def _planned(plan: ReleasePlan, budget: Budget, value: Decimal) -> BudgetPoint:
    price = replace(plan.price, budget=budget)
    asked = replace(plan, header=replace(plan.header, price=price))
    predicted = asked.predicted
    power = float(best_power(budget, FALSE_ALARM))
    if predicted is None:
        return BudgetPoint(value=float(value), parts=(), power=power, releases=None, method=of_mechanism(plan.method))
    return BudgetPoint(
        value=float(value),
        parts=_parts(asked, predicted),
        power=power,
        releases=None,
        method=of_mechanism(predicted.mechanism),
        alternatives=tuple(
            OtherMethod(name=other.words, ratio=float(other.ratio), worst_ratio=float(other.worst_ratio))
            for other in predicted.alternatives
        ),
    )


def _parts(plan: ReleasePlan, predicted: Plan) -> tuple[PartError, ...]:
    metres = _metres(plan)
    parts = []
    for error in predicted.errors:
        is_area = predicted.kind_of_parts == "areas" and not error.name
        english, japanese = (error.of_what(language, predicted.kind_of_parts) for language in ("en", "ja"))
        name = _area_name(error.side, metres) if is_area else Words(english, japanese)
        group = MARGIN_OF.format(names=list(error.margin)) if error.margin else Words("everybody", "全員")
        parts.append(
            PartError(
                name=name,
                group=group,
                label=_length_of(error.side, metres) if is_area else name,
                side=error.side if is_area else 0,
                rmse=float(error.rmse),
                low=float(error.low),
                high=float(error.high),
            )
        )
    return tuple(parts)


def _area_name(side: int, metres: int | None) -> Words:
    if metres is not None:
        return OF_AREA.format(length=_length_of(side, metres))
    return ONE_CELL if side == 1 else OF_SIDE.format(side=side)


def _length_of(side: int, metres: int | None) -> Words:
    if metres is None:
        return Words.same(f"{side} × {side}")
    length = metres * side
    return Words.same(f"{length} m" if length < 1000 else f"{length / 1000:g} km")


def _metres(plan: ReleasePlan) -> int | None:
    meshes = [one for one in plan.domain.attributes if isinstance(one, (Mesh, MeshList))]
    return mesh_level(meshes[0].level).metres if len(meshes) == 1 else None
