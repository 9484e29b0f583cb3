"""The variants of Prio3 that the draft specifies, one for each kind of measurement."""

from __future__ import annotations

from sudare.collect.prio.vdaf.circuits import Count, HigherDegree, Histogram, MultihotCountVec, Sum, SumVec
from sudare.collect.prio.vdaf.fields import FIELD64
from sudare.collect.prio.vdaf.prio3 import Prio3

__all__ = [
    "Prio3Count",
    "Prio3HigherDegree",
    "Prio3Histogram",
    "Prio3MultihotCountVec",
    "Prio3Sum",
    "Prio3SumVec",
    "Prio3SumVecWithMultiproof",
]

PRIVATE_USE = 0xFFFFFFFF
"""The identifier of variants that have none of their own in the draft."""


class Prio3Count(Prio3):
    """How many of the reports say 1 (or True).

    Example:
        >>> from sudare.collect.prio import Prio3Count
        >>> Prio3Count().input_share_size(1)
        32
    """

    def __init__(self, shares: int = 2) -> None:
        super().__init__(Count(), 1, shares)


class Prio3Sum(Prio3):
    """The sum of whole numbers from 0 to a maximum."""

    def __init__(self, max_measurement: int, shares: int = 2) -> None:
        super().__init__(Sum(max_measurement), 2, shares)


class Prio3SumVec(Prio3):
    """The sums of vectors of whole numbers from 0 to a maximum."""

    def __init__(self, length: int, max_measurement: int, chunk_length: int | None = None, shares: int = 2) -> None:
        super().__init__(SumVec(length, max_measurement, chunk_length), 3, shares)


class Prio3SumVecWithMultiproof(Prio3):
    """`Prio3SumVec` in the smaller field, made as sound by three proofs. Its number is for private use."""

    def __init__(self, length: int, max_measurement: int, chunk_length: int | None = None, shares: int = 2) -> None:
        super().__init__(SumVec(length, max_measurement, chunk_length, FIELD64), PRIVATE_USE, shares, proofs=3)


class Prio3Histogram(Prio3):
    """How many reports name each of the values 0 to length - 1.

    Args:
        length: how many values there are.
        chunk_length: how many are checked at once; the choice with the shortest proof by default.
        shares: how many aggregators there are.

    Example:
        >>> from sudare.collect.prio import Prio3Histogram
        >>> histogram, key, ctx = Prio3Histogram(length=3), bytes(32), b"example"
        >>> outputs = []
        >>> for value in (0, 2, 2):
        ...     report = histogram.shard(value, ctx)
        ...     first, told = histogram.verify_init(key, ctx, 0, report.nonce, report.public_share, report.input_shares[0])
        ...     second, heard = histogram.verify_init(key, ctx, 1, report.nonce, report.public_share, report.input_shares[1])
        ...     message = histogram.verifier_shares_to_message(ctx, [told, heard])
        ...     outputs.append([histogram.verify_next(ctx, state, message) for state in (first, second)])
        >>> shares = [histogram.aggregate([output[i] for output in outputs]) for i in range(2)]
        >>> histogram.unshard(shares, 3)
        [1, 0, 2]
    """

    def __init__(self, length: int, chunk_length: int | None = None, shares: int = 2) -> None:
        super().__init__(Histogram(length, chunk_length), 4, shares)


class Prio3MultihotCountVec(Prio3):
    """How many reports name each of several values, each report at most some number of them."""

    def __init__(self, length: int, max_weight: int, chunk_length: int | None = None, shares: int = 2) -> None:
        super().__init__(MultihotCountVec(length, max_weight, chunk_length), 5, shares)


class Prio3HigherDegree(Prio3):
    """The sum of numbers 0, 1 or 2 by a gadget of degree 3: the draft has it as a test."""

    def __init__(self, shares: int = 2) -> None:
        super().__init__(HigherDegree(), PRIVATE_USE, shares)
