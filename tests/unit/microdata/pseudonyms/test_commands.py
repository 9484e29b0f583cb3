"""What the commands tell and in which order they do things, in the same process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sudare.bilingual import blanks_of
from sudare.cli import main
from sudare.cli.words.pseudonyms import HELP, SPOKEN
from sudare.ledger import open_ledger
from sudare.microdata.pseudonyms import TextForm

RAW = "patient,visit,city\n17,1,Tokyo\n18,1,Osaka\n17,2,Tokio\n19,1,Nagoya\n"
KEY = ("--key", "keys/study.key")
PATIENT = (*KEY, "--kind", "patient")

Told = Callable[..., tuple[Any, str]]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command in a folder with a key; what it gives, and what it says beside."""
    for name in ("keys", "out", "tables"):
        (tmp_path / name).mkdir()
    (tmp_path / "raw.csv").write_text(RAW)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def run(*arguments: str, code: int = 0) -> tuple[Any, str]:
        assert main([*arguments, "--json"]) == code
        out, err = capsys.readouterr()
        return (json.loads(out) if out else None), err

    run("pseudonymize", "new-key", "keys/study.key")
    return run


def make(told: Told, out: str, *more: str, kind: str = "patient", code: int = 0) -> tuple[Any, str]:
    options = ("--id", f"patient={kind}", *KEY, "--recipient", "university", "--out", out)
    return told("pseudonymize", "run", "raw.csv", *options, *more, code=code)


def test_both_languages_say_the_same_things() -> None:
    for words in (*HELP.values(), *SPOKEN.values()):
        assert blanks_of(words.en) == blanks_of(words.ja)


def test_whoever_is_deleted_may_be_left_out_of_releases_too(told: Told) -> None:
    told("ledger", "create", "budget.db")
    told("ledger", "add", "budget.db", "visits", "--epsilon", "1")
    ledger = ("--ledger", "budget.db", "--dataset", "visits")
    done, _ = told("person", "delete", "17", *PATIENT, *ledger, "--yes")
    assert done["datasets"] == ["visits"]
    with open_ledger("budget.db") as opened:
        assert "17" in opened.opt_outs("visits")
        assert "18" not in opened.opt_outs("visits")
    told("person", "delete", "18", *PATIENT, "--ledger", "budget.db", "--yes", code=2)


def test_a_ledger_knows_of_an_opt_out_whatever_happens_to_the_files(told: Told) -> None:
    told("ledger", "create", "budget.db")
    told("ledger", "add", "budget.db", "visits", "--epsilon", "1")
    ledger = ("--ledger", "budget.db", "--dataset", "visits")
    told("person", "opt-out", "17", "none.csv", "--id", "patient", *PATIENT, *ledger, code=3)
    with open_ledger("budget.db") as opened:
        assert "17" in opened.opt_outs("visits")


def test_a_file_that_cannot_be_read_is_told(told: Told) -> None:
    make(told, "out/1.csv")
    make(told, "out/2.csv")
    Path("out/1.csv").write_bytes(b"patient,visit,city\n\xff\xfe,1,x\n")
    answer, said = told("person", "delete", "17", *PATIENT, "--yes")
    assert [one["state"] for one in answer["files"]] == ["unreadable", "rewritten"]
    assert "1.csv is damaged or cannot be read" in said
    assert answer["mapping_kept"] is False


def test_a_mapping_that_is_kept_is_told(told: Told) -> None:
    told("pseudonymize", "new-mapping", "tables/names.db", *KEY)
    table = ("--mapping", "tables/names.db")
    make(told, "out/1.csv", *table, "--method", "table")
    answer, said = told("person", "delete", "17", "out/1.csv", *PATIENT, *table, "--yes")
    assert answer["mapping_kept"] is True
    assert "The mapping still holds the person" in said
    answer, said = told("person", "delete", "17", *PATIENT, *table, "--yes")
    assert answer["mapping_kept"] is False
    assert "mapping" not in said


def test_a_new_kind_is_warned_of_while_somebody_is_left_out(told: Told) -> None:
    assert "is new" not in make(told, "out/1.csv")[1]
    told("person", "opt-out", "17", *PATIENT)
    _, said = make(told, "out/2.csv", kind="patients")
    assert "The kind 'patients' is new" in said
    assert "of the kinds patient." in said
    assert "is new" not in make(told, "out/3.csv")[1]


def test_key_and_mapping_are_kept_apart(told: Told) -> None:
    _, said = told("pseudonymize", "new-mapping", "keys/names.db", *KEY, code=3)
    assert "not kept apart" in said
    assert not Path("keys/names.db").exists()
    told("pseudonymize", "new-mapping", "out/names.db", *KEY)
    _, said = make(told, "out/1.csv", "--method", "table", "--mapping", "out/names.db", code=3)
    assert "folder of the output" in said
    assert not Path("out/1.csv").exists()


def test_a_pseudonym_for_each_visit_is_long_enough_for_all_visits(told: Told) -> None:
    answer, _ = make(told, "out/1.csv", "--form", "digits", "--people", "1000", "--per", "visit")
    assert answer["columns"]["patient"]["length"] == TextForm.for_people("digits", 1000 * 10_000).length
    make(told, "out/2.csv", "--form", "digits", "--people", "1000", "--per", "visit")
