"""Top-down: several tables for every area of a hierarchy, refined from the country down to the smallest areas.

Proof: ``topdown.md`` beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, expm1
from typing import TYPE_CHECKING, cast

import numpy as np

from sudare.bilingual import Words
from sudare.domain.attributes import Attribute
from sudare.domain.domain import Domain
from sudare.domain.layout import Layout, raster_layout
from sudare.domain.table import MAX_TOTAL, CountTable, SignedTable
from sudare.errors import Described, ParameterError
from sudare.noise.additive import noise_for
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import Sampler
from sudare.parameters import Rational
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.measurements import GaussianMeasurement, LaplaceMeasurement, Measurement
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.arguments import Noise, read_noise, read_request, read_table
from sudare.tables.mechanism import Mechanism, PlannedCall
from sudare.tables.mechanisms.detail import Detail, InhabitedCells, Query
from sudare.tables.mechanisms.topdown_arguments import (
    name_of,
    read_hierarchy,
    read_invariants,
    read_names,
    read_queries,
    read_query,
    read_size,
    read_weights,
)
from sudare.tables.published import Published
from sudare.tables.trees.descent import Notes, measure_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["TOPDOWN", "table_at_level", "topdown"]

VALUES_AT_ONCE = 1 << 20
"""Cells of areas whose noise is held at the same time, in each thread."""

ROUNDS = 500
"""Of fitting real numbers to sums of rows and columns, before whole numbers are made of them."""

MIN_VARIANCE = 1e-9
"""Small enough to trust a measurement as if it were exact, large enough to divide by."""


def topdown(
    table: CountTable,
    budget: Budget,
    *,
    hierarchy: str | None = None,
    queries: Sequence[Query] | None = None,
    level_weights: Sequence[Rational] | None = None,
    query_weights: Sequence[Rational] | None = None,
    invariants: Sequence[tuple[str | int, Query]] = (),
    unit: Unit | None = None,
    noise: Noise = "laplace",
    conversion: Conversion = "optimal",
    entropy: EntropySource | None = None,
    threads: int = 1,
    keep_measurements: bool = False,
) -> Published:
    """Publish a table by its hierarchy of areas, as the US Census of 2020 was: several tables for each area of each level.

    The detail of an area is the table of all other attributes. Every query, a table of some of them, is measured in
    every area of every level. From the top, an area's noisy tables are combined into one least-squares estimate of its
    detail, and the estimates of the areas within one are replaced by the nearest whole numbers >= 0 that add up to its
    refined detail, cell by cell. All published tables are sums of the published cells, so they agree with each other.
    Within an area without people nothing is visited and no noise is drawn.

    An invariant is a query that is published exactly for all areas of a level, such as ``("prefecture", ())`` for the
    population of each prefecture. It makes the same query exact on the levels above too, and so is every query that can
    be computed from it; none of them is measured. The guarantee is then that of replacing a unit by another with the
    same exact numbers: whatever they tell about a unit, such as its prefecture, is **not** protected.

    Guarantee: the budget, for the unit. Laplace noise gives pure epsilon, Gaussian noise rho or (epsilon, delta).

    Sensitivity: one unit changes one cell of each query on each level, by as much as it is counted.

    Proof: ``topdown.md`` beside this file.

    Args:
        table: the counts; one attribute of its domain is a `Hierarchy`.
        budget: what may be spent in all.
        hierarchy: the name of that attribute, where there are several.
        queries: names of attributes, for each table that is measured; among them all attributes but the hierarchy. Left
            out, the total, each attribute by itself, and all together.
        level_weights: in which proportion the budget goes to the levels, from the top; equally if left out.
        query_weights: in which proportion a level's share goes to the queries; equally if left out.
        invariants: pairs of a level and a query that are published exactly.
        unit: who is protected; one person in one cell if left out.
        noise: which noise to add.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        entropy: where the bits come from; the secure source by default.
        threads: how many threads to use. The result of a research source does not depend on it.
        keep_measurements: whether the noisy measurements are part of the result.

    Returns:
        The refined table, with the event and, on request, the measurements. `table_at_level` gives its tables.

    Raises:
        ParameterError: if an argument is not what it should be.
        GuaranteeError: if the noise cannot give the guarantee.

    References:
        Abowd et al.: The 2020 Census disclosure avoidance system TopDown algorithm (2022).

    Example:
        >>> import sudare
        >>> area = sudare.Hierarchy.from_levels("ward", {"prefecture": [13, 13, 27], "ward": [13101, 13103, 27127]})
        >>> domain = sudare.Domain((area, sudare.Category("sex", ("f", "m"))))
        >>> table = sudare.CountTable.from_dense([[300, 400], [1000, 900], [50, 70]], domain)
        >>> published = topdown(table, sudare.Budget(epsilon=5), invariants=[("prefecture", ())])
        >>> table_at_level(published, "prefecture").to_dense().tolist(), published.event.invariants
        ([2600, 120], ('total', 'total by prefecture'))
    """
    request = read_request(
        "topdown",
        table,
        budget,
        unit=unit,
        entropy=entropy,
        threads=threads,
        keep_measurements=keep_measurements,
    )
    kind = read_noise(noise, "topdown")
    area = read_hierarchy(hierarchy, request.table.domain, "topdown")
    detail = Detail.beside(area, request.table.domain)
    read_names(area, detail, "topdown")
    read_size(area, detail, "topdown")
    asked = read_queries(queries, detail)
    known = read_invariants(invariants, area, detail)
    of_levels = read_weights(level_weights, "level_weights", [level.name for level in area.levels])
    of_queries = read_weights(query_weights, "query_weights", [" x ".join(query) or "total" for query in asked])
    if any(query is not None for query in known):
        exact = tuple(name_of(x, area, depth) for depth, x in enumerate(known) if x is not None)
        request = replace(request, unit=replace(request.unit, adjacency="replace"), invariants=exact)

    plan = [(d, q) for d, exact in enumerate(known) for q in asked if exact is None or not set(q) <= set(exact)]
    if not plan:
        raise ParameterError(
            "invariants",
            "topdown",
            Words("such that something is left to measure", "測定するものが残ること"),
            Described("everything"),
        )
    weight_of = dict(zip(asked, of_queries, strict=True))
    finest = len(area.levels) - 1, detail.names
    sensitivities = [sensitivity_of_counts(request.unit, merged=look != finest) for look in plan]
    shares = [of_levels[depth] * weight_of[query] for depth, query in plan]
    levels = measure_levels(budget, shares, sensitivities, kind, conversion)
    event = request.state("topdown", levels, conversion)

    # Every sampler is made before the first draw.
    names = [name_of(query, area, depth) for depth, query in plan]
    looks = [
        _Look(name, depth, query, noise_for(level), _variance(level))
        for name, (depth, query), level in zip(names, plan, levels, strict=True)
    ]
    layout = raster_layout(request.table.domain.shape)
    notes = Notes(layout, names, levels, wanted=request.keeps_measurements)
    run = _Run(InhabitedCells.of(request.table, area), looks, known, layout, notes)
    nodes, refined = run.start(request.source)
    for depth in range(1, len(area.levels)):
        nodes, refined = run.descend(depth, nodes, refined, request.source, request.threads)
    rows, cells = np.nonzero(refined)
    keys = run.people.keys_at(nodes[rows], cells)
    cells_published = CountTable.from_unique_cells(request.table.domain, keys, refined[rows, cells])
    return Published(cells_published, event, measurements=notes.read())


def table_at_level(
    published: Published | CountTable | SignedTable,
    level: str | int,
    query: Query = (),
    *,
    hierarchy: str | None = None,
) -> CountTable | SignedTable:
    """One of the tables of a release, or of any table: a query's answers for all areas of a level.

    Args:
        published: what `topdown` returned, or a table whose domain has a `Hierarchy`.
        level: its name, or its depth: 0 for the root, -1 for the smallest areas.
        query: the attributes to keep; none for totals.
        hierarchy: the name of the hierarchy, where there are several.

    Returns:
        A table over the hierarchy, cut off at the level, and the attributes of the query, in the order of the domain; signed
        if the given one is.

    Raises:
        ParameterError: if there is no such level or attribute.
    """
    function = "table_at_level"
    given = published.table if isinstance(published, Published) else published
    table = given if isinstance(given, SignedTable) else read_table(given, function)
    area = read_hierarchy(hierarchy, table.domain, function)
    depth = area.depth_of(level, function)
    wanted = read_query(query, Detail.beside(area, table.domain), "query", function)
    cut = area.down_to(depth)
    along = list(table.domain.places_of(table.keys))
    places: list[Integers] = []
    kept: list[Attribute] = []
    for attribute in table.domain.attributes:
        own = [along.pop(0) for _ in attribute.shape]
        if attribute.name == area.name:
            kept.append(cut)
            places.append(area.levels[depth].nodes_at(own[0]))
        elif attribute.name in wanted:
            kept.append(attribute)
            places.extend(own)
    domain = Domain(tuple(kept))
    return type(table).from_cells(domain, domain.keys_at(*places), table.counts)


@dataclass(frozen=True)
class _Look:
    """One query on one level, and the noise for it."""

    name: str
    depth: int
    query: Query
    noise: Sampler
    variance: float


@dataclass(frozen=True)
class _Run:
    """A descent: what is measured, and what is known."""

    people: InhabitedCells
    looks: list[_Look]
    known: list[Query | None]
    layout: Layout
    notes: Notes

    def start(self, source: EntropySource) -> tuple[Integers, Integers]:
        """The root with its refined detail; no node at all where it has nobody.

        This is the first draw. Nothing from here on may raise an error that depends on what is drawn.
        """
        detail, known = self.people.detail, self.known[0]
        root = np.zeros(1, dtype=np.int64)
        counts = self.people.details_of(self.people.area.levels[0], root)
        if known == detail.names:
            refined = counts
        else:
            whole, fractions = self._estimate(0, root, counts, source)
            if known is None:
                total = int(whole.sum()) + round(float(fractions.sum()))
                totals = np.array([min(max(total, 0), MAX_TOTAL)])
            else:
                totals = detail.answers(counts, known)[0]
            refined = _split_by_groups(whole, fractions, totals, detail.groups(known or ()), source)
        is_inhabited = refined.any(axis=1)
        return root[is_inhabited], refined[is_inhabited]

    def descend(
        self, depth: int, parents: Integers, refined: Integers, source: EntropySource, threads: int
    ) -> tuple[Integers, Integers]:
        """The inhabited areas of the next level with their refined details; in parts, side by side.

        The parts, and the sources they draw from, do not depend on the number of threads.
        """
        above, here = self.people.area.levels[depth - 1], self.people.area.levels[depth]
        first_child = np.searchsorted(here.edges, above.edges[:-1])
        last_child = np.searchsorted(here.edges, above.edges[1:])
        sizes = last_child[parents] - first_child[parents]
        parts = _parts_of(sizes * self.people.detail.cells)
        sources = source.spawn(len(parts)) if len(parts) > 1 else [source] * len(parts)

        def finish(part: slice, own: EntropySource) -> tuple[Integers, Integers]:
            edges = np.concatenate([[0], np.cumsum(sizes[part])])
            offsets = np.repeat(first_child[parents[part]] - edges[:-1], sizes[part])
            children = offsets + np.arange(edges[-1])
            split = self._split(depth, children, edges, np.ascontiguousarray(refined[part]), own)
            is_inhabited = split.any(axis=1)
            return children[is_inhabited], split[is_inhabited]

        if threads == 1:
            done = [finish(part, own) for part, own in zip(parts, sources, strict=True)]
        else:
            with ThreadPoolExecutor(threads) as pool:
                done = list(pool.map(finish, parts, sources))
        if not done:
            return parents[:0], refined[:0]
        return np.concatenate([nodes for nodes, _ in done]), np.concatenate([details for _, details in done])

    def _split(
        self, depth: int, children: Integers, edges: Integers, refined: Integers, source: EntropySource
    ) -> Integers:
        from sudare.kernels.tables.margins import split_cells

        detail, known = self.people.detail, self.known[depth]
        counts = self.people.details_of(self.people.area.levels[depth], children)
        if known == detail.names:
            return counts
        whole, fractions = self._estimate(depth, children, counts, source)
        if known is not None:
            return _fit(whole, fractions, refined, edges, detail.answers(counts, known), detail.groups(known))
        split = np.empty_like(counts)
        words = source.words(refined.size).reshape(refined.shape)
        split_cells(whole, fractions, refined, edges, words, split)
        return split

    def _estimate(
        self, depth: int, nodes: Integers, counts: Integers, source: EntropySource
    ) -> tuple[Integers, NDArray[np.float64]]:
        """Measure areas of a level, and combine what was measured."""
        detail, level = self.people.detail, self.people.area.levels[depth]
        looks = [look for look in self.looks if look.depth == depth]
        noisy = {}
        for look in looks:
            values = detail.answers(counts, look.query)
            values += look.noise.draw(values.shape, source)
            noisy[look.query] = values
            if self.notes.wanted:
                _, first_cells = np.unique(detail.groups(look.query), return_index=True)
                places = np.repeat(level.edges[nodes], first_cells.size)
                keys = self.people.keys_at(places, np.tile(first_cells, nodes.size))
                self.notes.take(look.name, self.layout.to_tree(keys), values)
        return detail.estimate(noisy, {look.query: look.variance for look in looks})


def _parts_of(work: Integers) -> list[slice]:
    """Runs of areas whose work together is about one part's."""
    if work.size == 0:
        return []
    turns = (np.cumsum(work) - 1) // VALUES_AT_ONCE
    firsts = np.flatnonzero(np.concatenate([[True], turns[1:] != turns[:-1]]))
    return [slice(int(first), int(last)) for first, last in pairwise([*firsts, work.size])]


