"""Invented people are those that the country counts."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import Bins, Category, CountTable, Domain
from sudare.errors import ParameterError
from sudare.examples import invent_country, invent_people


def test_counting_the_people_gives_the_country_back() -> None:
    country = invent_country(128, people=40_000)
    people = invent_people(country, seed=3)
    assert CountTable.from_frame(people, country.domain) == country
    assert people["person"].to_pylist() == list(range(1, 40_001))


def test_ages_and_sexes_are_plausible_and_can_be_tabulated() -> None:
    country = invent_country(128, people=40_000)
    people = invent_people(country)
    ages = people["age"].to_numpy()
    assert 0 <= ages.min() < 3
    assert 95 < ages.max() <= 104
    assert 40 < np.median(ages) < 60
    domain = Domain((Category("sex", ("female", "male")), Bins("age", (0, 15, 65, 120))))
    female, male = CountTable.from_frame(people, domain).to_dense()
    assert female[2] > 1.05 * male[2]
    assert 0.9 < female[0] / male[0] < 1.1


def test_villages_are_older_than_cities() -> None:
    country = invent_country(128, people=40_000)
    people = invent_people(country)
    size = dict(zip(country.to_columns()["KEY_CODE"].tolist(), country.counts.tolist(), strict=True))
    is_rural = np.array([size[code] < 30 for code in people["KEY_CODE"].to_pylist()])
    ages = people["age"].to_numpy()
    assert ages[is_rural].mean() > ages[~is_rural].mean() + 5


def test_rows_are_in_no_order_and_repeat_with_the_seed() -> None:
    country = invent_country(64, people=5_000)
    first, again, other = invent_people(country, 1), invent_people(country, 1), invent_people(country, 2)
    assert first.equals(again)
    assert not first.equals(other)
    codes = first["KEY_CODE"].to_numpy()
    assert abs(np.corrcoef(codes[1:], codes[:-1])[0, 1]) < 0.1


def test_refuses_what_is_no_country() -> None:
    with pytest.raises(ParameterError, match="'country' parameter of invent_people"):
        invent_people(np.ones((3, 3)))  # type: ignore[arg-type]
    large = CountTable.from_dense(np.array([2**26]))
    with pytest.raises(ParameterError, match="at most 33,554,432 people"):
        invent_people(large)
    aged = CountTable.from_dense(np.array([1, 2]), Domain((Bins("age", (0, 15, 120)),)))
    with pytest.raises(ParameterError, match="without attributes named"):
        invent_people(aged)


def test_an_empty_country_has_no_people() -> None:
    assert invent_people(invent_country(64, people=0)).num_rows == 0
