"""Running a plan: the database counts, exact noise is added outside, and what the query does with results is done to noisy ones.

Everything that could fail without the data is checked before it is read, and nothing is drawn before everything is read.
After the first draw nothing depends on the data but what is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sqlglot import exp

from sudare.engines.engine import Engine
from sudare.errors import DatabaseError
from sudare.noise.entropy import EntropySource, entropy_name, secure_entropy
from sudare.noise.thresholds import publish_keys
from sudare.privacy.events import ReleaseEvent
from sudare.privacy.measurements import SelectionMeasurement
from sudare.sql.execution.local import Local, decimals, whole_numbers
from sudare.sql.frontend.copies import copied
from sudare.sql.measures.allocating import Allocation, Share
from sudare.sql.measures.measures import QuantileMeasure
from sudare.sql.measures.planning import MeasuredTable, QueryPlan
from sudare.sql.measures.quantiles import choose_quantile, offset_for_extreme
from sudare.sql.measures.sparse import publish_sparse
from sudare.sql.relations.public_keys import PublicKeys, public_keys, require_groups

if TYPE_CHECKING:
    import pyarrow as pa

MAX_DIGITS_CUT = 18
"""Digits that a 64-bit number can be divided by a power of ten of."""
Columns: TypeAlias = "dict[str, pa.Array | pa.ChunkedArray]"
Numbers = dict[str, "np.ndarray[Any, Any]"]

__all__ = ["Answer", "LeftOutLists", "answer", "exact_answer"]


@dataclass(frozen=True)
class Answer:
    """The answer to a query.

    Attributes:
        table: the columns that the query asked for.
        deviations: standard deviation of the noise of each number, by column, where it is known.
        event: what was drawn and what it costs; None if everything is public.
        perhaps_empty: for each row whether nobody may be in its group, by its noisy number of rows alone; None where groups
            are not public, or their rows were not counted.
    """

    table: pa.Table
    deviations: Mapping[str, Any]
    event: ReleaseEvent | None
    perhaps_empty: np.ndarray[Any, np.dtype[np.bool_]] | None = None


class LeftOutLists:
    """The lists of keys that are left out, kept inside the database for as long as it stays the same.

    Args:
        engine: of the database.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: dict[str, tuple[str, str]] = {}

    def ready(self, plan: QueryPlan, timeout: float | None) -> bool:
        """Whether the lists of a plan stand in the database under their names; otherwise they go into the query itself."""
        for listed in plan.left_out.values():
            state = self._engine.state(listed.tables)
            query = plan.sql(listed.query)
            if state is None:
                return False
            if self._kept.get(listed.name) == (state, query):
                continue
            self._kept.pop(listed.name, None)
            if not self._engine.keep(listed.name, query, timeout=timeout):
                return False
            if self._engine.state(listed.tables) != state:
                raise DatabaseError(
                    "The tables changed while they were read; ask again when nobody writes to them.",
                    "読み取り中に表が変更されました。書き込みが終わってからやり直してください。",
                )
            self._kept[listed.name] = (state, query)
        return True


def answer(
    plan: QueryPlan,
    allocation: Allocation,
    engine: Engine,
    lists: LeftOutLists,
    *,
    keys: PublicKeys | None = None,
    entropy: EntropySource | None = None,
    timeout: float | None = None,
) -> Answer:
    """Answer a query privately. The caller has reserved what it costs.

    Args:
        plan: of the query.
        allocation: of the budget.
        engine: the database.
        lists: of what is left out.
        keys: from `public_keys`, if they were read before.
        entropy: where the bits come from; the secure source by default.
        timeout: seconds for each query in the database.

    Raises:
        DatabaseError: if the database fails. What was reserved stays spent.
    """
    source = secure_entropy() if entropy is None else entropy
    event = None
    if allocation.cost is not None:
        unit = plan.metadata.privacy_unit
        event = ReleaseEvent("sql", unit, allocation.cost, allocation.measurements, entropy_name(source))
    listed = public_keys(plan, engine, timeout) if keys is None else keys
    require_groups(plan, allocation, listed)
    fetched = _fetch(plan, engine, lists, timeout, listed)
    with Local() as local:
        tables = {
            table.name: _noisy(table, fetched[table.name], plan, allocation, local, source) for table in plan.tables
        }
    return _finished(plan, allocation, tables, event)


