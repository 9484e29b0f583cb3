"""A release of counts that stay on a cluster, in the order of `sudare.releases.protocol`: a window that is a single release.

1. The ledger **reserves** for the whole release: a window with one tick. The cluster's settings are looked at before.
2. The cluster **counts**, once, into the confidential folder; a manifest says what the counts are.
3. The ledger **binds** the noise to the manifest, by its keyed hash. The same release with other counts is refused from here on.
   What ends the run before, an error or a signal, cancels the cluster's job and gives the reservation back.
4. The driver **draws** the upper levels, and gives each subtree's task its order: subkey, refined count, digests.
5. Executors draw the subtrees. An attempt writes a file of its own; the driver names exactly one for each subtree.
6. The named files are **sealed**, the ledger **settles**, one rename **shows** the folder. Keys and counts are destroyed.

A driver that is killed goes on from the manifest and the key, which lies wrapped beside the ledger, when the same release is
started again: the same key meets the same counts, so it draws the same noise. If it is never started again, the charge stays.
What is handed out are the files of step 6, never a frame that Spark would compute again.

Proof: ``job.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.engines.complaints import failed
from sudare.errors import OutputError, SudareError
from sudare.noise.addressed import NoiseKey
from sudare.privacy import ReleaseEvent
from sudare.releases.accounts import Identity, OpenAccount
from sudare.releases.folder_store import Released
from sudare.releases.header import PlanHeader
from sudare.releases.kind import Attacked, Drawn, Run, TickKind, WindowRequest
from sudare.releases.progress import Progress
from sudare.releases.protocol import carry_out_tick
from sudare.releases.subtrees.cluster_settings import require_protected, use_this_python
from sudare.releases.subtrees.confidential_folder import ConfidentialFolder, TaskOrder
from sudare.releases.subtrees.counting import SubtreePart, count_on_cluster, draw_on_cluster
from sudare.releases.subtrees.counts_manifest import CountsManifest
from sudare.releases.subtrees.document import PublishedParts, SubtreesDocument, write_subtrees_document
from sudare.releases.subtrees.plan import SUBTREES_FORMAT, SubtreePlan
from sudare.releases.subtrees.tasks import write_cells
from sudare.releases.subtrees.verification import verify_subtrees
from sudare.releases.subtrees.wrapped_key import WrappedKey
from sudare.releases.verification import Check
from sudare.spark.pins import InputPin
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import translate_errors
from sudare.tables.addressed.refining import UpperLevels, cut_by_people, refine_upper_levels
from sudare.tables.addressed.tree import AddressedTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ClusterCounts", "SubtreeJob", "SubtreesKind", "read_cells", "release_subtrees"]

UPPER = "cells-upper.parquet"


class ClusterCounts(Protocol):
    """Where the counts of a release come from."""

    def session(self) -> AbstractContextManager[Any]:
        """A session of Spark, for as long as it is entered."""
        ...

    def frame(self, session: Any, account: OpenAccount) -> tuple[Any, InputPin | None]:
        """A frame of keys of cells and counts, each cell once; and which state of the data it shows. Nothing is counted yet.

        Args:
            session: from `session`.
            account: whose cost is reserved.
        """
        ...

    def explain(self, failure: Exception) -> SudareError:
        """What to say where Spark could not count; nothing of the data."""
        ...


@dataclass(frozen=True)
class FrameCounts:
    """Counts of a frame that there is.

    Attributes:
        counts: the frame.
    """

    counts: Any

    def session(self) -> AbstractContextManager[Any]:
        """The frame's own."""
        return nullcontext(self.counts.sparkSession)

    def frame(self, session: Any, account: OpenAccount) -> tuple[Any, InputPin | None]:
        """The frame."""
        return self.counts, None

    def explain(self, failure: Exception) -> SudareError:
        """Nothing is known of the frame."""
        return failed("Spark")


