"""JSON that somebody else wrote, nested so deeply that Python gives up: one plain error, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sudare.collect import KaryResponse, read_randomizer, specification
from sudare.collect.device.client import Client, read_specification
from sudare.collect.device.memory import Memory
from sudare.collect.prio.services.transport import _told as answered
from sudare.collect.prio.task import Task
from sudare.collect.questionnaires.answers import METADATA as ANSWERS_METADATA
from sudare.collect.questionnaires.answers import _from_metadata
from sudare.collect.questionnaires.reports import METADATA as REPORTS_METADATA
from sudare.collect.questionnaires.reports import from_arrow, read_lines
from sudare.disclosure.suppression.certificate import Certificate
from sudare.errors import EventError, InputError, UserError
from sudare.privacy.events import ReleaseEvent
from sudare.storage.guarded_json import parse_json
from sudare.storage.staging import clear_abandoned
from tests.commands import runner

DEEP = "[" * 100_000 + "]" * 100_000
DEEP_OBJECT = '{"a":' * 100_000 + "1" + "}" * 100_000
WITHIN = [DEEP, DEEP_OBJECT, f'{{"version": 1, "kind": {DEEP}}}']
RANDOMIZER = KaryResponse(("yes", "no"), 1)


def table_with(name: bytes, text: str) -> pa.Table:
    return pa.table({"a": [1]}).replace_schema_metadata({name: text.encode()})


READERS: dict[str, Callable[[str], Any]] = {
    "specification": read_specification,
    "client": Client,
    "randomizer": read_randomizer,
    "task": Task.from_json,
    "report line": lambda text: read_lines([text], RANDOMIZER),
    "table of reports": lambda text: from_arrow(table_with(REPORTS_METADATA, text)),
    "table of answers": lambda text: _from_metadata(table_with(ANSWERS_METADATA, text)),
    "certificate": Certificate.of_text,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", WITHIN, ids=["lists", "objects", "within"])
def test_text_of_somebody_else(reader: str, text: str) -> None:
    with pytest.raises(InputError) as raised:
        READERS[reader](text)
    assert "[[[" not in raised.value.english
    assert len(raised.value.english) < 500


def test_an_event() -> None:
    with pytest.raises(EventError):
        ReleaseEvent.from_json(DEEP)


def test_what_an_aggregator_answers() -> None:
    assert isinstance(answered(DEEP.encode(), 500, "helper"), UserError)


def test_a_specification_as_a_dictionary() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError):
        read_specification({**specification(RANDOMIZER), "labels": deep})


def test_a_memory(tmp_path: Path) -> None:
    with Memory(tmp_path / "answers.db") as memory:
        memory.recall("ann", "?", "flu", lambda: "a report")
        with memory._file.writing() as connection:
            connection.execute("UPDATE answers SET report = ?", (DEEP,))
        with pytest.raises(InputError, match="damaged"):
            memory.recall("ann", "?", "flu", lambda: "a report")


def test_a_hidden_folder_beside_a_release(tmp_path: Path) -> None:
    """Anybody may be able to write beside a release: what is no report of a charge is cleared away."""
    hidden = tmp_path / ".out.partial-0123456789abcdef"
    hidden.mkdir()
    (hidden / "report.json").write_text(DEEP)
    clear_abandoned(tmp_path / "out")
    assert not hidden.exists()


@pytest.mark.parametrize("name", ["release.json", "report.json"])
def test_a_folder_to_verify(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text(DEEP)
    answer = runner(capsys, monkeypatch, 200)("--json", "verify", tmp_path)
    assert answer.code not in (0, 1), answer.err
    assert answer.error["english"]


def test_depth_is_limited_before_python_is() -> None:
    assert parse_json("[" * 90 + "]" * 90)
    with pytest.raises(ValueError, match="deep"):
        parse_json("[" * 300 + "]" * 300)
