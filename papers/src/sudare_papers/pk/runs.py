"""Pk-anonymity by bounded noise: the theorems of Ikarashi et al. checked, and the experiment that they left for later.

The checks: anonymity rates by brute force, both ways to draw bounded noise, and the matrices between bins by quadrature.

The experiment: people whose numbers have two peaks are randomized, and the shares of bins are estimated from the reports, for
several numbers of people and of bins, wanted k, and noises; then a table of a category and a number, from Adult's records.

People's true values are fixed, so that errors are those of the randomizing alone. Noise comes from seeds: nothing here
is private.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from sudare.collect.estimation.crosstab import iterative_bayes, maximum_likelihood
from sudare.collect.estimation.pk import NumberAttribute, noise_for_k, rate_for_k, scale_for_rate
from sudare.collect.randomizers.categories import Retention
from sudare.collect.randomizers.noisy_numbers import BoundedNoise, UnboundedNoise
from sudare.collect.transitions.bins import grouped, laplace_bins, normal_bins
from sudare.collect.transitions.grids import Grid
from sudare.collect.transitions.kronecker import Kronecker
from sudare.collect.transitions.real_transition import RealTransition
from sudare.collect.transitions.transition import Transition
from sudare.errors import GuaranteeError
from sudare.noise import ResearchEntropy
from sudare_papers.settings import Settings
from sudare_papers.steps import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = [
    "ESTIMATORS", "Errors", "Look", "adult_source", "bin_matrices", "estimation_errors", "example", "least_errors", "looks",
    "rates", "sampler_fits", "steps", "table_errors", "tables",
]  # fmt: skip

Base = Literal["laplace", "normal"]
BASES: tuple[Base, ...] = ("laplace", "normal")
POINTS = 1000
"""Of the grid that numbers stand on; every number of bins divides it."""

BINS = (5, 10, 20, 50)
FINEST, COMPARED_BINS = BINS[-1], 20
EPSILON = 4
"""Of the noise that stays the same for all numbers of people; anonymity rate exp(-8)."""

PEOPLE, QUICK_PEOPLE = (1_000, 10_000, 100_000, 1_000_000), (1_000, 10_000, 100_000)
K_PEOPLE = 100_000
KS, QUICK_KS = (2, 10, 100, 1000, 10_000), (10, 100, 1000)
SAME_K = 10
RAW, EVEN, INVERSION, BAYES, HELD_OUT, LIMIT = "raw", "even", "inversion", "bayes", "held-out", "limit"
SUMMED, RANDOM_PART = "summed", "inversion, random part"
ESTIMATORS = (RAW, EVEN, INVERSION, BAYES, HELD_OUT, LIMIT)
WORST_CONDITION = 1e6
"""Of a matrix whose information is inverted, which squares it."""

HELD_OUT_SHARE, MAX_STEPS = 0.1, 2000
BLOCK = 5
"""Repeats in a step."""

AGES, AGE_STARTS = Grid(17, 90, 1), (17, 25, 35, 45, 55, 65, 75)
EDUCATIONS = (
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
    "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
INCOMES = ("<=50K", ">50K")
TABLE_KS, TABLE_ATTRIBUTES = (10, 100), ("income", "education")
ADULT_FILES = ("adult.data", "adult.test")
INVENTED = "invented"
INVENTED_PEOPLE = 48_842


@dataclass(frozen=True)
class Look:
    """One setting of the experiment with one attribute.

    Attributes:
        base: which noise.
        is_bounded: whether it is drawn again until numbers stay in the range.
        people: how many there are.
        k: what the bounded noise would give them; 0 for the noise of `EPSILON`, whatever the k.
        bins: numbers of bins.
    """

    base: Base
    is_bounded: bool
    people: int
    k: int
    bins: tuple[int, ...]

    @property
    def rate(self) -> Fraction:
        """The anonymity rate of the noise, where it is bounded."""
        return rate_for_k(self.people, self.k) if self.k else Fraction(exp(-2 * EPSILON))

    @property
    def noise(self) -> BoundedNoise | UnboundedNoise:
        """The randomizer. Normal noise without bounds has rate 0; it gets the scale of its bounded twin."""
        scale = scale_for_rate(POINTS - 1, self.rate, self.base)
        return (BoundedNoise if self.is_bounded else UnboundedNoise)(Grid(0, POINTS - 1, 1), scale, self.base)


def looks(settings: Settings) -> list[Look]:
    """All settings with one attribute: the same noise for all numbers of people, all k, and the same k."""
    sizes, ks = (QUICK_PEOPLE, QUICK_KS) if settings.is_quick else (PEOPLE, KS)
    chosen = []
    for base in BASES:
        for is_bounded in (True, False):
            chosen += [Look(base, is_bounded, people, 0, BINS) for people in sizes]
            chosen += [Look(base, is_bounded, K_PEOPLE, k, (COMPARED_BINS,)) for k in ks]
            same = [people for people in sizes if people != K_PEOPLE]
            chosen += [Look(base, is_bounded, people, SAME_K, (COMPARED_BINS,)) for people in same]
    return chosen


def tables() -> list[tuple[str, int, Base]]:
    """Attribute beside age, k, and noise of each table."""
    return [(attribute, k, base) for attribute in TABLE_ATTRIBUTES for k in TABLE_KS for base in BASES]


def steps(settings: Settings) -> list[Step]:
    """The checks, then each setting some repeats at a time."""
    blocks = [(first, min(first + BLOCK, settings.repeats)) for first in range(0, settings.repeats, BLOCK)]
    source = adult_source(settings)
    chosen = [Step("rates", rates)]
    chosen += [Step(f"samplers, {base}, {method}", sampler_fits, (base, method)) for base, method in _samplers()]
    chosen += [
        Step(f"bin matrices, {base}, {bins} bins", bin_matrices, (base, bins)) for base in BASES for bins in BINS
    ]
    chosen += [Step("example", example), Step("least errors", least_errors)]
    for look in looks(settings):
        chosen += [Step(_name(look, b), estimation_errors, (*_arguments(look), *b)) for b in blocks]
    for table in tables():
        chosen += [Step(_table_name(table, b), table_errors, (source, *table, *b)) for b in blocks]
    return chosen


# The checks.


def rates(settings: Settings) -> list[list[Any]]:
    """Rates of bounded noise by the formula, by the library, by brute force, and of the noise without bounds; range 0 ... 1."""
    ends = np.linspace(0.0, 1.0, 13 if settings.is_quick else 25)
    wide = np.linspace(-2.0, 3.0, 5 * (ends.size - 1) + 1)
    rows: list[list[Any]] = []
    for name in ("laplace", "normal", "cauchy"):
        for scale in (0.2, 0.5, 1.0, 4.0):
            formula = exp(
                2 * float(_log_density(name, np.array(1.0), scale) - _log_density(name, np.array(0.0), scale))
            )
            own = None
            if name != "cauchy":
                own = float(BoundedNoise(Grid(0, 1, Fraction(1, 1000)), scale, cast("Base", name)).anonymity_rate())
            inside = _brute_rate(name, scale, ends, ends, is_bounded=True)
            rows.append([name, scale, formula, own, inside, _brute_rate(name, scale, ends, wide, is_bounded=False)])
    for values, kept in ((2, 0.5), (5, 0.3), (16, 0.8)):
        formula = ((1 - kept) / (1 - kept + values * kept)) ** 2
        randomizer = Retention(range(values), kept)
        matrix = np.full((values, values), (1 - kept) / values) + kept * np.eye(values)
        rows.append(
            [f"retention of {values}", kept, formula, float(randomizer.anonymity_rate()), _brute(np.log(matrix)), None]
        )
    return rows


def _brute_rate(name: str, scale: float, values: Numbers, reports: Numbers, *, is_bounded: bool) -> float:
    density = _log_density(name, reports - values[:, None], scale)
    if is_bounded:
        density = density - np.log(_share_inside(name, values, scale))[:, None]
    return _brute(density)


def _brute(log_density: Numbers) -> float:
    """The smallest A[v, u'] A[u, v'] / (A[u, u'] A[v, v']), one by one over all u, v, u' and v'."""
    least = np.inf
    for u in log_density:
        told = log_density[:, :, None] + u[None, None, :] - u[None, :, None] - log_density[:, None, :]
        least = min(least, float(told.min()))
    return exp(least)


def _log_density(name: str, x: NDArray[np.floating[Any]], scale: float) -> Numbers:
    """But for a constant."""
    if name == "laplace":
        return np.asarray(-np.abs(x) / scale)
    return np.asarray(-(x**2) / (2 * scale**2) if name == "normal" else -np.log1p((x / scale) ** 2))


def _share_inside(name: str, values: Numbers, scale: float) -> Numbers:
    """The probability that a value plus noise stays between 0 and 1."""
    from scipy import stats

    law = {"laplace": stats.laplace, "normal": stats.norm, "cauchy": stats.cauchy}[name]
    return np.asarray(law.cdf((1 - values) / scale) - law.cdf(-values / scale))


def sampler_fits(settings: Settings, base: Base, method: Literal["inverse", "rejection"]) -> list[list[float]]:
    """For some values: how well the reports fit the law of bounded noise, and how well clipped ones do, which must not."""
    from scipy.stats import chi2

    draws = 20_000 if settings.is_quick else 200_000
    look = Look(base, True, K_PEOPLE, 0, ())
    bounded = BoundedNoise(look.noise.grid, look.noise.scale, base, method)
    free = UnboundedNoise(look.noise.grid, look.noise.scale, base)
    rows = []
    for place in (0, POINTS // 4, POINTS - 1):
        values = np.full(draws, place)
        weights = np.exp(_log_density(base, np.arange(POINTS) - float(place), float(bounded.scale)))
        expected = draws * (weights / weights.sum()).reshape(25, -1).sum(axis=1)
        reports = [bounded.randomize(values, ResearchEntropy(settings.seed + place))]
        reports.append(np.clip(free.randomize(values, ResearchEntropy(settings.seed + place)), 0, POINTS - 1))
        counts = [np.bincount(told * 25 // POINTS, minlength=25) for told in reports]
        rows.append([float(place), *(float(chi2.sf(((x - expected) ** 2 / expected).sum(), 24)) for x in counts)])
    return rows


def bin_matrices(settings: Settings, base: Base, bins: int) -> list[list[float]]:
    """Each entry of a matrix against quadrature: scale, largest relative and absolute difference, and that of a row from 1."""
    from scipy.integrate import quad

    edges = np.linspace(0.0, 1.0, bins + 1)
    rows = []
    for scale in (0.5,) if settings.is_quick else (0.2, 0.5, 2.0):
        matrix = (laplace_bins if base == "laplace" else normal_bins)(edges, scale).probabilities()
        checked = np.empty_like(matrix)
        for place in np.ndindex(matrix.shape):
            low, high = edges[place[0]], edges[place[0] + 1]
            goal = edges[place[1]], edges[place[1] + 1]
            total, _ = quad(_moved, low, high, (base, scale, *goal), epsabs=0, epsrel=1e-12)
            checked[place] = total / (high - low)
        apart = np.abs(matrix - checked)
        rows.append([scale, float((apart / checked).max()), float(apart.max()), float(abs(matrix.sum(1) - 1).max())])
    return rows


def _moved(v: float, base: Base, scale: float, low: float, high: float) -> float:
    """The probability that v is reported between low and high; differences are taken on the side where digits are kept."""
    return _mass(base, (low - v) / scale, (high - v) / scale) / _mass(base, -v / scale, (1 - v) / scale)


def _mass(base: Base, low: float, high: float) -> float:
    from scipy.special import ndtr

    if low + high > 0:
        low, high = -high, -low
    if base == "normal":
        return float(ndtr(high) - ndtr(low))
    return float(exp(high) - exp(low)) / 2 if high <= 0 else 1 - (exp(low) + exp(-high)) / 2


# One attribute.


@lru_cache(maxsize=8)
def numbers_of(people: int) -> Integers:
    """People's numbers: two peaks on a level ground, as many at each point as there should be, to the nearest person."""
    at = (np.arange(POINTS) + 0.5) / POINTS
    density = 0.3 + 6.0 * np.exp(-(((at - 0.3) / 0.1) ** 2) / 2) + 5.0 * np.exp(-(((at - 0.7) / 0.08) ** 2) / 2)
    upto = np.rint(people * np.cumsum(density) / density.sum()).astype(np.int64)
    return np.repeat(np.arange(POINTS), np.diff(upto, prepend=0))


