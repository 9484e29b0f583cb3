"""Texts of the pages about series."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["SERIES"]

SERIES: Mapping[str, Words] = {
    "series.lead": Words(
        "Counts at every tick, under one promise for a whole window. What you see here was published.",
        "1つの期間全体に対する1つの保証のもとで、時点ごとに度数を公表します。ここに表示するのは公表済みの値です。",
    ),
    "series.window": Words("Window", "期間"),
    "series.every": Words("A tick every", "時点の間隔"),
    "series.ticks": Words("Ticks of a window", "期間の時点数"),
    "series.published": Words(
        "{published} of {ticks} ticks are published", "{ticks} 時点のうち {published} 時点を公表済み"
    ),
    "series.none": Words("No tick was published yet.", "公表した時点はまだありません。"),
    "series.show": Words("Show", "表示"),
    "series.film": Words("The window as a film", "期間の動画"),
    "series.film_label": Words(
        "Map of the published counts at the chosen tick; darker means more people",
        "選んだ時点の公表度数の地図（濃いほど人が多い）",
    ),
    "series.play": Words("Play", "再生"),
    "series.pause": Words("Pause", "停止"),
    "series.previous": Words("Previous tick", "前の時点"),
    "series.next": Words("Next tick", "次の時点"),
    "series.at": Words("Tick", "時点"),
    "series.legend": Words("people in a pixel, on a logarithmic scale", "1画素の人数（対数目盛）"),
    "series.pixels": Words("The largest pixels of this tick, as a table", "この時点の上位の画素を表で見る"),
    "series.table": Words("Totals by tick", "時点別の合計"),
    "series.total": Words("Total", "合計"),
    "series.error": Words("Error (95 %)", "誤差（95 %）"),
    "series.curves": Words("Curves", "推移"),
    "series.curves_note": Words(
        "Bands hold the count without noise in 95 % of cases, as the design predicts.",
        "帯は、ノイズのない度数を 95 % の確率で含む範囲です（設計からの予測）。",
    ),
    "series.areas": Words("Areas", "地域"),
    "series.choose": Words("Show these areas", "この地域を表示"),
    "series.run": Words("Publish ticks", "時点を公表する"),
    "series.run_note": Words(
        "The first tick of a window sets aside the cost of the whole window; all others are free.",
        "期間の最初の時点で期間全体の費用を予約します。他の時点は無料です。",
    ),
    "series.tick": Words("Tick that begins at", "時点の開始"),
    "series.whole": Words("and all later ones of its window that are over", "その期間の、終了した以降の時点もすべて"),
    "series.run_do": Words("Publish", "公表する"),
    "series.cost": Words("Cost of a window", "1期間の費用"),
    "series.bad_moment": Words("'{value}' is no time.", "「{value}」は日時ではありません。"),
}
