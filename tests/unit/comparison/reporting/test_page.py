from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sudare.comparison.methods import METHODS
from sudare.comparison.plan_file import quick_plan
from sudare.comparison.reporting.document import comparison_document
from sudare.comparison.reporting.labelling import Box, Canvas
from sudare.comparison.reporting.page import percent, render_comparison_page
from sudare.comparison.reporting.page_words import TEXTS
from sudare.comparison.reporting.picture import COLOURS, HEIGHT, WIDTH, standalone
from sudare.comparison.reporting.words import AXES, MEASURE_TITLES, SHORT_TITLES, TABLE_COLUMNS
from sudare.comparison.running import MEASURES
from sudare.comparison.writing import PAIRS, draw_pictures
from tests.unit.comparison.towns import small_comparison


@pytest.fixture(scope="module")
def pictures() -> list[str]:
    return draw_pictures(small_comparison())


@pytest.fixture(scope="module")
def page(pictures: list[str]) -> str:
    document = comparison_document(quick_plan(Path("nowhere")), small_comparison())
    return render_comparison_page({**document, "title": "A <b>town</b>"}, pictures)


def test_pictures_name_every_method_in_both_languages_inside_the_frame(pictures: list[str]) -> None:
    root = ElementTree.fromstring(pictures[0])  # noqa: S314 - our own text
    names = {one.text for one in root.iter("text") if "name" in one.attrib["class"]}
    for method in {one.method.name for one in small_comparison().results}:
        assert {METHODS[method].title.english, METHODS[method].title.japanese} <= names
    for one in root.iter("text"):
        if "x" in one.attrib:
            assert 0 <= float(one.attrib["x"]) <= WIDTH
            assert 0 <= float(one.attrib["y"]) <= HEIGHT
    assert len(list(root.iter("circle"))) == sum(one.method.is_private for one in small_comparison().results)


def test_bounds_are_drawn_where_they_exist(pictures: list[str]) -> None:
    assert "ε = 1 allows no more" in pictures[0]
    assert "ε = 1 の上限" in pictures[0]
    assert "allows no more" not in pictures[2]


def test_a_picture_of_its_own_is_in_one_language(pictures: list[str]) -> None:
    root = ElementTree.fromstring(standalone(pictures[0], "ja"))  # noqa: S314
    style = next(one.text or "" for one in root.iter() if one.tag.endswith("style"))
    assert ".en { display: none; }" in style


def test_the_page_has_everything_in_both_languages_and_needs_no_network(page: str) -> None:
    assert "A &lt;b&gt;town&lt;/b&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "<script" not in page
    assert "For research, or for whoever holds the data." in page
    assert "研究用、またはデータ保有者用です。" in page
    assert page.count("<svg") == len(PAIRS)
    assert re.search(r"≤ 73\.1", page)


def test_words_for_everything_that_is_measured() -> None:
    assert set(MEASURE_TITLES) == set(MEASURES)
    assert {name for _, names in TABLE_COLUMNS for name in names} == set(SHORT_TITLES)
    assert {name for across, upwards, _ in PAIRS for name in (across, upwards)} == set(AXES)
    assert set(COLOURS) == set(METHODS)
    for words in (*TEXTS.values(), *MEASURE_TITLES.values(), *AXES.values()):
        assert words.english
        assert re.findall(r"{\w+}", words.english) == re.findall(r"{\w+}", words.japanese) or "{" in words.japanese


def test_labels_keep_away_from_each_other() -> None:
    canvas = Canvas(Box(0, 0, 400, 200))
    placed = [canvas.place([(200.0, 100.0)], "method", 12, gap=8) for _ in range(4)]
    assert len(set(placed)) == 4
    assert canvas.place([(200.0, 100.0)], "method", 12, gap=8, limit=0.0) is None


@pytest.mark.parametrize(("share", "text"), [(0.99999, "100.0"), (-0.0212, "-2.12"), (0.00001, "0"), (12.0, "1200")])
def test_percentages(share: float, text: str) -> None:
    assert percent(share) == text