def estimation_errors(
    settings: Settings, base: Base, is_bounded: bool, people: int, k: int, bins: Sequence[int], first: int, last: int
) -> dict[str, list[list[float]]]:
    """By design, bins and estimate: mean squared error of the shares and total variation, for each repeat."""
    look = Look(base, is_bounded, people, k, tuple(bins))
    noise, values = look.noise, numbers_of(people)
    found: dict[str, list[list[float]]] = {}
    for number in range(first, last):
        reports = noise.randomize(values, ResearchEntropy(settings.seed + number))
        for design in ("bounded",) if is_bounded else ("beyond", "clipped"):
            for key, shares, goal in _estimates(look, design, reports, number):
                found.setdefault(key, []).append(_error(shares, goal))
    return found


def _estimates(look: Look, design: str, reports: Integers, number: int) -> list[tuple[str, Numbers, Numbers]]:
    """Name, estimated shares, and what they should be."""
    values = numbers_of(look.people)
    fine: Numbers | None = None
    chosen = []
    for bins in sorted(look.bins, reverse=True):
        matrix, limits = matrix_of(look, design, bins)
        truth = np.bincount(values * bins // POINTS, minlength=bins) / look.people
        counts = np.bincount(np.searchsorted(limits, reports, side="right"), minlength=matrix.reports)
        inside = np.bincount(np.clip(reports, 0, POINTS - 1) * bins // POINTS, minlength=bins)
        estimates = {
            RAW: inside / look.people,
            EVEN: np.full(bins, 1 / bins),
            **_reconstructions(counts, matrix, number),
        }
        if bins == FINEST:
            fine = estimates[HELD_OUT]
        elif fine is not None and FINEST % bins == 0:
            estimates[SUMMED] = fine.reshape(bins, -1).sum(axis=1)
        chosen += [(f"{design}|{bins}|{name}", shares, truth) for name, shares in estimates.items()]
        if INVERSION in estimates:
            expected = matrix.solve(_expected(look, design, bins))
            chosen.append((f"{design}|{bins}|{RANDOM_PART}", estimates[INVERSION], expected))
    return chosen


def _reconstructions(counts: Integers, matrix: Transition, seed: int) -> dict[str, Numbers]:
    """Shares by each estimate; without inversion where the matrix has no inverse."""
    people = int(counts.sum())
    held_out = iterative_bayes(counts, [matrix], hold_out=HELD_OUT_SHARE, most_iterations=MAX_STEPS, seed=seed)
    found = {
        BAYES: iterative_bayes(counts, [matrix]).constrained / people,
        HELD_OUT: held_out.constrained / people,
        LIMIT: maximum_likelihood(counts, [matrix]).constrained / people,
    }
    with suppress(GuaranteeError):
        found[INVERSION] = matrix.solve(counts / people)
    return found


@lru_cache(maxsize=64)
def matrix_of(look: Look, design: str, bins: int) -> tuple[RealTransition, Integers]:
    """From bins to bins of reports, values spread evenly inside bins; and where the bins of reports are divided.

    Beyond the range there is one bin on each side for Laplace noise, where finer ones would tell nothing more; for normal noise
    bins as wide as the others up to two scales, and one for what is further.
    """
    width = POINTS // bins
    limits = np.arange(width, POINTS, width)
    if design == "bounded":
        return grouped(look.noise.transition(), np.arange(0, POINTS, width)), limits
    if design == "beyond":
        more = 1 if look.base == "laplace" else int(np.ceil(2 * float(look.noise.scale) / width)) + 1
        limits = np.arange(-(more - 1) * width, POINTS + more * width, width)
    return RealTransition(_by_limits(look, limits).reshape(bins, width, -1).mean(axis=1)), limits


def _by_limits(look: Look, limits: Integers) -> Numbers:
    """For each number, the probability of a report of noise without bounds between two limits."""
    scale = float(look.noise.scale)
    reach = POINTS + int(40 * scale if look.base == "laplace" else 10 * scale) + int(abs(limits).max())
    weights = np.exp(_log_density(look.base, np.arange(-reach, reach + 1).astype(np.float64), scale))
    upto = np.concatenate(([0.0], np.cumsum(weights) / weights.sum()))  # below -reach, -reach + 1, ...
    below = upto[limits[None, :] - np.arange(POINTS)[:, None] + reach]
    return np.asarray(np.diff(below, axis=1, prepend=0.0, append=1.0))


def _expected(look: Look, design: str, bins: int) -> Numbers:
    """The shares of reports in each bin, on average, for these people."""
    shares = np.bincount(numbers_of(look.people), minlength=POINTS) / look.people
    if design == "bounded":
        return np.asarray(look.noise.transition().forward(shares).reshape(bins, -1).sum(axis=1))
    return np.asarray(shares @ _by_limits(look, matrix_of(look, design, bins)[1]))


def least_errors(settings: Settings) -> dict[str, float]:
    """The least error that an estimate can have which is right on average, by base, design, k and bins: no chance in it.

    For values spread evenly inside bins the information of one report is J = A diag(1/q) A^T, q the shares of reports; estimates
    for fixed people have at least the covariance (J^-1 - diag(truth)) / people, which inversion reaches where A is square.
    """
    found = {}
    truths = {bins: np.bincount(numbers_of(K_PEOPLE) * bins // POINTS, minlength=bins) / K_PEOPLE for bins in BINS}
    for look in looks(settings):
        if look.people != K_PEOPLE or not look.k:
            continue
        for design in ("bounded",) if look.is_bounded else ("beyond", "clipped"):
            for bins in (BINS[0], COMPARED_BINS):
                matrix = matrix_of(look, design, bins)[0].probabilities()
                if np.linalg.cond(matrix) < WORST_CONDITION:
                    information = (matrix / (truths[bins] @ matrix)) @ matrix.T
                    spread = (np.trace(np.linalg.inv(information)) - 1) / bins / K_PEOPLE
                    found[f"{look.base}|{design}|{look.k}|{bins}"] = float(np.sqrt(spread))
    return found


def _error(shares: Numbers, truth: Numbers) -> list[float]:
    apart = np.abs(shares - truth)
    return [float((apart**2).mean()), float(apart.sum()) / 2]


def example(settings: Settings) -> dict[str, list[float]]:
    """True, reported and reconstructed shares of one run of either bounded noise."""
    found = {}
    for base in BASES:
        look = Look(base, True, K_PEOPLE, SAME_K, (COMPARED_BINS,))
        reports = look.noise.randomize(numbers_of(look.people), ResearchEntropy(settings.seed))
        for key, shares, truth in _estimates(look, "bounded", reports, 0):
            found[f"{base}|{key.split('|')[2]}"] = shares.tolist()
            found.setdefault("truth", truth.tolist())
    return found


# A category and a number.


def adult_source(settings: Settings) -> str:
    """What tells the people of the tables from others: a hash of Adult's files, or that they are invented."""
    folder = None if settings.data is None else Path(settings.data) / "adult"
    if folder is None or not all((folder / name).is_file() for name in ADULT_FILES):
        return INVENTED
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in ADULT_FILES)).hexdigest()[:16]


@lru_cache(maxsize=2)
def people_of(data: str | None, source: str) -> dict[str, Integers]:
    """Places of everybody's age, education and income."""
    if source == INVENTED:
        return _invented_people()
    lines = [line for name in ADULT_FILES for line in (Path(str(data)) / "adult" / name).read_text().splitlines()]
    fields = [[field.strip() for field in line.split(",")] for line in lines if line.count(",") == 14]
    educations, incomes = ({label: i for i, label in enumerate(labels)} for labels in (EDUCATIONS, INCOMES))
    return {
        "age": AGES.places([int(row[0]) for row in fields]),
        "education": np.array([educations[row[3]] for row in fields]),
        "income": np.array([incomes[row[14].rstrip(".")] for row in fields]),
    }


def _invented_people() -> dict[str, Integers]:
    """As many as Adult has: ages with a long tail, educations that differ by age, incomes by both."""
    chance = np.random.default_rng(1994)
    ages = np.clip(np.rint(17 + chance.gamma(2.6, 8.5, INVENTED_PEOPLE)), 17, 90).astype(np.int64)
    level = np.rint(chance.normal(9.5 - 0.001 * (ages - 42.0) ** 2, 2.6, INVENTED_PEOPLE))
    education = np.clip(level, 0, len(EDUCATIONS) - 1).astype(np.int64)
    odds = 1 / (1 + np.exp(3.2 - 0.45 * (education - 8) - 0.03 * (ages - 38) + 0.002 * (ages - 48) ** 2))
    income = (chance.random(INVENTED_PEOPLE) < odds).astype(np.int64)
    return {"age": AGES.places(ages), "education": education, "income": income}


def table_errors(
    settings: Settings, source: str, attribute: str, k: int, base: Base, first: int, last: int
) -> dict[str, list[list[float]]]:
    """By estimate: mean squared error of the shares of the cells and total variation, for each repeat."""
    people = people_of(settings.data, source)
    category, ages = people[attribute], people["age"]
    labels = EDUCATIONS if attribute == "education" else INCOMES
    plan = noise_for_k(ages.size, k, {attribute: labels, "age": NumberAttribute(AGES, base)})
    exact, yearly = (plan.randomizers[name].transition() for name in (attribute, "age"))
    starts = np.array(AGE_STARTS) - AGE_STARTS[0]
    by_bins = grouped(yearly, starts)
    truth = np.add.reduceat(_crossed(category, ages, len(labels)), starts, axis=1) / ages.size
    found: dict[str, list[list[float]]] = {}
    for number in range(first, last):
        entropy = ResearchEntropy(settings.seed + number)
        told = _crossed(exact.draw(category, entropy), yearly.draw(ages, entropy), len(labels))
        counts = np.add.reduceat(told, starts, axis=1)
        held_out = {"hold_out": HELD_OUT_SHARE, "most_iterations": MAX_STEPS, "seed": number}
        both: list[Transition] = [exact, by_bins]
        by_years = iterative_bayes(told, [exact, yearly], **held_out).constrained  # type: ignore[arg-type]
        estimates = {
            RAW: counts,
            EVEN: np.full(counts.shape, ages.size / counts.size),
            BAYES: iterative_bayes(counts, both).constrained,
            HELD_OUT: iterative_bayes(counts, both, **held_out).constrained,  # type: ignore[arg-type]
            LIMIT: maximum_likelihood(counts, both).constrained,
            SUMMED: np.add.reduceat(by_years, starts, axis=1),
        }
        with suppress(GuaranteeError):
            estimates[INVERSION] = Kronecker(both).solve(counts.astype(np.float64))
        for name, cells in estimates.items():
            found.setdefault(name, []).append(_error(cells / ages.size, truth))
    return found


def _crossed(category: Integers, ages: Integers, labels: int) -> Integers:
    return np.bincount(category * AGES.size + ages, minlength=labels * AGES.size).reshape(labels, AGES.size)


# What came out.


@dataclass(frozen=True)
class Errors:
    """The errors of all settings.

    Attributes:
        one: by (base, design, people, k, bins, estimate): a row of squared error and total variation for each repeat.
        tables: by (attribute, k, base, estimate).
    """

    one: Mapping[tuple[str, str, int, int, int, str], Numbers]
    tables: Mapping[tuple[str, int, str, str], Numbers]

    @classmethod
    def collect(cls, settings: Settings, results: Mapping[str, Any]) -> Errors:
        """From the results of the steps."""
        one: dict[tuple[str, str, int, int, int, str], list[Any]] = {}
        both: dict[tuple[str, int, str, str], list[Any]] = {}
        for step in steps(settings):
            if step.work is estimation_errors:
                base, _, people, k = step.arguments[:4]
                for key, rows in results[step.name].items():
                    design, bins, name = key.split("|")
                    one.setdefault((base, design, people, k, int(bins), name), []).extend(rows)
            elif step.work is table_errors:
                _, attribute, k, base = step.arguments[:4]
                for name, rows in results[step.name].items():
                    both.setdefault((attribute, k, base, name), []).extend(rows)
        return cls({key: np.array(x) for key, x in one.items()}, {key: np.array(x) for key, x in both.items()})

    def rmse(self, base: str, design: str, people: int, k: int, bins: int, estimate: str) -> float | None:
        """Root mean squared error of the shares, over all bins and repeats; None where there is no such estimate."""
        rows = self.one.get((base, design, people, k, bins, estimate))
        return None if rows is None else float(np.sqrt(rows[:, 0].mean()))

    def table_rmse(self, attribute: str, k: int, base: str, estimate: str) -> float | None:
        """The same for a table's cells."""
        rows = self.tables.get((attribute, k, base, estimate))
        return None if rows is None else float(np.sqrt(rows[:, 0].mean()))


def _arguments(look: Look) -> tuple[Any, ...]:
    return look.base, look.is_bounded, look.people, look.k, list(look.bins)


def _samplers() -> list[tuple[Base, str]]:
    return [(base, method) for base in BASES for method in ("inverse", "rejection")]


def _name(look: Look, block: tuple[int, int]) -> str:
    bounds, noise = "bounded" if look.is_bounded else "unbounded", f"k {look.k}" if look.k else f"epsilon {EPSILON}"
    return f"{bounds} {look.base}, {look.people} people, {noise}, repeats {block[0]}-{block[1] - 1}"


def _table_name(table: tuple[str, int, str], block: tuple[int, int]) -> str:
    return f"{table[0]} x age, k {table[1]}, {table[2]}, repeats {block[0]}-{block[1] - 1}"
