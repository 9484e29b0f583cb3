"""What the command that attacks publications says in Japanese."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, str] = {
    "attack.help": "公表物・個票・表・プログラムを攻撃し、わかったことを示します。\n\n"
    "当てはまる攻撃をすべて実行します。表示されるのは保護すべき個人についての情報で、公表してはいけません。"
    "破られた場合と、フォルダが作成時のままでない場合の終了コードは 7 です。",
    "attack.examples": "sudare attack release --ledger budget.db --dataset census\n"
    "sudare attack protected --with last-year --out attacks.html\n"
    "sudare attack people --outside voters.csv --by age,sex\n"
    "sudare attack tables.toml --json\n"
    "sudare attack --program 'noise {input} {output}' --on a.csv --beside b.csv",
    "attack.folder": "公表・個票・秘匿表のフォルダ、または表を記述した .toml ファイル。",
    "attack.data": "もとになった人々のデータ（保有者のみ）。",
    "attack.population": "データに含まれない、同じような人々のファイル。",
    "attack.by_chance": "--data と --population の人がデータに含まれるかどうかを、公平なコインで決めた場合に指定します。",
    "attack.outside": "攻撃者が持ちうる人々のファイル。個票の中から探します。",
    "attack.by": "照合に使う列。既定では準識別子です。",
    "attack.others": "同じ人々についての別の公表物。合わせて攻撃します。繰り返し指定できます。",
    "attack.ledger": "このデータセットについて他に何が公表されたかを記録した台帳。",
    "attack.dataset": "台帳でのデータセットの名前。",
    "attack.threshold": "1 からこの数未満までの度数は知られてはならないものとします。既定では表の記載、なければ 3 です。",
    "attack.program": "繰り返し実行するプログラム。ファイルの位置に {input} と {output} を書きます。",
    "attack.on": "プログラムに読ませる表。",
    "attack.beside": "それと一人だけ異なる（追加・削除・変更した）表。",
    "attack.runs": "それぞれの表での実行回数。",
    "attack.claim": "プログラムが主張する ε。",
    "attack.delta": "プログラムが主張する δ。",
    "attack.error_probability": "プログラムについての判定が誤る確率の上限。",
    "attack.seconds": "個人を探す時間（既定 60 秒）、またはプログラムを実行する時間（既定 3600 秒）。",
    "attack.out": "結果を .html または .json にも書き出します。所有者だけが読めます。",
}

SPOKEN: Mapping[str, str] = {
    "stage.attack_open": "フォルダの確認",
    "stage.attack_reconstruction": "表のもとになった個人の探索",
    "stage.attack_differencing": "公表値の差し引き",
    "stage.attack_averaging": "雑音つき度数の平均",
    "stage.attack_membership": "データに含まれる人の推測",
    "stage.attack_interval": "秘匿セルの範囲の計算",
    "stage.attack_linkage": "個票と人の照合",
    "stage.attack_outside": "既知の人と個票の照合",
    "stage.attack_runs": "プログラムの実行",
    "attack.one": "攻撃するフォルダか、--program でプログラムの、どちらか一つを指定してください。",
    "attack.suffix": "「{out}」は .html か .json で終わる必要があります。",
    "attack.ledger_and_dataset": "--ledger と --dataset は一緒に指定してください。",
    "attack.chance_alone": "--by-chance は --data、--population と一緒に使います。",
    "attack.by_alone": "--by は --outside と一緒に使います。",
    "attack.two_inputs": "プログラムには、一人だけ異なる二つの入力 --on と --beside が必要です。",
    "attack.program_alone": "プログラムは単独で攻撃します。フォルダ用のオプションは指定できません。",
    "attack.needs_program": "--on、--beside、--claim は --program と一緒に使います。",
    "attack.command": "プログラムは、二つのファイルの位置に {input} と {output} を書いたコマンドにしてください。",
    "attack.failures": "プログラムの実行のうち {number} 回は表を出力せずに終わりました。",
    "attack.what": "種類",
    "attack.numbers": "（破られた {broken}、未決定 {undecided}、守られた {held}）",
    "attack.more": "  … ほか {number} 件。--json か --out にすべてあります。",
    "attack.remedy": "対策: {remedy}",
    "attack.remarks": "補足",
    "attack.not_applied": "対象外の攻撃",
    "attack.broken": "{sentence}。",
    "attack.ended": "{sentence}。",
    "attack.wrote": "{out} に書き出しました。元データと同じように管理してください。",
}
