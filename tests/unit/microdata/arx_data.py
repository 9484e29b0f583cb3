"""Where the known answers of ARX, sdcMicro and pyCANON lie, and Adult as ARX has it; tests are skipped without them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sudare.microdata.hierarchies.files import read_hierarchy
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records, read_people

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[4] / "shared" / "data")) / "known_answers"
needs_answers = pytest.mark.skipif(
    not (DATA / "arx" / "data" / "adult.csv").exists(),
    reason="needs known_answers below SUDARE_DATA (or ../shared/data)",
)


def answers(name: str) -> Any:
    return json.loads((DATA / name).read_text())


@cache
def adult() -> Records:
    return read_people(DATA / "arx" / "data" / "adult.csv")


@cache
def adult_hierarchy(name: str) -> Generalization:
    return read_hierarchy(DATA / "arx" / "data" / f"adult_hierarchy_{name}.csv", name)


def adult_names(sensitive: str | None) -> list[str]:
    """The quasi-identifiers in the order of a transformation."""
    return [name for name in adult().names if name != sensitive]


def only_k_anonymous() -> Iterator[tuple[str, str, int, str | None, list[int], Any]]:
    """Of every transformation in a case about k-anonymity alone: the case, metric, k, sensitive column, levels, and loss."""
    if not (DATA / "arx" / "adult_expected.json").exists():
        return
    for case in answers("arx/adult_expected.json"):
        models = case["models"]
        is_plain = len(models) == 1 and models[0].startswith("KAnonymity") and case["metric"] is not None
        if not is_plain or "not portable" in case["use"]:
            continue
        k, sensitive = int(models[0].removeprefix("KAnonymity(").removesuffix(")")), case["sensitive"] or None
        nodes = case.get("node_losses") or [[str(case["expected_transformation"]), case["expected_loss"]]]
        for levels, loss in nodes:
            yield f"{case['file']} {case['index']}", case["metric"], k, sensitive, json.loads(levels), json.loads(loss)
