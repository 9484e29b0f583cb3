from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sudare.comparison.methods import METHODS
from sudare.comparison.people import Population, Sample
from sudare.comparison.plan_file import quick_plan
from sudare.comparison.reporting.document import comparison_csv, comparison_document
from sudare.comparison.running import MEASURES, Chosen, MeasuredValue, compare
from sudare.comparison.views import View
from sudare.errors import InputError, ParameterError
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.noise.entropy import EntropySource

from .towns import measured, small_comparison, town


def test_no_protection_is_exact_and_worst_under_attack() -> None:
    found = small_comparison()
    assert measured(found, "none", "0", "misplaced_all") == 0.0
    assert measured(found, "none", "0", "alone_found") == 1.0
    worst = measured(found, "none", "0", "area")
    assert worst > 0.9
    assert all(one.measures["area"].value <= worst + 0.005 for one in found.results)


def test_a_small_epsilon_leaves_an_attacker_near_guessing() -> None:
    found = small_comparison()
    for name in ("flat", "wide-tree"):
        assert abs(measured(found, name, "0.1", "area") - 0.5) < 0.06
        assert measured(found, name, "10", "area") > 0.8
        assert measured(found, name, "0.1", "misplaced_all") > 10 * measured(found, name, "10", "misplaced_all")


def test_no_private_method_is_beyond_what_its_epsilon_allows() -> None:
    for one in small_comparison().results:
        assert (one.most_area is not None) == one.method.is_private
        for measure, most in (("area", one.most_area), ("found", one.most_found)):
            if most is not None:
                assert one.measures[measure].value < most + 5 * one.measures[measure].error + 0.01


def test_hiding_small_cells_without_care_leaks_who_is_alone() -> None:
    found = small_comparison()
    assert measured(found, "primary-only", "3", "alone_found") > 0.2
    assert measured(found, "primary-only", "3", "alone_right") == 1.0
    assert measured(found, "k-anonymity", "30", "alone_found") == 0.0


def test_classical_methods_beat_private_ones_in_tables_of_two_columns() -> None:
    """Where differential privacy loses: what is shown must be as true as it is told."""
    found = small_comparison()
    assert measured(found, "cell-key", "5", "misplaced_two") < measured(found, "wide-tree", "0.1", "misplaced_two") / 10
    assert measured(found, "swapping", "0.5", "misplaced_one") == 0.0


def test_more_anonymity_loses_more_and_tells_less() -> None:
    found = small_comparison()
    for measure, direction in (("misplaced_two", 1), ("area", -1)):
        less, more = (measured(found, "k-anonymity", k, measure) for k in ("3", "30"))
        assert direction * (more - less) > 0


def test_the_same_seed_gives_the_same_bytes_whatever_else_is_compared() -> None:
    plan = quick_plan(Path("nowhere"))
    flat, swapping = (Chosen(METHODS[name], METHODS[name].settings[:1], 2) for name in ("flat", "swapping"))
    one, same = (compare(town(), [flat], seed=9) for _ in range(2))
    assert comparison_csv(one) == comparison_csv(same)
    assert json.dumps(comparison_document(plan, one)) == json.dumps(comparison_document(plan, same))
    both = compare(town(), [swapping, flat], seed=9)
    assert comparison_csv(both).splitlines()[-1] == comparison_csv(one).splitlines()[-1]
    assert comparison_csv(compare(town(), [flat], seed=10)) != comparison_csv(one)


def test_every_measure_is_there_and_documents_hold_numbers_only() -> None:
    found = small_comparison()
    document = comparison_document(quick_plan(Path("nowhere")), found)
    text = json.dumps(document, allow_nan=False)
    assert set(json.loads(text)["results"][0]["measures"]) == set(MEASURES)
    assert "NaN" not in text
    assert document["uses_truth"] is True
    lines = comparison_csv(found).splitlines()
    assert len(lines) == len(found.results) + 1
    assert {line.count(",") for line in lines} == {lines[0].count(",")}


def test_measured_means_leave_out_what_is_no_number() -> None:
    assert MeasuredValue.of([1.0, math.nan, 3.0]).value == 2.0
    assert MeasuredValue.of([1.0, 3.0]).error == pytest.approx(1.0)
    assert math.isnan(MeasuredValue.of([math.nan]).value)


def test_progress_is_told_up_to_the_end() -> None:
    told: list[float] = []
    chosen = [Chosen(METHODS["none"], METHODS["none"].settings, 3)]
    compare(town(), chosen, tell=lambda method, share: told.append(share or 0.0))
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_data_without_rare_people_are_refused() -> None:
    columns = tuple(Generalization.of_paths(name, [("x", "*"), ("y", "*")]) for name in "ab")
    common = Population(columns, np.array([[place // 2, place % 2] for place in range(4)] * 50))
    with pytest.raises(InputError, match="rare") as caught:
        compare(common, [Chosen(METHODS["none"], METHODS["none"].settings, 2)])
    assert "珍しい人" in caught.value.explain("ja")


def test_people_whom_a_method_cannot_protect_are_told_in_two_languages() -> None:
    def refuse(sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
        raise InputError("Too thin.", "まばらです。")

    chosen = [Chosen(replace(METHODS["suppression"], protect=refuse), (Fraction(3),), 2)]
    with pytest.raises(InputError, match=r"suppression \(threshold 3\)\. Too thin\. Leave") as caught:
        compare(town(), chosen)
    assert "秘匿処理（しきい値 3）では保護できません。まばらです。" in caught.value.explain("ja")


def test_one_run_is_too_few() -> None:
    with pytest.raises(ParameterError, match="repeats"):
        compare(town(), [Chosen(METHODS["none"], (Fraction(0),), 1)])
