"""NN-Wavelet under zero-concentrated privacy: Table 1 and the panels of Ishioka and Terada.

For each of nine pairs of rho and delta, five methods publish the same map at the same (epsilon, delta), by the paper's own
conversion: flat Laplace and Gaussian noise, NN-Wavelet with Laplace and with Gaussian noise, and top-down bisection. Ours stand
in the same panels: NN-Wavelet with the optimal conversion, and the wide tree that the planner chooses, with delta = 0.

Noise comes from seeds, so nothing here is private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.domain import CountTable
from sudare.evaluate import error_by_area
from sudare.noise import ResearchEntropy, discrete_gaussian, discrete_laplace
from sudare.privacy import Budget, rho_to_epsilon
from sudare.tables import nn_wavelet, plan_table, publish, topdown_bisection
from sudare_papers.maps import tokyo
from sudare_papers.settings import Settings
from sudare_papers.steps import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Squares = NDArray[np.float64]

__all__ = [
    "COMPARED_SIDES",
    "DELTAS",
    "FIGURE_2E",
    "METHODS",
    "OPTIMAL",
    "PAPER_TABLE_1",
    "RHOS",
    "WIDE",
    "ZCDP",
    "Panels",
    "conversion_table",
    "epsilon_of",
    "panel_settings",
    "sides_of",
    "steps",
]

PAPER = (
    "Ishioka, Terada: NN-Wavelet under zero-concentrated differential privacy, for large tables of counts (in Japanese)"
)
RHOS = ("0.1", "0.01", "0.001")
DELTAS = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8")
PANEL_DELTAS = ("1e-5", "1e-6", "1e-7")
FIGURE_2E = ("0.01", "1e-6")
"""Rho and delta of the panel in the middle, of which the paper says that the proposal gets worse at the largest area."""

SIDES = tuple(1 << bits for bits in range(9))
QUICK_SIDES = SIDES[:7]
COMPARED_SIDES = 7
"""Means of errors are over areas from 1 to 64 cells a side; of larger areas there are too few on the map."""

BLOCK = 10
"""Repeats in a step."""

PAPER_TABLE_1 = {
    "0.1": ("1.76", "2.02", "2.25", "2.45", "2.64", "2.81"),
    "0.01": ("0.54", "0.62", "0.69", "0.75", "0.81", "0.87"),
    "0.001": ("0.17", "0.19", "0.22", "0.24", "0.25", "0.27"),
}
"""The paper's Table 1: epsilon for rho (rows) and delta = 1e-3 ... 1e-8."""

ZCDP, OPTIMAL, WIDE = "NN-Wavelet (zCDP)", "NN-Wavelet (zCDP), optimal conversion", "wide tree (sudare), delta = 0"
METHODS = ("Laplace", "Gaussian", "Top-down", "NN-Wavelet", ZCDP, OPTIMAL, WIDE)
BY_RHO_ALONE = ("Gaussian", ZCDP)
"""Delta changes nothing in them, only what they are compared with: they are run once for all deltas."""

ANY_DELTA = "any"


def conversion_table(conversion: str = "simple") -> dict[str, tuple[str, ...]]:
    """The paper's Table 1: epsilon for rho and delta, to two digits.

    Args:
        conversion: ``"simple"`` is the paper's equation (13), epsilon = rho + 2 sqrt(rho ln(1 / delta)).

    Example:
        >>> from sudare_papers.zcdp.runs import PAPER_TABLE_1, conversion_table
        >>> conversion_table() == PAPER_TABLE_1
        True
    """
    return {rho: tuple(_two_digits(epsilon_of(rho, delta, conversion)) for delta in DELTAS) for rho in RHOS}


def epsilon_of(rho: str, delta: str, conversion: Any = "simple") -> Decimal:
    """What rho and delta mean, by default by the paper's equation (13)."""
    exact = rho_to_epsilon(Decimal(rho), Decimal(delta), conversion)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def _two_digits(value: Decimal) -> str:
    return str(value.quantize(Decimal("0.01"), ROUND_HALF_UP))


def steps(settings: Settings) -> list[Step]:
    """Each method in each panel, some repeats at a time."""
    blocks = [(first, min(first + BLOCK, settings.repeats)) for first in range(0, settings.repeats, BLOCK)]
    looks = dict.fromkeys(
        (method, rho, ANY_DELTA if method in BY_RHO_ALONE else delta)
        for rho, delta in panel_settings(settings)
        for method in METHODS
    )
    return [Step(_name(*look, block), squared_errors, (*look, *block)) for look in looks for block in blocks]


def squared_errors(settings: Settings, method: str, rho: str, delta: str, first: int, last: int) -> list[list[float]]:
    """Squared error by side of the areas, for each repeat."""
    table = tokyo(settings)
    run = _method(settings, method, rho, delta)
    published = (run(ResearchEntropy(settings.seed + number)) for number in range(first, last))
    return [[row.rmse**2 for row in error_by_area(table, result, sides_of(settings))] for result in published]


