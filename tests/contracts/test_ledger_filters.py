"""Totals that are kept as a rho filter, in every place where a ledger can be kept."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from sudare import Budget, Unit
from sudare.errors import BudgetExceededError, LedgerError, ParameterError
from sudare.ledger import Ledger, Reservation, open_ledger
from sudare.ledger.entries import DatasetAdded, Reserved, RuleChanged
from sudare.ledger.rules import RhoFilter, Sums
from tests.contracts.test_ledger_stores import rewrite
from tests.unit.ledger.helping import PERSON, allow_changes, change, event_of, fingerprint

TOTAL = Budget(epsilon=1, delta=1e-6)


@pytest.fixture
def queries(ledger: Ledger) -> Ledger:
    ledger.add_dataset("queries", TOTAL, unit=PERSON, rho_filter=True)
    return ledger


def reserve(ledger: Ledger, cost: Budget, number: int = 0, name: str = "queries") -> Reservation:
    return ledger.reserve(name, cost, unit=PERSON, fingerprint=fingerprint(number))


def take_all(ledger: Ledger, name: str, cost: Budget) -> int:
    """Reserve until it is refused."""
    for number in range(10_000):
        try:
            reserve(ledger, cost, number, name)
        except BudgetExceededError:
            return number
    raise AssertionError("no end")


def test_many_small_queries_fit(queries: Ledger) -> None:
    queries.add_dataset("sums", TOTAL, unit=PERSON)
    cost = Budget(epsilon=0.025)
    assert (take_all(queries, "sums", cost), take_all(queries, "queries", cost)) == (40, 73)
    kept = queries.dataset("queries").filter
    assert kept is not None
    assert kept.reserve_left == TOTAL.delta / 2, "a pure release takes none of the reserve"
    assert queries.verify() == []


def test_the_balance_is_told_in_both(queries: Ledger, location: str) -> None:
    reservation = reserve(queries, Budget(epsilon=0.02))
    queries.settle(reservation, event_of(Budget(epsilon=0.01)))
    reserve(queries, Budget(epsilon=0.1, delta=1e-7), 1)
    with open_ledger(location) as again:
        for ledger in (queries, again):
            dataset = ledger.dataset("queries")
            rule, kept = dataset.rule, dataset.filter
            assert isinstance(rule, RhoFilter)
            assert kept is not None
            committed = Fraction(5, 10**5) + Fraction(1, 200)
            assert (dataset.total, dataset.spent) == (TOTAL, Budget(rho=Fraction(5, 10**5)))
            assert (dataset.reserved, dataset.remaining) == (Budget(rho=0.005), Budget(rho=rule.rho - committed))
            assert kept.reserve_left == Fraction(4, 10**7)
            assert kept.committed is not None
            assert kept.committed.delta == Fraction(6, 10**7)
            assert 0.3 < kept.committed.epsilon < 0.5
            assert kept.next_epsilon is not None
            assert kept.next_epsilon**2 / 2 <= rule.rho - committed
    most = queries.dataset("queries").filter
    assert most is not None
    assert most.next_epsilon is not None
    assert queries.dataset("queries").after([(Budget(epsilon=most.next_epsilon), None)]) is not None
    assert queries.dataset("queries").after([(Budget(epsilon=most.next_epsilon), None)] * 2) is None
    reserve(queries, Budget(epsilon=most.next_epsilon), 2)


@pytest.mark.parametrize(
    ("cost", "left"),
    [
        (Budget(epsilon=0.1), TOTAL.delta / 2),
        (Budget(rho=0.01), TOTAL.delta / 2),
        (Budget(epsilon=0.1, delta=1e-7), Fraction(4, 10**7)),
    ],
    ids=str,
)
def test_currencies(queries: Ledger, cost: Budget, left: Fraction) -> None:
    reservation = reserve(queries, cost)
    kept = queries.dataset("queries").filter
    assert kept is not None
    assert kept.reserve_left == left
    queries.settle(reservation, event_of(cost))
    after = queries.dataset("queries").filter
    assert after is not None
    assert after.reserve_left == TOTAL.delta / 2, "Gaussian noise has no delta of its own"
    assert queries.verify() == []


def test_other_units_are_refused_as_ever(queries: Ledger) -> None:
    for unit in (Unit("household"), Unit("person", adjacency="replace")):
        with pytest.raises(LedgerError, match="different units"):
            queries.reserve("queries", Budget(epsilon=0.01), unit=unit, fingerprint=fingerprint(0))


def test_the_reserve_runs_out_on_its_own(queries: Ledger) -> None:
    reserve(queries, Budget(epsilon=0.01, delta=5e-7))
    with pytest.raises(BudgetExceededError, match=r"delta = 0 in reserve.*a single pure release may take epsilon"):
        reserve(queries, Budget(epsilon=0.01, delta=1e-9), 1)
    reserve(queries, Budget(epsilon=0.01), 2)


def test_a_large_release_is_refused_with_a_reason(queries: Ledger) -> None:
    with pytest.raises(BudgetExceededError) as raised:
        reserve(queries, Budget(epsilon=0.5))
    assert "counts the cost as rho = 0.125" in raised.value.english
    assert "epsilon = 0.214184 at most" in raised.value.english
    assert "epsilon = 0.214184 まで" in raised.value.japanese
    assert queries.head()[0] == 1


def test_a_release_must_fit_its_reservation(queries: Ledger) -> None:
    reservation = reserve(queries, Budget(epsilon=0.02))
    with pytest.raises(LedgerError, match=r"only epsilon = 0\.02 was reserved"):
        queries.settle(reservation, event_of(Budget(epsilon=0.03)))
    queries.cancel(reservation, "")
    assert queries.dataset("queries").remaining == Budget(rho=RhoFilter.for_total(TOTAL).rho)


def test_noise_that_is_known_beforehand_is_what_is_set_aside(queries: Ledger) -> None:
    """Gaussian noise planned in (epsilon, delta), and many looks in one release, take what they imply from the start."""
    gaussian = event_of(Budget(epsilon=0.5, delta=1e-8))
    with pytest.raises(BudgetExceededError):
        reserve(queries, gaussian.cost)
    about = {"unit": PERSON, "fingerprint": fingerprint(0)}
    made = queries.reserve("queries", gaussian.cost, measurements=gaussian.measurements, **about)  # type: ignore[arg-type]
    dataset = queries.dataset("queries")
    assert dataset.reserved == Budget(rho=gaussian.measurements[0].rho)
    assert dataset.filter is not None
    assert dataset.filter.reserve_left == TOTAL.delta / 2
    # What is drawn must be what was said.
    with pytest.raises(LedgerError, match="was reserved"):
        queries.settle(made, event_of(Budget(epsilon=0.6, delta=1e-8)))
    queries.settle(made, gaussian)
    assert queries.dataset("queries").spent == Budget(rho=gaussian.measurements[0].rho)
    assert queries.verify() == []
    # Under sums it changes nothing, not even a byte.
    queries.add_dataset("sums", TOTAL, unit=PERSON)
    one = queries.reserve("sums", gaussian.cost, measurements=gaussian.measurements, **about)  # type: ignore[arg-type]
    assert queries.dataset("sums").reserved == gaussian.cost
    assert "noise" not in json.loads(queries.entry(one.number).body)
    with pytest.raises(ParameterError, match="measurements"):
        queries.reserve("queries", gaussian.cost, measurements=["x"], **about)  # type: ignore[arg-type, list-item]


def test_wrong_arguments(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="needs a total with an epsilon and a delta"):
        ledger.add_dataset("x", Budget(epsilon=1), unit=PERSON, rho_filter=True)
    with pytest.raises(ParameterError, match="reserve"):
        ledger.add_dataset("x", TOTAL, unit=PERSON, reserve=1e-7)
    with pytest.raises(ParameterError, match="reserve"):
        ledger.add_dataset("x", TOTAL, unit=PERSON, rho_filter=True, reserve=1e-6)
    with pytest.raises(ParameterError, match="rho_filter"):
        ledger.add_dataset("x", TOTAL, unit=PERSON, rho_filter=1)  # type: ignore[arg-type]
    assert ledger.head()[0] == 0


# Changing the rule.


def test_a_changed_rule_counts_everything_from_the_beginning(ledger: Ledger, location: str) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    for number in range(10):
        ledger.settle(reserve(ledger, Budget(epsilon=0.02), number, "census"), event_of(Budget(epsilon=0.01)))
    ledger.settle(
        reserve(ledger, Budget(epsilon=0.02, delta=1e-8), 10, "census"), event_of(Budget(epsilon=0.02, delta=1e-8))
    )
    ledger.cancel(reserve(ledger, Budget(epsilon=0.3), 11, "census"), "")
    still_open = reserve(ledger, Budget(epsilon=0.04, delta=1e-9), 12, "census")
    before = ledger.dataset("census")
    assert (before.spent, before.reserved) == (
        Budget(epsilon=0.12, delta=1e-8),
        Budget(epsilon=0.04, delta=1e-9),
    )
    after = ledger.use_rho_filter("census")
    assert isinstance(after.rule, RhoFilter)
    gaussian = event_of(Budget(epsilon=0.02, delta=1e-8)).measurements[0].rho
    assert after.spent == Budget(rho=10 * Fraction(5, 10**5) + gaussian)
    assert after.reserved == Budget(rho=Fraction(8, 10**4))
    assert after.filter is not None
    assert after.filter.reserve_left == TOTAL.delta / 2 - Fraction(1, 10**9)
    assert after.total == TOTAL
    assert ledger.verify() == []
    # A reservation from before is closed after, as the filter counts it.
    ledger.settle(still_open, event_of(Budget(epsilon=0.04)))
    assert ledger.dataset("census").reserved is None
    assert ledger.dataset("census").spent == Budget(rho=10 * Fraction(5, 10**5) + gaussian + Fraction(8, 10**4))
    with open_ledger(location) as again:
        assert again.verify() == []
        assert again.dataset("census") == ledger.dataset("census")
        entries = list(again.entries("census"))
    assert entries[-2].kind == "rule"
    changed = entries[-2].read()
    assert isinstance(changed, RuleChanged)
    assert changed.rule == after.rule
    # Many more fit now than before; the old rule had room for 0.84 / 0.01.
    assert take_all(ledger, "census", Budget(epsilon=0.02)) > 84 / 2


def test_a_rule_that_does_not_hold_what_was_spent_is_refused(ledger: Ledger) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    reserve(ledger, Budget(epsilon=0.5), name="census")
    head = ledger.head()
    with pytest.raises(BudgetExceededError, match=r"counts as rho = 0\.125") as raised:
        ledger.use_rho_filter("census")
    assert "変更されません" in raised.value.japanese
    assert ledger.head() == head
    assert isinstance(ledger.dataset("census").rule, Sums)


def test_delta_that_was_spent_must_fit_the_reserve(ledger: Ledger) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    reserve(ledger, Budget(epsilon=0.01, delta=6e-7), name="census")
    with pytest.raises(BudgetExceededError, match="stays as it is"):
        ledger.use_rho_filter("census")


def test_the_split_is_not_chosen_after_results(ledger: Ledger) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    reservation = reserve(ledger, Budget(epsilon=0.01), name="census")
    with pytest.raises(LedgerError, match="cannot be chosen any more"):
        ledger.use_rho_filter("census", reserve=1e-7)
    ledger.cancel(reservation, "nothing was drawn")
    changed = ledger.use_rho_filter("census", reserve=1e-7)
    assert isinstance(changed.rule, RhoFilter)
    assert changed.rule.reserve == Fraction(1, 10**7)


def test_a_rule_changes_once_and_only_with_a_delta(queries: Ledger) -> None:
    with pytest.raises(LedgerError, match="already"):
        queries.use_rho_filter("queries")
    queries.add_dataset("pure", Budget(epsilon=1), unit=PERSON)
    queries.add_dataset("rho", Budget(rho=1), unit=PERSON)
    for name in ("pure", "rho"):
        with pytest.raises(LedgerError, match="needs a total with an epsilon and a delta"):
            queries.use_rho_filter(name)
    queries.add_dataset("census", TOTAL, unit=PERSON)
    queries.use_rho_filter("census")
    with pytest.raises(LedgerError, match="already"):
        queries.use_rho_filter("census")
    assert queries.verify() == []


def test_ledgers_from_before_keep_their_rule(ledger: Ledger) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    body = json.loads(next(ledger.entries("census")).body)
    assert set(body) == {"total", "unit", "description", "commitment"}, "the very bytes of before"
    assert isinstance(ledger.dataset("census").rule, Sums)
    reserve(ledger, Budget(epsilon=0.9), name="census")
    with pytest.raises(LedgerError, match="cannot be taken"):
        reserve(ledger, Budget(rho=0.001), name="census")


# Tampering.


def test_a_filter_that_allows_more_than_its_total_is_not_read(queries: Ledger) -> None:
    allow_changes(queries)
    added = next(queries.entries()).read()
    assert isinstance(added, DatasetAdded)
    assert added.rule is not None
    forged = json.loads(added.to_json())
    forged["filter"]["rho"] = "1"
    rewrite(queries, 1, body=json.dumps(forged, sort_keys=True, separators=(",", ":")))
    assert any("cannot be read" in finding.english for finding in queries.verify())
    with pytest.raises(LedgerError, match="cannot be read"):
        queries.dataset("queries")


def test_a_rule_that_is_dropped_or_forged_is_found(ledger: Ledger) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    ledger.settle(reserve(ledger, Budget(epsilon=0.1), name="census"), event_of(Budget(epsilon=0.1)))
    ledger.use_rho_filter("census")
    allow_changes(ledger)
    change(ledger, "DELETE FROM sudare_results WHERE fingerprint = 'rule'")
    assert any("missing from its table" in finding.english for finding in ledger.verify())
    with pytest.raises(LedgerError, match="damaged"):  # whoever does not know the rule takes no rho for an epsilon
        ledger.dataset("census")
    change(ledger, "INSERT INTO sudare_results (dataset, fingerprint, entry) VALUES ('census', 'rule', 2)")
    assert ledger.verify()
    with pytest.raises(LedgerError, match="damaged"):
        ledger.dataset("census")
    change(ledger, "UPDATE sudare_results SET entry = 4 WHERE fingerprint = 'rule'")
    assert ledger.verify() == []
    other = RuleChanged(RhoFilter.for_total(Budget(epsilon=2, delta=1e-6)))
    rewrite(ledger, 4, body=other.to_json())
    assert any("not one for its data set" in finding.english for finding in ledger.verify())
    with pytest.raises(LedgerError, match="damaged"):
        ledger.dataset("census")


def test_a_forged_rule_after_large_releases_is_found(ledger: Ledger) -> None:
    ledger.add_dataset("census", TOTAL, unit=PERSON)
    reserve(ledger, Budget(epsilon=0.001), name="census")
    ledger.use_rho_filter("census")
    allow_changes(ledger)
    entry = ledger.entry(2)
    body = entry.read()
    assert isinstance(body, Reserved)
    rewrite(ledger, 2, body=replace(body, cost=Budget(epsilon=0.9)).to_json())
    assert any("more than its rule allows" in finding.english for finding in ledger.verify())
