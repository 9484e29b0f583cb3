"""Aggregation against a twin that goes through the records one by one."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.disclosure.cell_table import Contributions, aggregate, positions_of, scaled
from sudare.disclosure.structure import Dimension
from sudare.errors import InputError, ParameterError

REGION = Dimension.of_tree("region", {"north": {"n1": {}, "n2": {}}, "south": {}})
SEX = Dimension.flat("sex", ["f", "m"])


def naive(records: list[dict[str, Any]], keep: int) -> dict[tuple[str, str], tuple[int, int, list[int], list[int]]]:
    """Per cell: total, contributors, the largest contributions, and who they are."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    totals: dict[tuple[str, str], int] = {}
    for record in records:
        regions = [REGION.codes[code] for code in REGION.path(REGION.position[record["region"]])]
        for cell in product(regions, (record["sex"], "Total")):
            owners = found.setdefault(cell, {})
            owners[record["who"]] = owners.get(record["who"], 0) + record["value"]
            totals[cell] = totals.get(cell, 0) + record["value"] * record["weight"]
    result = {}
    for cell, owners in found.items():
        ranked = sorted(owners.items(), key=lambda one: (-one[1], one[0]))[:keep]
        fill = [0] * (keep - len(ranked))
        result[cell] = (totals[cell], len(owners), [one[1] for one in ranked] + fill, [one[0] for one in ranked])
    return result


RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "region": st.sampled_from(["n1", "n2", "south"]),
            "sex": st.sampled_from(["f", "m"]),
            "value": st.integers(0, 20),
            "holding": st.integers(0, 3),
            "weight": st.integers(1, 5),
        }
    ),
    max_size=30,
)


@given(RECORDS, st.sampled_from(["records", "holdings", "weights"]), st.integers(2, 4))
@settings(max_examples=50, deadline=None)
def test_aggregation_equals_the_twin(records: list[dict[str, Any]], kind: str, keep: int) -> None:
    numbers = sorted({record["holding"] for record in records})
    for row, record in enumerate(records):
        record["who"] = numbers.index(record["holding"]) if kind == "holdings" else row
        record["weight"] = record["weight"] if kind == "weights" else 1
    table = aggregate(
        [REGION, SEX],
        {name: [record[name] for record in records] for name in ("region", "sex")},
        Contributions(
            np.array([record["value"] for record in records], dtype=np.int64),
            holdings=[record["holding"] for record in records] if kind == "holdings" else None,
            weights=np.array([record["weight"] for record in records], dtype=np.int64) if kind == "weights" else None,
        ),
        largest=keep,
    )
    table.check()
    expected = naive(records, keep)
    for cell, (region, sex) in enumerate(product(REGION.codes, SEX.codes)):
        total, count, largest, owners = expected.get((region, sex), (0, 0, [0] * keep, []))
        assert table.values[cell] == total
        assert table.counts[cell] == count
        assert table.largest[cell].tolist() == largest
        assert table.owners is not None
        assert table.owners[cell].tolist() == owners + [-1] * (keep - len(owners))


def test_weights_keep_their_decimals_and_requests_follow_their_records() -> None:
    table = aggregate(
        [SEX],
        {"sex": ["f", "f", "m"]},
        Contributions(
            scaled(["1.5", "2", "3"], 1), 1, weights=scaled(["2.5", "1", "4"], 1), weight_decimals=1,
            requests=np.array([True, False, False]),
        ),
        largest=2,
    )  # fmt: skip
    assert table.decimals == 2
    assert table.values.tolist() == [1775, 575, 1200]  # 3.75 + 2 + 12
    assert table.largest.tolist() == [[300, 200], [200, 150], [300, 0]]
    assert table.weights is not None
    assert table.weights.tolist() == [[40, 10], [10, 25], [40, 0]]
    assert table.weighted_counts is not None
    assert table.weighted_counts.tolist() == [75, 35, 40]
    assert table.requests is not None
    assert table.requests.tolist() == [[False, False], [False, True], [False, False]]


