"""Texts of the frame of all pages, of the first page, and of ledgers."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["COMMON"]

COMMON: Mapping[str, Words] = {
    "sudare": Words.same("sudare"),
    "skip": Words("Skip to the page", "本文へ移動"),
    "home": Words("Start", "ホーム"),
    "ledgers": Words("Budgets", "予算"),
    "language": Words("Language", "言語"),
    "same_command": Words("The command that does the same", "同じことをするコマンド"),
    "same_commands": Words("The commands that do the same", "同じことをするコマンド"),
    "local": Words(
        "This page runs on this machine alone. It sends nothing anywhere.",
        "このページはこの端末だけで動いており、どこにも何も送りません。",
    ),
    "problem": Words("That did not work", "実行できませんでした"),
    "back": Words("Back", "戻る"),
    "close": Words("Close", "閉じる"),
    "home.title": Words("What do you want to publish?", "何を公表しますか"),
    "home.lead": Words(
        "Choose a file about people. You will see what to expect before anything is spent.",
        "人に関するファイルを選んでください。予算を使う前に、結果の見通しを確認できます。",
    ),
    "home.drop": Words("Drop a file here, or choose one", "ここにファイルをドロップするか、選んでください"),
    "home.drop_note": Words("It is copied into {folder} on this machine.", "この端末の {folder} にコピーされます。"),
    "home.files": Words("Files in this folder", "このフォルダのファイル"),
    "home.no_files": Words("No data files yet.", "データファイルはまだありません。"),
    "home.use": Words("Count people from this file", "このファイルから集計する"),
    "home.plans": Words("Plans", "計画"),
    "home.no_plans": Words("No plans yet.", "計画はまだありません。"),
    "home.releases": Words("Releases", "公表済み"),
    "home.no_releases": Words("Nothing was published yet.", "公表したものはまだありません。"),
    "home.examples": Words("Try it on invented people", "架空のデータで試す"),
    "home.country": Words("An invented country: population by 500 m mesh", "架空の国: 500m メッシュ別人口"),
    "home.survey": Words("An invented survey: sex, age group, job", "架空の調査: 性別・年齢階級・職業"),
    "home.start_example": Words("Open", "開く"),
    "home.upload_running": Words("Copying the file", "ファイルをコピーしています"),
    "home.running": Words("Still running", "実行中"),
    "kind.counts": Words("count table", "度数表"),
    "kind.records": Words("records", "個票"),
    "kind.tables": Words("table by disclosure control", "統計表（秘匿）"),
    "kind.series": Words("series", "系列"),
    "ledger.title": Words("What was spent, and what is left", "予算の使用状況"),
    "ledger.none": Words(
        "There is no ledger in this folder yet. The first plan makes one.",
        "このフォルダにはまだ台帳がありません。最初の計画と一緒に作られます。",
    ),
    "ledger.total": Words("total", "総予算"),
    "ledger.spent": Words("spent", "使用済み"),
    "ledger.reserved": Words("set aside", "予約中"),
    "ledger.left": Words("left", "残り"),
    "ledger.nothing": Words("nothing", "なし"),
    "ledger.sound": Words("The chain of entries is whole.", "記録の連鎖に異常はありません。"),
    "ledger.unsound": Words("{number} faults were found in this ledger.", "この台帳に {number} 件の異常があります。"),
    "ledger.when": Words("When", "日時"),
    "ledger.what": Words("What", "内容"),
    "ledger.cost": Words("Cost", "予算"),
    "ledger.entry": Words("Entry", "番号"),
    "ledger.protects": Words("protects one {who}", "保護の単位: {who}"),
    "ledger.dataset-added": Words("Data set added", "データセットを登録"),
    "ledger.reserved-entry": Words("Set aside: {purpose}", "予約: {purpose}"),
    "ledger.settled": Words("Released (entry {number})", "公表を確定（{number} 番）"),
    "ledger.cancelled": Words("Given back (entry {number})", "取消（{number} 番）"),
    "ledger.tick-begun": Words(
        "Tick {tick} begun: its noise is bound to its data (window of entry {number})",
        "時点 {tick} を開始: ノイズをデータに結び付けた（期間: {number} 番）",
    ),
    "ledger.tick-settled": Words(
        "Tick {tick} released (window of entry {number})", "時点 {tick} を公表（期間: {number} 番）"
    ),
    "ledger.ticks-missed": Words(
        "Ticks {first} to {last} will not be published: {reason}", "時点 {first} から {last} は公表しない: {reason}"
    ),
    "ledger.opted-out": Words(
        "Somebody is not counted from now on (a salted hash)", "1人を以後の集計から除外（ソルト付きハッシュ）"
    ),
    "ledger.rule-changed": Words(
        "Costs add up by a rho filter from now on, those before included",
        "以後、過去の分も含めてローのフィルターで合算",
    ),
    "ledger.share": Words("{share} of the total is spent or set aside", "総予算の {share} を使用または予約済み"),
}
