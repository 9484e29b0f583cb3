"""One person's rights: found, corrected, deleted, left out, in files there are and to come; proved by a log that names nobody."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.errors import InputError, OutputError, ParameterError
from sudare.io import atomically
from sudare.microdata.pseudonyms import (
    Design,
    Mapping,
    PersonAnswer,
    PersonDesk,
    Pseudonymizer,
    Register,
    TextForm,
    destroy_epoch,
    make_mapping,
    pseudonymize_file,
    rotate_key,
)
from sudare.microdata.pseudonyms.registers import rights as rights_module
from sudare.microdata.pseudonyms.registers.contents import replay
from sudare.microdata.pseudonyms.registers.log import check_chain
from sudare.microdata.pseudonyms.streaming import StreamWriter
from tests.unit.microdata.pseudonyms.conftest import Office

BASE = Design("university", "patient", 1)
RAW = "patient,visit,city\n17,1,Tokyo\n18,1,Osaka\n17,2,Tokio\n19,1,Nagoya\n"


def run(office: Office, name: str, design: Design = BASE, text: str = RAW, **more: Any) -> Path:
    source = office.write("raw.csv", text)
    made = pseudonymize_file(
        source, office.out / name, {"patient": design}, key=office.key, register=office.register, **more
    )
    return made.path


def desk(office: Office, person: str = "17", mapping: Mapping | None = None) -> PersonDesk:
    return PersonDesk(office.key, office.register, "patient", person, mapping)


def states(answer: PersonAnswer) -> dict[str, tuple[str, int]]:
    return {one.path.name: (one.state, one.rows) for one in answer.files}


def cities(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        found: list[str] = pq.read_table(path)["city"].to_pylist()
        return found
    return [line.split(",")[2] for line in path.read_text().splitlines()[1:]]


@pytest.fixture
def files(office: Office) -> dict[str, Path]:
    """Every way in which a person may be in a file."""
    return {
        "plain": run(office, "plain.csv"),
        "insurer": run(office, "insurer.parquet", replace(BASE, recipient="insurer", hash="hmac-sha256")),
        "several": run(office, "several.csv", replace(BASE, recipient="b", several=3, form=TextForm("base32", 26))),
        "per": run(office, "per.parquet", replace(BASE, recipient="c", per="visit")),
    }


def test_found_in_every_kind_of_file(office: Office, files: dict[str, Path]) -> None:
    answer, rows = desk(office).find()
    assert set(states(answer).values()) == {("found", 2)}
    assert len(answer.files) == 4
    assert {(row["row"], row["values"]["city"]) for row in rows} == {(1, "Tokyo"), (3, "Tokio")}
    answer, rows = desk(office, "nobody").find()
    assert set(states(answer).values()) == {("nothing", 0)}
    assert rows == []


def test_found_in_raw_files_and_folders(office: Office, files: dict[str, Path]) -> None:
    raw = office.folder / "raw.csv"
    answer, rows = desk(office).find([raw], raw_column="patient")
    assert states(answer) == {"raw.csv": ("found", 2)}
    assert rows[0]["values"] == {"patient": "17", "visit": "1", "city": "Tokyo"}
    assert states(desk(office).find([raw])[0]) == {"raw.csv": ("unknown", 0)}
    moved = office.folder / "sent" / "moved.csv"
    moved.parent.mkdir()
    moved.write_bytes(files["plain"].read_bytes())
    assert states(desk(office).find([moved.parent])[0]) == {"moved.csv": ("found", 2)}
    with pytest.raises(InputError, match="no file to read"):
        desk(office).find([office.folder / "none.csv"])


def test_deleted_everywhere_and_for_ever(office: Office, files: dict[str, Path]) -> None:
    before = {name: path.stat().st_mode for name, path in files.items()}
    files["plain"].chmod(0o640)
    first, again = desk(office).delete(), desk(office).delete()
    assert set(states(first).values()) == {("rewritten", 2)}
    assert set(states(again).values()) == {("nothing", 0)}
    assert (first.is_new, again.is_new) == (True, False)
    for path in files.values():
        assert cities(path) == ["Osaka", "Nagoya"]
    assert stat.S_IMODE(files["plain"].stat().st_mode) == 0o640
    assert files["per"].stat().st_mode == before["per"]
    assert cities(run(office, "later.csv", replace(BASE, recipient="new"))) == ["Osaka", "Nagoya"]
    assert pq.read_table(files["per"]).schema.names == ["patient", "visit", "city"]
    raw = office.folder / "raw.csv"
    assert "17," in raw.read_text(), "a raw file changes only if it is named"
    desk(office).delete([raw], raw_column="patient")
    assert "17," not in raw.read_text()
    assert office.register.verify(files=True) == []


def test_opted_out_and_in_again(office: Office, files: dict[str, Path]) -> None:
    first = desk(office).opt_out(only_future=True)
    assert (first.is_new, first.files) == (True, ())
    assert cities(files["plain"]) == ["Tokyo", "Osaka", "Tokio", "Nagoya"]
    assert cities(run(office, "second.csv")) == ["Osaka", "Nagoya"]
    second = desk(office).opt_out()
    assert second.is_new is False
    assert states(second)["plain.csv"] == ("rewritten", 2)
    assert desk(office).take_back().is_new is True
    assert desk(office).take_back().is_new is False
    assert cities(run(office, "third.csv")) == ["Tokyo", "Osaka", "Tokio", "Nagoya"]
    # Deletion holds, whatever is asked later, until it is taken back.
    desk(office).delete()
    assert desk(office).opt_out().is_new is False
    assert office.register.state("patient", "17") == "deleted"


def test_another_kind_is_another_person(office: Office, files: dict[str, Path]) -> None:
    other = PersonDesk(office.key, office.register, "doctor", "17")
    assert other.delete().files == ()
    assert cities(run(office, "second.csv")) == ["Tokyo", "Osaka", "Tokio", "Nagoya"]


def test_corrected_now_and_in_files_to_come(office: Office, files: dict[str, Path]) -> None:
    first = desk(office).correct({"city": "Kyoto"})
    again = desk(office).correct({"city": "Kyoto"})
    assert set(states(first).values()) == {("rewritten", 2)}
    assert set(states(again).values()) == {("nothing", 0)}
    assert (first.is_new, again.is_new) == (True, False)
    for path in files.values():
        assert cities(path) == ["Kyoto", "Osaka", "Kyoto", "Nagoya"]
    # The wrong values again are corrected; news of the person are not touched.
    later = run(office, "later.csv", text=RAW.replace("Tokio", "Sapporo"))
    assert cities(later) == ["Kyoto", "Osaka", "Sapporo", "Nagoya"]
    desk(office).correct({"city": "Nara"})
    assert cities(later) == ["Nara", "Osaka", "Nara", "Nagoya"]
    assert cities(run(office, "last.csv")) == ["Nara", "Osaka", "Nara", "Nagoya"]
    assert office.register.verify(files=True) == []


def test_corrections_of_numbers_keep_their_type(office: Office) -> None:
    table = pa.table({"patient": ["17", "18"], "age": pa.array([4, 5], pa.int16()), "city": ["a", "b"]})
    pq.write_table(table, office.folder / "a.parquet")
    made = pseudonymize_file(
        office.folder / "a.parquet",
        office.out / "a.parquet",
        {"patient": BASE},
        key=office.key,
        register=office.register,
    ).path
    with pytest.raises(InputError, match="'age' is not of its type"):
        desk(office).correct({"age": "forty"})
    desk(office).correct({"age": "40", "city": 'a "new", one'})
    read = pq.read_table(made)
    assert read["age"].to_pylist() == [40, 5]
    assert read.schema.field("age").type == pa.int16()
    assert read["city"].to_pylist() == ['a "new", one', "b"]


@pytest.mark.parametrize(
    ("fields", "match"),
    [({"patient": "x"}, "decides who"), ({"visit": "9"}, "decides who"), ({"town": "x"}, "None of the files")],
)
def test_what_cannot_be_corrected(office: Office, files: dict[str, Path], fields: dict[str, str], match: str) -> None:
    before = {name: path.read_bytes() for name, path in files.items()}
    with pytest.raises(InputError, match=match):
        desk(office).correct(fields)
    assert {name: path.read_bytes() for name, path in files.items()} == before


def test_a_table_forgets_who_was_deleted(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    design, visits = replace(BASE, method="table"), replace(BASE, method="table", recipient="b", per="visit")
    with Mapping(place, office.key) as mapping:
        one = run(office, "one.csv", design, mapping=mapping)
        two = run(office, "two.csv", visits, mapping=mapping)
        with pytest.raises(InputError, match="needs a mapping"):
            desk(office).find()
        # As long as only some files were looked into, the others must still be searchable.
        desk(office, mapping=mapping).delete([one])
        assert len(dict(mapping.entries(design.scope))) == 3
        answer = desk(office, mapping=mapping).delete()
        assert states(answer) == {"one.csv": ("nothing", 0), "two.csv": ("rewritten", 2)}
        assert sorted(dict(mapping.entries(design.scope))) == ["18", "19"]
        assert sorted(dict(mapping.entries(visits.scope))) == ["1:118", "1:119"]
    assert cities(two) == ["Osaka", "Nagoya"]


def test_whoever_is_still_in_a_log_is_not_said_to_be_deleted(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup that reads the mapping keeps its log from being emptied; to ask again once it is over finishes the work."""
    monkeypatch.setattr("sudare.storage.sqlite_file.MAX_LOG_WAIT_SECONDS", 0.2)
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    design = replace(BASE, method="table")
    with Mapping(place, office.key) as mapping:
        run(office, "one.csv", design, mapping=mapping)
        pseudonym = dict(mapping.entries(design.scope))["17"].encode()
        with closing(sqlite3.connect(place, isolation_level=None)) as backup:
            backup.execute("BEGIN")
            backup.execute("SELECT count(*) FROM names").fetchall()
            with pytest.raises(OutputError, match=r"names\.db-wal.*once more"):
                desk(office, mapping=mapping).delete()
            log = place.with_name("names.db-wal")
            assert pseudonym in place.read_bytes() + log.read_bytes()
        answer = desk(office, mapping=mapping).delete()
        assert states(answer) == {"one.csv": ("nothing", 0)}
        assert pseudonym not in place.read_bytes() + log.read_bytes()


