"""RAPPOR: closed forms against the whole matrix, noise against a slow twin from the same words, memory that outlives kills."""

from __future__ import annotations

import json
import math
import os
import random
import sqlite3
import stat
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.collect.rappor.bloom import bloom_filter
from sudare.collect.rappor.filters import read_texts
from sudare.collect.rappor.memory import PermanentMemory
from sudare.collect.rappor.rappor import Rappor
from sudare.errors import GuaranteeError, InputError, NotPrivateError, OutputError, ParameterError
from sudare.noise import ResearchEntropy
from tests.processes import Program
from tests.scripted import ScriptedEntropy

USUAL = Rappor(16, 2, 4, f=0.5, p=0.5, q=0.75)
SHAPES = [(2, 1), (2, 2), (3, 2), (3, 3), (4, 2), (4, 3), (5, 1), (5, 2), (6, 3), (8, 2)]
PROBABILITIES = [(0.5, 0.5, 0.75), (0.25, 0.75, 0.25), (0.5, 0, 1), (0, 0.2, 0.9)]
SMALL_WITH_THIRDS = [(shape, (Fraction(1, 3), 0.1, 0.3)) for shape in SHAPES if shape[0] <= 4]


def naive_toss(bits: list[bool], if_set: Fraction, if_clear: Fraction, words: list[int]) -> list[bool]:
    """Each bit by itself: digits of a uniform number against those of its probability, one word a round while any is open."""
    left = [if_set if bit else if_clear for bit in bits]
    result: list[bool | None] = [None] * len(bits)
    rests = [if_set, if_clear]
    while None in result and any(rests):
        word = words.pop(0)
        rests = [2 * rest - (2 * rest >= 1) for rest in rests]
        for place in range(len(bits)):
            left[place] *= 2
            digit = left[place] >= 1
            left[place] -= digit
            if result[place] is None and (word >> place & 1) != digit:
                result[place] = bool(digit)
    return [bool(bit) for bit in result]


def unpacked(lanes: Any, bits: int) -> Any:
    return np.unpackbits(lanes.view(np.uint8).reshape(len(lanes), -1), axis=1, bitorder="little")[:, :bits].astype(bool)


# Privacy.


@pytest.mark.parametrize(
    ("shape", "probabilities"), [*((x, y) for x in SHAPES for y in PROBABILITIES), *SMALL_WITH_THIRDS]
)
def test_closed_forms_are_those_of_the_matrix(shape: tuple[int, int], probabilities: tuple[Any, Any, Any]) -> None:
    f, p, q = probabilities
    rappor = Rappor(*shape, 2, f, p, q)
    matrix = rappor.transition()
    assert (matrix.weights().sum(axis=1) == matrix.total).all()
    assert matrix.largest_ratio() == rappor.largest_ratio()
    assert matrix.anonymity_rate() == rappor.anonymity_rate()
    permanent = Rappor(*shape, 2, f, 0, 1).transition()
    assert permanent.largest_ratio() == rappor.permanent_ratio()


def test_published_formulas() -> None:
    rappor = Rappor(128, 2, 8, 0.5, 0.5, 0.75)
    f, (q, p) = 0.5, (11 / 16, 9 / 16)
    assert (rappor.reported_if_set, rappor.reported_if_clear) == (Fraction(11, 16), Fraction(9, 16))
    assert math.isclose(float(rappor.permanent_epsilon()), 2 * 2 * math.log((1 - f / 2) / (f / 2)))
    assert math.isclose(float(rappor.epsilon()), 2 * math.log(q * (1 - p) / (p * (1 - q))))
    assert rappor.permanent_ratio() == 3**4
    assert rappor.epsilon() < rappor.permanent_epsilon()
    assert rappor.event().cost.epsilon == rappor.epsilon()
    assert rappor.permanent_event().cost.epsilon == rappor.permanent_epsilon()


