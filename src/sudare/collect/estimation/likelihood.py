"""The likelihood of randomized reports, and its maximum by the iterative Bayes method, accelerated.

With s the shares of reports and A the transition, the likelihood of shares x of true values is, per person and but for a
constant, the sum over reports j of s_j log (A^T x)_j: concave. One step of the iterative Bayes method multiplies each x_i by

    m_i = sum_j A[i, j] s_j / (A^T x)_j,

which never lowers the likelihood; and the largest m_i bounds how far the maximum still is: by log max m_i. So a fit states
a *certified* gap to the best possible likelihood, not only that it stopped moving.

Proof: ``crosstab.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.collect.transitions.kronecker import Kronecker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Fit", "Likelihood", "fit_by_bayes", "gap_of", "steps_before_overfitting"]

MIN_SHARE = 1e-200
"""Below it a share is as good as none."""

FLOOR = 0.1
"""An accelerated step lowers no cell below this share of what two plain steps give."""

PATIENCE = 5
"""Steps without a better explanation of what was held out, before it is believed that there is none."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Shares of true values that explain the reports, and how good they are.

    Attributes:
        shares: of the cells; they add up to 1.
        log_likelihood: per person, in nats, without the constant that does not depend on the shares.
        gap: how much larger the best log-likelihood per person is, at most.
        iterations: steps of the iterative Bayes method, or products with the curvature matrix.
        converged: whether the gap is within the tolerance.
    """

    shares: Values
    log_likelihood: float
    gap: float
    iterations: int
    converged: bool


class Likelihood:
    """The log-likelihood per person of shares of true values, given shares of reports.

    Args:
        operator: the transitions of all attributes.
        told: shares of the reports, of the operator's shape of reports.
    """

    def __init__(self, operator: Kronecker, told: Values) -> None:
        self.operator = operator
        self.told = np.ascontiguousarray(told, dtype=np.float64)
        self._seen = np.flatnonzero(self.told)
        self._seen_shares = self.told.ravel()[self._seen]

    def expected(self, shares: Values) -> Values:
        """Shares of reports that these shares of true values lead to."""
        return self.operator.forward(shares)

    def at(self, expected: Values) -> float:
        """The log-likelihood, from expected shares of reports."""
        seen = expected.ravel()[self._seen]
        if seen.size and float(seen.min()) <= 0:
            return -np.inf
        return float(self._seen_shares @ np.log(seen))

    def factors(self, expected: Values) -> Values:
        """By what one step of the iterative Bayes method multiplies each cell: also the gradient."""
        return self.operator.backward(self._over(self.told, expected))

    def curvature(self, expected: Values) -> Values:
        """S / (A^T x)^2: the second derivative is minus A times its diagonal matrix times A^T."""
        return self._over(self._over(self.told, expected), expected)

    @staticmethod
    def _over(numerator: Values, expected: Values) -> Values:
        return np.divide(numerator, expected, out=np.zeros_like(expected), where=numerator > 0)


def gap_of(factors: Values) -> float:
    """An upper bound of how far the log-likelihood per person is from its maximum."""
    return max(float(np.log(factors.max())), 0.0)


def fit_by_bayes(
    likelihood: Likelihood,
    start: Values,
    tolerance: float,
    most_iterations: int,
    accelerate: bool = True,
) -> Fit:
    """The iterative Bayes method until the certified gap is within the tolerance.

    Accelerated, two steps x0 -> x1 -> x2 are followed by a jump along their curve (SQUAREM, with lengths measured in the natural
    metric of shares, sum d^2 / x). The jump is taken only if its likelihood is no less than that of x1; else x2 is. So the
    likelihood rises in either case.

    Args:
        likelihood: of the reports.
        start: shares above 0.
        tolerance: of the gap, per person.
        most_iterations: steps of the method at most.
        accelerate: whether to jump.
    """
    shares, expected = start, likelihood.expected(start)
    iterations = 0
    while True:
        factors = likelihood.factors(expected)
        gap = gap_of(factors)
        if gap <= tolerance or iterations >= most_iterations:
            return Fit(shares, likelihood.at(expected), gap, iterations, gap <= tolerance)
        first = shares * factors
        expected_first = likelihood.expected(first)
        iterations += 1
        if not accelerate or iterations >= most_iterations:
            shares, expected = first, expected_first
            continue
        second = first * likelihood.factors(expected_first)
        iterations += 1
        jump = _jump(shares, first, second)
        expected_jump = likelihood.expected(jump)
        if likelihood.at(expected_jump) >= likelihood.at(expected_first):
            shares, expected = jump, expected_jump
        else:
            shares, expected = second, likelihood.expected(second)


def _jump(start: Values, first: Values, second: Values) -> Values:
    """Where the curve through three points leads to, kept above 0."""
    step = first - start
    bend = (second - first) - step
    # A share of nearly nothing would make the weight of its cell infinite.
    weights = np.divide(1.0, start, out=np.zeros_like(start), where=start > MIN_SHARE)
    long, bent = float((step * step * weights).sum()), float((bend * bend * weights).sum())
    length = max(np.sqrt(long / bent), 1.0) if bent > 0 else 1.0
    landed = np.maximum(start + 2 * length * step + length * length * bend, FLOOR * second)
    return np.asarray(landed / landed.sum())


def steps_before_overfitting(
    operator: Kronecker, counts: NDArray[np.int64], start: Values, share: float, most_iterations: int, seed: int
) -> int:
    """How many plain steps explain reports that were held out best.

    Args:
        operator: the transitions.
        counts: of the reports.
        start: shares above 0.
        share: of the reports to hold out.
        most_iterations: at most.
        seed: which reports are held out.
    """
    held_out = np.random.default_rng(seed).binomial(counts, share)
    kept = counts - held_out
    training = Likelihood(operator, kept / max(int(kept.sum()), 1))
    judge = Likelihood(operator, held_out / max(int(held_out.sum()), 1))
    shares, best, best_step = start, -np.inf, 0
    for step in range(most_iterations + 1):
        expected = training.expected(shares)
        value = judge.at(expected)
        if value > best:
            best, best_step = value, step
        elif step >= best_step + PATIENCE:
            break
        shares = shares * training.factors(expected)
    return best_step
