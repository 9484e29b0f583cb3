"""All methods of disclosure control: which there are, and which one a plan or a report names.

A method is named here by the module that has it, and loaded when it is asked for. A new method is a module with an object
(`sudare.releases.kinds.tables.methods.method.DisclosureMethod`) and one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from sudare.errors import InputError
from sudare.releases.verification import printable

if TYPE_CHECKING:
    from sudare.releases.kinds.tables.methods.cell_method import CellMethod
    from sudare.releases.kinds.tables.methods.method import DisclosureMethod

__all__ = [
    "cell_method_named",
    "cell_method_of_document",
    "method_named",
    "method_names",
    "method_of_document",
    "register_method",
    "registered_cell_methods",
    "registered_methods",
]

HERE = "sudare.releases.kinds.tables.methods"

_REGISTERED: dict[str, tuple[str, str]] = {
    "suppress": (f"{HERE}.suppression", "SUPPRESSION"),
    "round": (f"{HERE}.rounding", "ROUNDING"),
    "cell-key": (f"{HERE}.cell_key", "CELL_KEY"),
    "merge-meshes": (f"{HERE}.merging", "MERGING"),
    "none": (f"{HERE}.unprotected", "UNPROTECTED"),
}
"""The module and the name of each method's object, in the order in which they are shown."""


def register_method(name: str, module: str, attribute: str) -> None:
    """Make a method known. Repeating it changes nothing.

    Args:
        name: of the method, as in plans.
        module: that has its object.
        attribute: the object's name there.

    Raises:
        ValueError: if another method has the name.
    """
    if _REGISTERED.setdefault(name, (module, attribute)) != (module, attribute):
        raise ValueError(f"the name {name!r} is taken by {_REGISTERED[name][0]}")


def method_names() -> tuple[str, ...]:
    """The names of all methods."""
    return tuple(_REGISTERED)


def registered_methods() -> tuple[DisclosureMethod[Any, Any, Any], ...]:
    """All methods."""
    return tuple(method_named(name) for name in _REGISTERED)


def registered_cell_methods() -> tuple[CellMethod[Any, Any], ...]:
    """All methods for tables of cells."""
    return tuple(cast("CellMethod[Any, Any]", method) for method in registered_methods() if not method.is_of_meshes)


def method_named(name: str) -> DisclosureMethod[Any, Any, Any]:
    """The method of a plan.

    Raises:
        KeyError: if there is none of that name.
    """
    module, attribute = _REGISTERED[name]
    method: DisclosureMethod[Any, Any, Any] = getattr(import_module(module), attribute)
    return method


def cell_method_named(name: str) -> CellMethod[Any, Any]:
    """The method of a plan for tables of cells.

    Raises:
        KeyError: if there is none of that name.
        TypeError: if it is for meshes.
    """
    method = method_named(name)
    if method.is_of_meshes:
        raise TypeError(f"{name!r} is a method for meshes")
    return cast("CellMethod[Any, Any]", method)


def method_of_document(document: Mapping[str, Any]) -> DisclosureMethod[Any, Any, Any]:
    """The method that a report names.

    Raises:
        InputError: if it names none, or one that is not known here.
    """
    name = document.get("method")
    if name is None:
        raise InputError("The report does not name its method.", "報告書に手法の記載がありません。")
    if not isinstance(name, str) or name not in _REGISTERED:
        told = printable(str(name))
        raise InputError(
            f"The report names a method that this sudare does not know: {told}.",
            f"報告書の手法は、この sudare では扱えません: {told}。",
        )
    return method_named(name)


def cell_method_of_document(document: Mapping[str, Any]) -> CellMethod[Any, Any]:
    """The method that the report of tables of cells names.

    Raises:
        InputError: if it names none, one that is not known here, or one for meshes.
    """
    method = method_of_document(document)
    if method.is_of_meshes:
        raise InputError(
            "The report is about meshes, and not about tables of cells.",
            "報告書はメッシュについてのもので、表のセルについてのものではありません。",
        )
    return cast("CellMethod[Any, Any]", method)
