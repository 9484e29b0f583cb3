"""Permanent answers: always the same, whoever asks and whatever is killed; and what averaging can and cannot do."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from sudare.collect import Client, KaryResponse, LocalHashing, Memory, Randomizer, UnaryResponse, specification
from sudare.collect.questionnaires.report_forms import form_of
from sudare.errors import InputError, NotPrivateError, OutputError, ParameterError
from sudare.noise import ResearchEntropy, SecureEntropy
from sudare.storage import sqlite_file
from sudare.storage.private_files import close_to_others
from tests.unit.collect.test_reports import RANDOMIZERS

ILLNESS = KaryResponse(("none", "flu", "cold", "other"), 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.db"


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: f"{r.kind}-{len(r.labels)}")
def test_the_same_answer_every_time(randomizer: Any, path: Path) -> None:
    value = randomizer.labels[0]
    with Memory(path) as memory:
        first = memory.respond(randomizer, "ann", value, question="?")
        assert all(memory.respond(randomizer, "ann", value, question="?") == first for _ in range(5))
    with Memory(path) as memory:
        assert memory.respond(Client(specification(randomizer)), "ann", value, question="?") == first
        rows = memory.respond_all(randomizer, ["ann", "bob", "ann"], [value] * 3, question="?")
        plain = form_of(randomizer).to_plain(rows)
        assert plain[0] == plain[2] == first
        assert plain[1] == memory.respond(randomizer, "bob", value, question="?")
        assert randomizer.estimate(rows).people == 3
        assert memory.answered(randomizer, "ann", question="?") == 1
        assert memory.cost(randomizer, "ann", question="?") == randomizer.epsilon()


def test_answers_differ_by_person_question_and_value(path: Path) -> None:
    """Hashes of 64 random bits: equal ones would be one and the same draw."""
    towns = LocalHashing(range(9), 1)
    asked: list[tuple[Randomizer, str | int, int, str]] = [
        (towns, "ann", 1, "home"),
        (towns, "bob", 1, "home"),
        (towns, "ann", 2, "home"),
        (towns, "ann", 1, "work"),
        (towns, 7, 1, "home"),
        (towns, "7", 1, "home"),
    ]
    with Memory(path) as memory:
        answers = [memory.respond(r, person, value, question=question) for r, person, value, question in asked]
        assert len({answer[0] for answer in answers}) == len(asked)
        assert memory.answered(towns, "ann", question="home") == 2
        assert memory.cost(towns, "ann", question="home") == 2 * towns.epsilon()


def test_values_of_different_types_are_different(path: Path) -> None:
    with Memory(path) as memory:
        values: list[Any] = [1, "1", True]
        assert [memory.recall("ann", "?", value, partial(repr, value)) for value in values] == ["1", "'1'", "True"]
        assert memory.recall("ann", "?", np.int64(1), lambda: "never drawn") == "1"


def test_many_people_at_once(path: Path) -> None:
    people, values = [f"person {i}" for i in range(3000)], np.arange(3000) % 20
    towns = UnaryResponse(range(20), 2)
    with Memory(path) as memory:
        first = memory.respond_all(towns, people[:2000], values[:2000], question="home")
        second = memory.respond_all(towns, people, values, question="home")
        assert (first == second[:2000]).all()
        assert (memory.respond_all(towns, people[::-1], values[::-1], question="home")[::-1] == second).all()
        assert memory.respond_all(towns, [], np.array([], dtype=np.int64), question="home").shape == (0, 3)


def test_errors_keep_nothing_and_show_nothing(path: Path) -> None:
    with Memory(path) as memory:
        for call in (
            lambda: memory.respond(ILLNESS, "ann", "secret", question="?"),
            lambda: memory.respond_all(ILLNESS, ["ann", "bob"], ["flu", "secret"], question="?"),
            lambda: memory.respond(ILLNESS, "ann", 1.5, question="?"),
            lambda: memory.respond(ILLNESS, None, "flu", question="?"),  # type: ignore[arg-type]
            lambda: memory.respond(ILLNESS, "ann", "flu", question=""),
            lambda: memory.respond_all(ILLNESS, ["ann"], ["flu", "flu"], question="?"),
            lambda: memory.recall("ann", "?", "flu", lambda: 1 / 0),
        ):
            with pytest.raises((ParameterError, ZeroDivisionError)) as raised:
                call()
            assert "secret" not in str(raised.value)
        assert memory.answered(ILLNESS, "ann", question="?") == 0
        assert memory.respond(ILLNESS, "ann", "flu", question="?") in ILLNESS.labels, "still in working order"


def test_what_is_forgotten_is_gone_from_the_disk(path: Path) -> None:
    with Memory(path) as memory:
        memory.recall("ann", "?", "flu", lambda: "a report to be forgotten")
        memory.recall("bob", "?", "flu", lambda: "another report")
        memory.forget("ann")
        remains = b"".join(file.read_bytes() for file in path.parent.iterdir())
        assert b"to be forgotten" not in remains
        assert memory.recall("ann", "?", "flu", lambda: "drawn again") == "drawn again"
        assert memory.recall("bob", "?", "flu", lambda: "never drawn") == "another report"


READER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
connection.execute("SELECT * FROM answers").fetchall()
print("reading", flush=True)
sys.stdin.readline()
connection.execute("COMMIT")
connection.close()
"""


