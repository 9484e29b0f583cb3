"""Texts of the page that shows a release."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["RELEASES"]

RELEASES: Mapping[str, Words] = {
    "release.by": Words("Published by {publisher}", "公表: {publisher}"),
    "release.map": Words("Map", "地図"),
    "release.report": Words("Report", "報告書"),
    "release.open_report": Words("Open the report", "報告書を開く"),
    "release.files": Words("Files", "ファイル"),
    "release.download": Words("Download {name}", "{name} をダウンロード"),
    "release.check": Words("Check it", "検査"),
    "release.check_note": Words(
        "Verification compares every file with what the report and the ledger say. Attacks try to learn something about a person "
        "from what is published, as an adversary would.",
        "検証では、すべてのファイルを報告書・台帳の記録と照合します。攻撃では、公表物から個人について何かを知ろうと試みます。",
    ),
    "release.check_do": Words("Verify and attack", "検証と攻撃を行う"),
    "release.verify": Words("Verification", "検証"),
    "release.attack": Words("Attacks", "攻撃"),
    "release.held": Words("held", "守られた"),
    "release.broken": Words("broken", "破られた"),
    "release.undecided": Words("undecided", "未決定"),
    "release.not_applied": Words("does not apply", "対象外"),
    "release.open": Words("not run", "未実施"),
    "release.attacks.held": Words("Every attack that was run failed.", "実行した攻撃はすべて失敗しました。"),
    "release.attacks.broken": Words("An attack broke it.", "攻撃により破られました。"),
    "release.attacks.undecided": Words(
        "No attack succeeded; some were not decided or not run.",
        "成功した攻撃はありません（未決定または未実施のものがあります）。",
    ),
    "release.outcome": Words("Outcome", "結果"),
    "release.what": Words("What was checked", "検査の内容"),
    "release.finding": Words("Finding", "所見"),
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
