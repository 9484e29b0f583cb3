"""What every measurement has in common: its cost, its record, and parameters that are exact numbers within bounds.

The kinds of measurements are in `sudare.privacy.measurements` and `sudare.privacy.sampled_measurements`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import ClassVar

from sudare.errors import ParameterError
from sudare.parameters import exact_fraction, exact_integer
from sudare.privacy.unit import Unit, require_reachable_norm

__all__ = ["Measurement"]

MIN_PARAMETER, MAX_PARAMETER = Fraction(1, 10**60), Fraction(10**60)


@dataclass(frozen=True)
class Measurement(ABC):
    """A noisy look at the data.

    With probability ``delta`` nothing is promised; otherwise both ``epsilon`` and ``rho`` hold, whichever is asked for.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def epsilon(self) -> Fraction | None:
        """Cost in epsilon, pure where ``delta`` is 0, or None if there is no such guarantee."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """Cost in rho, apart from ``delta``."""

    @property
    def delta(self) -> Fraction:
        """The probability with which the guarantee may fail; 0 unless a kind says otherwise."""
        return Fraction(0)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        values: dict[str, object] = {"kind": self.kind}
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
        if not MIN_PARAMETER <= number <= MAX_PARAMETER:
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
