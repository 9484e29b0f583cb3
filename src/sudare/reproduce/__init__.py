"""The papers' experiments as code that runs: the paper's number, ours, and why they differ where they do.

- `sparse_recovery`: recovery of sparse tables under the simplex constraint (Matsumoto et al.), its synthetic city.

Nothing here is a release: the noise is the papers' own, continuous, from an ordinary generator, and the truth is known.
"""

from sudare.reproduce.sparse_recovery import Comparison, compare_methods, synthetic_city

__all__ = ["Comparison", "compare_methods", "synthetic_city"]
