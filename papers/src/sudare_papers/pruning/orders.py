"""Orders that look at the data: for experiments with public or invented data, NEVER for a release.

The papers compare orders of the cells, among them the cells sorted by their counts. Such an order tells which cell is
fullest, without any noise. No `Layout` can be made from it; an experiment rearranges an array by hand:
``dense.ravel()[order]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["experimental_sorted_order"]

MAX_SORTED = 1 << 28


def experimental_sorted_order(table: CountTable) -> NDArray[np.uint64]:
    """The keys of all cells, fullest first; of equally full ones, the smaller key first.

    NOT PRIVATE: this must never be used for a release. The order itself is private data, and whatever is published along
    it has no guarantee. It is here for the papers' experiment with sorted cells alone.

    Args:
        table: the counts, of at most 2**28 cells.

    Example:
        >>> import numpy as np
        >>> from sudare.domain import CountTable
        >>> from sudare_papers.pruning.orders import experimental_sorted_order
        >>> experimental_sorted_order(CountTable.from_dense(np.array([0, 5, 0, 7])))
        array([3, 1, 0, 2], dtype=uint64)
    """
    function = "experimental_sorted_order"
    if not isinstance(table, CountTable):
        raise ParameterError("table", function, "a CountTable", shown(table))
    cells = table.domain.cells
    if cells > MAX_SORTED:
        raise ParameterError("table", function, "a table of at most 2**28 cells", Described(f"{cells} cells"))
    inhabited = table.keys[np.argsort(-table.counts, kind="stable")]
    is_empty = np.ones(cells, dtype=bool)
    is_empty[table.keys.astype(np.int64)] = False
    return np.concatenate([inhabited, np.flatnonzero(is_empty).astype(np.uint64)])
