"""Rules by which a person's device draws a report of a number, exactly, with the standard library only.

Noise is drawn again until it stays within the grid, and made from coins with probability exp(-x), which are made from fair ones:
no probability is ever rounded. It takes a few dozen random words whatever the grid and the noise are.

Proof: ``numbers.md`` beside this file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sudare.collect.device.rules import (
    CategoryDomain,
    DeviceRule,
    NextWord,
    Plain,
    RatioRule,
    below,
    read_total,
    read_whole,
)

__all__ = [
    "GridPoints",
    "LineRule",
    "NoiseRule",
    "WindowRule",
    "bernoulli_exp",
    "discrete_gaussian",
    "discrete_laplace",
]

MAX_POINTS = 1 << 31
MAX_EXACT = 1 << 53
MAX_BITS = 16_384
_WRITTEN_FRACTION = re.compile(r"-?[0-9]{1,2000}(/[0-9]{1,2000})?")


class GridPoints:
    """The points of a grid, read and written as `sudare.collect.transitions.grids.Grid` does."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        texts = [told[name] for name in ("low", "high", "step")]
        if not all(isinstance(text, str) and _WRITTEN_FRACTION.fullmatch(text) for text in texts):
            raise ValueError
        self.low, self.high, self.step = (Fraction(text) for text in texts)
        if not (self.low < self.high and self.step > 0):
            raise ValueError
        steps = (self.high - self.low) / self.step
        if steps.denominator != 1 or steps >= MAX_POINTS or max(abs(self.low), abs(self.high)) > MAX_EXACT:
            raise ValueError
        self.last = int(steps)
        self.is_whole = self.low.denominator == 1 and self.step.denominator == 1

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.last + 1

    @property
    def requirement(self) -> str:
        """What a value must be, in words."""
        return f"a number from {float(self.low):g} to {float(self.high):g}"

    def place(self, value: object) -> int | None:
        """The nearest point. How ties are broken takes nothing from the guarantee: nothing random has happened yet."""
        if type(value) is int and self.is_whole:
            steps, rest = divmod(value - int(self.low), int(self.step))
            return steps + (2 * rest >= int(self.step)) if self.low <= value <= self.high else None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) <= 2 * MAX_EXACT:
            return None
        slack = 2.0**-50 * (float(max(abs(self.low), abs(self.high)) / self.step) + self.last)
        position = (float(value) - float(self.low)) / float(self.step)
        return round(min(max(position, 0.0), self.last)) if -slack <= position <= self.last + slack else None

    def plain(self, place: int) -> Plain:
        """The number at a place, also beyond the ends."""
        number = self.low + place * self.step
        return int(number) if self.is_whole else float(number)

    def point(self, place: int) -> Plain:
        """The place itself: all numbers nearest to it are one answer."""
        return place


class NoiseRule(DeviceRule):
    """Laplace or normal noise in whole steps of a grid, kept within it or not."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        numerator, denominator = drawing["steps"]
        if any(type(x) is not int or x < 1 or x.bit_length() > MAX_BITS for x in (numerator, denominator)):
            raise ValueError
        if drawing["base"] not in ("laplace", "normal") or type(drawing["within"]) is not bool:
            raise ValueError
        if not isinstance(domain, GridPoints):  # labels end where noise does not
            raise ValueError
        self.points, self.last, self.within = domain, domain.size - 1, drawing["within"]
        self.steps, self.is_normal = Fraction(numerator, denominator), drawing["base"] == "normal"

    def energy(self, distance: int) -> Fraction:
        """The logarithm, upside down, of how much less likely noise is than none."""
        return (distance / self.steps) ** 2 / 2 if self.is_normal else abs(distance) / self.steps

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        return self.points.plain(self.draw_place(place, next_word))

    def draw_place(self, place: int, next_word: NextWord) -> int:
        """Where the report stands; beyond the ends if the noise has no bounds."""
        # Wide noise is nearly even over the grid: then a point is drawn first, and kept by a coin.
        is_flat = self.within and self.energy(self.last) <= 1
        while True:
            if is_flat:
                found = below(self.last + 1, next_word)
                if bernoulli_exp(self.energy(found - place), next_word):
                    return found
                continue
            noise = discrete_gaussian if self.is_normal else discrete_laplace
            found = place + noise(self.steps, next_word)
            if not self.within or 0 <= found <= self.last:
                return found

    def epsilon(self) -> Fraction | None:
        """Exactly the energy from one end to the other; normal noise without bounds has none."""
        return self.energy(self.last) if self.within or not self.is_normal else None


class WindowRule(RatioRule):
    """Likely a report in the window of the value, else any report: the piecewise mechanism."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        self.shift, self.width = read_whole(drawing["shift"]), read_whole(drawing["width"])
        self.likely, self.other = read_whole(drawing["likely"]), read_whole(drawing["other"])
        if min(self.shift, self.width, self.other) < 1 or self.likely <= self.other:
            raise ValueError
        self.reports = (domain.size - 1) * self.shift + self.width
        self.total = read_total(self.reports * self.other + self.width * (self.likely - self.other))

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        number = below(self.total, next_word)
        if number < self.reports * self.other:
            return number // self.other
        return (number - self.reports * self.other) // (self.likely - self.other) + place * self.shift

    def ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values, the largest."""
        return Fraction(self.likely, self.other)


class LineRule(RatioRule):
    """0 or 1, with a probability that goes in a straight line from the first value to the last: one bit."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        self.last = domain.size - 1
        self.likely, self.other = read_whole(drawing["likely"]), read_whole(drawing["other"])
        self.total = read_total(self.last * (self.likely + self.other))
        if self.likely <= self.other:
            raise ValueError

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        high = place * (self.likely - self.other) + self.last * self.other
        return int(below(self.total, next_word) < high)

    def ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values, the largest."""
        return Fraction(self.likely, self.other) if self.other else None


def bernoulli_exp(exponent: Fraction, next_word: NextWord) -> bool:
    """A coin that shows True with probability exp(-exponent), exactly, for any exponent >= 0."""
    whole, rest = divmod(exponent, 1)
    return all(_coin(Fraction(1), next_word) for _ in range(whole)) and _coin(rest, next_word)


def _coin(exponent: Fraction, next_word: NextWord) -> bool:
    """The same, for an exponent from 0 to 1: how long coins with probabilities x, x/2, x/3, ... keep showing True is even."""
    tosses = 1
    while below(exponent.denominator * tosses, next_word) < exponent.numerator:
        tosses += 1
    return tosses % 2 == 1


def discrete_laplace(scale: Fraction, next_word: NextWord) -> int:
    """A whole number x with a probability in proportion to exp(-|x| / scale)."""
    fine, parts = scale.numerator, scale.denominator
    while True:
        rest = below(fine, next_word)
        if not bernoulli_exp(Fraction(rest, fine), next_word):
            continue
        rounds = 0
        while bernoulli_exp(Fraction(1), next_word):
            rounds += 1
        size, is_negative = (rest + fine * rounds) // parts, bool(next_word() >> 63)
        if size or not is_negative:  # 0 has no sign, and is counted once
            return -size if is_negative else size


def discrete_gaussian(scale: Fraction, next_word: NextWord) -> int:
    """A whole number x with a probability in proportion to exp(-x**2 / (2 scale**2))."""
    width, square = math.floor(scale) + 1, scale**2
    while True:
        found = discrete_laplace(Fraction(width), next_word)
        if bernoulli_exp((abs(found) - square / width) ** 2 / (2 * square), next_word):
            return found
