"""Sampled groups audited from what is published, on neighbouring tables, and broken twins that must be caught.

A table holds many independent groups: each is a run of its own. Under one table every group has n equal records, under the
neighbour n + 1, so that one publication of each gives as many pairs of runs as there are groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from sudare import Budget
from sudare.attacks import audit_epsilon
from sudare.microdata.perturb.exact_draws import toss_coins
from sudare.microdata.perturb.sampled_k_anonymity import sampled_groups
from sudare.microdata.records import Records
from sudare.privacy.sampled_measurements import SampledGroupsMeasurement
from tests.statistical.goodness import chi_square_rejects

pytestmark = pytest.mark.slow

RUNS = 20_000
BUDGET = Budget(epsilon=1, delta=Fraction(1, 1000))
RIGHT = SampledGroupsMeasurement.for_budget(BUDGET)
Counts = NDArray[np.int64]


def table_of(records_in_each: int) -> Records:
    return Records.of_columns({"group": np.repeat(np.arange(RUNS), records_in_each)})


def counts_of(published: Records) -> Counts:
    """How often each group is published; 0 where it is not."""
    found = Counter(published.column("group").texts().tolist())
    return np.array([found.get(str(number), 0) for number in range(RUNS)], dtype=np.int64)


def honest(records_in_each: int) -> Counts:
    return counts_of(sampled_groups(table_of(records_in_each), {"group": 0}, {}, BUDGET)[0])


def with_small_k(k: int) -> Callable[[int], Counts]:
    """The broken twin whose groups are too small for what it claims."""

    def publish(records_in_each: int) -> Counts:
        kept = toss_coins(RIGHT.rate, RUNS * records_in_each).reshape(RUNS, records_in_each).sum(axis=1)
        return np.where(kept >= k, kept, 0)

    return publish


def groups_before_sampling(records_in_each: int) -> Counts:
    """The broken twin that asks for k records of the data, and samples afterwards."""
    if records_in_each < RIGHT.k:
        return np.zeros(RUNS, dtype=np.int64)
    return np.asarray(toss_coins(RIGHT.rate, RUNS * records_in_each).reshape(RUNS, records_in_each).sum(axis=1))


def without_sampling(records_in_each: int) -> Counts:
    """The broken twin that keeps every record."""
    return np.full(RUNS, records_in_each if records_in_each >= RIGHT.k else 0, dtype=np.int64)


def carrying_a_column(has_person: bool) -> Counts:
    """The broken twin that groups by one column and publishes another one beside it: is the person's value there?

    The group has far more than k records, so that it is published nearly always.
    """
    kept = toss_coins(RIGHT.rate, RUNS * 4 * RIGHT.k).reshape(RUNS, 4 * RIGHT.k).sum(axis=1)
    person = toss_coins(RIGHT.rate, RUNS) & has_person
    return np.asarray((kept + person >= RIGHT.k) & person).astype(np.int64)


def lower_bound(publish: Callable[[int], Counts], records_in_each: int) -> float:
    audit = audit_epsilon(publish(records_in_each), publish(records_in_each + 1), delta=float(BUDGET.delta))
    return audit.lower_bound


@pytest.mark.parametrize("records_in_each", [RIGHT.k - 1, RIGHT.k, 30, 40, 60])
def test_the_claim_is_not_refuted(records_in_each: int) -> None:
    assert lower_bound(honest, records_in_each) <= 1


def test_the_delta_is_no_larger_than_it_must_be() -> None:
    """An auditor who finds nothing would pass everything: with four fifths of the delta the claim is refuted."""
    stated = SampledGroupsMeasurement(RIGHT.rate, 3, Fraction(1), 1).delta
    budget = Budget(epsilon=1, delta=stated)
    two, three = (counts_of(sampled_groups(table_of(size), {"group": 0}, {}, budget)[0]) for size in (2, 3))
    assert audit_epsilon(two, three, delta=float(stated) * 0.8).refutes(1)
    assert not audit_epsilon(two, three, delta=float(stated)).refutes(1)


def test_what_is_published_follows_the_law_of_the_proof() -> None:
    size = 38
    observed = np.bincount(honest(size), minlength=size + 1).astype(float)
    chances = np.array([1.0])
    for _ in range(size):
        chances = np.convolve(chances, [1 - float(RIGHT.rate), float(RIGHT.rate)])
    chances[0] = chances[: RIGHT.k].sum()
    chances[1 : RIGHT.k] = 0
    assert not chi_square_rejects(observed, chances)
    assert observed[1 : RIGHT.k].sum() == 0


@pytest.mark.parametrize(
    ("publish", "records_in_each"),
    [
        (with_small_k(2), 2),
        (with_small_k(5), 6),
        (groups_before_sampling, RIGHT.k - 1),
        (without_sampling, RIGHT.k - 1),
    ],
)
def test_broken_twins_are_caught(publish: Callable[[int], Counts], records_in_each: int) -> None:
    assert lower_bound(publish, records_in_each) > 1.2


def test_a_column_that_is_carried_along_is_caught() -> None:
    audit = audit_epsilon(carrying_a_column(False), carrying_a_column(True), delta=float(BUDGET.delta))
    assert audit.lower_bound > 3
