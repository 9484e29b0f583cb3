"""Who is counted by a plan with a price: rows that the account allows, people who did not opt out, and a keyed hash of them."""

from __future__ import annotations

import hmac
import json

import numpy as np

from sudare.errors import InputError, LedgerError, PlanError
from sudare.ledger import Dataset, Ledger
from sudare.microdata.records import Records
from sudare.releases.kinds.records.planning.plan_file import Charging, PeoplePlan

__all__ = ["keyed_hash_of_records", "require_opt_outs_known", "require_rows_allowed", "without_opted_out"]


def require_rows_allowed(plan: PeoplePlan, charging: Charging, dataset: Dataset) -> None:
    """Refuse an account by which a person may have more rows than the plan says, unless rows are bounded person by person.

    Raises:
        LedgerError: if a person may.
    """
    known = dataset.unit
    if plan.person is None and charging.unit.rows < known.rows:
        raise LedgerError(
            f"By the ledger, one {known.who} of '{charging.ledger.dataset}' may have up to {known.rows} rows; the "
            f"plan counts with "
            f"{charging.unit.rows}. State as many under [unit], or name the column of persons under [source].",
            f"台帳によれば「{charging.ledger.dataset}」の {known.who} は最大 {known.rows} 行を持ちえますが、計画では "
            f"{charging.unit.rows} 行です。[unit] を合わせるか、[source] に個人の列を指定してください。",
        )


def require_opt_outs_known(plan: PeoplePlan, charging: Charging, *, has_opted_out: bool) -> None:
    """Refuse a plan that does not tell whose row is whose although people opted out.

    Raises:
        PlanError: says what to add.
    """
    if plan.person is None and has_opted_out and not plan.opt_outs_removed:
        raise PlanError(
            f"{plan.file.name}: people have opted out of '{charging.ledger.dataset}', and no column of persons "
            f"is named. Name "
            "it as 'person' in [source]; or, where they were left out before, declare opt_outs_removed = true there.",
            f"{plan.file.name}: 「{charging.ledger.dataset}」から除外を申し出た人がいますが、"
            f"個人の列が指定されていません。"
            "[source] に person を指定するか、既に除外済みなら opt_outs_removed = true と宣言してください。",
        )


def without_opted_out(plan: PeoplePlan, charging: Charging, records: Records, ledger: Ledger) -> Records:
    """The records of people who did not opt out, at most this many of each person as the unit says.

    Which rows of a person are kept depends on that person's rows alone.

    Raises:
        PlanError: if people opted out and nothing tells whose row is whose.
        InputError: if a row does not say whose it is; names it.
    """
    opted_out = ledger.opt_outs(charging.ledger.dataset)
    require_opt_outs_known(plan, charging, has_opted_out=bool(opted_out.digests))
    if plan.person is None:
        return records
    people = records.column(plan.person)
    if None in people.labels:
        row = people.first_row(people.labels.index(None))
        raise InputError(
            f"The column {plan.person!r} is empty in row {row} of the data: nothing tells whose row it is.",
            f"列 {plan.person!r} のデータ {row} 行目が空欄で、誰の行か分かりません。",
        )
    stays = np.array([label not in opted_out for label in people.labels if label is not None], dtype=bool)
    order = np.argsort(people.codes, kind="stable")
    counts = np.bincount(people.codes, minlength=len(people.labels))
    rank = np.empty(people.rows, dtype=np.int64)
    rank[order] = np.arange(people.rows) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = (rank < charging.unit.rows) & (stays[people.codes] if people.rows else True)
    return records.take(np.flatnonzero(kept))


def keyed_hash_of_records(records: Records, key: bytes, reservation: str) -> str:
    """A hash that later proves which records a result was made from, to anyone with the ledger's key.

    A plain hash would let anybody who knows all other people test who is in the data.

    Example:
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"age": [31, 45]})
        >>> keyed_hash_of_records(people, b"secret", "1") == keyed_hash_of_records(people, b"secret", "2")
        False
    """
    mac = hmac.new(key, b"records", "sha256")
    parts = [reservation.encode()]
    for column in records.columns:
        parts += [column.name.encode(), json.dumps(column.labels).encode(), column.codes.astype("<i4").tobytes()]
    for part in parts:
        mac.update(len(part).to_bytes(8, "little"))
        mac.update(part)
    return mac.hexdigest()
