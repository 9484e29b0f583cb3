"""The papers' experiments as code that runs: the paper's number, ours, and why they differ where they do.

A distribution of its own beside `sudare`, which never imports it. Installed, it adds the command ``sudare reproduce``.

- `zcdp`: NN-Wavelet under zero-concentrated privacy (Ishioka and Terada), its Table 1 and panels.
- `power`: what zero-concentrated privacy brings to whoever tests differences in released tables.
- `pruning`: how much time pruning saves in the inverse transform (Hongo et al.); its compiled programs are in `kernels`.
- `recovery`: recovery of sparse tables under the simplex constraint (Matsumoto et al.), its synthetic city.
- `pk`: Pk-anonymity, and reconstruction from randomized records (Ikarashi et al.).
- `survey`: the examples of the survey (Kan), each computed.
- `elastic`: elastic sensitivity as its paper defines it (Johnson, Near and Song), from the SQL to a number.

Each folder has `runs` (what is computed) and `page` (tables, pictures, and which sentences hold). `experiments` runs them in
resumable `steps`, `report` says what a page holds, `errata` lists what is wrong in the papers, `command` is the command line.

Nothing here is a release: noise comes from seeds, some of it continuous as in the papers, and the truth is known.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__version__ = "0.2.0"

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
