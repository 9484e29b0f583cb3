"""The page of a window: self-contained, in both languages, with the numbers that the ticks published."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sudare.releases.kinds.series.days.page_words import TEXTS
from sudare.storage.staging import DOCUMENT
from tests.unit.releases.kinds.counts.test_page import JAPANESE, Reader
from tests.unit.releases.kinds.series.crowds import MAP, PLACES_BY_NAME, Crowds, build_crowds


@pytest.fixture(scope="module", params=[(MAP, "en"), (PLACES_BY_NAME, "ja")], ids=["map", "places"])
def crowds(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crowds:
    domain, language = request.param
    made = build_crowds(tmp_path_factory.mktemp("page"), domain, language)
    made.run(0, 1, 3)
    made.close()
    return made


@pytest.fixture(scope="module")
def page(crowds: Crowds) -> str:
    return (crowds.report / "release.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def document(crowds: Crowds) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((crowds.report / DOCUMENT).read_text(encoding="utf-8"))
    return found


def test_is_one_file_that_loads_nothing(page: str) -> None:
    for tag, attributes in Reader(page).tags:
        assert tag not in ("script", "link", "iframe", "object", "embed", "base")
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href", "srcset", "action", "xlink:href"):
                assert value is not None
                assert value.startswith(("data:image/png;base64,", "#"))
    assert "http" not in re.sub(r"http-equiv", "", page)


def test_headings_go_down_one_step_at_a_time_and_pictures_have_words(page: str) -> None:
    tags = Reader(page).tags
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    for tag, attributes in tags:
        if tag == "img":
            assert JAPANESE.search(attributes["alt"] or "")
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true" or attributes.get("aria-label")
    names = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(names) == len(set(names))
    aims = [(attributes.get("href") or "").lstrip("#") for tag, attributes in tags if tag == "a"]
    assert set(aims) <= set(names)


def test_starts_with_the_language_of_the_plan_and_holds_both(crowds: Crowds, page: str) -> None:
    reader = Reader(page)
    language = crowds.plan.language
    chosen = [a["id"] for tag, a in reader.tags if tag == "input" and "checked" in a]
    assert chosen == [f"show-{language}"]
    for name in ("promise", "results", "accuracy", "ticks", "together", "revision", "total_band", "gaps"):
        assert TEXTS[name].english in reader.text
        assert TEXTS[name].japanese in reader.text


def test_tells_what_was_published_and_what_is_missing(page: str, document: dict[str, Any]) -> None:
    text = Reader(page).text.replace("\N{NO-BREAK SPACE}", " ")
    assert "3 of 4" in text
    assert "4 回中 3 回" in text
    assert "Not published, and never to be: 12:00." in text
    for tick in document["ticks"]:
        if tick["state"] == "published":
            assert f"{tick['total']:,}" in text
            assert tick["sha256"] in text
    for cost in ("ρ = 0.5", "ρ = 3.5", "ρ = 15", "ρ = 182.5"):
        assert cost in text
    assert "at most 2 for each person in a window" in text
    assert "期間中、1人につき最大 2 回" in text


def test_a_table_that_is_no_map_has_curves_by_value_and_no_maps(crowds: Crowds, page: str) -> None:
    is_map = len(crowds.plan.domain.shape) == 2
    assert page.count("<img ") == (3 if is_map else 0)
    assert ('class="none"' in page) is is_map
    text = Reader(page).text
    assert ("By place" in text) is not is_map
    if not is_map:
        assert "<b>market</b>" in text
        assert "<b>market</b>" not in page


def test_a_name_with_a_tag_is_no_tag(page: str) -> None:
    assert "b" not in {tag for tag, _ in Reader(page).tags}


def test_lines_are_broken_where_nothing_was_published(page: str) -> None:
    charts = re.findall(r'<svg class="chart".*?</svg>', page, flags=re.DOTALL)
    assert charts
    for chart in charts:
        assert chart.count("<polyline") == 1  # the first two ticks
        assert chart.count("<circle") == 1  # the last one, by itself


def test_the_report_lies_with_the_ticks(crowds: Crowds) -> None:
    assert sorted(path.name for path in crowds.report.iterdir()) == [
        "curves.csv",
        "release.html",
        "release.json",
        "revision.parquet",
    ]
    assert Path(crowds.folder / "out" / "latest").resolve() == crowds.tick(3).resolve()
