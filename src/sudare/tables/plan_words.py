"""The words of plans in Japanese: units, mechanisms, what is measured, why a plan was chosen, and what it was compared with."""

from __future__ import annotations

import re

from sudare.bilingual import Words

__all__ = [
    "of_adjacency",
    "of_alternative",
    "of_everybody",
    "of_level",
    "of_mechanism",
    "of_noise",
    "of_quantity",
    "of_reason",
    "of_side",
    "of_sums",
    "of_unit",
]

_UNITS = {
    "person": "個人",
    "household": "世帯",
    "patient": "患者",
    "user": "利用者",
    "customer": "顧客",
    "employee": "従業者",
    "establishment": "事業所",
    "company": "企業",
    "device": "端末",
    "student": "生徒",
}
_MECHANISMS = {
    "wide-tree": Words("wide tree", "幅広木（wide tree）"),
    "margin-tree": Words("margin tree", "周辺表つき空間木（margin tree）"),
    "nn-wavelet": Words("non-negative wavelet", "非負ウェーブレット（NN-Wavelet）"),
    "topdown": Words("top-down", "トップダウン（top-down）"),
    "topdown-bisection": Words("top-down bisection", "トップダウン二分割"),
    "histogram": Words("blocks of bins", "階級のブロック（ヒストグラム）"),
    "laplace": Words("Laplace noise on each cell", "セルごとのラプラスノイズ"),
    "gaussian": Words("Gaussian noise on each cell", "セルごとのガウスノイズ"),
    "privelet": Words("Privelet wavelet", "Privelet ウェーブレット"),
    "negative-l2": Words("negative l2 recovery", "負の l2 正則化による復元（negative l2）"),
    "simplex": Words("projection on the simplex", "単体への射影（simplex）"),
    "lasso": Words("non-negative Lasso", "非負 Lasso"),
    "lm": Words("clipping and scaling (LM)", "切り捨てと比例補正（LM）"),
    "adaptive-margins": Words("margins chosen adaptively", "周辺表の適応的な選択（adaptive margins）"),
}
_QUANTITIES = {"total": Words("the total", "合計")}
_NOISES = {"laplace": "ラプラス", "gaussian": "ガウス"}
_ADJACENCIES = {
    "add-remove": Words("add-remove", "1単位の追加・削除"),
    "replace": Words("replace", "1単位の置換"),
}
_LEVELS: list[tuple[str, str, str]] = [
    (r"total", "total", "合計"),
    (r"cells", "single cells", "各セル"),
    (r"areas of 2\*\*(\d+) cells", "areas of {0} cells", "{0} セルの領域"),
    (r"places", "single places", "各地点"),
    (r"areas of 2\*\*(\d+) places", "areas of {0} places", "{0} 地点の領域"),
    (r"blocks of 2\*\*(\d+) cells", "blocks of {0} cells", "{0} セルのブロック"),
    (r"halves of areas of 2\*\*(\d+) cells", "halves of areas of {0} cells", "{0} セルの領域の二等分"),
]
_SUMS = {"ranges": Words("all ranges", "すべての区間"), "prefixes": Words("all prefixes", "すべての累積度数")}
_PARTS = {"rectangles anywhere": "任意の位置の長方形", "ranges": "区間の和", "prefixes": "累積和", "cells": "各ビン"}
_REASONS: list[tuple[str, str]] = [
    (
        r"smallest predicted error, geometric mean over (sides? [^,]*), of wide trees that are at no size worse .*",
        "どの大きさでも論文の最良の方法（ガウスノイズの NN-Wavelet）に劣らない幅広木のうち、予想誤差（{0}の幾何平均）が最小",
    ),
    (
        r"smallest predicted error, geometric mean over (sides? [^,]*), of wide trees that are at no size more than (\S+) .*",
        "どの大きさでも誤差が論文の最良の方法の {1} 倍以内の幅広木のうち、予想誤差（{0}の幾何平均）が最小",
    ),
    (
        r"smallest predicted error, geometric mean over (sides? [^,]*), of wide trees that come nearest .*",
        "論文の最良の方法が優る大きさでそれに最も近い幅広木のうち、予想誤差（{0}の幾何平均）が最小",
    ),
    (
        r"all levels are weighed together, and empty surroundings learned from the noisy counts",
        "すべての階層を重み付けて統合し、無人の地域はノイズを加えた測定値から推定",
    ),
    (
        r"more than 2\*\*24 cells: noise is drawn only where somebody is left",
        "2**24 セルを超えるため、人が残る領域にだけノイズを生成",
    ),
    (
        r"places with attributes: areas carry margins, so that sums over places and over categories are both right",
        "属性つきの地図: 各領域で属性の周辺和を測定し、場所ごとの和と属性ごとの和をともに保つ",
    ),
    (
        r"weights by the predicted error of every area and margin, relative to a map made for it alone",
        "重みは、すべての領域と周辺和の予想誤差（その一つだけのための地図に対する比）により決定",
    ),
    (
        r"nearly all of the budget goes to single cells, as the workload asks; areas are less accurate",
        "要求に従い、予算のほとんどを各セルに配分（領域の精度は下がる）",
    ),
    (
        r"one ordered axis: blocks of bins, in shares that make ([a-z ]+) most accurate",
        "順序のある軸: {0}が最も正確になる配分で、ビンのまとまりを測定",
    ),
    (
        r"many attributes: margins are chosen one after the other, where a model of those before is worst",
        "属性が多いため、それまでのモデルが最も合わない周辺表を順に選んで測定",
    ),
    (
        r"of ([\d,]+) cells most are empty, whatever the number of people",
        "{0} セルの大部分は、人数にかかわらず空",
    ),
    (
        r"noise on each cell alone: no margins of their own would make what matters more accurate",
        "各セルにだけノイズを加える: 周辺表を別に測定しても、重視するものは正確にならない",
    ),
    (
        r"margins beside the cells, in shares by the predicted error of all that matters, relative to noise on each cell",
        "セルのほかに周辺表を測定: 配分は、重視するものすべての予想誤差（各セルにだけノイズを加える場合に対する比）による",
    ),
    (
        r"whole numbers >= 0 near all estimates, so that no margin is moved",
        "すべての推定値に近い 0 以上の整数とし、どの周辺表も偏らせない",
    ),
    (
        r"a hierarchy of codes: the areas of every level are measured themselves, and all levels are weighed together",
        "コードの階層: 各階層の地域そのものを測定し、すべての階層を重み付けて統合",
    ),
    (
        r"weights by the predicted error of every level and margin, relative to noise on each cell",
        "重みは、すべての階層と周辺表の予想誤差（各セルにだけノイズを加える場合に対する比）により決定",
    ),
    (r"a map of its own for each combination of attributes", "属性の組合せごとに別の地図として公表"),
]


