"""The page of a release: one HTML file that tells a reader what was published, what is promised, and how accurate it is.

It needs no network and no JavaScript; both languages are in it, and a switch made of style alone shows one of them.
Everything on it comes from the release document and the published table. The true table appears only where it is
handed in, for a page that stays inside the office and says so in red.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, SignedTable
from sudare.domain.attributes import Attribute
from sudare.domain.sparse_table import SparseTable
from sudare.errors import Described, ParameterError
from sudare.parameters import shown
from sudare.privacy import guarantee_words
from sudare.releases.charts import bar, colour_legend, promise_bars, signed_bar
from sudare.releases.kinds.counts import page_words
from sudare.releases.kinds.counts.page_accuracy import accuracy_section
from sudare.releases.page_numbers import (
    label_of_places,
    show_amount,
    show_budget,
    show_date,
    show_decimal,
    show_size,
    with_greek_letters,
)
from sudare.releases.page_template import page_template
from sudare.tables.map_frames import ScaleBar, legends_of, scale_bar
from sudare.tables.maps import MapAxes, find_map, pixels_of, png_of

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render_page"]

TEMPLATE = "page.html.jinja"
MAX_BARS = 24
"""An attribute with more values is shown in this many groups of neighbours."""

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


@dataclass(frozen=True, kw_only=True)
class _PromiseSection:
    who: Words
    unit_who: Words
    unit_text: str
    unit_numbers: Mapping[str, str]
    adversary_text: str
    gains: Sequence[tuple[str, str, str]]
    flavour: str | None
    budget: str
    invariants: Words | None


@dataclass(frozen=True, kw_only=True)
class _MapSection:
    maps: Sequence[_Map]
    legend: str
    block: int
    map_shape: float
    scale_bar: ScaleBar | None


@dataclass(frozen=True, kw_only=True)
class _MeasuredSection:
    levels: Sequence[tuple[Words, str, str, str]]
    draws: Sequence[tuple[Words, str]]
    reasons: Sequence[Words]
    alternatives: Sequence[tuple[Words, str, str]]
    reference: Mapping[str, Any] | None
    settings: Sequence[tuple[Words, Words]]
    recovered: Mapping[str, str]


def render_page(
    release: Mapping[str, Any], table: SparseTable, *, language: str = "en", truth: CountTable | None = None
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
        >>> from sudare.releases.kinds.counts.page import render_page
        >>> published = sudare.publish(np.full((8, 8), 100), sudare.Budget(epsilon=1))
        >>> page = render_page({"title": "Town", "event": json.loads(published.event.to_json())}, published.table)
        >>> page.startswith("<!doctype html>"), "src=" in page.replace('src="data:', "")
        (True, False)
    """
    if not isinstance(language, str) or language not in ("en", "ja"):
        raise ParameterError("language", "render_page", Words("'en' or 'ja'", "'en' または 'ja'"), shown(language))
    if not isinstance(release, Mapping) or not isinstance(release.get("event"), Mapping):
        raise ParameterError("release", "render_page", "a release document with its event", shown(release))
    if not isinstance(table, SparseTable):
        raise ParameterError("table", "render_page", "a CountTable or a SignedTable", shown(table))
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
        "created": show_date(release.get("created"), release.get("utc_offset")),
        "tiles": _tiles(release, table),
        "is_signed": isinstance(table, SignedTable),
        "threshold": _threshold(release),
        **vars(_promise(release)),
        **vars(_maps(table, truth, axes)),
        "marginals": _marginals(table, axes),
        **vars(accuracy_section(release, table, truth, axes)),
        **vars(_measured(release)),
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


def _tiles(release: Mapping[str, Any], table: SparseTable) -> list[tuple[str, Words]]:
    """The headline figures: all of them are published ones."""
    # Spaces that do not break keep the shape on one line.
    shape = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}".join(f"{length:,}" for length in table.domain.shape)
    cells = f"{table.domain.cells:,}" + (f" ({shape})" if len(table.domain.shape) > 1 else "")
    event = release["event"]
    not_zero = [("non_empty", Words.same(f"{table.keys.size:,}"))]
    if isinstance(table, SignedTable):
        not_zero = [("above_zero", Words.same(f"{int((table.counts > 0).sum()):,}"))]
        not_zero.append(("below_zero", Words.same(f"{int((table.counts < 0).sum()):,}")))
    return [
        ("total", Words.same(f"{table.total:,}")),
        *not_zero,
        ("cells", Words.same(cells)),
        ("budget", Words.same(show_budget(event.get("cost") or {}))),
        ("mechanism", page_words.of_mechanism(str(event.get("mechanism", "–")))),
    ]


def _promise(release: Mapping[str, Any]) -> _PromiseSection:
    event, stated = release["event"], release.get("promise") or {}
    unit = event.get("unit") or {}
    adjacency = "replace" if unit.get("adjacency") == "replace" else "add-remove"
    counted = "once" if unit.get("rows", 1) == 1 else "often"
    alarm, power = stated.get("false_alarm"), stated.get("best_power")
    numbers = {name: f"{unit.get(name, 1):,}" for name in ("cells", "rows_per_cell", "rows")}
    return _PromiseSection(
        who=guarantee_words.of_unit(str(unit.get("who", "person"))),
        unit_who=guarantee_words.of_unit_that_changes(str(unit.get("who", "person"))),
        unit_text=f"unit_{adjacency}_{counted}",
        unit_numbers=numbers,
        adversary_text="adversary_values" if adjacency == "replace" else "adversary_presence",
        gains=[] if alarm is None or power is None else promise_bars(alarm, power),
        flavour=FLAVOURS.get(frozenset(event.get("cost") or {})),
        budget=show_budget(event.get("cost") or {}),
        invariants=_joined([page_words.of_quantity(str(name)) for name in event.get("invariants") or []]),
    )