def test_what_another_process_is_reading_stays_in_the_log_and_that_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "MAX_LOG_WAIT_SECONDS", 0.2)

    def remains() -> bytes:
        return b"".join(file.read_bytes() for file in path.parent.iterdir())

    with Memory(path) as memory:
        memory.recall("ann", "?", "flu", lambda: "a report to be forgotten")
        arguments = [sys.executable, "-c", READER, str(path)]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            assert reader.stdin is not None
            assert reader.stdout.readline() == "reading\n"
            with pytest.raises(OutputError, match=r"still stand in the log file .*answers\.db-wal") as raised:
                memory.forget("ann")
            assert "to be forgotten" not in str(raised.value)
            assert "ログファイル" in raised.value.japanese
            assert b"to be forgotten" in remains()
            assert memory.answered(ILLNESS, "ann", question="?") == 0, "forgotten all the same"
            # A reader that ends in time is waited for.
            monkeypatch.setattr(sqlite_file, "MAX_LOG_WAIT_SECONDS", 30.0)
            ending = threading.Timer(0.3, lambda: (reader.stdin.write("end\n"), reader.stdin.flush()))  # type: ignore[union-attr]
            ending.start()
            memory.forget("ann")
            ending.join(timeout=10)
        assert b"to be forgotten" not in remains()


def test_answers_of_research_entropy_are_refused(path: Path) -> None:
    illness = specification(ILLNESS)
    with Memory(path) as memory:
        with pytest.raises(NotPrivateError, match="research entropy: they are not private"):
            memory.respond_all(ILLNESS, ["ann"], ["flu"], question="?", entropy=ResearchEntropy(1))
        with pytest.raises(NotPrivateError, match="research entropy"):
            memory.respond(Client(illness, next_word=ResearchEntropy(1).next_word), "ann", "flu", question="?")
        assert memory.answered(ILLNESS, "ann", question="?") == 0
        memory.respond_all(ILLNESS, ["ann"], ["flu"], question="?", entropy=SecureEntropy())


def test_files_that_others_may_read_are_closed_to_them(path: Path) -> None:
    Memory(path).close()
    path.chmod(0o644)
    side = path.with_name("answers.db-wal")
    side.touch(0o666)
    side.chmod(0o666)
    with Memory(path) as memory:
        memory.respond(ILLNESS, "ann", "flu", question="?")
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file.name


def test_files_of_others_that_all_may_read_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory(path).close()
    path.chmod(0o640)
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(InputError, match="chmod 600") as raised:
        Memory(path)
    assert "chmod 600" in raised.value.japanese
    assert stat.S_IMODE(path.stat().st_mode) == 0o640, "nothing was changed"
    path.chmod(0o600)
    Memory(path).close()


def test_locks_survive_a_second_opening(path: Path) -> None:
    """Opening and closing a file would take away all locks that the process holds on it."""
    elsewhere = "import sys, sqlite3; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
    with Memory(path) as memory, memory._file.writing():
        close_to_others(path)
        found = subprocess.run([sys.executable, "-c", elsewhere, str(path)], capture_output=True, text=True, timeout=60)
    assert "database is locked" in found.stderr


