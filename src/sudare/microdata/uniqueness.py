"""How many people would be unique in the whole population, estimated from the classes of a sample of it.

Three models, each of them an assumption that the data cannot confirm: the super-population models of Pitman (Hoshino 2001) and
of slide negative binomial type (Chen and Keller-McNulty 1998), and Zayatz's (1991), which takes the sizes of the sample's classes
for those of the population's. ``"auto"`` follows Dankar et al. (2012): Pitman up to a sampling fraction of 10 %, Zayatz if Pitman
has no solution, and Zayatz above. (They take the smaller one of Zayatz and slide negative binomial there; we do not, because an
estimate of a risk should not be chosen for being small.)

Pitman's two parameters are those of the largest likelihood among 0 < alpha < 1: the best theta for each alpha, and the alpha
where the likelihood ends to grow. If it only falls, the smallest one is taken, which is nearly Ewens' model. So no starting
values are needed, and only a sample in which everybody is unique, or all are in one class, has no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.distributions import digamma
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import exact_fraction, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["UNIQUENESS_MODELS", "estimated_uniqueness", "likeliest_pitman", "population_uniqueness"]

UNIQUENESS_MODELS = ("auto", "pitman", "zayatz", "slide negative binomial")
MAX_FOR_PITMAN = 0.1
TINY = 1e-300
ACCURACY = 1e-12
GOOD_ENOUGH = 1e-6
NEWTON_STEPS, HALVINGS = 200, 40
NUDGE, FURTHEST, MAX_CONDITION = 1e-6, 4.0, 1e14
NARROW, FAR = 0.05, 14.0
MIN_ALPHA = 1e-3
"""Nearer to 0 and to 1 sums in closed form lose digits."""

_digammas = np.frompyfunc(digamma, 1, 1)
_log_gamma = np.frompyfunc(lgamma, 1, 1)


def population_uniqueness(sizes: ArrayLike, sampling_fraction: float, *, model: str = "auto") -> float:
    """The share of the population that is alone in its class, estimated.

    Args:
        sizes: of the classes of the sample.
        sampling_fraction: the share of the population that the sample is, above 0 and at most 1.
        model: ``"auto"``, ``"pitman"``, ``"zayatz"`` or ``"slide negative binomial"``.

    Raises:
        GuaranteeError: if the model has no solution for these classes.

    Example:
        >>> from sudare.microdata.uniqueness import population_uniqueness
        >>> population_uniqueness([1, 1, 2, 4], 1)
        0.25
    """
    check_arguments(population_uniqueness, locals(), "model")
    function = "population_uniqueness"
    fraction = float(
        exact_fraction(
            sampling_fraction, "sampling_fraction", function, Words("above 0 and at most 1", "0 より大きく 1 以下")
        )
    )
    if not 0 < fraction <= 1:
        raise ParameterError(
            "sampling_fraction",
            function,
            Words("above 0 and at most 1", "0 より大きく 1 以下"),
            shown(sampling_fraction),
        )
    if model not in UNIQUENESS_MODELS:
        raise ParameterError(
            "model",
            function,
            Words("one of " + ", ".join(UNIQUENESS_MODELS), f"{', '.join(UNIQUENESS_MODELS)} のいずれか"),
            shown(model),
        )
    counts = np.asarray(sizes)
    if counts.ndim != 1 or (counts.size and (counts.dtype.kind not in "iu" or int(counts.min()) < 1)):
        raise ParameterError("sizes", function, "whole numbers >= 1, one for each class", Described("others"))
    of_size, number = np.unique(counts, return_counts=True)
    people = float(of_size @ number) / fraction
    estimate = estimated_uniqueness(of_size, number, people, model)
    if estimate is None:
        raise GuaranteeError(
            Words(
                f"The model {model!r} has no solution for these classes; take 'zayatz'.",
                f"モデル {model!r} は、この等価クラスに対して解をもちません。'zayatz' を使ってください。",
            )
        )
    return estimate


def estimated_uniqueness(
    sizes: NDArray[np.int64], classes: NDArray[np.int64], population: float, model: str
) -> float | None:
    """The same from how many classes there are of each size; None if the model has no solution.

    Args:
        sizes: different ones, in rising order.
        classes: how many there are of each size.
        population: people, at least as many as there are in the classes.
        model: one of ``UNIQUENESS_MODELS``.
    """
    if not classes.size or sizes[0] != 1 or classes[0] == 0:
        return 0.0
    of_size, number = sizes.astype(np.float64), classes.astype(np.float64)
    fraction = float(of_size @ number) / population
    if model == "zayatz":
        return _zayatz(of_size, number, fraction)
    if model == "slide negative binomial":
        return _slide(of_size, number, fraction)
    estimate = _pitman(of_size, number, population) if model == "pitman" or fraction <= MAX_FOR_PITMAN else None
    return _zayatz(of_size, number, fraction) if estimate is None and model == "auto" else estimate


def _zayatz(of_size: Floats, number: Floats, fraction: float) -> float:
    sample = float(of_size @ number)
    population = round(sample / fraction)
    if population <= sample:
        return float(number[0] / sample)

    def log_choose(a: Floats | float, b: float) -> Floats:
        return np.asarray(_log_gamma(a + 1) - lgamma(b + 1) - _log_gamma(a - b + 1), dtype=np.float64)

    # That one member of a class of each size falls into the sample.
    possible = of_size <= population - sample + 1
    size = of_size[possible]
    once = np.exp(np.log(size) + log_choose(population - size, sample - 1) - log_choose(float(population), sample))
    expected = number[possible] * once
    unique_if_alone = float(expected[0] / expected.sum())
    return float(number[0]) * unique_if_alone / sample


def _pitman(of_size: Floats, number: Floats, population: float) -> float | None:
    """The expected share of a population that is unique, with the parameters of the largest likelihood."""
    found = likeliest_pitman(of_size, number)
    if found is None:
        return None
    theta, alpha = found
    power = lgamma(theta + 1) - lgamma(theta + alpha) + (alpha - 1) * log(population)
    return min(1.0, exp(min(power, 0.0)))


def likeliest_pitman(of_size: Floats, number: Floats) -> tuple[float, float] | None:
    """Theta and alpha of the largest likelihood (Hoshino 2001); sums over classes and rows are in closed form."""
    rows, classes = float(of_size @ number), float(number.sum())
    if classes in (1.0, rows):
        return None

    # All in terms of theta + alpha, which is above 0.
    def over_classes(both: float, alpha: float) -> float:
        """The sum of 1 / (theta + i alpha) for i from 1 up to the number of classes less one."""
        return (digamma(classes - 1 + both / alpha) - digamma(both / alpha)) / alpha

    most, last = log(rows) + FAR, log(classes)

    def best(alpha: float) -> float:
        """Theta + alpha of the largest likelihood for an alpha."""

        def slope(logarithm: float) -> float:
            both = exp(logarithm)
            return over_classes(both, alpha) - digamma(both - alpha + rows) + digamma(both - alpha + 1)

        # Near 0 the slope is above 0, and far away below it, because there are fewer classes than rows. The search begins where
        # the one before ended.
        nonlocal last
        low, high, width = last - NARROW, last + NARROW, 2 * NARROW
        while slope(low) < 0:
            low, high, width = low - width, low, 2 * width
        while slope(high) > 0:
            if high == most:
                return exp(most)
            low, high, width = high, min(high + width, most), 2 * width
        last = _zero_of(slope, low, high)
        return exp(last)

    def growth(alpha: float) -> float:
        both = best(alpha)
        within = float(number @ (np.asarray(_digammas(of_size - alpha), dtype=np.float64) - digamma(1 - alpha)))
        return (classes - 1 - (both - alpha) * over_classes(both, alpha)) / alpha - within

    alpha = MIN_ALPHA
    if growth(alpha) > 0:
        alpha = _zero_of(growth, alpha, 1 - MIN_ALPHA) if growth(1 - alpha) < 0 else 1 - alpha
    return best(alpha) - alpha, alpha


def _slide(of_size: Floats, number: Floats, fraction: float) -> float | None:
    """Slide negative binomial: two parameters from the expected numbers of classes of one and of two."""
    rows, ones, twos = float(of_size @ number), float(number[0]), float(number[of_size == 2].sum())
    if twos == 0 or fraction == 1:
        return ones / rows if fraction == 1 else None
    classes = _shlosser(of_size, number, fraction)

    def misses(point: Floats) -> Floats:
        shape, chance = exp(min(point[0], 50.0)), _share_of_odds(point[1])
        lost = (1 - fraction) * (1 - chance)
        once = exp(shape * (log(max(chance, TINY)) - log(max(1 - lost, TINY))))
        single = classes * fraction * once * (shape * lost / (1 - lost) + 1)
        double = classes * shape * once * fraction**2 * (1 - chance) / (2 * (1 - lost) ** 2)
        return np.array([single / ones - 1, double * (2 - (1 - shape) * lost) / twos - 1])

    found = _zero_of_two(misses, np.array([-1.0, -1.0]))
    if found is None:
        return None
    estimate = classes * _share_of_odds(found[1]) ** exp(found[0]) / (rows / fraction)
    return estimate if 0 < estimate <= 1 else None


def _shlosser(of_size: Floats, number: Floats, fraction: float) -> float:
    """The number of classes in the population, estimated (Haas and Stokes 1998)."""
    square = fraction * fraction
    unseen = (1 - fraction) ** of_size
    first = (of_size * square * (1 - square) ** (of_size - 1)) @ number
    second = ((1 - square) ** of_size - unseen) @ number
    third = unseen @ number
    fourth = (of_size * fraction * (1 - fraction) ** (of_size - 1)) @ number
    return float(number.sum() + number[0] * (first / second) * (third / fourth) ** 2)


def _share_of_odds(logarithm: float) -> float:
    """The probability that has these log odds."""
    return 1 / (1 + exp(-logarithm)) if logarithm > -700 else 0.0


def _zero_of(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function is 0 between two places at which it has different signs (Chandrupatla 1997)."""
    a, b, at_a, at_b = high, low, function(high), function(low)
    c, at_c, share = a, at_a, 0.5
    while True:
        best = a if abs(at_a) < abs(at_b) else b
        near = ACCURACY / 2 / abs(b - a) if b != a else 1.0
        if near > 0.5 or at_a == 0 or at_b == 0:
            return best
        x = a + min(max(share, near), 1 - near) * (b - a)
        at_x = function(x)
        if (at_x > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, b, at_c, at_b = b, a, at_b, at_a
        a, at_a = x, at_x
        # Inverse quadratic interpolation where it stays between the two, halving elsewhere.
        across, up = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        if up * up < across and (1 - up) ** 2 < 1 - across:
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        else:
            share = 0.5


def _zero_of_two(function: Callable[[Floats], Floats], start: Floats) -> Floats | None:
    """Where two functions of two numbers are both 0, by Newton's method with steps that come nearer; None if no step does."""
    point, value = start, function(start)
    for _ in range(NEWTON_STEPS):
        if np.abs(value).max() < ACCURACY:
            break
        slopes = np.stack(
            [(function(point + step) - function(point - step)) / (2 * NUDGE) for step in NUDGE * np.eye(2)], axis=1
        )
        if not np.isfinite(slopes).all() or np.linalg.cond(slopes) > MAX_CONDITION:
            break
        step = -np.linalg.solve(slopes, value)
        step *= min(1.0, FURTHEST / np.abs(step).max())
        for _ in range(HALVINGS):
            new = function(point + step)
            if np.abs(new).max() < np.abs(value).max():
                break
            step = step / 2
        else:
            break
        point, value = point + step, new
    return point if np.abs(value).max() <= GOOD_ENOUGH else None
