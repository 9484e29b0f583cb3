"""Signed errors of margins: whether a method moves people along an axis.

An error that has the same sign in every run adds up over the cells of a margin, where squared errors of cells do not show it.
Tables here are drawn anew for each run, such that all places along an axis are alike: people stand in clusters anywhere on a map
whose ends meet, and each belongs to any category with the same probability. A mean error other than 0 then comes from where a
place stands, and from nothing else. Tables with unequal categories are measured apart: counts cannot be negative, so that
noise moves people from full places to empty ones wherever it outweighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare

EPSILON = 0.1
PEOPLE_A_PLACE = 50
CLUSTERS = 20
WIDTH = 3.0
NORMAL_95 = 1.645
"""One-sided quantile of the normal law."""

RUNS = 1000
SHAPES = ((16, 16, 3), (16, 16, 7), (16, 16, 13), (16, 16, 24), (16, 16, 50), (37, 37), (45, 22))
REFERENCE_RUNS = 800
REFERENCE_SHAPES = ((16, 16, 3), (13, 20))
"""A reference takes much longer to learn than all else; its tables have fewer places, so that fewer runs do."""

UNEQUAL_RUNS = 100
UNEQUAL = {"one_in_ten": (0.9, 0.1), "halving": tuple(np.array([16, 8, 4, 2, 1]) / 31)}
UNEQUAL_METHODS = ("auto", "wide-tree-plain", "nn-wavelet", "topdown", "laplace", "privelet")

TARGETS = {
    "margin_bias": "at most 0.2 (largest |mean error| / RMSE of a margin of any axis, length and method; upper 95 % bound)",
    "margin_bias_ends": "the same at the first and last place of each axis, not larger than inside",
    "margin_bias_inside": "the same at all other places",
    "unequal_bias_one_in_ten_auto": "no target: what non-negative counts cost a category of one person in ten, relative to it",
}

Table = NDArray[np.int64]
Values = NDArray[np.float64]


def clustered(shape: tuple[int, ...], generator: np.random.Generator, shares: Any = None) -> Table:
    """People in clusters on a map, the first two axes, each of any category along the third with the same probability.

    Args:
        shape: of the table.
        generator: of the people.
        shares: of the categories, if they are not equal.
    """
    along = []
    for side in shape[:2]:
        apart = np.arange(side)[None, :] - generator.uniform(0, side, (CLUSTERS, 1))
        apart -= side * np.rint(apart / side)  # around a map whose ends meet
        near = np.exp(-0.5 * (apart / WIDTH) ** 2)
        along.append(near / near.sum(axis=1, keepdims=True))
    weights = generator.dirichlet(np.full(CLUSTERS, 0.5)) * PEOPLE_A_PLACE * prod(shape[:2])
    density = np.einsum("c,cx,cy->xy", weights, *along)
    if len(shape) == 3:
        density = density[:, :, None] * (np.full(shape[2], 1 / shape[2]) if shares is None else np.asarray(shares))
    return np.asarray(generator.poisson(density))


@dataclass
class SignedErrors:
    """Errors of one margin in many runs: a number for each place along an axis.

    Attributes:
        runs: how many were added.
        total: sums of errors.
        squares: sums of squared errors.
    """

    runs: int = 0
    total: Values = field(default_factory=lambda: np.zeros(1))
    squares: Values = field(default_factory=lambda: np.zeros(1))

    def add(self, error: Values) -> None:
        """Add a run."""
        self.runs += 1
        self.total, self.squares = self.total + error, self.squares + error**2

    @property
    def bias(self) -> Values:
        """Mean error over root mean squared error, from -1 to 1."""
        return np.asarray(self.total / np.sqrt(np.maximum(self.runs * self.squares, 1e-30)))

    @property
    def deviations(self) -> Values:
        """Mean error in its own standard deviations: standard normal where there is no bias, if runs are many."""
        mean = self.total / self.runs
        variance = (self.squares / self.runs - mean**2) / (self.runs - 1)
        return np.asarray(mean / np.sqrt(np.maximum(variance, 1e-30)))

    @property
    def bound(self) -> Values:
        """Upper 95 % bounds of the absolute bias of each place; the largest of them is one of the largest bias."""
        return np.asarray(np.abs(self.bias) + NORMAL_95 / np.sqrt(self.runs))


Method = Callable[[Any, sudare.noise.EntropySource], Any]


def methods(shape: tuple[int, ...], epsilon: float = EPSILON) -> dict[str, Method]:
    """Every method for tables of a shape, from a table and bits to what is published."""
    budget = sudare.Budget(epsilon=epsilon)
    plans = {
        public: sudare.plan_table(sudare.Domain.of_shape(shape), budget, public_total=public)
        for public in (False, True)
    }
    area = _area(shape[0] * (shape[1] if len(shape) == 3 else 1))
    beside = sudare.Domain((area, sudare.Category("category", tuple(range(shape[-1])))))

    def call(method: Any, **settings: Any) -> Method:
        return lambda table, bits: sudare.publish(table, budget, method, entropy=bits, threads=1, **settings)

    def with_reference(table: Table, bits: sudare.noise.EntropySource) -> Any:
        before = np.random.default_rng(int(table.sum())).poisson(0.9 * table)
        return call(plans[False], reference=before)(table, bits)

    def by_area(table: Table, bits: sudare.noise.EntropySource) -> Any:
        people = sudare.CountTable.from_dense(table.reshape(beside.shape), beside)
        return call("topdown")(people, bits)

    return {
        "auto": call(plans[False]),
        "auto-public-total": call(plans[True], public_total=True),
        "auto-reference": with_reference,
        "wide-tree-plain": call("wide-tree"),
        "wide-tree-least-squares": call("wide-tree", estimate="least-squares"),
        "wide-tree-learned": call("wide-tree", estimate="learned"),
        "nn-wavelet": call("nn-wavelet"),
        "topdown-bisection": call("topdown-bisection"),
        "topdown": by_area,
        "laplace": call("laplace"),
        "gaussian": lambda table, bits: sudare.publish(
            table, sudare.Budget(rho=epsilon**2 / 2), "gaussian", entropy=bits, threads=1
        ),
        "privelet": call("privelet"),
        "laplace-counts": call("laplace", refine="counts"),
        "privelet-counts": call("privelet", refine="counts"),
    }


def _area(places: int) -> sudare.Hierarchy:
    """Areas in groups of equal size, as near to a square as can be."""
    size = max(size for size in range(1, int(places**0.5) + 1) if places % size == 0)
    groups = np.arange(places) // size
    return sudare.Hierarchy.from_levels("area", {"group": groups.tolist(), "place": list(range(places))})


def signed_errors(
    shape: tuple[int, ...], method: Method, runs: int, shares: Any = None, first_seed: int = 0
) -> list[SignedErrors]:
    """Errors of the margins of all axes, each run with a new table and new noise.

    Args:
        shape: of the tables.
        method: how they are published.
        runs: how many.
        shares: of the categories, if they are not equal.
        first_seed: the first of as many seeds.
    """
    found = [SignedErrors() for _ in shape]
    for seed in range(first_seed, first_seed + runs):
        table = clustered(shape, np.random.default_rng(seed), shares)
        published = method(table, sudare.ResearchEntropy(seed)).to_dense().reshape(shape)
        for axis, margin in enumerate(margins(published - table)):
            found[axis].add(margin.astype(np.float64))
    return found


def margins(table: Table) -> Iterator[Table]:
    """The sums of a table along all axes but one, for each axis."""
    for axis in range(table.ndim):
        yield table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))


def run() -> dict[str, float]:
    """The largest bias of any margin, by method, at the ends of axes and inside, and the bias of unequal categories."""
    by_method: dict[str, float] = {}
    ends, inside = [], []
    for shape in dict.fromkeys((*SHAPES, *REFERENCE_SHAPES)):
        for name, method in methods(shape).items():
            is_reference = name == "auto-reference"
            if shape not in (REFERENCE_SHAPES if is_reference else SHAPES):
                continue
            for errors in signed_errors(shape, method, REFERENCE_RUNS if is_reference else RUNS):
                ends.append(float(errors.bound[[0, -1]].max()))
                inside.append(float(errors.bound[1:-1].max()))
                key = f"margin_bias_{name}".replace("-", "_")
                by_method[key] = max(by_method.get(key, 0.0), ends[-1], inside[-1])
    largest = {"margin_bias": max(*ends, *inside), "margin_bias_ends": max(ends), "margin_bias_inside": max(inside)}
    return {**largest, **by_method, **_unequal()}


def _unequal() -> dict[str, float]:
    """The mean error of the smallest of unequal categories, as a share of its people."""
    found = {}
    for name, shares in UNEQUAL.items():
        shape = (32, 32, len(shares))
        for method in UNEQUAL_METHODS:
            errors = signed_errors(shape, methods(shape)[method], UNEQUAL_RUNS, shares)[2]
            people = PEOPLE_A_PLACE * prod(shape[:2]) * shares[-1]
            key = f"unequal_bias_{name}_{method}".replace("-", "_")
            found[key] = float(errors.total[-1] / errors.runs / people)
    return found
