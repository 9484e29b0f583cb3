"""The wide tree with addressed noise, on one machine.

Proof: ``addressed_tree.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.errors import ParameterError
from sudare.noise.addressed import NoiseKey
from sudare.parameters import Rational, shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.unit import Unit
from sudare.tables.addressed.refining import Cut, refine_subtree, refine_upper_levels
from sudare.tables.addressed.tree import AddressedTree
from sudare.tables.arguments import Noise, read_layout, read_noise, read_request
from sudare.tables.mechanisms.wide_tree import plan_levels
from sudare.tables.published import Published
from sudare.tables.trees.descent import with_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AddressedRelease", "addressed_wide_tree", "plan_addressed_tree"]


@dataclass(frozen=True)
class AddressedRelease:
    """What will be drawn, fixed before anything is; nothing of it depends on the data.

    Attributes:
        tree: the shape, and what is measured.
        event: what it costs.
    """

    tree: AddressedTree
    event: ReleaseEvent


def plan_addressed_tree(
    domain: Domain,
    budget: Budget,
    key: NoiseKey,
    *,
    bits: Sequence[int] | None = None,
    weights: Sequence[Rational] | None = None,
    unit: Unit | None = None,
    layout: Layout | str | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
) -> AddressedRelease:
    """What `addressed_wide_tree` draws for a domain; no data is needed, and none is looked at.

    Args:
        domain: the cells that there are.
        budget: what may be spent in all.
        key: of the release. The ends of padded axes are turned by it; its noise is not drawn.
        bits: as in `sudare.tables.wide_tree`, like all others.
        weights: as there.
        unit: as there.
        layout: as there.
        noise: as there.
        conversion: as there.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.
    """
    empty = CountTable(domain, np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64))
    return _planned(empty, budget, key, bits, weights, unit, layout, False, noise, conversion)


def _planned(
    table: CountTable | NDArray[Any],
    budget: Budget,
    key: NoiseKey,
    bits: Sequence[int] | None,
    weights: Sequence[Rational] | None,
    unit: Unit | None,
    layout: Layout | str | None,
    public_total: bool | int,
    noise: Noise,
    conversion: Conversion,
) -> AddressedRelease:
    if not isinstance(key, NoiseKey):
        raise ParameterError("key", "addressed_wide_tree", "a NoiseKey", shown(type(key).__name__))
    request = read_request("addressed_wide_tree", table, budget, unit=unit, public_total=public_total)
    shape = read_layout(layout, request.table, "addressed_wide_tree")
    kind = read_noise(noise, "addressed_wide_tree")
    planned = plan_levels(request, shape, bits, weights, kind, conversion)
    if not planned.steps:
        raise ParameterError("table", "addressed_wide_tree", "a table of two cells or more", request.table.domain.cells)
    if not isinstance(layout, Layout) and shape.has_ends_to_turn:
        shape = shape.turned(int(key.child("ends", 0).stream()(1)[0]))
    number = len(planned.steps)
    tree = AddressedTree(
        with_tables(shape),
        tuple(planned.steps),
        tuple(planned.levels[-number:]),
        None if request.total_is_public else planned.levels[0],
    )
    return AddressedRelease(tree, replace(planned.event, entropy=key.origin))


def addressed_wide_tree(
    table: CountTable | NDArray[Any],
    budget: Budget,
    key: NoiseKey,
    *,
    bits: Sequence[int] | None = None,
    weights: Sequence[Rational] | None = None,
    unit: Unit | None = None,
    layout: Layout | str | None = None,
    public_total: bool | int = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    cut: Cut | None = None,
) -> Published:
    """The plain wide tree, with noise that can be drawn again: the same key and the same table give the same bytes.

    Guarantee: that of `sudare.tables.wide_tree`, whose event it states, for **one use of the key**. One key on two tables reveals
    their difference, so the key must be bound to its table before (`sudare.ledger.windows`); nothing here can do that.

    Sensitivity: one unit is counted in the total and in the nodes of each level as it is in the cells.

    Proof: ``addressed_tree.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        key: of the noise, used for nothing else.
        bits: how many halvings of the layout make up each level, as in `wide_tree`.
        weights: how the budget is divided, as in `wide_tree`.
        unit: who is protected; one person in one cell if left out.
        layout: in which order the cells are halved.
        public_total: as in `wide_tree`.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        cut: where the tree is cut into parts that are drawn by themselves. The result does not depend on it.

    Returns:
        The refined table, with the event.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.
        EntropyError: if the key was destroyed.

    Example:
        >>> import numpy as np, sudare
        >>> from sudare.noise.addressed import NoiseKey
        >>> from sudare.tables.addressed.mechanism import addressed_wide_tree
        >>> counts, key = np.full((64, 64), 9), NoiseKey.fresh()
        >>> once, again = (addressed_wide_tree(counts, sudare.Budget(epsilon=1), key).table for _ in range(2))
        >>> bool((once.to_dense() == again.to_dense()).all())
        True
    """
    planned = _planned(table, budget, key, bits, weights, unit, layout, public_total, noise, conversion)
    people = table if isinstance(table, CountTable) else CountTable.from_dense(table)
    tree = planned.tree
    leaves = tree.layout.to_tree(people.keys)
    order = np.argsort(leaves)
    leaves, counts = leaves[order], people.counts[order]
    upper = refine_upper_levels(tree, key, leaves, counts, cut)
    cells = [(upper.leaves, upper.counts)]
    for subtree in upper.subtrees:
        first = np.uint64(subtree.anchor.prefix)
        end = first + (np.uint64(1) << np.uint64(tree.heights[subtree.anchor.level]))
        part = slice(int(np.searchsorted(leaves, first)), int(np.searchsorted(leaves, end)))
        cells.append(refine_subtree(tree, subtree, leaves[part], counts[part]))
    found, refined = (np.concatenate(arrays) for arrays in zip(*cells, strict=True))
    keys = tree.layout.to_raster(found)
    order = np.argsort(keys)
    return Published(CountTable(people.domain, keys[order], refined[order]), planned.event)
