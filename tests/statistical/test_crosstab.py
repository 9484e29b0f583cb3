"""Reconstructed tables: intervals that cover, and a real table."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from sudare.collect import DenseTransition, KaryResponse, Retention, UniformTransition
from sudare.collect.estimation.crosstab import (
    CrossTab,
    RandomizedAttribute,
    count_reports,
    invert,
    iterative_bayes,
    maximum_likelihood,
)
from sudare.collect.randomizers.noisy_numbers import BoundedNoise
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.transitions.bins import grouped
from sudare.collect.transitions.grids import Grid
from sudare.collect.transitions.transition import Transition
from sudare.noise import secure_entropy

ERROR_PROBABILITY = 1e-9
WIDE = DenseTransition([[0.5, 0.25, 0.25, 0], [0.125, 0.5, 0.25, 0.125], [0.125, 0.125, 0.25, 0.5]])
ATTRIBUTES: list[Transition] = [UniformTransition(3, 3, 1), WIDE]
FULL = np.array([[500, 300, 200], [400, 200, 300], [600, 700, 800]])
SPARSE = np.array([[2000, 0, 0], [0, 50, 0], [10, 0, 1000]])


def reports_of(people: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each record randomized by itself, from the secure source."""
    source = secure_entropy()
    places = np.nonzero(people)
    columns = [np.repeat(along, people[places]) for along in places]
    told = [transition.draw(column, source) for transition, column in zip(ATTRIBUTES, columns, strict=True)]
    counts = np.zeros(tuple(transition.reports for transition in ATTRIBUTES), dtype=np.int64)
    np.add.at(counts, tuple(told), 1)
    return counts


def intervals_of(tables: list[CrossTab], replicates: int = 20) -> NDArray[np.float64]:
    """Lower and upper ends for each table and each of its cells."""
    return np.array([table.intervals(replicates=replicates, seed=place) for place, table in enumerate(tables)])


def hits(ends: NDArray[np.float64], people: NDArray[np.int64], shrink: float = 1.0) -> NDArray[np.int64]:
    """How many intervals hold the true number of each cell; those of a control are shrunk around their middle."""
    middle, reach = ends.mean(axis=1), shrink * (ends[:, 1] - ends[:, 0]) / 2
    return np.asarray(((middle - reach <= people) & (people <= middle + reach)).sum(axis=0))


@pytest.mark.slow
def test_inversion_is_unbiased_and_covers() -> None:
    runs = 1500
    for people in (FULL, SPARSE):
        tables = [invert(reports_of(people), ATTRIBUTES) for _ in range(runs)]
        estimates = np.array([table.unbiased for table in tables])
        exact = np.mean([table.variances for table in tables], axis=0)
        deviation = np.abs(estimates.mean(axis=0) - people) / np.sqrt(exact / runs)
        assert deviation.max() < 7  # of 9 cells, each beyond 7 with probability 3e-12
        assert np.allclose(estimates.var(axis=0, ddof=1), exact, rtol=0.25)
        ends = intervals_of(tables)
        covered = hits(ends, people)
        assert (binom.cdf(covered, runs, 0.94) > ERROR_PROBABILITY).all()
        assert (binom.sf(covered - 1, runs, 0.96) > ERROR_PROBABILITY).all()
        control = hits(ends, people, shrink=0.7)
        assert (binom.cdf(control, runs, 0.94) < ERROR_PROBABILITY).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "people", [pytest.param(FULL, id="full"), pytest.param(SPARSE, id="sparse", marks=pytest.mark.deep)]
)
def test_maximum_likelihood_covers(people: NDArray[np.int64]) -> None:
    """Inside the simplex by the information, at its edge by the bootstrap: there it may cover more than it says."""
    runs = 120
    tables = [maximum_likelihood(reports_of(people), ATTRIBUTES, tolerance=1e-6) for _ in range(runs)]
    ends = intervals_of(tables, replicates=40)
    covered = hits(ends, people)
    assert (binom.cdf(covered, runs, 0.92) > ERROR_PROBABILITY).all()
    if people is FULL:
        control = hits(ends, people, shrink=0.3)
        assert (binom.cdf(control, runs, 0.92) < ERROR_PROBABILITY).any()


def adult() -> Path:
    default = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("SUDARE_DATA", default)) / "adult" / "adult.data"
    if not path.exists():
        pytest.skip("needs adult below SUDARE_DATA (or ../shared/data)")
    return path


@pytest.mark.slow
def test_a_census_table_comes_back() -> None:
    """Education x sex x age of 32,561 people, each attribute randomized for itself, ages by noise and then put into bins.

    The comments give what was seen in 25 runs.
    """
    lines = [line.split(", ") for line in adult().read_text().splitlines() if line]
    education, sex = np.array([line[3] for line in lines]), np.array([line[9] for line in lines])
    edges = np.array([17, 25, 35, 45, 55, 65, 91])
    age = np.array([int(line[0]) for line in lines])
    schools = tuple(sorted(set(education.tolist())))
    noise = BoundedNoise(Grid(17, 90, 1), scale=8)
    randomizers: dict[str, Randomizer] = {
        "education": KaryResponse(schools, 4),
        "sex": Retention(("Female", "Male"), 0.8),
        "age": noise,
    }
    columns = {"education": education, "sex": sex, "age": age}
    attributes = [
        RandomizedAttribute.of("education", randomizers["education"]),
        RandomizedAttribute.of("sex", randomizers["sex"]),
        RandomizedAttribute("age", grouped(noise.transition(), edges[:-1] - 17), edges=tuple(edges.tolist())),
    ]
    truth = count_reports(columns, attributes)
    told = count_reports({name: each.randomize(columns[name]) for name, each in randomizers.items()}, attributes)
    assert truth.shape == (16, 2, 6)
    assert truth.sum() == 32_561

    def error(table: NDArray[np.float64]) -> float:
        """The share of people in a wrong cell."""
        return float(np.abs(table - truth).sum() / 2 / truth.sum())

    inverse = invert(told, attributes)
    bayes, likely = iterative_bayes(told, attributes), maximum_likelihood(told, attributes)
    stopped = iterative_bayes(told, attributes, hold_out=0.2)
    z = (inverse.unbiased - truth) / inverse.standard_errors
    assert 0.8 < np.sqrt((z**2).mean()) < 1.4  # 0.94 to 1.15: ages inside a bin are not spread quite evenly
    assert bayes.fit is not None
    assert bayes.fit.converged
    assert error(told.astype(float)) > 0.15  # 0.159 to 0.167: what the reports say as they are
    assert error(inverse.constrained) < 0.18  # 0.119 to 0.152
    assert error(bayes.constrained) < 0.16  # 0.108 to 0.136
    assert error(likely.constrained) < 0.165  # 0.109 to 0.139
    assert error(stopped.constrained) < 0.08  # 0.048 to 0.065
    margin = bayes.margin("education")
    assert np.abs(margin.constrained - truth.sum(axis=(1, 2))).max() < 7 * margin.standard_errors.max()
    assert bayes.to_table().total == 32_561
