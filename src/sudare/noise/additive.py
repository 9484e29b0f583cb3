"""Counts plus noise: the plain mechanism, which draws the noise and states its cost in one step.

Proof: ``privacy/measurements.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.lattice import discrete_gaussian, discrete_laplace
from sudare.noise.sampler import Sampler, read_entropy
from sudare.parameters import describe_array, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["add_noise", "noise_for"]

MAX_COUNT = 2**62


def add_noise(
    counts: ArrayLike,
    budget: Budget,
    *,
    unit: Unit | None = None,
    noise: Literal["laplace", "gaussian"] = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
) -> tuple[NDArray[np.int64], ReleaseEvent]:
    """Add independent discrete noise to every count of a table.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon; Gaussian noise gives rho, or (epsilon, delta) by a
    conversion of rho.

    Sensitivity: that of a count table (`sensitivity_of_counts`).

    Proof: ``privacy/measurements.md``.

    Args:
        counts: whole numbers of any shape. Every cell of the table must be there, the empty ones too: which cells exist is
            not protected.
        budget: what may be spent.
        unit: who is protected; one person in one cell if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw.

    Returns:
        The noisy counts, which may be negative, and the event with the cost.

    Raises:
        ParameterError: if the counts are not whole numbers, or an argument is unknown.
        GuaranteeError: if the noise cannot give the guarantee, such as Gaussian noise without a delta.

    References:
        Ghosh, Roughgarden, Sundararajan (2009); Canonne, Kamath, Steinke (2020).

    Example:
        >>> import sudare
        >>> published, event = sudare.add_noise([[0, 12], [340, 3]], sudare.Budget(epsilon=1, delta=1e-6), noise="gaussian")
        >>> published.shape, str(event.cost)
        ((2, 2), 'epsilon = 1, delta = 0.000001')
    """
    source = read_entropy(entropy, "add_noise")
    protected = Unit() if unit is None else unit
    sensitivity = sensitivity_of_counts(protected)
    read_budget(budget, "add_noise")
    measurement: Measurement
    if not isinstance(noise, str) or noise not in ("laplace", "gaussian"):
        raise ParameterError(
            "noise", "add_noise", Words("'laplace' or 'gaussian'", "'laplace' または 'gaussian'"), shown(noise)
        )
    if noise == "laplace":
        measurement = LaplaceMeasurement.for_budget(budget, sensitivity)
    else:
        measurement = GaussianMeasurement.for_budget(budget, sensitivity, conversion)
    table = _read_table(counts)
    event = ReleaseEvent(noise, protected, budget, (measurement,), entropy_name(source), conversion=conversion)
    noisy = noise_for(measurement).draw(table.shape, source, threads=threads)
    noisy += table
    return noisy, event


def noise_for(measurement: Measurement) -> Sampler:
    """The sampler of the noise that a measurement states.

    Args:
        measurement: that states the noise.

    Example:
        >>> import sudare
        >>> sensitivity = sudare.privacy.sensitivity_of_counts(sudare.Unit())
        >>> sudare.noise.noise_for(sudare.privacy.GaussianMeasurement.for_budget(sudare.Budget(rho=0.5), sensitivity))
        discrete_gaussian(sigma_squared=1)
    """
    if isinstance(measurement, LaplaceMeasurement):
        return discrete_laplace(measurement.scale)
    if isinstance(measurement, GaussianMeasurement):
        return discrete_gaussian(sigma_squared=measurement.sigma_squared)
    if isinstance(measurement, Measurement):
        raise GuaranteeError(
            Words(
                f"A {measurement.kind} measurement adds no noise to counts.",
                f"{measurement.kind} の測定は度数にノイズを加えません。",
            )
        )
    raise ParameterError(
        "measurement", "noise_for", "a LaplaceMeasurement or a GaussianMeasurement", shown(measurement)
    )


def _read_table(counts: ArrayLike) -> NDArray[np.int64]:
    table = np.asarray(counts)
    requirement = "whole numbers between -2**62 and 2**62"
    if isinstance(counts, np.ma.MaskedArray) or (table.size and table.dtype.kind not in "iu"):
        raise ParameterError(
            "counts",
            "add_noise",
            requirement,
            describe_array(counts if isinstance(counts, np.ma.MaskedArray) else table),
        )
    if table.size and not (int(table.min()) >= -MAX_COUNT and int(table.max()) <= MAX_COUNT):
        raise ParameterError("counts", "add_noise", requirement, describe_array(table))
    return table.astype(np.int64)
