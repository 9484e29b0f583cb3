"""The part of a release's page that says how accurate it is: a chart by size of area, and a table of all sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sudare.accuracy.expected import ExpectedError
from sudare.accuracy.groupings import groupings_of
from sudare.accuracy.trials import errors_of
from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.domain.sparse_table import SparseTable
from sudare.releases.charts import CurvePoint, error_curve
from sudare.releases.kinds.counts import page_words
from sudare.releases.page_numbers import show_amount, show_distance
from sudare.tables.maps import MapAxes

__all__ = ["AccuracySection", "accuracy_section"]

LARGER_AREA = 16
"""The area that the text speaks of, beside a single cell."""

FIELDS = ("kind", "name", "side", "groups", "rmse", "low", "high", "mean_error", "systematic", "systematic_high")
SYSTEMATIC_SHARE = 0.5
"""From this share of the error on, the systematic part is pointed out."""


@dataclass(frozen=True)
class _Row:
    what: Words
    distance: str
    expected: str
    interval: str
    mean_error: str
    systematic: str
    is_systematic: bool
    measured: str


@dataclass(frozen=True, kw_only=True)
class AccuracySection:
    """What the template shows of accuracy; its names are those of the template.

    Attributes:
        errors: one row for each sum.
        error_chart: by size of area; empty where there is one size.
        has_areas: whether there are several sizes.
        areas_gain: whether larger areas are much more accurate than their cells added up.
        has_prediction: whether errors were predicted.
        has_distances: whether sides of areas have a length.
        is_measured: whether true errors are shown.
        has_systematic: whether an error is mostly systematic.
        accuracy_basis: key of the text that says where the figures come from.
        smallest: error of the smallest area.
        larger_side: of the larger area that the text speaks of.
        larger: its error.
    """

    errors: Sequence[_Row]
    error_chart: str
    has_areas: bool
    areas_gain: bool
    has_prediction: bool
    has_distances: bool
    is_measured: bool
    has_systematic: bool
    accuracy_basis: str
    smallest: str
    larger_side: int
    larger: str


def accuracy_section(
    release: Mapping[str, Any], table: SparseTable, truth: CountTable | None, axes: MapAxes | None
) -> AccuracySection:
    """The part of the page that tells of accuracy.

    Args:
        release: the release document.
        table: the published table.
        truth: the true table, for a page that stays in the office.
        axes: the map, if the table is one.
    """
    errors = _stated_errors(release)
    measured = [] if truth is None else errors_of(truth, table, groupings_of(table.domain))
    level = axes.mesh.level if axes is not None and axes.mesh is not None else None
    metres = getattr(level, "metres", None)
    areas = [error for error in errors if error.kind == "area" and error.side is not None]
    points = [CurvePoint(error.side or 1, error.rmse, error.low, error.high) for error in areas]
    by_side = [(error.side or 1, value) for error, value in zip(areas, measured, strict=False)]
    chart = error_curve(
        points,
        by_side,
        name=page_words.TEXTS["accuracy_chart"],
        across=page_words.TEXTS["side"],
        upwards=page_words.TEXTS["expected"],
    )
    larger = next((point for point in points if point.side == LARGER_AREA), points[-1] if points else None)
    shown = [show_amount(value) for value in measured] or [""] * len(errors)
    return AccuracySection(
        errors=[_row(error, value, metres) for error, value in zip(errors, shown, strict=True)],
        error_chart=chart if len(points) > 1 else "",
        has_areas=len(points) > 1,
        areas_gain=larger is not None and larger.error < points[0].error * larger.side / 2,
        has_prediction=bool(errors),
        has_distances=metres is not None,
        is_measured=bool(measured) and bool(errors),
        has_systematic=any(_is_systematic(error) for error in errors),
        accuracy_basis=f"basis_{(release.get('accuracy') or {}).get('basis', 'formula')}",
        smallest=show_amount(points[0].error) if points else "",
        larger_side=larger.side if larger else 0,
        larger=show_amount(larger.error) if larger else "",
    )


def _stated_errors(release: Mapping[str, Any]) -> list[ExpectedError]:
    """What the document states, if it does."""
    stated: Sequence[Any] = (release.get("accuracy") or {}).get("errors") or []
    rows = [row for row in stated if isinstance(row, Mapping) and set(FIELDS) <= set(row)]
    return [
        ExpectedError(**{name: row[name] for name in FIELDS}, name_words=Words.read(row.get("name_words"), row["name"]))
        for row in rows
    ]


def _row(error: ExpectedError, measured: str, metres: int | None) -> _Row:
    return _Row(
        error.in_words,
        "" if metres is None or error.side is None else show_distance(error.side * metres),
        show_amount(error.rmse),
        f"{show_amount(error.low)} – {show_amount(error.high)}",
        _signed(error.mean_error),
        show_amount(error.systematic),
        _is_systematic(error),
        measured,
    )


def _is_systematic(error: ExpectedError) -> bool:
    return error.systematic > SYSTEMATIC_SHARE * error.rmse


def _signed(number: float) -> str:
    text = show_amount(abs(number))
    if float(text.replace(",", "")) == 0:
        return text
    return f"\N{MINUS SIGN}{text}" if number < 0 else f"+{text}"
