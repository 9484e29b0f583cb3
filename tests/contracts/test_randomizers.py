"""What every randomizer promises, whatever its method.

A new randomizer is a class and one line of the registry, as the toy in `dice_randomizer` shows; here it joins by an entry in
`CASES`, and a test fails as long as it has none. `true_values` are values of its domain, `wrong` are values that are not; both
are needed because numbers and texts have no labels to take them from.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sudare
from sudare.collect import (
    Aggregator,
    BoundedNoise,
    Client,
    Estimate,
    Grid,
    KaryResponse,
    LocalHashing,
    MatrixResponse,
    MeanEstimate,
    OneBit,
    Piecewise,
    RandomizedAttribute,
    Randomizer,
    Rappor,
    Retention,
    UnaryResponse,
    UnboundedNoise,
    binary_response,
    count_reports,
    read_questionnaire,
    read_randomizer,
    read_reports,
    specification,
    warner,
    write_reports,
)
from sudare.collect.questionnaires.report_forms import FORMS
from sudare.collect.questionnaires.reports import read_lines, report_lines
from sudare.collect.randomizers import registry
from sudare.collect.randomizers.registry import find_kind, find_method, register_randomizer, registered_randomizers
from sudare.errors import InputError, ParameterError
from sudare.noise import ResearchEntropy
from tests.commands import runner
from tests.contracts.dice_randomizer import REGISTRATION, DieResponse

PEOPLE = 20_000


@dataclass(frozen=True)
class Case:
    """A randomizer with what is needed to test it.

    Attributes:
        name: shown by pytest.
        make: makes the randomizer.
        others: makes randomizers that differ from it in one parameter each.
        true_values: some values of the domain, in unequal numbers.
        wrong: values that are refused.
        asked: the epsilon asked for, where there is one.
        matrix: whether the transition can be written out.
        sums: whether the unbiased estimates add up to the number of people by themselves.
        whole: whether the probabilities are whole-number weights; others are irrational, and bounded to the safe side.
        counts: whether the number of people with each value can be estimated; else only the mean of the values.
        device: whether people's devices can draw by themselves.
        candidates: the values to look for, where they must be named.
        question: how a questionnaire asks for it, in TOML.
    """

    name: str
    make: Callable[[], Randomizer]
    others: Callable[[], list[Randomizer]]
    true_values: tuple[Any, ...]
    wrong: tuple[Any, ...]
    asked: Fraction | None = None
    matrix: bool = True
    sums: bool = True
    whole: bool = True
    counts: bool = True
    device: bool = True
    candidates: tuple[str, ...] = ()
    question: str = ""

    def estimate(self, randomizer: Any, reports: Any) -> Estimate | MeanEstimate:
        """What can be estimated from the reports."""
        named = (self.candidates,) if self.candidates else ()
        found: Estimate | MeanEstimate = (
            randomizer.estimate(reports, *named) if self.counts else randomizer.estimate_mean(reports)
        )
        return found


def ask(method: str, **keys: Any) -> str:
    """A question in TOML, which writes these values as JSON does."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in {"name": "asked", "method": method, **keys}.items()]
    return "\n".join(["[[question]]", *lines, ""])


LABELS = ("none", "flu", "cold")
TEXTS = ("none", "none", "none", "flu", "flu", "cold")
WRONG = ("secret-987", 5, None, 0.5)
AGES, SHARES = Grid(0, 100, 25), Grid(0, 1, Fraction(1, 4))
AGES_ASKED, SHARES_ASKED = {"low": 0, "high": 100, "step": 25}, {"low": 0, "high": 1, "step": "1/4"}
WRONG_NUMBERS = (987, -1, float("nan"), float("inf"), True, None, "secret-987", 10**400)

