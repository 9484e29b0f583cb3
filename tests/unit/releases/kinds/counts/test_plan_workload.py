"""Workloads in plan files: parts in words, lists, weights; what is wrong is said in both languages."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import PlanError
from sudare.releases.kinds.counts import read_plan
from tests.unit.releases.kinds.counts.test_plan_file import written

WORKLOADS: dict[str, Any] = {
    '"cells"': "cells",
    '"sex"': "sex",
    '"margins 1"': [("margins", 1)],
    '["margins", 1]': [("margins", 1)],
    '["cells", "margins 1"]': ("cells", ("margins", 1)),
    "[1, 4]": (1, 4),
    '[["sex"], "totals"]': (("sex",), "totals"),
    '{ cells = 1, 16 = 2, "margins 1" = 0.5 }': {"cells": 1, 16: 2, ("margins", 1): Decimal("0.5")},
}


@pytest.mark.parametrize("text", WORKLOADS)
def test_what_may_be_written(tmp_path: Path, text: str) -> None:
    plan = read_plan(written(tmp_path, **{"[output]": f"[method]\nworkload = {text}\n[output]"}))
    assert plan.workload == WORKLOADS[text]
    assert plan.predicted is not None
    assert plan.predicted.errors


def test_a_section_of_its_own(tmp_path: Path) -> None:
    text = "[method.workload]\ncells = 3\nareas = 1\n[output]"
    assert read_plan(written(tmp_path, **{"[output]": text})).workload == {"cells": 3, "areas": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"cell"', ["'cells'", "「cells」"]),
        ('["sex x age"]', ["sex", "[1, 4, 16]"]),
        ("[]", ["[1, 4, 16]", "辺の長さ"]),
        ("{}", ["weights", "重み"]),
        ("{ cells = 0 }", ["above 0", "0 より大きい"]),
        ('{ cells = "2" }', ["above 0"]),
        ("{ cells = true }", ["above 0"]),
        ("{ 3 = 1 }", ["powers of two"]),
        ('"ranges"', ["'cells'"]),
        ('"margins 3"', ["k from 1 to 1"]),
        ('"mesh"', ["'cells'"]),
        ("4", ["workload"]),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(written(tmp_path, **{"[output]": f"[method]\nworkload = {text}\n[output]"}))
    said = f"{caught.value} {caught.value.japanese}"
    for word in ("workload", *words):
        assert word in said


def test_weights_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    prints = set()
    for weights in ("{ cells = 1, 16 = 2 }", "{ cells = 1, 16 = 3 }", '["cells", 16]', '"cells"'):
        plan = read_plan(written(tmp_path, **{"[output]": f"[method]\nworkload = {weights}\n[output]"}))
        prints.add(plan.fingerprint())
    assert len(prints) == 4
    swapped = read_plan(
        written(tmp_path, **{"[output]": "[method]\nworkload = { 16 = 2, cells = 1 }\n[output]"})
    ).fingerprint()
    assert swapped in prints


def test_weights_for_a_histogram_by_name(tmp_path: Path) -> None:
    text = '[method]\nname = "histogram"\nworkload = { ranges = 1, cells = 2.5 }\n[output]'
    assert dict(read_plan(written(tmp_path, **{"[output]": text})).settings) == {
        "workload": {"ranges": 1.0, "cells": 2.5}
    }
    with pytest.raises(PlanError, match="weights of"):
        read_plan(written(tmp_path, **{"[output]": text.replace("cells", "areas")}))
