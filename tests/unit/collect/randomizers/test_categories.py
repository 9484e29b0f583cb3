"""Randomizers for categories: the matrices they should have, what they refuse, what they estimate."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect import DenseTransition, KaryResponse, MatrixResponse, Retention, binary_response, warner
from sudare.collect.randomizers.categories import MAX_EPSILON, CategoryRandomizer, other_weight, read_labels
from sudare.collect.randomizers.randomizer import are_places, read_places
from sudare.errors import GuaranteeError, ParameterError
from sudare.noise import ResearchEntropy

epsilons = st.fractions(Fraction(1, 10**6), MAX_EPSILON, max_denominator=10**6)


def is_at_most_exp(ratio: Fraction, epsilon: Fraction) -> bool:
    """Judged with 100 digits, on the side that could accuse wrongly only if they were not enough."""
    context = Context(prec=100)
    power = context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)).exp(context)
    return ratio <= Fraction(power) * (1 + Fraction(1, 10**90))


@given(epsilon=epsilons, values=st.integers(2, 1000))
def test_epsilon_is_never_above_the_one_asked_for(epsilon: Fraction, values: int) -> None:
    question = KaryResponse(range(values), epsilon)
    ratio = question.largest_ratio()
    assert ratio is not None
    assert is_at_most_exp(ratio, epsilon)
    law = question.transition()
    # One step of 2**-60 less for the other values would be too much.
    assert not is_at_most_exp(Fraction(law.kept + values - 1, law.other - 1), epsilon)
    assert float(question.epsilon()) == pytest.approx(float(epsilon), rel=1e-6)
    assert law.total == 1 << 60


def test_known_probabilities() -> None:
    matrix = binary_response((True, False), 1).transition().probabilities()
    assert matrix[0, 0] == pytest.approx(np.e / (1 + np.e), rel=1e-15)
    matrix = KaryResponse("abcd".__iter__(), 2).transition().probabilities()
    assert matrix[1, 1] == pytest.approx(np.exp(2) / (np.exp(2) + 3), rel=1e-15)
    assert matrix[1, 3] == pytest.approx(1 / (np.exp(2) + 3), rel=1e-15)


def test_two_coins_cost_ln_3() -> None:
    coins = warner()
    assert coins.transition().weights().tolist() == [[3, 1], [1, 3]]
    assert coins.largest_ratio() == 3
    assert coins.anonymity_rate() == Fraction(1, 9)
    assert 0 <= float(coins.epsilon()) - np.log(3) < 1e-15


@given(kept=st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000), values=st.integers(2, 50))
def test_retention(kept: Fraction, values: int) -> None:
    law = Retention(range(values), kept).transition()
    assert Fraction(law.kept, law.total) == kept + (1 - kept) / values
    assert Fraction(law.other, law.total) == (1 - kept) / values
    assert law.largest_ratio() == 1 + kept * values / (1 - kept)


def test_estimates_are_the_inverse() -> None:
    illness = MatrixResponse(("none", "flu"), [[0.9, 0.1], [0.3, 0.7]])
    estimate = illness.estimate(["none"] * 60 + ["flu"] * 40)
    assert estimate.unbiased == pytest.approx([50, 50])
    assert estimate.people == 100
    # Inverse [[7/6, -1/6], [-1/2, 3/2]]: the sum of 60 and 40 times squares, less the estimate.
    assert estimate.variances == pytest.approx([60 * 49 / 36 + 40 / 4 - 50, 60 / 36 + 40 * 9 / 4 - 50])
    coins = warner(("yes", "no")).estimate_counts([60, 40])
    assert coins.unbiased == pytest.approx([70, 30])
    assert coins.variances == pytest.approx([100 * 3 / 16 / 0.25] * 2)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_variance_in_closed_form_is_that_of_the_matrix(share: float) -> None:
    for uniform in (KaryResponse(range(5), 1), Retention(range(5), 0.4)):
        written = MatrixResponse(range(5), DenseTransition.from_weights(uniform.transition().weights()))
        assert uniform.variance(1000, share) == pytest.approx(written.variance(1000, share))


def test_many_values_need_no_matrix() -> None:
    for question in (KaryResponse(range(200_000), 3), Retention(range(200_000), 0.5)):
        assert question.variance(1000) > 0
        assert question.estimate(question.randomize(np.arange(1000))).people == 1000


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (("b", "a", "ccc"), ["ccc", "a", "a"]),
        ((True, False), [False, True]),
        ((5, -3, 2), [2, -3, 5]),
        (range(4), np.array([3, 1], dtype=np.uint8)),
        ((10, 20), np.array([20, 10], dtype=np.uint64)),
        (("", "x"), ["", "x"]),
        (("東京", "大阪"), np.array(["大阪", "東京"], dtype=object)),
        (("a", "bc"), np.array(["bc", "a"], dtype=np.dtypes.StringDType())),
    ],
)
def test_places_of_values(labels: tuple[object, ...], values: object) -> None:
    known = tuple(labels)
    places = read_places(values, known, "values", "test")  # type: ignore[arg-type]
    assert places.dtype == np.int64
    assert [known[place] for place in places] == np.asarray(values).tolist()


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (("a", "b"), ["a", "secret"]),
        (("a", "b"), [1]),
        (("a", "b"), ["a", None]),
        ((0, 1), [0, 987654]),
        ((0, 1), [-1]),
        ((0, 1), [0.0]),
        ((0, 1), [True]),
        ((True, False), [1]),
        ((1, 2**62), np.array([2**63], dtype=np.uint64)),
        ((0, 1), np.array([2**64 - 1], dtype=np.uint64)),
        (range(100), [987654]),
    ],
)
def test_values_of_no_label_are_refused_and_not_shown(labels: tuple[object, ...], values: object) -> None:
    question = KaryResponse(labels, 1)
    for call in (question.randomize, question.estimate):
        with pytest.raises(ParameterError, match="one of") as raised:
            call(values)  # type: ignore[arg-type]
        assert "secret" not in str(raised.value)
        assert "987654" not in str(raised.value)


def test_nearby_large_numbers_are_told_apart() -> None:
    labels = (2**62, 2**62 + 1, 2**62 + 2)
    values = np.array([2**62 + 1, 2**62], dtype=np.uint64)
    assert read_places(values, labels, "values", "test").tolist() == [1, 0]


@pytest.mark.parametrize(
    "labels",
    [
        "ab",
        5,
        ("a",),
        ("a", "a"),
        ("a", 1),
        (1.5, 2.5),
        (None, "a"),
        ("a", "a\0"),
        ("a", "\ud800😀"),
        (0, 2**63),
        (1, True),
    ],
)
def test_labels_that_are_none(labels: object) -> None:
    with pytest.raises(ParameterError):
        read_labels(labels, "test")  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 31, "one", "31", None, True, 1e-300, 1e-19])
def test_epsilons_that_are_none(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon_at_most"):
        KaryResponse(range(3), epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("kept", [0, 1, -0.1, 1.1, float("nan"), "half"])
def test_shares_that_are_none(kept: object) -> None:
    with pytest.raises(ParameterError, match="kept"):
        Retention(range(3), kept)  # type: ignore[arg-type]


def test_wrong_arguments() -> None:
    for truth in (0.5, 1, 0.2):
        with pytest.raises(ParameterError, match="truth"):
            warner(truth=truth)
    for make in (lambda: warner(("a", "b", "c")), lambda: binary_response(("a", "b", "c"), 1)):
        with pytest.raises(ParameterError, match="two values"):
            make()
    with pytest.raises(ParameterError, match="square matrix for 3 values"):
        MatrixResponse(("a", "b", "c"), [[0.5, 0.5], [0.5, 0.5]])
    with pytest.raises(ParameterError, match="one for each value"):
        warner().estimate_counts([1, 2, 3])
    for counts in ([-1, 2], [float("nan"), 1], [float("inf"), 1]):
        with pytest.raises(ParameterError, match="counts"):
            warner().estimate_counts(counts)
    with pytest.raises(ParameterError, match="ResearchEntropy"):
        warner().randomize([True], 7)  # type: ignore[arg-type]


def test_shapes_are_kept() -> None:
    question = KaryResponse(("a", "b"), 1)
    assert question.randomize([["a", "b"], ["b", "b"]]).shape == (2, 2)
    assert question.randomize([]).shape == (0,)
    assert question.randomize("a").shape == ()
    assert question.estimate([]).people == 0


def test_reports_of_a_seed_are_repeated_and_values_are_left_alone() -> None:
    question, values = KaryResponse(range(9), 1), np.arange(9) % 9
    before = values.copy()
    first, second = (question.randomize(values, ResearchEntropy(3)) for _ in range(2))
    assert (first == second).all()
    assert first is not values
    assert (values == before).all()


def test_what_is_recorded() -> None:
    event = KaryResponse(range(4), 1).event()
    assert event.mechanism == "kary-response"
    assert event.entropy == "secure"
    assert event.cost.epsilon == KaryResponse(range(4), 1).epsilon() <= 1
    assert KaryResponse(range(4), 1).event(ResearchEntropy(1)).entropy == "research"
    for no_cost in (MatrixResponse((0, 1), [[1, 0], [0.5, 0.5]]), MatrixResponse((0, 1), [[0.5, 0.5]] * 2)):
        with pytest.raises(GuaranteeError):
            no_cost.event()


def test_singular_matrices_can_randomize_but_not_estimate() -> None:
    question = MatrixResponse((0, 1), [[0.5, 0.5], [0.5, 0.5]])
    assert question.randomize([0, 1]).shape == (2,)
    with pytest.raises(GuaranteeError, match="cannot be inverted"):
        question.estimate([0, 1])


def test_other_weight_is_the_least_that_holds() -> None:
    assert other_weight(Fraction(1), 2) == -(-(2**60) // (1 + Fraction(Decimal(1).exp(Context(prec=80)))))
    with pytest.raises(ParameterError):
        other_weight(Fraction(1), 1)


def test_numbers_from_0_are_their_own_places() -> None:
    assert are_places(np.arange(5))
    assert not are_places(np.array([1, 0]))
    assert not are_places(np.array([0, 2, 1]))
    assert not are_places(np.array([False, True]))
    assert not are_places(np.array(["0", "1"]))


def test_fingerprints_do_not_depend_on_how_a_matrix_was_written() -> None:
    one: CategoryRandomizer = MatrixResponse((0, 1), [[0.75, 0.25], [0.5, 0.5]])
    other = MatrixResponse((0, 1), [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 2), Fraction(1, 2)]])
    assert one == other
    assert one.fingerprint() == other.fingerprint()
    assert KaryResponse((1, 0), 1).fingerprint() != KaryResponse((True, False), 1).fingerprint()
