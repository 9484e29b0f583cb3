"""Recovery under a total: revealed noise against exact probabilities, sparse against dense, bias by position, audits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from sudare import Budget, CountTable, Domain, ResearchEntropy, Unit
from sudare.attacks import audit_epsilon
from sudare.noise.entropy import secure_entropy
from sudare.privacy import GaussianMeasurement, LaplaceMeasurement
from sudare.tables.recovery import lasso, law_of, lm, negative_l2, recovering, simplex
from sudare.tables.recovery.revealing import NoisyCells
from tests.statistical.goodness import ERROR_PROBABILITY, chi_square_rejects

pytestmark = pytest.mark.slow

CELLS = 1_500_000
MEASUREMENTS: dict[str, Any] = {
    "laplace": LaplaceMeasurement(Fraction(4), 1, 1, 1),
    "gaussian": GaussianMeasurement(Fraction(30), 1, 1, 1),
}


def probabilities(measurement: Any, lowest: int, highest: int, stretch: float = 1.0) -> np.ndarray:
    """Of the values from one to another, and of all others at the end, by the definition."""
    law = law_of(measurement)
    x = np.arange(-300, 301)
    weights = np.exp(-np.array([float(law.energy(int(k))) for k in x]) / stretch)
    weights /= weights.sum()
    inside = weights[(x >= lowest) & (x <= highest)]
    return np.append(inside, 1 - inside.sum())


@pytest.mark.parametrize("name", MEASUREMENTS)
@pytest.mark.parametrize("levels", [(6,), (14, 9, 6)], ids=str)
def test_revealed_noise_has_its_law_in_every_band(name: str, levels: tuple[int, ...]) -> None:
    """Whether revealed at once or level by level; every seventh cell has people, whose ranks must be jumped over."""
    measurement = MEASUREMENTS[name]
    keys = np.arange(0, CELLS, 7, dtype=np.uint64)
    table = CountTable.from_cells(Domain.of_shape((CELLS,)), keys, np.full(keys.size, 10**6))
    drawn = NoisyCells.draw(table, measurement, secure_entropy(), 1, max_visited=0)
    for level in levels:
        drawn = drawn.lowered(level)
    is_empty = drawn.values < 5 * 10**5
    assert not np.isin(drawn.keys[is_empty], keys).any()
    assert np.unique(drawn.keys).size == drawn.keys.size
    values, empty = drawn.values[is_empty], CELLS - keys.size
    assert values.min() >= 6
    seen = np.bincount(np.minimum(values, 26), minlength=27)[6:26].astype(float)
    seen = np.append(seen, empty - seen.sum())
    assert not chi_square_rejects(seen, probabilities(measurement, 6, 25))
    assert chi_square_rejects(seen, probabilities(measurement, 6, 25, 1.03))
    by_place = np.histogram(drawn.keys[is_empty].astype(float), 50, (0, CELLS))[0].astype(float)
    assert not chi_square_rejects(by_place, np.full(50, 1 / 50))


def outcomes(mechanism: Any, counts: np.ndarray, runs: int, **arguments: Any) -> np.ndarray:
    """What is looked at of a published table: people in the first part, and how many cells are not empty."""
    found = []
    for _ in range(runs):
        dense = mechanism(counts, Budget(epsilon=0.5), **arguments).to_dense()
        found.append(100 * min(int(dense[:6].sum()) // 4, 20) + int((dense > 0).sum()))
    return np.array(found)


def differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Two samples, by a chi-square test over their common outcomes; rare ones count as one."""
    values, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    table = np.array([np.bincount(places[: one.size], minlength=values.size), np.zeros(values.size)])
    table[1] = np.bincount(places[one.size :], minlength=values.size)
    is_rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~is_rare], table[:, is_rare].sum(axis=1)])
    return bool(chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue < ERROR_PROBABILITY)


