"""What every privacy model keeps, a new one included: its own keys, words in two languages, a record that nobody need trust."""

from __future__ import annotations

import ast
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import sudare
from sudare.errors import InputError, ParameterError, PlanError
from sudare.microdata.models import PlannedModel, registry
from sudare.microdata.models.model import Model
from sudare.microdata.models.registry import all_model_keys, model_of_record, models_by_plan_name, registered_models
from sudare.releases.kinds.records import read_people_plan, verify_people
from sudare.releases.registry import run_plan
from tests.contracts.toy_model import EvenClasses
from tests.sources import nodes_of
from tests.unit.releases.kinds.records.town import COLUMNS, HEAD, build_town

SOURCE = Path(sudare.__file__).parent
OUTPUT = '\n[output]\nfolder = "out"\n'
EXAMPLES: dict[str, tuple[str, ...]] = {
    "k-anonymity": ("k = 4",),
    "distinct-l-diversity": ("l = 2", 'l = 2, kind = "distinct", column = "illness"'),
    "entropy-l-diversity": ('l = 1.5, kind = "entropy"',),
    "recursive-l-diversity": ('c = 5, l = 2, kind = "recursive"',),
    "t-closeness": ("t = 0.5", 't = 0.5, order = "values"', 't = 0.5, order = ["none", "flu", "heart"]'),
    "alpha-k-anonymity": ("alpha = 0.9, k = 3",),
    "beta-likeness": ("beta = 9", "beta = 9, enhanced = true"),
    "delta-disclosure": ("delta = 9",),
    "k-map": ("k = 3",),
    "presence": ("smallest = 0, largest = 1",),
    "even-classes": ("divisor = 2",),
}
"""What a plan says of each model; a model without one fails below."""

MODELS: list[type[PlannedModel]] = [*registered_models(), EvenClasses]
CASES = [(model, text) for model in MODELS for text in EXAMPLES.get(model.record_name, ())]


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a new model takes."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register_model(EvenClasses)


def name_of(model: object) -> str:
    return model.record_name if isinstance(model, type) and issubclass(model, PlannedModel) else ""


each = pytest.mark.parametrize("model", MODELS, ids=name_of)
each_case = pytest.mark.parametrize(("model", "text"), CASES, ids=name_of)


def plan_of(model: type[PlannedModel], text: str, more: str = "", head: str = "") -> str:
    """A whole plan with one model beside 2-anonymity, and everybody where the model needs them."""
    population = 'population = "people.csv"\n' if model.needs_population and not head else head
    models = f'models = [{{ name = "{model.plan_name}", {text} }}]\n'
    return HEAD + population + COLUMNS + '\n[protection]\nmethod = "anonymize"\nk = 2\n' + models + more + OUTPUT


def refusal(folder: Path, text: str) -> PlanError:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        read_people_plan(folder / "plan.toml")
    assert caught.value.english != caught.value.japanese
    return caught.value


def read(folder: Path, model: type[PlannedModel], text: str) -> PlannedModel:
    (folder / "plan.toml").write_text(plan_of(model, text), encoding="utf-8")
    _, found = read_people_plan(folder / "plan.toml").steps[0].promised_models
    return found


def failed(folder: Path) -> set[str]:
    return {check.name for check in verify_people(folder) if check.outcome == "failed"}


def test_every_model_has_an_example() -> None:
    assert set(EXAMPLES) == {model.record_name for model in MODELS}
    assert len({(model.plan_name, model.plan_kind) for model in MODELS}) == len(MODELS)


def test_a_name_is_taken_once() -> None:
    for model in MODELS:
        with pytest.raises(ParameterError, match="no other model"):
            registry.register_model(model)


@each
def test_what_a_model_says_of_itself(model: type[PlannedModel]) -> None:
    for name in (model.plan_name, model.record_name):
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert model in models_by_plan_name()[model.plan_name]
    assert len(set(model.plan_keys)) == len(model.plan_keys)
    assert "name" not in model.plan_keys
    assert set(model.plan_keys) <= set(all_model_keys()[model.plan_name])
    assert ("kind" in model.plan_keys) == (model.plan_kind is not None)
    assert "name" not in model.record_fields
    assert model.__doc__


