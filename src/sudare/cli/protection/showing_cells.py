"""Which cells of a protected table are hidden, as what and why, for the terminal of whoever holds the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.cli.console.showing import facts, heading, stack, table_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sudare.cli.console.messages import Catalogue
    from sudare.releases.kinds.tables import ProtectedFolder, TablePlan
    from sudare.releases.kinds.tables.confidential_document import ConfidentialCells

__all__ = ["hidden_cells", "show_hidden_cells"]

MAX_SHOWN = 30
BETWEEN_RULES = Words("; ", "、")


def hidden_cells(made: ProtectedFolder) -> dict[str, object] | None:
    """What is hidden, as it stands in JSON; None where nothing is."""
    cells = _cells(made)
    if cells is None:
        return None
    return {
        "primary": [{"cell": one.name, "rules": list(one.rules)} for one in cells.unsafe],
        "secondary": [{"cell": one.name} for one in cells.secondary_cells],
        "primary_by_rule": dict(cells.primary_by_rule),
    }


def show_hidden_cells(made: ProtectedFolder, plan: TablePlan, words: Catalogue) -> RenderableType | None:
    """The same for people: how many by each rule, then the first cells; None where nothing is hidden."""
    from sudare.releases.kinds.tables.confidential_document import OF_RECORDS

    cells = _cells(made)
    if cells is None:
        return None
    every = [(one.name, one) for one in plan.rules] + [(f"{OF_RECORDS} {one.name}", one) for one in plan.record_rules]
    rules, short = ({name: one.full for name, one in every}, {name: one.public for name, one in every})
    lines: list[tuple[str, object]] = [(words("hidden.primary_cells"), f"{cells.primary:,}")]
    lines += [
        (words("hidden.of_rule"), f"{rules[name].explain(words.language)}: {count:,}")
        for name, count in cells.primary_by_rule.items()
    ]
    lines.append((words("hidden.secondary_cells"), f"{cells.secondary:,}"))
    rows = [
        [one.name, words("hidden.primary"), _reasons([short[name] for name in one.rules], words)]
        for one in cells.unsafe[:MAX_SHOWN]
    ]
    rows += [[one.name, words("hidden.secondary"), ""] for one in cells.secondary_cells[: MAX_SHOWN - len(rows)]]
    columns = [(words("hidden.cell"), False), (words("hidden.kind"), False), (words("hidden.breaks"), False)]
    parts: list[RenderableType] = [heading(words("hidden.title")), facts(lines), table_of(columns, rows)]
    left = cells.primary + cells.secondary - len(rows)
    if left:
        parts.append(words("hidden.more", count=f"{left:,}", file=made.folder / "confidential.json"))
    return stack(*parts)


def _cells(made: ProtectedFolder) -> ConfidentialCells | None:
    is_hiding = any(table["hidden"] for table in made.document["tables"])
    return made.confidential.cells if made.confidential is not None and is_hiding else None


def _reasons(rules: list[Words], words: Catalogue) -> str:
    return Words.joined(rules, BETWEEN_RULES).explain(words.language) if rules else words("hidden.by_hand")
