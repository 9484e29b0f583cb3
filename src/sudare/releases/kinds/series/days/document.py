"""``release.json`` of a window's report: which ticks were published, what they show together, and what windows cost together.

Nothing here depends on the data except through what the ticks published.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sudare.bilingual import Words
from sudare.privacy import Budget, best_power
from sudare.releases.documents import FALSE_ALARM, Promise, ReleaseDocument
from sudare.series.mechanism import SeriesDesign

__all__ = [
    "DAY_FORMAT",
    "LOST",
    "MISSING",
    "PUBLISHED",
    "AreaCurve",
    "CostTogether",
    "DayDocument",
    "DayTick",
    "RevisionRecord",
    "SizeError",
    "WindowRecord",
    "costs_together",
    "curves_text",
    "expected_errors",
    "folder_of_tick",
    "report_name",
]

DAY_FORMAT = "sudare-series-day/1"
CURVES = "curves.csv"
PUBLISHED, MISSING, LOST = "published", "missing", "lost"
"""What became of a tick; lost if it was published, and its folder was gone or changed when the report was made."""

TOGETHER = (1, 7, 30, 365)
"""So many windows are told of together."""


@dataclass(frozen=True, kw_only=True)
class WindowRecord:
    """Which window it is.

    Attributes:
        begins: its first moment, by the wall clock.
        ends: the first moment after it.
        ticks: how many it has.
        every: seconds from one tick to the next.
        moves: how many moves of a person count in it, for each level.
        strategies: what is measured at each level, from the total.
    """

    begins: str
    ends: str
    ticks: int
    every: int
    moves: tuple[int, ...]
    strategies: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class DayTick:
    """What became of one tick.

    Attributes:
        number: in the window, from 0.
        begins: its first moment.
        state: ``"published"``, ``"missing"`` or ``"lost"``.
        folder: where it is, from the folder of the series.
        sha256: of its document, if it was published.
        total: of its counts, if it is there.
        non_empty_cells: likewise.
    """

    number: int
    begins: str
    state: str
    folder: str | None = None
    sha256: str | None = None
    total: int | None = None
    non_empty_cells: int | None = None


@dataclass(frozen=True, kw_only=True)
class CostTogether:
    """What several windows cost somebody who is in all of them.

    Attributes:
        windows: how many.
        cost: of all of them.
        best_power: how often at most an attacker is right about somebody, at the promise's rate of false alarms.
    """

    windows: int
    cost: Mapping[str, str]
    best_power: float


@dataclass(frozen=True, kw_only=True)
class SizeError:
    """The expected error of areas of one size.

    Attributes:
        cells: of an area at most; 0 for the total.
        deviations: standard deviation of its count at each tick of the window, by this level's measurement alone.
    """

    cells: int
    deviations: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class AreaCurve:
    """The counts of an area through a window.

    Attributes:
        name: of the area.
        counts: published at each tick; None where none was.
    """

    name: Words
    counts: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class RevisionRecord:
    """What a document says of a revision.

    Attributes:
        file: that has it: a row for each tick and each cell that is not empty, the last tick first.
        time: the column that says when a tick begins.
        totals: of each tick of the window; None for one that was not published.
        note: what it is.
    """

    file: str
    time: str
    totals: tuple[int | None, ...]
    note: Words


@dataclass(frozen=True, kw_only=True, eq=False)
class DayDocument(ReleaseDocument):
    """``release.json`` of a window's report.

    Attributes:
        promise: what the guarantee of the window means for one person.
        window: which one it is.
        ticks: what became of each.
        together: what several windows cost.
        accuracy: expected errors by size of area.
        areas: that are followed through the window.
        count: what the column of counts is called.
        domain: the cells.
        revision: all tables estimated once more, where there is one.
    """

    promise: Promise
    window: WindowRecord
    ticks: tuple[DayTick, ...]
    together: tuple[CostTogether, ...]
    accuracy: tuple[SizeError, ...]
    areas: tuple[AreaCurve, ...]
    count: str
    domain: Mapping[str, Any]
    revision: RevisionRecord | None = None


def report_name(begins: datetime) -> str:
    """The folder of a window's report, in that of its first day."""
    if (begins.hour, begins.minute, begins.second) == (0, 0, 0):
        return "report"
    return f"report-{begins:%H%M%S}" if begins.second else f"report-{begins:%H%M}"


def folder_of_tick(begins: datetime) -> str:
    """Where a tick is, from the folder of the series; as `sudare.releases.kinds.series.clock.Tick` names it."""
    return f"date={begins:%Y-%m-%d}/time={begins.strftime('%H%M%S' if begins.second else '%H%M')}"


def begin_of(window: Mapping[str, Any], number: int) -> datetime:
    """When a tick of a window begins, by what a document states of the window."""
    return datetime.fromisoformat(window["begins"]) + number * timedelta(seconds=window["every"])


def costs_together(cost: Budget) -> tuple[CostTogether, ...]:
    """What several windows of one cost each cost together: costs add up."""
    return tuple(
        CostTogether(
            windows=windows,
            cost=(whole := cost.times(windows)).to_dict(),
            best_power=float(best_power(whole, FALSE_ALARM)),
        )
        for windows in TOGETHER
    )


def expected_errors(design: SeriesDesign) -> tuple[SizeError, ...]:
    """The expected errors of a design, from the total to single cells."""
    return tuple(
        SizeError(
            cells=0 if number == 0 else 1 << design.layout.depth - depth,
            deviations=tuple(round(float(variance) ** 0.5, 3) for variance in level.variances),
        )
        for number, (level, depth) in enumerate(zip(design.levels, design.depths, strict=True))
    )


def curves_text(ticks: Sequence[Mapping[str, Any]], areas: Sequence[Mapping[str, Any]]) -> bytes:
    """The totals and the curves as a CSV file: a row for each tick, empty where nothing was published.

    Args:
        ticks: as the document states them.
        areas: likewise.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["begins", "total", *(area["name"]["english"] for area in areas)])
    for place, tick in enumerate(ticks):
        counts = [tick.get("total"), *(area["counts"][place] for area in areas)]
        writer.writerow([tick["begins"], *("" if count is None else count for count in counts)])
    return text.getvalue().encode()
