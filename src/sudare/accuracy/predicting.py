"""Predict how accurate a release will be, from public facts alone: domain, method, noise, and stand-ins for the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.accuracy.expected import Accuracy, Basis, ExpectedError
from sudare.accuracy.groupings import Grouping, groupings_of
from sudare.accuracy.linear import mean_square_of, noise_variance
from sudare.accuracy.stand_in import invent_table, vary_table
from sudare.accuracy.trials import Tried, try_out
from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.domain import CountTable, Domain
from sudare.domain.domain import read_domain
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.unit import Unit
from sudare.tables.planning.plan import Plan
from sudare.tables.planning.planner import plan_table
from sudare.tables.planning.predicted_error import likely_people, read_people
from sudare.tables.publishing import publish
from sudare.tables.registry import find_mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.entropy import EntropySource
    from sudare.tables.published import Published

__all__ = ["predict_accuracy"]

FUNCTION = "predict_accuracy"
SLOW_RUNS = 2
"""How often a mechanism that takes many times longer than others is tried, on one stand-in."""

FORMULA_INTERVAL = (0.9, 1.1)
STAND_IN_INTERVAL = (0.6, 1.6)
INVENTED_INTERVAL = (0.55, 1.9)
SYSTEMATIC = 1.5
"""How far from the trials' errors real ones are expected: on the same table, and on a table nobody has seen. See ``accuracy.md``.
The systematic part differs more from table to table, by this factor."""

SEED = 20_201_001


@dataclass(frozen=True)
class _Scenario:
    """A public table to try a method on, and the public reference that the method would be given."""

    table: CountTable
    reference: CountTable | None


def predict_accuracy(
    domain: Domain,
    budget: Budget,
    method: str | Plan = "auto",
    *,
    people: int | None = None,
    stand_in: CountTable | NDArray[Any] | None = None,
    reference: CountTable | NDArray[Any] | None = None,
    unit: Unit | None = None,
    public_total: bool = False,
    runs: int | None = None,
    progress: Callable[[float], None] | None = None,
    **settings: Any,
) -> Accuracy:
    """Predict the error and the bias of cells, areas, margins, levels of hierarchies and the total. Spends nothing.

    A method that adds noise and does nothing else has errors that do not depend on the table: they are computed. Any
    other is tried on stand-ins: on the table given, on variants of the reference, or on invented tables.

    Args:
        domain: the cells of the table that will be published.
        budget: what will be spent.
        method: as in `publish`.
        people: about how many people the table will have, where that is public.
        stand_in: a public table over the same domain that the one to be published is expected to look like, such as the
            last census. **You declare that it is public.**
        reference: the public table that `publish` will be given.
        unit: who is protected; one person in one cell if left out.
        public_total: whether the total is published exactly.
        runs: how many trials of each stand-in; fewer for larger tables if left out.
        progress: called with the share of the trials that is done.
        settings: what else `publish` takes, such as ``workload``, ``threshold`` or ``estimate``.

    Returns:
        The expected errors; ``print`` shows them.

    Raises:
        ParameterError: if an argument is not what it should be, or the method does not take it.
        GuaranteeError: if the method cannot give the guarantee.

    Example:
        >>> import sudare
        >>> from sudare.accuracy import predict_accuracy
        >>> flat = predict_accuracy(sudare.Domain.of_shape((8, 8)), sudare.Budget(epsilon=1), "laplace")
        >>> flat.errors[-1].kind, flat.errors[-1].mean_error, round(flat.errors[-1].rmse)
        ('total', 0.0, 11)
    """
    check_arguments(predict_accuracy, locals(), "method", "public_total")
    read_domain(domain, FUNCTION)
    read_budget(budget, FUNCTION)
    protected = Unit() if unit is None else unit
    groupings = groupings_of(domain)
    common = {"unit": unit, "public_total": public_total, **settings}
    exact = _formula(domain, budget, method, protected, groupings, public_total or reference is not None, settings)
    if exact is not None:
        return exact
    turns = _read_runs(runs, domain)
    basis, interval, scenarios = _scenarios(domain, people, stand_in, reference)
    if method == "auto" and not isinstance(method, Plan):
        known = {name: common.pop(name) for name in ("workload", "noise", "conversion") if name in common}
        method = plan_table(
            domain, budget, unit=unit, public_total=public_total, with_reference=reference is not None, **known
        )
    tried_mechanism = find_mechanism(method.mechanism if isinstance(method, Plan) else method)
    if tried_mechanism is not None and tried_mechanism.is_slow:
        turns, scenarios = _read_runs(SLOW_RUNS if runs is None else runs, domain), scenarios[:1]
    tried = []
    for number, scenario in enumerate(scenarios):
        is_public = {"public_total": True} if public_total else {}
        draw = partial(_publish, scenario, budget, method, {**common, **is_public})
        tried.append(try_out(scenario.table, draw, groupings, turns, SEED + 1000 * number))
        if progress is not None:
            progress((number + 1) / len(scenarios))
    errors = tuple(
        _combined(grouping, [one[place] for one in tried], turns, interval) for place, grouping in enumerate(groupings)
    )
    name = method.mechanism if isinstance(method, Plan) else method
    numbers = tuple(sorted(scenario.table.total for scenario in scenarios))
    return Accuracy(name, errors, basis, turns * len(scenarios), numbers)


def _publish(
    scenario: _Scenario, budget: Budget, method: str | Plan, common: Mapping[str, Any], entropy: EntropySource
) -> Published:
    return publish(scenario.table, budget, method, reference=scenario.reference, entropy=entropy, **common)


def _formula(
    domain: Domain,
    budget: Budget,
    method: str | Plan,
    unit: Unit,
    groupings: tuple[Grouping, ...],
    is_helped: bool,
    settings: Mapping[str, Any],
) -> Accuracy | None:
    """Where a method is noise and nothing else, its errors; None for any other."""
    if not isinstance(method, str) or is_helped or not set(settings) <= {"noise", "conversion"}:
        return None
    mechanism = find_mechanism(method)
    alone = None if mechanism is None else mechanism.noise_alone
    if mechanism is None or alone is None:
        return None
    noise, conversion = mechanism.noise_for(budget, settings), settings.get("conversion", "optimal")
    variance = noise_variance(alone.measure(domain.shape, budget, unit, noise, conversion))
    errors = []
    for grouping in groupings:
        rmse = float(np.sqrt(mean_square_of(grouping, variance, alone.factor)))
        low, high = (factor * rmse for factor in _of_one_release(FORMULA_INTERVAL, grouping))
        errors.append(_row(grouping, rmse, low, high, 0.0, 0.0, 0.0))
    return Accuracy(method, tuple(errors), "formula", 0, ())


def _scenarios(
    domain: Domain, people: object, stand_in: object, reference: object
) -> tuple[Basis, tuple[float, float], list[_Scenario]]:
    """What to try a method on, and how far from the trials real errors are expected."""
    public = None if reference is None else _read_public(reference, "reference", domain)
    if stand_in is not None:
        table = _read_public(stand_in, "stand_in", domain)
        return "stand-in", STAND_IN_INTERVAL, [_Scenario(table, public)]
    if public is not None:
        return "stand-in", INVENTED_INTERVAL, [_Scenario(vary_table(public, seed), public) for seed in (1, 2)]
    numbers = likely_people(domain.cells) if people is None else (read_people(people, FUNCTION),)
    return (
        "invented",
        INVENTED_INTERVAL,
        [_Scenario(invent_table(domain, n, seed), None) for n in numbers for seed in (1, 2)],
    )


def _read_public(table: object, parameter: str, domain: Domain) -> CountTable:
    if isinstance(table, np.ndarray):
        table = CountTable.from_dense(table, domain) if table.shape == domain.shape else table
    if not isinstance(table, CountTable):
        requirement = f"a public CountTable over the domain, or an array of the shape {domain.shape}"
        raise ParameterError(parameter, FUNCTION, requirement, shown(table))
    if table.domain.shape != domain.shape:
        raise ParameterError(parameter, FUNCTION, f"of the shape {domain.shape}", Described(f"{table.domain.shape}"))
    return CountTable(domain, table.keys, table.counts)


def _read_runs(runs: object, domain: Domain) -> int:
    if runs is not None:
        requirement = Words("left out, or a whole number from 2 to 10,000", "省略または 2 以上 10,000 以下の整数")
        return exact_integer(runs, "runs", FUNCTION, requirement, smallest=2, largest=10_000)
    return 6 if domain.cells <= 1 << 18 else 3 if domain.cells <= 1 << 22 else 2


def _combined(grouping: Grouping, tried: list[Tried], runs: int, interval: tuple[float, float]) -> ExpectedError:
    """One row from all stand-ins: the geometric mean of their errors, and an interval around all of them."""
    roots = np.sqrt([max(one.mean_square, 0.0) for one in tried])
    rough = _rough(runs * grouping.groups)
    below, above = _of_one_release(interval, grouping)
    low, high = float(roots.min()) * below / (1 + rough), float(roots.max()) * above * (1 + rough)
    rmse = float(np.exp(np.log(np.maximum(roots, 1e-9)).mean())) if roots.any() else 0.0
    squares = [max(one.systematic_square, 0.0) for one in tried]
    highest = max(one.systematic_square + 2 * one.resolution for one in tried)
    systematic, systematic_high = (
        float(np.sqrt(np.mean(squares))),
        float(np.sqrt(max(highest, 0.0))) * interval[1] * SYSTEMATIC,
    )
    mean_error = float(np.mean([one.mean_error for one in tried]))
    return _row(grouping, rmse, low, high, mean_error, systematic, systematic_high)


def _of_one_release(interval: tuple[float, float], grouping: Grouping) -> tuple[float, float]:
    """An interval for the error over the sums of one release, widened because few sums vary."""
    rough = _rough(grouping.groups)
    return interval[0] * max(1 - rough, 0.0), interval[1] * (1 + rough)


def _rough(numbers: int) -> float:
    """By how much the root of a mean of this many squares may be off: twice its relative standard deviation, about."""
    return float(2 / np.sqrt(2 * min(numbers, 10_000)))


def _row(
    grouping: Grouping,
    rmse: float,
    low: float,
    high: float,
    mean_error: float,
    systematic: float,
    systematic_high: float,
) -> ExpectedError:
    return ExpectedError(
        grouping.kind,
        grouping.name,
        grouping.side,
        grouping.groups,
        rmse,
        low,
        high,
        mean_error,
        systematic,
        systematic_high,
        grouping.name_words,
    )
