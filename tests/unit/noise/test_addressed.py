"""Noise that has an address is the same wherever and whenever it is drawn, and is what the samplers make of the node's words."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from sudare.errors import EntropyError, ParameterError
from sudare.noise import discrete_gaussian, discrete_laplace
from sudare.noise.addressed import CHUNK_NODES, NoiseKey
from sudare.noise.sampler import Sampler
from tests.scripted import ScriptedEntropy

SAMPLERS = [
    discrete_laplace(Fraction(1, 3)),
    discrete_laplace(20),
    discrete_laplace(10**6),
    discrete_gaussian(5),
    discrete_gaussian(sigma_squared=2**50),
]
NODES = st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=40)


def naive_words(material: bytes, node: int, count: int) -> list[int]:
    """The words of a node, one block of the cipher at a time."""
    words = []
    for block in range(-(-count // 2)):
        encryptor = Cipher(algorithms.AES(material), modes.ECB()).encryptor()  # noqa: S305
        bits = encryptor.update(node.to_bytes(8, "little") + block.to_bytes(8, "little")) + encryptor.finalize()
        words += [int.from_bytes(bits[:8], "little"), int.from_bytes(bits[8:], "little")]
    return words[:count]


def naive_child(material: bytes, label: str, number: int) -> bytes:
    context = bytes([len(label)]) + label.encode() + number.to_bytes(8, "big")
    return HKDFExpand(algorithm=SHA256(), length=32, info=context).derive(material)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_a_value_is_what_the_sampler_makes_of_the_words_of_the_node(sampler: Sampler) -> None:
    key = NoiseKey.for_research(1).child("tick", 3).child("level", 2)
    root = NoiseKey.for_research(1).material()
    material = naive_child(naive_child(root, "tick", 3), "level", 2)
    assert key.material() == material
    nodes = [0, 1, 2, 77, 2**40, 2**63 - 1, *range(1000, 1300)]
    drawn = key.draw(sampler, np.array(nodes))
    expected = [sampler.draw(None, ScriptedEntropy(naive_words(material, node, 40))) for node in nodes]
    assert drawn.tolist() == expected


@given(nodes=NODES, data=st.data())
@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_neither_order_nor_parts_change_anything(sampler: Sampler, nodes: list[int], data: Any) -> None:
    key = NoiseKey.for_research(2)
    whole = dict(zip(nodes, key.draw(sampler, np.array(nodes)).tolist(), strict=True))
    order = data.draw(st.permutations(nodes))
    cut = data.draw(st.integers(0, len(nodes)))
    parts = [np.array(part, dtype=np.int64) for part in (order[:cut], order[cut:])]
    again = np.concatenate([NoiseKey(key.material(), "research").draw(sampler, part) for part in parts]).tolist()
    assert again == [whole[node] for node in order]


def test_long_arrays_are_cut_without_trace() -> None:
    key, sampler = NoiseKey.for_research(3), discrete_gaussian(sigma_squared=2**30)
    nodes = np.arange(2 * CHUNK_NODES + 17)
    assert np.array_equal(key.draw(sampler, nodes)[::5], key.draw(sampler, nodes[::5]))


class _Chosen(NoiseKey):
    """A key whose first words are chosen by an adversary; the words that follow are those of a node."""

    first: tuple[int, int]

    def blocks(self, nodes: Any, block: int) -> Any:
        words = super().blocks(nodes, block)
        if block == 0:
            words[:] = self.first
        return words


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
def test_words_that_do_not_decide_are_settled_by_the_words_that_follow(sampler: Any) -> None:
    key = _Chosen(bytes(range(32)), "research")
    for threshold in sampler.table.thresholds[1:4]:
        key.first = (int(threshold), 12345)
        following = naive_words(key.material(), 9, 60)[2 if sampler.words_per_trial == 2 else 0 :]
        if sampler.words_per_trial == 1:
            following = [12345, *naive_words(key.material(), 9, 60)[2:]]
        assert sampler.try_each(key.blocks(np.array([9], dtype=np.uint64), 0))[2].all()
        script = ScriptedEntropy([*key.first[: sampler.words_per_trial], *following])
        first = script.words(sampler.words_per_trial)
        expected = sampler._settle(first, script)
        if expected is None:
            expected = sampler.draw(None, script)
        assert key.draw(sampler, np.array([9])).tolist() == [expected]


def test_keys_of_different_places_differ() -> None:
    root = NoiseKey.fresh()
    labels = [("tick", 1), ("tick", 2), ("level", 1), ("t", 1), ("tick", 2**64 - 1), ("tick", 0)]
    keys = [root.child(*label).material() for label in labels] + [root.material()]
    assert len(set(keys)) == len(keys)
    assert root.child("tick", 1).child("level", 2).material() != root.child("level", 2).child("tick", 1).material()
    assert NoiseKey.fresh().material() != root.material()


def test_a_key_says_where_it_comes_from() -> None:
    assert NoiseKey.fresh().child("tick", 1).origin == "secure"
    assert NoiseKey.for_research(0).child("tick", 1).origin == "research"
    assert NoiseKey.for_research(5).material() == NoiseKey.for_research(5).material()


def test_a_key_is_neither_shown_nor_pickled() -> None:
    key = NoiseKey.fresh()
    assert key.material().hex() not in repr(key)
    with pytest.raises(EntropyError, match="not pickled"):
        pickle.dumps(key)


def test_a_destroyed_key_draws_nothing() -> None:
    key = NoiseKey.fresh()
    key.draw(SAMPLERS[1], np.arange(3))
    held = key._material
    key.destroy()
    key.destroy()
    assert held == bytearray(32)
    for use in (key.material, lambda: key.child("tick", 1), lambda: key.draw(SAMPLERS[1], np.arange(3))):
        with pytest.raises(EntropyError, match="destroyed"):
            use()


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: NoiseKey(b"short"), "material"),
        (lambda: NoiseKey(bytes(32), "other"), "origin"),  # type: ignore[arg-type]
        (lambda: NoiseKey.for_research(-1), "seed"),
        (lambda: NoiseKey.fresh().child("", 1), "label"),
        (lambda: NoiseKey.fresh().child("時刻", 1), "label"),
        (lambda: NoiseKey.fresh().child("tick", -1), "number"),
        (lambda: NoiseKey.fresh().child("tick", 2**64), "number"),
        (lambda: NoiseKey.fresh().draw(3, np.arange(3)), "sampler"),  # type: ignore[arg-type]
        (lambda: NoiseKey.fresh().draw(SAMPLERS[1], np.array([-1])), "nodes"),
        (lambda: NoiseKey.fresh().draw(SAMPLERS[1], np.array([0.5])), "nodes"),
        (lambda: NoiseKey.fresh().draw(SAMPLERS[1], np.zeros((2, 2), dtype=np.int64)), "nodes"),
    ],
)
def test_wrong_arguments_are_named(call: Any, named: str) -> None:
    with pytest.raises(ParameterError, match=f"'{named}'"):
        call()


def test_no_nodes_have_no_noise() -> None:
    assert NoiseKey.fresh().draw(SAMPLERS[1], np.array([], dtype=np.int64)).size == 0
