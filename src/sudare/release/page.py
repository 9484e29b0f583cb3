"""The page of a release: one HTML file that tells a reader what was published, what is promised, and how exact it is.

It needs no network and no JavaScript; both languages are in it, and a switch made of style alone shows one of them.
Everything on it comes from the release document and the published table. The true table appears only where it is
handed in, for a page that stays inside the office and says so in red.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Bins, CountTable
from sudare.domain.attributes import Attribute
from sudare.errors import Described, ParameterError
from sudare.parameters import shown
from sudare.release import page_words
from sudare.release.charts import CurvePoint, bar, colour_legend, error_curve
from sudare.release.page_numbers import (
    percent_rounded_up,
    show_amount,
    show_budget,
    show_date,
    show_decimal,
    show_distance,
    show_size,
    with_greek_letters,
)
from sudare.release.page_template import page_template
from sudare.tables.maps import COLOURS, MapAxes, find_map, legend_ticks, pixels_of, png_of

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render_page"]

TEMPLATE = "page.html.jinja"
MOST_BARS = 24
"""An attribute with more values is shown in so many groups of neighbours."""

LARGER_AREA = 16
"""The area that the text on accuracy speaks of, beside a single cell."""

METRES = {"1": 80_000, "2": 10_000, "5x": 5_000, "2x": 2_000, "3": 1_000, "1/2": 500, "1/4": 250, "1/8": 125}
"""About the side of a mesh."""

FLAVOURS = {
    frozenset({"epsilon"}): "pure",
    frozenset({"epsilon", "delta"}): "approximate",
    frozenset({"rho"}): "zcdp",
}


@dataclass(frozen=True)
class _Map:
    picture: str
    title: Words
    is_true: bool


@dataclass(frozen=True)
class _Marginal:
    name: str
    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class _ErrorRow:
    side: str
    distance: str
    expected: str
    interval: str
    measured: str


def render_page(
    release: Mapping[str, Any], table: CountTable, *, language: str = "en", truth: CountTable | None = None
) -> str:
    """The page of a release as HTML.

    Args:
        release: the release document, as ``release.json`` has it.
        table: the published table.
        language: ``"en"`` or ``"ja"``, which the page starts with; it holds both.
        truth: the true table, over the same cells. **The page is then confidential**, and says so.

    Raises:
        ParameterError: if an argument is not what it should be.

    Example:
        >>> import json, numpy as np, sudare
        >>> from sudare.release.page import render_page
        >>> published = sudare.publish(np.full((8, 8), 100), sudare.Budget(epsilon=1))
        >>> page = render_page({"title": "Town", "event": json.loads(published.event.to_json())}, published.table)
        >>> page.startswith("<!doctype html>"), "src=" in page.replace('src="data:', "")
        (True, False)
    """
    if not isinstance(language, str) or language not in ("en", "ja"):
        raise ParameterError("language", "render_page", "'en' or 'ja'", shown(language))
    if not isinstance(release, Mapping) or not isinstance(release.get("event"), Mapping):
        raise ParameterError("release", "render_page", "a release document with its event", shown(release))
    if not isinstance(table, CountTable):
        raise ParameterError("table", "render_page", "a CountTable", shown(table))
    if truth is not None and not isinstance(truth, CountTable):
        raise ParameterError("truth", "render_page", "a CountTable", shown(truth))
    if truth is not None and truth.domain != table.domain:
        raise ParameterError("truth", "render_page", "a table over the same cells", Described("other cells"))
    axes = find_map(table.domain)
    context = {
        "language": language,
        "release": release,
        "is_private": release["event"].get("entropy") == "secure",
        "is_confidential": truth is not None or bool(release.get("confidential")),
        "created": show_date(release.get("created")),
        "tiles": _tiles(release, table),
        **_promise(release),
        **_maps(table, truth, axes),
        "marginals": _marginals(table, axes),
        **_accuracy(release, table, truth, axes),
        **_measured(release),
        "ledger": _ledger(release),
        "files": [
            (file.get("name", ""), show_size(file.get("bytes")), file.get("sha256", ""))
            for file in _list(release, "files")
        ],
        "registry": _flattened(release.get("deployment") or {}),
    }
    return _template().render(context)


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_template(TEMPLATE, [Path(__file__).parent], page_words.TEXTS)


def _tiles(release: Mapping[str, Any], table: CountTable) -> list[tuple[str, Words]]:
    """The headline figures: all of them are published ones."""
    # Spaces that do not break keep the shape on one line.
    shape = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}".join(f"{length:,}" for length in table.domain.shape)
    cells = f"{table.domain.cells:,}" + (f" ({shape})" if len(table.domain.shape) > 1 else "")
    event = release["event"]
    return [
        ("total", _same(f"{table.total:,}")),
        ("non_empty", _same(f"{table.keys.size:,}")),
        ("cells", _same(cells)),
        ("budget", _same(show_budget(event.get("cost") or {}))),
        ("mechanism", page_words.of_mechanism(str(event.get("mechanism", "–")))),
    ]


def _promise(release: Mapping[str, Any]) -> dict[str, Any]:
    event, stated = release["event"], release.get("promise") or {}
    unit = event.get("unit") or {}
    adjacency = "replace" if unit.get("adjacency") == "replace" else "add-remove"
    counted = "once" if unit.get("rows", 1) == 1 else "often"
    alarm, power = stated.get("false_alarm"), stated.get("best_power")
    numbers = {name: f"{unit.get(name, 1):,}" for name in ("cells", "rows_per_cell", "rows")}
    gains = []
    if alarm is not None and power is not None:
        gains = [
            ("guessing", bar(alarm), percent_rounded_up(alarm)),
            ("with_release", bar(power), percent_rounded_up(power)),
        ]
    return {
        "who": page_words.of_unit(str(unit.get("who", "person"))),
        "unit_text": f"unit_{adjacency}_{counted}",
        "unit_numbers": numbers,
        "adversary_text": "adversary_values" if adjacency == "replace" else "adversary_presence",
        "gains": gains,
        "flavour": FLAVOURS.get(frozenset(event.get("cost") or {})),
        "budget": show_budget(event.get("cost") or {}),
        "invariants": _joined([page_words.of_quantity(str(name)) for name in event.get("invariants") or []]),
    }


def _maps(table: CountTable, truth: CountTable | None, axes: MapAxes | None) -> dict[str, Any]:
    if axes is None:
        return {"maps": [], "legend": "", "block": 1, "map_shape": 1.0}
    pictures = [pixels_of(each, axes) for each in (table, truth) if each is not None]
    most = max(float(pixels.counts.max(initial=0)) for pixels in pictures)
    titles = [(page_words.TEXTS["map_published"], False), (page_words.TEXTS["map_true"], True)]
    maps = [
        _Map(png_of(pixels, most), title, is_true) for pixels, (title, is_true) in zip(pictures, titles, strict=False)
    ]
    return {
        "maps": maps,
        "legend": colour_legend(COLOURS, legend_ticks(most)),
        "block": pictures[0].block,
        "map_shape": axes.width_over_height(*pictures[0].counts.shape),
    }


def _marginals(table: CountTable, axes: MapAxes | None) -> list[_Marginal]:
    """Sums of the published table for each attribute that is not on the map."""
    shown_already = () if axes is None else axes.attributes
    places = table.domain.places_of(table.keys)
    marginals, axis = [], 0
    for position, attribute in enumerate(table.domain.attributes):
        if position not in shown_already and len(attribute.shape) == 1:
            marginals.append(_marginal(attribute, places[axis], table.counts))
        axis += len(attribute.shape)
    return marginals


def _marginal(attribute: Attribute, places: Any, counts: Any) -> _Marginal:
    length = attribute.shape[0]
    width = -(-length // MOST_BARS)
    groups = -(-length // width)
    # Exact sums: counts beyond 2**53 would not survive as floats.
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, places // width, counts)
    most = max(int(sums.max(initial=0)), 1)
    rows = tuple(
        (_label(attribute, group * width, min(length, (group + 1) * width) - 1), bar(int(people) / most), f"{people:,}")
        for group, people in enumerate(sums.tolist())
    )
    return _Marginal(attribute.name, rows)


def _label(attribute: Attribute, first: int, last: int) -> str:
    """The values at one place of an attribute, or from one place to another."""
    if isinstance(attribute, Bins):
        low, high = attribute.edges[first], attribute.edges[last + 1]
        is_whole = all(float(edge).is_integer() for edge in attribute.edges)
        if is_whole:
            return f"{int(low)}" if high - low == 1 else f"{int(low)}–{int(high) - 1}"
        return f"{low:g} ≤ x < {high:g}"
    ends = [str(value) for value in attribute.values((np.array([first, last]),)).tolist()]
    return ends[0] if first == last else f"{ends[0]} – {ends[1]}"


def _accuracy(
    release: Mapping[str, Any], table: CountTable, truth: CountTable | None, axes: MapAxes | None
) -> dict[str, Any]:
    stated = [(int(e["side"]), float(e["rmse"]), float(e["low"]), float(e["high"])) for e in _errors(release)]
    if axes is None:
        stated = [each for each in stated if each[0] == 1]  # squares mean nothing where the axes are no map
    points = [CurvePoint(*each) for each in sorted(stated)]
    measured: dict[int, float] = {}
    if truth is not None:
        from sudare.evaluate import error_by_area

        sides = [point.side for point in points] or None
        measured = {row.side: row.rmse for row in error_by_area(truth, table, sides)}
    level = axes.mesh.level if axes is not None and axes.mesh is not None else None
    metres = METRES.get(getattr(level, "name", ""))
    expected = {point.side: point for point in points}
    rows = [_error_row(side, expected.get(side), measured.get(side), metres) for side in sorted({*expected, *measured})]
    words = page_words.TEXTS
    chart = error_curve(
        points,
        sorted(measured.items()),
        name=words["accuracy_chart"],
        across=words["side"],
        upwards=words["expected"] if points else words["measured_error"],
    )
    larger = next((point for point in points if point.side == LARGER_AREA), points[-1] if points else None)
    return {
        "errors": rows,
        "error_chart": chart if len(rows) > 1 else "",
        "has_areas": len(points) > 1,
        "has_prediction": bool(points),
        "has_distances": metres is not None,
        "is_measured": bool(measured),
        "smallest": show_amount(points[0].error) if points and points[0].side == 1 else "",
        "larger_side": larger.side if larger else 0,
        "larger": show_amount(larger.error) if larger else "",
    }


def _errors(release: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    wanted = {"side", "rmse", "low", "high"}
    return [error for error in _list(release.get("plan") or {}, "errors") if wanted <= set(error)]


def _error_row(side: int, point: CurvePoint | None, measured: float | None, metres: int | None) -> _ErrorRow:
    return _ErrorRow(
        f"{side:,}",
        "" if metres is None else show_distance(side * metres),
        "" if point is None else show_amount(point.error),
        "" if point is None else f"{show_amount(point.low)} – {show_amount(point.high)}",
        "" if measured is None else show_amount(measured),
    )


def _measured(release: Mapping[str, Any]) -> dict[str, Any]:
    """What was drawn: as planned, or else as the event records it."""
    plan = release.get("plan") or {}
    levels = _list(plan, "levels")
    largest = max((float(level.get("share", 0)) for level in levels), default=1) or 1
    reference = release.get("reference")
    return {
        "levels": [
            (
                page_words.of_level(str(level.get("name", ""))),
                bar(float(level.get("share", 0)) / largest),
                f"{float(level.get('share', 0)):.1%}",
                show_amount(float(level.get("deviation", 0))),
            )
            for level in levels
        ],
        "draws": [
            (page_words.of_draw(str(draw.get("kind", ""))), show_decimal(draw.get("scale", draw.get("sigma", "–"))))
            for draw in _list(release["event"], "measurements")
        ],
        "reasons": [page_words.of_reason(str(reason)) for reason in plan.get("reasons") or []],
        "alternatives": [
            (
                page_words.of_alternative(str(other.get("mechanism", "")), str(other.get("settings", ""))),
                f"× {float(other.get('ratio', 0)):.2f}",
                f"× {float(other.get('worst_ratio', 0)):.2f}",
            )
            for other in _list(plan, "alternatives")
        ],
        "reference": reference if isinstance(reference, Mapping) else None,
    }


def _ledger(release: Mapping[str, Any]) -> list[tuple[str, Words]]:
    ledger, given = release.get("ledger") or {}, release.get("input") or {}
    rows = [(name, _same(str(ledger[name]))) for name in ("dataset", "location", "entry") if name in ledger]
    if "remaining" in ledger:
        rows.append(("remaining", page_words.of_remaining(with_greek_letters(str(ledger["remaining"])))))
    hashes = {"hash": ledger.get("hash"), "input": given.get("keyed_hash")}
    return rows + [(name, _same(str(value))) for name, value in hashes.items() if value]


def _list(values: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [item for item in values.get(name) or [] if isinstance(item, Mapping)]


def _flattened(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            rows += _flattened(value, f"{name}.")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            rows.append((name, ", ".join(map(str, value)) or "–"))
        else:
            rows.append((name, str(value)))
    return rows


def _same(text: str) -> Words:
    return Words(text, text)


def _joined(words: Sequence[Words]) -> Words | None:
    if not words:
        return None
    return Words(", ".join(each.english for each in words), "、".join(each.japanese for each in words))
