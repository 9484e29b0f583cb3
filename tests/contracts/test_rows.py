"""One contract for every result that has rows: frames of each kind, texts and tables in notebooks, all of the same rows."""

from __future__ import annotations

import importlib
import pkgutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import sudare
from sudare import attacks, collect, disclosure, evaluate, microdata, tables
from sudare.accuracy import predict_accuracy
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import RowList, Rows, RowTuple, ShownRows
from sudare.collect.prio.responses import RandomizedResponse
from sudare.comparison.methods import METHODS
from sudare.comparison.people import Population
from sudare.comparison.running import Comparison, MeasuredValue, Result
from sudare.disclosure.cell_key import KEY_UNITS
from sudare.domain import CountTable, Domain, SignedTable
from sudare.errors import ParameterError
from sudare.evaluate.significance.hot_spots import HotSpot, HotSpots
from sudare.examination.findings import Examination
from sudare.privacy import Budget
from sudare.sql.execution.pricing import BatchPrice, ColumnPrice, MeasurePrice, Price
from tests.contracts import working_calls as made

KINDS: dict[Any, type[Any]] = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pa.Table}
BUDGET = Budget(epsilon=1)
MAP = np.arange(16).reshape(4, 4)
PUBLISHED = tables.laplace(MAP, BUDGET, keep_measurements=True)
ROUNDED = disclosure.controlled_rounding(made.SYSTEM, made.CELLS.values, 3)
REPORT = AttackReport.of(
    "interval",
    Words("All.", "全部。"),
    [Verdict("interval", "a", AttackOutcome.HELD, 1.0, Words("x", "y"), Words("x", "y"))],
)
PRICE = MeasurePrice("count(*)", "laplace", 1.0, Fraction(3), "value", BUDGET)
INVERTED = collect.invert([[9, 3], [3, 1]], [made.UNIFORM, made.UNIFORM])
RISKS = microdata.attribute_risks(made.PEOPLE, ["age", "sex"])
SWAPPED = microdata.swap_randomly(made.PEOPLE, ["sex"], share=0.5)
ANONYMIZED = microdata.anonymize(made.PEOPLE, made.HIERARCHIES, [made.MODEL])
SYNTHETIC = microdata.synthesize(**made.WORKING["synthesize"][1])[0]
LINKS = attacks.link_records(made.KEYS)
AVERAGED = attacks.average_answers([[1, 2], [3, 4]], made.LAW)
CELLS = attacks.attack_suppressed_cells([3, 1, 2], [False, True, True], [[1, -1, -1]])
DIFFERENCES = attacks.attack_by_differences(**made.WORKING["attack_by_differences"][1])
UNIQUES = attacks.find_special_uniques({"age": [1, 2, 2], "sex": ["f", "f", "m"]})
EVALUATION = evaluate.measure_errors(MAP, MAP + 1)
RESULT = Result(next(iter(METHODS.values())), Fraction(3), 2, {"misplaced": MeasuredValue(0.1, 0.01)}, None, None)
ONE_TOWN = Population((made.AGES, made.SEXES), np.zeros((60, 2), dtype=np.int64))
DECODED = collect.Decoded(
    ("a", "b"), np.array([3.0, 2.0]), np.ones(2), np.full(2, 0.01), 9, 4, 5.0, 1.0, 4.0, 1.0, 0.5, 0.4, 1.0, 1.0
)
ASSOCIATION = collect.Association((("a", None), ("x", "y")), 8, np.full((2, 2), 0.25), np.full((2, 2), 0.1), 0.0)
EXAMPLES: list[tuple[Rows, int]] = [
    (PUBLISHED, PUBLISHED.table.keys.size),
    (PUBLISHED.measurements[0] if PUBLISHED.measurements else PUBLISHED, 16),
    (PUBLISHED.table, PUBLISHED.table.keys.size),
    (CountTable.from_dense(MAP), 15),
    (SignedTable.from_dense([-1, 2]), 2),
    (tables.plan_table(MAP, BUDGET), len(tables.plan_table(MAP, BUDGET).errors)),
    (predict_accuracy(Domain.of_shape((4,)), BUDGET, "laplace"), 3),
    (made.PEOPLE, 8),
    (SWAPPED, 8),
    (ANONYMIZED, ANONYMIZED.records.rows),
    (microdata.recode_locally(made.PEOPLE, ["age"], 2), 8),
    (SYNTHETIC, SYNTHETIC.records.rows),
    (microdata.measure(made.PEOPLE, ["sex"], "ill"), 10),
    (microdata.prosecutor_risk([2, 3]), 6),
    (microdata.Utility(1, 1, 1.0, 1, 1.0, 0.5, {}, 1.0, 1.0, 1.0, 0.0), 10),
    (RISKS, 3),
    (made.CELLS, 9),
    (made.PRIMARY, 9),
    (made.HIDDEN, 9),
    (made.HIDDEN.audit, len(made.HIDDEN.audit.cells)),
    (ROUNDED, 9),
    (disclosure.merge_meshes(**made.WORKING["merge_meshes"][1]), 2),
    (disclosure.PerturbationTable(((0,), (-1, 1)), ((KEY_UNITS,), (KEY_UNITS // 2, KEY_UNITS))), 3),
    (made.ESTIMATE, 3),
    (INVERTED, 4),
    (collect.linear_regression_of_answer([[1], [2], [3], [4]], [0, 1, 0, 1], made.UNIFORM, [0, 1]), 2),
    (DECODED, 2),
    (ASSOCIATION, 4),
    (collect.plan_collection(1000, 4, epsilon=1), len(collect.plan_collection(1000, 4, epsilon=1).alternatives)),
    (collect.plan_mean(1000, 1), len(collect.plan_mean(1000, 1).alternatives)),
    (collect.MeanEstimate(10, 1.0, 0.1), 3),
    (REPORT, 1),
    (AVERAGED, len(AVERAGED.names)),
    (CELLS, 2),
    (DIFFERENCES, len(DIFFERENCES.combinations)),
    (LINKS, 3),
    (UNIQUES, 3),
    (attacks.reconstruct(**made.WORKING["reconstruct"][1]), 6),
    (Examination(Path("x"), "private-table", "t", (REPORT, REPORT), (), ()), 2),
    (EVALUATION, len(EVALUATION.areas) + len(EVALUATION.bands) + len(EVALUATION.rectangles)),
    (evaluate.error_by_area(MAP, MAP), 3),
    (evaluate.non_zero_share(MAP, MAP), 2),
    (evaluate.error_of_rectangles(MAP, MAP, [[0, 0, 1, 1]]), 4),
    (HotSpots((HotSpot((0, 0), 1, 5.0, 0.01),), 0.01, 16, 0.05, "bonferroni"), 1),
    (Comparison(ONE_TOWN, 1, (RESULT, RESULT)), 2),
    (Price((ColumnPrice("n", (PRICE,), Fraction(3)),), BUDGET, False, True, (BUDGET,), ()), 1),
    (BatchPrice((BUDGET, None), True, (BUDGET,)), 2),
    (made.LEDGER.dataset("town"), 1),
    (made.LEDGER.datasets(), 1),
    (made.LEDGER, 1),
    (made.LEDGER.windows, 1),
]
BY_NAME = {f"{type(example).__name__} {place}": (example, rows) for place, (example, rows) in enumerate(EXAMPLES)}


def every_class(of: type) -> set[type]:
    found: set[type] = set(of.__subclasses__())
    return found.union(*(every_class(each) for each in found)) if found else found


def test_every_class_with_rows_is_among_them() -> None:
    for module in pkgutil.walk_packages(sudare.__path__, "sudare."):
        if not any(part in module.name for part in (".cli", "__main__", ".spark", ".postgres", ".demo")):
            importlib.import_module(module.name)
    kinds = {type(example) for example, _ in EXAMPLES}
    named = [
        each.__name__
        for each in every_class(Rows)
        if each.__module__.startswith("sudare.") and not each.__name__.startswith("_")
    ]
    bases = {"ShownRows", "Figures", "CellRows", "SparseTable", "Book", "RowTuple", "RowList"}
    assert set(named) - bases == {each.__name__ for each in kinds} - bases


@pytest.mark.parametrize("name", BY_NAME)
def test_frames(name: str) -> None:
    example, rows = BY_NAME[name]
    columns = example.frame_columns()
    for kind, expected in KINDS.items():
        frame: Any = example.to_frame(kind)
        assert type(frame) is expected
        assert len(frame) == rows
        assert list(getattr(frame, "column_names", None) or frame.columns) == list(columns)
    assert isinstance(example.to_frame(), pandas.DataFrame)
    wrong: Any
    for wrong in ("excel", 7, ["pandas"], pandas.DataFrame()):
        with pytest.raises(ParameterError, match=rf"The 'kind' parameter of {type(example).__name__}\.to_frame"):
            example.to_frame(wrong)


@pytest.mark.parametrize("name", BY_NAME)
def test_texts(name: str) -> None:
    example, rows = BY_NAME[name]
    text = example.to_text()
    assert text
    assert len(text.splitlines()) >= min(rows, 1)
    assert all(line == line.rstrip() for line in text.splitlines())
    if isinstance(example, ShownRows):
        assert str(example) == text
        assert example._repr_html_().startswith("<table>")
    assert isinstance(example.to_text(1), str)


def test_lists_keep_what_they_are() -> None:
    assert isinstance(made.LEDGER.datasets(), list)
    assert isinstance(made.LEDGER.datasets(), RowList)
    assert isinstance(RISKS, tuple)
    assert isinstance(RISKS, RowTuple)
    assert RandomizedResponse(2, "0.5").keep == Fraction(1, 2)
