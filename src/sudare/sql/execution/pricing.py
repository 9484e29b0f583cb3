"""What a query costs and how accurate it will be, before it is asked; and what was spent. No row is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.errors import GuaranteeError, ParameterError
from sudare.ledger.entries import Settled
from sudare.ledger.rules import amount_of_noise
from sudare.parameters import Rational, exact_fraction, shown
from sudare.privacy.accountants import Accountant, PldAccountant, ZcdpAccountant
from sudare.privacy.budget import WEAK_EPSILON, Budget
from sudare.privacy.conversion import rho_to_epsilon
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, SelectionMeasurement
from sudare.sql.execution.charging import Accounts, QueryCharge
from sudare.sql.measures.allocating import Noise, Share, allocate
from sudare.sql.measures.measures import QuantileMeasure
from sudare.sql.measures.outputs import Output, outputs_of
from sudare.sql.measures.planning import QueryPlan

if TYPE_CHECKING:
    from sudare.sql.execution.connection import Prepared

__all__ = [
    "BatchPrice",
    "ColumnPrice",
    "MeasurePrice",
    "Price",
    "epsilon_for",
    "price_batch",
    "price_of",
    "price_query",
    "priced_columns",
    "spending",
]

MIN_POWER = -12
"""Epsilons of three digits are looked for from 100 times ten to this power on, up to the weakest."""


@dataclass(frozen=True)
class MeasurePrice:
    """One measured number behind a column.

    Attributes:
        what: the aggregate as the query has it.
        mechanism: ``"laplace"``, ``"gaussian"`` or ``"exponential"``.
        scale: of the noise: b of Laplace noise, sigma of Gaussian noise, in the units of the number; None for a choice.
        error: how far it may be off with probability 0.95; for a quantile, in rows.
        unit_of_error: ``"value"``, or ``"rows"``.
        budget: its part of the cost.
    """

    what: str
    mechanism: str
    scale: float | None
    error: Fraction
    unit_of_error: str
    budget: Budget


@dataclass(frozen=True)
class ColumnPrice:
    """A column of an answer before it is asked.

    Attributes:
        name: of the column.
        measures: the measured numbers that it is calculated from; empty for keys and for public numbers.
        error: how far it may be off with probability 0.95, where this is known beforehand: for counts and sums as they
            are, and quantiles, in rows. A calculation with several, such as a mean, depends on the numbers themselves.
    """

    name: str
    measures: tuple[MeasurePrice, ...]
    error: Fraction | None


@dataclass(frozen=True)
class Price(ShownRows):
    """What a query costs and how accurate it will be.

    Attributes:
        columns: of its answer.
        cost: what would be charged; None if nothing: only public tables are asked, or it was answered before.
        is_answered: whether the very same query was answered before.
        is_allowed: whether the budgets allow it.
        remaining: what each account would have left (the data set's first); what it has if the query is not allowed.
        thresholds: what the noisy number of units in a group must reach so that it is published, where keys are not public.
    """

    columns: tuple[ColumnPrice, ...]
    cost: Budget | None
    is_answered: bool
    is_allowed: bool
    remaining: tuple[Budget | None, ...]
    thresholds: tuple[int, ...]

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each measured number behind a column: its noise, error and part of the cost."""
        listed = [(column, one) for column in self.columns for one in column.measures]
        return {
            "column": [column.name for column, _ in listed],
            "what": [one.what for _, one in listed],
            "mechanism": [one.mechanism for _, one in listed],
            "scale": [one.scale for _, one in listed],
            "error": [one.error for _, one in listed],
            "unit_of_error": [one.unit_of_error for _, one in listed],
            "budget": [str(one.budget) for _, one in listed],
        }


@dataclass(frozen=True)
class BatchPrice(ShownRows):
    """What several queries cost together.

    Attributes:
        costs: of each; None for those that are free.
        is_allowed: whether the budgets allow all of them.
        remaining: what each account would have left afterwards; what it has if they are not allowed.
    """

    costs: tuple[Budget | None, ...]
    is_allowed: bool
    remaining: tuple[Budget | None, ...]

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each query, with what it costs; no cost where it is free."""
        return {
            "query": list(range(1, len(self.costs) + 1)),
            "cost": [None if cost is None else str(cost) for cost in self.costs],
        }

    @property
    def total(self) -> Budget | None:
        """All of it together; None if all is free. Only where all costs are in one currency.

        Raises:
            MixedCurrencyError: where they are not; `remaining` tells all the same.
        """
        paid = [cost for cost in self.costs if cost is not None]
        return sum(paid[1:], paid[0]) if paid else None


def price_query(prepared: Prepared, accounts: Accounts, desk: QueryCharge) -> Price:
    """What a query costs.

    Args:
        prepared: the query.
        accounts: who would pay.
        desk: where it would be answered.

    Raises:
        LedgerError: if costs of this kind cannot be taken from an account.
    """
    batch = price_batch([prepared], accounts, desk)
    allocation = prepared.allocation
    return Price(
        columns=priced_columns(prepared.plan, allocation.shares),
        cost=batch.costs[0],
        is_answered=allocation.cost is not None and batch.costs[0] is None,
        is_allowed=batch.is_allowed,
        remaining=batch.remaining,
        thresholds=tuple(allocation.thresholds.values()),
    )


def price_batch(queries: Sequence[Prepared], accounts: Accounts, desk: QueryCharge) -> BatchPrice:
    """What several queries cost together; what was answered before, or stands among them before, is free."""
    seen: set[str] = set()
    costs: list[Budget | None] = []
    for prepared in queries:
        cost = prepared.allocation.cost
        if cost is not None:
            fingerprint = desk.fingerprint(prepared.plan, prepared.budget, prepared.noise, prepared.joins)
            if fingerprint in seen or desk.is_answered(fingerprint):
                cost = None
            seen.add(fingerprint)
        costs.append(cost)
    charged = [
        (cost, amount_of_noise(prepared.allocation.measurements))
        for cost, prepared in zip(costs, queries, strict=True)
        if cost is not None
    ]
    balances = accounts.balances()
    now = tuple(balance.remaining for balance in balances)
    left: list[Budget | None] = []
    for balance in balances:
        rest = balance.after(charged)
        if rest is None:
            return BatchPrice(tuple(costs), False, now)
        left.append(balance.rule.to_budget(rest))
    return BatchPrice(tuple(costs), True, tuple(left))


def priced_columns(plan: QueryPlan, shares: dict[tuple[str, str], Share]) -> tuple[ColumnPrice, ...]:
    """The columns of a plan's answer, with the noise that each gets."""
    return tuple(_column(output, shares) for output in outputs_of(plan))


def _column(output: Output, shares: dict[tuple[str, str], Share]) -> ColumnPrice:
    found = [shares[measured] for measured in output.measures if measured in shares]
    error = found[0].error if output.is_direct and len(found) == 1 else None
    return ColumnPrice(output.name, tuple(map(price_of, found)), error)


def price_of(share: Share) -> MeasurePrice:
    """The noise of one measure."""
    measurement = share.measurement
    if isinstance(share.measure, QuantileMeasure):
        return MeasurePrice(share.measure.what, "exponential", None, share.error, "rows", share.budget)
    mechanism, scale = "laplace", None
    unit = float(Fraction(10**share.measure.coarse, 10**share.measure.scale))
    if share.scale is not None:
        scale = float(share.scale) * unit
    elif isinstance(measurement, LaplaceMeasurement):
        scale = float(measurement.scale) * unit
    elif isinstance(measurement, GaussianMeasurement):
        mechanism, scale = "gaussian", float(measurement.sigma_squared) ** 0.5 * unit
    elif isinstance(measurement, SelectionMeasurement):
        mechanism = "exponential"
    return MeasurePrice(share.measure.what, mechanism, scale, share.error, "value", share.budget)


def epsilon_for(
    plan: QueryPlan,
    column: str,
    error: Rational,
    delta: Rational | None,
    noise: Noise,
    groups: Mapping[str, int] | None = None,
) -> Fraction:
    """The smallest epsilon of three digits for which a column's error is small enough.

    Raises:
        ParameterError: if there is no such column, or its error is not known beforehand.
        GuaranteeError: if no epsilon that protects anybody is enough.
    """
    wanted = exact_fraction(error, "error", "epsilon_for", Words("a positive number", "0 より大きい数"))
    if wanted <= 0:
        raise ParameterError("error", "epsilon_for", Words("a positive number", "0 より大きい数"), error)
    outputs = {output.name: output for output in outputs_of(plan)}
    output = outputs.get(column)
    if output is None:
        raise ParameterError(
            "column",
            "epsilon_for",
            Words(f"one of {', '.join(outputs)}", f"{', '.join(outputs)} のいずれか"),
            shown(column),
        )
    if not output.is_direct:
        raise ParameterError(
            "column",
            "epsilon_for",
            Words("a count, a sum or a quantile as it is", "件数、合計、分位点そのもの"),
            column,
            "The error of a key is none; that of a calculation depends on the numbers: ask for its counts and sums.",
        )

    def is_enough(epsilon: Fraction) -> bool:
        numbers = {"epsilon": str(epsilon)} | ({} if not delta else {"delta": str(_fraction(delta))})
        budget = Budget.from_dict(numbers)
        try:
            allocation = allocate(plan, budget, noise, groups)
        except ParameterError:  # noise that follows the data cannot be had for the smallest epsilons
            return False
        return allocation.shares[output.measures[0]].error <= wanted

    low, high = 0, 900 * -(MIN_POWER + 1) + 10 * WEAK_EPSILON - 100
    if not is_enough(_three_digits(high)):
        raise GuaranteeError(
            Words(
                f"An error of {float(wanted):g} for {column!r} would take more than epsilon = {WEAK_EPSILON}, "
                "which protects nobody; ask for less.",
                f"{column!r} の誤差を {float(wanted):g} にするには epsilon = {WEAK_EPSILON} を超える予算が必要で、"
                "誰も保護されません。誤差を大きくしてください。",
            )
        )
    while low < high:
        middle = (low + high) // 2
        if is_enough(_three_digits(middle)):
            high = middle
        else:
            low = middle + 1
    return _three_digits(low)


def _three_digits(number: int) -> Fraction:
    """The numbers with three digits, in order: 1.00e-10, 1.01e-10, ..."""
    power, digits = divmod(number, 900)
    return Fraction(100 + digits) * Fraction(10) ** (MIN_POWER + power)


def _fraction(number: Rational) -> Fraction:
    return exact_fraction(number, "delta", "epsilon_for", Words("a number between 0 and 1", "0 と 1 の間の数"))


def spending(accounts: Accounts, accounting: str, delta: Rational | None) -> Budget | None:
    """What was spent on the data set; see `sudare.sql.execution.connection.Connection.spent`.

    What was reserved and never settled counts in full, beside what is composed.
    """
    balance = accounts.balances()[0]
    if accounting == "ledger":
        parts = [part for part in (balance.spent, balance.reserved) if part is not None]
        return sum(parts[1:], parts[0]) if parts else None
    if accounting not in ("zcdp", "pld"):
        raise ParameterError(
            "accounting",
            "spent",
            Words("'ledger', 'zcdp' or 'pld'", "'ledger'、'zcdp'、'pld' のいずれか"),
            shown(accounting),
        )
    requirement = Words("given with 'zcdp' and 'pld', between 0 and 1", "'zcdp' と 'pld' では 0 と 1 の間の値")
    if delta is None:
        raise ParameterError("delta", "spent", requirement, delta)
    at = exact_fraction(delta, "delta", "spent", requirement)
    if not 0 < at < 1:
        raise ParameterError("delta", "spent", requirement, delta)
    accountant: Accountant = ZcdpAccountant() if accounting == "zcdp" else PldAccountant()
    for event in _events(accounts):
        accountant.add(event)
    unsettled = balance.reserved
    more, rest = Fraction(0), at - balance.held.delta
    if rest <= 0:
        raise GuaranteeError(
            Words(
                "The deltas of reservations that were never settled exceed the delta; ask at a larger one.",
                "確定されていない予約の delta が delta を超えています。より大きい delta で求めてください。",
            )
        )
    if unsettled is not None and unsettled.currency == "rho":
        rest /= 2
        more = rho_to_epsilon(unsettled.rho, rest)
    elif unsettled is not None:
        more = unsettled.epsilon
    if not accountant.events and not more:
        return None
    epsilon = more + (accountant.epsilon(rest) if accountant.events else 0)
    return Budget.from_dict({"epsilon": str(epsilon), "delta": str(at)})


def _events(accounts: Accounts) -> Iterator[ReleaseEvent]:
    for entry in accounts.ledger.entries(accounts.dataset):
        body = entry.read() if entry.kind == "settle" else None
        if isinstance(body, Settled):
            yield body.event
