"""Membership inference: whether a person is in the data, from released tables or from synthetic records.

On tables: anyone who knows a person's values and a reference population adds up, over the person's cells, by how much the
released counts exceed what the reference leads one to expect, each cell weighed by its variance, sampling and noise together. To
first order this is the likelihood ratio of "in" against "out" (Homer et al. 2008; Sankararaman et al. 2009). One cell tells
little, thousands tell a lot.

On synthetic records: how near the nearest one is.

The attack is tried on people known to be in or out. Its figures have exact confidence limits: Clopper-Pearson's for rates, and
Hoeffding's for the area under the curve (a mean over pairs, of which min(n, m) are independent at a time). A test that is not
shown to work is not shown to fail, either, unless the limits exclude a working one: with few people nothing is decided.

A release is one run of its mechanism, however many people are tried on it. What it shows about epsilon holds only if chance alone
decided who is in, by a fair coin for each person: then nobody guesses a coin better than with odds of exp(epsilon)
(Steinke, Nasr, Jagielski 2023: Privacy auditing with one training run).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.records.distances import KeyColumn, distances_by_part
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.distributions import proportion_limits
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MembershipTest", "Rate", "evaluate_membership", "membership_in_records", "membership_in_tables"]

REMEDY = Words(
    "Publish fewer cells, or add noise from one privacy budget to all of them: epsilon bounds how well any such test can do.",
    "公表するセルを減らすか、一つのプライバシー予算から全セルにノイズを加えてください。ε はこの種の推測の精度に上限を与えます。",
)
TOO_FEW = Words(
    " Too few people were tried to tell whether the test works.",
    "試した人数が少なく、この推測が当たるかどうかは判断できません。",
)
WORKING_AREA = 0.75
WORKING_SHARE = 0.25
"""A test that tells members works at least so well: in this area under the curve, or by finding this share of them."""

GUESSED = 0.1
"""To show epsilon, guesses are made about this many of the highest and of the lowest scores."""


@dataclass(frozen=True)
class Rate:
    """A measured share with limits that hold with the stated confidence."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class MembershipTest:
    """How well membership can be told.

    Attributes:
        member_scores: of people in the data; larger speaks for "in".
        outsider_scores: of people not in it.
        area: the probability that a random member scores higher than a random outsider: 0.5 is blind guessing.
        false_positive_goal: the share of outsiders that the threshold was set for.
        threshold: set by one half of the outsiders; scores above it are called "in".
        true_positives: the share of members above it.
        false_positives: the share of the other half of the outsiders above it.
        confidence: of all limits, each by itself.
        random_inclusion: whether a fair coin of its own decided for each person whether it is in.
    """

    member_scores: Floats
    outsider_scores: Floats
    area: Rate
    false_positive_goal: float
    threshold: float
    true_positives: Rate
    false_positives: Rate
    confidence: float
    random_inclusion: bool = False

    @property
    def is_broken(self) -> bool:
        """Whether the limits show that membership can be told better than by guessing."""
        return self.area.low > 0.5 or self.true_positives.low > self.false_positives.high

    @property
    def empirical_epsilon(self) -> float:
        """A lower bound of epsilon; 0, which says nothing, unless a fair coin decided for each person whether it is in.

        The people with the highest scores are guessed to be in, those with the lowest to be out, no matter who they are. With
        epsilon each guess is right with odds of at most exp(epsilon), so the lower limit of the share of right guesses bounds it.
        """
        if not self.random_inclusion:
            return 0.0
        scores = np.concatenate([self.member_scores, self.outsider_scores])
        is_in = np.arange(scores.size) < self.member_scores.size
        ordered = np.sort(scores)
        guesses = max(1, int(GUESSED * scores.size))
        high, low = scores >= ordered[-guesses], scores <= ordered[guesses - 1]
        guessed = high ^ low  # where many scores are equal, both would be guessed: then neither is
        if not guessed.any():
            return 0.0
        right = _rate(int((high == is_in)[guessed].sum()), int(guessed.sum()), 1 - self.confidence)
        return max(0.0, math.log(right.low / (1 - right.low))) if right.low > 0 else 0.0

    @property
    def excludes_a_working_test(self) -> bool:
        """Whether the limits show that the test does not work: area and share of members found are both too low."""
        return self.area.high < WORKING_AREA and self.true_positives.high < WORKING_SHARE

    def report(self, names: Sequence[str] | None = None) -> AttackReport:
        """A verdict for each member that was tried.

        A member counts as broken if the test as a whole is shown to work and calls this one "in". If it is shown neither to work
        nor to fail, for want of people, nothing is decided.

        Args:
            names: of the members.
        """
        labels = names if names is not None else [f"person {place}" for place in range(self.member_scores.size)]
        summary = Words(
            f"Members are told from others with an area under the curve of {self.area.value:.3f} "
            f"({self.area.low:.3f} to {self.area.high:.3f}; 0.5 is guessing). At {self.false_positives.value:.1%} false alarms, "
            f"{self.true_positives.value:.1%} of the members are found.",
            f"データに含まれる人とそうでない人は、曲線下面積 {self.area.value:.3f}"
            f"({self.area.low:.3f}〜{self.area.high:.3f}、0.5 は当て推量)で区別されます。誤検出率 "
            f"{self.false_positives.value:.1%} で、含まれる人の {self.true_positives.value:.1%} が見つかります。",
        )
        return AttackReport.of(
            "membership", summary, [self._verdict(*pair) for pair in zip(labels, self.member_scores, strict=True)]
        )

    def _verdict(self, label: str, score: float) -> Verdict:
        found = bool(score > self.threshold)
        sentence = Words(
            f"Called {'in' if found else 'out'} with a score of {score:.3g} (threshold {self.threshold:.3g}).",
            f"スコア {score:.3g}(しきい値 {self.threshold:.3g})で「{'含まれる' if found else '含まれない'}」と判定されます。",
        )
        if self.is_broken:
            outcome = AttackOutcome.BROKEN if found else AttackOutcome.HELD
        elif self.excludes_a_working_test:
            outcome = AttackOutcome.HELD
        else:
            outcome = AttackOutcome.UNDECIDED
            sentence = Words(sentence.english + TOO_FEW.english, sentence.japanese + TOO_FEW.japanese)
        return Verdict("membership", label, outcome, float(score), sentence, REMEDY)


