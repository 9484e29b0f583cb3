"""Files that a plan declares to be public: never those of the protected data, whatever they are called there.

A list of meshes or areas becomes the cells of the table, and a reference is used without noise. Taken from the protected files
themselves they would tell who is in them. Files are told apart by what they are on the disk, so that a link or another spelling
of a path is the same file. A copy cannot be recognized: that is what the declaration is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path

from sudare.bilingual import Words
from sudare.io import Source
from sudare.sections import Section

__all__ = ["require_other_files", "require_public"]

QUOTED = re.compile(r"'((?:[^']|'')+)'|\"((?:[^\"]|\"\")+)\"")
"""Texts and names in SQL, any of which may be a file."""

Identity = tuple[int, int]


def require_public(section: Section, what: Words) -> None:
    """Take ``public = true``, or refuse.

    Args:
        section: that names a file.
        what: the file holds, and what becomes of it.

    Raises:
        PlanError: if nobody declared the file to be public.
    """
    if not section.flag("public", False):
        section.refuse(
            "public",
            f"must be true: you declare that {what.english} is public already. It is not protected",
            f"は true でなければなりません。{what.japanese}が既に公開されていることの宣言です（保護されません）",
        )


def require_other_files(section: Section, key: str, public: Source, protected: Source) -> None:
    """Refuse what is read as public if any of it is the protected source, or lies in a folder that this names.

    Args:
        section: that names the public files.
        key: by which it does.
        public: the public files.
        protected: the data of the plan.

    Raises:
        PlanError: names the file.
    """
    secret = {identity for _, identity in _files_of(protected)}
    for file, identity in _files_of(public):
        if identity in secret:
            section.refuse(
                key,
                f"names '{file.name}', which is the protected data of [source], or lies in its folder. What is public must not "
                "come from it: name another file",
                f"の「{file.name}」は、保護する [source] のデータそのものか、そのフォルダの中にあります。"
                "公開とするものをそこから取ることはできません。別のファイルを指定してください",
            )


def _files_of(source: Source) -> Iterator[tuple[Path, Identity]]:
    """Every file that a source may read, with what tells it from all others on this machine."""
    found = [file for path in source.paths for file in _files_at(path)]
    # A text in a query may be anything, such as '/': folders below it are not searched.
    found += [file for text in QUOTED.findall(source.query or "") for file in _files_at("".join(text), deep=False)]
    for file in found:
        about = file.stat()
        yield file, (about.st_dev, about.st_ino)


def _files_at(text: str, *, deep: bool = True) -> list[Path]:
    """The files that a path, a folder or a pattern stands for; none where it is no path at all."""
    try:
        path = Path(text)
        if path.is_dir():
            found = list(path.rglob("*")) if deep else []
        elif has_magic(text) and not path.exists():
            found = [Path(name) for name in glob(text, recursive=deep)]  # noqa: PTH207 - the pattern may be absolute
        else:
            found = [path]
        return [file for file in found if file.is_file()]
    except (OSError, ValueError):
        return []
