"""Attacks on the page as it runs, over real sockets: strangers, other sites, names that lead out, and bodies that do not end."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.page_client import PageClient, open_page

HIDDEN = "HIDDEN-99"
ADDRESSES = (
    "/draft?file=",
    "/plan?file=",
    "/plan/curves?file=",
    "/plan/point?value=1&file=",
    "/release?folder=",
    "/release/file?name=x&folder=",
    "/release/file?folder=.&name=",
    "/map/cells?folder=",
    "/ways?file=",
    "/records?file=",
    "/records/new?file=",
    "/tables?file=",
    "/tables/new?file=",
    "/tables/cell?cell=0&file=",
    "/queries?data=",
    "/queries/new?file=",
    "/series?file=",
    "/series/film?file=",
)
READING = ("/", "/ledgers", *(f"{address}people.csv" for address in ADDRESSES), "/static/page.css")
CHANGING = (
    "/examples",
    "/draft",
    "/plan/run",
    "/plan/carry-out",
    "/release/verify",
    "/release/attack",
    "/map/truth",
    "/records/levels",
    "/records/change",
    "/records/new",
    "/queries/ask",
    "/queries/new",
    "/tables/retry",
    "/tables/new",
    "/series/run",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with people in it, beside one that nobody may look into."""
    root = tmp_path_factory.mktemp("page")
    work = root / "work"
    work.mkdir()
    (work / "people.csv").write_text("person_id,sex\n1,female\n", encoding="utf-8")
    (root / "secret.csv").write_text(f"person_id,sex\n{HIDDEN},male\n", encoding="utf-8")
    (work / "link.csv").symlink_to(root / "secret.csv")
    (work / "way").symlink_to(root)
    os.mkfifo(work / "pipe.csv")
    return work


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with open_page(folder) as (_, printed):
        yield printed


@pytest.fixture(scope="module")
def known(address: str) -> PageClient:
    """Somebody with the session."""
    client = PageClient(address)
    client.enter()
    return client


@pytest.fixture
def stranger(address: str, known: PageClient) -> PageClient:
    """Somebody without one, after the token was used."""
    return PageClient(address)


def _contents(folder: Path) -> list[tuple[str, bytes]]:
    found = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return [(str(path), path.read_bytes()) for path in found]


@pytest.mark.parametrize("target", READING)
def test_without_the_token_nothing_is_read(stranger: PageClient, target: str) -> None:
    reply = stranger.get(target)
    assert reply.status == 401
    assert "sudare ui" in reply.text, "the way back is told"


@pytest.mark.parametrize("target", CHANGING)
def test_without_the_token_nothing_is_changed(stranger: PageClient, folder: Path, target: str) -> None:
    before = _contents(folder)
    assert stranger.post(target, {"name": "invented-survey", "file": "people.csv"}).status == 401
    assert stranger.put("/files/new.csv", b"a,b\n").status == 401
    assert _contents(folder) == before


def test_a_used_token_is_worth_nothing(stranger: PageClient) -> None:
    assert stranger.get(stranger.token_target).status == 401


@pytest.mark.parametrize(
    "forged",
    [
        "{name}=",
        "{name}=x",
        "{name}={value}x",
        "{name}={short}",
        "{name}=日本",
        "other={value}",
        "{name}_={value}",
        "=",
    ],
)
def test_a_forged_session_is_none(known: PageClient, forged: str) -> None:
    name, _, value = known.cookie.partition("=")
    assert known.get("/", cookie=forged.format(name=name, value=value, short=value[:-1])).status in (400, 401)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1:{port}.evil.example",
        "127.0.0.1:{port}@evil.example",
        "0.0.0.0:{port}",
        "127.1:{port}",
        "2130706433:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "127.0.0.1",
        "",
        None,
    ],
)
def test_another_host_is_refused(known: PageClient, host: str | None) -> None:
    named = None if host is None else host.format(port=known.port)
    assert known.get("/", host=named).status in (400, 403)


def test_two_hosts_and_two_origins_are_refused(known: PageClient, folder: Path) -> None:
    session = f"Cookie: {known.cookie}\r\nConnection: close\r\n"
    for first, second in ((known.host, "evil.example"), ("evil.example", known.host)):
        head = f"GET / HTTP/1.1\r\nHost: {first}\r\nHost: {second}\r\n{session}\r\n"
        assert known.send(head.encode()).status == 400
    own, other = f"Origin: http://{known.host}\r\n", "Origin: http://evil.example\r\n"
    for origins in (own + other, other + own):
        head = f"POST /examples HTTP/1.1\r\nHost: {known.host}\r\n{origins}{session}Content-Length: 20\r\n\r\n"
        assert known.send(head.encode() + b"name=invented-survey").status == 403
    assert not (folder / "invented-survey").exists()


@pytest.mark.parametrize("target", CHANGING)
@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://{host}", "http://{host}.evil.example"]
)
def test_another_origin_changes_nothing(known: PageClient, folder: Path, target: str, origin: str | None) -> None:
    before = _contents(folder)
    named = None if origin is None else origin.format(host=known.host)
    form = {"name": "invented-survey", "file": "people.csv", "title": "t"}
    assert known.post(target, form, origin=named).status == 403
    assert known.put("/files/new.csv", b"a,b\n", origin=named).status == 403
    assert _contents(folder) == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_reads_nothing(known: PageClient, site: str) -> None:
    for target in ("/", "/static/page.css", "/ledgers"):
        assert known.get(target, sec_fetch_site=site).status == 403


@pytest.mark.parametrize("target", CHANGING)
def test_what_changes_something_is_no_get(known: PageClient, folder: Path, target: str) -> None:
    before = _contents(folder)
    for method in ("GET", "HEAD"):
        known.ask(
            method, f"{target}?name=invented-survey&file=people.csv&title=t&role-1=category&list-1=sex-en&total=1"
        )
    assert _contents(folder) == before


