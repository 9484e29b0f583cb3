"""Invented companies: the same each time, few large ones, owners of several."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare.examples import invent_companies


def test_the_same_arguments_give_the_same_companies() -> None:
    assert invent_companies(100, seed=3).equals(invent_companies(100, seed=3))
    assert not invent_companies(100, seed=3).equals(invent_companies(100, seed=4))


def test_few_have_most_of_the_turnover_and_some_belong_together() -> None:
    companies = invent_companies(2_000)
    turnover = np.sort(companies.column("turnover").to_numpy())[::-1]
    assert turnover.min() > 0
    assert 0.25 < turnover[:20].sum() / turnover.sum() < 0.95
    owners = companies.column("holding").to_pylist()
    own = sum(owner == name for owner, name in zip(owners, companies.column("company").to_pylist(), strict=True))
    assert 0.65 < own / 2_000 < 0.85
    assert len(set(owners)) < 2_000


@pytest.mark.parametrize("number", [0, -1, 10**6 + 1, 2.5, True])
def test_numbers_that_cannot_be_are_refused(number: object) -> None:
    with pytest.raises(ParameterError, match="number"):
        invent_companies(number)  # type: ignore[arg-type]
