"""Checking a folder that a cluster drew, file by file, so that it need not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudare.bilingual import Words
from sudare.domain import Domain
from sudare.releases.data.domains import domain_of_description
from sudare.releases.documents import StatedDocument
from sudare.releases.subtrees.plan import SUBTREES_FORMAT
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

__all__ = ["verify_subtrees"]


def verify_subtrees(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check a folder, and the ledger's entries where the ledger can be read.

    Args:
        folder: of the release.
        ledger: where the ledger is; left out, the ledger is not looked at.

    Raises:
        InputError: if it has no such document.
        LedgerError: if the ledger cannot be opened.
    """
    path = Path(folder) / DOCUMENT
    values = read_stated(path, SUBTREES_FORMAT, Words("folder that a cluster drew", "クラスターが作成した公表フォルダ"))
    document = StatedDocument(path, values)
    return [
        *check_files(document),
        outcome_of("folder", lambda: require_listed(document)),
        outcome_of("cost", lambda: _check_cost(document)),
        outcome_of("counts", lambda: _check_counts(document)),
        check_ledger(document, ledger, in_window=True),
    ]


def _check_cost(document: StatedDocument) -> tuple[str, str]:
    event = event_of(document)
    return f"{event.cost} covers all measurements", f"{event.cost} は全測定の費用を満たします"


def _check_counts(document: StatedDocument) -> tuple[str, str]:
    """Whole numbers above 0 of cells of the domain, in each file no cell twice, sums as stated."""
    domain, stated = domain_of_description(document["domain"], DOCUMENT), document["published"]
    total, cells, parts = 0, 0, 0
    for keys, counts in _parts(document, domain):
        total, cells, parts = total + int(counts.sum()), cells + keys.size, parts + 1
    if (total, cells, parts) != (stated["total"], stated["non_empty_cells"], stated["parts"]):
        raise UnsoundError("sums are not those stated", "合計が記載と一致しません")
    return f"whole numbers, none negative, {total:,} in all", f"すべて非負の整数、合計 {total:,}"


def _parts(document: StatedDocument, domain: Domain) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    import pyarrow as pa
    import pyarrow.parquet

    for path in document.listed_files():
        if not path.is_file():
            raise UnsoundError(f"{path.name} is missing", f"{path.name} がありません")
        try:
            table = pa.parquet.read_table(path, columns=["key", "count"])
            keys, counts = (np.asarray(table.column(name).to_numpy(), dtype=np.int64) for name in ("key", "count"))
        except (pa.ArrowException, OSError, ValueError, TypeError, KeyError):
            raise UnsoundError(f"{path.name} is no table of cells", f"{path.name} はセルの表ではありません") from None
        is_sound = bool((counts > 0).all() and (np.diff(keys) > 0).all())
        if keys.size and not (is_sound and keys[0] >= 0 and keys[-1] < domain.cells):
            raise UnsoundError(
                f"{path.name} has cells that are not in the domain or stand twice, or counts that are none",
                f"{path.name} に、ドメインにないセル、重複するセル、または人数でない値があります",
            )
        yield keys, counts
