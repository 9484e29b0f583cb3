"""Which strategy, which levels and which shares of the budget a series gets, from public numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.layout import map_layout
from sudare.errors import GuaranteeError, ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import epsilon_to_rho
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.privacy.unit import ProtectedTime, Unit
from sudare.series.design import LevelDesign, MarginDesign, SeriesDesign, sensitivity_of_window
from sudare.series.strategies import MAX_MOVES, MAX_TICKS, STRATEGIES, Norm, SeriesStrategy, strategy_for
from sudare.series.tree_strategy import TreeStrategy
from sudare.tables.planning.planner import plan_table
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS
from sudare.tables.trees.short_axes import planned_margins

__all__ = ["StrategyChoice", "compare_strategies", "norm_of", "plan_series"]

SMALL_LEVEL = 1 << 12
"""Levels of at most so many nodes keep all that was measured, and estimate without rounding."""

TOTAL_WEIGHT = 0.1
"""What the total of a table without a tree gets, where its cells get 1."""

INNER_WEIGHT = 0.3
"""What a level between total and cells gets."""

MAX_STEP_BITS = 6
"""Halvings of one step of a tree that no plan of a single table gives; refining takes the square of the number of children."""

MARGIN_WEIGHT = 0.05
"""What the sums along a short axis get of what the tree gets: they are few and large, beside which their noise is small."""

MAX_PLANNED_RHO = Fraction(5)
"""Beyond it a tree is planned as for this one, so that nobody is warned of a rho that they did not ask for."""

MAX_BITS = 40
WHOLE_BITS = 18
"""Of trees that are too deep to be looked at as a whole, levels of up to 2**18 nodes are."""

WEIGHT_DIGITS = 10**6


@dataclass(frozen=True)
class StrategyChoice:
    """What a strategy promises for a window.

    Attributes:
        name: of the strategy.
        deviation: the largest standard deviation of a count at a tick, at rho = 1/2 for one level, or at epsilon = 1.
    """

    name: str
    deviation: float


def norm_of(budget: Budget) -> Norm:
    """By which norm of a path the noise of a budget is chosen: a pure epsilon has Laplace noise."""
    return "l1" if budget.currency == "epsilon" else "l2"


def compare_strategies(ticks: int, moves: int, norm: Norm = "l2") -> tuple[StrategyChoice, ...]:
    """All strategies for a window, the best first.

    Args:
        ticks: how many ticks a window has.
        moves: how many moves a person may have in it.
        norm: by which noise is chosen (`norm_of`).

    Example:
        >>> [choice.name for choice in compare_strategies(144, 2)][:2]
        ['power', 'buffered']
    """
    found = [
        StrategyChoice(name, strategy_for(name, ticks, moves, norm).noise_factor(moves, norm=norm))
        for name in STRATEGIES
    ]
    found.append(StrategyChoice("tree", TreeStrategy(ticks).noise_factor(moves, norm=norm)))
    return tuple(sorted(found, key=lambda choice: round(choice.deviation, 3)))


def plan_series(
    domain: Domain,
    budget: Budget,
    *,
    ticks: int,
    moves: int | Sequence[int],
    who: str = "person",
    span: Literal["event", "person-day", "person-window"] = "person-day",
    strategy: str | None = None,
    absent_after: int | None = None,
) -> SeriesDesign:
    """A design for a series of tables about the same people.

    The tree and the shares of its levels are those of a single table with the same noise, each share times the noise that the
    level's strategy needs: the errors of a level are its strategy's factor over the root of its share, or over its share itself
    where noise is Laplace's.

    Args:
        domain: the cells.
        budget: for a whole window.
        ticks: how many ticks a window has.
        moves: how many moves a person may have in a window; one number for all levels but the total, at which a path enters and
            leaves once, or a number for each level from the total.
        who: the protected unit in the words of the report.
        span: everything between two resets; any so many ticks after each other, which meet two windows and change a path in
            each; or one appearance alone, for which every tick is measured afresh.
        strategy: by name; the best one if left out.
        absent_after: after so many ticks without a row somebody counts as absent; never if left out.

    Raises:
        ParameterError: if an argument is out of range, or the table has too many cells.
        GuaranteeError: if no noise gives the guarantee.

    Example:
        >>> from sudare.domain import Category, Domain
        >>> design = plan_series(Domain((Category("place", ("a", "b")),)), Budget(rho="0.1"), ticks=24, moves=2)
        >>> design.event().cost
        Budget(rho=0.1)
    """
    read_budget(budget, "plan_series")
    n = exact_integer(ticks, "ticks", "plan_series", f"from 1 to {MAX_TICKS}", smallest=1, largest=MAX_TICKS)
    layout = map_layout(domain, MAX_DENSE_BITS)
    if layout.depth > MAX_BITS:
        requirement = f"of at most 2**{MAX_BITS} cells when padded to powers of two"
        raise ParameterError("domain", "plan_series", requirement, domain.cells)
    bits, weights = _tree_of(domain, budget, layout.depth)
    axes = planned_margins(domain) if bits else ()
    caps = _read_caps(moves, len(bits) + 1)
    blocks = 2 if span == "person-window" else 1
    is_event = span == "event"
    unit = Unit(who, time=ProtectedTime(span, 1 if is_event else n))
    depths = [*(sum(bits[:level]) for level in range(len(bits) + 1)), *(0 for _ in axes)]
    # Of an axis of categories no more is known than that people change it with their cell.
    caps, weights = (*caps, *caps[-1:] * len(axes)), (*weights, *(MARGIN_WEIGHT * sum(weights) for _ in axes))
    named, norm = "fresh" if is_event else strategy, norm_of(budget)
    strategies = [_strategy(named, n, cap, depth, norm) for cap, depth in zip(caps, depths, strict=True)]
    # An appearance moves one tick of what is measured by 1, whatever the length of the window.
    factors = [1.0 if is_event else one.noise_factor(cap, norm=norm) for one, cap in zip(strategies, caps, strict=True)]
    measured = [strategy_for("fresh", 1, 0) if is_event else one for one in strategies]
    # The sum of w**2 f**2 / s is smallest for shares s in proportion to w f; that of w**2 f**2 / s**2 to their power 2/3.
    power = 2 / 3 if norm == "l1" else 1.0
    shares = _shares([(weight * factor) ** power for weight, factor in zip(weights, factors, strict=True)])
    levels = tuple(
        LevelDesign(one, _measurement(budget, share / blocks, made_for, 0 if is_event else cap, unit.time))
        for one, made_for, share, cap in zip(strategies, measured, shares, caps, strict=True)
    )
    _require_samplers(levels, budget)
    return SeriesDesign(
        domain=domain,
        layout=layout,
        bits=bits,
        levels=levels[: len(bits) + 1],
        margins=tuple(MarginDesign(axis, one) for axis, one in zip(axes, levels[len(bits) + 1 :], strict=True)),
        unit=unit,
        cost=budget,
        absent_after=n if absent_after is None else absent_after,
        blocks=blocks,
        whole_bits=MAX_DENSE_BITS if layout.depth <= MAX_DENSE_BITS else WHOLE_BITS,
    )


def _require_samplers(levels: Sequence[LevelDesign], budget: Budget) -> None:
    """Refuse noise that cannot be drawn while nothing is reserved, and not at the first tick.

    Raises:
        GuaranteeError: if the noise of a level is wider than any that is drawn.
    """
    for level in levels:
        try:
            _ = level.sampler
        except ParameterError:
            raise GuaranteeError(
                Words(
                    f"No noise that can be drawn gives {budget} for a window of {level.strategy.ticks} ticks: it is too wide. "
                    "Use a larger budget, fewer ticks or fewer moves.",
                    f"{level.strategy.ticks} 時点の期間では、{budget} に必要なノイズが大きすぎて生成できません。"
                    "予算を増やすか、時点数または移動回数を減らしてください。",
                )
            ) from None


def _tree_of(domain: Domain, budget: Budget, depth: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The levels of the tree that a single table would get, and their shares; a level of its own for few cells."""
    if depth == 0:
        return (), (1.0,)
    rho = _rho_of(budget)
    planned = Budget(rho=rho if budget.currency == "rho" else min(rho, MAX_PLANNED_RHO))
    # Whoever asks for more is warned each time.
    return (
        _planned_tree(domain, planned, depth) if planned.rho <= MAX_PLANNED_RHO else _new_tree(domain, planned, depth)
    )


