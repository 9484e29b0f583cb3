"""Averaging: the same cell, answered several times with noise, and what all the answers together tell.

Independent noise wears off: each answer multiplies the odds of the true count. Noise that is a fixed function of the cell (a cell
key) does not wear off by asking again, because the answer is the same. But it wears off along other routes: a cell is also the
difference of a total and its neighbours, each with a noise of its own, and least squares over all sums that must hold averages
them. Differential privacy does not forbid averaging; it says beforehand what all answers together cost.

Noise that cannot exceed a bound leaves each count an interval, and sums narrow the intervals: where one number is left, it is the
count for certain. Answers that the law cannot explain say that the law is not the true one; then nothing is decided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.audits.laws import NoiseLaw
from sudare.attacks.tables.narrowing import narrow_together
from sudare.attacks.verdicts import AttackOutcome, AttackReport, Verdict
from sudare.bilingual import Words
from sudare.border.frames import Rows
from sudare.border.signatures import check_arguments
from sudare.distributions import normal_probability
from sudare.errors import Described, ParameterError
from sudare.parameters import Rational, exact_fraction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["AveragedCells", "answers_that_break", "average_answers", "average_linked_cells"]

MAX_ANSWERS = 1 << 16
REMEDY = Words(
    "Answer each question once and repeat that answer, or charge every answer to one budget (sudare's ledger) "
    "and stop when it is spent.",
    "同じ質問には一度だけ答えて以後は同じ値を返すか、全ての回答を一つの予算(sudare の台帳)に課金し、使い切ったら止めてください。",
)
REMEDY_OF_LINKED = Words(
    "Draw wider noise, publish fewer sums of the same cells, or use differentially private tables, whose loss covers all sums.",
    "ノイズを広げるか、同じセルの合計の公表を減らすか、全ての合計を含めて損失が保証される差分プライバシーの表を使ってください。",
)
REMEDY_OF_LAW = Words(
    "Attack again with the law that the noise really has.", "実際のノイズの分布を指定して、もう一度攻撃してください。"
)
NOT_EXPLAINED = Words(
    "No true count explains the noisy value(s): the noise does not have this law, so that nothing was tested.",
    "ノイズ付きの値を説明できる真の値がありません。ノイズの分布が指定と異なるため、何も調べられていません。",
)


@dataclass(frozen=True, eq=False)
class AveragedCells(Rows):
    """What many noisy answers tell about cells.

    Attributes:
        names: of the cells.
        estimates: the likeliest true counts.
        confidences: how sure the attacker can be of each, from 0 to 1.
        distinct_answers: how many answers that differ in their noise stand behind each.
        sure: the confidence from which a cell counts as broken.
        is_linked: whether sums of cells were used, rather than repeated answers.
        is_explained: whether the law can explain the answers of each cell; None if it explains all.
    """

    names: tuple[str, ...]
    estimates: NDArray[np.int64]
    confidences: Floats
    distinct_answers: NDArray[np.int64]
    sure: float
    is_linked: bool
    is_explained: NDArray[np.bool_] | None = None

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each cell: the likeliest true count, and how sure the attacker can be of it."""
        return {
            "cell": self.names,
            "estimate": self.estimates,
            "confidence": self.confidences,
            "distinct_answers": self.distinct_answers,
        }

    def report(self) -> AttackReport:
        """A verdict for each cell."""
        verdicts = [self._verdict(place) for place in range(len(self.names))]
        broken = sum(verdict.outcome is AttackOutcome.BROKEN for verdict in verdicts)
        return AttackReport.of(
            "averaging",
            Words(
                f"{broken:,} of {len(verdicts):,} cells are known with a confidence of {self.sure:.1%} or more.",
                f"{len(verdicts):,} セルのうち {broken:,} セルの真の値が {self.sure:.1%} 以上の確信度でわかります。",
            ),
            verdicts,
        )

    def _verdict(self, place: int) -> Verdict:
        confidence, estimate = float(self.confidences[place]), int(self.estimates[place])
        behind = int(self.distinct_answers[place])
        if self.is_explained is not None and not self.is_explained[place]:
            return Verdict(
                "averaging", self.names[place], AttackOutcome.UNDECIDED, confidence, NOT_EXPLAINED, REMEDY_OF_LAW
            )
        sentence = Words(
            f"From {behind} noisy value(s) the true count is guessed as {estimate}, right with probability {confidence:.1%}.",
            f"{behind} 個のノイズ付きの値から、真の値は {estimate} と推定され、その確率は {confidence:.1%} です。",
        )
        return Verdict(
            "averaging",
            self.names[place],
            AttackOutcome.BROKEN if confidence >= self.sure else AttackOutcome.HELD,
            confidence,
            sentence,
            REMEDY_OF_LINKED if self.is_linked else REMEDY,
        )


