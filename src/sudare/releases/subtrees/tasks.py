"""What executors do: find the leaf of each cell, tell what the counts are, and draw subtrees.

All of it is deterministic. A task that is started again, or twice at the same time, draws the same bits and writes the same
bytes, under a name of its own. What Spark carries to the executors beside the counts is public: the tree, and the path of the
confidential folder. The key of a subtree is read on the executor, from a file that only the owner may read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.releases.subtrees.confidential_folder import order_name, read_order
from sudare.releases.subtrees.counts_manifest import digest_of_counts, digests_of_counts
from sudare.storage.atomic import unique_text
from sudare.storage.durable import sync_file, sync_folder
from sudare.tables.addressed.refining import refine_subtree
from sudare.tables.addressed.tree import AddressedTree
from sudare.tables.trees.descent import with_tables

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["DIGESTS", "LEAVES", "PARTS", "drawing_subtrees", "finding_leaves", "telling_digests", "write_cells"]

LEAVES = "anchor long, leaf long, count long"
DIGESTS = "anchor long, cells long, people long, digest string"
PARTS = "level long, prefix long, name string, size long, digest string, cells long, people long"

Batches = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
OfGroup = Callable[["pa.Table"], "pa.Table"]


class ChangedCountsError(Exception):
    """The counts of a subtree are not those that the noise is bound to; nothing of them is in the message."""


def finding_leaves(tree: AddressedTree) -> Batches:
    """From keys of cells and counts to lowest anchors, leaves and counts."""

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        layout = with_tables(tree.layout)
        for batch in batches:
            keys, counts = _whole(batch, 0), _whole(batch, 1)
            if keys.size and (keys.min() < 0 or keys.max() >= layout.cells or counts.min() < 0):
                raise ValueError("a cell that is not in the domain, or a negative count")
            lived_in = counts > 0
            leaves = layout.to_tree(keys[lived_in].astype(np.uint64))
            anchors = tree.anchors_of(leaves, tree.anchored)
            columns = [anchors.astype(np.int64), leaves.astype(np.int64), counts[lived_in]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(column) for column in columns], names=["anchor", "leaf", "count"]
            )

    return find


def telling_digests() -> OfGroup:
    """What the counts of an anchor are."""

    def tell(table: pa.Table) -> pa.Table:
        import pyarrow as pa

        leaves, counts = _sorted(table)
        if (leaves[1:] == leaves[:-1]).any():
            raise ValueError("a cell that stands twice among the counts")
        return pa.table(
            {
                "anchor": [table.column("anchor")[0].as_py()],
                "cells": [leaves.size],
                "people": [int(counts.sum())],
                "digest": [digest_of_counts(leaves, counts)],
            }
        )

    return tell


def drawing_subtrees(tree: AddressedTree, folder: str) -> OfGroup:
    """From the counts of a subtree to a file with its published cells."""

    def draw(table: pa.Table) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute

        level, prefix = (table.column(name)[0].as_py() for name in ("level", "prefix"))
        order = read_order(Path(folder), level, prefix)
        leaves, counts = _sorted(table.filter(pa.compute.greater(table.column("count"), 0)))
        found = {str(anchor): digest for anchor, digest in digests_of_counts(tree, leaves, counts).items()}
        if found != order.digests:
            raise ChangedCountsError("the counts are not those that were bound to the noise")
        cells, refined = refine_subtree(tree, order.subtree, leaves, counts)
        name = f"{order_name(level, prefix)}.{_attempt()}.parquet"
        size, digest = write_cells(Path(folder, "parts", name), with_tables(tree.layout).to_raster(cells), refined)
        row: dict[str, object] = {"level": level, "prefix": prefix, "name": name, "size": size, "digest": digest}
        row |= {"cells": cells.size, "people": int(refined.sum())}
        return pa.table({column: [value] for column, value in row.items()})

    return draw


def write_cells(path: Path, keys: NDArray[np.uint64], counts: NDArray[np.int64]) -> tuple[int, str]:
    """Write published cells, sorted by their keys; the size and the hash of the file. The same cells give the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet

    order = np.argsort(keys)
    table = pa.table({"key": keys[order].astype(np.int64), "count": counts[order]})
    temporary = path.with_name(f".{path.name}.{unique_text()}.part")
    pa.parquet.write_table(table, temporary, compression="zstd")
    sync_file(temporary)
    content = temporary.read_bytes()
    temporary.rename(path)
    sync_folder(path.parent)
    return len(content), sha256(content).hexdigest()


def _attempt() -> str:
    """A name that no other attempt at the same task has."""
    from pyspark import TaskContext

    context = TaskContext.get()
    number = 0 if context is None else context.taskAttemptId()
    return f"{number}-{os.getpid()}-{unique_text()}"


def _whole(batch: pa.RecordBatch, column: int) -> NDArray[np.int64]:
    array = batch.column(column)
    if array.null_count:
        raise ValueError("a cell or a count that is missing")
    return np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.int64)


def _sorted(table: pa.Table) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    leaves = table.column("leaf").to_numpy().astype(np.uint64)
    counts = table.column("count").to_numpy().astype(np.int64)
    order = np.argsort(leaves)
    return leaves[order], counts[order]
