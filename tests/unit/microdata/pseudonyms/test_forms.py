"""Lengths that leave no room for collisions, and random pseudonyms that are all equally likely."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.microdata.pseudonyms import TextForm
from sudare.microdata.pseudonyms.notation import FORMS, MAX_COLLISIONS


@given(st.sampled_from(sorted(FORMS)), st.integers(1, 10**13))
def test_the_shortest_length_that_is_safe(name: str, people: int) -> None:
    form = TextForm.for_people(name, people)
    assert form.collision_chance(people) < MAX_COLLISIONS
    form.require_room(people)
    if form.length > 1:
        shorter = TextForm(name, form.length - 1)
        assert shorter.collision_chance(people) >= MAX_COLLISIONS
        with pytest.raises(ParameterError, match="--method table"):
            shorter.require_room(people)


def test_the_bound_covers_the_exact_chance() -> None:
    """The exact chance that some two of n are the same, for sizes where it can be multiplied out."""
    form = TextForm("digits", 3)
    for people in (2, 5, 30):
        different = Fraction(1)
        for taken in range(people):
            different *= Fraction(form.size - taken, form.size)
        assert 1 - different <= form.collision_chance(people)
        assert form.collision_chance(people) < 2 * (1 - different) + Fraction(1, 100)


def test_sizes() -> None:
    assert TextForm("hex", 24).size == 2**96
    assert TextForm("base32", 20).size == 2**100
    assert TextForm("digits", 1).size == 9


@pytest.mark.parametrize(("name", "length"), [("words", 8), ("hex", 0), ("hex", 65), ("digits", 39), ("base32", True)])
def test_wrong_forms(name: str, length: int) -> None:
    with pytest.raises(ParameterError):
        TextForm(name, length)


@pytest.mark.parametrize("name", sorted(FORMS))
def test_drawn_pseudonyms_use_every_character_evenly(name: str) -> None:
    rows = TextForm(name, 6).draw(20_000)
    letters = np.frombuffer(FORMS[name], dtype=np.uint8)
    counts = np.array([(rows[:, 1:] == letter).sum() for letter in letters])
    expected = rows[:, 1:].size / letters.size
    # Six standard deviations: once in 10**9 runs.
    assert (np.abs(counts - expected) < 6 * np.sqrt(expected)).all()
    if name == "digits":
        assert not (rows[:, 0] == ord("0")).any()
