"""The page on a protected table: one HTML file that tells in plain words what was done, and what it protects and does not.

It needs no network and no JavaScript; both languages are in it. The public page shows the report and the published table; the
holder's page shows besides what only the holder may know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.disclosure.status import CellStatus
from sudare.disclosure.structure import Dimension, Table
from sudare.errors import ParameterError
from sudare.parameters import shown
from sudare.releases.kinds.tables import page_words
from sudare.releases.kinds.tables.confidential_document import OF_RECORDS
from sudare.releases.kinds.tables.methods.method import DisclosureMethod
from sudare.releases.kinds.tables.methods.registry import method_of_document
from sudare.releases.kinds.tables.published_meshes import read_published_meshes
from sudare.releases.kinds.tables.published_table import PublishedTables, read_published_tables, show_number
from sudare.releases.page_numbers import show_date, show_size
from sudare.releases.page_template import page_template, stated_words
from sudare.storage.staging import document_in, page_beside

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render_table_page"]

TEMPLATE = "report.html.jinja"
MAX_ROWS, MAX_COLUMNS = 40, 12
MAX_INTERVALS = 40
MAX_MESHES = 30
MAX_CELLS_LISTED = 200
BETWEEN_RULES = Words("; ", "、")
HIDDEN = "×"


@dataclass(frozen=True, kw_only=True)
class _ShownAttack:
    name: Words
    outcome: Words
    is_broken: bool
    found: Words | None
    worst: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class _ShownTable:
    name: str
    down: str
    across: str | None
    columns: Sequence[str]
    rows: Sequence[tuple[str, int, Sequence[str]]]
    others: str
    is_cut: bool
    has_hidden: bool


@dataclass(frozen=True, kw_only=True)
class _ShownMeshes:
    names: Sequence[str]
    rows: Sequence[tuple[str, str, str, Sequence[str]]]
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class _ShownInterval:
    name: str
    value: str
    low: str
    high: str
    required: str
    drawn: str


def render_table_page(
    folder: Path,
    report: Mapping[str, Any],
    *,
    confidential: Mapping[str, Any] | None = None,
    language: str = "en",
) -> str:
    """The page of a folder with protected tables as HTML.

    Args:
        folder: with the published tables.
        report: what ``release.json`` says.
        confidential: what ``confidential.json`` says, for the holder's page.
        language: ``"en"`` or ``"ja"``, which the page starts with; it holds both.

    Raises:
        ParameterError: if the language is another one.
        InputError: if the tables are not those of the report.
    """
    if language not in ("en", "ja"):
        raise ParameterError(
            "language", "render_table_page", Words("'en' or 'ja'", "'en' または 'ja'"), shown(language)
        )
    method = method_of_document(report)
    published = None if method.is_of_meshes else read_published_tables(folder, report)
    own = confidential or {}
    context = {
        "language": language,
        "report": report,
        "own": None if confidential is None else own,
        "note": stated_words(own["note"]) if own else None,
        "created": show_date(report.get("created"), report.get("utc_offset")),
        "tiles": _tiles(method, report, own),
        "method": method.words.name,
        "protects": [(name, stated_words(report[name])) for name in ("protects", "keeps", "limits")],
        "rules": [stated_words(rule) for rule in (own.get("rules") or report["rules"])],
        "record_rules": [stated_words(rule) for rule in own.get("record_rules") or []],
        "hides_parameters": not own and any(rule["name"] not in ("threshold", "zero") for rule in report["rules"]),
        "pictures": [] if published is None else _pictures(report, published),
        "meshes": _meshes(folder, report) if method.is_of_meshes else None,
        "by_rule": _by_rule(own),
        "hidden_cells": _hidden_cells(report, own) if any(table["hidden"] for table in report["tables"]) else [],
        "most_cells": MAX_CELLS_LISTED,
        "cost": _cost(own, 0 if published is None else published.decimals),
        "intervals": _intervals(own),
        "most": MAX_INTERVALS,
        "attacks": [_attack(method, attack, own) for attack in report.get("attacks") or []],
        "document": document_in(folder).name,
        "page": page_beside(document_in(folder)).name,
        "files": [(file["name"], show_size(file["bytes"]), file["sha256"]) for file in report["files"]],
    }
    return _template().render(context)


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_template(TEMPLATE, [Path(__file__).parent], page_words.TEXTS)


def _tiles(
    method: DisclosureMethod[Any, Any, Any], report: Mapping[str, Any], own: Mapping[str, Any]
) -> list[tuple[str, Words]]:
    cells, hidden = (sum(table[name] for table in report["tables"]) for name in ("cells", "hidden"))
    held = [attack["outcome"] == "held" for attack in report.get("attacks") or []]
    tiles = [("tile_method", method.words.name), ("tile_cells", Words.same(f"{cells:,}"))]
    if method.shows_true_values:  # what is not shown as it is, is hidden
        tiles.append(("tile_hidden", Words.same(f"{hidden:,}")))
    if "primary" in own:
        tiles.append(("tile_unsafe", Words.same(f"{own['primary']:,}")))
    if "cost" in own:
        tiles.append(("tile_secondary", Words.same(f"{own['secondary']:,}")))
    tiles.append(("tile_attacks", Words.same(f"{sum(held)} / {len(held)}")))
    return tiles


def _cost(own: Mapping[str, Any], decimals: int) -> tuple[str, dict[str, str]] | None:
    if "cost" not in own:
        return None
    cost, least = own["cost"]["secondary"], own["cost"]["at_least"]
    if least:
        return "cost", {"cost": f"{cost:,}", "least": f"{least:,}"}
    return "cost_only", {"cost": f"{cost:,}"}


def _attack(method: DisclosureMethod[Any, Any, Any], attack: Mapping[str, Any], own: Mapping[str, Any]) -> _ShownAttack:
    full = next((one for one in own.get("attacks") or [] if one["attack"] == attack["attack"]), None)
    worst = [] if full is None else [one["target"] for one in full["verdicts"][:5] if one["outcome"] == "broken"]
    return _ShownAttack(
        name=method.attack_words[attack["attack"]],
        outcome=page_words.OUTCOMES[attack["outcome"]],
        is_broken=attack["outcome"] == "broken",
        found=None if full is None else stated_words(full["summary"]),
        worst=worst,
    )


def _pictures(report: Mapping[str, Any], published: PublishedTables) -> list[_ShownTable]:
    return [
        _picture(name["name"], table, published)
        for name, table in zip(report["tables"], published.system.tables, strict=True)
    ]


def _picture(name: str, table: Table, published: PublishedTables) -> _ShownTable:
    """Two dimensions of a table, the others at their totals; the longer one downwards."""
    order = sorted(range(len(table.dimensions)), key=lambda axis: -len(table.dimensions[axis]))[:2]
    down = table.dimensions[order[0]]
    across = table.dimensions[order[1]] if len(order) > 1 else None
    others = [one.name for axis, one in enumerate(table.dimensions) if axis not in order]
    index: list[Any] = [0] * len(table.dimensions)
    for axis in order:
        index[axis] = slice(None)
    cells = table.cells[tuple(index)]
    if across is not None and order[0] > order[1]:
        cells = cells.T
    cells = cells.reshape(len(down), -1)[:MAX_ROWS, :MAX_COLUMNS]
    rows = [
        (down.codes[place], down.depth[place], [_shown(published, cell) for cell in row])
        for place, row in enumerate(cells.tolist())
    ]
    return _ShownTable(
        name=name,
        down=down.name,
        across=None if across is None else across.name,
        columns=[""] if across is None else across.codes[:MAX_COLUMNS],
        rows=rows,
        others=", ".join(others),
        is_cut=_is_cut(down, MAX_ROWS) or (across is not None and _is_cut(across, MAX_COLUMNS)),
        has_hidden=bool(published.hidden[cells].any()),
    )


def _is_cut(dimension: Dimension, most: int) -> bool:
    return len(dimension) > most


def _shown(published: PublishedTables, cell: int) -> str:
    if published.hidden[cell]:
        return HIDDEN
    whole, point, rest = show_number(int(published.values[cell]), published.decimals).partition(".")
    return f"{int(whole):,}{point}{rest}"


def _meshes(folder: Path, report: Mapping[str, Any]) -> _ShownMeshes:
    meshes = read_published_meshes(folder, report)
    names = list(meshes.values)
    hidden_first = sorted(
        range(len(meshes.codes)), key=lambda place: (meshes.codes[place] == meshes.targets[place], place)
    )
    rows = []
    for place in sorted(hidden_first[:MAX_MESHES]):
        numbers = [int(meshes.values[name][place]) for name in names]
        target = meshes.targets[place]
        rows.append(
            (
                str(meshes.codes[place]),
                f"{meshes.population[place]:,}",
                "" if target == meshes.codes[place] else str(target),
                [HIDDEN if number < 0 else f"{number:,}" for number in numbers],
            )
        )
    return _ShownMeshes(names=names[:MAX_COLUMNS], rows=rows, is_cut=len(meshes.codes) > MAX_MESHES)


def _by_rule(own: Mapping[str, Any]) -> list[tuple[Words, str]]:
    """How many cells break each rule; of older files, how many have each status."""
    if not own.get("primary_by_rule"):
        counts = (own.get("primary_by_status") or {}).items()
        return [(page_words.STATUSES[name], f"{count:,}") for name, count in counts]
    rules = _rules_by_name(own)
    return [(rules[name], f"{count:,}") for name, count in own["primary_by_rule"].items()]


def _rules_by_name(own: Mapping[str, Any]) -> dict[str, Words]:
    rules = {rule["name"]: stated_words(rule) for rule in own["rules"]}
    return rules | {f"{OF_RECORDS} {rule['name']}": stated_words(rule) for rule in own.get("record_rules") or []}


def _hidden_cells(report: Mapping[str, Any], own: Mapping[str, Any]) -> list[tuple[str, str, Words]]:
    """Primary cells with all rules that they break, then secondary ones; none of files that do not tell."""
    if "secondary_cells" not in own:
        return []
    rules = _rules_by_name(own) | {rule["name"]: stated_words(rule) for rule in reversed(report["rules"])}  # in short
    rows = []
    for one in own["unsafe"][:MAX_CELLS_LISTED]:
        broken = [rules[name] for name in one["rules"]] or [page_words.STATUSES[CellStatus(one["status"]).name]]
        rows.append((one["name"], "primary", Words.joined(broken, BETWEEN_RULES)))
    rows += [(one["name"], "secondary", Words.same("")) for one in own["secondary_cells"][:MAX_CELLS_LISTED]]
    return rows[:MAX_CELLS_LISTED]


def _intervals(own: Mapping[str, Any]) -> list[_ShownInterval]:
    """Hidden cells with their intervals, the narrowest first; unsafe ones with what was required."""
    if "intervals" not in own:
        return []
    values = dict(zip(own["cells"]["numbers"], own["cells"]["values"], strict=True))
    levels = {one["cell"]: (one["lower"], one["upper"]) for one in own["unsafe"]}
    rows = []
    for one in own["intervals"]:
        if one["cell"] not in levels:
            continue
        low = None if one["low"] is None else Fraction(one["low"])
        high = None if one["high"] is None else Fraction(one["high"])
        width = np.inf if low is None or high is None else float(high - low)
        lower, upper = levels[one["cell"]]
        value = values[one["cell"]]
        rows.append((width / max(1, value), one["name"], value, low, high, lower, upper))
    rows.sort(key=lambda row: (row[0], row[1]))
    return [_interval(*row[1:], decimals=own["decimals"]) for row in rows[:MAX_INTERVALS]]


def _interval(
    name: str, value: int, low: Fraction | None, high: Fraction | None, lower: int, upper: int, *, decimals: int
) -> _ShownInterval:
    left = float(low) if low is not None else float(value - 2 * lower - 1)
    right = float(high) if high is not None else float(value + 4 * upper + 1)
    span = max(right - left, 1e-9)

    def place(number: float) -> float:
        return 2 + 96 * min(1.0, max(0.0, (number - left) / span))

    start, end = place(value - lower), place(value + upper)
    drawn = (
        '<svg class="interval" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        '<rect class="span" x="2" width="96" height="8"/>'
        f'<rect class="needed" x="{start:.2f}" width="{max(0.6, end - start):.2f}" height="8"/>'
        f'<rect class="value" x="{place(value) - 0.4:.2f}" width="0.8" height="8"/></svg>'
    )
    return _ShownInterval(
        name=name,
        value=_plain(value, decimals),
        low="−∞" if low is None else _plain(low, decimals),
        high="∞" if high is None else _plain(high, decimals),
        required=f"{_plain(value - lower, decimals)} – {_plain(value + upper, decimals)}",
        drawn=drawn,
    )


def _plain(value: int | Fraction, decimals: int) -> str:
    number = Fraction(value) / 10**decimals
    if number.denominator == 1:
        return f"{int(number):,}"
    return f"{float(number):,.{max(decimals, 2)}f}"
