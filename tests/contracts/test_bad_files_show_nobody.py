"""Whatever is wrong with a file of people, no command shows anybody in it: not in a list of columns, nor as a suggestion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.ledger import open_ledger
from sudare.microdata.pseudonyms import make_register, new_key
from sudare.privacy import Budget, Unit
from tests.commands import Answer, Run, runner

MARKS = ("Yamadera", "Kujira", "9182736", "Shiokaze", "yamadera@example.jp", "山寺")
"""What stands in the records, and nowhere in a header, a plan or a command."""

HEADER = "person,age,sex,town,illness"
RECORDS = "".join(f"Yamadera {place},9182736{place % 10},{'fm'[place % 2]},Shiokaze,Kujira\n" for place in range(40))
TEXTS = "".join(f"Yamadera {'abcdefgh'[place % 8]},old,f,Shiokaze,Kujira\n" for place in range(40))
WIDE = ",".join(f"{place:x}c" for place in range(100_000))

MAX_SECONDS = 30
"""For two commands on a loaded machine; checks that are quadratic in the number of columns take minutes."""

BAD_FILES: dict[str, bytes] = {
    "unclosed quote": ('"person,age,sex,town,illness\n' + RECORDS).encode(),
    "quote closed by a record": ('person,"age,sex,town,illness\n' + RECORDS + 'x,"1",f,Shiokaze,Kujira\n').encode(),
    "quote closed late": ('"person,age,sex,town,illness\n' + 20_000 * RECORDS[:400] + '"\n').encode(),
    "no header": RECORDS.encode(),
    "no header, only texts": TEXTS.encode(),
    "no header, an address": (40 * "yamadera@example.jp,old,f,Shiokaze,Kujira\n").encode(),
    "no header, values twice": (40 * "Kujira,Kujira,f,Shiokaze,Kujira\n").encode(),
    "no header, semicolons": b"Yamadera Taro;Shiokaze;Kujira;widow\n",
    "no header, bars": b"Yamadera Taro|Shiokaze|Kujira|widow\nYamadera Jiro|Kujira|Shiokaze|single\n",
    "no header, spaces": b"Yamadera Shiokaze Kujira widow\n",
    "no header, one record": b"Yamadera Taro,Shiokaze,Kujira,widow\n",
    "no header, nothing twice": b"Yamadera,Shiokaze,widow\nSato,Kujira,single\n",
    "no header, Japanese": "山寺秘密,東京都,女,既婚\n".encode(),
    "null characters": (HEADER + "\n" + RECORDS).replace(",", "\0").encode(),
    "null characters in a record": (HEADER.replace("town", "tow\0n") + "\n" + RECORDS).encode(),
    "utf-16": (HEADER + "\n" + RECORDS).encode("utf-16"),
    "carriage returns": (HEADER + "\n" + RECORDS).replace("\n", "\r").encode(),
    "carriage returns, no header": RECORDS.replace("\n", "\r").encode(),
    "very wide": (WIDE + "\n" + "," * 99_999 + "Yamadera\n").encode(),
    "very wide, ragged": (WIDE + "\n" + RECORDS).encode(),
    "very wide, no header": (",".join(f"Yamadera{place}" for place in range(100_000)) + "\n").encode(),
    "a column that is nearly the one": (HEADER.replace("town", "Shiokaze") + "\n" + RECORDS).encode(),
    "one long line": ("Yamadera" * 100_000).encode(),
    "control characters": ("\x1b[2Jperson\x07,Yamadera\x0b,Shiokaze\x1c\n" + RECORDS).encode(),
}

USUAL = (
    "unclosed quote",
    "no header",
    "no header, only texts",
    "no header, semicolons",
    "no header, one record",
    "no header, nothing twice",
    "no header, Japanese",
    "null characters",
    "carriage returns",
)

LISTING = ("sql describe",)
"""Lists the names of columns for its holder, who asks for none: what can be names is shown, whoever it is."""

NOT_TOLD_APART = ("no header, one record", "no header, nothing twice", "no header, spaces", "no header, Japanese")

RELEASE = """
title = "t"
[source]
path = "people.csv"
rows = "people"
[[domain]]
name = "sex"
kind = "category"
labels = ["f", "m"]
[[domain]]
name = "townn"
kind = "category"
labels = ["north", "south"]
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "town"
[output]
folder = "release"
"""
PEOPLE = """title = "t"
[source]
path = "people.csv"
{more}
[columns.person]
role = "identifier"
[columns.age]
role = "quasi-identifier"
{age}
[columns.sexx]
role = "quasi-identifier"
flat = true
values = ["f", "m"]
[protection]
method = "{method}"
"""
AGE = "intervals = { widths = [50], whole = true }\nlevel = 1"
LEDGER = '[budget]\nepsilon = 2\ndelta = 1e-5\n[ledger]\nlocation = "budget.db"\ndataset = "people"\n'
PROTECT = """title = "t"
[source]
path = "people.csv"
[dimensions.sexx]
codes = ["f", "m"]
[dimensions.townn]
codes = ["north", "south"]
[rules]
threshold = 3
[protection]
method = "suppress"
"""
COMPARE = """title = "t"
[source]
path = "people.csv"
[columns.townn]
role = "area"
[columns.age]
role = "known"
[columns.illness]
role = "sensitive"
[[methods]]
name = "none"
"""
SURVEY = 'title = "t"\n[[question]]\nname = "sexx"\nmethod = "kary-response"\nvalues = ["f", "m"]\nepsilon = 3\n'


def _planned(command: str, text: str, *more: object) -> Callable[[Run, Path], Answer]:
    def call(run: Run, folder: Path) -> Answer:
        (folder / "plan.toml").write_text(text, encoding="utf-8")
        return run(command, folder / "plan.toml", *more, BOTH_LANGUAGES)

    return call


def _called(*arguments: str) -> Callable[[Run, Path], Answer]:
    def call(run: Run, folder: Path) -> Answer:
        return run(*(argument.replace("DIR", str(folder)) for argument in arguments), BOTH_LANGUAGES)

    return call


BOTH_LANGUAGES = "--json"
KEY = ("--key", "DIR/keys/secret.key")
COMMANDS: dict[str, Callable[[Run, Path], Answer]] = {
    "release": _planned("release", RELEASE, "--yes"),
    "anonymize": _planned("anonymize", PEOPLE.format(more="", age=AGE, method="anonymize") + "k = 2\n"),
    "anonymize, dropping": _planned(
        "anonymize", PEOPLE.format(more='others = "drop"', age=AGE, method="anonymize") + "k = 2\n"
    ),
    "anonymize, large": _planned(
        "anonymize", PEOPLE.format(more="larger_than_memory = true", age=AGE, method="anonymize") + "k = 2\n"
    ),
    "sample": _planned("sample", PEOPLE.format(more="", age=AGE, method="sampled-k-anonymity") + LEDGER, "--yes"),
    "synthesize": _planned(
        "synthesize", PEOPLE.format(more="", age="bins = [0, 50, 100]", method="mst") + LEDGER, "--yes"
    ),
    "protect": _planned("protect", PROTECT),
    "compare": _planned("compare", COMPARE),
    "risk": _called("risk", "DIR/people.csv", "-q", "age,sexx"),
    "hierarchy build": _called("hierarchy", "build", "DIR/people.csv", "townn", "--mask", "--out", "DIR/h.csv"),
    "pseudonymize": _called(
        "pseudonymize", "run", "DIR/people.csv", "--id", "persons", *KEY, "--recipient", "us", "--out", "DIR/out/o.csv"
    ),
    "person find": _called("person", "find", "x1", "DIR/people.csv", "--id", "persons", *KEY, "--kind", "person"),
    "person delete": _called(
        "person", "delete", "x1", "DIR/people.csv", "--id", "persons", *KEY, "--kind", "person", "--yes"
    ),
    "collect randomize": _called("collect", "randomize", "DIR/survey.toml", "DIR/people.csv", "--out", "DIR/out/r.csv"),
    "collect estimate": _called("collect", "estimate", "DIR/people.csv", "--questions", "DIR/survey.toml"),
    "sql describe": _called("sql", "describe", "--data", "DIR/people.csv"),
}


ASK_FOR_ONE = {"protect", "hierarchy build", "pseudonymize", "collect randomize"}
"""Commands here that ask for misspelled columns only."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a ledger, a key and a questionnaire."""
    for name in ("keys", "out"):
        (tmp_path / name).mkdir()
    make_register(tmp_path / "keys" / "secret.key.register", new_key(tmp_path / "keys" / "secret.key"))
    (tmp_path / "survey.toml").write_text(SURVEY, encoding="utf-8")
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=10), unit=Unit())
        ledger.add_dataset("people", Budget(epsilon=5, delta=1e-4), unit=Unit())
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, 200)


