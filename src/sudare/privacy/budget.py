"""How much privacy may be spent, in one of three currencies, exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral
from typing import Any, Literal, TypeVar, overload

from sudare.bilingual import Words
from sudare.border.notices import warn_user
from sudare.errors import BudgetError, Described, EventError, MixedCurrencyError, SplitError, WeakBudgetWarning
from sudare.parameters import Rational, exact_fraction, exact_integer, exact_text, show_fraction, shown

__all__ = ["Budget", "Currency"]

Currency = Literal["epsilon", "epsilon-delta", "rho"]
Key = TypeVar("Key")

WEAK_EPSILON = 20
WEAK_RHO = 5
"""The largest budgets in public use are about this size (the 2020 census of the United States: epsilon 19.61, rho 2.63).
A test of one person's presence can be nearly sure far below; `best_power` tells."""

MAX_PARTS = 10**6

MAX_TEXT_LENGTH = 4000
_WRITTEN_FRACTION = re.compile(r"[1-9][0-9]*(/[1-9][0-9]*)?")

_POSITIVE = Words("a positive, finite number that is not subnormal", "0 より大きい有限の数（極端に小さい数を除く）")
_DELTA = Words(
    "a number strictly between 0 and 1, or left out for pure epsilon",
    "0 より大きく 1 より小さい数（純粋な epsilon の場合は省略）",
)
WEAK_BUDGET = Words(
    "A budget of {budget} protects nobody in the worst case: a test of one person's presence can be right "
    "almost always. Budgets in use are below epsilon = {epsilon} or rho = {rho}.",
    "予算 {budget} では、最悪の場合に誰も保護されません。ある人の有無をほぼ確実に言い当てられるためです。"
    "実際に使われる予算は epsilon = {epsilon}、rho = {rho} 未満です。",
)


