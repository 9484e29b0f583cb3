"""What it costs to publish a map of 2**24 cells, the largest that is measured as a whole.

Both figures come from a process of its own in which a small map was published before, so that nothing is compiled any more.
"""

from __future__ import annotations

from benchmarks.measuring import in_new_process
from benchmarks.sparse_maps import MEMORY_OF

__all__ = ["TARGETS", "run"]

TARGETS = {
    "dense_seconds": "at most 5 (processor time; all Japan, 4096 x 4096 cells of 500 m, epsilon = 0.1, one thread)",
    "dense_gb": "at most 1.2 (peak memory above the table's)",
}

CODE = (
    """
import time
import sudare
from benchmarks.data import japan_500m, window_500m
"""
    + MEMORY_OF
    + """
table, budget = japan_500m(), sudare.Budget(epsilon=0.1)
sudare.publish(window_500m(8307, 6063, 128), budget, threads=1)
open("/proc/self/clear_refs", "w").write("5")
before, start = memory("VmRSS"), time.process_time()
sudare.publish(table, budget, threads=1)
print(time.process_time() - start, memory("VmHWM") - before)
"""
)


def run() -> dict[str, float]:
    """All numbers of this benchmark."""
    seconds, peak = map(float, in_new_process(CODE).split())
    return {"dense_seconds": seconds, "dense_gb": peak}
