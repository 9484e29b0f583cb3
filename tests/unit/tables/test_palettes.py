"""Palettes: read in grey, and by people who see fewer colours."""

from __future__ import annotations

import numpy as np
import pytest

from sudare.tables.palettes import EXCESS_COLOURS, PALETTES, SHORTFALL_COLOURS, STEPS, mix_colours, shades_of

# Machado, Oliveira and Fernandes (2009), full severity, on linear light.
SEEN_BY = {
    "everybody": np.eye(3),
    "protanopes": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopes": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopes": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colours: tuple[str, ...], who: str = "everybody") -> np.ndarray:
    """Colours as they are seen: lightness, and two opponent axes (CIELAB)."""
    shares = mix_colours(colours, 32) / 255
    light = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    seen = np.clip(light @ SEEN_BY[who].T, 0, 1) @ TO_XYZ.T / np.array([0.9505, 1.0, 1.089])
    root = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)


@pytest.mark.parametrize("who", SEEN_BY)
@pytest.mark.parametrize("name", PALETTES)
def test_more_is_darker_for_everybody(name: str, who: str) -> None:
    assert (np.diff(lab(PALETTES[name], who)[:, 0]) < 0).all()


@pytest.mark.parametrize("who", SEEN_BY)
def test_differences_up_and_down_stay_apart(who: str) -> None:
    apart = np.linalg.norm(lab(EXCESS_COLOURS, who) - lab(SHORTFALL_COLOURS, who), axis=1)
    assert (apart[4:] > 15).all()
    assert apart.max() > 40


def test_red_and_green_would_be_noticed() -> None:
    green, red = ("#e5f5e0", "#7dbb73", "#1e5c2b"), ("#fbe3df", "#e08b7d", "#8a2f24")
    apart = np.linalg.norm(lab(green, "deuteranopes") - lab(red, "deuteranopes"), axis=1)
    assert not (apart[4:] > 15).all()


def test_shades_begin_at_nothing_and_end_at_the_largest() -> None:
    amounts = np.array([0.0, 1.0, 10.0, 1000.0, -1000.0])
    for is_logarithmic in (True, False):
        shades = shades_of(amounts, 1000, is_logarithmic=is_logarithmic)
        assert shades[0] == 0
        assert shades[1] >= 1
        assert shades[3] == shades[4] == STEPS
        assert (np.diff(shades[:4]) >= 0).all()
