"""The plan of a series: what a single release says, and ``[series]`` with its clock, its window and its moves.

Everything in it is public or the office's own decision; reading it looks at no data and spends nothing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Literal, cast

from sudare.bilingual import Words
from sudare.domain import Domain
from sudare.errors import InputError, ParameterError, PlanError, SudareError
from sudare.io import Source
from sudare.io.engine import MEMORY
from sudare.io.source import SPARK
from sudare.privacy.unit import SPANS, ProtectedTime, Unit
from sudare.releases.data.domains import ATTRIBUTE_KEYS, describe_domain, read_domain_sections
from sudare.releases.data.sources import TABLE_KEYS, read_source_section, source_facts
from sudare.releases.header import (
    HEADER_KEYS,
    OUTPUT_KEYS,
    UNIT_KEYS,
    PlanWithHeader,
    PricedPlan,
    ReleasePrice,
    read_header,
)
from sudare.releases.kinds.series.clock import SeriesClock, Tick, read_period
from sudare.releases.kinds.series.days.areas import areas_of
from sudare.releases.old_keys import read_plan_values
from sudare.sections import Section
from sudare.series.mechanism import SeriesDesign
from sudare.series.planning import plan_series
from sudare.series.strategies import MAX_MOVES, MAX_TICKS, STRATEGIES

__all__ = ["LAST", "YESTERDAY", "SeriesPlan", "TickPlan", "read_series_plan"]

KEYS = (*HEADER_KEYS, "source", "domain", "series", "reading")
PEOPLE_KEYS = (*TABLE_KEYS, "time")
SERIES_KEYS = (
    "every",
    "window",
    "start",
    "protects",
    "moves",
    "typical_moves",
    "absent_after",
    "strategy",
    "reference",
    "state",
)
WRITTEN_KEYS = (*OUTPUT_KEYS[:1], "count", "measurements", "revision", "areas")
READING_KEYS = ("memory",)
AUTO = "auto"
YESTERDAY, LAST = "yesterday", "last"
"""Names of references: the table of the same time a day before, and the last table before the window."""

BLANKS = ("date", "time", "start", "end", "tick")
Span = Literal["event", "person-day", "person-window"]

NEEDS_PERSON = Words(
    "is missing. One person is at many ticks, and is protected over all of them: without the column of persons nobody can tell "
    'which rows are theirs. Counts without persons can be published with protects = "event" in [series], which protects one '
    "appearance alone",
    "がありません。1人は多くの時点に現れ、その全体が保護されます。個人の列がなければ、どの行が誰のものか分かりません。"
    '個人のない人数は、[series] で protects = "event"（1回の出現のみを保護）とすれば公表できます',
)
ONE_CELL = Words(
    "must be 1: a series counts a person in one cell at a tick, and limits how often they move. Where somebody has several rows "
    "at a tick, one counts, chosen by a rule on their rows alone. To count a person in several cells, publish single tables",
    "は 1 です。系列は各時点で1人を1つのセルに数え、移動の回数を制限します。1つの時点に複数の行があれば、"
    "その人の行だけによる規則で1行を選びます。1人を複数のセルに数えるには、単独の表を公表してください",
)
NOT_ON_SPARK = Words(
    'cannot be "spark" here: a series reads files and queries in this process. Write each tick\'s rows to a file, such as '
    '"rows/{date}/{time}.parquet"',
    'に "spark" は使えません。系列はファイルとクエリをこのプロセスで読みます。Spark の表は、時点ごとに '
    '"rows/{date}/{time}.parquet" のようなファイルに書き出してください',
)
PERIOD = Words(
    'must be a period such as "10 minutes", "1 hour" or "1 day"', 'は "10 minutes"、"1 hour"、"1 day" のような期間です'
)


@dataclass(frozen=True, kw_only=True)
class SeriesPlan(PricedPlan):
    """What a plan file of a series says.

    Attributes:
        source: the data, with blanks for the tick in its path or query.
        time: the column of times, if rows of other ticks are to be left out.
        domain: the cells, which are public.
        clock: when the ticks are.
        span: what of a unit is protected.
        moves: how many moves a person may have in a window, for all levels or for each.
        typical_moves: how often a person moves in a window, on average, as the author of the plan assumes; for predictions alone.
        absent_after: after so many ticks without a row somebody counts as absent; None for never.
        strategy: ``"auto"`` or the name of one.
        reference: ``"yesterday"``, ``"last"`` or the folder of a release, with blanks for the tick; None for none.
        state: the private folder of what is remembered from tick to tick.
        count: what the column of published counts is called.
        measurements: whether the noisy measurements are published too.
        revision: whether all tables of a window are estimated once more when it is closed, from these measurements.
        areas: whose counts the report of a window follows; the largest ones if none are named.
        memory: how much memory reading may take.
    """

    source: Source
    time: str | None
    domain: Domain
    clock: SeriesClock
    span: Span
    moves: int | tuple[int, ...]
    typical_moves: float | None
    absent_after: int | None
    strategy: str
    reference: str | None
    state: Path
    count: str
    measurements: bool
    revision: bool
    areas: tuple[str, ...]
    memory: str

    @cached_property
    def design(self) -> SeriesDesign:
        """What will be measured. Made when first asked for: reading a plan plans nothing.

        Raises:
            PlanError: if no plan can be made of what the file says; the message names the key.
        """
        section = Section({}, "series", self.file.name, SERIES_KEYS)
        try:
            return plan_series(
                self.domain,
                self.budget,
                ticks=self.clock.ticks,
                moves=self.moves,
                who=self.unit.who,
                span=self.span,
                strategy=None if self.strategy == AUTO else self.strategy,
                absent_after=self.absent_after,
            )
        except ParameterError as error:
            section.refuse_parameter(error.parameter, error)
        except SudareError as error:
            raise PlanError(f"{self.file.name}: {error}", f"{self.file.name}: {error}") from None

    def at(self, tick: Tick) -> TickPlan:
        """The plan of one tick."""
        folder = self.folder / f"date={tick.date}" / f"time={tick.time}"
        blanks = tick.blanks()
        source = replace(
            self.source,
            path=tuple(_filled(path, blanks) for path in self.source.paths),
            query=None if self.source.query is None else _filled(self.source.query, blanks),
        )
        return TickPlan(header=replace(self.header, folder=folder), series=self, tick=tick, source=source)

    def fingerprint(self, window: datetime) -> str:
        """The same for plans that ask for the same tables, from the same files, at the same cost, in the same folder.

        Args:
            window: when it begins.
        """
        facts = {
            "window": window.isoformat(),
            "every": self.clock.every.total_seconds(),
            "ticks": self.clock.ticks,
            "folder": str(self.folder),
            "paths": list(self.source.paths),
            "domain": describe_domain(self.domain),
            "unit": self.unit.to_dict(),
            "budget": self.budget.to_dict(),
            "source": source_facts(self.source),
            "time": self.time,
            "moves": self.moves,
            "absent_after": self.absent_after,
            "strategy": self.strategy,
            "measurements": self.measurements,
        }
        if self.reference is not None:  # windows of plans without one keep the fingerprint that they have
            facts["reference"] = self.reference
        return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()

    def state_of(self, window: datetime) -> Path:
        """The private folder of one window."""
        return self.state / f"window-{window:%Y-%m-%dT%H%M%S}"


@dataclass(frozen=True, kw_only=True)
class TickPlan(PlanWithHeader):
    """A plan at one of its ticks.

    Attributes:
        series: the plan.
        tick: which one.
        source: the data of this tick.
    """

    series: SeriesPlan
    tick: Tick
    source: Source

    @property
    def window_fingerprint(self) -> str:
        """Of the window that the tick is in."""
        return self.series.fingerprint(self.tick.window)

    def fill(self, text: str) -> str:
        """A text with the tick in its blanks."""
        return _filled(text, self.tick.blanks())

    def fingerprint(self) -> str:
        """Of the tick's release."""
        facts = f"{self.window_fingerprint}\0{self.tick.number}"
        return hashlib.sha256(facts.encode()).hexdigest()


