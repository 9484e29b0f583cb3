"""Tables that are published again and again about the same people, under one promise for all of them.

- `strategies`: what is measured of a series, between changes and stocks, in public whole numbers.
- `tree_strategy`: the binary tree, which they are compared with.
- `sensitivity`: how far one person's path can move it; the chain formula, with its proof page.
- `paths`: where people are counted, with caps on their moves at each level of the tree.
- `estimation`: counts from what was measured so far, with a few numbers of memory for each node.
- `filtering`: the same with less noise where little changes. `smoothing`: past ticks once more, from all of a window.
- `baselines`: what others proposed, to compare with.
- `design`: what is public before the first tick. `planning`: which levels, strategies and shares it gets.
- `mechanism`: one window, from people's rows to a table at every tick. `margins`: of sexes or ages, measured by themselves.
- `visiting`, `visited_tree`: levels of very large domains, of which only nodes below people are looked at.

Names are loaded on first use. Plan files, with a ledger and private state, are `sudare.releases.kinds.series`.

Example:
    >>> import numpy as np, sudare
    >>> from sudare.noise import NoiseKey
    >>> places = sudare.Domain((sudare.Category("place", ("station", "stadium", "park")),))
    >>> design = sudare.series.plan_series(places, sudare.Budget(rho=1), ticks=24, moves=2)
    >>> window = sudare.series.SeriesWindow(design, NoiseKey.fresh(), people=4)
    >>> window.publish(np.array([0, 0, 1, 2])).table.domain.cells  # where everybody is at the first tick
    3
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
