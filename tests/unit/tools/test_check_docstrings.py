"""Docstrings and signatures agree, everywhere; and the checker sees what does not."""

from __future__ import annotations

import importlib
import inspect
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "check_docstrings.py"))
PILLARS = (
    *("accuracy", "attacks", "collect", "disclosure", "domain", "evaluate", "io", "ledger", "microdata", "noise"),
    *("privacy", "refine", "sql", "tables"),
)

WRONG = '''
from other import KnownError

def add(one, other=1, *rest, flag=False, **more):
    """Add.

    Args:
        one: a number.
        another: which is
            other: in truth.
        flag: whether.
        flag: again.

    Raises:
        KnownError: never.
        UnheardError: always.
    """

class Pair:
    """Two.

    Args:
        first: one.
        third: none.

    Attributes:
        total: of both.
        product: nowhere.
    """

    def __init__(self, first, second):
        self.total = first + second

    def scaled(self, factor, by):
        """More.

        Args:
            factor: how much.
        """
'''


def test_docstrings_and_signatures_agree() -> None:
    files = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "papers" / "src").rglob("*.py")])
    assert len(files) > 700
    assert TOOL["faults"](files) == []


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    found = [fault.partition(": ")[2] for fault in TOOL["faults"]([file])]
    assert sorted(found) == sorted(
        [
            "add: 'another' is described and is no parameter",
            "add: 'flag' is described twice",
            "add: the parameter 'other' is not described",
            "add: the parameter 'rest' is not described",
            "add: the parameter 'more' is not described",
            "add: Raises names 'UnheardError', which does not exist",
            "Pair: 'third' is described and is no parameter",
            "Pair: the parameter 'second' is not described",
            "Pair: 'product' is described and is no attribute",
            "scaled: the parameter 'by' is not described",
        ]
    )
    assert TOOL["main"]([str(file)]) == 1


def test_the_command_says_that_all_is_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "right.py").write_text('def add(one):\n    """Add.\n\n    Args:\n        one: a number.\n    """\n')
    assert TOOL["main"]([str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 files: docstrings and signatures agree.\n"


@pytest.mark.parametrize("pillar", PILLARS)
def test_public_functions_describe_their_parameters(pillar: str) -> None:
    module = importlib.import_module(f"sudare.{pillar}")
    lacking = [
        name
        for name in module.__all__
        if inspect.isfunction(function := getattr(module, name))
        and inspect.signature(function).parameters
        and "Args:" not in (function.__doc__ or "")
    ]
    assert lacking == []
