"""Planning a collection: which randomizer, and what is refused."""

from __future__ import annotations

import pytest

from tests.unit.cli.conftest import Run


def test_values(run: Run) -> None:
    few, many = (
        run("collect", "plan", "--people", "100000", "--values", n, "--epsilon", "1", "--json") for n in ("3", "50")
    )
    assert few.json["chosen"] == "kary-response"
    assert many.json["chosen"] == "unary-response-optimized"
    errors = [each["standard_error"] for each in many.json["alternatives"]]
    assert errors == sorted(errors)


def test_a_wanted_k(run: Run) -> None:
    told = run("collect", "plan", "--people", "1000", "--values", "5", "--k", "10", "--json").json
    assert told["chosen"] == "retention"
    assert 0 < told["kept"] < 1


def test_a_number(run: Run) -> None:
    told = run("collect", "plan", "--people", "1000", "--low", "0", "--high", "100", "--epsilon", "0.5", "--lang", "ja")
    assert told.code == 0
    assert "one-bit" in told.out.split("\n")[0]


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--values", "5"),
        ("--values", "5", "--epsilon", "1", "--k", "5"),
        ("--values", "5", "--low", "0", "--high", "1", "--epsilon", "1"),
        ("--low", "0", "--epsilon", "1"),
        ("--low", "0", "--high", "1", "--k", "3"),
        ("--values", "5", "--epsilon", "much"),
        ("--values", "5", "--epsilon", "0"),
        ("--values", "1", "--epsilon", "1"),
    ],
    ids=" ".join,
)
def test_what_is_refused(run: Run, options: tuple[str, ...]) -> None:
    assert run("collect", "plan", "--people", "1000", *options).code == 2
