"""The revision of a window: all its tables estimated once more, from everything that its ticks measured and published.

It is a function of published files and of the plan: nothing is drawn from the window's key, and nothing is charged. By chance is
decided between equals alone, with words that follow from the published files, so that a revision that is made again is the same.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain
from sudare.io.writing import arrow_table
from sudare.noise.addressed import NoiseKey
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.series.days.document import PUBLISHED, DayTick, RevisionRecord, begin_of
from sudare.releases.kinds.series.plan_file import SeriesPlan
from sudare.releases.verification import UnsoundError
from sudare.series.filtering import FilteredEstimate
from sudare.series.smoothing import smooth_window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

__all__ = ["REVISION", "check_revision", "write_revision"]

REVISION = "revision.parquet"
MEASUREMENTS = "measurements.npz"
WORK = ".smoothing"
TIMES = ("begins", "tick_begins", "revised_begins")
NOTE = Words(
    "A revision: every published table of the window, estimated once more from the noisy measurements of all its ticks. Nothing "
    "was measured or drawn for it, so that it cost nothing. The tables of the ticks stay as they were published.",
    "改訂値: 期間中に公表したすべての表を、全時点のノイズ付き測定値から推定し直したものです。"
    "新たな測定もノイズの生成も行っていないため、費用はかかっていません。各時点の表は公表時のままです。",
)


class _MeasuredLevels(Sequence["Counts"]):
    """What was measured at a tick, of which one level at a time is read."""

    def __init__(self, path: Path, levels: int) -> None:
        self._path, self._levels = path, levels

    def __len__(self) -> int:
        return self._levels

    def __getitem__(self, level: Any) -> Any:
        with np.load(self._path, allow_pickle=False) as arrays:
            return arrays[f"level{level}"]


def write_revision(plan: SeriesPlan, ticks: Sequence[DayTick], folder: Path) -> RevisionRecord | None:
    """Write the revision of a window.

    Args:
        plan: of the series.
        ticks: of the window, as the report has them.
        folder: of the report, on its way.

    Returns:
        What the document says of it; None if there is none: where the plan wants none, where measurements are not published,
        where events are protected, or where nothing is learned from later ticks.
    """
    import pyarrow
    import pyarrow.parquet

    design = plan.design
    can_learn = any(FilteredEstimate.suits(level.strategy) for level in design.levels[1:])
    if not (plan.measurements and plan.revision) or design.is_of_events or design.is_visited or not can_learn:
        return None
    time = time_column(plan.domain, plan.count)
    folders = {tick.number: plan.folder / tick.folder for tick in ticks if tick.state == PUBLISHED and tick.folder}
    if not folders:
        return None
    totals: list[int | None] = [None] * len(ticks)
    work = folder / WORK
    work.mkdir()
    try:
        with (folder / REVISION).open("wb") as stream:
            writer = None
            revised = smooth_window(design, _measured(folders, len(design.measured)), work, _words(ticks))
            for number, table in revised:
                totals[number] = int(table.total)
                rows = _rows(table, datetime.fromisoformat(ticks[number].begins), time, plan.count)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(stream, rows.schema, compression="zstd")
                writer.write_table(rows)
            if writer is not None:
                writer.close()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return RevisionRecord(file=REVISION, time=time, totals=tuple(totals), note=NOTE)


def time_column(domain: Domain, count: str) -> str:
    """What the column of times is called: as no other column is."""
    taken = {count, *(attribute.name for attribute in domain.attributes)}
    return next(name for name in (*TIMES, "_".join(TIMES)) if name not in taken)


def check_revision(document: StatedDocument) -> tuple[str, str]:
    """The file has the ticks that were published, whole numbers >= 0, and the stated sums.

    Raises:
        UnsoundError: if it does not.
    """
    import pyarrow.parquet

    stated = document["revision"]
    if stated["file"] != REVISION or REVISION not in {entry["name"] for entry in document["files"]}:
        raise UnsoundError("the revision is not among the files", "改訂値のファイルが記載されていません")
    path, count = document.folder / REVISION, document["count"]
    if not path.is_file():
        raise UnsoundError(f"{REVISION} is missing", f"{REVISION} がありません")
    totals: list[int | None] = [None if tick["state"] != PUBLISHED else 0 for tick in document["ticks"]]
    places = {begin_of(document["window"], number): number for number in range(len(totals))}
    try:
        opened = pyarrow.parquet.ParquetFile(path)
        for group in range(opened.num_row_groups):
            rows = opened.read_row_group(group, [stated["time"], count])
            if not rows.num_rows:
                continue
            counts = rows.column(count).to_numpy()
            moments = rows.column(stated["time"]).unique().to_pylist()
            number = places[moments[0]]
            before = totals[number]
            if len(moments) != 1 or before is None or counts.dtype.kind != "i" or (counts < 0).any():
                raise UnsoundError("the revision has other ticks than the report", "改訂値の時点が報告書と一致しません")
            totals[number] = before + int(counts.sum())
    except (OSError, pyarrow.ArrowException):
        raise UnsoundError(f"{REVISION} cannot be read", f"{REVISION} を読み込めません") from None
    if totals != stated["totals"]:
        raise UnsoundError("sums of the revision are not those stated", "改訂値の合計が記載と一致しません")
    revised = sum(total is not None for total in totals)
    return f"{revised} tables estimated once more, at no cost", f"{revised} 時点の表を再推定（費用なし）"


def _measured(folders: Mapping[int, Path], levels: int) -> Callable[[int], Sequence[Counts] | None]:
    def measured(tick: int) -> Sequence[Counts] | None:
        return _MeasuredLevels(folders[tick] / MEASUREMENTS, levels) if tick in folders else None

    return measured


def _words(ticks: Sequence[DayTick]) -> Callable[[int], Any]:
    """Words by which equals are decided: public ones, which follow from the documents of the ticks."""
    digest = hashlib.sha256("\n".join(tick.sha256 or "" for tick in ticks).encode()).digest()
    key = NoiseKey(digest, origin="research")
    return lambda tick: key.child("revision", tick).stream()


def _rows(table: CountTable, begins: datetime, time: str, count: str) -> Any:
    import pyarrow

    rows = arrow_table(table.domain, table.keys, {count: table.counts})
    moments = pyarrow.array([begins] * rows.num_rows, pyarrow.timestamp("s"))
    return rows.add_column(0, time, moments)
