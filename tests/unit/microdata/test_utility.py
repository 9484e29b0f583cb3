"""Measures of utility: ARX's own numbers on Adult, pyCANON's, and naive twins that look at one record after the other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.microdata.grouping import group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records
from sudare.microdata.utility import (
    Utility,
    aggregated,
    ambiguity,
    average_class_size,
    discernibility,
    discernibility_of_classes,
    factors,
    loss_per_column,
    measure_utility,
    precision_per_column,
    relative_class_size,
)
from tests.unit.microdata.arx_data import adult, adult_hierarchy, adult_names, needs_answers, only_k_anonymous
from tests.unit.microdata.hierarchies.test_hierarchy import trees


def test_missing_and_empty_values_are_one_value() -> None:
    town = Generalization.of_paths("town", [("", "*"), ("b", "*")])
    found = []
    for values in ([None, None, "", "b"], [None, None, None, "b"]):
        people = Records.of_columns({"town": values})
        classes = group([town.generalized(people.column("town"), 1)])
        found.append(measure_utility(people, [(town, 1)], classes, np.zeros(4, dtype=bool)))
    assert found[0] == found[1]


CASES = list(only_k_anonymous())


def of_adult(names: list[str], levels: list[int], k: int) -> tuple[Utility, Any, Any]:
    """The utility of a transformation of Adult, its classes and which of them are suppressed."""
    hierarchies = [adult_hierarchy(name) for name in names]
    columns = [
        each.generalized(adult().column(each.name), level) for each, level in zip(hierarchies, levels, strict=True)
    ]
    classes = group(columns)
    gone = classes.sizes < k
    chosen = list(zip(hierarchies, levels, strict=True))
    return measure_utility(adult(), chosen, classes, gone[classes.of_row]), classes, gone


def arx_measure(metric: str, utility: Utility, names: list[str], levels: list[int]) -> Any:
    """What a metric of ARX is here."""
    if "Entropy" in metric:
        return utility.entropy_of_generalization if metric.endswith("true)") else utility.entropy
    if "Precision" in metric:
        heights = [adult_hierarchy(name).height for name in names]
        ignored = precision_per_column(levels, heights, adult().rows).mean()
        return float(ignored) if metric.endswith("true)") else utility.precision
    if "Loss" in metric:
        losses = list(utility.loss_of_columns.values())
        return list(aggregated(losses, "rank")) if "RANK" in metric else aggregated(losses, "geometric")
    raise AssertionError(metric)


@needs_answers
@pytest.mark.parametrize(
    ("case", "metric", "k", "sensitive", "levels", "loss"),
    [case for case in CASES if "0.33d" not in case[1]],
    ids=lambda value: str(value)[:60],
)
def test_the_losses_of_arx(case: str, metric: str, k: int, sensitive: str | None, levels: list[int], loss: Any) -> None:
    names = adult_names(sensitive)
    utility, _, _ = of_adult(names, levels, k)
    # ARX cuts its losses off after the tenth decimal.
    assert arx_measure(metric, utility, names, levels) == pytest.approx(loss, rel=1e-12, abs=1.01e-10), case


@needs_answers
def test_a_loss_of_arx_with_weights_and_a_balance() -> None:
    """Weights of a column in ARX's test: its number in the file divided by 9. Suppression counts two thirds."""
    ((_, _, k, sensitive, levels, loss),) = [case for case in CASES if "0.33d" in case[1]]
    names = adult_names(sensitive)
    _, classes, gone = of_adult(names, levels, k)
    shares = []
    for name, level in zip(names, levels, strict=True):
        hierarchy = adult_hierarchy(name)
        groups = hierarchy.parents[level][hierarchy.places(adult().column(name))][adult().column(name).codes]
        shares.append((hierarchy.sizes(level) / hierarchy.leaves)[groups[classes.firsts]])
    leaves = [adult_hierarchy(name).leaves for name in names]
    losses = loss_per_column(shares, classes.sizes, gone, leaves, balance=0.33)
    weights = [(adult().names.index(name) + 1) / 9 for name in names]
    assert list(aggregated(losses, "rank", weights)) == pytest.approx(loss, abs=1.01e-10)


@needs_answers
def test_enough_cases_are_compared() -> None:
    assert len(CASES) == 35


@needs_answers
def test_discernibility_and_class_sizes_of_arx() -> None:
    """The optimum of AnonBench for k = 5, whose loss is the sum of squares."""
    levels = [1, 1, 1, 1, 3, 2, 2, 1]
    utility, classes, gone = of_adult(adult_names("occupation"), levels, 5)
    assert not gone.any()
    assert utility.discernibility_of_classes == 55170356
    assert utility.discernibility == 55170356
    assert utility.average_class_size == adult().rows / classes.sizes.size
    assert utility.height == 12


# --- twins


@st.composite
def results(draw: st.DrawFn) -> tuple[Records, list[tuple[Generalization, int]], int]:
    columns, chosen = {}, []
    rows = draw(st.integers(1, 25))
    for place in range(draw(st.integers(1, 3))):
        hierarchy = Generalization.of_paths(f"c{place}", draw(trees()))
        columns[f"c{place}"] = draw(st.lists(st.sampled_from(hierarchy.levels[0]), min_size=rows, max_size=rows))
        chosen.append((hierarchy, draw(st.integers(0, hierarchy.height))))
    return Records.of_columns(columns), chosen, draw(st.integers(1, 5))


