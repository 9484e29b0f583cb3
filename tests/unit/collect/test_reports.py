"""Specifications and reports as files: round trips, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sudare.collect import (
    BoundedNoise,
    Grid,
    KaryResponse,
    LocalHashing,
    MatrixResponse,
    Randomizer,
    Rappor,
    Retention,
    UnaryResponse,
    read_randomizer,
    read_reports,
    specification,
    write_reports,
)
from sudare.collect.questionnaires import reports
from sudare.collect.questionnaires.report_forms import FORMS, form_of
from sudare.collect.randomizers.registry import registered_randomizers
from sudare.errors import InputError, OutputError, ParameterError

RANDOMIZERS: tuple[Randomizer, ...] = (
    KaryResponse(("yes", "no", "001", "", "null", "a,b", 'say "x"', "東京"), 1),
    KaryResponse((True, False), 1),
    KaryResponse((3, 1, -4), 1),
    Retention(range(5), 0.5),
    MatrixResponse(("a", "b"), [[0.9, 0.1], [0.3, 0.7]]),
    UnaryResponse(range(20), 1),
    UnaryResponse(("x", "y"), 1, "symmetric"),
    UnaryResponse(range(64), 1),
    LocalHashing(range(100), 2),
)


def some_reports(randomizer: Any, people: int = 60) -> Any:
    return randomizer.randomize([randomizer.labels[i % len(randomizer.labels)] for i in range(people)])


@pytest.fixture(params=RANDOMIZERS, ids=lambda randomizer: f"{randomizer.kind}-{len(randomizer.labels)}")
def randomizer(request: pytest.FixtureRequest) -> Randomizer:
    given_one: Randomizer = request.param
    return given_one


def said(error: pytest.ExceptionInfo[InputError]) -> str:
    """Told in both languages."""
    assert error.value.english
    assert any(ord(character) > 0x3000 for character in error.value.japanese)
    return error.value.english


def test_specifications_are_read_again(randomizer: Randomizer) -> None:
    told = json.dumps(specification(randomizer))
    assert read_randomizer(told) == randomizer
    assert read_randomizer(json.loads(told)).fingerprint() == randomizer.fingerprint()
    assert read_randomizer(randomizer.to_dict()) == randomizer


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("people", [0, 1, 60])
def test_files_are_read_again(randomizer: Randomizer, suffix: str, people: int, tmp_path: Path) -> None:
    path, sent = tmp_path / f"reports.{suffix}", some_reports(randomizer, people)
    if people == 0:
        sent = some_reports(randomizer, 1)[:0]
    write_reports(path, randomizer, sent)
    found, received = read_reports(path, randomizer)
    assert found == randomizer
    assert received.shape == sent.shape
    assert received.dtype.kind == sent.dtype.kind
    assert (received == sent).all()
    assert randomizer.estimate(received).people == people
    if suffix == "parquet":
        assert read_reports(path)[0] == randomizer


@example(["a\nb", "\r", "\r\n", '"', ",", " x "])
@given(st.lists(st.text().filter(lambda text: "\0" not in text), min_size=2, max_size=6, unique=True))
def test_any_texts_survive_a_csv_file(tmp_path_factory: pytest.TempPathFactory, labels: list[str]) -> None:
    try:
        "".join(labels).encode()
    except UnicodeEncodeError:
        return
    question = KaryResponse(labels, 1)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    write_reports(path, question, np.array(labels))
    assert read_reports(path, question)[1].tolist() == labels


def test_a_line_is_what_is_documented() -> None:
    question = KaryResponse(("yes", "no"), 1)
    assert list(reports.report_lines(question, ["yes"])) == [
        f'{{"sudare":1,"randomizer":"{question.fingerprint()}","report":"yes"}}'
    ]
    hashed = list(reports.report_lines(LocalHashing(range(9), 1), np.array([[2**64 - 1, 2]], dtype=np.uint64)))
    assert json.loads(hashed[0])["report"] == ["ffffffffffffffff", 2]
    bits = list(reports.report_lines(UnaryResponse(range(9), 1), np.array([[0x0F, 1]], dtype=np.uint8)))
    assert json.loads(bits[0])["report"] == "0f01"


def line(randomizer: Randomizer, report: object, **others: object) -> str:
    return json.dumps({"sudare": 1, "randomizer": randomizer.fingerprint(), "report": report, **others})


@pytest.mark.parametrize(
    ("which", "report"),
    [
        (0, "secret"),
        (0, 1),
        (0, None),
        (0, ["yes"]),
        (1, 1),
        (2, True),
        (2, 3.0),
        (2, 99),
        (5, "secret"),
        (5, "0000"),
        (5, "000080"),
        (5, "00000A"),
        (5, 7),
        (8, "00"),
        (8, ["0" * 16]),
        (8, ["0" * 15, 1]),
        (8, ["-" + "0" * 15, 1]),
        (8, ["0" * 16, 8]),
        (8, ["0" * 16, -1]),
        (8, ["0" * 16, True]),
        (8, [0, 1]),
    ],
)
def test_lines_that_hold_no_report(which: int, report: object) -> None:
    randomizer = RANDOMIZERS[which]
    good = next(reports.report_lines(randomizer, some_reports(randomizer, 1)))
    with pytest.raises(InputError) as raised:
        reports.read_lines([good, "", line(randomizer, report)], randomizer)
    assert "Line 3" in said(raised)
    assert "secret" not in said(raised)


@pytest.mark.parametrize(
    "text", ["{", "[]", "5", '{"sudare": 1}', '{"sudare": 1, "randomizer": "x", "report": 1, "name": "ann"}']
)
def test_lines_that_are_none(text: str) -> None:
    with pytest.raises(InputError) as raised:
        reports.read_lines([text], RANDOMIZERS[0])
    assert said(raised) == "Line 1 is not a report."


@pytest.mark.parametrize("version", [0, 2, "1", None, True])
def test_lines_of_another_version(version: object) -> None:
    with pytest.raises(InputError) as raised:
        reports.read_lines([line(RANDOMIZERS[0], "yes", sudare=version)], RANDOMIZERS[0])
    assert "another version" in said(raised)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_files_of_another_randomizer(suffix: str, tmp_path: Path) -> None:
    """Same labels, another epsilon: the reports look alike and mean something else."""
    path = tmp_path / f"reports.{suffix}"
    write_reports(path, KaryResponse(("yes", "no"), 1), ["yes", "no"])
    with pytest.raises(InputError) as raised:
        read_reports(path, KaryResponse(("yes", "no"), 2))
    assert "another randomizer" in said(raised)


QUESTION = KaryResponse(("yes", "no"), 1)


def sent_table() -> Any:
    return reports.to_arrow(QUESTION, ["yes", "no"])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sudare": 2}, "another version"),
        ({"randomizer": "0" * 16}, "another randomizer"),
        ({"specification": {**specification(QUESTION), "epsilon": "9"}}, "fingerprint does not fit"),
        ({"specification": KaryResponse(("yes", "no"), 2).to_dict()}, "another randomizer"),
        ({"specification": 5}, "not the specification"),
    ],
)
def test_metadata_that_was_tampered_with(changes: dict[str, Any], words: str) -> None:
    metadata = json.loads(sent_table().schema.metadata[b"sudare"])
    told = json.dumps({**metadata, **changes}).encode()
    with pytest.raises(InputError) as raised:
        reports.from_arrow(sent_table().replace_schema_metadata({b"sudare": told}))
    assert words in said(raised)


@pytest.mark.parametrize("metadata", [None, {}, {b"sudare": b"{"}, {b"sudare": b"[]"}, {b"sudare": b"{}"}])
def test_tables_without_metadata(metadata: dict[bytes, bytes] | None) -> None:
    with pytest.raises(InputError) as raised:
        reports.from_arrow(sent_table().replace_schema_metadata(metadata))
    assert "no reports of sudare" in said(raised)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.rename_columns(["answer"]),
        lambda table: table.append_column("name", pa.array(["ann", "bob"])),
        lambda table: table.set_column(0, "report", pa.array(["yes", None])),
        lambda table: table.set_column(0, "report", pa.array(["yes", "secret"])),
        lambda table: table.set_column(0, "report", pa.array([1, 2])),
    ],
)
def test_columns_that_were_tampered_with(change: Callable[[Any], Any]) -> None:
    metadata = sent_table().schema.metadata
    with pytest.raises(InputError) as raised:
        reports.from_arrow(change(sent_table()).replace_schema_metadata(metadata), QUESTION)
    assert "not reports" in said(raised)
    assert "secret" not in said(raised)


@pytest.mark.parametrize(
    ("which", "columns"),
    [(5, [[b"\0\0\xf0"]]), (8, [[1], [8]]), (8, [[1], [2**32 - 1]])],
)
def test_columns_that_hold_no_reports(which: int, columns: list[list[Any]], tmp_path: Path) -> None:
    randomizer = RANDOMIZERS[which]
    good = reports.to_arrow(randomizer, some_reports(randomizer, 1))
    bad = pa.table([pa.array(c, good.schema.field(i).type) for i, c in enumerate(columns)], schema=good.schema)
    pq.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(InputError) as raised:
        read_reports(tmp_path / "bad.parquet")
    assert "not reports" in said(raised)


def test_files_that_are_none(tmp_path: Path) -> None:
    question = KaryResponse(("yes", "no"), 1)
    for name in ("x.parquet", "x.csv", "x.jsonl"):
        with pytest.raises(InputError) as raised:
            read_reports(tmp_path / name, question)
        assert "could not be read" in said(raised)
        (tmp_path / name).write_bytes(b"\xff\x00garbage")
        with pytest.raises(InputError) as raised:
            read_reports(tmp_path / name, question)
        said(raised)
    write_reports(tmp_path / "y.csv", question, ["yes"])
    with pytest.raises(InputError) as raised:
        read_reports(tmp_path / "y.csv")
    assert "give the randomizer" in said(raised)
    (tmp_path / "y.csv").write_text((tmp_path / "y.csv").read_text() + "secret\n")
    with pytest.raises(InputError) as raised:
        read_reports(tmp_path / "y.csv", question)
    assert "secret" not in said(raised)
    with pytest.raises(OutputError):
        write_reports(tmp_path / "x.xlsx", question, ["yes"])
    with pytest.raises(OutputError):
        write_reports(tmp_path / "missing" / "x.csv", question, ["yes"])


def test_reports_of_the_wrong_layout_are_not_written(tmp_path: Path) -> None:
    wrongs: list[tuple[Randomizer, Any]] = [
        (RANDOMIZERS[0], [1, 2]),
        (RANDOMIZERS[0], [["yes"]]),
        (RANDOMIZERS[5], [[1, 2, 3]]),
        (RANDOMIZERS[5], np.zeros((2, 4), dtype=np.uint8)),
        (RANDOMIZERS[8], [[1, 2]]),
    ]
    for randomizer, wrong in wrongs:
        with pytest.raises(ParameterError, match="reports"):
            write_reports(tmp_path / "x.parquet", randomizer, wrong)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 2}, "another version"),
        ({"version": None}, "another version"),
        ({"kind": "magic"}, "not known"),
        ({"kind": 5}, "not known"),
        ({"kind": "unary-response"}, "damaged"),
        ({"epsilon": "2"}, "fingerprint does not fit"),
        ({"epsilon": 1.0, "fingerprint": None}, "fingerprint does not fit"),
        ({"extra": 1}, "fingerprint does not fit"),
        ({"drawing": {"rule": "uniform", "kept": 9, "other": 1}}, "fingerprint does not fit"),
    ],
)
def test_specifications_that_are_none(change: dict[str, Any], words: str) -> None:
    told = {**specification(KaryResponse(("yes", "no"), 1)), **change}
    if words in ("not known", "damaged") and "drawing" not in change:
        del told["fingerprint"]
    with pytest.raises(InputError) as raised:
        read_randomizer(told)
    assert words in said(raised)


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "0"},
        {"epsilon": "x"},
        {"epsilon": 1},
        {"epsilon": "2/2"},
        {"labels": "ab"},
        {"labels": ["a"]},
        {"extra": 1},
    ],
)
def test_parameters_that_are_none(change: dict[str, Any]) -> None:
    with pytest.raises(InputError) as raised:
        read_randomizer({**KaryResponse(("yes", "no"), 1).to_dict(), **change})
    assert "damaged" in said(raised)


@pytest.mark.parametrize("text", ["", "{", "5", "[]", '{"version": 1}', "null"])
def test_texts_that_are_no_specification(text: str) -> None:
    with pytest.raises(InputError) as raised:
        read_randomizer(text)
    assert "not the specification" in said(raised)


def test_every_kind_and_form_can_be_found() -> None:
    for registered in registered_randomizers():
        maker = registered.load()
        assert maker.kind == registered.kind
        assert maker.form in FORMS


def test_reports_that_are_numbers_have_a_form() -> None:
    whole, halves = BoundedNoise(Grid(0, 10, 2), 5), BoundedNoise(Grid(0, 10, Fraction(1, 2)), 5)
    form = form_of(halves)
    read = form.reader(halves)
    assert [read(2.5), read(2.5), read(3)] == [2.5, 2.5, 3]
    for wrong in (True, "2", None, float("nan"), float("inf"), 2.25, -0.5, 10.5, 10**400, 1e300, [2]):
        with pytest.raises(ValueError):  # noqa: PT011
            read(wrong)
    assert form.gathered([1, 2.5], halves).dtype == np.float64
    assert form.gathered([], whole).dtype == np.int64
    assert form.array([2, 4], halves).dtype == np.float64
    for wrong in (2.0, 3, 12, True):
        with pytest.raises(ValueError):  # noqa: PT011
            form.reader(whole)(wrong)
    with pytest.raises(ParameterError):
        form.array([2.0, 4.0], whole)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("bits", [8, 13, 100])
def test_cohorts_with_bits_are_read_again(suffix: str, bits: int, tmp_path: Path) -> None:
    rappor, path = Rappor(bits, 2, 5, 0.5, 0.5, 0.75), tmp_path / f"reports.{suffix}"
    for people in (0, 40):
        sent = rappor.randomize(["Firefox"] * people)
        write_reports(path, rappor, sent)
        received = read_reports(path, rappor)[1]
        assert received.dtype == sent.dtype
        assert np.array_equal(received, sent)
    with pytest.raises(InputError):
        read_reports(path, Rappor(bits, 2, 5, 0.5, 0.5, 0.7))


@pytest.mark.parametrize(
    "plain",
    ["0a00", [1], [1, "0a00", 2], [5, "0a00"], [-1, "0a00"], [True, "0a00"], [1, "0A00"], [1, "0a"], [1, "zz00"],
     [1, "0aff"], [1, 2], [1 << 40, "0a00"], [1, "0a 00"], None],
)  # fmt: skip
def test_cohorts_and_bits_that_are_none(plain: Any) -> None:
    rappor = Rappor(13, 2, 5, 0.5, 0.5, 0.75)
    assert reports.read_lines([line(rappor, [4, "0a1f"])], rappor)["cohort"].tolist() == [4]
    with pytest.raises(InputError) as raised:
        reports.read_lines([line(rappor, plain)], rappor)
    assert "Line 1" in said(raised)
    with pytest.raises(ParameterError):
        list(reports.report_lines(rappor, [1, 2]))


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_files_with_numbers_that_are_no_reports(suffix: str, tmp_path: Path) -> None:
    noise, path = BoundedNoise(Grid(0, 10, 2), 5), tmp_path / f"reports.{suffix}"
    for wrong in ([987], [3], [-2]):
        write_reports(path, noise, wrong)
        with pytest.raises(InputError) as raised:
            read_reports(path, noise)
        assert "not reports that this randomizer gives" in said(raised)


def test_every_name_of_the_package_is_there() -> None:
    from sudare import collect

    for name in collect.__all__:
        assert getattr(collect, name).__name__ == name
    assert dir(collect) == collect.__all__ == sorted(collect.__all__)
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        collect.magic  # type: ignore[attr-defined]  # noqa: B018
