"""The leader, without the network: it holds reports, has them verified, and gives out whole batches.

It looks at its own shares, sends the helper's sealed shares with what it found in jobs, and hears which reports both
accept. A report with which nobody can go on is withdrawn on both sides after a few attempts; no other report waits for it.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.services.aggregators import PrioAggregator, disagreement, require_size
from sudare.collect.prio.services.messages import (
    ANY_BATCH,
    Collection,
    CollectRequest,
    Job,
    JobAnswer,
    JobItem,
    ReportOutcome,
    ShareAnswer,
    ShareRequest,
    UploadedReport,
)
from sudare.collect.prio.services.sealing import SEAL_BYTES
from sudare.collect.prio.services.store import Batch, HeldReport, ReportRecord
from sudare.collect.prio.task import LEADER, AggregatorKeys, Task

__all__ = ["JOB_SIZE", "Leader"]

JOB_SIZE = 512
"""Reports that are verified together."""

MAX_FAILURES = 3
"""Attempts with a report that the helper answers otherwise, but cannot settle, before it is rejected."""

Send = Callable[[str, bytes], bytes]
"""Sends a message to the helper under a path and returns its authenticated answer."""


class _UnansweredError(AggregatorError):
    """The helper does not answer, or cannot do what it was asked."""


@dataclass(frozen=True)
class _Looked:
    """What the leader found in its own share of a report; without an item the report is dropped."""

    nonce: bytes
    digest: bytes
    item: JobItem | None = None
    joint_seed: bytes = b""
    output_share: bytes = b""


class Leader(PrioAggregator):
    """The aggregator that clients and the collector talk to.

    Args:
        task: what is collected.
        keys: the leader's.
        store: path of its file.
        send: sends a message to the helper.
    """

    role = LEADER
    number = 0

    def __init__(self, task: Task, keys: AggregatorKeys, store: str | Path, send: Send) -> None:
        super().__init__(task, keys, store)
        self._send = send
        self._job_size = JOB_SIZE
        self._failures: Counter[bytes] = Counter()

    def take_report(self, message: bytes) -> bytes:
        """Hold a client's report; it is durable when this returns.

        Raises:
            ReportRefusedError: if it is malformed, or another report has its nonce.
        """
        report = UploadedReport.unpack(message, self.task.digest)
        sizes = (len(report.public_share), len(report.leader_sealed), len(report.helper_sealed))
        shares = [self.prio.input_share_size(i) + SEAL_BYTES for i in range(2)]
        if sizes != (self.prio.public_share_size, *shares):
            raise ReportRefusedError(
                "The report's parts do not have the lengths of this task's reports.",
                "報告の各部分の長さが、このタスクの報告の長さと異なります。",
            )
        if not self.store.hold(report.nonce, message):
            raise ReportRefusedError(
                "Another report has the same nonce. A report must be made anew for each measurement.",
                "同じノンスの別の報告が既にあります。報告は測定ごとに新しく作成してください。",
            )
        return b""

    def aggregate(self) -> None:
        """Verify all reports that are held, together with the helper.

        Raises:
            AggregatorError: if the helper does not answer, or answers what cannot be true. Nothing is lost: the reports
                stay where they are, and the next call goes on with them.
        """
        with self._work:
            self._aggregate()

    def _aggregate(self) -> None:
        aside: set[bytes] = set()
        while held := self.store.next_reports(self._job_size, aside):
            batch = self.store.batch(held[0].batch)
            if batch is None:
                raise disagreement()
            aside |= self._verify(batch, [row for row in held if row.batch == batch.number])
        # Not at once: the helper may be too slow for large jobs.
        self._job_size = min(2 * self._job_size, JOB_SIZE)
        if aside:
            raise AggregatorError(
                "The helper accepts a report with a message that contradicts the leader's own share. It is faulty "
                f"or lies; the report is kept, and rejected after {MAX_FAILURES} such answers. Others do not wait for it.",
                "ヘルパーの検証メッセージがリーダーのシェアと矛盾します。ヘルパーに不具合または不正があります。"
                f"報告は保持されますが、この回答が {MAX_FAILURES} 回続くと棄却されます。ほかの報告の処理は続きます。",
            )

    def _verify(self, batch: Batch, held: Sequence[HeldReport]) -> set[bytes]:
        """Settle reports with the helper; the nonces of those that are left for the next round."""
        own = {looked.nonce: looked for looked in self._look(held)}
        outcomes = self._ask(batch, [looked.item for looked in own.values() if looked.item is not None])
        accepted: dict[bytes, bytes] = {}
        aside: set[bytes] = set()
        for nonce, message in outcomes.items():
            if message is None:
                continue
            if message == own[nonce].joint_seed:
                accepted[nonce] = message
            elif not self._has_failed_too_often(nonce):
                aside.add(nonce)
            else:
                self._withdraw(batch, own[nonce].item)
        records = [
            ReportRecord(row.nonce, own[row.nonce].digest, accepted.get(row.nonce))
            for row in held
            if row.nonce not in aside
        ]
        self._settle(batch, records, [own[nonce].output_share for nonce in accepted])
        for record in records:
            self._failures.pop(record.nonce, None)
        return aside

    def _look(self, held: Sequence[HeldReport]) -> list[_Looked]:
        """What the leader finds in its own shares. A report that breaks the code is dropped like any bad one."""
        try:
            return self._look_at_all(held)
        except (OSError, MemoryError, sqlite3.Error):
            raise
        except Exception:
            if len(held) == 1:
                return [_Looked(held[0].nonce, _digest(held[0]))]
            half = len(held) // 2
            return [*self._look(held[:half]), *self._look(held[half:])]

    def _look_at_all(self, held: Sequence[HeldReport]) -> list[_Looked]:
        looked = {row.nonce: _Looked(row.nonce, _digest(row)) for row in held}
        reports = [UploadedReport.unpack(row.payload, self.task.digest) for row in held]
        opened = [(r, self._open_share(r.nonce, r.public_share, r.leader_sealed)) for r in reports]
        good = [(report, share) for report, share in opened if share is not None]
        if not good:
            return list(looked.values())
        found = self._verify_own([(report.nonce, report.public_share, share) for report, share in good])
        # Where its own part is not the one of the public share, the helper computes with other randomness and will not
        # accept the report: it need not be asked.
        for row in np.flatnonzero(found.readable & found.consistent):
            report, told = good[row][0], found.verifier_shares[row].tobytes()
            looked[report.nonce] = replace(
                looked[report.nonce],
                item=JobItem(report.nonce, report.public_share, report.helper_sealed, told),
                joint_seed=found.joint_seeds[row].tobytes(),
                output_share=found.output_shares[row].tobytes(),
            )
        return list(looked.values())

    def _ask(self, batch: Batch, items: Sequence[JobItem]) -> dict[bytes, bytes | None]:
        """The helper's message for each report, None for one that is dropped.

        If the helper fails on a job, but answers otherwise, the report that it fails on is looked for; it is withdrawn
        when it has failed often enough, so that no other report waits for it.
        """
        if not items:
            return {}
        if self._job_size < JOB_SIZE:
            self._probe(batch)  # it may have died of these reports: what fails now fails because of them
        try:
            return {outcome.nonce: outcome.message for outcome in self._send_job(Job(batch.number, tuple(items)))}
        except _UnansweredError:
            suspicious = self._job_size < JOB_SIZE
            self._job_size = max(len(items) // 2, 1)
            if len(items) == 1 and suspicious and self._has_failed_too_often(items[0].nonce):
                self._withdraw(batch, items[0])
                return {items[0].nonce: None}
            self._probe(batch)
        half = len(items) // 2
        parts = [items[:half], items[half:]] if half else [items]
        return {nonce: message for part in parts for nonce, message in self._ask(batch, part).items()}

    def _has_failed_too_often(self, nonce: bytes) -> bool:
        self._failures[nonce] += 1
        return self._failures[nonce] >= MAX_FAILURES

    def _probe(self, batch: Batch) -> None:
        """Raise if the helper does not even answer a job without reports."""
        self._send_job(Job(batch.number, ()))

    def _withdraw(self, batch: Batch, item: JobItem | None) -> None:
        if item is not None:
            self._send_job(Job(batch.number, (item,)), "/withdraw")

    def _send_job(self, job: Job, path: str = "/job") -> tuple[ReportOutcome, ...]:
        try:
            content = self._send(path, job.pack(self.task.digest))
        except (AggregatorError, ReportRefusedError) as problem:
            raise _UnansweredError(problem.english, problem.japanese) from None
        try:
            answer = JobAnswer.unpack(content, self.task.digest)
        except ReportRefusedError as problem:
            raise AggregatorError(problem.english, problem.japanese) from None
        if [outcome.nonce for outcome in answer.outcomes] != [item.nonce for item in job.items]:
            raise AggregatorError(
                "The helper's answer is about other reports than those it was asked about. It is faulty or lies; the "
                "reports are kept.",
                "ヘルパーの回答が、問い合わせた報告と一致しません。ヘルパーに不具合または不正があります。報告は保持されています。",
            )
        return answer.outcomes

    def collect(self, message: bytes, token: bytes) -> bytes:
        """Close the open batch and give both aggregate shares, sealed to the collector; or a former batch again.

        Raises:
            AggregatorError: if the token is not the collector's, the batch is too small or unknown, or the helper does
                not answer or has other reports in the batch. Nothing is lost.
        """
        request = self._authorized(message, token)
        with self._work:
            batch = self._due_batch() if request.batch == ANY_BATCH else self._former_batch(request.batch)
            question = ShareRequest(batch.number, batch.reports, batch.checksum).pack(self.task.digest)
            answer = ShareAnswer.unpack(self._send("/share", question), self.task.digest)
            own = self._sealed_aggregate(batch)
        numbers = batch.number, batch.reports, batch.rejected
        return Collection(*numbers, batch.checksum, own, answer.sealed).pack(self.task.digest)

    def acknowledge(self, message: bytes, token: bytes) -> bytes:
        """Note that the collector has a batch; until then it is the one that is due."""
        request = self._authorized(message, token)
        with self._work:
            self.store.mark_fetched(self._former_batch(request.batch).number)
        return b""

    def _authorized(self, message: bytes, token: bytes) -> CollectRequest:
        if not hmac.compare_digest(hashlib.sha256(token).digest(), self.task.token_digest):
            raise AggregatorError(
                "This is not the collector's token: only the collector may ask for a batch.",
                "収集者のトークンではありません。バッチを要求できるのは収集者だけです。",
            )
        return CollectRequest.unpack(message, self.task.digest)

    def _due_batch(self) -> Batch:
        waiting = self.store.unfetched_batch()
        if waiting is not None:
            return waiting
        self._aggregate()
        batch = self.store.open_batch()
        require_size(batch, self.task)
        self.store.close_batch(batch.number)
        return batch

    def _former_batch(self, number: int) -> Batch:
        batch = self.store.batch(number)
        if batch is None or not batch.closed:
            raise AggregatorError(
                f"There is no closed batch {number}. Ask without a number for the one that is due.",
                f"締め切られたバッチ {number} はありません。番号を付けずに要求すると、次のバッチが得られます。",
            )
        return batch


def _digest(row: HeldReport) -> bytes:
    return hashlib.sha256(row.payload).digest()
