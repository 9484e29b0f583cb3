"""The doctor tells what is wrong, and what to do, without stopping at the first thing."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sudare.cli.commands import doctor
from tests.unit.cli.conftest import Answer, Run


def states(answer: Answer) -> dict[str, str]:
    return {line["name"]: line["state"] for line in answer.json["lines"]}


def test_a_sound_machine(run: Run, town: Path) -> None:
    shown = run("doctor", "--ledger", town / "budget.db", "--json")
    found = states(shown)
    assert shown.json["healthy"] is True
    assert shown.code == 0
    assert found.keys() >= {"python", "packages", "cores", "memory", "disk", "entropy", "kernels", "geo", "ledger"}
    assert found["entropy"] == found["kernels"] == found["ledger"] == "ok"
    for language, verdict in (("en", "can make releases"), ("ja", "公表を実行できます")):
        assert verdict in run("doctor", "--lang", language).out


def test_a_ledger_that_is_not_there(run: Run, tmp_path: Path) -> None:
    shown = run("doctor", "--ledger", tmp_path / "nowhere.db", "--json")
    assert shown.code == 7
    assert states(shown)["ledger"] == "fail"


def test_a_generator_that_repeats_itself(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    stuck = SimpleNamespace(words=lambda count: np.zeros(count, dtype=np.uint64))
    monkeypatch.setattr("sudare.noise.entropy.secure_entropy", lambda: stuck)
    shown = run("doctor", "--json")
    assert shown.code == 7
    assert states(shown)["entropy"] == "fail"
    assert "NO release" in run("doctor").out


def test_what_breaks_is_told_and_the_rest_is_still_looked_at(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError("no such device")

    monkeypatch.setattr("sudare.noise.discrete_laplace", broken)
    shown = run("doctor", "--json")
    assert states(shown)["kernels"] == "fail"
    assert states(shown)["encoding"] in ("ok", "warn")


def test_missing_packages_and_little_room(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name in ("rasterio", "psycopg") else find(name, package)

    monkeypatch.setattr("importlib.util.find_spec", find_spec)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
    monkeypatch.setattr(doctor, "LITTLE_MEMORY", 1 << 60)
    monkeypatch.setattr(doctor, "JAPANESE_FONTS", ("no such font",))
    monkeypatch.setattr(doctor, "OLDEST_PYTHON", (4, 0))
    monkeypatch.setattr(doctor, "NEEDED", ("no-such-package",))
    found = states(run("doctor", "--json"))
    warned = {name for name, state in found.items() if state == "warn"}
    assert warned >= {"geo", "postgres", "disk", "temporary", "memory", "font"}
    assert found["python"] == found["packages"] == "fail"
    shown = run("doctor")
    assert shown.code == 7
    assert "sudare[geo]" in shown.out
    assert "2 things must be mended" in shown.out


def test_folders_that_cannot_be_written_to(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    found = states(run("doctor", "--json"))
    assert found["disk"] == "fail"
    assert found["kernels"] == "warn"


@pytest.mark.parametrize(("language", "said"), [("en", "Compiled ahead"), ("ja", "事前コンパイル")])
def test_all_code_can_be_compiled_ahead(run: Run, monkeypatch: pytest.MonkeyPatch, language: str, said: str) -> None:
    asked: list[str] = []

    def prepare_all() -> tuple[int, int]:
        asked.append("all")
        return 111, 7

    monkeypatch.setattr("sudare.kernels.warming.prepare_all", prepare_all)
    assert said not in run("doctor", "--lang", language).out
    assert asked == []
    shown = run("doctor", "--warm", "--lang", language)
    assert shown.code == 0
    assert said in shown.out
    assert "111" in shown.out
    assert asked == ["all"]
    monkeypatch.setattr("sudare.kernels.prepared.loading.kept_in", lambda: None)
    lost = run("doctor", "--warm", "--json")
    assert lost.code == 7
    assert states(lost)["warm"] == "fail"
    assert states(lost)["kernels"] == "warn"
