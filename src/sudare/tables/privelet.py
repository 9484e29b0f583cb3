"""Privelet: noise on the Haar coefficients of a table, and the inverse transform, without refinement from the top.

Proof: ``privelet.md`` beside this file.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.layout import Layout, axis_bits
from sudare.domain.table import LARGEST_TOTAL, CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.tables.descent import measure_levels
from sudare.tables.flat import cut_off_total
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.reading import Noise, read_layout, read_noise, read_request

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["haar_coefficients", "haar_values", "privelet", "sensitivity_of_coefficients"]

MOST_BITS = 28
"""Cells when padded, as a power of two: every one of them has a coefficient."""


def privelet(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    layout: Layout | None = None,
    unit: Unit | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by noise on its Haar coefficients: sums over ranges and boxes of cells come out well.

    Along every axis the counts are replaced by their total and the differences of the halves of all intervals of a power of
    two; all get the same discrete noise, and are turned back. Counts are then rounded and cut off at 0. The error of
    the noisy sum over a box grows with powers of the logarithm of the axes' lengths, not with the number of its cells.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit counted once changes as many coefficients by 1 as there are combinations of levels, the product over
    the axes of 1 + the logarithm to base 2 of the padded length.

    Proof: ``privelet.md`` beside this file.

    Args:
        table: the counts, of at most 2**28 cells when every axis is padded to a power of two.
        budget: what may be spent in all.
        layout: along which leaves the cells are put into one vector; left out, the transform goes along every axis.
        unit: who is protected; one person in one cell if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy coefficients are part of the result; their keys are their places in the
            transformed array.

    Returns:
        The table of rounded counts, with the event and, on request, the measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or the table is too large.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Xiao, Wang, Gehrke: Differential privacy via wavelet transforms (2011).

    Example:
        >>> import numpy as np, sudare
        >>> from sudare import privelet
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
    kind = read_noise(noise, function)
    line = None if layout is None else read_layout(layout, request.table, function)
    depths = _depths(request.table, line)
    if sum(depths) > MOST_BITS:
        requirement = f"a table of at most 2**{MOST_BITS} cells when padded to powers of two"
        got = Described(f"2**{sum(depths)} cells")
        hint = "nn_wavelet and wide_tree take tables of any size."
        raise ParameterError("table", function, requirement, got, hint)
    sensitivity = sensitivity_of_coefficients(request.unit, depths)
    (measurement,) = measure_levels(request.budget, [1], [sensitivity], kind, conversion)
    event = request.state("privelet", [measurement], conversion)
    sampler = noise_for(measurement)
    cells = line.to_tree(request.table.keys) if line else _padded_keys(request.table, depths)

    coefficients = haar_coefficients(cells, request.table.counts, depths)
    coefficients += sampler.draw(coefficients.size, request.source, threads=request.threads)
    values = haar_values(coefficients, depths)
    published = _to_table(request.table, line, depths, values)
    kept = None
    if request.keeps_measurements:
        places = np.arange(coefficients.size, dtype=np.uint64)
        kept = (NoisyCounts("Haar coefficients", measurement, places, coefficients),)
    return Published(published, event, measurements=kept)


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


def haar_coefficients(
    places: NDArray[np.uint64], counts: NDArray[np.int64], depths: tuple[int, ...]
) -> NDArray[np.int64]:
    """The coefficients, as one vector, of a padded array that has these counts at these places."""
    from sudare.kernels.haar import differences_along

    numbers = np.zeros(1 << sum(depths), dtype=np.int64)
    numbers[places.astype(np.int64)] = counts
    for shape in _views(depths):
        differences_along(numbers.reshape(shape))
    return numbers


def haar_values(coefficients: NDArray[np.int64], depths: tuple[int, ...]) -> NDArray[np.float64]:
    """The padded array, as one vector, that has these coefficients."""
    from sudare.kernels.haar import values_along

    numbers = coefficients.astype(np.float64)
    for shape in _views(depths):
        values_along(numbers.reshape(shape))
    return numbers


def _views(depths: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """For each axis, the shape that puts it in the middle."""
    return [(1 << sum(depths[:axis]), 1 << depth, 1 << sum(depths[axis + 1 :])) for axis, depth in enumerate(depths)]


def _depths(table: CountTable, line: Layout | None) -> tuple[int, ...]:
    return (line.depth,) if line else tuple(axis_bits(length) for length in table.domain.shape)


def _padded_keys(table: CountTable, depths: tuple[int, ...]) -> NDArray[np.uint64]:
    keys = np.zeros(table.keys.size, dtype=np.uint64)
    for along, depth in zip(table.domain.places_of(table.keys), depths, strict=True):
        keys = keys << np.uint64(depth) | along.astype(np.uint64)
    return keys


def _to_table(
    table: CountTable, line: Layout | None, depths: tuple[int, ...], values: NDArray[np.float64]
) -> CountTable:
    """Rounded counts of the cells where they are positive; the padding is left out."""
    if line:
        every = line.to_tree(np.arange(table.domain.cells, dtype=np.uint64)).astype(np.int64)
        of_cells = values[every]
    else:
        padded = values.reshape(tuple(1 << depth for depth in depths))
        of_cells = padded[tuple(slice(0, length) for length in table.domain.shape)].ravel()
    keys = np.flatnonzero(of_cells > 0.5)  # what rounds to at least 1, ties to even as below
    counts = np.rint(np.minimum(of_cells[keys], float(LARGEST_TOTAL))).astype(np.int64)
    return CountTable.from_unique_cells(table.domain, keys.astype(np.uint64), cut_off_total(counts))
