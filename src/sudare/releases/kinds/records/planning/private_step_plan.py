"""The steps of a plan that are differential privacy of the table: sampled k-anonymity, and synthetic people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

from sudare.microdata.perturb.sampled_k_anonymity import MAX_CANDIDATES
from sudare.privacy import Budget
from sudare.releases.kinds.records.planning.column_plan import PlannedColumn, column_of, share_of
from sudare.sections import Section

__all__ = ["PRIVATE_METHODS", "SampledGroups", "Synthesize", "read_sampled_groups", "read_synthesize"]

PRIVATE_METHODS = ("sampled-k-anonymity", "mst", "aim")
"""Methods that cost budget."""

MAX_MASKED = 255
"""Letters: of a mask, the plan alone says how many levels it has."""


@dataclass(frozen=True)
class SampledGroups:
    """A random sample of which only groups of k or more are kept: differential privacy.

    Attributes:
        rate: of the sample; None is the largest that the budget allows.
        levels: of all columns; where some are chosen, of those that are not, and 0 for the others.
        choose_levels: the share of epsilon that choosing the levels costs; None if all are decided without the data.
        choices: the levels that each column may have.
    """

    rate: Fraction | None
    levels: Mapping[str, int]
    choose_levels: Fraction | None = None
    choices: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def parts(self, budget: Budget) -> tuple[Budget | None, Budget]:
        """What choosing the levels costs, if they are chosen, and what is left for the records."""
        if self.choose_levels is None:
            return None, budget
        epsilon = budget.epsilon * self.choose_levels
        return Budget(epsilon=epsilon), Budget(epsilon=budget.epsilon - epsilon, delta=budget.delta)


@dataclass(frozen=True)
class Synthesize:
    """Rows of nobody with about the marginals of the records: differential privacy."""

    method: str
    rows: int | None
    workload: int | tuple[tuple[str, ...], ...] | None
    rounds: int | None


def read_sampled_groups(section: Section, columns: Mapping[str, PlannedColumn]) -> SampledGroups:
    """Levels are decided by whoever writes the plan, or chosen at a cost: that is what makes the guarantee true."""
    levels, free = {}, {}
    for name, column in columns.items():
        level = column.level or 0
        top = 0 if column.rule is None else column.rule.height
        highest = MAX_MASKED if top is None else top
        if not 0 <= level <= highest:
            section.refuse(
                "method",
                f"needs 'level' in [columns.{name}] from 0 to {highest}, as its hierarchy has them",
                f"には、[columns.{name}] の「level」を 0 から {highest} で指定してください",
            )
        if column.rule is not None and column.missing is not None and not column.rule.takes_for_missing(column.missing):
            section.refuse(
                "method",
                f"needs another 'missing' in [columns.{name}]: a group of values may be called '{column.missing:.60}' as well",
                f"には、[columns.{name}] の「missing」に別の名前が必要です（値の区分も「{column.missing:.60}」になりえます）",
            )
        levels[name] = level
        if column.level is None and column.rule is not None:
            free[name] = top
    if not levels:
        section.refuse("method", "needs at least one column to publish", "には、公開する列が一つ以上必要です")
    rate = share_of(section, "rate") if section.has("rate") else None
    if not section.has("choose_levels"):
        return SampledGroups(rate, levels)
    share = share_of(section, "choose_levels")
    if not 0 < share < 1:
        section.refuse(
            "choose_levels", "must be a share of epsilon between 0 and 1", "は 0 と 1 の間の、epsilon の割合です"
        )
    return SampledGroups(rate, levels, share, _read_choices(section, levels, free))


def _read_choices(
    section: Section, levels: Mapping[str, int], free: Mapping[str, int | None]
) -> dict[str, tuple[int, ...]]:
    """The levels to choose from, all known without the data."""
    masked = next((name for name, top in free.items() if top is None), None)
    if masked is not None:
        section.refuse(
            "choose_levels",
            f"cannot choose the level of '{masked}': how many levels a mask has depends on the data. Give 'level' in "
            f"[columns.{masked}], or a hierarchy file",
            f"では「{masked}」の段階を選べません（mask の段階の数はデータによります）。[columns.{masked}] に「level」"
            "か階層ファイルを指定してください",
        )
    if not free:
        section.refuse(
            "choose_levels",
            "has nothing to choose: no column has a hierarchy without a 'level'",
            "で選ぶ段階がありません（階層があり「level」のない列がありません）",
        )
    choices = {
        name: tuple(range((free[name] or 0) + 1)) if name in free else (level,) for name, level in levels.items()
    }
    if prod(len(those) for those in choices.values()) > MAX_CANDIDATES:
        section.refuse(
            "choose_levels",
            f"has more than {MAX_CANDIDATES:,} choices: give 'level' to some columns",
            f"の選択肢が {MAX_CANDIDATES:,} 通りを超えます。いくつかの列に「level」を指定してください",
        )
    return choices


def read_synthesize(
    section: Section, method: str, columns: Mapping[str, PlannedColumn], counts_columns: bool
) -> Synthesize:
    """A step that draws synthetic people; every column needs what may stand in it."""
    for name, column in columns.items():
        if column.values is None and column.bins is None:
            section.refuse(
                "method",
                f"is \"{method}\", and nothing says what may stand in '{name}': list 'values' or 'bins' in "
                f"[columns.{name}]. They "
                'must be known without the data; or leave the column out with role = "identifier"',
                f'が "{method}" ですが、列「{name}」に入りうる値が示されていません。[columns.{name}] に「values」'
                f"か「bins」を"
                'データを見ずに書くか、role = "identifier" として除いてください',
            )
    _require_small_tables(section, method, columns)
    rows = section.whole("rows") if section.has("rows") else None
    if rows is not None and rows < 1:
        section.refuse("rows", "must be at least 1", "は 1 以上です")
    rounds = section.whole("rounds") if section.has("rounds") else None
    if rounds is not None and rounds < 1:
        section.refuse("rounds", "must be at least 1", "は 1 以上です")
    workload = _read_workload(section, columns, counts_columns) if section.has("workload") else None
    return Synthesize(method, rows, workload, rounds)


def _require_small_tables(section: Section, method: str, columns: Mapping[str, PlannedColumn]) -> None:
    """Refuse columns that the method would refuse, before anything is reserved."""
    from sudare.microdata.synthetic.public_columns import read_columns
    from sudare.microdata.synthetic.synthesize import MAX_CELLS

    described = {name: column.bins or list(column.values or ()) for name, column in columns.items()}
    missing = [name for name, column in columns.items() if column.missing is not None]
    sizes = sorted((column.size, column.name) for column in read_columns(described, missing, "the plan"))
    if method == "mst" and len(sizes) > 1 and sizes[-1][0] * sizes[-2][0] > MAX_CELLS:
        section.refuse(
            "method",
            f"is \"mst\", and '{sizes[-1][1]}' and '{sizes[-2][1]}' have more than {MAX_CELLS:,} combinations of values: make "
            "bins, or list fewer values",
            f'が "mst" ですが、「{sizes[-1][1]}」と「{sizes[-2][1]}」の値の組み合わせが {MAX_CELLS:,} を超えます。'
            "bins を使うか、値を減らしてください",
        )


def _read_workload(
    section: Section, columns: Mapping[str, PlannedColumn], counts_columns: bool
) -> int | tuple[tuple[str, ...], ...] | None:
    if counts_columns:
        number = section.whole("workload")
        if not 1 <= number <= len(columns):
            section.refuse("workload", f"must be from 1 to {len(columns)}", f"は 1 から {len(columns)} です")
        return number
    tables = section.items("workload")
    if not tables or not all(isinstance(table, list) and table for table in tables):
        section.refuse(
            "workload",
            'must be a number of columns, or a list of tables such as [["age", "job"]]',
            'は列の数か、[["age", "job"]] のような表のリストです',
        )
    return tuple(tuple(column_of(section, "workload", str(name), columns) for name in table) for table in tables)
