"""Files in, files out: consistent, exact in all other columns, in bounded memory, and nothing on an error."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sudare.errors import InputError, OutputError, ParameterError, UserError
from sudare.microdata.pseudonyms import (
    Design,
    Mapping,
    Pseudonymizer,
    TextForm,
    make_mapping,
    new_key,
    pseudonymize_file,
    rotate_key,
)
from sudare.microdata.pseudonyms import streaming as streaming_module
from sudare.microdata.pseudonyms.streaming import PeopleStream, StreamWriter, TextLayout
from tests.unit.microdata.pseudonyms.conftest import Office

BASE = Design("university", "patient", 1)
VISITS = 'patient,age,city\n17,44,Tokyo\n018,51,"Osa,ka"\n17,45,\n'


def run(office: Office, source: Path, name: str = "out/new.csv", design: Design = BASE, **more: Any) -> Path:
    made = pseudonymize_file(
        source, office.folder / name, {"patient": design}, key=office.key, register=office.register, **more
    )
    return made.path


def rows_of(path: Path, encoding: str = "utf-8") -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_text(encoding=encoding))))


def test_only_identifiers_change(office: Office) -> None:
    source = office.write("visits.csv", VISITS)
    before, after = rows_of(source), rows_of(run(office, source))
    assert [row[1:] for row in after] == [row[1:] for row in before]
    expected = Pseudonymizer(office.key, BASE).pseudonyms(["17", "018", "17"]).to_pylist()
    assert [row[0] for row in after] == ["patient", *expected]
    assert source.read_text() == VISITS


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 99), CELLS, CELLS), min_size=1, max_size=8),
    st.sampled_from([",", "\t", ";", "|"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_any_cells_come_through(tmp_path: Path, rows: list[tuple[int, str, str]], delimiter: str, newline: str) -> None:
    path, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        stream.write(f'patient{delimiter}one{delimiter}"th""ree"{newline}')
        csv.writer(stream, delimiter=delimiter, lineterminator=newline, quoting=csv.QUOTE_ALL).writerows(rows)
    read = PeopleStream(path)
    with StreamWriter(copy, read.schema, read.layout) as out:
        for batch in read.batches():
            out.write(batch)
    with path.open(newline="", encoding="utf-8") as one, copy.open(newline="", encoding="utf-8") as other:
        assert list(csv.reader(one, delimiter=delimiter)) == list(csv.reader(other, delimiter=delimiter))
    assert read.layout.delimiter == delimiter
    assert copy.read_bytes().startswith(f'patient{delimiter}one{delimiter}"th""ree"{newline}'.encode())


def test_csv_and_parquet_and_types_agree(office: Office) -> None:
    text = run(office, office.write("a.csv", "patient,age\n17,44\n18,51\n"))
    table = pa.table({"patient": pa.array([17, 18], pa.int64()), "age": pa.array([44, 51], pa.int8())})
    pq.write_table(table.replace_schema_metadata({"pandas": "{}", "made": "by us"}), office.folder / "a.parquet")
    binary = pq.read_table(run(office, office.folder / "a.parquet", "out/new.parquet"))
    assert binary["patient"].to_pylist() == [row[0] for row in rows_of(text)[1:]]
    assert binary.schema.field("age").type == pa.int8()
    assert binary.schema.metadata == {b"made": b"by us"}
    across = run(office, office.folder / "a.parquet", "out/across.csv")
    assert across.read_bytes() == text.read_bytes()


def test_several_columns_and_kinds(office: Office) -> None:
    source = office.write("a.csv", "patient,doctor,referred\n1,1,2\n2,2,1\n")
    staff = replace(BASE, kind="staff")
    made = pseudonymize_file(
        source,
        office.out / "a.csv",
        {"patient": BASE, "doctor": staff, "referred": staff},
        key=office.key,
        register=office.register,
    )
    (_, one, two) = rows_of(made.path)
    assert one[1] == two[2]
    assert two[1] == one[2]
    assert len({*one, *two}) == 4


def test_many_batches_are_one_file(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [str(number % 700) for number in range(5000)]
    source = office.write("a.csv", "patient,n\n" + "".join(f"{one},{n}\n" for n, one in enumerate(ids)))
    whole = run(office, source, "out/a.csv")
    monkeypatch.setattr(streaming_module, "BLOCK_BYTES", 1 << 10)
    parts = run(office, source, "out/b.csv")
    assert whole.read_bytes() == parts.read_bytes()
    assert [row[1] for row in rows_of(whole)[1:]] == [str(number) for number in range(5000)]
    source.write_text(source.read_text() + ",5000\n")
    with pytest.raises(InputError, match=r"'patient'.*data row 5001"):
        run(office, source, "out/c.csv")


def test_cp932_stays_cp932_and_a_mark_stays(office: Office) -> None:
    source = office.folder / "a.csv"
    source.write_bytes("patient,市\r\n１７,東京\r\n".encode("cp932"))
    made = run(office, source, encoding="cp932", design=replace(BASE, normalize=("nfkc",)))
    assert made.read_bytes().decode("cp932").endswith(",東京\r\n")
    plain = office.write("b.csv", "\ufeffpatient,市\n17,東京\n")
    second = run(office, plain, "out/b.csv", design=replace(BASE, normalize=("nfkc",)))
    assert second.read_bytes().startswith(b"\xef\xbb\xbfpatient,")
    assert rows_of(second, "utf-8-sig")[1][0] == rows_of(made, "cp932")[1][0]


def fails(office: Office, source: Path, kind: type[Exception], match: str, **more: Any) -> str:
    """Nothing appears, nothing is noted, and no identifier is told."""
    before = sorted(office.folder.rglob("*")), office.register.entries()
    with pytest.raises(kind, match=match) as caught:
        run(office, source, **more)
    ignored = [path for path in office.folder.rglob("*") if path.name.endswith(".lock")]
    assert sorted(set(office.folder.rglob("*")) - set(ignored)) == [one for one in before[0] if one not in ignored]
    assert office.register.entries() == before[1]
    told = str(caught.value) + (caught.value.japanese if isinstance(caught.value, UserError) else "")
    assert "SECRET" not in told
    assert caught.value.__cause__ is None
    return told


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("patient,age\nSECRET1,4\n,5\n", "'patient'.*'a.csv'.*data row 2"),
        ('patient,age\nSECRET1,4\n"",5\n', "data row 2"),
        ("pid,age\nSECRET1,4\n", "no column 'patient'"),
        ("patient,patient\nSECRET1,4\n", "Column number 2 of .* has the name of another one"),
        ("patient,age\nSECRET1,4\nSECRET2\n", "row 3"),
        ("patient,age\nSECRET1,4,5\n", "row 2"),
        ("", "no file to read"),
    ],
)
def test_a_wrong_file_leaves_nothing_behind(office: Office, text: str, match: str) -> None:
    fails(office, office.write("a.csv", text), InputError, match)


def test_mixed_encodings_name_the_row(office: Office) -> None:
    source = office.folder / "a.csv"
    source.write_bytes("patient,市\n1,東京\n".encode() + "2,大阪\n".encode("cp932"))
    fails(office, source, InputError, "row 3")
    source.write_bytes("patient,x\n1,東京\n".encode("cp932"))
    fails(office, source, InputError, "utf-8", encoding="utf-8")
    fails(office, source, InputError, "nonsense", encoding="nonsense")


def test_missing_identifiers_may_be_kept(office: Office) -> None:
    source = office.write("a.csv", "patient,age\n17,4\n,5\n")
    assert rows_of(run(office, source, missing="keep"))[2] == ["", "5"]
    fails(office, source, ParameterError, "refuse, keep", missing="drop", name="out/x.csv")


def test_numbers_with_decimals_are_no_identifiers(office: Office) -> None:
    pq.write_table(pa.table({"patient": [1.0, 2.0]}), office.folder / "a.parquet")
    fails(office, office.folder / "a.parquet", InputError, "'patient' holds double")
    (office.folder / "b.parquet").write_bytes(b"no parquet")
    fails(office, office.folder / "b.parquet", InputError, "cannot be opened")
    fails(office, office.write("a.xlsx", "x"), InputError, "a.xlsx")


def test_outputs_that_cannot_be(office: Office) -> None:
    source = office.write("a.csv", VISITS)
    run(office, source)
    fails(office, source, OutputError, "exists already")
    fails(office, source, OutputError, "no folder", name="none/new.csv")
    fails(office, source, OutputError, "new.json", name="out/new.json")
    fails(office, source, InputError, "not kept apart", name="keys/new.csv")
    fails(office, source, InputError, "not kept apart", name="new.csv")


def test_a_table_is_not_touched_before_all_is_checked(office: Office) -> None:
    place = office.folder / "tables" / "names.db"
    make_mapping(place, office.key)
    design = replace(BASE, method="table", form=TextForm("digits", 8))
    source = office.write("a.csv", "patient\n1\n2\n")
    with Mapping(place, office.key) as mapping:
        bad = office.write("bad.csv", 'patient,x\nSECRET1,1\n"",2\n')
        fails(office, bad, InputError, "data row 2", design=design, mapping=mapping)
        assert mapping.scopes() == []
        first = rows_of(run(office, source, design=design, mapping=mapping))
        second = rows_of(run(office, source, "out/b.csv", design=design, mapping=mapping))
    assert first == second
    fails(office, source, InputError, "needs a mapping", design=design, name="out/c.csv")


def test_a_recipient_keeps_one_design(office: Office) -> None:
    source = office.write("a.csv", VISITS)
    run(office, source)
    other = replace(BASE, form=TextForm("base32", 26))
    fails(office, source, InputError, "other settings.*form", design=other, name="out/b.csv")
    trimmed = replace(BASE, recipient="insurer", normalize=("strip",))
    fails(office, source, InputError, "normalised in another way", design=trimmed, name="out/b.csv")
    run(office, source, "out/b.csv", design=replace(other, recipient="insurer"))
    assert office.register.design("university", "patient", 1) == BASE


def test_a_wrong_key_for_the_register(office: Office) -> None:
    from sudare.microdata.pseudonyms import Register

    with pytest.raises(InputError, match="another key"):
        Register(office.register.path, new_key(office.folder / "other.key"))


def test_an_opt_out_meanwhile_stops_the_file(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    source = office.write("a.csv", VISITS)
    write = StreamWriter.write

    def write_and_opt_out(self: StreamWriter, batch: Any) -> None:
        office.register.leave_out("patient", "17", "opt-out")
        write(self, batch)

    monkeypatch.setattr(StreamWriter, "write", write_and_opt_out)
    with pytest.raises(OutputError, match="run it again"):
        run(office, source)
    assert list(office.out.iterdir()) == []
    assert len(rows_of(run(office, source))) == 2


def test_somebody_who_opts_out_at_the_last_moment_stops_the_file(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last look at the people and the entry of the file in the log there is no gap."""
    from sudare.microdata.pseudonyms import Register

    source = office.write("a.csv", VISITS)
    record = Register.record_file

    def record_after_opt_out(self: Register, *arguments: Any, **more: Any) -> None:
        with Register(office.register.path, office.key) as other:
            other.leave_out("patient", "17", "opt-out")
        record(self, *arguments, **more)

    monkeypatch.setattr(Register, "record_file", record_after_opt_out)
    with pytest.raises(OutputError, match="run it again"):
        run(office, source)
    assert list(office.out.iterdir()) == []
    assert office.register.files() == []