def _threshold(release: Mapping[str, Any]) -> dict[str, str] | None:
    """What a threshold does to totals, where there was one."""
    stated = (release.get("published") or {}).get("threshold")
    if not isinstance(stated, Mapping):
        return None
    return {
        "threshold": f"{int(stated['threshold']):,}",
        "each": f"{float(stated['per_empty_cell']):.3g}",
        "all": f"{float(stated['if_all_empty']):,.0f}",
    }


def _maps(table: SparseTable, truth: CountTable | None, axes: MapAxes | None) -> _MapSection:
    if axes is None:
        return _MapSection(maps=[], legend="", block=1, map_shape=1.0, scale_bar=None)
    pictures = [pixels_of(each, axes) for each in (table, truth) if each is not None]
    most = max(pixels.most for pixels in pictures)
    titles = [(page_words.TEXTS["map_published"], False), (page_words.TEXTS["map_true"], True)]
    maps = [
        _Map(png_of(pixels, most), title, is_true) for pixels, (title, is_true) in zip(pictures, titles, strict=False)
    ]
    return _MapSection(
        maps=maps,
        legend=_legend(most, is_signed=any(pixels.has_negative for pixels in pictures)),
        block=pictures[0].block,
        map_shape=axes.width_over_height(*pictures[0].counts.shape),
        scale_bar=scale_bar(axes, pictures[0].counts.shape[1] * pictures[0].block),
    )


def _legend(most: float, *, is_signed: bool) -> str:
    return "".join(
        colour_legend(legend.colours, legend.ticks, "shades-below" if legend.is_below else "shades")
        for legend in legends_of(most, has_negative=is_signed)
    )


def _marginals(table: SparseTable, axes: MapAxes | None) -> list[_Marginal]:
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
    width = -(-length // MAX_BARS)
    groups = -(-length // width)
    # Exact sums: counts beyond 2**53 would not survive as floats.
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, places // width, counts)
    least, most = min(int(sums.min(initial=0)), 0), max(int(sums.max(initial=0)), 1)
    rows = tuple(
        (
            label_of_places(attribute, group * width, min(length, (group + 1) * width) - 1),
            bar(people / most) if least == 0 else signed_bar(people, least, most),
            f"{people:,}",
        )
        for group, people in enumerate(sums.tolist())
    )
    return _Marginal(attribute.name, rows)


def _measured(release: Mapping[str, Any]) -> _MeasuredSection:
    """What was drawn: as planned, or else as the event records it."""
    method = release.get("method") or {}
    settled, settings = method.get("settled") or {}, method.get("settings") or {}
    mechanism = str(release["event"].get("mechanism", ""))
    plan = release.get("plan") or {}
    levels = _list(plan, "levels")
    reference = release.get("reference")
    return _MeasuredSection(
        levels=[
            (
                Words.read(level.get("words"), level.get("name", "")),
                bar(float(level.get("share", 0))),
                f"{100 * float(level.get('share', 0)):.1f} %",
                show_amount(float(level.get("deviation", 0))),
            )
            for level in levels
        ],
        draws=[
            (page_words.of_draw(str(draw.get("kind", ""))), show_decimal(draw.get("scale", draw.get("sigma", "–"))))
            for draw in _list(release["event"], "measurements")
        ],
        reasons=_reasons(plan),
        alternatives=[
            (
                _alternative(other),
                f"× {float(other.get('ratio', 0)):.2f}",
                f"× {float(other.get('worst_ratio', 0)):.2f}",
            )
            for other in _list(plan, "alternatives")
        ],
        reference=reference if isinstance(reference, Mapping) else None,
        settings=[page_words.of_setting(str(name), value, mechanism) for name, value in settings.items()],
        recovered={name: f"{float(settled[name]):,.4g}" for name in ("level", "divisor") if name in settled},
    )


def _reasons(plan: Mapping[str, Any]) -> list[Words]:
    """Why the plan was chosen; documents of older versions say it in English alone."""
    stored, texts = _list(plan, "reasons_in_words"), plan.get("reasons") or []
    return [Words.read(words, text) for words, text in zip_longest(stored[: len(texts)], texts)]


def _alternative(other: Mapping[str, Any]) -> Words:
    """What was rejected; documents of older versions have no words for it but those of its settings."""
    name, settings = page_words.of_mechanism(str(other.get("mechanism", ""))), str(other.get("settings", ""))
    in_english = Words.joined([name, settings]).english if settings else name.english
    return Words.read(other.get("words"), in_english)


def _ledger(release: Mapping[str, Any]) -> list[tuple[str, Words]]:
    ledger, given = release.get("ledger") or {}, release.get("input") or {}
    rows = [(name, Words.same(str(ledger[name]))) for name in ("dataset", "location", "entry") if name in ledger]
    if "remaining" in ledger:
        rows.append(("remaining", guarantee_words.of_remaining(with_greek_letters(str(ledger["remaining"])))))
    hashes = {"hash": ledger.get("hash"), "input": given.get("keyed_hash")}
    return rows + [(name, Words.same(str(value))) for name, value in hashes.items() if value]


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


def _joined(words: Sequence[Words]) -> Words | None:
    if not words:
        return None
    return Words.joined(words)
