"""Noisy counts of all nodes of a tree, combined into one table that adds up.

- `least_squares`: every node's own measurement and the sum of its children's estimates, weighted by their variances.
- `use_reference`: the same where a public table foretells how a node's count is divided among its children.
- `refine_from_top`: whole numbers >= 0 that add up at every node.

Nodes are in the order of the tree's leaves, so that the children of a node are neighbours in the array of the next level.
Time and memory are in proportion to the number of leaves. Proof: ``trees.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sudare.refine.learning.trust import MIN_EVIDENCE, MIN_NODES, LevelEvidence, departures_if_trusted

Number = TypeVar("Number", bound=np.generic)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Cells = NDArray[np.int32]

__all__ = [
    "Estimates",
    "Judge",
    "JudgeOfLevel",
    "LevelJudgement",
    "NoisyTree",
    "OpenLevel",
    "Words",
    "least_squares",
    "refine_from_top",
    "use_reference",
]

MAX_VARIANCE = 1e12

MIN_VARIANCE = 1e-9
"""The smallest variance that a projection can divide by."""

CHILDREN_AT_ONCE = 1 << 16
"""Children that are judged and projected in one call: as many as stay in the cache."""

WORTHWHILE = 0.1
"""What a reference must add to the logarithm of each count's likelihood, on average, for children to tell of their parents."""


Words = Callable[[int], "NDArray[np.uint64]"]
"""Gives this many random words. They decide between equals alone, so that no place is preferred to another."""


@dataclass(frozen=True)
class NoisyTree:
    """Measured counts of the nodes of a complete tree.

    Attributes:
        bits: a node of level i has 2**bits[i] children.
        measured: the noisy counts of each level, from the root; None for a level that was not measured.
        variances: the variance of the noise of each level, or of each of its nodes.
        cells: how many cells each node of each level has; 0 for padding.
        is_laplace: the shape of the noise, else Gaussian.
        total: the root's count, where it is public.
    """

    bits: tuple[int, ...]
    measured: tuple[Values | None, ...]
    variances: tuple[float | Values, ...]
    cells: tuple[Cells, ...]
    is_laplace: bool
    total: int | None = None


@dataclass(frozen=True)
class Estimates:
    """An estimate of every node's count, with its variance; both 0 for nodes without cells."""

    values: tuple[Values, ...]
    variances: tuple[Values, ...]


@dataclass(frozen=True)
class LevelJudgement:
    """What is known of the children of some parents, a row for each parent.

    Attributes:
        values: estimates.
        variances: of them; negative for a child that takes no part in the division of its parent's count.
    """

    values: Values
    variances: Values


