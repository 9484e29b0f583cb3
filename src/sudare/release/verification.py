"""Checking a release folder: hashes, sums, signs, the stated cost, and the ledger's entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.errors import InputError, PlanError, SudareError
from sudare.io import Source, read_counts
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.entries import Settled
from sudare.privacy import ReleaseEvent
from sudare.release.document import DOCUMENT_FORMAT
from sudare.release.domains import domain_of_description
from sudare.release.folders import DOCUMENT, PAGE
from sudare.release.hashing import hash_of_file
from sudare.release.page import render_page

__all__ = ["Check", "read_document", "read_published_table", "verify_release"]

Outcome = Literal["passed", "failed", "skipped"]
FORMATS = {".parquet": "parquet", ".csv": "csv", ".arrow": "arrow", ".geoparquet": "geoparquet", ".tif": "geotiff"}


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what, in a word.
        outcome: ``"passed"``, ``"failed"`` or ``"skipped"``.
        english: what was found.
        japanese: the same.
    """

    name: str
    outcome: Outcome
    english: str
    japanese: str


def read_document(folder: str | Path) -> dict[str, Any]:
    """What ``release.json`` of a release folder says.

    Raises:
        InputError: if it is missing, damaged, or of a version that this sudare does not know.
    """
    path = Path(folder) / DOCUMENT
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        raise InputError(
            f"'{path}' is missing or is no JSON: this is no release folder, or a damaged one.",
            f"「{path}」がないか、JSON ではありません。公表フォルダではないか、壊れています。",
        ) from None
    if not isinstance(document, dict) or document.get("format") != DOCUMENT_FORMAT:
        raise InputError(
            f"'{path}' is not in the format {DOCUMENT_FORMAT} that this sudare knows.",
            f"「{path}」は、この sudare が扱う形式 {DOCUMENT_FORMAT} ではありません。",
        )
    return document


def read_published_table(folder: str | Path, document: dict[str, Any] | None = None) -> CountTable:
    """The published table of a release folder, from the first of its files."""
    document = read_document(folder) if document is None else document
    try:
        domain = domain_of_description(document["domain"], DOCUMENT)
        return _read_table(_table_files(Path(folder), document)[0], domain, document["published"]["count"])
    except (_UnsoundError, KeyError, TypeError, AttributeError, PlanError):
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
    place = Path(folder)
    document = read_document(place)
    checks = _check_files(place, document)
    steps: list[tuple[str, Callable[[], tuple[str, str]]]] = [
        ("cost", lambda: _check_cost(document)),
        ("counts", lambda: _check_counts(place, document)),
    ]
    for name, step in steps:
        checks.append(_outcome(name, step))
    checks.append(_check_page(place, document))
    if ledger is None:
        checks.append(
            Check("ledger", "skipped", "not looked at: no ledger was named", "台帳の指定がないため確認していません")
        )
    else:
        with open_ledger(ledger) as opened:
            checks.append(_outcome("ledger", lambda: _check_ledger(place, document, opened)))
    return checks


class _UnsoundError(Exception):
    def __init__(self, english: str, japanese: str) -> None:
        self.english, self.japanese = english, japanese
        super().__init__(english)


def _outcome(name: str, step: Callable[[], tuple[str, str]]) -> Check:
    try:
        return Check(name, "passed", *step())
    except _UnsoundError as error:
        return Check(name, "failed", error.english, error.japanese)
    except SudareError as error:
        japanese = getattr(error, "japanese", str(error))
        return Check(name, "failed", str(error), japanese)
    except (KeyError, TypeError, ValueError, AttributeError):
        return Check(name, "failed", f"{DOCUMENT} does not say what it should", f"{DOCUMENT} の内容が不正です")


def _check_files(folder: Path, document: dict[str, Any]) -> list[Check]:
    files = document.get("files")
    if not isinstance(files, list) or not files:
        return [Check("files", "failed", f"{DOCUMENT} lists no files", f"{DOCUMENT} にファイルの記載がありません")]
    return [_outcome(f"file {_name_of(entry)}", lambda entry=entry: _check_file(folder, entry)) for entry in files]  # type: ignore[misc]


def _check_page(folder: Path, document: dict[str, Any]) -> Check:
    """The page must be what this document and this table give, in either language; and no other files may be there."""
    if document.get("versions", {}).get("sudare") != version("sudare"):
        return Check(
            "page", "skipped", "made by another version of sudare", "別の版の sudare で作成されたため確認していません"
        )

    def check() -> tuple[str, str]:
        listed = {DOCUMENT, PAGE, *(Path(entry["name"]).name for entry in document["files"])}
        others = sorted(path.name for path in folder.iterdir() if path.name not in listed)
        if others:
            name = printable(others[0])
            raise _UnsoundError(
                f"{name} is in the folder, and not part of the release", f"{name} は公表に含まれないファイルです"
            )
        table = read_published_table(folder, document)
        shown = (folder / PAGE).read_text(encoding="utf-8", errors="replace") if (folder / PAGE).is_file() else ""
        if shown not in [render_page(document, table, language=language) for language in ("en", "ja")]:
            raise _UnsoundError(f"{PAGE} is missing or was changed", f"{PAGE} がないか、変更されています")
        return "shows this document and this table", "この文書と表の内容どおりです"

    return _outcome("page", check)


