"""Known answers of searches: the cases of ARX's tests and of its benchmark, each passed or not.

A case passes if the cost of the best choice of levels is the expected one and the expected choice can be published at that cost.
Where several choices cost the same, which of them is taken is a matter of order; such answers are counted beside the others.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.microdata_adult import Adult, SharedChecker
from benchmarks.microdata_answers import CLOSE, Case, KnownAnswer, LeftOut
from benchmarks.microdata_early_end import CHAIN, cost_with_early_end
from sudare.microdata.grouping import Tuples, group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import (
    BetaLikeness,
    Closeness,
    EntropyDiversity,
    Game,
    KAnonymity,
    KMap,
    Model,
    PopulationUniqueness,
    Presence,
    RecursiveDiversity,
    estimated_k_map,
    no_attack,
)
from sudare.microdata.records import Records
from sudare.microdata.search import lattice
from sudare.microdata.search.checking import BestLevels, Checker
from sudare.microdata.search.heuristic import descend
from sudare.microdata.search.metrics import Metric

__all__ = ["left_out", "search_cases"]

PEOPLE_OF_THE_USA = 317_238_626
"""As ARX has them."""

GAME = {"gain": 120, "cost": 20, "benefit": 120, "loss": 3000}
"""What is at stake in the one case of a game, by the third configuration of ARX's test."""


def search_cases(folder: Path) -> Iterator[Case]:
    """Every case that can be compared.

    Args:
        folder: the one with ``arx`` in it.
    """
    adult = Adult(folder / "arx")
    yield from _arx_cases(adult)
    yield from _anonbench_cases(adult)
    yield from _small_cases(folder, adult)


def left_out(folder: Path) -> list[LeftOut]:
    """The cases of the files that have no expected value, or none without ARX's own programs or data."""
    adult = Adult(folder / "arx")
    cases = [
        LeftOut(_name(case), case["use"]) for case in _read(adult, "adult_expected.json") if not _is_comparable(case)
    ]
    for case in _read(adult, "anonbench_expected.json")["cases"]:
        if case["dataset"] != "ADULT":
            cases.append(LeftOut(f"anonbench {case['dataset']} {'+'.join(case['criteria'])}", "the table is not there"))
    return [*cases, LeftOut("arx presence in the paper's example", "the table is not there")]


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
        (rf'EntropyLDiversity\("(.*?)", {number}\)', lambda s, values: EntropyDiversity(s, Fraction(values))),
        (
            rf'EntropyLDiversity\("(.*?)", {number}, EntropyEstimator.GRASSBERGER\)',
            lambda s, values: EntropyDiversity(s, Fraction(values), estimator="grassberger"),
        ),
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
        (
            rf"getPopulationUniqueness\({number}, PopulationUniquenessModel.PITMAN\)",
            lambda limit: PopulationUniqueness(Fraction(limit), PEOPLE_OF_THE_USA, estimator="pitman"),
        ),
        (r"ProfitabilityJournalistNoAttack\(.*", lambda: no_attack(Game(**GAME, attacker="journalist"))),
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
    if kind == "PublisherPayout":
        return Metric("payout", game=Game(**GAME, attacker="journalist" if "true" in arguments else "prosecutor"))
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


def _read(adult: Adult, file: str) -> Any:
    return json.loads((adult.folder / file).read_text(encoding="utf-8"))


def _name(case: dict[str, Any]) -> str:
    return f"arx {case['file'].removesuffix('.java')} {case['index']}"


def _is_comparable(case: dict[str, Any]) -> bool:
    return bool(case["use"].startswith(("exact", "heuristic", "optimum")))


def _arx_cases(adult: Adult) -> Iterator[Case]:
    for case in _read(adult, "adult_expected.json"):
        if _is_comparable(case):
            yield _name(case), partial(_arx_case, case, _name(case), adult)


