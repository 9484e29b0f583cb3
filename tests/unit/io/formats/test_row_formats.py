"""Excel workbooks and GeoPackages: the same rows as in a CSV file give the same tables; what is none is refused."""

from __future__ import annotations

import datetime
import sqlite3
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from sudare import Domain, Mesh
from sudare.domain import Bins, Category
from sudare.errors import InputError, MissingPackageError
from sudare.io import Source, read_counts, read_records
from sudare.io.formats import geopackages, workbooks
from sudare.io.formats.row_formats import ROW_FORMATS
from sudare.io.headers import names_of_columns, require_columns, require_columns_of_domain

DOMAIN = Domain((Category("sex", ("f", "m")), Bins("age", (0, 20, 65, 120))))
NAMES = ("id", "sex", "age", "note")
PEOPLE: list[tuple[object, ...]] = [
    (1, "f", 34, "a, b"),
    (2, "m", 71.0, None),
    (3, "f", 12, 'quote " and 日本'),
    (3, "f", 12, ""),
]
CSV = 'id,sex,age,note\n1,f,34,"a, b"\n2,m,71,\n3,f,12,"quote "" and 日本"\n3,f,12,\n'


def write_workbook(path: Path, rows: Sequence[tuple[object, ...]], names: tuple[object, ...] = NAMES) -> Path:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (names, *rows):
        sheet.append(row)
    book.create_sheet("another").append(["nothing", "of", "this"])
    book.save(path)
    return path


def point(longitude: float, latitude: float, *, envelope: bool = False, order: str = "<") -> bytes:
    """A point as a GeoPackage has it."""
    head = b"GP\x00" + bytes([(2 if envelope else 0) | (order == "<")]) + struct.pack(f"{order}i", 6668)
    box = struct.pack(f"{order}4d", longitude, longitude, latitude, latitude) if envelope else b""
    return head + box + bytes([order == "<"]) + struct.pack(f"{order}Idd", 1, longitude, latitude)


def write_geopackage(
    path: Path,
    rows: Sequence[tuple[object, ...]],
    names: tuple[str, ...] = NAMES,
    geometries: Sequence[bytes | None] | None = None,
    reference: int = 6668,
) -> Path:
    database = sqlite3.connect(path)
    geometry = "" if geometries is None else ", geom BLOB"
    database.executescript(
        "CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);"
        "CREATE TABLE gpkg_spatial_ref_sys (srs_id INTEGER, organization_coordsys_id INTEGER);"
        "CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER);"
        "INSERT INTO gpkg_contents VALUES ('the \"people\"', 'features');"
    )
    database.execute(f'CREATE TABLE "the ""people""" ({", ".join(names)}{geometry})')
    database.execute("INSERT INTO gpkg_spatial_ref_sys VALUES (7, ?)", (reference,))
    if geometries is not None:
        database.execute("INSERT INTO gpkg_geometry_columns VALUES ('the \"people\"', 'geom', 7)")
        rows = [(*row, blob) for row, blob in zip(rows, geometries, strict=True)]
    marks = ", ".join("?" for _ in (*names, *([] if geometries is None else ["geom"])))
    database.executemany(f'INSERT INTO "the ""people""" VALUES ({marks})', rows)  # noqa: S608
    database.commit()
    database.close()
    return path


WRITERS: dict[str, Callable[[Path, Sequence[tuple[object, ...]]], Path]] = {
    "xlsx": write_workbook,
    "gpkg": write_geopackage,
}


