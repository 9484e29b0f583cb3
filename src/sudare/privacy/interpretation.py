"""Reading a guarantee: what a test of one person's presence could achieve, and which delta to choose.

A guarantee limits every test of "is this person in the data?", by anyone who knows everything else. Among all tests
that raise a false alarm with probability at most alpha (the significance), `best_power` bounds the probability of
being right when the person is there. Without any release the best power is alpha itself; a power near alpha means
that the release told almost nothing about the person.

Proof: ``interpretation.md`` beside this file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.extras import FIGURES, optional_module
from sudare.parameters import Rational, exact_fraction, exact_integer, read_chance, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import rho_to_delta

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["best_power", "plot_suggested_delta", "plot_trade_off", "suggest_delta"]

Noise = Literal["any", "gaussian"]
DEFAULT_EXPOSURE = Fraction(1, 100)
MIN_RHO, MAX_RHO = Fraction(1, 10**24), Fraction(10**5)
"""A smaller rho is read as the smallest, which is a weaker statement; a larger one guarantees nothing that a number shows."""


def best_power(budget: Budget, significance: Rational, noise: Noise = "any") -> float:
    """The most that a test of one person's presence can achieve at a significance level.

    Args:
        budget: the guarantee.
        significance: probability of a false alarm that the test may have, from 0 to 1.
        noise: ``"any"`` for a bound that holds for every mechanism with this budget; ``"gaussian"`` for the exact
            value of continuous Gaussian noise of this rho.

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy import best_power
        >>> round(best_power(Budget(epsilon=1), 0.05), 3)
        0.136
        >>> round(best_power(Budget(rho=0.01), 0.05, noise="gaussian"), 3)
        0.066
    """
    read_budget(budget, "best_power")
    alpha = read_chance(significance, "significance", "best_power", with_ends=True)
    if not isinstance(noise, str) or noise not in ("any", "gaussian"):
        raise ParameterError("noise", "best_power", "'any' or 'gaussian'", shown(noise))
    if noise == "gaussian":
        if budget.currency != "rho":
            raise ParameterError("budget", "best_power", "in rho where noise='gaussian'", budget)
        return _gaussian_power(math.sqrt(2 * budget.rho), alpha)
    return min(_approximate_power(epsilon, delta, alpha) for epsilon, delta in _equivalent_pairs(budget))


def suggest_delta(people: int, exposure: Rational = DEFAULT_EXPOSURE) -> Fraction:
    """A delta for a data set of this many people.

    An (epsilon, delta) guarantee does not exclude a mechanism that, with probability delta for each person, publishes
    that person's record. The chance that this hits anybody at all is at most people * delta. The suggestion keeps it
    to ``exposure`` and rounds down to a power of ten.

    Args:
        people: about how many people the data set is about: a public or rounded figure, because the exact number is protected.
        exposure: the chance that anybody at all is exposed in that worst case.

    Example:
        >>> from sudare.privacy import suggest_delta
        >>> suggest_delta(126_146_099)
        Fraction(1, 100000000000)
    """
    count = exact_integer(
        people,
        "people",
        "suggest_delta",
        Words("a whole number from 1 to 10**18", "1 以上 10**18 以下の整数"),
        smallest=1,
        largest=10**18,
    )
    requirement = Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数")
    chance = exact_fraction(exposure, "exposure", "suggest_delta", requirement)
    if not 0 < chance < 1:
        raise ParameterError("exposure", "suggest_delta", requirement, exposure)
    most = chance / count
    delta = Fraction(1)
    while delta > most:
        delta /= 10
    return delta


def plot_trade_off(budgets: Mapping[str, Budget] | Sequence[Budget]) -> Figure:
    """Best power against significance, a curve for each budget, beside the diagonal of knowing nothing.

    Args:
        budgets: the budgets, with names for the legend or without.

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy import plot_trade_off
        >>> figure = plot_trade_off({"monthly": Budget(epsilon=1), "yearly": Budget(rho=0.1)})
        >>> figure.savefig("trade_off.png")  # doctest: +SKIP
    """
    is_listed = isinstance(budgets, Sequence) and not isinstance(budgets, str)
    named = dict(budgets) if isinstance(budgets, Mapping) else {str(b): b for b in budgets} if is_listed else {}
    if not named or not all(isinstance(budget, Budget) for budget in named.values()):
        raise ParameterError("budgets", "plot_trade_off", "Budgets, at least one", shown(budgets))
    figure, axes = _new_figure()
    levels = [i / 200 for i in range(201)]
    for name, budget in named.items():
        axes.plot(levels, [best_power(budget, level) for level in levels], label=name, linewidth=2)
    axes.plot([0, 1], [0, 1], color="0.4", linestyle="--", label="no release at all")
    axes.set(
        xlabel="false alarms that the test may raise (significance)",
        ylabel="best possible chance to detect the person (power)",
        title="What a test of one person's presence can achieve",
        xlim=(0, 1),
        ylim=(0, 1.02),
    )
    axes.legend(loc="lower right")
    return figure


def plot_suggested_delta(people: int, exposure: Rational = DEFAULT_EXPOSURE) -> Figure:
    """The suggested delta against the number of people, with this data set marked.

    Args:
        people: about how many people the data set is about: a public or rounded figure, which the picture shows.
        exposure: the chance that anybody at all is exposed in the worst case; see `suggest_delta`.

    Example:
        >>> from sudare.privacy import plot_suggested_delta
        >>> plot_suggested_delta(126_146_099).savefig("delta.png")  # doctest: +SKIP
    """
    suggested = suggest_delta(people, exposure)
    chance = float(exact_fraction(exposure, "exposure", "plot_suggested_delta", "a number above 0 and at most 1"))
    figure, axes = _new_figure()
    sizes = [round(10 ** (i / 200)) for i in range(200, 2001)]
    steps = [float(suggest_delta(size, exposure)) for size in sizes]
    axes.loglog(sizes, [chance / size for size in sizes], color="0.4", linestyle="--", label="exposure / people")
    axes.loglog(sizes, steps, linewidth=2, label="suggested delta")
    axes.loglog([people], [float(suggested)], "o", color="crimson", label=f"{people:,} people: {float(suggested):.0e}")
    axes.set(xlabel="people in the data set", ylabel="delta", title="A delta that is unlikely to expose anybody at all")
    axes.legend()
    return figure


def _approximate_power(epsilon: float, delta: float, alpha: float) -> float:
    if epsilon > 700:
        return 1.0
    return min(1.0, delta + math.exp(epsilon) * alpha, 1 - math.exp(-epsilon) * (1 - delta - alpha))


def _gaussian_power(mu: float, alpha: float) -> float:
    if alpha in (0.0, 1.0):
        return alpha
    from statistics import NormalDist

    return math.erfc(-(NormalDist().inv_cdf(alpha) + mu) / math.sqrt(2)) / 2


@lru_cache(maxsize=32)
def _equivalent_pairs(budget: Budget) -> tuple[tuple[float, float], ...]:
    """(epsilon, delta) pairs that all hold for the budget, rounded up."""

    def up(value: Fraction) -> float:
        return math.nextafter(float(value), math.inf)

    if budget.currency != "rho":
        epsilon = up(budget.epsilon) if budget.epsilon < 10**5 else math.inf
        return ((epsilon, up(budget.delta) if budget.delta else 0.0),)
    if budget.rho > MAX_RHO:
        return ((math.inf, 0.0),)
    rho = max(budget.rho, MIN_RHO)
    scale = math.sqrt(2 * float(rho))
    epsilons = [
        Fraction(float(rho) + scale * step / 10) for step in range(-5, 81) if float(rho) + scale * step / 10 > 0
    ]
    return tuple((up(epsilon), up(rho_to_delta(rho, epsilon))) for epsilon in epsilons)


def _new_figure() -> tuple[Figure, Any]:
    figure = optional_module("matplotlib.figure", "report", FIGURES).Figure(figsize=(6.4, 4.8), layout="constrained")
    optional_module("matplotlib.backends.backend_agg", "report", FIGURES).FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.grid(visible=True, color="0.9")
    return figure, axes
