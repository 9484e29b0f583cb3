"""The maps that experiments look at: the census of 2020 where it is at hand, else an invented country.

The papers used the census of 2010 (and one of them that of 2020). Windows of the census are given by the row and column of their
south-western mesh of 500 m, counted as `Mesh` does.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable, Domain, Mesh, mesh_cells
from sudare.errors import InputError
from sudare.examples import invent_country
from sudare_papers.settings import Settings

__all__ = ["crowded_window", "data_fingerprint", "data_in_words", "find_data", "japan", "japan_window", "tokyo"]

CENSUS = Path("japan_mesh500m_2020") / "pop.parquet"
JAPAN = (6814, 3670, 4096)
TOKYO = (8307, 6063, 512)
"""First row, first column and side, in meshes of 500 m."""

COUNTRY_SIDE, QUICK_SIDE = 4096, 1024
PEOPLE_PER_CELL = 3


def find_data(given: str | Path | None) -> str | None:
    """The folder with the census: the one that was given, else that of SUDARE_DATA, else ``../shared/data``.

    Args:
        given: a folder with data sets, or that of the census itself; None to look for one.

    Returns:
        The folder; None if there is no census, so that the invented country is to be used.

    Raises:
        InputError: if a folder was given that has no census.
    """
    if given is not None:
        folder = Path(given)
        for place in (folder, folder.parent):
            if (place / CENSUS).is_file():
                return str(place)
        raise InputError(
            f"There is no '{CENSUS}' in '{folder}'. Give the folder with the data sets, or leave --data out: "
            "without "
            "the census an invented country is used.",
            f"「{folder}」に「{CENSUS}」がありません。データセットのフォルダを指定するか、--data "
            "を省いてください（その場合、"
            "国勢調査がなければ架空の国を使います）。",
        )
    for known in (os.environ.get("SUDARE_DATA"), "../shared/data"):
        if known and (Path(known) / CENSUS).is_file():
            return str(Path(known))
    return None


def data_in_words(settings: Settings) -> Words:
    """Which data a run looks at, for every output to say."""
    if settings.data is None:
        return Words(
            "an INVENTED country (the census was not at hand), so figures on maps can be compared with the "
            "paper's in kind only",
            "架空の国（国勢調査のデータがないため）。地図に関する数値は、論文の数値と傾向のみ比べられます",
        )
    return Words(
        "the census of 2020, meshes of 500 m (e-Stat)",
        "2020年国勢調査 500 m メッシュ（出典：政府統計の総合窓口 e-Stat）",
    )


def data_fingerprint(settings: Settings) -> str:
    """What tells these data from any others."""
    if settings.data is None:
        return "invented country"
    return hashlib.sha256((Path(settings.data) / CENSUS).read_bytes()).hexdigest()


@lru_cache(maxsize=2)
def japan(settings: Settings) -> CountTable:
    """The whole country: 4096 x 4096 meshes; a quick run on the invented country has 1024 x 1024."""
    if settings.data is not None:
        return _census(settings.data, *JAPAN)
    side = QUICK_SIDE if settings.is_quick else COUNTRY_SIDE
    return invent_country(side, people=PEOPLE_PER_CELL * side**2)


def japan_window(settings: Settings, first_row: int, first_column: int, side: int) -> CountTable:
    """A window of the census, by the row and column of its south-western mesh; only where there is a census."""
    if settings.data is None:
        raise InputError("There is no census to cut a window from.", "切り出す国勢調査のデータがありません。")
    return _census(settings.data, first_row, first_column, side)


@lru_cache(maxsize=2)
def tokyo(settings: Settings) -> CountTable:
    """512 x 512 meshes around Tokyo, or around the largest city of the invented country; 256 x 256 in a quick run."""
    side = 256 if settings.is_quick else TOKYO[2]
    if settings.data is None:
        return crowded_window(japan(settings), side)
    margin = (TOKYO[2] - side) // 2
    return _census(settings.data, TOKYO[0] + margin, TOKYO[1] + margin, side)


def crowded_window(table: CountTable, side: int) -> CountTable:
    """The window with the most people, among those that begin at multiples of an eighth of the side."""
    dense = table.to_dense()
    step = side // 8
    blocks = dense.reshape(dense.shape[0] // step, step, dense.shape[1] // step, step).sum(axis=(1, 3))
    sums = np.lib.stride_tricks.sliding_window_view(blocks, (8, 8)).sum(axis=(2, 3))
    row, column = np.unravel_index(int(sums.argmax()), sums.shape)
    corner = int(row) * step, int(column) * step
    return CountTable.from_dense(dense[corner[0] : corner[0] + side, corner[1] : corner[1] + side])


@lru_cache(maxsize=16)
def _census(folder: str, first_row: int, first_column: int, side: int) -> CountTable:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(Path(folder) / CENSUS, columns=["mesh_code", "population"])
    mesh = Mesh("KEY_CODE", "1/2", first_row=first_row, first_column=first_column, rows=side, columns=side)
    rows, columns = mesh_cells(table["mesh_code"].to_numpy(), mesh.level)
    rows, columns = rows - first_row, columns - first_column
    inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
    domain = Domain((mesh,))
    people = np.asarray(table["population"].to_numpy())[inside]
    return CountTable.from_cells(domain, domain.keys_at(rows[inside], columns[inside]), people)
