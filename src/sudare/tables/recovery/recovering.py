"""From noisy counts of all cells and a total to a table of whole numbers >= 0: what the four mechanisms share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.domain.table import MAX_TOTAL, CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, Measurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.tables.arguments import MechanismRequest, Noise
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.recovery.descending import Descending, exact_sum
from sudare.tables.recovery.moments import NoiseMoments, law_of
from sudare.tables.recovery.revealing import MAX_EXPECTED, MAX_VISITED, NoisyCells
from sudare.tables.recovery.weights import choice_on_reference, least_error_weight
from sudare.tables.recovery.whole import spread_evenly, whole_numbers_above
from sudare.tables.trees.descent import measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["USUAL_TOTAL_SHARE", "Recovery", "measurements_for", "publish_recovered"]

USUAL_TOTAL_SHARE = Fraction(1, 20)
"""Of the budget, for the total where it is not public: the noise on the cells grows by a nineteenth."""

MAX_SUMMED_SIGMA = 1 << 14
MAX_VISITED_WIDE = 1 << 24
"""Gaussian noise wider than this cannot be revealed from the top; then every cell gets its noise, in tables up to here."""


@dataclass(frozen=True)
class Recovery:
    """Which of the recoveries, and its free number.

    Attributes:
        name: of the mechanism.
        family: whether the divisor is fixed, and the level follows from the total, or the other way round.
        weight: of the penalty; None where it is chosen by sparsity or on the reference.
        share: of non-empty cells, where it is public knowledge.
        reference: a public table on which the weight is chosen.
    """

    name: str
    family: Literal["divisor", "level"]
    weight: Fraction | None
    share: Fraction | None = None
    reference: CountTable | None = None

    @property
    def function(self) -> str:
        """The name as Python has it."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class _Settled:
    """Published is max(noisy - level, 0) / divisor."""

    level: Fraction
    divisor: Fraction


def publish_recovered(
    recovery: Recovery, request: MechanismRequest, noise: Noise, conversion: Conversion, total_share: Fraction
) -> Published:
    """Draw noise for the total, unless it is public, and for every cell; then recover."""
    measurements, max_visited = measurements_for(recovery, request, noise, conversion, total_share)
    cells = measurements[-1]
    samplers = [noise_for(measurement) for measurement in measurements]
    event = request.state(recovery.name, measurements, conversion)
    if recovery.weight is None and recovery.reference is not None:
        recovery = _by_reference(recovery, recovery.reference, request, cells, max_visited)
        _require_few(recovery, request, cells)

    kept: list[NoisyCounts] = []
    total = request.table.total
    if not request.total_is_public:
        noisy = total + samplers[0].draw(None, request.source)
        total = min(max(noisy, 0), MAX_TOTAL)
        kept.append(_noted("total", measurements[0], np.zeros(1, dtype=np.uint64), np.array([noisy])))
    drawn = NoisyCells.draw(request.table, cells, request.source, request.threads, max_visited=max_visited)
    settled, keys, values = _settle(recovery, drawn, total)
    kept.append(_noted("cells", cells, keys, values))
    published = _publish_above(request.table, settled, keys, values, total, request)
    return Published(
        published,
        event,
        measurements=tuple(kept) if request.keeps_measurements else None,
        settled=_described(recovery, settled),
    )


def measurements_for(
    recovery: Recovery, request: MechanismRequest, noise: Noise, conversion: Conversion, total_share: Fraction
) -> tuple[list[Measurement], int]:
    """What will be measured, and up to how many cells each gets its noise at once. Nothing is drawn or looked at.

    Raises:
        ParameterError: if too many cells would be visited or kept.
        GuaranteeError: if the noise cannot give the guarantee.
    """
    of_cells = sensitivity_of_counts(request.unit)
    if request.total_is_public:
        shares, sensitivities = [Fraction(1)], [of_cells]
    else:
        shares = [total_share, 1 - total_share]
        sensitivities = [sensitivity_of_total(request.unit), of_cells]
    measurements = measure_levels(request.budget, shares, sensitivities, noise, conversion)
    return measurements, _max_visited(recovery, request, measurements[-1])


def sensitivity_of_total(unit: Unit) -> Sensitivity:
    """How far the total moves: by the rows of a unit, whether it is added, removed, or replaced by one with other rows."""
    return Sensitivity(unit.rows, unit.rows**2, cells=1, largest=unit.rows)


def _noted(name: str, measurement: Measurement, keys: Keys, values: Counts) -> NoisyCounts:
    return NoisyCounts(name, measurement, keys, values)


