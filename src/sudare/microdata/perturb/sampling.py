"""Random samples of records: each by a coin of its own, a fixed number of them, or a number or share of each stratum.

All draws are exact. Rows stay in the order of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import InputError, ParameterError
from sudare.microdata.perturb.exact_draws import random_order, read_probability, toss_coins
from sudare.microdata.perturb.outcomes import Outcome
from sudare.microdata.records import AnyRecords, CodedColumn, Records, read_people_records
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["sample_by_coins", "sample_of_size", "sample_of_strata"]

KEEPS_SHARES = Words(
    "Each record as it is; the number of records of each stratum is the share of it, rounded up or down by chance.",
    "各レコードはそのままです。各層の件数は指定の割合を、確率的に切り上げまたは切り捨てた数です。",
)
KEEPS_NUMBERS = Words(
    "Each record as it is; the number of records of each stratum is as it was asked for.",
    "各レコードはそのままです。各層の件数は指定どおりです。",
)

PROTECTS = Words(
    "Sampling hides who is in the published file: somebody who knows that a person was surveyed cannot be sure that the "
    "record is there. The records that were drawn are published as they are: a person with rare values is recognised "
    "by whoever knows them. It is no differential privacy by itself, because a record that is published was certainly in the "
    "data. It lowers the risk of other methods, and with groups of k or more records it gives differential privacy (sampled "
    "k-anonymity).",
    "標本抽出は、公表ファイルに誰が含まれるかを隠します。ある人が調査されたと知っていても、その人のレコードが公表されたとは言い切れません。"
    "抽出されたレコードはそのまま公表されるため、まれな値をもつ人は、それを知る人に特定されます。公表されたレコードは必ず元のデータにあるため、"
    "これだけでは差分プライバシーになりません。ほかの手法のリスクを下げ、k 件以上の組だけを公表すれば差分プライバシーになります "
    "(標本抽出付き k-匿名性)。",
)
ALL_PROTECTS = Words(
    "Every record was asked for, so nothing is hidden: the records are published as they are, and whoever was surveyed is among "
    "them. It is no differential privacy.",
    "すべてのレコードを求めたため、何も隠れません。レコードはそのまま公表され、調査された人は必ず含まれます。差分プライバシーではありません。",
)
WHOLE_STRATA_PROTECT = Words(
    "Of at least one stratum every record was asked for: whoever is in it is certainly among the published records, and nothing "
    "is hidden there. In the other strata, somebody who knows that a person was surveyed cannot be sure that the person is among "
    "them. The records that were drawn are published as they are. It is no differential privacy.",
    "少なくとも一つの層はすべてのレコードを求めたため、その層の人は必ず公表されたレコードに含まれ、何も隠れません。ほかの層では、調査されたと"
    "知っていても公表されたとは言い切れません。抽出されたレコードはそのまま公表されます。差分プライバシーではありません。",
)


def sample_by_coins(records: AnyRecords, rate: Rational, *, entropy: EntropySource | None = None) -> Outcome:
    """Keep each record with the same probability, independently of all others (Bernoulli sampling).

    Whether a record is kept says nothing about any other record, nor about how many there are. This is the sampling that
    sampled k-anonymity rests on.

    Args:
        records: the table.
        rate: the probability, from 0 to 1, read exactly. A rate of 1 hides nobody, and what is said of the result tells so.
        entropy: where the bits come from; the secure source by default.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.sampling import sample_by_coins
        >>> people = Records.of_columns({"age": range(1000)})
        >>> 0 < sample_by_coins(people, 0.5).records.rows < 1000
        True
    """
    records = read_people_records(records, "sample_by_coins")
    function = "sample_by_coins"
    exact = read_probability(rate, "rate", function)
    kept = np.flatnonzero(toss_coins(exact, records.rows, read_entropy(entropy, function)))
    keeps = Words(
        "Each record as it is; every count of the table is kept in expectation, divided by the rate.",
        "各レコードはそのままです。どの件数も、率で割れば期待値として保たれます。",
    )
    return _outcome(records, kept, "bernoulli-sample", keeps, ALL_PROTECTS if exact == 1 else PROTECTS)


def sample_of_size(records: AnyRecords, size: int, *, entropy: EntropySource | None = None) -> Outcome:
    """Draw a number of records without putting any back; every set of this many records is equally likely.

    The number is fixed, so records are not independent: the guarantee of sampled k-anonymity does not hold for it.

    Args:
        records: the data.
        size: how many records to draw.
        entropy: where chance comes from; secure if left out.

    Raises:
        InputError: if the table has fewer records.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.sampling import sample_of_size
        >>> sample_of_size(Records.of_columns({"age": range(1000)}), 30).records.rows
        30
    """
    records = read_people_records(records, "sample_of_size")
    function = "sample_of_size"
    wanted = exact_integer(size, "size", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
    if wanted > records.rows:
        raise InputError(
            f"A sample of {wanted} records is larger than the table. Ask for fewer.",
            f"標本の大きさ {wanted} 件は表のレコード数を超えています。小さくしてください。",
        )
    kept = np.sort(random_order(records.rows, entropy)[:wanted])
    keeps = Words(
        "Each record as it is; the number of records drawn is exact.",
        "各レコードはそのままです。件数は指定どおりです。",
    )
    return _outcome(records, kept, "simple-random-sample", keeps, ALL_PROTECTS if wanted == records.rows else PROTECTS)


def sample_of_strata(
    records: AnyRecords,
    column: str,
    sizes: Mapping[str | None, int] | Rational,
    *,
    entropy: EntropySource | None = None,
) -> Outcome:
    """Draw a number of records of each stratum, without putting any back.

    A share of a stratum is hardly ever a whole number of records. It is rounded down, and one more is drawn with the probability
    of what is left over: so each record is drawn with exactly the share as its probability, and the only record of a stratum is
    not drawn for certain.

    Args:
        records: the table.
        column: records with the same value in it form a stratum.
        sizes: how many of each value (values left out: none), or one share for all strata.
        entropy: where the bits come from; the secure source by default.

    Raises:
        InputError: if there is no such column, or a stratum has fewer records than asked for.

    Example:
        >>> from sudare.microdata.records import Records
        >>> from sudare.microdata.perturb.sampling import sample_of_strata
        >>> people = Records.of_columns({"sex": ["f"] * 60 + ["m"] * 40})
        >>> sample = sample_of_strata(people, "sex", 0.1).records.column("sex").texts().tolist()
        >>> sample.count("f"), sample.count("m")
        (6, 4)
    """
    check_arguments(sample_of_strata, locals(), "column")
    records = read_people_records(records, "sample_of_strata")
    strata = records.column(column)
    source = read_entropy(entropy, "sample_of_strata")
    wanted = _wanted(strata, sizes, source)
    order = random_order(records.rows, source)
    # Stable: within a stratum the random order stays.
    order = order[np.argsort(strata.codes[order], kind="stable")]
    counts = np.bincount(strata.codes, minlength=len(strata.labels))
    starts = np.cumsum(counts) - counts
    rank = np.arange(records.rows) - np.repeat(starts, counts)
    kept = np.sort(order[rank < np.repeat(wanted, counts)])
    keeps = KEEPS_NUMBERS if isinstance(sizes, Mapping) else KEEPS_SHARES
    return _outcome(records, kept, "stratified-sample", keeps, _protects(counts, wanted, sizes))


def _protects(
    counts: NDArray[np.int64], wanted: NDArray[np.int64], sizes: Mapping[str | None, int] | Rational
) -> Words:
    if not isinstance(sizes, Mapping):
        return ALL_PROTECTS if read_probability(sizes, "sizes", "sample_of_strata") == 1 else PROTECTS
    is_whole = wanted == counts
    return ALL_PROTECTS if is_whole.all() else WHOLE_STRATA_PROTECT if is_whole.any() else PROTECTS


def _wanted(
    strata: CodedColumn, sizes: Mapping[str | None, int] | Rational, source: EntropySource
) -> NDArray[np.int64]:
    function = "sample_of_strata"
    counts = np.bincount(strata.codes, minlength=len(strata.labels)).tolist()
    if not isinstance(sizes, Mapping):
        share = read_probability(sizes, "sizes", function)
        drawn = np.zeros(len(counts), dtype=np.int64)
        for count in sorted(set(counts)):
            alike = np.flatnonzero(np.array(counts) == count)
            whole, rest = divmod(share * count, 1)
            drawn[alike] = int(whole) + toss_coins(rest, alike.size, source)
        return drawn
    requirement = Words("a share, or a whole number >= 0 for each value", "割合、または値ごとに 0 以上の整数")
    wanted = np.zeros(len(counts), dtype=np.int64)
    places = {label: place for place, label in enumerate(strata.labels)}
    for label, size in sizes.items():
        number = exact_integer(size, "sizes", function, requirement, smallest=0)
        if label is not None and not isinstance(label, str):
            raise ParameterError("sizes", function, "with texts, or None, as values of the column", shown(label))
        if number > (counts[places[label]] if label in places else 0):
            raise InputError(
                f"The stratum {label!r} of column {strata.name!r} has fewer than the {number} records asked for.",
                f"列 {strata.name!r} の層 {label!r} のレコードは、指定の {number} 件より少ないです。",
            )
        if label in places:
            wanted[places[label]] = number
    return wanted


def _outcome(records: Records, kept: NDArray[np.int64], method: str, keeps: Words, protects: Words) -> Outcome:
    touched = Fraction(kept.size, records.rows) if records.rows else Fraction(0)
    return Outcome(records.take(kept), method, protects, keeps, touched, Fraction(0))
