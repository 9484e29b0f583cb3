"""Which margins matter: all up to an order, or a list with weights; and which margins may be measured for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.tables.adaptive.measured import cells_of

if TYPE_CHECKING:
    from sudare.domain.domain import Domain
    from sudare.tables.adaptive.measured import Clique

    MarginWorkload = int | Sequence[Sequence[str]] | Mapping[tuple[str, ...], Rational] | None

__all__ = ["USUAL_ORDER", "CandidateMargins", "attribute_sizes", "candidates_for", "read_workload"]

USUAL_ORDER = 3
MAX_ORDER = 4
MAX_CANDIDATES = 1 << 16
"""Each is looked at in every round."""

STEPS_OF_WEIGHT = 1 << 10
"""Weights are whole numbers up to about this, so that scores are whole numbers."""


@dataclass(frozen=True)
class CandidateMargins:
    """Margins that may be measured, with whole numbers for how much the workload has to do with them.

    Attributes:
        weights: of each margin, a set of attributes by number.
    """

    weights: Mapping[Clique, int]


def attribute_sizes(domain: Domain) -> tuple[int, ...]:
    """How many values each attribute has; those of a mesh are all its cells."""
    sizes = []
    for attribute in domain.attributes:
        size = 1
        for length in attribute.shape:
            size *= length
        sizes.append(size)
    return tuple(sizes)


def read_workload(workload: object, domain: Domain, function: str) -> dict[Clique, Fraction]:
    """The margins that matter, each with its weight.

    By order, all margins of one order weigh as much together as all of another.
    """
    names = [attribute.name for attribute in domain.attributes]
    if workload is None or (isinstance(workload, int) and not isinstance(workload, bool)):
        most = min(len(names), MAX_ORDER)
        requirement = Words(
            f"an order from 1 to {most}, or a list of margins, each a list of names of attributes",
            f"1 以上 {most} 以下の次数、または周辺表（属性名のリスト）のリスト",
        )
        order = min(USUAL_ORDER, most) if workload is None else workload
        exact_integer(order, "workload_margins", function, requirement, smallest=1, largest=most)
        _require_few(sum(comb(len(names), k) for k in range(1, order + 1)), function)
        return {
            clique: Fraction(1, comb(len(names), length))
            for length in range(1, order + 1)
            for clique in combinations(range(len(names)), length)
        }
    requirement = Words(
        "an order, a list of margins (each a list of names of attributes), or margins with weights",
        "次数、周辺表（属性名のリスト）のリスト、または重み付きの周辺表",
    )
    if isinstance(workload, (str, bytes)) or not isinstance(workload, (Sequence, Mapping)) or not workload:
        raise ParameterError("workload_margins", function, requirement, shown(workload))
    given: Iterable[tuple[object, object]] = (
        workload.items() if isinstance(workload, Mapping) else ((margin, 1) for margin in workload)
    )
    wanted: dict[Clique, Fraction] = {}
    for margin, weight in given:
        if isinstance(margin, (str, bytes)) or not isinstance(margin, Sequence) or not margin:
            raise ParameterError("workload_margins", function, requirement, Described("an entry that is no such list"))
        for name in margin:
            if not isinstance(name, str) or name not in names:
                allowed = Words(f"margins of the attributes {names}", f"属性 {names} の周辺表")
                raise ParameterError("workload_margins", function, allowed, Described("another name"))
        clique = tuple(sorted({names.index(name) for name in margin}))
        exact = exact_fraction(weight, "workload_margins", function, Words("weights above 0", "0 より大きい重み"))
        if exact <= 0:
            raise ParameterError(
                "workload_margins", function, Words("weights above 0", "0 より大きい重み"), Described("one that is not")
            )
        wanted[clique] = wanted.get(clique, Fraction(0)) + exact
    _require_few(sum(1 << len(clique) for clique in wanted), function)
    return wanted


def _require_few(candidates: int, function: str) -> None:
    if candidates > MAX_CANDIDATES:
        requirement = Words(
            f"so few margins that at most {MAX_CANDIDATES} may be measured for them",
            f"測定の候補が {MAX_CANDIDATES} 個以下になる周辺表",
        )
        hint = "State a lower order, or the margins that matter."
        raise ParameterError("workload_margins", function, requirement, Described(f"{candidates} of them"), hint)


def candidates_for(workload: Mapping[Clique, Fraction], sizes: Sequence[int], most_cells: int) -> CandidateMargins:
    """The workload's margins, everything inside them, and every attribute by itself, as far as they are small enough.

    A candidate weighs what AIM gives it: for every margin of the workload, its weight times the attributes they share.

    Example:
        >>> from fractions import Fraction
        >>> from sudare.tables.adaptive.workload import candidates_for
        >>> candidates_for({(0, 1): Fraction(1), (1, 2): Fraction(1)}, [2, 2, 2], 100).weights
        {(0,): 341, (1,): 683, (2,): 341, (0, 1): 1024, (1, 2): 1024}
    """
    found: set[Clique] = {(attribute,) for attribute in range(len(sizes))}
    for clique in workload:
        for length in range(2, len(clique) + 1):
            found.update(inner for inner in combinations(clique, length) if cells_of(inner, sizes) <= most_cells)
    of_attribute = [Fraction(0)] * len(sizes)
    for clique, weight in workload.items():
        for attribute in clique:
            of_attribute[attribute] += weight
    shared = {clique: sum((of_attribute[attribute] for attribute in clique), Fraction(0)) for clique in found}
    most = max(shared.values())
    return CandidateMargins(
        {
            clique: max(1, round(STEPS_OF_WEIGHT * shared[clique] / most))
            for clique in sorted(found, key=lambda clique: (len(clique), clique))
        }
    )
