"""Checking a folder of protected records: hashes, the page, the promised models from the file alone, the cost and the ledger."""

from __future__ import annotations

from pathlib import Path

from sudare.bilingual import Words
from sudare.microdata.grouping import group
from sudare.microdata.models.registry import model_of_record
from sudare.microdata.records import Records, read_people
from sudare.microdata.search.anonymizing import satisfies
from sudare.microdata.search.large_counts import open_large
from sudare.releases.documents import StatedDocument
from sudare.releases.kinds.records.attacking.folder_attacks import attack_folder
from sudare.releases.kinds.records.document import REPORT_FORMAT
from sudare.releases.kinds.records.page import render_people_page
from sudare.releases.verification import (
    Check,
    UnsoundError,
    check_files,
    check_ledger,
    check_note,
    check_page,
    event_of,
    outcome_of,
)
from sudare.storage.guarded_json import read_stated
from sudare.storage.staging import document_in

__all__ = ["read_report", "verify_people"]


def read_report(folder: str | Path) -> dict[str, object]:
    """What ``release.json`` of a folder of protected records says.

    Raises:
        InputError: if it is missing, damaged, or of a version that this sudare does not know.
    """
    return read_stated(
        document_in(Path(folder)), REPORT_FORMAT, Words("folder of protected records", "保護した個票のフォルダ")
    )


def verify_people(folder: str | Path, ledger: str | None = None) -> list[Check]:
    """Check a folder of protected records, and the ledger's entry or note of it where the ledger can be read.

    Args:
        folder: with ``release.json``.
        ledger: where the ledger is; left out, the ledger is not looked at.

    Returns:
        All checks; the folder is sound if none has failed.

    Raises:
        InputError: if the folder is none of protected records.
        LedgerError: if the ledger cannot be opened.
    """
    document = StatedDocument(document_in(Path(folder)), read_report(folder))
    has_price = "event" in document or "ledger" in document
    checks = check_files(document)
    checks.append(outcome_of("published", lambda: _check_published(document), document.name))
    if has_price:
        checks.append(outcome_of("cost", lambda: _check_cost(document), document.name))
        if "groups" in document or _k_of(document) is not None:
            checks.append(outcome_of("groups", lambda: _check_groups(document), document.name))
    else:
        checks += [
            _check_models(document),
            outcome_of("attacks", lambda: _check_attacks(document), document.name),
        ]
    checks.append(check_page(document, lambda language: render_people_page(document.values, language=language)))
    if has_price:
        checks.append(check_ledger(document, ledger))
    elif ledger is not None:
        checks.append(check_note(document, ledger))
    else:
        english, japanese = "nothing was charged: this is not differential privacy", "予算を使わない手法です"
        checks.append(Check("ledger", "skipped", english, japanese))
    return checks


def _file(document: StatedDocument) -> Path:
    path = document.listed_files()[0]
    if not path.is_file():  # such as a pipe, on which a reader would wait forever
        raise UnsoundError(f"{path.name} is missing", f"{path.name} がありません")
    return path


def _read(document: StatedDocument) -> Records:
    return read_people(_file(document))


def _check_published(document: StatedDocument) -> tuple[str, str]:
    """As many rows as stated, and the stated columns alone: no identifier."""
    stated = document["published"]
    roles = {column["name"]: column["role"] for column in document["columns"]}
    if document.get("larger_than_memory"):
        with open_large(_file(document)) as file:
            names, rows = file.columns, file.count([file.columns[0]]).people
    else:
        records = _read(document)
        names, rows = records.names, records.rows
    if list(names) != list(stated["columns"]) or rows != stated["rows"]:
        raise UnsoundError("rows or columns are not those stated", "行数または列が記載と一致しません")
    named = next((name for name in names if roles.get(name, "identifier") == "identifier"), None)
    if named is not None:
        raise UnsoundError(
            f"the column '{named:.60}' should have been left out", f"列「{named:.60}」は除かれているはずです"
        )
    return f"{rows:,} records, the stated columns and no others", f"{rows:,} 件、列は記載どおり"


