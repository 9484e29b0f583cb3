"""The paper's programs compute what a plain recursion does, whatever their arrays held, and pruning visits nothing in vain."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare_papers.kernels import paper_trees

VISIT_ALL = ("vertical_unpruned", "horizontal_unpruned", "horizontal_branchless")
PRUNE = ("vertical_pruned", "horizontal_pruned", "horizontal_memory_first")
WITH_MEMORY = ("horizontal_pruned", "horizontal_memory_first")


def run(program: str, root: float, details: np.ndarray) -> np.ndarray:
    """The leaves that a program finds; all that it should not rely on is spoiled before."""
    kernel: Callable[..., None] = getattr(paper_trees, program)
    averages = np.full(2 * details.size, np.nan)
    averages[1] = root
    details.flags.writeable = False
    more: list[Any] = [np.full(details.size, 7, dtype=np.int32)] if program in WITH_MEMORY else []
    kernel(averages, details, *more)
    return averages[details.size :]


def naive(average: float, node: int, details: np.ndarray) -> list[float]:
    """Equations (3) to (6) for a node and all below it."""
    if node >= details.size:
        return [average]
    detail = float(details[node])
    if not average >= abs(detail):
        detail = (-1 if detail < 0 else 1) * average
    return naive(average + detail, 2 * node, details) + naive(average - detail, 2 * node + 1, details)


@st.composite
def trees(draw: Any) -> tuple[float, np.ndarray]:
    """A root and details: large or small beside each other, of any kind or such that averages often become exactly 0."""
    leaves = 1 << draw(st.integers(1, 8))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    root = draw(st.sampled_from([0.0, 0.5, 1.0, 3.25, 100.0]))
    details = generator.laplace(scale=draw(st.sampled_from([0.01, 0.5, 2.0, 50.0])), size=leaves)
    if draw(st.booleans()):
        details = np.round(2 * details) / 2
    return root, details


@pytest.mark.parametrize("program", [*VISIT_ALL, *PRUNE])
@given(tree=trees())
def test_like_a_plain_recursion(program: str, tree: tuple[float, np.ndarray]) -> None:
    root, details = tree
    found = run(program, root, details)
    assert found.tolist() == naive(root, 1, details)
    assert (found >= 0).all()
    assert found.mean() == pytest.approx(root)


@pytest.mark.parametrize("program", [*VISIT_ALL, *PRUNE])
def test_programs_with_pruning_do_not_look_below_an_average_of_zero(program: str) -> None:
    """All people are in the left half and in its right quarter; the other details are poison."""
    poison = np.nan
    details = np.array(
        [poison, 5.0, -11.0, poison, poison, 1.0, poison, poison, poison, poison, 0.0, -8.0, *[poison] * 4]
    )
    found = run(program, 5.0, details)
    if program in PRUNE:
        assert found.tolist() == [0] * 4 + [21, 21, 11, 27] + [0] * 8
    else:
        assert np.isnan(found[0])


TWICE = """
import numpy as np
from sudare_papers.kernels.paper_trees import vertical_pruned, vertical_unpruned
for program in (vertical_pruned, vertical_unpruned):
    averages = np.array([0.0, 8, 0, 0, 0, 0, 0, 0])
    program(averages, np.array([0.0, 2, 1, 3]))
    print(*averages[4:])
"""


@pytest.mark.slow
def test_recursive_programs_run_in_every_process(tmp_path: Path) -> None:
    """What numba keeps on disk of a function that calls itself crashes the second process."""
    assert paper_trees.vertical_pruned.calls_itself  # type: ignore[attr-defined]
    assert not paper_trees.horizontal_pruned.calls_itself  # type: ignore[attr-defined]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        command = [sys.executable, "-c", TWICE]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[-400:]
        assert done.stdout.splitlines() == ["11.0 9.0 9.0 3.0"] * 2
