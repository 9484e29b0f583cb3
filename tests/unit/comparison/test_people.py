from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from sudare.comparison.people import Population, merged_from_level
from sudare.errors import InputError
from sudare.microdata.hierarchies.builders import flat_hierarchy, grouped_hierarchy, interval_hierarchy
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import Records
from sudare.noise.entropy import ResearchEntropy

from .towns import HALF, half, town


def test_a_level_in_between_becomes_the_values() -> None:
    age = interval_hierarchy("age", range(40), widths=[10, 20], whole=True)
    coarse = merged_from_level(age, 1)
    assert coarse.levels == (("0-9", "10-19", "20-29", "30-39"), ("0-19", "20-39"), ("*",))


def test_a_hierarchy_without_a_top_gets_one() -> None:
    two = Generalization.of_paths("sex", [("f",), ("m",)])
    assert merged_from_level(two, 0).levels == (("f", "m"), ("*",))


def test_people_are_counted_at_their_level() -> None:
    people = Records.of_columns({"town": ["a", "b"] * 30, "job": ["nurse", "doctor", "teacher"] * 20})
    jobs = grouped_hierarchy("job", {"health": ["nurse", "doctor"], "school": ["teacher"]})
    found = Population.of_records(people, [(flat_hierarchy("town", people.column("town")), 0), (jobs, 1)])
    assert found.table.tolist() == [[20, 10], [20, 10]]
    assert found.names == ("town", "job")


def test_too_few_people_are_refused_in_two_languages() -> None:
    people = Records.of_columns({"a": ["x"] * 10, "b": ["y"] * 10})
    with pytest.raises(InputError, match="at least 50 people") as caught:
        Population.of_records(people, [(flat_hierarchy(name, people.column(name)), 0) for name in people.names])
    assert "50 人" in caught.value.explain("ja")


def test_too_many_cells_are_refused() -> None:
    people = Records.of_columns({name: range(120) for name in "abc"})
    with pytest.raises(InputError, match="cells"):
        Population.of_records(people, [(flat_hierarchy(name, people.column(name)), 0) for name in people.names])


def test_the_same_seed_draws_the_same_half_and_another_one_does_not() -> None:
    one, same, other = (town().draw(HALF, ResearchEntropy(seed)).rows for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert 400 < one.size < 600
    assert town().draw(Fraction(1), ResearchEntropy(1)).rows.size == 1000


def test_records_and_codes_are_the_same_people() -> None:
    sample = half()
    assert np.array_equal(sample.codes_of(sample.records), sample.codes)
    assert np.array_equal(sample.count(sample.codes), sample.table)
    assert (sample.table <= town().table).all()
    assert sample.table.sum() == sample.rows.size
