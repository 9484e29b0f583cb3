"""Risks: ARX's and sdcMicro's own numbers, and naive twins that compare every record with every other."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from sudare.errors import GuaranteeError, InputError, ParameterError
from sudare.microdata.grouping import group
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.records import CodedColumn, Records, read_people
from sudare.microdata.risk import (
    attribute_risks,
    individual_risk,
    journalist_risk,
    marketer_risk,
    matching_frequencies,
    population_sizes,
    prosecutor_risk,
    sample_uniqueness,
)
from sudare.microdata.uniqueness import MIN_ALPHA, likeliest_pitman, population_uniqueness
from tests.unit.microdata.arx_data import DATA, adult, adult_hierarchy, answers, needs_answers

KEYS = ("A", "B", "C")


def arx(name: str) -> Any:
    return answers("arx/small_expected.json")[name]


def sdc(name: str) -> Any:
    return answers("sdcMicro/expected.json")[name]


# --- known answers


@needs_answers
def test_the_seven_rows_of_arx() -> None:
    example = arx("test7")
    table = dict(zip(example["header"], zip(*example["rows"], strict=True), strict=True))
    before = Records.of_columns(table)
    assert prosecutor_risk(group(before.columns).sizes).average == example["average_risk_before"]
    levels = {"age": 1, "gender": 1, "zipcode": 2}
    columns = [
        Generalization.of_paths(name, example["hierarchies"][name]).generalized(before.column(name), level)
        for name, level in levels.items()
    ]
    rows = list(zip(*(column.texts().tolist() for column in columns), strict=True))
    assert [list(row) for row in rows] == example["k2_suppression0_output"]
    risk = prosecutor_risk(group(columns).sizes)
    assert risk.average == pytest.approx(example["average_risk_after_k2"], rel=1e-15)
    assert risk.highest == example["highest_risk_after_k2"]


@needs_answers
def test_the_risks_of_adult() -> None:
    expected, sizes = arx("adult_9qi_raw"), group(adult().columns).sizes
    risk = prosecutor_risk(sizes)
    assert risk.average == pytest.approx(expected["average_risk"], rel=1e-14)
    assert risk.highest == expected["highest_risk"]
    assert sample_uniqueness(sizes) == pytest.approx(expected["sample_uniqueness"], rel=1e-15)


@needs_answers
def test_the_risks_of_adult_made_2_anonymous() -> None:
    """On the levels with the least loss, which is compared by its largest part first."""
    levels = [0, 4, 1, 2, 1, 2, 2, 1, 0]
    columns = [
        adult_hierarchy(column.name).generalized(column, level)
        for column, level in zip(adult().columns, levels, strict=True)
    ]
    risk, expected = prosecutor_risk(group(columns).sizes), arx("adult_k2_loss_rank_suppression0")
    assert (risk.average, risk.highest) == pytest.approx(
        (expected["average_risk"], expected["highest_risk"]), rel=1e-15
    )


PYCANON = answers("pycanon/values_computed_with_pycanon_1.3.6.json") if DATA.exists() else {}


@needs_answers
@pytest.mark.parametrize("name", PYCANON)
def test_the_risks_of_pycanon(name: str) -> None:
    expected = PYCANON[name]
    people = read_people(DATA / "pycanon" / "data" / name.split("/")[-1], columns=expected["qi"])
    assert people.rows == expected["n"]
    sizes = group(people.columns).sizes
    assert sizes.min() == expected["k_anonymity"]
    risk = prosecutor_risk(sizes)
    assert risk.average_of_classes == pytest.approx(expected["average_rir"], rel=1e-12)
    assert risk.highest == pytest.approx(expected["max_rir"], rel=1e-15)


@needs_answers
@pytest.mark.parametrize(
    ("name", "fraction", "model"),
    [
        ("sampling_fraction_0.1_pitman", 0.1, "pitman"),
        ("sampling_fraction_0.1_pitman", 0.1, "auto"),
        ("0.1_zayatz", 0.1, "zayatz"),
        ("0.2", 0.2, "auto"),
        ("0.01", 0.01, "auto"),
        ("1.0", 1.0, "auto"),
    ],
)
def test_the_population_uniqueness_of_adult(name: str, fraction: float, model: str) -> None:
    expected = arx("adult_9qi_raw")["population_uniqueness_dankar_4digits"][name]
    sizes = group(adult().columns).sizes
    assert population_uniqueness(sizes, fraction, model=model) == pytest.approx(expected, rel=1e-9)


@needs_answers
def test_distinction_and_separation_of_arx() -> None:
    example = arx("distinction_separation")
    table = dict(zip(example["header"], zip(*example["rows"], strict=True), strict=True))
    found = {frozenset(risk.names): risk for risk in attribute_risks(Records.of_columns(table), example["header"])}
    assert len(found) == len(example["expected"]) == 7
    for names, (distinction, separation) in example["expected"].items():
        risk = found[frozenset(names.split(","))]
        assert (risk.distinction, risk.separation) == pytest.approx((distinction, separation))


@needs_answers
@pytest.mark.parametrize("case", ["freqCalc_A", "freqCalc_A_with_NA", "freqCalc_1col_NA"])
def test_the_frequencies_of_sdcmicro(case: str) -> None:
    table = sdc(case) if case == "freqCalc_1col_NA" else sdc("freqCalc_A") | sdc(case)
    columns = [CodedColumn.of(name, table[name]) for name in KEYS if name in table]
    frequencies, people = matching_frequencies(columns, sdc("freqCalc_A")["w"])
    assert frequencies.tolist() == sdc(case)["fk"]
    assert people.tolist() == sdc(case)["Fk"]
    if "n1" in table and case == "freqCalc_A":
        assert [int((frequencies == size).sum()) for size in (1, 2)] == [table["n1"], table["n2"]]


@needs_answers
@pytest.mark.parametrize(("method", "name"), [("approximate", "approx"), ("exact", "exact")])
def test_the_individual_risk_of_sdcmicro(method: str, name: str) -> None:
    example = sdc("freqCalc_A")
    found = individual_risk(example["fk"], example["Fk"], method=method)
    assert found == pytest.approx(sdc("indivRisk_A_weighted")[name], abs=5e-9)
    without_weights = individual_risk(example["fk"], example["fk"], method=method)
    assert without_weights == pytest.approx([1 / f for f in example["fk"]])


@needs_answers
def test_the_frequencies_of_adult_are_its_class_sizes() -> None:
    classes = group(adult().columns)
    frequencies, people = matching_frequencies(adult().columns)
    assert (frequencies == classes.sizes[classes.of_row]).all()
    assert (people == frequencies).all()


@needs_answers
def test_the_example_of_the_individual_risk() -> None:
    """Eight records of sdcMicro: counted pair by pair, and the risk as the integral that it is, computed by quadrature."""
    people = read_people(DATA / "sdcMicro" / "francdat.csv")
    keys = [people.column(f"Key{place}") for place in (1, 2, 3, 4)]
    weights = [float(text) for text in people.column("w").texts()]
    rows = list(zip(*(key.texts() for key in keys), strict=True))
    frequencies, sums = matching_frequencies(keys, weights)
    assert frequencies.tolist() == [rows.count(row) for row in rows]
    expected = [sum(w for other, w in zip(rows, weights, strict=True) if other == row) for row in rows]
    assert sums.tolist() == pytest.approx(expected)

    def risk(f: int, people_behind: float) -> float:
        p = f / people_behind
        return float(quad(lambda v: v ** (f - 1) / (1 + v * (1 - p) / p), 0, 1, epsabs=1e-13)[0])

    assert individual_risk(frequencies, sums) == pytest.approx(
        [risk(int(f), behind) for f, behind in zip(frequencies, expected, strict=True)], rel=1e-9
    )


# --- prosecutor, journalist, marketer

SIZES = st.lists(st.integers(1, 50), min_size=1, max_size=20)


@given(SIZES, st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0]), st.data())
def test_risks_record_by_record(sizes: list[int], threshold: float, data: st.DataObject) -> None:
    suppressed = data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    more = data.draw(st.lists(st.integers(0, 50), min_size=len(sizes), max_size=len(sizes)))
    population = [size + extra for size, extra in zip(sizes, more, strict=True)]
    for behind, risk in (
        (sizes, prosecutor_risk(sizes, threshold=threshold, suppressed=suppressed)),
        (population, journalist_risk(sizes, population, threshold=threshold, suppressed=suppressed)),
    ):
        kept = [
            people
            for size, people, gone in zip(sizes, behind, suppressed, strict=True)
            for _ in range(size)
            if not gone
        ]
        if not kept:
            assert (risk.highest, risk.average, risk.at_risk) == (0, 0, 0)
            continue
        assert risk.highest == 1 / min(kept)
        assert risk.lowest == 1 / max(kept)
        assert risk.average == pytest.approx(sum(1 / people for people in kept) / len(kept))
        used = [people for people, gone in zip(behind, suppressed, strict=True) if not gone]
        assert risk.average_of_classes == pytest.approx(sum(1 / people for people in used) / len(used))
        # 1 / people > threshold, without rounding
        above = [people for people in kept if people * round(threshold * 20) < 20]
        assert risk.at_risk == pytest.approx(len(above) / len(kept))
    assert marketer_risk(sizes, suppressed=suppressed) == prosecutor_risk(sizes, suppressed=suppressed).average
    assert marketer_risk(sizes, population) <= marketer_risk(sizes) + 1e-12


def test_k_anonymous_records_are_not_above_one_in_k() -> None:
    for k in range(2, 200):
        assert prosecutor_risk([k, k + 1], threshold=1 / k).at_risk == 0
        assert prosecutor_risk([k - 1, k], threshold=1 / k).at_risk > 0


def test_what_is_no_class_size_is_refused() -> None:
    for sizes in ([-1], [0.5], [[1]]):
        with pytest.raises(ParameterError, match="one for each class"):
            prosecutor_risk(sizes)
    for population in ([1], [1, 2, 3], [5, 1]):
        with pytest.raises(ParameterError, match="at least as many people"):
            journalist_risk([2, 2], population)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        prosecutor_risk([1], threshold=2)
    assert sample_uniqueness([]) == 0


def test_the_population_is_looked_up_by_labels() -> None:
    sample = Records.of_columns({"age": ["40", "30", "30"], "sex": ["f", "m", "m"]})
    everybody = Records.of_columns({"age": ["30", "30", "40", "30", "99"], "sex": ["m", "m", "f", "f", "x"]})
    assert population_sizes(sample.columns, everybody.columns).tolist() == [1, 2]
    with pytest.raises(InputError, match="Row 2 of the data") as caught:
        population_sizes(sample.columns, everybody.take(np.array([0, 2, 3])).columns)
    assert "2 行目" in caught.value.japanese
    with pytest.raises(InputError, match="Row 1 of the data"):
        population_sizes(sample.columns, everybody.take(np.array([0, 1, 3])).columns)
    with pytest.raises(ParameterError, match="columns of the sample"):
        population_sizes(sample.columns, everybody.columns[:1])


# --- missing values that match everything


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["a", "b", None])] * 3, st.integers(1, 20).map(lambda value: value / 2)),
        min_size=1,
        max_size=30,
    )
)
def test_frequencies_pair_by_pair(rows: list[tuple[Any, ...]]) -> None:
    columns = [CodedColumn.of(f"c{place}", [row[place] for row in rows]) for place in range(3)]
    frequencies, people = matching_frequencies(columns, [row[3] for row in rows])
    for place, row in enumerate(rows):
        matching = [
            other
            for other in rows
            if all(
                mine is None or theirs is None or mine == theirs
                for mine, theirs in zip(row[:3], other[:3], strict=True)
            )
        ]
        assert frequencies[place] == len(matching)
        assert people[place] == pytest.approx(sum(other[3] for other in matching))


def test_wrong_weights_are_refused() -> None:
    column = CodedColumn.of("a", ["x", "y"])
    for weights in ([1.0], [1.0, 0.0], [1.0, -1.0], [1.0, math.inf]):
        with pytest.raises(ParameterError, match="above 0 for each record"):
            matching_frequencies([column], weights)
    with pytest.raises(ParameterError, match="at least one column"):
        matching_frequencies([])


# --- individual risk


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.2, 0.499, 0.5, 0.501, 0.9, 0.999999])
@pytest.mark.parametrize("frequency", [1, 2, 3, 10, 64, 65, 300, 10**6])
def test_the_individual_risk_to_many_digits(frequency: int, share: float) -> None:
    """The integral of v**(f-1) / (1 + c v), with v = exp(-t / f) so that the integrand is smooth for every f and c."""
    odds = (1 - mpmath.mpf(share)) / mpmath.mpf(share)

    def integrand(t: Any) -> Any:
        return mpmath.exp(-t) / (1 + odds * mpmath.exp(-t / frequency))

    bend = frequency * mpmath.log(max(odds, 1))
    ends = sorted({mpmath.mpf(0), mpmath.mpf(5), mpmath.mpf(60), min(bend, mpmath.mpf(60))})
    exact = mpmath.quad(integrand, [*ends, ends[-1] + 60]) / frequency
    assert individual_risk([frequency], [frequency / share])[0] == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(("frequency", "share"), [(1, 0.1), (2, 0.3), (5, 0.02), (40, 0.5)])
def test_the_individual_risk_is_a_mean_of_reciprocals(frequency: int, share: float) -> None:
    total = mpmath.nsum(
        lambda people: mpmath.binomial(people - 1, frequency - 1) * (1 - share) ** (people - frequency) / people,
        [frequency, mpmath.inf],
    )
    assert individual_risk([frequency], [frequency / share])[0] == pytest.approx(
        float(total * mpmath.mpf(share) ** frequency), rel=1e-9
    )


def test_wrong_individual_risks_are_refused() -> None:
    for frequencies, people in (([0], [1.0]), ([1], [0.0]), ([1, 2], [1.0])):
        with pytest.raises(ParameterError):
            individual_risk(frequencies, people)
    with pytest.raises(ParameterError, match="'exact' or 'approximate'"):
        individual_risk([1], [2.0], method="other")
    # More records than people: the weights are wrong, and everybody is in the sample.
    assert individual_risk([3], [2.0]).tolist() == [1 / 3]


# --- attributes


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=12))
def test_attributes_pair_by_pair(rows: list[tuple[str, ...]]) -> None:
    records = Records.of_columns({f"c{place}": [row[place] for row in rows] for place in range(3)})
    pairs = [(one, other) for place, one in enumerate(rows) for other in rows[place + 1 :]]
    found = attribute_risks(records, records.names)
    assert len(found) == 7
    for risk in found:
        places = [records.names.index(name) for name in risk.names]
        shown = {tuple(row[place] for place in places) for row in rows}
        assert risk.distinction == len(shown) / len(rows)
        differing = [pair for pair in pairs if any(pair[0][place] != pair[1][place] for place in places)]
        assert risk.separation == pytest.approx(len(differing) / len(pairs) if pairs else 1.0)
    assert list(found) == sorted(found, key=lambda risk: risk.separation)
    assert len(attribute_risks(records, records.names, most=1)) == 3


# --- uniqueness in the population


def pitman_people(random: np.random.Generator, people: int, theta: float, alpha: float) -> list[int]:
    """The class of each person, drawn one after the other from Pitman's model."""
    classes: list[int] = []
    founders: list[bool] = []
    number = 0
    while len(classes) < people:
        if random.random() < (theta + alpha * number) / (len(classes) + theta):
            classes.append(number)
            founders.append(True)
            number += 1
            continue
        while True:  # a class of n people with weight n - alpha
            chosen = int(random.integers(len(classes)))
            if not founders[chosen] or random.random() > alpha:
                break
        classes.append(classes[chosen])
        founders.append(False)
    return classes


