"""The flat release: noise on every cell, and the cells published whose noisy count reaches a threshold.

Empty cells are not visited: which of them reach the threshold is found by skipping, and the value of one that does is
drawn from the tail of the noise. The result has the distribution of noise on every cell, at a cost that goes by what is
published.

Proof: ``flat.md`` beside this file.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.table import LARGEST_TOTAL, CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import LatticeLaw
from sudare.noise.lattice import lattice_tail
from sudare.noise.sampler import Sampler
from sudare.noise.skipping import Skipping, approximate_tail, tail_probability
from sudare.parameters import exact_integer
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.reading import Request, read_request

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["cut_off_total", "gaussian", "laplace"]

MOST_EXPECTED = 1 << 28
"""Empty cells that may be expected to be published."""

OFTEN = 0.25
"""Where more of the empty cells than this pass, each gets its noise: skipping would save nothing."""

WIDEST_SUMMED = 1 << 14
"""Gaussian noise is summed up, for the probability of a tail, up to this sigma."""

MOST_VISITED = 1 << 30
"""Cells that may be visited one by one where the noise is too wide for that."""

CELLS_AT_ONCE = 1 << 22


def laplace(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    threshold: int = 1,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by discrete Laplace noise on every cell, and the cells that reach a threshold.

    With the threshold 1 these are all noisy counts, cut off at 0. A higher threshold publishes fewer of the empty cells of a
    large domain, and hides more of the small counts. Empty cells cost time only where they are published.

    Guarantee: pure epsilon, the budget's, for the unit.

    Sensitivity: that of a count table (`sensitivity_of_counts`).

    Proof: ``flat.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent.
        threshold: the smallest noisy count that is published, a whole number >= 1.
        unit: who is protected; one person in one cell if left out.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy counts, of the published cells, are part of the result as measurements too.

    Returns:
        The noisy counts that reach the threshold, with the event and, on request, the measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or too many empty cells would be published.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Cormode, Procopiuc, Srivastava, Tran: Differentially private summaries for sparse data (2012).

    Example:
        >>> import numpy as np, sudare
        >>> from sudare import laplace
        >>> table = sudare.CountTable.from_cells(sudare.Domain.of_shape((2**30, 2**30)), [7, 2**50], [500, 900])
        >>> published = laplace(table, sudare.Budget(epsilon=1), threshold=60)
        >>> published.table.keys.tolist()
        [7, 1125899906842624]
    """
    request = read_request(
        "laplace", table, budget, unit=unit, entropy=entropy, threads=threads, keep_measurements=keep_measurements
    )
    measurement = LaplaceMeasurement.for_budget(request.budget, sensitivity_of_counts(request.unit))
    law = LatticeLaw(1 / measurement.scale, Fraction(0), two_sided=True)
    return _publish("laplace", request, measurement, law, threshold, "optimal")


