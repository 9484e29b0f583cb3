"""Random tables: consistent between processes, whole after a kill, silent without the key, handed over whole."""

from __future__ import annotations

import sqlite3
import stat
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from sudare.errors import InputError, OutputError
from sudare.microdata.pseudonyms import (
    Design,
    Mapping,
    Scope,
    TextForm,
    export_mapping,
    import_mapping,
    make_mapping,
    make_register,
    new_key,
    relink_file,
    relink_mapping,
    rotate_key,
)
from tests.processes import Program
from tests.unit.microdata.pseudonyms.conftest import Office

SCOPE = Scope("university", "patient", 1)
FORM = TextForm("digits", 9)

WRITER = """
import sys, time
from pathlib import Path
from sudare.microdata.pseudonyms import Mapping, Scope, TextForm, read_key
key, place, go, first, last, step = read_key(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), *map(int, sys.argv[4:])
with Mapping(place, key) as mapping:
    print("ready", flush=True)
    while not go.exists():
        time.sleep(0.001)
    for start in range(first, last, step):
        ids = [str(i) for i in range(start, start + step)]
        found = mapping.pseudonyms(Scope("university", "patient", 1), ids, TextForm("digits", 9))
        print(*(f"{i}:{p}" for i, p in zip(ids, found)), flush=True)
"""


@pytest.fixture
def place(office: Office) -> Path:
    path = office.folder / "tables" / "names.db"
    make_mapping(path, office.key)
    return path


def start_writer(office: Office, place: Path, first: int, last: int, step: int) -> Program:
    """It begins when there is a file ``go``."""
    folder = Path(tempfile.mkdtemp(dir=office.folder))
    arguments = [str(office.key.path), str(place), str(office.folder / "go"), *map(str, (first, last, step))]
    started = Program(WRITER, arguments, folder)
    started.wait_for("ready")
    return started


def test_it_is_private_and_never_overwritten(office: Office, place: Path) -> None:
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    with Mapping(place, office.key) as mapping:
        first = mapping.pseudonyms(SCOPE, ["a"], FORM)
    with pytest.raises(OutputError, match="never overwritten"):
        make_mapping(place, office.key)
    with Mapping(place, office.key) as mapping:
        assert mapping.pseudonyms(SCOPE, ["a"], FORM) == first
    assert not [file for file in place.parent.iterdir() if "part" in file.name]


