"""The city of the sparse-recovery paper, and its map."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.errors import ParameterError
from sudare_papers import synthetic_city
from sudare_papers.maps import find_data, japan
from sudare_papers.recovery.data import country
from sudare_papers.settings import Settings


@pytest.mark.parametrize("side", [64, 256, 1024])
def test_the_city(side: int) -> None:
    city = synthetic_city(side)
    assert city.shape == (side, side)
    assert city[side // 2, side // 2] == city.max() == 1000
    assert np.mean(city > 0) == pytest.approx(0.0333, rel=0.02)
    assert np.array_equal(city[1:, 1:], city[:0:-1, :0:-1]), "the same in all directions"


def test_sides_that_are_refused() -> None:
    with pytest.raises(ParameterError, match="side"):
        synthetic_city(63)


def test_the_invented_country_is_taken_as_it_is() -> None:
    settings = Settings(is_quick=True)
    assert country(settings) is japan(settings)


def test_suppressed_meshes_are_left_out(tmp_path: Path) -> None:
    """Of three meshes in the window, one is marked as suppressed; a fourth is far away."""
    import pyarrow
    import pyarrow.parquet

    folder = tmp_path / "japan_mesh500m_2020"
    folder.mkdir()
    codes = [533945001, 533945002, 533945003, 362257001]
    columns = {"mesh_code": codes, "population": [7, 5, 20, 9], "secrecy_flag": [0, 2, 1, 0]}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "pop.parquet")
    table = country(Settings(data=str(tmp_path), is_quick=True))
    assert table.domain.shape == (1024, 1024)
    assert sorted(table.counts.tolist()) == [7, 20]


@pytest.mark.slow
def test_the_share_that_the_paper_prints() -> None:
    """2.10 % of 4096 x 4096 meshes are inhabited, where the census is at hand."""
    data = find_data(None)
    if data is None:
        pytest.skip("the census is not at hand")
    table = country(Settings(data=data))
    assert table.domain.shape == (4096, 4096)
    assert 100 * len(table.keys) / table.domain.cells == pytest.approx(2.10, abs=0.01)
