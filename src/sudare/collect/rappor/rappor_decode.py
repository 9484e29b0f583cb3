"""Which texts people have, and how many of them, from RAPPOR reports.

Three steps: unbiased shares of each bit in each cohort; a non-negative lasso that chooses among the candidates; least squares on
the chosen ones, whose weights do not depend on the reports, with the variances that follow from the randomizing and from the
drawing of cohorts.

Proof: ``rappor_decode.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.rappor.design import (
    BitCounts,
    CandidateTexts,
    background_rate,
    count_bits,
    estimate_bits,
    noise_of_clear_bit,
    weights_and_rates,
)
from sudare.collect.rappor.rappor import Rappor
from sudare.distributions import normal_quantile, normal_tail
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import Rational, read_chance, read_flag, shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["Correction", "Decoded", "decode", "estimate_all", "select_candidates", "shares_of_everybody"]

Correction = Literal["bonferroni", "fdr"]

SWEEPS = 2000
TOLERANCE = 1e-4
MIN_EIGENVALUE = 1e-9
"""Of the design's squares, relative to the largest; below it candidates cannot be told apart."""


@dataclass(frozen=True, eq=False)
class Decoded(ShownRows):
    """The texts that were found.

    Attributes:
        labels: those found, the commonest first.
        counts: estimated numbers of people.
        standard_errors: of the counts.
        p_values: how likely so large an estimate would be if nobody had the text; each by itself, among all that were chosen.
        people: how many reported.
        candidates: how many texts were tried.
        explained: how many people have one of the texts found, estimated.
        explained_error: standard error of that.
        others: how many people have none of them, estimated from what all bits have in common.
        others_error: standard error of that, as far as their texts are many.
        explained_variance: of the bits' estimates, the share that the texts found explain.
        noise_variance: the share that the randomizing makes.
        noise_deviation: of the estimated number of people with a bit, in a cohort of average size, from the randomizing alone.
        spread: how much larger the rest is than the randomizing makes it, at least 1; standard errors are larger by its root.
    """

    labels: tuple[str, ...]
    counts: Values
    standard_errors: Values
    p_values: Values
    people: int
    candidates: int
    explained: float
    explained_error: float
    others: float
    others_error: float
    explained_variance: float
    noise_variance: float
    noise_deviation: float
    spread: float

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each text found: estimate, standard error, p-value and 95 % interval."""
        low, high = self.intervals()
        return {
            "text": self.labels,
            "people": self.counts,
            "standard_error": self.standard_errors,
            "p_value": self.p_values,
            "low": low,
            "high": high,
        }

    @property
    def missing_variance(self) -> float:
        """The share that neither the texts found nor the randomizing explain."""
        return 1 - self.explained_variance - self.noise_variance

    def intervals(self, level: Rational = 0.95) -> tuple[Values, Values]:
        """Lower and upper ends that hold the true number with this probability, for each text by itself.

        Args:
            level: above 0 and below 1.
        """
        chance = read_chance(level, "level", "Decoded.intervals")
        reach = normal_quantile(0.5 + chance / 2) * self.standard_errors
        return self.counts - reach, self.counts + reach


def decode(
    rappor: Rappor,
    reports: ArrayLike | BitCounts,
    candidates: Sequence[str] | CandidateTexts,
    *,
    alpha: Rational = 0.05,
    correction: Correction = "bonferroni",
    others: bool = True,
) -> Decoded:
    """Find the texts that people have, among candidates, and count them.

    Args:
        rappor: the randomizer of the reports.
        reports: what was sent, or the sums of it.
        candidates: texts to try; others are not found.
        alpha: how likely a text may be found that nobody has (``"bonferroni"``), or which share of those found (``"fdr"``).
        correction: for the number of candidates.
        others: whether people may have none of the candidates.

    Raises:
        ParameterError: if the reports are of another randomizer, or an argument is none.

    Example:
        >>> from sudare.collect.rappor.rappor import Rappor
        >>> from sudare.collect.rappor.rappor_decode import decode
        >>> rappor = Rappor(bits=32, hashes=2, cohorts=8, f=0.25, p=0.25, q=0.75)
        >>> reports = rappor.randomize(["Firefox"] * 30_000 + ["Chrome"] * 60_000)
        >>> found = decode(rappor, reports, ["Lynx", "Firefox", "Chrome", "Mosaic"])
        >>> {"Chrome", "Firefox"} <= set(found.labels)
        True
    """
    level = read_chance(alpha, "alpha", "decode")
    if correction not in ("bonferroni", "fdr"):
        raise ParameterError(
            "correction", "decode", Words("'bonferroni' or 'fdr'", "'bonferroni' または 'fdr'"), shown(correction)
        )
    read_flag(others, "others", "decode")
    counts, tried = _read(rappor, reports, candidates, "decode")
    shares = select_candidates(counts, tried, others=others)
    chosen = np.flatnonzero(shares[:-1] > 0)
    trial = _Regression(counts, tried, chosen[np.argsort(-shares[chosen], kind="stable")], others)
    passing = _significant(trial, len(tried.labels), level, correction)
    # Chosen candidates that nobody has took part by chance, always upwards: the numbers come from those found alone.
    fit = _Regression(counts, tried, trial.chosen[passing], others)
    order = np.argsort(-fit.shares[: fit.chosen.size], kind="stable")
    people = int(counts.people.sum())
    together = np.zeros((1, fit.shares.size))
    together[0, order] = 1
    explained_variance, noise_variance, noise_deviation = _explained(counts, fit)
    return Decoded(
        labels=tuple(tried.labels[i] for i in fit.chosen[order]),
        counts=people * fit.shares[order],
        standard_errors=people * np.sqrt(fit.variances[order]),
        p_values=trial.p_values[passing][order],
        people=people,
        candidates=len(tried.labels),
        explained=people * float(fit.shares[order].sum()),
        explained_error=people * float(np.sqrt(fit.variances_of(together)[0])),
        others=people * float(fit.shares[-1]) if others else 0.0,
        others_error=people * float(np.sqrt(fit.variances[-1])) if others else 0.0,
        explained_variance=explained_variance,
        noise_variance=noise_variance,
        noise_deviation=noise_deviation,
        spread=fit.spread,
    )


def estimate_all(
    rappor: Rappor, reports: ArrayLike | BitCounts, candidates: Sequence[str] | CandidateTexts
) -> Estimate:
    """How many people have each candidate, by least squares on all of them: unbiased if everybody has one of them.

    Args:
        rappor: the randomizer of the reports.
        reports: what was sent, or the sums of it.
        candidates: all texts that people have.

    Raises:
        ParameterError: if the reports are of another randomizer, or candidates are no texts.
        GuaranteeError: if candidates cannot be told apart.
    """
    counts, tried = _read(rappor, reports, candidates, "estimate_all")
    fit = _Regression(counts, tried, np.arange(len(tried.labels)), others=False, drop=False)
    people = int(counts.people.sum())
    return Estimate(tried.labels, people, people * fit.shares, people**2 * fit.variances, repr(rappor))


def select_candidates(
    counts: BitCounts, candidates: CandidateTexts, *, others: bool = True, strictness: float = 1.0
) -> Values:
    """Shares of people by a non-negative lasso: 0 for candidates that the bits do not speak for.

    A candidate that nobody has, and that shares no bits with others, is chosen if its bits exceed noise by `strictness` standard
    deviations, which are made higher until at most half as many are chosen as there are bits.

    Args:
        counts: sums of reports.
        candidates: the texts.
        others: whether people may have none of them.
        strictness: above 0.

    Returns:
        A share for each candidate, and one for people with none of them.
    """
    from sudare.kernels.collection.rappor import nonnegative_lasso

    rappor = counts.rappor
    weights, rates = weights_and_rates(counts)
    people = float(counts.people.sum())
    norms = np.add.reduceat(weights[candidates.rows], candidates.starts[:-1])
    deviations = np.sqrt(noise_of_clear_bit(rappor) * norms / people)
    background = background_rate(rappor) if others else 0.0
    used = int((weights > 0).sum())
    while True:
        shares, residuals = np.zeros(len(candidates.labels) + 1), rates.copy()
        penalties = np.maximum(strictness * deviations, np.finfo(float).tiny)
        nonnegative_lasso(
            candidates.starts, candidates.rows, weights, penalties, background, TOLERANCE, SWEEPS, residuals, shares
        )
        if int((shares[:-1] > 0).sum()) <= max(used // 2, 1):
            return shares
        strictness *= 1.5


class _Regression:
    """Least squares on some candidates, each row weighted by the people of its cohort.

    Shares are unbiased if nobody has another text; variances are those of the randomizing and of drawing the cohorts.
    """

    def __init__(
        self, counts: BitCounts, candidates: CandidateTexts, chosen: Integers, others: bool, drop: bool = True
    ) -> None:
        self.counts, self.chosen = counts, chosen
        self.people = float(counts.people.sum())
        self.weights, self.rates = weights_and_rates(counts)
        self._build(candidates, others)
        if self.chosen.size and not self._is_regular():
            if not drop:
                raise GuaranteeError(
                    Words(
                        "Some of these candidates cannot be told apart: they set the same bits, or there are more of them than "
                        "bits in all cohorts. Give fewer candidates, or collect with more bits or cohorts.",
                        "区別できない候補があります。同じビットを立てるか、候補の数が全コホートのビット数を超えています。"
                        "候補を減らすか、ビットまたはコホートを増やして集めてください。",
                    )
                )
            self.chosen = self.chosen[self._independent()]
            self._build(candidates, others)
        self.inverse = np.linalg.inv(self._squares()) if self.design.shape[1] else np.zeros((0, 0))
        self.shares: Values = self.inverse @ (self.design.T @ (self.weights * self.rates))
        self.fitted: Values = self.design @ self.shares
        self.spread = self._spread()
        self.variances = self.variances_of(np.eye(self.shares.size))
        self.p_values = self._p_values()

    def _build(self, candidates: CandidateTexts, others: bool) -> None:
        matrix = candidates.matrix()[:, self.chosen]
        from scipy.sparse import csr_array, hstack

        if others:
            background = csr_array(np.full((candidates.size, 1), background_rate(self.counts.rappor)))
            matrix = hstack([matrix, background])
        self.design: Any = csr_array(matrix)

    def _squares(self) -> Values:
        weighted = self.design * self.weights[:, None]
        return np.asarray((self.design.T @ weighted).toarray())

    def _is_regular(self) -> bool:
        eigenvalues = np.linalg.eigvalsh(self._squares())
        return bool(eigenvalues[0] > MIN_EIGENVALUE * eigenvalues[-1])

    def _independent(self) -> Integers:
        """Of the candidates in their order, those that are no combination of others before them (and of the background)."""
        columns = np.sqrt(self.weights)[:, None] * self.design.toarray()
        chosen = self.chosen.size
        order = np.r_[chosen : columns.shape[1], 0:chosen]
        triangle = np.linalg.qr(columns[:, order], mode="r")
        pivots = np.zeros(columns.shape[1])
        diagonal = np.abs(np.diag(triangle))
        pivots[: diagonal.size] = diagonal
        norms = np.sqrt((columns[:, order] ** 2).sum(axis=0))
        kept = order[pivots > np.sqrt(MIN_EIGENVALUE) * norms]
        return np.sort(kept[kept < chosen])

    def _noise(self) -> Values:
        """Of one person's reported bits, as a variance of rates: for each row."""
        rappor = self.counts.rappor
        set_, clear = float(rappor.reported_if_set), float(rappor.reported_if_clear)
        rates = np.clip(self.fitted, 0, 1)
        return np.asarray((rates * set_ * (1 - set_) + (1 - rates) * clear * (1 - clear)) / (set_ - clear) ** 2)

    def _spread(self) -> float:
        """The weighted squares that are left, over those that randomizing and drawing cohorts leave on average."""
        rates = np.clip(self.fitted, 0, 1)
        leverage = self.weights * np.asarray(self.design.multiply(self.design @ self.inverse).sum(axis=1)).ravel()
        left = float((self.weights * (self.rates - self.fitted) ** 2).sum())
        # The variance of a row is this over its people, and its weight is its people over all people.
        expected = float((self._noise() + rates * (1 - rates)) @ np.where(self.weights > 0, 1 - leverage, 0))
        return max(1.0, left * self.people / expected) if expected > 0 else 1.0

    def variances_of(self, combinations: Values) -> Values:
        """Of sums of shares with the weights in the rows: from the randomizing, and from drawing the cohorts."""
        size, bits = self.shares.size, self.counts.rappor.bits
        mixed, noise = combinations @ self.inverse, self._noise()
        holders = shares_of_everybody(self.shares)
        truths = combinations @ holders
        variances = np.zeros(combinations.shape[0])
        for cohort in np.flatnonzero(self.counts.people):
            people = float(self.counts.people[cohort])
            rows = slice(cohort * bits, (cohort + 1) * bits)
            part = self.design[rows]
            readers = people / self.people * (part @ mixed.T).T
            variances += readers**2 @ noise[rows] / people
            # Hoeffding's variance of a sum over a random assignment of people to cohorts: `rappor_decode.md`.
            effects = (part.T @ readers.T).T if size else np.zeros((combinations.shape[0], 0))
            means = (effects @ holders)[:, None]
            centred = (effects - means) / people - (combinations - truths[:, None]) / self.people
            variances += people * (centred**2 @ holders) * self.people / max(self.people - 1, 1)
        return np.asarray(variances * self.spread)

    def _p_values(self) -> Values:
        errors = np.sqrt(np.maximum(self.variances, np.finfo(float).tiny))
        return normal_tail(self.shares / errors)


