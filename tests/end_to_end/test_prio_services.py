"""Two aggregators as real processes: crashes, replays, lies, and what each of them gets to see."""

from __future__ import annotations

import http.client
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from sudare.collect.prio import (
    AggregatorError,
    ReportRefusedError,
    Task,
    TaskMeasurement,
    collect_batch,
    create_task,
    make_report,
    send_report,
)
from sudare.collect.prio.services.messages import UploadedReport, purpose_of_input
from sudare.collect.prio.services.sealing import open_sealed
from tests.end_to_end.test_prio_command import free_ports
from tests.processes import Program
from tests.unit.collect.prio.pairs import seal_report, unproved_report

pytestmark = pytest.mark.slow

SERVE = """
import sys
from sudare.collect.prio import serve_aggregator
{lie}
role, store, task, keys, port = sys.argv[1:]
serve_aggregator(role, store, task, keys, port=int(port), pause=None, announce=lambda port: print("listening", flush=True))
"""

CRASH_BEFORE_ANSWER = """
import os, signal
from sudare.collect.prio.services.aggregators import Helper
honest = Helper.work_on
def work_on(self, message):
    honest(self, message)
    os.kill(os.getpid(), signal.SIGKILL)
Helper.work_on = work_on
"""

CRASH_BEFORE_NOTING = """
import os, signal
from sudare.collect.prio.services.aggregators import Helper
Helper.work_on = lambda self, message: os.kill(os.getpid(), signal.SIGKILL)
"""

WRONG_VERIFIER_SHARE = """
from sudare.collect.prio.vdaf.prio3 import Prio3
honest = Prio3.verify_init_many
def lie(self, *arguments):
    found = honest(self, *arguments)
    found.verifier_shares[:, 0] ^= 1
    return found
Prio3.verify_init_many = lie
"""

WRONG_MESSAGE = """
from dataclasses import replace
from sudare.collect.prio.services.aggregators import Helper
from sudare.collect.prio.services.messages import JobAnswer
honest = Helper.work_on
def work_on(self, message):
    answer = JobAnswer.unpack(honest(self, message), self.task.digest)
    lies = tuple(replace(outcome, message=bytes(32)) for outcome in answer.outcomes)
    return JobAnswer(lies).pack(self.task.digest)
Helper.work_on = work_on
"""

WRONG_AGGREGATE = """
from dataclasses import replace
from sudare.collect.prio.services.aggregators import PrioAggregator
honest = PrioAggregator._sealed_aggregate
def lie(self, batch):
    changed = bytearray(batch.aggregate)
    changed[3] ^= 1
    return honest(self, replace(batch, aggregate=bytes(changed)))
PrioAggregator._sealed_aggregate = lie
"""

DROPS_REPORTS = """
from sudare.collect.prio.services.aggregators import Helper
from sudare.collect.prio.services.store import ReportStore
honest = ReportStore.settle
def settle(self, batch, records, aggregate):
    honest(self, batch, records, aggregate)
    with self._transaction() as database:
        database.execute("UPDATE batches SET reports = reports + 1")
ReportStore.settle = settle
"""


@dataclass
class Deployment:
    folder: Path
    task: Task

    @contextmanager
    def running(self, role: str, lie: str = "") -> Iterator[Program]:
        url = self.task.leader_url if role == "leader" else self.task.helper_url
        port = url.rsplit(":", 1)[1]
        arguments = [role, str(self.store(role)), str(self.folder / "task.json"), str(self.folder / role), port]
        with TemporaryDirectory() as folder:
            program = Program(SERVE.format(lie=lie), arguments, Path(folder))
            try:
                program.wait_for("listening")
                yield program
            finally:
                program.kill()
                assert program.errors == "", "an aggregator writes nothing, whatever it meets"

    def store(self, role: str) -> Path:
        return self.folder / f"{role}.sqlite"

    def collect(self, **options: Any) -> Any:
        return collect_batch(self.task, self.folder / "collector", **options)

    def rows(self, role: str, query: str) -> list[Any]:
        database = sqlite3.connect(self.store(role))
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()


def deploy(folder: Path, measured: TaskMeasurement | None = None, **settings: Any) -> Deployment:
    settings = {"minimum_batch": 5, **settings}
    ports = zip(("leader", "helper"), free_ports(2), strict=True)
    urls: dict[str, Any] = {f"{role}_url": f"http://127.0.0.1:{port}" for role, port in ports}
    task = create_task(folder / "task", measured or TaskMeasurement("histogram", length=4), **urls, **settings)
    return Deployment(folder / "task", task)


