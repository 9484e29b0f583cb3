"""What every step keeps, a new one included: keys of its own, words in two languages, a folder that can be checked."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import sudare
from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError, PlanError
from sudare.releases.kinds.records import read_people_plan, verify_people
from sudare.releases.kinds.records.attacking.published_records import read_published_records
from sudare.releases.kinds.records.steps import registry
from sudare.releases.kinds.records.steps.step import PlainStep, PrivateStep, Step
from sudare.releases.registry import run_plan, verify_folder
from tests.contracts.toy_private_step import OnlyCount
from tests.contracts.toy_step import BLANK, Blank
from tests.sources import nodes_of
from tests.unit.releases.kinds.records.town import COLUMNS, HEAD, LEDGER, MST, SAMPLED, build_town

SOURCE = Path(sudare.__file__).parent
OUTPUT = '\n[output]\nfolder = "out"\n'
ANONYMIZE = 'method = "anonymize"\nk = 4\n'
SAMPLE = 'method = "sample"\nrate = 0.5\n'
EXAMPLES: dict[str, tuple[str, ...]] = {
    "anonymize": (
        ANONYMIZE,
        'method = "anonymize"\nk = 4\nsearch = "local"\n',
        'method = "anonymize"\nk = 6\nsuppression = 0.1\nsuppressed = "starred"\n',
    ),
    "sample": (SAMPLE, 'method = "sample"\nrows = 50\n', 'method = "sample"\nrate = 0.5\nby = "sex"\n'),
    "swap": (
        'method = "swap"\ncolumns = ["zip"]\nshare = 0.9\n',
        'method = "swap"\nkind = "targeted"\ncolumns = ["zip"]\nk = 3\n',
        'method = "swap"\nkind = "rank"\ncolumns = ["wage"]\ndistance = 0.1\n',
    ),
    "pram": ('method = "pram"\ncolumn = "illness"\nkeep = 0.8\n',),
    "microaggregate": (
        'method = "microaggregate"\ncolumns = ["wage"]\nk = 3\n',
        'method = "microaggregate"\ncolumns = ["wage", "age"]\nk = 3\nkind = "univariate"\n',
    ),
    "noise": (
        'method = "noise"\ncolumn = "wage"\nscale = 10\n',
        'method = "noise"\ncolumn = "wage"\nepsilon = 1\nbounds = [0, 1000]\ndecimals = 0\n',
    ),
    "sampled-k-anonymity": ('method = "sampled-k-anonymity"\n',),
    "mst": ('method = "mst"\n',),
    "aim": ('method = "aim"\nworkload = 1\nrounds = 2\n',),
    "blank": (BLANK,),
    "only-count": ('method = "only-count"\n',),
}
"""Sections of each step; a step without one fails below."""

PUBLIC_COLUMNS = {"sampled-k-anonymity": SAMPLED, "mst": MST, "aim": MST, "only-count": MST}
"""Plans whose columns are described without the data, for steps with a price."""

STEPS: list[type[Step]] = [*registry.registered_steps(), Blank, OnlyCount]
CASES = [(step, text) for step in STEPS for text in EXAMPLES.get(step.name, ())]


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a new step takes, with a price or without."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    registry.register_step(Blank)
    registry.register_step(OnlyCount)


def name_of(step: object) -> str:
    return step.name if isinstance(step, type) and issubclass(step, Step) else ""


each = pytest.mark.parametrize("step", STEPS, ids=name_of)
each_case = pytest.mark.parametrize(("step", "text"), CASES, ids=name_of)


def plan_of(step: type[Step], text: str, head: str = HEAD) -> str:
    """A whole plan with one section."""
    if issubclass(step, PrivateStep):
        return re.sub(r'method = "[a-z-]+"\n', lambda _: text, PUBLIC_COLUMNS[step.name]) + OUTPUT
    return head + COLUMNS + f"\n[protection]\n{text}" + OUTPUT


def refusal(folder: Path, text: str) -> PlanError:
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        read_people_plan(folder / "plan.toml")
    assert caught.value.english != caught.value.japanese
    return caught.value


def made(folder: Path, step: type[Step], text: str) -> dict[str, Any]:
    """A published folder ``out``; gives what its report says."""
    if "synthesize" in step.commands:
        pytest.importorskip("mbi")
    run_plan(build_town(folder, plan_of(step, text)), even_if_broken=True)
    document: dict[str, Any] = json.loads((folder / "out" / "release.json").read_text(encoding="utf-8"))
    return document


def failed(folder: Path) -> set[str]:
    return {check.name for check in verify_people(folder) if check.outcome == "failed"}


def words_of(record: dict[str, str]) -> Words:
    return Words(record["english"], record["japanese"])


def is_complete(words: Words) -> bool:
    return bool(words.english.strip()) and bool(words.japanese.strip()) and words.english != words.japanese


def test_every_step_has_an_example() -> None:
    assert set(EXAMPLES) == {step.name for step in STEPS}
    assert len({step.name for step in STEPS}) == len(STEPS)


def test_a_name_is_taken_once() -> None:
    for step in STEPS:
        with pytest.raises(ParameterError, match="no other step"):
            registry.register_step(step)


@each
def test_what_a_step_says_of_itself(step: type[Step]) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", step.name)
    assert len(set(step.keys)) == len(step.keys)
    assert "method" not in step.keys
    assert all(re.fullmatch(r"[a-z_]+", key) for key in step.keys)
    assert is_complete(step.words)
    assert step.commands
    assert set(step.commands) <= {"anonymize", "sample", "synthesize"}
    assert issubclass(step, PlainStep) != issubclass(step, PrivateStep)
    assert registry.step_named(step.name) is step
    assert set(step.keys) <= set(registry.all_step_keys())
    assert step.__doc__


@each_case
def test_from_a_plan_to_a_folder_that_is_sound(tmp_path: Path, step: type[Step], text: str) -> None:
    document = made(tmp_path, step, text)
    outcomes = {check.outcome for check in verify_folder(tmp_path / "out", str(tmp_path / "budget.db"))}
    assert "passed" in outcomes
    assert "failed" not in outcomes
    (told,) = document["steps"]
    assert told["method"] == step.name
    assert told["name"]
    assert is_complete(words_of(told["protects"]))
    assert is_complete(words_of(told["keeps"]))
    page = unescape((tmp_path / "out" / "release.html").read_text(encoding="utf-8"))
    for words in (step.words, words_of(told["keeps"])):
        assert words.english in page
        assert words.japanese in page
    assert ("event" in document) == issubclass(step, PrivateStep)
    assert document["confidential"] != issubclass(step, PrivateStep)


@each_case
def test_what_was_changed_since_is_found(tmp_path: Path, step: type[Step], text: str) -> None:
    document = made(tmp_path, step, text)
    file = tmp_path / "out" / document["files"][0]["name"]
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-1]), encoding="utf-8")
    assert failed(tmp_path / "out")
    file.write_text("".join(lines), encoding="utf-8")
    document["steps"][0]["method"] = "trust-me"
    (tmp_path / "out" / "release.json").write_text(json.dumps(document), encoding="utf-8")
    assert failed(tmp_path / "out")


@each_case
def test_the_report_has_what_attacks_need(tmp_path: Path, step: type[Step], text: str) -> None:
    """The settings of a step come back from its report; what does not look like them is refused, in one way."""
    document = made(tmp_path, step, text)
    settings = document["steps"][0]["settings"]
    step.require_settings(settings)
    assert set(step.changed_in(settings)) <= set(document["published"]["columns"])
    plan = read_people_plan(tmp_path / "plan.toml")
    assert set(step.changed_in(settings)) <= set(plan.steps[0].changed_columns(plan.quasi_identifiers))
    if issubclass(step, PrivateStep):
        return
    for change in hostile_settings(settings):
        document["steps"][0]["settings"] = change
        try:
            table = read_published_records(tmp_path / "out", document)
        except InputError:
            continue
        (found,) = table.steps
        assert found[0] is step
        for column in document["published"]["columns"]:
            table.changed(column)
    document["steps"][0]["settings"] = settings
    unknown: tuple[Any, ...] = ("trust-me", None, 7, [], {})
    for method in unknown:
        document["steps"][0]["method"] = method
        with pytest.raises(InputError):
            read_published_records(tmp_path / "out", document)


def hostile_settings(settings: dict[str, Any]) -> Iterator[Any]:
    """Settings that no run writes."""
    yield from (None, 7, "settings", [], [1], {})
    values: tuple[Any, ...] = (None, 7, -1, 10**30, True, [], [[]], [7], {}, {"a": 1}, "x" * 100)
    for key in {*settings, "column", "columns", "k", "kind"}:
        yield from (settings | {key: value} for value in values)


@each
def test_keys_of_other_steps_are_refused(tmp_path: Path, step: type[Step]) -> None:
    others = set(registry.all_step_keys()) - set(step.keys) - {"method"}
    for key in sorted(others):
        error = refusal(tmp_path, plan_of(step, f"{EXAMPLES[step.name][0]}{key} = 1\n"))
        listed = ", ".join(("method", *step.keys))
        assert f"plan.toml: section [protection] has no key '{key}'." in error.english
        assert f"Keys here: {listed}." in error.english
        assert f"[protection] に「{key}」というキーはありません" in error.japanese
        assert f"使えるキー: {listed}。" in error.japanese


@each
def test_a_misspelt_method_is_told_the_nearest(tmp_path: Path, step: type[Step]) -> None:
    text = EXAMPLES[step.name][0].replace(f'"{step.name}"', f'"{step.name}x"')
    error = refusal(tmp_path, plan_of(step, text))
    assert f"Did you mean '{step.name}'?" in error.english
    assert f"「{step.name}」のことですか" in error.japanese


@each
def test_only_steps_with_a_price_have_a_budget(tmp_path: Path, step: type[Step]) -> None:
    text = plan_of(step, EXAMPLES[step.name][0])
    if issubclass(step, PrivateStep):
        unpaid = refusal(tmp_path, text.replace("epsilon = 2\ndelta = 1e-5\n", ""))
        assert "section [budget]" in unpaid.english
        alone = refusal(tmp_path, text.replace("[protection]", "[[steps]]"))
        assert f'is "{step.name}", which takes the records as they are and stands alone' in alone.english
        assert f'の "{step.name}" は元のレコードにそのまま使う手法です' in alone.japanese
    else:
        error = refusal(tmp_path, text + LEDGER)
        assert f'must be left out: "{step.name}" is not differential privacy of the table' in error.english
        assert f'は不要です。"{step.name}" は表の差分プライバシーではない' in error.japanese


@each
def test_the_order_of_steps(tmp_path: Path, step: type[Step]) -> None:
    if issubclass(step, PrivateStep):
        return
    first = f"\n[[steps]]\n{EXAMPLES[step.name][0]}"
    text = HEAD + COLUMNS + first + f"[[steps]]\n{SAMPLE}"
    (tmp_path / "plan.toml").write_text(HEAD + COLUMNS + first, encoding="utf-8")
    (read,) = read_people_plan(tmp_path / "plan.toml").steps
    if step.must_be_last:
        assert f'is "{step.name}", which must be the last step' in refusal(tmp_path, text).english
    elif read.grouped_columns():
        assert "takes records away from the groups of k that steps 1 makes" in refusal(tmp_path, text).english
    else:
        (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
        assert [one.name for one in read_people_plan(tmp_path / "plan.toml").steps] == [step.name, "sample"]
    grouped = f'\n[[steps]]\nmethod = "microaggregate"\ncolumns = ["wage", "age"]\nk = 3\n{first}'
    undone = read.takes_records_away() or {"wage", "age"} & {*read.changed_columns(("age", "sex", "zip"))}
    if undone:
        assert "steps 1 makes" in refusal(tmp_path, HEAD + COLUMNS + grouped).english
    else:
        (tmp_path / "plan.toml").write_text(HEAD + COLUMNS + grouped, encoding="utf-8")
        assert len(read_people_plan(tmp_path / "plan.toml").steps) == 2


@each
def test_larger_than_memory(tmp_path: Path, step: type[Step]) -> None:
    text = plan_of(step, EXAMPLES[step.name][0]).replace("[source]\n", "[source]\nlarger_than_memory = true\n")
    if step.takes_large_files:
        document = run_plan(build_town(tmp_path, text)).document
        assert document["larger_than_memory"] is True
        assert failed(tmp_path / "out") == set()
        return
    assert 'is for method = "anonymize" alone' in refusal(tmp_path, text).english
    (tmp_path / "plan.toml").write_text(plan_of(step, EXAMPLES[step.name][0]), encoding="utf-8")
    plan = read_people_plan(tmp_path / "plan.toml")
    with pytest.raises(TypeError, match="in memory"):
        plan.steps[0].run_large(plan, tmp_path)


@each
def test_a_population(tmp_path: Path, step: type[Step]) -> None:
    text = plan_of(step, EXAMPLES[step.name][0]).replace("[source]\n", '[source]\npopulation = "people.csv"\n')
    if step.uses_population:
        run_plan(build_town(tmp_path, text))
        assert failed(tmp_path / "out") == set()
    else:
        assert 'is used with method = "anonymize" alone' in refusal(tmp_path, text).english


def test_the_promise_of_a_new_step_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it says of the file is asked before the file is shown, and by whoever verifies."""
    document = made(tmp_path, Blank, BLANK)
    (promise,) = (attack for attack in document["attacks"] if attack["attack"] == "models")
    assert [verdict["target"] for verdict in promise["verdicts"]] == ["blank wage"]
    assert failed(tmp_path / "out") == set()
    monkeypatch.setattr(Blank, "run", lambda self, plan, records, population: undone(self, records))
    (tmp_path / "again").mkdir()
    with pytest.raises(InputError, match="other values were found"):
        run_plan(build_town(tmp_path / "again", plan_of(Blank, BLANK)))
    assert not (tmp_path / "again" / "out").exists()


