"""From a plan to a release and back: what is asked, told, charged and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sudare.cli.console.messages import LANGUAGES
from sudare.cli.console.speaking import Speaker
from sudare.ledger import open_ledger
from sudare.releases.verification import NAMES
from tests.unit.cli.conftest import PLAN, Run


def remaining(town: Path) -> str:
    with open_ledger(town / "budget.db") as ledger:
        return str(ledger.dataset("town").remaining)


def test_a_plan_is_shown_and_spends_nothing(run: Run, town: Path) -> None:
    (town / "people.csv").write_text("KEY_CODE\n", encoding="utf-8")  # the rows are gone
    shown = run("plan", town / "plan.toml")
    assert shown.code == 0
    assert "epsilon = 0.75" in shown.out
    assert "500 m" in shown.out
    assert "Nothing was spent" in shown.err
    values = run("plan", town / "plan.toml", "--json").json
    assert values["charge"] == {"epsilon": "0.25"}
    assert values["ledger"]["after"] == {"epsilon": "0.75"}
    assert values["errors"][0]["side"] == 1
    assert remaining(town) == "epsilon = 1"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_plan_is_shown_without_a_ledger(run: Run, town: Path, language: str) -> None:
    (town / "budget.db").unlink()
    shown = run("plan", town / "plan.toml", "--lang", language)
    assert shown.code == 5
    assert "500 m" in shown.out
    assert "budget.db" in shown.err
    told = run("plan", town / "plan.toml", "--json")
    assert told.json["ledger"]["error"]["kind"] == "ledger"


def test_a_plan_for_another_unit_is_told_before_it_is_run(run: Run, town: Path) -> None:
    (town / "plan.toml").write_text(PLAN + "\n[method]\npublic_total = true\n", encoding="utf-8")
    shown = run("plan", town / "plan.toml", "--json")
    assert shown.code == 5
    assert "replace" in shown.json["ledger"]["error"]["english"]
    assert "replace" in shown.error["english"]
    assert run("release", town / "plan.toml", "--yes").code == 5
    assert remaining(town) == "epsilon = 1"


@pytest.mark.parametrize(("language", "title"), [("en", "Over all areas"), ("ja", "すべての領域")])
def test_a_plan_says_what_to_expect_of_all_areas(run: Run, town: Path, language: str, title: str) -> None:
    unknown = run("plan", town / "plan.toml", "--json").json["area_errors"]
    (town / "plan.toml").write_text(PLAN + "\n[prediction]\npeople = 1000000\n", encoding="utf-8")
    known = run("plan", town / "plan.toml", "--json").json["area_errors"]
    assert [error["side"] for error in known] == [error["side"] for error in unknown]
    for before, after in zip(unknown, known, strict=True):
        assert after["all_high"] / after["all_low"] < before["all_high"] / before["all_low"]
    shown = run("plan", town / "plan.toml", "--lang", language).out
    assert title in shown
    assert f"{known[0]['all_low']:,.1f} - {known[0]['all_high']:,.1f}" in shown


def test_a_plan_that_names_its_method(run: Run, town: Path) -> None:
    (town / "plan.toml").write_text(PLAN + '\n[method]\nname = "laplace"\n', encoding="utf-8")
    shown = run("plan", town / "plan.toml")
    assert shown.code == 0
    assert "laplace" in shown.out
    assert "signed: noise as it is drawn" in shown.out
    values = run("plan", town / "plan.toml", "--json").json
    assert values["signed"] is True
    assert values["basis"] == "formula"
    assert [error["mean_error"] for error in values["errors"]] == [0.0] * len(values["errors"])


def test_a_plan_that_the_budget_does_not_allow(run: Run, town: Path) -> None:
    (town / "plan.toml").write_text(PLAN.replace("0.25", "3"), encoding="utf-8")
    shown = run("plan", town / "plan.toml")
    assert shown.code == 4
    assert "not enough" in shown.out
    refused = run("release", town / "plan.toml", "--yes", "--json")
    assert refused.code == 4
    assert refused.error["kind"] == "budget"
    assert "Nothing was charged" in refused.error["english"]
    assert not (town / "release").exists()


def test_without_a_terminal_nothing_is_spent_unasked(run: Run, town: Path) -> None:
    shown = run("release", town / "plan.toml")
    assert shown.code == 2
    assert "--yes" in shown.err
    assert shown.out == ""
    assert remaining(town) == "epsilon = 1"
    assert not (town / "release").exists()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_the_answer_decides(run: Run, town: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    monkeypatch.setattr(Speaker, "is_interactive", True)
    monkeypatch.setattr("builtins.input", lambda *_: answer)
    assert run("release", town / "plan.toml").code == code
    assert remaining(town) == ("epsilon = 0.75" if code == 0 else "epsilon = 1")


def test_nobody_answers(run: Run, town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: object) -> str:
        raise EOFError

    monkeypatch.setattr(Speaker, "is_interactive", True)
    monkeypatch.setattr("builtins.input", end)
    assert run("release", town / "plan.toml").code == 2
    assert remaining(town) == "epsilon = 1"


def test_a_release_is_charged_once(run: Run, town: Path) -> None:
    first = run("release", town / "plan.toml", "--yes")
    assert first.code == 0
    assert first.out == f"{town / 'release'}\n"
    assert "epsilon = 0.25 was charged" in first.err
    again = run("release", town / "plan.toml", "--yes", "--json")
    assert again.err == ""
    assert again.json["is_repeated"] is True
    assert again.json["charged"] is None
    assert again.json["remaining"] == {"epsilon": "0.75"}
    refused = run("release", town / "plan.toml", "--yes", "--again", "--json")
    assert refused.code == 6
    assert remaining(town) == "epsilon = 0.75"
    sound = run("verify", town / "release", "--ledger", town / "budget.db")
    assert sound.code == 0
    assert "sound" in sound.out
    names = {check["name"] for check in run("verify", town / "release", "--json").json["checks"]}
    plain = {name for name in names if not name.startswith("file ")}
    assert plain <= set(NAMES)
    with (town / "release" / "table.csv").open("a", encoding="utf-8") as stream:
        stream.write("533946111,3\n")
    broken = run("verify", town / "release", "--json")
    assert broken.code == 7
    assert broken.json["sound"] is False
    assert {check["outcome"] for check in broken.json["checks"]} >= {"failed", "skipped"}
    assert "NOT sound" in run("verify", town / "release").out
    assert "問題があります" in run("verify", town / "release", "--lang", "ja").out


def test_wrong_data_charges_nothing(run: Run, town: Path) -> None:
    (town / "people.csv").write_text("KEY_CODE\nnowhere\n", encoding="utf-8")
    shown = run("release", town / "plan.toml", "--yes")
    assert shown.code == 3
    assert "Nothing was charged" in shown.err
    assert remaining(town) == "epsilon = 1"
    (town / "people.csv").unlink()
    assert run("release", town / "plan.toml", "--yes").code == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("row 7: Taro Yamada")])
@pytest.mark.parametrize(
    ("moment", "english", "japanese"),
    [
        ("releases.kinds.counts.running.read_counts", "Nothing was charged", "予算は使われていません"),
        (
            "releases.kinds.counts.running.write_table",
            "holds the charge of this release as spent (entry 2)",
            "使用済みとして扱われます（項目 2）",
        ),
        ("releases.folder_store.publish_folder", "charged and is complete (entry 2)", "完成しています（項目 2）"),
    ],
)
def test_whatever_happens_the_charge_is_told(
    run: Run,
    town: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    moment: str,
    english: str,
    japanese: str,
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(f"sudare.{moment}", stop)
    shown = run("release", town / "plan.toml", "--yes", "--json")
    assert shown.code == (130 if isinstance(error, KeyboardInterrupt) else 70)
    assert english in shown.error["english"]
    assert japanese in shown.error["japanese"]
    assert "Taro" not in shown.err


def test_a_ledger_that_vanishes_is_told(run: Run, town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def vanish(*_: object, **__: object) -> None:
        (town / "budget.db").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr("sudare.releases.kinds.counts.running.read_counts", vanish)
    assert "cannot be read now" in run("release", town / "plan.toml", "--yes", "--json").error["english"]


def test_the_page_again(run: Run, town: Path) -> None:
    run("release", town / "plan.toml", "--yes")
    page = town / "release" / "release.html"
    assert run("report", town / "release", "--lang", "ja").out == f"{page}\n"
    assert 'lang="ja"' in page.read_text(encoding="utf-8")
    assert run("report", town / "release", "--out", town / "page.html", "--json").json["confidential"] is False
    assert run("report", town / "release", "--out", town / "page.html").code == 6
    assert run("verify", town / "release", "--ledger", town / "budget.db").code == 0
    assert run("report", town, "--json").error["kind"] == "input"


def test_the_page_with_the_truth_stays_outside(run: Run, town: Path) -> None:
    run("release", town / "plan.toml", "--yes")
    before = sorted(path.name for path in (town / "release").iterdir())
    with_truth = ("report", town / "release", "--with-truth", town / "plan.toml")
    assert run(*with_truth).code == 2
    assert run(*with_truth, "--yes", "--out", town / "release" / "truth.html").code == 2
    assert not (town / "release-confidential.html").exists()
    shown = run(*with_truth, "--yes")
    assert shown.code == 0
    assert "CONFIDENTIAL" in shown.err
    assert (town / "release-confidential.html").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in (town / "release").iterdir()) == before
    other = PLAN.replace("53394647", "53394648")
    (town / "other.toml").write_text(other, encoding="utf-8")
    assert run("report", town / "release", "--with-truth", town / "other.toml", "--yes").code == 3


def test_stages_have_words() -> None:
    from sudare.releases.kinds.counts.running import STAGES

    assert all(Speaker(language).words(f"stage.{stage}") for stage in STAGES for language in LANGUAGES)


def test_the_json_of_a_release_has_nothing_but_json(run: Run, town: Path) -> None:
    shown = run("release", town / "plan.toml", "--yes", "--json")
    assert json.loads(shown.out)["published"]["total"] >= 0
    assert shown.err == ""


def interrupt(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"sudare.releases.kinds.counts.running.{moment}", stop)


EARLY, LATE = "read_counts", "write_table"


@pytest.mark.parametrize(
    ("moment", "english", "japanese"),
    [
        (EARLY, "no noise had been drawn, so the charge was given back (entry 2)", "費用は戻されました（項目 2）"),
        (LATE, "Nothing was published. The same command asks before it charges once more", "公表はされていません"),
    ],
)
def test_an_interruption_says_what_became_of_the_charge(
    run: Run, town: Path, monkeypatch: pytest.MonkeyPatch, moment: str, english: str, japanese: str
) -> None:
    interrupt(monkeypatch, moment)
    shown = run("release", town / "plan.toml", "--yes", "--json")
    assert shown.code == 130
    assert english in shown.error["english"]
    assert japanese in shown.error["japanese"]


def test_after_an_early_interruption_nothing_is_asked(run: Run, town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        interrupt(patched, EARLY)
        assert run("release", town / "plan.toml", "--yes").code == 130
    assert remaining(town) == "epsilon = 1"
    assert run("release", town / "plan.toml", "--yes").code == 0
    assert remaining(town) == "epsilon = 0.75"


@pytest.mark.parametrize("command", ["release", "run"])
def test_after_a_late_interruption_a_script_must_say_again(
    run: Run, town: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    with monkeypatch.context() as patched:
        interrupt(patched, LATE)
        assert run(command, town / "plan.toml", "--yes").code == 130
    assert remaining(town) == "epsilon = 0.75"
    refused = run(command, town / "plan.toml", "--yes", "--json")
    assert refused.code == 2
    assert "ledger entry 2" in refused.error["english"]
    assert "add --again" in refused.error["english"]
    assert "--again を付けてください" in refused.error["japanese"]
    assert remaining(town) == "epsilon = 0.75"
    assert run(command, town / "plan.toml", "--yes", "--again").code == 0
    assert remaining(town) == "epsilon = 0.5"
    assert run(command, town / "plan.toml", "--yes").code == 0  # it is made now, and shown again
    assert remaining(town) == "epsilon = 0.5"


@pytest.mark.parametrize(("answers", "code", "left"), [("yy", 0, "epsilon = 0.5"), ("yn", 2, "epsilon = 0.75")])
def test_after_a_late_interruption_a_person_is_asked(
    run: Run, town: Path, monkeypatch: pytest.MonkeyPatch, answers: str, code: int, left: str
) -> None:
    with monkeypatch.context() as patched:
        interrupt(patched, LATE)
        assert run("release", town / "plan.toml", "--yes").code == 130
    given = iter(answers)
    monkeypatch.setattr(Speaker, "is_interactive", True)
    monkeypatch.setattr("builtins.input", lambda *_: next(given))
    shown = run("release", town / "plan.toml")
    assert shown.code == code
    assert "charges epsilon = 0.25 once more" in " ".join(shown.err.split())
    assert remaining(town) == left
