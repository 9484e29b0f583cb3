"""Validity circuits: what a measurement looks like as field elements, and which sums must be zero if it is a valid one.

Everything works on a batch: the first axis of an array counts reports. A circuit is linear but for its gadget, so each
aggregator evaluates it on its own share; constants enter as 1/shares each, so that the shares add up to them.

All of them check that numbers are bits. A whole number from 0 to m is written in bits whose weights are 1, 2, 4, ... but
for the last, which is what is missing to m: then every choice of bits is a number from 0 to m, and no other check is
needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.collect.prio.vdaf.fields import FIELD64, FIELD128, Field
from sudare.collect.prio.vdaf.gadgets import Gadget, Polynomial, Products
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.collect.prio.vdaf.fields import Elements

    Numbers = NDArray[np.uint64]

__all__ = ["Circuit", "Count", "HigherDegree", "Histogram", "MultihotCountVec", "Sum", "SumVec", "weights_up_to"]

HIDDEN = Described("another value (not shown, because it may be somebody's)")
MAX_BITS = 62


class Circuit(ABC):
    """What a report must satisfy.

    Attributes:
        field: what it computes in.
        gadget: its non-linear gate.
        measurement_length: elements of an encoded measurement.
        output_length: elements of what is added up.
        joint_length: random elements that all parties have in common.
        checks: how many sums must be zero.
        largest: the largest number that one report can add to an element of the output.
    """

    field: Field
    gadget: Gadget
    measurement_length: int
    output_length: int
    joint_length: int = 0
    checks: int = 1
    largest: int = 1

    @abstractmethod
    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """Measurements as rows of small whole numbers.

        Raises:
            ParameterError: if one of them is not what the circuit takes. It is not shown.
        """

    def truncate(self, encoded: Elements) -> Elements:
        """What is added up of encoded measurements (or shares of them)."""
        return encoded

    def decode(self, totals: list[int]) -> Any:
        """The result from the sum of all outputs."""
        return totals

    @abstractmethod
    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """What goes into the gadget: a row of wires for each of its calls."""

    @abstractmethod
    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The sums that must be zero, given the outputs of the gadget's calls."""


class Count(Circuit):
    """0 or 1: x * x - x = 0."""

    field = FIELD64
    measurement_length = output_length = 1

    def __init__(self) -> None:
        self.gadget = Products(self.field, 1, 2)

    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """True or 1, False or 0."""
        return _whole_numbers(measurements, 1, "Prio3Count", "biu")[:, None]

    def decode(self, totals: list[int]) -> int:
        """How many said 1."""
        return totals[0]

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """The measurement on both wires."""
        return encoded[:, None, [0, 0]]

    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The product minus the measurement."""
        return self.field.subtract(outputs, encoded)


class HigherDegree(Circuit):
    """0, 1 or 2: x (x - 1) (x - 2) = 0. The draft has it to test gadgets of a higher degree."""

    field = FIELD64
    measurement_length = output_length = 1
    largest = 2

    def __init__(self) -> None:
        self.gadget = Polynomial(self.field, 1, 1, 3, (0, 2, -3, 1))

    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """The number itself."""
        return _whole_numbers(measurements, 2, "Prio3HigherDegree")[:, None]

    def decode(self, totals: list[int]) -> int:
        """The sum."""
        return totals[0]

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """The measurement on the only wire."""
        return encoded[:, None]

    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The value of the polynomial."""
        return outputs


