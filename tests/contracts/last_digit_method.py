"""A toy method of disclosure control: counts without their last digits. All that a new method takes: this object, and one line.

A plan of it::

    [protection]
    method = "full-tens"
    digits = 1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.releases.kinds.tables.methods.cell_method import CellMethod, Protected
from sudare.releases.kinds.tables.methods.method import MethodWords
from sudare.releases.kinds.tables.plain_values import whole_number
from sudare.releases.kinds.tables.planning.input_plan import Input, RecordsInput
from sudare.releases.kinds.tables.planning.protection_plan import whole_within
from sudare.releases.kinds.tables.published_table import PublishedTables
from sudare.releases.kinds.tables.sources import JudgedTable
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["FULL_TENS", "REGISTRATION", "FullTens"]


@dataclass(frozen=True)
class FullTens:
    """Leave last digits out.

    Attributes:
        digits: how many.
    """

    digits: int


@dataclass(frozen=True)
class PublicTens:
    unit: int


class _FullTensMethod(CellMethod[FullTens, Protected]):
    name = "full-tens"
    keys = ("digits",)
    words = MethodWords(
        name=Words("Full tens", "下位の桁の切り捨て"),
        protects=Words("Counts are full multiples of {unit}.", "件数は {unit} の倍数に切り捨てています。"),
        keeps=Words("No count is too large.", "元の件数より大きな値はありません。"),
        limits=Words("Not covered: everything else.", "対象外: ほかのすべて。"),
    )
    state = "truncated"
    adds_up = False

    def read_settings(self, section: Section, base: Path) -> FullTens:
        return FullTens(whole_within(section, "digits", 1, 6, 1))

    def require_source(self, source: Input, section: Section) -> None:
        if not isinstance(source, RecordsInput) or source.value is not None:
            section.refuse("method", 'is "full-tens", which is for counts', 'の "full-tens" は件数のための手法です')

    def protect_cells(self, settings: FullTens, judged: JudgedTable) -> Protected:
        unit = 10**settings.digits
        return Protected.without_hiding(judged, judged.table.values // unit * unit)

    def public_settings(self, plan: TablePlan, settings: FullTens, result: Protected) -> PublicTens:
        return PublicTens(10**settings.digits)

    def reach(self, published: PublishedTables, settings: Mapping[str, Any]) -> tuple[int, int]:
        return 0, whole_number(settings["unit"], 1) - 1


FULL_TENS = _FullTensMethod()
REGISTRATION = ("full-tens", "tests.contracts.last_digit_method", "FULL_TENS")
