"""Names of a package that are loaded on first use, so that importing the package costs nothing; and modules that were moved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["MovedModules", "loaded_on_use"]


def loaded_on_use(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package's ``__getattr__`` and ``__dir__`` are.

    Args:
        package: its name.
        homes: the module of each public name, as written after the package's name; or, beginning with ``sudare.``, whole.

    Example:
        >>> look_up, names = loaded_on_use("sudare.privacy", {"Budget": "budget"})
        >>> look_up("Budget").__name__, names()
        ('Budget', ['Budget'])
    """

    def look_up(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            from sudare.renamed import renamed

            if (value := renamed(package, name)) is not None:
                return value
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home if home.startswith("sudare.") else f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return look_up, lambda: sorted(homes)


class MovedModules:
    """Asked after everybody else for a module: says where a module of sudare is now that is not where it was."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing; raise an error that names the new module, if there is one.

        Args:
            name: of the module that nobody found.
            path: where its package lies; not used.
            target: not used.

        Raises:
            ModuleNotFoundError: if the module was moved.
        """
        if name.startswith("sudare."):
            from sudare.renamed import moved_module

            if (new := moved_module(name)) is not None:
                raise ModuleNotFoundError(f"'{name}' is '{new}' now.", name=name)
