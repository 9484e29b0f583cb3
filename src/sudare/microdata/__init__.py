"""Protection inside the data set: generalized, sampled, perturbed or synthetic records of people, and pseudonyms.

Names are loaded on first use: some need compiled kernels, and synthetic data an optional package. Pseudonyms and people's
rights are in `sudare.microdata.pseudonyms`.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
