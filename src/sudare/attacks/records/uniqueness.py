"""Uniqueness: who is alone in a file with some of their values, and with how few of them.

A person whose combination of values nobody else has can be recognized by it. The fewer values it takes, the easier (and the
likelier that they are so in the population as well): the smallest such combinations are the minimal sample uniques of the special
uniques detection algorithm (Elliot, Manning, Ford 2002), and every person's score grows with their number and their smallness.

Anyone who is not alone with all their values together is alone with none of them. That is looked at once, so that "held" is
proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.records.distances import codes_of_values
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows, columns_of_frame
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.border.native_frames import IntoFrame

    Integers = NDArray[np.int64]

__all__ = ["SpecialUniques", "find_special_uniques", "population_uniques"]

MAX_COMBINATIONS = 100_000
REMEDY = Words(
    "Generalize the attributes that make the person unique, withhold the record, or release k-anonymous records or tables "
    "with noise.",
    "一意にしている属性を一般化するか、そのレコードを除くか、k-匿名化したレコードやノイズ付きの表にしてください。",
)


@dataclass(frozen=True, eq=False)
class SpecialUniques(Rows):
    """Who is unique, by which smallest combinations of attributes.

    Attributes:
        names: of the attributes.
        combinations: for each record, the smallest sets of attributes that make it unique (none inside another).
        scores: of each record; larger is more conspicuous, 0 is not unique with up to ``largest_size`` attributes.
        largest_size: how many attributes were combined at most.
        unique_with_all: which records nobody else equals in all attributes.
    """

    names: tuple[str, ...]
    combinations: tuple[tuple[tuple[str, ...], ...], ...]
    scores: Integers
    largest_size: int
    unique_with_all: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each record: its score, and the smallest sets of attributes that make it unique."""
        return {
            "record": np.arange(len(self.combinations)),
            "score": self.scores,
            "smallest": self.smallest,
            "combinations": ["; ".join(", ".join(names) for names in found) for found in self.combinations],
        }

    @property
    def smallest(self) -> Integers:
        """The number of attributes of each record's smallest unique combination; 0 if there is none."""
        return np.array([min(map(len, found), default=0) for found in self.combinations], dtype=np.int64)

    def report(self, names: Sequence[str] | None = None) -> AttackReport:
        """A verdict for each record.

        Args:
            names: of the records.
        """
        labels = names if names is not None else [f"record {place}" for place in range(len(self.combinations))]
        unique = int((self.smallest > 0).sum())
        summary = Words(
            f"{unique:,} of {len(labels):,} records are unique with at most {self.largest_size} attributes.",
            f"{len(labels):,} レコードのうち {unique:,} 件が {self.largest_size} 個以下の属性で一意になります。",
        )
        return AttackReport.of(
            "uniqueness",
            summary,
            [self._verdict(label, place) for place, label in zip(range(len(self.combinations)), labels, strict=True)],
        )

    def _verdict(self, label: str, place: int) -> Verdict:
        found = self.combinations[place]
        if not found and self.unique_with_all[place]:
            sentence = Words(
                f"Not unique with up to {self.largest_size} attributes, but with all {len(self.names)}; fewer may be enough.",
                f"{self.largest_size} 個以下の属性では一意になりませんが、{len(self.names)} 個すべてでは一意です"
                "（より少ない属性で足りるかもしれません）。",
            )
            return Verdict("uniqueness", label, AttackOutcome.UNDECIDED, float(len(self.names)), sentence, REMEDY)
        if not found:
            sentence = Words(
                f"Not unique with up to {self.largest_size} attributes, nor with all of them.",
                f"{self.largest_size} 個以下の属性でも、すべての属性でも一意になりません。",
            )
            return Verdict("uniqueness", label, AttackOutcome.HELD, 0.0, sentence, REMEDY)
        shortest = min(found, key=len)
        sentence = Words(
            f"Nobody else has the same {', '.join(shortest)}; {len(found)} smallest combination(s) make this record unique.",
            f"{'・'.join(shortest)} が同じ人はほかにいません。一意にする最小の組合せが {len(found)} 通りあります。",
        )
        return Verdict("uniqueness", label, AttackOutcome.BROKEN, float(len(shortest)), sentence, REMEDY)


