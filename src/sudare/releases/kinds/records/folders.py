"""Names in the folder of protected records."""

from __future__ import annotations

from sudare.storage.staging import REPORT, REPORT_PAGE, require_free

__all__ = ["PAGE", "PEOPLE", "REPORT", "require_free"]

PEOPLE = "people"
PAGE = REPORT_PAGE
