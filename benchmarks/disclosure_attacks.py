"""How long reconstruction takes: the block of Garfinkel, Abowd and Martindale, and an invented town of 1,000 people.

The town has 20 neighbourhoods. Published are four tables: neighbourhood by sex by age, by sex by occupation and by age by
occupation, and for the whole town sex by age by occupation. Counts of 1 and 2 are hidden; 0 and everything from 3 on are shown,
margins too. That is what many offices do.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.tables.published_statistics import (
    Mean,
    Median,
    PersonDomain,
    PublishedCount,
    Statistic,
    Value,
    Where,
)
from sudare.attacks.tables.reconstruction import Reconstruction, reconstruct

__all__ = ["attack_figures", "block", "block_seconds", "publish_with_threshold", "town", "town_seconds"]

GROUPS: dict[str, Where] = {
    "total": {},
    "female": {"sex": "F"},
    "male": {"sex": "M"},
    "black": {"race": "B"},
    "white": {"race": "W"},
    "married adults": {"marital status": "M"},
    "black female": {"sex": "F", "race": "B"},
}
TABLES_OF_TOWN = (
    ("neighbourhood", "sex", "age"),
    ("neighbourhood", "sex", "occupation"),
    ("neighbourhood", "age", "occupation"),
    ("sex", "age", "occupation"),
)


def block(folder: Path) -> tuple[PersonDomain, list[Statistic], dict[str, Any]]:
    """The block's domain, its published statistics, and the known answer.

    Args:
        folder: the one with ``garfinkel_abowd_martindale.json``.
    """
    known: dict[str, Any] = json.loads((folder / "garfinkel_abowd_martindale.json").read_text(encoding="utf-8"))
    domain = PersonDomain({"age": range(126), "sex": "FM", "race": "BW", "marital status": "SM"})
    statistics: list[Statistic] = [PublishedCount(0, where={"marital status": "M", "age": range(15)})]
    for published in known["published"]:
        where = GROUPS[published["group"]]
        statistics += [
            PublishedCount(published["n"], where=where),
            Mean("age", published["mean"], 0.05, where=where),
            Median("age", published["median"], where=where),
        ]
    return domain, statistics, known


def publish_with_threshold(
    domain: PersonDomain, counts: NDArray[np.int64], tables: Sequence[Sequence[str]], threshold: int
) -> list[Statistic]:
    """Tables with all their margins, every cell from 1 to below the threshold hidden."""
    cube = counts.reshape(domain.shape)
    margins = {names[:0] for names in tables} | {
        part for names in tables for size in range(1, len(names) + 1) for part in combinations(names, size)
    }
    published: list[Statistic] = []
    for names in sorted(margins, key=lambda margin: (len(margin), margin)):
        kept = [domain.names.index(name) for name in names]
        others = tuple(axis for axis in range(len(domain.names)) if axis not in kept)
        table = np.moveaxis(cube.sum(axis=others), np.argsort(np.argsort(kept)), np.arange(len(kept)))
        for place, count in np.ndenumerate(table):
            where: dict[str, Value] = {name: domain.values[name][at] for name, at in zip(names, place, strict=True)}
            hidden = 0 < count < threshold
            published.append(
                PublishedCount(1, threshold - 1, where) if hidden else PublishedCount(int(count), where=where)
            )
    return published


def town(people: int = 1000, neighbourhoods: int = 20) -> tuple[PersonDomain, NDArray[np.int64]]:
    """An invented town: what a person can be, and how many there are of each kind. The same at every call."""
    domain = PersonDomain(
        {
            "neighbourhood": range(1, neighbourhoods + 1),
            "sex": ("F", "M"),
            "age": ("0-14", "15-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+"),
            "occupation": ("none", "farm", "trade", "office", "care"),
        }
    )
    random = np.random.default_rng(1)
    ages = random.dirichlet(np.full(8, 5.0), size=neighbourhoods)
    works = random.dirichlet([2.0, 0.7, 1.5, 1.5, 0.8], size=(neighbourhoods, 2))
    counts = np.zeros(domain.shape, dtype=np.int64)
    for person in range(people):
        where, sex = person % neighbourhoods, int(random.integers(2))
        age = int(random.choice(8, p=ages[where]))
        work = 0 if age == 0 or (age >= 6 and random.random() < 0.8) else int(random.choice(5, p=works[where, sex]))
        counts[where, sex, age, work] += 1
    return domain, counts.ravel()


def block_seconds(folder: Path) -> float:
    """Seconds until all data sets that fit the block's tables are known, the solver being loaded."""
    domain, statistics, known = block(folder)
    reconstruct(PersonDomain({"sex": "FM"}), [PublishedCount(1)])  # loads the solver
    start = time.perf_counter()
    result = reconstruct(domain, statistics)
    seconds = time.perf_counter() - start
    if not result.is_every_solution or sorted(result.people()) != sorted(map(tuple, known["unique_solution"])):
        raise RuntimeError("The block's reconstruction is not the known one.")
    return seconds


def town_seconds(seconds: float = 120.0) -> tuple[float, Reconstruction]:
    """Seconds to reconstruct the invented town from its tables, and what was found.

    Args:
        seconds: how long the search may take.
    """
    domain, counts = town()
    published = publish_with_threshold(domain, counts, TABLES_OF_TOWN, 3)
    reconstruct(PersonDomain({"sex": "FM"}), [PublishedCount(1)])  # loads the solver
    start = time.perf_counter()
    result = reconstruct(domain, published, limit=10, seconds=seconds)
    elapsed = time.perf_counter() - start
    if result.is_exact and result.confirmed(counts) != result.revealed:
        raise RuntimeError("A revealed person does not exist.")
    return elapsed, result


def attack_figures(folder: Path) -> dict[str, float]:
    """The figures of both, for ``python -m benchmarks disclosure``.

    Args:
        folder: the one with ``garfinkel_abowd_martindale.json``.
    """
    seconds, result = town_seconds()
    return {
        "block_seconds": block_seconds(folder),
        "town_seconds": seconds,
        "town_people_revealed": float(result.revealed),
        "town_is_exact": float(result.is_exact),
    }