def find_special_uniques(columns: Mapping[str, ArrayLike] | IntoFrame, *, largest_size: int = 3) -> SpecialUniques:
    """Find the smallest combinations of attributes that make records unique.

    The score of a record adds, for each of its combinations of k attributes out of all a, the number of ways to build up to the
    largest size from it: (a - k)! / (a - largest)!, and 1 for combinations of the largest size. With all sizes but the last,
    ``largest_size`` = a - 1, this is the score of the algorithm's authors; below, they multiply all scores by a - largest.

    Args:
        columns: the values of each attribute, one for each record.
        largest_size: how many attributes to combine at most.

    Raises:
        ParameterError: if there are more than 100,000 combinations to look at.

    Example:
        >>> from sudare.attacks.records.uniqueness import find_special_uniques
        >>> found = find_special_uniques({"sex": ["F", "F", "M", "M"], "age": [30, 40, 30, 30], "town": ["a", "a", "a", "b"]})
        >>> found.combinations[1], found.combinations[0]
        ((('age',),), (('sex', 'age'),))
    """
    columns = columns_of_frame(columns, "columns", "find_special_uniques")
    check_arguments(find_special_uniques, locals(), "columns")
    function = "find_special_uniques"
    names = tuple(columns)
    most = exact_integer(
        largest_size, "largest_size", function, Words("a whole number >= 1", "1 以上の整数"), smallest=1
    )
    most = min(most, len(names))
    number = sum(comb(len(names), size) for size in range(1, most + 1))
    if not names or number > MAX_COMBINATIONS:
        requirement = f"at least one attribute, and at most {MAX_COMBINATIONS:,} combinations of largest_size of them"
        raise ParameterError("columns", function, requirement, Described(f"{number:,}"))
    codes = _codes(columns, function)
    records = codes.shape[1]
    masks: list[list[int]] = [[] for _ in range(records)]
    for size in range(1, most + 1):
        for chosen in combinations(range(len(names)), size):
            mask = sum(1 << column for column in chosen)
            for record in np.flatnonzero(_alone(codes[list(chosen)])):
                if not any(smaller & mask == smaller for smaller in masks[record]):
                    masks[record].append(mask)
    found = tuple(
        tuple(tuple(name for column, name in enumerate(names) if mask >> column & 1) for mask in own) for own in masks
    )
    worth = {size: factorial(len(names) - size) // factorial(len(names) - most) for size in range(1, most + 1)}
    scores = np.array([sum(worth[mask.bit_count()] for mask in own) for own in masks], dtype=np.int64)
    return SpecialUniques(names, found, scores, most, _alone(codes))


def population_uniques(
    sample: Mapping[str, ArrayLike] | IntoFrame, population: Mapping[str, ArrayLike] | IntoFrame
) -> NDArray[np.bool_]:
    """Which records of a sample are unique in it with all their values, and in the whole population as well.

    Args:
        sample: the values of each attribute.
        population: the same attributes of everybody, the sample included.

    Raises:
        ParameterError: if the attributes are not the same, or somebody of the sample is not in the population.

    Example:
        >>> from sudare.attacks.records.uniqueness import population_uniques
        >>> population_uniques({"age": [30, 40]}, {"age": [30, 40, 40]}).tolist()
        [True, False]
    """
    sample = columns_of_frame(sample, "sample", "population_uniques")
    population = columns_of_frame(population, "population", "population_uniques")
    check_arguments(population_uniques, locals(), "sample", "population")
    function = "population_uniques"
    if set(sample) != set(population):
        raise ParameterError(
            "population", function, "of the same attributes as sample", Described(", ".join(population))
        )
    sizes = (len(np.asarray(next(iter(sample.values())))), len(np.asarray(next(iter(population.values())))))
    sides = [[np.asarray(side[name]) for name in sample] for side in (sample, population)]
    for arrays, size, parameter in zip(sides, sizes, ("sample", "population"), strict=True):
        if any(array.shape != (size,) for array in arrays):
            raise ParameterError(parameter, function, "columns of equal length", Described("others"))
    codes = np.array([np.concatenate(codes_of_values(*pair)) for pair in zip(*sides, strict=True)])
    _, group = np.unique(codes, axis=1, return_inverse=True)
    group = group.ravel()
    inside, everybody = (
        np.bincount(part, minlength=int(group.max()) + 1) for part in (group[: sizes[0]], group[sizes[0] :])
    )
    own, alike = inside[group[: sizes[0]]], everybody[group[: sizes[0]]]
    if (alike == 0).any():
        requirement = "everybody, the people of the sample included, with values written alike"
        raise ParameterError("population", function, requirement, Described("somebody of the sample is missing"))
    return np.asarray((own == 1) & (alike == 1))


def _codes(columns: Mapping[str, ArrayLike], function: str) -> Integers:
    arrays = [np.asarray(values) for values in columns.values()]
    if not arrays or len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        raise ParameterError("columns", function, "attributes with one value for each record", Described("others"))
    return np.array([codes_of_values(array)[0] for array in arrays])


def _alone(codes: Integers) -> NDArray[np.bool_]:
    """Which records have a combination that no other has."""
    key = codes[0].astype(np.int64)
    for column in codes[1:]:
        key = key * (int(column.max(initial=0)) + 1) + column
        _, key = np.unique(key, return_inverse=True)  # stays small, however many attributes there are
    return np.asarray(np.bincount(key)[key] == 1)
