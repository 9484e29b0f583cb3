"""What a signature says, asked of the arguments: at the border, before anything inside trips over them.

`check_arguments` reads the annotations of a function once and refuses an argument of another kind in the words of every other
refusal. It is for arguments that nothing else looks at: a number with limits, or a choice among words, has a reader of its own.
"""

from __future__ import annotations

import ast
import builtins
import numbers
import sys
from collections import abc
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from os import PathLike
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from sudare.border.frames import A_FRAME, is_frame
from sudare.errors import ParameterError
from sudare.parameters import is_exact_number, shown

__all__ = ["check_arguments"]

ARRAYS = {
    "Integers": ("iu", "whole numbers"),
    "Longs": ("iu", "whole numbers"),
    "Counts": ("iu", "whole numbers"),
    "Floats": ("iuf", "numbers"),
    "Reals": ("iuf", "numbers"),
    "Flags": ("b", "True and False"),
    "Booleans": ("b", "True and False"),
    "Mask": ("b", "True and False"),
}
"""Names that modules give to arrays, which exist for the type checker alone."""

LISTS = ("Sequence", "Iterable", "Collection", "list", "tuple", "set", "frozenset", "Iterator")


@dataclass(frozen=True)
class ArgumentKind:
    """What a parameter takes.

    Attributes:
        words: as a phrase that follows "must be".
        plural: the same of several.
        accepts: whether a value is of this kind.
    """

    words: str
    plural: str
    accepts: Callable[[Any], bool]


ANYTHING = ArgumentKind("anything", "anything", lambda _: True)
NOTHING = ArgumentKind("left out", "None", lambda value: value is None)
PLAIN = {
    "str": ArgumentKind("a text", "texts", lambda value: isinstance(value, str)),
    "bytes": ArgumentKind("bytes", "bytes", lambda value: isinstance(value, bytes)),
    "bool": ArgumentKind("True or False", "True or False", lambda value: isinstance(value, (bool, np.bool_))),
    "int": ArgumentKind(
        "a whole number",
        "whole numbers",
        lambda value: isinstance(value, numbers.Integral) and not isinstance(value, bool),
    ),
    "float": ArgumentKind(
        "a number",
        "numbers",
        lambda value: isinstance(value, (numbers.Real, Decimal)) and not isinstance(value, (bool, np.bool_)),
    ),
    "Rational": ArgumentKind("a number", "numbers", is_exact_number),
    "Path": ArgumentKind("a path", "paths", lambda value: isinstance(value, PathLike)),
    "Callable": ArgumentKind("a function", "functions", callable),
    "IntoFrame": ArgumentKind(A_FRAME, "frames", is_frame),
    "ArrayLike": ArgumentKind("numbers", "columns", lambda value: _are_numbers(value)),
}
COLUMN = ArgumentKind("a column", "columns", lambda value: _list(ANYTHING).accepts(value))


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any], *names: str) -> None:
    """Refuse arguments that are not of the kind that the signature says.

    Args:
        function: whose signature it is; or a data class, whose fields are looked at.
        given: its arguments by their names: ``locals()``, in its first line; ``vars(self)`` for a data class.
        names: of the parameters to look at; all of them if left out.

    Raises:
        ParameterError: naming the first parameter whose argument is of another kind.

    Example:
        >>> def widen(areas: "Sequence[str]", by: "int" = 1) -> None:
        ...     check_arguments(widen, locals())
        >>> widen(["north"], by=2)
        >>> widen("north")
        Traceback (most recent call last):
        ...
        sudare.errors.ParameterError: The 'areas' parameter of widen must be a list of texts. Got 'north' instead.
    """
    for name, kind in _kinds_of(function).items():
        if (names and name not in names) or name not in given:
            continue
        value = given[name]
        if not kind.accepts(value):
            raise ParameterError(name, _title(function), kind.words, shown(value))


def _title(function: Callable[..., Any]) -> str:
    """As users call it: a class by its own name."""
    name = function.__qualname__.rpartition("<locals>.")[2]
    return name.removesuffix(".__init__").removesuffix(".__post_init__")


@cache
def _kinds_of(function: Callable[..., Any]) -> dict[str, ArgumentKind]:
    """The kinds of a function's parameters; those that say nothing are left out."""
    names = vars(sys.modules[function.__module__])
    found = {}
    annotations = function.__annotations__
    for name, annotation in annotations.items():
        if name == "return":
            continue
        kind = _kind(
            ast.parse(annotation if isinstance(annotation, str) else repr(annotation), mode="eval").body, names
        )
        if kind is not ANYTHING:
            found[name] = kind
    return found


def _kind(node: ast.expr, names: Mapping[str, Any]) -> ArgumentKind:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _either([_kind(node.left, names), _kind(node.right, names)])
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _kind(ast.parse(node.value, mode="eval").body, names)
    if isinstance(node, ast.Constant):
        return NOTHING if node.value is None else ANYTHING
    if isinstance(node, ast.Subscript):
        return _subscripted(node, names)
    if isinstance(node, ast.Name):
        return _named(node.id, names)
    return ANYTHING


def _either(kinds: list[ArgumentKind]) -> ArgumentKind:
    if ANYTHING in kinds:
        return ANYTHING
    said = [kind for kind in kinds if kind is not NOTHING]
    words = ", or ".join(dict.fromkeys(kind.words for kind in [*said, *(kind for kind in kinds if kind is NOTHING)]))
    plural = " or ".join(dict.fromkeys(kind.plural for kind in kinds))
    return ArgumentKind(words, plural, lambda value: any(kind.accepts(value) for kind in kinds))