def test_no_epsilon_without_noise() -> None:
    bare = Rappor(8, 1, 1, f=0, p=0.25, q=0.75)
    assert bare.permanent_ratio() is None
    for call in (bare.permanent_epsilon, bare.permanent_event, Rappor(8, 1, 1, 0, 0, 0.5).epsilon):
        with pytest.raises(GuaranteeError):
            call()
    assert Rappor(8, 1, 1, 0, 0, 0.5).anonymity_rate() == 0


def test_a_set_bit_is_cleared_as_often_as_it_must() -> None:
    """P(1 | 1) of the permanent response is 1 - f/2 = 0.75; a known package never clears a bit and has 1.0."""
    people = 40_000
    ones = np.full((people, 1), (1 << 16) - 1, dtype=np.uint64)
    kept = unpacked(USUAL.permanent_response(ones), 16).mean()
    made = unpacked(USUAL.permanent_response(np.zeros_like(ones)), 16).mean()
    deviation = math.sqrt(0.75 * 0.25 / (16 * people))
    assert abs(kept - 0.75) < 6.2 * deviation
    assert abs(made - 0.25) < 6.2 * deviation


# The kernel.


@given(
    st.integers(2, 130),
    st.fractions(0, 1, max_denominator=50),
    st.fractions(0, 1, max_denominator=50),
    st.integers(0, 2**32),
)
def test_noise_is_that_of_the_slow_twin(bits: int, p: Fraction, q: Fraction, seed: int) -> None:
    if p == q or (p == 0 and q == 1):
        return
    rappor = Rappor(bits, 1, 1, 0, p, q)
    chance = random.Random(seed)
    people = [[chance.random() < 0.5 for _ in range(bits)] for _ in range(3)]
    words = [chance.getrandbits(64) for _ in range(3 * 3 * 200)]
    packed = [sum(bit << i for i, bit in enumerate(row)).to_bytes(8 * rappor.lanes, "little") for row in people]
    lanes = np.frombuffer(b"".join(packed), dtype="<u8").astype(np.uint64).reshape(3, -1)
    reports = rappor.report(np.zeros(3, dtype=np.int64), lanes, ScriptedEntropy(words, then=0x123456789ABCDEF))
    left = list(words)
    for report, row in zip(reports, people, strict=True):
        expected = [bit for start in range(0, bits, 64) for bit in naive_toss(row[start : start + 64], q, p, left)]
        assert np.unpackbits(report["bits"], bitorder="little")[:bits].astype(bool).tolist() == expected


