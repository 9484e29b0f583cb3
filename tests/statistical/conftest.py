"""Tests that conclude from many draws."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _repeatable(repeatable_noise: None) -> None:
    """Every test here draws the same noise in every run."""
