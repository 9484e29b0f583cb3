"""A plan: what will be drawn and how exact it will be, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from math import prod
from types import MappingProxyType
from typing import Any, Literal

from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.unit import Unit
from sudare.tables.predicted_error import PredictedError, read_people

__all__ = ["Alternative", "Plan", "PlannedLevel", "PredictedError"]

Language = Literal["en", "ja"]

_WORDS = {
    "en": {
        "plan": "Plan: {mechanism} with {noise} noise for {cells:,} cells",
        "spends": "Spends {budget}, per {who} ({adjacency})",
        "exact": "Published exactly: {invariants}",
        "measured": "measured",
        "share": "share of the budget",
        "deviation": "noise (standard deviation)",
        "side": "areas of side",
        "people": "all people",
        "noise": "noise alone",
        "inhabited": "where people live",
        "all": "all areas",
        "from": "{what}, from - to",
        "meaning": "Noise alone: the root mean squared error if every part of every area is inhabited. From - to: where that of"
        "\n  one release is expected, nine times out of ten: over areas in which somebody is counted, and over all areas.",
        "known": "For about {number:,} people.",
        "unknown": "For 1 to 100 people a cell; where their number is public, people=... makes the intervals narrower.",
        "depends": "How accurate it will be depends on the data.",
        "why": "Why",
        "others": "Alternatives, error relative to this plan",
    },
    "ja": {
        "plan": "計画: {cells:,} セルの表を {mechanism}({noise} ノイズ)で公表",
        "spends": "消費する予算 {budget}、保護単位 {who}({adjacency})",
        "exact": "厳密に公表する量: {invariants}",
        "measured": "測定",
        "share": "予算の割合",
        "deviation": "ノイズ(標準偏差)",
        "side": "領域の一辺",
        "people": "総数",
        "noise": "ノイズのみ",
        "inhabited": "人の住む領域",
        "all": "すべての領域",
        "from": "{what}(範囲)",
        "meaning": "「ノイズのみ」は、領域のどの部分にも人が住む場合の二乗平均平方根誤差。"
        "範囲は、1回の公表での誤差が10回に9回入る区間で、\n  1人以上が数えられる領域と、すべての領域について示す。",
        "known": "人口が約 {number:,} 人の場合。",
        "unknown": "1セルあたり1~100人の場合。人口が公開されていれば、people=... で範囲が狭くなる。",
        "depends": "精度はデータに依存する。",
        "why": "理由",
        "others": "他の方法(この計画に対する誤差の比)",
    },
}


@dataclass(frozen=True)
class PlannedLevel:
    """One measurement of a plan.

    Attributes:
        name: what is measured.
        share: of the budget, from 0 to 1.
        deviation: the standard deviation of the noise.
    """

    name: str
    share: float
    deviation: float


@dataclass(frozen=True)
class Alternative:
    """Another way to publish the table, and how it compares.

    Attributes:
        mechanism: its name.
        settings: what it would be called with, in words.
        ratio: its expected error over that of the plan, geometric mean over the sizes of the workload.
        worst_ratio: the same at the size where it compares worst.
    """

    mechanism: str
    settings: str
    ratio: float
    worst_ratio: float


@dataclass(frozen=True)
class Plan:
    """How a table will be published. It depends on the domain, the budget and the workload, never on the counts.

    Attributes:
        mechanism: the name of the mechanism.
        settings: what it is called with, besides table and budget.
        noise: the kind of noise.
        shape: places along each axis of the domain.
        budget: what will be spent.
        unit: who is protected.
        invariants: what will be published exactly.
        levels: what will be measured, and how exactly.
        errors: what to expect, for each size of area.
        alternatives: what was rejected.
        reasons: why this was chosen.
        people: about how many people the errors are predicted for; None where nothing is said of it.
    """

    mechanism: str
    settings: Mapping[str, Any]
    noise: str
    shape: tuple[int, ...]
    budget: Budget
    unit: Unit
    invariants: tuple[str, ...]
    levels: tuple[PlannedLevel, ...]
    errors: tuple[PredictedError, ...]
    alternatives: tuple[Alternative, ...] = ()
    reasons: tuple[str, ...] = ()
    people: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def for_people(self, people: int) -> Plan:
        """The same plan, with errors predicted for about so many people.

        Args:
            people: about how many the table will have, **where that is public**.

        Raises:
            ParameterError: if it is no whole number from 1 to 2**40.
        """
        number = read_people(people, "Plan.for_people")
        of_histogram, cells = self.mechanism == "histogram", prod(self.shape)
        errors = tuple(error.for_people(number, cells, of_histogram=of_histogram) for error in self.errors)
        return replace(self, errors=errors, people=number)

    def explain(self, language: Language = "en") -> str:
        """The plan as a page of text.

        Args:
            language: ``"en"`` or ``"ja"``.
        """
        if not isinstance(language, str) or language not in _WORDS:
            raise ParameterError("language", "Plan.explain", "'en' or 'ja'", shown(language))
        words = _WORDS[language]
        lines = self._headlines(words)
        if self.levels:
            lines += ["", f"  {words['share']:>24}  {words['deviation']:>28}  {words['measured']}"]
            lines += [f"  {level.share:>24.1%}  {level.deviation:>28,.1f}  {level.name}" for level in self.levels]
        if self.errors:
            lines += ["", *(self._grids(words) if any(error.margin for error in self.errors) else self._list(words))]
            lines.append(f"  {words['meaning']}")
            lines.append("  " + (words["known"].format(number=self.people) if self.people else words["unknown"]))
        else:
            lines += ["", f"  {words['depends']}"]
        if self.reasons:
            lines += ["", f"{words['why']}:", *(f"  - {reason}" for reason in self.reasons)]
        if self.alternatives:
            lines += ["", f"{words['others']}:"]
            lines += [
                f"  x {a.ratio:.2f} (max {a.worst_ratio:.2f})  {a.mechanism}, {a.settings}" for a in self.alternatives
            ]
        return "\n".join(lines)

    def _list(self, words: dict[str, str]) -> list[str]:
        """The predicted error of each size of area, a line for each."""
        inhabited, everywhere = (words["from"].format(what=words[name]) for name in ("inhabited", "all"))
        lines = [f"  {words['side']:>14}  {words['noise']:>14}  {inhabited:>30}  {everywhere:>24}"]
        return lines + [
            f"  {e.side:>14,}  {e.rmse:>14,.1f}  {_interval(e.low, e.high):>30}  {_interval(e.all_low, e.all_high):>24}"
            for e in self.errors
        ]

    def _grids(self, words: dict[str, str]) -> list[str]:
        """The same where there are margins: a line for each size of area, a column for each margin."""
        shown = {
            words["noise"]: {e: f"{e.rmse:,.1f}" for e in self.errors},
            words["from"].format(what=words["inhabited"]): {e: _interval(e.low, e.high) for e in self.errors},
            words["from"].format(what=words["all"]): {e: _interval(e.all_low, e.all_high) for e in self.errors},
        }
        return [line for title, texts in shown.items() for line in (f"  {title}:", *self._grid(texts, words), "")]

    def _grid(self, texts: Mapping[PredictedError, str], words: dict[str, str]) -> list[str]:
        margins = list(dict.fromkeys(error.margin for error in self.errors))
        names = [" x ".join(margin) or words["people"] for margin in margins]
        width = max(8, *map(len, names), *map(len, texts.values()))
        known = {(error.side, error.margin): text for error, text in texts.items()}
        lines = [f"  {words['side']:>14}  " + "  ".join(f"{name:>{width}}" for name in names)]
        for side in sorted({error.side for error in self.errors}):
            row = "  ".join(f"{known.get((side, margin), ''):>{width}}" for margin in margins)
            lines.append(f"  {side:>14,}  {row}")
        return lines

    def _headlines(self, words: dict[str, str]) -> list[str]:
        lines = [
            words["plan"].format(mechanism=self.mechanism, noise=self.noise, cells=prod(self.shape)),
            words["spends"].format(budget=self.budget, who=self.unit.who, adjacency=self.unit.adjacency),
        ]
        if self.invariants:
            lines.append(words["exact"].format(invariants=", ".join(self.invariants)))
        return lines

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"


def _interval(low: float, high: float) -> str:
    return f"{low:,.1f} - {high:,.1f}"
