"""Known values of tables as they stand: risks by ARX, models by pyCANON, frequencies and risks by sdcMicro, SafePub's sizes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.microdata_answers import Case, KnownAnswer, compared
from sudare.microdata import (
    attribute_risks,
    individual_risk,
    matching_frequencies,
    population_uniqueness,
    prosecutor_risk,
    sample_uniqueness,
)
from sudare.microdata.grouping import ValueHistogram, group, histogram
from sudare.microdata.models import measure
from sudare.microdata.perturb.sampled_k_anonymity import published_smallest_k
from sudare.microdata.records import CodedColumn, Records, read_people

__all__ = ["value_cases"]

UNIQUENESS = {
    "sampling_fraction_0.1_pitman": (0.1, "pitman"),
    "0.1_zayatz": (0.1, "zayatz"),
    "0.2": (0.2, "auto"),
    "0.01": (0.01, "auto"),
    "1.0": (1.0, "auto"),
}
"""What ARX's tests estimate of Adult: the fraction that it is of the population, and by which model."""


def value_cases(folder: Path) -> Iterator[Case]:
    """All cases below a folder."""
    yield from _arx_cases(folder / "arx")
    yield from _pycanon_cases(folder / "pycanon")
    yield from _sampling_cases(folder / "arx" / "safepub_k_beta_recomputed.json")
    yield from _sdcmicro_cases(folder / "sdcMicro" / "expected.json")


def _arx_cases(folder: Path) -> Iterator[Case]:
    small = json.loads((folder / "small_expected.json").read_text(encoding="utf-8"))
    yield "arx Adult, risks", partial(_adult_risks, folder, small["adult_9qi_raw"])
    for key in small["adult_9qi_raw"]["population_uniqueness_dankar_4digits"]:
        yield f"arx Adult, population uniqueness {key}", partial(_adult_uniqueness, folder, small["adult_9qi_raw"], key)
    yield "arx distinction and separation", partial(_separation, small["distinction_separation"])


@cache
def _adult_sizes(folder: Path) -> np.ndarray[Any, np.dtype[np.int64]]:
    return group(read_people(folder / "data" / "adult.csv").columns).sizes


def _adult_risks(folder: Path, expected: dict[str, Any]) -> KnownAnswer:
    sizes = _adult_sizes(folder)
    risk = prosecutor_risk(sizes)
    pairs = {
        "average_risk": (risk.average, expected["average_risk"]),
        "highest_risk": (risk.highest, expected["highest_risk"]),
        "sample_uniqueness": (sample_uniqueness(sizes), expected["sample_uniqueness"]),
    }
    return compared("arx Adult, risks", dict(pairs))


def _adult_uniqueness(folder: Path, expected: dict[str, Any], key: str) -> KnownAnswer:
    fraction, model = UNIQUENESS[key]
    found = population_uniqueness(_adult_sizes(folder), fraction, model=model)
    theirs = expected["population_uniqueness_dankar_4digits"][key]
    return compared(f"arx Adult, population uniqueness {key}", {key: (found, theirs)})


def _separation(example: dict[str, Any]) -> KnownAnswer:
    table = Records.of_columns(dict(zip(example["header"], zip(*example["rows"], strict=True), strict=True)))
    found = {frozenset(risk.names): risk for risk in attribute_risks(table, example["header"])}
    pairs: dict[str, tuple[float | None, float | None]] = {}
    for names, (distinction, separation) in example["expected"].items():
        risk = found[frozenset(names.split(","))]
        pairs[f"{names} distinction"] = (risk.distinction, distinction)
        pairs[f"{names} separation"] = (risk.separation, separation)
    return compared("arx distinction and separation", pairs)


def _pycanon_cases(folder: Path) -> Iterator[Case]:
    values = json.loads((folder / "values_computed_with_pycanon_1.3.6.json").read_text(encoding="utf-8"))
    for path, expected in values.items():
        name = f"pycanon {Path(path).name}"
        yield name, partial(_pycanon_case, folder / "data" / Path(path).name, expected, name)
    tests = json.loads((folder / "expected_from_tests.json").read_text(encoding="utf-8"))
    for file, expected in tests.items():
        if file.endswith(".csv"):
            renamed = {
                "qi": tests["qi"],
                "sa": [tests["sa"]],
                "k_anonymity": expected["k"],
                "alpha_k_anonymity": expected["alpha_k"],
                "l_diversity": expected["l"],
                "entropy_l_diversity": expected["entropy_l"],
                "recursive_c_l_diversity": expected["c_l"],
                "basic_beta_likeness": expected["basic_beta"],
                "enhanced_beta_likeness": expected["enhanced_beta"],
                "delta_disclosure": expected["delta_disclosure"],
                "t_closeness": expected["t"],
            }
            name = f"pycanon's own test {file}"
            yield name, partial(_pycanon_case, folder / "data" / file, renamed, name)


