"""Whoever is not meant is refused: without the session, under another name, from another origin, or outside of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.web.asking import HOST, PORT, Asking

PAGES = [
    "/",
    "/ledgers",
    "/plan?file=plan.toml",
    "/draft?file=people.csv",
    "/release?folder=release",
    "/static/page.css",
]


@pytest.fixture
def asking(tmp_path: Path) -> Asking:
    (tmp_path / "people.csv").write_text("person_id,sex\n1,female\n", encoding="utf-8")
    (tmp_path.parent / "secret.csv").write_text("person_id,sex\n99,male\n", encoding="utf-8")
    return Asking(tmp_path)


@pytest.mark.parametrize("target", PAGES)
def test_without_a_session_nothing_is_shown(asking: Asking, target: str) -> None:
    answer = asking.ask("GET", target, b"", {}, session=False)
    assert answer.status == 401
    assert "people" not in answer.text


@pytest.mark.parametrize(
    "cookie", ["sudare-8123=", "sudare-8123=x", "sudare-8124={session}", "other={session}", "=;=;"]
)
def test_another_session_is_none(asking: Asking, cookie: str) -> None:
    answer = asking.get("/", cookie=cookie.format(session=asking.keys.session))
    assert answer.status == 401


def test_the_token_is_good_for_one_use(asking: Asking) -> None:
    first = asking.ask("GET", f"/?token={asking.keys.token}", b"", {}, session=False)
    assert first.status == 303
    assert first.headers["location"] == "/", "the token does not stay in the address"
    cookie = first.headers["set-cookie"]
    assert cookie.startswith(f"sudare-{PORT}={asking.keys.session};")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert asking.ask("GET", f"/?token={asking.keys.token}", b"", {}, session=False).status == 401


def test_a_token_from_a_file_leads_on_as_a_page_of_our_own(asking: Asking) -> None:
    """A strict session is not sent along where another place leads, such as a file."""
    target = f"/?token={asking.keys.token}"
    for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        refused = asking.ask("GET", target, b"", {"sec-fetch-site": "cross-site"} | headers, session=False)
        assert refused.status == 403
    answer = asking.ask("GET", target, b"", {"sec-fetch-site": "cross-site"}, session=False)
    assert answer.status == 200
    assert 'content="0; url=/"' in answer.text
    assert asking.keys.token not in answer.text
    assert answer.headers["set-cookie"].startswith(f"sudare-{PORT}={asking.keys.session};")
    assert asking.ask("GET", target, b"", {"sec-fetch-site": "cross-site"}, session=False).status == 403


def test_a_wrong_token_uses_nothing_up(asking: Asking) -> None:
    assert asking.ask("GET", "/?token=guess", b"", {}, session=False).status == 401
    assert asking.ask("GET", f"/?token={asking.keys.token}", b"", {}, session=False).status == 303


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8123", "127.0.0.1", "127.0.0.1:9", "localhost:8123.evil", ""]
)
def test_another_name_of_this_machine_is_refused(asking: Asking, host: str) -> None:
    assert asking.get("/", host=host).status == 403


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"[::1]:{PORT}"])
def test_our_own_names_are_known(asking: Asking, host: str) -> None:
    assert asking.get("/", host=host).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", f"https://{HOST}", f"http://localhost:{PORT}", ""])
@pytest.mark.parametrize("target", ["/examples", "/draft", "/plan/run", "/release/verify", "/release/attack"])
def test_another_origin_changes_nothing(asking: Asking, target: str, origin: str, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert asking.post(target, {"name": "invented-country"}, origin=origin).status == 403
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_what_changes_something_needs_an_origin(asking: Asking, method: str) -> None:
    assert asking.ask(method, "/examples", b"", {}).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_reads_nothing(asking: Asking, site: str) -> None:
    assert asking.get("/", sec_fetch_site=site).status == 403


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "a/../../secret.csv", "..", "%00", "people.csv\x00", " ", "//etc/passwd"]
)
@pytest.mark.parametrize("page", ["/draft?file=", "/plan?file=", "/release?folder=", "/release/file?name=x&folder="])
def test_nothing_outside_of_the_folder_can_be_named(asking: Asking, page: str, name: str) -> None:
    from urllib.parse import quote

    answer = asking.get(page + quote(name))
    assert answer.status == 400
    assert "person_id" not in answer.text


def test_a_link_out_of_the_folder_leads_nowhere(asking: Asking, tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path.parent / "secret.csv")
    assert asking.get("/draft?file=link.csv").status == 400
    assert "link.csv" not in asking.get("/").text


@pytest.mark.parametrize("target", ["/", "/nowhere", "/static/page.css", "/plan?file=none"])
def test_every_answer_has_the_policy(asking: Asking, target: str) -> None:
    headers = asking.get(target).headers
    assert "script-src 'self'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_names_become_no_script(tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>.csv"
    (tmp_path / name).write_text("person_id,sex\n1,female\n", encoding="utf-8")
    asking = Asking(tmp_path)
    for target in ("/", f"/draft?file={name}"):
        assert "<img" not in asking.get(target.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")).text


def test_templates_have_no_inline_script_or_style() -> None:
    import sudare.web

    for file in (Path(sudare.web.__file__).parent / "templates").glob("*.jinja"):
        text = file.read_text(encoding="utf-8")
        assert "style=" not in text
        assert "onclick" not in text
        assert "<style" not in text
        assert text.count("<script") == text.count('<script type="module" src="/static/')
