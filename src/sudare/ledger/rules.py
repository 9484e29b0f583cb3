"""The rules by which the costs of a data set add up to its total.

- **Sums** (`Sums`): epsilons and deltas, or rhos, as they are.
- **A rho filter** (`RhoFilter`), for a total in (epsilon, delta): delta is split once into a part for the conversion and a
  reserve. Every release counts as a rho, the sum of which stays below the rho that converts to the total's epsilon; only
  releases with a delta of their own draw on the reserve. Many small releases then cost much less than their epsilons add
  up to, also where each is chosen after seeing the results before.

Proof: ``filters.md`` beside this file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import ClassVar

from sudare.bilingual import Words
from sudare.errors import LedgerError, ParameterError
from sudare.ledger.amounts import NOTHING, Amount, charge_of
from sudare.parameters import Rational, exact_fraction
from sudare.privacy.budget import Budget, read_text_fraction
from sudare.privacy.conversion import epsilon_to_rho, rho_to_epsilon
from sudare.privacy.measurements import Measurement

__all__ = ["CompositionRule", "Cost", "RhoFilter", "Sums", "amount_of_noise", "total_charge"]

STANDARD_RESERVE = Fraction(1, 2)
"""Of delta. Half of it costs the conversion a few percent of its rho; releases with thresholds need a reserve."""

Cost = tuple[Budget, Amount | None]
"""What a release states, and what its noise implies where that is known."""

SHOWN_DIGITS = 6
MIN_SHOWN = Fraction(1, 10**30)


class CompositionRule(ABC):
    """What a cost takes from a total, and what may be taken altogether."""

    total: Budget
    _mark: ClassVar[str] = ""

    @property
    @abstractmethod
    def limit(self) -> Amount:
        """All that charges may add up to."""

    @abstractmethod
    def charge(self, cost: Budget, dataset: str, noise: Amount | None = None) -> Amount:
        """What a cost takes.

        Args:
            cost: what a release states.
            dataset: whose total, for errors.
            noise: what its measurements imply (`amount_of_noise`), where they are known.

        Raises:
            LedgerError: if costs of this kind do not add up to this total.
        """

    @abstractmethod
    def to_budget(self, amount: Amount) -> Budget | None:
        """An amount as a budget; None where there is nothing in it."""

    def to_text(self, amount: Amount) -> str:
        """An amount as it stands in the tables. Each rule has a spelling of its own: none is read by another."""
        return self._mark + amount.to_text()

    def from_text(self, text: object) -> Amount:
        """Read what `to_text` wrote.

        Raises:
            ValueError: if the text is anything else.
        """
        if not isinstance(text, str) or not text.startswith(self._mark):
            raise ValueError("not an amount of this rule")
        return Amount.from_text(text.removeprefix(self._mark))


@dataclass(frozen=True)
class Sums(CompositionRule):
    """Costs add up as they are."""

    total: Budget

    @property
    def limit(self) -> Amount:
        """The total."""
        return Amount.of(self.total)

    def charge(self, cost: Budget, dataset: str, noise: Amount | None = None) -> Amount:
        """The cost itself; rho = epsilon**2 / 2 for a pure epsilon under a total in rho."""
        return charge_of(cost, self.total, dataset)

    def to_budget(self, amount: Amount) -> Budget | None:
        """In the total's currency."""
        return amount.to_budget(self.total)


