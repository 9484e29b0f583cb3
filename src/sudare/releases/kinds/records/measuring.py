"""How easily somebody is found in a table, and how large its classes are.

All of this is computed from the records: for tables that are not published it is for their holder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.microdata.grouping import Classes, group, histogram
from sudare.microdata.models.measuring import Measured, measure_classes
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.risk import (
    journalist_risk,
    population_sizes,
    prosecutor_risk,
    sample_uniqueness,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SIZES", "Risks", "class_sizes", "measure_risks", "rest_of_population", "shares_by_size"]

SIZES = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
"""Classes from this many to this many records, as they are shown together."""


@dataclass(frozen=True, kw_only=True)
class JournalistRisk:
    """The chances of somebody who has a list of the population.

    Attributes:
        highest: of any record.
        average: over all records.
    """

    highest: float
    average: float


@dataclass(frozen=True)
class Risks:
    """How easily somebody is found by the quasi-identifiers.

    Attributes:
        records: how many there are.
        classes: of records that look alike.
        k: the smallest class.
        unique: the share of records that are alone in their class.
        highest: the highest chance to re-identify a record for a prosecutor, who knows that the person is in the table.
        average: the mean chance; the share that a marketer gets right.
        at_risk: the share of records with a chance above the threshold.
        threshold: that is.
        journalist: the highest and the mean chance for somebody who has a list of the population, if there is one.
        sensitive: for each sensitive column, what its classes give away.
    """

    records: int
    classes: int
    k: int
    unique: float
    highest: float
    average: float
    at_risk: float
    threshold: float
    journalist: JournalistRisk | None
    sensitive: Mapping[str, Measured]


def class_sizes(records: Records, quasi_identifiers: Sequence[str], counts: NDArray[np.int64] | None = None) -> Classes:
    """The classes of records that agree in all quasi-identifiers.

    Args:
        records: the table.
        quasi_identifiers: columns of it.
        counts: how many people each row stands for; 1 if left out.

    Raises:
        InputError: if there is no such column; tells the nearest.
    """
    return group([records.column(name) for name in quasi_identifiers], counts)


def measure_risks(
    records: Records,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    population: Sequence[CodedColumn] | None = None,
    threshold: float = 0.2,
    counts: NDArray[np.int64] | None = None,
) -> Risks:
    """How easily somebody is found in a table. Computed from the records themselves: not for publication.

    Args:
        records: the table.
        quasi_identifiers: columns that others may know.
        sensitive: columns that nobody should learn.
        population: the quasi-identifiers of everybody, on the same levels.
        threshold: the highest chance that is accepted.
        counts: how many people each row of the table stands for; 1 if left out.

    Raises:
        InputError: if there is no such column.
        ParameterError: if a column is both, or there are no quasi-identifiers.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.releases.kinds.records import measure_risks
        >>> people = Records.of_columns({"age": [30, 30, 40], "ill": ["no", "yes", "no"]})
        >>> found = measure_risks(people, ["age"], ["ill"])
        >>> found.k, found.highest, found.sensitive["ill"].distinct_l
        (1, 1.0, 1)
    """
    names = tuple(dict.fromkeys(quasi_identifiers))
    if not names:
        raise ParameterError("quasi_identifiers", "measure_risks", Words("at least one column", "1 個以上の列"), names)
    both = next((name for name in sensitive if name in names), None)
    if both is not None:
        raise ParameterError(
            "sensitive",
            "measure_risks",
            Words("columns that are not quasi-identifiers", "準識別子でない列"),
            both,
            "A column cannot be both.",
        )
    classes = class_sizes(records, names, counts)
    risk = prosecutor_risk(classes.sizes, threshold=threshold)
    journalist = None
    if population is not None and records.rows:
        everybody = population_sizes([records.column(name) for name in names], population)
        found = journalist_risk(classes.sizes, everybody, threshold=threshold)
        journalist = JournalistRisk(highest=found.highest, average=found.average)
    return Risks(
        int(classes.sizes.sum()),
        int(classes.sizes.size),
        int(classes.sizes.min()) if classes.sizes.size else 0,
        sample_uniqueness(classes.sizes),
        risk.highest,
        risk.average,
        risk.at_risk,
        threshold,
        journalist,
        {name: measure_classes(classes, histogram(classes, records.column(name), counts)) for name in sensitive}
        if records.rows
        else {},
    )


def shares_by_size(sizes: NDArray[np.int64]) -> list[float]:
    """The share of the records that are in classes of each size of SIZES.

    Example:
        >>> import numpy as np
        >>> shares_by_size(np.array([1, 3]))
        [0.25, 0.0, 0.75, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    total = max(1, int(sizes.sum()))
    return [
        float(sizes[(sizes >= low) & (sizes <= (high if high is not None else sizes.max(initial=1)))].sum()) / total
        for low, high in SIZES
    ]


def rest_of_population(records: Records, population: Records, quasi_identifiers: Sequence[str]) -> Records:
    """Everybody of a population who is not among the records: for each combination of values, those who are left over.

    Raises:
        InputError: if the population has fewer people of a combination than there are records; names the row.

    Example:
        >>> from sudare.microdata.records import Records
        >>> everybody = Records.of_columns({"age": [30, 40, 30]})
        >>> rest_of_population(Records.of_columns({"age": [30]}), everybody, ["age"]).column("age").texts().tolist()
        ['40', '30']
    """
    ours = [records.column(name) for name in quasi_identifiers]
    theirs = [population.column(name) for name in quasi_identifiers]
    population_sizes(ours, theirs)
    both = [
        CodedColumn.of(mine.name, [*mine.texts(), *others.texts()]) for mine, others in zip(ours, theirs, strict=True)
    ]
    of_row = group(both).of_row
    taken = np.bincount(of_row[: records.rows], minlength=int(of_row.max(initial=0)) + 1)
    classes = of_row[records.rows :]
    order = np.argsort(classes, kind="stable")
    counts = np.bincount(classes, minlength=taken.size)
    rank = np.empty(classes.size, dtype=np.int64)
    rank[order] = np.arange(classes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return population.take(np.flatnonzero(rank >= taken[classes]))
