"""What SQLite's errors mean for the owner of a file: above all, whether the file itself is damaged.

A disk that is full, a quota or a limit on the size of files, a disk that does not answer: none of them harms a file, whose last
commit is whole. To go back to an older copy would then lose what was written since: charges, or what people were promised.
"""

from __future__ import annotations

import sqlite3
from enum import Enum
from pathlib import Path

from sudare.bilingual import Words

__all__ = ["FileFault", "fault_of", "no_room", "words_for"]


class FileFault(Enum):
    """What is the matter with a file."""

    BUSY = "busy"
    NOT_WRITABLE = "not writable"
    NO_ROOM = "no room"
    NOT_OURS = "no database, or one with another purpose"
    CLOSED = "closed"
    DAMAGED = "damaged"
    MISSING = "missing"
    EXISTS = "exists already"
    NOT_MADE = "cannot be made"
    LINK = "a link"
    OPEN_TO_OTHERS = "open to others"
    OTHER_PROCESS = "opened by another process"
    LOG_KEPT = "deleted rows are still in the log"
    SYSTEM = "refused by the operating system"


NAMES: tuple[tuple[str, FileFault], ...] = (
    ("SQLITE_BUSY", FileFault.BUSY),
    ("SQLITE_LOCKED", FileFault.BUSY),
    ("SQLITE_PROTOCOL", FileFault.BUSY),
    ("SQLITE_READONLY", FileFault.NOT_WRITABLE),
    ("SQLITE_PERM", FileFault.NOT_WRITABLE),
    ("SQLITE_CANTOPEN", FileFault.NOT_WRITABLE),
    ("SQLITE_AUTH", FileFault.NOT_WRITABLE),
    ("SQLITE_FULL", FileFault.NO_ROOM),
    ("SQLITE_IOERR_CORRUPTFS", FileFault.DAMAGED),
    ("SQLITE_IOERR_DATA", FileFault.DAMAGED),
    ("SQLITE_IOERR", FileFault.NO_ROOM),  # a quota or a limit on the size of files comes as this
    ("SQLITE_NOLFS", FileFault.NO_ROOM),
    ("SQLITE_TOOBIG", FileFault.NO_ROOM),
    ("SQLITE_NOMEM", FileFault.NO_ROOM),
    ("SQLITE_NOTADB", FileFault.NOT_OURS),
)
"""The first that fits counts; whatever else SQLite says, the file is not as it should be."""


def fault_of(error: Exception) -> FileFault:
    """What an error of SQLite means.

    Example:
        >>> import sqlite3
        >>> try:
        ...     sqlite3.connect("/nowhere/at/all.db")
        ... except sqlite3.Error as error:
        ...     fault_of(error).value
        'not writable'
    """
    name = getattr(error, "sqlite_errorname", "") or ""
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return FileFault.CLOSED
    return next((fault for start, fault in NAMES if name.startswith(start)), FileFault.DAMAGED)


def no_room(name: str | Words) -> Words:
    """What to say where nothing could be written, with SQLite's name for it; the file's own name stands before."""
    code = name if isinstance(name, Words) else Words.same(name)
    return Words(
        f"cannot be read or written: the disk is full, a quota or a limit on the size of files is reached, or the disk does not "
        f"answer ({code.english}). Nothing was written, and what was written before is safe. Free space, "
        "then use the same file again; never an older copy, which would not know what happened since.",
        f"を読み書きできません。ディスクに空きがないか、割り当てやファイルサイズの上限に達したか、ディスクが応答しません（{code.japanese}）。"
        "今回は何も書き込まれておらず、以前の内容は無事です。空きを作ってから同じファイルをそのまま使ってください。"
        "古い控えに戻すと、その後の記録が失われます。",
    )


