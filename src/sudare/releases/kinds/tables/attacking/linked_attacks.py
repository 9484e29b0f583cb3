"""Tables that were published one after the other, put together as a reader does who has them all.

Cells are the same if their codes are and the tables are about the same value: staff and turnover of a region are different
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sudare.attacks.tables.solver import SolverFailure
from sudare.errors import InputError
from sudare.releases.kinds.tables.attacking.knowledge import (
    Knowledge,
    TrueCells,
    completed,
    contradiction,
    knowledge_of,
    read_report,
    truth_of,
)
from sudare.releases.kinds.tables.confidential import read_confidential
from sudare.releases.kinds.tables.methods.registry import method_of_document
from sudare.releases.kinds.tables.plain_values import MAX_UNITS
from sudare.releases.kinds.tables.published_meshes import read_published_meshes
from sudare.releases.kinds.tables.published_table import read_published_tables

__all__ = ["ReaderView", "combined", "find_comparable", "require_same_kind", "view_of", "view_of_earlier"]

MAX_COMPLETED = 800
"""Up to so many cells that are not known, tables without the holder's file are searched for contradictions beforehand."""


@dataclass(frozen=True, eq=False)
class ReaderView:
    """What is known of some tables, and what is compared with it afterwards.

    Attributes:
        knowledge: of a reader.
        truth: about the same cells.
    """

    knowledge: Knowledge
    truth: TrueCells


def view_of(folder: Path, document: Mapping[str, Any]) -> ReaderView:
    """What is known of the tables of a folder, in the units of its holder where their file is there.

    Raises:
        InputError: if the folder is not what its report describes.
    """
    published = read_published_tables(folder, document)
    holder = read_confidential(folder, published)
    if holder is not None:
        published = published.in_units(holder.decimals)
    return ReaderView(knowledge_of(published, document), truth_of(published, holder))


def view_of_earlier(places: Sequence[Path], own: ReaderView, document: Mapping[str, Any]) -> ReaderView:
    """What the tables that were published before tell together.

    Args:
        places: their folders, at least one.
        own: the table that comes now.
        document: its report.

    Raises:
        InputError: if one cannot be compared with it, or contradicts it.
    """
    found: ReaderView | None = None
    for place in places:
        found = _with_another(found, own, document, place)
    if found is None:
        raise InputError("There are no earlier tables.", "以前の表がありません。")
    return found


def find_comparable(
    folder: Path, document: Mapping[str, Any], named: Sequence[Path], noted: Sequence[Path]
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Which of the folders that a ledger knows can be attacked together with a table, and which cannot.

    Args:
        folder: with the table that comes now.
        document: its report.
        named: folders that are compared in any case.
        noted: those of the ledger.

    Raises:
        InputError: if one of the named cannot be compared.
    """
    usable: list[Path] = []
    left_out: list[Path] = []
    is_of_meshes = method_of_document(document).is_of_meshes
    own = None if is_of_meshes or not (named or noted) else view_of(folder, document)
    found: ReaderView | None = None
    for place in (*named, *noted):
        try:
            if own is None:
                before = read_report(place)
                require_same_kind(document, before, place)
                read_published_meshes(place, before)
            else:
                found = _with_another(found, own, document, place)
        except InputError:
            if place in named:
                raise
            left_out.append(place)
        else:
            usable.append(place)
    return tuple(usable), tuple(left_out)


def require_same_kind(document: Mapping[str, Any], other: Mapping[str, Any], place: Path) -> None:
    """Refuse an earlier table that is about something else.

    Args:
        document: report of the table that comes now.
        other: of the earlier one.
        place: its folder.

    Raises:
        InputError: if the kind or the value differs.
    """
    if _kind(document) != _kind(other):
        raise InputError(
            f"'{place}' is about another value, or of another kind, and cannot be compared with this table. Name under [earlier] "
            "only tables of the same value.",
            f"「{place}」は値または種類が異なるため、この表とは比べられません。[earlier] には同じ値の表だけを指定してください。",
        )


def combined(one: ReaderView, other: ReaderView, place: Path | None = None) -> ReaderView:
    """All that is known from two views; a cell of the same codes is the same cell. What had to stay uncertain must stay so.

    Args:
        one: its cells keep their numbers.
        other: of the same value.
        place: where the other one is, for the error.

    Raises:
        InputError: if they contradict each other.
    """
    knowledge, truth, theirs, their_truth = one.knowledge, one.truth, other.knowledge, other.truth
    digits = max(knowledge.decimals, theirs.decimals)
    unit, their_unit = 10 ** (digits - knowledge.decimals), 10 ** (digits - theirs.decimals)
    for view, factor in ((one, unit), (other, their_unit)):
        ends = (view.knowledge.low, view.truth.values, view.truth.lower, view.truth.upper)
        if max(int(np.abs(end).max(initial=0)) for end in ends) * factor > MAX_UNITS:
            raise InputError(
                "The tables have too many digits to be compared.", "表の桁数が多すぎるため、比べられません。"
            )
    system = knowledge.system.linked_with(theirs.system)
    places, own = knowledge.system.places_of(theirs.system), slice(0, knowledge.system.size)
    low, high = np.zeros(system.size, dtype=np.int64), np.full(system.size, np.inf)
    low[own], high[own] = knowledge.low * unit, knowledge.high * unit
    low[places] = np.maximum(low[places], theirs.low * their_unit)
    high[places] = np.minimum(high[places], theirs.high * their_unit)
    values, lower, upper = (np.zeros(system.size, dtype=np.int64) for _ in range(3))
    known, targets = np.zeros(system.size, dtype=np.bool_), np.zeros(system.size, dtype=np.bool_)
    values[places], known[places] = their_truth.values * their_unit, their_truth.known
    differs = known[own] & truth.known & (values[own] != truth.values * unit)
    values[own] = np.where(truth.known, truth.values * unit, values[own])
    known[own] |= truth.known
    targets[own], lower[own], upper[own] = truth.targets, truth.lower * unit, truth.upper * unit
    targets[places] |= their_truth.targets
    lower[places] = np.maximum(lower[places], their_truth.lower * their_unit)
    upper[places] = np.maximum(upper[places], their_truth.upper * their_unit)
    wrong = np.concatenate([np.flatnonzero(low > high), np.flatnonzero(differs)])
    if wrong.size:
        raise contradiction(system.label(int(wrong[0])), place)
    return ReaderView(Knowledge(system, low, high, digits), TrueCells(values, known, targets, lower, upper))


def _with_another(found: ReaderView | None, own: ReaderView, document: Mapping[str, Any], place: Path) -> ReaderView:
    before = read_report(place)
    require_same_kind(document, before, place)
    theirs = view_of(place, before)
    earlier = theirs if found is None else combined(found, theirs, place)
    together = combined(own, earlier, place)
    open_cells = int(together.knowledge.open.sum())
    if not together.truth.known.all() and open_cells <= MAX_COMPLETED:
        with suppress(SolverFailure):
            completed(together.knowledge, together.truth)
    return earlier


def _kind(document: Mapping[str, Any]) -> tuple[object, ...]:
    if method_of_document(document).is_of_meshes:
        return ("meshes",)
    value = document.get("value")
    return (value.get("name"), value.get("is_count")) if isinstance(value, Mapping) else ()
