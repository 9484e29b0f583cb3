"""The programs of Hongo et al. (2020): the inverse Haar transform with non-negative refinement, in two orders, pruned or not.

They are here to be timed against each other, for the reproduction of the paper's tables. `haar` has the kernels that releases
use: whole numbers instead of averages, and nothing that the paper prescribes stands in their way.

A tree lies in two arrays, numbered as in a heap: the root is 1, the halves of node i are 2 i and 2 i + 1. `details` holds the
noisy detail coefficient cD of each of its 2**H - 1 nodes, H >= 1. `averages` is twice as long: the approximation coefficient
cA of each node, and behind the nodes the leaves, which are the result. A program finds cA of the root in `averages`, must expect
anything in all other places, and leaves the result there. All programs compute the same numbers, bit by bit.

Averages are not negative: the root is cut off at 0, and the rule keeps the others so.
"""

from __future__ import annotations

from typing import Any

from sudare.kernels.compiling import inlined, kernel

__all__ = [
    "horizontal_branchless",
    "horizontal_memory_first",
    "horizontal_pruned",
    "horizontal_unpruned",
    "vertical_pruned",
    "vertical_unpruned",
]


@inlined
def refined_detail(average: Any, detail: Any) -> Any:
    """Equation (3): a detail that would make a half negative becomes as large as the average, and keeps its sign.

    As in the paper the condition is asked before halves are computed.
    """
    if average < abs(detail):
        detail = -average if detail < 0 else average
    return detail


@kernel("void(int64, float64[::1], float64[::1])", read_only=(2,))
def _descend_pruned(node: int, averages: Any, details: Any) -> None:
    """Section 4.2: the module of one node, which calls itself for both halves; both tests are at its start."""
    if node >= details.size:
        return
    average = averages[node]
    if average == 0.0:
        return
    detail = refined_detail(average, details[node])
    averages[2 * node] = average + detail
    averages[2 * node + 1] = average - detail
    _descend_pruned(2 * node, averages, details)
    _descend_pruned(2 * node + 1, averages, details)


@kernel("void(int64, float64[::1], float64[::1])", read_only=(2,))
def _descend(node: int, averages: Any, details: Any) -> None:
    """The same without pruning."""
    if node >= details.size:
        return
    average = averages[node]
    detail = refined_detail(average, details[node])
    averages[2 * node] = average + detail
    averages[2 * node + 1] = average - detail
    _descend(2 * node, averages, details)
    _descend(2 * node + 1, averages, details)


@kernel("void(float64[::1], float64[::1])", read_only=(1,))
def vertical_pruned(averages: Any, details: Any) -> None:
    """Depth first by recursion, leaving out everything below an average of 0, whose leaves are 0 from the start."""
    averages[details.size :] = 0.0
    _descend_pruned(1, averages, details)


@kernel("void(float64[::1], float64[::1])", read_only=(1,))
def vertical_unpruned(averages: Any, details: Any) -> None:
    """Depth first by recursion, every node."""
    _descend(1, averages, details)


@kernel("void(float64[::1], float64[::1], int32[::1])", read_only=(1,))
def horizontal_pruned(averages: Any, details: Any, memory: Any) -> None:
    """Level by level, with the paper's memory of how many nodes to skip.

    Sections 2.3 and 4.1, in their order: (i) where the average is 0 and the memory too, 1 is written into the memory; (ii) as
    many nodes are skipped as the memory says; (iii) twice as many go into the memory of the first node below. Below the last
    level zeros are written to the leaves instead.

    Args:
        averages: as above.
        details: as above.
        memory: a number for each node, as many places as `details` has; it is cleared first.
    """
    leaves = details.size
    memory[:] = 0
    nodes = 1
    while nodes < leaves:
        is_last = 2 * nodes == leaves
        node = nodes
        while node < 2 * nodes:
            average = averages[node]
            if average == 0.0 and memory[node] == 0:
                memory[node] = 1
            skipped = memory[node]
            if skipped > 0:
                if is_last:
                    for leaf in range(2 * node, 2 * (node + skipped)):
                        averages[leaf] = 0.0
                else:
                    memory[2 * node] = 2 * skipped
                node += skipped
                continue
            detail = refined_detail(average, details[node])
            averages[2 * node] = average + detail
            averages[2 * node + 1] = average - detail
            node += 1
        nodes *= 2


@kernel("void(float64[::1], float64[::1], int32[::1])", read_only=(1,))
def horizontal_memory_first(averages: Any, details: Any, memory: Any) -> None:
    """`horizontal_pruned`, but the memory is asked before the average: the paper does not say that it does, and it is quicker."""
    leaves = details.size
    memory[:] = 0
    nodes = 1
    while nodes < leaves:
        is_last = 2 * nodes == leaves
        node = nodes
        while node < 2 * nodes:
            average = averages[node]
            skipped = memory[node]
            if skipped == 0 and average == 0.0:
                skipped = memory[node] = 1
            if skipped > 0:
                if is_last:
                    for leaf in range(2 * node, 2 * (node + skipped)):
                        averages[leaf] = 0.0
                else:
                    memory[2 * node] = 2 * skipped
                node += skipped
                continue
            detail = refined_detail(average, details[node])
            averages[2 * node] = average + detail
            averages[2 * node + 1] = average - detail
            node += 1
        nodes *= 2


@kernel("void(float64[::1], float64[::1])", read_only=(1,))
def horizontal_unpruned(averages: Any, details: Any) -> None:
    """Level by level, every node."""
    leaves = details.size
    nodes = 1
    while nodes < leaves:
        for node in range(nodes, 2 * nodes):
            average = averages[node]
            detail = refined_detail(average, details[node])
            averages[2 * node] = average + detail
            averages[2 * node + 1] = average - detail
        nodes *= 2


@kernel("void(float64[::1], float64[::1])", read_only=(1,))
def horizontal_branchless(averages: Any, details: Any) -> None:
    """`horizontal_unpruned` with equation (3) as a minimum and a maximum: compilers make vector instructions of it."""
    leaves = details.size
    nodes = 1
    while nodes < leaves:
        for node in range(nodes, 2 * nodes):
            average = averages[node]
            detail = min(max(details[node], -average), average)
            averages[2 * node] = average + detail
            averages[2 * node + 1] = average - detail
        nodes *= 2
