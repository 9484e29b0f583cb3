"""How much of one person is counted: rows, cells, and rows in each cell."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare import Unit
from sudare.attacks import audit_epsilon
from sudare.domain import Bins, Category, CountTable, Domain, Mesh, Positions
from sudare.errors import InputError, ParameterError
from sudare.io import Source, read_counts
from sudare.io.bounding import ContributionBounds
from sudare.noise import discrete_laplace
from sudare.privacy import sensitivity_of_counts

CELLS = Domain((Category("place", ("a", "b", "c", "d")),))
Rows = list[tuple[int, str]]
ROWS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from("abcd")), max_size=30)


def written(rows: Rows, folder: str | Path, name: str = "rows.parquet") -> Source:
    path = Path(folder) / name
    schema = pyarrow.schema([("id", "int64"), ("place", "string")])
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"id": i, "place": p} for i, p in rows], schema), path)
    return Source(str(path), person="id")


def counted(source: Source, unit: Unit, domain: Domain = CELLS) -> CountTable:
    return read_counts(
        source, domain, rows_per_person=unit.rows, cells_per_person=unit.cells, rows_per_cell=unit.rows_per_cell
    )


UNITS = [Unit(cells=2), Unit(cells=2, rows_per_cell=2), Unit(rows_per_cell=3), Unit(cells=3, rows_per_cell=2, rows=4)]


@settings(max_examples=15, deadline=None)
@given(rows=ROWS, unit=st.sampled_from(UNITS), data=st.data())
def test_a_table_is_the_sum_of_what_is_counted_of_each(rows: Rows, unit: Unit, data: st.DataObject) -> None:
    """The claim of the proof: everybody's vector is bounded, and depends on their own rows alone."""
    shuffled = data.draw(st.permutations(rows))
    with tempfile.TemporaryDirectory() as folder:
        whole = counted(written(shuffled, folder), unit).to_dense()
        own = {}
        for person in sorted({person for person, _ in rows}):
            alone = [row for row in rows if row[0] == person]
            own[person] = counted(written(alone, folder, f"{person}.parquet"), unit).to_dense()
    assert np.array_equal(whole, sum(own.values(), np.zeros(4, dtype=np.int64)))
    for person, vector in own.items():
        held = Counter(place for who, place in rows if who == person)
        largest = [min(count, unit.rows_per_cell) for count in held.values()]
        assert np.count_nonzero(vector) <= unit.cells
        assert vector.max() <= unit.rows_per_cell
        assert vector.sum() <= unit.rows
        assert all(vector["abcd".index(place)] <= count for place, count in held.items())
        # No more is dropped than has to be.
        assert vector.sum() >= min(unit.rows, sum(sorted(largest)[: unit.cells]))


@pytest.mark.parametrize(
    "unit", [Unit(cells=2), Unit(cells=2, rows_per_cell=2), Unit(rows_per_cell=2), Unit.with_rows(2)]
)
def test_neighbours_by_brute_force(unit: Unit, tmp_path: Path) -> None:
    """All ways to have up to four rows in three places: norms never exceed the sensitivity, and reach it."""
    ways = list(product(["", "a", "b", "c"], repeat=4))
    rows = [(number, place) for number, places in enumerate(ways) for place in places if place]
    # With the person as an attribute too, the table shows everybody's vector.
    everybody = Domain((Positions("id", len(ways)), *CELLS.attributes))
    vectors = counted(written(rows, tmp_path), unit, everybody).to_dense()
    largest = sensitivity_of_counts(unit)
    assert vectors.sum(axis=1).max() == largest.l1
    assert (vectors**2).sum(axis=1).max() == largest.l2_squared
    assert vectors.max() == largest.largest
    assert (vectors > 0).sum(axis=1).max() == largest.cells
    kept = [min(unit.rows, sum(sorted(map(places.count, set(places) - {""})))) for places in ways]
    assert (vectors.sum(axis=1) <= kept).all()


def test_distinct_people_in_each_cell(tmp_path: Path) -> None:
    rows = [(1, "a")] * 50 + [(2, "a")] * 3 + [(2, "b")] * 7 + [(3, "c")]
    source = written(rows, tmp_path)
    assert read_counts(source, CELLS, cells_per_person=4).to_dense().tolist() == [2, 1, 1, 0]
    assert read_counts(source, CELLS, cells_per_person=4, rows_per_cell=5).to_dense().tolist() == [8, 5, 1, 0]
    assert read_counts(source, CELLS, rows_per_person=60).to_dense().tolist() == [53, 7, 1, 0]
    assert read_counts(source, CELLS, rows_per_cell=2).total == 2 + 2 + 1


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_two_spellings_of_a_cell_are_one(suffix: str, tmp_path: Path) -> None:
    """Without bringing values to cells first, a person would count once for each spelling."""
    path = tmp_path / f"rows{suffix}"
    codes = ["1", "1.0", "01", "2"]
    table = pyarrow.table({"id": [7] * 4, "code": codes})
    if suffix == ".csv":
        path.write_text("id,code\n" + "".join(f"7,{code}\n" for code in codes))
    else:
        pyarrow.parquet.write_table(table, path)
    domain = Domain((Category("code", (1, 2)),))
    assert read_counts(Source(str(path), person="id"), domain, cells_per_person=2).to_dense().tolist() == [1, 1]
    assert read_counts(Source(str(path), person="id"), domain, rows_per_person=9).to_dense().tolist() == [3, 1]


