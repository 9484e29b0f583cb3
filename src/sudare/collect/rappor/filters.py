"""Texts of many people as packed Bloom filters: every text is hashed once for a cohort, however many people have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sudare.collect.rappor.bloom import HashRule, bloom_filter
from sudare.errors import Described, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Integers = NDArray[np.int64]
    Lanes = NDArray[np.uint64]

__all__ = ["FilterShape", "pack_filters", "read_texts"]

SMALL_TABLE = 1 << 16


class FilterShape(Protocol):
    """What must be known of a `Rappor` to make filters for it."""

    @property
    def bits(self) -> int: ...  # noqa: D102
    @property
    def hashes(self) -> int: ...  # noqa: D102
    @property
    def cohorts(self) -> int: ...  # noqa: D102
    @property
    def rule(self) -> HashRule: ...  # noqa: D102
    @property
    def lanes(self) -> int: ...  # noqa: D102


def pack_filters(shape: FilterShape, codes: Integers, texts: Sequence[str], cohorts: Integers) -> Lanes:
    """The filter of each person, 64 bits to a word.

    Args:
        shape: lengths, hashes, cohorts and rule.
        codes: for each person, the place of the text among the texts.
        texts: all different.
        cohorts: the cohort of each person.
    """
    pairs = codes * shape.cohorts + cohorts
    most = len(texts) * shape.cohorts
    if most <= max(2 * codes.size, SMALL_TABLE):
        present = np.flatnonzero(np.bincount(pairs, minlength=most))
        places = np.zeros(most, dtype=np.int64)
        places[present] = np.arange(present.size)
        inverse = places[pairs]
    else:
        present, inverse = np.unique(pairs, return_inverse=True)
    hashed = bytearray()
    for pair in present.tolist():
        code, cohort = divmod(pair, shape.cohorts)
        filled = bloom_filter(texts[code], cohort, shape.hashes, shape.bits, shape.rule)
        hashed += filled.to_bytes(8 * shape.lanes, "little")
    table = np.frombuffer(bytes(hashed), dtype="<u8").astype(np.uint64, copy=False).reshape(-1, shape.lanes)
    return np.ascontiguousarray(table[inverse])


def read_texts(values: ArrayLike, parameter: str, function: str) -> tuple[Integers, list[str]]:
    """The different texts, and for each value its place among them.

    Raises:
        ParameterError: if a value is no text; the message does not say which one.
    """
    import pyarrow as pa

    requirement = "texts, in one dimension"
    if isinstance(values, (str, bytes)):
        raise ParameterError(parameter, function, requirement, Described("a single one"))
    try:
        array = values if isinstance(values, (list, tuple)) else np.asarray(values)
        if isinstance(array, np.ndarray) and (array.ndim != 1 or array.dtype.kind not in "UOT"):
            raise TypeError
        if isinstance(array, np.ndarray) and array.dtype.kind == "T":
            array = array.tolist()
        told = pa.array(array, from_pandas=False)
        if told.null_count or (
            len(told) and not (pa.types.is_string(told.type) or pa.types.is_large_string(told.type))
        ):
            raise TypeError
        encoded = _in_one_piece(told.cast(pa.large_string())).dictionary_encode()
        return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()
    except (TypeError, ValueError, UnicodeEncodeError, pa.ArrowException):  # their words may show a value
        raise ParameterError(parameter, function, requirement, Described("something else")) from None


def _in_one_piece(texts: Any) -> Any:
    """Arrow cuts long arrays of texts into pieces."""
    return texts.combine_chunks() if hasattr(texts, "combine_chunks") else texts
