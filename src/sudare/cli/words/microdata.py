"""The words of protecting records, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping

from sudare.bilingual import Words

__all__ = ["HELP", "SPOKEN"]

HELP: Mapping[str, Words] = {
    "anonymize.help": Words(
        "Carry out a plan for a table of people, and write records and report.\n\nCoarser values and suppression "
        "until k-anonymity and its family hold; swapping, PRAM, microaggregation, noise. k-anonymity is not "
        "differential privacy; sampled k-anonymity is, costs budget, and asks before it is spent. The law of a "
        "country may ask for more: nothing becomes anonymously processed information (Japan) or anonymous "
        "information (GDPR) by a command alone. `sudare run` does the same for plans of every kind.",
        "個票データの計画を実行し、保護した個票と報告書を作ります。\n\n"
        "k-匿名性と関連モデルを満たすまで値を粗くし、レコードを秘匿します。スワッピング、PRAM、ミクロアグリゲーション、"
        "ノイズも使えます。k-匿名性は差分プライバシーではありません。標本抽出付き k-匿名性は差分プライバシーで、"
        "予算を使う前に確認します。個人情報保護法の匿名加工情報とするには、委員会規則の基準に沿った加工と、公表や"
        "安全管理などの義務の履行が必要で、コマンドを実行しただけでは匿名加工情報になりません。"
        "`sudare run` はどの種類の計画も同じように実行します。",
    ),
    "anonymize.examples": Words.same("sudare anonymize plan.toml --out protected\nsudare anonymize plan.toml --check"),
    "anonymize.file": Words(
        "The plan: which columns there are, and what is done to them.",
        "計画ファイル（列と、それぞれの扱い）。",
    ),
    "anonymize.out": Words(
        "The folder for people.csv and the report; must not exist. By default what the plan says.",
        "people.csv と報告書のフォルダ（まだないもの）。省略時は計画のとおり。",
    ),
    "anonymize.check": Words(
        "Only check the plan and show what it would do. No record is read, nothing is spent.",
        "計画を確認し、内容を表示するだけです。レコードは読まず、予算も使いません。",
    ),
    "anonymize.yes": Words(
        "Don't ask before budget is spent; needed where there is no terminal.",
        "予算を使う前に確認しません。端末がない場合に必要です。",
    ),
    "anonymize.again": Words(
        "Draw, and spend, once more even if the very same result was made before.",
        "同じ結果が既にあっても、もう一度予算を使って作り直します。",
    ),
    "anonymize.even_if_broken": Words(
        "Publish even if an attack on the result succeeds; the report says so.",
        "結果への攻撃が成功しても公開します。報告書にその旨が残ります。",
    ),
    "sample.help": Words(
        "Draw some records of a file fairly, or carry out a plan that does.\n\nRecords are published as they are: "
        "a sample alone protects little. With a plan for sampled-k-anonymity it is differential privacy.",
        "レコードを無作為に抽出するか、抽出の計画を実行します。\n\nレコードはそのまま公開されるため、"
        "標本抽出だけではあまり守られません。sampled-k-anonymity の計画なら差分プライバシーになります。",
    ),
    "sample.examples": Words.same(
        "sudare sample people.csv --rate 1/10 --out sample.csv\nsudare sample people.parquet --rows 500 --by "
        "region --out sample.parquet\nsudare sample plan.toml --out protected"
    ),
    "sample.file": Words(
        "A file of people, or a plan that ends in .toml.",
        "個票のファイル、または .toml で終わる計画ファイル。",
    ),
    "sample.out": Words(
        "The new file, .csv or .parquet; with a plan, the folder.",
        "新しいファイル（.csv または .parquet）。計画の場合はフォルダ。",
    ),
    "sample.rate": Words(
        "The share to draw, such as 1/10 or 0.05: each record by a coin of its own.",
        "抽出する割合（1/10 や 0.05）。レコードごとに独立に抽出します。",
    ),
    "sample.rows": Words(
        "How many records to draw; with --by, of each value of the column.",
        "抽出する件数。--by があれば、列の値ごとの件数。",
    ),
    "sample.by": Words("Draw from each value of this column by itself.", "この列の値ごとに抽出します。"),
    "sample.check": Words(
        "Only check the plan. No record is read, nothing is spent.",
        "計画を確認するだけです。レコードは読まず、予算も使いません。",
    ),
    "sample.yes": Words(
        "Don't ask before budget is spent; needed where there is no terminal.",
        "予算を使う前に確認しません。端末がない場合に必要です。",
    ),
    "sample.again": Words(
        "With a plan: draw, and spend, once more.",
        "計画の場合、もう一度予算を使って抽出し直します。",
    ),
    "sample.even_if_broken": Words(
        "With a plan: publish even if an attack on the result succeeds.",
        "計画の場合、結果への攻撃が成功しても公開します。",
    ),
    "synthesize.help": Words(
        "Draw rows of nobody, from records with a budget or from a released table.\n\nFrom records by MST or AIM: "
        "about the same tables, differentially private. From a release: rows that agree with its table exactly, at "
        "no further cost.",
        "レコードまたは公表済みの表から、架空の人の行を作ります。\n\nレコードからは予算を使い、MST か AIM "
        "で差分プライバシーのもとに似た集計になる行を作ります。公表からは、"
        "その表と完全に一致する行を追加の費用なしで作ります。",
    ),
    "synthesize.examples": Words.same(
        "sudare synthesize plan.toml --out synthetic\nsudare synthesize --from-table release --out people.parquet"
    ),
    "synthesize.file": Words("The plan, with method mst or aim.", "手法が mst か aim の計画ファイル。"),
    "synthesize.out": Words(
        "The folder, which must not exist; with --from-table the file, .csv or .parquet.",
        "フォルダ（まだないもの）。--from-table の場合はファイル（.csv または .parquet）。",
    ),
    "synthesize.from_table": Words(
        "A release folder, or the table in it, to draw people from instead.",
        "代わりに元にする公表フォルダ、またはその中の表。",
    ),
    "synthesize.points": Words(
        "With --from-table: add a point inside each person's mesh.",
        "--from-table の場合に、各人のメッシュの中の点を加えます。",
    ),
    "synthesize.check": Words(
        "Only check the plan and show what it would cost. No record is read.",
        "計画を確認し、費用を表示するだけです。レコードは読みません。",
    ),
    "synthesize.yes": Words(
        "Don't ask before budget is spent; needed where there is no terminal.",
        "予算を使う前に確認しません。端末がない場合に必要です。",
    ),
    "synthesize.again": Words(
        "Draw, and spend, once more even if the very same result was made before.",
        "同じ結果が既にあっても、もう一度予算を使って作り直します。",
    ),
    "risk.help": Words(
        "Measure how easily somebody is found in a table of people.\n\nFor whoever holds the data: what it shows "
        "is computed from the records and is not for publication.",
        "個票データの再識別リスクを測ります。\n\nデータの保有者のためのものです。"
        "結果はレコードから計算され、公表するものではありません。",
    ),
    "risk.examples": Words.same(
        "sudare risk people.csv --quasi-identifiers age,sex,zip\nsudare risk people.csv -q age,sex --sensitive "
        "illness --json"
    ),
    "risk.file": Words("A file of people: CSV, Parquet or Arrow.", "個票のファイル（CSV、Parquet、Arrow）。"),
    "risk.quasi_identifiers": Words(
        "Columns that others may know of a person, separated by commas.",
        "他人に知られうる列（コンマ区切り）。",
    ),
    "risk.sensitive": Words(
        "Columns that nobody should learn, separated by commas.",
        "知られてはならない列（コンマ区切り）。",
    ),
    "risk.population": Words(
        "A file of everybody with the same columns, for the risk of a journalist.",
        "同じ列をもつ母集団のファイル（ジャーナリストモデルのリスクに使います）。",
    ),
    "risk.threshold": Words(
        "The chance of re-identification from which a record is at risk.",
        "再識別の確率がこれを超えるレコードを、危険とみなします。",
    ),
    "hierarchy.help": Words(
        "Check or draft hierarchies: which coarser values stand for a column's values.",
        "階層（値を粗くまとめる段階）を確認、または下書きします。",
    ),
    "hierarchy.examples": Words.same(
        "sudare hierarchy check zip.csv\nsudare hierarchy build people.csv age --intervals 5,10 --whole --out age.csv"
    ),
    "hierarchy.check.help": Words(
        "Check a hierarchy file: one line for each value, with its group on every level.",
        "階層ファイルを確認します（値ごとに一行、各段階の区分を並べたもの）。",
    ),
    "hierarchy.check.examples": Words.same(
        "sudare hierarchy check zip.csv\nsudare hierarchy check zip.csv --data people.csv --column zip"
    ),
    "hierarchy.check.file": Words(
        "The hierarchy: fields separated by semicolons, commas, tabs or bars, as ARX writes them.",
        "階層ファイル（ARX と同じ形式。区切りはセミコロン、コンマ、タブ、縦棒）。",
    ),
    "hierarchy.check.data": Words(
        "A file of people, of whose values each must be in the hierarchy.",
        "個票のファイル。すべての値が階層にあるか確認します。",
    ),
    "hierarchy.check.column": Words("Which column of the data it is for.", "データのどの列の階層か。"),
    "hierarchy.build.help": Words(
        "Draft a hierarchy file for the values of a column, to be looked at and edited.",
        "列の値から階層ファイルの下書きを作ります。確認して編集してください。",
    ),
    "hierarchy.build.examples": Words.same(
        "sudare hierarchy build people.csv age --intervals 5,10 --whole --out age.csv\nsudare hierarchy build "
        "people.csv born --dates month,year --out born.csv\nsudare hierarchy build people.csv zip --mask --out "
        "zip.csv"
    ),
    "hierarchy.build.file": Words("A file of people.", "個票のファイル。"),
    "hierarchy.build.column": Words("The column.", "列。"),
    "hierarchy.build.out": Words("The hierarchy file to write.", "書き出す階層ファイル。"),
    "hierarchy.build.intervals": Words(
        "Numbers in intervals of these widths, each a multiple of the one before.",
        "数値をこれらの幅の区間に分けます。各幅は前の幅の倍数です。",
    ),
    "hierarchy.build.whole": Words(
        "Numbers are whole: write 20-24 in place of [20, 25).",
        "整数とみなし、[20, 25) の代わりに 20-24 と書きます。",
    ),
    "hierarchy.build.lowest": Words(
        "All numbers below it are one group.",
        "これより小さい数値を一つの区分にします。",
    ),
    "hierarchy.build.highest": Words("All numbers from it on are one group.", "これ以上の数値を一つの区分にします。"),
    "hierarchy.build.dates": Words(
        "Days in some of month,quarter,year,decade.",
        "日付を month,quarter,year,decade のいくつかにまとめます。",
    ),
    "hierarchy.build.mesh": Words(
        "Mesh codes of this level, such as 1/2, in coarser meshes.",
        "このレベル（1/2 など）のメッシュコードを粗いメッシュにまとめます。",
    ),
    "hierarchy.build.mask": Words(
        "Texts of one length with one letter more masked on each level.",
        "同じ長さの文字列を、段階ごとに一文字ずつ隠します。",
    ),
    "hierarchy.build.flat": Words(
        "Each value as it is, or not at all.",
        "値をそのまま公開するか、まったく公開しないかです。",
    ),
    "hierarchy.build.missing": Words(
        "What missing values are called on coarser levels. Left out: they are refused.",
        "粗い段階での欠損値の名前。省略時は欠損があると拒否します。",
    ),
}

SPOKEN: Mapping[str, Words] = {
    "stage.load": Words("Reading people", "レコードの読み込み"),
    "stage.protect": Words("Protecting records", "レコードの保護"),
    "stage.save": Words("Writing records", "レコードの書き出し"),
    "stage.measure": Words("Measuring risks", "リスクの測定"),
    "stage.attack": Words("Attacking the result", "結果への攻撃"),
    "people.methods": Words("method", "手法"),
    "people.published": Words("published", "公開する列"),
    "people.left_out": Words("left out", "除く列"),
    "people.model": Words("model", "条件"),
    "result.title": Words("What became of the records", "匿名化の結果"),
    "result.column": Words("column", "列"),
    "result.level": Words("level", "段階"),
    "result.highest": Words("of", "最高"),
    "result.all_starred": Words("* throughout", "すべて *"),
    "result.loss": Words("information loss", "情報損失"),
    "result.proven": Words("no other levels lose less", "これより損失の少ない段階の組はありません"),
    "result.gap": Words("others could lose less by at most {gap}", "ほかの組との差は最大 {gap}"),
    "result.removed": Words("records left out", "除いたレコード"),
    "result.starred": Words("records with * in all quasi-identifiers", "準識別子をすべて * にしたレコード"),
    "result.suppressed": Words("suppressed", "抑制"),
    "result.published": Words("records published", "公開したレコード"),
    "result.of_all": Words("{number} of {all} ({share})", "{all} 件のうち {number} 件（{share}）"),
    "result.of_read": Words("{number} of {all}", "{all} 件のうち {number} 件"),
    "result.changed": Words("changed by {step}", "{step} で変わった値"),
    "result.runners_up": Words("Runners-up", "次点"),
    "result.runners_up_note": Words(
        "The best others of the choices that were looked at. To take one, state its levels under [columns]. Figures here "
        "come from the data: keep them to yourself.",
        "調べた組のうち、次によいものです。採用するには [columns] に level を書いてください。"
        "ここの数値は元のデータから計算したものです。外部に渡さないでください。",
    ),
    "people.not_private": Words(
        "Done. This is not differential privacy: the report says what it protects. Keep the report where the data "
        "is, and give away the file of people alone.",
        "完了しました。差分プライバシーではありません。守られることは報告書にあります。"
        "報告書は元データと同じ場所に置き、people のファイルだけを渡してください。",
    ),
    "people.use_synthesize": Words(
        "The plan's method is {method}: use `sudare synthesize`.",
        "計画の手法は {method} です。`sudare synthesize` を使ってください。",
    ),
    "people.use_anonymize": Words(
        "The plan's method is {method}: use `sudare anonymize`, or `sudare synthesize` for mst and aim.",
        "計画の手法は {method} です。`sudare anonymize` を使ってください（mst と aim は `sudare synthesize`）。",
    ),
    "people.sample_plan": Words(
        "A plan says itself how to sample: leave --rate, --rows and --by out.",
        "抽出の方法は計画にあります。--rate、--rows、--by は付けないでください。",
    ),
    "people.broken_plan": Words(
        "--even-if-broken goes with a plan: a sample without one is not attacked.",
        "--even-if-broken は計画と共に使います。計画のない標本には攻撃を試しません。",
    ),
    "people.earlier_lost": Words(
        "The ledger knows of records in '{folder}' that are gone or were changed: they were not attacked.",
        "台帳にある個票「{folder}」は見つからないか変更されているため、攻撃の対象に含まれていません。",
    ),
    "people.earlier_left_out": Words(
        "The ledger knows of records in '{folder}' that cannot be compared: they were not attacked.",
        "台帳にある個票「{folder}」はこの個票と比べられないため、攻撃の対象に含まれていません。",
    ),
    "people.even_if_broken": Words(
        "An attack broke this table. It was published because you said --even-if-broken.",
        "この表は攻撃によって破られましたが、--even-if-broken の指定により公開しました。",
    ),
    "people.no_out": Words("Say where to write it, with --out.", "書き出す場所を --out で指定してください。"),
    "people.rate_or_rows": Words(
        "Give --rate or --rows, and not both.",
        "--rate か --rows のどちらか一方を指定してください。",
    ),
    "people.no_share": Words(
        "'{text}' is no share from 0 to 1, such as 1/10 or 0.05.",
        "「{text}」は 0 から 1 の割合ではありません（例: 1/10、0.05）。",
    ),
    "people.no_number": Words("'{text}' is no number.", "「{text}」は数値ではありません。"),
    "people.plan_or_table": Words(
        "Give a plan, or --from-table with a release, and not both.",
        "計画か、--from-table と公表フォルダの、どちらか一方を指定してください。",
    ),
    "people.points": Words("--points goes with --from-table alone.", "--points は --from-table とだけ使えます。"),
    "people.sampled": Words("Wrote the sample to {out}.", "標本を {out} に書き出しました。"),
    "people.drawn": Words(
        "Drew {rows} rows of nobody, which agree exactly with {release}. This cost no budget.",
        "{release} と完全に一致する架空の人 {rows} 行を作りました。予算は使っていません。",
    ),
    "people.no_columns": Words(
        "Name at least one column with --quasi-identifiers.",
        "--quasi-identifiers で列を一つ以上指定してください。",
    ),
    "people.both_roles": Words(
        "The column '{column}' cannot be both a quasi-identifier and sensitive.",
        "列「{column}」は、準識別子と機微な列を兼ねられません。",
    ),
    "people.data_and_column": Words(
        "Give --data and --column together.",
        "--data と --column は一緒に指定してください。",
    ),
    "people.one_rule": Words("Give exactly one of {rules}.", "{rules} のうち一つだけを指定してください。"),
    "people.risk_confidential": Words(
        "These figures were computed from the records. They are for whoever holds them, not for publication.",
        "これらの数値はレコードから計算されました。データの保有者のためのもので、公表するものではありません。",
    ),
    "people.records": Words("records", "レコード数"),
    "people.classes": Words("classes that look alike", "等価クラスの数"),
    "people.k": Words("smallest class (k)", "最小の等価クラス（k）"),
    "people.unique": Words("alone in their class", "一意なレコード"),
    "people.prosecutor": Words("prosecutor, highest chance", "検察官モデルの最大の確率"),
    "people.at_risk": Words("chance above {threshold}", "確率が {threshold} を超えるレコード"),
    "people.marketer": Words("marketer, guessed right", "マーケターモデルで当たる割合"),
    "people.journalist": Words("journalist, highest chance", "ジャーナリストモデルの最大の確率"),
    "people.sensitive": Words("What classes give away", "等価クラスから分かること"),
    "people.table_column": Words("column", "列"),
    "people.table_l": Words("values (l)", "値の種類（l）"),
    "people.table_entropy": Words("entropy l", "エントロピー l"),
    "people.table_t": Words("distance (t)", "距離（t）"),
    "people.table_alpha": Words("largest share", "最大の割合"),
    "people.hierarchy_sound": Words("{file} is a hierarchy.", "{file} は正しい階層です。"),
    "people.hierarchy_made": Words("Wrote {out}.", "{out} を書き出しました。"),
    "people.hierarchy_values": Words(
        "It lists the values that the data holds. Look at it, and add values that may come.",
        "データにある値が並んでいます。確認し、今後ありうる値も加えてください。",
    ),
    "people.level": Words("level", "段階"),
    "people.groups": Words("groups", "区分の数"),
    "people.labels": Words("such as", "例"),
}
