"""The experiment on Pk-anonymity: its checks, its matrices, its errors by hand, and findings that can fail."""

from __future__ import annotations

import ast
import json
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare.collect import KaryResponse
from sudare.collect.randomizers.noisy_numbers import UnboundedNoise
from sudare.collect.transitions.bins import grouped
from sudare.noise import ResearchEntropy
from sudare_papers.pk import page as pk_page
from sudare_papers.pk import runs as pk
from sudare_papers.pk.errata import ERRATA
from sudare_papers.pk.runs import Errors, Look
from sudare_papers.report import page_of
from sudare_papers.settings import Settings

ROOT = Path(__file__).parents[3]
QUICK = Settings(repeats=2, is_quick=True, processes=1)


def test_steps_cover_every_setting_once() -> None:
    settings = Settings(repeats=12)
    steps = pk.steps(settings)
    assert len({step.name for step in steps}) == len(steps)
    blocks = [step.arguments[5:] for step in steps if step.arguments[:4] == ("laplace", True, 1000, 0)]
    assert [number for block in blocks for number in range(*block)] == list(range(12))
    assert {look.people for look in pk.looks(settings)} == {1_000, 10_000, 100_000, 1_000_000}
    assert {bins for look in pk.looks(settings) for bins in look.bins} == {5, 10, 20, 50}


# The checks.


def test_brute_force_is_what_it_says() -> None:
    matrix = np.random.default_rng(1).dirichlet(np.ones(4), 3)
    least = min(
        matrix[v, s] * matrix[u, t] / (matrix[u, s] * matrix[v, t])
        for u in range(3)
        for v in range(3)
        for s in range(4)
        for t in range(4)
    )
    assert pk._brute(np.log(matrix)) == pytest.approx(least)
    response = KaryResponse(range(5), 2)
    assert pk._brute(np.log(response.transition().probabilities())) == pytest.approx(float(response.anonymity_rate()))


def test_rates_agree_with_the_paper_and_not_with_its_misprint() -> None:
    rows = {(row[0], row[1]): row[2:] for row in pk.rates(QUICK)}
    formula, own, brute, free = rows["laplace", 0.5]
    assert formula == pytest.approx(exp(-4))
    assert (own, brute, free) == pytest.approx((formula, formula, formula), rel=1e-12)
    assert brute != pytest.approx(exp(-4 * 2**0.5), rel=0.5), "that would be noise of variance sigma squared"
    formula, own, brute, free = rows["normal", 0.5]
    assert (own, brute) == pytest.approx((exp(-4), exp(-4)), rel=1e-12)
    assert free < 1e-6


def test_samplers_fit_and_clipped_noise_does_not() -> None:
    for base, method in (("laplace", "rejection"), ("normal", "inverse")):
        rows = pk.sampler_fits(QUICK, base, method)  # type: ignore[arg-type]
        assert min(row[1] for row in rows) > 1e-5
        assert max(row[2] for row in rows) < 1e-9


