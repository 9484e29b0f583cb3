"""Talking to the user of a command: data to stdout, everything else to stderr, people or programs."""

from __future__ import annotations

import json
import os
import sys
import traceback
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from sudare.bilingual import BETWEEN_SENTENCES, Words
from sudare.cli.console.failures import Failure, UsageError, failure_of
from sudare.cli.console.messages import Catalogue, Language, words_of
from sudare.cli.console.wrapping import wrap_japanese_properly
from sudare.system.interrupts import forget_interruption

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["Speaker", "console_for"]

WIDTH_OF_FILES = 120


def console_for(stream: Any) -> Console:
    """A console on a stream: no colour where it is not a terminal or NO_COLOR is set, wider lines in files."""
    from rich.console import Console

    wrap_japanese_properly()
    console = Console(file=stream, highlight=False, soft_wrap=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH_OF_FILES
    return console


class Speaker:
    """How a command talks.

    Args:
        language: of all words.
        as_json: to a program: one JSON object on stdout, and JSON lines for errors and warnings on stderr.
        debug: show the traceback of an unexpected error.
    """

    def __init__(self, language: Language = "en", *, as_json: bool = False, debug: bool = False) -> None:
        self.language, self.as_json, self.debug = language, as_json, debug
        self.words = Catalogue(language)
        self._remarks: list[Words] = []
        self._warned: set[Words] = set()

    @cached_property
    def out(self) -> Console:
        """For data."""
        return console_for(sys.stdout)

    @cached_property
    def err(self) -> Console:
        """For progress and messages."""
        return console_for(sys.stderr)

    @property
    def is_interactive(self) -> bool:
        """Whether there is somebody to ask."""
        return not self.as_json and sys.stdin.isatty() and sys.stderr.isatty()

    def give(self, values: Any, *shown: RenderableType) -> None:
        """The result: as JSON to a program, else as it is shown to people."""
        if self.as_json:
            self._write_json(sys.stdout, values)
            return
        for item in shown:
            if isinstance(item, str):  # as it is, and fast: a command may give many lines
                self.out.file.write(item + "\n")
            else:
                self.out.print(item)

    def say(self, key: str, style: str = "", **values: object) -> None:
        """A message to people."""
        if not self.as_json:
            self.err.print(self.words(key, **values), style=style, markup=False)

    def show(self, item: RenderableType) -> None:
        """A table or a panel beside the result, to people."""
        if not self.as_json:
            self.err.print(item)

    def warn(self, words: Words) -> None:
        """Something that should be known but stops nothing. It is said once, however often it is found."""
        if words in self._warned:
            return
        self._warned.add(words)
        if self.as_json:
            self._write_json(sys.stderr, {"warning": {"english": words.english, "japanese": words.japanese}})
            return
        self._labelled("label.warning", "bold yellow", words.explain(self.language))

    def warn_of(self, key: str, **values: object) -> None:
        """Warn in the words of the catalogue."""
        self.warn(words_of(key, **values))

    def mistake(self, key: str, **values: object) -> UsageError:
        """An error of usage, to be raised."""
        return UsageError(words_of(key, **values))

    def remark(self, key: str, **values: object) -> None:
        """Something to add to the error that is about to be shown."""
        self._remarks.append(words_of(key, **values))

    def confirm(self, question: str, *, yes: bool, **values: object) -> None:
        """Go on only if somebody agrees, or agreed before by ``--yes``.

        Raises:
            UsageError: if there is nobody to ask, or the answer is no.
        """
        if yes:
            return
        if not self.is_interactive:
            raise self.mistake("confirm.nobody")
        from rich.prompt import Confirm

        try:
            is_agreed = Confirm.ask(self.words(question, **values), console=self.err, default=False)
        except EOFError:
            is_agreed = False
        if not is_agreed:
            raise self.mistake("confirm.refused")

    def fail(self, error: BaseException) -> NoReturn:
        """Tell what went wrong and leave."""
        import typer

        if self.debug:
            traceback.print_exception(error, file=sys.stderr)
        code = self.tell_failure(failure_of(error))
        forget_interruption()  # if there was one, it is told
        raise typer.Exit(code)

    def tell_failure(self, failure: Failure) -> int:
        """Tell what went wrong; the exit code."""
        words = Words.joined([failure.words, *self._remarks], BETWEEN_SENTENCES)
        whole = replace(failure, words=words)
        if self.as_json:
            self._write_json(sys.stderr, {"error": whole.to_dict()})
        else:
            self._labelled("label.error", "bold red", whole.explain(self.language))
        return whole.exit_code

    def _labelled(self, label: str, style: str, sentence: str) -> None:
        from rich.text import Text

        self.err.print(Text.assemble((self.words(label), style), " ", sentence))

    def _write_json(self, stream: Any, values: Any) -> None:
        is_unicode = (getattr(stream, "encoding", None) or "").lower().replace("-", "") == "utf8"
        stream.write(json.dumps(values, ensure_ascii=not is_unicode) + "\n")
        stream.flush()
