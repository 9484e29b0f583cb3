"""What a folder is: a release, protected records, or a protected table; and whether it is as it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sudare.errors import InputError, SudareError, UserError
from sudare.releases.kinds.counts.verification import read_document, verify_release
from sudare.releases.kinds.series.days.document import DAY_FORMAT
from sudare.releases.kinds.series.days.report import read_day_document
from sudare.releases.kinds.series.days.verification import verify_day
from sudare.releases.kinds.series.document import TICK_FORMAT
from sudare.releases.kinds.series.verification import read_tick_document, verify_tick
from sudare.releases.verification import Check, printable
from sudare.storage.guarded_json import parse_json, read_json
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT, REPORT, document_in, page_beside
from sudare.system.regular_files import read_regular_file
from sudare.version import __version__

__all__ = ["ChangedFolderError", "Subject", "as_stated", "open_subject"]

HOLDERS = "confidential.json"
"""Only its holder has it; it knows the hash of the report."""
FORMATS: Mapping[str, str] = {"sudare-people/1": "people", "sudare-protected-table/1": "protected-table"}
"""Of documents, and what a folder with one is; others are releases of counts or of a series."""


RELEASES: Mapping[str, tuple[str, Callable[..., Mapping[str, object]], Callable[..., list[Check]]]] = {
    TICK_FORMAT: ("tick", read_tick_document, verify_tick),
    DAY_FORMAT: ("series-day", read_day_document, verify_day),
}
"""Of a series: what a folder is, how its document is read, and how it is checked."""


class ChangedFolderError(InputError):
    """A folder is not as it was made: a file is missing or was changed. Then nothing is reported about it."""


@dataclass(frozen=True)
class Subject:
    """A folder that is examined.

    Attributes:
        folder: where it is.
        kind: what it is, a key of `KINDS`.
        document: what ``release.json`` says, or ``report.json`` of folders that were made under that name.
        document_sha256: the hash of that file, by which a ledger knows it.
    """

    folder: Path
    kind: str
    document: Mapping[str, Any]
    document_sha256: str

    @property
    def name(self) -> str:
        """For people."""
        return self.folder.resolve().name

    @property
    def title(self) -> str:
        """In the words of its publisher."""
        return str(self.document.get("title") or self.name)


def open_subject(folder: str | Path, ledger: str | None = None) -> Subject:
    """Find out what a folder is, and make sure that it is whole.

    Args:
        folder: of a release, of a tick or a window of a series, of protected records, or of a protected table.
        ledger: a ledger in which the charge of a release is checked as well.

    Raises:
        InputError: if it is none of them, or of a version that is not known.
        ChangedFolderError: if a file is missing or was changed.
    """
    place = Path(folder)
    file = document_in(place)
    form = _format_of(file) if file.name == DOCUMENT and file.is_file() else None
    if form is not None and form not in FORMATS:
        kind, read, verify = RELEASES.get(form, ("private-table", read_document, verify_release))
        document = read(place)
        for check in verify(place, ledger):
            if check.outcome == "failed":
                raise ChangedFolderError(
                    f"'{place}' is not as it was released, and is not examined: {check.english}. `sudare verify` tells more.",
                    f"「{place}」は公表時のままではないため、調べません: {check.japanese}。`sudare verify` で確認できます。",
                )
        return Subject(place, kind, document, hash_of_file(place / DOCUMENT))
    try:
        text = read_regular_file(file)
        report: Any = parse_json(text)
        kind = FORMATS[report["format"]]
        files = [(Path(entry["name"]).name, str(entry["sha256"])) for entry in report["files"]]
        if not files:
            raise ValueError("no files")
    except OSError:
        raise InputError(
            f"'{place}' has neither {DOCUMENT} nor {REPORT}: it is no folder of a release, of protected records or of a "
            "protected table.",
            f"「{place}」に {DOCUMENT} も {REPORT} もありません。公表・個票・秘匿表のフォルダではありません。",
        ) from None
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"'{file}' is damaged, or of a format that is not known. Known are {', '.join(FORMATS)}.",
            f"「{file}」は壊れているか、未知の形式です。扱えるのは {'、'.join(FORMATS)} です。",
        ) from None
    for name, digest in files:
        _require_unchanged(place / name, digest)
    document_sha256 = sha256(text).hexdigest()
    _require_own_report(file, document_sha256)
    _require_page(page_beside(file), report)
    if kind == "people" and "event" in report:
        kind = "private-people"
    return Subject(place, kind, report, document_sha256)


@contextmanager
def as_stated(place: Path) -> Iterator[None]:
    """Work with what a report states: if it is nonsense, whatever it leads to, the report is to blame.

    Reports are read key by key where they are needed, and anybody may have written them.

    Args:
        place: the folder.

    Raises:
        InputError: in place of any error that nonsense leads to; errors that tell already what is wrong stay.
    """
    try:
        yield
    except UserError:
        raise
    except (SudareError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise InputError(
            f"The report of '{place}', or of a folder that is attacked with it, does not say what it should; "
            "`sudare verify` tells more.",
            f"「{place}」、または合わせて攻撃するフォルダの報告書の内容が不正です。`sudare verify` で確認できます。",
        ) from None


def _require_unchanged(path: Path, digest: str) -> None:
    name = printable(path.name)
    if not path.is_file():
        raise ChangedFolderError(
            f"'{path.parent}' is not complete, and is not examined: {name} is missing.",
            f"「{path.parent}」は不完全なため、調べません: {name} がありません。",
        )
    if hash_of_file(path) != digest:
        raise ChangedFolderError(
            f"'{path.parent}' was changed, and is not examined: the hash of {name} is another than its report says.",
            f"「{path.parent}」は変更されているため、調べません: {name} のハッシュが報告書の記載と異なります。",
        )


def _format_of(file: Path) -> str:
    """What a document says that its format is; nothing where it is damaged."""
    try:
        said = read_json(file)
    except (OSError, ValueError):
        return ""
    return str(said.get("format")) if isinstance(said, dict) else ""


def _require_own_report(file: Path, digest: str) -> None:
    """A report that was changed is found out where the holder's file is there, which knows its hash."""
    place = file.parent
    try:
        held: Any = read_json(place / HOLDERS)
    except (OSError, ValueError):  # not there, or damaged, which its reader reports
        return
    stated = held.get("report_sha256") if isinstance(held, dict) else None
    if isinstance(stated, str) and stated != digest:
        raise ChangedFolderError(
            f"'{place}' was changed, and is not examined: the hash of {file.name} is another than {HOLDERS} says.",
            f"「{place}」は変更されているため、調べません: {file.name} のハッシュが {HOLDERS} の記載と異なります。",
        )


def _require_page(page: Path, report: Mapping[str, Any]) -> None:
    """This version makes a page for every report."""
    versions = report.get("versions")
    is_own = isinstance(versions, dict) and versions.get("sudare") == __version__
    if is_own and not page.is_file():
        raise ChangedFolderError(
            f"'{page.parent}' is not complete, and is not examined: {page.name} is missing.",
            f"「{page.parent}」は不完全なため、調べません: {page.name} がありません。",
        )