def test_a_histogram_is_collected_and_nobody_sees_a_value(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    with here.running("helper"), here.running("leader"):
        for value in (0, 1, 1, 3, 3, 3):
            send_report(here.task, value)
        first = here.collect()
        assert (first.reports, first.rejected, first.result) == (6, 0, [1, 2, 0, 3])
        assert [estimate.count for estimate in first.estimates] == first.result
        assert all(estimate.standard_error == 0 for estimate in first.estimates)
        with pytest.raises(AggregatorError, match="fewer than the 5 reports"):
            here.collect()
        assert here.collect(batch=0).result == first.result
        with pytest.raises(AggregatorError, match="no closed batch"):
            here.collect(batch=1)
        for value in (2, 2, 2, 2, 0):
            send_report(here.task, value)
        assert here.collect().result == [1, 0, 4, 0]
    # What is left on disk: nonces, and shares of sums. No share of a single person.
    for role in ("leader", "helper"):
        assert here.rows(role, "SELECT count(*) FROM reports WHERE payload IS NOT NULL") == [(0,)]
        assert here.rows(role, "SELECT count(*) FROM reports") == [(11,)]


@pytest.mark.parametrize(
    ("measured", "values", "wanted"),
    [
        (TaskMeasurement("count"), [True, False, True, True, False], 3),
        (TaskMeasurement("sum", max_measurement=100), [0, 100, 7, 1, 2], 110),
        (TaskMeasurement("sumvec", length=2, max_measurement=9), [[1, 2], [9, 0], [0, 0], [1, 1], [4, 4]], [15, 7]),
        (
            TaskMeasurement("multihot", length=3, max_weight=2),
            [[1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 0, 0], [0, 1, 0]],
            [2, 3, 1],
        ),
    ],
)
def test_every_variant_is_collected(tmp_path: Path, measured: TaskMeasurement, values: list[Any], wanted: Any) -> None:
    here = deploy(tmp_path, measured)
    with here.running("helper"), here.running("leader"):
        for value in values:
            send_report(here.task, value)
        assert here.collect().result == wanted


def test_randomized_response_gives_estimates_with_intervals(tmp_path: Path) -> None:
    here = deploy(tmp_path, TaskMeasurement("histogram", length=3), keep=0.5, minimum_batch=60)
    with here.running("helper"), here.running("leader"):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda value: send_report(here.task, value), [0] * 30 + [1] * 20 + [2] * 10))
        found = here.collect()
    assert sum(found.result) == 60
    assert sum(estimate.count for estimate in found.estimates) == pytest.approx(60)
    # Each estimate has a standard error of about 7; six of them are passed once in 10**9 runs.
    for estimate, truth in zip(found.estimates, (30, 20, 10), strict=True):
        assert 5 < estimate.standard_error < 9
        assert abs(estimate.count - truth) < 6 * 9
        assert estimate.lower < estimate.count < estimate.upper


@pytest.mark.parametrize("crash", [CRASH_BEFORE_ANSWER, CRASH_BEFORE_NOTING])
def test_a_killed_helper_loses_and_repeats_nothing(tmp_path: Path, crash: str) -> None:
    here = deploy(tmp_path)
    with here.running("leader"):
        for value in (0, 1, 2, 3, 3):
            send_report(here.task, value)
        with pytest.raises(AggregatorError, match=r"helper at .* does not answer. Nothing is lost"):
            here.collect()
        with here.running("helper", crash) as doomed:
            with pytest.raises(AggregatorError, match="does not answer"):
                here.collect()
            assert doomed.wait(30) == -signal.SIGKILL
        with here.running("helper"):
            found = here.collect()
    assert (found.reports, found.rejected, found.result) == (5, 0, [1, 1, 1, 2])


def test_a_killed_leader_keeps_every_report_it_accepted(tmp_path: Path) -> None:
    here = deploy(tmp_path, minimum_batch=1)
    accepted: list[int] = []
    with here.running("helper"):
        with here.running("leader") as leader, ThreadPoolExecutor(4) as pool:

            def send(value: int) -> None:
                try:
                    send_report(here.task, value)
                except AggregatorError:
                    return
                accepted.append(value)

            jobs = [pool.submit(send, i % 4) for i in range(60)]
            while len(accepted) < 15:
                time.sleep(0.005)
            leader.kill()
            for job in jobs:
                job.result()
        with here.running("leader"):
            found = here.collect()
    # A report that was held, but whose answer was lost, counts too: hence "at least".
    wanted = np.bincount(accepted, minlength=4)
    assert (np.array(found.result) >= wanted).all()
    assert len(accepted) <= found.reports <= len(accepted) + 4


