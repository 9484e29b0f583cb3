"""Arithmetic in the two finite fields of Prio3, on arrays of elements.

An element is the last axis of an array of 64-bit words: one word for the field of p = 2**64 - 2**32 + 1, two (the lower
first) for that of p = 2**128 - 7 * 2**66 + 1. All arrays have four axes, also views whose strides are zero, so that the
caller broadcasts without copies: three axes of elements, or two of vectors and one along the vector.

The larger field holds x as x * 2**128 mod p (Montgomery's form), so that a product is reduced without a division. As
p = 1 mod 2**64, the factor of each of the two steps is just the negated lowest word, and a step costs one product.
The smaller field holds x as it is: 2**64 = 2**32 - 1 and 2**96 = -1 mod p reduce a product by shifts.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from sudare.kernels.compiling import inlined, kernel

__all__ = ["add", "dot", "invert", "multiply", "powers", "subtract", "total", "transform"]

ZERO = np.uint64(0)
ONE = np.uint64(1)
HALF = np.uint64(32)
LOWER_HALF = np.uint64(2**32 - 1)
NARROW = np.uint64(2**64 - 2**32 + 1)
NARROW_EXPONENT = 2**64 - 2**32 - 1
WIDE_HIGH = np.uint64(2**64 - 28)
WIDE_LOW = np.uint64(1)
WIDE_UNIT_LOW, WIDE_UNIT_HIGH = np.uint64(2**64 - 1), np.uint64(27)
"""2**128 mod p = 7 * 2**66 - 1: the number 1 in Montgomery's form."""
WIDE_EXPONENT_LOW, WIDE_EXPONENT_HIGH = np.uint64(2**64 - 1), np.uint64(2**64 - 29)

ONE_ARRAY = "void(uint64[:,:,:,:], uint64[:,:,:,::1])"
TWO_ARRAYS = "void(uint64[:,:,:,:], uint64[:,:,:,:], uint64[:,:,:,::1])"


@intrinsic
def high_product(context: Any, first: Any, second: Any) -> Any:
    """The upper 64 bits of a product of two words."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(arguments[0], wide), builder.zext(arguments[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return numba.uint64(numba.uint64, numba.uint64), generate


@inlined
def narrow_product(a: Any, b: Any) -> Any:
    """The product a * b in the smaller field."""
    low = a * b
    high = high_product(a, b)
    upper = high >> HALF
    result = low - upper
    if low < upper:
        result -= LOWER_HALF
    middle = (high & LOWER_HALF) * LOWER_HALF
    result += middle
    if result < middle:
        result += LOWER_HALF
    if result >= NARROW:
        result -= NARROW
    return result


@inlined
def narrow_sum(a: Any, b: Any) -> Any:
    """The sum a + b in the smaller field."""
    result = a + b
    if result < a or result >= NARROW:
        result -= NARROW
    return result


@inlined
def narrow_difference(a: Any, b: Any) -> Any:
    """The difference a - b in the smaller field."""
    result = a - b
    if a < b:
        result += NARROW
    return result


@inlined
def wide_fit(low: Any, high: Any, carry: Any) -> Any:
    """Bring a number below 2 p into the range of the larger field."""
    if (carry != ZERO) | (high > WIDE_HIGH) | ((high == WIDE_HIGH) & (low >= WIDE_LOW)):
        borrow = np.uint64(low < WIDE_LOW)
        return low - WIDE_LOW, high - WIDE_HIGH - borrow
    return low, high


@inlined
def wide_sum(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """The sum a + b in the larger field."""
    low = a0 + b0
    carry = np.uint64(low < a0)
    high = a1 + b1
    over = np.uint64(high < a1)
    high += carry
    over += np.uint64(high < carry)
    return wide_fit(low, high, over)


@inlined
def wide_difference(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """The difference a - b in the larger field."""
    low = a0 - b0
    borrow = np.uint64(a0 < b0)
    high = a1 - b1 - borrow
    if (a1 < b1) | ((a1 == b1) & (borrow != ZERO)):
        low += WIDE_LOW
        high += WIDE_HIGH + np.uint64(low < WIDE_LOW)
    return low, high


@inlined
def reduce_step(t0: Any, t1: Any, t2: Any, t3: Any) -> Any:
    """Add the multiple of p that makes the lowest of four words zero; the words above it, and what overflows."""
    factor = ZERO - t0
    low = factor * WIDE_HIGH
    high = high_product(factor, WIDE_HIGH)
    low += np.uint64(t0 != ZERO)
    high += np.uint64(low < np.uint64(t0 != ZERO))
    t1 += low
    high += np.uint64(t1 < low)
    t2 += high
    carry = np.uint64(t2 < high)
    t3 += carry
    return t1, t2, t3, np.uint64(t3 < carry)


@inlined
def wide_product(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """The product a * b / 2**128 in the larger field: the product of two numbers in Montgomery's form."""
    t0 = a0 * b0
    t1 = high_product(a0, b0)
    middle = a0 * b1
    t2 = high_product(a0, b1)
    t1 += middle
    t2 += np.uint64(t1 < middle)
    middle = a1 * b0
    upper = high_product(a1, b0)
    t1 += middle
    upper += np.uint64(t1 < middle)
    t2 += upper
    t3 = np.uint64(t2 < upper)
    middle = a1 * b1
    t2 += middle
    t3 += high_product(a1, b1) + np.uint64(t2 < middle)
    t1, t2, t3, first_over = reduce_step(t0, t1, t2, t3)
    low, high, over, _ = reduce_step(t1, t2, t3, first_over)
    return wide_fit(low, high, over)


