"""Synthetic people: errors of workloads beside the examples of private-pgm at the same budget.

The error of a workload is the mean over its marginals of the l1 distance between the marginals of the records and of the
synthetic rows, each divided by its number of rows (the examples print half of it).

The package mbi (the library of private-pgm) does not ship its example mechanisms. `reference_mst` and `reference_aim` are
written anew from what `mechanisms/mst.py` (37f8f555) and `mechanisms/aim.py` (01f02f17) of the repository do, step by step: a
third of rho for single columns, a third for the choice of a tree and a third for its pairs, rare values merged below three
standard deviations; the workload of all pairs up to 10,000 cells, candidates weighed by the columns that they share with it, 16
rounds a column at first, nine tenths of a round for counts, noise halved when a round shows nothing. Noise and choices are floats
there. What differs from the examples: models are fitted by the same code as ours, so that noise, choice and rounding are what is
compared (the examples take 5,000 and 1,000 steps; `fit_beside_mbi` compares the fit itself with mbi's own), and the tables of
AIM's model have at most 2**17 cells together for ours and the reference, where the example allows eighty times as many.

The benchmark takes one seed; ``python -m benchmarks.microdata_synthetic`` takes the mean of three.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Sequence
from itertools import combinations
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sudare
from benchmarks.data import data_folder
from sudare.domain import Bins
from sudare.microdata.records import Records, read_people
from sudare.microdata.synthetic import Synthetic, synthesize
from sudare.microdata.synthetic.drawing import draw_rows
from sudare.microdata.synthetic.public_columns import code_records, read_columns
from sudare.tables.adaptive.aim import weigh_candidates
from sudare.tables.adaptive.graphical_model import GraphicalModel, fit_model, loss_of
from sudare.tables.adaptive.junction_tree import tree_cells
from sudare.tables.adaptive.measured import Evidence, MeasuredPeople, cells_of
from sudare.tables.adaptive.mst import estimated_total

BUDGET = sudare.Budget(epsilon=1, delta=1e-9)
MAX_CELLS = 10_000
MODEL_CELLS = 1 << 17

TARGETS = {
    f"{table}_{method}_{whose}_{width}": (
        f"l1 distance of the shares in {width} of columns, {name}, epsilon 1, delta 1e-9; "
        + ("by synthesize()" if whose == "ours" else f"by {method.upper()} as in private-pgm's example, written anew")
    )
    for table, name in (("adult", "Adult"), ("acs", "NIST ACS 2019"))
    for method in ("mst", "aim")
    for whose in ("ours", "reference")
    for width in ("pairs", "triples")
} | {f"{table}_{method}_seconds": "of synthesize()" for table in ("adult", "acs") for method in ("mst", "aim")}
ACS_COLUMNS = (
    "PUMA",
    "SEX",
    "MSP",
    "HISP",
    "RAC1P",
    "NOC",
    "HOUSING_TYPE",
    "OWN_RENT",
    "EDU",
    "PINCP_DECILE",
    "DVET",
    "DREM",
    "DPHY",
)

Clique = tuple[int, ...]
Places = list[NDArray[np.int64]]


def adult() -> tuple[Records, dict[str, Any]]:
    """Adult: 48,842 people, 14 columns; the domain comes with it."""
    folder = data_folder("adult")
    sizes = json.loads((folder / "adult_coded-domain.json").read_text())
    return read_people(folder / "adult_coded.csv"), {name: range(size) for name, size in sizes.items()}


def acs(state: str = "national2019") -> tuple[Records, dict[str, Any]]:
    """NIST's extract of the American Community Survey 2019: the columns with lists of values, and age in bins of five years."""
    folder = data_folder("nist_acs_2019")
    schema = json.loads((folder / f"{state}.json").read_text())["schema"]
    columns: dict[str, Any] = {"AGEP": Bins("AGEP", tuple(range(0, 101, 5)))}
    for name in ACS_COLUMNS:
        if name in schema and "values" in schema[name]:
            columns[name] = schema[name]["values"]
    with (folder / f"{state}.csv").open(newline="") as stream:
        header = next(csv.reader(stream))
    kept = {name: values for name, values in columns.items() if name in header}
    return read_people(folder / f"{state}.csv", columns=list(kept)), kept


def workload_error(true: Places, made: Places, sizes: Sequence[int], width: int) -> float:
    """Mean l1 distance of the marginals of so many columns, as shares."""
    errors = []
    for clique in combinations(range(len(sizes)), width):
        if cells_of(clique, sizes) <= MAX_CELLS * 100:
            shares = [MeasuredPeople(places, sizes).counts(clique).astype(float) for places in (true, made)]
            errors.append(float(np.abs(shares[0] / shares[0].sum() - shares[1] / shares[1].sum()).sum()))
    return float(np.mean(errors))


