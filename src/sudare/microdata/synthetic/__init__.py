"""Synthetic people: rows of nobody.

- `synthesize`: rows with about the marginals of real records, differentially private (MST and AIM).
- `from_table`: rows that agree exactly with a table that was released already.

Below `synthesize`: `public_columns` (what may stand in a column, said beforehand), `measured` (marginals, exact and noisy),
`selecting` (scores that one person changes little), `mst` and `aim` (what is measured), `junction_tree` and `graphical_model`
(the model), `mbi_model` (its last fit by the package mbi), `drawing` (rows from a model). Proof: ``synthesis.md``.
"""

from sudare.microdata.synthetic.from_table import people_of_table, write_people_of_table
from sudare.microdata.synthetic.measured import MeasuredMarginal
from sudare.microdata.synthetic.public_columns import PublicColumn
from sudare.microdata.synthetic.synthesize import Synthetic, synthesize

__all__ = [
    "MeasuredMarginal",
    "PublicColumn",
    "Synthetic",
    "people_of_table",
    "synthesize",
    "write_people_of_table",
]
