"""Aggregators: batches and merged parts give what all reports at once give; foreign reports are refused whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare import ParameterError
from sudare.collect import (
    Aggregator,
    BoundedNoise,
    Grid,
    KaryResponse,
    LocalHashing,
    MatrixResponse,
    Retention,
    UnaryResponse,
)
from sudare.noise import ResearchEntropy

RANDOMIZERS: list[Any] = [
    KaryResponse(range(5), 1),
    Retention(range(5), 0.5),
    MatrixResponse(range(2), [[0.8, 0.2], [0.3, 0.7]]),
    UnaryResponse(range(5), 1),
    LocalHashing(range(5), 1),
    BoundedNoise(Grid(0, 4, 1), 2),
]


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda each: each.kind)
def test_batches_and_parts(randomizer: Any) -> None:
    values = np.arange(300) % (2 if randomizer.kind == "matrix-response" else 5)
    reports = randomizer.randomize(values, ResearchEntropy(1))
    whole = randomizer.estimate(reports)
    one, other = Aggregator(randomizer), Aggregator(randomizer)
    one.add(reports[:100])
    other.add(reports[100:150])
    one.merge(other)
    found = one.estimate(reports[150:])
    assert (one.people, other.people) == (300, 50)
    np.testing.assert_allclose(found.unbiased, whole.unbiased)
    np.testing.assert_allclose(found.variances, whole.variances)
    np.testing.assert_allclose(found.constrained, whole.constrained)


def test_what_is_refused() -> None:
    question = KaryResponse(("yes", "no"), 1)
    collected = Aggregator(question)
    with pytest.raises(ParameterError, match="no reports"):
        collected.estimate()
    with pytest.raises(ParameterError):
        collected.add(["yes", "perhaps"])
    assert collected.people == 0
    for other in (Aggregator(KaryResponse(("yes", "no"), 2)), collected, "another"):
        with pytest.raises(ParameterError, match="same randomizer"):
            collected.merge(other)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="a Randomizer"):
        Aggregator("randomizer")  # type: ignore[arg-type]
