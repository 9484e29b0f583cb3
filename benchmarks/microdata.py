"""Speed and known answers of what is done with records of people."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import microdata_pseudonyms, microdata_synthetic
from benchmarks.data import data_folder
from benchmarks.measuring import best_seconds
from benchmarks.microdata_known import KnownAnswer, known_answers
from sudare.microdata import KAnonymity, anonymize, matching_frequencies, read_hierarchy, read_people
from sudare.microdata.records import Records
from sudare.microdata.sampled_k_anonymity import published_smallest_k

ROUNDS = 7

TARGETS = {
    "adult_k5_seconds": "at most 0.3 (the optimal 5-anonymous generalization of Adult, 30,162 x 9, warm)",
    "adult_k5_suppression_seconds": "the same with up to 5 % of the records left out",
    "known_passed": "answers that are as known: ARX, its benchmark, SafePub, pyCANON, sdcMicro",
    "known_total": "of so many",
    **microdata_pseudonyms.TARGETS,
}


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    answers = all_known_answers(data_folder("known_answers"))
    return {
        **_adult(),
        **microdata_pseudonyms.run(),
        "known_passed": sum(answer.passed for answer in answers),
        "known_total": len(answers),
        **microdata_synthetic.run(),
    }


def all_known_answers(folder: Path) -> list[KnownAnswer]:
    """Every case, of generalizations, sampling and frequencies."""
    return [*known_answers(folder), *_sampling_answers(folder), *_frequency_answers(folder)]


def _adult() -> dict[str, float]:
    folder = data_folder("adult")
    records = read_people(folder / "adult_arx.csv")
    hierarchies = {
        name: read_hierarchy(folder / "hierarchies_arx" / f"adult_hierarchy_{name}.csv", name) for name in records.names
    }

    def search(suppression: float) -> None:
        anonymize(records, hierarchies, [KAnonymity(5)], suppression=suppression)

    jobs: dict[str, Callable[[], object]] = {
        "adult_k5_seconds": partial(search, 0.0),
        "adult_k5_suppression_seconds": partial(search, 0.05),
    }
    for job in jobs.values():
        job()
    return best_seconds(jobs, ROUNDS)


def _sampling_answers(folder: Path) -> list[KnownAnswer]:
    cases = json.loads((folder / "arx" / "safepub_k_beta_recomputed.json").read_text())
    answers = []
    for case in cases:
        found = published_smallest_k(case["beta"], case["epsilon"], Fraction(str(case["delta"])))
        name = f"SafePub epsilon={case['epsilon']} delta={case['delta']}"
        answers.append(KnownAnswer(name, found == case["smallest_k"], f"k = {found}"))
    return answers


def _frequency_answers(folder: Path) -> list[KnownAnswer]:
    expected = json.loads((folder / "sdcMicro" / "expected.json").read_text())
    whole = expected["freqCalc_A"]
    cases = {
        "freqCalc_A": {name: whole[name] for name in "ABC"},
        "freqCalc_A_with_NA": {**{name: whole[name] for name in "AB"}, "C": expected["freqCalc_A_with_NA"]["C"]},
        "freqCalc_1col_NA": {"A": expected["freqCalc_1col_NA"]["A"]},
    }
    answers = []
    for name, columns in cases.items():
        records = Records.of_columns(columns)
        sample, people = matching_frequencies([records.column(column) for column in columns], whole["w"])
        same = np.allclose(sample, expected[name]["fk"]) and np.allclose(people, expected[name]["Fk"])
        answers.append(KnownAnswer(f"sdcMicro {name}", bool(same), ""))
    return answers