def exact_answer(plan: QueryPlan, engine: Engine, lists: LeftOutLists) -> pa.Table:
    """The answer without any noise: **not private**. For tests and for those who own the data.

    Groups with public keys are all there, as they are in a private answer; of others those that there are.
    """
    fetched = _fetch(plan, engine, lists, None)
    with Local() as local:
        tables = {table.name: _noisy(table, fetched[table.name], plan, None, local, None) for table in plan.tables}
    return _finished(plan, None, tables, None).table


@dataclass(frozen=True)
class _Fetched:
    """What the database said of one measured table: sums, histograms, and the values of public keys."""

    sums: pa.Table | None
    histograms: dict[str, pa.Table]
    key_values: dict[str, pa.Table]


def _fetch(
    plan: QueryPlan, engine: Engine, lists: LeftOutLists, timeout: float | None, keys: PublicKeys | None = None
) -> dict[str, _Fetched]:
    listed_keys = public_keys(plan, engine, timeout) if keys is None else keys
    kept = lists.ready(plan, timeout)

    def run(tree: exp.Select) -> pa.Table:
        if kept or not plan.left_out:
            return engine.fetch(plan.sql(tree), timeout=timeout)
        whole = copied(tree)
        for listed in plan.left_out.values():
            whole = whole.with_(exp.to_identifier(listed.name, quoted=True), as_=copied(listed.query))
        return engine.fetch(plan.sql(whole), timeout=timeout)

    found = {}
    for table in plan.tables:
        found[table.name] = _Fetched(
            run(table.query) if table.query is not None else None,
            {name: run(tree) for name, tree in table.quantile_queries.items()},
            listed_keys.get(table.name, {}),
        )
    return found


def _noisy(
    table: MeasuredTable,
    fetched: _Fetched,
    plan: QueryPlan,
    allocation: Allocation | None,
    local: Local,
    source: EntropySource | None,
) -> pa.Table:
    """A measured table with its noise; without an allocation, or where all is public, as it is."""
    import pyarrow as pa

    plain = allocation is None or table.is_public
    listed = bool(table.keys) and not table.is_public and table.presence is None
    sums = fetched.sums
    if listed:
        keys = local.all_keys(table.keys, fetched.key_values, _key_types(table, fetched))
        sums = local.completed(keys, sums, [key.name for key in table.keys])
    elif sums is None:
        sums = local.keys_of(list(fetched.histograms.values()), [key.name for key in table.keys])
    columns: Columns = {key.name: sums.column(key.name) for key in table.keys}
    numbers = {measure.name: whole_numbers(sums.column(measure.name), measure.scale) for measure in table.sums}
    if not plain and table.presence is not None and allocation is not None:
        if table.name in allocation.ranges:
            columns, numbers = _published_range(table, columns, numbers, allocation, plan, source)
        else:
            columns, numbers = _published_keys(table, columns, numbers, allocation, plan, source)
    groups = pa.table(columns) if columns else None
    for measure in table.sums:
        values = numbers[measure.name]
        if not plain and allocation is not None and source is not None and measure is not table.presence:
            drawn = allocation.shares[table.name, measure.name].sampler().draw(values.shape, source)
            values = _added(_cut(values, measure.coarse), drawn)
            values = values if measure.coarse == 0 else values.astype(object) * 10**measure.coarse
        columns[measure.name] = decimals(values, measure.scale)
    for choice in table.quantiles:
        columns[choice.name] = _chosen(
            table, choice, fetched, groups, allocation if not plain else None, plan, local, source
        )
    return pa.table(columns)


