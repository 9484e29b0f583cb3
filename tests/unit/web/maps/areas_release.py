"""A small release by municipality and sex, with the public list of the meshes of three municipalities beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sudare.domain import mesh_codes
from sudare.ledger import open_ledger
from sudare.privacy import Budget, Unit
from sudare.releases.registry import run_plan

CODES = (13101, 13102, 14101)
NAMES = ("千代田区", "中央区", '=cmd "鶴見区"')
ROW, COLUMN = 4000, 3000
SHAPE = np.array([[13101, 13101, 0, 13102], [13101, 14101, 14101, 13102], [0, 14101, 0, 13102]])
"""Municipalities of meshes of 1 km, from the south-west."""

PLAN = """
title = "Areas"
publisher = "Test"
[source]
path = "people.csv"
rows = "people"
[[domain]]
name = "area"
kind = "hierarchy"
areas = "areas.csv"
levels = ["prefecture", "municipality"]
public = true
[[domain]]
name = "sex"
kind = "category"
labels = ["f", "m"]
[unit]
who = "person"
[budget]
epsilon = 5
[ledger]
location = "budget.db"
dataset = "town"
[output]
folder = "release"
formats = ["parquet"]
"""


def write_list(path: Path, encoding: str = "utf-8") -> None:
    rows, columns = np.nonzero(SHAPE)
    meshes = mesh_codes(ROW + rows, COLUMN + columns, "3").tolist()
    codes = SHAPE[rows, columns].tolist()
    named = {code: name.replace('"', '""') for code, name in zip(CODES, NAMES, strict=True)}
    lines = [f'{code},"{named[code]}",{mesh}' for code, mesh in zip(codes, meshes, strict=True)]
    head = "都道府県市区町村コード,市区町村名,基準メッシュコード\n"
    path.write_text(head + "\n".join(lines) + "\n", encoding=encoding)


def make_release(folder: Path) -> Path:
    """Publish 60, 40 and 20 people of three municipalities, half of either sex; returns where the release is."""
    rows = "".join(
        f"{code},{'fm'[number % 2]}\n"
        for code, people in zip(CODES, (60, 40, 20), strict=True)
        for number in range(people)
    )
    (folder / "people.csv").write_text(f"area,sex\n{rows}", encoding="utf-8")
    areas = "".join(f"{code // 1000},{code}\n" for code in CODES)
    (folder / "areas.csv").write_text(f"prefecture,municipality\n{areas}", encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    with open_ledger(folder / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", Budget(epsilon=5), unit=Unit("person"))
    return run_plan(folder / "plan.toml").folder
