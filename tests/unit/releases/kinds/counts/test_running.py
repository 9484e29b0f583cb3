"""Releases: charged before the data is looked at, given back where nothing was drawn, shown whole or not at all."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from sudare import Budget, CountTable, ReleaseEvent, ResearchEntropy, Unit, publish
from sudare.domain import SignedTable
from sudare.errors import (
    BudgetExceededError,
    EntropyError,
    GuaranteeError,
    InputError,
    LedgerError,
    OutputError,
    ParameterError,
    PlanError,
)
from sudare.ledger import Ledger, open_ledger
from sudare.noise import SecureEntropy
from sudare.releases import folder_store
from sudare.releases.kinds.counts import (
    ReleasePlan,
    read_plan,
    read_published_table,
    read_release_source,
    run_release,
    running,
    verify_release,
)
from tests.unit.releases.kinds.counts.offices import PLAN, open_office, remaining, true_counts


def no_trace_of_a_release(folder: Path) -> bool:
    return not (folder / "release").exists() and not list(folder.glob(".*partial*"))


def test_the_whole_way(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    told: list[str] = []
    release = run_release(plan, progress=lambda stage, share: told.append(stage))
    assert release.folder == tmp_path / "release"
    assert not release.is_repeated
    assert sorted(path.name for path in release.folder.iterdir()) == [
        "release.html",
        "release.json",
        "table.csv",
        "table.parquet",
    ]
    assert list(dict.fromkeys(told)) == list(running.STAGES)
    assert remaining(tmp_path) == Budget(epsilon=2)
    assert release.table is not None
    published = read_published_table(release.folder)
    assert np.array_equal(published.keys, release.table.keys)
    assert np.array_equal(published.counts, release.table.counts)
    assert abs(published.total - true_counts().total) < 200
    checks = verify_release(release.folder, plan.ledger.location)
    assert {check.outcome for check in checks} == {"passed"}


@pytest.mark.parametrize("people", [None, 4321])
def test_a_number_of_people_is_declared_public(tmp_path: Path, people: int | None) -> None:
    """It stands in the release, and whoever reads it learns that nothing protects it."""
    text = PLAN if people is None else f"{PLAN}\n[prediction]\npeople = {people}\n"
    document = run_release(open_office(tmp_path, text=text)).document
    assert document["plan"]["people"] == people
    words = document["deployment"]["accounting"]["post_processing"]
    assert ("about 4,321 people, a number that the publisher declares public" in words) == (people is not None)


def test_the_document_says_what_a_registry_asks_for(tmp_path: Path) -> None:
    release = run_release(open_office(tmp_path))
    document = json.loads((release.folder / "release.json").read_text(encoding="utf-8"))
    assert document["deployment"]["dp_flavor"]["name"] == "Pure DP"
    assert document["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": "1"}
    assert document["deployment"]["privacy_loss"]["privacy_unit"] == "person"
    assert document["deployment"]["dp_flavor"]["unprotected_quantities"] == []
    event = ReleaseEvent.from_json(json.dumps(document["event"]))
    assert event.cost == Budget(epsilon=1)
    assert document["ledger"]["dataset"] == "town"
    assert document["plan"]["errors"][0]["side"] == 1
    assert 0.05 < document["promise"]["best_power"] < 1
    assert str(tmp_path) not in json.dumps(document), "paths of the office's machine stay there"


def test_nothing_true_is_in_the_folder(tmp_path: Path) -> None:
    """The true total, and a plain hash of the input, would tell who is in the data."""
    import hashlib

    release = run_release(open_office(tmp_path))
    plain = hashlib.sha256((tmp_path / "people.parquet").read_bytes()).hexdigest()
    for path in release.folder.glob("release.*"):
        text = path.read_text(encoding="utf-8")
        assert plain not in text
        if release.document["published"]["total"] != true_counts().total:
            assert f"{true_counts().total:,}" not in text


def test_the_same_release_again_costs_nothing(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    first = run_release(plan)
    second = run_release(plan)
    assert second.is_repeated
    assert second.document == first.document
    assert remaining(tmp_path) == Budget(epsilon=2)


def test_again_on_request_costs_again(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    run_release(plan)
    shutil.move(tmp_path / "release", tmp_path / "first")
    assert not run_release(plan, again=True).is_repeated
    assert remaining(tmp_path) == Budget(epsilon=1)


def test_a_release_that_is_gone_is_not_drawn_again_unasked(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    release = run_release(plan)
    shutil.rmtree(release.folder)
    with pytest.raises(LedgerError, match="--again"):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=2)


def test_more_than_the_budget_is_refused_before_the_data_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = open_office(tmp_path, total=Budget(epsilon=0.5))
    monkeypatch.setattr(running, "read_counts", lambda *_, **__: pytest.fail("looked at the data"))
    with pytest.raises(BudgetExceededError):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=0.5)
    assert no_trace_of_a_release(tmp_path)


def test_a_ledger_that_was_changed_is_refused(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    run_release(plan)
    with closing(sqlite3.connect(tmp_path / "budget.db")) as database, database:
        database.execute("UPDATE sudare_datasets SET spent = '0 0'")
    (tmp_path / "plan.toml").write_text(PLAN.replace('"release"', '"second"'))
    with pytest.raises(LedgerError, match="changed from outside"):
        run_release(read_plan(tmp_path / "plan.toml"))


def test_counts_are_not_taken_for_people(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    people = pyarrow.parquet.read_table(tmp_path / "people.parquet")
    pyarrow.parquet.write_table(people.rename_columns(["KEY_CODE", "population"]), tmp_path / "people.parquet")
    with pytest.raises(PlanError, match='count = "population"'):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=3)
    (tmp_path / "plan.toml").write_text(PLAN.replace("[source]", '[source]\nrows = "people"'))
    run_release(read_plan(tmp_path / "plan.toml"))


def test_bad_data_is_not_charged(tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=PLAN.replace("[8560, 6400, 32, 32]", "[8560, 6400, 10, 10]"))
    with pytest.raises(InputError):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=3)
    assert no_trace_of_a_release(tmp_path)


def test_a_mechanism_that_refuses_is_not_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise GuaranteeError("cannot")

    plan = open_office(tmp_path)
    monkeypatch.setattr(running, "publish", refuse)
    with pytest.raises(GuaranteeError):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=3)


@pytest.mark.parametrize("failure", [MemoryError, KeyboardInterrupt])
def test_what_ends_while_noise_is_drawn_stays_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    def end(*_: Any, **__: Any) -> Any:
        SecureEntropy().next_word()
        raise failure

    plan = open_office(tmp_path)
    monkeypatch.setattr(running, "publish", end)
    with pytest.raises(failure):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=2)
    assert no_trace_of_a_release(tmp_path)


@pytest.mark.parametrize(("failure", "left"), [(KeyboardInterrupt, 3), (MemoryError, 2)])
def test_whoever_interrupts_before_the_first_draw_is_not_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException], left: int
) -> None:
    """A failure of its own may depend on the data, and stays charged."""

    def end(*_: Any, **__: Any) -> Any:
        raise failure

    plan = open_office(tmp_path)
    monkeypatch.setattr(running, "publish", end)
    with pytest.raises(failure):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=left)
    assert no_trace_of_a_release(tmp_path)


@pytest.mark.parametrize("step", ["write_table", "write_document", "render_page"])
def test_what_cannot_be_written_stays_charged_and_out_of_sight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OutputError("No space left.", "空き容量がありません。")

    plan = open_office(tmp_path)
    monkeypatch.setattr(running, step, full)
    with pytest.raises(OutputError):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=2)
    assert no_trace_of_a_release(tmp_path)


@pytest.mark.parametrize("moment", ["settle", "publish_folder"])
def test_a_complete_release_that_was_never_shown_is_shown_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """As if the process was killed just before the ledger settled, or just before the rename."""

    def killed(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    plan = open_office(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Ledger if moment == "settle" else folder_store, moment, killed)
        with pytest.raises(KeyboardInterrupt):
            run_release(plan)
    assert not (tmp_path / "release").exists()
    assert remaining(tmp_path) == Budget(epsilon=2)
    release = run_release(plan)
    assert release.is_repeated
    assert remaining(tmp_path) == Budget(epsilon=2)
    assert {check.outcome for check in verify_release(release.folder, plan.ledger.location)} == {"passed"}
    assert not list(tmp_path.glob(".*partial*"))


def crashed(plan: ReleasePlan, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A complete release that was never settled, out of sight."""

    def killed(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            run_release(plan)
    (folder,) = plan.folder.parent.glob(".*partial*")
    return folder


def cheaper(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    document["event"]["cost"] = {"epsilon": "1/1000000"}
    (folder / "release.json").write_text(json.dumps(document))


FORGERIES: dict[str, Callable[[Path], object]] = {
    "another cost": cheaper,
    "another table": lambda folder: (folder / "table.csv").write_text("KEY_CODE,population\n"),
    "a missing table": lambda folder: (folder / "table.csv").unlink(),
    "no seal": lambda folder: (folder / ".seal").unlink(),
    "another seal": lambda folder: (folder / ".seal").write_text("0" * 64),
    "no document": lambda folder: (folder / "release.json").write_text(""),
    "a link": lambda folder: (
        folder.rename(folder.with_name("elsewhere")).parent.joinpath(folder.name).symlink_to("elsewhere")
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_only_what_the_ledger_sealed_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgery: str) -> None:
    """Somebody who can write beside the target cannot take back a charge, or have another table released."""
    plan = open_office(tmp_path)
    FORGERIES[forgery](crashed(plan, monkeypatch))
    assert not run_release(plan).is_repeated
    assert remaining(tmp_path) == Budget(epsilon=1), "both were drawn, both are paid for"


def test_a_folder_name_that_looks_like_a_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = open_office(tmp_path, text=PLAN.replace('"release"', '"r[2024]"'))
    crashed(plan, monkeypatch)
    assert run_release(plan).is_repeated


def test_whether_something_is_published_does_not_depend_on_the_data(tmp_path: Path) -> None:
    """The same plan shows its release, also if the data has changed; another folder is another release, also if not."""
    plan = open_office(tmp_path)
    first = run_release(plan)
    people = pyarrow.parquet.read_table(tmp_path / "people.parquet")
    pyarrow.parquet.write_table(people.slice(1), tmp_path / "people.parquet")
    assert run_release(plan).is_repeated
    pyarrow.parquet.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "plan.toml").write_text(PLAN.replace('"release"', '"second"'))
    second = run_release(read_plan(tmp_path / "plan.toml"))
    assert not second.is_repeated
    hashes = [release.document["input"]["keyed_hash"] for release in (first, second)]
    assert hashes[0] != hashes[1], "the same counts, and nobody can tell"
    assert remaining(tmp_path) == Budget(epsilon=1)


def test_again_after_a_crash_keeps_the_plan_usable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = open_office(tmp_path)
    crashed(plan, monkeypatch)
    shown = run_release(plan, again=True)
    assert run_release(plan).document == shown.document
    assert remaining(tmp_path) == Budget(epsilon=1)


def test_fewer_rows_than_the_ledger_says_are_refused(tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=PLAN.replace('"town"', '"visits"'))
    with open_ledger(plan.ledger.location) as ledger:
        ledger.add_dataset("visits", Budget(epsilon=1), unit=Unit.with_rows(3))
    with pytest.raises(LedgerError, match="up to 3 rows"):
        run_release(plan)


def test_an_error_in_the_middle_of_a_draw_stays_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forked(*_: Any, **__: Any) -> Any:
        raise EntropyError("a copy of a stream")

    plan = open_office(tmp_path)
    monkeypatch.setattr(running, "publish", forked)
    with pytest.raises(EntropyError):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=2)


def test_research_noise_is_never_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sudare.errors import NotPrivateError

    plan = open_office(tmp_path)
    monkeypatch.setattr(running, "publish", lambda *a, **k: publish(*a, **k, entropy=ResearchEntropy(1)))
    with pytest.raises(NotPrivateError):
        run_release(plan)
    assert not (tmp_path / "release").exists()
    assert remaining(tmp_path) == Budget(epsilon=2)


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        run_release(plan)
    assert (tmp_path / "release" / "mine.txt").read_text() == "mine"
    assert remaining(tmp_path) == Budget(epsilon=3)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    plan = open_office(tmp_path, text=PLAN.replace('"release"', '"file/release"'))
    with pytest.raises(OutputError, match="cannot be written"):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=3)


