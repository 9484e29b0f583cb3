"""Releases with differential privacy: read with their noise, told from their bounds, and noise that is too small is noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sudare import Budget
from sudare.attacks import AttackOutcome, NoiseLaw
from sudare.attacks.verdicts import AttackReport
from sudare.domain import CountTable
from sudare.errors import InputError
from sudare.examination import private_tables
from sudare.examination.findings import NotApplied
from sudare.examination.private_tables import infer_membership, remarks_on, view_of_release
from sudare.examination.subjects import Subject, open_subject
from sudare.examination.views import IncompatibleTables
from sudare.releases.kinds.counts.verification import read_published_table
from tests.unit.examination.village import make_ledger, release, write_people


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("village")
    make_ledger(folder)
    write_people(folder / "village.csv")
    release(folder, "flat", method="laplace", epsilon=2)
    release(folder, "tree")
    return folder


@pytest.fixture(scope="module")
def flat(village: Path) -> Subject:
    return open_subject(village / "flat")


@pytest.fixture(scope="module")
def tree(village: Path) -> Subject:
    return open_subject(village / "tree")


def test_a_flat_table_is_read_with_the_noise_that_was_drawn(flat: Subject) -> None:
    view = view_of_release(flat)
    assert view.law is not None
    assert view.deviation == pytest.approx(0.6017, abs=1e-3)  # of discrete Laplace noise of scale 1/2
    assert view.leaves["sex"] == ("F", "M")
    assert len(view.cells) == 24
    margin = view.law.margin(0.01 / 24)
    for cell in view.cells:
        assert cell.count is not None
        assert (cell.low, cell.high) == (max(0, cell.count - margin), cell.count + margin)
    assert view.cells[0].label == "sex F, age 0-19, work farm"


def test_a_signed_wavelet_table_is_read_with_the_noise_of_its_cells(tmp_path: Path) -> None:
    """Not with that of its coefficients, which is wider; and true counts are not below 0."""
    make_ledger(tmp_path)
    write_people(tmp_path / "village.csv")
    release(tmp_path, "wavelet", method="privelet", epsilon=2)
    subject = open_subject(tmp_path / "wavelet")
    view = view_of_release(subject)
    (measured,) = subject.document["event"]["measurements"]
    assert 0.2 < view.deviation / (2**0.5 * float(Fraction(measured["scale"]))) < 0.75
    assert all(cell.low >= 0 and cell.high is not None and cell.high >= cell.low for cell in view.cells)


def test_counts_below_a_threshold_are_not_taken_for_nobody(village: Path, flat: Subject) -> None:
    settings = {**flat.document, "method": {"settings": {"threshold": 5}}}
    view = view_of_release(replace(flat, document=settings))
    exact = view_of_release(flat)
    assert view.law is not None
    margin = view.law.margin(0.01 / 24)
    for cell, plain in zip(view.cells, exact.cells, strict=True):
        if plain.count == 0:
            assert (cell.count, cell.low, cell.high) == (None, 0, 4 + margin)
        else:
            assert cell == plain
    assert isinstance(infer_membership(replace(flat, document=settings), village / "village.csv", None), NotApplied)


def test_a_tree_is_read_with_the_predicted_deviation(tree: Subject) -> None:
    predicted = tree.document["plan"]["errors"][0]["rmse"]
    assert view_of_release(tree).deviation == pytest.approx(predicted, rel=0.05)


def test_bins_keep_their_edges(tmp_path: Path) -> None:
    from sudare.releases.kinds.counts import read_plan, run_release

    make_ledger(tmp_path)
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(str(age) for age in range(90)))
    (tmp_path / "plan.toml").write_text(
        'title = "t"\n[source]\npath = "ages.csv"\nrows = "people"\n[[domain]]\nname = "age"\nkind = "bins"\n'
        "edges = [0, 20, 65, 120]\n[budget]\nepsilon = 1\n"
        '[ledger]\nlocation = "budget.db"\ndataset = "village"\n[output]\nfolder = "r"\nformats = ["csv"]\n'
    )
    view = view_of_release(open_subject(run_release(read_plan(tmp_path / "plan.toml")).folder))
    assert view.leaves["age"] == ("0 – 20", "20 – 65", "65 – 120")
    assert view.edges["age"] == (0, 20, 65, 120)


def test_a_public_total_is_known_exactly_and_told(tmp_path: Path) -> None:
    make_ledger(tmp_path, replace=True)
    subject = open_subject(release(tmp_path, public_total=True))
    total = view_of_release(subject).cells[-1]
    assert (total.low, total.high, total.where) == (48, 48, {})
    remarks = [remark.english for remark in remarks_on(subject)]
    assert remarks[-1] == "Published exactly, and not protected: total."
    assert "bounds it" in remarks[0]


def test_large_tables_and_wide_noise_are_told(flat: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_tables, "MAX_WIDTH", 0.1)
    with pytest.raises(IncompatibleTables, match="so wide"):
        view_of_release(flat)
    monkeypatch.setattr(private_tables, "MAX_CELLS", 10)
    with pytest.raises(IncompatibleTables, match="24 cells"):
        view_of_release(flat)
    monkeypatch.setattr(private_tables, "MAX_CELLS_OF_MEMBERSHIP", 10)
    assert isinstance(infer_membership(flat, Path("people.csv"), None), NotApplied)


class TestMembership:
    def test_needs_data_and_for_trees_others(self, village: Path, flat: Subject, tree: Subject) -> None:
        assert isinstance(infer_membership(flat, None, None), NotApplied)
        found = infer_membership(tree, village / "village.csv", None)
        assert isinstance(found, NotApplied)
        assert "--population" in found.reason.english

    def test_whoever_knows_everybody_else_stays_within_the_bound(self, village: Path, flat: Subject) -> None:
        report = infer_membership(flat, village / "village.csv", None)
        assert isinstance(report, AttackReport)
        assert report.outcome is AttackOutcome.HELD
        assert "epsilon = 2 allows" in report.summary.english

    def test_a_table_without_the_noise_it_claims_is_noticed(
        self, village: Path, flat: Subject, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The exact counts, published as if they had noise of epsilon 0.1."""
        truth = private_tables._read_people(
            village / "village.csv", read_published_table(flat.folder).domain, flat.document
        )
        monkeypatch.setattr(private_tables, "read_published_table", lambda *_: truth)
        event = {**flat.document["event"], "cost": {"epsilon": "1/10"}}
        event["measurements"] = [{**event["measurements"][0], "scale": "10"}]
        claims = replace(flat, document={**flat.document, "event": event})
        report = infer_membership(claims, village / "village.csv", None)
        assert isinstance(report, AttackReport)
        assert report.outcome is AttackOutcome.BROKEN

    def test_people_are_told_from_others_within_the_bound(self, village: Path, tree: Subject, tmp_path: Path) -> None:
        others = [("M", "65+", "shop")] * 20 + [("F", "0-19", "none")] * 20
        found = infer_membership(tree, village / "village.csv", write_people(tmp_path / "others.csv", others))
        assert isinstance(found, AttackReport)
        assert found.outcome is AttackOutcome.HELD

    def test_other_kinds_of_people_are_no_evidence_against_the_noise(
        self, village: Path, tree: Subject, tmp_path: Path
    ) -> None:
        """Everybody else is of a kind that the village has not: they are told apart, and nothing is wrong."""
        (tmp_path / "others.csv").write_text("sex,age,work,count\nM,65+,shop,4000\n")
        (tmp_path / "people.csv").write_text("sex,age,work,count\nF,65+,none,4000\n")
        found = infer_membership(tree, tmp_path / "people.csv", tmp_path / "others.csv")
        assert isinstance(found, AttackReport)
        assert found.outcome is AttackOutcome.UNDECIDED
        assert "different people" in found.summary.english

    def test_counts_may_stand_for_people(self, flat: Subject, tmp_path: Path) -> None:
        (tmp_path / "cells.csv").write_text("sex,age,work,count\nF,0-19,none,40\nM,0-19,none,2\n")
        assert isinstance(infer_membership(flat, tmp_path / "cells.csv", None), AttackReport)

    def test_files_that_are_not_there_or_not_right(self, flat: Subject, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="There is no file"):
            infer_membership(flat, tmp_path / "nothing.csv", None)
        (tmp_path / "wrong.csv").write_text("sex,age\nF,0-19\n")
        with pytest.raises(InputError, match="work"):
            infer_membership(flat, tmp_path / "wrong.csv", None)

    def test_nobody_to_try_it_on(self) -> None:
        empty = CountTable.from_dense(np.zeros(3, dtype=np.int64))
        law = NoiseLaw.laplace(1)
        for found in (
            private_tables._by_knowing_everybody_else(empty, empty, Budget(epsilon=1)),
            private_tables._told_from_others(empty, empty, empty, law, Budget(epsilon=1), False),
        ):
            assert isinstance(found, NotApplied)


def test_unknown_noise_is_told(flat: Subject) -> None:
    document = json.loads(json.dumps(flat.document))
    document["event"]["measurements"] = [{"kind": "selection", "chosen_epsilon": "1", "rule": "exponential"}]
    document["event"]["mechanism"] = "mystery"
    with pytest.raises(IncompatibleTables, match="mystery"):
        view_of_release(replace(flat, document=document))
