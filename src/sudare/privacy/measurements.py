"""What was drawn: the noisy looks at the data that a release consists of, each with its exact cost.

A measurement is made from a budget (`for_budget`), so that the noise follows from the cost, or from its noise, so
that the cost follows from it. There is no way to state a cost that the noise does not have.

Proof: ``measurements.md`` beside this file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, ClassVar

from sudare.errors import EventError, GuaranteeError, MixedCurrencyError, ParameterError
from sudare.parameters import exact_fraction, exact_integer, shown
from sudare.privacy.budget import Budget, read_budget, read_text_fraction
from sudare.privacy.conversion import Conversion, epsilon_to_rho
from sudare.privacy.unit import Sensitivity, Unit, read_sensitivity, require_reachable_norm, sensitivity_of_counts

__all__ = [
    "GaussianMeasurement",
    "LaplaceMeasurement",
    "Measurement",
    "ResponseMeasurement",
    "SelectionMeasurement",
    "log_rounded_up",
    "read_measurement",
]

SMALLEST_PARAMETER, LARGEST_PARAMETER = Fraction(1, 10**60), Fraction(10**60)


@dataclass(frozen=True)
class Measurement(ABC):
    """A noisy look at the data."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def epsilon(self) -> Fraction | None:
        """Cost in pure epsilon, or None if there is no such guarantee."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """Cost in rho."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values: dict[str, Any] = {"kind": self.kind}
        for field in fields(self):
            value = getattr(self, field.name)
            values[field.name] = str(value) if isinstance(value, Fraction) else value
        return values

    def covers_counts(self, unit: Unit) -> bool:
        """Whether the sensitivity that this was made for is enough for a count table about such units."""
        return True

    def _read_number(self, name: str) -> None:
        requirement = "a number from 1e-60 to 1e60"
        value = getattr(self, name)
        number = exact_fraction(value, name, type(self).__name__, requirement)
        if not SMALLEST_PARAMETER <= number <= LARGEST_PARAMETER:
            raise ParameterError(name, type(self).__name__, requirement, value)
        object.__setattr__(self, name, number)

    def _read_norm(self, name: str) -> None:
        """The norm, and the cells and largest difference that it is made of, must be able to belong together."""
        function = type(self).__name__
        norm, cells, largest = (
            exact_integer(getattr(self, field), field, function, "a whole number >= 1", smallest=1)
            for field in (name, "cells", "largest")
        )
        require_reachable_norm(norm, cells, largest, name, function)
        for field, value in ((name, norm), ("cells", cells), ("largest", largest)):
            object.__setattr__(self, field, value)


@dataclass(frozen=True)
class LaplaceMeasurement(Measurement):
    """Discrete Laplace noise on whole numbers.

    Guarantee: epsilon = l1 / scale, pure; also rho = epsilon**2 / 2.

    Args:
        scale: the noise is proportional to exp(-|x| / scale).
        l1: the l1 sensitivity of the vector it was added to.
        cells: how many entries of the vector one unit can change.
        largest: by how much each, at most.

    Example:
        >>> from sudare import Budget, LaplaceMeasurement, Unit, sensitivity_of_counts
        >>> LaplaceMeasurement.for_budget(Budget(epsilon=0.1), sensitivity_of_counts(Unit())).scale
        Fraction(10, 1)
    """

    kind: ClassVar[str] = "discrete-laplace"
    scale: Fraction
    l1: int
    cells: int
    largest: int

    def __post_init__(self) -> None:
        self._read_number("scale")
        self._read_norm("l1")

    def covers_counts(self, unit: Unit) -> bool:
        """Whether the sensitivity that this was made for is enough for a count table about such units."""
        return self.l1 >= sensitivity_of_counts(unit).l1

    @classmethod
    def for_budget(cls, budget: Budget, sensitivity: Sensitivity) -> LaplaceMeasurement:
        """The noise that costs exactly the budget's epsilon."""
        read_budget(budget, "LaplaceMeasurement.for_budget")
        read_sensitivity(sensitivity, "LaplaceMeasurement.for_budget")
        if budget.currency == "rho":
            hint = "Laplace noise costs rho = epsilon**2 / 2; choose the epsilon."
            raise MixedCurrencyError("budget", "LaplaceMeasurement.for_budget", "in epsilon", budget, hint)
        return cls(sensitivity.l1 / budget.epsilon, sensitivity.l1, sensitivity.cells, sensitivity.largest)

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure epsilon."""
        return self.l1 / self.scale

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.epsilon**2 / 2


@dataclass(frozen=True)
class GaussianMeasurement(Measurement):
    """Discrete Gaussian noise on whole numbers.

    Guarantee: rho = l2_squared / (2 sigma_squared). There is no pure epsilon.

    Args:
        sigma_squared: the noise is proportional to exp(-x**2 / (2 sigma_squared)).
        l2_squared: the squared l2 sensitivity of the vector it was added to.
        cells: how many entries of the vector one unit can change.
        largest: by how much each, at most.

    Example:
        >>> from sudare import Budget, GaussianMeasurement, Unit, sensitivity_of_counts
        >>> GaussianMeasurement.for_budget(Budget(rho=0.5), sensitivity_of_counts(Unit(cells=4))).sigma_squared
        Fraction(4, 1)
    """

    kind: ClassVar[str] = "discrete-gaussian"
    sigma_squared: Fraction
    l2_squared: int
    cells: int
    largest: int

    def __post_init__(self) -> None:
        self._read_number("sigma_squared")
        self._read_norm("l2_squared")

    def covers_counts(self, unit: Unit) -> bool:
        """Whether the sensitivity that this was made for is enough for a count table about such units."""
        return self.l2_squared >= sensitivity_of_counts(unit).l2_squared

    @classmethod
    def for_budget(
        cls, budget: Budget, sensitivity: Sensitivity, conversion: Conversion = "optimal"
    ) -> GaussianMeasurement:
        """The noise that costs exactly the budget's rho, or the rho that its (epsilon, delta) allows.

        Raises:
            GuaranteeError: for a pure epsilon, which Gaussian noise cannot give.
        """
        read_budget(budget, "GaussianMeasurement.for_budget")
        read_sensitivity(sensitivity, "GaussianMeasurement.for_budget")
        if budget.currency == "epsilon":
            raise GuaranteeError(
                f"Gaussian noise cannot give {budget} with delta = 0. "
                "Give a delta (suggest_delta() helps) or use Laplace noise."
            )
        if not isinstance(conversion, str) or conversion not in ("simple", "optimal", "gaussian"):
            raise ParameterError(
                "conversion", "GaussianMeasurement.for_budget", "'simple' or 'optimal'", shown(conversion)
            )
        if conversion == "gaussian":
            raise GuaranteeError(
                "The 'gaussian' conversion holds for continuous noise, which is never drawn here. "
                "Use 'optimal' or 'simple'."
            )
        rho = budget.rho if budget.currency == "rho" else epsilon_to_rho(budget.epsilon, budget.delta, conversion)
        if rho <= 0:
            raise GuaranteeError(f"No Gaussian noise gives {budget}: the delta leaves nothing.")
        squared = sensitivity.l2_squared
        return cls(squared / (2 * rho), squared, sensitivity.cells, sensitivity.largest)

    @property
    def epsilon(self) -> None:
        """Gaussian noise has no pure epsilon."""

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.l2_squared / (2 * self.sigma_squared)


@dataclass(frozen=True)
class SelectionMeasurement(Measurement):
    """The choice of one candidate by its score.

    Guarantee: pure epsilon. The exponential mechanism is of bounded range and costs rho = epsilon**2 / 8;
        permute-and-flip is not, and costs rho = epsilon**2 / 2.

    Args:
        chosen_epsilon: the epsilon that the choice was made with.
        rule: ``"exponential"`` or ``"permute-and-flip"``.

    Example:
        >>> from sudare import SelectionMeasurement
        >>> SelectionMeasurement(2, "exponential").rho, SelectionMeasurement(2, "permute-and-flip").rho
        (Fraction(1, 2), Fraction(2, 1))
    """

    kind: ClassVar[str] = "selection"
    chosen_epsilon: Fraction
    rule: str

    def __post_init__(self) -> None:
        self._read_number("chosen_epsilon")
        if not isinstance(self.rule, str) or self.rule not in ("exponential", "permute-and-flip"):
            raise ParameterError(
                "rule", "SelectionMeasurement", "'exponential' or 'permute-and-flip'", shown(self.rule)
            )

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure epsilon."""
        return self.chosen_epsilon

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.chosen_epsilon**2 / (8 if self.rule == "exponential" else 2)


