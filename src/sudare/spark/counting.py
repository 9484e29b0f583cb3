"""Counting people on Spark, exactly as DuckDB counts them: `sudare.io.counting` with Spark's SQL, and the same code around it."""

# ruff: noqa: S608 - names and texts are quoted by backquoted() and literal()

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from sudare.domain import CountTable, Domain
from sudare.domain.domain import read_domain
from sudare.engines.names import backquoted
from sudare.engines.spark_engine import SparkEngine
from sudare.io import Source
from sudare.io.bounding import FIXED_KEY, SPARK, Selection, bounded_cells, read_selection_key
from sudare.io.counting import Defaults, PeopleLeftOut, TabularReading
from sudare.io.engine import Progress, numpy_of
from sudare.io.loading import read_bounds
from sudare.spark.expressions import condition, literal, raw, require_readable
from sudare.spark.pins import InputPin
from sudare.spark.sources import SparkRelation, open_on_spark

__all__ = ["SparkCounts", "columns_on_spark", "count_on_spark"]


@dataclass(frozen=True, eq=False)
class SparkCounts:
    """What was counted on Spark.

    Attributes:
        table: the true counts. **Not private.**
        pin: which state of the data was read.
    """

    table: CountTable
    pin: InputPin


def count_on_spark(
    source: Source,
    domain: Domain,
    frame: Any = None,
    *,
    rows_per_person: int | None = None,
    cells_per_person: int | None = None,
    rows_per_cell: int | None = None,
    opted_out: tuple[str, frozenset[str]] | None = None,
    selection_key: str = FIXED_KEY,
    progress: Progress | None = None,
) -> SparkCounts:
    """Count people on Spark. The result is that of `sudare.io.read_counts` from the same rows, whatever the cluster does.

    Args:
        source: of the format ``"spark"``: a table, a path or a query; columns and persons as for files.
        domain: the cells.
        frame: a DataFrame of Spark that is counted in place of what the source names. It must give the same rows each time.
        rows_per_person: see `sudare.io.read_counts`, as for all that follow.
        cells_per_person: in how many cells a person counts, at most.
        rows_per_cell: how many rows of a person in one cell count, at most.
        opted_out: whose rows are left out.
        selection_key: by which it is decided which rows of a person count.
        progress: called with the share of Spark's tasks that are done.

    Raises:
        InputError: if a value does not belong to its attribute, or a column is missing.
        DatabaseError: if Spark fails, or cannot be reached.
        ParameterError: if the arguments do not go together.
    """
    read_domain(domain, "count_on_spark")
    limits = {"rows": rows_per_person, "cells": cells_per_person, "rows_per_cell": rows_per_cell}
    bounds, people = read_bounds(source, limits, opted_out)
    chosen = Selection(bounds, read_selection_key(selection_key, "count_on_spark"), SPARK)
    with open_on_spark(source, frame) as (engine, relation):
        reading = SparkReading(source, domain, engine, relation)
        return SparkCounts(reading.count_people(chosen, people, progress), relation.pin)


def columns_on_spark(source: Source, domain: Domain) -> tuple[str, ...]:
    """The columns of a source, once those that counting needs were found in types that hold it. No row is looked at.

    Raises:
        InputError: names the column.
        DatabaseError: if Spark cannot be reached, or does not find the data.
    """
    with open_on_spark(source) as (engine, relation):
        SparkReading(source, domain, engine, relation)
        return tuple(relation.types)


class SparkReading(TabularReading):
    """One reading of rows on Spark."""

    def __init__(self, source: Source, domain: Domain, engine: SparkEngine, relation: SparkRelation) -> None:
        self.engine = engine
        super().__init__(source, domain, Defaults("people"), cast("Any", None), relation, peek=False)
        for column in self.columns:
            require_readable(column)
        self._condition()

    def _fetch(self, sql: str, progress: Progress | None = None) -> Any:
        if progress is not None:
            progress(0.0, "counting")
        found = self.engine.count(sql, lambda share: None if progress is None else progress(share, "counting"))
        if progress is not None:
            progress(1.0, "counted")
        return found

    def _condition(self) -> str:
        kinds = self.relation.types
        parts = [condition(name, kinds[name], value) for name, value in self.source.where.items()]
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _selected(self, more: Sequence[str] = ()) -> str:
        raws = [f"{raw(column)} AS v{number}" for number, column in enumerate(self.columns)]
        rows = self.relation.rows(self.connection, self.needed)
        return f"SELECT {', '.join([*raws, *more])} FROM {rows}{self._condition()}"

    def rows_of_people(self, opted_out: PeopleLeftOut | None, more: Mapping[str, str] | None = None) -> str:
        """The rows with their values and their person ``p``, without those who opted out."""
        name = self.source.person
        person = "''" if name is None else backquoted(name)
        selected = self._selected([f"{person} AS p"])
        inner = f"SELECT {', '.join([*self._grouped(), 'p'])} FROM ({selected})"
        return f"(SELECT people.* FROM ({inner}) AS people{self._left_out(opted_out)})"

    def _left_out(self, opted_out: PeopleLeftOut | None) -> str:
        if opted_out is None or not opted_out.digests:
            return ""
        import pyarrow

        view = self._view(pyarrow.table({"digest": sorted(opted_out.digests)}))
        text = f"concat({literal(opted_out.salt)}, chr(0), CAST(people.p AS STRING))"
        return f" LEFT ANTI JOIN {view} AS gone ON sha2(CAST({text} AS BINARY), 256) = gone.digest"

    def _view(self, table: Any) -> str:
        """A small table of ours, for Spark to join."""
        name = f"sudare_{uuid.uuid4().hex}"
        self.engine.use(lambda session: session.createDataFrame(table).createOrReplaceTempView(name))
        return backquoted(name)

    def _count_cells_of_people(
        self, chosen: Selection, opted_out: PeopleLeftOut | None, progress: Progress | None
    ) -> CountTable:
        import pyarrow

        names = [f"a{number}" for number in range(len(self.columns))]
        listed = ", ".join(names)
        people = self.rows_of_people(opted_out)
        distinct = f"SELECT DISTINCT {listed}, p IS NULL AS nobody FROM {people} AS found"
        values = self._fetch(distinct).combine_chunks()
        self._refuse_nobody(values)
        values = self._within_windows(values)
        cells = self.domain.keys_at(*self._places(values)).astype(np.int64)
        known = pyarrow.table({**{name: values[name] for name in names}, "cell": cells})
        same = " AND ".join(f"people.{name} <=> known.{name}" for name in names)
        placed = f"(SELECT p, known.cell AS cell FROM {people} AS people JOIN {self._view(known)} AS known ON {same})"
        person = "VARCHAR" if self.source.person is None else self.relation.types[self.source.person]
        result = self._fetch(bounded_cells(placed, person, chosen), progress).combine_chunks()
        return CountTable.from_cells(self.domain, numpy_of(result["cell"]), numpy_of(result["n"]))
