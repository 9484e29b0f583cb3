"""What checks of releases are called: one name for each, in both languages, wherever they are shown."""

from __future__ import annotations

import ast
from pathlib import Path

import sudare
from sudare.releases.verification import NAMES, Check

PACKAGE = Path(sudare.__file__).parent


def _checked() -> set[str]:
    """Names that checks are given anywhere in the package."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if node.func.id in ("Check", "outcome_of") and isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return found


def test_every_check_has_a_name_for_people() -> None:
    assert _checked() | {"file"} == set(NAMES)


def test_a_file_is_called_by_its_name() -> None:
    assert Check("file 表.csv", "passed", "", "").words.explain("ja") == "ファイル 表.csv"
    assert Check("file {x}.csv", "passed", "", "").words.explain("en") == "file {x}.csv"
    assert Check("other", "passed", "", "").words.explain("ja") == "other", "what nobody named is shown as it is"
