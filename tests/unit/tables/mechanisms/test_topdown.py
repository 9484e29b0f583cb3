"""Top-down: whole, non-negative, consistent tables of every level; exact invariants; estimates that solve dense equations."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Bins, Budget, Category, CountTable, Domain, Hierarchy, Mesh, Positions, ResearchEntropy, Unit
from sudare.errors import GuaranteeError, ParameterError, SudareError
from sudare.kernels.tables.margins import fit_margins, split_cells
from sudare.noise import noise_for
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement
from sudare.tables.mechanisms.detail import Detail
from sudare.tables.mechanisms.topdown import table_at_level, topdown
from tests.scripted import ScriptedEntropy

AREA = Hierarchy.from_levels(
    "ward",
    {
        "prefecture": [1, 1, 1, 1, 2, 2, 3],
        "city": ["a", "a", "b", "b", "c", "d", "e"],
        "ward": ["a1", "a2", "b1", "b2", "c1", "d1", "e1"],
    },
)
SEX, AGE = Category("sex", ("f", "m")), Bins("age", (0, 15, 65, 120))
DOMAIN = Domain((SEX, AREA, AGE))  # the hierarchy stands between the others
TABLES = st.lists(st.sampled_from([0, 0, 0, 1, 2, 40, 1000]), min_size=42, max_size=42).map(
    lambda counts: CountTable.from_dense(np.array(counts).reshape(2, 7, 3), DOMAIN)
)
INVARIANTS: list[Any] = [
    (),
    ((0, ()),),
    (("prefecture", ()),),
    (("city", ("sex",)),),
    (("ward", ()), ("prefecture", ("age",)), ("all", ("sex", "age"))),
    (("city", ("age", "sex")),),
    ((-1, ("age",)),),
]
BUDGETS = [Budget(epsilon=1), Budget(epsilon=0.01), Budget(epsilon=1, delta=1e-6), Budget(rho=0.1)]


def noise_of(budget: Budget) -> Any:
    return "laplace" if budget.currency == "epsilon" else "gaussian"


def people(seed: int, most: int = 60) -> CountTable:
    return CountTable.from_dense(np.random.default_rng(seed).integers(0, most, size=DOMAIN.shape), DOMAIN)


@settings(max_examples=150)
@given(
    table=TABLES,
    seed=st.integers(0, 10**6),
    budget=st.sampled_from(BUDGETS),
    invariants=st.sampled_from(INVARIANTS),
)
def test_whole_consistent_and_exact_where_promised(table: Any, seed: int, budget: Any, invariants: Any) -> None:
    published = topdown(table, budget, noise=noise_of(budget), invariants=invariants, entropy=ResearchEntropy(seed))
    assert published.table.domain == DOMAIN
    assert (published.table.counts > 0).all()
    for level, query in invariants:
        for depth in range(AREA.depth_of(level, "test") + 1):  # exact above too
            truth, shown = (table_at_level(t, depth, query) for t in (table, published))
            assert shown == truth
    assert bool(invariants) == bool(published.event.invariants)
    assert published.event.unit.adjacency == ("replace" if invariants else "add-remove")


def test_levels_add_up_and_queries_agree() -> None:
    published = topdown(people(1), Budget(epsilon=0.5), entropy=ResearchEntropy(5))
    detail = ("sex", "age")
    for upper, lower in pairwise(range(len(AREA.levels))):
        above, below = (table_at_level(published, depth, detail).to_dense() for depth in (upper, lower))
        inner = np.searchsorted(AREA.levels[lower].edges, AREA.levels[upper].edges)
        for node, (first, last) in enumerate(pairwise(inner)):
            assert np.array_equal(above[:, node], below[:, first:last].sum(axis=1))
    for depth in range(len(AREA.levels)):
        cells = table_at_level(published, depth, detail).to_dense()
        assert np.array_equal(table_at_level(published, depth, ("sex",)).to_dense(), cells.sum(axis=2))
        assert np.array_equal(table_at_level(published, depth).to_dense(), cells.sum(axis=(0, 2)))
    assert table_at_level(published, -1, ("age", "sex")) == published.table


@pytest.mark.parametrize("invariants", INVARIANTS, ids=str)
def test_with_hardly_any_noise_the_table_comes_back(invariants: Any) -> None:
    """16 looks of scale 1/50 and less: the chance of any noise at all is below exp(-40)."""
    table = people(2)
    published = topdown(table, Budget(epsilon=1).times(1600), invariants=invariants)
    assert published.table == table


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("invariants", INVARIANTS[:4], ids=str)
def test_the_event_costs_the_budget(budget: Budget, invariants: Any) -> None:
    event = topdown(
        people(3), budget, noise=noise_of(budget), invariants=invariants, unit=Unit("household", cells=2)
    ).event
    assert (event.cost, event.mechanism, event.is_private, event.unit.cells) == (budget, "topdown", True, 2)
    if budget.currency == "rho":
        assert sum(m.rho for m in event.measurements) == budget.rho
    if budget.currency == "epsilon":
        assert sum(m.epsilon or 0 for m in event.measurements) == budget.epsilon


def test_what_is_measured_and_how_it_is_weighted() -> None:
    published = topdown(
        people(4),
        Budget(epsilon=1),
        level_weights=(1, 2, 3, 4),
        queries=[("sex", "age"), (), ("age",)],
        query_weights=(Fraction(1, 2), 0.25, 0.25),
        keep_measurements=True,
    )
    assert published.measurements is not None
    shares = {noisy.name: noisy.measurement.epsilon for noisy in published.measurements}
    assert list(shares) == [
        f"{query}{level}"
        for level in ("", " by prefecture", " by city", " by ward")
        for query in ("sex x age", "total", "age")
    ]
    assert shares["sex x age by ward"] == Fraction(4, 10) / 2
    assert shares["age"] == Fraction(1, 10) / 4
    assert sum(e for e in shares.values() if e is not None) == 1
    sizes = [noisy.values.size for noisy in published.measurements]
    assert sizes[:6] == [6, 1, 3, 18, 3, 9]
    cities = published.measurements[8]
    assert [DOMAIN.columns_of(cities.keys[:4])[name].tolist() for name in ("ward", "age")] == [
        ["a1", "a1", "a1", "b1"],
        [0, 15, 65, 0],
    ]


def test_exact_queries_and_what_follows_from_them_are_not_measured() -> None:
    event = topdown(people(5), Budget(epsilon=1), invariants=[("city", ("sex",))], keep_measurements=True)
    assert event.event.invariants == ("sex", "sex by prefecture", "sex by city")
    assert event.measurements is not None
    assert [noisy.name for noisy in event.measurements] == [
        *("age", "sex x age", "age by prefecture", "sex x age by prefecture", "age by city", "sex x age by city"),
        *("total by ward", "sex by ward", "age by ward", "sex x age by ward"),
    ]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_noise_scales_follow_from_the_unit(adjacency: Any) -> None:
    """Areas may hold all rows of a unit; the cells themselves only as many as are allowed in a cell."""
    factor = 1 if adjacency == "add-remove" else 2
    unit = Unit(cells=3, adjacency=adjacency)
    rho = topdown(people(6), Budget(rho=1), noise="gaussian", unit=unit).event
    squares = [m.sigma_squared for m in rho.measurements if isinstance(m, GaussianMeasurement)]
    assert squares == [Fraction(16 * 9 * factor, 2)] * 15 + [Fraction(16 * 3 * factor, 2)]
    pure = topdown(people(6), Budget(epsilon=1), unit=unit).event
    scales = [m.scale for m in pure.measurements if isinstance(m, LaplaceMeasurement)]
    assert scales == [Fraction(16 * 3 * factor)] * 16


def test_seeds_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules["sudare.tables.mechanisms.topdown"], "VALUES_AT_ONCE", 16)
    for invariants in (INVARIANTS[0], INVARIANTS[2]):
        tables = [
            topdown(
                people(7), Budget(epsilon=1), invariants=invariants, entropy=ResearchEntropy(seed), threads=threads
            ).table
            for seed, threads in ((1, 1), (1, 1), (1, 2), (1, 5), (2, 1))
        ]
        assert tables[0] == tables[1] == tables[2] == tables[3] != tables[4]


def test_parts_keep_all_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules["sudare.tables.mechanisms.topdown"], "VALUES_AT_ONCE", 16)
    published = topdown(people(8), Budget(epsilon=1).times(1600), threads=3, keep_measurements=True)
    assert published.measurements is not None
    for noisy, (depth, query) in zip(
        published.measurements,
        [(d, q) for d in range(4) for q in ((), ("sex",), ("age",), ("sex", "age"))],
        strict=True,
    ):
        truth = table_at_level(people(8), depth, query).to_dense().ravel()
        assert sorted(noisy.values.tolist()) == sorted(truth.tolist())
        assert (np.diff(noisy.keys.astype(np.int64)) > 0).all()


def naive_topdown(table: CountTable, event: Any, seed: int) -> np.ndarray:
    """By recursion over areas, for the detail as the only query; noise of a level is drawn for all areas at once."""
    dense = table.to_dense().transpose(1, 0, 2).reshape(7, 6)
    source = ResearchEntropy(seed)
    nodes: list[tuple[int, list[int]]] = []
    for depth, level in enumerate(AREA.levels):
        noise = noise_for(event.measurements[depth])
        inside = [
            [n for n in range(level.nodes) if AREA.levels[depth - 1].nodes_at(level.edges[n]) == parent]
            for parent, _ in nodes
        ]
        listed = [n for family in inside for n in family] if depth else [0]
        if not listed:
            break
        x = noise.draw((len(listed), 6), source)
        z = {n: dense[slice(*level.range_of(n))].sum(axis=0) + x[i] for i, n in enumerate(listed)}
        if depth == 0:
            word = source.words(1).tolist()[0]
            nodes = [(0, nearest(z[0].tolist(), max(0, int(z[0].sum())), word))]
        else:
            words = source.words(6 * len(nodes)).reshape(-1, 6).tolist()
            refined: dict[int, list[int]] = {n: [0] * 6 for n in listed}
            for (_, counts), family, own in zip(nodes, inside, words, strict=True):
                for cell in range(6):
                    if counts[cell]:
                        shares = nearest([int(z[n][cell]) for n in family], counts[cell], own[cell])
                        for n, share in zip(family, shares, strict=True):
                            refined[n][cell] = share
            nodes = [(n, refined[n]) for n in listed]
        nodes = [(n, counts) for n, counts in nodes if any(counts)]
    out = np.zeros((7, 6), dtype=np.int64)
    for n, counts in nodes:
        out[n] = counts
    return out.reshape(7, 2, 3).transpose(1, 0, 2)


def nearest(z: list[int], s: int, word: int) -> list[int]:
    """Lower the level t until what is above it fits, then hand out the rest in turn from a random one."""
    if s == 0:
        return [0] * len(z)
    t = max(z)
    while sum(max(x - (t - 1), 0) for x in z) <= s:
        t -= 1
    active = [i for i, x in enumerate(z) if x >= t]
    rest = s - sum(max(x - t, 0) for x in z)
    lucky = {active[(word + k) % len(active)] for k in range(rest)}
    return [max(x - t, 0) + (i in lucky) for i, x in enumerate(z)]


@given(table=TABLES, seed=st.integers(0, 10**6), epsilon=st.sampled_from([1, 10]))
def test_the_naive_twin(table: CountTable, seed: int, epsilon: int) -> None:
    published = topdown(table, Budget(epsilon=epsilon), queries=[("sex", "age")], entropy=ResearchEntropy(seed))
    assert np.array_equal(published.to_dense(), naive_topdown(table, published.event, seed))


@settings(max_examples=60)
@given(data=st.data())
def test_the_estimate_solves_the_dense_equations(data: st.DataObject) -> None:
    sizes = tuple(data.draw(st.lists(st.integers(1, 4), min_size=0, max_size=3)))
    names = tuple("abc"[: len(sizes)])
    detail = Detail(names, sizes)
    subsets = [tuple(n for i, n in enumerate(names) if k >> i & 1) for k in range(2 ** len(names))]
    queries = [*data.draw(st.lists(st.sampled_from(subsets), unique=True)), names]
    variances = {q: data.draw(st.sampled_from([0.1, 1.0, 3.0, 50.0])) for q in queries}
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    noisy = {q: rng.integers(-50, 1000, size=(2, prod(detail.sizes_of(q)))) for q in dict.fromkeys(queries)}
    whole, fractions = detail.estimate(noisy, variances)
    assert ((fractions >= 0) & (fractions < 1)).all()
    normal, right = np.zeros((detail.cells, detail.cells)), np.zeros((2, detail.cells))
    for query, answer in noisy.items():
        matrix = np.eye(prod(detail.sizes_of(query)))[:, detail.groups(query)]
        assert np.array_equal(detail.answers(np.arange(detail.cells)[None], query)[0], matrix @ np.arange(detail.cells))
        normal += matrix.T @ matrix / variances[query]
        right += answer @ matrix / variances[query]
    assert np.allclose(whole + fractions, np.linalg.solve(normal, right.T).T, atol=1e-7)


def test_an_estimate_of_large_counts_keeps_their_digits() -> None:
    detail = Detail(("sex",), (2,))
    noisy: Any = {(): np.array([[2**61 + 3]]), ("sex",): np.array([[2**60, 2**60]])}
    whole, fractions = detail.estimate(noisy, {(): 1.0, ("sex",): 1.0})
    assert whole.tolist() == [[2**60 + 1, 2**60 + 1]]
    assert np.allclose(fractions, 0, atol=1e-12)


@given(data=st.data(), children=st.integers(1, 7), cells=st.integers(1, 3))
def test_splitting_is_nearest(data: st.DataObject, children: int, cells: int) -> None:
    """No move of a unit from one child to another comes nearer: enough, because the distance is convex."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    spread = data.draw(st.sampled_from([2, 20, 10**6]))
    whole = rng.integers(-spread, spread, size=(children + 2, cells))
    fractions = rng.choice([0.0, 0.25, 0.5, 0.9], size=whole.shape)
    totals = rng.integers(0, 2 * spread, size=(2, cells))
    words = rng.integers(0, 2**64, size=(2, cells), dtype=np.uint64)
    out = np.empty_like(whole)
    edges = np.array([0, children, children + 2])
    split_cells(whole, fractions, totals, edges, words, out)
    assert (out >= 0).all()
    gap = out - whole - fractions
    for parent, (first, last) in enumerate(pairwise(edges)):
        assert np.array_equal(out[first:last].sum(axis=0), totals[parent])
        for cell in range(cells):
            given_up = [gap[i, cell] for i in range(first, last) if out[i, cell] > 0]
            if given_up:
                assert min(gap[first:last, cell]) - max(given_up) + 1 >= -1e-9