def test_an_unknown_data_set_and_a_missing_ledger(tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=PLAN.replace('"town"', '"twon"'))
    with pytest.raises(LedgerError, match="town"):
        run_release(plan)
    (tmp_path / "plan.toml").write_text(PLAN.replace("budget.db", "other.db"))
    with pytest.raises(LedgerError):
        run_release(read_plan(tmp_path / "plan.toml"))


def test_a_person_who_opted_out_is_not_counted(tmp_path: Path) -> None:
    text = PLAN.replace('path = "people.parquet"', 'path = "people.parquet"\nperson = "person"')
    plan = open_office(tmp_path, text=text)
    with open_ledger(plan.ledger.location) as ledger:
        assert running.read_release_source(plan, ledger).total == true_counts().total
        ledger.opt_out("town", "p3")
        ledger.opt_out("town", "p5")
        assert running.read_release_source(plan, ledger).total == true_counts().total - 2


def test_opting_out_needs_the_column_of_persons(tmp_path: Path) -> None:
    plan = open_office(tmp_path)
    with open_ledger(plan.ledger.location) as ledger:
        ledger.opt_out("town", "p3")
    with pytest.raises(PlanError, match="opt_outs_removed"):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=3)
    text = PLAN.replace('path = "people.parquet"', 'path = "people.parquet"\nopt_outs_removed = true')
    (tmp_path / "plan.toml").write_text(text)
    run_release(read_plan(tmp_path / "plan.toml"))


