"""The open data on flows of people: one row for each mesh, year, month, kind of day and time of day."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from sudare.domain import Category, Domain, Mesh
from sudare.errors import InputError
from sudare.io import Source, describe_source, read_counts

MESH = Mesh("mesh", "3", 4280, 3180, 10, 10)
CODES = [53394600, 53394611]
HEADER = "mesh1kmid,prefcode,citycode,year,month,dayflag,timezone,population\n"
ROWS = "".join(
    f"{code},13,13101,2019,{month:02d},{day},{time},{100 * month + 10 * day + time + number}\n"
    for number, code in enumerate(CODES)
    for month in (1, 2)
    for day in (0, 1)
    for time in (0, 1)
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "monthly_mdp_mesh1km.csv"
    file.write_text(HEADER + ROWS)
    return str(file)


def test_one_month_day_and_time(path: str) -> None:
    source = Source(path, where={"year": 2019, "month": 2, "dayflag": 1, "timezone": 0})
    assert describe_source(source).format == "people-flow"
    table = read_counts(source, Domain((MESH,)))
    assert dict(zip(table.keys.tolist(), table.counts.tolist(), strict=True)) == {0: 210, 11: 211}


def test_times_of_day_as_an_attribute(path: str) -> None:
    source = Source(path, where={"month": "02", "dayflag": 1})
    table = read_counts(source, Domain((MESH, Category("timezone", (0, 1)))))
    assert table.counts.tolist() == [210, 211, 211, 212]


def test_what_separates_the_rows_is_told(path: str) -> None:
    with pytest.raises(InputError, match="once for each year, dayflag, timezone: choose one value of each with where"):
        read_counts(Source(path, where={"month": 2}), Domain((MESH,)))


def test_as_it_is_downloaded(path: str, tmp_path: Path) -> None:
    packed = tmp_path / "packed" / "monthly_mdp_mesh1km.csv.zip"
    packed.parent.mkdir()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(path, "monthly_mdp_mesh1km.csv")
    where = {"month": 1, "dayflag": 0, "timezone": 0}
    domain = Domain((MESH,))
    assert read_counts(Source(str(packed), where=where), domain) == read_counts(Source(path, where=where), domain)
