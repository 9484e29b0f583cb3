"""Maps with title, legend and scale: both pens draw the same, lengths are true, and nothing of a title can break the file."""

from __future__ import annotations

import math
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image

from sudare.domain import CountTable, Domain, Mesh, SignedTable, mesh_level
from sudare.tables import letters
from sudare.tables.letters import HEIGHT, LETTERS, can_draw, draw_text
from sudare.tables.map_frames import (
    CONFIDENTIAL,
    FramedMap,
    framed_png,
    framed_svg,
    legends_of,
    scale_bar,
    undrawn_texts,
)
from sudare.tables.maps import MAX_PIXELS, MapAxes, find_map, pixels_of, png_of

MESH = Mesh("KEY_CODE", "1/2", 8736, 5590, 16, 24)
SVG = "{http://www.w3.org/2000/svg}"
WARNING_COLOUR = (0xB3, 0x26, 0x1E)


def framed_of(dense: np.ndarray[Any, Any], *, mesh: bool = False, **words: Any) -> FramedMap:
    domain = Domain((MESH,)) if mesh else Domain.of_shape(dense.shape)
    table = (SignedTable if (dense < 0).any() else CountTable).from_dense(dense, domain)
    axes = find_map(domain)
    assert axes is not None
    return FramedMap(pixels=pixels_of(table, axes), axes=axes, **{"title": "Town", **words})


def points_of(framed: FramedMap) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(BytesIO(framed_png(framed))).convert("RGB")).astype(int)


def document_of(framed: FramedMap) -> ET.Element:
    return ET.fromstring(framed_svg(framed).encode())  # noqa: S314 - our own


def texts_of(framed: FramedMap) -> list[str]:
    return [text.text or "" for text in document_of(framed).iter(f"{SVG}text")]


@pytest.fixture
def town() -> FramedMap:
    dense = np.zeros((16, 24), dtype=np.int64)
    dense[0, 0], dense[15, 23], dense[4, 7] = 1, 5000, 30
    return framed_of(dense, mesh=True, note="ε = 1")


def test_both_pens_draw_the_same_picture_in_the_same_place(town: FramedMap) -> None:
    points = points_of(town)
    document = document_of(town)
    (image,) = document.iter(f"{SVG}image")
    x, y, width, height = (int(float(image.get(name, ""))) for name in ("x", "y", "width", "height"))
    assert document.get("viewBox") == f"0 0 {points.shape[1]} {points.shape[0]}"
    assert (height, width) == town.shape
    inside = points[y : y + height, x : x + width]
    embedded = imread(BytesIO(b64decode(image.get("href", "").split(",")[1])), format="png")
    for row, column in ((0, 0), (15, 0), (0, 23), (11, 7), (8, 8)):
        middle = inside[round((row + 0.5) * height / 16), round((column + 0.5) * width / 24)]
        colour, opacity = (embedded[row, column, :3] * 255).round(), embedded[row, column, 3]
        assert middle.tolist() == (colour.tolist() if opacity else [0xEE, 0xF2, 0xF6])
    assert (points[y - 1, x - 1 : x + width + 1] == points[y - 1, x]).all(), "a line is around it"


def test_the_words_around_a_map(town: FramedMap) -> None:
    assert texts_of(town) == [
        "Town",
        "ε = 1",
        "5 km",
        "People in each cell · logarithmic scale",
        "1",
        "10",
        "100",
        "1,000",
    ]


def test_the_words_in_japanese() -> None:
    framed = framed_of(np.ones((MAX_PIXELS * 2, 9), dtype=np.int64), language="ja", is_confidential=True)
    assert texts_of(framed)[:2] == ["機密：真の値（公表禁止）", "Town"]
    assert "2 × 2 セルごとの人数 · 対数目盛" in texts_of(framed)


@pytest.mark.parametrize(
    ("columns", "share", "words"), [(8, 0.25, "2 cells"), (24, 5 / 24, "5 cells"), (1024, 200 / 1024, "200 cells")]
)
def test_a_scale_bar_of_cells(columns: int, share: float, words: str) -> None:
    bar = scale_bar(MapAxes(0, (0, 1), None), columns)
    assert (bar.share, bar.words.english) == (share, words)


@pytest.mark.parametrize("level", ["1", "1/2", "1/8"])
@pytest.mark.parametrize("columns", [1, 9, 300])
def test_a_scale_bar_is_as_long_as_it_says(level: str, columns: int) -> None:
    first = (54, 35) if level == "1" else (8736, 5590)
    mesh = Mesh("KEY_CODE", level, *first, 12, min(columns, 60 if level == "1" else columns))
    columns = mesh.columns
    bar = scale_bar(MapAxes(0, (0,), mesh), columns)
    number, unit = bar.words.english.split()
    metres = int(number.replace(",", "")) * {"m": 1, "km": 1000}[unit]
    # On a sphere of the earth's size: the whole map from west to east, in its middle latitude.
    south, west, north, east = mesh_level(level).bounds(mesh.first_row, mesh.first_column)
    latitude = float(south) + float(north - south) * mesh.rows / 2
    whole = math.radians(float(east - west) * columns) * 6_378_137 * math.cos(math.radians(latitude))
    assert bar.share * whole == pytest.approx(metres, rel=1e-3)
    assert 0.15 < bar.share <= 0.4