@lru_cache(maxsize=4)
def _method(settings: Settings, method: str, rho: str, delta: str) -> Callable[[ResearchEntropy], Any]:
    table = tokyo(settings)
    if method in BY_RHO_ALONE:
        concentrated = Budget(rho=Decimal(rho))
        if method == ZCDP:
            return lambda source: nn_wavelet(table, concentrated, noise="gaussian", entropy=source).table
        return _flat(table, discrete_gaussian(sqrt(1 / (2 * float(rho)))))
    epsilon = epsilon_of(rho, delta)
    pure, approximate = Budget(epsilon=epsilon), Budget(epsilon=epsilon, delta=Decimal(delta))
    if method == "Laplace":
        return _flat(table, discrete_laplace(1 / pure.epsilon))
    if method == "NN-Wavelet":
        return lambda source: nn_wavelet(table, pure, entropy=source).table
    if method == "Top-down":
        return lambda source: topdown_bisection(table, pure, entropy=source).table
    if method == OPTIMAL:
        return lambda source: nn_wavelet(table, approximate, noise="gaussian", entropy=source).table
    plan = plan_table(table, pure)
    return lambda source: publish(table, pure, plan, entropy=source).table


def _flat(table: CountTable, noise: Any) -> Callable[[ResearchEntropy], Any]:
    """Noise on every cell and nothing else, as in the paper: counts may be negative."""
    dense = table.to_dense()
    return lambda source: dense + noise.draw(dense.shape, source)


@dataclass(frozen=True)
class Panels:
    """The errors of all methods in all panels.

    Attributes:
        settings: of the run.
        squares: by method, rho and delta: squared errors, a row for each repeat, a column for each side.
    """

    settings: Settings
    squares: Mapping[tuple[str, str, str], Squares]

    @classmethod
    def collect(cls, settings: Settings, results: Mapping[str, Any]) -> Panels:
        """From the results of the steps."""
        parts: dict[tuple[str, str, str], list[Any]] = {}
        for step in steps(settings):
            method, rho, delta = step.arguments[:3]
            parts.setdefault((method, rho, delta), []).extend(results[step.name])
        return cls(settings, {key: np.array(rows) for key, rows in parts.items()})

    def errors(self, method: str, rho: str, delta: str) -> Squares:
        """Root mean squared error by side, the mean over all repeats and areas."""
        of_delta = ANY_DELTA if method in BY_RHO_ALONE else delta
        means: Squares = np.sqrt(self.squares[method, rho, of_delta].mean(axis=0))
        return means

    def mean_error(self, method: str, rho: str, delta: str) -> float:
        """Geometric mean of the errors for areas of 1 to 64 cells a side."""
        return float(np.exp(np.log(self.errors(method, rho, delta)[:COMPARED_SIDES]).mean()))

    def at_largest(self, rho: str, delta: str) -> tuple[float, float]:
        """The error of NN-Wavelet (zCDP) over that of NN-Wavelet at the largest areas, and its standard error."""
        ours, theirs = self.squares[ZCDP, rho, ANY_DELTA][:, -1], self.squares["NN-Wavelet", rho, delta][:, -1]
        ratio = sqrt(ours.mean() / theirs.mean())
        if ours.size < 2:
            return ratio, float("nan")
        # Half the relative errors of both means of squares: the noise of the two methods is not the same.
        relative = [squares.var(ddof=1) / squares.size / squares.mean() ** 2 for squares in (ours, theirs)]
        return ratio, ratio * sqrt(sum(relative)) / 2

    def gain(self, rho: str, delta: str) -> float:
        """By how much of itself the error of NN-Wavelet falls when it is made concentrated."""
        return 1 - self.mean_error(ZCDP, rho, delta) / self.mean_error("NN-Wavelet", rho, delta)

    def gain_error(self, rho: str, delta: str) -> float:
        """Standard error of the gain, by leaving out one repeat at a time."""
        repeats = self.settings.repeats
        if repeats < 2:
            return float("nan")
        gains = []
        for left_out in range(repeats):
            keep = np.arange(repeats) != left_out
            without = Panels(self.settings, {key: rows[keep] for key, rows in self.squares.items() if key[1] == rho})
            gains.append(without.gain(rho, delta))
        return float(np.sqrt((repeats - 1) * np.var(gains)))


def panel_settings(settings: Settings) -> list[tuple[str, str]]:
    """Rho and delta of each panel."""
    rhos: Sequence[str] = (RHOS[0], RHOS[2]) if settings.is_quick else RHOS
    deltas: Sequence[str] = (PANEL_DELTAS[0], PANEL_DELTAS[2]) if settings.is_quick else PANEL_DELTAS
    return [(rho, delta) for rho in rhos for delta in deltas]


def sides_of(settings: Settings) -> tuple[int, ...]:
    """Cells along the sides of the areas whose errors are measured."""
    return QUICK_SIDES if settings.is_quick else SIDES


def _name(method: str, rho: str, delta: str, block: tuple[int, int]) -> str:
    return f"{method}, rho {rho}, delta {delta}, repeats {block[0]}-{block[1] - 1}"
