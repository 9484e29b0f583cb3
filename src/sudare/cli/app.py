"""The whole command: which commands there are, in which order, and how a process begins and ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

import typer
from typer.main import get_command

from sudare.cli import extensions
from sudare.cli.collection import collect_planning, collecting, prio
from sudare.cli.commands import (
    attacking,
    checking,
    doctor,
    exporting,
    ledgers,
    mapping,
    meshes,
    page,
    plans,
    releasing,
    reporting,
    starting,
)
from sudare.cli.console.failures import USAGE, failure_of, usage_failure
from sudare.cli.console.helping import epilog, in_language
from sudare.cli.console.messages import Catalogue, Language, find_language
from sudare.cli.console.speaking import Speaker
from sudare.cli.console.spoken import Function, group_callback, spoken
from sudare.cli.protection import comparing, microdata, people_rights, people_tools, protecting, pseudonyms
from sudare.cli.series import watching
from sudare.cli.sql import commands
from sudare.system.interrupts import delivered_interruption, ended_by_signals
from sudare.system.scratch import clear_abandoned
from sudare.version import __version__

__all__ = ["COMMANDS", "GROUPS", "build_app", "main", "speaker_of", "tell_interruption"]

COMMANDS: tuple[tuple[str, str, Function], ...] = (
    ("release", "ui", page.ui),
    ("release", "init", starting.init),
    ("release", "plan", plans.plan),
    ("release", "run", plans.run),
    ("release", "release", releasing.release),
    ("release", "report", reporting.report),
    ("release", "verify", checking.verify),
    ("release", "export", exporting.export),
    ("people", "anonymize", microdata.anonymize),
    ("people", "sample", microdata.sample),
    ("people", "synthesize", microdata.synthesize),
    ("people", "risk", people_tools.risk),
    ("tables", "protect", protecting.protect),
    ("look", "attack", attacking.attack),
    ("look", "compare", comparing.compare),
    ("look", "map", mapping.draw_map),
    ("look", "demo", starting.demo),
    ("look", "reproduce", extensions.missing_command("reproduce")),
    ("look", "doctor", doctor.doctor),
)
"""Panel of the help, name, function; a command of another distribution takes the place of the function if it is installed."""

GROUPS: dict[str, tuple[str, tuple[tuple[str, Function], ...]]] = {
    "ledger": (
        "keep",
        (
            ("create", ledgers.create),
            ("add", ledgers.add),
            ("rho-filter", ledgers.use_rho_filter),
            ("list", ledgers.list_datasets),
            ("show", ledgers.show),
            ("verify", checking.verify_ledger),
            ("export", ledgers.export),
            ("opt-out", ledgers.opt_out),
        ),
    ),
    "series": (
        "release",
        (
            ("watch", watching.watch),
            ("close", watching.close),
        ),
    ),
    "pseudonymize": (
        "people",
        (
            ("new-key", pseudonyms.make_key),
            ("new-mapping", pseudonyms.make_table),
            ("run", pseudonyms.run),
            ("export", pseudonyms.export),
            ("import", pseudonyms.import_table),
            ("rotate", pseudonyms.rotate),
            ("relink", pseudonyms.relink),
            ("destroy", pseudonyms.destroy),
            ("gone", pseudonyms.gone),
        ),
    ),
    "person": (
        "people",
        (
            ("find", people_rights.find),
            ("correct", people_rights.correct),
            ("delete", people_rights.delete),
            ("opt-out", people_rights.opt_out),
            ("opt-in", people_rights.opt_in),
            ("log", people_rights.log),
        ),
    ),
    "hierarchy": (
        "people",
        (
            ("check", people_tools.check),
            ("build", people_tools.build),
        ),
    ),
    "collect": (
        "collect",
        (
            ("randomize", collecting.randomize),
            ("estimate", collecting.estimate),
            ("crosstab", collecting.crosstab),
            ("plan", collect_planning.plan),
            ("pk", collecting.pk),
        ),
    ),
    "collect prio": (
        "collect",
        (
            ("create", prio.create),
            ("serve", prio.serve),
            ("send", prio.send),
            ("collect", prio.collect),
        ),
    ),
    "sql": (
        "ask",
        (
            ("run", commands.run),
            ("explain", commands.explain),
            ("price", commands.price),
            ("shell", commands.shell),
            ("describe", commands.describe),
            ("check", commands.check),
        ),
    ),
    "mesh": (
        "keep",
        (
            ("code", meshes.code),
            ("bounds", meshes.bounds),
            ("parent", meshes.parent),
            ("children", meshes.children),
        ),
    ),
}
"""Panel of the help, and the commands of each group; a group within another has the name of both."""


def build_app(language: Language, given: Sequence[str] | None = None) -> typer.Typer:
    """The command with its help in one language.

    Args:
        language: of the help.
        given: what was typed. Only the command that its first words name is built, because building all takes longer than many
            commands do; all are if these words name none. A command of another distribution is loaded only if it stands
            in it. None builds and loads them all.

    Example:
        >>> len(build_app("ja").registered_commands)
        19
    """
    words = Catalogue(language)
    command_class, group_class = in_language(words)
    app = _group("sudare", words, group_class, add_completion=True)
    app.callback()(group_callback(words, f"sudare {__version__}"))
    names = {name for _, name, _ in COMMANDS} | {path.partition(" ")[0] for path in GROUPS}
    for panel, name, function in COMMANDS:
        if not _may_be_meant(name, names, given):
            continue
        is_missing = name in extensions.HOMES and not extensions.is_installed(name)
        if name in extensions.HOMES and not is_missing and (given is None or extensions.is_typed(name, given)):
            function = extensions.load_extension(name).function
        title = words(f"panel.{panel}")
        _add(app, name, name, function, words, command_class, rich_help_panel=title, is_missing=is_missing)
    groups = {"": app}
    for path, (panel, members) in GROUPS.items():
        parent, _, name = path.rpartition(" ")
        if not _may_be_meant(path.partition(" ")[0], names, given):
            continue
        key = path.replace(" ", ".")
        group = groups[path] = _group(key, words, group_class, add_completion=False)
        group.callback()(group_callback(words))
        for member, function in members:
            _add(group, member, f"{key}.{member}", function, words, command_class)
        groups[parent].add_typer(group, name=name, rich_help_panel=words(f"panel.{panel}"))
    return app


def command_of(language: Language, given: Sequence[str]) -> Any:
    """What carries out what was typed."""
    return get_command(build_app(language, given))


def _may_be_meant(name: str, names: Collection[str], given: Sequence[str] | None) -> bool:
    """Whether a command or group can be the one that was typed: no other one is if the first word names it."""
    is_completing = any(variable in os.environ for variable in extensions.COMPLETIONS)
    return not given or is_completing or given[0] not in names or given[0] == name


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. A command that fails after a signal ends as the signal asks, whatever failed.

    Args:
        arguments: what was typed behind ``sudare``; the process's own arguments if left out.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    speaker = speaker_of(given)
    try:
        with ended_by_signals():
            command = command_of(speaker.language, given)
            clear_abandoned()  # what a killed process spilled to the disk names people
            ended = command.main(args=given, prog_name="sudare", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        interruption = delivered_interruption()
        if interruption is not None or isinstance(error, (typer.Abort, KeyboardInterrupt)):
            return tell_interruption(speaker, interruption or KeyboardInterrupt())
        if isinstance(error, typer.TyperException):
            return _tell_usage(speaker, error)
        raise
    code = ended if isinstance(ended, int) else 0
    # Outside of a command typer makes an exit code of an interruption, the same for every signal, and tells nothing.
    untold = delivered_interruption() if code else None
    return code if untold is None else tell_interruption(speaker, untold)


def speaker_of(given: Sequence[str]) -> Speaker:
    """Who tells what happens outside of a command."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter must not stop a release.
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    return Speaker(find_language(list(given), os.environ), as_json="--json" in given, debug="--debug" in given)


