"""Top-down: audits hold and catch broken twins; estimates are unbiased, with the variance that theory gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from sudare import Budget, Category, CountTable, Domain, Hierarchy, ResearchEntropy, Unit
from sudare.attacks import audit_epsilon
from sudare.noise import discrete_laplace
from sudare.tables.mechanisms.detail import Detail
from sudare.tables.mechanisms.topdown import topdown

pytestmark = pytest.mark.slow

RUNS = 3000
ERROR_PROBABILITY = 1e-9
AREA = Hierarchy.from_parents("area", {"all": None, "a": "all", "b": "all"})
DOMAIN = Domain((AREA, Category("sex", ("f", "m"))))


def code(table: np.ndarray) -> int:
    return int(sum(min(int(count), 9) * 10**i for i, count in enumerate(table.ravel())))


REPLACE = Unit(adjacency="replace")
DETAIL = {"queries": [("sex",)]}
FEWER = 600
EACH_TIME = 0, 1, 4
"""Of the cases: everything at once, a unit that is replaced, an exact number."""

CASES: list[Any] = [
    ([[3, 2], [1, 2]], [[4, 2], [1, 2]], {}, Unit(), 4000),
    ([[3, 2], [1, 2]], [[2, 2], [1, 3]], DETAIL | {"level_weights": (40, 1)}, REPLACE, 1750),
    ([[3, 2], [1, 2]], [[2, 2], [1, 3]], DETAIL | {"level_weights": (1, 40), "invariants": [(0, ())]}, Unit(), 1750),
    ([[2, 1], [1, 1]], [[1, 2], [1, 1]], DETAIL | {"invariants": [(1, ())], "level_weights": (1, 40)}, Unit(), 1750),
    ([[2, 1], [1, 1]], [[1, 1], [2, 1]], {"invariants": [(0, ("sex",))], "query_weights": (40, 1)}, Unit(), 1750),
]


@pytest.mark.filterwarnings("ignore::sudare.errors.WeakBudgetWarning")
@pytest.mark.parametrize(
    ("one", "other", "options", "unit", "runs"),
    [pytest.param(*case, marks=() if place in EACH_TIME else pytest.mark.deep) for place, case in enumerate(CASES)],
)
@pytest.mark.parametrize("part", [3, pytest.param(2, marks=pytest.mark.deep)])
def test_audit_holds_and_catches_a_broken_twin(
    one: Any, other: Any, options: Any, unit: Unit, runs: int, part: int
) -> None:
    """Through the likelihood of the measurements with the least noise. The broken twin has half of it, or a third.

    With a third of the noise, a third of the runs show more: where one look has nearly all of the budget, the bound is 2.9,
    with a standard deviation of 0.04; where four share it, 3.1, with one of 0.15.

    Neighbours and queries are such that one unit changes each of them by as much as any could. Where there are weights,
    nearly all of the budget goes to one look.
    """
    claimed = 2.5

    def run(counts: Any, spend: float) -> Any:
        table = CountTable.from_dense(counts, DOMAIN)
        published = topdown(table, Budget(epsilon=spend), unit=unit, keep_measurements=True, **options)
        assert published.measurements is not None
        least = min(look.measurement.scale for look in published.measurements)  # type: ignore[attr-defined]
        return [look for look in published.measurements if look.measurement.scale == least]  # type: ignore[attr-defined]

    def answers(counts: Any) -> dict[tuple[str, int], int]:
        """What a run nearly without noise measures: every area has people, so every area is looked at."""
        looks = run(counts, 250)
        pairs = [(look, at, value) for look in looks for at, value in zip(look.keys, look.values, strict=True)]
        return {(look.name, int(at)): int(value) for look, at, value in pairs}

    ours, theirs = answers(one), answers(other)
    assert ours.keys() == theirs.keys()

    def score(looks: Any) -> int:
        """The log-likelihood ratio, in units of the scale of the noise."""
        pairs = [
            (look.name, *pair) for look in looks for pair in zip(look.keys.tolist(), look.values.tolist(), strict=True)
        ]
        return sum(abs(value - ours[name, at]) - abs(value - theirs[name, at]) for name, at, value in pairs)

    def outputs(counts: Any, spend: float, times: int) -> np.ndarray:
        return np.array([score(run(counts, spend)) for _ in range(times)])

    held, caught = (1500, runs) if part == 2 else (FEWER, max(FEWER, runs // 3))
    assert not audit_epsilon(outputs(one, claimed, held), outputs(other, claimed, held)).refutes(claimed)
    spent = part * claimed
    assert audit_epsilon(outputs(one, spent, caught), outputs(other, spent, caught)).refutes(claimed)


def test_an_exact_number_tells_neighbours_apart_that_do_not_share_it() -> None:
    """What an invariant shows is not protected: the audit sees it, and the event names it."""
    one, other = (CountTable.from_dense(counts, DOMAIN) for counts in ([[2, 0], [1, 1]], [[1, 0], [2, 1]]))
    results = [
        np.array([code(topdown(t, Budget(epsilon=1), invariants=[(1, ())]).to_dense()) for _ in range(500)])
        for t in (one, other)
    ]
    assert audit_epsilon(*results).refutes(1)


@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_unbiased_and_as_exact_as_theory_says(seed: int) -> None:
    """Means and variances of each cell over many areas; the noisy detail by itself is the control."""
    detail, areas = Detail(("sex", "age"), (2, 3)), 200_000
    truth = np.array([[5, 0, 1000, 3, 7, 2**40]])
    scales = {(): 2, ("sex",): 3, ("age",): 4, ("sex", "age"): 5}
    source = ResearchEntropy(seed)
    noisy, variances = {}, {}
    normal = np.zeros((6, 6))
    for query, scale in scales.items():
        answer = detail.answers(truth, query)
        noisy[query] = answer + discrete_laplace(scale).draw((areas, answer.shape[1]), source)
        rate = 1 / scale
        variances[query] = 2 * np.exp(-rate) / (1 - np.exp(-rate)) ** 2
        matrix = np.eye(answer.shape[1])[:, detail.groups(query)]
        normal += matrix.T @ matrix / variances[query]
    whole, fractions = detail.estimate(noisy, variances)
    errors = (whole - truth) + fractions
    stated = np.diag(np.linalg.inv(normal))
    limit = norm.isf(ERROR_PROBABILITY / 12)
    assert (np.abs(errors.mean(axis=0)) < limit * np.sqrt(stated / areas)).all()
    assert (np.abs((errors + 0.2).mean(axis=0)) > limit * np.sqrt(stated / areas)).all()
    # A sum of Laplace noises has a kurtosis below 6, so that the variance of a sample variance is below 5 v**2 / n.
    tolerance = limit * np.sqrt(5 / areas)
    assert (np.abs(errors.var(axis=0) / stated - 1) < tolerance).all()
    control = (noisy["sex", "age"] - truth).var(axis=0)
    assert (control / stated - 1 > tolerance).all()


def test_ties_are_broken_without_favour() -> None:
    """Three empty areas share what noise puts on the root: each is as likely to get an odd unit."""
    area = Hierarchy.from_parents("area", {"all": None, "a": "all", "b": "all", "c": "all"})
    table = CountTable.from_dense(np.full(3, 2), Domain((area,)))
    sums = np.zeros(3)
    squares = 0.0
    for seed in range(RUNS):
        counts = topdown(table, Budget(epsilon=8), entropy=ResearchEntropy(seed)).to_dense().astype(float)
        counts -= counts.mean()
        sums += counts
        squares += float((counts**2).sum())
    # Exchangeable areas: the sums have covariance proportional to I - J/3, estimated from the squares.
    statistic = float((sums**2).sum()) / (squares / 2)
    assert statistic < chi2.isf(ERROR_PROBABILITY, 2)
    assert float(((sums + RUNS / 10 * np.array([1, -1, 0])) ** 2).sum()) / (squares / 2) > chi2.isf(
        ERROR_PROBABILITY, 2
    )
