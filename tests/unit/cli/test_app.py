"""The command as a whole: help for everything in both languages, and one way to tell what goes wrong."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from sudare.cli import app as cli_app
from sudare.cli import build_app, main
from sudare.cli.app import COMMANDS, GROUPS
from sudare.cli.commands import planning
from sudare.cli.console.messages import Catalogue, Language
from sudare.cli.console.speaking import Speaker
from sudare.cli.console.spoken import spoken
from sudare.errors import (
    AggregatorError,
    BudgetExceededError,
    DatabaseError,
    InputError,
    LedgerError,
    OutputError,
    ParameterError,
    PlanError,
    QueryRefusedError,
)
from tests.commands import command_built_anew
from tests.unit.cli.conftest import PLAN, Run

PATHS = [
    (),
    *((name,) for _, name, _ in COMMANDS),
    *(tuple(group.split()) for group in GROUPS),
    *((*group.split(), member) for group, (_, members) in GROUPS.items() for member, _ in members),
]


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_every_command_has_help_in_both_languages(
    path: tuple[str, ...], language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(build_app(language, path), [*path, "--help"])
    words = Catalogue(language)
    assert shown.exit_code == 0
    assert words("help.usage") in shown.stdout
    assert words("help.examples") in shown.stdout
    assert "--json" in shown.stdout
    assert "…" not in shown.stdout, "a text is too long for the panel"
    assert "[default" not in shown.stdout or language == "en"
    first_example = words(f"{'.'.join(path) or 'sudare'}.examples").splitlines()[0]
    assert f"$ {first_example}" in shown.stdout


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    shown = run()
    assert shown.code == 2
    assert "From a plan to a release" in shown.out


def test_the_version(run: Run) -> None:
    from sudare import __version__

    assert run("--version").out == f"sudare {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "english", "japanese"),
    [
        (["plan"], "Missing argument", "PLAN.toml を指定してください"),
        (["plan", "--nonsense"], "No such option", "--nonsense というオプションはありません"),
        (["polish"], "No such command", "コマンドはありません"),
        (["mesh", "code", "north", "139"], "Invalid value", "LATITUDE の値が使えません"),
        (["mesh", "code", "35", "139", "--level", "7"], "Invalid value", "--level"),
        (["--lang", "fr", "doctor"], "Invalid value", "--lang"),
    ],
)
def test_wrong_usage_is_told_in_both_languages(run: Run, arguments: list[str], english: str, japanese: str) -> None:
    shown = run(*arguments)
    assert shown.code == 2
    assert shown.out == ""
    assert english in shown.err
    assert "--help" in shown.err
    told = run("--json", *arguments)
    assert told.code == 2
    assert told.out == ""
    assert told.error["kind"] == "usage"
    assert english in told.error["english"]
    assert japanese in told.error["japanese"]


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (PlanError("a", "あ"), "plan", 2),
        (ParameterError("epsilon", "Budget", "positive", 0), "parameter", 2),
        (InputError("a", "あ"), "input", 3),
        (BudgetExceededError("a", "あ"), "budget", 4),
        (LedgerError("a", "あ"), "ledger", 5),
        (OutputError("a", "あ"), "output", 6),
        (AggregatorError("a", "あ"), "aggregator", 8),
        (QueryRefusedError("rows", "a", "あ"), "query", 9),
        (DatabaseError("a", "あ"), "database", 10),
        (RuntimeError("row 7: Taro Yamada"), "internal", 70),
        (KeyboardInterrupt(), "interrupted", 130),
    ],
)
def test_exit_codes(run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, kind: str, code: int) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(planning, "read_balance", fail)
    monkeypatch.setattr("sudare.releases.kinds.counts.read_plan", fail)
    shown = run("plan", "plan.toml", "--json")
    assert shown.code == code
    assert shown.out == ""
    assert shown.error["kind"] == kind
    assert shown.error["exit_code"] == code
    assert shown.error["english"] != shown.error["japanese"]
    assert "Taro" not in shown.err
    human = run("plan", "plan.toml")
    assert human.code == code
    assert human.err.startswith("Error:")
    assert "Traceback" not in human.err
    assert "Taro" not in human.err
    assert run("plan", "plan.toml", "--lang", "ja").err.startswith("エラー:")


def test_debug_shows_the_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("deep inside")

    monkeypatch.setattr("sudare.releases.kinds.counts.read_plan", fail)
    shown = run("plan", "plan.toml", "--debug")
    assert shown.code == 70
    assert "Traceback" in shown.err
    assert "deep inside" in shown.err


def test_wishes_before_the_command_count(run: Run) -> None:
    before = run("--json", "--lang", "ja", "mesh", "parent", "53394611", "--level", "1")
    assert before.json == {"code": "53394611", "parent": "5339", "level": "1"}
    assert run("--lang", "ja", "mesh", "bounds", "5339").out.startswith("南端")
    assert run("mesh", "--lang", "ja", "bounds", "5339").out.startswith("南端")
    assert run("mesh", "bounds", "5339", "--lang", "ja").out.startswith("南端")
    assert "使い方:" in run("mesh", "--help", "--lang", "ja").out


def test_warnings_are_told_and_stop_nothing(run: Run, town: object) -> None:
    shown = run("ledger", "add", f"{town}/budget.db", "open", "--epsilon", "40")
    assert shown.code == 0
    assert "Warning: A budget of epsilon = 40" in shown.err
    told = run("ledger", "add", f"{town}/budget.db", "open too", "--epsilon", "40", "--json")
    assert "epsilon = 40" in json.loads(told.err)["warning"]["english"]
    assert told.json["dataset"]["total"] == {"epsilon": "40"}


def test_a_parameter_without_a_way_to_type_it_is_refused() -> None:
    def untyped(speaker: Speaker, folder: str) -> None:
        raise NotImplementedError

    with pytest.raises(TypeError, match="folder"):
        spoken(untyped, "verify", Catalogue("en"))


@dataclass(frozen=True, kw_only=True)
class Place:
    folder: Annotated[Path, typer.Argument(metavar="FOLDER")]
    ledger: Annotated[str | None, typer.Option("--ledger", metavar="LOCATION")] = None


def test_a_group_becomes_one_option_for_each_field() -> None:
    given: list[Place] = []

    def verify(speaker: Speaker, place: Place) -> None:
        given.append(place)

    app = typer.Typer()
    app.command()(spoken(verify, "verify", Catalogue("en")))
    shown = CliRunner().invoke(app, ["--ledger", "budget.db", "town"])
    assert shown.exit_code == 0
    assert given == [Place(folder=Path("town"), ledger="budget.db")]
    assert CliRunner().invoke(app, []).exit_code == 2  # a field without a default must be given


def test_what_typer_raises_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Aborting:
        def main(self, **_: object) -> None:
            raise typer.Abort

    monkeypatch.setattr(cli_app, "get_command", lambda _: Aborting())
    assert main([]) == 130


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    """Python's own: another test of the same process may have started Spark, which sets its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hangups_count")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("secondary", [ImportError("cannot import"), DatabaseError("a", "あ"), RuntimeError("torn")])
def test_a_signal_is_told_whatever_it_was_turned_into(
    run: Run, monkeypatch: pytest.MonkeyPatch, number: int, secondary: Exception
) -> None:
    def tear(*_: object) -> None:
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise secondary from None

    monkeypatch.setattr("sudare.releases.kinds.counts.read_plan", tear)
    shown = run("plan", "plan.toml")
    assert (shown.code, shown.err) == (128 + number, "Error: Interrupted.\n")
    told = run("plan", "plan.toml", "--json")
    assert (told.error["kind"], told.error["exit_code"]) == ("interrupted", 128 + number)


