"""What goes wrong around a release from the page: two tabs, a closed browser, a killed process, a column that is gone.

Nothing is charged that was not drawn, nothing is lost that was paid for, and the page tells the way back in its language.
"""

from __future__ import annotations

import signal
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import verify_release
from tests.page_client import PageClient, Reply, open_page

PLAN = "survey/plan.toml"
SCRIPT = "<script>alert('x')</script>"


def _write_survey(folder: Path, *, title: str = "Survey") -> None:
    """Invented people, a plan for them, and an account of epsilon 2."""
    place = folder / "survey"
    place.mkdir(parents=True)
    rows = "".join(f"{number},{'female' if number % 3 else 'male'}\n" for number in range(3000))
    (place / "people.csv").write_text(f"person_id,sex\n{rows}", encoding="utf-8")
    (place / "plan.toml").write_text(
        f'title = "{title}"\npublisher = "Office"\n[source]\npath = "people.csv"\nrows = "people"\nperson = "person_id"\n'
        '[[domain]]\nname = "sex"\nkind = "category"\nlabels = ["female", "male"]\n[unit]\nwho = "person"\n'
        '[budget]\nepsilon = 0.5\n[ledger]\nlocation = "budget.db"\ndataset = "people"\n[output]\nfolder = "release"\n',
        encoding="utf-8",
    )
    from sudare.privacy import Budget, Unit

    with open_ledger(place / "budget.db", create=True) as ledger:
        ledger.add_dataset("people", Budget(epsilon=2), unit=Unit("person"))


def _spent(folder: Path) -> str:
    with open_ledger(folder / "survey" / "budget.db") as ledger:
        return str(ledger.dataset("people").spent)


def _left(folder: Path) -> str:
    """What neither was spent nor is held for a run that did not end."""
    with open_ledger(folder / "survey" / "budget.db") as ledger:
        return str(ledger.dataset("people").remaining)


def _is_sound(folder: Path) -> bool:
    place = folder / "survey"
    return all(check.outcome == "passed" for check in verify_release(place / "release", str(place / "budget.db")))


def _enter(address: str, language: str = "en") -> PageClient:
    client = PageClient(address, language)
    client.enter()
    return client


