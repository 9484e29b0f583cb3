"""What every model of privacy within a table answers: which classes hold it, and what follows for coarser tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.microdata.grouping import Grouped, ValueHistogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]
    Longs = NDArray[np.int64]

__all__ = ["Model", "SensitiveModel", "at_most", "decided", "or_empty", "per_class"]

NEAR = 1e-9
"""Floats that are nearer to a limit than this, in parts of it, are decided with whole numbers."""


class Model(ABC):
    """A condition on each class of rows that look alike.

    Rows of classes that do not hold it can be suppressed. What is known about coarser tables lets a search skip them:

    - ``is_monotonic``: if all classes of a table hold the model, so do all classes of every coarser table.
    - ``is_monotonic_with_suppression``: a row whose class holds the model stays in a class that holds it in every coarser
      table, whatever the other classes do. So the rows to suppress become fewer.
    - ``smallest_size`` and ``smallest_distinct``: each class that holds the model has at least this many rows, and this many
      values of the sensitive column. These parts are monotonic with suppression for every model.
    """

    is_monotonic: bool = True
    is_monotonic_with_suppression: bool = False
    compares_with_table: bool = False
    """Whether classes are compared with the values of the whole table."""
    judges_table: bool = False
    """Whether all classes are judged together: it is asked about the classes that every other model keeps."""

    needs_population: bool = False
    """Whether classes are compared with everybody, of whom the table is a part: the table alone cannot show that it holds."""
    needs_every_class: bool = False
    """Whether no class of the population may be without a published row."""

    @property
    def candidates(self) -> int | None:
        """Among how many records each person stays hidden even from an attacker with other files, where that is promised."""
        return None

    @property
    def sensitive(self) -> str | None:
        """The sensitive column that the model looks at, if it does."""
        return None

    @property
    def smallest_size(self) -> int:
        """Rows that a class needs at least."""
        return 1

    @property
    def smallest_distinct(self) -> int:
        """Different sensitive values that a class needs at least."""
        return 1

    @abstractmethod
    def holds(self, grouped: Grouped) -> Mask:
        """For each class, whether it holds the model; classes without rows to publish do."""

    def needed(self, grouped: Grouped) -> Mask:
        """For each class, whether it meets what is needed in every coarser and finer table alike.

        A class that does not cannot hold the model, and neither can any class of a finer table that lies in it.
        """
        enough = grouped.sizes >= self.smallest_size
        if self.sensitive is not None and self.smallest_distinct > 1:
            enough &= np.diff(grouped.histograms[self.sensitive].edges) >= self.smallest_distinct
        return or_empty(enough, grouped)

    @property
    @abstractmethod
    def words(self) -> Words:
        """What the model asks for."""

    def describe(self, language: str = "en") -> str:
        """The model in words, in English or (``"ja"``) Japanese."""
        return self.words.explain(language)


class SensitiveModel(Model):
    """A model that looks at one sensitive column."""

    column: str

    @property
    def sensitive(self) -> str:
        """The sensitive column."""
        return self.column

    def histogram(self, grouped: Grouped) -> ValueHistogram:
        """How often each sensitive value occurs in each class."""
        return grouped.histograms[self.column]


def or_empty(mask: Mask, grouped: Grouped) -> Mask:
    """A mask of classes with those added that have no row to publish."""
    result: Mask = mask | (grouped.sizes == 0)
    return result


def per_class(function: np.ufunc, values: NDArray[Any], edges: Longs) -> NDArray[Any]:
    """Add or compare the entries of each class; 0 for classes without entries."""
    result = np.zeros(edges.size - 1, dtype=values.dtype)
    filled = np.flatnonzero(np.diff(edges))
    if filled.size:
        result[filled] = function.reduceat(values, edges[:-1][filled])
    return result


def at_most(numerators: Longs, denominators: Longs, limit: Fraction) -> Mask:
    """Whether ratios of whole numbers are at most a limit, exactly."""
    ratios = numerators / np.maximum(denominators, 1)
    result: Mask = ratios <= float(limit)
    near = np.flatnonzero(np.abs(ratios - float(limit)) <= NEAR * max(1.0, float(limit)))
    if near.size:
        left = numerators[near].astype(object) * limit.denominator
        result[near] = left <= denominators[near].astype(object) * limit.numerator
    return result


def decided(values: NDArray[np.float64], limit: float, exact: Callable[[int], bool]) -> Mask:
    """Whether values are at most a limit; those too near to it for floats are decided one by one."""
    result: Mask = values <= limit
    for place in np.flatnonzero(np.abs(values - limit) <= NEAR * max(1.0, abs(limit))).tolist():
        result[place] = exact(place)
    return result
