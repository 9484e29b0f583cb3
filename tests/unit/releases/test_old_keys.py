"""Plans with keys that had another name once are read as they always were; each new name is told once."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from sudare.comparison.plan_file import read_comparison_plan
from sudare.errors import OldKeyWarning, PlanError
from sudare.releases.kinds.records import read_people_plan
from sudare.releases.kinds.records.sources import read_planned
from sudare.releases.kinds.tables import read_table_plan
from sudare.releases.kinds.tables.planning.input_plan import ArgusInput, CellsInput, MeshInput
from sudare.releases.kinds.tables.sources import read_judged_table
from sudare.releases.old_keys import OLD_KEYS, with_new_keys
from sudare.releases.registry import find_kind_of_plan
from tests.commands import Run, runner

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "plan-file.md"

RECORDS = """
title = "People"
[source]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
flat = true
[protection]
method = "anonymize"
k = 2
[output]
formats = ["parquet"]
"""
PRIVATE = """
title = "People"
[source]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
values = ["1", "2"]
[protection]
method = "mst"
[budget]
rho = 0.5
[ledger]
location = "budget.db"
dataset = "town"
[output]
formats = ["csv"]
"""
MESHES = """
title = "Meshes"
[source]
rows = "meshes"
path = "m.csv"
mesh = "code"
level = "1/2"
population = "people"
values = ["male"]
[protection]
method = "merge-meshes"
minimum = 10
"""
CELLS = """
title = "Cells"
[source]
rows = "cells"
path = "cells.csv"
value = "n"
[dimensions.area]
[rules]
threshold = 3
[protection]
method = "suppress"
"""
ARGUS = """
title = "Argus"
[source]
format = "tau-argus"
path = "t.asc"
metadata = "t.rda"
[[tables]]
dimensions = ["area"]
[rules]
threshold = 3
[protection]
method = "suppress"
"""
COMPARED = """
[source]
path = "people.csv"
[columns.area]
role = "area"
[columns.illness]
role = "sensitive"
"""


def write(folder: Path, text: str, name: str = "plan.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def old(text: str) -> str:
    """A plan as it was written before."""
    text = text.replace("[source]", "[input]").replace('formats = ["parquet"]', 'format = "parquet"')
    text = text.replace('formats = ["csv"]', 'format = "csv"').replace("rows =", "kind =")
    return text.replace('format = "tau-argus"', 'kind = "tau-argus"')


def told(action: Any, *arguments: Any) -> tuple[Any, list[str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = action(*arguments)
    assert all(one.category is OldKeyWarning for one in found)
    return made, [str(one.message) for one in found]


SECTION = "plan.toml: [input] is called [source] now. The old name is still read; please change it."


class TestOldSpelling:
    def test_records(self, tmp_path: Path) -> None:
        new = read_people_plan(write(tmp_path, RECORDS))
        was, notices = told(read_people_plan, write(tmp_path, old(RECORDS)))
        assert notices == [
            SECTION,
            "plan.toml: [output] format is called [output] formats now. The old name is still read; please change it.",
        ]
        assert (
            (was.source, was.format, was.formats)
            == (new.source, "parquet", ("parquet",))
            == (
                new.source,
                new.format,
                new.formats,
            )
        )
        assert was.header == new.header

    @pytest.mark.parametrize(("text", "sort"), [(MESHES, MeshInput), (CELLS, CellsInput)])
    def test_rows_of_tables(self, tmp_path: Path, text: str, sort: type) -> None:
        new = read_table_plan(write(tmp_path, text))
        was, notices = told(read_table_plan, write(tmp_path, old(text)))
        assert notices[0].startswith("plan.toml: [input] kind is called [source] rows now.")
        assert notices[1:] == [SECTION]
        assert was.source == new.source
        assert isinstance(was.source, sort)

    def test_files_of_argus(self, tmp_path: Path) -> None:
        new = read_table_plan(write(tmp_path, ARGUS))
        was, notices = told(read_table_plan, write(tmp_path, old(ARGUS)))
        said = 'plan.toml: [input] kind = "tau-argus" is called [source] format = "tau-argus" now.'
        assert notices[0].startswith(said)
        assert notices[1:] == [SECTION]
        assert was.source == new.source
        assert isinstance(was.source, ArgusInput)

    def test_comparisons(self, tmp_path: Path) -> None:
        new = read_comparison_plan(write(tmp_path, COMPARED))
        was, notices = told(read_comparison_plan, write(tmp_path, old(COMPARED)))
        assert notices == [SECTION]
        assert was.source == new.source

    def test_the_line_that_asked_is_named(self, tmp_path: Path) -> None:
        with pytest.warns(OldKeyWarning) as found:
            read_people_plan(write(tmp_path, old(RECORDS)))
        assert {Path(one.filename).name for one in found} == {Path(__file__).name}

    def test_new_plans_are_told_nothing(self, tmp_path: Path) -> None:
        for reader, text in ((read_people_plan, RECORDS), (read_table_plan, MESHES), (read_table_plan, ARGUS)):
            assert told(reader, write(tmp_path, text))[1] == []

    def test_every_old_key_is_tried_here(self) -> None:
        tried = old(RECORDS) + old(MESHES) + old(ARGUS)
        for key in OLD_KEYS:
            assert key.old_words.split("] ")[-1].strip("[]") in tried


@pytest.mark.parametrize(
    ("said", "kind", "english"),
    [
        ({"input": {}, "source": {}}, "records", "[input] is the old name of [source], and both are there."),
        ({"input": {}, "source": {}}, "tables", "[input] is the old name of [source], and both are there."),
        ({"input": {}, "source": {}}, "comparison", "[input] is the old name of [source], and both are there."),
        ({"output": {"format": "csv", "formats": ["csv"]}}, "records", "[output] format is the old name of"),
        ({"input": {"kind": "cells", "rows": "cells"}}, "tables", "[input] kind is the old name of [source] rows"),
        ({"input": {"kind": "tau-argus", "format": "csv"}}, "tables", "is the old name of [source] format"),
    ],
)
def test_both_names_are_refused(said: dict[str, Any], kind: str, english: str) -> None:
    with pytest.raises(PlanError) as error:
        with_new_keys(said, "plan.toml", kind)
    assert english in error.value.english
    assert "古い書き方" in error.value.japanese


def test_what_is_not_old_stays(tmp_path: Path) -> None:
    # Counts have a source since ever, and a table has no [output] format.
    said: dict[str, Any] = {"input": {"path": "a"}, "output": {"format": "csv"}}
    assert told(with_new_keys, said, "plan.toml", "counts") == (said, [])
    with pytest.raises(PlanError, match="has no key 'format'"):
        read_table_plan(write(tmp_path, MESHES + '[output]\nformat = "csv"\n'))
    with pytest.raises(PlanError, match="has no key 'kind'"):
        read_table_plan(write(tmp_path, CELLS.replace("rows =", "kind =")))


@pytest.mark.parametrize(
    ("text", "kind"),
    [(RECORDS, "records"), (PRIVATE, "records"), (MESHES, "tables"), (CELLS, "tables"), (ARGUS, "tables")],
)
def test_the_kind_is_found_by_either_spelling(tmp_path: Path, text: str, kind: str) -> None:
    assert find_kind_of_plan(write(tmp_path, text)).name == kind
    assert find_kind_of_plan(write(tmp_path, old(text))).name == kind


def test_what_was_settled_stays_settled(tmp_path: Path) -> None:
    """The fingerprint of a plan is the one that it had under its old keys: nobody pays twice for changing them."""
    was, _ = told(read_people_plan, write(tmp_path, old(PRIVATE)))
    said = {
        "input": {"path": "people.csv"},
        "columns": {"age": {"role": "quasi-identifier", "values": ["1", "2"]}},
        "protection": {"method": "mst"},
        "budget": {"rho": "0.5"},
        "ledger": {"location": "budget.db", "dataset": "town"},
    }
    facts = {
        "said": said,
        "source": str(tmp_path.resolve() / "people.csv"),
        "folder": str(tmp_path.resolve() / "protected"),
        "format": "csv",
        "hierarchies": {},
        "last_opt_out": 0,
    }
    before = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
    assert was.fingerprint() == before
    assert read_people_plan(write(tmp_path, PRIVATE)).fingerprint() == before


def test_every_kind_may_state_the_format_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "people.data").write_text("age\n1\n2\n", encoding="utf-8")
    stated = 'path = "people.data"\nformat = "csv"'
    records = read_people_plan(write(tmp_path, RECORDS.replace('path = "people.csv"', stated)))
    assert read_planned(records).column("age").texts().tolist() == ["1", "2"]
    (tmp_path / "cells.data").write_text("area,n\nTotal,9\na,4\nb,5\n", encoding="utf-8")
    tables = read_table_plan(
        write(tmp_path, CELLS.replace("cells.csv", "cells.data").replace("path", 'format = "csv"\npath'))
    )
    assert read_judged_table(tables).table.values.tolist() == [9, 4, 5]
    with pytest.raises(PlanError, match='"csv", "parquet", "arrow"'):
        read_people_plan(write(tmp_path, RECORDS.replace('path = "people.csv"', stated.replace("csv", "duckdb"))))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(capsys, monkeypatch, columns=200)


class TestCommands:
    def test_people_are_told_in_their_language(self, run: Run, tmp_path: Path) -> None:
        file = write(tmp_path, old(MESHES))
        for language, said in (("en", "[input] is called [source] now"), ("ja", "[input] は [source] に変わりました")):
            made = run("plan", file, "--lang", language)
            assert made.code == 3  # the data is not there
            assert made.err.replace("\n", " ").count(said) == 1
            assert said not in made.out

    def test_programs_get_a_warning_beside_the_result(self, run: Run, tmp_path: Path) -> None:
        made = run("plan", write(tmp_path, old(MESHES)), "--json")
        assert made.json["method"] == "merge-meshes"
        lines = [json.loads(line) for line in made.err.splitlines()]
        assert [set(line) for line in lines] == [{"warning"}, {"warning"}, {"error"}]
        assert lines[1]["warning"]["english"] == SECTION
        assert "変わりました" in lines[1]["warning"]["japanese"]


def test_the_same_table_stands_in_the_docs() -> None:
    text = DOCS.read_text(encoding="utf-8")
    section = text.partition("\n## old keys\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    assert rows == [[", ".join(key.kinds), f"`{key.old_words}`", f"`{key.new_words}`"] for key in OLD_KEYS]
