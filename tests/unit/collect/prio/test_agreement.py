"""Whatever a client sends, leader and helper accept the same reports, and nobody else's report waits for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.collect.prio import AggregatorError, ReportRefusedError, TaskMeasurement, make_report
from sudare.collect.prio.services.aggregators import Helper
from sudare.collect.prio.services.messages import Job, JobAnswer, UploadedReport
from sudare.collect.prio.vdaf.prio3 import SEED_SIZE
from sudare.collect.prio.vdaf.reports import Report
from tests.unit.collect.prio.pairs import Pair, seal_report, unproved_report

JOINT = {
    "sumvec": (TaskMeasurement("sumvec", length=3, max_measurement=7), [7, 7, 7], [1] * 9),
    "multihot": (TaskMeasurement("multihot", length=2, max_weight=2), [1, 1], [1] * 4),
    "histogram of one value": (TaskMeasurement("histogram", length=1), 0, [1]),
}
PLAIN = {
    "count": (TaskMeasurement("count"), 1, [1]),
    "sum": (TaskMeasurement("sum", max_measurement=7), 7, [1, 1, 1]),
    "histogram": (TaskMeasurement("histogram", length=3), 2, [0, 0, 1]),
}
ALL: dict[str, tuple[TaskMeasurement, Any, list[int]]] = {**JOINT, **PLAIN}


MakePair = Callable[..., Pair]


@pytest.fixture
def make_pair(tmp_path: Path) -> Iterator[MakePair]:
    with ExitStack() as stack:
        numbers = iter(range(100))

        def make(measured: TaskMeasurement | None = None) -> Pair:
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            return stack.enter_context(closing(Pair(folder, measured)))

        yield make


def flipped(data: bytes, at: int) -> bytes:
    changed = bytearray(data)
    changed[at] ^= 1
    return bytes(changed)


def with_public(change: Callable[[bytes, bytes], bytes]) -> Callable[[Report], Report]:
    return lambda report: replace(
        report, public_share=change(report.public_share[:SEED_SIZE], report.public_share[SEED_SIZE:])
    )


def with_input(which: int, change: Callable[[bytes], bytes]) -> Callable[[Report], Report]:
    def changed(report: Report) -> Report:
        shares = list(report.input_shares)
        shares[which] = change(shares[which])
        return replace(report, input_shares=tuple(shares))

    return changed


IN_PUBLIC: dict[str, Callable[[Report], Report]] = {
    "helper part": with_public(lambda leader, helper: leader + flipped(helper, 5)),
    "leader part": with_public(lambda leader, helper: flipped(leader, 5) + helper),
    "both parts": with_public(lambda leader, helper: flipped(leader, 0) + flipped(helper, 31)),
    "swapped parts": with_public(lambda leader, helper: helper + leader),
    "zeros": with_public(lambda leader, helper: bytes(2 * SEED_SIZE)),
    "leader part twice": with_public(lambda leader, helper: leader * 2),
    "helper part twice": with_public(lambda leader, helper: helper * 2),
}
IN_SHARES: dict[str, Callable[[Report], Report]] = {
    "leader measurement": with_input(0, lambda share: flipped(share, 0)),
    "leader outside the field": with_input(0, lambda share: b"\xff" * 16 + share[16:]),
    "leader end": with_input(0, lambda share: flipped(share, len(share) - 1)),
    "helper seed": with_input(1, lambda share: flipped(share, 0)),
    "helper end": with_input(1, lambda share: flipped(share, len(share) - 1)),
    "nonce": lambda report: replace(report, nonce=flipped(report.nonce, 3)),
}


def bad_seals(report: UploadedReport) -> list[UploadedReport]:
    """Well-formed uploads whose seals are not those of the report; each under a nonce of its own."""
    leader, helper = report.leader_sealed, report.helper_sealed
    changed = [
        {"leader_sealed": flipped(leader, 40)},
        {"helper_sealed": flipped(helper, 40)},
        {"leader_sealed": bytes(len(leader))},  # a point of low order as its key
        {"helper_sealed": bytes(len(helper))},
        {"helper_sealed": b"\x01" + bytes(31) + helper[32:]},
        {"helper_sealed": b"\xff" * len(helper)},
        {"leader_sealed": b"\xff" * len(leader), "helper_sealed": b"\xff" * len(helper)},
    ]
    return [replace(report, nonce=os.urandom(16), **parts) for parts in changed]


@pytest.mark.parametrize("variant", JOINT)
def test_a_wrong_helper_part_in_a_public_share_stops_nobody(make_pair: MakePair, variant: str) -> None:
    """The largest value needs no joint randomness to pass: only the aggregators' own look at the public share is left."""
    measured, value, encoded = JOINT[variant]
    pair = make_pair(measured)
    bad = IN_PUBLIC["helper part"](unproved_report(pair.task, encoded))
    pair.take(seal_report(pair.task, bad))
    for _ in range(3):
        pair.report(value)
    found = pair.collect()
    assert (found.reports, found.rejected) == (3, 1)
    helper = pair.helper.store.batch(0)
    assert helper is not None
    assert (helper.reports, helper.rejected, helper.checksum) == (3, 1, found.checksum)