def test_words_are_carried_over_between_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the buffer, the same stream gives the same bits."""
    lanes = np.arange(400, dtype=np.uint64).reshape(-1, 1)
    rappor = Rappor(64, 1, 1, 0.3, 0.1, 0.7)
    words = ResearchEntropy(5).words(1 << 16).tolist()
    whole = rappor.permanent_response(lanes, ScriptedEntropy(words))
    for size in (1, 3, 17):
        monkeypatch.setattr("sudare.collect.rappor.rappor.BUFFER_WORDS", size)
        assert (rappor.permanent_response(lanes, ScriptedEntropy(words)) == whole).all()


# Reports.


def test_reports_carry_cohort_and_the_bits_of_the_right_filter() -> None:
    sure = Rappor(70, 3, 5, f=0, p=0, q=1)
    reports = sure.randomize(["red", "blue", "red"], cohorts=[4, 0, 2])
    for report, text, cohort in zip(reports, ("red", "blue", "red"), (4, 0, 2), strict=True):
        assert report["cohort"] == cohort
        assert int.from_bytes(report["bits"].tobytes(), "little") == bloom_filter(text, cohort, 3, 70)
    many = sure.randomize([f"text {i}" for i in range(50_000)], cohorts=np.arange(50_000) % 5)
    assert int.from_bytes(many[777]["bits"].tobytes(), "little") == bloom_filter("text 777", 2, 3, 70)
    cohorts, lanes = sure.read_reports(reports)
    assert cohorts.tolist() == [4, 0, 2]
    assert lanes.shape == (3, 2)


def test_cohorts_are_drawn_evenly() -> None:
    drawn = np.bincount(Rappor(8, 1, 3, 0.5, 0.5, 0.75).randomize(["a"] * 90_000)["cohort"], minlength=3)
    assert (abs(drawn - 30_000) < 6.2 * math.sqrt(90_000 * 2 / 9)).all()


def test_numpy_texts_and_lists_mean_the_same() -> None:
    source = [ResearchEntropy(3) for _ in range(3)]
    values = ["a", "ü", "日本"]
    first = USUAL.randomize(values, source[0])
    assert (USUAL.randomize(np.array(values), source[1]) == first).all()
    assert (USUAL.randomize(np.array(values, dtype=object), source[2]) == first).all()
    assert USUAL.randomize([]).size == 0


def test_long_arrays_that_arrow_cuts_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does with some ten million texts; here in pieces of one."""
    plain = pa.array
    monkeypatch.setattr(pa, "array", lambda values, **kind: pa.chunked_array([plain([x], **kind) for x in values]))
    codes, texts = read_texts(["b", "a", "b"], "values", "test")
    assert [texts[code] for code in codes] == ["b", "a", "b"]
    assert len(texts) == 2


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("bits", {"bits": 1}),
        ("bits", {"bits": 257}),
        ("bits", {"bits": 16.0}),
        ("bits", {"bits": 4097, "rule": "java"}),
        ("hashes", {"hashes": 0}),
        ("hashes", {"hashes": 17, "bits": 64}),
        ("hashes", {"hashes": 9, "rule": "java"}),
        ("hashes", {"hashes": 5, "bits": 4}),
        ("cohorts", {"cohorts": 0}),
        ("cohorts", {"cohorts": 1 << 17}),
        ("f", {"f": 1}),
        ("f", {"f": -0.1}),
        ("f", {"f": float("nan")}),
        ("p", {"p": 1.1}),
        ("p", {"p": -1}),
        ("q", {"q": 2}),
        ("q", {"q": 0.5}),
        ("q", {"q": float("inf")}),
        ("f", {"f": Fraction(1, 3**40)}),
        ("rule", {"rule": "md5"}),
    ],
)
def test_wrong_settings(name: str, changed: dict[str, Any]) -> None:
    usual = {"bits": 16, "hashes": 2, "cohorts": 4, "f": 0.5, "p": 0.5, "q": 0.75}
    with pytest.raises(ParameterError) as caught:
        Rappor(**{**usual, **changed})
    assert caught.value.parameter == name


def test_reports_of_another_randomizer_are_refused() -> None:
    reports = USUAL.randomize(["a"] * 50, cohorts=[3] * 50)
    for other in (Rappor(32, 2, 4, 0.5, 0.5, 0.75), Rappor(16, 2, 3, 0.5, 0.5, 0.75), Rappor(15, 2, 4, 0.5, 0.5, 0.75)):
        with pytest.raises(ParameterError, match="must be reports of"):
            other.estimate(reports, ["a", "b"])
    for wrong in (reports["bits"], reports.reshape(5, 10), [1, 2, 3]):
        with pytest.raises(ParameterError, match="must be reports of"):
            USUAL.estimate(wrong, ["a", "b"])


