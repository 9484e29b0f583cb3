"""How much of the data a generalization keeps: the usual measures of utility, each as a number that is smaller the better.

All of them are plain functions of arrays, so that a search can call them for each of thousands of transformations: the sizes of
the classes, which classes are suppressed, the levels. ``measure_utility`` puts them together for one result.

Where tools differ both forms are here. ARX counts a suppressed record as if it were in a class with everybody (discernibility),
and all suppressed records as one more class (average class size); pyCANON divides the average class size by k.

These numbers say how much was lost, not how well anybody is protected, and they are computed from the protected data: they are
for those who hold it, and no release of them is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Figures
from sudare.errors import Described, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.microdata.grouping import Classes

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

__all__ = [
    "AGGREGATES",
    "Utility",
    "aggregated",
    "ambiguity",
    "average_class_size",
    "discernibility",
    "discernibility_of_classes",
    "entropy_loss",
    "factors",
    "height",
    "loss_per_column",
    "measure_utility",
    "precision_per_column",
    "relative_class_size",
    "share_of_domain",
    "suppressed_entropy",
]

AGGREGATES = ("mean", "geometric", "sum", "max", "rank")


def discernibility_of_classes(sizes: ArrayLike) -> int:
    """The sum of the squares of the classes' sizes: for each record, with how many it can be confused. Suppression is ignored.

    Example:
        >>> from sudare.microdata.utility import discernibility_of_classes
        >>> discernibility_of_classes([3, 2, 1])
        14
    """
    counts = np.asarray(sizes, dtype=np.int64)
    return int(counts @ counts)


def discernibility(sizes: ArrayLike, suppressed: ArrayLike) -> int:
    """The same of the classes that are kept, and the number of all records for each record that is suppressed.

    Args:
        sizes: of the classes.
        suppressed: which classes are suppressed.

    Example:
        >>> from sudare.microdata.utility import discernibility
        >>> discernibility([3, 2, 1], [False, False, True])  # 9 + 4, and 6 for the one that is gone
        19
    """
    counts, gone = np.asarray(sizes, dtype=np.int64), np.asarray(suppressed, dtype=bool)
    kept = counts[~gone]
    return int(kept @ kept) + int(counts.sum()) * int(counts[gone].sum())


def average_class_size(sizes: ArrayLike, suppressed: ArrayLike | None = None) -> float:
    """Records divided by classes, where all suppressed records together are one more class.

    Example:
        >>> from sudare.microdata.utility import average_class_size
        >>> average_class_size([3, 2, 1], [False, True, True])  # 6 records, 2 classes
        3.0
    """
    counts = np.asarray(sizes, dtype=np.int64)
    gone = np.zeros(counts.size, dtype=bool) if suppressed is None else np.asarray(suppressed, dtype=bool)
    classes = int(np.count_nonzero(~gone)) + int(gone.any())
    return float(counts.sum() / classes) if classes else 0.0


def relative_class_size(sizes: ArrayLike, k: int) -> float:
    """Records divided by classes and by k, as pyCANON has it: 1 if every class is as small as it may be.

    Example:
        >>> from sudare.microdata.utility import relative_class_size
        >>> relative_class_size([3, 5], 2)
        2.0
    """
    return average_class_size(sizes) / k


def height(levels: Sequence[int]) -> int:
    """The sum of the levels.

    Example:
        >>> from sudare.microdata.utility import height
        >>> height([0, 3, 1])
        4
    """
    return int(sum(levels))


def factors(balance: float) -> tuple[float, float]:
    """What generalization and suppression count, for a balance from 0 (suppress freely) over 0.5 (both fully) to 1.

    Example:
        >>> from sudare.microdata.utility import factors
        >>> factors(0.25), factors(0.5), factors(1)
        ((1.0, 0.5), (1.0, 1.0), (0.0, 1.0))
    """
    if not 0 <= balance <= 1:
        raise ParameterError("balance", "factors", Words("a number from 0 to 1", "0 以上 1 以下の数"), shown(balance))
    return min(1.0, 2.0 - 2.0 * balance), min(1.0, 2.0 * balance)


def precision_per_column(
    levels: Sequence[int], heights: Sequence[int], rows: int, suppressed_rows: int = 0, balance: float = 0.5
) -> Floats:
    """How high up in its hierarchy each column is, from 0 to 1; a suppressed record counts as the top.

    Example:
        >>> from sudare.microdata.utility import precision_per_column
        >>> precision_per_column([1, 0], [2, 4], 10, suppressed_rows=5).tolist()
        [0.75, 0.5]
    """
    generalized, suppressed = factors(balance)
    places = np.array([level / top if top else 0.0 for level, top in zip(levels, heights, strict=True)])
    kept = rows - suppressed_rows
    return np.asarray((kept * places * generalized + suppressed_rows * suppressed) / rows, dtype=np.float64)


def share_of_domain(generalization: Generalization, level: int) -> Floats:
    """For each group of a level, the share of all values that it stands for.

    Example:
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.utility import share_of_domain
        >>> age = Generalization.of_paths("age", [("34", "<50", "*"), ("66", ">=50", "*")])
        >>> share_of_domain(age, 1).tolist(), share_of_domain(age, 2).tolist()
        ([0.5, 0.5], [1.0])
    """
    return generalization.sizes(level) / generalization.leaves


def loss_per_column(
    shares: Sequence[Floats], sizes: ArrayLike, suppressed: ArrayLike, leaves: Sequence[int], balance: float = 0.5
) -> Floats:
    """For each column how much of its domain a published value stands for, from 0 (values as they are) to 1 (gone).

    Args:
        shares: for each column, of each class's value, the share of the domain that it stands for.
        sizes: of the classes.
        suppressed: which classes are suppressed; their values stand for the whole domain.
        leaves: how many values the domain of each column has.
        balance: see ``factors``.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.utility import loss_per_column
        >>> loss_per_column([np.array([0.25, 0.5])], [6, 4], [False, True], [4]).tolist()  # 4 of 10 are gone
        [0.4]
    """
    generalized, penalty = factors(balance)
    counts, gone = np.asarray(sizes, dtype=np.float64), np.asarray(suppressed, dtype=bool)
    rows = counts.sum()
    if rows == 0:
        return np.zeros(len(shares))
    result = np.zeros(len(shares))
    for column, (share, values) in enumerate(zip(shares, leaves, strict=True)):
        lost = counts * share
        total = float(lost[~gone].sum()) * generalized + float((lost + penalty * (counts - lost))[gone].sum())
        smallest = generalized * rows / values
        result[column] = max(0.0, (total - smallest) / (rows - smallest)) if rows > smallest else 0.0
    return result


def ambiguity(shares: Sequence[Floats], sizes: ArrayLike, suppressed: ArrayLike, leaves: Sequence[int]) -> float:
    """How many combinations of values the published records could have been, summed over records.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.utility import ambiguity
        >>> ambiguity([np.array([0.5]), np.array([0.25])], [3], [False], [4, 4])
        6.0
    """
    counts, gone = np.asarray(sizes, dtype=np.float64), np.asarray(suppressed, dtype=bool)
    combinations = np.ones(counts.size)
    for share, values in zip(shares, leaves, strict=True):
        combinations *= np.where(gone, 1.0, share) * values
    return float(counts @ combinations)


def entropy_loss(leaf_counts: ArrayLike, groups: ArrayLike) -> float:
    """The information in bits that a column lost by generalization, over all records; suppression is ignored.

    A record whose value is shared by a of the b records in its group loses log2(b / a) bits.

    Args:
        leaf_counts: how many records have each leaf.
        groups: the group of each leaf, as ``Generalization.parents`` has it.

    Example:
        >>> from sudare.microdata.utility import entropy_loss
        >>> entropy_loss([2, 2, 4], [0, 0, 0])
        12.0
    """
    counts, places = np.asarray(leaf_counts, dtype=np.float64), np.asarray(groups)
    together = np.bincount(places, weights=counts)[places]
    found = counts > 0
    return float(counts[found] @ np.log2(together[found] / counts[found]))


def suppressed_entropy(group_counts: ArrayLike) -> float:
    """The further information in bits that is lost with the suppressed records of a column.

    Args:
        group_counts: how many suppressed records have each group of the column's level.

    Example:
        >>> from sudare.microdata.utility import suppressed_entropy
        >>> suppressed_entropy([2, 2])
        4.0
    """
    counts = np.asarray(group_counts, dtype=np.float64)
    found = counts[counts > 0]
    return float(found @ np.log2(found.sum() / found)) if found.size else 0.0


def aggregated(per_column: ArrayLike, how: str = "geometric", weights: Sequence[float] | None = None) -> Any:
    """One number for all columns.

    Args:
        per_column: the loss of each column.
        how: ``"mean"``, ``"geometric"`` (of 1 + loss, less 1), ``"sum"``, ``"max"``, or ``"rank"``: all of them, the largest
            first, to be compared one after the other.
        weights: what each column counts; its loss is multiplied.

    Example:
        >>> from sudare.microdata.utility import aggregated
        >>> aggregated([0.0, 0.5], "mean"), aggregated([0.0, 0.5], "rank")
        (0.25, (0.5, 0.0))
    """
    values = np.asarray(per_column, dtype=np.float64)
    if weights is not None:
        if len(weights) != values.size or any(weight < 0 for weight in weights):
            requirement = f"{values.size} numbers >= 0, one for each column"
            raise ParameterError("weights", "aggregated", requirement, Described("others"))
        values = values * np.asarray(weights, dtype=np.float64)
    if how not in AGGREGATES:
        raise ParameterError(
            "how",
            "aggregated",
            Words("one of " + ", ".join(AGGREGATES), f"{', '.join(AGGREGATES)} のいずれか"),
            shown(how),
        )
    if how == "rank":
        return tuple(sorted(values.tolist(), reverse=True))
    if values.size == 0:
        return 0.0
    if how == "geometric":
        return float(exp(np.log1p(values).mean()) - 1.0)
    if how == "mean":
        return float(values.mean())
    return float(values.sum() if how == "sum" else values.max())


@dataclass(frozen=True)
class Utility(Figures):
    """What a result lost, in every measure; smaller is better. Computed from the protected data: not for release.

    Attributes:
        discernibility: with the number of all records for each suppressed one.
        discernibility_of_classes: without suppression.
        average_class_size: all suppressed records as one class.
        height: sum of the levels.
        precision: mean over columns of the height in the hierarchy, from 0 to 1.
        loss: geometric mean over columns of the share of the domain, from 0 to 1.
        loss_of_columns: that share for each column.
        entropy: non-uniform entropy in bits, suppressed records included.
        entropy_of_generalization: the same without suppression.
        ambiguity: combinations of values that records could have been.
        suppressed: the share of records that are gone.
    """

    discernibility: int
    discernibility_of_classes: int
    average_class_size: float
    height: int
    precision: float
    loss: float
    loss_of_columns: Mapping[str, float]
    entropy: float
    entropy_of_generalization: float
    ambiguity: float
    suppressed: float


def measure_utility(
    records: Records,
    transformation: Sequence[tuple[Generalization, int]],
    classes: Classes,
    suppressed: Flags,
) -> Utility:
    """Every measure of one result.

    Args:
        records: the data as it was.
        transformation: for each quasi-identifier its hierarchy, named like the column, and the level.
        classes: the classes of the generalized records.
        suppressed: which rows are suppressed; whole classes.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.grouping import group
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.utility import measure_utility
        >>> people = Records.of_columns({"age": ["34", "45", "66"]})
        >>> age = Generalization.of_paths("age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*")])
        >>> classes = group([age.generalized(people.column("age"), 1)])
        >>> measure_utility(people, [(age, 1)], classes, np.array([False, False, True])).discernibility
        7
    """
    gone_rows = np.asarray(suppressed, dtype=bool)
    if gone_rows.shape != (records.rows,) or classes.of_row.shape != (records.rows,):
        raise ParameterError("suppressed", "measure_utility", "one flag for each row", Described("others"))
    sizes = np.asarray(classes.sizes, dtype=np.int64)
    gone = np.zeros(sizes.size, dtype=bool)
    gone[classes.of_row[gone_rows]] = True
    if int(sizes[gone].sum()) != int(gone_rows.sum()):
        raise ParameterError("suppressed", "measure_utility", "whole classes", Described("parts of classes"))
    levels = [level for _, level in transformation]
    leaves = [generalization.leaves for generalization, _ in transformation]
    shares, bits, bits_gone = [], 0.0, 0.0
    for generalization, level in transformation:
        column = records.column(generalization.name)
        places = generalization.places(column)
        groups = generalization.parents[level]
        per_class = np.zeros(sizes.size)
        per_class[classes.of_row] = share_of_domain(generalization, level)[groups[places]][column.codes]
        shares.append(per_class)
        leaf_counts = np.zeros(generalization.leaves, dtype=np.int64)
        # A missing value and an empty text share a leaf.
        np.add.at(leaf_counts, places, np.bincount(column.codes, minlength=places.size))
        bits += entropy_loss(leaf_counts, groups)
        bits_gone += suppressed_entropy(np.bincount(groups[places][column.codes[gone_rows]]))
    losses = loss_per_column(shares, sizes, gone, leaves)
    heights = [generalization.height for generalization, _ in transformation]
    precisions = precision_per_column(levels, heights, max(1, records.rows), int(gone_rows.sum()))
    return Utility(
        discernibility=discernibility(sizes, gone),
        discernibility_of_classes=discernibility_of_classes(sizes),
        average_class_size=average_class_size(sizes, gone),
        height=height(levels),
        precision=aggregated(precisions, "mean"),
        loss=aggregated(losses, "geometric"),
        loss_of_columns={each.name: float(loss) for (each, _), loss in zip(transformation, losses, strict=True)},
        entropy=bits + bits_gone,
        entropy_of_generalization=bits,
        ambiguity=ambiguity(shares, sizes, gone, leaves),
        suppressed=float(gone_rows.mean()) if records.rows else 0.0,
    )
