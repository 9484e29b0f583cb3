"""Plans that name a mechanism: orders of the cells, pruning and recovery, from the plan to the verified release."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sudare import Budget, Unit
from sudare.errors import PlanError
from sudare.ledger import open_ledger
from sudare.releases.kinds.counts import ReleasePlan, read_plan, run_release, verify_release
from tests.unit.releases.kinds.counts.offices import PLAN, open_office, remaining

REFERENCE = """[reference]
name = "Last census"
public = true
path = "census.parquet"
"""


def with_method(method: str, more: str = "") -> str:
    return PLAN.replace("[output]", f"[method]\n{method}\n{more}[output]")


def planned(folder: Path, method: str, more: str = "") -> ReleasePlan:
    (folder / "plan.toml").write_text(with_method(method, more), encoding="utf-8")
    return read_plan(folder / "plan.toml")


WORKING = {
    'name = "nn-wavelet"\nlayout = "hilbert"\npruning = "vertical"': ("Hilbert", "ヒルベルト曲線順", "垂直"),
    'name = "nn-wavelet"\nlayout = "random:9"\npruning = "horizontal"': ("random:9", "水平"),
    'name = "wide-tree"\nlayout = "raster"': ("row by row", "ラスタ順"),
    'name = "privelet"\nlayout = "morton"': ("Morton", "モートン順"),
    'name = "negative-l2"': ("was taken away", "負の l2 正則化"),
    'name = "negative-l2"\nweight = 0.02\ntotal_share = 0.1': ("Weight of sparsity", "0.02", "合計に使う予算の割合"),
    'name = "lasso"\nweight = "sparsity"\nshare_of_non_zeros = 0.09': ("non-negative Lasso", "スパース性から"),
    'name = "simplex"\nnoise = "laplace"': ("projection on the simplex", "単体への射影"),
    'name = "histogram"\nworkload = "prefixes"': ("blocks of bins", "階級のブロック", "累積度数"),
    'name = "lm"': ("clipping and scaling", "比例補正"),
    'name = "adaptive-margins"\nrounds = 4': (
        "margins chosen adaptively",
        "周辺表の適応的な選択",
        "Parts of the budget",
    ),
}


@pytest.mark.parametrize("method", WORKING)
def test_from_plan_to_verified_release(tmp_path: Path, method: str) -> None:
    """The document tells the settings, the page shows them in both languages, and the folder verifies."""
    plan = open_office(tmp_path, text=with_method(method))
    release = run_release(plan)
    told = release.document["method"]
    assert told["name"] == plan.method
    assert told["settings"] == dict(plan.settings)
    is_recovered = plan.method in ("negative-l2", "simplex", "lasso", "lm")
    assert (told["settled"] is not None) == is_recovered
    assert ("add up to the total" in release.document["deployment"]["accounting"]["post_processing"]) == is_recovered
    page = (release.folder / "release.html").read_text(encoding="utf-8")
    assert all(words in page for words in WORKING[method])
    assert all(check.outcome == "passed" for check in verify_release(release.folder, str(tmp_path / "budget.db")))


def test_a_weight_from_the_public_reference_and_a_public_total(tmp_path: Path) -> None:
    text = with_method('name = "negative-l2"\npublic_total = true', REFERENCE).replace('"town"', '"replaced"')
    open_office(tmp_path)
    shutil.copy(tmp_path / "people.parquet", tmp_path / "census.parquet")
    with open_ledger(tmp_path / "budget.db") as ledger:
        ledger.add_dataset("replaced", Budget(epsilon=1), unit=Unit("person", adjacency="replace"))
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    release = run_release(read_plan(tmp_path / "plan.toml"))
    assert release.document["event"]["invariants"] == ["total"]
    assert release.document["published"]["total"] == 95 * 96 // 2
    page = (release.folder / "release.html").read_text(encoding="utf-8")
    assert "NOT PROTECTED" in page
    assert "Last census" in page
    assert 0 <= release.document["method"]["settled"]["weight"] < 1


MISTAKES = {
    'name = "nn-wavelet"\nlayout = "sorted"': ("read off the data", "元データから決まる"),
    'name = "privelet"\nlayout = "sorted"': ("without noise", "ノイズなしで公表"),
    'name = "nn-wavelet"\nlayout = "spiral"': ("'morton', 'raster', 'hilbert'", "は使えません"),
    'name = "nn-wavelet"\nlayout = 3': ("layout", "は使えません"),
    'name = "laplace"\nlayout = "morton"': ("is not a setting", "設定ではありません"),
    'name = "auto"\nlayout = "morton"': ("is not a key here", "使えません"),
    'name = "wide-tree"\npruning = "vertical"': ("is not a setting", "設定ではありません"),
    'name = "negative-l2"\nweight = 1': ("below 1", "は使えません"),
    'name = "negative-l2"\nweight = "best"': ("'sparsity' or 'reference'", "は使えません"),
    'name = "negative-l2"\nweight = "reference"': ("'reference'", "は使えません"),
    'name = "lasso"\nshare_of_non_zeros = 0': ("above 0", "は使えません"),
    'name = "simplex"\nweight = 0.1': ("is not a setting", "設定ではありません"),
    'name = "simplex"\ntotal_share = 1': ("below 1", "は使えません"),
    'name = "histogram"\nworkload = "areas"': ("ranges", "prefixes"),
    'name = "simplex"\nworkload = "cells"': ("is only for", "のときだけ使えます"),
    'name = "topdown"': ("has a Hierarchy among its attributes", "は使えません"),
    'name = "adaptive-margins"\nrounds = 0': ("from 1 to 100000", "は使えません"),
    'name = "adaptive-margins"\nmodel_cells = 10': ("at most 10 cells together", "は使えません"),
    'name = "adaptive-margins"\nworkload_margins = [["nobody"]]': ("margins of the attributes", "は使えません"),
}


@pytest.mark.parametrize("method", MISTAKES)
def test_mistakes_are_found_before_anything_is_charged(tmp_path: Path, method: str) -> None:
    english, japanese = MISTAKES[method]
    with pytest.raises(PlanError) as caught:
        planned(tmp_path, method)
    assert english in caught.value.english
    assert japanese in caught.value.japanese


def test_a_domain_that_is_too_large_is_found_before_anything_is_charged(tmp_path: Path) -> None:
    large = PLAN.replace('level = "1/2"\nwindow = [8560, 6400, 32, 32]', 'level = "1/8"\narea = "japan"')
    for method, words in (
        ('name = "lm"', "every cell whose noise is positive"),
        ('name = "lasso"\nweight = 1', "at least"),
        ('name = "simplex"\nnoise = "gaussian"', "delta"),
        ('name = "histogram"', r"up to 2\*\*24"),
    ):
        (tmp_path / "plan.toml").write_text(
            large.replace("[output]", f"[method]\n{method}\n[output]"), encoding="utf-8"
        )
        with pytest.raises(PlanError, match=words):
            read_plan(tmp_path / "plan.toml")


@pytest.mark.parametrize("method", ["simplex", "lm", "nn-wavelet"])
def test_a_reference_for_a_method_that_takes_none(tmp_path: Path, method: str) -> None:
    with pytest.raises(PlanError, match="with a reference: it takes none"):
        planned(tmp_path, f'name = "{method}"', REFERENCE)


def test_fingerprints_tell_settings_apart(tmp_path: Path) -> None:
    methods = [
        'name = "nn-wavelet"',
        'name = "nn-wavelet"\nlayout = "morton"',
        'name = "nn-wavelet"\nlayout = "hilbert"',
        'name = "nn-wavelet"\npruning = "vertical"',
        'name = "histogram"',
        'name = "histogram"\nworkload = "cells"',
        'name = "negative-l2"',
        'name = "negative-l2"\nweight = 0.1',
        'name = "negative-l2"\nweight = "sparsity"',
    ]
    assert len({planned(tmp_path, method).fingerprint() for method in methods}) == len(methods)


def test_a_refused_order_costs_nothing(tmp_path: Path) -> None:
    open_office(tmp_path)
    before = remaining(tmp_path)
    with pytest.raises(PlanError):
        planned(tmp_path, 'name = "nn-wavelet"\nlayout = "sorted"')
    assert remaining(tmp_path) == before
