"""Is there a hot spot anywhere? Windows of several sizes at every place of a map, with one chance of a false alarm for all.

Looking at many windows finds something by chance alone. Two ways keep the chance of any false alarm at the stated level:

- ``"monte-carlo"``: maps of nothing but the known noise (and, where asked for, counts that vary around what is expected)
  are drawn, and a window counts as a hot spot if few of them have a window of any size that stands out as much.
- ``"bonferroni"``: the exact p-value of each window times the number of windows. Nothing is drawn, and p-values may be tiny.

Formulas: ``significance.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.distributions import poisson_quantiles
from sudare.domain.arguments import read_array
from sudare.errors import Described, ParameterError
from sudare.evaluate.significance.comparing import read_significance
from sudare.evaluate.significance.laws import PoissonLaw, law_of_noise
from sudare.evaluate.significance.sums import LawOfSum, Term
from sudare.noise.additive import noise_for
from sudare.noise.entropy import ResearchEntropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import Rational, describe_array, exact_integer, read_flag, shown
from sudare.privacy.measurements import Measurement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values = NDArray[np.float64]

__all__ = ["HotSpot", "HotSpots", "find_hot_spots"]

Calibration = Literal["monte-carlo", "bonferroni"]
MAX_VALUE = 1 << 53
MAX_SIMULATED = 1 << 34
"""Cells of all simulated maps together."""

ROUNDING = 1e-6
"""Sums of what is expected may be wrong by less: an excess counts as that much smaller."""

MAX_LAWS = 1 << 12
"""Different expected counts of windows for which an exact law with sampling is computed."""


@dataclass(frozen=True)
class HotSpot:
    """A window with more than expected.

    Attributes:
        corner: its first place along each axis.
        side: its length along every axis.
        excess: published minus expected.
        p_value: adjusted for all windows that were looked at.
    """

    corner: tuple[int, ...]
    side: int
    excess: float
    p_value: float


@dataclass(frozen=True)
class HotSpots(ShownRows):
    """What a scan found.

    Attributes:
        found: the significant windows that do not overlap, the most significant first.
        p_value: of the whole map: the chance that a map without any hot spot stands out as much.
        windows: how many were looked at.
        significance: the chance of any false alarm that the scan was asked to keep.
        calibration: how it is kept.
    """

    found: tuple[HotSpot, ...]
    p_value: float
    windows: int
    significance: float
    calibration: Calibration

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each window found, the most significant first."""
        return {
            "corner": [", ".join(map(str, spot.corner)) for spot in self.found],
            "side": [spot.side for spot in self.found],
            "excess": [spot.excess for spot in self.found],
            "p_value": [spot.p_value for spot in self.found],
        }


