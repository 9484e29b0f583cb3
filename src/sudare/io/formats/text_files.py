"""Text files before they are read: their bytes, unpacked where they are zipped, and the encoding that these are in.

``encoding = "auto"``: a mark at the start of a file (a byte order mark) decides. Else the lines that are not plain ASCII decide,
all together:

| these lines are | the file is read as |
|---|---|
| all UTF-8 | UTF-8 |
| none UTF-8, all cp932, at least one not EUC-JP | cp932 (Shift_JIS as Windows has it) |
| none UTF-8, all EUC-JP, at least one not cp932 | EUC-JP |
| anything else | refused: the encoding has to be stated |

So one person's lines never change how another person's lines are read; they can only make the file be refused. A file with a
line that was read as UTF-8 is never read as anything else, because cp932 and EUC-JP want no such line. A file that is read as
cp932 has only lines that are cp932, one that is read as EUC-JP has a line that is not. ASCII is read alike by all of them.
"""

from __future__ import annotations

import codecs
import io
import zipfile
import zlib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from sudare.io import complaints
from sudare.system.regular_files import open_regular_file, require_regular_file

__all__ = [
    "AUTO",
    "detected_encoding",
    "encoding_at_start",
    "encoding_in",
    "encoding_of",
    "is_utf8",
    "open_member",
    "read_text",
]

AUTO = "auto"
BYTES_AT_ONCE = 1 << 22
MAX_START = 1 << 25
"""So much of a file is looked at where no more than its first lines are asked for."""

MAX_LINE = 1 << 26
"""What has no line end for longer is no table."""

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NO_LETTERS = frozenset("\x80\xa0\uf8f0\uf8f1\uf8f2\uf8f3")
"""What Python makes of the five bytes that are no letters of cp932."""

TEXT_SUFFIXES = (".txt", ".csv", ".tsv")
ABOUT_THE_DATA = ("readme", "read_me", "license", "licence", "利用規約", "はじめに")
"""How the names of notes beside the data begin."""


def open_member(file: str) -> BinaryIO:
    """The bytes of a text file, unpacked if it is zipped. A zip must hold exactly one text file; notes beside it are no data.

    Raises:
        InputError: if it cannot be opened.
    """
    name = file.lower()
    try:
        require_regular_file(file)
        if name.endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                return archive.open(_member_with_data(archive, file))  # type: ignore[return-value]
        if name.endswith(".gz"):
            import gzip

            return gzip.open(file)  # type: ignore[return-value]
        return open_regular_file(file)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        raise complaints.damaged(file, "zip") from None
    except OSError:
        raise complaints.unreadable(file) from None


def _member_with_data(archive: zipfile.ZipFile, file: str) -> zipfile.ZipInfo:
    """The only file, or the only text file that is no note: a description in PDF often lies beside it."""
    # Macs add folders of their own.
    members = [
        member for member in archive.infolist() if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) > 1:
        members = [member for member in members if member.filename.lower().endswith(TEXT_SUFFIXES)]
    if len(members) > 1:
        members = [member for member in members if not _base(member).startswith(ABOUT_THE_DATA)]
    if len(members) != 1:
        raise complaints.crowded_zip(file)
    return members[0]


def _base(member: zipfile.ZipInfo) -> str:
    """The name without folders. Old programs write names in cp932, which zipfile reads as cp437."""
    name = member.filename
    if not member.flag_bits & 0x800:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("cp932")
    return name.replace("\\", "/").rsplit("/", 1)[-1].lower()


