"""The names that DB-API 2.0 (PEP 249) wants of a module, all exported by `sudare.sql`."""

from __future__ import annotations

from sudare.errors import DatabaseError, ParameterError, QueryRefusedError, SudareError, SudareWarning

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Error",
    "InterfaceError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "TypeCode",
    "Warning",
    "apilevel",
    "paramstyle",
    "threadsafety",
]

apilevel = "2.0"
"""The version of DB-API."""

threadsafety = 1
"""Threads may share the module, but not connections."""

paramstyle = "qmark"
"""Parameters are question marks."""


class TypeCode(frozenset[str]):
    """A group of column types; equal to each of its members, as DB-API wants it.

    Example:
        >>> NUMBER == "integer", STRING == "integer"
        (True, False)
    """

    def __eq__(self, other: object) -> bool:
        return other in self if isinstance(other, str) else frozenset.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = frozenset.__hash__


STRING = TypeCode({"text"})
BINARY = TypeCode({"binary"})
NUMBER = TypeCode({"integer", "decimal", "float", "boolean"})
DATETIME = TypeCode({"date", "timestamp"})
ROWID = TypeCode()

Warning = SudareWarning  # noqa: A001 - DB-API calls it so
Error = SudareError
InterfaceError = ParameterError
OperationalError = DatabaseError
ProgrammingError = QueryRefusedError
NotSupportedError = QueryRefusedError