@pytest.mark.parametrize("base", pk.BASES)
def test_bin_matrices(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for _, relative, absolute, sums in pk.bin_matrices(QUICK, base, 5):
        assert max(relative, absolute, sums) < 1e-12
    right = pk._mass
    monkeypatch.setattr(pk, "_mass", lambda base, low, high: right(base, 1.01 * low, 1.01 * high))
    assert pk.bin_matrices(QUICK, base, 5)[0][1] > 1e-4, "other noise is noticed"


# One attribute.


@pytest.mark.parametrize("people", [1_000, 12_345])
def test_people_have_two_peaks(people: int) -> None:
    shares = np.bincount(pk.numbers_of(people) // 50, minlength=20) / people
    assert shares.sum() == 1
    assert shares[5] > 2 * shares[10] < shares[13]


@pytest.mark.parametrize("base", pk.BASES)
def test_noise_has_the_wanted_rate(base: Any) -> None:
    look = Look(base, True, 100_000, 10, (20,))
    k = 1 + 99_999 * float(look.noise.anonymity_rate())
    assert k == pytest.approx(10, rel=1e-9)
    assert k >= 10
    same = Look(base, True, 1_000, 0, (20,))
    assert float(same.noise.epsilon()) == pytest.approx(pk.EPSILON)
    assert Look(base, False, 100_000, 10, (20,)).noise.scale == look.noise.scale


@pytest.mark.parametrize("base", pk.BASES)
def test_matrices_of_noise_without_bounds(base: Any) -> None:
    """Entries by plain sums; clipped reports also by the library's own matrix, where it clips the same way."""
    look = Look(base, False, 100_000, 100, (5,))
    scale, bins, width = float(look.noise.scale), 5, 200
    clipped, limits = pk.matrix_of(look, "clipped", bins)
    beyond, outer = pk.matrix_of(look, "beyond", bins)
    assert limits.tolist() == [200, 400, 600, 800]
    assert beyond.reports == outer.size + 1
    assert outer[0] <= 0 < pk.POINTS <= outer[-1]
    assert beyond.probabilities().sum(axis=1) == pytest.approx(np.ones(bins))

    def weight(x: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(x) / scale if base == "laplace" else -(x**2) / (2 * scale**2))

    far = np.arange(-40_000, 40_001)
    total = weight(far).sum()
    values, goal = np.arange(width, 2 * width), np.arange(600, 800)
    entry = weight(goal[None, :] - values[:, None]).sum() / total / width
    at = int(np.searchsorted(outer, 600, side="right"))
    assert clipped.probabilities()[1, 3] == pytest.approx(entry)
    assert beyond.probabilities()[1, at] == pytest.approx(entry)
    if base == "laplace":
        twin = grouped(UnboundedNoise(look.noise.grid, look.noise.scale).transition(), np.arange(0, 1000, width))
        np.testing.assert_allclose(clipped.probabilities(), twin.probabilities(), rtol=1e-9)
        inner = beyond.probabilities()
        merged = np.column_stack([inner[:, :2].sum(axis=1), inner[:, 2:-2], inner[:, -2:].sum(axis=1)])
        np.testing.assert_allclose(clipped.probabilities(), merged, rtol=1e-9)


def test_a_step_by_hand() -> None:
    found = pk.estimation_errors(QUICK, "laplace", True, 1_000, 0, [5, 10], 0, 2)
    json.dumps(found)
    look = Look("laplace", True, 1_000, 0, (5, 10))
    matrix = grouped(look.noise.transition(), np.arange(0, 1000, 100)).probabilities()
    truth = np.bincount(pk.numbers_of(1_000) // 100, minlength=10) / 1_000
    for number in range(2):
        reports = look.noise.randomize(pk.numbers_of(1_000), ResearchEntropy(QUICK.seed + number))
        told = np.bincount(reports // 100, minlength=10) / 1_000
        inverted = np.linalg.solve(matrix.T, told)
        for name, shares in (("raw", told), ("inversion", inverted), ("even", np.full(10, 0.1))):
            apart = np.abs(shares - truth)
            assert found[f"bounded|10|{name}"][number] == pytest.approx([(apart**2).mean(), apart.sum() / 2])


def test_summed_estimates_and_missing_inverses() -> None:
    found = pk.estimation_errors(QUICK, "normal", False, 1_000, 0, [5, 20, 50], 0, 1)
    assert "beyond|5|summed" in found
    assert "beyond|20|summed" not in found, "50 bins do not add up to 20"
    assert "clipped|20|inversion" not in found, "no inverse"
    assert "clipped|20|held-out" in found


def test_least_errors_are_those_of_inversion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pk, "QUICK_KS", (100,))
    least = pk.least_errors(QUICK)
    look = Look("laplace", True, pk.K_PEOPLE, 100, (5,))
    matrix = pk.matrix_of(look, "bounded", 5)[0].probabilities()
    truth = np.bincount(pk.numbers_of(pk.K_PEOPLE) // 200, minlength=5) / pk.K_PEOPLE
    inverse = np.linalg.inv(matrix)
    variances = (truth @ matrix) @ inverse**2 - truth
    assert least["laplace|bounded|100|5"] == pytest.approx(np.sqrt(variances.mean() / pk.K_PEOPLE))
    assert least["laplace|beyond|100|5"] < least["laplace|clipped|100|5"], "bins of their own can only tell more"
    assert "normal|bounded|100|20" not in least


# A category and a number.


def test_adult_is_read_where_it_is(tmp_path: Path) -> None:
    assert pk.adult_source(Settings(data=str(tmp_path))) == "invented"
    folder = tmp_path / "adult"
    folder.mkdir()
    row = "{}, Private, 1, {}, 9, Divorced, Sales, Wife, White, Female, 0, 0, 40, Japan, {}"
    (folder / "adult.data").write_text(
        row.format(39, "Bachelors", "<=50K") + "\n" + row.format(17, "Preschool", ">50K") + "\n\n"
    )
    (folder / "adult.test").write_text("|1x3 Cross validator\n" + row.format(90, "Doctorate", ">50K.") + "\n")
    source = pk.adult_source(Settings(data=str(tmp_path)))
    people = pk.people_of(str(tmp_path), source)
    assert people["age"].tolist() == [22, 0, 73]
    assert people["education"].tolist() == [12, 0, 15]
    assert people["income"].tolist() == [0, 1, 1]
    (folder / "adult.test").write_text(row.format(90, "Doctorate", "<=50K") + "\n")
    assert pk.adult_source(Settings(data=str(tmp_path))) != source


def test_tables_of_invented_people() -> None:
    people = pk.people_of(None, "invented")
    assert {array.size for array in people.values()} == {48_842}
    assert people["age"].max() <= 73
    found = pk.table_errors(QUICK, "invented", "income", 100, "laplace", 0, 1)
    json.dumps(found)
    assert set(found) == {*pk.ESTIMATORS, pk.SUMMED}
    assert 0 < found["bayes"][0][0] < found["raw"][0][0]
    truth = np.zeros((2, 7))
    np.add.at(truth, (people["income"], np.searchsorted(np.array(pk.AGE_STARTS[1:]) - 17, people["age"], "right")), 1)
    assert found["even"][0][0] == pytest.approx(((truth / 48_842 - 1 / 14) ** 2).mean())


# The page.


def world(settings: Settings, *, is_good: bool) -> dict[str, Any]:
    """Results in which everything is as the findings say, or nothing is."""
    sizes = {
        "raw": 9.0, "even": 8.0, "inversion": 5.0, "bayes": 1.0, "held-out": 3.0, "limit": 6.0, "summed": 1.0,
    }  # fmt: skip
    if not is_good:
        sizes |= {"bayes": 10.0, "limit": 11.0, "summed": 9.0}
    rates = [["laplace", 0.5, 0.1, 0.1, 0.1, 0.1 if is_good else 0.2], ["retention of 2", 0.5, 0.1, 0.1, 0.1, None]]
    rates[1][4] = 0.1 if is_good else 0.11
    least = {
        f"laplace|{design}|{k}|{bins}": (1.0 if is_good == (design == "bounded") else 2.0)
        for design in ("bounded", "beyond", "clipped")
        for k in pk.QUICK_KS
        for bins in (5, 20)
    }
    shares = {f"{base}|{name}": [0.05] * 20 for base in pk.BASES for name in pk.ESTIMATORS}
    results: dict[str, Any] = {"rates": rates, "least errors": least, "example": {"truth": [0.05] * 20, **shares}}
    for step in pk.steps(settings):
        if step.work is pk.sampler_fits:
            results[step.name] = [[0.0, 0.5, 0.0] if is_good else [0.0, 0.0, 0.5]]
        elif step.work is pk.bin_matrices:
            results[step.name] = [[0.5, 1e-15, 1e-15, 1e-15] if is_good else [0.5, 0.1, 0.1, 0.1]]
        elif step.work is pk.table_errors:
            results[step.name] = {name: [[size**2, size]] for name, size in sizes.items()}
        elif step.work is pk.estimation_errors:
            base, is_bounded, people, _, bins = step.arguments[:5]
            factor = 1.0 if is_bounded or is_good else 2.0
            factor *= 2.0 if base == "normal" and is_good else 1.0
            errors = {}
            for design in ("bounded",) if is_bounded else ("beyond", "clipped"):
                for number in bins:
                    for name, size in sizes.items():
                        own = factor * size if name == "bayes" else size
                        errors[f"{design}|{number}|{name}"] = [[own**2, own]]
                    errors[f"{design}|{number}|inversion, random part"] = [[1 / people if is_good else 1.0, 1.0]]
            results[step.name] = errors
    return results


def test_findings_can_hold_and_can_fail() -> None:
    settings = Settings(repeats=1, is_quick=True)
    good, bad = (pk_page.report(settings, world(settings, is_good=is_good)) for is_good in (True, False))
    assert [finding.sentence.english for finding in good.findings if not finding.holds] == []
    assert [finding.sentence.english for finding in bad.findings if finding.holds] == []
    for language in ("en", "ja"):
        page = page_of(good, language)
        assert ("INVENTED people" if language == "en" else "架空の 48,842 人") in page
        assert "None" not in page
        assert "nan" not in page


def test_errors_are_means_over_all_blocks() -> None:
    settings = Settings(repeats=1, is_quick=True)
    results = world(settings, is_good=True)
    errors = Errors.collect(settings, results)
    assert errors.rmse("laplace", "bounded", 1_000, 0, 5, "raw") == pytest.approx(9)
    assert errors.rmse("laplace", "bounded", 1_000, 0, 5, "no such") is None
    assert errors.table_rmse("income", 10, "normal", "bayes") == pytest.approx(1)


@pytest.mark.deep
def test_a_whole_quick_run() -> None:
    settings = Settings(repeats=1, is_quick=True, processes=1)
    results = {step.name: json.loads(json.dumps(step.run(settings))) for step in pk.steps(settings)}
    report = pk_page.report(settings, results)
    failed = [finding.sentence.english for finding in report.findings[:5] if not finding.holds]
    assert failed == [], "what the paper proves"
    pictures = [part for part in report.parts if hasattr(part, "to_png")]
    assert len(pictures) == 3
    assert all(picture.to_png().startswith(b"\x89PNG") for picture in pictures)


# The errata.


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda x: x.place.english)
def test_every_erratum_has_its_test(erratum: Any) -> None:
    file, function = erratum.test.split("::")
    tree = ast.parse((ROOT / file).read_text())
    assert function in [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert erratum.paper == "Pk"
