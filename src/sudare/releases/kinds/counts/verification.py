"""Checking a release folder: hashes, sums, signs, the stated cost, and the ledger's entry."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, SignedTable
from sudare.errors import InputError, PlanError
from sudare.io import Source, read_counts, read_signed
from sudare.releases.data.domains import domain_of_description
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.counts.document import DOCUMENT_FORMAT, PAGE_FORMAT
from sudare.releases.kinds.counts.page import render_page
from sudare.releases.verification import (
    Check,
    UnsoundError,
    check_files,
    check_ledger,
    check_page,
    event_of,
    outcome_of,
)
from sudare.storage.guarded_json import read_stated
from sudare.storage.staging import DOCUMENT

__all__ = ["read_document", "read_published_table", "verify_release"]

FORMATS = {".parquet": "parquet", ".csv": "csv", ".arrow": "arrow", ".geoparquet": "geoparquet", ".tif": "geotiff"}


def read_document(folder: str | Path) -> dict[str, object]:
    """What ``release.json`` of a release folder says.

    Raises:
        InputError: if it is missing, damaged, or of a version that this sudare does not know.
    """
    return read_stated(Path(folder) / DOCUMENT, DOCUMENT_FORMAT, Words("release folder", "公表フォルダ"))


def read_published_table(folder: str | Path, document: Mapping[str, Any] | None = None) -> CountTable | SignedTable:
    """The published table of a release folder, from the first of its files; signed if it was published so."""
    stated = StatedDocument(Path(folder) / DOCUMENT, read_document(folder) if document is None else document)
    try:
        domain = domain_of_description(stated["domain"], DOCUMENT)
        return _read_table(_table_files(stated)[0], domain, stated["published"])
    except (UnsoundError, KeyError, TypeError, AttributeError, PlanError):
        raise InputError(
            f"'{Path(folder) / DOCUMENT}' does not say what it should; `sudare verify` tells more.",
            f"「{Path(folder) / DOCUMENT}」の内容が不正です。`sudare verify` で確認できます。",
        ) from None


def verify_release(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check a release folder, and the ledger's entry where the ledger can be read.

    Args:
        folder: the release.
        ledger: where the ledger is; left out, the ledger is not looked at.

    Returns:
        All checks; the release is sound if none has failed.

    Raises:
        InputError: if the folder is no release at all.
        LedgerError: if the ledger cannot be opened.
    """
    document = StatedDocument(Path(folder) / DOCUMENT, read_document(folder))
    return [
        *check_files(document),
        outcome_of("cost", lambda: _check_cost(document)),
        outcome_of("counts", lambda: _check_counts(document)),
        _check_page(document),
        check_ledger(document, ledger),
    ]


def _check_page(document: StatedDocument) -> Check:
    def render(language: str) -> str:
        table = read_published_table(document.folder, document.values)
        return render_page(document.values, table, language=language)

    return check_page(document, render, is_same_form=document.get("page_format") == PAGE_FORMAT)


def _check_cost(document: StatedDocument) -> tuple[str, str]:
    event = event_of(document)
    if list(event.invariants) != list(document["deployment"]["dp_flavor"]["unprotected_quantities"]):
        raise UnsoundError(
            "unprotected quantities are not those of the event", "保護されない量の記載がイベントと一致しません"
        )
    return f"{event.cost} covers all measurements", f"{event.cost} は全測定の費用を満たします"


def _check_counts(document: StatedDocument) -> tuple[str, str]:
    """Every file has the same table: whole numbers, none negative unless it is signed, cells of the domain, the sum as stated."""
    domain = domain_of_description(document["domain"], DOCUMENT)
    stated = document["published"]
    tables = [_read_table(path, domain, stated) for path in _table_files(document)]
    for table in tables:
        if table.total != stated["total"] or table.keys.size != stated["non_empty_cells"]:
            raise UnsoundError("sums are not those stated", "合計が記載と一致しません")
        if not (np.array_equal(table.keys, tables[0].keys) and np.array_equal(table.counts, tables[0].counts)):
            raise UnsoundError("the files hold different tables", "ファイル間で表の内容が異なります")
    total = f"{stated['total']:,}"
    if isinstance(tables[0], SignedTable):
        return f"whole numbers, signed as published, {total} in all", f"すべて整数（符号付きの公表）、合計 {total}"
    return f"whole numbers, none negative, {total} in all", f"すべて非負の整数、合計 {total}"


def _table_files(document: StatedDocument) -> list[Path]:
    found = [path for path in document.listed_files() if path.stem == "table" and path.suffix in FORMATS]
    if not found:
        raise UnsoundError("no table is listed", "表のファイルが記載されていません")
    return found


def _read_table(path: Path, domain: Domain, stated: Mapping[str, Any]) -> CountTable | SignedTable:
    if not path.is_file():  # such as a pipe, on which a reader would wait forever
        raise UnsoundError(f"{path.name} is missing", f"{path.name} がありません")
    form = FORMATS[path.suffix]
    source = Source((str(path),), form, "counts", None if form == "geotiff" else stated["count"])
    # Documents from before there were signed tables do not say that theirs are not.
    return read_signed(source, domain) if stated.get("signed") is True else read_counts(source, domain)
