"""Groups by a whole number of a public range that is far too long to list: pure epsilon, without a delta.

Every number of the range gets noise, whether or not somebody has it, and those are published whose noisy count reaches
a threshold. Numbers that nobody has are not visited one by one (`sudare.tables.mechanisms.flat`): the time goes by what there is
and by what is published.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.table import CountTable
from sudare.errors import ParameterError
from sudare.noise.exact import LatticeLaw
from sudare.noise.skipping import approximate_tail
from sudare.noise.thresholds import measurement_of_rows
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.budget import Budget
from sudare.privacy.measurements import LaplaceMeasurement
from sudare.privacy.unit import Adjacency, Unit
from sudare.tables.mechanisms.flat import laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.noise.entropy import EntropySource

__all__ = ["SparseKeys", "publish_sparse", "threshold_for_few"]

MAX_RANGE = 1 << 60


class SparseKeys(NamedTuple):
    """Which numbers of a range are published, their noisy counts, and what that cost.

    Attributes:
        keys: ascending.
        counts: the noisy number of rows of each; none is below the threshold.
        measurements: the noise.
    """

    keys: NDArray[np.int64]
    counts: NDArray[np.int64]
    measurements: tuple[LaplaceMeasurement]


def threshold_for_few(
    domain_size: int,
    rows: int,
    epsilon: Rational,
    expected: Rational = Fraction(1, 100),
    adjacency: Adjacency = "add-remove",
) -> int:
    """The smallest threshold at which so few numbers are expected to be published that nobody has.

    It bears on what is useful, not on what is private.

    Example:
        >>> from sudare.sql.measures.sparse import threshold_for_few
        >>> threshold_for_few(10**12, 1, 1)
        32
    """
    requirement = "a whole number from 1 to 2**60"
    size = exact_integer(domain_size, "domain_size", "threshold_for_few", requirement, smallest=1, largest=MAX_RANGE)
    few = exact_fraction(expected, "expected", "threshold_for_few", Words("a positive number", "0 より大きい数"))
    if few <= 0:
        raise ParameterError("expected", "threshold_for_few", Words("a positive number", "0 より大きい数"), expected)
    law = LatticeLaw(1 / measurement_of_rows(rows, epsilon, adjacency).scale, Fraction(0), two_sided=True)
    low, high = 0, 1
    while approximate_tail(law, high) * size > few:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if approximate_tail(law, middle) * size > few else (low, middle)
    return high


def publish_sparse(
    keys: NDArray[np.int64],
    counts: NDArray[np.int64],
    domain_size: int,
    rows: int,
    epsilon: Rational,
    *,
    threshold: int | None = None,
    expected: Rational = Fraction(1, 100),
    unit: Unit | None = None,
    entropy: EntropySource | None = None,
    threads: int = 1,
) -> SparseKeys:
    """Publish those numbers of a public range whose noisy number of rows reaches a threshold.

    Guarantee: pure epsilon for the unit. Further numbers about the published keys, each with its own noise and cost,
    compose with it, for keys that nobody has as well.

    Sensitivity: one unit has at most ``rows`` rows, with any keys.

    Proof: ``tables/mechanisms/flat.md``.

    Args:
        keys: the numbers that rows have, from 0 to ``domain_size - 1``, each once, in any order.
        counts: how many rows have each of them.
        domain_size: how long the range is, at most 2**60.
        rows: how many rows one unit may have.
        epsilon: for the counts.
        threshold: the smallest noisy count that is published; by ``expected`` if left out.
        expected: how many numbers that nobody has may be expected to be published.
        unit: who is protected; only its adjacency is used. Adding and removing if left out.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads draw.

    Raises:
        ParameterError: if an argument is not what it should be, or too many numbers would be published.

    References:
        Cormode, Procopiuc, Srivastava, Tran: Differentially private summaries for sparse data (2012).

    Example:
        >>> import numpy as np
        >>> from sudare.sql.measures.sparse import publish_sparse
        >>> published = publish_sparse(np.array([7, 2**40]), np.array([5000, 9000]), 2**50, 2, 1, expected=1e-9)
        >>> published.keys.tolist()
        [7, 1099511627776]
    """
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", "publish_sparse", "a Unit", shown(unit))
    counted = Unit.with_rows(rows, who=protected.who, adjacency=protected.adjacency)
    least = (
        threshold_for_few(domain_size, rows, epsilon, expected, protected.adjacency) if threshold is None else threshold
    )
    table = CountTable.from_cells(Domain.of_shape((domain_size,)), keys, counts)
    published = laplace(table, Budget(epsilon=epsilon), threshold=least, unit=counted, entropy=entropy, threads=threads)
    return SparseKeys(
        published.table.keys.astype(np.int64),
        published.table.counts,
        (cast("LaplaceMeasurement", published.event.measurements[0]),),
    )
