"""Files that are lost are declared so: only then is somebody deleted from all files, and the log proves it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sudare.errors import InputError, SudareError
from sudare.microdata.pseudonyms import Design, Mapping, PersonDesk, make_mapping, pseudonymize_file
from sudare.microdata.pseudonyms.registers.contents import GONE
from tests.commands import Run, runner
from tests.unit.microdata.pseudonyms.conftest import Office

TABLE = Design("university", "patient", 1, method="table")
RAW = "patient,visit\n17,1\n18,1\n17,2\n"


def make(office: Office, name: str, mapping: Mapping, recipient: str = "university") -> Path:
    source = office.write("raw.csv", RAW)
    design = {"patient": replace(TABLE, recipient=recipient)}
    made = pseudonymize_file(
        source, office.out / name, design, key=office.key, register=office.register, mapping=mapping
    )
    return made.path


def test_deleting_somebody_ends(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    with Mapping(place, office.key) as mapping:
        lost, _ = make(office, "lost.csv", mapping), make(office, "kept.csv", mapping)
        lost.unlink()
        desk = PersonDesk(office.key, office.register, "patient", "17", mapping)
        for _ in range(2):
            answer = desk.delete()
            assert {one.path.name: one.state for one in answer.files}["lost.csv"] == "missing"
            assert answer.is_mapping_kept
        office.register.declare_gone(lost)
        answer = desk.delete()
        assert [one.path.name for one in answer.files] == ["kept.csv"]
        assert not answer.is_mapping_kept
        assert mapping.known(TABLE.scope, ["17"]) == [None]
    entry = next(one.read() for one in office.register.entries() if one.read()["did"] == GONE)
    assert entry["file"] == str(lost)
    assert office.register.verify(files=True) == []


def test_what_cannot_be_declared(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    with Mapping(place, office.key) as mapping:
        here = make(office, "here.csv", mapping)
    before = office.register.head()
    with pytest.raises(InputError, match="still there"):
        office.register.declare_gone(here)
    with pytest.raises(InputError, match="knows no file"):
        office.register.declare_gone(office.out / "other.csv")
    here.rename(office.out / "moved.csv")
    here.symlink_to(office.out / "nowhere.csv")
    with pytest.raises(InputError, match=r"still there|knows no file"):
        office.register.declare_gone(here)
    assert office.register.head() == before
    here.unlink()
    office.register.declare_gone(here)
    with pytest.raises(InputError, match="knows no file"):
        office.register.declare_gone(here)


def test_a_file_may_be_made_again(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    with Mapping(place, office.key) as mapping:
        lost = make(office, "lost.csv", mapping)
        lost.unlink()
        office.register.declare_gone(lost)
        make(office, "lost.csv", mapping)
        answer, _ = PersonDesk(office.key, office.register, "patient", "17", mapping).find()
    assert [(one.path.name, one.rows) for one in answer.files] == [("lost.csv", 2)]
    assert office.register.verify(files=True) == []


def test_nobody_declares_it_from_outside(office: Office) -> None:
    """A row that is taken out of the table without the key is noticed."""
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    with Mapping(place, office.key) as mapping:
        make(office, "one.csv", mapping)
    register = office.folder / "keys" / "study.key.register"
    with closing(sqlite3.connect(register)) as connection, connection:
        connection.execute("DELETE FROM files")
    assert office.register.verify() != []
    with pytest.raises(SudareError):
        office.register.declare_gone(office.out / "one.csv")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run: Run = runner(capsys, monkeypatch, columns=400)
    monkeypatch.chdir(tmp_path)
    for name in ("keys", "out"):
        Path(name).mkdir()
    Path("raw.csv").write_text(RAW)
    key = ("--key", "keys/study.key")
    run("pseudonymize", "new-key", "keys/study.key")
    options = ("--id", "patient", *key, "--recipient", "university", "--out", "out/a.csv")
    assert run("pseudonymize", "run", "raw.csv", *options).code == 0
    still = run("pseudonymize", "gone", "out/a.csv", *key, "--yes", "--json")
    assert still.code == 3
    assert "まだ存在します" in still.error["japanese"]
    Path("out/a.csv").unlink()
    missing = run("person", "delete", "17", *key, "--kind", "patient", "--yes")
    assert "sudare pseudonymize gone" in missing.err
    assert run("pseudonymize", "gone", "out/a.csv", *key).code == 2, "nobody said yes"
    done = run("pseudonymize", "gone", "out/a.csv", *key, "--yes")
    assert done.code == 0, done.err
    assert "is gone" in done.err
    assert "out/a.csv" not in run("person", "delete", "17", *key, "--kind", "patient", "--yes").out
    shown = run("person", "log", *key, "--verify")
    assert shown.code == 0
    assert "file gone" in shown.out
