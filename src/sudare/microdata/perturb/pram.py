"""Post-randomization (PRAM): each value of a column is replaced by another one with stated, exact probabilities.

A row of the matrix says by what a value is replaced. An **invariant** matrix leaves every count what it was in expectation.
It is made of any matrix P and the counts t of the data in two steps: replace by P, then draw the original back by Bayes'
rule, Q[j, l] = t_l P[l, j] / (t P)_j. The product R = P Q has t R = t exactly, because (t P Q)_l is the sum over j of
(t P)_j t_l P[l, j] / (t P)_j, which is t_l times the sum of row l of P.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sudare.bilingual import Words
from sudare.border.signatures import check_arguments
from sudare.errors import Described, InputError, ParameterError
from sudare.microdata.perturb.exact_draws import draw_categories, read_probability
from sudare.microdata.perturb.outcomes import Outcome, share_changed
from sudare.microdata.records import AnyRecords, CodedColumn, read_people_records
from sudare.noise.entropy import EntropySource
from sudare.noise.sampler import read_entropy
from sudare.parameters import Rational, exact_integer, read_flag, shown
from sudare.privacy.measurements import log_rounded_up

__all__ = ["TransitionMatrix", "randomize_values"]

MAX_LABELS = 1000
_FIXED = Words(
    "A published value is perhaps not the person's own: whoever recognises a record learns the value only as surely as the "
    "matrix says. If the matrix was fixed without the data and has no zeros, this is local differential privacy of this "
    "value, with the stated epsilon; who is in the table, and the other columns, are not protected.",
    "公表された値は本人のものとは限りません。レコードが誰のものか分かっても、値は行列が示す確かさでしか分かりません。"
    "行列をデータと無関係に定め、0 を含まなければ、この値について示した epsilon の局所差分プライバシーになります。"
    "表に誰がいるか、およびほかの列は保護されません。",
)
_INVARIANT = Words(
    "A published value is perhaps not the person's own: whoever recognises a record learns the value only as surely as the "
    "matrix says. The matrix was made from the counts of the column, so it is no differential privacy, and the matrix tells "
    "these counts to whoever sees it. Who is in the table, and the other columns, are not protected.",
    "公表された値は本人のものとは限りません。レコードが誰のものか分かっても、値は行列が示す確かさでしか分かりません。"
    "行列は列の件数から作られたため差分プライバシーではなく、行列を見る人には件数が分かります。"
    "表に誰がいるか、およびほかの列は保護されません。",
)
_KEEPS_NOTHING = Words(
    "All other columns. The counts of this column change; their expectation is the old counts times the matrix.",
    "ほかの列はすべて元のままです。この列の件数は変わり、期待値は元の件数に行列を掛けたものです。",
)
_KEEPS_EXPECTED = Words(
    "All other columns, and in expectation every count of this column: exactly, by the choice of the matrix.",
    "ほかの列はすべて元のままです。この列の各件数の期待値は、行列の作り方により元と完全に同じです。",
)


@dataclass(frozen=True)
class TransitionMatrix:
    """By what each value of a column is replaced, with which probability.

    Args:
        labels: the values; None is a missing one.
        rows: for each value, the probabilities of all values; exact numbers that add up to 1.

    Raises:
        ParameterError: if the matrix is not square, or a row does not add up to exactly 1.

    Example:
        >>> from sudare.microdata.perturb.pram import TransitionMatrix
        >>> coins = TransitionMatrix(("no", "yes"), ((0.75, 0.25), (0.25, 0.75)))
        >>> coins.ratio, {label: float(count) for label, count in coins.expected({"no": 60, "yes": 20}).items()}
        (Fraction(3, 1), {'no': 50.0, 'yes': 30.0})
    """

    labels: tuple[str | None, ...]
    rows: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        function = "TransitionMatrix"
        labels = tuple(self.labels) if isinstance(self.labels, Sequence) and not isinstance(self.labels, str) else ()
        if not 1 <= len(labels) <= MAX_LABELS or len(set(labels)) < len(labels):
            raise ParameterError(
                "labels",
                function,
                Words(f"from 1 to {MAX_LABELS} different values", f"互いに異なる 1 個以上 {MAX_LABELS} 個以下の値"),
                shown(self.labels),
            )
        if not all(label is None or isinstance(label, str) for label in labels):
            raise ParameterError("labels", function, "texts, or None", shown(self.labels))
        requirement = Words(
            f"{len(labels)} rows of {len(labels)} probabilities that add up to exactly 1",
            f"合計がちょうど 1 になる {len(labels)} 個の確率の行が {len(labels)} 行",
        )
        if not isinstance(self.rows, Sequence) or not all(isinstance(row, Sequence) for row in self.rows):
            raise ParameterError("rows", function, requirement, shown(self.rows))
        rows = tuple(tuple(read_probability(share, "rows", function) for share in row) for row in self.rows)
        if len(rows) != len(labels) or any(len(row) != len(labels) or sum(row) != 1 for row in rows):
            raise ParameterError("rows", function, requirement, Described("others"))
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "rows", rows)

    @classmethod
    def keeping(cls, labels: Sequence[str | None], keep: Rational) -> TransitionMatrix:
        """The matrix that keeps a value with a probability, and else takes each other value equally often.

        Example:
            >>> from sudare.microdata.perturb.pram import TransitionMatrix
            >>> TransitionMatrix.keeping(["a", "b", "c"], 0.5).rows[0]
            (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
        """
        check_arguments(TransitionMatrix.keeping, locals(), "labels", "keep")
        function = "TransitionMatrix.keeping"
        stays = read_probability(keep, "keep", function)
        count = len(labels)
        if count < 2:
            raise ParameterError(
                "labels", function, Words("at least two values", "2 個以上の値"), Described(f"{count}")
            )
        moves = (1 - stays) / (count - 1)
        rows = tuple(tuple(stays if i == j else moves for j in range(count)) for i in range(count))
        return cls(tuple(labels), rows)

    @property
    def ratio(self) -> Fraction | None:
        """The largest ratio of the probabilities with which two values give the same one; None if it is infinite."""
        largest = Fraction(1)
        for column in zip(*self.rows, strict=True):
            if min(column) > 0:
                largest = max(largest, max(column) / min(column))
            elif max(column) > 0:
                return None
        return largest

    @property
    def local_epsilon(self) -> Fraction | None:
        """The logarithm of the ratio, rounded up: epsilon of local differential privacy. None if there is none."""
        ratio = self.ratio
        if ratio is None:
            return None
        return log_rounded_up(ratio) if ratio > 1 else Fraction(0)

    def expected(self, counts: Mapping[str | None, int]) -> dict[str | None, Fraction]:
        """The expected counts after the replacement."""
        before = self._read_counts(counts)
        return {
            label: sum((count * row[j] for count, row in zip(before, self.rows, strict=True)), Fraction(0))
            for j, label in enumerate(self.labels)
        }

    def invariant_for(self, counts: Mapping[str | None, int]) -> TransitionMatrix:
        """A matrix made of this one that keeps these counts in expectation, exactly; it changes values less often.

        References:
            Gouweleeuw, Kooiman, Willenborg, de Wolf: Post randomisation for statistical disclosure control (1998).

        Example:
            >>> from sudare.microdata.perturb.pram import TransitionMatrix
            >>> counts = {"a": 90, "b": 10}
            >>> invariant = TransitionMatrix.keeping(["a", "b"], 0.8).invariant_for(counts)
            >>> invariant.expected(counts) == counts
            True
        """
        before, size = self._read_counts(counts), len(self.labels)
        after = list(self.expected(counts).values())
        back = [
            [before[i] * self.rows[i][j] / after[j] if after[j] else Fraction(int(i == j)) for i in range(size)]
            for j in range(size)
        ]
        rows = tuple(
            tuple(sum((row[j] * back[j][i] for j in range(size) if row[j]), Fraction(0)) for i in range(size))
            for row in self.rows
        )
        return TransitionMatrix(self.labels, rows)

    def _read_counts(self, counts: Mapping[str | None, int]) -> list[int]:
        unknown = set(counts) - set(self.labels)
        if unknown:
            raise ParameterError(
                "counts", "TransitionMatrix", Words("of values of the matrix", "行列の値"), Described("others")
            )
        requirement = Words("a whole number >= 0 for each value", "値ごとに 0 以上の整数")
        return [
            exact_integer(counts.get(label, 0), "counts", "TransitionMatrix", requirement, smallest=0)
            for label in self.labels
        ]


def randomize_values(
    records: AnyRecords,
    column: str,
    matrix: TransitionMatrix,
    *,
    invariant: bool = False,
    entropy: EntropySource | None = None,
) -> Outcome:
    """Replace each value of a column by a value drawn from its row of the matrix, independently (PRAM).

    Args:
        records: the table.
        column: whose values are replaced.
        matrix: with all values of the column.
        invariant: whether to turn the matrix into one that keeps the counts of the column in expectation.
        entropy: where the bits come from; the secure source by default.

    Raises:
        InputError: if there is no such column, or a value is not in the matrix; it names the row.

    Example:
        >>> from sudare.microdata.perturb.pram import TransitionMatrix, randomize_values
        >>> from sudare.microdata.records import Records
        >>> people = Records.of_columns({"smokes": ["no", "yes"] * 50})
        >>> outcome = randomize_values(people, "smokes", TransitionMatrix.keeping(["no", "yes"], 0.75))
        >>> round(float(outcome.local_epsilon), 3)  # ln 3
        1.099
    """
    check_arguments(randomize_values, locals(), "column")
    records = read_people_records(records, "randomize_values")
    function = "randomize_values"
    read_flag(invariant, "invariant", function)
    if not isinstance(matrix, TransitionMatrix):
        raise ParameterError("matrix", function, "a TransitionMatrix", shown(matrix))
    source = read_entropy(entropy, function)
    values = records.column(column)
    places = _places(values, matrix)
    counts = np.bincount(values.codes, minlength=len(values.labels)).tolist()
    used = matrix.invariant_for(dict(zip(values.labels, counts, strict=True))) if invariant else matrix
    new = np.empty(values.rows, dtype=np.int64)
    by_label = np.argsort(values.codes, kind="stable")
    start = 0
    for place, count in zip(places, counts, strict=True):
        new[by_label[start : start + count]] = draw_categories(used.rows[place], count, source)
        start += count
    result = records.with_columns(CodedColumn.of_codes(column, new, used.labels))
    return Outcome(
        result,
        "invariant-pram" if invariant else "pram",
        _INVARIANT if invariant else _FIXED,
        _KEEPS_EXPECTED if invariant else _KEEPS_NOTHING,
        Fraction(int(records.rows > 0)),
        share_changed(records, result),
        None if invariant else used.local_epsilon,
    )


def _places(column: CodedColumn, matrix: TransitionMatrix) -> list[int]:
    known = {label: place for place, label in enumerate(matrix.labels)}
    for code, label in enumerate(column.labels):
        if label not in known:
            row = column.first_row(code)
            raise InputError(
                f"The value in row {row} of the data, column {column.name!r}, is not in the matrix. Add a row for it.",
                f"列 {column.name!r} のデータ {row} 行目の値が行列にありません。その行を行列に加えてください。",
            )
    return [known[label] for label in column.labels]
