"""What every table in a lakehouse keeps: the release's rows, its identity in one commit, and the version before until then."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare.errors import InputError, MissingPackageError, OutputError, ParameterError
from sudare.export import commit_release, lake_format_named, lake_format_names
from sudare.export.lake_rows import LakeRows, one_file
from sudare.releases.registry import run_plan
from sudare.storage.hashes import hash_of_file
from tests.contracts.lake_readers import LAKE_READERS
from tests.unit.releases.kinds.counts.offices import open_office

PACKAGES = {"delta": "deltalake", "iceberg": "pyiceberg"}
FORMATS = lake_format_names()
SCHEMA = pa.schema([("release", pa.string()), ("count", pa.int64())])


@pytest.fixture(autouse=True)
def package(request: pytest.FixtureRequest) -> None:
    name = request.node.callspec.params["name"]
    pytest.importorskip(PACKAGES[name], reason=f"{PACKAGES[name]} is not installed (extra lake)")


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    office = tmp_path_factory.mktemp("office")
    open_office(office)
    run_plan(office / "plan.toml")
    run_plan(office / "plan.toml", folder=office / "second", again=True)
    return office / "release", office / "second"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A place that is good for every format, with letters that addresses escape."""
    return tmp_path / "lake 人口" / "census.people"


def state_of(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): hash_of_file(path) for path in folder.rglob("*") if path.is_file()}


def rows_of(release: str, number: int = 4, between: Callable[[], None] = lambda: None) -> LakeRows:
    """Three batches, and what happens between them."""

    def batches() -> Iterator[Any]:
        for batch in range(3):
            yield pa.record_batch([[release] * number, list(range(number))], schema=SCHEMA)
            if batch == 1:
                between()

    return LakeRows(release=release, table=None, title="t", publisher="p", created="c", schema=SCHEMA, batches=batches)


def table_of_others(name: str, place: Path, rows: pa.Table | None = None) -> None:
    """A table that somebody made with the package itself, or rows that they add to it."""
    if name == "delta":
        import deltalake

        if rows is None:
            deltalake.DeltaTable.create(str(place), deltalake.Schema.from_arrow(SCHEMA))
        else:
            deltalake.write_deltalake(str(place), rows, mode="append")
        return
    from pyiceberg.catalog.sql import SqlCatalog

    place.parent.mkdir(parents=True, exist_ok=True)
    file = f"sqlite:///{place.parent / 'catalog.db'}"
    with closing(SqlCatalog("sudare", uri=file, warehouse=str(place.parent))) as catalog:
        if rows is None:
            catalog.create_namespace("census")
            catalog.create_table(place.name, SCHEMA)
        else:
            catalog.load_table(place.name).append(rows)


def counted(name: str, place: Path) -> Counter[str]:
    return Counter(LAKE_READERS[name](place)[0].column("release").to_pylist())


@pytest.mark.parametrize("name", FORMATS)
def test_another_reader_finds_the_published_numbers(name: str, releases: tuple[Path, Path], place: Path) -> None:
    identities = []
    for number, folder in enumerate(releases):
        done = commit_release(name, folder, out=place)
        assert (done.is_new, done.version) == (True, done.latest)
        assert done.release == hash_of_file(folder / "release.json")
        identities.append(done.release)
        read, known = LAKE_READERS[name](place)
        published = pyarrow.parquet.read_table(folder / "table.parquet")
        assert read.column_names == published.column_names
        assert read.to_pylist() == published.to_pylist()
        assert read.num_rows > 100
        assert known == identities, number


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_release_again_changes_nothing(name: str, releases: tuple[Path, Path], place: Path) -> None:
    first = commit_release(name, releases[0], out=place)
    second = commit_release(name, releases[1], out=place)
    before = {key: value for key, value in state_of(place.parent).items() if not key.startswith("catalog.db-")}
    for folder, known in zip(releases, (first, second), strict=True):
        again = commit_release(name, folder, out=place)
        assert again == replace(known, latest=second.latest, is_new=False)
    assert state_of(place.parent) == before


