"""Speed and known answers of what is done with records of people."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import microdata_pseudonyms, microdata_synthetic
from benchmarks.data import data_folder
from benchmarks.measuring import best_seconds
from benchmarks.microdata_answers import KnownAnswer, answer_all
from benchmarks.microdata_known import left_out, search_cases
from benchmarks.microdata_known_values import value_cases
from sudare.microdata import KAnonymity, anonymize, read_hierarchy, read_people

ROUNDS = 7

TARGETS = {
    "adult_k5_seconds": "at most 0.3 (the optimal 5-anonymous generalization of Adult, 30,162 x 9, warm)",
    "adult_k5_suppression_seconds": "the same with up to 5 % of the records left out",
    "known_passed": "answers that are as known: ARX, its benchmark, SafePub, pyCANON, sdcMicro",
    "known_total": "of so many: all cases of the files but those left out",
    "known_other_levels": "of those passed, where another choice of levels costs the same as the expected one, and none less",
    "known_cheaper": "of those not passed, where ours costs less than ARX's, which ends a sum early",
    "known_left_out": "cases without an expected value, or without a table, in the files",
    **microdata_pseudonyms.TARGETS,
    **microdata_synthetic.TARGETS,
}


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    answers = all_known_answers(data_folder("known_answers"))
    return {
        **_adult(),
        **microdata_pseudonyms.run(),
        "known_passed": sum(answer.passed for answer in answers),
        "known_total": len(answers),
        "known_other_levels": sum(answer.other_levels for answer in answers),
        "known_cheaper": sum(answer.is_cheaper for answer in answers),
        "known_left_out": len(left_out(data_folder("known_answers"))),
        **microdata_synthetic.run(),
    }


def all_known_answers(folder: Path, chosen: Callable[[str], bool] = lambda _: True) -> list[KnownAnswer]:
    """Every case: of searches, and of values of tables as they stand."""
    return answer_all([*search_cases(folder), *value_cases(folder)], chosen)


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
