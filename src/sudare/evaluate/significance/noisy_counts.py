"""One published number with what is known of its error: the exact law of its noise, or a standard error."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.arguments import read_array
from sudare.domain.domain import Domain
from sudare.domain.sparse_table import SparseTable
from sudare.domain.table import SignedTable
from sudare.errors import Described, ParameterError
from sudare.evaluate.significance.laws import law_of_noise
from sudare.evaluate.significance.sums import LawOfSum, Term, merged
from sudare.parameters import describe_array, exact_integer, shown
from sudare.privacy.measurements import Measurement
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.registry import find_mechanism

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["NoisyCount", "dense_values"]


@dataclass(frozen=True)
class NoisyCount:
    """The published count of an area.

    Attributes:
        value: as published; possibly negative.
        noise: the law of the noise in it, exactly; None where it is not known.
        standard_error: of the value. Follows from the noise where that is known.

    Example:
        >>> import sudare
        >>> from sudare.evaluate.significance import NoisyCount
        >>> noisy, event = sudare.add_noise([40, 60, 55], sudare.Budget(epsilon=0.5))
        >>> area = NoisyCount.of_values(noisy[:2], event.measurements[0])
        >>> round(area.standard_error, 2)
        3.96
    """

    value: float
    noise: LawOfSum | None
    standard_error: float

    @property
    def is_exact(self) -> bool:
        """Whether the law of its noise is known."""
        return self.noise is not None

    @classmethod
    def of_values(cls, values: ArrayLike, measurement: Measurement) -> NoisyCount:
        """The sum of published noisy counts, each with noise of its own.

        Args:
            values: the noisy counts of the area's parts, as they were drawn: signed, and not refined.
            measurement: what the event states of them.

        Raises:
            ParameterError: if the values are not whole numbers.
            GuaranteeError: if the measurement adds no noise to counts.
        """
        function = "NoisyCount.of_values"
        numbers = read_array(values, "values", function, "whole numbers")
        if numbers.dtype.kind not in "iu" or not numbers.size:
            raise ParameterError("values", function, "whole numbers, at least one", describe_array(numbers))
        noise = LawOfSum((Term(law_of_noise(measurement), times=numbers.size),))
        total = sum(int(value) for value in numbers.reshape(-1))
        return cls(total, noise, noise.standard_deviation)

    @classmethod
    def of_area(cls, noisy: NoisyCounts, keys: ArrayLike) -> NoisyCount:
        """The sum of measured counts, by the keys that they were measured under.

        Args:
            noisy: noisy counts of one kind, such as those of all cells. Of differences of counts, as wavelets measure them,
                one by itself is compared with `of_public` 0.
            keys: which of them make up the area, each once.

        Raises:
            ParameterError: if a key was not measured, or is named twice.
        """
        function = "NoisyCount.of_area"
        if not isinstance(noisy, NoisyCounts):
            raise ParameterError("noisy", function, "NoisyCounts, as a mechanism hands them back", shown(noisy))
        wanted = _read_keys(keys, function)
        order = np.argsort(noisy.keys, kind="stable")
        known = np.asarray(noisy.keys)[order]
        places = np.minimum(np.searchsorted(known, wanted), max(known.size - 1, 0))
        if not known.size or not (known[places] == wanted).all():
            requirement = "keys that were measured: what was left out, by a threshold for example, has no known noise"
            raise ParameterError("keys", function, requirement, Described("others"))
        return cls.of_values(np.asarray(noisy.values)[order][places], noisy.measurement)

    @classmethod
    def of_flat(cls, published: Published, keys: ArrayLike) -> NoisyCount:
        """The count of an area in a flat table that was published as drawn: every cell has noise of its own.

        Args:
            published: what `laplace` or `gaussian` returned, without a threshold and not refined.
            keys: of the area's cells, each once.

        Raises:
            ParameterError: if the table is another one, or the keys are no cells.

        Example:
            >>> import numpy as np, sudare
            >>> from sudare.evaluate.significance import NoisyCount, areas_differ
            >>> published = sudare.tables.laplace(np.array([[90, 0], [200, 0]]), sudare.Budget(epsilon=1))
            >>> areas_differ(NoisyCount.of_flat(published, [2, 3]), NoisyCount.of_flat(published, [0, 1])).is_significant
            True
        """
        function = "NoisyCount.of_flat"
        mechanism = find_mechanism(published.event.mechanism) if isinstance(published, Published) else None
        if mechanism is None or not mechanism.is_flat or not isinstance(published.table, SignedTable):
            requirement = "a flat table as it was drawn: signed, without a threshold"
            hint = "Other tables have a stated standard error: NoisyCount.of_refined."
            raise ParameterError("published", function, requirement, Described("another one"), hint)
        cells = _read_cells(keys, published.table, function)
        noise = LawOfSum((Term(law_of_noise(published.event.measurements[0]), times=cells.size),))
        return cls(_sum_of(published.table, cells), noise, noise.standard_deviation)

    @classmethod
    def of_refined(cls, published: Any, keys: ArrayLike, standard_error: float) -> NoisyCount:
        """The count of an area in any published table. The law of its error is not known: tests of it are approximate.

        Args:
            published: a table, or what a mechanism returned.
            keys: of the area's cells, each once.
            standard_error: of the area's count, as the plan or the report of the release states it.

        Raises:
            ParameterError: if the keys are no cells, or the standard error is not a number above 0.
        """
        function = "NoisyCount.of_refined"
        table = published if isinstance(published, SparseTable) else getattr(published, "table", published)
        if not isinstance(table, SparseTable):
            raise ParameterError("published", function, "a CountTable, or what a mechanism returned", shown(published))
        return cls.of_estimate(_sum_of(table, _read_cells(keys, table, function)), standard_error)

    @classmethod
    def of_estimate(cls, value: float, standard_error: float) -> NoisyCount:
        """Any published number with a stated standard error. Tests of it are approximate.

        Raises:
            ParameterError: if one of them is not a finite number, or the standard error is not above 0.
        """
        function = "NoisyCount.of_estimate"
        for name, given in (("value", value), ("standard_error", standard_error)):
            if isinstance(given, bool) or not isinstance(given, Real) or not isfinite(given):
                raise ParameterError(name, function, Words("a finite number", "有限の数"), shown(given))
        if standard_error <= 0:
            raise ParameterError("standard_error", function, Words("above 0", "0 より大きい値"), standard_error)
        return cls(value, None, float(standard_error))

    @classmethod
    def of_public(cls, value: int) -> NoisyCount:
        """A number without noise: a public one, or 0 where a measured difference of counts is tested by itself.

        Raises:
            ParameterError: if it is not a whole number.
        """
        number = exact_integer(value, "value", "NoisyCount.of_public", "a whole number")
        return cls(number, LawOfSum(()), 0.0)

    def combined(self, weight: int, other: NoisyCount, other_weight: int) -> NoisyCount:
        """``weight * self + other_weight * other``, for counts with noise of their own each."""
        value = weight * self.value + other_weight * other.value
        variance = (weight * self.standard_error) ** 2 + (other_weight * other.standard_error) ** 2
        if self.noise is None or other.noise is None:
            return NoisyCount(value, None, sqrt(variance))
        terms = [Term(term.law, weight * term.weight, term.times) for term in self.noise.terms]
        terms += [Term(term.law, other_weight * term.weight, term.times) for term in other.noise.terms]
        return NoisyCount(value, LawOfSum(merged(terms)), sqrt(variance))


def dense_values(noisy: NoisyCounts, domain: Domain) -> NDArray[np.int64]:
    """The noisy counts of all cells as an array, for `find_hot_spots`.

    Args:
        noisy: the noisy counts of a domain's cells.
        domain: of the table.

    Raises:
        ParameterError: if a cell is missing: what was left out, by a threshold for example, has no known noise.
    """
    function = "dense_values"
    if not isinstance(noisy, NoisyCounts):
        raise ParameterError("noisy", function, "NoisyCounts, as a mechanism hands them back", shown(noisy))
    order = np.argsort(noisy.keys, kind="stable")
    if noisy.keys.size != domain.cells or not (noisy.keys[order] == np.arange(domain.cells, dtype=np.uint64)).all():
        raise ParameterError("noisy", function, f"counts of all {domain.cells} cells", Described("others"))
    return np.asarray(noisy.values[order].reshape(domain.shape))


def _read_cells(keys: ArrayLike, table: SparseTable, function: str) -> NDArray[np.uint64]:
    cells = _read_keys(keys, function)
    if int(cells.max()) >= table.domain.cells:
        raise ParameterError("keys", function, f"below the number of cells, {table.domain.cells}", Described("others"))
    return cells


def _sum_of(table: SparseTable, cells: NDArray[np.uint64]) -> int:
    return sum(int(count) for count in table.counts[np.isin(table.keys, cells)])


def _read_keys(keys: ArrayLike, function: str) -> NDArray[np.uint64]:
    requirement = "keys of cells, whole numbers >= 0, at least one and each once"
    array = read_array(keys, "keys", function, requirement)
    if array.dtype.kind not in "iu" or not array.size or (array.dtype.kind == "i" and int(array.min()) < 0):
        raise ParameterError("keys", function, requirement, describe_array(array))
    flat = array.reshape(-1).astype(np.uint64)
    if np.unique(flat).size != flat.size:
        raise ParameterError("keys", function, requirement, Described("some twice"))
    return flat