def faults_of(answer: Answer) -> list[str]:
    """What is wrong with what a command said."""
    said = answer.out + answer.err
    found = [f"shows {mark!r}" for mark in (*MARKS, "\0", "\x1b[2J") if mark in said]
    found += ["is an internal error"] if answer.code == 70 else []
    found += ["is too long"] if len(said) > 4000 else []
    return [f"{fault}: {said[:300]!r}" for fault in found]


@pytest.mark.parametrize(
    "kinds", [pytest.param(USUAL, id="usual"), pytest.param(BAD_FILES, id="all", marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_shows_anybody(run: Run, place: Path, command: str, kinds: Iterable[str]) -> None:
    faults = []
    for kind in kinds:
        if command in LISTING and kind in NOT_TOLD_APART:
            continue
        (place / "people.csv").write_bytes(BAD_FILES[kind])
        started = time.monotonic()
        faults += [f"{kind} {fault}" for fault in faults_of(COMMANDS[command](run, place))]
        if time.monotonic() - started > MAX_SECONDS:
            faults.append(f"{kind} takes too long")
    assert not faults, "\n".join(faults)
    with open_ledger(place / "budget.db") as ledger:
        assert ledger.dataset("town").remaining == Budget(epsilon=10)
        assert ledger.dataset("people").reserved is None
        assert ledger.dataset("people").spent is None


def test_a_table_whose_names_are_people(run: Run, place: Path) -> None:
    """As a program makes it that takes the first row of a file without a header for names."""
    names = RECORDS.splitlines()[0].split(",")
    people = pa.table({name: ["1", "2"] for name in names})
    pa.parquet.write_table(people, place / "people.parquet")
    for command in ("release", "anonymize", "sample", "risk", "pseudonymize", "sql describe"):
        call = COMMANDS[command]
        assert not faults_of(_with_parquet(call, run, place)), command


def _with_parquet(call: Callable[[Run, Path], Answer], run: Run, place: Path) -> Answer:
    def replaced(*arguments: object) -> Answer:
        plan = place / "plan.toml"
        if plan in arguments:
            plan.write_text(plan.read_text(encoding="utf-8").replace("people.csv", "people.parquet"), encoding="utf-8")
        return run(*(str(argument).replace("people.csv", "people.parquet") for argument in arguments))

    return call(replaced, place)


def test_names_are_still_shown(run: Run, place: Path) -> None:
    """Else a mistake could not be found: where another column that is asked for is there."""
    (place / "people.csv").write_text(HEADER + "\n" + RECORDS, encoding="utf-8")
    skipped = {"collect estimate", "sql describe", "person find", "person delete"}
    for command in sorted(set(COMMANDS) - skipped - ASK_FOR_ONE):
        shown = COMMANDS[command](run, place).err
        assert "Did you mean" in shown, (command, shown)
        assert "illness" in shown, (command, shown)


def test_names_are_not_shown_where_none_that_is_asked_for_is_there(run: Run, place: Path) -> None:
    """The first row may hold a person then; it is said what to do."""
    (place / "people.csv").write_text(HEADER + "\n" + RECORDS, encoding="utf-8")
    for command in ASK_FOR_ONE:
        shown = COMMANDS[command](run, place).err
        assert "illness" not in shown, (command, shown)
        assert "None of the columns that are asked for was found" in shown, (command, shown)
        assert "separator" in shown, (command, shown)


def test_a_value_outside_of_the_domain_is_not_shown(run: Run, place: Path) -> None:
    (place / "people.csv").write_text("sex,townn\nf,north\nShiokaze,north\n", encoding="utf-8")
    answer = COMMANDS["release"](run, place)
    assert answer.code == 3
    assert "Shiokaze" not in answer.out + answer.err
    assert "The column 'sex' has a value in 'people.csv', row 3" in answer.err
