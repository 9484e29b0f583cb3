"""What is measured of a level at one tick, from the net changes of all ticks up to it."""

from __future__ import annotations

from typing import Any

from sudare.kernels.compiling import kernel

__all__ = ["add_changes"]


@kernel("void(int64[::1], int64[::1], int64[::1], int64)", read_only=(1, 2))
def add_changes(measured: Any, nodes: Any, changes: Any, coefficient: int) -> None:
    """Add ``coefficient * changes`` at the nodes that changed, in whole numbers."""
    for place in range(nodes.size):
        measured[nodes[place]] += coefficient * changes[place]
