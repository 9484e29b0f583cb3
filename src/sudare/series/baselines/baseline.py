"""What all baselines are: counts of cells in, noisy counts out, tick after tick, within a budget for any window of ticks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.errors import GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.lattice import discrete_gaussian, discrete_laplace
from sudare.noise.sampler import Sampler
from sudare.parameters import describe_array, exact_integer
from sudare.privacy.budget import Budget, read_budget

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["StreamBaseline", "StreamSetting"]

MAX_CELLS = 1 << 24
MAX_WINDOW = 4096
MAX_MOVES = 1024


@dataclass(frozen=True, kw_only=True)
class StreamSetting:
    """What is asked of a stream, the same for all methods.

    Args:
        cells: how many counts a tick has. A person is in at most one of them at a tick.
        window: how many ticks after each other the promise is for: what one person did in any so many.
        budget: for a window; a rho, or a pure epsilon as in most papers.
        moves: how often a person may change the cell in a window, for methods that measure changes. Others need no such limit.

    Raises:
        ParameterError: if a number is out of range.
        GuaranteeError: if the budget is neither a rho nor a pure epsilon.

    Example:
        >>> from sudare import Budget
        >>> StreamSetting(cells=100, window=144, budget=Budget(rho="0.5"), moves=2).share(1, 144)
        Fraction(1, 288)
    """

    cells: int
    window: int
    budget: Budget
    moves: int = 0

    def __post_init__(self) -> None:
        read_budget(self.budget, "StreamSetting")
        if self.budget.currency not in ("rho", "epsilon"):
            raise GuaranteeError("A stream setting has a rho or a pure epsilon.")
        for name, smallest, largest in (("cells", 1, MAX_CELLS), ("window", 1, MAX_WINDOW), ("moves", 0, MAX_MOVES)):
            requirement = f"from {smallest} to {largest}"
            number = exact_integer(
                getattr(self, name), name, "StreamSetting", requirement, smallest=smallest, largest=largest
            )
            object.__setattr__(self, name, number)

    @property
    def total(self) -> Fraction:
        """The budget as a number."""
        return self.budget.rho if self.budget.currency == "rho" else self.budget.epsilon

    def share(self, part: int, parts: int) -> Fraction:
        """A share of the budget."""
        return self.total * Fraction(part, parts)

    def sampler(self, cost: Fraction, sensitivity: int = 1) -> Sampler:
        """The noise that costs so much: Gaussian for rho, Laplace for epsilon.

        Args:
            cost: of one measurement.
            sensitivity: the l2 norm squared for rho, the l1 norm for epsilon.
        """
        if self.budget.currency == "rho":
            return discrete_gaussian(sigma_squared=sensitivity / (2 * cost))
        return discrete_laplace(sensitivity / cost)

    def mean_error(self, cost: Fraction) -> float:
        """The mean absolute value of this noise for one count, by the continuous distribution."""
        return sqrt(1 / (pi * float(cost))) if self.budget.currency == "rho" else 1 / float(cost)


class StreamBaseline(ABC):
    """A method on its way through a stream.

    Args:
        setting: what is asked.
        entropy: where the bits of the noise come from.

    Attributes:
        name: of the method.
        bounds_moves: whether it relies on the limit of moves: its counts must then be those of people who are counted by that
            limit (`sudare.series.paths`), anew in each window.
        spent: what each tick cost so far.
    """

    name: ClassVar[str]
    bounds_moves: ClassVar[bool] = False

    def __init__(self, setting: StreamSetting, entropy: EntropySource) -> None:
        self.setting, self.entropy = setting, entropy
        self.spent: list[Fraction] = []

    @property
    def tick(self) -> int:
        """The number of the next tick."""
        return len(self.spent)

    def release(self, counts: Counts) -> Values:
        """The published counts of the next tick; they may be below 0.

        Args:
            counts: one for each cell.

        Raises:
            ParameterError: if the counts do not fit.
        """
        if not isinstance(counts, np.ndarray) or counts.shape != (self.setting.cells,) or counts.dtype.kind not in "iu":
            requirement = f"{self.setting.cells} whole numbers"
            raise ParameterError("counts", "StreamBaseline.release", requirement, describe_array(np.asarray(counts)))
        published, cost = self._release(counts.astype(np.int64))
        self.spent.append(cost)
        return published

    @abstractmethod
    def _release(self, counts: Counts) -> tuple[Values, Fraction]:
        """What is published of a tick, and what it costs."""

    def _noisy(self, counts: Counts, cost: Fraction) -> Counts:
        """Counts with noise; one person changes one of them by 1."""
        return counts + self.setting.sampler(cost).draw(counts.size, self.entropy)

    def _spent_before(self) -> Fraction:
        """By the earlier ticks of the window that ends with the next tick."""
        first = max(0, self.tick - self.setting.window + 1)
        return sum(self.spent[first:], Fraction(0))
