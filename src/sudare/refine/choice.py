"""Which weight to take for `negative_l2` or `nonnegative_lasso`.

The weight must not be tried out on the data that is to be protected. Two ways are open:

- `weight_by_public_data`: on a similar table that is public, such as the last census, the noise is simulated and the
  weight with the smallest error is taken.
- `weight_by_sparsity`: the weight that leaves a given share of the cells non-empty. The share may be public knowledge,
  or come from `sudare.noise.occupied.estimate_non_zeros`, which spends a budget on the number of non-empty cells. It
  makes a table look as it should; the smallest error is usually reached with somewhat more non-empty cells than there
  truly are, because small counts cannot be told from noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.lattice import MAX_SCALE, MIN_SCALE, discrete_laplace
from sudare.noise.sampler import Sampler, read_entropy
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement
from sudare.refine.arguments import read_values
from sudare.refine.integers import nearest_integers
from sudare.refine.shrinkage import nonnegative_lasso
from sudare.refine.simplex import negative_l2, project_on_simplex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["WeightChoice", "WeightScore", "weight_by_public_data", "weight_by_sparsity"]

Method = Literal["negative_l2", "nonnegative_lasso"]
METHODS = ("negative_l2", "nonnegative_lasso")
BISECTIONS = 40
NEGATIVE_L2_CANDIDATES = (
    *(0.0, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08),
    *(0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8),
)
"""Denser near 0: the more a table's noise is below its counts, the smaller the best weight."""
SHARPEST = 1 - 2.0**-20
"""Of the largest weight that makes sense: what it leaves is the largest values."""


@dataclass(frozen=True)
class WeightScore:
    """How well one weight did.

    Attributes:
        weight: the weight.
        rmse: the root of the mean squared error over all cells, after rounding to whole numbers; mean over the repeats.
        non_zero_share: the share of cells that were not empty then; mean over the repeats.
    """

    weight: float
    rmse: float
    non_zero_share: float


@dataclass(frozen=True)
class WeightChoice:
    """The best of several weights, and how all of them did.

    Attributes:
        weight: the one with the smallest error; of equal ones the first.
        method: what it is the weight of.
        curve: the scores of all candidates, in their order.
    """

    weight: float
    method: Method
    curve: tuple[WeightScore, ...]


def weight_by_public_data(
    public_counts: CountTable | ArrayLike,
    noise: LaplaceMeasurement | GaussianMeasurement | Rational,
    candidates: Sequence[Rational] | None = None,
    *,
    method: Method = "negative_l2",
    repeats: int = 10,
    entropy: EntropySource | None = None,
) -> WeightChoice:
    """The weight with the smallest error on a similar table that is public.

    The noise is drawn ``repeats`` times, and every candidate refines the same noisy tables.

    Guarantee: none is needed, because no protected data is looked at. The counts must really be public.

    Args:
        public_counts: a table of counts that is known to everyone.
        noise: the measurement whose noise will be added to the protected table, or the scale of its Laplace noise.
        candidates: the weights to try; by default 0 and about twenty from 0.001 to 0.8 for negative l2, and for the Lasso
            0, 1/2, 1, ..., 10 standard deviations of the noise.
        method: what the weight is for, ``"negative_l2"`` or ``"nonnegative_lasso"`` (scaled to the total).
        repeats: how often noise is drawn.
        entropy: where the bits come from; the secure source by default.

    Raises:
        ParameterError: if an argument is not what is asked for.

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.refine import weight_by_public_data
        >>> last_census = np.zeros(1000, dtype=np.int64)
        >>> last_census[:30] = 100
        >>> choice = weight_by_public_data(last_census, noise=10, candidates=[0, 0.3, 0.6], repeats=3)
        >>> choice.weight in (0, 0.3, 0.6), len(choice.curve)
        (True, 3)
    """
    function = "weight_by_public_data"
    counts = _read_public(public_counts, function)
    sampler, deviation = _read_noise(noise, function)
    _read_method(method, function)
    weights = _read_candidates(candidates, method, deviation, function)
    times = exact_integer(
        repeats,
        "repeats",
        function,
        Words("a whole number from 1 to 10**6", "1 以上 10**6 以下の整数"),
        smallest=1,
        largest=10**6,
    )
    source = read_entropy(entropy, function)
    total = int(counts.sum())
    squares = float((counts.astype(np.float64) ** 2).sum())
    errors, shares = np.zeros(len(weights)), np.zeros(len(weights))
    for _ in range(times):
        noisy = (sampler.draw(counts.size, source) + counts).astype(np.float64)
        for i, weight in enumerate(weights):
            places, refined = _refined(noisy, total, weight, method)
            # Cells that stay empty contribute their squared counts, which are in the sum already.
            own = counts[places].astype(np.float64)
            errors[i] += np.sqrt(max(squares + float((refined * (refined - 2 * own)).sum()), 0.0) / counts.size)
            shares[i] += np.count_nonzero(refined) / counts.size
    curve = tuple(
        WeightScore(weight, float(error / times), float(share / times))
        for weight, error, share in zip(weights, errors, shares, strict=True)
    )
    return WeightChoice(min(curve, key=lambda score: score.rmse).weight, method, curve)


