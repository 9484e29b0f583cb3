"""Questionnaire files: every method and key, and a clear word for every mistake."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

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
    read_questionnaire,
    warner,
)
from sudare.collect.randomizers.registry import registered_randomizers
from sudare.errors import GuaranteeError, PlanError

TWO = 'values = ["yes", "no"]'
AGE = "low = 0\nhigh = 100\nstep = 1"
AGES = Grid(0, 100, 1)

METHODS_WRITTEN: list[tuple[str, str, Any]] = [
    ("warner", TWO, warner(("yes", "no"))),
    ("warner", f"{TWO}\ntruth = 0.8", warner(("yes", "no"), 0.8)),
    ("warner", f'{TWO}\ntruth = "2/3"', warner(("yes", "no"), Fraction(2, 3))),
    ("binary-response", "values = [true, false]\nepsilon = 2", KaryResponse((True, False), 2)),
    ("kary-response", 'values = ["a", "b", "c"]\nepsilon = 0.1', KaryResponse("abc".__iter__(), Fraction(1, 10))),
    ("kary-response", 'values = [3, 1, 2]\nepsilon = "1/3"', KaryResponse((3, 1, 2), Fraction(1, 3))),
    ("kary-response", 'values = [3, 1, 2]\nepsilon = "0.25"', KaryResponse((3, 1, 2), 0.25)),
    ("retention", f'{TWO}\nkept = "1/7"', Retention(("yes", "no"), Fraction(1, 7))),
    (
        "matrix-response",
        f'{TWO}\nrows = [["2/3", "1/3"], [0.25, 0.75]]',
        MatrixResponse(("yes", "no"), [[Fraction(2, 3), Fraction(1, 3)], [0.25, 0.75]]),
    ),
    ("matrix-response", f"{TWO}\nrows = [[1, 0], [0.5, 0.5]]", MatrixResponse(("yes", "no"), [[1, 0], [0.5, 0.5]])),
    ("unary-response", f"{TWO}\nepsilon = 1", UnaryResponse(("yes", "no"), 1)),
    ("unary-response", f'{TWO}\nepsilon = 1\nrule = "symmetric"', UnaryResponse(("yes", "no"), 1, "symmetric")),
    ("local-hashing", f"{TWO}\nepsilon = 1", LocalHashing(("yes", "no"), 1)),
    ("bounded-noise", f"{AGE}\nscale = 50", BoundedNoise(AGES, 50)),
    ("bounded-noise", f'{AGE}\nscale = "101/2"\nbase = "normal"', BoundedNoise(AGES, Fraction(101, 2), "normal")),
    ("unbounded-noise", f'{AGE}\nscale = 50\nbase = "normal"', UnboundedNoise(AGES, 50, "normal")),
    ("one-bit", f"{AGE}\nepsilon = 1", OneBit(AGES, 1)),
    ("piecewise", 'low = -1\nhigh = 1\nstep = "1/3"\nepsilon = 1', Piecewise(Grid(-1, 1, Fraction(1, 3)), 1)),
    (
        "rappor",
        "bits = 16\nhashes = 2\ncohorts = 4\nf = 0.5\np = 0.5\nq = 0.75",
        Rappor(16, 2, 4, 0.5, 0.5, 0.75),
    ),
    (
        "rappor",
        'bits = 16\nhashes = 2\ncohorts = 4\nf = "1/2"\np = 0.5\nq = 0.75\nhash_rule = "java"',
        Rappor(16, 2, 4, 0.5, 0.5, 0.75, "java"),
    ),
]


def question(method: str, keys: str, name: str = "asked") -> str:
    return f'[[question]]\nname = "{name}"\nmethod = "{method}"\n{keys}\n'


def read(folder: Path, text: str) -> Questionnaire:
    file = folder / "survey.toml"
    file.write_text(text, encoding="utf-8")
    return read_questionnaire(file)


def refused(folder: Path, text: str) -> str:
    with pytest.raises(PlanError) as raised:
        read(folder, text)
    assert any(ord(character) > 0x3000 for character in raised.value.japanese)
    return raised.value.english


@pytest.mark.parametrize(("method", "keys", "expected"), METHODS_WRITTEN)
def test_every_method(tmp_path: Path, method: str, keys: str, expected: Any) -> None:
    found = read(tmp_path, question(method, keys)).questions["asked"]
    assert found == expected
    assert found.fingerprint() == expected.fingerprint()


def test_every_method_and_key_is_tried() -> None:
    tried: dict[str, set[str]] = {}
    for method, keys, _ in METHODS_WRITTEN:
        tried.setdefault(method, set()).update(line.split(" = ")[0] for line in keys.splitlines())
    tried["bounded-noise"].add("draw")
    keys_of = [one.load().question_keys for one in registered_randomizers()]
    assert {method: set(keys) for own in keys_of for method, keys in own.items()} == tried


@pytest.mark.parametrize("draw", ["inverse", "rejection"])
def test_how_noise_is_drawn(tmp_path: Path, draw: str) -> None:
    found: Any = read(tmp_path, question("bounded-noise", f'{AGE}\nscale = 50\ndraw = "{draw}"')).questions["asked"]
    assert found.method == draw


def test_titles_orders_and_costs(tmp_path: Path) -> None:
    text = 'title = "健康調査"\n' + question("kary-response", f"{TWO}\nepsilon = 1", "smoker")
    text += question("bounded-noise", f"{AGE}\nscale = 50", "age")
    survey = read(tmp_path, text)
    assert survey.title == "健康調査"
    assert list(survey.questions) == ["smoker", "age"]
    assert survey.epsilon() == survey.questions["smoker"].epsilon() + 2
    assert 2.999999 < survey.epsilon() <= 3
    assert survey.epsilons() == {"smoker": survey.questions["smoker"].epsilon(), "age": 2}


def test_questions_without_an_epsilon(tmp_path: Path) -> None:
    text = question("unbounded-noise", f'{AGE}\nscale = 50\nbase = "normal"', "age")
    text += question("matrix-response", f"{TWO}\nrows = [[1, 0], [0.5, 0.5]]", "smoker")
    survey = read(tmp_path, text + question("one-bit", f"{AGE}\nepsilon = 1", "weight"))
    costs = survey.epsilons()
    assert costs["age"] is None
    assert costs["smoker"] is None
    assert costs["weight"] is not None
    with pytest.raises(GuaranteeError):
        survey.epsilon()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'question' in the questionnaire is missing"),
        ("question = []", r"must be written as \[\[question\]\]"),
        ("[question]\nname = 'x'", r"\[\[question\]\]"),
        ("question = [1]", r"\[\[question\]\]"),
        ('title = 5\n[[question]]\nname = "a"', "'title' in the questionnaire must be text"),
        ('tilte = "x"\n' + question("warner", TWO), "the questionnaire has no key 'tilte'"),
        ("not toml [", "is not TOML"),
        ('[[question]]\nmethod = "warner"', "'name' in section .question 1. is missing"),
        ('[[question]]\nname = ""\nmethod = "warner"', "must not be empty"),
        ('[[question]]\nname = "a"', "'method' in section .question 1. is missing"),
        (question("kary-respose", TWO), "Did you mean 'kary-response'"),
        (question("kary-response", "epsilon = 1"), "'values' in section .question 1. is missing"),
        (question("kary-response", TWO), "'epsilon' in section .question 1. is missing"),
        (question("kary-response", f"{TWO}\nepsilo = 1"), "Is 'epsilo' a misspelling of 'epsilon'"),
        (question("kary-response", f"{TWO}\nepsilon = 1\nkept = 0.5"), "no key 'kept'"),
        (question("warner", f"{TWO}\ntruht = 0.8"), "Did you mean 'truth'"),
        (question("warner", f"{TWO}\nepsilon = 1"), "no key 'epsilon'"),
        (question("warner", TWO) * 2, "'name' in section .question 2. is 'asked', as that of a question before"),
    ],
)
def test_files_that_are_not_right(tmp_path: Path, text: str, words: str) -> None:
    told = refused(tmp_path, text)
    assert re.search(words, told), told


@pytest.mark.parametrize(
    ("method", "keys", "key"),
    [
        ("kary-response", 'values = "ab"\nepsilon = 1', "values"),
        ("kary-response", 'values = ["a"]\nepsilon = 1', "values"),
        ("kary-response", 'values = ["a", "a"]\nepsilon = 1', "values"),
        ("kary-response", 'values = ["a", 1]\nepsilon = 1', "values"),
        ("kary-response", "values = [0.5, 1.5]\nepsilon = 1", "values"),
        ("kary-response", f"{TWO}\nepsilon = 0", "epsilon"),
        ("kary-response", f"{TWO}\nepsilon = -1", "epsilon"),
        ("kary-response", f"{TWO}\nepsilon = nan", "epsilon"),
        ("kary-response", f"{TWO}\nepsilon = inf", "epsilon"),
        ("kary-response", f"{TWO}\nepsilon = true", "epsilon"),
        ("kary-response", f'{TWO}\nepsilon = "one"', "epsilon"),
        ("kary-response", f'{TWO}\nepsilon = "1/0"', "epsilon"),
        ("kary-response", f'{TWO}\nepsilon = "1e999999999"', "epsilon"),
        ("kary-response", f"{TWO}\nepsilon = 1e999999999", "epsilon"),
        ("kary-response", f'{TWO}\nepsilon = ""', "epsilon"),
        ("binary-response", 'values = ["a", "b", "c"]\nepsilon = 1', "values"),
        ("warner", 'values = ["a", "b", "c"]', "values"),
        ("warner", f"{TWO}\ntruth = 0.5", "truth"),
        ("retention", f"{TWO}\nkept = 1", "kept"),
        ("matrix-response", f"{TWO}\nrows = [1, 2]", "rows"),
        ("matrix-response", f"{TWO}\nrows = [[0.5, 0.5]]", "rows"),
        ("matrix-response", f"{TWO}\nrows = [[0.5, 0.6], [0.5, 0.5]]", "rows"),
        ("matrix-response", f"{TWO}\nrows = [[0.5, inf], [0.5, 0.5]]", "rows"),
        ("matrix-response", f"{TWO}\nrows = [[0.5, nan], [0.5, 0.5]]", "rows"),
        ("matrix-response", f"{TWO}\nrows = [[true, false], [0.5, 0.5]]", "rows"),
        ("matrix-response", f'{TWO}\nrows = [["x", "1/3"], [0.5, 0.5]]', "rows"),
        ("matrix-response", f'{TWO}\nrows = [["1/0", "1/3"], [0.5, 0.5]]', "rows"),
        ("matrix-response", f"{TWO}\nrows = [[1.5, -0.5], [0.5, 0.5]]", "rows"),
        ("unary-response", f'{TWO}\nepsilon = 1\nrule = "best"', "rule"),
        ("local-hashing", f"{TWO}\nepsilon = 99", "epsilon"),
        ("bounded-noise", f"{AGE}\nscale = 0", "scale"),
        ("bounded-noise", f'{AGE}\nscale = 50\nbase = "cauchy"', "base"),
        ("bounded-noise", f'{AGE}\nscale = 50\ndraw = "fast"', "draw"),
        ("bounded-noise", "low = 0\nhigh = 0\nstep = 1\nscale = 50", "high"),
        ("bounded-noise", "low = 0\nhigh = 10\nstep = 3\nscale = 50", "step"),
        ("bounded-noise", "low = 0\nhigh = 10\nstep = -1\nscale = 50", "step"),
        ("bounded-noise", "low = 0\nhigh = 9999999\nstep = 1\nscale = 50", "step"),
        ("bounded-noise", "low = nan\nhigh = 10\nstep = 3\nscale = 50", "low"),
        ("one-bit", f"{AGE}\nepsilon = 0", "epsilon"),
        ("piecewise", f"{AGE}\nepsilon = 31", "epsilon"),
        ("rappor", "bits = 16\nhashes = 2\ncohorts = 4\nf = 1\np = 0.5\nq = 0.75", "f"),
        ("rappor", "bits = 16\nhashes = 2\ncohorts = 4\nf = 0.5\np = 0.5\nq = 0.5", "q"),
        ("rappor", "bits = 1.5\nhashes = 2\ncohorts = 4\nf = 0.5\np = 0.5\nq = 0.75", "bits"),
        ("rappor", 'bits = 16\nhashes = 2\ncohorts = 4\nf = 0.5\np = 0.5\nq = 0.75\nhash_rule = "c"', "hash_rule"),
    ],
)
def test_values_that_are_not_right_name_their_key(tmp_path: Path, method: str, keys: str, key: str) -> None:
    assert f"survey.toml: '{key}' in section [question 1] " in refused(tmp_path, question(method, keys))


def test_mistakes_in_later_questions_name_them(tmp_path: Path) -> None:
    text = question("warner", TWO, "a") + question("warner", TWO, "b") + question("retention", f"{TWO}\nkept = 2", "c")
    assert "'kept' in section [question 3]" in refused(tmp_path, text)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is no questionnaire") as raised:
        read_questionnaire(tmp_path / "survey.toml")
    assert "調査票" in raised.value.japanese
    (tmp_path / "latin.toml").write_bytes("title = 'é'".encode("latin-1"))
    with pytest.raises(PlanError, match="not UTF-8"):
        read_questionnaire(tmp_path / "latin.toml")
