"""Mechanisms that publish count tables as whole, non-negative numbers that add up.

- `nn_wavelet`: the Haar tree with top-down refinement (Terada et al. 2015; Ishioka and Terada for rho).
- `wide_tree`: few levels with many children each, projected top-down on the parent's count.

Both visit only nodes whose refined count is positive, and draw noise only there: their cost grows with what they
publish and with the depth of the tree, not with the number of cells.
"""

from sudare.tables.nn_wavelet import nn_wavelet
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.wide_tree import wide_tree

__all__ = ["NoisyCounts", "Published", "nn_wavelet", "wide_tree"]
