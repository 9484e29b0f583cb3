"""RAPPOR: a text becomes bits of a Bloom filter, and the bits are randomized twice.

The permanent response replaces each bit with probability f by a fair coin, once for ever; the instantaneous response tosses each
permanent bit again for every report, and shows 1 with probability q or p. Who averages many reports of a person learns the
permanent response and nothing beyond it: `PermanentMemory` keeps it. `sudare.collect.rappor.rappor_decode` reads the reports.

Proof: ``rappor.md`` beside this file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.batches import ReportBatch
from sudare.collect.randomizers.questions import read_number
from sudare.collect.randomizers.randomizer import Randomizer
from sudare.collect.rappor.bloom import MAX_BITS, MAX_COHORTS, MAX_HASHES, RULES, HashRule
from sudare.collect.rappor.filters import pack_filters, read_texts
from sudare.collect.transitions.transition import MAX_TOTAL, DenseTransition
from sudare.distributions import normal_quantile
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.noise.uniform import uniform_below
from sudare.parameters import Rational, exact_fraction, exact_integer, shown
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import ResponseMeasurement, log_rounded_up
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.sections import Section

    Integers = NDArray[np.int64]
    Lanes = NDArray[np.uint64]

__all__ = ["Rappor"]

LANE = 64
BUFFER_WORDS = 1 << 16
MAX_WRITTEN_BITS = 12
"""Filters longer than this have too many reports for a matrix."""


@dataclass(frozen=True)
class Rappor(Randomizer):
    """Texts as randomized Bloom filters.

    Guarantee: local epsilon of one report, and of all reports of one value together (`permanent_epsilon`), both exactly; for any
        two texts.

    Proof: ``rappor.md``.

    Args:
        bits: length k of the filter, 2 ... 256 (or 4,096 by the rule of the Java client).
        hashes: how many bits h a text sets, at most 16 (8 by the Java rule), and at most `bits`.
        cohorts: how many groups m of people have hash functions of their own.
        f: with which probability the permanent response replaces a bit by a fair coin; from 0 to below 1.
        p: with which probability a permanent 0 is reported as 1.
        q: with which probability a permanent 1 is reported as 1; not p.
        rule: by which published client texts are hashed, ``"python"`` or ``"java"``.

    References:
        Erlingsson, Pihur, Korolova: RAPPOR: Randomized aggregatable privacy-preserving ordinal response (2014).

    Example:
        >>> from sudare.collect.rappor.rappor import Rappor
        >>> browsers = Rappor(bits=16, hashes=2, cohorts=4, f=0.5, p=0.5, q=0.75)
        >>> browsers.largest_ratio(), browsers.permanent_ratio()
        (Fraction(5929, 2025), Fraction(81, 1))
        >>> reports = browsers.randomize(["Firefox"] * 10_000)
        >>> bool(browsers.estimate(reports, ["Firefox", "Chrome"]).unbiased[0] > 7_000)
        True
    """

    kind: ClassVar[str] = "rappor"
    form: ClassVar[str] = "filter"
    words: ClassVar[Words] = Words(
        "The bits of the true text in a Bloom filter, every bit randomized twice.",
        "真のテキストをブルームフィルタのビットにし、各ビットを2度ランダム化します。",
    )
    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "rappor": ("bits", "hashes", "cohorts", "f", "p", "q", "hash_rule")
    }
    needs_candidates: ClassVar[bool] = True
    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction
    rule: HashRule

    def __init__(
        self, bits: int, hashes: int, cohorts: int, f: Rational, p: Rational, q: Rational, rule: HashRule = "python"
    ) -> None:
        check_arguments(Rappor.__init__, locals(), "rule")
        if rule not in RULES:
            raise ParameterError("rule", "Rappor", Words("'python' or 'java'", "'python' または 'java'"), shown(rule))
        most = MAX_BITS[rule]
        hint = "The rule 'java' allows 4,096." if rule == "python" else ""
        wanted = Words(f"a whole number from 2 to {most:,}", f"2 以上 {most:,} 以下の整数")
        length = exact_integer(bits, "bits", "Rappor", wanted, smallest=2, largest=most, hint=hint)
        most = min(MAX_HASHES[rule], length)
        count = exact_integer(
            hashes,
            "hashes",
            "Rappor",
            Words(f"a whole number from 1 to {most}", f"1 以上 {most} 以下の整数"),
            smallest=1,
            largest=most,
        )
        wanted = Words(f"a whole number from 1 to {MAX_COHORTS:,}", f"1 以上 {MAX_COHORTS:,} 以下の整数")
        groups = exact_integer(cohorts, "cohorts", "Rappor", wanted, smallest=1, largest=MAX_COHORTS)
        replaced = _probability(f, "f", "a probability from 0 to below 1")
        if replaced == 1:
            raise ParameterError(
                "f",
                "Rappor",
                Words("a probability from 0 to below 1", "0 以上 1 未満の確率"),
                f,
                "With 1 nothing is left.",
            )
        low, high = (_probability(x, name, "a probability from 0 to 1") for x, name in ((p, "p"), (q, "q")))
        if low == high:
            raise ParameterError(
                "q",
                "Rappor",
                Words(
                    "another probability than p, or reports say nothing",
                    "p と異なる確率（同じでは報告から何も分かりません）",
                ),
                shown(q),
            )
        for first, second in ((1 - replaced / 2, replaced / 2), (high, low)):
            if math.lcm(first.denominator, second.denominator) > MAX_TOTAL:
                raise ParameterError(
                    "f",
                    "Rappor",
                    Words(
                        "with p and q, fractions of denominators up to 2**62", "p、q とともに、分母が 2**62 以下の分数"
                    ),
                    shown(f),
                )
        fields = ("bits", "hashes", "cohorts", "f", "p", "q", "rule")
        for name, value in zip(fields, (length, count, groups, replaced, low, high, rule), strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Sizes, probabilities and rule."""
        rule: Any = section.choice("hash_rule", ("python", "java"), "python")
        bits, hashes, cohorts = (section.whole(key) for key in ("bits", "hashes", "cohorts"))
        f, p, q = (read_number(section, key) for key in ("f", "p", "q"))
        return cls(bits, hashes, cohorts, f, p, q, rule)

    # What follows from the probabilities.

    @property
    def reported_if_set(self) -> Fraction:
        """The probability q* that a bit of the filter that is 1 is reported as 1."""
        return (1 - self.f / 2) * self.q + self.f / 2 * self.p

    @property
    def reported_if_clear(self) -> Fraction:
        """The probability p* that a bit of the filter that is 0 is reported as 1."""
        return (1 - self.f / 2) * self.p + self.f / 2 * self.q

    def largest_ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two texts: (q*(1 - p*) / (p*(1 - q*)))^h if two filters can be apart."""
        return self._ratio(self.reported_if_set, self.reported_if_clear)

    def permanent_ratio(self) -> Fraction | None:
        """The same for the permanent response, and so for any number of reports: ((1 - f/2) / (f/2))^2h; None if f is 0."""
        return self._ratio(1 - self.f / 2, self.f / 2)

    def epsilon(self) -> Fraction:
        """What one report costs: exactly, but for a rounding upwards beyond 55 digits.

        Raises:
            GuaranteeError: if some report rules out some text.
        """
        return _logarithm(self.largest_ratio())

    def permanent_epsilon(self) -> Fraction:
        """What all reports of one value cost together, however many, if the permanent response is kept.

        Raises:
            GuaranteeError: if f is 0.
        """
        return _logarithm(self.permanent_ratio())

    def anonymity_rate(self) -> Fraction:
        """The rate of Pk-anonymity of one report."""
        high, low = sorted((self.reported_if_set, self.reported_if_clear), reverse=True)
        if low == 0 or high == 1:
            return Fraction(0)
        odds = low * (1 - high) / (high * (1 - low))
        return Fraction(odds ** min(2 * self.hashes, self.bits))

    def permanent_event(self, entropy: EntropySource | None = None) -> ReleaseEvent:
        """The record of all reports of one value that are made from one kept permanent response; `event` is that of one report.

        Raises:
            GuaranteeError: if f is 0.
        """
        source = read_entropy(entropy, "Rappor.permanent_event")
        ratio = self.permanent_ratio()
        if ratio is None:
            raise _no_epsilon()
        measurement = ResponseMeasurement(ratio)
        unit = Unit("person", adjacency="replace")
        return ReleaseEvent(self.kind, unit, Budget(epsilon=measurement.epsilon), (measurement,), entropy_name(source))

    def transition(self) -> DenseTransition:
        """The matrix of one report within a cohort: a row for each filter of 1 ... h bits, a column for each report.

        For short filters. Rows are ordered as `filters_in_rows` lists them; column i is the report whose bits are those of i.

        Raises:
            ParameterError: if there are more than 12 bits.
        """
        if self.bits > MAX_WRITTEN_BITS:
            requirement = f"at most {MAX_WRITTEN_BITS} for a matrix; largest_ratio() and epsilon() need none"
            raise ParameterError("bits", "Rappor.transition", requirement, self.bits)
        set_, clear = self.reported_if_set, self.reported_if_clear
        scale = math.lcm(set_.denominator, clear.denominator)
        # By the filter's bit (row) and the report's bit (column).
        weights = [[scale - int(clear * scale), int(clear * scale)], [scale - int(set_ * scale), int(set_ * scale)]]
        if scale**self.bits > MAX_TOTAL:
            raise ParameterError(
                "bits",
                "Rappor.transition",
                Words("fewer, or p, q and f rounder", "より少ない数（または p、q、f を切りのよい値に）"),
                self.bits,
            )
        rows = []
        for filled in self.filters_in_rows():
            row = np.ones(1, dtype=np.int64)
            for place in range(self.bits):
                row = np.concatenate([row * weights[filled >> place & 1][0], row * weights[filled >> place & 1][1]])
            rows.append(row)
        return DenseTransition.from_weights(np.array(rows))

    def filters_in_rows(self) -> tuple[int, ...]:
        """All filters of 1 ... h bits as whole numbers, in the order of the rows of `transition`."""
        return tuple(
            sum(1 << place for place in places)
            for size in range(1, self.hashes + 1)
            for places in combinations(range(self.bits), size)
        )

    def variance(self, people: int, share: float = 0.0) -> float:
        """Of the estimated number of people with one text whose h bits nobody else sets, spread over all cohorts alike.

        Args:
            people: how many report.
            share: of them, how many have the text.
        """
        set_, clear = float(self.reported_if_set), float(self.reported_if_clear)
        noise = share * set_ * (1 - set_) + (1 - share) * clear * (1 - clear)
        return people * noise / (self.hashes * (set_ - clear) ** 2)

    def detection_share(self, people: int, level: float = 0.05) -> float:
        """The share of people below which a bit does not stand out from noise, as the published analysis states it.

        Args:
            people: how many report.
            level: how often noise alone may stand out.
        """
        set_, clear = float(self.reported_if_set), float(self.reported_if_clear)
        return -normal_quantile(level) * math.sqrt(clear * (1 - clear) / people) / abs(set_ - clear)

    def parameters(self) -> dict[str, object]:
        """Sizes and probabilities."""
        probabilities = {name: str(getattr(self, name)) for name in ("f", "p", "q")}
        sizes = {"bits": self.bits, "hashes": self.hashes, "cohorts": self.cohorts}
        return {**sizes, **probabilities, "rule": self.rule}

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The randomizer that has these parameters."""
        f, p, q = (_read_probability(parameters[name]) for name in ("f", "p", "q"))
        return cls(parameters["bits"], parameters["hashes"], parameters["cohorts"], f, p, q, parameters["rule"])

    # Reports.

    @property
    def lanes(self) -> int:
        """How many 64-bit words hold a filter."""
        return -(-self.bits // LANE)

    @property
    def report_type(self) -> np.dtype[Any]:
        """The NumPy type of reports: a cohort, and the bits in bytes, the lowest first."""
        return np.dtype([("cohort", "<u4"), ("bits", "u1", (-(-self.bits // 8),))])

    def randomize(
        self, values: ArrayLike, entropy: EntropySource | None = None, *, cohorts: ArrayLike | None = None
    ) -> NDArray[Any]:
        """A report for each text, each from a permanent response of its own that is then forgotten: for people who report once.

        Who reports the same value again needs `PermanentMemory`, or an average of the reports shows the filter.

        Args:
            values: one text for each person.
            entropy: where the bits come from; the secure source by default.
            cohorts: the cohort of each person, from 0 on; drawn at random if left out.

        Returns:
            An array of `report_type`.

        Raises:
            ParameterError: if a value is no text, or a cohort does not exist.
        """
        source = read_entropy(entropy, "Rappor.randomize")
        codes, texts = read_texts(values, "values", "Rappor.randomize")
        groups = self.draw_cohorts(codes.size, source) if cohorts is None else self.read_cohorts(cohorts, codes.size)
        permanent = self.permanent_response(pack_filters(self, codes, texts, groups), source)
        return self.report(groups, permanent, source)

    def draw_cohorts(self, people: int, entropy: EntropySource | None = None) -> Integers:
        """A random cohort for each person."""
        return uniform_below(self.cohorts, people, entropy).astype(np.int64)

    def read_cohorts(self, cohorts: ArrayLike, people: int) -> Integers:
        """Cohorts that were given."""
        array = np.asarray(cohorts)
        requirement = f"{people:,} whole numbers from 0 to {self.cohorts - 1:,}"
        if array.shape != (people,) or (array.dtype.kind not in "iu" and array.size):
            raise ParameterError("cohorts", "Rappor", requirement, Described(f"{array.dtype} of shape {array.shape}"))
        if array.size and (array.min() < 0 or array.max() >= self.cohorts):
            raise ParameterError("cohorts", "Rappor", requirement, Described("a cohort outside"))
        return np.ascontiguousarray(array, dtype=np.int64)

    def permanent_response(self, filters: Lanes, entropy: EntropySource | None = None) -> Lanes:
        """Each bit replaced with probability f by a fair coin.

        To be drawn once for a person and a value, and kept: `PermanentMemory` does.
        """
        return self._toss(filters, 1 - self.f / 2, self.f / 2, read_entropy(entropy, "Rappor.permanent_response"))

    def report(self, cohorts: Integers, permanent: Lanes, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A fresh instantaneous response for each permanent one: what is sent."""
        noisy = self._toss(permanent, self.q, self.p, read_entropy(entropy, "Rappor.report"))
        reports = np.empty(cohorts.size, dtype=self.report_type)
        reports["cohort"] = cohorts
        as_bytes = noisy.astype("<u8", copy=False).view(np.uint8).reshape(cohorts.size, 8 * self.lanes)
        reports["bits"] = as_bytes[:, : reports.dtype["bits"].shape[0]]
        return reports

    def read_reports(
        self, reports: ArrayLike, parameter: str = "reports", function: str = "Rappor"
    ) -> tuple[Integers, Lanes]:
        """Cohorts and bits of reports.

        Raises:
            ParameterError: if they are of another randomizer: another length, cohorts or bits that do not exist.
        """
        array = np.asarray(reports)
        requirement = f"reports of {self.bits} bits and {self.cohorts:,} cohorts, in one dimension"
        if array.dtype != self.report_type or array.ndim != 1:
            raise ParameterError(parameter, function, requirement, Described("reports of another randomizer"))
        cohorts = array["cohort"].astype(np.int64)
        padded = np.zeros((array.size, 8 * self.lanes), dtype=np.uint8)
        padded[:, : array.dtype["bits"].shape[0]] = array["bits"]
        lanes = padded.view("<u8").astype(np.uint64, copy=False)
        if array.size and (int(cohorts.max()) >= self.cohorts or (lanes[:, -1] & ~self._last_mask).any()):
            raise ParameterError(parameter, function, requirement, Described("cohorts or bits that do not exist"))
        return cohorts, lanes

    def require_reports(self, reports: NDArray[Any], function: str) -> None:
        """By their cohorts and bits."""
        self.read_reports(reports, function=function)

    def estimate_batch(self, batch: ReportBatch, candidates: Sequence[str] = ()) -> Estimate:
        """How many people have each candidate text."""
        return self.estimate(batch.all_reports(), candidates)

    def estimate(self, reports: ArrayLike, candidates: Sequence[str] = ()) -> Estimate:
        """How many people have each candidate text, by least squares on all candidates: unbiased if everybody has one of them.

        `sudare.collect.rappor.rappor_decode.decode` chooses among many candidates, and allows for people with none of them.

        Args:
            reports: an array of `report_type`, one for each person.
            candidates: different texts.

        Raises:
            ParameterError: if reports are of another randomizer, or no candidates are given.
            GuaranteeError: if candidates cannot be told apart.
        """
        from sudare.collect.rappor.rappor_decode import estimate_all

        return estimate_all(self, reports, candidates)

    @property
    def _last_mask(self) -> np.uint64:
        return np.uint64((1 << (self.bits - LANE * (self.lanes - 1))) - 1)

    def _ratio(self, if_set: Fraction, if_clear: Fraction) -> Fraction | None:
        high, low = max(if_set, if_clear), min(if_set, if_clear)
        if low == 0 or high == 1:
            return None
        # Bits that only the first text sets, and bits that only the second sets, as many as two filters can have.
        more = min(self.hashes, self.bits - 1)
        fewer = min(self.hashes, self.bits - more)
        on, off = high / low, (1 - low) / (1 - high)
        return Fraction(max(on**more * off**fewer, on**fewer * off**more))

    def _toss(self, bits: Lanes, if_set: Fraction, if_clear: Fraction, source: EntropySource) -> Lanes:
        from sudare.kernels.collection.rappor import noisy_bits

        if if_set == 1 and if_clear == 0:
            return bits
        scale = math.lcm(if_set.denominator, if_clear.denominator)
        one, zero, whole = (np.uint64(int(x * scale)) for x in (if_set, if_clear, Fraction(1)))
        flat = np.ascontiguousarray(bits, dtype=np.uint64).reshape(-1)
        noisy = np.empty_like(flat)
        words, kept, done = np.empty(BUFFER_WORDS, dtype=np.uint64), 0, 0
        while done < flat.size:
            # A word of bits needs eight random words on average; a few bits are left to the next round.
            wanted = min(words.size, kept + 9 * (flat.size - done) + LANE)
            source.fill(words[kept:wanted])
            done, used = noisy_bits(flat, self.lanes, self._last_mask, one, zero, whole, words[:wanted], done, noisy)
            kept = wanted - used
            words[:kept] = words[used:wanted].copy()
            if kept == words.size:
                words = np.concatenate([words, np.empty_like(words)])
        return noisy.reshape(bits.shape)


def _probability(value: Rational, name: str, requirement: str) -> Fraction:
    number = exact_fraction(value, name, "Rappor", requirement)
    if not 0 <= number <= 1:
        raise ParameterError(name, "Rappor", requirement, value)
    return number


def _read_probability(text: object) -> Fraction:
    """A fraction as `parameters` writes it."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,40}(/[1-9][0-9]{0,40})?", text):
        raise ParameterError("f", "Rappor", Words("a fraction such as '1/4'", "'1/4' のような分数"), shown(text))
    return Fraction(text)


def _logarithm(ratio: Fraction | None) -> Fraction:
    if ratio is None:
        raise _no_epsilon()
    return log_rounded_up(ratio)


def _no_epsilon() -> GuaranteeError:
    return GuaranteeError(
        Words(
            "Some reports cannot come from every value, so no epsilon holds.",
            "特定の値からしか生じない報告があるため、どの epsilon も成り立ちません。",
        )
    )