@pytest.fixture(params=ROW_FORMATS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_format_is_tried() -> None:
    assert set(WRITERS) == set(ROW_FORMATS)


def test_the_same_rows_give_the_same_table(form: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    file = WRITERS[form](tmp_path / f"people.{form}", PEOPLE)
    expected = read_counts(Source(str(tmp_path / "people.csv")), DOMAIN)
    found = read_counts(Source(str(file)), DOMAIN)
    assert found.to_dense().tolist() == expected.to_dense().tolist() == [[2, 1, 0], [0, 0, 1]]
    bounded = read_counts(Source(str(file), person="id"), DOMAIN)
    assert bounded.total == 3, "a person twice counts once"


def test_records_are_those_of_the_same_text(form: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    file = WRITERS[form](tmp_path / f"people.{form}", PEOPLE)
    expected = read_records(tmp_path / "people.csv", NAMES[:3])
    found = read_records(file, NAMES[:3])
    assert {name: column.tolist() for name, column in found.items()} == {
        name: column.tolist() for name, column in expected.items()
    }
    assert found["age"].tolist() == [34, 71, 12, 12]


def test_columns_are_told_without_rows(form: str, tmp_path: Path) -> None:
    file = WRITERS[form](tmp_path / f"people.{form}", PEOPLE)
    source = Source(str(file))
    assert names_of_columns(source) == NAMES
    assert require_columns(source, ["sex"]) == NAMES
    require_columns_of_domain(source, DOMAIN)
    with pytest.raises(InputError, match="income"):
        require_columns(source, ["income"])
    with pytest.raises(InputError, match="income"):
        require_columns_of_domain(source, Domain((Category("income", ("low", "high")),)))


def test_a_value_outside_of_the_domain_is_told_with_its_row(form: str, tmp_path: Path) -> None:
    file = WRITERS[form](tmp_path / f"people.{form}", [*PEOPLE, (4, "x", 1, "")])
    with pytest.raises(InputError, match="row " + {"xlsx": "6", "gpkg": "5"}[form]):
        read_counts(Source(str(file)), DOMAIN)


@pytest.mark.parametrize("damage", ["cut", "text", "empty"])
def test_what_is_no_such_file_is_refused(form: str, damage: str, tmp_path: Path) -> None:
    file = WRITERS[form](tmp_path / f"people.{form}", PEOPLE * 50)
    whole = file.read_bytes()
    file.write_bytes({"cut": whole[: len(whole) // 2], "text": b"id,sex\n1,f\n", "empty": b""}[damage])
    with pytest.raises(InputError, match="not a whole") as told:
        read_counts(Source(str(file)), DOMAIN)
    assert "完全" in told.value.japanese


def test_nobody_is_in_a_file_without_rows(form: str, tmp_path: Path) -> None:
    file = WRITERS[form](tmp_path / f"people.{form}", [])
    assert read_counts(Source(str(file)), DOMAIN).total == 0


class TestWorkbooks:
    def test_days_moments_and_truth(self, tmp_path: Path) -> None:
        moment = datetime.datetime(2026, 11, 16, 8, 10)
        rows: Sequence[tuple[object, ...]] = [(datetime.date(2026, 11, 16), moment, True, 0.25, 10**15)]
        file = write_workbook(tmp_path / "a.xlsx", rows, ("day", "at", "yes", "share", "large"))
        assert list(workbooks.rows_of_workbook(str(file), ["large", "day", "at", "yes", "share"])) == [
            ("1000000000000000", "2026-11-16", "2026-11-16 08:10:00", "true", "0.25")
        ]

    def test_rows_without_values_are_none(self, tmp_path: Path) -> None:
        file = write_workbook(tmp_path / "a.xlsx", [*PEOPLE, (None,) * 4, (None,) * 4])
        assert read_counts(Source(str(file)), DOMAIN).total == 4

    def test_a_first_row_without_names_is_told(self, tmp_path: Path) -> None:
        file = write_workbook(tmp_path / "a.xlsx", PEOPLE, (None, None))
        with pytest.raises(InputError, match="first row"):
            read_counts(Source(str(file)), DOMAIN)

    def test_what_unpacks_to_more_than_any_sheet_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "bomb.xlsx"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("xl/worksheets/sheet1.xml", bytes(1 << 20))
        monkeypatch.setattr(workbooks, "MAX_UNPACKED", 1 << 19)
        with pytest.raises(InputError, match="2 GB"):
            read_counts(Source(str(file)), DOMAIN)

    def test_the_package_is_named_where_it_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import sys

        file = write_workbook(tmp_path / "a.xlsx", PEOPLE)
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(MissingPackageError, match=r"sudare\[exchange\]"):
            read_counts(Source(str(file)), DOMAIN)


class TestGeopackages:
    PLACE = (139.7531, 35.6859)

    def test_points_become_meshes(self, tmp_path: Path) -> None:
        domain = Domain((Mesh.covering("mesh", ["5339"], "1"),))
        blobs = [point(*self.PLACE), point(*self.PLACE, envelope=True), point(*self.PLACE, order=">")]
        file = write_geopackage(tmp_path / "a.gpkg", PEOPLE[:3], NAMES, blobs)
        assert geopackages.geopackage_columns(str(file)) == (*NAMES, "X", "Y")
        table = read_counts(Source(str(file), columns={"mesh": "Y,X"}), domain)
        assert table.total == 3

    def test_geometries_that_are_no_points_have_no_place(self, tmp_path: Path) -> None:
        blobs = [None, b"GP", point(float("nan"), 1.0), b"GP\x00\x01" + bytes(40)]
        file = write_geopackage(tmp_path / "a.gpkg", PEOPLE, NAMES, blobs)
        assert list(geopackages.rows_of_geopackage(str(file), ["X", "Y"])) == [(None, None)] * 4

    def test_metres_are_no_degrees(self, tmp_path: Path) -> None:
        file = write_geopackage(tmp_path / "a.gpkg", PEOPLE[:1], NAMES, [point(1.0, 2.0)], reference=2451)
        assert geopackages.geopackage_columns(str(file)) == NAMES

    def test_own_columns_of_these_names_win(self, tmp_path: Path) -> None:
        file = write_geopackage(tmp_path / "a.gpkg", [(1, 2)], ("x", "id"), [point(1.0, 2.0)])
        assert geopackages.geopackage_columns(str(file)) == ("x", "id")

    def test_several_layers_are_told(self, tmp_path: Path) -> None:
        file = write_geopackage(tmp_path / "a.gpkg", PEOPLE)
        with sqlite3.connect(file) as database:
            database.execute("INSERT INTO gpkg_contents VALUES ('roads', 'features')")
        database.close()
        with pytest.raises(InputError, match=r"2 layers.*roads"):
            read_counts(Source(str(file)), DOMAIN)

    def test_the_file_stays_as_it_is(self, tmp_path: Path) -> None:
        file = write_geopackage(tmp_path / "a.gpkg", PEOPLE)
        before = file.read_bytes()
        file.chmod(0o444)
        assert read_counts(Source(str(file)), DOMAIN).total == 4
        assert file.read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == ["a.gpkg"]


def test_a_plan_is_drafted_from_a_workbook(tmp_path: Path) -> None:
    from sudare.drafting.columns import look_at_columns

    file = write_workbook(tmp_path / "people.xlsx", PEOPLE)
    seen = look_at_columns(Source(str(file)))
    assert [column.name for column in seen.columns] == list(NAMES)