def read_series_plan(path: str | Path, folder: str | Path | None = None) -> SeriesPlan:
    """Read a plan file of a series. Relative paths in it are meant from where it is.

    Args:
        path: the plan.
        folder: where the tables go, in place of what the plan says.

    Raises:
        PlanError: if it is not there, not TOML, or says something that cannot be; the message names the key.
    """
    file = Path(path)
    top = Section(read_plan_values(file, "series"), "", file.name, KEYS)
    base = file.resolve().parent
    output = top.section("output", WRITTEN_KEYS)
    header = read_header(
        top,
        file,
        "series",
        folder=None if folder is None else Path(folder).resolve(),
        by_default="series",
        output=output,
        is_priced=True,
    )
    count = output.text("count", "population")
    measurements = output.flag("measurements", True)
    revision = output.flag("revision", True)
    areas = tuple(str(name) for name in output.items("areas", []))
    output.finish()
    series = top.section("series", SERIES_KEYS)
    clock = _read_clock(series)
    span = cast("Span", series.choice("protects", SPANS))
    moves = 0 if span == "event" and not series.has("moves") else _read_moves(series)
    typical_moves = float(series.number("typical_moves")) if series.has("typical_moves") else None
    if typical_moves is not None and not 0 <= typical_moves <= MAX_MOVES:
        series.refuse(
            "typical_moves", f"must be a number from 0 to {MAX_MOVES:,}", f"は 0 から {MAX_MOVES:,} までの数です"
        )
    absent_after = series.whole("absent_after") if series.has("absent_after") else None
    if absent_after is not None and not 1 <= absent_after <= clock.ticks:
        series.refuse(
            "absent_after",
            f"must be a number of ticks from 1 to {clock.ticks}",
            f"は 1 から {clock.ticks} までの時点の数です",
        )
    strategy = series.choice("strategy", (AUTO, *STRATEGIES), AUTO)
    reference = _read_reference(series, base)
    state = base / series.text("state", f"{header.folder.name}-state")
    series.finish()
    unit = _read_unit(header.price, span, clock.ticks, file)
    section = top.section("source", PEOPLE_KEYS)
    time = section.text("time") if section.has("time") else None
    person_is_stated = section.has("person")
    source = read_source_section(section, base)
    if source.format == SPARK:
        section.refuse("format", NOT_ON_SPARK.english, NOT_ON_SPARK.japanese)
    if not person_is_stated and span != "event":
        section.refuse("person", NEEDS_PERSON.english, NEEDS_PERSON.japanese)
    _require_blanks(section, source)
    domain = read_domain_sections(top.sections("domain", ATTRIBUTE_KEYS), base, source)
    try:
        areas_of(domain, areas)
    except InputError as error:
        output.refuse("areas", error.english, error.japanese)
    reading = top.section("reading", READING_KEYS)
    memory = reading.text("memory", "2GB")
    if not MEMORY.fullmatch(memory):
        reading.refuse("memory", 'must be a size such as "500MB" or "4GB"', 'は "500MB" や "4GB" のような大きさです')
    reading.finish()
    top.finish()
    return SeriesPlan(
        header=replace(header, price=unit),
        source=source,
        time=time,
        domain=domain,
        clock=clock,
        span=span,
        moves=moves,
        typical_moves=typical_moves,
        absent_after=absent_after,
        strategy=strategy,
        reference=reference,
        state=state,
        count=count,
        measurements=measurements,
        revision=revision,
        areas=areas,
        memory=memory,
    )