def test_points_and_fine_bins(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    # The second is exactly on a border, so it comes with its coordinates; both lie in the same mesh.
    path.write_text(
        "id,lat,lon,x\n1,35.676,139.756,0.25\n1,35.675,139.75,0.25\n1,35.676,139.757,0.26\n2,35.676,139.756,1.5\n"
    )
    mesh = Mesh("KEY_CODE", "3", 4240, 3120, 80, 80)
    bins = Bins("x", tuple(range(2000)))
    source = Source(str(path), person="id", columns={"KEY_CODE": "lat,lon"})
    assert read_counts(source, Domain((mesh,)), cells_per_person=3).counts.tolist() == [2]
    assert read_counts(source, Domain((mesh, bins)), cells_per_person=3).counts.tolist() == [1, 1]
    assert read_counts(source, Domain((mesh, bins)), cells_per_person=3, rows_per_cell=2).counts.tolist() == [2, 1]


def test_rows_outside_of_the_window_are_no_cells(tmp_path: Path) -> None:
    mesh = Mesh("KEY_CODE", "3", 4280, 3180, 10, 10)
    (inside,) = mesh.values((np.array([3]), np.array([4]))).tolist()
    path = tmp_path / "rows.csv"
    outside = "".join(f"1,6441{row}{column}{end}\n" for row in range(8) for column in range(8) for end in ("00", "77"))
    path.write_text(f"id,KEY_CODE\n{outside}1,{inside}\n")
    source = Source(str(path), person="id", outside="leave out")
    assert read_counts(source, Domain((mesh,)), cells_per_person=2).counts.tolist() == [1]
    # By rows alone they are among a person's rows: which one is kept hangs on the key.
    one: dict[str, Any] = {"rows_per_person": 1, "selection_key": f"{5:064x}"}
    assert read_counts(source, Domain((mesh,)), **one).total <= 1


def test_another_key_keeps_other_rows(tmp_path: Path) -> None:
    """Nobody can choose which of their rows come first: of many keys, each place is kept about as often."""
    source = written([(1, place) for place in "abcd"], tmp_path)
    units: tuple[dict[str, Any], ...] = (
        {"rows_per_person": 1},
        {"cells_per_person": 1, "rows_per_cell": 1},
        {"rows_per_person": 2},
    )
    for unit in units:
        keys = (f"{number:064x}" for number in range(40))
        kept = np.sum([read_counts(source, CELLS, selection_key=key, **unit).to_dense() for key in keys], axis=0)
        assert kept.min() > 0
        again = [read_counts(source, CELLS, selection_key="7" * 64, **unit).to_dense().tolist() for _ in range(2)]
        assert again[0] == again[1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,place\n1,a\n,a\n", "'id' has an empty field in 'rows.csv', row 3"),
        ("id,place\n1,a\n1,x\n", "'place' has a value in 'rows.csv', row 3"),
        ("id,place\n1,a\n1,\n", "'place' has an empty field in 'rows.csv', row 3"),
    ],
)
def test_mistakes_are_told(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_counts(Source(str(path), person="id"), CELLS, cells_per_person=2)


def test_wrong_limits(tmp_path: Path) -> None:
    source = written([(1, "a")], tmp_path)
    with pytest.raises(ParameterError, match="'cells_per_person' parameter of read_counts"):
        read_counts(source, CELLS, cells_per_person=0)
    with pytest.raises(ParameterError, match="'rows_per_cell' parameter of read_counts must be left out unless"):
        read_counts(Source(source.path), CELLS, rows_per_cell=1)
    assert ContributionBounds(cells=2, rows_per_cell=3, rows=99).rows == 6


def test_an_audit_of_distinct_people(tmp_path: Path) -> None:
    """Somebody with 40 rows in one cell: bounded, nobody sees them beyond epsilon; a count that forgets to bound is caught."""
    epsilon, runs = 1.0, 40_000
    others, person = [(1, "a"), (2, "b")], [(9, "a")] * 40
    without, within = written(others, tmp_path, "0.parquet"), written([*others, *person], tmp_path, "1.parquet")
    noise = discrete_laplace(sensitivity_of_counts(Unit()).l1 / epsilon)

    def audit(unbounded: bool) -> float:
        sides = []
        for source in (without, within):
            read = Source(source.path) if unbounded else source
            table = read_counts(read, CELLS, cells_per_person=None if unbounded else 1)
            sides.append(noise.draw(runs) + int(table.to_dense()[0]))
        return audit_epsilon(*sides).lower_bound

    assert audit(unbounded=False) <= epsilon
    assert audit(unbounded=True) > epsilon
