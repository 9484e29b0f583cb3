"""Counts of a row of bins by halves: joined upwards, divided downwards, and how far halves depart from an even division.

A node of height h has the bins from i * 2**h to (i + 1) * 2**h - 1, as far as there are any. So the nodes of a height stand in a
row, the halves of node i are 2 i and 2 i + 1, and only the last node can have fewer bins or one half alone.
Formulas: ``refine/halvings.md``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sudare.kernels.compiling import called, kernel

__all__ = ["densities_of_departures", "divide_nodes", "join_halves", "rising", "spreads_of_departures"]

NEGLIGIBLE = 0.01
"""A departure that would lose less than this share of itself is left as it is."""


@kernel(
    "void(float64[::1], float64[::1], float64[::1], float64, float64[::1], float64[::1])",
    read_only=(0, 1, 2),
)
def join_halves(values: Any, variances: Any, spreads: Any, last_share: float, joined: Any, uncertain: Any) -> None:
    """What two halves tell of their sum, where they depart from its even division with a given variance.

    Args:
        values: estimates of the halves.
        variances: of them, positive.
        spreads: the variance of each node's departure; infinite where nothing is known of it.
        last_share: the left half's share of the bins in the last node; all others have 1/2.
        joined: where the estimates of the nodes are written.
        uncertain: where their variances are written.
    """
    for i in range(joined.size):
        left = 2 * i
        if left + 1 == values.size:
            joined[i], uncertain[i] = values[left], variances[left]
            continue
        right, spread = left + 1, spreads[i]
        if spread == np.inf:
            joined[i] = values[left] + values[right]
            uncertain[i] = variances[left] + variances[right]
            continue
        a = 0.5 if i + 1 < joined.size else last_share
        b = 1 - a
        scale = a * a * variances[right] + b * b * variances[left] + spread
        apart = a * variances[right] * values[left] + b * variances[left] * values[right]
        joined[i] = (apart + spread * (values[left] + values[right])) / scale
        uncertain[i] = (variances[left] * variances[right] + spread * (variances[left] + variances[right])) / scale


@kernel(
    "void(float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64,"
    " float64[::1], float64[::1], float64[::1], float64[::1])",
    read_only=(0, 1, 2, 3, 4),
)
def divide_nodes(
    values: Any,
    variances: Any,
    spreads: Any,
    nodes: Any,
    uncertain: Any,
    last_share: float,
    halves: Any,
    halves_uncertain: Any,
    departures: Any,
    noise: Any,
) -> None:
    """Halves given all that is known of their sums, and what everything but its own prior tells of each departure.

    Args:
        values: estimates of the halves from below.
        variances: of them, positive.
        spreads: the variance of each node's departure; infinite where nothing is known of it.
        nodes: final estimates of the nodes.
        uncertain: their variances.
        last_share: the left half's share of the bins in the last node.
        halves: where the final estimates of the halves are written.
        halves_uncertain: where their variances are written.
        departures: where the departure of each left half is written, as it is seen without its prior.
        noise: where the variance of what is seen is written; infinite for a node with one half alone.
    """
    for i in range(nodes.size):
        left = 2 * i
        if left + 1 == values.size:
            halves[left], halves_uncertain[left] = nodes[i], uncertain[i]
            departures[i], noise[i] = 0.0, np.inf
            continue
        right = left + 1
        a = 0.5 if i + 1 < nodes.size else last_share
        by_left, by_right = 1 / variances[left], 1 / variances[right]
        prior = 1 / spreads[i]
        precision = prior + by_left + by_right
        slope = ((1 - a) * by_right - a * by_left) / precision
        departure = (values[left] * by_left - values[right] * by_right) / precision + slope * nodes[i]
        own = 1 / precision
        variance = own + slope * slope * uncertain[i]
        halves[left] = a * nodes[i] + departure
        halves[right] = nodes[i] - halves[left]
        halves_uncertain[left] = own + (a + slope) ** 2 * uncertain[i]
        halves_uncertain[right] = own + (1 - a - slope) ** 2 * uncertain[i]
        noise[i] = 1 / max(1 / variance - prior, 1e-9 / variance)
        departures[i] = noise[i] * departure / variance


@called
def component(number: Any, absolute: Any, relative: Any, count: Any, deviation: Any) -> Any:
    """The variance of a component: an absolute spread, or a share of the node's count."""
    if number < absolute.size:
        return absolute[number] * absolute[number]
    spread = relative[number - absolute.size] * max(count, 0.05 * deviation)
    return spread * spread


