"""Workbooks that are none, and workbooks that swell when they are unpacked: refused before anything large is read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from sudare.errors import InputError
from sudare.io.formats.workbooks import LARGE, rows_of_workbook, workbook_columns

SHEET = "xl/worksheets/sheet1.xml"
OPENING = (
    b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    b'<row r="1"><c r="A1" t="inlineStr"><is><t>'
)
CLOSING = b"</t></is></c></row></sheetData></worksheet>"


def _book() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(("person_id", "sex"))
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _with_part(path: Path, name: str, parts: list[bytes]) -> str:
    """A whole workbook in which one part is another."""
    with zipfile.ZipFile(io.BytesIO(_book())) as whole, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for other in whole.namelist():
            if other != name:
                written.writestr(other, whole.read(other))
        with written.open(name, "w", force_zip64=True) as stream:
            for part in parts:
                stream.write(part)
    return str(path)


@pytest.mark.parametrize("name", [SHEET, "xl/sharedStrings.xml", "docProps/other.xml"])
def test_a_part_that_swells_is_refused_by_its_header(tmp_path: Path, name: str) -> None:
    bomb = _with_part(tmp_path / "bomb.xlsx", name, [OPENING, *([b"a" * (1 << 20)] * (1 + (LARGE >> 20))), CLOSING])
    with pytest.raises(InputError, match="far more than a sheet can hold"):
        workbook_columns(bomb)


def test_a_sheet_of_equal_rows_is_no_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing packs better, as spreadsheet programs write it: each cell says where it is."""
    monkeypatch.setattr("sudare.io.formats.workbooks.LARGE", few := 1 << 18)
    row = b'<row r="%d"><c r="A%d" t="inlineStr"><is><t>%b</t></is></c><c r="B%d" t="inlineStr"><is><t>%b</t></is></c></row>'
    rows = [row % (1, 1, b"a", 1, b"b"), *(row % (n, n, b"1", n, b"female") for n in range(2, 2 + few // 100))]
    assert sum(map(len, rows)) > few
    opening = OPENING.partition(b"<row")[0]
    path = _with_part(tmp_path / "equal.xlsx", SHEET, [opening, *rows, b"</sheetData></worksheet>"])
    assert workbook_columns(path) == ("a", "b")
    assert next(rows_of_workbook(path, ["b"])) == ("female",)


def test_entities_are_not_unfolded(tmp_path: Path) -> None:
    entities = b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    bomb = b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">' + entities + b"]>"
    text = OPENING.replace(b'<?xml version="1.0"?>', bomb) + b"&j;" + CLOSING
    with pytest.raises(InputError, match="not a whole Excel file"):
        workbook_columns(_with_part(tmp_path / "laugh.xlsx", SHEET, [text]))
