"""Mesh statistics as e-Stat hands them out."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from benchmarks.estat_files import write_estat_folder

from sudare.domain import Category, CountTable, Domain, Mesh
from sudare.errors import InputError, ParameterError
from sudare.io import Source, describe_source, read_counts

MESH = Mesh("KEY_CODE", "1/2", first_row=8560, first_column=6360, rows=80, columns=80)
DOMAIN = Domain((MESH,))
CODES = MESH.values((np.arange(4), np.arange(4))).tolist()
HEADER = "KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,T001141001,T001141002,T001141007"
LABELS = ",,,,人口（総数）,人口（総数）　男,１５歳以上人口　総数"
ROWS = [
    f"{CODES[0]},0,,,52,29,51",
    f"{CODES[1]},2,{CODES[2]},,3,2,*",
    f"{CODES[2]},1,,{CODES[1]},424242,10,20",
]


def text(rows: list[str], header: str = HEADER, labels: str = LABELS, end: str = "\r\n") -> bytes:
    return end.join([header, labels, *rows, ""]).encode("cp932")


def written(folder: Path, content: bytes, name: str = "tblT001141H5339.txt") -> str:
    path = folder / name
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{path.stem}.txt", content)
    else:
        path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("name", ["tblT001141H5339.txt", "tblT001141H5339.zip", "saved.csv"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_population_comes_first(name: str, end: str, tmp_path: Path) -> None:
    source = Source(written(tmp_path, text(ROWS, end=end), name))
    assert describe_source(source).format == "e-stat"
    assert describe_source(source).columns[:5] == ("KEY_CODE", "HTKSYORI", "HTKSAKI", "GASSAN", "T001141001")
    table = read_counts(source, DOMAIN)
    assert table == CountTable.from_cells(DOMAIN, DOMAIN.keys_of({"KEY_CODE": CODES[:3]}), [52, 3, 424242])


@pytest.mark.parametrize("count", ["T001141007", "１５歳以上人口　総数"])
def test_suppressed_values_are_counted_where_they_were_merged(count: str, tmp_path: Path) -> None:
    table = read_counts(Source(written(tmp_path, text(ROWS)), count=count), DOMAIN)
    assert table == CountTable.from_cells(DOMAIN, DOMAIN.keys_of({"KEY_CODE": [CODES[0], CODES[2]]}), [51, 20])


def test_an_attribute_of_another_name(tmp_path: Path) -> None:
    renamed = Domain((Mesh("mesh", "1/2", 8560, 6360, 80, 80),))
    assert read_counts(Source(written(tmp_path, text(ROWS))), renamed).total == 52 + 3 + 424242


def test_a_file_without_labels_or_rows(tmp_path: Path) -> None:
    plain = "\r\n".join([HEADER, *ROWS]).encode()
    assert read_counts(Source(written(tmp_path, plain)), DOMAIN).total == 52 + 3 + 424242
    assert read_counts(Source(written(tmp_path, text([]))), DOMAIN).total == 0
    saved_as_utf8 = text(ROWS).decode("cp932").encode("utf-8-sig")
    assert read_counts(Source(written(tmp_path, saved_as_utf8), count="人口（総数）"), DOMAIN).total == 52 + 3 + 424242


def test_a_folder_in_any_order(tmp_path: Path) -> None:
    for number, row in enumerate(reversed(ROWS)):
        written(tmp_path, text([row]), f"tblT001141H{number}.zip")
    reports: list[float] = []
    whole = read_counts(Source(str(tmp_path)), DOMAIN, progress=lambda share, _: reports.append(share))
    assert whole == read_counts(Source(written(tmp_path, text(ROWS))), DOMAIN)
    assert reports[-1] == 1.0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            text([*ROWS, f"{CODES[3]},0,,,5,2,*"]),
            r"'T001141007' has a \* in 'tblT001141H5339.txt', row 6, but HTKSYORI",
        ),
        (text([*ROWS, f"{CODES[3]},7,,,5,2,5"]), "'HTKSYORI' has '7' in 'tblT001141H5339.txt', row 6"),
        (text([*ROWS, f"{CODES[3]},0,,,5,2,"]), "'T001141007' has an empty field in 'tblT001141H5339.txt', row 6"),
        (text([*ROWS, f"{CODES[3]},0,,,5,2,-5"]), "'T001141007' must hold whole numbers from 0 on.*row 6"),
        (text([*ROWS, f"{CODES[3]},0,,,5,2,5.5"]), "'T001141007' must hold whole numbers from 0 on.*row 6"),
        (text([*ROWS, f"{CODES[3]},0,,,5,2"]), "row 6: the row does not have as many fields"),
        (text([*ROWS, "x,0,,,5,2,5"]), "'KEY_CODE' has 'x' in .*row 6"),
        (text([*ROWS, "53394,0,,,5,2,5"]), "'KEY_CODE' has 53394 in .*row 6.*codes of 9 digits"),
        (text([*ROWS, "644142773,0,,,5,2,5"]), "'KEY_CODE' has 644142773 in .*row 6.*of the window"),
        (text([*ROWS, ROWS[0]]), f"Several rows hold a count for KEY_CODE = {CODES[0]}"),
        (text(ROWS, header="KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,a,b,c"), "no column 'T001141007'"),
        (b"", "is empty"),
        (HEADER.encode() + b"\r\n," + b"\x81\xff" * 9 + b"\r\n", "not text in the encoding 'cp932'"),
    ],
)
def test_mistakes(content: bytes, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError, match=message) as caught:
        read_counts(Source(path, format="e-stat", count="T001141007"), DOMAIN)
    assert "424242" not in caught.value.explain("en") + caught.value.explain("ja")


def test_meshes_outside_of_the_window_can_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, text([*ROWS, "644142773,0,,,5,2,5"]))
    kept = read_counts(Source(path, outside="leave out"), DOMAIN)
    assert kept.total == 52 + 3 + 424242
    path = written(tmp_path, text([*ROWS, "644142779,0,,,5,2,5"]))
    with pytest.raises(InputError, match=r"'KEY_CODE' has 644142779 in .*row 6.*each further digit from 1 to 4"):
        read_counts(Source(path, outside="leave out"), DOMAIN)


@pytest.mark.parametrize("keep", [10, 60, -30])
def test_a_zip_that_is_cut_off(keep: int, tmp_path: Path) -> None:
    path = Path(written(tmp_path, text(ROWS), "tblT001141H5339.zip"))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"'tblT001141H5339.zip' is not a whole zip file"):
        read_counts(Source(str(path)), DOMAIN)


def test_only_meshes_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, text(ROWS))
    with pytest.raises(InputError, match="one attribute, a mesh"):
        read_counts(Source(path), Domain((MESH, Category("sex", ("f", "m")))))
    with pytest.raises(InputError, match="where"):
        read_counts(Source(path, where={"year": 2020}), DOMAIN)
    with pytest.raises(ParameterError, match="hold counts"):
        read_counts(Source(path, person="id"), DOMAIN)


@pytest.mark.parametrize("per_primary_mesh", [True, False])
def test_an_invented_country_comes_back(per_primary_mesh: bool, tmp_path: Path) -> None:
    window = Mesh("KEY_CODE", "1/2", first_row=8300, first_column=6060, rows=400, columns=400)
    domain = Domain((window,))
    keys = np.arange(0, domain.cells, 37)
    table = CountTable.from_cells(domain, keys, keys % 5000 + 1)
    files = write_estat_folder(table, tmp_path, per_primary_mesh=per_primary_mesh)
    assert len(files) == (16 if per_primary_mesh else 1)
    assert read_counts(Source(str(tmp_path)), domain) == table


def census() -> Path:
    default = Path(__file__).parents[5] / "shared" / "data"
    path = Path(os.environ.get("SUDARE_DATA", default)) / "japan_mesh500m_2020" / "full.parquet"
    if not path.exists():
        pytest.skip("needs japan_mesh500m_2020 below SUDARE_DATA (or ../shared/data)")
    return path


@pytest.mark.deep
def test_the_census_of_the_whole_country(tmp_path: Path) -> None:
    path = census()
    assert len(write_estat_folder(path, tmp_path)) == 151
    data = pyarrow.parquet.read_table(path, columns=["mesh_code", "T001141007"])
    domain = Domain((Mesh.covering("KEY_CODE", data["mesh_code"].to_numpy(), "1/2"),))
    assert read_counts(Source(str(tmp_path)), domain).total == 126_146_099
    adults = read_counts(Source(str(tmp_path), count="T001141007"), domain)
    assert adults.total == sum(value for value in data["T001141007"].to_pylist() if value is not None)


def older(rows: list[str], encoding: str = "cp932", *, labels: bool = True) -> bytes:
    """A table of 2010: mesh code and numbers alone, no columns on suppression."""
    header = "KEY_CODE,T000609001,T000609002,T000609003,T000609034"
    lines = [header, *([",人口総数,人口総数　男,人口総数　女,世帯総数"] if labels else []), *rows, ""]
    return "\r\n".join(lines).encode(encoding)


OLDER_ROWS = [f"{CODES[0]},52,29,23,20", f"{CODES[1]},3,2,1,1"]


@pytest.mark.parametrize("encoding", ["cp932", "utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("name", ["tblT000609H5339.txt", "tblT000609H5339.ZIP", "tblT000609H5339.TXT"])
@pytest.mark.parametrize("labels", [True, False])
def test_tables_of_2010(encoding: str, name: str, labels: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    content = older(OLDER_ROWS, encoding, labels=labels)
    if name.endswith("ZIP"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("tblT000609H5339.TXT", content)
            archive.writestr("T000609.pdf", b"%PDF-1.4")
    else:
        path.write_bytes(content)
    source = Source(str(path))
    assert describe_source(source).format == "e-stat"
    table = read_counts(source, DOMAIN)
    assert table == CountTable.from_cells(DOMAIN, DOMAIN.keys_of({"KEY_CODE": CODES[:2]}), [52, 3])
    assert read_counts(Source(str(path), count="T000609034"), DOMAIN).total == 21
    if labels:
        assert read_counts(Source(str(path), count="人口総数　男"), DOMAIN).total == 31


def test_tables_of_2010_with_one_column_are_known(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"KEY_CODE,T000608001\n{CODES[0]},7\n")
    assert describe_source(Source(str(path))).format == "e-stat"
    path.write_text(f"KEY_CODE,population\n{CODES[0]},7\n")
    assert describe_source(Source(str(path))).format == "csv"


def test_a_star_without_marks_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, older([*OLDER_ROWS, f"{CODES[2]},424242,*,*,1"]))
    assert read_counts(Source(path), DOMAIN).total == 52 + 3 + 424242
    with pytest.raises(InputError, match=r"'T000609002' has a \* in .*row 5, and no column HTKSYORI") as caught:
        read_counts(Source(path, count="T000609002"), DOMAIN)
    assert "424242" not in caught.value.explain("en") + caught.value.explain("ja")


def test_several_zips_of_two_generations_of_spelling(tmp_path: Path) -> None:
    """One folder with zips, each with a note beside the text, in two encodings."""
    for number, (row, encoding) in enumerate(zip(OLDER_ROWS, ("cp932", "utf-8"), strict=True)):
        with zipfile.ZipFile(tmp_path / f"tblT000609H{number}.zip", "w") as archive:
            archive.writestr(f"tblT000609H{number}.txt", older([row], encoding))
            archive.writestr("README.txt", "説明".encode("cp932"))
    assert read_counts(Source(str(tmp_path), count="人口総数　女"), DOMAIN).total == 24


SEX = Category("sex", ("male", "female"))


@pytest.mark.parametrize("order", [(MESH, SEX), (SEX, MESH)])
@pytest.mark.parametrize("names", [("T001141002", "T001141003"), ("人口（総数）　男", "人口（総数）　女")])
def test_male_and_female_as_one_attribute(
    order: tuple[Mesh | Category, ...], names: tuple[str, str], tmp_path: Path
) -> None:
    header = "KEY_CODE,HTKSYORI,HTKSAKI,GASSAN,T001141001,T001141002,T001141003"
    labels = ",,,,人口（総数）,人口（総数）　男,人口（総数）　女"
    rows = [f"{CODES[0]},0,,,52,29,23", f"{CODES[1]},2,{CODES[2]},,3,*,1", f"{CODES[2]},1,,{CODES[1]},9,4,5"]
    path = written(tmp_path, text(rows, header, labels))
    domain = Domain(order)
    columns = {"sex": dict(zip(SEX.labels, names, strict=True))}
    table = read_counts(Source(path, rows="counts", columns=columns), domain)
    cells = {(code, sex): count for code, sex, count in zip(*table.to_columns().values(), strict=True)}
    if order[0] is SEX:
        cells = {(code, sex): count for (sex, code), count in cells.items()}
    assert cells == {
        (CODES[0], "male"): 29,
        (CODES[0], "female"): 23,
        (CODES[1], "female"): 1,
        (CODES[2], "male"): 4,
        (CODES[2], "female"): 5,
    }


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sex": {"male": "T001141002"}}, "no column of counts for 'female' of 'sex'"),
        (
            {"sex": {"mal": "T001141002", "female": "T001141001"}},
            "'mal', which is no value of 'sex'. Did you mean 'male'",
        ),
        ({"sex": {"male": "T001141002", "female": "T001141099"}}, "no column 'T001141099'"),
        ({"age": {"male": "T001141002"}}, "such as columns = { sex"),
        ({}, "such as columns = { sex"),
    ],
)
def test_columns_of_counts_that_do_not_fit(columns: dict[str, dict[str, str]], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text(ROWS))
    with pytest.raises(InputError, match=message):
        read_counts(Source(path, rows="counts", columns=columns), Domain((MESH, SEX)))
