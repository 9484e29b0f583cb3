"""Checking what a series published, each tick by itself; a whole window is checked by its report (`days.verification`)."""

from __future__ import annotations

from pathlib import Path

from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.io import Source, read_counts
from sudare.releases.data.domains import domain_of_description
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.series.document import TICK_FORMAT
from sudare.releases.verification import (
    Check,
    UnsoundError,
    check_files,
    check_ledger,
    event_of,
    outcome_of,
    require_listed,
)
from sudare.storage.guarded_json import read_stated
from sudare.storage.staging import DOCUMENT

__all__ = ["read_tick_document", "read_tick_table", "verify_tick"]

TABLE = "table.parquet"


def read_tick_document(folder: str | Path) -> dict[str, object]:
    """What ``release.json`` of a tick says.

    Raises:
        InputError: if it is missing, damaged, or of a version that this sudare does not know.
    """
    return read_stated(Path(folder) / DOCUMENT, TICK_FORMAT, Words("folder of a tick", "時点のフォルダ"))


def read_tick_table(document: StatedDocument) -> CountTable:
    """The published table of a tick."""
    domain = domain_of_description(document["domain"], DOCUMENT)
    path = document.folder / TABLE
    if not path.is_file():
        raise UnsoundError(f"{TABLE} is missing", f"{TABLE} がありません")
    return read_counts(Source((str(path),), "parquet", "counts", document["published"]["count"]), domain)


def verify_tick(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check the folder of a tick, and the ledger's entry where the ledger can be read.

    Args:
        folder: of the tick.
        ledger: where the ledger is; left out, the ledger is not looked at.
    """
    document = StatedDocument(Path(folder) / DOCUMENT, read_tick_document(folder))
    return [
        *check_files(document),
        outcome_of("folder", lambda: require_listed(document)),
        outcome_of("cost", lambda: _check_cost(document)),
        outcome_of("counts", lambda: _check_counts(document)),
        check_ledger(document, ledger, in_window=True),
    ]


def _check_cost(document: StatedDocument) -> tuple[str, str]:
    event = event_of(document)
    return (
        f"{event.cost} covers all ticks of the window",
        f"{event.cost} は期間の全時点の費用を満たします",
    )


def _check_counts(document: StatedDocument) -> tuple[str, str]:
    stated, table = document["published"], read_tick_table(document)
    if table.total != stated["total"] or table.keys.size != stated["non_empty_cells"]:
        raise UnsoundError("sums are not those stated", "合計が記載と一致しません")
    return f"whole numbers, none negative, {table.total:,} in all", f"すべて非負の整数、合計 {table.total:,}"
