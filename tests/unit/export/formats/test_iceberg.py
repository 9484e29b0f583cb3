"""Tables of Iceberg: one snapshot, catalogues by name, places that are none, and the command."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from sudare.cli import main
from sudare.errors import OutputError
from sudare.export import lake_format_named
from sudare.releases.registry import run_plan
from sudare.storage.hashes import hash_of_file
from tests.contracts.test_lake_formats import rows_of
from tests.unit.releases.kinds.counts.offices import open_office

pytest.importorskip("pyiceberg", reason="pyiceberg is not installed (extra lake)")
pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed (extra lake)")


def test_each_release_is_one_snapshot(tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    iceberg, place = lake_format_named("iceberg"), tmp_path / "lake" / "census.people"
    done = [iceberg.commit(rows_of(name), str(place)) for name in ("first", "second", "third")]
    file = f"sqlite:///{place.parent / 'catalog.db'}"
    with closing(SqlCatalog("sudare", uri=file, warehouse=str(place.parent))) as catalog:
        table = catalog.load_table("census.people")
        told = [(one.snapshot_id, one.summary["sudare.release"]) for one in table.snapshots() if one.summary]
        assert told == [(one.version, one.release) for one in done]
        for one in done:  # every version can be read
            read = table.scan(snapshot_id=one.version).to_arrow().column("release")
            assert Counter(read.to_pylist()) == {one.release: 12}
        filtered = table.scan(row_filter="count >= 2 and release = 'third'").to_arrow()  # by the statistics of files
        assert filtered.num_rows == 6


def test_a_partitioned_table_is_refused(tmp_path: Path) -> None:
    from pyiceberg.catalog.sql import SqlCatalog

    file = f"sqlite:///{tmp_path / 'catalog.db'}"
    with closing(SqlCatalog("sudare", uri=file, warehouse=str(tmp_path))) as catalog:
        catalog.create_namespace("census")
        table = catalog.create_table("census.people", rows_of("first").schema)
        with table.update_spec() as update:
            update.add_identity("release")
        with pytest.raises(OutputError, match="partitioned"):
            lake_format_named("iceberg").commit(rows_of("first"), str(tmp_path / "census.people"))
        assert catalog.load_table("census.people").snapshots() == []


def test_a_catalogue_of_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyiceberg import catalog as catalogs
    from pyiceberg.utils.config import Config

    settings = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path / 'mine.db'}", "WAREHOUSE": str(tmp_path / "files")}
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__OFFICE__{name}", value)
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", Config())
    iceberg = lake_format_named("iceberg")
    assert iceberg.commit(rows_of("first"), "office:census.people").is_new
    assert not iceberg.commit(rows_of("first"), "office:census.people").is_new
    with closing(catalogs.load_catalog("office")) as catalog:
        assert catalog.load_table("census.people").scan().to_arrow().num_rows == 12
    with pytest.raises(OutputError, match="did not finish"):
        iceberg.commit(rows_of("first"), "nowhere:census.people")


@pytest.mark.parametrize("place", ["people", "lake/people", "s3://lake/census.people", ".people", "lake/people."])
def test_a_place_that_is_none(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=r"NAMESPACE\.TABLE"):
        lake_format_named("iceberg").commit(rows_of("first"), place)
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_what_it_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_office(tmp_path)
    run_plan(tmp_path / "plan.toml")
    monkeypatch.chdir(tmp_path)
    command = ["export", "iceberg", "release", "--out", "lake/census.people", "--json"]
    for is_new in (True, False):
        assert main(command) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["release"] == hash_of_file(tmp_path / "release" / "release.json")
        assert (said["is_new"], said["version"]) == (is_new, said["latest"])
    assert main(["export", "iceberg", "release", "--lang", "en"]) == 2
    assert "--out lake/census.people" in " ".join(capsys.readouterr().err.split())
