"""Answering a query against the ledger, in the order of everything that is charged (`sudare.ledger.charging`).

What this module adds to that order:

- What can be decided without data is decided before anything is reserved: plan, noise, and whether it can be drawn.
- The cost is reserved in the data set's account and in the analyst's own.
- The catalogue is compared with the metadata. If it differs, no row was read: the reservations are cancelled.
- Before the database counts, the cost becomes final. Whatever fails then leaves it spent, because a failure may depend on the
  data.
- An answer is complete when its file is on the disk. The ledger settles with the file's hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import RowTuple
from sudare.engines.engine import Engine
from sudare.errors import (
    DatabaseError,
    LedgerError,
    OutputError,
    ParameterError,
    PlanError,
    QueryRefusedError,
    UserError,
)
from sudare.ledger import Dataset, Ledger, Reservation
from sudare.ledger.charging import ChargeRequest, Completed, charge_once
from sudare.ledger.reserving import OpenCharge
from sudare.ledger.rules import amount_of_noise
from sudare.noise.additive import noise_for
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit
from sudare.sql.execution.answering import Answer, LeftOutLists, answer
from sudare.sql.execution.answers_store import AnswerStore, NoisyTable, StoredAnswer
from sudare.sql.measures.allocating import Allocation, Noise
from sudare.sql.measures.measures import QuantileMeasure
from sudare.sql.measures.outputs import outputs_of
from sudare.sql.measures.planning import QueryPlan
from sudare.sql.metadata.promises import require_schema
from sudare.sql.relations.public_keys import public_keys, require_groups

__all__ = ["Accounts", "Charged", "Joins", "QueryCharge", "fingerprint_of", "purpose_of"]

STAYS_SPENT = Words(
    "The cost of the query ({cost}) stays spent, because a failure may depend on the data.",
    "失敗もデータに依存しうるため、このクエリの費用（{cost}）は消費されたままです。",
)

FINGERPRINT_VERSION = "sudare sql 1"
NORMAL_95 = 1.96
Joins = Literal["truncated", "elastic"]
"""How joins whose rows belong to two units are bounded: by leaving rows out, or by noise that follows the data as they are."""


class Accounts:
    """The accounts that a query is charged to: the data set's, and the analyst's own within it.

    Args:
        ledger: that holds them.
        dataset: name of the data set.
        unit: who queries protect.
        analyst: who asks; None if only the data set has an account. The account is called ``dataset/analyst``.

    Raises:
        LedgerError: if the ledger lacks one of them, or one protects others.
    """

    def __init__(self, ledger: Ledger, dataset: str, unit: Unit, analyst: str | None = None) -> None:
        self.ledger, self.unit = ledger, unit
        own = f"{dataset}/{analyst}"
        self.names: tuple[str, ...] = (dataset,) if analyst is None else (dataset, own)
        known = {found.name: found for found in ledger.datasets()}
        whole = dataset.rpartition("/")[0]
        if whole in known:
            raise LedgerError(
                f"{dataset!r} is the account of an analyst within {whole!r}. Name the data set and the analyst apart: "
                f"dataset={whole!r}, analyst={dataset.rpartition('/')[2]!r}.",
                f"{dataset!r} は {whole!r} の中の分析者の口座です。データセット {whole!r} と分析者 "
                f"{dataset.rpartition('/')[2]!r} を分けて指定してください。",
            )
        if analyst is not None and dataset in known and own not in known:
            options = f"--epsilon ... --who {unit.who}" + (" --replace" if unit.adjacency == "replace" else "")
            raise LedgerError(
                f"The analyst {analyst!r} has no budget: the ledger has no data set {own!r}. Whoever keeps the ledger "
                f"gives one with 'sudare ledger add LEDGER {own} {options}'.",
                f"分析者 {analyst!r} の予算がありません。台帳の管理者が "
                f"'sudare ledger add LEDGER {own} {options}' で追加してください。",
            )
        for name in self.names:
            protected = ledger.dataset(name).unit
            if (protected.who, protected.adjacency) != (unit.who, unit.adjacency):
                raise LedgerError(
                    f"The metadata protect a {unit.who} ({unit.adjacency}), the total of {name!r} a {protected.who} "
                    f"({protected.adjacency}): sums over different units mean nothing. Name the same unit in both.",
                    f"メタデータの保護単位は {unit.who}（{unit.adjacency}）ですが、{name!r} の総予算は {protected.who}"
                    f"（{protected.adjacency}）についてのものです。両方で同じ保護単位を指定してください。",
                )

    @property
    def dataset(self) -> str:
        """The data set's account."""
        return self.names[0]

    def balances(self) -> RowTuple[Dataset]:
        """The accounts and what is left of them, the data set's first."""
        return RowTuple(self.ledger.dataset(name) for name in self.names)

    def times_left(self, cost: Budget, measurements: Sequence[Measurement] = ()) -> int:
        """How many queries of a cost, with such noise, the accounts still allow."""
        most = []
        for balance in self.balances():
            charge = balance.charge(cost, amount_of_noise(measurements) if measurements else None)
            most.append(balance.left.main // charge.main)
            if charge.delta:
                most.append(balance.left.delta // charge.delta)
        return int(min(most))


@dataclass(frozen=True, eq=False)
class Charged:
    """An answer, and what it cost.

    Attributes:
        answer: the answer.
        cost: what was charged; None if nothing was.
        entry: number of the entry of the ledger that settled it; None for answers from public tables alone.
        is_repeated: whether it was answered before, so that nothing was charged now.
    """

    answer: NoisyTable
    cost: Budget | None
    entry: int | None
    is_repeated: bool


class AnswersOnDisk:
    """The answers to one query, as the ledger's order finds them again; a `sudare.ledger.charging.ResultStore`.

    Args:
        store: the folder of answers.
        accounts: who paid.
        fingerprint: of the query.
    """

    def __init__(self, store: AnswerStore, accounts: Accounts, fingerprint: str) -> None:
        self._store, self._accounts, self._fingerprint = store, accounts, fingerprint

    def find_settled(self, found_by: Mapping[str, str], entry: int) -> Charged | None:
        """An answer that was settled, if its file is as it was then."""
        record = self._store.settled(found_by.get("answer", ""), found_by.get("answer_sha256", ""))
        return None if record is None else Charged(record.answer, None, entry, True)

    def find_abandoned(self) -> Iterator[tuple[list[Reservation], Completed[Charged]]]:
        """Answers that were complete when their process ended, and whose cost is reserved still."""
        dataset = self._accounts.dataset
        for record in self._store.abandoned(self._fingerprint):
            still_open = self._still_open(record)
            if record.answer.event is None or not any(one.dataset == dataset for one in still_open):
                continue
            still_open.sort(key=lambda one: one.dataset != dataset)
            yield still_open, completed_answer(record, record.answer.event, cost=None, is_repeated=True)

    def complain_of_loss(self, entry: int, found_by: Mapping[str, str]) -> LedgerError:
        """The answer was settled, and is gone."""
        return LedgerError(
            f"This very query was answered before (ledger entry {entry}), but the answer is not in "
            f"'{self._store.folder}', or was changed. Bring it back, or ask with again=True (--again), which spends the budget "
            "once more.",
            f"このクエリは既に回答済みです（台帳の項目 {entry}）が、"
            f"回答が「{self._store.folder}」にないか、変更されています。"
            "回答を戻すか、again=True（--again）で改めて問い合わせてください（予算をもう一度使います）。",
        )

    def _still_open(self, record: StoredAnswer) -> list[Reservation]:
        ledger = self._accounts.ledger
        known = {found.name for found in ledger.datasets()}
        return [
            reservation
            for account, number in record.reservations.items()
            if account in known
            for reservation in ledger.reservations(account)
            if reservation.number == number and reservation.fingerprint == self._fingerprint
        ]


def completed_answer(
    record: StoredAnswer, event: ReleaseEvent, *, cost: Budget | None, is_repeated: bool
) -> Completed[Charged]:
    """An answer that is on the disk, and that nobody has seen.

    Args:
        record: the answer and its file.
        event: what was drawn for it.
        cost: what is charged now; None if that happened before.
        is_repeated: whether it was made for an earlier question.
    """
    return Completed(
        event=event,
        found_by={"answer": record.name, "answer_sha256": record.digest},
        hand_out=lambda entry: Charged(record.answer, cost, entry, is_repeated),
    )


class QueryCharge:
    """Where queries to one database are answered.

    Args:
        engine: the database.
        accounts: who pays.
        store: where answers are kept.
        timeout: seconds for each query in the database.
        opt_outs_removed: whether those who opted out are not in the database.
    """

    def __init__(
        self,
        engine: Engine,
        accounts: Accounts,
        store: AnswerStore,
        *,
        timeout: float | None = None,
        opt_outs_removed: bool = False,
    ) -> None:
        self._engine, self._accounts, self._store = engine, accounts, store
        self._timeout, self._opt_outs_removed = timeout, opt_outs_removed
        self._lists = LeftOutLists(engine)

    def answer(
        self,
        plan: QueryPlan,
        allocation: Allocation,
        budget: Budget,
        noise: Noise,
        joins: Joins,
        *,
        again: bool = False,
        on_unfinished: Callable[[Sequence[Reservation]], None] | None = None,
    ) -> Charged:
        """Answer a query, from the store if it was answered before.

        Args:
            plan: of the query.
            allocation: of the budget.
            budget: what it may cost.
            noise: which noise was asked for.
            joins: how joins whose rows belong to two units are bounded.
            again: draw and charge anew even if it was answered before.
            on_unfinished: called before anything is charged if the same query was stopped after its cost was kept; see
                `sudare.ledger.charging.charge_once`.

        Raises:
            BudgetExceededError: if an account does not allow it; nothing was read.
            DatabaseError: if the database fails; the message says whether the cost stays spent.
            LedgerError: if the ledger cannot be used, or an answer that was settled is gone.
        """
        if allocation.cost is None:
            require_schema(self._engine, plan.metadata, plan.used)
            found = answer(plan, allocation, self._engine, self._lists, timeout=self._timeout)
            return Charged(_with_reaches(plan, allocation, found), None, None, False)
        _require_drawable(allocation)
        cost, fingerprint = allocation.cost, self.fingerprint(plan, budget, noise, joins)
        request = ChargeRequest(
            accounts=self._accounts.names,
            cost=cost,
            unit=self._accounts.unit,
            fingerprint=fingerprint,
            purpose=purpose_of(plan),
            measurements=tuple(allocation.measurements),
        )
        return charge_once(
            self._accounts.ledger,
            request,
            AnswersOnDisk(self._store, self._accounts, fingerprint),
            nullcontext(),
            lambda _, charge: self._ask(plan, allocation, cost, fingerprint, charge),
            again=again,
            on_unfinished=on_unfinished,
        )

    def fingerprint(self, plan: QueryPlan, budget: Budget, noise: Noise, joins: Joins) -> str:
        """What an answer is found by.

        Raises:
            PlanError: if somebody opted out and may still be in the database.
        """
        opted_out = self._accounts.ledger.opt_outs(self._accounts.dataset)
        if opted_out.digests and not self._opt_outs_removed:
            raise PlanError(
                f"People have opted out of '{self._accounts.dataset}', and a database cannot leave them out by their hashes. "
                "Remove them from the database, then say so with opt_outs_removed=True (--opt-outs-removed).",
                f"「{self._accounts.dataset}」から除外を申し出た人がいます。データベースから除いたうえで、"
                "opt_outs_removed=True（--opt-outs-removed）と宣言してください。",
            )
        address, dataset = self._engine.address, self._accounts.dataset
        return fingerprint_of(plan, budget, noise, joins, address, dataset, opted_out.last_entry)

    def is_answered(self, fingerprint: str) -> bool:
        """Whether an answer was settled before."""
        return self._accounts.ledger.settled(self._accounts.dataset, fingerprint) is not None

    def _ask(
        self, plan: QueryPlan, allocation: Allocation, cost: Budget, fingerprint: str, charge: OpenCharge
    ) -> Callable[[], Completed[Charged]]:
        """Read and draw; gives what puts the answer on the disk."""
        # From the catalogue and public tables alone; no private row is read.
        require_schema(self._engine, plan.metadata, plan.used)
        keys = public_keys(plan, self._engine, self._timeout)
        require_groups(plan, allocation, keys)
        numbers = {reservation.dataset: reservation.number for reservation in charge.reservations}
        charge.keep()
        with _paid_for(cost):
            found = answer(plan, allocation, self._engine, self._lists, keys=keys, timeout=self._timeout)
            made = _with_reaches(plan, allocation, found)

        def complete() -> Completed[Charged]:
            with _paid_for(cost):
                record = self._store.write(fingerprint, plan.text, made, numbers)
            if record.answer.event is None:
                raise ValueError("a private answer without an event")
            return completed_answer(record, record.answer.event, cost=cost, is_repeated=False)

        return complete


def purpose_of(plan: QueryPlan) -> str:
    """What the ledger says a query's reservation is for: its text, in one line."""
    return " ".join(plan.text.split())[:200]


def fingerprint_of(
    plan: QueryPlan, budget: Budget, noise: Noise, joins: Joins, address: str, dataset: str, last_opt_out: int = 0
) -> str:
    """SHA-256 of all that makes an answer what it is, in hexadecimal digits; the data is no part of it.

    Args:
        plan: of the query.
        budget: what it may cost.
        noise: which noise was asked for.
        joins: how joins whose rows belong to two units are bounded.
        address: of the database.
        dataset: in the ledger.
        last_opt_out: number of the latest opt-out.
    """
    parts = [FINGERPRINT_VERSION, plan.digest, repr(plan.columns), repr(sorted(budget.to_dict().items()))]
    parts += [noise, joins, address, dataset, str(last_opt_out)]
    for table in plan.tables:
        for key in table.keys:
            parts.append(repr((key.name, key.facts.values, key.facts.nullable, key.values_from)))
        for choice in table.quantiles:
            parts.append(repr((choice.name, choice.low, choice.step, choice.points, choice.share, choice.rows)))
        parts.append(repr(None if table.presence is None else table.presence.name))
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _require_drawable(allocation: Allocation) -> None:
    """Make every sampler once before anything is charged: what cannot be drawn is refused while it is free."""
    try:
        for measurement in allocation.measurements:
            if isinstance(measurement, (LaplaceMeasurement, GaussianMeasurement)):
                noise_for(measurement)
        for share in allocation.shares.values():
            if share.scale is not None:
                share.sampler()
    except ParameterError:
        scales = [
            measurement.scale if isinstance(measurement, LaplaceMeasurement) else measurement.sigma_squared
            for measurement in allocation.measurements
            if isinstance(measurement, (LaplaceMeasurement, GaussianMeasurement))
        ] + [share.scale for share in allocation.shares.values() if share.scale is not None]
        if min(scales, default=1) < 1:
            raise QueryRefusedError(
                "noise-too-small",
                "This budget would take less noise than can be drawn, and would protect nobody. Lower epsilon or rho: budgets in "
                "use are below epsilon = 20 or rho = 5.",
                "この予算では引ける範囲より小さなノイズしか加わらず、誰も保護されません。epsilon または rho を下げてください"
                "（通常は epsilon = 20、rho = 5 未満です）。",
            ) from None
        raise QueryRefusedError(
            "noise-too-large",
            "This budget would take more noise than can be drawn. Raise epsilon, or lower bounds, max_rows or the number of "
            "digits in the metadata.",
            "この予算では引ける範囲を超えるノイズが必要です。"
            "epsilon を上げるか、メタデータの範囲・max_rows・桁数を小さくしてください。",
        ) from None


def _with_reaches(plan: QueryPlan, allocation: Allocation, found: Answer) -> NoisyTable:
    """An answer with what is known of its noise, by the position of each column."""
    by_place: dict[int, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    reaches, ranks = {}, {}
    for place, output in enumerate(outputs_of(plan)):
        share = allocation.shares.get(output.measures[0]) if output.is_direct else None
        stated = None if share is None else np.full(found.table.num_rows, float(share.error))
        if share is not None and stated is not None and isinstance(share.measure, QuantileMeasure):
            ranks[place] = stated
            continue
        known = found.deviations.get(output.name)
        if known is None:
            continue
        by_place[place] = np.asarray(known, np.float64).reshape(-1)
        reaches[place] = NORMAL_95 * by_place[place] if stated is None else stated
    return NoisyTable(found.table, by_place, reaches, ranks, found.perhaps_empty, found.event)


@contextmanager
def _paid_for(cost: Budget) -> Iterator[None]:
    """Whatever fails behind the reservation stays spent, and says so."""
    try:
        yield
    except Exception as error:
        raise _still_spent(error, cost) from None


def _still_spent(error: Exception, cost: Budget) -> UserError:
    """A failure behind the reservation, with a word on what it costs. Nothing of an unexpected one but its type."""
    spent = STAYS_SPENT.format(cost=cost)
    english, japanese = spent.english, spent.japanese
    if isinstance(error, QueryRefusedError):
        told = QueryRefusedError(error.reason, f"{error.english} {english}", f"{error.japanese}{japanese}")
        told.line, told.column = error.line, error.column
        return told
    if isinstance(error, OutputError):
        return OutputError(f"{error.english} {english}", f"{error.japanese}{japanese}")
    if isinstance(error, UserError):
        return DatabaseError(f"{error.english} {english}", f"{error.japanese}{japanese}")
    name = type(error).__name__
    return DatabaseError(
        f"Something unexpected happened while the query was answered ({name}). {english}",
        f"回答中に予期しない問題が起きました（{name}）。{japanese}",
    )
