"""Tables of people: counts, and signed tables, in which noise has made some of the counts negative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.domain.sparse_table import SparseTable, exact_sum
from sudare.errors import Described, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

__all__ = ["CountTable", "SignedTable"]

MAX_TOTAL = 2**62


@dataclass(frozen=True, eq=False, repr=False)
class CountTable(SparseTable):
    """Counts of people: a domain, the sorted keys of its non-empty cells, and their counts.

    Make one with `from_dense`, `from_cells` or `from_frame`. Its memory is 16 bytes a non-empty cell, whatever the domain.

    Attributes:
        domain: the cells that there are.
        keys: keys of the cells that are not empty, ascending.
        counts: their counts, all positive.

    Example:
        >>> import numpy as np
        >>> from sudare.domain import CountTable
        >>> table = CountTable.from_dense(np.array([[0, 2], [5, 0]]))
        >>> table
        CountTable(shape=(2, 2), cells=4)
        >>> table.to_dense()
        array([[0, 2],
               [5, 0]])
    """

    lowest: ClassVar[int] = 0
    highest: ClassVar[int] = MAX_TOTAL
    numbers: ClassVar[str] = "whole numbers from 0 to 2**62"

    @classmethod
    def _check_total(cls, counts: Counts) -> None:
        """The total must fit, whatever order it is summed in."""
        if exact_sum(counts) > MAX_TOTAL:
            requirement = "whole numbers with a total of at most 2**62"
            raise ParameterError("counts", cls.__name__, requirement, Described("a larger total"))


@dataclass(frozen=True, eq=False, repr=False)
class SignedTable(SparseTable):
    """Noisy counts of people as they were drawn: whole numbers, of which some are negative.

    Where nobody lives, noise is as often negative as positive. Sums over areas, and the total, are right on average only if
    both stay: to cut off at 0 adds people everywhere. Mechanisms that publish noise as it is return this table.

    Attributes:
        domain: the cells that there are.
        keys: keys of the cells that are not 0, ascending.
        counts: their noisy counts, none of them 0.

    Example:
        >>> from sudare.domain import SignedTable
        >>> table = SignedTable.from_dense([3, 0, -2])
        >>> table.total, table.keys.tolist()
        (1, [0, 2])
    """

    lowest: ClassVar[int] = -(2**63) + 1
    highest: ClassVar[int] = 2**63 - 1
    numbers: ClassVar[str] = "whole numbers of 64 bits"

    @classmethod
    def _check_sums(cls, counts: Counts) -> None:
        """Sums of repeated cells must fit, whatever order they are summed in."""
        if exact_sum(np.abs(counts)) > cls.highest:
            requirement = "repeated keys only where the absolute counts add up to less than 2**63"
            raise ParameterError("counts", cls.__name__, requirement, Described("more"))
