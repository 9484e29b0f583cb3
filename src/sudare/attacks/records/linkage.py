"""Linkage: finding people of an outside file, which has names, in a file that has none, by the attributes that both files have.

Each outside record is linked with the nearest record of the attacked file. If several are equally near, the attacker guesses
among them. Where the truth is known, the share of right links (guesses counted by their probability) stands beside that of blind
guessing. Records that are alone on both sides and agree exactly are links that need no guess. Where the truth is not known, any
other link that an attacker would make may be right or wrong: nothing is decided about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.records.distances import KeyColumn, distances_by_part
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, read_chance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["Links", "link_records"]

TIE = 1e-9
REMEDY = Words(
    "Generalize or perturb the attributes that outsiders know, release a sample only, or release tables or synthetic data "
    "with noise.",
    "外部に知られている属性を一般化または撹乱するか、標本だけを提供するか、ノイズ付きの表や合成データに替えてください。",
)
UNKNOWN = Words(" Whether it is right is not known.", "正しいかどうかはわかりません。")


@dataclass(frozen=True, eq=False)
class Links(Rows):
    """The links that an attacker would make.

    Attributes:
        nearest: for each outside record, a nearest record of the attacked file (the first of them).
        distance: how far it is; 0 means that all attributes agree.
        ties: how many records are equally near.
        is_certain: whether it agrees exactly and is alone on both sides.
        right: the probability that the link is right, where the truth is known; NaN where the person is not in the file.
        blind: the share of right links of somebody who guesses without looking; NaN if the truth is not known.
    """

    nearest: NDArray[np.int64]
    distance: Floats
    ties: NDArray[np.int64]
    is_certain: NDArray[np.bool_]
    right: Floats | None
    blind: float

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each outside record: the record that an attacker would link it with."""
        found = {
            "nearest": self.nearest,
            "distance": self.distance,
            "ties": self.ties,
            "is_certain": self.is_certain,
        }
        return found if self.right is None else {**found, "right": self.right}

    @property
    def share_right(self) -> float:
        """The share of right links among outside people who are in the file; NaN if the truth is not known."""
        if self.right is None or np.isnan(self.right).all():
            return float("nan")
        return float(np.nanmean(self.right))

    def report(self, names: Sequence[str] | None = None, *, sure: Rational = 0.5) -> AttackReport:
        """A verdict for each outside person.

        Args:
            names: of the outside people.
            sure: a link counts as broken if it is right with at least this probability; where the truth is not known, if it is
                certain. A link that would be broken if it were right is then undecided.
        """
        labels = names if names is not None else [f"person {place}" for place in range(self.nearest.size)]
        chance = read_chance(sure, "sure", "Links.report", with_ends=True)
        verdicts = [self._verdict(labels[place], place, chance) for place in range(self.nearest.size)]
        certain = int(self.is_certain.sum())
        if self.right is None:
            summary = Words(
                f"{certain:,} of {self.nearest.size:,} outside people match exactly one record, and it matches nobody else.",
                f"外部の {self.nearest.size:,} 人のうち {certain:,} 人がただ一つのレコードと一意に一致します。",
            )
        else:
            summary = Words(
                f"{self.share_right:.1%} of the links are right; blind guessing gives {self.blind:.2%}.",
                f"対応づけの {self.share_right:.1%} が正しく、当て推量では {self.blind:.2%} です。",
            )
        return AttackReport.of("linkage", summary, verdicts)

    def _verdict(self, name: str, place: int, sure: float) -> Verdict:
        ties, distance = int(self.ties[place]), float(self.distance[place])
        if self.right is None:
            number = 1.0 / ties
            unknown = AttackOutcome.UNDECIDED if number >= sure else AttackOutcome.HELD
            outcome = AttackOutcome.BROKEN if self.is_certain[place] else unknown
        else:
            number = float(self.right[place])
            outcome = AttackOutcome.BROKEN if number >= sure else AttackOutcome.HELD
        sentence = Words(
            f"Linked with record {int(self.nearest[place])} at distance {distance:.3g}; {ties} record(s) are as near."
            + ("" if self.right is None else f" Right with probability {number:.1%}.")
            + (UNKNOWN.english if outcome is AttackOutcome.UNDECIDED else ""),
            f"レコード {int(self.nearest[place])} に距離 {distance:.3g} で対応し、同じ近さのレコードは {ties} 件です。"
            + ("" if self.right is None else f"正しい確率は {number:.1%} です。")
            + (UNKNOWN.japanese if outcome is AttackOutcome.UNDECIDED else ""),
        )
        return Verdict("linkage", name, outcome, number, sentence, REMEDY)


def link_records(columns: Sequence[KeyColumn], *, truth: ArrayLike | None = None) -> Links:
    """Link each record of an outside file (the first) with a record of the attacked file (the second).

    Args:
        columns: the attributes that both files have; see `KeyColumn`.
        truth: for each outside record, the position of the same person in the attacked file; -1 if not there.

    Example:
        >>> from sudare.attacks.records.distances import KeyColumn
        >>> from sudare.attacks.records.linkage import link_records
        >>> columns = [KeyColumn("sex", ["F", "M"], ["M", "M", "F"]), KeyColumn("age", [34, 51], [50, 20, 35], scale=10)]
        >>> links = link_records(columns, truth=[2, 0])
        >>> links.nearest.tolist(), links.share_right
        ([2, 0], 1.0)
    """
    check_arguments(link_records, locals(), "columns")
    nearest, distance, ties, own = [], [], [], []
    exact_first: list[NDArray[np.int64]] = []
    exact_second: NDArray[np.int64] | None = None
    wanted = None if truth is None else np.asarray(truth)
    for start, part in distances_by_part(columns, "link_records"):
        if wanted is not None:
            _check_truth(wanted, len(np.asarray(columns[0].first)), part.shape[1])
        if part.shape[1] == 0:
            raise ParameterError("columns", "link_records", "of a file with records", Described("an empty file"))
        least = part.min(axis=1)
        near = part <= least[:, None] + TIE
        nearest.append(near.argmax(axis=1))
        distance.append(least)
        ties.append(near.sum(axis=1))
        agree = part <= TIE
        exact_first.append(agree.sum(axis=1))
        exact_second = agree.sum(axis=0) if exact_second is None else exact_second + agree.sum(axis=0)
        if wanted is not None:
            places = wanted[start : start + len(part)]
            inside = near[np.arange(len(part)), np.maximum(places, 0)]
            own.append(np.where(places < 0, np.nan, np.where(inside, 1.0, 0.0) / ties[-1]))
    if exact_second is None:
        empty = np.zeros(0, dtype=np.int64)
        return Links(empty, np.zeros(0), empty, np.zeros(0, dtype=np.bool_), None, float("nan"))
    found = np.concatenate(nearest)
    certain = (np.concatenate(exact_first) == 1) & (exact_second[found] == 1)
    blind = float("nan") if wanted is None else 1.0 / exact_second.size
    right = np.concatenate(own) if wanted is not None else None
    return Links(found, np.concatenate(distance), np.concatenate(ties), certain, right, blind)


def _check_truth(truth: NDArray[np.int64], outside: int, attacked: int) -> None:
    good = truth.shape == (outside,) and np.issubdtype(truth.dtype, np.integer)
    if not good or (truth < -1).any() or (truth >= attacked).any():
        requirement = f"{outside} positions in the attacked file (or -1), one for each outside record"
        raise ParameterError("truth", "link_records", requirement, Described(f"{truth.dtype}, shape {truth.shape}"))