def _read_unit(price: ReleasePrice | None, span: Span, ticks: int, file: Path) -> ReleasePrice:
    """The price for a unit whose time is stated."""
    if price is None:
        raise TypeError("a plan for a series without a price")
    if price.unit.adjacency != "add-remove":
        Section({}, "unit", file.name, UNIT_KEYS).refuse(
            "adjacency",
            'must be "add-remove": a series protects whether somebody is counted at all',
            'は "add-remove" です。系列では、数えられていること自体を保護します',
        )
    unit = price.unit
    if unit.rows > 1:
        stated = (
            "rows" if unit == Unit.with_rows(unit.rows, unit.who) else "cells" if unit.cells > 1 else "rows_per_cell"
        )
        Section({}, "unit", file.name, UNIT_KEYS).refuse(stated, ONE_CELL.english, ONE_CELL.japanese)
    time = ProtectedTime(span, 1 if span == "event" else ticks)
    return replace(price, unit=replace(price.unit, time=time))


def _read_clock(section: Section) -> SeriesClock:
    every, window = (_read_period(section, key) for key in ("every", "window"))
    ticks, rest = divmod(window, every)
    if rest or not 1 <= ticks <= MAX_TICKS:
        section.refuse(
            "window",
            f"must be a multiple of 'every', of at most {MAX_TICKS:,} ticks",
            f"は every の整数倍で、{MAX_TICKS:,} 時点以内です",
        )
    start = _read_start(section)
    return SeriesClock(start, every, ticks)


