"""The two aggregators, without the network: bytes of messages in, bytes of messages out.

The leader holds reports, and has them verified in jobs: it looks at its own shares, sends the helper's sealed shares with
what it found, and hears which reports both accept. The helper notes what it did before it answers, so the leader may ask
again after any crash of either, and each report is added up once on both sides.

A batch is given out once it is closed, and only if it is large enough; both aggregators see to that, and the helper
gives its share only if both have exactly the same reports in the batch.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sudare.collect.prio.messages import (
    ANY_BATCH,
    Collection,
    CollectRequest,
    Job,
    JobAnswer,
    JobItem,
    Outcome,
    ShareAnswer,
    ShareRequest,
    UploadedReport,
    purpose_of_aggregate,
    purpose_of_input,
)
from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.sealing import SEAL_BYTES, open_sealed, seal
from sudare.collect.prio.store import Batch, Held, Record, Store
from sudare.collect.prio.task import HELPER, LEADER, AggregatorKeys, Task

__all__ = ["Aggregator", "Helper", "Leader"]

JOB_SIZE = 512
"""Reports that are verified together."""

Send = Callable[[str, bytes], bytes]
"""Sends a message to the helper under a path and returns its authenticated answer."""


class Aggregator:
    """What the leader and the helper have in common."""

    role: str
    number: int

    def __init__(self, task: Task, keys: AggregatorKeys, store: str | Path) -> None:
        self.task = task
        self.keys = keys
        self.prio = task.prio
        owner = f"{self.role} of {task.digest.hex()}"
        self.store = Store(store, owner, self.prio.aggregate([]))
        self._work = threading.Lock()

    def close(self) -> None:
        """Let go of the store."""
        with self._work:
            self.store.close()

    def _open_share(self, nonce: bytes, public_share: bytes, sealed: bytes) -> bytes | None:
        """This aggregator's input share, or None if it is not one."""
        if len(public_share) != self.prio.public_share_size:
            return None
        purpose = purpose_of_input(self.role, self.task.digest, nonce, public_share)
        try:
            share = open_sealed(self.keys.private, purpose, sealed)
        except ReportRefusedError:
            return None
        return share if len(share) == self.prio.input_share_size(self.number) else None

    def _settle(self, batch: Batch, records: Sequence[Record], output_shares: Sequence[bytes]) -> None:
        aggregate = self.prio.aggregate([batch.aggregate, *output_shares])
        self.store.settle(batch.number, records, aggregate)

    def _sealed_aggregate(self, batch: Batch) -> bytes:
        purpose = purpose_of_aggregate(self.role, self.task.digest, batch.number, batch.reports, batch.checksum)
        return seal(self.task.collector_key, purpose, batch.aggregate)


class Helper(Aggregator):
    """The aggregator that clients do not talk to."""

    role = HELPER
    number = 1

    def work_on(self, message: bytes) -> bytes:
        """Verify a job; note what was found, then answer."""
        job = Job.unpack(message, self.task.digest)
        with self._work:
            batch = self.store.ensure_batch(job.batch) if job.batch < 2**63 else None
            digests = [hashlib.sha256(job.batch.to_bytes(8, "little") + item.pack()).digest() for item in job.items]
            known = self.store.records([item.nonce for item in job.items])
            outcomes: dict[int, Outcome] = {}
            fresh: dict[bytes, int] = {}
            for i, item in enumerate(job.items):
                before = known.get(item.nonce)
                if before is not None:
                    # The same question again gets the same answer; another report under an old nonce is a replay.
                    same = before.digest == digests[i]
                    outcomes[i] = Outcome(item.nonce, before.message if same else None)
                elif item.nonce in fresh:
                    outcomes[i] = Outcome(item.nonce, None)
                else:
                    fresh[item.nonce] = i
            if fresh and (batch is None or batch.closed):
                raise AggregatorError(
                    "The batch is closed: no report can be added to it any more.",
                    "このバッチは締め切られました。報告を追加できません。",
                )
            if fresh and batch is not None:
                self._verify(batch, job, list(fresh.values()), digests, outcomes)
        return JobAnswer(tuple(outcomes[i] for i in range(len(job.items)))).pack(self.task.digest)

    def _verify(
        self, batch: Batch, job: Job, fresh: Sequence[int], digests: Sequence[bytes], outcomes: dict[int, Outcome]
    ) -> None:
        messages: dict[int, bytes] = {}
        outputs: list[bytes] = []
        shares = {i: self._open_share(*_of(job.items[i])) for i in fresh}
        readable = [
            i
            for i in fresh
            if shares[i] is not None and len(job.items[i].verifier_share) == self.prio.verifier_share_size
        ]
        if readable:
            items = [job.items[i] for i in readable]
            found = self.prio.verify_init_many(
                self.keys.verify,
                self.task.ctx,
                self.number,
                _rows([item.nonce for item in items]),
                _rows([item.public_share for item in items]),
                _rows([shares[i] or b"" for i in readable]),
            )
            told = [_rows([item.verifier_share for item in items]), found.verifier_shares]
            decided, accepted = self.prio.verifier_shares_to_message_many(self.task.ctx, told)
            accepted &= self.prio.verify_next_many(found, decided)
            for row in np.flatnonzero(accepted):
                messages[readable[row]] = decided[row].tobytes()
                outputs.append(found.output_shares[row].tobytes())
        records = [Record(job.items[i].nonce, digests[i], messages.get(i)) for i in fresh]
        self._settle(batch, records, outputs)
        for i in fresh:
            outcomes[i] = Outcome(job.items[i].nonce, messages.get(i))

    def give_share(self, message: bytes) -> bytes:
        """Close a batch and give its aggregate share, sealed to the collector."""
        request = ShareRequest.unpack(message, self.task.digest)
        with self._work:
            batch = self.store.batch(request.batch)
            if batch is None or (batch.reports, batch.checksum) != (request.reports, request.checksum):
                raise _disagreement()
            _require_size(batch, self.task)
            if not batch.closed:
                self.store.close_batch(batch.number)
            return ShareAnswer(self._sealed_aggregate(batch)).pack(self.task.digest)


