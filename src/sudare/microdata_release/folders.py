"""The folder of protected records: filled out of sight, and shown by one rename when all of it is there."""

from __future__ import annotations

from pathlib import Path

from sudare.release import folders
from sudare.release.folders import REPORT, REPORT_PAGE, ReportWorkshop, require_free

__all__ = ["PAGE", "PEOPLE", "REPORT", "PeopleWorkshop", "completed_beside", "require_free"]

PEOPLE = "people"
PAGE = REPORT_PAGE
PeopleWorkshop = ReportWorkshop


def completed_beside(target: Path) -> list[Path]:
    """Complete folders that were never shown."""
    return folders.completed_beside(target, REPORT)
