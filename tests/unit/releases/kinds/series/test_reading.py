"""Where a tick is read from decides nothing else: under one key, the rows that count give the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.releases.kinds.series.crowds import (
    KEY,
    PEOPLE,
    PLAN,
    build_series,
    cells_at,
    published,
    run,
    state_of,
    write_rows,
)

WHOLE_TICKS = 2
SOURCE = 'path = "rows/{date}/{time}.parquet"'
TIMED = PLAN.replace('person = "person"', 'person = "person"\ntime = "at"', 1)


@pytest.fixture(scope="module")
def from_files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[bytes, ...]]:
    folder = tmp_path_factory.mktemp("files")
    build_series(folder, key=KEY)
    for tick in range(WHOLE_TICKS):
        run(folder, tick)
    return published(folder)


def test_a_query_for_each_tick_is_read_as_its_file_is(tmp_path: Path, from_files: dict[int, tuple[bytes, ...]]) -> None:
    files = f"{tmp_path}/rows/{{date}}/{{time}}.parquet"
    query = f"query = \"FROM '{files}' ORDER BY cell\""
    text = PLAN.replace(SOURCE, query)
    assert query in text
    build_series(tmp_path, text, key=KEY)
    for tick in range(WHOLE_TICKS):
        run(tmp_path, tick)
    assert published(tmp_path) == from_files


def test_rows_of_other_ticks_are_left_out_and_told_to_the_operator_alone(
    tmp_path: Path, from_files: dict[int, tuple[bytes, ...]]
) -> None:
    build_series(tmp_path, TIMED, key=KEY)
    for tick in range(WHOLE_TICKS):
        begins = np.datetime64("2026-11-16T00:00") + np.timedelta64(6 * tick, "h")
        late, early = begins - np.timedelta64(1, "s"), begins + np.timedelta64(6, "h")
        times = np.array([begins] * PEOPLE + [late, early, early], dtype="datetime64[s]")
        persons, cells = [*range(PEOPLE), 3, 900, 901], [*cells_at(tick).tolist(), 7, 1, 2]
        write_rows(tmp_path, tick, persons, cells, at=times)
        made = run(tmp_path, tick)
        assert made.draft is not None
        assert made.draft.left_out == 3
        assert "left_out" not in (made.folder / "release.json").read_text(encoding="utf-8")
    assert published(tmp_path) == from_files


def test_whoever_opts_out_before_the_first_tick_never_enters(tmp_path: Path) -> None:
    from sudare.ledger import open_ledger

    for name, persons in (("with", range(PEOPLE)), ("without", range(1, PEOPLE))):
        folder = tmp_path / name
        build_series(folder, key=KEY)
        with open_ledger(folder / "budget.db") as ledger:
            ledger.opt_out("crowds", "0")
        for tick in range(WHOLE_TICKS):
            write_rows(folder, tick, np.array(persons), cells_at(tick)[np.array(persons)])
            run(folder, tick)
        known = pa.parquet.read_table(state_of(folder) / "people-000000.parquet")["p"].to_pylist()
        assert 0 not in known
    assert published(tmp_path / "with") == published(tmp_path / "without")
