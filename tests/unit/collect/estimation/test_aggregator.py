"""Aggregators: batches and merged parts give what all reports at once give; foreign reports are refused whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sudare.collect import (
    Aggregator,
    BoundedNoise,
    Grid,
    KaryResponse,
    LocalHashing,
    MatrixResponse,
    OneBit,
    Piecewise,
    Rappor,
    Retention,
    UnaryResponse,
    UnboundedNoise,
)
from sudare.errors import ParameterError
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


GRID = Grid(0, 10, 1)
NUMBERS: list[Any] = [
    BoundedNoise(GRID, 5),
    UnboundedNoise(GRID, 5),
    UnboundedNoise(GRID, 5, "normal"),
    OneBit(GRID, 1),
    Piecewise(GRID, 1),
]


@pytest.mark.parametrize("randomizer", NUMBERS, ids=lambda each: each.kind)
def test_numbers_have_means_and_one_odd_report_spoils_nothing(randomizer: Any) -> None:
    reports = randomizer.randomize(np.arange(1100) % 11)
    collected = Aggregator(randomizer)
    collected.add(reports[:400])
    odd = reports[400:].astype(np.float64)
    odd[7] = np.nan
    for wrong in (odd, reports[None, 400:], ["secret"]):
        with pytest.raises(ParameterError, match="reports") as raised:
            collected.add(wrong)
        assert "secret" not in str(raised.value)
    assert collected.people == 400, "none of a batch that is refused is taken"
    found, whole = collected.estimate_mean(reports[400:]), randomizer.estimate_mean(reports)
    assert (found.mean, found.standard_error) == (whole.mean, whole.standard_error)


def test_texts_are_collected_and_looked_for_by_candidates() -> None:
    browsers = Rappor(16, 2, 4, 0.5, 0.5, 0.75)
    reports, names = browsers.randomize(["a", "b"] * 500), ("a", "b", "c")
    collected = Aggregator(browsers)
    collected.add(reports[:300])
    with pytest.raises(ParameterError, match="another randomizer"):
        collected.add(Rappor(32, 2, 4, 0.5, 0.5, 0.75).randomize(["a"]))
    found = collected.estimate(reports[300:], candidates=names)
    np.testing.assert_array_equal(found.unbiased, browsers.estimate(reports, names).unbiased)
    with pytest.raises(ParameterError, match="a randomizer of numbers"):
        collected.estimate_mean()


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
