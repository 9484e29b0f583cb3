"""What the command that protects tables says in Japanese."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "panel.tables": "従来の方法による表の保護",
    "protect.help": "表の計画を実行し、危険なセルを秘匿・丸め・攪乱します。\n\n"
    "リンクした表はまとめて保護します。公表する内容を先に攻撃し、破られた場合は書き込みません。差分プライバシーではありません。",
    "protect.examples": "sudare protect plan.toml --out protected\nsudare protect plan.toml --check",
    "protect.file": "計画ファイル: 読むもの、危険なセルの規則、その処理。",
    "protect.out": "表とレポートのフォルダ。存在しないこと。省略時は計画の指定。",
    "protect.check": "計画を確認し、内容を表示するだけです。データは読みません。",
    "protect.even_if_broken": "攻撃に破られても公表します。レポートにその旨を記します。",
}

SPOKEN: Mapping[str, str] = {
    "stage.tables.read": "表の読み込み",
    "stage.tables.protect": "セルの保護",
    "stage.tables.write": "表の書き出し",
    "stage.tables.attack": "結果への攻撃",
    "protect.method": "手法",
    "protect.table": "表",
    "protect.rule": "規則",
    "protect.earlier": "以前の表",
    "protect.checked": "計画に問題はありません。データは読んでいません。",
    "protect.done": "完了しました。名前が confidential で始まるファイルは保有者専用です。それ以外を公表してください。",
    "protect.was_broken": "この表は攻撃によって破られましたが、--even-if-broken の指定により公表しました。",
    "protect.lost": "台帳にある表「{folder}」は見つからないか変更されているため、攻撃の対象に含まれていません。",
    "protect.left_out": "台帳にある表「{folder}」はこの表と比べられないため、攻撃の対象に含まれていません。",
    "check.report": "レポート",
    "check.tables": "公表した表",
    "check.confidential": "保有者用のファイル",
    "check.certificate": "秘匿セルの安全性の証明",
}
