"""The interval attack: between which values a reader of all that is published can tell every cell to be.

It sees the published values alone, by the linear programs of `sudare.attacks.tables.interval`; the code that hid the cells takes
no part in it. What the holder knows is used afterwards, to tell which intervals are too narrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.tables.interval import CellIntervals, attack_suppressed_cells
from sudare.attacks.tables.solver import SolverFailure
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.releases.kinds.tables.attacking.knowledge import Knowledge, TrueCells, completed

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "PROVED",
    "REMEDY",
    "TOO_LARGE",
    "bounds_of",
    "interval_report",
    "restricted_to",
    "summary_of",
    "verdicts_of",
]

MAX_UNKNOWNS = 800
"""Up to so many cells that are not known exactly, each end of each interval is found by a linear program."""

REMEDY = Words(
    "Hide further cells (secondary = true, or a higher protection level), take a larger base or noise, or publish with "
    "differential privacy.",
    "ほかのセルも秘匿するか（secondary = true、または保護幅を広げる）、丸めの基数やノイズを大きくするか、"
    "差分プライバシーで公表してください。",
)
PROVED = Words(
    "Too large for a linear program for each cell; the certificate was checked in whole numbers, and proves it safe.",
    "表が大きいため線形計画による攻撃は行わず、証明書を整数計算で確認し、安全であることを確かめました。",
)
TOO_LARGE = Words(
    "Too large for a linear program for each cell; nothing follows by subtraction.",
    "表が大きいため線形計画による攻撃は行っていません。引き算では求まりません。",
)


def interval_report(
    name: str, knowledge: Knowledge, truth: TrueCells, remedy: Words, *, is_proved: bool = False
) -> AttackReport:
    """Bounds of every cell that is not known, compared with what was promised where that is known.

    Args:
        name: of the attack.
        knowledge: between which values a reader knows each cell to be.
        truth: what is compared with it afterwards.
        remedy: what to do if it succeeds.
        is_proved: whether a certificate proves the hidden cells safe.
    """
    if not truth.targets.any():
        summary = Words(
            "There is no cell to attack: nothing is hidden and nothing is unsafe.",
            "攻撃の対象となるセルはありません（秘匿も危険なセルもありません）。",
        )
        return AttackReport.of(name, summary, [])
    verdicts, more = verdicts_of(name, knowledge, truth, remedy, is_proved=is_proved)
    return AttackReport.of(name, summary_of(verdicts, more), verdicts.values())


def summary_of(verdicts: Mapping[int, Verdict], more: Words) -> Words:
    """How many cells can be worked out too closely, and what else there is to say."""
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts.values())
    return Words(
        f"{broken:,} of {len(verdicts):,} cells that must stay uncertain can be worked out too closely.{more.english}",
        f"一次秘匿対象の {len(verdicts):,} セルのうち {broken:,} セルが、許されるより狭い範囲で推定できます。{more.japanese}",
    )


def verdicts_of(
    name: str, knowledge: Knowledge, truth: TrueCells, remedy: Words, *, is_proved: bool = False
) -> tuple[dict[int, Verdict], Words]:
    """A verdict for each cell that must stay uncertain, and what else there is to say; see `interval_report`."""
    targets = truth.targets
    known = np.flatnonzero(targets & ~knowledge.open).tolist()
    verdicts = {cell: _exact_verdict(name, knowledge, cell, remedy) for cell in known}
    found = None
    if (targets & knowledge.open).any() and int(knowledge.open.sum()) <= MAX_UNKNOWNS:
        with suppress(SolverFailure):  # what was not found out is undecided
            found = bounds_of(knowledge, truth)
    more = Words("", "")
    if found is not None:
        cells = {label: cell for cell, label in zip(found.cells.tolist(), found.names, strict=True)}
        chosen = restricted_to(found, np.flatnonzero(targets[found.cells]))
        verdicts |= {
            cells[verdict.target]: replace(verdict, attack=name, remedy=remedy) for verdict in chosen.report().verdicts
        }
    elif (targets & knowledge.open).any():
        verdicts |= _by_subtraction(name, knowledge, truth, remedy, is_proved=is_proved)
        words = PROVED if is_proved else TOO_LARGE
        more = Words(f" {words.english}", words.japanese)
    return verdicts, more


def _exact_verdict(name: str, knowledge: Knowledge, cell: int, remedy: Words) -> Verdict:
    sentence = Words(
        "The unsafe cell is published, or follows from what is.", "一次秘匿対象セルの値が公表されています。"
    )
    return Verdict(name, knowledge.system.label(cell), AttackOutcome.BROKEN, 0.0, sentence, remedy)


def bounds_of(knowledge: Knowledge, truth: TrueCells) -> CellIntervals:
    """The interval of every cell that is not known, by linear programs.

    Raises:
        InputError: if tables contradict each other.
        SolverFailure: if the solver gave up.
    """
    return attack_suppressed_cells(
        completed(knowledge, truth),
        knowledge.open,
        knowledge.system.equations,
        at_least=knowledge.low,
        at_most=knowledge.high,
        required_lower=truth.lower,
        required_upper=truth.upper,
        names=[knowledge.system.label(cell) for cell in range(knowledge.system.size)],
    )


def restricted_to(found: CellIntervals, places: NDArray[np.intp]) -> CellIntervals:
    """The intervals of some cells, by their places in the list."""
    return replace(
        found,
        cells=found.cells[places],
        names=tuple(found.names[place] for place in places.tolist()),
        values=found.values[places],
        lower=found.lower[places],
        upper=found.upper[places],
        required_lower=found.required_lower[places],
        required_upper=found.required_upper[places],
        slack=found.slack[places],
    )


def _by_subtraction(
    name: str, knowledge: Knowledge, truth: TrueCells, remedy: Words, *, is_proved: bool
) -> dict[int, Verdict]:
    """For tables too large for linear programs: what follows one cell after the other from sums in which it alone is missing.

    Bounds that the method itself leaves, such as those of rounding, are compared as well.
    """
    shape = abs(knowledge.system.equations)
    left = knowledge.open.copy()
    while True:
        alone = np.flatnonzero(shape @ left.astype(np.int64) == 1)
        if not alone.size:
            break
        left &= ~(np.asarray(shape[alone].sum(axis=0)).ravel() > 0)
    narrow = (knowledge.high < truth.values + truth.upper) | (knowledge.low > truth.values - truth.lower)
    verdicts = {}
    for cell in np.flatnonzero(truth.targets & knowledge.open).tolist():
        if not left[cell]:
            outcome, sentence = AttackOutcome.BROKEN, Words("It follows by subtraction.", "引き算で値が確定します。")
        elif truth.known[cell] and narrow[cell]:
            outcome = AttackOutcome.BROKEN
            sentence = Words(
                "The method itself leaves too narrow an interval.", "手法だけから、狭すぎる範囲がわかります。"
            )
        elif is_proved:
            outcome, sentence = AttackOutcome.HELD, PROVED
        else:
            outcome, sentence = AttackOutcome.UNDECIDED, TOO_LARGE
        number = float(knowledge.high[cell] - knowledge.low[cell]) if left[cell] else 0.0
        verdicts[cell] = Verdict(name, knowledge.system.label(cell), outcome, number, sentence, remedy)
    return verdicts
