"""The checks of every folder, whatever its kind: its files, its page, its event, and the ledger's entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from sudare.bilingual import Words
from sudare.errors import SudareError, words_of_error
from sudare.ledger import Ledger, open_ledger
from sudare.ledger.entries import Entry, PublicationNoted, Settled, TickSettled
from sudare.privacy import ReleaseEvent
from sudare.releases.documents import StatedDocument
from sudare.storage.hashes import hash_of_file
from sudare.storage.staging import DOCUMENT, page_beside
from sudare.version import __version__

__all__ = [
    "NAMES",
    "NO_LEDGER",
    "Check",
    "UnsoundError",
    "check_files",
    "check_ledger",
    "check_note",
    "check_page",
    "event_of",
    "outcome_of",
    "printable",
    "require_listed",
    "reservation_of",
]

Outcome = Literal["passed", "failed", "skipped"]
MAX_LETTERS = 2_000
SPACES = "\u00a0\u3000"

OTHER_VERSION = Words(
    "not compared: sudare {version} made this page, and sudare {own} words pages in another way",
    "照合していません: このページは sudare {version} が作成したもので、sudare {own} とは文言が異なります",
)


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Attributes:
        name: what, in a word.
        outcome: ``"passed"``, ``"failed"`` or ``"skipped"``.
        english: what was found.
        japanese: the same.
    """

    name: str
    outcome: Outcome
    english: str
    japanese: str

    @property
    def words(self) -> Words:
        """What was checked, for people."""
        if self.name.startswith(FILE):
            return NAMES["file"].format(file=self.name.removeprefix(FILE))
        return NAMES.get(self.name, Words.same(self.name))


FILE = "file "
NAMES: Mapping[str, Words] = {
    "file": Words("file {file}", "ファイル {file}"),
    "files": Words("files", "ファイル"),
    "folder": Words("the folder", "フォルダ"),
    "cost": Words("stated cost", "費用の記載"),
    "counts": Words("counts", "度数"),
    "page": Words("report", "報告書"),
    "ledger": Words("ledger", "台帳"),
    "published": Words("published records", "公表したレコード"),
    "models": Words("promised models", "約束した条件"),
    "groups": Words("smallest equivalence class", "最小の等価クラス"),
    "attacks": Words("attacks", "攻撃"),
    "report": Words("report", "報告書"),
    "tables": Words("published table", "公表した表"),
    "confidential": Words("confidential files", "保有者用のファイル"),
    "certificate": Words("proof that hidden cells are safe", "秘匿セルの安全性の証明"),
    "window": Words("window", "期間"),
    "ticks": Words("all ticks", "全時点"),
    "other-ticks": Words("other ticks", "ほかの時点"),
    "curves": Words("curves", "推移"),
    "revision": Words("revision", "改訂値"),
}
"""What checks of all kinds are called."""

NO_LEDGER = Check("ledger", "skipped", "not looked at: no ledger was named", "台帳の指定がないため確認していません")


class UnsoundError(Exception):
    """A check failed; says what was found."""

    def __init__(self, english: str, japanese: str) -> None:
        self.english, self.japanese = english, japanese
        super().__init__(english)


def outcome_of(name: str, step: Callable[[], tuple[str, str]], document_name: str = DOCUMENT) -> Check:
    """What became of one check.

    Args:
        name: of the check.
        step: gives what was found, or raises.
        document_name: the file that is to blame if it does not say what it should.
    """
    from jinja2 import TemplateError

    outcome: Outcome = "failed"
    try:
        english, japanese = step()
        outcome = "passed"
    except UnsoundError as error:
        english, japanese = error.english, error.japanese
    except SudareError as error:
        words = words_of_error(error)
        english, japanese = words.english, words.japanese
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, TemplateError):
        english, japanese = f"{document_name} does not say what it should", f"{document_name} の内容が不正です"
    return Check(name, outcome, printable(english, MAX_LETTERS), printable(japanese, MAX_LETTERS))


def check_files(document: StatedDocument) -> list[Check]:
    """Every file that a document lists is there, with its hash."""
    files = document.get("files")
    if not isinstance(files, list) or not files:
        english, japanese = f"{document.name} lists no files", f"{document.name} にファイルの記載がありません"
        return [Check("files", "failed", english, japanese)]
    return [
        outcome_of(f"{FILE}{_name_of(entry)}", lambda entry=entry: _check_file(document, entry), document.name)  # type: ignore[misc]
        for entry in files
    ]


