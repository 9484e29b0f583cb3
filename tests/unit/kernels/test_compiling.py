"""Kernels are compiled in one way only, because several processes share what is kept on disk."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sudare.kernels

SOURCES = sorted(Path(sudare.kernels.__file__).parent.glob("*.py"))
OWN_WAY = re.compile(r"@(numba\.)?(njit|jit|vectorize|guvectorize|stencil|cfunc)\b")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_no_kernel_is_compiled_its_own_way(source: Path) -> None:
    """numba keeps a generalized ufunc and its wrapper apart: two processes that compile it at once can end in a crash."""
    assert not OWN_WAY.search(source.read_text(encoding="utf-8"))


def test_an_own_way_would_be_found() -> None:
    assert OWN_WAY.search('@numba.guvectorize(["void(uint64[:])"], "(n)", cache=True)')
