"""The part that runs on devices: light, exact, and one with what runs where reports are collected."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.collect import (
    BoundedNoise,
    Client,
    Grid,
    KaryResponse,
    LocalHashing,
    MatrixResponse,
    OneBit,
    Piecewise,
    Randomizer,
    Retention,
    UnaryResponse,
    UnboundedNoise,
    specification,
)
from sudare.collect.device.client import RULES
from sudare.collect.device.numbers import GridPoints
from sudare.collect.device.rules import RowsRule
from sudare.collect.questionnaires.report_forms import form_of
from sudare.collect.questionnaires.reports import read_lines
from sudare.collect.randomizers.registry import registered_randomizers
from sudare.errors import GuaranteeError, InputError, ParameterError
from tests.scripted import ScriptedEntropy
from tests.statistical.goodness import chi_square_rejects
from tests.unit.collect.test_reports import RANDOMIZERS

DEVICE = """
import json, sys
from sudare.collect.device.client import Client
from sudare.collect.device.memory import Memory
client = Client(sys.argv[1], epsilon_at_most=3)
with Memory(sys.argv[2]) as memory:
    kept = {json.dumps(memory.respond(client, "me", json.loads(sys.argv[3]), question="?")) for day in range(5)}
print(len(kept), client.report(json.loads(sys.argv[3])))
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


NUMBERS: tuple[Any, ...] = (
    BoundedNoise(Grid(0, 20, 4), 10),
    BoundedNoise(Grid(0, 20, 4), 3, "normal"),
    BoundedNoise(Grid(-1, 1, Fraction(1, 4)), 5),
    UnboundedNoise(Grid(0, 20, 4), Fraction(66, 7)),
    OneBit(Grid(0, 20, 4), 1),
    OneBit(Grid(-1, 1, Fraction(1, 3)), 2),
    Piecewise(Grid(0, 20, 4), 1),
    Piecewise(Grid(-1, 1, Fraction(1, 3)), 2),
)
ANSWERING = RANDOMIZERS[:1] + RANDOMIZERS[4:6] + RANDOMIZERS[-1:] + NUMBERS[0:5:4] + NUMBERS[3:7:3]


