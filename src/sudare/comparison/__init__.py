"""The same data protected in several ways, on the same axes of use and risk.

Suppression, k-anonymity, swapping, cell keys, private tables and private synthetic people, each with several settings of its
dial, on the same halves of the same people; what a reader loses and what an attacker gains, measured in the same way for all.

- `read_comparison_plan`, `quick_plan`: what is compared, from a plan or on an invented town.
- `run_comparison`: from a plan to a folder with table, pictures, document and page.
- `compare`: the same in memory.

Below: `people` (everybody, and the half that is the data), `methods` and `hiding` (what is compared), `views` (what a reader
makes of it), `utility`, `membership`, `disclosing` (the axes; why they are these: ``axes.md``), `running`,
`reporting` (document, pictures and page), `writing`.

The truth is used and noise comes from a seed: for research, or for the holder of the data. Nothing is spent.
"""

from sudare.comparison.methods import METHODS, Method
from sudare.comparison.people import Population, Sample
from sudare.comparison.plan_file import ComparisonPlan, quick_plan, read_comparison_plan
from sudare.comparison.running import Chosen, Comparison, MeasuredValue, Result, compare
from sudare.comparison.writing import Compared, run_comparison
from sudare.renamed import old_names

__all__ = [
    "METHODS",
    "Chosen",
    "Compared",
    "Comparison",
    "ComparisonPlan",
    "MeasuredValue",
    "Method",
    "Population",
    "Result",
    "Sample",
    "compare",
    "quick_plan",
    "read_comparison_plan",
    "run_comparison",
]


__getattr__ = old_names(__name__)
