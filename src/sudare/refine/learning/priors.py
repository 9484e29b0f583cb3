"""What noisy counts tell about themselves: priors learned from all of them, applied to each of them.

Nothing here sees the data: a prior is a mixture whose weights are fitted to the noisy counts of a whole level (empirical
Bayes). Where the counts of a kind of place are mostly 0, a small noisy count there is mostly noise; where a public
reference foretells the counts well, a noisy count far from it is mostly noise. Both are learned, not assumed, and both
priors have heavy tails, so that a place unlike the others keeps its own measurement.

- `learn_counts`: counts are >= 0 and of unknown distribution, one for each class of places.
- `learn_departures`: counts depart from an expected count by a mixture of normal laws whose spreads grow with it.
- `evidence_of_counts`: how likely noisy counts are if nothing is known but the counts of the areas above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Classes = NDArray[np.int64]

__all__ = [
    "Departures",
    "LearnedCounts",
    "Posterior",
    "bins_of",
    "evidence_of_counts",
    "learn_counts",
    "learn_departures",
]

MIN_PLACES = 50
"""Classes with fewer places learn nothing and keep their measurements."""

ROUNDS = 60
SAMPLE = 12_000
"""Weights are learned from at most this many places, evenly taken; all places are then judged by them."""

RELATIVE = np.concatenate([[1e-4], np.geomspace(0.004, 4, 18)])
EXPONENTS = (0.5, 0.75, 1.0)
"""How the spread of departures may grow with the expected count; the likeliest is taken."""

CLASS_EDGES = (0.05, 0.5, 2, 8, 40)
"""Limits of the classes of expected counts, in standard deviations of the noise."""

PARENT_EDGES = (0.5, 1.0, 2.0, 4.0, 8.0, 20.0, 60.0)
"""Limits of the classes of parents' counts, in standard deviations of the noise."""

STRENGTH = 20.0
"""What the departures of all places are worth to a class of them, in places."""

NEGLIGIBLE = 1e-5
AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Posterior:
    """What is known of each count after the noise was taken into account.

    Attributes:
        values: posterior means.
        variances: posterior variances.
        spreads: the prior variance around the expected count that each is judged to come from.
    """

    values: Values
    variances: Values
    spreads: Values


@dataclass(frozen=True)
class LearnedCounts:
    """What is known of a count of a class whose noisy value falls into a bin; the bin of 0 is in the middle.

    Attributes:
        bin_width: of the bins.
        taught: which classes have learned anything; values of the others are kept.
        means: posterior means, for each class and bin.
        variances: posterior variances.
        occupied: how likely the count is not 0.
    """

    bin_width: float
    taught: NDArray[np.bool_]
    means: Values
    variances: Values
    occupied: Values


def bins_of(variance: float) -> tuple[float, int]:
    """The width of a bin, and how many there are on either side of 0, for noise of a variance."""
    scale = float(np.sqrt(variance)) / np.sqrt(2)
    bin_width = scale / 4
    return bin_width, int(40 * scale / bin_width)


