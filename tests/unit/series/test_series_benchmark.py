"""The benchmark of series, on streams so small that it takes a moment."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from fractions import Fraction

import numpy as np
import pytest
from benchmarks import series, series_margins, series_strategies, series_streams, series_ticks
from benchmarks.__main__ import BENCHMARKS, PARTS

from sudare.series.baselines import BASELINES

SMALL = series_streams.StreamSize(side=64, blocks=4, people=3_000, ticks=12)


def test_every_part_can_be_run_by_itself_and_states_what_it_must_reach() -> None:
    assert set(series.PARTS) == {"series_margins", "series_strategies", "series_streams", "series_ticks"} <= set(PARTS)
    assert "series" in BENCHMARKS
    wanted = {"fresh_vs_moves_144_k2", "blt_vs_toeplitz", "tick_seconds_10m", "tick_growth", "memory_growth"}
    wanted |= {"vs_uniform_and_sample", "prediction_error_min", "series_margin_bias", "series_total_bias"}
    assert wanted <= set(series.TARGETS)
    assert {f"vs_{name}" for name in BASELINES} - {"vs_uniform", "vs_sample"} <= set(series.TARGETS)


@pytest.mark.filterwarnings("ignore:A budget of")
def test_all_methods_run_on_the_same_stream_and_the_trivial_ones_are_as_good_as_they_must_be() -> None:
    static, moving = series_streams.compare_streams(SMALL, (0.0, 0.05), ("10",))
    assert set(static.errors) == {series_streams.OURS, *BASELINES}
    assert static.moves == 0 < moving.moves
    assert static.errors["sample"] < 0.5 * static.errors["uniform"]
    assert moving.errors["sample"] > moving.errors["uniform"]
    assert moving.ratio("uniform", "sample") == pytest.approx(moving.errors["series"] / moving.errors["uniform"])


def test_the_limit_of_moves_is_the_one_with_the_smallest_predicted_error() -> None:
    twin = series_streams.AreaStream(SMALL, 0.05, 2)
    assert series_streams.chosen_moves(twin, "0.001") < series_streams.chosen_moves(twin, "1")


def test_errors_of_a_short_day_are_near_their_predictions() -> None:
    ratios = series_strategies.prediction_ratios(8, 12, filters=False)
    assert set(ratios) == {1, 2, 4}
    assert all(0.7 < ratio < 1.3 for ratio in ratios.values())
    last, day = series_strategies.fresh_vs_moves(8, 24)
    assert last > 1
    assert day > 1
    assert series_strategies.buffered_vs_all((24,), (2,)) < 1.01


def test_a_bias_is_the_largest_mean_error_of_any_part() -> None:
    errors = np.array([[[1.0, -2.0]], [[1.0, 2.0]]])
    assert series_margins.bias(errors) == 1.0
    assert series_margins.bias(errors[..., 1:]) == 0.0


@pytest.mark.filterwarnings("ignore:A budget of")
def test_empty_areas_have_fewer_people_too_many_than_by_simpler_methods() -> None:
    """None can have fewer than nobody. Of 64 cells whose noise is cut off, about 64 x 0.4 standard deviations of 3.5 remain."""
    size = series_margins.EmptyAreas(side=64, area=8, people=20_000, ticks=12, rho=Fraction(1, 2), keys=1)
    found = series_margins.people_in_empty_areas(size, learns=False)
    assert 0 < found["series"] < found["fresh"]
    assert found["fresh"] < 0.1 * found["clipped"]
    assert found["clipped"] == pytest.approx(64 * 0.4 * 12**0.5, rel=0.1)


def test_ticks_are_timed_and_their_memory_is_told() -> None:
    times = series_ticks.publish_ticks(series_ticks.TickSize(side=64, people=500, ticks=6, wanted=3))
    assert len(times.seconds) == len(times.processor) == len(times.resident) == 3
    assert times.peak >= max(times.resident) > 2**20


def test_a_part_is_measured_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which prints what this one reads: the program it is given is carried out here."""
    told = series_ticks.TickTimes([1.5], [1.0], [7], 9)

    def carried_out(code: str) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(code, {})  # noqa: S102 - our own program
        return printed.getvalue()

    monkeypatch.setattr(series_ticks, "in_new_process", carried_out)
    monkeypatch.setattr(series_ticks, "publish_ticks", {series_ticks.DAY: told}.__getitem__)
    assert series_ticks.time_ticks(series_ticks.DAY) == told
