"""A client's own limits: refused before a value is split, and before anybody is called."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare.collect.prio import RandomizedResponse, Task, TaskMeasurement, create_task, make_report, send_report
from sudare.collect.prio.limits import epsilon_of, require_within_limits
from sudare.collect.prio.services.transport import Caller
from sudare.errors import InputError, NotPrivateError, ParameterError
from sudare.noise import ResearchEntropy, SecureEntropy

URLS: dict[str, Any] = {"leader_url": "http://127.0.0.1:8001", "helper_url": "http://127.0.0.1:8002"}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent, in place of sending it."""
    paths: list[str] = []

    def post(self: Caller, path: str, body: bytes, headers: Any = None) -> tuple[bytes, str]:
        paths.append(path)
        return b"", ""

    monkeypatch.setattr(Caller, "post", post)
    return paths


def make(folder: Path, keep: Any = 0.5, minimum: int = 100) -> Task:
    return create_task(folder, TaskMeasurement("count"), **URLS, minimum_batch=minimum, keep=keep)


def test_tasks_within_the_limits_are_served(tmp_path: Path, called: list[str]) -> None:
    task = make(tmp_path / "task")
    assert epsilon_of(task) == RandomizedResponse(2, 0.5).epsilon
    send_report(task, 1, minimum_batch_at_least=100, epsilon_at_most=1.1)
    send_report(task, 1, epsilon_at_most=epsilon_of(task))
    send_report(task, report=make_report(task, 1, minimum_batch_at_least=1), minimum_batch_at_least=99)
    assert called == ["/report"] * 3


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"minimum_batch_at_least": 101}, "as few as 100 reports, and your limit is 101"),
        ({"epsilon_at_most": 1}, r"an epsilon of 1\.099, and your limit is 1\."),
        ({"epsilon_at_most": Fraction(math.log(3)) - Fraction(1, 10**9)}, "your limit is 1.09861"),
        ({"minimum_batch_at_least": 1000, "epsilon_at_most": 5}, "as few as 100"),
    ],
)
def test_tasks_beyond_a_limit_get_nothing(
    tmp_path: Path, called: list[str], limits: dict[str, Any], words: str
) -> None:
    task = make(tmp_path / "task")
    report = make_report(task, 1)
    sent: list[dict[str, Any]] = [{"measurement": 1}, {"report": report}]
    for what in sent:
        with pytest.raises(InputError, match=words) as raised:
            send_report(task, **what, **limits)
        assert "Nothing was sent" in raised.value.english
        assert "何も送信していません" in raised.value.japanese
    with pytest.raises(InputError, match=words):
        make_report(task, 1, **limits)
    assert called == []


def test_a_limit_on_epsilon_needs_a_randomized_response(tmp_path: Path, called: list[str]) -> None:
    task = make(tmp_path / "task", keep=None)
    assert epsilon_of(task) is None
    with pytest.raises(InputError, match="no randomized response"):
        send_report(task, 1, epsilon_at_most=100)
    with pytest.raises(ParameterError, match="the cost of others is not known"):
        send_report(task, 1, epsilon_at_most=100, randomize=lambda value: value)
    send_report(task, 1, epsilon_at_most=1.1, randomize=RandomizedResponse(2, 0.5))
    with pytest.raises(InputError, match="your limit is 1"):
        send_report(task, 1, epsilon_at_most=1, randomize=RandomizedResponse(2, 0.5))
    assert called == ["/report"]


def test_reports_of_research_entropy_are_refused(tmp_path: Path) -> None:
    task = make(tmp_path / "task")
    with pytest.raises(NotPrivateError, match="research entropy"):
        make_report(task, 1, entropy=ResearchEntropy(1))
    assert make_report(task, 1, entropy=SecureEntropy())


@pytest.mark.parametrize(
    "limits",
    [
        {"minimum_batch_at_least": 0},
        {"minimum_batch_at_least": 1.5},
        {"minimum_batch_at_least": True},
        {"epsilon_at_most": 0},
        {"epsilon_at_most": -1},
        {"epsilon_at_most": math.inf},
        {"epsilon_at_most": "one"},
        {"epsilon_at_most": "-1"},
    ],
)
def test_limits_that_are_none(tmp_path: Path, limits: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(limits))):
        require_within_limits(make(tmp_path / "task"), **limits)
