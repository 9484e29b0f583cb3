"""How easily somebody finds a person among published records: risks of re-identification, and of single attributes.

Three attackers are told apart. The prosecutor knows that the target is in the data: the chance is one out of the target's class.
The journalist does not know it: the chance is one out of the class in the whole population, which a table of the population
tells, or weights estimate. The marketer wants as many as possible, and succeeds with the average chance.

All of this takes for granted that an attacker knows the quasi-identifiers and nothing else. A small number here is no guarantee
against an attacker who knows more. The numbers are computed from the protected data: they are for those who hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import Figures, RowTuple
from sudare.border.signatures import check_arguments
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.grouping import group
from sudare.microdata.records import AnyRecords, CodedColumn, names_of_columns, read_people_records
from sudare.parameters import Rational, read_chance, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = [
    "AttributeRisk",
    "ReidentificationRisk",
    "attribute_risks",
    "individual_risk",
    "journalist_risk",
    "marketer_risk",
    "matching_frequencies",
    "population_sizes",
    "prosecutor_risk",
    "sample_uniqueness",
]

ROUNDING = 1e-9
"""Relative; more than floats err by, and less than makes a difference between classes below 10**9 people."""

STEPS = 64
"""Up to this frequency the exact individual risk is found by recursion, and above by a series that then ends soon."""


@dataclass(frozen=True)
class ReidentificationRisk(Figures):
    """The chance that an attacker is right about a published record.

    Attributes:
        highest: of any record.
        average: over records; also what a marketer achieves.
        average_of_classes: over classes, as pyCANON has it; never less than over records.
        lowest: of any record.
        at_risk: the share of records whose chance is above the threshold.
        threshold: that is.
    """

    highest: float
    average: float
    average_of_classes: float
    lowest: float
    at_risk: float
    threshold: float


def _sizes(values: ArrayLike, function: str, parameter: str = "sizes") -> Integers:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or int(array.min()) < 0)):
        raise ParameterError(parameter, function, "whole numbers >= 0, one for each class", Described("others"))
    return array.astype(np.int64)


def _kept(sizes: Integers, suppressed: ArrayLike | None) -> NDArray[np.bool_]:
    return (sizes > 0) & (True if suppressed is None else ~np.asarray(suppressed, dtype=bool))


def _risk(sizes: Integers, behind: Floats, threshold: Rational, function: str) -> ReidentificationRisk:
    limit = read_chance(threshold, "threshold", function, with_ends=True)
    rows = int(sizes.sum())
    if rows == 0:
        return ReidentificationRisk(0.0, 0.0, 0.0, 0.0, 0.0, limit)
    chance = 1.0 / behind
    return ReidentificationRisk(
        highest=float(chance.max()),
        average=float(sizes @ chance) / rows,
        average_of_classes=float(chance.mean()),
        lowest=float(chance.min()),
        # A threshold of 1 / 49 is rounded: classes of 49 are meant to be within it.
        at_risk=float(sizes[behind * limit < 1.0 - ROUNDING].sum()) / rows,
        threshold=limit,
    )


def prosecutor_risk(
    sizes: ArrayLike, *, threshold: Rational = 0.2, suppressed: ArrayLike | None = None
) -> ReidentificationRisk:
    """The risk if the attacker knows that the target is in the data.

    Args:
        sizes: of the classes of published records.
        threshold: the highest chance that is accepted.
        suppressed: which classes are not published.

    Example:
        >>> from sudare.microdata.risk import prosecutor_risk
        >>> risk = prosecutor_risk([2, 2, 6])
        >>> risk.highest, risk.average, risk.at_risk
        (0.5, 0.3, 0.4)
    """
    check_arguments(prosecutor_risk, locals(), "suppressed")
    counts = _sizes(sizes, "prosecutor_risk")
    counts = counts[_kept(counts, suppressed)]
    return _risk(counts, counts.astype(np.float64), threshold, "prosecutor_risk")


def journalist_risk(
    sizes: ArrayLike, population: ArrayLike, *, threshold: Rational = 0.2, suppressed: ArrayLike | None = None
) -> ReidentificationRisk:
    """The risk if the attacker does not know whether the target is in the data, but has a list of the population.

    Args:
        sizes: of the classes of published records.
        population: how many people of the population are in each class, as ``population_sizes`` finds them.
        threshold: the highest chance that is accepted.
        suppressed: which classes are not published.

    Example:
        >>> from sudare.microdata.risk import journalist_risk
        >>> journalist_risk([1, 4], [10, 4]).highest
        0.25
    """
    check_arguments(journalist_risk, locals(), "suppressed")
    counts, everybody = _sizes(sizes, "journalist_risk"), _sizes(population, "journalist_risk", "population")
    if everybody.shape != counts.shape or (everybody < counts).any():
        requirement = Words(
            "at least as many people in each class as there are records", "どの等価クラスでもレコード数以上の人数"
        )
        raise ParameterError("population", "journalist_risk", requirement, Described("fewer, or other classes"))
    kept = _kept(counts, suppressed)
    return _risk(counts[kept], everybody[kept].astype(np.float64), threshold, "journalist_risk")


def marketer_risk(
    sizes: ArrayLike, population: ArrayLike | None = None, *, suppressed: ArrayLike | None = None
) -> float:
    """The share of published records that an attacker gets right who guesses all of them.

    Args:
        sizes: of the classes of published records.
        population: how many people of the population each class stands for; the class itself if left out.
        suppressed: which classes are not published.

    Example:
        >>> from sudare.microdata.risk import marketer_risk
        >>> marketer_risk([2, 2, 6]), marketer_risk([2, 2, 6], [4, 4, 12])
        (0.3, 0.15)
    """
    check_arguments(marketer_risk, locals(), "suppressed")
    if population is None:
        return prosecutor_risk(sizes, suppressed=suppressed).average
    return journalist_risk(sizes, population, suppressed=suppressed).average


def sample_uniqueness(sizes: ArrayLike) -> float:
    """The share of records that are alone in their class.

    Args:
        sizes: of the classes of records.

    Example:
        >>> from sudare.microdata.risk import sample_uniqueness
        >>> sample_uniqueness([1, 1, 2])
        0.5
    """
    counts = _sizes(sizes, "sample_uniqueness")
    rows = int(counts.sum())
    return float((counts == 1).sum() / rows) if rows else 0.0


def population_sizes(sample: Sequence[CodedColumn], population: Sequence[CodedColumn]) -> Integers:
    """For each class of the sample, in the order of first appearance, how many people of the population are in it.

    Args:
        sample: the quasi-identifiers of the published records, on their levels.
        population: the same columns of everybody, on the same levels.

    Raises:
        InputError: if a class has fewer people in the population than records; names the first such row.

    Example:
        >>> from sudare.microdata.records import CodedColumn
        >>> from sudare.microdata.risk import population_sizes
        >>> population_sizes([CodedColumn.of("age", ["30-39", "40-49"])], [CodedColumn.of("age", ["40-49"] * 3 + ["30-39"])])
        array([1, 3])
    """
    if len(sample) != len(population) or not sample:
        raise ParameterError("population", "population_sizes", "the columns of the sample", Described("others"))
    rows, joined = sample[0].rows, []
    for ours, theirs in zip(sample, population, strict=True):
        known = {label: code for code, label in enumerate(ours.labels)}
        new = [known.setdefault(label, len(known)) for label in theirs.labels]
        joined.append(np.concatenate([ours.codes, np.array(new, dtype=np.int32)[theirs.codes]]))
    classes = group(joined)
    counts = np.bincount(classes.of_row[:rows], minlength=classes.sizes.size)
    everybody = classes.sizes - counts
    # The sample comes first, so its classes do.
    ours_only, found = counts[counts > 0], everybody[counts > 0]
    if (found < ours_only).any():
        row = int(np.argmax((everybody < counts)[classes.of_row[:rows]])) + 1
        raise InputError(
            f"Row {row} of the data is in a class with fewer people in the population's table than in the data. The table "
            f"must hold everybody, on the same levels ({', '.join(column.name for column in sample)}).",
            f"データ {row} 行目の組は、母集団の表の方が人数が少なくなっています。母集団の表には全員が同じ粒度で入っていなければ"
            f"なりません ({', '.join(column.name for column in sample)})。",
        )
    return found.astype(np.int64)


def matching_frequencies(columns: Sequence[CodedColumn], weights: ArrayLike | None = None) -> tuple[Integers, Floats]:
    """For each record how many records match it, and the sum of their weights; a missing value matches everything.

    This is what sdcMicro calls fk and Fk. Records are compared by the columns in which both have a value: once for each pair of
    patterns of missing values, not for each pair of records.

    Args:
        columns: the quasi-identifiers.
        weights: how many people of the population each record stands for; 1 if left out.

    Example:
        >>> from sudare.microdata.records import CodedColumn
        >>> from sudare.microdata.risk import matching_frequencies
        >>> matching_frequencies([CodedColumn.of("job", ["nurse", None, "teacher"])])[0]
        array([2, 3, 2])
    """
    check_arguments(matching_frequencies, locals(), "columns", "weights")
    function = "matching_frequencies"
    if not columns:
        raise ParameterError("columns", function, Words("at least one column", "1 個以上の列"), Described("none"))
    rows = columns[0].rows
    worth = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if worth.shape != (rows,) or not np.isfinite(worth).all() or (worth <= 0).any():
        raise ParameterError("weights", function, "a number above 0 for each record", Described("others"))
    codes = [column.codes for column in columns]
    missing = np.zeros((rows, len(columns)), dtype=bool)
    for place, column in enumerate(columns):
        if None in column.labels:
            missing[:, place] = column.codes == column.labels.index(None)
    patterns, pattern_of = np.unique(missing, axis=0, return_inverse=True)
    members = [np.flatnonzero(pattern_of.ravel() == pattern) for pattern in range(len(patterns))]
    frequencies, people = np.zeros(rows, dtype=np.int64), np.zeros(rows)
    for here, ours in enumerate(members):
        for there, theirs in enumerate(members):
            common = np.flatnonzero(~(patterns[here] | patterns[there]))
            both = np.concatenate([ours, theirs])
            keys = (
                group([codes[place][both] for place in common]).of_row if common.size else np.zeros(both.size, np.int64)
            )
            found, wanted = keys[ours.size :], keys[: ours.size]
            size = int(keys.max()) + 1 if keys.size else 0
            frequencies[ours] += np.bincount(found, minlength=size)[wanted]
            people[ours] += np.bincount(found, weights=worth[theirs], minlength=size)[wanted]
    return frequencies, people


def individual_risk(frequencies: ArrayLike, people: ArrayLike, *, method: str = "exact") -> Floats:
    """The chance to re-identify each record of a survey, from its frequency and its sum of weights (Benedetti and Franconi).

    The number F of people in the population who look like a record is modelled as negative binomial, with f and p = f / (sum of
    weights); the risk is the mean of 1 / F, which is the integral of v**(f-1) / (1 + v (1-p)/p) over v from 0 to 1.

    Args:
        frequencies: of the records in the sample.
        people: the sums of weights, at least the frequencies.
        method: ``"exact"``, or ``"approximate"`` for the formula p / (f - (1 - p)) from f = 3 on, as sdcMicro has it by default.

    Example:
        >>> from sudare.microdata.risk import individual_risk
        >>> individual_risk([1, 3], [45.5, 108.0]).round(4).tolist()
        [0.0858, 0.0136]
    """
    check_arguments(individual_risk, locals(), "frequencies", "people", "method")
    counts, everybody = np.asarray(frequencies, dtype=np.float64), np.asarray(people, dtype=np.float64)
    if counts.shape != everybody.shape or counts.ndim != 1 or (counts < 1).any() or (everybody <= 0).any():
        requirement = "a number above 0 for each record"
        raise ParameterError("people", "individual_risk", requirement, Described("others"))
    if method not in ("exact", "approximate"):
        raise ParameterError("method", "individual_risk", "'exact' or 'approximate'", shown(method))
    share = np.minimum(counts / everybody, 1.0)
    result = _mean_reciprocal(counts, share)
    if method == "approximate":
        result = np.where(counts > 2, share / (counts - (1.0 - share)), result)
    return np.where(share == 1.0, 1.0 / counts, result)


def _mean_reciprocal(counts: Floats, share: Floats) -> Floats:
    """The integral, by two ways that only add up or shrink what was rounded."""
    odds = (1.0 - share) / share
    result = np.zeros(counts.size)
    # I(1) = log(1 + c) / c and I(f + 1) = (1 / f - I(f)) / c, where c >= 1 makes errors smaller at each step.
    by_steps = (odds >= 1.0) & (counts <= STEPS)
    current = np.log1p(odds[by_steps]) / odds[by_steps]
    found = current.copy()
    for step in range(1, STEPS):
        current = (1.0 / step - current) / odds[by_steps]
        found = np.where(counts[by_steps] == step + 1, current, found)
    result[by_steps] = found
    # p / f * sum of k! q**k / ((f+1) ... (f+k)): all terms positive, and falling at least by half, or as fast as 1 / C(f+k, k).
    rest = ~by_steps
    term, total = np.ones(int(rest.sum())), np.ones(int(rest.sum()))
    for step in range(1, STEPS):
        term = term * (1.0 - share[rest]) * step / (counts[rest] + step)
        total = total + term
    result[rest] = share[rest] / counts[rest] * total
    return result


@dataclass(frozen=True)
class AttributeRisk:
    """How well some columns tell records apart.

    Attributes:
        names: of the columns.
        distinction: different combinations of values, divided by the number of records.
        separation: the share of the pairs of records that differ in at least one of the columns.
    """

    names: tuple[str, ...]
    distinction: float
    separation: float


def attribute_risks(records: AnyRecords, names: Iterable[str], *, most: int | None = None) -> RowTuple[AttributeRisk]:
    """Distinction and separation of every set of columns: which ones identify people.

    Args:
        records: the data.
        names: the columns that an attacker may know.
        most: the largest number of columns in a set; all of them if left out. There are 2**columns - 1 sets.

    Returns:
        One for each set, those that separate least first.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.risk import attribute_risks
        >>> people = Records.of_columns({"age": [20, 30, 40, 20, 40], "sex": ["f", "f", "f", "m", "m"]})
        >>> [(risk.names, risk.distinction, risk.separation) for risk in attribute_risks(people, ["age", "sex"])][0]
        (('sex',), 0.4, 0.6)
    """
    check_arguments(attribute_risks, locals(), "most")
    records = read_people_records(records, "attribute_risks")
    names = names_of_columns(names, records, "names", "attribute_risks")
    columns = [records.column(name) for name in dict.fromkeys(names)]
    found = []
    pairs = records.rows * (records.rows - 1) / 2
    for count in range(1, 1 + (len(columns) if most is None else min(most, len(columns)))):
        for chosen in combinations(columns, count):
            sizes = group(list(chosen)).sizes
            alike = float((sizes * (sizes - 1) // 2).sum())
            found.append(
                AttributeRisk(
                    tuple(column.name for column in chosen),
                    float(sizes.size / records.rows) if records.rows else 0.0,
                    1.0 - alike / pairs if pairs else 1.0,
                )
            )
    return RowTuple(sorted(found, key=lambda risk: (risk.separation, risk.distinction, len(risk.names))))
