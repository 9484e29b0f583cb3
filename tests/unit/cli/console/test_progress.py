"""Progress for people, for files and for programs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sudare.cli.console.progress import progress_bars
from sudare.cli.console.speaking import Speaker


def test_progress_on_a_terminal() -> None:
    stream = io.StringIO()
    speaker = Speaker("ja")
    speaker.__dict__["err"] = Console(file=stream, force_terminal=True, width=100)
    with progress_bars(speaker) as tell:
        for stage in ("read", "draw", "write", "report"):
            tell(stage, None)
            tell(stage, 0.5)
    assert all(speaker.words(f"stage.{stage}") in stream.getvalue() for stage in ("read", "draw"))
    assert stream.getvalue().count("100%") >= 5


def test_progress_in_a_file_is_a_line_for_each_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bars(Speaker("en")) as tell:
        for share in (None, 0.5, 1.0):
            tell("read", share)
    assert capsys.readouterr().err == "Counting people\n"
    with progress_bars(Speaker("en", as_json=True)) as silent:
        silent("read", 0.5)
    assert capsys.readouterr().err == ""


def test_long_stages_in_a_file_are_told_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 30.0, 61.0, 61.0, 90.0])
    monkeypatch.setattr("sudare.cli.console.progress.time.monotonic", lambda: next(clock))
    with progress_bars(Speaker("en")) as tell:
        for share in (0.0, 0.25, 0.5, 0.75):
            tell("zcdp", share)
    assert capsys.readouterr().err == "Experiment zcdp\nExperiment zcdp: 50%\n"
