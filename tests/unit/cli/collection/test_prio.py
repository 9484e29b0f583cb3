"""Sending to two aggregators from the command line: what is told before, what is refused, and where values come from."""

from __future__ import annotations

import io
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare.collect.prio import Task
from tests.unit.cli.conftest import Run


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The values that are sent, in place of sending them."""
    values: list[Any] = []

    def send_report(task: Task, value: Any, **options: Any) -> None:
        values.append(value)

    monkeypatch.setattr("sudare.collect.prio.send_report", send_report)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    return values


@pytest.fixture
def task(run: Run, tmp_path: Path) -> Path:
    options = ("--variant", "histogram", "--length", "5", "--minimum", "1000", "--keep", "0.5")
    assert run("collect", "prio", "create", tmp_path / "task", *options).code == 0
    return tmp_path / "task" / "task.json"


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_values_from_standard_input(
    run: Run, task: Path, sent: list[Any], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n\n 0 \n"))
    answer = run("collect", "prio", "send", task, *arguments, "--json")
    assert (answer.code, sent) == (0, [3, 0]), answer.err
    assert answer.json["sent"] == 2


def test_what_a_task_does_is_told_before_anything_is_sent(
    run: Run, task: Path, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run("collect", "prio", "send", task, "3")
    about, done = (answer.err.index(words) for words in ("at least 1,000 reports", "Sent 1 reports"))
    assert about < done
    assert "Epsilon of a report: 1.792." in answer.err, "ln 6 = 1.79176, rounded up"
    told = run("collect", "prio", "send", task, "3", "--json").json
    assert told["minimum_batch"] == 1000
    assert Fraction(told["epsilon"]) >= Fraction(told["epsilon_exact"])
    stopped = run("collect", "prio", "send", task, "nothing")
    assert "at least 1,000 reports" in stopped.err, "told, though nothing was sent"
    content = json.loads(task.read_text())
    task.write_text(json.dumps({**content, "keep": None}))
    assert "Epsilon of a report: none" in run("collect", "prio", "send", task, "3").err
    assert run("collect", "prio", "send", task, "3", "--json").json["epsilon"] is None


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--minimum-batch-at-least", "1001"), 3, "as few as 1,000 reports, and your limit is 1,001"),
        (("--epsilon-at-most", "1.79"), 3, "an epsilon of 1.792, and your limit is 1.79"),
        (("--epsilon-at-most", "one"), 2, "one"),
        (("--epsilon-at-most", "0"), 2, "--epsilon-at-most must be a number above 0. Got 0 instead"),
        (("--data", "x.csv"), 2, "--data with --column"),
        (("-",), 2, "--data with --column"),
    ],
)
def test_what_is_refused(
    run: Run, task: Path, sent: list[Any], options: tuple[str, ...], code: int, words: str
) -> None:
    answer = run("collect", "prio", "send", task, "3", *options)
    assert (answer.code, sent) == (code, [])
    assert words in " ".join(answer.err.split())


def test_nothing_at_all_is_refused(run: Run, task: Path, sent: list[Any]) -> None:
    answer = run("collect", "prio", "send", task)
    assert (answer.code, sent) == (2, [])
    assert "on standard input or as arguments" in answer.err


def test_limits_that_hold_change_nothing(run: Run, task: Path, sent: list[Any]) -> None:
    limits = ("--minimum-batch-at-least", "1000", "--epsilon-at-most", "1.8")
    assert run("collect", "prio", "send", task, "3", "1", *limits).code == 0
    assert sent == [3, 1]
