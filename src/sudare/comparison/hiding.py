"""Suppression, as a reader sees it: the table of areas by kinds of people with subtotals, and what fills its gaps.

The table has the areas down, and across the kinds of people: a tree in the order of the columns, with a subtotal after each
of them. Cells with few people are hidden, and others with them so that nobody can work the first ones out.

Empty cells are shown, as offices do. So anyone who sees that a cell is hidden knows that somebody is in it; the pattern is safe
against this reader too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sudare.comparison.views import View
from sudare.disclosure.cell_table import Contributions, aggregate
from sudare.disclosure.rules import MinimumFrequency, primary_cells
from sudare.disclosure.structure import Dimension
from sudare.disclosure.suppression.audit import Audit, audit
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.secondary import suppress
from sudare.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.comparison.people import Sample

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["hide_small_cells"]

SWEEPS = 300
NEARLY = 1e-9


def hide_small_cells(sample: Sample, threshold: int, *, secondary: bool = True) -> View:
    """Hide cells with fewer people than a threshold, and see what a reader makes of the rest.

    Args:
        sample: the data.
        threshold: cells with 1 to one less than this many people are hidden.
        secondary: whether other cells are hidden with them. Without, many can be worked out from the sums.

    Raises:
        InputError: if the table is so thin that no pattern is safe.
    """
    layout = _Layout.of(sample)
    table = aggregate(layout.dimensions, layout.codes(sample), Contributions(), largest=2)
    primaries = primary_cells(table, [MinimumFrequency(threshold)])
    # Anyone who sees that empty cells are shown knows that a hidden one is not empty. Against this reader no cell needs to seem
    # smaller than it is (one person can never seem to be none), but every unsafe one must possibly be larger.
    one_sided = replace(primaries, lower=np.zeros_like(primaries.lower))
    problem = SuppressionProblem.of_table(table, one_sided, smallest=(table.values > 0).astype(np.int64))
    if not primaries.unsafe.any():
        return View.of_counts(sample.table)
    if secondary:
        try:
            found = suppress(problem)
        except InputError:
            raise InputError(
                "Even hiding every cell that may be hidden would not be enough.",
                "秘匿できるセルをすべて秘匿しても保護できません。",
            ) from None
        hidden, intervals = found.hidden, found.audit
    else:
        hidden = primaries.unsafe
        intervals = audit(problem, hidden)
    return layout.seen(sample, table.values, hidden, intervals)


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where the cells of the comparison's table stand in the table with subtotals.

    Attributes:
        dimensions: areas, and kinds of people.
        depths: for each number of columns after the area, the code among the kinds of people of every leaf kind.
    """

    dimensions: tuple[Dimension, Dimension]
    depths: tuple[Integers, ...]

    @classmethod
    def of(cls, sample: Sample) -> _Layout:
        shape = sample.population.shape
        areas = Dimension.flat("area", [f"a{place}" for place in range(shape[0])])
        codes, parents = ["Total"], [-1]
        leaves = int(np.prod(shape[1:]))
        depths = [np.zeros(leaves, dtype=np.int64)] + [np.empty(leaves, dtype=np.int64) for _ in shape[1:]]

        def descend(parent: int, prefix: tuple[int, ...]) -> None:
            depth = len(prefix)
            if depth == len(shape) - 1:
                return
            width = int(np.prod(shape[depth + 2 :]))
            for value in range(shape[depth + 1]):
                kind = (*prefix, value)
                codes.append("k" + ".".join(map(str, kind)))
                parents.append(parent)
                place = len(codes) - 1
                first = int(np.ravel_multi_index(kind, shape[1 : depth + 2])) * width
                depths[depth + 1][first : first + width] = place
                descend(place, kind)

        descend(0, ())
        return cls((areas, Dimension("kind", tuple(codes), tuple(parents))), tuple(depths))

    def codes(self, sample: Sample) -> dict[str, NDArray[np.object_]]:
        areas, kinds = self.dimensions
        own = np.ravel_multi_index(tuple(sample.codes[:, 1:].T), sample.population.shape[1:])
        names = np.array(kinds.codes, dtype=object)[self.depths[-1]]
        return {"area": np.array(areas.codes[1:], dtype=object)[sample.codes[:, 0]], "kind": names[own]}

    def seen(self, sample: Sample, values: Integers, hidden: Booleans, intervals: Audit) -> View:
        """The view of a reader who sees all cells but the hidden ones."""
        shape = sample.population.shape
        width = len(self.dimensions[1])
        areas, kinds = np.arange(1, shape[0] + 1)[:, None], self.depths[-1][None, :]
        leaves = (areas * width + kinds).ravel()
        is_hidden = hidden[leaves]
        low, high = (values[leaves].astype(np.float64) for _ in range(2))
        ends = {
            cell: (1.0 if least is None else max(1.0, float(least)), np.inf if most is None else float(most))
            for cell, least, most in zip(intervals.cells, intervals.low, intervals.high, strict=True)
        }
        for place in np.flatnonzero(is_hidden).tolist():
            least, most = ends[int(leaves[place])]
            low[place], high[place] = np.ceil(least - NEARLY), np.floor(most + NEARLY)
        sums = self._shown_sums(sample, values, hidden, is_hidden)
        register = sample.population.table.ravel().astype(np.float64)
        estimates = [
            np.where(is_hidden, _agreeing(is_hidden, sums, weights), values[leaves])
            for weights in (np.ones(leaves.size), np.maximum(register - 1, 0) / 2)
        ]
        return View(
            estimates[0].reshape(shape),
            np.minimum(estimates[1], register).reshape(shape),
            low.reshape(shape),
            high.reshape(shape),
            ~is_hidden.reshape(shape),
        )

    def _shown_sums(
        self, sample: Sample, values: Integers, hidden: Booleans, is_hidden: Booleans
    ) -> list[tuple[Integers, Floats]]:
        """For each kind of subtotal: the subtotal of every leaf, and what is left in each for its hidden leaves.

        Each hidden leaf holds one person at least, who is taken off already. Nothing is known where the subtotal is hidden.
        """
        shape = sample.population.shape
        width, leaves = len(self.dimensions[1]), int(np.prod(shape[1:]))
        known = np.where(is_hidden, 1.0, sample.table.ravel())
        found = []
        for with_area in (True, False):
            row = np.arange(1, shape[0] + 1) if with_area else np.zeros(shape[0], dtype=np.int64)
            for depth in self.depths[:-1] if with_area else self.depths:
                cells = (row[:, None] * width + depth[None, :leaves]).ravel()
                left = values.astype(np.float64) - np.bincount(cells, weights=known, minlength=values.size)
                left[hidden] = np.nan
                found.append((cells, left))
        return found


def _agreeing(is_hidden: Booleans, sums: list[tuple[Integers, Floats]], weights: Floats) -> Floats:
    """Estimates of hidden cells that agree with all subtotals that are shown, by proportional fitting from the weights."""
    excess = np.where(is_hidden, np.maximum(weights, 1e-6), 0.0)
    for _ in range(SWEEPS):
        largest = 0.0
        for cells, left in sums:
            now = np.bincount(cells, weights=excess, minlength=left.size)
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.where(np.isnan(left) | (now <= 0), 1.0, np.maximum(left, 0) / now)
            largest = max(largest, float(np.abs(factor - 1).max()))
            excess *= factor[cells]
        if largest < 1e-6:
            break
    return np.asarray(1.0 + excess)
