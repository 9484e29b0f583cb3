"""The averaging attack: whether the sums that hold among true counts average bounded noise away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sudare.attacks.audits.averaging import answers_that_break, average_linked_cells
from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.releases.kinds.tables.attacking.interval_attacks import REMEDY
from sudare.releases.kinds.tables.confidential import HolderView
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.published_table import PublishedTables

__all__ = ["attack_by_averaging"]

MAX_LINKED = 3000
MAX_NOISE = 10**6
SURE = 0.99


def attack_by_averaging(
    published: PublishedTables, document: Mapping[str, Any], holder: HolderView | None
) -> AttackReport:
    """Whether the sums that hold among true counts average the noise of cell keys away.

    Args:
        published: counts with noise.
        document: what ``release.json`` says; it states the noise.
        holder: which counts are unsafe; None for a public reader, who looks at small ones.

    Raises:
        InputError: if the report does not state its noise.
    """
    try:
        noise = document["settings"]["noise"]
        law = NoiseLaw.of(whole_number(noise["lowest"], -MAX_NOISE, MAX_NOISE), noise["probabilities"])
    except (LookupError, TypeError, ValueError, ArithmeticError, ParameterError):
        raise InputError("The report does not state its noise.", "報告書にノイズの記載がありません。") from None
    try:
        needed = answers_that_break(law, sure=SURE)
    except ParameterError:  # wider than any number of answers that somebody would ask for
        needed = 0
    verdicts = []
    said = Words(
        f"The same cell gets the same noise in every table, so that asking again tells nothing; with fresh noise each time, "
        f"{needed:,} answers would tell the count.",
        "同じセルには常に同じノイズが付くため、繰り返し尋ねても何もわかりません"
        f"（毎回異なるノイズなら {needed:,} 回で件数がわかります）。",
    )
    if needed:
        verdicts.append(Verdict("averaging", "repeated answers", AttackOutcome.HELD, float(needed), said, REMEDY))
    if published.system.size > MAX_LINKED:
        large = Words(
            "The table is too large to average over its sums.", "表が大きいため、合計による平均化は調べていません。"
        )
        verdicts.append(Verdict("averaging", "sums of cells", AttackOutcome.UNDECIDED, math.nan, large, REMEDY))
        return AttackReport.of("averaging", large, verdicts)
    found = average_linked_cells(
        published.values,
        published.system.equations.toarray(),
        law,
        names=[published.system.label(cell) for cell in range(published.system.size)],
        sure=SURE,
    )
    if holder is None:
        targets = np.flatnonzero((found.estimates > 0) & (found.estimates < 3)).tolist()
    else:
        targets = np.flatnonzero(holder.problem.primary).tolist()
    by_name = {verdict.target: verdict for verdict in found.report().verdicts}
    verdicts += [by_name[found.names[cell]] for cell in targets]
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
    summary = Words(
        f"Averaging over all sums makes {broken:,} of {len(targets):,} unsafe counts all but certain.",
        f"すべての合計を使って平均しても、一次秘匿対象の {len(targets):,} 件数のうちほぼ確定するのは {broken:,} です。",
    )
    return AttackReport.of("averaging", summary, verdicts)
