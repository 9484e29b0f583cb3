"""Which noise each measure of a plan gets for a budget, and how large the error will be; all of it before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, isqrt, log, prod, sqrt
from typing import Literal

from sudare.bilingual import Words
from sudare.errors import ParameterError, QueryRefusedError
from sudare.noise.additive import noise_for
from sudare.noise.lattice import discrete_laplace
from sudare.noise.sampler import Sampler
from sudare.noise.thresholds import measurement_of_rows, threshold_for
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import epsilon_to_rho
from sudare.privacy.measurements import (
    GaussianMeasurement,
    KeyReleaseMeasurement,
    LaplaceMeasurement,
    Measurement,
    SelectionMeasurement,
)
from sudare.sql.measures.measures import QuantileMeasure, SumMeasure
from sudare.sql.measures.planning import MeasuredTable, QueryPlan
from sudare.sql.measures.quantiles import offset_for_extreme, rank_error
from sudare.sql.measures.sparse import MAX_RANGE, threshold_for_few
from sudare.sql.relations.elastic import smooth_noise

__all__ = ["Allocation", "Noise", "Share", "allocate"]

MAX_SMOOTH_GROUPS = 10**6
Noise = Literal["auto", "laplace", "gaussian"]


@dataclass(frozen=True)
class Share:
    """What one measure gets.

    Attributes:
        table: the measured table.
        measure: what is measured.
        budget: its part of the whole.
        measurement: the noise, as events state it.
        error: how far the noisy result is from the exact one with probability 0.95, at most, in the units of the result; for
            quantiles, how many rows lie between it and the wanted one; for MIN and MAX, beyond it.
        scale: of Laplace noise that follows a smooth bound; None where the measurement has it.
    """

    table: MeasuredTable
    measure: SumMeasure | QuantileMeasure
    budget: Budget
    measurement: Measurement
    error: Fraction
    scale: Fraction | None = None

    def sampler(self) -> Sampler:
        """What draws the noise of a sum."""
        return noise_for(self.measurement) if self.scale is None else discrete_laplace(self.scale)

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise, in the units of the result."""
        if isinstance(self.measure, QuantileMeasure):
            return 0.0
        unit = 10.0 ** (self.measure.coarse - self.measure.scale)
        if self.scale is not None:
            return sqrt(2) * float(self.scale) * unit
        if isinstance(self.measurement, LaplaceMeasurement):
            return sqrt(2) * float(self.measurement.scale) * unit
        if isinstance(self.measurement, GaussianMeasurement):
            return sqrt(float(self.measurement.sigma_squared)) * unit
        return 0.0


@dataclass(frozen=True)
class Allocation:
    """The noise of a whole plan.

    Attributes:
        cost: what is to be charged; None if everything is public.
        shares: by table and measure.
        deltas: of the tables whose keys are published by a threshold.
        thresholds: what a group's noisy count must reach in tables whose keys are not listed.
        ranges: first number and length of the public range of keys, of tables that are published without a delta.
    """

    cost: Budget | None
    shares: dict[tuple[str, str], Share]
    deltas: dict[str, Fraction]
    thresholds: dict[str, int]
    ranges: dict[str, tuple[int, int]]

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """Everything that is drawn."""
        released = tuple(KeyReleaseMeasurement(delta) for delta in self.deltas.values())
        return tuple(share.measurement for share in self.shares.values()) + released


