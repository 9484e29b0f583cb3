"""What a known answer is: a case of somebody else's tests or programs, and whether ours is the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

__all__ = ["CLOSE", "Case", "KnownAnswer", "LeftOut", "answer_all", "compared"]

CLOSE = 1e-9


@dataclass(frozen=True)
class KnownAnswer:
    """One case.

    Args:
        name: of the case.
        passed: whether ours is the expected answer.
        detail: what was found.
        other_levels: whether the answer is as good as the expected one, but is another one: several are equally good.
        is_cheaper: whether the answer is not the expected one but better, and how the expected one comes about is known.
    """

    name: str
    passed: bool
    detail: str
    other_levels: bool = False
    is_cheaper: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A case that is in the files, but that nobody can compare with from them.

    Args:
        name: of the case.
        reason: what is not there.
    """

    name: str
    reason: str


Case = tuple[str, Callable[[], KnownAnswer]]


def answer_all(cases: Iterable[Case], chosen: Callable[[str], bool] = lambda _: True) -> list[KnownAnswer]:
    """The answers of the chosen cases; one that ends with an error is not passed."""
    answers = []
    for name, answer in cases:
        if chosen(name):
            try:
                answers.append(answer())
            except Exception as error:  # the case counts all the same
                answers.append(KnownAnswer(name, False, f"{type(error).__name__}: {error}"))
    return answers


def compared(name: str, pairs: dict[str, tuple[float | None, float | None]], close: float = CLOSE) -> KnownAnswer:
    """A case of several numbers, each of them found and expected; None for one that does not exist."""
    wrong = [
        f"{key} {ours}, expected {theirs}"
        for key, (ours, theirs) in pairs.items()
        if (ours is None) != (theirs is None)
        or (ours is not None and theirs is not None and not math.isclose(ours, theirs, rel_tol=close))
    ]
    return KnownAnswer(name, not wrong, "; ".join(wrong) or f"{len(pairs)} values")
