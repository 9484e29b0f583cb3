"""A plan: what will be drawn and how exact it will be, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import Any, Literal

from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.unit import Unit
from sudare.tables.plan_words import (
    of_adjacency,
    of_alternative,
    of_level,
    of_mechanism,
    of_noise,
    of_quantity,
    of_reason,
    of_unit,
)

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
        "margin": "margin",
        "people": "all people",
        "error": "expected error",
        "interval": "from - to",
        "inhabited": "Expected error: root mean squared error of areas where people live; less where few do.",
        "depends": "How accurate it will be depends on the data.",
        "why": "Why",
        "others": "Alternatives, error relative to this plan",
        "max": "max",
        "ranges": "ranges",
        "prefixes": "prefixes",
    },
    "ja": {
        "plan": "計画: {cells:,} セルの表を {mechanism}({noise} ノイズ)で公表",
        "spends": "消費する予算 {budget}、保護単位 {who}({adjacency})",
        "exact": "厳密に公表する量: {invariants}",
        "measured": "測定",
        "share": "予算の割合",
        "deviation": "ノイズ(標準偏差)",
        "side": "領域の一辺",
        "margin": "周辺表",
        "people": "総数",
        "error": "予想誤差",
        "interval": "範囲",
        "inhabited": "予想誤差は、人の住む領域での二乗平均平方根誤差。人の少ない所ではより小さい。",
        "depends": "精度はデータに依存する。",
        "why": "理由",
        "others": "他の方法(この計画に対する誤差の比)",
        "max": "最大",
        "ranges": "区間の合計",
        "prefixes": "累積度数",
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
class PredictedError:
    """The error to be expected for aligned areas of one size, where people live.

    Attributes:
        side: cells along each axis.
        rmse: root mean squared error if every part of the area is inhabited.
        low: the lower end of the interval seen on real maps.
        high: the upper end.
        margin: the attributes by which the people of an area are divided; none for all of them together.
        name: what it is where it is no aligned area: a level of a hierarchy, or all ranges or prefixes of a histogram.
    """

    side: int
    rmse: float
    low: float
    high: float
    margin: tuple[str, ...] = ()
    name: str = ""

    def of_what(self, language: Language = "en") -> str:
        """What has this error, in words: an area, a level or a margin, and by which attributes.

        Args:
            language: ``"en"`` or ``"ja"``.
        """
        words = _WORDS[language]
        area = words.get(self.name, self.name) or f"{words['side']} {self.side:,}"
        by = " x ".join(self.margin)
        return f"{area}: {by}" if by else area


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    def explain(self, language: Language = "en") -> str:
        """The plan as a page of text.

        Args:
            language: ``"en"`` or ``"ja"``.
        """
        if not isinstance(language, str) or language not in _WORDS:
            raise ParameterError("language", "Plan.explain", "'en' or 'ja'", shown(language))
        words, is_japanese = _WORDS[language], language == "ja"
        lines = self._headlines(words, is_japanese)
        if self.levels:
            lines += ["", f"  {words['share']:>24}  {words['deviation']:>28}  {words['measured']}"]
            names = [of_level(level.name).japanese if is_japanese else level.name for level in self.levels]
            lines += [
                f"  {level.share:>24.1%}  {level.deviation:>28,.1f}  {name}"
                for level, name in zip(self.levels, names, strict=True)
            ]
        if self.errors:
            has_areas = len({(error.side, error.name) for error in self.errors}) > 1
            has_margins = any(error.margin for error in self.errors)
            by_area = has_margins and has_areas
            lines += ["", *(self._grid(words) if by_area else self._list(words, by_margin=has_margins))]
            lines.append(f"  {words['inhabited']}")
        else:
            lines += ["", f"  {words['depends']}"]
        if self.reasons:
            reasons = [of_reason(reason).explain(language) for reason in self.reasons]
            lines += ["", f"{words['why']}:", *(f"  - {reason}" for reason in reasons)]
        if self.alternatives:
            lines += ["", f"{words['others']}:"]
            lines += [
                f"  x {a.ratio:.2f} ({words['max']} {a.worst_ratio:.2f})  {_alternative(a, is_japanese)}"
                for a in self.alternatives
            ]
        return "\n".join(lines)

    def _list(self, words: dict[str, str], *, by_margin: bool) -> list[str]:
        """The predicted error of each size of area, or of each margin where there are no areas, a line for each."""
        names = [words.get(error.name, error.name) or f"{error.side:,}" for error in self.errors]
        if by_margin:
            names = [" x ".join(error.margin) or words["people"] for error in self.errors]
        heading = words["margin" if by_margin else "side"]
        width = max(14, *map(len, names))
        lines = [f"  {heading:>{width}}  {words['error']:>16}  {words['interval']}"]
        return lines + [
            f"  {name:>{width}}  {e.rmse:>16,.1f}  {e.low:,.1f} - {e.high:,.1f}"
            for name, e in zip(names, self.errors, strict=True)
        ]

    def _grid(self, words: dict[str, str]) -> list[str]:
        """The same where there are margins: a line for each size of area or level, a column for each margin."""
        margins = list(dict.fromkeys(error.margin for error in self.errors))
        names = [" x ".join(margin) or words["people"] for margin in margins]
        widths = [max(len(name), 8) for name in names]
        known = {(error.side, error.name, error.margin): error.rmse for error in self.errors}
        columns = list(zip(margins, names, widths, strict=True))
        lines = [f"  {words['side']:>14}  " + "  ".join(f"{name:>{width}}" for _, name, width in columns)]
        for side, level in sorted({(error.side, error.name) for error in self.errors}):
            cells = [(known.get((side, level, margin)), width) for margin, _, width in columns]
            shown = [f"{value:>{width},.1f}" if value is not None else " " * width for value, width in cells]
            lines.append(f"  {level or format(side, ','):>14}  " + "  ".join(shown))
        return lines

    def _headlines(self, words: dict[str, str], is_japanese: bool) -> list[str]:
        cells = 1
        for length in self.shape:
            cells *= length
        mechanism, noise, who, adjacency = self.mechanism, self.noise, self.unit.who, str(self.unit.adjacency)
        invariants = list(self.invariants)
        if is_japanese:
            mechanism, noise = of_mechanism(mechanism).japanese, of_noise(noise).japanese
            who, adjacency = of_unit(who).japanese, of_adjacency(adjacency).japanese
            invariants = [of_quantity(name).japanese for name in invariants]
        lines = [
            words["plan"].format(mechanism=mechanism, noise=noise, cells=cells),
            words["spends"].format(budget=self.budget, who=who, adjacency=adjacency),
        ]
        if invariants:
            lines.append(words["exact"].format(invariants=", ".join(invariants)))
        return lines

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"


def _alternative(other: Alternative, is_japanese: bool) -> str:
    if is_japanese:
        return of_alternative(other.mechanism, other.settings).japanese
    return f"{other.mechanism}, {other.settings}"
