"""Pruning the refinement of Privelet: Tables 1 to 3 and Figures 5 and 6 of Hongo et al. (2020), on this machine.

Four areas are laid out along a line in four orders, and noise is drawn for every node of the binary tree above. Then nothing but
the inverse transform with non-negative refinement is timed: depth first by recursion ("vertical") and level by level
("horizontal"), each with and without leaving out what lies below an average of 0. The time saved is measured within each of
the two. Beside the paper's programs stand the kernels that releases use, on the same trees in whole numbers.

The programs take turns in rounds, so that whatever else the machine does hits all alike; each runs twice in a turn, and the
second run is timed, because the loops of the paper find their arrays in the cache, too. Each starts from arrays that may hold
anything: the vertical program's clearing of the leaves and the horizontal one's clearing of its memory are part of their times.

Seeds make the runs repeatable, and one of the orders looks at the data, so nothing here is private.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from sudare.bilingual import Words
from sudare.domain import CountTable
from sudare.domain.layout import morton_layout
from sudare_papers.maps import japan, japan_window
from sudare_papers.pruning.orders import experimental_sorted_order
from sudare_papers.settings import Settings
from sudare_papers.steps import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Values = NDArray[np.float64]

__all__ = [
    "AREAS",
    "ORDERINGS",
    "PAPER_HORIZONTAL",
    "PAPER_TABLE_3_HORIZONTAL",
    "PAPER_VERTICAL",
    "NoisyTree",
    "draw_tree",
    "in_order",
    "prunings_by_level",
    "steps",
    "weighted_pruning_count",
]

EPSILON = 0.1
"""Of each level, as in the paper."""

ROUNDS_AT_ONCE = 100


@dataclass(frozen=True)
class Area:
    """An area of the paper.

    Attributes:
        name: in files.
        title: on the page.
        side: cells along each side, of 1 km, or of 2 km if merged.
        corner: row and column of the south-western mesh of 500 m of our window.
        zeros: the paper's share of empty cells in percent.
        is_merged: whether 2 x 2 cells of the window are one.
    """

    name: str
    title: Words
    side: int
    corner: tuple[int, int]
    zeros: float
    is_merged: bool = False


HOKKAIDO = (9960, 5978)
AREAS = (
    Area("hokkaido", Words("Hokkaido", "北海道"), 512, HOKKAIDO, 95.0),
    Area("shikoku", Words("Shikoku", "四国"), 256, (7764, 5098), 78.7),
    Area("kanto", Words("Kanto", "関東"), 256, (8352, 6156), 61.2),
    Area("hokkaido-quarter", Words("Hokkaido 1/4", "北海道1/4"), 256, HOKKAIDO, 90.3, is_merged=True),
)
ORDERINGS = {
    "raster": Words("raster", "ラスター"),
    "sorted": Words("sorted", "ソート"),
    "Morton": Words("Morton", "Morton"),
    "random": Words("random", "ランダム"),
}
FROM_BEST_TO_WORST = ("sorted", "Morton", "raster", "random")

Printed = tuple[float, float, float]


def _of_areas(rows: Mapping[str, tuple[Printed, ...]]) -> dict[tuple[str, str], Printed]:
    return {(o, area.name): printed for o, row in rows.items() for area, printed in zip(AREAS, row, strict=True)}


PAPER_VERTICAL = _of_areas(
    {
        "raster": ((5.5, 36.9, 85.0), (3.5, 9.1, 62.1), (4.6, 9.0, 48.5), (2.3, 9.2, 75.6)),
        "sorted": ((1.3, 36.9, 96.4), (1.6, 9.1, 82.7), (3.1, 8.8, 64.9), (0.6, 9.1, 93.2)),
        "Morton": ((3.7, 37.0, 89.9), (2.6, 9.0, 71.8), (4.2, 8.8, 52.8), (1.7, 9.2, 81.8)),
        "random": ((9.0, 37.0, 75.7), (5.6, 9.1, 38.5), (7.5, 9.0, 16.2), (3.6, 9.2, 61.2)),
    }
)
"""Table 1: milliseconds with and without pruning, and the time saved in percent, by ordering and area."""

PAPER_HORIZONTAL = _of_areas(
    {
        "raster": ((23.7, 45.1, 47.5), (10.2, 11.3, 9.9), (10.6, 11.2, 5.8), (8.4, 10.8, 22.3)),
        "sorted": ((4.3, 44.5, 90.4), (3.2, 11.2, 71.7), (5.2, 11.1, 53.3), (1.8, 10.7, 83.1)),
        "Morton": ((15.2, 45.4, 66.4), (7.6, 11.2, 32.1), (8.7, 11.1, 22.0), (5.8, 10.7, 45.3)),
        "random": ((35.9, 44.7, 19.8), (14.9, 11.3, -31.6), (14.9, 11.6, -28.2), (12.1, 11.1, -9.0)),
    }
)
"""Table 2, in the same form."""

KANTO_RANDOM = ("random", "kanto")
PAPER_TABLE_3_HORIZONTAL = {
    setting: -28.8 if setting == KANTO_RANDOM else saved for setting, (_, _, saved) in PAPER_HORIZONTAL.items()
}
"""The horizontal column of Table 3: that of Table 2 but for one."""

SETTINGS = tuple(PAPER_VERTICAL)
"""The sixteen pairs of an ordering and an area, in the paper's order."""


