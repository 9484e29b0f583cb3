"""The private SQLite files of a key: the mapping of a random table, and the register of people.

A file is made on purpose and opened on purpose: a mistyped path never becomes a second, empty mapping. It belongs to one key,
whose name it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError, OutputError, UserError
from sudare.storage.sqlite_faults import FileFault, words_for
from sudare.storage.sqlite_file import Exposure, FileKind, PrivateSqlite, make_whole_file
from sudare.system.closing import Closeable

__all__ = ["PrivateDatabase"]

SETTINGS = ("cache_size = -65536",)
"""64 MB of a mapping are kept in memory."""

ABOUT = "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"


class PrivateDatabase(PrivateSqlite, Closeable):
    """One SQLite file with one purpose, for one key.

    Args:
        path: the file, which is there.
        what: what it is called, in English and in Japanese.
        application: the number that marks files of this purpose.
        key_name: the name of the key it belongs to.

    Raises:
        InputError: if it is missing, something else, of another key, or open to others.
    """

    def __init__(self, path: str | Path, what: tuple[str, str], application: int, key_name: str) -> None:
        super().__init__(path, _kind(what, application))
        try:
            if self.rows("SELECT value FROM about WHERE name = 'key'") != [(key_name,)]:
                raise InputError(
                    f"The {what[0]} {str(self.path)!r} belongs to another key. Give the key that it was made with.",
                    f"{what[1]} {str(self.path)!r} は別の鍵のものです。作ったときの鍵を指定してください。",
                )
        except BaseException:
            self.close()
            raise

    @staticmethod
    def make(path: str | Path, what: tuple[str, str], application: int, key_name: str, schema: Sequence[str]) -> None:
        """Make a new file; whole or not at all.

        Raises:
            OutputError: if it exists, or cannot be written.
        """
        statements: list[tuple[str, Sequence[object]]] = [(statement, ()) for statement in (ABOUT, *schema)]
        statements.append(("INSERT INTO about VALUES ('key', ?)", (key_name,)))
        make_whole_file(Path(path), _kind(what, application), statements)

    def not_ours(self) -> UserError:
        """The file has another purpose, or is damaged."""
        return self.error(FileFault.NOT_OURS)


def _kind(what: tuple[str, str], application: int) -> FileKind:
    return FileKind(
        application_id=application,
        explain=partial(_explain, Words(*what)),
        exposure=Exposure.REFUSED,
        settings=SETTINGS,
    )


def _explain(what: Words, path: Path, fault: FileFault, detail: str | Words) -> UserError:
    """The message about a fault of such a file."""
    words = WORDS.get(fault)
    if words is None:
        words = words_for(what, path, fault, detail)
    else:
        quoted = repr(str(path))
        words = Words(
            words.english.format(what=what.english, quoted=quoted, detail=detail),
            words.japanese.format(what=what.japanese, quoted=quoted, detail=detail),
        )
    error = InputError if fault in WRONG_FILES else OutputError
    return error(words.english, words.japanese)


WRONG_FILES = (FileFault.NOT_OURS, FileFault.DAMAGED, FileFault.MISSING, FileFault.OPEN_TO_OTHERS, FileFault.LINK)
"""Faults of what was named; all others keep a file from being written."""

_UNUSABLE = Words(
    "The {what} {quoted} cannot be used ({detail}). It and its folder must be writable for you, the disk not full, and no other "
    "program may hold it.",
    "{what} {quoted} を使えません（{detail}）。書き込み権限、ディスクの空き、ほかのプログラムの使用をご確認ください。",
)
WORDS = {
    FileFault.MISSING: Words(
        "There is no {what} at {quoted}. Check the spelling; a new one is made only on purpose.",
        "{quoted} に{what}がありません。つづりを確かめてください（自動では作られません）。",
    ),
    FileFault.BUSY: _UNUSABLE,
    FileFault.NOT_WRITABLE: _UNUSABLE,
    FileFault.SYSTEM: _UNUSABLE,
}
"""Where such a file has other words than other private files."""
