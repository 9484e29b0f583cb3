"""An invented village, its tables and its releases, for tests of attacks."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from pathlib import Path

from sudare import Budget, Unit
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_plan, run_release

Person = tuple[str, str, str]

NAMES = ("sex", "age", "work")
VALUES = (("F", "M"), ("0-19", "20-39", "40-64", "65+"), ("farm", "shop", "none"))
COUNTS: dict[Person, int] = {
    ("F", "0-19", "none"): 4,
    ("M", "0-19", "none"): 5,
    ("F", "20-39", "farm"): 1,
    ("F", "20-39", "shop"): 3,
    ("F", "20-39", "none"): 2,
    ("M", "20-39", "farm"): 4,
    ("M", "20-39", "shop"): 1,
    ("F", "40-64", "farm"): 3,
    ("F", "40-64", "shop"): 2,
    ("F", "40-64", "none"): 1,
    ("M", "40-64", "farm"): 5,
    ("M", "40-64", "shop"): 3,
    ("M", "40-64", "none"): 1,
    ("F", "65+", "none"): 6,
    ("F", "65+", "farm"): 1,
    ("M", "65+", "farm"): 2,
    ("M", "65+", "none"): 4,
}
"""How many people there are of each kind; 48 in all."""

PEOPLE = tuple(person for person, number in COUNTS.items() for _ in range(number))


def write_people(path: Path, people: Sequence[Person] = PEOPLE) -> Path:
    """A file with a row for each person."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(NAMES)
        writer.writerows(people)
    return path


def write_table(path: Path, columns: Sequence[int], threshold: int, people: Sequence[Person] = PEOPLE) -> Path:
    """A table with all totals, in which counts from 1 to below a threshold are hidden."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*(NAMES[column] for column in columns), "count"])
        for codes in itertools.product(*((*VALUES[column], "total") for column in columns)):
            pairs = list(zip(columns, codes, strict=True))
            count = sum(all(code in ("total", person[column]) for column, code in pairs) for person in people)
            writer.writerow([*codes, "*" if 0 < count < threshold else count])
    return path


def describe_tables(folder: Path, tables: Sequence[Sequence[int]], threshold: int = 3) -> Path:
    """Tables of the village, and a file that describes them."""
    lines = ['title = "A village"', f"threshold = {threshold}"]
    for number, columns in enumerate(tables):
        write_table(folder / f"table{number}.csv", columns, threshold)
        lines += ["[[table]]", f'file = "table{number}.csv"']
    path = folder / "tables.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def make_ledger(folder: Path, epsilon: float = 20, *, replace: bool = False) -> str:
    """A ledger that knows the village."""
    location = str(folder / "budget.db")
    unit = Unit("person", adjacency="replace") if replace else Unit("person")
    with open_ledger(location, create=True) as ledger:
        ledger.add_dataset("village", Budget(epsilon=epsilon), unit=unit)
    return location


def release(
    folder: Path,
    name: str = "release",
    *,
    epsilon: float = 1,
    columns: Sequence[int] = (0, 1, 2),
    method: str = "",
    public_total: bool = False,
) -> Path:
    """Release a table of the village with differential privacy."""
    if not (folder / "village.csv").exists():
        write_people(folder / "village.csv")
    domain = "".join(
        f'[[domain]]\nname = "{NAMES[column]}"\nkind = "category"\nlabels = {list(VALUES[column])}\n'.replace("'", '"')
        for column in columns
    )
    (folder / f"{name}.toml").write_text(
        f'title = "The village, {name}"\n[source]\npath = "village.csv"\nrows = "people"\n{domain}'
        f"[budget]\nepsilon = {epsilon}\n"
        + (f'[method]\nname = "{method}"\n' if method else "")
        + ("public_total = true\n" if public_total and method else "")
        + ("[method]\npublic_total = true\n" if public_total and not method else "")
        + f'[ledger]\nlocation = "budget.db"\ndataset = "village"\n[output]\nfolder = "{name}"\nformats = ["csv"]\n',
        encoding="utf-8",
    )
    return run_release(read_plan(folder / f"{name}.toml")).folder


def protect(folder: Path, name: str, protection: str, columns: Sequence[int] = (0, 1, 2), threshold: int = 3) -> Path:
    """Protect a table of the village by rules of disclosure control, broken or not."""
    from sudare.releases.kinds.tables import read_table_plan, run_table_plan

    if not (folder / "village.csv").exists():
        write_people(folder / "village.csv")
    dimensions = "".join(f"[dimensions.{NAMES[column]}]\n" for column in columns)
    (folder / f"{name}.toml").write_text(
        f'title = "The village, {name}"\n[source]\npath = "village.csv"\n{dimensions}'
        f"[rules]\nthreshold = {threshold}\n[protection]\n{protection}\n",
        encoding="utf-8",
    )
    plan = read_table_plan(folder / f"{name}.toml", folder / name)
    return run_table_plan(plan, even_if_broken=True).folder
