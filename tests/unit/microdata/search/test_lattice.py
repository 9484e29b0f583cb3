"""The optimal choice of levels is the one that brute force finds, for every model, metric and limit of suppression."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.microdata.grouping import Tuples
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import (
    AlphaAnonymity,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    Game,
    KAnonymity,
    Model,
    PopulationUniqueness,
    Presence,
    RecursiveDiversity,
)
from sudare.microdata.records import CodedColumn
from sudare.microdata.search import lattice
from sudare.microdata.search.checking import Checker
from sudare.microdata.search.heuristic import find_good
from sudare.microdata.search.lattice import find_optimal
from sudare.microdata.search.metrics import Metric, without_last_bits
from tests.unit.microdata.naive_models import naive_holds

X = Generalization.of_paths("x", [(str(i), f"<{i // 2}>", "low" if i < 4 else "high", "*") for i in range(6)])
Y = Generalization.of_paths("y", [(str(i), f"<{i // 3}>", "*") for i in range(5)])
Z = Generalization.of_paths("z", [("u", "*"), ("v", "*")])
HIERARCHIES = [X, Y, Z]

MODELS: list[list[Model]] = [
    [KAnonymity(3)],
    [KAnonymity(2), DistinctDiversity("ill", 2)],
    [EntropyDiversity("ill", 1.8)],
    [EntropyDiversity("ill", 1.8, estimator="grassberger")],
    [RecursiveDiversity("ill", 2, 2)],
    [AlphaAnonymity("ill", 0.6, 2)],
    [KAnonymity(2), Closeness("ill", 0.3)],
    [Closeness("ill", 0.3, order=True)],
    [BetaLikeness("ill", 1)],
    [DeltaDisclosure("ill", 1.5, absent=False)],
]
METRICS = [
    Metric("loss"),
    Metric("loss", "rank"),
    Metric("loss", "mean", 0.3),
    Metric("loss", "max", 0.8, weights={"x": 2.0, "y": 0.5}),
    Metric("entropy"),
    Metric("entropy", suppression=False),
    Metric("precision"),
    Metric("height"),
    Metric("discernibility"),
    Metric("discernibility", suppression=False),
    Metric("class size"),
    Metric("payout", game=Game(gain=5, cost=2, benefit=3, loss=10)),
    Metric("payout", game=Game(gain=30, cost=4, benefit=8, loss=1, attacker="journalist")),
]
LIMITS = [Fraction(0), Fraction(1, 5), Fraction(1)]

Row = tuple[int, int, str, str]
ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from("uv"), st.sampled_from("abc")),
    min_size=3,
    max_size=30,
)


def tuples_of(rows: list[Row]) -> Tuples:
    columns = [CodedColumn.of(name, [row[place] for row in rows]) for place, name in enumerate("xyz")]
    return Tuples.of_rows(columns, HIERARCHIES, [CodedColumn.of("ill", [row[3] for row in rows])])


def generalized(rows: list[Row], levels: tuple[int, ...]) -> list[tuple[str, ...]]:
    paths = [{path[0]: path for path in each.paths()} for each in HIERARCHIES]
    return [tuple(paths[place][str(row[place])][level] for place, level in enumerate(levels)) for row in rows]


def naive_cost(rows: list[Row], levels: tuple[int, ...], kept: list[bool], metric: Metric) -> tuple[float, ...]:
    """The cost of a choice of levels, row by row as the metrics are defined."""
    seen = generalized(rows, levels)
    n = len(rows)
    sizes = Counter(seen)
    if metric.name == "discernibility":
        return (
            float(
                sum(sizes[key] if stay or not metric.suppression else n for key, stay in zip(seen, kept, strict=True))
            ),
        )
    if metric.name == "class size":
        return (n / (len({key for key, stay in zip(seen, kept, strict=True) if stay}) + (not all(kept))),)
    if metric.game is not None:
        return (naive_payout(seen, kept, levels, metric.game),)
    g, s = min(1.0, 2 - 2 * metric.balance), min(1.0, 2 * metric.balance)
    columns = []
    for place, level in enumerate(levels):
        hierarchy = HIERARCHIES[place]
        share = Counter(path[level] for path in hierarchy.paths())
        leaves = Counter(str(row[place]) for row in rows)
        groups = Counter(key[place] for key in seen)
        value = 0.0
        if metric.name == "loss":
            for key, stay in zip(seen, kept, strict=True):
                part = share[key[place]] / hierarchy.leaves
                value += part * g if stay else part + s * (1 - part)
            least = g * n / hierarchy.leaves
            value = max(0.0, (value - least) / (n - least))
        elif metric.name == "height":
            value = level
        elif metric.name == "precision":
            value = sum(level / hierarchy.height if stay else 1.0 for stay in kept) / n
        else:
            value = sum(
                math.log2(groups[key[place]] / leaves[str(row[place])]) for key, row in zip(seen, rows, strict=True)
            )
            gone = Counter(key[place] for key, stay in zip(seen, kept, strict=True) if not stay)
            if metric.suppression:
                value += sum(count * math.log2(sum(gone.values()) / count) for count in gone.values())
        columns.append(value * (metric.weights or {}).get(hierarchy.name, 1.0))
    how = metric.aggregate or {"loss": "geometric", "precision": "mean"}.get(metric.name, "sum")
    if how == "rank":
        return tuple(sorted(columns, reverse=True))
    if how == "geometric":
        return (math.prod(1 + value for value in columns) ** (1 / len(columns)) - 1,)
    if how == "mean":
        return (sum(columns) / len(columns),)
    return (sum(columns) if how == "sum" else max(columns),)


def naive_payout(seen: list[tuple[str, ...]], kept: list[bool], levels: tuple[int, ...], game: Game) -> float:
    """What the publisher does without: of each record the benefit, less its payout as Wan et al. define it."""
    sizes = Counter(seen)
    shares = [Counter(path[level] for path in h.paths()) for h, level in zip(HIERARCHIES, levels, strict=True)]
    whole = math.log(math.prod(h.leaves for h in HIERARCHIES))
    total = 0.0
    for key, stays in zip(seen, kept, strict=True):
        lost = sum(math.log(share[value]) for share, value in zip(shares, key, strict=True)) / whole
        chance = 1 / sizes[key]
        payout = float(game.benefit) * (1 - lost)
        if game.gain * chance > game.cost:
            payout -= float(game.loss) * chance
        total += float(game.benefit) - (payout if stays else 0.0)
    return total


def brute_force(
    rows: list[Row], models: list[Model], metric: Metric, limit: Fraction
) -> dict[tuple[int, ...], tuple[float, ...]]:
    """The cost of every choice of levels that can be published."""
    table = [row[3] for row in rows]
    found = {}
    for levels in itertools.product(*(range(each.height + 1) for each in HIERARCHIES)):
        seen = generalized(rows, levels)
        classes: dict[tuple[str, ...], list[str]] = {}
        for key, row in zip(seen, rows, strict=True):
            classes.setdefault(key, []).append(row[3])
        good = {key: all(naive_holds(model, values, table) for model in models) for key, values in classes.items()}
        kept = [good[key] for key in seen]
        if kept.count(False) <= limit * len(rows):
            found[levels] = tuple(without_last_bits(np.array(naive_cost(rows, levels, kept, metric))).tolist())
    return found


def close(left: tuple[float, ...], right: tuple[float, ...]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("models", MODELS, ids=lambda models: "+".join(m.describe().split(":")[0] for m in models))
@settings(max_examples=15)
@given(rows=ROWS, metric=st.sampled_from(METRICS), limit=st.sampled_from(LIMITS))
def test_optimal_equals_brute_force(models: list[Model], rows: list[Row], metric: Metric, limit: Fraction) -> None:
    costs = brute_force(rows, models, metric, limit)
    found = find_optimal(Checker(tuples_of(rows), models, metric, limit))
    good = find_good(Checker(tuples_of(rows), models, metric, limit), 60.0)
    assert found.is_optimal
    assert good.is_optimal
    if not costs:
        assert found.levels is None
        assert good.levels is None
        return
    assert found.levels is not None
    best = min(costs.values())
    assert close(found.cost, best)
    assert close(costs[found.levels], best)
    assert close(good.cost, best)
    ties = [levels for levels, cost in costs.items() if close(cost, best)]
    assert found.levels == min(ties, key=lambda levels: (sum(levels), levels))
    assert found.gap == 0.0


@settings(max_examples=40)
@given(rows=ROWS, metric=st.sampled_from(METRICS), checks=st.integers(0, 12))
def test_a_stopped_search_states_a_true_bound(rows: list[Row], metric: Metric, checks: int) -> None:
    """Whenever the time is over, nothing costs less than the bound."""
    models: list[Model] = [KAnonymity(2), Closeness("ill", 0.4)]
    best = min(brute_force(rows, models, metric, Fraction(1, 3)).values(), default=None)

    for search in (find_optimal, find_good):
        checker = Checker(tuples_of(rows), models, metric, Fraction(1, 3))
        clock = iter([*[0.0] * (checks + 1), *[1e9] * 10_000])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("time.monotonic", lambda clock=clock: next(clock))
            found = search(checker, 1.0)
        if best is None:
            assert found.levels is None
        else:
            assert found.bound <= tuple(value + 1e-9 for value in best)
            assert found.cost[0] >= best[0] - 1e-9
            assert found.gap >= 0
            assert found.is_optimal <= close(found.cost, best)


@given(rows=ROWS, published=st.lists(st.booleans(), min_size=30, max_size=30))
@settings(max_examples=40)
def test_presence_with_a_population(rows: list[Row], published: list[bool]) -> None:
    mask = np.array(published[: len(rows)])
    columns = [CodedColumn.of(name, [row[place] for row in rows]) for place, name in enumerate("xyz")]
    tuples = Tuples.of_rows(columns, HIERARCHIES, [], mask)
    model = Presence(0.2, 0.8)
    allowed = []
    for levels in itertools.product(*(range(each.height + 1) for each in HIERARCHIES)):
        seen = generalized(rows, levels)
        everybody = Counter(seen)
        inside = Counter(key for key, is_in in zip(seen, mask, strict=True) if is_in)
        if all(Fraction(1, 5) <= Fraction(inside[key], count) <= Fraction(4, 5) for key, count in everybody.items()):
            allowed.append(sum(levels))
    found = find_optimal(Checker(tuples, [model], Metric("height")))
    assert (found.levels is None) == (not allowed)
    if allowed:
        assert found.cost[0] == min(allowed)


@given(
    rows=ROWS,
    published=st.lists(st.booleans(), min_size=30, max_size=30),
    models=st.sampled_from(
        [
            [KAnonymity(3)],
            [KAnonymity(2), Closeness("ill", 0.3)],
            [Presence(0.1, 0.8)],
            [PopulationUniqueness(0.02, 300), Closeness("ill", 0.6)],
        ]
    ),
    limit=st.sampled_from([Fraction(1, 5), Fraction(1, 2), Fraction(1)]),
    is_starred=st.booleans(),
)
@settings(max_examples=40)
def test_conditions_on_what_is_suppressed_lose_no_choice(
    rows: list[Row], published: list[bool], models: list[Model], limit: Fraction, is_starred: bool
) -> None:
    """Whether suppressed rows are a class, or absent, is neither inherited by finer choices nor by coarser ones."""
    mask = np.array(published[: len(rows)])
    columns = [CodedColumn.of(name, [row[place] for row in rows]) for place, name in enumerate("xyz")]
    tuples = Tuples.of_rows(columns, HIERARCHIES, [CodedColumn.of("ill", [row[3] for row in rows])], mask)

    def checker() -> Checker:
        return Checker(tuples, models, Metric("loss"), limit, publish_suppressed=is_starred, absent_if_suppressed=True)

    looked = [
        checker().check(levels) for levels in itertools.product(*(range(each.height + 1) for each in HIERARCHIES))
    ]
    best = min((found.cost for found in looked if found.is_allowed), default=None)
    for search in (find_optimal, find_good):
        found = search(checker())
        assert found.is_optimal
        assert (found.levels is None) == (best is None)
        assert best is None or close(found.cost, best)


def test_a_wrong_claim_of_a_model_would_be_found() -> None:
    """The control: a model that claims too much loses choices, and brute force shows it."""

    class Claims(EntropyDiversity):
        is_monotonic_with_suppression = True

    rows: list[Row] = [(0, 0, "u", "a"), (0, 0, "u", "b"), *[(1, 1, "v", "a")] * 6, *[(5, 4, "v", "b")] * 3] * 2
    metric, limit = Metric("loss"), Fraction(9, 10)
    honest = find_optimal(Checker(tuples_of(rows), [EntropyDiversity("ill", 2)], metric, limit))
    claimed = find_optimal(Checker(tuples_of(rows), [Claims("ill", 2)], metric, limit))
    assert honest.levels is not None
    assert claimed.levels is None or honest.cost < claimed.cost


def test_too_many_choices_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MAX_CHOICES", 10)
    with pytest.raises(ParameterError, match="at most 10 choices"):
        find_optimal(Checker(tuples_of([(0, 0, "u", "a")] * 3), [KAnonymity(2)], Metric("loss")))


def test_a_large_lattice_gets_a_good_choice_with_a_gap() -> None:
    deep = [
        Generalization.of_paths(f"c{n}", [(*(f"{level}:{i >> level}" for level in range(6)), "*") for i in range(64)])
        for n in range(9)
    ]
    rng = np.random.default_rng(5)
    columns = [CodedColumn.of(each.name, [f"0:{value}" for value in rng.integers(0, 64, 400)]) for each in deep]
    checker = Checker(Tuples.of_rows(columns, deep), [KAnonymity(3)], Metric("loss"), Fraction(1, 10))
    found = find_good(checker, 0.5)
    assert found.choices == 7**9
    assert found.levels is not None
    assert found.bound <= found.cost
    assert found.gap == pytest.approx(found.cost[0] - found.bound[0]) or found.is_optimal