def test_a_copy_is_a_file_of_its_own(office: Office, files: dict[str, Path]) -> None:
    copy = office.folder / "sent" / "copy.csv"
    copy.parent.mkdir()
    copy.write_bytes(files["plain"].read_bytes())
    desk(office).correct({"city": "Kyoto"}, [copy])
    desk(office).delete([copy])
    assert cities(copy) == ["Osaka", "Nagoya"]
    assert cities(files["plain"]) == ["Tokyo", "Osaka", "Tokio", "Nagoya"]
    assert office.register.verify(files=True) == []
    assert copy.resolve() in {known.path for known in office.register.files()}


def test_another_file_in_the_place_of_a_known_one(office: Office, files: dict[str, Path]) -> None:
    files["plain"].write_text("something,else\n1,2\n")
    answer, _ = desk(office).find()
    assert states(answer)["plain.csv"] == ("unknown", 0)


def test_files_that_are_gone_or_cannot_be_linked(office: Office, files: dict[str, Path]) -> None:
    files["plain"].unlink()
    answer = desk(office).opt_out()
    assert states(answer)["plain.csv"] == ("missing", 0)
    key = destroy_epoch(rotate_key(office.key), 1)
    answer = PersonDesk(key, office.register, "patient", "18").delete()
    assert states(answer)["insurer.parquet"] == ("unlinkable", 0)
    assert cities(files["insurer"]) == ["Osaka", "Nagoya"]