def test_a_leader_killed_before_it_answers_hands_the_same_batch_out_again(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    crash = (
        CRASH_BEFORE_ANSWER.replace("aggregators", "leader").replace("Helper", "Leader").replace("work_on", "collect")
    )
    crash = crash.replace("self, message", "self, message, token")
    with here.running("helper"):
        with here.running("leader", crash) as leader:
            for value in (0, 1, 2, 3, 3):
                send_report(here.task, value)
            with pytest.raises(AggregatorError, match=r"leader at .* does not answer"):
                here.collect()
            assert leader.wait(30) == -signal.SIGKILL
        with here.running("leader"):
            found = here.collect()
            assert (found.batch, found.result) == (0, [1, 1, 1, 2])
            with pytest.raises(AggregatorError, match="fewer than"):
                here.collect()


def test_replays_count_once_even_at_the_same_moment(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    reports = [make_report(here.task, value) for value in (0, 1, 2, 3, 3)]
    with here.running("helper"), here.running("leader"):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda report: send_report(here.task, report=report), reports * 8))
        first = here.collect()
        assert (first.reports, first.result) == (5, [1, 1, 1, 2])
        for report in reports:
            send_report(here.task, report=report)
        with pytest.raises(AggregatorError, match="fewer than"):
            here.collect()
        nonce = UploadedReport.unpack(reports[0], here.task.digest).nonce
        other = replace(UploadedReport.unpack(make_report(here.task, 2), here.task.digest), nonce=nonce)
        with pytest.raises(ReportRefusedError, match="same nonce"):
            send_report(here.task, report=other.pack(here.task.digest))


