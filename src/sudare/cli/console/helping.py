"""Help pages in the user's language: typer's own words are English, and its tables expect spaces between words.

What typer has no setting for is set in its module of help pages, just before a page is shown. The tests look at every
page in both languages, so that a new typer that does this differently is noticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

from sudare.cli.console.messages import Catalogue
from sudare.cli.console.wrapping import wrap_japanese_properly

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.measure import Measurement
    from rich.text import Text

__all__ = ["HelpText", "SpokenCommand", "SpokenGroup", "epilog", "in_language"]


def epilog(name: str, words: Catalogue) -> str:
    """The examples of a command, one a line."""
    lines = words(f"{name}.examples").strip().splitlines()
    return "\n".join([f"[bold]{words('help.examples')}[/bold]", "", *(f"$ {line}" for line in lines)])


class _Translated:
    """Help whose fixed words are in the language of the catalogue."""

    words: Catalogue = Catalogue("en")

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc]
        if option is not None:
            option.help, option.metavar = self.words("help.help"), ""
        return option

    def get_usage(self, ctx: Any) -> str:
        usage: str = super().get_usage(ctx)  # type: ignore[misc]
        return usage.replace("Usage:", self.words("help.usage"), 1).replace(
            "[OPTIONS]", self.words("help.options_metavar"), 1
        )

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from typer import rich_utils

        fixed = {
            "ARGUMENTS_PANEL_TITLE": self.words("help.arguments"),
            "OPTIONS_PANEL_TITLE": self.words("help.options"),
            "COMMANDS_PANEL_TITLE": self.words("help.commands"),
            "DEFAULT_STRING": self.words("help.default"),
            "REQUIRED_LONG_STRING": self.words("help.required"),
            "Columns": HelpText,
        }
        vars(rich_utils).update(fixed)
        wrap_japanese_properly()
        for parameter in self.params:  # type: ignore[attr-defined]
            if f"help.{parameter.name}" in self.words:
                parameter.help, parameter.metavar = self.words(f"help.{parameter.name}"), ""
        super().format_help(ctx, formatter)  # type: ignore[misc]


class HelpText:
    """The parts of an option's help as one text, as wide as there is room.

    It breaks anywhere: Japanese has no spaces, and typer would cut it off.
    """

    def __init__(self, parts: list[Text]) -> None:
        from rich.text import Text

        self._text = Text(" ").join(parts)
        self._text.overflow = "fold"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._text

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return self._text.__rich_measure__(console, options)._replace(maximum=options.max_width)


class SpokenCommand(_Translated, TyperCommand):
    """A command with help in English."""


class SpokenGroup(_Translated, TyperGroup):
    """A group of commands with help in English."""


def in_language(words: Catalogue) -> tuple[type[TyperCommand], type[TyperGroup]]:
    """Commands and groups whose help is in the language of the words."""
    return (
        type("TranslatedCommand", (SpokenCommand,), {"words": words}),
        type("TranslatedGroup", (SpokenGroup,), {"words": words}),
    )
