"""Who may speak to the local page: whoever has the address with its one-time token, from a browser on this machine; nobody else.

What each rule stops:

====================================  ==================================================================================
rule                                  stops
====================================  ==================================================================================
listening on the loopback address     other machines
the host must be one of ours          a foreign name that somebody lets point at this machine (DNS rebinding)
a session, given for a token, once    other users of this machine, and pages that guess the port
``SameSite=Strict`` on the session    requests that another site makes the browser send
own origin for whatever changes       the same, in browsers or modes that send the session all the same
each of these headers once            one that is checked, and another one that is meant
no fetch from another site            reading by tags and style sheets of other sites
a policy without inline script        a name in the data that would become script
====================================  ==================================================================================

The browser of this machine gets the address from a private file (`sudare.web.handover`), as everybody may read the list of
processes. It then comes from another place than our page: the token says enough, and the answer leads on as a page of our own,
since a strict session is not sent along where another place leads.

The token is used up by its first use. The session lives as long as the process; it is compared in constant time, is no part of
any address, and is not written anywhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from sudare.bilingual import Words
from sudare.web.handover import leading_page

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["POLICY", "SANDBOX_POLICY", "Guard", "Keys"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"
)
SANDBOX_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox"
"""Of reports, which bring their style with them and have no script."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
READING = ("GET", "HEAD")
ONCE = ("host", "origin", "cookie", "sec-fetch-site")
"""Headers that a browser sends once; of two of them, nobody knows which one is meant."""

NO_SESSION = Words(
    "This page is open to whoever started it. Open the address that `sudare ui` printed, or start it once more.",
    "このページは起動した人だけが使えます。`sudare ui` が表示したアドレスを開くか、もう一度起動してください。",
)
FOREIGN = Words(
    "This request came from another page or under another name, and was refused.",
    "別のページから、または別の名前で届いた要求のため、受け付けませんでした。",
)


@dataclass(eq=False)
class Keys:
    """The one-time token in the address, and the session that it is exchanged for."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    is_used: bool = False

    def take(self, token: str) -> bool:
        """Whether a token is the one that was given out and not used before; it is used up then."""
        fits = hmac.compare_digest(token.encode(), self.token.encode()) and not self.is_used
        self.is_used = self.is_used or fits
        return fits

    def knows(self, session: str) -> bool:
        """Whether a session is ours."""
        return hmac.compare_digest(session.encode(), self.session.encode())


class Guard:
    """Lets through what the rules above allow, and adds the headers that every answer has.

    Args:
        app: what is guarded.
        keys: of the process.
        port: that it listens on.
        names: by which this machine may be called.
    """

    def __init__(
        self, app: ASGIApp, *, keys: Keys, port: int, names: Iterable[str] = ("127.0.0.1", "localhost", "[::1]")
    ) -> None:
        self.app, self.keys = app, keys
        self.hosts = frozenset(f"{name}:{port}" for name in names)
        self.cookie = f"sudare-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        named = [name.decode("latin-1").lower() for name, _ in scope["headers"]]
        headers = dict(zip(named, (value.decode("latin-1") for _, value in scope["headers"]), strict=True))
        if any(named.count(name) > 1 for name in ONCE):
            await _refuse(send, 403, FOREIGN)
            return
        is_own = self._is_own(scope["method"], headers)
        if is_own and self._has_session(headers.get("cookie", "")):
            await self.app(scope, receive, _with_headers(send))
        elif self._takes_token(scope, headers):
            told = {"Set-Cookie": self._session_cookie()}
            if is_own:
                await _answer(send, 303, b"", told | {"Location": "/"})
            else:
                await _answer(
                    send, 200, leading_page("/").encode(), told | {"Content-Type": "text/html; charset=utf-8"}
                )
        elif is_own:
            await _refuse(send, 401, NO_SESSION)
        else:
            await _refuse(send, 403, FOREIGN)

    def _takes_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Whether somebody opens the first page under our name with the token, from wherever; it is used up then."""
        if scope["method"] != "GET" or scope["path"] != "/" or headers.get("host", "") not in self.hosts:
            return False
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return "origin" not in headers and self.keys.take(token)

    def _is_own(self, method: str, headers: dict[str, str]) -> bool:
        """Whether a request has one of our names, and comes from our own page or from the address line."""
        host = headers.get("host", "")
        if host not in self.hosts or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return False
        origin = headers.get("origin")
        return method in READING if origin is None else origin == f"http://{host}"

    def _has_session(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self.cookie)
        except CookieError:
            return False
        return found is not None and self.keys.knows(found.value)

    def _session_cookie(self) -> str:
        return f"{self.cookie}={self.keys.session}; Path=/; HttpOnly; SameSite=Strict"


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            wanted = {"Content-Security-Policy": POLICY, **HEADERS}
            message["headers"] = [*message["headers"], *_encoded(wanted, given)]
        await send(message)

    return sending


def _encoded(headers: dict[str, str], given: Iterable[bytes] = ()) -> list[tuple[bytes, bytes]]:
    known = set(given)
    pairs = ((name.lower().encode(), value.encode()) for name, value in headers.items())
    return [(name, value) for name, value in pairs if name not in known]


async def _refuse(send: Send, status: int, words: Words) -> None:
    text = f"{words.english}\n{words.japanese}\n".encode()
    await _answer(send, status, text, {"Content-Type": "text/plain; charset=utf-8"})


async def _answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    sent = _encoded({"Content-Security-Policy": POLICY, **HEADERS, **headers})
    await send({"type": "http.response.start", "status": status, "headers": sent})
    await send({"type": "http.response.body", "body": body})
