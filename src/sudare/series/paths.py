"""Where people are counted: their rows, bounded so that no path has more moves than the plan allows.

Everybody is counted where their row says, until their moves are used up; then they stay where they were last counted. The
rule looks at one person's rows alone, so that bounding costs nothing. Moves are counted at each level of the tree: a move
inside a city is no move between regions. As far as finer levels have more moves than a coarser one, these keep back one for each
move that is left there: whoever may leave the region may also leave the cell.

Proof: ``paths.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np

from sudare.errors import ParameterError
from sudare.kernels.series.paths import NEVER, advance_paths
from sudare.parameters import describe_array, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = NDArray[np.int64]

__all__ = ["Caps", "LevelChanges", "Paths"]

MAX_CAP = 2**15 - 1
MAX_TICK = 2**31 - 1
DENSE = 4
"""Changes are counted cell by cell where there are at most so many cells for each of them; else they are sorted."""


@dataclass(frozen=True, kw_only=True)
class Caps:
    """How often a person may move in a window.

    Args:
        widths: how many cells a node of each level has, from the coarsest level to the cells themselves, whose width is 1.
        moves: how many moves a path may have at each level. A level never has fewer than a coarser one.
        absent_after: after so many ticks without a row somebody counts as absent.

    Raises:
        ParameterError: if a number is out of range or the levels do not fit together.

    Example:
        >>> Caps(widths=(100, 10, 1), moves=(1, 2, 4)).moves
        (1, 2, 4)
    """

    widths: tuple[int, ...]
    moves: tuple[int, ...]
    absent_after: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "widths", _read_widths(self.widths))
        object.__setattr__(self, "moves", _read_moves(self.moves, len(self.widths)))
        ticks = exact_integer(
            self.absent_after,
            "absent_after",
            "Caps",
            "a whole number from 1 to 2**31 - 1",
            smallest=1,
            largest=MAX_TICK,
        )
        object.__setattr__(self, "absent_after", ticks)


@dataclass(frozen=True, eq=False)
class LevelChanges:
    """The net changes of the nodes of one level at one tick.

    Attributes:
        nodes: that changed, ascending.
        changes: those who came minus those who left; none is 0.
    """

    nodes: Cells
    changes: Cells


class Paths:
    """Where each of a number of people is counted, and how many moves they have left.

    Args:
        caps: how often they may move.
        people: how many there are so far.

    Example:
        >>> import numpy as np
        >>> paths = Paths(Caps(widths=(10, 1), moves=(0, 1)), people=2)
        >>> [level.changes.tolist() for level in paths.advance(0, np.array([3, 14]))]
        [[1, 1], [1, 1]]
        >>> [level.nodes.tolist() for level in paths.advance(1, np.array([4, 5]))]  # the second would leave the region
        [[], [3, 4]]
    """

    def __init__(self, caps: Caps, people: int = 0) -> None:
        self.caps = caps
        self.cells = np.zeros(0, dtype=np.int64)
        self.left = np.zeros((0, len(caps.widths)), dtype=np.int16)
        self.last_seen = np.zeros(0, dtype=np.int32)
        self.last_tick = -1
        self.grow(people)

    def grow(self, people: int) -> None:
        """Make room for people who were not there before."""
        number = exact_integer(people, "people", "Paths.grow", "at least as many as before", smallest=len(self.cells))
        more = number - len(self.cells)
        self.cells = np.append(self.cells, np.full(more, NEVER, dtype=np.int64))
        fresh = np.tile(np.array(self.caps.moves, dtype=np.int16), (more, 1))
        self.left = np.concatenate([self.left, fresh.reshape(more, len(self.caps.widths))])
        self.last_seen = np.append(self.last_seen, np.full(more, -1, dtype=np.int32))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Everything that has to be kept to go on later; see `restored`."""
        small = not self.cells.size or int(self.cells.max()) < 2**31
        return {
            "cells": self.cells.astype(np.int32) if small else self.cells,
            "left": self.left,
            "last_seen": self.last_seen,
        }

    @classmethod
    def restored(cls, caps: Caps, last_tick: int, arrays: Mapping[str, NDArray[np.generic]]) -> Self:
        """Paths as they were when `arrays` was called.

        Args:
            caps: the same.
            last_tick: to which they had been taken.
            arrays: that were kept.

        Raises:
            ValueError: if the arrays do not belong together.
        """
        paths = cls(caps)
        cells, left = arrays["cells"].astype(np.int64), arrays["left"].astype(np.int16)
        last_seen = arrays["last_seen"].astype(np.int32)
        if left.shape != (cells.size, len(caps.widths)) or last_seen.shape != cells.shape:
            raise ValueError("the arrays of paths do not belong together")
        paths.cells, paths.left, paths.last_seen, paths.last_tick = cells, left, last_seen, last_tick
        return paths

    def advance(self, tick: int, wished: Cells, opted_out: NDArray[np.bool_] | None = None) -> tuple[LevelChanges, ...]:
        """Take everybody one tick further.

        Args:
            tick: its number, above that of the tick before.
            wished: the cell of each person's row; below 0 for somebody without a row.
            opted_out: who is no longer counted from now on.

        Returns:
            The net changes of each level, coarsest first.

        Raises:
            ParameterError: if an argument is not of this kind.
        """
        number = exact_integer(
            tick, "tick", "Paths.advance", f"above {self.last_tick}", smallest=self.last_tick + 1, largest=MAX_TICK
        )
        wishes = np.ascontiguousarray(wished)
        if wishes.shape != self.cells.shape or wishes.dtype != np.int64:
            raise ParameterError("wished", "Paths.advance", f"{len(self.cells)} cells as int64", describe_array(wishes))
        gone = np.zeros(len(wishes), dtype=np.bool_) if opted_out is None else np.ascontiguousarray(opted_out)
        if gone.shape != wishes.shape or gone.dtype != np.bool_:
            raise ParameterError("opted_out", "Paths.advance", "True or False for each person", describe_array(gone))
        before, after = np.empty_like(wishes), np.empty_like(wishes)
        widths, moves = (np.array(numbers, dtype=np.int64) for numbers in (self.caps.widths, self.caps.moves))
        absent_after = self.caps.absent_after
        count = advance_paths(
            self.cells, self.left, self.last_seen, wishes, gone, widths, moves, number, absent_after, before, after
        )
        self.last_tick = number
        return _net_changes(before[:count], after[:count], self.caps.widths)


