"""An aggregator as a service over HTTP: a process of its own, with its own keys and its own store.

============ ============= ====================================== ===========
path         who asks      what                                   answered by
============ ============= ====================================== ===========
/report      a client      holds a report                         the leader
/collect     the collector gives a batch, sealed to the collector the leader
/collected   the collector notes that the collector has a batch   the leader
/job         the leader    verifies reports                       the helper
/withdraw    the leader    rejects reports after all              the helper
/share       the leader    gives an aggregate share               the helper
/alive (GET) anybody       says which role of which task it is    both
============ ============= ====================================== ===========
"""

from __future__ import annotations

import ipaddress
import json
import logging
import ssl
import threading
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.collect.prio.refusals import AggregatorError, ReportRefusedError
from sudare.collect.prio.services.aggregators import Helper
from sudare.collect.prio.services.connections import BoundedHandler, BoundedServer
from sudare.collect.prio.services.leader import JOB_SIZE, Leader
from sudare.collect.prio.services.sealing import SEAL_BYTES
from sudare.collect.prio.services.transport import (
    CODE_HEADER,
    TOKEN_HEADER,
    Caller,
    answer_code,
    is_same_code,
    request_code,
)
from sudare.collect.prio.task import HELPER, LEADER, AggregatorKeys, Task
from sudare.errors import OutputError, ParameterError, PlanError, UserError

__all__ = ["AggregatorService", "serve_aggregator"]

_LOG = logging.getLogger(__name__)


class AggregatorService:
    """One aggregator, listening. `serve_aggregator` runs it until it is interrupted.

    Args:
        role: ``"leader"`` or ``"helper"``.
        store: path of its SQLite file; made if it does not exist.
        task: path of the task file.
        keys: folder with this aggregator's keys.
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        certificate: a file with a certificate and its chain: listen with TLS.
        certificate_key: a file with the certificate's private key.
        behind_proxy: say that something in front of it does TLS; else only loopback addresses are served without TLS.
        authority: certificates that the leader trusts when it calls the helper.
        pause: seconds between two rounds of verification by the leader; None leaves all of it to the collection.
    """

    def __init__(
        self,
        role: str,
        store: str | Path,
        task: str | Path,
        keys: str | Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: str | Path | None = None,
        certificate_key: str | Path | None = None,
        behind_proxy: bool = False,
        authority: str | None = None,
        pause: float | None = 5.0,
    ) -> None:
        if role not in (LEADER, HELPER):
            raise ParameterError(
                "role", "serve_aggregator", Words("'leader' or 'helper'", "'leader' または 'helper'"), role
            )
        if certificate is None and not behind_proxy and not _is_loopback(host):
            raise PlanError(
                f"Without a certificate only a loopback address is served, not {host}. Give a certificate, or say that a "
                "proxy in front does TLS.",
                f"証明書がない場合はループバックアドレスだけで待ち受けます（{host} は不可）。"
                "証明書を指定するか、前段のプロキシが TLS を行うことを指定してください。",
            )
        self.task = Task.read(task)
        secrets = AggregatorKeys.read(keys, self.task, role)
        self._link = secrets.link_key()
        self._context = _tls(certificate, certificate_key) if certificate is not None else None
        self.aggregator: Leader | Helper
        if role == LEADER:
            caller = Caller(self.task.helper_url, HELPER, authority=authority)
            link = self._link
            self.aggregator = Leader(
                self.task, secrets, store, lambda path, body: caller.post_authenticated(link, path, body)
            )
        else:
            self.aggregator = Helper(self.task, secrets, store)
        try:
            self._server = _Server((host, port), self)
        except OSError as problem:
            self.aggregator.close()
            raise OutputError(
                f"The {role} cannot listen on {host} port {port}: {problem.strerror}.",
                f"{role} は {host} のポート {port} で待ち受けできません（{problem.strerror}）。",
            ) from None
        self._pause = pause
        self._stopped = threading.Event()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def run(self) -> None:
        """Serve until `stop` is called or the process is interrupted."""
        worker = None
        if isinstance(self.aggregator, Leader) and self._pause is not None:
            worker = threading.Thread(target=self._verify_now_and_then, args=(self.aggregator,), daemon=True)
            worker.start()
        try:
            self._server.serve_forever(poll_interval=0.1)
        finally:
            self._stopped.set()
            if worker is not None:
                worker.join()
            self.close()

    def close(self) -> None:
        """Let go of the port and of the store, where it does not run."""
        self._server.server_close()
        self.aggregator.close()

    def stop(self) -> None:
        """Make `run` return."""
        self._server.shutdown()

    def _verify_now_and_then(self, leader: Leader) -> None:
        while not self._stopped.wait(self._pause):
            try:
                leader.aggregate()
            except UserError:
                # The collector is told; until then the reports are safe where they are.
                continue
            except Exception as problem:
                # Its words may quote a share. Whatever it was, the next round may go well.
                _LOG.error("A round of verification failed (%s); it is tried again.", type(problem).__name__)

    def answer(self, path: str, body: bytes, headers: Any) -> tuple[bytes, str]:
        """The answer to a request and its code."""
        aggregator = self.aggregator
        if isinstance(aggregator, Leader):
            if path == "/report":
                return aggregator.take_report(body), ""
            if path in ("/collect", "/collected"):
                token = _from_hex(headers.get(TOKEN_HEADER, ""))
                take = aggregator.collect if path == "/collect" else aggregator.acknowledge
                return take(body, token), ""
        elif path in ("/job", "/withdraw", "/share"):
            code = request_code(self._link, path, body)
            if not is_same_code(headers.get(CODE_HEADER, ""), code):
                raise AggregatorError(
                    "The request is not authentic: the helper works for its leader only. Check that both have the same "
                    "verify key.",
                    "要求を認証できません。ヘルパーは自分のリーダーの要求だけに応じます。両者の検証鍵が同じか確認してください。",
                )
            content = aggregator.answer(path, body)
            return content, answer_code(self._link, code, content)
        raise LookupError(path)

    def longest_request(self, path: str) -> int:
        """Bytes of the longest request that is read."""
        prio = self.task.prio
        shares = sum(prio.input_share_size(i) + SEAL_BYTES for i in range(2))
        one = shares + prio.public_share_size + prio.verifier_share_size + 256
        return one * JOB_SIZE if path == "/job" else one


