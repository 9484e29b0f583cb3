"""Each model answers as its definition does, and what it claims about coarser tables is true."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import InputError, ParameterError
from sudare.microdata.grouping import Grouped, group, histogram
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
    KMap,
    Model,
    PopulationUniqueness,
    Presence,
    RecursiveDiversity,
    estimated_k_map,
    measure,
    no_attack,
)
from sudare.microdata.records import CodedColumn, Records
from sudare.microdata.uniqueness import population_uniqueness
from tests.unit.microdata.naive_models import naive_holds

TREE = Generalization.of_paths(
    "ill", [("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "y", "*")]
)

MODELS: list[Model] = [
    KAnonymity(2),
    KAnonymity(5),
    DistinctDiversity("ill", 2),
    DistinctDiversity("ill", 3),
    EntropyDiversity("ill", 2),
    EntropyDiversity("ill", 2.5),
    EntropyDiversity("ill", 3),
    EntropyDiversity("ill", 2, estimator="grassberger"),
    EntropyDiversity("ill", 3.5, estimator="grassberger"),
    RecursiveDiversity("ill", 2, 2),
    RecursiveDiversity("ill", 1.5, 3),
    AlphaAnonymity("ill", 0.5, 2),
    AlphaAnonymity("ill", 0.34, 3),
    BetaLikeness("ill", 0.5),
    BetaLikeness("ill", 2, enhanced=True),
    DeltaDisclosure("ill", 1),
    DeltaDisclosure("ill", 1, absent=False),
    Closeness("ill", 0.2),
    Closeness("ill", 0.25, order=True),
    Closeness("ill", 0.3, order=["e", "a", "c", "b", "d", "f"]),
    Closeness("ill", 0.25, hierarchy=TREE),
    Closeness("ill", 0.5, hierarchy=TREE),
]

ROWS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abcde")), min_size=1, max_size=40)


def grouped_of(rows: list[tuple[int, str]]) -> Grouped:
    column = CodedColumn.of("ill", [value for _, value in rows])
    classes = group([np.array([code for code, _ in rows], dtype=np.int32)])
    return Grouped((0,), classes.firsts, classes.sizes, classes.sizes, {"ill": histogram(classes, column)})


def values_of_classes(rows: list[tuple[int, str]]) -> list[list[str]]:
    classes: dict[int, list[str]] = {}
    for code, value in rows:
        classes.setdefault(code, []).append(value)
    return list(classes.values())


def name_of(model: Model) -> str:
    return model.describe().split(":")[0] + (" (estimated)" if "estimate " in model.describe() else "")


@pytest.mark.parametrize("model", MODELS, ids=name_of)
@settings(max_examples=30)
@given(rows=ROWS)
def test_model_is_its_definition(model: Model, rows: list[tuple[int, str]]) -> None:
    table = [value for _, value in rows]
    expected = [naive_holds(model, values, table) for values in values_of_classes(rows)]
    grouped = grouped_of(rows)
    assert model.holds(grouped).tolist() == expected
    assert not (model.holds(grouped) & ~model.needed(grouped)).any()


@pytest.mark.parametrize("model", [model for model in MODELS if model.is_monotonic], ids=name_of)
@settings(max_examples=40)
@given(rows=ROWS, merged=st.tuples(*[st.integers(0, 2)] * 5))
def test_a_coarser_table_keeps_a_monotonic_model(
    model: Model, rows: list[tuple[int, str]], merged: tuple[int, ...]
) -> None:
    if model.holds(grouped_of(rows)).all():
        assert model.holds(grouped_of([(merged[code], value) for code, value in rows])).all()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
@settings(max_examples=30)
@given(rows=ROWS, merged=st.tuples(*[st.integers(0, 2)] * 5))
def test_what_is_needed_is_needed_of_every_part(
    model: Model, rows: list[tuple[int, str]], merged: tuple[int, ...]
) -> None:
    """A row whose coarse class misses what is needed is in no fine class that holds; for some models that is all they ask."""
    finer, coarser = grouped_of(rows), grouped_of([(merged[code], value) for code, value in rows])
    fine = group([np.array([code for code, _ in rows], dtype=np.int32)]).of_row
    coarse = group([np.array([merged[code] for code, _ in rows], dtype=np.int32)]).of_row
    assert not (model.holds(finer)[fine] & ~model.needed(coarser)[coarse]).any()
    if model.is_monotonic_with_suppression:
        assert not (model.holds(finer)[fine] & ~model.holds(coarser)[coarse]).any()


def test_entropy_is_not_monotonic_with_suppression() -> None:
    """The control of the test above: a class that fails may have a part that holds."""
    rows = [(0, "a"), (0, "b"), (1, "a"), (1, "a"), (1, "a"), (1, "a")]
    model = EntropyDiversity("ill", 2)
    assert model.holds(grouped_of(rows)).tolist() == [True, False]
    assert model.holds(grouped_of([(0, value) for _, value in rows])).tolist() == [False]


def test_limits_are_met_exactly() -> None:
    """0.1 is one tenth, and what lies on the limit holds."""
    rows = [(0, "a")] + [(0, "b")] * 9
    assert AlphaAnonymity("ill", 0.9, 2).holds(grouped_of(rows)).all()
    assert not AlphaAnonymity("ill", 0.89999999999, 2).holds(grouped_of(rows)).any()
    equal = [(0, value) for value in "abc"] * 7
    assert EntropyDiversity("ill", 3).holds(grouped_of(equal)).all()
    assert not EntropyDiversity("ill", 3.0000000001).holds(grouped_of(equal)).any()
    # Counts 4, 1, 1, 1, 1 against a power: 8^8 = 4^4 x 16^... is compared in whole numbers.
    skewed = [(0, "a")] * 4 + [(0, value) for value in "bcde"]
    assert EntropyDiversity("ill", 4).holds(grouped_of(skewed)).all()  # entropy is 2 bits exactly


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: KAnonymity(1), "k"),
        (lambda: KAnonymity(2.5), "k"),  # type: ignore[arg-type]
        (lambda: KMap(0), "k"),
        (lambda: DistinctDiversity("ill", 1), "l"),
        (lambda: EntropyDiversity("ill", 1), "l"),
        (lambda: RecursiveDiversity("ill", 0, 2), "c"),
        (lambda: Closeness("ill", 1.5), "t"),
        (lambda: Closeness("ill", 0.5, order=True, hierarchy=TREE), "order"),
        (lambda: AlphaAnonymity("ill", 0, 2), "alpha"),
        (lambda: BetaLikeness("ill", 0), "beta"),
        (lambda: DeltaDisclosure("ill", -1), "delta"),
        (lambda: Presence(0.5, 0.4), "largest"),
        (lambda: EntropyDiversity("ill", 2, estimator="other"), "estimator"),
        (lambda: PopulationUniqueness(1.5, 100), "limit"),
        (lambda: PopulationUniqueness(0.5, 0), "population"),
        (lambda: PopulationUniqueness(0.5, 10, estimator="slide negative binomial"), "estimator"),
        (lambda: no_attack(Game(gain=1, cost=2)), "gain"),
        (lambda: no_attack(Game(gain=1, cost=0)), "cost"),
        (lambda: no_attack(Game(gain=1, cost=1, loss=-1)), "loss"),
        (lambda: no_attack(Game(gain=1, cost=1, attacker="other")), "attacker"),
        (lambda: estimated_k_map(5, 0, 0.1), "fraction"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], Model], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.parameter == parameter


def test_an_order_must_list_every_value() -> None:
    with pytest.raises(InputError, match="leaves out a value"):
        Closeness("ill", 0.1, order=["a"]).holds(grouped_of([(0, "a"), (0, "b")]))
    with pytest.raises(InputError, match="leaves out a value"):
        Closeness("ill", 0.1, hierarchy=TREE).holds(grouped_of([(0, "a"), (0, "z")]))


@pytest.mark.parametrize("model", [*MODELS, KMap(3), Presence(0.1, 0.5), PopulationUniqueness(0.1, 999)], ids=name_of)
def test_models_are_told_in_both_languages(model: Model) -> None:
    english, japanese = model.describe(), model.describe("ja")
    assert english.isascii()
    assert not japanese.isascii()


def test_presence_judges_classes_without_published_rows() -> None:
    sizes, population = np.array([1, 0, 3]), np.array([10, 10, 10])
    grouped = Grouped((0,), np.arange(3), sizes, population)
    assert Presence(0.1, 0.2).holds(grouped).tolist() == [True, False, False]
    assert Presence(0.1, 0.3, absent=False).holds(grouped).tolist() == [True, True, True]
    assert KMap(11).holds(grouped).tolist() == [False, True, False]


def test_estimated_k_map_asks_for_what_a_small_class_would_hardly_have() -> None:
    k, fraction, error = 20, 0.2, 0.05
    needed = estimated_k_map(k, fraction, error).k
    mean = k * fraction
    below = sum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(needed))
    assert below >= 1 - error > below - math.exp(-mean) * mean ** (needed - 1) / math.factorial(needed - 1)


@given(rows=ROWS)
def test_measured_values_are_what_just_holds(rows: list[tuple[int, str]]) -> None:
    records = Records.of_columns({"q": [code for code, _ in rows], "ill": [value for _, value in rows]})
    found, grouped = measure(records, ["q"], "ill"), grouped_of(rows)

    def holds(model: Model) -> bool:
        return bool(model.holds(grouped).all())

    if found.k >= 2:
        assert holds(KAnonymity(found.k))
    assert not holds(KAnonymity(found.k + 1))
    if found.distinct_l >= 2:
        assert holds(DistinctDiversity("ill", found.distinct_l))
        assert found.recursive_c is not None
        assert holds(RecursiveDiversity("ill", found.recursive_c + 0.001, found.distinct_l))
        assert not holds(RecursiveDiversity("ill", found.recursive_c - 0.001, found.distinct_l))
    assert not holds(DistinctDiversity("ill", found.distinct_l + 1))
    assert holds(Closeness("ill", min(1.0, found.equal_t + 1e-6)))
    assert holds(Closeness("ill", min(1.0, found.ordered_t + 1e-6), order=True))
    assert holds(DeltaDisclosure("ill", found.delta + 0.001, absent=False))
    assert holds(BetaLikeness("ill", max(found.basic_beta, 0) + 0.001))
    if found.equal_t > 0.001:
        assert not holds(Closeness("ill", found.equal_t - 0.001))
    if found.basic_beta > 0.001:
        assert not holds(BetaLikeness("ill", found.basic_beta - 0.0005))


def test_an_empty_text_in_an_order_stands_for_missing_values() -> None:
    ill = CodedColumn.of("ill", ["a", "", None, "b"])
    classes = group([np.array([0, 0, 1, 1], dtype=np.int32)])
    grouped = Grouped((0,), classes.firsts, classes.sizes, classes.sizes, {"ill": histogram(classes, ill)})
    # The scale is missing, a, b; half of each class is moved by one step, a quarter by another.
    assert Closeness("ill", 0, order=["", "a", "b"]).distances(grouped).tolist() == pytest.approx([0.125, 0.125])
    with pytest.raises(InputError, match="leaves out a value"):
        Closeness("ill", 0, order=["a", "b"]).distances(grouped)


def test_an_estimate_of_the_entropy_is_decided_where_floats_cannot() -> None:
    """A limit that differs from the estimate in the 14th digit only, on both sides of it."""
    rows = [(0, "a")] * 8 + [(0, "b"), (0, "c")]
    # 2 (1 + 1/3 + 1/5 + 1/7 + 1/9) less 8 x 2 (1 + 1/3 + 1/5 + 1/7) / 10
    odd = [Fraction(1, number) for number in (1, 3, 5, 7, 9)]
    estimate = 2 * sum(odd) - Fraction(8, 5) * sum(odd[:4])
    exactly = Decimal(estimate.numerator) / Decimal(estimate.denominator)
    for nudge, holds in ((Decimal("-1e-14"), True), (Decimal("1e-14"), False)):
        limit = Fraction((exactly + nudge).exp()).limit_denominator(10**24)
        model = EntropyDiversity("ill", limit, estimator="grassberger")
        assert model.holds(grouped_of(rows)).tolist() == [holds]


def test_an_estimate_needs_as_many_values_as_are_asked_for() -> None:
    """Two records with two values are estimated to be as diverse as seven; they are not."""
    two = grouped_of([(0, "a"), (0, "b")])
    assert not EntropyDiversity("ill", 3, estimator="grassberger").holds(two).any()
    assert EntropyDiversity("ill", 2, estimator="grassberger").holds(two).all()
    assert not EntropyDiversity("ill", 2, estimator="grassberger").is_monotonic


def test_a_game_asks_for_classes_that_are_not_worth_an_attack() -> None:
    for gain, cost in ((120, 20), (121, 20), (0.3, 0.1), (2, 2)):
        game = Game(gain, cost)
        k = no_attack(game).k
        assert game.gain / k < game.cost <= game.gain / (k - 1)
    assert isinstance(no_attack(Game(5, 1, attacker="journalist")), KMap)


def sized(sizes: list[int]) -> Grouped:
    counts = np.array(sizes, dtype=np.int64)
    return Grouped((0,), np.arange(counts.size), counts, counts)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.sampled_from([0, 0.001, 0.01, 0.05, 0.2, 1]))
def test_records_that_are_alone_go_until_the_estimate_is_within_the_limit(sizes: list[int], limit: float) -> None:
    model = PopulationUniqueness(limit, 5_000)
    kept = model.holds(sized(sizes))
    gone = [size for size, stays in zip(sizes, kept.tolist(), strict=True) if not stays]
    assert set(gone) <= {1}

    def estimate(count: int) -> float:
        left = [1] * count + [size for size in sizes if size > 1]
        return population_uniqueness(left, sum(left) / 5_000) if left else 0.0

    alone = sizes.count(1) - len(gone)
    assert estimate(alone) <= limit
    if gone:
        assert estimate(alone + 1) > limit
    # What is published holds as it stands.
    assert model.holds(sized([size for size, stays in zip(sizes, kept.tolist(), strict=True) if stays])).all()


def test_a_population_is_not_smaller_than_the_table() -> None:
    with pytest.raises(InputError, match="fewer people than the table"):
        PopulationUniqueness(0.1, 5).holds(sized([3, 3]))