def test_estimates_agree_with_a_population_that_is_known() -> None:
    """A tenth of a population is drawn: the models come near to the truth, the sample's own uniqueness does not."""
    random = np.random.default_rng(7)
    people = np.array(pitman_people(random, 40_000, 200.0, 0.6))
    truth = float((np.bincount(people) == 1).sum()) / people.size
    sizes = np.unique(random.choice(people, 4_000, replace=False), return_counts=True)[1]
    seen = sample_uniqueness(sizes)
    assert seen > 1.5 * truth  # the control: without a model one would be far off
    assert population_uniqueness(sizes, 0.1, model="pitman") == pytest.approx(truth, rel=0.15)
    for model in ("slide negative binomial", "zayatz"):
        assert abs(population_uniqueness(sizes, 0.1, model=model) - truth) < abs(seen - truth)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.sampled_from([0.01, 0.1, 0.3, 1.0]))
def test_estimates_are_shares(sizes: list[int], fraction: float) -> None:
    unique = population_uniqueness(sizes, fraction)
    assert 0 <= unique <= 1
    assert population_uniqueness(sizes, fraction, model="zayatz") <= sample_uniqueness(sizes) + 1e-9
    if fraction == 1 or 1 not in sizes:
        assert unique == pytest.approx(sample_uniqueness(sizes))


