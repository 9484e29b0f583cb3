"""Quantiles, medians, smallest and largest values: a choice among public candidates by the exponential mechanism.

The database counts how many rows have each value of a public grid; the choice is made from these counts alone. A
candidate is the better the fewer rows lie between it and the wanted rank, and the probability that follows from that is
exact.

Proof: ``quantiles.md`` beside this file.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, cast

import numpy as np

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.noise.selection import exponential_mechanism
from sudare.parameters import Rational, describe_array, exact_fraction, exact_integer, shown
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import SelectionMeasurement
from sudare.privacy.unit import Adjacency, Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.entropy import EntropySource

    Integers = NDArray[np.int64]

__all__ = ["choose_quantile", "offset_for_extreme", "rank_error", "rows_in_groups", "sensitivity_of_ranks"]

MAX_CANDIDATES = 1 << 20
MAX_DENOMINATOR = 10**6
MAX_ROWS = 1 << 31
MAX_OFFSET = 1 << 40
MAX_WORD = 1 << 62


def choose_quantile(
    buckets: Integers,
    counts: Integers,
    candidates: int,
    quantile: Rational,
    rows: int,
    budget: Budget,
    *,
    offset: int = 0,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
) -> tuple[int, SelectionMeasurement]:
    """Choose the candidate that has about the wanted share of the rows below it.

    Guarantee: the budget's epsilon, pure, or its rho, for the unit.

    Sensitivity: one unit has at most ``rows`` rows, with any values (`sensitivity_of_ranks`).

    Proof: ``quantiles.md`` beside this file.

    Args:
        buckets: which candidates rows have as their value, each once, in any order.
        counts: in how many rows each of them stands.
        candidates: how many candidates there are, at most 2**20.
        quantile: from 0 to 1; with a denominator of at most 10**6.
        rows: how many rows one unit may have.
        budget: in epsilon or rho.
        offset: this many ranks more than the share says. Where the smallest value is wanted, every candidate below it has nothing
            below it either; a few rows more tell them apart (`offset_for_extreme`). Negative for the largest.
        unit: who is protected; only its adjacency is used. Adding and removing if left out.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The position of the chosen candidate, and what the choice cost.

    Raises:
        ParameterError: if an argument is not what it should be.

    References:
        McSherry, Talwar: Mechanism design via differential privacy (2007); Smith: Privacy-preserving statistical
        estimation with optimal convergence rates (2011).

    Example:
        >>> import numpy as np
        >>> from sudare import Budget
        >>> from sudare.sql.measures.quantiles import choose_quantile
        >>> choose_quantile(np.array([3, 7]), np.array([9000, 2000]), 10, 0.5, 1, Budget(epsilon=1))[0]
        3
    """
    function = "choose_quantile"
    size = _read_candidates(candidates, function)
    share = _read_share(quantile, function)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    change = sensitivity_of_ranks(share, rows, protected.adjacency)
    requirement = f"a whole number from -{MAX_OFFSET} to {MAX_OFFSET}"
    more = exact_integer(offset, "offset", function, requirement, smallest=-MAX_OFFSET, largest=MAX_OFFSET)
    distances = _distances(*_read_histogram(buckets, counts, size), size, share, more)
    scores = -distances if isinstance(distances, np.ndarray) else [-distance for distance in distances]
    choice, event = exponential_mechanism(scores, budget, sensitivity=change, unit=protected, entropy=entropy)
    return choice, cast("SelectionMeasurement", event.measurements[0])


def sensitivity_of_ranks(quantile: Rational, rows: int, adjacency: Adjacency = "add-remove") -> int:
    """How much one unit can change a candidate's distance from the wanted rank, in parts of a row.

    A row is divided into as many parts as the quantile's denominator says, so that distances are whole numbers.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.sql.measures.quantiles import sensitivity_of_ranks
        >>> sensitivity_of_ranks(Fraction(1, 2), 3), sensitivity_of_ranks(Fraction(9, 10), 1, "replace")
        (3, 10)
    """
    share = _read_share(quantile, "sensitivity_of_ranks")
    requirement = Words("a whole number from 1 to 2**31", "1 以上 2**31 以下の整数")
    most = exact_integer(rows, "rows", "sensitivity_of_ranks", requirement, smallest=1, largest=MAX_ROWS)
    whole, part = share.denominator, share.numerator
    if adjacency == "replace":
        return most * whole
    if adjacency == "add-remove":
        return most * max(part, whole - part)
    raise ParameterError(
        "adjacency",
        "sensitivity_of_ranks",
        Words("'add-remove' or 'replace'", "'add-remove' または 'replace'"),
        shown(adjacency),
    )


def rows_in_groups(rows: int, quantile: Rational, adjacency: Adjacency = "add-remove") -> int:
    """For how many rows to choose where each of several groups has a quantile of its own.

    A unit that is added or removed has its rows in groups that share what it may change. A unit that is replaced may take rows
    out of one group and put others into another; then two choices change, each as if a unit were added or removed.

    Example:
        >>> from sudare.sql.measures.quantiles import rows_in_groups
        >>> rows_in_groups(10, 0.9), rows_in_groups(10, 0.9, "replace"), rows_in_groups(10, 0.5, "replace")
        (10, 18, 10)
    """
    share = _read_share(quantile, "rows_in_groups")
    if adjacency == "add-remove":
        return rows
    return ceil(rows * max(Fraction(1), 2 * max(share, 1 - share)))


def rank_error(
    candidates: int,
    quantile: Rational,
    rows: int,
    epsilon: Rational,
    *,
    failure: Rational = Fraction(1, 20),
    adjacency: Adjacency = "add-remove",
) -> int:
    """How many rows, at most, lie between the chosen candidate and the wanted rank, except with a small probability.

    It depends on nothing but public numbers, so that it is known before anything is asked.

    Args:
        candidates: how many there are.
        quantile: from 0 to 1.
        rows: how many rows one unit may have.
        epsilon: that the choice is made with.
        failure: the probability with which it may be more.
        adjacency: of the unit.

    Example:
        >>> from sudare.sql.measures.quantiles import rank_error
        >>> rank_error(1000, 0.5, 1, 1)
        10
    """
    size = _read_candidates(candidates, "rank_error")
    share = _read_share(quantile, "rank_error")
    change = sensitivity_of_ranks(share, rows, adjacency)
    numbers = []
    for name, value, largest in (("epsilon", epsilon, Fraction(10**6)), ("failure", failure, Fraction(1))):
        requirement = f"a number from 1e-30 to {largest}"
        number = exact_fraction(value, name, "rank_error", requirement)
        if not Fraction(1, 10**30) <= number <= largest:
            raise ParameterError(name, "rank_error", requirement, value)
        numbers.append(number)
    spend, chance = numbers
    with localcontext(Context(prec=60)):
        worse = Decimal(size) * chance.denominator / chance.numerator
        error = 2 * change * worse.ln() * spend.denominator / (spend.numerator * share.denominator)
        return int((error * (1 + Decimal(10) ** -40)).to_integral_value(ROUND_CEILING))


def offset_for_extreme(
    candidates: int,
    rows: int,
    epsilon: Rational,
    *,
    failure: Rational = Fraction(1, 20),
    adjacency: Adjacency = "add-remove",
) -> int:
    """How many rows from the end to aim at where the smallest or the largest value is wanted.

    With this many, a candidate beyond all rows is chosen with the stated probability at most, provided that there are as many
    rows.

    Example:
        >>> from sudare.sql.measures.quantiles import offset_for_extreme
        >>> offset_for_extreme(1000, 1, 1)
        20
    """
    return max(rank_error(candidates, 0, rows, epsilon, failure=failure, adjacency=adjacency), 1)


def _distances(
    buckets: Integers, counts: Integers, candidates: int, share: Fraction, offset: int
) -> Integers | list[int]:
    """How many parts of a row the wanted rank is away from the ranks that each candidate has; 0 if it has that rank.

    The wanted rank is share * n + offset; a candidate has the ranks from the number of rows below it to the number of
    rows not above it.
    """
    whole, part = share.denominator, share.numerator
    total = (int((counts >> 32).sum()) << 32) + int((counts & (2**32 - 1)).sum())
    is_narrow = whole * (total + abs(offset)) < MAX_WORD
    held = np.zeros(candidates, dtype=np.int64 if is_narrow else np.object_)
    held[buckets] = counts
    not_above = np.cumsum(held)
    below = not_above - held
    wanted = part * total + whole * offset
    distances = np.maximum(np.maximum(wanted - whole * not_above, whole * below - wanted), 0)
    return distances if is_narrow else [int(distance) for distance in distances]


def _read_candidates(value: object, function: str) -> int:
    requirement = "a whole number from 1 to 2**20"
    return exact_integer(value, "candidates", function, requirement, smallest=1, largest=MAX_CANDIDATES)


def _read_share(value: object, function: str) -> Fraction:
    requirement = "a number from 0 to 1 with a denominator of at most 10**6"
    share = exact_fraction(value, "quantile", function, requirement)
    if not 0 <= share <= 1 or share.denominator > MAX_DENOMINATOR:
        raise ParameterError("quantile", function, requirement, value)
    return share


def _read_histogram(buckets: object, counts: object, candidates: int) -> tuple[Integers, Integers]:
    """Both arrays, checked for their layout; that buckets are among the candidates and counts are not negative, too.

    What the database hands out has these properties whatever the data are, so nothing is told by the check.
    """
    places, numbers = np.asarray(buckets), np.asarray(counts)
    for name, array in (("buckets", places), ("counts", numbers)):
        is_whole = array.dtype.kind in "iu" or array.size == 0
        if array.ndim != 1 or not is_whole or array.size != places.size:
            requirement = "whole numbers in one dimension, as many as there are buckets"
            raise ParameterError(name, "choose_quantile", requirement, describe_array(array))
    if places.size:
        is_inside = int(places.min()) >= 0 and int(places.max()) < candidates
        if not is_inside or np.unique(places).size != places.size:
            requirement = "positions of candidates, each once"
            raise ParameterError("buckets", "choose_quantile", requirement, Described("other numbers"))
        if int(numbers.min()) < 0 or int(numbers.max()) > MAX_WORD:
            requirement = "from 0 to 2**62"
            raise ParameterError("counts", "choose_quantile", requirement, Described("other numbers"))
    return places.astype(np.int64), numbers.astype(np.int64)
