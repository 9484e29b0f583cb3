"""What every randomizer offers: reports in place of values, and from the transition all that follows.

A randomizer is used twice: by each person, who sends `randomize(value)` and nothing else, and by the collector, who turns reports
into an `Estimate`. Both must mean the same thing by a report, so a randomizer has a fingerprint, and reports that are kept or
sent carry it.

A method is one class: how values are drawn, what a report costs, how reports are laid out, added up and estimated from, how a
questionnaire names it and writes its keys, how a device draws, and the words for people. The classes are listed in
`sudare.collect.randomizers.registry`; code that uses a randomizer asks the object, and never which class it is.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from sudare.bilingual import Words
from sudare.collect.estimation.estimates import Estimate
from sudare.collect.randomizers.batches import ReportBatch
from sudare.collect.transitions.transition import Transition
from sudare.errors import Described, GuaranteeError, ParameterError
from sudare.noise.entropy import EntropySource, entropy_name
from sudare.noise.sampler import read_entropy
from sudare.parameters import describe_array
from sudare.privacy.budget import Budget
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import ResponseMeasurement
from sudare.privacy.unit import Unit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sudare.collect.estimation.crosstab import CrossTab
    from sudare.collect.estimation.pk import NumberAttribute
    from sudare.collect.randomizers.means import MeanEstimate
    from sudare.collect.transitions.grids import Grid
    from sudare.sections import Section

__all__ = ["FORMAT_VERSION", "AnswerType", "Randomizer", "are_places", "not_a_label", "read_places"]

FORMAT_VERSION = 1

AnswerType = Literal["text", "truth", "whole", "number"]
"""What answers are: texts, truth values, whole numbers that are labels, or numbers of a grid."""


class Randomizer(ABC):
    """How a person's value becomes a report.

    Subclasses are immutable, and are equal if their fields are.
    """

    kind: ClassVar[str]
    """The name of the method in specifications, such as ``"kary-response"``."""

    form: ClassVar[str] = "value"
    """How reports are laid out in arrays and files; see `sudare.collect.questionnaires.report_forms`."""

    words: ClassVar[Words]
    """What becomes of an answer, in one sentence for people."""

    question_keys: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """For each name that a questionnaire may give to the method, the keys of its questions."""

    reports_are_values: ClassVar[bool] = False
    """Whether reports are values of the same question, so that tables of several questions can be reconstructed."""

    has_mean: ClassVar[bool] = False
    """Whether values are numbers whose mean can be estimated."""

    needs_candidates: ClassVar[bool] = False
    """Whether the values to look for must be named before anything can be estimated."""

    @abstractmethod
    def randomize(self, values: ArrayLike, entropy: EntropySource | None = None) -> NDArray[Any]:
        """A report for each value. Randomizing the same value again gives away more: see `memory`."""

    @abstractmethod
    def transition(self) -> Transition:
        """With which probability each value becomes each report."""

    @abstractmethod
    def estimate(self, reports: ArrayLike) -> Estimate:
        """How many people have each value."""

    @abstractmethod
    def variance(self, people: int, share: float = 0.0) -> float:
        """Of the estimated number of people with one value, if a share of all people have it."""

    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """What it was made from, as plain values for JSON: fractions as text."""

    # What values are.

    def value_labels(self) -> tuple[object, ...] | None:
        """The values, where they have names; else None."""
        return None

    def value_grid(self) -> Grid | None:
        """The numbers that values may be, where they are numbers; else None."""
        return None

    def answer_type(self) -> AnswerType:
        """As what answers from a file are read."""
        labels = self.value_labels()
        if labels is None:
            return "text" if self.value_grid() is None else "number"
        by_type: dict[type, AnswerType] = {str: "text", bool: "truth"}
        return by_type.get(type(labels[0]), "whole")

    def points_of(self, values: ArrayLike) -> NDArray[Any]:
        """What values mean: for a number the place of its point of the grid, so that 17 and 17.2 are one answer."""
        grid = self.value_grid()
        return np.asarray(values) if grid is None else grid.places(values)

    def attribute_for_k(self) -> NumberAttribute | tuple[object, ...] | None:
        """What `sudare.collect.estimation.pk.noise_for_k` plans for such values; None if it has nothing for them."""
        from sudare.collect.estimation.pk import NumberAttribute

        grid = self.value_grid()
        return self.value_labels() if grid is None else NumberAttribute(grid)

    # How reports are added up.

    @property
    def has_whole_reports(self) -> bool:
        """Of reports that are numbers: whether all are whole."""
        return False

    def report_places(self, reports: ArrayLike, function: str) -> NDArray[np.int64]:
        """Which column of the transition each report belongs to.

        Raises:
            ParameterError: if a report is not one of this randomizer.
            GuaranteeError: if reports are not told apart by places.
        """
        labels = self.value_labels()
        if labels is None or not self.reports_are_values:
            raise GuaranteeError(
                Words(
                    f"{type(self).__name__} does not tell reports apart by places.",
                    f"{type(self).__name__} は報告を位置で区別しません。",
                )
            )
        return read_places(reports, labels, "reports", function)

    def require_reports(self, reports: NDArray[Any], function: str) -> None:
        """See that every one is a report: a single odd one, once taken, would spoil all others.

        Raises:
            ParameterError: if one is not.
        """
        self.estimate(reports)

    def batch(self, reports: ArrayLike, function: str = "Randomizer.batch") -> ReportBatch:
        """What is kept of reports until all are in.

        Raises:
            ParameterError: if one of them is not such as the randomizer gives.
        """
        array = np.asarray(reports)
        if array.ndim != 1:
            raise ParameterError("reports", function, "one for each person, in one dimension", describe_array(array))
        self.require_reports(array, function)
        return ReportBatch(len(array), reports=(array,))

    def estimate_batch(self, batch: ReportBatch, candidates: Sequence[str] = ()) -> Estimate:
        """How many people have each value, from what was kept.

        Args:
            batch: of this randomizer.
            candidates: the values to look for, where they must be named.
        """
        return self.estimate(batch.all_reports())

    def estimate_mean(self, reports: ArrayLike) -> MeanEstimate:
        """The mean of all people's numbers.

        Raises:
            ParameterError: if values are no numbers.
        """
        got = Described(f"one of {self.kind}")
        raise ParameterError(
            "randomizer",
            f"{type(self).__name__}.estimate_mean",
            Words("a randomizer of numbers", "数値のランダム化器"),
            got,
        )

    def fit(self, reports: ArrayLike, tolerance: float = 1e-5) -> CrossTab:
        """The distribution of the numbers that explains the reports best; needs no inverse.

        Raises:
            GuaranteeError: if values are no numbers of a grid with noise.
        """
        raise GuaranteeError(
            Words(
                f"{type(self).__name__} has no numbers to fit.",
                f"{type(self).__name__} には当てはめる数値がありません。",
            )
        )

    # What a report costs.

    def largest_ratio(self) -> Fraction | None:
        """Of the probabilities of one report for two values; None if some report rules a value out."""
        return self.transition().largest_ratio()

    def epsilon(self) -> Fraction:
        """What one report costs the person who gives it: exactly, but for a rounding upwards beyond 55 digits."""
        return self.transition().epsilon()

    def anonymity_rate(self) -> Fraction:
        """The rate of Pk-anonymity that an attribute randomized like this has."""
        return self.transition().anonymity_rate()

    def event(self, entropy: EntropySource | None = None) -> ReleaseEvent:
        """The record of one report, for an accountant of what a person has given away.

        Raises:
            GuaranteeError: if no epsilon holds.
        """
        source = read_entropy(entropy, "Randomizer.event")
        ratio = self.largest_ratio()
        if ratio is None or ratio == 1:
            raise GuaranteeError(
                Words(
                    "Only a report with a finite epsilon above 0 has a cost that can be recorded.",
                    "費用を記録できるのは、epsilon が 0 より大きく有限の報告だけです。",
                )
            )
        measurement = ResponseMeasurement(ratio)
        unit = Unit("person", adjacency="replace")
        return ReleaseEvent(self.kind, unit, Budget(epsilon=measurement.epsilon), (measurement,), entropy_name(source))

    # How it is written down.

    @classmethod
    @abstractmethod
    def from_question(cls, method: str, section: Section) -> Randomizer:
        """Make it from a question of a questionnaire.

        Args:
            method: by which of its names the question calls it; a key of `question_keys`.
            section: the question, from which the keys are taken; `sudare.collect.randomizers.questions` has readers.

        Raises:
            ParameterError: if the values under the keys describe none.
        """

    @classmethod
    @abstractmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """Make it again from what `parameters` wrote.

        Raises:
            ParameterError: if they do not describe one.
        """

    def drawing(self) -> dict[str, object]:
        """All that a person's device needs to draw a report by itself, in whole numbers; see `sudare.collect.device.client`.

        Raises:
            GuaranteeError: if devices have no rule for it.
        """
        raise GuaranteeError(
            Words(
                f"{type(self).__name__} has no rule by which a device could draw a report by itself.",
                f"{type(self).__name__} には、端末だけで報告を引くための規則がありません。",
            )
        )

    def to_dict(self) -> dict[str, object]:
        """The specification: version, kind and parameters."""
        return {"version": FORMAT_VERSION, "kind": self.kind, **self.parameters()}

    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that tell this randomizer from others, by parameters and by the numbers it draws with."""
        told = self.to_dict()
        with suppress(GuaranteeError):
            told["drawing"] = self.drawing()
        text = json.dumps(told, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_places(values: ArrayLike, labels: tuple[object, ...], parameter: str, function: str) -> NDArray[np.int64]:
    """Where each value stands among the labels.

    Raises:
        ParameterError: if a value is not one of them. The message does not name the value.
    """
    array = _plain_array(values)
    if array.size == 0:
        return np.zeros(array.shape, dtype=np.int64)
    known = np.asarray(labels)
    if array.dtype.kind == known.dtype.kind:
        if are_places(known):
            if array.min() >= 0 and array.max() < known.size:
                return array.astype(np.int64, copy=False)
        else:
            order = np.argsort(known, kind="stable")
            found = np.minimum(np.searchsorted(known[order], array), known.size - 1)
            if bool((known[order][found] == array).all()):
                return np.asarray(order[found], dtype=np.int64)
    raise not_a_label(parameter, function, labels)


def not_a_label(parameter: str, function: str, labels: tuple[object, ...]) -> ParameterError:
    """The error for a value that is not one of the labels; it does not name the value."""
    if len(labels) <= 8:
        requirement = Words(
            f"one of {', '.join(repr(label) for label in labels)}",
            f"{', '.join(repr(label) for label in labels)} のいずれか",
        )
    else:
        requirement = Words(
            f"one of the {len(labels):,} values of the question", f"質問の {len(labels):,} 個の値のいずれか"
        )
    return ParameterError(parameter, function, requirement, Described("something else"))


def are_places(known: NDArray[Any]) -> bool:
    """Whether labels are the numbers from 0 on, so that each is its own place."""
    return bool(known.dtype.kind == "i" and known[0] == 0 and (np.diff(known) == 1).all())


def _plain_array(values: ArrayLike) -> NDArray[Any]:
    """Texts that come as objects become texts, and whole numbers of any size become int64 where they fit."""
    array = np.asarray(values)
    if array.dtype.kind in "OT" and all(isinstance(value, str) for value in array.flat):
        return np.array(array.tolist(), dtype=np.str_).reshape(array.shape)
    if array.dtype.kind == "u" and (array.size == 0 or array.max() <= np.iinfo(np.int64).max):
        return array.astype(np.int64)
    return array
