"""Checking a whole window by its report: every tick, none besides, their sums, what they cost, the page, and the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from sudare.domain import CountTable
from sudare.errors import InputError
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.entries import Settled, TickSettled, TicksMissed
from sudare.releases.data.domains import domain_of_description
from sudare.releases.documents import StatedDocument, document_values
from sudare.releases.kinds.series.days.areas import areas_of, largest_areas
from sudare.releases.kinds.series.days.document import (
    CURVES,
    LOST,
    MISSING,
    PUBLISHED,
    begin_of,
    costs_together,
    curves_text,
    folder_of_tick,
    report_name,
)
from sudare.releases.kinds.series.days.page import render_day_page, shown_ticks
from sudare.releases.kinds.series.days.report import read_day_document
from sudare.releases.kinds.series.days.revision import check_revision
from sudare.releases.kinds.series.verification import read_tick_document, read_tick_table, verify_tick
from sudare.releases.verification import (
    NO_LEDGER,
    Check,
    UnsoundError,
    check_files,
    check_page,
    event_of,
    outcome_of,
    reservation_of,
)
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT

__all__ = ["verify_day"]

TIME = re.compile(r"time=([0-9]{4}|[0-9]{6})")


def verify_day(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check the report of a window and all its ticks, and the ledger's entries where the ledger can be read.

    Args:
        folder: of the report, in its place among the folders of the ticks.
        ledger: where the ledger is; left out, the ledger is not looked at.

    Raises:
        InputError: if the folder is no report of a window.
        LedgerError: if the ledger cannot be opened.
    """
    document = StatedDocument(Path(folder).resolve() / DOCUMENT, read_day_document(folder))
    tables = _Tables(document)
    window = outcome_of("window", lambda: _check_window(document))
    checks = [*check_files(document), outcome_of("cost", lambda: _check_cost(document)), window]
    if window.outcome != "failed":
        checks += _check_ticks(document)
        checks.append(outcome_of("other-ticks", lambda: _check_none_besides(document)))
        checks.append(outcome_of("curves", lambda: _check_curves(document, tables)))
        if "revision" in document:
            checks.append(outcome_of("revision", lambda: check_revision(document)))
    checks.append(
        check_page(document, lambda language: render_day_page(document.values, tables.shown(), language=language))
    )
    if ledger is None:
        return [*checks, NO_LEDGER]
    with open_ledger(ledger) as opened:
        return [*checks, outcome_of("ledger", lambda: _check_ledger(document, opened))]


def _series_folder(document: StatedDocument) -> Path:
    return document.folder.parent.parent


def _check_window(document: StatedDocument) -> tuple[str, str]:
    """The report lies where the window's is, and says something of every tick, in order."""
    window, ticks = document["window"], document["ticks"]
    begins, unit = datetime.fromisoformat(window["begins"]), document.event().unit
    if document.folder.name != report_name(begins) or document.folder.parent.name != f"date={begins:%Y-%m-%d}":
        raise UnsoundError(
            "the folder is not in the place of this window's report",
            "フォルダの場所がこの期間の報告書のものではありません",
        )
    number = len(ticks)
    is_whole = number == window["ticks"] and all(
        type(window[name]) is int and window[name] > 0 for name in ("ticks", "every")
    )
    if not is_whole or datetime.fromisoformat(window["ends"]) != begin_of(window, number):
        raise UnsoundError("not all ticks of the window are listed", "期間のすべての時点が記載されていません")
    if unit.time is None or (unit.time.span != "event" and unit.time.ticks != number):
        raise UnsoundError(
            "the event protects another time than the window", "イベントの保護する時間が期間と一致しません"
        )
    for place, tick in enumerate(ticks):
        begin = begin_of(window, place)
        is_missing = tick["state"] == MISSING
        stated = (tick["number"], tick["begins"], tick.get("folder"))
        if stated != (place, begin.isoformat(), None if is_missing else folder_of_tick(begin)):
            raise UnsoundError(
                f"tick {place} is out of order, or names another folder",
                f"時点 {place} の順序またはフォルダの記載が正しくありません",
            )
        if tick["state"] not in (PUBLISHED, MISSING, LOST) or is_missing != ("sha256" not in tick):
            raise UnsoundError(f"the state of tick {place} is unknown", f"時点 {place} の状態が不明です")
    missing = sum(tick["state"] == MISSING for tick in ticks)
    return (
        f"{number - missing} of {number} ticks published, {missing} missing",
        f"{number} 時点のうち {number - missing} 時点を公表、{missing} 時点は公表なし",
    )