@pytest.mark.parametrize(
    "values",
    [
        [b"secret-illness"],
        ["a", b"secret-illness"],
        [77_123],
        ["a", None],
        [["a"]],
        "secret-illness",
        np.array([["a"]]),
        [float("nan")],
    ],
)
def test_values_that_are_no_texts(values: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        USUAL.randomize(values)
    assert "secret" not in str(caught.value)
    assert "77" not in str(caught.value)


@pytest.mark.parametrize("cohorts", [[4], [-1], [0.5], [0, 1], ["a"], [[0]]])
def test_wrong_cohorts(cohorts: Any) -> None:
    with pytest.raises(ParameterError):
        USUAL.randomize(["a"], cohorts=cohorts)


def test_fingerprints_tell_randomizers_apart() -> None:
    others = [
        Rappor(16, 2, 4, 0.5, 0.5, 0.7),
        Rappor(16, 2, 4, 0.5, 0.5, 0.75, "java"),
        Rappor(16, 3, 4, 0.5, 0.5, 0.75),
    ]
    assert len({r.fingerprint() for r in (USUAL, *others)}) == 4
    assert Rappor(16, 2, 4, Fraction(1, 2), 0.5, 0.75) == USUAL
    with pytest.raises(ParameterError, match="at most 12"):
        USUAL.transition()


# Memory.


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def test_one_permanent_response_for_ever_and_fresh_reports(path: Path) -> None:
    wide = Rappor(128, 2, 64, f=0.5, p=0.5, q=0.75)
    people, values = ["ann", "bob", 3, "3"], ["x", "x", "x", "x"]
    with PermanentMemory(path, wide, "home") as memory:
        cohorts, first = memory.permanent(people, values)
        assert len({row.tobytes() for row in first}) == 4
        reports = [memory.report(people, values) for _ in range(5)]
        assert len({each.tobytes() for each in reports}) == 5
        assert all((each["cohort"] == cohorts).all() for each in reports)
        _, other_value = memory.permanent(["ann"], ["y"])
        assert (other_value[0] != first[0]).any()
        twice = memory.permanent(["eve", "eve"], ["z", "z"])[1]
        assert (twice[0] == twice[1]).all()
    with PermanentMemory(path, Rappor(128, 2, 64, f=0.5, p=0.25, q=0.75), "home") as memory:
        again = memory.permanent(people, values)
        assert (again[0] == cohorts).all()
        assert (again[1] == first).all()
    with PermanentMemory(path, wide, "work") as memory:
        assert (memory.permanent(people, values)[1] != first).any()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_no_text_is_kept(path: Path) -> None:
    with PermanentMemory(path, USUAL, "illness") as memory:
        memory.report(["ann-of-the-hill"], ["influenza"])
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"influenza" not in kept
    assert b"ann-of-the-hill" not in kept


def test_permanent_answers_cannot_be_changed(path: Path) -> None:
    with PermanentMemory(path, USUAL, "home") as memory:
        memory.report(["ann"], ["x"])
    connection = sqlite3.connect(path)
    for statement in ("DELETE FROM responses", "UPDATE responses SET bits = x'00'", "DELETE FROM cohorts"):
        with pytest.raises(sqlite3.IntegrityError, match="for ever"):
            connection.execute(statement)
    connection.close()


def test_other_settings_for_the_same_variable_are_refused(path: Path) -> None:
    PermanentMemory(path, USUAL, "home").close()
    for other in (Rappor(16, 2, 4, 0.25, 0.5, 0.75), Rappor(16, 2, 8, 0.5, 0.5, 0.75)):
        with pytest.raises(InputError, match="begun with") as caught:
            PermanentMemory(path, other, "home")
        assert caught.value.japanese
    PermanentMemory(path, Rappor(16, 2, 8, 0.5, 0.5, 0.75), "work").close()


def test_files_that_are_no_memory(path: Path, tmp_path: Path) -> None:
    path.write_bytes(b"not a database, but a letter" * 100)
    with pytest.raises(InputError):
        PermanentMemory(path, USUAL, "home")
    short = tmp_path / "short.db"
    short.write_text("letter")
    with pytest.raises(InputError):
        PermanentMemory(short, USUAL, "home")
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(InputError):
        PermanentMemory(other, USUAL, "home")
    with pytest.raises(OutputError):
        PermanentMemory(tmp_path / "nowhere" / "memory.db", USUAL, "home")
    empty = tmp_path / "empty.db"
    empty.touch()
    PermanentMemory(empty, USUAL, "home").close()


def test_memories_of_research_entropy_and_open_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with PermanentMemory(path, USUAL, "home") as memory:
        for ask in (memory.report, memory.permanent):
            with pytest.raises(NotPrivateError, match="'home' would be drawn from research entropy"):
                ask(["ann"], ["x"], ResearchEntropy(1))
        assert memory._file.rows("SELECT count(*) FROM responses") == [(0,)]
    path.chmod(0o644)
    PermanentMemory(path, USUAL, "home").close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o604)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InputError, match="chmod 600"):
        PermanentMemory(path, USUAL, "home")


