"""Attacks that check what the rest of the package promises, and what others publish.

- `empirical_epsilon`: how large epsilon must at least be, judged by the outputs alone; `programs`: of any program.
- `reconstruction`: the people behind published tables (`published_statistics`).
- `interval`: hidden cells of suppressed tables, bounded by the published ones (`narrowing`, and linear programs).
- `differencing`: combinations of published cells that are counts of few people (`cell_system`, `echelon`, `small_parts`).
- `linkage`: people of an outside file found in a released one, by nearness (`distances`).
- `uniqueness`: who is alone, and with how few values.
- `averaging`: noise that wears off when answers are repeated (`laws` of noise).
- `membership`: who is in the data at all.

Each returns its findings with a ``report()`` of `verdicts`: for each person or cell an outcome, a plain sentence in two
languages, a number, and what would stop the attack. An attack that was not finished, or could not have worked with what it had,
is undecided, never held. Names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.attacks.audits.empirical_epsilon import EpsilonAudit as EpsilonAudit
from sudare.attacks.audits.empirical_epsilon import audit_epsilon as audit_epsilon
from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.attacks.audits.averaging import AveragedCells as AveragedCells
    from sudare.attacks.audits.averaging import answers_that_break as answers_that_break
    from sudare.attacks.audits.averaging import average_answers as average_answers
    from sudare.attacks.audits.averaging import average_linked_cells as average_linked_cells
    from sudare.attacks.audits.laws import NoiseLaw as NoiseLaw
    from sudare.attacks.audits.programs import ProgramAudit as ProgramAudit
    from sudare.attacks.audits.programs import audit_command as audit_command
    from sudare.attacks.audits.programs import audit_function as audit_function
    from sudare.attacks.records.distances import KeyColumn as KeyColumn
    from sudare.attacks.records.linkage import Links as Links
    from sudare.attacks.records.linkage import link_records as link_records
    from sudare.attacks.records.membership import MembershipTest as MembershipTest
    from sudare.attacks.records.membership import Rate as Rate
    from sudare.attacks.records.membership import evaluate_membership as evaluate_membership
    from sudare.attacks.records.membership import membership_in_records as membership_in_records
    from sudare.attacks.records.membership import membership_in_tables as membership_in_tables
    from sudare.attacks.records.uniqueness import SpecialUniques as SpecialUniques
    from sudare.attacks.records.uniqueness import find_special_uniques as find_special_uniques
    from sudare.attacks.records.uniqueness import population_uniques as population_uniques
    from sudare.attacks.tables.differencing import Combination as Combination
    from sudare.attacks.tables.differencing import Differences as Differences
    from sudare.attacks.tables.differencing import PublishedCell as PublishedCell
    from sudare.attacks.tables.differencing import attack_by_differences as attack_by_differences
    from sudare.attacks.tables.interval import CellIntervals as CellIntervals
    from sudare.attacks.tables.interval import attack_suppressed_cells as attack_suppressed_cells
    from sudare.attacks.tables.published_statistics import Linear as Linear
    from sudare.attacks.tables.published_statistics import Mean as Mean
    from sudare.attacks.tables.published_statistics import Median as Median
    from sudare.attacks.tables.published_statistics import PersonDomain as PersonDomain
    from sudare.attacks.tables.published_statistics import PublishedCount as PublishedCount
    from sudare.attacks.tables.reconstruction import Reconstruction as Reconstruction
    from sudare.attacks.tables.reconstruction import reconstruct as reconstruct
    from sudare.attacks.verdicts import AttackOutcome as AttackOutcome
    from sudare.attacks.verdicts import AttackReport as AttackReport
    from sudare.attacks.verdicts import Verdict as Verdict

_HOMES = {
    "AttackReport": "verdicts",
    "AveragedCells": "audits.averaging",
    "CellIntervals": "tables.interval",
    "Combination": "tables.differencing",
    "PublishedCount": "tables.published_statistics",
    "Differences": "tables.differencing",
    "KeyColumn": "records.distances",
    "Linear": "tables.published_statistics",
    "Links": "records.linkage",
    "Mean": "tables.published_statistics",
    "Median": "tables.published_statistics",
    "MembershipTest": "records.membership",
    "NoiseLaw": "audits.laws",
    "AttackOutcome": "verdicts",
    "PersonDomain": "tables.published_statistics",
    "ProgramAudit": "audits.programs",
    "PublishedCell": "tables.differencing",
    "Rate": "records.membership",
    "Reconstruction": "tables.reconstruction",
    "SpecialUniques": "records.uniqueness",
    "Verdict": "verdicts",
    "answers_that_break": "audits.averaging",
    "attack_by_differences": "tables.differencing",
    "attack_suppressed_cells": "tables.interval",
    "audit_command": "audits.programs",
    "audit_function": "audits.programs",
    "average_answers": "audits.averaging",
    "average_linked_cells": "audits.averaging",
    "evaluate_membership": "records.membership",
    "find_special_uniques": "records.uniqueness",
    "link_records": "records.linkage",
    "membership_in_records": "records.membership",
    "membership_in_tables": "records.membership",
    "population_uniques": "records.uniqueness",
    "reconstruct": "tables.reconstruction",
}
"""In which module each name is."""

__all__ = [
    "AttackOutcome",
    "AttackReport",
    "AveragedCells",
    "CellIntervals",
    "Combination",
    "Differences",
    "EpsilonAudit",
    "KeyColumn",
    "Linear",
    "Links",
    "Mean",
    "Median",
    "MembershipTest",
    "NoiseLaw",
    "PersonDomain",
    "ProgramAudit",
    "PublishedCell",
    "PublishedCount",
    "Rate",
    "Reconstruction",
    "SpecialUniques",
    "Verdict",
    "answers_that_break",
    "attack_by_differences",
    "attack_suppressed_cells",
    "audit_command",
    "audit_epsilon",
    "audit_function",
    "average_answers",
    "average_linked_cells",
    "evaluate_membership",
    "find_special_uniques",
    "link_records",
    "membership_in_records",
    "membership_in_tables",
    "population_uniques",
    "reconstruct",
]

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
