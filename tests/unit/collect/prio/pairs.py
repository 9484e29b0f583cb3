"""A leader and a helper in one process, and clients that make reports as badly as they like."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sudare.collect.prio import AggregatorKeys, CollectorKeys, Task, TaskMeasurement, create_task, make_report
from sudare.collect.prio.services.aggregators import Helper
from sudare.collect.prio.services.leader import Leader
from sudare.collect.prio.services.messages import (
    Collection,
    CollectRequest,
    Job,
    UploadedReport,
    purpose_of_aggregate,
    purpose_of_input,
)
from sudare.collect.prio.services.sealing import open_sealed, seal
from sudare.collect.prio.vdaf.reports import Report

__all__ = ["Pair", "seal_report", "unproved_report"]


class Pair:
    """A leader and a helper that talk directly, through a wire that a test may cut or tap."""

    def __init__(self, folder: Path, measured: TaskMeasurement | None = None, **settings: Any) -> None:
        urls: dict[str, Any] = {"leader_url": "http://127.0.0.1:1", "helper_url": "http://127.0.0.1:2"}
        settings = {"minimum_batch": 3, **settings}
        self.folder = folder
        self.task = create_task(folder / "task", measured or TaskMeasurement("histogram", length=3), **urls, **settings)
        self.token = bytes.fromhex((folder / "task" / "collector" / "token.key").read_text())
        self.wire: Callable[[str, bytes], bytes] = self.direct
        self.sent: list[tuple[str, bytes]] = []
        self.start()

    def start(self) -> None:
        keys = {
            role: AggregatorKeys.read(self.folder / "task" / role, self.task, role) for role in ("leader", "helper")
        }
        self.helper = Helper(self.task, keys["helper"], self.folder / "helper.sqlite")
        self.leader = Leader(self.task, keys["leader"], self.folder / "leader.sqlite", self.send)

    def close(self) -> None:
        self.leader.close()
        self.helper.close()

    def restart(self) -> None:
        self.close()
        self.start()

    def send(self, path: str, body: bytes) -> bytes:
        self.sent.append((path, body))
        return self.wire(path, body)

    def direct(self, path: str, body: bytes) -> bytes:
        return self.helper.answer(path, body)

    def last_job(self) -> Job:
        """What the leader asked last; a job without reports only asks whether the helper is there."""
        jobs = (Job.unpack(body, self.task.digest) for path, body in reversed(self.sent) if path == "/job")
        return next(job for job in jobs if job.items)

    def report(self, value: Any) -> bytes:
        made = make_report(self.task, value)
        self.leader.take_report(made)
        return made

    def take(self, *reports: UploadedReport) -> None:
        for report in reports:
            self.leader.take_report(report.pack(self.task.digest))

    def collect(self) -> Collection:
        request = CollectRequest().pack(self.task.digest)
        answer = Collection.unpack(self.leader.collect(request, self.token), self.task.digest)
        self.leader.acknowledge(CollectRequest(answer.batch).pack(self.task.digest), self.token)
        return answer

    def result(self, found: Collection) -> Any:
        """What the collector would see."""
        private = CollectorKeys.read(self.folder / "task" / "collector", self.task).private
        about = self.task.digest, found.batch, found.reports, found.checksum
        sealed = (("leader", found.leader_sealed), ("helper", found.helper_sealed))
        shares = [open_sealed(private, purpose_of_aggregate(role, *about), text) for role, text in sealed]
        return self.task.prio.unshard(shares, found.reports)

    def accepted(self) -> tuple[set[bytes], set[bytes]]:
        """The nonces that the leader and the helper have added up."""
        stores = self.leader.store, self.helper.store
        query = "SELECT nonce FROM reports WHERE message IS NOT NULL"
        first, second = ({row[0] for row in store._file.rows(query)} for store in stores)
        return first, second


def unproved_report(task: Task, encoded: Sequence[int]) -> Report:
    """A report whose proof is zero everywhere: it passes where every bit is 1, whatever the joint randomness is."""
    prio = task.prio
    raw = np.frombuffer(os.urandom(16 + prio.random_size), dtype=np.uint8)[None]
    honest = prio._system.prove
    prio._system.prove = lambda *arguments: honest(*arguments) * 0  # type: ignore[method-assign]
    try:
        return prio.shard_encoded(np.array([encoded], dtype=np.uint64), task.ctx, raw[:, :16], raw[:, 16:])[0]
    finally:
        prio._system.prove = honest  # type: ignore[method-assign]


def seal_report(task: Task, report: Report) -> UploadedReport:
    """As a client sends it, with seals that fit whatever is in it."""
    sealed = [
        seal(task.key_of(role), purpose_of_input(role, task.digest, report.nonce, report.public_share), share)
        for role, share in zip(("leader", "helper"), report.input_shares, strict=True)
    ]
    return UploadedReport(report.nonce, report.public_share, *sealed)
