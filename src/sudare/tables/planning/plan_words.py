"""The words of plans: units, what is measured, why a plan was chosen, and what it was compared with.

Planners take their texts from here and fill them with values. Texts of the page of a plan itself stand in `plan_page_words`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sudare.bilingual import AND, Words
from sudare.tables.registry import find_mechanism

__all__ = [
    "ALL_LEVELS_TOGETHER",
    "AREAS_CARRY_MARGINS",
    "CELLS_ALONE",
    "HIERARCHY_OF_CODES",
    "LAZY_NOISE",
    "MAP_FOR_EACH_COMBINATION",
    "MARGINS_BESIDE_CELLS",
    "MARGINS_ONE_BY_ONE",
    "MOSTLY_CELLS",
    "NOISE_ON_EACH_CELL",
    "NO_MARGIN_MOVED",
    "WEIGHTS_BY_AREA",
    "WEIGHTS_BY_LEVEL",
    "of_adjacency",
    "of_everybody",
    "of_mechanism",
    "of_noise",
    "of_quantity",
    "of_side",
    "of_sums",
    "other_noise",
    "other_splits",
    "shares_of_blocks",
    "smallest_error",
]

_QUANTITIES = {"total": Words("the total", "合計")}
_NOISES = {"laplace": Words("laplace", "ラプラス"), "gaussian": Words("gaussian", "ガウス")}
_ADJACENCIES = {
    "add-remove": Words("add-remove", "追加・削除"),
    "replace": Words("replace", "置き換え"),
}
_EVERYBODY = Words("all people", "総数")
_AREAS_OF = Words("areas of side {side:,}", "領域の一辺 {side:,}")
_RANGES_OF = Words("ranges of length {side:,}", "長さ {side:,} の区間")
_SUMS = {"ranges": Words("all ranges", "すべての区間"), "prefixes": Words("all prefixes", "すべての累積度数")}
_PARTS = {
    "ranges": Words("ranges", "区間の和"),
    "prefixes": Words("prefixes", "累積和"),
    "cells": Words("cells", "各ビン"),
}

NOISE_ON_EACH_CELL = Words("noise on each cell alone", "各セルにだけノイズを加える")
"""How a mechanism that measures nothing but cells is called."""

_OTHER_NOISE = Words("{noise} noise", "{noise}ノイズ")
_OTHER_SPLITS = Words("bits per level {bits}", "分割ビット数 {bits}")

_SIDES = Words("sides {first} to {last}", "一辺 {first}～{last}")
_SIDE = Words("side {side}", "一辺 {side}")
_ANYWHERE = Words("rectangles anywhere", "任意の位置の長方形")
_NO_SIZE_WORSE = Words(
    "smallest predicted error, geometric mean over {sizes}, of wide trees that are at no size worse than the papers' best, "
    "NN-Wavelet with Gaussian noise",
    "どの大きさでも論文の最良の方法（ガウスノイズの NN-Wavelet）に劣らない幅広木のうち、予想誤差（{sizes}の幾何平均）が最小",
)
_NO_SIZE_MUCH_WORSE = Words(
    "smallest predicted error, geometric mean over {sizes}, of wide trees that are at no size more than {times:g} times as far "
    "off as the papers' best",
    "どの大きさでも誤差が論文の最良の方法の {times:g} 倍以内の幅広木のうち、予想誤差（{sizes}の幾何平均）が最小",
)
_NEAREST = Words(
    "smallest predicted error, geometric mean over {sizes}, of wide trees that come nearest to the papers' best at the sizes "
    "where it is better",
    "論文の最良の方法が優る大きさでそれに最も近い幅広木のうち、予想誤差（{sizes}の幾何平均）が最小",
)
MOSTLY_CELLS = Words(
    "nearly all of the budget goes to single cells, as the workload asks; areas are less accurate",
    "要求に従い、予算のほとんどを各セルに配分（領域の精度は下がる）",
)
ALL_LEVELS_TOGETHER = Words(
    "all levels are weighed together, and empty surroundings learned from the noisy counts",
    "すべての階層を重み付けて統合し、無人の地域はノイズを加えた測定値から推定",
)
LAZY_NOISE = Words(
    "more than 2**24 cells: noise is drawn only where somebody is left",
    "2**24 セルを超えるため、人が残る領域にだけノイズを生成",
)
MAP_FOR_EACH_COMBINATION = Words(
    "a map of its own for each combination of attributes",
    "属性の組合せごとに別の地図として公表",
)
AREAS_CARRY_MARGINS = Words(
    "places with attributes: areas carry margins, so that sums over places and over categories are both right",
    "属性つきの地図: 各領域で属性の周辺和を測定し、場所ごとの和と属性ごとの和をともに保つ",
)
WEIGHTS_BY_AREA = Words(
    "weights by the predicted error of every area and margin, relative to a map made for it alone",
    "重みは、すべての領域と周辺和の予想誤差（その一つだけのための地図に対する比）により決定",
)
HIERARCHY_OF_CODES = Words(
    "a hierarchy of codes: the areas of every level are measured themselves, and all levels are weighed together",
    "コードの階層: 各階層の地域そのものを測定し、すべての階層を重み付けて統合",
)
WEIGHTS_BY_LEVEL = Words(
    "weights by the predicted error of every level and margin, relative to noise on each cell",
    "重みは、すべての階層と周辺表の予想誤差（各セルにだけノイズを加える場合に対する比）により決定",
)
CELLS_ALONE = Words(
    "noise on each cell alone: no margins of their own would make what matters more accurate",
    "各セルにだけノイズを加える: 周辺表を別に測定しても、重視するものは正確にならない",
)
MARGINS_BESIDE_CELLS = Words(
    "margins beside the cells, in shares by the predicted error of all that matters, relative to noise on each cell",
    "セルのほかに周辺表を測定: 配分は、重視するものすべての予想誤差（各セルにだけノイズを加える場合に対する比）による",
)
NO_MARGIN_MOVED = Words(
    "whole numbers >= 0 near all estimates, so that no margin is moved",
    "すべての推定値に近い 0 以上の整数とし、どの周辺表も偏らせない",
)
MARGINS_ONE_BY_ONE = Words(
    "many attributes: margins are chosen one after the other, where a model of those before is worst",
    "属性が多いため、それまでのモデルが最も合わない周辺表を順に選んで測定",
)
_SHARES_OF_BLOCKS = Words(
    "one ordered axis: blocks of bins, in shares that make {parts} most accurate",
    "順序のある軸: {parts}が最も正確になる配分で、ビンのまとまりを測定",
)


def of_mechanism(name: str) -> Words:
    """A mechanism by its name, as its object says; a name that is not known stands as it is."""
    mechanism = find_mechanism(name)
    return Words.same(name) if mechanism is None else mechanism.words


def of_noise(kind: str) -> Words:
    """A kind of noise."""
    return _NOISES.get(kind, Words.same(kind))


def of_adjacency(name: str) -> Words:
    """How neighbouring tables differ."""
    return _ADJACENCIES.get(name, Words.same(name))


def of_quantity(name: str) -> Words:
    """Something that was published exactly."""
    return _QUANTITIES.get(name, Words.same(name))


def of_everybody() -> Words:
    """All people together, by no attribute."""
    return _EVERYBODY


def of_side(side: int, *, is_range: bool = False) -> Words:
    """Aligned areas of a side, or ranges of a length."""
    return (_RANGES_OF if is_range else _AREAS_OF).format(side=side)


def of_sums(name: str) -> Words:
    """All ranges or prefixes of a histogram; the name of a level stands as it is."""
    return _SUMS.get(name, Words.same(name))


def smallest_error(
    sides: Sequence[int], *, with_rectangles: bool, times: float | None = None, is_nearest: bool = False
) -> Words:
    """Why a wide tree was chosen: it has the smallest predicted error among those that are good at every size.

    Args:
        sides: of the areas that matter.
        with_rectangles: whether rectangles anywhere matter, too.
        times: how many times as far off as the papers' best it may be at sizes that nobody named.
        is_nearest: whether no tree is at every size as good as the papers' best.
    """
    sizes = _SIDES.format(first=sides[0], last=sides[-1]) if len(sides) > 1 else _SIDE.format(side=sides[0])
    if with_rectangles:
        sizes = Words.joined([sizes, _ANYWHERE], AND)
    if times is not None:
        return _NO_SIZE_MUCH_WORSE.format(sizes=sizes, times=times)
    return (_NEAREST if is_nearest else _NO_SIZE_WORSE).format(sizes=sizes)


def shares_of_blocks(workload: Iterable[str]) -> Words:
    """Why a histogram's blocks have their shares.

    Args:
        workload: what is to be accurate: ``"ranges"``, ``"prefixes"``, ``"cells"``.
    """
    return _SHARES_OF_BLOCKS.format(parts=Words.joined([_PARTS[part] for part in workload], AND))


def other_noise(kind: str) -> Words:
    """The settings of an alternative that differs by its noise."""
    return _OTHER_NOISE.format(noise=of_noise(kind))


def other_splits(bits: tuple[int, ...], noise: str | None = None) -> Words:
    """The settings of an alternative that splits areas otherwise, and maybe draws another noise."""
    splits = _OTHER_SPLITS.format(bits=str(bits))
    return splits if noise is None else Words.joined([other_noise(noise), splits])
