"""How names and texts are written in SQL.

Names are compared exactly as the catalogue has them, with upper and lower case: `Engine.tables` and `Engine.columns` list
them, and nothing else is found. A table outside the schema that is asked by default is called ``schema.table``; where a
schema or a table has a point in its own name, that would have two readings, so such a table is not offered.
"""

from __future__ import annotations

__all__ = ["backquoted", "double_quoted", "literal", "public_name", "quoted_path"]


def double_quoted(name: str) -> str:
    """A name as DuckDB and PostgreSQL write it.

    Example:
        >>> from sudare.engines.names import double_quoted
        >>> double_quoted('the "x" table')
        '"the ""x"" table"'
    """
    return '"' + name.replace('"', '""') + '"'


def backquoted(name: str) -> str:
    """A name as Spark writes it.

    Example:
        >>> from sudare.engines.names import backquoted
        >>> backquoted("the `x` table")
        '`the ``x`` table`'
    """
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """A text as DuckDB and PostgreSQL write it.

    Example:
        >>> from sudare.engines.names import literal
        >>> literal("it's")
        "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def public_name(schema: str, table: str, *, bare: bool) -> str | None:
    """What a table is called outside the database; None if that would have two readings.

    Args:
        schema: that the table is in.
        table: its name there.
        bare: whether its name is enough to find it.

    Example:
        >>> from sudare.engines.names import public_name
        >>> public_name("shop", "orders", bare=False)
        'shop.orders'
    """
    if "." in table or "\0" in table or ("." in schema and not bare):
        return None
    return table if bare else f"{schema}.{table}"


def quoted_path(name: str, quote: str = '"') -> str:
    """A table as it stands in SQL, from what `public_name` made of it.

    Example:
        >>> from sudare.engines.names import quoted_path
        >>> quoted_path("shop.orders")
        '"shop"."orders"'
    """
    write = backquoted if quote == "`" else double_quoted
    return ".".join(write(part) for part in name.split("."))
