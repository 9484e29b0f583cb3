"""A plan for a table by disclosure control, drafted from a file: what spans it, what is added up, and who contributes."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from pathlib import Path

from sudare.bilingual import Language
from sudare.drafting.columns import ColumnShape, SeenColumn, look_at_columns
from sudare.drafting.roles import PERSON_NAMES, PUBLISHER
from sudare.io import Source

__all__ = ["FIRST_P", "FIRST_THRESHOLD", "TABLE_ROLES", "draft_table", "guess_table_roles"]

FIRST_THRESHOLD, FIRST_P = 3, 10
"""The rules of a draft: three contributors at the least, and nobody estimated within ten percent."""

TABLE_ROLES = ("dimension", "value", "holding", "out")
"""A column spans the table, is added up, says who contributes, or is left out."""

NUMBERS = (ColumnShape.WHOLE, ColumnShape.DECIMAL)
TEXTS = (ColumnShape.TEXT, ColumnShape.YES_NO)
CONTRIBUTOR = re.compile(
    rf"({PERSON_NAMES}|(firm|company|enterprise|establishment|holding|business)([_ ]?(id|no|name|number|code))?"
    r"|(full.?|last.?|family.?)?name|(企業|会社|法人|事業所|事業者|提供者|店舗)(名|番号|id|コード)?|氏名|名前)",
    re.IGNORECASE,
)
"""Names of columns that say who a row is about."""


def guess_table_roles(columns: Sequence[SeenColumn]) -> list[tuple[SeenColumn, str]]:
    """Texts span a table, unless they name somebody: they are published. The last column of numbers is added up."""
    naming = [column.name for column in columns if CONTRIBUTOR.fullmatch(column.name.strip())]
    numbers = [column.name for column in columns if column.shape in NUMBERS and column.name not in naming]
    found = []
    for column in columns:
        role = "value" if numbers and column.name == numbers[-1] else "dimension" if column.shape in TEXTS else "out"
        if column.name in naming:
            role = "holding" if column.name == naming[0] else "out"
        found.append((column, role))
    return found


def draft_table(file: Path, *, plan_folder: Path, language: Language = "en") -> dict[str, object]:
    """What a plan says that hides the unsafe cells of a table.

    Args:
        file: with a row for each contributor.
        plan_folder: where the plan will be.
        language: of the report.

    Raises:
        InputError: if the file cannot be read as a table.
    """
    roles = guess_table_roles(look_at_columns(Source(str(file))).columns)
    by_role = {role: column.name for column, role in reversed(roles)}
    source: dict[str, object] = {"path": os.path.relpath(file.resolve(), plan_folder.resolve()), "rows": "records"}
    source |= {role: by_role[role] for role in ("value", "holding") if role in by_role}
    rules: dict[str, object] = {"threshold": FIRST_THRESHOLD}
    return {
        "kind": "tables",
        "title": file.stem,
        "publisher": PUBLISHER.explain(language),
        "language": language,
        "source": source,
        "dimensions": {column.name: {} for column, role in roles if role == "dimension"},
        "rules": rules | ({"p_percent": {"p": FIRST_P}} if "value" in by_role else {}),
        "protection": {"method": "suppress"},
    }