def average_answers(
    answers: ArrayLike,
    law: NoiseLaw | Sequence[NoiseLaw],
    *,
    names: Sequence[str] | None = None,
    repeats_noise: bool = False,
    floor: int | None = None,
    sure: Rational = 0.99,
) -> AveragedCells:
    """Guess true counts from repeated noisy answers.

    The confidence is the posterior probability of the guess, all counts from 0 on being equally likely beforehand.

    Args:
        answers: whole numbers, one row for each cell and one column for each time it was asked.
        law: of the noise; or one for each column.
        names: of the cells; their numbers if not given.
        repeats_noise: whether equal questions get equal noise (a cell key): a repeated answer then tells nothing new.
        floor: if smaller answers were published as this one: 0 where negative counts are cut off.
        sure: the confidence from which a cell counts as broken.

    Example:
        >>> from sudare.attacks.audits.averaging import average_answers
        >>> from sudare.attacks.audits.laws import NoiseLaw
        >>> once = average_answers([[12]], NoiseLaw.laplace(2))
        >>> often = average_answers([[12, 9, 10, 13, 10, 8, 10, 11, 10, 10] * 5], NoiseLaw.laplace(2))
        >>> bool(once.confidences[0] < 0.3), int(often.estimates[0]), bool(often.confidences[0] > 0.99)
        (True, 10, True)
    """
    check_arguments(average_answers, locals(), "law", "names", "repeats_noise", "floor")
    table = np.asarray(answers)
    if table.ndim != 2 or not table.shape[1] or not np.issubdtype(table.dtype, np.integer):
        requirement = "whole numbers, a row for each cell and a column for each answer"
        raise ParameterError(
            "answers", "average_answers", requirement, Described(f"{table.dtype}, shape {table.shape}")
        )
    labels = _names(names, len(table), "average_answers")
    threshold = _sure(sure, "average_answers")
    laws = [law] * table.shape[1] if isinstance(law, NoiseLaw) else list(law)
    if len(laws) != table.shape[1] or (repeats_noise and not isinstance(law, NoiseLaw)):
        requirement = "one law, or without repeats_noise one for each column of answers"
        raise ParameterError("law", "average_answers", requirement, Described(f"{len(laws)} laws"))
    estimates, confidences, behind, explained = [], [], [], []
    for row in table.astype(np.int64):
        told = np.unique(row) if repeats_noise else row
        guess = _likeliest(told, laws[: told.size], floor)
        estimate, confidence = guess if guess is not None else (round(float(told.mean())), 0.0)
        estimates.append(estimate)
        confidences.append(confidence)
        behind.append(told.size)
        explained.append(guess is not None)
    return AveragedCells(
        labels,
        np.array(estimates),
        np.array(confidences),
        np.array(behind),
        threshold,
        False,
        np.array(explained, bool),
    )


def _likeliest(told: NDArray[np.int64], laws: Sequence[NoiseLaw], floor: int | None) -> tuple[int, float] | None:
    """The likeliest count and its probability; None if no count explains the answers."""
    is_cut = told == floor if floor is not None else np.zeros(told.size, dtype=np.bool_)
    lowest = [0, *(int(a) - int(law.values[-1]) for a, law, cut in zip(told, laws, is_cut, strict=True) if not cut)]
    highest = [int(a) - law.lowest for a, law in zip(told, laws, strict=True)]
    candidates = np.arange(max(lowest), max(max(lowest), min(highest)) + 1)
    logarithms = np.zeros(candidates.size)
    seen: dict[tuple[int, int, bool], NDArray[np.float64]] = {}
    for answer, law, cut in zip(told.tolist(), laws, is_cut.tolist(), strict=True):
        key = answer, id(law), cut
        if key not in seen:
            seen[key] = _log_at_most(law, answer - candidates) if cut else law.log_probability(answer - candidates)
        logarithms += seen[key]
    if not np.isfinite(logarithms).any():  # the answers do not have this noise, or not this one count
        return None
    weights = np.exp(logarithms - logarithms.max())
    best = int(np.argmax(weights))
    return int(candidates[best]), float(weights[best] / weights.sum())


