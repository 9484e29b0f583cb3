"""Randomized records: what each attribute may report, and how many records report each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import columns_of_frame
from sudare.border.signatures import check_arguments
from sudare.collect.randomizers.randomizer import Randomizer, read_places
from sudare.collect.transitions.transition import Transition
from sudare.domain.arguments import read_array
from sudare.errors import Described, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.border.native_frames import IntoFrame

    Counts = NDArray[np.int64]

__all__ = ["Attributes", "RandomizedAttribute", "count_reports", "read_problem"]

MAX_REPORTS = 1 << 27
"""Cells of a table of reports."""


@dataclass(frozen=True)
class RandomizedAttribute:
    """An attribute of the records, and how it was randomized.

    Args:
        name: what it is called, such as the column of the records.
        transition: with which probability each value becomes each report.
        labels: the values in the order of the transition; 0, 1, ... if left out.
        report_labels: the reports in that order; the values if there are as many, else 0, 1, ...
        edges: of the bins, where reports are numbers: each bin from its edge up to the next, the last one included.
            Labels are made from them, if left out.
        reader: from reports and the name of a function to places, where neither labels nor bins tell reports apart.

    Example:
        >>> from sudare.collect import KaryResponse
        >>> from sudare.collect.estimation.crosstab import RandomizedAttribute
        >>> RandomizedAttribute.of("sex", KaryResponse(("f", "m"), 1)).labels
        ('f', 'm')
    """

    name: str
    transition: Transition
    labels: tuple[object, ...] = ()
    report_labels: tuple[object, ...] = ()
    edges: tuple[float, ...] = ()
    reader: Callable[[Any, str], Counts] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise ParameterError("name", "RandomizedAttribute", "a word, such as a column's name", shown(self.name))
        if not isinstance(self.transition, Transition):
            raise ParameterError("transition", "RandomizedAttribute", "a Transition", shown(self.transition))
        values, reports = self.transition.values, self.transition.reports
        edges = tuple(self.edges)
        if edges and (len(edges) != reports + 1 or any(low >= high for low, high in pairwise(edges))):
            requirement = f"{reports + 1} numbers, ascending"
            raise ParameterError("edges", "RandomizedAttribute", requirement, Described(f"{len(edges)} numbers"))
        object.__setattr__(self, "edges", edges)
        binned = tuple(f"{low:g} - {high:g}" for low, high in pairwise(edges)) if values == reports else ()
        labels = tuple(self.labels) or binned or tuple(range(values))
        report_labels = tuple(self.report_labels) or (labels if values == reports else tuple(range(reports)))
        for name, given, wanted in (("labels", labels, values), ("report_labels", report_labels, reports)):
            if len(given) != wanted or len(set(given)) != wanted:
                got = Described(f"{len(given)} labels")
                raise ParameterError(
                    name,
                    "RandomizedAttribute",
                    Words(f"{wanted} different labels", f"互いに異なる {wanted} 個のラベル"),
                    got,
                )
            object.__setattr__(self, name, given)

    @classmethod
    def of(cls, name: str, randomizer: Randomizer) -> RandomizedAttribute:
        """The attribute that a randomizer randomizes: of categories, or of the numbers of a grid.

        Raises:
            ParameterError: if it has neither labels nor a grid.
        """
        grid, labels = randomizer.value_grid(), randomizer.value_labels()
        if grid is not None:
            return cls(name, randomizer.transition(), grid.labels(), reader=randomizer.report_places)
        if labels is None:
            requirement = "a randomizer of categories, or of the numbers of a grid"
            raise ParameterError("randomizer", "RandomizedAttribute.of", requirement, shown(randomizer))
        return cls(name, randomizer.transition(), labels)

    def report_places(self, reports: ArrayLike, function: str) -> Counts:
        """Which report each is, from 0 on.

        Raises:
            ParameterError: if one is none of the attribute's; the message does not say which one.
        """
        if self.reader is not None:
            try:
                return self.reader(reports, function)
            except ParameterError as error:
                raise ParameterError(self.name, function, error.requirement, error.got) from None
        if not self.edges:
            return read_places(reports, self.report_labels, self.name, function)
        requirement = f"numbers from {self.edges[0]:g} to {self.edges[-1]:g}"
        numbers = np.asarray(reports)
        if numbers.size and (numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all()):
            raise ParameterError(self.name, function, requirement, Described("something else"))
        if numbers.size and (numbers.min() < self.edges[0] or numbers.max() > self.edges[-1]):
            raise ParameterError(self.name, function, requirement, Described("numbers outside"))
        places = np.searchsorted(np.asarray(self.edges), numbers, side="right") - 1
        return np.minimum(places, len(self.edges) - 2).astype(np.int64)


Attributes = Sequence[RandomizedAttribute | Transition]
"""What the estimates take: names and labels may be left out."""


def count_reports(columns: Mapping[str, ArrayLike] | IntoFrame, attributes: Sequence[RandomizedAttribute]) -> Counts:
    """How many records report each cell.

    Args:
        columns: for each attribute's name, the report of each record.
        attributes: of the records, in the order of the axes wanted.

    Raises:
        ParameterError: if a column is missing or of another length, or a report is none of the attribute's.

    Example:
        >>> from sudare.collect import UniformTransition
        >>> from sudare.collect.estimation.crosstab import RandomizedAttribute, count_reports
        >>> sex = RandomizedAttribute("sex", UniformTransition(2, 3, 1), ("f", "m"))
        >>> count_reports({"sex": ["f", "m", "f"]}, [sex]).tolist()
        [2, 1]
    """
    columns = columns_of_frame(columns, "columns", "count_reports")
    check_arguments(count_reports, locals(), "columns")
    function = "count_reports"
    read = _read_attributes(attributes, function)
    shape = tuple(attribute.transition.reports for attribute in read)
    if prod(shape) > MAX_REPORTS:
        raise ParameterError("attributes", function, f"at most {MAX_REPORTS:,} cells", Described(f"{prod(shape):,}"))
    keys: Counts = np.zeros(1, dtype=np.int64)
    for axis, attribute in enumerate(read):
        if attribute.name not in columns:
            got = Described(f"no column {attribute.name!r}")
            raise ParameterError("columns", function, "a column for each attribute", got)
        places = attribute.report_places(columns[attribute.name], function)
        if places.ndim != 1 or (axis > 0 and places.shape != keys.shape):
            raise ParameterError("columns", function, "columns of equal length", Described("different lengths"))
        keys = keys * attribute.transition.reports + places
    return np.bincount(keys, minlength=prod(shape)).astype(np.int64).reshape(shape)


def _read_attributes(attributes: Iterable[Any], function: str) -> tuple[RandomizedAttribute, ...]:
    requirement = "a list of randomized attributes or transitions, at least one, with different names"
    if isinstance(attributes, (str, Transition, RandomizedAttribute)) or not isinstance(attributes, Iterable):
        raise ParameterError("attributes", function, requirement, shown(attributes))
    read = tuple(
        RandomizedAttribute(f"axis {place}", each) if isinstance(each, Transition) else each
        for place, each in enumerate(attributes)
    )
    if not read or not all(isinstance(each, RandomizedAttribute) for each in read):
        raise ParameterError("attributes", function, requirement, Described(f"{len(read)} objects"))
    if len({attribute.name for attribute in read}) < len(read):
        raise ParameterError("attributes", function, requirement, Described("a name that is there twice"))
    return read


def read_problem(
    counts: ArrayLike, attributes: Attributes, function: str
) -> tuple[tuple[RandomizedAttribute, ...], Counts]:
    """Attributes with names, and checked counts."""
    read = _read_attributes(attributes, function)
    shape = tuple(attribute.transition.reports for attribute in read)
    requirement = f"whole numbers >= 0 of shape {shape}, at least one above 0"
    array = read_array(counts, "counts", function, requirement)
    if array.shape != shape:
        raise ParameterError("counts", function, requirement, Described(f"an array of shape {array.shape}"))
    if array.dtype.kind not in "iu" or (array < 0).any() or not array.any() or array.sum(dtype=float) > 2**53:
        raise ParameterError("counts", function, requirement, Described("others"))
    return read, array.astype(np.int64)
