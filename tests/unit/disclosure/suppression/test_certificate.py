"""Certificates: true ones hold, read back equal; any change that matters is found without a solver."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.disclosure.suppression.certificate import Certificate, Claim, Witness  # noqa: F401 - Witness for the script below
from sudare.disclosure.suppression.heuristic import protect, prove
from sudare.disclosure.suppression.problem import SuppressionProblem
from sudare.errors import InputError
from tests.unit.disclosure.small_tables import FLAT, filled, is_safe, problems


def example() -> tuple[SuppressionProblem, Certificate]:
    system, values = filled(FLAT, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    problem = SuppressionProblem.of_levels(system, values, {5: (1, 1), 15: (2, 3)})
    return problem, protect(problem)


def test_a_true_certificate_holds_and_reads_back() -> None:
    problem, certificate = example()
    certificate.check(problem)
    again = Certificate.of_text(certificate.to_text())
    assert (again.hidden, again.witnesses, again.claims) == (
        certificate.hidden,
        certificate.witnesses,
        certificate.claims,
    )


def test_every_single_change_of_a_number_is_found() -> None:
    problem, certificate = example()
    for place, witness in enumerate(certificate.witnesses):
        for position in range(len(witness.cells)):
            for step in (-1, 1, 10**9):
                numbers = list(witness.numerators)
                numbers[position] += step
                forged = list(certificate.witnesses)
                forged[place] = replace(witness, numerators=tuple(numbers))
                assert Certificate(certificate.hidden, tuple(forged), certificate.claims).faults(problem)


def test_forged_certificates_are_refused() -> None:
    problem, certificate = example()
    hidden, witnesses, claims = certificate.hidden, certificate.witnesses, certificate.claims
    secondary = next(cell for cell in hidden if not problem.primary[cell])
    shown = replace(problem, shown=np.arange(problem.system.size) == secondary)
    higher = replace(problem, requirements=tuple(replace(one, upper=one.upper + 1) for one in problem.requirements))
    forged = {
        "a cell less hidden": (problem, Certificate(tuple(c for c in hidden if c != secondary), witnesses, claims)),
        "an unsafe cell shown": (problem, Certificate(tuple(c for c in hidden if c != 5), witnesses, claims)),
        "no claims": (problem, Certificate(hidden, witnesses, ())),
        "no witnesses": (problem, Certificate(hidden, (), claims)),
        "one claim less": (problem, Certificate(hidden, witnesses, claims[1:])),
        "claims of another cell": (problem, Certificate(hidden, witnesses, tuple(Claim((0,), 0, 0) for _ in claims))),
        "ends swapped": (
            problem,
            Certificate(hidden, witnesses, tuple(Claim(c.cells, c.above, c.below) for c in claims)),
        ),
        "a negative position": (problem, Certificate(hidden, witnesses, tuple(Claim(c.cells, -1, -1) for c in claims))),
        "smaller steps": (
            problem,
            Certificate(hidden, tuple(one.scaled(Fraction(1, 1000)) for one in witnesses), claims),
        ),
        "larger steps": (problem, Certificate(hidden, tuple(one.scaled(Fraction(1000)) for one in witnesses), claims)),
        "a cell beyond the table": (problem, Certificate((*hidden, 99), witnesses, claims)),
        "denominator zero": (problem, Certificate(hidden, tuple(replace(w, denominator=0) for w in witnesses), claims)),
        "denominator negative": (
            problem,
            Certificate(hidden, tuple(replace(w, denominator=-w.denominator) for w in witnesses), claims),
        ),
        "a cell twice": (
            problem,
            Certificate(
                hidden, (replace(witnesses[0], cells=(hidden[0],) * len(witnesses[0].cells)), *witnesses[1:]), claims
            ),
        ),
        "a cell that must be published": (shown, certificate),
        "higher levels": (higher, certificate),
    }
    for name, (asked, one) in forged.items():
        assert one.faults(asked), name
        with pytest.raises(InputError, match="does not prove"):
            one.check(asked)


@settings(max_examples=30, deadline=None)
@given(problems(insiders=True), st.randoms(use_true_random=False))
def test_patterns_are_proved_exactly_when_they_are_safe(problem: SuppressionProblem, random: object) -> None:
    hidden = problem.primary.copy()
    for cell in np.flatnonzero(~problem.shown).tolist():
        hidden[cell] |= random.random() < 0.6  # type: ignore[attr-defined]
    certificate = prove(problem, hidden)
    assert (certificate is not None) == is_safe(problem, hidden)
    if certificate is not None:
        assert not certificate.faults(problem)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"kind": "sudare suppression certificate", "version": 2}', "null", "\x00"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a suppression certificate"):
        Certificate.of_text(text)


def test_numbers_that_are_not_whole_are_refused() -> None:
    _, certificate = example()
    read = json.loads(certificate.to_text())
    for wrong in (1.5, "1", None, True):
        read["witnesses"][0][1][0] = wrong
        with pytest.raises(InputError, match="not a suppression certificate"):
            Certificate.of_text(json.dumps(read))


def test_checking_needs_no_solver() -> None:
    script = (
        "import sys; sys.modules['highspy'] = None; sys.modules['scipy.optimize'] = None\n"
        "from tests.unit.disclosure.suppression.test_certificate import *\n"
        "system, values = filled(FLAT, [1, 2, 3, 4, 5, 6, 7, 8, 9])\n"
        "problem = SuppressionProblem.of_levels(system, values, {5: (1, 1)})\n"
        "way = Witness((5, 6, 9, 10), (1, -1, -1, 1))\n"
        "proof = Certificate((5, 6, 9, 10), (way.scaled(Fraction(-1)), way), (Claim((5,), 0, 1),))\n"
        "assert proof.faults(problem) == (), proof.faults(problem)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
