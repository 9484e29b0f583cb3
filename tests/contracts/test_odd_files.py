"""Pipes, devices, numbers without end and clocks beyond all years: a plain error in both languages, and no waiting."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.cli import main
from sudare.ledger import open_ledger
from sudare.microdata.pseudonyms import make_register, new_key
from sudare.system.clock import time_text
from tests.commands import Answer, Run, runner
from tests.unit.releases.kinds.counts.offices import PLAN, open_office, remaining
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, build_town

ALLOWED = (2, 3, 5, 6, 10)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, 200)


@pytest.fixture(autouse=True)
def no_waiting() -> Iterator[None]:
    """A command that waits for a pipe is ended."""

    def stop(*_: object) -> None:
        raise TimeoutError("the command waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def refused(answer: Answer, *words: str) -> None:
    assert answer.code in ALLOWED, (answer.code, answer.err)
    assert answer.error["english"]
    assert answer.error["japanese"]
    for word in words:
        assert word in answer.error["english"], answer.error["english"]


PLANS: dict[str, Callable[[Path, Path], list[object]]] = {
    "release": lambda odd, folder: ["release", odd, "--yes"],
    "plan": lambda odd, folder: ["plan", odd],
    "anonymize": lambda odd, folder: ["anonymize", odd],
    "sample": lambda odd, folder: ["sample", odd, "--yes"],
    "synthesize": lambda odd, folder: ["synthesize", odd, "--yes"],
    "protect": lambda odd, folder: ["protect", odd],
    "compare": lambda odd, folder: ["compare", odd],
    "collect randomize": lambda odd, folder: [
        "collect",
        "randomize",
        odd,
        folder / "people.csv",
        "--out",
        folder / "r.csv",
    ],
    "collect estimate": lambda odd, folder: ["collect", "estimate", odd],
    "hierarchy check": lambda odd, folder: ["hierarchy", "check", odd],
    "risk": lambda odd, folder: ["risk", odd, "-q", "age"],
    "pseudonymize run": lambda odd, folder: [
        *("pseudonymize", "run", odd, "--id", "person", "--key", folder / "keys" / "k"),
        *("--recipient", "us", "--out", folder / "o.csv"),
    ],
    "key": lambda odd, folder: [
        *("pseudonymize", "run", folder / "people.csv", "--id", "person", "--key", odd),
        *("--recipient", "us", "--out", folder / "o.csv"),
    ],
    "ledger": lambda odd, folder: ["ledger", "list", odd],
    "sql metadata": lambda odd, folder: [
        *("sql", "price", "--data", folder / "people.parquet", "--metadata", odd, "--ledger", folder / "budget.db"),
        *("--dataset", "town", "--epsilon", "1", "SELECT count(*) FROM people"),
    ],
    "verify": lambda odd, folder: ["verify", odd],
}


@pytest.mark.parametrize("command", PLANS)
def test_pipes_and_devices_are_refused(run: Run, tmp_path: Path, command: str) -> None:
    (tmp_path / "keys").mkdir()
    make_register(tmp_path / "keys" / "k.register", new_key(tmp_path / "keys" / "k"))
    build_town(tmp_path)
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for odd in (pipe, Path("/dev/zero")):
        answer = run(*PLANS[command](odd, tmp_path), "--json")
        assert answer.code != 0
        refused(answer)


@pytest.mark.parametrize(
    "text",
    [
        PLAN.replace('path = "people.parquet"', 'path = "pipe.csv"'),
        PLAN.replace('path = "people.parquet"', 'path = "/dev/zero"'),
        PLAN + '[reference]\npath = "pipe.csv"\n',
    ],
)
def test_sources_and_references(run: Run, tmp_path: Path, text: str) -> None:
    open_office(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    refused(run("release", tmp_path / "plan.toml", "--yes", "--json"))
    assert remaining(tmp_path) is not None
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.reservations("town") == []


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "1" * 4301])
@pytest.mark.parametrize("command", ["release", "anonymize", "protect", "compare"])
def test_numbers_without_end_in_plans(run: Run, tmp_path: Path, command: str, number: str) -> None:
    (tmp_path / "plan.toml").write_text(f'title = "t"\nnumber = {number}\n')
    answer = run(command, tmp_path / "plan.toml", "--json")
    refused(answer, "too long")
    assert len(answer.err) < 2000


def test_numbers_without_end_in_data(run: Run, tmp_path: Path) -> None:
    rows = [[f"P{place}", "9" * 5000 if place == 5 else "31", "f", "8101", "flu", "9" * 4400] for place in range(20)]
    plan = build_town(tmp_path, HEAD + COLUMNS + ANONYMIZE, rows)
    refused(run("anonymize", plan, "--out", tmp_path / "out", "--json"))
    refused(
        run(
            "hierarchy",
            "build",
            tmp_path / "people.csv",
            "age",
            "--intervals",
            "10",
            "--out",
            tmp_path / "h.csv",
            "--json",
        )
    )
    assert run("risk", tmp_path / "people.csv", "-q", "age,wage", "--json").code == 0


def test_numbers_without_end_in_a_source(run: Run, tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=PLAN.replace("people.parquet", "people.csv"))
    (tmp_path / "people.csv").write_text("KEY_CODE\n" + "5" * 5000 + "\n")
    refused(run("release", plan.file, "--yes", "--json"))
    counts = PLAN.replace('path = "people.parquet"', 'path = "people.csv"\nrows = "counts"\ncount = "n"')
    (tmp_path / "plan.toml").write_text(counts, encoding="utf-8")
    (tmp_path / "people.csv").write_text("KEY_CODE,n\n533946113," + "5" * 5000 + "\n")
    refused(run("release", tmp_path / "plan.toml", "--yes", "--json"))
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.reservations("town") == []


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.date32(), pa.timestamp("us")])
def test_dates_beyond_9999(run: Run, tmp_path: Path, kind: pa.DataType) -> None:
    text = PLAN.replace('name = "KEY_CODE"\nkind = "mesh"\nlevel = "1/2"\nwindow = [8560, 6400, 32, 32]', "")
    text = text.replace(
        "[[domain]]\n", '[[domain]]\nname = "day"\nkind = "category"\nlabels = ["2020-01-01", "2020-01-02"]\n'
    )
    open_office(tmp_path, text=text)
    days = 4_000_000 * (1 if kind == pa.date32() else 86_400 * (1_000_000 if kind == pa.timestamp("us") else 1))
    column = pa.array([days], pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
    pa.parquet.write_table(pa.table({"day": column}), tmp_path / "people.parquet")
    refused(run("release", tmp_path / "plan.toml", "--yes", "--json"))
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.reservations("town") == []


def test_a_clock_beyond_9999(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = open_office(tmp_path)
    far = datetime(9999, 12, 31, tzinfo=UTC).timestamp() + 10 * 86_400
    for clock in (far, 1e18):
        # In this module alone: a server that another test left at work has a clock of its own.
        monkeypatch.setattr(
            "sudare.system.clock.time", SimpleNamespace(**{**vars(time), "time": lambda clock=clock: clock})
        )
        answer = run("release", plan.file, "--yes", "--json")
        assert answer.code == 6
        assert "clock" in answer.error["english"]
        assert "時計" in answer.error["japanese"]
    monkeypatch.undo()
    assert main(["release", str(plan.file), "--yes", "--json"]) == 0


def test_a_clock_that_is_wrong_stops_nothing_that_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.system.clock.time", SimpleNamespace(**{**vars(time), "time": lambda: 1e18}))
    assert time_text() == "9999-12-31T23:59:59Z"