def _new_tree(domain: Domain, budget: Budget, depth: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    plan = plan_table(domain, budget)
    bits, weights = plan.settings.get("bits", ()), plan.settings.get("weights", ())
    if sum(bits) != depth or not all(isinstance(weight, float | int) for weight in weights):
        return _plain_tree(depth)
    return tuple(bits), tuple(float(weight) for weight in weights[: len(bits) + 1])  # without those of margins


_planned_tree = lru_cache(maxsize=32)(_new_tree)
"""A service reads its plan once, and plans of several spans or lengths share a tree."""


def _plain_tree(depth: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """A tree for a table whose plan has none, such as a histogram: one level for few cells, else steps from the coarsest on."""
    if depth <= MAX_STEP_BITS:
        return (depth,), (TOTAL_WEIGHT, 1.0)
    steps = -(-depth // MAX_STEP_BITS)
    bits = tuple(depth // steps + (step < depth % steps) for step in range(steps))
    return bits, (TOTAL_WEIGHT, *(INNER_WEIGHT,) * (steps - 1), 1.0)


def _rho_of(budget: Budget) -> Fraction:
    if budget.currency == "rho":
        return budget.rho
    if budget.currency == "epsilon":
        return budget.epsilon**2 / 2
    return epsilon_to_rho(budget.epsilon, budget.delta)


def _strategy(name: str | None, ticks: int, moves: int, depth: int, norm: Norm) -> SeriesStrategy:
    """The strategy that was named; else the best one, with buffers where there are many nodes."""
    if name is not None:
        return strategy_for(name, ticks, moves, norm)
    return strategy_for("power" if 1 << depth <= SMALL_LEVEL else "buffered", ticks, moves, norm)


def _measurement(
    budget: Budget, share: Fraction, strategy: SeriesStrategy, moves: int, time: ProtectedTime | None
) -> SeriesMeasurement:
    """A share of the budget as noise: Laplace for a pure epsilon, else Gaussian."""
    given = {"ticks": strategy.ticks, "moves": moves, "strategy": strategy.name}
    if budget.currency == "epsilon":
        part, sensitivity = (
            Budget(epsilon=budget.epsilon * share),
            sensitivity_of_window(strategy, moves, "laplace", time),
        )
        return SeriesMeasurement.for_budget(part, sensitivity, noise="laplace", **given)  # type: ignore[arg-type]
    rho = _rho_of(budget) * share
    if rho <= 0:
        raise GuaranteeError(f"No Gaussian noise gives {budget}: the delta leaves nothing.")
    sensitivity = sensitivity_of_window(strategy, moves, "gaussian", time)
    return SeriesMeasurement.for_budget(Budget(rho=rho), sensitivity, noise="gaussian", **given)  # type: ignore[arg-type]


def _shares(weights: Sequence[float]) -> list[Fraction]:
    """Shares that add up to 1 exactly."""
    whole = [max(1, round(weight / sum(weights) * WEIGHT_DIGITS)) for weight in weights]
    return [Fraction(weight, sum(whole)) for weight in whole]


def _read_caps(moves: int | Sequence[int], levels: int) -> tuple[int, ...]:
    requirement = f"a whole number from 0 to {MAX_MOVES}, or {levels} of them, none below the one before it"
    if isinstance(moves, Sequence) and not isinstance(moves, str):
        if len(moves) != levels:
            raise ParameterError("moves", "plan_series", requirement, shown(moves))
        caps = tuple(moves)
    else:
        caps = (0,) + (moves,) * (levels - 1)
    return tuple(exact_integer(cap, "moves", "plan_series", requirement, smallest=0, largest=MAX_MOVES) for cap in caps)
