"""Memory of large arrays, given back to the operating system when they are gone.

The C library keeps what was freed in the hope that it is asked for again. From the first large arrays on it takes ever larger
ones (up to 32 MB) from the same pool, one pool for each thread. A process that does the same work again and again then grows
until all pools have met all sizes, without using any of it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

__all__ = ["give_back_large_arrays"]

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""What `mallopt` of the GNU C library calls its settings."""

LARGE_BYTES = 1 << 17
"""Arrays of at least so many bytes have memory of their own. It is also what the library begins with."""


@cache
def give_back_large_arrays() -> bool:
    """Let large arrays have memory of their own, which goes back when they are gone; for processes that go on for long.

    Returns:
        Whether the C library took the setting; another one than GNU's does not.
    """
    if sys.platform != "linux":
        return False
    try:
        setting = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(setting(M_MMAP_THRESHOLD, LARGE_BYTES)) and bool(setting(M_TRIM_THRESHOLD, LARGE_BYTES))
