"""No protection at all: the table is published as it is, and the attacks say what that means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.releases.kinds.tables.methods.cell_method import CellMethod, Protected
from sudare.releases.kinds.tables.methods.method import MethodWords
from sudare.releases.kinds.tables.sources import JudgedTable
from sudare.sections import Section

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["UNPROTECTED", "Unprotected"]

WORDS = MethodWords(
    name=Words("No protection", "保護なし"),
    protects=Words("Nothing: the table is published as it is.", "何も保護していません。表はそのまま公表されています。"),
    keeps=Words("Everything.", "すべて。"),
    limits=Words(
        "Whatever the table tells about a few contributors, it tells everybody.",
        "少数の提供者について表からわかることは、誰にでもわかります。",
    ),
)


@dataclass(frozen=True)
class Unprotected:
    """Publish the table as it is; the attacks then say what that means."""


class _NoProtection(CellMethod[Unprotected, Protected]):
    """Everything is shown."""

    name = "none"
    words = WORDS
    shows_true_values = True
    formats = ("tau-argus",)

    def read_settings(self, section: Section, base: Path) -> Unprotected:
        return Unprotected()

    def protect_cells(self, settings: Unprotected, judged: JudgedTable) -> Protected:
        return Protected.without_hiding(judged, judged.table.values.copy())

    def public_settings(self, plan: TablePlan, settings: Unprotected, result: Protected) -> Unprotected:
        return settings


UNPROTECTED = _NoProtection()
