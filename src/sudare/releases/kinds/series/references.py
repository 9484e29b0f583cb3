"""A published table of an earlier window, by which the tables of a window become more accurate at no cost.

``reference = "yesterday"``, ``"last"``, or the folder of a release. Only what was published is taken: a tick of the series as the
ledger settled it, a folder whose files are those that its document lists. Where there is none, as on the first day, a tick is
published without; its document says which it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from sudare.domain import CountTable
from sudare.errors import SudareError
from sudare.io import Source, read_counts
from sudare.ledger import Ledger
from sudare.ledger.entries import TickSettled
from sudare.releases.data.domains import describe_domain
from sudare.releases.documents import StatedDocument
from sudare.releases.folder_store import FolderStore
from sudare.releases.kinds.series.clock import Tick
from sudare.releases.kinds.series.document import TICK_FORMAT, TickReference
from sudare.releases.kinds.series.plan_file import LAST, YESTERDAY, TickPlan
from sudare.releases.verification import check_files
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT

__all__ = ["ReferenceTable", "find_reference"]

TABLE = "table.parquet"
FORMATS = (TICK_FORMAT, "sudare-release/1")
MAX_DAYS = 7
"""How many days back a table of the same time is looked for."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReferenceTable:
    """What a plan refers to.

    Attributes:
        record: what the document of a tick says of it.
        table: None if there is none.
    """

    record: TickReference
    table: CountTable | None = None


def find_reference(plan: TickPlan, ledger: Ledger, window_hash: str) -> ReferenceTable | None:
    """The table that a tick refers to; None if its plan refers to none.

    Args:
        plan: of the tick.
        ledger: of the plan.
        window_hash: of the ledger's entry that reserved for this window, none of whose tables is taken: its noise is in the
            estimates already.
    """
    asked = plan.series.reference
    if asked is None:
        return None
    record = TickReference(asked=asked if asked in (YESTERDAY, LAST) else "release")
    if asked not in (YESTERDAY, LAST):
        return _read_table(plan, Path(plan.fill(asked)), window_hash, record)
    for tick in _candidates(plan, asked):
        at = plan.series.at(tick)
        settled = ledger.settled(plan.series.ledger.dataset, at.fingerprint())
        body = None if settled is None else settled.read()
        if settled is None or not isinstance(body, TickSettled):
            continue
        store = FolderStore[None](ledger, plan.series.ledger.dataset, at.fingerprint(), at.folder)
        released = store.find_settled(body.result, settled.number)
        if released is not None:
            return _read_table(plan, released.folder, window_hash, record)
    return ReferenceTable(record=record)


def _candidates(plan: TickPlan, asked: str) -> Iterator[Tick]:
    """Ticks of earlier windows, the best one first."""
    clock, tick = plan.series.clock, plan.tick
    if asked == LAST:
        moments = (tick.window - number * clock.every for number in range(1, clock.ticks + 1))
    else:
        moments = (tick.begins - timedelta(days=days) for days in range(1, MAX_DAYS + 1))
    for moment in moments:
        found = clock.tick_within(moment) if clock.start <= moment < tick.window else None
        if found is not None and found.begins == moment:  # ticks that do not fit into days have none at this time
            yield found


def _read_table(plan: TickPlan, folder: Path, window_hash: str, record: TickReference) -> ReferenceTable:
    """The table of a folder, if it is a whole release of the same cells, and none of this window."""
    with suppress(SudareError, OSError, ValueError, LookupError, TypeError):
        path = folder / DOCUMENT
        values = read_json(path)
        document = StatedDocument(path, values if isinstance(values, dict) else {})
        is_sound = document["format"] in FORMATS and not any(c.outcome == "failed" for c in check_files(document))
        is_same = document["domain"] == describe_domain(plan.series.domain)
        is_other = document["ledger"]["hash"] != window_hash
        if is_sound and is_same and is_other and TABLE in {entry["name"] for entry in document["files"]}:
            source = Source((str(folder / TABLE),), "parquet", "counts", document["published"]["count"])
            table = read_counts(source, plan.series.domain, memory=plan.series.memory)
            begins = document["tick"]["begins"] if document["format"] == TICK_FORMAT else None
            return ReferenceTable(record=replace(record, begins=begins, sha256=hash_of_file(path)), table=table)
    return ReferenceTable(record=record)