@pytest.mark.parametrize(
    "mechanism",
    [negative_l2, *(pytest.param(other, marks=pytest.mark.deep) for other in (simplex, lasso))],
    ids=lambda m: m.__name__,
)
def test_sparse_is_dense(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same small table, with noise on every cell and revealed from the top: the same distribution of tables."""
    counts = np.zeros(60, dtype=np.int64)
    counts[[3, 5, 20, 41]] = 30, 12, 25, 4
    arguments: Any = {"weight": 9} if mechanism is lasso else {}
    dense = outcomes(mechanism, counts, 900, public_total=True, **arguments)
    monkeypatch.setattr(recovering, "MAX_VISITED", 0)
    sparse = outcomes(mechanism, counts, 900, public_total=True, **arguments)
    assert not differ(dense, sparse)
    assert differ(dense, outcomes(mechanism, np.roll(counts, 1), 900, public_total=True, **arguments))


def test_no_bias_by_position() -> None:
    """All cells alike: fractional parts tie, and the first cells get no more of them than the last."""
    counts, runs = np.full(400, 30), 600
    for arguments in ({"weight": 0}, {"weight": 0.1}):
        sums = np.zeros(400)
        for seed in range(runs):
            sums += negative_l2(
                counts, Budget(epsilon=1), public_total=True, entropy=ResearchEntropy(seed), **arguments
            ).to_dense()
        errors = sums / runs - 30
        deviation = np.std(errors)
        assert abs(errors[:200].mean() - errors[200:].mean()) < 5 * deviation * np.sqrt(2 / 200)
        assert abs(np.polyfit(np.linspace(-1, 1, 400), errors, 1)[0]) < 5 * deviation * np.sqrt(3 / 400)
    biased = errors + np.linspace(1, -1, 400) * 0.5
    assert abs(np.polyfit(np.linspace(-1, 1, 400), biased, 1)[0]) >= 5 * deviation * np.sqrt(3 / 400)


MECHANISMS: dict[str, Any] = {
    "negative_l2": (negative_l2, {"weight": 0.2}),
    "negative_l2, sparsity": (negative_l2, {}),
    "simplex": (simplex, {}),
    "lasso": (lasso, {"weight": 1}),
    "lm": (lm, {}),
}


def views(mechanism: Any, counts: list[int], spend: float, runs: int, **arguments: Any) -> np.ndarray:
    """The published table as one number."""
    seen = []
    for _ in range(runs):
        dense = np.minimum(mechanism(np.array(counts), Budget(epsilon=spend), **arguments).to_dense(), 30)
        seen.append(int(dense @ 31 ** np.arange(dense.size)))
    return np.array(seen)


SOME = {("negative_l2, sparsity", False), ("simplex", True)}


@pytest.mark.parametrize(
    ("name", "is_public"),
    [
        pytest.param(name, is_public, marks=() if (name, is_public) in SOME else pytest.mark.deep)
        for name in MECHANISMS
        for is_public in (False, True)
    ],
)
def test_audit(name: str, is_public: bool) -> None:
    """Of the published table. The broken twin has a third of the noise, that of three times the budget."""
    mechanism, arguments = MECHANISMS[name]
    one, other = ([3, 1], [2, 2]) if is_public else ([2, 0], [3, 0])
    arguments = {**arguments, "public_total": is_public}
    if not is_public:
        arguments["total_share"] = 0.5
    claimed, runs = 1.2, 1000
    pair = [views(mechanism, counts, claimed, runs, **arguments) for counts in (one, other)]
    assert not audit_epsilon(*pair).refutes(claimed)
    broken = [views(mechanism, counts, 4 * claimed, runs, **arguments) for counts in (one, other)]
    assert audit_epsilon(*broken).refutes(claimed)


def test_audit_catches_an_exact_total_where_people_come_and_go() -> None:
    """The twin takes the exact total, and promises to hide whether somebody is there at all."""
    pair = [views(simplex, counts, 1, 400, public_total=True) for counts in ([2, 1, 0], [3, 1, 0])]
    assert audit_epsilon(*pair).refutes(1)


def test_audit_catches_a_weight_chosen_on_the_protected_table() -> None:
    """The twin takes the true share of non-empty cells, and publishes the weight that follows."""

    def twin(counts: list[int]) -> np.ndarray:
        table = np.array(counts)
        weight = Fraction(int((table > 0).sum()), 10)
        settled = [negative_l2(table, Budget(epsilon=1), weight=weight).settled or {} for _ in range(300)]
        return np.array([round(1000 * each["weight"]) for each in settled])

    assert audit_epsilon(twin([40, 9, 0]), twin([40, 9, 1])).refutes(1)


def test_audit_catches_a_release_that_forgets_the_empty_cells() -> None:
    """The twin recovers from noise on inhabited cells only: who is alone in a cell shows."""

    def twin(counts: list[int]) -> np.ndarray:
        table = CountTable.from_dense(np.array(counts))
        seen = []
        for _ in range(600):
            measurement = LaplaceMeasurement(Fraction(1), 1, 1, 1)
            drawn = NoisyCells.draw(table, measurement, secure_entropy(), 1, max_visited=0)
            seen.append(int((drawn.keys == 2).any()))
        return np.array(seen)

    assert audit_epsilon(twin([40, 9, 0]), twin([40, 9, 1])).refutes(1)


@pytest.mark.deep
def test_unit_of_several_cells() -> None:
    """One household in three cells, add-remove, noisy total: the view of the sum of the cells; the twin counts one cell."""
    unit = Unit("household", cells=3)

    def seen(counts: list[int], protected: Unit | None) -> np.ndarray:
        tables = [
            simplex(np.array(counts), Budget(epsilon=1.5), unit=protected, total_share=0.5).to_dense()
            for _ in range(1500)
        ]
        return np.array([min(int(table.sum()), 80) for table in tables])

    pairs = [[seen(counts, given) for counts in ([5, 5, 5], [6, 6, 6])] for given in (unit, None)]
    assert not audit_epsilon(*pairs[0]).refutes(1.5)
    assert audit_epsilon(*pairs[1]).refutes(1.5)