def gaussian(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    threshold: int = 1,
    unit: Unit | None = None,
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by discrete Gaussian noise on every cell, and the cells that reach a threshold.

    With the threshold 1 these are all noisy counts, cut off at 0. A higher threshold publishes fewer of the empty cells of a
    large domain, and hides more of the small counts. Empty cells cost time only where they are published.

    Guarantee: rho, or (epsilon, delta) by a conversion of rho: the budget's, for the unit.

    Sensitivity: that of a count table (`sensitivity_of_counts`).

    Proof: ``flat.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent.
        threshold: the smallest noisy count that is published, a whole number >= 1.
        unit: who is protected; one person in one cell if left out.
        conversion: how (epsilon, delta) is turned into rho.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy counts, of the published cells, are part of the result as measurements too.

    Returns:
        The noisy counts that reach the threshold, with the event and, on request, the measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or too many empty cells would be published.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Canonne, Kamath, Steinke (2020) for the noise; Cormode et al. (2012) for the threshold.

    Example:
        >>> import numpy as np, sudare
        >>> from sudare import gaussian
        >>> published = gaussian(np.full((4, 4), 1000), sudare.Budget(rho=0.5), threshold=20)
        >>> published.table.keys.size
        16
    """
    request = read_request(
        "gaussian", table, budget, unit=unit, entropy=entropy, threads=threads, keep_measurements=keep_measurements
    )
    measurement = GaussianMeasurement.for_budget(request.budget, sensitivity_of_counts(request.unit), conversion)
    law = LatticeLaw(Fraction(0), 1 / (2 * measurement.sigma_squared), two_sided=True)
    return _publish("gaussian", request, measurement, law, threshold, conversion)


def _publish(
    name: str,
    request: Request,
    measurement: LaplaceMeasurement | GaussianMeasurement,
    law: LatticeLaw,
    threshold: object,
    conversion: Conversion,
) -> Published:
    requirement = "a whole number from 1 to 2**62"
    least = exact_integer(threshold, "threshold", name, requirement, smallest=1, largest=LARGEST_TOTAL)
    noise, table = noise_for(measurement), request.table
    passing = _plan_empty_cells(name, table.domain.cells, law, least)
    over = lattice_tail(law, least)
    event = request.state(name, [measurement], conversion)

    noisy = noise.draw(table.keys.size, request.source, threads=request.threads)
    noisy += table.counts
    is_published = noisy >= least
    empty = table.domain.cells - table.keys.size
    if passing is None:
        ranks, values = _visit(noise, empty, least, request)
    else:
        ranks = passing.draw(empty, request.source, threads=request.threads)
        values = over.draw(ranks.size, request.source, threads=request.threads)
        values += least
    keys, counts = _merge(
        table.keys[is_published], noisy[is_published], _keys_of_empty_cells(table.keys, ranks), values
    )
    published = CountTable(table.domain, keys, cut_off_total(counts))
    kept = (NoisyCounts("cells", measurement, published.keys, published.counts),)
    return Published(published, event, measurements=kept if request.keeps_measurements else None)


def _plan_empty_cells(name: str, cells: int, law: LatticeLaw, threshold: int) -> Skipping | None:
    """How to find the empty cells that pass: by skipping, or (None) by noise on each. It depends on nothing but the domain.

    Raises:
        ParameterError: if too many would be published, or the noise is too wide to skip and the domain too large to visit.
    """
    share = approximate_tail(law, threshold)
    if share * cells > MOST_EXPECTED:
        enough = _smallest_threshold(law, cells)
        requirement = (
            f"at least {enough} for {cells} cells and this noise, so that at most 2**28 empty cells are published"
        )
        raise ParameterError("threshold", name, requirement, threshold)
    is_narrow = law.quadratic == 0 or law.quadratic * 2 * WIDEST_SUMMED**2 >= 1
    if share > OFTEN or (not is_narrow and cells <= MOST_VISITED):
        return None
    if not is_narrow:
        requirement = f"enough for a sigma of at most {WIDEST_SUMMED} in a table of more than {MOST_VISITED} cells"
        raise ParameterError("budget", name, requirement, Described("a smaller one"))
    return _skipping(law, threshold)


@lru_cache(maxsize=16)
def _skipping(law: LatticeLaw, threshold: int) -> Skipping:
    return Skipping(partial(tail_probability, law, threshold), approximate_tail(law, threshold))


def _smallest_threshold(law: LatticeLaw, cells: int) -> int:
    """The smallest threshold with which no more than the most empty cells are expected to be published."""
    low, high = 1, 2
    while approximate_tail(law, high) * cells > MOST_EXPECTED:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if approximate_tail(law, middle) * cells > MOST_EXPECTED:
            low = middle
        else:
            high = middle
    return high


def _visit(noise: Sampler, empty: int, threshold: int, request: Request) -> tuple[Keys, Counts]:
    """Noise for every empty cell, and those that reach the threshold."""
    ranks, values = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
    for first in range(0, empty, CELLS_AT_ONCE):
        drawn = noise.draw(min(CELLS_AT_ONCE, empty - first), request.source, threads=request.threads)
        passing = np.flatnonzero(drawn >= threshold)
        ranks.append(passing.astype(np.uint64) + np.uint64(first))
        values.append(drawn[passing])
    return np.concatenate(ranks), np.concatenate(values)


def _keys_of_empty_cells(inhabited: Keys, ranks: Keys) -> Keys:
    """Keys of the empty cells with these ranks: before the i-th inhabited key there are as many empty cells as it exceeds i."""
    empty_before = inhabited - np.arange(inhabited.size, dtype=np.uint64)
    return ranks + np.searchsorted(empty_before, ranks, side="right").astype(np.uint64)


def _merge(keys: Keys, counts: Counts, other_keys: Keys, other_counts: Counts) -> tuple[Keys, Counts]:
    """Two tables without common cells as one, in the order of the keys."""
    places = np.searchsorted(other_keys, keys) + np.arange(keys.size)
    is_other = np.ones(keys.size + other_keys.size, dtype=np.bool_)
    is_other[places] = False
    all_keys, all_counts = np.empty(is_other.size, dtype=np.uint64), np.empty(is_other.size, dtype=np.int64)
    all_keys[places], all_counts[places] = keys, counts
    all_keys[is_other], all_counts[is_other] = other_keys, other_counts
    return all_keys, all_counts


def cut_off_total(counts: Counts) -> Counts:
    """The counts themselves, or where they add up to more than 2**62, cut off at the level at which they do not.

    Only noise far wider than any population gets there. It is not an error, because an error would tell of what was drawn.
    """
    if counts.sum(dtype=np.float64) < 0.99 * LARGEST_TOTAL:
        return counts
    low, high = 0, LARGEST_TOTAL + 1
    while high - low > 1:
        middle = (low + high) // 2
        cut = np.minimum(counts, middle)
        if (int((cut >> 32).sum()) << 32) + int((cut & (2**32 - 1)).sum()) <= LARGEST_TOTAL:
            low = middle
        else:
            high = middle
    return np.minimum(counts, low)
