"""The page of a comparison: one HTML file with the picture, the figures and how to read them, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.comparison.methods import METHODS
from sudare.comparison.reporting.page_words import TEXTS
from sudare.comparison.reporting.picture import COLOURS, PICTURE_STYLE
from sudare.comparison.reporting.words import SHORT_TITLES, TABLE_COLUMNS
from sudare.releases.page_template import page_template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Template

__all__ = ["percent", "render_comparison_page"]

TEMPLATE = "page.html.jinja"


def render_comparison_page(report: Mapping[str, Any], pictures: Sequence[str], *, language: str = "en") -> str:
    """The page as HTML.

    Args:
        report: what ``report.json`` says.
        pictures: as SVG with both languages; the first is the large one.
        language: which the page starts with; it holds both.
    """
    from markupsafe import Markup

    drawn = [Markup(svg) for svg in pictures]  # noqa: S704 - made by `draw_picture`, which escapes every text
    methods = {result["method"] for result in report["results"]}
    count = TEXTS["settings_value"]
    numbers = {"methods": len(methods), "settings": len(report["results"])}
    context = {
        "language": language,
        "report": report,
        "style": Markup(PICTURE_STYLE),  # noqa: S704 - ours
        "tiles": [
            ("people", _same(f"{report['people']:,}")),
            ("cells", _same(f"{report['cells']:,}")),
            ("rare", _same(f"{report['rare_people']:,}")),
            ("settings", Words(count.english.format(**numbers), count.japanese.format(**numbers))),
        ],
        "picture": drawn[0],
        "pictures": drawn[1:],
        "groups": [(name, [SHORT_TITLES[measure] for measure in measures]) for name, measures in TABLE_COLUMNS],
        "rows": _rows(report["results"]),
        "people": f"{report['people']:,}",
        "alarms": f"{report['false_alarms']:.0%}",
        "columns": ", ".join(f"{column['name']} ({column['values']})" for column in report["columns"]),
    }
    return _template().render(context)


@dataclass(frozen=True)
class _Cell:
    value: str
    error: str
    most: str
    starts: bool


@dataclass(frozen=True)
class _Row:
    method: Words
    setting: Words
    is_first: bool
    is_private: bool
    colour: str
    cells: tuple[_Cell, ...]
    repeats: int


def _rows(results: Sequence[Mapping[str, Any]]) -> list[_Row]:
    rows: list[_Row] = []
    previous = ""
    for result in results:
        method = METHODS[result["method"]]
        cells = []
        for _, measures in TABLE_COLUMNS:
            for place, name in enumerate(measures):
                found = result["measures"][name]
                most = result.get(f"most_{name}")
                told = "" if most is None or most > 0.9995 else percent(most)
                cells.append(_Cell(percent(found["value"]), _error(found["error"]), told, place == 0))
        setting = _same("") if result["setting"] is None else _told(result)
        is_first = method.name != previous
        colour = COLOURS[method.name].replace("--picture-ink", "--ink")
        rows.append(_Row(method.title, setting, is_first, method.is_private, colour, tuple(cells), result["repeats"]))
        previous = method.name
    return rows


def _told(result: Mapping[str, Any]) -> Words:
    from decimal import Decimal
    from fractions import Fraction

    return METHODS[result["method"]].told(Fraction(Decimal(str(result["setting"]))))


def percent(value: float | None) -> str:
    """A share in percent with as many digits as it deserves.

    Example:
        >>> percent(0.5234), percent(0.0123), percent(0.0), percent(None), percent(3.2)
        ('52.3', '1.23', '0', '–', '320')
    """
    if value is None:
        return "–"
    number = 100 * value
    if abs(number) < 5e-3:
        return "0"
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.1f}" if abs(number) >= 10 else f"{number:.2f}"


def _error(value: float | None) -> str:
    return "" if value is None or value < 5e-6 else percent(value) if value >= 5e-5 else "0.01"


def _same(text: str) -> Words:
    return Words(text, text)


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_template(TEMPLATE, [Path(__file__).parent], TEXTS)
