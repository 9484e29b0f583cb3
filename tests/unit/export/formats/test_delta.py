"""Tables of Delta: what their log says, objects in a store, and the command."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError

import pyarrow.fs
import pyarrow.parquet
import pytest

from sudare.cli import main
from sudare.errors import OutputError
from sudare.export import commit_release, lake_format_named
from sudare.releases.registry import run_plan
from sudare.storage.hashes import hash_of_file
from tests.contracts.lake_readers import delta_commits, read_delta
from tests.contracts.test_lake_formats import rows_of
from tests.unit.releases.kinds.counts.offices import open_office

deltalake = pytest.importorskip("deltalake", reason="deltalake is not installed (extra lake)")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    office = tmp_path_factory.mktemp("office")
    open_office(office)
    run_plan(office / "plan.toml")
    return office / "release"


def test_one_commit_has_all_rows_and_the_release(release: Path, tmp_path: Path) -> None:
    commit_release("delta", release, out=tmp_path / "people")
    (actions,) = delta_commits(tmp_path / "people")
    (told,) = (one["commitInfo"] for one in actions if "commitInfo" in one)
    digest = hash_of_file(release / "release.json")
    assert (told["sudare.release"], told["sudare.title"]) == (digest, "People of a town")
    assert [one["txn"]["appId"] for one in actions if "txn" in one] == [f"sudare:{digest}"]
    assert {next(iter(one)) for one in actions} == {"commitInfo", "protocol", "metaData", "add", "txn"}


def test_a_partitioned_table_keeps_its_partitions(tmp_path: Path) -> None:
    place = str(tmp_path / "people")
    schema = deltalake.Schema.from_arrow(rows_of("first").schema)
    deltalake.DeltaTable.create(place, schema, partition_by=["release"])
    for name in ("first", "second"):
        lake_format_named("delta").commit(rows_of(name), place)
        table = deltalake.DeltaTable(place)
        assert table.metadata().partition_columns == ["release"]
        assert Counter(table.to_pyarrow_table().column("release").to_pylist()) == {name: 12}


def test_a_release_stays_known_when_the_history_is_cleaned(tmp_path: Path) -> None:
    delta, place = lake_format_named("delta"), str(tmp_path / "people")
    for name in ("first", "second"):
        delta.commit(rows_of(name), place)
    deltalake.DeltaTable(place).create_checkpoint()
    log = tmp_path / "people" / "_delta_log"
    (log / f"{0:020}.json").unlink()
    before = sorted(path.name for path in log.iterdir())
    again = delta.commit(rows_of("first"), place)
    assert (again.is_new, again.version, again.latest) == (False, None, 1)
    assert sorted(path.name for path in log.iterdir()) == before


def test_the_command_says_what_it_did(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["export", "delta", str(release)]
    assert main([*command, "--lang", "en"]) == 2
    assert "--out lake/people" in " ".join(capsys.readouterr().err.split())
    assert main([*command, "--out", "lake/people", "--lang", "en"]) == 0
    assert "Committed as a version of a Delta table" in capsys.readouterr().err
    assert main([*command, "--out", "lake/people", "--lang", "en"]) == 0
    assert "Nothing was changed" in capsys.readouterr().err
    assert main([*command, "--out", "lake/people", "--lang", "ja"]) == 0
    assert "何も変えていません" in capsys.readouterr().err
    assert main([*command, "--out", "lake/people", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["release"] == hash_of_file(release / "release.json")
    assert (said["version"], said["latest"], said["is_new"]) == (0, 0, False)
    published = pyarrow.parquet.read_table(release / "table.parquet")
    assert read_delta(tmp_path / "lake" / "people")[0].to_pylist() == published.to_pylist()


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """A server of S3's interface in a process of its own: deltalake lets no other thread of this one answer while it asks."""
    if find_spec("moto") is None or find_spec("flask_cors") is None:
        pytest.skip("moto's server is not installed (pip install 'moto[s3]' flask flask-cors)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                make_bucket(f"{address}/lake")
                break
            except URLError:
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(10)


def make_bucket(address: str) -> None:
    request = urllib.request.Request(address, method="PUT")  # noqa: S310 - of this machine
    with urllib.request.urlopen(request, timeout=10):  # noqa: S310
        pass


@pytest.fixture
def keys(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that deltalake is told, as by the environment of a user."""
    settings = {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": store,
        "AWS_ALLOW_HTTP": "true",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


@pytest.mark.slow
@pytest.mark.usefixtures("keys")
class TestInAnObjectStore:
    """The same commits where there are no folders and no locks."""

    def test_the_command_writes_there(self, store: str, release: Path, capsys: pytest.CaptureFixture[str]) -> None:
        place = "s3://lake/census 人口/people"
        for said in ("Committed", "Nothing was changed"):
            assert main(["export", "delta", str(release), "--out", place, "--lang", "en"]) == 0
            assert said in capsys.readouterr().err
        objects = pyarrow.fs.S3FileSystem(endpoint_override=store, region="us-east-1")
        key = place.removeprefix("s3://")
        with objects.open_input_stream(f"{key}/_delta_log/{0:020}.json") as stream:
            told = [json.loads(line) for line in stream.read().splitlines()]
        assert told[0]["commitInfo"]["sudare.release"] == hash_of_file(release / "release.json")
        (file,) = (one["add"]["path"] for one in told if "add" in one)
        read = pyarrow.parquet.read_table(f"{key}/{file}", filesystem=objects)
        assert read.to_pylist() == pyarrow.parquet.read_table(release / "table.parquet").to_pylist()
        assert deltalake.DeltaTable(place).version() == 0

    @pytest.mark.parametrize("before", [None, 0, 5])
    def test_two_exports_at_once_are_never_mixed(self, before: int | None) -> None:
        delta, place = lake_format_named("delta"), f"s3://lake/at-once/{before}"
        if before is not None:
            delta.commit(rows_of("before", before), place)

        def meanwhile() -> None:
            thread = threading.Thread(target=lambda: delta.commit(rows_of("other"), place))
            thread.start()
            thread.join()

        with pytest.raises(OutputError, match="meanwhile"):
            delta.commit(rows_of("same", between=meanwhile), place)
        found = deltalake.DeltaTable(place).to_pyarrow_table().column("release")
        assert Counter(found.to_pylist()) == {"other": 12}

    def test_a_store_that_refuses_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ALLOW_HTTP", "false")
        with pytest.raises(OutputError, match="s3://lake/refused") as caught:
            lake_format_named("delta").commit(rows_of("first"), "s3://lake/refused")
        assert "http" in caught.value.english.lower()
        assert "testing" not in caught.value.english
