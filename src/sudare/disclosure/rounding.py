"""Controlled rounding: every cell becomes a multiple of a base near its value, and all sums still hold exactly.

Among all such tables the one with the smallest total deviation is found by integer programming. A cell that is a multiple
already stays; others go down or up to the next multiple. Some tables of three dimensions, and linked ones, cannot be
rounded so: then a cell may go further, as few steps as possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.refusals import required
from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.border.signatures import check_arguments
from sudare.disclosure.structure import TableSystem
from sudare.errors import InputError, ParameterError
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["RoundedTable", "controlled_rounding"]

MAX_VALUE = 2**50
"""Quotients must be whole numbers that the solver's floating point holds exactly."""

MAX_STEPS = 8


@dataclass(frozen=True, eq=False)
class RoundedTable(ShownRows):
    """A table of multiples of a base that adds up.

    Attributes:
        values: of each cell.
        base: of which every value is a multiple.
        steps: how many multiples beyond the next ones a cell may have gone; 0 is controlled rounding as it was first defined.
        optimal: whether no other such table deviates less in total; False only after a time limit.
    """

    values: Integers
    base: int
    steps: int
    optimal: bool

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each cell: the rounded value, and between which values the true one lies."""
        ends = [self.interval(cell) for cell in range(self.values.size)]
        return {
            "cell": np.arange(self.values.size),
            "value": self.values,
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def interval(self, cell: int) -> tuple[int, int]:
        """The smallest and largest true value that the published one allows, from the method alone."""
        reach = (self.steps + 1) * self.base - 1
        return int(self.values[cell]) - reach, int(self.values[cell]) + reach


def controlled_rounding(
    system: TableSystem, values: Integers, base: int, *, steps: int | None = None, time_limit: float = 60.0
) -> RoundedTable:
    """Round a table to multiples of a base so that it still adds up.

    Args:
        system: the cells and their sums.
        values: whole numbers that add up.
        base: from 2 on.
        steps: how many multiples beyond the next ones a cell may go; None tries 0, then 1, and so on.
        time_limit: seconds. If it ends the search, the best table found is returned, which adds up all the same.

    Raises:
        InputError: if the values do not add up, or no such table was found.

    Example:
        >>> from sudare.disclosure.structure import Dimension
        >>> system = TableSystem.of_dimensions([Dimension.flat("a", ["1", "2"]), Dimension.flat("b", ["1", "2"])])
        >>> rounded = controlled_rounding(system, np.array([13, 6, 7, 7, 4, 3, 6, 2, 4]), 5)
        >>> rounded.values.reshape(3, 3).tolist()
        [[15, 5, 10], [10, 5, 5], [5, 0, 5]]
    """
    check_arguments(controlled_rounding, locals(), "system", "values", "time_limit")
    with required(Words("from 2 on", "2 以上の整数")):
        unit = exact_integer(
            base, "base", "controlled_rounding", Words("from 2 on", "2 以上"), smallest=2, largest=10**12
        )
    if values.shape != (system.size,) or values.dtype.kind not in "iu":
        raise ParameterError("values", "controlled_rounding", "a whole number for each cell", values.shape)
    if not time_limit > 0:
        raise ParameterError(
            "time_limit", "controlled_rounding", Words("above 0 seconds", "0 秒より長い時間"), time_limit
        )
    if values.size and int(np.abs(values).max()) >= MAX_VALUE:
        raise InputError(
            "The values are too large for controlled rounding. Use larger units.",
            "値が大きすぎるため丸められません。単位を大きくしてください。",
        )
    system.check(values)
    if steps is None:
        tries = range(MAX_STEPS + 1)
    else:
        with required(Words(f"from 0 to {MAX_STEPS}", f"0 から {MAX_STEPS} までの整数")):
            most = exact_integer(
                steps,
                "steps",
                "controlled_rounding",
                Words(f"from 0 to {MAX_STEPS}", f"0 以上 {MAX_STEPS} 以下"),
                smallest=0,
                largest=MAX_STEPS,
            )
        tries = range(most, most + 1)
    for reach in tries:
        found = _round(system, values.astype(np.int64), unit, reach, time_limit)
        if found is not None:
            quotients, optimal = found
            result = quotients * unit
            system.check(result)
            return RoundedTable(result, unit, reach, optimal)
    raise InputError(
        f"The table cannot be rounded to multiples of {unit} within the steps and the time allowed. "
        "Allow more steps or more time, or use a smaller table.",
        f"許された段数と時間では、表を {unit} の倍数に丸められません。段数か時間を増やすか、表を小さくしてください。",
    )


def _round(
    system: TableSystem, values: Integers, base: int, steps: int, time_limit: float
) -> tuple[Integers, bool] | None:
    """Quotients of the rounded table and whether they are the best ones; None if none were found.

    The quotient of a cell is its lowest one plus one for each switch that is on. The cost of each further switch is larger,
    so that the solver turns them on in order, and the total cost is the deviation.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack

    floors, fixed = values // base, values % base == 0
    highest = floors + np.where(fixed, 0, 1) + steps
    lowest = np.where(values >= 0, np.maximum(floors - steps, 0), floors - steps)  # nothing becomes negative
    free = np.flatnonzero(highest > lowest)
    switches = int((highest - lowest).max(initial=0))
    costs, uppers, columns = [], [], []
    matrix = system.equations.tocsc()
    for switch in range(switches):
        before = np.abs((lowest[free] + switch) * base - values[free])
        after = np.abs((lowest[free] + switch + 1) * base - values[free])
        costs.append(after - before)
        uppers.append((switch < (highest - lowest)[free]).astype(np.float64))
        columns.append(matrix[:, free])
    target = -(system.equations @ lowest)
    if not free.size:
        return (lowest, True) if not target.any() else None
    wanted = csr_array(hstack(columns)).astype(np.float64)
    result = milp(
        np.concatenate(costs).astype(np.float64),
        integrality=np.ones(free.size * switches),
        bounds=Bounds(0, np.concatenate(uppers)),
        constraints=LinearConstraint(wanted, target, target),
        options={"time_limit": float(time_limit), "mip_rel_gap": 0.0, "disp": False},
    )
    if result.x is None:
        return None
    turned = np.rint(result.x).astype(np.int64).reshape(switches, free.size)
    if ((turned < 0) | (turned > np.array(uppers))).any():
        return None
    quotients = lowest.copy()
    quotients[free] += turned.sum(axis=0)
    return (quotients, result.status == 0) if not (system.equations @ quotients).any() else None
