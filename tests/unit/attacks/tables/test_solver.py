"""The solver's process: ended when it fails, started anew for the next question, and never in the process of the caller."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sudare.attacks import AttackOutcome, PersonDomain, PublishedCount, reconstruct
from sudare.attacks.tables import solver
from sudare.attacks.tables.solver import IntegerProgram, Row, SolverFailure
from sudare.errors import MissingPackageError

pytest.importorskip("ortools", reason="needs the extra 'solver'")

PROGRAM = IntegerProgram((0, 0), (3, 3), (Row((0, 1), (1, 1), 5, 6),))


def test_a_solver_that_was_ended_is_started_anew() -> None:
    assert len(PROGRAM.solutions(2, limit=10, seconds=30).values) == 3
    first = solver._solver.process
    assert first is not None
    first.kill()
    first.wait()
    assert len(PROGRAM.solutions(2, limit=10, seconds=30).values) == 3
    assert solver._solver.process is not first


def test_a_solver_that_gives_no_answer_leaves_the_attack_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_answer(process: subprocess.Popen[bytes], seconds: float) -> bytes:
        return b""

    monkeypatch.setattr(solver._Solver, "_read_line", staticmethod(no_answer))
    with pytest.raises(SolverFailure):
        PROGRAM.ranges(2, seconds=1)
    assert solver._solver.process is None
    result = reconstruct(PersonDomain({"sex": "FM"}), [PublishedCount(3)])
    assert result.exists is None
    assert result.report().outcome is AttackOutcome.UNDECIDED


def test_an_answer_is_not_waited_for_longer_than_its_time() -> None:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as silent:
        assert solver._Solver._read_line(silent, 0.1) == b""


def test_a_mistake_in_the_solver_is_raised_here() -> None:
    with pytest.raises(RuntimeError, match="IndexError"):
        IntegerProgram((0,), (1,), (Row((5,), (1,), 0, 1),)).ranges(1, seconds=10)
    assert PROGRAM.ranges(2, seconds=10).least.tolist() == [2, 2]


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"sudare\[solver\]"):
        PROGRAM.ranges(2, seconds=1)


def test_the_caller_does_not_load_the_solver_and_may_load_another() -> None:
    """OR-tools and highspy bring different libraries of one name: the first that is loaded breaks the second."""
    script = (
        "import sys\n"
        "from sudare.attacks import Count, PersonDomain, reconstruct\n"
        "assert reconstruct(PersonDomain({'sex': 'FM'}), [Count(1)]).number == 2\n"
        "assert 'ortools' not in sys.modules\n"
        "import importlib.util\n"
        "if importlib.util.find_spec('highspy'):\n"
        "    import highspy\n"
    )
    subprocess.run([sys.executable, "-W", "error::ResourceWarning", "-c", script], check=True, timeout=60)