@dataclass(frozen=True)
class OpenLevel:
    """A level whose parents are refined, and which is to be refined next. Only children of inhabited parents are looked at.

    Attributes:
        number: of the level; the root is level 0.
        fan: how many children a parent has.
        values: estimates of all nodes of the level.
        variances: of them.
        cells: how many cells each node has.
        parents: refined counts of all parents.
    """

    number: int
    fan: int
    values: Values
    variances: Values
    cells: Cells
    parents: Counts

    @cached_property
    def inhabited(self) -> Counts:
        """The numbers of the parents that have somebody."""
        return np.flatnonzero(self.parents > 0)

    def parts(self) -> Iterator[slice]:
        """The inhabited parents, as many at once as stay in the cache."""
        at_once = max(1, CHILDREN_AT_ONCE // self.fan)
        return (slice(first, first + at_once) for first in range(0, self.inhabited.size, at_once))

    def rows(self, of_nodes: NDArray[Number], part: slice) -> NDArray[Number]:
        """What belongs to the children of some inhabited parents, a row for each parent."""
        return of_nodes.reshape(-1, self.fan)[self.inhabited[part]]

    def values_of(self, part: slice) -> Values:
        """Estimates of the children of some inhabited parents: NaN for those without cells."""
        values = self.rows(self.values, part)
        values[self.rows(self.cells, part) == 0] = np.nan
        return values

    def judge_as_estimated(self, part: slice) -> LevelJudgement:
        """What the estimates alone tell."""
        variances = np.maximum(self.rows(self.variances, part), MIN_VARIANCE)
        variances[self.rows(self.cells, part) == 0] = -1.0
        return LevelJudgement(self.rows(self.values, part), variances)


JudgeOfLevel = Callable[[slice, Words], LevelJudgement]
"""Takes some of the inhabited parents of a level, and tells of their children."""

Judge = Callable[[OpenLevel], JudgeOfLevel | None]
"""Takes a level; None if it knows no better than the estimates."""


def least_squares(tree: NoisyTree) -> Estimates:
    """The best linear estimate of each node from all measurements at and below it.

    The estimates from above follow in `refine_from_top`, where each child's estimate meets its parent's count.
    """
    values, variances = _leaves(tree)
    for level in range(len(tree.bits) - 1, -1, -1):
        fan = 1 << tree.bits[level]
        below, spread = _sums(values[0], fan), _sums(variances[0], fan)
        value, variance = _with_own(tree, level, below, spread)
        values.insert(0, value)
        variances.insert(0, variance)
    return Estimates(tuple(values), tuple(variances))


def use_reference(
    tree: NoisyTree, reference: tuple[Counts, ...], elsewhere: Judge | None = None
) -> tuple[Estimates, Judge]:
    """Estimates as by `least_squares`, and a judge for `refine_from_top`, that make use of a public table.

    At each level it is first asked whether the reference explains the noisy counts better than what is known without it. Where
    it does not, the level is treated as if there were no reference. It is asked twice. From the leaves upwards, parents are
    known from noisy counts alone: children tell of them with the help of a reference that is much better for every place.
    From the top, parents are refined already, and whatever all places of the level together tell decides. Of parents that have
    nobody in it, a reference tells nothing.

    Args:
        tree: the measurements.
        reference: the reference's count of each node, level by level.
        elsewhere: judges the children of parents that have nobody in the reference; by their estimates if left out.
    """
    plain = least_squares(tree)
    values, variances = list(plain.values), list(plain.variances)
    believed: set[int] = set()
    for level in range(len(tree.bits), 0, -1):
        fan = 1 << tree.bits[level - 1]
        told = _told_by_reference(tree, reference, level, plain.values[level - 1], values[level], variances[level])
        if told is None:
            told = _sums(values[level], fan), _sums(variances[level], fan)
        values[level - 1], variances[level - 1] = _with_own(tree, level - 1, *told)

    def judge(level: OpenLevel) -> JudgeOfLevel | None:
        is_trusted_above = level.number - 1 in believed
        judged = _judge_by_reference(
            level, reference, elsewhere, is_trusted_above=is_trusted_above, is_laplace=tree.is_laplace
        )
        (believed.discard if judged is None else believed.add)(level.number)
        return judged

    return Estimates(tuple(values), tuple(variances)), judge


def _judge_by_reference(
    level: OpenLevel,
    reference: tuple[Counts, ...],
    elsewhere: Judge | None,
    *,
    is_trusted_above: bool,
    is_laplace: bool,
) -> JudgeOfLevel | None:
    """What is known of children from how far the level departs from the reference; None where it is not believed."""

    def given(part: slice) -> tuple[NDArray[np.bool_], LevelEvidence]:
        """Which children the reference knows, and what is known of these."""
        numbers, cells = level.inhabited[part], level.rows(level.cells, part)
        above = reference[level.number - 1][numbers]
        known = (above > 0)[:, None] & (cells > 0)
        parents = np.broadcast_to(level.parents[numbers][:, None].astype(np.float64), known.shape)
        expected = parents * level.rows(reference[level.number], part) / np.maximum(above, 1)[:, None]
        evenly = parents * cells / np.maximum(cells.sum(axis=1), 1)[:, None]
        values, variances = level.rows(level.values, part)[known], level.rows(level.variances, part)[known]
        return known, LevelEvidence(values, variances, parents[known], expected[known], evenly[known], is_laplace)

    found = [given(part)[1] for part in level.parts()]
    departures = (
        departures_if_trusted(LevelEvidence.joined(found), is_trusted_above=is_trusted_above) if found else None
    )
    if departures is None:
        return None
    found.clear()
    learned = departures
    is_foretold = reference[level.number - 1][level.inhabited] > 0
    of_others = None if elsewhere is None or is_foretold.all() else elsewhere(level)

    def judge(part: slice, words: Words) -> LevelJudgement:
        judgement = level.judge_as_estimated(part)
        others = ~is_foretold[part]
        if of_others is not None and others.any():
            told = of_others(part, words)
            judgement.values[others], judgement.variances[others] = told.values[others], told.variances[others]
        known, evidence = given(part)
        posterior = learned.judge(evidence.values, evidence.variances, evidence.expected)
        judgement.values[known] = posterior.values
        judgement.variances[known] = np.maximum(posterior.variances, MIN_VARIANCE)
        return judgement

    return judge


def _told_by_reference(
    tree: NoisyTree, reference: tuple[Counts, ...], level: int, above: Values, values: Values, variances: Values
) -> tuple[Values, Values] | None:
    """What the nodes of a level tell of their parents with the help of the reference; None where it does not help."""
    fan = 1 << tree.bits[level - 1]
    parents = np.repeat(np.maximum(above, 0), fan)
    shares, known = _shares(reference, level, fan)
    used = np.flatnonzero(known & (tree.cells[level] > 0) & (parents > 0))
    if used.size < MIN_NODES:
        return None
    given, expected = (values[used], variances[used]), (parents * shares)[used]
    evenly = (parents * tree.cells[level] / np.maximum(np.repeat(tree.cells[level - 1], fan), 1))[used]
    evidence = LevelEvidence(*given, parents[used], expected, evenly, tree.is_laplace)
    with_it = evidence.departures_from(expected)
    if not all(gain > MIN_EVIDENCE + WORTHWHILE * used.size for gain in evidence.gains(with_it)):
        return None
    spreads = np.full(values.size, MAX_VARIANCE)
    spreads[used] = np.minimum(with_it.judge(*given, expected).spreads, MAX_VARIANCE)
    return _told_by_children(tree, level, values, variances, shares, spreads, fan)


def refine_from_top(tree: NoisyTree, estimates: Estimates, words: Words, judge: Judge | None = None) -> Counts:
    """Whole counts >= 0 of the leaves; at every node, the children add up to it.

    Args:
        tree: what was measured.
        estimates: of every node.
        words: gives random words.
        judge: what else is known of the children of a level once their parents are refined.
    """
    from sudare.kernels.tables.priors import project_children

    root = round(max(float(estimates.values[0][0]), 0.0)) if tree.total is None else tree.total
    counts = np.array([min(root, 1 << 62)], dtype=np.int64)
    for number, bits in enumerate(tree.bits, start=1):
        value, variance = estimates.values[number], estimates.variances[number]
        level = OpenLevel(number, 1 << bits, value, variance, tree.cells[number], counts)
        judge_children = None if judge is None else judge(level)
        children = np.zeros((counts.size, level.fan), dtype=np.int64)
        for part in level.parts():
            known = level.judge_as_estimated(part) if judge_children is None else judge_children(part, words)
            parents = level.inhabited[part]
            refined = np.empty(known.values.shape, dtype=np.int64)
            project_children(known.values, known.variances, counts[parents], words(parents.size), refined)
            children[parents] = refined
        counts = children.reshape(-1)
    return counts


def _leaves(tree: NoisyTree) -> tuple[list[Values], list[Values]]:
    is_cell = tree.cells[-1] > 0
    measured = tree.measured[-1]
    if measured is None:
        raise AssertionError("the leaves of a tree are always measured")
    if is_cell.all():
        return [measured], [np.broadcast_to(tree.variances[-1], measured.shape)]
    return [np.where(is_cell, measured, 0.0)], [np.where(is_cell, tree.variances[-1], 0.0)]


def _sums(values: Values, fan: int) -> Values:
    return np.asarray(values.reshape(-1, fan).sum(axis=1))


def _with_own(tree: NoisyTree, level: int, below: Values, spread: Values) -> tuple[Values, Values]:
    """What the children tell of their parents, combined with the parents' own measurement."""
    own = tree.measured[level]
    if own is None:
        return below, spread
    weight = spread / np.maximum(spread + tree.variances[level], 1e-30)
    value = weight * own + (1 - weight) * below
    return np.where(tree.cells[level] > 0, value, 0.0), weight * tree.variances[level]


def _shares(reference: tuple[Counts, ...], level: int, fan: int) -> tuple[Values, NDArray[np.bool_]]:
    """Each node's share of its parent in the reference, and whether the parent has anybody there."""
    parents = np.repeat(reference[level - 1], fan)
    return reference[level] / np.maximum(parents, 1), parents > 0


def _told_by_children(
    tree: NoisyTree, level: int, values: Values, variances: Values, shares: Values, spreads: Values, fan: int
) -> tuple[Values, Values]:
    """The parents' counts as the children tell them, given shares and how far children depart from them.

    Children are x = s * share + e, where the departures e have given variances and add up to 0. The estimate of s by
    generalised least squares is written out with the inverse of (diagonal minus rank one); see ``trees.md``. Where a
    plain sum is more certain, it is taken. How certain these estimates are is checked against the parents' own measurements.
    """
    is_cell = tree.cells[level] > 0
    spreads = np.where(is_cell, spreads, 0.0)
    whole = np.where(is_cell, variances + spreads, np.inf)
    direct = _sums(shares**2 / whole, fan)
    through_sum = _sums(shares * spreads / whole, fan)
    slack = np.maximum(_sums(spreads * variances / whole, fan), 1e-30)
    information = np.maximum(direct + through_sum**2 / slack, 1e-30)
    told = (
        _sums(shares * values / whole, fan) + through_sum * _sums(spreads * values / whole, fan) / slack
    ) / information
    variance = 1 / information
    plain, plain_variance = _sums(values, fan), _sums(variances, fan)

    own = tree.measured[level - 1]
    usable = _sums(shares, fan) > 0.5
    if own is None or usable.sum() < MIN_NODES:
        return plain, plain_variance
    misses = float(((own - told)[usable] ** 2).mean()) * (1 + usable.sum() ** -0.5)
    misses -= float(np.broadcast_to(tree.variances[level - 1], own.shape)[usable].mean())
    variance = variance * max(1.0, misses / float(variance[usable].mean()))
    better = usable & (variance < plain_variance)
    return np.where(better, told, plain), np.where(better, variance, plain_variance)
