"""Rules by which a person's device draws a report of a category, in whole numbers and with the standard library only.

A rule reads the whole numbers of a specification's ``drawing``. No float decides anything: a uniform number, found by rejection,
names the report. Rules for numbers are in `sudare.collect.device.numbers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

__all__ = [
    "BitsRule",
    "CategoryDomain",
    "DeviceRule",
    "HashRule",
    "Labels",
    "NextWord",
    "Plain",
    "RatioRule",
    "RowsRule",
    "UniformRule",
    "below",
    "hash_value",
    "read_total",
    "read_whole",
]

WORD_BITS = 64
MAX_TOTAL = 1 << 62
Label = str | int | bool
Plain = Any
"""A report as JSON writes it."""

NextWord = Callable[[], int]
"""Gives 64 fresh uniform bits."""


class CategoryDomain(Protocol):
    """What values may be."""

    @property
    def size(self) -> int:
        """How many values there are."""

    @property
    def requirement(self) -> str:
        """What a value must be, in words."""

    def place(self, value: object) -> int | None:
        """Where a value stands; None if it is none."""

    def plain(self, place: int) -> Plain:
        """The value at a place, as JSON writes it."""

    def point(self, place: int) -> Plain:
        """What values at a place mean: a label itself, for a number its place."""


class Labels:
    """Values with names."""

    requirement = "one of the labels"

    def __init__(self, labels: Sequence[Label]) -> None:
        self._labels = labels

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self._labels)

    @cached_property
    def _places(self) -> dict[tuple[type, Label], int]:
        return {(type(label), label): place for place, label in enumerate(self._labels)}

    def place(self, value: object) -> int | None:
        """Where a value stands; None if it is no label. 1 and True are two labels."""
        return self._places.get((type(value), value)) if isinstance(value, (str, int)) else None

    def plain(self, place: int) -> Plain:
        """The label at a place."""
        return self._labels[place]

    def point(self, place: int) -> Plain:
        """The label itself."""
        return self._labels[place]


class DeviceRule(ABC):
    """How a report is drawn for the value at a place."""

    @abstractmethod
    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        """Read and check the whole numbers; any error means that they are no such rule."""

    @abstractmethod
    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""

    @abstractmethod
    def epsilon(self) -> Fraction | None:
        """What a report costs, computed from the very numbers by which it is drawn; None if no epsilon holds."""


class RatioRule(DeviceRule):
    """A rule whose probabilities are fractions."""

    @abstractmethod
    def ratio(self) -> Fraction | None:
        """The largest ratio of the probabilities of one report for two values; None if there is none."""

    def epsilon(self) -> Fraction | None:
        """The logarithm of the largest ratio, rounded up."""
        ratio = self.ratio()
        if ratio is None or ratio == 1:
            return None if ratio is None else Fraction(0)
        context = Context(prec=60)
        quotient = context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)).next_plus(context)
        return Fraction(quotient.ln(context).next_plus(context))


class UniformRule(RatioRule):
    """The value itself, or any other one: k-ary response, retention."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        self.domain, self.values = domain, domain.size
        self.kept, self.other = read_whole(drawing["kept"]), read_whole(drawing["other"])
        self.total = read_total(self.kept + (self.values - 1) * self.other)

    def draw_place(self, place: int, next_word: NextWord) -> int:
        """The same number leads to the same report as in `sudare.kernels.collection.responses`."""
        number, least = below(self.total, next_word), min(self.kept, self.other)
        if number < self.values * least:
            return number // least
        if self.kept >= self.other:
            return place
        chosen = (number - self.values * least) // (self.other - self.kept)
        return chosen if chosen < place else chosen + 1

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        return self.domain.plain(self.draw_place(place, next_word))

    def ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values, the largest."""
        return Fraction(max(self.kept, self.other), min(self.kept, self.other)) if self.kept and self.other else None


class RowsRule(RatioRule):
    """Any matrix; ``reports`` names its columns where they are not the values themselves."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        self.rows = [[read_whole(weight) for weight in row] for row in drawing["weights"]]
        named = drawing.get("reports")
        self.reports = [domain.plain(place) for place in range(domain.size)] if named is None else list(named)
        totals = {read_total(sum(row)) for row in self.rows}
        if len(self.rows) != domain.size or {len(row) for row in self.rows} != {len(self.reports)} or len(totals) != 1:
            raise ValueError
        self.total = totals.pop()

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        number = below(self.total, next_word)
        for report, weight in zip(self.reports, self.rows[place], strict=True):
            if number < weight:
                return report
            number -= weight
        raise AssertionError("a row adds up to its total")

    def ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values, the largest."""
        columns = [column for column in zip(*self.rows, strict=True) if any(column)]
        return None if any(0 in column for column in columns) else max(Fraction(max(c), min(c)) for c in columns)


class BitsRule(RatioRule):
    """A bit for each value, each randomized by itself: unary encoding. The report is written in hexadecimal digits."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        self.values, self.bits = domain.size, read_whole(drawing["total_bits"])
        self.truth, self.other = read_whole(drawing["truth"]), read_whole(drawing["other"])
        if not (self.bits <= 60 and max(self.truth, self.other) <= 1 << self.bits):
            raise ValueError

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        width = -(-self.values // 8)
        lanes = self._biased(-(-width // 8), self.other, next_word)
        (coins,) = self._biased(1, self.truth, next_word)
        everything = sum(lane << WORD_BITS * i for i, lane in enumerate(lanes)) & (1 << self.values) - 1
        report = everything & ~(1 << place) | (coins & 1) << place
        return report.to_bytes(width, "little").hex()

    def _biased(self, lanes: int, weight: int, next_word: NextWord) -> list[int]:
        """Words of biased coins: digit by digit of the probability, against a word for each lane that is open."""
        if weight == 1 << self.bits:
            return [(1 << WORD_BITS) - 1] * lanes
        result, undecided = [0] * lanes, [(1 << WORD_BITS) - 1] * lanes
        while weight and any(undecided):
            digit, weight = weight >> self.bits - 1, weight << 1 & (1 << self.bits) - 1
            for lane in [lane for lane in range(lanes) if undecided[lane]]:
                word = next_word()
                if digit:
                    result[lane] |= undecided[lane] & ~word
                    undecided[lane] &= word
                else:
                    undecided[lane] &= ~word
        return result

    def ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values, the largest."""
        p, q = Fraction(self.truth, 1 << self.bits), Fraction(self.other, 1 << self.bits)
        if min(p, q, 1 - p, 1 - q) == 0:
            return None
        odds = p * (1 - q) / (q * (1 - p))
        return max(odds, 1 / odds)


class HashRule(RatioRule):
    """A seed and a randomized hash: local hashing. The seed is written in hexadecimal digits, which no language rounds."""

    def __init__(self, drawing: Mapping[str, Any], domain: CategoryDomain) -> None:
        self.range = read_whole(drawing["range"])
        if not 2 <= self.range <= 1 << 32:
            raise ValueError
        self.response = UniformRule(drawing, Labels(range(self.range)))

    def draw(self, place: int, next_word: NextWord) -> Plain:
        """The report, as JSON writes it."""
        seed = next_word()
        return [f"{seed:016x}", self.response.draw_place(hash_value(seed, place, self.range), next_word)]

    def ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values, the largest."""
        return self.response.ratio()


def hash_value(seed: int, place: int, size: int) -> int:
    """The hash of the value at a place under a seed, as `sudare.kernels.collection.hashing` computes it."""
    return (_mix(seed ^ _mix(place + 1)) >> 32) * size >> 32


def _mix(word: int) -> int:
    mask = (1 << WORD_BITS) - 1
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
    return word ^ word >> 31


def below(total: int, next_word: NextWord) -> int:
    """A uniform number below a total of any size: words beyond the last whole multiple are dropped."""
    words = max(1, -(-(total - 1).bit_length() // WORD_BITS))
    everything = 1 << WORD_BITS * words
    last_used = everything - everything % total - 1
    while True:
        number = 0
        for _ in range(words):
            number = number << WORD_BITS | next_word()
        if number <= last_used:
            return number % total


def read_whole(number: Any) -> int:
    """A whole number from 0 to 2**62; everything else is a ValueError."""
    if type(number) is not int or not 0 <= number <= MAX_TOTAL:
        raise ValueError
    return number


def read_total(total: int) -> int:
    """What a row adds up to: from 1 to 2**62."""
    if not 1 <= total <= MAX_TOTAL:
        raise ValueError
    return total
