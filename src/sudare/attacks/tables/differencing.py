"""Differencing: published cells, each harmless, whose differences are counts of very few people.

Cells of one or more releases are sets of smallest pieces (meshes, single ages, ...). Pieces that are in exactly the same
cells cannot be told apart and are one. A difference of two nested cells is the count of what is in one and not in the other; in
general any linear combination of cells that leaves some pieces, whole, reveals how many people they have together. Elimination
with exact fractions finds out for every piece whether it can be had alone (`cell_system`), and a search in whole numbers which
pieces together are few people (`small_parts`).

With noise in the cells a combination has their noise together; it isolates nobody unless it stays below half a person.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sudare.attacks.tables.cell_system import CellSystem, CombinedPart
from sudare.attacks.tables.small_parts import find_small_parts
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.errors import Described, ParameterError
from sudare.parameters import exact_fraction, exact_integer

__all__ = ["Combination", "Differences", "PublishedCell", "attack_by_differences"]

MAX_CELLS_IN_GENERAL = 400
MAX_STEPS = 3_000_000
LEGIBLE_DEVIATION = 0.25
"""Noise of up to this deviation leaves a count legible: rounding is right in 95 % of the cases."""

REMEDY = Words(
    "Align the areas of the releases, withhold one of the cells, or publish all of them with noise from one budget.",
    "公表間で地域や区分の境界をそろえるか、セルの一つを公表しないか、全てに同じ予算からのノイズを加えて公表してください。",
)


@dataclass(frozen=True)
class PublishedCell:
    """One published count.

    Args:
        name: such as ``"2025, ward 3"``.
        pieces: the smallest pieces that it counts: codes of meshes or streets, single ages, or tuples of them.
        count: as published.
        deviation: the standard deviation of its noise; 0 if it is exact.
    """

    name: str
    pieces: frozenset[Hashable]
    count: int
    deviation: float = 0.0


@dataclass(frozen=True)
class Combination:
    """A combination of published cells that leaves a part of the population.

    Attributes:
        terms: the cells with their coefficients.
        pieces: the smallest pieces that are left.
        count: how many people the combination says are there.
        deviation: of the noise in it.
    """

    terms: tuple[tuple[str, Fraction], ...]
    pieces: frozenset[Hashable]
    count: Fraction
    deviation: float

    def formula(self) -> str:
        """The combination as people write it: ``city - ward 1 - ward 2``."""
        text = ""
        for name, coefficient in sorted(self.terms, key=lambda term: (term[1] < 0, term[0])):
            size = abs(coefficient)
            sign = "-" if coefficient < 0 else "+"
            factor = "" if size == 1 else f"{size} x "
            text += f" {sign} {factor}{name}" if text else f"{'-' if coefficient < 0 else ''}{factor}{name}"
        return text


@dataclass(frozen=True)
class Differences(Rows):
    """What combinations of published cells isolate.

    Attributes:
        combinations: those that leave a part that no published cell is by itself, at least as exactly; the fewest people first.
        threshold: counts from 1 to below it are too small.
        is_complete: whether combinations of more than two cells were searched, too, and to the end.
        contradicts: whether exact counts contradict each other: they are of different people, or not exact.
    """

    combinations: tuple[Combination, ...]
    threshold: int
    is_complete: bool
    contradicts: bool = False

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each combination, the fewest people first."""
        listed = self.combinations
        return {
            "combination": [each.formula() for each in listed],
            "count": [float(each.count) for each in listed],
            "deviation": [each.deviation for each in listed],
            "isolates": [self._isolates(each) for each in listed],
        }

    @property
    def isolating(self) -> tuple[Combination, ...]:
        """The combinations that show a count that is too small, legibly."""
        return tuple(found for found in self.combinations if self._isolates(found))

    def _isolates(self, found: Combination) -> bool:
        # What has noise is read by rounding.
        count = found.count if found.deviation == 0 else round(found.count)
        return found.deviation <= LEGIBLE_DEVIATION and 0 < count < self.threshold

    def report(self) -> AttackReport:
        """A verdict for each part that a combination leaves."""
        broken = len(self.isolating)
        verdicts = [self._verdict(found) for found in self.combinations]
        if not self.is_complete:
            verdicts.append(
                Verdict(
                    "differencing",
                    "combinations of more than two cells",
                    AttackOutcome.UNDECIDED,
                    math.nan,
                    Words(
                        "The system is too large to search all combinations.",
                        "系が大きすぎるため全ての組合せは調べていません。",
                    ),
                    Words("Attack smaller areas one by one.", "より小さな地域ごとに調べてください。"),
                )
            )
        if self.contradicts:
            verdicts.append(
                Verdict(
                    "differencing",
                    "exact counts",
                    AttackOutcome.UNDECIDED,
                    math.nan,
                    Words(
                        "The counts contradict each other: they are of different people, or were rounded or perturbed.",
                        "度数が互いに矛盾しています。対象が異なるか、端数処理や撹乱が行われています。",
                    ),
                    Words(
                        "Give cells that were changed the deviation that they have.",
                        "値を変えたセルには、その標準偏差を指定してください。",
                    ),
                )
            )
        summary = Words(
            f"{broken:,} combination(s) of published cells isolate fewer than {self.threshold} people.",
            f"公表されたセルの組合せのうち {broken:,} 通りが {self.threshold} 人未満の集団を切り出します。",
        )
        return AttackReport.of("differencing", summary, verdicts)

    def _verdict(self, found: Combination) -> Verdict:
        count = f"{found.count}" if found.deviation == 0 else f"{float(found.count):.6g} ± {found.deviation:.2g}"
        return Verdict(
            "differencing",
            found.formula(),
            AttackOutcome.BROKEN if self._isolates(found) else AttackOutcome.HELD,
            float(found.count),
            Words(
                f"The difference is the count of a part by itself: {count}.",
                f"差し引きで一部分の人数がわかります: {count} 人。",
            ),
            REMEDY,
        )


