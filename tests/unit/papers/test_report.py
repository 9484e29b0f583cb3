"""Reports: pages in two languages, tables as CSV, pictures as PNG."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from sudare.bilingual import Words
from sudare.errors import OutputError
from sudare_papers.report import Column, Finding, Picture, Report, Table, page_of, write_report


def draw(figure: Any) -> None:
    figure.subplots().plot([1, 2, 3])


def a_report() -> Report:
    table = Table(
        "table-1",
        Words("Errors", "誤差"),
        (
            Column("method", Words("method", "手法")),
            Column("paper", Words("paper", "論文")),
            Column("ours", Words("ours", "本実装"), 3),
            Column("ratio", Words("ratio", "比"), decimals=2),
        ),
        ((Words("pro|posed", "提案"), 4.3133, 0.012345, 1.0049), ("other", None, 123456.0, 2)),
        Words("They agree.", "一致します。"),
    )
    hidden = Table("points", Words("Points", "点"), (Column("x", Words("x", "x")),), ((1,),), is_on_page=False)
    findings = (
        Finding(Words("it holds", "成り立つ"), True, "1 / 1"),
        Finding(Words("it fails", "成り立たない"), False, "0 / 1"),
    )
    picture = Picture("curve", Words("A curve", "曲線"), draw, note=Words("It rises.", "増えます。"))
    return Report(
        "a", Words("Title", "題"), "Authors: a paper", (Words("Data.", "データ。"),), (table, picture, hidden), findings
    )


def test_the_page_in_english() -> None:
    page = page_of(a_report(), "en")
    assert page.startswith("# Title\n\n*Authors: a paper*\n\nData.\n")
    assert "- holds: it holds (1 / 1)\n- **does not hold**: it fails (0 / 1)\n" in page
    assert "| method | paper | ours | ratio |\n|---|--:|--:|--:|\n" in page
    assert "| pro\\|posed | 4.313 | 0.0123 | 1.00 |" in page
    assert "| other | – | 123,000 | 2 |" in page
    assert "![](curve.png)\n\nIt rises." in page
    assert "[points.csv](points.csv)" in page
    assert "| x |" not in page


def test_the_page_in_japanese_with_another_folder() -> None:
    page = page_of(a_report(), "ja", "reproduction/a/", level=2)
    assert page.startswith("## 題\n")
    assert "- **不成立**：成り立たない" in page
    assert "![](reproduction/a/curve.png)" in page
    assert "| 提案 |" in page


def test_files(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "a"
    files = write_report(a_report(), folder, "en")
    assert [file.name for file in files] == ["page.md", "table-1.csv", "curve.png", "points.csv"]
    with (folder / "table-1.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["method", "paper", "ours", "ratio"],
        ["pro|posed", "4.3133", "0.012345", "1.0049"],
        ["other", "", "123456.0", "2"],
    ]
    picture = (folder / "curve.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    write_report(a_report(), folder, "ja")
    assert (folder / "curve.png").read_bytes() == picture
    assert (folder / "page.md").read_text(encoding="utf-8").startswith("# 題")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be made"):
        write_report(a_report(), tmp_path / "file" / "a", "en")


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(0.0, 4, "0"), (0.99996, 4, "1.000"), (-12.345, 3, "-12.3"), (1e6, 2, "1,000,000"), (float("nan"), 3, "nan")],
)
def test_significant_digits(value: float, digits: int, shown: str) -> None:
    assert Column("x", Words("x", "x"), digits).shown(value, "en") == shown
