"""Mesh codes from the command line, against the library and against each other."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Run

LEVELS = {"1": 1, "2": 8, "5x": 16, "2x": 40, "3": 80, "1/2": 160, "1/4": 320, "1/8": 640}


@pytest.mark.parametrize(
    ("level", "code"),
    [
        ("1", "5339"),
        ("2", "533946"),
        ("3", "53394611"),
        ("1/2", "533946113"),
        ("1/4", "5339461132"),
        ("2x", "533946005"),
    ],
)
def test_the_code_of_tokyo_station(run: Run, level: str, code: str) -> None:
    assert run("mesh", "code", "35.681236", "139.767125", "--level", level).out == f"{code}\n"
    bounds = run("mesh", "bounds", code, "--json").json
    assert bounds["level"] == level
    assert bounds["south"] <= 35.681236 < bounds["north"]
    assert bounds["west"] <= 139.767125 < bounds["east"]
    assert run("mesh", "parent", code, "--level", "1").out == "5339\n"


@pytest.mark.parametrize(
    ("size", "level"), [("80km", "1"), ("1km", "3"), ("500m", "1/2"), ("250 m", "1/4"), ("２km", "2x")]
)
def test_a_level_may_be_a_size_as_in_plans(run: Run, size: str, level: str) -> None:
    for command in (("code", "35.681236", "139.767125"), ("children", "5339"), ("parent", "53394600411")):
        if command[0] != "children" or level != "1/4":
            assert run("mesh", *command, "--level", size, "--json") == run("mesh", *command, "--level", level, "--json")


def test_a_level_that_is_none_is_told_with_all_that_are(run: Run) -> None:
    error = run("mesh", "parent", "53394611", "--level", "600m", "--json").error
    for words in ("--level", "600m", "1/2 (500m)", "3 (1km)"):
        assert words in error["english"]
        assert words in error["japanese"]


def test_a_code_with_a_leading_zero(run: Run) -> None:
    code = run("mesh", "code", "0.1", "120.2", "--level", "3").out.strip()
    assert len(code) == 8
    assert run("mesh", "bounds", code, "--json").json["south"] <= 0.1


@pytest.mark.parametrize(("level", "parts"), [("2", 8), ("3", 80), ("5x", 16), ("1", 1)])
def test_children_have_their_parent(run: Run, level: str, parts: int) -> None:
    children = run("mesh", "children", "5339", "--level", level).out.split()
    assert len(set(children)) == parts**2
    assert {run("mesh", "parent", child, "--level", "1").out.strip() for child in (children[0], children[-1])} == {
        "5339"
    }
    assert run("mesh", "children", "5339", "--level", level, "--json").json["children"] == children


@pytest.mark.parametrize(
    "arguments",
    [
        ("code", "80", "139"),
        ("code", "35", "nan"),
        ("bounds", "53"),
        ("bounds", "5339４6"),
        ("bounds", "533990"),
        ("bounds", "tokyo"),
        ("parent", "5339", "--level", "3"),
        ("parent", "533946005", "--level", "5x"),
        ("children", "53394611", "--level", "1"),
        ("children", "5339"),
    ],
)
def test_mistakes(run: Run, arguments: tuple[str, ...]) -> None:
    shown = run("mesh", *arguments, "--json")
    assert shown.code == 2
    assert shown.out == ""
    assert shown.error["japanese"] != shown.error["english"]