def test_opting_out_makes_it_another_release(tmp_path: Path) -> None:
    text = PLAN.replace('path = "people.parquet"', 'path = "people.parquet"\nperson = "person"')
    plan = open_office(tmp_path, text=text)
    run_release(plan)
    with open_ledger(plan.ledger.location) as ledger:
        ledger.opt_out("town", "p3")
    with pytest.raises(OutputError, match="exists"):
        run_release(plan)


@pytest.mark.parametrize(
    ("method", "mechanism"),
    [
        ('name = "nn-wavelet"', "nn-wavelet"),
        ('name = "laplace"\nthreshold = 4', "laplace"),
        ("public_total = true", None),
    ],
)
def test_other_methods(tmp_path: Path, method: str, mechanism: str | None) -> None:
    plan = open_office(tmp_path, text=PLAN.replace("[output]", f"[method]\n{method}\n[output]"))
    if mechanism is None:
        with pytest.raises(LedgerError, match="replace"):
            run_release(plan)
        with open_ledger(plan.ledger.location) as ledger:
            ledger.add_dataset("replaced", Budget(epsilon=1), unit=Unit("person", adjacency="replace"))
        (tmp_path / "plan.toml").write_text(plan.file.read_text().replace('"town"', '"replaced"'))
        release = run_release(read_plan(tmp_path / "plan.toml"))
        assert release.document["published"]["total"] == true_counts().total
        assert release.document["deployment"]["dp_flavor"]["unprotected_quantities"] == ["total"]
        return
    release = run_release(plan)
    assert release.document["event"]["mechanism"] == mechanism
    assert ("below 4" in release.document["deployment"]["accounting"]["post_processing"]) == ("threshold" in method)


