"""Margins of categories: axes beside a map that are short enough to be measured by themselves.

Counts that cannot be negative move people from large categories to small ones, a little in every cell; over all cells of
a category this adds up. A noisy margin of its own tells each category's size without bias, and costs little: a category
is a sum of very many cells, beside which its noise is small. Proof: ``tables/mechanisms/wide_tree.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sudare.domain.domain import Domain
from sudare.domain.layout import Layout
from sudare.errors import ParameterError
from sudare.noise.additive import noise_for
from sudare.parameters import shown
from sudare.privacy.measurements import Measurement
from sudare.tables.arguments import MechanismRequest
from sudare.tables.measured_names import MeasuredName, name_margin
from sudare.tables.trees.descent import Notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

__all__ = ["margin_names", "measure_margins", "planned_margins", "read_margins", "short_axes"]

MAX_CATEGORIES = 64
"""The longest axis whose margin is measured."""

MIN_LINES = 16
"""Where a category has fewer cells than this, its margin tells little that they do not."""

MAP_AXES = 2
"""So many ordered axes, the longest, are taken for a map."""


def short_axes(domain: Domain) -> list[int]:
    """Axes of categories: all but those of a map, a mesh, listed meshes, or two long ordered axes of about the same length."""
    by_length = sorted(domain.ordered_axes, key=lambda axis: -domain.shape[axis])[:MAP_AXES]
    of_map = [axis for axis in by_length if 4 * domain.shape[axis] >= max(domain.shape)]
    if len(of_map) < MAP_AXES:
        of_map = []
    of_map += [axis for axis, number in enumerate(domain.dimensions) if number == MAP_AXES]
    of_axes = [attribute for attribute in domain.attributes for _ in attribute.shape]
    of_map += [axis for axis, attribute in enumerate(of_axes) if len(attribute.shape) == MAP_AXES]
    return [axis for axis, length in enumerate(domain.shape) if axis not in of_map and 1 < length <= MAX_CATEGORIES]


def planned_margins(domain: Domain) -> tuple[int, ...]:
    """The axes whose margins a plan measures."""
    return tuple(axis for axis in short_axes(domain) if domain.cells >= MIN_LINES * domain.shape[axis])


def read_margins(margins: object, domain: Domain, function: str) -> tuple[int, ...]:
    """The axes whose margins a caller asks for."""
    last = len(domain.shape) - 1
    requirement = f"different numbers of axes from 0 to {last}, each of at most {MAX_CATEGORIES} places"
    if isinstance(margins, str) or not isinstance(margins, Sequence):
        raise ParameterError("margins", function, requirement, shown(margins))
    is_plain = all(type(axis) is int and 0 <= axis <= last for axis in margins)
    if not is_plain or len(set(margins)) < len(margins) or any(domain.shape[a] > MAX_CATEGORIES for a in margins):
        raise ParameterError("margins", function, requirement, shown(margins))
    return tuple(margins)


def margin_names(axes: Sequence[int]) -> list[MeasuredName]:
    """What is measured of some axes."""
    return [name_margin(axis) for axis in axes]


def measure_margins(
    request: MechanismRequest, axes: Sequence[int], measurements: Sequence[Measurement], layout: Layout, notes: Notes
) -> dict[int, Values]:
    """The noisy margins of some axes.

    Args:
        request: what was asked for, checked.
        axes: whose margins are measured.
        measurements: of each.
        layout: how the cells lie along the leaves.
        notes: where the noisy sums are written down.
    """
    samplers = [noise_for(measurement) for measurement in measurements]
    domain = request.table.domain
    places = domain.places_of(request.table.keys)
    margins: dict[int, Values] = {}
    for axis, sampler, margin in zip(axes, samplers, margin_names(axes), strict=True):
        sums = sampler.draw(domain.shape[axis], request.source, threads=1)
        np.add.at(sums, places[axis], request.table.counts)
        if notes.wanted:
            stride = np.uint64(np.prod(domain.shape[axis + 1 :], dtype=np.int64))
            notes.take(margin.name, layout.to_tree(np.arange(sums.size, dtype=np.uint64) * stride), sums)
        margins[axis] = sums.astype(np.float64)
    return margins
