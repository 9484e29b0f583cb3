"""A release of counts that stay on a cluster, in the order of `sudare.releases.protocol`.

1. The ledger **reserves** for the whole release: a window with one tick. The cluster's settings are looked at before.
2. The cluster **counts**, once, into the confidential folder; a manifest says what the counts are.
3. The ledger **binds** the noise to the manifest, by its keyed hash. The same release with other counts is refused from here on.
4. The driver **draws** the upper levels, and gives each subtree's task its order: subkey, refined count, digests.
5. Executors draw the subtrees. An attempt writes a file of its own; the driver names exactly one for each subtree.
6. The named files are **sealed**, the ledger **settles**, one rename **shows** the folder. Keys and counts are destroyed.

A driver that is killed goes on from the manifest and the key, which lies wrapped beside the ledger, when the same release is
started again: the same key meets the same counts, so it draws the same noise. If it is never started again, the charge stays.
What is handed out are the files of step 6, never a frame that Spark would compute again.

Proof: ``job.md`` beside this file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.errors import OutputError
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.charging import Completed, tick_once
from sudare.ledger.records import BegunTick, TickRefusedError, Window
from sudare.noise.addressed import NoiseKey
from sudare.parameters import Rational
from sudare.privacy import Budget, ReleaseEvent, Unit
from sudare.releases.documents import document_text
from sudare.releases.folder_store import FolderStore, Released, completed_folder
from sudare.releases.progress import Progress, silent
from sudare.releases.subtrees.cluster_settings import require_protected, use_this_python
from sudare.releases.subtrees.confidential_folder import ConfidentialFolder, TaskOrder
from sudare.releases.subtrees.counting import count_on_cluster, draw_on_cluster
from sudare.releases.subtrees.counts_manifest import CountsManifest
from sudare.releases.subtrees.tasks import write_cells
from sudare.releases.subtrees.wrapped_key import WrappedKey
from sudare.storage.hashes import hash_of_file, seal_of
from sudare.storage.staging import Staging, translate_errors
from sudare.tables.addressed.mechanism import AddressedRelease, plan_addressed_tree
from sudare.tables.addressed.refining import cut_by_people, refine_upper_levels
from sudare.tables.addressed.tree import AddressedTree
from sudare.tables.arguments import Noise
from sudare.version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SUBTREES_FORMAT", "SubtreePlan", "read_cells", "release_subtrees"]

SUBTREES_FORMAT = "sudare-subtrees/1"
PEOPLE_PER_SUBTREE = 1_000_000
UPPER = "cells-upper.parquet"


@dataclass(frozen=True, kw_only=True)
class SubtreePlan:
    """What is released; two plans that are equal are the same release.

    Attributes:
        title: of the release.
        source: which data, with its version: a snapshot, a list of files. The same words with other data are refused.
        domain: the cells that there are.
        budget: what may be spent.
        dataset: the account in the ledger.
        ledger: where the ledger is.
        folder: where the release will be.
        unit: who is protected.
        bits: how many halvings make up each level of the tree.
        weights: how the budget is divided.
        layout: name of the order of cells.
        noise: which noise to add.
        people_per_subtree: an executor gets parts in which at most this many people are published.
    """

    title: str
    source: str
    domain: Domain
    budget: Budget
    dataset: str
    ledger: Path | str
    folder: Path
    unit: Unit
    bits: tuple[int, ...] | None = None
    weights: tuple[Rational, ...] | None = None
    layout: str | None = None
    noise: Noise = "laplace"
    people_per_subtree: int = PEOPLE_PER_SUBTREE

    def planned(self, key: NoiseKey) -> AddressedRelease:
        """What is drawn, with this key."""
        return plan_addressed_tree(
            self.domain,
            self.budget,
            key,
            bits=self.bits,
            weights=self.weights,
            unit=self.unit,
            layout=self.layout,
            noise=self.noise,
        )

    def fingerprint(self, of: str) -> str:
        """SHA-256 of all that makes the release what it is; the data is no part of it."""
        event = replace(self.planned(NoiseKey.for_research(0)).event, entropy="secure")
        said = [of, SUBTREES_FORMAT, self.title, self.source, repr(self.domain), self.dataset, event.to_json()]
        said += [repr((self.bits, self.weights, self.layout, self.people_per_subtree))]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def release_subtrees(
    plan: SubtreePlan,
    counts: Any,
    *,
    accept_missing: Collection[str] = (),
    progress: Progress | None = None,
) -> Released[None]:
    """Release counts that are on a Spark cluster, with noise that executors draw.

    The result equals `sudare.tables.addressed.mechanism.addressed_wide_tree` under the same key, byte for byte, however the work
    is divided and however often parts of it are repeated.

    Args:
        plan: what is released.
        counts: a DataFrame of Spark, with the key of a cell in its first column and a whole number >= 0 in its second, each
            cell once. It is read once, after the budget is reserved.
        accept_missing: names of settings that the cluster may lack; see `sudare.releases.subtrees.cluster_settings`.
        progress: called with the stage, and the share of it that is done.

    Raises:
        BudgetExceededError: if the data set's budget does not allow it; nothing was looked at.
        TickRefusedError: if the release was begun with other counts.
        DatabaseError: if the cluster lacks a setting, or fails. What it says may quote data, and is not passed on.
        OutputError: if the folder exists or cannot be written.
    """
    session = counts.sparkSession
    require_protected(session, accept_missing)
    use_this_python(session)
    with open_ledger(plan.ledger) as ledger:
        job = _Job(plan, ledger, counts, progress or silent)
        return job.run()


def read_cells(folder: Path, domain: Domain) -> CountTable:
    """The table of a published folder, where it fits into memory.

    Args:
        folder: of the release.
        domain: of its plan.
    """
    import pyarrow as pa
    import pyarrow.parquet

    files = sorted(folder.glob("cells-*.parquet"))
    table = pa.concat_tables([pa.parquet.read_table(file) for file in files])
    keys = table.column("key").to_numpy().astype(np.uint64)
    order = np.argsort(keys)
    return CountTable(domain, keys[order], table.column("count").to_numpy()[order])


class _Job:
    def __init__(self, plan: SubtreePlan, ledger: Ledger, counts: Any, tell: Progress) -> None:
        self.plan, self.ledger, self.counts, self.tell = plan, ledger, counts, tell
        self.secret = ledger.secret(plan.dataset)
        self.fingerprint = plan.fingerprint("release")
        self.confidential = ConfidentialFolder(plan.folder, self.fingerprint)
        beside = self.confidential.path.parent if "://" in str(plan.ledger) else Path(plan.ledger).absolute().parent
        self.kept_key = WrappedKey(beside / ".sudare-keys", self.secret, self.fingerprint)

    def run(self) -> Released[None]:
        plan, ledger = self.plan, self.ledger
        event = replace(plan.planned(NoiseKey.for_research(0)).event, entropy="secure")
        window_name = plan.fingerprint("window")
        known = ledger.windows.find(plan.dataset, window_name)
        window = (
            known.window
            if known is not None
            else ledger.windows.open(
                plan.dataset,
                plan.budget,
                unit=event.unit,
                fingerprint=window_name,
                ticks=1,
                purpose=plan.title,
                measurements=event.measurements,
            )
        )
        store = FolderStore[None](ledger, plan.dataset, self.fingerprint, plan.folder, window)

        def make(staging: Staging, bind: Callable[[str], BegunTick]) -> Callable[[], Completed[Released[None]]]:
            return self.make(window, staging, bind)

        try:
            released = tick_once(
                ledger, window, 0, self.fingerprint, store, Staging.beside(plan.folder), make, on_wait=None
            )
        except TickRefusedError as refusal:
            if refusal.kind == "other input":  # nothing can be drawn with this key any more
                self.destroy()
            raise
        self.destroy()
        state = ledger.windows.find(plan.dataset, window_name)
        if state is not None and not state.is_closed:
            ledger.windows.close(window, event)
        return released

    def destroy(self) -> None:
        self.kept_key.destroy()
        self.confidential.destroy()

    def make(
        self, window: Window, staging: Staging, bind: Callable[[str], BegunTick]
    ) -> Callable[[], Completed[Released[None]]]:
        """Steps 2 to 5; gives step 6."""
        begun_before = self.ledger.windows.begun(window)
        key = self.kept_key.open(may_be_new=begun_before is None)
        planned = self.plan.planned(key)
        tree = planned.tree
        with translate_errors(self.plan.folder):
            self.confidential.open()
            manifest = self.confidential.manifest()
        if manifest is None:
            self.tell("count", None)
            manifest = count_on_cluster(self.counts, tree, self.confidential)
        self.tell("bind", None)
        begun = bind(manifest.binding(self.secret, self.fingerprint))
        self.tell("draw", 0.0)
        files = self.draw(tree, key, manifest, staging)
        key.destroy()
        self.tell("write", None)
        document = self.document(tree, planned.event, files)
        text = document_text(document)

        def seal() -> Completed[Released[None]]:
            staging.complete(text, seal_of(text, self.secret, begun.number))
            released = Released[None](folder=self.plan.folder, document=json.loads(text), is_repeated=False)
            return completed_folder(staging.folder, self.plan.folder, text, planned.event, released)

        return seal

    def draw(self, tree: AddressedTree, key: NoiseKey, manifest: CountsManifest, staging: Staging) -> dict[str, str]:
        """All parts; their names in the published folder, and their hashes."""
        people: NDArray[np.int64] = np.array([one.people for one in manifest.anchors], dtype=np.int64)
        anchors = np.array(manifest.prefixes, dtype=np.uint64)
        upper = refine_upper_levels(tree, key, anchors, people, cut_by_people(self.plan.people_per_subtree))
        with translate_errors(self.plan.folder):
            for subtree in upper.subtrees:
                first = subtree.anchor.prefix
                last = first + (1 << tree.heights[subtree.anchor.level]) - 1
                self.confidential.give_order(TaskOrder(subtree, manifest.digests_within(first, last)))
            _, digest = write_cells(staging.folder / UPPER, tree.layout.to_raster(upper.leaves), upper.counts)
        files = {UPPER: digest}
        self.tell("draw", 0.1)
        parts = draw_on_cluster(self.counts.sparkSession, tree, self.confidential, upper.subtrees)
        self.tell("draw", 0.9)
        for part in parts:
            name = f"cells-{part.level}-{part.prefix:016x}.parquet"
            with translate_errors(self.plan.folder):
                content = (self.confidential.parts / part.name).read_bytes()
                (staging.folder / name).write_bytes(content)
                if hash_of_file(staging.folder / name) != part.digest:
                    raise OutputError(
                        f"The part '{part.name}' is not what its task wrote; run the same release again, at no cost.",
                        f"部分ファイル「{part.name}」がタスクの出力と異なります。同じ公表を再実行してください（費用はかかりません）。",
                    )
            files[name] = part.digest
        return files

    def document(self, tree: AddressedTree, event: ReleaseEvent, files: dict[str, str]) -> dict[str, object]:
        """What the published folder says of itself. Nothing of it depends on how the work was done."""
        return {
            "format": SUBTREES_FORMAT,
            "title": self.plan.title,
            "source": self.plan.source,
            "dataset": self.plan.dataset,
            "cells": tree.layout.cells,
            "event": json.loads(event.to_json()),
            "files": [{"name": name, "sha256": digest} for name, digest in sorted(files.items())],
            "versions": {"sudare": __version__},
        }
