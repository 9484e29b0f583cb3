"""Numbers on a lattice, and the law of noise that is kept on it.

A number that is randomized is first a point of a grid: noise on whole numbers of steps can be drawn exactly, noise on floats
cannot. `Grid` reads values to points. `BoundedLaw` is the law of a point's noise, given that the point stays on the grid; it
compares random numbers with its cumulative probabilities, in whole numbers, with the direction of every rounding known.

Proof: ``collect/randomizers/noisy_numbers.md``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS, LatticeLaw, NextWord, bounded_exp
from sudare.parameters import Rational, exact_fraction, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]

__all__ = ["BoundedLaw", "Grid", "exp_minus_down", "exp_minus_up"]

MAX_POINTS = 1 << 31
FINEST_STEP = Fraction(1, 1 << 40)
"""Of the largest number of a grid: finer steps could not be told apart in floats."""

MAX_NUMBER = 1 << 53
MAX_BOUNDED_POINTS = 1 << 20
TABLE_BITS = 61
DIGITS = 60
_WRITTEN_FRACTION = re.compile(r"-?[0-9]{1,2000}(/[0-9]{1,2000})?")


@dataclass(frozen=True)
class Grid:
    """The numbers low, low + step, ..., high.

    Args:
        low: the smallest number.
        high: the largest number; a whole number of steps above low.
        step: from one number to the next.

    Raises:
        ParameterError: if low is not below high, the steps do not fit, or there are too many of them.

    Example:
        >>> from sudare.collect.transitions.grids import Grid
        >>> ages = Grid(0, 120, 5)
        >>> ages.size, ages.places([0, 17, 120]).tolist(), ages.values([3, 4]).tolist()
        (25, [0, 3, 24], [15, 20])
    """

    low: Fraction
    high: Fraction
    step: Fraction

    def __init__(self, low: Rational, high: Rational, step: Rational) -> None:
        for name, value in (("low", low), ("high", high), ("step", step)):
            number = exact_fraction(value, name, "Grid", Words("a finite number", "有限の数"))
            if abs(number) > MAX_NUMBER:
                raise ParameterError(
                    name, "Grid", Words("a number from -2**53 to 2**53", "-2**53 以上 2**53 以下の数"), value
                )
            object.__setattr__(self, name, number)
        if self.low >= self.high:
            raise ParameterError("high", "Grid", Words("above low", "low より大きい値"), high)
        if self.step <= 0:
            raise ParameterError("step", "Grid", Words("a number above 0", "0 より大きい数"), step)
        steps = self.span / self.step
        if steps.denominator != 1:
            requirement = Words(
                "such that a whole number of steps leads from low to high", "low から high までが刻みの整数倍になる値"
            )
            hint = "Fractions are exact: Fraction(1, 3) in place of 0.333."
            raise ParameterError("step", "Grid", requirement, step, hint)
        largest = max(abs(self.low), abs(self.high))
        if steps >= MAX_POINTS or self.step < FINEST_STEP * largest:
            raise ParameterError(
                "step",
                "Grid",
                Words(
                    "larger: at most 2**31 points, 2**40 steps from 0 to either end",
                    "より大きい刻み（点は 2**31 個、0 から両端までは 2**40 刻み以下）",
                ),
                step,
            )

    @property
    def span(self) -> Fraction:
        """From the smallest number to the largest."""
        return self.high - self.low

    @property
    def last(self) -> int:
        """The place of the largest number; the smallest is at 0."""
        return int(self.span / self.step)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return self.last + 1

    @property
    def is_whole(self) -> bool:
        """Whether all numbers are whole."""
        return self.low.denominator == 1 and self.step.denominator == 1

    def fraction(self, place: int) -> Fraction:
        """The number at a place, exactly; places outside the grid go on beyond its ends."""
        return self.low + place * self.step

    def values(self, places: ArrayLike) -> NDArray[Any]:
        """The numbers at places: int64 if all numbers of the grid are whole, else the nearest floats."""
        at = np.asarray(places, dtype=np.int64)
        if self.is_whole:
            return int(self.low) + at * int(self.step)
        # The numerator over a common denominator is exact below 2**53, so that one division rounds once.
        common = self.low.denominator * self.step.denominator
        start, one = int(self.low * common), int(self.step * common)
        ends = (start + one * int(at.min()), start + one * int(at.max())) if at.size else (MAX_NUMBER,)
        if max(common, one, *map(abs, ends)) < MAX_NUMBER:
            return (start + at * one) / np.float64(common)
        return float(self.low) + at * float(self.step)

    def labels(self) -> tuple[object, ...]:
        """All numbers in order."""
        return tuple(self.values(np.arange(self.size)).tolist())

    def places(
        self,
        values: ArrayLike,
        *,
        outside: Literal["refuse", "clamp"] = "refuse",
        between: Literal["nearest", "refuse"] = "nearest",
        parameter: str = "values",
        function: str = "Grid.places",
    ) -> Integers:
        """Where each value stands.

        Args:
            values: numbers of any shape.
            outside: what becomes of numbers below low or above high: an error, or the nearer end.
            between: what becomes of numbers between two points: the nearer point, or an error.
            parameter: how the values are called in an error message.
            function: what was called, in an error message.

        Raises:
            ParameterError: if a value is not a finite number, or is refused. The message does not name the value.
        """
        if outside not in ("refuse", "clamp") or between not in ("nearest", "refuse"):
            name = "outside" if outside not in ("refuse", "clamp") else "between"
            allowed = "'refuse' or 'clamp'" if name == "outside" else "'nearest' or 'refuse'"
            raise ParameterError(name, function, allowed, shown(outside if name == "outside" else between))
        requirement = Words(
            f"numbers from {_show(self.low)} to {_show(self.high)}",
            f"{_show(self.low)} 以上 {_show(self.high)} 以下の数",
        )
        array = _read_numbers(values, parameter, function, requirement)
        if array.size == 0:
            return np.zeros(array.shape, dtype=np.int64)
        if self.is_whole and array.dtype.kind == "i":
            inside = np.clip(array, int(self.low), int(self.high))
            strays = not np.array_equal(inside, array)
            steps, rest = np.divmod(inside - int(self.low), int(self.step))
            found, on_grid = steps + (2 * rest >= int(self.step)), not rest.any()
        else:
            # A float means the decimal that was typed, which is within half a unit of its last place.
            slack = 4 * self._rounding(array)
            position = (array.astype(np.float64) - float(self.low)) / float(self.step)
            strays = bool(position.min() < -slack or position.max() > self.last + slack)
            found = np.rint(np.clip(position, 0, self.last)).astype(np.int64)
            on_grid = bool((np.abs(position - found)[(position > 0) & (position < self.last)] <= slack).all())
        if outside == "refuse" and strays:
            raise ParameterError(parameter, function, requirement, Described("some outside"))
        if between == "refuse" and not on_grid:
            stepped = Words(
                f"{requirement.english} in steps of {_show(self.step)}",
                f"{requirement.japanese}（{_show(self.step)} 刻み）",
            )
            raise ParameterError(parameter, function, stepped, Described("some between the steps"))
        return np.asarray(found, dtype=np.int64)

    def _rounding(self, array: NDArray[Any]) -> float:
        """A unit of the last place of the largest number of the grid, in steps."""
        unit = float(np.finfo(array.dtype).eps) if array.dtype.kind == "f" else 2.0**-52
        return unit * (float(max(abs(self.low), abs(self.high)) / self.step) + self.last)

    def to_dict(self) -> dict[str, str]:
        """Plain values for JSON."""
        return {"low": str(self.low), "high": str(self.high), "step": str(self.step)}

    @classmethod
    def from_dict(cls, values: dict[str, str]) -> Grid:
        """Read what `to_dict` wrote.

        Raises:
            ParameterError: if it is something else.
        """
        try:
            texts = [values[name] for name in ("low", "high", "step")]
            # Only what `str` writes: the exponent of a text like 1e999999999 would take for ever to work out.
            if (
                not all(isinstance(text, str) and _WRITTEN_FRACTION.fullmatch(text) for text in texts)
                or len(values) != 3
            ):
                raise ValueError
            return cls(*(Fraction(text) for text in texts))
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                "values",
                "Grid.from_dict",
                Words("low, high and step as texts", "文字列の low、high、step"),
                shown(values),
            ) from None


@dataclass(frozen=True)
class BoundedLaw:
    """Noise on whole numbers, given that it leads from a place of 0 ... last to a place of 0 ... last.

    Attributes:
        law: the noise without bounds, in steps of the grid.
        last: the last place.
    """

    law: LatticeLaw
    last: int

    def weights(self, bits: int) -> tuple[list[int], list[int]]:
        """Lower and upper bounds of 2**bits times the weights of noise 0, 1, ..., last; the weight of 0 is 1."""
        one = 1 << bits
        ratio = bounded_exp(self.law.linear + self.law.quadratic, bits)
        bend = bounded_exp(2 * self.law.quadratic, bits)
        low = high = one
        ratio_low, ratio_high = ratio.low, min(ratio.high, one)
        bend_low, bend_high = bend.low, min(bend.high, one)
        lows, highs = [], []
        for _ in range(self.last + 1):
            lows.append(low)
            highs.append(high)
            low = low * ratio_low >> bits
            high = -(-high * ratio_high >> bits)
            ratio_low = ratio_low * bend_low >> bits
            ratio_high = -(-ratio_high * bend_high >> bits)
        return lows, highs

    def sums(self, bits: int) -> tuple[list[int], list[int]]:
        """Bounds of the running sums of the weights of noise -last, ..., last, from the empty sum on, in units below 2**-bits."""
        lows, highs = self.weights(bits + 3 * self.last.bit_length() + 16)
        return _two_sided_sums(lows), _two_sided_sums(highs)

    def table(self) -> Integers:
        """The running sums for the kernel: each at most 2 below the exact one, in units that make the last nearly 2**61."""
        return _table(self)

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """A place for each place, by the inverse of the cumulative probabilities: one word each, almost always."""
        from sudare.kernels.collection.bounded import UNDECIDED, bounded_response

        flat = np.ascontiguousarray(places.ravel())
        words = source.words(flat.size)
        drawn = np.empty(flat.size, dtype=np.int64)
        if bounded_response(flat, words, self.table(), self.last, drawn):
            for i in np.flatnonzero(drawn == UNDECIDED).tolist():
                drawn[i] = self.settle(int(flat[i]), int(words[i]), source.next_word)
        return drawn.reshape(places.shape)

    def settle(self, place: int, prefix: int, next_word: NextWord) -> int:
        """The place at which the cumulative probability passes a uniform number, however many bits that takes.

        Args:
            place: where the true value stands.
            prefix: the first word of the uniform number.
            next_word: gives the words that follow.
        """
        bits = WORD_BITS
        start, end = self.last - place, 2 * self.last + 1 - place
        while True:
            lows, highs = _cached_sums(self, bits)
            least = (prefix * (lows[end] - highs[start]) >> bits) + lows[start]
            most = ((prefix + 1) * (highs[end] - lows[start]) >> bits) + 1 + highs[start]
            # The first sum that is certainly above; the last one is, whatever its bounds.
            found = bisect_left(lows, most, start + 1, end)
            if found == start + 1 or highs[found - 1] <= least:
                return found - start - 1
            prefix = prefix << WORD_BITS | next_word()
            bits += WORD_BITS


def _two_sided_sums(weights: list[int]) -> list[int]:
    sums, running = [0], 0
    for weight in [*reversed(weights[1:]), *weights]:
        running += weight
        sums.append(running)
    return sums


@lru_cache(maxsize=4)
def _cached_sums(law: BoundedLaw, bits: int) -> tuple[list[int], list[int]]:
    return law.sums(bits)


@lru_cache(maxsize=16)
def _table(law: BoundedLaw) -> Integers:
    lows, highs = law.sums(WORD_BITS)
    shift = max(highs[-1].bit_length() - TABLE_BITS, 0)
    table = np.array([low >> shift for low in lows], dtype=np.int64)
    if max(-(-high >> shift) - low for low, high in zip(table.tolist(), highs, strict=True)) > 2:
        raise ArithmeticError("Bounds of cumulative probabilities are too far apart for a table.")
    table.setflags(write=False)
    return table


def exp_minus_down(exponent: Fraction) -> Fraction:
    """A fraction at most exp(-exponent), for an exponent >= 0; less than 1e-50 of it below."""
    return Fraction(1) if exponent == 0 else _exp_minus(exponent, up=False)


def exp_minus_up(exponent: Fraction) -> Fraction:
    """A fraction at least exp(-exponent), for an exponent >= 0; less than 1e-50 of it above."""
    return Fraction(1) if exponent == 0 else _exp_minus(exponent, up=True)


def _exp_minus(exponent: Fraction, *, up: bool) -> Fraction:
    """Decimals round division and exponential correctly; a unit of the last digit in the safe direction covers that."""
    with localcontext(Context(prec=DIGITS)) as context:
        quotient = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
        if up:
            return Fraction((-quotient.next_minus(context)).exp(context).next_plus(context))
        return Fraction((-quotient.next_plus(context)).exp(context).next_minus(context))


def _read_numbers(values: ArrayLike, parameter: str, function: str, requirement: Words) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind == "O" and array.size:
        if any(isinstance(x, str) for x in array.flat):  # an answer, not a setting: texts are no numbers
            raise ParameterError(parameter, function, requirement, Described("something else"))
        try:
            array = np.array([float(exact_fraction(x, parameter, function, requirement)) for x in array.flat]).reshape(
                array.shape
            )
        except ParameterError:
            raise ParameterError(parameter, function, requirement, Described("something else")) from None
    if array.size and (array.dtype.kind not in "iuf" or not np.isfinite(array).all()):
        raise ParameterError(parameter, function, requirement, Described("something else"))
    if array.dtype.kind == "u":
        array = np.minimum(array, np.uint64(1 << 62))
    return array.astype(np.int64) if array.dtype.kind in "iu" else array


def _show(number: Fraction) -> str:
    return str(number) if number.denominator < 1000 else f"{float(number):g}"
