"""Commands that come from another distribution of this project, such as ``sudare reproduce`` from sudare-papers.

Only commands named in `HOMES` are looked for: no package that merely happens to be installed can put its code into a command that
reads people's data. Such a command is always listed. What is behind it is loaded when it is typed, found by its entry point of
the group ``sudare.commands`` or, where a distribution is on the path without having been installed, by the name of its module.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from sudare.bilingual import Words
from sudare.cli.console.messages import add_messages, words_of
from sudare.cli.console.speaking import Speaker
from sudare.cli.console.spoken import Function
from sudare.errors import MissingPackageError

__all__ = ["GROUP", "HOMES", "Extension", "Home", "is_installed", "is_typed", "load_extension", "missing_command"]

GROUP = "sudare.commands"
"""The group of entry points in which a distribution declares its commands; each leads to an `Extension`."""

COMPLETIONS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Where shells put what was typed so far when they ask for completions."""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """A command as another distribution offers it.

    Attributes:
        function: its first parameter is a `Speaker`, as of every command.
        messages: what it says, in both languages; all keys begin with the name of the command.
    """

    function: Function
    messages: Mapping[str, Words]


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where a command is if it has no entry point, and how to get it.

    Attributes:
        distribution: that has it.
        folder: of the distribution, in the source of sudare.
        place: module and name of its `Extension`, written as in an entry point.
    """

    distribution: str
    folder: str
    place: str


HOMES: Mapping[str, Home] = {
    "reproduce": Home(distribution="sudare-papers", folder="papers", place="sudare_papers.command:REPRODUCE"),
}
"""The commands that other distributions have, by name."""


def is_installed(name: str) -> bool:
    """Whether the command is there, without loading it."""
    return _exists(HOMES[name].place)


def is_typed(name: str, given: Sequence[str]) -> bool:
    """Whether the command may be meant by what was typed, or is being typed in a shell that completes commands.

    Example:
        >>> is_typed("reproduce", ["--lang", "ja", "reproduce", "zcdp"])
        True
    """
    return name in given or any(name in os.environ.get(variable, "").split() for variable in COMPLETIONS)


def load_extension(name: str) -> Extension:
    """The command of another distribution, which must be installed; its messages are known from then on."""
    module, _, attribute = _place_of(name).partition(":")
    extension: Extension = getattr(import_module(module), attribute)
    add_messages(name, extension.messages)
    return extension


def missing_command(name: str) -> Function:
    """What stands for a command that is not installed: it says how to get it."""
    home = HOMES[name]

    def tell_missing(speaker: Speaker) -> None:
        raise MissingPackageError(
            words_of("extension.missing", command=name, distribution=home.distribution, folder=home.folder)
        )

    return tell_missing


def _place_of(name: str) -> str:
    """Module and name of an extension, by its entry point if one is declared by a distribution that is still there."""
    from importlib.metadata import entry_points  # takes some milliseconds, and most commands do not need it

    declared = (point.value for point in entry_points(group=GROUP, name=name))
    return next(filter(_exists, declared), HOMES[name].place)


def _exists(place: str) -> bool:
    return find_spec(place.partition(":")[0].partition(".")[0]) is not None