def _named(name: str, names: Mapping[str, Any]) -> ArgumentKind:
    if name in ARRAYS:
        letters, what = ARRAYS[name]
        return _array(letters, what)
    if name in PLAIN:
        return PLAIN[name]
    value = names.get(name, getattr(builtins, name, None)) or _class_named(name)
    if get_origin(value) is not None or isinstance(value, UnionType):
        return _aliased(value)
    if value in (object, Any) or not isinstance(value, type):
        return ANYTHING
    return _of_class(value)


def _of_class(value: type) -> ArgumentKind:
    name = value.__name__
    if value is type(None):
        return NOTHING
    if name in PLAIN:
        return PLAIN[name]
    article = "an" if name[0] in "AEIOU" else "a"
    if getattr(value, "_is_protocol", False):
        members = [member for member in dir(value) if not member.startswith("_")]
        return ArgumentKind(
            f"{article} {name}", f"{name} objects", lambda each: all(hasattr(each, one) for one in members)
        )
    return ArgumentKind(f"{article} {name}", f"{name} objects", lambda each: isinstance(each, value))


def _aliased(value: Any) -> ArgumentKind:
    """Of a name that a module gives to a longer annotation."""
    origin = get_origin(value)
    if origin in (Union, UnionType):
        return _either([_aliased(each) if get_origin(each) else _of_class(each) for each in get_args(value)])
    if origin is Literal:
        return _choice([*get_args(value)])
    if origin is abc.Callable:
        return PLAIN["Callable"]
    return _list(ANYTHING) if origin in (abc.Iterable, abc.Sequence, list, tuple) else ANYTHING


def _class_named(name: str) -> Any:
    """A class of sudare that a module imports for the type checker alone; no two have one name."""
    for module, loaded in list(sys.modules.items()):
        found = vars(loaded).get(name) if module.startswith("sudare.") else None
        if isinstance(found, type) and found.__module__ == module:
            return found
    return None


def _choice(choices: list[Any]) -> ArgumentKind:
    words = " or ".join(filter(None, [", ".join(map(repr, choices[:-1])), repr(choices[-1])]))
    return ArgumentKind(words, words, lambda value: isinstance(value, (str, int)) and value in choices)


def _are_numbers(value: Any) -> bool:
    if isinstance(value, (str, bytes, Mapping)) or is_frame(value):
        return False
    try:
        array = np.asarray(value)
    except ValueError:
        return False
    return array.ndim > 0 and (array.dtype.kind in "biuf" or array.size == 0)


def _array(letters: str, what: str) -> ArgumentKind:
    words = f"an array of {what}"
    return ArgumentKind(
        words, f"arrays of {what}", lambda value: isinstance(value, np.ndarray) and value.dtype.kind in letters
    )


def _subscripted(node: ast.Subscript, names: Mapping[str, Any]) -> ArgumentKind:
    outer = node.value.id if isinstance(node.value, ast.Name) else ""
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if outer == "Callable":
        return PLAIN["Callable"]
    if outer == "Literal":
        return _choice([each.value for each in inner if isinstance(each, ast.Constant)])
    if outer == "NDArray":
        text = ast.unparse(inner[0])
        return (
            _array("b", "True and False") if "bool" in text else _array("iu" if "int" in text else "biufSUO", "numbers")
        )
    if outer in ("Mapping", "dict"):
        value = COLUMN if ast.unparse(inner[1]) == "ArrayLike" else _kind(inner[1], names)
        return _mapping(_kind(inner[0], names), value)
    if outer in LISTS:
        parts = [_kind(each, names) for each in inner if not (isinstance(each, ast.Constant) and each.value is ...)]
        if outer == "tuple" and len(parts) == len(inner) > 1:
            return _tuple(parts)
        return _list(parts[0])
    return ANYTHING


def _tuple(parts: list[ArgumentKind]) -> ArgumentKind:
    def accepts(value: Any) -> bool:
        is_tuple = isinstance(value, (tuple, list)) and len(value) == len(parts)
        return is_tuple and all(part.accepts(each) for part, each in zip(parts, value, strict=True))

    return ArgumentKind(f"{len(parts)} values in parentheses", f"groups of {len(parts)}", accepts)


def _list(part: ArgumentKind) -> ArgumentKind:
    def accepts(value: Any) -> bool:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable) or is_frame(value):
            return False
        # What can be gone through only once is looked at where it is used.
        return part is ANYTHING or not isinstance(value, Sized) or all(map(part.accepts, value))

    words = "a list" if part is ANYTHING else f"a list of {part.plural}"
    return ArgumentKind(words, words.replace("a list", "lists"), accepts)


def _mapping(key: ArgumentKind, value: ArgumentKind) -> ArgumentKind:
    def accepts(given: Any) -> bool:
        if not isinstance(given, Mapping):
            return False
        return all(map(key.accepts, given)) and all(map(value.accepts, given.values()))

    what = "" if value is ANYTHING else f" to {value.plural}"
    of = "names" if key is PLAIN["str"] else key.plural
    return ArgumentKind(f"a mapping of {of}{what}", f"mappings of {of}{what}", accepts)
