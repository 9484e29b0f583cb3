"""Tables by statistical disclosure control, and attacks on what is published: costs, times and known answers."""

from __future__ import annotations

from dataclasses import asdict

from benchmarks import disclosure_known, disclosure_known_secondary
from benchmarks.data import data_folder
from benchmarks.disclosure_attacks import attack_figures
from benchmarks.disclosure_secondary import enterprise, large

TARGETS = {
    "enterprise_cost": "at most 524093 (act x product of the enterprise example, safe against lone contributors too)",
    "enterprise_cells": "cells hidden besides the primary ones (tau-ARGUS: 74)",
    "enterprise_seconds": "at most 60, with certificate and audit",
    "outsiders_cost": "the cheapest pattern found against outsiders only, sums of hidden cells judged too",
    "large_seconds": "at most 300 (a hierarchical table of 100,000 cells, with certificate and audit)",
    "block_seconds": "at most 1 (all solutions of the Garfinkel-Abowd-Martindale block)",
    "town_seconds": "at most 120 (1,000 people from their thresholded tables)",
    "known_passed": "answers that are as known: tau-ARGUS, sdcTable, cellKey",
    "known_total": "of so many",
}


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    known, tables = data_folder("known_answers"), data_folder("tauargus_tables")
    answers = [*disclosure_known.known_answers(known, tables), *disclosure_known_secondary.known_answers(known, tables)]
    return {
        **asdict(enterprise(known)),
        **asdict(large()),
        **attack_figures(known / "reconstruction"),
        "known_passed": sum(passed for _, passed, _ in answers),
        "known_total": len(answers),
    }
