"""Answers in the same types, whichever database gave them.

Whole numbers are int64, or, beyond it, uint64 or decimals without digits behind the point; decimals keep their scale;
floats are float64; text is text; timestamps are in UTC, those without a time zone have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["decimal_column", "same_types"]


def same_types(table: pa.Table) -> pa.Table:
    """The table in the types named above; the values stay what they are."""
    import pyarrow as pa

    fields = [pa.field(field.name, _common(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _common(kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.types as known

    if known.is_dictionary(kind):
        kind = kind.value_type
    if known.is_integer(kind) and kind != pa.uint64():
        return pa.int64()
    if known.is_floating(kind):
        return pa.float64()
    if known.is_large_string(kind) or known.is_string_view(kind):
        return pa.string()
    if known.is_timestamp(kind):
        unit = "ns" if kind.unit == "ns" else "us"
        return pa.timestamp(unit, "UTC" if kind.tz else None)
    return kind


def decimal_column(values: Sequence[Decimal | None], scale: int | None = None) -> pa.Array | None:
    """Decimals in one exact type, 38 digits wide or 76 if they need it; None if they need more, or are no numbers.

    Args:
        values: of a column.
        scale: at least this many digits behind the point.

    Example:
        >>> from decimal import Decimal
        >>> from sudare.engines.results import decimal_column
        >>> decimal_column([Decimal("1.50"), None, Decimal("1E+2")]).type
        Decimal128Type(decimal128(38, 2))
    """
    import pyarrow as pa

    behind, before = scale or 0, 1
    for value in values:
        if value is None:
            continue
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int):
            return None
        behind, before = max(behind, -exponent), max(before, value.adjusted() + 1)
    if behind + before > 76:
        return None
    return pa.array(values, pa.decimal128(38, behind) if behind + before <= 38 else pa.decimal256(76, behind))
