"""A warning names the line of whoever called sudare, not a file of sudare."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

import pytest

import sudare.errors
from sudare.border.notices import warn_user
from sudare.errors import OldKeyWarning, WeakBudgetWarning
from sudare.privacy import Budget
from sudare.releases.old_keys import with_new_keys


def test_a_weak_budget() -> None:
    with pytest.warns(WeakBudgetWarning) as told:
        Budget(epsilon=50)
    assert {warning.filename for warning in told} == {__file__}


def test_a_plan_that_is_read_inside(tmp_path: Path) -> None:
    """It arises several calls below what the user called."""
    from sudare.releases.registry import run_plan

    file = tmp_path / "plan.toml"
    file.write_text('kind = "records"\n[input]\npath = "people.csv"\n')
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with contextlib.suppress(sudare.errors.UserError):
            run_plan(file)
        with_new_keys({"input": {"path": "people.csv"}}, "plan.toml", "records")
    found = [warning.filename for warning in told if issubclass(warning.category, OldKeyWarning)]
    assert found
    assert set(found) == {__file__}


def test_an_old_name() -> None:
    with pytest.warns(DeprecationWarning, match="is called") as told:
        from sudare.errors import ToldError  # noqa: F401
    assert {warning.filename for warning in told} == {__file__}


def test_once_a_line() -> None:
    """Python's own rule for what is shown by default: once for each line, whose module keeps the count."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("Look here.")
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.filterwarnings("error", module=__name__.replace(".", r"\."))
        with pytest.raises(UserWarning, match="Look"):
            warn_user("Look here, too.")
