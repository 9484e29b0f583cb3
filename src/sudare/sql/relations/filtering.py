"""The conditions on the rows of a SELECT, and queries inside it.

A query inside a condition may ask about public tables, or about rows of the same unit: then whether a row counts depends on
its own unit and on what is public, and on nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from sudare.sql.expressions.expressions import examine
from sudare.sql.expressions.facts import Facts
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse, refuse_order
from sudare.sql.frontend.trees import has_aggregate, put_back, replaced_from_top
from sudare.sql.relations.relations import Relation, RelationColumn

if TYPE_CHECKING:
    from sudare.sql.relations.interpretation import Reader, Scope

__all__ = ["Equal", "Filtering", "equalities", "require_condition"]

Equal = tuple[tuple[str, str], tuple[str, str]]
"""Two columns that are equal, each by alias and name."""


def equalities(condition: exp.Expr | None) -> list[Equal]:
    """The columns of different sources that must be equal wherever a condition holds: in all parts of AND, in each of OR."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return equalities(condition.this)
    if isinstance(condition, exp.And):
        return equalities(condition.left) + equalities(condition.right)
    if isinstance(condition, exp.Or):
        left, right = equalities(condition.left), equalities(condition.right)
        return [pair for pair in left if pair in right or pair[::-1] in right]
    pair = both_sides(condition)
    return [] if pair is None else [pair]


def both_sides(part: exp.Expr) -> Equal | None:
    """The two columns of different sources that a part says are equal; None if it says something else."""
    if not isinstance(part, exp.EQ) or not isinstance(part.left, exp.Column) or not isinstance(part.right, exp.Column):
        return None
    left, right = part.left, part.right
    return ((left.table, left.name), (right.table, right.name)) if left.table != right.table else None


def require_condition(facts: Facts, node: exp.Expr) -> None:
    """Refuse what is neither true nor false: a database would convert it, and fail for some values."""
    if facts.kind != "boolean":
        refuse(
            node,
            "not-a-condition",
            "A condition must be true or false, such as x > 3.",
            "条件は x > 3 のように真偽値でなければなりません。",
        )


