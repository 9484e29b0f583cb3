"""Cell keys: every count gets small noise that depends on who is in the cell, so that the same cell always gets the same.

Each record carries a random key. The keys of a cell's records are added up, and the fractional part of the sum is looked
up in a table of noise distributions, one for each count. The distributions are the ones of largest entropy with mean 0, a
given variance and a largest deviation. Cells no longer add up exactly, and there is no formal guarantee of privacy.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.attacks.refusals import required
from sudare.bilingual import Words
from sudare.border.frames import ShownRows
from sudare.border.signatures import check_arguments
from sudare.disclosure.cell_table import Contributions, aggregate, scaled
from sudare.disclosure.structure import CellTable, Dimension
from sudare.errors import InputError, ParameterError
from sudare.parameters import Rational, exact_fraction, exact_integer
from sudare.system.regular_files import read_regular_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Reals = NDArray[np.float64]

__all__ = [
    "KEY_UNITS",
    "PerturbationTable",
    "cell_keys",
    "maximum_entropy_row",
    "perturbation_table",
    "read_perturbation_table",
    "record_keys",
]

KEY_DIGITS = 10
KEY_UNITS = 10**KEY_DIGITS
"""A key is a whole number below this one; it stands for the fraction key / KEY_UNITS."""

MAX_NOISE = 100
MAX_STEPS = 200
CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class PerturbationTable(ShownRows):
    """Noise for counts: row i is for the count i, the last row for all larger counts.

    Attributes:
        noise: the possible deviations of each row, ascending.
        bounds: cumulative probabilities of each row, in units of ``1 / KEY_UNITS``; the last one is ``KEY_UNITS``.

    Example:
        >>> table = PerturbationTable(((0,), (-1, 1)), ((KEY_UNITS,), (KEY_UNITS // 2, KEY_UNITS)))
        >>> table.perturb(np.array([0, 5, 5]), np.array([7, 3, KEY_UNITS - 1])).tolist()
        [0, 4, 6]
    """

    noise: tuple[tuple[int, ...], ...]
    bounds: tuple[tuple[int, ...], ...]

    def frame_columns(self) -> Mapping[str, Any]:
        """A row for each change of each count, with its probability; the last count stands for all larger ones."""
        listed = [
            (count, change, (high - low) / KEY_UNITS)
            for count, (noise, bounds) in enumerate(zip(self.noise, self.bounds, strict=True))
            for change, low, high in zip(noise, (0, *bounds), bounds, strict=False)
        ]
        return {name: [row[place] for row in listed] for place, name in enumerate(("count", "change", "probability"))}

    def __post_init__(self) -> None:
        if len(self.noise) != len(self.bounds) or not self.noise:
            raise ParameterError("bounds", "PerturbationTable", "one row for each row of noise", len(self.bounds))
        for count, (noise, bounds) in enumerate(zip(self.noise, self.bounds, strict=True)):
            rising = all(one <= other for one, other in zip((0, *bounds), bounds, strict=False))
            if len(noise) != len(bounds) or not rising or not bounds or bounds[-1] != KEY_UNITS:
                raise ParameterError("bounds", "PerturbationTable", "rising to KEY_UNITS in every row", bounds)
            if min(noise) + count < 0:
                raise ParameterError("noise", "PerturbationTable", "such that no count becomes negative", noise)

    def perturb(self, counts: Integers, keys: Integers) -> Integers:
        """The counts with noise.

        Args:
            counts: from 0 on.
            keys: the cell key of each count; see `cell_keys`.
        """
        if counts.shape != keys.shape or (counts < 0).any() or ((keys < 0) | (keys >= KEY_UNITS)).any():
            raise ParameterError(
                "keys", "PerturbationTable.perturb", "a key below KEY_UNITS for each count", keys.shape
            )
        result = counts.copy()
        rows = np.minimum(counts, len(self.noise) - 1)
        for row in np.unique(rows).tolist():
            where = rows == row
            place = np.searchsorted(np.array(self.bounds[row]), keys[where], side="right")
            result[where] += np.array(self.noise[row])[place]
        return result


def maximum_entropy_row(
    count: int,
    *,
    largest: int,
    variance: Rational,
    forbidden: int = 0,
    stay: Rational | None = None,
    monotone: bool = False,
) -> dict[int, float]:
    """The probabilities of the counts that a count can become: the ones of largest entropy that meet the conditions.

    The mean is the count itself, so that sums are not biased.

    Args:
        count: the true one; 0 stays 0.
        largest: deviation.
        variance: of the noise.
        forbidden: no count becomes 1 up to this number: no small counts are published.
        stay: probability that the count does not change, where it may stay; None leaves it to the entropy.
        monotone: whether larger deviations may never be more likely than smaller ones on the same side; counts that may not
            stay are left out of this.

    Raises:
        InputError: if no distribution meets the conditions.

    Example:
        >>> {target: round(share, 4) for target, share in maximum_entropy_row(1, largest=2, variance="1.08", forbidden=1).items()}
        {0: 0.5133, 2: 0.46, 3: 0.0267}
    """
    check_arguments(maximum_entropy_row, locals(), "forbidden", "monotone")
    name = "maximum_entropy_row"
    number = exact_integer(
        count, "count", name, Words("a whole number from 0 on", "0 以上の整数"), smallest=0, largest=10**6
    )
    with required(Words(f"from 1 to {MAX_NOISE}", f"1 から {MAX_NOISE} までの整数")):
        most = exact_integer(
            largest,
            "largest",
            name,
            Words(f"from 1 to {MAX_NOISE}", f"1 以上 {MAX_NOISE} 以下"),
            smallest=1,
            largest=MAX_NOISE,
        )
    with required(Words(f"from 0 to {MAX_NOISE}", f"0 から {MAX_NOISE} までの整数")):
        small = exact_integer(
            forbidden,
            "forbidden",
            name,
            Words(f"from 0 to {MAX_NOISE}", f"0 以上 {MAX_NOISE} 以下"),
            smallest=0,
            largest=MAX_NOISE,
        )
    with required(Words("a number above 0", "0 より大きい数")):
        spread = float(exact_fraction(variance, "variance", name, Words("a number above 0", "0 より大きい数")))
        if spread <= 0:
            raise ParameterError("variance", name, Words("a number above 0", "0 より大きい数"), variance)
    if number == 0:
        return {0: 1.0}
    noise = [step for step in range(-min(number, most), most + 1) if not 1 <= number + step <= small]
    steps = np.array(noise, dtype=np.float64)
    conditions = [steps, steps * steps - spread]
    if stay is not None and 0 in noise:
        with required(Words("a probability between 0 and 1", "0 より大きく 1 より小さい数")):
            share = float(exact_fraction(stay, "stay", name, Words("a probability", "確率（0 以上 1 以下）")))
            if not 0 < share < 1:
                raise ParameterError("stay", name, Words("between 0 and 1", "0 と 1 の間"), stay)
        conditions.append((steps == 0) - share)
    orders = _orders(noise) if monotone and 0 in noise else []
    shares = _largest_entropy(np.array(conditions), orders) if noise else None
    if shares is None:
        raise InputError(
            f"No distribution of noise for the count {number} has mean 0, variance {variance} and deviations of at most {most}. "
            "Change the variance, allow larger deviations, or forbid fewer counts.",
            f"件数 {number} に対して、平均 0、分散 {variance}、最大偏差 {most} のノイズ分布はありません。"
            "分散か最大偏差か、禁止する件数を変えてください。",
        )
    return {number + step: float(share) for step, share in zip(noise, shares, strict=True)}


def perturbation_table(
    *,
    largest: int,
    variance: Rational,
    forbidden: int = 0,
    stay: Rational | None = None,
    monotone: bool = False,
) -> PerturbationTable:
    """Rows for every count up to the first one whose noise is not cut off at 0; see `maximum_entropy_row`.

    Probabilities are rounded to ten digits, so that the table is the same on every computer.

    Args:
        largest: deviation.
        variance: of the noise.
        forbidden: no count becomes 1 up to this number.
        stay: probability that a count does not change, where it may stay; None leaves it to the entropy.
        monotone: whether larger deviations may never be more likely than smaller ones on the same side.

    Example:
        >>> table = perturbation_table(largest=2, variance="1.08", forbidden=1)
        >>> table.noise[1], table.bounds[1]
        ((-1, 1, 2), (5133333333, 9733333333, 10000000000))
    """
    check_arguments(perturbation_table, locals(), "largest", "forbidden", "monotone")
    rows = [
        maximum_entropy_row(
            count, largest=largest, variance=variance, forbidden=forbidden, stay=stay, monotone=monotone
        )
        for count in range(largest + forbidden + 2 if forbidden else largest + 1)
    ]
    return _table(rows)


def read_perturbation_table(path: str | Path, *, separator: str = ";") -> PerturbationTable:
    """Read a table as the R package ptable writes it for tau-ARGUS: columns i, v and the probability p.

    Probabilities of a row may miss 1 by rounding; the last one takes the difference.

    Args:
        path: of the file.
        separator: between its fields.
    """
    try:
        text = read_regular_file(path).decode("utf-8-sig")
        records = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator))
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The file '{path}' cannot be read.", f"ファイル '{path}' を読めません。") from None
    except csv.Error:
        records = [{}]  # such as a field of a hundred thousand signs: told below
    rows: dict[int, dict[int, float]] = {}
    try:
        for record in records:
            share = record["p"] if "p" in record else record["p_ij"]
            rows.setdefault(int(record["i"]), {})[int(record["i"]) + int(record["v"])] = float(share)
    except (KeyError, ValueError, TypeError):
        raise InputError(
            f"'{Path(path).name}' is not a perturbation table: it needs the columns i, v and p with numbers.",
            f"'{Path(path).name}' は摂動表ではありません。数値の列 i, v, p が必要です。",
        ) from None
    shares = [share for row in rows.values() for share in row.values()]
    if (
        not rows
        or sorted(rows) != list(range(len(rows)))
        or not all(0 <= share <= 1 for share in shares)  # a NaN is not
        or any(abs(sum(row.values()) - 1) > 1e-6 for row in rows.values())
    ):
        raise InputError(
            f"'{Path(path).name}' needs a row for every count from 0 on, with probabilities that add up to 1.",
            f"'{Path(path).name}' には 0 からすべての件数の行と、和が 1 の確率が必要です。",
        )
    if any(target < 0 for row in rows.values() for target in row):
        raise InputError(
            f"'{Path(path).name}' makes a count negative. Leave out noise below minus the count.",
            f"'{Path(path).name}' では件数が負になります。件数を負にするノイズを除いてください。",
        )
    return _table([rows[count] for count in range(len(rows))])


def record_keys(identifiers: Iterable[object], secret: bytes) -> Integers:
    """A key for each record, always the same for the same identifier and secret, and random without the secret.

    Args:
        identifiers: of the records; a record must keep its identifier in every table.
        secret: 16 bytes or more, kept with the data.

    Example:
        >>> first, second = record_keys(["p1", "p2"], b"sixteen bytes or more"), record_keys(["p2"], b"sixteen bytes or more")
        >>> bool(first[1] == second[0])
        True
    """
    check_arguments(record_keys, locals(), "identifiers")
    if not isinstance(secret, bytes) or not 16 <= len(secret) <= 64:
        raise ParameterError(
            "secret", "record_keys", Words("16 to 64 bytes", "16 以上 64 以下のバイト数"), "something else"
        )
    keys = [
        int.from_bytes(hashlib.blake2b(str(one).encode(), key=secret, digest_size=16).digest()) % KEY_UNITS
        for one in identifiers
    ]
    return np.array(keys, dtype=np.int64)


def cell_keys(
    dimensions: Sequence[Dimension], codes: Mapping[str, Sequence[Any] | NDArray[Any]], keys: Integers | Sequence[Any]
) -> tuple[CellTable, Integers]:
    """The counts of a table, and the key of each of its cells: the fractional part of the sum of its records' keys.

    Args:
        dimensions: the spanning variables.
        codes: the column of each dimension.
        keys: of the records: whole numbers below ``KEY_UNITS``, or fractions from 0 to 1 with at most ten decimals.

    Example:
        >>> sex = Dimension.flat("sex", ["f", "m"])
        >>> table, keys = cell_keys([sex], {"sex": ["f", "m", "m"]}, ["0.25", "0.5", "0.75"])
        >>> table.counts.tolist(), (keys / KEY_UNITS).tolist()
        ([3, 1, 2], [0.5, 0.25, 0.25])
    """
    check_arguments(cell_keys, locals(), "keys")
    array = np.asarray(keys)
    whole = array.astype(np.int64) if array.dtype.kind in "iu" else scaled(array, KEY_DIGITS, "keys")
    if ((whole < 0) | (whole >= KEY_UNITS)).any():
        raise InputError("A record key must be from 0 to below 1.", "レコードキーは 0 以上 1 未満にしてください。")
    table = aggregate(dimensions, codes, Contributions(), largest=2)
    return table, aggregate(dimensions, codes, Contributions(whole), largest=2).values % KEY_UNITS


def _table(rows: Sequence[Mapping[int, float]]) -> PerturbationTable:
    noise, bounds = [], []
    for count, row in enumerate(rows):
        targets = sorted(row)
        sums = np.cumsum([row[target] for target in targets])
        rounded = [min(KEY_UNITS, round(float(one) * KEY_UNITS)) for one in sums]
        noise.append(tuple(target - count for target in targets))
        bounds.append((*rounded[:-1], KEY_UNITS))
    return PerturbationTable(tuple(noise), tuple(bounds))


def _orders(noise: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of places: the first may not be more likely than the second, which is the next one nearer to 0."""
    zero = noise.index(0)
    return [(place, place + 1) for place in range(zero)] + [(place + 1, place) for place in range(zero, len(noise) - 1)]


def _largest_entropy(conditions: Reals, orders: Sequence[tuple[int, int]]) -> Reals | None:
    """The distribution of largest entropy whose mean of every condition is 0, with p[a] <= p[b] for each order (a, b).

    Orders that would be broken become equalities, one after another, and are dropped when their multiplier has the wrong
    sign: this ends at the only solution of a strictly concave problem.
    """
    active: list[tuple[int, int]] = []
    for _ in range(2 * len(orders) + 1):
        equal = np.zeros((len(active), conditions.shape[1]))
        for row, (less, more) in enumerate(active):
            equal[row, less], equal[row, more] = -1, 1
        solved = _newton(np.vstack([conditions, equal]))
        if solved is None:
            return None
        shares, multipliers = solved
        wrong = [order for order, factor in zip(active, multipliers[len(conditions) :], strict=True) if factor < -CLOSE]
        broken = [order for order in orders if order not in active and shares[order[0]] > shares[order[1]] * (1 + 1e-9)]
        if not wrong and not broken:
            return shares
        active = [order for order in active if order not in wrong] + broken[:1]
    return None


def _newton(features: Reals) -> tuple[Reals, Reals] | None:
    """Minimize log(sum(exp(theta @ features))): its gradient, the mean of the features, is 0 at the distribution sought."""
    theta = np.zeros(len(features))
    value, shares = _log_sum(theta, features)
    for _ in range(MAX_STEPS):
        gradient = features @ shares
        if np.abs(gradient).max() < CLOSE * max(1.0, float(np.abs(features).max())):
            return (shares, theta) if np.abs(theta).max() < 1e4 else None
        centred = features - gradient[:, None]
        step = np.linalg.lstsq((centred * shares) @ centred.T, -gradient, rcond=1e-14)[0]
        length = 1.0
        while length > 1e-12:
            tried, tried_shares = _log_sum(theta + length * step, features)
            if tried <= value + 1e-4 * length * float(gradient @ step) or np.abs(features @ tried_shares).max() < CLOSE:
                break
            length /= 2
        else:
            return None
        theta, value, shares = theta + length * step, tried, tried_shares
    return None


def _log_sum(theta: Reals, features: Reals) -> tuple[float, Reals]:
    exponents = theta @ features
    top = float(exponents.max())
    weights = np.exp(exponents - top)
    total = float(weights.sum())
    return top + float(np.log(total)), weights / total
