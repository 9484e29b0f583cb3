"""Cell suppression: unsafe cells are hidden, and others with them, until nobody can work the unsafe ones out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sudare.attacks.verdicts import AttackReport
from sudare.bilingual import Words
from sudare.disclosure.status import CellStatus
from sudare.disclosure.suppression.certificate import Certificate
from sudare.disclosure.suppression.secondary import Suppression, suppress
from sudare.errors import InputError
from sudare.releases.kinds.tables.attacking.cell_attacks import AttackedCells
from sudare.releases.kinds.tables.attacking.insider_attacks import attack_by_insiders
from sudare.releases.kinds.tables.confidential import CERTIFICATE, CONFIDENTIAL, read_confidential
from sudare.releases.kinds.tables.methods.cell_method import ATTACK_WORDS, CellMethod, Cost, Protected, problem_of
from sudare.releases.kinds.tables.methods.method import MethodWords
from sudare.releases.kinds.tables.planning.protection_plan import seconds_of, whole_within
from sudare.releases.kinds.tables.published_table import read_published_tables
from sudare.releases.kinds.tables.sources import JudgedTable
from sudare.releases.verification import Check, UnsoundError, outcome_of
from sudare.sections import Section
from sudare.storage.staging import document_in

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["SUPPRESSION", "Suppress", "SuppressedCells"]

WORDS = MethodWords(
    name=Words("Cell suppression", "セルの秘匿"),
    protects=Words(
        "Cells that would say too much about few contributors are hidden. Further cells are hidden with them, so that nobody can "
        "work out the first ones from totals: each stays uncertain within an interval that was required beforehand.",
        "少数の提供者の情報が現れるセルを秘匿し、合計からの引き算で求められないよう、ほかのセルもあわせて秘匿しています。"
        "一次秘匿対象の各セルの値は、あらかじめ定めた幅の範囲で不確かなままです。",
    ),
    keeps=Words("Every value that is shown is exact.", "公表している値はすべて正確です。"),
    limits=Words(
        "Not covered: likelihoods within an interval, contributors who pool what they know, knowledge from elsewhere, and other "
        "tables about the same data that were not protected together with this one.",
        "対象外: 範囲内での値の起こりやすさ、複数の提供者が知識を持ち寄る場合、ほかからの知識、"
        "この表と一緒に保護していない同じデータの別の表。",
    ),
)
NO_SINGLETONS = Words(
    " Nor does it cover contributors who are alone in a cell, and subtract what they know.",
    "また、一者だけのセルの提供者が、自分の値を差し引いて推定することも対象外です。",
)
NO_SECONDARY = Words(
    "Cells that would say too much about few contributors are hidden, and no others: whatever follows from the totals is not "
    "protected.",
    "少数の提供者の情報が現れるセルだけを秘匿しています。合計からの引き算でわかる値は保護していません。",
)
ATTACKS = {
    **ATTACK_WORDS,
    "insiders": Words(
        "The same by contributors who are alone in a cell and know its value",
        "一者だけのセルの提供者が、自分の値を使って同じことをする",
    ),
}


@dataclass(frozen=True)
class Suppress:
    """Hide cells until nobody can work out the unsafe ones.

    Attributes:
        search: fast for any size, exact for the cheapest pattern.
        seconds: time limit; None for none.
        cost: of hiding a cell: its value, its contributors, or the same for all.
        singletons: whether contributors who are alone in a cell, or dominate several, count as attackers.
        hidden_sums: contributors that the hidden parts of a sum must have together; 0 for no such rule.
        secondary: whether to hide more than the unsafe cells.
    """

    search: Literal["fast", "exact"] = "fast"
    seconds: float | None = None
    cost: Cost = "value"
    singletons: bool = True
    hidden_sums: int = 0
    secondary: bool = True


@dataclass(frozen=True, eq=False)
class SuppressedCells(Protected):
    """Cells of which each is shown as it is, or hidden.

    Attributes:
        suppression: the pattern with its proof; None where only unsafe cells are hidden.
    """

    suppression: Suppression | None


@dataclass(frozen=True, kw_only=True)
class PublicSuppression:
    """What everybody may know of suppression.

    Attributes:
        secondary: whether further cells are hidden, so that the unsafe ones cannot be computed.
    """

    secondary: bool


@dataclass(frozen=True, kw_only=True)
class CostRecord:
    """What the hidden cells cost.

    Attributes:
        secondary: of those that are hidden to protect others.
        at_least: that any safe choice costs.
    """

    secondary: int
    at_least: int


@dataclass(frozen=True, kw_only=True)
class IntervalRecord:
    """Between which values a public reader knows a hidden cell to be.

    Attributes:
        cell: its number.
        name: its codes.
        low: the lower end; None if there is none.
        high: the upper end; None if there is none.
        tight: whether the ends are the best that a reader can find.
    """

    cell: int
    name: str
    low: str | None
    high: str | None
    tight: bool


@dataclass(frozen=True, kw_only=True)
class SuppressionRecord:
    """What only the holder may know of suppression.

    Attributes:
        cost: of the hidden cells.
        intervals: of the hidden cells.
    """

    cost: CostRecord
    intervals: tuple[IntervalRecord, ...]


class _CellSuppression(CellMethod[Suppress, SuppressedCells]):
    """Hidden cells."""

    name = "suppress"
    keys = ("search", "seconds", "cost", "singletons", "hidden_sums", "secondary")
    words = WORDS
    attack_words = ATTACKS
    shows_true_values = True
    hides_cells = True
    formats = ("tau-argus",)
    confidential_names = (CERTIFICATE,)

    def read_settings(self, section: Section, base: Path) -> Suppress:
        search = cast("Literal['fast', 'exact']", section.choice("search", ("fast", "exact"), "fast"))
        cost = cast("Cost", section.choice("cost", ("value", "count", "equal"), "value"))
        seconds = seconds_of(section) if section.has("seconds") else None
        singletons = section.flag("singletons", True)
        hidden_sums = whole_within(section, "hidden_sums", 0, 10**6, 0)
        secondary = section.flag("secondary", True)
        return Suppress(search, seconds, cost, singletons, hidden_sums, secondary)

    def protect_cells(self, settings: Suppress, judged: JudgedTable) -> SuppressedCells:
        table, primaries = judged.table, judged.primaries
        problem = problem_of(judged, cost=settings.cost, singletons=settings.singletons)
        if not settings.secondary:
            shown = np.where(problem.must_hide, 0, table.values).astype(np.int64)
            return SuppressedCells(judged, shown, problem.must_hide.copy(), primaries.status, problem, None)
        if primaries.unsafe.all():
            raise InputError(
                "Every cell of the table is unsafe, so that nothing could be published. Take fewer or coarser dimensions.",
                "すべてのセルが秘匿対象で、公表できるものがありません。次元を減らすか、粗くしてください。",
            )
        found = suppress(
            problem,
            method=settings.search,
            seconds=settings.seconds,
            counts=table.counts if settings.hidden_sums else None,
            threshold=settings.hidden_sums,
        )
        shown = np.where(found.hidden, 0, table.values).astype(np.int64)
        chosen = found.secondary & ~primaries.hidden_by_hand
        status = np.where(chosen, int(CellStatus.SECONDARY), primaries.status).astype(np.int64)
        return SuppressedCells(judged, shown, found.hidden, status, problem, found)

    def public_settings(self, plan: TablePlan, settings: Suppress, result: SuppressedCells) -> PublicSuppression:
        return PublicSuppression(secondary=settings.secondary)

    def words_for(self, settings: Suppress) -> MethodWords:
        protects, limits = WORDS.protects, WORDS.limits
        if not settings.secondary:
            protects = NO_SECONDARY
        if not settings.singletons:
            limits = Words(limits.en + NO_SINGLETONS.en, limits.ja + NO_SINGLETONS.ja)
        return MethodWords(WORDS.name, protects, WORDS.keeps, limits)

    def confidential_record(self, result: SuppressedCells) -> SuppressionRecord | None:
        found = result.suppression
        if found is None:
            return None
        label, audit = result.judged.table.system.label, found.audit
        return SuppressionRecord(
            cost=CostRecord(secondary=found.cost, at_least=found.at_least),
            intervals=tuple(
                IntervalRecord(
                    cell=cell,
                    name=label(cell),
                    low=None if low is None else str(low),
                    high=None if high is None else str(high),
                    tight=tight,
                )
                for cell, low, high, tight in zip(audit.cells, audit.low, audit.high, audit.tight, strict=True)
            ),
        )

    def confidential_files(self, result: SuppressedCells) -> Mapping[str, bytes]:
        if result.suppression is None:
            return {}
        return {CERTIFICATE: result.suppression.certificate.to_text().encode() + b"\n"}

    def hides_unsafe_cells_only(self, settings: Mapping[str, Any]) -> bool:
        return settings.get("secondary") is False

    def further_attacks(self, cells: AttackedCells) -> tuple[AttackReport, ...]:
        if cells.holder is None:  # nobody else knows who the insiders are
            return ()
        return (attack_by_insiders(cells.knowledge, cells.truth, cells.holder, is_proved=cells.is_proved),)

    def further_checks(self, folder: Path, document: Mapping[str, Any]) -> tuple[Check, ...]:
        return (_check_certificate(folder, document),)


def _check_certificate(folder: Path, document: Mapping[str, Any]) -> Check:
    path = folder / CERTIFICATE
    for needed in (CONFIDENTIAL, CERTIFICATE):
        if not (folder / needed).is_file():
            return Check(
                "certificate",
                "skipped",
                f"can be checked only with {needed}, which is not here",
                f"証明書の確認に必要な {needed} がありません",
            )

    def check() -> tuple[str, str]:
        published = read_published_tables(folder, document)
        holder = read_confidential(folder, published)
        if holder is None:
            raise UnsoundError(f"{CONFIDENTIAL} is missing", f"{CONFIDENTIAL} がありません")
        certificate = Certificate.of_text(path.read_text(encoding="utf-8"))
        if not np.array_equal(certificate.mask(published.system.size), published.hidden):
            raise UnsoundError("it is about other hidden cells", "別の秘匿パターンの証明書です")
        certificate.check(holder.problem)
        number = len(holder.problem.requirements)
        return (
            f"proves all {number:,} requirements, in whole numbers",
            f"{number:,} 個の条件すべてを整数計算で証明しています",
        )

    return outcome_of("certificate", check, document_in(folder).name)


SUPPRESSION = _CellSuppression()
