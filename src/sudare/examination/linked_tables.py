"""Attacks on one or more tables of counts of the same people: reconstruction, differencing, averaging.

Each returns a report, or says why it does not apply.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sudare.attacks.audits.averaging import average_answers
from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.tables.differencing import LEGIBLE_DEVIATION, PublishedCell, attack_by_differences
from sudare.attacks.tables.published_statistics import PublishedCount
from sudare.attacks.tables.reconstruction import REMEDY, Reconstruction, reconstruct
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import MissingPackageError, ParameterError
from sudare.examination.findings import NotApplied
from sudare.examination.views import CommonDomain, IncompatibleTables, TableView, ViewCell

__all__ = ["average_views", "difference_views", "reconstruct_views", "sharpest_look", "with_different_names"]

MAX_KINDS_RECONSTRUCTED = 5_000
MAX_MEMBERSHIPS = 3_000_000
"""Of pieces in cells, over all tables that are compared."""
MAX_AVERAGED = 10_000
SURE = 0.99
REMEDY_OF_DEVIATION = Words(
    "Stop publishing about these people, or charge further releases to the same budget and end where it is spent.",
    "同じ人々についての公表をやめるか、以後の公表を同じ予算に課金し、使い切ったら終えてください。",
)
NOT_AVERAGED = Words(
    f"Only the {MAX_AVERAGED:,} smallest counts were guessed one by one.",
    f"一つずつ推定したのは、小さい方から {MAX_AVERAGED:,} 個の度数だけです。",
)


def with_different_names(views: Sequence[TableView]) -> tuple[TableView, ...]:
    """The tables, with a number behind a name that was there before."""
    seen: dict[str, int] = {}
    named = []
    for view in views:
        seen[view.name] = seen.get(view.name, 0) + 1
        number = seen[view.name]
        named.append(view if number == 1 else replace(view, name=f"{view.name} ({number})"))
    return tuple(named)


def reconstruct_views(views: Sequence[TableView], *, seconds: float) -> AttackReport | NotApplied:
    """Look for the people behind tables: how many data sets fit them all, and which small counts are the same in all.

    Args:
        views: of the same people.
        seconds: how long to search.
    """
    attack = "reconstruction"
    try:
        common = CommonDomain(views)
    except IncompatibleTables as reason:
        return NotApplied(attack, reason.words, reason.is_open)
    if common.domain.size > MAX_KINDS_RECONSTRUCTED:
        return _too_large(attack, common.domain.size, MAX_KINDS_RECONSTRUCTED)
    largest = max((cell.high for view in views for cell in view.cells if cell.high is not None), default=0)
    statistics = [
        PublishedCount(cell.low, largest if cell.high is None else cell.high, common.where(view, cell))
        for view in views
        for cell in view.cells
        if cell.high is not None or cell.low
    ]
    threshold = max(view.threshold for view in views)
    hidden = [(view, cell) for view in views for cell in view.cells if cell.count is None and cell.low != cell.high]
    groups = [common.where(view, cell) for view, cell in hidden]
    try:
        found = reconstruct(common.domain, statistics, groups=groups, seconds=seconds)
        names = [cell.label if len(views) == 1 else f"{view.name}: {cell.label}" for view, cell in hidden]
        is_kind = [int(common.domain.members(group).sum()) == 1 for group in groups]
        return _with_hidden_cells(found, names, is_kind, threshold)
    except MissingPackageError as missing:
        return NotApplied(attack, Words(missing.english, missing.japanese), is_open=True)
    except ParameterError:
        return NotApplied(
            attack,
            Words(
                "Nothing published bounds the number of some people: no total is known.",
                "人数の上限を与える公表値がありません(合計が不明です)。",
            ),
            is_open=True,
        )


def _with_hidden_cells(
    found: Reconstruction, names: Sequence[str], is_kind: Sequence[bool], threshold: int
) -> AttackReport:
    """The report on people, with a verdict for each hidden cell; those of one kind of people have theirs already."""
    report = found.report(threshold)
    if not found.groups:
        return report
    verdicts = []
    for name, least, largest in zip(
        names, found.least_of_groups.tolist(), found.largest_of_groups.tolist(), strict=True
    ):
        if not found.groups_are_exact:
            outcome, sentence = AttackOutcome.UNDECIDED, Words("Time ran out.", "時間切れです。")
        elif least == largest:
            outcome = AttackOutcome.BROKEN if 0 < least < threshold else AttackOutcome.HELD
            sentence = Words(
                f"The hidden count is {least}: nothing else fits the tables.", f"秘匿した度数は {least} に確定します。"
            )
        else:
            outcome = AttackOutcome.HELD
            sentence = Words(
                f"The hidden count is {least} or more, and not determined.",
                f"秘匿した度数は {least} 以上で、確定しません。",
            )
        verdicts.append(Verdict("reconstruction", name, outcome, float(least), sentence, REMEDY))
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
    summary = Words(
        f"{report.summary.english} {broken:,} of {len(verdicts):,} hidden counts are determined and small.",
        f"{report.summary.japanese}秘匿した {len(verdicts):,} 個の度数のうち、{broken:,} 個の小さな度数が確定します。",
    )
    further = [verdict for verdict, is_told in zip(verdicts, is_kind, strict=True) if not is_told]
    return AttackReport.of("reconstruction", summary, [*further, *report.verdicts])


def difference_views(views: Sequence[TableView]) -> AttackReport | NotApplied:
    """Look for combinations of published cells that leave few people.

    Args:
        views: of the same people.
    """
    attack = "differencing"
    try:
        common = CommonDomain(views)
    except IncompatibleTables as reason:
        return NotApplied(attack, reason.words, reason.is_open)
    members = 0
    cells = []
    for view in views:
        for cell in view.cells:
            if cell.count is None:
                continue
            pieces = np.flatnonzero(common.members(view, cell))
            members += pieces.size
            if members > MAX_MEMBERSHIPS:
                return _too_large(attack, members, MAX_MEMBERSHIPS)
            name = f"{view.name}: {cell.label}"
            cells.append(PublishedCell(name, frozenset(pieces.tolist()), cell.count, view.deviation))
    threshold = max(view.threshold for view in views)
    return attack_by_differences(_with_different_labels(cells), threshold=threshold).report()


def average_views(views: Sequence[TableView]) -> AttackReport | NotApplied:
    """Guess the true counts of cells that were published with noise, from all answers about each of them.

    Args:
        views: of the same people; those without noise are left out.
    """
    attack = "averaging"
    noisy = [view for view in views if view.law is not None]
    try:
        common = CommonDomain(noisy)
    except IncompatibleTables as reason:
        return NotApplied(attack, reason.words, reason.is_open)
    answers: dict[tuple[tuple[str, frozenset[str]], ...], list[tuple[ViewCell, NoiseLaw]]] = {}
    for view in noisy:
        for cell in view.cells:
            if cell.count is not None and view.law is not None:
                key = tuple(sorted(common.where(view, cell).items()))
                answers.setdefault(key, []).append((cell, view.law))
    if not answers:
        return NotApplied(
            attack, Words("No count was published with noise.", "ノイズ付きで公表された度数がありません。")
        )
    # Small counts first: they are what noise is for.
    looked_at = sorted(answers.values(), key=lambda told: min(cell.count or 0 for cell, _ in told))[:MAX_AVERAGED]
    verdicts: list[Verdict] = []
    for group in _alike(looked_at):
        table = [[cell.count or 0 for cell, _ in told] for told in group]
        names = [told[0][0].label for told in group]
        found = average_answers(table, [law for _, law in group[0]], names=names, floor=0, sure=SURE)
        verdicts.extend(found.report().verdicts)
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
    deviation = min(_deviation([law for _, law in told]) for told in answers.values())
    most = max(len(told) for told in answers.values())
    verdicts.append(_sharpest(deviation, most))
    if len(looked_at) < len(answers):
        verdicts.append(
            Verdict(attack, "the other counts", AttackOutcome.UNDECIDED, math.nan, NOT_AVERAGED, REMEDY_OF_DEVIATION)
        )
    summary = Words(
        f"{broken:,} of {len(looked_at):,} noisy counts are known with a confidence of {SURE:.0%} or more. "
        f"The sharpest look at a count has a standard deviation of {deviation:.2g}, from {most} answer(s) together.",
        f"ノイズ付きの度数 {len(looked_at):,} 個のうち {broken:,} 個が {SURE:.0%} 以上の確信度でわかります。"
        f"最も正確な値の標準偏差は、{most} 回の回答を合わせて {deviation:.2g} 人です。",
    )
    return AttackReport.of(attack, summary, verdicts)


def _alike(answers: Sequence[list[tuple[ViewCell, NoiseLaw]]]) -> list[list[list[tuple[ViewCell, NoiseLaw]]]]:
    """Cells that were answered by the same releases."""
    groups: dict[tuple[int, ...], list[list[tuple[ViewCell, NoiseLaw]]]] = {}
    for told in answers:
        groups.setdefault(tuple(id(law) for _, law in told), []).append(told)
    return list(groups.values())


def _deviation(laws: Sequence[NoiseLaw]) -> float:
    """Of the best weighted mean of answers with these noises."""
    if any(law.variance == 0 for law in laws):
        return 0.0
    return 1 / math.sqrt(sum(1 / law.variance for law in laws))


def sharpest_look(laws: Sequence[NoiseLaw]) -> AttackReport:
    """What is known of every count of tables that are too large to look at each: how sharp all answers together are.

    Args:
        laws: of the noise of a count, in each table.
    """
    deviation = _deviation(laws)
    summary = Words(
        f"The table is too large to guess each count. Together, {len(laws)} answer(s) about a count have a standard "
        f"deviation of {deviation:.2g}.",
        f"表が大きいため、度数を一つずつ推定していません。一つの度数についての {len(laws)} 回の回答を合わせた標準偏差は "
        f"{deviation:.2g} 人です。",
    )
    return AttackReport.of("averaging", summary, [_sharpest(deviation, len(laws))])


def _sharpest(deviation: float, answers: int) -> Verdict:
    return Verdict(
        "averaging",
        "the sharpest count",
        AttackOutcome.BROKEN if deviation <= LEGIBLE_DEVIATION else AttackOutcome.HELD,
        deviation,
        Words(
            f"All {answers} answer(s) together have a standard deviation of {deviation:.2g}; "
            f"below {LEGIBLE_DEVIATION:g} a count can simply be read.",
            f"{answers} 回の回答を合わせた標準偏差は {deviation:.2g} です。"
            f"{LEGIBLE_DEVIATION:g} を下回ると度数がそのまま読めます。",
        ),
        REMEDY_OF_DEVIATION,
    )


def _with_different_labels(cells: Sequence[PublishedCell]) -> list[PublishedCell]:
    seen: dict[str, int] = {}
    named = []
    for cell in cells:
        seen[cell.name] = seen.get(cell.name, 0) + 1
        named.append(cell if seen[cell.name] == 1 else replace(cell, name=f"{cell.name} ({seen[cell.name]})"))
    return named


def _too_large(attack: str, size: int, most: int) -> NotApplied:
    return NotApplied(
        attack,
        Words(
            f"The tables are too large for this attack: {size:,} where {most:,} are looked at. Attack a part of them.",
            f"この攻撃には表が大きすぎます({size:,}、上限 {most:,})。一部分を取り出して調べてください。",
        ),
        is_open=True,
    )
