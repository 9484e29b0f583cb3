"""Histograms: counts along an ordered axis, published so that ranges, prefixes or single bins are accurate.

Proof: ``histogram.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.parameters import exact_fraction, shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.refine.halvings import NoisyBlocks, estimate_bins
from sudare.refine.prefixes import rising_prefixes, round_bins, round_prefixes
from sudare.tables.arguments import MechanismRequest, Noise, read_noise, read_request
from sudare.tables.histograms.strategy import BlockStrategy, WeightedWorkload, best_strategy
from sudare.tables.measured_names import MeasuredName, name_blocks, name_total
from sudare.tables.mechanism import Mechanism, SettingWords, SizeLimit
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.trees.dense_tree import variance_of
from sudare.tables.trees.descent import measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.histograms.strategy import HistogramWorkload

    Counts = NDArray[np.int64]

__all__ = ["HISTOGRAM", "MAX_BINS", "histogram"]

MAX_BINS = 1 << 24
"""Every bin is measured."""

WORKLOADS = ("ranges", "prefixes", "cells")

LARGE = 4.0
"""Bins with this many standard deviations of the noise are large."""


def histogram(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    workload: WeightedWorkload = "ranges",
    unit: Unit | None = None,
    public_total: bool | int = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a histogram: counts of bins that follow each other, such as incomes, ages or hours.

    Blocks of bins of a few sizes are measured. All measurements are combined into one estimate; departures of neighbouring blocks
    from each other are shrunk as far as they look like noise; then come the nearest prefixes that never fall, as whole numbers.
    A table of several axes is taken as one row of cells, the last axis changing fastest.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit is counted in the blocks of each size as it is in the cells.

    Proof: ``histogram.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        workload: what is to be accurate: ``"ranges"`` between any two bins, ``"prefixes"`` from the first bin on (cumulative
            counts, quantiles), or single ``"cells"``; or weights of several, such as ``{"ranges": 1, "cells": 2}``.
        unit: who is protected; one person in one cell if left out.
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads to use. The result of a research source does not depend on it.
        keep_measurements: whether the noisy measurements are part of the result.

    Returns:
        The refined table, with the event and, on request, the measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or the table has more than 2**24 cells.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        W. Qardaji, W. Yang, N. Li: Understanding hierarchical methods for differentially private histograms. PVLDB 6 (2013).
        M. Stephens: False discovery rates: a new deal. Biostatistics 18 (2017).

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.tables.histograms import histogram
        >>> counts = np.zeros(1000, dtype=np.int64); counts[200:300] = 50
        >>> published, event = histogram(counts, sudare.Budget(epsilon=1))
        >>> bool(abs(published.to_dense()[:250].sum() - 2500) < 250), event.mechanism
        (True, 'histogram')
    """
    request = read_request(
        "histogram",
        table,
        budget,
        unit=unit,
        public_total=public_total,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    kind, wanted = read_noise(noise, "histogram"), _read_workload(workload)
    bins = request.table.domain.cells
    if bins > MAX_BINS:
        requirement = Words(
            "a table of at most 2**24 cells, because every cell is measured",
            "2**24 セル以下の表（全セルを測定するため）",
        )
        raise ParameterError("table", "histogram", requirement, Described(f"one of {bins} cells"))
    strategy = best_strategy(bins, wanted, kind, public_total=request.total_is_public)
    heights, measurements = planned_measurements(strategy, budget, request.unit, kind, conversion)
    event = request.state("histogram", measurements, conversion)
    for measurement in measurements:
        noise_for(measurement)  # refuses what cannot be drawn while nothing is drawn yet

    noisy = _measure(request, heights, measurements)
    blocks = NoisyBlocks(
        bins,
        {height: values.astype(np.float64) for height, values in zip(heights, noisy, strict=True)},
        {height: variance_of(measurement) for height, measurement in zip(heights, measurements, strict=True)},
        request.table.total if request.total_is_public else None,
    )
    counts = _refined(blocks, wanted, request.source)
    keys = np.flatnonzero(counts)
    cells = CountTable.from_unique_cells(request.table.domain, keys.astype(np.uint64), counts[keys])
    kept = _kept(heights, measurements, noisy, sum(strategy.steps)) if request.keeps_measurements else None
    return Published(cells, event, measurements=kept)


def planned_measurements(
    strategy: BlockStrategy, budget: Budget, unit: Unit, noise: Noise, conversion: Conversion
) -> tuple[list[int], list[Measurement]]:
    """The heights of the blocks that a strategy measures, from the top, and the measurement of each."""
    heights, shares = measured_heights(strategy)
    merged, single = sensitivity_of_counts(unit, merged=True), sensitivity_of_counts(unit)
    sensitivities = [merged if height else single for height in heights]
    return heights, measure_levels(budget, shares, sensitivities, noise, conversion)


def measured_heights(strategy: BlockStrategy) -> tuple[list[int], list[float]]:
    """The heights of the blocks that a strategy measures, from the top, and the share of each."""
    depth = sum(strategy.steps)
    heights = [depth, *(depth - sum(strategy.steps[: level + 1]) for level in range(len(strategy.steps)))]
    pairs = [(height, share) for height, share in zip(heights, strategy.shares, strict=True) if share > 0]
    return [height for height, _ in pairs], [share for _, share in pairs]


def _measure(request: MechanismRequest, heights: Sequence[int], measurements: Sequence[Measurement]) -> list[Counts]:
    """The noisy counts of all blocks of each height."""
    samplers = [noise_for(measurement) for measurement in measurements]
    table = request.table
    noisy = []
    for height, sampler in zip(heights, samplers, strict=True):
        values = np.zeros((table.domain.cells - 1 >> height) + 1, dtype=np.int64)
        np.add.at(values, (table.keys >> np.uint64(height)).astype(np.int64), table.counts)
        values += sampler.draw(values.size, request.source, threads=request.threads)
        noisy.append(values)
    return noisy


def _refined(blocks: NoisyBlocks, workload: WeightedWorkload, source: EntropySource) -> Counts:
    """Whole counts >= 0 from the measurements alone."""
    prefixes = rising_prefixes(estimate_bins(blocks), blocks.total)
    if workload == "cells":
        certain = LARGE * blocks.variances[0] ** 0.5
        return round_bins(prefixes, blocks.measured[0], source.words(blocks.bins + 1), certain, blocks.total)
    return round_prefixes(prefixes, source.next_word(), blocks.total)


def _kept(
    heights: Sequence[int], measurements: Sequence[Measurement], noisy: Sequence[Counts], depth: int
) -> tuple[NoisyCounts, ...]:
    kept = []
    for height, measurement, values in zip(heights, measurements, noisy, strict=True):
        keys = np.arange(values.size, dtype=np.uint64) << np.uint64(height)
        kept.append(NoisyCounts(block_name(height, depth).name, measurement, keys, values))
    return tuple(kept)


def block_name(height: int, depth: int) -> MeasuredName:
    """What is measured at a height."""
    return name_total() if height == depth else name_blocks(height)


def _read_workload(workload: object) -> WeightedWorkload:
    requirement = Words(
        "'ranges', 'prefixes' or 'cells', or weights above 0 of several of them",
        "'ranges'、'prefixes'、'cells' のいずれか、またはいくつかの重み（0 より大きい数）",
    )
    if isinstance(workload, str) and workload in WORKLOADS:
        return cast("HistogramWorkload", workload)
    if not isinstance(workload, Mapping) or not workload or not all(part in WORKLOADS for part in workload):
        raise ParameterError("workload", "histogram", requirement, shown(workload))
    weights = {part: exact_fraction(weight, "workload", "histogram", requirement) for part, weight in workload.items()}
    if min(weights.values()) <= 0:
        raise ParameterError("workload", "histogram", requirement, Described("others"))
    read = {cast("HistogramWorkload", part): float(weight) for part, weight in weights.items()}
    return next(iter(read)) if len(read) == 1 else read


def _all_bins(shape: Sequence[int], settings: Mapping[str, Any]) -> int:
    return prod(shape)


HISTOGRAM = Mechanism(
    name="histogram",
    function=histogram,
    words=Words("blocks of bins", "階級のブロック（ヒストグラム）"),
    workloads=WORKLOADS,
    limit=SizeLimit(
        max_cells=MAX_BINS,
        visited=_all_bins,
        words=Words(
            'cannot be "{name}" for {cells:,} cells: it measures every cell, up to 2**24',
            "を「{name}」にできるのは 2**24 セルまでです（指定: {cells:,}）。すべてのセルを測定するためです",
        ),
    ),
    setting_words={
        "workload": SettingWords(
            name=Words("Made accurate", "精度を重視するもの"),
            values={
                "ranges": Words("ranges", "区間の合計"),
                "prefixes": Words("cumulative counts", "累積度数"),
                "cells": Words("single cells", "個々のセル"),
            },
        ),
    },
)
