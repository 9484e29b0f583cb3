"""What is said when a file is not what was announced: every sentence in English and Japanese, in one place.

A complaint names the file, the column, and the row where it is known. Mesh codes and labels may be named, because nobody
could find them otherwise. Counts, measured values and what DuckDB or pyarrow quote from the data never are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from sudare.errors import InputError, MissingPackageError

__all__ = ["Spot", "nearest_name"]

MOST_NAMES = 40


@dataclass(frozen=True)
class Spot:
    """Where something was found.

    Attributes:
        file: the file; None where the data came from a query.
        row: its row as a spreadsheet numbers it (the header of a text file is row 1); None where it is not known.
    """

    file: str | None = None
    row: int | None = None

    @property
    def english(self) -> str:
        """Such as ``'people.csv', row 7``."""
        place = "the result of the query" if self.file is None else f"{Path(self.file).name!r}"
        return place if self.row is None else f"{place}, row {self.row}"

    @property
    def japanese(self) -> str:
        """Such as ``'people.csv' の 7 行目``."""
        place = "クエリの結果" if self.file is None else f"{Path(self.file).name!r}"
        return place if self.row is None else f"{place} の {self.row} 行目"


def nearest_name(name: str, names: Sequence[str]) -> str | None:
    """The name that was probably meant: the same in other letters, or one that is spelled alike."""
    folded = {other.casefold(): other for other in names}
    if name.casefold() in folded:
        return folded[name.casefold()]
    close = get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


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
    """Neither the suffix nor the first row tells the format."""
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


def wrong_fields(spot: Spot) -> InputError:
    """A row with more or fewer fields than the header."""
    return InputError(
        f"In {spot.english}: the row does not have as many fields as the header, or a quotation mark is not closed.",
        f"{spot.japanese}: 列の数が見出しと合わないか、引用符が閉じていません。",
    )


def repeated_header(file: str, name: str) -> InputError:
    """Two columns of one name."""
    return InputError(
        f"The file {Path(file).name!r} has two columns named {name!r}. Give each column a name of its own.",
        f"ファイル {Path(file).name!r} に {name!r} という列が二つあります。列の名前を区別してください。",
    )


def missing_column(name: str, names: Sequence[str], file: str | None, purpose: str = "") -> InputError:
    """A column that is not there, with the one that was probably meant."""
    spot = Spot(file)
    nearest = nearest_name(name, names)
    meant = "" if nearest is None else f" Did you mean {nearest!r}?"
    meant_ja = "" if nearest is None else f" {nearest!r} のことですか。"
    role = f" ({purpose})" if purpose else ""
    if any(re.fullmatch(r"[-+.\d\s]+", known) for known in names):
        # A first row with numbers in it is data, and is not shown.
        return InputError(
            f"There is no column {name!r}{role} in {spot.english}: its first row does not look like a header. Put the names "
            f"of the columns there.",
            f"{spot.japanese} に列 {name!r}{role} がありません。1行目が見出しではないようです。列名を1行目に書いてください。",
        )
    listed = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
    return InputError(
        f"There is no column {name!r}{role} in {spot.english}.{meant} The columns are: {listed}. Where a column has "
        f"another name than the attribute, state it under columns.",
        f"{spot.japanese} に列 {name!r}{role} がありません。{meant_ja} 列は次のとおりです: {listed}。"
        f"列の名前が属性と違うときは columns に書いてください。",
    )


def mixed_types(column: str, file: str, other_file: str) -> InputError:
    """Numbers in one file, texts in another."""
    return InputError(
        f"The column {column!r} is of one type in {Path(file).name!r} and of another in {Path(other_file).name!r}. "
        f"Write it in one type in all files.",
        f"列 {column!r} の型が {Path(file).name!r} と {Path(other_file).name!r} で違います。"
        "全てのファイルで同じ型にしてください。",
    )


def wrong_type(column: str, found: str, wanted: str, wanted_ja: str, file: str | None) -> InputError:
    """A column whose type cannot hold what is wanted."""
    spot = Spot(file)
    return InputError(
        f"The column {column!r} in {spot.english} holds {found.lower()}; it must hold {wanted}.",
        f"{spot.japanese} の列 {column!r} の型は {found.lower()} です。{wanted_ja}でなければなりません。",
    )


def missing_value(column: str, spot: Spot) -> InputError:
    """An empty field in a column that is needed."""
    return InputError(
        f"The column {column!r} has an empty field in {spot.english}. Fill it in, or leave out such rows by a query.",
        f"列 {column!r} に空欄があります ({spot.japanese})。値を入れるか、クエリでその行を除いてください。",
    )


def wrong_count(column: str, spot: Spot) -> InputError:
    """Something else than a whole number from 0 on where a count should be."""
    return InputError(
        f"The column {column!r} must hold whole numbers from 0 on, without separators; it holds something else in "
        f"{spot.english}.",
        f"列 {column!r} は 0 以上の整数 (桁区切りなし) でなければなりません。{spot.japanese} はそうではありません。",
    )


def too_many(column: str) -> InputError:
    """A total beyond what a table holds."""
    return InputError(
        f"The counts of the column {column!r} add up to more than 2**62, which no population does.",
        f"列 {column!r} の合計が 2**62 を超えます。人口としてあり得ません。",
    )


def wrong_value(column: str, allowed: str, spot: Spot, label: object = None) -> InputError:
    """A value that the domain does not have. A label or code is named, a measured value is not."""
    shown = "a value" if label is None else f"{label!r:.60}"
    shown_ja = "値" if label is None else f"{label!r:.60}"
    more, more_ja = "", ""
    if allowed.endswith("of the window"):
        more = ' Rows of other places can be left out with outside = "leave out".'
        more_ja = '範囲外の行を除くには outside = "leave out" を指定してください。'
    return InputError(
        f"The column {column!r} has {shown} in {spot.english}, which is not in the plan: it must be {allowed}. Correct "
        f"the file, or make the plan's attribute wider.{more}",
        f"列 {column!r} に計画にない{shown_ja}があります ({spot.japanese})。許されるのは{_in_japanese(allowed)}です。"
        f"ファイルを直すか、計画の属性を広げてください。{more_ja}",
    )


ALLOWED_IN_JAPANESE = (
    (r"one of its (\d+) labels, such as (.*)", "{1} など {0} 個のラベルのいずれか"),
    (
        r"mesh codes within (\d+) rows and (\d+) columns of the window",
        "計画の範囲（{0} 行 × {1} 列）内のメッシュコード",
    ),
    (r"codes of (\d+) digits at level (.*)", "レベル {1} の {0} 桁のコード"),
    (r"whole numbers from (.*) to (.*)", " {0} から {1} までの整数"),
    (r"numbers from (.*) to below (.*)", " {0} 以上 {1} 未満の数"),
    (r"whole numbers", "整数"),
)


def _in_japanese(allowed: str) -> str:
    for pattern, japanese in ALLOWED_IN_JAPANESE:
        found = re.fullmatch(pattern, allowed)
        if found:
            return japanese.format(*found.groups())
    return f" {allowed} "


def repeated_cell(columns: Sequence[str], values: Sequence[object], hint: str = "", hint_ja: str = "") -> InputError:
    """Two rows of counts for one cell."""
    named = ", ".join(f"{column} = {value}" for column, value in zip(columns, values, strict=True))
    more = (
        f" {hint}" if hint else " Is a file listed twice, or does a column separate the rows? Add it up, or use where."
    )
    more_ja = (
        f" {hint_ja}"
        if hint_ja
        else " 同じファイルが重複していないか、行を分ける列がないかを確かめ、合計するか where で選んでください。"
    )
    return InputError(
        f"Several rows hold a count for {named}; each must have one row.{more}",
        f"{named} の行が複数あります。一行でなければなりません。{more_ja}",
    )


def nothing_kept(where: Sequence[tuple[str, object]]) -> InputError:
    """A condition that no row fulfils."""
    named = ", ".join(f"{column} = {value}" for column, value in where)
    return InputError(
        f"No row fulfils {named}. Look at the values in the file and correct where.",
        f"{named} の行がありません。ファイルの値を見て where を直してください。",
    )


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


def missing_package(package: str, extra: str) -> MissingPackageError:
    """An optional package is needed."""
    return MissingPackageError(
        f"This format needs the package {package!r}. Install it with: pip install 'sudare[{extra}]'.",
        f"この形式にはパッケージ {package!r} が必要です。pip install 'sudare[{extra}]' でインストールしてください。",
    )