def test_wrong_use_of_memory(path: Path) -> None:
    with pytest.raises(ParameterError, match="f above 0"):
        PermanentMemory(path, Rappor(16, 2, 4, 0, 0.5, 0.75), "home")
    with pytest.raises(ParameterError):
        PermanentMemory(path, USUAL, "")
    memory = PermanentMemory(path, USUAL, "home")
    for people, values in ((["a"], ["x", "y"]), ([None], ["x"]), ("a", ["x"]), ([1.5], ["x"])):
        with pytest.raises(ParameterError):
            memory.report(people, values)
    memory.close()
    with pytest.raises(InputError, match="nothing was reported"):
        memory.report(["a"], ["x"])


def test_threads_and_connections_agree(path: Path) -> None:
    seen: list[bytes] = []

    def ask() -> None:
        with PermanentMemory(path, USUAL, "home") as memory:
            seen.append(b"".join(memory.permanent(list(range(50)), ["x"] * 50)[1].tobytes() for _ in range(3)))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(seen) == 6
    assert len(set(seen)) == 1


WRITER = """
import json, sys
from sudare.collect.rappor.rappor import Rappor
from sudare.collect.rappor.memory import PermanentMemory

rappor = Rappor(64, 2, 16, f=0.5, p=0.5, q=0.75)
with PermanentMemory(sys.argv[1], rappor, "home") as memory:
    memory.permanent(["first"], ["of all"])
    print("ready", flush=True)
    number = 0
    while True:
        people = [f"person {i % 400}" for i in range(number, number + 5)]
        cohorts, bits = memory.permanent(people, [f"value {number % 3}"] * 5)
        for person, cohort, row in zip(people, cohorts.tolist(), bits.tolist()):
            print(json.dumps([person, number % 3, cohort, row]), flush=True)
        number += 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(12, marks=pytest.mark.deep)])
def test_killed_writers_never_answer_twice(tmp_path: Path, kills: int) -> None:
    """Every response that any process got to see, before it was killed, is the one that is found ever after."""
    file, moments = tmp_path / "memory.db", random.Random(1)
    seen: dict[tuple[str, int], tuple[int, list[int]]] = {}
    lines = 0
    for kill in range(kills):
        folders = [tmp_path / f"writer {kill} {number}" for number in range(2)]
        for folder in folders:
            folder.mkdir()
        writers = [Program(WRITER, [str(file)], folder) for folder in folders]
        try:
            for writer in writers:
                writer.wait_for_lines(11)
            for writer in writers:
                time.sleep(moments.uniform(0, 0.2))
                writer.kill()
        finally:
            for writer in writers:
                writer.kill()
        for line in (line for writer in writers for line in writer.output[1:]):
            person, value, cohort, row = json.loads(line)
            assert seen.setdefault((person, value), (cohort, row)) == (cohort, row)
            lines += 1
    assert lines >= 20 * kills
    with PermanentMemory(file, Rappor(64, 2, 16, f=0.5, p=0.5, q=0.75), "home") as memory:
        for (person, value), (cohort, row) in seen.items():
            cohorts, bits = memory.permanent([person], [f"value {value}"])
            assert (int(cohorts[0]), bits[0].tolist()) == (cohort, row)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_must_open_it_again(path: Path) -> None:
    memory = PermanentMemory(path, USUAL, "home")
    memory._file.process = -1
    with pytest.raises(OutputError, match="another process"):
        memory.report(["a"], ["x"])
    memory._file.process = os.getpid()
    memory.close()
