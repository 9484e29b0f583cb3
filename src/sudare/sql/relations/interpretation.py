"""Reading a query from its tables upwards: what each part of it gives, how stable that is, and its form that cannot fail.

Every part is rebuilt from what the rules know; what no rule knows is refused. Rows that a table's limits do not allow are
left out at the bottom (`capping`), joins and groups follow `relations`, expressions follow `expressions`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sqlglot import exp

from sudare.bilingual import Words
from sudare.sql.expressions.expressions import examine
from sudare.sql.expressions.facts import Bound, Facts
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.refusals import refuse, refuse_order, refuse_unsupported
from sudare.sql.frontend.trees import group_keys, has_aggregate, named_queries, put_back, replaced_from_top
from sudare.sql.metadata.model import ColumnMetadata, Metadata, TableMetadata
from sudare.sql.relations.capping import LeftOut
from sudare.sql.relations.elastic import Growth, side_of_table
from sudare.sql.relations.filtering import Filtering, equalities, require_condition
from sudare.sql.relations.inner_aggregates import aggregate_inside
from sudare.sql.relations.joining import JoinStep, joined
from sudare.sql.relations.relations import UNIT, Relation, RelationColumn, distinct, group, unite

__all__ = ["Core", "Read", "Reader", "Scope", "facts_of"]

MAX_STABILITY = 2**62
"""Rows that one unit may change; far more than noise could hide."""

Scope = Mapping[tuple[str, str], RelationColumn]
"""Columns that an expression may name, by alias and name."""


@dataclass(frozen=True)
class Read:
    """A part of a query that was read: what it gives, and its tree."""

    relation: Relation
    tree: Any


@dataclass(frozen=True)
class Core:
    """FROM, JOIN and WHERE of a SELECT.

    Attributes:
        relation: its rows; fields by alias and column.
        select: a SELECT with these parts and no columns yet.
    """

    relation: Relation
    select: exp.Select

    @property
    def scope(self) -> dict[tuple[str, str], RelationColumn]:
        """The columns that expressions may name."""
        return {key: field for key, field in self.relation.fields.items() if isinstance(key, tuple)}


class Reader:
    """Reads the parts of one query.

    Args:
        metadata: of the database.
        names: of its tables and columns.
        dialect: of the query.
        mentioned: names of all columns in the query.
        elastic: whether joins whose rows belong to two units follow how often values stand in the data as they are.

    Attributes:
        left_out: lists of keys that the rewritten query needs, by name.
        tables: all tables that were met.
        without_nulls: columns of private tables whose NULLs are left out, by table.
        cut: aliases of sources that were cut to this many rows for each value, for a join.
    """

    def __init__(
        self, metadata: Metadata, names: Names, dialect: str, mentioned: Iterable[str], *, elastic: bool = False
    ) -> None:
        self.metadata, self.names, self.dialect, self.elastic = metadata, names, dialect, elastic
        self.mentioned = frozenset(mentioned)
        self.left_out: dict[str, LeftOut] = {}
        self.without_nulls: dict[str, dict[str, None]] = {}
        self.cut: dict[str, None] = {}
        self.tables: dict[str, None] = {}

    def query(self, tree: Any, known: Mapping[str, exp.Query], outer: Scope | None = None) -> Read:
        """Read a SELECT, or several that are united.

        Args:
            tree: with settled names.
            known: the queries that WITH has given names to.
            outer: columns of the query around it that it may name too.
        """
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this, known, outer)
        if not isinstance(tree, exp.Query):
            refuse_unsupported(tree)
        known = {**known, **named_queries(tree)}
        if isinstance(tree, exp.Union):
            return self._union(tree, known)
        if not isinstance(tree, exp.Select):
            refuse(
                tree,
                "set-operation",
                "INTERSECT and EXCEPT are not offered inside private queries; write a condition, or join on the unit.",
                "INTERSECT と EXCEPT は使えません。条件を書くか、保護単位で結合してください。",
            )
        return self._select(tree, known, outer)

    def core(self, select: exp.Select, known: Mapping[str, exp.Query], outer: Scope | None = None) -> Core:
        """Read FROM, JOIN and WHERE of a SELECT."""
        self._require_plain(select)
        source = select.args.get("from_")
        if source is None:
            refuse(select, "no-table", "A query needs a table: FROM is missing.", "FROM 句がありません。")
        steps = [JoinStep(source.this, *self._source(source.this, known), on=None, outer=False)]
        for item in select.args.get("joins") or []:
            steps.append(self._join_step(item, known))
        where = select.args.get("where")
        equal = equalities(where.this if where else None)
        relation, sources, cut = joined(steps, equal, elastic=self.elastic)
        if (relation.stability or 0) > MAX_STABILITY:
            refuse(
                source.this,
                "too-many-rows",
                "With the limits of its tables one unit could change more than 2**62 rows of this join, which no noise hides. "
                "Join fewer tables, or state a smaller max_rows or max_frequency in the metadata.",
                "表の上限から考えて、一つの保護単位がこの結合の 2**62 行より多くを変えうるため、どのノイズでも隠せません。"
                "結合する表を減らすか、メタデータの max_rows や max_frequency を小さくしてください。",
            )
        self.cut |= dict.fromkeys(cut)
        scope: dict[tuple[str, str], RelationColumn] = dict(outer or {})
        scope |= {key: field for key, field in relation.fields.items() if isinstance(key, tuple)}
        conditions = Filtering(self, known, scope, relation)
        built = exp.Select().from_(sources[0], copy=False)
        for step, tree in zip(steps[1:], sources[1:], strict=True):
            on = conditions.rewrite(step.on) if step.on is not None else exp.true()
            built.append("joins", exp.Join(this=tree, on=on, **({"side": "LEFT"} if step.outer else {"kind": "INNER"})))
        if where is not None:
            built = built.where(conditions.rewrite(where.this), copy=False)
        return Core(relation, built)

    def lookup(self, scope: Scope) -> Callable[[exp.Column], Facts]:
        """How expressions find what is known of a column."""

        def find(column: exp.Column) -> Facts:
            return self.field(column, scope).facts

        return find

    def field(self, column: exp.Column, scope: Scope) -> RelationColumn:
        """The field that a column names."""
        found = scope.get((column.table, column.name))
        if found is None:
            refuse(
                column,
                "unknown-column",
                f"There is no column {column.name!r:.60} here.",
                f"ここに {column.name!r:.60} という列はありません。",
            )
        return found

    def _join_step(self, item: exp.Join, known: Mapping[str, exp.Query]) -> JoinStep:
        side, kind, method = (str(item.args.get(key) or "").upper() for key in ("side", "kind", "method"))
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER") or method:
            refuse(
                item.this,
                "join-kind",
                f"{' '.join(part for part in (method, side, kind) if part)} JOIN is not offered: use JOIN or LEFT JOIN, with the "
                "table whose rows are kept on the left.",
                f"{' '.join(part for part in (method, side, kind) if part)} JOIN は使えません。"
                "JOIN か、残す側の表を左に置いた LEFT JOIN にしてください。",
            )
        return JoinStep(item.this, *self._source(item.this, known), on=item.args.get("on"), outer=side == "LEFT")

    def _source(self, source: exp.Expr, known: Mapping[str, exp.Query]) -> tuple[str, Relation, exp.Query]:
        alias = source.alias_or_name
        if isinstance(source, exp.Table) and source.name in known:
            inner = {name: query for name, query in known.items() if name != source.name}
            read = self.query(known[source.name], inner)
        elif isinstance(source, exp.Table) and (name := self.names.table(source.name)) is not None:
            read = self._table(self.metadata.tables[name])
        elif isinstance(source, exp.Subquery):
            read = self.query(source.this, known)
        else:
            refuse_unsupported(source)
        columns = source.args.get("alias")
        if isinstance(columns, exp.TableAlias) and columns.args.get("columns"):
            refuse(
                columns,
                "column-aliases",
                "Name columns inside the query, with AS, and not behind its alias.",
                "列名は副問い合わせの中で AS を使って付けてください。",
            )
        fields: dict[Hashable, RelationColumn] = {(alias, name): field for name, field in read.relation.fields.items()}
        unique = frozenset(frozenset((alias, name) for name in key) for key in read.relation.unique)
        side = read.relation.side
        if side is not None:
            side = replace(side, max_frequency={(alias, name): each for name, each in side.max_frequency.items()})
        return alias, replace(read.relation, fields=fields, unique=unique, side=side), read.tree

    def _table(self, table: TableMetadata) -> Read:
        self.tables[table.name] = None
        source, left_out = self.names.source(table.name)
        used = self._used(table)
        tree = self._restricted(table, copied(source), used)
        if left_out is not None:
            self.left_out[left_out.name] = left_out
            self.tables |= dict.fromkeys(left_out.tables)
        folded = {self.names.written(name): table.columns[name] for name in used}
        fields: dict[Hashable, RelationColumn] = {
            written: _field_of(table, column, self.metadata) for written, column in folded.items()
        }
        keys = [table.key] if table.key and all(name in used for name in table.key) else []
        keys += [(name,) for name in used if table.columns[name].unique]
        unique = frozenset(frozenset(self.names.written(name) for name in key) for key in keys)
        side = side_of_table(self.metadata, table.name)
        if side is not None:
            named: dict[Hashable, Growth] = {
                self.names.written(str(name)): each for name, each in side.max_frequency.items()
            }
            side = replace(side, max_frequency=named)
        if table.public:
            return Read(Relation(fields, False, 0, unique=unique, side=side), tree)
        most = 1 if table.row_is_unit else table.max_rows
        step = Words(
            f"{table.name}: at most {most} rows of one {self.metadata.who}",
            f"{table.name}: 1 {self.metadata.who} あたり最大 {most} 行",
        )
        return Read(Relation(fields, True, most, True, unique, (step,), side), tree)

    def _used(self, table: TableMetadata) -> list[str]:
        """The columns of a table that the query names, and those that say whose a row is; one at least."""
        whose = _says_whose(table)
        named = [name for name in table.columns if name in whose or self.names.written(name) in self.mentioned]
        return named or [next(iter(table.columns))]

    def _restricted(self, table: TableMetadata, tree: exp.Select, used: list[str]) -> exp.Select:
        """The used columns only; without rows that have a NULL in one of them where the metadata says that there is none."""
        tree.set(
            "expressions", [item for item, name in zip(tree.expressions, table.columns, strict=True) if name in used]
        )
        for name in used:
            if not table.public and not table.columns[name].nullable and name not in _says_whose(table):
                known = exp.Not(this=exp.Is(this=exp.column(name, quoted=True), expression=exp.null()))
                tree = tree.where(known, copy=False)
                self.without_nulls.setdefault(table.name, {})[name] = None
        return tree

    def _union(self, tree: exp.Union, known: Mapping[str, exp.Query]) -> Read:
        if tree.args.get("order") or tree.args.get("limit") or tree.args.get("offset") or tree.args.get("by_name"):
            refuse_order(tree)
        left, right = self.query(tree.left, known), self.query(tree.right, known)
        if len(left.relation.fields) != len(right.relation.fields):
            refuse(
                tree,
                "union-columns",
                "The parts of a UNION must have the same number of columns.",
                "UNION の各部分の列数が同じでなければなりません。",
            )
        renamed = dict(zip(left.relation.fields, right.relation.fields.values(), strict=True))
        for name, field in left.relation.fields.items():
            if field.facts.kind != renamed[name].facts.kind:
                refuse(
                    tree,
                    "union-columns",
                    f"Column {name!s:.60} of a UNION has two types; give it the same type in each part.",
                    f"UNION の列 {name!s:.60} の型が部分ごとに異なります。同じ型にしてください。",
                )
        all_rows = not tree.args.get("distinct")
        relation = unite([left.relation, replace(right.relation, fields=renamed)], all_rows=all_rows)
        return Read(relation, exp.union(left.tree, right.tree, distinct=not all_rows, copy=False))

    def _select(self, select: exp.Select, known: Mapping[str, exp.Query], outer: Scope | None) -> Read:
        if select.args.get("order") or select.args.get("limit") or select.args.get("offset"):
            refuse_order(select)
        core = self.core(select, known, outer)
        if select.args.get("group") or any(has_aggregate(item) for item in select.expressions):
            read = self._grouped(select, core)
        else:
            if select.args.get("having"):
                refuse_unsupported(select.args["having"])
            read = self._plain(select, core, outer)
        if select.args.get("distinct"):
            if select.args["distinct"].args.get("on"):
                refuse_unsupported(select.args["distinct"])
            return Read(distinct(read.relation), read.tree.distinct(copy=False))
        return read

    def _plain(self, select: exp.Select, core: Core, outer: Scope | None) -> Read:
        scope: dict[tuple[str, str], RelationColumn] = {**(outer or {}), **core.scope}
        fields: dict[Hashable, RelationColumn] = {}
        columns = []
        renamed: dict[Hashable, Hashable] = {}
        for item in select.expressions:
            name, value = _name_of(item), item.unalias()
            tree: exp.Expr
            if isinstance(value, exp.Column):
                fields[name], tree = self.field(value, scope), copied(value)
                renamed.setdefault((value.table, value.name), name)
            else:
                seen = examine(value, self.lookup(scope), self.dialect)
                of_unit = all(self.field(column, scope).of_unit for column in value.find_all(exp.Column))
                fields[name], tree = RelationColumn(seen.facts, of_unit=of_unit), seen.sql
            columns.append(exp.alias_(tree, name, quoted=True, copy=False))
        unique = frozenset(
            frozenset(renamed[part] for part in key)
            for key in core.relation.unique
            if all(part in renamed for part in key)
        )
        side = core.relation.side
        if side is not None:
            kept = {renamed[column]: each for column, each in side.max_frequency.items() if column in renamed}
            side = replace(side, max_frequency=kept)
        relation = replace(core.relation, fields=fields, unique=unique, side=side)
        return Read(relation, core.select.select(*columns, copy=False))

    def _grouped(self, select: exp.Select, core: Core) -> Read:
        """Groups inside a query: for each unit, or over units."""
        keys = group_keys(select)
        scope = core.scope
        found: dict[str, tuple[RelationColumn, exp.Expr]] = {}
        for i, key in enumerate(keys):
            if isinstance(key, exp.Column):
                found[f"key {i}"] = (self.field(key, scope), copied(key))
            else:
                seen = examine(key, self.lookup(scope), self.dialect)
                of_unit = all(self.field(column, scope).of_unit for column in key.find_all(exp.Column))
                found[f"key {i}"] = (RelationColumn(seen.facts, of_unit=of_unit), seen.sql)
        owned = core.relation.owned and any(field.names_unit for field, _ in found.values())
        rows = core.relation.stability if owned else None
        parts: dict[str, tuple[Facts, exp.Expr]] = {name: (field.facts, tree) for name, (field, tree) in found.items()}

        def stand_in(node: exp.Expr) -> exp.Expr:
            for i, key in enumerate(keys):
                if node == key:
                    return exp.column(f"key {i}", table="", quoted=True)
            if isinstance(node, (exp.AggFunc, exp.Filter, exp.WithinGroup)):
                name = f"result {len(parts)}"
                parts[name] = aggregate_inside(node, self.lookup(scope), self.dialect, rows)
                return exp.column(name, table="", quoted=True)
            return node

        def rewritten(value: exp.Expr) -> tuple[Facts, exp.Expr]:
            held = replaced_from_top(value, stand_in)
            if isinstance(held, exp.Column) and held.name in parts and not held.table:
                return parts[held.name][0], copied(parts[held.name][1])
            seen = examine(held, lambda column: self._part(column, parts), self.dialect)
            return seen.facts, put_back(seen.sql, parts)

        fields: dict[Hashable, RelationColumn] = {}
        key_fields: dict[Hashable, RelationColumn] = {}
        shown: set[str] = set()
        columns = []
        for item in select.expressions:
            name, value = _name_of(item), item.unalias()
            facts, tree = rewritten(value)
            place = next((i for i, key in enumerate(keys) if key == value), None)
            fields[name] = RelationColumn(facts)
            if place is not None:
                shown.add(f"key {place}")
                fields[name] = key_fields[name] = found[f"key {place}"][0]
            columns.append(exp.alias_(tree, name, quoted=True, copy=False))
        # Keys that are not handed out count as keys all the same.
        hidden: dict[Hashable, RelationColumn] = {
            ("hidden", name): field for name, (field, _) in found.items() if name not in shown
        }
        relation = group(core.relation, {**key_fields, **hidden}, {})
        kept = {name: relation.fields.get(name, field) for name, field in fields.items()}
        unique = frozenset(key for key in relation.unique if all(name in kept for name in key))
        tree = core.select.select(*columns, copy=False).group_by(
            *(copied(part) for _, part in found.values()), copy=False
        )
        if select.args.get("having"):
            facts, condition = rewritten(select.args["having"].this)
            require_condition(facts, select.args["having"])
            tree = tree.having(condition, copy=False)
        return Read(replace(relation, fields=kept, unique=unique), tree)

    def _part(self, column: exp.Column, parts: Mapping[str, tuple[Facts, exp.Expr]]) -> Facts:
        if column.table or column.name not in parts:
            refuse(
                column,
                "not-grouped",
                f"Column {column.name!r:.60} is neither grouped by nor inside an aggregate.",
                f"列 {column.name!r:.60} は GROUP BY にも集計関数の中にもありません。",
            )
        return parts[column.name][0]

    def _require_plain(self, select: exp.Select) -> None:
        allowed = {
            "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct", "with_",
            "kind", "hint", "operation_modifiers",
        }  # fmt: skip
        for name, value in select.args.items():
            if value and name not in allowed:
                refuse(
                    value if isinstance(value, exp.Expr) else select,
                    "unsupported-clause",
                    f"The clause {name.strip('_').upper().replace('_', ' ')} is not offered in private queries.",
                    f"{name.strip('_').upper().replace('_', ' ')} 句は使えません。",
                )


def facts_of(column: ColumnMetadata) -> Facts:
    """What the metadata says of a column."""

    def bound(value: int | Decimal | date | None) -> Bound | None:
        return Fraction(value) if isinstance(value, (int, Decimal)) else value

    exact = column.type.kind in ("integer", "decimal")
    return Facts(
        column.type.kind,
        low=bound(column.low),
        high=bound(column.high),
        scale=(column.type.scale or 0) if exact else None,
        nullable=column.nullable,
        values=(False, True) if column.type.kind == "boolean" and column.values is None else column.values,
        digits=column.type.digits,
    )


def _says_whose(table: TableMetadata) -> set[str | None]:
    """The columns of a private table that say whose a row is; rows with a NULL there were left out before."""
    return {table.unit, table.link.column if table.link is not None else None}


def _field_of(table: TableMetadata, column: ColumnMetadata, metadata: Metadata) -> RelationColumn:
    identifies = None
    if not table.public:
        targets = {
            link.to
            for other in metadata.tables.values()
            if (link := other.link) is not None and link.table == table.name
        }
        if column.name == table.unit:
            identifies = UNIT
        elif table.link is not None and column.name == table.link.column:
            parent = metadata.tables[table.link.table]
            identifies = UNIT if parent.unit == table.link.to else (parent.name, table.link.to)
        elif column.name in targets:
            identifies = (table.name, column.name)
    of_unit = not table.public and (table.row_is_unit or (table.unit is not None and table.max_rows == 1))
    digits = None if column.step is None else max(-column.step.normalize().as_tuple().exponent, 0)  # type: ignore[operator]
    values_from = (table.name, column.name) if table.public else column.values_from
    facts = facts_of(column)
    if not table.public and (
        column.name == table.unit or (table.link is not None and column.name == table.link.column)
    ):
        facts = replace(facts, nullable=False)
    return RelationColumn(facts, identifies, column.max_frequency, of_unit, digits, values_from)


def _name_of(item: exp.Expr) -> str:
    return item.alias_or_name
