"""Narrowing the bounds of whole numbers by equations, one equation at a time, in exact arithmetic.

What is found so is true. It need not be all that follows: bounds that only several equations together imply are not found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Equation", "narrow_together"]

MAX_ROUNDS = 8

Equation = tuple[Sequence[int], Sequence[int], int]
"""The places of variables, their coefficients, and what they add up to."""


def narrow_together(
    low: Sequence[int],
    high: Sequence[int | None],
    equations: Sequence[Equation],
    *,
    whole_numbers: bool = False,
) -> tuple[list[int], list[int | None]]:
    """Narrow bounds by each equation in turn, until nothing changes or enough was tried.

    Args:
        low: the least value of each variable.
        high: the largest; None if nothing bounds it.
        equations: that hold.
        whole_numbers: whether variables are whole numbers; else bounds are rounded outwards, to stay true for real numbers.

    Returns:
        The bounds. Where a lower one is above the upper one, no values fit.

    Example:
        >>> from sudare.attacks.tables.narrowing import narrow_together
        >>> narrow_together([8, 5, 5], [10, 7, 7], [((0, 1, 2), (1, -1, -1), 0)])
        ([10, 5, 5], [10, 5, 5])
    """
    least, most = list(low), list(high)
    for _ in range(MAX_ROUNDS):
        changed = False
        for places, coefficients, right in equations:
            changed |= _narrow_by(places, coefficients, right, least, most, whole_numbers)
            if any(_is_empty(least[place], most[place]) for place in places):
                return least, most
        if not changed:
            break
    return least, most


def _is_empty(low: int, high: int | None) -> bool:
    return high is not None and low > high


def _narrow_by(
    places: Sequence[int],
    coefficients: Sequence[int],
    right: int,
    low: list[int],
    high: list[int | None],
    whole_numbers: bool,
) -> bool:
    """Narrow each variable of one equation by the bounds of the others; whether anything changed."""
    smallest: list[int | None] = []
    largest: list[int | None] = []
    for place, coefficient in zip(places, coefficients, strict=True):
        ends = (coefficient * low[place], None if high[place] is None else coefficient * (high[place] or 0))
        smallest.append(ends[0] if coefficient > 0 else ends[1])
        largest.append(ends[1] if coefficient > 0 else ends[0])
    sum_low, sum_high = _Sum.of(smallest), _Sum.of(largest)
    changed = False
    for at, (place, coefficient) in enumerate(zip(places, coefficients, strict=True)):
        others_low = sum_low.without(smallest[at])
        others_high = sum_high.without(largest[at])
        limits = (
            None if others_high is None else Fraction(right - others_high, coefficient),
            None if others_low is None else Fraction(right - others_low, coefficient),
        )
        new_low, new_high = limits if coefficient > 0 else (limits[1], limits[0])
        if new_low is not None:
            start = math.ceil(new_low) if whole_numbers else math.floor(new_low)
            if start > low[place]:
                low[place], changed = start, True
        if new_high is not None:
            stop, end = math.floor(new_high) if whole_numbers else math.ceil(new_high), high[place]
            if end is None or stop < end:
                high[place], changed = stop, True
    return changed


@dataclass(frozen=True)
class _Sum:
    """The sum of ends of which some are infinite (None)."""

    finite: int
    infinite: int

    @classmethod
    def of(cls, ends: list[int | None]) -> _Sum:
        return cls(sum(end for end in ends if end is not None), ends.count(None))

    def without(self, end: int | None) -> int | None:
        """The sum of all but one of them."""
        if end is None:
            return self.finite if self.infinite == 1 else None
        return self.finite - end if self.infinite == 0 else None