@pytest.mark.parametrize("method", ["laplace", "privelet"])
def test_a_signed_release(tmp_path: Path, method: str) -> None:
    """Written, reported and checked as such: the total is right on average, and no number is cut off."""
    text = PLAN.replace('"csv"', '"csv", "arrow", "geoparquet", "geotiff"')
    plan = open_office(tmp_path, text=text.replace("[output]", f'[method]\nname = "{method}"\n[output]'))
    release = run_release(plan)
    stated = release.document["published"]
    assert stated["signed"] is True
    assert stated["threshold"] is None
    assert "negative ones too" in release.document["deployment"]["accounting"]["post_processing"]
    published = read_published_table(release.folder)
    assert type(published) is SignedTable
    assert published == release.table
    assert 0.1 < (published.counts < 0).mean() < 0.7
    # Six deviations: of 1,024 cells, or of Privelet's total at a scale of 36.
    assert abs(published.total - true_counts().total) < 6 * max(32 * 2**0.5, 36 * 2**0.5)
    checks = verify_release(release.folder, plan.ledger.location)
    assert {check.outcome for check in checks} == {"passed"}
    assert any("signed as published" in check.english for check in checks)
    page = (release.folder / "release.html").read_text(encoding="utf-8")
    assert "Do not set them to 0 before adding up" in page
    assert "合計の前に負の値を 0 にしないでください" in page
    assert "shades-below" in page
    report = release.folder / "release.json"
    report.write_text(report.read_text().replace('"signed": true', '"signed": false'))
    assert "failed" in {check.outcome for check in verify_release(release.folder) if check.name == "counts"}