def _check_models(document: StatedDocument) -> Check:
    """Every promise that can be counted from the file holds."""
    models = document.get("models")
    if models == []:
        return Check("models", "skipped", "no model of classes was promised", "組についての条件はありません")

    def check() -> tuple[str, str]:
        quasi = [column["name"] for column in document["columns"] if column["role"] == "quasi-identifier"]
        found = [(one["english"], one["japanese"], model_of_record(one["model"])) for one in document["models"]]
        asked = [model for _, _, model in found if model is not None]
        named = [model.sensitive for model in asked if model.sensitive is not None]
        counts = None
        if document.get("larger_than_memory"):
            with open_large(_file(document)) as file:
                counted = file.count([*quasi, *named])
            records, counts = counted.records, counted.counts
        else:
            records = _read(document)
        for english, japanese, model in found:
            if model is not None and not satisfies(records, quasi, [model], counts=counts):
                raise UnsoundError(f"does not hold: {english:.200}", f"満たされていません: {japanese:.200}")
            if model is not None and english != model.describe("en"):
                raise UnsoundError(
                    f"is told in other words than it is: {english:.200}", "条件の説明が内容と一致しません"
                )
        rest = len(found) - len(asked)
        more, more_ja = (
            f"; {rest} more cannot be checked from it",
            f"（ほかの {rest} 個はファイルだけでは確認できません）",
        )
        return (
            f"{len(asked)} hold, counted from the file alone{more if rest else ''}",
            f"{len(asked)} 個の条件が満たされています（ファイルだけから確認）{more_ja if rest else ''}",
        )

    return outcome_of("models", check, document.name)


def _check_attacks(document: StatedDocument) -> tuple[str, str]:
    """What the report says of attacks on the file is what they find, as far as they need nothing but the file."""
    from sudare.attacks.verdicts import AttackOutcome

    stated = {attack["attack"]: attack["outcome"] for attack in document["attacks"]}
    for report in attack_folder(document.folder, document.values):
        # Without the original records linkage cannot be judged, nor a model that compares with more than the file.
        is_open = report.attack == "models" and report.outcome is AttackOutcome.UNDECIDED
        found = {AttackOutcome.HELD.value, AttackOutcome.UNDECIDED.value} if is_open else {report.outcome.value}
        if report.attack != "linkage" and stated.get(report.attack) not in found:
            raise UnsoundError(
                f"'{report.attack}' does not find what is stated", f"攻撃「{report.attack}」の結果が記載と一致しません"
            )
    if AttackOutcome.BROKEN.value in stated.values():
        if document["even_if_broken"] is not True:
            raise UnsoundError("broken, and not said to be", "破られていますが、その旨の記載がありません")
        return (
            "as stated: BROKEN, and published all the same",
            "記載どおり: 攻撃に破られていますが、承知のうえで公開されました",
        )
    return "as stated: none succeeded", "記載どおり: 成功した攻撃はありません"


def _check_cost(document: StatedDocument) -> tuple[str, str]:
    event = event_of(document)
    return f"{event.cost} covers all measurements", f"{event.cost} は全測定の費用を満たします"


def _k_of(document: StatedDocument) -> int | None:
    """The smallest group that the noise's own record promises."""
    try:
        parts = document["event"]["measurements"]
        return next((int(part["k"]) for part in parts if "k" in part), None)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _check_groups(document: StatedDocument) -> tuple[str, str]:
    k = _k_of(document)
    if k is None or document["groups"] != {"k": k, "holds": True}:
        raise UnsoundError("the smallest group is not that of the event", "組の最小の大きさがイベントと一致しません")
    records = _read(document)
    if records.rows and int(group(list(records.columns)).sizes.min()) < k:
        raise UnsoundError(f"a group has fewer than k = {k} records", f"k = {k} 件に満たない組があります")
    return f"every group has at least k = {k} records", f"どの組も k = {k} 件以上です"