@dataclass(frozen=True, kw_only=True, eq=False)
class SubtreeJob:
    """A release on its way.

    Attributes:
        plan: what is released.
        counts: where the counts come from.
        accept_missing: names of settings that the cluster may lack.
    """

    plan: SubtreePlan
    counts: ClusterCounts
    accept_missing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class StagedCounts:
    """Counts in the confidential folder.

    Attributes:
        tree: that will be measured.
        event: what it costs.
        key: of the noise.
        manifest: what the counts are.
        folder: where they are.
        pin: which state of the data they are of.
        session: of Spark, open until they are drawn.
        opened: closes the session.
    """

    tree: AddressedTree
    event: ReleaseEvent
    key: NoiseKey
    manifest: CountsManifest
    folder: ConfidentialFolder
    pin: InputPin | None
    session: Any
    opened: ExitStack


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnParts:
    """What was drawn: levels above the cut here, and files of the executors.

    Attributes:
        data: what it was drawn from.
        upper: cells that were placed above the cut.
        parts: one file for each subtree.
        keyed_hash: of the counts.
    """

    data: StagedCounts
    upper: UpperLevels
    parts: list[SubtreePart]
    keyed_hash: str


class SubtreesKind(TickKind[SubtreeJob, StagedCounts, DrawnParts, SubtreesDocument]):
    """Tables that are drawn by the executors of a cluster."""

    name = "subtrees"
    report_format = SUBTREES_FORMAT
    refusals: tuple[type[BaseException], ...] = ()

    def read_plan(self, file: Path, folder: Path | None = None) -> SubtreeJob:
        """Plans in files are read by the kind of `sudare.releases.kinds.subtrees`."""
        raise TypeError("this release is described by no file")

    def header(self, plan: SubtreeJob) -> PlanHeader:
        """What the protocol needs to know of a plan."""
        return plan.plan.header

    def identity(self, plan: SubtreeJob, last_opt_out: int) -> Identity:
        """The plan. Who opted out decides what is counted, not which release it is."""
        return Identity(fingerprint=plan.plan.fingerprint("release"))

    def window(self, plan: SubtreeJob) -> WindowRequest:
        """One release."""
        return WindowRequest(
            fingerprint=plan.plan.fingerprint("window"),
            ticks=1,
            tick=0,
            purpose=plan.plan.title,
            measurements=plan.plan.event().measurements,
            is_single=True,
        )

    def read(self, plan: SubtreeJob, run: Run) -> StagedCounts:
        """Have the cluster count, or take the counts of a run that was stopped."""
        account = run.paid
        confidential, kept_key = _confidential(plan.plan, account), _kept_key(plan.plan, account)
        name = self.window(plan).name_in(account.ledger, account.dataset)
        known = account.ledger.windows.find(account.dataset, name)
        begun_before = known is not None and known.open_tick is not None
        key = kept_key.open(may_be_new=not begun_before)
        planned = plan.plan.planned(key)
        with translate_errors(plan.plan.folder):
            confidential.open()
            manifest, pin = confidential.manifest(), confidential.pin()
        with ExitStack() as stack:
            if manifest is None:
                run.tell("count", None)
            session = stack.enter_context(plan.counts.session())
            require_cluster(plan, session)
            if manifest is None:
                frame, pin = plan.counts.frame(session, account)
                with translate_errors(plan.plan.folder):
                    confidential.keep_pin(pin)
                manifest = count_on_cluster(
                    session,
                    frame,
                    planned.tree,
                    confidential,
                    lambda share: run.tell("count", share),
                    plan.counts.explain,
                )
            opened = stack.pop_all()
        run.tell("bind", None)
        return StagedCounts(
            tree=planned.tree,
            event=planned.event,
            key=key,
            manifest=manifest,
            folder=confidential,
            pin=pin,
            session=session,
            opened=opened,
        )

    def binding(self, plan: SubtreeJob, data: StagedCounts, run: Run) -> str:
        """The keyed hash of the manifest."""
        return data.manifest.binding(run.paid.secret, plan.plan.fingerprint("release"))

    def draw(self, plan: SubtreeJob, data: StagedCounts, run: Run) -> Drawn[DrawnParts]:
        """Draw the upper levels here, and have the rest drawn."""
        run.tell("draw", 0.0)
        tree, manifest = data.tree, data.manifest
        people: NDArray[np.int64] = np.array([one.people for one in manifest.anchors], dtype=np.int64)
        anchors = np.array(manifest.prefixes, dtype=np.uint64)
        upper = refine_upper_levels(tree, data.key, anchors, people, cut_by_people(plan.plan.people_per_subtree))
        with translate_errors(plan.plan.folder):
            for subtree in upper.subtrees:
                first = subtree.anchor.prefix
                last = first + (1 << tree.heights[subtree.anchor.level]) - 1
                data.folder.give_order(TaskOrder(subtree, manifest.digests_within(first, last)))
        run.tell("draw", 0.1)
        with data.opened:
            parts = draw_on_cluster(
                data.session, tree, data.folder, upper.subtrees, lambda share: run.tell("draw", 0.1 + 0.8 * share)
            )
        run.tell("draw", 0.9)
        data.key.destroy()
        keyed_hash = self.binding(plan, data, run)
        return Drawn(result=DrawnParts(data=data, upper=upper, parts=parts, keyed_hash=keyed_hash), event=data.event)

    def keep(self, plan: SubtreeJob, data: StagedCounts, drawn: Drawn[DrawnParts], run: Run) -> None:
        """All that a run needs that goes on is on the disk already."""

    def write(self, plan: SubtreeJob, drawn: Drawn[DrawnParts], folder: Path, run: Run) -> SubtreesDocument:
        """Take one file of each subtree, and make the document."""
        run.tell("write", None)
        result = drawn.result
        tree, upper = result.data.tree, result.upper
        write_cells(folder / UPPER, tree.layout.to_raster(upper.leaves), upper.counts)
        files, total, cells = [folder / UPPER], int(upper.counts.sum()), int(upper.leaves.size)
        for part in result.parts:
            path = folder / f"cells-{part.level}-{part.prefix:016x}.parquet"
            path.write_bytes((result.data.folder.parts / part.name).read_bytes())
            if hash_of_file(path) != part.digest:
                raise OutputError(
                    f"The part '{part.name}' is not what its task wrote; run the same release again, at no cost.",
                    f"部分ファイル「{part.name}」がタスクの出力と異なります。同じ公表を再実行してください（費用はかかりません）。",
                )
            files.append(path)
            total, cells = total + part.people, cells + part.cells
        if drawn.event is None:
            raise TypeError("a release without an event")
        return write_subtrees_document(
            plan.plan,
            drawn.event,
            run.paid,
            sorted(files),
            PublishedParts(total=total, non_empty_cells=cells, parts=len(files), count=plan.plan.count),
            result.keyed_hash,
            result.data.pin,
        )

    def report(
        self, plan: SubtreeJob, draft: SubtreesDocument, folder: Path, attacked: Attacked, *, even_if_broken: bool
    ) -> SubtreesDocument:
        """A table that fits no machine has no page."""
        return draft

    def fault_of(self, folder: Path) -> Check | None:
        """The first check of a folder that fails."""
        return next((check for check in self.check(folder) if check.outcome == "failed"), None)

    def check(self, folder: Path, ledger: str | None = None) -> list[Check]:
        """Check a folder; see `verify_subtrees`."""
        return verify_subtrees(folder, ledger)

    def forget(self, plan: SubtreeJob, run: Run) -> None:
        """Destroy the key, subkeys and counts."""
        _kept_key(plan.plan, run.paid).destroy()
        _confidential(plan.plan, run.paid).destroy()


def release_subtrees(
    plan: SubtreePlan,
    counts: Any,
    *,
    accept_missing: Collection[str] = (),
    progress: Progress | None = None,
) -> Released[SubtreesDocument]:
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
    job = SubtreeJob(plan=plan, counts=FrameCounts(counts), accept_missing=tuple(accept_missing))
    require_cluster(job, counts.sparkSession)
    return carry_out_tick(SubtreesKind(), job, progress=progress)


def require_cluster(job: SubtreeJob, session: Any) -> None:
    """Refuse a cluster that does not protect what it is given; and have a Spark on this machine use this Python."""
    require_protected(session, job.accept_missing)
    use_this_python(session)


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


def _confidential(plan: SubtreePlan, account: OpenAccount) -> ConfidentialFolder:
    return ConfidentialFolder(plan.folder, plan.fingerprint("release"))


def _kept_key(plan: SubtreePlan, account: OpenAccount) -> WrappedKey:
    beside = plan.folder.absolute().parent if "://" in str(plan.ledger) else Path(plan.ledger).absolute().parent
    return WrappedKey(beside / ".sudare-keys", account.secret, plan.fingerprint("release"))
