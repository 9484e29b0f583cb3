"""Invented municipalities: every inhabitant lives in one, and none of them is a Japanese one."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.domain import mesh_cells
from sudare.errors import ParameterError
from sudare.examples import invent_country, invent_municipalities


def test_every_inhabited_mesh_has_one_municipality() -> None:
    country = invent_country(128, people=50_000)
    listed = invent_municipalities(country)
    meshes = listed.column("基準メッシュコード").to_numpy()
    assert np.unique(meshes).size == meshes.size
    halves = country.domain.columns_of(country.keys)["KEY_CODE"]
    assert set(np.asarray(halves) // 10) <= set(meshes.tolist())


def test_codes_are_of_no_prefecture_of_japan() -> None:
    listed = invent_municipalities(invent_country(128, people=50_000))
    codes = listed.column("都道府県市区町村コード").to_numpy()
    assert set(codes // 1000) <= set(range(91, 96))
    assert np.unique(codes // 1000).size > 1
    names = set(zip(codes.tolist(), listed.column("市区町村名").to_pylist(), strict=True))
    assert len(names) == np.unique(codes).size


def test_a_municipality_lies_together() -> None:
    listed = invent_municipalities(invent_country(128, people=50_000))
    codes = listed.column("都道府県市区町村コード").to_numpy()
    rows, columns = mesh_cells(listed.column("基準メッシュコード").to_numpy(), "3")
    whole = np.ptp(rows) * np.ptp(columns)
    spans = [np.ptp(rows[codes == code]) * np.ptp(columns[codes == code]) for code in np.unique(codes)]
    assert np.median(spans) < whole / 4


def test_what_is_no_country_is_refused() -> None:
    with pytest.raises(ParameterError, match="country"):
        invent_municipalities(3)  # type: ignore[arg-type]