@each_case
def test_from_a_plan_to_a_folder_that_is_sound(tmp_path: Path, model: type[PlannedModel], text: str) -> None:
    asked = read(tmp_path, model, text)
    assert type(asked) is model
    run_plan(build_town(tmp_path, plan_of(model, text)))
    assert failed(tmp_path / "out") == set()
    document = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    _, told = document["models"]
    assert told["model"] == json.loads(json.dumps(asked.to_record()))
    assert (told["english"], told["japanese"]) == (asked.describe("en"), asked.describe("ja"))
    assert told["holds"] is (None if model.needs_population else True)
    page = unescape((tmp_path / "out" / "release.html").read_text(encoding="utf-8"))
    assert told["english"] in page
    assert told["japanese"] in page


@each_case
def test_words_are_complete_in_both_languages(tmp_path: Path, model: type[PlannedModel], text: str) -> None:
    asked = read(tmp_path, model, text)
    english, japanese = asked.words.english, asked.words.japanese
    assert english.strip()
    assert re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", japanese)
    assert not re.search(r"[\u3040-\u30ff\u4e00-\u9fff{}]", english)
    assert "{" not in japanese
    if asked.sensitive is not None:
        assert repr(asked.sensitive) in english
        assert repr(asked.sensitive) in japanese


@each_case
def test_the_record_comes_back(tmp_path: Path, model: type[PlannedModel], text: str) -> None:
    asked = read(tmp_path, model, text)
    record = json.loads(json.dumps(asked.to_record()))
    assert record["name"] == model.record_name
    assert set(record) == {"name", *model.record_fields}
    found = model_of_record(record)
    if model.needs_population:
        assert found is None
        return
    assert found is not None
    assert type(found) is model
    assert vars(found) == vars(asked)
    assert found.to_record() == asked.to_record()


@each_case
def test_hostile_records_are_refused(tmp_path: Path, model: type[PlannedModel], text: str) -> None:
    """A value of another type, or out of bounds, is refused in one way; whatever is taken is a model that has a record."""
    asked = read(tmp_path, model, text)
    record = json.loads(json.dumps(asked.to_record()))
    unknown: tuple[Any, ...] = (None, 7, [], {}, "trust me")
    for name in unknown:
        with pytest.raises(InputError, match="does not know"):
            model_of_record(record | {"name": name})
    if model.needs_population:
        return
    for field in model.record_fields:
        for value in HOSTILE:
            with pytest.raises(InputError, match="does not know"):
                model_of_record(record | {field: value})
        for value in LONG:
            try:
                found = model_of_record(record | {field: value})
            except InputError:
                continue
            assert found is not None
            again = model_of_record(json.loads(json.dumps(found.to_record())))
            assert again is not None
            assert vars(again) == vars(found)


HOSTILE: tuple[Any, ...] = (None, [[]], {}, {"a": 1}, -1, float("nan"), [7])
LONG: tuple[Any, ...] = ("1e999999999", "1/0", "many", 10**30, "9" * 400, True, [], ["a"])


@each_case
def test_a_report_that_says_otherwise_is_found(tmp_path: Path, model: type[PlannedModel], text: str) -> None:
    run_plan(build_town(tmp_path, plan_of(model, text)))
    report = tmp_path / "out" / "release.json"
    document: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    document["models"][1]["english"] = "perfect privacy"
    report.write_text(json.dumps(document), encoding="utf-8")
    assert ("models" in failed(tmp_path / "out")) != model.needs_population
    document["models"][1]["model"] = {"name": "trust me"}
    report.write_text(json.dumps(document), encoding="utf-8")
    assert "models" in failed(tmp_path / "out")


