"""Checking a release folder: hashes, sums, signs, the stated cost, and the ledger's entry."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, SignedTable
from sudare.errors import InputError, PlanError, SudareError
from sudare.io import Source, read_counts, read_signed
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.entries import Settled
from sudare.privacy import ReleaseEvent
from sudare.release.document import DOCUMENT_FORMAT
from sudare.release.documents import read_stated
from sudare.release.domains import domain_of_description
from sudare.release.folders import DOCUMENT, PAGE
from sudare.release.hashing import hash_of_file
from sudare.release.page import render_page

__all__ = [
    "Check",
    "UnsoundError",
    "check_files",
    "check_ledger",
    "check_page",
    "event_of",
    "outcome_of",
    "printable",
    "read_document",
    "read_published_table",
    "verify_release",
]

Outcome = Literal["passed", "failed", "skipped"]
MOST_LETTERS = 2_000
SPACES = "\u00a0\u3000"
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
    return read_stated(Path(folder) / DOCUMENT, DOCUMENT_FORMAT, Words("release folder", "公表フォルダ"))


def read_published_table(folder: str | Path, document: dict[str, Any] | None = None) -> CountTable | SignedTable:
    """The published table of a release folder, from the first of its files; signed if it was published so."""
    document = read_document(folder) if document is None else document
    try:
        domain = domain_of_description(document["domain"], DOCUMENT)
        return _read_table(_table_files(Path(folder), document)[0], domain, document["published"])
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
    place = Path(folder)
    document = read_document(place)
    checks = check_files(place, document)
    steps: list[tuple[str, Callable[[], tuple[str, str]]]] = [
        ("cost", lambda: _check_cost(document)),
        ("counts", lambda: _check_counts(place, document)),
    ]
    for name, step in steps:
        checks.append(outcome_of(name, step))
    checks.append(_check_page(place, document))
    checks.append(check_ledger(place, document, ledger))
    return checks


class UnsoundError(Exception):
    """A check failed; says what was found."""

    def __init__(self, english: str, japanese: str) -> None:
        self.english, self.japanese = english, japanese
        super().__init__(english)


def outcome_of(name: str, step: Callable[[], tuple[str, str]], document_name: str = DOCUMENT) -> Check:
    """What became of one check.

    Args:
        name: of the check.
        step: gives what was found, or raises.
        document_name: the file that is to blame if it does not say what it should.
    """
    from jinja2 import TemplateError

    outcome: Outcome = "failed"
    try:
        english, japanese = step()
        outcome = "passed"
    except UnsoundError as error:
        english, japanese = error.english, error.japanese
    except SudareError as error:
        english, japanese = str(error), getattr(error, "japanese", str(error))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, TemplateError):
        english, japanese = f"{document_name} does not say what it should", f"{document_name} の内容が不正です"
    return Check(name, outcome, printable(english, MOST_LETTERS), printable(japanese, MOST_LETTERS))


def check_files(folder: Path, document: dict[str, Any], document_name: str = DOCUMENT) -> list[Check]:
    """Every file that a document lists is there, with its hash."""
    files = document.get("files")
    if not isinstance(files, list) or not files:
        english, japanese = f"{document_name} lists no files", f"{document_name} にファイルの記載がありません"
        return [Check("files", "failed", english, japanese)]
    return [
        outcome_of(f"file {_name_of(entry)}", lambda entry=entry: _check_file(folder, entry), document_name)  # type: ignore[misc]
        for entry in files
    ]


def check_page(
    folder: Path,
    document: dict[str, Any],
    render: Callable[[str], str],
    document_name: str = DOCUMENT,
    page_name: str = PAGE,
    may_be_there: Callable[[str], bool] = lambda name: False,
) -> Check:
    """The page must be what the document gives, in either language; and no other files may be there.

    Args:
        folder: the release.
        document: what it says.
        render: gives the page in a language.
        document_name: of the document's file.
        page_name: of the page's file.
        may_be_there: whether a file that the document does not list belongs there all the same.
    """
    versions = document.get("versions")
    if not isinstance(versions, dict) or versions.get("sudare") != version("sudare"):
        return Check(
            "page", "skipped", "made by another version of sudare", "別の版の sudare で作成されたため確認していません"
        )

    def check() -> tuple[str, str]:
        listed = {document_name, page_name, *(Path(entry["name"]).name for entry in document["files"])}
        others = sorted(one.name for one in folder.iterdir() if one.name not in listed and not may_be_there(one.name))
        if others:
            name = printable(others[0])
            raise UnsoundError(
                f"{name} is in the folder, and not part of the release", f"{name} は公表に含まれないファイルです"
            )
        page = folder / page_name
        shown = page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""
        if shown not in [render(language) for language in ("en", "ja")]:
            raise UnsoundError(f"{page_name} is missing or was changed", f"{page_name} がないか、変更されています")
        return "shows this document and this table", "この文書と表の内容どおりです"

    return outcome_of("page", check, document_name)


def check_ledger(folder: Path, document: dict[str, Any], ledger: str | None, document_name: str = DOCUMENT) -> Check:
    """The ledger's entry, where the ledger can be read.

    Args:
        folder: the release.
        document: what it says.
        ledger: where the ledger is; left out, it is not looked at.
        document_name: of the document's file, whose hash the ledger has.

    Raises:
        LedgerError: if the ledger cannot be opened.
    """
    if ledger is None:
        return Check("ledger", "skipped", "not looked at: no ledger was named", "台帳の指定がないため確認していません")
    with open_ledger(ledger) as opened:
        return outcome_of("ledger", lambda: _check_entries(folder, document, opened, document_name), document_name)


def _check_page(folder: Path, document: dict[str, Any]) -> Check:
    return check_page(
        folder,
        document,
        lambda language: render_page(document, read_published_table(folder, document), language=language),
    )


def printable(text: str, most: int = 200) -> str:
    r"""A text from a file that may be hostile, for a terminal: without letters that command it.

    Args:
        text: as it is.
        most: letters that are shown.

    Example:
        >>> printable("Town\x1b[2J")
        'Town?[2J'
    """
    # Spaces count as unprintable, and the wide one is usual in Japanese.
    return "".join(letter if letter.isprintable() or letter in SPACES else "?" for letter in text[:most])


def _name_of(entry: Any) -> str:
    return printable(str(entry.get("name", "?"))) if isinstance(entry, dict) else "?"


def _check_file(folder: Path, entry: dict[str, Any]) -> tuple[str, str]:
    path = folder / Path(entry["name"]).name
    try:
        if not path.is_file():
            raise OSError("no regular file")
        digest = hash_of_file(path)
    except (OSError, ValueError):
        raise UnsoundError(f"{printable(path.name)} is missing", f"{printable(path.name)} がありません") from None
    if digest != entry["sha256"]:
        raise UnsoundError(
            f"{path.name} was changed: its hash is another", f"{path.name} は変更されています（ハッシュ不一致）"
        )
    return "hash as stated", "ハッシュ一致"


def event_of(document: dict[str, Any]) -> ReleaseEvent:
    """The event of a document, which cannot be made if its noise costs more than it states.

    Raises:
        UnsoundError: if it was drawn from a seed.
        SudareError: if it states too little.
    """
    event = ReleaseEvent.from_json(json.dumps(document["event"]))
    if not event.is_private:
        raise UnsoundError(
            "drawn from a seed, for research: NOT private",
            "研究用の乱数シードによるもので、プライバシー保護はありません",
        )
    return event


def _check_cost(document: dict[str, Any]) -> tuple[str, str]:
    event = event_of(document)
    if list(event.invariants) != list(document["deployment"]["dp_flavor"]["unprotected_quantities"]):
        raise UnsoundError(
            "unprotected quantities are not those of the event", "保護されない量の記載がイベントと一致しません"
        )
    return f"{event.cost} covers all measurements", f"{event.cost} は全測定の費用を満たします"


def _check_counts(folder: Path, document: dict[str, Any]) -> tuple[str, str]:
    """Every file has the same table: whole numbers, none negative unless it is signed, cells of the domain, the sum as stated."""
    domain = domain_of_description(document["domain"], DOCUMENT)
    stated = document["published"]
    tables = [_read_table(path, domain, stated) for path in _table_files(folder, document)]
    for table in tables:
        if table.total != stated["total"] or table.keys.size != stated["non_empty_cells"]:
            raise UnsoundError("sums are not those stated", "合計が記載と一致しません")
        if not (np.array_equal(table.keys, tables[0].keys) and np.array_equal(table.counts, tables[0].counts)):
            raise UnsoundError("the files hold different tables", "ファイル間で表の内容が異なります")
    total = f"{stated['total']:,}"
    if isinstance(tables[0], SignedTable):
        return f"whole numbers, signed as published, {total} in all", f"すべて整数（符号付きの公表）、合計 {total}"
    return f"whole numbers, none negative, {total} in all", f"すべて非負の整数、合計 {total}"


def _table_files(folder: Path, document: dict[str, Any]) -> list[Path]:
    named = [Path(entry["name"]) for entry in document["files"]]
    found = [folder / path.name for path in named if path.stem == "table" and path.suffix in FORMATS]
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


def _check_entries(folder: Path, document: dict[str, Any], ledger: Ledger, document_name: str) -> tuple[str, str]:
    """The chain is whole, the charge was reserved before, and settled with this very document."""
    charge = document["ledger"]
    document_hash = hash_of_file(folder / document_name)
    findings = ledger.verify()
    if findings:
        raise UnsoundError(findings[0].english, findings[0].japanese)
    entries = {entry.number: (entry, entry.read()) for entry in ledger.entries()}
    reserved = entries[charge["entry"]][0] if charge["entry"] in entries else None
    if reserved is None or reserved.kind != "reserve" or reserved.hash != charge["hash"]:
        raise UnsoundError(
            f"the ledger has no such reservation as entry {charge['entry']}",
            f"台帳の項目 {charge['entry']} に該当する予約がありません",
        )
    settled = [
        (entry.number, body.result.get("document_sha256"))
        for entry, body in entries.values()
        if isinstance(body, Settled) and body.reservation == reserved.number
    ]
    if not settled or settled[0][1] != document_hash:
        raise UnsoundError(
            f"the ledger did not settle this {document_name} for entry {charge['entry']}",
            f"台帳は項目 {charge['entry']} でこの {document_name} を精算していません",
        )
    return (
        f"reserved as entry {reserved.number}, settled as entry {settled[0][0]}",
        f"項目 {reserved.number} で予約、項目 {settled[0][0]} で精算済み",
    )