def _check_cost(document: StatedDocument) -> tuple[str, str]:
    event = event_of(document)
    together = [document_values(one) for one in costs_together(event.cost)]
    if document["together"] != together:
        raise UnsoundError("the costs of several windows are not those stated", "複数の期間の費用が記載と一致しません")
    return f"{event.cost} covers all ticks of the window", f"{event.cost} は期間の全時点の費用を満たします"


def _check_ticks(document: StatedDocument) -> list[Check]:
    """One check for all ticks that are as they were; one for each that is not."""
    checks, sound = [], 0
    for tick in document["ticks"]:
        if tick["state"] == MISSING:
            continue
        name = f"tick {tick['begins'][:16].replace('T', ' ')}"
        check = outcome_of(name, lambda tick=tick: _check_tick(document, tick))  # type: ignore[misc]
        if check.outcome == "passed":
            sound += 1
        elif tick["state"] == LOST:
            checks.append(
                Check(
                    name,
                    "skipped",
                    f"as the report says: {check.english}",
                    f"報告書の記載のとおりです: {check.japanese}",
                )
            )
        else:
            checks.append(check)
    if sound:
        checks.append(
            Check(
                "ticks",
                "passed",
                f"{sound} with their files, hashes and sums",
                f"{sound} 時点のファイル、ハッシュ、合計が一致",
            )
        )
    return checks


def _check_tick(document: StatedDocument, tick: Mapping[str, Any]) -> tuple[str, str]:
    """A tick is there, as it was published: its document by the hash in the report, everything else by its document."""
    folder = _series_folder(document) / tick["folder"]
    path = folder / DOCUMENT
    if not path.is_file():
        raise UnsoundError("its folder is gone", "フォルダがありません")
    if hash_of_file(path) != tick["sha256"]:
        raise UnsoundError(f"its {DOCUMENT} was changed", f"{DOCUMENT} が変更されています")
    own = StatedDocument(path, read_tick_document(folder))
    failed = next((check for check in verify_tick(folder) if check.outcome == "failed"), None)
    if failed is not None:
        raise UnsoundError(f"{failed.name}: {failed.english}", f"{failed.name}: {failed.japanese}")
    for name in ("event", "domain"):
        if own[name] != document[name]:
            raise UnsoundError(f"its {name} is not that of the window", f"{name} が期間のものと一致しません")
    if any(own["ledger"][name] != document["ledger"][name] for name in ("dataset", "entry", "hash")):
        raise UnsoundError("it was charged as part of another window", "別の期間の公表として記帳されています")
    stated, window = own["tick"], document["window"]
    if (stated["number"], stated["begins"], stated["window"]) != (tick["number"], tick["begins"], window["begins"]):
        raise UnsoundError("it is another tick", "別の時点のものです")
    published = own["published"]
    if tick["state"] == PUBLISHED and any(published[name] != tick[name] for name in ("total", "non_empty_cells")):
        raise UnsoundError("its sums are not those of the report", "合計が報告書の記載と一致しません")
    deviations = [size["deviations"][tick["number"]] for size in document["accuracy"]]
    if list(published["deviations"]) != deviations:
        raise UnsoundError("its expected errors are not those of the report", "予想誤差が報告書の記載と一致しません")
    return "", ""


def _check_none_besides(document: StatedDocument) -> tuple[str, str]:
    """No folder of a tick lies in the time of the window that the report does not know."""
    window, series = document["window"], _series_folder(document)
    begins, ends = (datetime.fromisoformat(window[name]) for name in ("begins", "ends"))
    known = {tick.get("folder") for tick in document["ticks"]}
    for folder, moment in _folders_of_ticks(series, begins, ends):
        name = f"{folder.parent.name}/{folder.name}"
        is_within = moment is None or begins <= moment < ends
        if is_within and name not in known:
            raise UnsoundError(
                f"{name} is there, and the report does not know it", f"{name} は報告書に記載のない時点です"
            )
    return "none that the report does not know", "報告書に記載のない時点はありません"


def _folders_of_ticks(series: Path, begins: datetime, ends: datetime) -> Iterator[tuple[Path, datetime | None]]:
    """What calls itself a tick on the days of a window, with its moment; None if it names none."""
    day = begins.date()
    while datetime.combine(day, datetime.min.time()) < ends:
        for folder in sorted((series / f"date={day:%Y-%m-%d}").glob("time=*")):
            found = TIME.fullmatch(folder.name)
            try:
                time = None if found is None else datetime.strptime(found[1].ljust(6, "0"), "%H%M%S").time()
            except ValueError:
                time = None
            yield folder, None if time is None else datetime.combine(day, time)
        day += timedelta(days=1)


