"""Levels of which only some nodes are looked at: those below nodes that have somebody.

All of a level is measured, as numbers that nobody has written down: C x + z of any node at any tick can be found from the private
list of its changes and the address of its noise, in any order. Which of these numbers are looked at follows from published ones.
A node that is looked at for the first time is taken through all ticks so far; it has then the estimate that it would have had.

Proof: ``mechanism.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.errors import ParameterError
from sudare.kernels.series.measuring import add_changes
from sudare.noise.addressed import NoiseKey
from sudare.noise.sampler import Sampler
from sudare.parameters import exact_integer
from sudare.series.design import LevelDesign
from sudare.series.estimation import RunningEstimate
from sudare.series.paths import LevelChanges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Reals = NDArray[np.float64]

__all__ = ["MeasuredPast", "VisitedEstimate", "key_of_tick", "noise_of_level", "noise_of_nodes"]

PART_BITS = 6
"""Noise below this depth of the tree has the keys of its ancestor there, so that a part of the domain can be drawn by itself."""

BOUND_BYTES = 32
"""Of what a tick's noise is bound to; 0 where it is bound to nothing."""

KEPT_TICKS = 8
"""How long a node is taken along that is not looked at; later it would be taken through all ticks again."""

NODES_AT_ONCE = 1 << 15
"""Nodes that are taken through all ticks at once."""


def key_of_tick(key: NoiseKey, tick: int, bound: str | None) -> NoiseKey:
    """The key for one tick's input alone, below the window's; the window's own where nothing is bound."""
    return key if bound is None else key.child(bound, tick)


def noise_of_level(key: NoiseKey, level: int, depth: int, sampler: Sampler) -> Counts:
    """The noise of all nodes of a level at a tick, part by part.

    Args:
        key: of the tick.
        level: its number.
        depth: how many halvings lie above it.
        sampler: of the noise.
    """
    if depth <= PART_BITS:
        return key.child("level", level).draw(sampler, np.arange(1 << depth))
    within = np.arange(1 << depth - PART_BITS)
    parts = (key.child("part", part).child("level", level) for part in range(1 << PART_BITS))
    return np.concatenate([part.draw(sampler, within) for part in parts])


def noise_of_nodes(key: NoiseKey, level: int, depth: int, sampler: Sampler, nodes: Counts) -> Counts:
    """The noise of some nodes of a level at a tick: what `noise_of_level` gives for them.

    Args:
        key: of the tick.
        level: its number.
        depth: how many halvings lie above it.
        sampler: of the noise.
        nodes: ascending.
    """
    if depth <= PART_BITS:
        return key.child("level", level).draw(sampler, nodes)
    below = depth - PART_BITS
    edges = np.searchsorted(nodes, np.arange((1 << PART_BITS) + 1) << below)
    out = np.empty(nodes.size, dtype=np.int64)
    for part in np.flatnonzero(np.diff(edges)).tolist():
        some = slice(edges[part], edges[part + 1])
        out[some] = key.child("part", part).child("level", level).draw(sampler, nodes[some] - (part << below))
    return out


@dataclass(frozen=True, eq=False)
class MeasuredPast:
    """What was measured of one level, of any node at any tick so far.

    Attributes:
        design: how the level is measured.
        number: of the level.
        depth: how many halvings lie above it.
        keys: of each tick; None for one that is missing.
        changes: of each tick; None for one that is missing.
        is_of_events: whether a tick measures its own counts alone.
    """

    design: LevelDesign
    number: int
    depth: int
    keys: Sequence[NoiseKey | None]
    changes: Sequence[LevelChanges | None]
    is_of_events: bool = False

    @property
    def tick(self) -> int:
        """The last tick."""
        return len(self.keys) - 1

    def now(self, nodes: Counts) -> Counts:
        """C x + z of nodes at the last tick.

        Args:
            nodes: ascending.
        """
        measured = self._noise(self.tick, nodes)
        coefficients = self.design.strategy.coefficients
        for earlier, changed in enumerate(self.changes):
            if changed is None or (self.is_of_events and earlier < self.tick):
                continue
            places, found = _places(nodes, changed.nodes)
            if places.size and (coefficient := coefficients[self.tick - earlier]):
                add_changes(measured, places, np.ascontiguousarray(changed.changes[found]), coefficient)
        return measured

    def history(self, nodes: Counts) -> list[Counts | None]:
        """C x + z of nodes at every tick; None for one that is missing.

        Args:
            nodes: ascending.
        """
        told: dict[int, tuple[Counts, Counts]] = {}
        for tick, changed in enumerate(self.changes):
            if changed is not None:
                places, found = _places(nodes, changed.nodes)
                if places.size:
                    told[tick] = places, np.ascontiguousarray(changed.changes[found])
        rows: list[Counts | None] = []
        for tick, key in enumerate(self.keys):
            if key is None:
                rows.append(None)
                continue
            measured = self._noise(tick, nodes)
            for earlier, (places, changes) in told.items():
                if earlier == tick or (earlier < tick and not self.is_of_events):
                    add_changes(measured, places, changes, self.design.strategy.coefficients[tick - earlier])
            rows.append(measured)
        return rows

    def _noise(self, tick: int, nodes: Counts) -> Counts:
        key = self.keys[tick]
        if key is None:
            raise AssertionError("nothing is measured at a missing tick")
        return noise_of_nodes(key, self.number, self.depth, self.design.sampler, nodes)