def attack_by_differences(cells: Iterable[PublishedCell], *, threshold: int = 3, seconds: float = 10.0) -> Differences:
    """Search combinations of published cells that leave few people.

    All pairs of nested cells are compared. Up to 400 cells, if it is not too much work, every piece is tested for a combination
    of any number of cells that leaves it alone, and pieces that are few people together are searched for.

    Args:
        cells: of all releases.
        threshold: counts from 1 to below it are too small.
        seconds: how long to search for pieces that are few together; when it is over, the result says that it is not complete.

    Example:
        >>> from sudare.attacks.tables.differencing import PublishedCell, attack_by_differences
        >>> city = PublishedCell("city", frozenset("abc"), 120)
        >>> old_town = PublishedCell("old town", frozenset("ab"), 119)
        >>> attack_by_differences([city, old_town]).isolating[0].formula()
        'city - old town'
    """
    check_arguments(attack_by_differences, locals(), "cells")
    function = "attack_by_differences"
    listed = list(cells)
    least = exact_integer(threshold, "threshold", function, Words("a whole number >= 2", "2 以上の整数"), smallest=2)
    allowed = exact_fraction(seconds, "seconds", function, Words("a number >= 0", "0 以上の数"))
    names = [cell.name for cell in listed]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError("cells", function, "cells with different names", Described(twice))
    found: dict[frozenset[Hashable], Combination] = {}
    for combination in _nested(listed):
        _keep(found, combination)
    complete, contradicts = len(listed) <= MAX_CELLS_IN_GENERAL, False
    if complete:
        combinations, complete, contradicts = _in_general(listed, least, float(allowed))
        for combination in combinations:
            _keep(found, combination)
    published: dict[frozenset[Hashable], float] = {}
    for cell in listed:
        published[cell.pieces] = min(cell.deviation, published.get(cell.pieces, math.inf))
    ordered = sorted(
        (one for one in found.values() if _tells_more(one, published.get(one.pieces))),
        key=lambda combination: (combination.count, combination.formula()),
    )
    contradicts |= any(
        combination.deviation == 0 and (combination.count < 0 or combination.count.denominator > 1)
        for combination in ordered
    )
    return Differences(tuple(ordered), least, complete, contradicts)


def _tells_more(found: Combination, published: float | None) -> bool:
    """Whether a combination tells more than a cell that is published with the given deviation (None: there is none)."""
    if published is None:
        return True
    return found.deviation < published * (1 - 1e-9) and found.deviation <= LEGIBLE_DEVIATION


def _keep(found: dict[frozenset[Hashable], Combination], new: Combination) -> None:
    """Of several ways to the same part, the one with the least noise, then the shortest."""
    old = found.get(new.pieces)
    if old is None or (new.deviation, len(new.terms)) < (old.deviation, len(old.terms)):
        found[new.pieces] = new


def _nested(cells: Sequence[PublishedCell]) -> Iterable[Combination]:
    by_piece: dict[Hashable, list[int]] = {}
    for place, cell in enumerate(cells):
        for piece in cell.pieces:
            by_piece.setdefault(piece, []).append(place)
    for place, inner in enumerate(cells):
        if not inner.pieces:
            continue
        rarest = min((by_piece[piece] for piece in inner.pieces), key=len)
        for other in rarest:
            outer = cells[other]
            if other != place and inner.pieces < outer.pieces:
                yield Combination(
                    ((outer.name, Fraction(1)), (inner.name, Fraction(-1))),
                    outer.pieces - inner.pieces,
                    Fraction(outer.count - inner.count),
                    math.hypot(outer.deviation, inner.deviation),
                )


def _in_general(cells: Sequence[PublishedCell], threshold: int, seconds: float) -> tuple[list[Combination], bool, bool]:
    """Combinations of any number of cells that leave a class of pieces, or few people in several classes.

    Returns:
        The combinations, whether the search was finished (if not, those found so far are true, but there may be others), and
        whether exact cells contradict each other.
    """
    system = CellSystem(
        [cell.pieces for cell in cells],
        [cell.count for cell in cells],
        [cell.deviation for cell in cells],
        MAX_STEPS,
    )
    parts, complete = system.alone(LEGIBLE_DEVIATION), system.is_finished
    if complete:
        further, complete = find_small_parts(system, threshold=threshold, legible=LEGIBLE_DEVIATION, seconds=seconds)
        parts += further
    return [_combination(cells, system, part) for part in parts], complete, system.contradicts


def _combination(cells: Sequence[PublishedCell], system: CellSystem, part: CombinedPart) -> Combination:
    pieces = frozenset(piece for column in part.classes for piece in system.classes[column])
    terms = tuple((cells[place].name, value) for place, value in part.used)
    return Combination(terms, pieces, part.count, part.deviation)
