"""What both aggregators do, and the helper, without the network: bytes of messages in, bytes of messages out.

The helper verifies with the leader (`sudare.collect.prio.services.leader`). It notes what it found before it answers, so the
leader may ask again after any crash of either, and each report is added up once on both sides.

A batch is given out once it is closed, and only if it is large enough; both aggregators see to that, and the helper
gives its share only if both have exactly the same reports in the batch.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.services.messages import (
    Job,
    JobAnswer,
    JobItem,
    ReportOutcome,
    ShareAnswer,
    ShareRequest,
    purpose_of_aggregate,
    purpose_of_input,
)
from sudare.collect.prio.services.sealing import open_sealed, seal
from sudare.collect.prio.services.store import Batch, ReportRecord, ReportStore
from sudare.collect.prio.task import HELPER, AggregatorKeys, Task
from sudare.collect.prio.vdaf.reports import Verification

if TYPE_CHECKING:
    from sudare.collect.prio.vdaf.fields import Octets

__all__ = ["Helper", "PrioAggregator", "disagreement", "require_size", "rows_of"]


class PrioAggregator:
    """What the leader and the helper have in common."""

    role: str
    number: int

    def __init__(self, task: Task, keys: AggregatorKeys, store: str | Path) -> None:
        self.task = task
        self.keys = keys
        self.prio = task.prio
        owner = f"{self.role} of {task.digest.hex()}"
        self.store = ReportStore(store, owner, self.prio.aggregate([]))
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

    def _verify_own(self, reports: Sequence[tuple[bytes, bytes, bytes]]) -> Verification:
        """What this aggregator finds in its own shares: nonce, public share and input share of each report."""
        nonces, public_shares, input_shares = (rows_of(column) for column in zip(*reports, strict=True))
        return self.prio.verify_init_many(
            self.keys.verify, self.task.ctx, self.number, nonces, public_shares, input_shares
        )

    def _settle(self, batch: Batch, records: Sequence[ReportRecord], output_shares: Sequence[bytes]) -> None:
        aggregate = self.prio.aggregate([batch.aggregate, *output_shares])
        self.store.settle(batch.number, records, aggregate)

    def _sealed_aggregate(self, batch: Batch) -> bytes:
        purpose = purpose_of_aggregate(self.role, self.task.digest, batch.number, batch.reports, batch.checksum)
        return seal(self.task.collector_key, purpose, batch.aggregate)


class Helper(PrioAggregator):
    """The aggregator that clients do not talk to."""

    role = HELPER
    number = 1

    def answer(self, path: str, message: bytes) -> bytes:
        """Do what the leader asks for.

        Raises:
            LookupError: if nothing is done under this path.
        """
        if path == "/job":
            return self.work_on(message)
        if path == "/withdraw":
            return self.withdraw(message)
        if path == "/share":
            return self.give_share(message)
        raise LookupError(path)

    def work_on(self, message: bytes) -> bytes:
        """Verify a job; note what was found, then answer."""
        job = Job.unpack(message, self.task.digest)
        with self._work:
            batch = self.store.ensure_batch(job.batch) if job.batch < 2**63 else None
            digests = [_digest(job.batch, item) for item in job.items]
            known = self.store.records([item.nonce for item in job.items])
            outcomes: dict[int, ReportOutcome] = {}
            fresh: dict[bytes, int] = {}
            for i, item in enumerate(job.items):
                before = known.get(item.nonce)
                if before is not None:
                    # The same question again gets the same answer; another report under an old nonce is a replay.
                    same = before.digest == digests[i]
                    outcomes[i] = ReportOutcome(item.nonce, before.message if same else None)
                elif item.nonce in fresh:
                    outcomes[i] = ReportOutcome(item.nonce, None)
                else:
                    fresh[item.nonce] = i
            if fresh and (batch is None or batch.closed):
                raise _closed()
            if fresh and batch is not None:
                self._verify(batch, job, list(fresh.values()), digests, outcomes)
        return JobAnswer(tuple(outcomes[i] for i in range(len(job.items)))).pack(self.task.digest)

    def _verify(
        self, batch: Batch, job: Job, fresh: Sequence[int], digests: Sequence[bytes], outcomes: dict[int, ReportOutcome]
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
            found = self._verify_own(
                [(item.nonce, item.public_share, shares[i] or b"") for i, item in zip(readable, items, strict=True)]
            )
            told = [rows_of([item.verifier_share for item in items]), found.verifier_shares]
            decided, accepted = self.prio.verifier_shares_to_message_many(self.task.ctx, told)
            accepted &= self.prio.verify_next_many(found, decided)
            for row in np.flatnonzero(accepted):
                messages[readable[row]] = decided[row].tobytes()
                outputs.append(found.output_shares[row].tobytes())
        records = [ReportRecord(job.items[i].nonce, digests[i], messages.get(i)) for i in fresh]
        self._settle(batch, records, outputs)
        for i in fresh:
            outcomes[i] = ReportOutcome(job.items[i].nonce, messages.get(i))

    def withdraw(self, message: bytes) -> bytes:
        """Reject reports after all, with which the leader cannot go on, and take back what was added up of them.

        The leader asks for it before the batch is closed, so nobody ever sees a sum with them and one without them.
        """
        job = Job.unpack(message, self.task.digest)
        with self._work:
            for item in job.items:
                batch = self.store.ensure_batch(job.batch) if job.batch < 2**63 else None
                digest, before = _digest(job.batch, item), self.store.records([item.nonce]).get(item.nonce)
                if before is not None and before.message is None:
                    continue
                if batch is None or batch.closed:
                    raise _closed()
                if before is None:
                    self._settle(batch, [ReportRecord(item.nonce, digest, None)], [])
                    continue
                if before.digest != digest:
                    raise disagreement()
                share = self._open_share(*_of(item)) or b""
                output = self._verify_own([(item.nonce, item.public_share, share)]).output_shares[0].tobytes()
                self.store.withdraw(batch.number, item.nonce, self.prio.without(batch.aggregate, output))
        return JobAnswer(tuple(ReportOutcome(item.nonce, None) for item in job.items)).pack(self.task.digest)

    def give_share(self, message: bytes) -> bytes:
        """Close a batch and give its aggregate share, sealed to the collector."""
        request = ShareRequest.unpack(message, self.task.digest)
        with self._work:
            batch = self.store.batch(request.batch)
            if batch is None or (batch.reports, batch.checksum) != (request.reports, request.checksum):
                raise disagreement()
            require_size(batch, self.task)
            if not batch.closed:
                self.store.close_batch(batch.number)
            return ShareAnswer(self._sealed_aggregate(batch)).pack(self.task.digest)


def _digest(batch: int, item: JobItem) -> bytes:
    return hashlib.sha256(batch.to_bytes(8, "little") + item.pack()).digest()


def _of(item: JobItem) -> tuple[bytes, bytes, bytes]:
    return item.nonce, item.public_share, item.helper_sealed


def rows_of(data: Sequence[bytes]) -> Octets:
    """Bytes of equal lengths as the rows of an array."""
    return np.frombuffer(b"".join(data), dtype=np.uint8).reshape(len(data), len(data[0]))


def _closed() -> AggregatorError:
    return AggregatorError(
        "The batch is closed: no report can be added to it or taken out of it any more.",
        "このバッチは締め切られました。報告の追加や取り消しはできません。",
    )


def require_size(batch: Batch, task: Task) -> None:
    """Refuse to give out a batch of too few reports."""
    if batch.reports < task.minimum_batch:
        raise AggregatorError(
            f"The batch has fewer than the {task.minimum_batch} reports that the task asks for. Nothing is given out "
            "before; reports go on being taken.",
            f"バッチの報告数が、タスクの定める最小数 {task.minimum_batch} に達していません。"
            "達するまで何も公開されません。報告の受付は続いています。",
        )


def disagreement() -> AggregatorError:
    """For aggregators that have different reports in a batch."""
    return AggregatorError(
        "The two aggregators do not have the same reports in this batch. One of them is faulty, lies, or was set back to "
        "an old state; nothing of the batch is given out.",
        "二つの集計者が持つこのバッチの報告が一致しません。どちらかに不具合または不正があるか、古い状態に戻されています。このバッチは公開されません。",
    )
