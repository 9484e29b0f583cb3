"""The comparison itself: every method with every setting, on the same halves of the same people, under the same attacks.

Each run draws a half of the people as the data, protects it, and is judged by what is known about everybody. The seed, the
method, its setting and the number of the run decide all randomness: a comparison can be repeated, and adding a method changes
nothing about the others.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.comparison.disclosing import guess_sensitive, single_out
from sudare.comparison.membership import (
    OWN_HALVES,
    find_evidence,
    largest_area,
    largest_share_found,
    learn_weights,
    recognize,
)
from sudare.comparison.utility import SIZES, measure_usefulness
from sudare.errors import InputError
from sudare.noise.entropy import ResearchEntropy
from sudare.parameters import exact_integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.comparison.methods import Method
    from sudare.comparison.people import Population, Sample
    from sudare.comparison.views import View
    from sudare.noise.entropy import EntropySource

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["MEASURES", "RARE", "Chosen", "Comparison", "MeasuredValue", "Result", "compare"]

RARE = 3
"""Anyone who shares all columns with so few people of the population, themselves among them, is rare."""

MIN_RARE = 20
HALF = Fraction(1, 2)
MAX_REPEATS = 1000

MEASURES = (
    *(f"misplaced_{size}" for size in SIZES),
    *(f"absolute_{size}" for size in SIZES),
    "unanswered",
    "found",
    "area",
    "found_everybody",
    "area_everybody",
    "guess_right",
    "guess_gain",
    "certain",
    "certain_gain",
    "alone_found",
    "alone_right",
)
"""What is measured of each method and setting, by name; told in ``axes.md`` beside this file."""

Tell = Callable[[str, float | None], None]


@dataclass(frozen=True)
class MeasuredValue:
    """A mean over runs.

    Attributes:
        value: not a number where there is nothing to measure.
        error: its standard error; not a number after one run.
    """

    value: float
    error: float

    @classmethod
    def of(cls, values: Sequence[float]) -> MeasuredValue:
        """The mean of numbers, without those that are none."""
        known = [value for value in values if not math.isnan(value)]
        if not known:
            return cls(math.nan, math.nan)
        error = float(np.std(known, ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan
        return cls(float(np.mean(known)), error)


@dataclass(frozen=True)
class Chosen:
    """A method with the settings that are tried, and how often."""

    method: Method
    settings: tuple[Fraction, ...]
    repeats: int


@dataclass(frozen=True, eq=False)
class Result:
    """What came out for one setting of one method.

    Attributes:
        method: which.
        setting: of its dial.
        repeats: how many runs.
        measures: by their names, all of MEASURES.
        most_found: the most that the method's epsilon allows ``found`` to be; None for other methods.
        most_area: likewise for ``area``.
    """

    method: Method
    setting: Fraction
    repeats: int
    measures: Mapping[str, MeasuredValue]
    most_found: float | None
    most_area: float | None


@dataclass(frozen=True, eq=False)
class Comparison(ShownRows):
    """All results, in the order of the methods.

    Attributes:
        population: everybody.
        seed: of all randomness.
        results: of each method and setting.
    """

    population: Population
    seed: int
    results: tuple[Result, ...]

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each method and setting, with every measure and its error."""
        columns: dict[str, object] = {
            "method": [each.method.name for each in self.results],
            "setting": [float(each.setting) for each in self.results],
            "repeats": [each.repeats for each in self.results],
        }
        for name in self.results[0].measures if self.results else ():
            columns[name] = [each.measures[name].value for each in self.results]
            columns[f"{name}_error"] = [each.measures[name].error for each in self.results]
        return columns

    @property
    def rare(self) -> int:
        """How many people of the population are rare."""
        table = self.population.table
        return int(table[table <= RARE].sum())


def compare(
    population: Population, chosen: Sequence[Chosen], *, seed: int = 1, tell: Tell = lambda stage, share: None
) -> Comparison:
    """Protect halves of a population in several ways, attack each, and measure what is lost and what is found.

    The truth is used, so the result is for research, or for the holder of the data. Nothing is spent.

    Args:
        population: everybody.
        chosen: methods and settings.
        seed: of all randomness.
        tell: called with the method at work and the share of all runs that is done.

    Raises:
        InputError: if hardly anybody is rare, so that there is nothing to protect; or a method cannot protect these people.

    Example:
        >>> from sudare.comparison.invented import invent_town
        >>> from sudare.comparison.methods import METHODS
        >>> one = compare(invent_town(600), [Chosen(METHODS["flat"], (Fraction(1),), 2)], seed=7)
        >>> len(one.results), one.results[0].measures["unanswered"].value
        (1, 0.0)
    """
    number = exact_integer(
        seed, "seed", "compare", Words("a whole number from 0 on", "0 以上の整数"), smallest=0, largest=2**62
    )
    for choice in chosen:
        requirement = Words(f"a whole number from 2 to {MAX_REPEATS}", f"2 以上 {MAX_REPEATS} 以下の整数")
        exact_integer(choice.repeats, "repeats", "compare", requirement, smallest=2, largest=MAX_REPEATS)
    made = Comparison(population, number, ())
    if made.rare < MIN_RARE:
        raise InputError(
            f"Hardly anybody in this table is rare (at most {RARE} people alike), so no method has anything to protect. "
            "Name more columns, or finer levels.",
            f"この表には珍しい人（同じ組合せが {RARE} 人以下）がほとんどおらず、保護の比較になりません。"
            "列を増やすか、細かい段階を指定してください。",
        )
    halves = _Halves(population, number)
    runs = sum(len(choice.settings) * choice.repeats for choice in chosen)
    done = 0
    results = []
    for choice in chosen:
        for setting in choice.settings:
            views = []
            for repeat in range(choice.repeats):
                tell(choice.method.name, done / runs)
                source = ResearchEntropy(_seed(number, choice.method.name, setting, repeat))
                views.append(_protected(choice.method, halves[repeat], setting, source))
                done += 1
            results.append(_judged(choice.method, setting, views, halves))
            tell(choice.method.name, done / runs)
    return Comparison(population, number, tuple(results))


