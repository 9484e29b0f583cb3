"""One contract for every accountant."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import EventError, GuaranteeError, NotPrivateError, ParameterError
from sudare.privacy import (
    Accountant,
    ApproximateAccountant,
    GaussianMeasurement,
    KeyReleaseMeasurement,
    LaplaceMeasurement,
    PldAccountant,
    PureAccountant,
    ResponseMeasurement,
    SampledGroupsMeasurement,
    SelectionMeasurement,
    SmoothMeasurement,
    ZcdpAccountant,
    rho_to_epsilon,
    sensitivity_of_counts,
)

DELTA = Fraction(1, 10**6)


def laplace(epsilon: float, unit: Unit | None = None, entropy: Any = "secure") -> ReleaseEvent:
    unit = unit or Unit()
    budget = Budget(epsilon=epsilon)
    return ReleaseEvent(
        "laplace", unit, budget, (LaplaceMeasurement.for_budget(budget, sensitivity_of_counts(unit)),), entropy
    )


def gaussian(rho: float) -> ReleaseEvent:
    budget = Budget(rho=rho)
    return ReleaseEvent(
        "gaussian", Unit(), budget, (GaussianMeasurement.for_budget(budget, sensitivity_of_counts(Unit())),), "secure"
    )


def gaussian_approximate(epsilon: float) -> ReleaseEvent:
    budget = Budget(epsilon=epsilon, delta=1e-7)
    return ReleaseEvent(
        "gaussian", Unit(), budget, (GaussianMeasurement.for_budget(budget, sensitivity_of_counts(Unit())),), "secure"
    )


def selection(epsilon: float) -> ReleaseEvent:
    budget = Budget(epsilon=epsilon)
    return ReleaseEvent("select", Unit(), budget, (SelectionMeasurement(budget.epsilon, "exponential"),), "secure")


def response(ratio: int) -> ReleaseEvent:
    measurement = ResponseMeasurement(Fraction(ratio))
    return ReleaseEvent("kary-response", Unit(), Budget(epsilon=measurement.epsilon), (measurement,), "secure")


OWN = Fraction(1, 10**8)
"""The delta that a measurement has of its own."""


def keys(epsilon: float) -> ReleaseEvent:
    """Unknown keys: noise on the counts, and a chance that a key gives somebody away."""
    noise = LaplaceMeasurement.for_budget(Budget(epsilon=epsilon), sensitivity_of_counts(Unit()))
    measurements = (noise, KeyReleaseMeasurement(OWN))
    return ReleaseEvent("keys", Unit(), Budget(epsilon=epsilon, delta=OWN), measurements, "secure")


def smooth(epsilon: float) -> ReleaseEvent:
    budget = Budget(epsilon=epsilon, delta=OWN)
    return ReleaseEvent("smooth", Unit(), budget, (SmoothMeasurement.for_budget(budget),), "secure")


def sampled_groups(epsilon: float) -> ReleaseEvent:
    budget = Budget(epsilon=epsilon, delta=OWN)
    return ReleaseEvent("groups", Unit(), budget, (SampledGroupsMeasurement.for_budget(budget),), "secure")


class AccountantContract:
    """What every accountant keeps; each class below names the events it takes."""

    def new(self) -> Accountant:
        raise NotImplementedError

    def events(self) -> list[ReleaseEvent]:
        return [laplace(0.1), laplace(0.3), selection(0.2), response(3)]

    def refused(self) -> list[ReleaseEvent]:
        return []

    def filled(self, events: list[ReleaseEvent]) -> Accountant:
        accountant = self.new()
        for event in events:
            accountant.add(event)
        return accountant

    def test_nothing_costs_nothing(self) -> None:
        assert self.new().epsilon(DELTA) == 0
        assert self.new().epsilon() == 0
        assert self.new().events == ()

    def test_every_event_costs_something(self) -> None:
        so_far = Fraction(0)
        accountant = self.new()
        for event in self.events():
            accountant.add(event)
            assert accountant.epsilon(DELTA) > so_far
            so_far = accountant.epsilon(DELTA)

    def test_order_does_not_matter(self) -> None:
        events = self.events() * 2
        shuffled = random.sample(events, len(events))
        assert float(self.filled(shuffled).epsilon(DELTA)) == pytest.approx(
            float(self.filled(events).epsilon(DELTA)), rel=1e-9
        )

    def test_the_same_event_twice_costs_more_than_once(self) -> None:
        event = self.events()[0]
        assert self.filled([event, event]).epsilon(DELTA) > self.filled([event]).epsilon(DELTA)

    def test_never_below_the_largest_single_event(self) -> None:
        together = self.filled(self.events()).epsilon(DELTA)
        for event in self.events():
            assert together >= self.filled([event]).epsilon(DELTA)

    def test_answers_are_exact_numbers(self) -> None:
        assert isinstance(self.filled(self.events()).epsilon(DELTA), Fraction)

    def test_research_events_are_refused_without_a_trace(self) -> None:
        accountant = self.filled(self.events())
        before = accountant.events
        with pytest.raises(NotPrivateError, match="research entropy"):
            accountant.add(laplace(0.1, entropy="research"))
        assert accountant.events == before

    @pytest.mark.parametrize("thing", [None, 1, "event", Budget(epsilon=1)])
    def test_other_things_are_refused_without_a_trace(self, thing: Any) -> None:
        accountant = self.filled(self.events())
        with pytest.raises(EventError):
            accountant.add(thing)
        assert len(accountant.events) == len(self.events())

    def test_events_it_cannot_account_for_are_refused_without_a_trace(self) -> None:
        accountant = self.filled(self.events())
        before = accountant.epsilon(DELTA)
        for event in self.refused():
            with pytest.raises(GuaranteeError):
                accountant.add(event)
        assert accountant.epsilon(DELTA) == before
        assert len(accountant.events) == len(self.events())

    def test_subclasses_of_events_are_refused(self) -> None:
        class Cheap(ReleaseEvent):
            def _require_cost_covers_measurements(self) -> None:
                """Ask for nothing."""

        event = self.events()[0]
        with pytest.raises(EventError):
            self.new().add(Cheap(event.mechanism, event.unit, event.cost, event.measurements, "secure"))

    @pytest.mark.parametrize("unit", [Unit("household"), Unit(adjacency="replace")], ids=str)
    def test_other_units_do_not_add_up(self, unit: Unit) -> None:
        accountant = self.filled([laplace(0.1)])
        with pytest.raises(GuaranteeError, match="do not add up"):
            accountant.add(laplace(0.1, unit))
        assert len(accountant.events) == 1

    @pytest.mark.parametrize("delta", [0, 1, -1, 1.5, float("nan"), True, "tiny"])
    def test_delta_is_a_probability(self, delta: Any) -> None:
        with pytest.raises(ParameterError, match="The 'delta' parameter of epsilon must be"):
            self.filled(self.events()).epsilon(delta)

    def test_a_delta_may_be_a_text(self) -> None:
        accountant = self.filled(self.events())
        assert accountant.epsilon("1e-6") == accountant.epsilon(1e-6)

    def test_a_delta_never_makes_it_worse(self) -> None:
        accountant = self.filled([laplace(0.9)])
        assert accountant.epsilon(DELTA) <= accountant.epsilon(1e-7) <= Fraction("0.9")

    def test_the_record_cannot_be_changed_from_outside(self) -> None:
        accountant = self.filled(self.events())
        assert isinstance(accountant.events, tuple)


class TestPureAccountant(AccountantContract):
    def new(self) -> Accountant:
        return PureAccountant()

    def refused(self) -> list[ReleaseEvent]:
        return [gaussian(0.1), gaussian_approximate(0.5), keys(0.1), smooth(0.1), sampled_groups(0.1)]

    def test_total(self) -> None:
        expected = Fraction(6, 10) + ResponseMeasurement(Fraction(3)).epsilon
        assert self.filled(self.events()).epsilon() == expected


class TestApproximateAccountant(AccountantContract):
    def new(self) -> Accountant:
        return ApproximateAccountant()

    def events(self) -> list[ReleaseEvent]:
        return [laplace(0.1), gaussian_approximate(0.5), selection(0.2), keys(0.1), smooth(0.1), sampled_groups(0.1)]

    def refused(self) -> list[ReleaseEvent]:
        return [gaussian(0.1)]

    def test_total(self) -> None:
        accountant = ApproximateAccountant()
        assert accountant.total() is None
        for event in self.events():
            accountant.add(event)
        assert accountant.total() == Budget(epsilon=1.1, delta=Fraction(1, 10**7) + 3 * OWN)
        with pytest.raises(GuaranteeError, match="deltas charged add up"):
            accountant.epsilon(1e-8)

    def test_deltas_that_reach_one_are_refused_without_a_trace(self) -> None:
        measurement = LaplaceMeasurement.for_budget(Budget(epsilon=1), sensitivity_of_counts(Unit()))
        event = ReleaseEvent("laplace", Unit(), Budget(epsilon=1, delta=0.6), (measurement,), "secure")
        accountant = self.filled([event])
        with pytest.raises(GuaranteeError, match="deltas add up to 1"):
            accountant.add(event)
        assert accountant.epsilon(0.7) == 1


class TestZcdpAccountant(AccountantContract):
    def new(self) -> Accountant:
        return ZcdpAccountant()

    def events(self) -> list[ReleaseEvent]:
        return [
            gaussian(0.1),
            laplace(0.3),
            gaussian_approximate(0.5),
            selection(0.2),
            keys(0.1),
            smooth(0.1),
            sampled_groups(0.1),
        ]

    def test_total(self) -> None:
        accountant = ZcdpAccountant()
        accountant.add(gaussian(0.1))
        accountant.add(laplace(0.3))
        accountant.add(selection(0.2))
        assert accountant.rho() == Fraction("0.1") + Fraction("0.3") ** 2 / 2 + Fraction("0.2") ** 2 / 8

    def test_pure_epsilon_only_where_all_have_one(self) -> None:
        accountant = ZcdpAccountant()
        accountant.add(laplace(0.3))
        assert accountant.epsilon() == Fraction("0.3")
        accountant.add(gaussian(0.1))
        with pytest.raises(GuaranteeError, match="no pure epsilon"):
            accountant.epsilon()

    def test_deltas_of_measurements_are_carried_beside_rho(self) -> None:
        accountant = ZcdpAccountant()
        accountant.add(keys(0.3))
        accountant.add(smooth(0.2))
        assert accountant.delta() == 2 * OWN
        assert accountant.rho() == Fraction("0.3") ** 2 / 2 + smooth(0.2).measurements[0].rho
        accountant.add(gaussian(0.1))
        with pytest.raises(GuaranteeError, match="no pure epsilon"):
            accountant.epsilon()
        with pytest.raises(GuaranteeError, match="ask for the epsilon at a delta of at least that"):
            accountant.epsilon(OWN)
        with pytest.raises(GuaranteeError, match="leave nothing of the delta"):
            accountant.epsilon(2 * OWN)
        assert accountant.epsilon(3 * OWN) > accountant.epsilon(10 * OWN)

    def test_the_delta_that_measurements_have_is_enough_for_their_epsilons(self) -> None:
        accountant = self.filled([keys(0.3)])
        assert accountant.epsilon(OWN) == Fraction("0.3")
        nothing = self.filled(
            [ReleaseEvent("k", Unit(), Budget(epsilon=1, delta=OWN), (KeyReleaseMeasurement(OWN),), "secure")]
        )
        assert nothing.epsilon(OWN) == nothing.epsilon(2 * OWN) == 0

    def test_continuous_conversion_is_refused(self) -> None:
        with pytest.raises(ParameterError):
            ZcdpAccountant("gaussian")


class TestZcdpAccountantSimple(TestZcdpAccountant):
    def new(self) -> Accountant:
        return ZcdpAccountant("simple")


class TestPldAccountant(AccountantContract):
    def new(self) -> Accountant:
        return PldAccountant()

    def events(self) -> list[ReleaseEvent]:
        return [gaussian(0.1), laplace(0.3), selection(0.2), keys(0.1), smooth(0.1), sampled_groups(0.1)]

    def test_tighter_than_rho(self) -> None:
        zcdp = ZcdpAccountant()
        for event in self.events():
            zcdp.add(event)
        assert self.filled(self.events()).epsilon(DELTA) < zcdp.epsilon(DELTA)

    def test_deltas_of_measurements_are_added_after_the_composition(self) -> None:
        plain, with_keys = self.filled([laplace(0.9)]), self.filled([keys(0.9)])
        assert with_keys.epsilon(DELTA + OWN) == plain.epsilon(DELTA)
        assert with_keys.epsilon(OWN) == Fraction("0.9")
        with pytest.raises(GuaranteeError, match="add up to"):
            with_keys.epsilon(OWN / 2)

    def test_never_above_the_pure_sum(self) -> None:
        assert self.filled([laplace(0.1), laplace(0.2)]).epsilon(DELTA) <= Fraction("0.3")

    @pytest.mark.parametrize("scale", [1, 4])
    def test_one_laplace_measurement_agrees_with_the_exact_trade_off(self, scale: int) -> None:
        """delta(eps) of a shift by one, summed from the definition; epsilon there must not be below the truth."""
        import mpmath

        with mpmath.workdps(40):
            q = mpmath.exp(-mpmath.mpf(1) / scale)
            mass = {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-401, 401)}
            epsilon = mpmath.mpf(1) / scale * 0.7
            delta = sum(max(mpmath.mpf(0), mass[x] - mpmath.exp(epsilon) * mass[x - 1]) for x in range(-400, 400))
        ours = self.filled([laplace(1 / scale)]).epsilon(Fraction(float(delta)))
        assert float(epsilon) - 1e-6 <= float(ours) <= float(epsilon) + 2e-3

    def test_a_vector_of_cells_is_a_composition(self) -> None:
        unit = Unit(cells=10)
        budget = Budget(rho=0.1)
        many = ReleaseEvent(
            "g", unit, budget, (GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit)),), "secure"
        )
        assert float(self.filled([many]).epsilon(DELTA)) == pytest.approx(
            float(self.filled([gaussian(0.1)]).epsilon(DELTA)), rel=0.03
        )

    def test_what_double_precision_cannot_answer_falls_back_on_the_sum(self) -> None:
        from sudare.privacy.pld import epsilon_of_measurements

        for event, delta in ((gaussian(0.1), Fraction(1, 10**15)), (gaussian(1e-15), DELTA)):
            with pytest.raises(GuaranteeError, match="Use the 'optimal' conversion"):
                epsilon_of_measurements(event.measurements, delta)
            assert self.filled([event]).epsilon(delta) == rho_to_epsilon(event.cost.rho, delta)

    @pytest.mark.parametrize(
        "unit",
        [Unit.with_rows(5), Unit(cells=4, rows_per_cell=3, rows=7), Unit.with_rows(2, adjacency="replace")],
        ids=str,
    )
    def test_never_above_rho_for_units_with_several_rows(self, unit: Unit) -> None:
        budget = Budget(rho=0.1)
        measurement = GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit))
        accountant = self.filled([ReleaseEvent("g", unit, budget, (measurement,), "secure")])
        assert accountant.epsilon(DELTA) <= rho_to_epsilon(Fraction("0.1"), DELTA)
