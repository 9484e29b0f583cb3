"""What a public reference adds: real censuses of other years, and sparse maps with an invented past; what bad ones cost.

Gains are geometric means over sides 1 to 64 of RMSE with the reference relative to RMSE without it, minus 1; losses are the
largest excess at any side. Both ways are drawn from the same seeds, so that chance does not decide. The sparse maps are coasts
and mountains of Japan that had no part in setting how references are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from benchmarks.data import JAPAN, census_1km, window_500m
from sudare.evaluate import error_by_area

__all__ = ["TARGETS", "bad_references", "earlier_year", "run"]

REPEATS = 20
SPARSE_REPEATS = 8
BAD_REPEATS = 12
SIDES = [1 << bits for bits in range(7)]
EPSILONS = {"1": 1.0, "01": 0.1, "001": 0.01}
SPARSE_CORNERS = [(512, 1280), (3328, 2560)]
"""Of windows of 256 x 256 cells of 500 m, counted from the first row and column of `JAPAN`; 2 and 3 % are inhabited."""

SPARSE_SIDE = 256

TARGETS = {
    "reference_gain_01": "at most -0.25 (1 km, census 2015 for 2020, sides 1 ... 64, epsilon = 0.1)",
    "reference_gain_1": "at most -0.10 (epsilon = 1)",
    "reference_gain_001": "at most -0.45 (epsilon = 0.01)",
    "reference_2010_gain_01": "census 2010 for 2020",
    "reference_2010_gain_1": "census 2010 for 2020",
    "reference_2010_gain_001": "census 2010 for 2020",
    "bad_reference_loss": "at most 0.02 (a shuffled reference: largest excess at any side)",
    "sparse_reference_gain_01": "at most -0.50 (256 x 256 cells of 500 m, 2 and 3 % inhabited, an invented past; epsilon = 0.1)",
    "sparse_reference_gain_001": "at most -0.50 (epsilon = 0.01)",
    "sparse_bad_reference_loss": "at most 0.02 (ten kinds of bad references: largest excess at any side)",
}

Counts = NDArray[np.int64]


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    return {**_censuses(), **_sparse_maps()}


def earlier_year(counts: Counts, seed: int) -> Counts:
    """An invented past of a map: neighbourhoods and cells have grown, people have come and gone, hamlets too.

    Growth is lognormal, 6 % by blocks of 8 x 8 cells and 8 % by cell; one in twenty people has moved away; 3 % of cells with
    fewer than 60 people are empty, and 2 % as many others are inhabited. Censuses that are five years apart differ more.
    """
    random = np.random.default_rng(seed)
    rows, columns = counts.shape
    blocks = random.normal(0, 0.06, (rows // 8 + 1, columns // 8 + 1))
    growth = np.exp(np.kron(blocks, np.ones((8, 8)))[:rows, :columns] + random.normal(0, 0.08, counts.shape))
    stayed = random.binomial(counts, 0.95)
    past = stayed + random.poisson(np.maximum(counts * growth - stayed, 0))
    past[(counts < 60) & (random.random(counts.shape) < 0.03)] = 0
    inhabited = np.argwhere(counts > 0)
    chosen = random.integers(0, len(inhabited), len(inhabited) // 50)
    near = inhabited[chosen] + random.integers(-3, 4, (chosen.size, 2))
    row, column = np.clip(near, 0, [rows - 1, columns - 1]).T
    past[row, column] = np.where(counts[row, column] == 0, random.integers(1, 60, chosen.size), past[row, column])
    return np.asarray(past, dtype=np.int64)


def bad_references(past: Counts, elsewhere: Counts, seed: int) -> dict[str, Counts]:
    """References that are wrong in one way each.

    Args:
        past: a good reference.
        elsewhere: another map of the same shape.
        seed: of chance.
    """
    random = np.random.default_rng(seed)
    rows, columns = past.shape
    erased = np.kron(random.random((rows // 16 + 1, columns // 16 + 1)) < 0.5, np.ones((16, 16), dtype=bool))
    return {
        "shuffled": random.permutation(past.ravel()).reshape(past.shape),
        "tenfold": past * 10,
        "a tenth": random.binomial(past, 0.1),
        "turned": np.ascontiguousarray(past[::-1, ::-1]),
        "moved by 1": np.roll(past, (1, 1), (0, 1)),
        "moved by 3": np.roll(past, (3, 2), (0, 1)),
        "moved by 30": np.roll(past, (30, 20), (0, 1)),
        "elsewhere": elsewhere,
        "half erased": np.where(erased[:rows, :columns], 0, past),
        "nobody": np.zeros_like(past),
        "uniform": np.full_like(past, 7),
    }


def _censuses() -> dict[str, float]:
    true, before, long_before = (census_1km(year) for year in (2020, 2015, 2010))
    places = np.random.default_rng(0).permutation(true.domain.cells)
    shuffled = before.to_dense().ravel()[places].reshape(true.domain.shape)
    numbers: dict[str, float] = {}
    losses = []
    for label, epsilon in EPSILONS.items():
        references = {"": None, "reference_gain": before, "reference_2010_gain": long_before, "shuffled": shuffled}
        squares = _mean_squares(true, references, epsilon, REPEATS)
        for name in ("reference_gain", "reference_2010_gain"):
            numbers[f"{name}_{label}"] = _score(squares[name], squares[""])
        losses.append(_excess(squares["shuffled"], squares[""]))
    return {**numbers, "bad_reference_loss": max(losses)}


def _sparse_maps() -> dict[str, float]:
    numbers: dict[str, float] = {}
    maps = [
        window_500m(JAPAN.first_row + row, JAPAN.first_column + column, SPARSE_SIDE).to_dense()
        for row, column in SPARSE_CORNERS
    ]
    losses = []
    for label in ("01", "001"):
        scores = []
        for number, true in enumerate(maps):
            past, elsewhere = earlier_year(true, number), maps[1 - number]
            squares = _mean_squares(true, {"": None, "good": past}, EPSILONS[label], SPARSE_REPEATS)
            scores.append(np.log1p(_score(squares["good"], squares[""])))
            bad = _mean_squares(
                true, {"": None, **bad_references(past, elsewhere, number)}, EPSILONS[label], BAD_REPEATS
            )
            losses += [_excess(of_kind, bad[""]) for kind, of_kind in bad.items() if kind]
        numbers[f"sparse_reference_gain_{label}"] = float(np.exp(np.mean(scores))) - 1
    return {**numbers, "sparse_bad_reference_loss": max(losses)}


def _mean_squares(
    true: Counts | sudare.CountTable,
    references: Mapping[str, Counts | sudare.CountTable | None],
    epsilon: float,
    repeats: int,
) -> dict[str, NDArray[np.float64]]:
    """Squared errors by side for each reference, averaged over the same seeds."""
    return {
        name: np.mean(
            [
                [area.rmse**2 for area in error_by_area(true, _published(true, reference, epsilon, seed), SIDES)]
                for seed in range(repeats)
            ],
            axis=0,
        )
        for name, reference in references.items()
    }


def _published(true: Any, reference: Any, epsilon: float, seed: int) -> sudare.Published:
    entropy = sudare.ResearchEntropy(seed)
    return sudare.publish(true, sudare.Budget(epsilon=epsilon), reference=reference, entropy=entropy)


def _score(squares: NDArray[np.float64], without: NDArray[np.float64]) -> float:
    return float(np.exp(0.5 * np.log(squares / without).mean())) - 1


def _excess(squares: NDArray[np.float64], without: NDArray[np.float64]) -> float:
    return float(np.sqrt(squares / without).max()) - 1