class Leader(Aggregator):
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
        while held := self.store.next_reports(JOB_SIZE):
            batch = self.store.batch(held[0].batch)
            if batch is None:
                raise _disagreement()
            self._verify(batch, [row for row in held if row.batch == batch.number])

    def _verify(self, batch: Batch, held: Sequence[Held]) -> None:
        reports = [UploadedReport.unpack(row.payload, self.task.digest) for row in held]
        digests = {row.nonce: hashlib.sha256(row.payload).digest() for row in held}
        opened = [(r, self._open_share(r.nonce, r.public_share, r.leader_sealed)) for r in reports]
        good = [(report, share) for report, share in opened if share is not None]
        accepted: dict[bytes, bytes] = {}
        outputs: list[bytes] = []
        if good:
            found = self.prio.verify_init_many(
                self.keys.verify,
                self.task.ctx,
                self.number,
                _rows([report.nonce for report, _ in good]),
                _rows([report.public_share for report, _ in good]),
                _rows([share for _, share in good]),
            )
            rows = [int(row) for row in np.flatnonzero(found.readable)]
            told = {row: found.verifier_shares[row].tobytes() for row in rows}
            items = [
                JobItem(good[row][0].nonce, good[row][0].public_share, good[row][0].helper_sealed, told[row])
                for row in rows
            ]
            outcomes = self._ask(Job(batch.number, tuple(items))) if items else ()
            for row, outcome in zip(rows, outcomes, strict=True):
                if outcome.message is None:
                    continue
                if outcome.message != found.joint_seeds[row].tobytes():
                    raise AggregatorError(
                        "The helper accepts a report with a message that contradicts the leader's own share. It is faulty "
                        "or lies; the reports are kept.",
                        "ヘルパーの検証メッセージがリーダーのシェアと矛盾します。ヘルパーに不具合または不正があります。報告は保持されています。",
                    )
                accepted[outcome.nonce] = outcome.message
                outputs.append(found.output_shares[row].tobytes())
        records = [Record(row.nonce, digests[row.nonce], accepted.get(row.nonce)) for row in held]
        self._settle(batch, records, outputs)

    def _ask(self, job: Job) -> tuple[Outcome, ...]:
        try:
            answer = JobAnswer.unpack(self._send("/job", job.pack(self.task.digest)), self.task.digest)
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
        _require_size(batch, self.task)
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


def _of(item: JobItem) -> tuple[bytes, bytes, bytes]:
    return item.nonce, item.public_share, item.helper_sealed


def _rows(data: Sequence[bytes]) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(b"".join(data), dtype=np.uint8).reshape(len(data), len(data[0]))


def _require_size(batch: Batch, task: Task) -> None:
    if batch.reports < task.minimum_batch:
        raise AggregatorError(
            f"The batch has fewer than the {task.minimum_batch} reports that the task asks for. Nothing is given out "
            "before; reports go on being taken.",
            f"バッチの報告数が、タスクの定める最小数 {task.minimum_batch} に達していません。"
            "達するまで何も公開されません。報告の受付は続いています。",
        )


def _disagreement() -> AggregatorError:
    return AggregatorError(
        "The two aggregators do not have the same reports in this batch. One of them is faulty, lies, or was set back to "
        "an old state; nothing of the batch is given out.",
        "二つの集計者が持つこのバッチの報告が一致しません。どちらかに不具合または不正があるか、古い状態に戻されています。このバッチは公開されません。",
    )
