"""Elastic sensitivity of counting queries: counts and histograms of counts over inner joins, from the SQL to a number.

A query is followed from its tables outwards. Rows have a `Side`; counts have a sensitivity for each column, 0 for the keys
of groups. Everything that is not known to be right is refused.

Proof: ``sql/relations/elastic.md`` of `sudare`. After Johnson, Near, Song: Towards practical differential privacy for SQL queries
(2018).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.planned_size import require_moderate_size
from sudare.sql.frontend.refusals import refuse
from sudare.sql.metadata.model import Metadata
from sudare.sql.relations.elastic import Growth, Side, join_sides, side_of_table

__all__ = ["elastic_growth", "elastic_sensitivity"]

MAX_DEPTH = 50
_CLAUSES = {"expressions", "from_", "joins", "where", "group", "order", "with_"}
_OF_SOURCES = {"this", "db", "catalog", "alias"}
_OF_JOINS = {"this", "on", "using", "kind"}
_NESTED = (exp.Query, exp.Exists, exp.Window, exp.Unnest, exp.AggFunc)


def elastic_sensitivity(query: str | exp.Query, metadata: Metadata, k: int = 0, dialect: str = "duckdb") -> list[int]:
    """The elastic sensitivity of each column of a query's answer, at a distance k from the data as they are.

    Args:
        query: a SELECT that counts.
        metadata: with the largest frequency of each column that is joined on.
        k: how many units the data may differ by.
        dialect: of the query, if it is text.

    Raises:
        QueryRefusedError: if the query does more than count rows of inner joins on equal columns, groups by what is not
            public, or joins on a column of unknown frequency.

    Example:
        >>> from sudare.engines.engine import ColumnType
        >>> from sudare_papers.elastic.queries import elastic_sensitivity
        >>> from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata
        >>> customer = ColumnMetadata("customer", ColumnType("integer"), max_frequency=100)
        >>> orders = TableMetadata("orders", {"customer": customer}, row_is_unit=True)
        >>> described = Metadata("order", {"orders": orders})
        >>> elastic_sensitivity("SELECT COUNT(*) FROM orders a JOIN orders b ON a.customer = b.customer", described)
        [201]
    """
    return [growth(k) for growth in elastic_growth(query, metadata, dialect)]


def elastic_growth(query: str | exp.Query, metadata: Metadata, dialect: str = "duckdb") -> list[Growth]:
    """The elastic sensitivity of each column of a query's answer, at every distance."""
    tree: object = query
    if isinstance(query, str):
        try:
            tree = sqlglot.parse_one(query, dialect=dialect)
        except (SqlglotError, RecursionError):
            refuse(None, "syntax", "The query cannot be read as SQL.", "この問い合わせは SQL として読めません。")
    if isinstance(tree, exp.Query):
        require_moderate_size(tree, {name.lower(): len(table.columns) for name, table in metadata.tables.items()})
    answer = _Reader(metadata).read(tree, {}, 0)
    if not answer.results:
        refuse(
            None,
            "unsupported-query",
            "Elastic sensitivity is for queries that count. Write SELECT COUNT(*) ...",
            "弾力感度は件数の問い合わせにだけ使えます。SELECT COUNT(*) ... と書いてください。",
        )
    return [answer.results.get(name, Growth.constant(0)) for name in answer.names]


@dataclass(frozen=True)
class _Rows:
    """What a part of a query gives: rows (no ``results``), or counts.

    Attributes:
        side: for joins, by the names of the columns.
        names: of the columns, in lower case, in order.
        releasable: columns whose values are public.
        results: columns that are counts, with the sensitivity of each.
    """

    side: Side
    names: tuple[str, ...]
    releasable: frozenset[Hashable]
    results: Mapping[str, Growth]


