"""Damaged Arrow, Parquet and DuckDB files are refused, or read as they are; none ends the process, whatever is reserved."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from sudare import Budget
from sudare.errors import InputError
from sudare.ledger import open_ledger
from sudare.microdata.pseudonyms.streaming import PeopleStream
from sudare.microdata.records import read_people
from sudare.releases.kinds.counts import read_plan, run_release
from tests.contracts.damaged import SUFFIXES, damage, read_damaged, write_people
from tests.end_to_end.killed import Doomed
from tests.unit.releases.kinds.counts.offices import PLAN, open_office, remaining


def outcomes(folder: Path, kind: str, seed: int, trials: int) -> Counter[str]:
    lines = Doomed(read_damaged, folder / "told", folder, kind, seed, trials).end()
    found = Counter(lines)
    assert found["reading"] == trials, f"the process died in trial {found['reading']}"
    return found


@pytest.mark.parametrize(("kind", "trials"), [("arrow", 30), ("packed arrow", 15), ("parquet", 10), ("duckdb", 6)])
def test_nothing_kills_the_process(tmp_path: Path, kind: str, trials: int) -> None:
    found = outcomes(tmp_path, kind, 1, trials)
    assert found["refused"] > trials / 4
    assert not [line for line in found if line.startswith("unexpected")], found


@pytest.mark.deep
@pytest.mark.parametrize("kind", SUFFIXES)
@pytest.mark.parametrize("seed", range(2, 6))
def test_nothing_kills_the_process_in_long_runs(tmp_path: Path, kind: str, seed: int) -> None:
    found = outcomes(tmp_path, kind, seed, 400)
    assert not [line for line in found if line.startswith("unexpected")], found


def test_a_release_from_a_damaged_file_is_given_back(tmp_path: Path) -> None:
    text = PLAN.replace("people.parquet", "people.arrow")
    text = text.replace('name = "KEY_CODE"\nkind = "mesh"\nlevel = "1/2"\nwindow = [8560, 6400, 32, 32]', "")
    text = text.replace("[[domain]]\n", '[[domain]]\nname = "sex"\nkind = "category"\nlabels = ["f", "m"]\n')
    open_office(tmp_path, text=text)
    write_people(tmp_path / "sound.arrow", "arrow")
    dice, content = random.Random(3), (tmp_path / "sound.arrow").read_bytes()
    refused = 0
    while refused < 3:
        (tmp_path / "people.arrow").write_bytes(damage(content, dice))
        (tmp_path / "plan.toml").write_text(text.replace('"release"', f'"release{dice.random()}"'))
        before = remaining(tmp_path)
        try:
            run_release(read_plan(tmp_path / "plan.toml"))
        except InputError:
            refused += 1
            assert remaining(tmp_path) == before
        else:
            assert before is not None
            if before == Budget(epsilon=1):
                break
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.reservations("town") == []


def test_texts_of_parquet_files_that_are_none(tmp_path: Path) -> None:
    """A byte that is no letter is found when the file is read, and not in the middle of something."""
    raw = pa.array([b"person 1", b"person \xff"], pa.binary())
    no_text = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    pyarrow.parquet.write_table(pa.table({"id": no_text}), tmp_path / "people.parquet")
    with pytest.raises(InputError):
        read_people(tmp_path / "people.parquet")
    with pytest.raises(InputError):
        list(PeopleStream(tmp_path / "people.parquet").batches())
