"""Bit vectors of people, 64 bits to a word: noise on bits, sums of bits, and the sparse regression that reads them.

**Noise** (`noisy_bits`). A bit becomes 1 with one probability if it is 1 and with another if it is 0, both fractions. All 64
bits of a word are tossed together: a uniform number below 1 and the probability are compared digit by digit, a random word at a
time gives the next binary digit of 64 uniform numbers, and long division gives the next digit of the two fractions. A bit is
settled at the first digit that differs, so after d digits one in 2**d is not, and a word of bits needs seven or eight random
words, whatever the fractions. Nothing is rounded.

**Lasso** (`nonnegative_lasso`). Coordinate descent on the residuals: a candidate has a few ones among thousands of rows, so a
step costs those few, and no matrix is ever formed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sudare.kernels.compiling import inlined, kernel

__all__ = ["count_ones", "joint_gains", "matching_bits", "noisy_bits", "nonnegative_lasso", "weigh_bits"]

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel(
    "UniTuple(int64, 2)(uint64[::1], int64, uint64, uint64, uint64, uint64, uint64[::1], int64, uint64[::1])",
    read_only=(0, 6),
)
def noisy_bits(
    lanes: Any,
    per_person: int,
    last_mask: Any,
    one_numerator: Any,
    zero_numerator: Any,
    denominator: Any,
    words: Any,
    done: int,
    out: Any,
) -> Any:
    """Toss as many words of bits as the random words allow.

    A word of bits that the random words do not settle is left for the next call, which must begin with the random words not used
    up: what was seen of them is not thrown away.

    Args:
        lanes: the bits, `per_person` words for each person.
        per_person: words for each person.
        last_mask: which bits of a person's last word exist.
        one_numerator: a bit that is 1 becomes 1 with this probability, over the denominator.
        zero_numerator: the same for a bit that is 0.
        denominator: of both, at most 2**62.
        words: random words.
        done: how many words of bits were done before.
        out: the noisy bits.

    Returns:
        How many words of bits are done in all, and how many random words were used up.
    """
    used = 0
    one, nothing = np.uint64(1), np.uint64(0)
    for lane in range(done, lanes.size):
        bits = lanes[lane]
        open_bits = last_mask if (lane + 1) % per_person == 0 else ALL_BITS
        result = nothing
        left_one, left_zero = one_numerator, zero_numerator
        taken = used
        while open_bits != nothing and (left_one != nothing or left_zero != nothing):
            if taken == words.size:
                return lane, used
            digits = nothing
            left_one <<= one
            if left_one >= denominator:
                left_one -= denominator
                digits |= bits
            left_zero <<= one
            if left_zero >= denominator:
                left_zero -= denominator
                digits |= ~bits
            word = words[taken]
            taken += 1
            result |= open_bits & digits & ~word
            open_bits &= ~(digits ^ word)
        used = taken
        out[lane] = result
    return lanes.size, used


@kernel("void(int64[::1], uint64[:, ::1], int64[::1], int64[:, ::1])", read_only=(0, 1))
def count_ones(cohorts: Any, lanes: Any, people: Any, ones: Any) -> None:
    """Add to each cohort how many reports it has, and in how many of them each bit is 1."""
    for i in range(cohorts.size):
        cohort = cohorts[i]
        people[cohort] += 1
        for lane in range(lanes.shape[1]):
            word = lanes[i, lane]
            first = 64 * lane
            for place in range(min(64, ones.shape[1] - first)):
                ones[cohort, first + place] += np.int64((word >> np.uint64(place)) & np.uint64(1))


@inlined
def ones_of_word(word: Any) -> Any:
    """How many bits of a word are 1."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel("void(int64[::1], uint64[:, ::1], uint64[:, :, ::1], int64[:, ::1])", read_only=(0, 1, 2))
def matching_bits(cohorts: Any, lanes: Any, filters: Any, out: Any) -> None:
    """How many bits of each candidate's filter, in the report's cohort, the report has too."""
    for i in range(cohorts.size):
        cohort = cohorts[i]
        for candidate in range(filters.shape[1]):
            matches = 0
            for lane in range(lanes.shape[1]):
                matches += ones_of_word(lanes[i, lane] & filters[cohort, candidate, lane])
            out[i, candidate] = matches


