"""Counted paths keep to their caps, add up, and are what the page says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import ParameterError
from sudare.series.paths import Caps, Paths

WIDTHS = (12, 4, 1)
CELLS = 24


class NaivePerson:
    """The rule of ``paths.md``, one person at a time."""

    def __init__(self, moves: tuple[int, ...], absent_after: int) -> None:
        self.moves, self.left, self.absent_after = moves, list(moves), absent_after
        self.cell: int | None = None
        self.entered = self.gone = False
        self.seen = -1

    def step(self, tick: int, row: int | None, opted_out: bool) -> None:
        if self.gone:
            return
        if row is not None:
            self.seen = tick
        if opted_out:
            self.cell, self.gone = None, True
        elif not self.entered:
            if row is not None:
                self.cell, self.entered = row, True
        elif row is None:
            if self.cell is not None and tick - self.seen >= self.absent_after:
                self.cell = None
                if min(self.left) >= 2:
                    self.left = [number - 1 for number in self.left]
                else:
                    self.gone = True
        elif row != self.cell:
            here = self.cell
            first = 0 if here is None else next(i for i, w in enumerate(WIDTHS) if here // w != row // w)
            if all(self.left[level] - 1 >= self.kept_back(level, first) for level in range(first, len(WIDTHS))):
                self.left = [number - (level >= first) for level, number in enumerate(self.left)]
                self.cell = row

    def kept_back(self, level: int, first: int) -> int:
        more = [min(self.left[coarser], self.moves[level] - self.moves[coarser]) for coarser in range(first)]
        return max(more, default=0)


ROWS = st.lists(
    st.lists(st.one_of(st.none(), st.integers(0, CELLS - 1)), min_size=4, max_size=4), min_size=1, max_size=14
)
CAPS = st.lists(st.integers(0, 4), min_size=3, max_size=3).map(lambda moves: tuple(sorted(moves)))


def wished(rows: list[int | None]) -> Any:
    return np.array([-1 if row is None else row for row in rows], dtype=np.int64)


@given(ticks=ROWS, moves=CAPS, absent_after=st.integers(1, 3), leaving=st.integers(0, 14))
def test_everybody_is_counted_where_the_page_says(
    ticks: list[list[int | None]], moves: tuple[int, ...], absent_after: int, leaving: int
) -> None:
    caps = Caps(widths=WIDTHS, moves=moves, absent_after=absent_after)
    paths, people = Paths(caps, people=4), [NaivePerson(moves, absent_after) for _ in range(4)]
    stocks = [np.zeros(CELLS // width, dtype=np.int64) for width in WIDTHS]
    for tick, rows in enumerate(ticks):
        opted_out = np.array([tick >= leaving, False, False, False])
        changes = paths.advance(tick, wished(rows), opted_out)
        for person, row, out in zip(people, rows, opted_out, strict=True):
            person.step(tick, row, bool(out))
        for stock, level, width in zip(stocks, changes, WIDTHS, strict=True):
            assert (level.changes != 0).all()
            assert (np.diff(level.nodes) > 0).all()
            stock[level.nodes] += level.changes
            places = [person.cell // width for person in people if person.cell is not None]
            assert stock.tolist() == np.bincount(places, minlength=len(stock)).tolist()


@given(ticks=ROWS, moves=CAPS, absent_after=st.integers(1, 3))
def test_no_path_passes_its_caps_at_any_level(
    ticks: list[list[int | None]], moves: tuple[int, ...], absent_after: int
) -> None:
    paths = Paths(Caps(widths=WIDTHS, moves=moves, absent_after=absent_after), people=4)
    seen = []
    for tick, rows in enumerate(ticks):
        paths.advance(tick, wished(rows))
        seen.append(np.maximum(paths.cells, -1))
    for person in range(4):
        for width, cap in zip(WIDTHS, moves, strict=True):
            nodes = [int(cells[person]) // width if cells[person] >= 0 else -1 for cells in seen]
            while nodes and nodes[0] < 0:
                nodes.pop(0)
            changes = [b for a, b in pairwise(nodes) if a != b]
            assert len(changes) - bool(changes and changes[-1] == -1) <= cap


def test_whoever_may_leave_the_region_may_leave_the_cell() -> None:
    """A move is kept back at the finer level for the move that is left at the coarser one."""
    paths = Paths(Caps(widths=(10, 1), moves=(1, 2)), people=1)
    for tick, cell in enumerate([1, 2, 3, 14]):
        paths.advance(tick, np.array([cell]))
        if tick == 2:
            assert paths.cells.tolist() == [2], "the last move is kept for leaving the region"
    assert paths.cells.tolist() == [14]


def test_people_move_inside_a_region_where_all_levels_have_the_same_caps() -> None:
    paths = Paths(Caps(widths=(100, 10, 1), moves=(0, 2, 2)), people=3)
    for tick, cells in enumerate([[1, 1, 1], [2, 2, 14], [3, 14, 2], [4, 1, 14]]):
        paths.advance(tick, np.array(cells))
    assert paths.cells.tolist() == [3, 14, 2], "two moves each, small or large, and then frozen"


def test_what_is_kept_back_at_one_level_is_not_spent_at_another() -> None:
    """The two moves out of the region are kept back at all levels below it, also where the last two have the same caps."""
    paths = Paths(Caps(widths=(100, 10, 1), moves=(2, 4, 4)), people=1)
    for tick, cell in enumerate([1, 2, 3, 4, 15, 101, 1]):
        paths.advance(tick, np.array([cell]))
        if tick == 4:
            assert paths.cells.tolist() == [3]
    assert paths.cells.tolist() == [1]


def test_a_twin_that_keeps_nothing_back_does_not_add_up() -> None:
    """Levels bounded by themselves put one person into two places."""
    fine, coarse = Paths(Caps(widths=(1,), moves=(2,)), people=1), Paths(Caps(widths=(1,), moves=(1,)), people=1)
    for tick, cell in enumerate([1, 2, 3, 14]):
        fine.advance(tick, np.array([cell]))
        coarse.advance(tick, np.array([cell // 10]))
    assert fine.cells[0] // 10 != coarse.cells[0]


def test_people_who_come_later_have_all_their_moves() -> None:
    paths = Paths(Caps(widths=(1,), moves=(1,)), people=1)
    paths.advance(0, np.array([5]))
    paths.grow(3)
    changes = paths.advance(4, np.array([6, 7, -1]))[0]
    assert dict(zip(changes.nodes.tolist(), changes.changes.tolist(), strict=True)) == {5: -1, 6: 1, 7: 1}
    assert paths.left.tolist() == [[0], [1], [1]]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"widths": (4, 2), "moves": (1, 1)}, "widths"),
        ({"widths": (5, 2, 1), "moves": (1, 1, 1)}, "widths"),
        ({"widths": (1, 1), "moves": (1, 1)}, "widths"),
        ({"widths": (), "moves": ()}, "widths"),
        ({"widths": (2, 1), "moves": (2, 1)}, "moves"),
        ({"widths": (2, 1), "moves": (1,)}, "moves"),
        ({"widths": (2, 1), "moves": (-1, 1)}, "moves"),
        ({"widths": (2, 1), "moves": (1, 1), "absent_after": 0}, "absent_after"),
    ],
)
def test_wrong_caps_are_named(settings: Any, named: str) -> None:
    with pytest.raises(ParameterError, match=f"'{named}'"):
        Caps(**settings)


def test_ticks_go_forward_and_wishes_fit() -> None:
    paths = Paths(Caps(widths=(1,), moves=(1,)), people=1)
    paths.advance(3, np.array([5]))
    for tick, wishes, out, named in [
        (3, np.array([5]), None, "tick"),
        (4, np.array([5, 6]), None, "wished"),
        (4, np.array([5.0]), None, "wished"),
        (4, np.array([5]), np.array([1]), "opted_out"),
    ]:
        with pytest.raises(ParameterError, match=f"'{named}'"):
            paths.advance(tick, wishes, out)


@pytest.mark.parametrize("cells", [40, 10**6])
def test_net_changes_are_those_of_naive_sums_whether_cells_are_many_or_few(cells: int) -> None:
    random = np.random.default_rng(cells)
    widths = (cells, 10, 1)
    paths = Paths(Caps(widths=widths, moves=(0, 9, 9)), people=300)
    stocks: list[dict[int, int]] = [{} for _ in widths]
    for tick in range(6):
        wishes = random.integers(0, cells, 300)
        before = paths.cells.copy()
        found = paths.advance(tick, np.where(random.random(300) < 0.5, wishes, np.maximum(before, 0)))
        for stock, level, width in zip(stocks, found, widths, strict=True):
            assert (level.changes != 0).all()
            assert (np.diff(level.nodes) > 0).all()
            for node, change in zip(level.nodes.tolist(), level.changes.tolist(), strict=True):
                stock[node] = stock.get(node, 0) + change
            nodes, counts = np.unique(paths.cells // width, return_counts=True)
            assert {node: count for node, count in stock.items() if count} == dict(
                zip(nodes.tolist(), counts.tolist(), strict=True)
            )
