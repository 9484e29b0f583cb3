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

__all__: list[str]
