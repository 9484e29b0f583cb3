"""Pictures of tables show all that was measured and predicted, the same from the same seeds, and stand in the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from benchmarks.plan_errors import errors_of_part
from tools.draw_tables import BUDGET, KINDS, Kind, draw, file_of

import sudare
from sudare.accuracy import invent_table

PAGE = Path(__file__).resolve().parents[3] / "docs" / "explanation" / "any-table.md"
SVG = "{http://www.w3.org/2000/svg}"
RUNS = 3


@pytest.fixture(scope="module")
def cities() -> sudare.CountTable:
    """Twelve cities in three prefectures, by sex."""
    codes = {"prefecture": [city // 4 for city in range(12)], "city": list(range(12))}
    area = sudare.Hierarchy.from_levels("city", codes)
    return invent_table(sudare.Domain((area, sudare.Category("sex", ("f", "m")))), 500, 1)


@pytest.fixture(scope="module")
def picture(cities: sudare.CountTable) -> str:
    return draw("Cities & sex", cities, runs=RUNS, seed=1)


def _parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)  # noqa: S314


def _count(picture: str, kind: str) -> int:
    """Signs in the panels; those of the legend stand in groups."""
    return sum(kind in (one.get("class"), one.tag.removeprefix(SVG)) for one in _parsed(picture))


def test_a_picture_holds_all_levels_and_parts(cities: sudare.CountTable, picture: str) -> None:
    plan = sudare.plan_table(cities, BUDGET)
    texts = [text.text for text in _parsed(picture).iter(f"{SVG}text")]
    for level in plan.levels:
        assert any(text and text.endswith(f"{level.share:.1%}, ± {level.deviation:,.1f}") for text in texts)
    for part in plan.errors:
        assert texts.count(f"level {part.name}") == sum(other.name == part.name for other in plan.errors)
    assert {"all people", "sex", "Cities & sex"} <= set(texts)
    assert _count(picture, "bar") == len(plan.levels)
    assert _count(picture, "circle") == RUNS * len(plan.errors)
    assert [_count(picture, kind) for kind in ("wide", "narrow", "noise")] == 3 * [len(plan.errors)]


def test_the_same_seeds_draw_the_same_picture(cities: sudare.CountTable, picture: str) -> None:
    assert draw("Cities & sex", cities, runs=RUNS, seed=1) == picture
    assert draw("Cities & sex", cities, runs=RUNS, seed=2) != picture


def test_errors_of_levels_are_those_of_dense_sums(cities: sudare.CountTable) -> None:
    plan = sudare.plan_table(cities, BUDGET)
    published = sudare.publish(cities, BUDGET, plan, entropy=sudare.ResearchEntropy(5), threads=1)
    true, made = (one.to_dense().reshape(3, 4, 2) for one in (cities, published))
    over = {"all": (0, 1), "prefecture": (1,), "city": ()}
    for part in plan.errors:
        axes = (*over[part.name], *(() if part.margin else (2,)))
        people, departures = true.sum(axis=axes), made.sum(axis=axes) - true.sum(axis=axes)
        squares = np.asarray(departures, dtype=np.float64) ** 2
        expected = [squares[people > 0].mean() ** 0.5, squares.mean() ** 0.5]
        assert list(errors_of_part(cities, published, plan, part)) == pytest.approx(expected)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_every_kind_has_a_picture_in_the_documentation(kind: Kind) -> None:
    root = _parsed(file_of(kind).read_text(encoding="utf-8"))
    assert root.get("width") == "760"
    assert root.get("aria-label") == kind.title
    shown = re.search(
        r"!\[([^\]]{40,})\]\(\.\./assets/" + re.escape(file_of(kind).name), PAGE.read_text(encoding="utf-8")
    )
    assert shown, "a picture needs a text for those who do not see it"
