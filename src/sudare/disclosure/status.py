"""What becomes of each cell: safe, unsafe by some rule, or hidden to protect another; numbered as tau-ARGUS does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.border.frames import Rows
from sudare.disclosure.cell_rows import cell_columns
from sudare.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.disclosure.rules import Rule
    from sudare.disclosure.structure import CellTable

    Integers = NDArray[np.int64]

__all__ = ["CellJudgement", "CellStatus", "PrimaryCells"]


class CellStatus(IntEnum):
    """The status of a cell, with the numbers that tau-ARGUS writes.

    Example:
        >>> CellStatus(11).name, CellStatus.UNSAFE_RULE.is_primary, CellStatus.SAFE.is_hidden
        ('SECONDARY', True, False)
    """

    SAFE = 1
    SAFE_MANUAL = 2
    UNSAFE_RULE = 3
    UNSAFE_REQUEST = 4
    UNSAFE_FREQUENCY = 5
    UNSAFE_ZERO = 6
    UNSAFE_SINGLETON = 7
    UNSAFE_SINGLETON_MANUAL = 8
    UNSAFE_MANUAL = 9
    PROTECTED = 10
    SECONDARY = 11
    SECONDARY_MANUAL = 12
    ZERO = 13
    EMPTY = 14

    @property
    def is_primary(self) -> bool:
        """Whether a rule, or a person, says that the cell must not be published."""
        return CellStatus.UNSAFE_RULE <= self <= CellStatus.UNSAFE_MANUAL

    @property
    def is_hidden(self) -> bool:
        """Whether the cell's value is not published."""
        return self.is_primary or self in (CellStatus.SECONDARY, CellStatus.SECONDARY_MANUAL)


@dataclass(frozen=True, eq=False)
class CellJudgement:
    """By which rules a table was judged.

    Attributes:
        table: its cells, with their largest contributors.
        rules: all of them.
        safe: cells that are never unsafe, such as those of a missing code; None for none.
    """

    table: CellTable
    rules: tuple[Rule, ...]
    safe: NDArray[np.bool_] | None = None

    def broken_rules(self) -> list[tuple[Rule, NDArray[np.bool_]]]:
        """Each rule with the cells that break it; a cell may break several, of which its status names one."""
        found = []
        for rule in self.rules:
            unsafe, _ = rule.assess(self.table)
            found.append((rule, unsafe if self.safe is None else unsafe & ~self.safe))
        return found


@dataclass(frozen=True, eq=False)
class PrimaryCells(Rows):
    """Which cells must not be published, and how uncertain an attacker must remain about each of them.

    From everything that is published, an attacker can work out an interval [l, u] that holds the value x of a cell. A cell
    is protected if ``l <= x - lower``, ``u >= x + upper`` and ``u - l >= sliding``.

    Attributes:
        status: a `CellStatus` for each cell: safe, unsafe, protected (must be published) or empty.
        lower: protection levels, in the units of the table; 0 for safe cells.
        upper: likewise.
        sliding: likewise.
        judgements: how the cells were judged; sums of hidden cells are judged in the same way.

    Example:
        >>> status = np.array([1, 3, 14])
        >>> cells = PrimaryCells(status, np.array([0, 2, 0]), np.array([0, 2, 0]), np.zeros(3, dtype=np.int64))
        >>> cells.unsafe.tolist()
        [False, True, False]
    """

    status: Integers
    lower: Integers
    upper: Integers
    sliding: Integers
    judgements: tuple[CellJudgement, ...] = ()

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each cell: its status, and how uncertain it must stay."""
        systems = [judgement.table.system for judgement in self.judgements]
        named = cell_columns(systems[0]) if systems and systems[0].size == self.status.size else {}
        return {
            **(named or {"cell": np.arange(self.status.size)}),
            "status": [CellStatus(number).name.lower() for number in self.status.tolist()],
            "lower": self.lower,
            "upper": self.upper,
            "sliding": self.sliding,
        }

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "sliding"):
            array = getattr(self, name)
            if array.shape != self.status.shape or (array < 0).any():
                what = "a number below 0" if array.shape == self.status.shape else array.shape
                raise ParameterError(name, "PrimaryCells", "one number from 0 on for each cell", what)
        for array in (self.status, self.lower, self.upper, self.sliding):
            array.setflags(write=False)

    @property
    def unsafe(self) -> NDArray[np.bool_]:
        """Which cells are primary: they must be hidden."""
        found: NDArray[np.bool_] = (self.status >= CellStatus.UNSAFE_RULE) & (self.status <= CellStatus.UNSAFE_MANUAL)
        return found

    @property
    def hidden_by_hand(self) -> NDArray[np.bool_]:
        """Which cells are hidden to protect others, as someone decided beforehand."""
        found: NDArray[np.bool_] = np.isin(self.status, [CellStatus.SECONDARY, CellStatus.SECONDARY_MANUAL])
        return found

    @property
    def must_publish(self) -> NDArray[np.bool_]:
        """Which cells may not be hidden to protect others."""
        found: NDArray[np.bool_] = self.status == CellStatus.PROTECTED
        return found