@given(st.lists(st.integers(1, 9), min_size=2, max_size=60), st.floats(0.8, 1.25), st.floats(-0.1, 0.1))
def test_no_other_parameters_of_pitman_are_likelier(sizes: list[int], times: float, more: float) -> None:
    """The likelihood as Hoshino (2001) writes it, term by term."""
    found = likeliest_pitman(*(part.astype(float) for part in np.unique(sizes, return_counts=True)))
    assert (found is None) == (len(sizes) == sum(sizes))
    if found is None:
        return

    def likelihood(theta: float, alpha: float) -> float:
        classes = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
        within = sum(math.log(j - alpha) for size in sizes for j in range(1, size))
        return classes + within - sum(math.log(theta + i) for i in range(1, sum(sizes)))

    theta, alpha = found
    other = min(max(alpha + more, MIN_ALPHA), 1 - MIN_ALPHA)
    both = min((theta + alpha) * times, sum(sizes) * 1e6)
    best = likelihood(theta, alpha)
    assert likelihood(both - alpha, alpha) <= best + 1e-7 * (1 + abs(best))
    assert likelihood(max(theta, 1e-9 - other), other) <= best + 1e-7 * (1 + abs(best))


def test_models_without_a_solution_say_so() -> None:
    for model in ("pitman", "slide negative binomial"):
        with pytest.raises(GuaranteeError, match="zayatz"):
            population_uniqueness([1, 1, 1], 0.1, model=model)
    assert population_uniqueness([1, 1, 1], 0.1) == population_uniqueness([1, 1, 1], 0.1, model="zayatz")


def test_wrong_populations_are_refused() -> None:
    for fraction in (0, 1.5, -1, math.nan, "half"):
        with pytest.raises(ParameterError, match="above 0 and at most 1"):
            population_uniqueness([1], fraction)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one of auto"):
        population_uniqueness([1], 0.5, model="other")
    for sizes in ([0], [1.5], [[1]]):
        with pytest.raises(ParameterError, match="one for each class"):
            population_uniqueness(sizes, 0.5)