def _read_period(section: Section, key: str) -> timedelta:
    found = read_period(section.text(key))
    if found is None:
        section.refuse(key, PERIOD.english, PERIOD.japanese)
    return found


def _read_start(section: Section) -> datetime:
    """A day or a moment, as TOML has it or as a text."""
    found = section.moment("start")
    if found is None or found.tzinfo is not None or found.microsecond:
        section.refuse(
            "start",
            "must be a day or a moment without a zone, such as 2026-11-16 or 2026-11-16T00:00:00",
            "は 2026-11-16 や 2026-11-16T00:00:00 のような、時間帯を付けない日付または日時です",
        )
    return found


def _read_reference(section: Section, base: Path) -> str | None:
    if not section.has("reference"):
        return None
    stated = section.text("reference")
    return stated if stated in (YESTERDAY, LAST) else str(base / stated)


def _read_moves(section: Section) -> int | tuple[int, ...]:
    listed = [section.whole("moves")] if section.is_whole("moves") else section.items("moves")
    is_one = len(listed) == 1
    if not listed or not all(type(cap) is int and 0 <= cap <= MAX_MOVES for cap in listed):
        section.refuse(
            "moves",
            f"must be a whole number from 0 to {MAX_MOVES:,}, or a list of them, one for each level from the total",
            f"は 0 から {MAX_MOVES:,} までの整数、または総数からの各階層についてのそのリストです",
        )
    return listed[0] if is_one else tuple(listed)


def _require_blanks(section: Section, source: Source) -> None:
    """One tick's data must be found by the tick: a path or a query without blanks would be the same at every tick."""
    texts = (*source.paths, source.query or "")
    if source.query is None and not any(f"{{{blank}}}" in text for blank in BLANKS for text in texts):
        listed = ", ".join(f"{{{blank}}}" for blank in BLANKS)
        section.refuse(
            "path",
            f'must say which file is which tick\'s, as in "rows/{{date}}/{{time}}.parquet". Blanks: {listed}',
            f'には、"rows/{{date}}/{{time}}.parquet" のように時点ごとのファイルを書いてください。使える項目: {listed}',
        )


def _filled(text: str, blanks: dict[str, str]) -> str:
    """A text with the tick in its blanks; other braces stay."""
    for name, value in blanks.items():
        text = text.replace(f"{{{name}}}", value)
    return text
