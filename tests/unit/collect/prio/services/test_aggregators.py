"""Leader and helper in one process, without the network: durable, once each, and only whole batches."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sudare.collect.prio import (
    AggregatorError,
    ReportRefusedError,
    Task,
    make_report,
)
from sudare.collect.prio.services.messages import (
    Collection,
    CollectRequest,
    Job,
    JobAnswer,
    JobItem,
    ShareRequest,
    UploadedReport,
)
from sudare.collect.prio.services.store import ReportStore, checksum_of
from sudare.errors import LedgerError, UserError
from tests.unit.collect.prio.pairs import Pair


@pytest.fixture
def pair(tmp_path: Path) -> Any:
    made = Pair(tmp_path)
    yield made
    made.close()


def fails(path: str, body: bytes) -> bytes:
    raise AggregatorError("gone", "不在")


def test_both_have_the_same_reports(pair: Pair) -> None:
    made = [pair.report(value) for value in (0, 1, 2, 2)]
    found = pair.collect()
    nonces = [UploadedReport.unpack(report, pair.task.digest).nonce for report in made]
    assert (found.batch, found.reports, found.rejected) == (0, 4, 0)
    assert found.checksum == checksum_of(nonces) == checksum_of(nonces[::-1])


def test_an_answer_that_is_lost_is_asked_for_again(pair: Pair) -> None:
    for value in (0, 1, 2):
        pair.report(value)

    def loses(path: str, body: bytes) -> bytes:
        pair.direct(path, body)
        raise AggregatorError("gone", "不在")

    pair.wire = loses
    for _ in range(3):
        with pytest.raises(AggregatorError, match="gone"):
            pair.leader.aggregate()
        pair.restart()
    pair.report(1)
    pair.wire = pair.direct
    assert pair.collect().reports == 4
    helper, leader = pair.helper.store.batch(0), pair.leader.store.batch(0)
    assert helper is not None
    assert leader is not None
    assert (helper.reports, helper.checksum, helper.closed) == (leader.reports, leader.checksum, True)


def test_a_share_that_is_lost_is_asked_for_again(pair: Pair) -> None:
    for value in (0, 1, 2):
        pair.report(value)
    pair.leader.aggregate()

    def loses(path: str, body: bytes) -> bytes:
        pair.direct(path, body)
        raise AggregatorError("gone", "不在")

    pair.wire = loses
    with pytest.raises(AggregatorError, match="gone"):
        pair.collect()
    # The batch is closed on both sides; what comes now belongs to the next one.
    pair.report(0)
    pair.wire = pair.direct
    pair.restart()
    assert (pair.collect().batch, pair.leader.store.open_batch().number) == (0, 1)
    pair.leader.aggregate()
    assert pair.leader.store.open_batch().reports == 1


def test_a_batch_stays_due_until_it_has_arrived(pair: Pair) -> None:
    for value in (0, 1, 2):
        pair.report(value)
    request = CollectRequest().pack(pair.task.digest)
    first = Collection.unpack(pair.leader.collect(request, pair.token), pair.task.digest)
    again = Collection.unpack(pair.leader.collect(request, pair.token), pair.task.digest)
    assert (first.batch, first.checksum) == (again.batch, again.checksum)
    pair.leader.acknowledge(CollectRequest(0).pack(pair.task.digest), pair.token)
    with pytest.raises(AggregatorError, match="fewer than the 3"):
        pair.leader.collect(request, pair.token)
    for action in (pair.leader.collect, pair.leader.acknowledge):
        with pytest.raises(AggregatorError, match="token"):
            action(request, bytes(32))
        with pytest.raises(AggregatorError, match="no closed batch"):
            action(CollectRequest(5).pack(pair.task.digest), pair.token)


def test_the_helper_answers_a_question_once_and_never_another_under_its_nonce(pair: Pair) -> None:
    pair.report(1)
    pair.leader.aggregate()
    job = pair.last_job()
    first = pair.helper.work_on(job.pack(pair.task.digest))
    assert pair.helper.work_on(job.pack(pair.task.digest)) == first
    twice = Job(0, job.items * 2).pack(pair.task.digest)
    assert len(JobAnswer.unpack(pair.helper.work_on(twice), pair.task.digest).outcomes) == 2
    for other in (
        Job(0, (replace(job.items[0], verifier_share=bytes(len(job.items[0].verifier_share))),)),
        Job(1, job.items),
    ):
        answer = JobAnswer.unpack(pair.helper.work_on(other.pack(pair.task.digest)), pair.task.digest)
        assert answer.outcomes[0].message is None
    batch = pair.helper.store.batch(0)
    assert batch is not None
    assert (batch.reports, batch.rejected) == (1, 0)


def test_a_new_report_twice_in_one_job_counts_once(pair: Pair) -> None:
    pair.wire = fails
    pair.report(1)
    with pytest.raises(AggregatorError):
        pair.leader.aggregate()
    job = pair.last_job()
    twice = Job(0, job.items * 2).pack(pair.task.digest)
    outcomes = JobAnswer.unpack(pair.helper.work_on(twice), pair.task.digest).outcomes
    assert [outcome.message is None for outcome in outcomes] == [False, True]
    batch = pair.helper.store.batch(0)
    assert batch is not None
    assert batch.reports == 1


def test_a_closed_batch_takes_nothing(pair: Pair) -> None:
    for value in (0, 1, 2):
        pair.report(value)
    pair.collect()
    pair.wire = fails
    pair.report(1)
    with pytest.raises(AggregatorError):
        pair.leader.aggregate()
    late = pair.last_job()
    for number in (0, 2**63):
        with pytest.raises(AggregatorError, match="closed"):
            pair.helper.work_on(Job(number, late.items).pack(pair.task.digest))


@pytest.mark.parametrize(
    "change",
    [
        {"helper_sealed": b""},
        {"public_share": b""},
        {"public_share": bytes(64)},
        {"verifier_share": b""},
        {"verifier_share": b"\xff" * 160},
    ],
)
def test_what_the_helper_cannot_read_is_dropped(pair: Pair, change: dict[str, bytes]) -> None:
    pair.wire = fails
    pair.report(1)
    with pytest.raises(AggregatorError):
        pair.leader.aggregate()
    item = pair.last_job().items[0]
    bad = Job(0, (replace(item, **change),)).pack(pair.task.digest)
    outcomes = JobAnswer.unpack(pair.helper.work_on(bad), pair.task.digest).outcomes
    assert outcomes[0].message is None
    batch = pair.helper.store.batch(0)
    assert batch is not None
    assert (batch.reports, batch.rejected) == (0, 1)


@pytest.mark.parametrize("lie", ["order", "missing", "garbage", "message"])
def test_answers_that_cannot_be_true_change_nothing(pair: Pair, lie: str) -> None:
    for value in (0, 1, 2):
        pair.report(value)

    def lies(path: str, body: bytes) -> bytes:
        outcomes = JobAnswer.unpack(pair.direct(path, body), pair.task.digest).outcomes
        if lie == "garbage":
            return b"no message at all"
        changed = {
            "order": outcomes[::-1],
            "missing": outcomes[1:],
            "message": tuple(replace(outcome, message=bytes(32)) for outcome in outcomes),
        }[lie]
        return JobAnswer(changed).pack(pair.task.digest)

    pair.wire = lies
    with pytest.raises(AggregatorError):
        pair.leader.aggregate()
    assert pair.leader.store.open_batch().reports == 0
    pair.wire = pair.direct
    assert pair.collect().reports == 3, "nothing is lost"


def test_the_helper_gives_a_share_only_of_a_batch_that_both_know(pair: Pair) -> None:
    for value in (0, 1, 2):
        pair.report(value)
    pair.leader.aggregate()
    batch = pair.leader.store.open_batch()
    for wrong in (
        ShareRequest(1, 3, batch.checksum),
        ShareRequest(2**64 - 1, 3, batch.checksum),
        ShareRequest(0, 2, batch.checksum),
        ShareRequest(0, 3, bytes(32)),
    ):
        with pytest.raises(AggregatorError, match="do not have the same reports"):
            pair.helper.give_share(wrong.pack(pair.task.digest))
    small = pair.helper.store.batch(0)
    assert small is not None
    assert not small.closed


def test_reports_sent_at_the_same_moment_are_held_once(pair: Pair) -> None:
    made = make_report(pair.task, 1)
    outcomes: list[str] = []

    def send() -> None:
        try:
            pair.leader.take_report(made)
            outcomes.append("held")
        except UserError as problem:
            outcomes.append(problem.english)

    threads = [threading.Thread(target=send) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["held"] * 16
    pair.leader.aggregate()
    assert pair.leader.store.open_batch().reports == 1


def test_a_nonce_is_never_used_for_two_reports(pair: Pair) -> None:
    first = UploadedReport.unpack(pair.report(1), pair.task.digest)
    second = replace(UploadedReport.unpack(make_report(pair.task, 2), pair.task.digest), nonce=first.nonce)
    for _ in range(2):
        with pytest.raises(ReportRefusedError, match="same nonce"):
            pair.leader.take_report(second.pack(pair.task.digest))
        pair.leader.aggregate()
    assert pair.leader.store.open_batch().reports == 1


def test_a_store_belongs_to_one_process_one_role_and_one_task(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    first = ReportStore(path, "leader of a", b"")
    with pytest.raises(LedgerError, match="Another process"):
        ReportStore(path, "leader of a", b"")
    first.close()
    for other in ("helper of a", "leader of b"):
        with pytest.raises(LedgerError, match="another task"):
            ReportStore(path, other, b"")
    ReportStore(path, "leader of a", b"").close()
    for bad in (tmp_path, tmp_path / "missing" / "store"):
        with pytest.raises(LedgerError, match="cannot be used"):
            ReportStore(bad, "x", b"")
    (tmp_path / "text").write_text("not a database, but long enough to be read as one" * 30)
    with pytest.raises(LedgerError, match="cannot be used"):
        ReportStore(tmp_path / "text", "x", b"")


def test_a_store_is_closed_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.sqlite"
    ReportStore(path, "leader", b"").close()
    path.chmod(0o644)
    ReportStore(path, "leader", b"").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(LedgerError, match="chmod 600") as raised:
        ReportStore(path, "leader", b"")
    assert "chmod 600" in raised.value.japanese
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    monkeypatch.undo()
    ReportStore(path, "leader", b"").close()  # and the refusal let go of the guard


def test_items_and_tasks_of_others_are_refused(pair: Pair, tmp_path: Path) -> None:
    other: Task = replace(pair.task, minimum_batch=4)
    with pytest.raises(ReportRefusedError, match="another kind, version or task"):
        pair.leader.take_report(make_report(other, 1))
    job = Job(0, (JobItem(bytes(16), b"", b"", b""),))
    with pytest.raises(ReportRefusedError):
        pair.helper.work_on(job.pack(other.digest))


def test_the_helper_itself_insists_on_the_minimum(pair: Pair) -> None:
    for value in (0, 1):
        pair.report(value)
    pair.leader.aggregate()
    batch = pair.leader.store.open_batch()
    with pytest.raises(AggregatorError, match="fewer than the 3"):
        pair.helper.give_share(ShareRequest(0, 2, batch.checksum).pack(pair.task.digest))
    small = pair.helper.store.batch(0)
    assert small is not None
    assert not small.closed
