"""The wide tree: few levels with many children each, whose noisy counts are projected on the parent's count.

Proof: ``wide_tree.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sudare.bilingual import Words
from sudare.domain.layout import Layout, map_layout
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.parameters import Rational, shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.arguments import (
    MechanismRequest,
    Noise,
    read_layout,
    read_noise,
    read_reference,
    read_request,
    turn_ends,
)
from sudare.tables.measured_names import MeasuredName, name_areas, name_total
from sudare.tables.mechanism import Mechanism
from sudare.tables.published import Published
from sudare.tables.strategies.axes import CATEGORIES_FIRST, categories_first
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS, refined_densely
from sudare.tables.trees.descent import Notes, Tree, descend, measure_levels, start
from sudare.tables.trees.lazy_learning import refined_by_learning
from sudare.tables.trees.short_axes import margin_names, measure_margins, read_margins
from sudare.tables.trees.splitting import Splitting, WholeDescent, workspace_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["WIDE_TREE", "PlannedMeasurements", "level_names", "plan_levels", "wide_tree"]

MAX_BITS_PER_LEVEL = 12
USUAL_MARGIN_SHARE = 0.05
"""What a margin gets, of what the total and the levels get together."""


def wide_tree(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    bits: Sequence[int] | None = None,
    weights: Sequence[Rational] | None = None,
    unit: Unit | None = None,
    layout: Layout | str | None = None,
    estimate: Literal["plain", "least-squares", "learned"] = "plain",
    margins: Sequence[int] = (),
    reference: CountTable | NDArray[Any] | None = None,
    public_total: bool | int = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by a tree of few levels: the noisy counts of a node's children, made to add up to the node.

    The total and the children of every node get discrete noise. From the top, the children's noisy counts are
    replaced by the nearest whole numbers >= 0 that add up to the node's refined count. Below a node with count 0
    nothing is visited and no noise is drawn.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit is counted in the total and in the nodes of each level as it is in the cells.

    Proof: ``wide_tree.md`` beside this file.

    Args:
        table: the counts.
        budget: what may be spent in all.
        bits: how many halvings of the layout make up each level, from the top; 4 at a time (4 x 4 children of a map)
            if left out.
        weights: in which proportion the budget goes to the total, to each level, and to each of the margins; left out, a
            level gets 2**0.25 times as much per halving of a side as the one above, and a margin a twentieth of all these.
        unit: who is protected; one person in one cell if left out.
        layout: in which order the cells are halved, or its name, such as ``"hilbert"``; the axes in turn (Morton) if left
            out; ``"categories-first"`` parts people by their attributes before places. By name or left out, the ends of axes
            whose length is no power of two are turned (`sudare.domain.turning`).
        estimate: what the counts of a level are taken to be before they are refined. ``"plain"``: as measured, and only
            where somebody is left. ``"least-squares"``: together with the levels below. ``"learned"``: also with how often
            places in such surroundings are empty. Above 2**24 cells both look one level ahead, where somebody is left.
        margins: numbers, from 0, of axes of categories whose margins are measured as well, and met by the published
            table; not with ``"plain"``, and up to 2**24 cells.
        reference: a table over the same domain that is public already, such as the last census: shares that it foretells well
            are drawn towards it. It costs no budget. **You declare that it is public.**
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

    Example:
        >>> import numpy as np, sudare
        >>> counts = np.zeros((64, 64), dtype=np.int64); counts[20:30, 20:30] = 50
        >>> published, event = sudare.tables.wide_tree(counts, sudare.Budget(epsilon=1), bits=(4, 4, 4))
        >>> abs(published.total - 5000) < 500, len(event.measurements)
        (True, 4)
    """
    request = read_request(
        "wide_tree",
        table,
        budget,
        unit=unit,
        public_total=public_total,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    kind, way = read_noise(noise, "wide_tree"), _read_estimate(estimate)
    if layout is None and way != "plain":
        shape = map_layout(request.table.domain, MAX_DENSE_BITS)
    elif isinstance(layout, str) and layout == CATEGORIES_FIRST:
        shape = categories_first(request.table.domain)
    else:
        shape = read_layout(layout, request.table, "wide_tree")
    axes = read_margins(margins, request.table.domain, "wide_tree")
    planned = plan_levels(request, shape, bits, weights, kind, conversion, margins=len(axes))
    steps, names, levels, of_margins = planned.steps, planned.names, planned.levels, planned.of_margins
    public = None if reference is None else read_reference(reference, table, request.table, "wide_tree")
    is_dense = shape.depth <= MAX_DENSE_BITS and (way != "plain" or public is not None)
    if axes and not is_dense:
        requirement = (
            "left out where the estimate is 'plain', and for tables of more than "
            f"2**{MAX_DENSE_BITS} cells when padded to powers of two: not the whole table is looked at"
        )
        raise ParameterError("margins", "wide_tree", requirement, shown(margins))
    shape = turn_ends(shape, layout, request)
    notes = Notes(
        shape,
        [*(margin.name for margin in margin_names(axes)), *names],
        [*of_margins, *levels],
        wanted=request.keeps_measurements,
    )
    if is_dense:
        learns = way == "learned"
        measured = measure_margins(request, axes, of_margins, shape, notes)
        cells = refined_densely(
            request, shape, steps, levels, notes, names, learns=learns, reference=public, margins=measured
        )
    elif way != "plain" or public is not None:
        learns = way == "learned"
        cells = refined_by_learning(request, shape, steps, levels, notes, names, learns=learns, reference=public)
    else:
        cells = _refined_lazily(request, shape, steps, levels, notes, names)
    return Published(cells, planned.event, measurements=notes.read(), reference=public)


@dataclass(frozen=True, kw_only=True)
class PlannedMeasurements:
    """What a wide tree measures, fixed before anything is drawn.

    Attributes:
        steps: how many halvings make up each level, from the top.
        names: of what is measured, the total first unless it is public.
        levels: the measurements with these names.
        of_margins: the measurements of margins.
        event: what all of it costs.
    """

    steps: Sequence[int]
    names: Sequence[str]
    levels: Sequence[Measurement]
    of_margins: Sequence[Measurement]
    event: ReleaseEvent


def plan_levels(
    request: MechanismRequest,
    layout: Layout,
    bits: object,
    weights: object,
    noise: Noise,
    conversion: Conversion,
    *,
    margins: int = 0,
) -> PlannedMeasurements:
    """What a wide tree measures; whoever draws the noise, and however, states this event.

    Args:
        request: of the mechanism.
        layout: of the tree.
        bits: as the caller gave them.
        weights: as the caller gave them.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        margins: how many margins are measured as well.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.
    """
    steps = _read_bits(bits, layout.depth)
    shares = _read_weights(weights, steps, len(layout.lengths), margins)
    names = [measured.name for measured in level_names(steps)]
    sensitivities = [sensitivity_of_counts(request.unit, merged=True)] * len(shares)
    if steps:
        sensitivities[len(steps)] = sensitivity_of_counts(request.unit)  # the last level is the cells themselves
    if request.total_is_public:
        names, shares, sensitivities = names[1:], shares[1:], sensitivities[1:]
    measurements = measure_levels(request.budget, shares, sensitivities, noise, conversion)
    for measurement in measurements:
        noise_for(measurement)  # refuses what cannot be drawn while nothing is drawn yet
    levels, of_margins = measurements[: len(names)], measurements[len(names) :]
    event = request.state("wide-tree", [*of_margins, *levels], conversion)
    return PlannedMeasurements(steps=steps, names=names, levels=levels, of_margins=of_margins, event=event)


def _refined_lazily(
    request: MechanismRequest,
    layout: Layout,
    steps: Sequence[int],
    levels: Sequence[Measurement],
    notes: Notes,
    names: Sequence[str],
) -> CountTable:
    tree = Tree.over(request.table, layout, request.threads)
    total = None if request.total_is_public else levels[0]
    measured = zip(steps, heights(steps), levels[-len(steps) :], names[-len(steps) :], strict=True) if steps else ()
    space = workspace_for(request)
    splits = [Splitting(tree, level, step, bit, notes, name, space) for step, bit, level, name in measured]
    whole = WholeDescent.through(splits)
    root = start(tree, total, request.source, notes)
    one_by_one = [split.one_level for split in splits]
    return descend(request.table, tree, root, one_by_one, whole.finish, request.source, request.threads)


def level_names(steps: Sequence[int]) -> list[MeasuredName]:
    """What is measured: the total, and the areas of each level."""
    return [name_total(), *(name_areas(height) for height in heights(steps))]


def heights(steps: Sequence[int]) -> list[int]:
    """How many halvings are left below each level."""
    return [sum(steps[level + 1 :]) for level in range(len(steps))]


def _read_bits(bits: object, depth: int) -> list[int]:
    requirement = Words(
        f"whole numbers from 1 to {MAX_BITS_PER_LEVEL} that add up to the depth of the layout, {depth}",
        f"合計が木の深さ {depth} になる 1 以上 {MAX_BITS_PER_LEVEL} 以下の整数",
    )
    if bits is None:
        rest = depth % 4
        return ([rest] if rest else []) + [4] * (depth // 4)
    if isinstance(bits, str) or not isinstance(bits, Sequence):
        raise ParameterError("bits", "wide_tree", requirement, shown(bits))
    is_plain = all(type(step) is int and 1 <= step <= MAX_BITS_PER_LEVEL for step in bits)
    if not is_plain or sum(bits) != depth:
        raise ParameterError("bits", "wide_tree", requirement, Described("others"))
    return list(bits)


def _read_weights(weights: object, steps: list[int], axes: int, margins: int) -> Sequence[Rational]:
    if weights is None:
        depths = [sum(steps[:level]) / axes for level in range(len(steps) + 1)]
        of_levels = [2 ** (0.25 * depth) for depth in depths]
        return [*of_levels, *[USUAL_MARGIN_SHARE * sum(of_levels)] * margins]
    wanted = len(steps) + 1 + margins
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != wanted:
        requirement = Words(
            f"{wanted} positive numbers: one for the total and one for each level",
            f"{wanted} 個の正の数（合計と各階層に 1 つずつ）",
        )
        if margins:
            requirement = Words(
                f"{requirement.english}, and one for each margin", f"{requirement.japanese}と、各周辺表に 1 つずつ"
            )
        raise ParameterError("weights", "wide_tree", requirement, shown(weights))
    return weights


def _read_estimate(estimate: object) -> str:
    if not isinstance(estimate, str) or estimate not in ("plain", "least-squares", "learned"):
        raise ParameterError(
            "estimate",
            "wide_tree",
            Words("'plain', 'least-squares' or 'learned'", "'plain'、'least-squares'、'learned' のいずれか"),
            shown(estimate),
        )
    return estimate


WIDE_TREE = Mechanism(
    name="wide-tree",
    function=wide_tree,
    words=Words("wide tree", "幅広木（wide tree）"),
)
