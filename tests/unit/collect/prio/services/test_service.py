"""The services over HTTP and TLS, in threads; ``tests/end_to_end/test_prio_services.py`` runs them as processes."""

from __future__ import annotations

import datetime
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sudare.collect.prio import (
    AggregatorError,
    AggregatorService,
    ReportRefusedError,
    Task,
    TaskMeasurement,
    collect_batch,
    create_task,
    send_report,
)
from sudare.collect.prio.services.aggregators import Helper
from sudare.collect.prio.services.leader import Leader
from sudare.collect.prio.services.messages import UploadedReport
from sudare.collect.prio.services.transport import CODE_HEADER, Caller, is_same_code, request_code
from sudare.errors import InputError, OutputError, ParameterError, PlanError


def free_ports() -> list[int]:
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(2)]
        for listener in listeners:
            listener.bind(("127.0.0.1", 0))
        return [int(listener.getsockname()[1]) for listener in listeners]


def make_task(folder: Path, scheme: str = "http", **settings: Any) -> Task:
    ports = free_ports()
    urls: dict[str, Any] = {
        f"{role}_url": f"{scheme}://localhost:{ports[i]}" for i, role in enumerate(("leader", "helper"))
    }
    return create_task(folder, TaskMeasurement("count"), **urls, **{"minimum_batch": 2, **settings})


@contextmanager
def serving(folder: Path, task: Task, role: str, **settings: Any) -> Iterator[AggregatorService]:
    port = int((task.leader_url if role == "leader" else task.helper_url).rsplit(":", 1)[1])
    settings = {"port": port, "pause": None, **settings}
    service = AggregatorService(role, folder / f"{role}.sqlite", folder / "task.json", folder / role, **settings)
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        yield service
    finally:
        service.stop()
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return make_task(tmp_path / "task")


