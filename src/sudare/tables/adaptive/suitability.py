"""Where adaptive margins are the mechanism to use, by public facts: domain, workload, budget, and a size that is public or paid.

Their error depends on the data, so no formula foretells it. What can be said beforehand is how badly everything else does: noise
on every cell adds up in the margins of a large, mostly empty domain. Where that noise alone moves more than a twentieth of the
people in a margin of the workload, adaptive margins are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Mesh
from sudare.domain.domain import Domain, read_domain
from sudare.domain.mesh_list import MeshList
from sudare.errors import ParameterError
from sudare.parameters import exact_integer, shown
from sudare.privacy.budget import Budget, read_budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.adaptive.measured import cells_of
from sudare.tables.adaptive.prices import mean_size, prices_for
from sudare.tables.adaptive.workload import attribute_sizes, read_workload

if TYPE_CHECKING:
    from sudare.tables.adaptive.workload import MarginWorkload

__all__ = ["Suitability", "suits_adaptive_margins"]

FUNCTION = "suits_adaptive_margins"
MIN_ATTRIBUTES = 4
"""With fewer, the margins of three attributes are the table itself."""

MAX_ATTRIBUTES = 32
"""Of more there are so many margins that choosing among them takes minutes."""

MAX_VALUES = 256
"""Of an attribute: longer ones are ordered or areas, and trees know more of them."""

MOVED = 0.05
"""Share of the people of a margin that noise on every cell may move before adaptive margins are taken."""

MANY_CELLS = 1 << 20
"""So many are mostly empty, whatever the number of people."""

FEW_ATTRIBUTES = Words(
    "there are only {number} attributes: margins of so few are measured directly",
    "属性が {number} 個しかないため、周辺表を直接測定する",
)
MANY_ATTRIBUTES = Words(
    "there are {number} attributes: choosing among the margins of so many takes too long",
    "属性が {number} 個あるため、周辺表の選択に時間がかかりすぎる",
)
MAP = Words(
    "there is a map: trees of areas measure it more accurately",
    "地図があるため、領域の木の方が正確に測定できる",
)
MAP_OR_GIVEN = Words(
    "there is a map, or noise and reference are given",
    "地図があるか、ノイズや参照表が指定されている",
)
LONG_ATTRIBUTE = Words(
    "an attribute has {values:,} values: a tree over it measures it more accurately",
    "{values:,} 個の値をもつ属性があるため、その木の方が正確に測定できる",
)
MOSTLY_EMPTY = Words(
    "of {cells:,} cells most are empty, whatever the number of people",
    "{cells:,} セルの大部分は、人数にかかわらず空",
)
UNKNOWN_PEOPLE = Words(
    "with {cells:,} cells it depends on the number of people, which is not known",
    "{cells:,} セルでは人数によるが、人数が分からない",
)
MOVED_PEOPLE = Words(
    "noise on each of {cells:,} cells would move {moved:.3g} times the people of a margin of {margin:,} cells",
    "{cells:,} セルのそれぞれにノイズを加えると、{margin:,} セルの周辺表で人数の {moved:.3g} 倍が動く",
)


@dataclass(frozen=True)
class Suitability:
    """Whether a mechanism is the one to use, and why.

    Attributes:
        suits: whether it is; the object itself can be asked, too.
        reason: from public facts.
    """

    suits: bool
    reason: Words

    def __bool__(self) -> bool:
        return self.suits


def suits_adaptive_margins(
    domain: Domain,
    budget: Budget,
    unit: Unit | None = None,
    *,
    workload_margins: MarginWorkload = None,
    people: int | None = None,
    conversion: Conversion = "optimal",
) -> Suitability:
    """Whether `adaptive_margins` is the mechanism to use for tables over a domain.

    Args:
        domain: the cells.
        budget: what may be spent.
        unit: who is protected; one person in one cell if left out.
        workload_margins: which margins matter, as `adaptive_margins` takes them.
        people: about how many are counted, if that is public or was paid for; never the table's own total otherwise.
        conversion: how (epsilon, delta) is turned into rho.

    Example:
        >>> import sudare
        >>> survey = sudare.Domain.of_shape((9, 16, 7, 15, 6, 5, 2, 2))
        >>> answer = sudare.tables.suits_adaptive_margins(survey, sudare.Budget(epsilon=1), people=48_842)
        >>> bool(answer), str(answer.reason)
        (True, 'noise on each of 1,814,400 cells would move 0.284 times the people of a margin of 106 cells')
    """
    read_domain(domain, FUNCTION)
    read_budget(budget, FUNCTION)
    protected = Unit() if unit is None else unit
    if not isinstance(protected, Unit):
        raise ParameterError("unit", FUNCTION, "a Unit", shown(unit))
    if people is not None:
        exact_integer(
            people, "people", FUNCTION, Words("left out, or a whole number >= 0", "省略または 0 以上の整数"), smallest=0
        )
    workload = read_workload(workload_margins, domain, FUNCTION)
    prices = prices_for(budget, conversion, sensitivity_of_counts(protected), protected, FUNCTION)
    sizes = attribute_sizes(domain)
    varied = sum(size > 1 for size in sizes)
    if varied < MIN_ATTRIBUTES:
        return Suitability(False, FEW_ATTRIBUTES.format(number=varied))
    if varied > MAX_ATTRIBUTES:
        return Suitability(False, MANY_ATTRIBUTES.format(number=varied))
    if any(isinstance(attribute, (Mesh, MeshList)) for attribute in domain.attributes):
        return Suitability(False, MAP)
    longest = max(sizes)
    if longest > MAX_VALUES:
        return Suitability(False, LONG_ATTRIBUTE.format(values=longest))
    if people is None:
        if domain.cells >= MANY_CELLS:
            return Suitability(True, MOSTLY_EMPTY.format(cells=domain.cells))
        return Suitability(False, UNKNOWN_PEOPLE.format(cells=domain.cells))
    noise = mean_size(prices.measurement(prices.amount))
    cells = int(np.median([cells_of(clique, sizes) for clique in workload]))
    # A margin's count is a sum of this many cells, and so is its noise; l1 norms are about those of the continuous law.
    moved = noise * sqrt(domain.cells / cells) * cells / max(people, 1)
    return Suitability(moved > MOVED, MOVED_PEOPLE.format(cells=domain.cells, moved=moved, margin=cells))
