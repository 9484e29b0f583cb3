"""Swapping: records exchange some of their values, so that a person who is recognised has perhaps somebody else's.

- `swap_randomly`: pairs drawn fairly, a share of all records.
- `swap_risky`: every record in a small group gets a partner, those in large groups only as partners.
- `swap_ranks`: numbers, exchanged between records whose ranks are near each other.

Values are only exchanged, so every table of the swapped columns alone is exactly what it was, and so is every table of the
other columns alone. With ``within``, partners agree in those columns, and tables of swapped columns and ``within`` together are
kept as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.grouping import group
from sudare.microdata.perturb.exact_draws import random_order, read_probability
from sudare.microdata.perturb.number_columns import read_number_column
from sudare.microdata.perturb.outcomes import Outcome, share_changed
from sudare.microdata.records import AnyRecords, CodedColumn, Records, names_of_columns, read_people_records
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import read_entropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import Rational, exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

__all__ = ["swap_randomly", "swap_ranks", "swap_risky"]

_KEEPS = Words(
    "Every table of the swapped columns alone, of the other columns alone, and of the swapped columns together with the "
    "columns in which partners agree, is exactly as before.",
    "入れ替えた列だけの集計表、それ以外の列だけの集計表、入れ替えた列と相手が一致する列との集計表は、いずれも元と完全に同じです。",
)
_RANDOM = Words(
    "Whoever recognises a record cannot be sure that the swapped values belong to that person, and learns the right ones with "
    "about the probability that a record is not swapped, or swapped with an equal value. Everything else in the record is "
    "published as it is. It is no differential privacy: records that are not swapped are unchanged, and that a combination of "
    "values exists in the data stays visible.",
    "あるレコードが誰のものか分かっても、入れ替えた値がその人のものとは言い切れません。正しい値が知られる確率は、およそ入れ替えられないか同じ値と入れ替わる割合です。"
    "レコードのほかの値はそのまま公表されます。差分プライバシーではありません。入れ替えないレコードは変わらず、どの値の組合せがデータにあるかも見えます。",
)
_RISKY = Words(
    "Records that are easily recognised, because few others share their quasi-identifiers, carry the swapped values of another "
    "record, wherever a partner was found; records in large groups are changed only as partners. Who knows the rule knows that "
    "a rare record was swapped, and may look for the partner. It is no differential privacy.",
    "準識別子の組が珍しく特定されやすいレコードは、相手がいる限り、別のレコードの値をもちます。大きな組のレコードが変わるのは相手になったときだけです。"
    "規則を知る人には、珍しいレコードが入れ替えられたことが分かり、相手を探されることがあります。差分プライバシーではありません。",
)
_RANKS = Words(
    "A published number is in general not that of its record but one of nearly the same rank: a number known exactly leads to "
    "the record only where no partner was free or the partner has an equal number, a number known roughly still does. Very large "
    "and very small numbers exist in the data as published. It is no differential privacy.",
    "公表された数値は、原則としてそのレコードのものではなく、順位の近い別のレコードのものです。正確な値からレコードにたどり着けるのは、相手がいないか"
    "相手が同じ値のときだけですが、おおよその値を知っていればたどれることがあります。極端に大きい値や小さい値は、そのままデータに存在します。差分プライバシーではありません。",
)
_NOTHING = Words(
    "Nothing was swapped: there was no pair of records to swap by these settings. The records are as they were, and nothing is "
    "protected. It is no differential privacy.",
    "この設定で入れ替えるレコードの組がなく、何も入れ替えていません。レコードは元のままで、何も保護されていません。差分プライバシーではありません。",
)


def swap_randomly(
    records: AnyRecords,
    columns: Sequence[str],
    *,
    share: Rational,
    within: Sequence[str] = (),
    entropy: EntropySource | None = None,
) -> Outcome:
    """Exchange the values of some columns, all together, between pairs of records drawn fairly.

    Args:
        records: the table.
        columns: whose values are exchanged.
        share: of all records that take part, rounded down to an even number; fewer where ``within`` leaves too few pairs.
        within: partners agree in these columns.
        entropy: where the bits come from; the secure source by default.

    Raises:
        InputError: if there is no such column.
        ParameterError: if no column is named, or one is in both lists.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.swapping import swap_randomly
        >>> people = Records.of_columns({"town": ["a", "b", "c", "d"], "sex": ["f", "m", "f", "m"]})
        >>> swapped = swap_randomly(people, ["town"], share=1, within=["sex"]).records
        >>> swapped.column("town").texts().tolist()
        ['c', 'd', 'a', 'b']
    """
    records = read_people_records(records, "swap_randomly")
    columns = names_of_columns(columns, records, "columns", "swap_randomly")
    within = names_of_columns(within, records, "within", "swap_randomly")
    function = "swap_randomly"
    exact = read_probability(share, "share", function)
    source = read_entropy(entropy, function)
    strata = _strata(records, columns, within, function)
    first, second = _pairs(random_order(records.rows, source), strata)
    chosen = random_order(first.size, source)[: int(exact * records.rows / 2)]
    return _swapped(records, columns, first[chosen], second[chosen], "random-swap", _RANDOM)


def swap_risky(
    records: AnyRecords,
    columns: Sequence[str],
    quasi_identifiers: Sequence[str],
    *,
    k: int,
    within: Sequence[str] = (),
    entropy: EntropySource | None = None,
) -> Outcome:
    """Exchange the values of some columns of every record that shares its quasi-identifiers with fewer than k - 1 others.

    Partners are drawn fairly, from the records that are not risky as long as there are any, else from the risky ones. A
    record stays as it is if none is left for it.

    Args:
        records: the table.
        columns: whose values are exchanged.
        quasi_identifiers: the columns by which records are recognised; they may be among the others.
        k: groups of fewer records are risky.
        within: partners agree in these columns.
        entropy: where the bits come from; the secure source by default.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.swapping import swap_risky
        >>> people = Records.of_columns({"age": ["old", "old", "young"], "town": ["a", "a", "b"]})
        >>> swapped = swap_risky(people, ["town"], ["age"], k=2)
        >>> swapped.records.column("town").texts().tolist()[2], swapped.touched
        ('a', Fraction(2, 3))
    """
    records = read_people_records(records, "swap_risky")
    columns = names_of_columns(columns, records, "columns", "swap_risky")
    quasi_identifiers = names_of_columns(quasi_identifiers, records, "quasi_identifiers", "swap_risky")
    within = names_of_columns(within, records, "within", "swap_risky")
    function = "swap_risky"
    smallest = exact_integer(k, "k", function, Words("a whole number >= 2", "2 以上の整数"), smallest=2)
    source = read_entropy(entropy, function)
    strata = _strata(records, columns, within, function)
    classes = group([records.column(name) for name in _read_names(quasi_identifiers, "quasi_identifiers", function)])
    is_risky = classes.sizes[classes.of_row] < smallest
    order = random_order(records.rows, source)
    order = order[np.lexsort((~is_risky[order], strata[order]))]  # by stratum, the risky ones first, else at random
    first: list[Rows] = []
    second: list[Rows] = []
    for rows in _split(order, strata):
        risky = int(np.count_nonzero(is_risky[rows]))
        met = min(risky, rows.size - risky)
        rest = (risky - met) // 2
        first += [rows[:met], rows[met : met + rest]]
        second += [rows[risky : risky + met], rows[met + rest : met + 2 * rest]]
    nothing = np.zeros(0, dtype=np.int64)
    pairs = np.concatenate([nothing, *first]), np.concatenate([nothing, *second])
    return _swapped(records, columns, *pairs, "targeted-swap", _RISKY)


def swap_ranks(
    records: AnyRecords, column: str, *, distance: Rational, entropy: EntropySource | None = None
) -> Outcome:
    """Exchange the numbers of a column between records whose ranks differ by at most a share of all records.

    From the smallest number up, each record that has no partner yet looks at a place drawn fairly among those in reach above
    it, and takes the first free one from there on, round the reach. It keeps its number if none is free. Equal numbers are ranked
    in random order; missing values stay where they are.

    Args:
        records: the table.
        column: of numbers.
        distance: the largest difference of ranks, as a share of the records that have a number; rounded down.
        entropy: where the bits come from; the secure source by default.

    Raises:
        InputError: names the column and the first row without a plain number; or if the distance is less than one rank, so that
            nobody has a partner.

    References:
        Moore: Controlled data-swapping techniques for masking public use microdata sets (1996).

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.swapping import swap_ranks
        >>> people = Records.of_columns({"wage": [10, 40, 20, 30]})
        >>> swap_ranks(people, "wage", distance=0.25).records.column("wage").texts().tolist()
        ['20', '30', '10', '40']
    """
    check_arguments(swap_ranks, locals(), "column")
    records = read_people_records(records, "swap_ranks")
    function = "swap_ranks"
    exact = read_probability(distance, "distance", function)
    source = read_entropy(entropy, function)
    numbers = read_number_column(records.column(column), with_missing=True)
    order = random_order(records.rows, source)
    order = order[~numbers.is_missing[order]]
    order = order[np.argsort(numbers.units[order], kind="stable")]
    reach = int(exact * order.size)
    if reach < 1 or order.size < 2:
        raise InputError(
            f"By this distance no two records are near enough in their rank of column {column!r}. Take a larger distance.",
            f"この距離では、列 {column!r} に順位が近く入れ替えられるレコードの組がありません。距離を大きくしてください。",
        )
    lower, upper = _rank_partners(order.size, reach, source)
    keeps = Words(
        f"The numbers of column {column!r} as a whole, with their mean and every quantile, and every table of the other columns.",
        f"列 {column!r} の数値全体 (平均、分位点を含む) と、ほかの列だけの集計表は、元と完全に同じです。",
    )
    return _swapped(records, [column], order[lower], order[upper], "rank-swap", _RANKS, keeps)


def _rank_partners(count: int, reach: int, source: EntropySource) -> tuple[Rows, Rows]:
    """Pairs of places that are at most ``reach`` apart, no place in two of them."""
    wishes = uniform_below(reach, count, source).tolist()
    is_free = [True] * count
    lower, upper = [], []
    for place, wish in enumerate(wishes):
        if not is_free[place]:
            continue
        width = min(reach, count - 1 - place)
        # Near the end the reach is cut: a wish beyond it begins again at its start.
        for step in range(width):
            partner = place + 1 + (wish + step) % width
            if is_free[partner]:
                is_free[place] = is_free[partner] = False
                lower.append(place)
                upper.append(partner)
                break
    return np.array(lower, dtype=np.int64), np.array(upper, dtype=np.int64)


def _strata(records: Records, columns: Sequence[str], within: Sequence[str], function: str) -> Rows:
    names = _read_names(columns, "columns", function)
    for name in names:
        records.column(name)
    agreeing = _read_names(within, "within", function) if len(within) else ()
    if set(names) & set(agreeing):
        raise ParameterError(
            "within", function, Words("columns that are not swapped", "スワップしない列"), Described("one that is")
        )
    if not agreeing:
        return np.zeros(records.rows, dtype=np.int64)
    return group([records.column(name) for name in agreeing]).of_row


def _read_names(names: Sequence[str], parameter: str, function: str) -> tuple[str, ...]:
    listed = () if isinstance(names, str) else tuple(names)
    if not listed or not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
        raise ParameterError(
            parameter,
            function,
            Words("a list of different names of columns", "互いに異なる列名のリスト"),
            Described("another object"),
        )
    return listed


def _split(order: Rows, strata: Rows) -> list[Rows]:
    """The parts of an order by strata in which each part belongs to one stratum."""
    if order.size == 0:
        return []
    return np.split(order, np.flatnonzero(np.diff(strata[order])) + 1)


def _pairs(order: Rows, strata: Rows) -> tuple[Rows, Rows]:
    """Pairs of rows of one stratum, each row in one pair at most, drawn fairly if the order is."""
    order = order[np.argsort(strata[order], kind="stable")]
    parts = _split(order, strata)
    nothing = np.zeros(0, dtype=np.int64)
    first = np.concatenate([nothing, *(part[: part.size // 2 * 2 : 2] for part in parts)])
    second = np.concatenate([nothing, *(part[1::2] for part in parts)])
    return first, second


def _swapped(
    records: Records,
    columns: Sequence[str],
    first: Rows,
    second: Rows,
    method: str,
    protects: Words,
    keeps: Words = _KEEPS,
) -> Outcome:
    source_of_row = np.arange(records.rows)
    source_of_row[first], source_of_row[second] = second, first
    new = [_rearranged(records.column(name), source_of_row) for name in columns]
    result = records.with_columns(*new)
    touched = Fraction(2 * first.size, records.rows) if records.rows else Fraction(0)
    told = protects if first.size else _NOTHING
    return Outcome(result, method, told, keeps, touched, share_changed(records, result))


def _rearranged(column: CodedColumn, source_of_row: Rows) -> CodedColumn:
    return CodedColumn.of_codes(column.name, column.codes[source_of_row], column.labels)
