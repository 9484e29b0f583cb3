"""Fingerprints: the same for the same data, another for other data, nothing without the key."""

# ruff: noqa: S608 - queries over files of the test

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.errors import InputError, ParameterError
from sudare.io import Source, fingerprint_of

KEY, OTHER_KEY = b"0123456789abcdef", b"0123456789abcdeg"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("sex\nf\n")
    (tmp_path / "b.csv").write_text("sex\nm\n")
    return tmp_path


def test_the_order_and_the_folder_do_not_matter(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    a, b = str(folder / "a.csv"), str(folder / "b.csv")
    one = fingerprint_of(Source((a, b)), KEY)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("a.csv", "b.csv"):
        (elsewhere / name).write_bytes((folder / name).read_bytes())
    assert len({one, fingerprint_of(Source((b, a)), KEY), fingerprint_of(Source(str(folder)), KEY)}) == 1
    assert fingerprint_of(Source(str(elsewhere)), KEY) == one


def test_everything_else_matters(folder: Path) -> None:
    seen = {fingerprint_of(Source(str(folder)), KEY), fingerprint_of(Source(str(folder)), OTHER_KEY)}
    (folder / "b.csv").write_text("sex\nf\n")
    seen.add(fingerprint_of(Source(str(folder)), KEY))
    # The same bytes, divided otherwise between the files.
    (folder / "a.csv").write_text("sex\nf\nsex\n")
    (folder / "b.csv").write_text("f\n")
    seen.add(fingerprint_of(Source(str(folder)), KEY))
    (folder / "b.csv").rename(folder / "c.csv")
    seen.add(fingerprint_of(Source(str(folder)), KEY))
    assert len(seen) == 5


@pytest.mark.parametrize("mark", ["'", '"'])
def test_files_that_a_query_names_are_included(mark: str, folder: Path) -> None:
    source = Source(query=f"SELECT * FROM {mark}{folder}/a.csv{mark} WHERE sex <> 'x'")
    before = fingerprint_of(source, KEY)
    assert before == fingerprint_of(source, KEY)
    (folder / "a.csv").write_text("sex\nm\n")
    assert fingerprint_of(source, KEY) != before
    assert fingerprint_of(Source(query="SELECT 1"), KEY) != fingerprint_of(Source(query="SELECT 2"), KEY)


def test_folders_that_tell_values_and_logs_of_databases_are_included(tmp_path: Path) -> None:
    (tmp_path / "year=2020").mkdir()
    (tmp_path / "year=2020" / "a.parquet").write_bytes(b"x")
    before = fingerprint_of(Source(str(tmp_path)), KEY)
    (tmp_path / "year=2020").rename(tmp_path / "year=2021")
    assert fingerprint_of(Source(str(tmp_path)), KEY) != before
    database = tmp_path / "people.duckdb"
    database.write_bytes(b"x")
    before = fingerprint_of(Source(str(database)), KEY)
    (tmp_path / "people.duckdb.wal").write_bytes(b"y")
    assert fingerprint_of(Source(str(database)), KEY) != before


def test_bad_arguments(folder: Path) -> None:
    with pytest.raises(ParameterError, match="16 bytes") as caught:
        fingerprint_of(Source(str(folder)), b"secret")
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="no file"):
        fingerprint_of(Source(str(folder / "z.csv")), KEY)
