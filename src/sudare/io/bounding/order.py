"""The order in which a person's rows are kept: a keyed hash of what they hold, by whole numbers that no engine overflows.

A row's values become whole numbers below 2^30; two sums of these with secret factors, and a secret polynomial of the first sum,
modulo the prime 2^31 - 1, are its place. What it promises, and the proof: bounding.md beside this.
"""

# ruff: noqa: S608 - names come from here, numbers are whole numbers

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sudare.bilingual import Words
from sudare.errors import Described, ParameterError
from sudare.io.bounding.encoding import POINT, SqlDialect, encoded

__all__ = ["FIXED_KEY", "RowOrder", "read_selection_key"]

FIXED_KEY = "0" * 64
"""Where no release is made: which rows are kept is then the same for all who read the data."""

KEY_DIGITS = 64
PRIME = 2**31 - 1
LIMB_BITS = 30
LIMBS_OF_WHOLE = 3
COEFFICIENTS = 8
"""Of the polynomial: the places of any eight rows whose first sums differ are independent and uniform."""

AT_ONCE = 3
"""Products of a limb and a factor that 63 bits hold, besides a remainder."""

WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})


@dataclass(frozen=True)
class RowOrder:
    """An order of rows by some of their columns.

    Attributes:
        values: expressions with their kinds, DuckDB's type or `POINT`; the person first.
        key: 64 hexadecimal digits.
        dialect: of the SQL.
    """

    values: Sequence[tuple[str, str]]
    key: str
    dialect: SqlDialect

    @property
    def needs_digest(self) -> bool:
        """Whether a text is hashed for every row, which takes longer than all the rest."""
        return any(not _is_whole(kind) and kind != POINT for _, kind in self.values)

    def placed(self, rows: str, name: str, condition: str | None = None) -> str:
        """SQL for rows with their place in one more column, a whole number from 0 to 2^62 - 1.

        Args:
            rows: what to select from.
            name: of the column. Columns whose names begin with it are made on the way.
            condition: of rows that need a place; others may have none.
        """
        columns = dict(self._digests(name, condition))
        words = {column: columns.pop(column) for column in list(columns) if column.endswith("_text")}
        sql = rows
        for step in (words, columns, self._sums(name, [*words]), {name: self._place(name)}):
            if step:
                made = ", ".join(f"{expression} AS {column}" for column, expression in step.items())
                sql = f"(SELECT *, {made} FROM {sql} AS rows_of_people)"
        return sql

    def _digests(self, name: str, condition: str | None) -> Iterator[tuple[str, str]]:
        """Of what is no whole number: SHA-256, then two numbers of 60 bits."""
        dialect = self.dialect
        texts = [encoded(value, kind, dialect) for value, kind in self.values if not _is_whole(kind) and kind != POINT]
        hashed = []
        if texts:
            digest = dialect.digest(dialect.joined(["''", *texts]))
            hashed.append(digest if condition is None else f"CASE WHEN {condition} THEN {digest} END")
        for value, kind in self.values:
            if kind == POINT:  # near a border it is told by its coordinates
                is_near = f"{value} IS NOT NULL AND {value}.cell IS NULL"
                hashed.append(
                    f"CASE WHEN {is_near} THEN {dialect.digest(encoded(value, kind, dialect))} ELSE '{'0' * 64}' END"
                )
        for place, digest in enumerate(hashed):
            text = f"{name}_{place}_text"
            yield text, digest
            for part in range(2):
                yield f"{name}_{place}_{part}", dialect.number(f"substr({text}, {1 + 15 * part}, 15)")

    def _sums(self, name: str, texts: Sequence[str]) -> Mapping[str, str]:
        limbs = [limb for value, kind in self.values for limb in self._limbs(value, kind)]
        for text in texts:
            for part in range(2):
                word = f"{text.removesuffix('_text')}_{part}"
                limbs += [f"({word} & {2**LIMB_BITS - 1})", self.dialect.shifted(word, LIMB_BITS)]
        return {f"{name}_{side}": self._sum(limbs, side) for side in ("first", "second")}

    def _limbs(self, value: str, kind: str) -> Iterator[str]:
        """A whole number as three parts below 2^30, of which the last one tells where there is none."""
        number = self._whole(value, kind)
        if number is None:
            return
        for part in range(LIMBS_OF_WHOLE - 1):
            shifted = number if part == 0 else self.dialect.shifted(number, LIMB_BITS * part)
            yield f"coalesce({shifted} & {2**LIMB_BITS - 1}, 0)"
        yield f"coalesce({self.dialect.shifted(number, LIMB_BITS * (LIMBS_OF_WHOLE - 1))} & 15, 16)"

    def _whole(self, value: str, kind: str) -> str | None:
        whole, base = self.dialect.whole, kind.split("(", 1)[0]
        if kind == POINT:
            return f"{value}.cell"
        if base == "BOOLEAN":
            return f"CAST(CASE WHEN {value} THEN 1 WHEN NOT {value} THEN 0 END AS {whole})"
        if base == "DATE":
            return f"CAST({self.dialect.days(value)} AS {whole})"
        if base.startswith("TIMESTAMP") and base != "TIMESTAMP_NS":
            return f"CAST({self.dialect.microseconds(value)} AS {whole})"
        return f"CAST({value} AS {whole})" if base in WHOLE else None

    def _sum(self, limbs: Sequence[str], side: str) -> str:
        """Of limbs and factors, and a term, modulo the prime."""
        total = str(self._secret(f"{side} term"))
        for first in range(0, len(limbs), AT_ONCE):
            some = enumerate(limbs[first : first + AT_ONCE], first)
            products = " + ".join(f"{limb} * {self._secret(f'{side} factor {place}')}" for place, limb in some)
            total = f"(({total} + {products}) % {PRIME})"
        return total

    def _place(self, name: str) -> str:
        first, second = f"{name}_first", f"{name}_second"
        value = str(self._secret("coefficient 0"))
        for number in range(1, COEFFICIENTS):
            value = f"(({value} * {first} + {self._secret(f'coefficient {number}')}) % {PRIME})"
        return f"{value} * {2**31} + {second}"

    def _secret(self, purpose: str) -> int:
        """A number below the prime that follows from the key."""
        key = bytes.fromhex(read_selection_key(self.key, "RowOrder"))
        return int.from_bytes(hmac.digest(key, purpose.encode(), "sha256")) % PRIME


def _is_whole(kind: str) -> bool:
    base = kind.split("(", 1)[0]
    is_moment = base in ("DATE", "BOOLEAN") or (base.startswith("TIMESTAMP") and base != "TIMESTAMP_NS")
    return base in WHOLE or is_moment


def read_selection_key(key: object, function: str) -> str:
    """A key of the order, checked; it is never shown."""
    if not isinstance(key, str) or len(key) != KEY_DIGITS or not set(key) <= set("0123456789abcdef"):
        requirement = Words("64 hexadecimal digits", "16 進数 64 桁")
        raise ParameterError("selection_key", function, requirement, Described("something else"))
    return key
