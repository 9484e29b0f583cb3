"""Advice on delta: by size, group and attack; it never looks at data, and larger stakes never allow a larger delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget
from sudare.errors import ParameterError
from sudare.privacy import advise_delta, for_group, rho_to_epsilon, suggest_delta

APPROXIMATE = Budget(epsilon=1, delta=1e-6)


def test_by_hand() -> None:
    advice = advise_delta(APPROXIMATE, people=126_000_000)
    assert advice.suggested == Fraction(1, 10**11)
    assert advice.exposed == 126
    assert advice.is_dangerous
    assert not advice.is_kept
    assert advice.noise_ratio == pytest.approx(1.36, abs=0.1)
    small = advise_delta(APPROXIMATE, people=5000)
    assert small.suggested == APPROXIMATE.delta
    assert small.is_kept
    assert not small.is_dangerous
    assert small.noise_ratio is None


def test_between_the_suggested_and_the_dangerous() -> None:
    advice = advise_delta(APPROXIMATE, people=500_000)
    assert (advice.is_kept, advice.is_dangerous, advice.exposed) == (False, False, Fraction(1, 2))


@given(st.integers(1, 10**12))
def test_the_same_as_suggest_delta_for_one_release(people: int) -> None:
    assert advise_delta(APPROXIMATE, people).suggested == suggest_delta(people)


@given(st.integers(1, 10**12), st.integers(1, 6), st.integers(1, 100), st.sampled_from(["anybody", "target"]))
def test_more_at_stake_never_allows_more(people: int, group: int, releases: int, attack: Any) -> None:
    def suggested(**changes: Any) -> Fraction:
        usual = {"people": people, "group_size": group, "releases": releases, "attack": attack}
        return advise_delta(APPROXIMATE, **(usual | changes)).suggested

    assert suggested(people=min(10 * people, 10**12)) <= suggested()
    assert suggested(group_size=group + 1) <= suggested()
    assert suggested(releases=10 * releases) <= suggested() / 10
    kept = Budget(epsilon=1, delta=suggested())
    advice = advise_delta(kept, people, group_size=group, releases=releases, attack=attack)
    assert advice.is_kept
    assert advice.exposed is not None
    assert advice.exposed <= Fraction(1, 100)


def test_a_group_counts_as_in_composition() -> None:
    advice = advise_delta(APPROXIMATE, 10_000, group_size=4)
    assert advice.exposed == for_group(APPROXIMATE, 4).delta * 10_000
    assert advise_delta(Budget(epsilon=15, delta=1e-6), 10, group_size=1000).suggested == Fraction(1, 10**300)


def test_a_target_is_one_person_whatever_the_size() -> None:
    one, other = (advise_delta(APPROXIMATE, people, attack="target") for people in (None, 10**9))
    assert one.suggested == other.suggested == Fraction(1, 10**6)
    assert one.exposed == other.exposed == APPROXIMATE.delta


def test_without_a_size_and_without_a_delta() -> None:
    unknown = advise_delta(APPROXIMATE)
    assert (unknown.suggested, unknown.exposed, unknown.people) == (Fraction(1, 10**12), None, None)
    assert not unknown.is_dangerous
    pure = advise_delta(Budget(epsilon=1), 1000)
    assert (pure.suggested, pure.given, pure.exposed) == (Fraction(1, 10**5), None, None)
    concentrated = advise_delta(Budget(rho=0.1), 1000, group_size=2)
    assert concentrated.epsilon == rho_to_epsilon(Fraction(4, 10), Fraction(1, 10**5))
    assert concentrated.to_dict()["suggested"] == "1/100000"


@pytest.mark.parametrize(
    "arguments", [{"people": 0}, {"people": 1.5}, {"group_size": 0}, {"releases": 0}, {"attack": "police"}]
)
def test_what_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(arguments))):
        advise_delta(APPROXIMATE, **arguments)
