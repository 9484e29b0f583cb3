"""Noise on the numbers of records: exact epsilon, noise of the stated width, and no claim without bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.attacks import audit_epsilon
from sudare.errors import InputError, ParameterError
from sudare.microdata.perturb.noisy_values import add_noise_to_numbers
from sudare.microdata.records import Records
from sudare.noise import discrete_gaussian, discrete_laplace


def numbers(records: Records, name: str = "v") -> list[Fraction | None]:
    return [None if text is None else Fraction(text) for text in records.column(name).texts()]


@given(
    st.lists(st.decimals(-100, 100, places=1, allow_nan=False) | st.none(), max_size=30),
    st.integers(0, 2**32),
    st.sampled_from(["scale", "sigma"]),
)
def test_the_noise_is_that_of_the_sampler_in_units_of_the_last_digit(values: list[Any], seed: int, kind: str) -> None:
    table = Records.of_columns({"v": values, "other": range(len(values))})
    noisy = add_noise_to_numbers(table, "v", **{kind: 3}, entropy=ResearchEntropy(seed))  # type: ignore[arg-type]
    decimals = 1 if any(value is not None for value in values) else 0
    sampler = (discrete_laplace if kind == "scale" else discrete_gaussian)(3 * 10**decimals)
    noise = sampler.draw(len(values), ResearchEntropy(seed))
    expected = [
        None if value is None else Fraction(value) + Fraction(int(drawn), 10**decimals)
        for value, drawn in zip(values, noise, strict=True)
    ]
    assert numbers(noisy.records) == expected
    assert noisy.records.column("other").texts().tolist() == table.column("other").texts().tolist()
    assert (noisy.local_epsilon, noisy.local_rho) == (None, None)
    present = sum(value is not None for value in values)
    assert noisy.touched == (Fraction(present, len(values)) if values else 0)


def test_epsilon_and_rho_are_exact() -> None:
    table = Records.of_columns({"v": [10, 20]})
    by_scale = add_noise_to_numbers(table, "v", scale=0.3, bounds=(0, 1), decimals=2)
    assert by_scale.local_epsilon == Fraction(10, 3)
    by_epsilon = add_noise_to_numbers(table, "v", epsilon=0.7, bounds=(-5, 95), decimals=0)
    assert by_epsilon.local_epsilon == Fraction(7, 10)
    assert by_epsilon.local_rho == Fraction(49, 200)
    by_sigma = add_noise_to_numbers(table, "v", sigma=20, bounds=(0, 100), decimals=0)
    assert (by_sigma.local_epsilon, by_sigma.local_rho) == (None, Fraction(25, 2))


def test_numbers_are_rounded_and_moved_into_the_bounds_first() -> None:
    table = Records.of_columns({"v": ["-5", "0.25", "0.35", "99.99", "12"]})
    noisy = add_noise_to_numbers(
        table, "v", scale=Fraction(1, 100), bounds=(0, 10), decimals=1, entropy=ResearchEntropy(1)
    )
    # Noise of a tenth of the last digit: e**-10 for each digit, so none at all in five draws with this seed.
    assert noisy.records.column("v").texts().tolist() == ["0.0", "0.2", "0.4", "10.0", "10.0"]
    finer = add_noise_to_numbers(
        table, "v", scale=Fraction(1, 10000), bounds=(-9, 200), decimals=3, entropy=ResearchEntropy(1)
    )
    assert finer.records.column("v").texts().tolist() == ["-5.000", "0.250", "0.350", "99.990", "12.000"]


def test_the_stated_epsilon_is_not_refuted_and_half_of_it_is() -> None:
    """The two numbers that are farthest apart, 40,000 times each: what an auditor sees of the claim."""
    low, high = (Records.of_columns({"v": [value] * 40_000}) for value in (0, 10))
    drawn = []
    for seed, table in enumerate((low, high)):
        noisy = add_noise_to_numbers(table, "v", epsilon=2, bounds=(0, 10), decimals=0, entropy=ResearchEntropy(seed))
        drawn.append(np.array([int(value or 0) for value in numbers(noisy.records)]))
    audit = audit_epsilon(*drawn)
    assert not audit.refutes(2)
    assert audit.refutes(1)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({}, "scale"),
        ({"scale": 1, "sigma": 1}, "scale"),
        ({"epsilon": 1}, "bounds"),
        ({"epsilon": 1, "bounds": (0, 1)}, "decimals"),
        ({"scale": 1, "bounds": (0, 1)}, "decimals"),
        ({"scale": 1, "bounds": (1, 1), "decimals": 0}, "bounds"),
        ({"scale": 1, "bounds": (0, 0.5), "decimals": 0}, "bounds"),
        ({"scale": 1, "bounds": 5, "decimals": 0}, "bounds"),
        ({"scale": 0}, "scale"),
        ({"sigma": -1}, "sigma"),
        ({"scale": 1, "decimals": 99}, "decimals"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], parameter: str) -> None:
    table = Records.of_columns({"v": [1, 2]})
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of add_noise_to_numbers must be"):
        add_noise_to_numbers(table, "v", **arguments)


def test_texts_and_long_numbers_are_named_with_their_row() -> None:
    table = Records.of_columns({"v": [1, "x"], "w": [1, 10**14]})
    with pytest.raises(InputError, match="row 2 of the data"):
        add_noise_to_numbers(table, "v", scale=1)
    with pytest.raises(InputError, match="Take fewer decimals"):
        add_noise_to_numbers(table, "w", scale=1, decimals=5)


@pytest.mark.parametrize(("kind", "small", "enough"), [("scale", 0.9, 0.95), ("sigma", 0.6, 0.9)])
def test_noise_that_mostly_changes_nothing_is_refused(kind: str, small: float, enough: float) -> None:
    table = Records.of_columns({"v": range(4000)})
    with pytest.raises(InputError, match=f"column 'v': most numbers would stay as they are. Take a larger {kind}"):
        add_noise_to_numbers(table, "v", **{kind: small})  # type: ignore[arg-type]
    # With a digit more the same noise is large, and with bounds it is its epsilon that tells.
    finer = add_noise_to_numbers(table, "v", **{kind: small}, decimals=1)  # type: ignore[arg-type]
    assert finer.changed > Fraction(4, 5)
    add_noise_to_numbers(table, "v", **{kind: small}, bounds=(0, 10), decimals=0)  # type: ignore[arg-type]
    assert add_noise_to_numbers(table, "v", **{kind: enough}).changed > Fraction(2, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "amount"), [("scale", 2), ("scale", 7), ("sigma", 1), ("sigma", 9.9), ("sigma", 10.1)]
)
def test_it_tells_how_often_a_number_stays(kind: str, amount: float) -> None:
    table = Records.of_columns({"v": [5] * 20_000})
    noisy = add_noise_to_numbers(table, "v", **{kind: amount}, entropy=ResearchEntropy(4))  # type: ignore[arg-type]
    told = noisy.protects.english.split("probability of about ")[1].split(" %")[0]
    stayed = 1 - float(noisy.changed)
    # Six standard deviations, and two digits are told.
    assert abs(float(told) / 100 - stayed) < 6 * (stayed / 20_000) ** 0.5 + 0.005
    wide = add_noise_to_numbers(table, "v", **{kind: 10**6})  # type: ignore[arg-type]
    assert "less than 0.01 %" in wide.protects.english


def test_it_claims_nothing_without_bounds() -> None:
    table = Records.of_columns({"v": [1, 2]})
    plain = add_noise_to_numbers(table, "v", scale=1)
    local = add_noise_to_numbers(table, "v", scale=1, bounds=(0, 5), decimals=0)
    assert "Without bounds there is no differential privacy" in plain.protects.english
    assert "Local differential privacy of this number" in local.protects.english
    assert "局所差分プライバシー" in local.protects.japanese
