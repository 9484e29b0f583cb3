"""The cells around some cells of a table: where a search looks for changes first.

The *block* of a cell is the set of cells beside and below it, which can change while no total above them does. The cells *around*
it are the nearest ones, where a step through a sum is as long as hiding the next cell is dear.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from sudare.disclosure.suppression.problem import SuppressionProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

__all__ = ["Neighbourhoods"]

MAX_BLOCK = 2_500
"""Up to this many cells beside and below a cell are looked at first: changes among them leave all totals above alone."""


class Neighbourhoods:
    """Finds the cells around others.

    Args:
        problem: the table, with the cost of hiding each cell.
        candidates: cells that may be hidden.
        usual: the usual cost of a cell.
    """

    def __init__(self, problem: SuppressionProblem, candidates: Booleans, usual: float) -> None:
        self.problem, self.candidates, self.usual = problem, candidates, usual
        equations = problem.system.equations
        self.sums: tuple[list[int], list[int]] = (equations.indptr.tolist(), equations.indices.tolist())
        self.blocks: dict[int, Integers | None] = {}
        self.steps: list[int] = problem.costs.tolist()
        self.rooms: list[int] = np.maximum(1, np.minimum(problem.up, problem.down)).tolist()

    def block(self, cells: tuple[int, ...]) -> Integers | None:
        """The cells beside and below some cells: what can change while no total above them does; None if there are many."""
        if len(cells) == 1 and cells[0] in self.blocks:
            return self.blocks[cells[0]]
        found = set(cells)
        waiting = list(cells)
        edges, members = self.sums
        allowed, is_total = self.candidates, self.problem.system.is_total
        while waiting and len(found) <= MAX_BLOCK:
            cell = waiting.pop()
            for row, _ in self.problem.sums_of(cell):
                for other in members[edges[row] + 1 : edges[row + 1]]:  # the first is the total
                    if other not in found and allowed[other]:
                        found.add(other)
                        waiting.append(other)
        block = None if len(found) > MAX_BLOCK else np.array(sorted(found), dtype=np.int64)
        if len(cells) == 1:
            # Innermost cells that can be reached from each other have the same block.
            self.blocks[cells[0]] = block
            if block is not None and not is_total[cells[0]]:
                self.blocks.update(dict.fromkeys(block.tolist(), block))
        return block

    def around(self, cells: tuple[int, ...], level: int, hidden: Booleans, allowed: Booleans, size: int) -> Integers:
        """The allowed cells nearest to some cells.

        A step through a sum costs what hiding the next cell costs, as many times as such cells are needed for the level.
        """
        found: set[int] = set()
        visited: set[int] = set()
        edges, members = self.sums
        queue = [(0.0, cell) for cell in cells]
        while queue and len(found) < max(size, len(cells)):
            far, cell = heappop(queue)
            if cell in found:
                continue
            found.add(cell)
            for row, _ in self.problem.sums_of(cell):
                if row in visited:
                    continue
                visited.add(row)
                for other in members[edges[row] : edges[row + 1]]:
                    if allowed[other] and other not in found:
                        step = self.usual if hidden[other] else self.usual + self.steps[other]
                        heappush(queue, (far + step * max(1.0, level / self.rooms[other]), other))
        return np.array(sorted(found), dtype=np.int64)
