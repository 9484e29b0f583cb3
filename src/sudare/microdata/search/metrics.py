"""What a choice of levels costs, in the forms that a search needs: the cost itself, and lower bounds of it.

Most metrics are a sum over columns of something that depends on the column's level alone, plus something for suppressed
records. So the first part of all choices is known before anything is grouped, and is a lower bound of the cost. A second bound
comes from above: records that must be suppressed in a coarse table must be suppressed in every finer one.

Why the bounds hold is explained in metrics.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import ParameterError
from sudare.microdata.grouping import Grouped, Tuples
from sudare.microdata.models.game import Game
from sudare.microdata.utility import AGGREGATES, aggregated, entropy_loss, factors, share_of_domain, suppressed_entropy
from sudare.parameters import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Longs = NDArray[np.int64]
    Mask = NDArray[np.bool_]

__all__ = ["METRICS", "Cost", "Metric", "Objective", "prepare", "without_last_bits"]

Cost = tuple[float, ...]
"""One number, or one for each column with the largest first; compared from left to right."""

METRICS = ("loss", "entropy", "precision", "height", "discernibility", "class size")
"""Those that need nothing but their names."""

PAYOUT = "payout"

KEPT_BITS = 40
"""Of a cost. Sums of millions of rows are exact to more."""


@dataclass(frozen=True)
class Metric:
    """How choices of levels are compared.

    Args:
        name: ``"loss"`` (share of the domain that a published value stands for), ``"entropy"`` (bits of information lost),
            ``"precision"`` (how high in the hierarchies), ``"height"`` (sum of levels), ``"discernibility"`` (with how many
            others each record can be confused), ``"class size"`` (records divided by classes) or ``"payout"`` (what a game leaves
            the publisher without).
        aggregate: how columns are put together, see ``aggregated``; each metric has its own if left out.
        balance: for loss, what suppression counts beside generalization, see ``factors``.
        suppression: for entropy, precision and discernibility, whether suppressed records cost anything at all.
        weights: of columns by name; 1 if left out.
        game: for the payout, what is at stake.

    Example:
        >>> from sudare.microdata.search.metrics import Metric
        >>> Metric("loss", aggregate="mean").aggregate
        'mean'
    """

    name: str = "loss"
    aggregate: str | None = None
    balance: float = 0.5
    suppression: bool = True
    weights: Mapping[str, float] | None = None
    game: Game | None = None

    def __post_init__(self) -> None:
        check_arguments(Metric, vars(self), "name", "aggregate", "balance")
        names = (*METRICS, PAYOUT)
        if self.name not in names:
            raise ParameterError(
                "metric",
                "Metric",
                Words("one of " + ", ".join(names), f"{', '.join(names)} のいずれか"),
                shown(self.name),
            )
        if (self.game is None) == (self.name == PAYOUT):
            raise ParameterError(
                "game",
                "Metric",
                Words("given for the payout, and for no other metric", "payout の場合だけ指定"),
                shown(self.game),
            )
        if self.name == PAYOUT and (self.aggregate is not None or self.weights is not None):
            requirement = "left out for the payout, which is an amount of money"
            raise ParameterError("aggregate" if self.aggregate else "weights", "Metric", requirement, shown(self.name))
        if self.aggregate is not None and self.aggregate not in AGGREGATES:
            raise ParameterError(
                "aggregate",
                "Metric",
                Words("one of " + ", ".join(AGGREGATES), f"{', '.join(AGGREGATES)} のいずれか"),
                shown(self.aggregate),
            )
        factors(self.balance)


class Objective(ABC):
    """A metric for one table: costs of choices of levels and lower bounds of them."""

    parts = 1
    """How many numbers a cost has."""

    @abstractmethod
    def cost(self, grouped: Grouped, kept: Mask) -> Cost:
        """The cost of a choice of levels if some classes are kept and the others suppressed."""

    @abstractmethod
    def floor(self, levels: Sequence[int]) -> Cost:
        """A lower bound of the cost of one choice of levels, and of all coarser ones, before anything is grouped."""

    @abstractmethod
    def floors(self) -> Floats:
        """The lower bounds of all choices of levels: an axis for each column, and one for the parts of a cost."""

    def floor_of_coarser(self, grouped: Grouped) -> float | None:
        """A lower bound of the cost of all choices that are nowhere finer than a grouped one."""
        return None

    @abstractmethod
    def floors_of_finer(self, grouped: Grouped, needed: Mask) -> Floats | None:
        """Lower bounds for all choices that are nowhere coarser than a grouped one.

        Args:
            grouped: the grouped choice.
            needed: its classes that may be kept, in it or in a part of it in a finer choice.

        Returns:
            An axis for each column, up to the levels of the grouped choice, and one for the parts; None if nothing is known.
        """

    @abstractmethod
    def floor_between(self, levels: Sequence[int], grouped: Grouped, needed: Mask) -> Cost:
        """A lower bound of the cost of all choices between a finer one and a grouped one."""


def prepare(metric: Metric, tuples: Tuples, smallest_class: int) -> Objective:
    """A metric for one table.

    Args:
        metric: what to compare by.
        tuples: the table.
        smallest_class: rows that each class that is kept has at least.
    """
    if metric.name in ("discernibility", "class size"):
        return _OfSizes(metric, tuples, smallest_class)
    if metric.game is not None:
        return _Payout(metric, metric.game, tuples)
    return _ByColumn(metric, tuples)


def without_last_bits(costs: Floats) -> Floats:
    """Costs to twelve digits: the same sum added up in another order is the same cost, and what is equal is a tie."""
    parts, powers = np.frexp(costs)
    rounded: Floats = np.ldexp(np.round(parts * 2.0**KEPT_BITS) / 2.0**KEPT_BITS, powers)
    return rounded


class _ByColumn(Objective):
    """Loss, entropy, precision and height: a number for each column, put together."""

    def __init__(self, metric: Metric, tuples: Tuples) -> None:
        self.tuples = tuples
        self.kind = metric.name
        self.how = metric.aggregate or {"loss": "geometric", "precision": "mean"}.get(metric.name, "sum")
        balance = metric.balance if metric.name == "loss" else 0.5
        self.generalized, self.penalty = factors(balance)
        if not metric.suppression:
            self.penalty = 0.0
        self.is_free = self.penalty == 0.0 or self.kind == "height"
        weights = metric.weights or {}
        self.weights = [float(weights.get(hierarchy.name, 1.0)) for hierarchy in tuples.hierarchies]
        self.parts = len(tuples.hierarchies) if self.how == "rank" else 1
        self.shares = [
            [share_of_domain(hierarchy, level)[hierarchy.parents[level]] for level in range(hierarchy.height + 1)]
            for hierarchy in tuples.hierarchies
        ]
        self.largest: dict[tuple[int, int], Floats] = {}
        counts = self._by_column(tuples.leaf_counts(tuples.base.members, tuples.base.sizes))
        self.plain = [
            np.array([self._plain(column, level, counts[column]) for level in range(hierarchy.height + 1)])
            for column, hierarchy in enumerate(tuples.hierarchies)
        ]

    def _by_column(self, counts: Longs) -> list[Longs]:
        return np.split(counts, self.tuples.starts[1:-1])

    def _plain(self, column: int, level: int, counts: Longs) -> float:
        """What generalization of a column to a level costs."""
        hierarchy = self.tuples.hierarchies[column]
        if self.kind == "height":
            return float(level)
        if self.kind == "precision":
            return level / hierarchy.height if hierarchy.height else 0.0
        if self.kind == "entropy":
            return entropy_loss(counts, hierarchy.parents[level])
        return float(counts @ self.shares[column][level]) * self.generalized

    def _further(self, column: int, level: int, counts: Longs) -> float:
        """What suppression of records costs further, from how often each leaf of the column occurs among them."""
        if self.kind == "entropy":
            groups = np.bincount(self.tuples.hierarchies[column].parents[level], weights=counts)
            return self.penalty * suppressed_entropy(groups)
        rows = float(counts.sum())
        if self.kind == "precision":
            return rows / self.tuples.rows * (1.0 - float(self.plain[column][level]))
        lost = float(counts @ self.shares[column][level])
        return lost * (1.0 - self.penalty - self.generalized) + self.penalty * rows

    def _scaled(self, column: int, amounts: Floats | float) -> Floats:
        """Loss from 0 to 1; the others as they are."""
        values = np.asarray(amounts, dtype=np.float64)
        if self.kind != "loss":
            return values
        rows = self.tuples.rows
        smallest = self.generalized * rows / self.tuples.hierarchies[column].leaves
        return np.maximum(0.0, (values - smallest) / (rows - smallest)) if rows > smallest else np.zeros_like(values)

    def _together(self, columns: Sequence[Floats]) -> Cost:
        found = aggregated([float(value) for value in columns], self.how, self.weights)
        return tuple(without_last_bits(np.array(found if isinstance(found, tuple) else (found,))).tolist())

    def cost(self, grouped: Grouped, kept: Mask) -> Cost:
        """The cost of a choice of levels if some classes are kept."""
        counts = self._suppressed(grouped, kept)
        if counts is None:
            return self.floor(grouped.levels)
        amounts = [self.plain[c][level] + self._further(c, level, counts[c]) for c, level in enumerate(grouped.levels)]
        return self._together([self._scaled(c, amount) for c, amount in enumerate(amounts)])

    def floor(self, levels: Sequence[int]) -> Cost:
        """What generalization alone costs."""
        return self._together([self._scaled(c, self.plain[c][level]) for c, level in enumerate(levels)])

    def floors(self) -> Floats:
        """What generalization alone costs, for all choices."""
        return self._spread([self._scaled(column, amounts) for column, amounts in enumerate(self.plain)])

    def _spread(self, columns: Sequence[Floats]) -> Floats:
        """Numbers for each level of each column, put together for all choices of levels."""
        weighted = [values * weight for values, weight in zip(columns, self.weights, strict=True)]
        shape = tuple(values.size for values in weighted)
        axes = [
            values.reshape([-1 if axis == place else 1 for axis in range(len(shape))])
            for place, values in enumerate(weighted)
        ]
        if self.how == "rank":
            stacked = np.stack([np.broadcast_to(values, shape) for values in axes], axis=-1)
            return without_last_bits(np.flip(np.sort(stacked, axis=-1), axis=-1))
        result = np.zeros(shape)
        for values in axes:
            if self.how == "max":
                result = np.maximum(result, values)
            else:
                result = result + (np.log1p(values) if self.how == "geometric" else values)
        if self.how == "geometric":
            result = np.exp(result / len(axes)) - 1.0
        elif self.how == "mean":
            result = result / len(axes)
        return without_last_bits(result[..., np.newaxis])

    def _suppressed(self, grouped: Grouped, kept: Mask) -> list[Longs] | None:
        gone = np.flatnonzero(~kept & (grouped.sizes > 0))
        if self.is_free or gone.size == 0:
            return None
        # A class is known by one of its combinations; the leaves of the others are in the same groups, which is all that counts
        # on its own level. For finer levels the combinations themselves are needed, see floors_of_finer.
        return self._by_column(self.tuples.leaf_counts(grouped.members[gone], grouped.sizes[gone]))

    def floors_of_finer(self, grouped: Grouped, needed: Mask) -> Floats | None:
        """Bounds from the records that must be suppressed in every finer choice."""
        columns = self._finer_columns(grouped, needed)
        return None if columns is None else self._spread(columns)

    def _finer_columns(self, grouped: Grouped, needed: Mask) -> list[Floats] | None:
        """For each column, a lower bound on each level up to that of the grouped choice."""
        counts = self._suppressed(grouped, needed)
        if counts is None:
            return None
        return [
            self._scaled(column, self.plain[column][: top + 1] + self._least(column, top, counts[column]))
            for column, top in enumerate(grouped.levels)
        ]

    def _least(self, column: int, top: int, counts: Longs) -> Floats | float:
        """What suppression costs at least on each level up to one, if of each record only its group there is known."""
        if self.kind == "entropy":
            return self._further(column, top, counts)
        if self.kind == "precision":
            share = float(counts.sum()) / self.tuples.rows
            return (1.0 - self.plain[column][: top + 1]) * share
        groups = np.bincount(self.tuples.hierarchies[column].parents[top], weights=counts)
        lost = groups @ self._largest_shares(column, top)
        result: Floats = lost * (1.0 - self.penalty - self.generalized) + self.penalty * float(groups.sum())
        return result

    def _largest_shares(self, column: int, top: int) -> Floats:
        """For each group of a level, the largest share of the domain of its values on each level up to that one."""
        if (column, top) not in self.largest:
            parents = self.tuples.hierarchies[column].parents[top]
            largest = np.zeros((int(parents.max()) + 1, top + 1))
            for level in range(top + 1):
                np.maximum.at(largest[:, level], parents, self.shares[column][level])
            self.largest[column, top] = largest
        return self.largest[column, top]

    def floor_between(self, levels: Sequence[int], grouped: Grouped, needed: Mask) -> Cost:
        """The smallest bound of each column over its levels in between."""
        columns = self._finer_columns(grouped, needed)
        if columns is None:
            return self.floor(levels)
        return self._together([values[level:].min() for values, level in zip(columns, levels, strict=True)])


class _Payout(_ByColumn):
    """What a game leaves the publisher without: the benefit of all records as they are, less what the published ones pay.

    The information of a record is the logarithm of how many there could be; what is left of it when a value stands for g of a
    column's values is less by log g. So it is a sum over columns again. A suppressed record is worth nothing, and each person who
    is named in a class that is worth an attack costs the loss.
    """

    def __init__(self, metric: Metric, game: Game, tuples: Tuples) -> None:
        self.game = game
        logs = [np.log(hierarchy.leaves) for hierarchy in tuples.hierarchies]
        unit = float(game.benefit) / (sum(logs) or 1.0)
        self.worth = [unit * log if sum(logs) else float(game.benefit) / len(logs) for log in logs]
        self.missing = [
            [unit * np.log(hierarchy.sizes(level))[hierarchy.parents[level]] for level in range(hierarchy.height + 1)]
            for hierarchy in tuples.hierarchies
        ]
        super().__init__(metric, tuples)
        self.is_free = False

    def _plain(self, column: int, level: int, counts: Longs) -> float:
        return float(counts @ self.missing[column][level])

    def _further(self, column: int, level: int, counts: Longs) -> float:
        return self.worth[column] * float(counts.sum()) - self._plain(column, level, counts)

    def _least(self, column: int, top: int, counts: Longs) -> float:
        """On the coarsest level the most is missing already, and the least is left to lose."""
        return self._further(column, top, counts)

    def cost(self, grouped: Grouped, kept: Mask) -> Cost:
        """Missing information, and the losses from those who are named."""
        people = grouped.sizes if self.game.attacker == "prosecutor" else grouped.population
        attacked = kept & (grouped.sizes > 0) & (people < math.ceil(self.game.largest_attacked))
        named = float((grouped.sizes[attacked] / people[attacked]).sum())
        return (super().cost(grouped, kept)[0] + float(self.game.loss) * named,)


class _OfSizes(Objective):
    """Discernibility and the average size of classes: functions of the sizes of classes."""

    def __init__(self, metric: Metric, tuples: Tuples, smallest_class: int) -> None:
        self.tuples = tuples
        self.rows = tuples.rows
        self.smallest = smallest_class
        self.is_average = metric.name == "class size"
        self.suppression = metric.suppression or self.is_average

    def cost(self, grouped: Grouped, kept: Mask) -> Cost:
        """The cost of a choice of levels if some classes are kept."""
        sizes = grouped.sizes
        if self.is_average:
            classes = int(np.count_nonzero(kept & (sizes > 0))) + int(np.any(~kept & (sizes > 0)))
            return (self.rows / max(classes, 1),)
        if not self.suppression:
            return (float(sizes @ sizes),)
        inside = sizes[kept]
        return (float(inside @ inside) + float(self.rows) * float(sizes[~kept].sum()),)

    def floor(self, levels: Sequence[int]) -> Cost:
        """Classes that are kept are not smaller than the model asks for."""
        return (self._least(0),)

    def floors(self) -> Floats:
        """The same for all choices."""
        return np.full((*(height + 1 for height in self.tuples.heights), 1), self._least(0))

    def _least(self, suppressed: int) -> float:
        """If at least this many records are suppressed."""
        if self.is_average:
            return self.rows / ((self.rows - suppressed) / self.smallest + 1)
        if not self.suppression:
            return 0.0
        return float(self.rows) * suppressed + float(self.smallest) * (self.rows - suppressed)

    def floor_of_coarser(self, grouped: Grouped) -> float:
        """Classes only merge."""
        if self.is_average:
            return self.rows / max(int(np.count_nonzero(grouped.sizes)), 1)
        return float(grouped.sizes @ grouped.sizes)

    def floors_of_finer(self, grouped: Grouped, needed: Mask) -> Floats | None:
        """Records that must be suppressed stay so."""
        shape = (*(level + 1 for level in grouped.levels), 1)
        return np.full(shape, self._least(int(grouped.sizes[~needed].sum())))

    def floor_between(self, levels: Sequence[int], grouped: Grouped, needed: Mask) -> Cost:
        """The same for a part of them."""
        return (self._least(int(grouped.sizes[~needed].sum())),)
