"""An invented stream of people as files: one for each tick, as a data source would deliver them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from sudare.errors import OutputError, ParameterError
from sudare.examples.people_flow import PeopleFlow
from sudare.parameters import exact_integer, shown
from sudare.system.reasons import reason_of

__all__ = ["write_people_flow"]

START = datetime(2026, 11, 16)
"""Local time, as the files have it."""


def write_people_flow(
    flow: PeopleFlow, folder: Path | str, *, ticks: int | None = None, start: datetime = START
) -> list[Path]:
    """Write the next ticks of a stream, one Parquet file each: ``2026-11-16T0810.parquet``.

    Columns: ``person`` (1, 2, 3, ...), ``time`` (when the tick was) and the attributes of the domain such as ``KEY_CODE``.
    Whoever is absent has no row.

    Args:
        flow: the stream.
        folder: where to; it is made if it is not there.
        ticks: how many; a day if left out.
        start: when tick 0 of the stream is; in whole minutes.

    Returns:
        The files, in the order of their ticks.

    Raises:
        ParameterError: if an argument is not of this kind, or ticks are not whole minutes apart.
        OutputError: if a file cannot be written.

    Example:
        >>> import tempfile
        >>> from sudare.examples import PeopleFlow, invent_country, write_people_flow
        >>> flow = PeopleFlow(invent_country(64, people=1_000))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file.name for file in write_people_flow(flow, folder, ticks=2)]
        ['2026-11-16T0000.parquet', '2026-11-16T0010.parquet']
    """
    import pyarrow
    import pyarrow.parquet

    if not isinstance(flow, PeopleFlow):
        raise ParameterError("flow", "write_people_flow", "a PeopleFlow", shown(flow))
    if not isinstance(start, datetime):
        raise ParameterError("start", "write_people_flow", "a date and time", shown(start))
    wanted = flow.ticks if ticks is None else ticks
    count = exact_integer(wanted, "ticks", "write_people_flow", "from 1 to 2**20", smallest=1, largest=1 << 20)
    every = timedelta(days=1) / flow.ticks
    if every % timedelta(minutes=1):
        requirement = "a stream whose ticks are whole minutes apart, such as 24 or 144 a day"
        raise ParameterError("flow", "write_people_flow", requirement, f"{flow.ticks} a day")
    target, written = Path(folder), []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for _ in range(count):
            time = start + flow.tick * every
            cells = flow.advance()
            present = np.flatnonzero(cells >= 0)
            codes = flow.domain.columns_of(cells[present].astype(np.uint64))
            times = pyarrow.repeat(pyarrow.scalar(time, pyarrow.timestamp("s")), present.size)
            table = pyarrow.table({"person": present + 1, "time": times, **codes})
            written.append(target / f"{time:%Y-%m-%dT%H%M}.parquet")
            pyarrow.parquet.write_table(table, written[-1])
    except OSError as error:
        raise OutputError(
            f"'{target}' cannot be written: {reason_of(error).english}.",
            f"「{target}」に書き込めません: {reason_of(error).japanese}。",
        ) from None
    return written
