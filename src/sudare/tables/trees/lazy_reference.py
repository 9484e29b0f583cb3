"""A public reference for trees that are too large to draw as a whole: judged on the nodes of a level that are visited.

It is believed by the same rule as in `sudare.refine.trees`. Children tell their parents nothing with its help; see
``refine/trees.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sudare.refine.learning.priors import Departures
from sudare.refine.learning.trust import LevelEvidence, departures_if_trusted
from sudare.tables.trees.descent import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["CHILDREN_AT_ONCE", "LevelReference"]

CHILDREN_AT_ONCE = 1 << 20
"""Children by which a reference is judged; of more, evenly taken parents stand for all."""


class LevelReference:
    """What a reference foretells of one level, and whether it is believed there.

    Args:
        tree: the people of the public table, along the same leaves as those of the table.
        bit: how many halvings are left below the level.
        is_laplace: the shape of the noise, else Gaussian.
        above: the same of the level above; None for the first.
    """

    def __init__(self, tree: Tree, bit: int, *, is_laplace: bool, above: LevelReference | None) -> None:
        self.tree, self.bit, self.is_laplace, self.above = tree, bit, is_laplace, above
        self.is_trusted = False

    def learn(self, parents: Keys, counts: Integers, values: Values, variances: Values) -> Departures | None:
        """How far the children of visited nodes depart from what is foretold; None if the reference is not believed.

        Args:
            parents: prefixes.
            counts: of the parents, refined.
            values: estimates of the children, a row for each parent, NaN for those without cells.
            variances: of the estimates.
        """
        every = max(1, values.size // CHILDREN_AT_ONCE)
        some = slice(None, None, every)
        nodes = np.ascontiguousarray(parents[some])
        evidence, _ = self._evidence(nodes, counts[some], values[some], variances[some])
        is_trusted_above = self.above is not None and self.above.is_trusted
        departures = departures_if_trusted(evidence, is_trusted_above=is_trusted_above)
        self.is_trusted = departures is not None
        return departures

    def foretells(self, parents: Keys, fan: int) -> NDArray[np.bool_]:
        """Which nodes have somebody in the reference.

        Args:
            parents: prefixes.
            fan: how many children each has.
        """
        last = parents | np.uint64((fan << self.bit) - 1)
        before = np.searchsorted(self.tree.leaves, parents)
        return np.asarray(np.searchsorted(self.tree.leaves, last, side="right") > before)

    def judge(
        self, departures: Departures, parents: Keys, counts: Integers, values: Values, variances: Values
    ) -> tuple[Values, Values]:
        """Posterior means and variances of children; a variance of -1 for those without cells."""
        evidence, used = self._evidence(parents, counts, values, variances)
        posterior = departures.judge(evidence.values, evidence.variances, evidence.expected)
        absent = np.isnan(values)
        means, spreads = np.where(absent, 0.0, values), np.where(absent, -1.0, variances)
        means.reshape(-1)[used], spreads.reshape(-1)[used] = posterior.values, posterior.variances
        return means, spreads

    def _evidence(
        self, parents: Keys, counts: Integers, values: Values, variances: Values
    ) -> tuple[LevelEvidence, Integers]:
        """What is known of the children of parents that have somebody in the reference, and their places."""
        from sudare.kernels.tables.surroundings import add_people

        foretold = np.zeros(values.shape, dtype=np.int64)
        add_people(self.tree.leaves, self.tree.sums, parents, self.bit, *self.tree.padding, foretold)
        has_cells = ~np.isnan(values)
        foretold[~has_cells] = 0
        whole, siblings = foretold.sum(axis=1), has_cells.sum(axis=1)
        places = np.flatnonzero(has_cells & (whole > 0)[:, None])
        rows = places // values.shape[1]
        above = counts[rows].astype(np.float64)
        expected = above * (foretold.reshape(-1)[places] / whole[rows])
        given = values.reshape(-1)[places], variances.reshape(-1)[places]
        return LevelEvidence(*given, above, expected, above / siblings[rows], self.is_laplace), places