@dataclass(frozen=True, eq=False)
class NoisyTree:
    """A tree with noise on it, for the paper's programs and for ours.

    Attributes:
        averages: twice as long as there are leaves, with the root's average at 1 and anything elsewhere.
        details: the noisy detail coefficients, numbered as in a heap from the root at 1.
        total: the noisy total as a whole number, not negative.
        tilts: the noisy differences as whole numbers, each plus a fair coin, as `PreparedTree` has them.
    """

    averages: Values
    details: Values
    total: int
    tilts: Counts


def draw_tree(line: Counts, epsilon: float, generator: np.random.Generator) -> NoisyTree:
    """Draw the noise of all nodes: Laplace of scale 1 / (2**h epsilon) on the coefficients of level h.

    A detail coefficient of level h is the difference of its halves divided by 2**h, exactly, so the same noise is one of scale
    1 / epsilon on differences. For our kernels it is rounded to whole numbers.

    Args:
        line: the counts of 2**H cells.
        epsilon: of each level, so that (H + 1) epsilon is spent.
        generator: of the noise.

    Example:
        >>> import numpy as np
        >>> from sudare_papers.pruning.runs import draw_tree
        >>> tree = draw_tree(np.array([6, 2, 0, 0]), 1e9, np.random.default_rng(1))
        >>> tree.averages[1].round(3), tree.details[1:].round(3), tree.total
        (np.float64(2.0), array([2., 2., 0.]), 8)
    """
    from sudare.kernels.tables.haar import differences_along

    leaves = line.size
    differences = np.array(line, dtype=np.int64)
    differences_along(differences.reshape(1, -1, 1))
    noise = generator.laplace(scale=1 / epsilon, size=leaves)
    coins = generator.integers(0, 2, size=leaves)
    sizes = leaves >> (np.frexp(np.arange(leaves))[1] - 1).clip(0)
    averages = np.full(2 * leaves, np.nan)
    averages[1] = max(differences[0] + noise[0], 0.0) / leaves
    whole = np.rint(noise).astype(np.int64)
    total = max(int(differences[0] + whole[0]), 0)
    return NoisyTree(averages, (differences + noise) / sizes, total, differences + whole + coins)


def in_order(dense: Counts, ordering: str, seed: int) -> Counts:
    """The cells of a square map along a line, in one of the paper's four orders.

    The sorted order looks at the data: it is for this experiment alone.
    """
    cells = dense.ravel()
    if ordering == "sorted":
        return cells[experimental_sorted_order(CountTable.from_dense(dense)).astype(np.int64)]
    if ordering == "Morton":
        rows, columns = dense.shape
        return cells[morton_layout((rows, columns)).to_raster(np.arange(cells.size, dtype=np.uint64)).astype(np.int64)]
    return np.random.default_rng(seed).permutation(cells) if ordering == "random" else cells.copy()


