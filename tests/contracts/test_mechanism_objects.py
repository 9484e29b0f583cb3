"""What every mechanism's object keeps, a new one's included: what it says of itself is what its function does."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sudare
from sudare import Budget, CountTable, Domain, Hierarchy, publish
from sudare.accuracy import predict_accuracy
from sudare.bilingual import blanks_of
from sudare.domain import SignedTable
from sudare.errors import ParameterError, PlanError, SudareError
from sudare.privacy.measurements import SelectionMeasurement
from sudare.releases.kinds.counts import read_plan
from sudare.releases.kinds.counts.page_words import of_setting
from sudare.releases.registry import run_plan, verify_folder
from sudare.tables import registry
from sudare.tables.mechanism import DECIDED_BY_CALLERS, Mechanism, PlannedCall
from sudare.tables.planning.plan_words import of_mechanism
from sudare.tables.publishing import publishes_signed
from sudare.tables.registry import find_mechanism, mechanism_named, mechanism_names, register_mechanism
from tests.contracts.toy_mechanism import HOME, TOY
from tests.scripted import ScriptedEntropy
from tests.unit.releases.kinds.counts.offices import PLAN, open_office, remaining

SOURCE = Path(sudare.__file__).parent
NAMES = (*mechanism_names(), "toy")
EACH = pytest.mark.parametrize("name", NAMES)
BUDGETS = {"epsilon": Budget(epsilon=1), "epsilon-delta": Budget(epsilon=1, delta=1e-6), "rho": Budget(rho=0.1)}
AREA = Hierarchy.from_levels("area", {"group": [0, 0, 1, 1], "area": list(range(4))})
DOMAIN = Domain((AREA, *Domain.of_shape((4, 5)).attributes[1:]))
TABLE = CountTable.from_dense(np.arange(20).reshape(4, 5) * 7, DOMAIN)
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
KIND_OF_DRAW = {"discrete-laplace": "laplace", "discrete-gaussian": "gaussian"}
QUICK: dict[str, dict[str, Any]] = {"adaptive-margins": {"rounds": 2}}
"""Settings that make a slow one quick."""


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a new mechanism takes."""
    monkeypatch.setattr(registry, "_HOMES", dict(registry._HOMES))
    register_mechanism("toy", HOME)


def spendable(mechanism: Mechanism) -> list[Budget]:
    refused: str | None = None
    if len(mechanism.noises) == 1:
        refused = {"laplace": "rho", "gaussian": "epsilon"}[mechanism.noises[0]]
    return [budget for currency, budget in BUDGETS.items() if currency != refused]


def planned(folder: Path, name: str, more: str = "", budget: str = "epsilon = 1\ndelta = 1e-6") -> Path:
    text = PLAN.replace("epsilon = 1", budget).replace("[output]", f'[method]\nname = "{name}"\n{more}[output]')
    if name == "topdown":  # places in a hierarchy
        mesh = PLAN[PLAN.index("[[domain]]") : PLAN.index("[budget]")]
        wards = 'kind = "hierarchy"\nlevels = ["all", "ward"]\nleaves = [["x", "a"], ["x", "b"]]\n'
        text = text.replace(mesh, f'[[domain]]\nname = "KEY_CODE"\n{wards}')
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