def _significant(fit: _Regression, candidates: int, alpha: float, correction: Correction) -> Integers:
    """The chosen candidates whose estimates exceed what chance allows for this many candidates."""
    p_values = fit.p_values[: fit.chosen.size]
    if correction == "bonferroni":
        return np.flatnonzero(p_values <= alpha / candidates)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(ordered <= alpha * np.arange(1, ordered.size + 1) / candidates)
    limit = ordered[passing[-1]] if passing.size else -1.0
    return np.flatnonzero(p_values <= limit)


def _explained(counts: BitCounts, fit: _Regression) -> tuple[float, float, float]:
    """Shares of the variance of the bits' estimates, as numbers of people: explained, noise; and the noise's deviation."""
    found = fit.chosen.size
    used = np.repeat(counts.people > 0, counts.rappor.bits)
    sizes = np.repeat(counts.people, counts.rappor.bits)[used]
    observed = estimate_bits(counts).unbiased.ravel()[used]
    total = float(((observed - observed.mean()) ** 2).sum())
    noise = noise_of_clear_bit(counts.rappor) * fit.people / counts.rappor.cohorts
    if total == 0:
        return 0.0, 0.0, float(np.sqrt(noise))
    left = observed - sizes * (fit.design[:, :found] @ fit.shares[:found])[used]
    explained = 1 - float(((left - left.mean()) ** 2).sum()) / total
    return explained, noise * int(used.sum()) / total, float(np.sqrt(noise))


def shares_of_everybody(shares: Values) -> Values:
    """The same, but none below 0 and all together 1."""
    positive = np.maximum(shares, 0)
    total = positive.sum()
    return np.asarray(positive / total) if total > 0 else np.full(shares.size, 1 / max(shares.size, 1))


def _read(
    rappor: Rappor, reports: ArrayLike | BitCounts, candidates: Sequence[str] | CandidateTexts, function: str
) -> tuple[BitCounts, CandidateTexts]:
    counts = reports if isinstance(reports, BitCounts) else count_bits(rappor, reports)
    if counts.rappor != rappor:
        raise ParameterError("reports", function, "reports of this randomizer", Described("those of another"))
    if not counts.people.any():
        raise ParameterError("reports", function, "one report or more", Described("none"))
    tried = candidates if isinstance(candidates, CandidateTexts) else CandidateTexts.from_texts(rappor, candidates)
    if tried.size != rappor.cohorts * rappor.bits:
        requirement = "candidates of a randomizer with as many bits and cohorts"
        raise ParameterError("candidates", function, requirement, Described("those of another"))
    return counts, tried
