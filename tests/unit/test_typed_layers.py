"""Between layers values have a type: dictionaries of anything stay in the modules that read JSON."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import sudare

PACKAGE = Path(sudare.__file__).parent

BORDERS = {
    "attacks/tables/solver.py": "answers of the solver's process, read from its pipe and taken apart in the same class",
    "attacks/tables/solver_process.py": "the other end of that pipe, which imports nothing of the package",
    "collect/prio/task.py": "the fields of a task file, on their way into its dataclass",
    "collect/prio/vdaf/known_answers.py": "published test vectors, as their authors wrote them",
    "disclosure/suppression/certificate.py": "the text of a certificate, on its way into its dataclass",
    "kernels/prepared/index.py": "the index of prepared kernels; what leaves is a PreparedKernel",
    "microdata/pseudonyms/pseudonymizer.py": "a design as the register has it, on its way into its dataclass",
    "microdata/pseudonyms/registers/log.py": "an entry of the log, whose fields depend on what was done; its room replays it",
    "releases/kinds/series/state_files.py": "the fields of a state file, on their way into its dataclass",
}
"""Modules that may have ``dict[str, Any]``, each with what it is there."""


def loose_dictionaries(tree: ast.AST) -> Iterator[int]:
    """Lines that say ``dict[str, Any]``, also within other types, texts and aliases."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "[str, Any]" in node.value:
            try:
                quoted = ast.parse(node.value, mode="eval")
            except SyntaxError:
                continue
            yield from (node.lineno for _ in loose_dictionaries(quoted))
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] in ("dict", "Dict"):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
            if [ast.unparse(part).rpartition(".")[2] for part in parts] == ["str", "Any"]:
                yield node.lineno


@cache
def found() -> dict[str, list[int]]:
    lines = {
        path.relative_to(PACKAGE).as_posix(): list(loose_dictionaries(ast.parse(path.read_text(encoding="utf-8"))))
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    return {name: numbers for name, numbers in lines.items() if numbers}


def test_dictionaries_of_anything_stay_at_the_borders() -> None:
    assert {name: lines for name, lines in found().items() if name not in BORDERS} == {}


def test_every_border_is_still_one() -> None:
    assert set(BORDERS) <= set(found())


@pytest.mark.parametrize(
    "line",
    [
        "def f(values: dict[str, Any]) -> None: ...",
        "def f() -> dict[str, Any] | None: ...",
        "def f(rows: 'list[dict[str, Any]]') -> None: ...",
        "values: typing.Dict[str, typing.Any] = {}",
        "Values = dict[str, Any]",
    ],
)
def test_no_way_to_write_it_is_overlooked(line: str) -> None:
    assert list(loose_dictionaries(ast.parse(line))) == [1]


@pytest.mark.parametrize(
    "line", ["a: dict[str, object] = {}", "a: dict[str, int]", "a = {'Any': 'dict'}", "a: Any = 1"]
)
def test_other_types_are_left_alone(line: str) -> None:
    assert not list(loose_dictionaries(ast.parse(line)))
