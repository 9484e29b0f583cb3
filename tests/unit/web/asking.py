"""Requests to the page without a network: what a browser would send, and what it would get."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from sudare.web.application import local_application
from sudare.web.guard import Keys

PORT = 8123
HOST = f"127.0.0.1:{PORT}"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")


class Asking:
    """Speaks to the page of a folder, with its session or without."""

    def __init__(self, folder: Path, *, language: str = "en") -> None:
        self.keys = Keys()
        self.app = local_application(folder, self.keys, PORT)
        self.language = language

    def get(self, target: str, **headers: str) -> Answer:
        return self.ask("GET", target, b"", headers)

    def post(self, target: str, form: dict[str, str], **headers: str) -> Answer:
        own = {"origin": f"http://{HOST}", "content-type": "application/x-www-form-urlencoded"}
        return self.ask("POST", target, urlencode(form).encode(), own | headers)

    def put(self, target: str, body: bytes, **headers: str) -> Answer:
        own = {"origin": f"http://{HOST}", "content-length": str(len(body))}
        return self.ask("PUT", target, body, own | headers)

    def ask(self, method: str, target: str, body: bytes, headers: dict[str, str], *, session: bool = True) -> Answer:
        sent = {"host": HOST, "accept-language": self.language}
        if session:
            sent["cookie"] = f"sudare-{PORT}={self.keys.session}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return asyncio.run(self._ask(method, target, body, sent))

    async def _ask(self, method: str, target: str, body: bytes, headers: dict[str, str]) -> Answer:
        parts = urlsplit(target)
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "root_path": "",
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 1),
        }
        sent: list[dict[str, Any]] = []
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if not waiting:
                await asyncio.Event().wait()  # whoever asks stays until the answer is there
            return waiting.pop()

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start = next(message for message in sent if message["type"] == "http.response.start")
        answered = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
        named = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
        return Answer(start["status"], named, answered)