def membership_in_tables(
    released: ArrayLike,
    people: int,
    *,
    members: ArrayLike,
    outsiders: ArrayLike,
    reference: ArrayLike,
    law: NoiseLaw | None = None,
    false_positive_goal: Rational = 0.01,
    confidence: Rational = 0.99,
    random_inclusion: bool = False,
) -> MembershipTest:
    """Test membership on released tables of counts, all cells in one array.

    Args:
        released: the counts of all cells of all tables, one table after the other, with their noise.
        people: how many are in the data, about.
        members: people known to be in, one row each: the position in ``released`` of the person's cell in each table.
        outsiders: people known to be out, likewise.
        reference: other people of the same population, likewise; they tell how common each cell is.
        law: of the noise of each cell; none if not given.
        false_positive_goal: the share of outsiders that may be called "in".
        confidence: of the limits.
        random_inclusion: whether a fair coin of its own decided for each of these members and outsiders whether it is in.

    Example:
        >>> import numpy as np
        >>> import sudare
        >>> from sudare.attacks.records.membership import membership_in_tables
        >>> halves = sudare.noise.uniform_below(2, 420_000).astype(int).reshape(700, 600)
        >>> cells = halves + 2 * np.arange(600)  # 600 tables of two cells
        >>> counts = np.bincount(cells[:100].ravel(), minlength=1200)
        >>> test = membership_in_tables(counts, 100, members=cells[:100], outsiders=cells[100:300], reference=cells[300:])
        >>> test.is_broken
        True
    """
    check_arguments(membership_in_tables, locals(), "released", "law")
    function = "membership_in_tables"
    counts = np.asarray(released, dtype=np.float64)
    number = exact_integer(people, "people", function, Words("a whole number >= 1", "1 以上の整数"), smallest=1)
    if counts.ndim != 1:
        raise ParameterError("released", function, "counts in one dimension", Described(f"shape {counts.shape}"))
    groups = [
        _positions(array, counts.size, name, function)
        for array, name in ((members, "members"), (outsiders, "outsiders"), (reference, "reference"))
    ]
    if len({group.shape[1] for group in groups}) != 1:
        raise ParameterError("outsiders", function, "with as many tables as members and reference", Described("others"))
    noise = law if law is not None else NoiseLaw.none()
    base = groups[2]
    # Half a person is added to each cell: what nobody in the reference has is rare, not impossible.
    shares = (np.bincount(base.ravel(), minlength=counts.size) + 0.5) / (len(base) + 1.0)
    shares = np.minimum(shares, 1.0)
    variances = number * shares * (1 - shares) * (1 + number / len(base)) + noise.variance
    weights = (counts - noise.mean - number * shares) / np.maximum(variances, 1e-9)
    return evaluate_membership(
        weights[groups[0]].sum(axis=1),
        weights[groups[1]].sum(axis=1),
        false_positive_goal=false_positive_goal,
        confidence=confidence,
        random_inclusion=random_inclusion,
    )