class _Server(BoundedServer):
    def __init__(self, address: tuple[str, int], service: AggregatorService) -> None:
        self.service = service
        super().__init__(address, _Handler, service._context)


class _Handler(BoundedHandler):
    server: _Server

    def do_GET(self) -> None:  # noqa: N802
        service = self.server.service
        if self.read_body(0) is None:
            return
        if self.path != "/alive":
            self._say(HTTPStatus.NOT_FOUND, b"")
            return
        content = {"role": service.aggregator.role, "task": service.task.digest.hex()}
        self._say(HTTPStatus.OK, json.dumps(content).encode())

    def do_POST(self) -> None:  # noqa: N802
        service = self.server.service
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or len(length) > 12 or int(length) > service.longest_request(self.path):
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"")
            return
        body = self.read_body(int(length))
        if body is None:
            return
        try:
            content, code = service.answer(self.path, body, self.headers)
        except LookupError:
            self._say(HTTPStatus.NOT_FOUND, b"")
        except ReportRefusedError as problem:
            self._say(HTTPStatus.BAD_REQUEST, _told(problem))
        except UserError as problem:
            self._say(HTTPStatus.CONFLICT, _told(problem))
        except Exception:
            # Whatever it was may have been about somebody's report: nothing of it leaves the process.
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, b"")
        else:
            self._say(HTTPStatus.OK, content, code)

    def _say(self, status: HTTPStatus, content: bytes, code: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if code:
            self.send_header(CODE_HEADER, code)
        self.end_headers()
        self.wfile.write(content)


def serve_aggregator(
    role: str,
    store: str | Path,
    task: str | Path,
    keys: str | Path,
    *,
    announce: Callable[[int], None] | None = None,
    **settings: Any,
) -> None:
    """Run an aggregator until the process is interrupted.

    Args:
        role: ``"leader"`` or ``"helper"``.
        store: path of its SQLite file.
        task: path of the task file.
        keys: folder with this aggregator's keys.
        announce: called with the port once the aggregator listens.
        settings: as `AggregatorService` takes them.

    Raises:
        InputError: if the task or the keys cannot be read.
        LedgerError: if the store cannot be used.
        OutputError: if it cannot listen.
    """
    service = AggregatorService(role, store, task, keys, **settings)
    if announce is not None:
        announce(service.port)
    service.run()


def _told(problem: UserError) -> bytes:
    return json.dumps({"english": problem.english, "japanese": problem.japanese}).encode()


def _from_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _tls(certificate: str | Path, key: str | Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError):
        raise PlanError(
            f"The certificate {certificate} and its key cannot be used for TLS.",
            f"証明書 {certificate} とその鍵を TLS に使用できません。",
        ) from None
    return context
