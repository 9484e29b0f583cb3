"""How sure a reconstructed table is: intervals from standard errors, from the information, and by the bootstrap.

True values are fixed; only the randomizing is chance. Proof: ``crosstab.md`` beside this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.collect.estimation.crosstab import CrossTab, rounded
from sudare.collect.estimation.interior_point import MAX_WRITTEN_OUT, can_be_written_out, fit_by_interior_point
from sudare.collect.estimation.likelihood import Fit, Likelihood, fit_by_bayes
from sudare.distributions import normal_quantile
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["bootstrap_tables", "fisher_variances", "intervals_of"]

INSIDE = 2.0
"""Standard errors above 0 from which on a cell counts as inside."""

BOOTSTRAP_ITERATIONS = 2_000
SMALL = 1 << 16
"""Entries of the whole matrix, up to which an interior-point step is cheaper than many of the iterative Bayes method."""


def intervals_of(
    table: CrossTab,
    level: float,
    method: Literal["auto", "unbiased", "fisher", "bootstrap"],
    replicates: int,
    seed: int,
) -> tuple[Values, Values]:
    """See `CrossTab.intervals`."""
    function = "CrossTab.intervals"
    if not isinstance(level, float) or not 0 < level < 1:
        raise ParameterError(
            "level", function, Words("a number above 0 and below 1", "0 より大きく 1 より小さい数"), shown(level)
        )
    if method not in ("auto", "unbiased", "fisher", "bootstrap"):
        raise ParameterError(
            "method",
            function,
            Words(
                '"auto", "unbiased", "fisher" or "bootstrap"', '"auto"、"unbiased"、"fisher"、"bootstrap" のいずれか'
            ),
            shown(method),
        )
    reach = normal_quantile(0.5 + level / 2)
    if method == "unbiased" or (method == "auto" and table.fit is None):
        return table.unbiased - reach * table.standard_errors, table.unbiased + reach * table.standard_errors
    if table.fit is None:
        hint = "Make margins by counting the reports of the margin only, and estimating from those."
        got = Described("a table by inversion, or a margin")
        raise ParameterError("method", function, Words('"unbiased" for this table', 'この表では "unbiased"'), got, hint)
    errors = None if method == "bootstrap" else _errors_inside(table)
    if errors is not None:
        low, high = table.constrained - reach * errors, table.constrained + reach * errors
        return np.maximum(low, 0.0), np.minimum(high, float(table.people))
    if method == "fisher":
        raise GuaranteeError(
            Words(
                "The information gives intervals only where every cell is well above 0, and for matrices that have an inverse. "
                'Use method="bootstrap".',
                "情報行列から区間を求められるのは、どのセルも 0 より十分大きく、逆行列がある場合だけです。"
                'method="bootstrap" を使ってください。',
            )
        )
    tables = bootstrap_tables(table, replicates, seed)
    return _ends(table.constrained, tables, level, float(table.people))


def fisher_variances(table: CrossTab) -> Values:
    """Of the maximum likelihood estimate inside the simplex, for a fixed population.

    Raises:
        GuaranteeError: if the information matrix has no inverse.
        ParameterError: if there are more reports than values, and too many cells to write the matrix out.
    """
    shares = table.constrained / table.people
    expected = table.operator.forward(shares)
    if table.operator.is_square:
        inverse = table.operator.squared_inverse(expected)
    else:
        if not can_be_written_out(table.operator):
            requirement = f"a whole matrix of at most {MAX_WRITTEN_OUT:,} entries"
            raise ParameterError("method", "fisher_variances", requirement, Described("a larger one"))
        whole = table.operator.written_out()
        over = np.divide(1.0, expected, out=np.zeros_like(expected), where=expected > 0).ravel()
        information = (whole * over) @ whole.T
        if np.linalg.cond(information) > 1e13:
            raise GuaranteeError(
                Words(
                    "Different true tables give the same reports, so no information tells them apart.",
                    "異なる真の表から同じ報告が得られるため、情報行列では区別できません。",
                )
            )
        inverse = np.diag(np.linalg.inv(information)).reshape(shares.shape)
    return np.asarray(np.maximum(inverse - shares, 0.0) * table.people)


def _errors_inside(table: CrossTab) -> Values | None:
    """Standard errors if every cell is well inside the simplex and at the maximum; None otherwise."""
    if table.fit is None or not table.fit.converged:
        return None
    try:
        errors = np.sqrt(fisher_variances(table))
    except (GuaranteeError, ParameterError):
        return None
    return errors if bool((table.constrained >= INSIDE * errors).all()) else None


def bootstrap_tables(table: CrossTab, replicates: int, seed: int) -> Values:
    """Estimates from simulated reports of the estimated population, one table for each replicate.

    Args:
        table: by the iterative Bayes method or maximum likelihood.
        replicates: how many, at least 20.
        seed: of NumPy's generator: the bootstrap touches nothing but the reports and needs no secret.
    """
    function = "CrossTab.intervals"
    number = exact_integer(
        replicates, "replicates", function, Words("a whole number >= 20", "20 以上の整数"), smallest=20
    )
    exact_integer(seed, "seed", function, Words("a whole number >= 0", "0 以上の整数"), smallest=0)
    assert table.fit is not None  # noqa: S101 - checked before
    generator = np.random.default_rng(seed)
    population = rounded(table.constrained, table.people)
    tables = np.empty((number, *table.constrained.shape))
    for place in range(number):
        told = table.operator.draw(population, generator)
        tables[place] = _fitted_like(table, table.fit, told / table.people) * table.people
    return tables


def _fitted_like(table: CrossTab, fit: Fit, told: Values) -> Values:
    """Shares from other reports, by the method that the table is from."""
    likelihood = Likelihood(table.operator, told)
    start = 0.5 * table.constrained / table.people + 0.5 / table.constrained.size
    if not fit.converged:  # stopped on purpose, before the noise
        return fit_by_bayes(likelihood, start, 0.0, fit.iterations, accelerate=False).shares
    tolerance = max(fit.gap, 1e-6)
    if likelihood.told.size * start.size <= SMALL:
        return fit_by_interior_point(likelihood, start, tolerance).shares
    return fit_by_bayes(likelihood, start, tolerance, BOOTSTRAP_ITERATIONS).shares


def _ends(estimate: Values, tables: Values, level: float, people: float) -> tuple[Values, Values]:
    """The wider of two intervals: quantiles of the replicates, and the same mirrored at the estimate."""
    low, high = np.quantile(tables, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    low, high = np.minimum(low, 2 * estimate - high), np.maximum(high, 2 * estimate - low)
    return np.maximum(low, 0.0), np.minimum(high, people)
