"""Private SQL on an unmodified database.

A query goes through these modules: `parsing` and `naming` (what is asked), `planning` (what is measured, with the sensitivity of
each measure and its reason), `allocating` (which noise), `charging` (who pays, before anything is read), `answering` (the
database counts, noise is added outside), `cursors` (what is handed out).

This package is also a DB-API 2.0 module. Names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

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
    "BINARY": "dbapi",
    "BatchPrice": "pricing",
    "Connection": "connection",
    "Cursor": "cursors",
    "DATETIME": "dbapi",
    "DatabaseError": "sudare.errors",
    "Error": "dbapi",
    "Explanation": "explaining",
    "InterfaceError": "dbapi",
    "Metadata": "metadata",
    "NUMBER": "dbapi",
    "NotSupportedError": "dbapi",
    "OperationalError": "dbapi",
    "Price": "pricing",
    "ProgrammingError": "dbapi",
    "ROWID": "dbapi",
    "STRING": "dbapi",
    "Warning": "dbapi",
    "apilevel": "dbapi",
    "connect": "connection",
    "describe": "describing",
    "paramstyle": "dbapi",
    "read_metadata": "metadata_file",
    "threadsafety": "dbapi",
}
"""In which module each name is."""

__all__ = sorted(_HOMES)

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