def break_file(path: Path) -> None:
    """The header stays, and so do the names of the columns."""
    if path.suffix == ".csv":
        path.write_bytes(path.read_bytes() + b"\xff\xfe,1,x\n")
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("broken", ["plain", "insurer", "several", "per"])
def test_a_damaged_file_does_not_keep_the_others_from_being_changed(
    office: Office, files: dict[str, Path], broken: str
) -> None:
    break_file(files[broken])
    rest = [path for name, path in files.items() if name != broken]
    damaged = files[broken].read_bytes()

    def told(answer: PersonAnswer, state: str) -> None:
        found = states(answer)
        assert found.pop(files[broken].name) == ("unreadable", 0)
        assert set(found.values()) == {(state, 2)}

    told(desk(office).find()[0], "found")
    told(desk(office).correct({"city": "Kyoto"}), "rewritten")
    assert all(cities(path) == ["Kyoto", "Osaka", "Kyoto", "Nagoya"] for path in rest)
    told(desk(office).opt_out(), "rewritten")
    assert all(cities(path) == ["Osaka", "Nagoya"] for path in rest)
    desk(office, "18").delete([office.out])
    assert all(cities(path) == ["Nagoya"] for path in rest)
    assert files[broken].read_bytes() == damaged
    assert office.register.verify() == []


