"""What the script is told of a map, and that it paints with the colours of the pictures in files."""

from __future__ import annotations

import html
import json
import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from sudare.bilingual import Language
from sudare.domain import CountTable, Domain
from sudare.tables.maps import MapAxes, pixels_of, png_of
from sudare.tables.palettes import STEPS
from sudare.web.maps.description import category_choices, describe_map, expected_errors, palette_rows
from sudare.web.maps.layers import published_table
from tests.unit.web.asking import Asking
from tests.unit.web.maps.small_release import make_release


def test_shades_are_those_of_pictures() -> None:
    amounts = np.unique(np.geomspace(1, 10_000, 64).astype(np.int64))
    dense = np.zeros((8, amounts.size), dtype=np.int64)
    dense[3] = amounts
    pixels = pixels_of(CountTable.from_dense(dense), MapAxes(0, (0, 1), None))
    picture = imread(BytesIO(b64decode(png_of(pixels, 10_000))), format="png")[4, :, :3]
    colours = palette_rows()[0]
    for amount, pixel in zip(amounts.tolist(), (picture * 255).round().astype(int).tolist(), strict=True):
        shade = min(max(int(np.ceil(np.log(1 + amount) / np.log(10_001) * STEPS - 0.001)), 1), STEPS)
        painted = [int(colours[6 * (shade - 1) + 2 * part :][:2], 16) for part in range(3)]
        assert painted == pixel


def test_errors_are_those_that_the_release_states(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    document = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    about = describe_map(published_table(folder), document)
    stated = {
        (row["kind"], row["side"]): row["rmse"]
        for row in document["accuracy"]["errors"]
        if row["kind"].startswith("area")
    }
    assert dict(about["errors"]["each"])[1] == stated["area", 1]
    assert dict(about["errors"]["all"])[4] == stated["area of all categories", 4]
    assert [choice.name for choice in category_choices(published_table(folder))] == ["sex"]

    page = Asking(tmp_path).get("/release?folder=release").text
    found = re.search(r'data-about="([^"]*)"', page)
    assert found is not None
    assert json.loads(html.unescape(found[1])) == json.loads(json.dumps(about))
    assert "NOT FOR PUBLICATION / 公表不可" in html.unescape(page)


def test_a_release_without_stated_errors_has_none() -> None:
    assert expected_errors({}) == []
    assert expected_errors({"accuracy": {"errors": [{"kind": "area", "side": 1, "rmse": 0}, "x"]}}) == []
    table = CountTable.from_cells(Domain.of_shape((9, 9)), [1], [1])
    assert describe_map(table, {})["errors"] == {"each": [], "all": []}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_text_of_the_script_is_there(language: Language) -> None:
    from sudare.web.rendering import text_of
    from sudare.web.words.maps import SCRIPT_TEXTS

    static = Path(__import__("sudare.web").web.__file__).parent / "static" / "map"
    used = {name for file in static.glob("*.js") for name in re.findall(r"words\.([a-z_]+)", file.read_text("utf-8"))}
    layers = {"layer_truth", "layer_difference"}
    assert used - layers <= set(SCRIPT_TEXTS)
    assert all(text_of(language, f"map.{name}") for name in SCRIPT_TEXTS)
