"""Hiding more cells, so that nobody can work out the unsafe ones: on one table or on linked ones, in one system of sums.

`suppress` finds a cheap pattern, proves it with a certificate that anyone can check, and audits every hidden cell. The same
input gives the same pattern on every run. A time limit ends in a safe pattern or in a refusal, never in anything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.border.signatures import check_arguments
from sudare.disclosure.cell_rows import cell_columns
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.disclosure.suppression.audit import Audit, audit
from sudare.disclosure.suppression.certificate import Certificate
from sudare.disclosure.suppression.exact import cheapest
from sudare.disclosure.suppression.heuristic import protect
from sudare.disclosure.suppression.hidden_sums import unsafe_sums
from sudare.disclosure.suppression.linear import SolverDeadline
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.singletons import too_few
from sudare.errors import GuaranteeError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]
    Integers = NDArray[np.int64]

__all__ = ["Suppression", "suppress"]

SHARE_OF_SEARCH = 0.7
"""Of a time limit, for the search; the rest is for the audit."""

ROUNDS = 10
"""How often the cheapest pattern is looked for anew because a sum of hidden cells is unsafe."""


@dataclass(frozen=True, eq=False)
class Suppression(ShownRows):
    """A safe pattern.

    Attributes:
        problem: what had to remain uncertain.
        certificate: the hidden cells and the proof.
        audit: the interval of every hidden cell, as an outsider computes it.
        at_least: no safe pattern costs less; 0 if nothing is known. Hidden parts of sums are left out of it.
    """

    problem: SuppressionProblem
    certificate: Certificate
    audit: Audit
    at_least: int

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each cell as it is published: no value where it is hidden, but what everybody can work out of it."""
        system, hidden = self.problem.system, self.hidden
        found = {
            cell: (low, high) for cell, low, high in zip(self.audit.cells, self.audit.low, self.audit.high, strict=True)
        }
        ends = [found.get(cell, (None, None)) for cell in range(system.size)]
        primary, secondary = self.problem.primary, self.secondary
        status = np.where(secondary, "secondary", np.where(primary, "primary", "published"))
        return {
            **cell_columns(system),
            "value": [
                None if hides else value for value, hides in zip(self.problem.values.tolist(), hidden, strict=True)
            ],
            "status": status.tolist(),
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        }

    @property
    def hidden(self) -> Booleans:
        """Which cells are not published."""
        return self.certificate.mask(self.problem.system.size)

    @property
    def secondary(self) -> Booleans:
        """Which cells are hidden to protect others."""
        found: Booleans = self.hidden & ~self.problem.primary
        return found

    @property
    def cost(self) -> int:
        """Of the cells hidden to protect others."""
        return self.problem.cost(self.hidden)

    def status(self, primaries: PrimaryCells) -> Integers:
        """The status of every cell after hiding.

        Args:
            primaries: the status before.
        """
        found: Integers = np.where(self.secondary, int(CellStatus.SECONDARY), primaries.status).astype(np.int64)
        return found


def suppress(
    problem: SuppressionProblem,
    *,
    method: Literal["fast", "exact"] = "fast",
    seconds: float | None = None,
    counts: Integers | None = None,
    threshold: int = 0,
) -> Suppression:
    """Hide cells at low cost until everything that must be uncertain is, with proof and audit.

    Args:
        problem: what must remain uncertain.
        method: ``"fast"`` for any size; ``"exact"`` proves that no pattern is cheaper, or how much cheaper one could be.
        seconds: time limit.
        counts: contributors of each cell; for the threshold.
        threshold: how many contributors the hidden parts of a sum must have together; 0 for no such rule. Anyone who contributes
            to several of them counts once.

    Raises:
        InputError: hiding every cell would not be enough, or the time was too short for a safe answer.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> rows, columns = Dimension.flat("row", ["a", "b", "c"]), Dimension.flat("column", ["x", "y", "z"])
        >>> system = TableSystem.of_dimensions([rows, columns])
        >>> values = [45, 12, 15, 18, 6, 1, 2, 3, 15, 4, 5, 6, 24, 7, 8, 9]
        >>> found = suppress(SuppressionProblem.of_levels(system, values, {5: (1, 1)}))
        >>> found.cost, [int(end) for end in found.audit.interval(5)]
        (11, [0, 3])
    """
    check_arguments(suppress, locals(), "problem", "method", "seconds", "threshold")
    if method not in ("fast", "exact"):
        raise ParameterError("method", "suppress", Words("'fast' or 'exact'", "'fast' または 'exact'"), method)
    if seconds is not None and not seconds > 0:
        raise ParameterError("seconds", "suppress", Words("above 0", "0 より大きい値"), seconds)
    if threshold and counts is None:
        raise ParameterError("counts", "suppress", Words("given with a threshold", "threshold とともに指定"), counts)
    deadline = SolverDeadline(seconds)
    limit = None if seconds is None else SHARE_OF_SEARCH * seconds
    at_least = 0
    certificate: Certificate
    if method == "exact":
        certificate, at_least = _cheapest(problem, SolverDeadline(limit))
    else:
        certificate = protect(problem, seconds=limit)
    if threshold and counts is not None:
        certificate = _with_enough_contributors(problem, certificate, counts, threshold)
    certificate.check(problem)
    hidden = certificate.mask(problem.system.size)
    if unsafe_sums(problem, hidden):
        raise GuaranteeError(
            Words(
                "The hidden part of a sum is unsafe; the pattern is not handed out.",
                "合計の秘匿部分が安全ではないため、この秘匿の組合せは出力しません。",
            )
        )
    left = None if seconds is None else deadline.left()
    found = audit(problem, hidden, witnesses=certificate.witnesses, seconds=left)
    if found.unsafe(problem):
        raise GuaranteeError(
            Words(
                "The audit contradicts the certificate; the pattern is not handed out.",
                "監査の結果が証明書と矛盾するため、この秘匿の組合せは出力しません。",
            )
        )
    return Suppression(problem, certificate, found, at_least)


def _cheapest(problem: SuppressionProblem, deadline: SolverDeadline) -> tuple[Certificate, int]:
    """The cheapest pattern without unsafe sums of hidden cells, and what every safe pattern costs at least.

    Sums that are unsafe in the cheapest pattern must become uncertain, and the search begins anew; after some rounds, or
    when the time is over, more cells are hidden until none is left.
    """
    at_least, asked = 0, problem
    for turn in range(ROUNDS):
        best = cheapest(asked, seconds=None if deadline.end is None else deadline.left())
        if not turn:
            at_least = best.at_least
        more = unsafe_sums(asked, best.certificate.mask(problem.system.size))
        if not more:
            return best.certificate, at_least
        asked = asked.requiring(more)
        if deadline.has_passed():
            break
    return protect(asked, start=best.certificate), at_least


def _with_enough_contributors(
    problem: SuppressionProblem, certificate: Certificate, counts: Integers, threshold: int
) -> Certificate:
    """Hide more cells. What was uncertain remains so: every witness stays possible when fewer cells are published."""
    owners = next((one.table.owners for one in problem.judgements if one.table.owners is not None), None)
    hidden = certificate.mask(problem.system.size)
    while True:
        more = too_few(problem, hidden, counts, threshold, owners=owners)
        if more.any():
            hidden |= more
            continue
        wider = Certificate(tuple(np.flatnonzero(hidden).tolist()), certificate.witnesses, certificate.claims)
        if not unsafe_sums(problem, hidden):
            return wider
        certificate = protect(problem, start=wider)
        hidden = certificate.mask(problem.system.size)
