"""What a plan predicts of one part of its workload: laws, naive twins, and words."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from sudare import Budget, Category, Domain, Hierarchy, Plan, Positions, plan_table
from sudare.domain.layout import morton_layout
from sudare.errors import ParameterError
from sudare.tables.planning.error_factors import HISTOGRAM_FACTORS, LOADS, TREE_FACTORS, ErrorFactors
from sudare.tables.planning.predicted_error import areas_at, chance_factor, likely_people, predict_error

NUMBERS = ("rmse", "low", "high", "all_rmse", "all_low", "all_high")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_table(Domain.of_shape((64, 64)), Budget(epsilon=1))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple), st.data())
def test_areas_are_counted_as_one_by_one(shape: tuple[int, ...], data: Any) -> None:
    layout = morton_layout(shape)
    height = data.draw(st.integers(0, layout.depth))
    leaves = layout.to_tree(np.arange(np.prod(shape), dtype=np.uint64))
    assert areas_at(layout, height) == np.unique(leaves >> np.uint64(height)).size


@pytest.mark.parametrize("sums", [4, 16, 100, 10_000])
@pytest.mark.parametrize("quantile", [0.05, 0.5, 0.95])
def test_chance_is_that_of_chi_square(sums: int, quantile: float) -> None:
    assert chance_factor(sums, quantile) == pytest.approx(np.sqrt(chi2.ppf(quantile, sums) / sums), rel=0.02)


def test_one_sum_may_come_out_almost_right_or_twice_as_wrong() -> None:
    assert chance_factor(1, 0.05) == pytest.approx(np.sqrt(chi2.ppf(0.05, 1)), abs=0.02)
    assert chance_factor(1, 0.95) == pytest.approx(np.sqrt(chi2.ppf(0.95, 1)), rel=0.06)


@pytest.mark.parametrize("factors", [TREE_FACTORS, HISTOGRAM_FACTORS])
def test_factors_are_intervals(factors: ErrorFactors) -> None:
    columns = {field.name: getattr(factors, field.name) for field in fields(factors)}
    assert all(len(column) == len(LOADS) and min(column) > 0 for column in columns.values())
    assert all(np.array(columns["inhabited_low"]) < 1)
    assert all(np.array(columns["inhabited_high"]) > 1)
    assert all(np.array(columns["all_low"]) < columns["all_middle"])
    assert all(np.array(columns["all_middle"]) < columns["all_high"])
    assert all(np.array(columns["all_low"]) <= columns["inhabited_low"])


parts = st.fixed_dictionaries(
    {
        "rmse": st.floats(1, 1e6),
        "sums": st.integers(2, 10**9),
        "cells": st.integers(2, 2**60),
        "of_histogram": st.booleans(),
    }
)


@given(parts, st.integers(1, 2**40))
def test_intervals_surround_what_is_expected(part: dict[str, Any], people: int) -> None:
    for error in (predict_error(1, **part), predict_error(1, **part, people=people)):
        assert 0 < error.low < error.rmse < error.high
        assert 0 < error.all_low < error.all_rmse < error.high
        assert error.all_low <= error.low


@given(parts, st.integers(1, 10**6), st.integers(1, 50))
def test_twice_the_people_and_twice_the_noise_is_twice_the_error(part: dict[str, Any], people: int, times: int) -> None:
    once = asdict(predict_error(1, **part, people=people))
    more = asdict(predict_error(1, **{**part, "rmse": times * part["rmse"]}, people=times * people))
    assert [more[name] for name in NUMBERS] == pytest.approx([times * once[name] for name in NUMBERS], rel=1e-9)


@given(parts)
def test_who_knows_nothing_of_the_people_gets_the_widest_interval(part: dict[str, Any]) -> None:
    unknown = predict_error(1, **part)
    for people in likely_people(part["cells"]):
        known = predict_error(1, **part, people=people)
        assert unknown.low <= known.low < known.high <= unknown.high
        assert unknown.all_low <= known.all_low < known.all_high <= unknown.all_high


def test_the_only_area_is_an_inhabited_one() -> None:
    error = predict_error(64, 10.0, 1, 4096)
    assert (error.all_rmse, error.all_low, error.all_high) == (error.rmse, error.low, error.high)
    assert error.low < 0.1 * error.rmse


def test_a_country_in_a_larger_map_is_within_the_interval() -> None:
    """The same errors among 2**18 times as many zeros, for the same people."""
    country = predict_error(1, 10.0, 1 << 22, 1 << 22, people=10**8)
    world = predict_error(1, 10.0, 1 << 40, 1 << 40, people=10**8)
    for end in (country.all_low, country.all_rmse):
        assert 0.99 * world.all_low <= end / 2**9 <= world.all_high
    assert world.low <= country.low
    assert world.high == pytest.approx(country.high, rel=0.05)
    few = [predict_error(1, 10.0, sums, sums, people=1000).all_high for sums in (1 << 20, 1 << 22, 1 << 24)]
    assert few[0] > 1.9 * few[1] > 3.7 * few[2]


def test_a_sum_that_is_hardly_ever_wrong_may_be_right() -> None:
    assert predict_error(1, 0.1, 50, 50).low == 0
    assert predict_error(1, 0.1, 5_000, 5_000).low > 0


def test_people_move_intervals_and_nothing_else(plan: Plan) -> None:
    known = plan_table(Domain.of_shape((64, 64)), Budget(epsilon=1), people=4_096_000)
    assert known == plan.for_people(4_096_000)
    assert known.people == 4_096_000
    assert (known.settings, known.levels, known.reasons) == (plan.settings, plan.levels, plan.reasons)
    for before, after in zip(plan.errors, known.errors, strict=True):
        assert (before.side, before.rmse, before.sums) == (after.side, after.rmse, after.sums)
        assert after.all_high / after.all_low < before.all_high / before.all_low
    few = plan.for_people(100)
    assert few.errors[0].all_high < 0.5 * known.errors[0].all_low


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "many", 2**40 + 1, True])
def test_numbers_of_people_that_there_are_not(plan: Plan, wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"The 'people' parameter of Plan\.for_people"):
        plan.for_people(wrong)
    with pytest.raises(ParameterError, match="The 'people' parameter of plan_table"):
        plan_table(Domain.of_shape((64, 64)), Budget(epsilon=1), people=wrong)


def test_both_kinds_of_areas_are_shown(plan: Plan) -> None:
    age = Category("age", ("young", "old"))
    with_margins = plan_table(Domain((*Domain.of_shape((16, 16)).attributes, age)), Budget(epsilon=1))
    assert {error.margin for error in with_margins.errors} == {(), ("age",)}
    assert [error.sums for error in with_margins.errors if error.side == 4] == [16, 32]
    for made in (plan, with_margins):
        for language, names in (("en", ("where people live", "all areas")), ("ja", ("人の住む領域", "すべての領域"))):
            text = made.explain(language)  # type: ignore[arg-type]
            assert all(name in text for name in names)
            for error in made.errors:
                assert f"{error.low:,.1f} - {error.high:,.1f}" in text
                assert f"{error.all_low:,.1f} - {error.all_high:,.1f}" in text
    assert "people=..." in plan.explain()
    assert "12,345 people" in plan.for_people(12_345).explain()
    assert "12,345 人" in plan.for_people(12_345).explain("ja")


AGE, SEX = Category("age", ("young", "middle", "old")), Category("sex", ("f", "m"))
CITIES = Hierarchy.from_levels("city", {"prefecture": [1, 1, 1, 2, 3, 3], "city": [1, 2, 3, 4, 5, 6]})


def test_sums_are_those_of_margins_and_of_levels() -> None:
    cross = plan_table(Domain((AGE, SEX)), Budget(epsilon=1))
    assert {error.margin: error.sums for error in cross.errors} == {(): 1, ("age",): 3, ("sex",): 2, ("age", "sex"): 6}
    country = plan_table(Domain((CITIES, SEX)), Budget(epsilon=1))
    by_level = {(error.name, error.margin): error.sums for error in country.errors}
    assert {by_level["prefecture", margin] for margin in ((), ("sex",))} == {3, 6}
    assert {by_level["city", margin] for margin in ((), ("sex",))} == {6, 12}


@pytest.mark.parametrize(
    ("domain", "workload", "kind", "english", "japanese"),
    [
        (Domain.of_shape((16, 16)), (4,), "areas", "areas of side 4", "領域の一辺 4"),
        (Domain((Positions("income", 100),)), "ranges", "ranges", "ranges of length 1", "長さ 1 の区間"),
        (Domain((Positions("income", 100),)), "prefixes", "ranges", "all prefixes", "すべての累積度数"),
        (Domain((AGE, SEX)), None, "margins", "all people", "総数"),
        (Domain((AGE, SEX)), None, "margins", "age x sex", "age x sex"),
        (Domain((CITIES, SEX)), None, "levels", "prefecture: sex", "prefecture: sex"),
    ],
)
def test_parts_have_names(domain: Domain, workload: Any, kind: str, english: str, japanese: str) -> None:
    plan = plan_table(domain, Budget(epsilon=1), workload=workload, people=1000)
    assert plan.kind_of_parts == kind
    assert english in [error.of_what("en", plan.kind_of_parts) for error in plan.errors]
    assert japanese in [error.of_what("ja", plan.kind_of_parts) for error in plan.errors]
    for language in ("en", "ja"):
        text = plan.explain(language)
        for error in plan.errors:
            assert f"{error.low:,.1f} - {error.high:,.1f}" in text
            assert f"{error.all_low:,.1f} - {error.all_high:,.1f}" in text
    before = plan_table(domain, Budget(epsilon=1), workload=workload)
    assert [(e.name, e.margin) for e in before.errors] == [(e.name, e.margin) for e in plan.errors]


def test_lines_of_a_table_end_at_the_same_place() -> None:
    """Japanese letters are twice as wide."""
    lines = plan_table(Domain((AGE, SEX)), Budget(epsilon=1)).explain("ja").split("\n")
    first = next(place for place, line in enumerate(lines) if "周辺表  " in line)
    widths = {sum(2 if ord(letter) > 0x2E80 else 1 for letter in line) for line in lines[first : first + 5]}
    assert len(widths) == 1