def test_a_damaged_raw_file_among_others(office: Office) -> None:
    raw = office.folder / "raw"
    raw.mkdir()
    (raw / "1.csv").write_bytes(b"patient,city\n\xff\xfe,x\n")
    (raw / "2.parquet").write_bytes(b"no parquet")
    (raw / "3.csv").write_text("patient,visit,city\n17,1,Tokyo\n18,1,Osaka\n")
    answer = desk(office).delete([raw], raw_column="patient")
    assert states(answer) == {"1.csv": ("unreadable", 0), "2.parquet": ("unreadable", 0), "3.csv": ("rewritten", 1)}
    assert cities(raw / "3.csv") == ["Osaka"]


def test_a_file_that_cannot_be_written_does_not_keep_the_others(
    office: Office, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **more: Any) -> Any:
        if path.name == "insurer.parquet":
            raise OutputError("The disk is full.", "ディスクに空きがありません。")
        return atomically(path, **more)

    monkeypatch.setattr(rights_module, "atomically", refuse)
    answer = desk(office).delete()
    assert states(answer).pop("insurer.parquet") == ("unwritable", 2)
    assert [len(cities(path)) for name, path in files.items() if name != "insurer"] == [2, 2, 2]
    monkeypatch.undo()
    assert states(desk(office).delete())["insurer.parquet"] == ("rewritten", 2)
    assert office.register.verify(files=True) == []


