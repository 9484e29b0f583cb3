"""What is drawn for a series of tables: noise on one level of a tree, at every tick of a window.

Proof: ``series/sensitivity.md``, ``privacy/measurements.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from sudare.errors import GuaranteeError, MixedCurrencyError, ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.measurement import Measurement
from sudare.privacy.unit import Unit

__all__ = ["SeriesMeasurement"]

MAX_TICKS, MAX_MOVES = 2**31, 2**16
NOISES = ("gaussian", "laplace")


@dataclass(frozen=True)
class SeriesMeasurement(Measurement):
    """Discrete noise on a measured series: the same for each node and each tick of a window.

    Guarantee: Gaussian noise costs rho = sensitivity / (2 spread), where the sensitivity is the squared l2 norm of one path and
        the spread is sigma squared. Laplace noise costs epsilon = sensitivity / spread, where the sensitivity is the l1 norm
        and the spread is the scale; also rho = epsilon**2 / 2.

    Args:
        noise: ``"gaussian"`` or ``"laplace"``.
        spread: of the noise.
        sensitivity: how far one unit's path moves what is measured, over the whole window.
        ticks: how many ticks a window has.
        moves: how many moves a path has, at most.
        strategy: by what name what is measured is known.

    Raises:
        ParameterError: if an argument is not of this kind.

    Example:
        >>> SeriesMeasurement("gaussian", 72, 144, 144, 2, "fresh").rho
        Fraction(1, 1)
    """

    kind: ClassVar[str] = "series"
    noise: str
    spread: Fraction
    sensitivity: int
    ticks: int
    moves: int
    strategy: str

    def __post_init__(self) -> None:
        if not isinstance(self.noise, str) or self.noise not in NOISES:
            raise ParameterError("noise", "SeriesMeasurement", "'gaussian' or 'laplace'", shown(self.noise))
        if not isinstance(self.strategy, str) or not self.strategy:
            raise ParameterError("strategy", "SeriesMeasurement", "the name of a strategy", shown(self.strategy))
        self._read_number("spread")
        for name, smallest, largest in (("sensitivity", 1, 2**63), ("ticks", 1, MAX_TICKS), ("moves", 0, MAX_MOVES)):
            requirement = f"a whole number from {smallest} to {largest}"
            number = exact_integer(
                getattr(self, name), name, "SeriesMeasurement", requirement, smallest=smallest, largest=largest
            )
            object.__setattr__(self, name, number)

    @classmethod
    def for_budget(
        cls,
        budget: Budget,
        sensitivity: int,
        *,
        noise: Literal["gaussian", "laplace"],
        ticks: int,
        moves: int,
        strategy: str,
        conversion: Conversion = "optimal",
    ) -> SeriesMeasurement:
        """The noise that costs exactly the budget, or the rho that its (epsilon, delta) allows.

        Raises:
            GuaranteeError: for Gaussian noise and a pure epsilon.
            MixedCurrencyError: for Laplace noise and a rho.
        """
        read_budget(budget, "SeriesMeasurement.for_budget")
        made = cls(noise, Fraction(1), sensitivity, ticks, moves, strategy)
        if made.noise == "laplace":
            if budget.currency == "rho":
                raise MixedCurrencyError("budget", "SeriesMeasurement.for_budget", "in epsilon", budget)
            return cls(noise, made.sensitivity / budget.epsilon, sensitivity, ticks, moves, strategy)
        if budget.currency == "epsilon":
            raise GuaranteeError(
                f"Gaussian noise cannot give {budget} with delta = 0. Give a delta or use Laplace noise."
            )
        rho = budget.rho if budget.currency == "rho" else epsilon_to_rho(budget.epsilon, budget.delta, conversion)
        if rho <= 0:
            raise GuaranteeError(f"No Gaussian noise gives {budget}: the delta leaves nothing.")
        return cls(noise, made.sensitivity / (2 * rho), sensitivity, ticks, moves, strategy)

    def covers_counts(self, unit: Unit) -> bool:
        """Whether it was made for such units: in one cell at a tick, added or removed, with a protected time of the same length.

        A window of so many ticks may meet two blocks, which two measurements pay for. An event has a length of one tick: the
        noise of all other ticks does not see it.
        """
        if unit.time is None or (unit.cells, unit.rows, unit.adjacency) != (1, 1, "add-remove"):
            return False
        return self.ticks == unit.time.ticks

    @property
    def epsilon(self) -> Fraction | None:
        """Cost in pure epsilon; Gaussian noise has none."""
        return self.sensitivity / self.spread if self.noise == "laplace" else None

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        epsilon = self.epsilon
        return self.sensitivity / (2 * self.spread) if epsilon is None else epsilon**2 / 2
