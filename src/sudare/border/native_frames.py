"""Frames by the means of the package that made them: pandas, polars, pyarrow, DuckDB.

Frames of other packages are read through narwhals, where that is installed. No package is loaded here that makes frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from sudare.extras import DATA_FRAMES, optional_module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["IntoFrame", "NativeFrame", "is_frame", "native_frame"]


class IntoFrame(Protocol):
    """What may be handed in as a frame; `is_frame` looks closer."""

    @property
    def columns(self) -> Any:
        """Names or columns."""


class NativeFrame(Protocol):
    """A frame that is in memory."""

    @property
    def names(self) -> Sequence[Any]:
        """Of its columns."""

    def __len__(self) -> int: ...

    def to_numpy(self, name: str) -> NDArray[Any]:
        """A column as an array."""

    def to_arrow(self, name: str) -> Any:
        """A column as an array of pyarrow."""


def is_frame(value: object) -> bool:
    """Whether a value is a frame, told without loading any package that makes frames."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    names = {each.__name__ for each in kind.__mro__}
    if package == "pyarrow":
        return bool(names & {"Table", "RecordBatch"})
    if package in ("duckdb", "_duckdb"):
        return "DuckDBPyRelation" in names
    return bool(names & {"DataFrame", "LazyFrame"})


def native_frame(value: object, *, is_lazy_allowed: bool = False) -> NativeFrame | None:
    """A frame, ready to be read; None for what is none, or has two columns of one name.

    Args:
        value: what was handed in.
        is_lazy_allowed: whether what must be computed first, such as a relation of DuckDB, is taken.

    Raises:
        MissingPackageError: if it is a frame of a package that is read through narwhals, which is not installed.
    """
    if not is_frame(value):
        return None
    frame = cast("Any", value)
    made_by = {(each.__module__.partition(".")[0], each.__name__) for each in type(value).__mro__}
    found: NativeFrame
    if ("pandas", "DataFrame") in made_by:
        found = _PandasFrame(frame)
    elif ("polars", "DataFrame") in made_by:
        found = _PolarsFrame(frame)
    elif made_by & {("pyarrow", "Table"), ("pyarrow", "RecordBatch")}:
        found = _ArrowFrame(frame)
    elif ("polars", "LazyFrame") in made_by:
        if not is_lazy_allowed:
            return None
        found = _PolarsFrame(frame.collect())
    elif "DuckDBPyRelation" in {name for _, name in made_by}:
        if not is_lazy_allowed:
            return None
        found = _ArrowFrame(frame.to_arrow_table())
    else:
        return _frame_by_narwhals(frame, is_lazy_allowed)
    return found if _are_different(found.names) else None


def _are_different(names: Sequence[Any]) -> bool:
    return len(set(names)) == len(names)


class _PandasFrame:
    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = list(frame.columns)

    def __len__(self) -> int:
        return len(self.frame)

    def to_numpy(self, name: str) -> NDArray[Any]:
        """Times in UTC; numbers that may be missing as plain ones, with NaN where they are."""
        import numpy as np

        series = self.frame[name]
        kind = series.dtype
        if isinstance(kind, np.dtype):
            return cast("NDArray[Any]", series.to_numpy())
        if getattr(kind, "tz", None) or getattr(getattr(kind, "pyarrow_dtype", None), "tz", None):
            return cast("NDArray[Any]", series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        if getattr(kind, "kind", "O") in "iuf":
            plain = np.dtype(f"{kind.kind}{kind.itemsize}")
            if not series.isna().any():
                return cast("NDArray[Any]", series.to_numpy(dtype=plain))
            dtype = plain if plain.kind == "f" else np.dtype(np.float64)
            return cast("NDArray[Any]", series.to_numpy(dtype=dtype, na_value=np.nan))
        return cast("NDArray[Any]", series.to_numpy())

    def to_arrow(self, name: str) -> Any:
        import pyarrow as pa

        return pa.Array.from_pandas(self.frame[name])


class _PolarsFrame:
    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = list(frame.columns)

    def __len__(self) -> int:
        return int(self.frame.height)

    def to_numpy(self, name: str) -> NDArray[Any]:
        import numpy as np

        return np.asarray(self.frame[name])  # to_numpy of polars makes objects of texts

    def to_arrow(self, name: str) -> Any:
        return self.frame[name].to_arrow()


class _ArrowFrame:
    def __init__(self, table: Any) -> None:
        self.table = table
        self.names = list(table.schema.names)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_numpy(self, name: str) -> NDArray[Any]:
        column = self.table.column(name)
        chunks = getattr(column, "combine_chunks", lambda: column)()
        return cast("NDArray[Any]", chunks.to_numpy(zero_copy_only=False))

    def to_arrow(self, name: str) -> Any:
        return self.table.column(name)


def _frame_by_narwhals(frame: Any, is_lazy_allowed: bool) -> NativeFrame | None:
    library = type(frame).__module__.partition(".")[0]
    narwhals = optional_module("narwhals", "frames", DATA_FRAMES.format(library=library))
    try:
        data = narwhals.from_native(frame)
        if isinstance(data, narwhals.LazyFrame):
            if not is_lazy_allowed:
                return None
            data = data.collect()
        return _OtherFrame(data)
    except (TypeError, AttributeError, narwhals.exceptions.NarwhalsError):
        return None


class _OtherFrame:
    def __init__(self, data: Any) -> None:
        self.data = data
        self.names = list(data.columns)

    def __len__(self) -> int:
        return len(self.data)

    def to_numpy(self, name: str) -> NDArray[np.generic]:
        return cast("NDArray[np.generic]", self.data[name].to_numpy())

    def to_arrow(self, name: str) -> Any:
        return self.data[name].to_arrow()
