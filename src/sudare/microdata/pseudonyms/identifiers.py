"""Identifiers as texts that are the same in every file: the text as it is written, changed only where the user says so.

An identifier is a text or a whole number; a number is its decimal digits, so that 7 in a Parquet file and ``7`` in a CSV file are
the same person. Nothing else is done by itself: ``007`` is not ``7``, and a wide digit is not a narrow one, unless a
normalisation is chosen. An empty text is a missing identifier.

To normalise what is normalised already changes nothing: normalisations are repeated until nothing changes, since one may make
room for another (``"0 17"`` without its zero begins with a space). So a person has one canonical text, however often it is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sudare.bilingual import Words
from sudare.errors import InputError, ParameterError
from sudare.parameters import shown

__all__ = ["NORMALIZATIONS", "canonical_texts", "read_normalizations"]

NORMALIZATIONS = ("nfkc", "strip", "upper", "no-leading-zeros")
"""In the order in which they are done: wide letters to narrow ones and the like, spaces around, capital letters, zeros before."""


def read_normalizations(chosen: Sequence[str], function: str = "Pseudonymizer") -> tuple[str, ...]:
    """The normalisations that were chosen, in the order in which they are done.

    Raises:
        ParameterError: if one is unknown.

    Example:
        >>> read_normalizations(["strip", "nfkc"])
        ('nfkc', 'strip')
    """
    if isinstance(chosen, str):
        raise ParameterError("normalize", function, "a sequence of names", shown(chosen))
    for name in chosen:
        if name not in NORMALIZATIONS:
            raise ParameterError(
                "normalize",
                function,
                Words(f"some of {', '.join(NORMALIZATIONS)}", f"{', '.join(NORMALIZATIONS)} のいくつか"),
                shown(name),
            )
    return tuple(name for name in NORMALIZATIONS if name in chosen)


def canonical_texts(values: Any, normalizations: Sequence[str] = (), *, column: str = "values") -> Any:
    """Identifiers as one Arrow array of texts (large_string), missing ones as nulls.

    Args:
        values: an Arrow array, a NumPy array, or a sequence of texts and whole numbers.
        normalizations: some of `NORMALIZATIONS`.
        column: what to call the values in an error.

    Raises:
        InputError: if they are neither texts nor whole numbers.

    Example:
        >>> canonical_texts([" 007", 7, None], ["strip", "no-leading-zeros"]).to_pylist()
        ['7', '7', None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = _once(_as_texts(values, column), normalizations)
    # Each alone is done in one round. Together they end as well: no single character changes after the first round, so whatever
    # changes a text later (letters joined, spaces or zeros dropped) makes it shorter.
    while len(normalizations) > 1 and not (again := _once(texts, normalizations)).equals(texts):
        texts = again
    empty = pc.fill_null(pc.equal(texts, ""), False)
    if pc.any(empty).as_py():
        texts = pc.if_else(empty, pa.scalar(None, pa.large_string()), texts)
    return texts


def _once(texts: Any, normalizations: Sequence[str]) -> Any:
    """The chosen normalisations, one after the other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "nfkc" in normalizations:
        texts = pc.utf8_normalize(texts, form="NFKC")
    if "strip" in normalizations:
        texts = pc.utf8_trim_whitespace(texts)
    if "upper" in normalizations:
        texts = pc.utf8_upper(texts)
    if "no-leading-zeros" in normalizations:
        trimmed = pc.utf8_ltrim(texts, characters="0")
        is_zero = pc.and_(pc.equal(trimmed, ""), pc.not_equal(texts, ""))
        texts = pc.if_else(is_zero, pa.scalar("0", pa.large_string()), trimmed)
    return texts


def first_missing(texts: Any) -> int | None:
    """The place of the first missing identifier."""
    import pyarrow.compute as pc

    if not texts.null_count:
        return None
    return int(pc.index(pc.is_null(texts), True).as_py())


def missing_identifier(column: str, file: Path | None, row: int) -> InputError:
    """An identifier is missing, in a row counted from 1 without the header."""
    where, where_ja = ("", "") if file is None else (f" of {file.name!r}", f"{file.name!r} の")
    return InputError(
        f"The column {column!r}{where} has no identifier in data row {row}. Fill it in, or say that such rows keep an empty "
        f"pseudonym (--missing keep).",
        f"{where_ja}列 {column!r} のデータ {row} 行目に識別子がありません。値を入れるか、"
        "空のまま残すこと（--missing keep）を指定してください。",
    )


def _as_texts(values: Any, column: str) -> Any:
    import pyarrow as pa

    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = _arrow_of(values, column)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):  # of no chunk, or of more than one array holds
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], pa.large_string())
    kind = values.type
    if pa.types.is_dictionary(kind):
        values, kind = values.dictionary_decode(), kind.value_type
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
    if not is_text and not pa.types.is_integer(kind) and not pa.types.is_null(kind):
        raise wrong_kind(column, str(kind))
    return values.cast(pa.large_string())


def _arrow_of(values: Any, column: str) -> Any:
    """Texts and whole numbers of a sequence, without anything that Python would silently turn into a text."""
    import numpy as np
    import pyarrow as pa

    if isinstance(values, np.ndarray) and values.dtype.kind in "iuU":
        return pa.array(values)
    texts: list[str | None] = []
    for value in values:
        if value is None or isinstance(value, str):
            texts.append(value)
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            texts.append(str(int(value)))
        else:
            raise wrong_kind(column, type(value).__name__)
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        raise wrong_kind(column, "broken text") from None


def wrong_kind(column: str, kind: str) -> InputError:
    """Identifiers of a type that has no exact text."""
    return InputError(
        f"The column {column!r} holds {kind}; identifiers must be texts or whole numbers. Numbers with decimals have no exact "
        f"text: write them as texts or whole numbers first.",
        f"列 {column!r} の型は {kind} です。識別子は文字列か整数でなければなりません。小数は文字列か整数に直してください。",
    )