def test_a_damaged_file_that_gives_no_row_back_is_not_asked_for_ever(
    office: Office, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Mapping(place, office.key) as mapping:
        monkeypatch.setattr(mapping, "_found", lambda _, tags: [None] * len(tags))
        with pytest.raises(InputError, match="damaged"):
            mapping.pseudonyms(SCOPE, ["a"], FORM)


def test_what_is_no_mapping_of_this_key(office: Office, place: Path, tmp_path: Path) -> None:
    other = new_key(tmp_path / "other.key")
    with pytest.raises(InputError, match="another key"):
        Mapping(place, other)
    with pytest.raises(InputError, match="There is no mapping"):
        Mapping(tmp_path / "none.db", office.key)
    make_register(tmp_path / "another.register", office.key)
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("patient,name\n" * 1000)
    (tmp_path / "text.db").chmod(0o600)
    with pytest.raises(InputError, match="not a mapping"):
        Mapping(tmp_path / "text.db", office.key)
    with pytest.raises(InputError, match="not a mapping"):
        Mapping(tmp_path / "another.register", office.key)
    place.chmod(0o644)
    with pytest.raises(InputError, match="other users"):
        Mapping(place, office.key)
    for same in (office.key.path, office.key.path.with_name("names.db")):
        with pytest.raises(InputError, match="not kept apart"):
            make_mapping(same, office.key)
        with pytest.raises(InputError, match="not kept apart"):
            Mapping(same, office.key)


def test_the_file_says_nothing_without_the_key(office: Office, place: Path) -> None:
    names = ["Yamada Hanako", "Suzuki Taro"]
    with Mapping(place, office.key) as mapping:
        mapping.pseudonyms(SCOPE, names, FORM)
    raw = b"".join(file.read_bytes() for file in place.parent.iterdir())
    for name in names:
        assert name.encode() not in raw
        assert name.encode("utf-16-le") not in raw


def test_what_is_sealed_tells_no_length(office: Office, place: Path) -> None:
    """One length up to 60 bytes, and whole blocks beyond; nothing is lost."""
    names = ["", *("x" * length for length in (1, 59, 60, 61, 124, 125)), "七" * 20]
    with Mapping(place, office.key) as mapping:
        given = dict(zip(mapping.pseudonyms(SCOPE, names, FORM), names, strict=True))
        assert {pseudonym: name for name, pseudonym in mapping.entries(SCOPE)} == given
    with closing(sqlite3.connect(place)) as connection:
        held = connection.execute("SELECT pseudonym, length(sealed) FROM names").fetchall()
    lengths: dict[int, set[str]] = {}
    for pseudonym, length in held:
        lengths.setdefault(length - 28, set()).add(given[pseudonym])
    assert sorted(lengths) == [64, 128, 192]
    assert lengths[64] == {"", "x", "x" * 59, "x" * 60, "七" * 20}
    assert lengths[192] == {"x" * 125}


@pytest.mark.parametrize(
    "changed", ["x'00'", "'text'", "substr(sealed, 1, 40)", "CAST(sealed || x'00' AS BLOB)", "zeroblob(92)"]
)
def test_a_changed_entry_is_not_handed_over(office: Office, place: Path, changed: str) -> None:
    with Mapping(place, office.key) as mapping:
        mapping.pseudonyms(SCOPE, ["a"], FORM)
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(f"UPDATE names SET sealed = {changed}")  # noqa: S608
        connection.commit()
    with Mapping(place, office.key) as mapping, pytest.raises(InputError, match="damaged"):
        list(mapping.entries(SCOPE))


def test_a_mapping_with_somebody_elses_trigger_is_refused(office: Office, place: Path) -> None:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute(
            "CREATE TRIGGER t AFTER DELETE ON names BEGIN INSERT INTO about VALUES ('x', OLD.scope); END"
        )
        connection.commit()
    with pytest.raises(InputError, match="damaged"):
        Mapping(place, office.key)


def test_pseudonyms_do_not_run_out_silently(office: Office, place: Path) -> None:
    with Mapping(place, office.key) as mapping:
        texts = mapping.pseudonyms(SCOPE, [str(number) for number in range(45)], TextForm("digits", 2))
        assert len(set(texts)) == 45
        with pytest.raises(InputError, match="running out"):
            mapping.pseudonyms(SCOPE, ["one more"], TextForm("digits", 2))
        assert mapping.known(SCOPE, ["one more"]) == [None]


@pytest.mark.slow
def test_many_processes_agree(office: Office, place: Path) -> None:
    """Four at once see the same people for the first time."""
    writers = [start_writer(office, place, 0, 400, 20) for _ in range(4)]
    (office.folder / "go").touch()
    assert [writer.wait(60) for writer in writers] == [0] * 4
    told = [" ".join(writer.output[1:]).split() for writer in writers]
    assert all(len(one) == 400 for one in told)
    assert told[0] == told[1] == told[2] == told[3]
    assert len({pair.split(":")[1] for pair in told[0]}) == 400


@pytest.mark.slow
def test_a_killed_process_leaves_whole_entries_behind(office: Office, place: Path) -> None:
    """What was told before kill -9 is what everybody is told after it."""
    writer = start_writer(office, place, 0, 10**6, 50)
    (office.folder / "go").touch()
    writer.wait_for_lines(11)
    time.sleep(0.05)
    writer.kill()
    pairs = [pair.split(":") for line in writer.output[1:] for pair in line.split()]
    with Mapping(place, office.key) as mapping:
        assert mapping.known(SCOPE, [person for person, _ in pairs]) == [name for _, name in pairs]
        entries = dict(mapping.entries(SCOPE))
        assert len(entries) == len(set(entries.values()))
        assert len(entries) % 50 == 0, "a step is there whole or not at all"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("is_indexed", [False, True])
def test_export_and_import(office: Office, place: Path, suffix: str, is_indexed: bool) -> None:
    scope = Scope("university", "patient", 1, is_indexed)
    messages = ["1:xa", '2:yz"b, c"', "0:七"] if is_indexed else ["a", '"b, c"', "七"]
    out = office.folder / f"export{suffix}"
    with Mapping(place, office.key) as mapping:
        first = mapping.pseudonyms(scope, messages, FORM)
        export_mapping(mapping, scope, out, office.key)
        with pytest.raises(OutputError, match="exists"):
            export_mapping(mapping, scope, out, office.key)
        with pytest.raises(InputError, match="no pseudonyms for recipient 'nobody'"):
            export_mapping(mapping, Scope("nobody", "patient", 1), office.folder / "b.csv", office.key)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    other = office.folder / "other.db"
    make_mapping(other, office.key)
    with Mapping(other, office.key) as mapping:
        import_mapping(mapping, scope, out)
        import_mapping(mapping, scope, out)
        assert mapping.pseudonyms(scope, messages, FORM) == first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("identifier,pseudonym\na,1\nb,1\n", "Data row 2"),
        ("identifier,pseudonym\na,1\na,2\n", "Data row 2"),
        ("identifier,pseudonym\na,1\n,2\n", "row 3"),
        ("person,pseudonym\na,1\n", "no column 'identifier'"),
    ],
)
def test_a_contradicting_table_is_refused_whole(office: Office, place: Path, text: str, words: str) -> None:
    table = office.write("import.csv", text)
    with Mapping(place, office.key) as mapping:
        with pytest.raises(InputError, match=words):
            import_mapping(mapping, SCOPE, table)
        assert mapping.scopes() == []


