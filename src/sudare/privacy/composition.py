"""What several releases cost together.

- **Sequential** (`compose`): releases about the same people, each of which may depend on the results before. Costs
  add up.
- **Parallel** (`compose_parallel`): releases about disjoint groups of people, the groups fixed without looking at the
  data. The largest cost counts, component by component.
- **Groups** (`for_group`): the guarantee for k people together, such as a family.
- **Post-processing** is free: whatever is computed from a release without a further look at the data keeps the
  release's guarantee. Refinement, rounding, maps and reports rest on this and have no event of their own.

Proof: ``composition.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce

from sudare.bilingual import Words
from sudare.errors import BudgetError, Described, GuaranteeError, MixedCurrencyError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.unit import Adjacency

__all__ = ["compose", "compose_parallel", "for_group", "growth_of_delta"]


def compose(budgets: Iterable[Budget]) -> Budget:
    """The cost of releases one after the other, about the same people: the sum.

    Args:
        budgets: of all releases, in one currency.

    Example:
        >>> from sudare import Budget, compose
        >>> compose([Budget(epsilon=0.5), Budget(epsilon=0.25, delta=1e-6)])
        Budget(epsilon=0.75, delta=0.000001)
    """
    return reduce(Budget.__add__, _in_one_currency(budgets, "compose"))


def compose_parallel(budgets: Iterable[Budget], adjacency: Adjacency = "add-remove") -> Budget:
    """The cost of releases about disjoint groups of people: the largest of each component.

    Args:
        budgets: what each group's release costs.
        adjacency: of all of them. Under ``"replace"`` a person may leave one group and enter another, which a guarantee
            within each group says nothing about: refused.

    Raises:
        GuaranteeError: under replace adjacency.

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy import compose_parallel
        >>> compose_parallel([Budget(rho=0.5), Budget(rho=0.25)])
        Budget(rho=0.5)
    """
    if not isinstance(adjacency, str) or adjacency != "add-remove":
        raise GuaranteeError(
            Words(
                "Parallel composition holds under add-remove adjacency: a replaced person may change groups, and then two "
                "releases are affected. Use one release over all groups, or compose().",
                "並列合成が成り立つのは1人の追加・削除の場合だけです。置き換えでは人がグループを移り、"
                "二つの公表に影響します。全グループを一つの公表にするか、compose() を使ってください。",
            )
        )
    items = _in_one_currency(budgets, "compose_parallel")
    if items[0].currency == "rho":
        return max(items, key=lambda item: item.rho)
    return Budget._exactly(max(item.epsilon for item in items), max(item.delta for item in items), None)


def for_group(budget: Budget, people: int) -> Budget:
    """What a guarantee for one person means for this many people together.

    Pure epsilon becomes k epsilon, rho becomes k**2 rho, and delta grows by the factor
    1 + exp(epsilon) + ... + exp((k - 1) epsilon), rounded up.

    Args:
        budget: for one person.
        people: in the group.

    Raises:
        GuaranteeError: if delta reaches 1, so that nothing is guaranteed to the group.

    Example:
        >>> from sudare import Budget
        >>> from sudare.privacy import for_group
        >>> for_group(Budget(epsilon=0.1), people=4)
        Budget(epsilon=0.4)
    """
    read_budget(budget, "for_group")
    count = exact_integer(
        people,
        "people",
        "for_group",
        Words("a whole number from 1 to 10**6", "1 以上 10**6 以下の整数"),
        smallest=1,
        largest=10**6,
    )
    if budget.currency == "rho":
        return Budget._exactly(None, Fraction(0), budget.rho * count * count)
    if budget.delta == 0 or count == 1:
        return Budget._exactly(budget.epsilon * count, budget.delta, None)
    is_hopeless = count * budget.epsilon > 1000
    delta = Fraction(1) if is_hopeless else budget.delta * growth_of_delta(budget.epsilon, count)
    if delta >= 1:
        raise GuaranteeError(
            Words(
                f"{budget} guarantees nothing to a group of {count}: its delta reaches 1.",
                f"{budget} は {count} 人のまとまりには何も保証しません。delta が 1 に達します。",
            )
        )
    return Budget._exactly(budget.epsilon * count, delta, None)


def growth_of_delta(epsilon: Fraction, terms: int) -> Fraction:
    """1 + exp(epsilon) + ... + exp((terms - 1) epsilon), rounded up: doublings and single terms, nothing cancels."""
    with localcontext(Context(prec=60)):
        rate = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        total, so_far = Decimal(0), 0
        for digit in f"{terms:b}":
            total *= 1 + (so_far * rate).exp()
            so_far *= 2
            if digit == "1":
                total = total * rate.exp() + 1
                so_far += 1
        safe = total * (1 + Decimal(10) ** -40)
        return Fraction(Context(prec=30, rounding=ROUND_CEILING).plus(safe))


def _in_one_currency(budgets: Iterable[Budget], function: str) -> list[Budget]:
    requirement = "Budgets in one currency, at least one"
    if not isinstance(budgets, Iterable):
        raise BudgetError("budgets", function, requirement, shown(budgets))
    items = [read_budget(item, function, "budgets") for item in budgets]
    if not items:
        raise BudgetError("budgets", function, requirement, Described("none"))
    if len({item.currency == "rho" for item in items}) > 1:
        raise MixedCurrencyError("budgets", function, requirement, Described("budgets in epsilon and in rho"))
    return items
