"""One tick of everybody's path: who moves, who is frozen, who leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import kernel

__all__ = ["NEVER", "NOWHERE", "advance_paths"]

NOWHERE = -1
"""The cell of somebody who is not counted now."""

NEVER = -2
"""The cell of somebody who was never counted in this window."""

GONE = -3
"""The cell of somebody who left for good."""


@kernel(
    "int64(int64[::1], int16[:, ::1], int32[::1], int64[::1], boolean[::1], int64[::1], int64[::1], int64, int64, int64[::1], "
    "int64[::1])"
)
def advance_paths(
    cells: Any,
    left: Any,
    last_seen: Any,
    wished: Any,
    opted_out: Any,
    widths: Any,
    moves: Any,
    tick: int,
    absent_after: int,
    before: Any,
    after: Any,
) -> int:
    """Apply the rule of ``series/paths.md`` to everybody.

    Args:
        cells: where each person is counted; changed in place.
        left: the moves that each person has left at each level, coarsest first; changed in place.
        last_seen: the tick of each person's last row; changed in place.
        wished: the cell of each person's row at this tick; below 0 for somebody without a row.
        opted_out: who leaves for good.
        widths: how many cells a node of each level has, coarsest first; the last is 1.
        moves: how many moves a path may have at each level.
        tick: the number of this tick.
        absent_after: ticks without a row after which somebody counts as absent.
        before: filled with the cells that were left, `NOWHERE` for an entry.
        after: filled with the cells that were entered, `NOWHERE` for an exit.

    Returns:
        How many entries of the last two are filled.
    """
    levels = widths.size
    changes = 0
    for person in range(cells.size):
        here = cells[person]
        wish = wished[person]
        if here == GONE:
            continue
        if wish >= 0:
            last_seen[person] = tick
        if opted_out[person]:
            if here >= 0:
                before[changes], after[changes] = here, NOWHERE
                changes += 1
            cells[person] = GONE
            continue
        if here == NEVER:
            if wish >= 0:
                cells[person] = wish
                before[changes], after[changes] = NOWHERE, wish
                changes += 1
            continue
        if wish < 0:
            if here >= 0 and tick - last_seen[person] >= absent_after:
                fewest = left[person, 0]
                for level in range(1, levels):
                    fewest = min(fewest, left[person, level])
                # Whoever could not come back leaves for good, which is no move.
                if fewest >= 2:
                    for level in range(levels):
                        left[person, level] -= 1
                    cells[person] = NOWHERE
                else:
                    cells[person] = GONE
                before[changes], after[changes] = here, NOWHERE
                changes += 1
            continue
        if here == wish:
            continue
        first = 0
        if here >= 0:
            while here // widths[first] == wish // widths[first]:
                first += 1
        is_frozen = False
        for level in range(first, levels):
            kept_back = np.int64(0)
            for coarser in range(first):
                kept_back = max(kept_back, min(np.int64(left[person, coarser]), moves[level] - moves[coarser]))
            if left[person, level] < 1 + kept_back:
                is_frozen = True
                break
        if is_frozen:
            continue
        for level in range(first, levels):
            left[person, level] -= 1
        cells[person] = wish
        before[changes], after[changes] = max(here, NOWHERE), wish
        changes += 1
    return changes
