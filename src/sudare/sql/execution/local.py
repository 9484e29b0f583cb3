"""Tables in this process: groups that nobody is in, numbers as whole numbers, and the post-processing of results in DuckDB."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from sudare.errors import DatabaseError
from sudare.sql.frontend.copies import copied
from sudare.sql.measures.measures import Key

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["Local", "decimals", "whole_numbers"]

MAX_NUMBER = 10**38 - 1


def whole_numbers(column: pa.ChunkedArray, scale: int) -> np.ndarray[Any, Any]:
    """Exact numbers times 10 to a power, as 64-bit numbers where these hold them; NULL counts as 0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.fill_null(column, pa.scalar(0, column.type)).combine_chunks()
    if isinstance(filled, pa.ChunkedArray):
        filled = pa.concat_arrays(filled.chunks) if filled.num_chunks else pa.array([], column.type)
    if pa.types.is_integer(filled.type):
        numbers = filled.to_numpy(zero_copy_only=False).astype(np.int64)
        return numbers if scale == 0 else np.array([int(value) * 10**scale for value in numbers], dtype=object)
    if pa.types.is_decimal(filled.type):
        digits = filled.type.scale
        if digits == scale and filled.type.bit_width == 128:
            words = np.frombuffer(filled.buffers()[1], np.int64)[2 * filled.offset :][: 2 * len(filled)].reshape(-1, 2)
            if bool((words[:, 1] == words[:, 0] >> 63).all()):
                return words[:, 0].copy()
        values = filled.to_pylist()
        found = [int(value.scaleb(scale, context=_WIDE)) for value in values]
        fits = all(-(2**62) < value < 2**62 for value in found)
        return np.array(found, dtype=np.int64 if fits else object)
    raise DatabaseError(
        "The database gave a sum that is not an exact number.", "データベースが返した合計が厳密な数ではありません。"
    )


def decimals(values: np.ndarray[Any, Any], scale: int) -> pa.Array:
    """Whole numbers divided by 10 to a power, as decimals; as integers where the power is 0 and 64 bits hold them."""
    import pyarrow as pa

    if values.dtype != np.object_:
        plain = np.ascontiguousarray(values, dtype=np.int64)
        if scale == 0:
            return pa.array(plain)
        words = np.empty((plain.size, 2), np.int64)
        words[:, 0], words[:, 1] = plain, plain >> 63
        return pa.Array.from_buffers(pa.decimal128(38, scale), plain.size, [None, pa.py_buffer(words)])
    from decimal import Decimal

    clipped = [min(max(int(value), -MAX_NUMBER), MAX_NUMBER) for value in values]
    return pa.array([Decimal(value).scaleb(-scale, context=_WIDE) for value in clipped], pa.decimal128(38, scale))