def test_two_first_files_at_once_settle_one_design(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    source = office.write("a.csv", VISITS)
    write, other = StreamWriter.write, replace(BASE, form=TextForm("base32", 26))

    def write_after_another(self: StreamWriter, batch: Any) -> None:
        monkeypatch.setattr(StreamWriter, "write", write)
        run(office, source, "out/first.csv")
        write(self, batch)

    monkeypatch.setattr(StreamWriter, "write", write_after_another)
    with pytest.raises(InputError, match=r"other settings.*form"):
        run(office, source, "out/second.csv", design=other)
    assert [path.name for path in office.out.iterdir()] == ["first.csv"]
    assert office.register.verify(files=True) == []


def test_a_new_kind_is_told_while_somebody_is_left_out(office: Office) -> None:
    """A kind in another spelling brings back who opted out."""
    source = office.write("a.csv", VISITS)

    def new_kinds(name: str, kind: str) -> tuple[str, ...]:
        columns = {"patient": replace(BASE, kind=kind)}
        made = pseudonymize_file(source, office.out / name, columns, key=office.key, register=office.register)
        return made.new_kinds

    assert new_kinds("1.csv", "patient") == ()
    office.register.leave_out("patient", "17", "opt-out")
    assert new_kinds("2.csv", "patients") == ("patients",)
    assert new_kinds("3.csv", "patients") == ()
    assert new_kinds("4.csv", "patient") == ()
    assert office.register.kinds_left_out() == ["patient"]


def test_a_mapping_is_not_given_away(office: Office) -> None:
    source = office.write("a.csv", VISITS)
    design = replace(BASE, method="table")
    (office.out / "tables").mkdir()
    for place in (office.out / "names.db", office.out / "tables" / "names.db"):
        make_mapping(place, office.key)
        with Mapping(place, office.key) as mapping, pytest.raises(InputError, match=r"mapping .* folder of the output"):
            run(office, source, design=design, mapping=mapping)
    assert not (office.out / "new.csv").exists()


def test_a_new_epoch_has_new_pseudonyms(office: Office) -> None:
    source = office.write("a.csv", VISITS)
    first = rows_of(run(office, source))
    key = rotate_key(office.key)
    made = pseudonymize_file(
        source, office.out / "b.csv", {"patient": replace(BASE, epoch=2)}, key=key, register=office.register
    )
    assert not {row[0] for row in first[1:]} & {row[0] for row in rows_of(made.path)[1:]}


def test_a_single_column_keeps_its_empty_rows(office: Office) -> None:
    source = office.write("a.csv", "patient\n17\n\n18\n")
    fails(office, source, InputError, "data row 2")
    assert len(rows_of(run(office, source, missing="keep"))) == 4


def test_a_text_that_the_encoding_lacks(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.string())])
    with (
        pytest.raises(OutputError, match="cp932"),
        StreamWriter(tmp_path / "a.csv", schema, TextLayout("cp932")) as writer,
    ):
        writer.write(pa.record_batch([["😀"]], schema=schema))
