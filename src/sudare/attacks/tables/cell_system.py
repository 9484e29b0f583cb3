"""Published cells as equations over smallest pieces, and what follows from them: exactly, or with how much noise.

Pieces that are in exactly the same cells cannot be told apart and are one class. A combination of cells that leaves each class
whole or not at all is the count of a part of the population. Its noise is least if the cells are weighed as by least squares.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sudare.attacks.tables.echelon import Echelon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["CellSystem", "CombinedPart"]

NOTHING = 1e-7
"""Coefficients below are rounding errors."""


@dataclass(frozen=True)
class CombinedPart:
    """Some classes of pieces that a combination of cells leaves.

    Attributes:
        classes: by number.
        used: the cells with their coefficients.
        count: how many people there are, by this combination.
        deviation: of its noise.
    """

    classes: frozenset[int]
    used: tuple[tuple[int, Fraction], ...]
    count: Fraction
    deviation: float


class CellSystem:
    """Cells, classes of pieces, and the combinations that there are.

    Args:
        pieces: of each cell.
        counts: of each cell.
        deviations: of the noise of each cell; 0 if it is exact.
        most_steps: how much work elimination may be.
    """

    def __init__(
        self,
        pieces: Sequence[frozenset[Hashable]],
        counts: Sequence[int],
        deviations: Sequence[float],
        most_steps: int,
    ) -> None:
        self.counts, self.deviations = tuple(counts), tuple(deviations)
        where: dict[Hashable, list[int]] = {}
        for place, own in enumerate(pieces):
            for piece in own:
                where.setdefault(piece, []).append(place)
        classes: dict[tuple[int, ...], list[Hashable]] = {}
        for piece, places in where.items():
            classes.setdefault(tuple(places), []).append(piece)
        # Sets have no order that repeats; these tuples do.
        groups = sorted(classes.items(), key=lambda group: group[0])
        self.classes = [frozenset(members) for _, members in groups]
        self.columns: list[set[int]] = [set() for _ in pieces]
        for column, (owners, _) in enumerate(groups):
            for place in owners:
                self.columns[place].add(column)
        # Cells with little noise first, then small ones, so that combinations prefer them.
        order = sorted(range(len(pieces)), key=lambda place: (deviations[place], len(pieces[place]), place))
        self.exact = Echelon(most_steps)
        self.is_finished = self._add(self.exact, [place for place in order if not deviations[place]])
        self.noisy = [place for place in order if deviations[place]]
        self.all = self.exact.copy() if self.noisy else self.exact
        self.is_finished = self.is_finished and self._add(self.all, self.noisy)

    def _add(self, echelon: Echelon, places: Iterable[int]) -> bool:
        return all(echelon.add(place, self.columns[place]) for place in places)

    @property
    def contradicts(self) -> bool:
        """Whether exact cells say different things about the same people."""
        return any(
            sum(value * self.counts[place] for place, value in used.items()) != 0 for used in self.exact.dependent
        )

    def alone(self, legible: float) -> list[CombinedPart]:
        """Each class that a combination leaves by itself, if there is one.

        Args:
            legible: combinations with more noise than this are left out where the class was published with noise by itself.
        """
        found = [pivot for pivot, row in sorted(self.all.rows.items()) if len(row.entries) == 1]
        if self.noisy:
            published = {next(iter(columns)) for columns in self.columns if len(columns) == 1}
            noise = np.sqrt(((self._weights * self._noise[:, None]) ** 2).sum(axis=0))
            found = [column for column in found if column not in published or noise[column] <= legible]
        parts = (self.part(frozenset([column])) for column in found)
        return [part for part in parts if part is not None and len(part.used) > 1]

    def part(self, classes: frozenset[int]) -> CombinedPart | None:
        """The combination with the least noise that leaves some classes; None if there is none, or floating point fails."""
        used = self.exact.used_for(dict.fromkeys(sorted(classes), 1))
        if used is not None:
            count = Fraction(sum(value * self.counts[place] for place, value in used.items()))
            return CombinedPart(classes, tuple((place, Fraction(value)) for place, value in used.items()), count, 0.0)
        if not self.noisy:
            return None
        members = sorted(classes)
        weights = self._weights[:, members].sum(axis=1)
        left_over = weights @ self._rows_of_noisy
        left_over[members] -= 1.0
        if np.abs(self._beyond_exact(left_over)).max(initial=0.0) > 1e-6:
            return None
        coefficients = dict(zip(self.noisy, weights.tolist(), strict=True))
        for pivot, row in self.exact.rows.items():
            # The exact cells make up what the noisy ones leave, and that is told by the pivots.
            left = (pivot in classes) - sum(coefficients[place] for place in self.noisy if pivot in self.columns[place])
            for place, value in row.used.items() if abs(left) > NOTHING else ():
                coefficients[place] = coefficients.get(place, 0.0) + left * float(value)
        terms = tuple(
            (place, _simple(round(value, 9))) for place, value in sorted(coefficients.items()) if abs(value) > NOTHING
        )
        count = Fraction(float(self.estimates[members].sum())).limit_denominator(10**6)
        return CombinedPart(classes, terms, count, math.sqrt(float(((weights * self._noise) ** 2).sum())))

    @cached_property
    def estimates(self) -> Floats:
        """A count for each class, so that those of a part add up to its count."""
        found = np.zeros(len(self.classes))
        for pivot, row in self.exact.rows.items():
            found[pivot] = float(sum(value * self.counts[place] for place, value in row.used.items()))
        left = np.array([self.counts[place] for place in self.noisy], dtype=np.float64) - self._rows_of_noisy @ found
        return np.asarray(found + self._weights.T @ left)

    @cached_property
    def _noise(self) -> Floats:
        return np.array([self.deviations[place] for place in self.noisy])

    @cached_property
    def _rows_of_noisy(self) -> Floats:
        matrix = np.zeros((len(self.noisy), len(self.classes)))
        for row, place in enumerate(self.noisy):
            matrix[row, sorted(self.columns[place])] = 1.0
        return matrix

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """The pivots of the exact cells, and all other classes."""
        return list(self.exact.rows), self.others

    @cached_property
    def others(self) -> list[int]:
        """The classes that are no pivots of exact cells."""
        return [column for column in range(len(self.classes)) if column not in self.exact.rows]

    @cached_property
    def _exact_rows(self) -> Floats:
        """The echelon rows of exact cells, without their pivots."""
        place = {column: at for at, column in enumerate(self.others)}
        rows = np.zeros((len(self.exact.rows), len(self.others)))
        for at, (pivot, row) in enumerate(self.exact.rows.items()):
            for column, value in row.entries.items():
                if column != pivot:
                    rows[at, place[column]] = float(value)
        return rows

    def _beyond_exact(self, vectors: Floats) -> Floats:
        """What is left of vectors over the classes after all that exact cells can take away."""
        pivots, others = self._places
        return np.asarray(vectors[..., others] - vectors[..., pivots] @ self._exact_rows)

    @cached_property
    def _noisy_beyond_exact(self) -> Floats:
        return self._beyond_exact(self._rows_of_noisy) / self._noise[:, None]

    def reach_of_noise(self) -> Floats:
        """For each of `others`, how far noisy cells with a noise of 1 together get what exact cells cannot take away."""
        return np.asarray(np.linalg.norm(self._noisy_beyond_exact, axis=0))

    @cached_property
    def _weights(self) -> Floats:
        """The coefficients of noisy cells with the least noise, for each class; those of a part are their sums."""
        pivots, others = self._places
        inverse = np.linalg.pinv(self._noisy_beyond_exact.T, rcond=1e-12)
        weights = np.zeros((len(self.noisy), len(self.classes)))
        weights[:, others] = inverse
        weights[:, pivots] = -inverse @ self._exact_rows.T
        return np.asarray(weights / self._noise[:, None])


@lru_cache(maxsize=4096)
def _simple(value: float) -> Fraction:
    """A coefficient as people write it; tables have the same ones many times."""
    return Fraction(value).limit_denominator(1000)
