"""The Japanese page of a plan is Japanese: no line is left in English, whatever the kind of table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.tables.planning.plan_words import of_adjacency, of_mechanism, of_noise

BUDGETS = [sudare.Budget(epsilon=1), sudare.Budget(epsilon=1, delta=1e-6)]
AREA = sudare.Hierarchy.from_levels("市区町村", {"都道府県": np.arange(400) // 40, "市区町村": np.arange(400)})
MESH = sudare.Mesh("メッシュ", "1/2", 8435, 6191, 32, 32)
AGE, SEX = sudare.Category("年齢", tuple("abcde")), sudare.Category("性別", ("f", "m"))
TABLES: dict[str, tuple[sudare.Domain, Any]] = {
    "map": (sudare.Domain.of_shape((64, 64)), None),
    "one side of a map": (sudare.Domain.of_shape((64, 64)), (16,)),
    "cells of a map": (sudare.Domain.of_shape((64, 64)), "cells"),
    "huge map": (sudare.Domain.of_shape((2**20, 2**20)), None),
    "map with attributes": (sudare.Domain((MESH, AGE, SEX)), None),
    "histogram": (sudare.Domain((sudare.Bins("所得", tuple(range(0, 2001, 10))),)), None),
    "histogram for two purposes": (
        sudare.Domain((sudare.Bins("所得", tuple(range(0, 2001, 10))),)),
        {"prefixes": 1, "cells": 1},
    ),
    "hierarchy": (sudare.Domain((AREA, SEX)), None),
    "cross table": (sudare.Domain((AGE, SEX)), None),
    "large cross table": (sudare.Domain((AGE, SEX, sudare.Category("職業", tuple(range(60))))), None),
    "many attributes": (sudare.Domain(tuple(sudare.Category(f"問{i}", tuple(range(8))) for i in range(7))), None),
}


def english_lines(page: str) -> list[str]:
    """Lines without a word of Japanese that have two words or more of English."""
    return [line for line in page.splitlines() if line.isascii() and len(re.findall(r"[A-Za-z]{2,}", line)) >= 2]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("table", TABLES)
def test_no_english_line_is_left(table: str, budget: sudare.Budget) -> None:
    domain, workload = TABLES[table]
    plan = sudare.plan_table(domain, budget, workload=workload, public_total=table == "map")
    page = plan.explain("ja")
    assert english_lines(page) == []
    for word in ("add-remove", "person", "noise on", "wide trees", " cells", "prefixes", "ranges"):
        assert word not in page
    assert english_lines(plan.explain("en"))


def test_words_that_nobody_knows_stand_as_they_are() -> None:
    for of in (of_adjacency, of_mechanism, of_noise):
        assert of("something new").japanese == "something new"