def test_bad_reports_are_dropped_and_counted(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    digest = here.task.digest
    good = UploadedReport.unpack(make_report(here.task, 1), digest)
    swapped = replace(good, nonce=bytes(16), helper_sealed=good.helper_sealed)
    broken = UploadedReport.unpack(make_report(here.task, 1), digest)
    broken = replace(broken, leader_sealed=bytes(len(broken.leader_sealed)))
    half = UploadedReport.unpack(make_report(here.task, 1), digest)
    half = replace(half, helper_sealed=bytes(len(half.helper_sealed)))
    with here.running("helper"), here.running("leader"):
        for value in (0, 1, 2, 3, 3):
            send_report(here.task, value)
        for bad in (swapped, broken, half, _two_ones(here.task)):
            send_report(here.task, report=bad.pack(digest))
        with pytest.raises(ReportRefusedError, match="cannot be read"):
            send_report(here.task, report=good.pack(bytes(32)))
        with pytest.raises(ReportRefusedError, match="lengths"):
            send_report(here.task, report=replace(good, public_share=b"").pack(digest))
        found = here.collect()
    assert (found.reports, found.rejected, found.result) == (5, 4, [1, 1, 1, 2])


@pytest.mark.parametrize(
    ("measured", "value"),
    [
        (TaskMeasurement("sumvec", length=3, max_measurement=7), [7] * 3),
        (TaskMeasurement("multihot", length=2, max_weight=2), [1, 1]),
    ],
)
def test_one_client_with_a_wrong_public_share_stops_nobody(
    tmp_path: Path, measured: TaskMeasurement, value: list[int]
) -> None:
    here = deploy(tmp_path, measured)
    bad = unproved_report(here.task, [1] * here.task.prio.circuit.measurement_length)
    bad = replace(bad, public_share=bad.public_share[:-1] + bytes([bad.public_share[-1] ^ 1]))
    with here.running("helper"), here.running("leader"):
        send_report(here.task, report=seal_report(here.task, bad).pack(here.task.digest))
        for _ in range(5):
            send_report(here.task, value)
        found = here.collect()
    assert (found.reports, found.rejected, found.result) == (5, 1, [5 * part for part in value])
    for role in ("leader", "helper"):
        assert here.rows(role, "SELECT reports, rejected FROM batches WHERE number = 0") == [(5, 1)]


def _two_ones(task: Task) -> UploadedReport:
    """A report that votes twice, with a proof made as well as one can."""
    encoded = np.array([[1, 1, 0, 0]], dtype=np.uint64)
    raw = np.frombuffer(os.urandom(16 + task.prio.random_size), dtype=np.uint8)[None]
    made = task.prio.shard_encoded(encoded, task.ctx, raw[:, :16], raw[:, 16:])[0]
    return seal_report(task, made)


def test_a_lying_helper_is_found_out(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    with here.running("leader"):
        for value in (0, 1, 2, 3, 3):
            send_report(here.task, value)
        with here.running("helper", WRONG_MESSAGE), pytest.raises(AggregatorError, match="contradicts"):
            here.collect()
        with here.running("helper", WRONG_AGGREGATE), pytest.raises(AggregatorError, match="cannot give"):
            here.collect()
        with here.running("helper"):
            assert here.collect().result == [1, 1, 1, 2], "nothing is lost once the helper is honest again"


@pytest.mark.parametrize("role", ["leader", "helper"])
def test_altered_verifier_shares_only_drop_reports(tmp_path: Path, role: str) -> None:
    here = deploy(tmp_path)
    other = "helper" if role == "leader" else "leader"
    with here.running(role, WRONG_VERIFIER_SHARE), here.running(other):
        for value in (0, 1, 2, 3, 3):
            send_report(here.task, value)
        with pytest.raises(AggregatorError, match="fewer than"):
            here.collect()
    for each in ("leader", "helper"):
        assert here.rows(each, "SELECT reports, rejected FROM batches") == [(0, 5)]


@pytest.mark.parametrize("role", ["leader", "helper"])
def test_aggregators_with_different_reports_give_nothing_out(tmp_path: Path, role: str) -> None:
    here = deploy(tmp_path)
    other = "helper" if role == "leader" else "leader"
    with here.running(role, DROPS_REPORTS), here.running(other):
        for value in (0, 1, 2, 3, 3):
            send_report(here.task, value)
        with pytest.raises(AggregatorError, match="do not have the same reports"):
            here.collect()


def test_the_helper_itself_insists_on_the_minimum(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    greedy = "from sudare.collect.prio.services import leader\nleader.require_size = lambda batch, task: None"
    with here.running("helper"), here.running("leader", greedy):
        send_report(here.task, 2)
        with pytest.raises(AggregatorError, match="fewer than the 5 reports"):
            here.collect()


def test_strangers_are_turned_away(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    stranger = deploy(tmp_path / "stranger")
    with here.running("helper"), here.running("leader"):
        for value in (0, 1, 2, 3, 3):
            send_report(here.task, value)
        token = here.folder / "collector" / "token.key"
        kept = token.read_text()
        token.write_text("00" * 32)
        with pytest.raises(AggregatorError, match="not the collector's token"):
            here.collect()
        token.write_text(kept)
        for role, paths in (("leader", ["/job", "/share", "/"]), ("helper", ["/report", "/collect", "/"])):
            url = here.task.leader_url if role == "leader" else here.task.helper_url
            for path in paths:
                assert _status(url, path, b"x") == 404
        assert _status(here.task.helper_url, "/job", b"x") == 409, "no code"
        assert _status(here.task.leader_url, "/report", bytes(10**6)) == 413
        with pytest.raises(ReportRefusedError, match="another kind, version or task"):
            send_report(here.task, report=make_report(stranger.task, 1))
        assert here.collect().reports == 5


def _status(url: str, path: str, body: bytes) -> int:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    try:
        connection.request("POST", path, body)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):
        return 413
    finally:
        connection.close()


def test_the_leader_cannot_read_the_helpers_share(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    report = UploadedReport.unpack(make_report(here.task, 1), here.task.digest)
    private = bytes.fromhex((here.folder / "leader" / "private.key").read_text())
    for role in ("leader", "helper"):
        purpose = purpose_of_input(role, here.task.digest, report.nonce, report.public_share)
        with pytest.raises(ReportRefusedError):
            open_sealed(private, purpose, report.helper_sealed)
    purpose = purpose_of_input("leader", here.task.digest, report.nonce, report.public_share)
    assert len(open_sealed(private, purpose, report.leader_sealed)) == here.task.prio.input_share_size(0)


def test_a_second_process_on_the_same_store_is_refused(tmp_path: Path) -> None:
    here = deploy(tmp_path)
    with here.running("helper"):
        arguments = [
            "helper",
            str(here.store("helper")),
            str(here.folder / "task.json"),
            str(here.folder / "helper"),
            "0",
        ]
        command = [sys.executable, "-c", SERVE.format(lie=""), *arguments]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode != 0
        assert "Another process uses the store" in second.stderr
