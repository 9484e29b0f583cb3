"""One contract for everything that draws."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sudare import ResearchEntropy
from sudare.errors import ParameterError
from sudare.noise import Sampler, discrete_gaussian, discrete_laplace, geometric
from sudare.noise.sampler import BLOCK_DRAWS
from tests.scripted import ScriptedEntropy

KINDS: list[Callable[[Any], Sampler]] = [discrete_laplace, discrete_gaussian, geometric]
SCALES: list[Any] = [Fraction(1, 1000), Fraction(1, 3), 1, 10.5, 63, 64, 1000, Fraction(10**7, 3), 10**12]
SAMPLERS = [kind(scale) for kind in KINDS for scale in SCALES]
FEW = [kind(scale) for kind in KINDS for scale in (2, 1000)]
NO_SCALES: list[Any] = [
    0, -1, 0.0009, Fraction(999, 10**6), 10**12 + 1, 1.1e12, float("nan"), float("inf"), 5e-324, True, "ten", None, 1j, [1],
]  # fmt: skip


@pytest.mark.parametrize("sampler", SAMPLERS, ids=repr)
class TestSampler:
    def test_one_value_is_a_plain_number(self, sampler: Sampler) -> None:
        assert type(sampler.draw()) is int

    @pytest.mark.parametrize("size", [0, 1, 7, (2, 3), (3, 0, 2), (), [2, 2], np.int64(4), (np.int32(2), 2)])
    def test_shape(self, sampler: Sampler, size: Any) -> None:
        values = sampler.draw(size)
        assert values.shape == np.empty(size).shape
        assert values.dtype == np.int64

    def test_a_seed_repeats_and_another_does_not(self, sampler: Sampler) -> None:
        first, again, other = (sampler.draw(400, ResearchEntropy(seed)) for seed in (1, 1, 2))
        assert np.array_equal(first, again)
        if np.ptp(first) > 0:
            assert not np.array_equal(first, other)

    def test_fill_overwrites_every_place_and_nothing_else(self, sampler: Sampler) -> None:
        everything = np.full(1000, 2**62, dtype=np.int64)
        sampler.fill(everything[100:900])
        assert (everything[:100] == 2**62).all()
        assert (everything[900:] == 2**62).all()
        assert (everything[100:900] != 2**62).all()

    def test_fill_keeps_the_shape(self, sampler: Sampler) -> None:
        out = np.full((3, 4, 5), 2**62, dtype=np.int64)
        sampler.fill(out)
        assert (out != 2**62).all()

    def test_name_is_what_was_typed(self, sampler: Sampler) -> None:
        assert repr(sampler).split("(")[0] in {kind.__name__ for kind in KINDS}

    def test_cannot_be_changed(self, sampler: Sampler) -> None:
        with pytest.raises(AttributeError, match="cannot be changed"):
            sampler.name = "mine"

    def test_survives_pickling(self, sampler: Sampler) -> None:
        twin = pickle.loads(pickle.dumps(sampler))  # noqa: S301
        assert np.array_equal(twin.draw(50, ResearchEntropy(3)), sampler.draw(50, ResearchEntropy(3)))

    def test_one_sided_laws_are_not_negative(self, sampler: Sampler) -> None:
        values = sampler.draw(2000)
        if repr(sampler).startswith("geometric"):
            assert (values >= 0).all()
        elif np.ptp(values) > 2:
            assert (values < 0).any()


@pytest.mark.parametrize("sampler", FEW, ids=repr)
class TestBadInput:
    @pytest.mark.parametrize(
        "size",
        [
            -1,
            1.0,
            True,
            "3",
            2**48 + 1,
            10**30,
            (2**30, 2**30),
            (3, -1),
            [3.0],
            (1,) * 70,
            None.__class__,
            np.array([17, 99]),
        ],
    )
    def test_sizes(self, sampler: Sampler, size: Any) -> None:
        with pytest.raises(ParameterError, match=r"The 'size' parameter of .* must be a whole number from 0") as caught:
            sampler.draw(size)
        assert "17" not in str(caught.value)

    @pytest.mark.parametrize(
        "out",
        [
            np.zeros(4),
            np.zeros(4, dtype=np.int32),
            np.zeros((4, 4), dtype=np.int64).T[:2],
            np.zeros(8, dtype=np.int64)[::2],
            np.zeros(4, dtype=">i8"),
            [1, 2],
            None,
        ],
        ids=["float64", "int32", "transposed", "strided", "big-endian", "list", "None"],
    )
    def test_arrays(self, sampler: Sampler, out: Any) -> None:
        with pytest.raises(
            ParameterError, match=r"The 'out' parameter of .* must be a writable, contiguous NumPy array of int64"
        ):
            sampler.fill(out)

    def test_read_only_arrays(self, sampler: Sampler) -> None:
        out = np.zeros(4, dtype=np.int64)
        out.setflags(write=False)
        with pytest.raises(ParameterError, match="Got a read-only array of int64, contiguous instead"):
            sampler.fill(out)

    @pytest.mark.parametrize("entropy", [42, "secure", np.random.default_rng(), object])
    def test_entropy(self, sampler: Sampler, entropy: Any) -> None:
        with pytest.raises(
            ParameterError, match=r"The 'entropy' parameter of .* A seed goes into ResearchEntropy\(seed\)"
        ):
            sampler.draw(3, entropy)

    @pytest.mark.parametrize("threads", [0, -1, 1.0, True, None, 1025])
    def test_threads(self, sampler: Sampler, threads: Any) -> None:
        with pytest.raises(
            ParameterError, match=r"The 'threads' parameter of .* must be a whole number from 1 to 1024"
        ):
            sampler.draw(3, threads=threads)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("scale", NO_SCALES, ids=repr)
def test_scales_out_of_range_are_refused(kind: Callable[[Any], Sampler], scale: Any) -> None:
    with pytest.raises(ParameterError, match=f"parameter of {kind.__name__} must be"):
        kind(scale)


def test_gaussian_takes_sigma_or_its_square() -> None:
    one, other = discrete_gaussian(3), discrete_gaussian(sigma_squared=9)
    assert np.array_equal(one.draw(100, ResearchEntropy(1)), other.draw(100, ResearchEntropy(1)))
    for arguments in ({}, {"sigma": 1, "sigma_squared": 1}):
        with pytest.raises(ParameterError, match="'sigma' parameter"):
            discrete_gaussian(**arguments)
    for square in (0, -1, 10**24 + 1, 1e-7, float("nan"), True):
        with pytest.raises(ParameterError, match=r"must be a number from 10\*\*-6 to 10\*\*24"):
            discrete_gaussian(sigma_squared=square)


def test_equal_scales_in_other_words_are_one_sampler() -> None:
    assert discrete_laplace(0.5) is discrete_laplace(Fraction(1, 2))


@pytest.mark.parametrize("sampler", [discrete_laplace(3), discrete_gaussian(1000)], ids=repr)
def test_result_of_a_seed_does_not_depend_on_the_number_of_threads(sampler: Sampler) -> None:
    size = 3 * BLOCK_DRAWS + 12345
    one, two, five = (sampler.draw(size, ResearchEntropy(9), threads=threads) for threads in (1, 2, 5))
    assert np.array_equal(one, two)
    assert np.array_equal(one, five)
    blocks = one[: 3 * BLOCK_DRAWS].reshape(3, BLOCK_DRAWS)
    assert not np.array_equal(blocks[0], blocks[1])


def test_one_sampler_in_many_threads() -> None:
    sampler = discrete_gaussian(10**9)
    barrier = threading.Barrier(6)

    def work(_: int) -> np.ndarray:
        barrier.wait()
        return np.concatenate([sampler.draw(300) for _ in range(30)])

    with ThreadPoolExecutor(6) as pool:
        drawn = np.concatenate(list(pool.map(work, range(6))))
    assert np.unique(drawn).size > 0.9999 * drawn.size


def test_an_interrupted_draw_leaves_the_sampler_usable() -> None:
    with pytest.raises(Exception, match="after 3 words"):
        discrete_laplace(5).draw(10, ScriptedEntropy([1, 2, 3]))
    assert discrete_laplace(5).draw(10).size == 10
