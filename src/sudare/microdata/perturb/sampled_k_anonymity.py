"""Sampling and k-anonymity together are differential privacy: publish the groups of a random sample that have k records.

Each record is kept by a secret coin. What is kept is generalized by levels that were chosen without looking at the data (or by
`choose_levels`, which pays for looking), and groups of equal records with fewer than k are deleted without a trace.

The columns that are published are those that are generalized, and no others: a column that was carried along would show a
person's value whenever the coin falls, whatever k is.

Proof: ``sampled_k_anonymity.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.microdata.grouping import Tuples, group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.exact_draws import toss_coins
from sudare.microdata.records import AnyRecords, CodedColumn, Records, read_people_records
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.noise.selection import exponential_mechanism
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.sampled_measurements import SampledGroupsMeasurement, changed_records
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PROTECTS", "choose_levels", "published_delta", "published_smallest_k", "sampled_groups"]

MAX_CANDIDATES = 4096
MAX_THRESHOLD = 1 << 62
PROTECTS = Words(
    "Differential privacy of every person, present or absent: whoever sees the published records learns hardly more about a "
    "person than without that person's record, whatever else is known. It holds because each record was kept by a secret "
    "coin, the levels were not chosen by looking at the data for free, all published columns form the groups, and groups of "
    "fewer than k records were deleted without being counted.",
    "各人がデータにいてもいなくても成り立つ差分プライバシーです。ほかに何を知っていても、公表されたレコードから分かることは、"
    "その人のレコードがない場合とほとんど変わりません。各レコードを秘密の乱数で抽出し、階層の段階をデータを見て無償で選ばず、公表する列のすべてで組を作り、"
    "k 件未満の組は数えずに消したため成り立ちます。",
)


def sampled_groups(
    records: AnyRecords,
    levels: Mapping[str, int],
    hierarchies: Mapping[str, Generalization],
    budget: Budget,
    *,
    rate: Rational | None = None,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
) -> tuple[Records, ReleaseEvent]:
    """Publish a random sample of generalized records, without those of which the sample has fewer than k.

    Guarantee: (epsilon, delta)-differential privacy of the unit, with the smallest k for which that is true.

    Proof: ``sampled_k_anonymity.md`` beside this file.

    Args:
        records: the table, one row for each record of a unit.
        levels: which columns are published, and how coarsely. They must not depend on the data, except through
            `choose_levels`.
        hierarchies: of these columns, not made from the data; a column on level 0 may go without.
        budget: an epsilon and a delta.
        rate: of the sample; if left out the largest that the epsilon allows, 1 - exp(-epsilon) for one record of a unit.
        unit: who is protected, and how many records each has at most; each person one by default.
        entropy: where the bits come from; the secure source by default.

    Returns:
        The records, sorted by their texts so that their order tells nothing; none at all if no group was large enough. And the
        event with the cost.

    Raises:
        ParameterError: if a level is not one of the hierarchy, or a column above level 0 has none.
        InputError: if the table has no such column, or a value is not in the hierarchy.
        GuaranteeError: if the budget has no delta, or the rate is too large for it.

    References:
        Li, Qardaji, Su: On sampling, anonymization, and differential privacy (2012); Bild, Kuhn, Prasser: SafePub (2018).

    Example:
        >>> from sudare import Budget
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.sampled_k_anonymity import sampled_groups
        >>> age = Generalization.of_paths("age", [(str(a), "<50" if a < 50 else ">=50") for a in range(100)])
        >>> people = Records.of_columns({"age": [20, 30, 40] * 100 + [70] * 3, "name": range(303)})
        >>> published, event = sampled_groups(people, {"age": 1}, {"age": age}, Budget(epsilon=1, delta=1e-6))
        >>> published.names, published.column("age").labels, event.measurements[0].k
        (('age',), ('<50',), 58)
    """
    records = read_people_records(records, "sampled_groups")
    function = "sampled_groups"
    read_budget(budget, function)
    protected = _read_unit(unit, function)
    chosen = _read_levels(levels, hierarchies, function)
    source = read_entropy(entropy, function)
    measurement = SampledGroupsMeasurement.for_budget(budget, rate=rate, records=changed_records(protected))
    # Values are looked up in all rows, so that an error does not depend on the coins.
    columns = _generalized(records, chosen, hierarchies)
    kept = np.flatnonzero(toss_coins(measurement.rate, records.rows, source))
    sample = [column.take(kept) for column in columns]
    classes = group(sample)
    is_large = classes.sizes >= measurement.k
    rows = np.flatnonzero(is_large[classes.of_row])
    published = _in_order_of_texts([column.take(rows) for column in sample])
    event = ReleaseEvent("sampled-groups", protected, budget, (measurement,), entropy_name(source))
    return published, event


def choose_levels(
    records: AnyRecords,
    hierarchies: Mapping[str, Generalization],
    budget: Budget,
    *,
    threshold: int,
    candidates: Sequence[Mapping[str, int]] | None = None,
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
) -> tuple[dict[str, int], ReleaseEvent]:
    """Choose the levels for `sampled_groups` by how many records would be left, and how fine they would be.

    A choice scores weight * (the records beyond the first ``threshold`` of each group). The weight, at most 1, is the mean over
    the columns of (height + 1 - level) / (height + 1). One is chosen by the exponential mechanism.

    Guarantee: epsilon-differential privacy of the unit; to be added to the cost of `sampled_groups`.

    Sensitivity: a record changes the size of one group by one, so each score by at most one, and never downwards when added.

    Proof: ``sampled_k_anonymity.md`` beside this file.

    Args:
        records: the table.
        hierarchies: of the columns to be published, not made from the data.
        budget: the epsilon (or rho) of the choice.
        threshold: public; about k / rate records are needed for a group to be published.
        candidates: the choices, which must not depend on the data; all there are if left out.
        unit: who is protected, and how many records each has at most; each person one by default.
        entropy: where the bits come from; the secure source by default.

    Example:
        >>> from sudare import Budget
        >>> from sudare.microdata.hierarchies.hierarchy import Generalization
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.sampled_k_anonymity import choose_levels
        >>> age = Generalization.of_paths("age", [(str(a), "<50" if a < 50 else ">=50") for a in range(100)])
        >>> people = Records.of_columns({"age": list(range(100)) * 20})
        >>> choose_levels(people, {"age": age}, Budget(epsilon=1), threshold=100)[0]
        {'age': 1}
    """
    check_arguments(choose_levels, locals(), "hierarchies", "candidates")
    records = read_people_records(records, "choose_levels")
    function = "choose_levels"
    read_budget(budget, function)
    protected = _read_unit(unit, function)
    source = read_entropy(entropy, function)
    requirement = Words("a whole number from 1 to 2**62", "1 以上 2**62 以下の整数")
    least = exact_integer(threshold, "threshold", function, requirement, smallest=1, largest=MAX_THRESHOLD)
    choices = _read_candidates(candidates, hierarchies, function)
    tuples = Tuples.of_rows([records.column(name) for name in hierarchies], list(hierarchies.values()))
    scores = []
    for choice in choices:
        sizes = tuples.regrouped(tuples.base, tuple(choice[name] for name in hierarchies)).sizes
        scores.append(_weight(choice, hierarchies) * int(np.maximum(sizes - least, 0).sum()))
    place, event = exponential_mechanism(
        scores,
        budget,
        sensitivity=protected.rows,
        monotonic=protected.adjacency == "add-remove",
        unit=protected,
        entropy=source,
    )
    return choices[place], event


def _read_candidates(
    candidates: Sequence[Mapping[str, int]] | None, hierarchies: Mapping[str, Generalization], function: str
) -> list[dict[str, int]]:
    if not hierarchies:
        raise ParameterError(
            "hierarchies", function, Words("of at least one column", "1 個以上の列"), Described("none")
        )
    if candidates is None:
        if prod(hierarchy.height + 1 for hierarchy in hierarchies.values()) > MAX_CANDIDATES:
            raise ParameterError(
                "candidates",
                function,
                Words(
                    f"given where there are more than {MAX_CANDIDATES} choices",
                    f"選び方が {MAX_CANDIDATES} 通りを超える場合は指定",
                ),
                Described("none"),
            )
        ranges = [range(hierarchy.height + 1) for hierarchy in hierarchies.values()]
        return [dict(zip(hierarchies, levels, strict=True)) for levels in product(*ranges)]
    if not 1 <= len(candidates) <= MAX_CANDIDATES:
        raise ParameterError(
            "candidates",
            function,
            Words(f"from 1 to {MAX_CANDIDATES} choices of levels", f"1 通り以上 {MAX_CANDIDATES} 通り以下の段階の組"),
            len(candidates),
        )
    choices = [_read_levels(levels, hierarchies, function) for levels in candidates]
    for choice in choices:
        if set(choice) != set(hierarchies):
            raise ParameterError(
                "candidates",
                function,
                Words("levels of all columns", "すべての列の段階"),
                Described("those of other columns"),
            )
    return choices


def _weight(levels: Mapping[str, int], hierarchies: Mapping[str, Generalization]) -> Fraction:
    shares = [
        Fraction(hierarchies[name].height + 1 - level, hierarchies[name].height + 1) for name, level in levels.items()
    ]
    return sum(shares, Fraction(0)) / len(shares)


def _generalized(
    records: Records, levels: Mapping[str, int], hierarchies: Mapping[str, Generalization]
) -> list[CodedColumn]:
    columns = []
    for name, level in levels.items():
        column = records.column(name)
        columns.append(hierarchies[name].generalized(column, level) if name in hierarchies else column)
    return columns


def _in_order_of_texts(columns: Sequence[CodedColumn]) -> Records:
    """Rows sorted by their texts, missing values first: all that they tell is how often each combination is there."""
    ranks = []
    for column in columns:
        texts = sorted(column.labels, key=lambda label: (label is not None, label or ""))
        places = {label: place for place, label in enumerate(texts)}
        ranks.append(np.array([places[label] for label in column.labels], dtype=np.int64)[column.codes])
    order: NDArray[np.int64] = np.lexsort(ranks[::-1])
    return Records([column.take(order) for column in columns])


def _read_levels(levels: object, hierarchies: Mapping[str, Generalization], function: str) -> dict[str, int]:
    if not isinstance(levels, Mapping) or not levels:
        raise ParameterError(
            "levels", function, Words("a level for each column to publish", "公開する列ごとの段階"), shown(levels)
        )
    if not isinstance(hierarchies, Mapping):
        raise ParameterError("hierarchies", function, "a Generalization for each column", shown(hierarchies))
    read = {}
    for name, level in levels.items():
        if name in hierarchies and not isinstance(hierarchies[name], Generalization):
            raise ParameterError("hierarchies", function, "a Generalization for each column", shown(hierarchies[name]))
        top = hierarchies[name].height if name in hierarchies else 0
        read[name] = exact_integer(
            level,
            "levels",
            function,
            Words(f"a level of column {name!r}, from 0 to {top}", f"列 {name!r} の段階（0 以上 {top} 以下）"),
            smallest=0,
            largest=top,
        )
    return read


def _read_unit(unit: Unit | None, function: str) -> Unit:
    if unit is not None and not isinstance(unit, Unit):
        raise ParameterError("unit", function, "a Unit", shown(unit))
    return Unit() if unit is None else unit


def published_delta(rate: Rational, k: int, epsilon: Rational) -> float:
    """The delta of the published theorem, for comparison with other software; it is larger than what is charged here.

    It is the largest P(X > gamma n) over all n >= k / gamma - 1, where X counts the heads of n coins and gamma = 1 - (1 - rate)
    exp(-epsilon). What it leaves out is the part of those outputs that the neighbour has, too. Rounded to the nearest: no
    guarantee rests on it.

    References:
        Li, Qardaji, Su (2012), Theorem 5; Bild, Kuhn, Prasser (2018), Theorem 4.

    Example:
        >>> from sudare.microdata.perturb.sampled_k_anonymity import published_delta
        >>> from sudare.privacy.sampled_measurements import sampled_groups_delta
        >>> published_delta(0.5, 20, 1) > sampled_groups_delta(0.5, 20, 1)
        True
    """
    function = "published_delta"
    share = exact_fraction(
        rate, "rate", function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数")
    )
    exact = exact_fraction(epsilon, "epsilon", function, Words("a positive number", "0 より大きい数"))
    size = exact_integer(k, "k", function, Words("a whole number >= 2", "2 以上の整数"), smallest=2)
    if not 0 < share < 1 or not 0 < exact <= 8:
        raise ParameterError(
            "rate",
            function,
            Words(
                "strictly between 0 and 1, with an epsilon up to 8", "0 より大きく 1 より小さい値（epsilon は 8 以下）"
            ),
            rate,
        )
    return float(_published_delta(share, size, exact))


def published_smallest_k(rate: Rational, epsilon: Rational, delta: Rational) -> int:
    """The smallest k for which the published theorem gives the delta; what SafePub and ARX are set by (ARX adds one).

    Example:
        >>> from sudare.microdata.perturb.sampled_k_anonymity import published_smallest_k
        >>> from sudare.privacy.sampled_measurements import smallest_group_size
        >>> published_smallest_k(0.63212, 1, 1e-6), smallest_group_size(0.63212, 1, 1e-6)
        (74, 58)
    """
    function = "published_smallest_k"
    allowed = float(
        exact_fraction(
            delta, "delta", function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数")
        )
    )
    if not 0 < allowed < 1:
        raise ParameterError(
            "delta", function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数"), delta
        )
    for k in range(2, 10_000):
        if published_delta(rate, k, epsilon) <= allowed:
            return k
    raise GuaranteeError(
        Words(
            "No k below 10000 is enough. Take a smaller rate, a smaller epsilon or a larger delta.",
            "10000 未満のどの k でも足りません。抽出率か epsilon を小さくするか、delta を大きくしてください。",
        )
    )


def _published_delta(rate: Fraction, k: int, epsilon: Fraction) -> Decimal:
    with localcontext(Context(prec=40)):
        beta, growth = _decimal(rate), _decimal(epsilon).exp()
        # Upwards, so that gamma n = j counts as equal where epsilon is a logarithm that was cut to the digits of a float.
        gamma = (1 - (1 - beta) / growth).quantize(Decimal(10) ** -12, "ROUND_CEILING")
        decay = gamma * (gamma / beta).ln() + (1 - gamma) * ((1 - gamma) / (1 - beta)).ln()
        first = int((k / gamma - 1).to_integral_value("ROUND_CEILING"))
        threshold, best = int(gamma * first) + 1, Decimal(0)
        while True:
            # The tail of a threshold is largest at the largest n that still has it: gamma n < threshold.
            coins = int((threshold / gamma).to_integral_value("ROUND_CEILING")) - 1
            if best and (-coins * decay).exp() <= best:
                return best
            best = max(best, _tail(beta, coins, threshold))
            threshold += 1


def _tail(rate: Decimal, coins: int, threshold: int) -> Decimal:
    term = comb(coins, threshold) * rate**threshold * (1 - rate) ** (coins - threshold)
    total = Decimal(0)
    for heads in range(threshold, coins + 1):
        total += term
        term *= rate / (1 - rate) * (coins - heads) / (heads + 1)
    return total


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
