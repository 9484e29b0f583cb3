"""Maps of releases, and loud warnings where the data is not one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from rich.console import Console

from sudare.cli.commands.mapping import BACKGROUND, half_blocks, shrink
from sudare.cli.console.speaking import Speaker
from tests.unit.cli.conftest import PLAN, Run

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def released(run: Run, town: Path) -> Path:
    assert run("release", town / "plan.toml", "--yes").code == 0
    return town


def test_the_picture_of_a_release(run: Run, released: Path) -> None:
    picture = released / "map.png"
    for place in (released / "release", released / "release" / "table.parquet"):
        shown = run("map", place, "--out", picture)
        assert shown.code == 0
        assert shown.out == f"{picture}\n"
        assert "Warning" not in shown.err
        assert picture.read_bytes().startswith(PNG)
        assert run("map", place, "--out", picture).code == 6, "nothing is overwritten"
        picture.unlink()
    assert run("map", released / "release", "--out", released / "map.jpg").code == 2
    assert run("map", released / "release", "--out", released / "cells.svg", "--bare").code == 2
    values = run("map", released / "release", "--out", picture, "--json").json
    assert values["is_release"] is True
    assert (values["height"], values["width"]) == (8, 14)


def test_a_data_file_is_drawn_only_with_its_plan_and_a_warning(run: Run, released: Path) -> None:
    picture = released / "map.png"
    people = released / "people.csv"
    assert run("map", people, "--out", picture).code == 2
    assert not picture.exists()
    shown = run("map", people, "--plan", released / "plan.toml", "--out", picture)
    assert shown.code == 0
    assert "NOT a release" in shown.err
    assert picture.stat().st_mode & 0o777 == 0o600
    assert run("map", released / "nowhere", "--out", picture).code == 3


def test_a_picture_has_a_title_a_note_and_a_language(run: Run, released: Path) -> None:
    for name, words, shown in (
        (
            "map.svg",
            ("--title", "Town <1>"),
            ("Town &lt;1&gt;", "Published counts, ε = 0.25, per person", "People in each cell"),
        ),
        ("map-ja.svg", ("--lang", "ja"), ("セルごとの人数 · 対数目盛", "公表した値、ε = 0.25（1人あたり）")),
    ):
        assert run("map", released / "release", "--out", released / name, *words).code == 0
        written = (released / name).read_text(encoding="utf-8")
        assert all(words in written for words in shown)
        assert "CONFIDENTIAL" not in written
    secret = released / "secret.svg"
    assert run("map", released / "people.csv", "--plan", released / "plan.toml", "--out", secret).code == 0
    assert "CONFIDENTIAL" in secret.read_text(encoding="utf-8")
    assert secret.stat().st_mode & 0o777 == 0o600


def test_the_cells_alone(run: Run, released: Path) -> None:
    assert run("map", released / "release", "--out", released / "cells.png", "--bare").code == 0
    picture = (released / "cells.png").read_bytes()
    assert [int.from_bytes(picture[at : at + 4], "big") for at in (20, 16)] == [8, 14]
    secret = ("--plan", released / "plan.toml", "--out", released / "secret.png")
    assert run("map", released / "people.csv", *secret, "--bare").code == 2, "true counts never go unmarked"
    assert not (released / "secret.png").exists()


def test_a_title_without_letters_is_told(run: Run, released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.tables.letters._japanese_font", lambda: None)
    shown = run("map", released / "release", "--out", released / "map.png", "--title", "町")
    assert shown.code == 0
    assert "'町' is not in the picture" in shown.err
    assert ".svg" in shown.err


def test_a_table_that_was_changed_is_no_release(run: Run, released: Path) -> None:
    table = released / "release" / "table.csv"
    table.write_text(table.read_text(encoding="utf-8") + "533946111,4\n", encoding="utf-8")
    assert run("map", table, "--out", released / "map.png").code == 2


def test_a_table_without_a_map(run: Run, town: Path) -> None:
    plan = PLAN.replace('kind = "mesh"', 'kind = "category"').replace('level = "1/2"', 'labels = ["533946111"]')
    lines = [line for line in plan.splitlines() if not line.startswith("corners")]
    (town / "plan.toml").write_text("\n".join(lines), encoding="utf-8")
    (town / "people.csv").write_text("KEY_CODE\n533946111\n", encoding="utf-8")
    assert run("map", town / "people.csv", "--plan", town / "plan.toml", "--out", town / "map.png").code == 3


def test_a_map_needs_a_place_to_go_to(run: Run, released: Path) -> None:
    assert run("map", released / "release").code == 2


@pytest.mark.parametrize("has_colour", [True, False])
def test_a_map_in_the_terminal(run: Run, released: Path, monkeypatch: pytest.MonkeyPatch, has_colour: bool) -> None:
    stream = io.StringIO()
    colours: Literal["truecolor"] | None = "truecolor" if has_colour else None
    console = Console(file=stream, force_terminal=True, width=80, height=30, color_system=colours, _environ={})
    monkeypatch.setattr(Speaker, "out", console)
    assert run("map", released / "release").code == 0
    assert ("▀" in stream.getvalue()) is has_colour
    assert len(stream.getvalue().strip("\n").splitlines()) <= 30


def test_north_is_up_and_nobody_is_dark() -> None:
    counts = np.zeros((4, 3))
    counts[3, 0] = 50  # north-west
    coloured = half_blocks(counts, with_colour=True)
    plain = half_blocks(counts, with_colour=False)
    assert coloured.plain == "▀▀▀\n▀▀▀\n"
    assert plain.plain.splitlines()[0] == "@  "
    empty = f"rgb({BACKGROUND[0]},{BACKGROUND[1]},{BACKGROUND[2]})"
    styles = [str(span.style) for span in coloured.spans]
    assert not styles[0].startswith(empty)
    assert all(style == f"{empty} on {empty}" for style in styles[1:])


def test_sums_below_0_are_marked() -> None:
    counts = np.array([[-9.0, 0.0], [9.0, -1.0]])
    assert half_blocks(counts, with_colour=False).plain == "@n\nn \n"
    (style,) = {str(span.style) for span in half_blocks(counts, with_colour=True).spans[:1]}
    above, below = (list(map(int, part[4:-1].split(","))) for part in style.split(" on "))
    assert above[0] > above[1], "warm above 0"
    assert below[1] > below[0], "green below"


def test_a_signed_release_is_drawn(run: Run, town: Path) -> None:
    (town / "plan.toml").write_text(PLAN + '\n[method]\nname = "laplace"\n', encoding="utf-8")
    assert run("release", town / "plan.toml", "--yes").code == 0
    assert run("map", town / "release", "--out", town / "map.png").code == 0
    assert (town / "map.png").read_bytes().startswith(PNG)
    assert run("report", town / "release", "--out", town / "page.html").code == 0
    assert "shades-below" in (town / "page.html").read_text(encoding="utf-8")
    assert run("verify", town / "release").code == 0
    people = run("synthesize", "--from-table", town / "release", "--out", town / "people-again.csv")
    assert people.code == 3
    assert 'refine = "counts"' in people.err


def test_nobody_at_all_can_be_drawn() -> None:
    assert half_blocks(np.zeros((3, 2)), with_colour=True).plain == "▀▀\n▀▀\n"
    assert half_blocks(np.zeros((3, 2)), with_colour=False).plain.strip() == ""


def test_shrinking_keeps_everybody() -> None:
    counts = np.arange(70.0).reshape(7, 10)
    small = shrink(counts, 4, 4)
    assert small.shape == (3, 4)
    assert small.sum() == counts.sum()
    assert np.array_equal(shrink(counts, 10, 10), counts)
