"""The files of a tick besides its document: the table, what was measured for it, and the link to the newest one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.io import write_table
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.plan_file import SeriesPlan
from sudare.series.mechanism import TickTable
from sudare.storage.durable import sync_folder
from sudare.storage.staging import translate_errors

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["show_latest", "write_tick_files"]

TABLE = "table.parquet"
MEASUREMENTS = "measurements.npz"
LATEST = "latest"


def write_tick_files(plan: SeriesPlan, published: TickTable, folder: Path) -> list[Path]:
    """Write the table of a tick and, where the plan wants it, what was measured for it."""
    files = [write_table(published.table, folder / TABLE, format="parquet", count=plan.count)]
    if plan.measurements:
        files.append(_write_measured(published, folder / MEASUREMENTS))
    return files


def _write_measured(published: TickTable, path: Path) -> Path:
    """What was measured of each level and then of each margin, as it was: others can estimate from it in another way.

    Noise cannot be compressed: numbers are written in as few bytes as hold the largest of their level.
    """
    numbers = (*published.measured, *published.margins)
    levels = {f"level{number}": _narrowed(level) for number, level in enumerate(numbers)}
    looked_at = ((number, nodes) for number, nodes in enumerate(published.nodes) if nodes is not None)
    levels |= {f"nodes{number}": _narrowed(nodes) for number, nodes in looked_at}
    with path.open("wb") as stream:
        np.savez(stream, **levels)  # type: ignore[arg-type]
    return path


def _narrowed(values: NDArray[np.int64]) -> NDArray[np.signedinteger[Any]]:
    farthest = max(-int(values.min()), int(values.max())) if values.size else 0
    kinds: tuple[type[np.signedinteger[Any]], ...] = (np.int8, np.int16, np.int32)
    fitting = next((kind for kind in kinds if farthest <= np.iinfo(kind).max), np.int64)
    return values.astype(fitting)


def show_latest(plan: SeriesPlan, tick: Tick, folder: Path) -> None:
    """Let ``latest`` lead to a tick, unless it leads to a later one."""
    link = plan.folder / LATEST
    target = os.path.relpath(folder, plan.folder)
    if link.is_symlink() and str(link.readlink()) >= target:
        return
    temporary = plan.folder / f".{LATEST}-{os.getpid()}"
    with translate_errors(link):
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        temporary.replace(link)
        sync_folder(plan.folder)