def test_a_signed_release_along_a_curve(tmp_path: Path) -> None:
    """Its errors have no formula, and are tried out: the release is predicted and made all the same."""
    method = '[method]\nname = "privelet"\nlayout = "hilbert"\n[output]'
    plan = open_office(tmp_path, text=PLAN.replace("[output]", method))
    release = run_release(plan)
    assert release.document["published"]["signed"] is True
    assert {check.outcome for check in verify_release(release.folder, plan.ledger.location)} == {"passed"}


@pytest.mark.parametrize("method", ["laplace", "privelet"])
def test_a_release_refined_to_counts(tmp_path: Path, method: str) -> None:
    plan = open_office(
        tmp_path, text=PLAN.replace("[output]", f'[method]\nname = "{method}"\nrefine = "counts"\n[output]')
    )
    release = run_release(plan)
    assert release.document["published"]["signed"] is False
    assert release.document["method"]["settings"] == {"refine": "counts"}
    assert type(read_published_table(release.folder)) is CountTable
    assert abs(release.document["published"]["total"] - true_counts().total) < 6 * 36 * 2**0.5
    assert {check.outcome for check in verify_release(release.folder, plan.ledger.location)} == {"passed"}


def test_a_threshold_says_what_it_does_to_totals(tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=PLAN.replace("[output]", '[method]\nname = "laplace"\nthreshold = 1\n[output]'))
    release = run_release(plan)
    effect = release.document["published"]["threshold"]
    q = np.exp(-1)
    assert effect["threshold"] == 1
    assert effect["per_empty_cell"] == pytest.approx(q / (1 - q**2))
    assert effect["if_all_empty"] == pytest.approx(1024 * q / (1 - q**2))
    assert "adds 0.425459 on average" in release.document["deployment"]["accounting"]["post_processing"]
    page = (release.folder / "release.html").read_text(encoding="utf-8")
    assert (
        "BIASED TOTALS: noisy counts below 1 are published as 0. On average, this adds 0.425 to every empty cell"
        in page
    )
    assert "表全体で最大 436 が加わり" in page


@pytest.mark.parametrize("method", ["laplace", "privelet"])
def test_too_many_cells_for_a_signed_table_are_refused_with_the_plan(tmp_path: Path, method: str) -> None:
    text = PLAN.replace("[8560, 6400, 32, 32]", "[6814, 3670, 16385, 16385]").replace('"1/2"', '"1/8"')
    with pytest.raises(PlanError, match=rf'cannot be "{method}" for 268,468,225 cells.*wide-tree.*negative-l2'):
        open_office(tmp_path, text=text.replace("[output]", f'[method]\nname = "{method}"\n[output]'))


def test_a_format_that_cannot_hold_the_table_is_found_before_the_charge(tmp_path: Path) -> None:
    sex = '[[domain]]\nname = "sex"\nkind = "category"\nlabels = ["f", "m"]\n[budget]'
    with pytest.raises(PlanError, match="geotiff"):
        open_office(tmp_path, text=PLAN.replace('"csv"', '"geotiff"').replace("[budget]", sex))
    wide = PLAN.replace('"csv"', '"geotiff"').replace('name = "KEY_CODE"', 'name = "value"')
    (tmp_path / "plan.toml").write_text(wide.replace("[output]", "[output]\nmeasurements = true"))
    plan = read_plan(tmp_path / "plan.toml")
    with pytest.raises(ParameterError):
        run_release(plan)
    assert remaining(tmp_path) == Budget(epsilon=3)
    with open_ledger(plan.ledger.location) as ledger:
        assert [entry.kind for entry in ledger.entries()] == ["dataset"]


def test_measurements_and_a_reference(tmp_path: Path) -> None:
    from sudare.io import write_table

    text = PLAN.replace("[output]", "[output]\nmeasurements = true").replace(
        "[budget]", '[reference]\nname = "last year"\npublic = true\npath = "old.csv"\ncount = "population"\n[budget]'
    )
    plan = open_office(tmp_path, text=text)
    write_table(true_counts(), tmp_path / "old.csv")
    release = run_release(plan)
    assert release.document["reference"]["name"] == "last year"
    assert "measurements.parquet" in {entry["name"] for entry in release.document["files"]}
    assert "last year" in (release.folder / "release.html").read_text(encoding="utf-8")