def _post_at_once(client: PageClient, forms: list[dict[str, str]]) -> list[Reply]:
    replies: list[Reply] = []
    threads = [
        threading.Thread(target=lambda form=form: replies.append(client.post("/plan/run", form))) for form in forms
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def test_tabs_a_closed_browser_and_a_column_that_is_gone(tmp_path: Path) -> None:
    _write_survey(tmp_path, title=SCRIPT)
    data = tmp_path / "survey" / "people.csv"
    whole = data.read_text(encoding="utf-8")
    with open_page(tmp_path) as (_, address):
        client = _enter(address)

        data.write_text(whole.replace("sex", "gender", 1), encoding="utf-8")  # since the plan was drafted
        said = client.get(f"/plan?file={PLAN}").text
        assert "sex" in said
        assert "gender" in said, "what is there instead is the way back"
        for language, word in (("en", "column"), ("ja", "列")):
            client.language = language
            failed = client.finish(client.post("/plan/run", {"file": PLAN}))
            assert failed["state"] == "failed"
            assert word in failed["problem"]
            assert "Traceback" not in failed["problem"]
        assert _spent(tmp_path) == "None", "what was not drawn is not charged"
        data.write_text(whole, encoding="utf-8")
        client.language = "en"

        body = urlencode({"file": PLAN}).encode()
        head = f"POST /plan/run HTTP/1.1\r\nHost: {client.host}\r\nOrigin: http://{client.host}\r\nCookie: {client.cookie}\r\n"
        with socket.create_connection(("127.0.0.1", client.port)) as line:  # the browser is closed before the answer
            line.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        replies = _post_at_once(client, [{"file": PLAN}] * 6)  # and six tabs ask for the same
        assert [client.finish(reply)["state"] for reply in replies] == ["done"] * 6
        assert _spent(tmp_path) == "epsilon = 0.5"
        assert _is_sound(tmp_path)

        for target in ("/", f"/plan?file={PLAN}", "/release?folder=survey/release", "/ledgers"):
            shown = client.get(target)
            assert shown.status == 200
            assert SCRIPT not in shown.text
        assert "&lt;script&gt;" in client.get("/ledgers").text, "the purpose of a charge is shown as text"


def test_two_tabs_with_two_budgets_are_two_wishes(tmp_path: Path) -> None:
    """What a release spends is what its own form said; the plan file says what was spent."""
    from sudare.releases.kinds.counts import read_plan

    _write_survey(tmp_path)
    with open_page(tmp_path) as (_, address):
        client = _enter(address)
        replies = _post_at_once(client, [{"file": PLAN, "value": value} for value in ("0.25", "0.5", "0.75")])
        ends = [client.finish(reply) for reply in replies if reply.status == 303]
        assert [end["state"] for end in ends].count("done") >= 1
        refused = [reply for reply in replies if reply.status != 303]
        assert all(reply.status == 400 and "Survey" in reply.text for reply in refused)
        planned = read_plan(tmp_path / PLAN).budget
        assert _spent(tmp_path) == str(planned), "one release, at the budget that the plan says"
        assert _is_sound(tmp_path)


def _finish_what_was_left(folder: Path, client: PageClient) -> None:
    """Whatever the run that was killed had kept is not charged for again until somebody says so."""
    before = _left(folder)
    end = client.finish(client.post("/plan/run", {"file": PLAN}))
    if end["state"] == "failed":
        assert "台帳の項目" in end["problem"]
        assert _left(folder) == before == "epsilon = 1.5"
        assert 'name="once-more"' in client.get(f"/plan?file={PLAN}").text
        end = client.finish(client.post("/plan/run", {"file": PLAN, "once-more": "yes"}))
        assert _left(folder) == "epsilon = 1"
    else:
        assert _left(folder) == "epsilon = 1.5"
    assert end["state"] == "done"
    assert 'name="once-more"' not in client.get(f"/plan?file={PLAN}").text


def test_what_a_killed_run_kept_is_not_charged_twice(tmp_path: Path) -> None:
    """As the ledger is left by a run that was killed between its reservation and the end."""
    from sudare.releases.registry import find_kind_of_plan

    _write_survey(tmp_path)
    kind = find_kind_of_plan(tmp_path / PLAN).load()
    plan = kind.read_plan(tmp_path / PLAN)
    with open_ledger(plan.ledger.location) as ledger:
        fingerprint = kind.identity(plan, 0).fingerprint
        ledger.reserve("people", plan.budget, unit=ledger.dataset("people").unit, fingerprint=fingerprint)
    with open_page(tmp_path) as (_, address):
        client = _enter(address, "ja")
        assert 'name="once-more"' in client.get(f"/plan?file={PLAN}").text
        _finish_what_was_left(tmp_path, client)
        assert _left(tmp_path) == "epsilon = 1"


@pytest.mark.parametrize(
    "moment", [0.0, pytest.param(0.02, marks=pytest.mark.deep), pytest.param(0.1, marks=pytest.mark.deep)]
)
def test_a_killed_process_loses_nothing(tmp_path: Path, moment: float) -> None:
    _write_survey(tmp_path)
    with open_page(tmp_path) as (process, address):
        client = _enter(address)
        assert client.post("/plan/run", {"file": PLAN}).status == 303
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with open_page(tmp_path) as (_, address):
        old = PageClient(address)
        old.cookie = client.cookie.replace(str(client.port), str(old.port))
        assert old.get("/").status == 401, "a session ends with its process"
        client = _enter(address, "ja")
        for target in ("/", f"/plan?file={PLAN}", "/ledgers"):
            assert client.get(target).status == 200
        gone = client.get("/job/none")
        assert gone.status == 400
        assert "公表済み" in gone.text
        _finish_what_was_left(tmp_path, client)
        assert _is_sound(tmp_path)
        assert client.get("/release?folder=survey/release").status == 200