@kernel("void(int64[::1], uint64[:, ::1], float64[:, ::1], float64[::1])", read_only=(0, 1, 2))
def weigh_bits(cohorts: Any, lanes: Any, weights: Any, out: Any) -> None:
    """Add up, for each report, the weights of its ones in its cohort."""
    for i in range(cohorts.size):
        cohort = cohorts[i]
        total = 0.0
        for lane in range(lanes.shape[1]):
            word = lanes[i, lane]
            first = 64 * lane
            for place in range(min(64, weights.shape[1] - first)):
                if (word >> np.uint64(place)) & np.uint64(1):
                    total += weights[cohort, first + place]
        out[i] = total


@kernel(
    "int64(int64[::1], int64[::1], float64[::1], float64[::1], float64, float64, int64, float64[::1], float64[::1])",
    read_only=(0, 1, 2, 3),
)
def nonnegative_lasso(
    starts: Any,
    rows: Any,
    weights: Any,
    penalties: Any,
    background: float,
    tolerance: float,
    most_sweeps: int,
    residuals: Any,
    shares: Any,
) -> int:
    """Minimise half the weighted squares of the residuals plus penalties times shares, over shares >= 0.

    Args:
        starts: where the rows of each candidate begin in `rows`, and the end.
        rows: the rows in which each candidate has a one, candidate after candidate.
        weights: of the rows.
        penalties: of the candidates.
        background: what the last share, that of nobody in particular, adds to every row; 0 for none. It has no penalty.
        tolerance: stop when no step of a sweep changed a gradient by more than this share of its penalty.
        most_sweeps: stop after this many in any case.
        residuals: what the shares leave of the rows; kept up to date.
        shares: where to begin, and the result: one for each candidate, and the background.

    Returns:
        How many sweeps were made; `most_sweeps` if the tolerance was not reached.
    """
    candidates = starts.size - 1
    background_norm = background * background * weights.sum()
    mean_penalty = penalties.mean()
    for sweep in range(most_sweeps):
        largest = 0.0
        if background_norm > 0:
            gradient = 0.0
            for row in range(residuals.size):
                gradient += weights[row] * residuals[row]
            share = max(0.0, shares[candidates] + background * gradient / background_norm)
            change = share - shares[candidates]
            if change != 0:
                shares[candidates] = share
                for row in range(residuals.size):
                    residuals[row] -= background * change
                largest = abs(change) * background_norm / mean_penalty
        for candidate in range(candidates):
            gradient, norm = 0.0, 0.0
            for at in range(starts[candidate], starts[candidate + 1]):
                row = rows[at]
                gradient += weights[row] * residuals[row]
                norm += weights[row]
            if norm == 0.0:
                continue
            share = max(0.0, shares[candidate] + (gradient - penalties[candidate]) / norm)
            change = share - shares[candidate]
            if change != 0.0:
                shares[candidate] = share
                for at in range(starts[candidate], starts[candidate + 1]):
                    residuals[rows[at]] -= change
                largest = max(largest, abs(change) * norm / penalties[candidate])
        if largest <= tolerance:
            return sweep + 1
    return most_sweeps


@kernel("float64(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1])", read_only=(0, 1, 2))
def joint_gains(one: Any, two: Any, shares: Any, gains: Any) -> float:
    """By how much a step of expectation and maximization multiplies each share; returns the logarithm of the likelihood.

    Args:
        one: for each person, how likely each value of the first variable makes the report.
        two: the same for the second variable.
        shares: of people with each pair of values.
        gains: the result.
    """
    people, width = one.shape[0], two.shape[1]
    mixed = np.empty(width)
    gains[:] = 0.0
    logarithm = 0.0
    for i in range(people):
        mixed[:] = 0.0
        for x in range(one.shape[1]):
            factor = one[i, x]
            for y in range(width):
                mixed[y] += factor * shares[x, y]
        likelihood = 0.0
        for y in range(width):
            likelihood += mixed[y] * two[i, y]
        logarithm += np.log(likelihood)
        for x in range(one.shape[1]):
            factor = one[i, x] / likelihood
            for y in range(width):
                gains[x, y] += factor * two[i, y]
    gains /= people
    return logarithm
