"""Who is where: rows that cannot be placed decide nothing, and the others are placed as in a single table."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sudare.domain import Bins, Category, Domain, Positions
from sudare.errors import InputError
from sudare.io import Source, read_counts
from sudare.io.columns import AttributeColumn
from sudare.io.counting import Defaults
from sudare.io.engine import open_engine
from sudare.io.person_cells import MAX_COUNT, Within, placed_counts, placed_people, places_where_possible

DOMAIN = Domain((Positions("x", 8), Category("sex", ("f", "m")), Bins("age", (0, 20, 60, 120))))


def placed(folder: Path, within: Within | None = None, **columns: object) -> list[tuple[object, int]]:
    file = folder / "rows.parquet"
    pq.write_table(pa.table(columns), file)
    with placed_people(Source(str(file), person="p"), DOMAIN, within=within) as rows:
        return sorted(rows.connection.execute(f"SELECT p, cell FROM {rows.rows}").fetchall(), key=str)  # noqa: S608


def test_good_rows_are_placed_as_a_single_table_places_them(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    size = 500
    columns: dict[str, Any] = {
        "p": np.arange(size),
        "x": random.integers(0, 8, size),
        "sex": np.array(["f", "m"])[random.integers(0, 2, size)],
        "age": random.integers(0, 120, size),
    }
    cells = [cell for _, cell in placed(tmp_path, **columns)]
    table = read_counts(Source(str(tmp_path / "rows.parquet"), person="p"), DOMAIN)
    keys, counts = np.unique(cells, return_counts=True)
    assert keys.tolist() == table.keys.tolist()
    assert counts.tolist() == table.counts.tolist()


def test_rows_that_cannot_be_placed_are_left_out(tmp_path: Path) -> None:
    rows = placed(
        tmp_path,
        p=["a", "b", "c", "d", "e", None, "g"],
        x=[0, 8, -1, None, 3, 0, 7],
        sex=["f", "f", "f", "f", "x", "f", "m"],
        age=[5, 5, 5, 5, 5, 5, 119],
    )
    inside = {person: cell for person, cell in rows if cell >= 0}
    assert set(inside) == {"a", "g"}
    assert inside["g"] == DOMAIN.cells - 1
    assert len(rows) == 7


def test_rows_of_other_times_are_left_out(tmp_path: Path) -> None:
    within = Within("t", datetime(2026, 11, 16, 8), datetime(2026, 11, 16, 9))
    times = ["2026-11-16 07:59:59", "2026-11-16 08:00:00", "2026-11-16 08:59:59", "2026-11-16 09:00:00", "soon", None]
    six = {"x": [0] * 6, "sex": ["f"] * 6, "age": [1] * 6}
    rows = placed(tmp_path, within, p=list("abcdef"), t=times, **six)
    assert {person for person, cell in rows if cell >= 0} == {"b", "c"}


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    within = Within("t", datetime(2026, 11, 16), datetime(2026, 11, 17))
    with pytest.raises(InputError, match="'t'"):
        placed(tmp_path, within, p=["a"], x=[0], sex=["f"], age=[1])


@pytest.mark.parametrize("wrong", [(), (0,), (6,), (0, 6), (1, 2, 3), tuple(range(7))])
def test_wrong_values_anywhere_cost_nobody_their_place(wrong: tuple[int, ...]) -> None:
    values = [99 if place in wrong else place for place in range(7)]
    column = AttributeColumn(Positions("x", 8), "x", "BIGINT")
    inside, (places,) = places_where_possible(column, pa.array(values))
    assert inside.tolist() == [place not in wrong for place in range(7)]
    assert places.tolist() == [0 if place in wrong else place for place in range(7)]


@pytest.mark.parametrize("sizes", [[2**60 - 65], [2**59, 2**59 - 70], [2**60] * 9, [2**60 - 1], [2**62, 3]], ids=str)
def test_one_event_more_is_at_most_one_more_however_large_a_count_is(tmp_path: Path, sizes: list[int]) -> None:
    found = []
    for more in (0, 1):
        file = tmp_path / f"{more}.parquet"
        pq.write_table(pa.table({"x": [3] * len(sizes) + [3], "n": pa.array([*sizes, more], pa.int64())}), file)
        source = Source(str(file), rows="counts", count="n")
        found.append(int(placed_counts(source, Domain((Positions("x", 8),)), Defaults("counts")).people[0]))
    assert found[1] - found[0] in (0, 1)
    assert found[0] == min(sum(sizes), MAX_COUNT)


def test_the_engine_writes_no_bar_of_its_own() -> None:
    with open_engine() as connection:
        assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)
