"""The pictures of the README and the gallery: those that their command draws, small, and in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tools.draw_gallery import ASSETS, CHARTS, MAP, draw_map, file_of
from tools.gallery_charts import maps_png, pixels_of_png

DOCS = ASSETS.parent
PAGES = (DOCS / "gallery.md", DOCS / "gallery.ja.md")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MAX_BYTES, MAX_BYTES_OF_ALL = 150_000, 1_000_000


def pictures_of(page: Path) -> list[Path]:
    return [page.parent / name for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))]


def test_the_map_is_the_drawn_one() -> None:
    """Some cells may differ where processors round otherwise."""
    kept, drawn = pixels_of_png((ASSETS / MAP).read_bytes()), pixels_of_png(draw_map())
    assert kept.shape == drawn.shape
    assert np.mean(kept == drawn) > 0.99
    left, right = kept[:, :512], kept[:, -512:]
    assert 0.5 < np.count_nonzero(right) / np.count_nonzero(left) < 2
    assert not np.array_equal(left, right)


def test_maps_are_pictures() -> None:
    shades = pixels_of_png(maps_png([np.array([[0, 9], [0, 0]]), np.array([[0, 0], [3, 0]])], scale=1))
    assert (shades[:, :2] > 0).tolist() == [[False, False], [False, True]], "south is at the bottom"
    assert (shades[:, -2:] > 0).tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("name", CHARTS)
def test_charts_are_the_drawn_ones(name: str) -> None:
    for language in ("en", "ja"):
        kept, drawn = file_of(name, language).read_text(encoding="utf-8"), CHARTS[name](language)
        assert ElementTree.fromstring(drawn).tag.endswith("svg")  # noqa: S314
        assert NUMBER.sub("0", kept) == NUMBER.sub("0", drawn)
        first, second = ([float(one) for one in NUMBER.findall(text)] for text in (kept, drawn))
        assert np.allclose(first, second, atol=6)


def test_gallery_pages_show_the_same_pictures() -> None:
    english, japanese = ([path.name for path in pictures_of(page)] for page in PAGES)
    assert [name.replace("-ja.", "-en.") for name in japanese] == english
    assert len(english) >= 9
    shown = {path for page in PAGES for path in pictures_of(page)}
    assert set(ASSETS.glob("gallery-*")) <= shown
    assert all(path.stat().st_size <= MAX_BYTES for path in shown)
    assert sum(path.stat().st_size for path in shown) <= MAX_BYTES_OF_ALL


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_picture_has_its_command(page: Path) -> None:
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:]
    assert all(re.search(r"`(python -m tools\.draw_\w+|sudare \w+)[^`]*`\n?$", part) for part in parts)
