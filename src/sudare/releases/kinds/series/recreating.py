"""A tick once more, exactly as it was: from the changes that were measured, and from noise that has an address.

While a window is open its key and the changes of all its ticks are kept. They give every measurement again, and with it every
estimate and every table: nothing new is drawn, and nothing new is told. So a folder that was lost is made again at no cost,
and shown if it is the one that the ledger settled, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass

from sudare.domain import CountTable
from sudare.releases.kinds.series.state import WindowFolder
from sudare.series.filtering import FilteredEstimate
from sudare.series.mechanism import SeriesDesign, SeriesWindow, TickTable

__all__ = ["RecreatedTick", "predicted_deviations", "recreate_tick"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RecreatedTick:
    """A tick that was published before.

    Attributes:
        published: its table, and what was measured for it.
        filtered: the deviations that the filter predicted then.
        origin: of the noise.
    """

    published: TickTable
    filtered: tuple[float, ...]
    origin: str


def recreate_tick(
    folder: WindowFolder, design: SeriesDesign, tick: int, published: int, reference: CountTable | None
) -> RecreatedTick:
    """A tick from the private state of its window.

    Args:
        folder: of the window.
        design: of the series.
        tick: that was published before.
        published: the last tick that was published, by the ledger.
        reference: the table by which the tick was refined.

    Raises:
        LedgerError: if state or key are not there.
    """
    window = SeriesWindow(design, folder.open_key(published))
    bound, found = "", None
    for number, changes in enumerate(folder.measured_changes(published)[: tick + 1]):
        if changes is None:
            window.skip()
            continue
        window.history.append(changes)
        window.reference = reference if number == tick else None
        bound = design.bind(bound, number, changes)
        found = window.draw(bound)
    if found is None or found.tick != tick:
        raise ValueError(f"tick {tick} was not measured")
    return RecreatedTick(published=found, filtered=predicted_deviations(window, tick), origin=window.key.origin)


def predicted_deviations(window: SeriesWindow, tick: int) -> tuple[float, ...]:
    """The standard deviations of the estimates of a tick that was just drawn, for each level, as the filter predicts them.

    The root mean square over the nodes of a level. It depends on the data through the noisy counts alone.
    """
    return tuple(
        float(estimate.variances().mean()) ** 0.5
        if isinstance(estimate, FilteredEstimate)
        else float(level.variances[tick]) ** 0.5
        for estimate, level in zip(window.estimates, window.design.levels, strict=True)
    )
