"""Mesh codes: every corner, edge and centre, both ways, at every level."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain import MESH_LEVELS, MeshLevel, mesh_cells, mesh_cells_of_points, mesh_codes, mesh_level
from sudare.domain.mesh import likely_level, other_level
from sudare.errors import ParameterError

LEVELS = list(MESH_LEVELS)

# Codes and south-west corners that follow from the definition of JIS X 0410, worked out by hand.
LATITUDE, LONGITUDE = Fraction(53 * 2, 3) + Fraction(4, 12), 139 + Fraction(6, 8)  # of 533946
KNOWN = [
    ("1", 5339, (Fraction(106, 3), 139)),
    ("2", 533946, (LATITUDE, LONGITUDE)),
    ("3", 53394611, (LATITUDE + Fraction(1, 120), LONGITUDE + Fraction(1, 80))),
    ("1/2", 533946113, (LATITUDE + Fraction(3, 240), LONGITUDE + Fraction(1, 80))),
    ("1/4", 5339461132, (LATITUDE + Fraction(3, 240), LONGITUDE + Fraction(5, 320))),
    ("1/8", 53394611324, (LATITUDE + Fraction(13, 960), LONGITUDE + Fraction(11, 640))),
    ("5x", 5339464, (LATITUDE + Fraction(1, 24), LONGITUDE + Fraction(1, 16))),
    ("2x", 533946285, (LATITUDE + Fraction(1, 60), LONGITUDE + Fraction(4, 40))),
]


def naive_code(row: int, column: int, level: MeshLevel) -> int:
    """Digit by digit, from the definition, with fractions of a primary mesh."""
    n = level.divisions
    text = f"{row // n:02d}{column // n:02d}"
    y, x = Fraction(row % n, n), Fraction(column % n, n)
    if level.name == "1":
        return int(text)
    text += f"{int(y * 8)}{int(x * 8)}"
    y, x = y * 8 % 1, x * 8 % 1
    if level.name == "2x":
        return int(text + f"{2 * int(y * 5)}{2 * int(x * 5)}5")
    halvings = {"5x": 1, "1/2": 1, "1/4": 2, "1/8": 3}.get(level.name, 0)
    if level.name in ("3", "1/2", "1/4", "1/8"):
        text += f"{int(y * 10)}{int(x * 10)}"
        y, x = y * 10 % 1, x * 10 % 1
    for _ in range(halvings):
        text += str(1 + int(x * 2) + 2 * int(y * 2))
        y, x = y * 2 % 1, x * 2 % 1
    return int(text)


@pytest.mark.parametrize(("name", "code", "corner"), KNOWN, ids=lambda v: str(v))
def test_known_codes(name: str, code: int, corner: tuple[Fraction, Fraction]) -> None:
    row, column = (int(v[0]) for v in mesh_cells([code], name))
    assert mesh_level(name).bounds(row, column)[:2] == corner
    assert mesh_codes([row], [column], name).tolist() == [code]


@pytest.mark.parametrize("name", LEVELS)
@given(data=st.data())
def test_codes_are_those_of_the_definition_and_come_back(name: str, data: st.DataObject) -> None:
    level = mesh_level(name)
    cells = st.integers(0, level.cells_per_side - 1)
    without_leading_zero = st.integers(10 * level.divisions, level.cells_per_side - 1)
    pairs = data.draw(st.lists(st.tuples(without_leading_zero, cells), min_size=1, max_size=20))
    rows, columns = (np.array(v) for v in zip(*pairs, strict=True))
    codes = mesh_codes(rows, columns, name)
    assert codes.tolist() == [naive_code(r, c, level) for r, c in pairs]
    back = mesh_cells(codes, name)
    assert np.array_equal(back[0], rows)
    assert np.array_equal(back[1], columns)


@pytest.mark.parametrize("name", LEVELS)
def test_every_cell_of_a_primary_mesh_and_its_neighbours(name: str) -> None:
    n = mesh_level(name).divisions
    rows, columns = (v.ravel() for v in np.mgrid[53 * n - 1 : 54 * n + 1, 39 * n - 1 : 40 * n + 1])
    codes = mesh_codes(rows, columns, name)
    assert np.unique(codes).size == codes.size
    back = mesh_cells(codes, name)
    assert np.array_equal(back, (rows, columns))


@pytest.mark.parametrize("name", LEVELS)
def test_corners_edges_and_centres_of_cells(name: str) -> None:
    """A corner or edge belongs to the cell north-east of it, a centre to its own; in decimals wherever they are finite."""
    level = mesh_level(name)
    n = level.divisions
    for row in (53 * n, 53 * n + 1, 53 * n + n // 2, 54 * n - 1, 0, level.cells_per_side - 1):
        for column in (39 * n, 39 * n + 1, 39 * n + n // 2, 40 * n - 1, 0, level.cells_per_side - 1):
            south, west, north, east = level.bounds(row, column)
            for y, x in (
                (south, west),
                (south, (west + east) / 2),
                ((south + north) / 2, west),
                ((south + north) / 2, (west + east) / 2),
            ):
                # A corner at a third of a degree has no finite decimal: the nearest float is on one side or the other.
                finite = all(Fraction(repr(float(v))) == v for v in (y, x))
                inside = finite or (y != south and x != west)
                found = mesh_cells_of_points([float(y)], [float(x)], name)
                if inside:
                    assert (found[0][0], found[1][0]) == (row, column)


def test_a_decimal_on_a_border_is_on_the_border() -> None:
    """The floats nearest to multiples of 0.0125 lie on both sides of them; all were typed as borders."""
    latitudes = [round(30 + 0.0125 * k, 4) for k in range(1200)]
    rows, _ = mesh_cells_of_points(latitudes, [139.0] * len(latitudes), "1/2")
    assert rows.tolist() == [7200 + 3 * k for k in range(1200)]


@given(st.floats(0.01, 66.6), st.floats(100.0, 199.9), st.sampled_from(LEVELS))
def test_points_are_in_the_cell_by_exact_arithmetic(latitude: float, longitude: float, name: str) -> None:
    row, column = (int(v[0]) for v in mesh_cells_of_points([latitude], [longitude], name))
    south, west, north, east = mesh_level(name).bounds(row, column)
    assert south <= Fraction(repr(latitude)) < north
    assert west <= Fraction(repr(longitude)) < east


def test_levels_are_nested() -> None:
    rows, columns = mesh_cells([533946113], "1/2")
    assert mesh_codes(rows // 2, columns // 2, "3").tolist() == [53394611]
    assert mesh_codes(rows // 20, columns // 20, "2").tolist() == [533946]
    assert mesh_codes(rows // 160, columns // 160, "1").tolist() == [5339]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("1", 10000), ("1", -1), ("2", 533986), ("2", 533948), ("3", 533946110), ("3", 53398611), ("1/2", 533946115),
        ("1/2", 533946110), ("1/4", 5339461105), ("1/8", 53394611110), ("5x", 5339465), ("2x", 533946386), ("2x", 533946375),
        ("2x", 533946005 + 10),
    ],
)  # fmt: skip
def test_codes_that_break_a_rule_are_named(name: str, code: int) -> None:
    good = int(mesh_codes([53 * mesh_level(name).divisions], [7], name)[0])
    with pytest.raises(
        ParameterError, match=f"The 'codes' parameter of mesh_cells must be .* Got {code} at position 2 instead"
    ):
        mesh_cells([good, good, code], name)


@pytest.mark.parametrize("code", ["5339461", "533946111", "5339461a", "５３３９４６１１", "", None, 1.5, True])
def test_text_that_is_no_code_is_named(code: Any) -> None:
    with pytest.raises(ParameterError, match="The 'codes' parameter of mesh_cells must be"):
        mesh_cells(np.array(["53394611", code], dtype=object), "3")


def test_text_codes_are_read() -> None:
    assert mesh_cells(["53394611"], "3") == mesh_cells([53394611], "3")
    assert mesh_cells(["0036"], "1")[0].tolist() == [0]


@pytest.mark.parametrize(
    ("rows", "columns"), [([-1], [0]), ([0], [8000]), ([0.5], [1]), ([1, 2], [1]), ([True], [1]), (["1"], [1])]
)
def test_cells_outside_the_grid(rows: Any, columns: Any) -> None:
    with pytest.raises(ParameterError, match="parameter of mesh_codes must be"):
        mesh_codes(rows, columns, "3")


@pytest.mark.parametrize(
    ("latitude", "longitude"),
    [(-0.1, 139), (66.7, 139), (35, 99.9), (35, 200), (float("nan"), 139), (35, float("inf")), ("35", 139)],
)
def test_points_outside_the_grid(latitude: Any, longitude: Any) -> None:
    with pytest.raises(ParameterError, match="parameter of mesh_cells_of_points must be"):
        mesh_cells_of_points([latitude], [longitude], "3")


@pytest.mark.parametrize("level", ["4", 3, None, "1/3"])
def test_unknown_levels(level: Any) -> None:
    for call in (
        lambda: mesh_codes([1], [1], level),
        lambda: mesh_cells([1], level),
        lambda: mesh_cells_of_points([35], [139], level),
    ):
        with pytest.raises(
            ParameterError, match=r"The 'level' parameter of .* must be one of '1' \(80km\), '2' \(10km\)"
        ):
            call()


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("500m", "1/2"),
        ("1km", "3"),
        ("1 km", "3"),
        ("250M", "1/4"),
        ("125m", "1/8"),
        ("10km", "2"),
        ("５００ｍ", "1/2"),
    ],
)
def test_levels_may_be_named_by_their_size(typed: str, name: str) -> None:
    assert mesh_level(typed) is MESH_LEVELS[name]


def test_every_level_has_a_size_of_its_own() -> None:
    sizes = [level.size for level in MESH_LEVELS.values()]
    assert sizes == ["80km", "10km", "5km", "2km", "1km", "500m", "250m", "125m"]
    assert [mesh_level(size) for size in sizes] == list(MESH_LEVELS.values())


@pytest.mark.parametrize("level", MESH_LEVELS.values(), ids=lambda level: str(level.name))
def test_the_level_of_a_code_is_told_by_its_digits(level: MeshLevel) -> None:
    code = int(mesh_codes([53 * level.divisions], [39 * level.divisions], level)[0])
    assert likely_level(code) == level
    assert likely_level(str(code)) == level
    assert likely_level(float(code)) == level
    assert other_level(code, level).en == ""
    other = MESH_LEVELS["1" if level.name != "1" else "3"]
    said = other_level(code, other)
    assert f'level = "{level.name}"' in said.english
    assert f"{level.size} メッシュ" in said.japanese


@pytest.mark.parametrize("code", ["", "abc", 12, 53394688888888, None, 5.5, "５３３９", 53398911])
def test_what_is_no_code_has_no_level(code: Any) -> None:
    assert likely_level(code) is None


def test_shapes_are_kept() -> None:
    cells = 53 * 80 + np.arange(6).reshape(2, 3)
    codes = mesh_codes(cells, cells, "3")
    assert codes.shape == (2, 3)
    assert mesh_cells(codes, "3")[0].shape == (2, 3)
    assert mesh_codes([], [], "3").shape == (0,)


def test_interiors_agree_with_jismesh() -> None:
    """An independent implementation; it is wrong on some borders, so points are taken well inside."""
    from jismesh import utils

    names = {1: "1", 2: "2", 3: "3", 4: "1/2", 5: "1/4", 6: "1/8", 5000: "5x", 2000: "2x"}
    rng = np.random.default_rng(410)
    for number, name in names.items():
        level = mesh_level(name)
        rows = rng.integers(30 * level.divisions, 68 * level.divisions, 2000)
        columns = rng.integers(22 * level.divisions, 54 * level.divisions, 2000)
        latitudes = (rows + rng.uniform(0.1, 0.9, 2000)) / (1.5 * level.divisions)
        longitudes = 100 + (columns + rng.uniform(0.1, 0.9, 2000)) / level.divisions
        theirs = np.asarray(utils.to_meshcode(latitudes, longitudes, number)).astype(np.int64)
        assert np.array_equal(theirs, mesh_codes(rows, columns, name))
        assert np.array_equal(mesh_cells_of_points(latitudes, longitudes, name), (rows, columns))


@pytest.mark.parametrize(("code", "name"), [(533771, "3"), (5339, "2"), (339, "1"), (53394611, "1/2")])
def test_codes_of_another_level_are_refused(code: int, name: str) -> None:
    for codes in ([code], np.array([code], dtype=object)):
        with pytest.raises(ParameterError, match="must be codes of"):
            mesh_cells(codes, name)


def test_borders_are_exact_for_every_shape_order_and_precision() -> None:
    wanted = mesh_cells_of_points([35.0], [137.5125], "3")[1][0]
    assert mesh_cells_of_points(35.0, 137.5125, "3")[1] == wanted
    grid = np.asfortranarray(np.full((2, 3), 137.5125))
    assert (mesh_cells_of_points(np.asfortranarray(np.full((2, 3), 35.0)), grid, "3")[1] == wanted).all()
    short = np.array([35.0, 137.5125], dtype=np.float32)
    assert mesh_cells_of_points(short[:1], short[1:], "3")[1][0] == wanted


@pytest.mark.parametrize("codes", [[10**30], [[53394611], [1, 2]], np.ma.array([53394611], mask=[True])])
def test_odd_arrays_of_codes(codes: Any) -> None:
    with pytest.raises(ParameterError, match="The 'codes' parameter"):
        mesh_cells(codes, "3")


@pytest.mark.parametrize("name", LEVELS)
@given(data=st.data())
def test_arrays_and_compiled_loops_agree(name: str, data: st.DataObject) -> None:
    """Few codes are made and read by arrays, many by the kernels: the same codes, cells, and first code that is none."""
    from sudare.domain import mesh
    from sudare.kernels.mesh_codes import decode_mesh_codes, encode_mesh_cells

    level = mesh_level(name)
    places = st.integers(0, level.cells_per_side - 1)
    cells = data.draw(st.lists(st.tuples(places, places), min_size=1, max_size=20))
    rows, columns = np.array(cells, dtype=np.int64).T.copy()
    codes = np.empty(rows.size, dtype=np.int64)
    encode_mesh_cells(rows, columns, mesh._stages(level), codes)
    assert (
        mesh._codes_of_cells(rows, columns, level).tolist()
        == codes.tolist()
        == mesh_codes(*cells_of(cells), name).tolist()
    )
    mistakes = st.sampled_from([0, 1, 5, -3, 10, 400, 10**4, -(10**12)])
    changed = data.draw(st.lists(mistakes, min_size=rows.size, max_size=rows.size))
    written = codes + np.array(changed)
    found = np.zeros_like(rows), np.zeros_like(rows)
    bad = decode_mesh_codes(written, mesh._stages(level), *found)
    plain_rows, plain_columns, plain_bad = mesh._cells_of_codes(written, level)
    assert plain_bad == bad
    until = rows.size if bad < 0 else bad
    assert plain_rows[:until].tolist() == found[0][:until].tolist()
    assert plain_columns[:until].tolist() == found[1][:until].tolist()


def cells_of(cells: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [row for row, _ in cells], [column for _, column in cells]


def test_many_codes_are_made_by_the_kernels_and_few_without() -> None:
    from sudare.domain.mesh import MAX_PLAIN

    for size in (MAX_PLAIN, MAX_PLAIN + 1):
        rows = 30_000 + np.arange(size)
        codes = mesh_codes(rows, rows[::-1], "1/8")
        again = mesh_cells(codes, "1/8")
        assert again[0].tolist() == rows.tolist()
        assert again[1].tolist() == rows[::-1].tolist()
        codes[size // 2] += 9 - codes[size // 2] % 10  # a last digit that is none
        with pytest.raises(ParameterError, match=f"at position {size // 2}"):
            mesh_cells(codes, "1/8")
