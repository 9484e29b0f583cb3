"""Every exception and warning that sudare raises on purpose.

::

    SudareError
    ├── ParameterError (also ValueError)   an argument is not what the function takes
    │   ├── BudgetError                    ... of a privacy budget
    │   │   ├── MixedCurrencyError         epsilon and rho in one sum or comparison
    │   │   └── SplitError                 shares that exceed the whole, or lose a part of it
    │   └── SeedError                      a seed handed to the secure entropy source
    ├── EntropyError (also RuntimeError)   a stream that would be used twice
    ├── EventError (also ValueError)       a release event that is malformed, unknown or claims too little
    ├── GuaranteeError                     an accountant or mechanism cannot give the guarantee asked for
    ├── NotPrivateError                    a result drawn from research entropy where a private one is required
    └── UserError                          told in English and Japanese, for those who run releases
        ├── InputError (also ValueError)   a file or a table to read is not what was announced
        ├── PlanError (also ValueError)    a release plan has a mistake
        ├── OutputError                    nothing could be written where it should be
        ├── LedgerError                    the ledger cannot be used
        │   └── BudgetExceededError        the data set's budget does not allow the charge
        ├── AggregatorError                an aggregator of Prio3 does not answer, refuses, or lies
        ├── DatabaseError                  a database does not answer, refuses, takes too long, or has changed
        ├── QueryRefusedError (also ValueError)   a query that cannot be answered privately, or at all
        └── MissingPackageError (also ImportError)   an optional package is not installed

    SudareWarning (UserWarning)
    ├── OldKeyWarning                      a plan has a key that is called otherwise now
    └── WeakBudgetWarning                  a budget so large that the guarantee means nothing

An exception carries the offending object, so that a program can react without reading the sentence. No exception
carries a count, a score or a measured number of the protected data. A label or a mesh code that is not in the plan is
named, with its position, because nobody could find it otherwise.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Self

from sudare.bilingual import Worded, Words
from sudare.renamed import old_names

__all__ = [
    "AggregatorError",
    "BudgetError",
    "BudgetExceededError",
    "DatabaseError",
    "EntropyError",
    "EventError",
    "GuaranteeError",
    "InputError",
    "LedgerError",
    "MissingPackageError",
    "MixedCurrencyError",
    "NotPrivateError",
    "OldKeyWarning",
    "OutputError",
    "ParameterError",
    "PlanError",
    "QueryRefusedError",
    "SeedError",
    "SplitError",
    "SudareError",
    "SudareWarning",
    "UserError",
    "WeakBudgetWarning",
]

AT_PLACE = Words("Line {line}, column {column}: {sentence}", "{line} 行 {column} 文字目: {sentence}")


REFUSED = Words(
    "The '{parameter}' parameter of {function} {reason}",
    "{function} の「{parameter}」{reason}",
)
WANTED = Words("{text}", "条件: {text}。")
GIVEN = Words("{text}", "（指定: {text}）")
CANNOT_BE_DONE = Words("This cannot be done as it is asked for.", "この指定では実行できません。")
REASON = Words("must be {requirement}. Got {got} instead.{hint}", "は使えません{got}。{requirement}{hint}")


class SudareError(Exception):
    """Base of every exception that sudare raises on purpose."""


class ParameterError(Worded, SudareError, ValueError):
    """An argument is not what the function takes.

    It is told in both languages. What has no Japanese words is left out in Japanese: no English stands in its place.

    Attributes:
        parameter: name of the parameter, as the caller typed it.
        function: name of the function or class that was called.
        requirement: what is allowed, as a phrase that follows "must be".
        requirement_words: the same in both languages; the Japanese text is empty where it has none.
        got: the offending value, or a description of it where the value itself is protected data.
        hint: a sentence more.
        hint_words: the same in both languages; the Japanese text is empty where it has none.
    """

    def __init__(
        self, parameter: str, function: str, requirement: str | Words, got: object, hint: str | Words = ""
    ) -> None:
        self.parameter = parameter
        self.function = function
        self.requirement = str(requirement)
        self.requirement_words = _in_both(requirement)
        self.got = got
        self.hint = str(hint)
        self.hint_words = _in_both(hint)
        # Not the next of several bases, which may take other arguments.
        SudareError.__init__(self, parameter, function, requirement, got, hint)

    @property
    def got_in_short(self) -> str:
        """What was given, in a few words."""
        return self.got if isinstance(self.got, Described) else _short_repr(self.got)

    @property
    def reason(self) -> Words:
        """What is wrong with the value, without the names of function and parameter: for whoever typed it elsewhere."""
        wanted, hint = self.requirement_words, self.hint_words
        is_described = isinstance(self.got, Described)
        shown = self.got.japanese if isinstance(self.got, Described) else self._got_as_typed
        got = Words(self.got_in_short if is_described else self._got_as_typed, shown)
        return REASON.format(
            requirement=WANTED.format(text=wanted) if wanted.japanese else wanted,
            got=GIVEN.format(text=got) if shown else got,
            hint=Words(f" {hint.english}" if hint.english else "", hint.japanese),
        )

    @property
    def words(self) -> Words:  # type: ignore[override]
        """The whole sentence; it names function and parameter as a program calls them."""
        return REFUSED.format(parameter=self.parameter, function=self.function, reason=self.reason)

    @property
    def _got_as_typed(self) -> str:
        """What was given as people type it: decimals of plans are no objects."""
        return str(self.got)[:80] if isinstance(self.got, (Decimal, Fraction)) else _short_repr(self.got)

    def __str__(self) -> str:
        wanted = f"The '{self.parameter}' parameter of {self.function} must be {self.requirement}."
        sentence = f"{wanted} Got {self.got_in_short} instead."
        return f"{sentence} {self.hint}" if self.hint else sentence


class Described(str):
    """Words that stand for a value in an error message: the value itself is long, or must not be shown.

    Args:
        text: in both languages, or in English alone; then nothing of the value is said in Japanese.

    Example:
        >>> Described(Words("a table", "表")).japanese
        '表'
    """

    japanese: str

    def __new__(cls, text: str | Words) -> Self:
        """The English text, as a text like others."""
        described = super().__new__(cls, str(text))
        described.japanese = text.japanese if isinstance(text, Words) else ""
        return described


def _in_both(text: str | Words) -> Words:
    """Words as they are; an English text that has no Japanese twin. What holds no word is the same in both."""
    if isinstance(text, Words):
        return text
    return Words(text, text if not any(map(str.isalpha, text)) else "")


def _short_repr(value: object, limit: int = 80) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out whole numbers of more than 4300 digits
        text = f"an object of type {type(value).__name__} too long to show"
    return text if len(text) <= limit else text[: limit - 3] + "..."


class BudgetError(ParameterError):
    """An argument does not describe a privacy budget."""


class MixedCurrencyError(BudgetError, AttributeError):
    """Budgets of different currencies meet in one operation, or a budget is read in a currency it is not in."""


class SplitError(BudgetError):
    """The shares of a split do not make up the whole."""


class SeedError(ParameterError):
    """A seed was handed to the secure entropy source."""


class SpokenError(Worded, SudareError):
    """A sentence in both languages, or in English alone; the Japanese text is empty then.

    Args:
        sentence: what happened, and what to do.
    """

    def __init__(self, sentence: str | Words = "") -> None:
        self.words = _in_both(sentence)
        super().__init__(sentence)

    def __str__(self) -> str:
        return self.english


class EntropyError(SpokenError, RuntimeError):
    """A repeatable stream was about to be used twice, by a copy or by a forked process."""


class EventError(SpokenError, ValueError):
    """A release event is malformed, of an unknown kind or version, or claims less than it costs."""


class GuaranteeError(SpokenError):
    """The guarantee asked for cannot be given."""


class NotPrivateError(SpokenError):
    """A result drawn from research entropy was offered where a private one is required."""


class UserError(Worded, SudareError):
    """An error for the person who runs a release, in English and Japanese.

    Args:
        english: what was given, what is allowed, and how to mend it; or `Words` that say it in both languages.
        japanese: the same in Japanese, where English is a text.

    Attributes:
        words: both.

    Example:
        >>> from sudare.errors import OutputError
        >>> OutputError("The folder exists.", "フォルダが既にあります。").explain("ja")
        'フォルダが既にあります。'
    """

    def __init__(self, english: str | Words, japanese: str = "") -> None:
        self.words = english if isinstance(english, Words) else Words(english, japanese)
        super().__init__(english, japanese)

    def __str__(self) -> str:
        return self.english


class InputError(UserError, ValueError):
    """A file or a table to read is not what was announced."""


class PlanError(UserError, ValueError):
    """A release plan has a mistake."""


class OutputError(UserError):
    """Nothing could be written where it should be."""


class LedgerError(UserError):
    """The ledger cannot be used: damaged, of a newer version, not reachable, or asked for what it does not hold."""


class BudgetExceededError(LedgerError):
    """The data set's budget does not allow the charge."""


