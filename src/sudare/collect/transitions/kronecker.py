"""Transitions of several attributes at once, axis by axis.

Attributes are randomized independently of each other, so the probability that a cell of the table becomes another is the
product over the attributes: the whole matrix is a Kronecker product. It is never formed. Applying it to a table costs, for
each axis, the cells times the length of the axis (times a constant for `UniformTransition`), where the whole matrix would
cost the cells squared: 200 x 50 x 20 cells take 5.4e7 multiplications in place of 4e10.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sudare.collect.transitions.transition import Transition, UniformTransition
from sudare.errors import Described, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["Kronecker"]

MAX_CELLS = 1 << 27
"""Of a table: the methods here hold a few arrays of this size."""


class Kronecker:
    """The product of transitions, one for each axis of a table.

    Args:
        transitions: one for each attribute, in the order of the axes.

    Raises:
        ParameterError: if there is none, one is no transition, or the table would have too many cells.

    Example:
        >>> import numpy as np
        >>> from sudare.collect import UniformTransition
        >>> from sudare.collect.transitions.kronecker import Kronecker
        >>> both = Kronecker((UniformTransition(2, 3, 1), UniformTransition(2, 3, 1)))
        >>> both.forward(np.array([[16.0, 0.0], [0.0, 0.0]])).tolist()
        [[9.0, 3.0], [3.0, 1.0]]
    """

    def __init__(self, transitions: Sequence[Transition]) -> None:
        self.transitions = tuple(transitions)
        if not self.transitions or not all(isinstance(each, Transition) for each in self.transitions):
            got = Described(f"{len(self.transitions)} objects")
            raise ParameterError("transitions", "Kronecker", "transitions, at least one", got)
        self.values = tuple(each.values for each in self.transitions)
        self.reports = tuple(each.reports for each in self.transitions)
        if max(prod(self.values), prod(self.reports)) > MAX_CELLS:
            got = Described(f"{max(prod(self.values), prod(self.reports)):,} cells")
            raise ParameterError("transitions", "Kronecker", f"tables of at most {MAX_CELLS:,} cells", got)
        self._matrices = tuple(
            None if isinstance(each, UniformTransition) else np.ascontiguousarray(each.probabilities())
            for each in self.transitions
        )

    @property
    def is_square(self) -> bool:
        """Whether every attribute has as many reports as values."""
        return self.values == self.reports

    def forward(self, shares: Values) -> Values:
        """The expected table of reports, from a table of true values."""
        for axis, (transition, matrix) in enumerate(zip(self.transitions, self._matrices, strict=True)):
            if isinstance(transition, UniformTransition):
                shares = _mixed(shares, axis, transition.kept, transition.other, transition.total)
            elif matrix is not None:
                shares = _applied(matrix.T, shares, axis)
        return shares

    def backward(self, weights: Values) -> Values:
        """For each cell of true values, the expected weight of its report."""
        for axis, (transition, matrix) in enumerate(zip(self.transitions, self._matrices, strict=True)):
            if isinstance(transition, UniformTransition):
                weights = _mixed(weights, axis, transition.kept, transition.other, transition.total)
            elif matrix is not None:
                weights = _applied(matrix, weights, axis)
        return weights

    def squared_backward(self, weights: Values) -> Values:
        """`backward` with every probability squared: diagonals of curvature matrices are made of it."""
        for axis, (transition, matrix) in enumerate(zip(self.transitions, self._matrices, strict=True)):
            if isinstance(transition, UniformTransition):
                weights = _mixed(weights, axis, transition.kept**2, transition.other**2, transition.total**2)
            elif matrix is not None:
                weights = _applied(matrix**2, weights, axis)
        return weights

    def solve(self, reports: Values) -> Values:
        """The table of true values whose expected reports these are.

        Raises:
            GuaranteeError: if one of the matrices has no inverse.
        """
        for axis, transition in enumerate(self.transitions):
            reports = np.moveaxis(transition.solve(np.moveaxis(reports, axis, -1)), -1, axis)
        return np.ascontiguousarray(reports)

    def squared_inverse(self, reports: Values) -> Values:
        """`solve` with every entry of the inverses squared.

        Raises:
            GuaranteeError: if one of the matrices has no inverse.
        """
        for axis, transition in enumerate(self.transitions):
            reports = np.moveaxis(transition.squared_inverse(np.moveaxis(reports, axis, -1)), -1, axis)
        return np.ascontiguousarray(reports)

    def written_out(self) -> Values:
        """The whole matrix, a row for each cell of true values. Only for small tables."""
        whole: Values = np.ones((1, 1))
        for transition in self.transitions:
            whole = np.asarray(np.kron(whole, transition.probabilities()), dtype=np.float64)
        return whole

    def impossible_reports(self) -> tuple[NDArray[np.bool_], ...]:
        """For each axis, which reports come from no value at all."""
        never: list[NDArray[np.bool_]] = []
        for transition, matrix in zip(self.transitions, self._matrices, strict=True):
            if isinstance(transition, UniformTransition):
                never.append(np.zeros(transition.reports, dtype=np.bool_))
            elif matrix is not None:
                never.append(np.asarray(matrix.max(axis=0) <= 0))
        return tuple(never)

    def draw(self, people: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        """Reports of a population with these true counts, simulated: for the bootstrap, not for a release."""
        told = people
        for axis, transition in enumerate(self.transitions):
            matrix = transition.probabilities()
            moved = np.moveaxis(told, axis, 0)
            drawn = np.zeros((*moved.shape[1:], transition.reports), dtype=np.int64)
            for value in range(transition.values):
                row = matrix[value] / matrix[value].sum()
                drawn += generator.multinomial(moved[value], row)
            told = np.moveaxis(drawn, -1, axis)
        return np.ascontiguousarray(told)


def _mixed(array: Values, axis: int, kept: int, other: int, total: int) -> Values:
    """A multiple of the array, and a constant along the axis."""
    sums = array.sum(axis=axis, keepdims=True)
    return np.asarray(array * ((kept - other) / total) + sums * (other / total))


def _applied(matrix: Values, array: Values, axis: int) -> Values:
    """A matrix times an array along one of its axes."""
    shape = array.shape
    if axis == len(shape) - 1:
        return np.asarray((array.reshape(-1, shape[axis]) @ matrix.T).reshape(*shape[:axis], matrix.shape[0]))
    stacked = array.reshape(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))
    return np.asarray(np.matmul(matrix, stacked).reshape(*shape[:axis], matrix.shape[0], *shape[axis + 1 :]))
