"""Cheap attacks on published cells, run before they are shown: on what a public reader gets, and on nothing else.

The interval attack applies to every method; a method adds those that are about itself. Tables that were published before are put
together with this one, since a reader has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.releases.kinds.tables.attacking.interval_attacks import REMEDY, interval_report, summary_of, verdicts_of
from sudare.releases.kinds.tables.attacking.knowledge import Knowledge, TrueCells, knowledge_of, truth_of
from sudare.releases.kinds.tables.attacking.linked_attacks import ReaderView, combined, view_of_earlier
from sudare.releases.kinds.tables.confidential import HolderView, proof_holds, read_confidential
from sudare.releases.kinds.tables.published_table import PublishedTables, read_published_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AttackedCells", "attack_cells"]

CLOSE = 1e-6
REMEDY_OF_EARLIER = Words(
    "Hide the same cells as in the earlier table, or protect both as linked tables of one plan.",
    "前の表と同じセルを秘匿するか、両方を一つの計画でリンクした表として保護してください。",
)
KNOWN_BEFORE = Words(
    "Earlier tables tell it too closely already, and this one adds nothing.",
    "以前の表だけから狭すぎる範囲で推定でき、この表によって範囲が狭まることはありません。",
)


@dataclass(frozen=True, eq=False)
class AttackedCells:
    """Published cells as attacks see them.

    Attributes:
        published: what everybody has, in the units of the holder where the holder's file is there.
        document: what ``release.json`` says.
        knowledge: between which values a reader knows each cell to be.
        truth: what is compared with it afterwards.
        holder: what the holder knows; None for a public reader.
        is_proved: whether a certificate of the holder proves the hidden cells safe.
    """

    published: PublishedTables
    document: Mapping[str, Any]
    knowledge: Knowledge
    truth: TrueCells
    holder: HolderView | None
    is_proved: bool


def attack_cells(
    folder: Path,
    document: Mapping[str, Any],
    earlier: Sequence[Path],
    further: Callable[[AttackedCells], Sequence[AttackReport]],
) -> tuple[AttackReport, ...]:
    """Attack the published cells of a folder.

    Args:
        folder: with the tables, and ``confidential.json`` if the caller is the holder.
        document: what its ``release.json`` says.
        earlier: folders of protected tables about the same data that were published before.
        further: the attacks that are about the method itself.

    Raises:
        InputError: if a folder is not what it should be, or an earlier table contradicts this one.
    """
    published = read_published_tables(folder, document)
    holder = read_confidential(folder, published)
    if holder is not None:
        published = published.in_units(holder.decimals)
    knowledge, truth = knowledge_of(published, document), truth_of(published, holder)
    is_proved = holder is not None and proof_holds(folder, published, holder)
    reports = [interval_report("interval", knowledge, truth, REMEDY, is_proved=is_proved)]
    reports += further(AttackedCells(published, document, knowledge, truth, holder, is_proved))
    if earlier:
        own = ReaderView(knowledge, truth)
        reports.append(_with_earlier(own, view_of_earlier([Path(place) for place in earlier], own, document)))
    return tuple(reports)


def _with_earlier(own: ReaderView, before: ReaderView) -> AttackReport:
    """The attack by a reader of all tables.

    What this table has to hide must not be known from earlier ones. Of all other cells, what the earlier tables tell without
    this one is not this one's doing.
    """
    name, remedy = "earlier", REMEDY_OF_EARLIER
    together = combined(own, before)
    if not together.truth.targets.any():
        return interval_report(name, together.knowledge, together.truth, remedy)
    verdicts, more = verdicts_of(name, together.knowledge, together.truth, remedy)
    own_targets = set(np.flatnonzero(own.truth.targets).tolist())
    broken = [
        cell
        for cell, verdict in verdicts.items()
        if verdict.outcome is AttackOutcome.BROKEN and cell not in own_targets
    ]
    places = own.knowledge.system.places_of(before.knowledge.system)
    if np.isin(broken, places).any():
        alone, _ = verdicts_of(name, *_of_cells(before, together, places), remedy)
        earlier = {int(places[cell]): verdict for cell, verdict in alone.items()}
        known = [cell for cell in broken if cell in earlier and _is_no_worse(verdicts[cell], earlier[cell])]
        verdicts |= {
            cell: replace(verdicts[cell], outcome=AttackOutcome.UNDECIDED, sentence=KNOWN_BEFORE) for cell in known
        }
        if known:
            more = Words(
                f"{more.english} {len(known):,} others were known too closely from earlier tables already.",
                f"{more.japanese}ほかの {len(known):,} セルは、以前の表だけから狭すぎる範囲で推定できます。",
            )
    return AttackReport.of(name, summary_of(verdicts, more), verdicts.values())


def _of_cells(before: ReaderView, together: ReaderView, places: NDArray[np.int64]) -> tuple[Knowledge, TrueCells]:
    """What earlier tables tell, beside all that must stay uncertain by any table, in the units of all."""
    unit = 10 ** (together.knowledge.decimals - before.knowledge.decimals)
    old, truth = before.knowledge, together.truth
    knowledge = Knowledge(old.system, old.low * unit, old.high * unit, together.knowledge.decimals)
    return knowledge, TrueCells(
        truth.values[places], truth.known[places], truth.targets[places], truth.lower[places], truth.upper[places]
    )


def _is_no_worse(now: Verdict, before: Verdict) -> bool:
    """Whether a cell was broken before, by an interval that is not any narrower now; their widths are compared."""
    return before.outcome is AttackOutcome.BROKEN and now.number >= before.number - CLOSE * max(1.0, before.number)
