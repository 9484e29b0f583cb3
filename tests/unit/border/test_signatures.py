"""Kinds of arguments, as signatures say them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas
import pytest

from sudare.border.signatures import check_arguments
from sudare.errors import ParameterError
from sudare.parameters import Rational
from sudare.privacy import Budget


def takes(
    texts: Sequence[str] = (),
    number: int = 1,
    share: float = 0.5,
    exact: Rational = 1,
    flag: bool = True,
    choice: Literal["a", "b"] = "a",
    budgets: Mapping[str, Budget] | None = None,
    path: str | Path = "x",
    pair: tuple[int, str] = (1, "a"),
    once: Iterable[int] = (),
    anything: Any = None,
) -> None:
    check_arguments(takes, locals())


@pytest.mark.parametrize(
    "right",
    [
        {"texts": ["a"], "number": np.int64(3), "share": np.float32(0.5), "exact": "1/3"},
        {"texts": (), "flag": False, "choice": "b", "budgets": {"x": Budget(epsilon=1)}},
        {"path": Path("y"), "pair": [2, "b"], "anything": object()},
        {"once": iter([1, 2]), "budgets": None},
    ],
)
def test_what_fits(right: dict[str, Any]) -> None:
    takes(**right)


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("texts", "age", "a list of texts. Got 'age' instead."),
        ("texts", [1], "a list of texts. "),
        ("texts", {"a": 1}, "a list of texts. "),
        ("texts", pandas.DataFrame({"a": [1]}), "a list of texts. Got an object of type DataFrame instead."),
        ("number", True, "a whole number. Got True instead."),
        ("number", 1.0, "a whole number. "),
        ("share", "0.5", "a number. "),
        ("exact", "half", "a number. "),
        ("flag", 1, "True or False. "),
        ("choice", "c", "'a' or 'b'. "),
        ("choice", ["a"], "'a' or 'b'. "),
        ("budgets", {"x": 1}, "a mapping of names to Budget objects, or left out. "),
        ("budgets", {1: Budget(epsilon=1)}, "a mapping of names to Budget objects, or left out. "),
        ("path", 7, "a text, or a path. "),
        ("pair", (1,), "2 values in parentheses. "),
        ("once", 7, "a list of whole numbers. "),
    ],
)
def test_what_does_not(name: str, wrong: Any, words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        takes(**{name: wrong})
    assert str(caught.value).startswith(f"The '{name}' parameter of takes must be {words}")
    assert caught.value.parameter == name


def test_what_can_be_gone_through_once_is_left_whole() -> None:
    numbers = iter([1, 2])
    takes(once=numbers)
    assert list(numbers) == [1, 2]


def test_protected_values_are_not_shown() -> None:
    with pytest.raises(ParameterError) as caught:
        takes(texts=[424242])  # type: ignore[list-item]
    assert "424242" not in str(caught.value) + repr(caught.value.got)
