"""The texts of the page that explains a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sudare.bilingual import Words

if TYPE_CHECKING:
    from sudare.tables.planning.predicted_error import PartKind

__all__ = ["OF_PARTS", "TEXTS"]

TEXTS: Mapping[str, Words] = {
    "plan": Words(
        "Plan: {mechanism} with {noise} noise for {cells:,} cells",
        "計画: {cells:,} セルの表を、{noise}ノイズの{mechanism}で公表",
    ),
    "spends": Words(
        "Spends {budget}, per {who} ({adjacency})",
        "消費する予算 {budget}、保護単位は{who}（{adjacency}）",
    ),
    "exact": Words(
        "Published exactly: {invariants}",
        "正確に公表する量: {invariants}",
    ),
    "measured": Words(
        "measured",
        "測定",
    ),
    "share": Words(
        "share of the budget",
        "予算の割合",
    ),
    "deviation": Words(
        "noise (standard deviation)",
        "ノイズ(標準偏差)",
    ),
    "noise": Words(
        "noise alone",
        "ノイズのみ",
    ),
    "from": Words(
        "{what}, 90 %",
        "{what}(90 % 区間)",
    ),
    "meaning": Words(
        "Noise alone: the root mean squared error if people live in every part of every {one}. 90 %: the\n"
        "  interval that holds the error of nine releases out of ten, over {many} in which somebody is counted,\n"
        "  and over {all}.",
        "「ノイズのみ」は、{one}のどの部分にも人がいる場合の二乗平均平方根誤差。90 % 区間は、1回の公表での誤差が"
        "10回に9回入る区間で、\n  1人以上が数えられる{many}と、{all}について示す。",
    ),
    "known": Words(
        "For about {number:,} people.",
        "人口が約 {number:,} 人の場合。",
    ),
    "unknown": Words(
        "For 1 to 100 people a cell; where their number is public, people=... makes the intervals narrower.",
        "1セルあたり1～100人の場合。人口が公開されていれば、people=... で範囲が狭くなる。",
    ),
    "depends": Words(
        "How accurate it will be depends on the data.",
        "精度はデータに依存する。",
    ),
    "why": Words(
        "Why",
        "理由",
    ),
    "others": Words(
        "Alternatives, error relative to this plan",
        "他の方法(この計画に対する誤差の比)",
    ),
    "other": Words(
        "x {ratio:.2f} (max {worst:.2f})  {alternative}",
        "x {ratio:.2f} (最大 {worst:.2f})  {alternative}",
    ),
}

_AREAS = {
    "inhabited": Words("where people live", "人の住む領域"),
    "all": Words("all areas", "すべての領域"),
    "one": Words("area", "領域"),
    "many": Words("areas", "領域"),
}
OF_PARTS: Mapping[PartKind, Mapping[str, Words]] = {
    "areas": {
        "side": Words("areas of side", "領域の一辺"),
        **_AREAS,
    },
    "levels": {
        "side": Words("areas of level", "階層"),
        **_AREAS,
    },
    "ranges": {
        "side": Words("ranges of length", "区間の長さ"),
        "inhabited": Words("where there are people", "人のいる区間"),
        "all": Words("all ranges", "すべての区間"),
        "one": Words("range", "区間"),
        "many": Words("ranges", "区間"),
    },
    "margins": {
        "side": Words("margin", "周辺表"),
        "inhabited": Words("where there are people", "人のいる区分"),
        "all": Words("all categories", "すべての区分"),
        "one": Words("category", "区分"),
        "many": Words("categories", "区分"),
    },
}
"""What the parts of a workload are called, by their kind."""