@pytest.mark.parametrize("randomizer", ANSWERING, ids=lambda r: r.kind)
def test_devices_load_the_standard_library_only(randomizer: Any, tmp_path: Any) -> None:
    value = json.dumps(randomizer.labels[1] if hasattr(randomizer, "labels") else 8)
    told = subprocess.run(
        [sys.executable, "-c", DEVICE, json.dumps(specification(randomizer)), str(tmp_path / "answers.db"), value],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    first, modules = told.stdout.splitlines()
    kept, line = first.split(" ", 1)
    assert kept == "1"
    assert read_lines([line], randomizer).shape[0] == 1
    loaded = set(modules.split())
    assert "sudare" in loaded
    foreign = {name for name in loaded if name not in sys.stdlib_module_names and not name.startswith("_")}
    # What a virtual environment loads by itself at the start is not ours.
    assert not foreign & {"numpy", "numba", "scipy", "pyarrow", "cryptography", "pandas", "mpmath", "dp_accounting"}


@pytest.mark.parametrize("randomizer", RANDOMIZERS + NUMBERS[4:], ids=lambda r: f"{r.kind}-{r.fingerprint()[:4]}")
@settings(max_examples=25)
@given(seed=st.integers(0, 10**9))
def test_the_same_words_give_the_same_report(randomizer: Any, seed: int) -> None:
    chooser = random.Random(seed)
    value = chooser.choice(randomizer.labels if hasattr(randomizer, "labels") else randomizer.grid.labels())
    # Words that are often dropped, and words that are often kept.
    words = [chooser.getrandbits(64) | chooser.choice((0, 0xFFF << 52)) for _ in range(200)]
    stream = iter(words)
    on_device = Client(specification(randomizer), next_word=lambda: next(stream)).randomize(value)
    source = ScriptedEntropy(words)
    collected = form_of(randomizer).to_plain(randomizer.randomize([value], source))[0]
    assert on_device == collected
    assert source.read == 200 - len(list(stream))


def observed(client: Client, value: Any, reports: list[Any], draws: int) -> np.ndarray[Any, Any]:
    places = {json.dumps(report): place for place, report in enumerate(reports)}
    counts = np.zeros(len(reports))
    for _ in range(draws):
        counts[places[json.dumps(client.randomize(value))]] += 1
    return counts


@pytest.mark.parametrize(
    "randomizer",
    [KaryResponse("abcd".__iter__(), 1), Retention(range(5), 0.3), MatrixResponse((0, 1), [[0.9, 0.1], [0.3, 0.7]])],
    ids=lambda r: r.kind,
)
def test_devices_draw_by_the_matrix(randomizer: Any) -> None:
    matrix = randomizer.transition().probabilities()
    counts = observed(Client(specification(randomizer)), randomizer.labels[1], list(randomizer.labels), 10_000)
    assert not chi_square_rejects(counts, matrix[1])
    assert chi_square_rejects(counts, matrix[0]), "the row of another value must not fit"


@pytest.mark.parametrize("rule", ["optimized", "symmetric"])
def test_devices_draw_bits_by_the_matrix(rule: Any) -> None:
    randomizer = UnaryResponse(range(3), 2, rule)
    reports = [f"{number:02x}" for number in range(8)]
    counts = observed(Client(specification(randomizer)), 1, reports, 6000)
    matrix = randomizer.transition().probabilities()
    assert not chi_square_rejects(counts, matrix[1])
    assert chi_square_rejects(counts, matrix[0])


def test_devices_hash() -> None:
    randomizer = LocalHashing(range(50), 2)
    client = Client(specification(randomizer))
    lines = [client.report(7) for _ in range(6000)]
    supports, people = randomizer.count(read_lines(lines, randomizer))
    for value, right, wrong in [
        (7, randomizer.truth_support(), randomizer.other_support()),
        (8, randomizer.other_support(), randomizer.truth_support()),
    ]:
        counts = np.array([supports[value], people - supports[value]], dtype=float)
        assert not chi_square_rejects(counts, np.array([float(right), float(1 - right)]))
        assert chi_square_rejects(counts, np.array([float(wrong), float(1 - wrong)]))


@pytest.mark.parametrize("randomizer", NUMBERS[:3], ids=lambda r: f"{r.base}-{r.steps}")
def test_devices_draw_bounded_noise_by_the_matrix(randomizer: Any) -> None:
    labels, matrix = randomizer.grid.labels(), randomizer.transition().probabilities()
    counts = observed(Client(specification(randomizer)), labels[1], list(labels), 6000)
    assert not chi_square_rejects(counts, matrix[1])
    assert chi_square_rejects(counts, matrix[-1]), "the row of another value must not fit"
    here = randomizer.randomize([labels[1]] * 6000)
    alike = np.array([(here == label).sum() for label in labels], dtype=float)
    assert not chi_square_rejects(alike, matrix[1]), "the reports drawn here have the same law"


@pytest.mark.parametrize("base", ["laplace", "normal"])
def test_devices_draw_noise_without_bounds(base: Any) -> None:
    noise = UnboundedNoise(Grid(0, 2, 1), Fraction(7, 4), base)
    client, tail = Client(specification(noise), accept_without_epsilon=True), 12
    drawn = np.array([client.randomize(1) for _ in range(6000)]) - 1
    counts = np.bincount(np.clip(drawn, -tail, tail) + tail, minlength=2 * tail + 1).astype(float)
    far = np.arange(-200, 201)
    for shrunk in (1.0, 0.8):
        energies = [float(noise.noise.law.energy(d)) / shrunk for d in far.tolist()]
        weights = np.exp(-np.array(energies))
        law = np.bincount(np.clip(far, -tail, tail) + tail, weights=weights / weights.sum()).astype(np.float64)
        assert chi_square_rejects(counts, law) == (shrunk != 1)
    if base == "normal":
        with pytest.raises(GuaranteeError, match="no epsilon"):
            client.epsilon()


def test_fine_grids_and_any_noise_cost_a_device_few_words() -> None:
    grid = Grid(0, (1 << 20) - 1, 1)
    for scale in (Fraction(1, 50), 1, 1000, 10**6, 10**9):
        for base in ("laplace", "normal"):
            told: dict[str, Any] = {"version": 1, "kind": "bounded-noise", "grid": grid.to_dict()}
            told["drawing"] = {
                "rule": "noise",
                "base": base,
                "within": True,
                "steps": list(Fraction(scale).as_integer_ratio()),
            }
            chooser, read = random.Random(1), [0]

            def count(chooser: random.Random = chooser, read: list[int] = read) -> int:
                read[0] += 1
                return chooser.getrandbits(64)

            client = Client(told, next_word=count)
            assert all(0 <= client.randomize(value) <= grid.last for value in (0, 5, grid.last) * 20)
            assert read[0] < 60 * 120


def test_rows_may_lead_to_other_reports() -> None:
    """The way for noise on a grid: any weights, any names of columns."""
    told = {
        "version": 1,
        "kind": "noise-on-a-grid",
        "labels": [10, 20],
        "drawing": {"rule": "rows", "weights": [[2, 1, 1], [1, 1, 2]], "reports": [5, 15, 25]},
    }
    client = Client(told)
    assert float(client.epsilon()) == pytest.approx(np.log(2))
    assert not chi_square_rejects(observed(client, 10, [5, 15, 25], 5000), np.array([0.5, 0.25, 0.25]))


@pytest.mark.parametrize("randomizer", RANDOMIZERS + NUMBERS, ids=lambda r: f"{r.kind}-{r.fingerprint()[:4]}")
def test_devices_know_what_a_report_costs(randomizer: Randomizer) -> None:
    told = specification(randomizer)
    client = Client(json.dumps(told))
    assert client.epsilon() == randomizer.epsilon()
    assert client.fingerprint() == randomizer.fingerprint()
    Client(told, epsilon_at_most=randomizer.epsilon())
    with pytest.raises(GuaranteeError, match="more than"):
        Client(told, epsilon_at_most=randomizer.epsilon() * 99 / 100)


NUMBER_RULES = ("line", "noise", "window")


def changed(drawing: dict[str, Any], randomizer: Randomizer = RANDOMIZERS[1]) -> dict[str, Any]:
    told = {key: value for key, value in specification(randomizer).items() if key != "fingerprint"}
    return {**told, "drawing": drawing}


def test_a_drawing_that_was_changed_on_the_way_is_refused() -> None:
    told = json.loads(json.dumps(specification(RANDOMIZERS[1])))
    told["drawing"] = {"rule": "rows", "weights": [[1, 0], [0, 1]]}
    with pytest.raises(InputError, match="was changed"):
        Client(told, accept_without_epsilon=True)


def test_no_cost_holds_where_reports_rule_out_values() -> None:
    for drawing in (
        {"rule": "uniform", "kept": 1, "other": 0},
        {"rule": "rows", "weights": [[1, 0], [0, 1]]},
        {"rule": "bits", "truth": 4, "other": 1, "total_bits": 2},
        {"rule": "bits", "truth": 2, "other": 0, "total_bits": 2},
    ):
        with pytest.raises(GuaranteeError, match="no epsilon"):
            Client(changed(drawing))
        client = Client(changed(drawing), accept_without_epsilon=True)
        client.randomize(True)
        with pytest.raises(GuaranteeError, match="no epsilon"):
            client.epsilon()
        with pytest.raises(GuaranteeError, match="no epsilon"):
            Client(changed(drawing), epsilon_at_most=5)
    assert Client(changed({"rule": "uniform", "kept": 1, "other": 1})).epsilon() == 0


@pytest.mark.parametrize(
    "drawing",
    [
        None,
        {},
        {"rule": "magic"},
        {"rule": "uniform"},
        {"rule": "uniform", "kept": -1, "other": 3},
        {"rule": "uniform", "kept": 0, "other": 0},
        {"rule": "uniform", "kept": 1.5, "other": 3},
        {"rule": "uniform", "kept": "3", "other": 3},
        {"rule": "uniform", "kept": 1 << 62, "other": 3},
        {"rule": "rows", "weights": [[1, 2]]},
        {"rule": "rows", "weights": [[1, 2], [1, 1]]},
        {"rule": "rows", "weights": [[1, 2, 3], [1, 2, 3]]},
        {"rule": "rows", "weights": 7},
        {"rule": "bits", "truth": 5, "other": 1, "total_bits": 2},
        {"rule": "bits", "truth": 5, "other": 1, "total_bits": 99},
        {"rule": "hash", "range": 1, "kept": 3, "other": 1},
        {"rule": "hash", "kept": 3, "other": 1},
        {"rule": "noise", "base": "laplace", "within": True},
        {"rule": "noise", "base": "cauchy", "within": True, "steps": [1, 1]},
        {"rule": "noise", "base": "laplace", "within": 1, "steps": [1, 1]},
        {"rule": "noise", "base": "laplace", "within": True, "steps": [0, 1]},
        {"rule": "noise", "base": "laplace", "within": True, "steps": [1, 0]},
        {"rule": "noise", "base": "laplace", "within": True, "steps": [1.5, 1]},
        {"rule": "noise", "base": "laplace", "within": True, "steps": [1, 2, 3]},
        {"rule": "noise", "base": "laplace", "within": True, "steps": [1 << 20000, 1]},
        {"rule": "line", "likely": 1, "other": 1},
        {"rule": "line", "likely": 1 << 62, "other": 1},
        {"rule": "window", "shift": 1, "width": 1, "likely": 3, "other": 0},
        {"rule": "window", "shift": 0, "width": 1, "likely": 3, "other": 1},
        {"rule": "window", "shift": 1, "width": 1 << 60, "likely": 9, "other": 1},
        {"rule": "window", "shift": 1, "width": 1, "likely": 1, "other": 1},
    ],
)
def test_drawings_that_are_none(drawing: Any) -> None:
    with pytest.raises(InputError) as raised:
        Client(changed(drawing, NUMBERS[0] if drawing and drawing.get("rule") in NUMBER_RULES else RANDOMIZERS[1]))
    assert any(ord(character) > 0x3000 for character in raised.value.japanese)


@pytest.mark.parametrize("within", [True, False])
def test_noise_over_labels_is_refused(within: bool) -> None:
    """Labels end where noise does not: a draw would fall off them, and a device would fail on some days only."""
    drawing = {"rule": "noise", "base": "laplace", "within": within, "steps": [5, 1]}
    with pytest.raises(InputError, match="damaged"):
        Client(changed(drawing, KaryResponse(("a", "b", "c"), 1)))


@pytest.mark.parametrize(
    ("change", "words"),
    [({"version": 2}, "another version"), ({"epsilon": "9"}, "was changed"), ({"labels": ["x", "y"]}, "was changed")],
)
def test_specifications_that_were_changed(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Client({**specification(RANDOMIZERS[1]), **change})


@pytest.mark.parametrize("value", ["secret", 1, 0, None, 1.0, ["yes"]])
def test_values_of_no_label_are_refused_and_not_shown(value: Any) -> None:
    client = Client(specification(KaryResponse((True, False), 1)))
    with pytest.raises(ParameterError, match="one of the labels") as raised:
        client.randomize(value)
    assert "secret" not in str(raised.value)


def test_every_kind_has_a_rule() -> None:
    named = {
        json.loads(json.dumps(specification(randomizer)))["drawing"]["rule"] for randomizer in RANDOMIZERS + NUMBERS
    }
    assert named == set(RULES)
    kinds = {randomizer.kind for randomizer in RANDOMIZERS + NUMBERS}
    assert kinds | {"rappor"} == {one.kind for one in registered_randomizers()}


@given(
    low=st.fractions(-100, 100, max_denominator=12),
    step=st.fractions(Fraction(1, 50), 10, max_denominator=50),
    last=st.integers(1, 40),
    share=st.floats(0, 1),
)
def test_devices_read_and_write_numbers_as_grids_do(low: Fraction, step: Fraction, last: int, share: float) -> None:
    grid = Grid(low, low + last * step, step)
    points = GridPoints(grid.to_dict())
    assert (points.size, points.last) == (grid.size, grid.last)
    values: list[Any] = [*grid.labels(), float(low) + share * float(grid.span), round(float(low) + share * 10)]
    for value in values:
        try:
            expected = int(grid.places([value])[0])
        except ParameterError:
            assert points.place(value) is None
        else:
            assert points.place(value) == expected
    assert [points.plain(place) for place in range(-3, last + 4)] == grid.values(range(-3, last + 4)).tolist()


@pytest.mark.parametrize(
    "told",
    [
        {},
        [],
        {"low": "0", "high": "1"},
        {"low": "0", "high": "1", "step": 1},
        {"low": "0", "high": "1", "step": "1e999999999"},
        {"low": "0", "high": "1", "step": "0"},
        {"low": "0", "high": "1", "step": "2/3"},
        {"low": "0", "high": "1", "step": "1/0"},
        {"low": "1", "high": "0", "step": "1"},
        {"low": "0", "high": "9999999999", "step": "1"},
        {"low": "0", "high": "9" * 30, "step": "9" * 30},
    ],
)
def test_grids_that_are_none(told: Any) -> None:
    own = {"version": 1, "kind": "bounded-noise", "grid": told, "drawing": specification(NUMBERS[0])["drawing"]}
    with pytest.raises(InputError, match="damaged"):
        Client(own)


@pytest.mark.parametrize("value", [-1, 21, 20.5, True, None, "secret", float("nan"), float("inf"), 10**400, [3]])
def test_numbers_outside_are_refused_and_not_shown(value: Any) -> None:
    with pytest.raises(ParameterError, match="from 0 to 20") as raised:
        Client(specification(NUMBERS[0])).randomize(value)
    assert "secret" not in str(raised.value)


def test_rows_serve_every_matrix() -> None:
    assert RULES["rows"] is RowsRule
