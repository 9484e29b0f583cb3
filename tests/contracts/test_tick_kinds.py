"""What a kind keeps that publishes ticks of a window: the contract of all kinds, and that no noise is drawn unbound."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sudare import Budget
from sudare.errors import BudgetExceededError, InputError, LedgerError, ParameterError
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.windows import Windows
from sudare.releases import folder_store, protocol
from sudare.releases.kind import TickKind, is_tick_kind
from sudare.releases.registry import find_kind_of_folder, find_kind_of_plan, registered_kinds, run_plan, verify_folder
from sudare.storage import staging
from sudare.storage.staging import DOCUMENT
from sudare.system.locks import is_held
from tests.processes import start
from tests.unit.releases.kinds.series.crowds import DAY, build_series, entries_of, read_plan, run, tick_at

PUBLISHED = ["reserve", "begin-tick", "settle-tick"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_series(tmp_path)
    return tmp_path


def place_of(folder: Path) -> Path:
    return folder / "out/date=2026-11-16/time=0000"


def entries(folder: Path) -> list[str]:
    with open_ledger(folder / "budget.db") as ledger:
        assert ledger.verify() == []
        return entries_of(ledger)


def stop(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


def test_kinds_of_ticks_are_told_apart() -> None:
    assert [one.name for one in registered_kinds() if is_tick_kind(one.load())] == ["series", "subtrees"]


def test_from_a_plan_to_a_folder_that_is_sound(folder: Path) -> None:
    made = run(folder, 0)
    assert find_kind_of_plan(folder / "plan.toml").name == find_kind_of_folder(made.folder).name == "series"
    assert {check.outcome for check in verify_folder(made.folder, str(folder / "budget.db"))} == {"passed"}
    said = json.loads((made.folder / DOCUMENT).read_text(encoding="utf-8"))
    assert said == json.loads(json.dumps(made.document, default=int))
    assert entries(folder) == PUBLISHED


def test_the_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The window is reserved for before rows are read; the input is bound before the draw; the state is kept before the seal."""
    steps: list[str] = []

    def noted(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def wrapped(*given: Any, **named: Any) -> Any:
            steps.append(name)
            assert not place_of(folder).exists()
            return function(*given, **named)

        monkeypatch.setattr(owner, name, wrapped)

    kind = type(find_kind_of_plan(folder / "plan.toml").load())
    for name in ("prepare", "read", "draw", "keep", "write", "attack", "report"):
        noted(kind, name)
    for name in ("open", "begin_tick", "settle_tick"):
        noted(Windows, name)
    noted(folder_store, "publish_folder")
    run(folder, 0)
    made = ["prepare", "read", "begin_tick", "draw", "keep", "write", "attack", "report"]
    assert steps == ["open", *made, "settle_tick", "publish_folder"]


@pytest.mark.parametrize("step", ["read", "draw", "keep", "write", "report"])
def test_a_tick_that_is_stopped_goes_on_and_is_charged_once(
    folder: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(find_kind_of_plan(folder / "plan.toml").load())
    with monkeypatch.context() as patched:
        patched.setattr(kind, step, stop)
        with pytest.raises(KeyboardInterrupt):
            run(folder, 0)
    assert entries(folder) == (["reserve"] if step == "read" else ["reserve", "begin-tick"])
    assert not place_of(folder).exists()
    assert not list(folder.glob("out/*/.*partial*"))
    run(folder, 0)
    assert entries(folder) == PUBLISHED


@pytest.mark.parametrize(("owner", "name"), [(Windows, "settle_tick"), (folder_store, "publish_folder")])
def test_what_was_complete_is_shown_by_the_next_run(
    folder: Path, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, stop)
        with pytest.raises(KeyboardInterrupt):
            run(folder, 0)
    assert not place_of(folder).exists()
    assert run(folder, 0).is_repeated
    assert entries(folder) == PUBLISHED
    assert {check.outcome for check in verify_folder(place_of(folder), str(folder / "budget.db"))} == {"passed"}


def test_a_folder_that_was_changed_is_found(folder: Path) -> None:
    made = run(folder, 0)
    for name in [entry["name"] for entry in made.document["files"]]:
        path = made.folder / name
        whole = path.read_bytes()
        for changed in (whole[:-1], whole + b" ", whole[:5] + b"0" + whole[5:]):
            path.write_bytes(changed)
            assert "failed" in {check.outcome for check in verify_folder(made.folder)}, name
        path.write_bytes(whole)
    (made.folder / "more.txt").write_text("more")
    assert "failed" in {check.outcome for check in verify_folder(made.folder)}
    (made.folder / "more.txt").unlink()
    document = made.folder / DOCUMENT
    document.write_text(document.read_text(encoding="utf-8").replace('"Crowds', '"Not crowds'), encoding="utf-8")
    checks = {check.name: check.outcome for check in verify_folder(made.folder, str(folder / "budget.db"))}
    assert checks["ledger"] == "failed"
    with pytest.raises(LedgerError, match="changed"):
        run(folder, 0)
    assert entries(folder) == PUBLISHED


def test_nothing_is_read_beyond_the_budget(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_ledger(folder / "budget.db") as ledger:
        ledger.reserve("crowds", Budget(rho=2), unit=DAY, fingerprint="f" * 64)
    monkeypatch.setattr(type(find_kind_of_plan(folder / "plan.toml").load()), "read", stop)
    with pytest.raises(BudgetExceededError):
        run(folder, 0)
    assert not (folder / "out").exists()


def _run_in_a_process(folder: Path) -> None:
    run(folder, 0)


@pytest.mark.slow
def test_a_tick_that_is_started_twice_is_published_once(folder: Path) -> None:
    processes = [start(_run_in_a_process, folder) for _ in range(2)]
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    assert entries(folder) == PUBLISHED


def test_the_place_is_held_until_it_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original: Callable[..., None] = staging.publish_folder
    seen = []

    def held(*given: Any) -> None:
        handle = os.open(place_of(folder).with_name(".time=0000.lock"), os.O_RDWR)
        seen.append(is_held(handle))
        os.close(handle)
        original(*given)

    monkeypatch.setattr(folder_store, "publish_folder", held)
    run(folder, 0)
    assert seen == [True]


def test_a_ledger_that_is_handed_in_must_be_the_plans(folder: Path) -> None:
    with open_ledger(folder / "other.db", create=True) as other:
        other.add_dataset("crowds", Budget(rho=2), unit=DAY)
        with pytest.raises(ParameterError, match="ledger that the plan names"):
            run(folder, 0, ledger=other)
        assert other.head()[0] == 1
    with open_ledger(folder / "budget.db") as own:
        assert not run(folder, 0, ledger=own).is_repeated


def test_no_tick_is_carried_out_as_a_release_of_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be drawn without being bound to its input, and charged once more."""
    run(folder, 0)
    plan = read_plan(folder)
    kind = find_kind_of_plan(folder / "plan.toml").load()
    with pytest.raises(TypeError, match="carry_out_tick"):
        protocol.carry_out(kind, plan.at(tick_at(plan, 1)))
    monkeypatch.setattr(type(kind), "read_plan", lambda *_: plan.at(tick_at(plan, 1)))
    with pytest.raises(ParameterError, match="again"):
        run_plan(folder / "plan.toml", again=True)
    assert not run_plan(folder / "plan.toml").is_repeated
    assert entries(folder) == [*PUBLISHED, "begin-tick", "settle-tick"]


def test_a_kind_that_is_none_of_ticks_is_none() -> None:
    assert not is_tick_kind(object())
    assert TickKind in type(next(one.load() for one in registered_kinds() if one.name == "series")).__mro__


def test_data_that_is_missing_is_no_draw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "rows/2026-11-16/0000.parquet").unlink()
    monkeypatch.setattr(Ledger, "secret", Ledger.secret)
    with pytest.raises(InputError):
        run(folder, 0)
    assert entries(folder) == ["reserve"]
