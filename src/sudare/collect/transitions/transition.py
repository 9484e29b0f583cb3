"""With which probability a true value becomes which report: exactly, as whole numbers.

Row v of a transition holds, for each report, how many of `total` equally likely random numbers lead from the value v to it. So
every probability is a fraction, a report is drawn without any rounding, and what follows from the matrix (epsilon, the
anonymity rate, estimates) follows exactly.

Proof: ``transition.md`` beside this file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS
from sudare.parameters import exact_fraction, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Shares = NDArray[np.float64]

__all__ = ["DenseTransition", "Transition", "UniformTransition"]

MAX_TOTAL = 1 << 62
MAX_CELLS = 1 << 26
"""Of a matrix that is written out."""

WORST_CONDITION = 1e12
BUFFER_WORDS = 1 << 14


class Transition(ABC):
    """Probabilities of reports, given true values.

    Attributes:
        values: how many true values there are.
        reports: how many reports there are.
        total: what every row of `weights` adds up to.
    """

    values: int
    reports: int
    total: int

    @abstractmethod
    def weights(self) -> Integers:
        """The matrix, a row for each true value, a column for each report."""

    @abstractmethod
    def largest_ratio(self) -> Fraction | None:
        """The largest ratio of two probabilities of the same report; None if a report can come from some values only."""

    @abstractmethod
    def anonymity_rate(self) -> Fraction:
        """The smallest A[v, u'] A[u, v'] / (A[u, u'] A[v, v']) over all values u, v and all reports u', v'."""

    @abstractmethod
    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """A report for each true value, both as places from 0 on."""

    @abstractmethod
    def forward(self, shares: Shares) -> Shares:
        """The expected shares of reports, from shares of true values; along the last axis."""

    @abstractmethod
    def backward(self, weights: Shares) -> Shares:
        """The matrix times a column: for each true value, the expected weight of its report; along the last axis."""

    @abstractmethod
    def solve(self, shares: Shares) -> Shares:
        """The shares of true values whose expected reports these are: the inverse of `forward`; along the last axis.

        Raises:
            GuaranteeError: if the matrix has no inverse.
        """

    @abstractmethod
    def squared_inverse(self, shares: Shares) -> Shares:
        """`solve` with every entry of the inverse squared: what variances are made of; along the last axis."""

    def epsilon(self) -> Fraction:
        """The local epsilon: the logarithm of the largest ratio, rounded up.

        Raises:
            GuaranteeError: if some reports rule out some values, so that no epsilon holds.
        """
        from sudare.privacy.measurements import log_rounded_up

        ratio = self.largest_ratio()
        if ratio is None:
            raise GuaranteeError(
                Words(
                    "Some reports cannot come from every value, so no epsilon holds.",
                    "特定の値からしか生じない報告があるため、どの epsilon も成り立ちません。",
                )
            )
        return Fraction(0) if ratio == 1 else log_rounded_up(ratio)

    def probabilities(self) -> Shares:
        """The matrix as floats; rows add up to 1."""
        return self.weights() / self.total


@dataclass(frozen=True)
class UniformTransition(Transition):
    """The true value with one probability, each other with another: randomized response, in space that does not grow.

    Attributes:
        values: how many there are; reports are values.
        kept: weight of the true value.
        other: weight of each other value.

    Example:
        >>> from sudare.collect import UniformTransition
        >>> coins = UniformTransition(2, kept=3, other=1)
        >>> coins.largest_ratio(), coins.anonymity_rate(), coins.weights().tolist()
        (Fraction(3, 1), Fraction(1, 9), [[3, 1], [1, 3]])
    """

    values: int
    kept: int
    other: int

    def __post_init__(self) -> None:
        function = "UniformTransition"
        exact_integer(
            self.values,
            "values",
            function,
            Words("a whole number from 2 to 2**31", "2 以上 2**31 以下の整数"),
            smallest=2,
            largest=1 << 31,
        )
        exact_integer(self.kept, "kept", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
        exact_integer(self.other, "other", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
        requirement = "weights whose row adds up to 1 ... 2**62"
        if not 1 <= self.total <= MAX_TOTAL:
            raise ParameterError("kept", function, requirement, Described(f"a sum of {self.total}"))

    @property
    def reports(self) -> int:  # type: ignore[override]
        """As many as there are values."""
        return self.values

    @property
    def total(self) -> int:  # type: ignore[override]
        """What a row adds up to."""
        return self.kept + (self.values - 1) * self.other

    def weights(self) -> Integers:
        """The matrix written out."""
        _require_room(self.values, self.values)
        matrix = np.full((self.values, self.values), self.other, dtype=np.int64)
        np.fill_diagonal(matrix, self.kept)
        return matrix

    def largest_ratio(self) -> Fraction | None:
        """Of kept and other, whichever is larger; with three values or more the other ones are compared as well."""
        if self.kept == self.other:
            return Fraction(1)
        if min(self.kept, self.other) == 0:
            return None
        return max(Fraction(self.kept, self.other), Fraction(self.other, self.kept))

    def anonymity_rate(self) -> Fraction:
        """The square of the smaller ratio: each of two values may be the other's report."""
        ratio = self.largest_ratio()
        return Fraction(0) if ratio is None else 1 / ratio**2

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """One random number a value: below the excess of the true value it is kept, else it names a value by itself."""
        from sudare.kernels.collection.responses import uniform_response

        return _drawn(uniform_response, self.total, places, source, self.values, self.kept, self.other)

    def forward(self, shares: Shares) -> Shares:
        """Without the matrix: a multiple of the shares, and a constant."""
        sums = shares.sum(axis=-1, keepdims=True)
        return np.asarray(((self.kept - self.other) * shares + self.other * sums) / self.total)

    def backward(self, weights: Shares) -> Shares:
        """The matrix is symmetric."""
        return self.forward(weights)

    def solve(self, shares: Shares) -> Shares:
        """Without the matrix."""
        excess = self._excess()
        sums = shares.sum(axis=-1, keepdims=True)
        return np.asarray((self.total * shares - self.other * sums) / excess)

    def squared_inverse(self, shares: Shares) -> Shares:
        """Without the matrix."""
        excess = self._excess()
        on, off = ((self.total - self.other) / excess) ** 2, (self.other / excess) ** 2
        sums = shares.sum(axis=-1, keepdims=True)
        return np.asarray((on - off) * shares + off * sums)

    def _excess(self) -> int:
        if self.kept == self.other:
            raise _singular()
        return self.kept - self.other