def test_only_the_owner_may_read_it(path: Path) -> None:
    with Memory(path) as memory:
        memory.respond(ILLNESS, "ann", "flu", question="?")
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


def test_files_that_are_no_memory(path: Path, tmp_path: Path) -> None:
    path.write_text("a diary, and by no means a database of any kind")
    with pytest.raises(InputError, match="not a memory") as raised:
        Memory(path)
    assert "記憶ファイル" in raised.value.japanese
    assert path.read_text().startswith("a diary")
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(InputError, match="not a memory"):
        Memory(other)
    assert other.read_bytes()[18:20] == b"\x01\x01", "somebody else's database is not even switched to another journal"
    newer = tmp_path / "newer.db"
    Memory(newer).close()
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(InputError, match="another version"):
        Memory(newer)
    with pytest.raises(OutputError, match="cannot be used"):
        Memory(tmp_path / "missing" / "answers.db")
    with pytest.raises(OutputError, match="cannot be used"):
        Memory(tmp_path)
    closed = Memory(path.with_name("closed.db"))
    closed.close()
    with pytest.raises(InputError, match="cannot be used"):
        closed.respond(ILLNESS, "ann", "flu", question="?")


def test_threads_get_one_answer(path: Path) -> None:
    towns, answers = LocalHashing(range(9), 1), []
    with Memory(path) as memory:
        threads = [
            threading.Thread(target=lambda: answers.append(str(memory.respond(towns, "ann", 3, question="?"))))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
    assert len(answers) == 16
    assert len(set(answers)) == 1


def test_a_forked_process_is_refused(path: Path) -> None:
    with Memory(path) as memory:
        memory._file.process = os.getpid() + 1
        with pytest.raises(OutputError, match="another process"):
            memory.respond(ILLNESS, "ann", "flu", question="?")
        memory._file.process = os.getpid()


WRITER = """
import json, sys
from sudare.collect.device.client import Client
from sudare.collect.device.memory import Memory
client = Client(sys.argv[1])
with Memory(sys.argv[2]) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for person in range(int(sys.argv[3]), 10**9):
        print(person, json.dumps(memory.respond(client, person, 3, question="?")), flush=True)
"""


def start(path: Path, first: int) -> subprocess.Popen[str]:
    told = json.dumps(specification(LocalHashing(range(9), 1)))
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, told, str(path), str(first)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_until_killed(path: Path, first: list[int], seconds: float) -> list[dict[int, str]]:
    """Several processes that answer for the same people at the same time; what each had sent when it was killed."""
    writers = [start(path, number) for number in first]
    sent: list[dict[int, str]] = []
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        time.sleep(seconds)
    finally:
        for writer in writers:
            writer.kill()
            writer.wait(timeout=30)
            assert writer.stdout is not None
            assert writer.stdin is not None
            lines = [
                line.split(" ", 1) for line in writer.stdout.read().splitlines(keepends=True) if line.endswith("\n")
            ]
            sent.append({int(person): answer for person, answer in lines})
            writer.stdout.close()
            writer.stdin.close()
    return sent


def test_two_processes_give_one_answer_and_killing_them_loses_none(path: Path) -> None:
    towns, sent = LocalHashing(range(9), 1), dict[int, str]()
    for _ in range(4):
        for answers in run_until_killed(path, [0, 0], random.uniform(0.1, 0.4)):
            for person, answer in answers.items():
                assert sent.setdefault(person, answer) == answer, "two processes, or two lives of one, differ"
    assert len(sent) > 20
    with Memory(path) as memory:
        for person, answer in sent.items():
            assert memory.answered(towns, person, question="?") == 1
            assert memory.respond(towns, person, 3, question="?") == json.loads(answer)


def averaged(reports: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The attack: for each person, the value that was reported most often."""
    counts = np.stack([(reports == label).sum(axis=0) for label in ILLNESS.labels])
    return np.asarray(np.asarray(ILLNESS.labels)[counts.argmax(axis=0)])


DAYS, PEOPLE, CHANCE = 400, 500, 1e-9
TRUTHS = np.asarray(ILLNESS.labels)[np.arange(PEOPLE) % 4]


def test_averaging_succeeds_against_fresh_reports() -> None:
    fresh = np.stack([ILLNESS.randomize(TRUTHS) for _ in range(DAYS)])
    kept, other = (
        float(weight / ILLNESS.transition().total) for weight in (ILLNESS.transition().kept, ILLNESS.transition().other)
    )
    # Someone is mistaken only if some other value is reported at least as often as the true one on 400 days; each of the
    # differences is a sum of 400 steps of -1, 0 or 1 (Chernoff).
    mistaken = PEOPLE * 3 * (1 - (np.sqrt(kept) - np.sqrt(other)) ** 2) ** DAYS
    assert mistaken < CHANCE
    assert (averaged(fresh) == TRUTHS).all()


def test_averaging_fails_against_permanent_reports(path: Path) -> None:
    people = list(range(PEOPLE))
    with Memory(path) as memory:
        permanent = np.stack([memory.respond_all(ILLNESS, people, TRUTHS, question="?") for _ in range(8)])
    assert (permanent == permanent[0]).all(), "400 days would bring what one day brings"
    right = int((averaged(permanent) == TRUTHS).sum())
    kept = ILLNESS.transition().kept / ILLNESS.transition().total
    # One report is right with the probability that the matrix gives, and all of them together with the same.
    assert binom.ppf(CHANCE, PEOPLE, kept) <= right <= binom.isf(CHANCE, PEOPLE, kept)
    assert binom.isf(CHANCE, PEOPLE, kept) < 0.7 * PEOPLE


def test_a_change_of_value_can_be_seen(path: Path) -> None:
    """What permanence does not hide, as memory.md says."""
    towns = LocalHashing(range(9), 1)
    with Memory(path) as memory:
        days = [memory.respond(towns, "ann", value, question="?") for value in (1, 1, 2, 2, 1)]
    assert days[0] == days[1] == days[4]
    assert days[2] == days[3] != days[0]


def test_a_question_has_one_randomizer_for_ever(path: Path) -> None:
    """Else whoever writes the specification could ask for fresh reports of the same answers, changing it a little each time."""
    flu = KaryResponse(("yes", "no"), 1)
    told = specification(flu)
    noted = {**{key: value for key, value in told.items() if key != "fingerprint"}, "note": "again"}
    others: list[Any] = [
        KaryResponse(("yes", "no"), Fraction(1_000_001, 1_000_000)),
        KaryResponse(("no", "yes"), 1),
        Client(noted),
    ]
    with Memory(path) as memory:
        kept = memory.respond(flu, "ann", "yes", question="flu?")
        assert memory.respond(Client(told), "ann", "yes", question="flu?") == kept
        for other in others:
            with pytest.raises(InputError, match="another randomizer"):
                memory.respond(other, "ann", "yes", question="flu?")
            with pytest.raises(InputError, match="another randomizer"):
                memory.cost(other, "ann", question="flu?")
        with pytest.raises(InputError, match="another randomizer"):
            memory.respond_all(others[0], ["ann"], np.array(["yes"]), question="flu?")
        assert memory.cost(flu, "ann", question="flu?") == flu.epsilon()


def test_numbers_are_kept_by_their_point_of_the_grid(path: Path) -> None:
    """17 and 17.2 are one answer, or repeated readings of one number would each give a fresh report."""
    from sudare.collect import BoundedNoise, Grid

    weights = BoundedNoise(Grid(0, 100, 0.5), 40)
    client = Client(specification(weights))
    with Memory(path) as memory:
        first = memory.respond_all(weights, ["a", "b", "c"], np.array([2.0, 2.5, 70.0]), question="weight")
        again = memory.respond_all(weights, ["a", "b", "c"], np.array([2.1, 2.4, 70.1]), question="weight")
        whole = memory.respond_all(weights, ["a", "c"], np.array([2, 70]), question="weight")
        assert first.tolist() == again.tolist()
        assert whole.tolist() == [first[0], first[2]]
        assert [memory.respond(each, "a", 1.9, question="weight") for each in (weights, client)] == [first[0]] * 2
        assert memory.answered(weights, "a", question="weight") == 1
        with pytest.raises(ParameterError):
            memory.respond(weights, 1.5, 2.5, question="weight")  # type: ignore[arg-type]
