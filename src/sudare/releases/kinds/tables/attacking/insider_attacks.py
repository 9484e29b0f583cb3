"""The interval attack by insiders: contributors who are alone in a hidden cell, and subtract what they know."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sudare.attacks.tables.solver import SolverFailure
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.releases.kinds.tables.attacking.interval_attacks import (
    PROVED,
    REMEDY,
    TOO_LARGE,
    bounds_of,
    restricted_to,
)
from sudare.releases.kinds.tables.attacking.knowledge import Knowledge, TrueCells
from sudare.releases.kinds.tables.confidential import HolderView

__all__ = ["attack_by_insiders"]

MAX_WORK_OF_INSIDERS = 4000


def attack_by_insiders(knowledge: Knowledge, truth: TrueCells, holder: HolderView, *, is_proved: bool) -> AttackReport:
    """The interval attack by each contributor who is alone in a hidden cell, and therefore knows it.

    Args:
        knowledge: between which values everybody knows each cell to be.
        truth: what is compared with it afterwards.
        holder: who the insiders are, and what must stay uncertain to them.
        is_proved: whether a certificate proves the hidden cells safe.
    """
    problem = holder.problem
    verdicts: list[Verdict] = []
    relevant = _relevant_insiders(knowledge, holder)
    is_cheap = len(relevant) * int(knowledge.open.sum()) <= MAX_WORK_OF_INSIDERS
    try:
        for number in relevant if is_cheap else ():
            known = list(problem.insiders[number])
            low, high = knowledge.low.copy(), knowledge.high.copy()
            low[known] = holder.values[known]
            high[known] = holder.values[known]
            view = Knowledge(knowledge.system, low, high, knowledge.decimals)
            asked = [problem.against(one, number) for one in problem.requirements if len(one.cells) == 1]
            wanted = {one.cells[0]: one for one in asked if one is not None and (one.lower or one.upper)}
            if wanted:
                verdicts += _insider_verdicts(view, truth, wanted, knowledge.system.label(known[0]))
    except SolverFailure:
        is_cheap = False
    if not is_cheap:
        outcome, sentence = (AttackOutcome.HELD, PROVED) if is_proved else (AttackOutcome.UNDECIDED, TOO_LARGE)
        verdicts.append(Verdict("insiders", "contributors alone in a cell", outcome, math.nan, sentence, REMEDY))
        if not any(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts):
            return AttackReport.of("insiders", sentence, verdicts)
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
    summary = Words(
        f"Contributors who are alone in a cell work out {broken:,} of {len(verdicts):,} other cells too closely.",
        f"一つのセルに一者だけの提供者が、ほかの {len(verdicts):,} セルのうち {broken:,} セルを、"
        "許されるより狭い範囲で推定できます。",
    )
    return AttackReport.of("insiders", summary, verdicts)


def _insider_verdicts(view: Knowledge, truth: TrueCells, wanted: Mapping[int, Any], insider: str) -> list[Verdict]:
    found = bounds_of(view, truth)
    lower, upper = found.required_lower.copy(), found.required_upper.copy()
    places = []
    for place, cell in enumerate(found.cells.tolist()):
        if cell in wanted:
            lower[place], upper[place] = wanted[cell].lower, wanted[cell].upper
            places.append(place)
    chosen = restricted_to(replace(found, required_lower=lower, required_upper=upper), np.array(places, dtype=np.intp))
    return [
        replace(one, attack="insiders", target=f"{one.target} ({insider})", remedy=REMEDY)
        for one in chosen.report().verdicts
    ]


def _relevant_insiders(knowledge: Knowledge, holder: HolderView) -> list[int]:
    """Those who know a hidden cell; all others see what everybody sees."""
    hidden = knowledge.open
    return [number for number, cells in enumerate(holder.problem.insiders) if hidden[list(cells)].any()]
