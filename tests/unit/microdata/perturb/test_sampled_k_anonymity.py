"""Sampled groups: k, columns and order of what is published, the published theorem, and the choice of levels."""

from __future__ import annotations

import json
import os
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Budget, ReleaseEvent, ResearchEntropy, Unit
from sudare.errors import GuaranteeError, InputError, NotPrivateError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.perturb.sampled_k_anonymity import (
    PROTECTS,
    _weight,
    choose_levels,
    published_delta,
    published_smallest_k,
    sampled_groups,
)
from sudare.microdata.records import Records
from sudare.privacy import ApproximateAccountant
from sudare.privacy.sampled_measurements import (
    SampledGroupsMeasurement,
    largest_sampling_rate,
    sampled_groups_delta,
    smallest_group_size,
)

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data"))
KNOWN = DATA / "known_answers" / "arx" / "safepub_k_beta_recomputed.json"
AGE = Generalization.of_paths("age", [(str(a), f"{a // 10}0s", "*") for a in range(100)])
SEX = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
BOTH = {"age": AGE, "sex": SEX}
BUDGET = Budget(epsilon=1, delta=1e-2)


def known() -> list[dict[str, Any]]:
    return json.loads(KNOWN.read_text(encoding="utf-8")) if KNOWN.exists() else []


def people(rows: int, seed: int = 1) -> Records:
    draws = np.asarray(ResearchEntropy(seed).words(2 * rows) % np.uint64(100)).astype(int)
    return Records.of_columns(
        {"age": draws[:rows], "sex": np.where(draws[rows:] < 50, "f", "m"), "name": [f"n{i}" for i in range(rows)]}
    )


@pytest.mark.skipif(not known(), reason="needs known_answers below SUDARE_DATA (or ../shared/data)")
@pytest.mark.parametrize("case", known(), ids=lambda case: f"{case['epsilon']:.4g}-{case['delta']:g}")
def test_known_answers_of_the_published_theorem(case: dict[str, Any]) -> None:
    rate = float(largest_sampling_rate(case["epsilon"]))
    assert rate == pytest.approx(case["beta"], rel=1e-5)
    assert published_smallest_k(case["beta"], case["epsilon"], case["delta"]) == case["smallest_k"]
    assert case["arx_k"] == case["smallest_k"] + 1
    # What is charged here is never more careless than true, and asks for less than the theorem.
    assert smallest_group_size(rate, case["epsilon"], case["delta"]) < case["smallest_k"]


@settings(max_examples=25)
@given(st.integers(1, 30), st.integers(2, 60), st.integers(1, 10))
def test_the_published_delta_is_never_the_smaller_one(tenths: int, k: int, share: int) -> None:
    epsilon = Fraction(tenths, 10)
    rate = largest_sampling_rate(epsilon) * share / 10
    assert published_delta(rate, k, epsilon) * (1 + 1e-12) >= sampled_groups_delta(rate, k, epsilon)


@given(st.integers(0, 3), st.integers(0, 1), st.integers(0, 400), st.integers(1, 10**6))
def test_what_is_published_satisfies_its_model(age: int, sex: int, rows: int, seed: int) -> None:
    age = min(age, AGE.height)
    table = people(rows, seed)
    published, event = sampled_groups(table, {"age": age, "sex": sex}, BOTH, BUDGET, entropy=ResearchEntropy(seed))
    (measurement,) = event.measurements
    assert isinstance(measurement, SampledGroupsMeasurement)
    assert published.names == ("age", "sex")
    texts = list(zip(*(published.column(name).texts().tolist() for name in published.names), strict=True))
    counts = Counter(texts)
    assert all(count >= measurement.k for count in counts.values())
    assert texts == sorted(texts)
    columns = (AGE.generalized(table.column("age"), age), SEX.generalized(table.column("sex"), sex))
    before = Counter(zip(*(column.texts().tolist() for column in columns), strict=True))
    assert all(count <= before[key] for key, count in counts.items())
    for column in published.columns:
        assert set(column.labels) == set(column.texts().tolist())  # no text of a deleted record stays in the table


