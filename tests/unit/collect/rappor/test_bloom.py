"""Hash rules against the answers published with the clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sudare.collect.rappor import bloom
from sudare.collect.rappor.bloom import bloom_bits, bloom_filter, java_bits, keyed_permanent_response, python_bits
from sudare.errors import ParameterError

DATA = Path(os.environ.get("SUDARE_DATA", Path(__file__).parents[5] / "shared" / "data")) / "rappor_sample"


@pytest.fixture(scope="module")
def known() -> dict[str, Any]:
    if not DATA.is_dir():
        pytest.skip("the folder rappor_sample is missing: known answers are not checked")
    answers: dict[str, Any] = json.loads((DATA / "known_answers.json").read_text())
    return answers


def test_python_rule(known: dict[str, Any]) -> None:
    answers = known["rappor_hash_candidates"]
    k, h, m = (answers[name] for name in "khm")
    for word in ("apple", "banana", "carrot"):
        rows = [cohort * k + bit + 1 for cohort in range(m) for bit in python_bits(word, cohort, h, k)]
        assert rows == answers[word]


def test_java_rule(known: dict[str, Any]) -> None:
    answers = known["rappor_java_bloom"]
    for word, cohort, expected in answers["cases"]:
        assert bloom_filter(word, cohort, answers["h"], answers["k"], "java") == expected


def test_keyed_permanent_response(known: dict[str, Any]) -> None:
    """The published report follows from the permanent response and the uniform numbers that the client's test cycles through."""
    answer = known["rappor_python_irr"]
    k, cycle = answer["k"], answer["irr_uniforms_cycle"]
    filled = bloom_filter(answer["word"], answer["cohort"], answer["h"], k)
    permanent = keyed_permanent_response(answer["secret"].encode(), filled, Fraction(answer["f"]), k)
    uniforms = [cycle[place % len(cycle)] for place in range(k)]
    bits = [u < answer["q" if permanent >> place & 1 else "p"] for place, u in enumerate(uniforms)]
    assert sum(bit << place for place, bit in enumerate(bits)) == answer["irr"]


def test_rules_differ_and_reach_all_their_bits() -> None:
    assert {python_bits(f"{i}", 0, 1, 256)[0] for i in range(5000)} == set(range(256))
    assert max(java_bits(f"{i}", 0, 1, 4096)[0] for i in range(5000)) > 4000
    assert bloom_bits("yes", 1, 2, 64, "python") != bloom_bits("yes", 1, 2, 64, "java")
    assert bloom_bits("yes", 1, 2, 64) != bloom_bits("yes", 2, 2, 64)


def test_keyed_response_replaces_a_share_of_bits() -> None:
    filled, f = 0b1011, Fraction(1, 4)
    seen = [keyed_permanent_response(i.to_bytes(32, "big"), filled, f, 32) for i in range(4000)]
    ones = sum(bin(response & filled).count("1") for response in seen) / (3 * 4000)
    others = sum(bin(response & ~filled).count("1") for response in seen) / (29 * 4000)
    assert abs(ones - 7 / 8) < 0.02
    assert abs(others - 1 / 8) < 0.01
    assert keyed_permanent_response(b"x", filled, Fraction(0), 32) == filled


@pytest.mark.parametrize(
    "call",
    [
        lambda: python_bits("x", 0, 2, 257),
        lambda: python_bits("x", 0, 17, 16),
        lambda: python_bits("x", -1, 2, 16),
        lambda: python_bits("x", True, 2, 16),
        lambda: java_bits("x", 0, 9, 16),
        lambda: java_bits("x", 0, 0, 16),
        lambda: java_bits("x", 0, 2, 4097),
        lambda: bloom_bits("x", 0, 2, 16, "c"),  # type: ignore[arg-type]
        lambda: keyed_permanent_response(b"", 1, Fraction(1, 2), 16),
        lambda: keyed_permanent_response(b"x", 1 << 16, Fraction(1, 2), 16),
        lambda: keyed_permanent_response(b"x", 1, Fraction(1, 3), 16),
        lambda: keyed_permanent_response(b"x", 1, Fraction(1, 2), 33),
    ],
)
def test_wrong_arguments(call: Any) -> None:
    with pytest.raises(ParameterError):
        call()


@pytest.mark.parametrize("value", [b"secret-illness", 77_123, "secret-illness\ud800"])
def test_errors_show_no_value(value: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        python_bits(value, 0, 2, 16)
    assert "secret" not in str(caught.value)
    assert "77" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_needs_nothing_but_python() -> None:
    """A client that has no NumPy can load the file."""
    code = (
        "import sys, importlib.util\n"
        "for name in ('numpy', 'scipy', 'numba', 'pyarrow'): sys.modules[name] = None\n"
        "spec = importlib.util.spec_from_file_location('bloom', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(module.bloom_filter('Whizbang', 0, 2, 12, 'java'))"
    )
    done = subprocess.run([sys.executable, "-c", code, bloom.__file__], capture_output=True, text=True, timeout=60)
    assert done.stdout == "132\n", done.stderr