class _Tables:
    """The published tables of a report; those that its page shows are kept."""

    def __init__(self, document: StatedDocument) -> None:
        self._document = document
        self._kept: dict[int, CountTable] = {}

    def all(self) -> Iterator[tuple[int, CountTable]]:
        """One after the other."""
        shown = set(shown_ticks(self._document.values))
        for tick in self._document["ticks"]:
            if tick["state"] == PUBLISHED:
                table = self._read(tick["number"])
                if tick["number"] in shown:
                    self._kept[tick["number"]] = table
                yield tick["number"], table

    def shown(self) -> dict[int, CountTable]:
        """Those that the page shows."""
        ticks = self._document["ticks"]
        wanted = [number for number in shown_ticks(self._document.values) if ticks[number]["state"] == PUBLISHED]
        for number in wanted:
            if number not in self._kept:
                self._kept[number] = self._read(number)
        return self._kept

    def _read(self, number: int) -> CountTable:
        folder = _series_folder(self._document) / folder_of_tick(begin_of(self._document["window"], number))
        try:
            return read_tick_table(StatedDocument(folder / DOCUMENT, read_tick_document(folder)))
        except InputError:
            time = begin_of(self._document["window"], number).strftime("%Y-%m-%d %H:%M")
            raise UnsoundError(
                f"not compared: the table of {time} is not there", f"{time} の表がないため照合できません"
            ) from None


def _check_curves(document: StatedDocument, tables: _Tables) -> tuple[str, str]:
    """The curves, and the file of them, are those of the tables."""
    areas = areas_of(domain_of_description(document["domain"], DOCUMENT))
    sums = np.zeros((areas.number, len(document["ticks"])), dtype=np.int64)
    there = set()
    for number, table in tables.all():
        sums[:, number] = areas.sums(table)
        there.add(number)
    expected = [
        {
            "name": {"english": (name := areas.name(area)).english, "japanese": name.japanese},
            "counts": [int(count) if number in there else None for number, count in enumerate(sums[area])],
        }
        for area in largest_areas(areas, sums)
    ]
    if document["areas"] != expected:
        raise UnsoundError("curves are not those of the tables", "推移が表の内容と一致しません")
    path = document.folder / CURVES
    if not path.is_file() or path.read_bytes() != curves_text(document["ticks"], document["areas"]):
        raise UnsoundError(f"{CURVES} has other numbers", f"{CURVES} の値が一致しません")
    return f"{len(expected)} areas, as in the tables", f"{len(expected)} 領域の推移が表と一致"


def _check_ledger(document: StatedDocument, ledger: Ledger) -> tuple[str, str]:
    """The window was reserved for, each tick was settled or declared missing as stated, and the report closed it."""
    reserved = reservation_of(document, ledger)
    settled, missing, closed = _entries_of_window(ledger, reserved.number)
    for tick in document["ticks"]:
        place = tick["number"]
        if tick["state"] == MISSING and not any(place in ticks for ticks in missing):
            raise UnsoundError(
                f"the ledger does not know tick {place} as missing", f"時点 {place} は台帳では公表なしではありません"
            )
        if tick["state"] != MISSING and settled.get(place) != tick["sha256"]:
            raise UnsoundError(
                f"the ledger did not settle this tick {place}", f"台帳はこの時点 {place} を確定していません"
            )
    if closed is None or closed[1] != hash_of_file(document.path):
        raise UnsoundError(
            f"the ledger did not close the window with this {document.name}",
            f"台帳はこの {document.name} で期間を閉じていません",
        )
    return (
        f"reserved as entry {reserved.number}, {len(settled)} ticks settled, closed by entry {closed[0]}",
        f"項目 {reserved.number} で予約、{len(settled)} 時点を確定、項目 {closed[0]} で終了",
    )


def _entries_of_window(
    ledger: Ledger, window: int
) -> tuple[dict[int, str | None], list[range], tuple[int, str | None] | None]:
    """Hashes of settled ticks, ticks that are missing, and what closed the window."""
    settled: dict[int, str | None] = {}
    missing: list[range] = []
    closed = None
    for entry in ledger.entries():
        body = entry.read()
        if isinstance(body, TickSettled) and body.window == window:
            settled[body.tick] = body.result.get("document_sha256")
        elif isinstance(body, TicksMissed) and body.window == window:
            missing.append(range(body.first, body.last + 1))
        elif isinstance(body, Settled) and body.reservation == window:
            closed = entry.number, body.result.get("document_sha256")
    return settled, missing, closed
