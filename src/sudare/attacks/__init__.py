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

from sudare.attacks.empirical_epsilon import EpsilonAudit as EpsilonAudit
from sudare.attacks.empirical_epsilon import audit_epsilon as audit_epsilon
from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.attacks.averaging import AveragedCells as AveragedCells
    from sudare.attacks.averaging import answers_that_break as answers_that_break
    from sudare.attacks.averaging import average_answers as average_answers
    from sudare.attacks.averaging import average_linked_cells as average_linked_cells
    from sudare.attacks.differencing import Combination as Combination
    from sudare.attacks.differencing import Differences as Differences
    from sudare.attacks.differencing import PublishedCell as PublishedCell
    from sudare.attacks.differencing import attack_by_differences as attack_by_differences
    from sudare.attacks.distances import KeyColumn as KeyColumn
    from sudare.attacks.interval import CellIntervals as CellIntervals
    from sudare.attacks.interval import attack_suppressed_cells as attack_suppressed_cells
    from sudare.attacks.laws import NoiseLaw as NoiseLaw
    from sudare.attacks.linkage import Links as Links
    from sudare.attacks.linkage import link_records as link_records
    from sudare.attacks.membership import MembershipTest as MembershipTest
    from sudare.attacks.membership import Rate as Rate
    from sudare.attacks.membership import evaluate_membership as evaluate_membership
    from sudare.attacks.membership import membership_in_records as membership_in_records
    from sudare.attacks.membership import membership_in_tables as membership_in_tables
    from sudare.attacks.programs import ProgramAudit as ProgramAudit
    from sudare.attacks.programs import audit_command as audit_command
    from sudare.attacks.programs import audit_function as audit_function
    from sudare.attacks.published_statistics import Count as Count
    from sudare.attacks.published_statistics import Linear as Linear
    from sudare.attacks.published_statistics import Mean as Mean
    from sudare.attacks.published_statistics import Median as Median
    from sudare.attacks.published_statistics import PersonDomain as PersonDomain
    from sudare.attacks.reconstruction import Reconstruction as Reconstruction
    from sudare.attacks.reconstruction import reconstruct as reconstruct
    from sudare.attacks.uniqueness import SpecialUniques as SpecialUniques
    from sudare.attacks.uniqueness import find_special_uniques as find_special_uniques
    from sudare.attacks.uniqueness import population_uniques as population_uniques
    from sudare.attacks.verdicts import AttackReport as AttackReport
    from sudare.attacks.verdicts import Outcome as Outcome
    from sudare.attacks.verdicts import Verdict as Verdict

_HOMES = {
    "AttackReport": "verdicts",
    "AveragedCells": "averaging",
    "CellIntervals": "interval",
    "Combination": "differencing",
    "Count": "published_statistics",
    "Differences": "differencing",
    "KeyColumn": "distances",
    "Linear": "published_statistics",
    "Links": "linkage",
    "Mean": "published_statistics",
    "Median": "published_statistics",
    "MembershipTest": "membership",
    "NoiseLaw": "laws",
    "Outcome": "verdicts",
    "PersonDomain": "published_statistics",
    "ProgramAudit": "programs",
    "PublishedCell": "differencing",
    "Rate": "membership",
    "Reconstruction": "reconstruction",
    "SpecialUniques": "uniqueness",
    "Verdict": "verdicts",
    "answers_that_break": "averaging",
    "attack_by_differences": "differencing",
    "attack_suppressed_cells": "interval",
    "audit_command": "programs",
    "audit_function": "programs",
    "average_answers": "averaging",
    "average_linked_cells": "averaging",
    "evaluate_membership": "membership",
    "find_special_uniques": "uniqueness",
    "link_records": "linkage",
    "membership_in_records": "membership",
    "membership_in_tables": "membership",
    "population_uniques": "uniqueness",
    "reconstruct": "reconstruction",
}
"""In which module each name is."""

__all__ = [
    "AttackReport",
    "AveragedCells",
    "CellIntervals",
    "Combination",
    "Count",
    "Differences",
    "EpsilonAudit",
    "KeyColumn",
    "Linear",
    "Links",
    "Mean",
    "Median",
    "MembershipTest",
    "NoiseLaw",
    "Outcome",
    "PersonDomain",
    "ProgramAudit",
    "PublishedCell",
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
