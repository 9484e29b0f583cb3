"""Private SQL on an unmodified database.

A query goes through these modules: `parsing` and `naming` (what is asked), `planning` (what is measured, with the sensitivity of
each measure and its reason), `allocating` (which noise), `charging` (who pays, before anything is read), `answering` (the
database counts, noise is added outside), `cursors` (what is handed out).

This package is also a DB-API 2.0 module. Names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sudare.errors import DatabaseError as DatabaseError
    from sudare.sql.connection import Connection as Connection
    from sudare.sql.connection import connect as connect
    from sudare.sql.cursors import Cursor as Cursor
    from sudare.sql.dbapi import BINARY as BINARY
    from sudare.sql.dbapi import DATETIME as DATETIME
    from sudare.sql.dbapi import NUMBER as NUMBER
    from sudare.sql.dbapi import ROWID as ROWID
    from sudare.sql.dbapi import STRING as STRING
    from sudare.sql.dbapi import Error as Error
    from sudare.sql.dbapi import InterfaceError as InterfaceError
    from sudare.sql.dbapi import NotSupportedError as NotSupportedError
    from sudare.sql.dbapi import OperationalError as OperationalError
    from sudare.sql.dbapi import ProgrammingError as ProgrammingError
    from sudare.sql.dbapi import Warning as Warning  # noqa: A004 - DB-API calls it so
    from sudare.sql.dbapi import apilevel as apilevel
    from sudare.sql.dbapi import paramstyle as paramstyle
    from sudare.sql.dbapi import threadsafety as threadsafety
    from sudare.sql.describing import describe as describe
    from sudare.sql.explaining import Explanation as Explanation
    from sudare.sql.metadata import Metadata as Metadata
    from sudare.sql.metadata_file import read_metadata as read_metadata
    from sudare.sql.pricing import BatchPrice as BatchPrice
    from sudare.sql.pricing import Price as Price

_HOMES = {
    "BINARY": "sql.dbapi",
    "BatchPrice": "sql.pricing",
    "Connection": "sql.connection",
    "Cursor": "sql.cursors",
    "DATETIME": "sql.dbapi",
    "DatabaseError": "errors",
    "Error": "sql.dbapi",
    "Explanation": "sql.explaining",
    "InterfaceError": "sql.dbapi",
    "Metadata": "sql.metadata",
    "NUMBER": "sql.dbapi",
    "NotSupportedError": "sql.dbapi",
    "OperationalError": "sql.dbapi",
    "Price": "sql.pricing",
    "ProgrammingError": "sql.dbapi",
    "ROWID": "sql.dbapi",
    "STRING": "sql.dbapi",
    "Warning": "sql.dbapi",
    "apilevel": "sql.dbapi",
    "connect": "sql.connection",
    "describe": "sql.describing",
    "paramstyle": "sql.dbapi",
    "read_metadata": "sql.metadata_file",
    "threadsafety": "sql.dbapi",
}
"""In which module each name is."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'sudare.sql' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"sudare.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
