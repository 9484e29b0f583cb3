"""Every text in English and Japanese: both say the same with the same values, nothing is empty, and Japanese is Japanese."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sudare
from sudare.bilingual import Words, blanks_of
from tests.contracts.pairs_of_words import english_sentences, faults_of, has_texts, lonely_texts, module_of, pairs_in

PACKAGE = Path(sudare.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
WITH_TEXTS = [path for path in SOURCES if has_texts(path)]
WITH_WORDS = [path for path in SOURCES if "import Words" in path.read_text(encoding="utf-8")]

OTHER_VALUES = {
    "disclosure/suppression/certificate.py": "the first fault stands in English in both, not in a Japanese sentence",
    "disclosure/suppression/heuristic.py": "the first fault of a certificate stands in English alone",
    "privacy/events.py": "what the parser of JSON says is English",
    "sections.py": "what the parser of TOML says is English; in Japanese the place is named",
    "releases/kinds/tables/sources.py": "names the level in Japanese, where English says what a code looks like",
    "releases/kinds/records/attacking/folder_attacks.py": "the attack has a name in Japanese",
    "releases/kinds/records/planning/hierarchy_plan.py": "a hint of a function stands in English alone",
}
"""Modules in which the two texts of a pair are given different values, and why."""

LONELY = {
    "examples/municipalities.py": "names of columns and towns of the public lists that it imitates",
    "cli/console/wrapping.py": "letters by which lines are broken",
    "cli/console/templates.py": "plans to start from are files as they are written, one for each language",
    "column_names.py": "signs in dates",
    "io/formats/text_files.py": "a text by which encodings are told apart",
    "releases/data/mesh_lists.py": "names of columns in public files",
    "releases/kinds/counts/running.py": "names of columns in public files",
    "export/sentences.py": "letters by which the language of a title is recognized",
    "drafting/public_lists.py": "labels as data spells them",
    "spark/checking.py": "a letter whose hash every Spark must give",
    "drafting/roles.py": "names of columns, by which they are recognized",
    "drafting/record_drafts.py": "names of columns, by which they are recognized",
    "drafting/table_drafts.py": "names of columns, by which they are recognized",
    "system/reasons.py": "the English twins are the system's own words",
}
"""Modules with Japanese texts that are no twins of English ones, and why."""


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.fixture(scope="module", params=WITH_TEXTS, ids=name_of)
def source(request: pytest.FixtureRequest) -> tuple[Path, ast.Module]:
    """A file of the package and its syntax tree, read once for all that is asked of it."""
    return request.param, module_of(request.param)


def test_texts_that_stand_side_by_side_say_the_same(source: tuple[Path, ast.Module]) -> None:
    path, tree = source
    for pair in pairs_in(tree):
        faults = faults_of(pair)
        if name_of(path) in OTHER_VALUES:
            faults = [fault for fault in faults if not fault.startswith("other values")]
        assert not faults, f"{name_of(path)}:{pair.line}: {faults}"


def test_no_japanese_text_is_without_its_twin(source: tuple[Path, ast.Module]) -> None:
    path, tree = source
    lonely = lonely_texts(tree)
    if not name_of(path).startswith(("reproduce/", "comparison/")):
        assert bool(lonely) == (name_of(path) in LONELY), lonely


@pytest.mark.parametrize("path", WITH_WORDS, ids=name_of)
def test_words_of_a_module_have_the_same_blanks(path: Path) -> None:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
    for name, words in words_of_module(module):
        assert blanks_of(words.en) == blanks_of(words.ja), name
        assert bool(words.en.strip()) == bool(words.ja.strip()), name
        assert not english_sentences(words.ja) or words.en == words.ja, name


def words_of_module(module: ModuleType) -> Iterator[tuple[str, Words]]:
    """All words that a module defines: alone, in mappings, in lists and in fields."""
    for name, value in vars(module).items():
        if not name.startswith("__"):
            yield from within(name, value)


def within(name: str, value: Any) -> Iterator[tuple[str, Words]]:
    if isinstance(value, Words):
        yield name, value
        for blank, filled in value.blanks or ():
            yield from within(f"{name}.{blank}", filled)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from within(f"{name}[{key!r}]", item)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for item in value:
            yield from within(name, item)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from within(f"{name}.{each.name}", getattr(value, each.name, None))


BROKEN_TWINS = {
    "a value is missing": 'InputError(f"No file {path} in {folder}.", f"{folder} にファイルがありません。")',
    "another value": 'Words(f"{first} is wrong", f"{second} が不正です")',
    "nothing in Japanese": 'Words("There is no file.", "")',
    "English in Japanese": 'Words("Nothing was published.", "ファイル: nothing was published yet です")',
}


@pytest.mark.parametrize("source", BROKEN_TWINS.values(), ids=BROKEN_TWINS)
def test_a_broken_twin_is_found(source: str) -> None:
    (pair,) = pairs_in(ast.parse(source))
    assert faults_of(pair)


def test_files_that_are_left_out_hold_no_text() -> None:
    left_out = sorted(set(SOURCES) - set(WITH_TEXTS))
    assert len(WITH_TEXTS) > len(left_out) > 100
    for path in left_out[::20]:
        tree = module_of(path)
        assert not list(pairs_in(tree))
        assert lonely_texts(tree) == []


def test_a_text_without_a_twin_is_found() -> None:
    assert lonely_texts(ast.parse('TEXTS = {"en": {"a": "file"}, "ja": {"a": "ファイル"}}')) == [(1, "ファイル")]
    assert lonely_texts(ast.parse('"""ファイル"""\nx = Words("file", "ファイル")')) == []


def test_a_sound_twin_is_sound() -> None:
    sound = (
        'Words(f"{name.english} of {path!r}: use SELECT WITH", f"{path!r} の{name.japanese}: SELECT WITH を使います")'
    )
    (pair,) = pairs_in(ast.parse(sound))
    assert not faults_of(pair)
    assert not english_sentences("計画の 'key of a file' と --data file.csv、NN-Wavelet、month,quarter,year を使う")
