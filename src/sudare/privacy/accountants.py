"""Accountants: the total cost of a sequence of releases.

All keep the same contract. `add` checks an event completely before it records it, so that a refused event leaves no
trace; the total never falls, and does not depend on the order. They differ in the guarantee they can state, and in
how tight they are:

| accountant | takes | total |
|---|---|---|
| `PureAccountant` | events with a pure epsilon, without delta | sum of epsilons |
| `ApproximateAccountant` | events charged in epsilon or (epsilon, delta) | sums of epsilons and of deltas |
| `ZcdpAccountant` | every event | sum of rhos, converted; pure epsilons added to that where it is better |
| `PldAccountant` | every event | numerical composition of the privacy loss distributions |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from fractions import Fraction

from sudare.bilingual import Words
from sudare.errors import EventError, GuaranteeError, NotPrivateError, ParameterError
from sudare.parameters import Rational, exact_fraction, shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion, rho_to_epsilon
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement

__all__ = ["Accountant", "ApproximateAccountant", "PldAccountant", "PureAccountant", "ZcdpAccountant"]


class Accountant(ABC):
    """Adds up release events about the same units of protection."""

    def __init__(self) -> None:
        self._events: list[ReleaseEvent] = []

    @property
    def events(self) -> tuple[ReleaseEvent, ...]:
        """Everything recorded so far, in order."""
        return tuple(self._events)

    def add(self, event: ReleaseEvent) -> None:
        """Record an event.

        Raises:
            EventError: if it is no release event.
            NotPrivateError: if it was drawn from research entropy.
            GuaranteeError: if this accountant cannot account for it, or it protects another unit than those before.
        """
        if type(event) is not ReleaseEvent:
            raise EventError(
                Words(
                    f"An accountant takes release events. Got an object of type {type(event).__name__}.",
                    f"会計に加えられるのは公表イベントだけです（指定: {type(event).__name__} 型の値）。",
                )
            )
        if not event.is_private:
            raise NotPrivateError(
                Words(
                    f"The result of {event.mechanism!r} was drawn from research entropy: "
                    "it is not private and has no cost to add.",
                    f"{event.mechanism!r} の結果は研究用の乱数から引かれたもので、プライバシーは保護されず、"
                    "加える費用もありません。",
                )
            )
        protected = _unit_words(event)
        if self._events and protected != (before := _unit_words(self._events[0])):
            raise GuaranteeError(
                Words(
                    f"{event.mechanism!r} protects {protected}, the events before it {before}: their costs do not add up.",
                    f"{event.mechanism!r} と、それより前のイベントでは保護の単位が異なるため、"
                    f"費用を合算できません（{protected} / {before}）。",
                )
            )
        self._check(event)
        self._events.append(event)

    def epsilon(self, delta: Rational | None = None) -> Fraction:
        """The epsilon that all events together guarantee, at a delta or (left out) pure; 0 before the first event.

        Raises:
            GuaranteeError: if there is no such guarantee.
        """
        if delta is None:
            exact = Fraction(0)
        else:
            requirement = "a number strictly between 0 and 1, or left out for pure epsilon"
            exact = exact_fraction(delta, "delta", "epsilon", requirement)
            if not 0 < exact < 1:
                raise ParameterError("delta", "epsilon", requirement, delta)
        return self._epsilon(exact) if self._events else Fraction(0)

    @abstractmethod
    def _check(self, event: ReleaseEvent) -> None:
        """Refuse an event that this accountant cannot account for."""

    @abstractmethod
    def _epsilon(self, delta: Fraction) -> Fraction: ...

    def _measurements(self) -> list[Measurement]:
        return [measurement for event in self._events for measurement in event.measurements]

    def _from_sums(self, delta: Fraction, conversion: Conversion) -> Fraction:
        """The better of two sums: all in rho, converted; or epsilons added to the conversion of the rest.

        The deltas of the measurements themselves are taken from the delta first.
        """
        measurements = self._measurements()
        left = self._left_of(delta)
        rest = sum((m.rho for m in measurements if m.epsilon is None), Fraction(0))
        pure = sum((m.epsilon for m in measurements if m.epsilon is not None), Fraction(0))
        everything = sum((m.rho for m in measurements), Fraction(0))
        if left == 0:
            if rest:
                raise GuaranteeError(
                    Words(
                        "The deltas of the measurements leave nothing of the delta; ask at a larger one.",
                        "測定の delta だけで delta を使い切ります。より大きい delta で求めてください。",
                    )
                )
            return pure
        converted_rest = rho_to_epsilon(rest, left, conversion) if rest else Fraction(0)
        return min(rho_to_epsilon(everything, left, conversion), pure + converted_rest) if everything else pure

    def _left_of(self, delta: Fraction) -> Fraction:
        """What the measurements' own deltas leave of a delta."""
        own = sum((measurement.delta for measurement in self._measurements()), Fraction(0))
        if own > delta:
            raise GuaranteeError(
                Words(
                    f"The deltas of the measurements add up to {float(own):g}; ask for the epsilon at a delta of at least that.",
                    f"測定の delta の合計は {float(own):g} です。それ以上の delta で epsilon を求めてください。",
                )
            )
        return delta - own

    def _pure_epsilon(self) -> Fraction:
        total = Fraction(0)
        for event in self._events:
            for measurement in event.measurements:
                if measurement.epsilon is None or measurement.delta:
                    raise GuaranteeError(
                        Words(
                            f"{event.mechanism!r} has no pure epsilon; ask for the epsilon at a delta.",
                            f"{event.mechanism!r} に純粋な epsilon はありません。delta を指定して epsilon を求めてください。",
                        )
                    )
                total += measurement.epsilon
        return total


