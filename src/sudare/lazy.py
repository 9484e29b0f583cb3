"""Names of a package that are loaded on first use, so that importing the package costs nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["loaded_on_use"]


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
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home if home.startswith("sudare.") else f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return look_up, lambda: sorted(homes)
