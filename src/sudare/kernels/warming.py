"""All kernels at once: for images of machines, which are made once and started often."""

from __future__ import annotations

import importlib
import pkgutil

from sudare.kernels.compiling import Kernel
from sudare.system.preparing import when_preparing

__all__ = ["all_kernels", "prepare_all"]

PACKAGE = "sudare.kernels"


def all_kernels() -> dict[str, Kernel]:
    """The kernels of the package by module and name, such as ``"tables.trees.halve"``, in order."""
    package = importlib.import_module(PACKAGE)
    found = {}
    for module in pkgutil.walk_packages(package.__path__, PACKAGE + "."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Kernel) and value.__module__ == module.name:
                found[f"{module.name.removeprefix(PACKAGE + '.')}.{name}"] = value
    return dict(sorted(found.items()))


def prepare_all() -> tuple[int, int]:
    """Make machine code of every kernel, so that no later process has to.

    Returns:
        How many kernels there are, and how many of them had to be compiled.
    """
    made: list[str] = []
    kernels = all_kernels().values()
    with when_preparing(made.append):
        for one in kernels:
            one.prepare()
    return len(kernels), len(made)
