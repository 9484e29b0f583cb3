"""What is public of a series before its first tick: its levels and margins, their strategies, noise and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.errors import ParameterError
from sudare.noise.lattice import discrete_gaussian, discrete_laplace
from sudare.noise.sampler import Sampler
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.series_measurements import SeriesMeasurement
from sudare.privacy.unit import ProtectedTime, Unit
from sudare.series.estimation import RunningEstimate
from sudare.series.filtering import MAX_AREA, FilteredEstimate, area_of
from sudare.series.paths import Caps, LevelChanges
from sudare.series.state_space import StateSpace
from sudare.series.strategies import SeriesStrategy
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["LevelDesign", "MarginDesign", "SeriesDesign", "sensitivity_of_window"]

ONE_CELL_A_TICK = Words(
    "a unit in one cell at a tick, added or removed, whose protected time is stated: for paths in several cells at once the "
    "sensitivity would be larger than the noise is made for",
    "各時点で1人を1つのセルに数え、追加または削除する、保護の時間を指定した単位"
    "（同時に複数のセルにいる経路では、感度がノイズの想定を超えます）",
)

REPLACED_L2_SQUARED, REPLACED_L1 = 4, 2
"""How much further one path in place of another moves a window than a path that is added or removed: twice as far."""


def sensitivity_of_window(strategy: SeriesStrategy, moves: int, noise: str, time: ProtectedTime | None) -> int:
    """How far one unit moves what is measured of a level in one window: in l2 squared for Gaussian noise, else in l1.

    Who protects everything between two resets adds or removes a path. Who protects any so many ticks after each other leaves
    the person's other rows where they are: in each of the two windows that the ticks meet another path takes the place of one.

    Args:
        strategy: what is measured.
        moves: how many a path has, at most.
        noise: ``"gaussian"`` or ``"laplace"``.
        time: what of the unit is protected.
    """
    replaces = time is not None and time.span == "person-window"
    if noise == "gaussian":
        return strategy.l2_squared(moves) * (REPLACED_L2_SQUARED if replaces else 1)
    return strategy.l1(moves) * (REPLACED_L1 if replaces else 1)


@dataclass(frozen=True, eq=False)
class LevelDesign:
    """How one level of the tree is measured.

    Attributes:
        strategy: what is measured of the changes.
        measurement: the noise, and what it costs for a window.
    """

    strategy: SeriesStrategy
    measurement: SeriesMeasurement

    @cached_property
    def sampler(self) -> Sampler:
        """Of the noise."""
        if self.measurement.noise == "laplace":
            return discrete_laplace(self.measurement.spread)
        return discrete_gaussian(sigma_squared=self.measurement.spread)

    @property
    def noise_variance(self) -> float:
        """Of the noise, in the whole numbers of the measurement."""
        spread = float(self.measurement.spread)
        return spread if self.measurement.noise == "gaussian" else 2 * spread**2

    @cached_property
    def variances(self) -> Values:
        """Of the plain estimates of counts, at each tick, whatever people do."""
        return self.strategy.deviations() ** 2 * self.noise_variance

    def filtered_variances(self, drift: float, nodes: int = MAX_AREA**2) -> tuple[Values, Values]:
        """Of the filtered estimates of counts, at each tick, where counts change by random steps: from noise, and from lag.

        Args:
            drift: the variance of the change of a count from tick to tick, which is an assumption: with independent people, the
                share of them that comes or goes times the count.
            nodes: how many the level has: with few, their common mean, which is not filtered, is much of each count.
        """
        space = StateSpace.of(self.strategy, self.noise_variance)
        if space is None or nodes == 1:
            return self.variances, np.zeros_like(self.variances)
        noise, lag = space.predicted_variances(self.strategy.ticks, drift)
        whole = 1 / min(nodes, area_of(nodes))
        return noise + (self.variances - noise) * whole, lag * (1 - whole)

    def estimate(self, nodes: int, *, filters: bool) -> RunningEstimate | FilteredEstimate:
        """What estimates the counts of a level of so many nodes."""
        if filters and nodes > 1 and FilteredEstimate.suits(self.strategy):
            return FilteredEstimate(self.strategy, nodes, self.noise_variance)
        return RunningEstimate(self.strategy, nodes)


@dataclass(frozen=True, eq=False)
class MarginDesign:
    """How the sums over all but one axis are measured: of how many people have each sex, or each age.

    Attributes:
        axis: of the domain.
        level: how its sums are measured. A path changes its place along the axis no more often than it changes its cell.
    """

    axis: int
    level: LevelDesign


@dataclass(frozen=True, eq=False, kw_only=True)
class SeriesDesign:
    """Everything about a series that is public before its first tick.

    Args:
        domain: the cells.
        layout: how they lie along the leaves of the tree.
        bits: how many halvings make up each level of the tree.
        levels: how the total and each level of the tree are measured, from the total.
        unit: who is protected, and over which time; in one cell at a tick.
        cost: what a window costs.
        absent_after: after so many ticks without a row somebody counts as absent.
        learns: whether it is learned from the noisy counts which places are likely to be empty.
        filters: whether counts of quiet places are estimated with less noise (`filtering`).
        blocks: how many windows a unit's protected time can meet: two for any so many ticks after each other.
        margins: axes whose sums are measured beside the tree, and met by every table.
        whole_bits: levels below so many halvings are looked at only where somebody is (`visiting`), without filters; above it
            as a whole.

    Raises:
        ParameterError: if the parts do not fit together, or the tree is too deep.
    """

    domain: Domain
    layout: Layout
    bits: tuple[int, ...]
    levels: tuple[LevelDesign, ...]
    unit: Unit
    cost: Budget
    absent_after: int = 1
    learns: bool = True
    filters: bool = True
    blocks: int = 1
    margins: tuple[MarginDesign, ...] = ()
    whole_bits: int = MAX_DENSE_BITS

    def __post_init__(self) -> None:
        if sum(self.bits) != self.layout.depth:
            requirement = "steps that add up to the depth of the tree"
            raise ParameterError("bits", "SeriesDesign", requirement, shown(self.bits))
        if not 0 <= self.whole_bits <= MAX_DENSE_BITS:
            requirement = f"from 0 to {MAX_DENSE_BITS}"
            raise ParameterError("whole_bits", "SeriesDesign", requirement, shown(self.whole_bits))
        if len(self.levels) != len(self.bits) + 1:
            requirement = f"{len(self.bits) + 1} levels, the total first"
            raise ParameterError("levels", "SeriesDesign", requirement, len(self.levels))
        if len({level.strategy.ticks for level in self.measured}) != 1:
            raise ParameterError("levels", "SeriesDesign", "of windows of the same length", "different ones")
        if (self.unit.cells, self.unit.rows, self.unit.adjacency) != (1, 1, "add-remove") or self.unit.time is None:
            raise ParameterError("unit", "SeriesDesign", ONE_CELL_A_TICK, shown(self.unit))
        if self.blocks < (2 if self.unit.time is not None and self.unit.time.span == "person-window" else 1):
            requirement = "2 where any so many ticks after each other are protected, which meet two windows"
            raise ParameterError("blocks", "SeriesDesign", requirement, self.blocks)
        self._read_margins()
        for level in self.measured:
            self._require_noise(level)

    def _read_margins(self) -> None:
        axes = [margin.axis for margin in self.margins]
        if len(set(axes)) < len(axes) or any(not 0 <= axis < len(self.domain.shape) for axis in axes):
            raise ParameterError("margins", "SeriesDesign", "of different axes of the domain", shown(axes))
        cap = self.levels[-1].measurement.moves
        if any(margin.level.measurement.moves < cap for margin in self.margins):
            requirement = (
                f"of at least {cap} moves, as cells: whoever changes the cell may change the place along an axis"
            )
            raise ParameterError("margins", "SeriesDesign", requirement, shown(axes))

    def _require_noise(self, level: LevelDesign) -> None:
        """Refuse noise that is made for less than what is measured."""
        if self.is_of_events and level.strategy.name != "fresh":
            requirement = "measured afresh at every tick, where events are protected"
            raise ParameterError("levels", "SeriesDesign", requirement, level.strategy.name)
        measurement = level.measurement
        if self.is_of_events:  # an appearance is in one tick's numbers alone, by the first coefficient
            first = abs(level.strategy.coefficients[0])
            needed = first if measurement.noise == "laplace" else first**2
        else:
            needed = sensitivity_of_window(level.strategy, measurement.moves, measurement.noise, self.unit.time)
        if measurement.sensitivity < needed:
            requirement = "measured with noise that is made for the sensitivity of its strategy"
            raise ParameterError("levels", "SeriesDesign", requirement, level.strategy.name)

    @property
    def measured(self) -> tuple[LevelDesign, ...]:
        """How everything is measured: the levels, and the margins after them."""
        return (*self.levels, *(margin.level for margin in self.margins))

    @property
    def ticks(self) -> int:
        """How many ticks a window has."""
        return self.levels[0].strategy.ticks

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the numbers by which ticks are measured: they must be the same at all ticks of a window."""
        levels = [
            (one.strategy.coefficients, one.measurement.noise, str(one.measurement.spread)) for one in self.measured
        ]
        axes = tuple(margin.axis for margin in self.margins)
        facts = (self.bits, self.caps.widths, self.caps.moves, self.absent_after, self.is_of_events, axes, levels)
        return sha256(repr(facts).encode()).hexdigest()

    def bind(self, before: str, tick: int, changes: Sequence[LevelChanges]) -> str:
        """SHA-256 of all that is measured up to a tick: of the design, of its changes, and of what this gave for the tick before.

        Args:
            before: what was bound at the last tick that was measured; empty for the first one.
            tick: its number.
            changes: of the tick.
        """
        found = sha256(f"{self.digest} {before} {tick}".encode())
        for part in (array for level in changes for array in (level.nodes, level.changes)):
            found.update(part.size.to_bytes(8, "little"))
            found.update(part.astype("<i8").tobytes())
        return found.hexdigest()

    @property
    def is_of_events(self) -> bool:
        """Whether single appearances are protected, each of which is in one table alone."""
        return self.unit.time is not None and self.unit.time.span == "event"

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How many halvings lie above each level, from the total."""
        return tuple(int(sum(self.bits[:level])) for level in range(len(self.levels)))

    @cached_property
    def whole_levels(self) -> int:
        """How many levels, from the total, are looked at as a whole."""
        return sum(depth <= self.whole_bits for depth in self.depths)

    @property
    def is_visited(self) -> bool:
        """Whether there are levels of which only some nodes are looked at."""
        return self.whole_levels < len(self.levels)

    @cached_property
    def caps(self) -> Caps:
        """How often a person may move at each level."""
        widths = tuple(1 << self.layout.depth - depth for depth in self.depths)
        moves = tuple(level.measurement.moves for level in self.levels)
        return Caps(widths=widths, moves=moves, absent_after=self.absent_after)

    def event(self, entropy: str = "secure") -> ReleaseEvent:
        """What a window costs, and why."""
        measurements = tuple(level.measurement for level in self.measured) * self.blocks
        name = "secure" if entropy == "secure" else "research"
        return ReleaseEvent("series", self.unit, self.cost, measurements, name)  # type: ignore[arg-type]
