"""Commands as plain functions: their help comes from the catalogue, and options that all have in common are added here.

A command is a function whose first parameter is a `Speaker`. Its other parameters say how they are typed; the help of the
parameter ``folder`` of the command ``verify`` is the text ``verify.folder``, or ``any.folder``.

Options that several commands share stand in a frozen dataclass: a parameter of such a type becomes one option for each field.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from sudare.bilingual import Worded, Words
from sudare.cli.console.failures import in_options
from sudare.cli.console.messages import Catalogue, Language
from sudare.cli.console.speaking import Speaker
from sudare.errors import SudareWarning
from sudare.system.interrupts import delivered_interruption
from sudare.system.preparing import when_preparing

__all__ = ["CommonOptions", "Function", "common_parameters", "group_callback", "spoken"]

Function = Callable[..., None]


@dataclass(frozen=True)
class CommonOptions:
    """Options that may stand before the command or behind it."""

    language: Language | None = None
    as_json: bool = False
    debug: bool = False


def spoken(function: Function, name: str, words: Catalogue) -> Function:
    """The function as typer takes it: with help, with the common options, and with errors shown instead of raised.

    Args:
        function: its first parameter is the speaker.
        name: of the command, such as ``"ledger.add"``.
        words: of the help.
    """
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    groups: dict[str, tuple[type[Any], list[inspect.Parameter]]] = {
        one.name: (one.annotation, _fields_of(one.annotation))
        for one in own
        if isinstance(one.annotation, type) and is_dataclass(one.annotation)
    }
    typed = [member for one in own for member in (groups[one.name][1] if one.name in groups else [one])]
    options = _options_of(typed)

    def command(**given: Any) -> None:
        context: typer.Context = given.pop("context")
        before = context.find_root().obj or CommonOptions()
        speaker = Speaker(
            given.pop("lang") or before.language or words.language,
            as_json=given.pop("as_json") or before.as_json,
            debug=given.pop("debug") or before.debug,
        )
        with _told(speaker, options), when_preparing(_announce_once(speaker)):
            for group, (made, members) in groups.items():
                given[group] = made(**{member.name: given.pop(member.name) for member in members})
            function(speaker, **given)

    parameters = [
        _parameter("context", typer.Context),
        *(_helped(parameter, name, words) for parameter in typed),
        *common_parameters(words),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    command.__name__ = function.__name__
    return command


def group_callback(words: Catalogue, version: str | None = None) -> Function:
    """What happens before the command of a group: its options are kept for the command, and a version is shown."""

    def remember(**given: Any) -> None:
        root = given["context"].find_root()
        before = root.obj or CommonOptions()
        root.obj = CommonOptions(
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


def _fields_of(options: type[Any]) -> list[inspect.Parameter]:
    """The options of a group, one for each field of its dataclass."""
    hints = get_type_hints(options, include_extras=True)
    return [
        _parameter(one.name, hints[one.name], inspect.Parameter.empty if one.default is MISSING else one.default)
        for one in fields(options)
    ]


def _announce_once(speaker: Speaker) -> Callable[[str], None]:
    """Says on a terminal that code is compiled, the first time it is."""
    announced: list[str] = []

    def tell(name: str) -> None:
        if not announced and not speaker.as_json and speaker.err.is_terminal:
            speaker.say("any.preparing", style="dim")
        announced.append(name)

    return tell


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
