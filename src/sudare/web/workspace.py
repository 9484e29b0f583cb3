"""The folder that the page works in: its plans, data, releases and ledgers. Nothing outside of it can be named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sudare.bilingual import Words
from sudare.errors import InputError, OutputError, SudareError
from sudare.storage.guarded_json import read_json
from sudare.storage.staging import DOCUMENT

__all__ = ["DATA_SUFFIXES", "FoundPlan", "FoundRelease", "WorkFolder", "safe_name"]

MAX_DEPTH = 3
MAX_FOUND = 500
"""So many files are listed at the most; a folder with more of them is no place for a page."""
MAX_NAME = 200
"""Bytes of a name that is made from a wish; systems take 255, and releases and plans put more behind it."""
MAX_SHOWN = 80
"""Characters of a name that a sentence repeats."""

DATA_SUFFIXES = (
    ".csv", ".csv.gz", ".tsv", ".txt", ".zip", ".parquet", ".pq", ".geoparquet", ".arrow", ".feather", ".ipc", ".duckdb",
    ".ddb", ".tif", ".tiff", ".xlsx", ".gpkg",
)  # fmt: skip
LEDGER_SUFFIX = ".db"
ANSWERS = ".answers"

OUTSIDE = Words("There is no '{name}' in the folder of this page.", "このページのフォルダに「{name}」はありません。")
TAKEN = Words(
    "'{name}' is there already. Give the file another name, or move the other one away.",
    "「{name}」は既にあります。名前を変えるか、既存のファイルを移動してください。",
)


@dataclass(frozen=True, kw_only=True)
class FoundPlan:
    """A plan file.

    Attributes:
        file: where it is, from the folder of the page.
        kind: of release; empty if it cannot be told.
        title: as it says; its name if it says none.
        release: where its release is, if that is there.
        ledger: where it is charged, as ledgers are opened; None without a price.
    """

    file: str
    kind: str
    title: str
    release: str | None
    ledger: str | None


@dataclass(frozen=True, kw_only=True)
class FoundRelease:
    """A published folder.

    Attributes:
        folder: where it is, from the folder of the page.
        format: what its document says that it is.
        title: as it says.
    """

    folder: str
    format: str
    title: str


class WorkFolder:
    """A folder and what is in it.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def place(self, name: str) -> Path:
        """A file or folder in here by its name.

        Raises:
            InputError: if it is not there, outside, or neither: what waits for a writer would keep every reader waiting.
        """
        path = self._inside(name)
        if not path.is_file() and not path.is_dir():
            raise InputError(OUTSIDE.format(name=_shown(name)))
        return path

    def free_place(self, name: str) -> Path:
        """Where a new file or folder of that name may go.

        Raises:
            InputError: if that is outside.
            OutputError: if something is there already.
        """
        path = self._inside(name)
        if path.exists() or path.is_symlink():
            raise OutputError(TAKEN.format(name=name))
        return path

    def free_folder(self, wish: str) -> Path:
        """A folder that is not there yet, called as wished or with a number behind it."""
        base = safe_name(wish)
        names = (base if number == 1 else f"{base}-{number}" for number in range(1, MAX_FOUND))
        return next(path for name in names if not (path := self.root / name).exists())

    def name_of(self, path: Path) -> str:
        """How the page calls a file or folder."""
        return path.resolve().relative_to(self.root).as_posix()

    def short_name(self, path: Path) -> str:
        """How a file or folder is shown: from the folder of the page if it is in it."""
        return self.name_of(path) if self.holds(path) else str(path)

    def holds(self, path: Path) -> bool:
        """Whether a path is in here."""
        return path.resolve().is_relative_to(self.root)

    def _inside(self, name: str) -> Path:
        try:
            path = (self.root / name).resolve()
            path.exists()
        except (OSError, ValueError):  # longer than any name, or with a character that no name has
            raise InputError(OUTSIDE.format(name=_shown(name))) from None
        if not path.is_relative_to(self.root) or not name.strip():
            raise InputError(OUTSIDE.format(name=_shown(name)))
        return path

    def data_files(self) -> list[str]:
        """Files that may hold data, by their names; files of releases are none."""
        return [self.name_of(path) for path in self._files() if path.name.lower().endswith(DATA_SUFFIXES)]

    def ledgers(self) -> list[str]:
        """Ledgers, told by what their file says that it is."""
        found = (path for path in self._files() if path.suffix == LEDGER_SUFFIX)
        return [self.name_of(path) for path in found if _is_ledger(path)]

    def toml_files(self) -> list[str]:
        """Files that may be plans or metadata, by their names."""
        return [self.name_of(path) for path in self._files() if path.suffix == ".toml"]

    def plans(self) -> list[FoundPlan]:
        """Plans of any kind."""
        from sudare.releases.registry import find_kind_of_plan

        plans = []
        for path in self._files():
            if path.suffix != ".toml":
                continue
            try:
                kind = find_kind_of_plan(path)
                header = kind.load().header(kind.load().read_plan(path))
            except SudareError:
                continue
            is_made = (header.folder / DOCUMENT).is_file() and self.holds(header.folder)
            release = self.name_of(header.folder) if is_made else None
            ledger = None if header.ledger is None else str(header.ledger.location)
            plans.append(
                FoundPlan(file=self.name_of(path), kind=kind.name, title=header.title, release=release, ledger=ledger)
            )
        return plans

    def plan_of(self, release: Path) -> FoundPlan | None:
        """The plan that a release was made by, if it is here."""
        name = self.name_of(release)
        return next((plan for plan in self.plans() if plan.release == name), None)

    def releases(self) -> list[FoundRelease]:
        """Folders that were published."""
        found = []
        for folder, _, files in self._walk():
            values = _document(folder) if DOCUMENT in files else None
            if values is not None:
                stated = {
                    key: value if isinstance(value := values.get(key), str) else "" for key in ("format", "title")
                }
                found.append(FoundRelease(folder=self.name_of(folder), **stated))
        return found

    def _files(self) -> Iterator[Path]:
        """Files that do not belong to a release."""
        number = 0
        for folder, _, files in self._walk():
            if DOCUMENT in files:
                continue
            for name in sorted(files):
                is_shown = (
                    not name.startswith((".", "_")) and (folder / name).is_file()
                )  # and no pipe, which would wait
                if is_shown and self.holds(folder / name):  # a link may lead elsewhere
                    yield folder / name
                    number += 1
                if number >= MAX_FOUND:
                    return

    def _walk(self) -> Iterator[tuple[Path, list[str], list[str]]]:
        for place, folders, files in os.walk(self.root):
            folder = Path(place)
            depth = len(folder.relative_to(self.root).parts)
            folders[:] = [] if depth >= MAX_DEPTH or DOCUMENT in files else sorted(_seen(folders))
            yield folder, folders, files


