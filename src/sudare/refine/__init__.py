"""Post-processing of noisy tables: non-negative, with the right total, whole; for free.

Everything here takes noisy values, never the data (`privacy/composition.md`: post-processing).

- `simplex`: the nearest point with a given total; negative l2; non-negative Lasso; clipping and scaling.
- `integers`: the nearest whole numbers with a given total.
"""

from sudare.refine.integers import nearest_integers
from sudare.refine.simplex import (
    clip_and_scale,
    negative_l2,
    negative_l2_by_iteration,
    nonnegative_lasso,
    project_on_simplex,
)

__all__ = [
    "clip_and_scale",
    "nearest_integers",
    "negative_l2",
    "negative_l2_by_iteration",
    "nonnegative_lasso",
    "project_on_simplex",
]
