"""How many people would be unique in the whole population, estimated from the classes of a sample of it.

Three models, each of them an assumption that the data cannot confirm: the super-population models of Pitman (Hoshino 2001) and
of slide negative binomial type (Chen and Keller-McNulty 1998), and Zayatz's (1991), which takes the sizes of the sample's classes
for those of the population's. ``"auto"`` follows Dankar et al. (2012): Pitman up to a sampling fraction of 10 %, Zayatz if Pitman
has no solution, and Zayatz above. (They take the smaller one of Zayatz and slide negative binomial there; we do not, because an
estimate of a risk should not be chosen for being small.)
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import exact_fraction, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["UNIQUENESS_MODELS", "population_uniqueness"]

UNIQUENESS_MODELS = ("auto", "pitman", "zayatz", "slide negative binomial")
LARGEST_FOR_PITMAN = 0.1
MOST_STEPS = 300
ACCURACY = 1e-10


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
    function = "population_uniqueness"
    fraction = float(exact_fraction(sampling_fraction, "sampling_fraction", function, "above 0 and at most 1"))
    if not 0 < fraction <= 1:
        raise ParameterError("sampling_fraction", function, "above 0 and at most 1", shown(sampling_fraction))
    if model not in UNIQUENESS_MODELS:
        raise ParameterError("model", function, "one of " + ", ".join(UNIQUENESS_MODELS), shown(model))
    counts = np.asarray(sizes)
    if counts.ndim != 1 or (counts.size and (counts.dtype.kind not in "iu" or int(counts.min()) < 1)):
        raise ParameterError("sizes", function, "whole numbers >= 1, one for each class", Described("others"))
    if not (counts == 1).any():
        return 0.0
    of_size, number = (values.astype(np.float64) for values in np.unique(counts, return_counts=True))
    if model == "auto":
        estimate = _pitman(of_size, number, fraction) if fraction <= LARGEST_FOR_PITMAN else None
        return _zayatz(of_size, number, fraction) if estimate is None else estimate
    if model == "zayatz":
        return _zayatz(of_size, number, fraction)
    estimate = (_pitman if model == "pitman" else _slide)(of_size, number, fraction)
    if estimate is None:
        raise GuaranteeError(f"The model {model!r} has no solution for these classes; take 'zayatz'.")
    return estimate


def _zayatz(of_size: Floats, number: Floats, fraction: float) -> float:
    from scipy.special import gammaln

    sample = float(of_size @ number)
    population = round(sample / fraction)
    if population <= sample:
        return float(number[0] / sample)

    def log_choose(a: Floats | float, b: float) -> Floats:
        return np.asarray(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1))

    # That one member of a class of each size falls into the sample.
    possible = of_size <= population - sample + 1
    size = of_size[possible]
    once = np.exp(np.log(size) + log_choose(population - size, sample - 1) - log_choose(float(population), sample))
    expected = number[possible] * once
    unique_if_alone = float(expected[0] / expected.sum())
    return float(number[0]) * unique_if_alone / fraction / population


def _pitman(of_size: Floats, number: Floats, fraction: float) -> float | None:
    """Maximum likelihood of the two parameters by Newton's method, from Hoshino's simple estimates; None without a solution."""
    from scipy.special import gammaln

    rows, classes, ones = float(of_size @ number), float(number.sum()), float(number[0])
    twos = max(1.0, float(number[of_size == 2].sum()))
    ratio = ones * (ones - 1) / twos
    below = 2 * ones * classes + ones * ratio - rows * ratio
    if below == 0:
        return None
    theta = (rows * classes * ratio - ones * (rows - 1) * (2 * classes + ratio)) / below
    alpha = (theta * (ones - rows) + (rows - 1) * ones) / (rows * classes)
    for _ in range(MOST_STEPS):
        if not 0 < alpha < 1 or not theta > -alpha:
            return None
        step = _pitman_step(of_size, number, rows, classes, theta, alpha)
        if step is None:
            return None
        theta, alpha = theta - step[0], alpha - step[1]
        if max(abs(step[0]) / max(1.0, abs(theta)), abs(step[1])) < ACCURACY:
            population = rows / fraction
            power = float(gammaln(theta + 1) - gammaln(theta + alpha)) + (alpha - 1) * log(population)
            return exp(power) if power <= 0 else None
    return None


def _pitman_step(
    of_size: Floats, number: Floats, rows: float, classes: float, theta: float, alpha: float
) -> tuple[float, float] | None:
    """Newton's step: with sums over 1 / (theta + i alpha) and the like in closed form."""
    from scipy.special import digamma, polygamma

    start = theta / alpha
    first = (digamma(classes + start) - digamma(start + 1)) / alpha
    squares = (polygamma(1, start + 1) - polygamma(1, classes + start)) / alpha**2
    weighted = (classes - 1 - theta * first) / alpha
    weighted_squares = (first - theta * squares) / alpha
    twice_weighted_squares = (weighted - theta * weighted_squares) / alpha
    over_rows = digamma(rows + theta) - digamma(theta + 1)
    over_rows_squares = polygamma(1, theta + 1) - polygamma(1, rows + theta)
    within = number @ (digamma(of_size - alpha) - digamma(1 - alpha))
    within_squares = number @ (polygamma(1, 1 - alpha) - polygamma(1, of_size - alpha))
    slopes = np.array(
        [
            [over_rows_squares - squares, -weighted_squares],
            [-weighted_squares, -twice_weighted_squares - within_squares],
        ],
        dtype=np.float64,
    )
    values = np.array([first - over_rows, weighted - within], dtype=np.float64)
    if not (np.isfinite(slopes).all() and np.isfinite(values).all()) or np.linalg.det(slopes) == 0:
        return None
    step = np.linalg.solve(slopes, values)
    return float(step[0]), float(step[1])


def _slide(of_size: Floats, number: Floats, fraction: float) -> float | None:
    """Slide negative binomial: two parameters from the expected numbers of classes of one and of two."""
    from scipy.optimize import root
    from scipy.special import expit

    rows, ones, twos = float(of_size @ number), float(number[0]), float(number[of_size == 2].sum())
    if twos == 0 or fraction == 1:
        return ones / rows if fraction == 1 else None
    classes = _shlosser(of_size, number, fraction)

    def misses(point: Floats) -> list[float]:
        shape, chance = exp(min(point[0], 50.0)), float(expit(point[1]))
        lost = (1 - fraction) * (1 - chance)
        single = classes * fraction * (chance / (1 - lost)) ** shape * (shape * lost / (1 - lost) + 1)
        double = classes * shape * chance**shape * fraction**2 * (1 - chance) / (2 * (1 - lost) ** (shape + 2))
        return [single / ones - 1, double * (2 - (1 - shape) * lost) / twos - 1]

    found = root(misses, np.array([-1.0, -1.0]))
    if not found.success or max(abs(miss) for miss in misses(found.x)) > 1e-6:
        return None
    estimate = classes * float(expit(found.x[1])) ** exp(found.x[0]) / (rows / fraction)
    return estimate if 0 <= estimate <= 1 else None


def _shlosser(of_size: Floats, number: Floats, fraction: float) -> float:
    """The number of classes in the population, estimated (Haas and Stokes 1998)."""
    square = fraction * fraction
    unseen = (1 - fraction) ** of_size
    first = (of_size * square * (1 - square) ** (of_size - 1)) @ number
    second = ((1 - square) ** of_size - unseen) @ number
    third = unseen @ number
    fourth = (of_size * fraction * (1 - fraction) ** (of_size - 1)) @ number
    return float(number.sum() + number[0] * (first / second) * (third / fourth) ** 2)
