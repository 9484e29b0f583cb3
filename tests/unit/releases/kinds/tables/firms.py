"""Invented firms of an invented country, and plans for tables of them."""

from __future__ import annotations

import csv
import random
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

from sudare.microdata.pseudonyms import keys

REGIONS = ("n1", "n2", "s1", "s2")
TRADES = ("mines", "shops", "boats")
UNTOLD = 987_654_321
"""A value that no message may show."""

HRC = "north\n@n1\n@n2\nsouth\n@s1\n@s2\n"
HEAD = """title = "Firms by region and trade"
publisher = "Office of an invented country"

[source]
path = "firms.csv"
value = "turnover"
"""
DIMENSIONS = """
[dimensions.region]
hierarchy = "region.hrc"

[dimensions.trade]
codes = ["mines", "shops", "boats"]
"""
RULES = """
[rules]
threshold = 3
p_percent = { p = 10 }
"""
SUPPRESS = """
[protection]
method = "suppress"
"""
WHOLE = HEAD + DIMENSIONS + RULES + SUPPRESS
COUNTS = HEAD.replace('value = "turnover"\n', "") + DIMENSIONS + "\n[rules]\nthreshold = 3\n"


def firms(seed: int = 5, rows: int = 70) -> list[list[str]]:
    """Rows of an identifier, a region, a trade, a size, a group and a turnover."""
    dice = random.Random(seed)
    found = []
    for number in range(rows):
        region = dice.choices(REGIONS, (8, 5, 6, 1))[0]
        trade = dice.choices(TRADES, (2, 8, 4))[0]
        turnover = round(dice.paretovariate(0.9) * 100)
        found.append([f"f{number}", region, trade, dice.choice("ab"), f"g{number // 2}", str(turnover)])
    return found


def write_firms(folder: Path, rows: list[list[str]]) -> None:
    with (folder / "firms.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["firm", "region", "trade", "size", "group", "turnover"])
        writer.writerows(rows)


def write_key(path: Path, number: int = 0) -> None:
    """A key file, the same in every run of the tests: with one key in a thousand, a small table is broken and not published."""
    first, second = (
        blake2b(f"{number} {place}".encode(), digest_size=keys.SECRET_BYTES).digest() for place in range(2)
    )
    keys._write(keys.SecretKey(first, MappingProxyType({1: second}), path), replace=False)


def build_firms(folder: Path, plan: str = WHOLE, rows: list[list[str]] | None = None) -> Path:
    """Write firms, a hierarchy and a plan; the plan."""
    write_firms(folder, firms() if rows is None else rows)
    (folder / "region.hrc").write_text(HRC, encoding="utf-8")
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    return folder / "plan.toml"