@pytest.mark.parametrize(
    ("typed", "commands", "groups"),
    [
        (["plan", "ledger"], ["plan"], []),
        (["collect", "prio", "send"], [], ["collect"]),
        ([], [name for _, name, _ in cli_app.COMMANDS], [path for path in cli_app.GROUPS if " " not in path]),
        (["--lang", "ja", "plan"], [name for _, name, _ in cli_app.COMMANDS], None),
        (["no-such-command"], [name for _, name, _ in cli_app.COMMANDS], None),
    ],
)
def test_only_what_is_typed_is_built(typed: list[str], commands: list[str], groups: list[str] | None) -> None:
    app = cli_app.build_app("en", typed)
    assert [one.name for one in app.registered_commands] == commands
    assert groups is None or [one.name for one in app.registered_groups] == groups


@pytest.mark.parametrize("variable", ["COMP_WORDS", "_TYPER_COMPLETE_ARGS"])
def test_a_shell_that_completes_is_offered_all(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "sudare pl")
    assert len(cli_app.build_app("en", ["plan"]).registered_commands) == len(cli_app.COMMANDS)


@pytest.mark.usefixtures("hangups_count")
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("moment", ["get_command", "build_app", "clear_abandoned", "find_language", "spoken"])
def test_a_signal_before_the_command_begins(
    run: Run, monkeypatch: pytest.MonkeyPatch, number: int, moment: str
) -> None:
    def signalled(*_: object, **__: object) -> None:
        monkeypatch.undo()
        signal.raise_signal(number)

    monkeypatch.setattr(cli_app, "command_of", command_built_anew)
    monkeypatch.setattr(cli_app, moment, signalled)
    shown = run("mesh", "bounds", "5339")
    assert (shown.code, shown.out, shown.err) == (128 + number, "", "Error: Interrupted.\n")


@pytest.mark.usefixtures("hangups_count")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_arguments_are_read(run: Run, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Typer makes something else of it there."""
    monkeypatch.setattr("sudare.cli.console.spoken.CommonOptions", lambda *_: signal.raise_signal(number))
    shown = run("mesh", "bounds", "5339")
    assert (shown.code, shown.out) == (128 + number, "")
    assert "Interrupted" in shown.err


def test_an_error_after_a_command_that_was_interrupted_is_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sudare.releases.kinds.counts.read_plan", lambda *_: signal.raise_signal(signal.SIGTERM))
    assert run("plan", "plan.toml").code == 143
    monkeypatch.undo()
    assert run("plan", "missing.toml").code == 2


def test_brackets_are_shown_as_they_are(run: Run, town: Path) -> None:
    plan = PLAN.replace("A small town", "Town [red]of[/red] bricks [sic]")
    (town / "plan.toml").write_text(plan, encoding="utf-8")
    assert "Town [red]of[/red] bricks [sic]" in run("plan", town / "plan.toml").out
    assert "nowhere [bold].toml" in run("plan", "nowhere [bold].toml").err
    run("ledger", "add", town / "budget.db", "[bold]x", "--epsilon", "1")
    assert "[bold]x" in run("ledger", "list", town / "budget.db").out
    assert "[bold]x" in run("ledger", "show", town / "budget.db", "[bold]x").out
