"""From the files of a plan to exact tables whose unsafe cells are known; several tables become one system of sums.

An error in the data names the file, the row or the codes of the cell, and never a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.disclosure.argus.files import read_apriori, read_argus_metadata, read_table, table_of_records
from sudare.disclosure.cell_table import Contributions, aggregate
from sudare.disclosure.linking import link_tables
from sudare.disclosure.rules import cells_with_code, primary_cells, strictest
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.disclosure.structure import CellTable, Dimension, TableSystem
from sudare.domain import mesh_cells
from sudare.domain.mesh import other_level
from sudare.errors import InputError, ParameterError
from sudare.io import Source
from sudare.io.headers import require_columns, require_openable
from sudare.microdata.records import Records, read_people
from sudare.releases.kinds.tables.methods.registry import cell_method_named, registered_cell_methods
from sudare.releases.kinds.tables.planning.input_columns import digits_needed, exact_numbers, texts_without_gaps
from sudare.releases.kinds.tables.planning.input_plan import ArgusInput, CellsInput, MeshInput, RecordsInput
from sudare.releases.kinds.tables.planning.rule_plan import PlannedRule
from sudare.storage.hashes import hash_of_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sudare.releases.kinds.tables.planning.plan_file import PlannedTable, TablePlan

    Integers = NDArray[np.int64]
    Booleans = NDArray[np.bool_]

__all__ = [
    "JudgedTable",
    "Meshes",
    "RecordCells",
    "hash_of_input",
    "read_judged_table",
    "read_meshes",
    "require_table_columns",
]


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """All tables of a plan as one system, and which of its cells are unsafe.

    Attributes:
        table: values, contributors and largest contributions.
        primaries: unsafe cells and their protection levels.
        keys: a number for each cell that depends on its records, for methods that ask for it; None for others.
    """

    table: CellTable
    primaries: PrimaryCells
    keys: Integers | None = None


@dataclass(frozen=True, eq=False)
class RecordCells:
    """Records, and the cells that they are counted in.

    Attributes:
        records: the columns of the plan, and those that the method asked for.
        spans: the dimensions of each table.
        codes: of the records, by dimension.
        system: the cells of all tables.
    """

    records: Records
    spans: Sequence[Sequence[Dimension]]
    codes: Mapping[str, NDArray[np.object_]]
    system: TableSystem


@dataclass(frozen=True, eq=False)
class Meshes:
    """Meshes with their people and attributes.

    Attributes:
        codes: of the meshes.
        population: people in each.
        values: columns of attributes.
    """

    codes: Integers
    population: Integers
    values: Mapping[str, Integers]


def read_judged_table(plan: TablePlan) -> JudgedTable:
    """Read what a plan names, put its tables together and apply its rules.

    Raises:
        InputError: if the data is not what the plan says: an unknown code, a negative magnitude, a table that does not add up.
    """
    source = plan.source
    if isinstance(source, RecordsInput):
        return _of_records(plan, source)
    if isinstance(source, CellsInput):
        return _of_cells(plan, source)
    if isinstance(source, ArgusInput):
        return _of_argus(plan, source)
    raise ParameterError("plan", "read_judged_table", "a plan for a table", plan.method)


def _of_records(plan: TablePlan, source: RecordsInput) -> JudgedTable:
    method = cell_method_named(plan.method)
    columns = _columns_of_records(plan, source)
    with _about(source.path):
        records = read_people(source.path, format=source.format, encoding=source.encoding, columns=columns)
        if not records.rows:
            raise InputError("There are no rows.", "行がありません。")
        codes = {name: texts_without_gaps(records, one.column) for name, one in plan.dimensions.items()}
        dimensions = {name: one.resolve(records.column(one.column).texts()) for name, one in plan.dimensions.items()}
        contributions = _contributions(records, source)
        keep = plan.largest_needed
        spans = [[dimensions[name] for name in table.dimensions] for table in plan.tables]
        table = _linked([aggregate(span, codes, contributions, largest=keep) for span in spans])
        safe = _missing(plan, table.system)
        judged = _judge(table, plan.rules, safe)
        if plan.record_rules:
            single = replace(contributions, holdings=None)
            apart = _linked([aggregate(span, codes, single, largest=keep) for span in spans])
            judged = strictest(judged, _judge(apart, plan.record_rules, safe))
        keys = method.keys_of_cells(plan.protection, RecordCells(records, spans, codes, table.system))
    return JudgedTable(table, judged, keys)


def _columns_of_records(plan: TablePlan, source: RecordsInput) -> list[str]:
    named = [source.value, source.weight, source.holding, source.request]
    columns = [dimension.column for dimension in plan.dimensions.values()]
    columns += [name for name in named if name is not None]
    columns += cell_method_named(plan.method).columns_of_records(plan.protection)
    return list(dict.fromkeys(columns))


def _columns_of_cells(plan: TablePlan, source: CellsInput, table: PlannedTable) -> list[str]:
    columns = [plan.dimensions[name].column for name in table.dimensions]
    columns += [source.value, *([source.contributors] if source.contributors else []), *source.largest]
    return list(dict.fromkeys(columns))


def require_table_columns(plan: TablePlan) -> None:
    """Refuse data that is not there or lacks a column, by its headers alone.

    Raises:
        InputError: names the file and the column.
    """
    source = plan.source
    wanted: list[tuple[Path, list[str]]] = []
    if isinstance(source, ArgusInput):
        for path in (source.path, source.metadata, *([source.apriori] if source.apriori else [])):
            with _about(path):
                require_openable(str(path))
        return
    if isinstance(source, RecordsInput):
        wanted.append((source.path, _columns_of_records(plan, source)))
    elif isinstance(source, CellsInput):
        tables = [(table.path or source.path or Path(), table) for table in plan.tables]
        wanted += [(path, _columns_of_cells(plan, source, table)) for path, table in tables]
    else:
        wanted.append((source.path, [source.mesh, source.population, *source.values]))
    for path, columns in wanted:
        with _about(path):
            require_columns(Source(str(path), source.format, encoding=source.encoding), columns)


def _contributions(records: Records, source: RecordsInput) -> Contributions:
    values, decimals = None, 0
    if source.value is not None:
        values, decimals = exact_numbers(records.column(source.value), source.decimals)
    weights, weight_decimals = None, 0
    if source.weight is not None:
        weights, weight_decimals = exact_numbers(records.column(source.weight), None)
    holdings = None if source.holding is None else texts_without_gaps(records, source.holding)
    requests = None
    if source.request is not None:
        column = records.column(source.request)
        asking = np.array([label in source.asks for label in column.labels], dtype=np.bool_)
        requests = asking[column.codes]
    return Contributions(values, decimals, holdings, weights, weight_decimals, requests)


def _of_cells(plan: TablePlan, source: CellsInput) -> JudgedTable:
    tables = []
    files = [(table, table.path or source.path or Path()) for table in plan.tables]
    read = []
    for table, path in files:
        columns = _columns_of_cells(plan, source, table)
        with _about(path):
            read.append(read_people(path, format=source.format, encoding=source.encoding, columns=columns))
    dimensions: dict[str, Dimension] = {}
    for name, one in plan.dimensions.items():
        held: list[str] = []
        for (table, _), records in zip(files, read, strict=True):
            if name in table.dimensions:
                held += [label for label in records.column(one.column).labels if label is not None]
        dimensions[name] = one.resolve(held)
    numbers = [source.value, *source.largest]
    digits = 0 if source.contributors is None else source.decimals
    if digits is None:
        digits = max(digits_needed(records.column(name)) for records in read for name in numbers)
    for (table, path), records in zip(files, read, strict=True):
        with _about(path):
            tables.append(_cell_table(plan, source, table, records, dimensions, digits))
    linked = _linked(tables)
    return JudgedTable(linked, _judge(linked, plan.rules, _missing(plan, linked.system)))


def _cell_table(
    plan: TablePlan,
    source: CellsInput,
    planned: PlannedTable,
    records: Records,
    dimensions: Mapping[str, Dimension],
    digits: int,
) -> CellTable:
    """A finished table. Rows that are left out are empty cells."""
    spanning = [dimensions[name] for name in planned.dimensions]
    system = TableSystem.of_dimensions(spanning)
    cells = np.zeros(records.rows, dtype=np.int64)
    for dimension in spanning:
        column = records.column(plan.dimensions[dimension.name].column)
        places = []
        for place, label in enumerate(column.labels):
            if label is None or label not in dimension.position:
                raise InputError(
                    f"The column '{column.name}' has a code in row {column.first_row(place)} that is not in the hierarchy of "
                    f"'{dimension.name}'. Mend the row or the hierarchy.",
                    f"列「{column.name}」の {column.first_row(place)} 行目のコードが「{dimension.name}」の階層にありません。"
                    "行または階層を直してください。",
                )
            places.append(dimension.position[label])
        cells = cells * len(dimension) + np.array(places, dtype=np.int64)[column.codes]
    distinct, first = np.unique(cells, return_index=True)
    if distinct.size < records.rows:
        row = int(np.setdiff1d(np.arange(records.rows), first)[0])
        label = system.label(int(cells[row]))
        raise InputError(
            f"Row {row + 1} is a second one for the cell '{label}'. Give each cell one row.",
            f"{row + 1} 行目はセル「{label}」の二つ目の行です。セルごとに一行にしてください。",
        )
    values = np.zeros(system.size, dtype=np.int64)
    values[cells] = exact_numbers(records.column(source.value), digits)[0]
    counts = np.zeros(system.size, dtype=np.int64)
    if source.contributors is None:
        counts[cells] = values[cells]
    else:
        counts[cells] = exact_numbers(records.column(source.contributors), 0)[0]
    largest = np.zeros((system.size, max(2, len(source.largest))), dtype=np.int64)
    for rank, name in enumerate(source.largest):
        column = records.column(name)
        largest[cells, rank] = exact_numbers(column, digits, empty=0)[0]
    if source.contributors is None:
        largest[:, :2] = np.minimum(counts, 1)[:, None]
    _require_sound_cells(system, values, counts, largest if source.largest else None)
    known = 2 if source.contributors is None else len(source.largest)
    return CellTable(system, values, counts, largest, digits, largest_known=known)


def _require_sound_cells(system: TableSystem, values: Integers, counts: Integers, largest: Integers | None) -> None:
    faults: list[tuple[Any, str, str]] = [
        (
            values < 0,
            "is negative; the rules are for magnitudes from 0 on",
            "が負です。規則は 0 以上の値のためのものです",
        ),
        (counts < 0, "has a negative number of contributors", "の提供者数が負です"),
        ((values > 0) & (counts == 0), "has a value and no contributors", "に値があるのに提供者がいません"),
    ]
    if largest is not None:
        rising = (np.diff(largest, axis=1) > 0).any(axis=1) | (largest < 0).any(axis=1)
        too_large = largest.astype(object).sum(axis=1) > values
        faults += [
            (
                rising,
                "does not have its largest contributions in descending order",
                "の上位の値が大きい順になっていません",
            ),
            (
                too_large.astype(np.bool_),
                "is less than its largest contributions together",
                "が上位の値の和より小さいです",
            ),
        ]
    for wrong, english, japanese in faults:
        for cell in np.flatnonzero(wrong)[:1].tolist():
            label = system.label(cell)
            raise InputError(f"The cell '{label}' {english}.", f"セル「{label}」{japanese}。")
    system.check(values)


def _of_argus(plan: TablePlan, source: ArgusInput) -> JudgedTable:
    with _about(source.path):
        metadata = read_argus_metadata(source.metadata)
        marked = None
        if source.is_table:
            table, marked = read_table(source.path, metadata, plan.tables[0].dimensions, source.value or "")
        else:
            table = _linked(
                [
                    table_of_records(
                        source.path,
                        metadata,
                        one.dimensions,
                        source.value,
                        holdings=source.holdings,
                        weights=source.weights,
                        largest=plan.largest_needed,
                    )
                    for one in plan.tables
                ]
            )
        safe = np.zeros(table.system.size, dtype=np.bool_)
        for name in dict.fromkeys(name for one in plan.tables for name in one.dimensions):
            variable = metadata.variable(name)
            safe |= cells_with_code(table.system, variable.name, variable.missing)
        judged = _judge(table, plan.rules, safe)
        if marked is not None:
            judged = _with_marks(judged, marked)
        if source.apriori is not None:
            judged = read_apriori(source.apriori, table, judged)
        unwanted = np.flatnonzero(judged.hidden_by_hand)
        if unwanted.size and not cell_method_named(plan.method).hides_cells:
            label = table.system.label(int(unwanted[0]))
            others = " / ".join(f'"{one.name}"' for one in registered_cell_methods() if one.hides_cells)
            raise InputError(
                f"The cell '{label}' is said to be hidden to protect others, and the method of the plan hides nothing. Take "
                f"method = {others}, or leave the mark out.",
                f"セル「{label}」に二次秘匿の指定がありますが、計画の手法ではセルを秘匿しません。"
                f"method = {others} とするか、指定を外してください。",
            )
    return JudgedTable(table, judged)


def _with_marks(judged: PrimaryCells, marked: PrimaryCells) -> PrimaryCells:
    """What the rules say, and what the file says besides; cells that must be published stay so."""
    both = strictest(judged, marked)
    status = np.where(marked.must_publish & ~both.unsafe, int(CellStatus.PROTECTED), both.status).astype(np.int64)
    lower, upper = both.lower.copy(), both.upper.copy()
    bare = both.unsafe & (upper == 0)
    upper[bare] = 1
    return replace(both, status=status, lower=lower, upper=upper)


def read_meshes(source: MeshInput) -> Meshes:
    """Read meshes with their people and attributes.

    Raises:
        InputError: if a code or a number is none; with the file and the row.
    """
    with _about(source.path):
        records = read_people(
            source.path,
            format=source.format,
            encoding=source.encoding,
            columns=[source.mesh, source.population, *source.values],
        )
        if not records.rows:
            raise InputError("There are no rows.", "行がありません。")
        codes = exact_numbers(records.column(source.mesh), 0)[0]
        try:
            mesh_cells(codes, source.level)
        except ParameterError as error:
            hint = next((found for code in codes if (found := other_level(int(code), source.level)).en), Words.same(""))
            raise InputError(
                f"The column '{source.mesh}' must hold mesh codes: {error.requirement}. It has {error.got}, counted from 0."
                f"{hint.english}",
                f"列「{source.mesh}」には {source.level} のメッシュコードが必要です（{error.got}、0 から数えて）。"
                f"{hint.japanese}",
            ) from None
        population = exact_numbers(records.column(source.population), 0)[0]
        values = {name: exact_numbers(records.column(name), 0)[0] for name in source.values}
    return Meshes(codes, population, values)


def hash_of_input(plan: TablePlan) -> str:
    """Of the data; of several files, of the list of their hashes."""
    source = plan.source
    paths = [source.path] if source.path is not None else []
    if isinstance(source, CellsInput) and source.path is None:
        paths = [table.path for table in plan.tables if table.path is not None]
    hashes = [hash_of_file(path) for path in paths if path.is_file()]
    return " ".join(hashes)


def _linked(tables: Sequence[CellTable]) -> CellTable:
    return reduce(link_tables, tables)


def _judge(table: CellTable, rules: Sequence[PlannedRule], safe: Booleans) -> PrimaryCells:
    return primary_cells(table, [one.rule for one in rules], safe=safe)


def _missing(plan: TablePlan, system: TableSystem) -> Booleans:
    safe = np.zeros(system.size, dtype=np.bool_)
    for name, one in plan.dimensions.items():
        if one.missing:
            safe |= cells_with_code(system, name, one.missing)
    return safe


@contextmanager
def _about(path: Path) -> Iterator[None]:
    """Name the file in whatever is wrong with it."""
    try:
        yield
    except InputError as error:
        if path.name in error.english:
            raise
        raise InputError(f"{path.name}: {error.english}", f"{path.name}: {error.japanese}") from None