@each
def test_keys_of_other_models_are_refused(tmp_path: Path, model: type[PlannedModel]) -> None:
    own = all_model_keys()[model.plan_name]
    others = {key for keys in all_model_keys().values() for key in keys} - set(own)
    for key in sorted(others):
        error = refusal(tmp_path, plan_of(model, f"{EXAMPLES[model.record_name][0]}, {key} = 1"))
        assert f"section [models 1: {model.plan_name}] has no key '{key}'." in error.english
        assert f"Keys here: {', '.join(own)}." in error.english
        assert f"[models 1: {model.plan_name}] に「{key}」というキーはありません" in error.japanese


@each
def test_a_misspelt_name_is_told_the_nearest(tmp_path: Path, model: type[PlannedModel]) -> None:
    text = plan_of(model, EXAMPLES[model.record_name][0]).replace(f'"{model.plan_name}"', f'"{model.plan_name}x"')
    assert f"Did you mean '{model.plan_name}'?" in refusal(tmp_path, text).english


@each
def test_a_population(tmp_path: Path, model: type[PlannedModel]) -> None:
    """Models that compare with everybody are refused where there is nobody, and where nobody is looked at."""
    example = EXAMPLES[model.record_name][0]
    alone, local = plan_of(model, example, head="\n"), plan_of(model, example, 'search = "local"\n')
    large = plan_of(model, example, head="larger_than_memory = true\n")
    if model.needs_population:
        assert "is needed for k-map and presence" in refusal(tmp_path, alone).english
        assert "k-map と presence には必要です" in refusal(tmp_path, alone).japanese
        assert 'must not be "local" with k-map or presence' in refusal(tmp_path, local).english
        assert "k-map and presence compare with everybody in memory" in refusal(tmp_path, large).english
        return
    for text in (alone, local, large):
        (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
        assert read_people_plan(tmp_path / "plan.toml").steps[0].needs_population is False


@each_case
def test_sensitive_columns(tmp_path: Path, model: type[PlannedModel], text: str) -> None:
    """A model that looks at a column takes the sensitive one, and no other."""
    if read(tmp_path, model, text).sensitive is None:
        assert "column" not in model.plan_keys
        return
    assert read(tmp_path, model, text).sensitive == "illness"
    without = re.sub(r', column = "illness"', "", text)
    for column, english in (
        ("age", "is a quasi-identifier: a column cannot be sensitive as well"),
        ("wage", 'has not role = "sensitive"'),
        ("ilness", "Did you mean 'illness'?"),
    ):
        assert english in refusal(tmp_path, plan_of(model, f'{without}, column = "{column}"')).english


REASONS = {
    "microdata/models/__init__.py": "exports them",
    "microdata/models/registry.py": "has all of them",
    "microdata/models/game.py": "turns money into one of two of them",
    "releases/kinds/records/planning/model_plan.py": "k = 5 alone is short for k-anonymity",
    "comparison/methods.py": "compares k-anonymity with other methods",
}
"""Modules that may name a particular model."""


def test_nobody_else_tells_models_apart() -> None:
    """No module but those with a reason names a model's class, and none compares with a model's name."""
    classes = {model.__name__ for model in registered_models()}
    names = {name for model in registered_models() for name in (model.plan_name, model.record_name)}
    homes = {model.__module__.replace(".", "/").removeprefix("sudare/") + ".py" for model in registered_models()}
    found, needed = [], set()
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sudare.microdata"):
                named = {one.name for one in node.names} & classes
                needed |= {where} if named else set()
                if named and where not in REASONS and where not in homes:
                    found.append(f"{where}: {named}")
            if isinstance(node, ast.Compare) and where.startswith(("microdata", "releases/kinds/records")):
                texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                found += [f"{where}:{node.lineno}"] if texts & names else []
    assert found == []
    assert set(REASONS) <= needed, "a reason that nobody needs any more"


def test_a_model_of_ones_own_needs_no_name() -> None:
    """Names are for plans and reports; the search takes any model."""
    assert not hasattr(Model, "plan_name")
    assert issubclass(EvenClasses, Model)
