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
    from sudare.sql.execution.connection import Connection as Connection
    from sudare.sql.execution.connection import connect as connect
    from sudare.sql.execution.cursors import Cursor as Cursor
    from sudare.sql.execution.dbapi import BINARY as BINARY
    from sudare.sql.execution.dbapi import DATETIME as DATETIME
    from sudare.sql.execution.dbapi import NUMBER as NUMBER
    from sudare.sql.execution.dbapi import ROWID as ROWID
    from sudare.sql.execution.dbapi import STRING as STRING
    from sudare.sql.execution.dbapi import Error as Error
    from sudare.sql.execution.dbapi import InterfaceError as InterfaceError
    from sudare.sql.execution.dbapi import NotSupportedError as NotSupportedError
    from sudare.sql.execution.dbapi import OperationalError as OperationalError
    from sudare.sql.execution.dbapi import ProgrammingError as ProgrammingError
    from sudare.sql.execution.dbapi import Warning as Warning  # noqa: A004 - DB-API calls it so
    from sudare.sql.execution.dbapi import apilevel as apilevel
    from sudare.sql.execution.dbapi import paramstyle as paramstyle
    from sudare.sql.execution.dbapi import threadsafety as threadsafety
    from sudare.sql.execution.explaining import Explanation as Explanation
    from sudare.sql.execution.pricing import BatchPrice as BatchPrice
    from sudare.sql.execution.pricing import Price as Price
    from sudare.sql.metadata.describing import describe as describe
    from sudare.sql.metadata.file import read_metadata as read_metadata
    from sudare.sql.metadata.model import Metadata as Metadata

_HOMES = {
    "BINARY": "execution.dbapi",
    "BatchPrice": "execution.pricing",
    "Connection": "execution.connection",
    "Cursor": "execution.cursors",
    "DATETIME": "execution.dbapi",
    "DatabaseError": "sudare.errors",
    "Error": "execution.dbapi",
    "Explanation": "execution.explaining",
    "InterfaceError": "execution.dbapi",
    "Metadata": "metadata.model",
    "NUMBER": "execution.dbapi",
    "NotSupportedError": "execution.dbapi",
    "OperationalError": "execution.dbapi",
    "Price": "execution.pricing",
    "ProgrammingError": "execution.dbapi",
    "ROWID": "execution.dbapi",
    "STRING": "execution.dbapi",
    "Warning": "execution.dbapi",
    "apilevel": "execution.dbapi",
    "connect": "execution.connection",
    "describe": "metadata.describing",
    "paramstyle": "execution.dbapi",
    "read_metadata": "metadata.file",
    "threadsafety": "execution.dbapi",
}
"""In which module each name is."""

__all__ = sorted(_HOMES)

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