class _Reader:
    def __init__(self, metadata: Metadata) -> None:
        self._metadata = metadata
        lowered = [name.lower() for name in metadata.tables]
        self._tables = {name.lower(): name for name in metadata.tables if lowered.count(name.lower()) == 1}

    def read(self, tree: object, known: Mapping[str, _Rows], depth: int) -> _Rows:
        """A query; ``known`` are the names that WITH gave to others."""
        if isinstance(tree, exp.Subquery):
            tree = tree.unnest()
        if not isinstance(tree, exp.Select) or depth > MAX_DEPTH:
            node = tree if isinstance(tree, exp.Expression) else None
            _refuse_construct(node, "Only plain, moderately nested SELECTs", "単純な SELECT（入れ子は浅いもの）のみ")
        for clause in _others(tree, _CLAUSES):
            _refuse_construct(tree, f"No {clause.upper()}", f"{clause.upper()} は不可")
        with_ = tree.args.get("with_")
        if with_ is not None and with_.args.get("recursive"):
            _refuse_construct(with_, "No recursive WITH", "再帰的な WITH は不可")
        names = dict(known)
        for part in tree.ctes:
            names[part.alias.lower()] = _renamed(self.read(part.this, names, depth + 1), part)
        sources = self._sources(tree, names, depth)
        if len(sources) == 1:
            (alias, only), *_ = sources.items()
            whole = _Rows(_qualified(only.side, alias), only.names, only.releasable, only.results)
        else:
            whole = self._joined(tree, sources)
        return _selected(tree, sources, whole, self._metadata.adjacency == "replace")

    def _sources(self, tree: exp.Select, names: Mapping[str, _Rows], depth: int) -> dict[str, _Rows]:
        """What FROM and JOIN name, by alias."""
        start = tree.args.get("from_")
        if start is None:
            _refuse_construct(tree, "A FROM is needed", "FROM が必要")
        found: dict[str, _Rows] = {}
        for node in (start.this, *(join.this for join in tree.args.get("joins") or ())):
            if isinstance(node, exp.Table):
                rows, alias = self._table(node, names), node.alias_or_name.lower()
            elif isinstance(node, exp.Subquery):
                rows, alias = self.read(node, names, depth + 1), node.alias_or_name.lower()
            else:
                _refuse_construct(node, "Only tables and subqueries", "表と副問い合わせのみ")
            if alias in found or _others(node, _OF_SOURCES):
                _refuse_construct(node, "Each source once, under its own name", "各表には別々の名前が必要")
            found[alias] = _renamed(rows, node)
        return found

    def _table(self, node: exp.Table, names: Mapping[str, _Rows]) -> _Rows:
        written = ".".join(part.name for part in node.parts).lower()
        if written in names:
            return names[written]
        if written not in self._tables:
            refuse(node, "unknown-table", "The metadata has no such table.", "メタデータにこの表はありません。")
        table = self._metadata.tables[self._tables[written]]
        side = side_of_table(self._metadata, table.name)
        if side is None:
            refuse(
                node,
                "no-max-rows",
                "The metadata does not limit how many rows of this table one unit may have; state max_rows.",
                "この表に 1 単位が持てる行数がメタデータにありません。max_rows を指定してください。",
            )
        lowered = Side(
            side.stability, {str(name).lower(): each for name, each in side.max_frequency.items()}, side.tables
        )
        releasable = frozenset(
            name.lower()
            for name, column in table.columns.items()
            if table.public or column.values is not None or column.values_from is not None
        )
        return _Rows(lowered, tuple(name.lower() for name in table.columns), releasable, {})

    def _joined(self, tree: exp.Select, sources: Mapping[str, _Rows]) -> _Rows:
        """All sources joined from left to right; columns are named by alias and name from here on."""
        if any(rows.results for rows in sources.values()):
            _refuse_frequency(tree)
        where = tree.args.get("where")
        filters = list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this]) if where else []
        aliases = list(sources)
        side = _qualified(sources[aliases[0]].side, aliases[0])
        for position, join in enumerate(tree.args["joins"], start=1):
            alias = aliases[position]
            if join.kind not in ("", "INNER", "CROSS") or _others(join, _OF_JOINS):
                _refuse_construct(join, "Inner joins only", "内部結合のみ")
            condition = join.args.get("on")
            if condition is None:
                conditions = filters
            else:
                conditions = list(condition.flatten() if isinstance(condition, exp.And) else [condition])
            pairs = [
                pair for each in conditions if (pair := _pair(each, sources, aliases[:position], alias)) is not None
            ]
            for name in join.args.get("using") or ():
                written = exp.column(copied(name))
                here = {each: sources[each] for each in aliases[:position]}
                pairs.append((_resolve(written, here), _resolve(written, {alias: sources[alias]})))
            if not pairs:
                _refuse_construct(
                    join, "Joins need a column of each side that are equal", "結合には両側の列が等しいという条件が必要"
                )
            joined = join_sides(side, _qualified(sources[alias].side, alias), pairs)
            if joined is None:
                _refuse_frequency(join)
            side = joined
        names = tuple(name for rows in sources.values() for name in rows.names)
        return _Rows(side, names, frozenset(), {})


