"""Circuits: bits that reach exactly the allowed numbers, and refusals that show nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect.prio.vdaf.circuits import (
    Circuit,
    Count,
    Histogram,
    MultihotCountVec,
    Sum,
    SumVec,
    best_chunk_length,
    weights_up_to,
)
from sudare.errors import ParameterError


@given(st.integers(1, 70))
def test_bits_reach_exactly_the_numbers_up_to_the_largest(largest: int) -> None:
    weights = weights_up_to(largest)
    sums = {
        sum(w for w, bit in zip(weights, bits, strict=True) if bit) for bits in product((0, 1), repeat=len(weights))
    }
    assert sums == set(range(largest + 1))


@given(st.integers(1, 2**62), st.data())
def test_encoded_numbers_come_back(largest: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(0, largest))
    circuit = Sum(largest)
    bits = circuit.encode([value])
    assert set(bits.ravel().tolist()) <= {0, 1}
    assert circuit.field.integers(circuit.truncate(circuit.field.small(bits))[0]) == [value]


def test_vectors_come_back() -> None:
    vector = SumVec(3, 10)
    assert vector.field.integers(vector.truncate(vector.field.small(vector.encode([[0, 10, 7]])))[0]) == [0, 10, 7]
    multihot = MultihotCountVec(4, 3)
    encoded = multihot.encode([[True, False, True, False]])
    assert encoded.tolist() == [[1, 0, 1, 0, 0, 1]]
    assert multihot.field.integers(multihot.truncate(multihot.field.small(encoded))[0]) == [1, 0, 1, 0]


@given(st.integers(1, 3000))
def test_the_default_chunk_length_is_the_cheapest(length: int) -> None:
    def proof(chunk: int) -> int:
        circuit = Histogram(length, chunk)
        points = 1 << circuit.gadget.calls.bit_length()
        return circuit.gadget.arity + 2 * points - 1

    best = best_chunk_length(length)
    assert 1 <= best <= length
    assert proof(best) <= min(proof(chunk) for chunk in range(1, length + 1, max(1, length // 60)))


@pytest.mark.parametrize(
    ("make", "arguments", "parameter"),
    [
        (Sum, (0,), "max_measurement"),
        (Sum, (2**62 + 1,), "max_measurement"),
        (Sum, (True,), "max_measurement"),
        (SumVec, (0, 1), "length"),
        (SumVec, (3, 1.5), "max_measurement"),
        (Histogram, (-1,), "length"),
        (Histogram, (5, 0), "chunk_length"),
        (Histogram, (5, 6), "chunk_length"),
        (MultihotCountVec, (5, 0), "max_weight"),
        (MultihotCountVec, (5, 6), "max_weight"),
    ],
)
def test_settings_are_checked(make: Callable[..., Circuit], arguments: tuple[Any, ...], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make(*arguments)
    assert caught.value.parameter == parameter


@pytest.mark.parametrize(
    ("circuit", "measurement"),
    [
        (Count(), 77),
        (Count(), -77),
        (Count(), "77"),
        (Count(), 77.0),
        (Sum(10), 77),
        (Sum(76), np.int64(77)),
        (Sum(10), 2**77),
        (Sum(10), None),
        (Sum(77), True),
        (Histogram(77), 77),
        (Histogram(9), [77]),
        (SumVec(2, 9), [7]),
        (SumVec(2, 9), [7, 77]),
        (SumVec(2, 9), [7, [7, 7]]),
        (SumVec(2, 9), 77),
        (MultihotCountVec(3, 1), [True, True, False]),
        (MultihotCountVec(3, 3), [7, 0, 0]),
    ],
)
def test_a_measurement_that_is_refused_is_not_shown(circuit: Circuit, measurement: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        circuit.encode([measurement])
    # The requirement may name the bounds; what was given is not there.
    assert caught.value.parameter == "measurement"
    assert "not shown" in str(caught.value)
    assert "77 instead" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_empty_batches_keep_their_width() -> None:
    for circuit in (SumVec(3, 7), MultihotCountVec(4, 2)):
        assert circuit.encode([]).shape == (0, circuit.measurement_length)