def _pycanon_case(path: Path, expected: dict[str, Any], name: str) -> KnownAnswer:
    """All values of one table.

    pyCANON orders the counts of a class from the smallest on for (c, l)-diversity, where the definition has the largest first;
    and it cuts e ** entropy off to a whole number, which turns 2 into 1 when rounding makes it 1.9999. Both are repeated here.
    """
    records, sensitive = read_people(path), expected["sa"][0]
    found = measure(records, expected["qi"], sensitive)
    counted = histogram(group([records.column(column) for column in expected["qi"]]), records.column(sensitive))
    is_number = all(_is_number(label) for label in records.column(sensitive).labels)
    return compared(
        name,
        {
            "k_anonymity": (found.k, expected["k_anonymity"]),
            "alpha": (found.alpha, expected["alpha_k_anonymity"][0]),
            "l_diversity": (found.distinct_l, expected["l_diversity"]),
            "entropy_l_diversity": (_cut_entropy(counted), expected["entropy_l_diversity"]),
            "c": (_ascending_c(counted, found.distinct_l), expected["recursive_c_l_diversity"][0]),
            "basic_beta_likeness": (found.basic_beta, expected["basic_beta_likeness"]),
            "enhanced_beta_likeness": (found.enhanced_beta, expected["enhanced_beta_likeness"]),
            "delta_disclosure": (found.delta, expected["delta_disclosure"]),
            "t_closeness": (found.ordered_t if is_number else found.equal_t, expected["t_closeness"]),
        },
    )


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _cut_entropy(counted: ValueHistogram) -> int:
    smallest = math.inf
    for row in counted.dense():
        shares = row[row > 0] / row.sum()
        smallest = min(smallest, float(np.exp(1) ** -np.sum(shares * np.log(shares))))
    return int(smallest)


def _ascending_c(counted: ValueHistogram, first: int) -> int | None:
    if first == 1:
        return None
    ordered = [np.sort(row[row > 0]) for row in counted.dense()]
    return max(math.floor(float(row[0] / row[first - 1 :].sum()) + 1) for row in ordered)


def _sampling_cases(path: Path) -> Iterator[Case]:
    for case in json.loads(path.read_text(encoding="utf-8")):
        name = f"SafePub epsilon={case['epsilon']} delta={case['delta']}"
        yield name, partial(_sampling_case, case, name)


def _sampling_case(case: dict[str, Any], name: str) -> KnownAnswer:
    found = published_smallest_k(case["beta"], case["epsilon"], Fraction(str(case["delta"])))
    return KnownAnswer(name, found == case["smallest_k"], f"k = {found}")


def _sdcmicro_cases(path: Path) -> Iterator[Case]:
    expected = json.loads(path.read_text(encoding="utf-8"))
    whole = expected["freqCalc_A"]
    tables = {
        "freqCalc_A": {name: whole[name] for name in "ABC"},
        "freqCalc_A_with_NA": {**{name: whole[name] for name in "AB"}, "C": expected["freqCalc_A_with_NA"]["C"]},
        "freqCalc_1col_NA": {"A": expected["freqCalc_1col_NA"]["A"]},
    }
    for name, table in tables.items():
        yield f"sdcMicro {name}", partial(_frequencies, f"sdcMicro {name}", table, whole["w"], expected[name])
    risks = expected["indivRisk_A_weighted"]
    for kind in ("approx", "exact"):
        name = f"sdcMicro indivRisk {kind}"
        yield (
            name,
            partial(
                _individual,
                name,
                tables["freqCalc_A"],
                whole["w"],
                {"approx": "approximate"}.get(kind, kind),
                risks[kind],
            ),
        )


def _frequencies(name: str, table: dict[str, Any], weights: list[float], expected: dict[str, Any]) -> KnownAnswer:
    sample, people = matching_frequencies([CodedColumn.of(column, table[column]) for column in table], weights)
    same = np.allclose(sample, expected["fk"]) and np.allclose(people, expected["Fk"])
    return KnownAnswer(name, bool(same), f"{len(sample)} records")


def _individual(
    name: str, table: dict[str, Any], weights: list[float], method: str, expected: list[float]
) -> KnownAnswer:
    sample, people = matching_frequencies([CodedColumn.of(column, table[column]) for column in table], weights)
    found = individual_risk(sample, people, method=method)
    # The test has eight digits.
    return KnownAnswer(name, bool(np.allclose(found, expected, rtol=0, atol=5e-9)), f"{len(expected)} records")