class Sum(Circuit):
    """A whole number from 0 to a maximum; each of its bits passes x**2 - x = 0."""

    field = FIELD64
    output_length = 1

    def __init__(self, max_measurement: int) -> None:
        self.largest = _read_maximum(max_measurement, "max_measurement", "Prio3Sum")
        self.measurement_length = self.checks = self.largest.bit_length()
        self.gadget = Polynomial(self.field, self.measurement_length, 1, 2, (0, -1, 1))
        self._weights = self.field.elements(weights_up_to(self.largest))

    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """The number in bits."""
        return _bits(_whole_numbers(measurements, self.largest, "Prio3Sum"), self.largest)

    def truncate(self, encoded: Elements) -> Elements:
        """The number again."""
        return self.field.dot(encoded, self._weights)[:, None]

    def decode(self, totals: list[int]) -> int:
        """The sum."""
        return totals[0]

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """A bit for each call."""
        return encoded[:, :, None]

    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The values of the polynomial."""
        return outputs


class BitVector(Circuit):
    """Many bits, checked a chunk at a time: the sum of r**j * x[j] * (x[j] - 1) over a chunk, with r random, is zero."""

    def __init__(self, length: int, chunk_length: int | None, function: str, field: Field = FIELD128) -> None:
        self.field = field
        self.measurement_length = length
        self.chunk_length = _read_chunk(chunk_length, length, function)
        self.joint_length = -(-length // self.chunk_length)
        self.gadget = Products(field, self.joint_length, 2 * self.chunk_length)

    def wires(self, encoded: Elements, joint: Elements, shares: int) -> Elements:
        """r**j * x[j] and x[j] - 1, in turn."""
        reports, calls, chunk = encoded.shape[0], self.joint_length, self.chunk_length
        padded = self.field.zeros(reports, calls * chunk)
        padded[:, : self.measurement_length] = encoded
        padded = padded.reshape(reports, calls, chunk, self.field.words)
        wires = self.field.zeros(reports, calls, 2 * chunk)
        wires[:, :, 0::2] = self.field.multiply(padded, self.field.powers(joint, chunk))
        wires[:, :, 1::2] = self.field.subtract(padded, self._share_of_one(shares))
        return wires

    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The sum of the gadget's outputs."""
        return self.field.total(outputs)[:, None]

    def _share_of_one(self, shares: int) -> Elements:
        share: Elements = self.field.elements([pow(shares, -1, self.field.modulus)])[0]
        return share


class SumVec(BitVector):
    """A vector of whole numbers from 0 to a maximum."""

    def __init__(
        self, length: int, max_measurement: int, chunk_length: int | None = None, field: Field = FIELD128
    ) -> None:
        self.largest = _read_maximum(max_measurement, "max_measurement", "Prio3SumVec")
        self.output_length = _read_length(length, "Prio3SumVec")
        self._bits = self.largest.bit_length()
        super().__init__(self.output_length * self._bits, chunk_length, "Prio3SumVec", field)
        self._weights = field.elements(weights_up_to(self.largest))

    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """The numbers in bits, one after the other."""
        rows = [_vector(row, self.output_length, self.largest, "Prio3SumVec") for row in measurements]
        return _bits(_stacked(rows, self.output_length), self.largest).reshape(len(rows), self.measurement_length)

    def truncate(self, encoded: Elements) -> Elements:
        """The numbers again."""
        each = encoded.reshape(encoded.shape[0], self.output_length, self._bits, self.field.words)
        return self.field.dot(each, self._weights)