def _settle(recovery: Recovery, drawn: NoisyCells, total: int) -> tuple[_Settled, Keys, Counts]:
    """Level and divisor, and the noisy counts above the level: a function of the total and all noisy counts."""
    if not total:
        nobody = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
        return _Settled(Fraction(MAX_TOTAL), Fraction(1)), *nobody
    if recovery.family == "level" and recovery.weight is not None:
        level = recovery.weight / 2
        drawn = drawn.lowered(floor(level) + 1)
        keys, values = _above(drawn, level)
        left = exact_sum(values) - level * values.size
        return _Settled(level, left / total if left > 0 else Fraction(1)), keys, values
    weight = recovery.weight
    drawn = drawn.revealed_for(float(total if weight is None else (1 - weight) * total))
    known = Descending.of(drawn.values if drawn.level is None else drawn.above(drawn.level - 1)[1])
    if not known.values.size:
        return _Settled(Fraction(0), Fraction(1)), *drawn.above(MAX_TOTAL)
    if weight is None:
        share = None if recovery.share is None else float(recovery.share)
        weight = Fraction(least_error_weight(known, NoiseMoments(drawn.law), drawn.cells, total, share))
    level = known.exact_level_for((1 - weight) * total)
    keys, values = _above(drawn, level)
    return _Settled(level, 1 - weight), keys, values


def _above(drawn: NoisyCells, level: Fraction) -> tuple[Keys, Counts]:
    lowest = floor(level) if drawn.level is None else max(floor(level), drawn.level - 1)
    return drawn.above(lowest)


def _publish_above(
    table: CountTable, settled: _Settled, keys: Keys, values: Counts, total: int, request: MechanismRequest
) -> CountTable:
    if not total:
        return CountTable.from_cells(table.domain, [], [])
    if not keys.size:
        return CountTable(table.domain, *spread_evenly(table.domain.cells, total, request.source))
    counts = whole_numbers_above(values, settled.level, settled.divisor, total, request.source)
    return CountTable(table.domain, keys[counts > 0], counts[counts > 0])


def _by_reference(
    recovery: Recovery, reference: CountTable, request: MechanismRequest, cells: Measurement, max_visited: int
) -> Recovery:
    """With the weight that does best on the reference, which is public."""
    choice = choice_on_reference(reference, cells, request.source, request.threads, max_visited=max_visited)
    weight = choice.weight if recovery.family == "divisor" else 2 * max(choice.level, 0.0)
    return Recovery(recovery.name, recovery.family, Fraction(weight).limit_denominator(10**9))


def _described(recovery: Recovery, settled: _Settled) -> dict[str, float]:
    """What was decided on the way, from the noisy counts, the reference and public facts."""
    described = {"level": float(settled.level), "divisor": float(settled.divisor)}
    if recovery.name in ("negative-l2", "lasso"):
        weight = 1 - settled.divisor if recovery.name == "negative-l2" else 2 * settled.level
        described["weight"] = float(weight)
    return described


def _max_visited(recovery: Recovery, request: MechanismRequest, measurement: Measurement) -> int:
    """Up to how many cells each gets its noise. It depends on nothing but domain, noise and weight.

    Raises:
        ParameterError: if too many cells would be visited or kept.
    """
    cells = request.table.domain.cells
    is_wide = isinstance(measurement, GaussianMeasurement) and measurement.sigma_squared > MAX_SUMMED_SIGMA**2
    if is_wide and cells > MAX_VISITED_WIDE:
        requirement = f"enough for a sigma of at most {MAX_SUMMED_SIGMA} in a table of more than 2**24 cells"
        raise ParameterError("budget", recovery.function, requirement, Described("a smaller one"))
    _require_few(recovery, request, measurement)
    return MAX_VISITED_WIDE if is_wide else MAX_VISITED


def _require_few(recovery: Recovery, request: MechanismRequest, measurement: Measurement) -> None:
    """Refuse a given level that very many empty cells are expected to exceed."""
    if recovery.family != "level" or recovery.weight is None:
        return
    noise, cells = NoiseMoments(law_of(measurement)), request.table.domain.cells
    if cells * noise.tail(float(recovery.weight) / 2) <= MAX_EXPECTED:
        return
    if recovery.name == "lm":
        most = f"a table of at most {floor(MAX_EXPECTED / noise.tail(0.0)):,} cells with this noise"
        reason = "LM publishes every cell whose noise is positive. simplex and negative_l2 take tables of any size."
        raise ParameterError("table", recovery.function, most, Described(f"{cells:,} cells"), reason)
    low, high = float(recovery.weight) / 2, 2.0**61
    while high - low > max(1e-9 * high, 0.5):
        middle = (low + high) / 2
        low, high = (middle, high) if cells * noise.tail(middle) > MAX_EXPECTED else (low, middle)
    requirement = (
        f"at least {2 * high:.0f} for {cells:,} cells and this noise, so that at most 2**24 empty cells are published"
    )
    raise ParameterError("weight", recovery.function, requirement, Described("a smaller one"))
