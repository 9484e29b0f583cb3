"""How many cells of a table are not empty, with noise.

The share of non-empty cells tells how sparse a refined table should be (`sudare.refine.weight_by_sparsity`).

Proof: ``occupied.md`` beside this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.errors import ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.parameters import shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["estimate_non_zeros"]


def estimate_non_zeros(
    counts: CountTable | NDArray[np.int64],
    budget: Budget,
    *,
    unit: Unit | None = None,
    noise: Literal["laplace", "gaussian"] = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
) -> tuple[int, ReleaseEvent]:
    """Estimate how many cells of a table are not empty.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon; Gaussian noise gives rho, or (epsilon, delta) by a
    conversion of rho.

    Sensitivity: one unit can change the number by at most as many cells as it may be in, whether it is added, removed or
    replaced. It is charged like an area in which all rows of a unit meet, which is never less.

    Proof: ``occupied.md``.

    Args:
        counts: a table of counts, or an array of whole numbers >= 0 with every cell of the table.
        budget: what may be spent.
        unit: who is protected; one person in one cell if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The estimate, a whole number from 0 to the number of cells, and the event with the cost.

    Raises:
        ParameterError: if the counts are not whole numbers >= 0, or an argument is unknown.
        GuaranteeError: if the noise cannot give the guarantee, such as Gaussian noise without a delta.

    References:
        Ghosh, Roughgarden, Sundararajan (2009); Canonne, Kamath, Steinke (2020).

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.noise.occupied import estimate_non_zeros
        >>> estimate, event = estimate_non_zeros(np.arange(1000) % 10, sudare.Budget(epsilon=1))
        >>> 800 < estimate < 1000, str(event.cost)
        (True, 'epsilon = 1')
    """
    function = "estimate_non_zeros"
    source = read_entropy(entropy, function)
    protected = Unit() if unit is None else unit
    # All that a unit does to this number meets in one place: a plain l2 sensitivity of counts would be too small.
    sensitivity = sensitivity_of_counts(protected, merged=True)
    read_budget(budget, function)
    if not isinstance(noise, str) or noise not in ("laplace", "gaussian"):
        raise ParameterError(
            "noise", function, Words("'laplace' or 'gaussian'", "'laplace' または 'gaussian'"), shown(noise)
        )
    measurement: Measurement
    if noise == "laplace":
        measurement = LaplaceMeasurement.for_budget(budget, sensitivity)
    else:
        measurement = GaussianMeasurement.for_budget(budget, sensitivity, conversion)
    table = _read_table(counts, function)
    event = ReleaseEvent("non-zeros", protected, budget, (measurement,), entropy_name(source), conversion=conversion)
    noisy = table.keys.size + noise_for(measurement).draw(None, source)
    return min(max(noisy, 0), table.domain.cells), event


def _read_table(counts: object, function: str) -> CountTable:
    if isinstance(counts, CountTable):
        return counts
    if isinstance(counts, np.ndarray):
        try:
            return CountTable.from_dense(counts)
        except ParameterError as error:
            raise ParameterError("counts", function, error.requirement, error.got) from None
    raise ParameterError("counts", function, "a CountTable or an array of whole numbers >= 0", shown(counts))
