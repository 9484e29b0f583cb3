"""Methods of statistical disclosure control: each is one object in one module, from its keys in a plan to what a verifier checks.

- `method`: what a method has to say for itself, in the order in which it is asked.
- `cell_method`: what all methods for tables of cells have in common; most new methods begin here.
- `suppression`, `rounding`, `cell_key`, `unprotected`: tables of cells. `merging`: meshes.
- `registry`: which methods there are, one line for each.

A new method is one module with its object, and one line in `registry`. All of them are held to one contract by
``tests/contracts/test_disclosure_methods.py``, with a toy method beside it.
"""
