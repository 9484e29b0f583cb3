"""Tiles: what is unpacked is what was packed, whatever the size of the map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.domain import CountTable, Domain, SignedTable
from sudare.errors import InputError
from sudare.web.maps.layers import cells_of
from sudare.web.maps.tiles import TILE_SIDE, MapCells, pack_cells, unpack_cells


@st.composite
def maps(draw: st.DrawFn) -> SignedTable:
    shape = draw(st.tuples(st.integers(8, 700), st.integers(8, 700)))
    cells = st.dictionaries(st.integers(0, shape[0] * shape[1] - 1), st.integers(-(10**6), 10**6), max_size=60)
    drawn = draw(cells)
    return SignedTable.from_cells(Domain.of_shape(shape), list(drawn), list(drawn.values()))


def _as_dictionary(cells: MapCells) -> dict[tuple[int, int], int]:
    return {
        (int(row), int(column)): int(value)
        for row, column, value in zip(cells.rows, cells.columns, cells.values, strict=True)
    }


@given(table=maps())
def test_the_browser_gets_the_table(table: SignedTable) -> None:
    cells = cells_of(table, {})
    found = _as_dictionary(unpack_cells(pack_cells(cells), cells.height, cells.width))
    rows, columns = table.domain.places_of(table.keys)
    expected = {(int(r), int(c)): int(v) for r, c, v in zip(rows, columns, table.counts, strict=True)}
    assert found == expected


@given(table=maps(), block=st.sampled_from([2, 4, 8]))
def test_coarser_maps_keep_everybody(table: SignedTable, block: int) -> None:
    cells = cells_of(table, {}, block)
    assert int(cells.values.sum()) == table.total
    assert (cells.height, cells.width) == tuple(-(-length // block) for length in table.domain.shape)
    assert cells.rows.size == 0 or (int(cells.rows.max()) < cells.height and int(cells.columns.max()) < cells.width)


def test_a_map_of_nobody_is_a_map() -> None:
    packed = pack_cells(cells_of(CountTable.from_cells(Domain.of_shape((9, 9)), [], []), {}))
    assert np.frombuffer(packed, dtype="<i4", count=6).tolist() == [1, TILE_SIDE, 1, 1, 0, 0]


def test_sums_that_would_not_fit_are_refused() -> None:
    table = CountTable.from_cells(Domain.of_shape((9, 9)), [1, 2], [2**30, 2**30])
    with pytest.raises(InputError, match="too large"):
        pack_cells(cells_of(table, {}))
