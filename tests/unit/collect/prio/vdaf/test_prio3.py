"""Prio3: the plain twin byte for byte, round trips, and everything that must be rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sudare.collect.prio import (
    Prio3,
    Prio3Count,
    Prio3Histogram,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
    Prio3SumVecWithMultiproof,
    ReportRefusedError,
    Reports,
)
from sudare.collect.prio.vdaf.variants import Prio3HigherDegree
from sudare.errors import ParameterError
from sudare.noise import ResearchEntropy
from tests.unit.collect.prio import naive

KEY, CTX = bytes(range(100, 132)), b"a task"
Rows = np.ndarray[Any, np.dtype[np.uint8]]


@dataclass
class Case:
    name: str
    make: Callable[[int], Prio3]
    twin: Callable[[int], naive.Prio3]
    measurements: list[Any]
    result: Any


CASES = [
    Case("count", Prio3Count, lambda n: naive.Prio3(naive.Count(), 1, n), [True, 0, 1], 2),
    Case("sum", lambda n: Prio3Sum(37, n), lambda n: naive.Prio3(naive.Sum(37), 2, n), [0, 37, 36, 5], 78),
    Case(
        "sumvec",
        lambda n: Prio3SumVec(3, 5, 2, n),
        lambda n: naive.Prio3(naive.SumVec(3, 5, 2), 3, n),
        [[0, 5, 1], [4, 4, 0]],
        [4, 9, 1],
    ),
    Case(
        "multiproof",
        lambda n: Prio3SumVecWithMultiproof(3, 5, 4, n),
        lambda n: naive.Prio3(naive.SumVec(3, 5, 4, naive.FIELD64), 0xFFFFFFFF, n, 3),
        [[0, 5, 1], [4, 4, 0]],
        [4, 9, 1],
    ),
    Case(
        "histogram",
        lambda n: Prio3Histogram(7, 3, n),
        lambda n: naive.Prio3(naive.Histogram(7, 3), 4, n),
        [0, 6, 3, 3],
        [1, 0, 0, 2, 0, 0, 1],
    ),
    Case(
        "multihot",
        lambda n: Prio3MultihotCountVec(5, 3, 2, n),
        lambda n: naive.Prio3(naive.MultihotCountVec(5, 3, 2), 5, n),
        [[0, 0, 0, 0, 0], [True, True, False, False, True]],
        [1, 1, 0, 0, 1],
    ),
    Case(
        "degree 3",
        Prio3HigherDegree,
        lambda n: naive.Prio3(naive.HigherDegree(), 0xFFFFFFFF, n),
        [0, 1, 2, 2],
        5,
    ),
]
EACH = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def rows(*data: bytes) -> Rows:
    return np.frombuffer(b"".join(data), dtype=np.uint8).reshape(len(data), len(data[0]))


def verify(
    prio: Prio3, reports: Reports, key: bytes = KEY, contexts: tuple[bytes, ...] = ()
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]], list[Rows]]:
    """Which reports every aggregator accepts, and their output shares."""
    found = [
        prio.verify_init_many(
            key,
            (contexts or (CTX,) * prio.shares)[i],
            i,
            reports.nonces,
            reports.public_shares,
            reports.input_shares[i],
        )
        for i in range(prio.shares)
    ]
    messages, accepted = prio.verifier_shares_to_message_many(CTX, [each.verifier_shares for each in found])
    for each in found:
        accepted &= prio.verify_next_many(each, messages)
    return accepted, [each.output_shares for each in found]


@EACH
@pytest.mark.parametrize("shares", [2, 3])
def test_round_trips_through_every_step(case: Case, shares: int) -> None:
    prio = case.make(shares)
    outputs = []
    for measurement in case.measurements:
        report = prio.shard(measurement, CTX)
        states, told = zip(
            *(
                prio.verify_init(KEY, CTX, i, report.nonce, report.public_share, share)
                for i, share in enumerate(report.input_shares)
            ),
            strict=True,
        )
        message = prio.verifier_shares_to_message(CTX, list(told))
        outputs.append([prio.verify_next(CTX, state, message) for state in states])
    aggregates = [prio.aggregate([output[i] for output in outputs]) for i in range(shares)]
    assert prio.unshard(aggregates, len(outputs)) == case.result


@EACH
@pytest.mark.parametrize("shares", [2, 3])
def test_the_plain_twin_makes_the_same_bytes(case: Case, shares: int) -> None:
    prio, twin = case.make(shares), case.twin(shares)
    count = len(case.measurements)
    rand = ResearchEntropy(5).words(count * prio.random_size // 8).view(np.uint8).reshape(count, -1)
    nonces = ResearchEntropy(6).words(count * 2).view(np.uint8).reshape(count, 16)
    reports = prio.shard_encoded(prio.circuit.encode(case.measurements), CTX, nonces, rand)
    found = [
        prio.verify_init_many(KEY, CTX, i, nonces, reports.public_shares, reports.input_shares[i])
        for i in range(shares)
    ]
    messages, accepted = prio.verifier_shares_to_message_many(CTX, [each.verifier_shares for each in found])
    assert accepted.all()
    for row, measurement in enumerate(case.measurements):
        nonce = nonces[row].tobytes()
        public, inputs = twin.shard(CTX, measurement, nonce, rand[row].tobytes())
        assert (reports[row].public_share, list(reports[row].input_shares)) == (public, inputs)
        told = []
        for i in range(shares):
            verifier, output, seed = twin.verify_init(KEY, CTX, i, nonce, public, inputs[i])
            assert found[i].verifier_shares[row].tobytes() == verifier
            assert found[i].output_shares[row].tobytes() == output
            assert found[i].joint_seeds[row].tobytes() == seed
            told.append(verifier)
        assert twin.combine(CTX, told) == messages[row].tobytes()


@EACH
def test_a_batch_larger_than_a_block(case: Case) -> None:
    prio = case.make(2)
    many = (case.measurements * 150)[:300]
    reports = prio.shard_many(many, CTX)
    accepted, outputs = verify(prio, reports)
    assert accepted.all()
    assert len({reports.nonces[i].tobytes() for i in range(300)}) == 300
    aggregates = [prio.aggregate(output) for output in outputs]
    expected = np.zeros(prio.circuit.output_length, dtype=np.int64)
    for measurement in many:
        expected += _as_output(prio, measurement)
    found = prio.unshard(aggregates, 300)
    assert (found if isinstance(found, list) else [found]) == expected.tolist()


def _as_output(prio: Prio3, measurement: Any) -> Any:
    field = prio.circuit.field
    return np.array(field.integers(prio.circuit.truncate(field.small(prio.circuit.encode([measurement])))[0]))


def test_an_empty_batch() -> None:
    prio = Prio3SumVec(2, 3)
    reports = prio.shard_many([], CTX)
    accepted, outputs = verify(prio, reports)
    assert len(reports) == accepted.size == 0
    assert prio.unshard([prio.aggregate(output) for output in outputs], 0) == [0, 0]


# What must be rejected.


def with_flips(data: Rows, places: range) -> tuple[Rows, int]:
    """Copies of one row, each with one bit flipped at another of the places."""
    copies = np.repeat(data[:1], len(places), axis=0)
    for copy, place in enumerate(places):
        copies[copy, place] ^= 1 << (place % 8)
    return copies, len(places)


def repeated(reports: Reports, count: int) -> Reports:
    return Reports(
        np.repeat(reports.nonces[:1], count, axis=0),
        np.repeat(reports.public_shares[:1], count, axis=0),
        tuple(np.repeat(share[:1], count, axis=0) for share in reports.input_shares),
    )


@EACH
def test_every_flipped_bit_of_a_report_is_rejected(case: Case) -> None:
    prio = case.make(2)
    report = prio.shard_many(case.measurements[-1:], CTX)
    assert verify(prio, report)[0].all()
    for which in range(2):
        flipped, count = with_flips(report.input_shares[which], range(0, prio.input_share_size(which), 3))
        inputs = list(repeated(report, count).input_shares)
        inputs[which] = flipped
        base = repeated(report, count)
        assert not verify(prio, Reports(base.nonces, base.public_shares, tuple(inputs)))[0].any()
    if prio.public_share_size:
        flipped, count = with_flips(report.public_shares, range(prio.public_share_size))
        base = repeated(report, count)
        assert not verify(prio, Reports(base.nonces, flipped, base.input_shares))[0].any()
        # Without common randomness the nonce enters only the query, so any nonce will do; it is bound by the seal.
        flipped, count = with_flips(report.nonces, range(16))
        base = repeated(report, count)
        assert not verify(prio, Reports(flipped, base.public_shares, base.input_shares))[0].any()


@EACH
def test_every_flipped_bit_of_a_verification_is_rejected(case: Case) -> None:
    prio = case.make(2)
    report = prio.shard(case.measurements[-1], CTX)
    (first, told), (_, heard) = (
        prio.verify_init(KEY, CTX, i, report.nonce, report.public_share, report.input_shares[i]) for i in range(2)
    )
    numbers = len(told) - prio.message_size
    for which, share in enumerate((told, heard)):
        flipped, count = with_flips(rows(share), range(len(share)))
        pair = [np.repeat(rows(told), count, axis=0), np.repeat(rows(heard), count, axis=0)]
        pair[which] = flipped
        messages, accepted = prio.verifier_shares_to_message_many(CTX, pair)
        assert not accepted[:numbers].any()
        # A changed part of the common randomness shows in the message, which each aggregator compares with its own.
        assert all(messages[i].tobytes() != first.joint_seed for i in range(numbers, count))
    if prio.message_size:
        message = prio.verifier_shares_to_message(CTX, [told, heard])
        for i in range(len(message)):
            with pytest.raises(ReportRefusedError):
                prio.verify_next(CTX, first, message[:i] + bytes([message[i] ^ 1]) + message[i + 1 :])


@EACH
def test_aggregators_that_differ_in_key_or_context_reject(case: Case) -> None:
    prio = case.make(2)
    reports = prio.shard_many(case.measurements, CTX)
    assert not verify(prio, reports, contexts=(CTX, b"another task"))[0].any()
    found = [
        prio.verify_init_many(key, CTX, i, reports.nonces, reports.public_shares, reports.input_shares[i])
        for i, key in enumerate((KEY, bytes(32)))
    ]
    assert not prio.verifier_shares_to_message_many(CTX, [each.verifier_shares for each in found])[1].any()


INVALID: list[tuple[Prio3, list[int]]] = [
    (Prio3Count(), [2]),
    (Prio3Count(), [naive.FIELD64 - 1]),
    (Prio3HigherDegree(), [3]),
    (Prio3Sum(10), [2, 0, 0, 0]),
    (Prio3Sum(10), [0, 0, 0, 1000]),
    (Prio3Sum(10), [naive.FIELD64 - 1, 0, 0, 0]),
    (Prio3Histogram(4), [1, 1, 0, 0]),
    (Prio3Histogram(4), [0, 0, 0, 0]),
    (Prio3Histogram(4), [0, 2, 0, 0]),
    (Prio3Histogram(4, 1), [2**63, 0, 0, 0]),
    (Prio3MultihotCountVec(4, 2), [1, 1, 1, 0, 1, 1]),
    (Prio3MultihotCountVec(4, 2), [1, 0, 0, 0, 0, 0]),
    (Prio3MultihotCountVec(4, 2), [3, 0, 0, 0, 1, 1]),
    (Prio3SumVec(2, 5), [0, 0, 2, 0, 0, 0]),
    (Prio3SumVecWithMultiproof(2, 5), [0, 0, 2, 0, 0, 0]),
]


@pytest.mark.parametrize(("prio", "encoded"), INVALID)
def test_invalid_measurements_are_rejected(prio: Prio3, encoded: list[int]) -> None:
    count = 50
    many = np.repeat(np.array([encoded], dtype=np.uint64), count, axis=0)
    raw = ResearchEntropy(9).words(count * (16 + prio.random_size) // 8).view(np.uint8).reshape(count, -1)
    reports = prio.shard_encoded(many, CTX, raw[:, :16], raw[:, 16:])
    accepted, _ = verify(prio, reports)
    assert not accepted.any()


def test_numbers_outside_the_field_and_wrong_lengths_are_refused() -> None:
    prio = Prio3Histogram(3)
    report = prio.shard(1, CTX)
    outside = (prio.circuit.field.modulus).to_bytes(16, "little")
    first = report.input_shares[0]
    for bad in (outside + first[16:], first[:-1], first + b"\0", b"", first[16:]):
        with pytest.raises(ReportRefusedError, match="malformed"):
            prio.verify_init(KEY, CTX, 0, report.nonce, report.public_share, bad)
    for nonce, public in ((report.nonce[:-1], report.public_share), (report.nonce, report.public_share + b"\0")):
        with pytest.raises(ReportRefusedError, match="malformed"):
            prio.verify_init(KEY, CTX, 0, nonce, public, first)
    told = [
        prio.verify_init(KEY, CTX, i, report.nonce, report.public_share, report.input_shares[i])[1] for i in range(2)
    ]
    with pytest.raises(ReportRefusedError):
        prio.verifier_shares_to_message(CTX, [outside + told[0][16:], told[1]])
    with pytest.raises(ReportRefusedError):
        prio.verifier_shares_to_message(CTX, [told[0][:-1], told[1]])
    with pytest.raises(ParameterError):
        prio.verifier_shares_to_message(CTX, told[:1])
    with pytest.raises(ReportRefusedError):
        prio.aggregate([outside * 3])
    with pytest.raises(ReportRefusedError):
        prio.unshard([bytes(48), bytes(47)], 1)
    with pytest.raises(ParameterError):
        prio.unshard([bytes(48)], 1)


def test_numbers_are_written_in_one_way_only() -> None:
    prio = Prio3Count()
    report = prio.shard(1, CTX)
    told = [prio.verify_init(KEY, CTX, i, report.nonce, b"", report.input_shares[i])[1] for i in range(2)]
    field = prio.circuit.field
    total = field.encode(
        field.add(*(field.decode(np.frombuffer(share, dtype=np.uint8))[0] for share in told))
    ).tobytes()
    assert prio.verifier_shares_to_message(CTX, [total, bytes(32)]) == b""
    # p stands for 0 as well, but is not how 0 is written.
    other = field.modulus.to_bytes(8, "little") + bytes(24)
    for shares in ([total, other], [other, total]):
        with pytest.raises(ReportRefusedError):
            prio.verifier_shares_to_message(CTX, shares)


def test_a_batch_compares_messages_report_by_report() -> None:
    prio = Prio3Histogram(3)
    reports = prio.shard_many([0, 1, 2], CTX)
    found = [
        prio.verify_init_many(KEY, CTX, i, reports.nonces, reports.public_shares, reports.input_shares[i])
        for i in range(2)
    ]
    messages, _ = prio.verifier_shares_to_message_many(CTX, [each.verifier_shares for each in found])
    messages[1, 31] ^= 1
    for each in found:
        assert prio.verify_next_many(each, messages).tolist() == [True, False, True]


def test_one_bad_report_does_not_spoil_its_batch() -> None:
    prio = Prio3Histogram(3)
    reports = prio.shard_many([0, 1, 2], CTX)
    reports.input_shares[0][1, :16] = np.frombuffer((2**128 - 1).to_bytes(16, "little"), dtype=np.uint8)
    accepted, _ = verify(prio, reports)
    assert accepted.tolist() == [True, False, True]


def test_keys_shares_and_sums_are_checked() -> None:
    prio = Prio3Sum(2**62)
    report = prio.shard(1, CTX)
    for key in (b"", bytes(31), bytes(33), "x" * 32):
        with pytest.raises(ParameterError, match="not shown"):
            prio.verify_init(key, CTX, 0, report.nonce, b"", report.input_shares[0])  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="aggregator"):
        prio.verify_init(KEY, CTX, 2, report.nonce, b"", report.input_shares[0])
    with pytest.raises(ParameterError, match="count"):
        prio.unshard([bytes(8), bytes(8)], 4)
    for shares in (1, 256, True, 2.0):
        with pytest.raises(ParameterError, match="shares"):
            Prio3Count(shares)  # type: ignore[arg-type]


# What one aggregator sees.


def surprise(octets: Rows) -> float:
    """The probability that uniform bytes look at least as uneven as these."""
    counts = np.bincount(octets.ravel(), minlength=256)
    return float(stats.chisquare(counts).pvalue)


@pytest.mark.parametrize("value", [0, 3])
def test_one_share_alone_is_uniform(value: int) -> None:
    prio = Prio3Histogram(4, 2)
    reports = prio.shard_many([value] * 2000, CTX, ResearchEntropy(11 + value))
    numbers = 16 * prio.circuit.measurement_length
    # The top byte of a number below p = 2**128 - 7 * 2**66 + 1 is uniform up to 2**-59, like all the others.
    assert surprise(reports.input_shares[0][:, :numbers]) > 1e-6
    assert surprise(reports.input_shares[0][:, numbers:-32]) > 1e-6
    assert surprise(reports.input_shares[1]) > 1e-6
    found = prio.verify_init_many(KEY, CTX, 0, reports.nonces, reports.public_shares, reports.input_shares[0])
    assert surprise(found.verifier_shares) > 1e-6
    assert surprise(found.output_shares) > 1e-6


def test_a_twin_that_forgets_the_mask_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    prio = Prio3Histogram(4, 2)
    honest = Prio3._expand_helper

    def forgetful(self: Prio3, ctx: bytes, aggregator: int, seeds: Rows) -> Any:
        share, proof = honest(self, ctx, aggregator, seeds)
        return np.zeros_like(share), proof

    monkeypatch.setattr(Prio3, "_expand_helper", forgetful)
    reports = prio.shard_many([0] * 2000, CTX, ResearchEntropy(11))
    assert verify(prio, reports)[0].all(), "the broken twin works otherwise"
    assert surprise(reports.input_shares[0][:, : 16 * 4]) < 1e-100


def test_shares_of_one_measurement_never_repeat() -> None:
    prio = Prio3Histogram(4)
    first, second = prio.shard(2, CTX), prio.shard(2, CTX)
    assert first.nonce != second.nonce
    assert not set(first.input_shares) & set(second.input_shares)


@pytest.mark.parametrize("shares", [2, 3])
@pytest.mark.parametrize("proofs", [1, 3])
def test_a_wrong_part_in_the_public_share_is_rejected_by_whom_it_is_about(
    shares: int, proofs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a proof that passes under any randomness, only the aggregator's own look at its part is left."""
    prio = Prio3SumVec(3, 7, 3, shares) if proofs == 1 else Prio3SumVecWithMultiproof(3, 7, 3, shares)
    honest = prio._system.prove
    monkeypatch.setattr(prio._system, "prove", lambda *arguments: honest(*arguments) * 0)
    report = prio.shard([7, 7, 7], CTX)
    for which in range(-1, shares):
        public = bytearray(report.public_share)
        if which >= 0:
            public[32 * which] ^= 1
        found = [
            prio.verify_init(KEY, CTX, i, report.nonce, bytes(public), report.input_shares[i]) for i in range(shares)
        ]
        message = prio.verifier_shares_to_message(CTX, [told for _, told in found])
        accepted = []
        for state, _ in found:
            try:
                prio.verify_next(CTX, state, message)
                accepted.append(True)
            except ReportRefusedError:
                accepted.append(False)
        # All or nobody: the one it is about by its own look, the others because they computed with what is stated.
        assert accepted == [which < 0] * shares