def test_order_and_other_columns_of_the_table_do_not_matter() -> None:
    """The same coins, heads for all: the result must be the same for any order of the rows."""

    class Heads(ResearchEntropy):
        def fill(self, words: Any) -> None:
            words[:] = 0

    table = people(500)
    turned = table.take(np.arange(499, -1, -1)).without("name")
    one, _ = sampled_groups(table, {"age": 1, "sex": 0}, BOTH, BUDGET, entropy=Heads(1))
    two, _ = sampled_groups(turned, {"age": 1, "sex": 0}, BOTH, BUDGET, entropy=Heads(1))
    assert one.rows > 0
    for name in ("age", "sex"):
        assert one.column(name).labels == two.column(name).labels
        assert one.column(name).codes.tolist() == two.column(name).codes.tolist()


def test_missing_values_are_a_value_like_others() -> None:
    table = Records.of_columns({"sex": [None] * 300 + ["f"] * 300})
    published, _ = sampled_groups(table, {"sex": 0}, {}, BUDGET)
    assert published.column("sex").labels == (None, "f")


def test_an_empty_table_and_one_of_rare_records_both_publish_nothing() -> None:
    for table in (people(0), people(5)):
        published, event = sampled_groups(table, {"age": 0, "sex": 0}, BOTH, BUDGET)
        assert (published.rows, published.names) == (0, ("age", "sex"))
        assert event.cost == BUDGET


def test_the_event_is_charged_and_can_be_read_back() -> None:
    _, event = sampled_groups(people(50), {"age": 1}, BOTH, BUDGET, unit=Unit.with_rows(2))
    assert ReleaseEvent.from_json(event.to_json()) == event
    accountant = ApproximateAccountant()
    accountant.add(event)
    assert accountant.total() == BUDGET
    (measurement,) = event.measurements
    assert isinstance(measurement, SampledGroupsMeasurement)
    assert (measurement.records, measurement.record_epsilon) == (2, Fraction(1, 2))
    _, research = sampled_groups(people(50), {"age": 1}, BOTH, BUDGET, entropy=ResearchEntropy(1))
    with pytest.raises(NotPrivateError):
        accountant.add(research)


def test_a_smaller_rate_needs_a_smaller_k() -> None:
    sizes = []
    for rate in (0.6, 0.3, 0.05):
        _, event = sampled_groups(people(10), {"age": 1}, BOTH, Budget(epsilon=1, delta=1e-6), rate=rate)
        (measurement,) = event.measurements
        assert isinstance(measurement, SampledGroupsMeasurement)
        assert measurement.rate == Fraction(str(rate))
        sizes.append(measurement.k)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3
    with pytest.raises(GuaranteeError, match="needs an epsilon of at least"):
        sampled_groups(people(10), {"age": 1}, BOTH, BUDGET, rate=0.7)


@pytest.mark.parametrize(
    ("levels", "parameter"),
    [({}, "levels"), ({"age": 3}, "levels"), ({"age": -1}, "levels"), ({"name": 1}, "levels"), ([1], "levels")],
)
def test_wrong_levels_are_named(levels: Any, parameter: str) -> None:
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of sampled_groups must be"):
        sampled_groups(people(10), levels, BOTH, BUDGET)


def test_other_mistakes() -> None:
    with pytest.raises(InputError, match="There is no column 'agee'"):
        sampled_groups(people(10), {"agee": 0}, BOTH, BUDGET)
    with pytest.raises(InputError, match="row 2 of the data"):
        sampled_groups(Records.of_columns({"sex": ["f", "x"]}), {"sex": 1}, BOTH, BUDGET)
    for told in (
        lambda: sampled_groups(Records.of_columns({"sex": ["f", "Zanzibar"]}), {"sex": 1}, BOTH, BUDGET),
        lambda: choose_levels(
            Records.of_columns({"sex": ["f", "Zanzibar"]}), {"sex": SEX}, Budget(epsilon=1), threshold=5
        ),
    ):
        with pytest.raises(InputError, match="'sex' has a value in row 2") as caught:
            told()
        assert "Zanzibar" not in caught.value.english + caught.value.japanese
    with pytest.raises(GuaranteeError, match="needs an epsilon and a delta"):
        sampled_groups(people(10), {"age": 1}, BOTH, Budget(epsilon=1))
    with pytest.raises(ParameterError, match="'unit'"):
        sampled_groups(people(10), {"age": 1}, BOTH, BUDGET, unit="person")  # type: ignore[arg-type]
    assert "secret coin" in PROTECTS.english
    assert "差分プライバシー" in PROTECTS.japanese


