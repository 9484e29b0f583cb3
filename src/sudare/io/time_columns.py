"""A column of times: SQL gives the step that each time lies in, and the attribute knows the place of every step.

No time zones are needed in SQL, so that the result is that of `Times.places` on any engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain.times import DAY_AND_TIME, SECONDS, Times
from sudare.errors import ParameterError
from sudare.io import complaints
from sudare.io.columns import AttributeColumn, WrongValueError, family_of
from sudare.io.engine import identifier, literal, numpy_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["PeriodColumn", "TimeColumn"]

TIMES = Words("times", "時刻")
OUTSIDE = -1
NO_TIME = -2
PARTS = ("year", "month", "day", "hour", "minute", "second", "offset")
MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class TimeColumn(AttributeColumn):
    """A column that holds a `Times` attribute: timestamps with or without time zone, days, texts, or seconds since 1970."""

    @property
    def _times(self) -> Times:
        assert isinstance(self.attribute, Times)  # noqa: S101 - tells the type checker what the caller saw to
        return self.attribute

    def check_type(self, file: str | None) -> None:
        """Refuse types that hold no times."""
        base = self.kind.split("(", 1)[0]
        is_day = base == "DATE" and self._times.has_hours
        if is_day or family_of(self.kind) not in ("text", "integer", "real", "date"):
            raise complaints.wrong_type(self.name, self.kind, TIMES, file)

    @property
    def is_placed_by_sql(self) -> bool:
        """SQL numbers steps, not places."""
        return False

    @property
    def grouped_kind(self) -> str:
        """Steps."""
        return "BIGINT"

    @property
    def raw(self) -> str:
        """Twice the step since the beginning of the span, and 1 more for a moment; less than 0 for what is not in it."""
        column, family = identifier(self.name), family_of(self.kind)
        if family == "date":
            seconds = f"CAST(floor(epoch_us({column}) / {float(MICROSECONDS)!r}::DOUBLE) AS BIGINT)"
            is_moment = "WITH TIME ZONE" in self.kind or self.kind.startswith("TIMESTAMPTZ")
            return f"CASE WHEN {column} IS NULL THEN NULL ELSE {self._step(seconds, is_moment=is_moment)} END"
        if family in ("integer", "real"):
            seconds = f"CAST(floor({column}) AS BIGINT)"
            # What is not finite, or too large for a whole number, is no time.
            is_time = f"{column} BETWEEN -1000000000000 AND 1000000000000"
            step = self._step(seconds, is_moment=True)
            return f"CASE WHEN {column} IS NULL THEN NULL WHEN {is_time} THEN {step} ELSE {NO_TIME} END"
        return self._raw_of_text(f"trim(CAST({column} AS VARCHAR))")

    def _raw_of_text(self, text: str) -> str:
        found = f"regexp_extract({text}, {literal('^' + _without_names(DAY_AND_TIME) + '$')}, {list(PARTS)})"
        moment = f"TRY_CAST(split_part({text}, '.', 1) AS BIGINT)"
        clock, ahead = _clock_of_parts("found"), _offset_of_parts("found")
        is_day = "found.hour = ''" if self._times.has_hours else "false"
        of_parts = (
            f"CASE WHEN found.year = '' OR {is_day} OR {clock} IS NULL THEN {NO_TIME} "
            f"WHEN found.\"offset\" = '' THEN {self._step(clock, is_moment=False)} "
            f"ELSE {self._step(f'({clock} - {ahead})', is_moment=True)} END"
        )
        by_parts = f"list_transform([{found}], lambda found: {of_parts})[1]"
        is_number = f"regexp_full_match({text}, {literal(SECONDS)})"
        return (
            f"CASE WHEN {identifier(self.name)} IS NULL THEN NULL "
            f"WHEN {is_number} THEN {self._step(moment, is_moment=True)} ELSE {by_parts} END"
        )

    def _step(self, seconds: str, *, is_moment: bool) -> str:
        """From whole seconds since 1970, of moments or of the local clock."""
        times = self._times
        start, end = (times.start, times.end) if is_moment else (times.local_start, times.local_end)
        step = f"2 * (({seconds} - ({start})) // {times.step}) + {int(is_moment)}"
        return f"CASE WHEN {seconds} >= {start} AND {seconds} < {end} THEN {step} ELSE {OUTSIDE} END"

    def places(self, values: Any) -> tuple[Integers, ...]:
        """The places of steps."""
        steps = numpy_of(values).astype(np.int64)
        if steps.size and steps.min() < 0:
            raise self._wrong(int(steps.min()))
        out = np.empty(steps.size, dtype=np.int64)
        for is_moment in (False, True):
            own = (steps % 2 == 1) == is_moment
            out[own] = self._times.places_of_steps(steps[own] // 2, is_moment=is_moment)
        return (out,)

    def inside(self, values: Any) -> NDArray[np.bool_]:
        """Which times are in the span; what is no time is a mistake all the same."""
        steps = numpy_of(values).astype(np.int64)
        if steps.size and steps.min() <= NO_TIME:
            raise self._wrong(NO_TIME)
        return np.asarray(steps >= 0)

    def _wrong(self, step: int) -> WrongValueError:
        # Times are not shown, as measured values are not; which rows to look for is all that is told.
        return WrongValueError(float(step), self._times.allowed, is_label=False)

    def finds(self, value: Any) -> str:
        """The SQL condition for rows with a wrong value."""
        return f"({self.raw}) = {int(value)}"


def _without_names(pattern: str) -> str:
    """As DuckDB wants it: groups are named in the call."""
    for part in PARTS:
        pattern = pattern.replace(f"?P<{part}>", "")
    return pattern


def _clock_of_parts(found: str) -> str:
    """The local clock in seconds as if it were UTC; NULL where there is no such day or hour."""
    day = f"{found}.year || '-' || lpad({found}.month, 2, '0') || '-' || lpad({found}.day, 2, '0')"
    parts = [f"CASE WHEN {found}.{name} = '' THEN '00' ELSE lpad({found}.{name}, 2, '0') END" for name in PARTS[3:6]]
    is_hour = f"({found}.hour = '' OR TRY_CAST({found}.hour AS INTEGER) < 24)"
    text = f"{day} || ' ' || " + " || ':' || ".join(parts)
    moment = f"epoch_us(TRY_CAST({text} AS TIMESTAMP))"
    return f"CASE WHEN {is_hour} THEN CAST({moment} / {float(MICROSECONDS)!r}::DOUBLE AS BIGINT) END"


def _offset_of_parts(found: str) -> str:
    """Seconds ahead of UTC."""
    offset = f'{found}."offset"'
    minutes = f"coalesce(TRY_CAST(nullif(ltrim(substr({offset}, 4), ':'), '') AS INTEGER), 0)"
    ahead = f"(TRY_CAST(substr({offset}, 2, 2) AS INTEGER) * 3600 + {minutes} * 60)"
    return f"CASE WHEN {offset} = 'Z' THEN 0 WHEN starts_with({offset}, '-') THEN -{ahead} ELSE {ahead} END"


@dataclass(frozen=True)
class PeriodColumn(AttributeColumn):
    """A column of a table of counts that holds a `Times` attribute: the periods as they are published, or times in them."""

    def check_type(self, file: str | None) -> None:
        """Refuse types that hold no times."""
        if family_of(self.kind) not in ("text", "integer", "date"):
            raise complaints.wrong_type(self.name, self.kind, TIMES, file)

    def places(self, values: Any) -> tuple[Integers, ...]:
        """The places of periods, each different one looked up once."""
        times = self.attribute
        assert isinstance(times, Times)  # noqa: S101 - tells the type checker what the caller saw to
        known = {label: place for place, label in enumerate(times.labels)}
        encoded = values.dictionary_encode()
        found = []
        for value in encoded.dictionary.to_pylist():
            place = known.get(str(value)) if isinstance(value, (str, int)) else None
            if place is None:
                try:
                    place = int(times.places([value])[0][0])
                except ParameterError:
                    raise WrongValueError(value, times.allowed, is_label=True) from None
            found.append(place)
        return (np.array(found, dtype=np.int64)[numpy_of(encoded.indices)],)
