"""Borders on maps: right to the mesh, in the cells of the map, and never drawn from a file about people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.domain import CountTable, Domain, Mesh, mesh_codes
from sudare.web.maps.borders import MapBorders, borders_of, lists_in, pack_borders
from sudare.web.workspace import WorkFolder
from tests.unit.web.asking import Asking
from tests.unit.web.maps.small_release import make_release

HEADER = "都道府県市区町村コード,市区町村名,基準メッシュコード,備考\n"
ROW, COLUMN = 4000, 3000
"""South-western mesh of 1 km of the window of the small release (8000 and 6000 in meshes of 500 m)."""


def write_list(path: Path, codes: np.ndarray, encoding: str = "utf-8") -> None:
    """A list of the meshes from the window's corner on; 0 is in no municipality."""
    rows, columns = np.nonzero(codes)
    meshes = mesh_codes(ROW + rows, COLUMN + columns, "3")
    lines = [f"{code},町,{mesh}," for code, mesh in zip(codes[rows, columns].tolist(), meshes.tolist(), strict=True)]
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding=encoding)


def town_of(codes: np.ndarray, folder: Path, level: str = "1/2") -> MapBorders:
    write_list(folder / "list.csv", codes)
    side = {"1/2": 2, "3": 1}[level]
    mesh = Mesh("KEY_CODE", level, ROW * side, COLUMN * side, 6 * side, 8 * side)
    table = CountTable.from_cells(Domain((mesh,)), [0], [1])
    return borders_of(table, lists_in(WorkFolder(folder)))


def length(lines: np.ndarray) -> float:
    return float(np.abs(lines[:, 2:] - lines[:, :2]).sum())


def test_a_border_runs_between_two_prefectures(tmp_path: Path) -> None:
    codes = np.full((6, 8), 13101)
    codes[:, 3:] = 14101
    found = town_of(codes, tmp_path)
    between = {tuple(line) for line in found.prefectures.tolist()}
    assert (0.0, 6.0, 12.0, 6.0) in between, "three meshes of 1 km are six of 500 m"
    assert length(found.prefectures) == 12 + 2 * (12 + 16), "the border, and the outline of both"
    assert not found.municipalities.size


def test_municipalities_of_one_prefecture_are_lighter_lines(tmp_path: Path) -> None:
    codes = np.full((6, 8), 13101)
    codes[2:4, 2:5] = 13102
    found = town_of(codes, tmp_path, "3")
    assert length(found.municipalities) == 2 * (2 + 3)
    assert {tuple(line) for line in found.municipalities.tolist()} == {
        (2.0, 2.0, 4.0, 2.0),
        (2.0, 5.0, 4.0, 5.0),
        (2.0, 2.0, 2.0, 5.0),
        (4.0, 2.0, 4.0, 5.0),
    }


def test_lines_are_as_long_as_those_of_a_slow_walk(tmp_path: Path) -> None:
    codes = np.random.default_rng(5).choice([0, 13101, 13102, 14101], (6, 8))
    found = town_of(codes, tmp_path, "3")
    padded = np.pad(codes, 1)
    outer = inner = 0
    for row in range(padded.shape[0]):
        for column in range(padded.shape[1]):
            for down, right in ((1, 0), (0, 1)):
                if row + down < padded.shape[0] and column + right < padded.shape[1]:
                    a, b = int(padded[row, column]), int(padded[row + down, column + right])
                    outer += a // 1000 != b // 1000
                    inner += a // 1000 == b // 1000 and a != b
    assert (length(found.prefectures), length(found.municipalities)) == (outer, inner)


def test_a_list_in_the_encoding_of_the_bureau_is_read(tmp_path: Path) -> None:
    make_release(tmp_path)
    codes = np.full((20, 15), 13101)
    codes[10:] = 14101
    write_list(tmp_path / "13.csv", codes, "cp932")
    answer = Asking(tmp_path).get("/map/borders?folder=release")
    assert answer.status == 200
    prefectures, municipalities = np.frombuffer(answer.body[:8], dtype="<i4").tolist()
    assert (prefectures > 1, municipalities) == (True, 0)
    assert len(answer.body) == 8 + 16 * prefectures


def test_no_border_is_drawn_from_people(tmp_path: Path) -> None:
    mesh = mesh_codes([ROW], [COLUMN], "3")[0]
    rows = "".join(f"{person},{mesh},13101\n" for person in range(5))
    (tmp_path / "people.csv").write_text(f"person,mesh_code,city_code\n{rows}", encoding="utf-8")
    make_release(tmp_path)
    assert lists_in(WorkFolder(tmp_path)), "by its header it might be a list"
    assert Asking(tmp_path).get("/map/borders?folder=release").body == bytes(8)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "mesh,city\nx,y\n", "mesh_code,city_code\n99,13101\n"])
def test_other_files_are_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.csv").write_text(text, encoding="utf-8")
    make_release(tmp_path)
    assert Asking(tmp_path).get("/map/borders?folder=release").body == bytes(8)


def test_packed_lines_stand_behind_their_numbers() -> None:
    lines = np.arange(8, dtype=np.float32).reshape(2, 4)
    packed = pack_borders(MapBorders(prefectures=lines, municipalities=lines[:1]))
    assert np.frombuffer(packed[:8], dtype="<i4").tolist() == [2, 1]
    assert np.frombuffer(packed[8:], dtype="<f4").tolist() == [*range(8), *range(4)]