def require_listed(
    document: StatedDocument, page: Path | None = None, may_be_there: Callable[[str], bool] = lambda name: False
) -> tuple[str, str]:
    """No other files may be in a folder than those that its document lists.

    Args:
        document: of the release.
        page: that belongs there too, if there is one.
        may_be_there: whether a file that the document does not list belongs there all the same.

    Raises:
        UnsoundError: names the first one.
    """
    listed = {one.name for one in (document.path, *([] if page is None else [page]), *document.listed_files())}
    there = (one.name for one in document.folder.iterdir())
    others = sorted(one for one in there if one not in listed and not may_be_there(one))
    if others:
        name = printable(others[0])
        raise UnsoundError(
            f"{name} is in the folder, and not part of the release", f"{name} は公表に含まれないファイルです"
        )
    return "nothing else is in the folder", "ほかのファイルはありません"


def check_page(
    document: StatedDocument,
    render: Callable[[str], str],
    may_be_there: Callable[[str], bool] = lambda name: False,
    is_same_form: bool = True,
) -> Check:
    """The page must be what the document gives, in either language; and no other files may be there.

    What another version made cannot be drawn again; files that do not belong there are found all the same.

    Args:
        document: of the release.
        render: gives the page in a language.
        may_be_there: whether a file that the document does not list belongs there all the same.
        is_same_form: whether the page was made in the form that `render` gives.
    """
    page = page_beside(document.path)

    def check_drawn() -> tuple[str, str]:
        shown = page.read_text(encoding="utf-8", errors="replace") if page.is_file() else ""
        if shown not in [render(language) for language in ("en", "ja")]:
            raise UnsoundError(f"{page.name} is missing or was changed", f"{page.name} がないか、変更されています")
        return "shows this document and this table", "この文書と表の内容どおりです"

    unlisted = outcome_of("page", lambda: require_listed(document, page, may_be_there), document.name)
    if unlisted.outcome == "failed":
        return unlisted
    if not document.is_of_this_version():
        # A page is made of words, and these change from version to version: what another one wrote is no forgery.
        words = OTHER_VERSION.format(version=printable(document.made_by()), own=__version__)
        return Check("page", "skipped", words.english, words.japanese)
    if not is_same_form:
        english, japanese = (
            "not compared: made with another form of the page",
            "ページの形式が異なるため照合していません",
        )
        return Check("page", "skipped", english, japanese)
    return outcome_of("page", check_drawn, document.name)


def check_ledger(document: StatedDocument, ledger: str | None, *, in_window: bool = False) -> Check:
    """Check that the ledger has an entry of a release, where the ledger can be read.

    Args:
        document: of the release; the ledger has the hash of its file.
        ledger: where the ledger is; None if it is not looked at.
        in_window: whether a window was reserved, of which this is the tick that the document states, or the only one.

    Raises:
        LedgerError: if the ledger cannot be opened.
    """
    if ledger is None:
        return NO_LEDGER
    with open_ledger(ledger) as opened:
        return outcome_of("ledger", lambda: _check_entries(document, opened, in_window), document.name)


def check_note(document: StatedDocument, ledger: str) -> Check:
    """Check whether the ledger notes a folder that was published without a price.

    It need not be noted. It is unsound if another document is noted for its place.

    Args:
        document: of what was published; the ledger has the hash of its file.
        ledger: where the ledger is.

    Raises:
        LedgerError: if the ledger cannot be opened.
    """
    with open_ledger(ledger) as opened:
        found = outcome_of("ledger", lambda: _check_note(document, opened), document.name)
    if found.outcome == "passed" and not found.english:
        return Check(
            "ledger",
            "skipped",
            f"the ledger does not note this {document.name}; nothing was charged for it",
            f"台帳にこの {document.name} の記録はありません（予算は使われていません）",
        )
    return found


def printable(text: str, most: int = 200) -> str:
    r"""A text from a file that may be hostile, for a terminal: without letters that command it.

    Args:
        text: as it is.
        most: letters that are shown.

    Example:
        >>> printable("Town\x1b[2J")
        'Town?[2J'
    """
    # Spaces count as unprintable, and the wide one is usual in Japanese.
    return "".join(letter if letter.isprintable() or letter in SPACES else "?" for letter in text[:most])


