"""Keys of a public range that is too long to list."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import Budget, ReleaseEvent, ResearchEntropy, Unit
from sudare.errors import ParameterError
from sudare.sql.measures.sparse import publish_sparse, threshold_for_few


def test_many_are_found_and_few_that_nobody_has() -> None:
    keys = np.arange(0, 10**12, 10**9, dtype=np.int64)
    published = publish_sparse(keys, np.full(keys.size, 10_000), 10**12, 3, 1, expected=5, entropy=ResearchEntropy(1))
    assert set(keys.tolist()) <= set(published.keys.tolist())
    assert keys.size < published.keys.size < keys.size + 20
    assert (np.diff(published.keys) > 0).all()
    assert published.counts.min() >= threshold_for_few(10**12, 3, 1, 5)


@pytest.mark.parametrize(("adjacency", "scale"), [("add-remove", 6), ("replace", 12)])
def test_noise_covers_what_one_unit_changes(adjacency: Any, scale: int) -> None:
    unit = Unit("customer", adjacency=adjacency)
    published = publish_sparse(np.array([3]), np.array([900]), 10**6, 3, 0.5, threshold=200, unit=unit)
    assert published.measurements[0].scale == scale
    ReleaseEvent("sparse", unit, Budget(epsilon=0.5), published.measurements, "secure")


def test_as_many_as_expected() -> None:
    """Nobody is there at all: a thousand draws of a range with one expected key."""
    none = np.array([], dtype=np.int64)
    source = ResearchEntropy(2)
    sizes = [
        publish_sparse(none, none, 10**9, 1, Fraction(1, 10), expected=1, entropy=source).keys.size for _ in range(500)
    ]
    assert 0.7 < np.mean(sizes) < 1.2


@pytest.mark.parametrize("change", [{"domain_size": 0}, {"expected": 0}, {"rows": 0}, {"epsilon": 0}], ids=str)
def test_arguments_are_what_they_should_be(change: dict[str, Any]) -> None:
    values = {"domain_size": 10, "rows": 1, "epsilon": 1, "expected": 1} | change
    with pytest.raises(ParameterError, match=f"The '{next(iter(change))}' parameter"):
        threshold_for_few(**values)


def test_a_unit_is_a_unit() -> None:
    with pytest.raises(ParameterError, match="'unit' parameter of publish_sparse"):
        publish_sparse(np.array([1]), np.array([1]), 10, 1, 1, unit="person")  # type: ignore[arg-type]
