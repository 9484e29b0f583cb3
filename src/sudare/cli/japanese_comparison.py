"""What the command that compares methods says in Japanese."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "compare.help": "同じ人々をさまざまな方法で保護し、有用性とリスクを比べます。\n\n"
    "秘匿処理、k-匿名性、スワッピング、セルキー法、差分プライバシーの表と合成データについて、読み手が失うものと攻撃者が得るものを"
    "表・図・ページにまとめます。真のデータを使い、ノイズはシードから生成するため、研究用またはデータ保有者用です。予算は使いません。",
    "compare.examples": "sudare compare --quick --out comparison\nsudare compare plan.toml --out comparison",
    "compare.file": "計画ファイル（人々、列、方法）。--quick では省略します。",
    "compare.out": "数値・図・ページを書き出すフォルダ（未作成のもの）。既定は計画の指定、または comparison。",
    "compare.quick": "ファイルなしで架空の町を使い、数十秒で比べます。",
    "compare.repeats": "各方法の実行回数。既定は計画の指定、または 8（--quick では最大 6）。",
}

SPOKEN: Mapping[str, str] = {
    "stage.compare": "保護と攻撃",
    "compare.plan_or_quick": "計画ファイルか、架空の町を使う --quick の、どちらか一方を指定してください。",
    "compare.table": "読み手が失うものと攻撃者が得るもの（%）",
    "compare.method": "方法",
    "compare.setting": "設定",
    "compare.read": "誤配置: 誤った場所に数えられた人。見分け: 50 は当て推量。差: "
    "データにいる人の機微な値が、いない人より多く当たる分。標準誤差などはページにあります。",
    "compare.truth": "真のデータと比べ、シードのノイズで測りました。研究用、またはデータ保有者用です。",
}