def test_it_is_told_when_the_mapping_keeps_the_person(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    plain = run(office, "0.csv", replace(BASE, recipient="keyed"))
    with Mapping(place, office.key) as mapping:
        assert not desk(office, mapping=mapping).delete([plain]).is_mapping_kept, "it never held anybody"
        table = replace(BASE, method="table")
        one, two = (run(office, f"{number}.csv", table, mapping=mapping) for number in (1, 2))
        mine = desk(office, "18", mapping)
        assert mine.delete([one]).is_mapping_kept, "the other file was not looked into"
        held = two.read_bytes()
        break_file(two)
        assert mine.delete().is_mapping_kept
        assert mapping.known(table.scope, ["18"]) != [None]
        two.write_bytes(held)
        assert not mine.delete().is_mapping_kept
        assert mapping.known(table.scope, ["18"]) == [None]
        key = destroy_epoch(rotate_key(office.key), 1)
        # Nobody is found in those files again, so they are no reason to keep somebody in the table.
        assert PersonDesk(key, office.register, "patient", "19").delete().is_mapping_kept, "it was not named"
        assert mapping.known(table.scope, ["19"]) != [None]
        answer = PersonDesk(key, office.register, "patient", "19", mapping).delete()
        assert {state for state, _ in states(answer).values()} == {"unlinkable"}
        assert not answer.is_mapping_kept
        assert mapping.known(table.scope, ["19"]) == [None]


def test_a_mapping_that_is_not_named_stops_a_request_before_the_first_file(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    first = run(office, "1.csv")
    with Mapping(place, office.key) as mapping:
        run(office, "2.csv", replace(BASE, recipient="b", method="table"), mapping=mapping)
    with pytest.raises(InputError, match="needs a mapping"):
        desk(office).delete()
    assert len(cities(first)) == 4
    assert office.register.state("patient", "17") == "deleted"


def test_sealed_corrections_tell_no_length(office: Office) -> None:
    office.register.correct("patient", "17", "city", ["a"], "b")
    office.register.correct("patient", "18", "city", ["Nagoya", "Nagoja"], "Yokohama")
    with closing(sqlite3.connect(office.register.path)) as connection:
        lengths = {length for (length,) in connection.execute("SELECT length(sealed) FROM corrections")}
    assert lengths == {12 + 64 + 16}
    assert {one.right for one in office.register.corrections("patient")} == {"b", "Yokohama"}


def test_digests_for_releases_are_of_one_kind_each(office: Office) -> None:
    for kind in ("patient", "doctor"):
        office.register.leave_out(kind, "17", "opt-out")
    patient, doctor = (office.register.opted_out(kind) for kind in ("patient", "doctor"))
    assert patient.salt != doctor.salt
    assert not patient.digests & doctor.digests


def test_who_asked_is_nowhere_in_the_clear(office: Office) -> None:
    person = "Yamada-Hanako-1980"
    made = run(office, "a.csv", text=f"patient,visit,city\n{person},1,Tokyo-WRONG\n18,1,Osaka\n")
    mine = desk(office, person)
    mine.find()
    mine.correct({"city": "Kyoto-RIGHT"})
    mine.opt_out()
    mine.delete()
    assert made.read_text().count("\n") == 2
    office.register.close()
    for path in (office.register.path, *office.register.path.parent.glob("*register*")):
        held = path.read_bytes()
        for secret in (person, "Yamada", "Tokyo-WRONG", "Kyoto-RIGHT"):
            assert secret.encode() not in held
    # Nor can the hashes be guessed without the key: they are those of no plain hash.
    import hashlib

    for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
        assert hashlib.new(name, person.encode()).hexdigest()[:32].encode() not in office.register.path.read_bytes()


def test_the_log_proves_what_was_done(office: Office, files: dict[str, Path]) -> None:
    before = office.register.file_hash(files["plain"])
    desk(office).delete()
    after = office.register.file_hash(files["plain"])
    tag = office.register.tag("patient", "17")
    mine = [entry.read() for entry in office.register.entries() if entry.read().get("person") == tag]
    assert mine[0]["did"] == "delete"
    done = [body for body in mine if body.get("file") == str(files["plain"].resolve())]
    assert [(body["did"], body["before"], body["after"]) for body in done] == [("delete in a file", before, after)]
    # A plain hash of the file would let anybody test a guess at what it held.
    import hashlib

    assert after != hashlib.blake2b(files["plain"].read_bytes(), digest_size=32).hexdigest()
    files["plain"].write_text("changed")
    findings = office.register.verify(files=True)
    assert len(findings) == 1
    assert "plain.csv" in findings[0].english
    assert "plain.csv" in findings[0].explain("ja")


UNSEALED = [
    """UPDATE kinds SET normalize = '["strip"]'""",
    "DELETE FROM kinds",
    "INSERT INTO kinds VALUES ('doctor', '[\"upper\"]')",
    "UPDATE designs SET design = replace(design, 'blake2b', 'hmac-sha256')",
    "UPDATE designs SET recipient = 'insurer'",
    "DELETE FROM designs",
    "DELETE FROM files",
    "UPDATE files SET path = path || 'x'",
    "UPDATE files SET previous = hash",
    "UPDATE files SET made = replace(made, 'patient', 'doctor')",
    "INSERT INTO files SELECT path || 'x', hash, previous, made FROM files",
    # What is asked for later would vanish from the table and from the log.
    "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM people; DELETE FROM log WHERE number = NEW.number; END",
    "CREATE VIEW everybody AS SELECT * FROM people",
]


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE log SET body = replace(body, 'delete', 'opt-in')",
        "UPDATE log SET time = '2020-01-01' WHERE number = 1",
        "DELETE FROM log WHERE number = 1",
        "DELETE FROM people",
        "UPDATE people SET state = 'opted out'",
        "INSERT INTO people VALUES ('patient', 'x', 'deleted', 'y')",
        "UPDATE people SET digest = 'x'",
        "DELETE FROM corrections",
        "UPDATE corrections SET sealed = x'00'",
        "UPDATE corrections SET sealed = 'text'",
        "UPDATE log SET body = x'00'",
        *UNSEALED,
    ],
)
def test_a_register_changed_from_outside_is_refused(office: Office, tampering: str) -> None:
    run(office, "a.csv")
    desk(office, "18").correct({"city": "Kobe"})
    desk(office).delete()
    office.register.close()
    with closing(sqlite3.connect(office.register.path)) as connection:
        connection.execute(tampering)
        connection.commit()
    with pytest.raises(InputError, match="changed from outside"):
        Register(office.register.path, office.key)
    with Register(office.register.path, office.key, check=False) as opened:
        assert len(opened.verify()) == 1


