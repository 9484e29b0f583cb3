"""How two variables that were both collected by RAPPOR go together: the joint distribution of most likelihood.

Every pair of reports has a probability for every pair of candidates, a product, because the two are randomized independently.
Expectation and maximization find the shares of pairs under which all reports together are likeliest; squared extrapolation gets
there in fewer steps. The likelihood is concave, so how far a result can be from the best is known, and is what stops the search.

Proof: ``rappor_decode.md`` beside this file.

References:
    Fanti, Pihur, Erlingsson: Building a RAPPOR with the unknown (2016).
    Varadhan, Roland: Simple and globally convergent methods for accelerating the convergence of any EM algorithm (2008).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.collect.rappor.design import (
    BitCounts,
    CandidateTexts,
    background_rate,
    count_bits,
    noise_of_clear_bit,
    weights_and_rates,
)
from sudare.collect.rappor.rappor import Rappor
from sudare.collect.rappor.rappor_decode import select_candidates, shares_of_everybody
from sudare.distributions import normal_quantile
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import Rational, read_chance, read_flag, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Association", "Collected", "associate"]

MIN_PROBABILITY = 1e-12
MIN_KEPT = 0.01
"""Of a share, where an extrapolation would take more than all of it."""

MIN_STRICTNESS = 0.01
INFORMATION_BLOCK = 1 << 12
MAX_CELLS = 4096


@dataclass(frozen=True, eq=False)
class Collected:
    """Reports on one variable, and the texts that people may have.

    Args:
        rappor: the randomizer.
        reports: one for each person.
        candidates: different texts.
    """

    rappor: Rappor
    reports: Any
    candidates: Sequence[str]


@dataclass(frozen=True, eq=False)
class Association(ShownRows):
    """Estimated shares of people with each pair of values.

    Attributes:
        labels: values of the first and of the second variable. None stands for all others, and comes last.
        people: how many reported on both.
        shares: of people, a row for each value of the first variable and a column for each of the second; they add up to 1.
        standard_errors: of the shares; None if they were not asked for.
        shortfall: by how much the logarithm of the likelihood is below the largest possible one, at most.
    """

    labels: tuple[tuple[str | None, ...], tuple[str | None, ...]]
    people: int
    shares: Values
    standard_errors: Values | None
    shortfall: float

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each pair of values; None stands for all others."""
        first, second = self.labels
        found = {
            "first": [one for one in first for _ in second],
            "second": [other for _ in first for other in second],
            "people": self.counts.ravel(),
            "share": self.shares.ravel(),
        }
        return found if self.standard_errors is None else {**found, "standard_error": self.standard_errors.ravel()}

    @property
    def counts(self) -> Values:
        """Estimated numbers of people."""
        return self.people * self.shares

    def intervals(self, level: Rational = 0.95) -> tuple[Values, Values]:
        """Lower and upper ends of the shares, each by itself, cut off at 0 and 1.

        Args:
            level: above 0 and below 1.

        Raises:
            ParameterError: if no standard errors were asked for.
        """
        chance = read_chance(level, "level", "Association.intervals")
        if self.standard_errors is None:
            raise ParameterError("errors", "associate", "True where intervals are wanted", False)
        reach = normal_quantile(0.5 + chance / 2) * self.standard_errors
        return np.maximum(self.shares - reach, 0), np.minimum(self.shares + reach, 1)