CASES = [
    Case(
        "kary",
        lambda: KaryResponse(LABELS, 1),
        lambda: [KaryResponse(LABELS, 2), KaryResponse(LABELS[::-1], 1), KaryResponse(("none", "flu", "gout"), 1)],
        TEXTS,
        WRONG,
        Fraction(1),
        question=ask("kary-response", values=LABELS, epsilon=1),
    ),
    Case(
        "kary-numbers",
        lambda: KaryResponse(range(16), Fraction(1, 3)),
        lambda: [KaryResponse(range(15), Fraction(1, 3)), KaryResponse([str(i) for i in range(16)], Fraction(1, 3))],
        (0, 0, 0, 7, 15, 15),
        (16, -1, 2.0, True, "secret-987"),
        Fraction(1, 3),
        question=ask("kary-response", values=list(range(16)), epsilon="1/3"),
    ),
    Case(
        "binary",
        lambda: binary_response((True, False), 3),
        lambda: [binary_response((False, True), 3), binary_response((1, 2), 3), warner()],
        (True, True, False),
        (1, 0, "secret-987"),
        Fraction(3),
        question=ask("binary-response", values=[True, False], epsilon=3),
    ),
    Case(
        "warner",
        warner,
        lambda: [warner(truth=0.8)],
        (True, True, False),
        (1, "secret-987"),
        question=ask("warner", values=[True, False]),
    ),
    Case(
        "retention",
        lambda: Retention(LABELS, Fraction(1, 3)),
        lambda: [Retention(LABELS, Fraction(1, 2)), Retention(("a", "b", "c"), Fraction(1, 3))],
        TEXTS,
        WRONG,
        question=ask("retention", values=LABELS, kept="1/3"),
    ),
    Case(
        "matrix",
        lambda: MatrixResponse(LABELS, [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]),
        lambda: [MatrixResponse(LABELS, [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])],
        TEXTS,
        WRONG,
        question=ask("matrix-response", values=LABELS, rows=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]),
    ),
    Case(
        "optimized-unary",
        lambda: UnaryResponse(LABELS, 1),
        lambda: [UnaryResponse(LABELS, 1, "symmetric"), UnaryResponse(LABELS, 2), UnaryResponse(LABELS[:2], 1)],
        TEXTS,
        WRONG,
        Fraction(1),
        sums=False,
        question=ask("unary-response", values=LABELS, epsilon=1),
    ),
    Case(
        "symmetric-unary",
        lambda: UnaryResponse(range(40), 2, "symmetric"),
        lambda: [UnaryResponse(range(41), 2, "symmetric"), UnaryResponse(range(40), 2)],
        (0, 0, 0, 7, 39, 39),
        (40, -1, 2.0, "secret-987"),
        Fraction(2),
        matrix=False,
        sums=False,
        question=ask("unary-response", values=list(range(40)), epsilon=2, rule="symmetric"),
    ),
    Case(
        "local-hashing",
        lambda: LocalHashing(range(40), 2),
        lambda: [LocalHashing(range(41), 2), LocalHashing(range(40), 1), LocalHashing(range(1, 41), 2)],
        (0, 0, 0, 7, 39, 39),
        (40, -1, 2.0, "secret-987"),
        Fraction(2),
        matrix=False,
        sums=False,
        question=ask("local-hashing", values=list(range(40)), epsilon=2),
    ),
    Case(
        "bounded-laplace",
        lambda: BoundedNoise(AGES, 50),
        lambda: [BoundedNoise(AGES, 51), BoundedNoise(Grid(0, 125, 25), 50), UnboundedNoise(AGES, 50)],
        (0, 0, 0, 25, 50, 75, 100, 100),
        WRONG_NUMBERS,
        Fraction(2),
        whole=False,
        question=ask("bounded-noise", **AGES_ASKED, scale=50),
    ),
    Case(
        "bounded-laplace-of-shares",
        lambda: BoundedNoise(SHARES, Fraction(1, 2), method="rejection"),
        lambda: [BoundedNoise(SHARES, Fraction(1, 2), "normal", "rejection"), BoundedNoise(SHARES, 1)],
        (0.0, 0.0, 0.25, 0.5, 0.75, 1.0),
        WRONG_NUMBERS,
        Fraction(2),
        whole=False,
        question=ask("bounded-noise", **SHARES_ASKED, scale="1/2", draw="rejection"),
    ),
    Case(
        "bounded-normal",
        lambda: BoundedNoise(Grid(0, 100, 50), 50, "normal"),
        lambda: [BoundedNoise(Grid(0, 100, 50), 50), BoundedNoise(Grid(0, 100, 25), 50, "normal")],
        (0, 0, 0, 50, 100, 100),
        WRONG_NUMBERS,
        Fraction(2),
        whole=False,
        question=ask("bounded-noise", low=0, high=100, step=50, scale=50, base="normal"),
    ),
    Case(
        "unbounded-laplace",
        lambda: UnboundedNoise(AGES, 50),
        lambda: [UnboundedNoise(AGES, 51), UnboundedNoise(Grid(0, 125, 25), 50), BoundedNoise(AGES, 50)],
        (0, 0, 0, 25, 50, 75, 100, 100),
        WRONG_NUMBERS,
        Fraction(2),
        whole=False,
        question=ask("unbounded-noise", **AGES_ASKED, scale=50),
    ),
    Case(
        "one-bit",
        lambda: OneBit(AGES, 2),
        lambda: [OneBit(AGES, 1), OneBit(Grid(0, 125, 25), 2), Piecewise(AGES, 2)],
        (0, 0, 0, 25, 50, 75, 100, 100),
        WRONG_NUMBERS,
        Fraction(2),
        counts=False,
        question=ask("one-bit", **AGES_ASKED, epsilon=2),
    ),
    Case(
        "piecewise",
        lambda: Piecewise(AGES, 2),
        lambda: [Piecewise(AGES, 1), Piecewise(Grid(0, 125, 25), 2), OneBit(AGES, 2)],
        (0, 0, 0, 25, 50, 75, 100, 100),
        WRONG_NUMBERS,
        Fraction(2),
        sums=False,
        question=ask("piecewise", **AGES_ASKED, epsilon=2),
    ),
    Case(
        "rappor",
        lambda: Rappor(32, 2, 4, 0.25, 0.25, 0.75),
        lambda: [
            Rappor(32, 2, 8, 0.25, 0.25, 0.75),
            Rappor(16, 2, 4, 0.25, 0.25, 0.75),
            Rappor(32, 2, 4, 0.5, 0.25, 0.75),
        ],
        TEXTS,
        (5, None, 0.5),
        matrix=False,
        sums=False,
        device=False,
        candidates=LABELS,
        question=ask("rappor", bits=32, hashes=2, cohorts=4, f=0.25, p=0.25, q=0.75),
    ),
    Case(
        "a toy",
        lambda: DieResponse(("yes", "no"), 6),
        lambda: [DieResponse(("no", "yes"), 6), DieResponse(("yes", "no"), 8), KaryResponse(("yes", "no"), 1)],
        ("yes", "no", "no"),
        WRONG,
        question=ask("die", values=["yes", "no"], sides=6),
    ),
]


