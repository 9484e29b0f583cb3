"""Protecting a judged table by the method of a plan: what is shown of each cell, and what proves that it is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sudare.disclosure.rounding import RoundedTable, controlled_rounding
from sudare.disclosure.status import CellStatus
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.secondary import Suppression, suppress
from sudare.disclosure.suppression.singletons import joint_cells, lone_contributors
from sudare.errors import InputError, ParameterError
from sudare.releases.kinds.tables.planning.protection_plan import CellKey, Protection, Round, Suppress
from sudare.releases.kinds.tables.sources import JudgedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = ["Protected", "problem_of", "protect_table"]


@dataclass(frozen=True, eq=False)
class Protected:
    """What becomes of every cell.

    Attributes:
        judged: the table as it is, and its unsafe cells.
        shown: the value that is published; 0 where it is hidden.
        hidden: cells whose value is not published.
        status: as tau-ARGUS numbers it.
        problem: what must remain uncertain.
        suppression: the pattern with its proof; None for methods that have none.
        rounded: the rounded table; None for other methods.
    """

    judged: JudgedTable
    shown: Integers
    hidden: Booleans
    status: Integers
    problem: SuppressionProblem
    suppression: Suppression | None = None
    rounded: RoundedTable | None = None


def protect_table(judged: JudgedTable, protection: Protection) -> Protected:
    """Protect a table.

    Args:
        judged: all tables of a plan, as one system.
        protection: the method.

    Raises:
        InputError: if protection is impossible, or the time was too short for a safe answer.
    """
    table, primaries = judged.table, judged.primaries
    table.check()
    nothing = np.zeros(table.system.size, dtype=np.bool_)
    if isinstance(protection, Suppress):
        return _suppress(judged, protection)
    problem = problem_of(judged, Suppress(singletons=False))
    if isinstance(protection, Round):
        base = protection.base * 10**table.decimals
        rounded = controlled_rounding(
            table.system, table.values, base, steps=protection.steps, time_limit=protection.seconds
        )
        return Protected(judged, rounded.values.copy(), nothing, primaries.status, problem, rounded=rounded)
    if isinstance(protection, CellKey):
        if judged.keys is None:
            raise ParameterError("judged", "protect_table", "with the keys of its cells", None)
        shown = protection.table.perturb(table.counts, judged.keys)
        return Protected(judged, shown, nothing, primaries.status, problem)
    return Protected(judged, table.values.copy(), nothing, primaries.status, problem)


def problem_of(judged: JudgedTable, protection: Suppress) -> SuppressionProblem:
    """What must remain uncertain in a table, and what hiding each cell costs.

    Raises:
        InputError: if a cell is larger than the solver's numbers are exact.
    """
    table, primaries = judged.table, judged.primaries
    costs = {
        "value": np.abs(table.values),
        "count": table.counts,
        "equal": np.ones(table.system.size, dtype=np.int64),
    }[protection.cost]
    if not protection.singletons:
        return SuppressionProblem.of_table(table, primaries, costs=costs)
    lone = lone_contributors(table)
    return SuppressionProblem.of_table(
        table,
        primaries,
        costs=costs,
        insiders=lone.insiders,
        insider_rest=lone.rest,
        unions=joint_cells(table, primaries),
    )


def _suppress(judged: JudgedTable, protection: Suppress) -> Protected:
    table, primaries = judged.table, judged.primaries
    problem = problem_of(judged, protection)
    if not protection.secondary:
        shown = np.where(problem.must_hide, 0, table.values).astype(np.int64)
        return Protected(judged, shown, problem.must_hide.copy(), primaries.status, problem)
    if primaries.unsafe.all():
        raise InputError(
            "Every cell of the table is unsafe, so that nothing could be published. Take fewer or coarser dimensions.",
            "すべてのセルが秘匿対象で、公表できるものがありません。次元を減らすか、粗くしてください。",
        )
    found = suppress(
        problem,
        method=protection.search,
        seconds=protection.seconds,
        counts=table.counts if protection.hidden_sums else None,
        threshold=protection.hidden_sums,
    )
    shown = np.where(found.hidden, 0, table.values).astype(np.int64)
    chosen = found.secondary & ~primaries.hidden_by_hand
    status = np.where(chosen, int(CellStatus.SECONDARY), primaries.status).astype(np.int64)
    return Protected(judged, shown, found.hidden, status, problem, suppression=found)
