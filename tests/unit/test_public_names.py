"""The public face: what ``sudare.`` offers, that each name means one thing, and that programs which complete names see it."""

from __future__ import annotations

import ast
import pkgutil
import pydoc
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import assert_type

import jedi
import numpy as np
import pytest

import sudare
from sudare.lazy import loaded_on_use, names_in_stub
from sudare.moved_names import MOVED_NAMES

MAX_NAMES = 50
PILLARS = (
    "attacks",
    "collect",
    "disclosure",
    "domain",
    "errors",
    "evaluate",
    "ledger",
    "microdata",
    "noise",
    "privacy",
    "releases",
    "series",
    "sql",
    "tables",
)
VERBS = {
    "attacks": "audit_function",
    "collect": "randomize_answers",
    "disclosure": "suppress",
    "evaluate": "measure_errors",
    "ledger": "open_ledger",
    "microdata": "anonymize",
    "noise": "add_noise",
    "privacy": "compose",
    "releases": "run_plan",
    "series": "plan_series",
    "sql": "connect",
    "tables": "publish",
}
PACKAGE = Path(sudare.__file__).parent
STUBBED = sorted(PACKAGE.rglob("__init__.pyi"))
MOVED = [(package, name, home) for package, names in MOVED_NAMES.items() for name, home in names.items()]


def package_of(stub: Path) -> str:
    return ".".join(("sudare", *stub.parent.relative_to(PACKAGE).parts))


def test_the_top_level_is_one_screen() -> None:
    names = [name for name in dir(sudare) if not name.startswith("__")]
    assert len(names) <= MAX_NAMES
    assert set(PILLARS) <= set(names)
    assert names == sudare.__all__
    assert all(getattr(sudare, name) is not None for name in names)
    with pytest.raises(AttributeError, match="no attribute 'float_laplace'"):
        sudare.float_laplace  # type: ignore[attr-defined]  # noqa: B018


