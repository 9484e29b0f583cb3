"""A pattern of hidden cells while it is searched for, with the proofs that are found on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sudare.disclosure.suppression.certificate import Certificate, Claim, Witness
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.errors import GuaranteeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Booleans = NDArray[np.bool_]

__all__ = ["Key", "Pattern"]

Key = tuple[int, int]
"""A requirement and an insider, by number; insider -1 is the outsider."""


@dataclass
class Pattern:
    """Cells that are hidden so far, and the witnesses found so far.

    Args:
        problem: what must remain uncertain.
        hidden: the cells.
        proofs: witnesses below and above, for each requirement and insider that was looked at.
    """

    problem: SuppressionProblem
    hidden: Booleans
    proofs: dict[Key, tuple[Witness, Witness]] = field(default_factory=dict)

    def certificate(self) -> Certificate:
        """What is hidden and why it is safe, checked."""
        numbers: dict[Witness, int] = {}
        claims = []
        for key in sorted(self.proofs):
            places = [numbers.setdefault(witness, len(numbers)) for witness in self.proofs[key]]
            claims.append(Claim(self.problem.requirements[key[0]].cells, *places))
        found = Certificate(tuple(np.flatnonzero(self.hidden).tolist()), tuple(numbers), tuple(dict.fromkeys(claims)))
        faults = found.faults(self.problem)
        if faults:
            raise GuaranteeError(f"The pattern found is not safe and is not handed out. {faults[0]}")
        return found
