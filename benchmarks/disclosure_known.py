"""Known answers for unsafe cells: tables, primaries and protection levels of tau-ARGUS, primaries of sdcTable, cellKey's row.

Each case is a name, whether ours is the expected answer, and what was found. Run as a module to see them all.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import numpy as np

from benchmarks.data import data_folder
from sudare.disclosure import cell_key
from sudare.disclosure.argus.files import (
    read_apriori,
    read_argus_metadata,
    read_table,
    status_lines,
    table_of_records,
)
from sudare.disclosure.cell_table import Contributions, aggregate, scaled
from sudare.disclosure.rules import (
    Dominance,
    MinimumFrequency,
    PPercent,
    PriorPosterior,
    Rule,
    cells_with_code,
    primary_cells,
)
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.disclosure.structure import CellTable, Dimension
from sudare.errors import InputError

__all__ = ["KnownAnswer", "enterprise_table", "known_answers"]

KnownAnswer = tuple[str, bool, str]
"""Name, passed, detail."""

ENTERPRISE = {
    "test_1": ("act", "product"),
    "test_2a": ("act", "product"),
    "test_2b": ("act", "region"),
    "test_3a": ("region", "mun"),
    "test_3b": ("region", "product"),
}
"""Outputs of tau-ARGUS for the enterprise example, and what spans their tables."""


def known_answers(known: Path, tables: Path) -> Iterator[KnownAnswer]:
    """All cases, with the folders known_answers and tauargus_tables."""
    yield from _simple_2d(known, tables)
    yield from _enterprise(known, tables)
    yield from _batch(known)
    yield from _table_input(tables)
    yield from _sdc_table(known)
    yield from _cell_key(known, tables)


@cache
def enterprise_table(known: Path, spanning: tuple[str, ...]) -> tuple[CellTable, PrimaryCells]:
    """A table of the enterprise example, judged by holdings with the p % rule, p = 10; missing codes are safe."""
    folder = known / "tau_argus" / "TEST" / "TEST"
    metadata = read_argus_metadata(folder / "example_enterprise.rda")
    table = table_of_records(
        folder / "example_enterprise.asc", metadata, spanning, "turnover", holdings=True, repeated=True
    )
    safe = cells_with_code(table.system, "act", metadata.variable("act").missing)
    return table, primary_cells(table, [PPercent(10)], safe=safe)


def _rows(lines: list[str]) -> list[list[str]]:
    return [[field.strip() for field in row] for row in csv.reader(lines)]


def _compared(name: str, lines: list[str], expected: list[str]) -> Iterator[KnownAnswer]:
    """Codes, values and primaries, line by line; what tau-ARGUS hid to protect others is safe here."""
    ours, theirs = _rows(lines), _rows(expected)
    same_codes = [[code.removesuffix(" (2)") for code in row[:-2]] for row in ours] == [row[:-2] for row in theirs]
    values = sum(one[-2] != other[-2] for one, other in zip(ours, theirs, strict=False))
    statuses = sum(
        one[-1] != ("1" if other[-1] == "11" else other[-1]) for one, other in zip(ours, theirs, strict=False)
    )
    yield f"{name}: values", same_codes and values == 0, f"{len(theirs)} cells, {values} values differ"
    yield f"{name}: statuses", same_codes and statuses == 0, f"{statuses} statuses differ"


def _simple_2d(known: Path, tables: Path) -> Iterator[KnownAnswer]:
    folder = known / "tau_argus"
    metadata = read_argus_metadata(tables / "Tau_TestW.rda")
    records = folder / "Simple2D_InputData" / "tau_testW.asc"
    table = table_of_records(records, metadata, ["Size", "Region"], "Var2")
    cells = primary_cells(table, [PPercent(15)])
    lines = status_lines(table, cells.status, safe=False, widths={"Size": 2, "Region": 2})
    expected = (folder / "Simple2D_Expected_Output" / "Simple2D.txt").read_text().splitlines()
    yield from _compared("tau-ARGUS Simple2D", lines, expected)
    same = sum(one == other or other.endswith(",11") for one, other in zip(lines, expected, strict=True))
    yield "tau-ARGUS Simple2D: lines as written", same == len(expected), f"{same} of {len(expected)} lines"


def _enterprise(known: Path, tables: Path) -> Iterator[KnownAnswer]:
    with ZipFile(tables / "checkTauArgus" / "OUTPUT.zip") as archive:
        for name, spanning in ENTERPRISE.items():
            table, cells = enterprise_table(known, spanning)
            if name == "test_3b":
                with TemporaryDirectory() as folder:
                    apriori = archive.extract("OUTPUT/test_3a.hst", folder)
                    cells = read_apriori(apriori, table, cells)
            with io.TextIOWrapper(archive.open(f"OUTPUT/{name}.txt"), encoding="utf-8") as file:
                expected = file.read().splitlines()
            yield from _compared(f"tau-ARGUS {name}", status_lines(table, cells.status, safe=False), expected)


def _batch(known: Path) -> Iterator[KnownAnswer]:
    expected = json.loads((known / "tau_argus" / "expected.json").read_text())
    folder = known / "tau_argus" / "Batch"
    metadata = read_argus_metadata(folder / "ex1" / "metadata_ex1.rda")
    _, cells = read_table(folder / "ex1" / "tabdata_ex1.tab", metadata, ["region", "gender"], "freq")
    wanted = [letter == "u" for letter in expected["ex1"]["status (15 rows of tabdata_ex1.tab)"]]
    yield "tau-ARGUS ex1: primaries", cells.unsafe.tolist() == wanted, f"{int(cells.unsafe.sum())} unsafe"

    metadata = read_argus_metadata(folder / "ex2" / "metadata_ex2.rda")
    table = table_of_records(folder / "ex2" / "microdata_ex2.asc", metadata, ["region", "gender"], "num1", largest=6)
    cells = primary_cells(table, [MinimumFrequency(5, 20), PPercent(20, n=5)])
    wanted = [letter == "u" for letter in expected["ex2"]["status"]]
    total = int(table.values[0]) == round(expected["ex2"]["total"] * 100)
    yield "tau-ARGUS ex2: total", total, f"{int(table.values[0]) / 100}"
    yield "tau-ARGUS ex2: primaries", cells.unsafe.tolist() == wanted, f"{int(cells.unsafe.sum())} unsafe"


def _table_input(tables: Path) -> Iterator[KnownAnswer]:
    folder = tables / "tableinput"
    metadata = read_argus_metadata(folder / "pp.rda")
    try:
        read_table(folder / "pp.tab", metadata, ["Size", "Region"], "Var2")
        refused = False
    except InputError:
        refused = True
    yield "tau-ARGUS pp.tab: does not add up", refused, "four of its values were changed by hand"
    mended = (
        (folder / "pp.tab").read_text()
        .replace("4,00;1;5,00;5,00;4,00", "5,00;1;5,00;5,00;5,00").replace("11,00;2;10,00", "10,00;2;10,00")
    )  # fmt: skip
    with TemporaryDirectory() as name:
        path = Path(name) / "pp.tab"
        path.write_text(mended)
        table, given = read_table(path, metadata, ["Size", "Region"], "Var2")
    ours = primary_cells(table, [PPercent(15)])
    yield "tau-ARGUS pp.tab: primaries", bool((ours.unsafe == given.unsafe).all()), f"{int(ours.unsafe.sum())} unsafe"
    levels = bool((ours.upper == given.upper).all() and (ours.lower == given.lower).all())
    yield "tau-ARGUS pp.tab: protection levels", levels, f"{ours.upper[ours.unsafe].tolist()} cents"


def _sdc_table(known: Path) -> Iterator[KnownAnswer]:
    folder = known / "sdcTable"
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / "microdata1.csv").open(newline="") as file:
        records = list(csv.DictReader(file))
    dimensions = [
        Dimension.flat("region", ["A", "B", "C", "D"], "total"),
        Dimension.flat("gender", ["male", "female"], "total"),
    ]
    table = aggregate(
        dimensions,
        {one.name: [record[one.name] for record in records] for one in dimensions},
        Contributions(scaled([record["val"] for record in records], 1), decimals=1),
    )
    cell = table.system.cell(region="D", gender="male")
    wanted = expected["cell D/male"]
    same = (int(table.counts[cell]), int(table.values[cell])) == (wanted["freq"], wanted["val"] * 10)
    yield "sdcTable microdata1: cell D/male", same, f"{table.counts[cell]} records"
    rules: dict[str, Rule] = {
        "freq maxN=2": MinimumFrequency(3),
        "nk n=2 k=75 on val": Dominance(2, 75),
        "p% p=70 on val": PPercent(70),
        "pq (60,80) on val": PriorPosterior(60, 80),
    }
    for name, places in expected["microdata1_primary"].items():
        found = (np.flatnonzero(primary_cells(table, [rules[name]]).unsafe) + 1).tolist()
        yield f"sdcTable microdata1: {name}", found == places, f"cells {found}"
    linked = expected["linked"]
    for name in ("county", "group"):
        codes = [f"{code}" for code, n in zip(linked[name], linked["n"], strict=True) for _ in range(n)]
        regions = [code for code, n in zip(linked["region"], linked["n"], strict=True) for _ in range(n)]
        tree = {group: dict.fromkeys(region for region, one in zip(regions, codes, strict=True) if one == group)
                for group in dict.fromkeys(codes)}  # fmt: skip
        area = Dimension.of_tree("region", tree)
        judged = primary_cells(aggregate([area], {"region": regions}, Contributions()), [MinimumFrequency(4)])
        found_cells = int((judged.status == CellStatus.UNSAFE_FREQUENCY).sum())
        passed = found_cells == linked["primary freq<=3 in each"]
        yield f"sdcTable linked, by {name}: primaries", passed, f"{found_cells} unsafe"


def _cell_key(known: Path, tables: Path) -> Iterator[KnownAnswer]:
    expected = json.loads((known / "cellKey" / "expected.json").read_text())
    row = cell_key.maximum_entropy_row(1, largest=2, variance="1.08", forbidden=1)
    wanted = {int(count): share for count, share in expected["ptable unique row"]["i=1"].items()}
    found = {count: round(share, 4) for count, share in row.items() if round(share, 4)}
    yield "cellKey: unique row D=2, V=1.08, js=1, i=1", found == wanted, f"{found}"
    row = cell_key.maximum_entropy_row(1, largest=2, variance=1, monotone=True)
    found = {count: round(share, 9) for count, share in row.items()}
    edge = found == {0: 0.375, 1: 0.375, 2: 0.125, 3: 0.125}
    yield "cellKey: D=2, V=1, i=1, monotone", edge, f"{found}, the only row there is; the solver of ptable fails on it"
    try:
        cell_key.maximum_entropy_row(1, largest=2, variance="1.01", monotone=True)
        refused = False
    except InputError:
        refused = True
    yield "cellKey: D=2, V=1.01, i=1, monotone, is refused", refused, "no such row exists"
    row = cell_key.maximum_entropy_row(1, largest=2, variance="0.9")
    spread = sum(share * (count - 1) ** 2 for count, share in row.items())
    yield "cellKey: D=2, V=0.9, i=1 exists", abs(spread - 0.9) < 1e-9, f"variance {spread:.6f}"
    for path, options in (
        (tables / "cellkey" / "Frequency" / "tau_testW_ptable.txt", {"largest": 7, "variance": 4, "forbidden": 2}),
        (
            tables / "cellkey" / "Magnitude" / "ptab_freq.txt",
            {"largest": 5, "variance": 3, "forbidden": 2, "stay": "0.5"},
        ),
    ):
        theirs = cell_key.read_perturbation_table(path)
        ours = cell_key.perturbation_table(monotone=True, **options)
        gap = max(
            abs(one - other) / cell_key.KEY_UNITS
            for mine, yours in zip(ours.bounds, theirs.bounds, strict=True)
            for one, other in zip(mine, yours, strict=True)
        )
        passed = ours.noise == theirs.noise and gap < 2e-8
        yield f"tau-ARGUS {path.name}: every row", passed, f"{len(theirs.noise)} rows, largest difference {gap:.1e}"


if __name__ == "__main__":
    answers = list(known_answers(data_folder("known_answers"), data_folder("tauargus_tables")))
    for title, was_passed, what in answers:
        print(f"{'passed' if was_passed else 'FAILED'}  {title}: {what}")
    print(f"{sum(one[1] for one in answers)} of {len(answers)} passed")
