"""How far published sums are expected to be from the true ones: the values of a prediction, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any, Literal

from sudare.accuracy.accuracy_words import TEXTS
from sudare.accuracy.groupings import GroupingKind
from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.errors import ParameterError
from sudare.parameters import shown

__all__ = ["Accuracy", "Basis", "ExpectedError"]

Basis = Literal["formula", "stand-in", "invented"]


@dataclass(frozen=True)
class ExpectedError:
    """The error to be expected of the sums of one grouping, where people live.

    Attributes:
        kind: what is summed.
        name: of the attribute, axis or level; empty for areas and the total.
        side: of areas, in cells.
        groups: how many such sums the table has.
        rmse: the root of the mean squared error.
        low: the lower end of the 95 % interval in which the root mean squared error of one release is expected.
        high: the upper end.
        mean_error: the mean of published minus true.
        systematic: the root mean square of what the mean of many releases is still wrong by.
        systematic_high: the upper end of the interval that it is expected in.
        name_words: the name for people, where it differs between languages.
    """

    kind: GroupingKind
    name: str
    side: int | None
    groups: int
    rmse: float
    low: float
    high: float
    mean_error: float
    systematic: float
    systematic_high: float
    name_words: Words | None = None

    def words(self, language: str = "en") -> str:
        """What is summed, in words."""
        return self.in_words.explain(language)

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        plain = asdict(replace(self, name_words=None))
        del plain["name_words"]
        return plain if self.name_words is None else {**plain, "name_words": self.name_words.to_dict()}

    @property
    def in_words(self) -> Words:
        """What is summed."""
        kind = "cell" if self.kind == "area" and self.side == 1 else self.kind
        side = "" if self.side is None else f"{self.side:,}"
        return TEXTS[kind].format(name=self.name_words or self.name, side=side)


@dataclass(frozen=True)
class Accuracy(Rows):
    """What to expect of a release, before anything is spent. It depends on nothing that is protected.

    Attributes:
        mechanism: what was predicted.
        errors: from the cells to the total.
        basis: where the figures come from: a formula, trials on a public table, or trials on invented ones.
        runs: how many trials.
        people: how many people the tables of the trials have, from the fewest to the most.
    """

    mechanism: str
    errors: tuple[ExpectedError, ...]
    basis: Basis
    runs: int
    people: tuple[int, ...]

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each grouping, from the cells to the total."""
        figures = ("groups", "rmse", "low", "high", "mean_error", "systematic", "systematic_high")
        columns: dict[str, object] = {"sum": [error.words() for error in self.errors]}
        return columns | {name: [getattr(error, name) for error in self.errors] for name in figures}

    def basis_in_words(self, language: str = "en") -> str:
        """Where the figures come from, in a sentence."""
        ends = sorted({self.people[0], self.people[-1]}) if self.people else []
        people = " - ".join(f"{number:,}" for number in ends)
        return TEXTS[self.basis].format(runs=self.runs, people=people).explain(language)

    def note(self, language: str = "en") -> str:
        """What the columns mean."""
        return TEXTS["note"].explain(language)

    def headings(self, language: str = "en") -> list[str]:
        """Names of the columns of `rows`."""
        return [TEXTS[name].explain(language) for name in ("sum", "rmse", "interval", "mean", "systematic")]

    def rows(self, language: str = "en") -> list[list[str]]:
        """A line of text for each grouping."""
        return [
            [
                error.words(language),
                f"± {_figure(error.rmse)}",
                f"{_figure(error.low)} - {_figure(error.high)}",
                _signed(error.mean_error),
                _figure(error.systematic),
            ]
            for error in self.errors
        ]

    def explain(self, language: Literal["en", "ja"] = "en") -> str:
        """The prediction as a page of text.

        Args:
            language: ``"en"`` or ``"ja"``.
        """
        if not isinstance(language, str) or language not in ("en", "ja"):
            raise ParameterError(
                "language", "Accuracy.explain", Words("'en' or 'ja'", "'en' または 'ja'"), shown(language)
            )
        lines = [self.headings(language), *self.rows(language)]
        widths = [max(len(line[column]) for line in lines) for column in range(5)]
        texts = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([self.basis_in_words(language), "", *texts, "", self.note(language)])

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {
            "mechanism": self.mechanism,
            "errors": [error.to_dict() for error in self.errors],
            "basis": self.basis,
            "runs": self.runs,
            "people": list(self.people),
        }

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.explain())}</pre>"


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def _signed(value: float) -> str:
    text = _figure(abs(value))
    return text if float(text.replace(",", "")) == 0 else ("-" if value < 0 else "+") + text