def test_relinking_after_a_rotation(office: Office, place: Path) -> None:
    key = rotate_key(office.key)
    old, new = Design("university", "patient", 1, method="table"), Design("university", "patient", 2, method="table")
    with Mapping(place, key) as mapping:
        before = dict(zip("abc", mapping.pseudonyms(old.scope, list("abc"), old.form), strict=True))
        relink_mapping(mapping, old, new, office.folder / "relink.csv", key)
        after = dict(zip("abc", mapping.pseudonyms(new.scope, list("abc"), new.form), strict=True))
        mapping.forget_epoch(1)
        assert mapping.known(old.scope, list("abc")) == [None] * 3
        assert mapping.known(new.scope, list("abc")) == list(after.values())
    lines = (office.folder / "relink.csv").read_text().splitlines()
    assert set(lines) == {"old,new", *(f"{before[one]},{after[one]}" for one in "abc")}
    assert not set(before.values()) & set(after.values())


def test_relinking_keyed_pseudonyms_needs_the_raw_file(office: Office) -> None:
    from sudare.microdata.pseudonyms import Pseudonymizer, destroy_epoch

    key = rotate_key(office.key)
    raw = office.write("raw.csv", "patient,x\n17,a\n18,b\n17,c\n,d\n")
    old, new = Design("university", "patient", 1, several=2), Design("university", "patient", 2, several=2)
    out = office.folder / "relink.csv"
    relink_file(raw, "patient", old, new, out, key=key)
    pairs = {tuple(line.split(",")) for line in out.read_text().splitlines()[1:]}
    makers = Pseudonymizer(key, old), Pseudonymizer(key, new)
    assert pairs == {
        pair for person in ("17", "18") for pair in zip(*(maker.all_of(person) for maker in makers), strict=True)
    }
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    few = TextForm.for_people("hex", 1000)
    short = [Design("lab", "patient", epoch, form=few) for epoch in (1, 2)]
    relink_file(raw, "patient", short[0], short[1], office.folder / "short.csv", key=key)
    with pytest.raises(InputError, match="destroyed"):
        relink_file(raw, "patient", old, new, office.folder / "b.csv", key=destroy_epoch(key, 1))
