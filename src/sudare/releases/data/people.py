"""What every kind that counts people does about them: who is left out, how many rows may count, and which."""

from __future__ import annotations

from sudare.bilingual import Words
from sudare.ledger import Dataset
from sudare.privacy import Unit
from sudare.releases.header import PlanHeader
from sudare.storage.hashes import keyed_digest

__all__ = ["opt_outs_unknown", "rows_not_bounded", "selection_key"]

OPT_OUTS_UNKNOWN = Words(
    "{file}: people have opted out of '{dataset}', and the source names no column of persons. "
    "Name it as 'person' in [source]; or, where they were left out before, declare opt_outs_removed = true there.",
    "{file}: 「{dataset}」から除外を申し出た人がいますが、個人の列が指定されていません。"
    "[source] に person を指定するか、既に除外済みなら opt_outs_removed = true と宣言してください。",
)
NOT_BOUNDED = Words(
    "By the ledger, one {who} of '{dataset}' may have {known}; the plan counts with {stated}. State as many under [unit], or "
    "name the column of persons.",
    "台帳によれば「{dataset}」の {who} は{known}を持ちえますが、計画では{stated}です。"
    "[unit] を合わせるか、個人の列を指定してください。",
)
LIMITS = Words(
    "up to {rows} rows, in {cells} cells, {each} of them in one cell",
    "最大 {rows} 行（{cells} セル、1セルあたり {each} 行）",
)


def opt_outs_unknown(header: PlanHeader) -> Words:
    """What to say where people have opted out, and nothing tells which rows are theirs."""
    dataset = "" if header.ledger is None else header.ledger.dataset
    return OPT_OUTS_UNKNOWN.format(file=header.file.name, dataset=dataset)


def rows_not_bounded(stated: Unit, dataset: Dataset) -> Words | None:
    """What to say where one person may have more in the data than a plan counts with; None where it is enough.

    Args:
        stated: the unit of the plan.
        dataset: by the ledger.
    """
    known = dataset.unit
    if stated.rows >= known.rows and stated.cells >= known.cells and stated.rows_per_cell >= known.rows_per_cell:
        return None
    return NOT_BOUNDED.format(who=known.who, dataset=dataset.name, known=_limits(known), stated=_limits(stated))


def _limits(unit: Unit) -> Words:
    return LIMITS.format(rows=unit.rows, cells=unit.cells, each=unit.rows_per_cell)


def selection_key(key: bytes, reservation: str) -> str:
    """By what it is decided which rows of a person count, where there are too many: another order for every release.

    Whoever knew it beforehand could write rows that come first. It tells nothing of the key that it is made from, so that it may
    be handed to an engine that counts.

    Args:
        key: secret bytes.
        reservation: hash of the ledger's entry that reserved the release's cost.

    Example:
        >>> from sudare.releases.data.people import selection_key
        >>> selection_key(b"a secret", "first") == selection_key(b"a secret", "second")
        False
    """
    return keyed_digest(key, "rows of people", (reservation.encode(),))
