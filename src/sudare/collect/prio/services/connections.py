"""A server whose places nobody can hold by being slow: a client has so long for a whole request, not for each byte of it.

A request may be `PATIENCE` seconds behind a client that sends `MIN_SPEED` bytes a second, from the connection's first
moment to its last byte, TLS included. When all places are taken and somebody else comes, the request that is furthest
behind gives up its place at once. A request that was read to its end keeps its place until it is answered.
"""

from __future__ import annotations

import io
import socket
import ssl
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

__all__ = ["BoundedHandler", "BoundedServer"]

MAX_CONNECTIONS = 64
PATIENCE = 10.0
MIN_SPEED = 1 << 14
"""Bytes a second: what a client over a poor mobile line manages."""
MAX_ANSWER_SECONDS = 30.0
RECHECK_SECONDS = 1.0


class _Incoming(io.RawIOBase):
    """The bytes of one request as they come, and how far they are behind."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self.connection = connection
        self._started = time.monotonic()
        self._received = 0

    def seconds_left(self) -> float:
        """Until the client has lost its place."""
        return PATIENCE + self._received / MIN_SPEED - (time.monotonic() - self._started)

    def allow_the_rest(self) -> None:
        """Let the next operation wait as long as is left, and no longer."""
        left = self.seconds_left()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Wait for the next bytes, but not beyond the whole request's time."""
        self.allow_the_rest()
        count = self.connection.recv_into(buffer)
        self._received += count
        return count

    def cut_off(self) -> None:
        """End the connection from another thread: a reader that waits for its bytes sees its end."""
        with suppress(OSError):
            socket.socket.shutdown(self.connection, socket.SHUT_RDWR)


class _Outgoing(io.BufferedIOBase):
    """The answer: sent whole, or not at all if the client does not take it in time."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        """Send everything."""
        self._connection.settimeout(MAX_ANSWER_SECONDS)
        self._connection.sendall(data)
        return memoryview(data).nbytes


class BoundedServer(ThreadingHTTPServer):
    """Threads for a bounded number of connections.

    Args:
        address: where to listen.
        handler: what reads and answers a request.
        context: for TLS; None without it.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], handler: type[BoundedHandler], context: ssl.SSLContext | None = None
    ) -> None:
        self._context = context
        self._handler = handler
        self._places = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._reading: set[_Incoming] = set()
        self._lock = threading.Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection a place, if need be that of the slowest other one."""
        while not self._places.acquire(blocking=False):
            self._cut_off_the_slowest()
            if self._places.acquire(timeout=RECHECK_SECONDS):
                break
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve one connection in a thread of its own."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Read and answer one request."""
        if self._context is None:
            self._serve(_Incoming(request), client_address)
            return
        request.settimeout(PATIENCE)
        with self._context.wrap_socket(request, server_side=True, do_handshake_on_connect=False) as encrypted:
            self._serve(_Incoming(encrypted), client_address)

    def _serve(self, incoming: _Incoming, client_address: Any) -> None:
        with self._lock:
            self._reading.add(incoming)
        try:
            if isinstance(incoming.connection, ssl.SSLSocket):
                incoming.allow_the_rest()
                incoming.connection.do_handshake()
            self._handler(incoming, client_address, self)  # type: ignore[arg-type]
        finally:
            self.keep(incoming)

    def keep(self, incoming: _Incoming) -> bool:
        """Note that a request was read to its end; whether it still has its place."""
        with self._lock:
            kept = incoming in self._reading
            self._reading.discard(incoming)
        return kept

    def _cut_off_the_slowest(self) -> None:
        with self._lock:
            slowest = min(self._reading, key=_Incoming.seconds_left, default=None)
            if slowest is not None:
                self._reading.discard(slowest)
                slowest.cut_off()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that broke off is its sender's business, and nothing of it is to be logged."""


class BoundedHandler(BaseHTTPRequestHandler):
    """Reads one request of a `BoundedServer` within its time; no log is kept."""

    server: BoundedServer

    def setup(self) -> None:
        """Read and write within bounds."""
        self._incoming: _Incoming = self.request
        self.connection = self._incoming.connection
        self.rfile = io.BufferedReader(self._incoming)
        self.wfile = _Outgoing(self.connection)

    def read_body(self, size: int) -> bytes | None:
        """The whole body; None if the client broke off or lost its place."""
        body = self.rfile.read(size)
        return body if self.server.keep(self._incoming) and len(body) == size else None

    def log_message(self, *_: Any) -> None:
        """Keep no log: who sent when is not to be kept."""

    def version_string(self) -> str:
        """Name nothing but the program."""
        return "sudare"
