"""A lower bound of a mechanism's epsilon from its outputs on two neighbouring data sets.

Run the mechanism many times on each of two neighbours. The first half of the outputs chooses a set of outputs that
tells the two apart best; the second half, which had no part in the choice, estimates how often each neighbour falls
into it. If P(S) <= exp(epsilon) Q(S) + delta were violated for the claimed epsilon, exact (Clopper-Pearson)
confidence limits of the two frequencies show it. A bound below the claim proves nothing; a bound above the claim
proves, up to the stated error probability, that the claim is false.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.distributions import proportion_limits
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["EpsilonAudit", "audit_epsilon", "largest_bound"]


@dataclass(frozen=True)
class EpsilonAudit:
    """The outcome of an audit.

    Attributes:
        lower_bound: epsilon is at least this, except with ``error_probability``.
        runs: how often the mechanism was run on each neighbour.
        error_probability: how likely the bound is to be wrong.
    """

    lower_bound: float
    runs: int
    error_probability: float

    def refutes(self, epsilon: Rational) -> bool:
        """Whether the outputs show that the claimed epsilon is false."""
        requirement = "a number >= 0"
        claimed = exact_fraction(epsilon, "epsilon", "EpsilonAudit.refutes", requirement)
        if claimed < 0:
            raise ParameterError("epsilon", "EpsilonAudit.refutes", requirement, epsilon)
        return self.lower_bound > claimed


def audit_epsilon(
    outputs: ArrayLike, neighbour_outputs: ArrayLike, *, delta: Rational = 0.0, error_probability: Rational = 1e-6
) -> EpsilonAudit:
    """Bound epsilon from below by the outputs of independent runs on two neighbouring data sets.

    Args:
        outputs: one whole number for each run on the first data set; a mechanism with richer outputs is audited
            through any function of them.
        neighbour_outputs: the same for the second data set, as many runs.
        delta: the delta that the mechanism claims.
        error_probability: how likely the bound may be wrong.

    Example:
        >>> import sudare
        >>> from sudare.attacks import audit_epsilon
        >>> noise = sudare.noise.discrete_laplace(1)
        >>> audit_epsilon(10 + noise.draw(100_000), 11 + noise.draw(100_000)).refutes(epsilon=1)
        False
        >>> half_the_noise = sudare.noise.discrete_laplace(0.5)
        >>> audit_epsilon(10 + half_the_noise.draw(100_000), 11 + half_the_noise.draw(100_000)).refutes(epsilon=1)
        True
    """
    function = "audit_epsilon"
    first, second = _read(outputs, "outputs"), _read(neighbour_outputs, "neighbour_outputs")
    if first.size != second.size:
        raise ParameterError(
            "neighbour_outputs",
            function,
            f"{first.size} whole numbers, as many as outputs",
            Described(str(second.size)),
        )
    chance = float(
        exact_fraction(
            error_probability,
            "error_probability",
            function,
            Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数"),
        )
    )
    if not 0 < chance < 1:
        raise ParameterError(
            "error_probability",
            function,
            Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数"),
            error_probability,
        )
    failing = exact_fraction(delta, "delta", function, Words("a number from 0 to below 1", "0 以上 1 未満の数"))
    if not 0 <= failing < 1:
        raise ParameterError("delta", function, Words("a number from 0 to below 1", "0 以上 1 未満の数"), delta)
    # Two directions, two limits each: a quarter of the error for each limit.
    bound = max(_one_direction(p, q, float(failing), chance / 4) for p, q in ((first, second), (second, first)))
    return EpsilonAudit(bound, first.size, chance)


def largest_bound(runs: int, *, delta: float = 0.0, error_probability: float = 1e-6) -> float:
    """The bound that this many runs give of a mechanism whose outputs never agree: a larger epsilon they cannot refute.

    Args:
        runs: on each of two neighbours.
        delta: the delta that the mechanism claims.
        error_probability: how likely the bound may be wrong.

    Example:
        >>> from sudare.attacks.audits.empirical_epsilon import largest_bound
        >>> round(largest_bound(100), 2), round(largest_bound(10_000), 2)
        (1.03, 5.79)
    """
    judged = runs - runs // 2
    low, _ = proportion_limits(np.array([judged]), judged, error_probability / 4)
    _, high = proportion_limits(np.array([0]), judged, error_probability / 4)
    return _log_ratio(low, high, delta).item()


def _one_direction(p: NDArray[np.int64], q: NDArray[np.int64], delta: float, chance: float) -> float:
    half = p.size // 2
    chosen = _best_set(p[:half], q[:half], delta, chance)
    runs = p.size - half
    p_low, _ = proportion_limits(np.array([np.isin(p[half:], chosen).sum()]), runs, chance)
    _, q_high = proportion_limits(np.array([np.isin(q[half:], chosen).sum()]), runs, chance)
    return _log_ratio(p_low, q_high, delta).item()


def _best_set(p: NDArray[np.int64], q: NDArray[np.int64], delta: float, chance: float) -> NDArray[np.int64]:
    """The outputs, likeliest under p relative to q first, cut where the bound is largest."""
    values = np.union1d(p, q)
    p_counts = np.bincount(np.searchsorted(values, p), minlength=values.size)
    q_counts = np.bincount(np.searchsorted(values, q), minlength=values.size)
    order = np.argsort(-(p_counts + 0.5) / (q_counts + 0.5), kind="stable")
    p_low, _ = proportion_limits(np.cumsum(p_counts[order]), p.size, chance)
    _, q_high = proportion_limits(np.cumsum(q_counts[order]), q.size, chance)
    return values[order[: int(np.argmax(_log_ratio(p_low, q_high, delta))) + 1]]


def _log_ratio(p_low: NDArray[np.float64], q_high: NDArray[np.float64], delta: float) -> NDArray[np.float64]:
    return np.maximum(0.0, np.log(np.maximum(p_low - delta, math.ulp(0.0)) / q_high))


def _read(values: ArrayLike, parameter: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size < 100 or not np.issubdtype(array.dtype, np.integer):
        raise ParameterError(
            parameter,
            "audit_epsilon",
            "at least 100 whole numbers in one dimension",
            Described(f"an array of {array.dtype} with shape {array.shape}"),
        )
    return array.astype(np.int64)
