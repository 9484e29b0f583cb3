"""Tables of lakehouses read back by hand: from their own files, without the packages that wrote them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pyarrow.parquet

__all__ = ["LAKE_READERS", "delta_commits", "read_delta", "read_iceberg"]


def delta_commits(place: Path) -> list[list[dict[str, Any]]]:
    """The actions of each commit."""
    files = sorted((place / "_delta_log").glob("*.json"))
    return [[json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] for file in files]


def read_delta(place: Path) -> tuple[pa.Table, list[str]]:
    """The rows of the latest version: what was added and not removed; and which releases were committed."""
    present: dict[str, None] = {}
    releases = []
    for actions in delta_commits(place):
        for action in actions:
            if "remove" in action:
                del present[action["remove"]["path"]]
            if "add" in action:
                present[action["add"]["path"]] = None
            if "sudare.release" in action.get("commitInfo", {}):
                releases.append(action["commitInfo"]["sudare.release"])
    return pa.concat_tables(pyarrow.parquet.read_table(place / name) for name in present), releases


def read_iceberg(place: Path) -> tuple[pa.Table, list[str]]:
    """The rows of the current snapshot: by the catalogue, its metadata, the list of manifests and the manifests."""
    namespace, _, name = place.name.rpartition(".")
    with closing(sqlite3.connect(place.parent / "catalog.db")) as catalog:
        ((location,),) = catalog.execute(
            "SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ? AND table_name = ?",
            (namespace, name),
        ).fetchall()
    metadata = json.loads(local(location).read_text(encoding="utf-8"))
    snapshots = {one["snapshot-id"]: one for one in metadata["snapshots"]}
    files = []
    for manifest in polars.read_avro(local(snapshots[metadata["current-snapshot-id"]]["manifest-list"])).to_dicts():
        entries = polars.read_avro(local(manifest["manifest_path"])).to_dicts()
        files += [local(one["data_file"]["file_path"]) for one in entries if one["status"] != 2]  # 2: deleted
    summaries = [one["summary"] for one in metadata["snapshots"]]
    releases = [one["sudare.release"] for one in summaries if "sudare.release" in one]
    tables = [pyarrow.parquet.read_table(file) for file in files]
    return pa.concat_tables(tables, promote_options="permissive"), releases  # others write long texts


def local(address: str) -> Path:
    return Path(address.removeprefix("file://"))


LAKE_READERS: Mapping[str, Callable[[Path], tuple[pa.Table, list[str]]]] = {
    "delta": read_delta,
    "iceberg": read_iceberg,
}