WRITTEN = {
    "kary": ("28936c0888d8510d", "68e40b6fdf325689", "d0131d5e5de87eb7"),
    "kary-numbers": ("e68a343c46cf6531", "e1e046c584bfb9ad", "c4a85dcaca01c87c"),
    "binary": ("1a55ef87a493dadf", "9eeadcd7c0bfbd7f", "eef275e6ea82acc3"),
    "warner": ("8913805edccc70b4", "7f41e3c6bc289935", "7a9ace33502f526c"),
    "retention": ("13fe792e053702d4", "b82e5586ae31e211", "26d65e88752e1c28"),
    "matrix": ("b78f10ceea5fcc46", "f1d1a5a93681165d", "6c4edd8e81fc9c8f"),
    "optimized-unary": ("f9b1a86d5b4e4d92", "2d749c686bedd5dc", "3b65478643a8ec8a"),
    "symmetric-unary": ("64d5c6390ab3c378", "6ab31f9a4dc27a84", "77d02f0c21d7dd8e"),
    "local-hashing": ("46bbb616f6bf9f0c", "7d42a1a1c5b743aa", "948c06e884334a18"),
    "bounded-laplace": ("90b876574756cb4e", "56ae1b2fbdaccbd5", "615f9ec7cbea5c12"),
    "bounded-laplace-of-shares": ("77fcaeab967f4649", "f4599e56c5ac5b36", "9c96722dcf3e6f0e"),
    "bounded-normal": ("ecd7ca4e1ec9bbb4", "3624a5b54f4a53b5", "c296447f6f931be4"),
    "unbounded-laplace": ("c8b2e51f25536c42", "da97e1ddd33251ff", "e3d937235a33a0a9"),
    "one-bit": ("202adb2b426cedc5", "8c659c744c665c26", "90d5f47e944925b2"),
    "piecewise": ("9c7ab2c0124e0831", "187367ab30fdd8d6", "813fe7107bb0f7fc"),
    "rappor": ("9c09923a407db7b5", "9e7a35d8ff184104", "fde54ade5534fbf0"),
}
"""Of each randomizer the fingerprint, a hash of its specification, and one of the lines of its reports from a fixed seed.

They are in files that people have: none may ever change.
"""

