"""Warnings that name the line of whoever called sudare, however deep inside they arise."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType

__all__ = ["warn_user"]

INSIDE = f"{Path(__file__).parents[1]}/"
"""Where files of sudare are."""


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside sudare that led here, so that its author finds it and filters by module work.

    Args:
        message: what to say, or a warning that says it.
        category: of a message that is a text.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     warn_user("Look here.")
        >>> told[0].filename.startswith("<doctest")
        True
    """
    frame = _outside(sys._getframe(1))
    warnings.warn_explicit(
        message,
        type(message) if isinstance(message, Warning) else category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__", "<unknown>"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _outside(frame: FrameType) -> FrameType:
    """The nearest frame that is neither in sudare nor in Python's own import; the outermost one if there is none."""
    found: FrameType | None = frame
    while found is not None:
        file = found.f_code.co_filename
        is_inside = file.startswith((INSIDE, "<frozen importlib", "<frozen runpy")) or file == "<string>"
        if not is_inside:
            return found
        frame, found = found, found.f_back
    return frame