def run(seeds: Sequence[int] = (1,)) -> dict[str, float]:
    """Errors of all pairs and triples of columns: Adult and ACS, MST and AIM, ours and the reference."""
    numbers: dict[str, float] = {}
    rho = float(sudare.privacy.epsilon_to_rho(BUDGET.epsilon, BUDGET.delta))
    for name, (records, columns) in {"adult": adult(), "acs": acs()}.items():
        public = read_columns(columns, (), "benchmark")
        sizes = [column.size for column in public]
        true = code_records(records, public, "benchmark")
        for method, reference in (("mst", reference_mst), ("aim", reference_aim)):
            errors: dict[str, list[tuple[float, float]]] = {"ours": [], "reference": []}
            seconds = []
            for seed in seeds:
                started = time.perf_counter()
                made, _ = _made(records, columns, method, seed)
                seconds.append(time.perf_counter() - started)
                ours = code_records(made.records, public, "benchmark")
                theirs = reference(true, sizes, rho, np.random.default_rng(seed))
                for whose, places in (("ours", ours), ("reference", theirs)):
                    errors[whose].append(
                        (workload_error(true, places, sizes, 2), workload_error(true, places, sizes, 3))
                    )
            for whose, found in errors.items():
                pairs, triples = np.mean(found, axis=0).tolist()
                numbers[f"{name}_{method}_{whose}_pairs"] = pairs
                numbers[f"{name}_{method}_{whose}_triples"] = triples
            numbers[f"{name}_{method}_seconds"] = float(np.median(seconds))
    return numbers


def fit_beside_mbi() -> dict[str, float]:
    """The last fit on MST's measurements of Adult, ours and mbi's: seconds (compiling included), loss, error on all pairs."""
    from sudare.microdata.synthetic.mbi_model import fit_with_mbi

    records, columns = adult()
    made, _ = _made(records, columns, "mst", 1)
    evidence = _evidence(made)
    numbers = {}
    true = MeasuredPeople(
        code_records(records, made.columns, "benchmark"), [column.size for column in made.columns]
    ).merged(made.merged)
    for name, fit, steps in (("numpy", fit_model, 1000), ("mbi", fit_with_mbi, 5000)):
        started = time.perf_counter()
        model = fit(made.model.sizes, evidence, made.model.total, steps=steps)
        numbers[f"{name}_fit_seconds"] = time.perf_counter() - started
        numbers[f"{name}_fit_loss"] = loss_of(model, evidence)
        distances = []
        for pair in combinations(range(len(made.columns)), 2):
            counts, expected = true.counts(pair), model.marginal(pair)
            distances.append(float(np.abs(counts / counts.sum() - expected / expected.sum()).sum()))
        numbers[f"{name}_fit_pairs"] = float(np.mean(distances))
    return numbers


def reference_mst(true: Places, sizes: Sequence[int], rho: float, generator: np.random.Generator) -> Places:
    """MST as private-pgm's example has it. Not private: floats everywhere."""
    people, count = MeasuredPeople(true, sizes), len(sizes)
    deviation = sqrt(3 * count / (2 * rho))
    evidence, merged = [], []
    for column in range(count):
        noisy = people.counts((column,)) + generator.normal(0, deviation, sizes[column])
        common = noisy >= 3 * deviation
        places = np.where(common, np.cumsum(common) - 1, common.sum())
        width = int(places.max()) + 1
        values = np.bincount(places, weights=noisy, minlength=width).astype(np.float64)
        variances = np.bincount(places, minlength=width).astype(np.float64) * deviation**2
        evidence.append(Evidence((column,), values, variances))
        merged.append(places)
    smaller = people.merged(merged)
    model = fit_model(smaller.sizes, evidence, estimated_total(evidence), steps=1000)
    pairs: list[Clique] = list(combinations(range(count), 2))
    scores = {pair: float(np.abs(smaller.counts(pair) - model.marginal(pair)).sum()) for pair in pairs}
    epsilon = sqrt(8 * rho / 3 / (count - 1))
    part = list(range(count))
    deviation = sqrt(3 * (count - 1) / (2 * rho))
    for _ in range(count - 1):
        free = [pair for pair in pairs if part[pair[0]] != part[pair[1]]]
        pair = free[_chosen([scores[p] for p in free], epsilon, 1.0, generator)]
        part = [part[pair[0]] if p == part[pair[1]] else p for p in part]
        noisy = smaller.counts(pair) + generator.normal(0, deviation, smaller.counts(pair).shape)
        evidence.append(Evidence(pair, noisy, np.full(noisy.shape, deviation**2)))
    model = fit_model(smaller.sizes, evidence, estimated_total(evidence), steps=1000)
    rows = _rows(model, generator)
    for column, places in enumerate(merged):
        back = [np.flatnonzero(places == place) for place in range(int(places.max()) + 1)]
        rows[column] = np.array(
            [generator.choice(back[place]) if len(back[place]) > 1 else back[place][0] for place in rows[column]]
        )
    return rows