SOURCE = Path(sudare.__file__).parent


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that a new randomizer takes."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))
    register_randomizer(REGISTRATION)


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    made: Case = request.param
    return made


def population(case: Case) -> np.ndarray[Any, Any]:
    return np.resize(np.asarray(case.true_values), PEOPLE)


def test_every_registered_randomizer_is_here() -> None:
    registered = registered_randomizers()
    assert {case.make().kind for case in CASES} == {one.kind for one in registered}
    assert {case.question.split("method = ")[1].split('"')[1] for case in CASES} == {
        method for one in registered for method in one.methods
    }
    assert set(WRITTEN) == {case.name for case in CASES} - {"a toy"}


def test_a_registration_says_what_the_class_says() -> None:
    for one in registered_randomizers():
        found = one.load()
        assert (found.kind, tuple(found.question_keys)) == (one.kind, one.methods)
        assert found.words.en != found.words.ja
        assert find_kind(one.kind) is found
        assert all(find_method(method) is found for method in one.methods)


def test_two_randomizers_never_share_a_name() -> None:
    register_randomizer(REGISTRATION)
    for taken in (replace(REGISTRATION, name="Other"), replace(REGISTRATION, kind="new", methods=("warner",))):
        with pytest.raises(ValueError, match="is taken by"):
            register_randomizer(taken)
    assert find_kind("new") is None
    assert find_kind(["die-response"]) is None


def test_what_was_written_once_is_written_so_for_ever(case: Case) -> None:
    if case.name not in WRITTEN:
        pytest.skip("nobody has files of a toy")
    randomizer = case.make()
    told = json.dumps(specification(randomizer), sort_keys=True)
    drawn = randomizer.randomize(np.asarray(case.true_values), ResearchEntropy(5))
    texts = (told, "\n".join(report_lines(randomizer, drawn)))
    hashes = tuple(hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)
    assert (randomizer.fingerprint(), *hashes) == WRITTEN[case.name]


