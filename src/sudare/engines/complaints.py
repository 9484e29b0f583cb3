"""The messages for a database that does not do what it should, and the one way in which anything is asked of it.

What a database says of a failure may quote a value of the protected data. Each sentence here is made of names that the
caller gave, and of nothing that came back.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sudare.column_names import MAX_COLUMNS
from sudare.errors import DatabaseError, MissingPackageError, SudareError

__all__ = [
    "attempt",
    "cannot_connect",
    "changed",
    "closed",
    "failed",
    "lost",
    "no_header",
    "no_such_table",
    "not_a_query",
    "stand_ins",
    "timed_out",
    "too_many_columns",
    "unreadable_csv",
    "unreadable_type",
    "wrong_location",
]

Result = TypeVar("Result")


def attempt(action: Callable[[], Result], tell: Callable[[Exception], SudareError]) -> Result:
    """Do something with a database; if it fails, raise our own words instead.

    They are raised after the failure is over, so that not even the context of the exception holds it.
    """
    try:
        return action()
    except (DatabaseError, MissingPackageError):
        raise
    except Exception as failure:
        complaint = tell(failure)
    raise complaint


def cannot_connect(address: str) -> DatabaseError:
    """There is no database, or it does not let us in."""
    return DatabaseError(
        f"The database {address} cannot be opened. Check the address, the user and the password, and that it runs.",
        f"データベース {address} を開けません。アドレス、ユーザー、パスワード、およびサーバーの状態をご確認ください。",
    )


def wrong_location(english: str, japanese: str) -> DatabaseError:
    """A location that is no database."""
    return DatabaseError(english, japanese)


def failed(address: str) -> DatabaseError:
    """A query failed, for whatever reason."""
    return DatabaseError(
        f"The database {address} could not answer the query. What it says of the reason is not shown, "
        "because it may quote protected data; its own log may tell those who may see it.",
        f"データベース {address} はクエリに答えられませんでした。理由には保護対象の値が含まれ得るため表示しません。"
        "閲覧を許された方はデータベースのログをご確認ください。",
    )


def timed_out(address: str, seconds: float) -> DatabaseError:
    """A query took too long and was cancelled."""
    return DatabaseError(
        f"The database {address} did not answer within {seconds:g} seconds; the query was cancelled.",
        f"データベース {address} が {seconds:g} 秒以内に答えなかったため、クエリを取り消しました。",
    )


def no_such_table(address: str, table: str) -> DatabaseError:
    """A name that the catalogue does not have."""
    return DatabaseError(
        f"The database {address} has no table {table!r} that can be read. "
        "Names are compared exactly, with upper and lower case.",
        f"データベース {address} に読み取れる表 {table!r} はありません。名前は大文字と小文字も区別して比べます。",
    )


def lost(address: str) -> DatabaseError:
    """The connection broke while a query ran."""
    return DatabaseError(
        f"The connection to the database {address} was lost during a query. The query was not repeated.",
        f"クエリの途中でデータベース {address} との接続が切れました。クエリは再実行していません。",
    )


def changed(address: str) -> DatabaseError:
    """Somebody wrote to a file that was open."""
    return DatabaseError(
        f"The database {address} was changed by another program while it was open; open it again.",
        f"データベース {address} は開いている間に別のプログラムによって変更されました。開き直してください。",
    )


def closed(address: str) -> DatabaseError:
    """Asked after `close`."""
    return DatabaseError(
        f"The connection to the database {address} is closed; open it again.",
        f"データベース {address} への接続は閉じられています。開き直してください。",
    )


def not_a_query(address: str) -> DatabaseError:
    """Something else than one SELECT, or a mistake in it."""
    return DatabaseError(
        f"Only one SELECT at a time is run in the database {address}; nothing was run.",
        f"データベース {address} では一度に一つの SELECT だけを実行できます。何も実行していません。",
    )


def unreadable_type(address: str) -> DatabaseError:
    """A result has a type that cannot be handed out exactly."""
    return DatabaseError(
        f"A column of the answer of the database {address} has a type that is not offered: whole numbers up to 38 digits, "
        "decimals, floats, booleans, dates, timestamps and text are.",
        f"データベース {address} の回答に扱えない型の列があります。"
        "38 桁までの整数、小数、浮動小数点数、真偽値、日付、日時、文字列を扱えます。",
    )


def unreadable_csv(path: Path) -> DatabaseError:
    """A file is no CSV file."""
    return DatabaseError(
        f"The file {str(path)!r} cannot be read as CSV. It must be UTF-8, its first line must name all columns, each once, "
        "and every line must have as many fields.",
        f"{str(path)!r} を CSV として読み取れません。UTF-8 で、先頭行に全列の名前を重複なく書き、各行の項目数を揃えてください。",
    )


def no_header(path: Path) -> DatabaseError:
    """The first line of a CSV file is a record."""
    return DatabaseError(
        f"The first line of {str(path)!r} does not look like the names of columns: the same values stand in lines below. Put the "
        "names there.",
        f"{str(path)!r} の先頭行が列名ではないようです（同じ値が下の行にもあります）。先頭行に列名を書いてください。",
    )


def too_many_columns(path: Path, columns: int) -> DatabaseError:
    """A CSV file that is wider than is read."""
    return DatabaseError(
        f"The file {str(path)!r} has {columns:,} columns; at most {MAX_COLUMNS:,} are read. Keep the columns that are needed.",
        f"{str(path)!r} には {columns:,} 列あります。読めるのは {MAX_COLUMNS:,} 列までです。必要な列だけにしてください。",
    )


def wrong_encoding(name: str, encoding: str) -> DatabaseError:
    """A database whose texts may not be readable."""
    return DatabaseError(
        f"The database {name!r} keeps its texts as {encoding}; one text that is none in Unicode would make queries fail. Only "
        "databases with the encoding UTF8 are offered.",
        f"データベース {name!r} の文字コードは {encoding} です。Unicode に変換できない文字列が一つでもあると"
        "問い合わせが失敗するため、文字コードが UTF8 のデータベースだけを使えます。",
    )


def stand_ins(address: str, names: list[str]) -> DatabaseError:
    """Functions or operators of others would be taken for those of the database itself."""
    listed = ", ".join(names)
    return DatabaseError(
        f"The database {address} has functions or operators of its own that would be taken for those of PostgreSQL: "
        f"{listed}. Move them to a schema that is not searched, or search only the schemas of the data: add "
        "?options=-csearch_path%3Dschema to the address.",
        f"データベース {address} には PostgreSQL 自身の関数や演算子と取り違えられるもの ({listed}) があります。"
        "検索されないスキーマに移すか、アドレスに ?options=-csearch_path%3Dスキーマ を加え、"
        "データのスキーマだけを検索してください。",
    )
