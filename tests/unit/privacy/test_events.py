"""An event is a faithful record: it cannot claim less than it costs, and unknown things are refused."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, Unit
from sudare.errors import EventError, GuaranteeError, MixedCurrencyError, ParameterError
from sudare.privacy import (
    GaussianMeasurement,
    KeyReleaseMeasurement,
    LaplaceMeasurement,
    ResponseMeasurement,
    SampledGroupsMeasurement,
    SelectionMeasurement,
    SmoothMeasurement,
    sensitivity_of_counts,
)
from sudare.privacy.measurements import read_measurement

UNITS = st.builds(
    Unit,
    who=st.sampled_from(["person", "household", "世帯"]),
    cells=st.integers(1, 20),
    rows_per_cell=st.integers(1, 5),
    adjacency=st.sampled_from(["add-remove", "replace"]),
)
POSITIVE = st.fractions(Fraction(1, 1000), 5)


def laplace_event(unit: Unit, epsilon: Fraction, entropy: Any = "secure") -> ReleaseEvent:
    budget = Budget(epsilon=epsilon)
    return ReleaseEvent(
        "laplace", unit, budget, (LaplaceMeasurement.for_budget(budget, sensitivity_of_counts(unit)),), entropy
    )


def gaussian_event(unit: Unit, budget: Budget) -> ReleaseEvent:
    return ReleaseEvent(
        "gaussian", unit, budget, (GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit)),), "secure"
    )


def response_event(unit: Unit, ratio: Fraction) -> ReleaseEvent:
    measurement = ResponseMeasurement(ratio)
    return ReleaseEvent("kary-response", unit, Budget(epsilon=measurement.epsilon), (measurement,), "secure")


EVENTS = st.one_of(
    st.builds(laplace_event, UNITS, POSITIVE, st.sampled_from(["secure", "research"])),
    st.builds(lambda u, r: gaussian_event(u, Budget(rho=r)), UNITS, POSITIVE),
    st.builds(lambda u, e: gaussian_event(u, Budget(epsilon=e, delta=Fraction(1, 10**6))), UNITS, POSITIVE),
    st.builds(
        lambda u, e, rule: ReleaseEvent("select", u, Budget(epsilon=e), (SelectionMeasurement(e, rule),), "secure"),
        UNITS,
        POSITIVE,
        st.sampled_from(["exponential", "permute-and-flip"]),
    ),
    st.builds(lambda u, r: response_event(u, 1 + r), UNITS, POSITIVE),
    st.builds(
        lambda u, d: ReleaseEvent("keys", u, Budget(epsilon=1, delta=d), (KeyReleaseMeasurement(d),), "secure"),
        UNITS,
        st.fractions(Fraction(1, 10**9), Fraction(9, 10)).filter(lambda d: d > 0),
    ),
    st.builds(
        lambda d, rows: ReleaseEvent(
            "sampled-groups",
            Unit.with_rows(rows),
            Budget(epsilon=1, delta=d),
            (SampledGroupsMeasurement.for_budget(Budget(epsilon=1, delta=d), records=rows),),
            "secure",
        ),
        st.fractions(Fraction(1, 10**9), Fraction(9, 10)).filter(lambda d: d > 0),
        st.integers(1, 3),
    ),
    st.builds(
        lambda u, d, cells: ReleaseEvent(
            "smooth",
            u,
            Budget(epsilon=1, delta=d),
            (SmoothMeasurement.for_budget(Budget(epsilon=1, delta=d), cells),),
            "secure",
        ),
        UNITS,
        st.fractions(Fraction(1, 10**9), Fraction(9, 10)).filter(lambda d: d > 0),
        st.integers(1, 20),
    ),
)


@given(EVENTS)
def test_json_and_back(event: ReleaseEvent) -> None:
    text = event.to_json()
    assert ReleaseEvent.from_json(text) == event
    assert ReleaseEvent.from_json(text).to_json() == text
    assert "\n" not in text


@given(UNITS, POSITIVE)
def test_noise_calibrated_to_a_budget_costs_exactly_the_budget(unit: Unit, amount: Fraction) -> None:
    sensitivity = sensitivity_of_counts(unit)
    assert LaplaceMeasurement.for_budget(Budget(epsilon=amount), sensitivity).epsilon == amount
    assert GaussianMeasurement.for_budget(Budget(rho=amount), sensitivity).rho == amount


@given(EVENTS, st.fractions(Fraction(1, 2), Fraction(999, 1000)))
def test_an_event_that_claims_less_than_it_costs_cannot_be_made(event: ReleaseEvent, share: Fraction) -> None:
    with pytest.raises(EventError, match="cost more than the stated"):
        ReleaseEvent(event.mechanism, event.unit, event.cost.times(share), event.measurements, event.entropy)


def test_measurements_add_up() -> None:
    half = LaplaceMeasurement.for_budget(Budget(epsilon=0.5), sensitivity_of_counts(Unit()))
    ReleaseEvent("twice", Unit(), Budget(epsilon=1), (half, half), "secure")
    with pytest.raises(EventError):
        ReleaseEvent("thrice", Unit(), Budget(epsilon=1), (half, half, half), "secure")


def test_gaussian_noise_gives_no_pure_epsilon() -> None:
    sensitivity = sensitivity_of_counts(Unit())
    with pytest.raises(GuaranteeError, match="cannot give epsilon = 1 with delta = 0"):
        GaussianMeasurement.for_budget(Budget(epsilon=1), sensitivity)
    measurement = GaussianMeasurement.for_budget(Budget(rho=0.5), sensitivity)
    with pytest.raises(EventError):
        ReleaseEvent("gaussian", Unit(), Budget(epsilon=20), (measurement,), "secure")


def test_conversion_of_continuous_noise_is_not_for_discrete_noise() -> None:
    with pytest.raises(GuaranteeError, match="continuous noise"):
        GaussianMeasurement.for_budget(Budget(epsilon=1, delta=1e-6), sensitivity_of_counts(Unit()), "gaussian")


def test_a_tighter_conversion_needs_less_noise_for_the_same_claim() -> None:
    sensitivity = sensitivity_of_counts(Unit())
    budget = Budget(epsilon=1, delta=1e-6)
    simple = GaussianMeasurement.for_budget(budget, sensitivity, "simple")
    optimal = GaussianMeasurement.for_budget(budget, sensitivity)
    assert optimal.sigma_squared < simple.sigma_squared
    ReleaseEvent("gaussian", Unit(), budget, (simple,), "secure", conversion="simple")
    with pytest.raises(EventError):
        ReleaseEvent("gaussian", Unit(), budget, (optimal,), "secure", conversion="simple")


def test_invariants_need_replace_adjacency() -> None:
    unit = Unit(adjacency="replace")
    event = laplace_event(unit, Fraction(1))
    kept = ReleaseEvent("laplace", unit, event.cost, event.measurements, "secure", invariants=("total",))
    assert ReleaseEvent.from_json(kept.to_json()).invariants == ("total",)
    plain = laplace_event(Unit(), Fraction(1))
    with pytest.raises(EventError, match="replace"):
        ReleaseEvent("laplace", Unit(), plain.cost, plain.measurements, "secure", invariants=("total",))


def test_research_events_say_so() -> None:
    assert laplace_event(Unit(), Fraction(1)).is_private
    assert not laplace_event(Unit(), Fraction(1), "research").is_private


def changed(event: ReleaseEvent, **values: object) -> str:
    content = json.loads(event.to_json())
    content.update(values)
    return json.dumps(content)


EVENT = laplace_event(Unit(), Fraction(1))


@pytest.mark.parametrize("version", [0, 2, "1", None, 1.0, True])
def test_unknown_versions_are_refused(version: object) -> None:
    with pytest.raises(EventError, match="reads release events of version 1"):
        ReleaseEvent.from_json(changed(EVENT, version=version))
    with pytest.raises(EventError):
        ReleaseEvent("laplace", Unit(), EVENT.cost, EVENT.measurements, "secure", version=version)  # type: ignore[arg-type]


@pytest.mark.parametrize("field", sorted(json.loads(EVENT.to_json())))
def test_missing_and_unknown_fields_are_refused(field: str) -> None:
    content = json.loads(EVENT.to_json())
    del content[field]
    with pytest.raises(EventError):
        ReleaseEvent.from_json(json.dumps(content))
    with pytest.raises(EventError, match="unknown: \\['surprise'\\]"):
        ReleaseEvent.from_json(changed(EVENT, surprise=1))


LAPLACE = json.loads(EVENT.to_json())["measurements"][0]


@pytest.mark.parametrize(
    "values",
    [
        {"measurements": [{**LAPLACE, "kind": "continuous-laplace"}]},
        {"measurements": [{**LAPLACE, "surprise": 1}]},
        {"measurements": [{"kind": "discrete-laplace"}]},
        {"measurements": [{**LAPLACE, "scale": 1.0}]},
        {"measurements": [{**LAPLACE, "scale": "-1"}]},
        {"measurements": [{**LAPLACE, "scale": "1/0"}]},
        {"measurements": [{**LAPLACE, "l1": 0}]},
        {"measurements": [{**LAPLACE, "l1": True}]},
        {"measurements": [{**LAPLACE, "l1": "1"}]},
        {"measurements": []},
        {"measurements": [7]},
        {"measurements": "none"},
        {"cost": {"epsilon": 1}},
        {"cost": {"epsilon": "nan"}},
        {"cost": {"epsilon": "0"}},
        {"cost": {"epsilon": "1", "rho": "1"}},
        {"cost": {"euros": "1"}},
        {"cost": []},
        {"cost": {"epsilon": "1/2"}},
        {"unit": {"who": "person"}, "mechanism": ""},
        {"unit": {"whom": "person"}},
        {"unit": {"adjacency": "none"}},
        {"unit": 4},
        {"entropy": "quantum"},
        {"entropy": None},
        {"conversion": "gaussian"},
        {"invariants": [1]},
        {"invariants": "total"},
        {"mechanism": 5},
    ],
    ids=str,
)
def test_malformed_events_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ReleaseEvent.from_json(changed(EVENT, **values))


@pytest.mark.parametrize("text", ["", "[]", "7", "{", "null", None])
def test_what_is_no_json_object_is_refused(text: Any) -> None:
    with pytest.raises(EventError):
        ReleaseEvent.from_json(text)


def test_unknown_measurements_are_refused() -> None:
    with pytest.raises(EventError, match="unknown kind 'telepathy'"):
        read_measurement({"kind": "telepathy"})


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        EVENT.cost = Budget(epsilon=9)  # type: ignore[misc]


EXPENSIVE = LaplaceMeasurement(Fraction(1, 1000), 1, 1, 1)


@pytest.mark.parametrize("measurements", [[EXPENSIVE], (m for m in [EXPENSIVE]), {EXPENSIVE: 1}, EXPENSIVE, 5, ()])
def test_measurements_are_a_tuple_that_nobody_can_change_or_exhaust(measurements: Any) -> None:
    with pytest.raises(EventError):
        ReleaseEvent("m", Unit(), Budget(epsilon=Fraction(1, 1000)), measurements, "secure")


def test_subclasses_cannot_state_another_cost() -> None:
    class Free(LaplaceMeasurement):
        epsilon = Fraction(1, 10**6)
        rho = Fraction(1, 10**12)

    with pytest.raises(EventError):
        ReleaseEvent("m", Unit(), Budget(epsilon=1), (Free(Fraction(1, 1000), 1, 1, 1),), "secure")


@pytest.mark.parametrize(
    "values", [(1000, 1, 1), (1, 2, 1), (1, 1, 2), (0, 1, 1), (True, 1, 1), (1.0, 1, 1), ("1", 1, 1)]
)
def test_measurements_that_contradict_themselves_are_refused(values: Any) -> None:
    """Numerical composition reads cells and differences, the sums read the norm: they must describe the same thing."""
    for kind in (LaplaceMeasurement, GaussianMeasurement):
        with pytest.raises(ParameterError, match=f"parameter of {kind.__name__} must be"):
            kind(Fraction(100), *values)


@pytest.mark.parametrize("number", [0, -1, float("nan"), True, "one", None, 1e-70, 1e70])
def test_parameters_of_measurements_are_positive_numbers(number: Any) -> None:
    for make in (
        lambda: LaplaceMeasurement(number, 1, 1, 1),
        lambda: GaussianMeasurement(number, 1, 1, 1),
        lambda: SelectionMeasurement(number, "exponential"),
        lambda: ResponseMeasurement(number),
    ):
        with pytest.raises(ParameterError, match="must be a number from 1e-60 to 1e60"):
            make()


@given(st.fractions(min_value=Fraction(10001, 10000), max_value=10**12))
def test_a_response_costs_the_logarithm_of_its_ratio(ratio: Fraction) -> None:
    """From above, and by hardly anything: against mpmath with a hundred digits."""
    with mpmath.workdps(100):
        exact = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        stated = ResponseMeasurement(ratio).epsilon
        shown = mpmath.mpf(stated.numerator) / stated.denominator
        assert exact <= shown <= exact * (1 + mpmath.mpf(10) ** -54)


@pytest.mark.parametrize("ratio", [1, Fraction(1, 2)])
def test_a_response_that_costs_nothing_has_no_event(ratio: Any) -> None:
    with pytest.raises(ParameterError, match="above 1"):
        ResponseMeasurement(ratio)


def test_measurements_take_numbers_as_they_are_typed() -> None:
    assert LaplaceMeasurement(0.1, 1, 1, 1) == LaplaceMeasurement(Fraction(1, 10), 1, 1, 1)  # type: ignore[arg-type]


def test_laplace_noise_is_not_calibrated_in_rho() -> None:
    with pytest.raises(MixedCurrencyError, match=r"parameter of LaplaceMeasurement\.for_budget must be in epsilon"):
        LaplaceMeasurement.for_budget(Budget(rho=1), sensitivity_of_counts(Unit()))


@given(UNITS, st.booleans())
def test_every_sensitivity_makes_a_measurement(unit: Unit, signed: bool) -> None:
    sensitivity = sensitivity_of_counts(unit, signed=signed)
    LaplaceMeasurement.for_budget(Budget(epsilon=1), sensitivity)
    GaussianMeasurement.for_budget(Budget(rho=1), sensitivity)


def test_a_measurement_made_for_smaller_units_is_refused() -> None:
    for measurement in (LaplaceMeasurement(Fraction(1), 1, 1, 1), GaussianMeasurement(Fraction(1), 1, 1, 1)):
        with pytest.raises(EventError, match="smaller sensitivity"):
            ReleaseEvent("m", Unit(cells=50), Budget(rho=4), (measurement,), "secure")


def test_a_single_count_moves_by_one_where_a_unit_is_replaced_and_a_table_by_two() -> None:
    unit, cost = Unit(adjacency="replace"), Budget(rho=4)
    for one, table in (
        (LaplaceMeasurement(Fraction(1), 1, 1, 1), LaplaceMeasurement(Fraction(1), 2, 2, 1)),
        (GaussianMeasurement(Fraction(1), 1, 1, 1), GaussianMeasurement(Fraction(1), 2, 2, 1)),
    ):
        for measurement in (one, table):
            assert ReleaseEvent("m", unit, cost, (measurement,), "secure").measurements == (measurement,)
        with pytest.raises(EventError, match="smaller sensitivity"):
            ReleaseEvent("m", Unit.with_rows(3, adjacency="replace"), cost, (one,), "secure")


@pytest.mark.parametrize(
    "number", ["1_0", " 1", "1e2", "1e400", "+1", "2/4", "٣", "01", "1/1", "1" * 5000, "0", "-1", "1.5"]
)
def test_numbers_have_one_spelling(number: str) -> None:
    with pytest.raises(EventError, match="must be positive and written like"):
        ReleaseEvent.from_json(changed(EVENT, cost={"epsilon": number}))


def test_repeated_keys_are_refused() -> None:
    with pytest.raises(EventError, match="stands twice"):
        ReleaseEvent.from_json(EVENT.to_json()[:-1] + ', "cost": {"epsilon": "7"}}')


def test_deep_or_huge_json_is_refused_politely() -> None:
    for text in ("[" * 100_000, '{"version": ' + "1" * 5000 + "}"):
        with pytest.raises(EventError):
            ReleaseEvent.from_json(text)


def test_fields_of_a_unit_are_all_there() -> None:
    unit = Unit().to_dict()
    for field in unit:
        with pytest.raises(EventError):
            ReleaseEvent.from_json(changed(EVENT, unit={k: v for k, v in unit.items() if k != field}))


def test_numpy_numbers_become_plain() -> None:
    import numpy as np

    measurement = LaplaceMeasurement(Fraction(1), np.int64(1), 1, 1)  # type: ignore[arg-type]
    assert ReleaseEvent("m", Unit(), Budget(epsilon=1), (measurement,), "secure").to_json() == EVENT.to_json().replace(
        '"laplace"', '"m"', 1
    )
