"""Fit the prior of ``sudare.refine.learning.settlements`` to public maps, and write it into the package.

    python tools/fit_settlements.py [--check]

Maps: Germany's census of 2011 at 100 m, put together to cells of 100 m to 1 km, and Europe's grid of 5 km (see
``src/sudare/refine/learning/settlements.md`` for sources and terms), read from the folder that SUDARE_DATA names. Japan's
census is not used, so that benchmarks on it are benchmarks on a country that the prior has never seen. People are left out at
random in some of the maps: Germany's source has no counts of 1 and 2, and smaller countries have fewer people a cell.

Each map gets noise at a random budget and is refined by the package's own code; what is learned is the true count of a node,
given the description that the code makes of its surroundings. Two rounds: the second is refined with the prior of the first.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import map_layout
from sudare.domain.table import CountTable
from sudare.refine.learning.settlements import (
    KIND_EDGES,
    LEAK,
    MIN_DEVIATION,
    MIN_SIDE,
    STEPS_A_DEVIATION,
    Network,
    describe_level,
    moments_of,
    steps_of,
    use_settlements,
)
from sudare.refine.trees import JudgeOfLevel, NoisyTree, OpenLevel, least_squares, refine_from_top
from sudare.tables.trees.dense_tree import MAX_DENSE_BITS, cells_of_nodes, locating, places_in_tree, summed_up

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "sudare" / "refine" / "settlements.npz"
HIDDEN = (64, 40)
SIDES = (192, 256, 320)
SCALES = (1, 2, 3, 4, 5, 7, 10)
SHARE_OF_EUROPE = 0.06
SHARE_THINNED = 0.6
MAPS = (60, 260)
"""Maps of the first and of the second round."""
RUNS = 2
PLACES = 2500
STEPS = (2500, 14000)
BATCH = 3072
RATE = 3e-3
KEPT_FROM = 12.0
"""Estimates above so many standard deviations are kept, whatever the prior says."""


@dataclass
class Examples:
    """Descriptions of places, their noisy estimates with variances, and true counts in standard deviations."""

    descriptions: list[Any]
    steps: list[Any]
    truths: list[Any]
    is_laplace: list[Any]


def main() -> int:
    """Fit and write."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="a small fit that writes nothing")
    is_check = arguments.parse_args().check
    generator = np.random.default_rng(20260)
    windows = Windows.read()
    network: Network | None = None
    for maps, steps in zip((3, 3) if is_check else MAPS, (50, 50) if is_check else STEPS, strict=True):
        examples = Examples([], [], [], [])
        for _ in range(maps):
            true = windows.draw(generator)
            for _ in range(RUNS):
                simulate(true, generator, network, examples)
        network = fit(examples, steps, generator)
    if network is not None and not is_check:
        layers = enumerate(zip(network.weights, network.offsets, strict=True))
        arrays = {
            f"{name}_{i}": array for i, pair in layers for name, array in zip(("weights", "offsets"), pair, strict=True)
        }
        np.savez(TARGET, **arrays)
        print(f"wrote {TARGET.relative_to(ROOT)}, {TARGET.stat().st_size:,} bytes")
    return 0