@EACH
class TestMechanismObject:
    def test_it_has_a_name_and_words_in_both_languages(self, name: str) -> None:
        mechanism = mechanism_named(name)
        assert mechanism.name == name
        assert mechanism.words.english.strip()
        assert JAPANESE.search(mechanism.words.japanese) or mechanism.words.japanese == "非負 Lasso"
        assert of_mechanism(name) == mechanism.words
        for setting, words in mechanism.setting_words.items():
            assert setting in mechanism.settings
            assert JAPANESE.search(words.name.japanese)
            assert of_setting(setting, "no such value", name)[0] == words.name
            for value, said in words.values.items():
                assert of_setting(setting, value, name) == (words.name, said)

    def test_it_stands_in_the_module_of_its_function(self, name: str) -> None:
        module, _, attribute = registry._HOMES[name].partition(":")
        assert mechanism_named(name).function.__module__ == module
        assert attribute == name.upper().replace("-", "_")

    def test_it_takes_what_every_caller_decides(self, name: str) -> None:
        mechanism = mechanism_named(name)
        assert mechanism.parameters[:2] == ("table", "budget")
        always = DECIDED_BY_CALLERS - {"reference", "public_total"}
        assert always <= set(mechanism.parameters)
        assert not set(mechanism.settings) & DECIDED_BY_CALLERS
        assert bool(mechanism.workloads) == ("workload" in mechanism.parameters)

    def test_the_event_costs_the_budget_and_names_the_mechanism(self, name: str) -> None:
        mechanism = mechanism_named(name)
        for budget in spendable(mechanism):
            settings = QUICK.get(name, {})
            event = publish(TABLE, budget, name, **settings).event
            assert event.cost == budget
            assert event.mechanism == name
            drawn = {m.kind for m in event.measurements if not isinstance(m, SelectionMeasurement)}
            assert {KIND_OF_DRAW[kind] for kind in drawn} == {mechanism.noise_for(budget, settings)}
            assert mechanism.noise_for(budget, settings) in mechanism.noises
            assert not mechanism.is_flat or len(event.measurements) == 1

    def test_the_kind_of_noise_is_chosen_where_there_is_a_setting(self, name: str) -> None:
        mechanism = mechanism_named(name)
        if "noise" in mechanism.settings:
            for noise in mechanism.noises:
                event = publish(TABLE, BUDGETS["epsilon-delta"], name, noise=noise).event
                assert {KIND_OF_DRAW[m.kind] for m in event.measurements} == {noise}
                assert mechanism.noise_for(BUDGETS["epsilon-delta"], {"noise": noise}) == noise

    def test_tables_are_signed_where_it_says_so(self, name: str) -> None:
        mechanism = mechanism_named(name)
        ways: list[dict[str, Any]] = [QUICK.get(name, {})]
        ways += [{"refine": "counts"}] * ("refine" in mechanism.settings)
        ways += [{"threshold": 2}] * ("threshold" in mechanism.settings)
        for settings in ways:
            table = publish(TABLE, spendable(mechanism)[0], name, **settings).table
            assert type(table) is (SignedTable if mechanism.is_signed(settings) else CountTable)
            assert publishes_signed(name, settings) == mechanism.is_signed(settings)

    def test_a_budget_that_its_noise_cannot_spend_is_refused(self, name: str, tmp_path: Path) -> None:
        mechanism = mechanism_named(name)
        for currency in {"rho", "epsilon"} - {budget.currency for budget in spendable(mechanism)}:
            with pytest.raises(SudareError):
                publish(TABLE, BUDGETS[currency], name, entropy=ScriptedEntropy([]))
            with pytest.raises(PlanError, match=f'cannot be "{name}" with {currency}') as caught:
                read_plan(planned(tmp_path, name, budget={"rho": "rho = 0.1", "epsilon": "epsilon = 1"}[currency]))
            assert JAPANESE.search(caught.value.japanese)

    def test_settings_that_it_does_not_take_are_refused(self, name: str, tmp_path: Path) -> None:
        source = ScriptedEntropy([])
        with pytest.raises(ParameterError, match="The 'nonsense' parameter"):
            publish(TABLE, BUDGETS["epsilon-delta"], name, nonsense=1, entropy=source)
        assert source.read == 0
        with pytest.raises(PlanError, match=f'is not a setting of "{name}"') as caught:
            read_plan(planned(tmp_path, name, "nonsense = 1\n"))
        assert f"「{name}」の設定ではありません" in caught.value.japanese
        with pytest.raises(PlanError):
            read_plan(planned(tmp_path, name, 'entropy = "mine"\n'))

    def test_a_plan_file_names_it(self, name: str, tmp_path: Path) -> None:
        plan = read_plan(planned(tmp_path, name))
        assert plan.method == name
        assert plan.predicted is None

    def test_settings_are_checked_before_a_table_is_there(self, name: str) -> None:
        mechanism = mechanism_named(name)
        for budget in spendable(mechanism):
            mechanism.check(PlannedCall(domain=DOMAIN, budget=budget, unit=sudare.Unit(), settings={}))

    def test_a_limit_holds_in_plans_as_in_the_function(self, name: str, tmp_path: Path) -> None:
        mechanism = mechanism_named(name)
        if mechanism.limit is None:
            assert not mechanism.is_too_large((2**30, 2**30), {})
            return
        assert blanks_of(mechanism.limit.words.en) == blanks_of(mechanism.limit.words.ja)
        assert not mechanism.is_too_large((mechanism.limit.max_cells,), {})
        assert mechanism.is_too_large((mechanism.limit.max_cells + 1,), {})
        plan = planned(tmp_path, name)
        large = 'level = "1/8"\narea = "japan"'
        text = plan.read_text().replace('level = "1/2"\nwindow = [8560, 6400, 32, 32]', large)
        plan.write_text(text, encoding="utf-8")
        with pytest.raises(PlanError, match=f'cannot be "{name}" for [0-9,]+ cells'):
            read_plan(plan)

    def test_its_own_workloads_are_read_and_carried_out(self, name: str, tmp_path: Path) -> None:
        mechanism = mechanism_named(name)
        if not mechanism.workloads:
            with pytest.raises(ParameterError, match="The 'workload' parameter"):
                publish(TABLE, BUDGETS["epsilon-delta"], name, workload="cells")
            with pytest.raises(PlanError, match="is only for name"):
                read_plan(planned(tmp_path, name, 'workload = "cells"\n'))
        for word in mechanism.workloads:
            assert read_plan(planned(tmp_path, name, f'workload = "{word}"\n')).settings["workload"] == word
            assert publish(TABLE, BUDGETS["epsilon"], name, workload=word).event.mechanism == name

    def test_errors_are_predicted(self, name: str) -> None:
        """By formula where there is one. Then the noise is all there is: many tables err as it says."""
        mechanism = mechanism_named(name)
        budget = spendable(mechanism)[0]
        predicted = predict_accuracy(DOMAIN, budget, name, people=1000, runs=2)
        assert predicted.mechanism == name
        assert (predicted.basis == "formula") == (mechanism.noise_alone is not None)
        assert predicted.errors[0].rmse > 0
        if mechanism.noise_alone is not None:
            drawn = [publish(TABLE, budget, name).to_dense() - TABLE.to_dense() for _ in range(400)]
            assert np.sqrt(np.mean(np.square(drawn))) == pytest.approx(predicted.errors[0].rmse, rel=0.1)


