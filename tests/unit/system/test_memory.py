"""Memory of large arrays goes back to the operating system."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import numpy as np
from sudare.system.memory import give_back_large_arrays

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

{first}
before = resident()
for _ in range(3):
    # The C library learns from large arrays that are freed to take such ones from its pool; small ones above keep it there.
    large, small = [np.ones(1 << 20) for _ in range(30)], []
    for place in range(30):
        large[place] = None
        small.append(np.ones(1 << 18))
    del large
    kept = [np.ones(100) for _ in range(2000)]
    small = small[-1:]
    kept.append(small)
print(resident() - before)
"""


def grown(first: str) -> int:
    done = subprocess.run([sys.executable, "-c", CODE.format(first=first)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="the setting is one of the GNU C library")
def test_large_arrays_leave_nothing_behind() -> None:
    assert grown("assert give_back_large_arrays()") < 16 << 10
    assert grown("") > 32 << 10, "without it the same arrays stay"
