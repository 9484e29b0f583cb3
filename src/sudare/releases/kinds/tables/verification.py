"""Checking a folder of protected tables: hashes, the published tables, the pages, and the proof, without a solver."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from sudare.errors import InputError
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.tables.attacking.knowledge import REPORT_FORMAT, read_report
from sudare.releases.kinds.tables.confidential import CONFIDENTIAL, CONFIDENTIAL_PAGE
from sudare.releases.kinds.tables.methods.registry import method_of_document, registered_methods
from sudare.releases.kinds.tables.page import render_table_page
from sudare.releases.verification import Check, UnsoundError, check_files, check_note, check_page, outcome_of
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in
from sudare.system.regular_files import read_regular_file

__all__ = ["verify_protected"]

ARGUS = "confidential-tau-argus"


def verify_protected(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check a folder that ``sudare protect`` wrote. The proof is checked where the confidential files are there.

    Args:
        folder: with the tables.
        ledger: where the ledger is that should note it; left out, the ledger is not looked at.

    Returns:
        All checks; the folder is sound if none has failed.

    Raises:
        InputError: if it is no such folder at all.
        LedgerError: if the ledger cannot be opened.
    """
    place = Path(folder)
    file = document_in(place)
    try:
        document = StatedDocument(file, read_report(place))
    except InputError:
        if not _claims_to_be_one(file):
            raise
        return [
            Check(
                "report",
                "failed",
                f"{file.name} has numbers that are none, or is nested too deeply",
                f"{file.name} に不正な数値があるか、入れ子が深すぎます",
            )
        ]
    stated = document.values
    checks = check_files(document)
    checks.append(outcome_of("tables", lambda: method_of_document(stated).check_published(place, stated), file.name))
    checks.append(_check_page(document))
    checks.append(_check_holder(document))
    method = None
    with suppress(InputError):  # a method that is not known has failed already, with the tables
        method = method_of_document(stated)
    if method is not None:
        checks += method.further_checks(place, stated)
    if document.get("even_if_broken"):
        checks.append(
            Check(
                "attacks",
                "skipped",
                "an attack broke this table; it was published all the same",
                "この表は攻撃によって破られましたが、そのまま公表されています",
            )
        )
    if ledger is not None:
        checks.append(check_note(document, ledger))
    return checks


def _claims_to_be_one(path: Path) -> bool:
    """Whether a report that cannot be read is whole, and names the format of protected tables all the same."""
    try:
        text = read_regular_file(path)
    except OSError:
        return False
    return f'"{REPORT_FORMAT}"'.encode() in text and text.rstrip().endswith(b"}")


def _check_page(document: StatedDocument) -> Check:
    from jinja2 import TemplateError

    def render(language: str) -> str:
        try:
            return render_table_page(document.folder, document.values, language=language)
        except TemplateError:  # a report that lacks what the page shows
            raise ValueError from None

    return check_page(document, render, _is_confidential)


def _is_confidential(name: str) -> bool:
    kept = [
        CONFIDENTIAL,
        CONFIDENTIAL_PAGE,
        *(one for method in registered_methods() for one in method.confidential_names),
    ]
    return name in kept or (name.startswith(ARGUS) and name.endswith(".csv"))


def _check_holder(own: StatedDocument) -> Check:
    path = own.folder / CONFIDENTIAL
    if not path.is_file():
        return Check(
            "confidential",
            "skipped",
            "not here, as it should be in what is published",
            "保有者用のファイルはありません（公表用のフォルダでは正常です）",
        )

    def check() -> tuple[str, str]:
        document = read_json(path)
        if not isinstance(document, dict) or document.get("report_sha256") != hash_of_file(own.path):
            raise UnsoundError(
                f"{CONFIDENTIAL} belongs to another {own.name}", f"{CONFIDENTIAL} は別の {own.name} のものです"
            )
        readable = [
            one.name
            for one in own.folder.iterdir()
            if one.name.startswith("confidential") and one.stat().st_mode & 0o077
        ]
        if readable:
            raise UnsoundError(f"others can read {sorted(readable)[0]}", f"{sorted(readable)[0]} を他の人が読めます")
        return f"belongs to this {own.name}; do not publish it", f"この {own.name} のものです（公表しないでください）"

    return outcome_of("confidential", check, own.name)
