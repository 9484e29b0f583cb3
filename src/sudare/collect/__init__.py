"""Protection while collecting: people randomize their own answers, and estimates are made from the reports.

Everything follows from one object: the `Transition`, which holds the exact probability of each report for each true value.

Names are loaded on first use, so that `sudare.collect.device.client`, which runs on people's devices, needs the standard
library only.
"""

from __future__ import annotations

from sudare.lazy import loaded_on_use

__getattr__, __dir__ = loaded_on_use(__name__, __file__)