def prunings_by_level(averages: Values) -> list[int]:
    """How many prunings begin at each level h = 1 ... H - 1: averages of 0 below one that is not.

    Args:
        averages: of all nodes and leaves, after a program without pruning.
    """
    leaves = averages.size // 2
    prunings = []
    nodes = leaves // 2
    while nodes > 1:
        parents = np.repeat(averages[nodes // 2 : nodes], 2)
        prunings.append(int(((averages[nodes : 2 * nodes] == 0) & (parents != 0)).sum()))
        nodes //= 2
    return prunings


def weighted_pruning_count(prunings: list[int]) -> int:
    """The paper's WP: one that begins at level h leaves out 2 + 4 + ... + 2**h averages.

    Example:
        >>> weighted_pruning_count([3, 1])
        12
    """
    return sum(count * ((2 << level) - 2) for level, count in enumerate(prunings, start=1))


def steps(settings: Settings) -> list[Step]:
    """One for each area, ordering and hundred of rounds."""
    return [
        Step(
            f"{area} {ordering} {first}",
            time_programs,
            (ordering, area, min(ROUNDS_AT_ONCE, settings.repeats - first)),
            True,
        )
        for ordering, area in SETTINGS
        for first in range(0, settings.repeats, ROUNDS_AT_ONCE)
    ]


def time_programs(settings: Settings, ordering: str, area: str, rounds: int) -> dict[str, Any]:
    """Run all programs on one tree in rounds.

    Returns:
        The share of empty cells in percent, the number of leaves, the prunings of each level, the same if the paper's epsilon
        were that of all levels together, whether all programs agree, and the milliseconds of each program in each round.
    """
    dense = _counts(settings, area)
    seeds = [settings.seed, SETTINGS.index((ordering, area))]
    line = in_order(dense, ordering, settings.seed)
    tree = draw_tree(line, EPSILON, np.random.default_rng(seeds))
    programs = _programs(tree)
    # The first run of each is not timed: it compiles, and shows that all find the same, whatever lay in the arrays before.
    outcomes: dict[str, list[Any]] = {"paper's": [], "ours": []}
    for name, run in programs.items():
        tree.averages[2:] = np.nan
        outcomes["ours" if name.startswith("ours") else "paper's"].append(run().copy())
    tree.averages[2:] = np.nan
    programs["vertical unpruned"]()
    prunings = prunings_by_level(tree.averages)
    of_total = draw_tree(line, EPSILON / line.size.bit_length(), np.random.default_rng(seeds))
    _programs(of_total)["vertical unpruned"]()
    times: dict[str, list[float]] = {name: [] for name in programs}
    names = list(programs)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            run = programs[name]
            run()  # so that it finds its arrays in the cache, as a loop of the paper does
            start = perf_counter()
            run()
            times[name].append(1000 * (perf_counter() - start))
    return {
        "zeros": 100 * float((dense == 0).mean()),
        "leaves": int(dense.size),
        "prunings": prunings,
        "prunings_of_total": prunings_by_level(of_total.averages),
        "agree": all(np.array_equal(found[0], other) for found in outcomes.values() for other in found),
        "milliseconds": times,
    }


def _programs(tree: NoisyTree) -> dict[str, Callable[[], Any]]:
    """All programs, ready to run on a tree; each gives back the leaves."""
    from sudare.kernels.tables import haar
    from sudare_papers.kernels import paper_trees

    averages, details = tree.averages, tree.details
    leaves = averages[details.size :]
    memory = np.empty(details.size, dtype=np.int32)
    out = np.empty(details.size, dtype=np.int64)

    def of_paper(kernel: Callable[..., None], *more: Any) -> Callable[[], Any]:
        def run() -> Any:
            kernel(averages, details, *more)
            return leaves

        return run

    def ours(kernel: Callable[..., None]) -> Callable[[], Any]:
        def run() -> Any:
            kernel(tree.total, tree.tilts, out)
            return out

        return run

    return {
        "vertical pruned": of_paper(paper_trees.vertical_pruned),
        "vertical unpruned": of_paper(paper_trees.vertical_unpruned),
        "horizontal pruned": of_paper(paper_trees.horizontal_pruned, memory),
        "horizontal unpruned": of_paper(paper_trees.horizontal_unpruned),
        "horizontal memory first": of_paper(paper_trees.horizontal_memory_first, memory),
        "horizontal branchless": of_paper(paper_trees.horizontal_branchless),
        "ours vertical": ours(haar.refine_depth_first),
        "ours horizontal": ours(haar.refine_with_skips),
        "ours none": ours(haar.refine_by_levels),
    }


@lru_cache(maxsize=8)
def _counts(settings: Settings, name: str) -> Counts:
    """The cells of an area: the census, or the window of the invented country whose share of empty cells is nearest."""
    area = next(area for area in AREAS if area.name == name)
    side = 2 * area.side if area.is_merged else area.side
    if settings.data is not None:
        window = _merged(japan_window(settings, *area.corner, 2 * side).to_dense())
    else:
        zeros = AREAS[0].zeros if area.is_merged else area.zeros
        window = _similar_window(
            _merged(japan(settings).to_dense()), side // 2 if settings.is_quick else side, zeros / 100
        )
    return _merged(window) if area.is_merged else window


def _merged(dense: Counts) -> Counts:
    rows, columns = dense.shape
    merged: Counts = dense.reshape(rows // 2, 2, columns // 2, 2).sum(axis=(1, 3))
    return merged


def _similar_window(dense: Counts, side: int, zeros: float) -> Counts:
    """Of the windows that begin at multiples of an eighth of the side, the first whose share of zeros is nearest."""
    step = side // 8
    blocks = (dense == 0).reshape(dense.shape[0] // step, step, dense.shape[1] // step, step).mean(axis=(1, 3))
    shares = np.lib.stride_tricks.sliding_window_view(blocks, (8, 8)).mean(axis=(2, 3))
    row, column = (int(place) * step for place in np.unravel_index(int(np.abs(shares - zeros).argmin()), shares.shape))
    return dense[row : row + side, column : column + side]
