"""What a mechanism returns: the table, its event, and on request the noisy measurements behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import Rows, ShownRows
from sudare.domain.table import CountTable, SignedTable
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.tables.planning.plan import Plan

__all__ = ["NoisyCounts", "Published", "ThresholdEffect"]

PICTURE_SIDE, PICTURE_TIMES = 256, 0.75
"""Pixels of a map in a notebook, and how large it is shown."""


@dataclass(frozen=True, eq=False)
class NoisyCounts(ShownRows):
    """Noisy measurements of one kind, before any refinement: unbiased, and safe to publish as they are.

    Attributes:
        name: what was measured, such as ``"total"`` or ``"areas of 2**4 cells"``.
        measurement: the noise that was added.
        keys: the key of the first cell of each area measured.
        values: the noisy count, or difference of counts, of each; possibly negative.
    """

    name: str
    measurement: Measurement
    keys: NDArray[np.uint64]
    values: NDArray[np.int64]

    def frame_columns(self) -> Mapping[str, Any]:
        """The first key of each area, and what was measured of it."""
        return {"key": self.keys, "value": self.values}


@dataclass(frozen=True)
class ThresholdEffect:
    """What publishing only noisy counts from a threshold on does to totals, as far as public facts tell.

    How much it takes from cells with few people depends on their counts, and is not part of it.

    Attributes:
        threshold: the smallest noisy count that is published; what is below becomes 0.
        per_empty_cell: with how many people an empty cell is published on average; without a threshold it would be 0.
        if_all_empty: the same for all cells of the domain: the expected total of a table of nobody, and the most that empty
            cells can add.
    """

    threshold: int
    per_empty_cell: float
    if_all_empty: float


@dataclass(frozen=True, eq=False)
class Published(Rows):
    """A published table: whole numbers, with the event that says what they cost.

    Most mechanisms publish counts, whole numbers >= 0. Those that publish noise as it is return a `SignedTable`, in which some
    are negative; ``is_signed`` tells.

    It can be taken apart as ``table, event = ...``.

    Attributes:
        table: the counts.
        event: who is protected, what was drawn and what it cost.
        plan: how it was decided what to draw, where a plan was made.
        measurements: what was drawn, where it was asked for.
        reference: the table that the caller declared to be public, where one was used.
        settled: numbers that the mechanism chose on the way, from noisy or public ones, such as a weight.
        threshold: what a threshold does to totals, where there was one.

    Example:
        >>> import numpy as np, sudare
        >>> published = sudare.tables.nn_wavelet(np.full((8, 8), 100), sudare.Budget(epsilon=1))
        >>> published.to_dense().shape, published.event.mechanism
        ((8, 8), 'nn-wavelet')
        >>> table, event = published
    """

    table: CountTable | SignedTable
    event: ReleaseEvent
    plan: Plan | None = None
    measurements: tuple[NoisyCounts, ...] | None = None
    reference: CountTable | None = None
    settled: Mapping[str, float] | None = None
    threshold: ThresholdEffect | None = None

    @property
    def is_signed(self) -> bool:
        """Whether the published numbers are noisy counts as they were drawn, some of them negative."""
        return isinstance(self.table, SignedTable)

    def __iter__(self) -> Iterator[Any]:
        yield self.table
        yield self.event

    def to_dense(self) -> NDArray[np.int64]:
        """An array with a place for every cell."""
        return self.table.to_dense()

    def frame_columns(self) -> Mapping[str, Any]:
        """A column for each attribute and one named ``count``, a row for each cell that is not 0."""
        return self.table.to_columns()

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.table.domain.shape))
        return f"<{self.event.mechanism}: {self.table.total:,} people in {shape} cells, {self.event.cost}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the guarantee, the numbers, and a picture where the table is a map."""
        domain, event = self.table.domain, self.event
        rows = {
            "Mechanism": event.mechanism,
            "Guarantee": f"{event.cost}, per {event.unit.who} ({event.unit.adjacency})",
            "Published exactly": ", ".join(event.invariants) or "nothing",
            "Cells": f"{' x '.join(map(str, domain.shape))} = {domain.cells:,}",
            "People": f"{self.table.total:,}",
            "Cells that are not 0": f"{self.table.keys.size:,}",
        }
        if self.is_signed:
            rows["Negative cells"] = (
                f"{int((self.table.counts < 0).sum()):,}: noise as it was drawn, so that sums are right"
            )
        if self.threshold is not None:
            rows["Threshold"] = (
                f"{self.threshold.threshold:,}: every empty cell adds {self.threshold.per_empty_cell:.3g} people on average, "
                f"all cells together at most {self.threshold.if_all_empty:,.4g}"
            )
        if self.reference is not None:
            rows["Public reference"] = f"declared by the caller: {self.reference.total:,} people"
        if not event.is_private:
            rows["Caution"] = "drawn from a seed, for research: NOT private"
        lines = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in rows.items()
        )
        return f"<div><table>{lines}</table>{self._picture()}</div>"

    def _picture(self) -> str:
        """The published counts as a map of at most 256 pixels a side; nothing for tables that are no maps."""
        from sudare.tables.map_frames import FramedMap, framed_svg
        from sudare.tables.maps import find_map, pixels_of

        axes = find_map(self.table.domain)
        if axes is None:
            return ""
        pixels = pixels_of(self.table, axes, PICTURE_SIDE)
        note = f"{self.event.mechanism}, {self.event.cost}"
        framed = FramedMap(pixels=pixels, axes=axes, title="Published counts", note=note)
        return framed_svg(framed, times=PICTURE_TIMES, has_ground=False)