def test_a_confidential_map_says_so_in_red(town: FramedMap) -> None:
    secret = FramedMap(pixels=town.pixels, axes=town.axes, title="Town", is_confidential=True)
    is_red = (points_of(secret) == WARNING_COLOUR).all(axis=-1)
    assert is_red[:48].sum() > 500, "the words"
    assert is_red.any(axis=1).sum() > town.shape[0], "the frame"
    assert CONFIDENTIAL.english in texts_of(secret)
    assert not (points_of(town) == WARNING_COLOUR).all(axis=-1).any()
    assert CONFIDENTIAL.english.encode() in framed_png(secret)


def test_sums_below_0_have_a_legend_of_their_own() -> None:
    dense = np.arange(-50, 50).reshape(10, 10)
    words = texts_of(framed_of(dense))
    assert words[-4:] == ["−10", "−1", "1", "10"]
    below, above = legends_of(5000, has_negative=True)
    assert below.is_below
    assert not above.is_below
    assert [-number for number, _ in reversed(below.ticks)] == [number for number, _ in above.ticks]
    places = [place for _, place in above.ticks]
    assert min(np.diff(places)) > 0.2, "numbers of half a band need twice the room"
    assert [legend.is_below for legend in legends_of(5000, has_negative=False)] == [False]


@pytest.mark.parametrize(
    "title", ['<script>alert(1)</script> & "', "two\nlines\tand\0a null", "x" * 500, "町" * 100, "", "\ud800"]
)
def test_any_title(town: FramedMap, title: str) -> None:
    framed = FramedMap(pixels=town.pixels, axes=town.axes, title=title)
    document = document_of(framed)
    assert not list(document.iter(f"{SVG}script"))
    assert points_of(framed).shape[1] == points_of(town).shape[1], "a title does not stretch the picture"


def test_without_a_japanese_font_the_rest_is_drawn_in_english(town: FramedMap, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"title": "町", "language": "ja", "is_confidential": True}
    framed = FramedMap(pixels=town.pixels, axes=town.axes, **words)  # type: ignore[arg-type]
    monkeypatch.setattr(letters, "_japanese_font", lambda: None)
    assert undrawn_texts(framed) == ["町"]
    assert undrawn_texts(town) == []
    nameless = FramedMap(pixels=town.pixels, axes=town.axes, title="", is_confidential=True)
    drawn, english = points_of(framed), points_of(nameless)
    assert (drawn[:40] == english[:40]).all()
    assert "町".encode() in framed_png(framed)


@pytest.mark.parametrize("shape", [(8, 8), (700, 9), (9, 700), (1024, 1024), (3000, 2000)])
def test_every_shape_has_room(shape: tuple[int, int]) -> None:
    framed = framed_of(np.ones(shape, dtype=np.int64))
    height, width = framed.shape
    assert 640 <= max(height, width) <= 1300
    assert min(framed_size(framed)) > 200


def framed_size(framed: FramedMap) -> tuple[int, int]:
    return Image.open(BytesIO(framed_png(framed))).size


def test_the_bare_picture_has_the_same_colours(town: FramedMap) -> None:
    bare = (imread(BytesIO(b64decode(png_of(town.pixels, town.pixels.most))), format="png") * 255).round()
    colours = {tuple(colour[:3]) for colour in bare.reshape(-1, 4).tolist() if colour[3]}
    assert colours <= {tuple(colour) for colour in points_of(town).reshape(-1, 3).tolist()}


def test_letters_differ_and_are_five_points_wide() -> None:
    drawn = {letter: draw_text(letter, 1) for letter in LETTERS}
    assert all(ink.shape == (HEIGHT, 5) for ink in drawn.values())
    assert len({ink.tobytes() for ink in drawn.values()}) == len(drawn) - 2, "only x and ×, – and − are the same"
    assert draw_text("Ab", 3).shape == (21, 33)
    assert draw_text("", 2).shape[1] == 0


def test_letters_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letters, "_japanese_font", lambda: None)
    assert can_draw("Town, 2026")
    assert not can_draw("町")
    assert (draw_text("町", 1) == draw_text("?", 1)).all()


def test_a_japanese_font_draws_if_it_is_there() -> None:
    if not can_draw("町"):
        pytest.skip("no Japanese font")
    ink = draw_text("町", 2)
    assert 8 < ink.shape[0] < 24
    assert 0 < ink.mean() < 1
    assert isinstance(letters._japanese_font(), Path)
