"""How accurate a published table is, compared with the true one: for public data, or inside the office.

**These numbers are not private.** They are computed from the true counts, and publishing them about protected data
gives away what the noise has hidden. They are for public or synthetic data, for choosing a mechanism before the
protected data is touched, and for reports that stay where the data is; anything else needs a budget of its own.

- `areas`: errors of aligned squares (or boxes) of growing sides.
- `values`: errors by the size of the true count; how many cells are empty, and what is published in them.
- `rectangles`: errors of rectangles anywhere in a table of two axes.
- `report`: all of it in one object that can be printed, shown in a notebook, drawn, or written as JSON.
- `significance`: another matter, and free to use: tests that look at published numbers only, such as whether two areas differ.

Tables are `CountTable`, arrays of one number for each cell, or what a mechanism returned. Nothing takes memory in
proportion to the domain of a sparse table.
"""

from sudare.evaluate.areas import AreaError, error_by_area
from sudare.evaluate.rectangles import RectangleError, error_of_rectangles, random_rectangles
from sudare.evaluate.report import Evaluation, SidesError, measure_errors
from sudare.evaluate.values import BandError, NonZeroShare, error_by_value, non_zero_share, zero_cell_bias
from sudare.renamed import old_names

__all__ = [
    "AreaError",
    "BandError",
    "Evaluation",
    "NonZeroShare",
    "RectangleError",
    "SidesError",
    "error_by_area",
    "error_by_value",
    "error_of_rectangles",
    "measure_errors",
    "non_zero_share",
    "random_rectangles",
    "zero_cell_bias",
]

__getattr__ = old_names(__name__)
