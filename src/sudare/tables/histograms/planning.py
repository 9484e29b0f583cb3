"""The plan for a table with one ordered axis: blocks of bins whose sizes and shares suit ranges, prefixes or cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt

from sudare.domain.domain import Domain
from sudare.privacy.budget import Budget
from sudare.privacy.conversion import Conversion
from sudare.privacy.unit import Unit, sensitivity_of_counts
from sudare.tables.arguments import TOTAL, Noise
from sudare.tables.histograms.mechanism import MAX_BINS, block_name, measured_heights, planned_measurements
from sudare.tables.histograms.prediction import PredictedHistogram, predict_histogram
from sudare.tables.histograms.strategy import HistogramWorkload, best_strategy
from sudare.tables.planning.plan import Alternative, Plan, PlannedLevel
from sudare.tables.planning.plan_words import NOISE_ON_EACH_CELL, other_noise, shares_of_blocks
from sudare.tables.planning.predicted_error import predict_error
from sudare.tables.planning.workload import WorkloadPart
from sudare.tables.trees.dense_tree import variance_of
from sudare.tables.trees.descent import measure_levels

__all__ = ["HISTOGRAM_WORKLOADS", "histogram_weights", "is_histogram", "plan_histogram"]

HISTOGRAM_WORKLOADS: tuple[HistogramWorkload, ...] = ("ranges", "prefixes", "cells")
MIN_BINS = 65
"""Shorter axes are categories, of which each is looked at by itself."""

VARYING_RANGES = 2
"""All ranges of a histogram, or all prefixes, err together: no more of them than this vary by themselves."""


def is_histogram(domain: Domain) -> bool:
    """Whether a domain is one long ordered axis."""
    is_one_axis = len(domain.shape) == 1 and domain.ordered_axes == (0,) and domain.dimensions == (1,)
    return is_one_axis and MIN_BINS <= domain.cells <= MAX_BINS


def histogram_weights(workload: Sequence[WorkloadPart]) -> dict[HistogramWorkload, float]:
    """What matters, with its weight; ranges by default."""
    named = {name: sum(part.weight for part in workload if part.word == name) for name in HISTOGRAM_WORKLOADS}
    return {name: weight for name, weight in named.items() if weight > 0} or {HISTOGRAM_WORKLOADS[0]: 1.0}


def plan_histogram(
    domain: Domain,
    budget: Budget,
    unit: Unit,
    workload: Mapping[HistogramWorkload, float],
    noises: Sequence[Noise],
    conversion: Conversion,
    *,
    public_total: bool,
) -> Plan:
    """Plan how to publish a histogram, and predict how accurate ranges of each length will be.

    Args:
        domain: one ordered axis.
        budget: what may be spent.
        unit: who is protected.
        workload: what is to be accurate, with weights.
        noises: the kinds of noise that give the budget.
        conversion: how (epsilon, delta) is turned into rho for Gaussian noise.
        public_total: whether the total is published exactly.
    """

    def predicted(kind: Noise) -> PredictedHistogram:
        return predict_histogram(
            domain.cells,
            budget,
            workload=workload,
            unit=unit,
            public_total=public_total,
            noise=kind,
            conversion=conversion,
        )

    variances = {kind: predicted(kind) for kind in noises}
    aims = {kind: _aim(found, workload) for kind, found in variances.items()}
    best = min(noises, key=lambda kind: aims[kind])
    strategy = best_strategy(domain.cells, workload, best, public_total=public_total)
    heights, measurements = planned_measurements(strategy, budget, unit, best, conversion)
    _, shares = measured_heights(strategy)
    depth = sum(strategy.steps)
    levels = tuple(
        PlannedLevel.of(block_name(height, depth), share / sum(shares), sqrt(variance_of(measurement)))
        for height, share, measurement in zip(heights, shares, measurements, strict=True)
    )
    lengths = [1 << bits for bits in range(domain.cells.bit_length()) if 1 << bits <= domain.cells]
    deviations = [sqrt(variances[best].range_of(length)) for length in lengths]
    errors = [
        predict_error(length, error, domain.cells // length, domain.cells, of_histogram=True)
        for length, error in zip(lengths, deviations, strict=True)
    ]
    for name in workload:
        if name != "cells":  # a range of one bin, which is there already
            error = sqrt(_variance(variances[best], name))
            part = predict_error(domain.cells, error, VARYING_RANGES, domain.cells, of_histogram=True, name=name)
            errors.append(part)
    (cells,) = measure_levels(budget, [1], [sensitivity_of_counts(unit)], best, conversion)
    flat = variance_of(cells)
    ratios = [sqrt(length * flat) / error for length, error in zip(lengths, deviations, strict=True) if error > 0]
    others = [
        Alternative("histogram", other_noise(kind), sqrt(aims[kind] / aims[best]), sqrt(aims[kind] / aims[best]))
        for kind in noises
        if kind != best
    ]
    mean = sqrt(_flat_aim(flat, domain.cells, workload) / aims[best])
    named = next(iter(workload)) if len(workload) == 1 else dict(workload)
    return Plan(
        "histogram",
        {"workload": named, "noise": best, "conversion": conversion},
        best,
        domain.shape,
        budget,
        unit,
        (TOTAL,) if public_total else (),
        levels,
        tuple(errors),
        (*others, Alternative(best, NOISE_ON_EACH_CELL, mean, max(ratios))),
        (shares_of_blocks(workload),),
        parts="ranges",
    )


def _aim(predicted: PredictedHistogram, workload: Mapping[HistogramWorkload, float]) -> float:
    """The weighted geometric mean of the mean variances of what the workload asks for."""
    return _mean({name: _variance(predicted, name) for name in workload}, workload)


def _variance(predicted: PredictedHistogram, name: HistogramWorkload) -> float:
    """The mean variance of one part of a workload."""
    of_workload = {"ranges": predicted.any_range, "prefixes": predicted.prefix, "cells": predicted.cell}
    return of_workload[name]


def _flat_aim(variance: float, bins: int, workload: Mapping[HistogramWorkload, float]) -> float:
    """The same for noise on each bin alone: a range has a third of all bins on average, a prefix half of them."""
    lengths = {"ranges": (bins + 2) / 3, "prefixes": (bins + 1) / 2, "cells": 1.0}
    return variance * _mean({name: lengths[name] for name in workload}, workload)


def _mean(values: Mapping[HistogramWorkload, float], weights: Mapping[HistogramWorkload, float]) -> float:
    if len(weights) == 1:
        return next(iter(values.values()))
    return exp(sum(weight * log(values[name]) for name, weight in weights.items()) / sum(weights.values()))