def test_the_unproved_report_passes_where_its_public_share_is_right(make_pair: MakePair) -> None:
    """The control: what makes the others fail is the public share, and nothing else."""
    for measured, _, encoded in JOINT.values():
        pair = make_pair(measured)
        for _ in range(3):
            pair.take(seal_report(pair.task, unproved_report(pair.task, encoded)))
        found = pair.collect()
        assert (found.reports, found.rejected) == (3, 0)


@pytest.mark.parametrize("variant", ALL)
def test_both_accept_the_same_reports_whatever_is_wrong_with_some(make_pair: MakePair, variant: str) -> None:
    measured, value, encoded = ALL[variant]
    pair = make_pair(measured)
    changes = {**(IN_PUBLIC if pair.task.prio.public_share_size else {}), **IN_SHARES}
    honest: set[bytes] = set()
    bad: list[UploadedReport] = []
    for change in changes.values():
        made = [pair.task.prio.shard(value, pair.task.ctx)]
        if variant in JOINT:
            made.append(unproved_report(pair.task, encoded))
        bad += [seal_report(pair.task, change(report)) for report in made]
        honest.add(UploadedReport.unpack(pair.report(value), pair.task.digest).nonce)
    bad += bad_seals(seal_report(pair.task, pair.task.prio.shard(value, pair.task.ctx)))
    pair.take(*bad)
    pair.leader.aggregate()
    leader, helper = pair.accepted()
    assert leader == helper
    assert honest <= leader
    # A nonce enters the joint randomness; without it, and with a proof that needs no point, another nonce is as good.
    harmless = {report.nonce for report in bad} & leader
    assert len(harmless) <= (0 if pair.task.prio.public_share_size else 1)
    total = pair.result(pair.collect())
    wanted = sum(value) if isinstance(value, list) else 1 if variant.startswith("histogram") else value
    assert (sum(total) if isinstance(total, list) else total) == wanted * len(leader)


def test_the_second_of_two_reports_with_one_nonce_is_refused_and_a_replay_counts_once(make_pair: MakePair) -> None:
    pair = make_pair(JOINT["sumvec"][0])
    first = pair.task.prio.shard([7, 7, 7], pair.task.ctx)
    second = replace(pair.task.prio.shard([0, 0, 0], pair.task.ctx), nonce=first.nonce)
    kept = seal_report(pair.task, first)
    pair.take(kept)
    for _ in range(2):
        pair.take(kept)
        with pytest.raises(ReportRefusedError, match="same nonce"):
            pair.take(seal_report(pair.task, second))
        pair.leader.aggregate()
    assert pair.accepted() == ({first.nonce}, {first.nonce})