def _log_at_most(law: NoiseLaw, noise: NDArray[np.int64]) -> NDArray[np.float64]:
    """The logarithm of the probability that the noise is at most each value."""
    places = np.clip(noise - law.lowest, -1, law.probabilities.size - 1)
    with np.errstate(divide="ignore"):
        return np.where(places < 0, -np.inf, np.log(np.minimum(np.cumsum(law.probabilities), 1.0)[places]))


def answers_that_break(law: NoiseLaw, *, sure: Rational = 0.99) -> int:
    """How many independent answers make their rounded mean right with the given probability.

    Computed from the law of the sum of the noises, without approximation by a normal law.

    Args:
        law: of the noise.
        sure: the probability asked for.

    Raises:
        ParameterError: if more than 65,536 answers would be needed, or the noise is not centred.

    Example:
        >>> from sudare.attacks.audits.averaging import answers_that_break
        >>> from sudare.attacks.audits.laws import NoiseLaw
        >>> answers_that_break(NoiseLaw.laplace(1)), answers_that_break(NoiseLaw.laplace(10))
        (51, 5305)
    """
    check_arguments(answers_that_break, locals(), "law")
    wanted = _sure(sure, "answers_that_break")
    if abs(law.mean) > 1e-6 * (1 + law.probabilities.size):
        raise ParameterError("law", "answers_that_break", "centred at 0", Described(f"a mean of {law.mean:.3g}"))
    if law.probabilities.max() >= wanted and int(law.values[law.probabilities.argmax()]) == 0:
        return 1
    if law.variance > MAX_ANSWERS:  # the mean of this many answers still has a deviation of a whole person
        raise _too_wide(law)
    high = 1
    while _rounded_mean_is_right(law, high) < wanted:
        high *= 2
        if high > MAX_ANSWERS:
            raise _too_wide(law)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _rounded_mean_is_right(law, middle) >= wanted else (middle, high)
    # Odd and even numbers of answers differ a little: an even number can end in a tie.
    while high > 2 and (step := next((s for s in (1, 2) if _rounded_mean_is_right(law, high - s) >= wanted), 0)):
        high -= step
    return high


def _too_wide(law: NoiseLaw) -> ParameterError:
    requirement = f"narrow enough that {MAX_ANSWERS:,} answers break it"
    return ParameterError("law", "answers_that_break", requirement, Described(f"variance {law.variance:.6g}"))


def _rounded_mean_is_right(law: NoiseLaw, answers: int) -> float:
    """P(|sum of the noises| < answers / 2), by the characteristic function of the law on a grid wide enough for the sum."""
    deviation = math.sqrt(law.variance * answers)
    reach = int(12 * deviation + np.abs(law.values).max() + answers) + 1
    size = 1 << (2 * reach).bit_length()
    weights = np.zeros(size)
    np.add.at(weights, law.values % size, law.probabilities)
    total = np.fft.irfft(np.fft.rfft(weights) ** answers, n=size)
    half = (answers - 1) // 2  # the largest sum whose mean still rounds to 0
    return float(total[: half + 1].sum() + (total[size - half :].sum() if half else 0.0))