def find_hot_spots(
    values: ArrayLike,
    noise: Measurement | Sequence[Measurement],
    *,
    expected: ArrayLike = 0,
    varies: bool = False,
    sides: Sequence[int] = (1, 2, 4, 8),
    calibration: Calibration = "monte-carlo",
    simulations: int = 999,
    significance: Rational = 0.05,
    seed: int = 0,
) -> HotSpots:
    """Look for windows with more people than expected, in a table of noisy counts.

    Looks at published numbers only: it costs no budget.

    Guarantee: on a map where no window has more than expected, and under the model of ``varies``, something is found with
        at most the probability ``significance``, whichever way it is calibrated. On a map with real hot spots, a window
        without an excess of its own is named with at most that probability too by ``"bonferroni"``, and with about that
        probability by ``"monte-carlo"``.

    Args:
        values: noisy counts of all cells as they were drawn, signed and not refined; or the difference of two releases.
        noise: what the event states of them; for a difference of releases that of both.
        expected: what is expected in each cell: 0 for a difference, or a public table such as the last census.
        varies: whether true counts vary around what is expected, as Poisson numbers; else only the noise does.
        sides: lengths of the windows along every axis; they are laid at every place.
        calibration: ``"monte-carlo"`` or ``"bonferroni"``.
        simulations: how many maps are drawn, for ``"monte-carlo"``. No p-value is below 1 / (simulations + 1), and with several
            sides the smallest is up to as many times that.
        significance: the chance of any false alarm that is acceptable.
        seed: of the simulated maps; the same seed gives the same p-values.

    Raises:
        ParameterError: if an argument is not what it should be, or the scan would be too large.
        GuaranteeError: if a measurement adds no noise to counts.

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.evaluate.significance import find_hot_spots
        >>> truth = np.full((32, 32), 20); truth[8:12, 20:24] += 15
        >>> noisy, event = sudare.add_noise(truth, sudare.Budget(epsilon=0.5))
        >>> spots = find_hot_spots(noisy, event.measurements[0], expected=20, simulations=99)
        >>> spots.found[0].side, spots.p_value <= 0.05
        (4, True)
    """
    function = "find_hot_spots"
    level = read_significance(significance, function)
    measurements = (noise,) if isinstance(noise, Measurement) else _read_measurements(noise, function)
    excess, mean = _read_maps(values, expected, read_flag(varies, "varies", function), function)
    lengths = _read_sides(sides, excess.shape, function)
    if not isinstance(calibration, str) or calibration not in ("monte-carlo", "bonferroni"):
        raise ParameterError("calibration", function, "'monte-carlo' or 'bonferroni'", shown(calibration))
    if calibration == "bonferroni":
        adjusted = _by_bonferroni(excess, mean, measurements, lengths, function)
    else:
        requirement = "a whole number from 19 to 10**6, and at most 2**34 / cells"
        most = min(10**6, MAX_SIMULATED // excess.size)
        number = exact_integer(simulations, "simulations", function, requirement, smallest=19, largest=most)
        source = ResearchEntropy(
            exact_integer(seed, "seed", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
        )
        adjusted = _by_monte_carlo(excess, mean, measurements, lengths, number, source)
    windows = sum(chances.size for chances in adjusted)
    best = min(float(chances.min()) for chances in adjusted)
    found = _apart(excess, lengths, adjusted, level)
    return HotSpots(found, best, windows, level, calibration)


def _by_bonferroni(
    excess: Values, mean: Values | None, measurements: Sequence[Measurement], sides: Sequence[int], function: str
) -> list[Values]:
    """For each side, the adjusted p-value of the window at each place."""
    sums = [_window_sums(excess, side) for side in sides]
    windows = sum(of_side.size for of_side in sums)
    adjusted = []
    for side, of_side in zip(sides, sums, strict=True):
        noise = [Term(law_of_noise(one), times=side**excess.ndim) for one in measurements]
        if mean is None:
            tails = LawOfSum(tuple(noise)).at_least(of_side - ROUNDING)
        else:
            rates = _window_sums(mean, side)
            if np.unique(rates).size > MAX_LAWS:
                hint = "Take calibration='monte-carlo'."
                got = Described("more different sums of what is expected")
                raise ParameterError("expected", function, f"at most {MAX_LAWS} different laws", got, hint)
            tails = np.empty_like(of_side)
            for rate in np.unique(rates):
                law = LawOfSum((*noise, Term(PoissonLaw(float(rate)))))
                tails[rates == rate] = law.at_least(of_side[rates == rate] + rate - ROUNDING)
        adjusted.append(np.minimum(windows * tails, 1.0))
    return adjusted


def _by_monte_carlo(
    excess: Values,
    mean: Values | None,
    measurements: Sequence[Measurement],
    sides: Sequence[int],
    simulations: int,
    source: ResearchEntropy,
) -> list[Values]:
    """For each side, the adjusted p-value of the window at each place.

    Windows of one side are ranked by their standardised excess; sides are ranked against each other by how rarely a map
    of chance alone has a window of that side as extreme (Westfall, Young 1993).
    """
    variance = sum(law_of_noise(one).variance for one in measurements)
    scales = [_scales(mean, variance, side, excess.ndim) for side in sides]
    scores = [_window_sums(excess, side) / scale for side, scale in zip(sides, scales, strict=True)]
    largest = np.empty((simulations + 1, len(sides)))
    largest[0] = [of_side.max() for of_side in scores]
    samplers = [noise_for(one) for one in measurements]
    for number in range(1, simulations + 1):
        chance = np.zeros(excess.shape)
        for sampler in samplers:
            chance += sampler.draw(excess.shape, source)
        if mean is not None:
            chance += _poisson(mean, source) - mean
        largest[number] = [
            (_window_sums(chance, side) / scale).max() for side, scale in zip(sides, scales, strict=True)
        ]
    ordered = np.sort(largest, axis=0)
    ranks = np.stack([_share_from(ordered[:, column], largest[:, column]) for column in range(len(sides))], axis=1).min(
        axis=1
    )
    ranks.sort()
    adjusted = []
    for column, of_side in enumerate(scores):
        own = np.maximum(_share_from(ordered[:, column], of_side), 1 / (simulations + 1))
        adjusted.append(np.searchsorted(ranks, own * (1 + 1e-12), side="right") / (simulations + 1))
    return adjusted


def _share_from(ordered: Values, values: Values) -> Values:
    """The share of ordered numbers that are not below each value."""
    return np.asarray((ordered.size - np.searchsorted(ordered, values, side="left")) / ordered.size)


def _scales(mean: Values | None, variance: float, side: int, axes: int) -> Values | float:
    """The standard deviation of each window's sum by chance alone."""
    of_noise = variance * side**axes
    return sqrt(of_noise) if mean is None else np.sqrt(of_noise + _window_sums(mean, side))


def _poisson(mean: Values, source: ResearchEntropy) -> Values:
    """A Poisson number for each mean, by inversion."""
    chances = (uniform_below(1 << 53, mean.shape, source).astype(np.float64) + 0.5) * 2.0**-53
    return poisson_quantiles(chances, mean)


def _window_sums(numbers: Values, side: int) -> Values:
    """The sums of all windows of one side, by their corners."""
    sums = numbers
    for axis in range(numbers.ndim):
        running = np.cumsum(sums, axis=axis)
        running = np.concatenate([np.zeros_like(running.take([0], axis=axis)), running], axis=axis)
        last = running.shape[axis]
        sums = running.take(range(side, last), axis=axis) - running.take(range(last - side), axis=axis)
    return np.asarray(sums)


def _apart(excess: Values, sides: Sequence[int], adjusted: Sequence[Values], level: float) -> tuple[HotSpot, ...]:
    """The significant windows, the rarest first, each only if it overlaps none before it."""
    candidates = []
    for side, chances in zip(sides, adjusted, strict=True):
        places = np.argwhere(chances <= level)
        sums = _window_sums(excess, side)[tuple(places.T)]
        for place, chance, total in zip(places.tolist(), chances[tuple(places.T)].tolist(), sums.tolist(), strict=True):
            candidates.append((chance, -total / side ** (excess.ndim / 2), side, tuple(place), total))
    taken = np.zeros(excess.shape, dtype=bool)
    spots = []
    for chance, _, side, corner, total in sorted(candidates):
        window = tuple(slice(first, first + side) for first in corner)
        if not taken[window].any():
            taken[window] = True
            spots.append(HotSpot(corner, side, total, chance))
    return tuple(spots)


def _read_measurements(noise: object, function: str) -> tuple[Measurement, ...]:
    requirement = "a measurement, or those of both releases"
    if not isinstance(noise, (list, tuple)) or not noise or not all(isinstance(one, Measurement) for one in noise):
        raise ParameterError("noise", function, requirement, shown(noise))
    return tuple(noise)


def _read_maps(values: ArrayLike, expected: ArrayLike, varies: bool, function: str) -> tuple[Values, Values | None]:
    """What is above expectation in each cell, and the means of counts that vary."""
    requirement = "an array of whole numbers, as drawn"
    noisy = read_array(values, "values", function, requirement)
    if noisy.dtype.kind not in "iu" or not noisy.ndim or not noisy.size:
        raise ParameterError("values", function, requirement, describe_array(noisy))
    mean = read_array(expected, "expected", function, "numbers")
    if mean.dtype.kind not in "iuf" or mean.shape not in ((), noisy.shape):
        got = describe_array(mean)
        raise ParameterError("expected", function, f"a number, or an array of the shape {noisy.shape}", got)
    mean = np.broadcast_to(mean.astype(np.float64), noisy.shape)
    excess = noisy.astype(np.float64) - mean
    if not (np.isfinite(mean).all() and np.abs(excess).sum() < MAX_VALUE):
        raise ParameterError("values", function, "finite, and below 2**53 in all", Described("others"))
    if varies and mean.min() < 0:
        raise ParameterError("expected", function, ">= 0 where counts vary around it", Described("less"))
    return excess, mean if varies else None


def _read_sides(sides: object, shape: tuple[int, ...], function: str) -> tuple[int, ...]:
    requirement = f"whole numbers from 1 to the shortest axis, {min(shape)}; at least one, each once"
    if not isinstance(sides, (list, tuple, range)) or not sides or len(set(sides)) < len(sides):
        raise ParameterError("sides", function, requirement, Described("something else"))
    return tuple(exact_integer(side, "sides", function, requirement, smallest=1, largest=min(shape)) for side in sides)
