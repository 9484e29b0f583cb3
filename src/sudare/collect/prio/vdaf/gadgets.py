"""Gadgets: the only gates of a circuit that multiply, and hence the only ones that a proof is about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sudare.collect.prio.vdaf.fields import Field

if TYPE_CHECKING:
    from sudare.collect.prio.vdaf.fields import Elements

__all__ = ["Gadget", "Polynomial", "Products"]


@dataclass(frozen=True)
class Gadget(ABC):
    """A gate with some input wires and one output, whose output is a polynomial of its inputs.

    Attributes:
        field: what it computes in.
        calls: how often the circuit uses it.
        arity: how many wires go in.
        degree: of the polynomial.
    """

    field: Field
    calls: int
    arity: int
    degree: int

    @abstractmethod
    def evaluate(self, wires: Elements) -> Elements:
        """The outputs for vectors of wires (the last axis but one)."""


@dataclass(frozen=True)
class Products(Gadget):
    """x0 x1 + x2 x3 + ...: the sum of the products of neighbouring wires."""

    degree: int = 2

    def evaluate(self, wires: Elements) -> Elements:
        """The outputs for vectors of wires."""
        return self.field.dot(wires[..., 0::2, :], wires[..., 1::2, :])


@dataclass(frozen=True)
class Polynomial(Gadget):
    """A polynomial of a single wire.

    Attributes:
        coefficients: of the powers 0, 1, 2, ...
    """

    coefficients: tuple[int, ...] = ()

    def evaluate(self, wires: Elements) -> Elements:
        """The outputs for vectors of one wire, by Horner's rule."""
        x = wires[..., 0, :]
        constants = self.field.elements(self.coefficients)
        result: Elements = constants[-1]
        for constant in constants[-2::-1]:
            result = self.field.add(self.field.multiply(result, x), constant)
        return result
