"""How docstrings are read for the site: ``Example:`` is a section of code, a line of two colons is no text, stubs list names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

from sudare.lazy import names_in_stub


class ReadableDocstrings(griffe.Extension):
    """Takes what docstrings say to Python's own tools for what it means on a page."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the headings of examples; an indented block is code without being announced."""
        if obj.docstring is not None:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = re.sub(r"^::\n", "", text, flags=re.MULTILINE)


class NamesInStubs(griffe.Extension):
    """A package whose names are loaded on first use shows those that its stub lists."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Give packages what their stubs say, once all modules are known."""
        for module in _packages_of(pkg):
            file = module.filepath
            if isinstance(file, Path) and file.with_suffix(".pyi").exists():
                homes = names_in_stub(module.path, str(file.with_suffix(".py")))
                offered = {name: attribute for name, attribute in homes.items() if attribute[1] is not None}
                for name, (home, attribute) in offered.items():
                    module.set_member(name, griffe.Alias(name, f"{home}.{attribute}", parent=module))
                module.exports = list(offered)


def _packages_of(module: griffe.Module) -> Iterator[griffe.Module]:
    if module.is_init_module:
        yield module
        for inner in module.modules.values():
            if isinstance(inner, griffe.Module):
                yield from _packages_of(inner)
