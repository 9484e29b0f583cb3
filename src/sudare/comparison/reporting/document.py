"""The result of a comparison as a document and as a table of numbers: the same run gives the same bytes."""

from __future__ import annotations

import csv
import math
from importlib.metadata import version
from io import StringIO

from sudare.comparison.membership import FALSE_ALARMS
from sudare.comparison.plan_file import ComparisonPlan
from sudare.comparison.running import MEASURES, RARE, Comparison, Result
from sudare.version import __version__

__all__ = ["FORMAT", "comparison_csv", "comparison_document"]

FORMAT = "sudare-comparison/1"


def comparison_document(plan: ComparisonPlan, comparison: Comparison) -> dict[str, object]:
    """Everything that came out, as ``report.json`` tells it.

    Args:
        plan: what was asked for.
        comparison: what came out.
    """
    population = comparison.population
    return {
        "format": FORMAT,
        "title": plan.title,
        "publisher": plan.publisher,
        "description": plan.description,
        "language": plan.language,
        "uses_truth": True,
        "is_invented": plan.source is None,
        "source": None if plan.source is None else plan.source.name,
        "seed": comparison.seed,
        "people": population.people,
        "share_in_data": 0.5,
        "rare_people": comparison.rare,
        "rare_up_to": RARE,
        "false_alarms": FALSE_ALARMS,
        "columns": [{"name": column.name, "values": column.leaves} for column in population.columns],
        "cells": int(population.table.size),
        "results": [_result(result) for result in comparison.results],
        "versions": {"sudare": __version__, "numpy": version("numpy")},
    }


def _result(result: Result) -> dict[str, object]:
    return {
        "method": result.method.name,
        "setting": _setting(result),
        "repeats": result.repeats,
        "is_private": result.method.is_private,
        "measures": {
            name: {"value": _number(result.measures[name].value), "error": _number(result.measures[name].error)}
            for name in MEASURES
        },
        "most_area": _number(result.most_area),
        "most_found": _number(result.most_found),
    }


def comparison_csv(comparison: Comparison) -> str:
    """A line for each method and setting, with every measure and its standard error."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    measures = [column for name in MEASURES for column in (name, f"{name}_error")]
    writer.writerow(["method", "setting", "repeats", *measures, "most_area", "most_found"])
    for result in comparison.results:
        measured = [result.measures[name] for name in MEASURES]
        values = [_number(value) for one in measured for value in (one.value, one.error)]
        most = (_number(result.most_area), _number(result.most_found))
        row = [result.method.name, _setting(result), result.repeats, *values, *most]
        writer.writerow(["" if value is None else value for value in row])
    return text.getvalue()


def _setting(result: Result) -> float | None:
    return None if result.method.kind == "none" else float(result.setting)


def _number(value: float | None) -> float | None:
    """Six digits are more than runs can tell; None for what is no number."""
    return None if value is None or math.isnan(value) else float(f"{value:.6g}")