def test_from_a_questionnaire_to_an_estimate_by_the_command(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner(capsys, monkeypatch, 120)
    survey, data, reports, names = (tmp_path / name for name in ("a.toml", "a.csv", "a.parquet", "names.txt"))
    survey.write_text(case.question, encoding="utf-8")
    randomizer = read_questionnaire(survey).questions["asked"]
    assert randomizer == case.make()
    assert randomizer.fingerprint() == case.make().fingerprint()
    values = [
        str(value).lower() if isinstance(value, bool) else str(value) for value in population(case)[:600].tolist()
    ]
    data.write_text("\n".join(["asked", *values, ""]), encoding="utf-8")
    names.write_text("\n".join(case.candidates), encoding="utf-8")
    made = run("collect", "randomize", survey, data, "--out", reports, "--json")
    assert made.json["epsilons_exact"] == {"asked": str(randomizer.epsilon())}
    given = ("--candidates", names) if case.candidates else ()
    found = run("collect", "estimate", reports, *given, "--json").json
    assert found["people"] == 600
    told = {str(row["value"]) for row in found["estimates"]}
    labels = randomizer.value_labels() or case.candidates
    assert told == ({str(label) for label in labels} if labels else {"mean"})
    shown = run("collect", "estimate", reports, *given)
    assert f"asked ({randomizer.kind})" in shown.out
    assert randomizer.words.en in " ".join(shown.out.split())


def test_batches_add_up_to_the_whole(case: Case) -> None:
    randomizer = case.make()
    reports = randomizer.randomize(population(case)[:900])
    one, two = Aggregator(randomizer), Aggregator(randomizer)
    one.add(reports[:300])
    one.add(reports[300:500])
    two.add(reports[500:])
    one.merge(two)
    whole = case.estimate(randomizer, reports)
    if isinstance(whole, MeanEstimate):
        assert one.estimate_mean() == whole
        return
    merged = one.estimate(candidates=case.candidates)
    assert merged.people == one.people == 900
    assert np.allclose(merged.unbiased, whole.unbiased)
    assert randomizer.has_mean == (randomizer.value_grid() is not None)
    if not randomizer.has_mean:
        with pytest.raises(ParameterError, match="a randomizer of numbers"):
            one.estimate_mean()
        with pytest.raises(ParameterError, match="a randomizer of numbers"):
            randomizer.estimate_mean(reports)


CLASSES = {"CategoryRandomizer", "MeanRandomizer", "NumberRandomizer", "SupportRandomizer"}
BY_NAME = {
    "collect/randomizers/planning.py": "a plan compares certain methods, each by a formula of its own",
    "collect/rappor/memory.py": "the memory of RAPPOR keeps its permanent responses, which no other randomizer has",
}
"""Modules that may ask which randomizer it is, and why."""


def test_nobody_asks_which_randomizer_it_is() -> None:
    own = {one.load() for one in registered_randomizers() if one != REGISTRATION}
    classes = CLASSES | {one.__name__ for one in own}
    kinds = {one.kind for one in own}
    found = set()
    for path in (*(SOURCE / "collect").rglob("*.py"), *(SOURCE / "cli").rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                if {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)} & classes:
                    found.add(place)
            elif isinstance(node, ast.Compare):
                parts = list(ast.walk(node))
                asks = any(isinstance(part, ast.Attribute) and part.attr == "kind" for part in parts)
                if asks and {part.value for part in parts if isinstance(part, ast.Constant)} & kinds:
                    found.add(place)
    assert found == set(BY_NAME)


def test_rows_add_up(case: Case) -> None:
    if not case.matrix:
        pytest.skip("there are too many reports to list")
    transition = case.make().transition()
    if case.whole:
        weights = transition.weights()
        assert {sum(row) for row in weights.tolist()} == {transition.total}
        assert weights.min() >= 0
    assert transition.probabilities().min() >= 0
    assert transition.probabilities().sum(axis=1) == pytest.approx(np.ones(transition.values))


def test_epsilon_is_exact_and_never_above_the_one_asked_for(case: Case) -> None:
    randomizer = case.make()
    ratio, epsilon = randomizer.largest_ratio(), randomizer.epsilon()
    assert ratio is not None
    assert ratio > 1
    assert float(epsilon) == pytest.approx(np.log(float(ratio)), rel=1e-14)
    if case.asked is not None:
        assert case.asked * (1 - Fraction(1, 10**9)) < epsilon <= case.asked


def test_ratio_and_rate_are_those_of_the_matrix(case: Case) -> None:
    randomizer = case.make()
    assert 0 <= randomizer.anonymity_rate() < 1
    if case.matrix and not case.whole:
        matrix = randomizer.transition().probabilities()
        by_pairs = matrix[:, None] / matrix[None]
        promised = randomizer.largest_ratio()
        assert promised is not None
        assert float(promised) == pytest.approx(by_pairs.max(), rel=1e-10)
        assert float(randomizer.anonymity_rate()) == pytest.approx(
            (by_pairs.min(axis=2) / by_pairs.max(axis=2)).min(), rel=1e-10
        )
    elif case.matrix:
        weights = [[int(w) for w in row] for row in randomizer.transition().weights()]
        ratios = [[Fraction(a, b) for a, b in zip(u, v, strict=True)] for u in weights for v in weights]
        assert randomizer.largest_ratio() == max(map(max, ratios))
        assert randomizer.anonymity_rate() == min(min(ratio) / max(ratio) for ratio in ratios)


def test_fingerprints_are_stable_and_tell_parameters_apart(case: Case) -> None:
    randomizer = case.make()
    own = randomizer.fingerprint()
    assert own == case.make().fingerprint()
    assert len(own) == 16
    assert int(own, 16) >= 0
    assert case.make() == randomizer
    for other in case.others():
        assert other.fingerprint() != own
        assert other != randomizer


def test_specifications_are_read_again(case: Case) -> None:
    randomizer = case.make()
    assert find_kind(randomizer.kind) is type(randomizer)
    for told in (randomizer.to_dict(), specification(randomizer)):
        read = read_randomizer(json.loads(json.dumps(told)))
        assert type(read) is type(randomizer)
        assert read == randomizer
        assert read.fingerprint() == randomizer.fingerprint()
        assert read.largest_ratio() == randomizer.largest_ratio()


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_reports_are_read_again(case: Case, suffix: str, tmp_path: Path) -> None:
    randomizer, path = case.make(), tmp_path / f"reports.{suffix}"
    assert randomizer.form in FORMS
    sent = randomizer.randomize(population(case)[:100])
    write_reports(path, randomizer, sent)
    received = read_reports(path, randomizer)[1]
    assert np.array_equal(received, sent)
    assert received.dtype.kind == sent.dtype.kind
    one, two = (case.estimate(randomizer, reports) for reports in (received, sent))
    if isinstance(one, Estimate) and isinstance(two, Estimate):
        assert np.array_equal(one.unbiased, two.unbiased)
    else:
        assert one == two
    for other in case.others():
        with pytest.raises(InputError):
            read_reports(path, other)


def test_devices_make_reports_that_are_read(case: Case) -> None:
    randomizer = case.make()
    if not case.device:
        with pytest.raises(InputError, match="no drawing that devices know"):
            Client(specification(randomizer))
        return
    client = Client(json.dumps(specification(randomizer)))
    assert client.epsilon() == randomizer.epsilon()
    lines = [client.report(value) for value in case.true_values]
    assert case.estimate(randomizer, read_lines(lines, randomizer)).people == len(lines)
    own = randomizer.randomize(list(case.true_values))
    assert np.array_equal(read_lines(report_lines(randomizer, own), randomizer), own)


def test_estimates_add_up_and_are_unbiased(case: Case) -> None:
    """Within six standard errors: a false alarm in about one of ten million runs."""
    randomizer, truths = case.make(), population(case)
    estimate = case.estimate(randomizer, randomizer.randomize(truths))
    if isinstance(estimate, MeanEstimate):
        assert estimate.people == PEOPLE
        assert abs(estimate.mean - truths.mean()) < 6 * estimate.standard_error
        assert 0 < estimate.standard_error < 0.02 * (truths.max() - truths.min())
        return
    true_numbers = np.array([(truths == label).sum() for label in estimate.labels])
    assert estimate.people == PEOPLE
    assert estimate.constrained.min() >= 0
    assert estimate.constrained.sum() == pytest.approx(PEOPLE)
    if case.sums:
        assert estimate.unbiased.sum() == pytest.approx(PEOPLE)
    assert (np.abs(estimate.unbiased - true_numbers) < 6 * estimate.standard_errors).all()
    assert (estimate.standard_errors > 0).all()
    # Others would be far off: the error is small against what is estimated.
    assert estimate.standard_errors.max() < 0.2 * PEOPLE
    low, high = estimate.intervals(0.999999)
    assert ((low < true_numbers) & (true_numbers < high)).mean() > 0.5


def test_estimated_variances_are_near_the_true_ones(case: Case) -> None:
    randomizer: Any = case.make()
    reports = randomizer.randomize(np.resize(np.asarray(case.true_values[:1]), PEOPLE))
    if not case.counts:
        # One bit cannot tell the spread of the values: its error is that of people who are spread as widely as can be.
        at_most = randomizer.mean_variance(PEOPLE)
        assert 0.3 * at_most < randomizer.estimate_mean(reports).standard_error ** 2 < 1.1 * at_most
        assert randomizer.mean_variance(2 * PEOPLE) == pytest.approx(at_most / 2)
        return
    estimate: Any = case.estimate(randomizer, reports)
    expected = [randomizer.variance(PEOPLE, share) for share in (1.0, 0.0)]
    # Categories have one variance; that of numbers is the largest.
    assert (estimate.variances.max() if hasattr(randomizer, "grid") else estimate.variances.min()) > 0.3 * min(expected)
    assert estimate.variances.max() < 3 * max(expected)
    assert randomizer.variance(2 * PEOPLE) == pytest.approx(2 * randomizer.variance(PEOPLE))


def test_seeds_repeat_and_the_secure_source_does_not(case: Case) -> None:
    randomizer, truths = case.make(), population(case)[:2000]
    before = truths.copy()
    one, two = (randomizer.randomize(truths, ResearchEntropy(5)) for _ in range(2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, randomizer.randomize(truths, ResearchEntropy(6)))
    assert not np.array_equal(randomizer.randomize(truths), randomizer.randomize(truths))
    assert np.array_equal(truths, before)


def test_randomizers_cannot_be_changed_but_copied(case: Case) -> None:
    randomizer = case.make()
    with pytest.raises((FrozenInstanceError, AttributeError)):
        randomizer.labels = ()  # type: ignore[attr-defined]
    for twin in (copy.deepcopy(randomizer), pickle.loads(pickle.dumps(randomizer))):  # noqa: S301
        assert twin == randomizer
        assert np.array_equal(
            twin.randomize(population(case)[:50], ResearchEntropy(1)),
            randomizer.randomize(population(case)[:50], ResearchEntropy(1)),
        )


def test_what_a_report_costs_is_recorded(case: Case) -> None:
    randomizer = case.make()
    event = randomizer.event()
    assert event.cost.epsilon is not None
    assert 0 <= event.cost.epsilon - randomizer.epsilon() <= (0 if case.whole else Fraction(1, 10**40))
    assert event.entropy == "secure"
    assert randomizer.event(ResearchEntropy(1)).entropy == "research"


def test_wrong_values_are_refused_and_not_shown(case: Case) -> None:
    randomizer = case.make()
    for wrong in case.wrong:
        with pytest.raises(ParameterError) as raised:
            randomizer.randomize([wrong])
        assert "987" not in str(raised.value)
        if not case.device:
            continue
        with pytest.raises(ParameterError) as raised:
            Client(specification(randomizer)).randomize(wrong)
        assert "987" not in str(raised.value)


def test_reports_are_counted_for_tables(case: Case) -> None:
    if not case.matrix or case.name == "optimized-unary":
        pytest.skip("tables are made of categories and numbers")
    randomizer = case.make()
    attribute = RandomizedAttribute.of("answer", randomizer)
    counts = count_reports({"answer": randomizer.randomize(population(case)[:500])}, [attribute])
    assert counts.shape == (randomizer.transition().reports,)
    assert counts.sum() == 500
    assert len(attribute.labels) == randomizer.transition().values
    with pytest.raises(ParameterError, match="'answer'") as raised:
        count_reports({"answer": ["secret-987"]}, [attribute])
    assert "987" not in str(raised.value)


def test_wrong_reports_are_refused_and_not_shown(case: Case) -> None:
    randomizer = case.make()
    wrongs: list[Any] = [
        "secret-987",
        [["secret-987"]],
        [None],
        np.array([[1.5]]),
        np.full((2, 99), 255, dtype=np.uint8) if case.name != "piecewise" else np.array([98765]),
    ]
    for wrong in wrongs:
        with pytest.raises(ParameterError) as raised:
            case.estimate(randomizer, wrong)
        assert "987" not in str(raised.value)
    for plain in ("secret-987", ["secret-987", 987], {"secret-987": 1}, None, 987.5):
        line = json.dumps({"sudare": 1, "randomizer": randomizer.fingerprint(), "report": plain})
        with pytest.raises(InputError) as told:
            read_lines([line], randomizer)
        assert "987" not in told.value.english + told.value.japanese


def test_wrong_sources_are_refused(case: Case) -> None:
    for wrong in (7, "seed", np.random.default_rng(1)):
        with pytest.raises(ParameterError, match="ResearchEntropy"):
            case.make().randomize(population(case)[:5], wrong)  # type: ignore[arg-type]


def test_tables_need_labels_or_a_grid() -> None:
    with pytest.raises(ParameterError, match="of categories, or of the numbers of a grid"):
        RandomizedAttribute.of("browser", Rappor(16, 2, 4, 0.5, 0.5, 0.75))


def test_a_randomizer_that_cannot_be_read_back_cannot_be_made() -> None:
    class Unreadable(KaryResponse):
        from_question = Randomizer.from_question
        from_parameters = Randomizer.from_parameters  # type: ignore[assignment]

    with pytest.raises(TypeError, match="abstract"):
        Unreadable(("yes", "no"), 1)