def _split_by_groups(
    whole: Integers, fractions: NDArray[np.float64], totals: Integers, groups: Integers, source: EntropySource
) -> Integers:
    """One area's detail with a given sum for each group of cells: cells take the place of children."""
    from sudare.kernels.tables.margins import split_cells

    order = np.argsort(groups, kind="stable")
    edges = np.searchsorted(groups[order], np.arange(totals.size + 1))
    split = np.empty((order.size, 1), dtype=np.int64)
    words = source.words(totals.size).reshape(-1, 1)
    split_cells(whole[0, order, None], fractions[0, order, None], totals[:, None], edges, words, split)
    refined = np.empty_like(whole)
    refined[0, order] = split[:, 0]
    return refined


def _fit(
    whole: Integers,
    fractions: NDArray[np.float64],
    refined: Integers,
    edges: Integers,
    exact: Integers,
    groups: Integers,
) -> Integers:
    """Children whose cells add up to the parent's, and in each group of cells to the child's exact number."""
    from sudare.kernels.tables.margins import fit_margins

    split = np.zeros_like(whole)
    estimates = whole + fractions
    cells_of = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    for parent, (first, last) in enumerate(pairwise(edges.tolist())):
        for group, cells in enumerate(cells_of):
            # Rows and columns without people are left out: they are 0, and would only slow the fit down.
            rows = first + np.flatnonzero(exact[first:last, group])
            columns = cells[refined[parent, cells] > 0]
            if rows.size and columns.size:
                fitted = np.empty((rows.size, columns.size), dtype=np.int64)
                block = np.ascontiguousarray(estimates[np.ix_(rows, columns)])
                fit_margins(block, exact[rows, group], refined[parent, columns], ROUNDS, fitted)
                split[np.ix_(rows, columns)] = fitted
    return split


def _variance(measurement: Measurement) -> float:
    """Of the noise; of Gaussian noise it is a little less than this where sigma is small."""
    if isinstance(measurement, LaplaceMeasurement):
        rate = 1 / float(measurement.scale)
        return max(2 * exp(-rate) / expm1(-rate) ** 2, MIN_VARIANCE)
    return max(float(cast("GaussianMeasurement", measurement).sigma_squared), MIN_VARIANCE)


def _check(call: PlannedCall) -> None:
    settings = call.settings
    area = read_hierarchy(settings.get("hierarchy"), call.domain, "topdown")
    detail = Detail.beside(area, call.domain)
    read_names(area, detail, "topdown")
    read_size(area, detail, "topdown")
    asked = read_queries(settings.get("queries"), detail)
    read_invariants(settings.get("invariants", ()), area, detail)
    read_weights(settings.get("level_weights"), "level_weights", [level.name for level in area.levels])
    read_weights(settings.get("query_weights"), "query_weights", [" x ".join(query) or "total" for query in asked])


TOPDOWN = Mechanism(
    name="topdown",
    function=topdown,
    words=Words("top-down", "トップダウン（top-down）"),
    check=_check,
)
