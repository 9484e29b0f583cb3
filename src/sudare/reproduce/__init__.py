"""The papers' experiments as code that runs: the paper's number, ours, and why they differ where they do.

- `concentrated`: NN-Wavelet under zero-concentrated privacy (Ishioka and Terada), its Table 1 and panels.
- `pruning`: how much time pruning saves in the inverse transform (Hongo et al.).
- `sparse_recovery`: recovery of sparse tables under the simplex constraint (Matsumoto et al.), its synthetic city.
- `pk`: Pk-anonymity, and reconstruction from randomized records (Ikarashi et al.).
- `survey`: the examples of the survey (Kan), each computed.

`experiments` runs them in resumable `steps`, `report` says what a page holds, `errata` lists what is wrong in the papers.

Nothing here is a release: noise comes from seeds, some of it continuous as in the papers, and the truth is known.
"""

from sudare.reproduce.concentrated import conversion_table
from sudare.reproduce.sparse_recovery import Comparison, compare_methods, synthetic_city

__all__ = ["Comparison", "compare_methods", "conversion_table", "synthetic_city"]