def membership_in_records(
    members: Sequence[KeyColumn],
    outsiders: Sequence[KeyColumn],
    *,
    false_positive_goal: Rational = 0.01,
    confidence: Rational = 0.99,
    random_inclusion: bool = False,
) -> MembershipTest:
    """Test membership on synthetic records: the nearer the nearest one, the likelier the person was in the data.

    Args:
        members: columns of people known to be in (first) and of the synthetic records (second).
        outsiders: columns of people known to be out (first) and of the same synthetic records (second).
        false_positive_goal: the share of outsiders that may be called "in".
        confidence: of the limits.
        random_inclusion: whether a fair coin of its own decided for each of these people whether it is in.
    """
    check_arguments(membership_in_records, locals(), "members", "outsiders")
    scores = [
        -np.concatenate([part.min(axis=1) for _, part in distances_by_part(columns, "membership_in_records")])
        for columns in (members, outsiders)
    ]
    return evaluate_membership(
        *scores, false_positive_goal=false_positive_goal, confidence=confidence, random_inclusion=random_inclusion
    )


def evaluate_membership(
    member_scores: ArrayLike,
    outsider_scores: ArrayLike,
    *,
    false_positive_goal: Rational = 0.01,
    confidence: Rational = 0.99,
    random_inclusion: bool = False,
) -> MembershipTest:
    """Judge scores of any membership test, larger ones speaking for "in".

    Args:
        member_scores: of people in the data.
        outsider_scores: of people not in it, at least two.
        false_positive_goal: the share of outsiders that may be called "in".
        confidence: of the limits.
        random_inclusion: whether a fair coin of its own decided for each of these people whether it is in.
    """
    check_arguments(evaluate_membership, locals(), "member_scores", "outsider_scores")
    function = "evaluate_membership"
    goal, sure = (
        _between(value, name, function)
        for value, name in ((false_positive_goal, "false_positive_goal"), (confidence, "confidence"))
    )
    inside, outside = np.asarray(member_scores, dtype=np.float64), np.asarray(outsider_scores, dtype=np.float64)
    if np.isnan(inside).any() or np.isnan(outside).any():
        raise ParameterError(
            "member_scores", function, "numbers, for outsiders as well", Described("not a number (NaN)")
        )
    if inside.ndim != 1 or outside.ndim != 1 or inside.size < 1 or outside.size < 2:
        requirement = "in one dimension, with at least one member and two outsiders"
        raise ParameterError("member_scores", function, requirement, Described(f"{inside.shape}, {outside.shape}"))
    # Every second outsider sets the threshold, the others measure it: those who set it have no part in judging it.
    setting, judging = np.sort(outside[::2]), outside[1::2]
    allowed = int(goal * setting.size)
    threshold = float(setting[setting.size - 1 - allowed])
    error = 1 - sure
    return MembershipTest(
        inside,
        outside,
        _area(inside, outside, error),
        goal,
        threshold,
        _rate(int((inside > threshold).sum()), inside.size, error),
        _rate(int((judging > threshold).sum()), judging.size, error),
        sure,
        random_inclusion,
    )


def _area(inside: Floats, outside: Floats, error: float) -> Rate:
    ordered = np.sort(outside)
    below, up_to = np.searchsorted(ordered, inside, side="left"), np.searchsorted(ordered, inside, side="right")
    value = float(((below + up_to) / 2).mean() / outside.size)
    reach = math.sqrt(math.log(2 / error) / (2 * min(inside.size, outside.size)))
    return Rate(value, max(0.0, value - reach), min(1.0, value + reach))


def _rate(hits: int, trials: int, error: float) -> Rate:
    low, high = proportion_limits(hits, trials, error / 2)
    return Rate(hits / trials, float(low), float(high))


def _positions(array: ArrayLike, cells: int, name: str, function: str) -> Integers:
    table = np.asarray(array)
    good = table.ndim == 2 and len(table) > 0 and np.issubdtype(table.dtype, np.integer)
    if not good or table.min(initial=0) < 0 or table.max(initial=0) >= cells:
        requirement = f"positions below {cells}, a row for each person and a column for each table"
        raise ParameterError(name, function, requirement, Described(f"{table.dtype}, shape {table.shape}"))
    return table.astype(np.int64)


def _between(value: Rational, name: str, function: str) -> float:
    number = float(
        exact_fraction(value, name, function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数"))
    )
    if not 0 < number < 1:
        raise ParameterError(
            name, function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数"), value
        )
    return number
