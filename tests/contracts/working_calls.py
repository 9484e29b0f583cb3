"""Arguments that work for the public functions and classes of the pillars, so that each can be given a wrong one in turn."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sudare import attacks, collect, disclosure, ledger, microdata
from sudare.accuracy import invent_table, predict_accuracy
from sudare.domain import CountTable, Domain
from sudare.privacy import Budget, Unit

__all__ = ["WORKING"]

FOLDER = Path(tempfile.mkdtemp(prefix="sudare-calls-"))
EPSILON = Budget(epsilon=1)

PEOPLE = microdata.Records.of_columns(
    {
        "age": [20, 21, 22, 23, 20, 21, 22, 23],
        "sex": ["f", "f", "m", "m", "f", "f", "m", "m"],
        "ill": ["no", "yes", "no", "yes", "no", "no", "yes", "yes"],
    }
)
AGES = microdata.flat_hierarchy("age", ["20", "21", "22", "23"])
SEXES = microdata.flat_hierarchy("sex", ["f", "m"])
HIERARCHIES = {"age": AGES, "sex": SEXES}
MATRIX = microdata.TransitionMatrix.keeping(["f", "m"], Fraction(1, 2))
MODEL = microdata.KAnonymity(2)
SEX, AREA = disclosure.Dimension.flat("sex", ["f", "m"]), disclosure.Dimension.flat("area", ["a", "b"])
CODES = {"sex": ["f", "m", "f", "m", "f"], "area": ["a", "a", "b", "b", "b"]}
CELLS = disclosure.aggregate([SEX, AREA], CODES, disclosure.Contributions(np.array([5, 7, 1, 9, 4])))
SYSTEM = CELLS.system
PRIMARY = disclosure.primary_cells(CELLS, [disclosure.MinimumFrequency(2)])
PROBLEM = disclosure.SuppressionProblem.of_table(CELLS, PRIMARY)
HIDDEN = disclosure.suppress(PROBLEM)
COINS = collect.warner(("yes", "no"))
KARY = collect.KaryResponse(("a", "b", "c"), 1)
REPORTS = KARY.randomize(["a", "b", "c", "a", "a"])
ESTIMATE = KARY.estimate(REPORTS)
GRID = collect.Grid(0, 10, 1)
UNIFORM = collect.UniformTransition(2, 3, 1)
ATTRIBUTES = [UNIFORM]
RAPPOR = collect.Rappor(bits=16, hashes=2, cohorts=2, f=Fraction(1, 2), p=Fraction(1, 2), q=Fraction(3, 4))
LAW = attacks.NoiseLaw.laplace(1)
PERSON = attacks.PersonDomain({"sex": ["F", "M"], "age": range(3)})
KEYS = [attacks.KeyColumn("age", [1, 2, 3], [1, 2, 3], 1.0)]
LEDGER_FILE = FOLDER / "budget.db"
LEDGER = ledger.open_ledger(LEDGER_FILE, create=True)
LEDGER.add_dataset("town", EPSILON, unit=Unit())
SMALL = Domain.of_shape((4,))
TABLE = CountTable.from_dense([1, 2, 3, 4])

WORKING: dict[str, tuple[Any, dict[str, Any]]] = {
    # microdata
    "Records": (microdata.Records, {"columns": {"age": [1, 2]}}),
    "Records.of_columns": (microdata.Records.of_columns, {"columns": {"age": [1, 2]}}),
    "Records.to_frame": (PEOPLE.to_frame, {}),
    "Records.to_text": (PEOPLE.to_text, {}),
    "Records.column": (PEOPLE.column, {"name": "age"}),
    "CodedColumn.of": (microdata.CodedColumn.of, {"name": "age", "values": [1, 2]}),
    "KAnonymity": (microdata.KAnonymity, {"k": 2}),
    "KMap": (microdata.KMap, {"k": 2}),
    "Closeness": (microdata.Closeness, {"column": "ill", "t": "0.2"}),
    "AlphaAnonymity": (microdata.AlphaAnonymity, {"column": "ill", "alpha": 0.5, "k": 2}),
    "BetaLikeness": (microdata.BetaLikeness, {"column": "ill", "beta": 1}),
    "DeltaDisclosure": (microdata.DeltaDisclosure, {"column": "ill", "delta": 1}),
    "DistinctDiversity": (microdata.DistinctDiversity, {"column": "ill", "l": 2}),
    "EntropyDiversity": (microdata.EntropyDiversity, {"column": "ill", "l": 2}),
    "RecursiveDiversity": (microdata.RecursiveDiversity, {"column": "ill", "c": 2, "l": 2}),
    "PopulationUniqueness": (microdata.PopulationUniqueness, {"limit": 0.1, "population": 100}),
    "Presence": (microdata.Presence, {"smallest": 0, "largest": 0.5}),
    "Game": (microdata.Game, {"gain": 120, "cost": 20}),
    "Metric": (microdata.Metric, {"name": "loss"}),
    "PublicColumn": (microdata.PublicColumn, {"name": "sex", "labels": ("f", "m")}),
    "TransitionMatrix.keeping": (microdata.TransitionMatrix.keeping, {"labels": ["f", "m"], "keep": 0.5}),
    "add_noise_to_numbers": (
        microdata.add_noise_to_numbers,
        {"records": PEOPLE, "column": "age", "epsilon": 1, "bounds": (0, 99), "decimals": 0},
    ),
    "anonymize": (microdata.anonymize, {"records": PEOPLE, "hierarchies": HIERARCHIES, "models": [MODEL]}),
    "attribute_risks": (microdata.attribute_risks, {"records": PEOPLE, "names": ["age", "sex"]}),
    "choose_levels": (
        microdata.choose_levels,
        {"records": PEOPLE, "hierarchies": HIERARCHIES, "budget": EPSILON, "threshold": 2},
    ),
    "date_hierarchy": (microdata.date_hierarchy, {"name": "day", "values": ["2020-01-02"]}),
    "estimated_k_map": (microdata.estimated_k_map, {"k": 2, "fraction": 0.1, "error": 0.01}),
    "flat_hierarchy": (microdata.flat_hierarchy, {"name": "sex", "values": ["f", "m"]}),
    "grouped_hierarchy": (microdata.grouped_hierarchy, {"name": "town", "groups": {"north": ["a", "b"]}}),
    "individual_risk": (microdata.individual_risk, {"frequencies": [1, 2], "people": [10, 20]}),
    "interval_hierarchy": (microdata.interval_hierarchy, {"name": "age", "values": ["20", "31"], "widths": [5, 10]}),
    "journalist_risk": (microdata.journalist_risk, {"sizes": [2, 3], "population": [4, 5]}),
    "marketer_risk": (microdata.marketer_risk, {"sizes": [2, 3]}),
    "masked_hierarchy": (microdata.masked_hierarchy, {"name": "zip", "values": ["1000", "1001"]}),
    "matching_frequencies": (microdata.matching_frequencies, {"columns": PEOPLE.columns}),
    "measure": (microdata.measure, {"records": PEOPLE, "quasi_identifiers": ["sex"], "sensitive": "ill"}),
    "mesh_hierarchy": (microdata.mesh_hierarchy, {"name": "mesh", "values": ["53394611"], "level": "3"}),
    "meshes_within": (microdata.meshes_within, {"codes": ["5339"], "coarse": "1", "fine": "2"}),
    "microaggregate": (microdata.microaggregate, {"records": PEOPLE, "columns": ["age"], "k": 2}),
    "no_attack": (microdata.no_attack, {"game": microdata.Game(120, 20)}),
    "people_of_table": (microdata.people_of_table, {"table": TABLE}),
    "population_uniqueness": (microdata.population_uniqueness, {"sizes": [1, 2, 1, 3], "sampling_fraction": 0.1}),
    "prosecutor_risk": (microdata.prosecutor_risk, {"sizes": [2, 3]}),
    "randomize_values": (microdata.randomize_values, {"records": PEOPLE, "column": "sex", "matrix": MATRIX}),
    "recode_locally": (microdata.recode_locally, {"records": PEOPLE, "names": ["age"], "k": 2}),
    "sample_by_coins": (microdata.sample_by_coins, {"records": PEOPLE, "rate": 0.5}),
    "sample_of_size": (microdata.sample_of_size, {"records": PEOPLE, "size": 2}),
    "sample_of_strata": (microdata.sample_of_strata, {"records": PEOPLE, "column": "sex", "sizes": 0.5}),
    "sample_uniqueness": (microdata.sample_uniqueness, {"sizes": [1, 2]}),
    "sampled_groups": (
        microdata.sampled_groups,
        {
            "records": PEOPLE,
            "levels": {"age": 1, "sex": 1},
            "hierarchies": HIERARCHIES,
            "budget": Budget(epsilon=1, delta=0.1),
        },
    ),
    "satisfies": (microdata.satisfies, {"records": PEOPLE, "quasi_identifiers": ["sex"], "models": [MODEL]}),
    "swap_randomly": (microdata.swap_randomly, {"records": PEOPLE, "columns": ["sex"], "share": 0.5}),
    "swap_ranks": (microdata.swap_ranks, {"records": PEOPLE, "column": "age", "distance": 0.5}),
    "swap_risky": (
        microdata.swap_risky,
        {"records": PEOPLE, "columns": ["ill"], "quasi_identifiers": ["age"], "k": 2},
    ),
    "synthesize": (
        microdata.synthesize,
        {
            "records": PEOPLE.without("age"),
            "columns": {"sex": ["f", "m"], "ill": ["no", "yes"]},
            "budget": Budget(epsilon=1, delta=0.1),
        },
    ),
    "write_people": (microdata.write_people, {"path": FOLDER / "p.csv", "records": PEOPLE, "replace": True}),
    "write_people_of_table": (
        microdata.write_people_of_table,
        {"path": FOLDER / "t.csv", "table": TABLE, "replace": True},
    ),
    "read_people": (microdata.read_people, {"path": FOLDER / "p.csv"}),
    "write_hierarchy": (
        microdata.write_hierarchy,
        {"path": FOLDER / "h.csv", "generalization": SEXES, "replace": True},
    ),
    "read_hierarchy": (microdata.read_hierarchy, {"path": FOLDER / "h.csv", "name": "sex"}),
    "anonymize_file": (
        microdata.anonymize_file,
        {
            "source": FOLDER / "p.csv",
            "target": FOLDER / "a.csv",
            "hierarchies": HIERARCHIES,
            "models": [MODEL],
            "replace": True,
        },
    ),
    # disclosure
    "Dimension": (disclosure.Dimension, {"name": "sex", "codes": ("Total", "f"), "parents": (-1, 0)}),
    "Dimension.flat": (disclosure.Dimension.flat, {"name": "sex", "codes": ["f", "m"]}),
    "Dimension.of_tree": (disclosure.Dimension.of_tree, {"name": "area", "tree": {"north": {"n1": {}}}}),
    "TableSystem.of_dimensions": (disclosure.TableSystem.of_dimensions, {"dimensions": [SEX]}),
    "Contributions": (disclosure.Contributions, {}),
    "scaled": (disclosure.scaled, {"numbers": ["1.5"], "decimals": 2}),
    "aggregate": (disclosure.aggregate, {"dimensions": [SEX, AREA], "codes": CODES}),
    "aggregate_linked": (disclosure.aggregate_linked, {"tables": [["sex"], ["area"]], "codes": CODES}),
    "link_tables": (
        disclosure.link_tables,
        {"first": disclosure.aggregate([SEX], CODES), "second": disclosure.aggregate([AREA], CODES)},
    ),
    "cells_of": (disclosure.cells_of, {"table": CELLS, "number": 0}),
    "MinimumFrequency": (disclosure.MinimumFrequency, {"minimum": 3}),
    "Dominance": (disclosure.Dominance, {"n": 1, "k": 75}),
    "PPercent": (disclosure.PPercent, {"p": 10}),
    "PriorPosterior": (disclosure.PriorPosterior, {"p": 10, "q": 50}),
    "Request": (disclosure.Request, {"percent": 50}),
    "ZeroCells": (disclosure.ZeroCells, {"level": 1}),
    "primary_cells": (disclosure.primary_cells, {"table": CELLS, "rules": [disclosure.MinimumFrequency(2)]}),
    "cells_with_code": (disclosure.cells_with_code, {"system": SYSTEM, "dimension": "sex", "codes": ["f"]}),
    "suppress": (disclosure.suppress, {"problem": PROBLEM}),
    "controlled_rounding of a table": (
        disclosure.controlled_rounding,
        {"system": SYSTEM, "values": CELLS.values, "base": 3},
    ),
    "maximum_entropy_row": (disclosure.maximum_entropy_row, {"count": 3, "largest": 2, "variance": "1"}),
    "perturbation_table": (disclosure.perturbation_table, {"largest": 2, "variance": 1}),
    "record_keys": (disclosure.record_keys, {"identifiers": ["a", "b"], "secret": b"0" * 32}),
    "cell_keys": (
        disclosure.cell_keys,
        {"dimensions": [SEX], "codes": CODES, "keys": disclosure.record_keys(range(5), b"0" * 32)},
    ),
    "merge_meshes": (
        disclosure.merge_meshes,
        {
            "codes": np.array([53394611, 53394612]),
            "level": "3",
            "open_values": {"people": np.array([2, 30])},
            "values": {"old": np.array([1, 2])},
            "minimum": 5,
        },
    ),
    "status_lines": (disclosure.status_lines, {"table": CELLS, "status": PRIMARY.status}),
    "lone_contributors": (disclosure.lone_contributors, {"table": CELLS}),
    "joint_cells": (disclosure.joint_cells, {"table": CELLS, "primaries": PRIMARY}),
    "too_few": (
        disclosure.too_few,
        {"problem": PROBLEM, "hidden": HIDDEN.hidden, "counts": CELLS.counts, "threshold": 2},
    ),
    # collect
    "warner": (collect.warner, {"labels": ("yes", "no")}),
    "binary_response": (collect.binary_response, {"labels": ("yes", "no"), "epsilon_at_most": 1}),
    "KaryResponse": (collect.KaryResponse, {"labels": ("a", "b"), "epsilon_at_most": 1}),
    "UnaryResponse": (collect.UnaryResponse, {"labels": ("a", "b"), "epsilon_at_most": 1}),
    "LocalHashing": (collect.LocalHashing, {"labels": ("a", "b"), "epsilon_at_most": 1}),
    "Retention": (collect.Retention, {"labels": ("a", "b"), "kept": 0.5}),
    "Grid": (collect.Grid, {"low": 0, "high": 10, "step": 1}),
    "BoundedNoise": (collect.BoundedNoise, {"grid": GRID, "scale": 1}),
    "UnboundedNoise": (collect.UnboundedNoise, {"grid": GRID, "scale": 1}),
    "OneBit": (collect.OneBit, {"grid": GRID, "epsilon_at_most": 1}),
    "Piecewise": (collect.Piecewise, {"grid": GRID, "epsilon_at_most": 4}),
    "Randomizer.randomize": (KARY.randomize, {"values": ["a", "b"]}),
    "Randomizer.estimate": (KARY.estimate, {"reports": REPORTS}),
    "Estimate.intervals": (ESTIMATE.intervals, {}),
    "Estimate.to_frame": (ESTIMATE.to_frame, {}),
    "invert": (collect.invert, {"counts": [9, 3], "attributes": ATTRIBUTES}),
    "iterative_bayes": (collect.iterative_bayes, {"counts": [9, 3], "attributes": ATTRIBUTES}),
    "maximum_likelihood": (collect.maximum_likelihood, {"counts": [9, 3], "attributes": ATTRIBUTES}),
    "count_reports": (
        collect.count_reports,
        {"columns": {"x": REPORTS}, "attributes": [collect.RandomizedAttribute.of("x", KARY)]},
    ),
    "noise_for_k": (collect.noise_for_k, {"records": 100, "k": 5, "attributes": {"sex": ["f", "m"]}}),
    "pk_of": (collect.pk_of, {"records": 100, "randomizers": {"x": KARY}}),
    "plan_collection": (collect.plan_collection, {"people": 1000, "values": 4, "epsilon": 1}),
    "plan_mean": (collect.plan_mean, {"people": 1000, "epsilon": 1}),
    "randomize_table": (collect.randomize_table, {"columns": {"x": ["a", "b"]}, "randomizers": {"x": KARY}}),
    "Questionnaire": (collect.Questionnaire, {"title": "t", "questions": {"x": KARY}}),
    "randomize_answers": (
        collect.randomize_answers,
        {"questionnaire": collect.Questionnaire("t", {"x": KARY}), "answers": {"x": ["a", "b"]}},
    ),
    "read_randomizer": (collect.read_randomizer, {"told": KARY.to_dict()}),
    "specification": (collect.specification, {"randomizer": KARY}),
    "write_reports": (collect.write_reports, {"path": FOLDER / "r.jsonl", "randomizer": KARY, "reports": REPORTS}),
    "read_reports": (collect.read_reports, {"path": FOLDER / "r.jsonl", "randomizer": KARY}),
    "Rappor": (
        collect.Rappor,
        {"bits": 16, "hashes": 2, "cohorts": 2, "f": 0.5, "p": 0.5, "q": 0.75},
    ),
    "bloom_bits": (collect.bloom_bits, {"value": "a", "cohort": 1, "hashes": 2, "bits": 16}),
    "laplace_bins": (collect.laplace_bins, {"edges": [0, 1, 2], "scale": 1}),
    "normal_bins": (collect.normal_bins, {"edges": [0, 1, 2], "scale": 1}),
    # attacks
    "audit_function": (
        attacks.audit_function,
        {"program": lambda data: data, "first": [1], "second": [2], "runs": 200},
    ),
    "average_answers": (attacks.average_answers, {"answers": [[1, 2], [3, 4]], "law": LAW}),
    "average_linked_cells": (
        attacks.average_linked_cells,
        {"published": [3, 1, 2], "equations": [[1, -1, -1]], "law": LAW},
    ),
    "answers_that_break": (attacks.answers_that_break, {"law": LAW}),
    "attack_by_differences": (
        attacks.attack_by_differences,
        {"cells": [attacks.PublishedCell("a", frozenset({1, 2}), 5), attacks.PublishedCell("b", frozenset({1}), 4)]},
    ),
    "PublishedCell": (attacks.PublishedCell, {"name": "a", "pieces": frozenset({1}), "count": 5}),
    "attack_suppressed_cells": (
        attacks.attack_suppressed_cells,
        {"values": [3, 1, 2], "hidden": [False, True, True], "equations": [[1, -1, -1]]},
    ),
    "evaluate_membership": (
        attacks.evaluate_membership,
        {"member_scores": [1.0, 2.0, 3.0], "outsider_scores": [0.0, 1.0, 2.0]},
    ),
    "find_special_uniques": (attacks.find_special_uniques, {"columns": {"age": [1, 2, 2], "sex": ["f", "f", "m"]}}),
    "population_uniques": (
        attacks.population_uniques,
        {"sample": {"age": [1, 2]}, "population": {"age": [1, 2, 2, 3]}},
    ),
    "KeyColumn": (attacks.KeyColumn, {"name": "age", "first": [1, 2], "second": [1, 2]}),
    "link_records": (attacks.link_records, {"columns": KEYS}),
    "membership_in_records": (attacks.membership_in_records, {"members": KEYS, "outsiders": KEYS}),
    "membership_in_tables": (
        attacks.membership_in_tables,
        {
            "released": [5, 5, 4, 6],
            "people": 10,
            "members": [[0, 2], [1, 3]],
            "outsiders": [[0, 3], [1, 2]],
            "reference": [[0, 2], [1, 2]],
        },
    ),
    "NoiseLaw.laplace": (attacks.NoiseLaw.laplace, {"scale": 1}),
    "NoiseLaw.gaussian": (attacks.NoiseLaw.gaussian, {"sigma": 1}),
    "PersonDomain": (attacks.PersonDomain, {"attributes": {"sex": ["F", "M"]}}),
    "PublishedCount": (attacks.PublishedCount, {"low": 3}),
    "Mean": (attacks.Mean, {"attribute": "age", "value": 2}),
    "Median": (attacks.Median, {"attribute": "age", "value": 2}),
    "reconstruct": (
        attacks.reconstruct,
        {"domain": PERSON, "statistics": [attacks.PublishedCount(2), attacks.Mean("age", 1)]},
    ),
    # ledger and sql
    "open_ledger": (ledger.open_ledger, {"location": LEDGER_FILE}),
    "Ledger.dataset": (LEDGER.dataset, {"name": "town"}),
    "Ledger.entry": (LEDGER.entry, {"number": 1}),
    "Ledger.to_frame": (LEDGER.to_frame, {}),
    "Ledger.opt_outs": (LEDGER.opt_outs, {"dataset": "town"}),
    # accuracy
    "invent_table": (invent_table, {"domain": SMALL, "people": 10, "seed": 1}),
    "predict_accuracy": (
        predict_accuracy,
        {"domain": SMALL, "budget": EPSILON, "method": "laplace", "people": 10, "runs": 2},
    ),
}