def weight_by_sparsity(
    values: ArrayLike, total: int, share_of_non_zeros: Rational, *, method: Method = "negative_l2"
) -> float:
    """The smallest weight that leaves at most a given share of the cells non-empty, after rounding to whole numbers.

    A larger weight leaves fewer cells; the weight is found by bisection. It is 0 if that leaves few enough, and if even
    the largest weight leaves more, it is that.

    Args:
        values: the noisy values of all cells.
        total: what the refined table adds up to, a whole number.
        share_of_non_zeros: the share wanted, from 0 to 1; an estimate of their number divided by that of all cells will do.
        method: what the weight is for, ``"negative_l2"`` or ``"nonnegative_lasso"`` (scaled to the total).

    Raises:
        ParameterError: if an argument is not what is asked for.

    Example:
        >>> from sudare.refine import nearest_integers, negative_l2, weight_by_sparsity
        >>> noisy = [30, 22, 5, 4, -3, -6, 2, 1]
        >>> weight = weight_by_sparsity(noisy, 50, share_of_non_zeros=0.25)
        >>> nearest_integers(negative_l2(noisy, 50, weight), 50).tolist()
        [30, 20, 0, 0, 0, 0, 0, 0]
    """
    function = "weight_by_sparsity"
    array = read_values(values, function).reshape(-1)
    people = exact_integer(
        total,
        "total",
        function,
        Words("a whole number from 0 to 2**53", "0 以上 2**53 以下の整数"),
        smallest=0,
        largest=2**53,
    )
    requirement = "a number from 0 to 1"
    share = exact_fraction(share_of_non_zeros, "share_of_non_zeros", function, requirement)
    if not 0 <= share <= 1:
        raise ParameterError("share_of_non_zeros", function, requirement, share_of_non_zeros)
    _read_method(method, function)
    most = int(share * array.size)

    def is_sparse(weight: float) -> bool:
        return int(np.count_nonzero(_refined(array, people, weight, method)[1])) <= most

    # A Lasso lowers by half its weight.
    low, high = 0.0, SHARPEST * (1.0 if method == "negative_l2" else max(2 * float(array.max()), 0.0))
    if method == "negative_l2" and people:
        # Only what a weight of 0 leaves can be left by another; the rest need not be looked at again.
        array = array[project_on_simplex(array, people) > 0]
    if is_sparse(low):
        return low
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_sparse(middle) else (middle, high)
    return high


def _refined(noisy: Values, total: int, weight: float, method: Method) -> tuple[NDArray[np.int64], Counts]:
    """Where the refined table is positive, and its whole numbers there."""
    real = negative_l2(noisy, total, weight) if method == "negative_l2" else nonnegative_lasso(noisy, total, weight)
    places = np.flatnonzero(real)
    if not places.size:
        return places, np.empty(0, dtype=np.int64)
    return places, nearest_integers(real[places], total)


def _read_public(counts: CountTable | ArrayLike, function: str) -> Counts:
    if isinstance(counts, CountTable):
        return counts.to_dense().reshape(-1)
    try:
        dense = CountTable.from_dense(counts).to_dense().reshape(-1)
    except ParameterError as error:
        raise ParameterError("public_counts", function, "a CountTable or whole numbers >= 0", error.got) from None
    if not dense.size:
        raise ParameterError("public_counts", function, "a table with at least one cell", Described("none"))
    return dense


def _read_noise(noise: object, function: str) -> tuple[Sampler, float]:
    """The sampler of the noise, and about its standard deviation."""
    if isinstance(noise, LaplaceMeasurement):
        return noise_for(noise), sqrt(2 * noise.scale**2)
    if isinstance(noise, GaussianMeasurement):
        return noise_for(noise), sqrt(noise.sigma_squared)
    requirement = "a LaplaceMeasurement, a GaussianMeasurement, or a scale from 0.001 to 10**12"
    scale = exact_fraction(noise, "noise", function, requirement)
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ParameterError("noise", function, requirement, shown(noise))
    return discrete_laplace(scale), sqrt(2 * scale**2)


def _read_method(method: object, function: str) -> None:
    if not isinstance(method, str) or method not in METHODS:
        raise ParameterError("method", function, "'negative_l2' or 'nonnegative_lasso'", shown(method))


def _read_candidates(
    candidates: Sequence[Rational] | None, method: Method, deviation: float, function: str
) -> list[float]:
    if candidates is None:
        if method == "negative_l2":
            return list(NEGATIVE_L2_CANDIDATES)
        return [step * deviation / 2 for step in range(21)]
    limit, requirement = (1, "numbers from 0 to below 1") if method == "negative_l2" else (2**53, "numbers >= 0")
    if isinstance(candidates, (str, bytes, dict)) or not isinstance(candidates, (Sequence, np.ndarray)):
        raise ParameterError("candidates", function, f"a list of {requirement}", shown(candidates))
    exact = [exact_fraction(weight, "candidates", function, requirement) for weight in candidates]
    if not exact or not all(0 <= weight < limit for weight in exact):
        raise ParameterError("candidates", function, f"{requirement}, at least one", Described("others"))
    return [float(weight) for weight in exact]
