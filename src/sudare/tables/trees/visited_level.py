"""One level of a tree of which only some nodes are visited: their children are measured, judged and refined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import Sampler
from sudare.privacy.measurements import GaussianMeasurement, Measurement
from sudare.refine.learning.occupancy import ABOVE_EDGES, AROUND_EDGES, MIN_NODES
from sudare.refine.learning.priors import LearnedCounts, bins_of, learn_counts
from sudare.tables.trees.dense_tree import variance_of
from sudare.tables.trees.descent import Notes, Tree, Workspace
from sudare.tables.trees.lazy_reference import LevelReference
from sudare.tables.trees.surroundings import Surroundings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Classes = NDArray[np.uint16]
    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Values = NDArray[np.float64]

__all__ = ["VisitedLevel", "as_values"]

PARENTS_AT_ONCE = 1 << 12
"""Parents whose children are judged and projected in one call: as much as stays in the cache."""

FEW_PEOPLE = 6
"""Places that are unlikely to be occupied take part only as long as this leaves this many people for each: noise that hides
everything would else spread the people of a diffuse table over cells of one each."""

FAINT_NODES, FAINT_CELLS = 1.0, 0.5
"""How much of a place counts as occupied whose people are too few to be told from none; of a cell less in proportion, if they are
fewer than FEW_PEOPLE. A node that is held empty is lost with all below it, and one too many is found out further down; a cell too
many stays."""


def as_values(noisy: Integers) -> Values:
    """Noisy counts as estimates: NaN for children without cells."""
    from sudare.kernels.tables.surroundings import as_reals

    values = np.empty(noisy.shape)
    as_reals(noisy, values)
    return values


class VisitedLevel:
    """How the children of visited nodes are measured, judged and refined.

    Args:
        tree: the people.
        measurement: of this level.
        above: how many halvings lead to the parents.
        step: how many halvings make up this level.
        ordered: the axes along which neighbours tell about a node; empty where nothing is learned.
        notes: where the noisy counts are written down.
        name: what the notes call this level.
        reference: what a public table foretells of this level.
    """

    def __init__(
        self,
        tree: Tree,
        measurement: Measurement,
        above: int,
        step: int,
        ordered: Sequence[int],
        notes: Notes,
        name: str,
        reference: LevelReference | None = None,
    ) -> None:
        self.tree, self.notes, self.name, self.reference = tree, notes, name, reference
        self.noise: Sampler = noise_for(measurement)
        self.variance, self.is_laplace = variance_of(measurement), not isinstance(measurement, GaussianMeasurement)
        self.step, self.bit = step, tree.layout.depth - above - step
        self.fan = 1 << step
        self.around = Surroundings(tree.layout, above, step, tuple(ordered)) if ordered else None

    def measure(self, parents: Keys, source: EntropySource, space: Workspace | None = None) -> Integers:
        """The noisy counts of the children of some nodes, a row for each; ABSENT for children without cells.

        Args:
            parents: prefixes, ascending.
            source: of the noise.
            space: where they are written, over what was measured before; in memory of their own by default.
        """
        from sudare.kernels.tables.splits import ABSENT
        from sudare.kernels.tables.surroundings import add_people

        children = parents.size << self.step
        room = np.empty(children, dtype=np.int64) if space is None else space.array("noisy", children)
        noisy = room.reshape(parents.size, self.fan)
        self.noise.fill(room, source)
        add_people(self.tree.leaves, self.tree.sums, parents, self.bit, *self.tree.padding, noisy)
        if self.notes.wanted:
            has_cells = np.flatnonzero(noisy != ABSENT)
            self.notes.take(self.name, self.children_at(parents, has_cells), noisy.reshape(-1)[has_cells])
        return noisy

    def children_at(self, parents: Keys, places: Integers) -> Keys:
        """The prefixes of children, given by their places in the rows of their parents."""
        from sudare.kernels.tables.surroundings import children_at

        children = np.empty(places.size, dtype=np.uint64)
        children_at(parents, places, self.step, self.bit, children)
        return children

    def learns_from(self, children: int, variance: float) -> bool:
        """Whether this many children, with noise of a variance, tell anything about each other."""
        return self.around is not None and children >= MIN_NODES and variance >= 1

    def refine(
        self,
        parents: Keys,
        counts: Integers,
        values: Values,
        ahead: tuple[Integers, Values] | None,
        source: EntropySource,
    ) -> tuple[Integers, Integers]:
        """Whole numbers >= 0 for the children that add up to their parents' counts.

        Args:
            parents: prefixes, ascending.
            counts: of the parents.
            values: estimates of the children, NaN for those without cells.
            ahead: places of children that were looked at further down, and the variances of their estimates.
            source: of the words that decide between equals.

        Returns:
            Places of children that are not empty, and their counts.
        """
        from sudare.kernels.tables.judging import judge_children, list_places
        from sudare.kernels.tables.priors import project_children

        typical = self.variance
        if ahead is not None and 2 * ahead[0].size > values.size:
            typical = float(np.median(ahead[1]))
        departures = None
        learns = self.learns_from(values.size, typical)
        if self.reference is not None or not learns:
            variances = np.full(values.shape, self.variance)
            if ahead is not None:
                variances.reshape(-1)[ahead[0]] = ahead[1]
        is_foretold = np.zeros(parents.size, dtype=bool)
        if self.reference is not None:
            departures = self.reference.learn(parents, counts, values, variances)
            if departures is not None:
                is_foretold = self.reference.foretells(parents, self.fan)
        if learns and not is_foretold.all():
            classes, learned = self._learn(parents, counts, values, typical)
            tables = learned.taught, learned.means, learned.variances, learned.occupied, learned.bin_width
        # Room for all children; what is not written to is never taken from the system.
        places, refined = np.empty(values.size, dtype=np.int64), np.empty(values.size, dtype=np.int64)
        written = 0
        for first in range(0, parents.size, PARENTS_AT_ONCE):
            part = slice(first, first + PARENTS_AT_ONCE)
            words = source.words(2 * counts[part].size)
            told = is_foretold[part]
            if learns and not told.all():
                means, spreads = np.empty(values[part].shape), np.empty(values[part].shape)
                some, above, kinds, chance = values[part], counts[part], classes[part], words[::2].copy()
                judge_children(some, above, typical, kinds, *tables, FEW_PEOPLE, chance, means, spreads)
            else:
                absent = np.isnan(values[part])
                means, spreads = np.where(absent, 0.0, values[part]), np.where(absent, -1.0, variances[part])
            if self.reference is not None and departures is not None and told.any():
                given = parents[part][told], counts[part][told], values[part][told], variances[part][told]
                means[told], spreads[told] = self.reference.judge(departures, *given)
            people = np.empty(means.shape, dtype=np.int64)
            project_children(means, spreads, counts[part], words[1::2].copy(), people)
            written += list_places(people, first, places[written:], refined[written:])
        return places[:written], refined[:written]

    def _learn(self, parents: Keys, counts: Integers, values: Values, variance: float) -> tuple[Classes, LearnedCounts]:
        """The class of each child, and what is learned of the counts of each class."""
        if self.around is None:
            raise AssertionError("nothing is learned without neighbours")
        bin_width, half = bins_of(variance)
        edges = self.around.edges
        kinds = (int(edges.max()) + 1) * (len(AROUND_EDGES) + 1) * (len(ABOVE_EDGES) + 1)
        occurrences = np.zeros((kinds, 2 * half + 1))
        classes = np.empty(values.shape, dtype=np.uint16)
        for first in range(0, parents.size, PARENTS_AT_ONCE):
            part = slice(first, min(first + PARENTS_AT_ONCE, parents.size))
            expected = self.around.expect(parents, values, part.start, part.stop)
            _sort(values[part], expected, counts[part], edges, variance, AROUND_EDGES, classes[part], occurrences)
        faint = FAINT_NODES if self.bit else FAINT_CELLS * min(1.0, bin_width / FEW_PEOPLE)
        return classes, learn_counts(occurrences, variance, is_laplace=self.is_laplace, faint=faint)

    def learn_by_parents(self, counts: Integers, values: Values) -> LearnedCounts | None:
        """What is learned of children by their parents' counts alone; None where nothing is."""
        if not self.learns_from(values.size, self.variance):
            return None
        _, half = bins_of(self.variance)
        occurrences = np.zeros((len(ABOVE_EDGES) + 1, 2 * half + 1))
        classes = np.empty(values.shape, dtype=np.uint16)
        edges = np.zeros(self.fan, dtype=np.int64)
        _sort(values, np.zeros(values.shape), counts, edges, self.variance, (), classes, occurrences)
        return learn_counts(occurrences, self.variance, is_laplace=self.is_laplace)


def _sort(
    values: Values,
    expected: Values,
    counts: Integers,
    edges: Integers,
    variance: float,
    around_edges: Sequence[float],
    classes: Classes,
    occurrences: Values,
) -> None:
    from sudare.kernels.tables.judging import count_in_bins, sort_into_classes

    limits = np.array(around_edges, dtype=np.float64), np.array(ABOVE_EDGES)
    sort_into_classes(expected, counts, edges, float(np.sqrt(variance)), *limits, classes)
    count_in_bins(values, classes, bins_of(variance)[0], occurrences)