class PureAccountant(Accountant):
    """Pure epsilon: the sum.

    Example:
        >>> from sudare import Budget
        >>> from sudare.noise import report_noisy_max
        >>> from sudare.privacy import PureAccountant
        >>> accountant = PureAccountant()
        >>> for _ in range(3):
        ...     accountant.add(report_noisy_max([3, 5, 4], Budget(epsilon=0.1))[1])
        >>> accountant.epsilon()
        Fraction(3, 10)
    """

    def _check(self, event: ReleaseEvent) -> None:
        if any(measurement.epsilon is None or measurement.delta for measurement in event.measurements):
            raise GuaranteeError(
                Words(
                    f"{event.mechanism!r} has no pure epsilon; use an ApproximateAccountant, ZcdpAccountant or PldAccountant.",
                    f"{event.mechanism!r} に純粋な epsilon はありません。ApproximateAccountant、"
                    "ZcdpAccountant、PldAccountant のいずれかを使ってください。",
                )
            )

    def _epsilon(self, delta: Fraction) -> Fraction:
        return self._pure_epsilon()


class ApproximateAccountant(Accountant):
    """The plain sums of the charged epsilons and deltas.

    Example:
        >>> from sudare import Budget
        >>> from sudare.noise import exponential_mechanism
        >>> from sudare.privacy import ApproximateAccountant
        >>> accountant = ApproximateAccountant()
        >>> accountant.add(exponential_mechanism([3, 5, 4], Budget(epsilon=0.1))[1])
        >>> accountant.total()
        Budget(epsilon=0.1)
    """

    def _check(self, event: ReleaseEvent) -> None:
        if event.cost.currency == "rho":
            raise GuaranteeError(
                Words(
                    f"{event.mechanism!r} is charged in rho; use a ZcdpAccountant or a PldAccountant.",
                    f"{event.mechanism!r} の費用は rho です。ZcdpAccountant か PldAccountant を使ってください。",
                )
            )
        if sum((e.cost.delta for e in self._events), event.cost.delta) >= 1:
            raise GuaranteeError(
                Words(
                    f"With {event.mechanism!r} the deltas add up to 1: nothing would be guaranteed.",
                    f"{event.mechanism!r} を加えると delta の合計が 1 に達し、何も保証されなくなります。",
                )
            )

    def total(self) -> Budget | None:
        """All charges together; None before the first event."""
        costs = [event.cost for event in self._events]
        return sum(costs[1:], costs[0]) if costs else None

    def _epsilon(self, delta: Fraction) -> Fraction:
        total = self.total()
        if total is None or total.delta > delta:
            charged = float(total.delta) if total else 0.0
            raise GuaranteeError(
                Words(
                    f"The deltas charged add up to {charged:g}; ask for the epsilon at a delta of at least that.",
                    f"使用済みの delta の合計は {charged:g} です。それ以上の delta で epsilon を求めてください。",
                )
            )
        return total.epsilon


