"""A client of the local page over real sockets, which also sends what no browser would."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

SECONDS = 60


@dataclass(frozen=True)
class Reply:
    """What came back: status 0 where the connection was closed without an answer."""

    status: int
    headers: dict[str, str]
    text: str


class PageClient:
    """Whoever speaks to a page that listens on a port.

    Args:
        address: that the page printed, with its token.
        language: of the answers.
    """

    def __init__(self, address: str, language: str = "en") -> None:
        parts = urlsplit(address)
        assert parts.port is not None
        self.port = parts.port
        self.host = f"127.0.0.1:{parts.port}"
        self.language = language
        self.token_target = f"{parts.path or '/'}?{parts.query}"
        self.cookie = ""

    def enter(self) -> None:
        """Use the token."""
        reply = self.ask("GET", self.token_target)
        assert reply.status == 303, reply
        self.cookie = reply.headers["set-cookie"].split(";")[0]

    def get(self, target: str, **headers: str | None) -> Reply:
        return self.ask("GET", target, b"", headers)

    def post(self, target: str, form: dict[str, str], **headers: str | None) -> Reply:
        own: dict[str, str | None] = {
            "origin": f"http://{self.host}",
            "content-type": "application/x-www-form-urlencoded",
        }
        return self.ask("POST", target, urlencode(form).encode(), own | headers)

    def put(self, target: str, body: bytes, **headers: str | None) -> Reply:
        own: dict[str, str | None] = {"origin": f"http://{self.host}"}
        return self.ask("PUT", target, body, own | headers)

    def ask(
        self, method: str, target: str, body: bytes = b"", headers: Mapping[str, str | None] | None = None
    ) -> Reply:
        """One request; a header of None is left out."""
        sent: dict[str, str | None] = {"host": self.host, "accept-language": self.language, "connection": "close"}
        if self.cookie:
            sent["cookie"] = self.cookie
        if body or method in ("POST", "PUT"):
            sent["content-length"] = str(len(body))
        sent |= {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        lines = [
            f"{method} {target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in sent.items() if value is not None),
        ]
        return self.send("\r\n".join([*lines, "", ""]).encode("utf-8") + body)

    def send(self, data: bytes) -> Reply:
        """Whatever bytes, and the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS) as line:
            with suppress(BrokenPipeError, ConnectionResetError):
                line.sendall(data)  # it may not want to hear all of it; what it said may still be there
            received = b""
            with suppress(ConnectionResetError):
                while block := line.recv(1 << 16):
                    received += block
        return read_reply(received)

    def finish(self, started: Reply) -> dict[str, str]:
        """The last event of the work that an answer leads to."""
        assert started.status == 303, (started.status, started.text[-2000:])
        stream = self.get(f"{started.headers['location']}/events")
        events = [line[6:] for line in stream.text.splitlines() if line.startswith("data: ")]
        last: dict[str, str] = json.loads(events[-1])
        return last


def read_reply(received: bytes) -> Reply:
    """The parts of an answer."""
    if not received:
        return Reply(0, {}, "")
    head, _, body = received.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = _whole(body)
    return Reply(int(first.split()[1]), headers, body.decode("utf-8", errors="replace"))


def _whole(body: bytes) -> bytes:
    parts = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        parts.append(body[:length])
        body = body[length + 2 :]
    return b"".join(parts)


@contextmanager
def open_page(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real command for a folder, in a process of its own: it, and its address with the token.

    It is killed at the end, and must not have told anything of its inside.
    """
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "sudare", "--json", "ui", str(folder), "--no-browser"]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as process,
    ):
        try:
            yield process, _address(process)
        finally:
            process.kill()
            process.wait()
            errors.seek(0)
            said = errors.read().decode("utf-8", errors="replace")
        assert "Traceback" not in said, said[-4000:]


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if "token=" in line:
            return str(json.loads(line)["address"])
    raise AssertionError("the page did not start")
