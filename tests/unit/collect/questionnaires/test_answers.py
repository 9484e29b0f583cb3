"""Answers to whole questionnaires: randomized, shuffled, written, read, and refused where they do not belong."""

from __future__ import annotations

import io
import json
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from sudare.collect import (
    BoundedNoise,
    Grid,
    KaryResponse,
    LocalHashing,
    MatrixResponse,
    OneBit,
    Piecewise,
    Questionnaire,
    Rappor,
    Retention,
    UnaryResponse,
    UnboundedNoise,
    randomize_answers,
)
from sudare.collect.questionnaires.answers import (
    METADATA,
    answers_from_arrow,
    answers_to_arrow,
    shuffled,
    text_types,
    typed_answers,
)
from sudare.errors import InputError, ParameterError
from sudare.noise import ResearchEntropy
from tests.scripted import ScriptedEntropy
from tests.statistical.goodness import chi_square_rejects

AGES, SHARES = Grid(0, 100, 1), Grid(0, 1, Fraction(1, 8))
TEXTS = ("yes", "no", "", "null", "a,b", 'say "x"', "line\nbreak", "東京", "007")
BROWSERS = Rappor(16, 2, 4, 0.5, 0.5, 0.75)

QUESTIONS: dict[str, tuple[Any, list[Any]]] = {
    "smoker": (KaryResponse((True, False), 1), [True, False, True]),
    "texts": (KaryResponse(TEXTS, 1), ["a,b", "line\nbreak", ""]),
    "kept": (Retention((3, 1, 2), Fraction(1, 3)), [3, 1, 2]),
    "matrix": (MatrixResponse(("a", "b"), [[0.9, 0.1], [0.3, 0.7]]), ["a", "b", "a"]),
    "unary": (UnaryResponse(range(20), 1), [0, 19, 7]),
    "hashed": (LocalHashing(range(100), 2), [0, 99, 7]),
    "age": (BoundedNoise(AGES, 50), [0, 17, 100]),
    "age, normal": (BoundedNoise(AGES, 50, "normal"), [0, 17, 100]),
    "share": (BoundedNoise(SHARES, 1), [0, 0.25, 1]),
    "年齢": (UnboundedNoise(AGES, 50), [0, 17, 100]),
    "weight": (UnboundedNoise(SHARES, 1, "normal"), [0, 0.25, 1]),
    "bit": (OneBit(AGES, 1), [0, 17, 100]),
    "window": (Piecewise(SHARES, 1), [0, 0.25, 1]),
}
ANSWERS: dict[str, Any] = {name: np.array(values).repeat(20) for name, (_, values) in QUESTIONS.items()}
SURVEY = Questionnaire("All kinds", {name: randomizer for name, (randomizer, _) in QUESTIONS.items()})


def through_parquet(table: Any, folder: Path) -> Any:
    pq.write_table(table, folder / "reports.parquet")
    return pq.read_table(folder / "reports.parquet")


def through_csv(table: Any, survey: Questionnaire) -> Any:
    written = io.BytesIO()
    csv.write_csv(table, written)
    options = csv.ConvertOptions(strings_can_be_null=False, null_values=[], column_types=text_types(survey))
    parsing = csv.ParseOptions(newlines_in_values=True)
    return csv.read_csv(io.BytesIO(written.getvalue()), convert_options=options, parse_options=parsing)


