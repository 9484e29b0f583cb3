"""Checking a folder of protected tables: hashes, the published tables, the pages, and the proof, without a solver."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sudare.disclosure.suppression.certificate import Certificate
from sudare.errors import InputError
from sudare.releases.kinds.tables.attacking.knowledge import REPORT_FORMAT, read_report
from sudare.releases.kinds.tables.confidential import (
    CERTIFICATE,
    CONFIDENTIAL,
    CONFIDENTIAL_PAGE,
    read_confidential,
)
from sudare.releases.kinds.tables.page import render_table_page
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.published_meshes import read_published_meshes
from sudare.releases.kinds.tables.published_table import read_published_tables
from sudare.releases.verification import Check, UnsoundError, check_files, check_page, outcome_of
from sudare.storage.guarded_json import read_json
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import document_in, page_beside
from sudare.system.regular_files import read_regular_file

__all__ = ["verify_protected"]

ARGUS = "confidential-tau-argus"


def verify_protected(folder: str | Path) -> list[Check]:
    """Check a folder that ``sudare protect`` wrote. The proof is checked where the confidential files are there.

    Args:
        folder: with the tables.

    Returns:
        All checks; the folder is sound if none has failed.

    Raises:
        InputError: if it is no such folder at all.
    """
    place = Path(folder)
    file = document_in(place)
    try:
        document = read_report(place)
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
    checks = check_files(place, document, file.name)
    checks.append(outcome_of("tables", lambda: _check_tables(place, document), file.name))
    checks.append(_check_page(place, document))
    checks.append(_check_holder(place, document))
    if document.get("method") == "suppress":
        checks.append(_check_certificate(place, document))
    if document.get("even_if_broken"):
        checks.append(
            Check(
                "attacks",
                "skipped",
                "an attack broke this table; it was published all the same",
                "この表は攻撃によって破られましたが、そのまま公表されています",
            )
        )
    return checks


def _claims_to_be_one(path: Path) -> bool:
    """Whether a report that cannot be read is whole, and names the format of protected tables all the same."""
    try:
        text = read_regular_file(path)
    except OSError:
        return False
    return f'"{REPORT_FORMAT}"'.encode() in text and text.rstrip().endswith(b"}")


def _check_tables(folder: Path, document: Mapping[str, Any]) -> tuple[str, str]:
    """Every cell is there once, and every sum whose cells are all shown holds; cell keys do not add up."""
    method = document["method"]
    if method == "merge-meshes":
        meshes = read_published_meshes(folder, document)
        least = whole_number(document["settings"]["minimum"])
        if any(0 < people < least for _, people in meshes.groups().values()):
            raise UnsoundError("attributes of too few people are shown", "人数の少ない属性が公表されています")
        return "all attributes stand for enough people", "すべての属性が下限以上の人数についてのものです"
    published = read_published_tables(folder, document)
    hidden = [int(published.hidden[table.cells].sum()) for table in published.system.tables]
    if hidden != [table["hidden"] for table in document["tables"]]:
        raise UnsoundError("other cells are hidden than stated", "秘匿セルの数が記載と異なります")
    if method == "cell-key":
        return "every cell is there", "すべてのセルがあります"
    shown = np.flatnonzero(abs(published.system.equations) @ published.hidden.astype(np.int64) == 0)
    gaps = published.system.equations[shown] @ published.values
    if gaps.any():
        raise UnsoundError("published cells do not add up", "公表されたセルの合計が合いません")
    return "every cell is there, and what is shown adds up", "すべてのセルがあり、公表された合計が一致します"


def _check_page(folder: Path, document: dict[str, Any]) -> Check:
    from jinja2 import TemplateError

    def render(language: str) -> str:
        try:
            return render_table_page(folder, document, language=language)
        except TemplateError:  # a report that lacks what the page shows
            raise ValueError from None

    file = document_in(folder)
    return check_page(folder, document, render, file.name, page_beside(file).name, _is_confidential)


def _is_confidential(name: str) -> bool:
    return name in (CONFIDENTIAL, CONFIDENTIAL_PAGE, CERTIFICATE) or (name.startswith(ARGUS) and name.endswith(".csv"))


def _check_holder(folder: Path, document: Mapping[str, Any]) -> Check:
    path, own = folder / CONFIDENTIAL, document_in(folder)
    if not path.is_file():
        return Check(
            "confidential",
            "skipped",
            "not here, as it should be in what is published",
            "保有者用のファイルはありません（公表用のフォルダでは正常です）",
        )

    def check() -> tuple[str, str]:
        document = read_json(path)
        if not isinstance(document, dict) or document.get("report_sha256") != hash_of_file(own):
            raise UnsoundError(
                f"{CONFIDENTIAL} belongs to another {own.name}", f"{CONFIDENTIAL} は別の {own.name} のものです"
            )
        readable = [
            one.name for one in folder.iterdir() if one.name.startswith("confidential") and one.stat().st_mode & 0o077
        ]
        if readable:
            raise UnsoundError(f"others can read {sorted(readable)[0]}", f"{sorted(readable)[0]} を他の人が読めます")
        return f"belongs to this {own.name}; do not publish it", f"この {own.name} のものです（公表しないでください）"

    return outcome_of("confidential", check, own.name)


def _check_certificate(folder: Path, document: Mapping[str, Any]) -> Check:
    path = folder / CERTIFICATE
    for needed in (CONFIDENTIAL, CERTIFICATE):
        if not (folder / needed).is_file():
            return Check(
                "certificate",
                "skipped",
                f"can be checked only with {needed}, which is not here",
                f"証明書の確認に必要な {needed} がありません",
            )

    def check() -> tuple[str, str]:
        published = read_published_tables(folder, document)
        holder = read_confidential(folder, published)
        if holder is None:
            raise UnsoundError(f"{CONFIDENTIAL} is missing", f"{CONFIDENTIAL} がありません")
        certificate = Certificate.of_text(path.read_text(encoding="utf-8"))
        if not np.array_equal(certificate.mask(published.system.size), published.hidden):
            raise UnsoundError("it is about other hidden cells", "別の秘匿パターンの証明書です")
        certificate.check(holder.problem)
        number = len(holder.problem.requirements)
        return (
            f"proves all {number:,} requirements, in whole numbers",
            f"{number:,} 個の条件すべてを整数計算で証明しています",
        )

    return outcome_of("certificate", check, document_in(folder).name)
