"""Layers: published counts for everybody, true ones for the holder who asks; one category, or all of them summed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.errors import InputError
from sudare.releases.kinds.counts import read_published_table
from sudare.web.maps.layers import cells_of, published_table, slices_of, true_table
from sudare.web.maps.tiles import MapCells, unpack_cells
from sudare.web.workspace import WorkFolder
from tests.unit.web.asking import HOST, Asking
from tests.unit.web.maps.small_release import MESH, make_release, true_counts


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("town")
    make_release(folder)
    return folder


def dense(cells: MapCells) -> np.ndarray:
    filled = np.zeros((cells.height, cells.width), dtype=np.int64)
    filled[cells.rows, cells.columns] = cells.values
    return filled


def unpacked(body: bytes) -> np.ndarray:
    return dense(unpack_cells(body, MESH.rows, MESH.columns))


def test_all_categories_are_summed_and_one_can_be_chosen(town: Path) -> None:
    asking, table = Asking(town), read_published_table(town / "release").to_dense()
    assert np.array_equal(unpacked(asking.get("/map/cells?folder=release").body), table.sum(axis=0))
    for place in (0, 1):
        answer = asking.get(f"/map/cells?folder=release&slice-0={place}")
        assert np.array_equal(unpacked(answer.body), table[place])


@pytest.mark.parametrize("wish", ["slice-0=2", "slice-0=x", "slice-0=-1", "slice-1=0", "slice-0=²"])
def test_a_category_that_is_none_is_refused(town: Path, wish: str) -> None:
    assert Asking(town).get(f"/map/cells?folder=release&{wish}").status == 400


def test_places_are_held_by_axis(town: Path) -> None:
    table = published_table(town / "release")
    assert slices_of(table, {"slice-0": "1", "slice-1": ""}) == {0: 1}
    assert int(cells_of(table, {0: 1}).values.sum() + cells_of(table, {0: 0}).values.sum()) == table.total


def test_the_holder_sees_true_counts_and_nothing_is_written(town: Path) -> None:
    before = {path: path.read_bytes() for path in sorted((town / "release").rglob("*")) if path.is_file()}
    answer = Asking(town).post("/map/truth", {"folder": "release", "holder": "yes"})
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert np.array_equal(unpacked(answer.body), true_counts().to_dense().sum(axis=0))
    one = Asking(town).post("/map/truth", {"folder": "release", "holder": "yes", "slice-0": "1"})
    assert np.array_equal(unpacked(one.body), true_counts().to_dense()[1])
    assert {path: path.read_bytes() for path in sorted((town / "release").rglob("*")) if path.is_file()} == before


@pytest.mark.parametrize("form", [{}, {"holder": "no"}, {"holder": ""}])
def test_true_counts_need_an_explicit_word(town: Path, form: dict[str, str]) -> None:
    answer = Asking(town).post("/map/truth", {"folder": "release", **form})
    assert answer.status == 400
    assert "holder" in answer.text


def test_true_counts_are_not_given_to_addresses_or_other_origins(town: Path) -> None:
    asking = Asking(town)
    assert asking.get("/map/truth?folder=release&holder=yes").status == 405
    wish = {"folder": "release", "holder": "yes"}
    assert asking.post("/map/truth", wish, origin="http://evil.example").status == 403
    assert asking.ask("POST", "/map/truth", b"", {"origin": f"http://{HOST}"}, session=False).status == 401
    assert (
        asking.get("/map/cells?folder=release&layer=truth&holder=yes").body
        == asking.get("/map/cells?folder=release").body
    )


def test_a_release_without_its_plan_has_no_true_counts(town: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(town / "release", tmp_path / "release")
    answer = Asking(tmp_path).post("/map/truth", {"folder": "release", "holder": "yes"})
    assert answer.status == 400
    assert "plan" in answer.text
    shown = Asking(tmp_path).get("/release?folder=release").text
    assert 'value="truth"' not in shown
    assert 'value="released"' in shown


def test_a_plan_of_other_cells_has_no_true_counts(tmp_path: Path) -> None:
    make_release(tmp_path)
    plan = tmp_path / "plan.toml"
    plan.write_text(plan.read_text(encoding="utf-8").replace("40, 30]", "40, 31]"), encoding="utf-8")
    with pytest.raises(InputError, match="changed"):
        true_table(WorkFolder(tmp_path), tmp_path / "release")


@pytest.mark.parametrize("folder", ["", "..", "nowhere", "plan.toml"])
def test_other_folders_have_no_maps(town: Path, folder: str) -> None:
    assert Asking(town).get(f"/map/cells?folder={folder}").status == 400
    assert Asking(town).post("/map/truth", {"folder": folder, "holder": "yes"}).status == 400