def same(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return list(one) == list(two) and all(np.array_equal(one[name], two[name]) for name in one)


def told(error: pytest.ExceptionInfo[InputError]) -> str:
    assert any(ord(character) > 0x3000 for character in error.value.japanese)
    assert "987" not in error.value.english + error.value.japanese
    return error.value.english


def test_answers_become_reports_of_their_questions() -> None:
    reports = randomize_answers(SURVEY, ANSWERS)
    assert list(reports) == list(SURVEY.questions)
    assert all(len(column) == 60 for column in reports.values())
    assert same(
        randomize_answers(SURVEY, ANSWERS, ResearchEntropy(1)), randomize_answers(SURVEY, ANSWERS, ResearchEntropy(1))
    )
    assert not same(reports, randomize_answers(SURVEY, ANSWERS))


def test_reports_survive_a_parquet_file(tmp_path: Path) -> None:
    reports = randomize_answers(SURVEY, ANSWERS)
    table = through_parquet(answers_to_arrow(SURVEY, reports), tmp_path)
    for asked in (None, SURVEY):
        found, read = answers_from_arrow(table, asked)
        assert same(read, reports)
        assert {name: one.fingerprint() for name, one in found.questions.items()} == {
            name: one.fingerprint() for name, one in SURVEY.questions.items()
        }
        assert found.title == "All kinds"


def test_reports_survive_a_text_file() -> None:
    reports = randomize_answers(SURVEY, ANSWERS)
    table = through_csv(answers_to_arrow(SURVEY, reports, text=True), SURVEY)
    assert same(answers_from_arrow(table, SURVEY, text=True)[1], reports)


def test_reports_of_rappor_survive_files(tmp_path: Path) -> None:
    survey = Questionnaire("", {"browser": BROWSERS, "age": BoundedNoise(AGES, 50)})
    reports = randomize_answers(survey, {"browser": ["Firefox", "Chrome"] * 10, "age": [3, 4] * 10})
    table = through_parquet(answers_to_arrow(survey, reports), tmp_path)
    assert same(answers_from_arrow(table)[1], reports)
    table = through_csv(answers_to_arrow(survey, reports, text=True), survey)
    assert same(answers_from_arrow(table, survey, text=True)[1], reports)


def test_no_answers_at_all(tmp_path: Path) -> None:
    survey = Questionnaire("", {"age": BoundedNoise(AGES, 50), "smoker": KaryResponse(("yes", "no"), 1)})
    reports = shuffled(randomize_answers(survey, {"age": [], "smoker": []}))
    assert same(answers_from_arrow(through_parquet(answers_to_arrow(survey, reports), tmp_path))[1], reports)


@pytest.mark.parametrize("name", list(QUESTIONS))
def test_answers_that_are_not_allowed_are_not_shown(name: str) -> None:
    survey = Questionnaire("", {name: SURVEY.questions[name]})
    wrongs: tuple[Any, ...] = (["secret-987"], [987], [None], [float("nan")])
    for wrong in wrongs:
        with pytest.raises(InputError, match="not what the questionnaire allows") as raised:
            randomize_answers(survey, {name: wrong})
        assert f"'{name}'" in told(raised)


def test_answers_that_are_missing() -> None:
    survey = Questionnaire("", {"a": KaryResponse((1, 2), 1), "b": KaryResponse((1, 2), 1)})
    with pytest.raises(InputError, match="no answers to 'b'") as raised:
        randomize_answers(survey, {"a": [1]})
    told(raised)
    with pytest.raises(InputError, match="one for each person") as raised:
        randomize_answers(survey, {"a": [1], "b": [[1]]})
    told(raised)
    with pytest.raises(InputError, match="equally many") as raised:
        randomize_answers(survey, {"a": [1], "b": [1, 2]})
    told(raised)


def changed(name: str, randomizer: Any) -> Questionnaire:
    return Questionnaire("All kinds", {**SURVEY.questions, name: randomizer})


@pytest.mark.parametrize(
    ("name", "randomizer"),
    [
        ("smoker", KaryResponse((True, False), 2)),
        ("smoker", Retention((True, False), Fraction(1, 2))),
        ("kept", KaryResponse((3, 1, 2), 1)),
        ("unary", UnaryResponse(range(20), 1, "symmetric")),
        ("hashed", LocalHashing(range(100), 1)),
        ("age", BoundedNoise(AGES, 51)),
        ("age", UnboundedNoise(AGES, 50)),
        ("bit", OneBit(AGES, 2)),
        ("more", KaryResponse((True, False), 2)),
    ],
)
def test_reports_of_another_questionnaire_are_refused(tmp_path: Path, name: str, randomizer: Any) -> None:
    reports, other = randomize_answers(SURVEY, ANSWERS), changed(name, randomizer)
    table = through_parquet(answers_to_arrow(SURVEY, reports), tmp_path)
    with pytest.raises(InputError, match="another questionnaire") as raised:
        answers_from_arrow(table, other)
    assert f"'{name}'" in told(raised)
    text = through_csv(answers_to_arrow(SURVEY, reports, text=True), SURVEY)
    with pytest.raises(InputError, match="another questionnaire") as raised:
        answers_from_arrow(text, other, text=True)
    assert f"'{name}'" in told(raised)


def test_some_of_the_questions_may_be_read(tmp_path: Path) -> None:
    reports = randomize_answers(SURVEY, ANSWERS)
    table = through_parquet(answers_to_arrow(SURVEY, reports), tmp_path)
    fewer = Questionnaire("", {"hashed": SURVEY.questions["hashed"]})
    assert same(answers_from_arrow(table, fewer)[1], {"hashed": reports["hashed"]})


SMALL = Questionnaire("", {"age": BoundedNoise(AGES, 50)})


def with_metadata(told: Any) -> Any:
    return pa.table({"age": [1, 2]}).replace_schema_metadata({METADATA: json.dumps(told).encode()})


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        [],
        {},
        {"version": 1, "title": "x"},
        {"version": 1, "title": "x", "questions": {}},
        {"version": 1, "title": "x", "questions": ["age"]},
    ],
)
def test_files_without_metadata(metadata: Any) -> None:
    for table in (with_metadata(metadata), pa.table({"age": [1, 2]})):
        for survey in (None, SMALL):
            with pytest.raises(InputError, match="does not say how its answers were randomized") as raised:
                answers_from_arrow(table, survey)
            told(raised)


