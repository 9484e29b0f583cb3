"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.domain import CountTable, Domain, Mesh
from sudare.errors import OutputError
from sudare.io import atomically, write_table

TABLE = CountTable.from_cells(Domain((Mesh("KEY_CODE", "3", 4280, 3180, 10, 10),)), [3, 5], [424242, 7])
SUFFIXES = ["csv", "parquet", "arrow", "geoparquet", "tif"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("function", ["fsync", "link"])
def test_a_full_disk_leaves_nothing(
    suffix: str, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, function, fail)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OutputError, match="No space left") as caught:
        write_table(TABLE, tmp_path / f"map.{suffix}")
    assert str(tmp_path) in str(caught.value)
    assert "424242" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_that_is_full_in_the_middle(suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    large = CountTable.from_dense(
        rng.integers(1, 10**6, (200, 200)), Domain((Mesh("KEY_CODE", "3", 4200, 3100, 200, 200),))
    )
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may grow beyond this: each writer fails halfway, as it does on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(OutputError, match="could be written") as caught:
            write_table(large, tmp_path / f"map.{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(tmp_path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_is_always_full(tmp_path: Path) -> None:
    def write() -> None:
        with atomically(tmp_path / "table.csv") as temporary:
            temporary.unlink()
            temporary.symlink_to("/dev/full")
            temporary.write_bytes(b"x" * 10)

    with pytest.raises(OutputError, match="No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_writer_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with atomically(tmp_path / "table.csv") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_stays(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"
    target.write_text("before")
    with pytest.raises(OutputError, match="exists already"):
        write_table(TABLE, target)
    assert target.read_text() == "before"
    write_table(TABLE, target, replace=True)
    assert target.read_text().startswith("KEY_CODE,population\n")
    assert [file.name for file in tmp_path.iterdir()] == ["map.csv"]


def test_a_file_that_appears_meanwhile_stays(tmp_path: Path) -> None:
    target = tmp_path / "map.csv"

    def write() -> None:
        with atomically(target) as temporary:
            temporary.write_text("ours")
            target.write_text("theirs")

    with pytest.raises(OutputError, match="exists already"):
        write()
    assert target.read_text() == "theirs"
    assert [file.name for file in tmp_path.iterdir()] == ["map.csv"]


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    assert write_table(TABLE, tmp_path / "map.csv").read_text().startswith("KEY_CODE")
    assert [file.name for file in tmp_path.iterdir()] == ["map.csv"]


def test_folders_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match="There is no folder"):
        write_table(TABLE, tmp_path / "nowhere" / "map.csv")
    with pytest.raises(OutputError, match="is a folder"), atomically(tmp_path):
        pass

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(OutputError, match="Permission denied"):
        write_table(TABLE, tmp_path / "map.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="names no format"):
        write_table(TABLE, tmp_path / "map.xlsx")
    write_table(TABLE, tmp_path / "map.dat", format="csv")