def _net_changes(before: Cells, after: Cells, widths: Sequence[int]) -> tuple[LevelChanges, ...]:
    """Those who came to each node of each level minus those who left it; whoever stays in a node has not changed it."""
    left, entered = before[before >= 0], after[after >= 0]
    last = max(left.max(initial=0), entered.max(initial=0)) + 1
    if last <= DENSE * (left.size + entered.size):
        cells = np.arange(last)
        sums = np.bincount(entered, minlength=last) - np.bincount(left, minlength=last)
    else:
        cells, places = np.unique(np.concatenate([left, entered]), return_inverse=True)
        sums = np.bincount(places[left.size :], minlength=cells.size) - np.bincount(
            places[: left.size], minlength=cells.size
        )
    cells, sums = cells[sums != 0], sums[sums != 0]
    return tuple(_of_nodes(cells, sums, width) for width in widths)


def _of_nodes(cells: Cells, sums: Cells, width: int) -> LevelChanges:
    """The net changes of nodes of so many cells each; cells ascend."""
    if width == 1 or not cells.size:
        return LevelChanges(cells, sums)
    nodes = cells // width
    starts = np.flatnonzero(np.append(True, nodes[1:] != nodes[:-1]))
    changes = np.add.reduceat(sums, starts)
    changed = changes != 0
    return LevelChanges(nodes[starts][changed], changes[changed])


def _read_widths(widths: Sequence[int]) -> tuple[int, ...]:
    requirement = "numbers of cells that fall from level to level, each a multiple of the next, down to 1"
    if not isinstance(widths, Sequence) or isinstance(widths, str) or not widths:
        raise ParameterError("widths", "Caps", requirement, shown(widths))
    numbers = tuple(exact_integer(width, "widths", "Caps", requirement, smallest=1, largest=2**62) for width in widths)
    if numbers[-1] != 1 or any(coarse <= fine or coarse % fine for coarse, fine in pairwise(numbers)):
        raise ParameterError("widths", "Caps", requirement, numbers)
    return numbers


def _read_moves(moves: Sequence[int], levels: int) -> tuple[int, ...]:
    requirement = f"{levels} whole numbers from 0 to {MAX_CAP}, none below the one before it"
    if not isinstance(moves, Sequence) or isinstance(moves, str) or len(moves) != levels:
        raise ParameterError("moves", "Caps", requirement, shown(moves))
    numbers = tuple(exact_integer(cap, "moves", "Caps", requirement, smallest=0, largest=MAX_CAP) for cap in moves)
    if any(coarse > fine for coarse, fine in pairwise(numbers)):
        raise ParameterError("moves", "Caps", requirement, numbers)
    return numbers
