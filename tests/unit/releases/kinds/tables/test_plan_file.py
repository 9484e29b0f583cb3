"""Plans for tables: every mistake is found before any data is read, and named with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.errors import InputError, PlanError
from sudare.releases.kinds.tables import read_table_plan
from sudare.releases.kinds.tables.methods.cell_key import CellKey
from sudare.releases.kinds.tables.methods.merging import MergeMeshes
from sudare.releases.kinds.tables.methods.rounding import Round
from sudare.releases.kinds.tables.methods.suppression import Suppress
from tests.unit.releases.kinds.tables.firms import COUNTS, DIMENSIONS, HEAD, HRC, RULES, SUPPRESS, WHOLE

MESHES = """title = "m"
[source]
rows = "meshes"
path = "m.csv"
mesh = "code"
level = "1/2"
population = "people"
values = ["men"]
[protection]
method = "merge-meshes"
minimum = 10
"""
CELL_KEY = COUNTS + '[protection]\nmethod = "cell-key"\nkey_file = "secret.key"\nidentifier = "firm"\n'


def write(folder: Path, text: str) -> Path:
    (folder / "region.hrc").write_text(HRC, encoding="utf-8")
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


def test_what_a_plan_says(tmp_path: Path) -> None:
    plan = read_table_plan(write(tmp_path, WHOLE))
    assert plan.value_name == "turnover"
    assert not plan.is_of_counts
    assert plan.tables[0].dimensions == ("region", "trade")
    assert plan.tables[0].file == "table.csv"
    assert [one.name for one in plan.rules] == ["threshold", "p_percent"]
    assert plan.protection == Suppress()
    assert plan.folder == tmp_path.resolve() / "protected"
    assert read_table_plan(tmp_path / "plan.toml", tmp_path / "there").folder == tmp_path / "there"


def test_no_data_is_read(tmp_path: Path) -> None:
    assert not (tmp_path / "firms.csv").exists()
    read_table_plan(write(tmp_path, WHOLE))


def test_every_method(tmp_path: Path) -> None:
    settings = (
        'search = "exact"\nseconds = 2.5\ncost = "equal"\nsingletons = false\nhidden_sums = 4\nsecondary = false\n'
    )
    assert read_table_plan(write(tmp_path, WHOLE + settings)).protection == Suppress(
        "exact", 2.5, "equal", singletons=False, hidden_sums=4, secondary=False
    )
    rounding = WHOLE.replace('"suppress"', '"round"\nbase = 5\nsteps = 1\nseconds = 9')
    assert read_table_plan(write(tmp_path, rounding)).protection == Round(5, 1, 9.0)
    assert read_table_plan(write(tmp_path, MESHES)).protection == MergeMeshes(10)
    keyed = read_table_plan(write(tmp_path, CELL_KEY + "largest = 3\nvariance = 1.5\n")).protection
    assert isinstance(keyed, CellKey)
    assert keyed.largest == 3
    assert dict(keyed.settings) == {"largest": "3", "variance": "1.5"}


TWO_TABLES = '\n[[tables]]\nname = "one"\ndimensions = ["region"]\n[[tables]]\nname = "two"\ndimensions = ["trade"]\n'
MISTAKES: list[tuple[str, str, str]] = [
    ("", "'title' in the plan is missing", "title"),
    ('titel = "x"\n' + WHOLE.split("\n", 1)[1], "Is 'titel' a misspelling of 'title'?", "titel"),
    (WHOLE + "serach = 1\n", "Did you mean 'search'?", "search"),
    (WHOLE.replace("threshold", "treshold"), "Did you mean 'threshold'?", "threshold"),
    (WHOLE.replace("hierarchy =", "hierachy ="), "Did you mean 'hierarchy'?", "hierarchy"),
    (WHOLE.replace("value =", "valeu ="), "Did you mean 'value'?", "value"),
    (WHOLE.replace('"suppress"', '"supress"'), "Did you mean 'suppress'?", "suppress"),
    (WHOLE + "base = 5\n", 'belongs to method "round"', "base"),
    (WHOLE.replace("path =", 'metadata = "x"\npath ='), 'belongs to format = "tau-argus"', "metadata"),
    (HEAD + RULES + SUPPRESS, "'dimensions' in the plan is missing", "dimensions"),
    (HEAD + DIMENSIONS + SUPPRESS, "must have at least one rule", "rules"),
    (WHOLE.replace("threshold = 3", "threshold = 0"), "'threshold' in section [rules] must be", "threshold"),
    (WHOLE.replace("p = 10", "p = 0"), "'p' in section [rules.p_percent]", "p"),
    (WHOLE.replace("p_percent = { p = 10 }", "pq = { p = 30, q = 20 }"), "'p' in section [rules.pq]", "p"),
    (
        WHOLE.replace("p_percent = { p = 10 }", "dominance = { n = 2 }"),
        "'k' in section [rules.dominance] is missing",
        "k",
    ),
    (WHOLE.replace("p_percent = { p = 10 }", "dominance = { n = 2, k = 101 }"), "'k' in section", "k"),
    (WHOLE.replace("p_percent", "request"), "Keys here: percent, range", "p"),
    (WHOLE.replace("p_percent = { p = 10 }", "request = {}"), "needs 'request' and 'asks'", "request"),
    (WHOLE.replace("threshold = 3\n", "range = 3\n"), "goes with 'threshold'", "range"),
    (COUNTS.replace("threshold = 3", "p_percent = { p = 10 }") + SUPPRESS, "table of counts", "p_percent"),
    (WHOLE.replace("[protection]", "[rules.records]\nthreshold = 2\n[protection]"), "name a 'holding'", "records"),
    (WHOLE.replace('codes = ["mines", "shops", "boats"]', 'codes = ["a", "a"]'), "different texts", "codes"),
    (WHOLE.replace("codes = [", 'hierarchy = "region.hrc"\ncodes = ['), "one tree of codes", "codes"),
    (WHOLE.replace("codes = [", 'lead = "@"\ncodes = ['), "'lead' in section", "lead"),
    (WHOLE.replace('codes = ["mines", "shops", "boats"]', "groups = { a = 3 }"), "list of codes", "groups"),
    (WHOLE.replace('codes = ["mines", "shops", "boats"]', 'groups = { a = ["b"], c = ["b"] }'), "is no tree", "groups"),
    (WHOLE + TWO_TABLES.replace('name = "two"', 'name = "one"'), "another for each table", "name"),
    (WHOLE + TWO_TABLES.replace('"trade"', '"trades"'), "no section [dimensions.trades]", "trades"),
    (WHOLE + TWO_TABLES.replace('name = "two"', 'name = "a/b"'), "letters, digits", "name"),
    (WHOLE.replace("[dimensions.trade]", "[dimensions.status]"), "cannot be called 'status'", "status"),
    (WHOLE + "seconds = 0\n", "above 0", "seconds"),
    (WHOLE + "hidden_sums = -1\n", "from 0 to", "hidden_sums"),
    (WHOLE + '[output]\nformats = ["e-stat"]\n', "for merged meshes", "e-stat"),
    (WHOLE + '[output]\nformats = ["xml"]\n', "may have csv", "formats"),
    (WHOLE.replace('"suppress"', '"round"\nbase = 1'), "from 2 to", "base"),
    (WHOLE.replace('"suppress"', '"merge-meshes"\nminimum = 3'), "if and only if", "method"),
    (MESHES.replace("merge-meshes", "none").replace("minimum = 10\n", ""), "if and only if", "method"),
    (MESHES.replace('"1/2"', '"1/3"'), "must be one of", "level"),
    (MESHES.replace('["men"]', '["people"]'), "which is the population", "values"),
    (WHOLE.replace('"suppress"', '"cell-key"\nkey_file = "k"\nidentifier = "firm"'), "makes counts", "method"),
    (CELL_KEY + "largest = 1\nvariance = 9\n", "cannot be met", "variance"),
    (CELL_KEY + "variance = -1\n", "'variance' in section", "variance"),
    (
        WHOLE.replace('value = "turnover"', 'value = "turnover"\nweight = "w"\nholding = "h"'),
        "beside 'weight'",
        "holding",
    ),
    (WHOLE.replace('value = "turnover"', 'value = "turnover"\nasks = ["y"]'), "go together", "request"),
    (WHOLE.replace('value = "turnover"', 'value = "turnover"\ndecimals = 20'), "from 0 to 9", "decimals"),
    (WHOLE.replace("[source]", '[source]\nrows = "cells"'), "'p_percent'", "p_percent"),
    (WHOLE.replace("[source]", '[source]\nformat = "tau-argus"\nmetadata = "a.rda"'), "in the metadata", "dimensions"),
    (WHOLE + "[earlier]\nfolders = []\n", "different texts", "folders"),
]


@pytest.mark.parametrize(("text", "english", "key"), MISTAKES, ids=[f"{n}-{m[2]}" for n, m in enumerate(MISTAKES)])
def test_mistakes(tmp_path: Path, text: str, english: str, key: str) -> None:
    with pytest.raises(PlanError) as told:
        read_table_plan(write(tmp_path, text))
    assert english in told.value.english
    assert told.value.english.startswith("plan.toml: ")
    assert key in told.value.japanese
    assert told.value.japanese != told.value.english


PARENTS = [
    ("code,parent\nn,\nn1,n\nn2,n\ns,Total\n", None),
    ("code;parent\nn;\n", "Line 1 of 'p.csv' must be the header"),
    (
        "code,parent\nn1,n\n",
        "Line 2 of 'p.csv' puts 'n1' below 'n', which has no line of its own: the hierarchy has a gap",
    ),
    ("code,parent\nn,\nn,\n", "Line 3 of 'p.csv' names 'n' for a second time"),
    ("code,parent\nTotal,\n", "second time"),
    ("code,parent\ns,\na,b\nb,a\n", "Line 3 of 'p.csv' puts 'a' into a circle"),
    ("code,parent\nn\n", "Line 2 of 'p.csv' must have a code and its parent"),
]


@pytest.mark.parametrize(("text", "english"), PARENTS)
def test_parents(tmp_path: Path, text: str, english: str | None) -> None:
    plan = write(tmp_path, WHOLE.replace('hierarchy = "region.hrc"', 'parents = "p.csv"'))
    (tmp_path / "p.csv").write_text(text, encoding="utf-8")
    if english is None:
        tree = read_table_plan(plan).dimensions["region"].tree
        assert tree is not None
        assert (tree.codes, tree.parents) == (("Total", "n", "n1", "n2", "s"), (-1, 0, 1, 1, 0))
        return
    with pytest.raises(InputError) as told:
        read_table_plan(plan)
    assert english in told.value.english
    assert "p.csv" in told.value.japanese


def test_a_very_deep_hierarchy(tmp_path: Path) -> None:
    plan = write(tmp_path, WHOLE.replace('hierarchy = "region.hrc"', 'parents = "p.csv"'))
    lines = ["code,parent", "c0,", *(f"c{n},c{n - 1}" for n in range(1, 5000))]
    (tmp_path / "p.csv").write_text("\n".join(lines), encoding="utf-8")
    tree = read_table_plan(plan).dimensions["region"].tree
    assert tree is not None
    assert len(tree) == 5001


def test_groups_and_codes(tmp_path: Path) -> None:
    text = WHOLE.replace(
        'hierarchy = "region.hrc"', 'total = "all"\ngroups = { north = ["n1", "n2"], south = { s = ["s1"] } }'
    )
    tree = read_table_plan(write(tmp_path, text)).dimensions["region"].tree
    assert tree is not None
    assert tree.codes == ("all", "north", "n1", "n2", "south", "s", "s1")


def test_a_hierarchy_with_a_gap(tmp_path: Path) -> None:
    plan = write(tmp_path, WHOLE)
    (tmp_path / "region.hrc").write_text("north\n@@n1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"Line 2 of 'region\.hrc' skips a level"):
        read_table_plan(plan)
