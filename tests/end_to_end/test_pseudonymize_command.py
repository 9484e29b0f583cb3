"""Pseudonyms and a person's rights as commands in processes of their own, from the key to the log."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.processes import run_command

pytestmark = pytest.mark.slow

RAW = "patient,doctor,city\n17,1,Tokyo\n18,1,Osaka\n17,2,Tokio\n19,2,Nagoya\n"
KEY = ("--key", "keys/study.key")
PATIENT = (*KEY, "--kind", "patient")


def sudare(folder: Path, *arguments: str, typed: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
    done = run_command(list(arguments), folder, {**os.environ, "LC_ALL": "C.UTF-8"}, typed=typed)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def told(folder: Path, *arguments: str, **more: Any) -> Any:
    return json.loads(sudare(folder, *arguments, "--json", **more).stdout)


@pytest.fixture
def office(tmp_path: Path) -> Path:
    from sudare.cli import main

    for name in ("keys", "out", "tables"):
        (tmp_path / name).mkdir()
    (tmp_path / "raw.csv").write_text(RAW)
    assert main(["pseudonymize", "new-key", str(tmp_path / "keys" / "study.key")]) == 0
    return tmp_path


def run(folder: Path, out: str, recipient: str = "university", *more: str, **others: Any) -> Any:
    options = ["--id", "patient", *KEY, "--recipient", recipient, "--out", out, *more]
    return sudare(folder, "pseudonymize", "run", "raw.csv", *options, **others)


def first_column(path: Path) -> list[str]:
    return [line.split(",")[0] for line in path.read_text().splitlines()[1:]]


def test_from_the_key_to_the_log(office: Path) -> None:
    assert stat.S_IMODE((office / "keys/study.key").stat().st_mode) == 0o600
    run(office, "out/one.csv", "university", "--id", "doctor=staff")
    run(office, "out/two.csv", "insurer", "--form", "digits", "--hash", "hmac-sha256")
    run(office, "out/three.csv")
    one, two, three = (first_column(office / f"out/{name}.csv") for name in ("one", "two", "three"))
    assert one == three
    assert one[0] == one[2] != one[1]
    assert not set(one) & set(two)
    assert all(text.isdigit() and len(text) == 29 for text in two)

    found = told(office, "person", "find", "-", *PATIENT, typed="17\n")
    assert [(one["state"], one["rows"]) for one in found["files"]] == [("found", 2)] * 3
    sudare(office, "person", "correct", "17", "--set", "city=Kyoto", *PATIENT)
    assert (office / "out/two.csv").read_text().count("Kyoto") == 2
    assert told(office, "person", "opt-out", "17", *PATIENT)["new"] is True
    assert told(office, "person", "opt-out", "17", *PATIENT)["new"] is False
    assert first_column(office / "out/one.csv") == [one[1], one[3]]
    sudare(office, "person", "delete", "17", "raw.csv", "--id", "patient", *PATIENT, "--yes")
    assert "17," not in (office / "raw.csv").read_text()
    (office / "raw.csv").write_text(RAW)
    run(office, "out/four.csv")
    assert first_column(office / "out/four.csv") == [one[1], one[3]]

    log = told(office, "person", "log", *KEY, "--verify", "--files")
    assert log["findings"] == []
    mine = told(office, "person", "log", *PATIENT, "--person", "-", typed="17\n")["entries"]
    assert {"find", "correct", "opt-out", "delete"} <= {entry["did"] for entry in mine}
    assert len(mine) < len(log["entries"])
    (office / "out/four.csv").write_text("changed")
    found = told(office, "person", "log", *KEY, "--files", code=7)["findings"]
    assert [one["english"].split("/")[-1] for one in found] == ["four.csv' is not what was written."]


def test_a_table_rotation_and_its_end(office: Path) -> None:
    sudare(office, "pseudonymize", "new-mapping", "tables/names.db", *KEY)
    table = ("--method", "table", "--mapping", "tables/names.db", "--form", "digits", "--length", "6")
    run(office, "out/one.csv", "university", *table)
    run(office, "out/two.csv", "university", "--mapping", "tables/names.db")  # the rest as before
    assert (office / "out/one.csv").read_text() == (office / "out/two.csv").read_text()
    mapping = ("tables/names.db", *KEY, "--recipient", "university", "--kind", "patient")
    sudare(office, "pseudonymize", "export", *mapping, "--out", "tables/names.csv")
    sudare(office, "pseudonymize", "new-mapping", "tables/other.db", *KEY)
    other = ("tables/other.db", "tables/names.csv", *mapping[1:])
    sudare(office, "pseudonymize", "import", *other)
    run(office, "out/three.csv", "university", "--mapping", "tables/other.db")
    assert (office / "out/one.csv").read_text() == (office / "out/three.csv").read_text()

    run(office, "out/keyed.csv", "insurer")
    sudare(office, "pseudonymize", "rotate", "keys/study.key")
    run(office, "out/fresh.csv", "insurer")
    assert not set(first_column(office / "out/keyed.csv")) & set(first_column(office / "out/fresh.csv"))
    again = (*PATIENT, "--recipient", "insurer", "--from", "1", "--file", "raw.csv")
    sudare(office, "pseudonymize", "relink", *again, "--out", "tables/pairs.csv")
    pairs = dict(line.split(",") for line in (office / "tables/pairs.csv").read_text().splitlines()[1:])
    old, new = first_column(office / "out/keyed.csv"), first_column(office / "out/fresh.csv")
    assert [pairs[name] for name in old] == new
    sudare(office, "pseudonymize", "destroy", "keys/study.key", "--epoch", "1", "--yes")
    assert "destroyed" in sudare(office, "pseudonymize", "relink", *again, "--out", "tables/b.csv", code=3).stderr
    found = told(office, "person", "find", "18", "out/keyed.csv", "out/fresh.csv", *PATIENT)
    assert [one["state"] for one in found["files"]] == ["unlinkable", "found"]
    assert told(office, "person", "log", *KEY, "--verify")["findings"] == []


def test_a_ledger_leaves_the_person_out_too(office: Path) -> None:
    sudare(office, "ledger", "create", "budget.db")
    sudare(office, "ledger", "add", "budget.db", "visits", "--epsilon", "1")
    ledger = ("--ledger", "budget.db", "--dataset", "visits")
    for _ in range(2):
        assert told(office, "person", "opt-out", "17", *PATIENT, *ledger)["datasets"] == ["visits"]
    from sudare.ledger import open_ledger

    with open_ledger(office / "budget.db") as opened:
        outs = opened.opt_outs("visits")
    assert "17" in outs
    assert len(outs.digests) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--key", "keys/none.key"], 3, "no key"),
        (["--id", "pid"], 3, "no column 'pid'"),
        (["--out", "keys/new.csv"], 3, "not kept apart"),
        (["--out", "raw.csv"], 3, "not kept apart"),
        (["--out", "out/old.csv"], 6, "exists already"),
        (["--method", "table"], 3, "needs a mapping"),
        (["--method", "table", "--mapping", "tables/none.db"], 3, "There is no mapping"),
        (["--method", "table", "--mapping", "keys/study.key"], 3, "not kept apart"),
        (["--length", "6"], 2, "at least"),
        (["--hash", "md5"], 2, "blake2b, hmac-sha256"),
        (["--register", "keys/none"], 3, "There is no register"),
    ],
)
def test_what_is_refused_leaves_nothing(
    office: Path,
    arguments: list[str],
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sudare.cli import main

    (office / "out" / "old.csv").write_text("old")
    before = {path: path.read_bytes() for path in office.rglob("*") if path.is_file()}
    options = ["--id", "patient", *KEY, "--recipient", "university", "--out", "out/new.csv"]
    if arguments[0] == "--id":
        options = options[2:]
    monkeypatch.chdir(office)
    command = ["pseudonymize", "run", "raw.csv", *options, *arguments, "--json"]
    assert main(command) == code
    error = json.loads(capsys.readouterr().err.splitlines()[-1])["error"]
    assert words in error["english"]
    assert "Tokyo" not in error["english"]
    assert not error["japanese"].isascii()
    assert {path: path.read_bytes() for path in office.rglob("*") if path.is_file()} == before


def test_a_key_or_mapping_that_exists_is_not_overwritten(office: Path) -> None:
    before = (office / "keys/study.key").read_bytes()
    sudare(office, "pseudonymize", "new-key", "keys/study.key", code=2)
    (office / "keys/study.key.register").rename(office / "keys/kept")
    sudare(office, "pseudonymize", "new-key", "keys/study.key", code=6)
    assert (office / "keys/study.key").read_bytes() == before
    sudare(office, "pseudonymize", "new-mapping", "tables/names.db", *KEY)
    sudare(office, "pseudonymize", "new-mapping", "tables/names.db", *KEY, code=6)


def test_a_run_that_is_killed_leaves_no_file(office: Path) -> None:
    rows = 400_000
    (office / "raw.csv").write_text("patient,n\n" + "".join(f"{n % 99_991},{n}\n" for n in range(rows)))
    command = [sys.executable, "-m", "sudare", "pseudonymize", "run", "raw.csv", "--id", "patient", *KEY]
    command += ["--recipient", "university", "--out", "out/big.csv"]
    started = subprocess.Popen(command, cwd=office, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list((office / "out").iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGKILL)
    started.wait(timeout=60)
    assert not (office / "out/big.csv").exists()
    assert told(office, "person", "log", *KEY, "--verify")["findings"] == []
    run(office, "out/big.csv")
    with (office / "out/big.csv").open() as stream:
        assert sum(1 for _ in stream) == rows + 1
