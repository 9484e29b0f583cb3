"""NN-Wavelet: the Haar wavelet with refinement from the top, in whole numbers.

Proof: ``nn_wavelet.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import log1p
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.exact import WORD_BITS, Bounds, LatticeLaw, bounded_exp
from sudare.noise.lattice import geometric
from sudare.noise.sampler import Sampler
from sudare.noise.skipping import approximate_tail, tail_probability
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.arguments import MechanismRequest, Noise, read_layout, read_noise, read_request, turn_ends
from sudare.tables.mechanism import Mechanism, SettingWords
from sudare.tables.mechanisms.pruning import read_pruning, refined_by_pruning
from sudare.tables.published import Published
from sudare.tables.trees.descent import (
    Cells,
    Nodes,
    Notes,
    Tree,
    Workspace,
    descend,
    measure_levels,
    place_alone,
    sampler_between,
    start,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Keys = NDArray[np.uint64]

__all__ = ["NN_WAVELET", "nn_wavelet"]

FIRST_AT_ONCE, MAX_AT_ONCE = 1 << 12, 1 << 16
"""Nodes whose noise is held at the same time, in each thread: at least, and at most."""

MAX_DRIFTING = MAX_AT_ONCE // 4
MAX_NODES_OUT = 2 * (MAX_AT_ONCE + MAX_DRIFTING) + 1
LEVELS_AT_ONCE = 4
"""Levels that are done in one call near the root, where there are few nodes."""

MAX_LIMIT = 64
DRIFT_SHARE = 0.15
"""Drifting pays where noise small enough to split a node is as rare as this."""


def nn_wavelet(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    unit: Unit | None = None,
    layout: Layout | str | None = None,
    pruning: Literal["lazy", "vertical", "horizontal", "none"] = "lazy",
    public_total: bool | int = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by halving it down to its cells, each time by a noisy difference.

    The total and the difference of the two halves of every node get discrete noise, with the same share of the budget
    for the total and for each level. From the top, a difference is kept within the node's refined count, so that
    every count is a whole number >= 0 and every node is the sum of its halves. Below a node with count 0 nothing is
    visited and no noise is drawn.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit changes the total and one difference of each level, by as much as it is counted.

    Proof: ``nn_wavelet.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all; each of the depth + 1 levels gets an equal share.
        unit: who is protected; one person in one cell if left out.
        layout: in which order the cells are halved, or its name, such as ``"hilbert"``; the axes in turn (Morton) if left
            out. By name or left out, the ends of axes whose length is no power of two are turned (`sudare.domain.turning`).
        pruning: ``"lazy"`` draws noise only where somebody is left. The three orders of the papers draw all noise first,
            for tables up to 2**26 cells, and give the same table for the same noise (`sudare.tables.mechanisms.pruning`).
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another with as many rows: how many it has is not protected.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads to use. The result of a research source does not depend on it.
        keep_measurements: whether the noisy measurements are part of the result.

    Returns:
        The refined table, with the event and, on request, the measurements.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Xiao, Wang, Gehrke: Differential privacy via wavelet transforms (2011); Terada et al. (2015) for the refinement.

    Example:
        >>> import numpy as np, sudare
        >>> counts = np.zeros((64, 64), dtype=np.int64); counts[20:30, 20:30] = 50
        >>> published, event = sudare.tables.nn_wavelet(counts, sudare.Budget(epsilon=1))
        >>> bool((published.counts > 0).all()), len(event.measurements)
        (True, 13)
    """
    request = read_request(
        "nn_wavelet",
        table,
        budget,
        unit=unit,
        public_total=public_total,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    kind, shape = read_noise(noise, "nn_wavelet"), read_layout(layout, request.table, "nn_wavelet")
    is_lazy = isinstance(pruning, str) and pruning == "lazy"
    order = None if is_lazy else read_pruning(pruning, "nn_wavelet")
    of_total = [] if request.total_is_public else [sensitivity_of_counts(request.unit, merged=True)]
    of_differences = [sensitivity_of_counts(request.unit, merged=True, signed=True)] * shape.depth
    sensitivities = of_total + of_differences
    levels = measure_levels(budget, [1] * len(sensitivities), sensitivities, kind, conversion)
    event = request.state("nn-wavelet", levels, conversion)

    halvings = levels[len(of_total) :]
    names = [f"halves of areas of 2**{height} cells" for height in range(shape.depth, 0, -1)]
    start_from = levels[0] if of_total else None
    shape = turn_ends(shape, layout, request)
    notes = Notes(shape, ["total"][: len(of_total)] + names, levels, wanted=request.keeps_measurements)
    if order is not None:
        refined = refined_by_pruning(request, shape, halvings, start_from, order, notes, names)
        return Published(refined, event, measurements=notes.read())
    refined = _refined_lazily(request, shape, halvings, start_from, notes, names)
    return Published(refined, event, measurements=notes.read())


def _refined_lazily(
    request: MechanismRequest,
    layout: Layout,
    halvings: Sequence[Measurement],
    total: Measurement | None,
    notes: Notes,
    names: Sequence[str],
) -> CountTable:
    tree = Tree.over(request.table, layout, request.threads)
    # Every level has the same share of the budget and the same sensitivity, and so the same noise.
    measured = halvings[0] if halvings else None
    noise = None if measured is None else noise_for(measured)
    drift = None if measured is None or notes.wanted else drift_for(measured)
    space = Workspace.ready(
        request, MAX_NODES_OUT, ["out prefixes"], ["out starts", "out ends", "out refined", "noise"]
    )
    descent = _Halving(tree, noise, drift, notes, names, space)
    levels = [partial(descent.some_levels, top) for top in range(layout.depth, 0, -LEVELS_AT_ONCE)]
    root = start(tree, total, request.source, notes)
    return descend(request.table, tree, root, levels, descent.finish, request.source, request.threads)


@dataclass(frozen=True)
class _Halving:
    """The descent from given nodes, some levels or all the way."""

    tree: Tree
    noise: Sampler | None
    drift: Drift | None
    notes: Notes
    names: Sequence[str]
    space: Workspace

    def some_levels(self, top: int, nodes: Nodes, source: EntropySource) -> Nodes:
        """The nodes a few levels below nodes of one height."""
        bottom = max(top - LEVELS_AT_ONCE, 0)
        most = len(nodes) * ((1 << top - bottom) - 1)
        return Nodes.joined([below.copy() for below, _ in self._halve(nodes, top, bottom, most, source)])

    def finish(self, nodes: Nodes, done: int, source: EntropySource) -> Cells:
        """The leaves below nodes."""
        cells: Cells = []
        apart = []
        height = self.tree.layout.depth - done * LEVELS_AT_ONCE
        for leaves, alone in self._halve(nodes, height, 0, MAX_AT_ONCE, source, whole=True):
            cells.append((leaves.prefixes.copy(), leaves.refined.copy()))
            apart.append(tuple(array.copy() for array in alone))
        if apart:
            prefixes, heights = (np.concatenate(arrays) for arrays in zip(*apart, strict=True))
            steps = np.ones(height + 1, dtype=np.int64)
            cells.append(place_alone(self.tree, prefixes, heights, steps, source))
        return cells

    def _halve(
        self, nodes: Nodes, top: int, bottom: int, most: int, source: EntropySource, *, whole: bool = False
    ) -> Iterator[tuple[Nodes, tuple[Keys, Integers]]]:
        """The nodes at the bottom and, of a whole descent, those alone, in pieces that are overwritten by the next ones."""
        from sudare.kernels.tables.trees import ALONE, DRIFTED, NEXT, STACKED, USED, WRITTEN, halve

        wanted, drift = self.notes.wanted, self.drift if whole else None
        noise, coins = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
        drifting = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64))
        # How much noise a descent takes is not known beforehand: somewhat more than there are cells with people.
        first = min(max(int((nodes.ends - nodes.starts).sum()), FIRST_AT_ONCE), most) if whole else most
        then = FIRST_AT_ONCE
        out = self.space.nodes("out", MAX_NODES_OUT if whole else 2 * most + 1)
        seen = self.space.nodes("seen", most if wanted else 0)
        most_alone = len(nodes) + len(out) + top + 1 if whole else 0
        alone = self.space.array("alone", most_alone, np.uint64), self.space.array("heights", most_alone)
        state = np.zeros(6, dtype=np.int64)
        stack = np.empty(top + 1, dtype=np.uint64), np.empty((top + 1, 4), dtype=np.int64)
        while state[NEXT] < len(nodes) or state[STACKED]:
            if state[USED] == noise.size:
                noise = self.space.array("noise", first)
                cast("Sampler", self.noise).fill(noise, source)
                coins, state[USED] = source.words(-(-noise.size // 64)), 0
                first, then = min(then, most), 2 * then
            if drift is not None and state[DRIFTED] == drifting[0].size:
                drifting = drift.draw(min(max(noise.size // 16, 2 * drifting[0].size), MAX_DRIFTING), source)
                state[DRIFTED] = 0
            halve(
                *(self.tree.leaves, self.tree.sums, *nodes.arrays, top, bottom, noise, coins),
                *(0 if drift is None else drift.limit, *drifting, whole and not wanted, wanted, *self.tree.padding),
                *(state, *stack, *out.arrays, *alone, seen.prefixes, seen.starts),
            )
            if wanted:
                self._write_down(seen.prefixes[: state[USED]], seen.starts[: state[USED]], noise[: state[USED]])
            apart = int(state[ALONE])
            yield out.between(0, int(state[WRITTEN])), (alone[0][:apart], alone[1][:apart])

    def _write_down(self, prefixes: Keys, heights: Integers, values: Integers) -> None:
        for height in np.unique(heights).tolist():
            level = heights == height
            self.notes.take(self.names[-height], prefixes[level], values[level])


@dataclass(frozen=True)
class Drift:
    """How far nodes without people and with few published ones go down as a whole.

    Noise X of size ``limit`` or more sends a node with at most this many to one side as a whole, and to either with the same
    probability. So one draws after how many levels there is smaller noise, and then that noise.

    Attributes:
        limit: the size of noise that does not split.
        scale: of the geometric law of the levels.
        levels: how many levels come before one at which there may be smaller noise; at them there is none.
        smaller: the noise at that level; the limit itself stands for noise that is not smaller.
    """

    limit: int
    scale: Fraction
    levels: Sampler
    smaller: Sampler

    def draw(self, count: int, source: EntropySource) -> tuple[Integers, Integers, Keys]:
        """For this many drifting nodes: how many levels they go, the noise there, and a word for the sides they take."""
        return self.levels.draw(count, source), self.smaller.draw(count, source), source.words(count)


@lru_cache(maxsize=16)
def drift_for(measurement: Measurement) -> Drift | None:
    """How nodes drift under the noise of a measurement; None where too much of it is small, and for Gaussian noise."""
    if not isinstance(measurement, LaplaceMeasurement):
        return None
    law = LatticeLaw(1 / measurement.scale, Fraction(0), two_sided=True)
    limit = MAX_LIMIT
    while limit > 1 and (share := 1 - 2 * approximate_tail(law, limit)) > DRIFT_SHARE:
        limit -= 1
    if limit < 2:
        return None
    # Slightly shorter ways than needed: what is too short is made up for at their ends.
    scale = Fraction(round(-1 / log1p(-share) * 2**20 * (1 - 2**-16)), 2**20)
    smaller = partial(_smaller_noise, law, limit, scale)
    if smaller(WORD_BITS)[-1].high > 1 << WORD_BITS:  # longer ways than needed cannot be made up for
        return None
    return Drift(limit, scale, geometric(scale), sampler_between(smaller, 1 - limit, "smaller noise"))


def _smaller_noise(law: LatticeLaw, limit: int, scale: Fraction, bits: int) -> list[Bounds]:
    """Bounds of 2**bits * P(-limit < X <= x) / P(G = 0) for all |x| < limit, with G geometric of the scale."""
    work = bits + 16 + int(scale).bit_length()
    one = 1 << work
    tails = [Bounds(one, one)] + [tail_probability(law, size, work) for size in range(1, limit + 1)]
    fail = bounded_exp(1 / scale, work)
    points = []
    for x in range(1 - limit, limit):
        # P(X <= x) is a tail on the left of 0, and what is missing from 1 from there on.
        low, high = tails[-x] if x < 0 else (one - tails[x + 1].high, one - tails[x + 1].low)
        low, high = max(low - tails[limit].high, 0), high - tails[limit].low
        least, most = (low << bits) // (one - fail.low), -(-(high << bits) // (one - fail.high))
        points.append(Bounds(least, most))
    return points


NN_WAVELET = Mechanism(
    name="nn-wavelet",
    function=nn_wavelet,
    words=Words("non-negative wavelet", "非負ウェーブレット（NN-Wavelet）"),
    setting_words={
        "pruning": SettingWords(
            name=Words("Pruning", "枝刈り"),
            values={
                "lazy": Words("noise only where somebody is left", "人が残る部分だけノイズを生成"),
                "vertical": Words("vertical (depth first)", "垂直（深さ優先）"),
                "horizontal": Words("horizontal (level by level)", "水平（階層ごと）"),
                "none": Words("none", "なし"),
            },
        ),
    },
)
