"""Choosing one of many candidates by its score: the exponential mechanism, and report-noisy-max.

Scores are whole numbers or fractions, so that the probabilities are exactly those of the definition. Both cost time
in proportion to the number of candidates, a few nanoseconds each, and exact arithmetic only for the candidate that is
about to be chosen.

Proof: ``selection.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import isqrt, lcm
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.exact import WORD_BITS, Bounds, bounded_exp, is_below
from sudare.noise.sampler import read_entropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import Rational, exact_fraction, read_flag, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import SelectionMeasurement
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = Sequence[int] | Sequence[Fraction] | NDArray[np.integer]

__all__ = ["exponential_mechanism", "report_noisy_max"]

MAX_CANDIDATES = 1 << 30
HOPELESS = Fraction(1 << 20)
MARGIN = 2.0**-40
"""Larger than all rounding errors of a weight computed in double precision together (``selection.md`` proves
2**-43)."""


def exponential_mechanism(
    scores: Scores,
    budget: Budget,
    *,
    sensitivity: Rational = 1,
    monotonic: bool = False,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
) -> tuple[int, ReleaseEvent]:
    """Choose candidate i with probability proportional to exp(epsilon * score_i / (2 sensitivity)).

    Guarantee: epsilon-differential privacy, and rho = epsilon**2 / 8, for any scores that change by at most
        ``sensitivity`` each when the unit's data are added, removed or replaced.

    Sensitivity: stated by the caller, because the scores are the caller's.

    Proof: ``selection.md`` beside this file.

    Args:
        scores: a whole number or a fraction for each candidate; the larger the better.
        budget: epsilon, or rho.
        sensitivity: the most that one score can change.
        monotonic: whether adding a unit can only raise scores, or only lower them, as it is for counts; this saves the
            factor 2. Under replace adjacency some scores may rise while others fall, so it is refused there.
        unit: who is protected.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The position of the chosen candidate, and the event with the cost.

    Raises:
        ParameterError: if there are no scores, or they are not whole numbers or fractions.
        GuaranteeError: for monotonic scores under replace adjacency.

    References:
        McSherry, Talwar: Mechanism design via differential privacy (2007); Rogers, Steinke: A better privacy analysis
        of the exponential mechanism (2021) for the rho.

    Example:
        >>> import sudare
        >>> choice, event = sudare.noise.exponential_mechanism([3, 40, 5], sudare.Budget(epsilon=10))
        >>> choice, str(event.cost)
        (1, 'epsilon = 10')
    """
    source = read_entropy(entropy, "exponential_mechanism")
    energies, event = _prepare(
        "exponential_mechanism", "exponential", scores, budget, sensitivity, monotonic, unit, source
    )
    # Whole numbers just above 2**shift times the weights: drawn from exactly, then corrected by rejection.
    shift = WORD_BITS - 2 - energies.count.bit_length()
    ceilings = (energies.approximate_weights() * ((1 + MARGIN) * 2.0**shift)).astype(np.uint64) + np.uint64(1)
    ends = np.cumsum(ceilings)
    while True:
        ticket = uniform_below(int(ends[-1]), 1, source)
        choice = int(np.searchsorted(ends, ticket, side="right")[0])
        acceptance = _ratio_to_ceiling(energies.exact(choice), shift, int(ceilings[choice]))
        if is_below(acceptance, source.next_word(), WORD_BITS, source.next_word):
            return choice, event


def report_noisy_max(
    scores: Scores,
    budget: Budget,
    *,
    sensitivity: Rational = 1,
    monotonic: bool = False,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
) -> tuple[int, ReleaseEvent]:
    """Choose the candidate whose score plus exponential noise of scale 2 sensitivity / epsilon is largest.

    Never further from the best score in expectation than the exponential mechanism at the same epsilon, and up to
    twice as near. It is drawn in its equivalent form, permute-and-flip, which needs no real numbers: every candidate
    tosses a coin that falls with probability exp(-epsilon * (best score - its score) / (2 sensitivity)), and one of
    those that fell is chosen fairly.

    Guarantee: epsilon-differential privacy, and rho = epsilon**2 / 2, for any scores that change by at most
        ``sensitivity`` each when the unit's data are added, removed or replaced.

    Sensitivity: stated by the caller, because the scores are the caller's.

    Proof: ``selection.md`` beside this file.

    Args:
        scores: a whole number or a fraction for each candidate; the larger the better.
        budget: epsilon, or rho.
        sensitivity: the most that one score can change.
        monotonic: whether adding a unit can only raise scores, or only lower them, as it is for counts; this saves the
            factor 2. Under replace adjacency some scores may rise while others fall, so it is refused there.
        unit: who is protected.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The position of the chosen candidate, and the event with the cost.

    Raises:
        ParameterError: if there are no scores, or they are not whole numbers or fractions.
        GuaranteeError: for monotonic scores under replace adjacency.

    References:
        McKenna, Sheldon: Permute-and-flip (2020); Ding, Kifer, Sayed, Steinke, Wang, Xiao, Zhang: The
        permute-and-flip mechanism is identical to report-noisy-max with exponential noise (2021).

    Example:
        >>> import sudare
        >>> sudare.noise.report_noisy_max([3, 40, 5], sudare.Budget(epsilon=10))[0]
        1
    """
    source = read_entropy(entropy, "report_noisy_max")
    energies, event = _prepare(
        "report_noisy_max", "permute-and-flip", scores, budget, sensitivity, monotonic, unit, source
    )
    chances = energies.approximate_weights()
    words = source.words(energies.count)
    uniform = words.astype(np.float64) * 2.0**-WORD_BITS
    fell = uniform < chances - MARGIN
    for i in np.flatnonzero(np.abs(uniform - chances) <= MARGIN).tolist():
        chance = partial(bounded_exp, energies.exact(i))
        fell[i] = is_below(chance, int(words[i]), WORD_BITS, source.next_word)
    candidates = np.flatnonzero(fell | energies.is_best())
    return int(candidates[int(uniform_below(candidates.size, 1, source)[0])]), event


def _prepare(
    function: str,
    rule: str,
    scores: object,
    budget: Budget,
    sensitivity: object,
    monotonic: bool,
    unit: Unit | None,
    source: EntropySource,
) -> tuple[_Energies, ReleaseEvent]:
    """Check everything and state the cost, before anything is drawn."""
    epsilon = _epsilon_for(read_budget(budget, function), bounded_range=rule == "exponential")
    protected = _read_unit(unit, monotonic, function)
    energies = _Energies(scores, epsilon, sensitivity, monotonic, function)
    measurement = SelectionMeasurement(epsilon, rule)
    mechanism = function.replace("_", "-")
    return energies, ReleaseEvent(mechanism, protected, budget, (measurement,), entropy_name(source))


def _ratio_to_ceiling(exponent: Fraction, shift: int, ceiling: int) -> Callable[[int], Bounds]:
    """Bounds of 2**shift * exp(-exponent) / ceiling, to any precision."""

    def ratio(bits: int) -> Bounds:
        low, high = bounded_exp(exponent, bits + shift)
        return Bounds(low // ceiling, -(-high // ceiling))

    return ratio


class _Energies:
    """How far each candidate is from the best one, in units of the logarithm of its probability."""

    def __init__(self, scores: object, epsilon: Fraction, sensitivity: object, monotonic: bool, function: str) -> None:
        requirement = "a positive, finite number"
        change = exact_fraction(sensitivity, "sensitivity", function, requirement)
        if change <= 0:
            raise ParameterError("sensitivity", function, requirement, sensitivity)
        self._gaps, unit_of_gap = _gaps_to_best(scores, function)
        self._factor = epsilon * unit_of_gap / (change if monotonic else 2 * change)
        self.count = len(self._gaps)

    def exact(self, candidate: int) -> Fraction:
        return int(self._gaps[candidate]) * self._factor

    def is_best(self) -> NDArray[np.bool_]:
        return np.asarray(self._gaps == 0, dtype=np.bool_)

    def approximate_weights(self) -> NDArray[np.float64]:
        """exp(-energy) in double precision; 0 where it is below 2**-92.

        A gap is 0 or at least 1, so that a factor or an energy beyond `HOPELESS` gives weight 0 whatever it is.
        """
        from sudare.kernels.exponentials import exp_minus_array

        if self._gaps.dtype == np.object_:
            energies = np.array([float(min(self.exact(i), HOPELESS)) for i in range(self.count)])
        else:
            energies = self._gaps.astype(np.float64) * float(min(self._factor, HOPELESS))
        weights = np.empty(self.count)
        exp_minus_array(energies, weights)
        return weights


def _gaps_to_best(scores: object, function: str) -> tuple[NDArray[np.uint64] | NDArray[np.object_], Fraction]:
    """How far each score is below the best, as whole numbers, and the size of one such number."""
    requirement = f"from 1 to {MAX_CANDIDATES} whole numbers or fractions in one dimension"

    def refuse(got: str, hint: str = "") -> ParameterError:
        return ParameterError("scores", function, requirement, Described(got), hint)

    if isinstance(scores, np.ndarray):
        is_plain = not isinstance(scores, np.ma.MaskedArray) and scores.ndim == 1 and scores.dtype.kind in "iu"
        if not is_plain or not 1 <= scores.size <= MAX_CANDIDATES:
            raise refuse(f"a {type(scores).__name__} of {scores.dtype} with shape {scores.shape}")
        wide = scores.astype(np.uint64)  # differences modulo 2**64 are right for signed numbers too
        return np.uint64(int(scores.max()) % 2**WORD_BITS) - wide, Fraction(1)
    if isinstance(scores, (str, bytes)) or not isinstance(scores, Sequence):
        raise refuse(f"an object of type {type(scores).__name__}")
    if not 1 <= len(scores) <= MAX_CANDIDATES:
        raise refuse(f"{len(scores)} of them")
    for score in scores:
        is_exact = type(score) in (int, Fraction) or (type(score) is Decimal and score.is_finite())
        if not is_exact and not (isinstance(score, np.integer) and score.dtype.kind in "iu"):
            raise refuse(
                f"an entry of type {type(score).__name__}", "Scale floats to whole numbers, or use Fraction or Decimal."
            )
    exact = [Fraction(int(score)) if isinstance(score, np.integer) else Fraction(score) for score in scores]
    denominator = lcm(*(score.denominator for score in exact))
    best = max(exact)
    gaps = [int((best - score) * denominator) for score in exact]
    if max(gaps) < 2**WORD_BITS:
        return np.array(gaps, dtype=np.uint64), Fraction(1, denominator)
    return np.array(gaps, dtype=np.object_), Fraction(1, denominator)


def _epsilon_for(budget: Budget, *, bounded_range: bool) -> Fraction:
    """The epsilon to choose with; from rho it is rounded down."""
    if budget.currency != "rho":
        return budget.epsilon
    squared = budget.rho * (8 if bounded_range else 2)
    precision = 10**30
    return Fraction(isqrt(squared.numerator * precision**2 // squared.denominator), precision)


def _read_unit(unit: Unit | None, monotonic: bool, function: str) -> Unit:
    read_flag(monotonic, "monotonic", function)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    if monotonic and protected.adjacency == "replace":
        raise GuaranteeError(
            Words(
                "Scores are monotonic under add-remove adjacency only: replacing a unit may raise some and lower others. "
                "Leave monotonic out, or use a Unit with adjacency='add-remove'.",
                "スコアが単調なのは1人の追加・削除の場合だけです。置き換えでは、増えるスコアと減るスコアがあります。"
                "monotonic を省くか、adjacency='add-remove' の Unit を使ってください。",
            )
        )
    return protected
