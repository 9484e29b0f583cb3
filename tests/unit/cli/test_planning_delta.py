"""What a plan says of delta: which one, why, and whether the noise uses it at all. It looks at no data."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.ledger import open_ledger
from sudare.privacy import rho_to_epsilon
from tests.unit.cli.conftest import PLAN, Run

PEOPLE = "\n[prediction]\npeople = 9000000\n"
APPROXIMATE = "epsilon = 0.25\ndelta = 0.000001"


def rewritten(town: Path, budget: str, more: str = "") -> Path:
    """The plan with another budget, and a ledger that allows it; the rows are gone, so that nothing can be read from them."""
    (town / "people.csv").write_text("KEY_CODE\n", encoding="utf-8")
    (town / "budget.db").unlink(missing_ok=True)
    approximate = Budget(epsilon=1, delta=0.001) if "delta" in budget else Budget(epsilon=1)
    total = Budget(rho=1) if "rho" in budget else approximate
    with open_ledger(town / "budget.db", create=True) as ledger:
        ledger.add_dataset("town", total, unit=Unit("person"))
    (town / "plan.toml").write_text(PLAN.replace("epsilon = 0.25", budget) + more, encoding="utf-8")
    return town / "plan.toml"


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_delta_that_is_too_large_for_the_public_size(run: Run, town: Path) -> None:
    plan = rewritten(town, APPROXIMATE, PEOPLE + '\n[method]\nname = "gaussian"\n')
    shown = run("plan", plan)
    assert shown.code == 0
    assert "delta = 0.000001 is too large for about 9,000,000 people" in flat(shown.err)
    assert "9 of them are exposed" in flat(shown.err)
    assert "at most 1e-9; the plan has 0.000001" in flat(shown.out)
    assert "the noise grows by" in flat(shown.out)
    # 1 + e^0.25 + e^0.5 + e^0.75
    assert "it counts 6.0 times" in flat(shown.out)
    told = run("plan", plan, "--json")
    assert told.json["delta"]["suggested"] == "1/1000000000"
    assert told.json["delta"]["exposed"] == 9
    assert told.json["delta"]["is_used"] is True


def test_in_japanese(run: Run, town: Path) -> None:
    shown = run("plan", rewritten(town, APPROXIMATE, PEOPLE), "--lang", "ja")
    assert "大きすぎます" in shown.err
    assert "推奨値" in shown.out
    assert "ノイズ" in shown.out
    assert not any(word in shown.out for word in ("wide-tree", "margin-tree", "laplace", "gaussian"))


def test_a_delta_that_is_small_enough(run: Run, town: Path) -> None:
    shown = run("plan", rewritten(town, "epsilon = 0.25\ndelta = 0.0000000001", PEOPLE))
    assert "too large" not in shown.err
    assert "at most 1e-9; the plan has 1e-10" in flat(shown.out)


def test_a_delta_that_the_noise_does_not_use(run: Run, town: Path) -> None:
    plan = rewritten(town, APPROXIMATE, '\n[method]\nname = "laplace"\n')
    shown = run("plan", plan)
    assert "leave delta out" in flat(shown.out)
    assert "no count of the data" in flat(shown.out)
    assert run("plan", plan, "--json").json["delta"]["is_used"] is False


def test_a_delta_that_a_mechanism_uses_without_being_told(run: Run, town: Path) -> None:
    """Adaptive margins have no setting for the noise: it is Gaussian wherever there is a delta."""
    plan = rewritten(town, APPROXIMATE, '\n[method]\nname = "adaptive-margins"\nrounds = 2\n')
    shown = run("plan", plan, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["delta"]["is_used"] is True


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("epsilon = 0.25", "none is needed: epsilon alone is the stronger promise"),
        ("rho = 0.01", f"epsilon = {float(rho_to_epsilon(0.01, 1e-9)):.3g} at delta = 1e-9"),
    ],
)
def test_budgets_without_a_delta(run: Run, town: Path, budget: str, words: str) -> None:
    shown = run("plan", rewritten(town, budget, PEOPLE))
    assert words in flat(shown.out)
    assert "too large" not in shown.err


def test_without_a_stated_size_every_size_is_meant(run: Run, town: Path) -> None:
    shown = run("plan", rewritten(town, "rho = 0.01"))
    assert "delta = 1e-12, the one suggested for any number of people" in flat(shown.out)
