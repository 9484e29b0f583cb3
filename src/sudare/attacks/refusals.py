"""Refused settings in both languages: they come from a plan or the command line, whose users read either."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sudare.bilingual import Words
from sudare.errors import ParameterError, UserError

__all__ = ["ToldParameterError", "required"]


class ToldParameterError(ParameterError, UserError):
    """An argument is not what the function takes; the message is in English and Japanese.

    Attributes:
        parameter: name of the parameter.
        function: name of the function or class that was called.
        requirement: what is allowed, as a phrase that follows "must be".
        requirement_japanese: the same, as a Japanese noun phrase.
        got: the offending value, or a description of it.

    Example:
        >>> error = ToldParameterError("p", "PPercent", Words("more than 0", "0 より大きい数"), 0)
        >>> str(error)
        "The 'p' parameter of PPercent must be more than 0. Got 0 instead."
        >>> error.explain("ja")
        'PPercent の「p」は使えません（指定: 0）。条件: 0 より大きい数。'
    """

    def __init__(self, parameter: str, function: str, requirement: Words, got: object, hint: str | Words = "") -> None:
        ParameterError.__init__(self, parameter, function, requirement, got, hint)
        self.requirement_japanese = requirement.japanese


@contextmanager
def required(words: Words) -> Iterator[None]:
    """Errors about parameters within have messages in both languages.

    Args:
        words: the requirement, as a phrase that follows "must be", and as a Japanese noun phrase.

    Raises:
        ToldParameterError: instead of a `ParameterError`.

    Example:
        >>> from sudare.parameters import exact_integer
        >>> try:
        ...     with required(Words("from 2 on", "2 以上の整数")):
        ...         exact_integer(1, "base", "controlled_rounding", "from 2 on", smallest=2)
        ... except ToldParameterError as error:
        ...     print(error.requirement, error.requirement_japanese)
        from 2 on 2 以上の整数
    """
    try:
        yield
    except ParameterError as error:
        raise ToldParameterError(error.parameter, error.function, words, error.got) from None
