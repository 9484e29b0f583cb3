"""The pruning experiment: trees, orders and counts as the paper defines them, and a page that says what was measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sudare_papers.kernels import paper_trees
from sudare_papers.maps import find_data
from sudare_papers.pruning import page as pruning_page
from sudare_papers.pruning import results as pruning_results
from sudare_papers.pruning import runs as pruning
from sudare_papers.pruning.runs import (
    AREAS,
    FROM_BEST_TO_WORST,
    KANTO_RANDOM,
    ORDERINGS,
    PAPER_HORIZONTAL,
    PAPER_TABLE_3_HORIZONTAL,
    PAPER_VERTICAL,
    SETTINGS,
    draw_tree,
    in_order,
    prunings_by_level,
    weighted_pruning_count,
)
from sudare_papers.report import Report, page_of, write_report
from sudare_papers.settings import Settings


def map_of(side: int, seed: int = 1) -> np.ndarray:
    """Most cells are empty, the others are crowded together or nearly empty."""
    generator = np.random.default_rng(seed)
    crowded = generator.geometric(0.01, size=(side, side)) * (generator.random((side, side)) < 0.2)
    crowded[: side // 2] = 0
    return crowded.astype(np.int64)


def test_all_settings_of_the_paper() -> None:
    assert tuple((ordering, area.name) for ordering in ORDERINGS for area in AREAS) == SETTINGS
    assert PAPER_VERTICAL.keys() == PAPER_HORIZONTAL.keys() == PAPER_TABLE_3_HORIZONTAL.keys()
    assert sorted(FROM_BEST_TO_WORST) == sorted(ORDERINGS)


@pytest.mark.parametrize("table", [PAPER_VERTICAL, PAPER_HORIZONTAL])
def test_printed_savings_follow_from_the_printed_times(
    table: dict[tuple[str, str], tuple[float, float, float]],
) -> None:
    """Within what rounding the times to 0.1 ms allows."""
    for pruned, unpruned, saved in table.values():
        least = 100 * (1 - (pruned + 0.05) / (unpruned - 0.05)) - 0.051
        most = 100 * (1 - (pruned - 0.05) / (unpruned + 0.05)) + 0.051
        assert least <= saved <= most


def test_kanto_in_random_order_is_printed_in_two_ways() -> None:
    pruned, unpruned, in_table_2 = PAPER_HORIZONTAL[KANTO_RANDOM]
    differ = [setting for setting in SETTINGS if PAPER_HORIZONTAL[setting][2] != PAPER_TABLE_3_HORIZONTAL[setting]]
    assert differ == [KANTO_RANDOM]
    assert (in_table_2, PAPER_TABLE_3_HORIZONTAL[KANTO_RANDOM]) == (-28.2, -28.8)
    assert round(100 * (unpruned - pruned) / unpruned, 1) == -28.4


def test_trees_are_haar_transforms() -> None:
    line = map_of(8).ravel()
    tree = draw_tree(line, 1e12, np.random.default_rng(1))
    averages = line.astype(float)
    nodes = line.size // 2
    while nodes >= 1:
        left, right = averages[0::2], averages[1::2]
        averages, details = (left + right) / 2, (left - right) / 2
        assert tree.details[nodes : 2 * nodes] == pytest.approx(details, abs=1e-9)
        nodes //= 2
    assert tree.averages[1] == pytest.approx(averages[0])
    assert tree.total == line.sum()
    sizes = np.array([line.size >> (int(node).bit_length() - 1) for node in range(1, line.size)])
    coins = tree.tilts[1:] - np.rint(tree.details[1:] * sizes)
    assert set(coins) == {0, 1}


def test_noise_on_a_coefficient_of_level_h_has_the_scale_of_the_paper() -> None:
    epsilon, leaves = 0.1, 1 << 14
    tree = draw_tree(np.zeros(leaves, dtype=np.int64), epsilon, np.random.default_rng(2))
    for level in range(1, 7):
        details = tree.details[leaves >> level : 2 * (leaves >> level)]
        # The mean of n absolute values has a relative deviation of 1 / sqrt(n); five of them are very unlikely.
        assert np.abs(details).mean() == pytest.approx(1 / (2**level * epsilon), rel=5 / np.sqrt(details.size))


def test_the_same_noise_in_whole_numbers() -> None:
    line = map_of(16).ravel()
    tree = draw_tree(line, 0.1, np.random.default_rng(3))
    sizes = np.array([line.size >> (int(node).bit_length() - 1) for node in range(1, line.size)])
    rounded = np.rint(tree.details[1:] * sizes)
    assert np.isin(tree.tilts[1:] - rounded, [0, 1]).all()
    assert abs(tree.total - tree.averages[1] * line.size) <= 0.5


def test_orders() -> None:
    dense = np.arange(16).reshape(4, 4)
    assert in_order(dense, "raster", 1).tolist() == list(range(16))
    assert in_order(dense, "sorted", 1).tolist() == list(range(15, -1, -1))
    assert in_order(dense, "Morton", 1).tolist() == [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
    shuffled = in_order(dense, "random", 1).tolist()
    assert shuffled == in_order(dense, "random", 1).tolist() != in_order(dense, "random", 2).tolist()
    assert sorted(shuffled) == list(range(16)) != shuffled


def naive_prunings(averages: np.ndarray, node: int, level: int) -> list[tuple[int, int]]:
    """The level of each pruning below a node, and how many averages lie below."""
    leaves = averages.size // 2
    if averages[node] == 0:
        below = [n for n in range(2 * node, 2 * leaves) if _is_below(n, node)]
        return [(level, len(below))]
    if node >= leaves:
        return []
    return naive_prunings(averages, 2 * node, level - 1) + naive_prunings(averages, 2 * node + 1, level - 1)


def _is_below(node: int, other: int) -> bool:
    while node > other:
        node //= 2
    return node == other


@pytest.mark.parametrize("seed", range(5))
def test_prunings_and_their_weight(seed: int) -> None:
    tree = draw_tree(map_of(8, seed).ravel(), 0.05, np.random.default_rng(seed))
    paper_trees.vertical_unpruned(tree.averages, tree.details)
    found = prunings_by_level(tree.averages)
    naive = naive_prunings(tree.averages, 1, 6)
    assert found == [sum(level == h for level, _ in naive) for h in range(1, 6)]
    assert weighted_pruning_count(found) == sum(below for _, below in naive)
    assert sum(found) > 3, "there is something to count"


def test_steps_obey_the_repeats() -> None:
    steps = pruning.steps(Settings(repeats=250))
    assert len({step.name for step in steps}) == len(steps) == 16 * 3
    assert all(step.is_timed for step in steps)
    assert sum(step.arguments[2] for step in steps) == 16 * 250
    assert [step.arguments[2] for step in pruning.steps(Settings(repeats=4))] == [4] * 16


def test_a_step_times_all_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pruning, "_counts", lambda settings, area: map_of(32))
    result = json.loads(json.dumps(pruning.time_programs(Settings(), "Morton", "kanto", 3)))
    assert result["agree"] is True
    assert result["zeros"] == pytest.approx(90, abs=3)
    assert (result["leaves"], len(result["prunings"])) == (1024, 9)
    assert weighted_pruning_count(result["prunings"]) < weighted_pruning_count(result["prunings_of_total"])
    assert len(result["milliseconds"]) == 9
    assert all(len(times) == 3 and min(times) > 0 for times in result["milliseconds"].values())


@pytest.mark.parametrize("wrong", ["horizontal memory first", "ours horizontal"])
def test_a_step_sees_that_a_program_differs(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    programs = pruning._programs

    def one_is_wrong(tree: pruning.NoisyTree) -> dict[str, Callable[[], Any]]:
        right = programs(tree)
        return right | {wrong: lambda: right[wrong]() + np.eye(1, tree.details.size)[0]}

    monkeypatch.setattr(pruning, "_counts", lambda settings, area: map_of(32))
    monkeypatch.setattr(pruning, "_programs", one_is_wrong)
    assert pruning.time_programs(Settings(), "raster", "kanto", 1)["agree"] is False


def test_windows_are_chosen_by_their_share_of_empty_cells() -> None:
    country = np.zeros((64, 64), dtype=np.int64)
    country[8:40, 24:56] = 1
    assert np.array_equal(pruning._similar_window(country, 32, 0.0), country[8:40, 24:56])
    assert (pruning._similar_window(country, 32, 0.5) == 0).mean() == pytest.approx(0.5, abs=0.07)


def results_of(
    vertical: dict[tuple[str, str], tuple[float, float, float]],
    horizontal: dict[tuple[str, str], tuple[float, float, float]],
) -> dict[str, Any]:
    """Results of two blocks for each setting that have these times, with pruning counts that fit the vertical savings."""
    zeros = {area.name: area.zeros for area in AREAS}
    results: dict[str, Any] = {}
    for ordering, area in SETTINGS:
        setting = ordering, area
        leaves = 1 << (18 if area == "hokkaido" else 16)
        times = {
            "vertical pruned": vertical[setting][0],
            "vertical unpruned": vertical[setting][1],
            "horizontal pruned": horizontal[setting][0],
            "horizontal unpruned": horizontal[setting][1],
            "horizontal memory first": horizontal[setting][0],
            "horizontal branchless": 1.0,
            "ours vertical": 0.5,
            "ours horizontal": 1.0,
            "ours none": 2.0,
        }
        result = {
            "zeros": zeros[area],
            "leaves": leaves,
            "prunings": [int(leaves * vertical[setting][2] / 100)],
            "prunings_of_total": [leaves],
            "agree": True,
            "milliseconds": {name: [0.9 * time, 1.1 * time] for name, time in times.items()},
        }
        results |= {f"{area} {ordering} 0": result, f"{area} {ordering} 100": result}
    return results


def made(**changes: Any) -> Report:
    """The report on the paper's own figures, but for some of the vertical or horizontal ones."""
    vertical = PAPER_VERTICAL | changes.get("vertical", {})
    horizontal = PAPER_HORIZONTAL | changes.get("horizontal", {})
    return pruning_page.report(Settings(), results_of(vertical, horizontal))


