"""Synthetic people: rows of nobody.

- `synthesizing`: rows with about the marginals of real records, differentially private (MST and AIM).
- `from_table`: rows that agree exactly with a table that was released already.

Below `synthesizing`: `public_columns` (what may stand in a column, said beforehand), `sudare.tables.adaptive` (what is measured,
and the model of it), `mbi_model` (its last fit by the package mbi), `drawing` (rows from a model). Proof: ``synthesis.md``.
"""

from sudare.microdata.synthetic.from_table import people_of_table, write_people_of_table
from sudare.microdata.synthetic.public_columns import PublicColumn
from sudare.microdata.synthetic.synthesizing import Synthetic, synthesize
from sudare.tables.adaptive.measured import MeasuredMarginal

__all__ = [
    "MeasuredMarginal",
    "PublicColumn",
    "Synthetic",
    "people_of_table",
    "synthesize",
    "write_people_of_table",
]