def _cut(values: np.ndarray[Any, Any], digits: int) -> np.ndarray[Any, Any]:
    """Whole numbers without their last digits, rounded down."""
    if digits == 0:
        return values
    return np.asarray((values if digits <= MAX_DIGITS_CUT else values.astype(object)) // 10**digits)


def _published_keys(
    table: MeasuredTable,
    columns: Columns,
    numbers: Numbers,
    allocation: Allocation,
    plan: QueryPlan,
    source: EntropySource | None,
) -> tuple[Columns, Numbers]:
    """The groups that enough units are in, in the order of their keys.

    The order in which a database gives groups may depend on anybody's rows.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    presence = _presence(table)
    rows, each = (table.limits.groups, 1) if table.limits.groups is not None else (table.limits.rows, None)
    published = publish_keys(
        numbers[presence],
        rows or 1,
        allocation.shares[table.name, presence].budget.epsilon,
        allocation.deltas[table.name],
        unit=plan.metadata.privacy_unit,
        rows_per_group=each,
        entropy=source,
    )
    kept = pa.table({name: column.take(pa.array(published.positions)) for name, column in columns.items()})
    order = pc.sort_indices(kept, [(name, "ascending") for name in kept.column_names]).to_numpy()
    places = published.positions[order]
    found = {name: values[places] for name, values in numbers.items()}
    found[presence] = published.counts[order]
    return {name: kept.column(name).take(pa.array(order)) for name in kept.column_names}, found


def _published_range(
    table: MeasuredTable,
    columns: Columns,
    numbers: Numbers,
    allocation: Allocation,
    plan: QueryPlan,
    source: EntropySource | None,
) -> tuple[Columns, Numbers]:
    """The numbers of a public range whose noisy counts are large enough; nobody need be there."""
    import pyarrow as pa

    presence, key = _presence(table), table.keys[0].name
    first, size = allocation.ranges[table.name]
    raw = columns[key].to_pylist()
    inside = np.array(
        [i for i, value in enumerate(raw) if value is not None and first <= value < first + size], np.int64
    )
    places = np.array([raw[i] - first for i in inside.tolist()], np.int64)
    published = publish_sparse(
        places,
        numbers[presence][inside].astype(np.int64),
        size,
        table.limits.rows or 1,
        allocation.shares[table.name, presence].budget.epsilon,
        threshold=allocation.thresholds[table.name],
        unit=plan.metadata.privacy_unit,
        entropy=source,
    )
    order = np.argsort(places)
    listed = places[order]
    spots = np.minimum(np.searchsorted(listed, published.keys), max(listed.size - 1, 0))
    hit = listed[spots] == published.keys if listed.size else np.zeros(published.keys.size, dtype=bool)
    found: Numbers = {}
    for name, values in numbers.items():
        found[name] = np.zeros(published.keys.size, dtype=values.dtype)
        found[name][hit] = values[inside[order[spots[hit]]]]
    found[presence] = published.counts
    return {key: pa.array(published.keys + first)}, found


def _presence(table: MeasuredTable) -> str:
    if table.presence is None:
        raise ValueError("a table whose keys are public")
    return table.presence.name


def _added(values: np.ndarray[Any, Any], drawn: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Numbers plus noise; as Python's own numbers where 64 bits might not hold them."""
    limit = 2**62
    small = values.dtype != np.object_ and (
        values.size == 0 or (int(values.max()) < limit and int(values.min()) > -limit)
    )
    if small and (drawn.size == 0 or (int(drawn.max()) < limit and int(drawn.min()) > -limit)):
        return np.asarray(values + drawn)
    return np.array([int(value) + int(noise) for value, noise in zip(values, drawn, strict=True)], dtype=object)


def _key_types(table: MeasuredTable, fetched: _Fetched) -> dict[str, pa.DataType]:
    for result in (fetched.sums, *fetched.histograms.values()):
        if result is not None:
            return {key.name: result.schema.field(key.name).type for key in table.keys}
    return {}


def _chosen(
    table: MeasuredTable,
    measure: QuantileMeasure,
    fetched: _Fetched,
    groups: pa.Table | None,
    allocation: Allocation | None,
    plan: QueryPlan,
    local: Local,
    source: EntropySource | None,
) -> pa.Array:
    """A quantile of each group."""
    import pyarrow as pa

    histogram = fetched.histograms[measure.name]
    number = 1 if groups is None else groups.num_rows
    parts = local.by_group(histogram, groups, [key.name for key in table.keys])
    values: list[object] = []
    for i in range(number):
        buckets, counts = parts.get(i, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
        if allocation is None:
            place = _exact_place(buckets, counts, measure.share)
        else:
            share = allocation.shares[table.name, measure.name]
            place, _ = choose_quantile(
                buckets,
                counts,
                measure.points,
                measure.share,
                measure.rows,
                share.budget,
                offset=_offset(measure, share, plan),
                unit=plan.metadata.privacy_unit,
                entropy=source,
            )
        values.append(None if place is None else _value_at(measure, place))
    if measure.facts.kind == "date":
        return pa.array(values, pa.date32())
    scale = max(len(str(measure.step.denominator)) - 1, 0)
    found = [0 if value is None else int(Fraction(str(value)) * 10**scale) for value in values]
    array = decimals(np.array(found, dtype=np.int64), scale)
    return pa.array(
        [None if value is None else item.as_py() for value, item in zip(values, array, strict=True)], array.type
    )


def _offset(measure: QuantileMeasure, share: Share, plan: QueryPlan) -> int:
    """Ranks from the end to aim at for the smallest or the largest value, so that no point beyond all rows is chosen."""
    if measure.share not in (0, 1) or not isinstance(share.measurement, SelectionMeasurement):
        return 0
    epsilon = share.measurement.chosen_epsilon
    away = offset_for_extreme(measure.points, measure.rows, epsilon, adjacency=plan.metadata.adjacency)
    return away if measure.share == 0 else -away


def _exact_place(buckets: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], share: Fraction) -> int | None:
    """Where the wanted share of the rows is reached."""
    if not buckets.size:
        return None
    order = np.argsort(buckets)
    below = np.cumsum(counts[order])
    wanted = max(int(share * int(below[-1]) + Fraction(999999, 1000000)), 1)
    return int(buckets[order][int(np.searchsorted(below, wanted))])


def _value_at(measure: QuantileMeasure, place: int) -> object:
    value = measure.low + place * measure.step
    if measure.facts.kind == "date":
        return date(1970, 1, 1) + timedelta(days=int(value))
    return value


def _finished(
    plan: QueryPlan, allocation: Allocation | None, tables: dict[str, pa.Table], event: ReleaseEvent | None
) -> Answer:
    """Do with the noisy tables what the query does with results."""
    deviations: dict[str, dict[str, float]] = {}
    if allocation is not None:
        for (table, measure), share in allocation.shares.items():
            deviations.setdefault(table, {})[measure] = share.deviation
    with Local("noisy") as local:
        result, spread, empty = local.post_processed(
            plan.post, tables, deviations, plan.columns, _row_count(plan, allocation)
        )
    return Answer(result.rename_columns(list(plan.columns)), spread, event, empty)


def _row_count(plan: QueryPlan, allocation: Allocation | None) -> tuple[str, float] | None:
    """The measure that counts the rows of public groups, and how far it may be off; None if there is none."""
    if allocation is None or len(plan.tables) != 1:
        return None
    (table,) = plan.tables
    if table.is_public or table.presence is not None or not table.keys:
        return None
    counts = [measure.name for measure in table.sums if measure.is_row_count]
    return (counts[0], float(allocation.shares[table.name, counts[0]].error)) if counts else None