def test_the_papers_own_figures_bear_out_every_finding() -> None:
    report = made()
    assert len(report.findings) == 11
    assert [finding for finding in report.findings if not finding.holds] == []
    assert "4 rounds" in report.introduction[2].english


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        (
            {"vertical": {("sorted", "hokkaido"): (3.65, 36.9, 90.1)}},
            {"The vertical program", "Even if", "Vertical pruning"},
        ),
        ({"vertical": {("raster", "kanto"): (4.1, 9.0, 54.4)}}, {"Sorted saves most"}),
        ({"horizontal": {("Morton", "kanto"): (9.4, 11.1, 15.3)}}, {"Horizontal pruning"}),
    ],
)
def test_findings_can_fail(changes: dict[str, Any], fails: set[str]) -> None:
    failed = [finding.sentence.english for finding in made(**changes).findings if not finding.holds]
    assert len(failed) == len(fails)
    assert all(any(sentence.startswith(start) for sentence in failed) for start in fails)


def test_means_and_medians_of_the_rounds() -> None:
    times = {"vertical pruned": [1.0, 1.0, 10.0], "vertical unpruned": [4.0, 2.0, 4.0]}
    measured = pruning_results.Measured(90.0, 4, [1], [1], True, times)
    assert measured.saved_by("vertical", "means") == pytest.approx(-20)
    assert measured.saved_by("vertical") == pytest.approx(50), "the rounds save 75, 50 and -150 percent"
    assert measured.left_out == pytest.approx(100 * 2 / 6)


