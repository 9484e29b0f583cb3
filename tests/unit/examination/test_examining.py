"""Every kind of folder gets the attacks that apply to it, alone and with others, and the rest is told with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sudare.attacks import AttackOutcome
from sudare.errors import InputError, ParameterError
from sudare.examination import Examination, examine, open_subject
from sudare.ledger import note_publication
from tests.unit.examination.test_people import PUBLISHED, folder_of
from tests.unit.examination.village import PEOPLE, describe_tables, make_ledger, protect, release, write_people


def names(found: Examination) -> tuple[set[str], set[str]]:
    return {report.attack for report in found.reports}, {each.attack for each in found.not_applied}


def test_described_tables(tmp_path: Path) -> None:
    alone = examine(describe_tables(tmp_path, [(0, 1), (1, 2), (0, 2)]))
    assert alone.kind == "tables"
    assert alone.outcome is AttackOutcome.BROKEN  # two hidden counts are what is left of a total
    ran, skipped = names(alone)
    assert ran == {"reconstruction", "differencing"}
    assert skipped == {"averaging", "linkage", "uniqueness", "membership"}
    assert (
        examine(tmp_path / "tables.toml", threshold=2).outcome is AttackOutcome.HELD
    )  # none of them is a single person


def test_a_table_with_thresholds_is_broken_and_a_release_of_the_same_people_is_not(tmp_path: Path) -> None:
    thresholds = examine(protect(tmp_path, "thresholds", 'method = "suppress"\nsecondary = false'))
    assert thresholds.kind == "protected-table"
    found = thresholds.report("reconstruction")
    assert found is not None
    assert found.outcome is AttackOutcome.BROKEN
    assert "1 data set(s) fit" in found.summary.english
    assert {"interval", "reconstruction"} <= names(thresholds)[0]
    make_ledger(tmp_path)
    private = examine(release(tmp_path), data=tmp_path / "village.csv")
    assert private.outcome is AttackOutcome.HELD
    ran, skipped = names(private)
    assert ran == {"reconstruction", "averaging"}
    assert skipped == {"differencing", "membership", "interval", "linkage", "uniqueness"}


def test_a_weak_budget_is_told_as_broken(tmp_path: Path) -> None:
    make_ledger(tmp_path)
    found = examine(release(tmp_path, epsilon=19, method="laplace"))
    assert found.outcome is AttackOutcome.BROKEN
    assert {report.attack for report in found.reports if report.outcome is AttackOutcome.BROKEN} >= {"averaging"}


def test_releases_that_a_ledger_knows_are_attacked_together(tmp_path: Path) -> None:
    """Two releases of one data set: each by itself holds, together they wear the noise off."""
    location = make_ledger(tmp_path)
    folders = [release(tmp_path, f"release{number}", epsilon=3, columns=(0,), method="laplace") for number in range(2)]
    alone, together = (
        examine(folders[0]),
        examine(folders[0], ledger=location, dataset="village"),
    )
    one, all_of_them = alone.report("averaging"), together.report("averaging")
    assert one is not None
    assert all_of_them is not None
    assert "from 1 answer(s)" in one.summary.english
    assert one.outcome is AttackOutcome.HELD
    assert "from 2 answer(s)" in all_of_them.summary.english
    assert all_of_them.outcome is AttackOutcome.BROKEN  # a deviation of 0.33 / sqrt(2) is below a quarter
    assert "differencing" in names(together)[0]


def test_a_noted_publication_is_attacked_with_a_new_one(tmp_path: Path) -> None:
    """Two tables that hold by themselves: a total that the other does not show tells who is left."""
    location = make_ledger(tmp_path)
    first = protect(tmp_path, "first", 'method = "suppress"', columns=(1, 2))
    subject = open_subject(first)
    note_publication(
        location,
        "village",
        document_sha256=subject.document_sha256,
        report_format="sudare-protected-table/1",
        folder=first,
    )
    (tmp_path / "shops.csv").write_text("age,work,count\n40-64,shop,5\n20-39,shop,4\n")
    (tmp_path / "shops.toml").write_text('title = "Shops"\n[[table]]\nfile = "shops.csv"\ntotals = false\n')
    assert examine(first).outcome is AttackOutcome.HELD
    found = examine(first, others=[tmp_path / "shops.toml"])
    assert any("shops" in remark.english for remark in found.remarks)  # its few values cannot be put beside the others
    (tmp_path / "shops.csv").write_text(
        "age,work,count\n40-64,shop,5\n20-39,shop,4\n65+,shop,0\n0-19,shop,0\n0-19,farm,0\n0-19,none,9\n"
    )
    for broken in (
        examine(first, others=[tmp_path / "shops.toml"]),
        examine(tmp_path / "shops.toml", ledger=location, dataset="village"),
    ):
        assert broken.outcome is AttackOutcome.BROKEN
        report = broken.report("reconstruction")
        assert report is not None
        assert "age 40-64, work none" in {v.target.split(": ")[-1] for v in report.with_outcome(AttackOutcome.BROKEN)}


def test_protected_tables_together(tmp_path: Path) -> None:
    tables = [
        protect(tmp_path, f"table{number}", 'method = "suppress"', columns=columns)
        for number, columns in enumerate([(0, 1), (1, 2)])
    ]
    found = examine(tables[0], others=tables[1:])
    assert {"interval", "earlier", "reconstruction", "differencing"} <= names(found)[0]
    assert found.outcome is AttackOutcome.HELD


def test_records(tmp_path: Path) -> None:
    from sudare.releases.kinds.records import read_people_plan, run_people_plan

    data = write_people(tmp_path / "village.csv")
    (tmp_path / "plan.toml").write_text(
        'title = "t"\n[source]\npath = "village.csv"\n[columns.sex]\nrole = "quasi-identifier"\nflat = true\n'
        '[columns.age]\nrole = "quasi-identifier"\nflat = true\n[columns.work]\nrole = "sensitive"\n'
        '[protection]\nmethod = "anonymize"\nk = 3\n'
    )
    folder = run_people_plan(read_people_plan(tmp_path / "plan.toml", tmp_path / "people")).folder
    found = examine(folder, data=data, outside=data)
    assert found.kind == "people"
    assert {"models", "uniqueness", "linkage", "outside"} <= names(found)[0]
    assert {"membership", "reconstruction", "interval", "differencing"} <= names(found)[1]
    assert found.outcome is not AttackOutcome.BROKEN
    assert "outside" in names(examine(folder))[1]
    chosen = examine(folder, outside=data, by=["sex", "age"]).report("outside")
    assert chosen is not None
    assert len(chosen.verdicts) == 48


def test_records_with_a_budget(tmp_path: Path) -> None:
    subject = folder_of(tmp_path / "f", PUBLISHED, epsilon=1)
    found = examine(subject.folder)
    assert found.kind == "private-people"
    assert found.reports == ()
    assert {"membership", "uniqueness", "outside"} <= names(found)[1]
    (tmp_path / "people.csv").write_text(PUBLISHED)
    people = tmp_path / "people.csv"
    assert names(examine(subject.folder, data=people, population=people, outside=people, by=["sex"]))[0] == {
        "membership",
        "outside",
    }


def test_arguments(tmp_path: Path) -> None:
    tables = describe_tables(tmp_path, [(0,)])
    with pytest.raises(ParameterError, match="seconds"):
        examine(tables, seconds=0)
    with pytest.raises(ParameterError, match="threshold"):
        examine(tables, threshold=1)
    with pytest.raises(InputError, match="belong together"):
        examine(tables, ledger="budget.db")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    make_ledger(tmp_path)
    examine(release(tmp_path), progress=lambda stage, _: told.append(stage))
    assert told == ["open", "reconstruction", "averaging", "membership"]


def test_large_releases_get_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare.examination import private_tables

    make_ledger(tmp_path)
    folders = [release(tmp_path, name, epsilon=3, method="laplace") for name in ("first", "second")]
    other = release(tmp_path, "other", columns=(0,))
    monkeypatch.setattr(private_tables, "MAX_CELLS", 10)
    alone, together = examine(folders[0]), examine(folders[0], others=[folders[1], other])
    assert names(alone)[0] == {"averaging"}
    assert any("24 cells" in each.reason.english for each in alone.not_applied)
    assert (alone.outcome, together.outcome) == (
        AttackOutcome.UNDECIDED,
        AttackOutcome.BROKEN,
    )  # too large to look at each count
    monkeypatch.setattr(private_tables, "MAX_WIDTH", 0.01)
    assert examine(folders[0]).reports == ()


def test_the_same_publication_twice_is_not_twice_the_evidence(tmp_path: Path) -> None:
    location = make_ledger(tmp_path)
    folder = release(tmp_path, columns=(0,), method="laplace")
    found = examine(folder, others=[folder, folder], ledger=location, dataset="village").report("averaging")
    assert found is not None
    assert "from 1 answer(s)" in found.summary.english
    tables = describe_tables(tmp_path, [(0, 1)])
    assert examine(tables, others=[tables]).to_dict() == examine(tables).to_dict()


MESHES = (
    'title = "m"\n[source]\nrows = "meshes"\npath = "m.csv"\nmesh = "code"\nlevel = "1/2"\npopulation = "people"\n'
    'values = ["men", "women"]\n[protection]\nmethod = "merge-meshes"\nminimum = 4\n'
)


def run_plan(folder: Path, text: str, name: str) -> Path:
    from sudare.releases.kinds.tables import read_table_plan, run_table_plan

    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return run_table_plan(read_table_plan(folder / f"{name}.toml", folder / name), even_if_broken=True).folder


def test_merged_meshes_and_amounts_get_the_attacks_that_they_have(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "code,people,men,women\n533946111,520,251,269\n533946121,3,2,1\n533946122,6,2,4\n533946131,84,40,44\n"
    )
    before = run_plan(tmp_path, MESHES, "before")
    after = run_plan(tmp_path, MESHES.replace("minimum = 4", "minimum = 10"), "after")
    assert examine(before).outcome is AttackOutcome.HELD
    together = examine(after, others=[before])
    assert together.outcome is AttackOutcome.BROKEN
    assert "differencing" in names(together)[0]
    (tmp_path / "firms.csv").write_text("area,sales\nnorth,50\nnorth,40\nnorth,45\nsouth,9\nsouth,8\nsouth,9\n")
    amounts = run_plan(
        tmp_path,
        'title = "a"\n[source]\npath = "firms.csv"\nvalue = "sales"\n[dimensions.area]\n[rules]\nthreshold = 3\n'
        '[protection]\nmethod = "suppress"\n',
        "amounts",
    )
    found = examine(amounts)
    assert "interval" in names(found)[0]
    assert any("no table of counts" in each.reason.english for each in found.not_applied)


def test_others_that_cannot_be_put_beside_are_left_out_and_told(tmp_path: Path) -> None:
    first = protect(tmp_path, "first", 'method = "suppress"', columns=(0, 1))
    (tmp_path / "m.csv").write_text("code,people,men,women\n533946111,520,251,269\n533946131,84,40,44\n")
    meshes = run_plan(tmp_path, MESHES, "meshes")
    found = examine(first, others=[meshes])
    assert examine(first).outcome is AttackOutcome.HELD
    assert found.outcome is AttackOutcome.UNDECIDED  # what was not looked at may break it
    assert "earlier" not in names(found)[0]
    assert len([remark for remark in found.remarks if "'meshes' was not attacked together" in remark.english]) == 1
    write_people(tmp_path / "village.csv", PEOPLE[:40] * 2)  # other people, by mistake
    contradiction = protect(tmp_path, "other", 'method = "suppress"', columns=(0, 1))
    found = examine(first, others=[contradiction])
    assert "earlier" not in names(found)[0]
    assert any("contradicts" in remark.english for remark in found.remarks)
