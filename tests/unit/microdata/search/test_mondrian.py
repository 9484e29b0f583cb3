"""Local recoding: what comes out is k-anonymous by itself, true of every record, and cannot be cut any further."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import InputError, ParameterError
from sudare.kernels.records.mondrian import NO_CUT, balanced_cut, divide, find_spans, groups_fit
from sudare.microdata.grouping import group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records
from sudare.microdata.search.mondrian import recode_locally
from tests.unit.microdata.arx_data import adult, adult_hierarchy, needs_answers

NUMBERS = st.lists(st.integers(-5, 12), min_size=2, max_size=40)
JOBS = Generalization.of_paths(
    "job",
    [
        ("nurse", "health", "*"),
        ("clerk", "office", "*"),
        ("doctor", "health", "*"),
        ("judge", "office", "*"),
        ("cook", "food", "*"),
    ],
)


def boxes_of(of_row: Any) -> set[frozenset[int]]:
    found: dict[int, set[int]] = {}
    for row, box in enumerate(of_row.tolist()):
        found.setdefault(box, set()).add(row)
    return {frozenset(rows) for rows in found.values()}


def naive_boxes(columns: Sequence[Sequence[int]], rows: list[int], k: int) -> set[frozenset[int]]:
    """Mondrian as it is told: the widest column first, the cut nearest to the middle, the lower of two."""
    widths = []
    for place, column in enumerate(columns):
        inside, whole = [column[row] for row in rows], max(column) - min(column)
        widths.append((-Fraction(max(inside) - min(inside), whole) if whole else Fraction(0), place))
    for _, place in sorted(widths):
        values = [columns[place][row] for row in rows]
        cuts = []
        for value in sorted(set(values))[:-1]:
            below = sum(other <= value for other in values)
            if min(below, len(values) - below) >= k:
                cuts.append((abs(2 * below - len(values)), value))
        if cuts:
            cut = min(cuts)[1]
            low = [row for row in rows if columns[place][row] <= cut]
            high = [row for row in rows if columns[place][row] > cut]
            return naive_boxes(columns, low, k) | naive_boxes(columns, high, k)
    return {frozenset(rows)}


@settings(deadline=None)
@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[st.integers(-5, 12)] * n), min_size=2, max_size=40)),
    st.integers(2, 6),
)
def test_numbers_are_cut_as_told(rows: list[tuple[int, ...]], k: int) -> None:
    if len(rows) < k:
        return
    columns = list(zip(*rows, strict=True))
    people = Records.of_columns({f"c{place}": column for place, column in enumerate(columns)})
    recoding = recode_locally(people, people.names, k)
    assert boxes_of(recoding.of_row) == naive_boxes(columns, list(range(len(rows))), k)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 99), st.sampled_from(JOBS.levels[0]), st.sampled_from("abcde"), st.sampled_from("xyz")
        ),
        min_size=2,
        max_size=80,
    ),
    st.integers(2, 6),
)
def test_what_is_published_is_k_anonymous_and_true(rows: list[tuple[int, str, str, str]], k: int) -> None:
    if len(rows) < k:
        return
    names = ("age", "job", "letter", "ill")
    people = Records.of_columns({name: [row[place] for row in rows] for place, name in enumerate(names)})
    recoding = recode_locally(people, names[:3], k, hierarchies={"job": JOBS})
    published = list(zip(*(recoding.records.column(name).texts().tolist() for name in names), strict=True))
    # From what is published alone: every combination at least k times, and the boxes are the classes.
    assert min(Counter(row[:3] for row in published).values()) >= k
    classes = group([recoding.records.column(name) for name in names[:3]])
    assert classes.of_row.tolist() == recoding.of_row.tolist()
    assert classes.sizes.tolist() == recoding.sizes.tolist()
    of_job = {line[0]: line for line in JOBS.paths()}
    for (age, job, letter, ill), (ages, jobs, letters, same) in zip(rows, published, strict=True):
        ends = ages.strip("[]").split(", ")
        assert int(ends[0]) <= age <= int(ends[-1])
        assert jobs in of_job[job]
        assert letter in letters
        assert same == ill
    assert all(0 <= loss <= 1 for loss in recoding.loss_of_columns.values())
    # No box could be cut: in no column are there k on both sides, nor are all groups below that large.
    for box in boxes_of(recoding.of_row):
        for place in (0, 2):
            values = sorted(rows[row][place] for row in box)
            assert all(values[i - 1] == values[i] for i in range(k, len(values) - k + 1))
        for level in (1, 0):
            sizes = Counter(of_job[rows[row][1]][level] for row in box)
            if len(sizes) > 1:
                assert min(sizes.values()) < k
                break


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), min_size=8, max_size=60))
def test_further_models_hold_in_every_box(rows: list[tuple[int, str]]) -> None:
    """Two different diseases in every class; without asking there are classes with one."""
    ill = np.array([row[1] for row in rows])
    people = Records.of_columns({"age": [row[0] for row in rows], "ill": ill})
    if len(set(ill.tolist())) < 2:
        with pytest.raises(InputError, match="Even all records in one class"):
            recode_locally(people, ["age"], 2, allowed=lambda box: len(set(ill[box].tolist())) >= 2)
        return
    recoding = recode_locally(people, ["age"], 2, allowed=lambda box: len(set(ill[box].tolist())) >= 2)
    assert all(len({rows[row][1] for row in box}) == 2 for box in boxes_of(recoding.of_row))


def test_the_control_without_a_further_model() -> None:
    people = Records.of_columns({"age": [1, 2, 8, 9], "ill": ["a", "a", "b", "b"]})
    diverse = recode_locally(people, ["age"], 2, allowed=lambda box: len({box[0] // 2, box[-1] // 2}) == 2)
    assert recode_locally(people, ["age"], 2).sizes.tolist() == [2, 2]
    assert diverse.sizes.tolist() == [4]


def test_the_widest_column_is_cut_first() -> None:
    people = Records.of_columns({"age": [10, 20, 10, 20], "income": [0, 0, 900, 900]})
    recoding = recode_locally(people, ["age", "income"], 2)
    # Both are as wide, so the first column is cut.
    assert recoding.records.column("income").texts().tolist() == ["[0, 900]"] * 4
    # The young span all incomes and few ages, the old few of both.
    wider = Records.of_columns({"age": [10, 20, 10, 20, 90, 91, 92, 93], "income": [0, 0, 900, 900, 4, 3, 2, 1]})
    found = recode_locally(wider, ["age", "income"], 2).records
    assert found.column("age").texts().tolist() == ["[10, 20]"] * 4 + ["[90, 91]"] * 2 + ["[92, 93]"] * 2
    assert found.column("income").texts().tolist() == ["0", "0", "900", "900", "[3, 4]", "[3, 4]", "[1, 2]", "[1, 2]"]


def test_numbers_written_in_two_ways_are_one() -> None:
    people = Records.of_columns({"x": ["1", "1.0", "2.50", "2.5"]})
    recoding = recode_locally(people, ["x"], 2)
    assert recoding.records.column("x").texts().tolist() == ["1", "1", "2.50", "2.50"]
    huge = Records.of_columns({"x": ["1e900", "0", "-1e900", "0.0"]})
    assert recode_locally(huge, ["x"], 2).sizes.tolist() == [4]


@needs_answers
def test_adult() -> None:
    hierarchies = {name: adult_hierarchy(name) for name in adult().names if name != "age"}
    recoding = recode_locally(adult(), adult().names, 5, hierarchies=hierarchies)
    classes = group(recoding.records.columns)
    assert classes.sizes.min() >= 5
    assert classes.sizes.size == recoding.sizes.size > 3000  # full-domain generalization leaves some 100


# --- kernels


@given(NUMBERS, st.integers(1, 6), st.data())
def test_kernels_against_lists(values: list[int], k: int, data: st.DataObject) -> None:
    codes = np.array([values, values[::-1]], dtype=np.int32) + np.int32(5)
    order = np.array(data.draw(st.permutations(range(len(values)))), dtype=np.int64)
    start = data.draw(st.integers(0, len(values) - 1))
    end = data.draw(st.integers(start + 1, len(values)))
    low, high = np.zeros(2, dtype=np.int32), np.zeros(2, dtype=np.int32)
    find_spans(codes, order, start, end, low, high)
    box = order[start:end].tolist()
    for column in (0, 1):
        inside = [int(codes[column, row]) for row in box]
        assert (low[column], high[column]) == (min(inside), max(inside))
        cuts = [
            (abs(2 * below - len(inside)), value)
            for value in sorted(set(inside))
            if min(below := sum(other <= value for other in inside), len(inside) - below) >= k
        ]
        cut = balanced_cut(codes, column, order, start, end, k)
        assert cut == (min(cuts)[1] if cuts else NO_CUT)
        divided, spare = order.copy(), np.zeros(len(values), dtype=np.int64)
        middle = divide(codes, column, divided, start, end, cut, spare)
        assert divided[start:middle].tolist() == [row for row in box if codes[column, row] <= cut]
        assert divided[middle:end].tolist() == [row for row in box if codes[column, row] > cut]
        assert divided[:start].tolist() == order[:start].tolist()
        assert divided[end:].tolist() == order[end:].tolist()
        groups = (np.arange(18) // 4).astype(np.int32)
        counts = np.zeros(5, dtype=np.int64)
        sizes = Counter(int(groups[codes[column, row]]) for row in box)
        assert groups_fit(codes, column, np.array(box), groups, k, counts) == (min(sizes.values()) >= k)
        assert not counts.any()


# --- bad input

PEOPLE = Records.of_columns({"age": ["1", "2", "3"], "job": ["nurse", "clerk", "spy"], "x": ["1", None, "2"]})


@pytest.mark.parametrize(
    ("names", "k", "arguments", "reason"),
    [
        (["age"], 1, {}, "whole number >= 2"),
        (["age"], 2.0, {}, "whole number >= 2"),
        ([], 2, {}, "at least one"),
        ("age", 2, {}, "names of columns"),
        (["age", "age"], 2, {}, "different names"),
        (["age"], 2, {"hierarchies": {"job": JOBS}}, "columns in names"),
        (
            ["job"],
            2,
            {"hierarchies": {"job": Generalization.of_paths("job", [("nurse",), ("clerk",)])}},
            "one group at the top",
        ),
    ],
)
def test_wrong_arguments_are_refused(names: Any, k: Any, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        recode_locally(PEOPLE, names, k, **arguments)


def test_missing_and_empty_values_are_published_as_missing() -> None:
    town = Generalization.of_paths("town", [("", "*"), ("b", "*")])
    people = Records.of_columns({"town": [None, "", "b", "b"]})
    recoded = recode_locally(people, ["town"], 2, hierarchies={"town": town}).records
    assert recoded.column("town").texts().tolist() == [None, None, "b", "b"]


def test_data_that_does_not_fit_is_named() -> None:
    with pytest.raises(InputError, match="fewer than k = 4") as caught:
        recode_locally(PEOPLE, ["age"], 4)
    assert "k = 4" in caught.value.japanese
    with pytest.raises(InputError, match="'job' has a value in row 3"):
        recode_locally(PEOPLE, ["job"], 2, hierarchies={"job": JOBS})
    with pytest.raises(InputError, match="'x' has an empty field in row 2"):
        recode_locally(PEOPLE, ["x"], 2)
    with pytest.raises(InputError, match="no column 'Age'"):
        recode_locally(PEOPLE, ["Age"], 2)
