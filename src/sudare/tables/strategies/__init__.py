"""Strategies: which groupings of a table are measured, with which share of the budget, and what follows from them.

A grouping is a level of a tree over the map (or another long, ordered axis) times a margin over the attributes beside it. A
strategy is a weighted set of groupings. `axes` tells the map from the attributes, `groupings` writes strategies down,
`variances` predicts the error of every area and margin from the weights alone, `weighing` finds the best weights for a
workload, and `margin_tree` measures and publishes.
"""
