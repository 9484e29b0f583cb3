"""What the columns of an answer are made of: keys, one measured number, or a calculation with several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from sudare.sql.measures.planning import QueryPlan

__all__ = ["Output", "outputs_of"]

Measured = tuple[str, str]
"""A measured table, and a measure of it."""


@dataclass(frozen=True)
class Output:
    """A column of an answer.

    Attributes:
        name: as the answer has it.
        measures: what it is calculated from: tables and measures, in the order of the calculation.
        is_direct: whether it is one measure as it is.
    """

    name: str
    measures: tuple[Measured, ...]
    is_direct: bool


def outputs_of(plan: QueryPlan) -> tuple[Output, ...]:
    """The columns of a plan's answer, in order.

    Example:
        >>> from sudare.sql.metadata.file import parse_metadata
        >>> from sudare.sql.frontend.naming import Names
        >>> from sudare.sql.frontend.parsing import parse_query
        >>> from sudare.sql.measures.planning import plan_query
        >>> text = 'unit.name = "person"' + chr(10) + 'tables.t = {unit = "row", columns.a = {type = "integer"}}'
        >>> metadata = parse_metadata(text)
        >>> parsed = parse_query("SELECT count(*) AS n, count(*) / 2 AS half FROM t", "duckdb")
        >>> [output.is_direct for output in outputs_of(plan_query(parsed, metadata, Names(metadata, "duckdb")))]
        [True, False]
    """
    private = {
        table.name: {measure.name for measure in table.sums} | {choice.name for choice in table.quantiles}
        for table in plan.tables
        if not table.is_public
    }
    return tuple(_outputs(plan.post, private))


def _outputs(query: exp.Expr, private: Mapping[str, set[str]]) -> list[Output]:
    if isinstance(query, exp.Subquery):
        return _outputs(query.this, private)
    if isinstance(query, exp.SetOperation):
        pairs = zip(_outputs(query.left, private), _outputs(query.right, private), strict=True)
        return [
            Output(one.name, tuple(dict.fromkeys(one.measures + other.measures)), False)
            if one != other
            else Output(one.name, one.measures, one.is_direct)
            for one, other in pairs
        ]
    if not isinstance(query, exp.Select):
        return []
    known: dict[str, dict[str, Output]] = {}
    for source in (query.args.get("from_"), *(query.args.get("joins") or ())):
        table = None if source is None else source.this
        if isinstance(table, exp.Subquery):
            known[table.alias_or_name] = {output.name: output for output in _outputs(table, private)}
    return [_output(item, known, private) for item in query.expressions]


def _output(item: exp.Expr, known: Mapping[str, Mapping[str, Output]], private: Mapping[str, set[str]]) -> Output:
    bare = item.unalias()
    while isinstance(bare, exp.Paren):
        bare = bare.this
    measures: dict[Measured, None] = {}
    direct = False
    for column in bare.find_all(exp.Column, bfs=False):
        if column.name in private.get(column.table, ()):
            measures[column.table, column.name] = None
            direct = column is bare
            continue
        tables = [known[column.table]] if column.table in known else list(known.values()) if not column.table else []
        for table in tables:
            if column.name in table:
                measures |= dict.fromkeys(table[column.name].measures)
                direct = column is bare and table[column.name].is_direct
    return Output(item.alias_or_name, tuple(measures), direct and len(measures) == 1)
