"""The page of a window: one HTML file that shows what all its tables say together, what is promised, and what is missing.

Everything on it comes from the document of the report and the tables that the ticks published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain
from sudare.privacy import guarantee_words
from sudare.releases.charts import colour_legend, promise_bars
from sudare.releases.data.domains import domain_of_description
from sudare.releases.kinds.series.clock import period_in_words
from sudare.releases.kinds.series.days.areas import areas_of
from sudare.releases.kinds.series.days.charts import TimeAxis, round_above, time_curve
from sudare.releases.kinds.series.days.document import LOST, MISSING, PUBLISHED
from sudare.releases.kinds.series.days.page_words import TEXTS
from sudare.releases.page_numbers import (
    percent_rounded_up,
    show_amount,
    show_budget,
    show_date,
    show_size,
    with_greek_letters,
)
from sudare.releases.page_template import page_template, stated_words
from sudare.storage.staging import DOCUMENT
from sudare.tables.maps import find_map, legend_ticks, pixels_of, png_of
from sudare.tables.palettes import COLOURS

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render_day_page", "shown_ticks"]

TEMPLATE = "day.html.jinja"
MAX_MAPS = 12
MAX_HOURS = 6
MAX_MAP_PIXELS = 160
NINETY_FIVE = 1.959963984540054
FLAVOURS = {
    frozenset({"epsilon"}): "pure",
    frozenset({"epsilon", "delta"}): "approximate",
    frozenset({"rho"}): "zcdp",
}


@dataclass(frozen=True)
class _SmallMap:
    time: str
    alt: Words
    picture: str | None


@dataclass(frozen=True, kw_only=True)
class _Pictures:
    """The part of the page that shows the window; its names are those of the template."""

    total_chart: str
    has_gaps: bool
    maps: Sequence[_SmallMap]
    legend: str
    block: int
    map_shape: float
    curves: Sequence[tuple[Words, str]]
    areas_title: str
    areas_name: str
    areas_note: str


def shown_ticks(release: Mapping[str, Any]) -> list[int]:
    """The ticks of which the page has maps: all of a few, else some in even steps; missing ones included."""
    number = len(release["ticks"])
    step = -(-number // MAX_MAPS)
    return list(range(0, number, step))


def render_day_page(release: Mapping[str, Any], tables: Mapping[int, CountTable], *, language: str = "en") -> str:
    """The page of a window as HTML.

    Args:
        release: the document of the report, as ``release.json`` has it.
        tables: of the ticks in `shown_ticks` that were published, by their numbers.
        language: ``"en"`` or ``"ja"``, which the page starts with; it holds both.
    """
    window = release["window"]
    axis = TimeAxis(datetime.fromisoformat(window["begins"]), timedelta(seconds=window["every"]), len(release["ticks"]))
    domain = domain_of_description(release["domain"], DOCUMENT)
    event = release["event"]
    context = {
        "language": language,
        "release": release,
        "is_private": event.get("entropy") == "secure",
        "created": show_date(release.get("created"), release.get("utc_offset")),
        "window_words": _window_words(axis),
        "tiles": _tiles(release, axis, domain),
        **_promise(release, axis),
        **vars(_pictures(release, tables, axis, domain)),
        **_accuracy(release, axis),
        **_ticks(release, axis),
        "revision": None if "revision" not in release else stated_words(release["revision"]["note"]),
        "ledger": _ledger(release),
        "files": [(file["name"], show_size(file.get("bytes")), file["sha256"]) for file in release["files"]],
    }
    return _template().render(context)


@lru_cache(maxsize=1)
def _template() -> Template:
    return page_template(TEMPLATE, [Path(__file__).parent], TEXTS)


def _moment(moment: datetime) -> Words:
    time = moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    return Words(
        f"{moment.year}-{moment.month:02}-{moment.day:02} {time}",
        f"{moment.year}年{moment.month}月{moment.day}日 {time}",
    )


def _window_words(axis: TimeAxis) -> Words:
    return TEXTS["from_to"].format(begins=_moment(axis.begins), ends=_moment(axis.ends))


def _time(axis: TimeAxis, number: int) -> str:
    """When a tick begins: with its day where the window has several."""
    moment = axis.begins + number * axis.every
    time = moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    is_one_day = axis.ends - axis.begins <= timedelta(days=1)
    return time if is_one_day else f"{moment:%m-%d} {time}"


def _tiles(release: Mapping[str, Any], axis: TimeAxis, domain: Domain) -> list[tuple[str, Words]]:
    totals = [tick["total"] for tick in release["ticks"] if tick.get("total") is not None]
    published = sum(tick["state"] != MISSING for tick in release["ticks"])
    tables = TEXTS["of_ticks"].format(published=f"{published:,}", ticks=f"{axis.ticks:,}")
    mean = f"{round(sum(totals) / len(totals)):,}" if totals else "–"
    return [
        ("tables", tables),
        ("every", period_in_words(axis.every)),
        ("cells", Words.same(f"{domain.cells:,}")),
        ("mean_total", Words.same(mean)),
        (f"budget{'_event' if _is_of_events(release) else ''}", Words.same(show_budget(release["event"]["cost"]))),
    ]


def _is_of_events(release: Mapping[str, Any]) -> bool:
    return bool(release["event"]["unit"]["time"]["span"] == "event")


def _promise(release: Mapping[str, Any], axis: TimeAxis) -> dict[str, object]:
    event, stated = release["event"], release["promise"]
    unit = event["unit"]
    span, who = unit["time"]["span"], str(unit["who"])
    is_event = _is_of_events(release)
    moves = max(release["window"]["moves"], default=0)
    who_changes = guarantee_words.of_unit_that_changes(who)
    return {
        "what": TEXTS["what_event" if is_event else "what_person"].format(who=guarantee_words.of_unit(who)),
        "who": who_changes,
        "unit_text": f"unit_{span}",
        "unit_ticks": f"{unit['time']['ticks']:,}",
        "moves_words": TEXTS["moves_none"] if is_event else TEXTS["moves_text"].format(moves=moves, who=who_changes),
        "gains": promise_bars(stated["false_alarm"], stated["best_power"]),
        "flavour": FLAVOURS.get(frozenset(event["cost"])),
        "budget": show_budget(event["cost"]),
        "is_event": is_event,
        "together": [
            (f"{one['windows']:,}", show_budget(one["cost"]), percent_rounded_up(min(one["best_power"], 1.0)))
            for one in release["together"]
        ],
        "length": period_in_words(axis.ends - axis.begins),
    }


def _pictures(
    release: Mapping[str, Any], tables: Mapping[int, CountTable], axis: TimeAxis, domain: Domain
) -> _Pictures:
    totals = [tick.get("total") for tick in release["ticks"]]
    bands = [NINETY_FIVE * deviation for deviation in release["accuracy"][0]["deviations"]]
    highest = max((total + band for total, band in zip(totals, bands, strict=True) if total is not None), default=1)
    areas = release["areas"]
    most = max((count for area in areas for count in area["counts"] if count is not None), default=1)
    top = round_above(max(most, 1))
    curves = []
    for area in areas:
        name = stated_words(area["name"])
        curves.append((name, time_curve(area["counts"], axis, name=name, top=top, is_small=True)))
    is_map = find_map(domain) is not None
    is_chosen = bool(release["chosen"])
    is_all = not is_map and not is_chosen and areas_of(domain).number <= len(areas)
    title = "areas_chosen" if is_chosen else "areas_map" if is_map else "areas_all" if is_all else "areas_some"
    maps, legend, block, shape = _maps(release, tables, axis, domain)
    return _Pictures(
        total_chart=time_curve(
            totals, axis, name=TEXTS["total"], top=round_above(max(highest, 1)), bands=bands, is_small=False
        ),
        has_gaps=any(total is None for total in totals),
        maps=maps,
        legend=legend,
        block=block,
        map_shape=shape,
        curves=curves,
        areas_title=title,
        areas_name=domain.attributes[0].name,
        areas_note="areas_scale" if is_all or is_chosen else "areas_note",
    )


def _maps(
    release: Mapping[str, Any], tables: Mapping[int, CountTable], axis: TimeAxis, domain: Domain
) -> tuple[list[_SmallMap], str, int, float]:
    axes = find_map(domain)
    if axes is None or not tables:
        return [], "", 1, 1.0
    pixels = {number: pixels_of(table, axes, MAX_MAP_PIXELS) for number, table in tables.items()}
    most = max(one.most for one in pixels.values())
    maps = []
    for number in shown_ticks(release):
        time = _time(axis, number)
        picture = png_of(pixels[number], most) if number in pixels else None
        maps.append(_SmallMap(time, TEXTS["map_alt"].format(time=time), picture))
    first = next(iter(pixels.values()))
    shape = axes.width_over_height(*first.counts.shape)
    return maps, colour_legend(COLOURS, legend_ticks(most)), first.block, shape


def _accuracy(release: Mapping[str, Any], axis: TimeAxis) -> dict[str, object]:
    """Expected errors at some ticks in even steps, the last one included."""
    number = axis.ticks
    shown = sorted({round(place * (number - 1) / max(MAX_HOURS - 1, 1)) for place in range(MAX_HOURS)})
    rows = []
    for size in release["accuracy"]:
        cells = size["cells"]
        name = "area_total" if cells == 0 else "area_cell" if cells == 1 else "area_cells"
        words = TEXTS[name].format(cells=f"{cells:,}") if cells > 1 else TEXTS[name]
        rows.append((words, [f"± {show_amount(size['deviations'][tick])}" for tick in shown]))
    return {"error_times": [_time(axis, tick) for tick in shown], "error_rows": rows}


def _ticks(release: Mapping[str, Any], axis: TimeAxis) -> dict[str, object]:
    listed = release["ticks"]
    rows = [
        (
            _time(axis, place),
            tick["state"] if tick["state"] in (PUBLISHED, MISSING, LOST) else MISSING,
            f"{tick['total']:,}" if "total" in tick else "–",
            f"{tick['non_empty_cells']:,}" if "non_empty_cells" in tick else "–",
            tick.get("sha256", ""),
        )
        for place, tick in enumerate(listed)
    ]
    return {
        "tick_rows": rows,
        "missing_words": _ranges(axis, [place for place, tick in enumerate(listed) if tick["state"] == MISSING]),
        "lost_words": _ranges(axis, [place for place, tick in enumerate(listed) if tick["state"] == LOST]),
    }


def _ranges(axis: TimeAxis, ticks: Sequence[int]) -> Words | None:
    """Ticks in words, those that follow each other together; None if there are none."""
    runs: list[list[int]] = []
    for tick in ticks:
        if runs and runs[-1][-1] == tick - 1:
            runs[-1].append(tick)
        else:
            runs.append([tick])
    if not runs:
        return None
    return Words.joined(
        [
            Words.same(_time(axis, run[0]))
            if len(run) == 1
            else TEXTS["time_range"].format(
                first=_time(axis, run[0]), last=_time(axis, run[-1]), number=f"{len(run):,}"
            )
            for run in runs
        ]
    )


def _ledger(release: Mapping[str, Any]) -> list[tuple[str, Words]]:
    ledger = release["ledger"]
    rows = [(name, Words.same(str(ledger[name]))) for name in ("dataset", "location", "entry")]
    rows.append(("remaining", guarantee_words.of_remaining(with_greek_letters(str(ledger["remaining"])))))
    return [*rows, ("hash", Words.same(str(ledger["hash"])))]
