"""A plan: what will be drawn, and how exact it will be, before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """Placeholder."""

    mechanism: str