class Local:
    """An empty DuckDB of our own, without access to anything outside of it.

    Each thread makes one for each purpose and uses it again; what was put into it is taken out at the end.

    Args:
        purpose: ``"exact"`` for what the database gave, ``"noisy"`` for what is done with results. Results never meet
            exact tables in one place.
    """

    def __init__(self, purpose: str = "exact") -> None:
        self._connection = _own_connection(purpose)
        self._names: list[str] = []

    def __enter__(self) -> Local:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in self._names:
            self._connection.unregister(name)

    def _register(self, name: str, table: pa.Table) -> None:
        self._connection.register(name, table)
        self._names.append(name)

    def all_keys(self, keys: Sequence[Key], fetched: Mapping[str, pa.Table], types: Mapping[str, Any]) -> pa.Table:
        """Every combination of public keys, in their order."""
        import pyarrow as pa

        for key in keys:
            if key.facts.values is not None:
                values = pa.array(list(key.facts.values))
            else:
                values = fetched[key.name].column("v").drop_null().sort() if key.name in fetched else pa.array([])
            column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
            cast = _cast_exactly(column, types.get(key.name, column.type))
            if key.facts.nullable and cast.null_count == 0:
                cast = pa.concat_arrays([cast, pa.nulls(1, cast.type)])
            place = pa.array(np.arange(len(cast)))
            self._register(f"values_{key.name}", pa.table({key.name: cast, f"place_{key.name}": place}))
        names = ", ".join(f'"{key.name}"' for key in keys)
        order = ", ".join(f'"place_{key.name}"' for key in keys)
        sources = " CROSS JOIN ".join(f'"values_{key.name}"' for key in keys)
        return self._run(f"SELECT {names} FROM {sources} ORDER BY {order}")  # noqa: S608 - names of our own

    def completed(self, keys: pa.Table, sums: pa.Table | None, names: Sequence[str]) -> pa.Table:
        """The sums of all public groups; NULL where nobody is in one."""
        import pyarrow as pa

        if sums is None:
            return keys
        numbered = keys.append_column("place", pa.array(np.arange(keys.num_rows)))
        self._register("listed", numbered)
        self._register("sums", sums)
        same = " AND ".join(f'listed."{name}" IS NOT DISTINCT FROM sums."{name}"' for name in names)
        columns = ", ".join(
            [f'listed."{name}"' for name in names]
            + [f'sums."{name}"' for name in sums.column_names if name not in names]
        )
        return self._run(f"SELECT {columns} FROM listed LEFT JOIN sums ON {same} ORDER BY place")  # noqa: S608

    def keys_of(self, histograms: Sequence[pa.Table], names: Sequence[str]) -> pa.Table:
        """The groups that histograms have; one row without columns if there are no keys."""
        import pyarrow as pa

        if not names:
            return pa.table({"one": pa.array([1])})
        listed = ", ".join(f'"{name}"' for name in names)
        for i, table in enumerate(histograms):
            self._register(f"histogram_{i}", table)
        parts = " UNION ".join(f"SELECT {listed} FROM histogram_{i}" for i in range(len(histograms)))  # noqa: S608
        return self._run(f"SELECT {listed} FROM ({parts}) ORDER BY {listed}")  # noqa: S608

    def by_group(
        self, histogram: pa.Table, groups: pa.Table | None, names: Sequence[str]
    ) -> dict[int, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        """Grid points and counts of each group, by the group's number."""
        import pyarrow as pa

        self._register("histogram", histogram)
        if groups is None:
            found = self._run("SELECT 0 AS place, b, n FROM histogram WHERE b IS NOT NULL")
        else:
            self._register("listed", groups.append_column("place", pa.array(np.arange(groups.num_rows))))
            same = " AND ".join(f'listed."{name}" IS NOT DISTINCT FROM histogram."{name}"' for name in names)
            found = self._run(
                f"SELECT place, b, n FROM listed JOIN histogram ON {same} WHERE b IS NOT NULL ORDER BY place"  # noqa: S608
            )
        places, buckets, counts = (found.column(name).to_numpy().astype(np.int64) for name in ("place", "b", "n"))
        if not places.size:
            return {}
        starts = np.flatnonzero(np.r_[True, places[1:] != places[:-1]])
        ends = np.r_[starts[1:], places.size]
        return {
            int(places[start]): (buckets[start:end], counts[start:end]) for start, end in zip(starts, ends, strict=True)
        }

    def post_processed(
        self,
        post: exp.Query,
        tables: Mapping[str, pa.Table],
        deviations: Mapping[str, Mapping[str, float]],
        columns: Sequence[str],
        counted: tuple[str, float] | None = None,
    ) -> tuple[pa.Table, dict[str, NDArray[np.float64]], np.ndarray[Any, np.dtype[np.bool_]] | None]:
        """The query over noisy tables; the standard deviation of each number, to first order; and which groups may be empty.

        Args:
            post: the query.
            tables: noisy results, by name.
            deviations: of the noise of each measure, by table and measure.
            columns: of the answer.
            counted: the measure that counts a group's rows, and how far it may be off; None if there is none.
        """
        for name, table in tables.items():
            self._register(name, table)
        plain = isinstance(post, exp.Select) and not post.args.get("distinct") and len(tables) == 1
        if not plain or not any(deviations.values()):
            return self._run(copied(post).sql("duckdb", copy=False)), {}, None
        ((name, _),) = tables.items()
        extended = copied(post)
        extra: dict[str, str] = {}
        for i, item in enumerate(list(post.expressions)):
            spread = _spread(item.unalias(), deviations.get(name, {}))
            if spread is not None:
                extra[columns[i]] = f"sudare_deviation_{i}"
                extended.append("expressions", exp.alias_(spread, extra[columns[i]], quoted=True, copy=False))
        source = post.args["from_"].this
        if isinstance(source, exp.Subquery) or post.args.get("joins"):
            counted = None  # its rows are those of another query over the groups
        if counted is not None:
            number = exp.Cast(this=exp.column(counted[0], table=name, quoted=True), to=copied(_DOUBLE))
            few = exp.LTE(this=number, expression=exp.Literal.number(repr(counted[1])))
            extended.append("expressions", exp.alias_(few, "sudare_few", quoted=True, copy=False))
        found = self._run(extended.sql("duckdb", copy=False))
        spreads = {column: found.column(hidden).to_numpy(zero_copy_only=False) for column, hidden in extra.items()}
        empty = (
            None
            if counted is None
            else found.column(found.num_columns - 1).to_numpy(zero_copy_only=False).astype(np.bool_)
        )
        return found.select(list(range(len(columns)))), spreads, empty

    def _run(self, sql: str) -> pa.Table:
        import duckdb

        try:
            return self._connection.sql(sql).to_arrow_table()
        except duckdb.Error:
            raise DatabaseError(
                "The calculation with the results failed; write it in another way, with COALESCE or NULLIF where a value may be "
                "missing or zero.",
                "結果に対する計算に失敗しました。値がない場合や 0 の場合に備えて COALESCE や NULLIF を使ってください。",
            ) from None


def _cast_exactly(values: Any, kind: Any) -> Any:
    """Public keys in the type that the database has them in, each still different from the others."""
    import pyarrow as pa

    try:
        cast = values.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        cast = None
    if cast is None or len(cast.unique()) != len(values.unique()):
        raise DatabaseError(
            "The values that the metadata lists for a column do not fit the type that the database has it in.",
            "メタデータに列挙された値が、データベースの列の型に合いません。",
        ) from None
    return cast


def _own_connection(purpose: str) -> Any:
    """The DuckDB of this thread for a purpose."""
    import duckdb

    kept = getattr(_OWN, "connections", None)
    if kept is None or _OWN.process != os.getpid():
        kept = _OWN.connections = {}
        _OWN.process = os.getpid()
    if purpose not in kept:
        kept[purpose] = duckdb.connect(":memory:")
        settings = ("enable_progress_bar = false", "enable_external_access = false", "lock_configuration = true")
        for setting in settings:
            kept[purpose].execute(f"SET {setting}")
    return kept[purpose]


def _spread(value: exp.Expr, deviations: Mapping[str, float]) -> exp.Expr | None:
    """The standard deviation of an expression over noisy numbers: how far it moves if one of them moves by its own."""
    squares: list[exp.Expr] = []
    for measure in dict.fromkeys(column.name for column in value.find_all(exp.Column)):
        if deviations.get(measure, 0.0) <= 0:
            continue
        step = exp.Literal.number(repr(deviations[measure]))
        if isinstance(value, exp.Column):
            return exp.Cast(this=step, to=copied(_DOUBLE))
        moved = copied(value)
        for column in list(moved.find_all(exp.Column)):
            if column.name == measure:
                exactly = exp.Cast(this=copied(column), to=copied(_DOUBLE))
                column.replace(exp.Paren(this=exp.Add(this=exactly, expression=copied(step))))
        change = exp.Sub(this=_as_double(moved), expression=_as_double(copied(value)))
        squares.append(exp.Pow(this=exp.Paren(this=change), expression=exp.Literal.number(2)))
    if not squares:
        return None
    total = squares[0]
    for square in squares[1:]:
        total = exp.Add(this=total, expression=square)
    return exp.Sqrt(this=exp.Paren(this=total))


def _as_double(tree: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.TryCast(this=tree, to=copied(_DOUBLE)))


def _wide_context() -> Any:
    from decimal import Context

    return Context(prec=80)


_WIDE = _wide_context()
_DOUBLE = exp.DataType.build("double")
_OWN = threading.local()
