r"""Names of columns that come from a file: how they are read from its first row, and whether an error may show them.

A file without a header has a person in its first row. One with a quotation mark that is not closed has many people in the
"name" of a column; one with another separator than the expected has a whole person in it. So no error shows a name unless

- a column that was asked for is among them: then the row is evidently one of names (`are_evident`); and
- the whole row can be names: not too many, not too long, without line ends, control characters or separators, none of them a
  number, a date or an address, and none of them found again in the rows below (`can_be_names`).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from sudare.bilingual import Words

__all__ = [
    "MAX_COLUMNS",
    "MAX_NAMES_LISTED",
    "BareReturnError",
    "LongHeaderError",
    "OpenQuoteError",
    "are_evident",
    "are_found_below",
    "can_be_names",
    "first_repeated",
    "listed_columns",
    "looks_like_value",
    "nearest_column",
    "parse_header",
    "shown_column",
]

MAX_COLUMNS = 10_000
"""That are read at once; DuckDB takes minutes for ten times as many."""

MAX_NAMES = 1000
MAX_NAME_LENGTH = 80
MAX_NAMES_LISTED = 40
MAX_ROWS_COMPARED = 1000
MAX_BYTES_COMPARED = 1 << 18
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
PACKED = (".gz", ".zip")
DELIMITERS = (",", "\t", ";", "|")
NEVER_IN_NAMES = DELIMITERS[1:]
IDEOGRAPHIC_SPACE = "\u3000"

NO_NAME = re.compile(
    r"[-+.,:;/()#\s]*\d[-+.,:;/()#\s\d年月日時分秒%]*"  # numbers, dates, times, telephone numbers, postal codes
    r"|\d.*[Ee][-+]?\d+"  # numbers in scientific notation
    r"|[0-9A-Fa-f-]{16,}"  # hashes and UUIDs
    r"|.*\S@\S.*"  # addresses
)


class OpenQuoteError(ValueError):
    """A quotation mark in a header is not closed, or stands where none may."""


class BareReturnError(ValueError):
    """Lines end in carriage returns alone, as on Macintosh computers before 2001."""


class LongHeaderError(ValueError):
    """The first row has no end where one should be."""


def parse_header(text: str, delimiter: str, *, is_whole: bool = True) -> list[str]:
    r"""The fields of the first row of a text.

    Args:
        text: that begins with it.
        delimiter: between fields.
        is_whole: whether the text is all that the file holds; else the row must end within it.

    Raises:
        LongHeaderError: if it does not.
        OpenQuoteError: if a quotation mark is not closed, or stands where none may.
        BareReturnError: if its lines end in carriage returns alone.

    Example:
        >>> parse_header('id,"age, in years"\n1,31\n', ",")
        ['id', 'age, in years']
    """
    lines = io.StringIO(text, newline="")
    try:
        names = next(csv.reader(lines, delimiter=delimiter, strict=True), [])
    except csv.Error:
        raise OpenQuoteError("a quotation mark is not closed") from None
    if not is_whole and not lines.read(1) and not text.endswith(("\n", "\r")):
        raise LongHeaderError("the first row does not end")
    if _ends_in_bare_return(text):
        raise BareReturnError("lines end in carriage returns")
    return names


def _ends_in_bare_return(text: str) -> bool:
    """Whether the first line end outside of quotation marks is a carriage return that no line feed follows."""
    is_quoted = False
    for mark in re.finditer(r'["\r\n]', text):
        if mark.group() == '"':
            is_quoted = not is_quoted
        elif not is_quoted:
            after = text[mark.end() : mark.end() + 1]
            return mark.group() == "\r" and after not in ("\n", "\r", "") and "\n" not in text
    return False


def can_be_names(names: Sequence[str], file: str | Path | None = None) -> bool:
    """Whether a row can hold the names of columns. If not it may hold a person, and is shown to nobody.

    Args:
        names: the row.
        file: that it is the first row of; a plain text file is looked into.

    Example:
        >>> can_be_names(["id", "年齢", "household size"])
        True
        >>> can_be_names(["Taro", "31", "Osaka"])
        False
    """
    if len(names) > MAX_NAMES or not all(map(_can_be_name, names)):
        return False
    return file is None or not are_found_below(names, Path(file))


def are_evident(names: Sequence[str], asked: Iterable[str], file: str | Path | None = None) -> bool:
    """Whether a row is one of names beyond doubt, and may be shown: it can be, and a column that was asked for is in it.

    Args:
        names: the row.
        asked: the columns that a plan or a command asks for; capital letters and widths do not matter.
        file: that the names are the first row of; a plain text file is looked into.

    Example:
        >>> are_evident(["id", "Sex"], ["sex", "town"]), are_evident(["Tanaka", "Sapporo"], ["sex", "town"])
        (True, False)
    """
    known = {_folded(name) for name in names[:MAX_NAMES] if isinstance(name, str)}
    return any(name and _folded(name) in known for name in asked) and can_be_names(names, file)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _can_be_name(name: object) -> bool:
    if not isinstance(name, str) or looks_like_value(name):
        return False
    return name.replace(IDEOGRAPHIC_SPACE, " ").isprintable()


def looks_like_value(name: str) -> bool:
    """Whether a name is a number, a date, an address, far too long, or several fields in one."""
    if len(name) > MAX_NAME_LENGTH or any(mark in name for mark in NEVER_IN_NAMES):
        return True
    return NO_NAME.fullmatch(name.strip()) is not None


def are_found_below(names: Sequence[str], file: Path) -> bool:
    """Whether a name stands in its own column further down: then it is a value, such as a sex or a town.

    What cannot be looked into is taken for one where it does.
    """
    suffix = file.suffix.lower()
    if suffix not in (*TEXT_SUFFIXES, *PACKED) or not file.is_file():
        return False
    try:
        start = _start_of(file, suffix)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return True
    return any(_is_below(names, text) for text in _possible_texts(start))


def _start_of(file: Path, suffix: str) -> bytes:
    """The first bytes of a text file, unpacked if it is packed."""
    if suffix == ".gz":
        with gzip.open(file) as stream:
            return stream.read(MAX_BYTES_COMPARED)
    if suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            texts = [name for name in archive.namelist() if name.lower().endswith(tuple(TEXT_SUFFIXES))]
            if not texts:
                raise zipfile.BadZipFile
            with archive.open(texts[0]) as stream:
                return stream.read(MAX_BYTES_COMPARED)
    with file.open("rb") as stream:
        return stream.read(MAX_BYTES_COMPARED)


def _possible_texts(start: bytes) -> Iterator[str]:
    """What bytes may mean, in every encoding that a table may be in."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield start[: len(start) // 2 * 2].decode("utf-16", "replace")
    elif _is_no_utf8(start):
        yield from (start.decode(encoding, "replace") for encoding in ("cp932", "euc_jp"))
    else:
        yield start.decode("utf-8-sig", "replace")