def test_names_are_taken_once() -> None:
    register_mechanism("toy", HOME)
    for name in ("toy", "laplace", "auto"):
        with pytest.raises(ValueError, match="is taken"):
            register_mechanism(name, "somewhere:ELSE")
    assert find_mechanism("toy") is TOY
    unknown: list[object] = ["auto", "nothing", "", None, [], 5]
    assert [find_mechanism(name) for name in unknown] == [None] * 6


def test_a_new_mechanism_goes_from_a_plan_to_a_verified_folder(tmp_path: Path) -> None:
    """Its module and the one line are all that it takes: plan, check, charge, draw, prediction, document, page, verification."""
    text = PLAN.replace("[output]", '[method]\nname = "toy"\nleast = 7\n[output]')
    plan = open_office(tmp_path, text=text)
    made = run_plan(plan.file)
    assert {check.outcome for check in verify_folder(made.folder, str(tmp_path / "budget.db"))} == {"passed"}
    assert remaining(tmp_path) == Budget(epsilon=2)
    document = json.loads((made.folder / "release.json").read_text(encoding="utf-8"))
    assert document["method"]["name"] == document["event"]["mechanism"] == document["accuracy"]["mechanism"] == "toy"
    assert document["published"]["signed"] is False
    page = (made.folder / "release.html").read_text(encoding="utf-8")
    for words in ("toy mechanism", "おもちゃの方式", "Smallest toy", "最小のおもちゃ", "seven", "七"):
        assert words in page


def test_a_new_mechanism_is_checked_before_anything_is_charged(tmp_path: Path) -> None:
    for more, said in (("least = 0\n", "from 1 to 1000"), ("public_total = true\n", "it takes none")):
        with pytest.raises(PlanError, match=said):
            read_plan(planned(tmp_path, "toy", more, budget="epsilon = 1"))


TOLD_APART = {
    "tables/registry.py": "where their objects are",
    "tables/recovery": "four ways to recover a table, in one room of their own",
    "comparison/reporting/picture.py": "colours of methods of the comparison, which has a registry of its own",
    "comparison/plan_file.py": "settings of methods of the comparison",
    "collect/prio/task.py": "a kind of Prio3, not of tables",
    "collect/prio/services/parties.py": "a kind of Prio3, not of tables",
}
"""Where a name of a mechanism is compared with, or looked up by, and why."""

UNCLEAR = {"laplace", "gaussian"}
"""Kinds of noise, too: a text alone does not tell which is meant."""


@cache
def names_told_apart() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name != "renamed.py":
            for name in told_apart_in(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(path.relative_to(SOURCE).as_posix(), []).append(name)
    return found


def told_apart_in(tree: ast.Module) -> Iterator[str]:
    """Names of mechanisms that something is compared with, or looked up by."""
    for node in ast.walk(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        for part in parts:
            for constant in ast.walk(part):
                if isinstance(constant, ast.Constant) and constant.value in set(mechanism_names()) - UNCLEAR:
                    yield str(constant.value)


def test_nobody_asks_which_mechanism_it_is() -> None:
    unexplained = {
        path: names
        for path, names in names_told_apart().items()
        if not any(path == known or path.startswith(f"{known}/") for known in TOLD_APART)
    }
    assert unexplained == {}
    for known in TOLD_APART:
        assert any(path == known or path.startswith(f"{known}/") for path in names_told_apart()), known


def test_a_name_that_is_told_apart_is_found() -> None:
    for source in ('if name == "lm": pass', 'x = name in ("simplex", 1)', '{"privelet": 1}[name]'):
        assert list(told_apart_in(ast.parse(source)))
    assert not list(told_apart_in(ast.parse('plan("wide-tree", noise == "laplace")')))
