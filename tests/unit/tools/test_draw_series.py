"""The pictures about repeated releases are those that their command draws."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from benchmarks.series_streams import StreamSize
from tools.draw_series import CHARTS, NAMES, STAYS, draw_methods, file_of, stay_variances

from sudare.series.baselines import BASELINES
from sudare.series.strategies import strategy_for

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
CURVE = re.compile(r'points="[^"]+"')
MAX_BYTES = 60_000


@pytest.mark.parametrize(
    ("name", "language"), [("path", "en"), ("path", "ja"), pytest.param("methods", "ja", marks=pytest.mark.deep)]
)
def test_pictures_are_the_drawn_ones(name: str, language: str) -> None:
    """Some points may differ where processors round otherwise."""
    kept, drawn = file_of(name, language).read_text(encoding="utf-8"), CHARTS[name](language)
    assert ElementTree.fromstring(drawn).tag.endswith("svg")  # noqa: S314
    assert len(kept) < MAX_BYTES
    assert NUMBER.sub("0", kept) == NUMBER.sub("0", drawn)
    first, second = (np.array([float(one) for one in NUMBER.findall(text)]) for text in (kept, drawn))
    assert np.mean(np.abs(first - second) < 1) > 0.98


@pytest.mark.filterwarnings("ignore:A budget of")
def test_a_short_day_of_few_areas_is_drawn_in_the_same_way() -> None:
    """All but the numbers, the curves and the scale of the whole day's picture, which takes seconds to draw."""
    small = draw_methods("ja", StreamSize(side=64, blocks=2, people=2_000, ticks=6))
    kept, drawn = (
        CURVE.sub("", NUMBER.sub("0", text)) for text in (file_of("methods", "ja").read_text(encoding="utf-8"), small)
    )
    assert drawn == kept


def test_both_languages_show_the_same_lines() -> None:
    lines = [re.findall(r'points="[^"]+"', file_of("methods", one).read_text(encoding="utf-8")) for one in ("en", "ja")]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 2 * len(NAMES)
    assert set(NAMES) == {"series", *BASELINES}


def test_stays_add_up_to_the_sensitivity_of_a_path() -> None:
    """144 for stocks, however often one moves; never more than the charge, which is for the worst path."""
    moves = len(STAYS) - 1
    assert sum(stay_variances("fresh")) == pytest.approx(144)
    assert sum(stay_variances("moves")) == pytest.approx((2 * moves + 1) * 144)
    strategy = strategy_for("power", 144, moves)
    assert sum(stay_variances("power")) <= strategy.noise_factor(moves) ** 2
