"""The texts about expected errors, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["TEXTS"]

TEXTS: Mapping[str, Words] = {
    "formula": Words(
        "Computed from the noise alone: it holds for every table.",
        "ノイズだけから計算した値で、どの表にも当てはまります。",
    ),
    "stand-in": Words(
        "Tried {runs} times on the public table that stands in for this one.",
        "代わりの公開済みの表で {runs} 回試した結果です。",
    ),
    "invented": Words(
        "Tried {runs} times on invented tables of {people} people.",
        "架空の表(人口 {people})で {runs} 回試した結果です。",
    ),
    "sum": Words("sum", "合計の単位"),
    "rmse": Words("expected error", "予想誤差"),
    "interval": Words("95 % interval", "95 % 区間"),
    "mean": Words("mean error", "平均誤差"),
    "systematic": Words("systematic part", "系統的な部分"),
    "note": Words(
        "Errors are root mean squares over the sums where people live; a mean error below 0 means that people are "
        "lost there. The error of one release lies in its interval 95 times out of 100. The "
        "systematic part is what the mean of many releases would still be wrong by.",
        "誤差は人の住む所での二乗平均平方根です。平均誤差が負なら、そこから人数が失われることを意味します。"
        "1回の公表での誤差は、100回に95回は区間に入ります。"
        "系統的な部分は、何度公表して平均しても残る誤差です。",
    ),
    "area": Words("areas of side {side}", "一辺 {side} の領域"),
    "cell": Words("cells", "セル"),
    "area of all categories": Words("areas of side {side}, all categories", "一辺 {side} の領域(全区分の合計)"),
    "margin": Words("each {name}", "{name}ごと"),
    "categories": Words("each {name}", "{name}ごと"),
    "level": Words("each {name}", "{name}ごと"),
    "total": Words("total", "総計"),
}