def allocate(
    plan: QueryPlan, budget: Budget, noise: Noise = "auto", groups: Mapping[str, int] | None = None
) -> Allocation:
    """Divide a budget among the measures of a plan, in equal parts.

    Args:
        plan: of the query.
        budget: what the query may cost.
        noise: which noise; ``"auto"`` takes the smaller one.
        groups: how many groups get noise that follows the data, by measured table, from `public_groups`; as many as can be
            where it is not known.

    Raises:
        QueryRefusedError: if the budget cannot pay for such a query.
    """
    read_budget(budget, "allocate")
    if noise not in ("auto", "laplace", "gaussian"):
        raise ParameterError(
            "noise",
            "allocate",
            Words("'auto', 'laplace' or 'gaussian'", "'auto'、'laplace'、'gaussian' のいずれか"),
            noise,
        )
    measured: list[tuple[MeasuredTable, SumMeasure | QuantileMeasure]] = []
    for table in plan.tables:
        if not table.is_public:
            measured += [(table, measure) for measure in table.sums]
            measured += [(table, choice) for choice in table.quantiles]
    if not measured:
        return Allocation(None, {}, {}, {}, {})
    hidden = [table for table in plan.tables if table.presence is not None]
    ranges = {}
    if budget.currency != "epsilon-delta":
        ranges = {table.name: found for table in hidden if (found := _range_of(table)) is not None}
        _require_delta(plan, [table for table in hidden if table.name not in ranges], budget)
        hidden = [table for table in hidden if table.name not in ranges]
    number = len(measured)
    elastic = [
        (table, measure)
        for table, measure in measured
        if isinstance(measure, SumMeasure) and measure.growth is not None
    ]
    for_keys = Fraction(0)
    if hidden or elastic:
        for_keys = budget.delta / 2 if noise == "gaussian" else budget.delta
    deltas = {table.name: for_keys / (len(hidden) + len(elastic)) for table in hidden}
    pure = None if budget.currency == "rho" else Budget(epsilon=budget.epsilon / number)
    concentrated = (
        None if noise == "laplace" else _rho_share(budget, for_keys, number, len(hidden) + len(elastic), noise)
    )
    if noise == "auto" and pure is not None and not _gaussian_is_smaller(measured, pure, concentrated):
        concentrated = None
    part = concentrated if concentrated is not None else pure
    if part is None:
        raise QueryRefusedError(
            "noise",
            "Laplace noise costs epsilon, but the budget is in rho; use Gaussian noise.",
            "ラプラスノイズの費用は epsilon ですが、予算は rho です。ガウスノイズを使ってください。",
        )
    shares = {}
    thresholds = {}
    for table, measure in measured:
        if isinstance(measure, SumMeasure) and measure.growth is not None and pure is not None:
            delta = for_keys / (len(hidden) + len(elastic))
            part_of_both = Budget(epsilon=pure.epsilon, delta=delta)
            shares[table.name, measure.name] = _elastic_share(
                table, measure, part_of_both, (groups or {}).get(table.name)
            )
            continue
        share = _share(table, measure, part, pure)
        shares[table.name, measure.name] = share
        if measure is table.presence and table.name in ranges:
            rows, _ = _rows_of_presence(table)
            size = ranges[table.name][1]
            thresholds[table.name] = threshold_for_few(
                size, rows, share.budget.epsilon, adjacency=table.limits.adjacency
            )
        elif measure is table.presence and isinstance(share.measurement, LaplaceMeasurement):
            rows, each = _rows_of_presence(table)
            thresholds[table.name] = threshold_for(
                rows, share.measurement.scale, deltas[table.name], rows_per_group=each
            )
    made = Allocation(budget, shares, deltas, thresholds, ranges)
    if budget.currency == "epsilon-delta" and all(m.epsilon is not None and not m.delta for m in made.measurements):
        # Laplace noise and choices alone need no delta, and are charged none.
        return replace(made, cost=Budget(epsilon=budget.epsilon))
    return made


def _require_delta(plan: QueryPlan, hidden: list[MeasuredTable], budget: Budget) -> None:
    if hidden:
        raise QueryRefusedError(
            "unknown-keys",
            "The groups of this query are not public, so that publishing them takes a delta: give the budget one, such as "
            "delta = 1e-8, or list the values of the columns in the metadata.",
            "このクエリのグループのキーは公開ではないため、公表には delta が必要です。予算に delta = 1e-8 のように加えるか、"
            "メタデータで列の値 (values) を列挙してください。",
        )
    if any(table.limits.growth is not None for table in plan.tables):
        raise QueryRefusedError(
            "two-units",
            "Noise that follows the data as they are takes an epsilon and a delta: give the budget both, such as delta = 1e-8.",
            "現在のデータに応じたノイズには epsilon と delta が必要です。予算に delta = 1e-8 のように加えてください。",
        )


def _range_of(table: MeasuredTable) -> tuple[int, int] | None:
    """First number and length of the public range of a table's one key; None if it has none."""
    if len(table.keys) != 1 or table.limits.groups is not None or table.limits.adjacency != "add-remove":
        return None
    facts = table.keys[0].facts
    if facts.kind != "integer" or not isinstance(facts.low, Fraction) or not isinstance(facts.high, Fraction):
        return None
    first, size = ceil(facts.low), floor(facts.high) - ceil(facts.low) + 1
    return (first, size) if 1 <= size <= MAX_RANGE else None


