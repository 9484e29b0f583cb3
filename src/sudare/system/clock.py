"""The time of day: a clock that is set beyond the year 9999 is reported as a mistake of the computer."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime

from sudare.errors import OutputError

__all__ = ["local_text", "offset_text", "time_text", "utc_now"]

LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)


def utc_now() -> datetime:
    """The time now.

    Raises:
        OutputError: if the computer's clock is set to a year that no date has.
    """
    try:
        return datetime.fromtimestamp(time.time(), UTC)
    except (ValueError, OverflowError, OSError):
        raise OutputError(
            "The clock of this computer is set to a year before 1 or after 9999. Set it right, then try again; nothing was "
            "written.",
            "コンピューターの時計が西暦 1 年より前か 9999 年より後になっています。時計を直してからやり直してください。"
            "何も書き込まれていません。",
        ) from None


def time_text() -> str:
    """The time now as a report has it, such as 2026-01-31T09:00:00Z. A clock that is wrong stops nothing that is paid for.

    Example:
        >>> time_text()[-1]
        'Z'
    """
    try:
        now = utc_now()
    except OutputError:
        now = LAST
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def offset_text() -> str:
    """How far the clocks of this place are from UTC, such as ``+09:00``.

    Example:
        >>> len(offset_text())
        6
    """
    return datetime.now().astimezone().isoformat(timespec="minutes")[-6:]


def local_text(moment: str) -> str:
    """A moment in UTC, as documents have it, in the time of this place and with its zone; as it is if it is no moment.

    Example:
        >>> local_text("not a moment")
        'not a moment'
    """
    with suppress(ValueError, OverflowError, OSError):
        read = datetime.fromisoformat(moment)
        local = read.replace(tzinfo=UTC) if read.tzinfo is None else read
        return local.astimezone().isoformat(" ", "seconds")
    return moment
