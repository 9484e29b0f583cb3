"""Old names answer with the new ones."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec

import pytest

from sudare.moved_names import MOVED_NAMES
from sudare.renamed import MOVED_MODULES, RENAMED, moved_module

NAMES = [(package, old, new) for package, names in RENAMED.items() for old, new in names.items()]


@pytest.mark.parametrize("package", MOVED_MODULES)
def test_moved_modules_say_where_they_are(package: str) -> None:
    for module in MOVED_MODULES[package]:
        old = f"{package}.{module}"
        new = moved_module(old)
        assert new is not None
        assert find_spec(new) is not None, new
        if new.startswith(f"{old}."):  # a room has the name that its module had
            continue
        with pytest.raises(ModuleNotFoundError, match=re.escape(repr(new))):
            import_module(old)


def test_other_modules_are_missing_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        import_module("sudare.sql.nothing_of_that_name")


@pytest.mark.parametrize(("package", "old", "new"), NAMES)
def test_a_renamed_class_is_found_with_a_warning(package: str, old: str, new: str) -> None:
    room = import_module(package)
    with pytest.warns(DeprecationWarning, match=new):
        found = getattr(room, old)
    home = MOVED_NAMES.get(package, {}).get(old, package)
    assert found is getattr(import_module(home), new)
    assert old not in dir(room)