def is_utf8(encoding: str) -> bool:
    """Whether DuckDB reads the encoding itself."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii")


def encoding_of(file: str, stated: str) -> str:
    """The encoding that was stated, or for ``"auto"`` the one that the file is in.

    Raises:
        InputError: if the file does not tell, or cannot be read.
    """
    if stated.lower() != AUTO:
        return stated
    found = detected_encoding(file)
    if found is None:
        raise complaints.unknown_encoding(file)
    return found


def detected_encoding(file: str) -> str | None:
    """The encoding that a file is in; None if it does not tell.

    Raises:
        InputError: if it cannot be read.
    """
    try:
        about = Path(file).stat()
    except OSError:
        raise complaints.unreadable(file) from None
    return _looked_up(file, about.st_ino, about.st_size, about.st_mtime_ns)


def encoding_at_start(file: str) -> str:
    """The encoding that the first lines of a file are in, for whoever looks at no more of it than those.

    Raises:
        InputError: if they do not tell, or the file cannot be read.
    """
    try:
        with open_member(file) as stream:
            start = stream.read(MAX_START)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None
    if len(start) == MAX_START:
        start = start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1]
        if len(start) < MAX_START // 2:  # a line that does not end, such as one that was packed to fill a disk
            raise complaints.damaged(file, "text")
    found = encoding_in(io.BytesIO(start))
    if found is None:
        raise complaints.unknown_encoding(file)
    return found


@lru_cache(maxsize=4096)
def _looked_up(file: str, inode: int, size: int, changed: int) -> str | None:
    """A file is asked for several times, and looked through once."""
    try:
        with open_member(file) as stream:
            return encoding_in(stream)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None


def read_text(path: str | Path, encoding: str = AUTO) -> str:
    """A whole text file, such as a list that a plan names; a mark at its start is left out.

    Raises:
        InputError: if it cannot be read, or is not in the encoding.
    """
    file = str(path)
    found = encoding_of(file, encoding)
    try:
        with open_member(file) as stream:
            return stream.read().decode("utf-8-sig" if is_utf8(found) else found)
    except (EOFError, OSError, zipfile.BadZipFile, zlib.error):
        raise complaints.damaged(file, "zip" if file.lower().endswith(".zip") else "text") from None
    except UnicodeDecodeError:
        raise complaints.wrong_encoding(file, found) from None


def encoding_in(stream: BinaryIO) -> str | None:
    r"""The encoding of a stream of bytes; None if it does not tell.

    Example:
        >>> import io
        >>> from sudare.io.formats.text_files import encoding_in
        >>> [encoding_in(io.BytesIO("番号,性別\n1,男\n".encode(name))) for name in ("utf-8", "cp932", "euc_jp", "utf-16")]
        ['utf-8', 'cp932', 'euc_jp', 'utf-16']
    """
    seen = _Evidence()
    rest = stream.read(4)
    for mark, encoding in MARKS:
        if rest.startswith(mark):
            return encoding
    while piece := stream.read(BYTES_AT_ONCE):
        piece = rest + piece
        # Neither UTF-8 nor cp932 nor EUC-JP has a line end inside a letter.
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        seen.look_at(piece[:end])
        rest = piece[end:]
        if seen.is_hopeless or len(rest) > MAX_LINE:
            return None
    seen.look_at(rest)
    return seen.encoding


class _Evidence:
    """What the lines that were seen so far leave possible."""

    def __init__(self) -> None:
        self.all_utf8 = self.all_cp932 = self.all_euc = True
        self.some_only_cp932 = self.some_only_euc = False

    @property
    def is_hopeless(self) -> bool:
        return not (self.all_utf8 or self.all_cp932 or self.all_euc)

    @property
    def encoding(self) -> str | None:
        if self.all_utf8:
            return "utf-8"
        if self.all_cp932 and self.some_only_cp932:
            return "cp932"
        return "euc_jp" if self.all_euc and self.some_only_euc else None

    def look_at(self, lines: bytes) -> None:
        """Take whole lines into account: all at once as long as they are UTF-8, which is fast, else one by one."""
        if lines.isascii():
            return
        if self.all_utf8 and _fits(lines, "utf-8"):
            self.all_cp932 = self.all_euc = False
            return
        for line in lines.splitlines():
            if not line.isascii():
                self._look_at_line(line)
            if self.is_hopeless:
                return

    def _look_at_line(self, line: bytes) -> None:
        if _fits(line, "utf-8"):
            self.all_cp932 = self.all_euc = False
            return
        self.all_utf8 = False
        is_cp932, is_euc = _fits(line, "cp932"), _fits(line, "euc_jp")
        self.all_cp932, self.all_euc = self.all_cp932 and is_cp932, self.all_euc and is_euc
        self.some_only_cp932 = self.some_only_cp932 or (is_cp932 and not is_euc)
        self.some_only_euc = self.some_only_euc or (is_euc and not is_cp932)


def _fits(piece: bytes, encoding: str) -> bool:
    try:
        text = piece.decode(encoding)
    except UnicodeDecodeError:
        return False
    return encoding != "cp932" or NO_LETTERS.isdisjoint(text)
