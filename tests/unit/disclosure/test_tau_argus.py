"""Files of tau-ARGUS: what is read, what is written, what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sudare.disclosure.argus.files import (
    dimension_of,
    read_apriori,
    read_argus_hierarchy,
    read_argus_metadata,
    read_records,
    read_table,
    status_lines,
    table_of_records,
    write_status_table,
)
from sudare.disclosure.rules import PPercent, primary_cells
from sudare.disclosure.status import CellStatus, PrimaryCells
from sudare.errors import InputError, OutputError, ParameterError

FIXED = """firm 1 3
  <HOLDING>
act 4 2 99
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "\\\\server\\share\\ACT.hrc"
  <HIERLEADSTRING> "@"
size 6 1
  <RECODEABLE>
wgt 7 4
  <WEIGHT>
  <DECIMALS> 1
sales 11 6
  <NUMERIC>
  <DECIMALS> 2
ask 17 1
  <REQUEST> "1" "2"
"""
RECORDS = """001 1a 1.5  1.251
001 2a 2.0  2.500
002 1b 1.0 10.000
00399a 3.0  4.002
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.rda").write_text(FIXED)
    (tmp_path / "firms.asc").write_bytes(RECORDS.replace("\n", "\r\n").encode())
    (tmp_path / "act.hrc").write_text("A\n@ 1\n@ 2\nB\n@ 3\n")
    return tmp_path


def test_metadata_of_fixed_columns(folder: Path) -> None:
    metadata = read_argus_metadata(folder / "firms.rda")
    act, sales, ask = (metadata.variable(name) for name in ("ACT", "sales", "ask"))
    assert (act.start, act.length, act.missing, act.lead) == (3, 2, ("99",), "@")
    assert (sales.start, sales.length, sales.decimals) == (10, 6, 2)
    assert ask.requests == ("1", "2")
    assert metadata.separator is None
    with pytest.raises(InputError, match="no variable 'x'"):
        metadata.variable("x")


def test_records_become_a_table(folder: Path) -> None:
    metadata = read_argus_metadata(folder / "firms.rda")
    assert read_records(folder / "firms.asc", metadata)["act"] == ["1", "2", "1", "99"]
    table = table_of_records(folder / "firms.asc", metadata, ["act", "size"], "sales", holdings=True)
    act = table.system.tables[0].dimensions[0]
    assert act.codes == ("Total", "A", "1", "2", "B", "3", "99")  # found beside the metadata in other letters
    top = table.system.cell(act="A", size="a")
    assert (int(table.values[top]), int(table.counts[top]), table.decimals) == (375, 1, 2)
    assert table.requests is not None
    assert table.requests[top].tolist() == [True, False, False]
    assert table_of_records(folder / "firms.asc", metadata, ["act"], None).values[0] == 4
    weighted = table_of_records(folder / "firms.asc", metadata, ["act"], "sales", weights=True)
    assert weighted.values[0] == 1875 + 5000 + 10000 + 12000  # thousandths


def test_codes_that_carry_their_hierarchy(tmp_path: Path) -> None:
    (tmp_path / "a.rda").write_text("act 1 4\n<RECODEABLE>\n<HIERLEVELS> 2 1 1 0\n")
    tree = dimension_of(read_argus_metadata(tmp_path / "a.rda"), "act", ["2011", "2012", "2111", "20"])
    assert tree.codes == ("Total", "20", "201", "2011", "2012", "21", "211", "2111")
    assert tree.parents == (-1, 0, 1, 2, 2, 0, 5, 6)