def learn_counts(occurrences: Values, variance: float, *, is_laplace: bool, faint: float = 0.0) -> LearnedCounts:
    """Learn the distribution of counts >= 0 within each class from how often noisy values fall into each bin.

    The two smallest values of the grid, 0 and a quarter of the noise's scale, stand for an empty place unless ``faint`` says
    otherwise: that few people cannot be told from none, and counting them as seen would fill the map.

    Args:
        occurrences: for each class and each bin of `bins_of`.
        variance: of the noise.
        is_laplace: the shape of the noise, else Gaussian.
        faint: how much of a place counts as occupied whose people are too few to be told from none.
    """
    from sudare.kernels.tables.priors import learn_weights

    deviation = float(np.sqrt(variance))
    scale = deviation / np.sqrt(2)
    grid = np.concatenate([np.arange(0, 6, 0.25), np.geomspace(6, 50, 20)]) * scale
    bin_width, half = bins_of(variance)
    seen = np.arange(-half, half + 1) * bin_width
    distance = seen[:, None] - grid[None, :]
    likelihood = np.exp(-np.abs(distance) / scale) if is_laplace else np.exp(-0.5 * (distance / deviation) ** 2)
    likelihood = np.ascontiguousarray(likelihood + 1e-290)
    kinds = occurrences.shape[0]
    means, variances = np.tile(seen, (kinds, 1)), np.full((kinds, seen.size), variance)
    occupied = np.ones((kinds, seen.size))
    taught = occurrences.sum(axis=1) >= MIN_PLACES
    even = np.full(grid.size, 1 / grid.size)
    weights = np.empty(grid.size)
    for kind in np.flatnonzero(taught):
        used = np.flatnonzero(occurrences[kind])
        learn_weights(np.ascontiguousarray(likelihood[used]), occurrences[kind][used], ROUNDS, even, 1e-3, weights)
        judged = likelihood * weights
        judged /= judged.sum(axis=1, keepdims=True)
        means[kind] = judged @ grid
        variances[kind] = np.clip(judged @ grid**2 - means[kind] ** 2, 1e-4 * variance, 3 * variance)
        occupied[kind] = 1 - (judged[:, 0] + (1 - faint) * judged[:, 1])
    return LearnedCounts(bin_width, taught, means, variances, occupied)


@dataclass(frozen=True)
class Departures:
    """How far counts depart from expected ones: learned probabilities of small and large departures.

    A departure is normal around 0; its spread is a multiple of a power of the expected count, or one of a few absolute sizes.

    Attributes:
        deviation: the standard deviation of the noise, typically.
        exponent: the power of the expected count.
        absolute: the absolute spreads.
        weights: the probability of each spread, for each class of expected counts.
        is_laplace: the shape of the noise, else Gaussian.
        evidence: logarithm of the likelihood of one noisy value, on average.
    """

    deviation: float
    exponent: float
    absolute: Values
    weights: Values
    is_laplace: bool
    evidence: float

    def judge(self, values: Values, variances: Values, expected: Values) -> Posterior:
        """The posterior of counts, given what was expected of them.

        Args:
            values: noisy counts.
            variances: of the noise of each, positive.
            expected: what each count would be if nothing had changed, >= 0.
        """
        from sudare.kernels.tables.priors import posterior_of_mixture

        means, posteriors, priors = (np.empty(values.size) for _ in range(3))
        for first in range(0, values.size, AT_ONCE):
            part = slice(first, first + AT_ONCE)
            posterior_of_mixture(
                values[part] - expected[part],
                variances[part],
                _spreads(expected[part], self.deviation, self.exponent, self.absolute),
                self.weights[_classes(expected[part], self.deviation)],
                self.is_laplace,
                means[part],
                posteriors[part],
                priors[part],
            )
        return Posterior(expected + means, posteriors, priors)