class AggregatorError(UserError):
    """An aggregator does not answer, refuses, or answers what cannot be true."""


class DatabaseError(UserError):
    """A database does not answer, refuses, takes too long, or is no longer what it was; never with words of its own.

    What a database says of a failure may quote a value of the protected data, so none of it is passed on.
    """


class QueryRefusedError(UserError, ValueError):
    """A query cannot be answered privately, or at all; nothing was charged.

    Attributes:
        reason: a short name of the rule that refused, the same in every version, such as ``"window-function"``.
        line: of the query, from 1; None if the refusal is about the whole of it.
        column: of that line, from 1; None likewise.
        english: what was found, and what to write instead.
        japanese: the same.

    Example:
        >>> from sudare.errors import QueryRefusedError
        >>> str(QueryRefusedError("window-function", "Windows are not offered.", "窓関数は使えません。", line=1, column=8))
        'Line 1, column 8: Windows are not offered.'
    """

    def __init__(
        self, reason: str, english: str, japanese: str, *, line: int | None = None, column: int | None = None
    ) -> None:
        self.reason, self.line, self.column = reason, line, column
        words = Words(english, japanese)
        super().__init__(words if line is None else AT_PLACE.format(line=line, column=column, sentence=words))


class MissingPackageError(UserError, ImportError):
    """An optional package is not installed."""


class SudareWarning(UserWarning):
    """Base of every warning that sudare gives."""


class OldKeyWarning(Worded, SudareWarning):
    """A plan has a key that is called otherwise now; it is read all the same.

    Args:
        words: which, and what it is called now.

    Attributes:
        words: both languages.
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        super().__init__(words)

    def __str__(self) -> str:
        return self.english


class WeakBudgetWarning(Worded, SudareWarning):
    """A budget so large that the guarantee means nothing.

    Args:
        words: in both languages.
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        super().__init__(words)

    def __str__(self) -> str:
        return self.english


def words_of_error(error: SudareError) -> Words:
    """What an error of sudare says, in both languages; where it has no Japanese words, that it cannot be done."""
    words = error.words if isinstance(error, Worded) else Words(str(error), "")
    return words if words.japanese else Words(words.english, CANNOT_BE_DONE.japanese)


__getattr__ = old_names(__name__)
