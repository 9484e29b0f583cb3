"""Files of spreadsheets and maps: what is said wherever somebody hands one in."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.engines.opening import open_engine
from sudare.errors import DatabaseError, InputError
from sudare.io import Source, describe_source
from sudare.microdata.records import read_people
from sudare.storage.foreign_files import how_to_read


@pytest.mark.parametrize("name", ["people.XLS", "people.ods"])
def test_a_spreadsheet_is_saved_as_csv(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"PK\x03\x04")
    for read in (lambda: describe_source(Source(str(file))), lambda: read_people(file)):
        with pytest.raises(InputError) as told:
            read()
        assert "CSV UTF-8" in told.value.english
        assert "people.csv" in told.value.english
        assert "CSV UTF-8（コンマ区切り）" in told.value.japanese
    with pytest.raises(DatabaseError, match="CSV UTF-8"):
        open_engine(str(file))


@pytest.mark.parametrize("name", ["people.shp", "people.geojson"])
def test_a_map_is_exported_as_csv(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(b"SQLite format 3")
    command = f"ogr2ogr -f CSV people.csv {name} -t_srs EPSG:4326 -lco GEOMETRY=AS_XY"
    for read in (lambda: describe_source(Source(str(file))), lambda: read_people(file)):
        with pytest.raises(InputError) as told:
            read()
        for said in (told.value.english, told.value.japanese):
            assert f"\n\n{command}\n\n" in said
            assert '"Y,X"' in said


@pytest.mark.parametrize("name", ["people.csv", "people.parquet", "people", "people.tif", "people.csv.gz"])
def test_other_files_are_none_of_this(name: str) -> None:
    assert how_to_read(name) is None
