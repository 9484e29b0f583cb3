"""Privelet: noise on the Haar coefficients of a table, and the inverse transform in whole numbers, signed.

Proof: ``privelet.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.layout import Layout, axis_bits, morton_layout
from sudare.domain.table import CountTable, SignedTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.refine.signed import counts_down_a_tree, counts_down_axes
from sudare.tables.arguments import (
    MAX_SIGNED_CELLS,
    Noise,
    Refinement,
    read_layout,
    read_noise,
    read_refinement,
    read_request,
    too_many_cells,
    turn_ends,
)
from sudare.tables.mechanism import DividedAxis, Mechanism, NoiseAlone, SizeLimit
from sudare.tables.mechanisms.flat import EVERY_CELL_PUBLISHED, is_as_drawn
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.trees.descent import measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["PRIVELET", "haar_coefficients", "haar_counts", "privelet", "sensitivity_of_coefficients"]

MAX_RANGES = 4096
"""Of an axis with more ranges, this many are evenly chosen to predict errors."""


def privelet(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    layout: Layout | str | None = None,
    unit: Unit | None = None,
    noise: Noise = "laplace",
    refine: Refinement | None = None,
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by noise on its Haar coefficients: sums over ranges and boxes of cells come out well.

    Along every axis the counts are replaced by their total and the differences of the halves of all intervals of a power of
    two; all get the same discrete noise, and are turned back, in whole numbers. Counts of empty cells are as often negative as
    positive, so that every sum is right on average. The error of the sum over a box grows with powers of the logarithm of the
    axes' lengths, not with the number of its cells. With ``refine="counts"`` the table is brought to whole numbers >= 0 that keep
    the total, and the sums of areas as well as they can, from the top of a tree down.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit counted once changes as many coefficients by 1 as there are combinations of levels, the product over
    the axes of 1 + the logarithm to base 2 of the padded length.

    Proof: ``privelet.md`` beside this file.

    Args:
        table: the counts, of at most 2**28 cells when every axis is padded to a power of two.
        budget: what may be spent in all.
        layout: along which leaves, or by which name, the cells are put into one vector; left out, the transform goes along
            every axis.
        unit: who is protected; one person in one cell if left out.
        noise: which noise to add.
        refine: ``"counts"`` for whole numbers >= 0; left out, the noisy counts as they are.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy coefficients are part of the result; their keys are their places in the
            transformed array.

    Returns:
        A `SignedTable`, or a `CountTable` where it was refined, with the event and, on request, the measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or the table is too large.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Xiao, Wang, Gehrke: Differential privacy via wavelet transforms (2011).

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.tables import privelet
        >>> published, event = privelet(np.full((16, 16), 40), sudare.Budget(epsilon=1))
        >>> event.measurements[0].cells
        25
    """
    function = "privelet"
    request = read_request(
        function,
        table,
        budget,
        unit=unit,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    kind, refinement = read_noise(noise, function), read_refinement(refine, function)
    line = None if layout is None else read_layout(layout, request.table, function)
    depths = _depths(request.table, line)
    if 1 << sum(depths) > MAX_SIGNED_CELLS:
        raise too_many_cells(function, f"2**{sum(depths)} cells when padded to powers of two")
    sensitivity = sensitivity_of_coefficients(request.unit, depths)
    (measurement,) = measure_levels(request.budget, [1], [sensitivity], kind, conversion)
    event = request.state("privelet", [measurement], conversion)
    sampler = noise_for(measurement)
    whole = morton_layout(request.table.domain.shape) if line is None else line
    turned = whole if refinement is None else turn_ends(whole, layout, request)
    cells = _places(request.table.keys, turned, depths, is_line=line is not None)

    coefficients = haar_coefficients(cells, request.table.counts, depths)
    coefficients += sampler.draw(coefficients.size, request.source, threads=request.threads)
    kept = None
    if request.keeps_measurements:
        places = np.arange(coefficients.size, dtype=np.uint64)
        kept = (NoisyCounts("Haar coefficients", measurement, places, coefficients.copy()),)
    haar_counts(coefficients, depths, request.source)
    domain = request.table.domain
    every = np.arange(domain.cells, dtype=np.uint64)
    counts: Integers = coefficients[_places(every, turned, depths, is_line=line is not None).astype(np.int64)]
    if refinement is None:
        return Published(SignedTable.from_cell_values(domain, counts), event, measurements=kept)
    if line is not None:
        refined = counts_down_a_tree(counts, turned, request.source)
    elif turned.arrangement is None:
        refined = counts_down_axes(counts, domain.shape, request.source)
    else:  # in the order of the turned cells, and back
        there = turned.arrangement.arrange(every).astype(np.int64)
        in_order = np.empty_like(counts)
        in_order[there] = counts
        refined = counts_down_axes(in_order, domain.shape, request.source)[there]
    return Published(CountTable.from_cell_values(domain, refined), event, measurements=kept)


def sensitivity_of_coefficients(unit: Unit, depths: tuple[int, ...]) -> Sensitivity:
    """How far the coefficients of neighbouring tables can be apart, for axes of 2**depth places each.

    Under replacement the l1 norm does not quite double, because what a unit adds to the total is what its other self
    takes away. The squared l2 norm doubles and does not quadruple, although coefficients are signed: two cells' columns of
    the transform never point away from each other (``privelet.md``).
    """
    changed = prod(depth + 1 for depth in depths)
    counts = sensitivity_of_counts(unit, merged=True)
    largest = sensitivity_of_counts(unit, merged=True, signed=changed > 1).largest
    l1 = counts.l1 * (changed - 1 if unit.adjacency == "replace" and changed > 1 else changed)
    return Sensitivity(l1, counts.l2_squared * changed, min(counts.cells * changed, l1), largest)


def haar_coefficients(places: NDArray[np.uint64], counts: Integers, depths: tuple[int, ...]) -> Integers:
    """The coefficients, as one vector, of a padded array that has these counts at these places."""
    from sudare.kernels.tables.haar import differences_along

    numbers = np.zeros(1 << sum(depths), dtype=np.int64)
    numbers[places.astype(np.int64)] = counts
    for shape in _views(depths):
        differences_along(numbers.reshape(shape))
    return numbers


def haar_counts(coefficients: Integers, depths: tuple[int, ...], source: EntropySource) -> None:
    """Turn coefficients, one vector, into whole numbers that have them: exactly where that is possible, else on average.

    Along an axis, the halves of a node always add up to it. Where they would end in a half, a fair coin decides which of the two
    is rounded up.
    """
    from sudare.kernels.tables.haar import counts_along

    for shape in _views(depths):
        if shape[1] > 1:
            counts_along(coefficients.reshape(shape), source.words(-(-coefficients.size // WORD_BITS)))


def _views(depths: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """For each axis, the shape that puts it in the middle."""
    return [(1 << sum(depths[:axis]), 1 << depth, 1 << sum(depths[axis + 1 :])) for axis, depth in enumerate(depths)]


def _depths(table: CountTable, line: Layout | None) -> tuple[int, ...]:
    return (line.depth,) if line else tuple(axis_bits(length) for length in table.domain.shape)


def _places(keys: NDArray[np.uint64], layout: Layout, depths: tuple[int, ...], *, is_line: bool) -> NDArray[np.uint64]:
    """Where cells stand in the padded array: along the layout's leaves, or axis by axis, their ends turned as in the layout."""
    if is_line:
        return layout.to_tree(keys)
    rest = keys if layout.arrangement is None else layout.arrangement.arrange(keys)
    places, shift = np.zeros(keys.size, dtype=np.uint64), 0
    for length, depth in zip(reversed(layout.lengths), reversed(depths), strict=True):
        rest, along = np.divmod(rest, np.uint64(length))
        places |= along << np.uint64(shift)
        shift += depth
    return places


def _padded_cells(shape: Sequence[int], settings: Mapping[str, Any]) -> int:
    return prod(1 << axis_bits(length) for length in shape)


def _measure(shape: Sequence[int], budget: Budget, unit: Unit, noise: Noise, conversion: Conversion) -> Measurement:
    depths = tuple(axis_bits(length) for length in shape)
    (measurement,) = measure_levels(budget, [1], [sensitivity_of_coefficients(unit, depths)], noise, conversion)
    return measurement


def _noise_of_ranges(axis: DividedAxis) -> float:
    """How much noise ranges along an axis take in, on average; see ``privelet.md``.

    For each range it is the sum of the squared weights with which coefficients enter the range's sum. The total enters with
    (cells) / 2^H; the node of height h with (cells in its left half - in its right half) / 2^h.
    """
    first, end = axis.ranges(MAX_RANGES)
    bits = axis_bits(axis.length)
    squares = ((end - first) / 2.0**bits) ** 2
    for height in range(1, bits + 1):
        lower, upper = first >> height, (end - 1) >> height
        squares += (_unbalanced(lower, height, first, end) / 2.0**height) ** 2
        squares += np.where(upper > lower, (_unbalanced(upper, height, first, end) / 2.0**height) ** 2, 0.0)
    return float(np.asarray(squares).mean())


def _unbalanced(node: Integers, height: int, first: Integers, end: Integers) -> Integers:
    """How many more of a range's places lie in the left half of a node than in its right half."""
    start, half = node << height, 1 << (height - 1)

    def overlap(low: Integers, high: Integers) -> Integers:
        return np.asarray(np.maximum(np.minimum(end, high) - np.maximum(first, low), 0))

    return overlap(start, start + half) - overlap(start + half, start + 2 * half)


PRIVELET = Mechanism(
    name="privelet",
    function=privelet,
    words=Words("Privelet wavelet", "Privelet ウェーブレット"),
    is_signed=is_as_drawn,
    limit=SizeLimit(max_cells=MAX_SIGNED_CELLS, visited=_padded_cells, words=EVERY_CELL_PUBLISHED),
    noise_alone=NoiseAlone(measure=_measure, factor=_noise_of_ranges),
)
