"""SDMX-ML 2.1, the version that every running service reads: a zip with ``structure.xml`` and ``data.xml``.

Both are written here, line by line, and not by pysdmx, which knows names in English only and holds all observations in a data
frame. It reads them back in the tests, against the schemas of SDMX.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from sudare.bilingual import Words
from sudare.export.dense import all_numbers, number_text, require_dense
from sudare.export.description import PublishedCube
from sudare.export.formats.sdmx_structure import (
    AGENCY,
    CONF_STATUS,
    VERSION,
    SdmxNames,
    attribute_text,
    head_lines,
    names_for,
    structure_lines,
)
from sudare.export.sentences import notes_of, show_figure

if TYPE_CHECKING:
    from sudare.export.format import Publication

__all__ = ["SDMX"]

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of files in the zip, so that the same release gives the same bytes."""

DATA_NAMESPACES = (
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:mes="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message" '
    'xmlns:ss="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/structurespecific" '
    'xmlns:com="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/common"'
)


READ_BY = Words(
    "SDMX-ML 2.1, structure and data in a zip, which registries, .Stat Suite and Eurostat's tools read",
    "SDMX-ML 2.1（構造とデータの zip。SDMX レジストリ、.Stat Suite、Eurostat のツールなどが読む形式）",
)


@dataclass(frozen=True)
class Sdmx:
    """SDMX-ML 2.1."""

    suffix: str = ".sdmx.zip"
    words: Words = READ_BY

    def require_room(self, publication: Publication) -> None:
        """Refuse records, and tables of too many cells."""
        require_dense(publication, Words.same("SDMX"))

    def write(self, publication: Publication, path: Path) -> None:
        """Write the zip."""
        cube = require_dense(publication, Words.same("SDMX"))
        names = names_for(cube)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            _add(archive, "structure.xml", structure_lines(cube, names))
            _add(archive, "data.xml", _data_lines(cube, names))


def _add(archive: zipfile.ZipFile, name: str, lines: Iterable[str]) -> None:
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as stream:
        for line in lines:
            stream.write(line.encode() + b"\n")


def _data_lines(cube: PublishedCube, names: SdmxNames) -> Iterator[str]:
    """Structure-specific data, one element for each observation, hidden ones without a value."""
    space = f"urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure={AGENCY}:DSD_{names.structure}({VERSION})"
    space += ":ObsLevelDim:AllDimensions"
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<mes:StructureSpecificData {DATA_NAMESPACES} xmlns:ns1="{space}">'
    yield "<mes:Header>"
    yield from head_lines(cube.head, names, "DATA")
    yield f'<mes:Structure structureID="DSD_{names.structure}" namespace="{space}" dimensionAtObservation="AllDimensions">'
    yield f'<com:Structure><Ref agencyID="{AGENCY}" id="DSD_{names.structure}" version="{VERSION}" class="DataStructure"/>'
    yield "</com:Structure></mes:Structure></mes:Header>"
    attributes = " ".join(f"{key}={attribute_text(value)}" for key, value in _attributes(cube).items())
    yield (
        f'<mes:DataSet ss:structureRef="DSD_{names.structure}" xsi:type="ns1:DataSetType" ss:dataScope="DataStructure" '
        f'action="Replace" {attributes}>'
    )
    parts = [[f'{name}="{code}"' for code in codes] for name, codes in zip(names.dimensions, names.codes, strict=True)]
    for key, number in zip(product(*parts), all_numbers(cube), strict=True):
        value = "" if number is None else f' OBS_VALUE="{number_text(number, cube.decimals)}"'
        status = f' {CONF_STATUS}="{"C" if number is None else "F"}"' if names.has_status else ""
        yield f"<Obs {' '.join(key)}{value}{status}/>"
    yield "</mes:DataSet></mes:StructureSpecificData>"


def _attributes(cube: PublishedCube) -> dict[str, str]:
    """Of the whole data set: what its sides and cells do not say."""
    head = cube.head
    notes = [words.explain(language) for language in (head.language, head.other_language) for words in _notes(cube)]
    found = {"TITLE": head.title, "PUBLISHER": head.publisher, "COMMENT_DSET": "\n".join(notes)}
    found["PRIVACY_BUDGET"] = next((fact.value.english for fact in head.facts if fact.key == "budget"), "")
    error = head.error_of_cells
    if error is not None:
        figures = {"STD_ERROR": error.rmse, "STD_ERROR_LOW": error.low, "STD_ERROR_HIGH": error.high}
        found |= {key: show_figure(value) for key, value in figures.items()}
    return {key: value for key, value in found.items() if value}


def _notes(cube: PublishedCube) -> tuple[Words, ...]:
    return notes_of(cube.head, cube.dimensions)


SDMX = Sdmx()
