"""The flat release: noise on every cell, published as it is, or from a threshold on, or refined to counts.

As it is defined, the release is signed: noise on empty cells is as often negative as positive, and every sum is right on average.
Every cell of the domain is published, so that domains are limited.

Proof: ``flat.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.domain.table import CountTable, SignedTable
from sudare.errors import ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.refine.signed import counts_with_total
from sudare.tables.arguments import (
    MAX_SIGNED_CELLS,
    MechanismRequest,
    Noise,
    Refinement,
    read_refinement,
    read_request,
    too_many_cells,
)
from sudare.tables.mechanism import DividedAxis, Mechanism, NoiseAlone, SettingWords, SizeLimit
from sudare.tables.mechanisms.above_threshold import Thresholding, law_of, smallest_threshold
from sudare.tables.published import NoisyCounts, Published

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EVERY_CELL_PUBLISHED", "GAUSSIAN", "LAPLACE", "gaussian", "is_as_drawn", "laplace"]


def laplace(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    threshold: int | None = None,
    refine: Refinement | None = None,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by discrete Laplace noise on every cell, as it is drawn: signed whole numbers.

    Counts of empty cells are as often negative as positive, so that every sum is right on average. With ``refine="counts"`` the
    table is brought to whole numbers >= 0 that keep the noisy total. With a threshold only noisy counts that reach it are
    published, the others as 0: empty cells then cost time only where they are published, whatever the domain, and totals are
    biased (`Published.threshold` says how far).

    Guarantee: pure epsilon, the budget's, for the unit.

    Sensitivity: that of a count table (`sensitivity_of_counts`).

    Proof: ``flat.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent.
        threshold: the smallest noisy count that is published, a whole number >= 1; left out, all are, negative ones too.
        refine: ``"counts"`` for whole numbers >= 0 with the noisy total; left out, the noisy counts as they are.
        unit: who is protected; one person in one cell if left out.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy counts (with a threshold, of the published cells) are part of the result too.

    Returns:
        A `SignedTable` of all noisy counts; with a threshold or a refinement a `CountTable`. With the event and, on request, the
        measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or the domain is too large to publish every cell.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Cormode, Procopiuc, Srivastava, Tran: Differentially private summaries for sparse data (2012).

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.tables import laplace
        >>> published = laplace(np.zeros((64, 64), dtype=int), sudare.Budget(epsilon=1))
        >>> published.is_signed, bool((published.to_dense() < 0).any())
        (True, True)
        >>> table = sudare.CountTable.from_cells(sudare.Domain.of_shape((2**30, 2**30)), [7, 2**50], [500, 900])
        >>> published = laplace(table, sudare.Budget(epsilon=1), threshold=60)
        >>> published.table.keys.tolist()
        [7, 1125899906842624]
    """
    request = read_request(
        "laplace", table, budget, unit=unit, entropy=entropy, threads=threads, keep_measurements=keep_measurements
    )
    measurement = LaplaceMeasurement.for_budget(request.budget, sensitivity_of_counts(request.unit))
    return _publish("laplace", request, measurement, threshold, refine, "optimal")


