"""Times in periods, with time zones."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.domain import Domain, Times
from sudare.domain.times import PERIODS
from sudare.errors import ParameterError

ZONES = [
    "Asia/Tokyo",
    "UTC",
    "Europe/Paris",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Asia/Kathmandu",
]
DAYS = [
    (date(2025, 3, 28), date(2025, 4, 8)),  # clocks are changed in Europe, and on Lord Howe
    (date(2025, 10, 25), date(2025, 11, 3)),
    (date(2018, 11, 2), date(2018, 11, 6)),  # at midnight, in Brazil
    (date(2018, 2, 16), date(2018, 2, 19)),
    (date(2024, 2, 28), date(2024, 3, 1)),
]


def label_by_hand(moment: datetime, by: str, zone: str) -> str:
    """What Python itself says of a moment, in local time."""
    local = moment.astimezone(ZoneInfo(zone))
    offset = f"{local:%z}"
    return {
        "hour": f"{local:%Y-%m-%dT%H}:00{offset[:3]}:{offset[3:]}",
        "day": f"{local:%Y-%m-%d}",
        "month": f"{local:%Y-%m}",
        "hour of day": f"{local:%H}:00",
        "weekday": str(local.isoweekday()),
        "hour of week": f"{local.isoweekday()}T{local:%H}:00",
    }[by]


def first_of_two(local: datetime, zone: str) -> datetime:
    """The moment of a time of the local clock: fold is 0 where nothing else is said."""
    return local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(ZONES), st.sampled_from(DAYS), st.sampled_from(PERIODS), st.integers(0, 11 * 86_400), st.booleans()
)
def test_the_label_is_what_python_says(
    zone: str, days: tuple[date, date], by: str, seconds: int, is_moment: bool
) -> None:
    times = Times("t", by, *days, zone)
    local = datetime(days[0].year, days[0].month, days[0].day) + timedelta(seconds=seconds)
    if local.date() > days[1]:
        return
    moment = first_of_two(local, zone)
    value = moment if is_moment else local
    repeats = by in ("hour of day", "weekday", "hour of week")
    expected = label_by_hand(moment, by, zone)
    if not is_moment and repeats:  # by the clock as it was written, even if it was skipped
        expected = label_by_hand(local.replace(tzinfo=UTC), by, "UTC")
    spellings = [value, value.isoformat()]
    if is_moment:
        spellings += [int(moment.timestamp()), f"{moment:%Y-%m-%d %H:%M:%S}Z", str(int(moment.timestamp()))]
    for spelled in spellings:
        (place,) = times.places(np.array([spelled], dtype=object))
        assert times.labels[int(place[0])] == expected


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        (date(2025, 3, 30), "Europe/Paris", 23),
        (date(2025, 10, 26), "Europe/Paris", 25),
        (date(2025, 3, 9), "America/New_York", 23),
        (date(2025, 11, 2), "America/New_York", 25),
        (date(2018, 11, 4), "America/Sao_Paulo", 23),
        (date(2018, 2, 17), "America/Sao_Paulo", 25),
        (date(2025, 4, 6), "Australia/Lord_Howe", 25),  # half an hour twice: 02:00 and again 01:30
        (date(2025, 10, 26), "Asia/Tokyo", 24),
    ],
)
def test_days_when_clocks_are_changed(day: date, zone: str, hours: int) -> None:
    times = Times("t", "hour", day, day, zone)
    assert len(times.labels) == len(set(times.labels)) == hours
    assert Times("t", "hour of day", day, day, zone).shape == (24,)
    assert Times("t", "day", day, day, zone).labels == (day.isoformat(),)


def test_the_hour_that_comes_twice() -> None:
    night = Times("t", "hour", date(2025, 10, 26), date(2025, 10, 26), "Europe/Paris")
    first, second = night.places(["2025-10-26T00:30Z", "2025-10-26T01:30Z"])[0]
    assert [night.labels[first], night.labels[second]] == ["2025-10-26T02:00+02:00", "2025-10-26T02:00+01:00"]
    assert night.places(["2025-10-26T02:30"])[0][0] == first
    fold = datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Paris"), fold=1)
    assert night.places(np.array([fold], dtype=object))[0][0] == second


def test_shapes_and_labels() -> None:
    span = (date(2024, 2, 28), date(2024, 3, 1))
    assert Times("t", "day", *span, "Asia/Tokyo").labels == ("2024-02-28", "2024-02-29", "2024-03-01")
    assert Times("t", "month", *span, "Asia/Tokyo").labels == ("2024-02", "2024-03")
    assert Times("t", "weekday", *span, "Asia/Tokyo").labels == tuple("1234567")
    assert Times("t", "hour of week", *span, "Asia/Tokyo").shape == (168,)
    assert Times("t", "hour", *span, "Asia/Tokyo").shape == (72,)
    assert Times("t", "hour", *span, "Asia/Tokyo").labels[0] == "2024-02-28T00:00+09:00"
    assert Times("t", "hour", date(1890, 1, 1).replace(year=1900), date(1900, 1, 1), "Africa/Monrovia").shape == (24,)


@pytest.mark.parametrize("by", PERIODS)
def test_values_lead_back(by: str) -> None:
    times = Times("t", by, date(2025, 3, 28), date(2025, 4, 8), "Europe/Paris")
    domain = Domain((times,))
    places = (np.arange(domain.cells),)
    assert times.values(places).tolist() == list(times.labels)
    if by in ("hour", "day"):
        assert times.places(times.values(places))[0].tolist() == places[0].tolist()


def test_arrays_of_numpy() -> None:
    times = Times("t", "day", date(2025, 3, 28), date(2025, 4, 8), "Europe/Paris")
    for unit in ("D", "s", "ms", "ns"):
        assert times.places(np.array(["2025-03-29", "2025-04-08"], dtype=f"datetime64[{unit}]"))[0].tolist() == [1, 11]


@pytest.mark.parametrize(
    "value",
    [
        "2025-03-27T23:59:59",
        "2025-04-09T00:00",
        "2025-02-30T10:00",
        "2025-03-28",
        "2025-03-28T24:00",
        "x",
        "20250328",
        20250328,
        None,
        True,
    ],
)
def test_what_is_no_time_of_the_span(value: object) -> None:
    times = Times("t", "hour", date(2025, 3, 28), date(2025, 4, 8), "Europe/Paris")
    with pytest.raises(ParameterError, match="times from 2025-03-28 to 2025-04-08") as caught:
        times.places(np.array([value], dtype=object))
    assert "23:59" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"by": "minute"}, "by"),
        ({"first": datetime(2025, 1, 1)}, "first"),
        ({"last": date(2024, 1, 1)}, "last"),
        ({"first": date(1800, 1, 1)}, "first"),
        ({"time_zone": "Asia/Edo"}, "time_zone"),
        ({"time_zone": "../etc/passwd"}, "time_zone"),
        ({"time_zone": 9}, "time_zone"),
    ],
)
def test_wrong_spans(arguments: dict[str, object], parameter: str) -> None:
    right: dict[str, object] = {"by": "hour", "first": date(2025, 1, 1), "last": date(2025, 1, 2), "time_zone": "UTC"}
    with pytest.raises(ParameterError, match=f"'{parameter}' parameter of Times"):
        Times("t", **{**right, **arguments})  # type: ignore[arg-type]
