"""What an examination found: the reports of the attacks that applied, and why the others did not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows

__all__ = ["EXAMINATION_FORMAT", "KINDS", "NAMES", "Examination", "NotApplied", "Remark"]

EXAMINATION_FORMAT = "sudare-examination/1"

KINDS: Mapping[str, Words] = {
    "private-table": Words("a table with differential privacy", "差分プライバシーのある表"),
    "private-people": Words("records with differential privacy", "差分プライバシーのあるレコード"),
    "people": Words("records of people, without a budget", "プライバシー予算を伴わない個票"),
    "protected-table": Words("a table protected by statistical disclosure control", "統計的開示抑制で保護された表"),
    "tables": Words("published tables of counts", "公表された度数表"),
    "tick": Words("one tick of a series", "系列の1時点"),
    "series-day": Words("a window of a series", "系列の1期間"),
    "program": Words("a program", "プログラム"),
}
"""What can be examined."""

NAMES: Mapping[str, Words] = {
    "reconstruction": Words("reconstruction of people", "個人の再構成"),
    "interval": Words("intervals of hidden cells", "秘匿セルの区間"),
    "insiders": Words("hidden cells, by those in them", "内部者による秘匿セルの推定"),
    "earlier": Words("what earlier publications add", "以前の公表と合わせた推定"),
    "merging": Words("merged meshes", "合算したメッシュ"),
    "differencing": Words("differences of published cells", "公表値の差し引き"),
    "averaging": Words("averaging of noisy counts", "ノイズ付き度数の平均"),
    "ticks": Words("averaging over the ticks of a series", "系列の時点の平均"),
    "membership": Words("who is in the data", "データに含まれるかどうかの推測"),
    "linkage": Words("linkage with known people", "既知の人との照合"),
    "outside": Words("linkage with an outside file", "外部ファイルとの照合"),
    "uniqueness": Words("uniqueness", "一意性"),
    "models": Words("the models that are promised", "約束されたモデル"),
    "attributes": Words("sensitive values of classes", "等価クラスの機微属性"),
    "empirical epsilon": Words("empirical epsilon", "実測 ε"),
}
"""Of attacks, in words; one that is not here is told by its own name."""

_RANK = {outcome: place for place, outcome in enumerate(AttackOutcome)}


@dataclass(frozen=True)
class NotApplied:
    """An attack that was not run.

    Attributes:
        attack: its short name.
        reason: why, and what would make it possible.
        is_open: whether it would apply, and was not run because of its size or for want of a package: nothing is decided then.
    """

    attack: str
    reason: Words
    is_open: bool = False


Remark = Words
"""Something else that those who decide should know: public totals, releases that were not found."""


@dataclass(frozen=True)
class Examination(Rows):
    """All that attacks found about one publication. It speaks of protected people, and is not for publication.

    Attributes:
        place: the folder or file that was examined.
        kind: what it is, a key of `KINDS`.
        title: in the words of its publisher.
        reports: of the attacks that applied.
        not_applied: the other attacks.
        remarks: what should be known besides.
        is_complete: whether all further publications that were named were looked at.

    Example:
        >>> from pathlib import Path
        >>> Examination(Path("release"), "private-table", "A table", (), (), ()).outcome
        <AttackOutcome.UNDECIDED: 'undecided'>
    """

    place: Path
    kind: str
    title: str
    reports: tuple[AttackReport, ...]
    not_applied: tuple[NotApplied, ...]
    remarks: tuple[Remark, ...]
    is_complete: bool = True

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each verdict of each attack; sentences in English."""
        frames = [report.frame_columns() for report in self.reports]
        names = ("attack", "target", "outcome", "number", "sentence", "remedy")
        return {name: [value for each in frames for value in each[name]] for name in names}

    @property
    def outcome(self) -> AttackOutcome:
        """Broken if any attack broke anything, else undecided if any is or something was not looked at, else held."""
        found = [report.outcome for report in self.reports]
        if not found or not self.is_complete or any(each.is_open for each in self.not_applied):
            found.append(AttackOutcome.UNDECIDED)
        return min(found, key=_RANK.__getitem__)

    def report(self, attack: str) -> AttackReport | None:
        """The report of an attack; None if it did not apply."""
        return next((report for report in self.reports if report.attack == attack), None)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON, with all verdicts."""
        return {
            "format": EXAMINATION_FORMAT,
            "confidential": True,
            "examined": str(self.place),
            "kind": self.kind,
            "title": self.title,
            "outcome": self.outcome.value,
            "attacks": [_report_values(report) for report in self.reports],
            "not_applied": [{"attack": each.attack, "reason": _both(each.reason)} for each in self.not_applied],
            "remarks": [_both(remark) for remark in self.remarks],
        }


def _report_values(report: AttackReport) -> dict[str, object]:
    return {
        "attack": report.attack,
        "outcome": report.outcome.value,
        "summary": _both(report.summary),
        **{outcome.value: len(report.with_outcome(outcome)) for outcome in AttackOutcome},
        "verdicts": [_verdict_values(verdict) for verdict in report.verdicts],
    }


def _verdict_values(verdict: Verdict) -> dict[str, object]:
    return {
        "target": verdict.target,
        "outcome": verdict.outcome.value,
        "number": verdict.number if math.isfinite(verdict.number) else None,
        "sentence": _both(verdict.sentence),
        "remedy": _both(verdict.remedy),
    }


def _both(words: Words) -> dict[str, str]:
    return {"english": words.english, "japanese": words.japanese}
