"""NN-Wavelet: the Haar wavelet with refinement from the top, in whole numbers.

Proof: ``nn_wavelet.md`` beside this file.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.noise.additive import noise_for
from sudare.noise.bernoulli import fair_coins
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import Sampler
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.descent import Nodes, Notes, Tree, descend, measure_levels, start
from sudare.tables.pruning import read_pruning, refined_by_pruning
from sudare.tables.published import Published
from sudare.tables.reading import Noise, read_layout, read_noise, read_request

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["nn_wavelet"]


def nn_wavelet(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    unit: Unit | None = None,
    layout: Layout | None = None,
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
        layout: in which order the axes are halved; in turn (Morton) if left out.
        pruning: ``"lazy"`` draws noise only where somebody is left. The three orders of the papers draw all noise first,
            for tables up to 2**26 cells, and give the same table for the same noise (`sudare.tables.pruning`).
        public_total: True, or the total itself, where it is public already: it is then published exactly, and the
            guarantee is that of replacing a unit by another.
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
        >>> published, event = sudare.nn_wavelet(counts, sudare.Budget(epsilon=1))
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
    notes = Notes(shape, ["total"][: len(of_total)] + names, levels, wanted=request.keeps_measurements)
    if order is not None:
        refined = refined_by_pruning(request, shape, halvings, start_from, order, notes, names)
        return Published(refined, event, measurements=notes.read())
    tree = Tree.over(request.table, shape)
    steps = [
        partial(_halve, tree, noise_for(level), shape.depth - 1 - depth, notes, names[depth])
        for depth, level in enumerate(halvings)
    ]
    root = start(tree, start_from, request.source, notes)
    cells = descend(root, steps, request.source, request.threads)
    return Published(cells.to_table(request.table, shape), event, measurements=notes.read())


def _halve(tree: Tree, noise: Sampler, bit: int, notes: Notes, name: str, nodes: Nodes, source: EntropySource) -> Nodes:
    from sudare.kernels.trees import split_by_difference

    children = Nodes.empty(2 * len(nodes))
    drawn, coins = noise.draw(len(nodes), source), fair_coins(len(nodes), source)
    written = split_by_difference(
        tree.leaves, tree.sums, *nodes.arrays, drawn, coins, bit, *tree.padding, *children.arrays
    )
    notes.take(name, nodes.prefixes, drawn)
    return children.between(0, written)
