"""Progress for people, for files and for programs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sudare.cli.console.messages import Language
from sudare.cli.console.progress import progress_bars
from sudare.cli.console.speaking import Speaker
from sudare.cli.console.spoken import _announce_once
from sudare.system.preparing import tell_preparing, when_preparing


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


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Preparing compiled code"), ("ja", "コンパイルしています（初回のみ）")]
)
def test_compiling_is_told_once_and_on_a_terminal_only(language: Language, said: str) -> None:
    for is_terminal, as_json, times in ((True, False, 1), (False, False, 0), (True, True, 0)):
        stream = io.StringIO()
        speaker = Speaker(language, as_json=as_json)
        speaker.__dict__["err"] = Console(file=stream, force_terminal=is_terminal, width=100)
        with when_preparing(_announce_once(speaker)):
            assert stream.getvalue() == ""
            tell_preparing("halve")
            tell_preparing("settle")
        tell_preparing("place_alone")
        assert stream.getvalue().count(said) == times
