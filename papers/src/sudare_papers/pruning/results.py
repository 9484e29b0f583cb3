"""What the timing of pruning found, for each ordering and area."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudare.bilingual import Words
from sudare_papers.pruning.runs import AREAS, ORDERINGS, PAPER_HORIZONTAL, PAPER_VERTICAL, weighted_pruning_count

__all__ = [
    "PRINTED",
    "TITLES",
    "WAYS",
    "Found",
    "Measured",
    "correlation",
    "gathered",
    "order_of",
    "weight_correlation",
]


@dataclass(frozen=True)
class Measured:
    """What was found for one ordering and area, all rounds together."""

    zeros: float
    leaves: int
    prunings: list[int]
    prunings_of_total: list[int]
    agree: bool
    milliseconds: Mapping[str, list[float]]

    def mean(self, program: str) -> float:
        """Of a program's times, in milliseconds."""
        return float(np.mean(self.milliseconds[program]))

    def saved(self, pruned: str, unpruned: str, by: str = "medians") -> float:
        """The time that a program saves against another, in percent.

        By means it is that of the mean times, as in the paper; by medians, the median of what each round saves.
        """
        after, before = (np.array(self.milliseconds[program]) for program in (pruned, unpruned))
        share = np.median(after / before) if by == "medians" else after.mean() / before.mean()
        return 100 * (1 - float(share))

    def saved_by(self, way: str, by: str = "medians") -> float:
        """What pruning saves in one of the paper's programs."""
        return self.saved(f"{way} pruned", f"{way} unpruned", by)

    @property
    def weighted(self) -> int:
        """The paper's WP."""
        return weighted_pruning_count(self.prunings)

    @property
    def left_out(self) -> float:
        """Averages that pruning leaves out, in percent of the 2 + 4 + ... + 2**H that are computed without it."""
        return self._share(self.prunings)

    @property
    def left_out_of_total(self) -> float:
        """The same if the paper's epsilon were that of all levels together."""
        return self._share(self.prunings_of_total)

    def _share(self, prunings: list[int]) -> float:
        return 100 * weighted_pruning_count(prunings) / (2 * self.leaves - 2)


Found = Mapping[tuple[str, str], Measured]
WAYS = {"vertical": Words("vertical", "垂直型"), "horizontal": Words("horizontal", "水平型")}
PRINTED = {"vertical": PAPER_VERTICAL, "horizontal": PAPER_HORIZONTAL}
TITLES = {area.name: area.title for area in AREAS}


def gathered(blocks: list[Mapping[str, Any]]) -> Measured:
    """The results of several steps as one."""
    first = blocks[0]
    times = {name: [time for block in blocks for time in block["milliseconds"][name]] for name in first["milliseconds"]}
    agree = all(block["agree"] for block in blocks)
    prunings, of_total = first["prunings"], first["prunings_of_total"]
    return Measured(first["zeros"], first["leaves"], prunings, of_total, agree, times)


def correlation(across: list[float], up: list[float]) -> float:
    """Pearson's coefficient; not a number where one of the two does not vary."""
    if len(set(across)) < 2 or len(set(up)) < 2:
        return float("nan")
    return float(np.corrcoef(across, up)[0, 1])


def weight_correlation(found: Found, way: str, settings: list[tuple[str, str]], *, relative: bool) -> float:
    """Of the time saved with the weighted pruning count, or with its share of all nodes."""
    weights = [found[setting].left_out if relative else float(found[setting].weighted) for setting in settings]
    return correlation(weights, [found[setting].saved_by(way) for setting in settings])


def order_of(found: Found, way: str, area: str, by: str = "medians") -> tuple[str, ...]:
    """The orderings from the one that saves most to the one that saves least."""
    return tuple(sorted(ORDERINGS, key=lambda ordering: -found[ordering, area].saved_by(way, by)))