@given(results())
def test_every_measure_against_its_definition(result: tuple[Records, list[tuple[Generalization, int]], int]) -> None:
    records, chosen, k = result
    columns = [hierarchy.generalized(records.column(hierarchy.name), level) for hierarchy, level in chosen]
    classes = group(columns)
    suppressed = (classes.sizes < k)[classes.of_row]
    found = measure_utility(records, chosen, classes, suppressed)
    rows = list(zip(*(column.texts().tolist() for column in columns), strict=True))
    alike = [rows.count(row) for row in rows]
    n = len(rows)
    assert found.discernibility_of_classes == sum(alike)
    assert found.discernibility == sum(n if count < k else count for count in alike)
    kept = {row for row, count in zip(rows, alike, strict=True) if count >= k}
    assert found.average_class_size == pytest.approx(n / (len(kept) + any(count < k for count in alike)))
    bits = gone_bits = 0.0
    combinations = 0.0
    for place, (hierarchy, level) in enumerate(chosen):
        original = records.column(hierarchy.name).texts().tolist()
        published = [row[place] for row in rows]
        bits += sum(math.log2(published.count(p) / original.count(o)) for p, o in zip(published, original, strict=True))
        gone = [p for p, count in zip(published, alike, strict=True) if count < k]
        gone_bits += sum(math.log2(len(gone) / gone.count(p)) for p in gone)
        leaves = len(hierarchy.levels[0])
        share = {p: sum(line[level] == p for line in hierarchy.paths()) / leaves for p in set(published)}
        lost = [1.0 if count < k else share[p] for p, count in zip(published, alike, strict=True)]
        expected = (sum(lost) / n - 1 / leaves) / (1 - 1 / leaves) if leaves > 1 else 0.0
        assert found.loss_of_columns[hierarchy.name] == pytest.approx(expected, abs=1e-12)
    for row, count in zip(rows, alike, strict=True):
        product = 1.0
        for place, (hierarchy, level) in enumerate(chosen):
            product *= (
                len(hierarchy.levels[0]) if count < k else sum(line[level] == row[place] for line in hierarchy.paths())
            )
        combinations += product
    assert found.entropy_of_generalization == pytest.approx(bits, abs=1e-9)
    assert found.entropy == pytest.approx(bits + gone_bits, abs=1e-9)
    assert found.ambiguity == pytest.approx(combinations)
    assert found.suppressed == pytest.approx(sum(count < k for count in alike) / n)
    assert 0 <= found.loss <= 1 + 1e-12
    assert 0 <= found.precision <= 1


def test_suppressed_parts_of_classes_are_refused() -> None:
    people = Records.of_columns({"a": ["1", "1", "2"]})
    hierarchy = Generalization.of_paths("a", [("1", "*"), ("2", "*")])
    classes = group([people.column("a")])
    with pytest.raises(ParameterError, match="whole classes"):
        measure_utility(people, [(hierarchy, 0)], classes, np.array([True, False, False]))
    with pytest.raises(ParameterError, match="one flag for each row"):
        measure_utility(people, [(hierarchy, 0)], classes, np.array([True]))


def test_the_two_class_sizes() -> None:
    assert average_class_size([3, 3]) == 3
    assert average_class_size([3, 2, 1], [False, True, True]) == 3
    assert average_class_size([], []) == 0
    assert relative_class_size([3, 5, 4], 3) == pytest.approx(4 / 3)
    assert discernibility([2, 3], [True, True]) == 25
    assert discernibility_of_classes([]) == 0


def test_balances() -> None:
    assert factors(0) == (1, 0)
    assert factors(0.75) == (0.5, 1)
    for balance in (-0.1, 1.1, float("nan")):
        with pytest.raises(ParameterError, match="from 0 to 1"):
            factors(balance)
    assert precision_per_column([2], [2], 10, 5, balance=1).tolist() == [0.5]
    assert loss_per_column([np.array([0.25])], [4], [True], [4], balance=0).tolist() == [0.0]
    assert ambiguity([], [], [], []) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_aggregates_lie_between_the_least_and_the_most(losses: list[float]) -> None:
    low, high = min(losses) - 1e-12, max(losses) + 1e-12
    assert low <= aggregated(losses, "geometric") <= aggregated(losses, "mean") + 1e-12 <= high + 1e-12
    assert aggregated(losses, "max") == max(losses)
    assert aggregated(losses, "sum") == pytest.approx(sum(losses))
    assert aggregated(losses, "rank") == tuple(sorted(losses, reverse=True))
    assert aggregated(losses, "sum", [2.0] * len(losses)) == pytest.approx(2 * sum(losses))


def test_wrong_aggregates_are_refused() -> None:
    with pytest.raises(ParameterError, match="one of mean"):
        aggregated([0.5], "median")
    for weights in ([1.0, 2.0], [-1.0]):
        with pytest.raises(ParameterError, match="one for each column"):
            aggregated([0.5], "sum", weights)
    assert aggregated([], "mean") == 0