def nearest_real(estimates: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """By projecting on the rows and on the columns in turn, with Dykstra's corrections, many times."""
    from sudare.refine import project_on_simplex

    x, p, q = estimates.copy(), np.zeros_like(estimates), np.zeros_like(estimates)
    for _ in range(3000):
        y = np.array([project_on_simplex(row, int(total)) for row, total in zip(x + p, rows, strict=True)])
        p = x + p - y
        x_new = np.array([project_on_simplex(c, int(t)) for c, t in zip((y + q).T, columns, strict=True)]).T
        q = y + q - x_new
        if np.abs(x_new - x).max() < 1e-11 and np.abs(x_new - y).max() < 1e-9:
            return x_new
        x = x_new
    return x


@settings(max_examples=40)
@given(m=st.integers(1, 5), n=st.integers(1, 5), seed=st.integers(0, 10**6), spread=st.sampled_from([0.3, 3, 40]))
def test_fitted_margins_are_exact_and_a_rounding_of_the_nearest_point(m: int, n: int, seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 12, size=(m, n))
    estimates = truth + rng.normal(0, spread, size=(m, n))
    rows, columns = truth.sum(axis=1), truth.sum(axis=0)
    out = np.empty((m, n), dtype=np.int64)
    fit_margins(estimates, rows, columns, 5000, out)
    assert (out >= 0).all()
    assert np.array_equal(out.sum(axis=1), rows)
    assert np.array_equal(out.sum(axis=0), columns)
    assert np.abs(out - nearest_real(estimates, rows, columns)).max() < 1


@given(
    m=st.integers(1, 6),
    n=st.integers(1, 6),
    seed=st.integers(0, 10**6),
    largest=st.sampled_from([1, 3, 1000, 2**55]),
    rounds=st.sampled_from([0, 1, 3, 500]),
)
def test_margins_are_exact_whatever_the_floats_are(m: int, n: int, seed: int, largest: int, rounds: int) -> None:
    """Also for estimates that have nothing to do with them, and for too few rounds."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, largest + 1, size=(m, n))
    rows, columns = truth.sum(axis=1), truth.sum(axis=0)
    estimates = rng.choice([0.0, 0.5, -7.25, 1e6, 1e18], size=(m, n)) + (truth if seed % 2 else 0)
    out = np.empty((m, n), dtype=np.int64)
    fit_margins(estimates, rows, columns, rounds, out)
    assert (out >= 0).all()
    assert np.array_equal(out.sum(axis=1), rows)
    assert np.array_equal(out.sum(axis=0), columns)


def test_augmenting_paths_complete_a_rounding_that_greed_does_not() -> None:
    """Raising the largest fractions first leaves a row and a column whose common entry is whole already."""
    tenths = np.array([[3, 0, 7, 0], [0, 3, 3, 4], [4, 0, 0, 6], [3, 7, 0, 0]])
    lacks_row, lacks_column = np.ones(4), np.ones(4)
    for position in np.argsort(-tenths.ravel(), kind="stable"):
        i, j = divmod(int(position), 4)
        if tenths[i, j] and lacks_row[i] and lacks_column[j]:
            lacks_row[i] = lacks_column[j] = 0
    assert lacks_row.any()
    out = np.empty((4, 4), dtype=np.int64)
    fit_margins(tenths / 10 + 5, np.full(4, 21), np.full(4, 21), 500, out)
    assert ((out == 5) | ((out == 6) & (tenths > 0))).all()
    assert (out.sum(axis=0) == 21).all()
    assert (out.sum(axis=1) == 21).all()


@pytest.mark.parametrize("invariants", INVARIANTS, ids=str)
def test_huge_counts(invariants: Any) -> None:
    counts = np.zeros(DOMAIN.shape, dtype=np.int64)
    counts[1, 2, 0], counts[0, 6, 2], counts[1, 3, 1] = 2**60, 2**60 + 12345, 77
    table = CountTable.from_dense(counts, DOMAIN)
    published = topdown(table, Budget(epsilon=1), invariants=invariants)
    assert np.abs(published.to_dense() - counts).max() < 5000
    for level, query in invariants:
        assert table_at_level(published, level, query) == table_at_level(table, level, query)
    for _ in range(10):
        assert topdown(CountTable.from_cells(DOMAIN, [5], [2**62]), Budget(epsilon=0.002)).table.total <= 2**62


def test_an_empty_table() -> None:
    empty = CountTable.from_cells(DOMAIN, [], [])
    assert topdown(empty, Budget(epsilon=15)).table.total < 100
    for invariants in INVARIANTS[1:]:
        assert topdown(empty, Budget(epsilon=0.1), invariants=invariants).table == empty


def test_nothing_is_drawn_within_an_area_without_people() -> None:
    """The exact total is 0: beyond the root's looks there is nothing to read."""
    source = ScriptedEntropy([2**63] * 11 + [0])
    published = topdown(CountTable.from_cells(DOMAIN, [], []), Budget(epsilon=1), invariants=[(0, ())], entropy=source)
    assert published.table.total == 0
    assert source.read < 40


@pytest.mark.parametrize("others", [(), (SEX,), (Positions("x", 1),), (Mesh("m", "1", 5, 5, 2, 3), SEX)], ids=len)
@pytest.mark.parametrize(
    "area",
    [
        Hierarchy.from_parents("area", {"here": None}),
        Hierarchy.from_parents("area", {"all": None, "a": "all"}),
        Hierarchy.from_parents("area", {"all": None, "a": "all", "b": "all", "c": "b", "d": "c"}),
    ],
    ids=repr,
)
def test_small_hierarchies(area: Hierarchy, others: Any) -> None:
    domain = Domain((*others[:1], area, *others[1:]))
    table = CountTable.from_dense(np.arange(domain.cells).reshape(domain.shape), domain)
    assert topdown(table, Budget(epsilon=1).times(800)).table == table
    rough = topdown(table, Budget(epsilon=0.1), invariants=[(-1, ())] if others and others[0] is not SEX else ())
    assert rough.table.domain == domain


def test_tables_of_levels() -> None:
    table = people(9)
    dense = table.to_dense()
    by_prefecture = table_at_level(table, "prefecture", ("age",))
    assert [attribute.name for attribute in by_prefecture.domain.attributes] == ["ward", "age"]
    assert by_prefecture.domain.attributes[0] == AREA.down_to("prefecture")
    assert np.array_equal(by_prefecture.to_dense()[0], dense[:, :4].sum(axis=(0, 1)))
    assert by_prefecture.to_columns()["ward"].tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert table_at_level(table, 0).to_dense().tolist() == [table.total]
    for level, query in (("county", ()), (4, ()), ("city", "age"), ("city", ("ward",)), ("city", ("age", "age"))):
        with pytest.raises(ParameterError, match="of table_at_level must be"):
            table_at_level(table, level, query)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="a Hierarchy among its attributes"):
        table_at_level(CountTable.from_dense(np.ones(4, dtype=int)), 0)


