"""Charts: well-formed, with both languages, and every point inside the frame."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.bilingual import Words
from sudare.releases.charts import HEIGHT, WIDTH, CurvePoint, bar, colour_legend, error_curve, short_number

NAMES = {"name": Words("n <", "名"), "across": Words("a & b", "横"), "upwards": Words("up", "縦")}


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  # our own text


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.floats(1e-3, 1e9), st.floats(0.1, 1), st.floats(1, 3)),
        min_size=1,
        max_size=12,
        unique_by=lambda point: point[0],
    )
)
def test_every_point_is_inside_the_frame(given_points: list[tuple[int, float, float, float]]) -> None:
    points = [
        CurvePoint(1 << bits, error, error * low, error * high) for bits, error, low, high in sorted(given_points)
    ]
    chart = read(error_curve(points, [(points[0].side, points[0].error)], **NAMES))
    drawn = [element.get("points", "") for element in chart.iter() if element.get("points")]
    places = [tuple(map(float, place.split(","))) for text in drawn for place in text.split()]
    assert len(places) == 3 * len(points) + 1
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


def test_larger_errors_are_higher_up_and_larger_areas_further_right() -> None:
    chart = read(error_curve([CurvePoint(1, 2, 1, 3), CurvePoint(4, 20, 10, 30)], [], **NAMES))
    (first, second) = (
        (float(dot.get("cx", "")), float(dot.get("cy", "")))
        for dot in chart.iter("circle")
        if dot.get("class") == "dot"
    )
    assert first[0] < second[0]
    assert first[1] > second[1]


def test_axes_are_named_in_both_languages_and_escaped() -> None:
    text = error_curve([CurvePoint(1, 2, 1, 3)], [], **NAMES)
    chart = read(text)
    assert chart.get("aria-label") == "n < / 名"
    titles = {
        element.get("lang"): element.text
        for element in chart.iter("text")
        if "up" in (element.text or "") or "縦" in (element.text or "")
    }
    assert titles == {"en": "up", "ja": "縦"}
    assert "a &amp; b" in text


def test_nothing_to_draw_is_nothing() -> None:
    assert error_curve([], [], **NAMES) == ""
    assert error_curve([], [(1, 0.0)], **NAMES) == ""


def test_measured_errors_alone_make_a_chart() -> None:
    chart = read(error_curve([], [(1, 2.0), (2, 0.0), (4, 3.0)], **NAMES))
    assert sum(dot.get("class") == "measured-dot" for dot in chart.iter("circle")) == 2


@pytest.mark.parametrize(("share", "length"), [(-1, "0.00"), (0.25, "25.00"), (1, "100.00"), (7, "100.00")])
def test_a_bar_fills_its_share(share: float, length: str) -> None:
    fill = read(bar(share))[1]
    assert fill.get("width") == length


def test_legend_goes_through_all_colours() -> None:
    legend = read(colour_legend(["#000000", "#ffffff"], [(1, 0.2), (1000, 1.0)]))
    assert [stop.get("stop-color") for stop in legend.iter("stop")] == ["#000000", "#ffffff"]
    assert [text.text for text in legend.iter("text")] == ["1", "1,000"]


@pytest.mark.parametrize(("number", "text"), [(0.5, "0.5"), (20, "20"), (5000, "5,000"), (2e6, "2 M"), (1e9, "1 G")])
def test_numbers_are_short(number: float, text: str) -> None:
    assert short_number(number) == text
