"""Post-processing of noisy tables: non-negative, with the right total, whole; for free.

Everything here takes noisy values, never the data (`privacy/composition.md`: post-processing).

- `simplex`: the nearest point with a given total; negative l2; clipping and scaling; also for huge sparse tables.
- `shrinkage`: values brought nearer to 0, with signs or without.
- `integers`: the nearest whole numbers with a given total.
- `rounding`: whole numbers that add up to parents, or to both margins of a table.
- `choice`: which weight to take, by public data or by how many cells should be empty.
"""

from sudare.refine.choice import WeightChoice, WeightScore, weight_by_public_data, weight_by_sparsity
from sudare.refine.integers import nearest_integers
from sudare.refine.rounding import controlled_rounding, round_two_way
from sudare.refine.shrinkage import lasso, nonnegative_lasso
from sudare.refine.simplex import clip_and_scale, negative_l2, negative_l2_by_iteration, project_on_simplex

__all__ = [
    "WeightChoice",
    "WeightScore",
    "clip_and_scale",
    "controlled_rounding",
    "lasso",
    "nearest_integers",
    "negative_l2",
    "negative_l2_by_iteration",
    "nonnegative_lasso",
    "project_on_simplex",
    "round_two_way",
    "weight_by_public_data",
    "weight_by_sparsity",
]
