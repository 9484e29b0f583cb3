"""What every sampler offers: draw an array, fill an array, read on where 64 bits do not decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, overload

import numpy as np

from sudare.errors import Described, ParameterError
from sudare.noise.entropy import EntropySource, secure_entropy
from sudare.parameters import describe_array, exact_integer, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Words = NDArray[np.uint64]

__all__ = ["Sampler", "read_entropy", "read_size"]

BUFFER_WORDS = 1 << 16
BLOCK_DRAWS = 1 << 20
"""Longer arrays are filled in blocks of this size, each from a source of its own, so that the result of a seed does not
depend on the number of threads."""

SIZE_BITS = 48
MAX_DIMENSIONS = 64


class Sampler(ABC):
    """A distribution on whole numbers that can be drawn from exactly.

    A sampler is immutable, may be shared between threads, and can be pickled.

    Example:
        >>> import numpy as np, sudare
        >>> noise = sudare.noise.discrete_laplace(2.5)
        >>> noise
        discrete_laplace(2.5)
        >>> counts = np.zeros((3, 4), dtype=np.int64)
        >>> noise.fill(counts)
    """

    words_per_trial: int
    """How many 64-bit words one trial reads."""

    acceptance: float
    """A lower bound of the share of trials that give a value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __setattr__(self, attribute: str, value: object) -> None:
        if hasattr(self, "_sealed"):
            raise AttributeError(f"{self!r} is shared by everyone who asks for it and cannot be changed.")
        super().__setattr__(attribute, value)

    def _seal(self) -> None:
        """Called at the end of the construction."""
        self._sealed = True

    def __repr__(self) -> str:
        return self.name

    @abstractmethod
    def _fill_from(self, words: Words, next_word: int, out: Integers, next_out: int) -> tuple[int, int, bool]:
        """Fill as much as the words allow; the last of the three results says that the next trial is undecided."""

    @abstractmethod
    def try_each(self, words: Words) -> tuple[Integers, NDArray[np.bool_], NDArray[np.bool_]]:
        """One trial from each row of words.

        Args:
            words: two words a row.

        Returns:
            For each row the value, whether the trial was rejected, and whether the words do not decide it.
        """

    @abstractmethod
    def _settle(self, trial: Words, entropy: EntropySource) -> int | None:
        """Finish an undecided trial with further words; None if the trial is rejected."""

    @overload
    def draw(self, size: None = None, entropy: EntropySource | None = None, *, threads: int = 1) -> int: ...
    @overload
    def draw(
        self, size: int | tuple[int, ...], entropy: EntropySource | None = None, *, threads: int = 1
    ) -> Integers: ...
    def draw(
        self, size: int | tuple[int, ...] | None = None, entropy: EntropySource | None = None, *, threads: int = 1
    ) -> int | Integers:
        """Draw one value, or an array of independent values.

        Args:
            size: how many, or the shape of the array; left out for one value.
            entropy: where the bits come from; the secure source by default.
            threads: how many threads to use. The result of a research source does not depend on it.
        """
        function = f"{self!r}.draw"
        out = np.empty(1 if size is None else read_size(size, function), dtype=np.int64)
        self._fill(out, entropy, threads, function)
        return int(out.reshape(-1)[0]) if size is None else out.reshape(size)

    def fill(self, out: Integers, entropy: EntropySource | None = None, *, threads: int = 1) -> None:
        """Overwrite a contiguous array of int64 with independent values, in place.

        Needs less than 2 MB for each thread besides the array.
        """
        function = f"{self!r}.fill"
        if not (
            isinstance(out, np.ndarray) and out.dtype == np.int64 and out.flags.c_contiguous and out.flags.writeable
        ):
            raise ParameterError("out", function, "a writable, contiguous NumPy array of int64", describe_array(out))
        self._fill(np.asarray(out).reshape(-1), entropy, threads, function)

    def _fill(self, flat: Integers, entropy: EntropySource | None, threads: int, function: str) -> None:
        source = read_entropy(entropy, function)
        workers = exact_integer(threads, "threads", function, "a whole number from 1 to 1024", smallest=1, largest=1024)
        if flat.size <= BLOCK_DRAWS:
            self._fill_block(flat, source)
            return
        blocks = [flat[start : start + BLOCK_DRAWS] for start in range(0, flat.size, BLOCK_DRAWS)]
        sources = source.spawn(len(blocks))
        if workers == 1:
            for block, own in zip(blocks, sources, strict=True):
                self._fill_block(block, own)
            return
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(self._fill_block, blocks, sources))

    def _fill_block(self, out: Integers, entropy: EntropySource) -> None:
        buffer = np.empty(min(BUFFER_WORDS, self._words_for(out.size)), dtype=np.uint64)
        filled = 0
        while filled < out.size:
            words = buffer[: self._words_for(out.size - filled)]
            entropy.fill(words)
            used = 0
            while True:
                used, filled, undecided = self._fill_from(words, used, out, filled)
                if not undecided:
                    break
                value = self._settle(words[used : used + self.words_per_trial], entropy)
                used += self.words_per_trial
                if value is not None:
                    out[filled] = value
                    filled += 1

    def _words_for(self, draws: int) -> int:
        """Words to ask for at once: enough for the draws, most likely, and never more than the buffer holds."""
        trials = draws if self.acceptance == 1 else int(draws / self.acceptance * 1.02) + 1
        return min(BUFFER_WORDS, trials * self.words_per_trial)


def read_entropy(entropy: EntropySource | None, function: str) -> EntropySource:
    """The source a caller gave, or the secure one."""
    if entropy is None:
        return secure_entropy()
    if not isinstance(entropy, EntropySource):
        raise ParameterError(
            "entropy",
            function,
            "a SecureEntropy or a ResearchEntropy",
            shown(entropy),
            "A seed goes into ResearchEntropy(seed).",
        )
    return entropy


def read_size(size: object, function: str) -> int:
    """The number of values that a size or a shape asks for."""
    requirement = f"a whole number from 0 to 2**{SIZE_BITS}, or a shape of at most {MAX_DIMENSIONS} such numbers"
    lengths = size if isinstance(size, (tuple, list)) else (size,)
    if len(lengths) > MAX_DIMENSIONS:
        raise ParameterError("size", function, requirement, Described(f"a shape of {len(lengths)} numbers"))
    places = 1
    for length in lengths:
        places *= exact_integer(length, "size", function, requirement, smallest=0, largest=1 << SIZE_BITS)
    return exact_integer(places, "size", function, requirement, smallest=0, largest=1 << SIZE_BITS)
