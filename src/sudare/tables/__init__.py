"""Mechanisms that publish count tables.

- `publish`: one call for all of them; by default it makes a plan (`plan_table`) and carries it out.

Trees, refined from the top into whole, non-negative numbers that add up:

- `wide_tree`: few levels with many children each, projected on the parent's count. The one to use for maps.
- `margin_tree`: a tree over places whose nodes carry margins of their people's attributes. The one to use for mesh x age x sex.
- `nn_wavelet`: the Haar tree (Terada et al. 2015; Ishioka and Terada for rho), with the papers' pruning orders.
- `topdown_bisection`: both halves of every area measured; a baseline.
- `topdown`: any hierarchy of areas, several tables of one person, exact invariants, as the US Census publishes.

Along one ordered axis:

- `histogram`: bins, with accurate ranges, prefixes or cells; whole, non-negative numbers.

Without a tree, or without refinement:

- `laplace`, `gaussian`: noise on every cell, signed; or, with a threshold, without a visit to empty cells that do not pass it.
- `privelet`: the Haar transform along a curve, or along each axis; signed.
- `negative_l2`, `simplex`, `lasso`, `lm`: noise on every cell, then recovery under the total into whole numbers >= 0.

For tables of many nominal attributes:

- `adaptive_margins`: margins chosen one after the other by what the data need, and a table drawn from a model of them
  (`sudare.tables.adaptive`); `suits_adaptive_margins` says from public facts where it is the one to use.

The tree mechanisms visit only nodes whose refined count is positive, and draw noise only there: their cost grows with
what they publish and with the depth of the tree, not with the number of cells.

Names are loaded on first use, and so are mechanisms (`registry`): what each is, in one object, says `mechanism`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sudare.lazy import loaded_on_use

if TYPE_CHECKING:
    from sudare.tables.adaptive.adaptive_margins import adaptive_margins
    from sudare.tables.adaptive.suitability import Suitability, suits_adaptive_margins
    from sudare.tables.histograms.histogram import histogram
    from sudare.tables.mechanisms.bisection import topdown_bisection
    from sudare.tables.mechanisms.flat import gaussian, laplace
    from sudare.tables.mechanisms.nn_wavelet import nn_wavelet
    from sudare.tables.mechanisms.privelet import privelet
    from sudare.tables.mechanisms.pruning import PreparedTree
    from sudare.tables.mechanisms.topdown import table_at_level, topdown
    from sudare.tables.mechanisms.wide_tree import wide_tree
    from sudare.tables.planning.plan import Alternative, Plan, PlannedLevel, PredictedError
    from sudare.tables.planning.planner import plan_table
    from sudare.tables.published import NoisyCounts, Published, ThresholdEffect
    from sudare.tables.publishing import publish
    from sudare.tables.recovery.mechanisms import lasso, lm, negative_l2, simplex
    from sudare.tables.strategies.margin_tree import margin_tree

_HOMES = {
    "Alternative": "planning.plan",
    "NoisyCounts": "published",
    "Plan": "planning.plan",
    "PlannedLevel": "planning.plan",
    "PredictedError": "planning.plan",
    "PreparedTree": "mechanisms.pruning",
    "Published": "published",
    "Suitability": "adaptive.suitability",
    "ThresholdEffect": "published",
    "adaptive_margins": "adaptive.adaptive_margins",
    "gaussian": "mechanisms.flat",
    "histogram": "histograms.histogram",
    "laplace": "mechanisms.flat",
    "lasso": "recovery.mechanisms",
    "lm": "recovery.mechanisms",
    "margin_tree": "strategies.margin_tree",
    "negative_l2": "recovery.mechanisms",
    "nn_wavelet": "mechanisms.nn_wavelet",
    "plan_table": "planning.planner",
    "privelet": "mechanisms.privelet",
    "publish": "publishing",
    "simplex": "recovery.mechanisms",
    "suits_adaptive_margins": "adaptive.suitability",
    "table_at_level": "mechanisms.topdown",
    "topdown": "mechanisms.topdown",
    "topdown_bisection": "mechanisms.bisection",
    "wide_tree": "mechanisms.wide_tree",
}
"""In which module each name is."""

__all__ = [
    "Alternative",
    "NoisyCounts",
    "Plan",
    "PlannedLevel",
    "PredictedError",
    "PreparedTree",
    "Published",
    "Suitability",
    "ThresholdEffect",
    "adaptive_margins",
    "gaussian",
    "histogram",
    "laplace",
    "lasso",
    "lm",
    "margin_tree",
    "negative_l2",
    "nn_wavelet",
    "plan_table",
    "privelet",
    "publish",
    "simplex",
    "suits_adaptive_margins",
    "table_at_level",
    "topdown",
    "topdown_bisection",
    "wide_tree",
]

__getattr__, __dir__ = loaded_on_use(__name__, _HOMES)
