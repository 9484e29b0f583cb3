"""Slow clients over real sockets: each loses its place in time, and nobody else waits for it."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sudare.collect.prio import AggregatorError, AggregatorService, Task, collect_batch, make_report, send_report
from sudare.collect.prio.services import connections
from sudare.collect.prio.services.transport import Caller
from tests.unit.collect.prio.services.test_service import certificate, make_task, serving

PLACES = 8
HEAD = b"POST /report HTTP/1.0\r\nContent-Length: 100\r\n"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> float:
    """Few places and little patience, so that the tests are short; the rule is the same."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", PLACES)
    monkeypatch.setattr(connections, "PATIENCE", 0.5)
    return 0.5


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few places and as much patience as ever: only giving up a place to others helps."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", PLACES)


def connect(service: AggregatorService) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=10)


def is_ended(client: socket.socket) -> bool:
    """Whether the server ended the connection, without an answer."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


@contextmanager
def dripping(clients: list[socket.socket], start: bytes, drop: bytes) -> Iterator[None]:
    """Clients that each send a byte now and then, as long as anybody listens."""
    over = threading.Event()

    def drip() -> None:
        while not over.wait(0.1):
            for client in clients:
                try:
                    client.send(drop)
                except OSError:
                    continue

    for client in clients:
        client.sendall(start)
    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    ("start", "drop"),
    [(b"", b""), (b"POST /rep", b"o"), (HEAD, b"x"), (HEAD + b"\r\n", b"x")],
    ids=["silent", "in the first line", "in the headers", "in the body"],
)
def test_a_slow_request_has_a_time_for_all_of_it(tmp_path: Path, small: float, start: bytes, drop: bytes) -> None:
    task = make_task(tmp_path / "task")
    with serving(tmp_path / "task", task, "leader") as leader, closing(connect(leader)) as client:
        begun = time.monotonic()
        with dripping([client], start, drop):
            assert is_ended(client)
        assert small - 0.2 < time.monotonic() - begun < small + 3


def test_a_tls_handshake_has_a_time_too(tmp_path: Path, small: float) -> None:
    task = make_task(tmp_path / "task", "https")
    _, tls = certificate(tmp_path)
    with serving(tmp_path / "task", task, "leader", **tls) as leader, closing(connect(leader)) as client:
        begun = time.monotonic()
        # The head of a record that never comes whole.
        with dripping([client], b"\x16\x03\x01\x40\x00", b"\x01"):
            assert is_ended(client)
        assert time.monotonic() - begun < small + 3


def test_slow_clients_do_not_hold_the_places(tmp_path: Path, patient: None) -> None:
    """Three times as many as there are places, in every part of a request; honest clients and the leader get through."""
    folder = tmp_path / "task"
    task = make_task(folder)
    with serving(folder, task, "helper") as helper, serving(folder, task, "leader") as leader, ExitStack() as stack:
        clients = [
            stack.enter_context(closing(connect(service))) for service in (leader, helper) for _ in range(3 * PLACES)
        ]
        starts = (b"", b"POST /rep", HEAD, HEAD + b"\r\n")
        for number in range(len(starts)):
            stack.enter_context(dripping(clients[number :: len(starts)], starts[number], b"x" if number else b""))
        begun = time.monotonic()
        for value in (True, False, True):
            send_report(task, value, timeout=5)
        assert collect_batch(task, folder / "collector", timeout=5).result == 2
        assert time.monotonic() - begun < connections.PATIENCE / 2


def test_a_request_that_was_read_keeps_its_place(tmp_path: Path, small: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for an answer is not slow, however long the answer takes."""
    folder = tmp_path / "task"
    task = make_task(folder)
    answering, go_on = threading.Event(), threading.Event()
    honest = AggregatorService.answer

    def slow(self: AggregatorService, path: str, body: bytes, headers: Any) -> tuple[bytes, str]:
        answering.set()
        assert go_on.wait(20)
        return honest(self, path, body, headers)

    monkeypatch.setattr(AggregatorService, "answer", slow)
    with serving(folder, task, "leader") as leader, ExitStack() as stack:
        sender = threading.Thread(target=send_report, args=(task, True))
        sender.start()
        assert answering.wait(10)
        idle = [stack.enter_context(closing(connect(leader))) for _ in range(2 * PLACES)]
        assert all(is_ended(client) for client in idle)
        go_on.set()
        sender.join(10)
        assert leader.aggregator.store.next_reports(10)


def test_a_steady_client_has_the_time_its_report_takes(
    tmp_path: Path, small: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than the patience, but never behind the slowest speed: it is answered."""
    task = make_task(tmp_path / "task")
    report = make_report(task, True)
    monkeypatch.setattr(connections, "MIN_SPEED", 100)
    with serving(tmp_path / "task", task, "leader") as leader, closing(connect(leader)) as client:
        head = f"POST /report HTTP/1.0\r\nContent-Length: {len(report)}\r\n\r\n".encode()
        begun = time.monotonic()
        client.sendall(head)
        for start in range(0, len(report), 10):
            client.sendall(report[start : start + 10])
            time.sleep(0.05)
        assert time.monotonic() - begun > small
        assert b" 200 " in client.recv(100)


def test_a_report_that_breaks_off_is_not_taken(tmp_path: Path, task: Task) -> None:
    with serving(tmp_path / "task", task, "leader") as leader, closing(connect(leader)) as client:
        report = make_report(task, True)
        client.sendall(f"POST /report HTTP/1.0\r\nContent-Length: {len(report)}\r\n\r\n".encode() + report[:-1])
        client.shutdown(socket.SHUT_WR)
        assert is_ended(client)
        assert not leader.aggregator.store.next_reports(10)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return make_task(tmp_path / "task")


@pytest.mark.parametrize("start", [b"", b"HTTP/1.0 200 O", b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n"])
def test_a_slow_aggregator_does_not_hold_whoever_calls_it(start: bytes) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        answers: list[socket.socket] = []

        def answer() -> None:
            connection, _ = listener.accept()
            answers.append(connection)
            connection.sendall(start)
            try:
                while True:
                    connection.send(b"K")
                    time.sleep(0.1)
            except OSError:
                return

        thread = threading.Thread(target=answer)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(AggregatorError, match="does not answer"):
            Caller(f"http://127.0.0.1:{listener.getsockname()[1]}", "helper", timeout=0.5).post("/job", b"x")
        assert 0.4 < time.monotonic() - begun < 4
        thread.join(10)
        answers[0].close()


def test_an_answer_in_time_is_not_cut_off(tmp_path: Path, task: Task) -> None:
    with serving(tmp_path / "task", task, "leader"):
        before = threading.active_count()
        connection = http.client.HTTPConnection("127.0.0.1", int(task.leader_url.rsplit(":", 1)[1]), timeout=10)
        connection.request("GET", "/alive")
        assert connection.getresponse().status == 200
        connection.close()
        for _ in range(5):
            send_report(task, True)
        time.sleep(0.3)
        assert threading.active_count() <= before + 1, "no watch is left behind"