def test_a_level_that_is_skipped_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.hrc"
    path.write_text("A\n@@1\n")
    with pytest.raises(InputError, match=r"Line 2 of 'a\.hrc' skips a level"):
        read_argus_hierarchy(path, "act")
    path.write_text("A\n@\n")
    with pytest.raises(InputError, match=r"Line 2 of 'a\.hrc' has no code"):
        read_argus_hierarchy(path, "act")
    path.write_text("A\n@11\n@@a\nB\n@11\n@@b\n")
    with pytest.raises(InputError, match=r"Line 5 of 'a\.hrc': the code '11' stands twice, here and in line 2"):
        read_argus_hierarchy(path, "act")
    assert read_argus_hierarchy(path, "act", repeated=True).codes == ("Total", "A", "11", "a", "B", "11 (2)", "b")
    path.write_text("A\n@1\n\nAll\n")
    with pytest.raises(InputError, match=r"Line 4 of 'a\.hrc': 'All' is the code of the total") as refused:
        read_argus_hierarchy(path, "act", total="All")
    assert "4 行目" in refused.value.japanese


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"firms.asc": "001 1a\n"}, "Line 1 of 'firms.asc'"),
        ({"firms.asc": RECORDS.replace(" 1a", " Aa")}, "finest"),
        ({"firms.asc": RECORDS.replace("10.00", "1x.00")}, "row 3"),
        ({"firms.asc": RECORDS.replace("10.00", "-9.00")}, "negative"),
        ({"firms.rda": "act 0 2\n<RECODEABLE>\n"}, "Line 1 of 'firms.rda'"),
        ({"firms.rda": "<SEPARATOR> ,\n"}, "no variables"),
        ({"firms.rda": FIXED.replace("  <RECODEABLE>\n  <HIERARCHICAL>", "")}, "not marked <RECODEABLE>"),
        ({"firms.rda": FIXED.replace("ACT.hrc", "other.hrc")}, "'other.hrc' is not beside"),
        ({"firms.rda": FIXED.replace("<HOLDING>", "<NUMERIC>")}, "No variable is marked <HOLDING>"),
    ],
)
def test_bad_files_are_refused(folder: Path, change: dict[str, str], match: str) -> None:
    for name, text in change.items():
        (folder / name).write_text(text)
    with pytest.raises(InputError, match=match):
        table_of_records(
            folder / "firms.asc", read_argus_metadata(folder / "firms.rda"), ["act", "size"], "sales", holdings=True
        )


def test_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^There is no file 'none\.rda'\.$"):
        read_argus_metadata(tmp_path / "none.rda")
    (tmp_path / "folder.rda").mkdir()
    with pytest.raises(InputError, match=r"^The file 'folder\.rda' cannot be read"):
        read_argus_metadata(tmp_path / "folder.rda")


TABLE_METADATA = """<SEPARATOR> ";"
<SAFE> "S"
<UNSAFE> "U"
area "99"
  <RECODEABLE>
  <TOTCODE> "All"
value <NUMERIC>
n <FREQUENCY>
first <MAXSCORE>
second <MAXSCORE>
mark <STATUS>
low <NUMERIC> <LOWERPL>
high <NUMERIC> <UPPERPL>
"""
TABLE = """All;12,50;5;6;5;S;0;0
a;6,00;1;6;0;U;0,901;0,9
b;6,50;4;5;1;S;0;0
99;0;0;0;0;E;0;0
"""


