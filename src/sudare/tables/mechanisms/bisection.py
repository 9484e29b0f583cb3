"""Top-down by bisection: both halves of every area measured, each with noise of its own.

It is the wide tree with two children a node and the same budget for every level; the zCDP paper's baseline.
Proof: ``wide_tree.md`` beside this file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.noise.entropy import EntropySource
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit
from sudare.tables.arguments import Noise, read_layout, read_table
from sudare.tables.mechanism import Mechanism
from sudare.tables.mechanisms.wide_tree import wide_tree
from sudare.tables.published import Published

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["TOPDOWN_BISECTION", "topdown_bisection"]


def topdown_bisection(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    unit: Unit | None = None,
    layout: Layout | str | None = None,
    public_total: bool | int = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by halving it down to its cells, each time by the noisy counts of both halves.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit is counted in the total and in the nodes of each level as it is in the cells.

    Proof: ``wide_tree.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all; each of the depth + 1 levels gets an equal share.
        unit: who is protected; one person in one cell if left out.
        layout: in which order the cells are halved, or its name, such as ``"hilbert"``; the axes in turn (Morton) if left
            out. By name or left out, the ends of axes whose length is no power of two are turned (`sudare.domain.turning`).
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
        Ishioka and Terada, the Top-down of their comparison.

    Example:
        >>> import numpy as np, sudare
        >>> published = sudare.tables.topdown_bisection(np.full((8, 8), 100), sudare.Budget(epsilon=1))
        >>> len(published.event.measurements)
        7
    """
    people = read_table(table, "topdown_bisection")
    depth = read_layout(layout, people, "topdown_bisection").depth
    published = wide_tree(
        people,
        budget,
        bits=(1,) * depth,
        weights=(1,) * (depth + 1),
        unit=unit,
        layout=layout,
        public_total=public_total,
        noise=noise,
        conversion=conversion,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    return replace(published, event=replace(published.event, mechanism="topdown-bisection"))


TOPDOWN_BISECTION = Mechanism(
    name="topdown-bisection",
    function=topdown_bisection,
    words=Words("top-down bisection", "トップダウン二分割"),
)