@pytest.mark.parametrize("tampering", ["DELETE FROM people", *UNSEALED])
def test_a_register_that_is_changed_while_it_is_open_is_refused_by_whatever_comes_next(
    office: Office, tampering: str
) -> None:
    made = run(office, "a.csv")
    desk(office, "18").correct({"city": "Kobe"})
    mine = desk(office)
    mine.opt_out(only_future=True)
    register, before = office.register, made.read_bytes()
    with closing(sqlite3.connect(register.path)) as connection:
        connection.execute(tampering)
        connection.commit()
    source = office.write("raw.csv", RAW)
    uses: list[Callable[[], object]] = [
        lambda: register.design("university", "patient", 1),
        lambda: register.normalization("patient"),
        lambda: register.left_out("patient"),
        lambda: register.opted_out("patient"),
        lambda: register.corrections("patient"),
        lambda: register.state("patient", "17"),
        lambda: register.files(),
        lambda: register.known_file(made),
        lambda: register.version(),
        lambda: register.note({"did": "find"}),
        lambda: register.take_back("patient", "17"),
        mine.find,
        mine.delete,
        lambda: desk(office, "18").opt_out(),
        lambda: desk(office, "18").correct({"city": "Nara"}),
        lambda: pseudonymize_file(source, office.out / "b.csv", {"patient": BASE}, key=office.key, register=register),
    ]
    for use in uses:
        with pytest.raises(InputError, match="changed from outside"):
            use()
    assert made.read_bytes() == before
    assert [path.name for path in office.out.iterdir()] == ["a.csv"]


