"""People of an invented country over a day: home, work, errands, an evening in the stadium, night.

Everybody is at home at midnight. Some commute: to work in the morning, back in the evening. Some go to the stadium. All leave now
and then for an errand nearby, and come back to where they came from, home or work. There are as many errands as are needed for
the share of people that shall move at a tick, from none to very many.

A tick is made of the one before it: one array of cells at a time, however long the stream is. The same arguments give the same
stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain import CountTable
from sudare.errors import Described, ParameterError
from sudare.examples.nearby import NearbyCells
from sudare.parameters import exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = NDArray[np.int64]
    People = NDArray[np.int64]

__all__ = ["PeopleFlow"]

MAX_PEOPLE = 1 << 25
MIN_TICKS, MAX_TICKS = 4, 4096
MAX_MOVING = 0.25

COMMUTERS, STADIUM = 0.55, 0.02
"""Of all people, at most: those who commute, and those who go to the stadium."""

WORK_HOUR, WORK_HOURS, EVENT_HOUR, EVENT_HOURS = 8.0, 9.5, 18.5, 2.5
COMMUTE_CELLS, ERRAND_CELLS, STADIUM_CELLS = 24.0, 4.0, 60.0
"""How far people go, in cells, on average."""

CENTRES = 4
"""Whoever commutes goes to the most crowded of so many places."""

ERRAND_DAY = 1 / 24
"""How long an errand takes, in days, on average; shorter where people move often."""

NIGHT = 0.15
"""Errands at night, as a share of those at noon."""


class PeopleFlow:
    """The cells of all people, tick after tick.

    Args:
        country: where people live, such as `invent_country` makes: a map of two axes, at most 2**25 people.
        moving: the share of the people who move at a tick, on average over a day, about; from 0 (nobody ever moves) to 0.25.
        ticks: how many ticks a day has.
        absent: the share of the people who have no row at a tick, whoever they are.
        seed: which stream; a whole number >= 0.

    Attributes:
        domain: the cells.
        people: how many there are.
        ticks: how many ticks a day has.
        tick: the number of the next tick, from 0.
        moved: how many people moved at the last tick.
        stadium: the cell of the stadium.

    Raises:
        ParameterError: if an argument is out of its range.

    Example:
        >>> from sudare.examples import PeopleFlow, invent_country
        >>> flow = PeopleFlow(invent_country(64, people=1_000), moving=0.01)
        >>> [int((cells >= 0).sum()) for cells in flow.day()][:3]
        [1000, 1000, 1000]
    """

    def __init__(
        self, country: CountTable, *, moving: float = 0.01, ticks: int = 144, absent: float = 0.0, seed: int = 2020
    ) -> None:
        if not isinstance(country, CountTable) or len(country.domain.shape) != 2:
            raise ParameterError("country", "PeopleFlow", "a CountTable of a map with two axes", shown(country))
        if not 0 < country.total <= MAX_PEOPLE:
            requirement = f"a country of 1 to {MAX_PEOPLE:,} people"
            raise ParameterError("country", "PeopleFlow", requirement, Described("none, or more"))
        self.ticks = exact_integer(
            ticks,
            "ticks",
            "PeopleFlow",
            f"from {MIN_TICKS} to {MAX_TICKS}",
            smallest=MIN_TICKS,
            largest=MAX_TICKS,
        )
        requirement = "a whole number from 0 to 2**62"
        self.seed = exact_integer(seed, "seed", "PeopleFlow", requirement, smallest=0, largest=2**62)
        self.moving = _read_share(moving, "moving", MAX_MOVING)
        self.absent = _read_share(absent, "absent", 1.0)
        self.domain = country.domain
        self._nearby = NearbyCells(country)
        generator = np.random.default_rng(self.seed)
        homes = np.repeat(country.keys.astype(np.int32), country.counts)
        generator.shuffle(homes)
        self.people = homes.size
        self._bases = np.stack([homes, homes])  # home, work
        self.stadium = self._nearby.quiet_cell_near_centre()
        self._plan_day(generator)
        self.restart()

    def restart(self) -> None:
        """Begin anew before the first tick of the same stream."""
        self.tick = 0
        self.moved = 0
        self._is_at_work = np.zeros(self.people, dtype=np.int8)
        self._here = self._bases[0].copy()
        self._until = np.zeros(self.people, dtype=np.int32)  # the tick at which an errand ends; 0 without one
        self._ending: dict[int, list[People]] = {}

    def day(self) -> Iterator[Cells]:
        """The ticks of a day, from the next one on."""
        for _ in range(self.ticks):
            yield self.advance()

    def advance(self) -> Cells:
        """The cell of each person at the next tick, as a place in the domain; -1 for somebody who has no row."""
        tick = self.tick
        generator = np.random.default_rng((self.seed, tick))
        if tick:
            before = self._here.copy()
            self._commute(tick % self.ticks)
            self._end_errands(tick)
            self._visit_stadium(tick)
            self._begin_errands(tick, generator)
            self.moved = int(np.count_nonzero(before != self._here))
        self.tick += 1
        cells: Cells = self._here.astype(np.int64)
        if self.absent:
            cells[generator.random(self.people, dtype=np.float32) < self.absent] = -1
        return cells

    def _plan_day(self, generator: np.random.Generator) -> None:
        """Who commutes and who goes to the stadium, and when."""
        trips = self.moving * self.ticks / 2  # of one person in a day: out and back
        hour = self.ticks / 24
        to_stadium = min(STADIUM, 0.1 * trips)
        commuting = min(COMMUTERS, 0.9 * trips)
        self._commuters = np.flatnonzero(generator.random(self.people, dtype=np.float32) < commuting)
        count = self._commuters.size
        homes = self._bases[0][self._commuters]
        self._bases[1][self._commuters] = self._nearby.draw(homes, COMMUTE_CELLS, generator, CENTRES)
        out = generator.normal(WORK_HOUR, 1.0, count)
        back = out + generator.normal(WORK_HOURS, 1.0, count)
        self._leaving = _ByTick(out * hour, self.ticks)
        self._returning = _ByTick(np.maximum(back, out + 1) * hour, self.ticks)
        visitors = round(to_stadium * self.people)
        # The largest keys of a race with exponential times are a sample without replacement.
        distance = self._nearby.distance(self._bases[0], self.stadium)
        race = np.exp(-distance / STADIUM_CELLS) / (1e-30 + generator.standard_exponential(self.people))
        self._visitors = np.argpartition(-race, visitors)[:visitors] if visitors < self.people else np.arange(visitors)
        self._arriving = _ByTick(generator.normal(EVENT_HOUR, 0.4, visitors) * hour, self.ticks)
        self._event_ticks = max(1, round(EVENT_HOURS * hour))
        self._errand_ticks = max(1.0, min(ERRAND_DAY * self.ticks, 0.7 / max(self.moving, 1e-9)))
        rest = max(0.0, self.moving - 2 * (commuting + to_stadium) / self.ticks)
        day = np.arange(self.ticks) / self.ticks
        busy = NIGHT + (1 - NIGHT) * np.clip(1.1 * np.sin(np.pi * np.clip((day - 0.21) / 0.75, 0, 1)), 0, 1)
        self._begin_rates = _errand_rates(busy / busy.mean(), rest, self._errand_ticks)

    def _commute(self, time: int) -> None:
        """Whoever leaves for work or home now goes there, also from an errand."""
        for order, is_at_work in ((self._leaving, 1), (self._returning, 0)):
            people = self._commuters[order.at(time)]
            self._is_at_work[people] = is_at_work
            self._until[people] = 0
            self._go_to_base(people)

    def _end_errands(self, tick: int) -> None:
        for people in self._ending.pop(tick, []):
            back = people[self._until[people] == tick]  # others were called away before
            self._until[back] = 0
            self._go_to_base(back)

    def _visit_stadium(self, tick: int) -> None:
        people = self._visitors[self._arriving.at(tick % self.ticks)]
        self._here[people] = self.stadium
        self._until_later(people, tick + self._event_ticks)

    def _begin_errands(self, tick: int, generator: np.random.Generator) -> None:
        rate = self._begin_rates[tick % self.ticks]
        if rate <= 0:
            return
        chosen = np.flatnonzero(generator.random(self.people, dtype=np.float32) < rate)
        people = chosen[self._until[chosen] == 0]
        self._here[people] = self._nearby.draw(self._here[people], ERRAND_CELLS, generator)
        ends = tick + np.minimum(generator.geometric(1 / self._errand_ticks, people.size), 4 * self.ticks)
        order = np.argsort(ends, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(ends[order])) + 1):
            if part.size:
                self._until_later(people[part], int(ends[part[0]]))

    def _until_later(self, people: People, tick: int) -> None:
        self._until[people] = tick
        self._ending.setdefault(tick, []).append(people)

    def _go_to_base(self, people: People) -> None:
        self._here[people] = self._bases[self._is_at_work[people], people]


class _ByTick:
    """Places of a list in the order of ticks, so that those of one tick are found at once."""

    def __init__(self, times: NDArray[np.float64], ticks: int) -> None:
        when = np.clip(times, 1, ticks - 1).astype(np.int64)
        self._order = np.argsort(when, kind="stable")
        self._ends = np.searchsorted(when[self._order], np.arange(ticks + 1))

    def at(self, tick: int) -> People:
        places: People = self._order[self._ends[tick] : self._ends[tick + 1]]
        return places


def _errand_rates(busy: NDArray[np.float64], moving: float, length: float) -> NDArray[np.float64]:
    """How likely it is at each tick that somebody who is on no errand begins one, so that a share of people moves on average.

    Of those who begin errands of this length at a rate r, r * length / (1 + r * length) are away; each errand is two moves.
    """
    low, high = 0.0, 1.0
    for _ in range(40):
        rate = (low + high) / 2
        rates = np.minimum(rate * busy, 1.0)
        low, high = (rate, high) if (2 * rates / (1 + rates * length)).mean() < moving else (low, rate)
    return np.minimum(high * busy, 1.0) if moving > 0 else np.zeros_like(busy)


def _read_share(value: object, name: str, largest: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ParameterError(name, "PeopleFlow", f"a number from 0 to {largest:g}", shown(value))
    if not 0 <= float(value) <= largest:
        raise ParameterError(name, "PeopleFlow", f"a number from 0 to {largest:g}", shown(value))
    return float(value)
