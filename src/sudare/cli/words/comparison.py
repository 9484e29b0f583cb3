"""The words of comparing methods, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "compare.help": Words(
        "Protect the same people in many ways, and compare use and risk.\n\nSuppression, k-anonymity, swapping, "
        "cell keys, private tables and synthetic people: what a reader loses and what an attacker gains, as a "
        "table, a picture and a page. Uses the truth and draws noise from a seed: for research, or for whoever "
        "holds the data. Nothing is spent.",
        "同じ人々をさまざまな方法で保護し、有用性とリスクを比べます。\n\n秘匿処理、k-匿名性、スワッピング、"
        "セルキー法、差分プライバシーの表と合成データについて、"
        "読み手が失うものと攻撃者が得るものを表・図・ページにまとめます。真のデータを使い、"
        "ノイズはシードから生成するため、研究用またはデータ保有者用です。予算は使いません。",
    ),
    "compare.examples": Words.same(
        "sudare compare --quick --out comparison\nsudare compare plan.toml --out comparison"
    ),
    "compare.file": Words(
        "The plan: people, columns and methods. Left out with --quick.",
        "計画ファイル（人々、列、方法）。--quick では省略します。",
    ),
    "compare.out": Words(
        "The folder for figures, pictures and page; must not exist. By default what the plan says, or comparison.",
        "数値・図・ページを書き出すフォルダ（未作成のもの）。既定は計画の指定、または comparison。",
    ),
    "compare.quick": Words(
        "Compare on an invented town, without any file: seconds instead of minutes.",
        "ファイルなしで架空の町を使い、数十秒で比べます。",
    ),
    "compare.repeats": Words(
        "How often each method is run. By default what the plan says, or 8; up to 6 with --quick.",
        "各方法の実行回数。既定は計画の指定、または 8（--quick では最大 6）。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "stage.compare": Words("Protecting and attacking", "保護と攻撃"),
    "compare.plan_or_quick": Words(
        "Give a plan, or --quick for an invented town; not both.",
        "計画ファイルか、架空の町を使う --quick の、どちらか一方を指定してください。",
    ),
    "compare.table": Words(
        "In percent: what a reader loses, and what an attacker gains",
        "読み手が失うものと攻撃者が得るもの（%）",
    ),
    "compare.method": Words("method", "方法"),
    "compare.setting": Words("setting", "設定"),
    "compare.read": Words(
        "Misplaced: people counted in the wrong place. Told apart: 50 is guessing. Gain: how much more often a "
        "sensitive value is guessed of people in the data. Standard errors and more are on the page.",
        "誤配置: 誤った場所に数えられた人。見分け: 50 は当て推量。差: データにいる人の機微な値が、"
        "いない人より多く当たる分。標準誤差などはページにあります。",
    ),
    "compare.truth": Words(
        "Measured by the truth, with noise from a seed: for research, or for whoever holds the data.",
        "真のデータと比べ、シードのノイズで測りました。研究用、またはデータ保有者用です。",
    ),
}
