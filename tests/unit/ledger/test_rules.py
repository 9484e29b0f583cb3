"""Rho filters: what they count, and that nothing which they accept exceeds the total, whoever chooses it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import erfc, exp, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent
from sudare.errors import LedgerError, ParameterError
from sudare.ledger.amounts import NOTHING, Amount
from sudare.ledger.rules import RhoFilter, Sums, amount_of_noise, total_charge
from sudare.privacy import LaplaceMeasurement, SelectionMeasurement, rho_to_epsilon, sensitivity_of_counts
from sudare.privacy.measurements import KeyReleaseMeasurement, SmoothMeasurement
from tests.unit.ledger.helping import PERSON, event_of

TOTAL = Budget(epsilon=1, delta=1e-6)


def how_many(rule: Sums | RhoFilter, cost: Budget) -> int:
    """How many releases of a cost a rule accepts, one by one."""
    number, spent, charge = 0, NOTHING, rule.charge(cost, "x")
    while (spent + charge).fits(rule.limit):
        number, spent = number + 1, spent + charge
    return number


def test_how_many_small_queries_fit() -> None:
    query = Budget(epsilon=0.01)
    assert how_many(Sums(TOTAL), query) == 100
    assert how_many(RhoFilter.for_total(TOTAL), query) == 458
    assert how_many(RhoFilter.for_total(TOTAL, 0), query) == 487
    # And how many large ones do not.
    assert how_many(Sums(TOTAL), Budget(epsilon=0.3)) == 3
    assert how_many(RhoFilter.for_total(TOTAL), Budget(epsilon=0.3)) == 0


def test_delta_is_split_once_and_whole() -> None:
    for reserve in (None, 0, 1e-7, Fraction(999_999, 10**12)):
        rule = RhoFilter.for_total(TOTAL, reserve)
        assert rule.reserve == (TOTAL.delta / 2 if reserve is None else Fraction(str(reserve)))
        assert rule.conversion_delta + rule.reserve == TOTAL.delta
        # Pessimistic, and tight: a rho that is a little larger would give more than the epsilon.
        assert rho_to_epsilon(rule.rho * (1 - Fraction(1, 10**20)), rule.conversion_delta) <= 1
        assert rho_to_epsilon(rule.rho * (1 + Fraction(1, 10**6)), rule.conversion_delta) > 1


@pytest.mark.parametrize("reserve", [-1e-9, 1e-6, 1, "x"])
def test_a_reserve_is_a_part_of_delta(reserve: object) -> None:
    with pytest.raises(ParameterError, match="reserve"):
        RhoFilter.for_total(TOTAL, reserve)  # type: ignore[arg-type]


@pytest.mark.parametrize("total", [Budget(epsilon=1), Budget(rho=1)], ids=str)
def test_a_filter_needs_an_epsilon_and_a_delta(total: Budget) -> None:
    with pytest.raises(LedgerError, match="needs a total with an epsilon and a delta") as raised:
        RhoFilter.for_total(total)
    assert "ローのフィルター" in raised.value.japanese


def test_totals_that_no_rho_gives() -> None:
    with pytest.raises(LedgerError, match="No rho gives"):
        RhoFilter.for_total(Budget(epsilon=Fraction(1, 10**31), delta=1e-6))


def test_a_filter_with_too_large_a_rho_cannot_be_made() -> None:
    right = RhoFilter.for_total(TOTAL)
    assert RhoFilter.from_dict(TOTAL, right.to_dict()) == right
    for rho, delta in ((right.rho * 2, right.conversion_delta), (right.rho, TOTAL.delta * 2), (right.rho, Fraction(0))):
        with pytest.raises(ValueError, match="total"):
            RhoFilter(TOTAL, rho, delta)
    with pytest.raises(ValueError, match="filter"):
        RhoFilter.from_dict(TOTAL, {"rho": "1"})


@pytest.mark.parametrize(
    ("cost", "charge"),
    [
        (Budget(epsilon=0.1), Amount(Fraction(1, 200))),
        (Budget(rho=0.01), Amount(Fraction(1, 100))),
        (Budget(epsilon=0.1, delta=1e-7), Amount(Fraction(1, 200), Fraction(1, 10**7))),
    ],
    ids=str,
)
def test_what_a_cost_takes(cost: Budget, charge: Amount) -> None:
    assert RhoFilter.for_total(TOTAL).charge(cost, "x") == charge


def test_a_release_takes_what_its_noise_implies_where_that_is_less() -> None:
    rule, unit = RhoFilter.for_total(TOTAL), PERSON

    def taken(cost: Budget, *measurements: object) -> Amount:
        event = ReleaseEvent("x", unit, cost, tuple(measurements), "secure")  # type: ignore[arg-type]
        return rule.charge(cost, "x", amount_of_noise(event.measurements))

    tenth = LaplaceMeasurement.for_budget(Budget(epsilon=0.01), sensitivity_of_counts(unit))
    # Ten looks of 0.01 each: ten times 0.01 ** 2 / 2, not 0.1 ** 2 / 2.
    assert taken(Budget(epsilon=0.1), *[tenth] * 10) == Amount(Fraction(5, 10**4))
    # The exponential mechanism states a tighter rho.
    assert taken(Budget(epsilon=0.1), SelectionMeasurement(Fraction(1, 10), "exponential")).main == Fraction(1, 800)
    # Gaussian noise that was planned in (epsilon, delta) has no delta of its own.
    event = event_of(Budget(epsilon=0.1, delta=1e-7))
    assert rule.charge(event.cost, "x", amount_of_noise(event.measurements)) == Amount(event.measurements[0].rho)
    # Thresholds and smooth noise have one.
    kept = taken(Budget(epsilon=0.01, delta=1e-7), tenth, KeyReleaseMeasurement(Fraction(1, 10**7)))
    assert kept == Amount(Fraction(1, 20000), Fraction(1, 10**7))
    smooth = SmoothMeasurement.for_budget(Budget(epsilon=0.1, delta=1e-7))
    assert taken(Budget(epsilon=0.1, delta=1e-7), smooth).delta == Fraction(1, 10**7)


def test_sums_are_as_ever() -> None:
    event = event_of(Budget(epsilon=0.1))
    rule = Sums(Budget(epsilon=1))
    assert rule.charge(event.cost, "x", amount_of_noise(event.measurements)) == Amount(Fraction(1, 10))
    costs = [(event.cost, amount_of_noise(event.measurements))] * 3
    assert total_charge(rule, "x", [*costs, (Budget(epsilon=0.2), None)]) == Amount(Fraction(1, 2))
    with pytest.raises(LedgerError, match="cannot be taken"):
        rule.charge(Budget(rho=0.1), "x")


def test_what_is_told_in_epsilon() -> None:
    rule = RhoFilter.for_total(TOTAL)
    assert rule.in_epsilon(NOTHING) is None
    half = rule.in_epsilon(Amount(rule.rho / 2, Fraction(1, 10**7)))
    assert half is not None
    assert half.epsilon == rho_to_epsilon(rule.rho / 2, rule.conversion_delta)
    assert half.delta == rule.conversion_delta + Fraction(1, 10**7)
    assert rule.in_epsilon(rule.limit) == TOTAL
    tiny = rule.in_epsilon(Amount(Fraction(0), Fraction(1, 10**8)))
    assert tiny is not None
    assert tiny.epsilon < Fraction(1, 10**3)
    assert rule.next_epsilon(NOTHING) is None


@given(left=st.fractions(min_value=Fraction(1, 10**20), max_value=3, max_denominator=10**25))
def test_the_epsilon_that_is_told_still_fits_and_hardly_more_does(left: Fraction) -> None:
    rule = RhoFilter.for_total(TOTAL)
    most = rule.next_epsilon(Amount(left))
    assert most is not None
    assert most**2 / 2 <= left < (most * (1 + Fraction(2, 10**5))) ** 2 / 2


# An independent look: exact worst cases, in floats, from the definitions.


def gaussian_delta(epsilon: float, rho: float) -> float:
    """The delta of continuous Gaussian noise: no rho-zCDP mechanism that is known is worse."""
    if rho == 0:
        return max(0.0, 1 - exp(epsilon)) if epsilon < 0 else 0.0
    mean = sqrt(2 * rho)

    def below(x: float) -> float:
        return erfc(-x / sqrt(2)) / 2

    return below(mean / 2 - epsilon / mean) - exp(epsilon) * below(-mean / 2 - epsilon / mean)


def naive_delta(epsilon: float, hundredths: list[int], rho: float, deltas: list[float]) -> float:
    """The delta at an epsilon of randomized responses of so many hundredths each, Gaussian noise, and sure leaks."""
    losses = {0: 1.0}
    for step in hundredths:
        keep = 1 / (1 + exp(-step / 100))
        after: dict[int, float] = {}
        for loss, chance in losses.items():
            for change, weight in ((step, keep), (-step, 1 - keep)):
                after[loss + change] = after.get(loss + change, 0.0) + chance * weight
        losses = after
    clean = 1.0
    for delta in deltas:
        clean *= 1 - delta
    seen = sum(chance * gaussian_delta(epsilon - loss / 100, rho) for loss, chance in losses.items())
    return 1 - clean + clean * seen


EVENTS = st.one_of(
    st.tuples(st.just("pure"), st.integers(1, 60), st.just(0)),
    st.tuples(st.just("approximate"), st.integers(1, 60), st.integers(1, 40)),
    st.tuples(st.just("rho"), st.integers(1, 50), st.just(0)),
)


@given(
    events=st.lists(EVENTS, min_size=1, max_size=60),
    tenths=st.sampled_from([5, 10, 30]),
    reserved=st.sampled_from([0, 1, 5, 9]),
)
@settings(max_examples=150, deadline=None)
def test_whatever_is_accepted_stays_within_the_total(
    events: list[tuple[str, int, int]], tenths: int, reserved: int
) -> None:
    delta = Fraction(1, 1000)
    rule = RhoFilter.for_total(Budget(epsilon=Fraction(tenths, 10), delta=delta), delta * reserved / 10)
    spent, pure, rho, deltas = NOTHING, list[int](), 0.0, list[float]()
    for kind, size, part in events:
        if kind == "rho":
            cost = Budget(rho=Fraction(size, 1000))
        elif kind == "pure":
            cost = Budget(epsilon=Fraction(size, 100))
        else:
            cost = Budget(epsilon=Fraction(size, 100), delta=delta * part / 100)
        charge = rule.charge(cost, "x")
        if not (spent + charge).fits(rule.limit):
            continue
        spent += charge
        rho += size / 1000 if kind == "rho" else 0.0
        pure += [] if kind == "rho" else [size]
        deltas += [float(delta) * part / 100] if part else []
    assert naive_delta(tenths / 10, pure, rho, deltas) <= float(delta) * (1 + 1e-9)


def worst_adaptive_delta(total_steps: int, width: float, units: int) -> float:
    """The largest delta that somebody can reach who chooses each randomized response after seeing those before.

    Responses of k steps cost k**2 units. The value of a position is the best over all next choices: exact, by recursion.
    """

    @cache
    def value(loss: int, left: int) -> float:
        best = max(0.0, 1 - exp((total_steps - loss) * width))
        step = 1
        while step * step <= left:
            keep = 1 / (1 + exp(-step * width))
            rest = left - step * step
            best = max(best, keep * value(loss + step, rest) + (1 - keep) * value(loss - step, rest))
            step += 1
        return best

    return value(0, units)


@pytest.mark.parametrize(
    ("delta", "steps"),
    [(0.1, 10), (0.02, 10), (1e-3, 20), (1e-4, 20), (0.01, 25)],
)
def test_nobody_beats_the_filter_by_choosing_after_seeing(delta: float, steps: int) -> None:
    """Against the best adversary there is, in so many steps to the epsilon: below the claim; one that allows too much is not."""
    rule = RhoFilter.for_total(Budget(epsilon=1, delta=delta), 0)
    units = int(rule.rho / (Fraction(1, steps) ** 2 / 2))
    reached = worst_adaptive_delta(steps, 1 / steps, units)
    assert reached <= delta
    assert reached > delta / 8, "the bound is not idle"
    assert worst_adaptive_delta(steps, 1 / steps, units * 5 // 2) > delta, "a filter that allows too much is caught"


def fixed_choices(units: int, largest: int = 10) -> list[list[int]]:
    """All responses whose steps' squares add up to at most so many units, the largest first."""
    found: list[list[int]] = [[]]
    for step in range(min(largest, int(sqrt(units))), 0, -1):
        found += [[step, *rest] for rest in fixed_choices(units - step * step, step)]
    return found


def test_numerical_composition_of_chosen_costs_is_no_filter() -> None:
    """Why only sums of rho are kept: whoever chooses after seeing reaches more than with any costs fixed beforehand.

    So the delta of the costs that came up, composed numerically as if they had been fixed, is not a bound.
    """
    width, steps, units = 0.1, 10, 30
    fixed = max(naive_delta(steps * width, [10 * step for step in choice], 0.0, []) for choice in fixed_choices(units))
    assert worst_adaptive_delta(steps, width, units) > fixed * 1.02