def test_a_table_with_statuses_and_levels(tmp_path: Path) -> None:
    (tmp_path / "t.rda").write_text(TABLE_METADATA)
    (tmp_path / "t.tab").write_text(TABLE)
    metadata = read_argus_metadata(tmp_path / "t.rda")
    table, cells = read_table(tmp_path / "t.tab", metadata, ["area"], "value")
    assert table.system.tables[0].dimensions[0].codes == ("All", "a", "b", "99")
    unit = 10**table.decimals
    assert (table.values / unit).tolist() == [12.5, 6, 6.5, 0]
    assert table.counts.tolist() == [5, 1, 4, 0]
    assert (table.largest[:, 0] / unit).tolist() == [6, 6, 5, 0]
    assert cells.status.tolist() == [1, 9, 1, 14]
    assert cells.lower.tolist() == [0, -(-901 * unit // 1000), 0, 0]  # rounded up, never down
    assert cells.upper.tolist() == [0, 9 * unit // 10, 0, 0]
    for wrong, match in (
        (TABLE.replace("6,50", "6,40"), "does not add up"),
        (TABLE + "a;1;1;1;0;S;0;0\n", "same cell"),
        (TABLE.replace(";U;", ";Q;"), "has a status"),
        (TABLE.replace(";U;", ";"), "Line 2"),
    ):
        (tmp_path / "t.tab").write_text(wrong)
        with pytest.raises(InputError, match=match):
            read_table(tmp_path / "t.tab", metadata, ["area"], "value")


def test_judgements_beforehand(folder: Path) -> None:
    metadata = read_argus_metadata(folder / "firms.rda")
    table = table_of_records(folder / "firms.asc", metadata, ["act", "size"], "sales")
    cells = primary_cells(table, [PPercent(10)])
    unsafe = table.system.cell(act="2", size="a")
    assert cells.unsafe[unsafe]
    path = folder / "a.hst"
    path.write_text('"","",p\nA,b,u\n1,b,s\n2,a,pl,1.25,2\n"B","a",u\nA,a,ml\n1,a,c,7\n')
    judged = read_apriori(path, table, cells)
    assert judged.status[0] == CellStatus.PROTECTED
    assert (
        judged.status[table.system.cell(act="A", size="b")] == CellStatus.UNSAFE_RULE
    )  # unsafe before, keeps its rule
    assert judged.status[table.system.cell(act="1", size="b")] == CellStatus.SAFE_MANUAL
    assert judged.upper[table.system.cell(act="1", size="b")] == 0
    assert judged.status[table.system.cell(act="B", size="a")] == CellStatus.EMPTY
    assert judged.status[table.system.cell(act="A", size="a")] == CellStatus.SECONDARY
    assert (judged.lower[unsafe], judged.upper[unsafe]) == (125, 200)
    for line, words in {
        "size=a,,u": "'size=a' is not a code of 'act'",
        "A,c,u": "'c' is not a code of 'size'",
        "A,b,q": "'q' is not a status",
        "A,b,pl,1": "'pl' needs two numbers",
        "A,b": "needs 2 codes",
        "A": "needs 2 codes",
    }.items():
        path.write_text(f"1,b,s\n{line}\n")
        with pytest.raises(InputError, match=rf"Line 2 of 'a\.hst'.*{words}") as refused:
            read_apriori(path, table, cells)
        assert "'a.hst' の 2 行目" in refused.value.japanese


def test_hidden_values_are_never_in_the_safe_file(folder: Path) -> None:
    metadata = read_argus_metadata(folder / "firms.rda")
    table = table_of_records(folder / "firms.asc", metadata, ["act", "size"], "sales")
    status = np.where(table.empty, 14, np.where(table.values == 250, 3, np.where(table.values == 125, 11, 1)))
    assert {3, 11} <= set(status.tolist())
    path = folder / "safe.txt"
    write_status_table(path, table, status, widths={"act": 2})
    text = path.read_bytes().decode()
    assert ",2.50," not in text
    assert ",1.25," not in text
    assert '" 2","a",x,3\r\n' in text
    assert '"Total","Total",17.75,1\r\n' in text
    assert text.count(",-,14") == int(table.empty.sum())
    assert '"2","a",2.50,3' in status_lines(table, status, safe=False)
    with pytest.raises(OutputError):
        write_status_table(path, table, status)  # an existing file is not replaced
    with pytest.raises(ParameterError):
        status_lines(table, status[:-1])


def test_levels_stay_consistent_for_cells_made_unsafe(folder: Path) -> None:
    metadata = read_argus_metadata(folder / "firms.rda")
    table = table_of_records(folder / "firms.asc", metadata, ["size"], "sales")
    zeros = np.zeros(3, dtype=np.int64)
    (folder / "a.hst").write_text("a,u\n")
    judged = read_apriori(folder / "a.hst", table, PrimaryCells(zeros + 1, zeros, zeros, zeros), range_percent=10)
    assert judged.status.tolist() == [1, 9, 1]
    assert judged.upper.tolist() == [0, 78, 0]  # 10 % of 7.75, rounded up
