"""Maps of areas: which tables have one, which meshes an area covers, and what the page sends of them."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

from sudare.domain import Bins, Category, CountTable, Domain
from sudare.domain.prefectures import PREFECTURES
from sudare.errors import InputError
from sudare.releases.kinds.counts import read_published_table
from sudare.web.maps.areas import amounts_of, area_shapes, find_areas, names_of_areas
from sudare.web.maps.tiles import unpack_cells
from tests.unit.web.asking import Asking
from tests.unit.web.maps.areas_release import CODES, NAMES, SHAPE, make_release, write_list


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("areas")
    make_release(folder)
    return folder


def drawn(folder: Path, domain: Domain) -> np.ndarray:
    """The label of the area of each mesh by its list; 0 in none."""
    axis = find_areas(domain)
    assert axis is not None
    shapes = area_shapes(axis, [folder / "meshes.csv"])
    assert shapes is not None
    found = np.zeros((shapes.cells.height, shapes.cells.width), dtype=np.int64)
    found[shapes.cells.rows, shapes.cells.columns] = np.array(axis.codes)[shapes.cells.values - 1]
    return found


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (("14101", "13101"), (14101, 13101)),
        (("131016", "13102"), (13101, 13102)),
        ((13101, 13102), (13101, 13102)),
        (("1101", "01102", "13101"), (1101, 1102, 13101)),
        (("東京都", "Kanagawa"), (13, 14)),
        (tuple(range(1, 48)), tuple(range(1, 48))),
        (("1", "2"), None),
        (("13101", "131016"), None),
        (("13101", "Tokyo"), None),
        (("Tokyo", "東京都"), None),
        (("f", "m"), None),
        (("１３１０１", "13102"), None),
    ],
)
def test_areas_are_told_by_their_codes_or_names(labels: tuple[object, ...], codes: tuple[int, ...] | None) -> None:
    found = find_areas(Domain((Bins("age", (0, 15, 65)), Category("area", labels))))
    assert (None if found is None else found.codes) == codes
    assert found is None or (found.axis, found.position) == (1, 1)


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_every_mesh_belongs_to_the_area_that_the_list_says(tmp_path: Path, encoding: str) -> None:
    write_list(tmp_path / "meshes.csv", encoding)
    for labels in (("14101", "13102", "13101"), ("99999", "13101", "13102", "14101")):
        assert drawn(tmp_path, Domain((Category("area", labels),))).tolist() == SHAPE.tolist()
    some = drawn(tmp_path, Domain((Category("area", ("14101",)),)))
    assert some.tolist() == [[14101, 14101], [14101, 0]], "as large as what it shows"
    prefectures = drawn(tmp_path, Domain((Category("area", ("東京都", "神奈川県")),)))
    assert prefectures.tolist() == (SHAPE // 1000).tolist()


def test_a_file_about_people_is_no_list(tmp_path: Path) -> None:
    write_list(tmp_path / "meshes.csv")
    text = (tmp_path / "meshes.csv").read_text(encoding="utf-8")
    (tmp_path / "meshes.csv").write_text(text + text.splitlines()[-1] + "\n", encoding="utf-8")
    axis = find_areas(Domain((Category("area", ("13101",)),)))
    assert axis is not None
    assert area_shapes(axis, [tmp_path / "meshes.csv"]) is None


def test_numbers_beyond_32_bits_are_refused() -> None:
    domain = Domain((Category("area", ("13101", "13102")),))
    axis = find_areas(domain)
    assert axis is not None
    table = CountTable.from_cells(domain, [0, 1], [2**31 - 1, 7])
    assert np.frombuffer(amounts_of(table, axis, {}), dtype="<i4").tolist() == [2**31 - 1, 7]
    with pytest.raises(InputError, match="too large"):
        amounts_of(CountTable.from_cells(domain, [0, 1], [2**31, 7]), axis, {})


def test_the_page_sends_shapes_numbers_names_and_errors(office: Path) -> None:
    asking = Asking(office)
    page = asking.get("/release?folder=release").text
    assert 'id="map"' not in page
    assert "when the public list of meshes" in page
    assert asking.get("/map/shapes?folder=release").status == 400
    write_list(office / "meshes.csv")
    page = asking.get("/release?folder=release").text
    found = re.search(r'data-about="([^"]*)"', page)
    assert found is not None
    about = json.loads(html.unescape(found[1]))
    assert about["areas"] == [f"{name} ({code})" for name, code in zip(NAMES, CODES, strict=True)]
    assert (about["rows"], about["columns"]) == SHAPE.shape
    stated = {
        (row["kind"], row["name"]): row["rmse"]
        for row in json.loads((office / "release" / "release.json").read_text(encoding="utf-8"))["accuracy"]["errors"]
    }
    assert about["errors"] == {"each": [[1, stated["area", ""]]], "all": [[1, stated["margin", "area"]]]}
    cells = unpack_cells(asking.get("/map/shapes?folder=release").body, *SHAPE.shape)
    assert sorted(cells.values.tolist()) == sorted(np.searchsorted(CODES, SHAPE[SHAPE > 0]) + 1)
    table = read_published_table(office / "release").to_dense()
    for slices, expected in (("", table.sum(axis=1)), ("&slice-1=1", table[:, 1])):
        sent = asking.get(f"/map/cells?folder=release{slices}").body
        assert np.frombuffer(sent, dtype="<i4").tolist() == expected.tolist()
    truth = asking.post("/map/truth", {"folder": "release", "holder": "yes", "slice-1": "0"}).body
    assert np.frombuffer(truth, dtype="<i4").tolist() == [30, 20, 10]
    assert asking.post("/map/truth", {"folder": "release"}).status == 400
    assert asking.get("/map/cells?folder=release&slice-0=1").status == 400, "the areas are the map"
    assert len(asking.get("/map/borders?folder=release").body) > 8


def test_prefectures_are_named_in_the_language_of_the_page(tmp_path: Path) -> None:
    write_list(tmp_path / "meshes.csv")
    axis = find_areas(Domain((Category("area", ("神奈川県", "Tokyo")),)))
    assert axis is not None
    shapes = area_shapes(axis, [tmp_path / "meshes.csv"])
    assert shapes is not None
    for place, language in enumerate(("en", "ja")):
        names = names_of_areas(axis, shapes, language)  # type: ignore[arg-type]
        assert names == [PREFECTURES[14][place], PREFECTURES[13][place]]
