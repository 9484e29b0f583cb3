"""The words of attacks, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "attack.help": Words(
        "Attack a release, protected records, tables or a program; tell what was found.\n\nRuns every attack that "
        "applies. What it shows speaks of protected people and is not for publication. Exit code 7 if something is "
        "broken, or if the folder is not as it was made.",
        "公表物・個票・表・プログラムを攻撃し、わかったことを示します。\n\n当てはまる攻撃をすべて実行します。"
        "表示されるのは保護すべき個人についての情報で、公表してはいけません。破られた場合と、"
        "フォルダが作成時のままでない場合の終了コードは 7 です。",
    ),
    "attack.examples": Words.same(
        "sudare attack release --ledger budget.db --dataset census\nsudare attack protected --with last-year --out "
        "attacks.html\nsudare attack people --outside voters.csv --by age,sex\nsudare attack tables.toml --json\n"
        "sudare attack --program 'noise {input} {output}' --on a.csv --beside b.csv"
    ),
    "attack.folder": Words(
        "A release, protected records, a protected table; or a .toml file that describes tables.",
        "公表・個票・秘匿表のフォルダ、または表を記述した .toml ファイル。",
    ),
    "attack.data": Words("The people behind it, for whoever holds them.", "もとになった人々のデータ（保有者のみ）。"),
    "attack.population": Words(
        "Other people like them, who are not in the data.",
        "データに含まれない、同じような人々のファイル。",
    ),
    "attack.by_chance": Words(
        "A fair coin decided for each person of --data and --population who is in the data.",
        "--data と --population の人がデータに含まれるかどうかを、公平なコイン投げで決めた場合に指定します。",
    ),
    "attack.outside": Words(
        "A file of people that an attacker may have, to be looked for among records.",
        "攻撃者が持ちうる人々のファイル。個票の中から探します。",
    ),
    "attack.by": Words(
        "The columns by which to look for them. By default the quasi-identifiers.",
        "照合に使う列。既定では準識別子です。",
    ),
    "attack.others": Words(
        "Another publication about the same people, to be attacked together. May be repeated.",
        "同じ人々についての別の公表物。合わせて攻撃します。繰り返し指定できます。",
    ),
    "attack.ledger": Words(
        "A ledger that knows what else was published about the data set.",
        "このデータセットについて他に何が公表されたかを記録した台帳。",
    ),
    "attack.dataset": Words("The name of the data set in the ledger.", "台帳でのデータセットの名前。"),
    "attack.threshold": Words(
        "Counts from 1 to below it are too small to be known. By default what the tables say, or 3.",
        "1 からこの数未満までの度数は知られてはならないものとします。既定では表の記載、なければ 3 です。",
    ),
    "attack.program": Words(
        "A program to run many times, with {input} and {output} in place of its files.",
        "繰り返し実行するプログラム。ファイルの位置に {input} と {output} を書きます。",
    ),
    "attack.on": Words("A table for the program to read.", "プログラムに読ませる表。"),
    "attack.beside": Words(
        "Its neighbour: one person added, removed or changed.",
        "それと一人だけ異なる（追加・削除・変更した）表。",
    ),
    "attack.runs": Words("How often the program is run on each of the two.", "それぞれの表での実行回数。"),
    "attack.claim": Words("The epsilon that the program claims.", "プログラムが主張する ε。"),
    "attack.delta": Words("The delta that the program claims.", "プログラムが主張する δ。"),
    "attack.error_probability": Words(
        "How likely the verdict on a program may be wrong.",
        "プログラムについての判定が誤る確率の上限。",
    ),
    "attack.seconds": Words(
        "How long to search for people (by default 60), or to run the program (3600).",
        "個人を探す時間（既定 60 秒）、またはプログラムを実行する時間（既定 3600 秒）。",
    ),
    "attack.out": Words(
        "Also write what was found, as .html or .json; readable by its owner only.",
        "結果を .html または .json にも書き出します。所有者だけが読めます。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "stage.attack_open": Words("Checking the folder", "フォルダの確認"),
    "stage.attack_reconstruction": Words("Looking for the people behind the tables", "表のもとになった個人の探索"),
    "stage.attack_differencing": Words("Subtracting published counts", "公表値の差し引き"),
    "stage.attack_ticks": Words("Averaging over ticks", "時点の平均"),
    "stage.attack_averaging": Words("Averaging noisy counts", "ノイズ付き度数の平均"),
    "stage.attack_membership": Words("Asking who is in the data", "データに含まれる人の推測"),
    "stage.attack_interval": Words("Bounding hidden cells", "秘匿セルの範囲の計算"),
    "stage.attack_linkage": Words("Linking records with people", "個票と人の照合"),
    "stage.attack_outside": Words("Looking for known people among the records", "既知の人と個票の照合"),
    "stage.attack_runs": Words("Running the program", "プログラムの実行"),
    "attack.one": Words(
        "Name a folder to attack, or a program with --program; not both.",
        "攻撃するフォルダか、--program でプログラムの、どちらか一つを指定してください。",
    ),
    "attack.suffix": Words(
        "'{out}' must end in .html or .json.",
        "「{out}」は .html か .json で終わる必要があります。",
    ),
    "attack.ledger_and_dataset": Words(
        "--ledger and --dataset belong together.",
        "--ledger と --dataset は一緒に指定してください。",
    ),
    "attack.chance_alone": Words(
        "--by-chance goes with --data and --population.",
        "--by-chance は --data、--population と一緒に使います。",
    ),
    "attack.by_alone": Words("--by goes with --outside.", "--by は --outside と一緒に使います。"),
    "attack.two_inputs": Words(
        "A program needs two neighbouring inputs: --on and --beside.",
        "プログラムには、一人だけ異なる二つの入力 --on と --beside が必要です。",
    ),
    "attack.program_alone": Words(
        "A program is attacked by itself: leave the options for folders out.",
        "プログラムは単独で攻撃します。フォルダ用のオプションは指定できません。",
    ),
    "attack.needs_program": Words(
        "--on, --beside and --claim go with --program.",
        "--on、--beside、--claim は --program と一緒に使います。",
    ),
    "attack.command": Words(
        "The program must be a command in which {input} and {output} stand for its two files.",
        "プログラムは、二つのファイルの位置に {input} と {output} を書いたコマンドにしてください。",
    ),
    "attack.failures": Words(
        "{number} runs of the program ended without a table.",
        "プログラムの実行のうち {number} 回は表を出力せずに終わりました。",
    ),
    "attack.what": Words("what it is", "種類"),
    "attack.numbers": Words(
        "({broken} broken, {undecided} undecided, {held} held)",
        "（破られた {broken}、未決定 {undecided}、守られた {held}）",
    ),
    "attack.more": Words(
        "  ... and {number} more; --json or --out has all.",
        "  … ほか {number} 件。--json か --out にすべてあります。",
    ),
    "attack.remedy": Words("What would stop it: {remedy}", "対策: {remedy}"),
    "attack.remarks": Words("To be known besides", "補足"),
    "attack.not_applied": Words("Attacks that did not apply", "対象外の攻撃"),
    "attack.broken": Words("{sentence}.", "{sentence}。"),
    "attack.ended": Words("{sentence}. ", "{sentence}。"),
    "attack.wrote": Words(
        "Wrote {out}. Keep it where the data is kept.",
        "{out} に書き出しました。元データと同じように管理してください。",
    ),
}