def learn_departures(
    values: Values, variances: Values, expected: Values, *, is_laplace: bool, places: int = SAMPLE
) -> Departures:
    """Learn from noisy counts how far the counts depart from expected ones.

    Args:
        values: noisy counts.
        variances: of the noise of each, positive.
        expected: what each count would be if nothing had changed, >= 0.
        is_laplace: the shape of the noise, else Gaussian.
        places: how many of them are learned from, evenly taken.
    """
    deviation = float(np.sqrt(np.median(variances)))
    widest = max(float(np.abs(values - expected).max()), 1024 * deviation)
    absolute = np.geomspace(0.5 * deviation, 2 * widest, 14)
    sample = np.arange(0, values.size, max(1, values.size // places))
    candidates = [
        _fit(values[sample], variances[sample], expected[sample], deviation, exponent, absolute, is_laplace)
        for exponent in EXPONENTS
    ]
    return max(candidates, key=lambda departures: departures.evidence)


def _fit(
    values: Values,
    variances: Values,
    expected: Values,
    deviation: float,
    exponent: float,
    absolute: Values,
    is_laplace: bool,
) -> Departures:
    from sudare.kernels.tables.priors import likelihood_of_spreads

    spreads = _spreads(expected, deviation, exponent, absolute)
    likelihood = np.empty(spreads.shape)
    likelihood_of_spreads(values - expected, variances, spreads, is_laplace, likelihood)
    weights, evidence = _weights_by_class(likelihood, _classes(expected, deviation), len(CLASS_EDGES) + 1)
    weights[weights < NEGLIGIBLE] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    return Departures(deviation, exponent, absolute, weights, is_laplace, evidence)


def _weights_by_class(likelihood: Values, classes: Classes, kinds: int) -> tuple[Values, float]:
    """Weights of components for each class, drawn towards those of all places, and the mean evidence under them."""
    from sudare.kernels.tables.priors import learn_weights

    places, components = likelihood.shape
    pooled, even = np.empty(components), np.full(components, 1 / components)
    learn_weights(likelihood, np.ones(places), ROUNDS, even, 1e-3 * components, pooled)
    weights = np.tile(pooled, (kinds, 1))
    for kind in np.unique(classes):
        own = np.flatnonzero(classes == kind)
        learn_weights(likelihood[own], np.ones(own.size), ROUNDS, pooled, STRENGTH, weights[kind])
    densities = np.maximum((likelihood * weights[classes]).sum(axis=1), 1e-300)
    return weights, float(np.log(densities).mean())


def evidence_of_counts(values: Values, variances: Values, parents: Values, *, is_laplace: bool) -> float:
    """The logarithm of one noisy count's likelihood, on average, if counts >= 0 have any law that fits them.

    There is one law for each class of parents' counts, learned without assuming its form: what is known without a reference.
    Its steps are filled, so that it is a density where noise is small beside them; nobody at all is a step by itself.

    Args:
        values: noisy counts.
        variances: of the noise of each, positive.
        parents: the count of the area that each is a part of.
        is_laplace: the shape of the noise, else Gaussian.
    """
    from sudare.kernels.tables.priors import likelihood_of_spreads

    sample = np.arange(0, values.size, max(1, values.size // SAMPLE))
    values, variances, parents = values[sample], variances[sample], parents[sample]
    deviation = float(np.sqrt(np.median(variances)))
    steps, widths = _filled_steps(deviation, max(float(values.max()), 16 * deviation))
    likelihood, of_step = np.empty((values.size, steps.size)), np.empty((values.size, 1))
    for column, (step, width) in enumerate(zip(steps, widths, strict=True)):
        likelihood_of_spreads(values - step, variances, np.full((values.size, 1), width), is_laplace, of_step)
        likelihood[:, column] = of_step[:, 0]
    classes = np.asarray(np.digitize(parents / deviation, PARENT_EDGES), dtype=np.int64)
    return _weights_by_class(likelihood, classes, len(PARENT_EDGES) + 1)[1]


def _filled_steps(deviation: float, highest: float) -> tuple[Values, Values]:
    """Steps from 0 upwards, evenly up to 6 standard deviations of the noise and by equal factors beyond, and their spreads."""
    near, far = np.arange(0, 6, 0.5) * deviation, np.geomspace(6 * deviation, highest, 28)
    steps = np.concatenate([near, far])
    widths = 0.5 * np.diff(steps, prepend=0.0)
    return steps, widths


def _classes(expected: Values, deviation: float) -> Classes:
    return np.asarray(np.digitize(expected / deviation, CLASS_EDGES), dtype=np.int64)


def _spreads(expected: Values, deviation: float, exponent: float, absolute: Values) -> Values:
    """The spreads of all components, a row for each count."""
    growing = (expected + 0.02 * deviation) ** exponent * deviation ** (1 - exponent)
    return np.hstack([growing[:, None] * RELATIVE, np.broadcast_to(absolute, (expected.size, absolute.size))])
