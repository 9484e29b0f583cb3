"""How large a query becomes when its names are replaced by what they stand for, computed before any of them is.

A part of WITH stands in the plan as often as it is named, a star becomes all columns, and a column that is named in the same
SELECT becomes its expression. Each of these doubles with every further line: thirty lines would be a billion parts. The size is
added up part by part, each part once, so that it takes time in proportion to the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sudare.sql.frontend.refusals import refuse

__all__ = ["MAX_PLANNED_SIZE", "require_moderate_size"]

MAX_PLANNED_SIZE = 30_000
"""Nodes of the syntax tree after everything is replaced. No text that may be read has this many itself; the queries of the corpus
have 161 at most."""

SIZE_OF_TABLE = 30
"""What reading a table adds: its columns, and the conditions that leave rows out."""


def require_moderate_size(tree: exp.Query, columns: Mapping[str, int]) -> None:
    """Refuse a query that would become too large to plan.

    Args:
        tree: of the query, as it was parsed.
        columns: how many columns each table has, by its name in lower case.

    Raises:
        QueryRefusedError: if it would, or if parts of WITH lead back to themselves.
    """
    size = _Sizes(tree, columns).size(tree)
    if size > MAX_PLANNED_SIZE:
        many = f"{size:,}" if size < 10**9 else "1,000,000,000 or more"
        refuse(
            None,
            "too-complex",
            f"With every part of WITH, star and name of a column written out where it stands, this query has {many} parts; "
            f"{MAX_PLANNED_SIZE:,} are allowed. Name each of them less often, or ask several queries.",
            f"WITH の各部分・* ・列の別名を使用箇所に展開すると、このクエリの要素は {many} 個になり、"
            f"上限の {MAX_PLANNED_SIZE:,} 個を超えます。参照する回数を減らすか、クエリを分けてください。",
        )


class _Sizes:
    """Sizes and numbers of columns of all queries in a tree, each computed once."""

    def __init__(self, tree: exp.Query, columns: Mapping[str, int]) -> None:
        self._columns = columns
        self._widest = max(columns.values(), default=1)
        self._named: dict[str, list[exp.Query]] = {}
        for cte in tree.find_all(exp.CTE):
            self._named.setdefault(cte.alias.lower(), []).append(cte.this)
        self._known: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()

    def size(self, query: exp.Query) -> int:
        return self._measured(query)[0]

    def _measured(self, query: exp.Query) -> tuple[int, int]:
        """Size and number of columns."""
        place = id(query)
        if place in self._known:
            return self._known[place]
        if place in self._open:
            refuse(
                query,
                "recursive",
                "Parts of WITH lead back to themselves. Name only parts that stand before.",
                "WITH の部分が自分自身に戻っています。前にある部分だけを参照してください。",
            )
        self._open.add(place)
        self._known[place] = found = self._computed(query)
        self._open.remove(place)
        return found

    def _computed(self, query: exp.Query) -> tuple[int, int]:
        if isinstance(query, exp.Subquery):
            return self._measured(query.this)
        if isinstance(query, exp.SetOperation):
            parts = [self._measured(part) for part in (query.left, query.right)]
            rest = sum(self._weight(query.args.get(name), {}) for name in ("order", "limit", "offset"))
            return sum(size for size, _ in parts) + rest + 1, max(width for _, width in parts)
        return self._select(query)

    def _select(self, select: exp.Query) -> tuple[int, int]:
        sources = {}
        size = 1
        for item in (select.args.get("from_"), *(select.args.get("joins") or [])):
            if item is not None and item.this is not None:
                part, width = self._source(item.this)
                size += part
                sources[item.this.alias_or_name.lower()] = width
        aliases: dict[str, int] = {}
        columns = 0
        for item in select.expressions:
            stars = self._stars(item, sources)
            columns += stars or 1
            weight = 3 * stars + self._weight(item, aliases)
            size += weight
            if item.alias:
                aliases[item.alias.lower()] = max(weight, aliases.get(item.alias.lower(), 0))
        for name, value in select.args.items():
            if name == "joins":
                size += sum(self._weight(join.args.get("on"), aliases) for join in value or [])
            elif name not in ("expressions", "from_", "with_"):
                size += self._weight(value, aliases)
        return size, columns

    def _source(self, source: exp.Expr) -> tuple[int, int]:
        if isinstance(source, exp.Query):
            return self._measured(source)
        name = source.name.lower()
        if isinstance(source, exp.Table) and len(source.parts) == 1 and name in self._named:
            found = [self._measured(query) for query in self._named[name]]
            return max(size for size, _ in found), max(width for _, width in found)
        return SIZE_OF_TABLE, self._columns.get(name, self._widest)

    def _stars(self, item: exp.Expr, sources: Mapping[str, int]) -> int:
        """How many columns a star stands for; 0 if the item is none."""
        star = item.this if isinstance(item, exp.Column) else item
        if not isinstance(star, exp.Star):
            return 0
        wanted = item.table.lower() if isinstance(item, exp.Column) else ""
        return max(sources.get(wanted, sum(sources.values())), 1)

    def _weight(self, value: object, aliases: Mapping[str, int]) -> int:
        """Nodes of a part, with names of other columns of the SELECT replaced by these."""
        pending = list(value) if isinstance(value, list) else [value]
        weight = 0
        while pending:
            node = pending.pop()
            if isinstance(node, exp.Query):
                weight += self.size(node)
            elif isinstance(node, exp.Expr):
                weight += 1
                if isinstance(node, exp.Column) and not node.table:
                    weight += aliases.get(node.name.lower(), 0)
                pending.extend(node.iter_expressions())
        return weight