def associate(
    first: Collected,
    second: Collected,
    *,
    others: bool = True,
    errors: bool = True,
    shortfall_at_most: float = 1.0,
    gain_at_least: float = 0.005,
) -> Association:
    """The joint distribution of two variables, from the reports of the same people on both.

    Args:
        first: reports on the one variable.
        second: reports on the other, of the same people in the same order.
        others: whether people may have none of the candidates, in either variable.
        errors: whether to work out standard errors, which takes longer than the rest where there are hundreds of pairs.
        shortfall_at_most: stop when the logarithm of the likelihood is as near as this to the largest one, for certain;
        gain_at_least: or when two steps raise it by less than this. `Association.shortfall` says how near it is, at worst.

    Raises:
        ParameterError: if reports are of another randomizer, or are not as many.
        GuaranteeError: if standard errors are wanted, and pairs cannot be told apart.

    Example:
        >>> from sudare.collect.rappor.rappor import Rappor
        >>> from sudare.collect.rappor.association import Collected, associate
        >>> rappor = Rappor(bits=16, hashes=1, cohorts=2, f=0, p=0.1, q=0.9)
        >>> fruit = rappor.randomize(["apple", "pear"] * 5_000)
        >>> colour = rappor.randomize(["red", "green"] * 5_000)
        >>> joint = associate(
        ...     Collected(rappor, fruit, ["apple", "pear"]), Collected(rappor, colour, ["red", "green"]), others=False
        ... )
        >>> bool(joint.shares[0, 0] > 0.45 and joint.shares[0, 1] < 0.05)
        True
    """
    read_flag(others, "others", "associate")
    read_flag(errors, "errors", "associate")
    for name, value in (("shortfall_at_most", shortfall_at_most), ("gain_at_least", gain_at_least)):
        if not isinstance(value, float) or not value > 0:
            raise ParameterError(name, "associate", Words("a number above 0", "0 より大きい数"), shown(value))
    one, one_start = _likelihoods(first, others, "first")
    two, two_start = _likelihoods(second, others, "second")
    people = one.shape[0]
    if two.shape[0] != people:
        requirement = "reports of the same people as the first"
        raise ParameterError("second", "associate", requirement, Described("another number of reports"))
    if one.shape[1] * two.shape[1] > MAX_CELLS:
        requirement = f"candidates that make at most {MAX_CELLS:,} pairs"
        raise ParameterError("second", "associate", requirement, Described(f"{one.shape[1]} x {two.shape[1]}"))
    # Pairs of reports rule nothing out, and neither does the start.
    start = 0.9 * np.outer(one_start, two_start) + 0.1 / (one.shape[1] * two.shape[1])
    shares, shortfall = _maximize(one, two, start, shortfall_at_most, gain_at_least)
    deviations = _standard_errors(one, two, shares) if errors else None
    labels = tuple((*each.candidates, *((None,) if others else ())) for each in (first, second))
    return Association((labels[0], labels[1]), people, shares, deviations, shortfall)


def _likelihoods(collected: Collected, others: bool, parameter: str) -> tuple[Values, Values]:
    """For each report, how likely each candidate makes it, up to a factor; and shares to begin with."""
    from sudare.kernels.collection.rappor import matching_bits, weigh_bits

    if not isinstance(collected, Collected):
        raise ParameterError(parameter, "associate", "a Collected", shown(collected))
    rappor = collected.rappor
    counts = count_bits(rappor, collected.reports)
    cohorts, lanes = rappor.read_reports(collected.reports, parameter, "associate")
    if not cohorts.size:
        raise ParameterError(parameter, "associate", "one report or more", Described("none"))
    tried = CandidateTexts.from_texts(rappor, collected.candidates)
    filters, sizes = _packed(rappor, tried)
    matches = np.zeros((cohorts.size, len(tried.labels)), dtype=np.int64)
    matching_bits(cohorts, lanes, filters, matches)
    set_, clear = (
        float(np.clip(float(x), MIN_PROBABILITY, 1 - MIN_PROBABILITY))
        for x in (rappor.reported_if_set, rappor.reported_if_clear)
    )
    # Relative to a filter without any bit.
    seen, unseen = np.log(set_ / clear), np.log((1 - set_) / (1 - clear))
    logarithms = matches * (seen - unseen) + sizes[cohorts] * unseen
    shares, unknown = _estimate_rates(counts, tried, others)
    if others:
        rates = np.clip(clear + (set_ - clear) * unknown, MIN_PROBABILITY, 1 - MIN_PROBABILITY)
        weights = np.log(rates / clear) - np.log((1 - rates) / (1 - clear))
        sums = np.zeros(cohorts.size)
        weigh_bits(cohorts, lanes, np.ascontiguousarray(weights), sums)
        bases = np.log((1 - rates) / (1 - clear)).sum(axis=1)
        logarithms = np.column_stack([logarithms, sums + bases[cohorts]])
    logarithms -= logarithms.max(axis=1, keepdims=True)
    return np.ascontiguousarray(np.exp(logarithms)), shares


