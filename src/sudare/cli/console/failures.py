"""What went wrong, as an exit code, a kind, and a sentence in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
    UserError,
)
from sudare.system.interrupts import Interruption

__all__ = ["FOUND_FAULTS", "INTERRUPTED", "USAGE", "Failure", "UsageError", "failure_of", "usage_failure"]

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


class UsageError(UserError):
    """The command was called in a way that it cannot be."""


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

    def to_dict(self) -> dict[str, Any]:
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
    return Failure(kind, words_of("failure.untranslated", sentence=str(error)), code)


def usage_failure(error: Any) -> Failure:
    """What to tell about arguments that the command line does not take; typer's sentences are in English only."""
    english = error.format_message()
    parameter = getattr(error, "param", None)
    name = parameter.get_error_hint().strip("'") if parameter is not None else ""
    shape = type(error).__name__
    if shape == "NoSuchOption":
        told = words_of("usage.no_option", name=error.option_name)
    elif shape == "MissingParameter":
        told = words_of("usage.missing", name=name)
    elif shape == "BadParameter" and name:
        told = words_of("usage.bad_value", name=name, reason=error.message)
    else:
        told = words_of("usage.other", reason=english)
    return Failure("usage", Words(english, told.japanese), getattr(error, "exit_code", USAGE))


def _both(kind: str, code: int, key: str, **values: object) -> Failure:
    return Failure(kind, words_of(key, **values), code)