def tell_interruption(speaker: Speaker, interruption: KeyboardInterrupt) -> int:
    """Tell that a signal ended the command; the exit code that goes with the signal."""
    failure = failure_of(interruption)
    with suppress(OSError):  # a terminal that is gone
        speaker.tell_failure(failure)
    return failure.exit_code


def _tell_usage(speaker: Speaker, error: typer.TyperException) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":  # the help was shown in its place
        return USAGE
    context = getattr(error, "ctx", None)
    code = speaker.tell_failure(usage_failure(error))
    if context is not None:
        speaker.say("usage.help", style="dim", command=context.command_path)
    return code


def _group(name: str, words: Catalogue, shape: Any, *, add_completion: bool) -> typer.Typer:
    return typer.Typer(
        name=name,
        cls=shape,
        help=words(f"{name}.help"),
        epilog=epilog(name, words),
        no_args_is_help=True,
        add_completion=add_completion,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["--help", "-h"]},
    )


def _add(
    app: typer.Typer,
    name: str,
    key: str,
    function: Function,
    words: Catalogue,
    shape: Any,
    rich_help_panel: str | None = None,
    is_missing: bool = False,
) -> None:
    text = words(f"{key}.help")
    settings: dict[str, object] = {"help_option_names": ["--help", "-h"]}
    if is_missing:  # it says how to get it, whatever is typed behind it
        first, *others = text.split("\n\n")
        note = words("extension.not_installed", distribution=extensions.HOMES[name].distribution)
        text = "\n\n".join([f"{first} {note}", *others])
        settings |= {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(
        name,
        cls=shape,
        help=text,
        epilog=epilog(key, words),
        rich_help_panel=rich_help_panel,
        context_settings=settings,
    )(spoken(function, key, words))
