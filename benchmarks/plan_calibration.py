"""Set the factors of ``sudare/tables/planning/error_factors.py`` anew: ``python -m benchmarks.plan_calibration`` prints them.

Each factor is a quantile of measured errors over what noise alone predicts, on tables with about as many people for each sum, in
standard deviations of the noise. Every table counts the same. Below them it prints how often the intervals hold on tables whose
source was left out: the larger the difference to 0.9, the fewer tables of that kind there are.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from benchmarks.plan_errors import MeasuredPart, measure_parts
from benchmarks.plan_tables import tables_to_set_on
from sudare.tables.planning.error_factors import LOADS, ErrorFactors
from sudare.tables.planning.predicted_error import (
    CHANCE,
    chance_factor,
    likely_people,
    predict_by_factors,
    sums_that_vary,
)

__all__ = ["main", "set_factors"]

OUTSIDE = 0.04
"""Share of the measured errors beyond either end: less than a twentieth, because new tables differ more than these do."""

ROOM = 0.9
"""Lower ends are this much lower than measured: mechanisms get better."""

NEAR = 0.6
"""Measured errors within so many powers of ten of a load make up its factor."""

MIN_UPPER = 1.1
"""What noise alone predicts is always within the interval of inhabited areas."""

FULL_LOAD = 10
"""From this load on, every sum may have so many people that nothing is cut off: all sums are then like inhabited ones."""

MIN_SUMS = 8
"""Fewer are left to chance, and tell little of the table."""

MIN_PARTS = 20

Values = NDArray[np.float64]


@dataclass(frozen=True)
class _Measured:
    """Columns of measured parts."""

    tables: NDArray[np.str_]
    varying: Values
    loads: Values
    inhabited: Values
    everywhere: Values

    @classmethod
    def of(cls, parts: Sequence[MeasuredPart]) -> _Measured:
        noise = np.array([part.predicted.rmse for part in parts])
        sums = np.array([part.predicted.sums for part in parts], dtype=np.float64)
        people = np.array([part.people for part in parts], dtype=np.float64)
        return cls(
            np.array([part.table for part in parts]),
            np.array([sums_that_vary(part.predicted.sums, part.predicted.rmse) for part in parts]),
            people / sums / noise,
            np.array([part.inhabited for part in parts]) / noise,
            np.array([part.everywhere for part in parts]) / noise,
        )

    def near(self, load: float) -> _Measured:
        """Those whose load is about this one; beyond the upper end of the table, all of them."""
        own = np.minimum(np.log10(self.loads), np.log10(LOADS[-1]))
        chosen = np.abs(own - np.log10(load)) <= NEAR
        return _Measured(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def quantile(self, ratios: Values, share: float) -> float:
        """A quantile over parts, where every table counts the same."""
        _, places, counts = np.unique(self.tables, return_inverse=True, return_counts=True)
        order = np.argsort(ratios)
        running = np.cumsum((1 / counts[places])[order])
        return float(ratios[order][min(np.searchsorted(running, share * running[-1]), ratios.size - 1)])

    def factors(self, load: float) -> list[float]:
        """In the order of `ErrorFactors`."""
        below, above = (np.array([chance_factor(n, share) for n in self.varying]) for share in (CHANCE, 1 - CHANCE))
        highest = max(self.quantile(self.inhabited / above, 1 - OUTSIDE), MIN_UPPER)
        of_all = self.quantile(self.everywhere / above, 1 - OUTSIDE)
        return [
            ROOM * self.quantile(self.inhabited / below, OUTSIDE),
            highest,
            ROOM * self.quantile(self.everywhere / below, OUTSIDE),
            self.quantile(self.everywhere, 0.5),
            max(of_all, highest) if load >= FULL_LOAD else of_all,
        ]


def set_factors(parts: Sequence[MeasuredPart]) -> ErrorFactors:
    """Factors from measured parts; a load that too few have takes those of the nearest load that has them."""
    many = [part for part in parts if sums_that_vary(part.predicted.sums, part.predicted.rmse) >= MIN_SUMS]
    measured = _Measured.of(many)
    rows = {load: measured.near(load) for load in LOADS}
    known = {load: near.factors(load) for load, near in rows.items() if near.loads.size >= MIN_PARTS}
    filled = [known[min(known, key=lambda other: abs(np.log(other / load)))] for load in LOADS]
    return ErrorFactors(*(tuple(_rounded(value) for value in column) for column in zip(*filled, strict=True)))


def _rounded(factor: float) -> float:
    return round(factor, 2) if factor >= 0.1 else float(f"{factor:.2g}")


def main() -> None:
    """Measure, and print the factors as they stand in the code."""
    argparse.ArgumentParser(prog="python -m benchmarks.plan_calibration", description=__doc__).parse_args()
    parts = list(measure_parts(tables_to_set_on()))
    kinds = {
        "TREE_FACTORS": [part for part in parts if part.mechanism != "histogram"],
        "HISTOGRAM_FACTORS": [part for part in parts if part.mechanism == "histogram"],
    }
    for name, own in kinds.items():
        factors = set_factors(own)
        print(f"{name} = ErrorFactors(")
        for field in fields(factors):
            print(f"    {field.name}={getattr(factors, field.name)},")
        print(")")
        for known, (inhabited, everywhere) in {
            True: _left_out(own, known=True),
            False: _left_out(own, known=False),
        }.items():
            people = "with people" if known else "without people"
            print(f"# {people}, source left out: inhabited {inhabited:.3f}, all {everywhere:.3f}")


def _left_out(parts: Sequence[MeasuredPart], *, known: bool) -> tuple[float, float]:
    """Shares of errors within intervals set on tables from all other sources."""
    inside: list[tuple[bool, bool]] = []
    for source in sorted({part.source for part in parts}):
        factors = set_factors([part for part in parts if part.source != source])
        for part in parts:
            if part.source == source:
                was = part.predicted
                people = (part.people,) if known else likely_people(part.cells)
                now = predict_by_factors(factors, was.side, was.rmse, was.sums, part.cells, people, was.margin)
                inside.append((now.low <= part.inhabited <= now.high, now.all_low <= part.everywhere <= now.all_high))
    inhabited, everywhere = np.mean(inside, axis=0)
    return float(inhabited), float(everywhere)


if __name__ == "__main__":
    main()