def _name_of(entry: Any) -> str:
    return printable(str(entry.get("name", "?"))) if isinstance(entry, dict) else "?"


def _check_file(document: StatedDocument, entry: Mapping[str, Any]) -> tuple[str, str]:
    path = document.file_named(entry)
    try:
        if not path.is_file():
            raise OSError("no regular file")
        digest = hash_of_file(path)
    except (OSError, ValueError):
        raise UnsoundError(f"{printable(path.name)} is missing", f"{printable(path.name)} がありません") from None
    if digest != entry["sha256"]:
        raise UnsoundError(
            f"{path.name} was changed: its hash is another", f"{path.name} は変更されています（ハッシュ不一致）"
        )
    return "hash as stated", "ハッシュ一致"


def event_of(document: StatedDocument) -> ReleaseEvent:
    """The event of a document, which must be private.

    Raises:
        UnsoundError: if it was drawn from a seed.
        SudareError: if its noise costs more than it states.
    """
    event = document.event()
    if not event.is_private:
        raise UnsoundError(
            "drawn from a seed, for research: NOT private",
            "研究用の乱数シードによるもので、プライバシー保護はありません",
        )
    return event


def _check_note(document: StatedDocument, ledger: Ledger) -> tuple[str, str]:
    """The chain is whole, and has a note of this very document, or none of its folder: then there is nothing to say."""
    _require_sound(ledger)
    digest, place, other = hash_of_file(document.path), str(document.folder.resolve()), None
    for entry in ledger.entries():
        body = entry.read()
        if isinstance(body, PublicationNoted) and body.document_sha256 == digest:
            return f"noted as entry {entry.number}", f"項目 {entry.number} に記録済み"
        if isinstance(body, PublicationNoted) and body.folder == place:
            other = entry.number
    if other is not None:
        raise UnsoundError(
            f"the ledger notes another {document.name} of this folder, as entry {other}",
            f"台帳の項目 {other} に記録されているのは、このフォルダの別の {document.name} です",
        )
    return "", ""


def _require_sound(ledger: Ledger) -> None:
    findings = ledger.verify()
    if findings:
        raise UnsoundError(findings[0].english, findings[0].japanese)


def reservation_of(document: StatedDocument, ledger: Ledger) -> Entry:
    """The entry that reserved for a release, in a ledger whose chain is whole.

    Raises:
        UnsoundError: if the ledger was changed, or has no such entry.
    """
    charge = document["ledger"]
    _require_sound(ledger)
    found = next((entry for entry in ledger.entries() if entry.number == charge["entry"]), None)
    if found is None or found.kind != "reserve" or found.hash != charge["hash"]:
        raise UnsoundError(
            f"the ledger has no such reservation as entry {charge['entry']}",
            f"台帳の項目 {charge['entry']} に該当する予約がありません",
        )
    return found


def _is_settled(body: object, reserved: int, tick: int | None) -> TypeGuard[Settled | TickSettled]:
    if tick is None:
        return isinstance(body, Settled) and body.reservation == reserved
    return isinstance(body, TickSettled) and (body.window, body.tick) == (reserved, tick)


def _check_entries(document: StatedDocument, ledger: Ledger, in_window: bool) -> tuple[str, str]:
    """The chain is whole, the charge was reserved before, and settled with this very document."""
    reserved = reservation_of(document, ledger)
    tick = None
    if in_window:
        tick = document["tick"]["number"] if "tick" in document else 0
    document_hash = hash_of_file(document.path)
    settled = [
        (entry.number, body.result.get("document_sha256"))
        for entry in ledger.entries()
        if _is_settled(body := entry.read(), reserved.number, tick)
    ]
    if not settled or settled[0][1] != document_hash:
        raise UnsoundError(
            f"the ledger did not settle this {document.name} for entry {reserved.number}",
            f"台帳は項目 {reserved.number} でこの {document.name} を確定していません",
        )
    return (
        f"reserved as entry {reserved.number}, settled as entry {settled[0][0]}",
        f"項目 {reserved.number} で予約、項目 {settled[0][0]} で確定済み",
    )
