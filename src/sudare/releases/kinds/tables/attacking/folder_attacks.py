"""Cheap attacks on a protected table, run before it is shown: on what a public reader gets, and on nothing else.

The interval attack sees the published files alone, by the linear programs of `sudare.attacks.tables.interval`; the code that
hid the cells takes no part in it. What the holder knows is used afterwards, to tell which intervals are too narrow. Tables
that were published before are put together with this one, since a reader has them all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.audits.averaging import answers_that_break, average_linked_cells
from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.tables.interval import CellIntervals, attack_suppressed_cells
from sudare.attacks.tables.solver import SolverFailure
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.releases.kinds.tables.attacking.knowledge import Knowledge, TrueCells, completed, knowledge_of, truth_of
from sudare.releases.kinds.tables.attacking.linked_attacks import ReaderView, combined, view_of_earlier
from sudare.releases.kinds.tables.attacking.mesh_attacks import attack_meshes
from sudare.releases.kinds.tables.confidential import HolderView, proof_holds, read_confidential
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.published_table import PublishedTables, read_published_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]

__all__ = ["attack_folder"]

MAX_UNKNOWNS = 800
"""Up to so many cells that are not known exactly, each end of each interval is found by a linear program."""

MAX_WORK_OF_INSIDERS = 4000
MAX_LINKED = 3000
MAX_NOISE = 10**6
CLOSE = 1e-6
SURE = 0.99
REMEDY = Words(
    "Hide further cells (secondary = true, or a higher protection level), take a larger base or noise, or publish with "
    "differential privacy.",
    "ほかのセルも秘匿するか（secondary = true、または保護幅を広げる）、丸めの基数や雑音を大きくするか、"
    "差分プライバシーで公表してください。",
)
REMEDY_OF_EARLIER = Words(
    "Hide the same cells as in the earlier table, or protect both as linked tables of one plan.",
    "前の表と同じセルを秘匿するか、両方を一つの計画でリンクした表として保護してください。",
)

PROVED = Words(
    "Too large for a linear program for each cell; the certificate was checked in whole numbers, and proves it safe.",
    "表が大きいため線形計画による攻撃は行わず、証明書を整数計算で確認し、安全であることを確かめました。",
)
KNOWN_BEFORE = Words(
    "Earlier tables tell it too closely already, and this one adds nothing.",
    "以前の表だけから狭すぎる範囲で推定でき、この表によって範囲が狭まることはありません。",
)
TOO_LARGE = Words(
    "Too large for a linear program for each cell; nothing follows by subtraction.",
    "表が大きいため線形計画による攻撃は行っていません。引き算では求まりません。",
)


def attack_folder(
    folder: Path, document: Mapping[str, Any], *, earlier: Sequence[Path] = ()
) -> tuple[AttackReport, ...]:
    """Attack the published tables of a folder.

    Args:
        folder: with the tables, and ``confidential.json`` if whoever asks is the holder; without it, a cell counts as broken
            only if its value is certain.
        document: what its ``release.json`` says.
        earlier: folders of protected tables about the same data that were published before.

    Returns:
        A report of each attack that applies: ``interval`` for every table, ``insiders`` where the holder's file tells who they
        are, ``earlier`` and ``differencing`` with earlier folders, ``averaging`` for cell keys, ``merging`` for meshes.

    Raises:
        InputError: if a folder is not what it should be, or an earlier table contradicts this one.
    """
    try:
        method = str(document["method"])
    except (KeyError, TypeError):
        raise InputError("The report does not name its method.", "レポートに手法の記載がありません。") from None
    if method == "merge-meshes":
        return attack_meshes(folder, document, earlier)
    published = read_published_tables(folder, document)
    holder = read_confidential(folder, published)
    if holder is not None:
        published = published.in_units(holder.decimals)
    knowledge, truth = knowledge_of(published, document), truth_of(published, holder)
    is_proved = holder is not None and proof_holds(folder, published, holder)
    reports = [_interval("interval", knowledge, truth, REMEDY, is_proved=is_proved)]
    if holder is not None and method == "suppress":
        reports.append(_insiders(knowledge, truth, holder, is_proved=is_proved))
    if method == "cell-key":
        reports.append(_averaging(published, document, holder))
    if earlier:
        own = ReaderView(knowledge, truth)
        reports.append(_with_earlier(own, view_of_earlier([Path(place) for place in earlier], own, document)))
    return tuple(reports)


def _relevant_insiders(knowledge: Knowledge, holder: HolderView) -> list[int]:
    """Those who know a hidden cell; all others see what everybody sees."""
    hidden = knowledge.open
    return [number for number, cells in enumerate(holder.problem.insiders) if hidden[list(cells)].any()]


def _interval(
    name: str, knowledge: Knowledge, truth: TrueCells, remedy: Words, *, is_proved: bool = False
) -> AttackReport:
    """Bounds of every cell that is not known, compared with what was promised where that is known."""
    if not truth.targets.any():
        summary = Words(
            "There is no cell to attack: nothing is hidden and nothing is unsafe.",
            "攻撃の対象となるセルはありません（秘匿も危険なセルもありません）。",
        )
        return AttackReport.of(name, summary, [])
    verdicts, more = _verdicts(name, knowledge, truth, remedy, is_proved=is_proved)
    return AttackReport.of(name, _summary(verdicts, more), verdicts.values())


def _with_earlier(own: ReaderView, before: ReaderView) -> AttackReport:
    """The attack by a reader of all tables.

    What this table has to hide must not be known from earlier ones. Of all other cells, what the earlier tables tell without
    this one is not this one's doing.
    """
    name, remedy = "earlier", REMEDY_OF_EARLIER
    together = combined(own, before)
    if not together.truth.targets.any():
        return _interval(name, together.knowledge, together.truth, remedy)
    verdicts, more = _verdicts(name, together.knowledge, together.truth, remedy)
    own_targets = set(np.flatnonzero(own.truth.targets).tolist())
    broken = [
        cell
        for cell, verdict in verdicts.items()
        if verdict.outcome is AttackOutcome.BROKEN and cell not in own_targets
    ]
    places = own.knowledge.system.places_of(before.knowledge.system)
    if np.isin(broken, places).any():
        alone, _ = _verdicts(name, *_of_cells(before, together, places), remedy)
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
    return AttackReport.of(name, _summary(verdicts, more), verdicts.values())


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


def _summary(verdicts: Mapping[int, Verdict], more: Words) -> Words:
    broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts.values())
    return Words(
        f"{broken:,} of {len(verdicts):,} cells that must stay uncertain can be worked out too closely.{more.english}",
        f"守るべき {len(verdicts):,} セルのうち {broken:,} セルが、許されるより狭い範囲で推定できます。{more.japanese}",
    )


def _verdicts(
    name: str, knowledge: Knowledge, truth: TrueCells, remedy: Words, *, is_proved: bool = False
) -> tuple[dict[int, Verdict], Words]:
    """A verdict for each cell that must stay uncertain, and what else there is to say."""
    targets = truth.targets
    known = np.flatnonzero(targets & ~knowledge.open).tolist()
    verdicts = {cell: _exact_verdict(name, knowledge, cell, remedy) for cell in known}
    found = None
    if (targets & knowledge.open).any() and int(knowledge.open.sum()) <= MAX_UNKNOWNS:
        with suppress(SolverFailure):  # what was not found out is undecided
            found = _bounds(knowledge, truth)
    more = Words("", "")
    if found is not None:
        cells = {label: cell for cell, label in zip(found.cells.tolist(), found.names, strict=True)}
        chosen = _restricted(found, np.flatnonzero(targets[found.cells]))
        verdicts |= {
            cells[verdict.target]: replace(verdict, attack=name, remedy=remedy) for verdict in chosen.report().verdicts
        }
    elif (targets & knowledge.open).any():
        verdicts |= _by_subtraction(name, knowledge, truth, remedy, is_proved=is_proved)
        words = PROVED if is_proved else TOO_LARGE
        more = Words(f" {words.english}", words.japanese)
    return verdicts, more


def _exact_verdict(name: str, knowledge: Knowledge, cell: int, remedy: Words) -> Verdict:
    sentence = Words("The unsafe cell is published, or follows from what is.", "守るべきセルの値が公表されています。")
    return Verdict(name, knowledge.system.label(cell), AttackOutcome.BROKEN, 0.0, sentence, remedy)


def _bounds(knowledge: Knowledge, truth: TrueCells) -> CellIntervals:
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


def _restricted(found: CellIntervals, places: NDArray[np.intp]) -> CellIntervals:
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


def _insiders(knowledge: Knowledge, truth: TrueCells, holder: HolderView, *, is_proved: bool) -> AttackReport:
    """The same attack by each contributor who is alone in a hidden cell, and therefore knows it."""
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
    found = _bounds(view, truth)
    lower, upper = found.required_lower.copy(), found.required_upper.copy()
    places = []
    for place, cell in enumerate(found.cells.tolist()):
        if cell in wanted:
            lower[place], upper[place] = wanted[cell].lower, wanted[cell].upper
            places.append(place)
    chosen = _restricted(replace(found, required_lower=lower, required_upper=upper), np.array(places, dtype=np.intp))
    return [
        replace(one, attack="insiders", target=f"{one.target} ({insider})", remedy=REMEDY)
        for one in chosen.report().verdicts
    ]


def _averaging(published: PublishedTables, document: Mapping[str, Any], holder: HolderView | None) -> AttackReport:
    """Whether the sums that hold among true counts average the noise of cell keys away."""
    try:
        noise = document["settings"]["noise"]
        law = NoiseLaw.of(whole_number(noise["lowest"], -MAX_NOISE, MAX_NOISE), noise["probabilities"])
    except (LookupError, TypeError, ValueError, ArithmeticError, ParameterError):
        raise InputError("The report does not state its noise.", "レポートに雑音の記載がありません。") from None
    try:
        needed = answers_that_break(law, sure=SURE)
    except ParameterError:  # wider than any number of answers that somebody would ask for
        needed = 0
    verdicts = []
    said = Words(
        f"The same cell gets the same noise in every table, so that asking again tells nothing; with fresh noise each time, "
        f"{needed:,} answers would tell the count.",
        "同じセルには常に同じ雑音が付くため、繰り返し尋ねても何もわかりません"
        f"（毎回異なる雑音なら {needed:,} 回で件数がわかります）。",
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
        f"すべての合計を使って平均しても、守るべき {len(targets):,} 件数のうちほぼ確定するのは {broken:,} です。",
    )
    return AttackReport.of("averaging", summary, verdicts)
