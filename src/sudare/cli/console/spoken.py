"""Commands as plain functions: their help comes from the catalogue, and options that all have in common are added here.

A command is a function whose first parameter is a `Speaker`. Its other parameters say how they are typed; the help of the
parameter ``folder`` of the command ``verify`` is the text ``verify.folder``, or ``any.folder``.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

import typer

from sudare.bilingual import Worded, Words
from sudare.cli.console.failures import in_options
from sudare.cli.console.messages import Catalogue, Language
from sudare.cli.console.speaking import Speaker
from sudare.errors import SudareWarning
from sudare.system.interrupts import delivered_interruption

__all__ = ["Function", "Wishes", "common_parameters", "group_callback", "spoken"]

Function = Callable[..., None]


@dataclass(frozen=True)
class Wishes:
    """Options that may stand before the command or behind it."""

    language: Language | None = None
    as_json: bool = False
    debug: bool = False


def spoken(function: Function, name: str, words: Catalogue) -> Function:
    """The function as typer takes it: with help, with the common options, and with errors told instead of raised.

    Args:
        function: its first parameter is the speaker.
        name: of the command, such as ``"ledger.add"``.
        words: of the help.
    """
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    options = _options_of(own)

    def command(**given: Any) -> None:
        context: typer.Context = given.pop("context")
        before = context.find_root().obj or Wishes()
        speaker = Speaker(
            given.pop("lang") or before.language or words.language,
            as_json=given.pop("as_json") or before.as_json,
            debug=given.pop("debug") or before.debug,
        )
        with _told(speaker, options):
            function(speaker, **given)

    parameters = [
        _parameter("context", typer.Context),
        *(_helped(parameter, name, words) for parameter in own),
        *common_parameters(words),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    command.__name__ = function.__name__
    return command


def group_callback(words: Catalogue, version: str | None = None) -> Function:
    """What happens before the command of a group: its wishes are kept for the command, and a version is shown."""

    def remember(**given: Any) -> None:
        root = given["context"].find_root()
        before = root.obj or Wishes()
        root.obj = Wishes(
            given["lang"] or before.language, given["as_json"] or before.as_json, given["debug"] or before.debug
        )

    def show_version(is_asked: bool) -> None:
        if is_asked:
            typer.echo(version)
            raise typer.Exit

    parameters = [_parameter("context", typer.Context), *common_parameters(words)]
    if version is not None:
        option = typer.Option("--version", metavar="", help=words("any.version"), callback=show_version, is_eager=True)
        parameters.append(_parameter("version", Annotated[bool, option], False))
    remember.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    remember.__annotations__ = {}
    return remember


def common_parameters(words: Catalogue) -> list[inspect.Parameter]:
    """The options that every command has."""
    panel = words("help.common")
    options: tuple[tuple[str, Any, str, object], ...] = (
        ("lang", Language | None, "--lang", None),
        ("as_json", bool, "--json", False),
        ("debug", bool, "--debug", False),
    )
    return [
        _parameter(
            name,
            Annotated[kind, _common_option(flag, words(f"any.{name}"), panel, is_flag=kind is bool)],
            default,
        )
        for name, kind, flag, default in options
    ]


def _common_option(flag: str, text: str, panel: str, *, is_flag: bool) -> Any:
    metavar = "" if is_flag else None
    return typer.Option(flag, help=text, rich_help_panel=panel, show_default=False, metavar=metavar)


@contextmanager
def _told(speaker: Speaker, options: Mapping[str, str]) -> Iterator[None]:
    """Tell errors and sudare's warnings in the speaker's way. What typer itself raises passes."""
    with warnings.catch_warnings():
        original = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, SudareWarning):
                speaker.warn(message.words if isinstance(message, Worded) else Words.same(message))
            elif speaker.debug:
                original(message, category, *rest, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", SudareWarning)
        try:
            yield
        except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            speaker.fail(delivered_interruption() or in_options(error, options))


def _options_of(parameters: Sequence[inspect.Parameter]) -> dict[str, str]:
    """The options of a command by the names that functions have for them."""
    found: dict[str, str] = {}
    for parameter in parameters:
        _, info, *_ = get_args(parameter.annotation) or (None, None)
        # Within Annotated, typer keeps what stands first as the default.
        for flag in (getattr(info, "default", None), *(getattr(info, "param_decls", None) or ())):
            if isinstance(flag, str) and flag.startswith("--"):
                found |= {parameter.name: flag, flag.removeprefix("--").replace("-", "_"): flag}
    return found


def _helped(parameter: inspect.Parameter, name: str, words: Catalogue) -> inspect.Parameter:
    if get_origin(parameter.annotation) is not Annotated:
        raise TypeError(f"{name}: the parameter {parameter.name} must say how it is typed")
    kind, info, *_ = get_args(parameter.annotation)
    key = f"{name}.{parameter.name}"
    told = copy(info)
    told.help = words(key if key in words else f"any.{parameter.name}")
    if kind is bool:
        told.metavar = ""
    return _parameter(parameter.name, Annotated[kind, told], parameter.default)


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
