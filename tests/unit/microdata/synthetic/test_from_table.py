"""Synthetic people of a released table: counting them gives the table back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import ResearchEntropy
from sudare.domain import Bins, Category, CountTable, Domain, Mesh, mesh_cells_of_points, mesh_level
from sudare.errors import OutputError, ParameterError
from sudare.microdata.synthetic import from_table, people_of_table, write_people_of_table

MESH = Mesh("KEY_CODE", "1/2", first_row=8307, first_column=6063, rows=4, columns=3)
DOMAIN = Domain((MESH, Bins("age", (0, 15, 65, 120)), Bins("height", (0.5, 1.25, 2.1)), Category("sex", ("f", "m"))))


def table(seed: int = 1, largest: int = 5) -> CountTable:
    generator = np.random.default_rng(seed)
    return CountTable.from_dense(generator.integers(0, largest, DOMAIN.shape), DOMAIN)


def counted(frame: Any, domain: Domain = DOMAIN) -> CountTable:
    return CountTable.from_frame(frame, domain)


def same(one: CountTable, other: CountTable) -> bool:
    return np.array_equal(one.keys, other.keys) and np.array_equal(one.counts, other.counts)


@given(st.integers(0, 2**32), st.sampled_from([7, 64, 1000]), st.sampled_from([2, 8]))
@settings(deadline=None, max_examples=12)
def test_counting_the_people_gives_the_table_back(seed: int, rows_at_once: int, largest: int) -> None:
    released = table(seed, largest)
    batches = list(people_of_table(released, rows_at_once=rows_at_once, entropy=ResearchEntropy(seed)))
    assert all(batch.num_rows == rows_at_once for batch in batches[:-1])
    assert sum(batch.num_rows for batch in batches) == released.total
    assert same(counted(pa.Table.from_batches(batches)), released)


def test_one_person_less_is_noticed() -> None:
    people = pa.Table.from_batches(people_of_table(table()))
    assert not same(counted(people.slice(1)), table())


def test_points_lie_in_their_mesh_and_all_over_it() -> None:
    domain = Domain((MESH,))
    released = CountTable.from_dense(np.full((4, 3), 2000), domain)
    people = pa.Table.from_batches(people_of_table(released, points=True, entropy=ResearchEntropy(2)))
    latitude, longitude = people["latitude"].to_numpy(), people["longitude"].to_numpy()
    rows, columns = mesh_cells_of_points(latitude, longitude, "1/2")
    own = MESH.places(people["KEY_CODE"].to_numpy())
    assert np.array_equal(rows - MESH.first_row, own[0])
    assert np.array_equal(columns - MESH.first_column, own[1])
    bounds = mesh_level(MESH.level).bounds(8307, 6063)
    south, high = float(bounds[0]), float(bounds[2] - bounds[0])
    inside = (latitude[own[0] == 0] - south) / high
    assert abs(inside.mean() - 0.5) < 0.03
    assert inside.min() < 0.01 < 0.99 < inside.max()


@pytest.mark.parametrize("level", ["1", "2", "3", "1/2", "1/4", "1/8"])
def test_the_outermost_points_of_the_grid_are_inside_at_every_level(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = mesh_level(level).cells_per_side
    for step in (0, from_table.GRID - 1):
        monkeypatch.setattr(from_table, "uniform_below", lambda bound, size, source, step=step: np.full(size, step))
        for row, column in ((0, 0), (side - 1, side - 1), (side // 2, side // 3)):
            mesh = Mesh("m", level, row, column, 1, 1)
            people = next(people_of_table(CountTable.from_dense([[1]], Domain((mesh,))), points=True))
            found = mesh_cells_of_points(people["latitude"].to_numpy(), people["longitude"].to_numpy(), level)
            assert (found[0][0], found[1][0]) == (row, column)


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_files_hold_the_same_people(tmp_path: Path, name: str) -> None:
    released = table()
    assert write_people_of_table(tmp_path / name, released, points=True) == released.total
    read: Any = pyarrow.csv.read_csv if name.endswith("csv") else pyarrow.parquet.read_table
    frame = read(tmp_path / name)
    assert same(counted(frame), released)
    assert frame.column_names == ["KEY_CODE", "latitude", "longitude", "age", "height", "sex"]
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_an_empty_table_gives_an_empty_file_with_its_columns(tmp_path: Path, name: str) -> None:
    nobody = CountTable.from_dense(np.zeros(DOMAIN.shape, dtype=np.int64), DOMAIN)
    assert list(people_of_table(nobody)) == []
    assert write_people_of_table(tmp_path / name, nobody) == 0
    if name.endswith("parquet"):
        assert pyarrow.parquet.read_table(tmp_path / name).column_names == ["KEY_CODE", "age", "height", "sex"]


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = from_table._batch

    def fails(table: CountTable, points: bool, keys: np.ndarray, source: Any) -> Any:
        if keys.size and keys[0] > 0:
            raise OSError(28, "no space")
        return real(table, points, keys, source)

    monkeypatch.setattr(from_table, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(from_table, "_batch", fails)
    monkeypatch.setattr(
        from_table.people_of_table, "__kwdefaults__", {"points": False, "rows_at_once": 3, "entropy": None}
    )
    with pytest.raises(OutputError):
        write_people_of_table(tmp_path / "people.csv", table())
    assert list(tmp_path.iterdir()) == []


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        write_people_of_table(tmp_path / "people.xlsx", table())
    with pytest.raises(ParameterError, match="CountTable"):
        people_of_table(np.array([1, 2]))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one mesh"):
        people_of_table(CountTable.from_dense([1, 2]), points=True)
    with pytest.raises(ParameterError, match="rows_at_once"):
        people_of_table(table(), rows_at_once=0)
    (tmp_path / "people.csv").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        write_people_of_table(tmp_path / "people.csv", table())
    assert (tmp_path / "people.csv").read_text() == "mine"
