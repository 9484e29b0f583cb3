"""Sample: one tick of a window gets the whole budget, and is repeated at the others."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sudare.series.baselines.baseline import StreamBaseline

if TYPE_CHECKING:
    from sudare.noise.entropy import EntropySource
    from sudare.series.baselines.baseline import Counts, StreamSetting, Values

__all__ = ["SampleStream"]


class SampleStream(StreamBaseline):
    """The first of every w ticks is published with the whole budget; the others show it again.

    References:
        Kellaris, Papadopoulos, Xiao, Papadias: Differentially private event sequences over infinite streams (2014), section 4.
    """

    name: ClassVar[str] = "sample"

    def __init__(self, setting: StreamSetting, entropy: EntropySource) -> None:
        super().__init__(setting, entropy)
        self._last: Values = np.zeros(setting.cells)

    def _release(self, counts: Counts) -> tuple[Values, Fraction]:
        if self.tick % self.setting.window:
            return self._last.copy(), Fraction(0)
        self._last = self._noisy(counts, self.setting.total).astype(float)
        return self._last.copy(), self.setting.total
