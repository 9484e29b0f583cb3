"""What stands in the way of a release: found from names, headers and the ledger, and never from a row."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError, LedgerError, OutputError, PlanError
from sudare.io.headers import require_columns
from sudare.io.source import Source
from sudare.ledger import open_ledger
from sudare.releases.preflight import Preflight, find_obstacles
from sudare.releases.registry import find_kind_of_plan, run_plan
from tests.contracts.test_release_kinds import build_counts, build_private_records, build_records, build_tables

Build = Callable[[Path], Path]
OF_FILES: dict[str, tuple[Build, str]] = {
    "counts": (build_counts, "people.parquet"),
    "records with a price": (build_private_records, "people.csv"),
    "records": (build_records, "people.csv"),
    "tables": (build_tables, "firms.csv"),
}
each = pytest.mark.parametrize(("build", "data"), OF_FILES.values(), ids=list(OF_FILES))


def look(plan: Path) -> Preflight:
    kind = find_kind_of_plan(plan).load()
    return find_obstacles(kind, kind.read_plan(plan))


def spoil_rows(file: Path) -> None:
    """Leave the header, or the schema, and make nonsense of every row."""
    whole = file.read_bytes()
    if file.suffix == ".parquet":
        footer = int.from_bytes(whole[-8:-4], "little") + 8
        file.write_bytes(whole[:4] + b"\xff" * (len(whole) - footer - 4) + whole[-footer:])
    else:
        file.write_bytes(whole.split(b"\n")[0] + b"\n" + b'\xff"\x00,' * 1000)


@each
def test_no_row_is_looked_at(tmp_path: Path, build: Build, data: str) -> None:
    plan = build(tmp_path)
    spoil_rows(tmp_path / data)
    assert look(plan) == Preflight()
    with pytest.raises(InputError):
        run_plan(plan)


@pytest.mark.parametrize("build", [build_counts, build_private_records])
def test_a_run_that_was_stopped_after_its_charge_was_kept(tmp_path: Path, build: Build) -> None:
    file = build(tmp_path)
    kind = find_kind_of_plan(file).load()
    plan = kind.read_plan(file)
    header = kind.header(plan)
    assert header.ledger is not None
    assert header.price is not None
    with open_ledger(header.ledger.location) as ledger:
        unit, fingerprint = header.price.unit, kind.identity(plan, 0).fingerprint
        ledger.reserve(header.ledger.dataset, header.price.budget, unit=unit, fingerprint="0" * 64)
        left = ledger.reserve(header.ledger.dataset, header.price.budget, unit=unit, fingerprint=fingerprint)
    found = look(file)
    assert found.unfinished == (left.number,)

    def refuse(left: object) -> None:
        raise InputError("once is enough", "一度だけ")

    with pytest.raises(InputError, match="once is enough"):
        run_plan(file, on_unfinished=refuse)


@each
def test_a_column_that_is_missing(tmp_path: Path, build: Build, data: str) -> None:
    plan = build(tmp_path)
    if data.endswith(".parquet"):
        text = plan.read_text(encoding="utf-8").replace("[source]", '[source]\ncolumns = { KEY_CODE = "CODE" }')
        plan.write_text(text, encoding="utf-8")
    else:
        header, _, rest = (tmp_path / data).read_text(encoding="utf-8").partition("\n")
        (tmp_path / data).write_text(header.replace(",", ",x") + f"\n{rest}", encoding="utf-8")
    (found,) = look(plan).obstacles
    assert isinstance(found, InputError)
    assert "There is no column" in found.english
    assert "がありません" in found.japanese


@each
def test_a_file_that_is_missing(tmp_path: Path, build: Build, data: str) -> None:
    plan = build(tmp_path)
    (tmp_path / data).unlink()
    (found,) = look(plan).obstacles
    assert isinstance(found, InputError)


@each
def test_a_file_that_must_not_be_read(tmp_path: Path, build: Build, data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for root, whom permissions do not stop."""
    plan = build(tmp_path)
    opened = builtins.open

    def refuse(file: Any, *arguments: Any, **named: Any) -> Any:
        if str(file).endswith(data):
            raise PermissionError(13, "Permission denied")
        return opened(file, *arguments, **named)

    monkeypatch.setattr(builtins, "open", refuse)
    (found,) = look(plan).obstacles
    assert "cannot be opened" in str(found)


@each
def test_a_data_set_that_the_ledger_does_not_know(tmp_path: Path, build: Build, data: str) -> None:
    plan = build(tmp_path)
    text = plan.read_text(encoding="utf-8").replace('dataset = "town"', 'dataset = "city"')
    plan.write_text(text, encoding="utf-8")
    (found,) = look(plan).obstacles
    assert isinstance(found, LedgerError)
    assert "city" in found.english


@each
def test_a_place_where_nothing_can_be_written(
    tmp_path: Path, build: Build, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = build(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    (found,) = look(plan).obstacles
    assert isinstance(found, OutputError)
    assert str(tmp_path) in found.english


@each
def test_everything_is_told_at_once(tmp_path: Path, build: Build, data: str) -> None:
    plan = build(tmp_path)
    (tmp_path / data).unlink()
    (tmp_path / "out").mkdir()
    (tmp_path / "budget.db").unlink()
    found = look(plan)
    assert [type(one) for one in found.obstacles] == [LedgerError, OutputError, InputError]
    assert not found.is_clear


@pytest.mark.parametrize("build", [build_counts, build_private_records], ids=["counts", "records"])
def test_people_who_opted_out_and_nothing_tells_who_they_are(tmp_path: Path, build: Build) -> None:
    plan = build(tmp_path)
    text = plan.read_text(encoding="utf-8")
    plan.write_text("\n".join(line for line in text.split("\n") if not line.startswith("person")), encoding="utf-8")
    with open_ledger(tmp_path / "budget.db") as ledger:
        ledger.opt_out("town", "somebody")
    found = [one for one in look(plan).obstacles if isinstance(one, PlanError)]
    assert len(found) == 1
    assert "opt_outs_removed" in found[0].english


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
def test_headers_of_text_files(tmp_path: Path, delimiter: str, encoding: str) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(f"番号{delimiter}性別\n".encode(encoding) + b"\xff\xff\n")
    assert require_columns(Source(str(file)), ["性別"]) == ("番号", "性別")
    with pytest.raises(InputError) as told:
        require_columns(Source(str(file)), ["性別", "年齢"])
    assert "'年齢'" in told.value.english
    assert "番号" in told.value.english


def test_a_person_in_the_first_line_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("Taro Yamada,m,42\nHanako Suzuki,f,36\n", encoding="utf-8")
    with pytest.raises(InputError) as told:
        require_columns(Source(str(file)), ["name", "sex"])
    assert "Yamada" not in told.value.english + told.value.japanese
