"""How many rows of each part of a query one protected unit can change, from the tables upwards.

`interpretation` walks a query; every other module knows one kind of step. Proofs: ``relations.md``, ``elastic.md``.

"""