def of_unit(who: str) -> Words:
    """The protected unit; other words than the usual ones stand as they are."""
    return Words(who, _UNITS.get(who, who))


def of_mechanism(name: str) -> Words:
    """A mechanism by its name."""
    return _MECHANISMS.get(name, Words(name, name))


def of_noise(kind: str) -> Words:
    """A kind of noise."""
    return Words(kind, _NOISES.get(kind, kind))


def of_adjacency(name: str) -> Words:
    """How neighbouring tables differ."""
    return _ADJACENCIES.get(name, Words(name, name))


def of_quantity(name: str) -> Words:
    """Something that was published exactly."""
    return _QUANTITIES.get(name, Words(name, name))


def of_level(name: str) -> Words:
    """What was measured."""
    margin = re.fullmatch(r"margin of axis (\d+)", name)
    if margin:
        return Words(name, f"第{margin[1]}軸の周辺合計")
    size, by, attributes = name.partition(" by ")
    areas = _of_areas(size)
    return Words(f"{areas.english} by {attributes}", f"{areas.japanese}（{attributes} 別）") if by else areas


def _of_areas(name: str) -> Words:
    for pattern, english, japanese in _LEVELS:
        found = re.fullmatch(pattern, name)
        if found:
            sizes = [f"{2 ** int(power):,}" for power in found.groups() if int(power) <= 62]
            if len(sizes) == len(found.groups()):
                return Words(english.format(*sizes), japanese.format(*sizes))
    return Words(name, name)


def of_everybody() -> Words:
    """All people together, by no attribute."""
    return Words("all people", "総数")


def of_side(side: int, *, is_range: bool = False) -> Words:
    """Aligned areas of a side, or ranges of a length."""
    if is_range:
        return Words(f"ranges of length {side:,}", f"長さ {side:,} の区間")
    return Words(f"areas of side {side:,}", f"領域の一辺 {side:,}")


def of_sums(name: str) -> Words:
    """All ranges or prefixes of a histogram; the name of a level stands as it is."""
    return _SUMS.get(name, Words(name, name))


def of_reason(reason: str) -> Words:
    """Why a plan was chosen."""
    for pattern, japanese in _REASONS:
        found = re.fullmatch(pattern, reason)
        if found:
            return Words(reason, japanese.format(*map(_of_parts, found.groups())))
    return Words(reason, reason)


def _of_parts(parts: str) -> str:
    """Parts of a workload in Japanese; whatever else stands as it is."""
    return "と".join(_PARTS.get(part, _of_sides(part)) for part in parts.split(" and "))


def _of_sides(part: str) -> str:
    return re.sub(r"sides? (\d+)(?: to (\d+))?", lambda f: f"一辺 {f[1]}" + (f"～{f[2]}" if f[2] else ""), part)


def of_alternative(mechanism: str, settings: str) -> Words:
    """Another mechanism with its settings."""
    name = of_mechanism(mechanism)
    if settings == "noise on each cell alone":
        return name
    japanese = re.sub(r"\b(laplace|gaussian) noise", lambda found: _NOISES[found[1]] + "ノイズ", settings)
    japanese = re.sub(r"bits \(", "分割ビット数 (", japanese).replace("ノイズ, ", "ノイズ、")
    english = re.sub(r"bits \(", "bits per level (", settings)
    return Words(f"{name.english}, {english}", f"{name.japanese}、{japanese}") if settings else name
