"""Names of a package that are loaded on first use, so that importing the package costs nothing; and modules that were moved.

What a package offers stands once, in the stub beside it (``__init__.pyi``): type checkers and editors read it as it is, and the
running package reads it here when it is first asked for a name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["MovedModules", "loaded_on_use", "names_in_stub"]


@cache
def names_in_stub(package: str, file: str) -> dict[str, tuple[str, str | None]]:
    """What a package's stub offers: for each name its module, and what it is called there; None for a module itself.

    Args:
        package: its name.
        file: its ``__init__.py``; the stub lies beside it.

    Raises:
        ValueError: if the stub says a name twice.

    Example:
        >>> import sudare.sql
        >>> names_in_stub("sudare.sql", sudare.sql.__file__)["connect"]
        ('sudare.sql.execution.connection', 'connect')
    """
    import ast  # not needed to import a package, which costs as little as can be
    from pathlib import Path

    found: dict[str, tuple[str, str | None]] = {}
    for node in ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            name = alias.asname or alias.name
            if name in found:
                raise ValueError(f"the stub of {package} says {name!r} twice")
            if node.module == package:  # `from sudare import tables as tables`: a package of its own
                found[name] = (f"{package}.{alias.name}", None)
            else:
                found[name] = (str(node.module), alias.name)
    return dict(sorted(found.items()))


def loaded_on_use(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package's ``__getattr__`` and ``__dir__`` are. Its ``__all__`` is answered by the first of them.

    Args:
        package: its name.
        file: its ``__init__.py``; the stub beside it says what it offers.

    Example:
        >>> import sudare.sql
        >>> look_up, names = loaded_on_use("sudare.sql", sudare.sql.__file__)
        >>> look_up("connect").__name__, "connect" in names()
        ('connect', True)
    """

    def names() -> list[str]:
        return list(names_in_stub(package, file))

    def look_up(name: str) -> Any:
        if name == "__all__":
            return names()
        home = None if name.startswith("__") else names_in_stub(package, file).get(name)
        if home is None:
            from sudare.renamed import renamed

            if (value := renamed(package, name)) is not None:
                return value
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = home
        value = import_module(module) if attribute is None else getattr(import_module(module), attribute)
        setattr(sys.modules[package], name, value)
        return value

    return look_up, names


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
