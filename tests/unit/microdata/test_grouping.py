"""Rows that share their values are found whatever the widths of the columns, and merging classes equals grouping anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.microdata.grouping import Tuples, group, histogram
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn

CODES = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40)


def naive_classes(rows: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    places: dict[tuple[int, ...], int] = {}
    of_row = [places.setdefault(row, len(places)) for row in rows]
    sizes = Counter(of_row)
    return of_row, [sizes[place] for place in range(len(places))]


@given(CODES, st.integers(1, 2**30))
def test_group_is_what_a_dictionary_finds(rows: list[tuple[int, ...]], scale: int) -> None:
    # Scaled codes need up to 32 bits each, so that three columns do not fit into a word.
    columns = [np.array(column, dtype=np.int64) * scale for column in zip(*rows, strict=True)]
    if max(int(column.max()) for column in columns) >= 2**31:
        columns = [column // 4 for column in columns]
        rows = [tuple(int(column[place]) for column in columns) for place in range(len(rows))]
    classes = group([column.astype(np.int32) for column in columns])
    of_row, sizes = naive_classes(rows)
    assert classes.of_row.tolist() == of_row
    assert classes.sizes.tolist() == sizes
    assert [of_row[first] for first in classes.firsts.tolist()] == list(range(len(sizes)))


def test_many_wide_columns_do_not_collide() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(-(2**31), 2**31, size=500).astype(np.int32) for _ in range(7)]
    columns = [np.concatenate([column, column]) for column in columns]
    classes = group(columns)
    assert classes.sizes.tolist() == [2] * 500


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(ParameterError, match="of one length"):
        group([np.zeros(2, dtype=np.int32), np.zeros(3, dtype=np.int32)])
    with pytest.raises(ParameterError, match="at least one column"):
        group([])


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=40))
def test_histogram_counts_every_value(rows: list[tuple[int, str]]) -> None:
    column = CodedColumn.of("ill", [value for _, value in rows])
    classes = group([np.array([code for code, _ in rows], dtype=np.int32)])
    found = histogram(classes, column).dense()
    counted = Counter((int(place), value) for place, (_, value) in zip(classes.of_row, rows, strict=True))
    for (place, value), count in counted.items():
        assert found[place, column.labels.index(value)] == count
    assert int(found.sum()) == len(rows)


def test_an_empty_text_is_a_missing_value() -> None:
    ill = CodedColumn.of("ill", ["", None, "a", ""])
    found = histogram(group([np.zeros(4, dtype=np.int32)]), ill)
    assert found.labels == (None, "a")
    assert found.dense().tolist() == [[3, 1]]
    town = Generalization.of_paths("town", [("", "*"), ("b", "*")])
    tuples = Tuples.of_rows([CodedColumn.of("town", [None, "", "b", ""])], [town], [ill])
    assert tuples.base.sizes.tolist() == [3, 1]
    assert tuples.base.histograms["ill"].dense().tolist() == [[3, 0], [0, 1]]


def hierarchy(name: str, width: int) -> Generalization:
    return Generalization.of_paths(name, [(str(i), f"<{i // 2}>", f"[{i // 4}]", "*") for i in range(width)])


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from("abc"), st.booleans()), min_size=1, max_size=60
    ),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_merging_classes_equals_grouping_anew(
    rows: list[tuple[int, int, str, bool]], first: tuple[int, int], second: tuple[int, int]
) -> None:
    finer = tuple(min(a, b) for a, b in zip(first, second, strict=True))
    coarser = tuple(max(a, b) for a, b in zip(first, second, strict=True))
    hierarchies = [hierarchy("x", 8), hierarchy("y", 8)]
    columns = [CodedColumn.of("x", [row[0] for row in rows]), CodedColumn.of("y", [row[1] for row in rows])]
    ill = CodedColumn.of("ill", [row[2] for row in rows])
    published = np.array([row[3] for row in rows])
    tuples = Tuples.of_rows(columns, hierarchies, [ill], published)
    merged = tuples.regrouped(tuples.regrouped(tuples.base, finer), coarser)
    anew = group(
        [each.generalized(column, level) for each, column, level in zip(hierarchies, columns, coarser, strict=True)]
    )
    assert sorted(merged.population.tolist()) == sorted(anew.sizes.tolist())
    people = Counter(int(place) for place, is_in in zip(anew.of_row, published, strict=True) if is_in)
    assert sorted(size for size in merged.sizes.tolist() if size) == sorted(people.values())
    assert merged.sizes.sum() == published.sum() == merged.histograms["ill"].counts.sum()
    assert np.array_equal(
        merged.histograms["ill"].dense().sum(axis=1), merged.sizes
    )  # each class's histogram adds up to its rows


def test_hierarchies_wider_than_a_word_are_grouped_in_parts() -> None:
    many = 1 << 14
    wide = [
        Generalization(
            f"c{number}",
            (tuple(map(str, range(many))), ("low", "high")),
            (np.arange(many, dtype=np.int32), (np.arange(many) >= many // 2).astype(np.int32)),
        )
        for number in range(5)
    ]
    rng = np.random.default_rng(2)
    leaves = rng.integers(0, many, size=(300, 5)).astype(np.int32)
    tuples = Tuples(wide, leaves, np.ones(300, dtype=np.int64))
    assert len(tuples._parts) > 1
    assert tuples.regrouped(tuples.base, (0,) * 5).sizes.size == len(np.unique(leaves, axis=0))
    levels = (1, 0, 1, 1, 1)
    seen = np.stack([wide[i].parents[levels[i]][leaves[:, i]] for i in range(5)], axis=1)
    assert tuples.regrouped(tuples.base, levels).sizes.size == len(np.unique(seen, axis=0))
    assert tuples.regrouped(tuples.base, (1,) * 5).sizes.size == len(np.unique(leaves >= many // 2, axis=0))
