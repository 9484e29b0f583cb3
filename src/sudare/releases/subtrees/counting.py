"""The two jobs of the cluster: counts into the confidential folder, and subtrees out of it.

Only frames are used, no session of the JVM, so that both work through Spark Connect too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sudare.engines.complaints import attempt, failed
from sudare.engines.spark_jobs import TaggedJob, wait_for
from sudare.errors import DatabaseError, SudareError
from sudare.releases.subtrees.confidential_folder import ConfidentialFolder
from sudare.releases.subtrees.counts_manifest import AnchorCounts, CountsManifest
from sudare.releases.subtrees.tasks import DIGESTS, LEAVES, PARTS, drawing_subtrees, finding_leaves, telling_digests
from sudare.tables.addressed.refining import Subtree
from sudare.tables.addressed.tree import AddressedTree

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SubtreePart", "count_on_cluster", "draw_on_cluster"]


ANCHOR_COLUMNS = ("anchor", "level", "prefix")
COUNT_COLUMNS = ("level", "prefix", "leaf", "count")


@dataclass(frozen=True)
class SubtreePart:
    """A file that an executor wrote for a subtree.

    Attributes:
        level: of the subtree.
        prefix: of the subtree.
        name: of the file.
        size: of the file.
        digest: SHA-256 of the file.
        cells: that are published in it.
        people: that are published in it.
    """

    level: int
    prefix: int
    name: str
    size: int
    digest: str
    cells: int
    people: int


def count_on_cluster(
    session: Any,
    counts: Any,
    tree: AddressedTree,
    folder: ConfidentialFolder,
    progress: Callable[[float], object],
    explain: Callable[[Exception], SudareError],
) -> CountsManifest:
    """Write the counts where only their owner may read them, once, and tell what they are.

    Args:
        session: of Spark.
        counts: a frame of keys of cells and counts.
        tree: of the release.
        folder: where they are written.
        progress: called with the share of the tasks that are done. If it raises, or a signal does, the job is cancelled.
        explain: says why Spark could not count.

    Raises:
        SudareError: what `explain` gives, if Spark fails.
    """
    public = replace(tree)  # without what was computed of it here

    def count() -> list[tuple[Any, ...]]:
        folder.forget_counts()
        leaves = counts.toDF("key", "count").mapInArrow(finding_leaves(public), LEAVES)
        leaves.write.mode("error").parquet(folder.counts.as_uri())
        staged = session.read.schema(LEAVES).parquet(folder.counts.as_uri())
        return _rows(staged.groupBy("anchor").applyInArrow(telling_digests(), DIGESTS))

    with _without_notices():
        rows = attempt(lambda: wait_for(count, TaggedJob(session), progress), explain)
    manifest = CountsManifest(tuple(AnchorCounts(*row) for row in sorted(rows)), folder.files_of_counts())
    folder.keep(manifest)
    return manifest


def draw_on_cluster(
    session: Any,
    tree: AddressedTree,
    folder: ConfidentialFolder,
    subtrees: Sequence[Subtree],
    progress: Callable[[float], object],
) -> list[SubtreePart]:
    """Have all subtrees drawn; one part for each, whose file is complete.

    Args:
        session: of Spark.
        tree: of the release.
        folder: with the counts, and an order for each subtree.
        subtrees: those in which somebody is published.
        progress: as for `count_on_cluster`.

    Raises:
        DatabaseError: if Spark fails, or does not hand over exactly one part for each.
    """
    if not subtrees:
        return []
    public = replace(tree)
    places = [(one.anchor.level, one.anchor.prefix) for one in subtrees]
    height = tree.anchor_height
    anchors_below = [
        (prefix + (number << height), level, prefix)
        for level, prefix in places
        for number in range(1 << tree.heights[level] - height)
    ]
    of_anchors = _whole_numbers(ANCHOR_COLUMNS, zip(*anchors_below, strict=True))
    # A row of nobody for each subtree: one without people of the data is drawn too.
    levels, prefixes = zip(*places, strict=True)
    nobody = _whole_numbers(COUNT_COLUMNS, (levels, prefixes, prefixes, [0] * len(places)))

    def draw() -> list[tuple[Any, ...]]:
        staged = session.read.schema(LEAVES).parquet(folder.counts.as_uri())
        inside = staged.join(session.createDataFrame(of_anchors), "anchor").select(*COUNT_COLUMNS)
        everything = inside.unionByName(session.createDataFrame(nobody))
        return _rows(
            everything.groupBy("level", "prefix").applyInArrow(drawing_subtrees(public, str(folder.path)), PARTS)
        )

    with _without_notices():
        rows = attempt(lambda: wait_for(draw, TaggedJob(session), progress), lambda _: failed("Spark"))
    parts = sorted((SubtreePart(*row) for row in rows), key=lambda part: (part.prefix, part.level))
    if sorted((part.level, part.prefix) for part in parts) != sorted(places):
        raise DatabaseError(
            "The cluster did not hand over exactly one part for each subtree. Run the same release again, at no cost.",
            "クラスターが部分木ごとにちょうど 1 つの部分を返しませんでした。同じ公表を再実行してください（費用はかかりません）。",
        )
    return parts


def _whole_numbers(names: Sequence[str], columns: Iterable[Sequence[int]]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(column, pa.int64()) for name, column in zip(names, columns, strict=True)})


@contextmanager
def _without_notices() -> Iterator[None]:
    """PySpark warns of versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def _rows(frame: Any) -> list[tuple[Any, ...]]:
    table = frame.toArrow()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
