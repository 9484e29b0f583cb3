"""Hierarchies: every node is a range of places, tables that form no tree are refused by name, and real codes fit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare import Category, CountTable, Domain, Hierarchy
from sudare.domain import Level
from sudare.errors import ParameterError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).resolve().parents[4] / "shared" / "data"))
MESHES = DATA / "japan_mesh1km_domain" / "mesh_city.parquet"

JAPAN = {
    "Kita": "Osaka",
    "Japan": None,
    "Tokyo": "Japan",
    "Minato": "Tokyo",
    "Osaka": "Japan",
    "Chiyoda": "Tokyo",
    "Okinotori": "Japan",
}


def labels(hierarchy: Hierarchy) -> list[list[Any]]:
    return [level.labels.tolist() for level in hierarchy.levels]


def edges(hierarchy: Hierarchy) -> list[list[int]]:
    return [level.edges.tolist() for level in hierarchy.levels]


def test_places_are_leaves_in_tree_order_and_early_leaves_are_extended_down() -> None:
    area = Hierarchy.from_parents("area", JAPAN, level_names=("nation", "prefecture", "ward"))
    assert labels(area) == [
        ["Japan"],
        ["Tokyo", "Osaka", "Okinotori"],
        ["Minato", "Chiyoda", "Kita", "Okinotori"],
    ]
    assert edges(area) == [[0, 4], [0, 2, 3, 4], [0, 1, 2, 3, 4]]
    assert area.shape == (4,)
    assert area.values((np.array([3, 0]),)).tolist() == ["Okinotori", "Minato"]
    assert area.level("prefecture").nodes_at(np.arange(4)).tolist() == [0, 0, 1, 2]
    assert area.level("prefecture").range_of(0) == (0, 2)
    assert area.level(-1) is area.level(2) is area.level("ward")
    assert "prefecture: 3" in repr(area)


@pytest.mark.parametrize("kind", ["mapping", "columns", "pandas", "polars", "pyarrow", "empty texts", "text arrays"])
def test_every_way_to_hand_in_the_parents(kind: str) -> None:
    codes, parents = list(JAPAN), list(JAPAN.values())
    frame = {"id": codes, "above": parents}
    blank = [parent or "" for parent in parents]
    ways: dict[str, Any] = {
        "mapping": JAPAN,
        "columns": (codes, parents),
        "pandas": pandas.DataFrame(frame),
        "polars": polars.DataFrame(frame),
        "pyarrow": pyarrow.table(frame),
        "empty texts": (codes, blank),
        "text arrays": (np.array(codes), np.array(blank)),
    }
    expected = Hierarchy.from_parents("area", JAPAN)
    assert Hierarchy.from_parents("area", ways[kind], code="id", parent="above") == expected


def test_whole_numbers_with_gaps_as_frames_have_them() -> None:
    frame = pandas.DataFrame({"code": [1, 13, 27], "parent": [None, 1, 1]})
    assert frame["parent"].dtype == float
    assert labels(Hierarchy.from_parents("area", frame)) == [[1], [13, 27]]
    mixed = polars.DataFrame({"code": [1, 13, 27], "parent": [None, 1, 1]})
    assert Hierarchy.from_parents("area", mixed) == Hierarchy.from_parents("area", {1: None, 13: 1, 27: 1})


def test_a_root_on_top() -> None:
    expected = [["all"], ["a", "b"], ["a", "x"]]
    assert labels(Hierarchy.from_parents("area", {"a": None, "b": None, "x": "b"}, root="all")) == expected
    assert labels(Hierarchy.from_parents("area", {"a": "all", "b": "all", "x": "b"}, root="all")) == expected
    assert (
        labels(Hierarchy.from_parents("area", {"all": None, "a": None, "b": "all", "x": "b"}, root="all")) == expected
    )


def test_one_node_alone() -> None:
    alone = Hierarchy.from_parents("area", {"here": None})
    assert (labels(alone), edges(alone), alone.shape) == ([["here"]], [[0, 1]], (1,))
    assert Hierarchy.from_levels("area", {"level 0": ["here", "here"]}) == alone


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": "b", "b": "a"}, "own ancestor"),
        ({"r": None, "a": "a"}, "'a', which is its own ancestor"),
        ({"r": None, "x": "r", "b": "c", "c": "d", "d": "b", "y": "b"}, r"'[bcd]', which is its own ancestor"),
        ({"r": None, "a": "nowhere"}, r"'a', whose parent 'nowhere' is not listed instead. List 'nowhere' too"),
        ({"r": None, "s": None, "a": "r"}, r"'r' and 's' instead. Give root="),
        ((["r", "a", "b", "a"], [None, "r", "r", "b"]), "'a' with two"),
        ((["r", "a", "a"], [None, "r", None]), "'a' with two"),
        ({}, "at least one"),
        (([], []), "at least one"),
        ({"r": None, "a": 5}, "a mixture|one kind"),
        ({1: None, 2: "1"}, "one kind"),
        ({1: None, "a": 1}, "a mixture"),
        ({True: None}, "a mixture"),
        ({None: None}, "none at position 0"),
        ({1.5: None}, "a mixture"),
        ((np.array([1.5]), [None]), "other numbers"),
        ((["r", ["a"]], [None, "r"]), "a mixture"),
        (([["r"], ["a"]], [None, "r"]), "a mixture"),
        ((["r", "a"], [None]), "as many parents as codes"),
        ((["r"], [None], ["x"]), "two columns"),
        ("abc", "frame"),
        (5, "frame"),
        (pandas.DataFrame({"code": ["r"]}), "no column 'parent'"),
        ({"a\0": None}, "null character"),
        ({f"{i}": f"{i - 1}" if i else None for i in range(70)}, "at most 64 levels"),
    ],
)
def test_what_is_no_tree(parents: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Hierarchy.from_parents("area", parents)


def test_rows_that_are_listed_twice_are_no_contradiction() -> None:
    twice = Hierarchy.from_parents("area", (["r", "a", "a"], [None, "r", "r"]))
    assert twice == Hierarchy.from_parents("area", {"r": None, "a": "r"})


def test_levels_from_columns() -> None:
    columns = {"prefecture": [27, 13, 13, 13], "city": ["k", "m", "c", "m"], "mesh": [9, 3, 7, 1]}
    area = Hierarchy.from_levels("mesh", columns)
    assert labels(area) == [["all"], [27, 13], ["k", "m", "c"], [9, 3, 1, 7]]
    assert edges(area) == [[0, 4], [0, 1, 4], [0, 1, 3, 4], [0, 1, 2, 3, 4]]
    assert area.places(np.array([7, 9]))[0].tolist() == [3, 0]
    assert Hierarchy.from_levels("mesh", polars.DataFrame(columns)) == area
    assert Hierarchy.from_levels("mesh", pandas.DataFrame(columns), ["prefecture", "city", "mesh"]) == area
    assert labels(Hierarchy.from_levels("city", columns, ("city",), root="top")) == [["top"], ["k", "m", "c"]]


@pytest.mark.parametrize(
    ("columns", "levels", "message"),
    [
        ({"a": [1, 2], "b": [5, 5]}, None, "The 'b' parameter .* 5 with two"),
        ({"a": [1, 2], "b": ["x", None]}, None, "The 'b' parameter .* none at position 1"),
        ({"a": [1, 2], "b": [5]}, None, "equal length"),
        ({"a": [1, 2]}, ("a", "c"), "The 'levels' parameter"),
        ({"a": [1, 2]}, ("a", "a"), "The 'levels' parameter"),
        ({"a": [1, 2]}, "a", "The 'levels' parameter"),
        ({"a": [1, 2]}, ([],), "The 'levels' parameter"),
        ({"all": [1, 2]}, None, "different names"),
        ({}, None, "The 'levels' parameter"),
        ({"a": []}, None, "at least one"),
        (7, None, "frame"),
    ],
)
def test_columns_that_are_no_levels(columns: Any, levels: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Hierarchy.from_levels("area", columns, levels)


@given(data=st.data(), nodes=st.integers(1, 40))
def test_any_tree(data: st.DataObject, nodes: int) -> None:
    """Ranges are those that recursion gives, however the rows are ordered."""
    above = {node: data.draw(st.integers(0, node - 1)) for node in range(1, nodes)}
    listed = data.draw(st.permutations(range(nodes)))
    area = Hierarchy.from_parents("area", ([f"{n}" for n in listed], [f"{above[n]}" if n else None for n in listed]))
    children = {node: [n for n in listed if above.get(n) == node] for node in range(nodes)}

    def leaves_of(node: int) -> list[int]:
        return [leaf for child in children[node] for leaf in leaves_of(child)] if children[node] else [node]

    leaves = leaves_of(0)
    assert area.values((np.arange(area.shape[0]),)).tolist() == [f"{leaf}" for leaf in leaves]
    assert area.places([f"{leaf}" for leaf in leaves])[0].tolist() == list(range(len(leaves)))
    for level in area.levels:
        for node, label in enumerate(level.labels.tolist()):
            start, end = level.range_of(node)
            assert leaves[start:end] == leaves_of(int(label))


def test_it_is_an_attribute() -> None:
    area = Hierarchy.from_parents("area", JAPAN)
    domain = Domain((area, Category("sex", ("f", "m"))))
    frame = polars.DataFrame({"area": ["Kita", "Minato", "Kita"], "sex": ["m", "f", "m"]})
    table = CountTable.from_frame(frame, domain)
    assert table.to_dense().tolist() == [[1, 0], [0, 0], [0, 2], [0, 0]]
    assert table.to_columns()["area"].tolist() == ["Minato", "Kita"]
    same = CountTable.from_frame(
        frame.to_pandas(), Domain((Hierarchy.from_parents("area", JAPAN), domain.attributes[1]))
    )
    assert same == table
    assert hash(same.domain) == hash(domain)
    assert area != Hierarchy.from_parents("region", JAPAN) != 5


@pytest.mark.parametrize("value", ["Tokyo", "nowhere", "", "Kitaa"])
def test_codes_that_are_no_leaves_are_named(value: str) -> None:
    with pytest.raises(ParameterError, match=f"'{value}' at position 1"):
        Hierarchy.from_parents("area", JAPAN).places(["Kita", value])


def test_values_of_another_kind() -> None:
    area = Hierarchy.from_parents("area", JAPAN)
    strange: list[Any] = [[1, 2], np.array(["Kita", 5], dtype=object), [["Kita"]], np.array([1.0])]
    for wrong in strange:
        with pytest.raises(ParameterError, match="The 'area' parameter"):
            area.places(wrong)
    numbers = Hierarchy.from_parents("area", {1: None, 2: 1})
    others: list[Any] = [["2"], [2.0], [3], [-1], np.array([2**63], dtype=np.uint64)]
    for wrong in others:
        with pytest.raises(ParameterError, match="The 'area' parameter"):
            numbers.places(wrong)


@pytest.mark.parametrize("wanted", ["ward", 3, -4, True, 1.0, None])
def test_levels_that_there_are_not(wanted: Any) -> None:
    with pytest.raises(ParameterError, match="The 'level' parameter"):
        Hierarchy.from_parents("area", JAPAN).level(wanted)


def test_cut_off_at_a_level() -> None:
    area = Hierarchy.from_parents("area", JAPAN, level_names=("nation", "prefecture", "ward"))
    cut = area.down_to("prefecture")
    assert labels(cut) == labels(area)[:2]
    assert edges(cut) == [[0, 3], [0, 1, 2, 3]]
    assert area.down_to(-1) == area
    assert labels(area.down_to(0)) == [["Japan"]]


def test_levels_by_hand_must_nest() -> None:
    root, pair = Level("r", np.array(["r"]), np.array([0, 2])), Level("p", np.array(["a", "b"]), np.array([0, 1, 2]))
    Hierarchy("area", (root, pair))
    broken = [
        (),
        (pair,),
        (pair, root),
        (root, root),
        (root, Level("p", np.array(["a", "a"]), pair.edges)),
        (Level("r", np.array(["r"]), np.array([0, 3])), pair),
    ]
    for levels in broken:
        with pytest.raises(ParameterError, match="The 'levels' parameter of Hierarchy"):
            Hierarchy("area", levels)
    with pytest.raises(ParameterError, match="The 'level_names' parameter"):
        Hierarchy.from_parents("area", JAPAN, level_names=("nation",))
    with pytest.raises(ParameterError, match="The 'name' parameter"):
        Hierarchy.from_parents("", JAPAN)
    for array in (pair.labels, pair.edges):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.skipif(not MESHES.exists(), reason="the list of all 1 km meshes is not there")
def test_all_meshes_of_japan() -> None:
    rows = polars.read_parquet(MESHES).with_columns(prefecture=polars.col("city_code") // 1000)
    names = ["prefecture", "city_code", "mesh_code"]
    with pytest.raises(ParameterError, match=r"The 'mesh_code' parameter .* with two instead. Keep one of its rows"):
        Hierarchy.from_levels("mesh_code", rows, names)
    once = rows.unique("mesh_code", keep="first", maintain_order=True)
    japan = Hierarchy.from_levels("mesh_code", once, names, root="Japan")
    assert [level.nodes for level in japan.levels] == [1, 47, once["city_code"].n_unique(), 387_286]
    codes = once["mesh_code"].to_numpy()
    places = japan.places(codes)
    assert np.array_equal(japan.values(places), codes)
    above = japan.level("prefecture").labels[japan.level("prefecture").nodes_at(places[0])]
    assert np.array_equal(above, once["prefecture"].to_numpy())
