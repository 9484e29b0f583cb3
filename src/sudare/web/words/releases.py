"""Texts of the page that shows a release."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["RELEASES"]

RELEASES: Mapping[str, Words] = {
    "release.by": Words("Published by {publisher}", "公表: {publisher}"),
    "release.map": Words("Map", "地図"),
    "release.no_map": Words(
        "This table has no map. Its numbers are below and in the files.",
        "この表に地図はありません。数値は下の表とファイルにあります。",
    ),
    "release.report": Words("Report", "報告書"),
    "release.open_report": Words("Open the report", "報告書を開く"),
    "release.files": Words("Files", "ファイル"),
    "release.download": Words("Download {name}", "{name} をダウンロード"),
    "release.check": Words("Check it", "検査"),
    "release.verify": Words("Verify the folder", "フォルダを検証する"),
    "release.attack": Words("Attack it", "攻撃を試す"),
    "release.verifying": Words("Checking", "検査しています"),
    "release.sound": Words("Everything is as it was published.", "公表時のままです。"),
    "release.unsound": Words("{number} checks failed.", "{number} 件の検査で問題が見つかりました。"),
    "release.passed": Words("passed", "合格"),
    "release.failed": Words("failed", "不合格"),
    "release.skipped": Words("skipped", "省略"),
    "release.table": Words("The table", "表"),
    "release.table_note": Words("The first {shown:,} of {total:,} cells", "{total:,} セルのうち最初の {shown:,} セル"),
    "release.count": Words("count", "度数"),
    "release.cost": Words("Cost", "使った予算"),
    "release.promise": Words("Promise", "保証"),
}
