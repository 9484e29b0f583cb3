"""Sums of costs in the currency of a data set's total, exact, and zero where nothing was spent.

A total in epsilon takes pure epsilon costs; one in (epsilon, delta) takes both kinds of epsilon costs; one in rho takes
rho, and pure epsilon as epsilon**2 / 2. Nothing else adds up.

Sums are exact fractions. Only where thousands of costs with unrelated denominators would make a number of more than 300
digits, the sum is rounded up, by less than 10**-60: a sum never counts too little, and a ledger never chokes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sudare.errors import LedgerError
from sudare.privacy.budget import Budget

__all__ = ["NOTHING", "Amount", "charge_of"]

MAX_EXACT_DENOMINATOR = 10**300
ROUNDED_DENOMINATOR = 10**60
MAX_TEXT_LENGTH = 4000
_WRITTEN = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?")

_HINTS = {
    "epsilon": (
        "plan the release in pure epsilon (Laplace noise), or keep the data under a total with delta or in rho",
        "純粋なイプシロン（ラプラスノイズ）で計画するか、デルタつきまたはローの総予算を持つデータセットをお使いください",
    ),
    "epsilon-delta": (
        "plan the release in epsilon and delta; rho_to_epsilon(rho, delta) tells what a rho means",
        "イプシロンとデルタで計画してください。ローの換算は rho_to_epsilon(rho, delta) で求められます",
    ),
    "rho": (
        "plan the release in rho or in pure epsilon; epsilon_to_rho(epsilon, delta) tells what a pair means",
        "ローまたは純粋なイプシロンで計画してください。換算は epsilon_to_rho(epsilon, delta) で求められます",
    ),
}


@dataclass(frozen=True)
class Amount:
    """A sum of costs: epsilon or rho, and delta.

    Example:
        >>> from fractions import Fraction
        >>> (Amount(Fraction(1, 10)) + Amount(Fraction(2, 10))).to_text()
        '3/10 0'
    """

    main: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Amount) -> Amount:
        return Amount(_kept_short(self.main + other.main), _kept_short(self.delta + other.delta))

    def __sub__(self, other: Amount) -> Amount:
        """What is left of an open sum once a part of it is closed."""
        return Amount(_kept_short(self.main - other.main), _kept_short(self.delta - other.delta))

    def fits(self, limit: Amount) -> bool:
        """Whether the limit covers this amount in every component."""
        return self.main <= limit.main and self.delta <= limit.delta

    def to_text(self) -> str:
        """Both numbers, exactly."""
        return f"{self.main} {self.delta}"

    @classmethod
    def from_text(cls, text: object) -> Amount:
        """Read what `to_text` wrote.

        Raises:
            ValueError: if the text is anything else.
        """
        parts = text.split(" ") if isinstance(text, str) and len(text) <= MAX_TEXT_LENGTH else []
        if len(parts) != 2 or not all(_WRITTEN.fullmatch(part) for part in parts):
            raise ValueError("not an amount")
        amount = cls(Fraction(parts[0]), Fraction(parts[1]))
        if amount.to_text() != text:
            raise ValueError("not an amount in its shortest form")
        return amount

    @classmethod
    def of(cls, budget: Budget) -> Amount:
        """The numbers of a budget."""
        if budget.currency == "rho":
            return cls(budget.rho)
        return cls(budget.epsilon, budget.delta)

    def to_budget(self, total: Budget) -> Budget | None:
        """The amount as a budget in a total's currency; None where there is no epsilon or rho in it."""
        if self.main <= 0:
            return None
        if total.currency == "rho":
            return Budget.from_dict({"rho": str(self.main)})
        delta = {"delta": str(self.delta)} if self.delta > 0 else {}
        return Budget.from_dict({"epsilon": str(self.main)} | delta)


NOTHING = Amount(Fraction(0))


def charge_of(cost: Budget, total: Budget, dataset: str) -> Amount:
    """What a cost takes from a total.

    Raises:
        LedgerError: if costs of this kind do not add up to a total of that kind.

    Example:
        >>> from sudare import Budget
        >>> charge_of(Budget(epsilon=0.2), Budget(rho=1), "census").main
        Fraction(1, 50)
    """
    paid, asked = total.currency, cost.currency
    if paid == asked or (paid, asked) == ("epsilon-delta", "epsilon"):
        return Amount.of(cost)
    if (paid, asked) == ("rho", "epsilon"):
        # Bun and Steinke 2016, Proposition 1.4.
        return Amount(cost.epsilon**2 / 2)
    english, japanese = _HINTS[paid]
    raise LedgerError(
        f"The data set {dataset!r} has a total of {total}; a cost of {cost} cannot be taken from it: {english}.",
        f"データセット {dataset!r} の総予算は {total} です。{cost} という費用は差し引けません。{japanese}。",
    )


def _kept_short(number: Fraction) -> Fraction:
    if number.denominator < MAX_EXACT_DENOMINATOR:
        return number
    return Fraction(ceil(number * ROUNDED_DENOMINATOR), ROUNDED_DENOMINATOR)