def _is_below(names: Sequence[str], text: str) -> bool:
    for delimiter in DELIMITERS:
        try:
            rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), 1 + MAX_ROWS_COMPARED))
        except csv.Error:
            continue
        if rows and len(rows[0]) == len(names):
            return any(
                name.strip() and name.strip() == value.strip()
                for row in rows[1:]
                for name, value in zip(names, row, strict=False)
            )
    return False


def _is_no_utf8(start: bytes) -> bool:
    try:
        start.decode("utf-8")
    except UnicodeDecodeError as failure:
        return failure.start < len(start) - 4  # the last letter may be cut off
    return False


def first_repeated(names: Iterable[str]) -> int | None:
    """The position of the first name that was there before, from 0 on; None if all are different.

    Example:
        >>> first_repeated(["id", "age", "id"])
        2
    """
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            return place
        seen.add(name)
    return None


def shown_column(place: int, names: Sequence[str], asked: Iterable[str], file: str | Path | None = None) -> Words:
    """A column by its name where that may be shown (`are_evident`), else by its number from 1 on."""
    if are_evident(names, asked, file):
        return Words.same(repr(names[place]))
    return Words(f"number {place + 1}", f"{place + 1} 番目")


def nearest_column(
    name: str, names: Sequence[str], asked: Iterable[str] = (), file: str | Path | None = None
) -> str | None:
    """The name that was probably meant, the same in other letters or one spelled alike; None if names may not be shown."""
    if not are_evident(names, (name, *asked), file):
        return None
    folded = {_folded(other): other for other in names}
    if _folded(name) in folded:
        return folded[_folded(name)]
    close = get_close_matches(_folded(name), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def listed_columns(
    name: str,
    names: Sequence[str],
    asked: Iterable[str] = (),
    file: str | Path | None = None,
    *,
    are_values: bool = False,
) -> Words:
    """What to say of the columns of a file that has not the one that was asked for: which it has, and which may be meant.

    Args:
        name: what was asked for.
        names: what there is.
        asked: all columns that were asked for.
        file: that they are the first row of.
        are_values: whether the names are known to be values.
    """
    asked = (name, *asked)
    if are_values or not can_be_names(names, file):
        return Words(
            " Its first row does not look like a header, and is not shown. Put the names of the columns there.",
            " 1行目が列名の見出しではないようなので、表示しません。列名を1行目に書いてください。",
        )
    if not are_evident(names, asked):
        if file is None or Path(file).suffix.lower() not in (*TEXT_SUFFIXES, *PACKED):
            return Words(
                " None of the columns that are asked for was found, so the names of the others may be values, and are not shown. "
                "Look at them, and correct those that you ask for.",
                "求められた列が一つも見つからず、ほかの列の名前が値かもしれないので、表示しません。列の名前を確かめ、"
                "求める列の名前を直してください。",
            )
        return Words(
            " None of the columns that are asked for was found in its first row, which may hold a person and is not shown. The "
            "file may have no header, or another separator: open it and look. Its first row must hold the names of the columns, "
            "separated by commas (by tabs in a .tsv file).",
            "求められた列が一つも見つからず、1行目が人のレコードかもしれないので、表示しません。見出しがないか、区切り文字が違う"
            "可能性があります。ファイルを開いて確かめてください。1行目には、コンマ（.tsv ではタブ）で区切った列名が必要です。",
        )
    nearest = nearest_column(name, names, asked)
    meant, meant_ja = ("", "") if nearest is None else (f" Did you mean {nearest!r}?", f" {nearest!r} のことですか。")
    listed = ", ".join(names[:MAX_NAMES_LISTED]) + (", ..." if len(names) > MAX_NAMES_LISTED else "")
    return Words(f"{meant} The columns are: {listed}.", f"{meant_ja} 列は次のとおりです: {listed}。")