def test_two_hierarchies() -> None:
    work = Hierarchy.from_parents("work", {"all": None, "x": "all", "y": "all"})
    domain = Domain((AREA, work))
    table = CountTable.from_dense(np.arange(14).reshape(7, 2), domain)
    with pytest.raises(ParameterError, match=r"The 'hierarchy' parameter of topdown must be one of \['ward', 'work'\]"):
        topdown(table, Budget(epsilon=1))
    for name in ("ward", "work"):
        assert topdown(table, Budget(epsilon=1).times(2000), hierarchy=name).table == table
    assert table_at_level(table, 1, hierarchy="work").to_dense().tolist() == [42, 49]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hierarchy": "sex"}, "The 'hierarchy' parameter of topdown must be one of"),
        ({"hierarchy": 5}, "The 'hierarchy' parameter"),
        ({"queries": "sex"}, "The 'queries' parameter"),
        ({"queries": [()]}, "The 'queries' parameter .* belongs in another table"),
        ({"queries": [("sex", "age"), ("age", "sex")]}, "one of them twice"),
        ({"queries": [("sex", "ward")]}, "The 'queries' parameter .* Got 'ward' instead"),
        ({"queries": [5]}, "The 'queries' parameter"),
        ({"queries": ["age"]}, "The 'queries' parameter"),
        ({"level_weights": (1, 2)}, r"The 'level_weights' parameter .* 4 positive numbers"),
        ({"level_weights": (1, 2, 0, 1)}, "Got 0 instead"),
        ({"level_weights": (1, 2, float("nan"), 1)}, "Got nan instead"),
        ({"level_weights": (1, 2, True, 1)}, "Got True instead"),
        ({"query_weights": (1, 2)}, r"The 'query_weights' parameter .* 4 positive numbers"),
        ({"query_weights": "1234"}, "The 'query_weights' parameter"),
        ({"invariants": "total"}, "The 'invariants' parameter"),
        ({"invariants": [()]}, "The 'invariants' parameter"),
        ({"invariants": [("county", ())]}, "The 'invariants' parameter .* one of the levels"),
        ({"invariants": [(True, ())]}, "The 'invariants' parameter"),
        ({"invariants": [("city", "sex")]}, "The 'invariants' parameter"),
        ({"invariants": [("city", ()), ("city", ("sex",))]}, "two for 'city'"),
        ({"invariants": [("city", ("sex",)), ("prefecture", ("age",))]}, "'age by prefecture' and 'sex by city'"),
        ({"invariants": [("ward", ("sex", "age"))]}, "something is left to measure"),
        ({"noise": "pink"}, "The 'noise' parameter"),
        ({"unit": 5}, "The 'unit' parameter"),
        ({"entropy": 5}, "The 'entropy' parameter"),
        ({"threads": 0}, "The 'threads' parameter"),
        ({"keep_measurements": 1}, "The 'keep_measurements' parameter"),
    ],
    ids=str,
)
def test_what_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        topdown(people(10), Budget(epsilon=1), **{"entropy": ScriptedEntropy([]), **arguments})


