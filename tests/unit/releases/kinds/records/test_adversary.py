"""What an adversary found in protected records; each test says what should be so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sudare.attacks.verdicts import AttackOutcome
from sudare.domain import Category, Domain
from sudare.errors import InputError
from sudare.io import Source, read_counts
from sudare.microdata.hierarchies.hierarchy import Generalization
from sudare.microdata.models import KAnonymity
from sudare.microdata.records import read_people
from sudare.microdata.search.large import anonymize_file
from sudare.microdata.search.large_counts import open_large
from sudare.releases.kinds.records import read_people_plan, run_people_plan, verify_people
from sudare.releases.kinds.records.attacking.folder_attacks import attack_folder
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, LEDGER, build_town, people

SEX = Generalization.of_paths("sex", [("f", "*"), ("m", "*")])
ROWS = "sex,ill\nf,no\nf,yes\nm,no\n"


def private_plan(rule: str, rest: str) -> str:
    return (
        HEAD
        + f"""others = "drop"
[columns.zip]
role = "quasi-identifier"
{rule}
missing = "untold"
{rest}
"""
        + LEDGER
    )


def labels_with(folder: Path, plan: str, value: str) -> set[Any]:
    """The published values of a column in which 1,999 people have nothing, and one has a value or nothing."""
    folder.mkdir()
    rows = people(2000)
    for row in rows:
        row[3] = ""
    rows[7][3] = value
    document = run_people_plan(read_people_plan(build_town(folder, plan, rows), folder / "out")).document
    return {label for label, _ in document["values"]["zip"]}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("mask = {}", "8"),
        ("mask = {}", "81667"),
        ("intervals = { widths = [10, 50], whole = true }", "7"),
        ("dates = {}", "2020-01-31"),
        ('mesh = { level = "1/2" }', "533946112"),
    ],
)
def test_one_person_decides_what_missing_values_are_called_in_a_private_table(
    tmp_path: Path, rule: str, value: str
) -> None:
    # Hierarchies of a private step must not depend on the data: all others' rows are published under the same label, whether one
    # person has a value or not. As it is, one look at the file tells (epsilon is infinite).
    plan = private_plan(rule, 'level = 1\n[protection]\nmethod = "sampled-k-anonymity"\n')
    assert labels_with(tmp_path / "without", plan, "") == labels_with(tmp_path / "with", plan, value)


def test_one_person_decides_whether_levels_can_be_chosen(tmp_path: Path) -> None:
    # The levels to choose from are those of the plan: that nobody has a value must not be an error about levels.
    rest = '[protection]\nmethod = "sampled-k-anonymity"\nchoose_levels = 0.2\n'
    labels_with(tmp_path / "without", private_plan("dates = {}", rest), "")


def test_a_name_with_brackets_reads_another_file(tmp_path: Path) -> None:
    # The file that was named is read, whatever DuckDB would take its name for.
    (tmp_path / "people[1].csv").write_text(ROWS)
    (tmp_path / "people1.csv").write_text("sex,ill\nm,other\nm,other\n")
    anonymize_file(tmp_path / "people[1].csv", tmp_path / "out.csv", {"sex": SEX}, [KAnonymity(2)])
    assert "other" not in (tmp_path / "out.csv").read_text()


def test_a_folder_with_an_equals_sign_replaces_a_column(tmp_path: Path) -> None:
    # Names of folders are no data (hive partitions): values and columns are those of the file.
    folder = tmp_path / "sex=f"
    folder.mkdir()
    (folder / "people.csv").write_text(ROWS)
    with open_large(folder / "people.csv") as file:
        assert file.count(["sex"]).counts.tolist() == [2, 1]


def test_lines_like_comments_are_dropped_silently(tmp_path: Path) -> None:
    # In memory this file is refused for its short line; out of memory the line and the one before must not vanish.
    rows = [f"n{number},{'fm'[number % 2]}" for number in range(40)]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["name,sex", *rows[:20], "# x,m", "#y", *rows[20:]]) + "\n")
    with pytest.raises(InputError):
        read_people(path)
    with pytest.raises(InputError), open_large(path) as file:
        file.count(["sex"])


def test_single_quotes_are_taken_off(tmp_path: Path) -> None:
    # The same values as in memory.
    path = tmp_path / "people.csv"
    path.write_text("sex,ill\nf,'a'\nf,'b'\nm,'c'\n")
    with open_large(path) as file:
        assert set(file.count(["ill"]).records.column("ill").labels) == set(read_people(path).column("ill").labels)


def test_two_columns_of_one_name_are_renamed(tmp_path: Path) -> None:
    # Refused, as in memory: which of the two the plan means is anybody's guess.
    path = tmp_path / "people.csv"
    path.write_text("sex,ill,ill\nf,1,2\nf,1,2\n")
    with pytest.raises(InputError):
        read_people(path)
    with pytest.raises(InputError), open_large(path):
        pass


def test_a_column_with_the_name_of_the_counts_is_an_internal_error(tmp_path: Path) -> None:
    # A column may have any name.
    path = tmp_path / "people.csv"
    path.write_text("sex,sudare count\nf,1\nf,1\n")
    with open_large(path) as file:
        assert file.count(["sex", "sudare count"]).people == 2


def town(folder: Path, extra: str = "", head: str = HEAD) -> Path:
    run_people_plan(read_people_plan(build_town(folder, head + COLUMNS + ANONYMIZE + extra), folder / "out"))
    return folder / "out"


def document_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "release.json").read_text())
    return found


def test_a_folder_with_an_equals_sign_hides_that_k_is_broken(tmp_path: Path) -> None:
    # The attack reads the file: a record that is alone breaks k-anonymity wherever the folder lies.
    made = town(tmp_path, head=HEAD + "larger_than_memory = true\n")
    with (made / "people.csv").open("a", newline="") as stream:
        stream.write("33,f,8199,none,700\n")  # alone with its quasi-identifiers
    out = tmp_path / "age=1" / "sex=2" / "zip=3" / "out"
    out.parent.mkdir(parents=True)
    made.rename(out)
    models = next(report for report in attack_folder(out, document_of(out)) if report.attack == "models")
    assert models.outcome is AttackOutcome.BROKEN


def test_a_model_that_was_not_checked_has_held(tmp_path: Path) -> None:
    # What the file alone cannot show is undecided: a changed report may claim any k-map.
    out = town(tmp_path)
    document = document_of(out)
    document["models"] = [{"model": {"name": "k-map", "k": 1_000_000}, "holds": None}]
    models = next(report for report in attack_folder(out, document) if report.attack == "models")
    assert models.outcome is AttackOutcome.UNDECIDED


@pytest.mark.parametrize(
    "model",
    [
        {"name": []},
        {"name": "l-diversity", "l": 2},
        {"name": "l-diversity", "l": 2, "column": []},
    ],
)
def test_a_hostile_model_is_an_internal_error(tmp_path: Path, model: dict[str, Any]) -> None:
    # A report that says nonsense is an InputError.
    out = town(tmp_path, 'models = [{ name = "l-diversity", l = 2 }]\n')
    document = document_of(out)
    kind = document["models"][1]["model"]["name"]
    document["models"] = [{"model": {**model, "name": kind} if model["name"] else model, "holds": True}]
    with pytest.raises(InputError):
        attack_folder(out, document)


@pytest.mark.parametrize("settings", [{}, {"columns": None, "k": 3}, {"columns": ["wage"], "k": float("inf")}])
def test_hostile_settings_of_a_step_are_an_internal_error(tmp_path: Path, settings: dict[str, Any]) -> None:
    # As above.
    out = town(tmp_path)
    document = document_of(out)
    document["steps"] = [{"method": "microaggregate", "settings": settings}]
    with pytest.raises(InputError):
        attack_folder(out, document)


def test_a_report_without_a_title_makes_verify_an_internal_error(tmp_path: Path) -> None:
    # A page that cannot be made from the report is a failed check (here jinja2.UndefinedError).
    out = town(tmp_path)
    document = document_of(out)
    del document["title"]
    (out / "release.json").write_text(json.dumps(document))
    assert any(check.outcome == "failed" for check in verify_people(out))


def test_the_reader_of_releases_takes_a_column_from_the_name_of_a_folder(tmp_path: Path) -> None:
    # A column that the file has is read from the file: counts of 2 and 1 (as from Parquet), not 0 and 3.
    folder = tmp_path / "sex=m"
    folder.mkdir()
    (folder / "people.csv").write_text(ROWS)
    counts = read_counts(Source(str(folder / "people.csv")), Domain((Category("sex", ("f", "m")),)))
    assert counts.to_dense().tolist() == [2, 1]


def test_a_line_above_the_header_is_skipped_silently(tmp_path: Path) -> None:
    # Refused, as in memory: the first line is the header.
    path = tmp_path / "people.csv"
    path.write_text("a line\n" + ROWS)
    with pytest.raises(InputError):
        read_people(path)
    with pytest.raises(InputError), open_large(path):
        pass


def test_numbers_of_a_parquet_file_are_written_differently(tmp_path: Path) -> None:
    # The same texts as in memory, so that the same hierarchy fits: 1, not 1.0.
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"rooms": [1.0, 2.5]}), tmp_path / "people.parquet")
    with open_large(tmp_path / "people.parquet") as file:
        found = file.count(["rooms"]).records.column("rooms").labels
    assert set(found) == set(read_people(tmp_path / "people.parquet").column("rooms").labels)