def _estimate_rates(counts: BitCounts, candidates: CandidateTexts, others: bool) -> tuple[Values, Values]:
    """Shares of people with each candidate (and with none of them), and how often each bit is set by those with none.

    The rates of those with none are what is left of the bits, drawn towards one rate for all bits as far as noise explains how
    they differ (the rule of James and Stein).
    """
    rappor = counts.rappor
    shares = select_candidates(counts, candidates, others=others, strictness=MIN_STRICTNESS)
    if not others:
        return shares_of_everybody(shares[:-1]), np.zeros((rappor.cohorts, rappor.bits))
    weights, rates = weights_and_rates(counts)
    usual = background_rate(rappor)
    if shares[-1] <= 0:
        return shares_of_everybody(shares), np.full((rappor.cohorts, rappor.bits), usual)
    unknown = (rates - candidates.matrix() @ shares[:-1]) / shares[-1]
    squares = float((weights * (unknown - usual) ** 2).sum())
    noise = noise_of_clear_bit(rappor) / shares[-1] ** 2 * float((weights > 0).sum() / counts.people.sum())
    kept = max(0.0, 1 - noise / squares) if squares > 0 else 0.0
    drawn = np.where(weights > 0, usual + kept * (unknown - usual), usual)
    return shares_of_everybody(shares), np.clip(drawn, 0, 1).reshape(rappor.cohorts, rappor.bits)


def _packed(rappor: Rappor, tried: CandidateTexts) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The filter of each candidate in each cohort, 64 bits to a word, and how many bits it has."""
    shape = (rappor.cohorts, len(tried.labels), 64 * rappor.lanes)
    bits = np.zeros(shape, dtype=np.uint8)
    owners = np.repeat(np.arange(len(tried.labels)), np.diff(tried.starts))
    bits[tried.rows // rappor.bits, owners, tried.rows % rappor.bits] = 1
    packed = np.packbits(bits, axis=2, bitorder="little").view("<u8").astype(np.uint64)
    return np.ascontiguousarray(packed), bits.sum(axis=2, dtype=np.int64)


def _step(one: Values, two: Values, shares: Values) -> tuple[Values, float, float]:
    """One step of expectation and maximization; the logarithm of the likelihood before it, and what it lacks at most."""
    from sudare.kernels.collection.rappor import joint_gains

    gains = np.empty_like(shares)
    logarithm = joint_gains(one, two, shares, gains)
    return shares * gains, logarithm, one.shape[0] * (float(gains.max()) - 1)


def _maximize(
    one: Values, two: Values, shares: Values, shortfall_at_most: float, gain_at_least: float
) -> tuple[Values, float]:
    """Steps in pairs; the line through each pair is followed as far as it bends little, if the likelihood is no worse for it."""
    first, level, shortfall = _step(one, two, shares)
    gain = np.inf
    while shortfall > shortfall_at_most and gain >= gain_at_least:
        second, _, _ = _step(one, two, first)
        change, bend = first - shares, (second - first) - (first - shares)
        bending = float(np.sqrt((bend**2).sum()))
        reach = max(1.0, float(np.sqrt((change**2).sum())) / bending) if bending > 0 else 1.0
        ahead = np.maximum(shares + 2 * reach * change + reach**2 * bend, MIN_KEPT * second)
        ahead /= ahead.sum()
        after, ahead_level, ahead_shortfall = _step(one, two, ahead)
        if ahead_level < level:
            ahead = second
            after, ahead_level, ahead_shortfall = _step(one, two, ahead)
        gain = ahead_level - level
        shares, first, level, shortfall = ahead, after, ahead_level, ahead_shortfall
    return shares / shares.sum(), max(shortfall, 0.0)


def _standard_errors(one: Values, two: Values, shares: Values) -> Values:
    """From the curvature of the likelihood where shares add up to 1, less what drawing the people themselves would add."""
    people, cells = one.shape[0], shares.size
    information = np.zeros((cells, cells))
    for start in range(0, people, INFORMATION_BLOCK):
        a, b = one[start : start + INFORMATION_BLOCK], two[start : start + INFORMATION_BLOCK]
        scores = (a[:, :, None] * b[:, None, :]).reshape(len(a), cells)
        scores /= (scores @ shares.ravel())[:, None]
        information += scores.T @ scores
    eigenvalues = np.linalg.eigvalsh(information)
    if not eigenvalues[0] > 1e-12 * eigenvalues[-1]:
        raise GuaranteeError(
            Words(
                "Some pairs of candidates cannot be told apart by these reports, so they have no standard errors. Give fewer "
                "candidates, or leave standard errors out with errors=False.",
                "これらの報告では区別できない候補の組があるため、標準誤差を求められません。"
                "候補を減らすか、errors=False で標準誤差を省いてください。",
            )
        )
    inverse = np.linalg.inv(information)
    sums = inverse.sum(axis=0)
    variances = np.diag(inverse) - sums**2 / sums.sum()
    drawing = (shares * (1 - shares)).ravel() / people
    return np.asarray(np.sqrt(np.maximum(variances - drawing, 0.0)).reshape(shares.shape))
