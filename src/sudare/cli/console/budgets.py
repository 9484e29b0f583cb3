"""Budgets as they are typed and shown: decimals, exactly."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING

from sudare.cli.console.failures import UsageError
from sudare.cli.console.messages import Catalogue, words_of
from sudare.parameters import show_fraction

if TYPE_CHECKING:
    from sudare.ledger import Dataset
    from sudare.privacy import Budget, Unit

__all__ = [
    "balance_after",
    "budget_in_words",
    "budget_values",
    "dataset_values",
    "read_budget",
    "read_decimal",
    "remaining_in_words",
    "short_text",
    "unit_in_words",
]


def read_budget(epsilon: str | None, delta: str | None, rho: str | None, default: Budget | None = None) -> Budget:
    """The budget of the options ``--epsilon``, ``--delta`` and ``--rho``.

    Raises:
        UsageError: if one of them is no number, or neither epsilon nor rho is given and there is no default.
        BudgetError: if they make up no budget.

    Example:
        >>> read_budget("0.1", None, None).epsilon
        Fraction(1, 10)
    """
    from sudare.privacy import Budget

    given = {"epsilon": epsilon, "delta": delta, "rho": rho}
    numbers = {name: read_decimal(name, text) for name, text in given.items() if text is not None}
    if not numbers and default is not None:
        return default
    if "epsilon" not in numbers and "rho" not in numbers:
        raise UsageError(words_of("budget.missing"))
    return Budget(**numbers)


def budget_values(budget: Budget | None) -> dict[str, str] | None:
    """A budget as it stands in JSON: decimals in text where they are exact, else fractions."""
    return None if budget is None else {name: exact_text(value) for name, value in budget.to_dict().items()}


def exact_text(fraction: str) -> str:
    """A fraction as a decimal where it is one.

    Example:
        >>> exact_text("1/8"), exact_text("1/3"), exact_text("1/1000000")
        ('0.125', '1/3', '0.000001')
    """
    numerator, _, denominator = fraction.partition("/")
    rest, places = int(denominator or 1), 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        places = max(places, power)
    if rest > 1:
        return fraction
    digits = str(int(numerator) * 10**places // int(denominator or 1)).rjust(places + 1, "0")
    return digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"


def budget_in_words(budget: Budget | None, words: Catalogue) -> str:
    """A budget as it is shown."""
    if budget is None:
        return words("balance.nothing")
    return ", ".join(f"{name} = {short_text(value)}" for name, value in budget.to_dict().items())


def remaining_in_words(dataset: Dataset, words: Catalogue) -> str:
    """What is left of a data set's budget; of a rho filter also what a single release could take."""
    left, kept = budget_in_words(dataset.remaining, words), dataset.filter
    if kept is None:
        return left
    most = words("balance.nothing") if kept.next_epsilon is None else f"epsilon = {short_text(str(kept.next_epsilon))}"
    return words("balance.filter_left", left=left, most=most, delta=short_text(str(kept.reserve_left)))


def unit_in_words(unit: Unit, words: Catalogue) -> str:
    """Who is protected, and over which time where tables are published again and again."""
    from sudare.privacy.guarantee_words import of_one_unit

    values = {"who": of_one_unit(unit.who), "rows": unit.rows, "change": words(f"adjacency.{unit.adjacency}")}
    if unit.rows == 1:
        told = words("plan.unit_once", **values)
    elif unit.cells == unit.rows_per_cell == unit.rows:
        told = words("plan.unit_rows", **values)
    else:
        told = words("plan.unit_cells", **values, cells=unit.cells, each=unit.rows_per_cell)
    if unit.time is None:
        return told
    return words("plan.unit_over_time", unit=told, time=words(f"time.{unit.time.span}", ticks=unit.time.ticks))


def balance_after(dataset: Dataset, cost: Budget) -> tuple[bool, Budget | None]:
    """Whether a data set's budget allows a cost, and what would be left.

    Raises:
        LedgerError: if costs of this kind cannot be taken from this budget.
    """
    left = dataset.after([(cost, None)])
    return left is not None, dataset.remaining if left is None else dataset.rule.to_budget(left)


def dataset_values(dataset: Dataset) -> dict[str, object]:
    """A data set as it stands in JSON."""
    return {
        "name": dataset.name,
        "description": dataset.description,
        "unit": dataset.unit.to_dict(),
        "total": budget_values(dataset.total),
        "spent": budget_values(dataset.spent),
        "reserved": budget_values(dataset.reserved),
        "remaining": budget_values(dataset.remaining),
        "publications": dataset.publications,
        "rule": "sums" if dataset.filter is None else "rho-filter",
        "filter": filter_values(dataset),
    }


def filter_values(dataset: Dataset) -> dict[str, object] | None:
    """A rho filter as it stands in JSON, in both currencies; None under sums."""
    kept = dataset.filter
    if kept is None:
        return None
    return {
        "rho": exact_text(str(kept.rule.rho)),
        "conversion_delta": exact_text(str(kept.rule.conversion_delta)),
        "reserve": exact_text(str(kept.rule.reserve)),
        "reserve_left": exact_text(str(kept.reserve_left)),
        "committed": budget_values(kept.committed),
        "next_epsilon": None if kept.next_epsilon is None else exact_text(str(kept.next_epsilon)),
    }


def read_decimal(name: str, text: str) -> Decimal:
    """A number that was typed, exactly."""
    try:
        return Decimal(text)
    except InvalidOperation:
        values = {"name": name, "text": text[:40]}
        raise UsageError(words_of("budget.no_number", **values)) from None


def short_text(fraction: str) -> str:
    """A fraction as it is shown: exactly where that is short, else to six digits behind a ``~``."""
    return show_fraction(Fraction(fraction))