class DenseTransition(Transition):
    """Any matrix of probabilities, written out.

    Args:
        rows: for each true value, the probability of each report: fractions, or floats that mean what was typed. Each row adds
            up to exactly 1.

    Raises:
        ParameterError: if the rows are not probabilities that add up to 1.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.collect import DenseTransition
        >>> matrix = DenseTransition([[0.75, 0.25], [0.4, 0.6]])
        >>> matrix.largest_ratio(), matrix.total
        (Fraction(12, 5), 20)
    """

    def __init__(self, rows: Any) -> None:
        fractions = _read_rows(rows)
        denominators = [x.denominator for row in fractions for x in row]
        total = int(np.lcm.reduce(np.array(denominators, dtype=object)))
        if total > MAX_TOTAL:
            requirement = Words("probabilities with a common denominator of at most 2**62", "公分母が 2**62 以下の確率")
            raise ParameterError("rows", "DenseTransition", requirement, Described("a larger one"))
        self._set(np.array([[int(x * total) for x in row] for row in fractions], dtype=np.int64), total)

    @classmethod
    def from_weights(cls, weights: ArrayLike) -> DenseTransition:
        """From whole numbers whose rows have the same sum, at most 2**62."""
        function = "DenseTransition.from_weights"
        matrix = np.asarray(weights)
        if matrix.ndim != 2 or matrix.dtype.kind not in "iu" or min(matrix.shape) < 1 or matrix.shape[0] < 2:
            raise ParameterError(
                "weights",
                function,
                Words("a matrix of whole numbers, two rows at least", "2 行以上の整数の行列"),
                shown(weights),
            )
        _require_room(*matrix.shape)
        if (matrix < 0).any() or matrix.astype(np.float64).sum(axis=1).max() > MAX_TOTAL:
            raise ParameterError(
                "weights",
                function,
                Words("whole numbers >= 0 with sums of at most 2**62", "0 以上の整数で、行の和は 2**62 以下"),
                Described("others"),
            )
        matrix = matrix.astype(np.int64)
        sums = matrix.sum(axis=1)
        if (sums != sums[0]).any() or not 1 <= sums[0] <= MAX_TOTAL:
            raise ParameterError(
                "weights",
                function,
                Words("rows with the same sum, 1 ... 2**62", "和が等しい行（1 以上 2**62 以下）"),
                Described("other sums"),
            )
        made = cls.__new__(cls)
        made._set(matrix, int(sums[0]))
        return made

    def _set(self, matrix: Integers, total: int) -> None:
        self._weights, self.total = matrix, total
        self._weights.setflags(write=False)
        self.values, self.reports = matrix.shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DenseTransition):
            return NotImplemented
        return bool(np.array_equal(self.reduced(), other.reduced()))

    def __hash__(self) -> int:
        return hash((self.values, self.reports))

    def weights(self) -> Integers:
        """The matrix."""
        return self._weights

    def reduced(self) -> Integers:
        """The matrix without a common divisor: the same for the same probabilities."""
        return np.asarray(self._weights // np.gcd.reduce(self._weights, axis=None))

    def largest_ratio(self) -> Fraction | None:
        """Column by column, the largest over the smallest entry; columns of zeros are reports that nobody gives."""
        worst = Fraction(1)
        low, high = self._weights.min(axis=0), self._weights.max(axis=0)
        for smallest, largest in zip(low.tolist(), high.tolist(), strict=True):
            if largest == 0:
                continue
            if smallest == 0:
                return None
            worst = max(worst, Fraction(largest, smallest))
        return worst

    def anonymity_rate(self) -> Fraction:
        """For each pair of values, the smallest over the largest of their likelihood ratios."""
        used = self._weights[:, self._weights.any(axis=0)]
        worst = Fraction(1)
        for u in range(self.values):
            for v in range(u):
                worst = min(worst, _rate_of_pair(used[u], used[v]))
        return worst

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """One random number a value, looked up in the running sums of its row."""
        from sudare.kernels.collection.responses import response_by_row

        return _drawn(response_by_row, self.total, places, source, self._running_sums)

    @cached_property
    def _running_sums(self) -> Integers:
        return np.ascontiguousarray(np.cumsum(self._weights, axis=1))

    @cached_property
    def _inverse(self) -> Shares:
        """Such that shares of reports times it are shares of values; least squares where there are more reports."""
        matrix = self.probabilities()
        singular_values = np.linalg.svd(matrix, compute_uv=False)
        if self.reports < self.values or singular_values[-1] * WORST_CONDITION < singular_values[0]:
            raise _singular()
        inverse = np.linalg.inv(matrix) if self.values == self.reports else np.linalg.pinv(matrix)
        return np.asarray(inverse)

    def forward(self, shares: Shares) -> Shares:
        """Shares times the matrix."""
        return np.asarray(shares @ self.probabilities())

    def backward(self, weights: Shares) -> Shares:
        """The matrix times weights."""
        return np.asarray(weights @ self.probabilities().T)

    def solve(self, shares: Shares) -> Shares:
        """Shares times the inverse."""
        return np.asarray(shares @ self._inverse)

    def squared_inverse(self, shares: Shares) -> Shares:
        """Shares times the squares of the inverse's entries."""
        return np.asarray(shares @ self._inverse**2)


def _drawn(kernel: Callable[..., int], total: int, places: Integers, source: EntropySource, *law: Any) -> Integers:
    """Fill from words that are made piece by piece, so that they never leave the processor's cache."""
    flat = np.ascontiguousarray(places.ravel())
    drawn = np.empty(flat.size, dtype=np.int64)
    buffer = np.empty(min(BUFFER_WORDS, flat.size), dtype=np.uint64)
    last_used = np.uint64(2**WORD_BITS - 2**WORD_BITS % total - 1)
    filled = 0
    while filled < flat.size:
        words = buffer[: flat.size - filled]
        source.fill(words)
        filled = kernel(words, np.uint64(total), last_used, flat, filled, *law, drawn)
    return drawn.reshape(places.shape)


def _rate_of_pair(one: Integers, other: Integers) -> Fraction:
    """The smallest over the largest of one[x] / other[x]; 0 if a report tells them apart for certain."""
    seen = (one > 0) | (other > 0)
    if not seen.any():
        return Fraction(1)
    if ((one == 0) != (other == 0))[seen].any():
        return Fraction(0)
    # Floats find the candidates, fractions decide among those within a rounding error of the best.
    a, b = one[seen], other[seen]
    ratios = a.astype(np.float64) / b
    low = min(Fraction(int(x), int(y)) for x, y in _near(a, b, ratios, ratios.min()))
    high = max(Fraction(int(x), int(y)) for x, y in _near(a, b, ratios, ratios.max()))
    return low / high


def _near(a: Integers, b: Integers, ratios: Shares, best: float) -> list[tuple[int, int]]:
    near = np.abs(ratios - best) <= 1e-12 * best
    pairs = np.unique(np.stack([a[near], b[near]], axis=1), axis=0)
    return [(int(x), int(y)) for x, y in pairs]


def _read_rows(rows: Any) -> list[list[Fraction]]:
    function, requirement = "DenseTransition", "for each value a list of probabilities that add up to exactly 1"
    try:
        given = list(rows)
        listed = [list(row) for row in given]
    except TypeError:
        raise ParameterError("rows", function, requirement, shown(rows)) from None
    if isinstance(rows, str) or any(isinstance(row, str) for row in given):  # its letters would be read one by one
        raise ParameterError("rows", function, requirement, Described("a text"))
    if len(listed) < 2 or len({len(row) for row in listed}) != 1 or not listed[0]:
        raise ParameterError(
            "rows", function, f"{requirement}, two rows at least, all equally long", Described("others")
        )
    _require_room(len(listed), len(listed[0]))
    fractions = [[exact_fraction(x, "rows", function, requirement) for x in row] for row in listed]
    for number, row in enumerate(fractions):
        if min(row) < 0 or sum(row) != 1:
            hint = "Fractions are exact: Fraction(1, 3) in place of 0.333."
            got = Described(f"a sum of {float(sum(row)):.12g} in row {number}, or a negative number")
            raise ParameterError("rows", function, requirement, got, hint)
    return fractions


def _require_room(values: int, reports: int) -> None:
    if values * reports > MAX_CELLS:
        requirement = f"a matrix of at most {MAX_CELLS:,} entries when written out"
        raise ParameterError("values", "Transition", requirement, Described(f"{values:,} x {reports:,}"))


def _singular() -> GuaranteeError:
    return GuaranteeError(
        Words(
            "This matrix cannot be inverted: different true shares give the same reports. Use the iterative Bayes estimate, "
            "which finds one that fits, or a randomizer that keeps more of the truth.",
            "この行列は逆行列をもちません。異なる真の割合から同じ報告が得られます。当てはまる割合の一つを求める反復ベイズ推定か、"
            "真の値をより多く残すランダム化器を使ってください。",
        )
    )
