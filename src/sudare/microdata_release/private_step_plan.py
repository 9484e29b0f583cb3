"""The steps of a plan that are differential privacy of the table: sampled k-anonymity, and synthetic people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sudare.microdata_release.column_plan import PlannedColumn, column_of, share_of
from sudare.sections import Section

__all__ = ["PRIVATE_METHODS", "SampledGroups", "Synthesize", "read_sampled_groups", "read_synthesize"]

PRIVATE_METHODS = ("sampled-k-anonymity", "mst", "aim")
"""Methods that cost budget."""


@dataclass(frozen=True)
class SampledGroups:
    """A random sample of which only groups of k or more are kept: differential privacy."""

    rate: Fraction | None
    levels: Mapping[str, int]


@dataclass(frozen=True)
class Synthesize:
    """Rows of nobody with about the marginals of the records: differential privacy."""

    method: str
    rows: int | None
    workload: int | tuple[tuple[str, ...], ...] | None
    rounds: int | None


def read_sampled_groups(section: Section, columns: Mapping[str, PlannedColumn]) -> SampledGroups:
    """Levels are decided by whoever writes the plan, and by no data: that is what makes the guarantee true."""
    levels = {}
    for name, column in columns.items():
        level = column.level or 0
        top = 0 if column.rule is None else column.rule.height
        if level < 0 or (top is not None and level > top):
            section.refuse(
                "method",
                f"needs 'level' in [columns.{name}] from 0 to {top or 0}, as its hierarchy has them",
                f"には、[columns.{name}] の「level」を 0 から {top or 0} で指定してください",
            )
        levels[name] = level
    if not levels:
        section.refuse("method", "needs at least one column to publish", "には、公開する列が一つ以上必要です")
    return SampledGroups(share_of(section, "rate") if section.has("rate") else None, levels)


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
    from sudare.microdata.synthetic.synthesize import MOST_CELLS

    described = {name: column.bins or list(column.values or ()) for name, column in columns.items()}
    missing = [name for name, column in columns.items() if column.missing is not None]
    sizes = sorted((column.size, column.name) for column in read_columns(described, missing, "the plan"))
    if method == "mst" and len(sizes) > 1 and sizes[-1][0] * sizes[-2][0] > MOST_CELLS:
        section.refuse(
            "method",
            f"is \"mst\", and '{sizes[-1][1]}' and '{sizes[-2][1]}' have more than {MOST_CELLS:,} combinations of values: make "
            "bins, or list fewer values",
            f'が "mst" ですが、「{sizes[-1][1]}」と「{sizes[-2][1]}」の値の組み合わせが {MOST_CELLS:,} を超えます。'
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
