"""An entropy source that plays back given words: the adversary's source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sudare.noise import EntropySource


class ScriptExhaustedError(Exception):
    """More words were asked for than the script has."""


class ScriptedEntropy(EntropySource):
    """Plays back the words given, then a repeated last word if there is one, else refuses."""

    def __init__(self, words: Sequence[int], then: int | None = None) -> None:
        self.script = list(words)
        self.then = then
        self.read = 0

    def fill(self, words: NDArray[np.uint64]) -> None:
        for i in range(words.size):
            if self.read < len(self.script):
                words[i] = self.script[self.read]
            elif self.then is not None:
                words[i] = self.then
            else:
                raise ScriptExhaustedError(f"after {self.read} words")
            self.read += 1

    def spawn(self, count: int) -> list[EntropySource]:
        raise NotImplementedError("a script has one stream")