@dataclass(frozen=True)
class ResponseMeasurement(Measurement):
    """A randomized answer that a person gives in place of the true one.

    Guarantee: pure epsilon, the logarithm of the ratio, whatever the true answer is replaced by; also rho =
        epsilon**2 / 2.

    Args:
        ratio: the largest ratio of the probabilities with which two true answers give the same report.

    Example:
        >>> from sudare import ResponseMeasurement
        >>> round(float(ResponseMeasurement(3).epsilon), 6)  # two coins: ln 3
        1.098612
    """

    kind: ClassVar[str] = "randomized-response"
    ratio: Fraction

    def __post_init__(self) -> None:
        self._read_number("ratio")
        if self.ratio <= 1:
            requirement = "above 1: a report that does not depend on the answer needs no event"
            raise ParameterError("ratio", "ResponseMeasurement", requirement, self.ratio)

    @property
    def epsilon(self) -> Fraction:
        """Cost in pure epsilon: the logarithm, rounded up."""
        return log_rounded_up(self.ratio)

    @property
    def rho(self) -> Fraction:
        """Cost in rho."""
        return self.epsilon**2 / 2


KINDS = (LaplaceMeasurement, GaussianMeasurement, SelectionMeasurement, ResponseMeasurement)
"""All kinds there are; an event takes no others, and no subclasses."""


def log_rounded_up(ratio: Fraction) -> Fraction:
    """The natural logarithm of a ratio >= 1, from above, at most 1e-55 of itself too large.

    Numerator and denominator are divided with 60 digits and the logarithm is taken with as many; each step is wrong by less than
    one unit of its last digit, and a unit is added for each.
    """
    with localcontext(Context(prec=60)) as context:
        quotient = context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).next_plus(context)
        return Fraction(quotient.ln(context).next_plus(context))


def read_measurement(values: dict[str, Any]) -> Measurement:
    """Read what `Measurement.to_dict` wrote.

    Raises:
        EventError: if the kind is unknown, or fields are missing, unknown or out of range.
    """
    known = {kind.kind: kind for kind in KINDS}
    name = values.get("kind")
    if not isinstance(name, str) or name not in known:
        raise EventError(f"A measurement in an event is of the unknown kind {name!r:.80}. Known are {sorted(known)}.")
    kind = known[name]
    wanted = {field.name: str(field.type) for field in fields(kind)}
    if set(values) - {"kind"} != set(wanted):
        raise EventError(f"A {name} measurement must have the fields {sorted(wanted)}. Got {values!r:.80}.")
    read: dict[str, Any] = {
        field: read_text_fraction(values[field]) if wanted[field] == "Fraction" else values[field] for field in wanted
    }
    try:
        return kind(**read)
    except ParameterError as error:
        raise EventError(f"A measurement in an event is not valid. {error}") from error
