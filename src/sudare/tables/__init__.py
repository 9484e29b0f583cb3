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

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
