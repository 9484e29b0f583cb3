"""NN-Wavelet under zero-concentrated privacy: Table 1 and the panels of Ishioka and Terada.

For each of nine pairs of rho and delta, five methods publish the same map at the same (epsilon, delta), by the paper's own
conversion: flat Laplace and Gaussian noise, NN-Wavelet with Laplace and with Gaussian noise, and top-down bisection. Ours stand
in the same panels: NN-Wavelet with the optimal conversion, and the wide tree that the planner chooses, with delta = 0.

Seeds make the runs repeatable, so nothing here is private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import sqrt
from typing import Any

import numpy as np

from sudare.domain import CountTable
from sudare.evaluate import error_by_area
from sudare.noise import ResearchEntropy, discrete_gaussian, discrete_laplace
from sudare.parameters import exact_integer
from sudare.privacy import Budget, rho_to_epsilon
from sudare.tables import nn_wavelet, plan_table, publish, topdown_bisection

__all__ = ["PAPER_TABLE_1", "PanelPoint", "conversion_table", "panels"]

RHOS = ("0.1", "0.01", "0.001")
DELTAS = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8")
PANEL_DELTAS = ("1e-5", "1e-6", "1e-7")

PAPER_TABLE_1 = {
    "0.1": ("1.76", "2.02", "2.25", "2.45", "2.64", "2.81"),
    "0.01": ("0.54", "0.62", "0.69", "0.75", "0.81", "0.87"),
    "0.001": ("0.17", "0.19", "0.22", "0.24", "0.25", "0.27"),
}
"""The paper's Table 1: epsilon for rho (rows) and delta = 1e-3 ... 1e-8."""


def conversion_table() -> dict[str, tuple[str, ...]]:
    """The paper's Table 1 by its equation (13), epsilon = rho + 2 sqrt(rho ln(1 / delta)), to two digits.

    Example:
        >>> from sudare.reproduce.concentrated import PAPER_TABLE_1, conversion_table
        >>> conversion_table() == PAPER_TABLE_1
        True
    """
    return {rho: tuple(_two_digits(_epsilon(rho, delta)) for delta in DELTAS) for rho in RHOS}


def _epsilon(rho: str, delta: str) -> Decimal:
    exact = rho_to_epsilon(Decimal(rho), Decimal(delta), "simple")
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def _two_digits(value: Decimal) -> str:
    return str(value.quantize(Decimal("0.01"), ROUND_HALF_UP))


@dataclass(frozen=True)
class PanelPoint:
    """The error of one method in one panel, for areas of one size.

    Attributes:
        rho: of the panel.
        delta: of the panel.
        epsilon: that the two mean by the paper's conversion.
        method: which.
        side: cells along a side of the areas.
        rmse: root of the squared error, mean over all areas and repeats.
    """

    rho: str
    delta: str
    epsilon: float
    method: str
    side: int
    rmse: float


def panels(
    table: CountTable,
    repeats: int = 100,
    *,
    seed: int = 2025,
    sides: Sequence[int] = (1, 2, 4, 8, 16, 32, 64),
    rhos: Sequence[str] = RHOS,
    deltas: Sequence[str] = PANEL_DELTAS,
) -> Iterator[PanelPoint]:
    """All points of the paper's panels, one panel after the other.

    Args:
        table: the true map. The paper's is around Tokyo, 512 x 512 cells of 500 m.
        repeats: how often each method is run.
        seed: of all noise.
        sides: of the areas.
        rhos: of the panels.
        deltas: of the panels.
    """
    rounds = exact_integer(repeats, "repeats", "panels", "a whole number >= 1", smallest=1, largest=10**6)
    for rho in rhos:
        for delta in deltas:
            for name, publish_by in _methods(table, Decimal(rho), Decimal(delta), _epsilon(rho, delta)).items():
                squares = np.zeros(len(sides))
                for number in range(rounds):
                    published = publish_by(ResearchEntropy(seed + number))
                    squares += [row.rmse**2 for row in error_by_area(table, published, sides)]
                for side, square in zip(sides, squares / rounds, strict=True):
                    yield PanelPoint(rho, delta, float(_epsilon(rho, delta)), name, side, sqrt(square))


def _methods(
    table: CountTable, rho: Decimal, delta: Decimal, epsilon: Decimal
) -> dict[str, Callable[[ResearchEntropy], Any]]:
    pure, concentrated = Budget(epsilon=epsilon), Budget(rho=rho)
    plan = plan_table(table, pure)
    return {
        "Laplace": lambda source: _flat(table, discrete_laplace(1 / pure.epsilon), source),
        "Gaussian": lambda source: _flat(table, discrete_gaussian(sqrt(1 / (2 * rho))), source),
        "NN-Wavelet": lambda source: nn_wavelet(table, pure, entropy=source).table,
        "Top-down": lambda source: topdown_bisection(table, pure, entropy=source).table,
        "NN-Wavelet (zCDP)": lambda source: nn_wavelet(table, concentrated, noise="gaussian", entropy=source).table,
        "NN-Wavelet, optimal conversion": lambda source: (
            nn_wavelet(table, Budget(epsilon=epsilon, delta=delta), noise="gaussian", entropy=source).table
        ),
        "wide tree (auto)": lambda source: publish(table, pure, plan, entropy=source).table,
    }


def _flat(table: CountTable, noise: Any, source: ResearchEntropy) -> Any:
    dense = table.to_dense()
    return dense + noise.draw(dense.shape, source)
