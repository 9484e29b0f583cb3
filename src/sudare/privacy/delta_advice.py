"""Which delta to choose: by the number of people, by groups that belong together, and by the people that an attacker looks for.

Delta is the part of a guarantee that may fail. Its worst reading is a mechanism that publishes each person's record with
probability delta; noise does far better than that, but nothing in the definition says so. Under this reading people * delta
records are exposed on average, which is the measure here.

Proof: ``interpretation.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sudare.bilingual import Words
from sudare.errors import ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.composition import growth_of_delta
from sudare.privacy.conversion import epsilon_to_rho, rho_to_epsilon

__all__ = ["Attack", "DeltaAdvice", "advise_delta"]

Attack = Literal["anybody", "target"]
ACCEPTED = {"anybody": Fraction(1, 100), "target": Fraction(1, 10**6)}
"""The chance of success, in the worst reading of delta, against anybody at all or against a person chosen beforehand."""

UNKNOWN_SIZE = 10**10
"""More people than there are: stands for a size that is not stated."""

MAX_PEOPLE, MAX_GROUP, MAX_RELEASES = 10**12, 1000, 10**6
MIN_DELTA = Fraction(1, 10**300)
MAX_EXPONENT = 600


@dataclass(frozen=True)
class DeltaAdvice:
    """A delta for a data set, and a remark on the one that a budget has.

    Attributes:
        suggested: the largest power of ten that keeps the accepted chance.
        given: the delta of the budget; None for pure epsilon, and for rho, where delta only turns it into words.
        people: the public number of people that was counted with; None if it was not stated.
        group_size: how many belong together.
        releases: how many releases of this delta are to come.
        attack: whom the attacker is after.
        exposed: how many people the given delta exposes on average, in its worst reading; None without both numbers.
        epsilon: what a budget in rho guarantees at the suggested delta; None for others.
        noise_ratio: by how much Gaussian noise grows from the given delta to the suggested one; None where nothing changes.
    """

    suggested: Fraction
    given: Fraction | None
    people: int | None
    group_size: int
    releases: int
    attack: Attack
    exposed: Fraction | None
    epsilon: Fraction | None
    noise_ratio: float | None

    @property
    def is_kept(self) -> bool:
        """Whether the given delta, if there is one, is at most the suggested one."""
        return self.given is None or self.given <= self.suggested

    @property
    def is_dangerous(self) -> bool:
        """Whether the worst reading of the given delta exposes a person or more."""
        return self.exposed is not None and self.exposed >= 1

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "suggested": str(self.suggested),
            "given": None if self.given is None else str(self.given),
            "people": self.people,
            "group_size": self.group_size,
            "releases": self.releases,
            "attack": self.attack,
            "exposed": None if self.exposed is None else float(self.exposed),
            "epsilon": None if self.epsilon is None else float(self.epsilon),
            "noise_ratio": self.noise_ratio,
        }


def advise_delta(
    budget: Budget,
    people: int | None = None,
    *,
    group_size: int = 1,
    releases: int = 1,
    attack: Attack = "anybody",
) -> DeltaAdvice:
    """Choose a delta from the size of the data, from what belongs together, and from the attack to be expected.

    Args:
        budget: of a release.
        people: about how many people the data are about: a public or rounded figure, **never** a count of the data, which
            is protected. Left out, more people than there are.
        group_size: how many of the protected units belong together, such as the people of a household, or the rows of a
            person where rows are protected: for k of them delta grows to delta * (1 + e^epsilon + ... + e^((k-1) epsilon)).
        releases: how many releases with such a delta are to come: deltas add up.
        attack: ``"anybody"`` where exposing anyone at all counts, as with an open publication: the chance of that stays
            below 1 %. ``"target"`` where the attacker is after a person chosen beforehand: below one in a million.

    Raises:
        ParameterError: if an argument is not what it should be.

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy import advise_delta
        >>> advice = advise_delta(Budget(epsilon=1, delta=1e-6), people=126_000_000)
        >>> float(advice.suggested), float(advice.exposed), advice.is_dangerous
        (1e-11, 126.0, True)
    """
    function = "advise_delta"
    read_budget(budget, function)
    requirement = Words(f"a whole number from 1 to {MAX_PEOPLE}, or None", f"1 以上 {MAX_PEOPLE} 以下の整数")
    size = None
    if people is not None:
        size = exact_integer(people, "people", function, requirement, smallest=1, largest=MAX_PEOPLE)
    members = exact_integer(
        group_size, "group_size", function, Words("from 1 to 1000", "1 以上 1000 以下"), smallest=1, largest=MAX_GROUP
    )
    times = exact_integer(
        releases, "releases", function, Words("from 1 to 10**6", "1 以上 10**6 以下"), smallest=1, largest=MAX_RELEASES
    )
    if not isinstance(attack, str) or attack not in ACCEPTED:
        raise ParameterError(
            "attack", function, Words("'anybody' or 'target'", "'anybody' または 'target'"), shown(attack)
        )
    at_stake = (UNKNOWN_SIZE if size is None else size) if attack == "anybody" else 1
    growth = Fraction(1) if budget.currency == "rho" else _growth(budget.epsilon, members)
    suggested = _power_of_ten(ACCEPTED[attack] / (at_stake * growth * times))
    given = budget.delta if budget.currency == "epsilon-delta" else None
    exposed = None
    if given is not None and (size is not None or attack == "target"):
        exposed = given * growth * times * (at_stake if attack == "target" else size or 1)
    ratio = None
    if given is not None and given > suggested:
        ratio = float(epsilon_to_rho(budget.epsilon, given) / epsilon_to_rho(budget.epsilon, suggested)) ** 0.5
    epsilon = None
    if budget.currency == "rho" and budget.rho * members**2 <= 10**6:
        epsilon = rho_to_epsilon(budget.rho * members**2, suggested)
    return DeltaAdvice(suggested, given, size, members, times, attack, exposed, epsilon, ratio)


def _growth(epsilon: Fraction, members: int) -> Fraction:
    """By how much delta grows for this many units at once; so much that nothing is left of it, where that is very much."""
    if members == 1:
        return Fraction(1)
    return growth_of_delta(epsilon, members) if epsilon * members <= MAX_EXPONENT else 1 / MIN_DELTA


def _power_of_ten(most: Fraction) -> Fraction:
    """The largest power of ten that is not above."""
    delta = Fraction(1, 10)
    while delta > most and delta > MIN_DELTA:
        delta /= 10
    return delta
