"""What went wrong, as an exit code, a kind, and a sentence in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from sudare.bilingual import Worded, Words
from sudare.cli.console.messages import words_of
from sudare.errors import (
    AggregatorError,
    BudgetExceededError,
    DatabaseError,
    EventError,
    GuaranteeError,
    InputError,
    LedgerError,
    MissingPackageError,
    OutputError,
    ParameterError,
    PlanError,
    QueryRefusedError,
    SudareError,
    UserError,
    words_of_error,
)
from sudare.system.interrupts import Interruption

__all__ = [
    "FOUND_FAULTS",
    "INTERRUPTED",
    "USAGE",
    "Failure",
    "OptionError",
    "UsageError",
    "failure_of",
    "in_options",
    "usage_failure",
]

USAGE, FOUND_FAULTS, INTERNAL, INTERRUPTED = 2, 7, 70, 130

KINDS: tuple[tuple[type[BaseException], str, int], ...] = (
    (PlanError, "plan", USAGE),
    (InputError, "input", 3),
    (BudgetExceededError, "budget", 4),
    (LedgerError, "ledger", 5),
    (OutputError, "output", 6),
    (AggregatorError, "aggregator", 8),
    (QueryRefusedError, "query", 9),
    (DatabaseError, "database", 10),
    (MissingPackageError, "package", USAGE),
    (ParameterError, "parameter", USAGE),
    (GuaranteeError, "guarantee", USAGE),
    (EventError, "input", 3),
    (KeyboardInterrupt, "interrupted", INTERRUPTED),
)
"""The first that fits counts."""


OTHER_NAMES = {"widths": "intervals", "steps": "dates", "level": "mesh"}
"""Options by what functions call them, where the names differ."""


class UsageError(UserError):
    """The command was called in a way that it cannot be."""


class OptionError(ParameterError):
    """What a function does not take was typed as an option: it is told by the option's name.

    Args:
        option: such as ``--epsilon``.
        error: what the function says.
    """

    def __init__(self, option: str, error: ParameterError) -> None:
        super().__init__(error.parameter, error.function, error.requirement_words, error.got, error.hint_words)
        self.option = option

    @property
    def words(self) -> Words:  # type: ignore[override]
        """In the words of the command."""
        return words_of("usage.option", option=self.option, reason=self.reason)


def in_options(error: BaseException, options: Mapping[str, str]) -> BaseException:
    """The same error in the words of a command.

    Args:
        error: as it was raised.
        options: the options of the command, by the names of their parameters.
    """
    if not isinstance(error, ParameterError) or isinstance(error, UserError):
        return error
    if error.parameter == "budget" and error.got is None and "epsilon" in options:
        return UsageError(words_of("usage.no_budget"))
    option = options.get(error.parameter) or options.get(OTHER_NAMES.get(error.parameter, ""))
    return error if option is None else OptionError(option, error)


@dataclass(frozen=True)
class Failure(Worded):
    """The message when a command fails.

    Attributes:
        kind: in a word, for programs.
        words: what happened and how to mend it.
        exit_code: of the process.
        details: more for programs, such as the place of a refusal.
    """

    kind: str
    words: Words
    exit_code: int
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """As it stands in JSON."""
        return {
            "kind": self.kind,
            "english": self.words.english,
            "japanese": self.words.japanese,
            "exit_code": self.exit_code,
            **self.details,
        }


def failure_of(error: BaseException) -> Failure:
    """What to tell about an exception. Nothing of an unexpected one but its type: its words may quote the data.

    Example:
        >>> from sudare.errors import OutputError
        >>> failure_of(OutputError("The disk is full.", "ディスクの空きがありません。")).exit_code
        6
    """
    if isinstance(error, UsageError):
        return Failure("usage", error.words, USAGE)
    kind, code = next(((kind, code) for shape, kind, code in KINDS if isinstance(error, shape)), ("internal", INTERNAL))
    if isinstance(error, QueryRefusedError):
        place = {"reason": error.reason, "line": error.line, "column": error.column}
        return Failure(kind, error.words, code, place)
    if isinstance(error, UserError):
        return Failure(kind, error.words, code)
    if kind == "internal":
        return _both("internal", code, "failure.internal", type=type(error).__name__)
    if kind == "interrupted":
        ended = error.exit_code if isinstance(error, Interruption) else code
        return _both(kind, ended, "failure.interrupted")
    return Failure(
        kind, words_of_error(error) if isinstance(error, SudareError) else Words.same(type(error).__name__), code
    )


def usage_failure(error: Any) -> Failure:
    """What to tell about arguments that the command line does not take; typer's sentences are in English only."""
    english = error.format_message()
    parameter = getattr(error, "param", None)
    name = parameter.get_error_hint().replace("'", "") if parameter is not None else ""
    shape = type(error).__name__
    context = getattr(error, "ctx", None)
    if shape == "NoSuchOption":
        told = words_of("usage.no_option", name=error.option_name)
    elif shape == "MissingParameter":
        told = words_of("usage.missing", name=name)
    elif shape == "BadParameter" and name:
        told = words_of("usage.bad_value", name=name, reason=_wanted(parameter))
    elif shape == "BadOptionUsage":
        told = words_of("usage.no_value", name=error.option_name)
    elif context is not None and hasattr(context.command, "commands"):
        told = words_of("usage.no_command", group=context.command_path)
    else:
        told = words_of("usage.other")
    return Failure("usage", Words(english, told.japanese), getattr(error, "exit_code", USAGE))


def _wanted(parameter: Any) -> Words:
    """What an option takes, by its type: typer says it in English only."""
    declared = getattr(parameter.get_runtime_param(), "annotation", None)
    kinds = {one for one in (declared, *get_args(declared)) if one is not type(None)}
    choices = [one for kind in kinds if get_origin(kind) is Literal for one in get_args(kind)]
    if choices:
        return words_of("usage.choice", choices=", ".join(map(str, choices)))
    info = parameter.get_runtime_param().parameter_info
    limits = [
        words_of(key, limit=limit)
        for key, limit in (("usage.from", info.min), ("usage.to", info.max))
        if limit is not None
    ]
    for kind, key in ((int, "usage.whole"), (float, "usage.number")):
        if kind in kinds:
            within = Words.joined(limits, Words.same(" "))
            return words_of(f"{key}_within", limits=within) if limits else words_of(key)
    if Path in kinds:
        return words_of("usage.path")
    return words_of("usage.another")


def _both(kind: str, code: int, key: str, **values: object) -> Failure:
    return Failure(kind, words_of(key, **values), code)
