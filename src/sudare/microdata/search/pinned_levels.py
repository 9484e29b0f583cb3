"""Levels that were decided beforehand: a search then looks at the other columns only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.search.anonymizing import Search

__all__ = ["check_pins", "pinned_columns", "pinned_hierarchies", "with_pins"]


def check_pins(pins: Mapping[str, int], hierarchies: Mapping[str, Generalization], function: str) -> None:
    """Refuse a level that a hierarchy does not have.

    Raises:
        ParameterError: names the column.
    """
    for name, level in pins.items():
        if name not in hierarchies or not 0 <= level <= hierarchies[name].height:
            raise ParameterError(
                "levels",
                function,
                Words(f"a level that the hierarchy of {name!r} has", f"{name!r} の階層にある段階"),
                level,
            )


def pinned_hierarchies(hierarchies: Mapping[str, Generalization], pins: Mapping[str, int]) -> dict[str, Generalization]:
    """The hierarchies to search in: of a pinned column, the groups of its level and nothing above.

    Example:
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> age = Generalization.of_paths("age", [("34", "<50", "*"), ("45", "<50", "*"), ("66", ">=50", "*")])
        >>> pinned_hierarchies({"age": age}, {"age": 1})["age"].levels
        (('<50', '>=50'),)
    """
    return {
        name: hierarchy
        if name not in pins
        else Generalization(
            name,
            (hierarchy.levels[pins[name]],),
            (np.arange(len(hierarchy.levels[pins[name]]), dtype=np.int32),),
        )
        for name, hierarchy in hierarchies.items()
    }


def pinned_columns(
    records: Records, hierarchies: Mapping[str, Generalization], pins: Mapping[str, int]
) -> list[CodedColumn]:
    """The pinned columns of a table, on their levels.

    Raises:
        InputError: if a value is not in its hierarchy.
    """
    return [hierarchies[name].generalized(records.column(name), level) for name, level in pins.items()]


def with_pins(search: Search, pins: Mapping[str, int]) -> Search:
    """What a search found, with the levels that it was given."""
    others = tuple(replace(one, levels=_pinned(one.levels, pins)) for one in search.runners_up)
    return replace(search, levels=_pinned(search.levels, pins), runners_up=others)


def _pinned(levels: Mapping[str, int], pins: Mapping[str, int]) -> dict[str, int]:
    return {name: pins.get(name, level) for name, level in levels.items()}
