"""Names in the folder of protected records."""

from __future__ import annotations

from sudare.storage.staging import PAGE, require_free

__all__ = ["PAGE", "PEOPLE", "require_free"]

PEOPLE = "people"
