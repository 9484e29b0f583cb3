"""A plan for records, drafted from a file: who its columns tell of, and how their values become coarser."""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from sudare.bilingual import Language
from sudare.drafting.columns import ColumnShape, SeenColumn, look_at_columns
from sudare.drafting.roles import PUBLISHER, ColumnRole, guess_roles
from sudare.io import Source

__all__ = ["FIRST_K", "FIRST_SUPPRESSION", "RecordColumn", "draft_records", "guess_record_columns"]

FIRST_K, FIRST_SUPPRESSION = 5, Decimal("0.05")
"""What a draft asks for: equivalence classes of five, and one record of twenty left out at the most."""

WIDTHS = (5, 10, 20)
SENSITIVE_NAMES = (
    "illness",
    "disease",
    "diagnosis",
    "salary",
    "income",
    "病名",
    "疾病",
    "年収",
    "所得",
    "収入",
    "給与",
)
NAME_NAMES = ("name", "氏名", "名前", "姓", "住所", "address", "phone", "電話", "mail")


@dataclass(frozen=True, kw_only=True)
class RecordColumn:
    """What a column of records probably is.

    Attributes:
        seen: its name and shape.
        role: one of those that plans know.
        rule: where coarser values come from; ``"none"`` for columns that have none.
        detail: widths or a level, as people type them.
    """

    seen: SeenColumn
    role: str
    rule: str = "none"
    detail: str = ""


def guess_record_columns(columns: Sequence[SeenColumn]) -> list[RecordColumn]:
    """What columns probably are; whatever is unknown counts as known to others, which is the careful guess."""
    found = []
    for guessed in guess_roles(columns):
        low = guessed.seen.name.lower()
        if guessed.role is ColumnRole.PERSON or any(one in low for one in NAME_NAMES):
            found.append(RecordColumn(seen=guessed.seen, role="identifier"))
        elif any(one in low for one in SENSITIVE_NAMES):
            found.append(RecordColumn(seen=guessed.seen, role="sensitive"))
        else:
            rule, detail = _guess_rule(guessed.seen)
            found.append(RecordColumn(seen=guessed.seen, role="quasi-identifier", rule=rule, detail=detail))
    return found


def draft_records(file: Path, *, plan_folder: Path, language: Language = "en") -> dict[str, object]:
    """What a plan says that anonymizes the records of a file.

    Args:
        file: with a row for each person.
        plan_folder: where the plan will be.
        language: of the report.

    Raises:
        InputError: if the file cannot be read as a table.
    """
    columns = guess_record_columns(look_at_columns(Source(str(file))).columns)
    return {
        "kind": "records",
        "title": file.stem,
        "publisher": PUBLISHER.explain(language),
        "language": language,
        "source": {"path": os.path.relpath(file.resolve(), plan_folder.resolve())},
        "columns": {column.seen.name: _section(column) for column in columns},
        "protection": {"method": "anonymize", "k": FIRST_K, "suppression": FIRST_SUPPRESSION},
    }


def _guess_rule(column: SeenColumn) -> tuple[str, str]:
    if column.shape in (ColumnShape.WHOLE, ColumnShape.DECIMAL):
        return "intervals", ", ".join(map(str, WIDTHS))
    if column.shape in (ColumnShape.DAY, ColumnShape.MOMENT):
        return "dates", ""
    if column.shape is ColumnShape.MESH:
        return "mesh", column.level
    return "flat", ""


def _section(column: RecordColumn) -> Mapping[str, object]:
    role = {"role": column.role}
    if column.rule == "intervals":
        whole = {"whole": True} if column.seen.shape is ColumnShape.WHOLE else {}
        return {**role, "intervals": {**whole, "widths": list(WIDTHS)}}
    if column.rule == "mesh":
        return {**role, "mesh": {"level": column.detail}}
    if column.rule == "dates":
        return {**role, "dates": {}}
    return {**role, "flat": True} if column.rule == "flat" else role
