"""Known answers for tables of people: the cases of ARX's tests, its benchmark and pyCANON's values, each passed or not.

A case of a search passes if the cost of the best choice of levels is the expected one and the expected choice can be published
at that cost. Where several choices cost the same, which of them is taken is a matter of order, and the detail says so.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sudare.microdata import lattice
from sudare.microdata.checking import Checker
from sudare.microdata.grouping import Histogram, Tuples, group, histogram
from sudare.microdata.hierarchy import Generalization
from sudare.microdata.metrics import Metric
from sudare.microdata.models import (
    BetaLikeness,
    Closeness,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    Presence,
    RecursiveDiversity,
    estimated_k_map,
    measure,
)
from sudare.microdata.records import Records, read_people

__all__ = ["KnownAnswer", "known_answers"]

PEOPLE_OF_THE_USA = 318_800_000
"""About; any number from a hundred million on leads to the same class size in the one case that needs it."""

CLOSE = 1e-9


@dataclass(frozen=True)
class KnownAnswer:
    """One case.

    Args:
        name: of the case.
        passed: whether ours is the expected answer.
        detail: what was found, or why it cannot be compared.
        is_offered: whether the package has the models and metrics of the case.
    """

    name: str
    passed: bool
    detail: str
    is_offered: bool = True


def known_answers(folder: Path, chosen: Callable[[str], bool] = lambda _: True) -> list[KnownAnswer]:
    """Every case that can be compared.

    Args:
        folder: the one with ``arx`` and ``pycanon`` in it.
        chosen: which cases, by name.
    """
    adult = Adult(folder / "arx")
    cases = [*_arx_cases(adult), *_anonbench_cases(adult), *_small_cases(folder, adult), *_pycanon_cases(folder)]
    return [answer() for name, answer in cases if chosen(name)]


Case = tuple[str, Callable[[], KnownAnswer]]


class Adult:
    """Adult as ARX has it, with its hierarchies and the subset that stands for the published rows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cache  # noqa: B019 - one object for a run
    def records(self) -> Records:
        """The 30,162 records."""
        return read_people(self.folder / "data" / "adult.csv")

    @cache  # noqa: B019
    def hierarchy(self, name: str) -> Generalization:
        """The hierarchy of a column."""
        with (self.folder / "data" / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            return Generalization.of_paths(name, [tuple(line) for line in csv.reader(file, delimiter=";")])

    @cache  # noqa: B019
    def subset(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Rows of the research subset: of equal rows, the first ones."""
        whole, part = self.records(), read_people(self.folder / "data" / "adult_subset.csv")
        left: dict[tuple[object, ...], int] = {}
        for row in zip(*(part.column(name).texts() for name in whole.names), strict=True):
            left[row] = left.get(row, 0) + 1
        found = np.zeros(whole.rows, dtype=bool)
        for place, row in enumerate(zip(*(whole.column(name).texts() for name in whole.names), strict=True)):
            if left.get(row, 0):
                left[row] -= 1
                found[place] = True
        return found

    @cache  # noqa: B019
    def tuples(self, sensitive: str | None, *, subset: bool) -> Tuples:
        """All columns but the sensitive one."""
        records = self.records()
        names = [name for name in records.names if name != sensitive]
        columns = [records.column(name) for name in names]
        private = [] if sensitive is None else [records.column(sensitive)]
        published = self.subset() if subset else None
        return Tuples.of_rows(columns, [self.hierarchy(name) for name in names], private, published)


def _model(text: str, adult: Adult) -> Model | None:
    """A model as ARX's tests write it; None if we do not have it."""
    number = r"([0-9.E-]+)d?"
    forms: list[tuple[str, Callable[..., Model]]] = [
        (rf"KAnonymity\({number}\)", lambda k: KAnonymity(int(k))),
        (rf"DPresence\({number}, {number}, .*", lambda low, high: Presence(Fraction(low), Fraction(high))),
        (
            rf'RecursiveCLDiversity\("(.*)", {number}, {number}\)',
            lambda s, c, values: RecursiveDiversity(s, Fraction(c), int(values)),
        ),
        (rf'EntropyLDiversity\("(.*)", {number}\)', lambda s, values: EntropyDiversity(s, Fraction(values))),
        (rf'EqualDistanceTCloseness\("(.*)", {number}\)', lambda s, t: Closeness(s, Fraction(t))),
        (rf'OrderedDistanceTCloseness\("(.*)", {number}\)', lambda s, t: Closeness(s, Fraction(t), order=True)),
        (
            rf'HierarchicalDistanceTCloseness\("(.*?)", {number}, .*',
            lambda s, t: Closeness(s, Fraction(t), hierarchy=adult.hierarchy(s)),
        ),
        (rf'BasicBLikeness\("(.*)", {number}\)', lambda s, b: BetaLikeness(s, Fraction(b))),
        (
            rf"KMap\({number}, {number}, ARXPopulationModel.*ZERO_TRUNCATED_POISSON\)",
            lambda k, error: estimated_k_map(
                int(k), Fraction(adult.records().rows, PEOPLE_OF_THE_USA), Fraction(error), truncated=True
            ),
        ),
        (rf"KMap\({number}, DataSubset.*", lambda k: KMap(int(k))),
    ]
    for form, make in forms:
        match = re.fullmatch(form, text)
        if match:
            return make(*match.groups())
    return None


def _metric(text: str, *, weighted: bool) -> Metric | None:
    """A metric as ARX's tests write it; None if we do not have it."""
    weights = None
    if weighted:
        # The tests weigh the columns 1 to 9.
        order = (
            "sex",
            "age",
            "race",
            "marital-status",
            "education",
            "native-country",
            "workclass",
            "occupation",
            "salary-class",
        )
        weights = {name: place / 9 for place, name in enumerate(order, 1)}
    match = re.fullmatch(r"Metric\.create(\w+)Metric\((.*)\)", text)
    if match is None:
        return None
    kind, arguments = match.group(1), [part.strip() for part in match.group(2).split(",") if part.strip()]
    if kind == "Loss":
        numbers = [float(part.rstrip("d")) for part in arguments if re.fullmatch(r"[0-9.]+d?", part)]
        aggregate = "rank" if "AggregateFunction.RANK" in arguments else None
        return Metric("loss", aggregate, numbers[0] if numbers else 0.5, weights=weights)
    plain = "true" not in arguments  # "monotonic" metrics take no notice of suppression
    names = {
        "PrecomputedEntropy": "entropy",
        "Entropy": "entropy",
        "Discernability": "discernibility",
        "AECS": "class size",
        "Precision": "precision",
        "Height": "height",
    }
    return Metric(names[kind], suppression=plain) if kind in names else None


def _arx_cases(adult: Adult) -> Iterator[Case]:
    for case in json.loads((adult.folder / "adult_expected.json").read_text(encoding="utf-8")):
        if not case["use"].startswith(("exact", "heuristic", "optimum")):
            continue
        name = f"arx {case['file'].removesuffix('.java')} {case['index']}"
        yield name, lambda case=case, name=name: _arx_case(case, name, adult)  # type: ignore[misc]


def _arx_case(case: dict[str, Any], name: str, adult: Adult) -> KnownAnswer:
    weighted = case["file"] == "TestUtilityMetricsLoss.java" and case["index"] >= 50
    models = [_model(text, adult) for text in case["models"]]
    metric = _metric(case["metric"], weighted=weighted)
    if metric is None or None in models:
        missing = case["metric"] if metric is None else case["models"][models.index(None)]
        return KnownAnswer(name, False, f"not offered: {missing.split('(')[0].removeprefix('Metric.create')}", False)
    checker = _checker(adult, case.get("sensitive"), [m for m in models if m], metric, case["suppression_limit"])
    if "node_losses" in case:
        return _node_losses(case, name, checker)
    found = lattice.find_optimal(checker)
    if case.get("expected_transformation") is None:
        return KnownAnswer(
            name, found.levels is None and found.is_optimal, f"no solution expected, found {found.levels}"
        )
    expected = _numbers(case["expected_loss"])
    if not case["use"].startswith("exact"):
        passed = found.levels is not None and found.cost[0] <= expected[0] * (1 + CLOSE)
        return KnownAnswer(name, passed, f"{found.cost[0]:.12g}, ARX's heuristic {expected[0]:.12g}")
    return _compared(name, checker, found.levels, found.cost, case["expected_transformation"], expected)


def _checker(adult: Adult, sensitive: str | None, models: list[Model], metric: Metric, limit: str) -> Checker:
    subset = any(isinstance(model, (Presence, KMap)) for model in models)
    if any(model.smallest_size > 1 for model in models):
        # ARX looks at sizes first, and so never sees that a class without a published row is outside the bounds.
        models = [Presence(m.smallest, m.largest, absent=False) if isinstance(m, Presence) else m for m in models]
    return Checker(adult.tuples(sensitive or None, subset=subset), models, metric, Fraction(limit))


def _compared(
    name: str,
    checker: Checker,
    levels: tuple[int, ...] | None,
    cost: tuple[float, ...],
    expected_levels: list[int],
    expected: tuple[float, ...],
) -> KnownAnswer:
    if levels is None:
        return KnownAnswer(name, False, "nothing found")
    theirs = checker.check(tuple(expected_levels))
    same_cost = _all_close(cost, expected)
    passed = same_cost and theirs.is_allowed and _all_close(theirs.cost, expected)
    if passed:
        detail = "same" if list(levels) == expected_levels else f"equal cost at {levels}"
    else:
        detail = f"found {levels} {cost}, expected {expected_levels} {expected}, which costs {theirs.cost}"
    return KnownAnswer(name, passed, detail)


def _node_losses(case: dict[str, Any], name: str, checker: Checker) -> KnownAnswer:
    wrong = []
    for levels, loss in case["node_losses"]:
        cost, expected = checker.cost_of(json.loads(levels)), _numbers(loss)
        if not _all_close(cost, expected):
            wrong.append(f"{levels}: {cost}, expected {expected}")
    return KnownAnswer(name, not wrong, "; ".join(wrong) or f"{len(case['node_losses'])} costs")


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.strip("[]").split(","))


def _all_close(found: tuple[float, ...], expected: tuple[float, ...]) -> bool:
    return len(found) == len(expected) and all(
        math.isclose(a, b, rel_tol=CLOSE, abs_tol=2e-10) for a, b in zip(found, expected, strict=True)
    )


def _anonbench_cases(adult: Adult) -> Iterator[Case]:
    for case in json.loads((adult.folder / "anonbench_expected.json").read_text(encoding="utf-8"))["cases"]:
        if case["dataset"] == "ADULT":
            name = f"anonbench ADULT {'+'.join(case['criteria'])}"
            yield name, lambda case=case, name=name: _anonbench_case(case, name, adult)  # type: ignore[misc]


def _anonbench_case(case: dict[str, Any], name: str, adult: Adult) -> KnownAnswer:
    models: dict[str, Callable[[], Model]] = {
        "K_ANONYMITY": lambda: KAnonymity(5),
        "L_DIVERSITY": lambda: RecursiveDiversity("occupation", 4, 3),
        "T_CLOSENESS": lambda: Closeness("occupation", Fraction("0.2"), hierarchy=adult.hierarchy("occupation")),
        "D_PRESENCE": lambda: Presence(Fraction("0.05"), Fraction("0.15")),
    }
    chosen = [models[criterion]() for criterion in case["criteria"]]
    checker = _checker(adult, "occupation", chosen, Metric("discernibility", suppression=False), "0")
    found = lattice.find_optimal(checker)
    return _compared(name, checker, found.levels, found.cost, case["transformation"], _numbers(case["loss"]))


def _small_cases(folder: Path, adult: Adult) -> Iterator[Case]:
    small = json.loads((folder / "arx" / "small_expected.json").read_text(encoding="utf-8"))
    yield "arx seven rows, k = 2", lambda: _seven_rows(small["test7"])
    yield "arx seven rows, no hierarchies", lambda: _seven_rows_without(small["test7"])
    yield "arx Adult, k = 2, risks", lambda: _adult_risks(small["adult_k2_loss_rank_suppression0"], adult)


def _seven_tuples(small: dict[str, Any], *, height_one: bool = False) -> Tuples:
    records = Records.of_columns(dict(zip(small["header"], zip(*small["rows"], strict=True), strict=True)))
    hierarchies = []
    for name in records.names:
        paths = [tuple(path) for path in small["hierarchies"][name]]
        used = set(records.column(name).labels)
        hierarchies.append(
            Generalization.of_paths(name, [path[:1] if height_one else path for path in paths if path[0] in used])
        )
    return Tuples.of_rows([records.column(name) for name in records.names], hierarchies)


def _seven_rows(small: dict[str, Any]) -> KnownAnswer:
    tuples = _seven_tuples(small)
    checker = Checker(tuples, [KAnonymity(2)], Metric("loss"))
    found = lattice.find_optimal(checker)
    if found.levels is None:
        return KnownAnswer("arx seven rows, k = 2", False, "nothing found")
    rows = []
    for row in small["rows"]:
        labels = []
        for hierarchy, level, value in zip(tuples.hierarchies, found.levels, row, strict=True):
            leaf = hierarchy.levels[0].index(value)
            labels.append(hierarchy.levels[level][hierarchy.parents[level][leaf]])
        rows.append(labels)
    classes = group([np.unique(column, return_inverse=True)[1].astype(np.int32) for column in np.array(rows).T])
    average, highest = classes.sizes.size / len(rows), 1 / int(classes.sizes.min())
    passed = rows == small["k2_suppression0_output"]
    passed &= math.isclose(average, small["average_risk_after_k2"])
    passed &= math.isclose(highest, small["highest_risk_after_k2"])
    return KnownAnswer("arx seven rows, k = 2", passed, f"levels {found.levels}")


def _seven_rows_without(small: dict[str, Any]) -> KnownAnswer:
    checker = Checker(_seven_tuples(small, height_one=True), [KAnonymity(2)], Metric("loss"))
    found = lattice.find_optimal(checker)
    return KnownAnswer("arx seven rows, no hierarchies", found.levels is None and found.is_optimal, "no solution")


def _adult_risks(expected: dict[str, float], adult: Adult) -> KnownAnswer:
    name = "arx Adult, k = 2, risks"
    checker = Checker(adult.tuples(None, subset=False), [KAnonymity(2)], Metric("loss", "rank"))
    found = lattice.find_optimal(checker)
    if found.levels is None:
        return KnownAnswer(name, False, "nothing found")
    sizes = checker.check(found.levels).grouped.sizes
    average, highest = sizes.size / int(sizes.sum()), 1 / int(sizes.min())
    passed = math.isclose(average, expected["average_risk"]) and math.isclose(highest, expected["highest_risk"])
    return KnownAnswer(name, passed, f"average risk {average:.12g}, highest {highest:.12g}")


def _pycanon_cases(folder: Path) -> Iterator[Case]:
    values = json.loads((folder / "pycanon" / "values_computed_with_pycanon_1.3.6.json").read_text(encoding="utf-8"))
    for path, expected in values.items():
        name = f"pycanon {Path(path).name}"
        yield (
            name,
            lambda path=path, expected=expected, name=name: _pycanon_case(  # type: ignore[misc]
                folder / "pycanon" / "data" / Path(path).name, expected, name
            ),
        )


def _pycanon_case(path: Path, expected: dict[str, Any], name: str) -> KnownAnswer:
    """All values of one table.

    pyCANON orders the counts of a class from the smallest on for (c, l)-diversity, where the definition has the largest first;
    and it cuts e ** entropy off to a whole number, which turns 2 into 1 when rounding makes it 1.9999. Both are repeated here.
    """
    records, sensitive = read_people(path), expected["sa"][0]
    found = measure(records, expected["qi"], sensitive)
    counted = histogram(group([records.column(column) for column in expected["qi"]]), records.column(sensitive))
    is_number = all(_is_number(label) for label in records.column(sensitive).labels)
    pairs = {
        "k_anonymity": (found.k, expected["k_anonymity"]),
        "alpha": (found.alpha, expected["alpha_k_anonymity"][0]),
        "l_diversity": (found.distinct_l, expected["l_diversity"]),
        "entropy_l_diversity": (_cut_entropy(counted), expected["entropy_l_diversity"]),
        "c": (_ascending_c(counted, found.distinct_l), expected["recursive_c_l_diversity"][0]),
        "basic_beta_likeness": (found.basic_beta, expected["basic_beta_likeness"]),
        "enhanced_beta_likeness": (found.enhanced_beta, expected["enhanced_beta_likeness"]),
        "delta_disclosure": (found.delta, expected["delta_disclosure"]),
        "t_closeness": (found.ordered_t if is_number else found.equal_t, expected["t_closeness"]),
    }
    wrong = [
        f"{key} {ours}, expected {theirs}"
        for key, (ours, theirs) in pairs.items()
        if (ours is None) != (theirs is None) or (ours is not None and not math.isclose(ours, theirs, rel_tol=CLOSE))
    ]
    return KnownAnswer(name, not wrong, "; ".join(wrong) or f"{len(pairs)} values")


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _cut_entropy(counted: Histogram) -> int:
    rows = counted.dense()
    smallest = math.inf
    for row in rows:
        shares = row[row > 0] / row.sum()
        smallest = min(smallest, float(np.exp(1) ** -np.sum(shares * np.log(shares))))
    return int(smallest)


def _ascending_c(counted: Histogram, first: int) -> int | None:
    if first == 1:
        return None
    ordered = [np.sort(row[row > 0]) for row in counted.dense()]
    return max(math.floor(float(row[0] / row[first - 1 :].sum()) + 1) for row in ordered)