@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_mutated_uploads_never_break_a_round(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    with closing(Pair(tmp_path_factory.mktemp("pair"), JOINT["multihot"][0])) as pair:
        good = make_report(pair.task, [1, 0])
        for _ in range(5):
            changed = bytearray(good)
            changed[38:54] = os.urandom(16)
            for _ in range(data.draw(st.integers(1, 3))):
                changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
            try:
                pair.leader.take_report(bytes(changed))
            except ReportRefusedError:
                continue
        pair.leader.take_report(good)
        pair.leader.aggregate()
        leader, helper = pair.accepted()
        assert leader == helper == {UploadedReport.unpack(good, pair.task.digest).nonce}


# What a faulty helper does: a report that fails again and again is given up on both sides, and the others go on.


def breaks_on(pair: Pair, nonce: bytes, kills: bool = False) -> Callable[[str, bytes], bytes]:
    """A helper that fails whenever it is asked about one report; it dies of it, and is back for the next round."""
    dead = [False]

    def wire(path: str, body: bytes) -> bytes:
        if path == "/job":
            if dead[0]:
                dead[0] = False
                raise AggregatorError("gone", "不在")
            if nonce in [item.nonce for item in Job.unpack(body, pair.task.digest).items]:
                dead[0] = kills
                raise AggregatorError("failed", "失敗")
        return pair.direct(path, body)

    return wire


def test_a_report_that_the_helper_fails_on_is_given_up_and_the_others_go_on(make_pair: MakePair) -> None:
    pair = make_pair()
    nonces = [UploadedReport.unpack(pair.report(i % 3), pair.task.digest).nonce for i in range(9)]
    pair.wire = breaks_on(pair, nonces[4])
    found = pair.collect()
    assert (found.reports, found.rejected) == (8, 1)
    assert pair.result(found) == [3, 2, 3]
    assert pair.accepted()[0] == pair.accepted()[1] == set(nonces) - {nonces[4]}


def test_a_report_that_the_helper_dies_of_is_given_up_after_some_rounds(make_pair: MakePair) -> None:
    pair = make_pair()
    nonces = [UploadedReport.unpack(pair.report(i % 3), pair.task.digest).nonce for i in range(9)]
    pair.wire = breaks_on(pair, nonces[4], kills=True)
    for _ in range(12):
        try:
            pair.leader.aggregate()
        except AggregatorError:
            continue
        break
    found = pair.collect()
    assert (found.reports, found.rejected) == (8, 1)


def test_a_helper_that_is_away_costs_no_report(make_pair: MakePair) -> None:
    pair = make_pair()
    for value in (0, 1, 2):
        pair.report(value)

    def away(path: str, body: bytes) -> bytes:
        raise AggregatorError("gone", "不在")

    pair.wire = away
    for _ in range(10):
        with pytest.raises(AggregatorError, match="gone"):
            pair.leader.aggregate()
    pair.wire = pair.direct
    assert pair.collect().reports == 3


def test_a_report_that_an_older_helper_accepted_is_withdrawn_on_both_sides(
    make_pair: MakePair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A helper without the look at its own part has added the report up already: its share is taken out again."""
    measured, value, encoded = JOINT["sumvec"]
    pair = make_pair(measured)
    bad = IN_PUBLIC["helper part"](unproved_report(pair.task, encoded))
    pair.take(seal_report(pair.task, bad))
    careless = Helper._verify

    def without_the_look(self: Helper, *arguments: Any) -> None:
        honest = self.prio.verify_init_many

        def look_away(*given: Any) -> Any:
            found = honest(*given)
            return replace(found, consistent=found.readable)

        monkeypatch.setattr(self.prio, "verify_init_many", look_away)
        careless(self, *arguments)
        monkeypatch.setattr(self.prio, "verify_init_many", honest)

    with monkeypatch.context() as patch:
        patch.setattr(Helper, "_verify", without_the_look)
        with pytest.raises(AggregatorError, match="contradicts"):
            pair.leader.aggregate()
    helper = pair.helper.store.batch(0)
    assert helper is not None
    assert helper.reports == 1, "the careless helper has it in its sum"
    for _ in range(3):
        pair.report(value)
    rounds = 0
    while True:
        try:
            found = pair.collect()
        except AggregatorError:
            rounds += 1
            assert rounds < 5
            continue
        break
    assert (found.reports, found.rejected) == (3, 1)
    assert pair.result(found) == [21, 21, 21]


def test_a_withdrawal_is_noted_once_and_never_after_a_batch_is_closed(make_pair: MakePair) -> None:
    pair = make_pair()
    for value in (0, 1, 2, 2):
        pair.report(value)
    pair.leader.aggregate()
    job = Job.unpack(next(body for path, body in pair.sent if path == "/job"), pair.task.digest)
    one = Job(0, job.items[:1]).pack(pair.task.digest)
    for _ in range(2):
        answer = JobAnswer.unpack(pair.helper.answer("/withdraw", one), pair.task.digest)
        assert [outcome.message for outcome in answer.outcomes] == [None]
        batch = pair.helper.store.batch(0)
        assert batch is not None
        assert (batch.reports, batch.rejected) == (3, 1)
    # Nothing but the very question may be withdrawn.
    other = Job(0, (replace(job.items[1], verifier_share=b""),)).pack(pair.task.digest)
    with pytest.raises(AggregatorError, match="same reports"):
        pair.helper.answer("/withdraw", other)
    # The leader does not know of it: nothing is given out where the two disagree.
    with pytest.raises(AggregatorError, match="same reports"):
        pair.collect()
    pair.helper.store.close_batch(0)
    with pytest.raises(AggregatorError, match="closed"):
        pair.helper.answer("/withdraw", Job(0, job.items[2:3]).pack(pair.task.digest))
