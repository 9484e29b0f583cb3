"""Going through a ledger from its first entry, and comparing everything else in it with what the entries say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sudare.bilingual import Words
from sudare.errors import LedgerError
from sudare.ledger.amounts import NOTHING, Amount
from sudare.ledger.entries import (
    COLUMNS,
    KEY_OF_RULE,
    KINDS,
    Cancelled,
    DatasetAdded,
    Entry,
    OptedOut,
    PublicationNoted,
    Reserved,
    RuleChanged,
    Settled,
    TickBegun,
    TickBody,
    TickSettled,
    TicksMissed,
    hash_of,
    key_of_window,
    keys_of_publication,
)
from sudare.ledger.records import Finding, commitment_of
from sudare.ledger.rules import CompositionRule, Cost, RhoFilter, Sums, amount_of_noise, total_charge
from sudare.ledger.stores import SCHEMA_VERSION, LedgerStore, Row

__all__ = ["find_faults"]

PAGE = 1000
_FIELD_TYPES = (int, str, str, str, str, str, str)

OUT_OF_ORDER = Words("Its ticks are not the next ones of their window.", "時点の順序が正しくありません。")
BEYOND = Words("Its ticks lie beyond the end of their window.", "期間の終わりを超える時点です。")
NOT_BEGUN = Words(
    "It settles a tick that was not begun, or not by the entry it names.", "開始されていない時点を確定しています。"
)
OTHER_COUNTS = Words(
    "Its counts of settled and missing ticks are not what the entries add up to.",
    "確定・欠測の時点の数が、項目の合計と一致しません。",
)
AFTER_CLOSING = Words("It is about a window that was closed before.", "既に閉じられた期間についての項目です。")
NO_WINDOW = Words(
    "It is about window {window}, which was never opened for its data set.",
    "開かれていない期間 {window} についての項目です。",
)
USED_BEFORE = Words(
    "It begins a tick under a fingerprint that something else has.",
    "別の結果のフィンガープリントで時点を開始しています。",
)
INCOMPLETE = Words(
    "It closes window {window}, some of whose ticks are neither settled nor missing, or gives it back after its first tick.",
    "確定も欠測もしていない時点が残る期間 {window} を閉じているか、最初の時点の後に取り消しています。",
)


def find_faults(store: LedgerStore, known: tuple[int, str] | None = None) -> list[Finding]:
    """Everything that is wrong with a ledger, within a transaction.

    Args:
        store: where the ledger is.
        known: number and hash of an entry, from a copy kept elsewhere.
    """
    replay = _Replay()
    for words in store.damages():
        replay.tell(None, f"The database reports damage: {words}.", f"データベースの破損が報告されました：{words}。")
    try:
        _replay_all(store, replay, known)
    except LedgerError as error:
        if not replay.findings:
            raise
        replay.tell(None, error.english, error.japanese)
    return replay.findings


def _replay_all(store: LedgerStore, replay: _Replay, known: tuple[int, str] | None) -> None:
    heads = store.fetch("SELECT version, identity FROM sudare_ledger")
    replay.last_hash = heads[0][1] if heads else None
    if [version for version, _ in heads] != [SCHEMA_VERSION]:
        replay.tell(
            None,
            "The ledger's version and identity are not as they were made.",
            "台帳の版と識別子が作成時と異なります。",
        )
    if known == (0, replay.last_hash):
        known = None
    after: int | None = None
    while True:
        condition, values = ("", (PAGE,)) if after is None else ("WHERE number > ?", (after, PAGE))
        page = store.fetch(
            f"SELECT {COLUMNS} FROM sudare_entries {condition} ORDER BY number LIMIT ?",  # noqa: S608
            values,
        )
        for row in page:
            replay.take(row)
            if known is not None and row[0] == known[0]:
                if row[6] != known[1]:
                    replay.tell(row[0], "Its hash is not the one that was kept.", "ハッシュが控えと一致しません。")
                known = None
        if len(page) < PAGE:
            break
        after = page[-1][0]
    if known is not None:
        replay.tell(
            None,
            f"Entry {known[0]}, whose hash was kept, is not in the ledger: entries are missing at its end.",
            f"控えにある {known[0]} 番の項目が台帳にありません。末尾の項目が失われています。",
        )
    replay.compare(store)


@dataclass
class _Account:
    added: DatasetAdded
    entry: int
    rule: CompositionRule
    spent: Amount = NOTHING
    reserved: Amount = NOTHING
    releases: list[Cost] = field(default_factory=list)


@dataclass
class _Held:
    dataset: str
    body: Reserved
    charge: Amount
    closed_by: int | None = None
    ticks: _Ticks = field(default_factory=lambda: _Ticks())


@dataclass
class _Ticks:
    """How far a window is."""

    last: int = -1
    settled: int = 0
    gap: int = 0
    open: tuple[int, TickBegun] | None = None
    """The entry that began the tick that is neither settled nor missing, and what it says."""

    def fault(self, number: int, body: TickBody, window: Reserved) -> Words | None:
        """What is wrong with the next entry of the window; goes one entry further either way."""
        if isinstance(body, TickBegun):
            found = OUT_OF_ORDER if self.open is not None or body.tick != self.last + 1 else None
            self.open, self.last = (number, body), body.tick
            found = found or (BEYOND if body.tick >= (window.ticks or 0) else None)
        elif isinstance(body, TickSettled):
            begun = None if self.open is None else (self.open[0], self.open[1].tick)
            found = None if begun == (body.begun, body.tick) else NOT_BEGUN
            self.open, self.last, self.settled = None, max(self.last, body.tick), self.settled + 1
        else:
            first = self.last + 1 if self.open is None else self.open[1].tick
            found = None if body.first == first <= body.last else OUT_OF_ORDER
            self.open, self.last = None, max(self.last, body.last)
            found = found or (BEYOND if body.last >= (window.ticks or 0) else None)
        if found is None and (body.settled, body.gap) != (self.settled, self.gap):
            found = OTHER_COUNTS
        if isinstance(body, TicksMissed):
            self.gap = number
        self.settled = body.settled
        return found


class _Replay:
    """The state that the entries lead to."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.last_number = 0
        self.last_hash: object = None
        self._accounts: dict[str, _Account] = {}
        self._held: dict[int, _Held] = {}
        self._results: dict[tuple[str, str], int] = {}
        self._noted: set[tuple[str, str, str]] = set()
        self._opt_outs: dict[tuple[str, str], int] = {}

    def tell(self, entry: int | None, english: str, japanese: str) -> None:
        self.findings.append(Finding(entry, Words(english, japanese)))

    def take(self, row: Row) -> None:
        """Go one entry further."""
        if tuple(map(type, row)) != _FIELD_TYPES:
            self.tell(_whole(row[0]), "A field is not of its type.", "型の異なる項目があります。")
            self.last_number, self.last_hash = _whole(row[0]) or self.last_number + 1, row[6]
            return
        entry = Entry(*row)
        if entry.number != self.last_number + 1:
            self.tell(
                entry.number,
                f"Entries are missing before it: it follows entry {self.last_number}.",
                f"直前の項目が欠けています（{self.last_number} 番の次に置かれています）。",
            )
        if entry.previous != self.last_hash:
            self.tell(
                entry.number,
                "The hash it carries of the entry before is not that entry's hash.",
                "記録されている直前のハッシュが、直前の項目のハッシュと一致しません。",
            )
        if entry.hash != hash_of(entry.number, entry.time, entry.kind, entry.dataset, entry.body, entry.previous):
            self.tell(
                entry.number,
                "Its hash does not fit its contents: it was changed after it was written.",
                "ハッシュが内容と一致しません。書き込み後に変更されています。",
            )
        self.last_number, self.last_hash = entry.number, entry.hash
        self._read(entry)

    def _read(self, entry: Entry) -> None:
        if entry.kind not in KINDS:
            self.tell(entry.number, f"Its kind {entry.kind!r:.80} is unknown.", f"種類 {entry.kind!r:.80} は不明です。")
            return
        try:
            body = entry.read()
        except LedgerError:
            self.tell(entry.number, "Its body cannot be read.", "本文が読めません。")
            return
        if isinstance(body, DatasetAdded):
            if entry.dataset in self._accounts:
                self.tell(entry.number, "It adds a data set again.", "既にあるデータセットを追加しています。")
            else:
                self._accounts[entry.dataset] = _Account(body, entry.number, body.rule or Sums(body.total))
            return
        account = self._accounts.get(entry.dataset)
        if account is None:
            self.tell(
                entry.number,
                f"It is about a data set {entry.dataset!r} that was not added before.",
                f"追加されていないデータセット {entry.dataset!r} についての項目です。",
            )
        elif isinstance(body, OptedOut):
            if (entry.dataset, body.digest) in self._opt_outs:
                self.tell(entry.number, "It repeats an opt-out.", "同じオプトアウトの繰り返しです。")
            self._opt_outs.setdefault((entry.dataset, body.digest), entry.number)
        elif isinstance(body, PublicationNoted):
            self._note(entry, body)
        elif isinstance(body, RuleChanged):
            self._change_rule(entry, body.rule, account)
        elif isinstance(body, TickBegun | TickSettled | TicksMissed):
            self._take_tick(entry, body)
        else:
            try:
                self._charge(entry, body, account)
            except LedgerError as error:
                self.tell(entry.number, error.english, error.japanese)

    def _change_rule(self, entry: Entry, rule: RhoFilter, account: _Account) -> None:
        """Count everything again, from the first release on."""
        if rule.total != account.added.total or isinstance(account.rule, RhoFilter):
            self.tell(entry.number, "Its rule is not one for its data set.", "データセットに合わない規則です。")
            return
        open_now = [held for held in self._held.values() if held.dataset == entry.dataset and held.closed_by is None]
        account.rule = rule
        account.spent = total_charge(rule, entry.dataset, account.releases)
        account.reserved = total_charge(rule, entry.dataset, [(held.body.cost, held.body.noise) for held in open_now])
        for held in open_now:
            held.charge = rule.charge(held.body.cost, entry.dataset, held.body.noise)
        if not (account.spent + account.reserved).fits(rule.limit):
            self.tell(
                entry.number,
                f"What was spent of {entry.dataset!r} before is more than its rule allows.",
                f"{entry.dataset!r} で既に消費された分が、この規則の上限を超えています。",
            )
        self._results[entry.dataset, KEY_OF_RULE] = entry.number

    def _note(self, entry: Entry, body: PublicationNoted) -> None:
        """A document may be noted once for each folder; see `keys_of_publication`."""
        noted = (entry.dataset, body.document_sha256, body.folder)
        if noted in self._noted:
            self.tell(entry.number, "It repeats a publication.", "同じ公表の繰り返しです。")
            return
        self._noted.add(noted)
        key, second = keys_of_publication(body.document_sha256, body.folder)
        is_first = (entry.dataset, key) not in self._results
        self._results[entry.dataset, key if is_first else second] = entry.number

    def _open_window(self, entry: Entry, body: Reserved) -> None:
        key = entry.dataset, key_of_window(body.fingerprint)
        if key in self._results or not (body.ticks or 0) > 0:
            self.tell(
                entry.number,
                "It opens a window again, or one without ticks.",
                "既に開かれた期間か、時点のない期間を開いています。",
            )
        self._results[key] = entry.number

    def _take_tick(self, entry: Entry, body: TickBody) -> None:
        """Go one entry further in a window."""
        held = self._held.get(body.window)
        if held is None or held.dataset != entry.dataset or held.body.ticks is None:
            fault: Words | None = NO_WINDOW.format(window=body.window)
        elif held.closed_by is not None:
            fault = AFTER_CLOSING
        else:
            begun = held.ticks.open
            fault = held.ticks.fault(entry.number, body, held.body)
            if isinstance(body, TickBegun) and fault is None:
                taken = body.fingerprint == held.body.fingerprint or (entry.dataset, body.fingerprint) in self._results
                fault = USED_BEFORE if taken else None
            self._results[entry.dataset, key_of_window(held.body.fingerprint)] = entry.number
            if isinstance(body, TickSettled) and begun is not None:
                self._results[entry.dataset, begun[1].fingerprint] = entry.number
        if fault is not None:
            self.tell(entry.number, fault.english, fault.japanese)

    def _charge(self, entry: Entry, body: Reserved | Settled | Cancelled, account: _Account) -> None:
        rule = account.rule
        if isinstance(body, Reserved):
            charge = rule.charge(body.cost, entry.dataset, body.noise)
            protected = account.added.unit
            if (body.unit.who, body.unit.adjacency, body.unit.time) != (
                protected.who,
                protected.adjacency,
                protected.time,
            ):
                self.tell(
                    entry.number, "It is for another unit than its data set.", "データセットと保護単位が異なります。"
                )
            if not (account.spent + account.reserved + charge).fits(rule.limit):
                self.tell(
                    entry.number,
                    f"It reserves more than remained of the total of {entry.dataset!r}.",
                    f"{entry.dataset!r} の残りの予算を超えて予約しています。",
                )
            account.reserved += charge
            self._held[entry.number] = _Held(entry.dataset, body, charge)
            if body.ticks is not None:
                self._open_window(entry, body)
            return
        held = self._held.get(body.reservation)
        if held is None or held.dataset != entry.dataset:
            self.tell(
                entry.number,
                f"It closes reservation {body.reservation}, which was never made for its data set.",
                f"存在しない予約 {body.reservation} を閉じています。",
            )
            return
        if held.closed_by is not None:
            self.tell(
                entry.number,
                f"It closes reservation {body.reservation} once more; entry {held.closed_by} had closed it.",
                f"{held.closed_by} 番で閉じられた予約 {body.reservation} を再び閉じています。",
            )
            return
        if held.body.ticks is not None and not self._is_complete(held, body):
            words = INCOMPLETE.format(window=body.reservation)
            self.tell(entry.number, words.english, words.japanese)
        held.closed_by = entry.number
        account.reserved -= held.charge
        if isinstance(body, Settled):
            noise = amount_of_noise(body.event.measurements)
            charge = rule.charge(body.event.cost, entry.dataset, noise)
            if not (charge.fits(held.charge) and body.event.unit == held.body.unit and body.event.is_private):
                self.tell(
                    entry.number,
                    f"Its release is not what reservation {body.reservation} was made for.",
                    f"公表の内容が予約 {body.reservation} と合いません。",
                )
            account.spent += charge
            account.releases.append((body.event.cost, noise))
            self._results[entry.dataset, held.body.fingerprint] = entry.number

    def _is_complete(self, held: _Held, body: Settled | Cancelled) -> bool:
        """Whether a window may be closed: all its ticks are accounted for, or none was begun and the cost is given back."""
        ticks = held.ticks
        if isinstance(body, Cancelled):
            return ticks.last == -1
        return ticks.open is None and ticks.last + 1 == held.body.ticks

    def compare(self, store: LedgerStore) -> None:
        """Hold every other table against the entries."""
        for name, entry, spent, reserved, secret, salt in self._rows(
            store,
            "SELECT name, entry, spent, reserved, secret, salt FROM sudare_datasets",
            {name: account.entry for name, account in self._accounts.items()},
            Words("data set", "データセット"),
        ):
            account = self._accounts[name]
            written = tuple(account.rule.to_text(amount) for amount in (account.spent, account.reserved))
            if (spent, reserved) != written or entry != account.entry:
                self.tell(
                    account.entry,
                    f"The balance of {name!r} is not what the entries add up to.",
                    f"{name!r} の残高が項目の合計と一致しません。",
                )
            if commitment_of(str(secret), str(salt)) != account.added.commitment:
                self.tell(
                    account.entry,
                    f"The secret or the salt of {name!r} was exchanged.",
                    f"{name!r} の秘密鍵またはソルトが差し替えられています。",
                )
        self._compare_numbers(
            store,
            "SELECT number, closed_by FROM sudare_reservations",
            {number: held.closed_by for number, held in self._held.items()},
            Words("reservation", "予約"),
        )
        self._compare_numbers(
            store,
            "SELECT dataset, fingerprint, entry FROM sudare_results",
            self._results,
            Words("settled release", "公開済みの結果"),
        )
        self._compare_numbers(
            store,
            "SELECT dataset, digest, entry FROM sudare_opt_outs",
            self._opt_outs,
            Words("opt-out", "オプトアウト"),
        )

    def _compare_numbers(self, store: LedgerStore, statement: str, expected: dict[Any, Any], words: Words) -> None:
        for *key, number in self._rows(store, statement, expected, words, width=-1):
            wanted = expected[_key(key)]
            if number != wanted:
                self.tell(
                    _whole(wanted),
                    f"The table of {words.english}s has another entry number than the entries say.",
                    f"{words.japanese}の表の番号が項目と一致しません。",
                )

    def _rows(
        self, store: LedgerStore, statement: str, expected: dict[Any, Any], words: Words, width: int = 1
    ) -> list[Row]:
        """The rows of a table that have their entry; tells of those without, and of entries without a row."""
        found = {_key(row[:width]): row for row in store.fetch(statement)}
        for key in found.keys() - expected.keys():
            self.tell(
                None,
                f"There is a {words.english} {key!r:.100} without an entry.",
                f"項目のない{words.japanese} {key!r:.100} があります。",
            )
        for key in expected.keys() - found.keys():
            self.tell(
                _whole(expected[key]),
                f"The {words.english} {key!r:.100} is missing from its table.",
                f"{words.japanese} {key!r:.100} が表にありません。",
            )
        return [row for key, row in found.items() if key in expected]


def _key(columns: Any) -> Any:
    return columns[0] if len(columns) == 1 else tuple(columns)


def _whole(value: object) -> int | None:
    return value if type(value) is int else None
