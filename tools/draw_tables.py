"""Draw the pictures of ``docs/explanation/any-table.md``: for each kind of table what was measured, predicted, and what came out.

    python -m tools.draw_tables [KIND ...]

Every table is invented and every release is drawn from a seed, so that the same pictures come out again.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.plan_errors import errors_of_part
from tools.table_picture import Bar, Heading, Panels, Row, draw_panels, is_off

import sudare
from sudare.accuracy import invent_table
from sudare.accuracy.linear import noise_variance
from sudare.examples import invent_country, invent_people
from sudare.privacy.measurements import SelectionMeasurement
from sudare.tables.planning.plan_words import of_mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "Kind", "draw", "file_of"]

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
BUDGET = sudare.Budget(epsilon=1)
RUNS = 12
SEED = 2020
ORDERS = (1, 2, 3)
AGES = ("0-14", "15-39", "40-64", "65-")
AGE_EDGES = (15, 40, 65)


@dataclass(frozen=True)
class Kind:
    """A kind of table, and an invented one of it.

    Attributes:
        name: of the file.
        title: of the picture.
        invent: makes the table.
    """

    name: str
    title: str
    invent: Callable[[], sudare.CountTable]


def _map() -> sudare.CountTable:
    return invent_country(128, seed=SEED, people=50_000)


def _map_with_attributes() -> sudare.CountTable:
    country = invent_country(64, seed=SEED, people=60_000)
    people = invent_people(country, SEED)
    (mesh,) = country.domain.attributes
    domain = sudare.Domain((mesh, sudare.Category("age", AGES), sudare.Category("sex", ("female", "male"))))
    columns = {name: people[name].to_numpy(zero_copy_only=False) for name in ("KEY_CODE", "sex")}
    groups = np.array(AGES)[np.searchsorted(AGE_EDGES, people["age"].to_numpy(), side="right")]
    keys = domain.keys_of({**columns, "age": groups})
    return sudare.CountTable.from_cells(domain, keys, np.ones(keys.size, dtype=np.int64))


def _hierarchy() -> sudare.CountTable:
    codes = {
        "region": [city // 200 for city in range(1600)],
        "prefecture": [city // 40 for city in range(1600)],
        "city": list(range(1600)),
    }
    domain = sudare.Domain((sudare.Hierarchy.from_levels("city", codes), sudare.Category("sex", ("female", "male"))))
    return invent_table(domain, 40_000, SEED)


def _categories(**sizes: int) -> sudare.Domain:
    return sudare.Domain(
        tuple(sudare.Category(name, tuple(str(value) for value in range(size))) for name, size in sizes.items())
    )


def _cross_table() -> sudare.CountTable:
    return invent_table(_categories(region=20, age=18, sex=2, work=5), 40_000, SEED)


def _histogram() -> sudare.CountTable:
    return invent_table(sudare.Domain((sudare.Bins("income", tuple(range(0, 10_241, 10))),)), 20_000, SEED)


def _large_cross_table() -> sudare.CountTable:
    return invent_table(_categories(sex=2, age=10, work=8, school=8, home=8, family=10, income=12), 100_000, SEED)


KINDS = (
    Kind("map", "A map", _map),
    Kind("map-with-attributes", "A map of people with attributes", _map_with_attributes),
    Kind("hierarchy", "A table over a hierarchy", _hierarchy),
    Kind("cross-table", "A small cross table", _cross_table),
    Kind("histogram", "A histogram", _histogram),
    Kind("large-cross-table", "A large cross table", _large_cross_table),
)


def file_of(kind: Kind) -> Path:
    """Where the picture of a kind is."""
    return ASSETS / f"table-{kind.name}.svg"


def draw(title: str, table: sudare.CountTable, *, runs: int = RUNS, seed: int = SEED) -> str:
    """Plan a table, publish it so many times, and draw what was measured, what was predicted and what came out.

    Args:
        title: of the picture.
        table: an invented table.
        runs: how many releases.
        seed: of the first; the next ones follow.
    """
    plan = sudare.plan_table(table, BUDGET)
    seeds = range(seed, seed + runs)
    releases = [
        sudare.publish(
            table, BUDGET, plan, entropy=sudare.ResearchEntropy(one), threads=1, keep_measurements=not plan.errors
        )
        for one in seeds
    ]
    shape = table.domain.shape
    lengths = f" ({' × '.join(f'{length:,}' for length in shape)})" if len(shape) > 1 else ""
    subtitle = (
        f"{table.domain.cells:,} cells{lengths}, {table.total:,} invented people, ε = 1, "
        f"{of_mechanism(plan.mechanism).english}, {runs} releases"
    )
    if plan.errors:
        return draw_panels(_predicted(title, subtitle, table, plan, releases))
    flat = [sudare.publish(table, BUDGET, "laplace", entropy=sudare.ResearchEntropy(one), threads=1) for one in seeds]
    return draw_panels(_unpredicted(title, subtitle, table, releases, flat))


def _predicted(
    title: str, subtitle: str, table: sudare.CountTable, plan: sudare.Plan, releases: Sequence[sudare.Published]
) -> Panels:
    """Of a plan that predicts errors."""
    about = int(float(f"{table.total:.0e}"))
    rows = list(_predicted_rows(table, plan, plan.for_people(about), releases))
    parts = [row for row in rows if isinstance(row, Row)]
    stated = sum(not is_off(row, error) for row in parts for error in row.errors)
    narrow = [(row.narrow or (0.0, 0.0), error) for row in parts for error in row.errors]
    number = len(narrow)
    known = sum(low <= error <= high for (low, high), error in narrow)
    return Panels(
        title,
        subtitle,
        [Bar(level.words.english, level.share, level.deviation) for level in plan.levels],
        "share of the budget, ± noise (sd, people)",
        rows,
        "What was predicted, and what came out",
        "for each part of the workload: sums in which somebody is counted",
        "root mean squared error (people), logarithmic",
        [
            f"{stated} of {number} measured errors are in the predicted intervals, {known} in those for about {about:,} people.",
            *(["Errors of 0 stand at the left end."] if any(error == 0 for _, error in narrow) else []),
        ],
    )


def _predicted_rows(
    table: sudare.CountTable, plan: sudare.Plan, known: sudare.Plan, releases: Sequence[sudare.Published]
) -> Iterator[Row | Heading]:
    margin: tuple[str, ...] | None = None
    has_groups = plan.kind_of_parts in ("areas", "levels") and any(error.margin for error in plan.errors)
    for part, narrow in zip(plan.errors, known.errors, strict=True):
        if has_groups and part.margin != margin:
            margin = part.margin
            yield Heading(" × ".join(margin) or "all people")
        errors = tuple(errors_of_part(table, one, plan, part)[0] for one in releases)
        yield Row(_label(plan, part), errors, part.rmse, (part.low, part.high), (narrow.low, narrow.high))


def _label(plan: sudare.Plan, part: sudare.tables.PredictedError) -> str:
    """A part below the heading of its margin."""
    if plan.kind_of_parts == "margins":
        return part.of_what(kind="margins").replace(" x ", " × ")
    if part.name:
        return f"{'all' if plan.kind_of_parts == 'ranges' else 'level'} {part.name}"
    return f"{'length' if plan.kind_of_parts == 'ranges' else 'side'} {part.side:,}"


def _unpredicted(
    title: str,
    subtitle: str,
    table: sudare.CountTable,
    releases: Sequence[sudare.Published],
    flat: Sequence[sudare.Published],
) -> Panels:
    """Of margins chosen one after the other, beside noise on each cell."""
    true = _margins(table.to_dense())
    rows: list[Row | Heading] = []
    distances = [[_distances(true, one) for one in some] for some in (releases, flat)]
    for order in ORDERS:
        rows.append(Heading(f"margins of {order} attribute{'s' if order > 1 else ''}"))
        for label, found in zip(("chosen margins", "flat noise"), distances, strict=True):
            errors = tuple(of_orders[order] for of_orders in found)
            rows.append(Row(label, errors, is_other=label == "flat noise"))
    return Panels(
        title,
        subtitle,
        list(_spent(releases)),
        "of the first release: share, ± noise (sd, people)",
        rows,
        "What came out (nothing was predicted)",
        "how accurate chosen margins are depends on the data; no formula tells",
        "mean l1 distance of shares (0 to 2), logarithmic",
        [
            f"Chosen margins are those of the first release; (n of {len(releases)}): in how many releases each was chosen.",
            "Flat noise: Laplace noise on each cell, with the whole budget, negative counts kept.",
        ],
    )


def _margin_names(release: sudare.Published) -> list[str]:
    return [note.name.partition(": ")[2].replace(" x ", " × ") for note in release.measurements or ()]


def _spent(releases: Sequence[sudare.Published]) -> Iterator[Bar]:
    """What each margin of the first release cost, together with the choice before it, and how many others chose it too."""
    names = iter(_margin_names(releases[0]))
    chosen = Counter(name for release in releases for name in set(_margin_names(release)))
    choice = 0.0
    for measurement in releases[0].event.measurements:
        cost = float(measurement.epsilon or 0) / float(BUDGET.epsilon or 1)
        if isinstance(measurement, SelectionMeasurement):
            choice += cost
            continue
        name = next(names)
        label = f"{name} ({chosen[name]} of {len(releases)})" if choice else name
        yield Bar(label, cost + choice, sqrt(noise_variance(measurement)), choice)
        choice = 0.0


Margins = dict[tuple[int, ...], "NDArray[np.float64]"]


def _margins(counts: NDArray[np.int64]) -> Margins:
    """The shares of all margins of up to three attributes."""
    axes = range(counts.ndim)
    shares = counts / counts.sum()
    return {
        margin: shares.sum(axis=tuple(axis for axis in axes if axis not in margin))
        for order in ORDERS
        for margin in combinations(axes, order)
    }


def _distances(true: Margins, release: sudare.Published) -> dict[int, float]:
    """The mean l1 distance of margins, by how many attributes they have."""
    made = _margins(release.to_dense())
    return {
        order: float(np.mean([np.abs(made[m] - true[m]).sum() for m in true if len(m) == order])) for order in ORDERS
    }


def main() -> None:
    """Draw all pictures, or those of some kinds."""
    names = [kind.name for kind in KINDS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(names)}; all if left out")
    wanted = parser.parse_args().kinds
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}")
    for kind in KINDS:
        if not wanted or kind.name in wanted:
            file_of(kind).write_text(draw(kind.title, kind.invent()), encoding="utf-8")
            print(file_of(kind).name)


if __name__ == "__main__":
    main()