def reference_aim(true: Places, sizes: Sequence[int], rho: float, generator: np.random.Generator) -> Places:
    """AIM as private-pgm's example has it, for all pairs of columns. Not private: floats everywhere."""
    people, count = MeasuredPeople(true, sizes), len(sizes)
    workload = [pair for pair in combinations(range(count), 2) if cells_of(pair, sizes) <= MAX_CELLS]
    weights = weigh_candidates(workload, count)
    rounds = 16 * count
    deviation, epsilon = sqrt(rounds / (2 * 0.9 * rho)), sqrt(8 * 0.1 * rho / rounds)
    evidence: list[Evidence] = []

    def measure(clique: Clique) -> None:
        noisy = people.counts(clique) + generator.normal(0, deviation, people.counts(clique).shape)
        evidence.append(Evidence(clique, noisy, np.full(noisy.shape, deviation**2)))

    for column in range(count):
        measure((column,))
    used = count * 0.5 / deviation**2
    model = fit_model(sizes, evidence, estimated_total(evidence), steps=300)
    is_last = False
    while not is_last:
        if rho - used < 2 * (0.5 / deviation**2 + epsilon**2 / 8):
            deviation, epsilon = sqrt(1 / (2 * 0.9 * (rho - used))), sqrt(8 * 0.1 * (rho - used))
            is_last = True
        used += 0.5 / deviation**2 + epsilon**2 / 8
        room = MODEL_CELLS * used / rho
        held = list(model.potentials)
        small = [c for c in weights if model.tree.holder(c) >= 0 or tree_cells([*held, c], sizes) <= room]
        scores = [
            weights[c]
            * (
                float(np.abs(people.counts(c) - model.marginal(c)).sum())
                - sqrt(2 / pi) * deviation * cells_of(c, sizes)
            )
            for c in small
        ]
        clique = small[_chosen(scores, epsilon, max(weights[c] for c in small), generator)]
        measure(clique)
        before = model.marginal(clique)
        model = fit_model(sizes, evidence, estimated_total(evidence), steps=100, start=model)
        moved = float(np.abs(model.marginal(clique) - before).sum())
        if moved <= sqrt(2 / pi) * deviation * cells_of(clique, sizes):
            deviation, epsilon = deviation / 2, epsilon * 2
    return _rows(fit_model(sizes, evidence, estimated_total(evidence), steps=1000, start=model), generator)


def _made(records: Records, columns: dict[str, Any], method: str, seed: int) -> tuple[Synthetic, sudare.ReleaseEvent]:
    chosen: Any = method
    entropy = sudare.ResearchEntropy(seed)
    return synthesize(records, columns, BUDGET, chosen, model_cells=MODEL_CELLS, entropy=entropy)


def _rows(model: GraphicalModel, generator: np.random.Generator) -> Places:
    return draw_rows(model, round(model.total), sudare.ResearchEntropy(int(generator.integers(2**31))))


def _chosen(scores: Sequence[float], epsilon: float, sensitivity: float, generator: np.random.Generator) -> int:
    logs = 0.5 * epsilon / sensitivity * np.array(scores)
    weights = np.exp(logs - logs.max())
    return int(generator.choice(len(scores), p=weights / weights.sum()))


def _evidence(made: Synthetic) -> list[Evidence]:
    """What the model was fitted to, from what was published."""
    names = [column.name for column in made.columns]
    found = []
    for marginal in made.marginals:
        clique = tuple(names.index(name) for name in marginal.columns)
        values, variances = marginal.counts.astype(float), np.full(marginal.counts.shape, float(marginal.sigma_squared))
        if len(clique) == 1:
            places = made.merged[clique[0]]
            values, variances = (np.bincount(places, weights=array) for array in (values, variances))
        found.append(Evidence(clique, values, variances))
    return found


if __name__ == "__main__":
    print(json.dumps(run(seeds=(1, 2, 3))))
