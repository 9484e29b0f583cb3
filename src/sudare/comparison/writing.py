"""A comparison from a plan to a folder: table, pictures, document and page; shown whole, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sudare.comparison.plan_file import ComparisonPlan
from sudare.comparison.reporting.document import comparison_csv, comparison_document
from sudare.comparison.reporting.page import render_comparison_page
from sudare.comparison.reporting.picture import draw_picture, standalone
from sudare.comparison.reporting.words import AXES
from sudare.comparison.running import Comparison, compare
from sudare.storage.staging import (
    REPORT_PAGE,
    ReportStaging,
    hold_target,
    publish_folder,
    require_free,
    translate_errors,
)

__all__ = ["FIGURES", "PICTURES", "Compared", "draw_pictures", "run_comparison"]

FIGURES = "comparison.csv"
PICTURES = {"en": "picture-en.svg", "ja": "picture-ja.svg"}
PAIRS = (("misplaced_two", "area", 0.5), ("misplaced_all", "area", 0.5), ("misplaced_two", "alone_found", 0.0))
"""What is across and upwards in each picture, and where the upward axis begins; the first is the large one."""


@dataclass(frozen=True, eq=False)
class Compared:
    """What a run left behind.

    Attributes:
        folder: with everything.
        comparison: all results.
        document: what ``report.json`` says.
    """

    folder: Path
    comparison: Comparison
    document: dict[str, object]


def run_comparison(
    plan: ComparisonPlan, *, tell: Callable[[str, float | None], None] = lambda stage, share: None
) -> Compared:
    """Read the people, compare the methods, and write the folder.

    Args:
        plan: what to do.
        tell: called with a stage and the share of it that is done.

    Raises:
        InputError: if the people cannot be read, or there is nothing to compare on them.
        OutputError: if the folder exists, or cannot be written.
    """
    require_free(plan.folder)
    tell("load", None)
    population = plan.people()
    comparison = compare(population, plan.chosen, seed=plan.seed, tell=lambda method, share: tell("compare", share))
    document = comparison_document(plan, comparison)
    pictures = draw_pictures(comparison)
    page = render_comparison_page(document, pictures, language=plan.language)
    with ReportStaging.beside(plan.folder) as workshop:
        with translate_errors(plan.folder):
            (workshop.folder / FIGURES).write_text(comparison_csv(comparison), encoding="utf-8")
            for language, name in PICTURES.items():
                (workshop.folder / name).write_text(standalone(pictures[0], language), encoding="utf-8")
            (workshop.folder / REPORT_PAGE).write_text(page, encoding="utf-8")
        workshop.complete(json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n")
        with hold_target(plan.folder):
            require_free(plan.folder)
            publish_folder(workshop.folder, plan.folder)
    return Compared(plan.folder, comparison, document)


def draw_pictures(comparison: Comparison) -> list[str]:
    """All pictures as SVG with both languages, the large one first."""
    return [
        draw_picture(comparison, across, upwards, (AXES[across], AXES[upwards]), least=least)
        for across, upwards, least in PAIRS
    ]