@dataclass
class Windows:
    """Public maps, as rows, columns and people."""

    germany: tuple[Any, Any, Any]
    europe: Any

    @classmethod
    def read(cls) -> Windows:
        """Read the maps."""
        import pyarrow.parquet

        folder = Path(os.environ.get("SUDARE_DATA", ROOT.parent / "shared" / "data"))
        table = pyarrow.parquet.read_table(folder / "germany_grid_2011" / "pop_100m.parquet")
        rows, columns, people = (table[name].to_numpy().astype(np.int64) for name in ("y_m", "x_m", "population"))
        germany = (rows // 100 - rows.min() // 100, columns // 100 - columns.min() // 100, people)
        table = pyarrow.parquet.read_table(folder / "europe_grid5km_2018" / "pop.parquet")
        rows, columns, people = (table[name].to_numpy().astype(np.int64) for name in ("y_m", "x_m", "population"))
        europe = np.zeros(
            ((rows.max() - rows.min()) // 5000 + 1, (columns.max() - columns.min()) // 5000 + 1), np.int64
        )
        np.add.at(europe, ((rows - rows.min()) // 5000, (columns - columns.min()) // 5000), people)
        return cls(germany, europe)

    def draw(self, generator: np.random.Generator) -> Any:
        """A window at a random place, scale and density."""
        while True:
            shape = tuple(int(side) for side in generator.choice(SIDES, 2))
            if generator.random() < SHARE_OF_EUROPE:
                top, left = (
                    int(generator.integers(0, size - side)) for size, side in zip(self.europe.shape, shape, strict=True)
                )
                true = self.europe[top : top + shape[0], left : left + shape[1]]
            else:
                true = self._of_germany(int(generator.choice(SCALES)), shape, generator)
            if generator.random() < SHARE_THINNED:
                true = generator.binomial(true, np.exp(generator.uniform(np.log(0.03), 0)))
            if true.sum() >= 1000 and (true > 0).mean() > 0.003:
                return true

    def _of_germany(self, scale: int, shape: tuple[int, ...], generator: np.random.Generator) -> Any:
        rows, columns, people = self.germany
        top, left = (
            int(generator.integers(0, max(1, int(a.max()) // scale - side)))
            for a, side in zip((rows, columns), shape, strict=True)
        )
        phase = generator.integers(0, scale, 2)
        r, c = (rows + phase[0]) // scale - top, (columns + phase[1]) // scale - left
        inside = (r >= 0) & (r < shape[0]) & (c >= 0) & (c < shape[1])
        true = np.zeros(shape, dtype=np.int64)
        np.add.at(true, (r[inside], c[inside]), people[inside])
        return true


def simulate(true: Any, generator: np.random.Generator, network: Network | None, examples: Examples) -> None:
    """Add noise to a map, refine it, and note what the levels looked like on the way."""
    domain = Domain.of_shape(true.shape)
    table, layout = CountTable.from_dense(true, domain), map_layout(domain, MAX_DENSE_BITS)
    bits = _random_bits(layout.depth, generator)
    growth, epsilon = generator.uniform(0, 0.45), np.exp(generator.uniform(np.log(0.01), np.log(3)))
    weights = np.array([0.1, *(2 ** (growth * sum(bits[:level]) / 2) for level in range(1, len(bits) + 1))])
    is_laplace = bool(generator.random() < 0.75)
    leaves = np.zeros(1 << layout.depth, dtype=np.int64)
    leaves[places_in_tree(layout, table.keys)] = table.counts
    truths = summed_up(leaves, bits)
    measured, variances = [], []
    for counts, share in zip(truths, weights / weights.sum(), strict=True):
        scale = 1 / (share * epsilon)
        noise = (
            generator.laplace(0, scale, counts.size)
            if is_laplace
            else generator.normal(0, np.sqrt(2) * scale, counts.size)
        )
        measured.append(counts + np.rint(noise))
        variances.append(2 * scale**2)
    tree = NoisyTree(tuple(bits), tuple(measured), tuple(variances), cells_of_nodes(layout, bits), is_laplace)
    locate = locating(bits, layout)
    inner = None if network is None else use_settlements(locate, len(bits), is_laplace=is_laplace, network=network)

    def judge(level: OpenLevel) -> JudgeOfLevel | None:
        place = locate(level)
        if (
            place is not None
            and min(place.row_bits.size, place.column_bits.size) >= MIN_SIDE
            and level.inhabited.size > 5
        ):
            deviation = float(np.sqrt(np.median(level.variances[level.cells > 0])))
            if deviation >= 1:
                every = max(1, level.inhabited.size * level.fan // PLACES)
                part = slice(int(generator.integers(0, every)), None, every)
                values, own = level.values_of(part).reshape(-1), np.sqrt(level.rows(level.variances, part).reshape(-1))
                known = ~np.isnan(values)
                described = describe_level(level, place, deviation)(part)
                examples.descriptions.append(described.reshape(values.size, -1)[known])
                examples.steps.append(steps_of(values, own**2)[known])
                examples.truths.append(
                    (level.rows(truths[level.number], part).reshape(-1) / np.maximum(own, 1e-9))[known]
                )
                examples.is_laplace.append(np.full(int(known.sum()), is_laplace))
        return None if inner is None else inner(level)

    counter = np.random.default_rng(int(generator.integers(1 << 62)))
    refine_from_top(
        tree, least_squares(tree), lambda n: counter.integers(0, 1 << 63, n, dtype=np.uint64) << np.uint64(1), judge
    )


def _random_bits(depth: int, generator: np.random.Generator) -> list[int]:
    bits: list[int] = []
    while sum(bits) < depth:
        bits.insert(0, min(int(generator.choice([3, 4, 4, 4, 5, 6, 6, 8])), depth - sum(bits)))
    return bits


def fit(examples: Examples, steps: int, generator: np.random.Generator) -> Network:
    """Fit a network by Adam to the logarithm of the true kind's share and to the squared error of the posterior mean."""
    described = np.concatenate(examples.descriptions)
    places, truths, laplace = (np.concatenate(a) for a in (examples.steps, examples.truths, examples.is_laplace))
    kinds = np.where(truths == 0, 0, 1 + np.searchsorted(KIND_EDGES, truths))
    print(f"{len(kinds):,} places, {np.bincount(kinds).tolist()}", flush=True)
    middle, spread = described.mean(axis=0), described.std(axis=0) + 1e-3
    sizes = (described.shape[1], *HIDDEN, len(KIND_EDGES) + 2)
    weights = [generator.normal(0, a**-0.5, (a, b)).astype(np.float32) for a, b in pairwise(sizes)]
    offsets = [np.zeros(b, dtype=np.float32) for b in sizes[1:]]
    network, optimizer = Network(tuple(weights), tuple(offsets)), Adam([*weights, *offsets])
    losses = np.zeros(2)
    for step in range(1, steps + 1):
        chosen = generator.integers(0, len(kinds), BATCH)
        batch = ((described[chosen] - middle) / spread).astype(np.float32)
        moments = _picked(laplace[chosen], places[chosen])
        is_kept = places[chosen] >= (KEPT_FROM - MIN_DEVIATION) * STEPS_A_DEVIATION
        losses += train(
            network, batch, kinds[chosen], truths[chosen], moments, is_kept, optimizer, RATE * schedule(step, steps)
        )
        if step % max(1, steps // 5) == 0:
            print(step, np.round(losses / max(1, steps // 5), 4), flush=True)
            losses[:] = 0
    first = (weights[0] / spread[:, None]).astype(np.float32)
    return Network((first, *weights[1:]), ((offsets[0] - middle @ first).astype(np.float32), *offsets[1:]))


def _picked(laplace: Any, places: Any) -> Any:
    """Likelihoods and moments of each place under its own shape of noise."""
    last = len(moments_of(True)) - 1
    found = moments_of(True)[np.minimum(places, last)]
    found[~laplace] = moments_of(False)[np.minimum(places[~laplace], last)]
    return found


def schedule(step: int, steps: int) -> float:
    """Slowly up, then down along a cosine."""
    return float(min(1.0, step / 200) * 0.5 * (1 + np.cos(np.pi * step / steps)))


def train(
    network: Network, batch: Any, kinds: Any, truths: Any, moments: Any, is_kept: Any, optimizer: Adam, rate: float
) -> Any:
    """One step; gives both losses before it."""
    layers = [batch]
    for number, (weights, offsets) in enumerate(zip(network.weights, network.offsets, strict=True)):
        inner = np.maximum(layers[-1], LEAK * layers[-1]) if number else layers[-1]
        layers.append((inner @ weights + offsets).astype(np.float32))
    scores = layers[-1] - layers[-1].max(axis=1, keepdims=True)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    judged = shares * moments[:, :, 0]
    judged /= judged.sum(axis=1, keepdims=True) + 1e-30
    within = moments[:, :, 1] / np.maximum(moments[:, :, 0], 1e-300)
    mean = (judged * within).sum(axis=1)
    errors = np.where(is_kept, 0.0, mean - truths)
    losses = -np.log(shares[np.arange(len(kinds)), kinds] + 1e-9).mean(), (errors**2).mean()
    slope = 0.5 * shares
    slope[np.arange(len(kinds)), kinds] -= 0.5
    slope = slope + 2 * np.clip(errors, -4, 4)[:, None] * judged * (within - mean[:, None])
    slope = (slope / len(kinds)).astype(np.float32)
    of_weights: list[Any] = []
    of_offsets: list[Any] = []
    for number in range(len(network.weights) - 1, -1, -1):
        inner = np.maximum(layers[number], LEAK * layers[number]) if number else layers[number]
        of_weights.insert(0, inner.T @ slope)
        of_offsets.insert(0, slope.sum(axis=0))
        if number:
            slope = (slope @ network.weights[number].T) * np.where(layers[number] > 0, 1, LEAK).astype(np.float32)
    optimizer.step([*of_weights, *of_offsets], rate)
    return np.array(losses)


class Adam:
    """Adam (Kingma and Ba 2015) on arrays that are changed where they are."""

    def __init__(self, arrays: list[Any]) -> None:
        self.arrays, self.turn = arrays, 0
        self.first, self.second = ([np.zeros_like(array) for array in arrays] for _ in range(2))

    def step(self, slopes: list[Any], rate: float) -> None:
        """Move all arrays down their slopes."""
        self.turn += 1
        for array, slope, first, second in zip(self.arrays, slopes, self.first, self.second, strict=True):
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            array -= rate * (first / (1 - 0.9**self.turn)) / (np.sqrt(second / (1 - 0.999**self.turn)) + 1e-8)


if __name__ == "__main__":
    sys.exit(main())
