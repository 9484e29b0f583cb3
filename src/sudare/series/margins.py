"""Margins of a series: how many people there are of each sex or age at a tick, measured by themselves and met by its table.

Cells of a table with attributes hold few people, and noise outweighs them. Counts that cannot be negative then move people from
large categories to small ones, a little in every cell; over all cells this is more than chance. The sums of a category, measured
by themselves, have no bias: people are moved between categories within each place until the table has them.

Proof: ``mechanism.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.refine.margins import meet_margin_of_lines
from sudare.refine.trees import Words
from sudare.series.paths import LevelChanges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["changes_of_margins", "meet_measured_margins"]


def changes_of_margins(
    domain: Domain, layout: Layout, axes: Sequence[int], leaves: LevelChanges
) -> tuple[LevelChanges, ...]:
    """The net changes of the sums along axes, from those of the leaves of the tree.

    Args:
        domain: the cells.
        layout: how they lie along the leaves.
        axes: whose sums are measured.
        leaves: what changed.
    """
    if not axes:
        return ()
    places = domain.places_of(layout.to_raster(leaves.nodes.astype(np.uint64)))
    found = []
    for axis in axes:
        sums = np.zeros(domain.shape[axis], dtype=np.int64)
        np.add.at(sums, places[axis], leaves.changes)
        changed = np.flatnonzero(sums)
        found.append(LevelChanges(changed, sums[changed]))
    return tuple(found)


def meet_measured_margins(table: CountTable, margins: Mapping[int, Values], words: Words) -> CountTable:
    """The table with the margins that were measured, as far as its total allows.

    People are moved along one axis after the other, so that the sums over it, and with them all places and the margins of
    other axes, stay as they are. Time and memory are in proportion to the places that have somebody.

    Args:
        table: whole numbers >= 0.
        margins: the estimated sums of each axis.
        words: gives random words.
    """
    domain = table.domain
    for axis, told in margins.items():
        if not table.keys.size:
            break
        stride = np.uint64(np.prod(domain.shape[axis + 1 :], dtype=np.int64))
        place = domain.places_of(table.keys)[axis]
        firsts, rows = np.unique(table.keys - place.astype(np.uint64) * stride, return_inverse=True)
        lines = np.zeros((firsts.size, domain.shape[axis]), dtype=np.int64)
        lines[rows, place] = table.counts
        moved = meet_margin_of_lines(lines, told, words)
        row, column = np.nonzero(moved)
        keys = firsts[row] + column.astype(np.uint64) * stride
        table = CountTable.from_unique_cells(domain, keys, moved[row, column])
    return table
