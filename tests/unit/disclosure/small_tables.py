"""Small tables, and slow obvious twins of the audit: a linear program by another solver, and counting tables one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sudare.disclosure.structure import Dimension, TableSystem
from sudare.disclosure.suppression.problem import UNKNOWN, SuppressionProblem

Booleans = NDArray[np.bool_]

FLAT = (Dimension.flat("row", ["a", "b", "c"]), Dimension.flat("column", ["x", "y", "z"]))
DEEP = (
    Dimension.of_tree("row", {"g": {"a": {}, "b": {}}, "h": {"c": {}, "d": {}}}),
    Dimension.flat("column", ["x", "y"]),
)
CUBE = (Dimension.flat("row", ["a", "b"]), Dimension.flat("column", ["x", "y", "z"]), Dimension.flat("sex", ["f", "m"]))
BOTH_DEEP = (
    Dimension.of_tree("row", {"g": {"a": {}, "b": {}}, "h": {}}),
    Dimension.of_tree("column", {"u": {"x": {}, "y": {}}, "v": {}}),
)
SHAPES = (FLAT, DEEP, CUBE, BOTH_DEEP)


def filled(dimensions: Iterable[Dimension], leaves: Iterable[int]) -> tuple[TableSystem, list[int]]:
    """A table from the numbers of its innermost cells."""
    dimensions = tuple(dimensions)
    values = np.zeros(tuple(map(len, dimensions)), dtype=np.int64)
    places = product(*(one.leaves for one in dimensions))
    for place, number in zip(places, leaves, strict=False):
        for above in product(*(one.path(code) for one, code in zip(dimensions, place, strict=True))):
            values[above] += number
    return TableSystem.of_dimensions(dimensions), values.ravel().tolist()


@st.composite
def problems(draw: st.DrawFn, *, insiders: bool = False, most: int = 20) -> SuppressionProblem:
    """Tables with a few unsafe cells; empty cells are published."""
    dimensions = draw(st.sampled_from(SHAPES))
    count = int(np.prod([len(one.leaves) for one in dimensions]))
    system, values = filled(dimensions, draw(st.lists(st.integers(0, most), min_size=count, max_size=count)))
    cells = draw(st.lists(st.integers(0, system.size - 1), min_size=1, max_size=3, unique=True))
    levels = {
        cell: (draw(st.integers(1, max(1, values[cell] // 2))), draw(st.integers(1, max(1, values[cell]))))
        for cell in cells
        if values[cell]
    }
    known = tuple((cell,) for cell in levels) if insiders else ()
    empty = [cell for cell, value in enumerate(values) if not value]
    return SuppressionProblem.of_levels(system, values, levels, shown=empty, insiders=known)


def ends_by_another_solver(
    problem: SuppressionProblem, hidden: Booleans, cells: tuple[int, ...], known: Iterable[int] = ()
) -> tuple[float, float]:
    """How far the sum of some cells can be below and above the truth."""
    from scipy.optimize import linprog

    size = problem.system.size
    free = hidden.copy()
    free[list(known)] = False
    bounds = [
        (-int(problem.down[cell]), None if problem.largest[cell] >= UNKNOWN else int(problem.up[cell]))
        if free[cell]
        else (0, 0)
        for cell in range(size)
    ]
    found = []
    for sign in (-1, 1):
        prices = np.zeros(size)
        prices[list(cells)] = -sign
        matrix = problem.system.equations.toarray()
        answer = linprog(prices, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=bounds, method="highs-ds")
        found.append(float("inf") if answer.status in (3, 4) else -float(answer.fun))
    return found[0], found[1]


def is_safe(problem: SuppressionProblem, hidden: Booleans) -> bool:
    """Whether every requirement holds against everybody, by the other solver."""
    for requirement in problem.requirements:
        for insider in (None, *range(len(problem.insiders))):
            asked = problem.against(requirement, insider)
            if asked is None:
                continue
            known = () if insider is None else problem.insiders[insider]
            below, above = ends_by_another_solver(problem, hidden, asked.cells, known)
            if below < asked.lower - 1e-6 or above < asked.upper - 1e-6:
                return False
    return True


def patterns(problem: SuppressionProblem) -> Iterator[Booleans]:
    """Every pattern that may be chosen, cheapest first."""
    free = np.flatnonzero(~problem.primary & ~problem.shown).tolist()
    chosen = chain.from_iterable(combinations(free, count) for count in range(len(free) + 1))
    for extra in sorted(chosen, key=lambda one: int(problem.costs[list(one)].sum())):
        hidden = problem.primary.copy()
        hidden[list(extra)] = True
        yield hidden


def possible_tables(problem: SuppressionProblem, hidden: Booleans, most: int) -> Iterator[NDArray[np.int64]]:
    """Every table of whole numbers up to a largest one that agrees with what is published, found by trying all."""
    cells = np.flatnonzero(hidden).tolist()
    for numbers in product(range(most + 1), repeat=len(cells)):
        table = problem.values.copy()
        table[cells] = numbers
        if not problem.system.failing(table).size:
            yield table