class Filtering:
    """Rewrites the conditions of one SELECT.

    Args:
        reader: of the whole query, for the queries inside.
        known: the queries that WITH has given names to.
        scope: columns that a condition may name.
        relation: the rows that it is about.
    """

    def __init__(self, reader: Reader, known: Mapping[str, exp.Query], scope: Scope, relation: Relation) -> None:
        self._reader, self._known, self._scope, self._relation = reader, known, scope, relation

    def rewrite(self, condition: exp.Expr) -> exp.Expr:
        """The condition in a form that cannot fail."""
        parts: dict[str, tuple[Facts, exp.Expr]] = {}

        def stand_in(node: exp.Expr) -> exp.Expr:
            answer = self._query_inside(node)
            if answer is None:
                return node
            name = f"query {len(parts)}"
            parts[name] = answer
            return exp.column(name, quoted=True)

        held = condition if condition.find(exp.Query) is None else replaced_from_top(condition, stand_in)

        def lookup(column: exp.Column) -> Facts:
            if not column.table and column.name in parts:
                return parts[column.name][0]
            return self._reader.field(column, self._scope).facts

        seen = examine(held, lookup, self._reader.dialect)
        require_condition(seen.facts, condition)
        return put_back(seen.sql, parts) if parts else seen.sql

    def _query_inside(self, node: exp.Expr) -> tuple[Facts, exp.Expr] | None:
        if isinstance(node, exp.In) and node.args.get("query") is not None:
            return self._membership(node)
        if isinstance(node, exp.Exists):
            return self._existence(node)
        if isinstance(node, exp.Subquery):
            return self._single_value(node)
        if isinstance(node, (exp.Any, exp.All, exp.Query)):
            self._refuse(node)
        return None

    def _membership(self, node: exp.In) -> tuple[Facts, exp.Expr]:
        read = self._reader.query(node.args["query"], self._known)
        field = self._only(read.relation, node)
        if read.relation.private:
            mine = node.this
            ours = self._reader.field(mine, self._scope) if isinstance(mine, exp.Column) else None
            if ours is None or not self._same_unit(ours, field, read.relation):
                self._refuse(node)
        seen = examine(node.this, self._reader.lookup(self._scope), self._reader.dialect)
        if seen.facts.kind != field.facts.kind:
            refuse(node, "mixed-kinds", "The two sides of IN have different types.", "IN の両辺の型が異なります。")
        inner = read.tree
        if read.relation.private and field.facts.nullable:
            # One NULL in the list would decide about everybody's NOT IN.
            (name,) = read.relation.fields
            column = exp.column(str(name), quoted=True)
            known = exp.Not(this=exp.Is(this=copied(column), expression=exp.null()))
            inner = exp.select(column).from_(
                exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("listed")))
            )
            inner = inner.where(known, copy=False)
        tree = exp.In(this=seen.sql, query=exp.Subquery(this=inner))
        return Facts("boolean", nullable=seen.facts.nullable or field.facts.nullable), tree

    def _existence(self, node: exp.Exists) -> tuple[Facts, exp.Expr]:
        inner = node.this
        if isinstance(inner, exp.Query) and any(inner.args.get(name) for name in ("limit", "offset", "order")):
            refuse_order(inner)
        if not isinstance(inner, exp.Select) or any(
            inner.args.get(name) for name in ("group", "having", "distinct", "with_")
        ):
            self._refuse(node)
        if any(has_aggregate(item) for item in inner.expressions):
            # An aggregate without groups gives one row, whatever there is.
            self._reader.core(inner, self._known, self._scope)
            return Facts("boolean", nullable=False), exp.true()
        core = self._reader.core(inner, self._known, self._scope)
        if core.relation.private:
            where = inner.args.get("where")
            equal = equalities(where.this if where else None)
            if not any(self._ties(one, two, core.relation) for pair in equal for one, two in (pair, pair[::-1])):
                self._refuse(node)
        tree = exp.Exists(
            this=core.select.select(exp.alias_(exp.Literal.number(1), "one", quoted=True, copy=False), copy=False)
        )
        return Facts("boolean", nullable=False), tree

    def _ties(self, inside: tuple[str, str], outside: tuple[str, str], relation: Relation) -> bool:
        """Whether a column of the query inside must equal one outside, so that only rows of the same unit count."""
        if inside not in relation.fields or outside in relation.fields or outside not in self._scope:
            return False
        return self._same_unit(self._scope[outside], relation.fields[inside], relation)

    def _same_unit(self, ours: RelationColumn, theirs: RelationColumn, relation: Relation) -> bool:
        known = ours.identifies is not None and ours.identifies == theirs.identifies
        return known and self._relation.owned and relation.owned

    def _single_value(self, node: exp.Subquery) -> tuple[Facts, exp.Expr]:
        read = self._reader.query(node.this, self._known)
        field = self._only(read.relation, node)
        single = isinstance(node.this, exp.Select) and not node.this.args.get("group")
        if read.relation.private or not single or not any(item.find(exp.AggFunc) for item in node.this.expressions):
            self._refuse(node)
        return Facts(field.facts.kind, scale=field.facts.scale), exp.Subquery(this=read.tree)

    def _only(self, relation: Relation, node: exp.Expr) -> RelationColumn:
        fields = list(relation.fields.values())
        if len(fields) != 1:
            refuse(
                node,
                "one-column",
                "A query inside a condition must give one column.",
                "条件の中のクエリは 1 列だけを返さなければなりません。",
            )
        return fields[0]

    def _refuse(self, node: exp.Expr) -> NoReturn:
        refuse(
            node,
            "private-subquery",
            "This query inside a condition lets one unit decide about the rows of others. Compare the unit's own column, as in "
            "customer_id IN (SELECT customer_id ...), or ask about public tables, or write two queries.",
            "条件の中のこのクエリでは、一つの保護単位が他の単位の行を左右します。customer_id IN (SELECT customer_id ...) のように"
            "保護単位の列で比べるか、公開表だけを使うか、クエリを二つに分けてください。",
        )