class VisitedEstimate:
    """Estimated counts of those nodes of a level that are looked at: what `RunningEstimate` gives for them.

    Args:
        design: how the level is measured.

    Attributes:
        tick: the number of the next tick.
        nodes: that are taken along, ascending.
        measured: what was measured of them at the last tick.
        unseen: for how many ticks each was not looked at.
        bounds: to what the noise of each tick so far was bound, as bytes.
    """

    def __init__(self, design: LevelDesign) -> None:
        self.design, self.strategy = design, design.strategy
        self.nodes = np.zeros(0, dtype=np.int64)
        self.measured = np.zeros(0, dtype=np.int64)
        self.unseen = np.zeros(0, dtype=np.uint8)
        self.bounds = np.zeros((0, BOUND_BYTES), dtype=np.uint8)
        self._take({name: array[..., :0] for name, array in RunningEstimate(self.strategy, 1).arrays().items()}, 0)

    @property
    def tick(self) -> int:
        """The number of the next tick."""
        return self._tick

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All that the estimate remembers besides its tick."""
        return {"nodes": self.nodes, "unseen": self.unseen, "bounds": self.bounds, **self._arrays}

    def restore(self, tick: int, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """Become what an estimate was when `arrays` was called.

        Raises:
            ParameterError: if the arrays are not those of such an estimate.
        """
        ticks = self.strategy.ticks
        number = exact_integer(tick, "tick", "VisitedEstimate.restore", f"from 0 to {ticks}", smallest=0, largest=ticks)
        found = {name: np.asarray(arrays.get(name)) for name in self.arrays()}
        bounds, size = found.pop("bounds"), found["nodes"].size
        kinds = {"nodes": np.int64, "unseen": np.uint8}
        fits = all(
            array.ndim > 0 and array.shape[-1] == size and array.dtype == kinds.get(name, np.float64)
            for name, array in found.items()
        )
        if (
            not fits
            or bounds.shape != (number, BOUND_BYTES)
            or bounds.dtype != np.uint8
            or (np.diff(found["nodes"]) <= 0).any()
        ):
            raise ParameterError("arrays", "VisitedEstimate.restore", "arrays of the same nodes", "others")
        self.nodes, self.unseen = found.pop("nodes"), found.pop("unseen")
        self.measured, self.bounds = np.zeros(size, dtype=np.int64), bounds
        self._take(found, number)

    def skip(self) -> None:
        """Take nodes along over a tick that was not measured."""
        self._bind(None)
        self._step(None)

    def keys(self, key: NoiseKey, missing: Sequence[bool], bound: str | None) -> list[NoiseKey | None]:
        """The keys of all ticks up to the one that is measured now.

        Args:
            key: of the window.
            missing: which ticks are missing.
            bound: to what the noise of this tick is bound.
        """
        bounds = [row.tobytes().hex() if row.any() else None for row in self.bounds] + [bound]
        return [
            None if left_out else key_of_tick(key, tick, one).child("tick", tick)
            for tick, (left_out, one) in enumerate(zip(missing, bounds, strict=True))
        ]

    def _bind(self, bound: str | None) -> None:
        row = np.frombuffer(bytes(BOUND_BYTES) if bound is None else bytes.fromhex(bound), dtype=np.uint8)
        self.bounds = np.concatenate([self.bounds, row[None, :]])

    def advance(self, past: MeasuredPast, bound: str | None) -> None:
        """Take nodes along to the next tick; those that were not looked at for long are left behind.

        Args:
            past: what was measured, this tick included.
            bound: to what the noise of this tick is bound.
        """
        self._bind(bound)
        kept = self.unseen < KEPT_TICKS
        if not kept.all():
            self._select(np.flatnonzero(kept))
        self.unseen += 1
        self.measured = past.now(self.nodes)
        self._step(self.measured)

    def look_at(self, nodes: Counts, past: MeasuredPast) -> Reals:
        """The estimated counts of nodes at the last tick.

        Args:
            nodes: ascending.
            past: what was measured, this tick included.
        """
        is_new = ~_is_in(self.nodes, nodes)
        if is_new.any():
            self._add(nodes[is_new], past)
        places = np.searchsorted(self.nodes, nodes)
        self.unseen[places] = 0
        return np.asarray(self._arrays["counts"][places], dtype=np.float64)

    def looked_at(self) -> tuple[Counts, Counts]:
        """Which nodes were looked at at the last tick, and what was measured of them."""
        seen = np.flatnonzero(self.unseen == 0)
        return self.nodes[seen], self.measured[seen]

    def _add(self, nodes: Counts, past: MeasuredPast) -> None:
        """Take nodes through all ticks so far."""
        parts = [_through(past, nodes[first : first + NODES_AT_ONCE]) for first in range(0, nodes.size, NODES_AT_ONCE)]
        order = np.argsort(np.concatenate([self.nodes, nodes]), kind="stable")
        joined = {
            name: np.concatenate([array, *(part[name] for part, _ in parts)], axis=-1)[..., order]
            for name, array in self._arrays.items()
        }
        self.nodes = np.concatenate([self.nodes, nodes])[order]
        self.unseen = np.concatenate([self.unseen, np.zeros(nodes.size, dtype=np.uint8)])[order]
        self.measured = np.concatenate([self.measured, *(last for _, last in parts)])[order]
        self._take(joined, self._tick)

    def _select(self, places: Counts) -> None:
        self.nodes, self.unseen, self.measured = self.nodes[places], self.unseen[places], self.measured[places]
        self._take({name: array[..., places] for name, array in self._arrays.items()}, self._tick)

    def _take(self, arrays: Mapping[str, NDArray[np.generic]], tick: int) -> None:
        self._arrays, self._tick = dict(arrays), tick

    def _step(self, measured: Counts | None) -> None:
        if self.nodes.size == 0:
            empty = RunningEstimate(self.strategy, 1)
            empty.at_tick(self._tick + 1)
            self._take({name: array[..., :0] for name, array in empty.arrays().items()}, self._tick + 1)
            return
        estimate = RunningEstimate.restored(self.strategy, self.nodes.size, self._tick, self._arrays)
        _ = estimate.skip() if measured is None else estimate.update(measured)
        self._take(estimate.arrays(), estimate.tick)


def _through(past: MeasuredPast, nodes: Counts) -> tuple[dict[str, NDArray[np.generic]], Counts]:
    """The estimate of nodes after all ticks, and what was measured of them at the last one."""
    estimate = RunningEstimate(past.design.strategy, nodes.size)
    rows = past.history(nodes)
    for row in rows:
        _ = estimate.skip() if row is None else estimate.update(row)
    last = rows[-1]
    return estimate.arrays(), np.zeros(nodes.size, dtype=np.int64) if last is None else last


def _places(nodes: Counts, wanted: Counts) -> tuple[Counts, Counts]:
    """Where wanted ones are among nodes, and which of the wanted ones these are; both ascend."""
    if not nodes.size or not wanted.size:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places = np.searchsorted(nodes, wanted)
    found = np.flatnonzero(nodes[np.minimum(places, nodes.size - 1)] == wanted)
    return places[found], found


def _is_in(nodes: Counts, wanted: Counts) -> NDArray[np.bool_]:
    known = np.zeros(wanted.size, dtype=np.bool_)
    known[_places(nodes, wanted)[1]] = True
    return known