def test_files_of_another_version_or_damaged() -> None:
    spec = SMALL.questions["age"].to_dict()
    for version in (2, "1", True):
        with pytest.raises(InputError, match="another version") as raised:
            answers_from_arrow(with_metadata({"version": version, "title": "", "questions": {"age": spec}}))
        told(raised)
    for damaged in ({**spec, "scale": "0"}, {**spec, "kind": "magic"}, 5, {**spec, "grid": []}):
        with pytest.raises(InputError) as raised:
            answers_from_arrow(with_metadata({"version": 1, "title": "", "questions": {"age": damaged}}))
        told(raised)
    assert answers_from_arrow(with_metadata({"version": 1, "title": "", "questions": {"age": spec}}))[1][
        "age"
    ].tolist() == [1, 2]


@pytest.mark.parametrize("column", [[987], ["secret-987"], [None], [1.5]])
def test_rows_that_are_no_reports(column: list[Any]) -> None:
    metadata = answers_to_arrow(SMALL, {"age": [1]}).schema.metadata
    with pytest.raises(InputError, match="not reports") as raised:
        answers_from_arrow(pa.table({"age": column}).replace_schema_metadata(metadata))
    told(raised)
    with pytest.raises(InputError, match="no reports to 'age'") as raised:
        answers_from_arrow(pa.table({"other": column}).replace_schema_metadata(metadata))
    told(raised)


def test_columns_of_one_name_are_refused() -> None:
    survey = Questionnaire("", {"x": LocalHashing(range(9), 1), "x.seed": KaryResponse((1, 2), 1)})
    with pytest.raises(InputError, match="same name") as raised:
        answers_to_arrow(survey, randomize_answers(survey, {"x": [1], "x.seed": [1]}))
    told(raised)


def test_what_a_file_holds_becomes_what_a_question_wants() -> None:
    texts = KaryResponse(("1", "2"), 1)
    survey = Questionnaire(
        "",
        {
            "t": texts,
            "n": KaryResponse((1, 2), 1),
            "b": KaryResponse((True, False), 1),
            "g": BoundedNoise(SHARES, 1),
            "r": BROWSERS,
        },
    )
    given = {"t": [1, 2], "n": ["01", "2"], "b": ["true", "false"], "g": ["0.50", "1"], "r": [1.5, 2.0]}
    typed = typed_answers(survey, {name: np.array(values) for name, values in given.items()})
    assert {name: column.tolist() for name, column in typed.items()} == {
        "t": ["1", "2"], "n": [1, 2], "b": [True, False], "g": [0.5, 1.0], "r": ["1.5", "2.0"],
    }  # fmt: skip
    odd = {"t": [True, False], "n": ["x", "2"], "b": ["true", "secret"], "g": ["0.5", "x"], "r": ["a", "b"]}
    arrays = {name: np.array(values) for name, values in odd.items()}
    assert same(typed_answers(survey, arrays), arrays)


def test_rows_are_shuffled_together() -> None:
    people = 2000
    reports = {"a": np.arange(people), "b": np.arange(people).repeat(2).reshape(people, 2) * 3}
    mixed = shuffled(reports)
    assert sorted(mixed["a"].tolist()) == list(range(people))
    assert (mixed["b"] == 3 * mixed["a"][:, None]).all()
    assert (mixed["a"] == np.arange(people)).sum() < 50, "hardly any row stays where it was"
    assert not np.array_equal(mixed["a"], shuffled(reports)["a"])
    assert np.array_equal(shuffled(reports, ResearchEntropy(1))["a"], shuffled(reports, ResearchEntropy(1))["a"])


def test_all_orders_are_equally_likely() -> None:
    source, orders = ResearchEntropy(7), list(permutations(range(4)))
    drawn = Counter(tuple(shuffled({"a": np.arange(4)}, source)["a"].tolist()) for _ in range(6000))
    counts = np.array([drawn[order] for order in orders], dtype=float)
    assert not chi_square_rejects(counts, np.full(24, 1 / 24))
    assert chi_square_rejects(counts, np.array([1.5 / 24] * 12 + [0.5 / 24] * 12))


def test_words_with_equals_are_drawn_again() -> None:
    source = ScriptedEntropy([5, 9, 5, 3, 2, 1])
    assert shuffled({"a": np.array([10, 20, 30])}, source)["a"].tolist() == [30, 20, 10]
    assert source.read == 6
    with pytest.raises(ParameterError, match="ResearchEntropy"):
        shuffled({"a": np.array([1])}, 7)  # type: ignore[arg-type]