def _arx_case(case: dict[str, Any], name: str, adult: Adult) -> KnownAnswer:
    weighted = case["file"] == "TestUtilityMetricsLoss.java" and case["index"] >= 50
    models = [_model(text, adult) for text in case["models"]]
    metric = _metric(case["metric"], weighted=weighted)
    if metric is None or None in models:
        missing = case["metric"] if metric is None else case["models"][models.index(None)]
        return KnownAnswer(name, False, f"not offered: {missing.split('(')[0].removeprefix('Metric.create')}")
    checker = _checker(adult, case.get("sensitive"), [m for m in models if m], metric, case["suppression_limit"])
    if "node_losses" in case:
        return _node_losses(case, name, checker)
    if case.get("expected_transformation") is None:
        found = lattice.find_optimal(checker)
        passed = found.levels is None and found.is_optimal
        return KnownAnswer(name, passed, f"no solution expected, found {found.levels}")
    expected = _numbers(case["expected_loss"])
    if not case["use"].startswith("exact"):
        return _no_worse(name, checker, expected[0])
    found = lattice.find_optimal(checker)
    if any(isinstance(model, EntropyDiversity) and model.estimator == "grassberger" for model in models):
        return _ended_early(case, name, adult, found)
    return _compared(name, checker, found.levels, found.cost, case["expected_transformation"], expected)


def _ended_early(case: dict[str, Any], name: str, adult: Adult, found: BestLevels) -> KnownAnswer:
    """The case of Grassberger's estimate: ours costs less, and the expected cost is that of ARX's way to add."""
    model = _model(case["models"][0], adult)
    metric = _metric(case["metric"], weighted=False)
    if not isinstance(model, EntropyDiversity) or metric is None or CHAIN[-1] != tuple(case["expected_transformation"]):
        return KnownAnswer(name, False, "another case than the one that is known to end early")
    checker = Checker(
        adult.tuples(case["sensitive"], subset=False), [model], metric, Fraction(case["suppression_limit"])
    )
    theirs, expected = cost_with_early_end(adult, checker, float(model.l)), _numbers(case["expected_loss"])
    is_explained = _all_close((theirs,), expected) and checker.check(CHAIN[-1]).is_allowed and found.cost < expected
    detail = f"{found.levels} costs {found.cost[0]:.12g}; ARX's cost is {expected[0]:.12g}, because it ends a sum early"
    return KnownAnswer(name, False, detail, is_cheaper=is_explained)


def _no_worse(name: str, checker: Checker, expected: float) -> KnownAnswer:
    """A case of a heuristic: its cost is to be matched. A descent may be enough; else the best choice is searched."""
    reached = descend(checker)
    cost = math.inf if reached is None else reached.cost[0]
    if cost > expected * (1 + CLOSE):
        cost = lattice.find_optimal(checker).cost[0]
    return KnownAnswer(name, cost <= expected * (1 + CLOSE), f"{cost:.12g}, ARX's heuristic {expected:.12g}")


def _checker(adult: Adult, sensitive: str | None, models: list[Model], metric: Metric, limit: str) -> Checker:
    subset = any(isinstance(model, (Presence, KMap)) for model in models)
    if any(model.smallest_size > 1 for model in models):
        # ARX looks at sizes first, and so never sees that a class without a published row is outside the bounds.
        models = [Presence(m.smallest, m.largest, absent=False) if isinstance(m, Presence) else m for m in models]
    counted = any(model.sensitive is not None for model in models)
    tuples = adult.tuples(sensitive or None, subset=subset, counted=counted)
    if subset or metric.name not in ("loss", "entropy"):
        return Checker(tuples, models, metric, Fraction(limit))
    return SharedChecker(tuples, models, metric, Fraction(limit), adult.judged(sensitive or None, models))


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
    if not passed:
        detail = f"found {levels} {cost}, expected {expected_levels} {expected}, which costs {theirs.cost}"
        return KnownAnswer(name, False, detail)
    if list(levels) == expected_levels:
        return KnownAnswer(name, True, "same")
    # Both choices were looked at, both can be published, and no choice costs less: the best one is not the only one.
    return KnownAnswer(name, True, f"{levels} costs the same as {expected_levels}", other_levels=True)


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
    for case in _read(adult, "anonbench_expected.json")["cases"]:
        if case["dataset"] == "ADULT":
            name = f"anonbench ADULT {'+'.join(case['criteria'])}"
            yield name, partial(_anonbench_case, case, name, adult)


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
    yield "arx seven rows, k = 2", partial(_seven_rows, small["test7"])
    yield "arx seven rows, no hierarchies", partial(_seven_rows_without, small["test7"])
    yield "arx Adult, k = 2, risks", partial(_adult_risks, small["adult_k2_loss_rank_suppression0"], adult)


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
