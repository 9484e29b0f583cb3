"""What went wrong, as an exit code, a kind, and a sentence in each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sudare.cli.messages import Words
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
    ToldError,
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


class UsageError(ToldError):
    """The command was called in a way that it cannot be."""


@dataclass(frozen=True)
class Failure:
    """What is told when a command fails.

    Attributes:
        kind: in a word, for programs.
        english: what happened and how to mend it.
        japanese: the same.
        exit_code: of the process.
        details: more for programs, such as the place of a refusal.
    """

    kind: str
    english: str
    japanese: str
    exit_code: int
    details: Mapping[str, Any] = field(default_factory=dict)

    def explain(self, language: str) -> str:
        """The sentence in a language."""
        return self.japanese if language == "ja" else self.english

    def to_dict(self) -> dict[str, Any]:
        """As it stands in JSON."""
        return {
            "kind": self.kind,
            "english": self.english,
            "japanese": self.japanese,
            "exit_code": self.exit_code,
            **self.details,
        }


def failure_of(error: BaseException) -> Failure:
    """What to tell about an exception. Nothing of an unexpected one but its type: its words may quote the data.

    Example:
        >>> from sudare import OutputError
        >>> failure_of(OutputError("The disk is full.", "ディスクの空きがありません。")).exit_code
        6
    """
    if isinstance(error, UsageError):
        return Failure("usage", error.english, error.japanese, USAGE)
    kind, code = next(((kind, code) for shape, kind, code in KINDS if isinstance(error, shape)), ("internal", INTERNAL))
    if isinstance(error, QueryRefusedError):
        place = {"reason": error.reason, "line": error.line, "column": error.column}
        return Failure(kind, error.english, error.japanese, code, place)
    if isinstance(error, ToldError):
        return Failure(kind, error.english, error.japanese, code)
    if kind == "internal":
        return _both("internal", code, "failure.internal", type=type(error).__name__)
    if kind == "interrupted":
        ended = error.exit_code if isinstance(error, Interruption) else code
        return _both(kind, ended, "failure.interrupted")
    return Failure(kind, str(error), Words("ja")("failure.untranslated", sentence=str(error)), code)


def usage_failure(error: Any) -> Failure:
    """What to tell about arguments that the command line does not take; typer's sentences are in English only."""
    english = error.format_message()
    parameter = getattr(error, "param", None)
    name = parameter.get_error_hint().strip("'") if parameter is not None else ""
    japanese, shape = Words("ja"), type(error).__name__
    if shape == "NoSuchOption":
        told = japanese("usage.no_option", name=error.option_name)
    elif shape == "MissingParameter":
        told = japanese("usage.missing", name=name)
    elif shape == "BadParameter" and name:
        told = japanese("usage.bad_value", name=name, reason=error.message)
    else:
        told = japanese("usage.other", reason=english)
    return Failure("usage", english, told, getattr(error, "exit_code", USAGE))


def _both(kind: str, code: int, key: str, **values: object) -> Failure:
    return Failure(kind, Words("en")(key, **values), Words("ja")(key, **values), code)
