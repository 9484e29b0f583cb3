"""NN-Wavelet with all of its noise drawn beforehand, and three orders in which to refine it.

`nn_wavelet` draws noise only where somebody is left, level by level. Here everything is drawn first, so that the
refinement alone can be looked at and timed, as in the experiments of Hongo et al. (2020). The three orders visit other
nodes and give the same table.

Proof: ``pruning.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.layout import Layout, nodes_with_cells
from sudare.domain.table import MAX_TOTAL, CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.bernoulli import fair_coins
from sudare.noise.entropy import EntropySource
from sudare.parameters import shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.refine.signed import ALL_TO_THE_LEFT
from sudare.tables.arguments import MechanismRequest, Noise, read_layout, read_noise, read_request
from sudare.tables.trees.descent import Notes, measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["PreparedTree", "Pruning", "read_pruning", "refined_by_pruning"]

Pruning = Literal["vertical", "horizontal", "none"]
ORDERS = ("vertical", "horizontal", "none")

MAX_BITS = 26
"""Depth of the largest tree that is prepared as a whole."""


@dataclass(frozen=True, eq=False)
class PreparedTree:
    """A noisy total and noisy differences for a whole tree, ready to be refined.

    Attributes:
        layout: how the cells lie along the leaves.
        total: the noisy total, cut off at 0.
        tilts: for every node, numbered as in a heap from the root at 1, the noisy count of its left half minus that of
            its right half, plus a fair coin for the parity; place 0 is not used.
        event: what preparing it cost.
    """

    layout: Layout
    total: int
    tilts: Integers
    event: ReleaseEvent

    @classmethod
    def draw(
        cls,
        table: CountTable | NDArray[Any],
        budget: Budget,
        *,
        unit: Unit | None = None,
        layout: Layout | str | None = None,
        noise: Noise = "laplace",
        conversion: Conversion = "optimal",
        entropy: EntropySource | None = None,
        threads: int = 1,
    ) -> PreparedTree:
        """Draw the noise of every node.

        Guarantee: the budget, for the unit, as `nn_wavelet` gives it.

        Sensitivity: one unit changes the total and one difference of each level, by as much as it is counted.

        Proof: ``pruning.md`` beside this file.

        Args:
            table: the counts, of at most 2**26 cells when padded to powers of two.
            budget: what may be spent in all; each of the depth + 1 levels gets an equal share.
            unit: who is protected; one person in one cell if left out.
            layout: in which order the cells are halved, or its name; the axes in turn (Morton) if left out.
            noise: which noise to add.
            conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
            entropy: where the bits come from; the secure source by default.
            threads: how many threads draw. The result of a research source does not depend on it.

        Raises:
            ParameterError: if an argument is not what it should be, or the tree is too large.
            GuaranteeError: if the noise cannot give the guarantee.

        Example:
            >>> import numpy as np, sudare
            >>> from sudare.tables import PreparedTree
            >>> tree = PreparedTree.draw(np.full((8, 8), 3), sudare.Budget(epsilon=1))
            >>> bool((tree.refine("vertical") == tree.refine("none")).all())
            True
        """
        function = "PreparedTree.draw"
        request = read_request(function, table, budget, unit=unit, entropy=entropy, threads=threads)
        kind, shape = read_noise(noise, function), read_layout(layout, request.table, function)
        _require_room(shape, function)
        sensitivities = [sensitivity_of_counts(request.unit, merged=True)]
        sensitivities += [sensitivity_of_counts(request.unit, merged=True, signed=True)] * shape.depth
        levels = measure_levels(budget, [1] * len(sensitivities), sensitivities, kind, conversion)
        event = request.state("nn-wavelet", levels, conversion)
        total, tilts = _prepare(request, shape, levels[1:], levels[0])
        return cls(shape, total, tilts, event)

    def refine(self, pruning: Pruning = "vertical") -> Integers:
        """The refined counts of all leaves, from left to right.

        Args:
            pruning: ``"vertical"`` goes depth first and leaves out what lies below an empty node; ``"horizontal"`` goes
                level by level and remembers how many nodes to skip; ``"none"`` goes through every node of each level.
        """
        out = np.empty(self.tilts.size, dtype=np.int64)
        _refine(self.total, self.tilts, read_pruning(pruning, "PreparedTree.refine"), out)
        return out

    def to_table(self, table: CountTable, pruning: Pruning = "vertical") -> CountTable:
        """The refined counts as a table over the domain of the one that was prepared."""
        if not isinstance(table, CountTable) or table.domain.shape != self.layout.lengths:
            requirement = f"a table of the shape {self.layout.lengths}"
            raise ParameterError("table", "PreparedTree.to_table", requirement, shown(table))
        return _to_table(table, self.layout, self.refine(pruning))

    def weighted_pruning_count(self) -> int:
        """How much pruning leaves out: the nodes below each empty node whose parent is not empty.

        An empty node of height h has 2 + 4 + ... + 2**h nodes below it, none of which is visited.
        """
        left_out = 0
        depth = self.layout.depth
        sums = np.array([self.total], dtype=np.int64)
        is_first_empty = sums == 0
        for height in range(depth, 0, -1):
            left_out += int(is_first_empty.sum()) * ((2 << height) - 2)
            left = np.maximum(sums + np.minimum((self.tilts[sums.size : 2 * sums.size] - sums) >> 1, 0), 0)
            children = np.stack([left, sums - left], axis=1)
            is_first_empty = ((children == 0) & (sums > 0)[:, None]).ravel()
            sums = children.ravel()
        return left_out


def refined_by_pruning(
    request: MechanismRequest,
    layout: Layout,
    halvings: Sequence[Measurement],
    total: Measurement | None,
    pruning: Pruning,
    notes: Notes | None = None,
    names: Sequence[str] = (),
) -> CountTable:
    """The table of NN-Wavelet with the noise of all nodes drawn first. The same seed gives the same for every order.

    Args:
        request: what was asked for, checked.
        layout: how the cells lie along the leaves.
        halvings: the measurement of the differences of each level, from the top.
        total: the measurement of the total; None where it is public.
        pruning: in which order to refine.
        notes: where to write the noisy measurements down, if wanted.
        names: what the notes call each level, from the top.
    """
    _require_room(layout, "nn_wavelet")
    read_pruning(pruning, "nn_wavelet")
    count, tilts = _prepare(request, layout, halvings, total, notes, names)
    out = np.empty(tilts.size, dtype=np.int64)
    _refine(count, tilts, pruning, out)
    return _to_table(request.table, layout, out)


def read_pruning(pruning: object, function: str) -> Pruning:
    """The order of a refinement."""
    if isinstance(pruning, str) and pruning in ORDERS:
        return cast("Pruning", pruning)
    others = "'lazy', " if function == "nn_wavelet" else ""
    raise ParameterError(
        "pruning",
        function,
        Words(f"{others}'vertical', 'horizontal' or 'none'", f"{others}'vertical'、'horizontal'、'none' のいずれか"),
        shown(pruning),
    )


def _require_room(layout: Layout, function: str) -> None:
    if layout.depth > MAX_BITS:
        requirement = Words(
            f"a table of at most 2**{MAX_BITS} cells when padded to powers of two, because every node is drawn",
            f"2 の累乗に揃えて 2**{MAX_BITS} セル以下の表（全節点を生成するため）",
        )
        raise ParameterError("table", function, requirement, Described(f"2**{layout.depth} cells"))


def _prepare(
    request: MechanismRequest,
    layout: Layout,
    halvings: Sequence[Measurement],
    total: Measurement | None,
    notes: Notes | None = None,
    names: Sequence[str] = (),
) -> tuple[int, Integers]:
    """The noisy total, and the tilts of all nodes. Nothing from the first draw on may raise on what was drawn."""
    from sudare.kernels.tables.haar import differences_along

    samplers = [noise_for(level) for level in halvings]
    of_total = None if total is None else noise_for(total)
    tilts = np.zeros(1 << layout.depth, dtype=np.int64)
    tilts[layout.to_tree(request.table.keys).astype(np.int64)] = request.table.counts
    differences_along(tilts.reshape(1, -1, 1))
    has_cells = nodes_with_cells(layout)

    noisy = int(tilts[0])
    if of_total is not None:
        noisy += of_total.draw(None, request.source)
        if notes is not None:
            notes.take("total", np.zeros(1, dtype=np.uint64), np.array([noisy]))
    tilts[0] = 0
    for depth, sampler in enumerate(samplers):
        nodes = slice(1 << depth, 2 << depth)
        level = tilts[nodes]
        level += sampler.draw(1 << depth, request.source, threads=request.threads)
        if notes is not None and notes.wanted:
            inside = np.flatnonzero(has_cells[nodes]) if has_cells is not None else np.arange(1 << depth)
            notes.take(names[depth], inside.astype(np.uint64) << np.uint64(layout.depth - depth), level[inside])
        # Refined counts are at most 2**62, and larger differences mean the same.
        np.clip(level, -MAX_TOTAL, MAX_TOTAL, out=level)
        level += fair_coins(1 << depth, request.source)
        if has_cells is not None:
            level[~has_cells[2 << depth : 4 << depth][1::2]] = ALL_TO_THE_LEFT
    return min(max(noisy, 0), MAX_TOTAL), tilts


def _refine(total: int, tilts: Integers, pruning: Pruning, out: Integers) -> None:
    from sudare.kernels.tables.haar import refine_by_levels, refine_depth_first, refine_with_skips

    orders = {"vertical": refine_depth_first, "horizontal": refine_with_skips, "none": refine_by_levels}
    orders[pruning](total, tilts, out)


def _to_table(table: CountTable, layout: Layout, counts: Integers) -> CountTable:
    leaves = np.flatnonzero(counts)
    return CountTable.from_unique_cells(table.domain, layout.to_raster(leaves.astype(np.uint64)), counts[leaves])
