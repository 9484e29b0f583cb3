"""Units over time, and what noise on a series costs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sudare.errors import EventError, GuaranteeError, LedgerError, MixedCurrencyError, ParameterError
from sudare.ledger import open_ledger
from sudare.privacy import Budget, ProtectedTime, ReleaseEvent, SeriesMeasurement, Unit

DAY = Unit("person", time=ProtectedTime("person-day", 144))
OLD = '{"adjacency": "add-remove", "cells": 1, "rows": 1, "rows_per_cell": 1, "who": "person"}'
GIVEN: dict[str, Any] = {"ticks": 144, "moves": 2, "strategy": "power"}


def test_units_without_a_time_are_written_and_read_as_before() -> None:
    import json

    assert json.dumps(Unit("person").to_dict(), sort_keys=True) == OLD
    assert Unit.from_dict(json.loads(OLD)) == Unit("person")
    assert repr(Unit("person")) == "Unit(who='person', cells=1, rows_per_cell=1, rows=1, adjacency='add-remove')"


@pytest.mark.parametrize(
    "time", [ProtectedTime("event"), ProtectedTime("person-day", 24), ProtectedTime("person-window", 6)]
)
def test_a_time_is_written_and_read(time: ProtectedTime) -> None:
    unit = Unit("person", time=time)
    assert Unit.from_dict(unit.to_dict()) == unit != Unit("person")
    assert str(time.ticks) in repr(unit)


UNKNOWN: list[Any] = [
    None,
    3,
    {},
    {"span": "event"},
    {"span": "day", "ticks": 1},
    {"span": "event", "ticks": 2},
    {"span": "event", "ticks": 1, "x": 1},
]


@pytest.mark.parametrize("time", UNKNOWN)
def test_a_time_that_nobody_wrote_is_refused(time: Any) -> None:
    with pytest.raises(EventError, match="unit in an event"):
        Unit.from_dict(Unit("person").to_dict() | {"time": time})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(("week", 1), "span"), (("person-day", 0), "ticks"), (("event", 3), "ticks"), ((3, 1), "span")],
)
def test_wrong_times_are_named(arguments: Any, named: str) -> None:
    with pytest.raises(ParameterError, match=f"'{named}'"):
        ProtectedTime(*arguments)
    with pytest.raises(ParameterError, match="'time'"):
        Unit("person", time="day")  # type: ignore[arg-type]


def test_noise_costs_what_its_sensitivity_says() -> None:
    gaussian = SeriesMeasurement.for_budget(Budget(rho="0.1"), 1000, noise="gaussian", **GIVEN)
    assert (gaussian.spread, gaussian.rho, gaussian.epsilon) == (Fraction(5000), Fraction(1, 10), None)
    laplace = SeriesMeasurement.for_budget(Budget(epsilon=2), 1000, noise="laplace", **GIVEN)
    assert (laplace.spread, laplace.epsilon, laplace.rho) == (Fraction(500), Fraction(2), Fraction(2))
    both = SeriesMeasurement.for_budget(Budget(epsilon=1, delta=1e-6), 1000, noise="gaussian", **GIVEN)
    event = ReleaseEvent("series", DAY, Budget(epsilon=1, delta=1e-6), (both,), "secure")
    assert ReleaseEvent.from_json(event.to_json()) == event


def test_an_event_never_states_a_lower_cost() -> None:
    noise = SeriesMeasurement.for_budget(Budget(rho="0.1"), 1000, noise="gaussian", **GIVEN)
    with pytest.raises(EventError, match="cost more"):
        ReleaseEvent("series", DAY, Budget(rho="0.099"), (noise,), "secure")


@pytest.mark.parametrize(
    "unit",
    [
        Unit("person"),
        Unit("person", time=ProtectedTime("event")),
        Unit("person", time=ProtectedTime("person-day", 143)),
        Unit("person", cells=2, time=ProtectedTime("person-day", 144)),
    ],
)
def test_noise_on_a_series_protects_no_other_unit(unit: Unit) -> None:
    noise = SeriesMeasurement.for_budget(Budget(rho="0.1"), 1000, noise="gaussian", **GIVEN)
    with pytest.raises(EventError, match="smaller sensitivity"):
        ReleaseEvent("series", unit, Budget(rho="0.1"), (noise,), "secure")


def test_noise_that_cannot_give_the_guarantee_is_refused() -> None:
    with pytest.raises(GuaranteeError, match="delta"):
        SeriesMeasurement.for_budget(Budget(epsilon=1), 10, noise="gaussian", **GIVEN)
    with pytest.raises(MixedCurrencyError, match="in epsilon"):
        SeriesMeasurement.for_budget(Budget(rho=1), 10, noise="laplace", **GIVEN)
    for name, value in {
        "noise": "cauchy",
        "spread": -1,
        "sensitivity": 0,
        "ticks": 0,
        "moves": -1,
        "strategy": "",
    }.items():
        given = {"noise": "laplace", "spread": 1, "sensitivity": 1, **GIVEN, name: value}
        with pytest.raises(ParameterError, match=f"'{name}'"):
            SeriesMeasurement(**given)


def test_a_ledger_does_not_mix_times(tmp_path: Any) -> None:
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("flow", Budget(rho=1), unit=DAY)
        ledger.reserve("flow", Budget(rho="0.1"), unit=DAY, fingerprint="0" * 64)
        for other in (Unit("person"), Unit("person", time=ProtectedTime("person-day", 24))):
            with pytest.raises(LedgerError, match="different units"):
                ledger.reserve("flow", Budget(rho="0.1"), unit=other, fingerprint="1" * 64)
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.dataset("flow").unit == DAY
