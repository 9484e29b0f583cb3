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
        self.left, self.absent_after = list(moves), absent_after
        self.kept_back = [0] + [min(coarse, fine - coarse) for coarse, fine in pairwise(moves)]
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
                if self.left[0] >= 2:
                    self.left = [number - 1 for number in self.left]
                else:
                    self.gone = True
        elif row != self.cell:
            here = self.cell
            first = 0 if here is None else next(i for i, w in enumerate(WIDTHS) if here // w != row // w)
            needed = min(self.left[first - 1], self.kept_back[first]) if first else 0
            if self.left[first] >= 1 and self.left[first] - 1 >= needed:
                now = self.left[first] - 1
                self.left = [
                    number - 1 if level >= first else min(number, now) for level, number in enumerate(self.left)
                ]
                self.cell = row


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


def test_with_equal_caps_moves_nearby_are_counted_too() -> None:
    """Two moves are two moves, near or far; the third is one too many at every level."""
    paths = Paths(Caps(widths=(10, 1), moves=(2, 2)), people=2)
    for tick, cells in enumerate([[1, 1], [2, 14], [3, 15], [14, 3]]):
        paths.advance(tick, np.array(cells))
        if tick < 3:
            assert paths.cells.tolist() == cells
    assert paths.cells.tolist() == [3, 15], "frozen"
    assert paths.left.tolist() == [[0, 0], [0, 0]]


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
