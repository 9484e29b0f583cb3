"""Sorting cells by their keys: whole numbers of few bits, all different, each with a value that goes along.

The leading bits of the keys part the cells into buckets, all of them in one go. The buckets are then sorted one by one,
digit by digit from the lowest, while they stay in the processor's cache. Both steps can be shared by threads; the
result is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sudare.kernels.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Values = NDArray[np.int64]

__all__ = ["count_buckets", "into_buckets", "side_by_side", "sort_buckets", "sort_cells"]

BUCKET_CELLS_BITS = 10
MAX_BUCKET_BITS = 8
"""Buckets of about 2**10 cells stay in the first cache; more than 2**11 buckets at a time would fall out of it."""

DIGIT_BITS = 8
FEW = 24
"""So many cells are sorted faster by putting each in its place among those before it."""

WORTH_A_THREAD = 1 << 15
"""Cells from which on sharing the work outweighs the calls."""

Job = TypeVar("Job")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Job], Result], jobs: Sequence[Job], threads: int) -> list[Result]:
    """The results for all jobs, in their order, with the work shared by this thread and others.

    The others are started for the purpose and take one job after the other: that costs a tenth of what a pool of
    threads with its queues does, and leaves nothing behind that a forked process could trip over.
    """
    results: list[Any] = [None] * len(jobs)
    failures: list[BaseException] = []
    left = iter(range(len(jobs)))  # handing out the next number is one step of the interpreter

    def work() -> None:
        try:
            for number in left:
                results[number] = function(jobs[number])
        except BaseException as failure:  # raised again below, in the thread that asked
            failures.append(failure)

    others = [Thread(target=work) for _ in range(min(threads, len(jobs)) - 1)]
    for other in others:
        other.start()
    work()
    for other in others:
        other.join()
    if failures:
        raise failures[0]
    return results


def sort_cells(chunks: Sequence[tuple[Keys, Values]], bits: int, threads: int = 1) -> tuple[Keys, Values]:
    """All keys of several chunks in ascending order, with their values. No key comes twice.

    Args:
        chunks: keys and values, in any order.
        bits: this many bits are enough for every key.
        threads: how many threads share the work.
    """
    total = sum(keys.size for keys, _ in chunks)
    workers = 1 if total < WORTH_A_THREAD else threads
    shared = _pieces(chunks, total // (2 * workers) + 1) if workers > 1 else chunks
    keys, values = np.empty(total, dtype=np.uint64), np.empty(total, dtype=np.int64)
    bucket_bits = min(max(total.bit_length() - BUCKET_CELLS_BITS, 0), MAX_BUCKET_BITS, bits)
    rest = bits - bucket_bits
    counts = np.zeros((len(shared), 1 << bucket_bits), dtype=np.uint64)
    for (some, _), own in zip(shared, counts, strict=True):
        count_buckets(some, rest, own)

    # Where each chunk starts to write in each bucket: after the smaller buckets, and the earlier chunks in its own.
    sizes = counts.sum(axis=0)
    edges = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(sizes)])
    places = np.cumsum(counts, axis=0) - counts + edges[:-1]
    side_by_side(lambda i: into_buckets(*shared[i], rest, places[i], keys, values), range(len(shared)), workers)

    parts = 1 if workers == 1 else 4 * workers
    firsts = np.searchsorted(edges, [total * i // parts for i in range(parts)] + [total])
    firsts[-1] = sizes.size
    room = int(sizes.max()) if total else 0

    def sort(part: int) -> None:
        own = edges[firsts[part] : firsts[part + 1] + 1]
        if own.size > 1:
            spare = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.int64)
            sort_buckets(keys, values, own, rest, *spare)

    side_by_side(sort, range(parts), workers)
    return keys, values


def _pieces(chunks: Sequence[tuple[Keys, Values]], most: int) -> list[tuple[Keys, Values]]:
    """The same cells in chunks of at most this many."""
    return [
        (keys[first : first + most], values[first : first + most])
        for keys, values in chunks
        for first in range(0, keys.size, most)
    ]


# Places are unsigned throughout: a signed index might count from the end, and asking whether it does costs as much
# as the rest of a step.


@kernel("void(uint64[::1], int64, uint64[::1])", read_only=(0,))
def count_buckets(keys: Any, rest: int, counts: Any) -> None:
    """Count the keys of each bucket; ``rest`` bits of a key do not bear on its bucket."""
    for i in range(keys.size):
        counts[keys[i] >> np.uint64(rest)] += np.uint64(1)


@kernel("void(uint64[::1], int64[::1], int64, uint64[::1], uint64[::1], int64[::1])", read_only=(0, 1))
def into_buckets(keys: Any, values: Any, rest: int, places: Any, out_keys: Any, out_values: Any) -> None:
    """Write each cell at the next place of its bucket."""
    for i in range(keys.size):
        bucket = keys[i] >> np.uint64(rest)
        place = places[bucket]
        places[bucket] = place + np.uint64(1)
        out_keys[place] = keys[i]
        out_values[place] = values[i]


@kernel("void(uint64[::1], int64[::1], uint64[::1], int64, uint64[::1], int64[::1])", read_only=(2,))
def sort_buckets(keys: Any, values: Any, edges: Any, rest: int, spare_keys: Any, spare_values: Any) -> None:
    """Sort each bucket, from one edge to the next, by the lowest ``rest`` bits; the spare arrays hold any one bucket.

    A bucket of keys with at most 16 bits left is sorted by their lower half, and back by their upper half. One with more
    is parted by its next 8 bits, and the parts wait on a stack: at most 256 of each of the 8 lengths that can be left.
    """
    lower_places = np.empty(1 << DIGIT_BITS, dtype=np.uint64)
    upper_places = np.empty(1 << DIGIT_BITS, dtype=np.uint64)
    waiting = np.empty((8 << DIGIT_BITS, 3), dtype=np.int64)
    for bucket in range(edges.size - 1):
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = edges[bucket], edges[bucket + 1], rest
        parts = 1
        while parts > 0:
            parts -= 1
            first, last, left = waiting[parts, 0], waiting[parts, 1], waiting[parts, 2]
            own_keys, own_values = keys[first:last], values[first:last]
            if own_keys.size <= FEW:
                for i in range(1, own_keys.size):
                    key, value = own_keys[i], own_values[i]
                    before = i
                    while before > 0 and own_keys[before - 1] > key:
                        own_keys[before] = own_keys[before - 1]
                        own_values[before] = own_values[before - 1]
                        before -= 1
                    own_keys[before] = key
                    own_values[before] = value
                continue
            is_last = left <= 2 * DIGIT_BITS
            lower_bits = left // 2 if is_last else left - DIGIT_BITS
            upper = np.uint64(lower_bits)
            upper_mask = (np.uint64(1) << np.uint64(left - lower_bits)) - np.uint64(1)
            lower_mask = (np.uint64(1) << upper) - np.uint64(1) if is_last else np.uint64(0)
            lower_places[:] = 0
            upper_places[:] = 0
            for i in range(own_keys.size):
                lower_places[own_keys[i] & lower_mask] += np.uint64(1)
                upper_places[(own_keys[i] >> upper) & upper_mask] += np.uint64(1)
            lower_place, upper_place = np.uint64(0), np.uint64(0)
            for digit in range(1 << DIGIT_BITS):
                count = lower_places[digit]
                lower_places[digit] = lower_place
                lower_place += count
                count = upper_places[digit]
                upper_places[digit] = upper_place
                upper_place += count
            if is_last:
                for i in range(own_keys.size):
                    digit_of = own_keys[i] & lower_mask
                    place = lower_places[digit_of]
                    lower_places[digit_of] = place + np.uint64(1)
                    spare_keys[place] = own_keys[i]
                    spare_values[place] = own_values[i]
                for i in range(own_keys.size):
                    digit_of = (spare_keys[i] >> upper) & upper_mask
                    place = upper_places[digit_of]
                    upper_places[digit_of] = place + np.uint64(1)
                    own_keys[place] = spare_keys[i]
                    own_values[place] = spare_values[i]
                continue
            for i in range(own_keys.size):
                digit_of = (own_keys[i] >> upper) & upper_mask
                place = upper_places[digit_of]
                upper_places[digit_of] = place + np.uint64(1)
                spare_keys[place] = own_keys[i]
                spare_values[place] = own_values[i]
            for i in range(own_keys.size):
                own_keys[i] = spare_keys[i]
                own_values[i] = spare_values[i]
            part_start = first
            for digit in range(1 << DIGIT_BITS):
                part_end = first + np.int64(upper_places[digit])
                if part_end - part_start > 1:
                    waiting[parts, 0], waiting[parts, 1], waiting[parts, 2] = part_start, part_end, lower_bits
                    parts += 1
                part_start = part_end
