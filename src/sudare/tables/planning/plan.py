"""A plan: what will be drawn and how accurate it will be, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import prod
from types import MappingProxyType
from typing import Any

from sudare.bilingual import COMMA, Language, Words
from sudare.border.frames import Rows, text_width
from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.guarantee_words import of_unit_that_changes
from sudare.privacy.unit import Unit
from sudare.tables.measured_names import MeasuredName
from sudare.tables.plan_page_words import OF_PARTS, TEXTS
from sudare.tables.planning.plan_words import (
    NOISE_ON_EACH_CELL,
    of_adjacency,
    of_everybody,
    of_mechanism,
    of_noise,
    of_quantity,
)
from sudare.tables.planning.predicted_error import PartKind, PredictedError, read_people

__all__ = ["Alternative", "Plan", "PlannedLevel", "PredictedError"]

LANGUAGES = ("en", "ja")
MIN_WIDTH = 8
"""Of a column."""


@dataclass(frozen=True)
class PlannedLevel:
    """One measurement of a plan.

    Attributes:
        name: what is measured, as the release calls it, too: the same in every language.
        share: of the budget, from 0 to 1.
        deviation: the standard deviation of the noise.
        words: what is measured, for people.
    """

    name: str
    share: float
    deviation: float
    words: Words

    @classmethod
    def of(cls, measured: MeasuredName, share: float, deviation: float) -> PlannedLevel:
        """A measurement of what has a name."""
        return cls(measured.name, share, deviation, measured.words)

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "share": self.share,
            "deviation": self.deviation,
            "words": self.words.to_dict(),
        }


@dataclass(frozen=True)
class Alternative:
    """Another way to publish the table, and how it compares.

    Attributes:
        mechanism: its name.
        settings: what it would be called with.
        ratio: its expected error over that of the plan, geometric mean over the sizes of the workload.
        worst_ratio: the same at the size where it compares worst.
    """

    mechanism: str
    settings: Words
    ratio: float
    worst_ratio: float

    @property
    def words(self) -> Words:
        """The mechanism with its settings."""
        name = of_mechanism(self.mechanism)
        # The name of a mechanism that measures cells alone says so already.
        return name if self.settings == NOISE_ON_EACH_CELL else Words.joined([name, self.settings])

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {
            "mechanism": self.mechanism,
            "settings": self.settings.english,
            "ratio": self.ratio,
            "worst_ratio": self.worst_ratio,
            "words": self.words.to_dict(),
        }


@dataclass(frozen=True)
class Plan(Rows):
    """How a table will be published. It depends on the domain, the budget and the workload, never on the counts.

    Attributes:
        mechanism: the name of the mechanism.
        settings: what it is called with, besides table and budget.
        noise: the kind of noise.
        shape: places along each axis of the domain.
        budget: what will be spent.
        unit: who is protected.
        invariants: what will be published exactly.
        levels: what will be measured, and how accurately.
        errors: what to expect, for each size of area.
        alternatives: what was rejected.
        reasons: why this was chosen.
        people: about how many people the errors are predicted for; None if not stated.
        parts: what the errors are predicted of, where no part has a name of its own.
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
    reasons: tuple[Words, ...] = ()
    people: int | None = None
    parts: PartKind = "areas"

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))

    @property
    def kind_of_parts(self) -> PartKind:
        """What errors are predicted of: areas of a map, levels of a hierarchy, ranges of a histogram, or margins alone."""
        if self.parts != "ranges" and any(error.name for error in self.errors):
            return "levels"
        return self.parts

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each part of the workload, with its predicted errors; none where they depend on the data."""
        named = {
            "part": [error.of_what("en", self.kind_of_parts) for error in self.errors],
            "margin": [", ".join(error.margin) for error in self.errors],
        }
        figures = ("side", "sums", "rmse", "low", "high", "all_rmse", "all_low", "all_high")
        return {**named, **{name: [getattr(error, name) for error in self.errors] for name in figures}}

    def for_people(self, people: int) -> Plan:
        """The same plan, with errors predicted for about this many people.

        Args:
            people: about how many the table will have, **where that is public**.

        Raises:
            ParameterError: if it is no whole number from 1 to 2**40.
        """
        number = read_people(people, "Plan.for_people")
        of_histogram, cells = self.parts == "ranges", prod(self.shape)
        errors = tuple(error.for_people(number, cells, of_histogram=of_histogram) for error in self.errors)
        return replace(self, errors=errors, people=number)

    def explain(self, language: Language = "en") -> str:
        """The plan as a page of text.

        Args:
            language: ``"en"`` or ``"ja"``.
        """
        if not isinstance(language, str) or language not in LANGUAGES:
            raise ParameterError("language", "Plan.explain", Words("'en' or 'ja'", "'en' または 'ja'"), shown(language))
        lines = self._headlines(language)
        if self.levels:
            names = [level.words.japanese if language == "ja" else level.name for level in self.levels]
            shares = [TEXTS["share"].explain(language), *(f"{level.share:.1%}" for level in self.levels)]
            deviations = [TEXTS["deviation"].explain(language), *(f"{level.deviation:,.1f}" for level in self.levels)]
            rows = zip(_table([shares, deviations]), [TEXTS["measured"].explain(language), *names], strict=True)
            lines += ["", *(f"{numbers}  {name}" for numbers, name in rows)]
        lines += ["", *(self._errors(language) if self.errors else [f"  {TEXTS['depends'].explain(language)}"])]
        if self.reasons:
            reasons = [reason.explain(language) for reason in self.reasons]
            lines += ["", f"{TEXTS['why'].explain(language)}:", *(f"  - {reason}" for reason in reasons)]
        if self.alternatives:
            lines += ["", f"{TEXTS['others'].explain(language)}:"]
            lines += [f"  {_compared(other).explain(language)}" for other in self.alternatives]
        return "\n".join(lines)

    def _errors(self, language: Language) -> list[str]:
        """What is predicted of each part of the workload, and what that means."""
        areas = {(error.side, error.name) for error in self.errors}
        has_grids = len(areas) > 1 and {error.margin for error in self.errors} != {()}
        people = TEXTS["known"].format(number=self.people) if self.people else TEXTS["unknown"]
        meaning = TEXTS["meaning"].format(**OF_PARTS[self.kind_of_parts])
        lines = self._grids(language) if has_grids else self._list(language)
        return [*lines, f"  {meaning.explain(language)}", f"  {people.explain(language)}"]

    def _heading(self, name: str, language: Language) -> str:
        """Of a column: what is said of sums where people are, or of all sums."""
        return TEXTS["from"].format(what=OF_PARTS[self.kind_of_parts][name]).explain(language)

    def _list(self, language: Language) -> list[str]:
        """The predicted error of each part of the workload, a line for each."""
        names = [self._short_name(error, language) for error in self.errors]
        intervals = [(_interval(e.low, e.high), _interval(e.all_low, e.all_high)) for e in self.errors]
        columns = [
            [OF_PARTS[self.kind_of_parts]["side"].explain(language), *names],
            [TEXTS["noise"].explain(language), *(f"{e.rmse:,.1f}" for e in self.errors)],
            [self._heading("inhabited", language), *(inhabited for inhabited, _ in intervals)],
            [self._heading("all", language), *(everywhere for _, everywhere in intervals)],
        ]
        return _table(columns)

    def _short_name(self, error: PredictedError, language: Language) -> str:
        """Of a part of the workload, below the heading of its kind."""
        kind = self.kind_of_parts
        if error.name or kind == "margins":
            return error.of_what(language, kind)
        return ": ".join([f"{error.side:,}", *([" x ".join(error.margin)] if error.margin else [])])

    def _grids(self, language: Language) -> list[str]:
        """The same where areas have margins: a line for each size of area or level, a column for each margin."""
        shown = {
            TEXTS["noise"].explain(language): {e: f"{e.rmse:,.1f}" for e in self.errors},
            self._heading("inhabited", language): {e: _interval(e.low, e.high) for e in self.errors},
            self._heading("all", language): {e: _interval(e.all_low, e.all_high) for e in self.errors},
        }
        return [line for title, texts in shown.items() for line in (f"  {title}:", *self._grid(texts, language), "")]

    def _grid(self, texts: Mapping[PredictedError, str], language: Language) -> list[str]:
        margins = list(dict.fromkeys(error.margin for error in self.errors))
        areas = sorted({(error.side, error.name) for error in self.errors})
        known = {(error.side, error.name, error.margin): text for error, text in texts.items()}
        side = OF_PARTS[self.kind_of_parts]["side"].explain(language)
        columns = [[side, *(name or f"{side:,}" for side, name in areas)]]
        for margin in margins:
            title = " x ".join(margin) or of_everybody().explain(language)
            columns.append([title, *(known.get((*area, margin), "") for area in areas)])
        return _table(columns)

    def _headlines(self, language: Language) -> list[str]:
        """What is published and spent. In English, names stand as programs spell them."""
        adjacency = str(self.unit.adjacency)
        lines = [
            TEXTS["plan"].format(
                mechanism=Words(self.mechanism, of_mechanism(self.mechanism).ja),
                noise=of_noise(self.noise),
                cells=prod(self.shape),
            ),
            TEXTS["spends"].format(
                budget=self.budget,
                who=of_unit_that_changes(self.unit.who),
                adjacency=of_adjacency(adjacency),
            ),
        ]
        if self.invariants:
            quantities = [Words(name, of_quantity(name).ja) for name in self.invariants]
            lines.append(TEXTS["exact"].format(invariants=Words.joined(quantities, COMMA)))
        return [line.explain(language) for line in lines]

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"


def _compared(other: Alternative) -> Words:
    """A line about an alternative. In English, mechanisms stand as programs spell them."""
    alternative = Words(f"{other.mechanism}, {other.settings.english}", other.words.japanese)
    return TEXTS["other"].format(ratio=other.ratio, worst=other.worst_ratio, alternative=alternative)


def _interval(low: float, high: float) -> str:
    return f"{low:,.1f} - {high:,.1f}"


def _table(columns: Sequence[Sequence[str]]) -> list[str]:
    """Lines of columns, each as wide as its widest text; texts end at the same place."""
    widths = [max(MIN_WIDTH, *map(text_width, column)) for column in columns]
    rows = zip(*columns, strict=True)
    return [
        "  " + "  ".join(" " * (width - text_width(text)) + text for text, width in zip(row, widths, strict=True))
        for row in rows
    ]
