"""What clients and the collector do: `send_report` and `collect_batch`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.collect.prio.limits import require_within_limits
from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.responses import ResponseEstimate, exact_estimates
from sudare.collect.prio.services.messages import (
    ANY_BATCH,
    Collection,
    CollectRequest,
    UploadedReport,
    purpose_of_aggregate,
    purpose_of_input,
)
from sudare.collect.prio.services.sealing import open_sealed, seal
from sudare.collect.prio.services.transport import TOKEN_HEADER, Caller
from sudare.collect.prio.task import HELPER, LEADER, CollectorKeys, Task
from sudare.errors import NotPrivateError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational

__all__ = ["CollectedBatch", "collect_batch", "make_report", "send_report"]

TRIES = 3
Randomize = Callable[[Any], Any]


@dataclass(frozen=True)
class CollectedBatch:
    """What a batch says.

    Attributes:
        batch: its number, with which it can be asked for again.
        reports: how many reports were added up.
        rejected: how many were dropped because they were not valid.
        result: the sum: a number for ``count`` and ``sum``, a list for the others.
        estimates: what it says about the people: with randomized response the unbiased estimates.
    """

    batch: int
    reports: int
    rejected: int
    result: Any
    estimates: tuple[ResponseEstimate, ...]


def make_report(
    task: Task,
    measurement: Any,
    *,
    randomize: Randomize | None = None,
    entropy: EntropySource | None = None,
    minimum_batch_at_least: int | None = None,
    epsilon_at_most: Rational | None = None,
) -> bytes:
    """A report of one measurement, ready to be sent: each share is sealed to its aggregator.

    Args:
        task: what is collected.
        measurement: what the task asks for.
        randomize: applied to the measurement before anything else; by default the task's randomized response, if it has
            one. A client may choose a stronger protection than the task's, but then the estimates are wrong.
        entropy: where the bits come from; the secure source by default, and no other one is taken.
        minimum_batch_at_least: the client's own limit: refuse a task that gives out sums over fewer reports.
        epsilon_at_most: the client's own limit: refuse a task by which a report costs more, or has no epsilon at all, if both
            aggregators conspire.

    Raises:
        InputError: if the task goes beyond a limit.
        NotPrivateError: if the bits would come from research entropy: anyone who knows the seed could read the value.
        ParameterError: if the measurement is not what the task asks for. It is not shown.
    """
    source = read_entropy(entropy, "make_report")
    if entropy_name(source) != "secure":
        raise NotPrivateError(
            Words(
                "The report would be drawn from research entropy: it is not private, and must not be sent.",
                "報告が研究用の乱数から引かれます。プライバシーは保護されないため、送信してはいけません。",
            )
        )
    require_within_limits(
        task,
        minimum_batch_at_least=minimum_batch_at_least,
        epsilon_at_most=epsilon_at_most,
        randomize=randomize,
        function="make_report",
    )
    chosen = randomize if randomize is not None else task.response
    value = measurement if chosen is None else chosen(measurement)
    report = task.prio.shard(value, task.ctx, source)
    sealed = [
        seal(task.key_of(role), purpose_of_input(role, task.digest, report.nonce, report.public_share), share)
        for role, share in zip((LEADER, HELPER), report.input_shares, strict=True)
    ]
    return UploadedReport(report.nonce, report.public_share, *sealed).pack(task.digest)


def send_report(
    task: Task,
    measurement: Any = None,
    *,
    report: bytes | None = None,
    randomize: Randomize | None = None,
    timeout: float = 30.0,
    authority: str | None = None,
    minimum_batch_at_least: int | None = None,
    epsilon_at_most: Rational | None = None,
) -> None:
    """Send one measurement to the leader. When this returns, the report is held durably.

    The report is made once; if no answer comes it is sent again as it is, and counts once however often it arrives.

    Args:
        task: what is collected.
        measurement: what the task asks for.
        report: what `make_report` made, instead of a measurement.
        randomize: see `make_report`.
        timeout: seconds to wait for an answer.
        authority: certificates to trust besides the system's.
        minimum_batch_at_least: see `make_report`; looked at before anything is sent.
        epsilon_at_most: see `make_report`; looked at before anything is sent.

    Raises:
        InputError: if the task goes beyond a limit.
        ParameterError: if the measurement is not what the task asks for. It is not shown.
        ReportRefusedError: if the leader refuses the report.
        AggregatorError: if the leader does not answer.
    """
    require_within_limits(
        task, minimum_batch_at_least=minimum_batch_at_least, epsilon_at_most=epsilon_at_most, randomize=randomize
    )
    made = make_report(task, measurement, randomize=randomize) if report is None else report
    caller = Caller(task.leader_url, LEADER, timeout=timeout, authority=authority)
    for left in range(TRIES - 1, -1, -1):
        try:
            caller.post("/report", made)
        except AggregatorError:
            if not left:
                raise
        else:
            return


def collect_batch(
    task: Task,
    keys: str | Path,
    batch: int | None = None,
    *,
    timeout: float = 600.0,
    authority: str | None = None,
) -> CollectedBatch:
    """Close the batch that is due, and add up the two aggregate shares. Only the collector can.

    A batch stays due until it has arrived: after any failure the next call brings the same one, with the same number.

    Args:
        task: what is collected.
        keys: folder with the collector's keys.
        batch: the number of a batch that was collected before, to get it once more.
        timeout: seconds to wait for the leader, which may have reports left to verify.
        authority: certificates to trust besides the system's.

    Raises:
        AggregatorError: if an aggregator does not answer, the batch is too small, the aggregators disagree, or their
            shares add up to what cannot be true. Nothing is lost.
    """
    secrets = CollectorKeys.read(keys, task)
    caller = Caller(task.leader_url, LEADER, timeout=timeout, authority=authority)
    token = {TOKEN_HEADER: secrets.token.hex()}
    request = CollectRequest(ANY_BATCH if batch is None else batch).pack(task.digest)
    try:
        answer = Collection.unpack(caller.post("/collect", request, token)[0], task.digest)
        about = task.digest, answer.batch, answer.reports, answer.checksum
        sealed = (LEADER, answer.leader_sealed), (HELPER, answer.helper_sealed)
        shares = [open_sealed(secrets.private, purpose_of_aggregate(role, *about), text) for role, text in sealed]
        result = task.prio.unshard(shares, answer.reports)
    except ReportRefusedError as problem:
        raise AggregatorError(
            f"The aggregators' answer cannot be used. {problem.english}",
            f"集計者の応答を使用できません。{problem.japanese}",
        ) from None
    totals = result if isinstance(result, list) else [result]
    if answer.reports < task.minimum_batch or not _possible(task, totals, answer.reports):
        raise AggregatorError(
            "The two aggregate shares add up to what this number of valid reports cannot give. An aggregator is faulty or "
            "lies; the result is not shown.",
            "二つの集計シェアの和は、この数の正しい報告からはあり得ない値です。集計者に不具合または不正があります。結果は表示されません。",
        )
    caller.post("/collected", CollectRequest(answer.batch).pack(task.digest), token)
    return CollectedBatch(
        answer.batch, answer.reports, answer.rejected, result, _estimates(task, totals, answer.reports)
    )


def _possible(task: Task, totals: list[int], reports: int) -> bool:
    if any(total > reports * task.prio.circuit.largest for total in totals):
        return False
    if task.measured.variant == "histogram":
        return sum(totals) == reports
    if task.measured.variant == "multihot":
        return sum(totals) <= reports * (task.measured.max_weight or 0)
    return True


def _estimates(task: Task, totals: list[int], reports: int) -> tuple[ResponseEstimate, ...]:
    response = task.response
    if response is None:
        return tuple(exact_estimates(totals))
    if task.measured.variant == "count":
        return (response.estimate([reports - totals[0], totals[0]])[1],)
    return tuple(response.estimate(totals))
