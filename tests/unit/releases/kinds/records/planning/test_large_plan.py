"""Plans for files larger than memory give what plans for records in memory give; levels may be decided beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sudare.errors import InputError, OutputError, PlanError
from sudare.microdata.grouping import group
from sudare.microdata.models import KAnonymity
from sudare.microdata.records import Records, read_people, write_people
from sudare.microdata.search.anonymizing import satisfies
from sudare.releases.kinds.records import read_people_plan, run_people_plan
from tests.unit.releases.kinds.records.town import ANONYMIZE, COLUMNS, HEAD, UNTOLD, build_town, people

LARGE = HEAD + "larger_than_memory = true\n"
QUASI = ["age", "sex", "zip"]
MODELS = 'suppression = 0.1\nmodels = [{ name = "l-diversity", l = 2 }]\n'


def run(folder: Path, text: str, rows: list[list[str]] | None = None) -> Any:
    folder.mkdir(exist_ok=True)
    return run_people_plan(read_people_plan(build_town(folder, text, rows), folder / "out"))


def sorted_rows(records: Records) -> list[tuple[Any, ...]]:
    return sorted(zip(*(records.column(name).texts().tolist() for name in records.names), strict=True))


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"people.csv", "plan.toml", "budget.db"}


class TestLarge:
    """The same, out of memory."""

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    @pytest.mark.parametrize("search", ["optimal", "heuristic"])
    def test_it_gives_what_memory_gives(self, tmp_path: Path, form: str, search: str) -> None:
        rest = COLUMNS + ANONYMIZE + MODELS + f'search = "{search}"\n[output]\nformats = ["{form}"]\n'
        large, small = run(tmp_path / "large", LARGE + rest), run(tmp_path / "small", HEAD + rest)
        file = f"out/people.{form}"
        published = read_people(tmp_path / "large" / file)
        assert sorted_rows(published) == sorted_rows(read_people(tmp_path / "small" / file))
        assert satisfies(published, QUASI, [KAnonymity(4)])
        assert large.document["larger_than_memory"] is True
        for key in ("risks", "classes", "kept", "models", "published", "columns", "attacks", "even_if_broken"):
            ours, theirs = large.document[key], small.document[key]
            assert ours == (pytest.approx(theirs) if key == "kept" else theirs), key
        assert large.document["search"]["levels"] == small.document["search"]["levels"]
        sizes = group([published.column(name) for name in QUASI]).sizes
        assert large.document["utility"]["discernibility_of_classes"] == int((sizes**2).sum())

    def test_a_parquet_file(self, tmp_path: Path) -> None:
        build_town(tmp_path)
        write_people(tmp_path / "people.parquet", read_people(tmp_path / "people.csv"))
        plan = LARGE.replace("people.csv", "people.parquet") + COLUMNS + ANONYMIZE
        (tmp_path / "plan.toml").write_text(plan)
        made = run_people_plan(read_people_plan(tmp_path / "plan.toml", tmp_path / "out"))
        assert made.document["published"]["columns"] == ["age", "sex", "zip", "illness", "wage"]

    def test_values_without_a_place(self, tmp_path: Path) -> None:
        rows = people()
        rows[6][1] = UNTOLD
        with pytest.raises(InputError, match="'age' has a value in row 7 of the data") as caught:
            run(tmp_path, LARGE + COLUMNS + ANONYMIZE, rows)
        assert UNTOLD not in caught.value.english + caught.value.japanese
        assert not left_behind(tmp_path)
        rows[6][1] = ""
        with pytest.raises(InputError, match="an empty field in row 7"):
            run(tmp_path, LARGE + COLUMNS + ANONYMIZE, rows)

    def test_columns_that_nobody_named(self, tmp_path: Path) -> None:
        columns = COLUMNS.replace('[columns.wage]\nrole = "other"\n', "")
        with pytest.raises(InputError, match="a column 'wage' that the plan does not name"):
            run(tmp_path, LARGE + columns + ANONYMIZE)
        made = run(tmp_path, LARGE + 'others = "drop"\n' + columns + ANONYMIZE)
        assert "wage" not in read_people(tmp_path / "out" / "people.csv").names
        assert made.document["published"]["columns"] == ["age", "sex", "zip", "illness"]

    def test_a_column_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="'ages'"):
            run(tmp_path, LARGE + COLUMNS.replace("columns.age]", "columns.ages]") + ANONYMIZE)
        assert not left_behind(tmp_path)

    @pytest.mark.parametrize("head", [HEAD, LARGE], ids=["memory", "large"])
    def test_nobody(self, tmp_path: Path, head: str) -> None:
        with pytest.raises(InputError, match="no rows"):
            run(tmp_path, head + COLUMNS + ANONYMIZE, [])
        assert not left_behind(tmp_path)

    def test_a_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        plan = read_people_plan(build_town(tmp_path, LARGE + COLUMNS + ANONYMIZE), tmp_path / "file" / "out")
        with pytest.raises(OutputError):
            run_people_plan(plan)

    @pytest.mark.parametrize(
        ("change", "english", "japanese"),
        [
            (
                ("", "", '[protection]\nmethod = "sample"\nrows = 5\n'),
                'for method = "anonymize" alone',
                "だけで使えます",
            ),
            (("", "", ANONYMIZE + 'search = "local"\n'), 'search = "local"', "local"),
            (("", "", ANONYMIZE + 'suppressed = "starred"\n'), "starred", "starred"),
            (("", 'population = "x.csv"\n', ANONYMIZE), "population", "population"),
            (("", 'encoding = "cp932"\n', ANONYMIZE), "UTF-8", "UTF-8"),
            (("people.csv", "", ANONYMIZE), ".csv or .parquet", ".parquet"),
        ],
    )
    def test_what_needs_memory_is_refused(
        self, tmp_path: Path, change: tuple[str, str, str], english: str, japanese: str
    ) -> None:
        old, key, steps = change
        head = LARGE.replace(old, "people.arrow") if old else LARGE
        with pytest.raises(PlanError) as caught:
            read_people_plan(build_town(tmp_path, head + key + COLUMNS + steps))
        assert "larger_than_memory" in caught.value.english
        assert english in caught.value.english
        assert japanese in caught.value.japanese


class TestPinnedLevels:
    """Levels that the plan decides."""

    PINNED = COLUMNS.replace("highest = 80 }", "highest = 80 }\nlevel = 2")

    @pytest.mark.parametrize("head", [HEAD, LARGE], ids=["memory", "large"])
    def test_a_level_is_kept_to(self, tmp_path: Path, head: str) -> None:
        made = run(tmp_path, head + self.PINNED + ANONYMIZE + MODELS)
        assert made.document["search"]["levels"]["age"] == 2
        age = next(column for column in made.document["columns"] if column["name"] == "age")
        assert (age["level"], age["height"]) == (2, 3)
        published = read_people(tmp_path / "out" / "people.csv")
        assert set(published.column("age").labels) <= {"0-19", "20-39", "40-59", "60-79", ">=80"}
        assert satisfies(published, QUASI, [KAnonymity(4)])
        free = run(tmp_path / "free", head + COLUMNS + ANONYMIZE + MODELS)
        assert made.document["search"]["choices"] < free.document["search"]["choices"]

    def test_beside_a_population(self, tmp_path: Path) -> None:
        lines = ["age,sex,zip", *(",".join(row[1:4]) for row in people(480))]
        (tmp_path / "everybody.csv").write_text("\n".join(lines) + "\n")
        plan = HEAD + 'population = "everybody.csv"\n' + self.PINNED + ANONYMIZE.replace("k = 4", "")
        made = run(tmp_path, plan + 'models = [{ name = "k-map", k = 6 }]\n')
        assert made.document["search"]["levels"]["age"] == 2
        assert made.document["risks"]["after"]["journalist"]["highest"] <= 1 / 6

    def test_both_ways_give_the_same(self, tmp_path: Path) -> None:
        for name, head in (("large", LARGE), ("small", HEAD)):
            run(tmp_path / name, head + self.PINNED + ANONYMIZE + MODELS)
        large, small = (read_people(tmp_path / name / "out" / "people.csv") for name in ("large", "small"))
        assert sorted_rows(large) == sorted_rows(small)

    def test_levels_that_are_not_there(self, tmp_path: Path) -> None:
        plan = HEAD + COLUMNS.replace("highest = 80 }", "highest = 80 }\nlevel = 9") + ANONYMIZE
        with pytest.raises(PlanError, match="from 0 to 3"):
            read_people_plan(build_town(tmp_path, plan))
        with pytest.raises(PlanError, match="has no levels"):
            read_people_plan(build_town(tmp_path, HEAD + self.PINNED + ANONYMIZE + 'search = "local"\n'))
        for head in (HEAD, LARGE):
            with pytest.raises(InputError, match="level 7 of the column 'zip'"):
                run(tmp_path, head + COLUMNS.replace("mask = {}", "mask = {}\nlevel = 7") + ANONYMIZE)
        assert not left_behind(tmp_path)
