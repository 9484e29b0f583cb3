"""Past ticks estimated once more, from all that was measured until the end of the window.

A tick's table is published when only earlier ticks are known. Later ticks tell more: somebody who is there at nine and at ten
was there at half past nine. The filter (`filtering`) is run forward once more, and what each later tick adds is carried
back. Nothing is measured or drawn again, so that a revision costs nothing.

Memory is that of one tick, about 20 numbers for each node, however long the window is: for each node and tick 14 bytes are
written to a folder and read backwards.
Derivation: ``filtering.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.table import CountTable
from sudare.parameters import exact_integer
from sudare.refine.trees import Words
from sudare.series.filtering import AGES, SIZES, FilteredEstimate, mean_of_areas
from sudare.series.margins import meet_measured_margins
from sudare.series.mechanism import LevelDesign, SeriesDesign, refined_table, sums_of_margins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Reals = NDArray[np.float64]

__all__ = ["SmoothedLevel", "smooth_level", "smooth_window"]

Measured = Callable[[int], "Sequence[Counts] | None"]
"""Gives what was measured of each level, and then of each margin, at a tick; None for a tick that was left out."""


@dataclass(frozen=True, eq=False)
class SmoothedLevel:
    """The counts of a level at one tick, from all ticks.

    Attributes:
        tick: its number.
        counts: the estimates.
        variances: of them: one for each node, or one for all.
    """

    tick: int
    counts: Reals
    variances: Reals | float


def smooth_window(
    design: SeriesDesign,
    measured: Measured,
    folder: str | Path,
    words: Callable[[int], Words],
    ticks: int | None = None,
) -> Iterator[tuple[int, CountTable]]:
    """Tables of the ticks of a window, the last one first: whole numbers >= 0 that add up.

    Args:
        design: of the window.
        measured: gives what was measured at each tick.
        folder: empty, for what is written on the way; whoever calls removes it.
        words: gives random words for each tick, by which equals are decided.
        ticks: how many ticks are over; all of the window if left out.

    Raises:
        ParameterError: if there are no such ticks.
    """
    number = _read_ticks(design, ticks)
    paths = [Path(folder) / f"level{level}" for level in range(len(design.levels))]
    smoothed = []
    for level, (one, path, depth) in enumerate(zip(design.levels, paths, design.depths, strict=True)):
        path.mkdir()
        smoothed.append(_smoothed(one, 1 << depth, measured, level, path, number))
    margins = _sums_of_margins(design, measured, number)
    for levels in zip(*smoothed, strict=True):
        tick = levels[0].tick
        counts, variances = [level.counts for level in levels], [level.variances for level in levels]
        if measured(tick) is not None:
            ties = words(tick)
            table = refined_table(design, counts, variances, ties)
            yield tick, meet_measured_margins(table, sums_of_margins(design, [one[tick] for one in margins]), ties)


def _sums_of_margins(design: SeriesDesign, measured: Measured, ticks: int) -> list[list[Reals]]:
    """The sums of each margin at each tick, as they were estimated at it: they are few, and are not filtered."""
    found: list[list[Reals]] = []
    for number, margin in enumerate(design.margins, start=len(design.levels)):
        estimate = margin.level.estimate(design.domain.shape[margin.axis], filters=False)
        values = (measured(tick) for tick in range(ticks))
        found.append([estimate.skip() if one is None else estimate.update(one[number]) for one in values])
    return found


def smooth_level(
    design: LevelDesign, nodes: int, measured: Callable[[int], Counts | None], folder: str | Path, ticks: int
) -> Iterator[SmoothedLevel]:
    """The counts of one level at all ticks, the last one first.

    Args:
        design: how the level is measured.
        nodes: how many it has.
        measured: gives what was measured at each tick; None for one that was left out.
        folder: empty, for what is written on the way.
        ticks: how many ticks are over.
    """
    yield from _smoothed(design, nodes, lambda tick: _alone(measured(tick)), 0, Path(folder), ticks)


def _alone(values: Counts | None) -> Sequence[Counts] | None:
    return None if values is None else [values]


def _smoothed(
    design: LevelDesign, nodes: int, measured: Measured, level: int, folder: Path, ticks: int
) -> Iterator[SmoothedLevel]:
    """Forward through all ticks, and back."""
    estimate = design.estimate(nodes, filters=True)
    tables: list[TickTables] = []
    for tick in range(ticks):
        values = measured(tick)
        counts = estimate.skip() if values is None else estimate.update(values[level])
        arrays: dict[str, NDArray[np.generic]] = {"counts": counts}
        if isinstance(estimate, FilteredEstimate):
            step = estimate.last_step
            arrays["kinds"] = estimate.kinds().astype(np.uint8)
            if step is not None:
                arrays |= {"distances": step.distances.astype(np.float32), "is_step": step.is_step}
            gain, spread = (None, None) if step is None else (step.gain, step.spread)
            tables.append(TickTables(estimate.covariances, gain, spread, bool(estimate.has_begun[0])))
        np.savez(folder / f"{tick:06}.npz", **arrays)  # type: ignore[arg-type]
    smoother = Backward(estimate, tables) if isinstance(estimate, FilteredEstimate) else None
    arrays = _read(folder, ticks - 1)
    for tick in range(ticks - 1, -1, -1):
        before = _read(folder, tick - 1) if tick else {}
        counts = np.asarray(arrays["counts"], dtype=np.float64)
        if smoother is None:
            yield SmoothedLevel(tick, counts, float(design.variances[tick]))
        else:
            yield smoother.smoothed(tick, counts, arrays["kinds"])
            smoother.step_back(tick, arrays, before.get("kinds"))
        arrays = before


@dataclass(frozen=True, eq=False)
class TickTables:
    """What all nodes of a kind have in common at one tick.

    Attributes:
        covariances: after the tick, for each class and age.
        gain: at the tick; None at the first measured one and at those left out.
        spread: the variance of surprises at the tick.
        has_begun: whether anything was measured by then.
    """

    covariances: Reals
    gain: Reals | None
    spread: Reals | None
    has_begun: bool


class Backward:
    """What later ticks tell of earlier ones, carried back tick by tick.

    After tick t, r is the sum over later surprises e of (how the error of the state after t shows in e) * e / variance of e, and
    the estimate from all ticks is the filter's plus (covariance after t) r. A tick back, r becomes h e / S + (D - g h')' r.

    Args:
        estimate: the filter after the last tick.
        tables: of all ticks.
    """

    def __init__(self, estimate: FilteredEstimate, tables: Sequence[TickTables]) -> None:
        self.estimate, self.space, self.tables = estimate, estimate.space, tables
        self.told: Reals = np.zeros_like(estimate.state)
        self.information: Reals = np.zeros_like(estimate.covariances)

    def smoothed(self, tick: int, counts: Reals, kinds: NDArray[np.generic]) -> SmoothedLevel:
        """The counts at a tick, from all ticks.

        Args:
            tick: its number.
            counts: as they were filtered.
            kinds: of the nodes after the tick.
        """
        covariances = self.tables[tick].covariances
        with_count = covariances[..., 0, :].reshape(-1, self.space.size)
        correction = np.zeros_like(counts)
        for part in range(self.space.size):
            correction += with_count[:, part][kinds] * self.told[part]
        correction -= mean_of_areas(correction, np.ones_like(correction))
        row = covariances[..., 0, :]
        learned = np.einsum("...i,...ij,...j->...", row, self.information, row)
        own = np.maximum(covariances[..., 0, 0] - learned, 0.0).reshape(-1)[kinds]
        return SmoothedLevel(tick, counts + correction, self.estimate.with_areas(own, tick))

    def step_back(
        self, tick: int, arrays: Mapping[str, NDArray[np.generic]], kinds: NDArray[np.generic] | None
    ) -> None:
        """Carry back over a tick.

        Args:
            tick: its number.
            arrays: what was written of it.
            kinds: of the nodes before it.
        """
        decays, weights, tables = self.space.decays, self.space.weights, self.tables[tick]
        if tables.gain is None or tables.spread is None or kinds is None:
            # Left out, or the first that was measured: nobody was counted before, and nothing is carried further.
            kept = 1.0 if tick and tables.has_begun == self.tables[tick - 1].has_begun else 0.0
            self.told *= kept * decays[:, None]
            self.information = kept * self.space.later(self.information)
            return
        is_step = np.asarray(arrays["is_step"], dtype=np.bool_)
        followed = np.zeros(is_step.size)
        for part in range(self.space.size):
            followed += np.where(is_step, 1.0, tables.gain[..., part].reshape(-1)[kinds]) * self.told[part]
        followed -= arrays["distances"] / tables.spread.reshape(-1)[kinds]
        for part in range(self.space.size):
            self.told[part] = decays[part] * self.told[part] - weights[part] * followed
        number = np.bincount(kinds, minlength=SIZES * AGES).reshape(SIZES, AGES) + 1e-3
        steps = np.bincount(kinds[is_step], minlength=SIZES * AGES).reshape(SIZES, AGES) / number
        self.information = self._information(tables.gain, tables.spread, steps)

    def _information(self, gain: Reals, spread: Reals, steps: Reals) -> Reals:
        """What the surprises from this tick on tell of each kind before it, on average over its steps and its other nodes."""
        weights, later = self.space.weights, self.information
        older = np.concatenate([later[:, 1:], later[:, -1:]], axis=1)
        turn = self.space.decays * np.eye(self.space.size) - gain[..., :, None] * weights
        stepped = self.space.decays * np.eye(self.space.size) - weights
        followed = np.swapaxes(turn, -1, -2) @ older @ turn + weights[:, None] * weights / spread[..., None, None]
        whole = np.broadcast_to((stepped.T @ later[:, 0] @ stepped)[:, None], followed.shape)
        share = steps[..., None, None]
        return np.asarray((1 - share) * followed + share * whole)


def _read(folder: Path, tick: int) -> dict[str, NDArray[np.generic]]:
    with np.load(folder / f"{tick:06}.npz") as arrays:
        return {name: arrays[name] for name in arrays.files}


def _read_ticks(design: SeriesDesign, ticks: int | None) -> int:
    if ticks is None:
        return design.ticks
    return exact_integer(ticks, "ticks", "smooth_window", f"from 1 to {design.ticks}", smallest=1, largest=design.ticks)
