"""The zCDP paper: its Table 1 to the digit, and its findings on a map."""

from __future__ import annotations

import pytest

from sudare import ParameterError
from sudare.examples import invent_country
from sudare.reproduce.concentrated import PAPER_TABLE_1, PanelPoint, conversion_table, panels


def test_table_1_to_the_digit() -> None:
    assert conversion_table() == PAPER_TABLE_1


def test_the_erratum_of_section_3_3() -> None:
    """It says that rho = 0.01 at delta = 1e-6 means about 0.24; by its own table 0.24 belongs to 0.001."""
    table = conversion_table()
    assert (table["0.01"][3], table["0.001"][3]) == ("0.75", "0.24")


def test_repeats_that_are_refused() -> None:
    with pytest.raises(ParameterError, match="repeats"):
        next(panels(invent_country(64, people=1000), 0))


@pytest.mark.slow
def test_the_papers_findings() -> None:
    country = invent_country(256, people=300_000)
    points = list(panels(country, 6, sides=(1, 8, 32), rhos=("0.1", "0.001"), deltas=("1e-5", "1e-7")))

    def mean_error(method: str, rho: str, delta: str) -> float:
        product = 1.0
        for point in points:
            if (point.method, point.rho, point.delta) == (method, rho, delta):
                product *= point.rmse
        return float(product ** (1 / 3))

    gains = {}
    for rho in ("0.1", "0.001"):
        for delta in ("1e-5", "1e-7"):
            assert mean_error("Gaussian", rho, delta) > 1.5 * mean_error("Laplace", rho, delta), (
                "flat Gaussian is worse"
            )
            assert mean_error("NN-Wavelet", rho, delta) < mean_error("Top-down", rho, delta)
            assert mean_error("wide tree (auto)", rho, delta) < 0.8 * mean_error("NN-Wavelet (zCDP)", rho, delta)
            optimal = mean_error("NN-Wavelet, optimal conversion", rho, delta)
            assert optimal < 0.95 * mean_error("NN-Wavelet (zCDP)", rho, delta)
            gains[rho, delta] = mean_error("NN-Wavelet", rho, delta) / mean_error("NN-Wavelet (zCDP)", rho, delta)
    for rho in ("0.1", "0.001"):
        assert gains[rho, "1e-5"] > gains[rho, "1e-7"], "zCDP gains more at a large delta"


def test_points_say_where_they_belong() -> None:
    points = list(panels(invent_country(64, people=5000), 1, sides=(1,), rhos=("0.1",), deltas=("1e-6",)))
    assert len(points) == 7
    assert all(isinstance(point, PanelPoint) and point.rmse > 0 for point in points)
    assert {round(point.epsilon, 2) for point in points} == {2.45}
