"""A memory's file: a private SQLite file whose answers are kept for ever.

What `sudare.collect.device.memory` and `sudare.collect.rappor.memory` share. It needs the standard library only.

Proof and limits: ``memory.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError, NotPrivateError, OutputError, UserError
from sudare.storage.sqlite_faults import FileFault, words_for
from sudare.storage.sqlite_file import Exposure, FileKind, PrivateSqlite

__all__ = ["DurableFile", "drawn_for_research"]


class DurableFile(PrivateSqlite):
    """The file of a memory, made if it is not there, and closed to others if it is.

    Args:
        path: the file.
        application: the number that marks files of this purpose.
        schema: the statements that make a new one, the mark left out.

    Raises:
        InputError: if the file is something else, damaged, or open to others and not the caller's own.
        OutputError: if it cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from sudare.collect.device.durable import DurableFile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = DurableFile(Path(folder) / "kept.db", 7, ["CREATE TABLE kept (word TEXT)"])
        ...     with file.writing() as connection:
        ...         _ = connection.execute("INSERT INTO kept VALUES ('yes')")
        ...     words = file.rows("SELECT word FROM kept")
        ...     file.close()
        >>> words
        [('yes',)]
    """

    def __init__(self, path: str | Path, application: int, schema: Sequence[str]) -> None:
        kind = FileKind(application_id=application, explain=_explain, exposure=Exposure.CLOSED)
        super().__init__(path, kind, create=True, schema=schema)

    def not_a_memory(self) -> UserError:
        """The file has another purpose or another version."""
        return self.error(FileFault.NOT_OURS)

    def damaged(self) -> UserError:
        """The file does not hold what it should."""
        return self.error(FileFault.DAMAGED)


def drawn_for_research(what: str) -> NotPrivateError:
    """The refusal to keep what was not drawn by the secure source."""
    return NotPrivateError(
        Words(
            f"The answers of {what} would be drawn from research entropy: they are not private, and must not be kept or sent.",
            f"{what} の回答が研究用の乱数から引かれます。プライバシーは保護されないため、"
            "保存も送信もしてはいけません。",
        )
    )


def _explain(path: Path, fault: FileFault, detail: str | Words) -> UserError:
    """The message about a fault of a memory."""
    words = WORDS.get(fault)
    if words is None:
        words = words_for(Words("memory", "記憶ファイル"), path, fault, detail)
    else:
        blanks = {"path": str(path), "quoted": repr(str(path)), "detail": detail}
        words = Words(words.english.format(**blanks), words.japanese.format(**blanks))
    if fault is FileFault.NO_ROOM:
        words = Words(f"{words.english} Nothing was reported.", f"{words.japanese}何も報告されていません。")
    error = InputError if fault in WRONG_FILES else OutputError
    return error(words.english, words.japanese)


WRONG_FILES = (FileFault.NOT_OURS, FileFault.DAMAGED, FileFault.CLOSED, FileFault.OPEN_TO_OTHERS, FileFault.LINK)
"""Faults of what is there; all others keep a memory from being written."""

_UNUSABLE = Words(
    "The memory {quoted} cannot be used: it is closed, damaged, or was changed by another program; nothing was reported. Keep "
    "the file as it is: whoever answers anew gives more away.",
    "記憶ファイル {quoted} は閉じられたか、壊れているか、ほかのプログラムで変更されているため使えません。"
    "何も報告されていません。新しく答え直すとその分だけ情報が漏れるため、ファイルはそのまま保管してください。",
)
_NOT_WRITABLE = Words(
    "The memory {quoted} cannot be used ({detail}); nothing was reported. It and its folder must be there and writable for you, "
    "the disk not full, and no other program may hold it.",
    "記憶ファイル {quoted} を使えません（{detail}）。何も報告されていません。"
    "フォルダの有無・書き込み権限・ディスクの空き・ほかのプログラムの使用をご確認ください。",
)
WORDS = {
    FileFault.NOT_OURS: Words(
        "The file {quoted} is not a memory of permanent answers, is damaged, or is of another version. Give another path; a new "
        "file is made by itself.",
        "ファイル {quoted} は永続回答の記憶ファイルではないか、壊れているか、バージョンが異なります。"
        "別のパスを指定してください（なければ新しく作られます）。",
    ),
    FileFault.DAMAGED: _UNUSABLE,
    FileFault.CLOSED: _UNUSABLE,
    FileFault.BUSY: _NOT_WRITABLE,
    FileFault.NOT_WRITABLE: _NOT_WRITABLE,
    FileFault.SYSTEM: _NOT_WRITABLE,
    FileFault.OPEN_TO_OTHERS: Words(
        "The memory {quoted} can be read or written by other users, and is not yours to close to them. It holds people's "
        "answers: let its owner run 'chmod 600' on it and on its side files, or give a path of your own.",
        "記憶ファイル {quoted} はほかの利用者も読み書きでき、所有者があなたではないため変更できません。"
        "回答が入っているので、所有者が付属ファイルとともに chmod 600 を実行するか、自分のパスを指定してください。",
    ),
    FileFault.OTHER_PROCESS: Words(
        "This memory was opened by another process; open it again in each process.",
        "この記憶ファイルは別のプロセスで開かれたものです。プロセスごとに開き直してください。",
    ),
    FileFault.LOG_KEPT: Words(
        "The answers are forgotten in the memory {quoted} and will not be used again, but another program is reading it, so that "
        "they still stand in the log file '{detail}'. End the other program, then forget once more: that empties the log.",
        "回答は記憶ファイル {quoted} から消去され、二度と使われません。ただし、ほかのプログラムが読み取り中のため、"
        "ログファイル「{detail}」にはまだ残っています。そのプログラムを終了してから、もう一度消去（forget）を"
        "実行すると、ログも空になります。",
    ),
}
"""Where a memory has other words than other files."""
