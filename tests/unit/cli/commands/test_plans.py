"""`sudare plan` and `sudare run` take plans of every kind, one that is registered later included."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.ledger import open_ledger
from sudare.releases import registry
from sudare.releases.registry import find_kind_of_plan
from tests.contracts.tally_kind import REGISTRATION
from tests.contracts.test_release_kinds import ALL, NOTED, PAID, Case, account, each
from tests.unit.cli.conftest import Run


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register_kind(REGISTRATION)


@each(ALL)
def test_a_dry_run_spends_and_writes_nothing(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    for language in ("en", "ja"):
        shown = run("plan", plan, "--lang", language)
        assert shown.code == 0, shown.err
        assert shown.out
    values = run("plan", plan, "--json").json
    assert values["plan"] == str(plan)
    assert values["ready"] is True
    assert values["obstacles"] == []
    assert not (tmp_path / "out").exists()
    assert account(tmp_path)[0] == []


@each(ALL)
def test_a_plan_that_would_be_refused_says_so(run: Run, tmp_path: Path, case: Case) -> None:
    """All that is in the way at once, in both languages, with the exit code of the release, and no word of carrying it out."""
    plan = case.build(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "budget.db").rename(tmp_path / "elsewhere.db")
    for data in ("people.csv", "people.parquet", "firms.csv", "lines.txt"):
        (tmp_path / data).unlink(missing_ok=True)
    kinds = ["ledger", "output", *(["input"] if case.kind != "tally" else [])]
    for language, way, carry in (("en", "in the way", "Carry it out"), ("ja", "まだ実行できません", "実行するには")):
        shown = run("plan", plan, "--lang", language)
        assert shown.code == 5
        assert way in shown.err
        assert carry not in shown.err
        alone = run("plan", plan, "--plan-only", "--lang", language)
        assert alone.code == 0
        assert carry not in alone.err
    answer = run("plan", plan, "--json")
    assert answer.code == 5
    assert answer.json["ready"] is False
    assert [one["kind"] for one in answer.json["obstacles"]] == kinds
    assert answer.error["kind"] == kinds[-1]
    assert run("run", plan, "--yes").code in (5, 6)


@each(PAID)
def test_a_budget_that_is_too_small_is_in_the_way(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    with open_ledger(tmp_path / "budget.db") as ledger:
        town = ledger.dataset("town")
        assert town.remaining is not None
        ledger.reserve("town", town.remaining, unit=town.unit, fingerprint="0" * 64)
    shown = run("plan", plan, "--json")
    assert shown.code == 4, shown.err
    assert [one["kind"] for one in shown.json["obstacles"]] == ["budget"]
    assert "Write less under [budget]" in shown.json["obstacles"][0]["english"]
    assert run("run", plan, "--yes").code == 4


@each(PAID)
def test_a_charge_that_an_earlier_run_left_is_told(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    kind = find_kind_of_plan(plan).load()
    read = kind.read_plan(plan)
    price = kind.header(read).price
    assert price is not None
    with open_ledger(tmp_path / "budget.db") as ledger:
        fingerprint = kind.identity(read, 0).fingerprint
        left = ledger.reserve("town", price.budget, unit=ledger.dataset("town").unit, fingerprint=fingerprint)
    shown = run("plan", plan)
    assert f"entry {left.number}" in " ".join(shown.err.split())
    assert run("plan", plan, "--json").json["unfinished"] == [left.number]


@each(PAID)
def test_a_release_that_was_made_stands_in_nobodys_way(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    assert run("run", plan, "--yes").code == 0
    shown = run("plan", plan)
    assert shown.code == 0
    assert "made before" in shown.err
    assert run("plan", plan, "--json").json["made_before"] is True
    (tmp_path / "out").rename(tmp_path / "away")
    lost = run("plan", plan)
    assert lost.code == 5
    assert "gone or was changed" in " ".join(lost.err.split())


@each(ALL)
def test_a_plan_is_carried_out(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    made = run("run", plan, "--yes", "--json")
    assert made.code == 0, made.err
    assert made.json["folder"] == str(tmp_path / "out")
    assert run("verify", tmp_path / "out", "--ledger", tmp_path / "budget.db").code == 0


@each(PAID)
def test_the_budget_is_asked_for_and_told(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    refused = run("run", plan)
    assert refused.code != 0
    assert account(tmp_path)[0] == []
    made = run("run", plan, "--yes")
    assert "was charged" in made.err
    assert made.out.strip() == str(tmp_path / "out")
    assert "nothing was spent" in run("run", plan, "--yes").err
    other = run("run", plan, "--yes", "--out", tmp_path / "other", "--json").json
    assert other["folder"] == str(tmp_path / "other")
    assert account(tmp_path)[0] == ["reserve", "settle"] * 2


@each(PAID)
def test_what_was_charged_is_told_whatever_happens(
    run: Run, tmp_path: Path, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = case.build(tmp_path)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("sudare.releases.protocol.describe_charge", stop)
        assert "Nothing was charged" in run("run", plan, "--yes").err
    monkeypatch.setattr("sudare.releases.protocol.document_text", stop)
    assert "holds the charge of this release as spent" in run("run", plan, "--yes").err


@each(NOTED)
def test_what_has_no_guarantee_is_not_paid_for(run: Run, tmp_path: Path, case: Case) -> None:
    plan = case.build(tmp_path)
    assert run("run", plan).code == 0
    assert account(tmp_path)[0] == ["publish"]


def test_a_plan_of_no_kind(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('kind = "count"\n')
    shown = run("run", tmp_path / "plan.toml", "--json")
    assert shown.code == 2
    assert '"counts"' in shown.error["english"]
    assert '"counts"' in shown.error["japanese"]
    assert run("plan", tmp_path / "plan.toml").code == 2
