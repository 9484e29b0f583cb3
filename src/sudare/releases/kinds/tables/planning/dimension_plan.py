"""How a plan says what the codes of a dimension are: a file, groups in the plan itself, a list, or what the data holds.

Files of hierarchies belong to the plan and are read with it, before any data.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sudare.disclosure.argus.metadata import read_argus_hierarchy
from sudare.disclosure.structure import CodeTree, Dimension
from sudare.errors import InputError
from sudare.io.formats.text_files import read_text
from sudare.sections import Section

__all__ = ["DIMENSION_KEYS", "PlannedDimension", "read_dimension", "texts_of"]

TREES = ("hierarchy", "parents", "groups", "codes")
DIMENSION_KEYS = ("column", "total", *TREES, "lead", "missing")
MAX_DEPTH = 50


@dataclass(frozen=True, eq=False)
class PlannedDimension:
    """A spanning variable as a plan has it.

    Attributes:
        name: of the dimension, as the published table calls it.
        column: of the data.
        total: what the total is called.
        tree: the codes; None if they are those that the data holds.
        missing: codes for missing values; cells about them are never unsafe.
        told: where the codes come from, as the report tells it.
    """

    name: str
    column: str
    total: str
    tree: Dimension | None
    missing: tuple[str, ...]
    told: str

    def resolve(self, codes: Iterable[str]) -> Dimension:
        """The dimension, given the codes that the data holds.

        Example:
            >>> PlannedDimension("sex", "sex", "all", None, ("9",), "data").resolve(["m", "9", "f", "all"]).codes
            ('all', 'f', 'm', '9')
        """
        tree = self.tree
        if tree is None:
            found = sorted(set(codes) - {self.total, *self.missing})
            tree = Dimension.flat(self.name, found, self.total)
        return tree.extended(self.missing)


def read_dimension(section: Section, name: str, base: Path) -> PlannedDimension:
    """Read ``[dimensions.NAME]``.

    Args:
        section: of the dimension.
        name: of the dimension.
        base: the folder that files are meant from.

    Raises:
        PlanError: if it says what cannot be.
        InputError: if a file is no hierarchy; the message names file and line.
    """
    column, total = section.text("column", name), section.text("total", "Total")
    missing = texts_of(section, "missing") if section.has("missing") else ()
    given = [key for key in TREES if section.has(key)]
    if len(given) > 1:
        section.refuse(
            given[1],
            f"cannot stand beside '{given[0]}': a dimension has one tree of codes",
            f"は「{given[0]}」と同時に指定できません。次元の階層は一つです",
        )
    if section.has("lead") and given != ["hierarchy"]:
        section.refuse(
            "lead", "is for a .hrc file named by 'hierarchy'", "は「hierarchy」の .hrc ファイルでだけ使います"
        )
    tree, told = None, "data"
    if given == ["hierarchy"]:
        lead, file = section.text("lead", "@"), base / section.text("hierarchy")
        tree, told = read_argus_hierarchy(file, name, lead=lead, total=total), file.name
    elif given == ["parents"]:
        file = base / section.text("parents")
        tree, told = _read_parents(file, name, total), file.name
    elif given == ["groups"]:
        nested = _nested(section, section.mapping("groups"), 0)
        tree, told = _tree(section, "groups", name, nested, total), "groups"
    elif given == ["codes"]:
        flat: CodeTree = {code: {} for code in texts_of(section, "codes")}
        tree, told = _tree(section, "codes", name, flat, total), "codes"
    section.finish()
    if tree is not None and total in missing:
        section.refuse("missing", "names the total", "に合計のコードは書けません")
    return PlannedDimension(name, column, total, tree, missing, told)


def texts_of(section: Section, key: str) -> tuple[str, ...]:
    """A list of different texts, none of them empty."""
    items = section.items(key)
    if not items or not all(isinstance(item, str) and item.strip() for item in items) or len(set(items)) < len(items):
        section.refuse(
            key, "must be a list of different texts, at least one", "は、異なる文字列のリストです（一つ以上）"
        )
    return tuple(items)


def _nested(section: Section, groups: Mapping[str, Any], depth: int) -> CodeTree:
    """Groups as nested mappings; a list of texts ends a branch."""
    found: CodeTree = {}
    for code, below in groups.items():
        if isinstance(below, dict) and depth < MAX_DEPTH:
            found[code] = _nested(section, below, depth + 1)
        elif isinstance(below, list) and all(isinstance(item, str) and item.strip() for item in below):
            found[code] = {item: {} for item in below}
            if len(found[code]) < len(below):
                section.refuse(
                    "groups", f"has a code twice below '{code:.60}'", f"の「{code:.60}」に同じコードが二度あります"
                )
        else:
            section.refuse(
                "groups",
                f"must have a list of codes, or further groups, for '{code:.60}'",
                f"の「{code:.60}」には、コードのリストか、さらに下のグループを書いてください",
            )
    return found


def _tree(section: Section, key: str, name: str, nested: Mapping[str, Any], total: str) -> Dimension:
    try:
        return Dimension.of_tree(name, nested, total)
    except InputError as error:
        section.refuse(key, f"is no tree: {error.english}", f"が木になっていません: {error.japanese}")


def _read_parents(file: Path, name: str, total: str) -> Dimension:
    """A CSV file of codes and what each belongs to; an empty parent, or the total, is right below the total."""
    rows = list(csv.reader(read_text(file).splitlines()))
    if not rows or [field.strip() for field in rows[0]] != ["code", "parent"]:
        raise _wrong(file, 1, "must be the header 'code,parent'", "は見出し「code,parent」でなければなりません")
    parent_of: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(field.strip() for field in row):
            continue
        if len(row) != 2 or not row[0].strip():
            raise _wrong(file, number, "must have a code and its parent", "にはコードと親コードが必要です")
        code, parent = row[0].strip(), row[1].strip() or total
        if code in parent_of or code == total:
            raise _wrong(file, number, f"names '{code:.60}' for a second time", f"のコード「{code:.60}」は二度目です")
        parent_of[code], lines[code] = parent, number
    for code, parent in parent_of.items():
        if parent != total and parent not in parent_of:
            raise _wrong(
                file,
                lines[code],
                f"puts '{code:.60}' below '{parent:.60}', which has no line of its own: the hierarchy has a gap",
                f"の「{code:.60}」の親「{parent:.60}」の行がありません（階層に抜けがあります）",
            )
    children: dict[str, list[str]] = {}
    for code, parent in parent_of.items():
        children.setdefault(parent, []).append(code)
    codes, parents = [], []
    waiting = [(total, -1)]
    while waiting:
        code, above = waiting.pop()
        codes.append(code)
        parents.append(above)
        waiting += [(child, len(codes) - 1) for child in reversed(children.get(code, []))]
    if len(codes) != len(parent_of) + 1:
        lost = next(code for code in parent_of if code not in set(codes))
        raise _wrong(
            file,
            lines[lost],
            f"puts '{lost:.60}' into a circle that never reaches the total",
            f"の「{lost:.60}」は循環していて、合計に届きません",
        )
    return Dimension(name, tuple(codes), tuple(parents))


def _wrong(file: Path, line: int, english: str, japanese: str) -> InputError:
    return InputError(f"Line {line} of '{file.name}' {english}.", f"'{file.name}' の {line} 行目{japanese}。")
