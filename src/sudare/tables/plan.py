"""A plan: what will be drawn and how exact it will be, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import prod
from types import MappingProxyType
from typing import Any, Literal
from unicodedata import east_asian_width

from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.unit import Unit
from sudare.tables.plan_words import (
    of_adjacency,
    of_alternative,
    of_everybody,
    of_level,
    of_mechanism,
    of_noise,
    of_quantity,
    of_reason,
    of_unit,
)
from sudare.tables.predicted_error import PartKind, PredictedError, read_people

__all__ = ["Alternative", "Plan", "PlannedLevel", "PredictedError"]

Language = Literal["en", "ja"]
MIN_WIDTH = 8
"""Of a column."""

_WORDS = {
    "en": {
        "plan": "Plan: {mechanism} with {noise} noise for {cells:,} cells",
        "spends": "Spends {budget}, per {who} ({adjacency})",
        "exact": "Published exactly: {invariants}",
        "measured": "measured",
        "share": "share of the budget",
        "deviation": "noise (standard deviation)",
        "noise": "noise alone",
        "from": "{what}, from - to",
        "meaning": "Noise alone: the root mean squared error if there are people in every part of every {one}. From - to:"
        "\n  where that of one release is expected, nine times out of ten: over {many} in which somebody is counted,"
        "\n  and over {all}.",
        "known": "For about {number:,} people.",
        "unknown": "For 1 to 100 people a cell; where their number is public, people=... makes the intervals narrower.",
        "depends": "How accurate it will be depends on the data.",
        "why": "Why",
        "others": "Alternatives, error relative to this plan",
        "max": "max",
    },
    "ja": {
        "plan": "計画: {cells:,} セルの表を {mechanism}({noise} ノイズ)で公表",
        "spends": "消費する予算 {budget}、保護単位 {who}({adjacency})",
        "exact": "厳密に公表する量: {invariants}",
        "measured": "測定",
        "share": "予算の割合",
        "deviation": "ノイズ(標準偏差)",
        "noise": "ノイズのみ",
        "from": "{what}(範囲)",
        "meaning": "「ノイズのみ」は、{one}のどの部分にも人がいる場合の二乗平均平方根誤差。範囲は、1回の公表での誤差が"
        "10回に9回入る区間で、\n  1人以上が数えられる{many}と、{all}について示す。",
        "known": "人口が約 {number:,} 人の場合。",
        "unknown": "1セルあたり1～100人の場合。人口が公開されていれば、people=... で範囲が狭くなる。",
        "depends": "精度はデータに依存する。",
        "why": "理由",
        "others": "他の方法(この計画に対する誤差の比)",
        "max": "最大",
    },
}

_AREAS = {"inhabited": "where people live", "all": "all areas", "one": "area", "many": "areas"}
_AREAS_JA = {"inhabited": "人の住む領域", "all": "すべての領域", "one": "領域", "many": "領域"}
_OF_PARTS: dict[Language, dict[PartKind, dict[str, str]]] = {
    "en": {
        "areas": {"side": "areas of side", **_AREAS},
        "levels": {"side": "areas of level", **_AREAS},
        "ranges": {
            "side": "ranges of length",
            "inhabited": "where there are people",
            "all": "all ranges",
            "one": "range",
            "many": "ranges",
        },
        "margins": {
            "side": "margin",
            "inhabited": "where there are people",
            "all": "all categories",
            "one": "category",
            "many": "categories",
        },
    },
    "ja": {
        "areas": {"side": "領域の一辺", **_AREAS_JA},
        "levels": {"side": "階層", **_AREAS_JA},
        "ranges": {
            "side": "区間の長さ",
            "inhabited": "人のいる区間",
            "all": "すべての区間",
            "one": "区間",
            "many": "区間",
        },
        "margins": {
            "side": "周辺表",
            "inhabited": "人のいる区分",
            "all": "すべての区分",
            "one": "区分",
            "many": "区分",
        },
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

    @property
    def kind_of_parts(self) -> PartKind:
        """What errors are predicted of: areas of a map, levels of a hierarchy, ranges of a histogram, or margins alone."""
        if self.mechanism == "histogram":
            return "ranges"
        if any(error.name for error in self.errors):
            return "levels"
        return "margins" if self.mechanism == "margin-tree" and not self.settings["bits"] else "areas"

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
        words, is_japanese = _WORDS[language], language == "ja"
        lines = self._headlines(words, is_japanese)
        if self.levels:
            names = [of_level(level.name).japanese if is_japanese else level.name for level in self.levels]
            shares = [words["share"], *(f"{level.share:.1%}" for level in self.levels)]
            deviations = [words["deviation"], *(f"{level.deviation:,.1f}" for level in self.levels)]
            rows = zip(_table([shares, deviations]), [words["measured"], *names], strict=True)
            lines += ["", *(f"{numbers}  {name}" for numbers, name in rows)]
        if self.errors:
            areas, margins = (
                {(error.side, error.name) for error in self.errors},
                {error.margin for error in self.errors},
            )
            has_grids = len(areas) > 1 and margins != {()}
            of_parts = words | _OF_PARTS[language][self.kind_of_parts]
            lines += ["", *(self._grids(of_parts, language) if has_grids else self._list(of_parts, language))]
            lines.append("  " + words["meaning"].format_map(of_parts))
            lines.append("  " + (words["known"].format(number=self.people) if self.people else words["unknown"]))
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

    def _list(self, words: dict[str, str], language: Language) -> list[str]:
        """The predicted error of each part of the workload, a line for each."""
        names = [self._short_name(error, language) for error in self.errors]
        intervals = [(_interval(e.low, e.high), _interval(e.all_low, e.all_high)) for e in self.errors]
        columns = [
            [words["side"], *names],
            [words["noise"], *(f"{e.rmse:,.1f}" for e in self.errors)],
            [words["from"].format(what=words["inhabited"]), *(inhabited for inhabited, _ in intervals)],
            [words["from"].format(what=words["all"]), *(everywhere for _, everywhere in intervals)],
        ]
        return _table(columns)

    def _short_name(self, error: PredictedError, language: Language) -> str:
        """Of a part of the workload, below the heading of its kind."""
        kind = self.kind_of_parts
        if error.name or kind == "margins":
            return error.of_what(language, kind)
        return ": ".join([f"{error.side:,}", *([" x ".join(error.margin)] if error.margin else [])])

    def _grids(self, words: dict[str, str], language: Language) -> list[str]:
        """The same where areas have margins: a line for each size of area or level, a column for each margin."""
        shown = {
            words["noise"]: {e: f"{e.rmse:,.1f}" for e in self.errors},
            words["from"].format(what=words["inhabited"]): {e: _interval(e.low, e.high) for e in self.errors},
            words["from"].format(what=words["all"]): {e: _interval(e.all_low, e.all_high) for e in self.errors},
        }
        return [
            line for title, texts in shown.items() for line in (f"  {title}:", *self._grid(texts, words, language), "")
        ]

    def _grid(self, texts: Mapping[PredictedError, str], words: dict[str, str], language: Language) -> list[str]:
        margins = list(dict.fromkeys(error.margin for error in self.errors))
        areas = sorted({(error.side, error.name) for error in self.errors})
        known = {(error.side, error.name, error.margin): text for error, text in texts.items()}
        columns = [[words["side"], *(name or f"{side:,}" for side, name in areas)]]
        for margin in margins:
            title = " x ".join(margin) or of_everybody().explain(language)
            columns.append([title, *(known.get((*area, margin), "") for area in areas)])
        return _table(columns)

    def _headlines(self, words: dict[str, str], is_japanese: bool) -> list[str]:
        mechanism, noise, who, adjacency = self.mechanism, self.noise, self.unit.who, str(self.unit.adjacency)
        invariants = list(self.invariants)
        if is_japanese:
            mechanism, noise = of_mechanism(mechanism).japanese, of_noise(noise).japanese
            who, adjacency = of_unit(who).japanese, of_adjacency(adjacency).japanese
            invariants = [of_quantity(name).japanese for name in invariants]
        lines = [
            words["plan"].format(mechanism=mechanism, noise=noise, cells=prod(self.shape)),
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


def _interval(low: float, high: float) -> str:
    return f"{low:,.1f} - {high:,.1f}"


def _table(columns: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns, each as wide as its widest text; texts end at the same place."""
    widths = [max(MIN_WIDTH, *map(_width, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        "  " + "  ".join(" " * (width - _width(text)) + text for text, width in zip(row, widths, strict=True))
        for row in rows
    ]


def _width(text: str) -> int:
    """Of a text on a screen, where Japanese letters are twice as wide."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
