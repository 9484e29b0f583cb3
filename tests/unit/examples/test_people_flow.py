"""Invented people live through a day: the same by seed, as busy as asked for, and at home at night."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.domain import CountTable, Domain
from sudare.errors import OutputError, ParameterError
from sudare.examples import PeopleFlow, invent_country, write_people_flow
from sudare.examples.nearby import NearbyCells

COUNTRY = invent_country(128, people=20_000)


def day(**given: Any) -> tuple[PeopleFlow, list[Any]]:
    flow = PeopleFlow(COUNTRY, **given)
    return flow, list(flow.day())


def counted(cells: Any) -> Any:
    return np.bincount(cells[cells >= 0], minlength=COUNTRY.domain.cells)


def test_everybody_is_at_home_at_midnight_and_the_country_is_counted_back() -> None:
    flow = PeopleFlow(COUNTRY, moving=0.05)
    assert np.array_equal(counted(flow.advance()), COUNTRY.to_dense().ravel())


@pytest.mark.parametrize("moving", [0.001, 0.01, 0.05, 0.1, 0.25])
@pytest.mark.parametrize("ticks", [24, 144])
def test_about_the_asked_share_of_people_moves_at_a_tick(moving: float, ticks: int) -> None:
    _, cells = day(moving=moving, ticks=ticks)
    shares = [np.mean(one != other) for one, other in pairwise(cells)]
    assert 0.8 * moving < np.mean(shares) < 1.15 * moving


def test_nobody_ever_moves_in_a_static_stream() -> None:
    _, cells = day(moving=0)
    assert all(np.array_equal(cells[0], other) for other in cells)


def test_a_day_has_a_rush_hour_a_stadium_and_a_night() -> None:
    flow, cells = day(moving=0.01)
    moved = np.array([np.mean(one != other) for one, other in pairwise(cells)])
    assert moved[6 * 7 : 6 * 9].mean() > 10 * moved[: 6 * 4].mean()
    stadium = np.array([np.sum(one == flow.stadium) for one in cells])
    assert stadium[19 * 6 : 21 * 6].mean() > 20 + 5 * stadium[: 6 * 16].mean()
    at_home = [np.mean(one == cells[0]) for one in cells]
    assert at_home[12 * 6] < 0.6 < 0.97 < at_home[-1]


def test_people_are_in_fewer_places_at_noon_than_at_night() -> None:
    _, cells = day(moving=0.008)
    night, noon = (np.sort(counted(cells[tick]))[::-1] for tick in (0, 12 * 6))
    assert np.sum(noon > 0) < 0.95 * np.sum(night > 0)
    assert noon[:100].sum() > night[:100].sum()


def test_the_same_arguments_give_the_same_stream_and_it_can_be_begun_anew() -> None:
    flow, first = day(moving=0.05, ticks=24, absent=0.1, seed=4)
    flow.restart()
    assert all(np.array_equal(one, other) for one, other in zip(first, flow.day(), strict=True))
    other = day(moving=0.05, ticks=24, absent=0.1, seed=5)[1]
    assert not np.array_equal(first[5], other[5])


def test_absent_people_have_no_row_and_come_back() -> None:
    _, cells = day(moving=0, ticks=24, absent=0.2)
    shares = [np.mean(one < 0) for one in cells]
    assert all(0.17 < share < 0.23 for share in shares)
    assert np.mean((cells[0] < 0) & (cells[1] >= 0)) > 0.1


def test_a_second_day_follows_the_first() -> None:
    flow, first = day(moving=0.02, ticks=24)
    second = list(flow.day())
    assert flow.tick == 48
    assert np.mean(second[12] != second[0]) > 0.15
    assert not np.array_equal(first[12], second[12])


def test_goals_are_inhabited_and_nearer_for_shorter_ways() -> None:
    nearby = NearbyCells(COUNTRY)
    generator = np.random.default_rng(1)
    starts = generator.choice(COUNTRY.keys.astype(np.int32), 4000)
    goals = {mean: nearby.draw(starts, mean, generator) for mean in (2.0, 30.0)}
    for found in goals.values():
        assert np.isin(found, COUNTRY.keys).all()
        assert np.mean(found == starts) < 0.05
    ways = {
        mean: np.hypot(found // 128 - starts // 128, found % 128 - starts % 128).mean() for mean, found in goals.items()
    }
    assert ways[2.0] < 8 < ways[30.0]


@pytest.mark.parametrize(
    "given",
    [{"moving": -0.1}, {"moving": 0.3}, {"moving": "much"}, {"ticks": 2}, {"absent": 2}, {"seed": -1}],
)
def test_refuses_what_no_stream_can_be(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"'{next(iter(given))}' parameter of PeopleFlow"):
        PeopleFlow(COUNTRY, **given)


def test_refuses_what_is_no_map_with_people() -> None:
    with pytest.raises(ParameterError, match="two axes"):
        PeopleFlow(CountTable.from_dense(np.ones(4, dtype=np.int64)))
    with pytest.raises(ParameterError, match="1 to 33,554,432 people"):
        PeopleFlow(CountTable.from_dense(np.zeros((4, 4), dtype=np.int64), Domain.of_shape((4, 4))))


def test_a_file_for_each_tick_with_people_times_and_codes(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    flow = PeopleFlow(COUNTRY, moving=0.05, ticks=48, absent=0.1)
    files = write_people_flow(flow, tmp_path / "stream", ticks=3)
    assert [file.name for file in files] == [
        "2026-11-16T0000.parquet",
        "2026-11-16T0030.parquet",
        "2026-11-16T0100.parquet",
    ]
    flow.restart()
    for number, file in enumerate(files):
        table, cells = pq.read_table(file), flow.advance()
        assert table.column_names == ["person", "time", "KEY_CODE"]
        assert set(table["time"].to_pylist()) == {pq.read_table(file)["time"][0].as_py()}
        assert table["time"][0].as_py().minute == (number % 2) * 30
        keys = flow.domain.keys_of({"KEY_CODE": table["KEY_CODE"].to_numpy()})
        people = table["person"].to_numpy() - 1
        assert np.array_equal(keys.astype(np.int64), cells[people])
        assert people.size == np.sum(cells >= 0)


def test_files_are_refused_where_they_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        write_people_flow(PeopleFlow(COUNTRY), tmp_path / "file", ticks=1)
    with pytest.raises(ParameterError, match="whole minutes apart"):
        write_people_flow(PeopleFlow(COUNTRY, ticks=7), tmp_path)
    with pytest.raises(ParameterError, match="'flow' parameter"):
        write_people_flow(COUNTRY, tmp_path)  # type: ignore[arg-type]