def average_linked_cells(
    published: ArrayLike,
    equations: ArrayLike,
    law: NoiseLaw,
    *,
    exact: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    sure: Rational = 0.99,
) -> AveragedCells:
    """Guess true counts from noisy cells whose true counts are bound by sums, each cell with a noise of its own.

    Least squares under the sums; the confidence is that of a normal error of the remaining variance, so about right where many
    cells take part. Where the noise is bounded, intervals of true counts are narrowed by the sums as well; a cell with one number
    left is certain. The attack in `interval` looks for the narrowest bounds, which takes longer.

    Args:
        published: the noisy counts of all cells, inner ones and margins.
        equations: a matrix with a row for each sum that holds among the true counts: row times counts is 0.
        law: of the noise of each cell.
        exact: which cells have no noise; none if not given.
        names: of the cells.
        sure: the confidence from which a cell counts as broken.

    Example:
        >>> from sudare.attacks.audits.averaging import average_linked_cells
        >>> from sudare.attacks.audits.laws import NoiseLaw
        >>> cells = average_linked_cells([10, 4, 7], [[1, -1, -1]], NoiseLaw.laplace(1), exact=[True, False, False])
        >>> bool(cells.confidences[0] > 0.999), bool(cells.confidences[1] < 0.5)
        (True, True)
    """
    check_arguments(average_linked_cells, locals(), "published", "equations", "law", "exact", "names")
    function = "average_linked_cells"
    values, matrix = np.asarray(published, dtype=np.float64), np.atleast_2d(np.asarray(equations, dtype=np.float64))
    if values.ndim != 1 or matrix.shape[1] != values.size:
        requirement = f"a matrix with {values.size} columns, one for each cell"
        raise ParameterError("equations", function, requirement, Described(f"shape {matrix.shape}"))
    labels, threshold = _names(names, values.size, function), _sure(sure, function)
    known = np.zeros(values.size, dtype=np.bool_) if exact is None else np.asarray(exact, dtype=np.bool_)
    noisy = np.flatnonzero(~known)
    centred = values - np.where(known, 0.0, law.mean)
    # x = y - V A' (A V A')^+ A y, with the same variance for every noisy cell; what is exact does not move.
    inner = matrix[:, noisy]
    adjust = inner.T @ np.linalg.pinv(inner @ inner.T)
    estimates = centred.copy()
    estimates[noisy] -= adjust @ (matrix @ centred)
    left = np.zeros(values.size)
    left[noisy] = law.variance * np.maximum(0.0, 1 - np.einsum("ij,ji->i", adjust, inner))
    guesses = np.maximum(0, np.round(estimates)).astype(np.int64)
    confidences = _normal_confidence(estimates, guesses, left)
    explained = _narrowed(values, matrix, law, known, guesses, confidences)
    taking_part = (matrix[:, :] != 0).T.astype(np.int64) @ (matrix != 0).sum(axis=1)
    return AveragedCells(labels, guesses, confidences, np.maximum(1, taking_part), threshold, True, explained)


def _narrowed(
    values: Floats,
    matrix: Floats,
    law: NoiseLaw,
    known: NDArray[np.bool_],
    guesses: NDArray[np.int64],
    confidences: Floats,
) -> NDArray[np.bool_]:
    """Make cells certain for which bounded noise and the sums leave one number; which cells have any left."""
    explained = np.ones(values.size, dtype=np.bool_)
    if not law.is_bounded or (values % 1).any() or (matrix % 1).any():
        return explained
    possible = law.values[law.probabilities > 0]
    whole = values.astype(np.int64)
    low = np.where(known, whole, np.maximum(0, whole - possible[-1]))
    high = np.where(known, whole, whole - possible[0])
    equations = [
        (np.flatnonzero(row).tolist(), row[row != 0].astype(np.int64).tolist(), 0) for row in matrix if row.any()
    ]
    least, most = narrow_together(low.tolist(), high.tolist(), equations, whole_numbers=True)
    for place, (start, end) in enumerate(zip(least, most, strict=True)):
        if end is None or start > end:
            explained[place] = False
            confidences[place] = 0.0
        elif start == end:
            guesses[place], confidences[place] = start, 1.0
    return explained if explained.all() else np.zeros_like(explained)  # a contradiction anywhere refutes the law


def _normal_confidence(estimates: Floats, guesses: NDArray[np.int64], variances: Floats) -> Floats:
    deviation = np.sqrt(np.maximum(variances, 1e-18))
    upper, lower = (guesses + 0.5 - estimates) / deviation, (guesses - 0.5 - estimates) / deviation
    # A count is not negative: what lies below 0 belongs to the guess of 0.
    return np.asarray(
        normal_probability(upper) - np.where(guesses == 0, 0.0, normal_probability(lower)), dtype=np.float64
    )


def _names(names: Sequence[str] | None, number: int, function: str) -> tuple[str, ...]:
    labels = tuple(names) if names is not None else tuple(f"cell {place}" for place in range(number))
    if len(labels) != number:
        raise ParameterError("names", function, f"{number} names, one for each cell", Described(str(len(labels))))
    return labels


def _sure(value: Rational, function: str) -> float:
    number = float(
        exact_fraction(
            value, "sure", function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数")
        )
    )
    if not 0 < number < 1:
        raise ParameterError(
            "sure", function, Words("a number strictly between 0 and 1", "0 より大きく 1 より小さい数"), value
        )
    return number
