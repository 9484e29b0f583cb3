"""What a plan declares to be public is declared in words, and is no file of the protected data under any name."""

# ruff: noqa: S608 - queries are put together from names that stand here

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sudare import Budget
from sudare.errors import PlanError
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import read_plan

PEOPLE = "KEY_CODE,area\n53394611,a\n53394612,b\n"
MESHES = 'kind = "mesh"\nlevel = "3"\nmeshes = {file}\n'
AREAS = 'kind = "hierarchy"\nlevels = ["area", "KEY_CODE"]\nareas = {file}\n'
POSITIONS = 'kind = "positions"\nlength = 9\n'
REFERENCE = '[reference]\nname = "Last year"\npath = {file}\n'
PUBLIC = "public = true\n"
PLAN = """title = "t"
[source]
{source}
[[domain]]
name = "KEY_CODE"
{domain}
{reference}
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "town"
"""


def write_plan(folder: Path, kind: str, file: str, public: str = PUBLIC, source: str = 'path = "people.csv"') -> Path:
    """A plan that takes a list of meshes, a list of areas or a reference from a file."""
    lists = {"meshes": MESHES, "areas": AREAS, "reference": REFERENCE}
    named = lists[kind].format(file=file) + public
    domain, reference = (POSITIONS, named) if kind == "reference" else (named, "")
    path = folder / "plan.toml"
    path.write_text(PLAN.format(source=source, domain=domain, reference=reference), encoding="utf-8")
    return path


def same(folder: Path) -> str:
    return '"people.csv"'


def spelled_otherwise(folder: Path) -> str:
    return f'"../{folder.name}/./people.csv"'


def absolute(folder: Path) -> str:
    return f'"{folder / "people.csv"}"'


def symbolic_link(folder: Path) -> str:
    (folder / "list.csv").symlink_to(folder / "people.csv")
    return '"list.csv"'


def hard_link(folder: Path) -> str:
    os.link(folder / "people.csv", folder / "list.csv")
    return '"list.csv"'


def linked_folder(folder: Path) -> str:
    (folder.parent / f"{folder.name}-link").symlink_to(folder)
    return f'"../{folder.name}-link/people.csv"'


@pytest.mark.parametrize("kind", ["meshes", "areas", "reference"])
@pytest.mark.parametrize("named", [same, spelled_otherwise, absolute, symbolic_link, hard_link, linked_folder])
def test_the_protected_file_is_not_public(tmp_path: Path, kind: str, named: Callable[[Path], str]) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    with pytest.raises(PlanError, match="which is the protected data of") as caught:
        read_plan(write_plan(tmp_path, kind, named(tmp_path)))
    assert f"'{'path' if kind == 'reference' else kind}'" in caught.value.english
    assert "保護する [source] のデータそのもの" in caught.value.japanese
    assert "5339" not in caught.value.english


@pytest.mark.parametrize("kind", ["meshes", "areas", "reference"])
def test_nor_is_what_lies_in_its_folder(tmp_path: Path, kind: str) -> None:
    (tmp_path / "data" / "more").mkdir(parents=True)
    (tmp_path / "data" / "people.csv").write_text(PEOPLE)
    (tmp_path / "data" / "more" / "list.txt").write_text(PEOPLE)
    for source, file in (
        ('path = "data"', '"data/people.csv"'),
        ('path = "data"\nformat = "csv"', '"data/more/list.txt"'),
        ('path = "data/*.csv"', '"data/people.csv"'),
        ('path = ["other.csv", "data"]', '"data/people.csv"'),
        ("query = \"SELECT * FROM read_csv('{data}')\"", '"data/people.csv"'),
        ("query = '''SELECT * FROM \"{data}\"'''", '"data/people.csv"'),
    ):
        source = source.format(data=tmp_path / "data" / "people.csv")
        with pytest.raises(PlanError, match="or lies in its folder"):
            read_plan(write_plan(tmp_path, kind, file, source=source))


def test_nor_a_zip_nor_a_folder_that_holds_it_nor_a_query(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    with zipfile.ZipFile(tmp_path / "people.zip", "w") as archive:
        archive.writestr("people.csv", PEOPLE)
    with pytest.raises(PlanError, match=r"'people\.zip', which is the protected data"):
        read_plan(write_plan(tmp_path, "meshes", '"people.zip"', source='path = "people.zip"'))
    with pytest.raises(PlanError, match=r"'people\.csv', which is the protected data"):
        read_plan(write_plan(tmp_path, "meshes", '["."]'))
    plan = write_plan(tmp_path, "reference", '"x"')
    query = f"query = \"SELECT * FROM '{tmp_path / 'people.csv'}'\""
    plan.write_text(plan.read_text().replace('path = "x"', query))
    with pytest.raises(PlanError, match=r"'query' in section \[reference\] names 'people\.csv'"):
        read_plan(plan)


@pytest.mark.parametrize("kind", ["meshes", "areas", "reference"])
def test_lists_and_references_are_declared_public(tmp_path: Path, kind: str) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "list.csv").write_text(PEOPLE)
    for public in ("", "public = false\n"):
        with pytest.raises(PlanError, match=r"'public' .* must be true: you declare that this") as caught:
            read_plan(write_plan(tmp_path, kind, '"list.csv"', public))
        assert "公開されていることの宣言" in caught.value.japanese
    assert read_plan(write_plan(tmp_path, kind, '"list.csv"')).domain.cells in (2, 9)


def test_nothing_is_charged(tmp_path: Path) -> None:
    from tests.unit.releases.kinds.counts.offices import PLAN as OFFICE
    from tests.unit.releases.kinds.counts.offices import open_office

    plan = open_office(tmp_path)
    text = OFFICE.replace("window = [8560, 6400, 32, 32]", 'meshes = "people.parquet"\npublic = true')
    plan.file.write_text(text)
    with pytest.raises(PlanError):
        read_plan(plan.file)
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.dataset("town").remaining == Budget(epsilon=3)


def test_texts_of_a_query_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "list.csv").write_text(PEOPLE)
    query = f"query = \"SELECT * FROM t WHERE a = '{'x' * 5000}' AND b IN ('[', '\\\\u0000', '**', '/', '')\""
    assert read_plan(write_plan(tmp_path, "meshes", '"list.csv"', source=query)).domain.cells == 2
