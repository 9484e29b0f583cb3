"""Programs of others that read exported files back: what each finds in a file, in one form.

A reader gives the numbers by the labels of their cells, None where a cell is hidden, and all texts of the file. Cells that a file
does not list are left out.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

__all__ = ["READERS", "ReadBack", "px_text"]


@dataclass(frozen=True)
class ReadBack:
    """What a file says.

    Attributes:
        numbers: by the labels, or codes, of the cell.
        names: of the dimensions.
        text: everything that it tells, in one text.
    """

    numbers: Mapping[tuple[str, ...], float | None]
    names: tuple[str, ...]
    text: str


def read_sdmx_zip(path: Path) -> ReadBack:
    """By pysdmx, against the schemas of SDMX."""
    import pandas
    from pysdmx.io import get_datasets, read_sdmx

    with zipfile.ZipFile(path) as archive:
        structure, data = (archive.read(name).decode() for name in ("structure.xml", "data.xml"))
    message = read_sdmx(structure, validate=True)
    lists = {one.id: {code.id: code.name for code in one.items} for one in message.get_codelists()}
    (definition,) = message.get_data_structure_definitions()
    (dataset,) = get_datasets(data, structure, validate=True)
    names = [one.id for one in definition.components.dimensions]
    scheme = message.get_concept_schemes()[0]
    concepts = {one.id: one.name for one in scheme.items}
    numbers = {}
    columns = [dataset.data[name].tolist() for name in names]
    for *codes, value in zip(*columns, dataset.data["OBS_VALUE"].tolist(), strict=True):
        key = tuple(lists[f"CL_{name}"][code] for name, code in zip(names, codes, strict=True))
        numbers[key] = None if pandas.isna(value) else float(value)
    told = "\n".join(str(value) for value in dataset.attributes.values())
    return ReadBack(numbers, tuple(concepts[name] for name in names), told)


def read_px(path: Path) -> ReadBack:
    """By pyaxis."""
    import pandas
    from pyaxis import pyaxis

    read = pyaxis.parse(str(path), encoding="utf-8")
    frame = read["DATA"]
    names = tuple(str(name) for name in frame.columns[:-1])
    values = [None if pandas.isna(one) else float(one) for one in frame["DATA"].tolist()]
    keys = zip(*(frame[name].tolist() for name in names), strict=True)
    numbers = dict(zip(keys, values, strict=True))
    told = [read["METADATA"], read["TRANSLATION"]]
    return ReadBack(numbers, names, str(told).replace("', '", ""))


def read_json_stat(path: Path) -> ReadBack:
    """By pyjstat."""
    from pyjstat import pyjstat

    text = path.read_text(encoding="utf-8")
    dataset: Any = pyjstat.Dataset.read(text)
    with catch_warnings():  # it calls a function of its own that it says not to call
        simplefilter("ignore", DeprecationWarning)
        frame = dataset.write("dataframe")
    names = tuple(str(name) for name in frame.columns if name != "value")
    values = [None if one is None or one != one else float(one) for one in frame["value"].tolist()]
    keys = zip(*(frame[name].tolist() for name in names), strict=True)
    return ReadBack(dict(zip(keys, values, strict=True)), names, "\n".join([dataset["label"], *dataset["note"]]))


def read_workbook(path: Path) -> ReadBack:
    """By calamine."""
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_path(str(path))
    cover, data, codes = (book.get_sheet_by_index(place).to_python() for place in range(3))
    labels = {(str(name), str(code)): str(label) for name, code, label in codes[1:]}
    header = [str(one) for one in data[0]]
    names = tuple(dict.fromkeys(str(row[0]) for row in codes[1:]))
    place = len(names) + sum(any(label != key[1] for key, label in labels.items() if key[0] == name) for name in names)
    numbers = {}
    for row in data[1:]:
        key = tuple(labels[name, str(code)] for name, code in zip(names, row, strict=False))
        value = row[place]
        numbers[key] = None if value == "" else float(str(value))
    assert header[: len(names)] == list(names)
    return ReadBack(numbers, names, "\n".join(str(cell) for row in cover for cell in row))


def read_features(path: Path) -> ReadBack:
    """By GDAL, with its polygons."""
    import pyogrio

    about, _, geometry, columns = pyogrio.raw.read(path, layer="cells")
    names = tuple(str(name) for name in about["fields"][:-1])
    assert len(geometry) == len(set(map(bytes, geometry))) or len(names) > 1
    keys = zip(*(column.tolist() for column in columns[:-1]), strict=True)
    _, _, _, told = pyogrio.raw.read(path, layer="about")
    text = "\n".join(str(one) for column in told for one in column)
    return ReadBack(dict(zip(keys, map(float, columns[-1].tolist()), strict=True)), names, text)


def px_text(text: str) -> str:
    """A name as PX can hold it: without quotation marks, line ends and the word that numbers follow, or blanks at its ends."""
    return " ".join(text.replace('"', "”").replace("Data=", "Data =").splitlines()).strip() or "-"


READERS: Mapping[str, Callable[[Path], ReadBack]] = {
    "sdmx": read_sdmx_zip,
    "px": read_px,
    "json-stat": read_json_stat,
    "xlsx": read_workbook,
    "gpkg": read_features,
}
"""Of formats that hold numbers of cells."""