def _shown(name: str) -> str:
    """A name in a sentence: one line, and not longer than anybody reads."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return printable if len(printable) <= MAX_SHOWN else f"{printable[:MAX_SHOWN]}…"


def _seen(folders: list[str]) -> Iterator[str]:
    """Folders that may hold data; answers that a ledger keeps, so that nobody pays twice, are none."""
    return (name for name in folders if not name.startswith((".", "_")) and not name.endswith(ANSWERS))


def _document(folder: Path) -> dict[str, object] | None:
    """What the document of a folder says; None if it is none."""
    try:
        values = read_json(folder / DOCUMENT)
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def _is_ledger(path: Path) -> bool:
    """Whether a file is a ledger, by the mark in its head; no lock is taken."""
    from sudare.ledger.sqlite_store import APPLICATION_ID

    try:
        with path.open("rb") as stream:
            head = stream.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\x00") and int.from_bytes(head[68:72], "big") == APPLICATION_ID


def safe_name(wish: str) -> str:
    """A name of a file or folder that no system takes amiss: letters of any language, digits, dots and dashes."""
    name = re.sub(r"[^\w.-]+", "-", wish, flags=re.UNICODE).strip(".-_")
    suffix = next((known for known in DATA_SUFFIXES if name.lower().endswith(known)), "")
    stem = name[: len(name) - len(suffix)].encode()[: MAX_NAME - len(suffix)].decode(errors="ignore")
    return stem.rstrip(".-_") + name[len(name) - len(suffix) :] if stem else "data" + suffix
