"""Cross tabulation: how many people are in each cell of a table, from records whose attributes were randomized one by one.

Three estimates, all without ever forming the matrix of the whole table:

- `invert`: the inverse matrix of each axis. Right on average, with variances in closed form; small cells may come out below 0.
- `iterative_bayes`: multiply each cell by how much likelier it makes the reports, again and again. Never below 0, and
  needs no inverse.
- `maximum_likelihood`: what the iterative Bayes method tends to, to many digits.

Proof: ``crosstab.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.border.signatures import check_arguments
from sudare.collect.estimation.interior_point import can_be_written_out, fit_by_interior_point
from sudare.collect.estimation.likelihood import Fit, Likelihood, fit_by_bayes, steps_before_overfitting
from sudare.collect.estimation.records import Attributes, RandomizedAttribute, count_reports, read_problem
from sudare.collect.transitions.kronecker import Kronecker
from sudare.domain import Category, CountTable, Domain
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.parameters import exact_integer, shown
from sudare.refine import controlled_rounding, project_on_simplex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = ["CrossTab", "RandomizedAttribute", "count_reports", "invert", "iterative_bayes", "maximum_likelihood"]

Method = Literal["inversion", "iterative-bayes", "maximum-likelihood"]
UNIFORM_PART = 0.5
"""Of the start: a cell that starts at 0 would stay there."""

FINE_ENOUGH_FOR_NEWTON = 1e-2


@dataclass(frozen=True, eq=False)
class CrossTab(ShownRows):
    """A table of estimated numbers of people.

    Attributes:
        attributes: what the axes are.
        reports: how many records report each cell.
        constrained: the estimate with cells >= 0 that add up to the number of people.
        method: which method it is from.
        fit: how well the likelihood was maximised; None for inversion.
    """

    attributes: tuple[RandomizedAttribute, ...]
    reports: Counts
    constrained: Values
    method: Method
    fit: Fit | None = None

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each cell: labels, estimates and, where there is an inverse, standard errors of the unbiased ones."""
        places = np.unravel_index(np.arange(self.constrained.size), self.constrained.shape)
        labels = {
            attribute.name: [attribute.labels[place] for place in along]
            for attribute, along in zip(self.attributes, places, strict=True)
        }
        found = {**labels, "people": self.constrained.ravel()}
        try:
            return {**found, "unbiased": self.unbiased.ravel(), "standard_error": self.standard_errors.ravel()}
        except GuaranteeError:
            return found

    @property
    def names(self) -> tuple[str, ...]:
        """Of the attributes."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def labels(self) -> tuple[tuple[object, ...], ...]:
        """The values of each attribute."""
        return tuple(attribute.labels for attribute in self.attributes)

    @property
    def people(self) -> int:
        """How many records there are."""
        return int(self.reports.sum())

    @cached_property
    def operator(self) -> Kronecker:
        """The transitions of all attributes together."""
        return Kronecker([attribute.transition for attribute in self.attributes])

    @cached_property
    def unbiased(self) -> Values:
        """By inversion: right on average, possibly below 0.

        Raises:
            GuaranteeError: if the matrix of an attribute has no inverse.
        """
        return self.operator.solve(self.reports.astype(np.float64))

    @cached_property
    def variances(self) -> Values:
        """Of the unbiased estimates, for these people: themselves estimated without bias, and cut off at 0."""
        return np.maximum(self.operator.squared_inverse(self.reports.astype(np.float64)) - self.unbiased, 0.0)

    @property
    def standard_errors(self) -> Values:
        """Of the unbiased estimates, and not of the constrained ones of other methods than inversion."""
        return np.sqrt(self.variances)

    def intervals(
        self,
        level: float = 0.95,
        *,
        method: Literal["auto", "unbiased", "fisher", "bootstrap"] = "auto",
        replicates: int = 200,
        seed: int = 0,
    ) -> tuple[Values, Values]:
        """Lower and upper ends that hold the true number with this probability, for each cell by itself.

        Args:
            level: above 0 and below 1.
            method: ``unbiased`` from the standard errors of inversion; ``fisher`` from the information, for an estimate inside
                the simplex; ``bootstrap`` by randomizing the estimated population again and again; ``auto``: unbiased for
                inversion and for margins, else Fisher where every cell is two standard errors above 0, else bootstrap.
            replicates: of the bootstrap.
            seed: of the bootstrap.
        """
        from sudare.collect.estimation.crosstab_intervals import intervals_of

        return intervals_of(self, level, method, replicates, seed)

    def margin(self, *names: str) -> CrossTab:
        """The table of some of the attributes, in the order named; unbiased estimates and variances are those of the margin.

        Raises:
            ParameterError: if there is no such attribute, or one is named twice.
        """
        if not names or len(set(names)) != len(names) or not set(names) <= set(self.names):
            requirement = f"different names among {', '.join(map(repr, self.names))}"
            raise ParameterError("names", "CrossTab.margin", requirement, Described(repr(names)[:80]))
        kept = [self.names.index(name) for name in names]
        others = tuple(axis for axis in range(len(self.names)) if axis not in kept)
        order = [sorted(kept).index(axis) for axis in kept]
        reports = np.ascontiguousarray(self.reports.sum(axis=others).transpose(order))
        constrained = np.ascontiguousarray(self.constrained.sum(axis=others).transpose(order))
        return CrossTab(tuple(self.attributes[axis] for axis in kept), reports, constrained, self.method)

    def to_table(self) -> CountTable:
        """The constrained estimate in whole numbers with the same total."""
        domain = Domain(tuple(Category(attribute.name, attribute.labels) for attribute in self.attributes))
        return CountTable.from_dense(rounded(self.constrained, self.people), domain)

    def to_text(self, most_rows: int = 40) -> str:
        """A row for each cell, the largest first: labels, people, and for inversion the standard errors.

        Those are not the errors of the other methods: `intervals` tells how sure they are.
        """
        flat = self.constrained.ravel()
        order = np.argsort(-flat, kind="stable")[:most_rows]
        places = np.unravel_index(order, self.constrained.shape)
        columns = [
            [attribute.name, *(str(attribute.labels[place]) for place in along)]
            for attribute, along in zip(self.attributes, places, strict=True)
        ]
        columns.append(["people", *(f"{count:,.1f}" for count in flat[order])])
        if self.method == "inversion":
            columns.append(["standard error", *(f"{error:,.1f}" for error in self.standard_errors.ravel()[order])])
        widths = [max(map(len, column)) for column in columns]
        lines = []
        for row in zip(*columns, strict=True):
            cells = [
                text.ljust(width) if place < len(self.attributes) else text.rjust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        if flat.size > len(order):
            lines.append(f"... and {flat.size - len(order):,} more cells")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"CrossTab({' x '.join(self.names)}, shape={self.constrained.shape}, method={self.method!r})"


def invert(counts: ArrayLike, attributes: Attributes) -> CrossTab:
    """By the inverse matrix of each attribute: unbiased, and the nearest table on the simplex.

    Args:
        counts: how many records report each cell, an axis for each attribute.
        attributes: how each was randomized; a bare transition will do.

    Raises:
        GuaranteeError: if a matrix has no inverse; the iterative Bayes method needs none.

    Example:
        >>> from sudare.collect import UniformTransition
        >>> from sudare.collect.estimation.crosstab import invert
        >>> coins = UniformTransition(2, 3, 1)
        >>> invert([[9, 3], [3, 1]], [coins, coins]).unbiased.tolist()
        [[16.0, 0.0], [0.0, 0.0]]
    """
    read, told = read_problem(counts, attributes, "invert")
    for attribute in read:
        try:
            attribute.transition.solve(np.zeros(attribute.transition.reports))
        except GuaranteeError as error:
            raise GuaranteeError(
                Words(
                    f"The attribute {attribute.name!r} cannot be inverted. {error}",
                    f"属性 {attribute.name!r} の遷移行列は逆行列をもちません。{error.japanese}",
                )
            ) from None
    unbiased = CrossTab(read, told, np.zeros(1), "inversion").unbiased
    nearest = project_on_simplex(unbiased.ravel(), int(told.sum())).reshape(unbiased.shape)
    return CrossTab(read, told, np.asarray(nearest), "inversion")


def iterative_bayes(
    counts: ArrayLike,
    attributes: Attributes,
    *,
    tolerance: float = 1e-3,
    most_iterations: int = 10_000,
    start: Literal["reports", "uniform"] = "reports",
    accelerate: bool = True,
    hold_out: float | None = None,
    seed: int = 0,
) -> CrossTab:
    """By the iterative Bayes method, which is expectation maximization: the likelihood rises in each step.

    Args:
        counts: how many records report each cell, an axis for each attribute.
        attributes: how each was randomized; a bare transition will do.
        tolerance: stop once the log-likelihood per person is within this of the largest possible one, as proved by the gradient.
        most_iterations: stop then in any case; `CrossTab.fit` tells.
        start: half the reported shares and half equal shares, or equal shares.
        accelerate: jump ahead along the path where this raises the likelihood.
        hold_out: a share of the records to hold out, in order to stop (without jumps) where they are explained best; good for
            tables with few records a cell, where the maximum follows the noise. Replaces the tolerance.
        seed: which records are held out.

    Raises:
        ParameterError: if a record reports what no value leads to.

    Example:
        >>> from sudare.collect import UniformTransition
        >>> from sudare.collect.estimation.crosstab import iterative_bayes
        >>> coins = UniformTransition(2, 3, 1)
        >>> iterative_bayes([[90, 70], [70, 90]], [coins, coins], tolerance=1e-9).constrained.round(2).tolist()
        [[120.0, 40.0], [40.0, 120.0]]
    """
    check_arguments(iterative_bayes, locals(), "start", "accelerate")
    function = "iterative_bayes"
    read, told = read_problem(counts, attributes, function)
    limit = exact_integer(
        most_iterations, "most_iterations", function, Words("a whole number >= 1", "1 以上の整数"), smallest=1
    )
    closeness = _read_positive(tolerance, "tolerance", function)
    operator = Kronecker([attribute.transition for attribute in read])
    likelihood, first = _likelihood(operator, told, start, function)
    if hold_out is None:
        fit = fit_by_bayes(likelihood, first, closeness, limit, accelerate)
    else:
        share = _read_positive(hold_out, "hold_out", function)
        if share >= 1:
            raise ParameterError(
                "hold_out", function, Words("a share above 0 and below 1", "0 より大きく 1 より小さい割合"), hold_out
            )
        steps = steps_before_overfitting(operator, told, first, share, limit, seed)
        fit = fit_by_bayes(likelihood, first, 0.0, steps, accelerate=False)
    return CrossTab(read, told, fit.shares * int(told.sum()), "iterative-bayes", fit)


def maximum_likelihood(counts: ArrayLike, attributes: Attributes, *, tolerance: float = 1e-8) -> CrossTab:
    """The table that makes the reports likeliest, to many digits.

    Tables of up to about 1,400 cells are solved by an interior-point method; larger ones by the iterative Bayes method, which
    tends to the same table but takes its time for a small tolerance.

    Args:
        counts: how many records report each cell, an axis for each attribute.
        attributes: how each was randomized; a bare transition will do.
        tolerance: how far the log-likelihood per person may be from the largest possible one.

    Example:
        >>> from sudare.collect import UniformTransition
        >>> from sudare.collect.estimation.crosstab import maximum_likelihood
        >>> maximum_likelihood([50, 30], [UniformTransition(2, 3, 1)]).constrained.round(3).tolist()
        [60.0, 20.0]
    """
    function = "maximum_likelihood"
    read, told = read_problem(counts, attributes, function)
    closeness = _read_positive(tolerance, "tolerance", function)
    operator = Kronecker([attribute.transition for attribute in read])
    likelihood, first = _likelihood(operator, told, "reports", function)
    if can_be_written_out(operator):
        near = fit_by_bayes(likelihood, first, max(FINE_ENOUGH_FOR_NEWTON, closeness), 100)
        fit = near if near.gap <= closeness else fit_by_interior_point(likelihood, near.shares, closeness)
    else:
        fit = fit_by_bayes(likelihood, first, closeness, 100_000)
    return CrossTab(read, told, fit.shares * int(told.sum()), "maximum-likelihood", fit)


def rounded(people: Values, total: int) -> Counts:
    """Whole numbers near estimated ones, with this total."""
    flat = people.ravel()
    return controlled_rounding(flat, np.zeros(flat.size, dtype=np.int64), [total]).reshape(people.shape)


def _likelihood(operator: Kronecker, told: Counts, start: Any, function: str) -> tuple[Likelihood, Values]:
    """The likelihood, and shares above 0 to start from."""
    if start not in ("reports", "uniform"):
        raise ParameterError(
            "start", function, Words('"reports" or "uniform"', '"reports" または "uniform"'), shown(start)
        )
    for axis, never in enumerate(operator.impossible_reports()):
        if never.any() and np.moveaxis(told, axis, 0)[never].any():
            got = Described(f"some that no value of axis {axis} leads to")
            raise ParameterError(
                "counts", function, Words("reports that the transitions can give", "遷移から生じうる報告"), got
            )
    shares = told / int(told.sum())
    even = np.full(operator.values, 1.0 / np.prod(operator.values, dtype=float))
    first = (1 - UNIFORM_PART) * shares + UNIFORM_PART * even if start == "reports" and operator.is_square else even
    return Likelihood(operator, shares), first


def _read_positive(value: Any, parameter: str, function: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
        raise ParameterError(parameter, function, Words("a number above 0", "0 より大きい数"), shown(value))
    return float(value)
