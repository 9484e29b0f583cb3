"""Count tables keep every count, refuse what is none, and never show one in an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from sudare.domain import (
    Bins,
    Category,
    CountTable,
    Domain,
    Hierarchy,
    Mesh,
    Positions,
    SignedTable,
    morton_layout,
    raster_layout,
)
from sudare.errors import ParameterError

SHAPES = st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple)
PEOPLE = Domain((Category("sex", ("f", "m")), Bins("age", (0, 15, 65, 120)), Mesh("KEY_CODE", "3", 4280, 3180, 4, 5)))


@given(SHAPES.flatmap(lambda shape: arrays.arrays(np.int64, shape, elements=st.integers(0, 9))))
def test_dense_and_back(array: np.ndarray) -> None:
    table = CountTable.from_dense(array)
    assert np.array_equal(table.to_dense(), array)
    assert (table.counts > 0).all()
    assert (np.diff(table.keys.astype(np.int64)) > 0).all()
    assert table.total == array.sum()


@given(SHAPES, st.data())
def test_cells_in_any_order_with_repeats_and_zeros(shape: tuple[int, ...], data: st.DataObject) -> None:
    domain = Domain.of_shape(shape)
    keys = data.draw(st.lists(st.integers(0, domain.cells - 1), max_size=30))
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(keys), max_size=len(keys)))
    dense = np.zeros(domain.cells, dtype=np.int64)
    np.add.at(dense, np.array(keys, dtype=np.int64), counts)
    table = CountTable.from_cells(domain, np.array(keys, dtype=np.int64), np.array(counts, dtype=np.int64))
    assert np.array_equal(table.to_dense().ravel(), dense)
    assert table == CountTable.from_dense(dense.reshape(shape))


@given(SHAPES)
def test_keys_and_places_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    domain = Domain.of_shape(shape)
    keys = np.arange(domain.cells, dtype=np.uint64)
    places = domain.places_of(keys)
    assert np.array_equal(np.ravel_multi_index(places, shape), keys)
    assert np.array_equal(domain.keys_at(*places), keys)


def people_columns() -> dict[str, list[Any]]:
    return {"sex": ["f", "m", "m", "f"], "age": [3, 70, 70, 64], "KEY_CODE": [53394600, 53394611, 53394611, 53394634]}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames(kind: str) -> None:
    columns = people_columns()
    frame: Any = pandas.DataFrame(columns) if kind == "pandas" else polars.DataFrame(columns)
    frame = frame.to_arrow() if kind == "arrow" else frame
    table = CountTable.from_frame(frame, PEOPLE)
    assert table.total == 4
    assert sorted(table.counts.tolist()) == [1, 1, 2]
    out = table.to_arrow("people").to_pylist()
    assert {"sex": "m", "age": 65.0, "KEY_CODE": 53394611, "people": 2} in out
    again = CountTable.from_frame(table.to_arrow("people"), PEOPLE, count="people")
    assert again == table


def test_sparse_and_back() -> None:
    dense = np.array([[0, 2, 0], [7, 0, 1]])
    table = CountTable.from_sparse(csr_array(dense))
    assert table == CountTable.from_dense(dense)
    assert np.array_equal(table.to_sparse().toarray(), dense)
    with pytest.raises(ParameterError, match="two axes"):
        CountTable.from_dense(np.zeros((2, 2, 2), dtype=int)).to_sparse()


def test_neighbours_are_near_each_other_along_ordered_axes_only() -> None:
    assert PEOPLE.ordered_axes == (1, 2, 3)
    assert Domain.of_shape((3, 4)).ordered_axes == (0, 1)
    area = Hierarchy.from_levels("ward", {"prefecture": [13, 13, 27], "ward": [13101, 13103, 27127]})
    assert Domain((area, Category("sex", ("f", "m")))).ordered_axes == ()


def test_a_huge_domain_takes_no_space() -> None:
    domain = Domain.of_shape((2**31, 2**31))
    keys = np.array([0, 2**62 - 1, 5], dtype=np.uint64)
    table = CountTable.from_cells(domain, keys, [1, 2, 3])
    assert table.total == 6
    assert table.keys.tolist() == [0, 5, 2**62 - 1]
    assert domain.places_of(table.keys)[0].tolist() == [0, 0, 2**31 - 1]
    with pytest.raises(ParameterError, match=r"at most 2\*\*34 cells"):
        table.to_dense()


@pytest.mark.parametrize("shape", [(2**31, 2**31, 2), (2**62 + 1,), (0,), (2, -1), (2.0,), (True,), ()])
def test_domains_that_cannot_be(shape: Any) -> None:
    with pytest.raises(ParameterError):
        Domain.of_shape(shape)


@pytest.mark.parametrize(
    "counts",
    [
        [-1, 2],
        [1.5, 2],
        [float("nan"), 1],
        [float("inf"), 1],
        [2**62, 2**62],
        [2**63, 1],
        [True, False],
        ["1", "2"],
        [None, 1],
        [1],
        [[1, 2]],
        [1e18, 1],
    ],
)
def test_counts_that_are_none(counts: Any) -> None:
    with pytest.raises(ParameterError, match="must be") as caught:
        CountTable.from_cells(Domain.of_shape((4,)), [0, 1], counts)
    assert "1.5" not in str(caught.value)
    assert "-1" not in str(caught.value)


@pytest.mark.parametrize("keys", [[4, 0], [-1, 0], [0.5, 1], ["a", "b"], [[0, 1]]])
def test_keys_outside_the_domain(keys: Any) -> None:
    with pytest.raises(ParameterError, match=r"The 'keys' parameter of CountTable\.from_cells must be"):
        CountTable.from_cells(Domain.of_shape((4,)), keys, [1, 1])


def test_whole_floats_are_counts() -> None:
    assert CountTable.from_dense(np.array([0.0, 3.0])).total == 3


@pytest.mark.parametrize(
    ("column", "value"),
    [("sex", "x"), ("sex", None), ("age", -1), ("age", 120), ("KEY_CODE", 53394699), ("KEY_CODE", 5339)],
)
def test_values_outside_their_attribute_are_named(column: str, value: Any) -> None:
    columns = people_columns()
    columns[column][2] = value
    with pytest.raises(ParameterError) as caught:
        PEOPLE.keys_of(columns)
    assert "at position 2" in str(caught.value) or "array of" in str(caught.value)


def test_missing_columns_are_named() -> None:
    with pytest.raises(ParameterError, match="no column 'age'"):
        CountTable.from_frame(pandas.DataFrame({"sex": ["f"], "KEY_CODE": [53394600]}), PEOPLE)
    with pytest.raises(ParameterError, match="pandas, polars or pyarrow"):
        CountTable.from_frame([1, 2], PEOPLE)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Category("sex", ()),
        lambda: Category("sex", ("f", "f")),
        lambda: Category("sex", "fm"),  # type: ignore[arg-type]
        lambda: Category("", ("f",)),
        lambda: Bins("age", (0,)),
        lambda: Bins("age", (0, 0)),
        lambda: Bins("age", (0, float("nan"))),
        lambda: Bins("age", 5),  # type: ignore[arg-type]
        lambda: Positions("x", 0),
        lambda: Mesh("m", "3", -1, 0, 1, 1),
        lambda: Mesh("m", "3", 0, 0, 1, 8001),
        lambda: Mesh("m", "9", 0, 0, 1, 1),
        lambda: Mesh.covering("m", [], "3"),
        lambda: Domain(()),
        lambda: Domain((Positions("x", 2), Positions("x", 2))),
        lambda: Domain(5),  # type: ignore[arg-type]
    ],
)
def test_attributes_and_domains_that_cannot_be(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


def test_a_table_is_not_published_by_being_shown_or_changed() -> None:
    table = CountTable.from_dense(np.array([123456, 0]))
    assert "123456" not in repr(table)
    with pytest.raises(ValueError, match="read-only"):
        table.counts[0] = 1


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4).map(tuple), st.data())
def test_layouts_are_one_to_one(shape: tuple[int, ...], data: st.DataObject) -> None:
    domain = Domain.of_shape(shape)
    keys = np.array(data.draw(st.lists(st.integers(0, domain.cells - 1), min_size=1, max_size=30)), dtype=np.uint64)
    for layout in (morton_layout(shape), raster_layout(shape)):
        leaves = layout.to_tree(keys)
        assert np.array_equal(layout.to_raster(leaves), keys)
        assert (leaves < 2**layout.depth).all()
        assert leaves.tolist() == [naive_leaf(layout, places) for places in zip(*domain.places_of(keys), strict=True)]


def naive_leaf(layout: Any, places: tuple[int, ...]) -> int:
    """Bit by bit from the top."""
    left = [(length - 1).bit_length() for length in layout.lengths]
    leaf = 0
    for axis in layout.axis_of_split:
        left[axis] -= 1
        leaf = leaf << 1 | int(places[axis]) >> left[axis] & 1
    return leaf


def test_raster_layout_of_powers_of_two_is_the_key_itself() -> None:
    keys = np.arange(8 * 16, dtype=np.uint64)
    assert np.array_equal(raster_layout((8, 16)).to_tree(keys), keys)


def test_morton_blocks_are_square() -> None:
    leaves = morton_layout((8, 8)).to_tree(np.arange(64, dtype=np.uint64)).reshape(8, 8)
    assert set((leaves[:4, :4] // 16).ravel().tolist()) == {0}
    assert len(set((leaves[2:4, 4:6] // 4).ravel().tolist())) == 1


def test_bins_and_values_of_different_precision_agree() -> None:
    """float32 0.7 is below the double 0.7: it is outside, not in the last bin of another row."""
    with pytest.raises(ParameterError, match="another value at position 0"):
        Bins("x", (0.7, 0.8, 0.9)).places(np.array([0.7], np.float32))
    with pytest.raises(ParameterError, match="another value at position 0"):
        Bins("x", (0, 10, 2**53)).places(np.array([2**62], np.uint64))


@pytest.mark.parametrize("edges", [(0, 10**400), ("1", "2"), "12", ((0, 1), (2, 3)), (0, 2**62 + 1), (0, True)])
def test_edges_that_are_none(edges: Any) -> None:
    with pytest.raises(ParameterError, match="The 'edges' parameter of Bins"):
        Bins("x", edges)


@pytest.mark.parametrize("labels", [(1, "a"), ("a", "a\0"), (2**53 + 1, 0.5), ("f", "m"), (3, 1, 2)])
def test_labels_come_back_as_they_are(labels: tuple[Any, ...]) -> None:
    category = Category("c", labels)
    back = category.values(category.places(np.array(labels, dtype=object)))
    assert back.tolist() == list(labels)


@pytest.mark.parametrize("labels", [([1], [2]), ((1, 2), (3, 4)), (None, 1)])
def test_labels_that_are_none(labels: Any) -> None:
    with pytest.raises(ParameterError, match="The 'labels' parameter of Category"):
        Category("c", labels)


@pytest.mark.parametrize("values", [[[0, 1]], 5, [[1], [1, 2]], np.ma.array([0, 1], mask=[True, False])])
def test_columns_have_one_dimension(values: Any) -> None:
    for attribute in (Positions("p", 4), Bins("p", (0, 4)), Category("p", (0, 1))):
        with pytest.raises(ParameterError, match="The 'p' parameter of this table"):
            attribute.places(values)


def test_columns_have_equal_length() -> None:
    domain = Domain.of_shape((4, 4))
    with pytest.raises(ParameterError, match="columns of equal length"):
        domain.keys_of({"axis 0": [1], "axis 1": [0, 1, 2]})


def test_masked_counts_are_refused() -> None:
    masked: Any = np.ma.array([1, 99999, 0], mask=[False, True, False])
    with pytest.raises(ParameterError, match="a masked array"):
        CountTable.from_dense(masked)
    with pytest.raises(ParameterError, match="a masked array"):
        CountTable.from_cells(Domain.of_shape((3,)), [0, 1, 2], masked)


def test_totals_are_checked_exactly() -> None:
    domain = Domain.of_shape((4,))
    assert CountTable.from_cells(domain, [0, 1], [2**62 - 1, 1]).total == 2**62
    with pytest.raises(ParameterError, match="total of at most"):
        CountTable.from_cells(domain, [0, 1], [2**62, 1])


@pytest.mark.parametrize("shape", [5, (4.0,), (0,), (), [4, 4], (True,)])
def test_layouts_of_no_shape(shape: Any) -> None:
    for make in (morton_layout, raster_layout):
        with pytest.raises(ParameterError, match="The 'shape' parameter"):
            make(shape)


class TestSignedTables:
    @given(SHAPES.flatmap(lambda shape: arrays.arrays(np.int64, shape, elements=st.integers(-9, 9))))
    def test_dense_and_back(self, array: np.ndarray) -> None:
        table = SignedTable.from_dense(array)
        assert np.array_equal(table.to_dense(), array)
        assert (table.counts != 0).all()
        assert table.total == array.sum()
        assert table == SignedTable.from_cells(table.domain, table.keys[::-1].copy(), table.counts[::-1].copy())
        assert table == SignedTable.from_frame(table.to_arrow(), table.domain, count="count")
        if len(array.shape) == 2:
            assert SignedTable.from_sparse(table.to_sparse()) == table

    def test_repeated_cells_are_added_up_and_may_cancel(self) -> None:
        table = SignedTable.from_cells(Domain.of_shape((4,)), [3, 1, 3, 1], [5, -2, -5, -1])
        assert (table.keys.tolist(), table.counts.tolist()) == ([1], [-3])

    def test_the_total_of_numbers_at_the_end_of_64_bits(self) -> None:
        assert SignedTable.from_dense([2**63 - 1, 2**63 - 1, -5]).total == 2**64 - 7
        assert SignedTable.from_dense([1 - 2**63, 1 - 2**63]).total == 2 - 2**64
        with pytest.raises(ParameterError, match="repeated keys"):
            SignedTable.from_cells(Domain.of_shape((2,)), [1, 1], [2**63 - 1, 2**63 - 1])

    def test_it_is_no_count_table(self) -> None:
        counts = CountTable.from_dense([3, 0, 5])
        signed = SignedTable.from_dense([3, 0, 5])
        assert not isinstance(signed, CountTable)
        assert not isinstance(counts, SignedTable)
        assert signed != counts
        assert counts != signed
        assert repr(signed) == "SignedTable(shape=(3,), cells=3)"
        with pytest.raises(ParameterError, match="whole numbers from 0 to"):
            CountTable.from_dense([3, 0, -5])
        with pytest.raises(ParameterError, match="positive count"):
            CountTable(signed.domain, np.array([1], dtype=np.uint64), np.array([-1]))

    @pytest.mark.parametrize("wrong", [[1.5], [np.nan], ["a"], [-(2**63)], [True], 5])
    def test_what_is_no_whole_number(self, wrong: Any) -> None:
        with pytest.raises(ParameterError):
            SignedTable.from_dense(wrong)