TOPDOWN = """
title = "People by ward and sex"
[source]
path = "people.csv"
[[domain]]
name = "ward"
kind = "hierarchy"
levels = ["nation", "city", "ward"]
areas = "areas.csv"
public = true
[[domain]]
name = "sex"
kind = "category"
labels = ["f", "m"]
[unit]
adjacency = "replace"
[method]
name = "topdown"
invariants = [["city", []]]
[budget]
epsilon = 1
[ledger]
location = "budget.db"
dataset = "wards"
[output]
folder = "release"
formats = ["parquet", "csv"]
"""


@pytest.mark.parametrize(
    "areas",
    [
        "nation,city,ward\nN,A,A1\nN,A,A2\nN,B,B1\n",
        "code,parent\nN,\nA,N\nB,N\nA1,A\nA2,A\nB1,B\n",
    ],
    ids=["levels", "parents"],
)
def test_census_style_by_a_plan(tmp_path: Path, areas: str) -> None:
    (tmp_path / "areas.csv").write_text(areas)
    rows = ["A1,f"] * 30 + ["A2,m"] * 50 + ["B1,f"] * 20
    (tmp_path / "people.csv").write_text("\n".join(["ward,sex", *rows]) + "\n")
    (tmp_path / "plan.toml").write_text(TOPDOWN)
    with open_ledger(tmp_path / "budget.db", create=True) as ledger:
        ledger.add_dataset("wards", Budget(epsilon=1), unit=Unit(adjacency="replace"))
    plan = read_plan(tmp_path / "plan.toml")
    release = run_release(plan)
    assert release.table is not None
    assert release.document["event"]["mechanism"] == "topdown"
    assert release.document["event"]["invariants"], "the cities' totals are listed as unprotected"
    dense = release.table.to_dense()
    assert (int(dense[:2].sum()), int(dense[2].sum())) == (80, 20)
    assert {check.outcome for check in verify_release(release.folder, plan.ledger.location)} == {"passed"}


def test_areas_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(TOPDOWN)
    for text in (None, "a,b\n1,2\n"):
        if text is not None:
            (tmp_path / "areas.csv").write_text(text)
        with pytest.raises(PlanError, match=r"'areas'.*areas\.csv"):
            read_plan(tmp_path / "plan.toml")


def test_a_plan_that_counts_with_too_little_is_told_in_what(tmp_path: Path) -> None:
    plan = open_office(tmp_path, text=PLAN.replace("[budget]", "[unit]\ncells = 2\n[budget]"))
    with open_ledger(tmp_path / "budget.db") as ledger:
        ledger.add_dataset("visits", Budget(epsilon=3), unit=Unit.with_rows(2))
    visits = replace(plan, header=replace(plan.header, ledger=replace(plan.ledger, dataset="visits")))
    with pytest.raises(LedgerError) as caught:
        run_release(visits)
    said = caught.value.explain("en")
    assert (
        "up to 2 rows, in 2 cells, 2 of them in one cell; the plan counts with up to 2 rows, in 2 cells, 1 of them"
        in said
    )
    assert "1セルあたり 2 行" in caught.value.explain("ja")


def test_distinct_people_are_released(tmp_path: Path) -> None:
    text = PLAN.replace("[source]", '[source]\nperson = "person"').replace("[budget]", "[unit]\ncells = 2\n[budget]")
    plan = open_office(tmp_path, text=text.replace("epsilon = 1", "epsilon = 2"))
    codes = plan.domain.columns_of(np.array([5, 6, 7], dtype=np.uint64))["KEY_CODE"].tolist()
    rows = {"person": ["a"] * 30 + ["b"], "KEY_CODE": [*codes[:2] * 14, codes[0], codes[2], codes[0]]}
    pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "people.parquet")
    with open_ledger(tmp_path / "budget.db") as ledger:
        truth = read_release_source(plan, ledger)
    assert truth.total == 3
    assert truth.counts.max() <= 2
    assert run_release(plan).document["event"]["unit"]["rows_per_cell"] == 1