def naive_score(table: Records, levels: dict[str, int], threshold: int) -> Fraction:
    columns = [BOTH[name].generalized(table.column(name), level).texts().tolist() for name, level in levels.items()]
    excess = sum(max(0, count - threshold) for count in Counter(zip(*columns, strict=True)).values())
    return _weight(levels, BOTH) * excess


@given(
    st.integers(0, 60), st.integers(0, 2), st.integers(0, 1), st.integers(1, 9), st.integers(0, 99), st.integers(0, 99)
)
def test_one_record_changes_a_score_by_at_most_one_and_never_down(
    rows: int, age: int, sex: int, threshold: int, new: int, other: int
) -> None:
    table = people(rows, 1 + other)
    ages, sexes = table.column("age").texts().tolist(), table.column("sex").texts().tolist()
    more = Records.of_columns({"age": [*ages, new], "sex": [*sexes, "f"]})
    levels = {"age": age, "sex": sex}
    difference = naive_score(more, levels, threshold) - naive_score(table, levels, threshold)
    assert 0 <= difference <= 1


def test_levels_are_chosen_by_the_scores() -> None:
    table = people(3000)
    chosen, event = choose_levels(table, BOTH, Budget(epsilon=5), threshold=60)
    scores = {(a, s): naive_score(table, {"age": a, "sex": s}, 60) for a in range(3) for s in range(2)}
    assert scores[chosen["age"], chosen["sex"]] == max(scores.values())
    assert event.mechanism == "exponential-mechanism"
    one_only, _ = choose_levels(table, BOTH, Budget(epsilon=5), threshold=60, candidates=[{"age": 2, "sex": 1}])
    assert one_only == {"age": 2, "sex": 1}


def test_the_price_of_choosing_grows_with_the_records_of_a_unit() -> None:
    """With little budget for each of 200 records the choice is nearly blind; with one record it is not."""
    table = Records.of_columns({"sex": ["f", "m"] * 50})
    hierarchies = {"sex": SEX}

    def picks(rows: int) -> int:
        unit = Unit.with_rows(rows)
        source = ResearchEntropy(7)
        return sum(
            choose_levels(table, hierarchies, Budget(epsilon=1), threshold=10, unit=unit, entropy=source)[0]["sex"] == 0
            for _ in range(200)
        )

    assert picks(1) == 200
    assert 60 < picks(200) < 160


@pytest.mark.parametrize("candidates", [[], [{"age": 1}], [{"age": 9, "sex": 0}]])
def test_wrong_candidates_are_refused(candidates: list[dict[str, int]]) -> None:
    with pytest.raises(ParameterError):
        choose_levels(people(10), BOTH, Budget(epsilon=1), threshold=5, candidates=candidates)


@pytest.mark.parametrize(
    ("budget", "threshold"),
    [(Budget(epsilon=1), 2**64), (Budget(epsilon=1), 0), (Budget(epsilon=1), 2.5), ("much", 5), (None, 5)],
)
def test_a_wrong_threshold_or_budget_is_refused_before_the_data_is_looked_at(budget: Any, threshold: Any) -> None:
    outside = Records.of_columns({"sex": ["not in the hierarchy"]})
    with pytest.raises(ParameterError):
        choose_levels(outside, {"sex": SEX}, budget, threshold=threshold)
    assert choose_levels(people(10), {"sex": SEX}, Budget(epsilon=1), threshold=2**62)[0]["sex"] in (0, 1)


def test_too_many_choices_are_not_tried_in_silence() -> None:
    tall = {f"c{i}": Generalization.of_paths(f"c{i}", [("a", "b", "c", "d")]) for i in range(7)}
    with pytest.raises(ParameterError, match="candidates"):
        choose_levels(Records.of_columns({name: ["a"] for name in tall}), tall, Budget(epsilon=1), threshold=5)
    with pytest.raises(ParameterError, match="hierarchies"):
        choose_levels(people(10), {}, Budget(epsilon=1), threshold=5)


@pytest.mark.parametrize("arguments", [(1.5, 5, 1), (0.5, 1, 1), (0.5, 5, -1), (0.5, 5, 20)])
def test_the_published_formula_refuses_what_makes_no_sense(arguments: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ParameterError):
        published_delta(*arguments)
    with pytest.raises(ParameterError):
        published_smallest_k(0.5, 1, 2)
