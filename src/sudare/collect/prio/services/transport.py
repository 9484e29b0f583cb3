"""HTTP between the parties: one request, one answer, both of bytes; errors come as a sentence in both languages.

The leader and the helper authenticate each other: a request carries a code over its path and body under a key that both
derive from the verify key, and an answer carries one over the request's code and its own body.
"""

from __future__ import annotations

import hmac
import http.client
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

from sudare.bilingual import Words
from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.services.connections import MIN_SPEED
from sudare.collect.prio.task import read_address
from sudare.storage.guarded_json import parse_json

__all__ = ["CODE_HEADER", "TOKEN_HEADER", "Caller", "answer_code", "is_same_code", "request_code"]

FAILED = Words(
    "The {name} failed (HTTP status {status}). Nothing is lost: try again, and look at its own messages.",
    "{name} でエラーが起きました（HTTP ステータス {status}）。失われたものはありません。もう一度実行し、"
    "{name} 側の表示を確認してください。",
)

CODE_HEADER = "Sudare-Code"
TOKEN_HEADER = "Sudare-Token"  # noqa: S105
MAX_ANSWER_BYTES = 1 << 28
"""Bytes; no answer of an honest aggregator is longer."""


@dataclass(frozen=True)
class Caller:
    """Calls one aggregator.

    Args:
        url: where it listens.
        name: what it is called in errors.
        timeout: seconds to wait for its whole answer, however slowly it comes, once the message is sent at `MIN_SPEED`.
        authority: certificates to trust besides the system's, for ``https``; a file of them.
    """

    url: str
    name: str
    timeout: float = 30.0
    authority: str | None = None

    def post(self, path: str, body: bytes, headers: dict[str, str] | None = None) -> tuple[bytes, str]:
        """Send a message; the answer's body and its code.

        Raises:
            ReportRefusedError: if the aggregator refuses what was sent.
            AggregatorError: if it does not answer, or cannot do what was asked.
        """
        encrypted, host, port = read_address(self.url, "url")
        try:
            connection = self._connection(encrypted, host, port)
            connection.connect()
            watch = threading.Timer(self.timeout + len(body) / MIN_SPEED, _cut_off, (connection.sock,))
            watch.daemon = True
            watch.start()
            try:
                connection.request("POST", path, body, {"Content-Type": "application/octet-stream", **(headers or {})})
                response = connection.getresponse()
                content = response.read(MAX_ANSWER_BYTES + 1)
            finally:
                watch.cancel()
                connection.close()
            if not response.chunked and response.headers.get("Content-Length") != str(len(content)):
                raise http.client.IncompleteRead(content)
        except (OSError, http.client.HTTPException):
            raise AggregatorError(
                f"The {self.name} at {self.url} does not answer. Nothing is lost: try again when it is back.",
                f"{self.url} の {self.name} が応答しません。失われたものはありません。復旧後にもう一度実行してください。",
            ) from None
        if response.status == HTTPStatus.OK and len(content) <= MAX_ANSWER_BYTES:
            return content, response.headers.get(CODE_HEADER, "")
        raise _told(content, response.status, self.name)

    def _connection(self, encrypted: bool, host: str, port: int) -> http.client.HTTPConnection:
        if not encrypted:
            return http.client.HTTPConnection(host, port, timeout=self.timeout)
        context = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)

    def post_authenticated(self, key: bytes, path: str, body: bytes) -> bytes:
        """Send a message to the other aggregator, and see that the answer is really its answer to this message.

        Raises:
            AggregatorError: if it does not answer, refuses, or somebody else answers.
        """
        code = request_code(key, path, body)
        try:
            content, claimed = self.post(path, body, {CODE_HEADER: code})
        except ReportRefusedError as problem:
            raise AggregatorError(problem.english, problem.japanese) from None
        if not is_same_code(claimed, answer_code(key, code, content)):
            raise AggregatorError(
                f"The answer of the {self.name} at {self.url} is not authentic: it was changed, or comes from somebody "
                "else, or the two aggregators have different verify keys.",
                f"{self.url} の {self.name} の応答を認証できません。改変されたか、別の相手からの応答か、検証鍵が異なります。",
            )
        return content


def _cut_off(connection: socket.socket) -> None:
    """End a connection from another thread, whatever it is waiting for."""
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def request_code(key: bytes, path: str, body: bytes) -> str:
    """Authenticates a request of one aggregator to the other."""
    return hmac.digest(key, b"request " + path.encode() + b"\n" + body, "sha256").hex()


def answer_code(key: bytes, code: str, body: bytes) -> str:
    """Authenticates the answer to a request."""
    return hmac.digest(key, b"answer " + code.encode() + b"\n" + body, "sha256").hex()


def is_same_code(claimed: str, code: str) -> bool:
    """Whether a header holds a code, in a time that does not tell where they differ. A header may hold any characters."""
    return hmac.compare_digest(claimed.encode("utf-8", "surrogatepass"), code.encode())


def _told(content: bytes, status: int, name: str) -> AggregatorError | ReportRefusedError:
    try:
        told = parse_json(content)
        words = Words(str(told["english"]), str(told["japanese"]))
    except (ValueError, KeyError, TypeError):
        words = FAILED.format(name=name, status=status)
    return ReportRefusedError(words) if status == HTTPStatus.BAD_REQUEST else AggregatorError(words)
