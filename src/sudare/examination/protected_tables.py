"""A table protected by rules of disclosure control as an attacker reads it: published counts, and bounds of the hidden ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare.disclosure.structure import Dimension
from sudare.examination.subjects import Subject
from sudare.examination.views import IncompatibleTables, TableView, ViewCell
from sudare.releases.kinds.tables.attacking.knowledge import knowledge_of
from sudare.releases.kinds.tables.methods.registry import cell_method_of_document, method_of_document
from sudare.releases.kinds.tables.published_table import read_published_tables

__all__ = ["is_of_counts", "view_of_protected_table"]

MAX_CELLS = 20_000
USUAL_THRESHOLD = 3


def is_of_counts(subject: Subject) -> bool:
    """Whether the folder holds tables of counts of people, and not of amounts."""
    value = subject.document.get("value")
    return isinstance(value, Mapping) and bool(value.get("is_count"))


def view_of_protected_table(subject: Subject) -> TableView:
    """The tables of a folder as one: cells of all its tables, over the leaves of their dimensions.

    Where cells below a threshold are hidden and no others, anyone who reads the report knows that a hidden count lies below it.

    Raises:
        IncompatibleTables: if they are no tables of counts, or have too many cells.
    """
    if method_of_document(subject.document).is_of_meshes:
        raise IncompatibleTables(
            Words("Merged meshes are attacked by themselves.", "合算したメッシュは単独で攻撃します。")
        )
    if not is_of_counts(subject):
        raise IncompatibleTables(
            Words(f"'{subject.name}' is no table of counts.", f"「{subject.name}」は度数の表ではありません。")
        )
    document = subject.document
    published = read_published_tables(subject.folder, document)
    if published.system.size > MAX_CELLS:
        raise IncompatibleTables(
            Words(
                f"'{subject.name}' has {published.system.size:,} cells, more than the {MAX_CELLS:,} that are looked at.",
                f"「{subject.name}」のセル数 {published.system.size:,} が上限 {MAX_CELLS:,} を超えています。",
            ),
            is_open=True,
        )
    known = knowledge_of(published, document)
    threshold = _threshold(document)
    below = threshold - 1 if _hides_small_cells_only(document) else None
    exact = cell_method_of_document(document).shows_true_values
    cells: dict[int, ViewCell] = {}
    leaves: dict[str, tuple[str, ...]] = {}
    for table in published.system.tables:
        under = [_leaves_under(dimension) for dimension in table.dimensions]
        for dimension, own in zip(table.dimensions, under, strict=True):
            leaves[dimension.name] = own[0]
        for places in np.ndindex(table.cells.shape):
            cell = int(table.cells[places])
            if cell in cells:
                continue
            named = [
                (dimension.name, dimension.codes[place], own[place])
                for dimension, place, own in zip(table.dimensions, places, under, strict=True)
                if place
            ]
            where = {name: frozenset(own) for name, _, own in named}
            label = ", ".join(f"{name} {code}" for name, code, _ in named) or "total"
            low, high = int(known.low[cell]), float(known.high[cell])
            count = int(published.values[cell]) if exact and not published.hidden[cell] else None
            if published.hidden[cell] and below is not None:
                low, high = 1, below
            cells[cell] = ViewCell(where, low, None if math.isinf(high) else int(high), count, label)
    return TableView(subject.name, leaves, tuple(cells.values()), threshold=threshold)


def _leaves_under(dimension: Dimension) -> list[tuple[str, ...]]:
    """The leaves below each code, itself if it is one."""
    found: list[list[str]] = [[] for _ in dimension.codes]
    for leaf in dimension.leaves:
        for place in dimension.path(leaf):
            found[place].append(dimension.codes[leaf])
    return [tuple(own) for own in found]


def _threshold(document: Mapping[str, Any]) -> int:
    """The least number of people that a count may have, if the report tells one."""
    for rule in document.get("rules") or ():
        if isinstance(rule, Mapping) and rule.get("name") == "threshold" and type(rule.get("minimum")) is int:
            return max(2, int(rule["minimum"]))
    return USUAL_THRESHOLD


def _hides_small_cells_only(document: Mapping[str, Any]) -> bool:
    names = [rule.get("name") for rule in document.get("rules") or () if isinstance(rule, Mapping)]
    settings = document.get("settings") or {}
    return cell_method_of_document(document).hides_unsafe_cells_only(settings) and names == ["threshold"]
