"""Mechanisms that publish count tables.

Trees, refined from the top into whole, non-negative numbers that add up:

- `wide_tree`: few levels with many children each, projected on the parent's count. The one to use for maps.
- `nn_wavelet`: the Haar tree (Terada et al. 2015; Ishioka and Terada for rho), with the papers' pruning orders.
- `topdown`: any hierarchy of areas, several tables of one person, exact invariants, as the US Census publishes.

Without a tree, or without refinement:

- `laplace`, `gaussian`: noise on every cell; of the empty ones only those that pass a threshold are ever visited.
- `privelet`: the Haar transform along a curve, or along each axis.

The tree mechanisms visit only nodes whose refined count is positive, and draw noise only there: their cost grows with
what they publish and with the depth of the tree, not with the number of cells.
"""

from sudare.tables.flat import gaussian, laplace
from sudare.tables.nn_wavelet import nn_wavelet
from sudare.tables.privelet import privelet
from sudare.tables.pruning import PreparedTree
from sudare.tables.published import NoisyCounts, Published
from sudare.tables.topdown import table_at_level, topdown
from sudare.tables.wide_tree import wide_tree

__all__ = [
    "NoisyCounts",
    "PreparedTree",
    "Published",
    "gaussian",
    "laplace",
    "nn_wavelet",
    "privelet",
    "table_at_level",
    "topdown",
    "wide_tree",
]