def test_pillars_answer_in_a_new_process_and_load_nothing_heavy() -> None:
    code = f"""
import sys, sudare
assert not [name for name in sys.modules if name.startswith("sudare.") and name not in ("sudare.lazy", "sudare.version")]
dir(sudare)
for pillar in {("collect", "microdata", "disclosure", "sql", "attacks", "tables", "releases", "errors")!r}:
    assert getattr(sudare, pillar).__name__ == "sudare." + pillar
    assert len(dir(getattr(sudare, pillar))) > 3
print(*sorted({{name.split(".")[0] for name in sys.modules}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "numba", "scipy", "pyarrow", "duckdb", "sqlglot", "typer", "rich"}


@pytest.mark.parametrize(("pillar", "verb"), VERBS.items())
def test_each_pillar_has_its_verb_on_top(pillar: str, verb: str) -> None:
    assert getattr(sudare, verb) is getattr(import_module(f"sudare.{pillar}"), verb)


def test_what_stands_on_top_is_in_its_pillar_too() -> None:
    for name in set(dir(sudare)) - set(PILLARS):
        pillar = names_in_stub("sudare", str(sudare.__file__))[name][0].split(".")[1]
        assert getattr(import_module(f"sudare.{pillar}"), name) is getattr(sudare, name), name


def test_errors_live_in_one_place() -> None:
    for name in dir(sudare):
        thing = getattr(sudare, name)
        assert not (isinstance(thing, type) and issubclass(thing, (Exception, Warning))), name


def test_no_name_of_a_pillar_means_two_things() -> None:
    things: dict[str, dict[int, str]] = defaultdict(dict)
    for pillar in PILLARS:
        module = import_module(f"sudare.{pillar}")
        for name in module.__all__:
            things[name][id(getattr(module, name))] = pillar
    assert {name: list(homes.values()) for name, homes in things.items() if len(homes) > 1} == {}


def test_no_function_shadows_a_module() -> None:
    found = []
    for package in pkgutil.walk_packages(sudare.__path__, "sudare."):
        if package.ispkg:
            room = import_module(package.name)
            modules = {one.name for one in pkgutil.iter_modules(room.__path__)} | {package.name.split(".")[-1]}
            found += [f"{package.name}.{name}" for name in getattr(room, "__all__", ()) if name in modules]
    assert found == []


def test_what_always_refuses_is_not_offered() -> None:
    assert "sorted_layout" not in dir(sudare)
    assert "sorted_layout" not in sudare.domain.__all__


@pytest.mark.parametrize(("package", "name", "home"), MOVED)
def test_names_that_moved_answer_and_say_where_they_are(package: str, name: str, home: str) -> None:
    room = import_module(package)
    assert name not in dir(room)
    with pytest.warns(DeprecationWarning, match=rf"'{package}\.{name}' is '{home}\.\w+' now"):
        found = getattr(room, name)
    if name != "ToldError":
        assert found is getattr(import_module(home), name)


@pytest.mark.parametrize("stub", STUBBED, ids=package_of)
def test_a_stub_is_the_only_list(stub: Path) -> None:
    """Everything in it can be loaded, and the package beside it says nothing of its own."""
    name = package_of(stub)
    package = import_module(name)
    names = list(names_in_stub(name, str(package.__file__)))
    assert names == sorted(set(names)) == dir(package) == package.__all__
    assert all(getattr(package, one) is not None for one in names)
    tree = ast.parse((stub.parent / "__init__.py").read_text(encoding="utf-8"))
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert set(imported) <= {"__future__", "sudare.lazy", "sudare.version"}
    assert ast.get_docstring(tree)


def test_a_stub_that_says_a_name_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "__init__.pyi").write_text("from math import pi as pi\nfrom cmath import pi as pi\n")
    look_up, _ = loaded_on_use("twice", str(tmp_path / "__init__.py"))
    with pytest.raises(ValueError, match="'pi' twice"):
        look_up("pi")


def test_types_are_seen_through_the_stubs() -> None:
    """What is tried is that mypy passes this page, which `make lint` does: an ignored error that is none would stop it."""
    budget = sudare.Budget(epsilon=1)
    assert_type(budget, sudare.privacy.Budget)
    assert_type(sudare.publish(np.ones((4, 4), dtype=np.int64), budget, "laplace"), sudare.tables.Published)
    assert_type(sudare.KaryResponse(["a", "b"], 1), sudare.collect.KaryResponse)
    assert_type(sudare.microdata.KAnonymity(2), sudare.KAnonymity)
    assert_type(sudare.__all__, list[str])
    with pytest.warns(DeprecationWarning, match="sudare.tables.laplace"):
        sudare.laplace  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.deep
def test_mypy_sees_every_name(tmp_path: Path) -> None:
    asked = [("sudare", name) for name in dir(sudare)]
    asked += [(f"sudare.{pillar}", name) for pillar in PILLARS for name in import_module(f"sudare.{pillar}").__all__]
    page = tmp_path / "asked.py"
    lines = [
        "import sudare",
        *(f"{package}.{name}" for package, name in asked),
        "sudare.laplace",
        "sudare.no_such_name",
    ]
    page.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(PACKAGE.parents[1] / "pyproject.toml")]
    options = ["--no-pretty", "--cache-dir", str(tmp_path / "cache")]
    told = subprocess.run(
        [*command, *options, page.name], capture_output=True, text=True, check=False, cwd=tmp_path
    ).stdout
    found = [line.split(": ", 2)[-1].split("  [")[0] for line in told.splitlines() if line.startswith(page.name)]
    assert found == ['Module has no attribute "laplace"', 'Module has no attribute "no_such_name"'], told


@pytest.mark.parametrize("typed", ["sudare.", "sudare.microdata.", "sudare.tables."])
def test_jedi_completes_names_with_their_documentation(typed: str) -> None:
    offered = {one.name: one for one in jedi.Script(f"import sudare\n{typed}").complete(2, len(typed))}
    package = import_module(typed.rstrip("."))
    assert set(dir(package)) <= set(offered)
    assert "laplace" not in offered or typed == "sudare.tables."
    for name in ("Budget", "publish", "collect", "anonymize", "laplace"):
        if name in dir(package):
            documented = (getattr(package, name).__doc__ or "").splitlines()[0]
            assert documented
            assert documented in offered[name].docstring(), name


@pytest.mark.deep
def test_pyright_sees_every_name(tmp_path: Path) -> None:
    """Not among the tools of the tests: with the engine that it runs on it takes some 200 MB."""
    if find_spec("basedpyright") is None:
        pytest.skip("pip install basedpyright, to try this")
    page = tmp_path / "asked.py"
    page.write_text("import sudare\n" + "".join(f"_ = sudare.{name}\n" for name in [*dir(sudare), "no_such_name"]))
    command = [sys.executable, "-m", "basedpyright", "--level", "error", "--pythonpath", sys.executable, str(page)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout
    assert "no_such_name" in told
    assert "1 error," in told


def test_help_is_a_map() -> None:
    told = pydoc.plain(pydoc.render_doc(sudare))
    beginning = told[: told.index("PACKAGE CONTENTS")]
    assert all(f"`sudare.{pillar}" in beginning for pillar in PILLARS)
    assert all(verb in beginning for verb in VERBS.values())
    assert beginning.count("\n\n    >>> ") + beginning.count(":\n    \n") >= 5