class Budget:
    """A privacy budget: pure epsilon, (epsilon, delta), or rho of zero-concentrated differential privacy.

    Immutable; all arithmetic is exact. A float is read as the decimal that was typed: ``0.1`` is one tenth.

    Args:
        epsilon: the bound on the logarithm of every likelihood ratio.
        delta: the probability with which that bound may fail; left out for pure epsilon.
        rho: the bound of zero-concentrated differential privacy, in place of the other two.

    Raises:
        BudgetError: if a number is not positive and finite, if delta is not below 1, or if not exactly one of epsilon
            and rho is given.

    Example:
        >>> from sudare import Budget
        >>> Budget(epsilon=1, delta=1e-6)
        Budget(epsilon=1, delta=0.000001)
        >>> Budget(epsilon=0.3) == Budget(epsilon=0.1) + Budget(epsilon=0.1) + Budget(epsilon=0.1)
        True
        >>> Budget(rho=1).split([0.25, 0.75])
        (Budget(rho=0.25), Budget(rho=0.75))
    """

    __slots__ = ("_delta", "_epsilon", "_rho")
    _epsilon: Fraction | None
    _delta: Fraction
    _rho: Fraction | None

    def __init__(
        self, *, epsilon: Rational | None = None, delta: Rational | None = None, rho: Rational | None = None
    ) -> None:
        if hasattr(self, "_delta"):
            raise AttributeError("A Budget cannot be changed; make a new one instead of initialising it again.")
        if (epsilon is None) == (rho is None):
            raise BudgetError(
                "epsilon",
                "Budget",
                Words("given, or rho in its place, and not both", "epsilon か rho のどちらか一方だけを指定"),
                Described("both" if epsilon is not None else "neither"),
            )
        if rho is not None and delta is not None:
            raise BudgetError(
                "delta",
                "Budget",
                Words("left out where rho is given", "rho を指定するときは省略"),
                shown(delta),
                "A rho budget has no delta; rho_to_epsilon(rho, delta) shows what it means at a delta.",
            )
        self._set(
            None if epsilon is None else _positive(epsilon, "epsilon"),
            Fraction(0) if delta is None else _positive(delta, "delta"),
            None if rho is None else _positive(rho, "rho"),
        )
        if (self._epsilon or 0) > WEAK_EPSILON or (self._rho or 0) > WEAK_RHO:
            warn_user(WeakBudgetWarning(WEAK_BUDGET.format(budget=str(self), epsilon=WEAK_EPSILON, rho=WEAK_RHO)))

    def _set(self, epsilon: Fraction | None, delta: Fraction, rho: Fraction | None) -> None:
        if delta >= 1:
            raise BudgetError("delta", "Budget", _DELTA, exact_text(delta))
        object.__setattr__(self, "_epsilon", epsilon)
        object.__setattr__(self, "_delta", delta)
        object.__setattr__(self, "_rho", rho)

    @classmethod
    def _exactly(cls, epsilon: Fraction | None, delta: Fraction, rho: Fraction | None) -> Budget:
        budget = cls.__new__(cls)
        budget._set(epsilon, delta, rho)
        return budget

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Budget cannot be changed; make a new one instead of setting {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A Budget cannot be changed; {name!r} cannot be removed.")

    @property
    def currency(self) -> Currency:
        """Which of the three definitions the budget is in."""
        if self._rho is not None:
            return "rho"
        return "epsilon-delta" if self._delta else "epsilon"

    @property
    def epsilon(self) -> Fraction:
        """Epsilon, of a pure or an (epsilon, delta) budget."""
        if self._epsilon is None:
            raise MixedCurrencyError(
                "budget",
                "epsilon",
                Words("in epsilon", "epsilon による予算"),
                self,
                "Convert it first: rho_to_epsilon(rho, delta).",
            )
        return self._epsilon

    @property
    def delta(self) -> Fraction:
        """Delta; 0 for pure epsilon."""
        if self._rho is not None:
            raise MixedCurrencyError(
                "budget",
                "delta",
                Words("in epsilon", "epsilon による予算"),
                self,
                "Convert it first: rho_to_epsilon(rho, delta).",
            )
        return self._delta

    @property
    def rho(self) -> Fraction:
        """Rho, of a zero-concentrated budget."""
        if self._rho is None:
            raise MixedCurrencyError(
                "budget",
                "rho",
                Words("in rho", "rho による予算"),
                self,
                "Convert it first: epsilon_to_rho(epsilon, delta).",
            )
        return self._rho

    def __add__(self, other: object) -> Budget:
        """Sequential composition: what both cost together."""
        if not isinstance(other, Budget):
            return NotImplemented
        self._same_currency(other, "addition")
        if self._rho is not None:
            return Budget._exactly(None, Fraction(0), self._rho + other.rho)
        return Budget._exactly(self.epsilon + other.epsilon, self._delta + other._delta, None)

    def __sub__(self, other: object) -> Budget:
        """What is left after a cost; refused where nothing is."""
        if not isinstance(other, Budget):
            return NotImplemented
        self._same_currency(other, "subtraction")
        left = self._epsilon_or_rho - other._epsilon_or_rho
        delta = self._delta - other._delta
        if left <= 0 or delta < 0:
            raise BudgetError(
                "cost", "subtraction", Words(f"less than the budget of {self}", f"予算 {self} より小さい値"), other
            )
        return Budget._exactly(None, delta, left) if self._rho is not None else Budget._exactly(left, delta, None)

    def covers(self, cost: Budget) -> bool:
        """Whether the cost can be paid from this budget."""
        self._same_currency(cost, "covers")
        return cost._epsilon_or_rho <= self._epsilon_or_rho and cost._delta <= self._delta

    def times(self, factor: Rational) -> Budget:
        """The budget multiplied by a positive number."""
        exact = exact_fraction(factor, "factor", "Budget.times", _POSITIVE, error=BudgetError)
        if exact <= 0:
            raise BudgetError("factor", "Budget.times", _POSITIVE, factor)
        return self._scaled(exact)

    @overload
    def split(self, shares: int | Sequence[Rational]) -> tuple[Budget, ...]: ...
    @overload
    def split(self, shares: Mapping[Key, Rational]) -> dict[Key, Budget]: ...
    def split(
        self, shares: int | Sequence[Rational] | Mapping[Key, Rational]
    ) -> tuple[Budget, ...] | dict[Key, Budget]:
        """Parts that add up to this budget exactly, all currencies' components alike.

        Args:
            shares: how many equal parts, or the share of each part (as a list, or as a mapping from a name). Shares
                must add up to exactly 1; use `allocate` for weights of any size.

        Raises:
            SplitError: if the shares exceed the whole, or leave a part of it out.
        """
        if isinstance(shares, Integral) and not isinstance(shares, bool):
            requirement = Words(
                f"a whole number from 1 to {MAX_PARTS}, or a list of shares",
                f"1 以上 {MAX_PARTS} 以下の整数、または割合のリスト",
            )
            parts = exact_integer(
                shares, "shares", "Budget.split", requirement, smallest=1, largest=MAX_PARTS, error=SplitError
            )
            return (self._scaled(Fraction(1, parts)),) * parts
        values = _read_shares(shares, "shares", "Budget.split")
        total = sum(values, Fraction(0))
        if total > 1:
            requirement = Words("positive numbers that add up to 1", "合計が 1 になる正の数")
            raise SplitError("shares", "Budget.split", requirement, Described("a larger sum"), "They exceed the whole.")
        if total < 1:
            raise SplitError(
                "shares",
                "Budget.split",
                Words("positive numbers that add up to 1", "合計が 1 になる正の数"),
                exact_text(total),
                f"The remaining {show_fraction(1 - total)} would be lost; add a share for it, or use allocate().",
            )
        return self._parts(shares, values)

    @overload
    def allocate(self, weights: Sequence[Rational]) -> tuple[Budget, ...]: ...
    @overload
    def allocate(self, weights: Mapping[Key, Rational]) -> dict[Key, Budget]: ...
    def allocate(self, weights: Sequence[Rational] | Mapping[Key, Rational]) -> tuple[Budget, ...] | dict[Key, Budget]:
        """Parts in proportion to weights, which add up to this budget exactly.

        Raises:
            SplitError: if a weight is not a positive number, or there are none.
        """
        values = _read_shares(weights, "weights", "Budget.allocate")
        total = sum(values, Fraction(0))
        return self._parts(weights, [value / total for value in values])

    def _parts(self, keys: object, shares: list[Fraction]) -> tuple[Budget, ...] | dict[Any, Budget]:
        parts = [self._scaled(share) for share in shares]
        return dict(zip(keys, parts, strict=True)) if isinstance(keys, Mapping) else tuple(parts)

    def _scaled(self, factor: Fraction) -> Budget:
        if self._rho is not None:
            return Budget._exactly(None, Fraction(0), self._rho * factor)
        return Budget._exactly(self.epsilon * factor, self._delta * factor, None)

    @property
    def _epsilon_or_rho(self) -> Fraction:
        return self._rho if self._rho is not None else self.epsilon

    def _same_currency(self, other: Budget, function: str) -> None:
        if (self._rho is None) != (read_budget(other, function, "cost")._rho is None):
            raise MixedCurrencyError(
                "budget",
                function,
                Words(f"in the same currency as {self}", f"{self} と同じ種類の予算"),
                other,
                "Convert one of them first: rho_to_epsilon or epsilon_to_rho.",
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budget):
            return NotImplemented
        return (self._epsilon, self._delta, self._rho) == (other._epsilon, other._delta, other._rho)

    def __hash__(self) -> int:
        return hash((self._epsilon, self._delta, self._rho))

    def __repr__(self) -> str:
        return "Budget(" + ", ".join(f"{name}={exact_text(value)}" for name, value in self._named()) + ")"

    def __str__(self) -> str:
        return ", ".join(f"{name} = {show_fraction(value)}" for name, value in self._named())

    def _named(self) -> list[tuple[str, Fraction]]:
        if self._rho is not None:
            return [("rho", self._rho)]
        return [("epsilon", self.epsilon)] + ([("delta", self._delta)] if self._delta else [])

    def __reduce__(self) -> tuple[Any, ...]:
        return (Budget._exactly, (self._epsilon, self._delta, self._rho))

    def to_dict(self) -> dict[str, str]:
        """The components as exact fractions in text, for JSON."""
        return {name: str(value) for name, value in self._named()}

    @classmethod
    def from_dict(cls, values: Mapping[str, str]) -> Budget:
        """Read what `to_dict` wrote."""
        if not isinstance(values, Mapping) or set(values) not in ({"epsilon"}, {"epsilon", "delta"}, {"rho"}):
            raise EventError(
                Words(
                    f"A budget in an event must have epsilon, epsilon and delta, or rho. Got {values!r:.80}.",
                    f"イベント中の予算には、epsilon、epsilon と delta、rho のいずれかが必要です（記載: {values!r:.80}）。",
                )
            )
        numbers = {name: read_text_fraction(value) for name, value in values.items()}
        if numbers.get("delta", 0) >= 1:
            raise EventError(
                Words(
                    f"The delta of a budget in an event must be below 1. Got {values['delta']!r:.80}.",
                    f"イベント中の予算の delta は 1 未満です（記載: {values['delta']!r:.80}）。",
                )
            )
        return cls._exactly(numbers.get("epsilon"), numbers.get("delta", Fraction(0)), numbers.get("rho"))


def read_budget(value: object, function: str, parameter: str = "budget") -> Budget:
    """A budget that a caller handed in."""
    if not isinstance(value, Budget):
        got = Described(f"an object of type {type(value).__name__}")
        raise BudgetError(parameter, function, "a Budget, such as Budget(epsilon=1)", got)
    return value


def read_text_fraction(text: object) -> Fraction:
    """A positive exact number as `str(Fraction)` writes it, and in no other spelling."""
    if isinstance(text, str) and len(text) <= MAX_TEXT_LENGTH and _WRITTEN_FRACTION.fullmatch(text):
        number = Fraction(text)
        if str(number) == text:
            return number
    raise EventError(
        Words(
            f"A number in an event must be positive and written like '3' or '1/10'. Got {shown(text)!r}.",
            f"イベント中の数は正の数で、'3' や '1/10' のように書きます（記載: {shown(text)!r}）。",
        )
    )


def _positive(value: object, name: str) -> Fraction:
    requirement = _DELTA if name == "delta" else _POSITIVE
    number = exact_fraction(value, name, "Budget", requirement, error=BudgetError)
    if number <= 0:
        raise BudgetError(name, "Budget", requirement, value)
    return number


def _read_shares(values: object, parameter: str, function: str) -> list[Fraction]:
    requirement = "positive, finite numbers"
    items = list(values.values()) if isinstance(values, Mapping) else values
    if isinstance(items, (str, bytes)) or not isinstance(items, Sequence) or len(items) == 0:
        raise SplitError(parameter, function, requirement + ", at least one", shown(values))
    shares = [exact_fraction(item, parameter, function, requirement, error=SplitError) for item in items]
    if min(shares) <= 0:
        raise SplitError(parameter, function, requirement, min(shares))
    return shares
