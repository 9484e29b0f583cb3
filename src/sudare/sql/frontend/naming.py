"""Names in a query, brought to those of the metadata: every table is described, every column has its table, stars are gone."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from sudare.sections import suggest
from sudare.sql.frontend.copies import copied
from sudare.sql.frontend.refusals import refuse
from sudare.sql.metadata.model import Metadata
from sudare.sql.relations.capping import LeftOut, capped_source

__all__ = ["Names"]

ANY_CASE = ("duckdb", "spark")
"""Dialects in which names differ by more than their case, quoted or not."""


class Names:
    """The tables and columns of a database as queries may write them.

    Args:
        metadata: of the database.
        dialect: of the queries.
    """

    def __init__(self, metadata: Metadata, dialect: str) -> None:
        self._dialect, self._metadata = dialect, metadata
        self._sources: dict[str, tuple[exp.Select, LeftOut | None]] = {}
        self._tables = {self._folded(name): name for name in metadata.tables}
        last_parts = [self._folded(name.rpartition(".")[2]) for name in metadata.tables]
        for name, last in zip(metadata.tables, last_parts, strict=True):
            # A schema need not be written where the last part says which table is meant.
            if last_parts.count(last) == 1:
                self._tables.setdefault(last, name)
        self._columns = {
            name: {self._folded(column): column for column in table.columns} for name, table in metadata.tables.items()
        }
        self._inner = {f"table {number}": name for number, name in enumerate(metadata.tables)}
        self._outer = {name: inner for inner, name in self._inner.items()}
        schema = {self._outer[name]: dict.fromkeys(columns, "UNKNOWN") for name, columns in self._columns.items()}
        self._schema = MappingSchema(dict(schema), dialect=dialect, normalize=False)

    @property
    def ignores_case(self) -> bool:
        """Whether names that differ in case only are the same."""
        return self._dialect in ANY_CASE

    @property
    def widths(self) -> dict[str, int]:
        """How many columns tables have, by the last part of their names in lower case."""
        return {name.rpartition(".")[2].lower(): len(columns) for name, columns in self._columns.items()}

    def written(self, column: str) -> str:
        """A column of the metadata as a settled query writes it."""
        return self._folded(column)

    def _folded(self, name: str) -> str:
        return name.lower() if self.ignores_case else name

    def table(self, inner: str) -> str | None:
        """The metadata's name of a table in a settled query; None if it is not a table but a query that WITH gave a name to."""
        return self._inner.get(inner)

    def column(self, table: str, name: str) -> str | None:
        """A column's name in the metadata; None if the table has none of that name."""
        return self._columns[table].get(self._folded(name))

    def _as_read(self, part: exp.Expr) -> str:
        """A part of a name as the database reads it: PostgreSQL makes what is not in quotes small."""
        is_folded = self._dialect == "postgres" and isinstance(part, exp.Identifier) and not part.quoted
        return part.name.lower() if is_folded else part.name

    def source(self, table: str) -> tuple[exp.Select, LeftOut | None]:
        """The rows of a table that count, and the list of what is left out; not to be changed."""
        if table not in self._sources:
            self._sources[table] = capped_source(self._metadata.tables[table], self._metadata, self._folded)
        return self._sources[table]

    def settle(self, tree: exp.Query) -> exp.Query:
        """The query with its names settled: tables under the metadata's names, columns with their tables.

        Raises:
            QueryRefusedError: for tables and columns that are not described, and for names that are not clear.
        """
        tree = copied(tree)
        self._settle_tables(tree)
        try:
            found = qualify(
                tree,
                schema=self._schema,
                dialect=self._dialect,
                validate_qualify_columns=False,
            )
        except SqlglotError:
            self._refuse_foreign_column(tree)
            refuse(
                None,
                "unclear-names",
                "The names in this query are not clear: an alias stands twice, a name belongs to several tables, or a star has "
                "nothing to stand for. Give every table an alias of its own and write it before each column.",
                "クエリの名前が一意に決まりません（別名の重複、複数の表にある列名、展開できない * など）。"
                "表ごとに別名を付け、列の前に書いてください。",
            )
        for column in found.find_all(exp.Column):
            if not column.table and not _is_output(column):
                self._refuse_column(column)
        return found

    def _settle_tables(self, tree: exp.Query) -> None:
        listed = {self._folded(cte.alias): cte for cte in tree.find_all(exp.CTE)}
        for name, cte in listed.items():
            if name in self._tables:
                refuse(
                    cte.args.get("alias"),
                    "name-of-a-table",
                    f"A table is called {cte.alias!r:.60} already; give the WITH query another name.",
                    f"{cte.alias!r:.60} は表の名前です。WITH 句には別の名前を付けてください。",
                )
        for table in list(tree.find_all(exp.Table)):
            written = ".".join(self._as_read(part) for part in table.parts)
            if len(table.parts) == 1 and self._folded(written) in listed:
                continue
            found = self._tables.get(self._folded(written))
            if found is None or not isinstance(table.this, exp.Identifier):
                hint = suggest(written, self._tables.values())
                refuse(
                    table,
                    "unknown-table",
                    f"The metadata has no table {written!r:.60}.{hint.english} Only described tables can be asked about.",
                    f"メタデータに {written!r:.60} という表はありません。{hint.japanese}記述された表だけを使えます。",
                )
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.parts[-1].name)))
            settled = exp.to_identifier(self._outer[found], quoted=True)
            settled.meta.update(table.this.meta)
            table.set("this", settled)
            table.set("db", None)
            table.set("catalog", None)

    def _refuse_foreign_column(self, tree: exp.Query) -> None:
        """Name the column that is not in the table it is said to be in, if that is what is wrong."""
        aliases = {self._folded(table.alias_or_name): self.table(table.name) for table in tree.find_all(exp.Table)}
        inner = {
            self._folded(part.alias): {self._folded(name) for name in part.this.named_selects}
            for part in tree.find_all(exp.Subquery, exp.CTE)
            if part.alias and isinstance(part.this, exp.Query)
        }
        for column in tree.find_all(exp.Column):
            name = aliases.get(self._folded(column.table))
            if name in self._columns and self.column(name, column.name) is None and column.name != "*":
                self._refuse_column(column)
            given = inner.get(self._folded(column.table))
            if given is not None and "*" not in given and self._folded(column.name) not in given:
                self._refuse_column(column)

    def _refuse_column(self, column: exp.Column) -> NoReturn:
        around = column.find_ancestor(exp.Select)
        tables = [self.table(table.name) for table in around.find_all(exp.Table)] if around is not None else []
        if sum(1 for name in tables if name is not None and self.column(name, column.name) is not None) > 1:
            refuse(
                column,
                "unclear-names",
                f"Several tables have a column {column.name!r:.60}; write the table's alias before it.",
                f"列 {column.name!r:.60} は複数の表にあります。前に表の別名を書いてください。",
            )
        known = [name for columns in self._columns.values() for name in columns.values()]
        hint = suggest(column.name, known)
        refuse(
            column,
            "unknown-column",
            f"No table of this query has a column {column.name!r:.60}.{hint.english}",
            f"このクエリの表に {column.name!r:.60} という列はありません。{hint.japanese}",
        )


def _is_output(column: exp.Column) -> bool:
    """Whether a column in ORDER BY names a column of the result."""
    if not isinstance(column.find_ancestor(exp.Order, exp.Query), exp.Order):
        return False
    around = column.find_ancestor(exp.Query)
    return around is not None and column.name in around.named_selects
