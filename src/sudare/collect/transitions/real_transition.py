"""A transition whose probabilities are irrational: floats for estimates, and promises that are rounded to the safe side.

Such a matrix is never drawn from. Reports come from the randomizer that it describes, exactly.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.collect.transitions.transition import MAX_CELLS, WORST_CONDITION, Transition
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sudare.collect.transitions.transition import Integers, Shares

__all__ = ["RealTransition"]

ROW_TOLERANCE = 1e-9


class RealTransition(Transition):
    """Probabilities that are no fractions, as floats; what is promised from them is given with them, rounded to the safe side.

    Args:
        matrix: for each true value, the probability of each report.
        largest_ratio: an upper bound of the ratio of two probabilities of one report; None if there is none.
        anonymity_rate: a lower bound of it.

    Raises:
        ParameterError: if an entry is negative or not finite, or a row does not add up to 1.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.collect.transitions.real_transition import RealTransition
        >>> matrix = RealTransition([[0.75, 0.25], [0.25, 0.75]], Fraction(3), Fraction(1, 9))
        >>> matrix.solve(matrix.forward([0.9, 0.1])).round(12).tolist()
        [0.9, 0.1]
    """

    total = 1

    def __init__(
        self, matrix: ArrayLike, largest_ratio: Fraction | None = None, anonymity_rate: Fraction = Fraction(0)
    ) -> None:
        function, requirement = "RealTransition", "a matrix of probabilities, two rows at least, that add up to 1"
        entries = np.array(matrix, dtype=np.float64)
        if entries.ndim != 2 or entries.shape[0] < 2 or entries.size > MAX_CELLS:
            raise ParameterError("matrix", function, requirement, Described("another shape"))
        if not np.isfinite(entries).all() or (entries < 0).any():
            raise ParameterError("matrix", function, requirement, Described("an entry below 0, or not finite"))
        if np.abs(entries.sum(axis=1) - 1).max() > ROW_TOLERANCE:
            raise ParameterError("matrix", function, requirement, Described("a row with another sum"))
        entries.setflags(write=False)
        self._matrix = entries
        self._set_promises(entries.shape[0], entries.shape[1], largest_ratio, anonymity_rate)

    def _set_promises(self, values: int, reports: int, largest_ratio: Fraction | None, rate: Fraction) -> None:
        self.values, self.reports = values, reports
        self._largest_ratio, self._anonymity_rate = largest_ratio, rate

    def weights(self) -> Integers:
        """Refused: these probabilities are no multiples of one number."""
        raise GuaranteeError(
            Words(
                "The probabilities of this transition are irrational: ask for probabilities(), not weights().",
                "この遷移の確率は無理数です。weights() ではなく probabilities() を使ってください。",
            )
        )

    def probabilities(self) -> Shares:
        """The matrix; rows add up to 1."""
        return self._matrix

    def largest_ratio(self) -> Fraction | None:
        """An upper bound of the ratio of two probabilities of the same report."""
        return self._largest_ratio

    def anonymity_rate(self) -> Fraction:
        """A lower bound of the anonymity rate."""
        return self._anonymity_rate

    def draw(self, places: Integers, source: EntropySource) -> Integers:
        """Refused: a report drawn from rounded probabilities would not have the law that is promised."""
        raise GuaranteeError(
            Words(
                "This matrix is for estimates. Reports come from the randomizer that it describes.",
                "この行列は推定用です。報告は、この行列が表すランダム化器から引いてください。",
            )
        )

    def forward(self, shares: Shares) -> Shares:
        """Shares times the matrix."""
        return np.asarray(np.asarray(shares) @ self.probabilities())

    def backward(self, weights: Shares) -> Shares:
        """The matrix times weights."""
        return np.asarray(np.asarray(weights) @ self.probabilities().T)

    def solve(self, shares: Shares) -> Shares:
        """Shares times the inverse."""
        return np.asarray(np.asarray(shares) @ self._inverse)

    def squared_inverse(self, shares: Shares) -> Shares:
        """Shares times the squares of the inverse's entries."""
        return np.asarray(np.asarray(shares) @ self._inverse**2)

    def unbiased_scores(self, targets: Shares) -> Shares:
        """What to count for each report so that a true value counts its target on average: `backward` of it is the targets."""
        return np.asarray(self._inverse @ np.asarray(targets))

    def own_squares(self) -> Shares:
        """For each true value, what one person who has it adds to the variance of its estimated number, and its square."""
        return np.asarray(np.einsum("ij,ji->i", self.probabilities(), self._inverse**2))

    @cached_property
    def _inverse(self) -> Shares:
        matrix = self.probabilities()
        singular_values = np.linalg.svd(matrix, compute_uv=False)
        if self.reports < self.values or singular_values[-1] * WORST_CONDITION < singular_values[0]:
            raise GuaranteeError(
                Words(
                    "This matrix cannot be inverted: different true shares give nearly the same reports. Use the iterative Bayes "
                    "estimate, wider bins, or less noise.",
                    "この行列は逆行列をもちません。異なる真の割合から、ほぼ同じ報告が得られます。"
                    "反復ベイズ推定、広い区間、または小さいノイズを使ってください。",
                )
            )
        return np.asarray(np.linalg.inv(matrix) if self.values == self.reports else np.linalg.pinv(matrix))
