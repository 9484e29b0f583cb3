"""The compiled field arithmetic against Python's whole numbers, and its transform against the definition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect.prio.vdaf.fields import FIELD64, FIELD128, Field

FIELDS = pytest.mark.parametrize("field", [FIELD64, FIELD128], ids=["64", "128"])
OPERATIONS: list[tuple[str, Callable[[int, int], int]]] = [
    ("add", lambda a, b: a + b),
    ("subtract", lambda a, b: a - b),
    ("multiply", lambda a, b: a * b),
]


def near(field: Field) -> st.SearchStrategy[int]:
    """Numbers of the field, with those at which carries and reductions change more often than by chance."""
    p = field.modulus
    edges = [0, 1, 2, p - 1, p - 2, 2**32 - 1, 2**32, 2**63, p // 2, p - 2**32]
    edges += [2**64 % p, 2**64 - 1 if p > 2**64 else 5, 2**66 % p, 2**127 % p, (p - 2**64) % p]
    return st.one_of(st.sampled_from(edges), st.integers(0, p - 1))


def vectors(field: Field) -> st.SearchStrategy[list[int]]:
    return st.lists(near(field), min_size=1, max_size=9)


@FIELDS
@given(data=st.data())
def test_operations_are_those_of_whole_numbers_modulo_p(field: Field, data: st.DataObject) -> None:
    a = data.draw(vectors(field))
    b = data.draw(st.lists(near(field), min_size=len(a), max_size=len(a)))
    x, y = field.elements(a), field.elements(b)
    for name, plain in OPERATIONS:
        found = field.integers(getattr(field, name)(x, y))
        assert found == [plain(m, n) % field.modulus for m, n in zip(a, b, strict=True)], name
    assert field.integers(field.total(x)[None]) == [sum(a) % field.modulus]
    assert field.integers(field.dot(x, y)[None]) == [sum(m * n for m, n in zip(a, b, strict=True)) % field.modulus]


@FIELDS
def test_every_pair_of_edges(field: Field) -> None:
    p = field.modulus
    edges = sorted({0, 1, 2, p - 1, p - 2, 2**32 - 1, 2**32, 2**63, p - 2**32, 2**64 % p, 2**66 % p, 2**127 % p})
    x = field.elements(edges)
    for name, plain in OPERATIONS:
        table = getattr(field, name)(x[:, None], x[None])
        wanted = [plain(a, b) % p for a in edges for b in edges]
        assert field.integers(table.reshape(-1, field.words)) == wanted, name


@FIELDS
@given(data=st.data())
def test_powers_and_inverses(field: Field, data: st.DataObject) -> None:
    a = data.draw(near(field))
    count = data.draw(st.integers(1, 7))
    powers = field.powers(field.elements([a])[0], count)
    assert field.integers(powers) == [pow(a, i + 1, field.modulus) for i in range(count)]
    some = data.draw(st.lists(near(field).filter(bool), min_size=1, max_size=6))
    inverses = field.integers(field.invert(field.elements(some)))
    assert inverses == [pow(n, -1, field.modulus) for n in some]


@FIELDS
def test_a_vector_with_a_zero_has_no_inverses(field: Field) -> None:
    assert field.integers(field.invert(field.elements([5, 0, 7]))) == [0, 0, 0]


@FIELDS
@given(data=st.data())
def test_the_transform_evaluates_polynomials(field: Field, data: st.DataObject) -> None:
    size = 2 ** data.draw(st.integers(0, 4))
    coefficients = data.draw(st.lists(near(field), min_size=size, max_size=size))
    elements = field.elements(coefficients)
    values = field.evaluate_on_roots(elements)
    root = field.root(size)
    wanted = [
        sum(c * pow(root, j * k, field.modulus) for j, c in enumerate(coefficients)) % field.modulus
        for k in range(size)
    ]
    assert field.integers(values) == wanted
    assert field.integers(field.interpolate_on_roots(values)) == coefficients


@FIELDS
@given(data=st.data())
def test_products_of_polynomials_by_transforms(field: Field, data: st.DataObject) -> None:
    a, b = (data.draw(st.lists(near(field), min_size=1, max_size=8)) for _ in range(2))
    padded = [field.elements(c + [0] * (16 - len(c))) for c in (a, b)]
    product = field.multiply(*(field.evaluate_on_roots(c) for c in padded))
    naive = [0] * 16
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            naive[i + j] += x * y
    assert field.integers(field.interpolate_on_roots(product)) == [n % field.modulus for n in naive]


@FIELDS
def test_roots_have_their_order(field: Field) -> None:
    assert pow(field.root(field.most_roots), field.most_roots // 2, field.modulus) == field.modulus - 1
    roots = field.integers(field.roots(8))
    assert len(set(roots)) == 8
    assert all(pow(root, 8, field.modulus) == 1 for root in roots)


@FIELDS
@given(data=st.data())
def test_bytes_are_little_endian_and_come_back(field: Field, data: st.DataObject) -> None:
    numbers = data.draw(vectors(field))
    octets = field.encode(field.elements(numbers))
    assert octets.tobytes() == b"".join(n.to_bytes(field.size, "little") for n in numbers)
    elements, valid = field.decode(octets)
    assert valid.all()
    assert field.integers(elements) == numbers


@FIELDS
def test_numbers_outside_the_field_are_seen(field: Field) -> None:
    p, most = field.modulus, 2 ** (8 * field.size) - 1
    numbers = [0, p - 1, p, p + 1, most]
    raw = np.frombuffer(b"".join(n.to_bytes(field.size, "little") for n in numbers), dtype=np.uint8)
    elements, valid = field.decode(raw)
    assert valid.tolist() == [True, True, False, False, False]
    assert field.integers(elements) == [0, p - 1, 0, 0, 0]


@FIELDS
def test_small_numbers_and_broadcasting(field: Field) -> None:
    small = field.small(np.arange(6, dtype=np.uint64).reshape(2, 3))
    assert small.shape == (2, 3, field.words)
    doubled = field.add(small, small)
    assert field.integers(doubled.reshape(-1, field.words)) == [0, 2, 4, 6, 8, 10]
    scaled = field.multiply(small, field.elements([10])[0])
    assert field.integers(scaled.reshape(-1, field.words)) == [0, 10, 20, 30, 40, 50]
