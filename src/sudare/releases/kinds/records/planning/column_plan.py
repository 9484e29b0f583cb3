"""What a plan says of each column: whether it is published, who may know it, and which values it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from sudare.domain import Bins
from sudare.errors import ParameterError
from sudare.releases.kinds.records.planning.hierarchy_plan import (
    HIERARCHY_KEYS,
    HierarchyRule,
    numbers_of,
    read_rule,
    refused,
)
from sudare.sections import Section, suggest

__all__ = ["COLUMN_KEYS", "ROLES", "PlannedColumn", "column_of", "columns_of", "read_columns_section", "share_of"]

ROLES = ("identifier", "quasi-identifier", "sensitive", "other")
COLUMN_KEYS = ("role", *HIERARCHY_KEYS, "missing", "level", "values", "bins")


@dataclass(frozen=True, eq=False)
class PlannedColumn:
    """What a plan says of a column.

    Attributes:
        name: as the header has it.
        role: one of ROLES; identifiers are never published.
        rule: where its coarser values come from.
        missing: what a missing value is called on coarser levels; it is a value of its own for synthetic people.
        level: how coarse it is published, where that is decided beforehand.
        values: all that may stand in it, known without the data.
        bins: the same for numbers.
    """

    name: str
    role: str
    rule: HierarchyRule | None = None
    missing: str | None = None
    level: int | None = None
    values: tuple[str, ...] | None = None
    bins: Bins | None = None


def read_columns_section(top: Section, file: str, base: Path) -> tuple[PlannedColumn, ...]:
    """The columns of a plan, in the order in which they stand there.

    Args:
        top: the plan.
        file: its name.
        base: the folder that files are meant from.

    Raises:
        PlanError: if there are none, or one says what cannot be.
        InputError: if a hierarchy file is not one; names file and line.
    """
    given = top.mapping("columns")
    if not given:
        top.refuse(
            "columns",
            "is missing: write a section [columns.NAME] for each column, with its role",
            "がありません。列ごとに [columns.列名] を作り、role を書いてください",
        )
    holder = Section(given, "columns", file, tuple(given))
    return tuple(_read_column(holder.section(name, COLUMN_KEYS), name, base) for name in given)


def _read_column(section: Section, name: str, base: Path) -> PlannedColumn:
    role = section.choice("role", ROLES)
    missing = section.text("missing") if section.has("missing") else None
    rule = read_rule(section, name, base, missing)
    level = section.whole("level") if section.has("level") else None
    values = _read_values(section) if section.has("values") else None
    bins = _read_bins(section, name) if section.has("bins") else None
    section.finish()
    if role == "identifier" and (rule or values or bins):
        section.refuse(
            "role",
            'is "identifier": the column is left out, so nothing else can be said of it',
            'が "identifier" の列は公開されないため、ほかの指定はできません',
        )
    if values and bins:
        section.refuse("bins", "cannot stand beside 'values'", "は「values」と同時に指定できません")
    return PlannedColumn(name, role, rule, missing, level, values, bins)


def _read_values(section: Section) -> tuple[str, ...]:
    values = section.items("values")
    if not values or not all(
        isinstance(value, (str, int, Decimal)) and not isinstance(value, bool) for value in values
    ):
        section.refuse("values", 'must be a list of values, such as ["f", "m"]', 'は ["f", "m"] のような値のリストです')
    texts = tuple(str(value) for value in values)
    if len(set(texts)) < len(texts):
        section.refuse("values", "has a value twice", "に同じ値が二つあります")
    return texts


def _read_bins(section: Section, name: str) -> Bins:
    edges = numbers_of(section, "bins")
    try:
        return Bins(name, tuple(edge if isinstance(edge, int) else float(edge) for edge in edges))
    except ParameterError as error:
        refused(section, error, "bins")


def columns_of(section: Section, key: str, columns: Mapping[str, PlannedColumn]) -> tuple[str, ...]:
    """A list of different columns that are published."""
    names = section.texts(key)
    if len(set(names)) < len(names):
        section.refuse(key, "names a column twice", "に同じ列が二つあります")
    return tuple(column_of(section, key, name, columns) for name in names)


def column_of(section: Section, key: str, name: str, columns: Mapping[str, PlannedColumn]) -> str:
    """The name of a column that is published; tells the nearest if there is none."""
    if name not in columns:
        hint = suggest(name, columns)
        section.refuse(
            key,
            f"names '{name:.60}', which is no column of this plan that is published.{hint.english}",
            f"の「{name:.60}」は、この計画で公開する列ではありません。{hint.japanese}",
        )
    return name


def share_of(section: Section, key: str) -> Fraction:
    """A share from 0 to 1, as a decimal or as text such as "1/10"."""
    try:
        share = Fraction(section.text(key)) if section.is_text(key) else Fraction(section.number(key))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        section.refuse(
            key, 'must be a share from 0 to 1, such as 0.05 or "1/20"', 'は 0 から 1 の割合です（例: 0.05、"1/20"）'
        )
    return share
