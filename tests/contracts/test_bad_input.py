"""Bad input, as a user would hand it to the package: each is refused, before a draw, by an error that names the thing.

Details of each reader are in the unit tests beside it; here is one place for all kinds of mistakes, through the front door.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import pytest

import sudare
from sudare import Budget, CountTable, Domain, Hierarchy, publish
from sudare.errors import GuaranteeError, ParameterError, SudareError
from sudare.refine import lasso, negative_l2, nonnegative_lasso, weight_by_public_data, weight_by_sparsity
from tests.scripted import ScriptedEntropy

EPSILON = Budget(epsilon=1)
FOUR = Domain.of_shape((4,))


@pytest.mark.parametrize("method", ["auto", "wide-tree", "nn-wavelet", "topdown-bisection", "laplace", "privelet"])
@pytest.mark.parametrize(
    "counts",
    [
        np.array([-1, 424242]),
        np.array([0.5, 424242]),
        np.array([np.nan, 424242]),
        np.array([np.inf, 424242]),
        np.array([2**62, 424242]),
        np.array([2**63 + 424242], dtype=np.uint64),
        np.array([1e19, 424242]),
        np.array([True, False]),
        np.array(["424242", "1"]),
        np.array([None, 424242]),
        np.ma.masked_array([424242, 1], mask=[False, True]),
        np.array(424242),
        np.zeros((0,), dtype=int),
        np.zeros((3, 0), dtype=int),
    ],
    ids=str,
)
def test_counts(method: str, counts: Any) -> None:
    """Negative, fractional, not a number, overflowing, of another kind, or none at all; none is shown."""
    source = ScriptedEntropy([])
    with pytest.raises(ParameterError) as caught:
        publish(counts, EPSILON, method, entropy=source)
    assert "424242" not in str(caught.value)
    assert source.read == 0


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: CountTable.from_cells(FOUR, [4], [1]), "'keys' parameter of CountTable.from_cells"),
        (lambda: CountTable.from_cells(FOUR, [-1], [1]), "'keys' parameter of CountTable.from_cells"),
        (lambda: CountTable.from_cells(FOUR, [0, 1], [1]), "'counts' parameter of CountTable.from_cells"),
        (lambda: CountTable.from_cells(FOUR, [0, 0], [2**62, 2**62]), "'counts' parameter of CountTable"),
        (
            lambda: CountTable(FOUR, np.array([3, 1], dtype=np.uint64), np.array([1, 1])),
            "'keys' parameter of CountTable",
        ),
        (lambda: CountTable(FOUR, np.array([1], dtype=np.uint64), np.array([0])), "'keys' parameter of CountTable"),
        (lambda: CountTable.from_dense(np.ones((2, 2), dtype=int), FOUR), "'array' parameter of CountTable.from_dense"),
        (lambda: Domain.of_shape((2**31, 2**31, 2)), "'attributes' parameter of Domain"),
        (lambda: Domain.of_shape((0, 4)), "'length' parameter of Positions"),
        (lambda: Domain.of_shape(()), "'shape' parameter of Domain.of_shape"),
    ],
)
def test_cells_and_domains(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(ParameterError, match=f"The {named}"):
        make()


def test_duplicates_are_merged() -> None:
    """The same cell listed twice is one cell with both counts."""
    table = CountTable.from_cells(FOUR, [2, 1, 2, 3], [5, 0, 6, 7])
    assert table.to_dense().tolist() == [0, 0, 11, 7]
    frame = pandas.DataFrame({"axis 0": [2, 2, 3]})
    assert CountTable.from_frame(frame, FOUR).to_dense().tolist() == [0, 0, 2, 1]


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"r": None, "a": "b", "b": "a"}, "its own ancestor"),
        ((["r", "a", "b", "a"], [None, "r", "r", "b"]), "'a' with two"),
        ({"r": None, "a": "nowhere"}, "'nowhere' is not listed"),
        ({"r": None, "s": None}, "one root"),
        ({}, "at least one"),
    ],
    ids=["cycle", "two parents", "orphan", "two roots", "empty"],
)
def test_hierarchies(parents: Any, message: str) -> None:
    with pytest.raises(
        ParameterError, match=f"The 'codes_and_parents' parameter of Hierarchy.from_parents .*{message}"
    ):
        Hierarchy.from_parents("area", parents)


def test_top_down_without_a_hierarchy() -> None:
    with pytest.raises(ParameterError, match="Hierarchy"):
        publish(np.ones((4, 4), dtype=int), EPSILON, "topdown", entropy=ScriptedEntropy([]))


@pytest.mark.parametrize("code", [0, 99999999, 53398611, -5339, 5339461])
def test_mesh_codes(code: int) -> None:
    with pytest.raises(
        ParameterError, match=f"The 'codes' parameter of mesh_cells must be .* Got {code} at position 1"
    ):
        sudare.domain.mesh_cells([53394611, code], "3")


@pytest.mark.parametrize(
    ("method", "budget", "settings"),
    [
        ("laplace", Budget(rho=0.1), {}),
        ("gaussian", EPSILON, {}),
        ("wide-tree", EPSILON, {"noise": "gaussian"}),
        ("wide-tree", Budget(rho=0.1), {"noise": "laplace"}),
        ("nn-wavelet", EPSILON, {"noise": "gaussian"}),
        ("privelet", Budget(rho=0.1), {"noise": "laplace"}),
        ("auto", EPSILON, {"noise": "gaussian"}),
        ("auto", Budget(rho=0.1), {"noise": "laplace"}),
        ("gaussian", Budget(epsilon=1, delta=1e-6), {"conversion": "gaussian"}),
    ],
    ids=str,
)
def test_guarantees_that_a_mechanism_cannot_give(method: str, budget: Budget, settings: dict[str, Any]) -> None:
    source = ScriptedEntropy([])
    with pytest.raises(SudareError) as caught:
        publish(np.ones((4, 4), dtype=int), budget, method, entropy=source, **settings)
    assert any(word in str(caught.value) for word in ("epsilon", "delta", "rho", "continuous"))
    assert source.read == 0


@pytest.mark.parametrize("budget", [None, 1.0, "1", {"epsilon": 1}, (1, 1e-6)])
def test_what_is_no_budget(budget: Any) -> None:
    with pytest.raises(ParameterError, match="The 'budget' parameter of publish"):
        publish(np.ones(4, dtype=int), budget)


@pytest.mark.parametrize("weight", [-0.1, 1, 2.5, float("nan"), float("inf"), True, "half", " 0.5", None])
def test_the_weight_of_negative_l2(weight: Any) -> None:
    """Lambda: from 0 to below 1, else the objective has no minimum."""
    with pytest.raises(ParameterError, match="The 'weight' parameter of negative_l2"):
        negative_l2([1.0, 2.0], 2, weight)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), True, "one", "-1", None])
def test_the_weight_of_a_lasso(weight: Any) -> None:
    with pytest.raises(ParameterError, match="The 'weight' parameter of lasso"):
        lasso([1.0, 2.0], weight)
    with pytest.raises(ParameterError, match="The 'weight' parameter of nonnegative_lasso"):
        nonnegative_lasso([1.0, 2.0], 3, weight)


def test_candidates_and_shares_out_of_range() -> None:
    wrong: list[Any] = [[1.5], [-1], [], "0.5", [float("nan")]]
    for candidates in wrong:
        with pytest.raises(ParameterError, match="The 'candidates' parameter of weight_by_public_data"):
            weight_by_public_data([1, 2, 3], 1, candidates)
    for share in (-0.1, 1.1, float("nan"), True, None):
        with pytest.raises(ParameterError, match="The 'share_of_non_zeros' parameter of weight_by_sparsity"):
            weight_by_sparsity([1.0, 2.0], 3, share)  # type: ignore[arg-type]


def test_a_private_order() -> None:
    """Cells sorted by their counts: the order itself would be a release."""
    with pytest.raises(GuaranteeError, match="looks at the counts"):
        sudare.domain.layout_named("sorted", (4, 4))
    counts = np.array([[0, 3], [9, 424242]])
    order = np.argsort(-counts.ravel())
    layouts: list[tuple[Any, Any, str]] = [
        (order, ParameterError, "The 'layout' parameter"),
        (order.tolist(), ParameterError, "The 'layout' parameter"),
        ("sorted", GuaranteeError, "looks at the counts"),
    ]
    for layout, error, words in layouts:
        source = ScriptedEntropy([])
        with pytest.raises(error, match=words):
            publish(counts, EPSILON, "nn-wavelet", layout=layout, entropy=source)
        assert source.read == 0


def test_a_layout_that_looks_at_the_data() -> None:
    """A subclass could order the cells by anything; only the package's own layouts are taken."""

    class Peeking(sudare.domain.Layout):
        pass

    honest = sudare.domain.morton_layout((4, 4))
    peeking = Peeking(honest.lengths, honest.axis_of_split)
    with pytest.raises(ParameterError, match="The 'layout' parameter"):
        sudare.tables.nn_wavelet(np.ones((4, 4), dtype=int), EPSILON, layout=peeking)


@pytest.mark.parametrize("entropy", [42, "seed", np.random.default_rng(1), object()])
def test_random_numbers_from_elsewhere(entropy: Any) -> None:
    with pytest.raises(ParameterError, match="The 'entropy' parameter"):
        publish(np.ones(4, dtype=int), EPSILON, entropy=entropy)