def test_tables_that_do_not_suit() -> None:
    with pytest.raises(ParameterError, match="a Hierarchy among its attributes"):
        topdown(np.ones((4, 4), dtype=int), Budget(epsilon=1))  # type: ignore[arg-type]
    wide = Domain((AREA, Positions("income", 5000)))
    with pytest.raises(ParameterError, match=r"at most 4096 cells for one area.*Merge"):
        topdown(CountTable.from_cells(wide, [0], [1]), Budget(epsilon=1))
    many = Hierarchy.from_levels("x", {"x": np.arange(2**17)})
    with pytest.raises(ParameterError, match=r"at most 2\*\*28 cells"):
        topdown(CountTable.from_cells(Domain((many, Positions("y", 4096))), [0], [1]), Budget(epsilon=1))


def test_guarantees_that_cannot_be_given_and_scales_out_of_range() -> None:
    with pytest.raises(GuaranteeError, match="delta"):
        topdown(people(11), Budget(epsilon=1), noise="gaussian")
    with pytest.raises(SudareError):
        topdown(people(11), Budget(rho=1))
    with pytest.raises(SudareError):
        topdown(people(11), 1.0)  # type: ignore[arg-type]
    for arguments in ({}, {"level_weights": (1, 1, 1, 10**13)}):
        budget = Budget(epsilon=1) if arguments else Budget(epsilon=1).times(Fraction(1, 10**13))
        with pytest.raises(ParameterError, match=r"number from 0\.001 to"):
            topdown(people(11), budget, entropy=ScriptedEntropy([]), **arguments)  # type: ignore[arg-type]


def test_measurements_are_truth_plus_the_noise_stated() -> None:
    table = people(12)
    published = topdown(table, Budget(epsilon=1), entropy=ResearchEntropy(3), keep_measurements=True)
    assert published.measurements is not None
    source = ResearchEntropy(3)
    for noisy, query in zip(published.measurements, [(), ("sex",), ("age",), ("sex", "age")], strict=False):
        assert isinstance(noisy.measurement, LaplaceMeasurement)
        truth = table_at_level(table, 0, query).to_dense().ravel()
        assert np.array_equal(noisy.values - truth, noise_for(noisy.measurement).draw((1, truth.size), source)[0])
    assert topdown(table, Budget(epsilon=1)).measurements is None