def test_the_page_in_both_languages() -> None:
    report = made()
    english, japanese = page_of(report, "en"), page_of(report, "ja")
    for page in (english, japanese):
        assert page.count("\n## ") == 1 + len(report.parts)
        for setting in SETTINGS:
            assert f"| {PAPER_VERTICAL[setting][2]:.1f} |" in page
    assert "Hokkaido 1/4" in english
    assert "北海道1/4" in japanese
    assert all(table.note is not None for table in report.parts if table.name != "prunings_by_level")


@pytest.mark.slow
def test_a_quick_run_on_the_invented_country(tmp_path: Path) -> None:
    settings = Settings(repeats=2, is_quick=True)
    results = {step.name: step.run(settings) for step in pruning.steps(settings)}
    assert [results[f"{area.name} raster 0"]["leaves"] for area in AREAS] == [1 << 16, 1 << 14, 1 << 14, 1 << 14]
    shares = {area.name: results[f"{area.name} raster 0"]["zeros"] for area in AREAS}
    assert shares["hokkaido"] > shares["hokkaido-quarter"] > shares["shikoku"] > shares["kanto"]
    report = pruning_page.report(settings, results)
    assert report.findings[0].holds
    files = write_report(report, tmp_path, "en")
    assert [file.name for file in files if file.suffix == ".png"] == ["figure5.png", "figure6.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files if file.suffix == ".png")


@pytest.mark.slow
@pytest.mark.skipif(find_data(None) is None, reason="the census is not at hand")
def test_windows_of_the_census_have_the_papers_share_of_empty_cells() -> None:
    settings = Settings(data=find_data(None))
    for area in AREAS:
        counts = pruning._counts(settings, area.name)
        assert counts.shape == (area.side, area.side)
        allowed = 1.0 if area.name.startswith("hokkaido") else 0.05
        assert 100 * (counts == 0).mean() == pytest.approx(area.zeros, abs=allowed)