def _selected(tree: exp.Select, sources: Mapping[str, _Rows], whole: _Rows, is_replace: bool) -> _Rows:
    """What the list after SELECT makes of the rows; their side is qualified by alias."""
    where, group = tree.args.get("where"), tree.args.get("group")
    for part in (where, group, tree.args.get("order"), *(join.args.get("on") for join in tree.args.get("joins") or ())):
        if part is not None and next(part.find_all(*_NESTED), None) is not None:
            _refuse_construct(part, "No queries, windows or aggregates in conditions", "条件の中の副問い合わせは不可")
    columns = _listed(tree, sources)
    is_counting = group is not None or any(each.find(exp.AggFunc) is not None for _, each in columns)
    if not is_counting:
        if whole.results and where is not None:
            _refuse_arithmetic(where)
        return _projected(columns, sources, whole)
    if whole.results:
        _refuse_query(tree)
    keys = _keys(tree, columns, sources)
    factor = 2 if group is not None and is_replace else 1
    results: dict[str, Growth] = {}
    for name, each in columns:
        if isinstance(each, exp.Count):
            if isinstance(each.this, exp.Expression) and not isinstance(each.this, exp.Star):
                _refuse_nested(each.this)
            results[name] = whole.side.stability.times(factor)
        elif isinstance(each, exp.Column):
            if _resolve(each, sources) not in keys:
                _refuse_query(each)
        elif each.find(exp.Count) is not None:
            _refuse_arithmetic(each)
        else:
            _refuse_query(each)
    names = tuple(name for name, _ in columns)
    if len(set(names)) < len(names):
        _refuse_construct(tree, "Each column under a name of its own", "各列には別々の名前が必要")
    return _Rows(Side(whole.side.stability, {}, whole.side.tables), names, frozenset(), results)


def _keys(
    tree: exp.Select, columns: list[tuple[str, exp.Expression]], sources: Mapping[str, _Rows]
) -> set[tuple[str, str]]:
    """The columns that are grouped by; all of them must be public."""
    group = tree.args.get("group")
    if group is None:
        return set()
    if any(value for name, value in group.args.items() if name != "expressions"):
        _refuse_construct(group, "GROUP BY with columns only", "GROUP BY には列のみ")
    keys = set()
    for node in group.expressions:
        each = node
        if isinstance(node, exp.Literal) and node.is_int:
            place = int(node.this)
            if not 1 <= place <= len(columns):
                _refuse_construct(node, "GROUP BY with columns only", "GROUP BY には列のみ")
            each = columns[place - 1][1]
        key = _resolve(each, sources) if isinstance(each, exp.Column) else None
        if key is None or key[1] not in sources[key[0]].releasable:
            refuse(
                each,
                "protected-bin",
                "Groups by this would show values that are not public. Group by a column whose values the metadata lists.",
                "この式でグループ化すると公開でない値が見えてしまいます。値がメタデータにある列を使ってください。",
            )
        keys.add(key)
    return keys


def _projected(columns: list[tuple[str, exp.Expression]], sources: Mapping[str, _Rows], whole: _Rows) -> _Rows:
    """Rows with other columns: a plain column keeps what is known of it, an expression has nothing."""
    frequencies: dict[Hashable, Growth] = {}
    releasable: set[Hashable] = set()
    results: dict[str, Growth] = {}
    for name, each in columns:
        if not isinstance(each, exp.Column):
            _refuse_nested(each)
            for inner in each.find_all(exp.Column):
                alias, column = _resolve(inner, sources)
                if column in sources[alias].results:
                    _refuse_arithmetic(each)
            continue
        key = _resolve(each, sources)
        if key in whole.side.max_frequency:
            frequencies[name] = whole.side.max_frequency[key]
        if key[1] in sources[key[0]].releasable:
            releasable.add(name)
        if key[1] in sources[key[0]].results:
            results[name] = sources[key[0]].results[key[1]]
    names = tuple(name for name, _ in columns)
    repeated = {name for name in names if names.count(name) > 1}
    kept = {name: each for name, each in frequencies.items() if name not in repeated}
    if repeated and results:
        _refuse_construct(None, "Each column under a name of its own", "各列には別々の名前が必要")
    return _Rows(Side(whole.side.stability, kept, whole.side.tables), names, frozenset(releasable - repeated), results)


