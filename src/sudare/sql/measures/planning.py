"""The plan of a query: what is measured in the database, and what is made of the noisy results.

The lowest SELECT that counts over units is measured. Everything above it (HAVING, ORDER BY, LIMIT, arithmetic, further
SELECTs without private tables) is post-processing of what is published anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import prod

from sqlglot import exp

from sudare.bilingual import Words
from sudare.sql.expressions.expressions import examine
from sudare.sql.expressions.facts import Facts
from sudare.sql.expressions.post_processing import require_harmless
from sudare.sql.frontend.copies import copied, limited_copies
from sudare.sql.frontend.naming import Names
from sudare.sql.frontend.options import BOUNDS_PER_GROUP, Options
from sudare.sql.frontend.parsing import Parsed
from sudare.sql.frontend.planned_size import require_moderate_size
from sudare.sql.frontend.refusals import refuse
from sudare.sql.frontend.trees import group_keys, has_aggregate, named_queries, replaced_from_top
from sudare.sql.measures.aggregates import Aggregates
from sudare.sql.measures.measures import Change, Key, QuantileMeasure, SumMeasure
from sudare.sql.measures.measuring import Limits
from sudare.sql.metadata.model import Metadata
from sudare.sql.metadata.table_changes import changes_of_groups, changes_of_tables
from sudare.sql.relations.capping import LeftOut
from sudare.sql.relations.interpretation import Core, Reader
from sudare.sql.relations.keys import key_form, refuse_key_type
from sudare.sql.relations.relations import RelationColumn
from sudare.sql.relations.unit_sums import sums_over_units

__all__ = ["MAX_GROUPS", "MeasuredTable", "QueryPlan", "plan_query"]

_EACH_ROW = Words("each row", "行ごと")
MAX_GROUPS = 10**6
"""Public keys are listed up to this many combinations."""


@dataclass(frozen=True)
class MeasuredTable:
    """A table of noisy results, before the noise.

    Attributes:
        name: in the post-processing.
        keys: what groups are formed by.
        sums: what is summed for each group.
        quantiles: what is chosen for each group.
        presence: the measure that decides which groups are published, where keys are not public; None otherwise.
        limits: on contributions.
        is_public: whether no private table is behind it, so that it needs no noise.
        query: that computes keys and sums; None if there are none.
        quantile_queries: that count the rows at each point of the grid, by measure.
        reasons: how the number of rows that one unit can change came about.
    """

    name: str
    keys: tuple[Key, ...]
    sums: tuple[SumMeasure, ...]
    quantiles: tuple[QuantileMeasure, ...]
    presence: SumMeasure | None
    limits: Limits
    is_public: bool
    query: exp.Select | None
    quantile_queries: Mapping[str, exp.Select]
    reasons: tuple[Words, ...]


@dataclass(frozen=True)
class QueryPlan:
    """What a query becomes.

    Attributes:
        text: the query as it was written.
        dialect: of the query and the database.
        options: what the query itself says of privacy.
        metadata: of the database.
        tables: what is measured.
        post: the query over the noisy results, for DuckDB.
        columns: names of its columns.
        left_out: lists of keys that the measured queries refer to, by name.
        used: all tables of the database that are read.
        changes: in which ways the answer means something else than the query.
    """

    text: str
    dialect: str
    options: Options
    metadata: Metadata
    tables: tuple[MeasuredTable, ...]
    post: exp.Query
    columns: tuple[str, ...]
    left_out: Mapping[str, LeftOut]
    used: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def is_public(self) -> bool:
        """Whether only public tables are asked about, so that the answer is exact and free."""
        return all(table.is_public for table in self.tables)

    @property
    def needs_delta(self) -> bool:
        """Whether there must be a delta: keys are published that are not public, or joins follow the data as they are."""
        return any(table.presence is not None or table.limits.growth is not None for table in self.tables)

    def sql(self, tree: exp.Expr) -> str:
        """A measured query in the database's own SQL."""
        return copied(tree).sql(self.dialect, copy=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that is asked and measured, in hexadecimal digits; the same for queries that mean the same."""
        parts = [self.dialect, self.metadata.digest, self.metadata.version, self.post.sql("duckdb")]
        for table in self.tables:
            parts += [self.sql(table.query) if table.query is not None else "", repr(table.limits)]
            parts += [self.sql(tree) for tree in table.quantile_queries.values()]
            parts += [repr((measure.scale, measure.sensitivity)) for measure in table.sums]
            parts += [repr((one.share, one.low, one.step, one.points, one.rows)) for one in table.quantiles]
            parts += [repr((key.facts, key.values_from)) for key in table.keys]
        parts += [self.sql(listed.query) for listed in self.left_out.values()]
        return sha256("\0".join(parts).encode()).hexdigest()


def plan_query(parsed: Parsed, metadata: Metadata, names: Names, *, elastic: bool = False) -> QueryPlan:
    """Plan a query.

    Args:
        parsed: the query.
        metadata: of the database.
        names: of its tables and columns in the query's dialect.
        elastic: whether joins whose rows belong to two units follow how often values stand in the data as they are
            (``sql/relations/elastic.md``), instead of cutting each value to ``max_frequency`` rows.

    Raises:
        QueryRefusedError: if it cannot be answered.
    """
    _require_same_unit(parsed.options, metadata)
    require_moderate_size(parsed.tree, names.widths)
    with limited_copies():
        return _planned(parsed, metadata, names, elastic)


def _planned(parsed: Parsed, metadata: Metadata, names: Names, elastic: bool) -> QueryPlan:
    tree = names.settle(parsed.tree)
    mentioned = {column.name for column in tree.find_all(exp.Column)}
    planner = _Planner(Reader(metadata, names, parsed.dialect, mentioned, elastic=elastic), parsed.options)
    post = planner.top(tree, {})
    require_harmless(post, {table.name for table in planner.tables})
    reader = planner.reader
    return QueryPlan(
        text=parsed.text,
        dialect=parsed.dialect,
        options=parsed.options,
        metadata=metadata,
        tables=tuple(planner.tables),
        post=post,
        columns=_names_as_written(parsed.tree, post),
        left_out=dict(reader.left_out),
        used=tuple(reader.tables),
        changes=tuple(dict.fromkeys((*planner.changes, *changes_of_tables(reader)))),
    )


def _require_same_unit(options: Options, metadata: Metadata) -> None:
    named = options.privacy_unit_column
    units = {table.unit for table in metadata.tables.values() if table.unit is not None}
    if named is not None and named.rpartition(".")[2].lower() not in {unit.lower() for unit in units}:
        by = Words.joined(sorted(units)) if units else _EACH_ROW
        refuse(
            None,
            "privacy-unit",
            f"The metadata protects {metadata.who}, by {by.english}; a query cannot choose another.",
            f"メタデータの保護単位は {metadata.who}（{by.japanese}）です。クエリで別の保護単位は指定できません。",
        )


@dataclass
class _Planner:
    reader: Reader
    options: Options
    tables: list[MeasuredTable] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    above: dict[int, exp.Query] = field(default_factory=dict)

    def top(self, tree: exp.Expr, known: Mapping[str, exp.Query]) -> exp.Query:
        """The post-processing of a query; what it measures is noted."""
        if isinstance(tree, exp.Subquery):
            return self.top(tree.this, known)
        if isinstance(tree, exp.Query):
            known = {**known, **named_queries(tree)}
        if isinstance(tree, exp.Union):
            united = exp.union(
                self.top(tree.left, known),
                self.top(tree.right, known),
                distinct=bool(tree.args["distinct"]),
                copy=False,
            )
            for clause in ("order", "limit", "offset"):
                if tree.args.get(clause):
                    united.set(clause, copied(tree.args[clause]))
            return united
        if not isinstance(tree, exp.Select):
            refuse(
                tree,
                "set-operation",
                "INTERSECT and EXCEPT are not offered; write conditions.",
                "INTERSECT と EXCEPT は使えません。条件で書いてください。",
            )
        parts = [*tree.expressions, *(tree.args[name] for name in ("having", "order") if tree.args.get(name))]
        if tree.args.get("group") or any(has_aggregate(part) for part in parts):
            return self._measured(tree, known)
        return self._above(tree, known)

    def _above(self, select: exp.Select, known: Mapping[str, exp.Query]) -> exp.Select:
        """A SELECT over results only."""
        sources = [select.args.get("from_"), *(select.args.get("joins") or [])]
        if sources[0] is None:
            refuse(select, "no-table", "A query needs a table: FROM is missing.", "FROM 句がありません。")
        for source in sources:
            table = source.this
            is_result = isinstance(table, exp.Subquery) or (isinstance(table, exp.Table) and table.name in known)
            if not is_result:
                refuse(
                    table,
                    "rows",
                    "This would publish rows. Ask for aggregates: COUNT, SUM, AVG, ..., with GROUP BY.",
                    "このクエリは行そのものを公表します。COUNT・SUM・AVG などの集計を GROUP BY とともに使ってください。",
                )
        copy = copied(select)
        copy.set("with_", None)
        for source in [copy.args["from_"], *(copy.args.get("joins") or [])]:
            table = source.this
            inner = known[table.name] if isinstance(table, exp.Table) else table.this
            rest = {name: query for name, query in known.items() if query is not inner}
            alias = exp.TableAlias(this=exp.to_identifier(table.alias_or_name, quoted=True))
            # A query that WITH gave a name to is measured once, however often it is named.
            if id(inner) not in self.above:
                self.above[id(inner)] = self.top(inner, rest)
            source.set("this", exp.Subquery(this=copied(self.above[id(inner)]), alias=alias))
        return copy

    def _measured(self, select: exp.Select, known: Mapping[str, exp.Query]) -> exp.Select:
        core = self.reader.core(select, known)
        keys = [self._key(i, key, core) for i, key in enumerate(group_keys(select))]
        fields = [field for _, field in keys]
        of_unit = all(known.of_unit for known in fields)
        limits = self._limits(select, core, [key for key, _ in keys], of_unit)
        measuring = Aggregates(self.reader, core, limits)
        parts = [*select.expressions, *(select.args[name] for name in ("having", "order") if select.args.get(name))]
        for part in parts:
            measuring.announce(part)
        name = f"t{len(self.tables)}"
        written = group_keys(select)
        outputs = {item.alias_or_name for item in select.expressions}

        def stand_in(node: exp.Expr) -> exp.Expr:
            for i, key in enumerate(written):
                if node == key:
                    return exp.column(f"k{i}", table=name, quoted=True)
            if isinstance(node, (exp.Query, exp.Exists)) or node.args.get("query") is not None:
                refuse(
                    node,
                    "subquery-here",
                    "A query cannot stand inside what is done with results; write it as a query of its own.",
                    "集計結果に対する式の中でクエリは使えません。別のクエリにしてください。",
                )
            if isinstance(node, (exp.AggFunc, exp.Filter, exp.WithinGroup)):
                return exp.paren(_in_table(measuring.formula(node), name), copy=False)
            if isinstance(node, exp.Column) and (node.table or node.name not in outputs):
                refuse(
                    node,
                    "not-grouped",
                    f"Column {node.name!r:.60} is neither grouped by nor inside an aggregate.",
                    f"列 {node.name!r:.60} は GROUP BY にも集計関数の中にもありません。",
                )
            return node

        columns = [
            exp.alias_(replaced_from_top(item.unalias(), stand_in), item.alias_or_name, quoted=True, copy=False)
            for item in select.expressions
        ]
        post = exp.select(*columns).from_(exp.to_identifier(name, quoted=True), copy=False)
        if select.args.get("having"):
            post = post.where(replaced_from_top(select.args["having"].this, stand_in), copy=False)
        for clause in ("order", "limit", "offset"):
            if select.args.get(clause):
                post.set(clause, replaced_from_top(select.args[clause], stand_in))
        if select.args.get("distinct"):
            post = post.distinct(copy=False)
        self._note(name, core, [key for key, _ in keys], measuring, limits)
        # Counts are whole numbers everywhere; PostgreSQL's sums of BIGINT are not.
        whole = {measure.name for measure in measuring.sums if measure.tree.find(exp.Count) is not None}
        _divide_whole_numbers(post, whole | {key.name for key, _ in keys if key.facts.kind == "integer"})
        return post

    def _key(self, number: int, key: exp.Expr, core: Core) -> tuple[Key, RelationColumn]:
        name = f"k{number}"
        if isinstance(key, exp.Column):
            known = self.reader.field(key, core.scope)
            if core.relation.private and known.identifies is not None:
                refuse(
                    key,
                    "groups-are-units",
                    f"Groups by {key.name!r:.60} are single units, which are never published. Group by what several share.",
                    f"{key.name!r:.60} によるグループは個々の保護単位そのもので、公表できません。"
                    "複数の単位に共通する列でまとめてください。",
                )
            tree, facts = self._key_form(copied(key), known.facts, key, core)
            return Key(name, tree, facts, known.values_from), replace(known, facts=facts)
        seen = examine(key, self.reader.lookup(core.scope), self.reader.dialect)
        of_unit = all(self.reader.field(column, core.scope).of_unit for column in key.find_all(exp.Column))
        tree, facts = self._key_form(seen.sql, seen.facts, key, core)
        return Key(name, tree, facts), RelationColumn(facts, of_unit=of_unit)

    def _key_form(self, tree: exp.Expr, facts: Facts, key: exp.Expr, core: Core) -> tuple[exp.Expr, Facts]:
        # Of the word NULL, which has no type, all values are known: none.
        if core.relation.private and facts.kind == "other" and facts.values is None:
            refuse_key_type(key, key.name or key.sql())
        form, known = key_form(tree, facts, self.reader.dialect, key)
        if form is not tree and facts.kind in ("date", "timestamp"):
            self.changes.append(
                Change(
                    "key-range",
                    Words(
                        f"groups by {key.sql():.60}: times before the year 1 or after 9999 count as the nearest in between",
                        f"{key.sql():.60} のグループ: 西暦 1 年より前と 9999 年より後は、その間の最も近い日時として数えられます",
                    ),
                )
            )
        return form, known

    def _limits(self, select: exp.Select, core: Core, keys: list[Key], of_unit: bool) -> Limits:
        metadata = self.reader.metadata
        rows, owned = core.relation.stability, core.relation.owned
        stated = any(node.meta_get(BOUNDS_PER_GROUP) is not None for node in select.find_all(exp.AggFunc))
        if stated and core.relation.private and not owned:
            refuse(
                select,
                "contribution-bounds",
                "Rows of this query belong to no single unit, so that there are no bounds of what a unit adds; leave them out.",
                "このクエリの行は一つの保護単位に属さないため、単位ごとの範囲を指定できません。指定を外してください。",
            )
        for_units = owned and (rows is None or stated or self.options.max_groups_contributed is not None)
        number = None
        if all(key.facts.values is not None for key in keys):
            number = prod(len(key.facts.values or ()) + key.facts.nullable for key in keys)
        if number is not None and number > MAX_GROUPS:
            refuse(
                select,
                "too-many-groups",
                f"The public keys have more than {MAX_GROUPS} combinations; group by fewer of them.",
                f"公開キーの組合せが {MAX_GROUPS} を超えます。グループの列を減らしてください。",
            )
        groups_of_unit = 1 if of_unit else number
        groups = None
        if for_units:
            groups = (self.options.max_groups_contributed or metadata.max_groups) if keys else 1
        growth = (
            core.relation.side.stability if rows is None and groups is None and core.relation.side is not None else None
        )
        if not core.relation.private:
            rows = 1
        elif growth is not None and all(key.is_public for key in keys):
            return Limits(None, None, bool(keys), groups_of_unit, metadata.adjacency, growth)
        elif growth is not None:
            refuse(
                select,
                "elastic-keys",
                "With elastic joins groups are offered by public keys only: list the values of the column in the metadata.",
                "elastic の結合では、公開キーによるグループだけを使えます。メタデータで列の values を列挙してください。",
            )
        elif rows is None and groups is None:
            refuse(
                select,
                "no-max-rows",
                "Nothing limits how many rows one unit can change here. State max_rows for the tables in the metadata.",
                "一単位が変えられる行数に上限がありません。メタデータで表の max_rows を指定してください。",
            )
        return Limits(rows, groups, bool(keys), groups_of_unit, metadata.adjacency)

    def _note(self, name: str, core: Core, keys: list[Key], measuring: Aggregates, limits: Limits) -> None:
        is_public = not core.relation.private
        presence = None
        if keys and not is_public and not all(key.is_public for key in keys):
            presence = measuring.presence()
        if keys and not is_public:
            self.changes += changes_of_groups(presence is None, measuring.sums, measuring.quantiles)
        if is_public and keys and not measuring.sums:
            measuring.presence()
        query = None
        queries = {measure.name: _histogram(core, keys, measure) for measure in measuring.quantiles}
        if measuring.sums:
            if limits.groups is not None and not is_public:
                query, changes = sums_over_units(core, keys, measuring.sums, limits, self.reader)
                self.changes += changes
            else:
                query = core.select.select(
                    *(exp.alias_(copied(key.tree), key.name, quoted=True, copy=False) for key in keys),
                    *(
                        exp.alias_(copied(measure.tree), measure.name, quoted=True, copy=False)
                        for measure in measuring.sums
                    ),
                    copy=False,
                )
                query = query.group_by(*(copied(key.tree) for key in keys), copy=False) if keys else query
        self.changes += measuring.changes
        self.tables.append(
            MeasuredTable(
                name,
                tuple(keys),
                tuple(measuring.sums),
                tuple(measuring.quantiles),
                presence,
                limits,
                is_public,
                query,
                queries,
                core.relation.reasons,
            )
        )


def _histogram(core: Core, keys: list[Key], measure: QuantileMeasure) -> exp.Select:
    """How many rows have each point of the grid as their value."""
    rows = copied(core.select)
    if measure.condition is not None:
        rows = rows.where(copied(measure.condition), copy=False)
    counted = rows.select(
        *(exp.alias_(copied(key.tree), key.name, quoted=True, copy=False) for key in keys),
        exp.alias_(copied(measure.bucket), "b", quoted=True, copy=False),
        exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True, copy=False),
        copy=False,
    )
    return counted.group_by(*(copied(key.tree) for key in keys), copied(measure.bucket), copy=False)


def _in_table(formula: exp.Expr, table: str) -> exp.Expr:
    for column in list(formula.find_all(exp.Column)):
        column.set("table", exp.to_identifier(table, quoted=True))
    return formula


def _divide_whole_numbers(post: exp.Select, whole: set[str]) -> None:
    """Where whole numbers divided by whole numbers give whole numbers, as in PostgreSQL, say so in DuckDB's words."""

    def is_whole(node: exp.Expr) -> bool:
        if isinstance(node, (exp.Paren, exp.Neg)):
            return is_whole(node.this)
        if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.IntDiv)):
            return is_whole(node.left) and is_whole(node.right)
        if isinstance(node, exp.Literal):
            return not node.is_string and node.this.isdigit()
        return isinstance(node, exp.Column) and node.name in whole

    for node in list(post.find_all(exp.Div, bfs=False))[::-1]:
        if node.args.get("typed") and is_whole(node.left) and is_whole(node.right):
            node.replace(exp.paren(exp.IntDiv(this=node.left, expression=node.right), copy=False))


def _names_as_written(written: exp.Query, post: exp.Query) -> tuple[str, ...]:
    """The columns of an answer as the query has them: settling names makes them small where case does not matter."""
    settled = [item.alias_or_name for item in _first_select(post).expressions]
    names = [item.alias_or_name for item in _first_select(written).expressions]
    if len(names) != len(settled):
        return tuple(settled)
    return tuple(name if name.lower() == known.lower() else known for name, known in zip(names, settled, strict=True))


def _first_select(tree: exp.Query) -> exp.Select:
    while not isinstance(tree, exp.Select):
        tree = tree.this
    return tree
