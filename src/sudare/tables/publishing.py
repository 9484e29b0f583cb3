"""One call to publish a table: by a plan, or by any of the mechanisms."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.errors import MixedCurrencyError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.parameters import shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.arguments import TOTAL, read_reference, read_table
from sudare.tables.mechanism import Mechanism
from sudare.tables.planning.plan import Plan
from sudare.tables.published import Published
from sudare.tables.registry import AUTO, find_mechanism, mechanism_named, mechanism_names, names_with_workloads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.planning.workload import Workload

    Settings = Mapping[str, Any]

__all__ = ["publish", "publishes_signed"]


@dataclass(frozen=True, kw_only=True)
class _CommonArguments:
    """Arguments that mean the same to every mechanism that takes them; see `publish`."""

    unit: Unit | None
    reference: CountTable | None
    public_total: bool | int
    conversion: Conversion
    entropy: EntropySource | None
    threads: int
    keep_measurements: bool


def publish(
    table: CountTable | NDArray[Any],
    budget: Budget,
    method: str | Plan = "auto",
    *,
    unit: Unit | None = None,
    workload: Workload = None,
    reference: CountTable | NDArray[Any] | None = None,
    public_total: bool | int = False,
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int | None = None,
    keep_measurements: bool = False,
    **settings: Any,
) -> Published:
    """Publish a table of counts with a privacy guarantee.

    With ``method="auto"`` a plan is made first, from the domain, the budget and the workload, without a look at the
    counts; it is part of the result.

    Guarantee: the budget, for the unit; see the event of the result.

    Sensitivity: that of the mechanism.

    Proof: beside the mechanism.

    Args:
        table: the counts: a CountTable, or an array of whole numbers.
        budget: what may be spent.
        method: ``"auto"``, a plan, or the name of a mechanism: ``"wide-tree"``, ``"margin-tree"``, ``"nn-wavelet"``,
            ``"topdown"``, ``"topdown-bisection"``, ``"histogram"``, ``"laplace"``, ``"gaussian"``, ``"privelet"``,
            ``"negative-l2"``, ``"simplex"``, ``"lasso"``, ``"lm"``, ``"adaptive-margins"``.
        unit: who is protected; one person in one cell if left out.
        workload: what matters to a plan: ``"cells"``, ``"areas"``, ``"margins"``, ``"totals"``, sides of areas such as
            ``(1, 4, 16)``, or several parts with weights, as `plan_table` takes them; sides from 1 to 64 of maps, and every
            margin in every area of maps with attributes, if left out. Of tables with one ordered axis: ``"ranges"``,
            ``"prefixes"`` or ``"cells"``.
        reference: a table over the same domain that is public already, such as the last census; it makes the result more accurate
            and costs nothing. **You declare that it is public.**
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another with as many rows: how many it has is not protected.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads to use; as many as there are cores, at most 8, if left out.
        keep_measurements: whether the noisy measurements are part of the result.
        settings: what else the mechanism takes, such as ``refine="counts"`` for ``"laplace"`` and ``"privelet"``, which
            otherwise publish signed tables, with negative counts.

    Returns:
        The published table, with its event, its plan and, on request, its measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or the mechanism does not take it.
        GuaranteeError: if the mechanism cannot give the guarantee.

    Example:
        >>> import numpy as np, sudare
        >>> counts = np.zeros((64, 64), dtype=np.int64); counts[20:30, 20:30] = 50
        >>> published = sudare.publish(counts, sudare.Budget(epsilon=1))
        >>> published.event.mechanism, published.to_dense().shape
        ('wide-tree', (64, 64))
    """
    people = read_table(table, "publish")
    read_budget(budget, "publish")
    public = None if reference is None else read_reference(reference, table, people, "publish")
    common = _CommonArguments(
        unit=unit,
        reference=public,
        public_total=public_total,
        conversion=conversion,
        entropy=entropy,
        threads=_usual_threads() if threads is None else threads,
        keep_measurements=keep_measurements,
    )
    if isinstance(method, Plan):
        _refuse_workload(workload)
        return _carry_out(method, people, budget, common, settings)
    method = method.replace("_", "-") if isinstance(method, str) else method
    if not isinstance(method, str) or method not in (AUTO, *mechanism_names()):
        requirement = f"'auto', a Plan, or one of {list(mechanism_names())}"
        raise ParameterError("method", "publish", requirement, shown(method))
    if method == AUTO:
        from sudare.tables.planning.planner import plan_table  # knows all that it can choose from

        known = {"noise": settings.pop("noise", None), "with_reference": public is not None}
        is_public = public_total is not False
        plan = plan_table(
            people, budget, unit=unit, workload=workload, public_total=is_public, conversion=conversion, **known
        )
        return _carry_out(plan, people, budget, common, settings)
    mechanism = mechanism_named(method)
    if workload is None or not mechanism.workloads:
        _refuse_workload(workload)
        return _call(mechanism, people, budget, common, settings)
    return _call(mechanism, people, budget, common, {**settings, "workload": workload})


def publishes_signed(method: str, settings: Mapping[str, Any]) -> bool:
    """Whether a mechanism with these settings publishes noisy counts as they are, some of them negative.

    Args:
        method: its name, or ``"auto"``: no plan chooses such a mechanism.
        settings: of the mechanism.
    """
    mechanism = find_mechanism(method)
    return mechanism is not None and mechanism.is_signed(settings)


def _refuse_workload(workload: Workload) -> None:
    if workload is not None:
        names = ", ".join(map(repr, names_with_workloads()))
        requirement = Words(
            f"left out, unless a plan is to be made by method='auto', or the method is {names}",
            f"method='auto' で計画する場合か、方法が {names} の場合以外は省略",
        )
        raise ParameterError("workload", "publish", requirement, shown(workload))


def _carry_out(
    plan: Plan, table: CountTable, budget: Budget, common: _CommonArguments, settings: Settings
) -> Published:
    """Do what a plan says, and nothing that it does not say."""
    if settings:
        raise ParameterError(
            sorted(settings)[0],
            "publish",
            Words("left out where a plan decides", "計画が決める場合は省略"),
            "a setting of a mechanism",
        )
    if plan.shape != table.domain.shape:
        raise ParameterError(
            "method",
            "publish",
            Words(f"a plan for the table's shape {table.domain.shape}", f"表の形 {table.domain.shape} のための計画"),
            plan.shape,
        )
    if plan.budget != budget:
        raise ParameterError(
            "budget", "publish", Words(f"that of the plan, {plan.budget}", f"計画の予算 {plan.budget}"), budget
        )
    mechanism = mechanism_named(plan.mechanism)
    _require_consistent(plan, mechanism)
    is_public = common.public_total is not False
    if is_public != (TOTAL in plan.invariants):
        planned = "given" if TOTAL in plan.invariants else "left out"
        raise ParameterError(
            "public_total",
            "publish",
            Words(f"{planned}, as in the plan", f"計画と同じ {planned}"),
            shown(common.public_total),
        )
    unit = common.unit
    if isinstance(unit, Unit) and (replace(unit, adjacency="replace") if is_public else unit) != plan.unit:
        raise ParameterError(
            "unit", "publish", Words(f"that of the plan, {plan.unit}", f"計画の保護単位 {plan.unit}"), unit
        )
    arguments = replace(common, unit=plan.unit if unit is None else unit)
    return replace(_call(mechanism, table, budget, arguments, plan.settings), plan=plan)


def _require_consistent(plan: Plan, mechanism: Mechanism) -> None:
    """Refuse a plan, made by hand or changed, whose settings do something else than it states."""
    # What is published exactly stands in the plan's own field, where readers look for it.
    settles = sorted(set(mechanism.settings) - {"invariants"})
    if not set(plan.settings) <= set(settles):
        raise ParameterError("method", "publish", f"a plan that settles {settles}", sorted(plan.settings))
    drawn = mechanism.noise_for(plan.budget, plan.settings)
    if drawn != plan.noise:
        requirement = f"a plan that states the noise of its settings, {drawn!r}"
        raise ParameterError("method", "publish", requirement, shown(plan.noise))


def _call(
    mechanism: Mechanism, table: CountTable, budget: Budget, common: _CommonArguments, settings: Settings
) -> Published:
    name, accepted = mechanism.name, mechanism.parameters
    unknown = [setting for setting in settings if setting not in accepted]
    if unknown:
        takes = [parameter for parameter in accepted if parameter not in ("table", "budget")]
        raise ParameterError(
            unknown[0],
            "publish",
            Words(f"left out: {name!r} takes {takes}", f"省略（{name!r} の設定は {takes}）"),
            "a setting that it does not take",
        )
    conversion = common.conversion
    given = {
        "reference": common.reference is not None,
        "public_total": common.public_total is not False,
        "conversion": not (isinstance(conversion, str) and conversion == "optimal"),
    }
    for parameter, is_given in given.items():
        if parameter not in accepted and is_given:
            got = shown(getattr(common, parameter))
            raise ParameterError(
                parameter,
                "publish",
                Words(f"left out: {name!r} does not take it", f"省略（{name!r} では使えません）"),
                got,
            )
    arguments = {key: value for key, value in {**vars(common), **settings}.items() if key in accepted}
    if "noise" in accepted and "noise" not in arguments:
        arguments["noise"] = mechanism.noise_for(budget, {})
    if mechanism.noises == ("laplace",) and budget.currency == "rho":
        hint = "Take method='gaussian'."
        raise MixedCurrencyError(
            "budget",
            "publish",
            Words("in epsilon for Laplace noise", "ラプラスノイズでは epsilon による予算"),
            budget,
            hint,
        )
    return mechanism.function(table, budget, **arguments)


def _usual_threads() -> int:
    return max(1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1))
