"""People counted by cell on Spark as a frame, where not even the cells fit one machine: executors find the cells themselves.

The frame has the counts of `sudare.spark.counting`, by the same statements. Executors need sudare; what is sent to them is the
domain and how columns are laid out, which are public, and the data itself.
"""

# ruff: noqa: S608 - names are quoted by backquoted()

from __future__ import annotations

import re
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import Domain
from sudare.engines.complaints import failed
from sudare.engines.names import backquoted
from sudare.errors import SudareError
from sudare.io import Source, complaints
from sudare.io.bounding import SPARK, ContributionBounds, Selection, bounded_cells, bounded_rows
from sudare.io.columns import AttributeColumn, WrongValueError
from sudare.io.counting import PeopleLeftOut
from sudare.spark.counting import SparkReading
from sudare.spark.pins import InputPin
from sudare.spark.sources import open_on_spark

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OpenReading", "open_reading"]

MISTAKE = re.compile(r"sudare found a mistake: (missing|wrong|nobody) ([0-9]+)")
"""Nothing of a value: what executors raise is written into Spark's logs, and read back from what Spark says of a failure."""

OF_ATTRIBUTE = Words("a value of the attribute {name!r}", "属性 {name!r} にある値")


class MistakeError(Exception):
    """A value that cannot be counted."""

    def __init__(self, kind: str, column: int) -> None:
        super().__init__(f"sudare found a mistake: {kind} {column}")


@dataclass(frozen=True, eq=False)
class OpenReading:
    """Data on Spark that is about to be counted.

    Attributes:
        session: of Spark, ours alone.
        pin: which state of the data it is.
    """

    session: Any
    pin: InputPin
    _reading: SparkReading

    def counts(self, bounds: ContributionBounds, key: str, opted_out: PeopleLeftOut | None) -> Any:
        """A frame of keys of cells and counts, each cell once. Nothing is counted until somebody asks the frame.

        Args:
            bounds: how much of a person counts; of no use where the source names no column of persons.
            key: of the order in which rows of a person are kept.
            opted_out: whose rows are left out.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of versions of pandas, which is not used here
            return self._counts(Selection(bounds, key, SPARK), opted_out)

    def _counts(self, chosen: Selection, opted_out: PeopleLeftOut | None) -> Any:
        reading, bounds = self._reading, chosen.bounds
        columns, person = reading.columns, reading.source.person
        names = [f"a{number}" for number in range(len(columns))]
        listed, people = ", ".join(names), reading.rows_of_people(opted_out)
        if person is not None and not bounds.is_by_rows:
            rows = self.session.sql(f"SELECT p, {listed} FROM {people} AS people")
            kind = next(field.dataType.simpleString() for field in rows.schema.fields if field.name == "p")
            placed = rows.mapInArrow(self._placing(["p"]), f"p {kind}, cell long")
            counted = bounded_cells(self._named(placed), reading.relation.types[person], chosen)
            return self.session.sql(counted)
        nobody = "false"
        if person is not None:
            mistakes = [f"{name} IS NULL" for name in names]
            mistakes += [f"{name} < 0" for name, column in zip(names, columns, strict=True) if column.is_placed_by_sql]
            kinds = dict(zip(names, (column.grouped_kind for column in columns), strict=True))
            people = f"({bounded_rows(people, kinds, mistakes, reading.relation.types[person], chosen)})"
            nobody = "bool_or(nobody)"
        values = f"SELECT {listed}, count(*) AS n, {nobody} AS nobody FROM {people} AS people GROUP BY {listed}"
        placed = self.session.sql(values).mapInArrow(self._placing(["n"]), "n long, cell long")
        return self.session.sql(f"SELECT cell, sum(n) AS n FROM {self._named(placed)} AS placed GROUP BY cell")

    def explain(self, failure: Exception) -> SudareError:
        """Which column has a value that cannot be counted, or that Spark failed; nothing of the data."""
        found = MISTAKE.search(str(failure))
        if found is None:
            return failed("Spark")
        kind, source = found.group(1), self._reading.source
        if kind == "nobody":
            return complaints.missing_value(source.person or "", complaints.Spot())
        column = self._reading.columns[int(found.group(2))]
        name = ", ".join(column.names)
        if kind == "missing":
            return complaints.missing_value(name, complaints.Spot())
        return complaints.wrong_value(name, OF_ATTRIBUTE.format(name=column.attribute.name), complaints.Spot())

    def _named(self, frame: Any) -> str:
        name = f"sudare_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(name)
        return backquoted(name)

    def _placing(self, kept: Sequence[str]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        reading = self._reading
        return finding_cells(tuple(reading.columns), reading.domain, tuple(kept), reading.source.outside != "refuse")


def finding_cells(
    columns: tuple[AttributeColumn, ...], domain: Domain, kept: tuple[str, ...], leaves_out: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """From values to keys of cells, on an executor.

    Args:
        columns: of the attributes, whose values are ``a0``, ``a1``, ...
        domain: the cells.
        kept: columns that stay as they are.
        leaves_out: whether points and meshes outside of the domain are left out.
    """

    def find(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute

        for batch in batches:
            table = pa.Table.from_batches([batch])
            if "nobody" in table.column_names and pa.compute.any(table["nobody"]).as_py():
                raise MistakeError("nobody", 0)
            if "p" in kept and table["p"].null_count:
                raise MistakeError("nobody", 0)
            for number, column in enumerate(columns):
                if leaves_out:
                    table = table.filter(pa.array(_read(number, table, column.inside)))
            places = [along for number, column in enumerate(columns) for along in _read(number, table, column.places)]
            cells = domain.keys_at(*places).astype(np.int64)
            arrays = [table[name].combine_chunks() for name in kept]
            yield pa.RecordBatch.from_arrays([*arrays, pa.array(cells)], names=[*kept, "cell"])

    return find


def _read(number: int, table: pa.Table, read: Callable[[Any], Any]) -> Any:
    values = table[f"a{number}"]
    if values.null_count:
        raise MistakeError("missing", number)
    try:
        return read(values.combine_chunks())
    except WrongValueError:
        pass
    raise MistakeError("wrong", number)  # not from the other, which holds the value


@contextmanager
def open_reading(source: Source, domain: Domain) -> Iterator[OpenReading]:
    """Data on Spark, once its columns were found in types that hold them. No row is looked at.

    Args:
        source: of the format ``"spark"``.
        domain: the cells.

    Raises:
        InputError: names a column that is missing, or cannot hold what is wanted.
        DatabaseError: if Spark cannot be reached, or does not find the data.
    """
    with open_on_spark(source) as (engine, relation):
        reading = SparkReading(source, domain, engine, relation)
        yield OpenReading(engine.use(lambda session: session), relation.pin, reading)