def undone(step: Blank, records: Any) -> Any:
    from sudare.releases.kinds.records.steps.step import Done

    return Done(step.name, "blank", records, Words("Nothing.", "何も。"), Words("All.", "すべて。"))


REASONS = {
    "releases/kinds/records/large_running.py": "carries out the step that it names, and is called by it",
    "web/content/record_choices.py": "shows the lattice of the one step that searches it",
}
"""Modules outside the room that may name a particular step."""


def test_nobody_else_tells_steps_apart() -> None:
    """No module outside the room asks which step it has, by its class or by its name."""
    classes = {step.__name__ for step in registry.registered_steps()} | {"Synthesize"}
    names = {step.name for step in registry.registered_steps()}
    room = SOURCE / "releases" / "kinds" / "records"
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        if path.is_relative_to(room / "steps") or where in REASONS:
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                "sudare.releases.kinds.records.steps."
            ):
                found += [f"{where}: {one.name}" for one in node.names if one.name in classes]
            if isinstance(node, ast.Compare) and path.is_relative_to(room):
                found += [f"{where}:{node.lineno}" for part in ast.walk(node) if is_one_of(part, names)]
    assert found == []
    control = ast.parse('step.name in ("mst", "aim")')
    assert [part for part in ast.walk(control) if is_one_of(part, names)], "the control"


def is_one_of(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names