@dataclass(frozen=True)
class RhoFilter(CompositionRule):
    """Costs add up as rhos, up to the rho that gives the total's epsilon at a part of its delta.

    Guarantee: everything that is charged together is (epsilon, delta)-differentially private, also if each release is
    chosen after seeing the results of those before.

    Args:
        total: an epsilon and a delta.
        rho: what the rhos may add up to.
        conversion_delta: the part of the total's delta at which that rho gives the total's epsilon. The rest is the
            reserve, for releases with a delta of their own.

    Raises:
        ValueError: if the rho does not give the total's epsilon, or the delta is not a part of the total's.

    References:
        Bun, Steinke 2016, Section 8; Feldman, Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023.

    Example:
        >>> from sudare import Budget
        >>> rule = RhoFilter.for_total(Budget(epsilon=1, delta=1e-6))
        >>> int(rule.rho / rule.charge(Budget(epsilon=0.01), "census").main)  # under sums: 100
        458
    """

    total: Budget
    rho: Fraction
    conversion_delta: Fraction
    _mark: ClassVar[str] = "rho "

    def __post_init__(self) -> None:
        if self.total.currency != "epsilon-delta" or not 0 < self.conversion_delta <= self.total.delta:
            raise ValueError("not a part of the total's delta")
        if not self.rho > 0 or not _gives(self.rho, self.total.epsilon, self.conversion_delta):
            raise ValueError("not a rho that gives the total's epsilon")

    @classmethod
    def for_total(cls, total: Budget, reserve: Rational | None = None, function: str = "add_dataset") -> RhoFilter:
        """The filter with the largest rho.

        Args:
            total: an epsilon and a delta.
            reserve: the part of delta for releases with a delta of their own; by default half of it.
            function: who asks, for errors.

        Raises:
            LedgerError: if the total has no delta, or is too small to be converted.
            ParameterError: if the reserve is not a part of the total's delta.
        """
        if total.currency != "epsilon-delta":
            raise LedgerError(
                f"A rho filter needs a total with an epsilon and a delta, not {total}: without a delta nothing converts. "
                "Give both, or leave the filter out.",
                f"ローのフィルターにはイプシロンとデルタの総予算が必要です（{total} は不可）。"
                "両方を指定するか、フィルターを使わないでください。",
            )
        requirement = Words(
            f"a number from 0 to below the total's delta of {total.delta}",
            f"0 以上、総予算の delta = {total.delta} 未満の数",
        )
        kept = STANDARD_RESERVE * total.delta
        if reserve is not None:
            kept = exact_fraction(reserve, "reserve", function, requirement)
            if not 0 <= kept < total.delta:
                raise ParameterError("reserve", function, requirement, reserve)
        try:
            rho = _largest_rho(total.epsilon, total.delta - kept)
        except ParameterError:
            rho = Fraction(0)
        if rho <= 0:
            raise LedgerError(
                f"No rho gives a total of {total}. Give a larger delta, or leave the filter out.",
                f"総予算 {total} を与えるローがありません。デルタを大きくするか、フィルターを使わないでください。",
            )
        return cls(total, rho, total.delta - kept)

    @classmethod
    def from_dict(cls, total: Budget, values: Mapping[str, str]) -> RhoFilter:
        """Read what `to_dict` wrote."""
        if set(values) != {"rho", "conversion_delta"}:
            raise ValueError("not a rho filter")
        return cls(total, read_text_fraction(values["rho"]), read_text_fraction(values["conversion_delta"]))

    def to_dict(self) -> dict[str, str]:
        """The numbers as exact fractions in text, for JSON; the total stands elsewhere."""
        return {"rho": str(self.rho), "conversion_delta": str(self.conversion_delta)}

    @property
    def reserve(self) -> Fraction:
        """The part of delta for releases with a delta of their own."""
        return self.total.delta - self.conversion_delta

    @property
    def limit(self) -> Amount:
        """The rho, and the reserve."""
        return Amount(self.rho, self.reserve)

    def charge(self, cost: Budget, dataset: str, noise: Amount | None = None) -> Amount:
        """Rho as it is; epsilon**2 / 2 for an epsilon, and its delta, if it has one, from the reserve.

        What the noise implies, where that is known and less.
        """
        stated = Amount(cost.rho) if cost.currency == "rho" else Amount(cost.epsilon**2 / 2, cost.delta)
        return noise if noise is not None and noise.fits(stated) else stated

    def to_budget(self, amount: Amount) -> Budget | None:
        """The rho of it."""
        return Budget.from_dict({"rho": str(amount.main)}) if amount.main > 0 else None

    def in_epsilon(self, committed: Amount) -> Budget | None:
        """The (epsilon, delta) of charges, had they been fixed beforehand; None if there are none.

        For people to read: what holds whatever happened is the total.
        """
        if committed.main <= 0 and committed.delta <= 0:
            return None
        # Not above the total's, which holds too and may be less in the last digit; and a budget has an epsilon above 0.
        epsilon = min(rho_to_epsilon(max(committed.main, MIN_SHOWN), self.conversion_delta), self.total.epsilon)
        epsilon = max(epsilon, MIN_SHOWN)
        return Budget.from_dict({"epsilon": str(epsilon), "delta": str(self.conversion_delta + committed.delta)})

    def next_epsilon(self, left: Amount) -> Fraction | None:
        """The largest epsilon of a single pure release that fits into what is left, to six digits; None if none does."""
        if left.main <= 0:
            return None
        scale = 10**60
        root = Fraction(isqrt(int(2 * left.main * scale * scale)), scale)
        short = Context(prec=SHOWN_DIGITS, rounding=ROUND_FLOOR)
        rounded = Fraction(short.divide(Decimal(root.numerator), Decimal(root.denominator)))
        return rounded if rounded > 0 else None


def amount_of_noise(measurements: Iterable[Measurement]) -> Amount:
    """What the noise of a release implies: the rhos of its measurements, and their own deltas."""
    every = tuple(measurements)
    return Amount(sum((one.rho for one in every), Fraction(0)), sum((one.delta for one in every), Fraction(0)))


def total_charge(rule: CompositionRule, dataset: str, costs: Iterable[Cost]) -> Amount:
    """What costs, from the first on, take under a rule."""
    return sum((rule.charge(cost, dataset, noise) for cost, noise in costs), NOTHING)


@lru_cache(maxsize=256)
def _largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    return epsilon_to_rho(epsilon, delta)


@lru_cache(maxsize=256)
def _gives(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    try:
        return rho <= _largest_rho(epsilon, delta) or rho_to_epsilon(rho, delta) <= epsilon
    except ParameterError:
        return False
