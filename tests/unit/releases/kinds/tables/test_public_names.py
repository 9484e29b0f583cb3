"""The names of `sudare.disclosure` are there, are what their modules have, and cost nothing until they are used."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import sudare.disclosure


def test_every_name_is_there() -> None:
    assert sudare.disclosure.__all__ == sorted(sudare.disclosure.__all__)
    assert dir(sudare.disclosure) == sudare.disclosure.__all__
    for name in sudare.disclosure.__all__:
        found = getattr(sudare.disclosure, name)
        assert found is getattr(import_module(found.__module__), name)


def test_no_name_hides_a_module() -> None:
    for name in sudare.disclosure.__all__:
        with pytest.raises(ModuleNotFoundError):
            import_module(f"sudare.disclosure.{name}")


def test_another_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'supress'"):
        _ = sudare.disclosure.supress  # type: ignore[attr-defined]


def test_importing_loads_nothing() -> None:
    code = (
        "import sys, sudare.disclosure; print([name for name in ('numpy', 'scipy', 'highspy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
