"""The maps of the experiments: the census where it is, else the invented country, and no doubt about which."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sudare import CountTable
from sudare.errors import InputError
from sudare_papers.maps import (
    crowded_window,
    data_fingerprint,
    data_in_words,
    find_data,
    japan,
    japan_window,
    tokyo,
)
from sudare_papers.settings import Settings

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data"))
needs_census = pytest.mark.skipif(not (DATA / "japan_mesh500m_2020").exists(), reason="the census is not here")
QUICK = Settings(is_quick=True)


def test_a_folder_without_a_census(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="invented country"):
        find_data(tmp_path)
    monkeypatch.delenv("SUDARE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert find_data(None) is None
    monkeypatch.setenv("SUDARE_DATA", str(tmp_path))
    assert find_data(None) is None


def test_where_the_census_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    census = tmp_path / "shared" / "data" / "japan_mesh500m_2020"
    census.mkdir(parents=True)
    (census / "pop.parquet").write_bytes(b"")
    assert find_data(census) == find_data(census.parent) == str(census.parent)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.delenv("SUDARE_DATA", raising=False)
    assert find_data(None) == "../shared/data"
    monkeypatch.setenv("SUDARE_DATA", str(census.parent))
    assert find_data(None) == str(census.parent)


def test_the_invented_country_says_so() -> None:
    assert "INVENTED" in data_in_words(QUICK).english
    assert "架空" in data_in_words(QUICK).japanese
    assert data_fingerprint(QUICK) == "invented country"
    assert japan(QUICK).domain.shape == (1024, 1024)
    city = tokyo(QUICK)
    assert city.domain.shape == (256, 256)
    assert city.total > japan(QUICK).total / 8, "the window is a sixteenth of the country, and the fullest one"
    with pytest.raises(InputError, match="no census"):
        japan_window(QUICK, 0, 0, 8)


def test_the_fullest_window() -> None:
    dense = np.zeros((64, 64), dtype=np.int64)
    dense[20:24, 41:45] = 9
    dense[0, 0] = 100
    window = crowded_window(CountTable.from_dense(dense), 16)
    assert window.domain.shape == (16, 16)
    assert window.total == 16 * 9


@needs_census
def test_the_census() -> None:
    real = Settings(data=str(DATA), is_quick=True)
    assert "2020" in data_in_words(real).english
    assert japan(real).domain.shape == (4096, 4096)
    assert japan(real).total > 124_000_000
    assert tokyo(real).domain.shape == (256, 256)
    assert tokyo(real).total > 30_000_000
    assert len(data_fingerprint(real)) == 64
