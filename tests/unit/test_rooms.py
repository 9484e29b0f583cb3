"""The floor plan: rooms that are small and say what they are, names that mean one thing."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import sudare
from tests.sources import tree_of

PACKAGE = Path(sudare.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
MAX_MODULES = 15
MAX_LINES = 500

LARGER: dict[str, int] = {}
"""Rooms that are still to be divided, and how many modules they may have until then: none, and no more."""

DIALECT = re.compile(r"_?(MOST|LARGEST|LONGEST|FEWEST|SMALLEST|SHORTEST|DEEPEST|WIDEST|GREATEST|LEAST)(_|$)")


def modules_of(room: Path) -> list[Path]:
    return sorted(path for path in room.glob("*.py") if path.name != "__init__.py")


def name_of(room: Path) -> str:
    return room.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("room", ROOMS, ids=name_of)
def test_a_room_is_small_and_says_what_it_is(room: Path) -> None:
    assert len(modules_of(room)) <= LARGER.get(name_of(room), MAX_MODULES)
    assert ast.get_docstring(tree_of(room / "__init__.py"))


def test_no_module_holds_more_than_one_idea() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sorted(PACKAGE.rglob("*.py"))}
    assert {path.relative_to(PACKAGE).as_posix(): number for path, number in lines.items() if number > MAX_LINES} == {}


def test_exceptions_are_needed() -> None:
    for name, modules in LARGER.items():
        assert MAX_MODULES < len(modules_of(PACKAGE / name)) == modules


def test_no_public_class_name_means_two_things() -> None:
    homes = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_limits_are_called_max_and_min() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in tree_of(path).body:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            found += [
                f"{path.name}: {one.id}" for one in targets if isinstance(one, ast.Name) and DIALECT.match(one.id)
            ]
    assert found == []
    assert DIALECT.match("MOST_CELLS"), "the control"


TESTS = Path(__file__).resolve().parent
ELSEWHERE = {"papers", "tools"}
"""Tests of what is not in the package."""


def test_unit_tests_stand_in_rooms_of_the_package() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    strange = [folder for folder in folders if not (PACKAGE / folder).is_dir() and folder.parts[0] not in ELSEWHERE]
    assert strange == []


def test_a_test_named_after_a_module_stands_where_it_does() -> None:
    """Where two rooms of a pillar have a module of that name, it may stand in either."""
    homes = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        homes[place.parts[0], f"test_{place.name}"].add(place.parent)
    misplaced = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        place = path.relative_to(TESTS)
        rooms = homes.get((place.parts[0], place.name), set())
        if len(rooms) == 1 and place.parent not in rooms:
            misplaced[place.as_posix()] = rooms.pop().as_posix()
    assert misplaced == {}