def test_a_register_that_is_changed_while_a_file_is_made_stops_it(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(office, "a.csv")
    write = StreamWriter.write

    def write_and_tamper(self: StreamWriter, batch: Any) -> None:
        with closing(sqlite3.connect(office.register.path)) as connection:
            connection.execute("DELETE FROM files")
            connection.commit()
        write(self, batch)

    monkeypatch.setattr(StreamWriter, "write", write_and_tamper)
    with pytest.raises(InputError, match="changed from outside"):
        run(office, "b.csv")
    assert [path.name for path in office.out.iterdir()] == ["a.csv"]


def test_who_reads_while_others_write_sees_one_moment(office: Office) -> None:
    """A table and the log are read one after the other; what is written between them is no tampering."""

    def ask() -> None:
        with Register(office.register.path, office.key) as other:
            for number in range(60):
                other.leave_out("patient", str(number), "opt-out")

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    looks = 0
    while asking.is_alive() and looks < 10_000:
        with Register(office.register.path, office.key) as reader:
            assert len(reader.left_out("patient")) <= len(reader.left_out("patient"))
        looks += 1
    asking.join(30)
    assert looks > 1
    assert len(office.register.left_out("patient")) == 60


def test_the_log_alone_says_all_that_the_tables_hold(office: Office, files: dict[str, Path]) -> None:
    desk(office).correct({"city": "Kobe"})
    desk(office, "18").opt_out()
    desk(office).delete()
    desk(office, "18").take_back()
    run(office, "last.csv", replace(BASE, kind="doctor", normalize=("strip",)))
    held = replay(office.register.entries())
    assert set(held.kinds) == {"patient", "doctor"}
    assert set(held.files) == {str(known.path) for known in office.register.files()}
    assert {design for *_, design in held.designs} == {1}
    assert len(held.designs) == 5
    assert [state for state, _ in held.people.values()] == ["deleted"]


def test_an_end_that_was_cut_off_is_found_by_a_noted_seal(office: Office) -> None:
    run(office, "a.csv")
    desk(office).find()
    noted = office.register.head()
    desk(office).find()
    assert office.register.verify(noted=noted) == []
    cut = office.register.entries()[:1]
    assert check_chain(cut, office.key.subkey("register", "log")) == [], "without it nobody could tell"
    assert len(check_chain(cut, office.key.subkey("register", "log"), noted)) == 1


def test_an_interrupted_deletion_is_finished_by_asking_again(
    office: Office, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = StreamWriter
    calls = []

    class Broken(writer):  # type: ignore[valid-type, misc]
        def write(self, batch: Any) -> None:
            calls.append(1)
            if len(calls) > 2:
                raise KeyboardInterrupt
            super().write(batch)

    monkeypatch.setattr(rights_module, "StreamWriter", Broken)
    with pytest.raises(KeyboardInterrupt):
        desk(office).delete()
    monkeypatch.setattr(rights_module, "StreamWriter", writer)
    assert office.register.state("patient", "17") == "deleted"
    assert cities(run(office, "meanwhile.csv")) == ["Osaka", "Nagoya"]
    assert sorted(len(cities(path)) for path in files.values()) == [2, 2, 4, 4]
    assert [path.name for path in office.out.iterdir() if path.name.startswith(".")] == []
    desk(office).delete()
    assert [len(cities(path)) for path in files.values()] == [2, 2, 2, 2]
    assert office.register.verify(files=True) == []


def test_releases_leave_out_who_opted_out(office: Office) -> None:
    """The register gives what counting takes, and the ledger's own form agrees with it."""
    from sudare.domain import Category, Domain
    from sudare.io import Source, read_counts
    from sudare.ledger.records import digest_of

    source = office.write("people.csv", "person,sex\n17,f\n18,m\n19,f\n")
    domain = Domain((Category("sex", ("f", "m")),))
    office.register.leave_out("person", "17", "opt-out")
    office.register.leave_out("person", "19", "delete")
    out = office.register.opted_out("person")
    assert out.digests == {digest_of(out.salt, "17"), digest_of(out.salt, "19")}
    told = read_counts(Source(str(source), person="person"), domain, opted_out=(out.salt, out.digests))
    assert told.total == 1
    assert office.register.opted_out("patient").digests == frozenset()


def test_a_person_must_be_named(office: Office) -> None:
    with pytest.raises(ParameterError):
        desk(office, "")


def test_normalisation_is_that_of_the_kind(office: Office) -> None:
    design = replace(BASE, normalize=("strip", "no-leading-zeros"))
    text = "patient,visit,city\n017,1,Tokyo\n18,1,Osaka\n 17,2,Tokio\n"
    made = run(office, "a.csv", replace(design, normalize=("strip", "no-leading-zeros")), text=text)
    desk(office, "0017").delete([made])
    assert cities(made) == ["Osaka"]


def test_an_opt_out_before_the_first_file_settles_the_kind(office: Office) -> None:
    desk(office, "017").opt_out()
    with pytest.raises(InputError, match="normalised in another way"):
        run(office, "a.csv", replace(BASE, normalize=("no-leading-zeros",)))


def test_two_registers_are_never_mixed(office: Office) -> None:
    from sudare.microdata.pseudonyms import make_register

    with pytest.raises(OutputError, match="never overwritten"):
        make_register(office.register.path, office.key)


def test_a_recipient_cannot_tell_the_register(office: Office) -> None:
    """Tags of the register are not pseudonyms of anybody."""
    maker = Pseudonymizer(office.key, BASE)
    tags = {office.register.tag("patient", str(number)) for number in range(100)}
    assert not tags & set(maker.pseudonyms([str(number) for number in range(100)]).to_pylist())
