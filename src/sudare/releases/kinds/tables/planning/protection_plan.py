"""The section ``[protection]`` of a plan: the method that it names, and the check that no key of another method is there.

What the keys of a method mean is described where the method is: `sudare.releases.kinds.tables.methods`.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from sudare.releases.kinds.tables.methods.registry import method_named, method_names, registered_methods
from sudare.sections import Section

__all__ = ["protection_keys", "read_protection", "seconds_of", "whole_within"]

MAX_SECONDS = 7 * 24 * 3600


def protection_keys() -> tuple[str, ...]:
    """What ``[protection]`` may say, whatever the method."""
    return ("method", *dict.fromkeys(key for method in registered_methods() for key in method.keys))


def read_protection(section: Section, base: Path) -> tuple[str, object]:
    """Read ``[protection]``.

    Args:
        section: of the plan.
        base: the folder that files are meant from.

    Returns:
        The method's name and its settings.

    Raises:
        PlanError: if it says what cannot be, or a key of another method.
        InputError: if a file that it names cannot be read.
    """
    method = method_named(section.choice("method", method_names()))
    for key in protection_keys()[1:]:
        if section.has(key) and key not in method.keys:
            owners = " / ".join(f'"{one.name}"' for one in registered_methods() if key in one.keys)
            section.refuse(key, f"belongs to method {owners}", f"は method {owners} のキーです")
    settings = method.read_settings(section, base)
    section.finish()
    return method.name, settings


def seconds_of(section: Section) -> float:
    """A time limit.

    Raises:
        PlanError: if it is none, or longer than a week.
    """
    value = section.number("seconds")
    if not 0 < Decimal(value) <= MAX_SECONDS:
        section.refuse(
            "seconds", f"must be above 0 and at most {MAX_SECONDS:,}", f"は 0 より大きく {MAX_SECONDS:,} 以下です"
        )
    return float(value)


def whole_within(section: Section, key: str, smallest: int, largest: int, default: int | None = None) -> int:
    """A whole number within bounds.

    Args:
        section: of the plan.
        key: in it.
        smallest: that it may be.
        largest: that it may be.
        default: where the key is left out; None if it must not be.

    Raises:
        PlanError: if it is another number, or none.
    """
    value = section.whole(key, default)
    if not smallest <= value <= largest:
        section.refuse(key, f"must be from {smallest:,} to {largest:,}", f"は {smallest:,} から {largest:,} までです")
    return value
