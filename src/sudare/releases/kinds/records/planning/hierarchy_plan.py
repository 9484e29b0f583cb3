"""How a plan says what a column's coarser values are: a file, or a rule such as intervals, months or masked letters.

A rule gives the groups of a value from the value alone. So it can be applied to the values that the data happens to hold, and
still says nothing about them. A mask is the exception: how many levels it has is a matter of how long the texts are. Where
nothing may depend on the data, the plan says how many there are (`HierarchyRule.build_to`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

from sudare.bilingual import Words
from sudare.domain import mesh_codes, mesh_level
from sudare.errors import InputError, ParameterError
from sudare.microdata.hierarchies.builders import (
    DATE_STEPS,
    date_hierarchy,
    flat_hierarchy,
    grouped_hierarchy,
    interval_hierarchy,
    masked_hierarchy,
    mesh_hierarchy,
)
from sudare.microdata.hierarchies.files import read_hierarchy
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn
from sudare.sections import Section
from sudare.storage.hashes import hash_of_file

__all__ = [
    "HIERARCHY_KEYS",
    "RULE_KEYS",
    "HierarchyRule",
    "hierarchy_of",
    "numbers_of",
    "read_rule",
    "refused",
]

NAME_MISSING = Words(
    " Name missing values with 'missing' in the plan, or fill them in.",
    "計画の「missing」で欠損値に名前を付けるか、値を補ってください。",
)

HIERARCHY_KEYS = ("hierarchy", "intervals", "dates", "mesh", "mask", "groups", "flat")
RULE_KEYS = {
    "intervals": ("widths", "edges", "origin", "lowest", "highest", "whole"),
    "dates": ("steps",),
    "mesh": ("level", "coarser"),
    "mask": ("letter", "from_left"),
}
"""What each rule may say."""

Build = Callable[[CodedColumn], Generalization]


@dataclass(frozen=True, eq=False)
class HierarchyRule:
    """Where the coarser values of a column come from.

    Attributes:
        kind: one of HIERARCHY_KEYS.
        told: as the report tells it: the name of the file, or the kind.
        build: the hierarchy for a column of the data.
        height: how many levels it has above the values, if that does not depend on the values.
        digest: of the file, if there is one.
        of_height: the same with this many levels, where their number would else depend on the values.
        takes_for_missing: whether missing values may be called so: never as one of the groups may be called, in which they would
            be taken for values of it, or break the tree as soon as somebody is in it.
        trial: a value that the rule takes.
    """

    kind: str
    told: str
    build: Build
    height: int | None
    digest: str = ""
    of_height: Callable[[int], Build] | None = None
    takes_for_missing: Callable[[str], bool] = lambda label: True
    trial: str = "a"

    @property
    def is_fixed(self) -> bool:
        """Whether the hierarchy is the same for every data, because the plan lists its values."""
        return self.kind in ("hierarchy", "groups")

    def build_to(self, level: int) -> Build:
        """What gives a hierarchy with a level, of which neither the height nor any label depends on other values.

        A column of nobody has one, too: an error would tell that nobody is there.
        """
        build = self.build if self.of_height is None else self.of_height(max(level, 1))
        return lambda column: build(column if column.labels else CodedColumn.of(column.name, [self.trial]))


def read_rule(section: Section, name: str, base: Path, missing: str | None = None) -> HierarchyRule | None:
    """The rule of a column, or None if it has none.

    Args:
        section: of the column.
        name: of the column.
        base: the folder that a file is meant from.
        missing: what a missing value is called on coarser levels.

    Raises:
        PlanError: if there are two, or one says what cannot be.
        InputError: if a file cannot be read, or is no tree; names file and line.
    """
    given = [key for key in HIERARCHY_KEYS if section.has(key)]
    if len(given) > 1:
        section.refuse(
            given[1],
            f"cannot stand beside '{given[0]}': a column has one hierarchy",
            f"は「{given[0]}」と同時に指定できません。列の階層は一つです",
        )
    if not given:
        return None
    kind = given[0]
    if kind == "hierarchy":
        file = base / section.text(kind)
        known = read_hierarchy(file, name)
        return HierarchyRule(kind, file.name, lambda column: known, known.height, hash_of_file(file))
    if kind == "groups":
        return _read_groups(section, name, missing)
    if kind == "flat":
        if not section.flag(kind, True):
            section.refuse(kind, "must be true, or left out", "は true とするか、省略してください")
        return HierarchyRule(kind, kind, lambda column: flat_hierarchy(name, column), 1)
    rule = section.section(kind, RULE_KEYS[kind])
    readers = {"intervals": _read_intervals, "dates": _read_dates, "mesh": _read_mesh, "mask": _read_mask}
    build, trial = readers[kind](rule, name, missing)
    rule.finish()
    # A value that every rule of this kind takes, so that a mistake in it is found before any data is read.
    try:
        tried = build(CodedColumn.of(name, [trial]))
    except ParameterError as error:
        refused(rule, error)
    if kind != "mask":
        return HierarchyRule(kind, kind, build, tried.height, takes_for_missing=_is_without_digits, trial=trial)
    letter, from_left = rule.text("letter", "*"), rule.flag("from_left", False)

    def of_height(levels: int) -> Build:
        return lambda column: masked_hierarchy(
            name, column, mask=letter, from_left=from_left, missing=missing, levels=levels
        )

    def is_unmasked(label: str) -> bool:
        return letter not in label or set(label) == {letter}

    return HierarchyRule(kind, kind, build, None, of_height=of_height, takes_for_missing=is_unmasked)


def hierarchy_of(
    column: CodedColumn, build: Build, row_of: Callable[[str | None], int] | None = None
) -> Generalization:
    """The hierarchy of a column, with a place for each of its values.

    Args:
        column: of the data.
        build: what gives a hierarchy.
        row_of: tells the first row of the data with a value, where the column holds its different values only.

    Raises:
        InputError: if a value has no place; names the column and the row, and never the value.

    Example:
        >>> from sudare.microdata.hierarchies.builders import flat_hierarchy
        >>> from sudare.microdata.records import CodedColumn
        >>> hierarchy_of(CodedColumn.of("sex", ["f", "m"]), lambda column: flat_hierarchy("sex", column)).height
        1
    """
    try:
        built = build(column)
        built.places(column)
    except InputError:
        place = _first_without_place(column, build)
    except ParameterError:
        if set(column.labels) - {None}:
            raise
        if not column.labels:
            raise InputError("The data has no rows.", "データに行がありません。") from None
        place = 0  # nothing but missing values, of which the rule knows none
    else:
        return built
    is_missing = column.labels[place] is None
    row = column.first_row(place) if row_of is None else row_of(column.labels[place])
    what, what_ja = ("an empty field", "が空欄で") if is_missing else ("a value", "の値が")
    hint = NAME_MISSING if is_missing else Words.same("")
    raise InputError(
        f"The column {column.name!r} has {what} in row {row} of the data that its hierarchy has no place for. "
        f"Correct the row, or "
        f"the hierarchy.{hint.english}",
        f"列 {column.name!r} のデータ {row} 行目{what_ja}、階層に含まれていません。データか階層を直してください。{hint.japanese}",
    ) from None


def _first_without_place(column: CodedColumn, build: Build) -> int:
    """The first value that a hierarchy does not take, alone or beside the first one."""
    for place, label in enumerate(column.labels):
        few = CodedColumn.of(column.name, list(dict.fromkeys([column.labels[0], label])))
        try:
            build(few).places(few)
        except (InputError, ParameterError):
            return place
    return 0


def _read_intervals(rule: Section, name: str, missing: str | None) -> tuple[Build, str]:
    whole = rule.flag("whole", False)
    widths = numbers_of(rule, "widths") if rule.has("widths") else None
    levels = None
    if rule.has("edges"):
        levels = rule.items("edges")
        if not levels or not all(isinstance(level, list) and all(map(_is_number, level)) for level in levels):
            rule.refuse(
                "edges",
                "must be a list of numbers for each level, such as [[0, 15, 65], [0, 65]]",
                "は段階ごとの数値のリストです（例: [[0, 15, 65], [0, 65]]）",
            )
    origin = rule.number("origin") if rule.has("origin") else 0
    lowest, highest = (rule.number(key) if rule.has(key) else None for key in ("lowest", "highest"))

    def build(column: CodedColumn) -> Generalization:
        return interval_hierarchy(
            name,
            column,
            widths=widths,
            edges=levels,
            origin=origin,
            lowest=lowest,
            highest=highest,
            whole=whole,
            missing=missing,
        )

    return build, "0"


def _read_dates(rule: Section, name: str, missing: str | None) -> tuple[Build, str]:
    steps = rule.texts("steps", DATE_STEPS)
    return lambda column: date_hierarchy(name, column, steps=steps, missing=missing), "2020-01-31"


def _read_mesh(rule: Section, name: str, missing: str | None) -> tuple[Build, str]:
    level = rule.text("level")
    coarser = rule.texts("coarser") if rule.has("coarser") else None
    try:
        finest = mesh_level(level, "level")
    except ParameterError as error:
        refused(rule, error, "level")
    # Somewhere in Japan.
    trial = str(mesh_codes([53 * finest.divisions], [39 * finest.divisions], finest).tolist()[0]).zfill(finest.digits)
    return lambda column: mesh_hierarchy(name, column, level, coarser=coarser, missing=missing), trial


def _read_mask(rule: Section, name: str, missing: str | None) -> tuple[Build, str]:
    letter, from_left = rule.text("letter", "*"), rule.flag("from_left", False)
    return lambda column: masked_hierarchy(name, column, mask=letter, from_left=from_left, missing=missing), "a"


def _read_groups(section: Section, name: str, missing: str | None) -> HierarchyRule:
    groups = section.mapping("groups")
    try:
        known = grouped_hierarchy(name, groups, missing=missing)
    except ParameterError as error:
        refused(section, error, "groups")
    return HierarchyRule("groups", "groups", lambda column: known, known.height)


def numbers_of(section: Section, key: str) -> tuple[int | Decimal, ...]:
    """A list of numbers, at least one."""
    numbers = section.items(key)
    if not numbers or not all(map(_is_number, numbers)):
        section.refuse(key, "must be a list of numbers, such as [5, 10]", "は [5, 10] のような数値のリストです")
    return tuple(numbers)


def refused(section: Section, error: ParameterError, key: str | None = None) -> NoReturn:
    """Tell in the plan's own words that a function does not take what the plan says."""
    section.refuse_parameter(key or error.parameter, error)


def _is_without_digits(label: str) -> bool:
    """All groups of numbers, dates and meshes are named with digits."""
    return not any(digit in label for digit in "0123456789")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)