def printable(text: str) -> str:
    """A text from a file that may be hostile, for a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:200]


def _name_of(entry: Any) -> str:
    return printable(str(entry.get("name", "?"))) if isinstance(entry, dict) else "?"


def _check_file(folder: Path, entry: dict[str, Any]) -> tuple[str, str]:
    path = folder / Path(entry["name"]).name
    try:
        digest = hash_of_file(path)
    except (OSError, ValueError):
        raise _UnsoundError(f"{printable(path.name)} is missing", f"{printable(path.name)} がありません") from None
    if digest != entry["sha256"]:
        raise _UnsoundError(
            f"{path.name} was changed: its hash is another", f"{path.name} は変更されています（ハッシュ不一致）"
        )
    return "hash as stated", "ハッシュ一致"


def _check_cost(document: dict[str, Any]) -> tuple[str, str]:
    event = ReleaseEvent.from_json(json.dumps(document["event"]))
    if not event.is_private:
        raise _UnsoundError(
            "drawn from a seed, for research: NOT private",
            "研究用の乱数シードによるもので、プライバシー保護はありません",
        )
    if list(event.invariants) != list(document["deployment"]["dp_flavor"]["unprotected_quantities"]):
        raise _UnsoundError(
            "unprotected quantities are not those of the event", "保護されない量の記載がイベントと一致しません"
        )
    return f"{event.cost} covers all measurements", f"{event.cost} は全測定の費用を満たします"


def _check_counts(folder: Path, document: dict[str, Any]) -> tuple[str, str]:
    """Every file has the same table: whole numbers, none negative, cells of the domain, the sum as stated."""
    domain = domain_of_description(document["domain"], DOCUMENT)
    stated = document["published"]
    tables = [_read_table(path, domain, stated["count"]) for path in _table_files(folder, document)]
    for table in tables:
        if table.total != stated["total"] or table.keys.size != stated["non_empty_cells"]:
            raise _UnsoundError("sums are not those stated", "合計が記載と一致しません")
        if not (np.array_equal(table.keys, tables[0].keys) and np.array_equal(table.counts, tables[0].counts)):
            raise _UnsoundError("the files hold different tables", "ファイル間で表の内容が異なります")
    return (
        f"whole numbers, none negative, {stated['total']:,} in all",
        f"すべて非負の整数、合計 {stated['total']:,}",
    )


def _table_files(folder: Path, document: dict[str, Any]) -> list[Path]:
    named = [Path(entry["name"]) for entry in document["files"]]
    found = [folder / path.name for path in named if path.stem == "table" and path.suffix in FORMATS]
    if not found:
        raise _UnsoundError("no table is listed", "表のファイルが記載されていません")
    return found


def _read_table(path: Path, domain: Domain, count: str) -> CountTable:
    form = FORMATS[path.suffix]
    source = Source((str(path),), form, "counts", None if form == "geotiff" else count)
    return read_counts(source, domain)


def _check_ledger(folder: Path, document: dict[str, Any], ledger: Ledger) -> tuple[str, str]:
    """The chain is whole, the charge was reserved before, and settled with this very document."""
    charge = document["ledger"]
    document_hash = hash_of_file(folder / DOCUMENT)
    findings = ledger.verify()
    if findings:
        raise _UnsoundError(findings[0].english, findings[0].japanese)
    entries = {entry.number: (entry, entry.read()) for entry in ledger.entries()}
    reserved = entries[charge["entry"]][0] if charge["entry"] in entries else None
    if reserved is None or reserved.kind != "reserve" or reserved.hash != charge["hash"]:
        raise _UnsoundError(
            f"the ledger has no such reservation as entry {charge['entry']}",
            f"台帳の項目 {charge['entry']} に該当する予約がありません",
        )
    settled = [
        (entry.number, body.result.get("document_sha256"))
        for entry, body in entries.values()
        if isinstance(body, Settled) and body.reservation == reserved.number
    ]
    if not settled or settled[0][1] != document_hash:
        raise _UnsoundError(
            f"the ledger did not settle this {DOCUMENT} for entry {charge['entry']}",
            f"台帳は項目 {charge['entry']} でこの {DOCUMENT} を精算していません",
        )
    return (
        f"reserved as entry {reserved.number}, settled as entry {settled[0][0]}",
        f"項目 {reserved.number} で予約、項目 {settled[0][0]} で精算済み",
    )