def _listed(tree: exp.Select, sources: Mapping[str, _Rows]) -> list[tuple[str, exp.Expression]]:
    """The columns after SELECT with their names, stars written out."""
    found: list[tuple[str, exp.Expression]] = []
    for position, node in enumerate(tree.expressions, start=1):
        is_star = isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))
        if is_star:
            if any(_others(star, set()) for star in node.find_all(exp.Star)):
                _refuse_construct(node, "A plain star only", "単純な * のみ")
            wanted = node.table.lower() if isinstance(node, exp.Column) else ""
            if wanted and wanted not in sources:
                _refuse_column(node)
            for alias, rows in sources.items():
                if wanted in ("", alias):
                    found += [(name, exp.column(name, table=alias, quoted=True)) for name in rows.names]
            continue
        inner = node.unalias().unnest()
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else f"_col_{position}")
        found.append((name.lower(), inner))
    return found


def _pair(
    condition: exp.Expression, sources: Mapping[str, _Rows], before: list[str], alias: str
) -> tuple[Hashable, Hashable] | None:
    """The columns of both sides that a condition says are equal; None if it says something else."""
    equal = condition.unnest()
    if not isinstance(equal, exp.EQ):
        return None
    ends = [equal.this.unnest(), equal.expression.unnest()]
    if not all(isinstance(end, exp.Column) for end in ends):
        return None
    one, other = (_resolve(end, sources) for end in ends)
    if one[0] == alias:
        one, other = other, one
    return (one, other) if one[0] in before and other[0] == alias else None


def _resolve(column: exp.Column, sources: Mapping[str, _Rows]) -> tuple[str, str]:
    """Alias and name of a column; refuses those that are not there, or in several sources."""
    name, alias = column.name.lower(), column.table.lower()
    found = [each for each, rows in sources.items() if alias in ("", each) and rows.names.count(name) == 1]
    is_repeated = any(alias in ("", each) and rows.names.count(name) > 1 for each, rows in sources.items())
    if len(found) != 1 or is_repeated or len(column.parts) > 2:
        _refuse_column(column)
    return found[0], name


def _qualified(side: Side, alias: str) -> Side:
    return Side(side.stability, {(alias, name): each for name, each in side.max_frequency.items()}, side.tables)


def _renamed(rows: _Rows, node: exp.Expression) -> _Rows:
    """A source as it is; a list of new names for its columns is not offered."""
    alias = node.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
        _refuse_construct(node, "No new names for columns after an alias", "別名の後の列名リストは不可")
    return rows


def _others(node: exp.Expression, known: set[str]) -> list[str]:
    """Parts that a node has besides those that are understood."""
    return [name for name, value in node.args.items() if value and name not in known]


def _refuse_nested(node: exp.Expression) -> None:
    if isinstance(node, _NESTED) or next(node.find_all(*_NESTED), None) is not None:
        _refuse_construct(node, "No queries, windows or aggregates here", "ここでの副問い合わせ・窓関数は不可")


def _refuse_construct(node: exp.Expression | None, english: str, japanese: str) -> NoReturn:
    refuse(
        node,
        "unsupported-construct",
        f"Elastic sensitivity is not known for this. {english}, please.",
        f"この構文の弾力感度は分かりません。{japanese}です。",
    )


def _refuse_column(node: exp.Expression) -> NoReturn:
    refuse(
        node,
        "unknown-column",
        "There is no such column, or several of that name. Write the table before it.",
        "この列はないか、同じ名前の列が複数あります。表の名前を前に付けてください。",
    )


def _refuse_frequency(node: exp.Expression) -> NoReturn:
    refuse(
        node,
        "no-max-frequency",
        "It is not known how often a value stands in the columns that are joined on; state max_frequency in the metadata.",
        "結合に使う列で同じ値が何回現れうるか分かりません。メタデータで max_frequency を指定してください。",
    )


def _refuse_arithmetic(node: exp.Expression) -> NoReturn:
    refuse(
        node,
        "arithmetic-on-aggregate",
        "Calculations with a count have another sensitivity. Ask for the count, and calculate with the answer.",
        "件数を使った計算では感度が変わります。件数だけを問い合わせ、結果に対して計算してください。",
    )


def _refuse_query(node: exp.Expression) -> NoReturn:
    refuse(
        node,
        "unsupported-query",
        "Elastic sensitivity is for COUNT, of rows or by groups of public columns.",
        "弾力感度は COUNT（全体、または公開された列によるグループ別）にだけ使えます。",
    )
