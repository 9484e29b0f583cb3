"""What a run of an experiment is asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from sudare.parameters import exact_integer

__all__ = ["Settings"]

FULL_REPEATS, QUICK_REPEATS = 100, 4


@dataclass(frozen=True)
class Settings:
    """How an experiment is run.

    Attributes:
        repeats: how often noise is drawn.
        is_quick: smaller tables and fewer settings, to see in a minute that everything works.
        data: the folder with the real data; None for the invented country.
        seed: of all noise, so that a run can be repeated.
        processes: how many run side by side; it changes no result.
    """

    repeats: int = FULL_REPEATS
    is_quick: bool = False
    data: str | None = None
    seed: int = 2025
    processes: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    def __post_init__(self) -> None:
        exact_integer(self.repeats, "repeats", "Settings", "a whole number >= 1", smallest=1, largest=10**6)

    def to_dict(self) -> dict[str, Any]:
        """All that a result can depend on, besides the data themselves."""
        return {"repeats": self.repeats, "quick": self.is_quick, "seed": self.seed, "real": self.data is not None}
