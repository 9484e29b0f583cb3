"""What every exported format keeps, a new one included: the same numbers, the same words, the guarantee, and nothing else."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import numpy as np
import pytest
import yaml

from sudare.bilingual import Words
from sudare.errors import InputError, MissingPackageError, OutputError, ParameterError
from sudare.export import export_format_named, export_format_names, export_release, exporting, registry
from sudare.export.description import ErrorOfSums, Fact, PublicationHead, PublishedCube, SpanningDimension
from sudare.export.formats.excel import MAX_ROWS
from sudare.releases.documents import describe_file
from sudare.releases.registry import run_plan
from tests.contracts.export_readers import READERS, ReadBack, px_text
from tests.contracts.toy_export import HOME, read_tabs
from tests.unit.releases.kinds.counts.offices import PLAN, open_office
from tests.unit.releases.kinds.tables.firms import WHOLE, build_firms

TITLE = '人口 "第1表" と\n  空白;=1+1'
PUBLISHER = "O'Brien & <Söhne>, 東京"
LABELS = (
    '女"性',
    "=SUM(A1)",
    "a; b, c",
    "男 性",
    "line\nend",
    "=cmd|' /C calc'!A0",
    "_x0041_",
    '";Data=1;"',
    "'@NULL",
    "長" * 250,
)
ALL_READERS: Mapping[str, Callable[[Path], ReadBack]] = {**READERS, "tabs": read_tabs}
FORMATS = (*export_format_names(), "tabs")
OF_NUMBERS = tuple(name for name in FORMATS if name in ALL_READERS)
OF_TABLES = tuple(name for name in OF_NUMBERS if name != "gpkg")


@pytest.fixture(scope="module", autouse=True)
def toy() -> Iterator[None]:
    registry.register_export_format("tabs", HOME)
    yield
    del registry._HOMES["tabs"]


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map by a category with all kinds of letters, alone in its place: neither data nor a ledger is near."""
    office, place = tmp_path_factory.mktemp("office"), tmp_path_factory.mktemp("alone")
    category = (
        f'[[domain]]\nname = "性別 \\"x\\""\nkind = "category"\nlabels = {json.dumps(LABELS, ensure_ascii=False)}\n'
    )
    text = PLAN.replace('"People of a town"', json.dumps(TITLE, ensure_ascii=False))
    text = text.replace('"Town office"', json.dumps(PUBLISHER, ensure_ascii=False))
    text = text.replace("[budget]", category + "[budget]").replace(
        "window = [8560, 6400, 32, 32]", "window = [8560, 6400, 8, 8]"
    )
    text = text.replace('"people.parquet"', '"people.csv"').replace("[budget]", '[method]\nname = "laplace"\n[budget]')
    open_office(office, text=text)
    with (office / "people.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["KEY_CODE", '性別 "x"'])
        writer.writerows([534040001 + (one % 4), LABELS[one % 10]] for one in range(400))
    run_plan(office / "plan.toml")
    (office / "release").rename(place / "release")
    return place / "release"


@pytest.fixture(scope="module")
def firms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    office = tmp_path_factory.mktemp("firms")
    run_plan(build_firms(office, WHOLE + '\n[output]\nfolder = "out"\n'))
    return office / "out"


def build_records(folder: Path) -> None:
    """A folder of records with the parts of its document that say what is published."""
    folder.mkdir()
    (folder / "people.csv").write_bytes('age,町\n30-39,"東 ""a"""\n=1+1,西\n'.encode())
    words = {"english": "k-anonymity", "japanese": "k-匿名性"}
    document = {
        "format": "sudare-people/1",
        "title": "People",
        "publisher": "Office",
        "created": "2026-04-01T09:00:00Z",
        "files": [asdict(describe_file(folder / "people.csv"))],
        "versions": {"sudare": "0"},
        "published": {"rows": 2, "columns": ["age", "町"]},
        "steps": [{"protects": words}],
        "risks": {"before": {"secret": "for the holder"}},
    }
    (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")


def numbers_in(folder: Path) -> dict[tuple[str, ...], float | None]:
    """The published numbers as the CSV file has them, hidden cells as None."""
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    width = len(header) - (2 if header[-1] == "status" else 1)
    return {tuple(row[:width]): float(row[width]) if row[width] else None for row in rows}


def named(name: str, folder: Path, number: int = 0) -> Path:
    return folder / f"table{number}{export_format_named(name).suffix}"


def as_written(name: str, text: str) -> str:
    return px_text(text) if name == "px" else text


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_another_program_reads_the_same_numbers(name: str, counts: Path, tmp_path: Path) -> None:
    written = export_release(name, counts, out=named(name, tmp_path))
    read = ALL_READERS[name](written.file)
    expected = {tuple(as_written(name, one) for one in key): value for key, value in numbers_in(counts).items()}
    assert len(expected) > 10
    assert {key: value for key, value in read.numbers.items() if value != 0} == expected
    assert read.names == ("KEY_CODE", as_written(name, '性別 "x"'))
    for place in range(2):  # sums of rows and columns
        for side in {key[place] for key in expected}:
            assert sum(value or 0 for key, value in read.numbers.items() if key[place] == side) == sum(
                value or 0 for key, value in expected.items() if key[place] == side
            )


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_it_tells_title_guarantee_and_errors(name: str, counts: Path, tmp_path: Path) -> None:
    written = export_release(name, counts, out=named(name, tmp_path))
    told = ALL_READERS[name](written.file).text
    document = json.loads((counts / "release.json").read_text(encoding="utf-8"))
    (cell,) = (one for one in document["accuracy"]["errors"] if one["kind"] == "area" and one["side"] == 1)
    for part in ("ε = 1", f"{cell['rmse']:.3g}", f"{cell['low']:.3g}", f"{cell['high']:.3g}"):
        assert part in told, part
    title = TITLE.replace('"', "”").replace("\n", "#") if name == "px" else TITLE
    assert title in told


@pytest.mark.parametrize("name", OF_TABLES)
def test_hidden_cells_stay_hidden(name: str, firms: Path, tmp_path: Path) -> None:
    written = export_release(name, firms, out=named(name, tmp_path))
    read = ALL_READERS[name](written.file)
    expected = numbers_in(firms)
    assert None in expected.values()
    assert dict(read.numbers) == expected


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_but_listed_files_is_read(name: str, counts: Path, firms: Path, tmp_path: Path) -> None:
    """A folder with nothing else in it, in a place with nothing else, gives the same file."""
    folder = firms if name in OF_TABLES else counts
    listed = [one["name"] for one in json.loads((folder / "release.json").read_text(encoding="utf-8"))["files"]]
    bare = tmp_path / folder.name
    bare.mkdir()
    for file in ("release.json", *listed):
        shutil.copy(folder / file, bare / file)
    alone, before = (
        export_release(name, place, out=named(name, tmp_path, number)).file
        for number, place in enumerate((bare, folder))
    )
    if name in ("xlsx", "gpkg"):  # their containers have a time of their own
        one, other = (ALL_READERS[name](file) for file in (alone, before))
        assert one == other
    else:
        assert alone.read_bytes() == before.read_bytes()
    assert sorted(path.name for path in bare.iterdir()) == sorted(["release.json", *listed])


@pytest.mark.parametrize("name", FORMATS)
def test_it_appears_whole_or_not_at_all(
    name: str, counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = export_format_named(name)

    class Cut:
        suffix, words, require_room = real.suffix, real.words, real.require_room

        def write(self, publication: object, path: Path) -> None:
            path.write_bytes(b"half")
            raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "export_format_named", lambda _: Cut())
    with pytest.raises(KeyboardInterrupt):
        export_release(name, counts, out=named(name, tmp_path))
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    named(name, tmp_path).write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        export_release(name, counts, out=named(name, tmp_path))
    assert named(name, tmp_path).read_text() == "mine"


def test_a_changed_table_is_refused(counts: Path, tmp_path: Path) -> None:
    folder = tmp_path / "release"
    shutil.copytree(counts, folder)
    with (folder / "table.csv").open("a") as stream:
        stream.write("534040001,x,1\n")
    with pytest.raises(InputError, match="verify"):
        export_release("px", folder)
    (folder / "release.json").write_text('{"format": "sudare-release/1", "files": [{}]}', encoding="utf-8")
    with pytest.raises(InputError):
        export_release("px", folder)
    assert [one.name for one in tmp_path.iterdir()] == ["release"]


def test_a_release_folder_stays_as_it_is(counts: Path) -> None:
    with pytest.raises(OutputError, match="inside the release folder"):
        export_release("px", counts, out=counts / "table.px")
    with pytest.raises(ParameterError, match="one of sdmx"):
        export_release("pdf", counts)
    with pytest.raises(InputError, match="one table"):
        export_release("px", counts, table="b")


def test_the_usual_place_is_beside_the_folder(counts: Path) -> None:
    written = export_release("opendp-registry", counts)
    assert written.file == counts.resolve().with_name("release.yaml")
    written.file.unlink()


def head(**more: object) -> PublicationHead:
    values: dict[str, object] = {
        "name": "office",
        "title": "t",
        "publisher": "p",
        "description": "",
        "created": "2026-04-01T09:00:00Z",
        "language": "en",
        "guarantee": (Words("protected", "保護"),),
        "facts": (Fact("budget", Words("budget", "予算"), Words.same("ε = 1")),),
        "errors": (ErrorOfSums(Words("cells", "セル"), 1.5, 1.0, 2.0, 95, True),),
        "versions": {},
    }
    return PublicationHead(**{**values, **more})  # type: ignore[arg-type]


def plain_cube(*shape: int, values: list[int] | None = None) -> PublishedCube:
    """A table of plain dimensions: its first cells have these values."""
    numbers = np.array(values or [], dtype=np.int64)
    places = np.unravel_index(np.arange(numbers.size), shape)
    return PublishedCube(
        head=head(),
        dimensions=tuple(
            SpanningDimension(name=f"d{axis}", codes=tuple(map(str, range(size))), labels=tuple(map(str, range(size))))
            for axis, size in enumerate(shape)
        ),
        value_name="count",
        decimals=0,
        places=tuple(np.asarray(one, dtype=np.int64) for one in places),
        values=numbers,
        hidden=np.zeros(numbers.size, dtype=np.bool_),
    )


@pytest.mark.parametrize("name", OF_TABLES)
def test_large_and_negative_numbers_keep_all_digits(name: str, tmp_path: Path) -> None:
    cube = plain_cube(2, 3, values=[2**53 - 1, -7, 0, 10**12, 1, 0])
    export_format_named(name).write(cube, tmp_path / "table")
    read = ALL_READERS[name](tmp_path / "table")
    assert list(read.numbers.values()) == [2**53 - 1, -7, 0, 10**12, 1, 0]


@cache
def wide_cube() -> PublishedCube:
    return plain_cube(10_000, 10_000, values=[1] * MAX_ROWS)


@pytest.mark.parametrize("name", OF_TABLES)
def test_a_table_that_does_not_fit_is_refused(name: str) -> None:
    wide = wide_cube()
    with pytest.raises(OutputError) as caught:
        export_format_named(name).require_room(wide)
    assert caught.value.english != caught.value.japanese
    assert "100,000,000" in caught.value.japanese or f"{MAX_ROWS:,}" in caught.value.japanese
    export_format_named(name).require_room(plain_cube(10, 10))


def test_a_name_that_does_not_fit_is_refused() -> None:
    for name, most in (("px", 256), ("xlsx", 32_767)):
        for length in (most, most + 1):
            cube = plain_cube(1, 1)
            long = replace(cube, dimensions=(cube.dimensions[0], replace(cube.dimensions[1], labels=("x" * length,))))
            if length == most:
                export_format_named(name).require_room(long)
            else:
                with pytest.raises(OutputError, match=f"{most:,}"):
                    export_format_named(name).require_room(long)


def test_what_a_format_is_not_for_is_refused(firms: Path, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no mesh"):
        export_release("gpkg", firms, out=tmp_path / "a")
    with pytest.raises(OutputError, match="differential privacy"):
        export_release("opendp-registry", firms, out=tmp_path / "a")
    build_records(tmp_path / "out")
    with pytest.raises(OutputError, match="records"):
        export_release("px", tmp_path / "out")
    from python_calamine import CalamineWorkbook

    written = export_release("xlsx", tmp_path / "out", out=tmp_path / "people.xlsx")
    sheet = CalamineWorkbook.from_path(str(written.file)).get_sheet_by_index(1).to_python()
    with (tmp_path / "out" / "people.csv").open(encoding="utf-8", newline="") as stream:
        assert sheet == list(csv.reader(stream))
    assert b"for the holder" not in b"".join(map(ZipFile(written.file).read, ZipFile(written.file).namelist()))


def test_a_missing_package_is_named(counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match=r"sudare\[exchange\]"):
        export_release("xlsx", counts, out=tmp_path / "a.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_the_record_for_the_registry_is_of_its_form(counts: Path, tmp_path: Path) -> None:
    """Its sections, which of them must be there, and values that the registry lists."""
    written = export_release("opendp-registry", counts, out=tmp_path / "record.yaml")
    record = yaml.safe_load(written.file.read_text(encoding="utf-8"))
    assert set(record) == {"url_slug", "deployment"}
    said = record["deployment"]
    sections = {"basic", "dp_variant", "privacy_loss", "deployment_model", "implementation", "administrative"}
    assert set(said) == sections
    basic = said["basic"]
    assert {"name", "description", "intended_use", "data_product_region", "publication_date"} <= set(basic)
    assert (basic["name"], basic["data_curators"][0]["data_curator_name"]) == (TITLE, PUBLISHER)
    assert basic["data_curators"][0]["data_curator_type"] in ("Government", "Industry", "Nonprofit")
    assert basic["data_product_type"] == "Summary statistics"
    assert said["dp_variant"]["variant_name"] == "Pure DP"
    assert said["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert said["administrative"] == {"status": "Draft", "registry_authors": [PUBLISHER], "tier": 3}
    assert said["deployment_model"]["model_name"] == "Central"
    assert "fill it in" in written.file.read_text(encoding="utf-8")


def test_a_geopackage_has_its_marks_and_a_style(counts: Path, tmp_path: Path) -> None:
    written = export_release("gpkg", counts, out=tmp_path / "cells.gpkg")
    connection = sqlite3.connect(written.file)
    try:
        assert connection.execute("PRAGMA application_id").fetchone() == (0x47504B47,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        (style,) = connection.execute("SELECT styleQML FROM layer_styles WHERE useAsDefault").fetchone()
        counted = connection.execute("SELECT min(population), max(population) FROM cells").fetchone()
    finally:
        connection.close()
    renderer = ElementTree.fromstring(style).find("renderer-v2")  # noqa: S314 - it was written a moment ago
    assert renderer is not None
    assert renderer.get("attr") == '"population"'
    ranges = [(int(one.get("lower", "")), int(one.get("upper", ""))) for one in renderer.iter("range")]
    assert ranges[-1][1] == counted[1]
    assert ranges[0][0] <= counted[0]
    assert all(one[1] == other[0] for one, other in pairwise(ranges))


def test_the_polygons_are_those_of_the_meshes(counts: Path, tmp_path: Path) -> None:
    import pyogrio
    from jismesh.utils import to_meshpoint

    written = export_release("gpkg", counts, out=tmp_path / "cells.gpkg")
    about, _, shapes, columns = pyogrio.raw.read(written.file, layer="cells")
    assert about["crs"] == "EPSG:6668"
    for shape, code in list(zip(shapes, columns[0], strict=True))[:5]:
        corners = np.frombuffer(bytes(shape)[13:], dtype="<f8").reshape(5, 2)
        south, west = to_meshpoint(int(code), 0, 0)
        north, east = to_meshpoint(int(code), 1, 1)
        assert corners.min(axis=0) == pytest.approx([west, south], abs=1e-9)
        assert corners.max(axis=0) == pytest.approx([east, north], abs=1e-9)