def _elastic_share(table: MeasuredTable, measure: SumMeasure, part: Budget, groups: int | None) -> Share:
    if measure.growth is None:
        raise ValueError("a measure with a fixed sensitivity")
    listed = [key.facts for key in table.keys if key.facts.values is not None]
    cells = prod(len(facts.values or ()) + facts.nullable for facts in listed)
    if len(listed) < len(table.keys):
        cells = MAX_SMOOTH_GROUPS if groups is None else max(groups, 1)
    if cells > MAX_SMOOTH_GROUPS:
        raise QueryRefusedError(
            "too-many-groups",
            f"Noise that follows the data as they are is offered for up to {MAX_SMOOTH_GROUPS} groups, listed in the metadata.",
            f"現在のデータに応じたノイズは、メタデータに列挙された {MAX_SMOOTH_GROUPS} グループまでです。",
        )
    scale, measurement = smooth_noise(measure.growth, part, cells)
    reach = Fraction(log(20) * float(scale) + 1).limit_denominator(10**6)
    return Share(table, measure, part, measurement, _in_units(reach, measure), scale)


def _rho_share(budget: Budget, for_keys: Fraction, number: int, pure: int, noise: Noise) -> Budget | None:
    """A part of the budget in rho, for all measures but those that cost epsilon whatever the others do."""
    if budget.currency == "rho":
        return Budget(rho=budget.rho / number)
    if budget.currency == "epsilon":
        if noise == "gaussian":
            raise QueryRefusedError(
                "noise",
                "Gaussian noise needs a delta: give the budget one, or use Laplace noise.",
                "ガウスノイズには delta が必要です。予算に加えるか、ラプラスノイズを使ってください。",
            )
        return None
    rest = budget.delta - for_keys
    if rest <= 0:
        return None
    others = number - pure
    if others == 0:
        return None
    rho = epsilon_to_rho(budget.epsilon * others / number, rest)
    return Budget(rho=rho / others) if rho > 0 else None


def _gaussian_is_smaller(
    measured: list[tuple[MeasuredTable, SumMeasure | QuantileMeasure]], pure: Budget | None, concentrated: Budget | None
) -> bool:
    if pure is None or concentrated is None:
        return pure is None
    sums = [measure for _, measure in measured if isinstance(measure, SumMeasure)]
    laplace = sum(2 * (measure.sensitivity.l1 / pure.epsilon) ** 2 / measure.sensitivity.l2_squared for measure in sums)
    gaussian = len(sums) / (2 * concentrated.rho)
    return gaussian < laplace


def _rows_of_presence(table: MeasuredTable) -> tuple[int, int | None]:
    """How many rows of one unit decide about the presence of groups, and how many of them in one group."""
    if table.limits.groups is not None:
        return table.limits.groups, 1
    if table.limits.rows is None:
        raise ValueError("a table without limits")
    return table.limits.rows, None


def _share(
    table: MeasuredTable,
    measure: SumMeasure | QuantileMeasure,
    part: Budget,
    pure: Budget | None,
) -> Share:
    adjacency = table.limits.adjacency
    if isinstance(measure, QuantileMeasure):
        epsilon = part.epsilon if part.currency != "rho" else _selection_epsilon(part.rho)
        choice = SelectionMeasurement(epsilon, "exponential")
        error = rank_error(measure.points, measure.share, measure.rows, epsilon, adjacency=adjacency)
        if measure.share in (0, 1):  # some rows from the end are aimed at, and these count too
            error += offset_for_extreme(measure.points, measure.rows, epsilon, adjacency=adjacency)
        return Share(table, measure, part, choice, Fraction(error))
    if measure is table.presence and pure is not None:
        rows, each = _rows_of_presence(table)
        counts = measurement_of_rows(rows, pure.epsilon, adjacency, rows_per_group=each)
        return Share(table, measure, pure, counts, _laplace_reach(counts))
    if part.currency == "rho":
        gaussian = GaussianMeasurement.for_budget(part, measure.sensitivity)
        reach = Fraction(sqrt(float(gaussian.sigma_squared)) * 1.96 + 1).limit_denominator(10**6)
        return Share(table, measure, part, gaussian, _in_units(reach, measure))
    laplace = LaplaceMeasurement.for_budget(part, measure.sensitivity)
    return Share(table, measure, part, laplace, _in_units(_laplace_reach(laplace), measure))


def _in_units(reach: Fraction, measure: SumMeasure) -> Fraction:
    return Fraction(reach * 10**measure.coarse, 10**measure.scale)


def _laplace_reach(measurement: LaplaceMeasurement) -> Fraction:
    return Fraction(log(20) * float(measurement.scale) + 1).limit_denominator(10**6)


def _selection_epsilon(rho: Fraction) -> Fraction:
    """The epsilon of a choice that costs so much rho, rounded down: rho = epsilon**2 / 8."""
    squared = rho * 8
    precision = 10**30
    return Fraction(isqrt(squared.numerator * precision**2 // squared.denominator), precision)