def _protected(method: Method, sample: Sample, setting: Fraction, entropy: EntropySource) -> View:
    try:
        return method.protect(sample, setting, entropy)
    except InputError as error:
        title, told = method.title, method.told(setting)
        raise InputError(
            f"These people cannot be protected by {title.english} ({told.english}). {error.english} Leave this method or "
            "setting out of the plan, or name fewer columns or coarser levels.",
            f"この人々は{title.japanese}（{told.japanese}）では保護できません。{error.japanese}"
            "計画からこの方法か設定を除くか、列を減らすか、粗い段階を指定してください。",
        ) from None


class _Halves:
    """The data of each run, the same for all methods."""

    def __init__(self, population: Population, seed: int) -> None:
        self.population, self._seed = population, seed
        self._drawn: list[Sample] = []

    def __getitem__(self, repeat: int) -> Sample:
        while len(self._drawn) <= repeat:
            source = ResearchEntropy(_seed(self._seed, "half", len(self._drawn)))
            self._drawn.append(self.population.draw(HALF, source))
        return self._drawn[repeat]


def _seed(*parts: object) -> int:
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest())


def _judged(method: Method, setting: Fraction, views: Sequence[View], halves: _Halves) -> Result:
    register = halves.population.table
    truths = [halves[repeat].table for repeat in range(len(views))]
    values: dict[str, list[float]] = {name: [] for name in MEASURES}
    for view, truth in zip(views, truths, strict=True):
        useful = measure_usefulness(view, truth)
        for place, size in enumerate(SIZES):
            values[f"misplaced_{size}"].append(useful.misplaced[place])
            values[f"absolute_{size}"].append(useful.absolute[place])
        values["unanswered"].append(useful.unanswered)
        guess = guess_sensitive(view, truth, register)
        values["guess_right"].append(guess.right)
        values["guess_gain"].append(guess.gain)
        values["certain"].append(guess.certain)
        values["certain_gain"].append(guess.certain_gain)
        alone = single_out(view, truth)
        values["alone_found"].append(alone.found)
        values["alone_right"].append(alone.right)
    measures = {name: MeasuredValue.of(found) for name, found in values.items()}
    listed = register[register > 0]
    evidence = [find_evidence(view, register) for view in views]
    present = [truth[register > 0] for truth in truths]
    for suffix, where in (("", listed <= RARE), ("_everybody", listed > 0)):
        own = [one[where] for one in evidence], [one[where] for one in present], listed[where]
        measures |= _recognized(suffix, *own)
    epsilon, delta = views[0].epsilon, views[0].delta
    return Result(
        method,
        setting,
        len(views),
        measures,
        None if epsilon is None else largest_share_found(epsilon, delta),
        None if epsilon is None else largest_area(epsilon, delta),
    )


def _recognized(
    suffix: str, evidence: Sequence[Floats], truths: Sequence[Integers], register: Integers
) -> dict[str, MeasuredValue]:
    """All runs judged together, so that few false alarms are still many; standard errors by leaving out one run at a time."""
    runs = len(evidence)
    scores = []
    for run in range(runs):
        # The halves that the attacker drew themselves are those of other runs.
        own = [(run + step) % runs for step in range(1, min(OWN_HALVES, runs - 1) + 1)]
        weights = learn_weights([evidence[one] for one in own], [truths[one] for one in own], register)
        scores.append(np.round(evidence[run] @ weights, 9))

    def judge(kept: Sequence[int]) -> tuple[float, float]:
        joined = np.concatenate([scores[run] for run in kept])
        found = recognize(joined, np.concatenate([truths[run] for run in kept]), np.tile(register, len(kept)))
        return found.found, found.area

    whole = judge(range(runs))
    parts = np.array([judge([run for run in range(runs) if run != left]) for left in range(runs)])
    errors = np.sqrt((runs - 1) / runs * ((parts - parts.mean(axis=0)) ** 2).sum(axis=0))
    return {
        f"found{suffix}": MeasuredValue(whole[0], float(errors[0])),
        f"area{suffix}": MeasuredValue(whole[1], float(errors[1])),
    }
