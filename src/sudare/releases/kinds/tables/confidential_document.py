"""``confidential.json``: what only the holder may know of protected tables, typed until it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.bilingual import Words
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.releases.documents import INLINE
from sudare.releases.kinds.tables.planning.rule_plan import PlannedRule

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

    from sudare.releases.kinds.tables.methods.cell_method import Protected
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

    Integers = NDArray[np.int64]

__all__ = [
    "CERTIFICATE",
    "CONFIDENTIAL",
    "CONFIDENTIAL_FORMAT",
    "CONFIDENTIAL_PAGE",
    "OF_RECORDS",
    "ConfidentialDocument",
    "DataHash",
    "attacks_in_full",
    "confidential_document",
]

CONFIDENTIAL = "confidential.json"
CONFIDENTIAL_PAGE = "confidential.html"
CERTIFICATE = "confidential-certificate.json"
CONFIDENTIAL_FORMAT = "sudare-protected-table-confidential/1"
NOTE = Words(
    "This file has hidden values, or what they follow from. Keep it like the data, and never publish it.",
    "このファイルには、秘匿した値またはそれを導ける情報が含まれます。データと同じように管理し、公表しないでください。",
)
MAX_VERDICTS = 1000
OF_RECORDS = "record"


@dataclass(frozen=True, kw_only=True)
class DataHash:
    """The data that tables were made from.

    Attributes:
        sha256: of its files.
    """

    sha256: str


@dataclass(frozen=True, kw_only=True)
class FullRule:
    """A rule with its parameters.

    Attributes:
        name: of the rule.
        english: what it says.
        japanese: the same.
    """

    name: str
    english: str
    japanese: str


@dataclass(frozen=True, kw_only=True)
class UntoldCells:
    """True values of the cells whose values are not published as they are.

    Attributes:
        numbers: of the cells.
        values: of the cells.
    """

    numbers: Sequence[int]
    values: Sequence[int]


@dataclass(frozen=True, kw_only=True)
class UnsafeCell:
    """A cell that must stay uncertain.

    Attributes:
        cell: its number.
        name: its codes.
        status: what tau-ARGUS would call it; of a cell that breaks several rules it names one.
        lower: how far below its value its interval must reach.
        upper: how far above.
        rules: every rule that it breaks, in the order of plans: the threshold first; none for cells that were marked by hand.
    """

    cell: int
    name: str
    status: int
    lower: int
    upper: int
    rules: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SecondaryCell:
    """A cell that is hidden because others would follow from it.

    Attributes:
        cell: its number.
        name: its codes.
    """

    cell: int
    name: str


@dataclass(frozen=True, kw_only=True)
class ConfidentialCells:
    """What the holder knows of the cells of tables.

    Attributes:
        rules: about cells.
        record_rules: about records.
        primary: how many cells are unsafe.
        primary_by_status: how many have each status.
        primary_by_rule: how many break each rule; a cell that breaks several is counted for each.
        secondary: how many others are hidden.
        secondary_cells: which.
        decimals: digits after the point.
        cells: true values that are not published.
        unsafe: cells that must stay uncertain.
        must_show: cells that must not be hidden.
        must_hide: cells that must be.
        whole_numbers: whether all values are.
        smallest: value that each cell can have.
        requirements: cells, and how far below and above the interval of their sum must reach.
        insiders: cells that one contributor knows.
        insider_share: of a cell's protection that must hold against its contributors, in percent.
        insider_rest: insider, cell, and what is left of its protection.
    """

    rules: tuple[FullRule, ...]
    record_rules: tuple[FullRule, ...]
    primary: int
    primary_by_status: Mapping[str, int]
    primary_by_rule: Mapping[str, int]
    secondary: int
    secondary_cells: tuple[SecondaryCell, ...]
    decimals: int
    cells: UntoldCells
    unsafe: tuple[UnsafeCell, ...]
    must_show: Sequence[int]
    must_hide: Sequence[int]
    whole_numbers: bool
    smallest: Sequence[int]
    requirements: Sequence[tuple[tuple[int, ...], int, int]]
    insiders: Sequence[tuple[int, ...]]
    insider_share: int
    insider_rest: Sequence[tuple[int, int, int]]


@dataclass(frozen=True, kw_only=True)
class FullVerdict:
    """What an attack found of one target.

    Attributes:
        target: such as a cell.
        outcome: how it ended.
        number: that it was judged by; None if it is infinite.
        english: what was found.
        japanese: the same.
    """

    target: str
    outcome: str
    number: float | None
    english: str
    japanese: str


@dataclass(frozen=True, kw_only=True)
class FullAttack:
    """All that an attack found.

    Attributes:
        attack: its name.
        outcome: how it ended.
        summary: what it found, in a sentence.
        broken: how many targets.
        verdicts: the worst first.
    """

    attack: str
    outcome: str
    summary: Words
    broken: int
    verdicts: tuple[FullVerdict, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ConfidentialDocument:
    """``confidential.json``.

    Attributes:
        format: of the document.
        note: that it must be kept secret.
        input: the data.
        cells: what the holder knows of cells; None of meshes.
        record: what the method says besides.
        attacks: what they found, once they were run.
        report_sha256: hash of the public report that it belongs to.
    """

    format: str = CONFIDENTIAL_FORMAT
    note: Words = NOTE
    input: DataHash
    cells: ConfidentialCells | None = field(default=None, metadata=INLINE)
    record: DataclassInstance | None = field(default=None, metadata=INLINE)
    attacks: tuple[FullAttack, ...] | None = None
    report_sha256: str | None = None


def confidential_document(
    plan: TablePlan,
    protected: Protected,
    input_hash: str,
    *,
    shows_true_values: bool,
    record: DataclassInstance | None,
) -> ConfidentialDocument:
    """What is written for the holder; the attacks and the hash of the public report are added later.

    Args:
        plan: what was asked for.
        protected: what was done.
        input_hash: of the data.
        shows_true_values: whether cells that are shown have their true values, so that these need not be written again.
        record: what the method says besides.
    """
    table, primaries, problem = protected.judged.table, protected.judged.primaries, protected.problem
    label = table.system.label
    exact = (protected.shown == table.values) & ~protected.hidden if shows_true_values else None
    untold = np.arange(table.system.size) if exact is None else np.flatnonzero(~exact)
    unsafe = np.flatnonzero(primaries.unsafe).tolist()
    secondary = np.flatnonzero(protected.hidden & ~primaries.unsafe).tolist()
    broken = _broken_rules(plan, primaries)
    cells = ConfidentialCells(
        rules=tuple(_full(one) for one in plan.rules),
        record_rules=tuple(_full(one) for one in plan.record_rules),
        primary=len(unsafe),
        primary_by_status=_by_status(primaries.status[unsafe]),
        primary_by_rule={name: int((breaking & primaries.unsafe).sum()) for name, breaking in broken.items()},
        secondary=len(secondary),
        secondary_cells=tuple(SecondaryCell(cell=cell, name=label(cell)) for cell in secondary),
        decimals=table.decimals,
        cells=UntoldCells(numbers=untold.tolist(), values=table.values[untold].tolist()),
        unsafe=tuple(
            UnsafeCell(
                cell=cell,
                name=label(cell),
                status=int(primaries.status[cell]),
                lower=int(primaries.lower[cell]),
                upper=int(primaries.upper[cell]),
                rules=tuple(name for name, breaking in broken.items() if breaking[cell]),
            )
            for cell in unsafe
        ),
        must_show=np.flatnonzero(problem.shown).tolist(),
        must_hide=[] if problem.forced is None else np.flatnonzero(problem.forced).tolist(),
        whole_numbers=problem.whole_numbers,
        smallest=problem.smallest.tolist(),
        requirements=[(one.cells, one.lower, one.upper) for one in problem.requirements],
        insiders=problem.insiders,
        insider_share=problem.insider_share,
        insider_rest=[(insider, cell, rest) for (insider, cell), rest in sorted(problem.insider_rest.items())],
    )
    return ConfidentialDocument(input=DataHash(sha256=input_hash), cells=cells, record=record)


def attacks_in_full(reports: Sequence[AttackReport]) -> tuple[FullAttack, ...]:
    """All that the attacks found, for the holder: at most 1,000 verdicts of each, the worst first."""
    return tuple(
        FullAttack(
            attack=report.attack,
            outcome=report.outcome.value,
            summary=report.summary,
            broken=len(report.with_outcome(AttackOutcome.BROKEN)),
            verdicts=tuple(
                FullVerdict(
                    target=one.target,
                    outcome=one.outcome.value,
                    number=one.number if np.isfinite(one.number) else None,
                    english=one.sentence.english,
                    japanese=one.sentence.japanese,
                )
                for one in report.verdicts[:MAX_VERDICTS]
            ),
        )
        for report in reports
    )


def _broken_rules(plan: TablePlan, primaries: PrimaryCells) -> dict[str, NDArray[np.bool_]]:
    """The cells that break each rule of a plan, by its name, in the order in which plans have them.

    Names of rules that look at single records begin with ``record``.
    """
    names = {id(one.rule): one.name for one in plan.rules}
    names |= {id(one.rule): f"{OF_RECORDS} {one.name}" for one in plan.record_rules}
    found = {
        names[id(rule)]: cells
        for judgement in primaries.judgements
        for rule, cells in judgement.broken_rules()
        if id(rule) in names
    }
    return {name: found[name] for name in names.values() if name in found}


def _by_status(status: Integers) -> dict[str, int]:
    kinds, counts = np.unique(status, return_counts=True)
    return {CellStatus(kind).name: count for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)}


def _full(rule: PlannedRule) -> FullRule:
    return FullRule(name=rule.name, english=rule.full.english, japanese=rule.full.japanese)