class ZcdpAccountant(Accountant):
    """Zero-concentrated differential privacy: the sum of the rhos.

    Args:
        conversion: how rho is turned into epsilon at a delta.

    Example:
        >>> from sudare import Budget
        >>> from sudare.noise import exponential_mechanism
        >>> from sudare.privacy import ZcdpAccountant
        >>> accountant = ZcdpAccountant()
        >>> accountant.add(exponential_mechanism([3, 5, 4], Budget(epsilon=0.4))[1])
        >>> accountant.rho()
        Fraction(1, 50)
    """

    def __init__(self, conversion: Conversion = "optimal") -> None:
        super().__init__()
        if not isinstance(conversion, str) or conversion not in ("simple", "optimal"):
            raise ParameterError(
                "conversion",
                "ZcdpAccountant",
                Words("'simple' or 'optimal'", "'simple' または 'optimal'"),
                shown(conversion),
            )
        self._conversion: Conversion = conversion

    def _check(self, event: ReleaseEvent) -> None:
        """Every event has a rho."""

    def rho(self) -> Fraction:
        """All costs in rho together, apart from `delta`; 0 before the first event."""
        return sum((m.rho for m in self._measurements()), Fraction(0))

    def delta(self) -> Fraction:
        """The probability with which the rho may fail: the sum of the deltas that measurements have of their own."""
        return sum((m.delta for m in self._measurements()), Fraction(0))

    def _epsilon(self, delta: Fraction) -> Fraction:
        if delta == 0:
            return self._pure_epsilon()
        return self._from_sums(delta, self._conversion)


class PldAccountant(Accountant):
    """Numerical composition of privacy loss distributions, by ``dp-accounting``, or a sum where that is tighter.

    Holds for releases whose noise was fixed beforehand. Where a later release's noise was chosen after seeing an earlier
    result, use the sums of the other accountants, which hold for that too.

    Example:
        >>> from sudare import Budget, ReleaseEvent, Unit
        >>> from sudare.privacy import GaussianMeasurement, PldAccountant, sensitivity_of_counts
        >>> unit, budget = Unit("person"), Budget(rho=0.1)
        >>> noise = GaussianMeasurement.for_budget(budget, sensitivity_of_counts(unit))
        >>> accountant = PldAccountant()
        >>> accountant.add(ReleaseEvent("gaussian", unit, budget, (noise,), "secure"))
        >>> round(float(accountant.epsilon(1e-6)), 1)
        2.0
    """

    def _check(self, event: ReleaseEvent) -> None:
        """Every event has a privacy loss distribution."""

    def _epsilon(self, delta: Fraction) -> Fraction:
        if delta == 0:
            return self._pure_epsilon()
        from sudare.privacy.pld import epsilon_of_measurements

        from_sums = self._from_sums(delta, "optimal")
        with suppress(GuaranteeError):  # beyond double precision the sums still hold
            return min(from_sums, epsilon_of_measurements(self._measurements(), self._left_of(delta)))
        return from_sums


def _unit_words(event: ReleaseEvent) -> str:
    return f"a {event.unit.who} under {event.unit.adjacency}"
