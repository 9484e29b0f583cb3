"""Noise on every cell, and recovery of a sparse table with a total: projection on the simplex and its relatives.

- `negative_l2`, `simplex`, `lasso`, `lm`: the mechanisms.
- `expected_level`, `predicted_count`, `predicted_area`: what bias and error to expect of them.

Noise on empty cells is drawn from the top (`revealing`), so that no cell is visited that is not published.
"""

from sudare.tables.recovery.mechanisms import lasso, lm, negative_l2, simplex
from sudare.tables.recovery.moments import NoiseMoments, law_of
from sudare.tables.recovery.prediction import PredictedCount, expected_level, predicted_area, predicted_count

__all__ = [
    "NoiseMoments",
    "PredictedCount",
    "expected_level",
    "lasso",
    "law_of",
    "lm",
    "negative_l2",
    "predicted_area",
    "predicted_count",
    "simplex",
]
