"""One contract for every result that has rows: frames of each kind, texts and tables in notebooks, all of the same rows."""

from __future__ import annotations

import importlib
import pkgutil
from fractions import Fraction
from functools import cache
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
MADE = 51
"""So many examples. They are made when a test first asks for one: whoever only collects tests has none."""


@cache
def examples() -> list[tuple[Rows, int]]:
    """One of each class with rows, or several, with the number of its rows."""
    published = tables.laplace(MAP, BUDGET, keep_measurements=True)
    rounded = disclosure.controlled_rounding(made.SYSTEM, made.CELLS.values, 3)
    report = AttackReport.of(
        "interval",
        Words("All.", "全部。"),
        [Verdict("interval", "a", AttackOutcome.HELD, 1.0, Words("x", "y"), Words("x", "y"))],
    )
    price = MeasurePrice("count(*)", "laplace", 1.0, Fraction(3), "value", BUDGET)
    inverted = collect.invert([[9, 3], [3, 1]], [made.UNIFORM, made.UNIFORM])
    risks = microdata.attribute_risks(made.PEOPLE, ["age", "sex"])
    swapped = microdata.swap_randomly(made.PEOPLE, ["sex"], share=0.5)
    anonymized = microdata.anonymize(made.PEOPLE, made.HIERARCHIES, [made.MODEL])
    synthetic = microdata.synthesize(**made.WORKING["synthesize"][1])[0]
    links = attacks.link_records(made.KEYS)
    averaged = attacks.average_answers([[1, 2], [3, 4]], made.LAW)
    cells = attacks.attack_suppressed_cells([3, 1, 2], [False, True, True], [[1, -1, -1]])
    differences = attacks.attack_by_differences(**made.WORKING["attack_by_differences"][1])
    uniques = attacks.find_special_uniques({"age": [1, 2, 2], "sex": ["f", "f", "m"]})
    evaluation = evaluate.measure_errors(MAP, MAP + 1)
    result = Result(next(iter(METHODS.values())), Fraction(3), 2, {"misplaced": MeasuredValue(0.1, 0.01)}, None, None)
    one_town = Population((made.AGES, made.SEXES), np.zeros((60, 2), dtype=np.int64))
    decoded = collect.Decoded(
        ("a", "b"), np.array([3.0, 2.0]), np.ones(2), np.full(2, 0.01), 9, 4, 5.0, 1.0, 4.0, 1.0, 0.5, 0.4, 1.0, 1.0
    )
    association = collect.Association((("a", None), ("x", "y")), 8, np.full((2, 2), 0.25), np.full((2, 2), 0.1), 0.0)
    return [
        (published, published.table.keys.size),
        (published.measurements[0] if published.measurements else published, 16),
        (published.table, published.table.keys.size),
        (CountTable.from_dense(MAP), 15),
        (SignedTable.from_dense([-1, 2]), 2),
        (tables.plan_table(MAP, BUDGET), len(tables.plan_table(MAP, BUDGET).errors)),
        (predict_accuracy(Domain.of_shape((4,)), BUDGET, "laplace"), 3),
        (made.PEOPLE, 8),
        (swapped, 8),
        (anonymized, anonymized.records.rows),
        (microdata.recode_locally(made.PEOPLE, ["age"], 2), 8),
        (synthetic, synthetic.records.rows),
        (microdata.measure(made.PEOPLE, ["sex"], "ill"), 10),
        (microdata.prosecutor_risk([2, 3]), 6),
        (microdata.Utility(1, 1, 1.0, 1, 1.0, 0.5, {}, 1.0, 1.0, 1.0, 0.0), 10),
        (risks, 3),
        (made.CELLS, 9),
        (made.PRIMARY, 9),
        (made.HIDDEN, 9),
        (made.HIDDEN.audit, len(made.HIDDEN.audit.cells)),
        (rounded, 9),
        (disclosure.merge_meshes(**made.WORKING["merge_meshes"][1]), 2),
        (disclosure.PerturbationTable(((0,), (-1, 1)), ((KEY_UNITS,), (KEY_UNITS // 2, KEY_UNITS))), 3),
        (made.ESTIMATE, 3),
        (inverted, 4),
        (collect.linear_regression_of_answer([[1], [2], [3], [4]], [0, 1, 0, 1], made.UNIFORM, [0, 1]), 2),
        (decoded, 2),
        (association, 4),
        (collect.plan_collection(1000, 4, epsilon=1), len(collect.plan_collection(1000, 4, epsilon=1).alternatives)),
        (collect.plan_mean(1000, 1), len(collect.plan_mean(1000, 1).alternatives)),
        (collect.MeanEstimate(10, 1.0, 0.1), 3),
        (report, 1),
        (averaged, len(averaged.names)),
        (cells, 2),
        (differences, len(differences.combinations)),
        (links, 3),
        (uniques, 3),
        (attacks.reconstruct(**made.WORKING["reconstruct"][1]), 6),
        (Examination(Path("x"), "private-table", "t", (report, report), (), ()), 2),
        (evaluation, len(evaluation.areas) + len(evaluation.bands) + len(evaluation.rectangles)),
        (evaluate.error_by_area(MAP, MAP), 3),
        (evaluate.non_zero_share(MAP, MAP), 2),
        (evaluate.error_of_rectangles(MAP, MAP, [[0, 0, 1, 1]]), 4),
        (HotSpots((HotSpot((0, 0), 1, 5.0, 0.01),), 0.01, 16, 0.05, "bonferroni"), 1),
        (Comparison(one_town, 1, (result, result)), 2),
        (Price((ColumnPrice("n", (price,), Fraction(3)),), BUDGET, False, True, (BUDGET,), ()), 1),
        (BatchPrice((BUDGET, None), True, (BUDGET,)), 2),
        (made.LEDGER.dataset("town"), 1),
        (made.LEDGER.datasets(), 1),
        (made.LEDGER, 1),
        (made.LEDGER.windows, 1),
    ]


def every_class(of: type) -> set[type]:
    found: set[type] = set(of.__subclasses__())
    return found.union(*(every_class(each) for each in found)) if found else found


def test_every_class_with_rows_is_among_them() -> None:
    for module in pkgutil.walk_packages(sudare.__path__, "sudare."):
        if not any(part in module.name for part in (".cli", "__main__", ".spark", ".postgres", ".demo")):
            importlib.import_module(module.name)
    assert len(examples()) == MADE
    kinds = {type(example) for example, _ in examples()}
    named = [
        each.__name__
        for each in every_class(Rows)
        if each.__module__.startswith("sudare.") and not each.__name__.startswith("_")
    ]
    bases = {"ShownRows", "Figures", "CellRows", "SparseTable", "Book", "RowTuple", "RowList"}
    assert set(named) - bases == {each.__name__ for each in kinds} - bases


@pytest.mark.parametrize("place", range(MADE))
def test_frames(place: int) -> None:
    example, rows = examples()[place]
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


@pytest.mark.parametrize("place", range(MADE))
def test_texts(place: int) -> None:
    example, rows = examples()[place]
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
    risks = microdata.attribute_risks(made.PEOPLE, ["age", "sex"])
    assert isinstance(risks, tuple)
    assert isinstance(risks, RowTuple)
    assert RandomizedResponse(2, "0.5").keep == Fraction(1, 2)
