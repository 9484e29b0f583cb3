"""The invented country looks like one, is the same for the same seed, and has exactly the people asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft, ndimage

from sudare.domain import CountTable, Mesh
from sudare.errors import ParameterError
from sudare.examples import invent_country
from sudare.examples.country import _blur, _blur_widely

NATURAL = 3
"""People for each cell of the grid."""


@pytest.fixture(scope="module")
def country() -> CountTable:
    return invent_country(512, people=NATURAL * 512**2)


@pytest.mark.parametrize("side", [64, 128, 256])
@pytest.mark.parametrize("seed", [0, 1, 2020])
@pytest.mark.parametrize("people", [0, 1, 99_991])
def test_has_exactly_the_people_asked_for(side: int, seed: int, people: int) -> None:
    country = invent_country(side, seed, people)
    assert country.total == people
    assert country.domain.shape == (side, side)


def test_same_seed_same_country_other_seed_another(country: CountTable) -> None:
    assert invent_country(512, people=NATURAL * 512**2) == country
    assert invent_country(512, seed=1, people=NATURAL * 512**2) != country


@pytest.mark.parametrize("seed", range(5))
def test_most_of_the_grid_is_empty_and_counts_have_a_heavy_tail(seed: int) -> None:
    country = invent_country(512, seed, NATURAL * 512**2)
    assert 0.04 < country.keys.size / 512**2 < 0.1
    assert (country.counts < 100).mean() > 0.85
    assert 1 <= np.median(country.counts) < 30
    assert 1_000 < country.counts.max() < 30_000
    crowded = np.sort(country.counts)[-country.keys.size // 100 :]
    assert crowded.sum() > 0.15 * country.total  # one cell of a hundred holds a sixth of the people


def test_the_sea_lies_all_around(country: CountTable) -> None:
    dense = country.to_dense()
    margin = 512 // 25
    assert dense[:margin].sum() == dense[-margin:].sum() == dense[:, :margin].sum() == dense[:, -margin:].sum() == 0


def test_cities_follow_a_power_law(country: CountTable) -> None:
    """Blocks of 8 km in order of their size: twice the rank, clearly less than the size, but not a quarter of it."""
    blocks = country.to_dense().reshape(32, 16, 32, 16).sum(axis=(1, 3)).ravel()
    blocks = np.sort(blocks)[::-1]
    assert 0.25 < blocks[15] / blocks[3] < 0.9
    assert 0.1 < blocks[63] / blocks[15] < 0.9


def test_neighbours_are_alike(country: CountTable) -> None:
    shades = np.log1p(country.to_dense())
    assert np.corrcoef(shades[:, 1:].ravel(), shades[:, :-1].ravel())[0, 1] > 0.5
    assert abs(np.corrcoef(shades[:, 100:].ravel(), shades[:, :-100].ravel())[0, 1]) < 0.4


def test_lies_in_the_code_range_of_japan(country: CountTable) -> None:
    (mesh,) = country.domain.attributes
    assert isinstance(mesh, Mesh)
    codes = country.to_columns()["KEY_CODE"]
    assert codes.min() > 300_000_000
    assert codes.max() < 700_000_000
    assert set(np.unique(codes % 10)) == {1, 2, 3, 4}
    assert CountTable.from_frame(country.to_arrow(), country.domain, count="count") == country


@pytest.mark.slow
@pytest.mark.deep
def test_default_country() -> None:
    country = invent_country()
    assert country.total == 12_000_000
    assert 150_000 < country.keys.size < 400_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("side", side) for side in (100, 32, 8192, True, 64.0)),
        *(("seed", seed) for seed in (-1, 1.5)),
        *(("people", people) for people in (-1, 2**41, "many")),
    ],
)
def test_refuses_what_is_out_of_range(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of invent_country"):
        invent_country(**{"side": 64, "people": 100, name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(("side", "radius"), [(64, 0.8), (64, 5.7), (128, 1.6), (512, 22.0), (1024, 51.2)])
def test_fields_are_what_scipy_makes_of_them(side: int, radius: float) -> None:
    """To the last bit: published figures rest on countries that were made with SciPy's filters once."""
    numbers = np.random.default_rng(side).standard_normal((side, side), dtype=np.float32)
    blurred = ndimage.gaussian_filter(numbers, radius, mode="nearest", truncate=3)
    assert np.array_equal(_blur(numbers, radius), blurred)
    block = max(1, min(side // 64, 1 << int(np.log2(max(radius / 3, 1)))))
    small = numbers.reshape(side // block, block, side // block, block).mean(axis=(1, 3), dtype=np.float32)
    small = ndimage.gaussian_filter(small, radius / block, mode="nearest", truncate=3)
    wide = ndimage.zoom(small, block, order=1, grid_mode=True, mode="nearest")
    assert np.array_equal(_blur_widely(numbers, radius), wide)
    waves = numbers[:, : side // 2 + 1] + 1j * numbers[:, side // 2 - 1 :]
    assert np.array_equal(np.fft.irfft2(waves, s=(side, side)), fft.irfft2(waves, s=(side, side)))