@pytest.mark.parametrize(
    ("number", "decimals", "english", "japanese"),
    [
        ("31,337", 0, "has separators", "桁区切り"),
        ("31 337.5", 1, "has separators", "桁区切り"),
        ("31337313373133731337", 0, "is too large", "大きすぎて"),
        ("1e9999", 2, "is too large", "大きすぎて"),
        (2**62, 0, "is too large", "大きすぎて"),
        ("3133.7", 0, "has more than 0 decimals", "0 桁を超えて"),
        ("1e-5000", 15, "has more than 15 decimals", "15 桁を超えて"),
        (31.337, 2, "has more than 2 decimals", "2 桁を超えて"),
        ("", 0, "is empty", "空です"),
        ("x31337", 0, "is not a number", "数ではありません"),
        ("nan", 0, "is not a number", "数ではありません"),
        (float("inf"), 0, "is not a number", "数ではありません"),
    ],
)
def test_the_refusal_of_a_number_says_what_is_wrong(number: object, decimals: int, english: str, japanese: str) -> None:
    with pytest.raises(InputError, match=rf"'sales' .*row 2 that {english}") as refused:
        scaled([1, number], decimals, "sales")
    assert f"「sales」の 2 行目は{japanese}" in refused.value.japanese.replace("小数点以下が ", "")
    assert "313" not in str(refused.value)


def test_scaled_numbers_are_exact() -> None:
    assert scaled(["0.07", " 12 ", "-3.5", "1e2"], 2).tolist() == [7, 1200, -350, 10000]
    assert scaled([Decimal("0.29"), 3, 0.1], 2).tolist() == [29, 300, 10]
    assert scaled(np.array([0.1, 0.2, 1.1, 2.675]), 3).tolist() == [100, 200, 1100, 2675]
    assert scaled(np.array([2**40]), 3).tolist() == [2**40 * 1000]
    assert scaled([], 2).size == 0


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
@settings(deadline=None)
def test_a_float_means_the_decimal_that_it_prints(number: int, decimals: int) -> None:
    assert scaled(np.array([number / 10**decimals]), decimals).tolist() == [number]


@pytest.mark.parametrize("wrong", ["0.005", "x", "", "nan", "inf", "1e30"])
def test_numbers_that_cannot_be_exact_are_refused_with_their_row(wrong: str) -> None:
    with pytest.raises(InputError, match=r"turnover.*row 2") as caught:
        scaled(["1", wrong], 2, "turnover")
    assert wrong in ("", "x") or wrong not in str(caught.value)  # a value of the data is not told
    if wrong not in ("x", ""):
        with pytest.raises(InputError):
            scaled(np.array([1.0, float(wrong)]), 2)


def test_codes_that_do_not_fit_are_refused_with_their_row() -> None:
    with pytest.raises(InputError, match=r"'east'.*row 2"):
        positions_of(REGION, ["n1", "east"])
    with pytest.raises(InputError, match=r"'north'.*row 3.*finest"):
        positions_of(REGION, ["n1", "south", "north"])


@pytest.mark.parametrize(
    ("contributions", "match"),
    [
        (Contributions(np.array([1, -2])), "row 2 is negative"),
        (Contributions(np.array([1, 2]), weights=np.array([1, -1])), "weight in row 2 is negative. A weight says"),
        (Contributions(np.array([1, 2, 3])), "different lengths"),
        (Contributions(np.array([2**61, 2**61])), "too large"),
    ],
)
def test_bad_magnitudes_are_refused(contributions: Contributions, match: str) -> None:
    with pytest.raises(InputError, match=match):
        aggregate([SEX], {"sex": ["f", "m"]}, contributions)


def test_holdings_and_weights_exclude_each_other() -> None:
    ones = np.array([1, 1])
    with pytest.raises(ParameterError, match="not both"):
        aggregate([SEX], {"sex": ["f", "m"]}, Contributions(ones, holdings=["a", "b"], weights=ones))
    with pytest.raises(ParameterError, match="sex"):
        aggregate([SEX], {}, Contributions(ones))