@kernel(TWO_ARRAYS, read_only=(0, 1))
def add(a: Any, b: Any, out: Any) -> None:
    """The sum a + b, element by element."""
    first, second, third, words = out.shape
    for i in range(first):
        for j in range(second):
            if words == 1:
                for k in range(third):
                    out[i, j, k, 0] = narrow_sum(a[i, j, k, 0], b[i, j, k, 0])
            else:
                for k in range(third):
                    low, high = wide_sum(a[i, j, k, 0], a[i, j, k, 1], b[i, j, k, 0], b[i, j, k, 1])
                    out[i, j, k, 0], out[i, j, k, 1] = low, high


@kernel(TWO_ARRAYS, read_only=(0, 1))
def subtract(a: Any, b: Any, out: Any) -> None:
    """The difference a - b, element by element."""
    first, second, third, words = out.shape
    for i in range(first):
        for j in range(second):
            if words == 1:
                for k in range(third):
                    out[i, j, k, 0] = narrow_difference(a[i, j, k, 0], b[i, j, k, 0])
            else:
                for k in range(third):
                    low, high = wide_difference(a[i, j, k, 0], a[i, j, k, 1], b[i, j, k, 0], b[i, j, k, 1])
                    out[i, j, k, 0], out[i, j, k, 1] = low, high


@kernel(TWO_ARRAYS, read_only=(0, 1))
def multiply(a: Any, b: Any, out: Any) -> None:
    """The product a * b, element by element."""
    first, second, third, words = out.shape
    for i in range(first):
        for j in range(second):
            if words == 1:
                for k in range(third):
                    out[i, j, k, 0] = narrow_product(a[i, j, k, 0], b[i, j, k, 0])
            else:
                for k in range(third):
                    low, high = wide_product(a[i, j, k, 0], a[i, j, k, 1], b[i, j, k, 0], b[i, j, k, 1])
                    out[i, j, k, 0], out[i, j, k, 1] = low, high


@kernel(ONE_ARRAY, read_only=(0,))
def total(a: Any, out: Any) -> None:
    """The sum of each vector, into ``out`` as a vector of one element."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            low, high = ZERO, ZERO
            if a.shape[3] == 1:
                for k in range(a.shape[2]):
                    low = narrow_sum(low, a[i, j, k, 0])
                out[i, j, 0, 0] = low
            else:
                for k in range(a.shape[2]):
                    low, high = wide_sum(low, high, a[i, j, k, 0], a[i, j, k, 1])
                out[i, j, 0, 0], out[i, j, 0, 1] = low, high


@kernel(TWO_ARRAYS, read_only=(0, 1))
def dot(a: Any, b: Any, out: Any) -> None:
    """The inner product of two vectors each, into ``out`` as a vector of one element."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            low, high = ZERO, ZERO
            if a.shape[3] == 1:
                for k in range(a.shape[2]):
                    low = narrow_sum(low, narrow_product(a[i, j, k, 0], b[i, j, k, 0]))
                out[i, j, 0, 0] = low
            else:
                for k in range(a.shape[2]):
                    p0, p1 = wide_product(a[i, j, k, 0], a[i, j, k, 1], b[i, j, k, 0], b[i, j, k, 1])
                    low, high = wide_sum(low, high, p0, p1)
                out[i, j, 0, 0], out[i, j, 0, 1] = low, high


@kernel(ONE_ARRAY, read_only=(0,))
def powers(a: Any, out: Any) -> None:
    """a, a**2, ... for the one element of each vector in ``a``, as many as there is room in ``out``."""
    first, second, count, words = out.shape
    for i in range(first):
        for j in range(second):
            if words == 1:
                base = a[i, j, 0, 0]
                low = ONE
                for k in range(count):
                    low = narrow_product(low, base)
                    out[i, j, k, 0] = low
            else:
                b0, b1 = a[i, j, 0, 0], a[i, j, 0, 1]
                p0, p1 = WIDE_UNIT_LOW, WIDE_UNIT_HIGH
                for k in range(count):
                    p0, p1 = wide_product(p0, p1, b0, b1)
                    out[i, j, k, 0], out[i, j, k, 1] = p0, p1