class Histogram(BitVector):
    """One of several values: a vector of bits whose sum is one."""

    checks = 2

    def __init__(self, length: int, chunk_length: int | None = None) -> None:
        self.output_length = _read_length(length, "Prio3Histogram")
        super().__init__(self.output_length, chunk_length, "Prio3Histogram")

    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """A one at the measurement's place."""
        places = _whole_numbers(measurements, self.output_length - 1, "Prio3Histogram")
        encoded = np.zeros((places.size, self.output_length), dtype=np.uint64)
        encoded[np.arange(places.size), places.astype(np.intp)] = 1
        return encoded

    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The check of the bits, and the sum of all bits minus one."""
        ones = self.field.subtract(self.field.total(encoded), self._share_of_one(shares))
        return np.stack([self.field.total(outputs), ones], axis=1)


class MultihotCountVec(BitVector):
    """A vector of bits of which at most some number are ones; that number follows in bits of its own."""

    checks = 2

    def __init__(self, length: int, max_weight: int, chunk_length: int | None = None) -> None:
        self.output_length = _read_length(length, "Prio3MultihotCountVec")
        self.max_weight = _read_maximum(max_weight, "max_weight", "Prio3MultihotCountVec", self.output_length)
        super().__init__(
            self.output_length + self.max_weight.bit_length(), chunk_length, "Prio3MultihotCountVec", FIELD128
        )
        self._weights = self.field.elements(weights_up_to(self.max_weight))

    def encode(self, measurements: Sequence[Any]) -> Numbers:
        """The bits, and how many of them are ones."""
        rows = [_vector(row, self.output_length, 1, "Prio3MultihotCountVec", "biu") for row in measurements]
        bits = _stacked(rows, self.output_length)
        weights = bits.sum(axis=1, dtype=np.uint64)
        if (weights > self.max_weight).any():
            raise ParameterError(
                "measurement",
                "Prio3MultihotCountVec",
                Words(f"a vector with at most {self.max_weight} ones", f"1 が {self.max_weight} 個以下のベクトル"),
                HIDDEN,
            )
        return np.concatenate([bits, _bits(weights, self.max_weight)], axis=1)

    def truncate(self, encoded: Elements) -> Elements:
        """The bits without their number."""
        return encoded[:, : self.output_length]

    def evaluate(self, encoded: Elements, outputs: Elements, shares: int) -> Elements:
        """The check of the bits, and the number of ones minus the number that was stated."""
        ones = self.field.total(encoded[:, : self.output_length])
        stated = self.field.dot(encoded[:, self.output_length :], self._weights)
        return np.stack([self.field.total(outputs), self.field.subtract(ones, stated)], axis=1)


def weights_up_to(largest: int) -> list[int]:
    """Weights of bits whose sums are exactly the whole numbers from 0 to ``largest``.

    Example:
        >>> weights_up_to(10)
        [1, 2, 4, 3]
    """
    powers = [1 << i for i in range(largest.bit_length() - 1)]
    return [*powers, largest - sum(powers)]


def _bits(numbers: Numbers, largest: int) -> Numbers:
    """Bits for `weights_up_to`, along a new axis; the last one is used only where the others do not reach."""
    weights = weights_up_to(largest)
    last = (numbers > np.uint64(sum(weights[:-1]))).astype(np.uint64)
    rest = numbers - last * np.uint64(weights[-1])
    places = np.arange(len(weights) - 1, dtype=np.uint64)
    return np.concatenate([(rest[..., None] >> places) & np.uint64(1), last[..., None]], axis=-1)


def _whole_numbers(values: Any, largest: int, function: str, kinds: str = "iu") -> Numbers:
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty((0, 0))
    good = array.ndim == 1 and array.dtype.kind in kinds
    if not good or (array.size and (int(array.min()) < 0 or int(array.max()) > largest)):
        raise ParameterError(
            "measurement",
            function,
            Words(f"a whole number from 0 to {largest}", f"0 以上 {largest} 以下の整数"),
            HIDDEN,
        ) from None
    return array.astype(np.uint64)


def _vector(row: Any, length: int, largest: int, function: str, kinds: str = "iu") -> Numbers:
    numbers = _whole_numbers(row, largest, function, kinds)
    if numbers.size != length:
        raise ParameterError(
            "measurement", function, Words(f"a vector of {length} numbers", f"{length} 個の数のベクトル"), HIDDEN
        )
    return numbers


def _stacked(rows: list[Numbers], length: int) -> Numbers:
    return np.array(rows, dtype=np.uint64).reshape(len(rows), length)


def _read_maximum(value: int, parameter: str, function: str, limit: int = 2**MAX_BITS) -> int:
    shown = "2**62" if limit == 2**MAX_BITS else str(limit)
    return exact_integer(
        value,
        parameter,
        function,
        Words(f"a whole number from 1 to {shown}", f"1 以上 {shown} 以下の整数"),
        smallest=1,
        largest=limit,
    )


def _read_length(value: int, function: str) -> int:
    return exact_integer(
        value,
        "length",
        function,
        Words("a whole number from 1 to 1000000", "1 以上 1000000 以下の整数"),
        smallest=1,
        largest=1_000_000,
    )


def _read_chunk(value: int | None, length: int, function: str) -> int:
    if value is None:
        return best_chunk_length(length)
    requirement = f"a whole number from 1 to {length}"
    return exact_integer(value, "chunk_length", function, requirement, smallest=1, largest=length)


def best_chunk_length(length: int) -> int:
    """The chunk length with the shortest proof: 2 c wires and 2 P - 1 values, P the power of two above length / c.

    Example:
        >>> best_chunk_length(100)
        15
    """
    best = (0, 0)
    power = 2
    while not best[0] or power <= 2 * length:
        chunk = -(-length // (power - 1))
        cost = 2 * chunk + 2 * power - 1
        if not best[0] or cost < best[1]:
            best = (chunk, cost)
        power *= 2
    return best[0]
