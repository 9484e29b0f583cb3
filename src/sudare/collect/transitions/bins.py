"""From which bin into which bin: transition matrices of bounded noise on an interval, and of anything on a grid.

Tables are made of bins, noise acts on numbers. If the true values are spread evenly inside each bin, or inside each of a few
finer bins, the probability that a value of one bin is reported in another has a closed form for Laplace noise, and is a smooth
one-dimensional integral for normal noise.

Proof: ``bins.md`` beside this file (the paper's equations, derived again with its misprints corrected).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.collect.transitions.grids import exp_minus_down
from sudare.collect.transitions.real_transition import RealTransition
from sudare.collect.transitions.transition import Transition
from sudare.distributions import normal_probability
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.collect.transitions.transition import Shares

__all__ = ["grouped", "laplace_bins", "normal_bins"]

MAX_FINER = 1 << 20
MAX_EXPONENT = 100_000
MAX_NORMAL_SIGMA = 10_000.0
PANEL = 1.0
"""In units of sigma: the widest piece that one Gauss-Legendre rule integrates."""

CHUNK = 1 << 20
_LOG_SERIES_BELOW = 0.05


def laplace_bins(edges: ArrayLike, scale: Rational, finer: int = 1, shares: ArrayLike | None = None) -> RealTransition:
    """Between which bins bounded Laplace noise moves values, in closed form.

    Each entry has a relative error below 1e-12, for any scale. Cost: one step for each finer bin and each entry.

    Args:
        edges: of the bins, ascending; the first and last are the ends of the range that the noise is kept in.
        scale: the noise has density exp(-|x| / scale) / (2 scale) before it is bounded.
        finer: into how many equal parts each bin is cut; inside a part values are spread evenly.
        shares: for each bin, which share of its values lies in each part; equal shares if left out.

    Raises:
        ParameterError: if the edges do not ascend, or the scale is not above 0.

    References:
        Ikarashi, Hasegawa, Osame, Kikuchi, Chida: section 6, equations (15) to (28).

    Example:
        >>> from sudare.collect.transitions.bins import laplace_bins
        >>> laplace_bins([0, 1, 2, 3], scale=1).probabilities().round(4).tolist()
        [[0.5819, 0.3057, 0.1124], [0.2605, 0.4791, 0.2605], [0.1124, 0.3057, 0.5819]]
    """
    check_arguments(laplace_bins, locals(), "edges", "shares")
    ends, sigma, parts, weights = _read_bins(edges, scale, finer, shares, "laplace_bins")
    units = (ends - ends[0]) / sigma
    below, above = units, (ends[-1] - ends) / sigma  # distances from the lower and to the upper end of the range
    width = np.diff(ends) / sigma
    fine_width = np.repeat(width / parts, parts).reshape(-1, parts)
    to_start = np.arange(parts) * fine_width  # from the start of the bin to the start of the part
    to_end = (parts - 1 - np.arange(parts)) * fine_width
    level, left, right, left_rest, right_rest = _part_integrals(
        below[:-1, None] + to_start, above[1:, None] + to_end, fine_width, units[-1]
    )
    own = (
        -np.expm1(-to_start) * level + np.exp(-to_start) * left_rest
        + -np.expm1(-to_end) * level + np.exp(-to_end) * right_rest
    )  # fmt: skip
    to_the_left = (weights * left * np.exp(-to_start)).sum(axis=1)
    to_the_right = (weights * right * np.exp(-to_end)).sum(axis=1)
    gaps = np.abs(units[1:-1, None] - units[None, 1:-1])
    matrix = np.diag((weights * own).sum(axis=1))
    bins = width.size
    upper, lower = np.triu_indices(bins, 1), np.tril_indices(bins, -1)
    matrix[upper] = to_the_right[upper[0]] * np.exp(-gaps[upper[0], upper[1] - 1]) * -np.expm1(-width[upper[1]])
    matrix[lower] = to_the_left[lower[0]] * np.exp(-gaps[lower[0] - 1, lower[1]]) * -np.expm1(-width[lower[1]])
    span = (Fraction(float(ends[-1])) - Fraction(float(ends[0]))) / exact_fraction(scale, "scale", "laplace_bins", "")
    return _with_promises(matrix, span)


def _part_integrals(below: Shares, above: Shares, width: Shares, span: float) -> tuple[Shares, ...]:
    """Means over parts [g, h] of 1, exp(-(v - g)), exp(-(h - v)), and of 1 less either, all over 2 alpha(v), in units of sigma.

    Args:
        below: from the lower end of the range to g.
        above: from h to the upper end.
        width: h - g.
        span: of the whole range.
    """
    # 2 alpha = 2 (1 - cosh(u) / cosh(theta)) with u measured from the middle and cosh(theta) = exp(span / 2).
    tangent = np.sqrt(-np.expm1(-span))  # tanh(theta)
    beyond = np.log1p(tangent)  # theta - span / 2
    drop = -np.expm1(-width)
    start_low, end_low = beyond + below, beyond + below + width  # theta + g, theta + h
    end_high, start_high = beyond + above, beyond + above + width  # theta - h, theta - g
    y_low = np.exp(-start_low) * drop / -np.expm1(-start_low)
    y_high = np.exp(-end_high) * drop / -np.expm1(-end_high)
    log_low, log_high = np.log1p(y_low), np.log1p(y_high)
    factor = 1 / (2 * width * tangent)
    level = factor * (width + log_low + log_high)
    left = factor * (
        drop / -np.expm1(-start_low) * (1 - _one_less_log_ratio(y_low)) + np.exp(-start_high) * (width + log_high)
    )
    right = factor * (
        drop / -np.expm1(-end_high) * (1 - _one_less_log_ratio(y_high)) + np.exp(-end_low) * (width + log_low)
    )
    left_rest = factor * _rest(width, drop, np.exp(-end_high), -np.expm1(-start_high), y_low)
    right_rest = factor * _rest(width, drop, np.exp(-start_low), -np.expm1(-end_low), y_high)
    return level, left, right, left_rest, right_rest


def _rest(width: Shares, drop: Shares, near: Shares, far_rest: Shares, y: Shares) -> Shares:
    """A sum of four terms, none below 0, in which everything that cancels has been cancelled: see `bins.md`."""
    t = near * drop / far_rest
    return np.asarray(
        far_rest * _exp_beyond_line(width) + near * drop**2 + far_rest * _minus_log_beyond_line(t)
        + drop * _one_less_log_ratio(y)
    )  # fmt: skip


def _exp_beyond_line(x: Shares) -> Shares:
    """exp(-x) - 1 + x, for x >= 0, without cancellation."""
    series = x * x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7 * (1 - x / 8 * (1 - x / 9)))))))
    return np.where(x < _LOG_SERIES_BELOW, series, np.expm1(-x) + x)


def _minus_log_beyond_line(t: Shares) -> Shares:
    """-log(1 - t) - t, for 0 <= t < 1, without cancellation."""
    small = np.where(t < _LOG_SERIES_BELOW, t, 0.0)
    series = sum((small**k / k for k in range(13, 1, -1)), np.zeros_like(small))
    return np.where(t < _LOG_SERIES_BELOW, series, -np.log1p(-t) - t)


def _one_less_log_ratio(y: Shares) -> Shares:
    """1 - log(1 + y) / y, for y >= 0, without cancellation."""
    small = np.where(y < _LOG_SERIES_BELOW, y, 0.0)
    series = -sum(((-small) ** k / (k + 1) for k in range(13, 0, -1)), np.zeros_like(small))
    large = np.where(y < _LOG_SERIES_BELOW, 1.0, y)
    return np.where(y < _LOG_SERIES_BELOW, series, 1 - np.log1p(large) / large)


def normal_bins(edges: ArrayLike, scale: Rational, finer: int = 1, shares: ArrayLike | None = None) -> RealTransition:
    """Between which bins bounded normal noise moves values, by quadrature of differences of the error function.

    Each entry has an absolute error below 1e-12. Cost: some 4 to 12 error functions for each finer bin and each bin.

    Args:
        edges: of the bins, ascending; the first and last are the ends of the range that the noise is kept in.
        scale: the standard deviation of the noise before it is bounded; at least 1/10,000 of the range.
        finer: into how many equal parts each bin is cut; inside a part values are spread evenly.
        shares: for each bin, which share of its values lies in each part; equal shares if left out.

    Raises:
        ParameterError: if the edges do not ascend, or the scale is too small.

    Example:
        >>> from sudare.collect.transitions.bins import normal_bins
        >>> normal_bins([0, 1, 2], scale=1).probabilities().round(4).tolist()
        [[0.6112, 0.3888], [0.3888, 0.6112]]
    """
    check_arguments(normal_bins, locals(), "edges", "shares")
    ends, sigma, parts, weights = _read_bins(edges, scale, finer, shares, "normal_bins")
    units = (ends - ends[0]) / sigma
    if units[-1] > MAX_NORMAL_SIGMA:
        requirement = f"at least 1/{MAX_NORMAL_SIGMA:,.0f} of the range: less noise leaves values in their bins"
        raise ParameterError("scale", "normal_bins", requirement, scale)
    widest = float(np.diff(units).max()) / parts
    pieces = max(1, int(np.ceil(widest / PANEL)))
    places, mass = np.polynomial.legendre.leggauss(_order(widest / pieces))
    inner = ((np.arange(pieces)[:, None] + (places + 1) / 2) / pieces).ravel()
    inner_mass = np.tile(mass / 2, pieces) / pieces
    width = np.diff(units)
    offsets = ((np.arange(parts)[:, None] + inner) / parts).ravel()
    nodes = units[:-1, None] + width[:, None] * offsets
    node_weights = (weights[:, :, None] * inner_mass).reshape(width.size, -1)
    node_weights /= _normal_mass(-nodes, units[-1] - nodes)
    matrix = np.empty((width.size, width.size))
    if np.ptp(width) <= 2.0**-48 * units[-1]:
        # Bins of one width: what a node gives to a bin depends on how many bins lie between.
        apart = np.arange(1 - width.size, width.size)[:, None] - offsets
        inside = _normal_mass(apart * width.mean(), (apart + 1) * width.mean())
        for row in range(width.size):
            matrix[row] = inside[width.size - 1 - row : 2 * width.size - 1 - row] @ node_weights[row]
    else:
        rows = max(1, CHUNK // (offsets.size * width.size))
        for row in range(0, width.size, rows):
            at = nodes[row : row + rows, :, None]
            inside = _normal_mass(units[:-1] - at, units[1:] - at)
            matrix[row : row + rows] = (node_weights[row : row + rows, :, None] * inside).sum(axis=1)
    span = (Fraction(float(ends[-1])) - Fraction(float(ends[0]))) / exact_fraction(scale, "scale", "normal_bins", "")
    return _with_promises(matrix, span**2 / 2)


def _order(width: float) -> int:
    """Points of the Gauss-Legendre rule whose error is below 1e-13 for pieces of this width, in units of sigma."""
    return 4 if width <= 0.02 else 6 if width <= 0.15 else 8 if width <= 0.5 else 12


def _normal_mass(low: Shares, high: Shares) -> Shares:
    """The standard normal probability between two points, with a small relative error."""
    # On the lower side the tails keep their digits.
    flip = low + high > 0
    left, right = np.where(flip, -high, low), np.where(flip, -low, high)
    middle, width = (left + right) / 2, right - left
    narrow = width * (1 + np.abs(middle)) < 0.25
    square, w = middle**2, np.where(narrow, width, 0.0) ** 2
    series = 1 + w * (
        (square - 1) / 24
        + w * (
            ((square - 6) * square + 3) / 1920
            + w * (
                (((square - 15) * square + 45) * square - 15) / 322560
                + w * ((((square - 28) * square + 210) * square - 420) * square + 105) / 92897280
            )
        )
    )  # fmt: skip
    density = np.exp(-square / 2) * (width / np.sqrt(2 * np.pi))
    mass = density * np.where(narrow, series, 1.0)
    mass[~narrow] = normal_probability(right[~narrow]) - normal_probability(left[~narrow])
    return np.asarray(mass)


def grouped(transition: Transition, starts: ArrayLike, shares: ArrayLike | None = None) -> RealTransition:
    """A transition between bins of values: each bin takes the values from its start to the next start.

    Values and reports must be the same things in the same order, such as points of a grid. What was promised of the values holds
    for the bins. Cost: one `backward` for each bin.

    Args:
        transition: between values.
        starts: the first value of each bin, as places, ascending, the first one 0.
        shares: for each value, how common it is inside its bin; equally common if left out.

    Raises:
        ParameterError: if the starts do not ascend, or a bin has no share.

    Example:
        >>> from sudare.collect import KaryResponse
        >>> from sudare.collect.transitions.bins import grouped
        >>> ten = KaryResponse(range(10), 3)
        >>> grouped(ten.transition(), [0, 5]).probabilities().round(3).tolist()
        [[0.828, 0.172], [0.172, 0.828]]
    """
    function = "grouped"
    if not isinstance(transition, Transition) or transition.values != transition.reports:
        raise ParameterError("transition", function, "a transition from values to the same values", shown(transition))
    first = np.asarray(starts)
    requirement = "two or more ascending places of values, the first one 0"
    if first.ndim != 1 or first.size < 2 or first.dtype.kind not in "iu" or first[0] != 0:
        raise ParameterError("starts", function, requirement, shown(starts))
    if (np.diff(first) <= 0).any() or first[-1] >= transition.values:
        raise ParameterError("starts", function, requirement, shown(starts))
    weights = np.ones(transition.values) if shares is None else np.asarray(shares, dtype=np.float64)
    if weights.shape != (transition.values,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError("shares", function, "a number >= 0 for each value", shown(shares))
    sums = np.add.reduceat(weights, first)
    if (sums <= 0).any():
        raise ParameterError("shares", function, "above 0 for some value of each bin", Described("a bin without any"))
    bins = np.searchsorted(first, np.arange(transition.values), side="right") - 1
    matrix = np.empty((first.size, first.size))
    rows = max(1, (CHUNK * 4) // transition.values)
    for start in range(0, first.size, rows):
        members = (bins == np.arange(start, min(start + rows, first.size))[:, None]).astype(np.float64)
        into = transition.backward(members)
        matrix[:, start : start + rows] = (np.add.reduceat(into * weights, first, axis=1) / sums).T
    return RealTransition(matrix, transition.largest_ratio(), transition.anonymity_rate())


def _with_promises(matrix: Shares, epsilon: Fraction) -> RealTransition:
    """The largest ratio is exp(epsilon) and the rate exp(-2 epsilon): `noisy_numbers.md`."""
    if epsilon > MAX_EXPONENT:
        return RealTransition(matrix)
    return RealTransition(matrix, 1 / exp_minus_down(epsilon), exp_minus_down(2 * epsilon))


def _read_bins(
    edges: ArrayLike, scale: Rational, finer: int, shares: ArrayLike | None, function: str
) -> tuple[NDArray[np.float64], float, int, NDArray[np.float64]]:
    ends = np.asarray(edges, dtype=np.float64)
    if ends.ndim != 1 or ends.size < 3 or not np.isfinite(ends).all() or (np.diff(ends) <= 0).any():
        raise ParameterError(
            "edges",
            function,
            Words("three or more ascending numbers: two bins at least", "小さい順に 3 個以上の数（区間は 2 個以上）"),
            shown(edges),
        )
    requirement = Words(
        "a number above 0, from 1e-9 to 1e9 times the range", "0 より大きい数（範囲の 1e-9 倍以上 1e9 倍以下）"
    )
    sigma = float(exact_fraction(scale, "scale", function, requirement))
    if not 1e-9 <= sigma / float(ends[-1] - ends[0]) <= 1e9:
        raise ParameterError("scale", function, requirement, scale)
    parts = exact_integer(
        finer,
        "finer",
        function,
        Words("a whole number >= 1", "1 以上の整数"),
        smallest=1,
        largest=MAX_FINER // ends.size,
    )
    if shares is None:
        return ends, sigma, parts, np.full((ends.size - 1, parts), 1 / parts)
    weights = np.asarray(shares, dtype=np.float64)
    requirement = Words(
        f"numbers >= 0 for {ends.size - 1} bins with {parts} parts each, above 0 for some part of each bin",
        f"{ends.size - 1} 区間それぞれ {parts} 個の 0 以上の数（どの区間にも 0 より大きい数があること）",
    )
    if weights.shape != (ends.size - 1, parts) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError("shares", function, requirement, shown(shares))
    if (weights.sum(axis=1) <= 0).any():
        raise ParameterError("shares", function, requirement, Described("a bin without any"))
    return ends, sigma, parts, weights / weights.sum(axis=1, keepdims=True)
