"""``release.json``: what was done to a table and what everybody may know of it. Nothing in it follows from a hidden value.

Left out on purpose, and stated in ``confidential.json``: the parameters of rules about shares, which and how many cells were
unsafe by which rule, the cost of the hidden cells (it is a sum of hidden values), and hashes of what is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.bilingual import Words
from sudare.disclosure.merging import MergedMeshes
from sudare.disclosure.rules import MinimumFrequency
from sudare.releases.documents import INLINE, ReleaseDocument, describe_head
from sudare.releases.kinds.tables.attacking.knowledge import REPORT_FORMAT
from sudare.releases.kinds.tables.planning.rule_plan import PlannedRule
from sudare.releases.kinds.tables.published_table import DimensionRecord, describe_dimension

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from sudare.releases.kinds.tables.methods.cell_method import Protected
    from sudare.releases.kinds.tables.methods.method import MethodWords
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["TablesDocument", "document_of_meshes", "document_of_tables", "with_attacks"]

PACKAGES = ("numpy", "scipy", "highspy")


@dataclass(frozen=True, kw_only=True)
class TableValue:
    """What the numbers of the tables are.

    Attributes:
        name: of their column.
        is_count: whether they are numbers of contributors.
        decimals: digits after the point that are shown.
        names: of the columns, where there are several.
    """

    name: str
    is_count: bool
    decimals: int
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class RuleRecord:
    """What everybody may know of a rule: its parameters only where they give nothing away.

    Attributes:
        name: of the rule.
        english: what it says.
        japanese: the same.
        minimum: of a rule about the number of contributors.
    """

    name: str
    english: str
    japanese: str
    minimum: int | None = None


@dataclass(frozen=True, kw_only=True)
class TableSummary:
    """One of the published tables.

    Attributes:
        name: empty if it is the only one.
        file: where it is.
        dimensions: names of its spanning variables.
        cells: how many.
        hidden: how many of them are hidden.
    """

    name: str
    file: str
    dimensions: tuple[str, ...]
    cells: int
    hidden: int


@dataclass(frozen=True, kw_only=True)
class AttackSummary:
    """What everybody may know of an attack.

    Attributes:
        attack: its name.
        outcome: how it ended.
    """

    attack: str
    outcome: str


@dataclass(frozen=True, kw_only=True)
class TablesWork:
    """What was done to tables.

    Attributes:
        method: its name.
        settings: what everybody may know of it.
        protects: what it protects.
        keeps: what it keeps.
        limits: what it does not protect.
        earlier: names of the folders that were published before.
    """

    method: str
    settings: DataclassInstance
    protects: Words
    keeps: Words
    limits: Words
    earlier: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class TablesDocument(ReleaseDocument):
    """The public document of tables.

    Attributes:
        work: what was done.
        value: what the numbers are.
        dimensions: codes of each, with their tree.
        tables: that are published.
        rules: which cells were unsafe, without parameters.
        mesh_level: of merged meshes.
        attacks: how they ended, once they were run.
        even_if_broken: whether it is published though an attack succeeded.
    """

    work: TablesWork = field(metadata=INLINE)
    value: TableValue
    dimensions: tuple[DimensionRecord, ...]
    tables: tuple[TableSummary, ...]
    rules: tuple[RuleRecord, ...]
    mesh_level: str | None = None
    attacks: tuple[AttackSummary, ...] | None = None
    even_if_broken: bool | None = None


def document_of_tables(
    plan: TablePlan,
    words: MethodWords,
    settings: DataclassInstance,
    protected: Protected,
    files: Sequence[Path],
    decimals: int,
) -> TablesDocument:
    """The public report of tables; the attacks are added later.

    Args:
        plan: what was asked for.
        words: what the method does.
        settings: what everybody may know of the method.
        protected: what was done.
        files: that everybody gets.
        decimals: digits after the point that are shown.
    """
    table = protected.judged.table
    dimensions = {one.name: one for part in table.system.tables for one in part.dimensions}
    return TablesDocument(
        head=describe_head(REPORT_FORMAT, plan.header, files, PACKAGES),
        work=_work(plan, words, settings),
        value=TableValue(name=plan.value_name, is_count=plan.is_of_counts, decimals=decimals),
        dimensions=tuple(describe_dimension(one) for one in dimensions.values()),
        tables=tuple(
            TableSummary(
                name=planned.name,
                file=planned.file,
                dimensions=tuple(one.name for one in part.dimensions),
                cells=int(part.cells.size),
                hidden=int(protected.hidden[part.cells].sum()),
            )
            for planned, part in zip(plan.tables, table.system.tables, strict=True)
        ),
        rules=tuple(_rule(one) for one in (*plan.rules, *plan.record_rules)),
    )


def document_of_meshes(
    plan: TablePlan,
    words: MethodWords,
    settings: DataclassInstance,
    merged: MergedMeshes,
    files: Sequence[Path],
    level: str,
) -> TablesDocument:
    """The public report of merged meshes; the attacks are added later.

    Args:
        plan: what was asked for.
        words: what the method does.
        settings: what everybody may know of the method.
        merged: what was done.
        files: that everybody gets.
        level: of the meshes.
    """
    hidden = int((merged.treatment == 2).sum())
    meshes = TableSummary(name="", file="table.csv", dimensions=("mesh",), cells=int(merged.codes.size), hidden=hidden)
    return TablesDocument(
        head=describe_head(REPORT_FORMAT, plan.header, files, PACKAGES),
        work=_work(plan, words, settings),
        value=TableValue(name="population", names=tuple(merged.values), is_count=True, decimals=0),
        dimensions=(),
        tables=(meshes,),
        rules=(),
        mesh_level=level,
    )


def with_attacks(document: TablesDocument, reports: Sequence[AttackReport], *, even_if_broken: bool) -> TablesDocument:
    """Which attacks were run and how they ended; what they found stays with the holder."""
    broken = any(report.outcome is AttackOutcome.BROKEN for report in reports)
    return replace(
        document,
        attacks=tuple(AttackSummary(attack=report.attack, outcome=report.outcome.value) for report in reports),
        even_if_broken=broken and even_if_broken,
    )


def _work(plan: TablePlan, words: MethodWords, settings: DataclassInstance) -> TablesWork:
    blanks = vars(settings)
    return TablesWork(
        method=plan.method,
        settings=settings,
        protects=words.protects.format(**blanks),
        keeps=words.keeps.format(**blanks),
        limits=words.limits.format(**blanks),
        earlier=tuple(folder.name for folder in plan.earlier),
    )


def _rule(rule: PlannedRule) -> RuleRecord:
    minimum = rule.rule.minimum if isinstance(rule.rule, MinimumFrequency) else None
    return RuleRecord(name=rule.name, english=rule.public.english, japanese=rule.public.japanese, minimum=minimum)
