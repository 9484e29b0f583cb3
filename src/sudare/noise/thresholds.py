"""Groups whose keys are not known beforehand: published where a noisy count reaches a threshold.

Which keys there are is protected: a key may be there because of one unit alone. The threshold is so high that such a
key is published with probability delta at most, whatever the unit's rows are.

Proof: ``thresholds.md`` beside this file.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.lattice import MAX_SCALE, MIN_SCALE, discrete_laplace
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, describe_array, exact_fraction, exact_integer, shown
from sudare.privacy.measurements import KeyReleaseMeasurement, LaplaceMeasurement
from sudare.privacy.unit import Adjacency, Unit, sensitivity_of_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PublishedKeys", "measurement_of_rows", "publish_keys", "threshold_for"]

MAX_COUNT = 2**62
MAX_ROWS = 2**31
MIN_DELTA, MAX_DELTA = Fraction(1, 10**60), Fraction(1, 2)
WORKING_DIGITS = 200
SLACK = Decimal(10) ** -150
"""Absolute; every operation at 200 digits errs by far less, also after 2**31 of them."""


class PublishedKeys(NamedTuple):
    """Which groups are published, their noisy counts, and what that cost.

    Attributes:
        positions: of the published groups among those given, ascending.
        counts: their noisy numbers of rows; none is below the threshold.
        measurements: the noise on the counts, and the release of the keys.
    """

    positions: NDArray[np.int64]
    counts: NDArray[np.int64]
    measurements: tuple[LaplaceMeasurement, KeyReleaseMeasurement]


def threshold_for(rows: int, scale: Rational, delta: Rational, *, rows_per_group: int | None = None) -> int:
    """The smallest threshold at which one unit alone brings a key to light with probability delta at most.

    Args:
        rows: how many rows one unit may have.
        scale: of the discrete Laplace noise on the number of rows of each group.
        delta: from 1e-60 to 1/2.
        rows_per_group: how many of a unit's rows may be in one group; all of them if left out.

    Raises:
        ParameterError: if an argument is out of range.

    Example:
        >>> from sudare.noise.thresholds import threshold_for
        >>> threshold_for(1, 1, 1e-6), threshold_for(3, 3, 1e-6), threshold_for(3, 3, 1e-6, rows_per_group=1)
        (15, 45, 45)
    """
    most = _read_rows(rows, "rows", "threshold_for")
    each = most if rows_per_group is None else _read_rows(rows_per_group, "rows_per_group", "threshold_for")
    requirement = "a number from 0.001 to 10**12"
    width = exact_fraction(scale, "scale", "threshold_for", requirement)
    if not MIN_SCALE <= width <= MAX_SCALE:
        raise ParameterError("scale", "threshold_for", requirement, scale)
    return _threshold(most, min(each, most), width, _read_delta(delta, "threshold_for"))


def chance_of_a_key(rows: int, rows_per_group: int, scale: Fraction, threshold: int) -> Fraction:
    """The most that the probability can be, from above, with which one unit alone brings a key to light.

    The rows are all in as few groups as they can be, or each in a group of its own (``thresholds.md``).

    Args:
        rows: how many rows one unit may have.
        rows_per_group: how many of them may be in one group; at most ``rows``.
        scale: of the noise.
        threshold: a whole number above ``rows_per_group``.
    """
    with localcontext(Context(prec=WORKING_DIGITS)):
        slope = Decimal(scale.denominator) / Decimal(scale.numerator)
        whole = 1 + (-slope).exp()
        alone = 1 - (-slope * (threshold - 1)).exp() / whole
        together = 1 - (-slope * (threshold - rows_per_group)).exp() / whole
        hidden = min(alone**rows, together ** (Decimal(rows) / Decimal(rows_per_group)))
        return Fraction(1 - hidden + SLACK)


@lru_cache(maxsize=256)
def _threshold(rows: int, rows_per_group: int, scale: Fraction, delta: Fraction) -> int:
    # At rows_per_group itself a group is published with a probability above 1/2.
    low, step = rows_per_group, 1
    while chance_of_a_key(rows, rows_per_group, scale, low + step) > delta:
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if chance_of_a_key(rows, rows_per_group, scale, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def measurement_of_rows(
    rows: int, epsilon: Rational, adjacency: Adjacency = "add-remove", *, rows_per_group: int | None = None
) -> LaplaceMeasurement:
    """The noise on the numbers of rows in groups, where one unit has this many rows in any of them.

    Example:
        >>> from sudare.noise.thresholds import measurement_of_rows
        >>> measurement_of_rows(3, 1).scale, measurement_of_rows(3, 1, "replace").scale
        (Fraction(3, 1), Fraction(6, 1))
    """
    most = _read_rows(rows, "rows", "measurement_of_rows")
    each = most if rows_per_group is None else _read_rows(rows_per_group, "rows_per_group", "measurement_of_rows")
    requirement = "a positive number"
    exact = exact_fraction(epsilon, "epsilon", "measurement_of_rows", requirement)
    if exact <= 0:
        raise ParameterError("epsilon", "measurement_of_rows", requirement, epsilon)
    unit = Unit(cells=most, rows_per_cell=min(each, most), rows=most, adjacency=adjacency)
    change = sensitivity_of_counts(unit)
    return LaplaceMeasurement(change.l1 / exact, change.l1, change.cells, change.largest)


def publish_keys(
    counts: NDArray[Any],
    rows: int,
    epsilon: Rational,
    delta: Rational,
    *,
    unit: Unit | None = None,
    rows_per_group: int | None = None,
    entropy: EntropySource | None = None,
    threads: int = 1,
) -> PublishedKeys:
    """Publish those of the groups that there are whose noisy number of rows reaches the threshold.

    Guarantee: (epsilon, delta) for the unit. Further numbers about the published groups, each with its own noise and cost,
    compose with it; no number of a group that is not published may be looked at.

    Sensitivity: one unit has at most ``rows`` rows, in any groups; where units are replaced, twice that.

    Proof: ``thresholds.md`` beside this file.

    Args:
        counts: the number of rows of each group that there is, in any order. That order tells of the data: bring the
            published keys into their own.
        rows: how many rows one unit may have.
        epsilon: for the counts.
        delta: for the keys, from 1e-60 to 1/2.
        unit: who is protected; only its adjacency is used. Adding and removing if left out.
        rows_per_group: how many of a unit's rows may be in one group; all of them if left out.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw.

    Raises:
        ParameterError: if an argument is not what it should be, or the noise would be too wide.

    References:
        Korolova, Kenthapadi, Mishra, Ntoulas: Releasing search queries and clicks privately (2009); Wilson et al.:
        Differentially private SQL with bounded user contribution (2020).

    Example:
        >>> import numpy as np
        >>> from sudare.noise.thresholds import publish_keys
        >>> kept = publish_keys(np.array([5000, 1, 7000]), 1, 1, 1e-9)
        >>> kept.positions.tolist(), str(kept.measurements[1].delta)
        ([0, 2], '1/1000000000')
    """
    source = read_entropy(entropy, "publish_keys")
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", "publish_keys", "a Unit", shown(unit))
    chance = _read_delta(delta, "publish_keys")
    noise = measurement_of_rows(rows, epsilon, protected.adjacency, rows_per_group=rows_per_group)
    threshold = threshold_for(rows, noise.scale, chance, rows_per_group=rows_per_group)
    known = _read_counts(counts)
    noisy = discrete_laplace(noise.scale).draw(known.size, source, threads=threads)
    noisy += known
    positions = np.flatnonzero(noisy >= threshold)
    return PublishedKeys(positions, noisy[positions], (noise, KeyReleaseMeasurement(chance)))


def _read_rows(value: object, parameter: str, function: str) -> int:
    return exact_integer(
        value,
        parameter,
        function,
        Words("a whole number from 1 to 2**31", "1 以上 2**31 以下の整数"),
        smallest=1,
        largest=MAX_ROWS,
    )


def _read_delta(value: object, function: str) -> Fraction:
    requirement = "a number from 1e-60 to 1/2"
    delta = exact_fraction(value, "delta", function, requirement)
    if not MIN_DELTA <= delta <= MAX_DELTA:
        raise ParameterError("delta", function, requirement, value)
    return delta


def _read_counts(counts: object) -> NDArray[np.int64]:
    """Numbers of rows; what exceeds 2**62 counts as that, because an error would tell of the data."""
    array = np.asarray(counts)
    is_whole = array.dtype.kind in "iu" or array.size == 0
    if array.dtype == np.object_:
        is_whole = all(type(count) is int for count in array.reshape(-1))
    if isinstance(counts, np.ma.MaskedArray) or array.ndim != 1 or not is_whole:
        raise ParameterError("counts", "publish_keys", "whole numbers in one dimension", describe_array(array))
    if array.dtype == np.int64 and (array.size == 0 or int(array.max()) <= MAX_COUNT):
        return array
    clipped: NDArray[np.int64] = np.clip(array, 0, MAX_COUNT).astype(np.int64)
    return clipped
