"""Marginals: exact counts of the people, and the same with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.privacy.measurements import GaussianMeasurement, Measurement
from sudare.privacy.unit import Sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Clique = tuple[int, ...]

__all__ = ["Evidence", "MeasuredMarginal", "MeasuredPeople", "cells_of"]

MAX_KEPT_CELLS = 1 << 26
"""Of exact counts that are kept for the next round: half a gigabyte."""


@dataclass(frozen=True, eq=False)
class MeasuredMarginal:
    """What was measured: counts of all combinations of some columns' values, with noise.

    Attributes:
        columns: the names of the columns.
        counts: one for each combination, in the order of the columns' values; may be negative.
        sigma_squared: of the discrete Gaussian noise of each.
        places: for each column, where along its axis each of its values is counted; rare values may share a place.
    """

    columns: tuple[str, ...]
    counts: NDArray[np.int64]
    sigma_squared: Fraction
    places: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, eq=False)
class Evidence:
    """A marginal as a model is fitted to it: estimates with a variance each.

    Attributes:
        clique: the columns, by number, ascending.
        values: an axis for each column.
        variances: of the noise, of the same shape.
    """

    clique: Clique
    values: NDArray[np.float64]
    variances: NDArray[np.float64]


class MeasuredPeople:
    """The protected rows as places of public values; whatever is counted here is exact and must not leave without noise.

    Args:
        places: of each column, the place of each row's value.
        sizes: how many values each column has.
        numbers: how many people each row stands for; one if left out.
    """

    def __init__(
        self,
        places: Sequence[NDArray[np.int64]],
        sizes: Sequence[int],
        numbers: NDArray[np.int64] | None = None,
    ) -> None:
        self._places = list(places)
        self._numbers = numbers
        self.sizes = tuple(sizes)
        self._counted: dict[Clique, NDArray[np.int64]] = {}
        self._kept_cells = 0

    def counts(self, clique: Clique) -> NDArray[np.int64]:
        """Exact counts of all combinations, an axis for each column; counted once, as long as there is room."""
        if clique in self._counted:
            return self._counted[clique]
        shape = tuple(self.sizes[column] for column in clique)
        keys = np.zeros(self._places[0].size, dtype=np.int64)
        for column in clique:
            keys = keys * self.sizes[column] + self._places[column]
        counts = self._counted_by(keys, prod(shape)).reshape(shape)
        counts.flags.writeable = False
        if self._kept_cells + counts.size <= MAX_KEPT_CELLS:
            self._counted[clique] = counts
            self._kept_cells += counts.size
        return counts

    def _counted_by(self, keys: NDArray[np.int64], cells: int) -> NDArray[np.int64]:
        if self._numbers is None:
            return np.bincount(keys, minlength=cells).astype(np.int64)
        counts = np.zeros(cells, dtype=np.int64)
        np.add.at(counts, keys, self._numbers)  # whole numbers: bincount would add doubles
        return counts

    def merged(self, mappings: Sequence[NDArray[np.int64]]) -> MeasuredPeople:
        """The same rows with some values taken together: ``mappings`` has the new place of each old one."""
        places = [mapping[old] for mapping, old in zip(mappings, self._places, strict=True)]
        return MeasuredPeople(places, [int(mapping.max()) + 1 for mapping in mappings], self._numbers)

    def measured(
        self, clique: Clique, rho: Fraction, sensitivity: Sensitivity, entropy: EntropySource
    ) -> tuple[NDArray[np.int64], GaussianMeasurement]:
        """Counts with discrete Gaussian noise that costs exactly ``rho``, and the record of it."""
        squared = sensitivity.l2_squared
        measurement = GaussianMeasurement(squared / (2 * rho), squared, sensitivity.cells, sensitivity.largest)
        return self.noisy(clique, measurement, entropy), measurement

    def noisy(
        self, clique: Clique, measurement: Measurement, entropy: EntropySource, threads: int = 1
    ) -> NDArray[np.int64]:
        """Counts with the noise that a measurement states."""
        counts = self.counts(clique)
        noisy: NDArray[np.int64] = noise_for(measurement).draw(counts.shape, entropy, threads=threads)
        noisy += counts
        return noisy


def cells_of(clique: Clique, sizes: Sequence[int]) -> int:
    """How many combinations of values some columns have."""
    return prod(sizes[column] for column in clique)
