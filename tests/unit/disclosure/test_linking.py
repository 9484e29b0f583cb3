"""Linked tables: shared cells are one, and everything about them must agree."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.disclosure_known import enterprise_table

from sudare.disclosure.cell_table import Contributions, aggregate
from sudare.disclosure.linking import cells_of, link_tables
from sudare.disclosure.rules import MinimumFrequency, PPercent, Rule, cells_with_code, primary_cells
from sudare.disclosure.structure import Dimension
from sudare.errors import InputError, ParameterError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data"))
SEX, AGE = Dimension.flat("sex", ["f", "m"]), Dimension.flat("age", ["young", "old"])
AREA = Dimension.of_tree("area", {"north": {"n1": {}, "n2": {}}, "south": {}})
COLUMNS = {
    "sex": ["f", "m", "m", "f", "f"],
    "age": ["old", "old", "young", "young", "old"],
    "area": ["n1", "n2", "n2", "south", "south"],
}
MONEY = Contributions(np.array([5, 7, 1, 20, 3]))


def test_linked_tables_are_judged_as_each_one_alone() -> None:
    first, second = aggregate([SEX, AREA], COLUMNS, MONEY), aggregate([AREA, AGE], COLUMNS, MONEY)
    linked = link_tables(first, second)
    linked.check()
    rules: list[Rule] = [PPercent(20), MinimumFrequency(2)]
    together = primary_cells(linked, rules)
    for number, alone in enumerate((first, second)):
        cells = cells_of(linked, number)
        judged = primary_cells(alone, rules)
        assert linked.values[cells].tolist() == alone.values.tolist()
        assert linked.largest[cells].tolist() == alone.largest.tolist()
        assert together.status[cells].tolist() == judged.status.tolist()
        assert together.upper[cells].tolist() == judged.upper.tolist()
    assert linked.system.size == first.system.size + second.system.size - len(AREA)
    with pytest.raises(ParameterError):
        cells_of(linked, 2)


def test_pairs_join_cells_of_different_names() -> None:
    codes = {"home": COLUMNS["area"], "area": COLUMNS["area"]}
    home = Dimension("home", AREA.codes, AREA.parents)
    area, other = (aggregate([one], codes, MONEY) for one in (AREA, home))
    assert link_tables(area, other).system.size == 9
    joined = link_tables(area, other, pairs=[(cell, cell) for cell in range(5)])
    assert joined.system.size == 5
    assert joined.system.equations.shape[0] == 2
    with pytest.raises(InputError, match="disagree about the cell 'home=n1'"):
        link_tables(area, other, pairs=[(4, 2)])


def test_tables_of_other_records_are_refused() -> None:
    first, second = aggregate([SEX, AREA], COLUMNS, MONEY), aggregate([AREA, AGE], COLUMNS, MONEY)
    other = aggregate([AREA, AGE], COLUMNS, Contributions(np.array([5, 7, 1, 20, 4])))
    with pytest.raises(InputError, match="disagree about the cell 'total'"):
        link_tables(first, other)
    with pytest.raises(ParameterError, match="decimals"):
        link_tables(first, replace(second, decimals=2))
    with pytest.raises(ParameterError, match="owners"):
        link_tables(first, replace(second, owners=None))


def test_the_linked_enterprise_tables() -> None:
    known = DATA / "known_answers"
    if not known.exists():
        pytest.skip("needs known_answers below SUDARE_DATA (or ../shared/data)")
    (products, _), (regions, _) = (enterprise_table(known, ("act", other)) for other in ("product", "region"))
    linked = link_tables(products, regions)
    linked.check()
    assert linked.system.size == 1665 + 1665 - 111
    cells = primary_cells(linked, [PPercent(10)], safe=cells_with_code(linked.system, "act", ["00"]))
    assert [int(cells.unsafe[cells_of(linked, number)].sum()) for number in (0, 1)] == [283, 339]
