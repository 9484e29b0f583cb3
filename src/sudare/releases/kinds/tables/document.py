"""``report.json``: what was done to a table and what everybody may know of it. Nothing in it follows from a hidden value.

Left out on purpose, and told in ``confidential.json``: the parameters of rules about shares, which and how many cells were unsafe
by which rule, the cost of the hidden cells (it is a sum of hidden values), and hashes of what is confidential.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sudare.attacks.verdicts import AttackOutcome, AttackReport
from sudare.bilingual import Words
from sudare.disclosure.merging import MergedMeshes
from sudare.disclosure.rules import MinimumFrequency
from sudare.releases.documents import describe_file
from sudare.releases.kinds.tables.attacking.knowledge import REPORT_FORMAT
from sudare.releases.kinds.tables.planning.rule_plan import PlannedRule
from sudare.releases.kinds.tables.published_table import describe_dimension
from sudare.system.clock import time_text

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.methods.cell_method import Protected
    from sudare.releases.kinds.tables.methods.method import MethodWords
    from sudare.releases.kinds.tables.planning.plan_file import TablePlan

__all__ = ["attacks_in_public", "document_of_meshes", "document_of_tables"]

PACKAGES = ("numpy", "scipy", "highspy")


def document_of_tables(
    plan: TablePlan,
    words: MethodWords,
    settings: Mapping[str, Any],
    protected: Protected,
    files: Sequence[Path],
    decimals: int,
) -> dict[str, Any]:
    """The public report of tables; the attacks are added later.

    Args:
        plan: what was asked for.
        words: what the method does.
        settings: what everybody may know of the method.
        protected: what was done.
        files: that everybody gets.
        decimals: digits after the point that are shown.
    """
    table = protected.judged.table
    dimensions = {one.name: one for part in table.system.tables for one in part.dimensions}
    document = _head(plan, words, settings, files)
    document["value"] = {
        "name": plan.value_name,
        "is_count": plan.is_of_counts,
        "decimals": decimals,
    }
    document["dimensions"] = [describe_dimension(one) for one in dimensions.values()]
    document["tables"] = [
        {
            "name": planned.name,
            "file": planned.file,
            "dimensions": [one.name for one in part.dimensions],
            "cells": int(part.cells.size),
            "hidden": int(protected.hidden[part.cells].sum()),
        }
        for planned, part in zip(plan.tables, table.system.tables, strict=True)
    ]
    document["rules"] = [_rule(one) for one in (*plan.rules, *plan.record_rules)]
    return document


def document_of_meshes(
    plan: TablePlan,
    words: MethodWords,
    settings: Mapping[str, Any],
    merged: MergedMeshes,
    files: Sequence[Path],
    level: str,
) -> dict[str, Any]:
    """The public report of merged meshes; the attacks are added later.

    Args:
        plan: what was asked for.
        words: what the method does.
        settings: what everybody may know of the method.
        merged: what was done.
        files: that everybody gets.
        level: of the meshes.
    """
    document = _head(plan, words, settings, files)
    document["value"] = {"name": "population", "names": list(merged.values), "is_count": True, "decimals": 0}
    document["dimensions"] = []
    document["tables"] = [
        {
            "name": "",
            "file": "table.csv",
            "dimensions": ["mesh"],
            "cells": int(merged.codes.size),
            "hidden": int((merged.treatment == 2).sum()),
        }
    ]
    document["rules"] = []
    document["mesh_level"] = level
    return document


def attacks_in_public(reports: Sequence[AttackReport], *, even_if_broken: bool) -> dict[str, Any]:
    """Which attacks were run and how they ended; what they found stays with the holder."""
    broken = any(report.outcome is AttackOutcome.BROKEN for report in reports)
    return {
        "attacks": [{"attack": report.attack, "outcome": report.outcome.value} for report in reports],
        "even_if_broken": broken and even_if_broken,
    }


def _head(plan: TablePlan, words: MethodWords, settings: Mapping[str, Any], files: Sequence[Path]) -> dict[str, Any]:
    return {
        "format": REPORT_FORMAT,
        "title": plan.title,
        "publisher": plan.publisher,
        "description": plan.description,
        "created": time_text(),
        "method": plan.method,
        "settings": dict(settings),
        "protects": _filled(words.protects, settings),
        "keeps": _filled(words.keeps, settings),
        "limits": _filled(words.limits, settings),
        "earlier": [folder.name for folder in plan.earlier],
        "files": [describe_file(path) for path in files],
        "versions": {
            "sudare": version("sudare"),
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
    }


def _rule(rule: PlannedRule) -> dict[str, Any]:
    told: dict[str, Any] = {"name": rule.name, **_both(rule.public)}
    if isinstance(rule.rule, MinimumFrequency):
        told["minimum"] = rule.rule.minimum
    return told


def _filled(words: Words, settings: Mapping[str, Any]) -> dict[str, str]:
    return _both(words.format(**settings))


def _both(words: Words) -> dict[str, str]:
    return {"english": words.english, "japanese": words.japanese}
