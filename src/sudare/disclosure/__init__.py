"""Tables protected the classical way: rules that find unsafe cells, cells hidden to protect them, rounding, cell keys.

Everything works on two values: a `structure.TableSystem` holds the cells of one or several linked tables and every sum
among them, a `structure.CellTable` their exact values and largest contributors. The `rules` find the cells that must
not be published, the rest of the package protects them. Same input, same output, on every run.
"""
