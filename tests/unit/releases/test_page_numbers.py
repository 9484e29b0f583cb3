"""Numbers on the page are short, and a bound is never shown below itself."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.releases.page_numbers import (
    percent_rounded_up,
    show_amount,
    show_budget,
    show_date,
    show_decimal,
    show_distance,
    show_size,
    with_greek_letters,
)

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(("1", "1"), ("1/10", "0.1"), ("1/3", "0.3334"), (0.25, "0.25"), ("62.1234", "62.13")),
        *(("1/1000000000", "10⁻⁹"), ("3/2000000", "0.0000015"), ("12000", "12,000"), ("24001/2", "12,001")),
        *(("–", "–"), ("1/0", "1/0")),
    ],
)
def test_fractions_are_shown_as_people_write_them(value: object, text: str) -> None:
    assert show_decimal(value) == text


@given(st.fractions(min_value=Fraction(1, 10**15), max_value=10**6))
def test_no_budget_is_shown_below_itself(budget: Fraction) -> None:
    shown = show_decimal(str(budget)).replace(",", "")
    digits, _, raised = shown.rpartition(" × ") if "⁻" in shown else (shown, "", "")
    power = Fraction(10) ** int(raised[2:].translate(SUPERSCRIPTS)) if raised else Fraction(1)
    value = Fraction(digits or "1") * power
    assert budget <= value <= budget * Fraction(1002, 1000)


@given(st.floats(0, 1))
def test_no_share_is_shown_below_itself(share: float) -> None:
    shown = Fraction(percent_rounded_up(share).removesuffix(" %")) / 100
    assert Fraction(str(share)) <= shown <= Fraction(str(share)) + Fraction(1, 1000)


def test_budgets_have_their_letters_in_order() -> None:
    assert show_budget({"delta": "1/1000000", "epsilon": "1/2"}) == "ε = 0.5, δ = 0.000001"
    assert show_budget({"rho": "1/10"}) == "ρ = 0.1"
    assert show_budget({}) == "–"
    assert with_greek_letters("epsilon = 4, delta = 1e-6") == "ε = 4, δ = 1e-6"


def test_amounts_distances_and_sizes() -> None:
    assert [show_amount(number) for number in (0, 5.04, 99.9, 1234.5)] == ["0.0", "5.0", "99.9", "1,234"]
    assert [show_distance(metres) for metres in (125, 1000, 2500, 1_024_000)] == ["125 m", "1 km", "2.5 km", "1,024 km"]
    assert [show_size(size) for size in (0, 999, 2_345_678, 10**10, None)] == ["0 B", "999 B", "2.3 MB", "10.0 GB", ""]


@pytest.mark.parametrize(
    ("offset", "english", "japanese"),
    [
        ("+09:00", "16 November 2026, 08:30 UTC+09:00", "2026年11月16日 08:30（UTC+09:00）"),
        ("-03:30", "15 November 2026, 20:00 UTC-03:30", "2026年11月15日 20:00（UTC-03:30）"),
        ("+00:00", "15 November 2026, 23:30 UTC", "2026年11月15日 23:30（UTC）"),
        ("Tokyo", "15 November 2026, 23:30 UTC", "2026年11月15日 23:30（UTC）"),
    ],
)
def test_dates_are_told_by_the_clocks_of_the_office(offset: str, english: str, japanese: str) -> None:
    shown = show_date("2026-11-15T23:30:00Z", offset)
    assert shown is not None
    assert (shown.english, shown.japanese) == (english, japanese)


def test_dates_are_shown_in_universal_time() -> None:
    shown = show_date("2026-11-16T08:30:00+09:00")
    assert shown is not None
    assert (shown.english, shown.japanese) == ("15 November 2026, 23:30 UTC", "2026年11月15日 23:30（UTC）")
    plain = show_date("soon")
    assert plain is not None
    assert plain.english == plain.japanese == "soon"
    assert show_date(None) is None
