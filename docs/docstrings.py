"""How docstrings are read for the site: ``Example:`` is a section of code, and a line of two colons is no text."""

from __future__ import annotations

import re
from typing import Any

import griffe


class ReadableDocstrings(griffe.Extension):
    """Takes what docstrings say to Python's own tools for what it means on a page."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the headings of examples; an indented block is code without being announced."""
        if obj.docstring is not None:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = re.sub(r"^::\n", "", text, flags=re.MULTILINE)
