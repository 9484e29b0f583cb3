"""A proof that hidden cells are uncertain, which a reader can check with whole numbers and no solver.

For everything that must remain uncertain the certificate holds two tables that agree with all that is published: one where
the protected sum is low enough, one where it is high enough. Each is written as its difference from the true table, which
is zero in most cells. Checking takes additions and comparisons of exact numbers only (``audit.md``).

A certificate shows true values and must be kept like the data themselves: it is for those who answer for the release.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.errors import InputError, ParameterError
from sudare.storage.guarded_json import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

__all__ = ["Certificate", "Claim", "Witness"]


@dataclass(frozen=True)
class Witness:
    """A table that remains possible, as exact differences from the true one: numerators over one denominator.

    Example:
        >>> Witness.of({3: Fraction(1, 2), 4: Fraction(-1, 2), 5: Fraction(0)})
        Witness(cells=(3, 4), numerators=(1, -1), denominator=2)
    """

    cells: tuple[int, ...]
    numerators: tuple[int, ...]
    denominator: int = 1

    @classmethod
    def of(cls, differences: Mapping[int, Fraction | int]) -> Witness:
        """From the difference in each cell."""
        kept = {cell: differences[cell] for cell in sorted(differences) if differences[cell]}
        whole = lcm(*(one.denominator for one in kept.values()))
        return cls(tuple(kept), tuple(int(one * whole) for one in kept.values()), whole)

    @cached_property
    def differences(self) -> dict[int, int]:
        """Numerators by cell."""
        return dict(zip(self.cells, self.numerators, strict=True))

    def scaled(self, factor: Fraction) -> Witness:
        """All differences times a factor, such as -1 for the mirrored table."""
        bottom = self.denominator * factor.denominator
        numerators = [one * factor.numerator for one in self.numerators]
        common = gcd(bottom, *numerators)
        return Witness(self.cells, tuple(one // common for one in numerators), bottom // common)

    def change(self, cells: tuple[int, ...]) -> Fraction:
        """By how much the sum of some cells differs from the truth."""
        return Fraction(sum(self.differences.get(cell, 0) for cell in cells), self.denominator)

    def is_possible(self, problem: SuppressionProblem) -> bool:
        """Whether every sum holds and every cell stays between its smallest and largest value, whole where it must be."""
        bottom = self.denominator
        if bottom < 1 or len(self.cells) != len(self.numerators) or len(self.differences) != len(self.cells):
            return False
        if problem.whole_numbers and bottom != 1:
            return False
        gaps: dict[int, int] = {}
        for cell, one in self.differences.items():
            if not 0 <= cell < problem.system.size:
                return False
            if not -int(problem.down[cell]) * bottom <= one <= int(problem.up[cell]) * bottom:
                return False
            for row, sign in problem.sums_of(cell):
                gaps[row] = gaps.get(row, 0) + sign * one
        return not any(gaps.values())


@dataclass(frozen=True)
class Claim:
    """Two witnesses for one requirement.

    Args:
        cells: whose sum must remain uncertain.
        below: position of the witness where the sum is low enough.
        above: position of the witness where it is high enough.
    """

    cells: tuple[int, ...]
    below: int
    above: int


@dataclass(frozen=True, eq=False)
class Certificate:
    """Which cells are hidden, and the witnesses of everything that must remain uncertain.

    Attributes:
        hidden: numbers of the hidden cells, ascending.
        witnesses: tables that remain possible.
        claims: which witnesses stand for which requirement. Against insiders, a requirement has several claims.

    Example:
        >>> from sudare.disclosure.structure import Dimension, TableSystem
        >>> system = TableSystem.of_dimensions([Dimension.flat("area", ["a", "b", "c"])])
        >>> problem = SuppressionProblem.of_levels(system, [16, 1, 5, 10], {1: (1, 1)})
        >>> witnesses = (Witness((1, 2), (-1, 1)), Witness((1, 2), (1, -1)))
        >>> Certificate((1, 2), witnesses, (Claim((1,), 0, 1),)).faults(problem)
        ()
        >>> Certificate((1,), witnesses, (Claim((1,), 0, 1),)).faults(problem)[0]
        "A witness changes the cell 'area=b', which is published."
    """

    hidden: tuple[int, ...]
    witnesses: tuple[Witness, ...]
    claims: tuple[Claim, ...]

    def mask(self, size: int) -> NDArray[np.bool_]:
        """The hidden cells, as one truth value for each cell."""
        found = np.zeros(size, dtype=np.bool_)
        found[list(self.hidden)] = True
        return found

    def faults(self, problem: SuppressionProblem) -> tuple[str, ...]:
        """Everything that is wrong with the certificate; empty if it proves that the problem is solved.

        Args:
            problem: the values and requirements, read from the table itself and never from the certificate.
        """
        return tuple(self._faults(problem))

    def check(self, problem: SuppressionProblem) -> None:
        """Refuse a certificate that does not prove what it should.

        Raises:
            InputError: with the first fault.
        """
        for fault in self._faults(problem):
            raise InputError(
                f"The certificate does not prove that the hidden cells are safe. {fault}",
                "証明書では、秘匿セルの安全性が示されていません。表・秘匿パターンと同じ実行で作られた証明書か確かめてください。",
            )

    def _faults(self, problem: SuppressionProblem) -> Iterator[str]:
        size, label = problem.system.size, problem.system.label
        problem.system.check(problem.values)
        hidden = set(self.hidden)
        if any(not 0 <= cell < size for cell in hidden):
            yield "It names a cell that the table does not have."
            return
        for cell in np.flatnonzero(problem.must_hide).tolist():
            if cell not in hidden:
                yield f"The cell '{label(cell)}', which must be hidden, is not."
        for cell in np.flatnonzero(problem.shown).tolist():
            if cell in hidden:
                yield f"The cell '{label(cell)}' is hidden, though it must be published."
        possible = []
        for witness in self.witnesses:
            seen = next((cell for cell in witness.cells if cell not in hidden), None)
            if seen is not None:
                where = f"the cell '{label(seen)}', which is published" if 0 <= seen < size else "an unknown cell"
                yield f"A witness changes {where}."
            fits = seen is None and witness.is_possible(problem)
            if seen is None and not fits:
                yield "A witness is no possible table: a sum fails, or a cell is beyond its bounds or not whole."
            possible.append(fits)
        claims: dict[tuple[int, ...], list[tuple[Witness, Witness]]] = {}
        for claim in self.claims:
            if min(claim.below, claim.above) >= 0 and max(claim.below, claim.above) < len(possible):
                if possible[claim.below] and possible[claim.above]:
                    pair = (self.witnesses[claim.below], self.witnesses[claim.above])
                    claims.setdefault(claim.cells, []).append(pair)
            else:
                yield "A claim names a witness that is not there."
        for requirement in problem.requirements:
            name = " + ".join(label(cell) for cell in requirement.cells)
            pairs = [
                (below, above, below.change(requirement.cells), above.change(requirement.cells))
                for below, above in claims.get(requirement.cells, [])
            ]
            outside = [pair for pair in pairs if pair[2] <= -requirement.lower and pair[3] >= requirement.upper]
            if not outside:
                yield f"Nothing proves that '{name}' remains uncertain."
                continue
            # An insider who knows no cell of the first pair's support is refuted by that pair.
            touched = {cell for one in outside[0][:2] for cell in one.cells}
            for insider in sorted({number for cell in touched for number in problem.insiders_of.get(cell, ())}):
                asked = problem.against(requirement, insider)
                known = problem.insiders[insider]
                if asked is None or any(
                    low <= -asked.lower
                    and high >= asked.upper
                    and not any(cell in below.differences or cell in above.differences for cell in known)
                    for below, above, low, high in pairs
                ):
                    continue
                yield f"Nothing proves that '{name}' remains uncertain to the only contributor of '{label(known[0])}'."

    def to_text(self) -> str:
        """The certificate as JSON; whole numbers only."""
        return json.dumps(
            {
                "kind": "sudare suppression certificate",
                "version": 1,
                "hidden": self.hidden,
                "witnesses": [[one.cells, one.numerators, one.denominator] for one in self.witnesses],
                "claims": [[one.cells, one.below, one.above] for one in self.claims],
            }
        )

    @classmethod
    def of_text(cls, text: str) -> Certificate:
        """Read what `to_text` wrote.

        Raises:
            InputError: the text is no certificate.
        """
        try:
            read: dict[str, Any] = parse_json(text, lenient=True)
            if read["kind"] != "sudare suppression certificate" or read["version"] != 1:
                raise KeyError
            return cls(
                _whole_numbers(read["hidden"]),
                tuple(
                    Witness(_whole_numbers(cells), _whole_numbers(numerators), *_whole_numbers([bottom]))
                    for cells, numerators, bottom in read["witnesses"]
                ),
                tuple(
                    Claim(_whole_numbers(cells), *_whole_numbers([low, high])) for cells, low, high in read["claims"]
                ),
            )
        except (ValueError, KeyError, TypeError):
            raise InputError(
                "The text is not a suppression certificate. Give the file that the suppression wrote, unchanged.",
                "秘匿の証明書として読めません。秘匿処理が書き出したファイルを、変更せずに指定してください。",
            ) from None


def _whole_numbers(numbers: list[Any]) -> tuple[int, ...]:
    if any(type(one) is not int for one in numbers):
        raise ParameterError("numbers", "Certificate.of_text", "whole numbers", numbers)
    return tuple(numbers)
