"""Tables that are published again and again about the same people, under one promise for all of them.

- `strategies`: what is measured of a series, between changes and stocks, in public whole numbers.
- `tree_strategy`: the binary tree, which they are compared with.
- `sensitivity`: how far one person's path can move it; the chain formula, with its proof page.
- `paths`: where people are counted, with caps on their moves at each level of the tree.
- `estimation`: counts from what was measured so far, with a few numbers of memory for each node.
- `filtering`: the same with less noise where little changes. `smoothing`: past ticks once more, from all of a window.
- `baselines`: what others proposed, to compare with.
- `mechanism`: one window, from people's rows to a table at every tick. `planning`: which levels, strategies and shares it gets.
"""
