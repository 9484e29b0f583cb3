"""The words of protecting tables, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "panel.tables": Words("Tables by statistical disclosure control", "統計的開示抑制による表の保護"),
    "protect.help": Words(
        "Carry out a plan for a table: hide, round or perturb unsafe cells.\n\nLinked tables are protected as one. "
        "What would be published is attacked first, and not written if an attack succeeds. This is not "
        "differential privacy. `sudare run` does the same for plans of every kind.",
        "表の計画を実行し、危険なセルを秘匿・丸め・攪乱します。\n\nリンクした表はまとめて保護します。"
        "公表する内容を先に攻撃し、破られた場合は書き込みません。差分プライバシーではありません。"
        "`sudare run` はどの種類の計画も同じように実行します。",
    ),
    "protect.examples": Words.same("sudare protect plan.toml --out protected\nsudare protect plan.toml --check"),
    "protect.file": Words(
        "The plan: what is read, which cells are unsafe, and what is done to them.",
        "計画ファイル: 読むもの、危険なセルの規則、その処理。",
    ),
    "protect.out": Words(
        "The folder for the table and the report; must not exist. By default what the plan says.",
        "表と報告書のフォルダ。存在しないこと。省略時は計画の指定。",
    ),
    "protect.check": Words(
        "Only check the plan and show what it would do. No data is read.",
        "計画を確認し、内容を表示するだけです。データは読みません。",
    ),
    "protect.even_if_broken": Words(
        "Publish even if an attack on the result succeeds; the report says so.",
        "攻撃に破られても公表します。報告書にその旨を記します。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "stage.tables.read": Words("Reading the table", "表の読み込み"),
    "stage.tables.protect": Words("Protecting cells", "セルの保護"),
    "stage.tables.write": Words("Writing the table", "表の書き出し"),
    "stage.tables.attack": Words("Attacking the result", "結果への攻撃"),
    "protect.method": Words("method", "手法"),
    "protect.table": Words("table", "表"),
    "protect.rule": Words("rule", "規則"),
    "protect.earlier": Words("earlier", "以前の表"),
    "hidden.title": Words("Hidden cells, for you alone", "秘匿したセル（保有者専用）"),
    "hidden.primary_cells": Words("primary", "一次秘匿"),
    "hidden.secondary_cells": Words("secondary", "二次秘匿"),
    "hidden.of_rule": Words("  breaks", "  満たさない規則"),
    "hidden.cell": Words("cell", "セル"),
    "hidden.kind": Words("hidden as", "秘匿の種類"),
    "hidden.breaks": Words("rules that it breaks", "満たさない規則"),
    "hidden.primary": Words("primary", "一次秘匿"),
    "hidden.secondary": Words("secondary", "二次秘匿"),
    "hidden.by_hand": Words("marked by hand", "手作業で指定"),
    "hidden.more": Words("and {count} more, in {file}", "ほか {count} 件（{file} にあります）"),
    "protect.done": Words(
        "Done. Files whose names begin with 'confidential' are yours alone: publish the others.",
        "完了しました。名前が confidential で始まるファイルは保有者専用です。それ以外を公表してください。",
    ),
    "protect.was_broken": Words(
        "An attack broke this table. It was published because you said --even-if-broken.",
        "この表は攻撃によって破られましたが、--even-if-broken の指定により公表しました。",
    ),
    "protect.lost": Words(
        "The ledger knows of a table in '{folder}' that is not there any more, or was changed: it was not attacked.",
        "台帳にある表「{folder}」は見つからないか変更されているため、攻撃の対象に含まれていません。",
    ),
    "protect.left_out": Words(
        "The ledger knows of a table in '{folder}' that cannot be compared with this one: it was not attacked.",
        "台帳にある表「{folder}」はこの表と比べられないため、攻撃の対象に含まれていません。",
    ),
}
