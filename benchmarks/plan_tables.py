"""Real tables on which predictions of plans are set, and others on which they are tested: no region or source is in both.

Set on: Germany, the west of Europe, DPBench's taxis of Beijing, Adult, salaries, bids, citations, incomes, and invented tables.
Tested on: Japan, the north and the east of Europe, DPBench's other sets, and the American Community Survey. Where people have
attributes, those of Germany are invented, because its grids have none; those of Japan are real.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

import sudare
from benchmarks.data import census_1km, data_folder, germany_100m, japan_in_a_wide_window, window_500m
from sudare.accuracy import invent_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

__all__ = ["NamedTable", "tables_to_set_on", "tables_to_test_on"]

SEED = 20_200_101
AGES = {
    "0-14": ("T001141005", "T001141006"),
    "15-64": ("T001141011", "T001141012"),
    "65-": ("T001141020", "T001141021"),
}
WESTERN_EUROPE = {"iberia": (1500, 2600), "france": (2100, 3300), "britain": (3000, 3200)}
OTHER_EUROPE = {"scandinavia": (3700, 4100), "poland": (2900, 4750), "balkans": (1700, 5000)}
"""South-western corners of windows of the 5 km grid, in km north and east (EPSG:3035)."""

JAPANESE_WINDOWS = {
    "tokyo": (8307, 6063, 512),
    "hokkaido": (10160, 6592, 512),
    "kyushu": (7800, 4950, 256),
    "tohoku": (9400, 6500, 128),
    "shikoku": (8050, 5500, 64),
    "kansai": (8200, 5600, 1024),
}
"""First rows and columns of meshes of 500 m, and sides."""

MIN_LARGE = 1024
FIRST_HISTOGRAMS = ("ADULTFRANK", "Gross", "HEPTH", "INCOME", "bids")
FIRST_SQUARES = ("Adult", "Beijing", "MDSalary")


@dataclass(frozen=True)
class NamedTable:
    """A table and what it is called.

    Attributes:
        source: where the people come from; tables with the same source may show the same people.
        name: of the table.
        table: its counts.
        is_large: whether few releases of it can be afforded.
    """

    source: str
    name: str
    table: sudare.CountTable
    is_large: bool = False


def tables_to_set_on() -> Iterator[NamedTable]:
    """Germany, the west of Europe, half of DPBench, and invented tables."""
    for row, column, side in (
        (2900, 4100, 256),
        (3200, 4300, 256),
        (2750, 4350, 64),
        (3100, 4450, 128),
        (2800, 4100, 512),
    ):
        yield NamedTable("germany", f"germany-1km-{row}-{side}", _germany_1km(row, column, side))
    for row, column, side in (
        (27_000, 43_000, 256),
        (30_500, 42_500, 512),
        (33_500, 43_000, 64),
        (32_500, 45_000, 1024),
    ):
        table = germany_100m(row, column, side, side)
        yield NamedTable("germany", f"germany-100m-{row}-{side}", table, is_large=side >= MIN_LARGE)
    yield NamedTable("germany", "germany-100m-4500", germany_100m(28_900, 41_800, 4500, 4500), is_large=True)
    yield NamedTable("germany", "germany-100m-4096", germany_100m(28_900, 42_000, 4096, 4096), is_large=True)
    yield from _europe(WESTERN_EUROPE)
    yield from _squares(are_first=True)
    yield from _histograms(are_first=True)
    for row, column, side in ((2900, 4100, 128), (3200, 4300, 64)):
        table = _with_invented_attributes(_germany_1km(row, column, side))
        yield NamedTable("germany", f"germany-by-age-and-sex-{side}", table)
    yield from _adult()
    yield from _invented()


def tables_to_test_on() -> Iterator[NamedTable]:
    """Japan, the rest of Europe and the rest of DPBench."""
    for name, (row, column, side) in JAPANESE_WINDOWS.items():
        yield NamedTable("japan", name, window_500m(row, column, side), is_large=side >= MIN_LARGE)
    yield NamedTable("japan", "japan", window_500m(6814, 3670, 4096), is_large=True)
    yield NamedTable("japan", "japan-in-a-wide-window", japan_in_a_wide_window(), is_large=True)
    yield NamedTable("japan", "nagano-1km", census_1km(2020))
    yield from _europe(OTHER_EUROPE)
    yield from _squares(are_first=False)
    yield from _histograms(are_first=False)
    yield NamedTable("japan", "tokyo-by-age-and-sex", _japan_by_age_and_sex(8500, 6250, 64))
    yield NamedTable("japan", "hokkaido-by-age-and-sex", _japan_by_age_and_sex(10300, 6700, 128))
    yield from _survey()


def _invented() -> Iterator[NamedTable]:
    """From thickly to thinly settled, from evenly to in a few places."""
    for number, (per_cell, clustered) in enumerate(product((0.5, 5, 50), (0.3, 0.6, 1.3, 2.5, 20))):
        for shape in ((128, 128), (1024,)):
            domain = sudare.Domain.of_shape(shape)
            table = invent_table(domain, int(per_cell * domain.cells), number, clustered)
            yield NamedTable("invented", f"invented-{number}-{len(shape)}d", table)
    for number, per_cell in enumerate((2, 40)):
        domain = sudare.Domain((*sudare.Domain.of_shape((64, 64)).attributes, *_age_and_sex()))
        table = invent_table(domain, per_cell * domain.cells, number)
        yield NamedTable("invented", f"invented-by-age-and-sex-{number}", table)


@lru_cache(maxsize=2)
def _grid(folder: str, file: str) -> tuple[Integers, Integers, Integers]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(data_folder(folder) / file)
    east, north, people = (np.asarray(table[name].to_numpy(), dtype=np.int64) for name in table.column_names)
    return north[people > 0], east[people > 0], people[people > 0]


def _window(rows: Integers, columns: Integers, people: Integers, side: int) -> sudare.CountTable:
    inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
    domain = sudare.Domain.of_shape((side, side))
    return sudare.CountTable.from_cells(domain, domain.keys_at(rows[inside], columns[inside]), people[inside])


def _germany_1km(row: int, column: int, side: int) -> sudare.CountTable:
    north, east, people = _grid("germany_grid_2011", "pop_1km.parquet")
    return _window(north - row, east - column, people, side)


def _europe(corners: dict[str, tuple[int, int]]) -> Iterator[NamedTable]:
    north, east, people = _grid("europe_grid5km_2018", "pop.parquet")
    for name, (row, column) in corners.items():
        side = 64 if name in ("poland", "britain") else 128
        yield NamedTable(
            name, f"{name}-5km", _window(north // 5000 - row // 5, east // 5000 - column // 5, people, side)
        )


def _squares(*, are_first: bool) -> Iterator[NamedTable]:
    for path in sorted((data_folder("dpbench") / "2D").glob("*.npy")):
        if path.name.startswith(FIRST_SQUARES) == are_first:
            yield NamedTable(path.name[:7], path.stem, sudare.CountTable.from_dense(np.load(path).astype(np.int64)))


def _histograms(*, are_first: bool) -> Iterator[NamedTable]:
    """Each as it is, or with fewer, wider bins."""
    paths = sorted((data_folder("dpbench") / "1D").glob("*.npy"))
    for number, path in enumerate(path for path in paths if path.name.startswith(FIRST_HISTOGRAMS) == are_first):
        width = (1, 4, 1, 16)[number % 4]
        counts = np.load(path).astype(np.int64).reshape(-1, width).sum(axis=1)
        yield NamedTable(path.name[:4], f"{path.stem}-{counts.size}", sudare.CountTable.from_dense(counts))


def _with_invented_attributes(table: sudare.CountTable) -> sudare.CountTable:
    """People dealt out to three ages and two sexes, in shares that vary from place to place."""
    generator = np.random.default_rng(SEED)
    shares = generator.dirichlet(40 * np.outer((0.12, 0.62, 0.26), (0.49, 0.51)).ravel(), size=table.counts.size)
    people = generator.multinomial(table.counts, shares)
    places = [np.repeat(along, 6) for along in table.domain.places_of(table.keys)]
    numbers = np.tile(np.arange(6), table.counts.size)
    domain = sudare.Domain((*table.domain.attributes, *_age_and_sex()))
    return _of_cells(domain, (*places, numbers // 2, numbers % 2), people.ravel())


def _age_and_sex() -> tuple[sudare.Category, sudare.Category]:
    return sudare.Category("age", tuple(AGES)), sudare.Category("sex", ("male", "female"))


def _of_cells(domain: sudare.Domain, places: tuple[Integers, ...], people: Integers) -> sudare.CountTable:
    occupied = people > 0
    return sudare.CountTable.from_cells(domain, domain.keys_at(*(p[occupied] for p in places)), people[occupied])


def _japan_by_age_and_sex(first_row: int, first_column: int, side: int) -> sudare.CountTable:
    import pyarrow.parquet

    mesh = sudare.Mesh("KEY_CODE", "1/2", first_row, first_column, side, side)
    table = pyarrow.parquet.read_table(data_folder("japan_mesh500m_2020") / "full.parquet")
    rows, columns = sudare.domain.mesh_cells(table["mesh_code"].to_numpy(), mesh.level)
    rows, columns = rows - mesh.first_row, columns - mesh.first_column
    inside = (rows >= 0) & (rows < side) & (columns >= 0) & (columns < side)
    domain = sudare.Domain((mesh, *_age_and_sex()))
    counts = np.zeros(domain.shape, dtype=np.int64)
    for age, both in enumerate(AGES.values()):
        for sex, name in enumerate(both):
            people = table[name].fill_null(0).to_numpy()[inside]
            counts[rows[inside], columns[inside], age, sex] = np.maximum(people, 0)
    return sudare.CountTable.from_dense(counts, domain)


def _adult() -> Iterator[NamedTable]:
    """Adult by age, education and sex, and by three attributes without an order."""
    with (data_folder("adult") / "adult_coded.csv").open() as file:
        rows = list(csv.DictReader(file))
    yield _cross_table("adult-by-age", rows, {"education-num": 16, "sex": 2}, "age")
    yield _cross_table("adult-categories", rows, {"education-num": 16, "occupation": 15, "relationship": 6})


def _survey() -> Iterator[NamedTable]:
    """The American Community Survey by age, education and sex, and by three attributes without an order."""
    with (data_folder("nist_acs_2019") / "national2019.csv").open() as file:
        rows = list(csv.DictReader(file))
    yield _cross_table("survey-by-age", rows, {"EDU": 13, "SEX": 2}, "AGEP")
    yield _cross_table("survey-categories", rows, {"INDP_CAT": 20, "RAC1P": 9, "MSP": 7})


def _cross_table(
    name: str, rows: list[dict[str, str]], sizes: dict[str, int], ordered: str | None = None
) -> NamedTable:
    axes: list[sudare.Positions | sudare.Category] = [sudare.Positions(ordered, 100)] if ordered else []
    domain = sudare.Domain((*axes, *(sudare.Category(n, tuple(map(str, range(k)))) for n, k in sizes.items())))
    columns = [*([ordered] if ordered else []), *sizes]
    places = np.zeros((len(columns), len(rows)), dtype=np.int64)
    for axis, column in enumerate(columns):
        numbers = [int(float(row[column])) if row[column] not in ("N", "") else 0 for row in rows]
        places[axis] = np.clip(numbers, 0, domain.shape[axis] - 1)
    return NamedTable(
        name.split("-")[0],
        name,
        sudare.CountTable.from_cells(domain, domain.keys_at(*places), np.ones(len(rows), dtype=np.int64)),
    )
