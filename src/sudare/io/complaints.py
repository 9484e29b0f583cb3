"""The messages for a file that is not what was announced: every sentence in English and Japanese, in one place.

A complaint names the file, the column, and the row where it is known. Mesh codes and labels of a table of counts may be named,
because nobody could find them otherwise. People's values, counts, measured values and what DuckDB or pyarrow quote from the data
never are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Worded, Words
from sudare.column_names import (
    MAX_COLUMNS,
    MAX_NAMES_LISTED,
    BareReturnError,
    LongHeaderError,
    OpenQuoteError,
    are_evident,
    first_repeated,
    listed_columns,
    parse_header,
    shown_column,
)
from sudare.domain import CountTable
from sudare.domain.allowed_values import WHOLE_NUMBERS, may_lie_outside
from sudare.domain.sparse_table import SparseTable
from sudare.errors import InputError
from sudare.sections import suggest
from sudare.storage.foreign_files import how_to_read

__all__ = ["MAX_HEADER", "Spot"]

QUERY_RESULT = Words("the result of the query", "クエリの結果")
ROW_OF = Words("{place}, row {row}", "{place} の {row} 行目")
A_VALUE = Words("a value", "値")
STATE_COLUMNS = Words(
    " Where a column has another name than the attribute, state it under columns.",
    "列の名前が属性と違うときは columns に書いてください。",
)
WIDEN = Words(
    " Correct the file, or make the plan's attribute wider.", "ファイルを直すか、計画の属性を広げてください。"
)
LEAVE_OUT = Words(
    ' Rows outside of it can be left out with outside = "leave out".',
    '範囲外の行を除くには outside = "leave out" を指定してください。',
)
REPEATED = Words(
    "Several rows hold a count for {named}; each must have one row. {hint}",
    "{named} の行が複数あります。一行でなければなりません。 {hint}",
)
ADD_UP = Words(
    "Is a file listed twice, or does a column separate the rows? Add it up, or use where.",
    "同じファイルが重複していないか、行を分ける列がないかを確かめ、合計するか where で選んでください。",
)
NUMBERS_FROM_0 = Words("whole numbers from 0 on", "0 以上の整数")
MAX_HEADER = 1 << 20
"""Bytes of the first row of a text file."""


@dataclass(frozen=True)
class Spot(Worded):
    """Where something was found.

    Attributes:
        file: the file; None where the data came from a query.
        row: its row as a spreadsheet numbers it (the header of a text file is row 1); None where it is not known.
    """

    file: str | None = None
    row: int | None = None

    @property
    def words(self) -> Words:  # type: ignore[override]
        """Such as ``'people.csv', row 7`` and ``'people.csv' の 7 行目``."""
        place = QUERY_RESULT if self.file is None else Words.same(repr(Path(self.file).name))
        return place if self.row is None else ROW_OF.format(place=place, row=self.row)


def no_files(path: str) -> InputError:
    """Nothing is where the source points."""
    return InputError(
        f"There is no file to read at {path!r}. Check the spelling, and whether the folder is empty.",
        f"{path!r} に読めるファイルがありません。つづりと、フォルダが空でないことを確かめてください。",
    )


def unreadable(file: str) -> InputError:
    """The operating system does not let us read it."""
    return InputError(
        f"The file {file!r} cannot be opened. Check that it exists and that you may read it.",
        f"ファイル {file!r} を開けません。存在と読み取り権限を確かめてください。",
    )


def mixed_formats(formats: Sequence[str], files: Sequence[str]) -> InputError:
    """One source, several formats."""
    listed, named = ", ".join(formats), ", ".join(repr(Path(file).name) for file in files)
    return InputError(
        f"The source holds files of several formats ({listed}), such as {named}. Name the files of one format, "
        f"or state the format.",
        f"入力に複数の形式 ({listed}) のファイルがあります (例: {named})。一つの形式のファイルだけを指定するか、"
        f"形式を明記してください。",
    )


def unknown_format(file: str, allowed: Sequence[str]) -> InputError:
    """Neither the suffix nor the first row tells the format; of files of spreadsheets and maps, how to read them."""
    way = how_to_read(file)
    if way is not None:
        return InputError(way)
    listed = ", ".join(allowed)
    return InputError(
        f"The format of {Path(file).name!r} cannot be told from its name. State one of: {listed}.",
        f"{Path(file).name!r} の形式を名前から判断できません。次のいずれかを指定してください: {listed}。",
    )


def empty_file(file: str) -> InputError:
    """Not even a header."""
    return InputError(
        f"The file {Path(file).name!r} is empty: it has no header row. It may not have been downloaded or copied whole.",
        f"ファイル {Path(file).name!r} は空です (見出し行がありません)。ダウンロードやコピーが途中で終わった可能性があります。",
    )


def damaged(file: str, kind: str) -> InputError:
    """A file that is cut off, or not of the format at all."""
    return InputError(
        f"The file {Path(file).name!r} is not a whole {kind} file. Copy or download it again, or state its format.",
        f"ファイル {Path(file).name!r} は完全な {kind} ファイルではありません。"
        "コピーやダウンロードをやり直すか、形式を明記してください。",
    )


def crowded_zip(file: str) -> InputError:
    """A zip of no file, or of several."""
    return InputError(
        f"The file {Path(file).name!r} must hold exactly one text file. Unpack it, and name the files that you want.",
        f"{Path(file).name!r} に入っているテキストファイルは一つでなければなりません。"
        "展開して、必要なファイルを指定してください。",
    )


def wrong_encoding(file: str, encoding: str) -> InputError:
    """Bytes that are no text in the encoding."""
    other = "cp932 (Shift_JIS)" if encoding.lower().startswith("utf") else "utf-8"
    return InputError(
        f"The file {Path(file).name!r} is not text in the encoding {encoding!r}. Files from Japanese offices are often "
        f"in cp932, others in utf-8: try encoding {other}.",
        f"ファイル {Path(file).name!r} の文字コードは {encoding!r} ではありません。日本の官公庁のファイルは cp932 (Shift_JIS)、"
        f"その他は utf-8 が多いので、{other} を試してください。",
    )


FIRST_BYTES = {
    b"PK\x03\x04": "ZIP or Excel",
    b"\x1f\x8b": "gzip",
    b"PAR1": "Parquet",
    b"SQLite format 3": "SQLite or GeoPackage",
    b"\x89PNG": "PNG",
    b"%PDF": "PDF",
    b"\xd0\xcf\x11\xe0": "Excel (.xls)",
}
"""What begins so is no text, whatever its name says."""


def _sort_by_first_bytes(file: str) -> str:
    if not str(file).lower().endswith((".csv", ".tsv", ".txt")):
        return ""
    try:
        with Path(file).open("rb") as stream:
            start = stream.read(16)
    except OSError:
        return ""
    return next((sort for mark, sort in FIRST_BYTES.items() if start.startswith(mark)), "")


def unknown_encoding(file: str) -> InputError:
    """Lines that are not all in one encoding, or could be in several; or no lines, but a file of another sort."""
    other = _sort_by_first_bytes(file)
    if other:
        return InputError(
            f"{Path(file).name!r} is a {other} file by its content, not text. Give it the suffix of what it is.",
            f"{Path(file).name!r} の中身はテキストではなく {other} です。拡張子を正しくしてください。",
        )
    return InputError(
        f"The encoding of {Path(file).name!r} cannot be told: not all of its lines are UTF-8, cp932 or EUC-JP, or they could be "
        f"two of these. Write the whole file in UTF-8, or state its encoding.",
        f"{Path(file).name!r} の文字コードを判別できません。すべての行が UTF-8、cp932、EUC-JP のいずれか一つとは言えません。"
        f"ファイル全体を UTF-8 で書き直すか、encoding を指定してください。",
    )


def wrong_fields(spot: Spot) -> InputError:
    """A row with more or fewer fields than the header."""
    return InputError(
        f"In {spot.english}: the row does not have as many fields as the header, or a quotation mark is not closed.",
        f"{spot.japanese}: 列の数が見出しと合わないか、引用符が閉じていません。",
    )


def open_quote(file: str) -> InputError:
    """A quotation mark in the header that nothing closes."""
    return InputError(
        f"A quotation mark in the first row of {Path(file).name!r} is not closed, or stands where none may. Correct the names "
        "of the columns there.",
        f"ファイル {Path(file).name!r} の1行目の引用符が閉じていないか、使えない場所にあります。列名を直してください。",
    )


def bare_returns(file: str) -> InputError:
    """Lines that end in carriage returns."""
    return InputError(
        f"The lines of {Path(file).name!r} end in carriage returns alone (CR), as on very old computers. Save it with line feeds "
        "(LF or CRLF), which every spreadsheet writes.",
        f"ファイル {Path(file).name!r} の改行が CR だけです (古い形式)。改行を LF または CRLF にして保存し直してください。",
    )


def null_characters(file: str) -> InputError:
    """Text with characters that no text has."""
    return InputError(
        f"The first row of {Path(file).name!r} holds null characters: it is no text, or in an encoding such as utf-16. State the "
        "format or the encoding, or save it as utf-8.",
        f"ファイル {Path(file).name!r} の1行目に NULL 文字があります。テキストではないか、utf-16 などの文字コードです。"
        "形式か文字コードを指定するか、utf-8 で保存し直してください。",
    )


def long_header(file: str) -> InputError:
    """A first row without an end."""
    return InputError(
        f"The first row of {Path(file).name!r} does not end within its first {MAX_HEADER >> 20} MiB. It must hold the names "
        "of the columns: give them shorter names, or keep the columns that are needed.",
        f"ファイル {Path(file).name!r} の1行目が先頭の {MAX_HEADER >> 20} MiB 以内に終わりません。"
        "1行目には列名が必要です。列名を短くするか、必要な列だけにしてください。",
    )


def header_of(text: str, delimiter: str, file: str, *, is_whole: bool = True) -> list[str]:
    """The names in the first row of a text file.

    Raises:
        InputError: if it does not end, a quotation mark is not closed, lines end in carriage returns, or there are null
            characters.
    """
    try:
        names = parse_header(text, delimiter, is_whole=is_whole)
    except LongHeaderError:
        raise long_header(file) from None
    except OpenQuoteError:
        raise open_quote(file) from None
    except BareReturnError:
        raise bare_returns(file) from None
    if any("\0" in name for name in names):
        raise null_characters(file)
    return names


def require_different(names: Sequence[str], file: str, asked: Sequence[str] = ()) -> None:
    """Refuse two columns of one name.

    Args:
        names: of the columns.
        file: that has them.
        asked: the columns that are asked for; without one of them among the names, no name is shown.

    Raises:
        InputError: if there are two.
    """
    place = first_repeated(names)
    if place is None:
        return
    name = shown_column(place, names, asked, file)
    if are_evident(names, asked, file):
        raise InputError(
            f"The file {Path(file).name!r} has two columns named {name.english}. Give each column a name of its own.",
            f"ファイル {Path(file).name!r} に {name.japanese} という列が二つあります。列の名前を区別してください。",
        )
    raise InputError(
        f"Column {name.english} of {Path(file).name!r} has the name of another one. Does the first row hold the names of the "
        "columns? Put a name of its own for each column there.",
        f"ファイル {Path(file).name!r} の {name.japanese} の列は別の列と同じ名前です。1行目は列名の見出しですか。"
        "1行目に、列ごとに異なる名前を書いてください。",
    )


def missing_column(
    name: str,
    names: Sequence[str],
    file: str | None,
    purpose: str = "",
    *,
    asked: Sequence[str] = (),
    peek: bool = True,
) -> InputError:
    """A column that is not there, with the one that was probably meant.

    Args:
        name: of the column.
        names: of the columns that are there. They are shown only if they are evidently names.
        file: that has them.
        purpose: what the column is for.
        asked: all columns that are asked for.
        peek: whether rows may be looked at, to tell whether these are names.
    """
    spot = Spot(file)
    listed = listed_columns(name, names, asked, file if peek else None)
    role = f" ({purpose})" if purpose else ""
    more = STATE_COLUMNS if are_evident(names, (name, *asked)) else Words.same("")
    return InputError(
        f"There is no column {name!r}{role} in {spot.english}.{listed.english}{more.english}",
        f"{spot.japanese} に列 {name!r}{role} がありません。{listed.japanese}{more.japanese}",
    )


def require_few_columns(names: Sequence[str], file: str) -> None:
    """Refuse a file with more columns than are read at once.

    Raises:
        InputError: if it has.
    """
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"The file {Path(file).name!r} has {len(names):,} columns; at most {MAX_COLUMNS:,} are read at once. Keep the "
            'columns that are needed, or name those to read (others = "drop" in a plan).',
            f"ファイル {Path(file).name!r} には {len(names):,} 列あります。一度に読めるのは {MAX_COLUMNS:,} 列までです。"
            '必要な列だけにするか、読む列を指定してください (計画では others = "drop")。',
        )


def other_columns(file: str, other_file: str) -> InputError:
    """Files of one table with different columns."""
    return InputError(
        f"The files {Path(file).name!r} and {Path(other_file).name!r} do not have the same columns. Give both the same header, "
        "or read them one at a time.",
        f"{Path(file).name!r} と {Path(other_file).name!r} の列が一致しません。見出しを揃えるか、別々に読み込んでください。",
    )


def missing_attribute(name: str) -> InputError:
    """Columns of counts for an attribute that the domain does not have."""
    return InputError(
        f"columns names columns of counts for {name!r}, but the domain has no attribute of this name.",
        f"columns に {name!r} の人数の列がありますが、定義域にその名前の属性がありません。",
    )


def no_such_value(attribute: str, value: str, values: Sequence[str]) -> InputError:
    """A column of counts for a value that the attribute does not have."""
    listed = ", ".join(values[:MAX_NAMES_LISTED]) + (", ..." if len(values) > MAX_NAMES_LISTED else "")
    meant = suggest(value, values)
    return InputError(
        f"columns names a column of counts for {value!r}, which is no value of {attribute!r}.{meant.english} "
        f"Its values: {listed}.",
        f"columns に {value!r} の列がありますが、{attribute!r} の値ではありません。{meant.japanese} "
        f"値は次のとおりです: {listed}。",
    )


def no_column_of_value(attribute: str, value: str) -> InputError:
    """A value of an attribute without a column of counts."""
    return InputError(
        f"columns names no column of counts for {value!r} of {attribute!r}. Each value of the attribute needs one.",
        f"columns に {attribute!r} の {value!r} の列がありません。属性のすべての値に人数の列が必要です。",
    )


def mixed_types(column: str, file: str, other_file: str) -> InputError:
    """Numbers in one file, texts in another."""
    return InputError(
        f"The column {column!r} is of one type in {Path(file).name!r} and of another in {Path(other_file).name!r}. "
        f"Write it in one type in all files.",
        f"列 {column!r} の型が {Path(file).name!r} と {Path(other_file).name!r} で違います。"
        "全てのファイルで同じ型にしてください。",
    )


def wrong_type(column: str, found: str, wanted: Words, file: str | None) -> InputError:
    """A column whose type cannot hold what is wanted."""
    spot = Spot(file)
    return InputError(
        f"The column {column!r} in {spot.english} holds {found.lower()}; it must hold {wanted.english}.",
        f"{spot.japanese} の列 {column!r} の型は {found.lower()} です。{wanted.japanese}でなければなりません。",
    )


def missing_value(column: str, spot: Spot) -> InputError:
    """An empty field in a column that is needed."""
    return InputError(
        f"The column {column!r} has an empty field in {spot.english}. Fill it in, or leave out such rows by a query.",
        f"列 {column!r} に空欄があります ({spot.japanese})。値を入れるか、クエリでその行を除いてください。",
    )


def numbers_of(table: type[SparseTable]) -> Words:
    """Which numbers a table may have."""
    return NUMBERS_FROM_0 if table.lowest == 0 else WHOLE_NUMBERS


def wrong_count(column: str, spot: Spot, table: type[SparseTable] = CountTable) -> InputError:
    """Something else than a whole number from 0 on where a count should be; of a signed table, than a whole number."""
    numbers = numbers_of(table)
    return InputError(
        f"The column {column!r} must hold {numbers.english}, without separators; it holds something else in "
        f"{spot.english}.",
        f"列 {column!r} の値は、{numbers.japanese}（桁区切りなし）でなければなりません。{spot.japanese} はそうではありません。",
    )


def too_many(column: str) -> InputError:
    """A total beyond what a table holds."""
    return InputError(
        f"The counts of the column {column!r} add up to more than 2**62, which no population does.",
        f"列 {column!r} の合計が 2**62 を超えます。人口としてあり得ません。",
    )


def wrong_value(column: str, allowed: Words, spot: Spot, label: object = None, hint: Words | None = None) -> InputError:
    """A value that the domain does not have. A label or code of a table is named; what a person has, or was measured, is not.

    Args:
        column: that has it.
        allowed: what the plan allows.
        spot: where it is.
        label: the value, where it may be named.
        hint: what to do, where that is known better than usual.
    """
    shown = A_VALUE if label is None else Words.same(f"{label!r:.60}")
    more = hint
    if more is None or not more.en:
        more = Words.joined([WIDEN, LEAVE_OUT if may_lie_outside(allowed) else Words.same("")], Words.same(""))
    return InputError(
        f"The column {column!r} has {shown.english} in {spot.english}, which is not in the plan: it must be {allowed.english}."
        f"{more.english}",
        f"列 {column!r} に計画にない{shown.japanese}があります ({spot.japanese})。許されるのは次の値です: {allowed.japanese}。"
        f"{more.japanese}",
    )


def repeated_cell(columns: Sequence[str], values: Sequence[object], hint: Words | None = None) -> InputError:
    """Two rows of counts for one cell."""
    named = ", ".join(f"{column} = {value}" for column, value in zip(columns, values, strict=True))
    return InputError(REPEATED.format(named=named, hint=hint or ADD_UP))


def failed_query(reason: str, reason_ja: str) -> InputError:
    """The query cannot be run."""
    return InputError(f"The query cannot be run: {reason}", f"クエリを実行できません: {reason_ja}")


def out_of_memory(memory: str) -> InputError:
    """Not enough memory, even with what can be moved to disk."""
    return InputError(
        f"The data cannot be counted within {memory} of memory. Allow more memory, or use fewer threads.",
        f"{memory} のメモリでは集計できません。メモリを増やすか、スレッドを減らしてください。",
    )


def no_room(folder: str) -> InputError:
    """The disk for what does not fit in memory is full."""
    return InputError(
        f"The temporary folder {folder!r} is full or cannot be written. Free space there, "
        "set TMPDIR to another folder, or allow more memory.",
        f"一時フォルダ {folder!r} に書けません。空きを作るか、TMPDIR で別のフォルダを指定するか、メモリを増やしてください。",
    )


def only_on_spark() -> InputError:
    """A source of Spark where files are read."""
    return InputError(
        'Data on Spark (format = "spark") is read for tables of counts alone: by a plan of the kind counts, or by '
        "sudare.spark.count_on_spark.",
        'Spark 上のデータ (format = "spark") は度数表にだけ使えます。種類が counts の計画、または '
        "sudare.spark.count_on_spark をお使いください。",
    )
