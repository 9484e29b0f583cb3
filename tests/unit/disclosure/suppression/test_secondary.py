"""Secondary suppression: always safe by another solver, cheapest by trying all patterns, the same on every run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.disclosure_known_secondary import known_answers
from benchmarks.disclosure_secondary import enterprise_problem
from hypothesis import HealthCheck, assume, given, settings

from sudare.disclosure.status import PrimaryCells
from sudare.disclosure.structure import Dimension, TableSystem
from sudare.disclosure.suppression import heuristic, neighbourhoods
from sudare.disclosure.suppression.certificate import Certificate
from sudare.disclosure.suppression.exact import cheapest
from sudare.disclosure.suppression.heuristic import protect
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.secondary import suppress
from sudare.errors import InputError, MissingPackageError, ParameterError
from tests.unit.disclosure.small_tables import CUBE, FLAT, ends_by_another_solver, filled, is_safe, patterns, problems
from tests.unit.disclosure.suppression.test_audit import trap

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data"))


def every_pattern_fails(problem: SuppressionProblem) -> bool:
    return not is_safe(problem, ~problem.shown | problem.primary)


@settings(max_examples=30, deadline=None)
@given(problems(insiders=True))
def test_patterns_are_safe_or_refused_for_good_reason(problem: SuppressionProblem) -> None:
    if every_pattern_fails(problem):
        with pytest.raises(InputError, match="cannot be protected"):
            suppress(problem)
        return
    found = suppress(problem)
    hidden = found.hidden
    assert not (hidden & problem.shown).any()
    assert hidden[problem.primary].all()
    assert is_safe(problem, hidden)
    assert not found.certificate.faults(problem)
    for requirement in problem.requirements:
        low, high = found.audit.interval(requirement.cells[0])
        value = int(problem.values[requirement.cells[0]])
        assert low is not None
        assert low <= value - requirement.lower
        assert high is None or high >= value + requirement.upper


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(problems(insiders=True, most=9))
def test_the_exact_method_is_as_cheap_as_the_best_of_all_patterns(problem: SuppressionProblem) -> None:
    # Totals are published, so that there are few enough patterns to try them all.
    problem = replace(problem, shown=problem.shown | (problem.system.is_total & ~problem.primary))
    assume((~problem.shown & ~problem.primary).sum() <= 9 and problem.requirements and not every_pattern_fails(problem))
    found = cheapest(problem)
    assert found.is_proved
    assert is_safe(problem, found.certificate.mask(problem.system.size))
    for hidden in patterns(problem):
        if problem.cost(hidden) >= found.cost:
            break
        assert not is_safe(problem, hidden)


def test_one_cell_springs_the_trap() -> None:
    problem = trap()
    found = suppress(problem, method="exact")
    assert int(found.secondary.sum()) == 1
    assert found.at_least == found.cost
    assert not found.audit.unsafe(problem)


def test_linked_tables_are_one_system() -> None:
    regions = ["A", "B", "I", "J", "K", "L", "M", "N"]
    county = {"county-1": ["A", "B", "I", "J"], "county-2": ["K", "L", "M", "N"]}
    group = {"small": ["A", "B", "I", "J", "K", "N"], "BIG": ["L", "M"]}
    numbers = dict(zip(regions, [2, 2, 8, 8, 3, 3, 3, 7], strict=True))
    systems, levels = [], {}
    for parts in (county, group):
        names = ["all", *parts, *regions]
        place = {name: number for number, name in enumerate(names)}
        sums = [(0, [place[name] for name in parts])]
        sums += [(place[name], [place[one] for one in below]) for name, below in parts.items()]
        systems.append(TableSystem.of_sums(names, sums))

    def values_of(system: TableSystem) -> list[int]:
        known = numbers | {name: sum(numbers[one] for one in below) for name, below in (county | group).items()}
        known["all"] = sum(numbers.values())
        return [known[name[0][1]] for name in system.names]

    for system in (*systems, systems[0].linked_with(systems[1])):
        unsafe = [cell for cell, name in enumerate(system.names) if numbers.get(name[0][1], 9) <= 3]
        assert len(unsafe) == 5
        levels = dict.fromkeys(unsafe, (1, 1))
        found = suppress(SuppressionProblem.of_levels(system, values_of(system), levels), method="exact")
        expected = [] if system in systems else ["N"]
        assert [system.names[cell][0][1] for cell in np.flatnonzero(found.secondary)] == expected


def test_status_codes_of_the_result() -> None:
    system, values = filled(FLAT, [1, 2, 3, 4, 5, 6, 7, 8, 0])
    status = np.where(np.array(values) == 0, 14, 1)
    status[5] = 3
    levels = (status == 3).astype(np.int64)
    primaries = PrimaryCells(status.astype(np.int64), levels, levels, np.zeros(system.size, dtype=np.int64))
    found = suppress(SuppressionProblem.of_levels(system, values, {5: (1, 1)}, shown=[15]))
    assert found.status(primaries).tolist() == [1, 1, 1, 1, 1, 3, 11, 1, 1, 11, 11, 1, 1, 1, 1, 14]


def test_larger_tables_are_searched_in_neighbourhoods(monkeypatch: pytest.MonkeyPatch) -> None:
    system, values = filled(CUBE, range(1, 13))
    leaves = [cell for cell in range(system.size) if not system.is_total[cell]]
    problem = SuppressionProblem.of_levels(system, values, dict.fromkeys(leaves[:2], (1, 1)))
    whole = protect(problem)
    for name, value in (("SMALL", 0), ("NEAREST", 3), ("NEIGHBOURHOODS", (5, 20))):
        monkeypatch.setattr(heuristic, name, value)
    monkeypatch.setattr(neighbourhoods, "MAX_BLOCK", 40)
    near = protect(problem)
    assert is_safe(problem, near.mask(system.size))
    assert problem.cost(near.mask(system.size)) <= 2 * problem.cost(whole.mask(system.size))
    monkeypatch.setattr(neighbourhoods, "MAX_BLOCK", 0)
    assert is_safe(problem, protect(problem).mask(system.size))


def test_attackers_who_know_bounds_need_more_cells() -> None:
    system, values = filled((Dimension.flat("row", list("abc")),), [10, 10, 100])
    problem = SuppressionProblem.of_levels(system, values, {1: (5, 5)})
    assert suppress(problem).cost == 10
    narrow = replace(problem, smallest=np.array([0, 0, 8, 0]), largest=np.array([200, 99, 12, 200]))
    found = suppress(narrow)
    assert found.hidden.tolist() == [False, True, False, True]
    assert ends_by_another_solver(narrow, found.hidden, (1,))[0] >= 5


def test_what_cannot_be_protected_is_refused() -> None:
    system, values = filled(FLAT, [1, 0, 0, 0, 5, 6, 0, 8, 9])
    empty = [cell for cell, value in enumerate(values) if not value]
    totals = [cell for cell in range(system.size) if system.is_total[cell]]
    problem = SuppressionProblem.of_levels(system, values, {5: (1, 1)}, shown=[*empty, *totals])
    for method in ("fast", "exact"):
        with pytest.raises(InputError, match="'column=x, row=a' cannot be protected") as caught:
            suppress(problem, method=method)
        assert "column=x, row=a" in caught.value.japanese


def test_bad_tables_are_refused() -> None:
    system, values = filled(FLAT, range(9))
    with pytest.raises(InputError, match="does not add up"):
        SuppressionProblem.of_levels(system, [values[0] + 1, *values[1:]], {5: (1, 1)})
    with pytest.raises(InputError, match="negative"):
        SuppressionProblem.of_levels(system, [-value for value in values], {5: (1, 1)})
    with pytest.raises(InputError, match="must be published all the same"):
        SuppressionProblem.of_levels(system, values, {5: (1, 1)}, shown=[5])
    with pytest.raises(InputError, match="larger unit"):
        SuppressionProblem.of_levels(system, [value * 2**50 for value in values], {5: (1, 1)})
    with pytest.raises(ParameterError, match="method"):
        suppress(trap(), method="slow")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="seconds"):
        suppress(trap(), seconds=0)


def test_time_limits_end_in_a_safe_pattern_or_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = trap()
    with pytest.raises(InputError, match="within the time limit"):
        suppress(problem, seconds=1e-9)
    clock = iter(np.arange(0.0, 1e6, 0.25))
    monkeypatch.setattr("sudare.disclosure.suppression.linear.time.monotonic", lambda: float(next(clock)))
    refused, given_ = 0, 0
    for seconds in range(1, 30, 3):
        try:
            certificate = protect(problem, seconds=float(seconds))
        except InputError:
            refused += 1
        else:
            given_ += 1
            assert is_safe(problem, certificate.mask(problem.system.size))
    assert refused
    assert given_


def test_negative_magnitudes_with_a_lower_bound() -> None:
    system, values = filled((Dimension.flat("row", list("abc")),), [-3, 4, 50])
    size = system.size
    problem = SuppressionProblem(
        system,
        np.array(values),
        np.abs(np.array(values)),
        np.array([False, True, False, False]),
        np.zeros(size, dtype=bool),
        np.full(size, -100),
        np.full(size, 100),
        SuppressionProblem.of_levels(system, [6, 1, 2, 3], {1: (2, 2)}).requirements,
    )
    assert suppress(problem).hidden.tolist() == [False, True, True, False]


SCRIPT = """
import json
from tests.unit.disclosure.small_tables import DEEP, filled
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.disclosure.suppression.secondary import suppress
system, values = filled(DEEP, [5, 5, 5, 5, 5, 5, 5, 5])
problem = SuppressionProblem.of_levels(system, values, {7: (2, 2), 16: (2, 2)}, insiders=((7,), (16,)))
print(json.dumps([suppress(problem, method=method).certificate.to_text() for method in ("fast", "exact")]))
"""


def test_ties_are_broken_the_same_way_on_every_run_and_thread_count() -> None:
    found = []
    for threads, seed in (("1", "0"), ("4", "77")):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "HIGHS_THREADS", "NUMBA_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True, timeout=60
        )
        found.append(json.loads(run.stdout))
    assert found[0] == found[1]


def test_without_the_solver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingPackageError, match=r"sudare\[solver\]"):
        suppress(trap())


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "known_answers").exists(), reason="needs known_answers below SUDARE_DATA (or ../shared/data)"
)
@pytest.mark.parametrize(("large", "number"), [(False, 20), pytest.param(True, 30, marks=pytest.mark.deep)])
def test_known_answers(large: bool, number: int) -> None:
    answers = list(known_answers(DATA / "known_answers", DATA / "tauargus_tables", large=large))
    assert len(answers) >= number
    assert [name for name, passed, _ in answers if not passed] == []


@pytest.mark.deep
@pytest.mark.skipif(
    not (DATA / "known_answers").exists(), reason="needs known_answers below SUDARE_DATA (or ../shared/data)"
)
def test_the_enterprise_example_is_protected_cheaply_and_the_same_twice() -> None:
    problem = enterprise_problem(DATA / "known_answers")
    first, second = suppress(problem), suppress(problem)
    assert first.certificate.to_text() == second.certificate.to_text()
    assert first.cost <= 52_409_287
    assert not first.audit.determined
    assert not Certificate.of_text(first.certificate.to_text()).faults(problem)
    levels = {requirement.cells[0]: requirement for requirement in problem.requirements}
    for cell in sorted(levels)[::10]:
        below, above = ends_by_another_solver(problem, first.hidden, (cell,))
        assert below >= levels[cell].lower - 1e-3
        assert above >= levels[cell].upper - 1e-3