def gaussian(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    threshold: int | None = None,
    refine: Refinement | None = None,
    unit: Unit | None = None,
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by discrete Gaussian noise on every cell, as it is drawn: signed whole numbers.

    Counts of empty cells are as often negative as positive, so that every sum is right on average. With ``refine="counts"`` the
    table is brought to whole numbers >= 0 that keep the noisy total. With a threshold only noisy counts that reach it are
    published, the others as 0: empty cells then cost time only where they are published, whatever the domain, and totals are
    biased (`Published.threshold` says how far).

    Guarantee: rho, or (epsilon, delta) by a conversion of rho: the budget's, for the unit.

    Sensitivity: that of a count table (`sensitivity_of_counts`).

    Proof: ``flat.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent.
        threshold: the smallest noisy count that is published, a whole number >= 1; left out, all are, negative ones too.
        refine: ``"counts"`` for whole numbers >= 0 with the noisy total; left out, the noisy counts as they are.
        unit: who is protected; one person in one cell if left out.
        conversion: how (epsilon, delta) is turned into rho.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw. The result of a research source does not depend on it.
        keep_measurements: whether the noisy counts (with a threshold, of the published cells) are part of the result too.

    Returns:
        A `SignedTable` of all noisy counts; with a threshold or a refinement a `CountTable`. With the event and, on request, the
        measurements.

    Raises:
        ParameterError: if an argument is not what it should be, or the domain is too large to publish every cell.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Canonne, Kamath, Steinke (2020) for the noise; Cormode et al. (2012) for the threshold.

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.tables import gaussian
        >>> published = gaussian(np.full((4, 4), 1000), sudare.Budget(rho=0.5), threshold=20)
        >>> published.table.keys.size
        16
    """
    request = read_request(
        "gaussian", table, budget, unit=unit, entropy=entropy, threads=threads, keep_measurements=keep_measurements
    )
    measurement = GaussianMeasurement.for_budget(request.budget, sensitivity_of_counts(request.unit), conversion)
    return _publish("gaussian", request, measurement, threshold, refine, conversion)


def _publish(
    name: str,
    request: MechanismRequest,
    measurement: LaplaceMeasurement | GaussianMeasurement,
    threshold: object,
    refine: object,
    conversion: Conversion,
) -> Published:
    refinement = read_refinement(refine, name)
    cells = request.table.domain.cells
    if threshold is not None:
        if refinement is not None:
            raise ParameterError(
                "refine",
                name,
                Words("left out where there is a threshold", "threshold を指定するときは省略"),
                refinement,
            )
        passing = Thresholding(name, cells, measurement, threshold)
        event = request.state(name, [measurement], conversion)
        published = passing.draw(request)
        kept = (NoisyCounts("cells", measurement, published.keys, published.counts),)
        measured = kept if request.keeps_measurements else None
        return Published(published, event, measurements=measured, threshold=passing.effect)
    if cells > MAX_SIGNED_CELLS:
        raise too_many_cells(name, f"{cells:,} cells", f"threshold={smallest_threshold(law_of(measurement), cells)}")
    noise = noise_for(measurement)
    event = request.state(name, [measurement], conversion)

    noisy: NDArray[np.int64] = noise.draw(cells, request.source, threads=request.threads)
    noisy[request.table.keys] += request.table.counts
    return Published(
        _to_table(request, noisy, refinement), event, measurements=_noisy_cells(request, measurement, noisy)
    )


def _to_table(
    request: MechanismRequest, noisy: NDArray[np.int64], refinement: Refinement | None
) -> CountTable | SignedTable:
    if refinement is None:
        return SignedTable.from_cell_values(request.table.domain, noisy)
    counts = counts_with_total(noisy, int(request.source.words(1)[0]))
    return CountTable.from_cell_values(request.table.domain, counts)


def _noisy_cells(
    request: MechanismRequest, measurement: LaplaceMeasurement | GaussianMeasurement, noisy: NDArray[np.int64]
) -> tuple[NoisyCounts, ...] | None:
    if not request.keeps_measurements:
        return None
    import numpy as np

    return (NoisyCounts("cells", measurement, np.arange(noisy.size, dtype=np.uint64), noisy),)


EVERY_CELL_PUBLISHED = Words(
    'cannot be "{name}" for {cells:,} cells: it publishes every cell with its noise, up to 2**28. Take a method '
    'that publishes cells with people alone ("wide-tree", "nn-wavelet", "negative-l2"), or, for laplace and gaussian, state a '
    "threshold",
    "を「{name}」にできるのは 2**28 セルまでです（指定: {cells:,}）。すべてのセルがノイズ付きで公表されるためです。"
    '人のいるセルだけを公表する方式（"wide-tree", "nn-wavelet", "negative-l2"）を選ぶか、laplace と gaussian では threshold を'
    "指定してください",
)
"""Why a domain may be too large for a mechanism that publishes noise as it is drawn."""


def is_as_drawn(settings: Mapping[str, Any]) -> bool:
    """Whether noisy counts are published as they are, some of them negative: without a threshold, and not refined."""
    return settings.get("threshold") is None and settings.get("refine") is None


def _visited(shape: Sequence[int], settings: Mapping[str, Any]) -> int:
    """Every cell, unless empty ones that do not reach a threshold are skipped."""
    return prod(shape) if settings.get("threshold") is None else 0


def _mean_length(axis: DividedAxis) -> float:
    """A sum of n cells has n times the variance of one."""
    return axis.length / axis.parts


def _measure_laplace(
    shape: Sequence[int], budget: Budget, unit: Unit, noise: Noise, conversion: Conversion
) -> Measurement:
    return LaplaceMeasurement.for_budget(budget, sensitivity_of_counts(unit))


def _measure_gaussian(
    shape: Sequence[int], budget: Budget, unit: Unit, noise: Noise, conversion: Conversion
) -> Measurement:
    return GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit), conversion)


LIMIT = SizeLimit(max_cells=MAX_SIGNED_CELLS, visited=_visited, words=EVERY_CELL_PUBLISHED)
SETTING_WORDS = {
    "threshold": SettingWords(name=Words("Smallest published noisy count", "公表する最小のノイズ付き件数")),
}

LAPLACE = Mechanism(
    name="laplace",
    function=laplace,
    words=Words("Laplace noise on each cell", "セルごとのラプラスノイズ"),
    noises=("laplace",),
    is_flat=True,
    is_signed=is_as_drawn,
    limit=LIMIT,
    setting_words=SETTING_WORDS,
    noise_alone=NoiseAlone(measure=_measure_laplace, factor=_mean_length),
)
GAUSSIAN = Mechanism(
    name="gaussian",
    function=gaussian,
    words=Words("Gaussian noise on each cell", "セルごとのガウスノイズ"),
    noises=("gaussian",),
    is_flat=True,
    is_signed=is_as_drawn,
    limit=LIMIT,
    setting_words=SETTING_WORDS,
    noise_alone=NoiseAlone(measure=_measure_gaussian, factor=_mean_length),
)
