"""One DuckDB for all commands that a process of the tests runs, where how it is opened is not judged.

To open one takes longer than to count a small file: a command opens two or three. Here each gets a connection of its own to
one that is there already; what sudare makes in it is temporary, and seen by no other connection. One whose settings a command
changed or locked, or that has a file attached, is not used again. Tests of `sudare.io` do without, and so does every command
that runs in a process of its own.
"""

from __future__ import annotations

import tempfile
from typing import Any

import duckdb
import pytest

__all__ = ["one_engine"]

_connect = duckdb.connect
_kept: dict[str, Any] = {}
_folders: list[tempfile.TemporaryDirectory[str]] = []  # to the end of the process
STATE = """SELECT current_setting('lock_configuration'), current_setting('preserve_insertion_order'),
    (SELECT count(*) FROM duckdb_databases() WHERE NOT internal)"""
"""Of a database."""

AS_OPENED = (False, False, 1)


class Borrowed:
    """A connection that looks, when it is closed, whether the database can be used again."""

    def __init__(self, name: str) -> None:
        self._name, self._database = name, _kept[name]
        self._connection = self._database.cursor()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def close(self) -> None:
        self._connection.close()
        if self._database.execute(STATE).fetchone() != AS_OPENED:
            _kept.pop(self._name, None)
            self._database.close()


def _borrowed(database: str = ":memory:", *, config: dict[str, Any] | None = None, **others: Any) -> Any:
    """As `duckdb.connect`, which opens whatever is not one of `sudare.io`."""
    opened: Any = _connect
    if config is None or "temp_directory" not in config or database != ":memory:" or others:
        return opened(database, **({} if config is None else {"config": config}), **others)
    name = repr(sorted(config.items() - {("temp_directory", config["temp_directory"])}))
    if name not in _kept:
        # Files are written again and again within a second, and must be read each time.
        _folders.append(tempfile.TemporaryDirectory(prefix="sudare-tests-"))
        changed = {"temp_directory": _folders[-1].name, "enable_external_file_cache": False}
        _kept[name] = opened(config={**config, **changed})
    return Borrowed(name)


@pytest.fixture(autouse=True)
def one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """For every test of a folder whose ``conftest`` names it."""
    monkeypatch.setattr(duckdb, "connect", _borrowed)