@inlined
def narrow_inverse(a: Any) -> Any:
    """a**(p - 2) in the smaller field."""
    result, square, exponent = ONE, a, np.uint64(NARROW_EXPONENT)
    while exponent != ZERO:
        if exponent & ONE:
            result = narrow_product(result, square)
        square = narrow_product(square, square)
        exponent >>= ONE
    return result


@inlined
def wide_inverse(a0: Any, a1: Any) -> Any:
    """a**(p - 2) in the larger field."""
    r0, r1, s0, s1 = WIDE_UNIT_LOW, WIDE_UNIT_HIGH, a0, a1
    low, high = WIDE_EXPONENT_LOW, WIDE_EXPONENT_HIGH
    for _ in range(128):
        if low & ONE:
            r0, r1 = wide_product(r0, r1, s0, s1)
        s0, s1 = wide_product(s0, s1, s0, s1)
        low = (low >> ONE) | (high << np.uint64(63))
        high >>= ONE
    return r0, r1


@kernel(ONE_ARRAY, read_only=(0,))
def invert(a: Any, out: Any) -> None:
    """The inverses of each vector, with one exponentiation for all of it; all of it becomes zero if any of it is zero."""
    count = a.shape[2]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a.shape[3] == 1:
                product = ONE
                for k in range(count):
                    out[i, j, k, 0] = product
                    product = narrow_product(product, a[i, j, k, 0])
                rest = narrow_inverse(product)
                for k in range(count - 1, -1, -1):
                    out[i, j, k, 0] = narrow_product(out[i, j, k, 0], rest)
                    rest = narrow_product(rest, a[i, j, k, 0])
            else:
                p0, p1 = WIDE_UNIT_LOW, WIDE_UNIT_HIGH
                for k in range(count):
                    out[i, j, k, 0], out[i, j, k, 1] = p0, p1
                    p0, p1 = wide_product(p0, p1, a[i, j, k, 0], a[i, j, k, 1])
                r0, r1 = wide_inverse(p0, p1)
                for k in range(count - 1, -1, -1):
                    p0, p1 = wide_product(out[i, j, k, 0], out[i, j, k, 1], r0, r1)
                    out[i, j, k, 0], out[i, j, k, 1] = p0, p1
                    r0, r1 = wide_product(r0, r1, a[i, j, k, 0], a[i, j, k, 1])


@inlined
def place_reversed(values: Any, out: Any) -> None:
    """Copy a vector, each element to the place whose number has the bits of its own in reverse."""
    n, words = values.shape
    reversed_bits = 0
    for i in range(n):
        for k in range(words):
            out[reversed_bits, k] = values[i, k]
        bit = n >> 1
        while bit and reversed_bits & bit:
            reversed_bits ^= bit
            bit >>= 1
        reversed_bits |= bit


@kernel("void(uint64[:,:,:,:], uint64[:,::1], uint64[:,:,:,::1])", read_only=(0, 1))
def transform(values: Any, roots: Any, out: Any) -> None:
    """The number theoretic transform of each vector: out[k] = sum over j of values[j] * root**(j * k).

    Args:
        values: coefficients of polynomials, as many as a power of two, n.
        roots: powers 0 to n/2 - 1 of an n-th root of unity (one element, 1, where n = 1).
        out: the polynomials' values at the powers of the root.
    """
    n, words = values.shape[2], values.shape[3]
    for first in range(values.shape[0]):
        for second in range(values.shape[1]):
            line = out[first, second]
            place_reversed(values[first, second], line)
            half = 1
            while half < n:
                stride = n // (2 * half)
                for start in range(0, n, 2 * half):
                    for j in range(half):
                        top, bottom, root = start + j, start + j + half, j * stride
                        if words == 1:
                            turned = narrow_product(line[bottom, 0], roots[root, 0])
                            kept = line[top, 0]
                            line[top, 0] = narrow_sum(kept, turned)
                            line[bottom, 0] = narrow_difference(kept, turned)
                        else:
                            t0, t1 = wide_product(line[bottom, 0], line[bottom, 1], roots[root, 0], roots[root, 1])
                            k0, k1 = line[top, 0], line[top, 1]
                            line[top, 0], line[top, 1] = wide_sum(k0, k1, t0, t1)
                            line[bottom, 0], line[bottom, 1] = wide_difference(k0, k1, t0, t1)
                half *= 2