@pytest.mark.parametrize("failure", [RuntimeError("disk"), OutputError("no", "いいえ")], ids=["package", "own"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_failing_export_leaves_the_version_before(name: str, place: Path, failure: Exception) -> None:
    lake = lake_format_named(name)

    def fail() -> None:
        raise failure

    for _ in range(2):  # where there is no table yet, and where there is one
        with pytest.raises(OutputError) as caught:
            lake.commit(rows_of("next", between=fail), str(place))
        assert caught.value.english != caught.value.japanese
        lake.commit(rows_of("first"), str(place))
        assert counted(name, place) == {"first": 12}
    assert lake.commit(rows_of("next"), str(place)).is_new
    assert counted(name, place) == {"next": 12}


KILLED = """
import os, signal, sys
from sudare.export import lake_format_named
from tests.contracts.test_lake_formats import rows_of
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
lake_format_named(sys.argv[1]).commit(rows_of("next", between=kill), sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_a_killed_export_leaves_the_version_before(name: str, place: Path) -> None:
    lake = lake_format_named(name)
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED, name, str(place)], check=False)
        assert killed.returncode == -signal.SIGKILL
        lake.commit(rows_of("first"), str(place))
        assert counted(name, place) == {"first": 12}
    assert lake.commit(rows_of("next"), str(place)).is_new
    assert counted(name, place) == {"next": 12}


@pytest.mark.parametrize("other", ["same", "other"])
@pytest.mark.parametrize("before", [None, -1, 0, 5], ids=["no table", "made by others", "no rows", "rows"])
@pytest.mark.parametrize("name", FORMATS)
def test_two_exports_at_once_are_never_mixed(name: str, before: int | None, other: str, place: Path) -> None:
    """An empty version is the hard one: a package that tries again finds nothing that it would have removed."""
    lake = lake_format_named(name)
    if before == -1:
        table_of_others(name, place)
    elif before is not None:
        lake.commit(rows_of("before", before), str(place))

    def meanwhile() -> None:
        thread = threading.Thread(target=lambda: lake.commit(rows_of(other), str(place)))
        thread.start()
        thread.join()

    with pytest.raises(OutputError, match="meanwhile"):
        lake.commit(rows_of("same", between=meanwhile), str(place))
    assert counted(name, place) == {other: 12}
    assert lake.commit(rows_of("same"), str(place)).is_new is (other == "other")
    assert counted(name, place) == {"same": 12}


@pytest.mark.parametrize("name", FORMATS)
def test_a_release_without_rows_empties_the_table(name: str, place: Path) -> None:
    """As where every cell is published as 0: its file may have no batch at all."""
    lake = lake_format_named(name)
    empty = replace(rows_of("empty"), batches=lambda: iter(()))
    for release, rows, known in ((empty, 0, False), (rows_of("first"), 12, False), (empty, 12, True)):
        done = lake.commit(release, str(place))
        assert (done.is_new, done.release) == (not known, release.release)
        assert rows_in(name, place) == rows
    again = replace(empty, release="empty again")
    assert lake.commit(again, str(place)).is_new
    assert not lake.commit(again, str(place)).is_new
    assert rows_in(name, place) == 0


def rows_in(name: str, place: Path) -> int:
    """By the packages: a table without files has no columns to read by hand."""
    if name == "delta":
        import deltalake

        table = deltalake.DeltaTable(str(place)).to_pyarrow_table()
    else:
        from pyiceberg.catalog.sql import SqlCatalog

        file = f"sqlite:///{place.parent / 'catalog.db'}"
        with closing(SqlCatalog("sudare", uri=file, warehouse=str(place.parent))) as catalog:
            table = catalog.load_table(place.name).scan().to_arrow()
    number: int = table.num_rows
    return number


@pytest.mark.parametrize("name", FORMATS)
def test_commits_of_others_are_no_hindrance(name: str, place: Path) -> None:
    lake = lake_format_named(name)
    table_of_others(name, place)
    first = lake.commit(rows_of("first"), str(place))
    table_of_others(name, place, pa.table({"release": ["others"], "count": [1]}, SCHEMA))
    assert counted(name, place) == {"first": 12, "others": 1}
    again = lake.commit(rows_of("first"), str(place))
    assert (again.is_new, again.version) == (False, first.version)
    assert again.latest != first.version
    lake.commit(rows_of("next"), str(place))
    assert counted(name, place) == {"next": 12}


@pytest.mark.parametrize("name", FORMATS)
def test_other_columns_are_refused(name: str, place: Path) -> None:
    lake = lake_format_named(name)
    lake.commit(rows_of("first"), str(place))
    before = state_of(place.parent)
    others = (
        pa.schema([("release", pa.string()), ("count", pa.float64())]),
        pa.schema([("place", pa.string()), ("count", pa.int64())]),
        pa.schema([("release", pa.string())]),
    )
    for schema in others:
        empty = replace(rows_of("next"), schema=schema, batches=lambda: iter(()))
        with pytest.raises(OutputError, match="other columns"):
            lake.commit(empty, str(place))
    assert state_of(place.parent) == before


@pytest.mark.parametrize("name", FORMATS)
def test_what_lies_there_already_is_left_alone(name: str, releases: tuple[Path, Path], tmp_path: Path) -> None:
    place = tmp_path / "census.people"
    folder = place if name == "delta" else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="no table of"):
        commit_release(name, releases[0], out=place)
    assert state_of(folder) == {"mine.txt": hash_of_file(folder / "mine.txt")}
    with pytest.raises(OutputError, match="inside the release folder"):
        commit_release(name, releases[0], out=releases[0] / "census.people")
    with pytest.raises(ParameterError, match="one of delta, iceberg"):
        commit_release("px", releases[0], out=place)


ADDRESS_LETTERS = {"delta": {"%20"}, "iceberg": {"%20", "?"}}
"""What a package reads as part of an address."""


@pytest.mark.parametrize("letter", ["%20", "?", "#", "+", ":", "'"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_path_is_taken_as_it_is_or_refused(name: str, letter: str, tmp_path: Path) -> None:
    lake, place = lake_format_named(name), tmp_path / f"a{letter}b" / "census.people"
    if letter in ADDRESS_LETTERS[name]:
        with pytest.raises(OutputError, match="part of an address"):
            lake.commit(rows_of("first"), str(place))
        assert list(tmp_path.iterdir()) == []
        return
    lake.commit(rows_of("first"), str(place))
    assert not lake.commit(rows_of("first"), str(place)).is_new
    assert counted(name, place) == {"first": 12}
    assert [path.name for path in tmp_path.iterdir()] == [f"a{letter}b"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_changed_release_is_refused(name: str, releases: tuple[Path, Path], place: Path) -> None:
    folder = place.parents[1] / "changed"
    shutil.copytree(releases[0], folder)
    with (folder / "table.csv").open("a") as stream:
        stream.write("1,1\n")
    with pytest.raises(InputError, match="verify"):
        commit_release(name, folder, out=place)
    with pytest.raises(InputError, match="one table"):
        commit_release(name, releases[0], out=place, table="b")
    assert not place.parent.exists()


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_package_is_named(
    name: str, releases: tuple[Path, Path], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for loaded in [one for one in sys.modules if one.partition(".")[0] == PACKAGES[name]]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, PACKAGES[name], None)
    with pytest.raises(MissingPackageError, match=r"sudare\[lake\]"):
        commit_release(name, releases[0], out=place)
    assert not place.parent.exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_batches_are_not_kept(name: str, place: Path) -> None:
    """Of 240 MB few batches are in memory at any time; a list of them, the control, has all."""
    alive: list[ReferenceType[Any]] = []
    most = [0]

    def batches() -> Iterator[Any]:
        for number in range(60):
            numbers = np.full(1 << 19, number, dtype=np.int64)
            alive.append(ref(numbers))
            most[0] = max(most[0], sum(one() is not None for one in alive))
            yield pa.record_batch(
                [pa.Array.from_buffers(pa.int64(), numbers.size, [None, pa.py_buffer(numbers)])], ["n"]
            )

    schema = pa.schema([("n", pa.int64())])
    rows = replace(rows_of("large"), schema=schema, batches=batches)
    lake_format_named(name).commit(rows, str(place))
    kept = most[0]
    assert LAKE_READERS[name](place)[0].num_rows == 60 << 19
    alive.clear()
    assert len(list(batches())) == most[0] == 60, "the control"
    assert kept <= 40


@pytest.mark.parametrize("name", FORMATS)
def test_rows_of_all_kinds_of_columns(name: str, place: Path, tmp_path: Path) -> None:
    """As the records of a release may have them."""
    columns = {
        "small": pa.array([1, None], pa.int8()),
        "unsigned": pa.array([2**32 - 1, 0], pa.uint32()),
        "text": pa.array(["町", None]),
        "code": pa.array(["a", "b"]).dictionary_encode(),
        "day": pa.array([date(2026, 4, 1), None]),
        "second": pa.array([datetime(2026, 4, 1, 9, tzinfo=UTC), None], pa.timestamp("s", "UTC")),
        "amount": pa.array([Decimal("1.50"), None], pa.decimal128(18, 2)),
        "share": pa.array([0.5, None], pa.float32()),
        "sure": pa.array([True, None]),
    }
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "table.parquet")
    schema, batches = one_file(tmp_path / "table.parquet")
    for release in "ab":
        rows = replace(rows_of(release), schema=schema, batches=batches)
        assert lake_format_named(name).commit(rows, str(place)).is_new
        read = LAKE_READERS[name](place)[0]
        assert read.to_pylist() == pa.table(columns).to_pylist()