OUTSIDE = (
    "../secret.csv",
    "{root}/secret.csv",
    "/etc/passwd",
    "//etc/passwd",
    "..%2fsecret.csv",
    "%2e%2e/secret.csv",
    "%252e%252e%252fsecret.csv",
    "..%c0%afsecret.csv",
    "..\\secret.csv",
    "people.csv%00",
    "%00",
    "%ff%fe",
    "file:///etc/passwd",
    "http://127.0.0.1:9/x.csv",
    "~/.bashrc",
    "people.csv/../../secret.csv",
    "people.csv%0d%0aX:%20y",
    "link.csv",
    "way/secret.csv",
    "pipe.csv",
    "*.csv",
    "日" * 200 + ".csv",
    "a" * 5000,
    "a/" * 2000,
)


@pytest.mark.parametrize("name", OUTSIDE, ids=lambda name: name[:24])
def test_names_lead_nowhere_but_into_the_folder(known: PageClient, folder: Path, name: str) -> None:
    asked = name.format(root=quote(str(folder.parent), safe="/")) if "{" in name else name
    for address in ADDRESSES:
        reply = known.get(address + (asked if "%" in asked else quote(asked)))
        assert reply.status in (400, 404), (address, reply.text)
        assert HIDDEN not in reply.text
        assert "root:" not in reply.text


@pytest.mark.parametrize(
    "path",
    [
        "/static/../guard.py",
        "/static/../../guard.py",
        "/static/..%2f..%2fguard.py",
        "/static/%2e%2e/guard.py",
        "/../../etc/passwd",
        "//etc/passwd",
        "/static//etc/passwd",
        "/static/page.css%00",
        "/job/..%2f..%2f",
    ],
)
def test_paths_lead_nowhere_either(known: PageClient, path: str) -> None:
    reply = known.get(path)
    assert reply.status in (400, 404)
    assert "root:" not in reply.text
    assert "class Guard" not in reply.text


@pytest.mark.parametrize("name", ["..%2fup.csv", "%2e%2e%2fup.csv", "..%5cup.csv", "%00.csv", ".csv", "x.csv%00.exe"])
def test_an_upload_stays_in_the_folder(known: PageClient, folder: Path, name: str) -> None:
    outside = sorted(path.name for path in folder.parent.iterdir())
    known.put(f"/files/{name}", b"a,b\n")
    assert sorted(path.name for path in folder.parent.iterdir()) == outside


def test_a_link_is_not_written_through(known: PageClient, folder: Path) -> None:
    assert known.put("/files/link.csv", b"changed").status == 400
    assert HIDDEN in (folder.parent / "secret.csv").read_text(encoding="utf-8")


def test_a_form_without_end_is_refused(known: PageClient) -> None:
    large = b"name=" + b"x" * (3 << 20)
    sent = {"origin": f"http://{known.host}", "content-type": "application/x-www-form-urlencoded"}
    assert known.ask("POST", "/examples", large, sent).status in (0, 413)  # it may hang up before all was sent
    chunked = b"".join(b"%x\r\n%s\r\n" % (1 << 16, b"x" * (1 << 16)) for _ in range(48)) + b"0\r\n\r\n"
    head = f"POST /examples HTTP/1.1\r\nHost: {known.host}\r\nOrigin: http://{known.host}\r\nCookie: {known.cookie}\r\n"
    reply = known.send(f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode() + chunked)
    assert reply.status in (0, 413)
    assert known.get("/").status == 200


def test_an_upload_that_would_fill_the_disk_is_refused_at_once(known: PageClient, folder: Path) -> None:
    reply = known.put("/files/huge.csv", b"", content_length=str(10**16))
    assert reply.status == 400
    assert "space" in reply.text
    assert not [path for path in folder.iterdir() if "huge" in path.name]


def test_headers_without_end_are_refused(known: PageClient) -> None:
    assert known.get("/", x_long="x" * (1 << 20)).status in (0, 400, 431)
    assert known.get("/?" + "a" * (1 << 20)).status in (0, 400, 414, 431)
    assert known.get("/").status == 200


def test_whoever_sends_slowly_keeps_nobody_waiting(known: PageClient, folder: Path) -> None:
    head = f"POST /examples HTTP/1.1\r\nHost: {known.host}\r\nOrigin: http://{known.host}\r\nCookie: {known.cookie}\r\n"
    put = head.replace("POST /examples", "PUT /files/slow.csv")
    with ExitStack() as lines:
        for begun in (head, head + "Content-Length: 100\r\n\r\nname=", put + "Content-Length: 9\r\n\r\na,b", "GE") * 20:
            line = lines.enter_context(socket.create_connection(("127.0.0.1", known.port)))
            line.sendall(begun.encode())
        assert known.get("/").status == 200
        assert known.put("/files/quick.csv", b"person_id,sex\n").status == 200
    assert not (folder / "slow.csv").exists()
    assert (folder / "quick.csv").exists()


def test_no_answer_gives_the_session_away(known: PageClient) -> None:
    value = known.cookie.partition("=")[2]
    for target in ("/", "/ledgers", "/nowhere", "/plan?file=none", "/draft?file=people.csv"):
        reply = known.get(target)
        assert value not in reply.text
        assert "access-control-allow-origin" not in reply.headers
        assert "'unsafe-inline'" not in reply.headers["content-security-policy"]
    assert known.ask("TRACE", "/", b"", {"origin": f"http://{known.host}"}).status in (400, 404, 405)


def test_only_this_machine_can_connect(known: PageClient) -> None:
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", known.port), timeout=5):
        pass
