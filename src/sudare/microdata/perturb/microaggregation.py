"""Microaggregation: records in groups of at least k get the mean of their group in place of their own numbers.

- multivariate: groups of records that are near each other in all columns together (MDAV). All records of a group get the
  same numbers, so the table is k-anonymous in these columns.
- univariate: for each column by itself, groups of neighbours in the sorted order. It loses less, and is k-anonymous in each
  column only: two columns together may single out a record.

Means are computed of whole numbers, exactly, and rounded to the decimals of the column, halves to the even digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import Described, InputError, ParameterError
from sudare.kernels.records.microaggregation import group_by_distance
from sudare.microdata.perturb.number_columns import NumberColumn, read_number_column
from sudare.microdata.perturb.outcomes import Outcome, share_changed
from sudare.microdata.records import AnyRecords, names_of_columns, read_people_records
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["mdav_groups", "microaggregate", "sorted_groups"]

_TOGETHER = Words(
    "In these columns every record is equal to at least k - 1 others, so numbers known from elsewhere lead to a group, never "
    "to one record, if these columns are all by which records can be recognised. What all of a group have in common in other "
    "columns is still told (see l-diversity), and the other columns are published as they are. It is no differential privacy.",
    "これらの列では、どのレコードもほかの k - 1 件以上と同じ値です。レコードを特定できる列がこれですべてなら、"
    "外部で知られた数値からたどれるのは組までで、個々のレコードには届きません。"
    "組の全員がほかの列で同じ値をもてばそれは分かります (l-多様性を参照)。"
    "ほかの列はそのまま公表されます。差分プライバシーではありません。",
)
_APART = Words(
    "In each column by itself every number is that of at least k records, so a single exact number known from elsewhere does not "
    "lead to one record. Several numbers together may: the groups differ from column to column. It is no differential privacy.",
    "列ごとに見れば、どの数値も k 件以上のレコードに共通です。外部で知られた一つの正確な数値からは個々のレコードに届きません。"
    "組は列ごとに異なるため、複数の数値を合わせれば届くことがあります。差分プライバシーではありません。",
)
_KEEPS = Words(
    "The mean of each column and of each group, up to half a unit of the last digit; all other columns.",
    "各列および各組の平均 (最後の桁の半単位以内)。ほかの列はすべて元のままです。",
)


def microaggregate(
    records: AnyRecords,
    columns: Sequence[str],
    *,
    k: int,
    method: Literal["multivariate", "univariate"] = "multivariate",
) -> Outcome:
    """Replace the numbers of records by the means of groups of at least k, and fewer than 2 k, records.

    Nothing is drawn: the result follows from the data.

    Args:
        records: the table.
        columns: of numbers, without missing values.
        k: the smallest group, at least 2.
        method: ``"multivariate"`` (all columns together; time goes by n**2 / k) or ``"univariate"`` (each by itself).

    Raises:
        InputError: if a column is missing, a value is not a plain number (it names the row), or there are fewer than k records.

    References:
        Domingo-Ferrer, Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation (2005).

    Example:
        >>> from sudare.microdata.perturb.microaggregation import microaggregate
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"wage": [10, 90, 12, 91, 14, 95]})
        >>> microaggregate(people, ["wage"], k=3).records.column("wage").texts().tolist()
        ['12', '92', '12', '92', '12', '92']
    """
    check_arguments(microaggregate, locals(), "method")
    records = read_people_records(records, "microaggregate")
    columns = names_of_columns(columns, records, "columns", "microaggregate")
    function = "microaggregate"
    smallest = exact_integer(k, "k", function, Words("a whole number >= 2", "2 以上の整数"), smallest=2)
    if method not in ("multivariate", "univariate"):
        raise ParameterError(
            "method",
            function,
            Words("'multivariate' or 'univariate'", "'multivariate' または 'univariate'"),
            shown(method),
        )
    if isinstance(columns, str) or not columns or len(set(columns)) < len(columns):
        raise ParameterError(
            "columns",
            function,
            Words("a list of different names of columns", "互いに異なる列名のリスト"),
            Described("another object"),
        )
    numbers = [read_number_column(records.column(name)) for name in columns]
    if records.rows < smallest:
        raise InputError(
            f"The table has fewer than k = {smallest} records: no group is large enough. Take a smaller k.",
            f"表のレコードが k = {smallest} 件に満たないため、組を作れません。k を小さくしてください。",
        )
    if method == "multivariate":
        shared = mdav_groups([column.units for column in numbers], smallest)
        groups = [shared] * len(numbers)
    else:
        groups = [sorted_groups(column.units, smallest) for column in numbers]
    new = [column.to_column(_group_means(column, group)[group]) for column, group in zip(numbers, groups, strict=True)]
    result = records.with_columns(*new)
    return Outcome(
        result,
        f"microaggregation-{method}",
        _TOGETHER if method == "multivariate" else _APART,
        _KEEPS,
        Fraction(1),
        share_changed(records, result),
    )


def mdav_groups(columns: Sequence[NDArray[np.int64]], k: int) -> NDArray[np.int64]:
    """The group of each record by MDAV; columns count alike, each divided by its standard deviation.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.perturb.microaggregation import mdav_groups
        >>> mdav_groups([np.array([1, 100, 2, 101])], 2).tolist()
        [0, 1, 0, 1]
    """
    points = np.empty((columns[0].size, len(columns)))
    for j, units in enumerate(columns):
        centred = units - units.mean()
        spread = float(np.sqrt(np.mean(centred * centred)))
        points[:, j] = centred / spread if spread > 0 else 0.0
    groups = np.empty(columns[0].size, dtype=np.int64)
    group_by_distance(points, k, groups)
    return groups


def sorted_groups(units: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The group of each record, k at a time in the order of the numbers; the last group takes what is left over.

    Example:
        >>> import numpy as np
        >>> from sudare.microdata.perturb.microaggregation import sorted_groups
        >>> sorted_groups(np.array([5, 1, 4, 2, 3]), 2).tolist()
        [1, 0, 1, 0, 1]
    """
    groups = np.empty(units.size, dtype=np.int64)
    last = max(units.size // k - 1, 0)
    groups[np.argsort(units, kind="stable")] = np.minimum(np.arange(units.size) // k, last)
    return groups


def _group_means(column: NumberColumn, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """The mean of each group, exactly, then rounded to whole units, halves to even."""
    sizes = np.bincount(groups)
    largest = int(np.abs(column.units).max())
    fits = 2 * largest * int(sizes.max()) < 2**63
    sums = np.zeros(sizes.size, dtype=np.int64 if fits else object)
    np.add.at(sums, groups, column.units if fits else column.units.astype(object))
    whole, rest = sums // sizes, sums % sizes
    is_up = (2 * rest > sizes) | ((2 * rest == sizes) & (whole % 2 == 1))
    return np.asarray(whole + is_up, dtype=np.int64)
