"""The two finite fields that Prio3 counts in, and their elements as arrays.

An array of elements has one axis more than the vector it stands for: its last axis holds the words of an element, in the
form that `sudare.kernels.collection.fields` works on. Whole numbers and bytes are turned into that form and back here, and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Elements = NDArray[np.uint64]
    Octets = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

__all__ = ["FIELD64", "FIELD128", "Field"]

WORD = 2**64
GENERATOR = 7
"""Of the multiplicative group, in both fields."""
AXES = 4
"""How many axes the kernels' arrays have, that of an element's words included."""


@cache
def _kernels() -> Any:
    """The compiled loops, loaded on first use."""
    from sudare.kernels.collection import fields

    return fields


@dataclass(frozen=True)
class Field:
    """Whole numbers modulo a prime p for which p - 1 has a large power of two as a factor.

    Attributes:
        modulus: the prime p.
        words: how many 64-bit words an element takes.
        most_roots: the largest power of two that divides p - 1.

    Example:
        >>> from sudare.collect.prio.vdaf.fields import FIELD128
        >>> seven = FIELD128.elements([7])
        >>> FIELD128.integers(FIELD128.multiply(seven, seven))
        [49]
    """

    modulus: int
    words: int
    most_roots: int

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return 8 * self.words

    @cached_property
    def _scale(self) -> int:
        """What an element is multiplied by in the kernels' form."""
        return 1 if self.words == 1 else WORD**self.words % self.modulus

    @cached_property
    def _raise(self) -> Elements:
        """The factor that brings plain words into the kernels' form."""
        return self._plain_words([self._scale**2 % self.modulus]).reshape(self.words)

    @cached_property
    def _lower(self) -> Elements:
        """The factor that brings the kernels' form back to plain words."""
        return self._plain_words([1]).reshape(self.words)

    def _plain_words(self, values: Sequence[int]) -> Elements:
        raw = b"".join(value.to_bytes(self.size, "little") for value in values)
        return np.frombuffer(raw, dtype="<u8").astype(np.uint64).reshape(-1, self.words)

    def elements(self, values: Sequence[int]) -> Elements:
        """A vector of elements from whole numbers, taken modulo p."""
        return self._plain_words([value * self._scale % self.modulus for value in values])

    def small(self, values: NDArray[np.uint64]) -> Elements:
        """Elements from an array of words that are all below p, of any shape."""
        plain = np.zeros((*values.shape, self.words), dtype=np.uint64)
        plain[..., 0] = values
        return plain if self.words == 1 else self.multiply(plain, self._raise)

    def zeros(self, *shape: int) -> Elements:
        """An array of zeros."""
        return np.zeros((*shape, self.words), dtype=np.uint64)

    def integers(self, elements: Elements) -> list[int]:
        """The whole numbers from 0 to p - 1 that a vector of elements stands for."""
        raw = self.encode(elements).tobytes()
        return [int.from_bytes(raw[i : i + self.size], "little") for i in range(0, len(raw), self.size)]

    def encode(self, elements: Elements) -> Octets:
        """Bytes of vectors (the last axis but one): each element in ``size`` bytes, the lowest first."""
        plain = elements if self.words == 1 else self.multiply(elements, self._lower)
        octets = np.ascontiguousarray(plain, dtype="<u8").view(np.uint8)
        return octets.reshape(*elements.shape[:-2], elements.shape[-2] * self.size)

    def decode(self, octets: Octets) -> tuple[Elements, Mask]:
        """Elements from the bytes of vectors, and which of them were below p; the others come back as zero."""
        length = octets.shape[-1] // self.size
        plain = np.ascontiguousarray(octets).view("<u8").astype(np.uint64)
        plain = plain.reshape(*octets.shape[:-1], length, self.words)
        valid = self._below(plain)
        if not valid.all():
            plain[~valid] = 0
        return (plain if self.words == 1 else self.multiply(plain, self._raise)), valid

    def _below(self, plain: Elements) -> Mask:
        low, high = np.uint64(self.modulus % WORD), np.uint64(self.modulus // WORD)
        if self.words == 1:
            return np.asarray(plain[..., 0] < low)
        return np.asarray((plain[..., 1] < high) | ((plain[..., 1] == high) & (plain[..., 0] < low)))

    def add(self, a: Elements, b: Elements) -> Elements:
        """The sum a + b, with NumPy's broadcasting."""
        return _each(_kernels().add, a, b)

    def subtract(self, a: Elements, b: Elements) -> Elements:
        """The difference a - b, with NumPy's broadcasting."""
        return _each(_kernels().subtract, a, b)

    def multiply(self, a: Elements, b: Elements) -> Elements:
        """The product a * b, with NumPy's broadcasting."""
        return _each(_kernels().multiply, a, b)

    def total(self, a: Elements) -> Elements:
        """Sums of vectors."""
        return _along(_kernels().total, 1, a)[..., 0, :]

    def dot(self, a: Elements, b: Elements) -> Elements:
        """Inner products of vectors."""
        return _along(_kernels().dot, 1, a, b)[..., 0, :]

    def powers(self, a: Elements, count: int) -> Elements:
        """a, a**2, ..., a**count, along a new axis."""
        return _along(_kernels().powers, count, a[..., None, :])

    def invert(self, a: Elements) -> Elements:
        """Inverses of vectors; a vector that has a zero becomes all zeros."""
        return _along(_kernels().invert, a.shape[-2], a)

    def root(self, order: int) -> int:
        """The root of unity of an order that is a power of two, as a whole number."""
        return pow(GENERATOR, (self.modulus - 1) // order, self.modulus)

    def roots(self, order: int) -> Elements:
        """The powers 0 to order - 1 of the root of unity of an order."""
        return self.elements(_powers(self.root(order), order, self.modulus))

    def evaluate_on_roots(self, coefficients: Elements) -> Elements:
        """Values of polynomials at the powers of a root of unity whose order is the number of coefficients."""
        return self._transform(coefficients, inverse=False)

    def interpolate_on_roots(self, values: Elements) -> Elements:
        """Coefficients of polynomials from their values at the powers of a root of unity."""
        found = self._transform(values, inverse=True)
        return self.multiply(found, self.elements([pow(values.shape[-2], -1, self.modulus)])[0])

    def _transform(self, vectors: Elements, inverse: bool) -> Elements:
        order = vectors.shape[-2]
        roots = _twiddles(self, order, inverse)
        return _along(lambda values, out: _kernels().transform(values, roots, out), order, vectors)


def _each(kernel: Callable[..., None], *arrays: Elements) -> Elements:
    """Call a kernel that works element by element on arrays of up to three axes of elements."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    out = np.empty(shape, dtype=np.uint64)
    full = (1,) * (AXES - len(shape)) + shape
    kernel(*(np.broadcast_to(array, full) for array in arrays), out.reshape(full))
    return out


def _along(kernel: Callable[..., None], length: int, *arrays: Elements) -> Elements:
    """Call a kernel that works vector by vector on arrays of up to two axes of vectors; it gives vectors of a length."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    out = np.empty((*shape[:-2], length, shape[-1]), dtype=np.uint64)
    full = (1,) * (AXES - len(shape)) + shape
    kernel(*(np.broadcast_to(array, full) for array in arrays), out.reshape(*full[:2], length, shape[-1]))
    return out


def _powers(base: int, count: int, modulus: int) -> list[int]:
    found = [1]
    for _ in range(count - 1):
        found.append(found[-1] * base % modulus)
    return found


@cache
def _twiddles(field: Field, order: int, inverse: bool) -> Elements:
    root = field.root(order)
    if inverse:
        root = pow(root, -1, field.modulus)
    return field.elements(_powers(root, max(order // 2, 1), field.modulus))


FIELD64 = Field(modulus=2**64 - 2**32 + 1, words=1, most_roots=2**32)
"""For counts and sums: p = 2**32 * 4294967295 + 1."""

FIELD128 = Field(modulus=2**128 - 7 * 2**66 + 1, words=2, most_roots=2**66)
"""For vectors: p = 2**66 * 4611686018427387897 + 1."""
