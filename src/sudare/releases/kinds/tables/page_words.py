"""The texts of the page on protected tables, in English and Japanese."""

from __future__ import annotations

from sudare.bilingual import Words

__all__ = ["OUTCOMES", "STATUSES", "TEXTS"]

OUTCOMES = {
    "held": Words("held", "成功せず"),
    "undecided": Words("undecided", "未判定"),
    "broken": Words("BROKEN", "破られた"),
}
STATUSES = {
    "UNSAFE_RULE": Words("dominance, p % or p-q rule", "占有率・p %・p-q 規則"),
    "UNSAFE_REQUEST": Words("on request", "要請による"),
    "UNSAFE_FREQUENCY": Words("too few contributors", "提供者が少ない"),
    "UNSAFE_ZERO": Words("zero with contributors", "提供者のいる 0"),
    "UNSAFE_MANUAL": Words("marked by hand", "手作業で指定"),
    "UNSAFE_SINGLETON": Words("singleton", "単独"),
    "UNSAFE_SINGLETON_MANUAL": Words("singleton, by hand", "単独（手作業）"),
}
TEXTS = {
    "report": Words("Report on a protected table", "統計表保護の報告書"),
    "for_holder": Words("Confidential: for whoever holds the data", "秘密: データ保有者用"),
    "published_by": Words("Published by {name}", "公表者: {name}"),
    "created": Words("Created {date}", "作成日時: {date}"),
    "although_broken": Words(
        "Published although an attack breaks it", "攻撃で破られることを承知のうえで公表されています"
    ),
    "although_broken_text": Words(
        "The attacks below were run before publication, and at least one of them works out what should be hidden. "
        "Whoever publishes this table decided to do so all the same.",
        "下の攻撃は公表前に実行され、少なくとも一つで、隠すべき値が推定できました。公表者はそれでも公表すると決めました。",
    ),
    "tile_method": Words("Method", "手法"),
    "tile_cells": Words("Cells", "セル"),
    "tile_hidden": Words("Hidden", "秘匿"),
    "tile_attacks": Words("Attacks that it held against", "耐えた攻撃"),
    "tile_unsafe": Words("Unsafe cells", "一次秘匿対象セル"),
    "tile_secondary": Words("Hidden to protect them", "保護のための秘匿"),
    "tile_cost": Words("Cost of the latter", "その費用"),
    "done": Words("What was done, and what it protects", "行ったことと、守られること"),
    "protects": Words("What it protects", "守られること"),
    "keeps": Words("What it keeps", "保たれるもの"),
    "limits": Words("What it does not do", "守られないこと"),
    "rules": Words("Cells must satisfy", "セルの条件"),
    "record_rules": Words("For single records", "レコードごとの条件"),
    "rules_note": Words(
        "The parameters of rules about shares are not published: with them, what is shown and what is hidden would tell more "
        "about single contributions.",
        "割合に関する規則のパラメータは公表しません。知られると、公表・秘匿の別から個々の値が推定されやすくなるためです。",
    ),
    "not_dp": Words(
        "This is not differential privacy: what somebody with knowledge from elsewhere can find out has no limit that "
        "could be stated.",
        "これは差分プライバシーではありません。ほかの知識をもつ人が知りうることの上限は示せません。",
    ),
    "picture": Words("The published table", "公表した表"),
    "picture_note": Words("× is a hidden cell.", "× は秘匿したセルです。"),
    "picture_slice": Words(
        "Totals of the other dimensions: {names}. All cells are in the file.",
        "ほかの次元（{names}）は合計です。すべてのセルはファイルにあります。",
    ),
    "picture_cut": Words(
        "The first rows and columns; all cells are in the file.",
        "最初の行と列だけです。すべてのセルはファイルにあります。",
    ),
    "mesh": Words("Mesh", "メッシュ"),
    "population": Words("Population", "人口"),
    "counted_in": Words("Counted in", "合算先"),
    "unsafe": Words("Unsafe cells, and what was hidden for them", "一次秘匿対象セルと、そのための秘匿"),
    "by_rule": Words("Unsafe by", "理由"),
    "primary": Words("primary", "一次秘匿"),
    "secondary": Words("secondary", "二次秘匿"),
    "kind_of_hiding": Words("Hidden as", "秘匿の種類"),
    "broken_rules": Words("Rules that it breaks", "満たさない規則"),
    "hidden_cells_note": Words(
        "Primary cells break a rule; a cell that breaks several is counted for each. Secondary cells are hidden because primary "
        "ones would follow from them. At most {most} are listed; all are in confidential.json.",
        "一次秘匿は規則を満たさないセルです。複数の規則を満たさないセルは、それぞれに数えます。二次秘匿は、一次秘匿の値が"
        "差し引きで分かることを防ぐためのセルです。表示は最大 {most} 件で、すべては confidential.json にあります。",
    ),
    "cells": Words("Cells", "セル"),
    "cost": Words(
        "The cells hidden to protect others cost {cost}. No safe pattern costs less than {least}.",
        "保護のために秘匿したセルの費用は {cost} です。安全などの組合せも {least} 未満にはなりません。",
    ),
    "cost_only": Words(
        "The cells hidden to protect others cost {cost}.", "保護のために秘匿したセルの費用は {cost} です。"
    ),
    "intervals": Words("What an attacker can work out", "攻撃者が推定できる範囲"),
    "intervals_note": Words(
        "For each unsafe cell the interval of values that agree with all that is published. The band is the interval, the line "
        "the true value, the darker part what was required. The narrowest first, at most {most}.",
        "一次秘匿対象の各セルについて、公表値と矛盾しない値の範囲です。帯が範囲、線が真の値、濃い部分が必要とされた幅です。"
        "狭い順に最大 {most} 件を示します。",
    ),
    "cell": Words("Cell", "セル"),
    "true_value": Words("Value", "値"),
    "interval": Words("Interval", "範囲"),
    "required": Words("Required", "必要な範囲"),
    "endless": Words("no end", "上限なし"),
    "attacks": Words("Attacks that were run before publishing", "公表前に実行した攻撃"),
    "attack": Words("Attack", "攻撃"),
    "outcome": Words("Outcome", "結果"),
    "found": Words("What it found", "わかったこと"),
    "attacks_note": Words(
        "Every attack uses what a public reader has, and nothing else; the data only tell afterwards whether it came too close.",
        "攻撃には公表された情報だけを使います。元のデータは、近づきすぎたかどうかの判定にだけ使います。",
    ),
    "earlier_tables": Words("Looked at together with", "あわせて調べた表"),
    "proof": Words("The proof, and how to check it", "証明とその確認方法"),
    "proof_text": Words(
        "The certificate lists, for everything that must stay uncertain, two tables that agree with all that is published: in "
        "one the protected value is low enough, in the other high enough. Checking needs additions and comparisons of whole "
        "numbers, and no solver:",
        "証明書には、一次秘匿対象の各値について、公表値と矛盾しない表が二つずつ書かれています。一方では値が十分小さく、"
        "他方では十分大きくなっています。確認に必要なのは整数の足し算と比較だけで、ソルバーは要りません。",
    ),
    "files": Words("Files", "ファイル"),
    "file": Words("File", "ファイル"),
    "size": Words("Size", "サイズ"),
    "public_files": Words(
        "These files, {page} and {document} are for everybody. Files whose names begin with “confidential” are for the "
        "holder alone; leave them out of whatever is published.",
        "これらのファイルと {page}、{document} は公表用です。名前が confidential で始まるファイルは保有者専用です。"
        "公表物に含めないでください。",
    ),
    "input": Words("SHA-256 of the input", "入力の SHA-256"),
    "versions": Words("Versions", "バージョン"),
    "made_with": Words("Made with sudare {version}.", "sudare {version} で作成。"),
    "none_hidden": Words("none", "なし"),
}
