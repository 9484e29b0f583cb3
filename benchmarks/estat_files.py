"""Files as e-Stat hands them out, made from a table: zipped cp932 text, one file for each primary mesh."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

import sudare

FIRST_COLUMNS = ("KEY_CODE", "HTKSYORI", "HTKSAKI", "GASSAN")
SAME_DATE = (2022, 6, 24, 0, 0, 0)


def write_estat_folder(
    table_or_parquet: sudare.CountTable | str | Path, folder: str | Path, *, per_primary_mesh: bool = True
) -> list[Path]:
    """Write a table as ``tblT001141H5339.zip`` and so on.

    Args:
        table_or_parquet: a table of one mesh attribute, which becomes the population; or a Parquet file with mesh_code,
            HTKSYORI, HTKSAKI, GASSAN and value columns, and a columns.csv with their labels beside it. A missing value is
            a suppressed one.
        folder: where to; it is made if it does not exist.
        per_primary_mesh: one zip for each primary mesh, or one text file for all.

    Returns:
        The files.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    if isinstance(table_or_parquet, sudare.CountTable):
        columns, labels = _columns_of_table(table_or_parquet)
    else:
        columns, labels = _columns_of_parquet(Path(table_or_parquet))
    columns = columns.sort_by(columns.column_names[0])
    values = [name for name in columns.column_names if name not in FIRST_COLUMNS]
    named = ",".join([*FIRST_COLUMNS, *values])
    labelled = ",".join(["", "", "", "", *(labels[name] for name in values)])
    header = f"{named}\r\n{labelled}\r\n"
    texts = [
        pyarrow.compute.coalesce(columns[name].cast(pyarrow.string()), "" if name in FIRST_COLUMNS else "*")
        for name in columns.column_names
    ]
    lines = pyarrow.compute.binary_join_element_wise(*texts, ",").combine_chunks()
    table_name = values[0][:-3]
    if not per_primary_mesh:
        path = Path(folder) / f"tbl{table_name}.txt"
        path.write_bytes(_text_of(header, lines))
        return [path]
    primary = pyarrow.compute.utf8_slice_codeunits(columns["KEY_CODE"].cast(pyarrow.string()), 0, 4).combine_chunks()
    runs = pyarrow.compute.run_end_encode(primary, run_end_type=pyarrow.int64())
    written, start = [], 0
    for code, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        path = Path(folder) / f"tbl{table_name}H{code}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            member = zipfile.ZipInfo(f"{path.stem}.txt", SAME_DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, _text_of(header, lines.slice(start, end - start)))
        written.append(path)
        start = end
    return written


def _text_of(header: str, lines: Any) -> bytes:
    return (header + "".join(f"{line}\r\n" for line in lines.to_pylist())).encode("cp932")


def _columns_of_table(table: sudare.CountTable) -> tuple[Any, dict[str, str]]:
    (codes,) = table.domain.columns_of(table.keys).values()
    gaps = pyarrow.nulls(codes.size, pyarrow.string())
    columns = {
        "KEY_CODE": pyarrow.array(codes),
        "HTKSYORI": pyarrow.array([0] * codes.size, pyarrow.int8()),
        "HTKSAKI": gaps,
        "GASSAN": gaps,
        "T001141001": pyarrow.array(table.counts),
    }
    return pyarrow.table(columns), {"T001141001": "人口（総数）"}


def _columns_of_parquet(path: Path) -> tuple[Any, dict[str, str]]:
    columns = pyarrow.parquet.read_table(path)
    with (path.parent / "columns.csv").open(encoding="utf-8", newline="") as stream:
        labels = {row["column"]: row["label_ja"] for row in csv.DictReader(stream)}
    names = ["KEY_CODE" if name == "mesh_code" else name for name in columns.column_names]
    return columns.rename_columns(names), labels
