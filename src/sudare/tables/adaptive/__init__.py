"""Margins chosen by what the data need, and models fitted to them.

`measured` (margins, exact and noisy), `selecting` (scores that one unit changes little), `mst` and `aim` (which margins are
measured), `junction_tree` and `graphical_model` (the model). Synthetic people (`sudare.microdata.synthetic`) stand on them.
Proof: ``adaptive_margins.md``.
"""
