"""Numbers as users type them: one parser for all."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import attacks, collect, microdata, tables
from sudare.errors import ParameterError
from sudare.evaluate.significance.comparing import read_significance
from sudare.parameters import exact_fraction, read_chance
from sudare.privacy import Budget, best_power


@pytest.mark.parametrize("half", [0.5, "0.5", ".5", "5e-1", "1/2", Fraction(1, 2), Decimal("0.5")])
def test_a_number_in_any_kind(half: Any) -> None:
    assert exact_fraction(half, "x", "f", "a number") == Fraction(1, 2)
    assert microdata.Closeness("ill", half).t == Fraction(1, 2)
    assert collect.KaryResponse(["a", "b"], half).fingerprint() == collect.KaryResponse(["a", "b"], 0.5).fingerprint()
    assert collect.Grid(0, 3, half) == collect.Grid(0, 3, 0.5)
    assert collect.BoundedNoise(collect.Grid(0, 3, 1), half) == collect.BoundedNoise(collect.Grid(0, 3, 1), 0.5)
    assert Budget(epsilon=half) == Budget(epsilon=0.5)
    assert microdata.prosecutor_risk([1, 2, 3], threshold=half) == microdata.prosecutor_risk([1, 2, 3], threshold=0.5)
    assert best_power(Budget(epsilon=1), half) == best_power(Budget(epsilon=1), 0.5)
    assert read_significance(half, "f") == 0.5
    first, second = [0] * 200, [1] * 200
    found = attacks.audit_epsilon(first, second, delta=half, error_probability=half)
    assert found == attacks.audit_epsilon(first, second, delta=0.5, error_probability=0.5)
    assert found.refutes(half) == found.refutes(0.5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 0.5",
        "0.5 ",
        "half",
        "nan",
        "inf",
        "1/0",
        "1//2",
        "1e99999",
        "0x1",
        "１",
        "1_000",
        "1,5",
        "0.5\n",
        "9" * 1001,
        "1/" + "9" * 1500,
        "True",
        "--1",
        "1e-400",
    ],
)
def test_texts_that_are_no_numbers(text: str) -> None:
    with pytest.raises(ParameterError, match="The 'x' parameter of f"):
        exact_fraction(text, "x", "f", "a number")


@pytest.mark.parametrize(
    "make",
    [
        lambda: collect.MatrixResponse(["a", "b"], ["10", "01"]),
        lambda: collect.MatrixResponse(["a", "b"], "10"),
        lambda: microdata.interval_hierarchy("age", ["1"], edges=["05"]),
        lambda: microdata.interval_hierarchy("age", ["1"], edges="05"),
        lambda: microdata.interval_hierarchy("age", ["1"], widths="5"),
        lambda: microdata.add_noise_to_numbers({"a": [1]}, "a", epsilon=1, bounds="09", decimals=0),  # type: ignore[arg-type]
        lambda: Budget(epsilon=1).split("11"),
        lambda: tables.wide_tree(np.ones((4, 4), dtype=int), Budget(epsilon=1), weights="11"),
        lambda: tables.margin_tree(np.ones((4, 4), dtype=int), Budget(epsilon=1), weights=["1", "1"]),
    ],
)
def test_a_text_is_one_number_and_not_a_list_of_its_digits(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_fractions_come_back(number: Fraction) -> None:
    assert exact_fraction(f"{number.numerator}/{number.denominator}", "x", "f", "a number") == number


@given(st.decimals(min_value="0.000001", max_value=10**6, places=6))
def test_decimals_come_back(number: Decimal) -> None:
    assert exact_fraction(str(number), "x", "f", "a number") == Fraction(number)


@pytest.mark.parametrize("wrong", [0, 1, "1", -0.1, True, None, "x"])
def test_chances(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        read_chance(wrong, "level", "f")
    assert read_chance("1", "level", "f", with_ends=True) == 1.0
