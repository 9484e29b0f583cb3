"""How private a table is by each model: its k, l, t and so on, as it stands.

A measured number is a fact about protected data; publish it only where the table itself is published.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.border.frames import Figures
from sudare.errors import ParameterError
from sudare.microdata.grouping import Classes, ValueHistogram, group, histogram
from sudare.microdata.models.closeness import equal_parts, order_of_values, ordered_values
from sudare.microdata.models.diversity import class_entropies, recursive_parts
from sudare.microdata.models.likeness import relative_parts
from sudare.microdata.models.model import per_class
from sudare.microdata.records import AnyRecords, names_of_columns, read_people_records
from sudare.parameters import shown

__all__ = ["Measured", "measure"]


@dataclass(frozen=True)
class Measured(Figures):
    """What a table satisfies, for one sensitive column.

    Args:
        k: the table is k-anonymous.
        alpha: the largest share of a sensitive value in a class.
        distinct_l: the smallest number of different sensitive values in a class.
        entropy_l: exp of the smallest entropy in a class; the table has entropy diversity for every l up to it.
        recursive_c: with l = ``distinct_l``, the table has recursive diversity for every c above this; None if l is 1.
        basic_beta: the largest relative growth of a value's share in a class.
        enhanced_beta: the same where growth counts up to -log of the value's share in the table.
        delta: the largest logarithm of a factor between shares, among values that occur in the class.
        equal_t: the largest equal distance of a class to the table.
        ordered_t: the largest ordered distance, in the order of numbers or else of texts.
    """

    k: int
    alpha: float
    distinct_l: int
    entropy_l: float
    recursive_c: float | None
    basic_beta: float
    enhanced_beta: float
    delta: float
    equal_t: float
    ordered_t: float


def measure(records: AnyRecords, quasi_identifiers: Sequence[str], sensitive: str) -> Measured:
    """Measure a table as it stands.

    Args:
        records: the table: Records, a frame, or a mapping of names to values.
        quasi_identifiers: the columns that an attacker may know.
        sensitive: the column that nobody should learn.

    Raises:
        InputError: if the table has no such column.

    Example:
        >>> from sudare.microdata.models import measure
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"age": ["<50", "<50", ">50", ">50"], "ill": ["no", "yes", "no", "yes"]})
        >>> found = measure(people, ["age"], "ill")
        >>> found.k, found.distinct_l, found.equal_t
        (2, 2, 0.0)
    """
    records = read_people_records(records, "measure")
    quasi_identifiers = names_of_columns(quasi_identifiers, records, "quasi_identifiers", "measure")
    if not isinstance(sensitive, str):
        hint = "To check models such as KAnonymity(5), call satisfies(records, quasi_identifiers, models)."
        raise ParameterError("sensitive", "measure", "the name of a column", shown(sensitive), hint)
    classes = group([records.column(name) for name in quasi_identifiers])
    return measure_classes(classes, histogram(classes, records.column(sensitive)))


def measure_classes(classes: Classes, counted: ValueHistogram) -> Measured:
    """The same, of a table that is grouped already."""
    here, there = relative_parts(counted)
    growth = (here - there) / there
    rarity = -np.log(counted.totals[counted.values] / counted.totals.sum())
    most = per_class(np.maximum, counted.counts, counted.edges)
    distinct = int(np.diff(counted.edges).min())
    largest, tail = recursive_parts(counted, distinct)
    ratios = [Fraction(int(a), int(b)) for a, b in {*zip(largest.tolist(), tail.tolist(), strict=True)}]
    moved, whole = equal_parts(counted)
    return Measured(
        k=int(classes.sizes.min()),
        alpha=float((most / classes.sizes).max()),
        distinct_l=distinct,
        entropy_l=math.exp(float(class_entropies(counted).min())),
        recursive_c=None if distinct == 1 else float(max(ratios)),
        basic_beta=float(growth.max()),
        enhanced_beta=float(np.minimum(growth, rarity).max()),
        delta=float(np.abs(np.log(here) - np.log(there)).max()),
        equal_t=float((moved / whole).max()),
        ordered_t=float(ordered_values(counted, order_of_values(counted.labels)).max()),
    )