def test_a_count_over_http(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "task"
    with serving(folder, task, "helper"), serving(folder, task, "leader"):
        for value in (True, False, True):
            send_report(task, value)
        found = collect_batch(task, folder / "collector")
        assert (found.reports, found.result, found.estimates[0].count) == (3, 2, 2.0)


def test_a_count_over_tls(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    task = make_task(folder, "https")
    authority, tls = certificate(tmp_path)
    with serving(folder, task, "helper", **tls), serving(folder, task, "leader", authority=authority, **tls):
        for value in (True, False):
            send_report(task, value, authority=authority)
        with pytest.raises(AggregatorError, match="does not answer"):
            send_report(task, True)  # this client does not trust the certificate
        assert collect_batch(task, folder / "collector", authority=authority).result == 1


def certificate(folder: Path) -> tuple[str, dict[str, Any]]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "certificate.pem", folder / "certificate.key"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return str(public), {"certificate": public, "certificate_key": private}


def test_the_leader_verifies_now_and_then(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "task"
    with serving(folder, task, "helper"), serving(folder, task, "leader", pause=0.05) as leader:
        send_report(task, True)
        for _ in range(400):
            if leader.aggregator.store.open_batch().reports:
                break
            threading.Event().wait(0.01)
        assert leader.aggregator.store.open_batch().reports == 1


def test_a_missing_helper_does_not_stop_the_leader(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "task"
    with serving(folder, task, "leader", pause=0.01):
        send_report(task, True)
        threading.Event().wait(0.1)
        send_report(task, False)
        with pytest.raises(AggregatorError, match="Nothing is lost"):
            collect_batch(task, folder / "collector")


def test_nothing_ends_the_leaders_rounds(
    tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An odd report or an odd helper costs a round, and leaves no word of anybody's share in the log."""
    folder, rounds = tmp_path / "task", iter(range(10**6))
    honest = Leader.aggregate

    def odd_at_first(self: Leader) -> None:
        if next(rounds) < 3:
            raise TypeError("somebody's share")
        honest(self)

    monkeypatch.setattr(Leader, "aggregate", odd_at_first)
    with serving(folder, task, "helper"), serving(folder, task, "leader", pause=0.02) as leader:
        send_report(task, True)
        for _ in range(1000):
            if leader.aggregator.store.open_batch().reports:
                break
            threading.Event().wait(0.01)
        assert leader.aggregator.store.open_batch().reports == 1
    assert [record.getMessage() for record in caplog.records] == [
        "A round of verification failed (TypeError); it is tried again."
    ] * 3
    assert all(record.exc_info is None for record in caplog.records)


def ask(
    url: str, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_what_a_stranger_gets_to_hear(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "task"
    with serving(folder, task, "helper") as helper, serving(folder, task, "leader"):
        status, content = ask(task.helper_url, "GET", "/alive")
        assert (status, json.loads(content)) == (200, {"role": "helper", "task": task.digest.hex()})
        for url, method, path in (
            (task.leader_url, "GET", "/"),
            (task.leader_url, "POST", "/job"),
            (task.helper_url, "POST", "/report"),
            (task.helper_url, "POST", "/collect"),
        ):
            assert ask(url, method, path)[0] == 404
        status, content = ask(task.helper_url, "POST", "/job", b"x", {CODE_HEADER: "é"})
        assert (status, "not authentic" in content.decode()) == (409, True)
        code = request_code(helper._link, "/share", b"x")
        assert ask(task.helper_url, "POST", "/job", b"x", {CODE_HEADER: code})[0] == 409, "a code is for its path"
        code = request_code(helper._link, "/job", b"x")
        assert ask(task.helper_url, "POST", "/job", b"x", {CODE_HEADER: code})[0] == 400, "authentic, but no message"
        assert ask(task.leader_url, "POST", "/report", b"", {"Content-Length": "-1"})[0] == 413
        assert ask(task.leader_url, "POST", "/report", b"", {"Content-Length": "9" * 30})[0] == 413


def test_errors_inside_say_nothing_outside(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "task"

    def breaks(self: Helper, message: bytes) -> bytes:
        raise RuntimeError("somebody's share")

    monkeypatch.setattr(Helper, "work_on", breaks)
    with serving(folder, task, "helper"), serving(folder, task, "leader"):
        send_report(task, True)
        with pytest.raises(AggregatorError, match="helper failed") as caught:
            collect_batch(task, folder / "collector")
        assert "share" not in str(caught.value)
        assert "ステータス" in caught.value.explain("ja")


def test_an_answer_of_somebody_else_is_not_believed(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "task"
    with serving(folder, task, "helper") as helper:
        honest = helper._link
        caller = Caller(task.helper_url, "helper")
        helper._link = bytes(32)
        with pytest.raises(AggregatorError, match="not authentic"):
            caller.post_authenticated(honest, "/share", b"x")
    with serving(folder, task, "leader"), pytest.raises(AggregatorError, match="not authentic"):
        # The leader answers a client's request properly, but without the link's code.
        Caller(task.leader_url, "helper").post_authenticated(honest, "/report", _report(task))


@pytest.mark.parametrize("claimed", ["é", "\udce9", "", "🔑"])
def test_codes_of_any_characters_are_compared(task: Task, monkeypatch: pytest.MonkeyPatch, claimed: str) -> None:
    monkeypatch.setattr(Caller, "post", lambda self, path, body, headers=None: (b"an answer", claimed))
    with pytest.raises(AggregatorError, match="not authentic"):
        Caller(task.helper_url, "helper").post_authenticated(bytes(32), "/share", b"x")
    assert is_same_code("0f", "0f")


def _report(task: Task) -> bytes:
    prio = task.prio
    parts = (bytes(prio.public_share_size), *(bytes(prio.input_share_size(i) + 48) for i in range(2)))
    return UploadedReport(bytes(16), *parts).pack(task.digest)


def test_starting_is_refused_with_reasons(tmp_path: Path, task: Task) -> None:
    folder = tmp_path / "task"

    def start(role: str = "helper", **settings: Any) -> None:
        keys = settings.pop("keys", folder / role)
        AggregatorService(role, tmp_path / "s.sqlite", folder / "task.json", keys, **settings)

    with pytest.raises(ParameterError, match="role"):
        start("collector")
    with pytest.raises(PlanError, match="loopback"):
        start(host="0.0.0.0")  # noqa: S104 - it is refused
    with pytest.raises(PlanError, match="certificate"):
        start(certificate=tmp_path / "missing.pem")
    with pytest.raises(InputError, match="not that of this task's helper"):
        start(keys=folder / "leader")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OutputError, match="cannot listen"):
            start(port=taken.getsockname()[1])
    # Nothing keeps the store after all these refusals.
    AggregatorService("helper", tmp_path / "s.sqlite", folder / "task.json", folder / "helper").close()


def test_reports_of_another_task_are_refused(tmp_path: Path, task: Task) -> None:
    other = make_task(tmp_path / "other")
    with serving(tmp_path / "task", task, "leader"):
        with pytest.raises(ReportRefusedError, match="another kind, version or task"):
            Caller(task.leader_url, "leader").post("/report", _report(other))
        with pytest.raises(AggregatorError, match="does not answer"):
            send_report(other, True, timeout=1)


def test_a_batch_that_arrived_is_not_due_any_more(tmp_path: Path, task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "task"
    with serving(folder, task, "helper"), serving(folder, task, "leader"):
        for value in (True, True):
            send_report(task, value)
        honest = Caller.post

        def loses(self: Caller, path: str, *arguments: Any) -> tuple[bytes, str]:
            if path == "/collected":
                raise AggregatorError("gone", "不在")
            return honest(self, path, *arguments)

        monkeypatch.setattr(Caller, "post", loses)
        with pytest.raises(AggregatorError, match="gone"):
            collect_batch(task, folder / "collector")
        monkeypatch.undo()
        assert collect_batch(task, folder / "collector").batch == 0
        with pytest.raises(AggregatorError, match="fewer than the 2"):
            collect_batch(task, folder / "collector")
