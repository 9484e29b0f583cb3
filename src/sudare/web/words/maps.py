"""Texts of maps."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["MAPS", "SCRIPT_TEXTS"]

MAPS: Mapping[str, Words] = {
    "map.layer.released": Words("published", "公表値"),
    "map.layer.truth": Words("true counts (for the holder alone)", "真値（保有者のみ）"),
    "map.layer.error": Words("expected error, in % of the count", "予想される誤差（度数に対する%）"),
    "map.layer.difference": Words("published − true (for the holder alone)", "公表値 − 真値（保有者のみ）"),
    "map.first": Words("Layer", "表示する値"),
    "map.second": Words("Compare with", "比較する値"),
    "map.none": Words("nothing", "なし"),
    "map.left": Words("left", "左"),
    "map.right": Words("right", "右"),
    "map.swipe": Words("Where the two maps meet", "2つの地図の境目"),
    "map.logarithmic": Words("logarithmic scale", "対数目盛"),
    "map.borders": Words("borders", "境界線"),
    "map.border_note": Words(
        "Dark lines: prefectures, and municipalities when zoomed in, to a mesh of the public list in this folder.",
        "濃い線は都道府県、拡大時は市区町村の境界です（フォルダ内の公開メッシュ一覧による。メッシュ単位の精度）。",
    ),
    "map.no_borders": Words(
        "Prefectures are drawn when the public list of meshes by municipality (Statistics Bureau) lies in this folder.",
        "総務省統計局の「市区町村別メッシュ・コード一覧」の CSV をこのフォルダに置くと、都道府県の境界を表示します。",
    ),
    "map.all": Words("all (summed)", "すべて（合計）"),
    "map.view": Words("Map of the release", "公表値の地図"),
    "map.keys": Words(
        "Arrow keys move the map, with Ctrl by one square; + and − zoom, 0 shows everything; Shift and arrow keys choose an "
        "area around the crosshair, Esc lets it go. With a mouse: drag; click, then turn the wheel; Shift and drag for an area.",
        "矢印キーで移動（Ctrl と矢印で1マスずつ）、+ と − で拡大・縮小、0 で全体。Shift と矢印キーで十字の位置から範囲を選び、"
        "Esc で解除します。マウス: ドラッグで移動、クリック後にホイールで拡大・縮小、Shift とドラッグで範囲選択。",
    ),
    "map.keys_title": Words("Keys and mouse", "キーとマウスの操作"),
    "map.nearer": Words("Zoom in", "拡大"),
    "map.further": Words("Zoom out", "縮小"),
    "map.whole": Words("Show everything", "全体を表示"),
    "map.select": Words("Choose an area", "範囲を選ぶ"),
    "map.clear": Words("Let the area go", "範囲を解除"),
    "map.point": Words("Point at a place to see its value.", "地図上を指すと値が表示されます。"),
    "map.choose": Words("No area is chosen.", "範囲は選ばれていません。"),
    "map.chosen": Words("Area of {cells} cells: {sum}", "選択範囲（{cells} セル）: {sum}"),
    "map.interval": Words("95 % interval {interval}", "95%区間 {interval}"),
    "map.between": Words("; ", "、"),
    "map.outside": Words("outside of the map", "地図の範囲外"),
    "map.square": Words("Each square shown is {length} a side.", "表示中の1マスは {length} 四方です。"),
    "map.around": Words("{latitude}° N, {longitude}° E", "北緯{latitude}° 東経{longitude}°"),
    "map.place": Words("row {row}, column {column}", "{row} 行 {column} 列"),
    "map.cells": Words("{number} cells", "{number} セル"),
    "map.all_of_it": Words("100 % or more", "100% 以上"),
    "map.watermark": Words("NOT FOR PUBLICATION / 公表不可", "公表不可 / NOT FOR PUBLICATION"),
    "map.mark": Words(
        "This map shows true data, without any protection. It is for the holder of the data alone; do not publish it, and take "
        "no picture of it along.",
        "この地図には保護されていない真のデータが含まれます。データの保有者だけが閲覧できます。公表したり、画像を持ち出したりしないでください。",
    ),
    "map.ask": Words(
        "True counts are read from the source of the plan, on this machine, and are written nowhere. Only the holder of the data "
        "may look at them.",
        "真値はこの端末上で計画の元データから読み取り、どこにも保存しません。閲覧できるのはデータの保有者だけです。",
    ),
    "map.ask_yes": Words("I hold the data: show the true counts", "保有者として真値を表示する"),
    "map.no_truth": Words(
        "True counts and differences can be shown where the plan of the release is in this folder.",
        "真値と差は、公表の計画がこのフォルダにある場合に表示できます。",
    ),
    "map.table_title": Words("The largest squares in view, as a table", "表示範囲の上位を表で見る"),
    "map.table": Words(
        "{layer}: the largest squares of {length} in view", "{layer}: 表示範囲で大きい順（{length} 四方）"
    ),
    "map.areas": Words(
        "Every municipality or prefecture has one colour; its outline follows the meshes of the public list in this folder.",
        "市区町村または都道府県ごとに塗り分けています。輪郭はフォルダ内の公開メッシュ一覧によります（メッシュ単位の精度）。",
    ),
    "map.areas_title": Words("All areas, as a table", "すべての地域を表で見る"),
    "map.table_areas": Words("{layer}, by area", "{layer}: 地域別"),
    "map.chosen_area": Words("Chosen: {area}: {sum}", "選択した地域 {area}: {sum}"),
    "map.no_shapes": Words(
        "Its municipalities or prefectures are coloured on a map when the public list of meshes by municipality (Statistics "
        "Bureau) lies in this folder.",
        "総務省統計局の「市区町村別メッシュ・コード一覧」の CSV をこのフォルダに置くと、"
        "市区町村や都道府県を塗り分けた地図を表示します。",
    ),
    "map.column_place": Words("place", "場所"),
    "map.column_value": Words("value", "値"),
    "map.column_interval": Words("95 % interval", "95%区間"),
    "map.unread": Words("The cells of this map could not be read.", "地図のデータを読み取れませんでした。"),
    "map.lines": Words(
        "Lines: first-level meshes with their codes, and second-level meshes when zoomed in.",
        "線は第1次地域区画（コード付き）、拡大時は第2次地域区画です。",
    ),
}

SCRIPT_TEXTS = (
    "point", "choose", "chosen", "interval", "between", "outside", "square", "around", "place", "cells", "all_of_it", "watermark",
    "table", "unread", "areas", "table_areas", "chosen_area",
)  # fmt: skip
"""Texts that the script fills in."""
