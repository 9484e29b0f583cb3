"""What a plan with a budget has to do with the ledger: what was made before, what was never shown, and who is left out.

The order is that of every release: reserve, read, draw, write out of sight, settle, show.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sudare.errors import InputError, LedgerError, PlanError
from sudare.ledger import Ledger, Reservation
from sudare.microdata.records import Records
from sudare.microdata_release.folders import REPORT, completed_beside
from sudare.microdata_release.plan_file import Charging, PeoplePlan
from sudare.privacy import ReleaseEvent
from sudare.release.document import Charge
from sudare.release.folders import SEAL, appear
from sudare.release.hashing import hash_of_file, seal_of

__all__ = [
    "charge_of_reservation",
    "find_repeated",
    "keyed_hash_of_records",
    "require_sound",
    "settle_and_show",
    "without_opted_out",
]

MOST_ENTRIES_CHECKED = 500


def require_sound(ledger: Ledger, plan: PeoplePlan, charging: Charging) -> None:
    """Refuse a ledger that was changed from outside, and one by which a person may have more rows than the plan says.

    Raises:
        LedgerError: if it was, or may.
    """
    findings = ledger.verify() if ledger.head()[0] <= MOST_ENTRIES_CHECKED else []
    if findings:
        raise LedgerError(
            f"The ledger was changed from outside or is damaged: {findings[0].english} `sudare ledger verify` tells more.",
            f"台帳が外部から変更されたか、壊れています: {findings[0].japanese} `sudare ledger verify` "
            f"で詳しく調べられます。",
        )
    known = ledger.dataset(charging.ledger.dataset).unit
    if plan.person is None and charging.unit.rows < known.rows:
        raise LedgerError(
            f"By the ledger, one {known.who} of '{charging.ledger.dataset}' may have up to {known.rows} rows; the "
            f"plan counts with "
            f"{charging.unit.rows}. State as many under [unit], or name the column of persons under [input].",
            f"台帳によれば「{charging.ledger.dataset}」の {known.who} は最大 {known.rows} 行を持ちえますが、計画では "
            f"{charging.unit.rows} 行です。[unit] を合わせるか、[input] に個人の列を指定してください。",
        )


def without_opted_out(plan: PeoplePlan, charging: Charging, records: Records, ledger: Ledger) -> Records:
    """The records of people who did not opt out, at most so many of each person as the unit says.

    Which rows of a person are kept depends on that person's rows alone.

    Raises:
        PlanError: if people opted out and nothing tells whose row is whose.
        InputError: if a row does not say whose it is; names it.
    """
    opted_out = ledger.opt_outs(charging.ledger.dataset)
    if plan.person is None:
        if opted_out.digests and not plan.opt_outs_removed:
            raise PlanError(
                f"{plan.file.name}: people have opted out of '{charging.ledger.dataset}', and no column of persons "
                f"is named. Name "
                "it as 'person' in [input]; or, where they were left out before, declare opt_outs_removed = true there.",
                f"{plan.file.name}: 「{charging.ledger.dataset}」から除外を申し出た人がいますが、"
                f"個人の列が指定されていません。"
                "[input] に person を指定するか、既に除外済みなら opt_outs_removed = true と宣言してください。",
            )
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
    """What proves later which records a result was made from, to whoever has the ledger's key.

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


def charge_of_reservation(charging: Charging, ledger: Ledger, reservation: Reservation) -> Charge:
    """What the ledger says of a reservation, for the report."""
    remaining = ledger.dataset(charging.ledger.dataset).remaining
    location = charging.ledger.location
    name = "PostgreSQL" if "://" in location else Path(location).name
    left = "nothing" if remaining is None else str(remaining)
    return Charge(name, charging.ledger.dataset, reservation.number, ledger.entry(reservation.number).hash, left)


def settle_and_show(
    plan: PeoplePlan, ledger: Ledger, reservation: Reservation, event: ReleaseEvent, folder: Path
) -> None:
    """Settle the charge with the hash of the report, then show the folder."""
    result = {
        "document_sha256": hash_of_file(folder / REPORT),
        "made_in": folder.name,
        "folder": str(plan.folder.resolve()),
    }
    ledger.settle(reservation, event, result)
    appear(folder, plan.folder)


def find_repeated(
    plan: PeoplePlan, charging: Charging, ledger: Ledger, fingerprint: str
) -> tuple[Path, Mapping[str, Any]] | None:
    """The same result, made before. The data is not looked at: whether something is published must not depend on it."""
    dataset = charging.ledger.dataset
    made = ledger.settlements(dataset, fingerprint)
    for _, body in reversed(made):
        for folder in (plan.folder, Path(body.result["folder"])):
            if _is_whole(folder, body.result["document_sha256"]):
                return folder, _read(folder)
    if not plan.folder.exists():
        for _, body in reversed(made):
            hidden = plan.folder.with_name(body.result["made_in"])
            if _is_whole(hidden, body.result["document_sha256"]):
                appear(hidden, plan.folder)
                return plan.folder, _read(plan.folder)
        if _settle_abandoned(plan, ledger, dataset, fingerprint):
            return plan.folder, _read(plan.folder)
    if made:
        entry, place = made[-1][0].number, made[-1][1].result["folder"]
        raise LedgerError(
            f"This very result was made before (ledger entry {entry}), but its folder '{place}' is gone or was "
            f"changed. Bring it "
            "back, or draw a new one with --again, which spends the budget once more.",
            f"この結果は既に作成済みです（台帳の項目 {entry}）が、フォルダ「{place}」が見つからないか変更されています。"
            "フォルダを戻すか、--again で作り直してください（予算をもう一度使います）。",
        )
    return None


def _settle_abandoned(plan: PeoplePlan, ledger: Ledger, dataset: str, fingerprint: str) -> bool:
    """Settle and show what was complete when its process ended; only what bears the ledger's seal is taken."""
    secret = ledger.secret(dataset)
    for reservation in ledger.reservations(dataset):
        for folder in completed_beside(plan.folder) if reservation.fingerprint == fingerprint else []:
            text = (folder / REPORT).read_bytes()
            seal = (folder / SEAL).read_text(encoding="ascii", errors="replace") if (folder / SEAL).is_file() else ""
            if not hmac.compare_digest(seal.encode(), seal_of(text, secret, reservation.number).encode()):
                continue
            event = ReleaseEvent.from_json(json.dumps(json.loads(text)["event"]))
            if event.cost == reservation.cost and _is_whole(folder, hashlib.sha256(text).hexdigest()):
                settle_and_show(plan, ledger, reservation, event, folder)
                return True
    return False


def _is_whole(folder: Path, document_hash: str) -> bool:
    """Whether a folder holds a report with this hash, and all files that it lists."""
    if folder.is_symlink() or not (folder / REPORT).is_file() or hash_of_file(folder / REPORT) != document_hash:
        return False
    files = [(folder / Path(entry["name"]).name, entry["sha256"]) for entry in _read(folder)["files"]]
    return all(path.is_file() and hash_of_file(path) == digest for path, digest in files)


def _read(folder: Path) -> Mapping[str, Any]:
    document: Mapping[str, Any] = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    return document