SENTENCES: dict[FileFault, Words] = {
    FileFault.BUSY: Words(
        "Another program holds the {what} {path!r} ({detail}); try again later.",
        "{what} {path!r} はほかのプログラムが使用中です（{detail}）。後でもう一度お試しください。",
    ),
    FileFault.NOT_WRITABLE: Words(
        "The {what} {path!r} cannot be written ({detail}). The file and its folder must be writable for you.",
        "{what} {path!r} に書き込めません（{detail}）。ファイルとフォルダの両方に書き込み権限が必要です。",
    ),
    FileFault.NOT_OURS: Words(
        "The file {path!r} is not a {what}, or is damaged.",
        "ファイル {path!r} は{what}ではないか、壊れています。",
    ),
    FileFault.CLOSED: Words(
        "The {what} {path!r} is closed; open it again.",
        "{what} {path!r} は閉じられています。開き直してください。",
    ),
    FileFault.DAMAGED: Words(
        "The {what} {path!r} is damaged, or was changed by another program ({detail}). Keep the file as it is.",
        "{what} {path!r} が壊れているか、ほかのプログラムで変更されています（{detail}）。ファイルはそのまま保管してください。",
    ),
    FileFault.MISSING: Words(
        "There is no {what} at {path!r}. Check the spelling.",
        "{path!r} に{what}がありません。つづりを確かめてください。",
    ),
    FileFault.EXISTS: Words(
        "The {what} {path!r} exists already, and is never overwritten. Use it as it is, or choose another name.",
        "{what} {path!r} は既にあり、上書きされません。そのまま使うか、別の名前にしてください。",
    ),
    FileFault.NOT_MADE: Words(
        "The {what} {path!r} cannot be made ({detail}). Its folder must be there and writable for you.",
        "{what} {path!r} を作れません（{detail}）。フォルダの有無と書き込み権限をご確認ください。",
    ),
    FileFault.LINK: Words(
        "The {what} {path!r} is a link to another place. Give the path of the file itself: what is kept beside it must stand "
        "there too.",
        "{what} {path!r} は別の場所へのリンクです。付属ファイルも同じ場所に置かれるよう、ファイルそのもののパスを"
        "指定してください。",
    ),
    FileFault.OPEN_TO_OTHERS: Words(
        "The {what} {path!r} can be read or changed by other users. Run: chmod 600 {detail}",
        "{what} {path!r} はほかの利用者も読み書きできます。chmod 600 {detail} を実行してください。",
    ),
    FileFault.OTHER_PROCESS: Words(
        "The {what} {path!r} was opened by another process; open it again in each process.",
        "{what} {path!r} は別のプロセスで開かれたものです。プロセスごとに開き直してください。",
    ),
    FileFault.LOG_KEPT: Words(
        "What was to be forgotten is deleted in the {what} {path!r} and will not be used again, but another program is reading "
        "it, so that it still stands in the log file {detail!r}. End the other program, then ask once more, which empties it.",
        "消去すべき内容は{what} {path!r} から消され、二度と使われません。ただし、ほかのプログラムが読み取り中のため、"
        "ログファイル {detail!r} にはまだ残っています。そのプログラムを終了してから、もう一度実行すると、ログも空になります。",
    ),
    FileFault.SYSTEM: Words(
        "The {what} {path!r} cannot be used ({detail}). It and its folder must be there and writable for you.",
        "{what} {path!r} を使えません（{detail}）。ファイルとフォルダの有無、書き込み権限をご確認ください。",
    ),
}
"""The message where the owner of a file has none of its own; no room has words of its own (`no_room`)."""


def words_for(what: Words, path: Path, fault: FileFault, detail: str | Words) -> Words:
    """What to say of a fault.

    Args:
        what: what such a file is called.
        path: where it is.
        fault: what is the matter with it.
        detail: SQLite's name for it, the reason that the system gives, or the name of another file.

    Example:
        >>> from pathlib import Path
        >>> words_for(Words("memory", "記憶ファイル"), Path("answers.db"), FileFault.CLOSED, "").english
        "The memory 'answers.db' is closed; open it again."
    """
    if fault is FileFault.NO_ROOM:
        words = no_room(detail)
        return Words(
            f"The {what.english} {str(path)!r} {words.english}", f"{what.japanese} {str(path)!r} {words.japanese}"
        )
    words = SENTENCES[fault]
    return Words(
        words.english.format(what=what.english, path=str(path), detail=detail),
        words.japanese.format(what=what.japanese, path=str(path), detail=detail),
    )