@kernel(
    "void(float64[::1], float64[::1], float64[::1], float64, float64[::1], float64[::1], float64[:, ::1])",
    read_only=(0, 1, 2, 4, 5),
)
def densities_of_departures(
    departures: Any, noise: Any, counts: Any, deviation: float, absolute: Any, relative: Any, densities: Any
) -> None:
    """How likely each departure is under each component; the likeliest of a departure is 1."""
    components = absolute.size + relative.size
    for i in range(departures.size):
        highest = -np.inf
        for j in range(components):
            whole = noise[i] + component(j, absolute, relative, counts[i], deviation)
            densities[i, j] = -0.5 * (departures[i] * departures[i] / whole + math.log(whole))
            highest = max(highest, densities[i, j])
        for j in range(components):
            densities[i, j] = math.exp(densities[i, j] - highest)


@kernel(
    "void(float64[::1], float64[::1], float64[::1], int64[::1], float64, float64[::1], float64[::1], float64[:, ::1],"
    " float64[::1])",
    read_only=(0, 1, 2, 3, 5, 6, 7),
)
def spreads_of_departures(
    departures: Any,
    noise: Any,
    counts: Any,
    classes: Any,
    deviation: float,
    absolute: Any,
    relative: Any,
    weights: Any,
    spreads: Any,
) -> None:
    """The prior variance that shrinks each departure as the mixture of its class does.

    A normal prior of variance d keeps d / (noise + d) of what is seen; the mixture keeps the mean of these over its components,
    each as likely as it is after the departure was seen. Where hardly anything would be lost, nothing is: counts far above their
    noise stay as they were measured.
    """
    components = absolute.size + relative.size
    logs = np.empty(components)
    wholes = np.empty(components)
    for i in range(departures.size):
        highest = -np.inf
        for j in range(components):
            wholes[j] = noise[i] + component(j, absolute, relative, counts[i], deviation)
            weight = weights[classes[i], j]
            if weight <= 0:
                logs[j] = -np.inf
                continue
            logs[j] = math.log(weight) - 0.5 * (departures[i] * departures[i] / wholes[j] + math.log(wholes[j]))
            highest = max(highest, logs[j])
        total = lost = 0.0
        for j in range(components):
            likely = math.exp(logs[j] - highest)
            total += likely
            lost += likely * (noise[i] / wholes[j])
        lost = min(lost / total, 1 - 1e-12)
        spreads[i] = noise[i] * (1 - lost) / lost if lost > NEGLIGIBLE else np.inf


@kernel("void(float64[::1], float64[::1], int64[::1], float64[::1])", read_only=(0,))
def rising(values: Any, sums: Any, lengths: Any, out: Any) -> None:
    """The nearest row of numbers that never falls: neighbours that fall are replaced by their mean (PAVA).

    Args:
        values: the row.
        sums: room for as many numbers.
        lengths: room for as many numbers.
        out: where the result is written.
    """
    blocks = 0
    for i in range(values.size):
        sums[blocks], lengths[blocks] = values[i], 1
        blocks += 1
        while blocks > 1 and sums[blocks - 2] * lengths[blocks - 1] >= sums[blocks - 1] * lengths[blocks - 2]:
            sums[blocks - 2] += sums[blocks - 1]
            lengths[blocks - 2] += lengths[blocks - 1]
            blocks -= 1
    place = 0
    for block in range(blocks):
        mean = sums[block] / lengths[block]
        for _ in range(lengths[block]):
            out[place] = mean
            place += 1
