"""The margin tree: areas of a map that carry the margins of their people's attributes.

Proof: ``margin_tree.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.domain.branches import level_bits
from sudare.domain.layout import Layout
from sudare.domain.table import CountTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import Sampler
from sudare.parameters import Rational, exact_fraction, shown
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import Measurement
from sudare.privacy.unit import Sensitivity, Unit, sensitivity_of_counts
from sudare.refine.components import NoisyMargin, estimate_components, margin_of
from sudare.refine.node_tables import refine_tables
from sudare.refine.trees import NoisyTree
from sudare.refine.whole_tables import whole_table
from sudare.tables.arguments import MechanismRequest, Noise, read_noise, read_reference, read_request, turn_ends
from sudare.tables.measured_names import MeasuredName
from sudare.tables.mechanism import Mechanism
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.strategies.axes import PlacesAndAttributes, places_and_attributes
from sudare.tables.strategies.groupings import MeasuredGrouping, Strategy
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS, cells_of_nodes, first_leaves, refined_totals, variance_of
from sudare.tables.trees.descent import measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]

__all__ = ["MARGIN_TREE", "grouping_name", "margin_tree", "read_strategy", "sensitivities_of"]

FUNCTION = "margin_tree"


def margin_tree(
    table: CountTable | NDArray[Any],
    budget: Budget,
    *,
    bits: Sequence[int] | None = None,
    weights: Sequence[Sequence[Rational]] | None = None,
    unit: Unit | None = None,
    estimate: Literal["least-squares", "learned"] = "learned",
    reference: CountTable | NDArray[Any] | None = None,
    public_total: bool | int = False,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a map of people with attributes, such as mesh x age x sex: every area with the margins of its people.

    A tree over the places is made, as for a map. In each of its levels some margins of the attributes are measured for every
    node, with discrete noise. All of it is combined by generalised least squares, and refined from the top to whole numbers >= 0:
    children add up to their parents in every category, and categories to totals.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit is counted in each grouping as it is in the cells, or as merged cells.

    Proof: ``margin_tree.md`` beside this file.

    Args:
        table: the counts, over places (a mesh, or other long axes) and at most four attributes (axes of up to 64 categories
            beside them), over the leaves of a hierarchy and such attributes, or over up to eight attributes and no places.
        budget: what may be spent in all.
        bits: how many halvings of the map make up each level, from the top; if left out, 4 at a time, or those of the levels of a
            hierarchy.
        weights: for each level, from all places together down to single ones, the weights of all margins of the attributes,
            numbered in binary: number 5 is the margin of the first and third attribute. 0 is not measured; the last level's last
            margin, the cells, must be. If left out, half of each level goes to totals and half to cells.
        unit: who is protected; one person in one cell if left out.
        estimate: ``"least-squares"``, or ``"learned"``: also how often places in such surroundings are empty, and how
            much the composition of areas differs.
        reference: a table over the same domain that is public already: it helps to tell how people are divided among areas.
            It costs no budget. **You declare that it is public.**
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

    Example:
        >>> import numpy as np, sudare
        >>> counts = np.zeros((64, 64, 2), dtype=np.int64); counts[20:30, 20:30] = 50, 30
        >>> published = sudare.publish(counts, sudare.Budget(epsilon=1), "margin-tree")
        >>> women, men = published.to_dense().sum(axis=(0, 1)).tolist()
        >>> abs(women - 5000) < 500, abs(men - 3000) < 500
        (True, True)
    """
    request = read_request(
        FUNCTION,
        table,
        budget,
        unit=unit,
        public_total=public_total,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    kind, learns = read_noise(noise, FUNCTION), _read_estimate(estimate)
    parts = _read_parts(request.table)
    layout = parts.layout
    _require_room(layout, parts)
    if bits is None and parts.hierarchy is not None:
        bits = level_bits(parts.hierarchy)
    strategy = read_strategy(bits, weights, layout.depth, len(parts.attributes))
    groupings = list(strategy.groupings(without_total=request.total_is_public))
    sensitivities = sensitivities_of(strategy, groupings, request.unit)
    shares = [grouping.weight for grouping in groupings]
    measurements = measure_levels(budget, shares, sensitivities, kind, conversion)
    event = request.state("margin-tree", measurements, conversion)
    public = None if reference is None else read_reference(reference, table, request.table, FUNCTION)
    samplers = [noise_for(measurement) for measurement in measurements]

    layout = turn_ends(layout, None, request)
    tree = _TableTree(request, parts, layout, strategy)
    noisy = tree.measure(groupings, samplers)
    leaves = tree.refine(groupings, measurements, noisy, public, learns=learns)
    kept = tree.notes(groupings, measurements, noisy) if request.keeps_measurements else None
    return Published(tree.table_of(leaves), event, measurements=kept, reference=public)


class _TableTree:
    """The nodes of a tree over places, each with a table over the attributes."""

    def __init__(
        self, request: MechanismRequest, parts: PlacesAndAttributes, layout: Layout, strategy: Strategy
    ) -> None:
        self.request, self.parts, self.layout, self.strategy = request, parts, layout, strategy
        self.cells = cells_of_nodes(layout, strategy.bits)

    def measure(self, groupings: Sequence[MeasuredGrouping], samplers: Sequence[Sampler]) -> list[Counts]:
        """The noisy margins, one after the other; level by level, so that no more than two levels are held."""
        noisy: dict[MeasuredGrouping, Counts] = {}
        levels = _summed_up(self._leaves(self.request.table), self.strategy.bits)
        for grouping, sampler in zip(groupings, samplers, strict=True):
            counts = np.asarray(margin_of(levels[grouping.level], grouping.mask), dtype=np.int64)
            drawn = sampler.draw(counts.size, self.request.source, threads=self.request.threads)
            drawn += counts.reshape(-1)
            noisy[grouping] = drawn.reshape(counts.shape)
        return [noisy[grouping] for grouping in groupings]

    def refine(
        self,
        groupings: Sequence[MeasuredGrouping],
        measurements: Sequence[Measurement],
        noisy: Sequence[Counts],
        reference: CountTable | None,
        *,
        learns: bool,
    ) -> Counts:
        """Whole tables >= 0 of all leaves."""
        margins = [
            NoisyMargin(grouping.level, grouping.mask, values.astype(np.float64), variance_of(measurement))
            for grouping, values, measurement in zip(groupings, noisy, measurements, strict=True)
        ]
        bits, lengths, words = self.strategy.bits, self.parts.lengths, self.request.source.words
        trees = estimate_components(margins, lengths, bits, self.cells)
        known = self.request.table.total if self.request.total_is_public else None
        if not bits:  # one place: nothing but its table is to be refined
            return whole_table(trees, lengths, words, known)
        of_totals = NoisyTree(
            bits,
            tuple(None if level is None else level.reshape(-1) for level in trees[0].measured),
            trees[0].noise,
            self.cells,
            is_laplace=False,
            total=known,
        )
        of_places = None if reference is None else self._places_of(reference)
        totals = refined_totals(of_totals, self.layout, self.parts.of_places, words, learns=learns, reference=of_places)
        return refine_tables(_summed_up(totals, bits), trees, lengths, bits, words, learns=learns)

    def table_of(self, leaves: Counts) -> CountTable:
        """The table whose people stand at these leaves."""
        rows = leaves.reshape(leaves.shape[0], -1)
        leaf, number = np.nonzero(rows)
        keys = self.parts.join(self.layout.to_raster(leaf.astype(np.uint64)), number.astype(np.int64))
        return CountTable.from_unique_cells(self.parts.domain, keys, rows[leaf, number])

    def notes(
        self, groupings: Sequence[MeasuredGrouping], measurements: Sequence[Measurement], noisy: Sequence[Counts]
    ) -> tuple[NoisyCounts, ...]:
        """The measurements, each with the first cell of what it counts."""
        kept = []
        for grouping, measurement, values in zip(groupings, measurements, noisy, strict=True):
            has_cells = self.cells[grouping.level] > 0
            leaves = first_leaves(self.layout, self.strategy.bits, grouping.level, has_cells)
            numbers = self._first_numbers(grouping.mask)
            places = np.repeat(self.layout.to_raster(leaves), numbers.size)
            keys = self.parts.join(places, np.tile(numbers, leaves.size))
            name = grouping_name(self.strategy, grouping, self.parts).name
            kept.append(NoisyCounts(name, measurement, keys, values[has_cells].reshape(-1)))
        return tuple(kept)

    def _first_numbers(self, mask: int) -> Counts:
        """The first cell within a place of each combination of some attributes."""
        every = np.arange(self.parts.categories).reshape(self.parts.lengths)
        chosen = tuple(slice(None) if mask >> i & 1 else slice(1) for i in range(len(self.parts.lengths)))
        return every[chosen].reshape(-1)

    def _leaves(self, table: CountTable) -> Counts:
        places, numbers = self.parts.split(table.keys)
        leaves = np.zeros((1 << self.layout.depth, self.parts.categories), dtype=np.int64)
        leaves[self.layout.to_tree(places).astype(np.int64), numbers] = table.counts
        return leaves.reshape(-1, *self.parts.lengths)

    def _places_of(self, table: CountTable) -> CountTable:
        places, _ = self.parts.split(table.keys)
        return CountTable.from_cells(self.parts.of_places, places, table.counts)


def _summed_up(leaves: Counts, bits: Sequence[int]) -> list[Counts]:
    levels = [leaves]
    for step in reversed(bits):
        levels.insert(0, levels[0].reshape(-1, 1 << step, *levels[0].shape[1:]).sum(axis=1))
    return levels


def grouping_name(strategy: Strategy, grouping: MeasuredGrouping, parts: PlacesAndAttributes) -> MeasuredName:
    """What a grouping measures: by levels where the tree has those of a hierarchy."""
    is_by_level = parts.hierarchy is not None and strategy.bits == level_bits(parts.hierarchy)
    return strategy.name(grouping, parts.names, parts.level_names if is_by_level else ())


def sensitivities_of(strategy: Strategy, groupings: Sequence[MeasuredGrouping], unit: Unit) -> list[Sensitivity]:
    """Of each grouping: that of the cells for the cells, that of merged cells for all others."""
    merged, of_cells = sensitivity_of_counts(unit, merged=True), sensitivity_of_counts(unit)
    return [of_cells if strategy.is_cells(grouping) else merged for grouping in groupings]


def read_strategy(bits: object, weights: object, depth: int, attributes: int) -> Strategy:
    """The strategy that a caller asks for; half of each level for totals and half for cells, by default."""
    requirement = Words(
        f"whole numbers from 1 to {MAX_DENSE_BITS} that add up to the halvings of the map, {depth}",
        f"合計が地図の二分の回数 {depth} になる 1 以上 {MAX_DENSE_BITS} 以下の整数",
    )
    if bits is None:
        rest = depth % 4
        bits = ([rest] if rest else []) + [4] * (depth // 4)
    if isinstance(bits, str) or not isinstance(bits, Sequence):
        raise ParameterError("bits", FUNCTION, requirement, shown(bits))
    if not all(type(step) is int and 1 <= step <= MAX_DENSE_BITS for step in bits) or sum(bits) != depth:
        raise ParameterError("bits", FUNCTION, requirement, Described("others"))
    margins = 1 << attributes
    if weights is None:
        usual = (1.0, *(0.0 for _ in range(margins - 2)), 1.0) if attributes else (1.0,)
        return Strategy(tuple(bits), attributes, (usual,) * (len(bits) + 1))
    return Strategy(tuple(bits), attributes, _read_weights(weights, len(bits) + 1, margins))


def _read_weights(weights: object, levels: int, margins: int) -> tuple[tuple[float, ...], ...]:
    requirement = f"{levels} lists of {margins} numbers >= 0, the last of them positive: one for each level and margin"
    if isinstance(weights, str) or not isinstance(weights, Sequence) or len(weights) != levels:
        raise ParameterError("weights", FUNCTION, requirement, shown(weights))
    read = []
    for row in weights:
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != margins:
            raise ParameterError("weights", FUNCTION, requirement, shown(row))
        read.append(tuple(float(exact_fraction(weight, "weights", FUNCTION, requirement)) for weight in row))
    if any(weight < 0 for row in read for weight in row) or read[-1][-1] <= 0:
        raise ParameterError("weights", FUNCTION, requirement, Described("others"))
    return tuple(read)


def _read_parts(table: CountTable) -> PlacesAndAttributes:
    parts = places_and_attributes(table.domain)
    if parts is None:
        requirement = Words(
            "a table with at most four attributes, axes of up to 64 categories, beside its places, or eight without any",
            "場所のほかに 64 区分以下の属性が 4 個以下、場所がなければ 8 個以下の表",
        )
        raise ParameterError("table", FUNCTION, requirement, Described(f"one of the shape {table.domain.shape}"))
    return parts


def _require_room(layout: Layout, parts: PlacesAndAttributes) -> None:
    cells = parts.categories << layout.depth
    if cells > 1 << MAX_DENSE_BITS:
        requirement = Words(
            f"a table of at most 2**{MAX_DENSE_BITS} cells when its places are padded to powers of two",
            f"場所を 2 の累乗に揃えて 2**{MAX_DENSE_BITS} セル以下の表",
        )
        raise ParameterError("table", FUNCTION, requirement, Described(f"one of {cells:,}"))


def _read_estimate(estimate: object) -> bool:
    if not isinstance(estimate, str) or estimate not in ("least-squares", "learned"):
        raise ParameterError(
            "estimate",
            FUNCTION,
            Words("'least-squares' or 'learned'", "'least-squares' または 'learned'"),
            shown(estimate),
        )
    return estimate == "learned"


MARGIN_TREE = Mechanism(
    name="margin-tree",
    function=margin_tree,
    words=Words("margin tree", "周辺表つき空間木（margin tree）"),
)
