"""Margins chosen by what the data need, models fitted to them, and tables drawn from the models.

- `adaptive_margins`: publishes a table of many attributes; `suitability` says where it is the mechanism to use.

Below it: `workload` (which margins matter), `prices` (what looks cost, in rho or in pure epsilon), `rounds` (choosing and
measuring), `raking` (no systematic error of attributes), `table_drawing` (whole numbers from a model). Shared with synthetic
people (`sudare.microdata.synthetic`): `measured` (margins, exact and noisy), `selecting` (scores that one unit changes little),
`mst` and `aim` (which margins they measure), `junction_tree` and `graphical_model` (the model). Proof: ``adaptive_margins.md``.
"""
